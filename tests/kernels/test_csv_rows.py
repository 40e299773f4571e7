"""The kernel that reads CSV text: files at random, read in blocks of every size, against `csv` of Python."""

import random

import csv_cases
import numpy as np
import pytest
from how_many import how_many
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _csv_rows
from nbcfast._reading import csv_blocks
from nbcfast.reference import csv_text, table

LEVELS = range(_csv_rows.levels())
FILES = how_many(5_000, thorough=1_000_000)


def test_files_at_random_equal_csv_of_python():
    compared = 0
    for seed in range(FILES):
        compared += csv_cases.check(random.Random(seed), seed % len(LEVELS))
    assert compared > 0.9 * FILES


@pytest.mark.parametrize("level", LEVELS)
@given(
    data=st.lists(
        st.sampled_from([b",", b'"', b"\n", b"\r", b"a", b"", b" ", "é".encode(), 40 * b"l"]), max_size=90
    ),
    block=st.integers(1, 150),
    threads=st.integers(1, 3),
)
def test_marks_at_random_equal_csv_of_python(level, data, block, threads):
    data = b"".join(data)
    got = csv_cases.read(data, ",", ("",), block, threads, level)
    if got != ("open", 0):
        assert got == csv_cases.expected(data, ",", ("",))


@given(
    st.lists(
        st.one_of(
            st.integers(-(2**70), 2**70).map(str),
            st.floats().map(repr),
            st.decimals(allow_nan=False, allow_infinity=False).map(str),
            st.from_regex(r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e[+-]?[0-9]{1,3})?", fullmatch=True),
            st.text(st.sampled_from("0123456789.-+e_ "), max_size=28),
            st.sampled_from(
                ["0.0001", "0.00001", "1e16", "1e+16", "9007199254740993.0", "123456789012345.6", "-0.0"]
            ),
        ),
        min_size=1,
    )
)
def test_numbers_equal_the_rule(texts):
    texts = [text for text in texts if text]
    data = b"x\n" + b"".join(text.encode() + b"\n" for text in texts)
    text = csv_blocks.CsvText(csv_cases.Memory(data), ",", 1 << 20)
    text.header()
    rows = csv_blocks.CsvRows(text, ",", 1, [0], (), 1)
    list(rows.batches())
    (column,) = rows.columns
    distinct = column.texts()
    for (numbers, wrong), fits, plain in (
        (column.integers(), lambda one: table.is_integer(one, -(2**63), 2**63 - 1), int),
        (column.floats(), table.is_decimal, float),
    ):
        assert wrong == next((place for place, one in enumerate(distinct) if not fits(one)), -1)
        wanted = [plain(one) for one in (distinct if wrong < 0 else distinct[:wrong])]
        assert list(map(repr, numbers[: len(wanted)].tolist())) == list(map(repr, wanted))


def scanner_of(n_fields, places, delimiter=",", level=0):
    keys = np.arange(1, 2 * len(places) + 1, dtype=np.uint64)
    values = _csv_rows.Values(keys)
    scanner = _csv_rows.Scanner(values, n_fields, np.array(places), ord(delimiter), [b""], keys, level)
    return values, scanner


def padded(data):
    return np.frombuffer(data + bytes(_csv_rows.AHEAD), np.uint8)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_values", [3, 300, 70_000])
def test_codes_are_as_narrow_as_values_allow(level, n_values):
    values, scanner = scanner_of(2, [1, 0], level=level)
    fields = [f"{row % n_values}" for row in range(100_000)]
    data = "".join(f"-,{field}\n" for field in fields).encode()
    assert scanner.scan(padded(data), 0, len(data)) == _csv_rows.FINE
    dtype = {3: np.uint8, 300: np.uint16, 70_000: np.uint32}[n_values]
    codes = np.empty(scanner.rows, dtype)
    scanner.copy(0, 0, codes)
    assert (scanner.width(0), scanner.most(0), scanner.width(1)) == (dtype().itemsize, n_values - 1, 1)
    texts = values.texts(0, np.arange(values.size(0), dtype=np.uint32))
    assert [texts[code] for code in codes.tolist()] == fields
    assert values.texts(1, np.zeros(1, np.uint32)) == ["-"]


@pytest.mark.parametrize("size", [3, 20])
def test_more_values_than_a_cache_keeps(size):
    """Whether they are let go or not, each value keeps its code."""
    values, scanner = scanner_of(1, [0], level=LEVELS[-1])
    numbers = np.random.default_rng(5).integers(0, 200_000, 300_000)
    fields = [f"{number:0{size}}" for number in numbers.tolist()]
    data = ("\n".join(fields) + "\n").encode()
    assert scanner.scan(padded(data), 0, len(data)) == _csv_rows.FINE
    codes = np.empty(scanner.rows, np.uint32)
    scanner.copy(0, 0, codes)
    index = {}
    assert codes.tolist() == [index.setdefault(field, len(index)) for field in fields]
    assert values.texts(0, np.arange(len(index), dtype=np.uint32)) == list(index)


def test_a_block_that_ends_within_a_row_is_ragged():
    for data in (b"a,b\nc", b"a,b\nc,", b"a"):
        _, scanner = scanner_of(2, [0])
        assert scanner.scan(padded(data), 0, len(data)) == _csv_rows.RAGGED


def test_rows_of_very_many_fields():
    for n_fields in (1, 63, 64, 65, 5_000):
        header = ",".join(f"c{place}" for place in range(n_fields)).encode() + b"\n"
        row = ",".join(str(place % 7) for place in range(n_fields)).encode() + b"\r\n"
        for level in LEVELS:
            names, columns = csv_cases.read(header + 3 * row, ",", (), 1 << 20, 1, level)
            assert (len(names), columns[-1]) == (n_fields, ([0, 0, 0], [str((n_fields - 1) % 7)]))
            for wrong in (
                b"1," + row,
                20_000 * b"," + row,
                20_000 * b'x"y,' + row,
                row.replace(b",", b"", 1),
            ):
                if n_fields > 1 or wrong != row:
                    got = csv_cases.read(header + row + wrong, ",", (), 1 << 20, 1, level)
                    assert got == ("ragged", 2)


def test_what_the_kernel_refuses():
    text = padded(b"a,b\n")
    keys = np.arange(1, 3, dtype=np.uint64)
    values, scanner = scanner_of(2, [0])
    for call, message in (
        (
            lambda: _csv_rows.border(text, 0, 5, 44, True, 0),
            "bytes 0 to 5 of 68, of which the last 64 are behind",
        ),
        (lambda: _csv_rows.row(text, 3, 2, 44), "bytes 3 to 2 of 68"),
        (lambda: scanner.scan(text, -1, 2), "bytes -1 to 2 of 68"),
        (
            lambda: _csv_rows.border(text, 0, 4, 34, True, 0),
            "delimiter must be 1..127 and no quote, CR or LF, got 34",
        ),
        (lambda: _csv_rows.border(text, 0, 4, 44, True, 9), r"level must be 0..\d, got 9"),
        (lambda: _csv_rows.Values(keys[:1]), "keys must be two a column, got 1"),
        (
            lambda: _csv_rows.Scanner(values, 0, np.zeros(1, np.int64), 44, [], keys, 0),
            "n_fields must be 1..16777216",
        ),
        (lambda: _csv_rows.Scanner(values, 2, np.array([2]), 44, [], keys, 0), "places must be 0..1, got 2"),
        (
            lambda: _csv_rows.Scanner(values, 2, np.array([0, 1]), 44, [], keys, 0),
            "1 columns, but 2 places and 2 keys",
        ),
        (lambda: scanner.copy(0, 0, np.empty(9, np.uint8)), "9 rows from 0 on, of 0"),
        (lambda: values.integers(0, np.empty(0, np.uint32), np.empty(1, np.int64)), "0 codes but room for 1"),
        (lambda: values.floats(0, np.empty(0, np.uint32), np.empty(1)), "0 codes but room for 1"),
        (
            lambda: _csv_rows.meet(
                np.array([3], np.uint8), np.zeros(2, np.uint32), np.zeros(2, np.uint32), 0
            ),
            "row 0: code 3 outside 2 places",
        ),
        (
            lambda: _csv_rows.meet(
                np.array([0], np.uint8), np.zeros(2, np.uint32), np.zeros(1, np.uint32), 0
            ),
            "firsts must have room for 2 codes, got 1 with 0 taken",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for call in (
        lambda: values.size(1),
        lambda: scanner.width(-1),
        lambda: values.texts(0, np.ones(1, np.uint32)),
    ):
        with pytest.raises(IndexError):
            call()


def test_the_twin_of_the_kernel():
    names, columns = csv_text.texts_of(b'\xef\xbb\xbfa,b\r\n"x""y",\r\n\r\n1,"p\nq"\r\n')
    assert (names, columns) == (["a", "b"], [['x"y', "1"], [None, "p\nq"]])
    for data, kind, row in (
        (b"", "empty", 0),
        (b"a,b\n1,2\n\n3\n", "ragged", 2),
        (b"a\n\n\0\n", "nul", 2),
        (b"a\n\xff\0\n", "utf8", 1),
        (b"a,a\n", "names", 0),
    ):
        with pytest.raises(csv_text.WrongError) as caught:
            csv_text.read(data)
        assert (caught.value.kind, caught.value.row) == (kind, row)
