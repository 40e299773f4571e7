"""`total`, and parts without rows wherever counts of parts are put together."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset, associations, skyline
from nbcfast.views import total

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([None, 1, 2]), st.sampled_from("np")))
SCHEMA = pa.schema([("x", pa.string()), ("z", pa.int64()), ("y", pa.string())])
OPTIONS = {"by": ["x"], "sensitive": "y"}


def columns_of(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate("xzy")}


def batch_of(rows):
    return pa.record_batch(columns_of(rows), schema=SCHEMA)


@given(st.lists(ROWS, max_size=12))
def test_total_equals_all_rows_at_once(parts):
    rows = [row for part in parts for row in part]
    views = [nbcfast.count(columns_of(part), "y", empty="none") for part in parts]
    assert [one is None for one in views] == [not part for part in parts]
    expected = nbcfast.count(columns_of(rows), "y", empty="none")
    assert total(views, empty="none") == expected
    assert total(iter(views[::-1]), empty="none") == expected
    if rows:
        assert total(views) == expected


@given(st.lists(ROWS, max_size=6), st.booleans())
def test_streams_with_empty_batches_anywhere(parts, reader):
    def stream():
        batches = [batch_of(part) for part in parts]
        return pa.RecordBatchReader.from_batches(SCHEMA, batches) if reader else iter(batches)

    rows = [row for part in parts for row in part]
    columns = columns_of(rows)
    assert nbcfast.count(stream(), "y", empty="none") == nbcfast.count(columns, "y", empty="none")
    groups = skyline.group(stream(), **OPTIONS, empty="none")
    assert groups == skyline.group(columns, **OPTIONS, empty="none")
    statistics = skyline.Statistics([0]).update(groups)
    assert statistics == skyline.Statistics([0]).update(groups).update(None)
    if rows:
        assert statistics.k == groups.k
        views = [("x", "z"), ("z", "y")]
        found = associations.risk(stream(), views, "x", "y")
        expected = associations.risk(columns, views, "x", "y")
        assert found.n_associations == expected.n_associations
        assert list(found.above(0)) == list(expected.above(0))
    else:
        assert groups is None
        assert repr(statistics) == "Statistics(l of (0,); no groups yet)"


@given(st.lists(ROWS, min_size=1, max_size=6))
def test_merged_groups_of_parts_of_which_some_are_empty(parts):
    rows = [row for part in parts for row in part]
    groups = [skyline.group(columns_of(part), **OPTIONS, empty="none") for part in parts]
    if rows:
        assert skyline.Groups.merge(groups) == skyline.group(columns_of(rows), **OPTIONS)
    else:
        with pytest.raises(ValueError, match="parts: expected at least one Groups, got none"):
            skyline.Groups.merge(groups)


def test_parts_are_added_in_a_tree(monkeypatch):
    part, sizes = nbcfast.count(columns_of([("a", 1, "n")]), "y"), []
    add = Viewset.__add__
    monkeypatch.setattr(
        Viewset, "__add__", lambda a, b: sizes.append((int(a.n_rows), int(b.n_rows))) or add(a, b)
    )
    assert total([part] * 1000).n_rows == 1000
    assert len(sizes) == 999
    # Each row goes into as many sums as the tree is high, and not into a thousand.
    assert sum(map(sum, sizes)) <= 1000 * math.ceil(math.log2(1000))


def test_one_part_stays_what_it_is():
    part = nbcfast.count(columns_of([("a", 1, "n")]), "y")
    assert total([None, part, None]) is part


@pytest.mark.parametrize("parts", [[], [None], [None] * 3])
def test_nothing_to_add(parts):
    assert total(parts, empty="none") is None
    got = f"None in all {len(parts)}" if parts else "no part"
    with pytest.raises(ValueError, match=f"parts: expected at least one Viewset, got {got}"):
        total(parts)


def test_parts_that_are_no_viewsets():
    with pytest.raises(TypeError, match="parts: expected Viewsets or None, got int"):
        total([0])
    with pytest.raises(TypeError, match="parts: expected an iterable of Viewsets or None, got Viewset"):
        total(Viewset([1], []))
    with pytest.raises(TypeError, match="parts: expected an iterable of Viewsets or None, got str"):
        total("ab")


@pytest.mark.parametrize("function", [total, nbcfast.count, skyline.group])
def test_empty_is_one_of_two(function):
    arguments = {total: ([],), nbcfast.count: ({}, "y"), skyline.group: ({}, ["x"], "y")}[function]
    with pytest.raises(ValueError, match="empty must be 'error' or 'none', got 'skip'"):
        function(*arguments, empty="skip")


def test_an_iterator_without_a_batch():
    message = "table: expected at least one record batch, got none"
    assert nbcfast.count(iter([]), "y", empty="none") is None
    assert skyline.group(iter([]), **OPTIONS, empty="none") is None
    with pytest.raises(ValueError, match=message):
        nbcfast.count(iter([]), "y")
    with pytest.raises(ValueError, match=message):
        skyline.group(iter([]), **OPTIONS)
    with pytest.raises(ValueError, match=message):
        associations.risk(iter([]), [("x", "z"), ("z", "y")], "x", "y")


def test_no_rows_are_zeros_where_classes_are_named():
    expected = nbcfast.count(columns_of([]), "y", classes=["n", "p"])
    assert expected.class_counts.tolist() == [0, 0]
    for stream in (iter([batch_of([])]), pa.table(columns_of([]), SCHEMA)):
        assert nbcfast.count(stream, "y", classes=["n", "p"], empty="none") == expected
    assert total([expected, nbcfast.count(columns_of([("a", 1, "p")]), "y", classes=["n", "p"])]).n_rows == 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_without_rows(tmp_path, ending):
    path = tmp_path / f"part.{ending}"
    if ending == "csv":
        path.write_text("x,z,y\n")
    else:
        parquet.write_table(pa.table(columns_of([]), SCHEMA), path)
    assert nbcfast.count(path, "y", empty="none") is None
    assert skyline.group(path, **OPTIONS, empty="none") is None
    with pytest.raises(ValueError, match=f"part.{ending}: no rows"):
        nbcfast.count(path, "y")


def test_what_is_wrong_stays_wrong_without_rows():
    with pytest.raises(ValueError, match="expected a column"):
        nbcfast.count(iter([batch_of([])]), "y", ["w"], empty="none")
    with pytest.raises(TypeError, match="expected a Table"):
        nbcfast.count(5, "y", empty="none")
