"""`count` against the reference, and what must never change a count."""

import itertools
import math

import numpy as np
import pytest
from count_cases import counted
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Table
from nbcfast.reference import views as reference

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


KINDS = {
    "text": st.sampled_from(["b", "a", "", "é", "\U0001f600"]),
    "int": st.integers(-2, 2),
    "bool": st.booleans(),
    "float": st.sampled_from([0.0, -0.0, 1.5, -3.0, math.nan]),
}


SPECIAL = st.sampled_from([None, SUPPRESSED])


SHUFFLE = st.randoms(use_true_random=False)


def shown(views):
    """A form in which 1, 1.0 and True differ."""
    return repr(views.to_dict())


@st.composite
def tables(draw, least_rows=1, special=True, least_attributes=0):
    """Columns of equal length, the last of them the class `y`, and weights or None."""
    n_rows = draw(st.integers(least_rows, 12))
    names = [f"x{i}" for i in range(draw(st.integers(least_attributes, 4)))]
    columns = {}
    for name in [*names, "y"]:
        values = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        if special:
            values = st.one_of(values, values, values, SPECIAL)
        columns[name] = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
    rows = st.lists(st.integers(1, 2**40), min_size=n_rows, max_size=n_rows)
    return columns, draw(st.one_of(st.none(), rows))


def permuted(columns, weights, order):
    """The same rows in another order, those of weight in step."""
    moved = {name: [values[row] for row in order] for name, values in columns.items()}
    return moved, None if weights is None else [weights[row] for row in order]


# --- tables ----------------------------------------------------------------------------------------------


@given(tables())
def test_count_equals_reference(data):
    columns, weights = data
    expected = shown(reference.count(columns, "y", weights=weights))
    assert shown(counted(columns, weights)) == expected
    assert (
        shown(nbcfast.count({**columns, "w": weights or [1] * len(columns["y"])}, "y", weights="w"))
        == expected
    )


@given(tables(least_attributes=1), SHUFFLE)
def test_attributes_and_classes_as_asked(data, random):
    columns, weights = data
    attributes = [name for name in columns if name != "y" and random.random() < 0.7]
    random.shuffle(attributes)
    ours = Table(columns).domain("y")
    classes = list(ours)
    random.shuffle(classes)
    # None and SUPPRESSED come last in every domain.
    classes.sort(key=lambda label: (label is SUPPRESSED, label is None))
    expected = reference.count(columns, "y", attributes, classes, weights=weights)
    views = counted(columns, weights, attributes=iter(attributes), classes=iter(classes))
    assert shown(views) == shown(expected)
    assert views.attributes == tuple(attributes)


@given(tables(special=False), SHUFFLE)
def test_declared_domains(data, random):
    columns, weights = data
    domains = {}
    for name, values in columns.items():
        declared = reference.table.column(values)[1]
        more = {"a": "zz", "b": True, "i": 77, "f": 7.5}
        kind = type(declared[0]).__name__[0] if declared else "i"
        if kind == "b":
            declared = [True, False]
        elif declared != [None]:
            declared.append(more.get("a" if kind == "s" else kind, 7))
        random.shuffle(declared)
        declared.sort(key=lambda value: value is None)
        domains[name] = declared
    expected = reference.count(columns, "y", weights=weights, domains=domains)
    assert shown(nbcfast.count(Table(columns, domains=domains, weights=weights), "y")) == shown(expected)


def test_empty_table_of_declared_domains():
    table = Table({"x": [], "y": []}, domains={"x": ["a", "b"], "y": [0, 1, 2]})
    views = nbcfast.count(table, "y")
    assert views.to_dict() == {
        "classes": [0, 1, 2],
        "class_counts": [0, 0, 0],
        "attributes": {"x": {"values": ["a", "b"], "counts": [[0, 0, 0], [0, 0, 0]]}},
    }
    assert views.n_rows == 0
    assert views.is_realistic()
    assert nbcfast.count(table, "y", []).class_counts.tolist() == [0, 0, 0]


@pytest.mark.parametrize("declared", [{}, {"x": ["a", "b"]}])
def test_no_classes(declared):
    with pytest.raises(ValueError, match="column 'y' has no rows and no declared domain: no classes"):
        nbcfast.count(Table({"x": [], "y": []}, domains=declared), "y")


def test_empty_table_with_classes_named():
    views = nbcfast.count(Table({"x": [], "y": []}, domains={"x": ["a"]}), "y", classes=["no", "yes"])
    assert views.classes == ("no", "yes")
    assert views.counts["x"].tolist() == [[0, 0]]


def test_one_row_one_class():
    views = nbcfast.count({"x": ["a"], "y": ["only"]}, "y")
    assert views.to_dict() == {
        "classes": ["only"],
        "class_counts": [1],
        "attributes": {"x": {"values": ["a"], "counts": [[1]]}},
    }


@pytest.mark.parametrize("n_values", [255, 256, 257, 300, 65_535, 65_536])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_values(n_values, weighted):
    rng = np.random.default_rng(n_values)
    codes = np.concatenate([np.arange(n_values), rng.integers(0, n_values, 5_000)])
    y = rng.integers(0, 3, len(codes))
    weights = rng.integers(1, 9, len(codes)) if weighted else None
    views = nbcfast.count(Table({"x": codes, "y": y}, weights=weights), "y")
    expected = np.zeros((n_values, 3), np.int64)
    np.add.at(expected, (codes, y), 1 if weights is None else weights)
    assert np.array_equal(views.counts["x"], expected)
    assert np.array_equal(views.class_counts, expected.sum(axis=0))
    assert views.counts["x"].dtype == np.int64


def test_too_many_values_suggest_bins():
    table = Table({"x": np.arange(70_000), "y": np.arange(70_000) % 2})
    message = (
        r"column 'x' has 70000 values, expected at most 65536: leave it out, or make intervals with "
        r"table\.bin\('x', edges \| quantiles=\.\.\. \| width=\.\.\.\)"
    )
    with pytest.raises(ValueError, match=message):
        nbcfast.count(table, "y")
    with pytest.raises(ValueError, match="column 'x' has 70000 values, expected at most 65536"):
        nbcfast.count(table, "x", ["y"])
    assert nbcfast.count(table.bin("x", width=1_000), "y").counts["x"].shape == (70, 2)
    assert nbcfast.count(table, "y", []).class_counts.tolist() == [35_000, 35_000]
    stream = pa.table({"x": np.arange(70_000), "y": np.arange(70_000) % 2})
    with pytest.raises(ValueError, match="column 'x' has 70000 values, expected at most 65536"):
        nbcfast.count(stream, "y")


def test_max_values():
    columns = {"x": [1, 2, 3], "y": [0, 0, 0]}
    assert nbcfast.count(columns, "y", max_values=3).n_rows == 3
    with pytest.raises(ValueError, match="column 'x' has 3 values, expected at most 2"):
        nbcfast.count(columns, "y", max_values=2)
    with pytest.raises(ValueError, match="column 'x' has 3 values, expected at most 2"):
        nbcfast.count(pa.table(columns), "y", max_values=2)
    with pytest.raises(ValueError, match=r"max_values must be 1\.\.65536, got 0"):
        nbcfast.count(columns, "y", max_values=0)
    with pytest.raises(ValueError, match=r"max_values must be 1\.\.65536, got 65537"):
        nbcfast.count(columns, "y", max_values=65_537)
    for wrong in (True, 3.0, "3"):
        with pytest.raises(TypeError, match=f"max_values must be an int, got {wrong!r}"):
            nbcfast.count(columns, "y", max_values=wrong)


@pytest.mark.parametrize("make", [dict, Table, pa.table], ids=["mapping", "table", "stream"])
@pytest.mark.parametrize(
    ("args", "options", "error", "message"),
    [
        (("z",), {}, ValueError, "expected a column of 'x', 'y'; got 'z'"),
        (("y", ["z"]), {}, ValueError, "'z'"),
        (("y", ["x", "x"]), {}, ValueError, "attributes must be distinct, got 'x' twice"),
        (("y", ["y"]), {}, ValueError, "the class 'y' cannot be an attribute as well"),
        (("y", "x"), {}, TypeError, "attributes must be a sequence of names, got the text 'x'"),
        (("y", None, [0]), {}, ValueError, "classes must name every label of 'y', 1 is missing"),
        (("y", None, [0, 1, 1]), {}, ValueError, "classes: expected distinct values, got 1 twice"),
        (("y", None, "01"), {}, TypeError, "classes: expected a sequence of values, got str"),
        (("y", None, [None, 0, 1]), {}, ValueError, "classes: None and then SUPPRESSED come last"),
        (("y",), {"threads": 0}, ValueError, "threads must be at least 1, got 0"),
        (("y",), {"threads": True}, TypeError, "threads must be an int or None, got bool"),
        (("y",), {"threads": 1.0}, TypeError, "threads must be an int or None, got float"),
    ],
)
def test_what_count_refuses(make, args, options, error, message):
    with pytest.raises(error, match=message):
        nbcfast.count(make({"x": [1, 2], "y": [0, 1]}), *args, **options)


def test_classes_must_be_some():
    with pytest.raises(ValueError, match="no classes"):
        nbcfast.count(Table({"x": [], "y": []}), "y", classes=[])


def test_a_table_has_its_own_weights():
    with pytest.raises(ValueError, match="weights: a Table has its own weights"):
        nbcfast.count(Table({"x": [1], "y": [1], "w": [1]}), "y", weights="w")


def test_labels_that_no_row_has_may_be_missing_or_added():
    table = Table({"x": [0, 1], "y": ["b", "b"]}, domains={"y": ["a", "b"]})
    views = nbcfast.count(table, "y", classes=["b", "c"])
    assert views.classes == ("b", "c")
    assert views.counts["x"].tolist() == [[1, 0], [1, 0]]


# --- what must not change a count ------------------------------------------------------------------------


@given(tables(), SHUFFLE, st.integers(1, 5))
def test_order_of_rows_columns_and_threads(data, random, threads):
    columns, weights = data
    expected = counted(columns, weights)
    order = list(range(len(columns["y"])))
    random.shuffle(order)
    moved, moved_weights = permuted(columns, weights, order)
    names = list(columns)
    random.shuffle(names)
    shuffled = {name: moved[name] for name in names}
    views = counted(shuffled, moved_weights, attributes=expected.attributes, threads=threads)
    assert views == expected
    assert shown(views) == shown(expected)


@given(tables(special=False), SHUFFLE)
def test_chunks_dictionaries_and_streams(data, random):
    columns, weights = data
    columns = {name: [None if v is None or v != v else v for v in values] for name, values in columns.items()}
    n_rows = len(columns["y"])
    expected = reference.count(columns, "y", weights=weights)
    cuts = sorted(random.randint(0, n_rows) for _ in range(random.randint(0, 4)))
    bounds = list(itertools.pairwise([0, *cuts, n_rows]))
    whole = pa.table({**columns, "w": pa.array(weights or [1] * n_rows, pa.int64())})
    schema = whole.schema
    coded = {name for name in columns if pa.types.is_string(schema.field(name).type) or random.random() < 0.5}
    coded = {name for name in coded if not pa.types.is_null(schema.field(name).type)}
    fields = [
        pa.field(f.name, pa.dictionary(pa.int16(), f.type) if f.name in coded else f.type) for f in schema
    ]
    unused = {pa.string(): ["unused"], pa.int64(): [99], pa.float64(): [99.5], pa.bool_(): [True, False]}
    batches = []
    for start, stop in bounds:
        arrays = []
        for field in schema:
            array = whole[field.name].combine_chunks()[start:stop]
            array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
            if field.name in coded:
                values = [*dict.fromkeys(v for v in array.to_pylist() if v is not None)]
                values += [v for v in unused[field.type] if v not in values]
                random.shuffle(values)
                indices = [None if v is None else values.index(v) for v in array.to_pylist()]
                array = pa.DictionaryArray.from_arrays(
                    pa.array(indices, pa.int16()), pa.array(values, field.type)
                )
            arrays.append(array)
        batches.append(pa.record_batch(arrays, schema=pa.schema(fields)))
    stream = pa.RecordBatchReader.from_batches(pa.schema(fields), batches)
    assert shown(nbcfast.count(stream, "y", weights="w")) == shown(expected)
    # A table, from the same chunks, and an iterable of batches.
    table = Table(pa.Table.from_batches(batches), weights="w")
    assert shown(nbcfast.count(table, "y")) == shown(expected)
    assert shown(nbcfast.count(iter(batches), "y", weights="w", threads=2)) == shown(expected)


@given(tables(special=False), SHUFFLE)
def test_pandas_index_and_categories(data, random):
    columns, weights = data
    expected = counted(columns, weights)
    index = list(range(100, 100 + len(columns["y"])))
    random.shuffle(index)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame.index = index
    for name in columns:
        if random.random() < 0.5:
            frame[name] = frame[name].astype("category")
    views = nbcfast.count(Table(frame, weights=weights), "y")
    assert views.attributes == expected.attributes
    assert views == expected
    if weights is None:
        assert nbcfast.count(frame, "y") == expected


@given(tables(), SHUFFLE, st.integers(1, 4))
def test_merging_in_any_order_is_counting_at_once(data, random, n_parts):
    columns, weights = data
    labels = [random.randrange(n_parts) for _ in columns["y"]]
    parts = []
    for part in range(n_parts):
        rows = [row for row, label in enumerate(labels) if label == part]
        if rows:
            parts.append(counted(*permuted(columns, weights, rows)))
    random.shuffle(parts)
    while len(parts) > 1:  # any tree
        a, b = parts.pop(), parts.pop()
        parts.insert(random.randint(0, len(parts)), a + b)
    assert shown(parts[0]) == shown(counted(columns, weights))


@given(tables(), tables())
def test_what_was_added_can_be_taken_away(first, second):
    (a_columns, a_weights), (b_columns, b_weights) = first, second
    names = [name for name in a_columns if name in b_columns]
    a = counted({name: a_columns[name] for name in names}, a_weights)
    b = counted({name: b_columns[name] for name in names}, b_weights)
    try:
        both = a + b
    except TypeError:  # columns of different kinds
        return
    assert both - b == a
    assert both - a == b
    assert both.n_rows == a.n_rows + b.n_rows
    assert both.to_dict() == reference.add(as_reference(a), as_reference(b)).to_dict()
    assert (both - b).to_dict() == reference.subtract(as_reference(both), as_reference(b)).to_dict()


def as_reference(views):
    counts = {name: array.tolist() for name, array in views.counts.items()}
    domains = {name: list(views.domain(name)) for name in views.attributes}
    return reference.Viewset(views.classes, views.class_counts.tolist(), domains, counts)


@pytest.mark.parametrize("weights", ["c", "a"])
def test_weights_that_are_something_else_too(weights):
    table = pytest.importorskip("pyarrow").table({"a": [1, 2], "c": [1, 2]})
    with pytest.raises(ValueError, match=f"weights: '{weights}' is the class or an attribute as well"):
        nbcfast.count(table, "c", ["a"], weights=weights)


def test_order_of_merging_does_not_choose_the_kind():
    a, b = (nbcfast.count({"x": x, "c": ["u", "v"]}, "c") for x in ([1, 2], [1.0, 2.0]))
    assert {(a + b).domains["x"].kind, (b + a).domains["x"].kind} == {"float"}
