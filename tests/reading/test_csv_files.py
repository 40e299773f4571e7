"""CSV as it comes: what oddities are read as, what is refused, that blocks and threads change nothing."""

import bz2
import csv
import gzip
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import _columns, read_csv
from nbcfast._core.threads import at_most
from nbcfast._reading import csv_blocks, csv_files, opened, row_blocks, source
from nbcfast._reading.csv_files import CsvFile, CsvForm
from nbcfast._reading.hints import UnreadableError
from nbcfast._reading.source import File
from nbcfast.reference import csv_text

NO_NAMES = "the file is empty, and a line with the names of columns is wanted"

# What each oddity is read as: name -> values.
READ = {
    b'a,b\nx"y,2\n': {"a": ['x"y'], "b": [2]},
    b'a,b\nx"y"z,2\n': {"a": ['x"y"z'], "b": [2]},
    b'a,b\n"x"y,2\n': {"a": ["xy"], "b": [2]},
    b'a,b\n"x"y"z,2\n': {"a": ['xy"z'], "b": [2]},
    b'a,b\n "x",2\n': {"a": [' "x"'], "b": [2]},
    b'a,b\n"x""y",2\n': {"a": ['x"y'], "b": [2]},
    b'a,b\nx""y,2\n': {"a": ['x""y'], "b": [2]},
    b'a,b\n"",2\n': {"a": [None], "b": [2]},
    b'a,b\n"""",2\n': {"a": ['"'], "b": [2]},
    b'a,b\n1,2\n1,"x\n3,4\n': {"a": [1, 1], "b": ["2", "x\n3,4\n"]},
    b'a,b\n1,"x': {"a": [1], "b": ["x"]},
    b'a,b\n1,"x\r': {"a": [1], "b": ["x\r"]},
    b'a,b\n1,"': {"a": [1], "b": [None]},
    b"a,b\r1,2\r3,4\r": {"a": [1, 3], "b": [2, 4]},
    b"a,b\r\n1,2\r\r\n3,4\r\n": {"a": [1, 3], "b": [2, 4]},
    b"a,b\n1,2\r\n3,4\r5,6\n": {"a": [1, 3, 5], "b": [2, 4, 6]},
    b"a,b\n1,2": {"a": [1], "b": [2]},
    b"a,b\n1,": {"a": [1], "b": [None]},
    b"a,b\n\n1,2\n\n\n3,4\n\n": {"a": [1, 3], "b": [2, 4]},
    b"\n\na,b\n1,2\n": {"a": [1], "b": [2]},
    b"a\n1\n\n2\n\n": {"a": [1, None, 2, None]},
    b"a\r\n1\r\n\r\n2\r\n": {"a": [1, None, 2]},
    b"\na\n1\n": {"a": [1]},
    b'a\n""\n1\n': {"a": [None, 1]},
    b"\xef\xbb\xbfa,b\n1,2\n": {"a": [1], "b": [2]},
    b'\xef\xbb\xbf"a",b\n1,2\n': {"a": [1], "b": [2]},
    b"a,b\n\xef\xbb\xbf1,2\n": {"a": ["\ufeff1"], "b": [2]},
    b"\xef\xbb\xbf\xef\xbb\xbfa,b\n1,2\n": {"\ufeffa": [1], "b": [2]},
    b"a,\n1,2\n": {"a": [1], "": [2]},
    b'"a\nb",c\n1,2\n': {"a\nb": [1], "c": [2]},
    b'a,b\n"1\n2",3\n': {"a": ["1\n2"], "b": [3]},
    b'a,b\r\n"1\r\n2",3\r\n': {"a": ["1\r\n2"], "b": [3]},
    b'a,b\n"1\r2",3\n': {"a": ["1\r2"], "b": [3]},
    b"a,b\n1\x0b2,3\x0c\n": {"a": ["1\x0b2"], "b": ["3\x0c"]},
    "a,b\n1\x852,3\u2028\n".encode(): {"a": ["1\x852"], "b": ["3\u2028"]},
    b"a,b\n1\\,2\n": {"a": ["1\\"], "b": [2]},
    b"a": {"a": []},
}

# And what is said of what is refused.
REFUSED = {
    b"": NO_NAMES,
    b"\n": NO_NAMES,
    b"\r\n\n\r": NO_NAMES,
    b"\xef\xbb\xbf": NO_NAMES,
    b"a,b,a\n1,2,3\n": "expected distinct column names, got 'a' twice",
    b",\n1,2\n": "expected distinct column names, got '' twice",
    b'a,"y\n1,2\n': "t.csv: line 1: a quote that is opened and never closed makes one name of all",
    b'"a\nb","y\n1,2\n': "t.csv: line 2: a quote that is opened and never closed makes one name",
    b"a\0,b\n1,2\n": "t.csv: expected names of columns without a NUL, got 'a\\x00'",
    b"\xff,b\n1,2\n": "t.csv: line 1, byte 1: 0xFF is not UTF-8",
    b"a,b\n1\n": "t.csv: line 2: expected 2 fields as there are names, got 1",
    b"a,b\n1,2,3\n": "t.csv: line 2: expected 2 fields as there are names, got 3",
    b"a,b\n1,2\n\n1,2\r\n1,2,\n": "t.csv: line 5: expected 2 fields as there are names, got 3",
    b'a,b\r"1\r\n2",3\r\r\n4\r': "t.csv: line 5: expected 2 fields as there are names, got 1",
    b"a,b\n  \n1,2\n": "t.csv: line 2: expected 2 fields as there are names, got 1",
    b"a,b\n1,2\n\x1a": "t.csv: line 3: expected 2 fields as there are names, got 1",
    b'a,b\n"x"y"p,q",2\n': "t.csv: line 2: expected 2 fields as there are names, got 3",
    b'a,b\n "x,y",2\n': "t.csv: line 2: expected 2 fields as there are names, got 3",
    b'a,b\n1,2\n"x\n,",3\n4,5\n"x\n,3\n3,4\n': "t.csv: line 6: expected 2 fields as there are names, "
    "got 1, as a quote in line 6 is opened and never closed",
    b'a,b\n"x\n","y\n",z,"3\n4': "t.csv: line 2: expected 2 fields as there are names, got 4, as a quote "
    "in line 4 is opened and never closed",
    b"a,b\n1,2\nx\0y,2\n": "t.csv: line 3, column 'a': a NUL, which no text has",
    b'a,b\n1,"x\n\0y"\n': "t.csv: line 3, column 'b': a NUL, which no text has",
    b"a,b\n1,2\n\xff,2\n": "t.csv: line 3, column 'a', byte 9: 0xFF is not UTF-8",
    b"a,b\n1,\xed\xa0\x80\n": "t.csv: line 2, column 'b', byte 7: 0xED is not UTF-8",
    b"a,b\n\xff,2\n\0,1\n1\n": "line 2, column 'a', byte 5: 0xFF",
    b"a,b\n1,\0\n\xff,1\n1\n": "line 2, column 'b': a NUL",
    b"a,b\n1,2\n1\n\xff,1\n": "line 3: expected 2 fields",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.csv"


def values_of(table):
    return {name: [table.domain(name)[code] for code in table.codes(name).tolist()] for name in table.names}


@pytest.fixture(params=[(1, 1), (5, 2), (1 << 20, 1), (1 << 20, 3)], ids=str)
def way(request, monkeypatch):
    """A size of blocks and a number of threads, whatever the size of the file."""
    block, threads = request.param
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", block)
    monkeypatch.setattr(csv_files, "n_threads", lambda threads_, size: threads)


@pytest.mark.parametrize("data", READ, ids=repr)
def test_what_is_read(path, data, way):
    path.write_bytes(data)
    assert values_of(read_csv(path)) == READ[data]
    names, columns = csv_text.texts_of(data)
    assert dict(zip(names, columns, strict=True)) == {
        name: [None if value is None else str(value) for value in values]
        for name, values in READ[data].items()
    }


@pytest.mark.parametrize("data", REFUSED, ids=repr)
def test_what_is_refused(path, data, way):
    path.write_bytes(data)
    for read in (read_csv, lambda path: list(File(str(path)).batches(None))):
        with pytest.raises(ValueError, match=re.escape(REFUSED[data])) as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_columns_that_are_not_asked_for_are_not_looked_at(path):
    path.write_bytes(b"a,b,c\n1,\xff,\0\n2,x,y\n")
    assert values_of(read_csv(path, ["a"])) == {"a": [1, 2]}
    path.write_bytes(b"a,b,c\n1,\xff\n")
    with pytest.raises(UnreadableError, match="line 2: expected 3 fields"):
        read_csv(path, ["a"])


def test_what_can_be_read_once_has_rows_for_lines(tmp_path):
    """Lines are counted when the file is read again; of a pipe the row is said."""
    file = CsvFile(str(tmp_path), CsvForm())
    file._names = ["a", "b"]
    fault = csv_blocks.Fault(1, 7, fields=3)
    assert "row 5, where the names are row 1: expected 2 fields as there are names, got 3" in str(
        file._told(fault, 3, ["a"])
    )
    told = str(file._told(csv_blocks.Fault(2, 7, 8, 1), 3, ["b", "a"]))
    assert "column 'a': a NUL, which no text has" in told
    assert "column 'b': bytes that are not UTF-8" in str(file._told(csv_blocks.Fault(3, 7, 8, 0), 3, ["b"]))


def test_a_file_that_changes_while_it_is_read(path):
    path.write_text("a,b\n1,2\n")
    file = CsvFile(str(path), CsvForm())
    assert file.names == ["a", "b"]
    path.write_text("b,a\n1,2\n")
    with pytest.raises(OSError, match=r"t\.csv: it was changed while it was read"):
        list(file.batches(["a"]))


def many(path, n=60_000):
    rng = np.random.default_rng(3)
    rows = [(f"id{row}", "w" * int(k), f"{k / 4}", int(k)) for row, k in enumerate(rng.integers(0, 40, n))]
    with open(path, "w", newline="", encoding="utf8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["id", "w", "x", "k"])
        writer.writerows(rows)
    return rows


def test_threads_and_blocks_change_nothing(path, monkeypatch):
    rows = many(path)
    tables, batches = [], []
    for block, threads in ((1 << 20, 1), (1 << 20, 3), (40_000, 2), (1 << 15, 3)):
        monkeypatch.setattr(csv_files, "BLOCK_BYTES", block)
        with at_most(threads):
            tables.append(read_csv(path))
            file = CsvFile(str(path), CsvForm())
            parts = list(file.batches(["id", "k"]))
            codes = {name: np.concatenate([part[name][0] for part in parts]).tolist() for name in ("id", "k")}
            batches.append((codes, parts[-1]["id"][1], parts[-1]["k"][1]))
            assert all(part["id"][1] is parts[0]["id"][1] for part in parts)
    assert all(table == tables[0] for table in tables[1:])
    assert all(batch == batches[0] for batch in batches[1:])
    assert values_of(tables[0])["id"] == [row[0] for row in rows]
    assert batches[0][0]["id"] == list(range(len(rows)))  # numbers in the order in which rows come
    views = nbcfast.count(path, "k", ["w", "x"])
    assert views == nbcfast.count(tables[0], "k", ["w", "x"])


def test_texts_are_let_go_where_there_are_many(path, monkeypatch):
    rows = many(path, 5_000)
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2_000)
    monkeypatch.setattr(csv_blocks, "MOST_BLOCKS", 4)
    for threads in (1, 2):
        with at_most(threads):
            file = CsvFile(str(path), CsvForm())
            parts = list(file.batches(["id", "k"], 1_000))
        assert max(len(part["id"][1]) for part in parts) < 2_500
        lists = {id(part["id"][1]) for part in parts}
        assert 1 < len(lists) < len(parts)
        read = [part["id"][1][code] for part in parts for code in part["id"][0].tolist()]
        assert read == [row[0] for row in rows]
    monkeypatch.setattr(source, "MOST_HELD", 700)
    monkeypatch.setattr(row_blocks, "MOST_HELD", 700)
    assert nbcfast.count(path, "k", ["w"], weights=None) == nbcfast.count(read_csv(path), "k", ["w"])


def test_weights_of_a_stream_are_read_once(path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 64)
    rows = [(row % 3, row % 50 + 1) for row in range(2_000)]
    path.write_text("c,n\n" + "".join(f"{c},{n}\n" for c, n in rows))
    looked = []
    monkeypatch.setattr(
        source, "typed", lambda texts, *rest: looked.extend(texts) or csv_files.typed(texts, *rest)
    )
    views = nbcfast.count(path, "c", weights="n")
    assert views.n_rows == sum(n for _, n in rows)
    assert sorted(looked, key=int) == [str(n) for n in range(1, 51)]
    path.write_text("c,n\n1,2\n1,x\n")
    with pytest.raises(ValueError, match="column 'n': expected integers of 64 bits, got 'x'"):
        nbcfast.count(path, "c", weights="n")


# --- compressed, and in other encodings ------------------------------------------------------------------


def packed_in_two(data, module):
    half = len(data) // 2
    return module.compress(data[:half]) + module.compress(data[half:])


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2)])
def test_members_zeros_and_what_is_cut(tmp_path, suffix, module, monkeypatch):
    monkeypatch.setattr(opened, "PIECE", 1_000)
    rng = np.random.default_rng(1)
    text = "a,b\n" + "".join(f"{x},y\n" for x in rng.integers(0, 10**9, 4_000)) + "7,z\n" * 100_000
    plain, packed = tmp_path / "p.csv", tmp_path / f"p.csv{suffix}"
    plain.write_text(text)
    expected = read_csv(plain)
    for data in (module.compress(text.encode()), packed_in_two(text.encode(), module)):
        packed.write_bytes(data)
        assert read_csv(packed) == expected
        packed.write_bytes(data + bytes(3_000))
        assert read_csv(packed) == expected
        packed.write_bytes(data[:-9])
        with pytest.raises(OSError, match=rf"p\.csv\{suffix}: the file ends within what is compressed"):
            read_csv(packed)
        packed.write_bytes(data + b"behind")
        with pytest.raises(
            OSError, match=r"it is not (gzip|bz2), or damaged|ends within|Invalid data stream"
        ):
            read_csv(packed)
    assert zlib.crc32(text.encode()) == zlib.crc32(plain.read_bytes())


@pytest.mark.parametrize("suffix", [".zst", ".lz4"])
def test_what_arrow_unpacks(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    codec = {".zst": "zstd", ".lz4": "lz4"}[suffix]
    if not pa.Codec.is_available(codec):
        pytest.skip(f"pyarrow without {codec}")
    text = "a,b\n" + "".join(f"{row},y\n" for row in range(10_000))
    plain, packed = tmp_path / "p.csv", tmp_path / f"p.csv{suffix}"
    plain.write_text(text)
    with pa.CompressedOutputStream(str(packed), codec) as stream:
        stream.write(text.encode())
    assert read_csv(packed) == read_csv(plain)
    packed.write_bytes(b"not packed")
    with pytest.raises(OSError, match=rf"p\.csv\{suffix}"):
        read_csv(packed)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig", "shift_jis"])
def test_encodings(path, encoding, monkeypatch):
    monkeypatch.setattr(opened, "PIECE", 11)
    text = "a,b\r\n" + "".join(
        f'{row},"x\r\n{"é" if encoding == "cp1252" else "z"}"\r\n' for row in range(300)
    )
    path.write_bytes(text.encode(encoding))
    table = read_csv(path, encoding=encoding)
    assert table.domain("a") == tuple(range(300))
    assert table.domain("b") == ("x\r\n" + ("é" if encoding == "cp1252" else "z"),)
    path.write_bytes("a,b\n1,2\n3,4\n5\n".encode(encoding))
    with pytest.raises(UnreadableError, match="line 4: expected 2 fields"):
        read_csv(path, encoding=encoding)


# --- vectors ---------------------------------------------------------------------------------------------


def test_all_vectors_read_the_same(path, monkeypatch):
    many(path, 3_000)
    tables = []
    for level in range(_columns.level() + 1):
        monkeypatch.setattr(_columns, "level", lambda level=level: level)
        tables.append(read_csv(path))
    assert all(table == tables[0] for table in tables)


def test_a_header_that_is_one_name_is_said_to_be_split_otherwise(tmp_path):
    path = tmp_path / "semicolons.csv"
    path.write_text("age;sex\n1;f\n2;m\n", encoding="utf-8")
    said = (
        "expected a column of 'age;sex'; got 'sex'; it looks like a file with ';' between fields: "
        "nbcfast.read_csv reads it with delimiter=';'"
    )
    for read in (lambda: read_csv(path, ["sex"]), lambda: nbcfast.count(path, "sex")):
        with pytest.raises(ValueError, match=re.escape(said) + "$"):
            read()
    with pytest.raises(ValueError, match="did you mean 'sex'"):
        read_csv(path, ["sexe"], delimiter=";")
    assert read_csv(path, ["sex"], delimiter=";").domain("sex") == ("f", "m")


# --- without pyarrow -------------------------------------------------------------------------------------


def test_csv_needs_no_pyarrow(tmp_path):
    folder = Path(__file__).resolve().parents[2] / "examples"
    if not folder.is_dir():
        pytest.skip("no examples here")
    data = (folder / "patients.csv").read_bytes()
    (tmp_path / "patients.csv").write_bytes(data)
    (tmp_path / "patients.csv.gz").write_bytes(gzip.compress(data))
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    code = """
import sys
sys.modules["pyarrow"] = None
import nbcfast
from nbcfast.cli import main
for path in ("patients.csv", "patients.csv.gz"):
    table = nbcfast.read_csv(path)
    views = nbcfast.count(path, "diagnosis", ["sex", "smoking"])
    assert views == nbcfast.count(table, "diagnosis", ["sex", "smoking"])
    release = nbcfast.safety_transform(views, 9)
    assert len(release.predict(table)) == table.n_rows
try:
    nbcfast.read_csv("bad.csv")
except ValueError as error:
    assert "line 2: expected 2 fields" in str(error)
else:
    raise SystemExit("no ValueError")
for arguments in (
    ["publish", "patients.csv", "--class", "diagnosis", "--columns", "sex,smoking", "--amplification", "4",
     "--accept-answers", "--out", "release"],
    ["predict", "release", "patients.csv.gz"],
    ["predict", "release", "patients.csv", "--name", "predicted", "--proba", "--out", "predicted.csv"],
    ["predict", "release", "patients.csv.gz", "--name", "predicted", "--proba", "--out", "predicted.csv.gz"],
    ["predict", "release", "patients.csv", "--name", "predicted", "--out", "predicted.parquet"],
):
    try:
        main(arguments)
    except SystemExit as left:
        assert left.code == (2 if "predicted.parquet" in arguments else 0), (arguments, left.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "release" / "certificate.json").exists()
    assert done.stderr == (
        "nbcfast: this needs pyarrow, which is missing (CSV is read and predicted without it): "
        "pip install pyarrow\n"
    )
    written = (tmp_path / "predicted.csv").read_bytes()
    assert gzip.decompress((tmp_path / "predicted.csv.gz").read_bytes()) == written
    header, *lines = written.decode().splitlines()
    assert header == f"{data.decode().splitlines()[0]},predicted,p_diabetes,p_healthy"
    release = nbcfast.load(tmp_path / "release")
    given = tmp_path / "patients.csv"
    posteriors = release.predict_proba(given).tolist()
    for line, row, label, both in zip(
        lines, data.decode().splitlines()[1:], release.predict(given).tolist(), posteriors, strict=True
    ):
        assert line == f"{row},{label},{both[0]},{both[1]}"


# --- memory ----------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Of a file four times as long no more is held: neither codes of rows, nor texts that are met once."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here")
    rows = "".join(
        f"{row % 40},{'north' if row % 3 else 'south'},{'yes' if row % 2 else 'no'}\n"
        for row in range(70_000)
    )
    for name, times in (("short.csv", 20), ("long.csv", 80)):
        with open(tmp_path / name, "w") as file:
            file.write("age,region,ill\n")
            for _ in range(times):
                file.write(rows)
    code = """
import nbcfast
from nbcfast._reading import csv_files, source

class SmallBatches(csv_files.CsvFile):
    def __init__(self, path, form):
        super().__init__(path, form, batch_bytes=1 << 20)

source.CsvFile = SmallBatches

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

for name in ("short.csv", "short.csv", "short.csv", "long.csv"):
    views = nbcfast.count(name, "ill")
    print(peak(), views.n_rows)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    *_, (short, n_short), (long, n_long) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert n_long == 4 * n_short == 4 * 1_400_000
    assert long - short < 3_072  # KiB; 4,200,000 rows more of three codes would be 12 MiB
