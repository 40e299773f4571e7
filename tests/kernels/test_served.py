"""`Served`, `ServedStrata` and `Translation`: the scores of `Scorer`, asked again and again by anybody."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast._columns import Columns
from nbcfast._score import Scorer, Scores, Served, ServedStrata, Translation

SIZES = [2, 3, 1, 4]


def longs(*numbers):
    return np.array(numbers, np.int64)


def scores_of(columns, sizes, n_classes, seed, grouped=True, unit=0.0):
    """Those of counts from 0 to 3, in which ties are frequent."""
    rng = np.random.default_rng(seed)
    limbs = rng.integers(0, 4, (sum(sizes), n_classes, 1)).astype(np.uint64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(limbs[:, :, 0].astype(float))
        singles = logs[:, :1] - logs[:, 1:] if n_classes == 2 else logs
    base = np.zeros(1)
    if n_classes > 2:
        width = -(-n_classes // 4) * 4 if n_classes <= 4 else -(-n_classes // 8) * 8
        singles = np.pad(singles, ((0, 0), (0, width - n_classes)), constant_values=-np.inf)
        base = np.where(np.arange(width) < n_classes, 0.0, -np.inf)
    ones = np.ones((n_classes, 1), np.uint64)
    plan = (longs(0, len(sizes)), np.arange(len(sizes))) if grouped and sizes else (longs(0), longs())
    return Scores(columns, *plan, np.ascontiguousarray(singles), base, 1e-12, limbs, ones, ones, unit)


def served_of(sizes, n_classes, seed=1, grouped=True, unit=0.0):
    nothing = Columns([np.zeros(0, np.uint8) for _ in sizes], list(sizes), 0)
    return Served(scores_of(nothing, sizes, n_classes, seed, grouped, unit))


def rows_of(rng, sizes, n_rows, dtype=np.uint8):
    return [rng.integers(0, size, n_rows).astype(dtype) for size in sizes]


@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3, 4, 5, 8, 16, 20, 300]),
    st.sampled_from([0, 1, 255, 256, 257, 700]),
    st.lists(st.integers(1, 5), max_size=5),
    st.sampled_from([np.uint8, np.int8, np.uint16, np.int32, np.int64, np.uint64]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 300.0, 50_000.0]),
)
def test_the_classes_are_those_of_a_scorer(seed, n_classes, n_rows, sizes, dtype, grouped, unit):
    if n_classes == 2 or not sizes:
        unit = 0.0
    rng = np.random.default_rng(seed)
    codes = rows_of(rng, sizes, n_rows, dtype)
    columns = Columns(codes, list(sizes), n_rows)
    expected, tied = np.zeros(n_rows, np.uint16), np.zeros(n_rows, np.uint8)
    Scorer(scores_of(columns, sizes, n_classes, seed, grouped)).predict(0, n_rows, expected, tied)
    served = served_of(sizes, n_classes, seed, grouped, unit)
    labels, marks = np.full(n_rows, 999, np.uint16), np.full(n_rows, 9, np.uint8)
    assert served.decide_columns(columns, labels, None, marks) == -1
    assert labels.tolist() == expected.tolist()
    assert marks.tolist() == tied.tolist()

    # Through tables: the codes of another column, each of which stands for a position.
    tables = [rng.integers(0, size, 7) for size in sizes]
    others = rows_of(rng, [7] * len(sizes), n_rows, dtype)
    placed = Columns(
        [table[column] for table, column in zip(tables, others, strict=True)], list(sizes), n_rows
    )
    Scorer(scores_of(placed, sizes, n_classes, seed, grouped)).predict(0, n_rows, expected, tied)
    found = Columns(others, [7] * len(sizes), n_rows)
    assert served.decide_columns(found, labels, Translation(tables), marks) == -1
    assert labels.tolist() == expected.tolist()
    assert marks.tolist() == tied.tolist()

    # As matrices in either order, and as records.
    matrix = np.zeros((n_rows, len(sizes)), dtype)
    for a, column in enumerate(codes):
        matrix[:, a] = column
    served.decide_columns(columns, expected)
    bytewise = np.zeros(n_rows, np.uint8 if n_classes <= 256 else np.uint16)
    for form in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=0)[::2], matrix[::-1][::-1]):
        bytewise[:] = 77
        assert served.decide_matrix(form, bytewise) == -1
        assert bytewise.tolist() == expected.tolist()
    for row in range(0, n_rows, 100):
        assert served.decide_record(matrix[row].tolist()) == expected[row]
        assert served.decide_record(tuple(matrix[row])) == expected[row]

    # With another stratum between the rows.
    strata = ServedStrata([served, served_of(sizes, n_classes, seed + 1, grouped, unit)])
    which = rng.integers(0, 2, n_rows) if seed % 2 else np.sort(rng.integers(0, 2, n_rows))
    assert strata.decide_matrix(np.column_stack([which, matrix.astype(np.int64)]), labels) == -1
    other = np.zeros(n_rows, np.uint16)
    served_of(sizes, n_classes, seed + 1, grouped).decide_columns(columns, other)
    assert labels.tolist() == np.where(which == 0, expected, other).tolist()


@pytest.mark.parametrize(("n_classes", "unit"), [(2, 0.0), (3, 0.0), (3, 100.0)])
@pytest.mark.parametrize("grouped", [True, False])
def test_codes_out_of_range_are_named(n_classes, unit, grouped):
    served = served_of(SIZES, n_classes, grouped=grouped, unit=unit)
    strata = ServedStrata([served, served])
    for a, size in enumerate(SIZES):
        for wrong in (size, 200, -1, -(2**63), 2**63 - 1):
            row = [0] * len(SIZES)
            row[a] = wrong
            assert served.decide_record(row) == -1 - a
            matrix = np.zeros((600, len(SIZES)), np.int64)
            matrix[500] = row
            assert served.decide_matrix(matrix, np.zeros(600, np.uint8)) == a
            by = np.column_stack([np.zeros(600, np.int64), matrix])
            assert strata.decide_matrix(by, np.zeros(600, np.uint8)) == a + 1
            columns = Columns(list(matrix.T), SIZES, 600)
            assert served.decide_columns(columns, np.zeros(600, np.uint8)) == a
            same = Translation([np.arange(size) for size in SIZES])
            assert served.decide_columns(columns, np.zeros(600, np.uint8), same) == a
    for wrong in (2, -1, 2**63 - 1):
        matrix = np.zeros((3, 5), np.int64)
        matrix[2, 0] = wrong
        assert strata.decide_matrix(matrix, np.zeros(3, np.uint8)) == 0
    assert served.decide_record([10**30, 0, 0, 0]) == -1
    # A value without a position is none of the classifier's.
    nowhere = Translation([longs(0, -1), longs(0, 1, 2), longs(0), longs(0, 1, 2, 3)])
    one = Columns([np.ones(1, np.uint8), *(np.zeros(1, np.uint8) for _ in range(3))], SIZES, 1)
    assert served.decide_columns(one, np.zeros(1, np.uint8), nowhere) == 0


def test_what_is_refused():
    served = served_of(SIZES, 2)
    zeros, labels = np.zeros((3, 4), np.uint8), np.zeros(3, np.uint8)
    columns = Columns(list(zeros.T.copy()), SIZES, 3)
    for wrong, message in (
        (np.zeros(3, np.uint8), "codes must be 2-D"),
        (np.zeros((3, 4, 1), np.uint8), "codes must be 2-D .* got 3 dimensions"),
        (np.zeros((3, 5), np.uint8), "codes must have 4 columns, got 5"),
    ):
        with pytest.raises(ValueError, match=message):
            served.decide_matrix(wrong, labels)
    for kind in (np.float64, "M8[s]", ">i4", object):
        with pytest.raises((TypeError, ValueError), match=r"native integers|buffer|format"):
            served.decide_matrix(np.zeros((3, 4), kind), labels)
    odd = memoryview(bytearray(104))[1:97].cast("q", (3, 4))
    with pytest.raises(ValueError, match="codes are not aligned to their 8 bytes"):
        served.decide_matrix(odd, labels)
    for wrong in (np.zeros(4, np.uint8), np.zeros((3, 1), np.uint8)):
        with pytest.raises(ValueError, match="labels must be 1-D of 3 rows, got"):
            served.decide_matrix(zeros, wrong)
    with pytest.raises(TypeError, match="labels must be of uint8 or uint16"):
        served.decide_matrix(zeros, np.zeros(3, np.int64))
    fixed = np.zeros(3, np.uint8)
    fixed.flags.writeable = False
    for wrong in (fixed, np.zeros(6, np.uint8)[::2]):
        with pytest.raises((ValueError, BufferError)):
            served.decide_matrix(zeros, wrong)
    with pytest.raises(ValueError, match="300 classes do not fit bytes"):
        served_of([2], 300).decide_matrix(np.zeros((1, 1), np.uint8), np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="expected 4 columns, got 1"):
        served.decide_columns(Columns([labels], [2], 3), labels)
    with pytest.raises(ValueError, match="column 3 must have 4 values, got 5"):
        served.decide_columns(Columns(list(zeros.T.copy()), [2, 3, 1, 5], 3), labels)
    with pytest.raises(ValueError, match="expected 4 tables, got 1"):
        served.decide_columns(columns, labels, Translation([longs(0)]))
    with pytest.raises(ValueError, match="column 0 must have 1 values, got 2"):
        served.decide_columns(columns, labels, Translation([longs(0)] * 4))
    with pytest.raises(ValueError, match="tied has 2 rows, expected 3"):
        served.decide_columns(columns, labels, None, np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="a record must be 4 codes, got 3"):
        served.decide_record([0, 0, 0])
    for wrong, shown in ((True, "True"), (1.0, "float"), ("1", "str"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"code 2 of the record must be an int, got {shown}"):
            served.decide_record([0, 0, wrong, 0])
    for wrong in (longs(-2), longs(2**32 - 1)):
        with pytest.raises(ValueError, match="table 1 must hold positions, or -1, got"):
            Translation([longs(0), wrong])
    with pytest.raises(ValueError, match="scores must be of columns without rows, got 3"):
        Served(scores_of(columns, SIZES, 2, 1))
    with pytest.raises(ValueError, match="at least one stratum"):
        ServedStrata([])
    with pytest.raises(TypeError, match="strata must be Served, got int"):
        ServedStrata([served, 5])
    for other in (served_of(SIZES, 3), served_of([2, 3, 1, 5], 2), served_of([2], 2)):
        with pytest.raises(ValueError, match="stratum 1 must have the attributes and classes of the first"):
            ServedStrata([served, other])


class Asking:
    """A code that asks for other codes while it is asked for itself."""

    def __init__(self, served, deep):
        self.served, self.deep = served, deep

    def __index__(self):
        return self.served.decide_record([0, 0, 0, Asking(self.served, self.deep - 1) if self.deep else 0])


def test_more_calls_at_once_than_there_are_desks():
    """Each holds a desk while the next one begins, in one thread: 40 of them, of which 16 are kept."""
    served = served_of(SIZES, 2)
    for _ in range(3):
        assert served.decide_record([0, 0, 0, Asking(served, 40)]) in (0, 1)


@pytest.mark.parametrize("unit", [0.0, 100.0])
def test_threads_that_ask_at_once_are_all_answered(unit):
    served = served_of(SIZES, 3, unit=unit)
    rng = np.random.default_rng(1)
    matrix = np.column_stack(rows_of(rng, SIZES, 5_000))
    expected = np.zeros(5_000, np.uint8)
    served.decide_matrix(matrix, expected)
    begin, wrong = threading.Barrier(20), []

    def ask():
        labels = np.zeros(5_000, np.uint8)
        begin.wait()
        for row in range(60):
            served.decide_matrix(matrix, labels)
            if (
                labels.tolist() != expected.tolist()
                or served.decide_record(matrix[row].tolist()) != expected[row]
            ):
                wrong.append(row)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
