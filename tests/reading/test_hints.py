"""What a file that cannot be read looks like: hints in words to act on, and none that is not so."""

import gzip
import os
import pickle
import zipfile

import numpy as np
import pytest

import nbcfast
from nbcfast import read_csv, read_parquet
from nbcfast._core.errors import NoColumnError
from nbcfast._core.spelling import in_place, meant, nearest
from nbcfast._reading import csv_blocks, hints
from nbcfast._reading.hints import UnreadableError, look_at, misread
from nbcfast._reading.row_blocks import RowFile
from nbcfast._reading.source import File
from nbcfast.domains.missing import like_nulls
from nbcfast.publishing.beginnings import header_of

pa = pytest.importorskip("pyarrow")

TEXT = "name,dx\nÄnne,y\nOtto,n\n"


def said(path, **options):
    """What the library says of a file that it cannot read."""
    read = read_parquet if path.suffix == ".parquet" else read_csv
    with pytest.raises((ValueError, OSError)) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def excel(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", "<x/>")
        file.writestr("xl/workbook.xml", "<x/>")


@pytest.mark.parametrize("name", ["book.csv", "book.xlsx", "book.parquet", "book.csv.gz", "book.data"])
def test_an_excel_file_is_known_by_what_is_in_it(tmp_path, name):
    excel(tmp_path / name)
    look = look_at(str(tmp_path / name))
    assert look.text() == (
        "it looks like an Excel file (.xlsx): save it there as CSV (UTF-8), and give that file"
    )
    with pytest.raises((ValueError, OSError), match="it looks like an Excel file"):
        nbcfast.count(tmp_path / name, "dx")


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "an Excel file of the old kind (.xls)"),
        (
            "a.csv",
            gzip.compress(TEXT.encode(), mtime=0),
            "something compressed by gzip: let its name end in .gz",
        ),
        (
            "a.csv.zst",
            gzip.compress(TEXT.encode(), mtime=0),
            "something compressed by gzip: let its name end in .gz",
        ),
        ("a.csv.gz", TEXT.encode(), "text that is not compressed: let its name end in .csv"),
        ("a.parquet", TEXT.encode(), "text: let its name end in .csv"),
        ("a.csv", b"PAR1\x15\x04\x15\x1e\xff\xfe", "a Parquet file: let its name end in .parquet"),
        ("a.csv", b"\x28\xb5\x2f\xfd\x00\xff", "something compressed by Zstandard: let its name end in .zst"),
        ("a.csv", b"PK\x03\x04" + bytes(60), "a zip archive: unpack it first"),
        ("a.csv", b"<!DOCTYPE html>\n<td>1,2</td>\n", "a web page: save the table in it as CSV"),
        ("a.csv", b'<?xml version="1.0"?>\n<a b="1,2"/>\n', "XML: a table is wanted"),
        ("a.csv", b'[{"a": 1},\n{"a": 2}]\n', "JSON: a table is wanted"),
        ("a.csv", b'{"a": 1, "b": 2}\n{"a": 1}\n', "JSON: a table is wanted"),
        (
            "a.csv",
            b"u;v;c\n1,5;2;y\n",
            "a file with ';' between fields: give delimiter=';' to nbcfast.read_csv if it is",
        ),
        (
            "a.csv",
            b"u\tv\n1,5\t2\n",
            "a file with a tab between fields: give delimiter='\\t' to nbcfast.read_csv if it is",
        ),
        (
            "a.csv",
            TEXT.encode("utf-16"),
            "UTF-16, by its first bytes: give encoding='utf-16' to nbcfast.read_csv if it is",
        ),
        (
            "a.csv",
            TEXT.encode("utf-32"),
            "UTF-32, by its first bytes: give encoding='utf-32' to nbcfast.read_csv if it is",
        ),
        (
            "a.csv",
            TEXT.encode("utf-16-be"),
            "UTF-16-BE: give encoding='utf-16-be' to nbcfast.read_csv if it is",
        ),
        (
            "a.csv",
            TEXT.encode("cp1252"),
            "Windows-1252, as of Western Europe: give encoding='cp1252' to nbcfast.read_csv if it",
        ),
        (
            "a.csv",
            "\u0438\u043c\u044f,dx\n\u0418\u043b\u044c\u044f,y\n".encode("cp1251"),
            "text in another encoding than UTF-8: give encoding=",
        ),
        ("a.csv", "stadt,dx\nKöln,y\nMünchen,n\n".encode("cp850"), "text in an older encoding, as cp850 or"),
        ("a.csv", b"a,dx\n" + bytes(range(256)), "no text: a table is wanted"),
    ],
)
def test_what_a_file_looks_like(tmp_path, name, content, hint):
    (tmp_path / name).write_bytes(content)
    found = said(tmp_path / name)
    assert name in found
    assert f"; it looks like {hint}" in found


@pytest.mark.parametrize(
    "content",
    [
        b"a,dx\n1,y\n",
        b"a\n1\n",
        b"PAR1,dx\n1,y\n",  # the letters that a Parquet file begins with
        b"BZh,dx\n1,y\n",
        b"[bold]x,dx\n1,y\n",
        b'"{""a"": 1}",dx\n1,y\n',
        b"<b>,dx\n1,y\n",
        "\ufeffa,dx\n1,\u00e4\n".encode(),
    ],
)
def test_a_table_looks_like_nothing_else(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content)
    assert look_at(str(tmp_path / "a.csv")) is None
    assert read_csv(tmp_path / "a.csv").n_rows == 1


def test_what_can_be_read_once(tmp_path):
    """Nobody waits for whoever would write to a pipe a second time."""
    for name in ("pipe.csv", "pipe.parquet"):
        os.mkfifo(tmp_path / name)
        assert header_of(tmp_path / name, ",") is None
    for name, read in (
        ("pipe.csv", read_csv),
        ("pipe.csv", lambda path: nbcfast.count(path, "dx")),
        ("pipe.parquet", read_parquet),
        ("pipe.parquet", lambda path: nbcfast.count(path, "dx")),
    ):
        with pytest.raises(OSError, match="Is a pipe or a device, and a file is wanted: it is read more"):
            read(tmp_path / name)


def test_folders(tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a directory, and a file is wanted"):
        read_csv(tmp_path)
    (tmp_path / "certificate.json").write_text("{}")
    with pytest.raises(IsADirectoryError, match="it looks like what was published: `nbcfast verify`"):
        read_parquet(tmp_path)
    with pytest.raises(IsADirectoryError):
        nbcfast.count(tmp_path, "dx")


def test_the_line_and_the_byte_are_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(hints, "PIECE", 7)  # letters are cut by the pieces
    path = tmp_path / "a.csv"
    for encoding, bad in (("utf8", b"\xff"), ("ascii", "ß".encode("latin-1")), ("shift_jis", b"\x81\xff")):
        letter = {"utf8": "日", "ascii": "a", "shift_jis": "日"}[encoding]
        before = (f"a,dx\n{letter * 40},y\n" * 30).encode(encoding)
        path.write_bytes(before + bad + b",n\n")
        found = misread(str(path), encoding)
        assert f"a.csv: line 61, byte {len(before) + 1:,}: 0x" in str(found), encoding
    path.write_bytes("a,dx\n日\n".encode("utf-16") + b"\x00\xdc\x00")
    assert "line 3, byte 17: 0x00 0xDC is not UTF-16" in str(misread(str(path), "utf-16"))
    path.write_text(TEXT, encoding="utf-8")
    assert misread(str(path), "utf8") is None
    assert misread(str(tmp_path / "none.csv"), "utf8") is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig", "mac_roman"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_another_encoding_gives_the_same_table(tmp_path, encoding, ending):
    path, plain = tmp_path / f"a.{ending}", tmp_path / "plain.csv"
    text = "name,dx\n" + "".join(f"Änne {row % 7},{row % 3}\r\n" for row in range(30_000))
    plain.write_bytes(text.encode())
    path.write_bytes(gzip.compress(text.encode(encoding)) if ending == "csv.gz" else text.encode(encoding))
    table, expected = read_csv(path, encoding=encoding), read_csv(plain)
    assert table.names == expected.names
    assert table.domain("name") == expected.domain("name")
    assert np.array_equal(table.codes("name"), expected.codes("name"))


def test_an_unknown_encoding(tmp_path):
    (tmp_path / "a.csv").write_text(TEXT)
    with pytest.raises(ValueError, match=r"^encoding: unknown encoding: windows1252; did you mean 'win"):
        read_csv(tmp_path / "a.csv", encoding="windows1252")
    with pytest.raises(ValueError, match=r"^encoding: unknown encoding: nowhere$"):
        read_csv(tmp_path / "a.csv", encoding="nowhere")


@pytest.mark.parametrize("encoding", ["hex", "punycode", "idna", "undefined"])
def test_an_encoding_of_something_else_than_a_file(tmp_path, encoding):
    with pytest.raises(ValueError, match=f"^encoding: expected one of text .* got '{encoding}'$"):
        read_csv(tmp_path / "a.csv", encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_what_lacks_the_mark_of_its_encoding(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("a,dx\nä,y\nb,n\n".encode(f"{encoding}-le"))
    with pytest.raises(
        UnreadableError, match=r"a.csv: .*it looks like UTF-(16-LE|32 without the mark)"
    ) as error:
        read_csv(path, encoding=encoding)
    assert f"{encoding}-le" in str(error.value)
    assert header_of(path, ",", encoding) is None


def test_no_encoding_is_advised_that_makes_other_letters_of_utf_8(tmp_path, monkeypatch):
    mixed = "it looks like text of more than one encoding, UTF-8 and another: write all of it in UTF-8"
    monkeypatch.setattr(hints, "PIECE", 64)
    monkeypatch.setattr(hints, "LOOKED_AT", 40)
    for before, after in (("München,n\n", ""), ("", "München,n\n"), ("München,n\n", "a,n\n" * 50)):
        path = tmp_path / "a.csv"
        bad = "Köln,y\nsüd,n\nPräg,y\n".encode("cp1252")
        path.write_bytes(
            b"stadt,dx\n" + before.encode() + b"a,y\n" * 30 + bad + b"a,y\n" * 30 + after.encode()
        )
        assert str(misread(str(path), "utf8")).endswith(mixed)
    path.write_bytes(b"stadt,dx\n" + bad)
    assert "encoding='cp1252'" in str(misread(str(path), "utf8"))


def test_names_that_are_near_are_said_once():
    assert in_place("age", ["Age", "b"]) == "; did you mean 'Age'? It also has 'b'"
    assert in_place("age", ["Age"]) == "; did you mean 'Age'?"


def test_rows_of_another_length_are_not_printed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000 + "secret,2,3\n")
    wanted = "a.csv: line 400,002: expected 2 fields as there are names, got 3"
    for read in (
        lambda: read_csv(path),
        lambda: list(File(str(path)).encoded(None)),
        lambda: list(RowFile(str(path)).batches()),
    ):
        with pytest.raises(UnreadableError, match=wanted) as error:
            read()
        assert "secret" not in str(error.value)


def test_a_row_that_is_longer_than_what_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3," + b"x" * 5_000_000, mtime=0))
    monkeypatch.setattr(csv_blocks, "LARGEST_BLOCK", 1 << 20)
    wanted = "a.csv.gz: a row is longer than 1,048,576 bytes, and no longer ones are read; a quote that is"
    with pytest.raises(UnreadableError, match=wanted):
        read_csv(path)


def test_a_hierarchy_that_is_not_utf8_is_named_with_its_line(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_bytes("a;all\nß;all\n".encode("latin-1"))
    table = nbcfast.Table({"x": ["a", "b"] * 9, "ill": ["y", "n", "y"] * 6})
    with pytest.raises(ValueError, match=r"levels\.csv: line 2, byte 7: 0xDF is not UTF-8: save it as"):
        nbcfast.skyline.anonymize(table, ["x"], "ill", k=2, hierarchies={"x": path})


def test_errors_with_hints_pickle(tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(UnreadableError) as caught:
        read_csv(tmp_path / "a.csv")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.look) == (str(caught.value), caught.value.look)


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("Age", ["age", "sex"], ["age"]),
        (" age ", ["age", "sex"], ["age"]),
        ("blood-pressure", ["bmi", "blood_pressure"], ["blood_pressure"]),
        ("diagnose", ["diagnosis", "age"], ["diagnosis"]),
        ("zip", ["age", "sex"], []),
        ("", ["age"], []),
        ("größe", ["Grösse", "größen"], ["größen", "Grösse"]),
        (3, ["age"], []),
        ("???", ["?", "age"], []),
    ],
)
def test_near_names(word, known, expected):
    assert sorted(nearest(word, known)) == sorted(expected)


def test_a_missing_column_asks_about_near_ones():
    error = NoColumnError("Agee", ["sex", "age"])
    assert str(error) == "expected a column, got 'Agee'; did you mean 'age'? It also has 'sex'"
    assert meant("zip", ["age"]) == ""
    with pytest.raises(NoColumnError, match=r"did you mean 'age'\?$"):
        nbcfast.Table({"age": [1]}).column("Age")


def test_texts_that_may_be_nulls():
    texts = ["?", " ?", "NA", "N/A", "nan", "-", ".", "null", None, 3, "Nancy", "0", "", "none at all"]
    assert like_nulls(texts) == ["?", " ?", "NA", "N/A", "nan", "-", ".", "null"]


def test_all_values_out_of_a_domain_are_named_at_once():
    with pytest.raises(
        ValueError, match=r"^column 'x': values 'b', 'c', None are not in its declared domain of 1 "
    ):
        nbcfast.Table({"x": ["a", "b", "c", None]}, domains={"x": ["a"]})
    with pytest.raises(ValueError, match=r"values 1, 2, 3, 4, 5 and 3 more are not in its declared domain"):
        nbcfast.Table({"x": list(range(9))}, domains={"x": [0]})


def test_a_text_that_may_be_a_null_is_asked_about_where_it_does_not_fit():
    rows = {"age": ["38", " ?", "NA", None], "job": ["-", "cook", "cook", "cook"], "dx": list("ynyn")}
    with pytest.raises(ValueError, match="not in its declared") as caught:
        nbcfast.publish(
            rows, "dx", 4, domains={"age": {"edges": [0, 50]}, "job": ["cook", "maid"], "dx": ["n", "y"]}
        )
    assert str(caught.value) == (
        "domains: column 'age': expected numbers to bin, got text, such as ' ?', 'NA', and null; if ' ?' and "
        "'NA' say that a value is missing, give null_values=('', ' ?', 'NA'); column 'job': value '-' is not "
        "in its declared domain of 2 values; if '-' says that a value is missing, give null_values=('', '-')"
    )
