"""Domains that are declared when rows are counted, or of views: streams, files and tables alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, Viewset
from nbcfast.table import Domain

pa = pytest.importorskip("pyarrow")

JOBS, PAINS, LABELS = ["cook", "clerk", "poet", None], [7, -1, 3, 0], ["yes", "no", "perhaps"]
DOMAINS = {"job": JOBS, "pain": PAINS, "ill": LABELS}
ROWS = st.lists(
    st.tuples(st.sampled_from(JOBS), st.sampled_from(PAINS), st.sampled_from(LABELS), st.integers(1, 9)),
    min_size=1,
    max_size=12,
)
OUTSIDE = "value 'baker' is not in its declared domain of 4 values"


def columns_of(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate(["job", "pain", "ill", "n"])}


def sources(columns, size):
    """The rows in every form that a table may have in memory, or in batches."""
    table = pa.table(columns)
    return [columns, table, iter(table.to_batches(max_chunksize=size))]


def shown(views):
    domains = {**views.domains, "": views.class_domain}
    return repr(views.to_dict()), [(name, one.kind, one.declared) for name, one in domains.items()]


@given(ROWS, st.sets(st.sampled_from(sorted(DOMAINS))), st.integers(1, 5), st.booleans(), st.booleans())
def test_streams_equal_tables(rows, names, size, weighted, named):
    columns = columns_of(rows)
    domains = {name: DOMAINS[name] for name in names}
    options = {"classes": LABELS[::-1] if named else None}
    weights = "n" if weighted else None
    if not weighted:
        del columns["n"]
    expected = nbcfast.count(Table(columns, domains, weights), "ill", **options)
    for source in sources(columns, size):
        views = nbcfast.count(source, "ill", domains=domains, weights=weights, **options)
        assert shown(views) == shown(expected)
    table = Table(columns, weights=weights)
    assert shown(nbcfast.count(table, "ill", domains=domains, **options)) == shown(expected)
    plain = nbcfast.count(table, "ill")
    of_attributes = {name: values for name, values in domains.items() if name != "ill"}
    later = plain.declared(of_attributes, LABELS)
    assert shown(later) == shown(nbcfast.count(table, "ill", domains=of_attributes, classes=LABELS))
    assert later.weighted == weighted


def test_files_equal_tables(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("job,pain,ill\ncook,7,no\ncook,7.0,yes\nclerk,3,no\n")
    domains = {"pain": [7, 3, 5], "job": ["poet", "cook", "clerk"]}
    expected = nbcfast.count(Table(nbcfast.read_csv(path), domains), "ill")
    assert shown(nbcfast.count(path, "ill", domains=domains)) == shown(expected)
    assert expected.counts["pain"].tolist() == [[1, 1], [1, 0], [0, 0]]


def test_attributes_that_were_chosen():
    columns = {"job": ["cook"], "other": ["x"], "ill": ["no"]}
    for source in sources(columns, 1):
        views = nbcfast.count(source, "ill", ["job"], domains={"job": JOBS})
        assert (views.attributes, views.domain("job")) == (("job",), tuple(JOBS))


def test_no_rows_of_declared_classes():
    columns = {"job": pa.array([], pa.string()), "ill": pa.array([], pa.string())}
    expected = nbcfast.count(Table({"job": [], "ill": []}, {"ill": LABELS}), "ill")
    assert nbcfast.count(pa.table(columns), "ill", domains={"ill": LABELS}) == expected
    assert nbcfast.count({"job": [], "ill": []}, "ill", domains={"ill": LABELS}, empty="none") == expected


def test_values_outside():
    columns = {"job": ["baker", "cook"], "ill": ["no", "no"]}
    for source in sources(columns, 1):
        with pytest.raises(ValueError, match=f"column 'job': {OUTSIDE}"):
            nbcfast.count(source, "ill", domains={"job": JOBS})
    for source in sources(columns, 1):
        with pytest.raises(ValueError, match="column 'ill': value 'no' is not in its declared domain of 1"):
            nbcfast.count(source, "ill", domains={"ill": ["yes"]})
    with pytest.raises(ValueError, match=f"column 'job': {OUTSIDE}"):
        nbcfast.count(columns, "ill").declared({"job": JOBS})


def test_columns_that_are_not_counted():
    columns = {"job": ["cook"], "age": [3], "ill": ["no"]}
    for source in sources(columns, 1):
        with pytest.raises(ValueError, match="domains: expected a column of 'job', 'ill'; got 'age'"):
            nbcfast.count(source, "ill", ["job"], domains={"age": [3]})
    with pytest.raises(ValueError, match="domains: expected a column of 'job', 'age'; got 'ill'"):
        nbcfast.count(columns, "ill").declared({"ill": ["no"]})
    with pytest.raises(TypeError, match="domains: expected a mapping of name -> values, got list"):
        nbcfast.count(columns, "ill", domains=["job"])


def test_declared_domains_are_not_too_large():
    columns = {"job": [1], "ill": ["no"]}
    for source in sources(columns, 1):
        with pytest.raises(ValueError, match="column 'job' has 3 values, expected at most 2"):
            nbcfast.count(source, "ill", domains={"job": [1, 2, 3]}, max_values=2)


def test_views_of_long_counts_stay_exact():
    huge = 2**70
    views = Viewset([huge, 1], {"job": [[huge, 0], [0, 1]]}, domains={"job": ["a", "b"]})
    declared = views.declared({"job": ["b", "c", "a"]}, [1, 0])
    assert declared.counts["job"].tolist() == [[1, 0], [0, 0], [0, huge]]
    assert declared.class_counts.tolist() == [1, huge]


def test_a_value_that_no_row_has_may_leave():
    views = Viewset([1], {"job": [[1], [0]]}, domains={"job": ["a", "b"]})
    assert views.declared({"job": ["a"]}).domain("job") == ("a",)


def test_parts_in_declared_domains_add():
    parts = [{"job": ["cook"], "ill": ["no"]}, {"job": ["poet"], "ill": ["yes"]}]
    one, other = (nbcfast.count(part, "ill", domains={"job": JOBS, "ill": LABELS}) for part in parts)
    assert (one + other).class_counts.tolist() == [1, 1, 0]
    assert one.domains["job"] == Domain.of(JOBS)
    assert np.array_equal((one + other).counts["job"][2], [1, 0, 0])
