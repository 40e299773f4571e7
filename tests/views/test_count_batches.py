"""`count` of what is read batch by batch: streams, and files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast._reading.distinct import GrowingDomains
from nbcfast.views.batch_counts import BatchCounts

pa = pytest.importorskip("pyarrow")


def test_stream_without_batches():
    schema = pa.schema([("x", pa.string()), ("y", pa.string())])
    with pytest.raises(ValueError, match="column 'y' has no rows and no declared domain: no classes"):
        nbcfast.count(pa.RecordBatchReader.from_batches(schema, []), "y")


def test_stream_with_empty_batches():
    batch = pa.record_batch({"x": pa.array(["a", "b"]).dictionary_encode(), "y": pa.array(["n", "p"])})
    views = nbcfast.count(iter([batch[:0], batch, batch[:0]]), "y")
    assert views == nbcfast.count({"x": ["a", "b"], "y": ["n", "p"]}, "y")
    with pytest.raises(ValueError, match="column 'y' has no rows and no declared domain: no classes"):
        nbcfast.count(iter([batch[:0]]), "y")


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, 0], ValueError, r"weights must be 1\.\.2\^63-1, got 0"),
        ([1, -3], ValueError, r"weights must be 1\.\.2\^63-1, got -3"),
        ([1, None], TypeError, "weights must be integers, got None"),
        ([1.0, 2.0], TypeError, r"weights must be integers, got 1\.0"),
        ([True, True], TypeError, "weights must be integers, got True"),
        (["1", "2"], TypeError, "weights must be integers, got '1'"),
        ([2**63 - 1, 1], ValueError, r"weights must add up to less than 2\^63"),
        (pa.array([2**63, 1], pa.uint64()), ValueError, r"9223372036854775808|2\^63"),
    ],
)
def test_weights_of_a_stream(weights, error, message):
    columns = {"x": ["a", "b"], "y": [0, 1], "w": weights}
    with pytest.raises(error, match=message):
        nbcfast.count(pa.table(columns), "y", weights="w")


def test_weight_of_a_stream_that_no_row_has():
    weights = pa.DictionaryArray.from_arrays(pa.array([1, 1], pa.int8()), pa.array([0, 3]))
    views = nbcfast.count(pa.table({"x": ["a", "b"], "y": [0, 1], "w": weights}), "y", weights="w")
    assert views.class_counts.tolist() == [3, 3]


def test_class_labels_of_a_stream_that_no_row_has():
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 69_999], pa.int32()), pa.array(range(70_000)))
    views = nbcfast.count(pa.table({"x": ["a", "b"], "y": labels}), "y")
    assert views.classes == (0, 69_999)
    assert nbcfast.count(pa.table({"y": ["a", "b"], "x": labels}), "y").domain("x") == (0, 69_999)


def test_weights_of_a_stream_over_batches():
    columns = {"x": ["a", "b"], "y": [0, 1], "w": [2**62, 2**62 - 1]}
    batches = pa.table(columns).to_batches(max_chunksize=1)
    views = nbcfast.count(iter(batches), "y", weights="w")
    assert views.n_rows == 2**63 - 1
    with pytest.raises(ValueError, match=r"weights must add up to less than 2\^63"):
        nbcfast.count(iter([*batches, batches[0]]), "y", weights="w")


def test_column_of_weights_must_be_there():
    with pytest.raises(ValueError, match="'w'"):
        nbcfast.count(pa.table({"x": [1], "y": [1]}), "y", weights="w")
    with pytest.raises(ValueError, match="'w'"):
        nbcfast.count(pa.table({"x": [1], "y": [1]}), "y", ["x"], weights="w")


def test_stream_progress():
    batches = pa.table({"x": [1, 2, 3], "y": [0, 1, 0]}).to_batches(max_chunksize=2)
    calls = []
    nbcfast.count(iter(batches), "y", progress=lambda *args: calls.append(args))
    assert calls == [(2, 0), (3, 0)]


def test_a_file_is_counted_as_its_table_is(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "people.csv"
    path.write_text("x,n,ill\n1,3,no\n1.0,2,yes\n2.5,1,no\n1,1,no\n")
    found = nbcfast.count(path, "ill", weights="n")
    assert found == nbcfast.count(nbcfast.read_csv(path, weights="n"), "ill")
    assert found.counts["x"].tolist() == [[4, 2], [1, 0]]  # 1 and 1.0 are one number
    with pytest.raises(FileNotFoundError):
        nbcfast.count("patients.csv", "diagnosis")


DICTIONARIES = [["a", "b", "c"], ["c", "a", "b"], ["b", "a"], ["d", "a", "e", "b", "a"]]
BATCH = st.tuples(
    st.integers(0, len(DICTIONARIES) - 1),
    st.integers(0, len(DICTIONARIES) - 1),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=6),
)


@given(st.lists(BATCH, min_size=1, max_size=8))
def test_batches_with_the_same_dictionaries_and_with_others(drawn):
    """What is held of a column is merged when its dictionary or that of the class changes; 5 is a null."""
    dictionaries = [pa.array(values) for values in DICTIONARIES]
    type_ = pa.dictionary(pa.int8(), pa.string())
    batches, rows = [], []
    for first, second, codes in drawn:
        columns = []
        for place, which in enumerate((first, second)):
            own = [pair[place] for pair in codes]
            indices = pa.array(
                [None if code == 5 else code % len(DICTIONARIES[which]) for code in own], pa.int8()
            )
            columns.append(pa.DictionaryArray.from_arrays(indices, dictionaries[which]))
        batches.append(
            pa.RecordBatch.from_arrays([*columns, columns[1]], schema=pa.schema([(n, type_) for n in "xyz"]))
        )
        rows += zip(*(column.to_pylist() for column in columns), strict=True)
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    if not rows:
        assert nbcfast.count(reader, "y", empty="none") is None
        return
    x, y = (list(column) for column in zip(*rows, strict=True))
    assert nbcfast.count(reader, "y") == nbcfast.count({"x": x, "y": y, "z": y}, "y")


def test_too_many_values_over_batches_that_each_have_few():
    batches = [
        pa.record_batch({"x": pa.array([f"{start + i}" for i in range(4)]), "y": pa.array(["n"] * 4)})
        for start in (0, 4)
    ]
    with pytest.raises(ValueError, match="column 'x' has 8 values, expected at most 7"):
        nbcfast.count(iter(batches), "y", max_values=7)
    assert len(nbcfast.count(iter(batches), "y", max_values=8).domain("x")) == 8


def counted(rows, values, labels):
    """How often each value comes with each label."""
    counts = np.zeros((len(values), len(labels)), np.int64)
    for value, label in rows:
        counts[values.index(value), labels.index(label)] += 1
    return counts


@pytest.mark.parametrize("ahead", [0, 1, 7])
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1), st.integers(1, 5))
def test_lists_that_grow_at_their_end(ahead, rows, size):
    """As those of a file's texts do, which may be ahead of what was counted."""
    values, labels = [], []
    found = BatchCounts(GrowingDomains("xy", False), "y", 10)
    for start in range(0, len(rows), size):
        for value, label in rows[: start + size * (1 + ahead)]:
            values += [value] * (value not in values)
            labels += [label] * (label not in labels)
        counts = counted(rows[start : start + size], values, labels)
        found.add("y", labels, labels, counts.sum(axis=0)[np.newaxis])
        found.add("x", values, labels, counts)
    values += [10, 11]
    labels.append(4)
    classes, class_counts, domains, merged = found.finished(["x"], {})
    x, y = (list(column) for column in zip(*rows, strict=True))
    expected = nbcfast.count({"x": x, "y": y}, "y")
    assert (classes.values, class_counts.tolist()) == (expected.classes, expected.class_counts.tolist())
    assert (domains["x"].values, merged["x"].tolist()) == (
        expected.domain("x"),
        expected.counts["x"].tolist(),
    )
