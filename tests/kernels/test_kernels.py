"""The kernels of counting and scoring called directly: hostile arguments are refused or harmless."""

import array
import ctypes
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast._columns import Columns
from nbcfast._count import Tally, add_checked, first_bad, tally_few
from nbcfast._score import Scorer, Scores

TOP = 2**63 - 1


def longs(*numbers):
    return np.array(numbers, np.int64)


# --- Columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(3, np.int8), np.zeros(3, np.uint64), np.zeros(3, np.bool_), np.zeros(6, np.int32)[::2],
        np.zeros(3, np.uint16)[::-1], np.broadcast_to(np.int64(0), 3), bytes(3), bytearray(3),
        array.array("H", [0, 0, 0]), memoryview(bytes(6))[::2],
    ],
)  # fmt: skip
def test_columns_take_any_integers(column):
    columns = Columns([column], [1], 3)
    assert (columns.n_columns, columns.n_rows) == (1, 3)
    assert first_bad(columns, 0) == -1


@pytest.mark.parametrize(
    ("arrays", "sizes", "n_rows", "error", "message"),
    [
        ([bytes(3)], [], 3, ValueError, "1 columns but 0 sizes"),
        ([bytes(3)], [1, 1], 3, ValueError, "1 columns but 2 sizes"),
        ([bytes(3)], [1], 2, ValueError, "column 0 has 3 rows, expected 2"),
        ([bytes(3)], [1], -1, ValueError, "n_rows must be at least 0, got -1"),
        ([bytes(3), bytes(2)], [1, 1], 3, ValueError, "column 1 has 2 rows, expected 3"),
        ([bytes(3)], [0], 3, ValueError, r"column 0 of 3 rows must have 1\.\.2\^32 values, got 0"),
        ([bytes(3)], [-1], 3, ValueError, r"column 0 of 3 rows must have 1\.\.2\^32 values, got -1"),
        ([b""], [-1], 0, ValueError, "column 0 of 0 rows must have .* values, got -1"),
        ([bytes(3)], [2**32 + 1], 3, ValueError, "values, got 4294967297"),
        ([bytes(3)], [2**70], 3, OverflowError, "too large"),
        ([bytes(3)], ["1"], 3, TypeError, "integer|int"),
        ([bytes(3)], [1.5], 3, TypeError, "float"),
        ([bytes(3)], [None], 3, TypeError, "integer|int|NoneType"),
        ([np.zeros((3, 1), np.uint8)], [1], 3, ValueError, "column 0 must be 1-D, got 2 dimensions"),
        ([np.zeros((), np.uint8)], [1], 3, ValueError, "column 0 must be 1-D, got 0 dimensions"),
        ([(ctypes.c_uint8 * 3)()], [1], 3, TypeError, "must hold native integer codes, got format '<B'"),
        ([np.zeros(3)], [1], 3, TypeError, "column 0 must hold native integer codes, got format 'd'"),
        ([np.zeros(3, ">i4")], [1], 3, TypeError, "column 0 must hold native integer codes, got format '>i'"),
        ([np.zeros(3, "c8")], [1], 3, TypeError, "column 0 must hold native integer codes, got format"),
        ([np.zeros(3, "S1")], [1], 3, TypeError, "column 0 must hold native integer codes, got format"),
        ([np.zeros(3, "i1,i1")], [1], 3, TypeError, "column 0 must hold native integer codes, got format"),
        ([np.zeros(3, object)], [1], 3, TypeError, "column 0 must hold native integer codes, got format 'O'"),
        ([[0, 0, 0]], [1], 3, TypeError, "bytes-like object is required, not 'list'"),
        ([None], [1], 3, TypeError, "bytes-like object is required, not 'NoneType'"),
        ([memoryview(bytes(25))[1:].cast("Q")], [1], 3, ValueError, "not aligned to its 8-byte codes"),
        ([np.zeros(3, "i4,i1")["f0"]], [1], 3, TypeError, "must hold native integer codes, got format '=i'"),
        ((bytes(3),), [1], 3, TypeError, "list"),
        (None, [1], 3, TypeError, "None|list"),
        ([], None, 3, TypeError, "None|list"),
    ],
)
def test_what_columns_refuse(arrays, sizes, n_rows, error, message):
    with pytest.raises(error, match=message):
        Columns(arrays, sizes, n_rows)


def test_columns_hold_their_buffers():
    data = bytearray(4)
    columns = Columns([data], [1], 4)
    with pytest.raises(BufferError):
        data.append(1)
    del columns
    data.append(1)
    # One that failed half way holds nothing.
    with pytest.raises(ValueError, match="column 1 has 2 rows"):
        Columns([data, bytes(2)], [1, 1], 5)
    data.append(1)


def test_what_is_a_matrix():
    matrix = np.zeros((5, 4), np.uint16)
    assert Columns(list(matrix.T), [2] * 4, 5).is_matrix(4)
    for wrong in (-1, 0, 1, 5, 2**40):
        assert not Columns(list(matrix.T), [2] * 4, 5).is_matrix(wrong)
    assert not Columns(list(matrix.T), [2, 257, 2, 2], 5).is_matrix(4)
    assert not Columns(list(matrix.T)[::-1], [2] * 4, 5).is_matrix(4)
    assert not Columns(list(matrix[::-1].T), [2] * 4, 5).is_matrix(4)
    assert not Columns(list(matrix[:, :3].T), [2] * 3, 5).is_matrix(3)
    assert not Columns(list(np.asfortranarray(matrix).T), [2] * 4, 5).is_matrix(4)
    assert not Columns([*matrix.T[:3], matrix.T[3].view(np.int16)[::-1]], [2] * 4, 5).is_matrix(4)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_first_bad(dtype):
    info = np.iinfo(dtype)
    for size in (1, 2, 128, 200, 256, 40_000, 65_536, 2**31, 2**32):
        for code in {0, 1, size - 1, size, 127, 128, 255, 256, info.min, info.max, -1, 2**31, 2**32}:
            if info.min <= code <= info.max:
                columns = Columns([np.array([0, 0, code, code], dtype)], [size], 4)
                assert first_bad(columns, 0) == (-1 if 0 <= code < size else 2)
    for column in (-1, 1, 2**40):
        with pytest.raises(ValueError, match=f"column {column} of 1"):
            first_bad(Columns([bytes(1)], [1], 1), column)
    with pytest.raises(TypeError):
        first_bad(None, 0)


# --- Tally -----------------------------------------------------------------------------------------------


def three(n_rows=5, sizes=(2, 3, 2)):
    rng = np.random.default_rng(1)
    return Columns([rng.integers(0, 2, n_rows, np.uint8) for _ in sizes], list(sizes), n_rows)


@pytest.mark.parametrize(
    ("first", "members", "message"),
    [
        ([], [], "a plan of 2 attributes has first = 0"),
        ([1], [0], "a plan of 2 attributes has first = 0"),
        ([0, 1], [], "a plan of 2 attributes has first = 0"),
        ([0, 2], [0], "a plan of 2 attributes has first = 0"),
        ([0, 1, 2, 2, 2], [0, 1], "a plan of 2 attributes has first = 0"),
        ([0, 1], [2], "member 0 of the plan is attribute 2: unknown, or there twice"),
        ([0, 1], [-1], "member 0 of the plan is attribute -1: unknown, or there twice"),
        ([0, 2], [1, 1], "member 1 of the plan is attribute 1: unknown, or there twice"),
        ([0, 3], [0, 1, 0], "member 2 of the plan is attribute 0: unknown, or there twice"),
        ([0, 0, 2], [0, 1], "group 0 of the plan must have members, got 0 to 0"),
        ([0, 5, 2], [0, 1], "group 0 of the plan must have members, got 0 to 5"),
        ([0, -1, 2], [0, 1], "group 0 of the plan must have members, got 0 to -1"),
        ([0, TOP, 2], [0, 1], "group 0 of the plan must have members"),
    ],
)
def test_what_plans_are_refused(first, members, message):
    with pytest.raises(ValueError, match=message):
        Tally(three(), longs(*first), longs(*members))
    limbs = np.ones((5, 2, 1), np.uint64)
    ones = np.ones((2, 1), np.uint64)
    columns = Columns([bytes(4), bytes(4)], [2, 3], 4)
    with pytest.raises(ValueError, match=message):
        Scores(columns, longs(*first), longs(*members), np.zeros((5, 1)), np.zeros(1), 0.1, limbs, ones, ones)


def test_tables_of_a_plan_have_16_bits():
    columns = Columns([np.zeros(3, np.uint32)] * 3, [256, 256, 2], 3)
    with pytest.raises(
        ValueError, match=r"group 0 of the plan must have a table of 1\.\.65536 entries, got 131072"
    ):
        Tally(columns, longs(0, 2), longs(0, 1))
    assert Tally(columns, longs(0, 1, 2), longs(0, 1)).add(0, 3) == -1
    # Sizes whose product wraps.
    for sizes in ([2**32, 2**32, 1], [65_536, 2**32, 1], [2**31, 2, 1]):
        with pytest.raises((ValueError, MemoryError)):
            Tally(Columns([np.zeros(3, np.uint32)] * 3, sizes, 3), longs(0, 2), longs(0, 1))


def test_what_a_tally_refuses():
    none = longs(0), longs()
    with pytest.raises(ValueError, match="expected attribute columns and a class column, got 1 columns"):
        Tally(Columns([bytes(3)], [1], 3), *none)
    with pytest.raises(ValueError, match="expected attribute columns and a class column, got 0 columns"):
        Tally(Columns([], [], 3), *none)
    with pytest.raises(ValueError, match="at most 65536 classes, got 65537"):
        Tally(Columns([bytes(3)] * 2, [1, 65_537], 3), *none)
    with pytest.raises(ValueError, match="4 weights but 5 rows"):
        Tally(three(), *none, longs(1, 1, 1, 1))
    with pytest.raises(ValueError, match="weighted rows are counted without groups"):
        Tally(three(), longs(0, 1), longs(0), longs(1, 1, 1, 1, 1))
    with pytest.raises(TypeError):
        Tally(None, *none)
    with pytest.raises(TypeError):
        Tally(three(), None, longs())
    with pytest.raises(TypeError):
        Tally(three(), longs(0), None)
    with pytest.raises(ValueError, match="Buffer dtype mismatch"):
        Tally(three(), np.zeros(1), longs())
    with pytest.raises(ValueError, match="wrong number of dimensions"):
        Tally(three(), longs(0).reshape(1, 1), longs())
    tally = Tally(three(), *none)
    for start, stop in ((-1, 2), (2, 1), (0, 6), (6, 6), (-(2**63), TOP)):
        with pytest.raises(ValueError, match=f"rows {start} to {stop} of 5"):
            tally.add(start, stop)
    for wrong in (longs(), np.zeros(11, np.int64), np.zeros(9, np.int64)):
        with pytest.raises(ValueError, match=f"counts must have 10 entries, got {len(wrong)}"):
            tally.add_to(wrong)
    with pytest.raises(TypeError):
        tally.add_to(None)
    frozen = np.zeros(10, np.int64)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tally.add_to(frozen)
    with pytest.raises(TypeError, match=r"__cinit__|argument"):
        Tally()


@pytest.mark.parametrize("plan", [((0,), ()), ((0, 2), (0, 1)), ((0, 1, 2), (1, 0)), ((0, 1), (1,))])
def test_a_tally_starts_again_after_it_was_read(plan):
    columns = three()
    tally = Tally(columns, longs(*plan[0]), longs(*plan[1]))
    counts = np.zeros(10, np.int64)
    assert tally.add(0, 5) == -1
    tally.add_to(counts)
    once = counts.copy()
    assert once.sum() == 10
    tally.add_to(counts)
    assert np.array_equal(counts, once)
    for start in range(5):
        assert tally.add(start, start + 1) == -1
        assert tally.add(start, start) == -1
    tally.add_to(counts)
    assert np.array_equal(counts, 2 * once)


@given(st.integers(0, 2**64))
@settings(max_examples=settings().max_examples * 4)
def test_any_plan_counts_the_same(seed):
    """Any valid plan, over any layout; and with codes out of range the number of a column that has one."""
    rng = random.Random(seed)
    d, rows = rng.randint(1, 24), rng.choice([0, 1, 5, 16, 17, 255, 256, 257, 300, 4097])
    sizes = [rng.choice([1, 2, 3, 5, 16, 200, 256]) for _ in range(d)]
    numbers = np.random.default_rng(seed)
    dtype = rng.choice([np.uint8, np.uint16, np.int32, np.int64])
    matrix = numbers.integers(0, sizes, (rows, d)).astype(dtype)
    n_classes = rng.choice([1, 2, 3, 200])
    y = numbers.integers(0, n_classes, rows).astype(np.uint8)
    codes = list((matrix if rng.random() < 0.7 else np.asfortranarray(matrix)).T)
    columns = Columns([*codes, y], [*sizes, n_classes], rows)
    first, members, left = [0], [], list(range(d))
    rng.shuffle(left)
    if rng.random() < 0.5:
        left.sort()
    while left and rng.random() < 0.95:
        entries, group = n_classes, []
        while left and len(group) < rng.randint(1, 5) and entries * sizes[left[0]] <= 65_536:
            entries *= sizes[left[0]]
            group.append(left.pop(0))
        if not group:
            left.pop(0)
            continue
        members += group
        first.append(len(members))
    expected = np.concatenate(
        [
            np.bincount(matrix[:, a].astype(np.int64) * n_classes + y, minlength=sizes[a] * n_classes)
            for a in range(d)
        ]
    )
    tally = Tally(columns, longs(*first), longs(*members))
    counts = np.zeros(len(expected), np.int64)
    middle = rng.randint(0, rows)
    assert tally.add(0, middle) == -1
    if rng.random() < 0.5:
        tally.add_to(counts)
    assert tally.add(middle, rows) == -1
    tally.add_to(counts)
    assert np.array_equal(counts, expected)
    if rows and max(sizes) < 256:
        bad = {(rng.randrange(rows), rng.randrange(d)) for _ in range(rng.randint(1, 3))}
        for row, a in bad:
            matrix[row, a] = rng.choice([sizes[a], 255, np.iinfo(dtype).max])
        codes = list((matrix if rng.random() < 0.7 else np.asfortranarray(matrix)).T)
        columns = Columns([*codes, y], [*sizes, n_classes], rows)
        answer = Tally(columns, longs(*first), longs(*members)).add(0, rows)
        assert 0 <= answer < d
        for a in range(d):
            expected_row = min((row for row, column in bad if column == a), default=-1)
            assert first_bad(columns, a) == expected_row


# --- tally_few -------------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 255, 256, 257, 600]),
    st.lists(st.integers(1, 300), max_size=4),
    st.integers(1, 5),
    st.sampled_from([np.uint16, np.int32, np.int64, np.uint64]),
    st.booleans(),
)
def test_few_rows_are_counted_as_a_tally_does(seed, n_rows, sizes, n_classes, dtype, weighted):
    rng = np.random.default_rng(seed)
    kinds = [np.uint8 if size <= 256 and rng.random() < 0.5 else dtype for size in (*sizes, n_classes)]
    codes = [rng.integers(0, size, n_rows).astype(dtype) for size, dtype in zip(sizes, kinds, strict=False)]
    codes = [column if rng.random() < 0.7 else np.repeat(column, 2)[::2] for column in codes]
    y = rng.integers(0, n_classes, n_rows).astype(kinds[-1])
    weights = rng.integers(1, 2**40, n_rows) if weighted else None
    columns = Columns([*codes, y], [*sizes, n_classes], n_rows)
    counts = np.ones((sum(sizes) + 1, n_classes), np.int64)
    assert tally_few(columns, counts, weights) == -1
    expected, first = np.ones_like(counts), 0
    ones = np.ones(n_rows, np.int64) if weights is None else weights
    for column, size in zip(codes, sizes, strict=True):
        np.add.at(expected, (first + column.astype(np.int64), y.astype(np.int64)), ones)
        first += size
    np.add.at(expected[-1], y.astype(np.int64), ones)
    assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_with_a_wrong_code(dtype, weighted):
    weights = np.ones(400, np.int64) if weighted else None
    for a, size in enumerate((3, 2, 5)):
        for wrong in (size, 100, np.iinfo(dtype).max, -1 if dtype is not np.uint8 else 255):
            codes = [np.zeros(400, dtype) for _ in range(3)]
            codes[a][300] = wrong
            columns = Columns(codes, [3, 2, 5], 400)
            assert tally_few(columns, np.zeros((6, 5), np.int64), weights) == a


def test_what_tally_few_refuses():
    columns = Columns([np.zeros(4, np.uint8)] * 2, [3, 2], 4)
    for wrong in ((3, 2), (4, 3), (5, 2), (0, 0)):
        with pytest.raises(ValueError, match=f"counts must be 4 x 2, got {wrong[0]} x {wrong[1]}"):
            tally_few(columns, np.zeros(wrong, np.int64))
    with pytest.raises(ValueError, match="3 weights but 4 rows"):
        tally_few(columns, np.zeros((4, 2), np.int64), np.ones(3, np.int64))
    with pytest.raises(ValueError, match="expected a class column, got no columns"):
        tally_few(Columns([], [], 4), np.zeros((1, 1), np.int64))
    for wrong in (None, np.zeros((4, 2)), np.zeros((2, 4), np.int64).T):
        with pytest.raises((TypeError, ValueError)):
            tally_few(columns, wrong)


# --- add_checked -----------------------------------------------------------------------------------------

EDGES = st.one_of(st.integers(-2, 3), st.sampled_from([TOP, TOP - 1, 2**62, -(2**63)]), st.integers(0, TOP))


@given(st.lists(st.tuples(EDGES, EDGES), max_size=8), st.booleans())
def test_add_checked(pairs, subtract):
    counts, others = longs(*(a for a, _ in pairs)), longs(*(b for _, b in pairs))
    results = [a - b if subtract else a + b for a, b in pairs]
    wrong = [
        i
        for i, ((a, b), c) in enumerate(zip(pairs, results, strict=True))
        if a < 0 or b < 0 or not 0 <= c <= TOP
    ]
    others.flags.writeable = False
    before = counts.copy()
    assert add_checked(counts, others, subtract) == (wrong[0] if wrong else -1)
    assert counts.tolist() == (before.tolist() if wrong else results)


def test_what_add_checked_refuses():
    with pytest.raises(ValueError, match="2 counts but 1 others"):
        add_checked(longs(1, 2), longs(1), False)
    for wrong in (None, [1], 5):
        with pytest.raises(TypeError):
            add_checked(wrong, longs(1), False)
        with pytest.raises(TypeError):
            add_checked(longs(1), wrong, False)
    with pytest.raises(ValueError, match="Buffer dtype mismatch"):
        add_checked(np.zeros(1), longs(1), False)
    with pytest.raises(ValueError, match=r"not C-contiguous|not contiguous"):
        add_checked(np.zeros(4, np.int64)[::2], longs(1, 1), False)
    frozen = longs(1)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add_checked(frozen, longs(1), False)


# --- Scores and Scorer -----------------------------------------------------------------------------------


def parts(n_classes=2, sizes=(2, 3), rows=4):
    width = 1 if n_classes == 2 else -(-n_classes // 4) * 4
    codes = [np.zeros(rows, np.uint8) for _ in sizes]
    return {
        "columns": Columns(codes, list(sizes), rows),
        "first": longs(0, len(sizes)),
        "members": np.arange(len(sizes)),
        "singles": np.zeros((sum(sizes), width)),
        "base": np.where(np.arange(width) < n_classes, 0.0, -np.inf),
        "bound": 0.1,
        "limbs": np.ones((sum(sizes), n_classes, 1), np.uint64),
        "up": np.ones((n_classes, 1), np.uint64),
        "down": np.ones((n_classes, 1), np.uint64),
    }


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"up": np.ones((1, 1), np.uint64)},
            ValueError,
            r"up, down and limbs must be of 2\.\.65536 classes, got 1",
        ),
        ({"down": np.ones((3, 1), np.uint64)}, ValueError, "up, down and limbs must be of"),
        ({"limbs": np.ones((5, 3, 1), np.uint64)}, ValueError, "up, down and limbs must be of"),
        ({"up": np.ones((0, 1), np.uint64)}, ValueError, "up, down and limbs must be of"),
        ({"base": np.zeros(4)}, ValueError, "2 classes do not go with sums of width 4"),
        ({"base": np.zeros(0)}, ValueError, "2 classes do not go with sums of width 0"),
        ({"singles": np.zeros((5, 2))}, ValueError, "singles must be 5 x 1, got 5 x 2"),
        ({"singles": np.zeros((4, 1))}, ValueError, "singles must be 5 x 1, got 4 x 1"),
        (
            {"limbs": np.ones((5, 2, 0), np.uint64)},
            ValueError,
            "limbs of N and of up must agree, got 0 and 1",
        ),
        ({"up": np.ones((2, 2), np.uint64)}, ValueError, "limbs of N and of up must agree, got 1 and 2"),
        ({"down": np.ones((2, 0), np.uint64)}, ValueError, "limbs of N and of up must agree"),
        ({"bound": -1.0}, ValueError, r"bound must be at least 0, got -1\.0"),
        ({"bound": float("nan")}, ValueError, "bound must be at least 0, got nan"),
        ({"bound": "x"}, TypeError, "real number|float"),
        (
            {"limbs": np.ones((6, 2, 1), np.uint64), "singles": np.zeros((6, 1))},
            ValueError,
            "the columns have 5 codes, limbs are of 6",
        ),
        ({"singles": np.zeros((5, 1), np.float32)}, ValueError, "Buffer dtype mismatch"),
        ({"limbs": np.ones((5, 2, 1), np.int64)}, ValueError, "Buffer dtype mismatch"),
        ({"singles": np.zeros((5, 2))[:, ::2]}, ValueError, "not C-contiguous|not contiguous"),
        *(({name: None}, TypeError, None) for name in parts()),
    ],
)
def test_what_scores_refuse(change, error, message):
    assert Scorer(Scores(**parts())).predict(0, 4, np.zeros(4, np.uint8)) == -1
    with pytest.raises(error, match=message):
        Scores(**{**parts(), **change})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e301, -1e301])
@pytest.mark.parametrize("name", ["singles", "base"])
def test_logarithms_are_moderate_or_of_zero(name, wrong):
    given = parts(3)
    given[name].flat[2] = wrong
    with pytest.raises(ValueError, match=f"{name} must be logarithms"):
        Scores(**given)
    given[name].flat[2] = -np.inf
    assert Scorer(Scores(**given)).predict(0, 4, np.zeros(4, np.uint8)) == -1


def test_nothing_wins_behind_the_classes():
    with pytest.raises(ValueError, match=r"base must be -inf behind 3 classes, got 0\.0"):
        Scores(**{**parts(3), "base": np.zeros(4)})


@pytest.mark.parametrize("width", [0, 1, 2, 3, 5, 6])
def test_width_of_three_classes(width):
    change = {"singles": np.zeros((5, width)), "base": np.zeros(width)}
    with pytest.raises(ValueError, match=f"3 classes do not go with sums of width {width}"):
        Scores(**{**parts(3), **change})


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_a_scorer_refuses(n_classes):
    scorer = Scorer(Scores(**parts(n_classes)))
    labels, order = np.zeros(4, np.uint8), np.zeros((4, n_classes), np.uint16)
    for start, stop in ((-1, 2), (2, 1), (0, 5), (5, 5), (-(2**63), TOP)):
        with pytest.raises(ValueError, match=f"rows {start} to {stop} of 4"):
            scorer.predict(start, stop, np.zeros(9, np.uint8))
        with pytest.raises(ValueError, match=f"rows {start} to {stop} of 4"):
            scorer.order(start, stop, np.zeros((9, n_classes), np.uint16))
    with pytest.raises(ValueError, match="rows 0 to 4 of 4, labels of 3"):
        scorer.predict(0, 4, labels[:3])
    with pytest.raises(ValueError, match="tied has 3 rows, expected 4"):
        scorer.predict(0, 4, labels, labels[:3])
    for wrong in ((3, n_classes), (4, n_classes + 1), (4, 0)):
        with pytest.raises(ValueError, match=f"order of {wrong[0]} x {wrong[1]}"):
            scorer.order(0, 4, np.zeros(wrong, np.uint16))
    for wrong in (None, [0] * 4, np.zeros(4), np.zeros(4, np.int64), np.zeros((4, 1), np.uint8)):
        with pytest.raises((TypeError, ValueError)):
            scorer.predict(0, 4, wrong)
    for wrong in (None, order.astype(np.int64), order[:, ::-1], order.T.copy().T[::2]):
        with pytest.raises((TypeError, ValueError)):
            scorer.order(0, 4, wrong)
    with pytest.raises(TypeError):
        Scorer(None)


@pytest.mark.parametrize(
    ("n_classes", "change", "message"),
    [
        (
            2,
            {"unit": 1.0},
            r"unit must be a number of at least 0, and 0 for two classes or no attributes, got 1\.0",
        ),
        (3, {"unit": -1.0}, "unit must be a number of at least 0"),
        (3, {"unit": float("nan")}, "unit must be a number of at least 0, .* got nan"),
        (3, {"unit": float("inf")}, "unit must be a number of at least 0, .* got inf"),
        (3, {"unit": 1.0, "cap": 0}, r"cap must be 1\.\.65535, got 0"),
        (3, {"unit": 1.0, "cap": 65_536}, r"cap must be 1\.\.65535, got 65536"),
    ],
)
def test_what_scales_of_costs_are_refused(n_classes, change, message):
    with pytest.raises(ValueError, match=message):
        Scores(**{**parts(n_classes), **change})


def test_costs_of_no_attributes_are_refused():
    none = {
        "columns": Columns([], [], 4),
        "first": longs(0),
        "members": longs(),
        "singles": np.zeros((0, 4)),
        "limbs": np.ones((0, 3, 1), np.uint64),
    }
    with pytest.raises(ValueError, match=r"0 for two classes or no attributes, got 2\.0"):
        Scores(**{**parts(3), **none, "unit": 2.0})
    assert Scorer(Scores(**{**parts(3), **none})).predict(0, 4, np.zeros(4, np.uint8)) == -1


def test_what_a_scorer_by_costs_refuses():
    scorer = Scorer(Scores(**parts(3), unit=5.0))
    with pytest.raises(ValueError, match="order must be asked of scores without costs: these have a unit"):
        scorer.order(0, 4, np.zeros((4, 3), np.uint16))
    for shape in ((3, 3), (4, 2), (4, 4)):
        with pytest.raises(ValueError, match=f"rows 0 to 4 of 4, sums of {shape[0]} x {shape[1]}"):
            scorer.costs(0, 4, np.zeros(shape, np.uint32))
    for start, stop in ((-1, 2), (2, 1), (0, 5), (-(2**63), TOP)):
        with pytest.raises(ValueError, match=f"rows {start} to {stop} of 4"):
            scorer.costs(start, stop, np.zeros((9, 3), np.uint32))
    with pytest.raises(ValueError, match="costs must be asked of scores with a unit"):
        Scorer(Scores(**parts(3))).costs(0, 4, np.zeros((4, 3), np.uint32))
    assert scorer.costs(1, 4, np.zeros((3, 3), np.uint32)) == -1


def test_labels_of_many_classes_need_two_bytes():
    scorer = Scorer(Scores(**parts(257)))
    with pytest.raises(ValueError, match="257 classes do not fit bytes"):
        scorer.predict(0, 4, np.zeros(4, np.uint8))
    labels = np.zeros(4, np.uint16)
    assert scorer.predict(0, 4, labels) == -1
    assert labels.tolist() == [256] * 4


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("plan", [((0, 2), (0, 1)), ((0,), ()), ((0, 1), (1,))])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.uint64])
def test_codes_out_of_range_are_named(n_classes, plan, dtype):
    for a, size in ((0, 2), (1, 3)):
        for wrong in {size, np.iinfo(dtype).min, np.iinfo(dtype).max} - {0}:
            codes = [np.zeros(2_000, dtype), np.zeros(2_000, dtype)]
            codes[a][1_500] = wrong
            given = {**parts(n_classes), "columns": Columns(codes, [2, 3], 2_000)}
            given |= {"first": longs(*plan[0]), "members": longs(*plan[1])}
            scorer = Scorer(Scores(**given))
            assert scorer.predict(0, 2_000, np.zeros(2_000, np.uint16), np.zeros(2_000, np.uint8)) == a
            assert scorer.order(0, 2_000, np.zeros((2_000, n_classes), np.uint16)) == a
            assert scorer.predict(0, 1_024, np.zeros(2_000, np.uint16)) == -1


@given(st.integers(0, 2**64))
def test_any_numbers_give_some_classes(seed):
    """Tables that make no sense: labels are classes all the same."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    n_classes = rng.choice([2, 3, 4, 5, 8, 9, 16, 17, 33])
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(0, 5))]
    rows = rng.choice([0, 1, 50, 1_025])
    width = 1 if n_classes == 2 else next((w for w in (4, 8, 16) if w >= n_classes), -(-n_classes // 8) * 8)
    odd = [0.0, -0.0, 1.0, -1e300, 1e300, -np.inf, 5e-324]
    if n_classes == 2:  # differences
        odd += [np.inf, np.nan]
    n_limbs, down_limbs = rng.randint(1, 3), rng.randint(1, 3)

    def limbs(*shape):
        return numbers.choice(np.array([0, 1, 2, 2**63, 2**64 - 1], np.uint64), shape)

    base = numbers.choice(odd, width)
    base[n_classes:] = -np.inf
    grouped = bool(sizes) and rng.random() < 0.5
    codes = [numbers.integers(0, size, rows, np.uint8) for size in sizes]
    scores = Scores(
        Columns(codes, sizes, rows),
        longs(0, len(sizes)) if grouped else longs(0),
        np.arange(len(sizes) if grouped else 0),
        numbers.choice(odd, (sum(sizes), width)),
        base,
        rng.choice([0.0, 1e-9, 1.0, 1e300, float("inf")]),
        limbs(sum(sizes), n_classes, n_limbs),
        limbs(n_classes, n_limbs),
        limbs(n_classes, down_limbs),
    )
    scorer = Scorer(scores)
    labels, tied = np.zeros(rows, np.uint16), np.zeros(rows, np.uint8)
    order = np.zeros((rows, n_classes), np.uint16)
    assert scorer.predict(0, rows, labels, tied) == -1
    assert scorer.order(0, rows, order) == -1
    assert (labels < n_classes).all()
    assert (tied <= 1).all()
    assert (np.sort(order, axis=1) == np.arange(n_classes)).all()
