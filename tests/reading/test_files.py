"""`read_csv` and `read_parquet`: one table whatever the blocks, types by the rule, errors in one line."""

import bz2
import csv
import datetime
import gzip
import io
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbcfast import Interval, Table, read_csv, read_parquet
from nbcfast._reading import csv_files as files
from nbcfast.reference import table as reference

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = """0 1 -1 -0 007 +1 1.0 1.50 0.1 -0.0 1e3 1e+16 1e16 nan inf .5 2020-01-01 true 1_000 a None
    9223372036854775807 9223372036854775808 -9223372036854775808 9007199254740992 9007199254740993"""
FIELDS = st.one_of(
    st.sampled_from([*WORDS.split(), "", " 1", "1 ", "ä\U0001f600", "\u0661", "1" * 5000]),
    st.integers().map(str),
    st.floats().map(repr),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def write(path, header, rows, **options):
    with open(path, "w", newline="", encoding="utf8") as file:
        writer = csv.writer(file, lineterminator="\n", **options)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def small_blocks(monkeypatch, size):
    monkeypatch.setattr(files, "BLOCK_BYTES", size)


def values_of(table, name):
    domain = table.domain(name)
    return [domain[code] for code in table.codes(name)]


def shown(values):
    return [repr(value) for value in values]


# --- the typing rule -------------------------------------------------------------------------------------


@ONE_FOLDER
@given(st.lists(FIELDS, min_size=1))
def test_types_equal_reference(path, fields):
    write(path, ["x", "y"], [(field, "-") for field in fields])
    table = read_csv(path)
    expected = reference.numbers_of([None if field == "" else field for field in fields])
    assert shown(values_of(table, "x")) == shown(expected)
    assert list(table.domain("x")) == reference.column(expected)[1]


@pytest.mark.parametrize(
    ("fields", "domain"),
    [
        (["3", "-12", "0"], (-12, 0, 3)),
        (["3", "", "0"], (0, 3, None)),
        (["3", "007"], ("007", "3")),
        (["3", "-0"], ("-0", "3")),
        (["3", "2.5", "3.0"], (2.5, 3.0)),
        (["0.0", "-0.0", "0"], (0.0,)),
        (["1.50"], ("1.50",)),
        (["9223372036854775807"], (2**63 - 1,)),
        (["9223372036854775808"], ("9223372036854775808",)),
        (["9007199254740992", "0.5"], (0.5, 2.0**53)),
        (["9007199254740993", "0.5"], ("0.5", "9007199254740993")),
        (["9223372036854775808", "0.5"], ("0.5", "9223372036854775808")),
        (["nan"], ("nan",)),
        (["1e999"], ("1e999",)),
        (["inf"], ("inf",)),
        (["2020-01-01"], ("2020-01-01",)),
        (["true", "false"], ("false", "true")),
        (["10", "9", "b"], ("10", "9", "b")),
        (["\u0661"], ("\u0661",)),
        (["\U0001f600", "\uffff", "z"], ("z", "\uffff", "\U0001f600")),
    ],
)
def test_types(path, fields, domain):
    table = read_csv(write(path, ["x", "y"], [(field, "-") for field in fields]))
    assert shown(table.domain("x")) == shown(domain)


def test_types_asked_for(path):
    write(path, ["a", "b", "c"], [["1", "2", "x"], ["3", "2.0", "y"], ["", "", ""]])
    table = read_csv(path, types={"a": "text", "b": "text"})
    assert table.domain("a") == ("1", "3", None)
    assert table.domain("b") == ("2", "2.0", None)
    assert shown(read_csv(path, types={"a": "float"}).domain("a")) == ["1.0", "3.0", "None"]
    assert read_csv(path, types={"a": "int"}).domain("a") == (1, 3, None)
    with pytest.raises(ValueError, match=r"column 'b': expected integers of 64 bits, got '2\.0'"):
        read_csv(path, types={"b": "int"})
    with pytest.raises(ValueError, match="column 'c': expected floats as Python writes them, got 'x'"):
        read_csv(path, types={"c": "float"})
    with pytest.raises(
        ValueError, match="types: expected 'text', 'int' or 'float' for column 'a', got 'date'"
    ):
        read_csv(path, types={"a": "date"})
    with pytest.raises(ValueError, match="types: expected a column of 'a', 'b', 'c'; got 'z'"):
        read_csv(path, types={"z": "int"})


def test_declared_domains_decide_types(path):
    write(path, ["a", "b"], [["1", "2"], ["3", "2.5"], ["", "1"]])
    assert read_csv(path, domains={"a": ["3", "1", None]}).domain("a") == ("3", "1", None)
    assert read_csv(path, domains={"a": [3, 2, 1, None]}).domain("a") == (3, 2, 1, None)
    assert read_csv(path, domains={"a": [3.0, 2, 1, None]}).codes("a").tolist() == [2, 0, 3]
    with pytest.raises(ValueError, match=r"column 'b': expected integers of 64 bits, got '2\.5'"):
        read_csv(path, domains={"b": [1, 2]})
    with pytest.raises(ValueError, match="column 'a': value 1 is not in its declared domain of 2 values"):
        read_csv(path, domains={"a": [3, None]})
    with pytest.raises(
        ValueError, match="domain of column 'a': expected text or numbers, as CSV files hold, got bool"
    ):
        read_csv(path, domains={"a": [True, None]})
    with pytest.raises(ValueError, match="expected text or numbers, as CSV files hold, got interval"):
        read_csv(path, domains={"a": [Interval(0, 1)]})
    with pytest.raises(ValueError, match="domains: expected a column of 'a', 'b'; got 'z'"):
        read_csv(path, domains={"z": [1]})


# --- CSV as it comes -------------------------------------------------------------------------------------


TEXT = st.text(st.sampled_from('ab,"\nä \U0001f600;\t'), max_size=6)


@ONE_FOLDER
@given(
    rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=30),
    block=st.sampled_from([24, 37, 100, 1 << 20]),
    delimiter=st.sampled_from(",;\t"),
)
def test_quotes_newlines_and_blocks(path, monkeypatch, rows, block, delimiter):
    small_blocks(monkeypatch, block)
    write(path, ["x", "y"], rows, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    table = read_csv(path, null_values=(), delimiter=delimiter)
    assert values_of(table, "x") == [x for x, _ in rows]
    assert values_of(table, "y") == [y for _, y in rows]
    table = read_csv(path, delimiter=delimiter)
    assert values_of(table, "x") == [x or None for x, _ in rows]


def test_the_result_does_not_depend_on_the_block(path, monkeypatch):
    # Integers at first, one text at the end; new values all the time.
    rows = [(str(row), str(row % 7), repr(row / 4)) for row in range(3000)] + [("", "x", "")]
    write(path, ["a", "b", "c"], rows)
    tables = []
    for block in (64, 1000, 1 << 20):
        small_blocks(monkeypatch, block)
        tables.append(read_csv(path))
    assert tables[0] == tables[1] == tables[2]
    assert tables[0].codes("a").dtype == np.uint16
    assert tables[0].domain("a")[-2:] == (2999, None)
    assert tables[0].domain("b") == (*"0123456", "x")
    assert tables[0].domain("c")[:3] == (0.0, 0.25, 0.5)


def test_rows_longer_than_a_block(path, monkeypatch):
    small_blocks(monkeypatch, 32)
    rows = [("a", "short"), ("b", "long " * 1000), ("c", "line\n" * 1000)]
    write(path, ["x", "y"], rows)
    calls = []
    table = read_csv(path, progress=lambda done, total: calls.append((done, total)))
    assert values_of(table, "y") == [y for _, y in rows]
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)
    write(path, ["x", "y" * 1000], rows)
    assert read_csv(path).names == ("x", "y" * 1000)


def test_null_values(path):
    write(path, ["x", "y"], [["?", "1"], ["", "2"], ["NA", "3"]])
    assert read_csv(path).domain("x") == ("?", "NA", None)
    assert read_csv(path, null_values=["?", "NA"]).domain("x") == ("", None)
    assert read_csv(path, null_values=()).domain("x") == ("", "?", "NA")
    with pytest.raises(TypeError, match="null_values: expected a sequence of texts, got '\\?'"):
        read_csv(path, null_values="?")
    for wrong, told in (
        (None, "got None"),
        (3, "got 3"),
        (["?", 3], "got 3 in it"),
        ([None], "got None in it"),
    ):
        with pytest.raises(TypeError, match=f"null_values: expected a sequence of texts, {told}$"):
            read_csv(path, null_values=wrong)


def test_columns_and_weights(path):
    write(path, ["a", "n", "b"], [["x", "2", "1"], ["y", "3", "1"]])
    table = read_csv(path, ["b", "a"], weights="n")
    assert table.names == ("b", "a")
    assert table.weights.tolist() == [2, 3]
    assert read_csv(path, weights="n").names == ("a", "b")
    assert read_csv(path, ["n"]).domain("n") == (2, 3)
    for columns, message in [
        (["z"], "expected a column of 'a', 'n', 'b'; got 'z'"),
        (["a", "a"], "expected distinct column names, got 'a' twice"),
        ([], "columns: expected at least one name, got none"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_csv(path, columns)
    with pytest.raises(TypeError, match="columns: expected a sequence of names, got the text 'a'"):
        read_csv(path, "a")
    with pytest.raises(ValueError, match="column 'a': expected integers of 64 bits, got 'x'"):
        read_csv(path, weights="a")
    with pytest.raises(ValueError, match="expected a column of 'a', 'n', 'b'; got 'z'"):
        read_csv(path, weights="z")
    with pytest.raises(TypeError, match="weights: expected the name of a column, got list"):
        read_csv(path, weights=[1, 2])
    write(path, ["a", "n"], [["x", "2"], ["y", "0"]])
    with pytest.raises(ValueError, match="weights: expected integers of at least 1, got 0 in row 1"):
        read_csv(path, weights="n")


def test_a_file_without_rows(path):
    path.write_text("a,b\n")
    table = read_csv(path)
    assert (table.names, table.n_rows, table.domain("a")) == (("a", "b"), 0, ())
    assert read_csv(path, domains={"a": [1, 2]}).domain("a") == (1, 2)


@pytest.mark.parametrize("text", ["a,y", '"a",y', "a", '"a\ufeff""b"'])
def test_names_that_no_line_end_comes_after(path, text):
    path.write_text(text, encoding="utf-8")
    with_end = path.with_name("with.csv")
    with_end.write_text(f"{text}\n", encoding="utf-8")
    read, expected = read_csv(path), read_csv(with_end)
    assert (read.n_rows, read.names) == (0, expected.names)


def test_names_with_a_quote_that_is_never_closed(path):
    path.write_text('a,"y', encoding="utf-8")
    with pytest.raises(ValueError, match="a quote that is opened and never closed"):
        read_csv(path)


def test_empty_lines(path):
    path.write_text("x\n1\n\n2\n")
    assert values_of(read_csv(path), "x") == [1, None, 2]
    path.write_text("x,y\n1,3\n\n2,4\n\n")
    assert values_of(read_csv(path), "x") == [1, 2]


def test_iterators_as_options(path, monkeypatch):
    small_blocks(monkeypatch, 16)
    write(path, ["x", "y"], [["a", "1"], ["b" * 100, "2"]])
    table = read_csv(path, iter(["y", "x"]), iter(["?"]), domains={"y": iter([2, 1])})
    assert (table.names, table.domain("y")) == (("y", "x"), (2, 1))
    pq.write_table(pa.table({"x": ["a"], "y": [1]}), path)
    table = read_parquet(path, iter(["y", "x"]), domains={"y": iter([2, 1])})
    assert (table.names, table.domain("y")) == (("y", "x"), (2, 1))


def test_line_ends_byte_order_mark_and_encoding(path):
    path.write_bytes("\ufeffa,b\r\n1,ä\r\n2,ö\r\n".encode())
    table = read_csv(path)
    assert (table.names, table.domain("a"), table.domain("b")) == (("a", "b"), (1, 2), ("ä", "ö"))
    path.write_bytes("a,b\n1,ä\n".encode("latin-1"))
    assert read_csv(path, encoding="latin-1").domain("b") == ("ä",)
    with pytest.raises(
        ValueError,
        match=r"table\.csv: line 2, column 'b', byte 7: 0xE4 is not UTF-8; it looks like Windows-1252",
    ) as caught:
        read_csv(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="encoding: unknown encoding: klingon"):
        read_csv(path, encoding="klingon")
    path.write_bytes("ä,b\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"table\.csv: "):
        read_csv(path)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2)])
def test_compressed_files(path, suffix, module):
    write(path, ["x", "y"], [["a", str(row)] for row in range(1000)])
    packed = path.with_name("table.csv" + suffix)
    packed.write_bytes(module.compress(path.read_bytes()))
    calls = []
    assert read_csv(packed, progress=lambda *call: calls.append(call)) == read_csv(path)
    assert calls[-1] == (packed.stat().st_size,) * 2
    packed.write_bytes(b"this is not compressed")
    with pytest.raises(OSError, match="table.csv" + suffix):
        read_csv(packed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty, and a line with the names of columns is wanted"),
        ("a,b\n1,2\n1\n", r"table\.csv: line 3: expected 2 fields as there are names, got 1$"),
        ("a,b\n1,2\n1,2,3\n", r"table\.csv: line 3: expected 2 fields as there are names, got 3$"),
        ("a,a\n1,2\n", "expected distinct column names, got 'a' twice"),
    ],
)
def test_files_that_are_refused(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_csv(path)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    for reader in (read_csv, read_parquet):
        with pytest.raises(FileNotFoundError, match="missing"):
            reader(tmp_path / "missing")
        with pytest.raises(OSError, match=str(tmp_path.name)):
            reader(tmp_path)
        with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not BytesIO"):
            reader(io.BytesIO())
    with pytest.raises(ValueError, match="delimiter must be one character, got '::'"):
        read_csv(tmp_path, delimiter="::")


def test_progress_and_interrupts(path, monkeypatch):
    small_blocks(monkeypatch, 256)
    write(path, ["x", "y"], [["a", str(row)] for row in range(20_000)])
    size = path.stat().st_size
    calls = []
    read_csv(path, progress=lambda done, total: calls.append((done, total)))
    assert len(calls) > 10
    assert calls == sorted(calls)
    assert calls[-1] == (size, size)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_csv(path, progress=interrupt)
    Table({"x": range(10)}).to_arrow()
    target = path.with_name("x.parquet")
    pq.write_table(pa.table({"x": range(10)}), target)
    with pytest.raises(KeyboardInterrupt):
        read_parquet(target, progress=interrupt)


# --- Parquet ---------------------------------------------------------------------------------------------


@ONE_FOLDER
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.sampled_from(["b", "a", "", "\U0001f600"])),
            st.one_of(st.none(), st.integers(-3, 3)),
            st.one_of(st.none(), st.floats()),
            st.one_of(st.none(), st.booleans()),
        )
    ),
    st.integers(1, 5),
    st.booleans(),
)
def test_parquet_equals_the_table(path, rows, group, dictionary):
    names = ("s", "i", "f", "b")
    types = (pa.string(), pa.int64(), pa.float64(), pa.bool_())
    arrays = [pa.array([row[k] for row in rows], type_) for k, type_ in enumerate(types)]
    data = pa.table(arrays, names=names)
    pq.write_table(data, path, row_group_size=group, use_dictionary=dictionary)
    expected = Table({name: [row[k] for row in rows] for k, name in enumerate(names)})
    assert read_parquet(path) == expected
    assert Table(data) == expected


def test_parquet_of_many_values(path):
    n = 200_000
    data = pa.table({"x": [str(row % 90_000) for row in range(n)], "n": np.arange(n) % 5 + 1})
    pq.write_table(data, path)  # the dictionary page overflows on the way
    calls = []
    table = read_parquet(path, weights="n", progress=lambda *call: calls.append(call))
    assert table == Table(data, weights="n")
    assert table.codes("x").dtype == np.uint32
    assert calls[-1] == (path.stat().st_size,) * 2


def test_parquet_types_columns_and_index(path):
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["x", None], categories=["y", "x"]),
            "d": [datetime.date(2020, 1, 1), None],
            "n": [1, 2],
            "dotted.name": ["p", "q"],
        },
        index=["k", "l"],
    )
    frame.to_parquet(path)
    table = read_parquet(path)
    assert table.names == ("c", "d", "n", "dotted.name")
    assert table.domain("c") == ("x", None)
    assert table.domain("d") == ("2020-01-01", None)
    assert read_parquet(path, ["dotted.name", "c"]).names == ("dotted.name", "c")
    assert read_parquet(path, ["__index_level_0__"]).domain("__index_level_0__") == ("k", "l")
    assert read_parquet(path, ["c"], weights="n").weights.tolist() == [1, 2]
    assert read_parquet(path, ["n"], domains={"n": [2, 1, 0]}).domain("n") == (2, 1, 0)
    with pytest.raises(ValueError, match="column 'n': value 2 is not in its declared domain of 1 values"):
        read_parquet(path, domains={"n": [1]})
    with pytest.raises(ValueError, match=r"expected a column of 'c', .* got 'z'"):
        read_parquet(path, ["z"])
    with pytest.raises(ValueError, match=r"domains: expected a column of .* got 'z'"):
        read_parquet(path, domains={"z": [1]})
    with pytest.raises(TypeError, match="weights: expected the name of a column, got list"):
        read_parquet(path, weights=[1, 2])


def test_parquet_that_is_refused(path):
    path.write_text("this is no Parquet file")
    with pytest.raises(ValueError, match=r"table\.csv: ") as caught:
        read_parquet(path)
    assert "\n" not in str(caught.value)
    pq.write_table(pa.table({"x": [[1]], "y": [1]}), path)
    with pytest.raises(TypeError, match=r"column 'x': expected bools, .* got list"):
        read_parquet(path)
    assert read_parquet(path, ["y"]).domain("y") == (1,)
    pq.write_table(pa.table({"x": [b"a"]}), path)
    with pytest.raises(TypeError, match=r"column 'x': expected bools, .* got binary"):
        read_parquet(path)
    pq.write_table(pa.table({"x": pa.array([], pa.string())}), path)
    assert read_parquet(path).n_rows == 0


# --- published data --------------------------------------------------------------------------------------


def test_adult():
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        pytest.skip("NBCFAST_DATA is not set: no Adult data")
    table = read_csv(os.path.join(folder, "adult-train.csv"))
    assert table.n_rows == 32_561
    assert table.domain("income") == ("<=50K", ">50K")
    assert np.bincount(table.codes("income")).tolist() == [24_720, 7_841]
    assert len(table.domain("age")) == 73


@pytest.mark.parametrize("encoding", ["utf8", "utf-16"])
def test_line_breaks_in_quotes_at_the_end_of_a_block(tmp_path, encoding, monkeypatch):
    path = tmp_path / "a.csv"
    for block in (64, 65, 66, 67):
        monkeypatch.setattr(files, "BLOCK_BYTES", block)
        rows = [f'1,"{"l" * k}\r\nm"' for k in range(30)]
        path.write_bytes("\r\n".join(["a,b", *rows, ""]).encode(encoding))
        table = read_csv(path, encoding=encoding)
        assert table.n_rows == 30
        assert set(table.domain("b")) == {"l" * k + "\r\nm" for k in range(30)}


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r", "é", "\0"])
def test_delimiters_that_are_none(tmp_path, delimiter):
    with pytest.raises(ValueError, match="delimiter must be an ASCII character"):
        read_csv(tmp_path / "a.csv", delimiter=delimiter)
