"""`Viewset.from_codes` against the reference: codes of every layout, and numbers up to 63 bits."""

from contextlib import nullcontext

import numpy as np
import pytest
from count_cases import counted
from few_rows import counted_by_plans
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast import Viewset
from nbcfast.reference import views as reference

DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(scope="module", autouse=True, params=[nullcontext, counted_by_plans])
def way(request):
    """All of this holds of few rows and of many."""
    with request.param():
        yield


# --- codes -----------------------------------------------------------------------------------------------


def laid_out(matrix, layout):
    """The same codes elsewhere in memory."""
    rows, d = matrix.shape
    if layout == "rows":
        return np.ascontiguousarray(matrix)
    if layout == "columns":
        return np.asfortranarray(matrix)
    if layout == "list":
        return [column.copy() for column in matrix.T]
    if layout == "every other column":
        wide = np.full((rows, 2 * d), 99, matrix.dtype)
        wide[:, ::2] = matrix
        return wide[:, ::2]
    if layout == "every third row":
        tall = np.full((3 * rows, d), 99, matrix.dtype)
        tall[::3] = matrix
        return tall[::3]
    if layout == "backwards":
        return np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]
    if layout == "unaligned":
        packed = np.zeros(rows * d * matrix.itemsize + 1, np.uint8)[1:].view(np.uint8)
        packed[:] = np.ascontiguousarray(matrix).view(np.uint8).ravel()
        return np.frombuffer(packed, matrix.dtype).reshape(rows, d)
    if layout == "big endian":
        return matrix.astype(matrix.dtype.newbyteorder(">"))
    frozen = np.ascontiguousarray(matrix)
    frozen.flags.writeable = False
    return frozen


LAYOUTS = [
    "rows", "columns", "list", "every other column", "every third row", "backwards", "unaligned",
    "big endian", "frozen",
]  # fmt: skip


@given(
    rows=st.sampled_from([0, 1, 2, 3, 15, 16, 17, 63, 65, 255, 256, 257, 273, 511, 512, 513, 529]),
    d=st.integers(1, 40),
    most=st.sampled_from([1, 2, 3, 9, 127]),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    n_classes=st.sampled_from([1, 2, 3, 7]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=settings().max_examples * 3)
def test_codes_equal_reference(rows, d, most, dtype, layout, n_classes, weighted, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, d)
    matrix = rng.integers(0, sizes, (rows, d)).astype(dtype)
    y = rng.integers(0, n_classes, rows).astype(rng.choice(DTYPES))
    weights = rng.integers(1, 2**40, rows) if weighted else None
    expected = reference.count_codes(
        matrix.T.tolist(), y.tolist(), sizes=sizes.tolist(), n_classes=n_classes, weights=weights
    )
    for threads in (1, 2):
        views = Viewset.from_codes(
            laid_out(matrix, layout),
            y,
            sizes=list(sizes),
            n_classes=n_classes,
            weights=weights,
            threads=threads,
        )
        assert views.class_counts.tolist() == expected[0]
        assert [array.tolist() for array in views.counts.values()] == expected[1]
        assert views.is_realistic()


@pytest.mark.parametrize("layout", ["rows", "columns", "every other column"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [4095, 4096, 4097, 8192, 8193, 20_000])
def test_blocks(layout, dtype, rows):
    rng = np.random.default_rng(rows)
    matrix = rng.integers(0, [2, 100, 5, 1, 120, 17, 3], (rows, 7)).astype(dtype)
    y = rng.integers(0, 3, rows)
    views = Viewset.from_codes(laid_out(matrix, layout), y, threads=3)
    for column, array in zip(matrix.T, views.counts.values(), strict=True):
        assert np.array_equal(
            array.ravel(), np.bincount(column.astype(np.int64) * 3 + y, minlength=array.size)
        )


@pytest.mark.parametrize("d", range(1, 41))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_row_major_windows_and_last_blocks(d, dtype):
    rng = np.random.default_rng(d)
    for rows in (1, 2, 239, 240, 241, 255, 256, 257, 271, 272, 273, 512, 513, 528, 529):
        sizes = rng.integers(1, 257, d)
        matrix = rng.integers(0, sizes, (rows, d)).astype(dtype)
        y = rng.integers(0, 2, rows)
        views = Viewset.from_codes(matrix, y, sizes=sizes, n_classes=2)
        for column, array in zip(matrix.T, views.counts.values(), strict=True):
            assert np.array_equal(array.ravel(), np.bincount(column * np.int64(2) + y, minlength=array.size))


def test_every_code_of_a_byte():
    """Tables of 256 x 256 entries: every index of 16 bits."""
    a, b = np.divmod(np.arange(65_536), 256)
    matrix = np.column_stack([a, b] * 20).astype(np.uint8)
    views = Viewset.from_codes(matrix, np.zeros(65_536, np.int8))
    assert all((array == 256).all() for array in views.counts.values())
    views = Viewset.from_codes(matrix, np.arange(65_536) % 7)
    assert all((array.sum(axis=1) == 256).all() for array in views.counts.values())


def test_no_copy_and_no_change():
    matrix = np.random.default_rng(0).integers(0, 5, (1_000, 6)).astype(np.int32)
    y = matrix[:, 0].copy()
    before = matrix.copy()
    Viewset.from_codes(matrix, y)
    assert np.array_equal(matrix, before)
    matrix.flags.writeable = y.flags.writeable = False
    assert Viewset.from_codes(matrix[:, ::-1], y).counts["A6"].tolist() == np.diag(np.bincount(y)).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast_columns(dtype):
    codes = np.broadcast_to(dtype(2), 10_000)
    views = Viewset.from_codes(
        [codes, codes[::-1]], np.broadcast_to(dtype(1), 10_000), sizes=[4, 3], n_classes=2
    )
    assert views.counts["A1"].tolist() == [[0, 0], [0, 0], [0, 10_000], [0, 0]]
    assert views.counts["A2"].tolist() == [[0, 0], [0, 0], [0, 10_000]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "list"])
@pytest.mark.parametrize("where", [0, 300, 5_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_codes_out_of_range(dtype, layout, where, weighted):
    info = np.iinfo(dtype)
    weights = np.ones(5_001, np.int64) if weighted else None
    for wrong in {5, info.max, info.min, -1}:
        if wrong == 0 or not info.min <= wrong <= info.max:
            continue
        matrix = np.zeros((5_001, 3), dtype)
        matrix[where, 1] = matrix[5_000, 1] = wrong
        y = np.zeros(5_001, np.uint8)
        options = {"n_classes": 2, "weights": weights, "threads": 2}
        message = rf"codes of attribute 1 must be 0\.\.4, got {wrong} in row {where}"
        with pytest.raises(ValueError, match=message):
            Viewset.from_codes(laid_out(matrix, layout), y, sizes=[5, 5, 5], **options)
        matrix[:] = 0
        bad = np.zeros(5_001, dtype)
        bad[where] = wrong
        with pytest.raises(ValueError, match=rf"class_codes must be 0\.\.1, got {wrong} in row {where}"):
            Viewset.from_codes(laid_out(matrix, layout), bad, sizes=[5, 5, 5], **options)


def test_class_codes_out_of_range_without_attributes():
    with pytest.raises(ValueError, match=r"class_codes must be 0\.\.1, got 5 in row 1"):
        Viewset.from_codes(np.zeros((3, 0), int), [0, 5, 0], n_classes=2)


def test_sizes_from_the_codes():
    views = Viewset.from_codes([[0, 2], [1, 2]], [0, 3])
    assert [len(array) for array in views.counts.values()] == [2, 3]
    assert views.classes == (0, 1, 2, 3)
    assert views.attributes == ("A1", "A2")
    assert views.domain("A2") == (0, 1, 2)


def test_codes_without_rows_or_columns():
    views = Viewset.from_codes(
        np.zeros((0, 3), np.uint8), np.zeros(0, np.uint8), sizes=[1, 2, 3], n_classes=2
    )
    assert views.n_rows == 0
    assert [array.shape for array in views.counts.values()] == [(1, 2), (2, 2), (3, 2)]
    views = Viewset.from_codes(np.zeros((0, 2), np.uint8), [], n_classes=1)
    assert [array.shape for array in views.counts.values()] == [(0, 1), (0, 1)]
    views = Viewset.from_codes(np.zeros((3, 0), np.uint8), [0, 1, 1])
    assert views.attributes == ()
    assert views.class_counts.tolist() == [1, 2]
    assert Viewset.from_codes([], [0, 1, 1]) == views
    weighted = Viewset.from_codes(np.zeros((3, 0), np.uint8), [0, 1, 1], weights=[5, 6, 7])
    assert weighted.class_counts.tolist() == [5, 13]


@pytest.mark.parametrize(
    ("codes", "class_codes", "options", "error", "message"),
    [
        ([[0.5]], [0], {}, TypeError, "codes must be integers, got float64"),
        ([[True]], [0], {}, TypeError, "codes must be integers, got bool"),
        ([["a"]], [0], {}, TypeError, "codes must be integers, got <U1"),
        ([[0]], [0.0], {}, TypeError, "class_codes must be integers, got float64"),
        ([[0]], [[0]], {}, ValueError, "class_codes must be 1-D, got 2 dimensions"),
        ([0], [0], {}, ValueError, r"codes must be 2-D \(rows, attributes\), got 1 dimensions"),
        ([[0]], [0, 0], {}, ValueError, r"codes of attribute 0 must be 2 rows, got shape \(1,\)"),
        ([np.zeros(2, int)], [0], {}, ValueError, r"codes of attribute 0 must be 1 rows, got shape \(2,\)"),
        ([np.zeros((1, 1), int)], [0], {}, ValueError, r"must be 1 rows, got shape \(1, 1\)"),
        ([np.zeros(1)], [0], {}, TypeError, "codes of attribute 0 must be integers, got float64"),
        ([[0]], [0], {"sizes": [1, 1]}, ValueError, "sizes must be 1 integers, got 2"),
        ([[0]], [0], {"sizes": [1.0]}, TypeError, r"sizes must be integers, got 1\.0"),
        ([[0]], [0], {"sizes": [True]}, TypeError, "sizes must be integers, got True"),
        ([[0]], [0], {"sizes": [0]}, ValueError, r"sizes must be 1\.\.65536, got 0"),
        ([[0]], [0], {"sizes": [65_537]}, ValueError, r"sizes must be 1\.\.65536, got 65537"),
        ([[0]], [0], {"n_classes": 0}, ValueError, r"n_classes must be 1\.\.65536, got 0"),
        ([[0]], [0], {"n_classes": "2"}, TypeError, "n_classes must be integers, got '2'"),
        ([[65_536]], [0], {}, ValueError, "attribute 0 has a code of 65536, expected at most 65535"),
        ([[0]], [65_536], {}, ValueError, "class_codes has a code of 65536, expected at most 65535"),
        ([[2**63]], [0], {}, ValueError, "attribute 0 has a code of 9223372036854775808"),
        ([[-1]], [0], {}, ValueError, r"codes of attribute 0 must be 0\.\.0, got -1 in row 0"),
        ([], [], {}, ValueError, "no rows: n_classes must be given"),
        (
            [[0]],
            [0],
            {"weights": [0]},
            ValueError,
            "weights: expected integers of at least 1, got 0 in row 0",
        ),
        ([[0]], [0], {"weights": [1, 1]}, ValueError, "weights: expected one for each of 1 rows, got 2"),
        ([[0]], [0], {"weights": [1.5]}, TypeError, "weights"),
        ([[0]], [0], {"threads": -1}, ValueError, "threads must be at least 1, got -1"),
    ],
)
def test_what_from_codes_refuses(codes, class_codes, options, error, message):
    with pytest.raises(error, match=message):
        Viewset.from_codes(codes, class_codes, **options)


# --- large numbers ---------------------------------------------------------------------------------------


def test_weights_up_to_63_bits():
    top = 2**63 - 1
    columns = {"x": ["a", "a", "b"], "y": [0, 0, 1]}
    views = counted(columns, [top - 3, 1, 2])
    assert views.class_counts.tolist() == [top - 2, 2]
    assert views.n_rows == top
    assert views.counts["x"].tolist() == [[top - 2, 0], [0, 2]]
    with pytest.raises(ValueError, match=r"weights: expected a total below 2\^63, got a larger one"):
        counted(columns, [top - 3, 1, 3])
    codes = Viewset.from_codes([[0], [0]], [0, 0], weights=[2**62, 2**62 - 1])
    assert codes.counts["A1"].tolist() == [[top]]


@pytest.mark.thorough
def test_a_column_of_more_than_2_31_rows():
    rows = 2**31 + 5
    codes = np.broadcast_to(np.uint8(1), rows)
    views = Viewset.from_codes([codes], np.broadcast_to(np.uint8(0), rows), sizes=[2], n_classes=1)
    assert views.counts["A1"].tolist() == [[0], [rows]]


def test_masks_are_refused():
    masked = np.ma.array([0, 1], mask=[0, 1])
    with pytest.raises(ValueError, match="class_codes must have no masked entries"):
        Viewset.from_codes([[0], [1]], masked)
    with pytest.raises(ValueError, match="codes must have no masked entries"):
        Viewset.from_codes(masked.reshape(2, 1), [0, 1])
    with pytest.raises(ValueError, match="class_counts must have no masked entries"):
        Viewset(masked, [])
