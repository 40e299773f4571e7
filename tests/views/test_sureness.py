"""How sure a classifier is of each row, beside posteriors as fractions."""

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.views.sureness import sureness

ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("nyq")), min_size=1)


def posteriors(views, row):
    """The posterior of each class at a row, exactly."""
    scores = []
    for c, total in enumerate(views.class_counts.tolist()):
        counts = [
            int(views.counts[name][views.domain(name).index(value), c])
            for name, value in zip(views.attributes, row, strict=True)
        ]
        scores.append(Fraction(prod(counts), total ** (len(counts) - 1)) if total else Fraction(0))
    return [score / sum(scores) for score in scores]


@given(ROWS, st.integers(1, 12))
def test_each_row_is_in_the_bin_of_its_posterior(rows, bins):
    first, second, classes = zip(*rows, strict=True)
    table = nbcfast.Table({"one": list(first), "two": list(second), "c": list(classes)})
    views = nbcfast.count(table, "c")
    found = sureness(views, table, bins)
    shares = [posteriors(views, row) for *row, _ in rows]
    told = [max(each) if len(each) != 2 else each[0] for each in shares]
    for edge in range(bins + 1):
        below = sum(found.shares[:edge]) * len(rows)
        # Rounding may put what lies on an edge on either side of it.
        assert sum(share * bins < edge for share in told) <= below + 1e-9
        assert below - 1e-9 <= sum(share * bins <= edge for share in told)
    assert found.certain == pytest.approx(sum(max(each) == 1 for each in shares) / len(rows))


def test_weights_count_and_classes_beyond_the_limit_are_told():
    table = nbcfast.Table({"job": ["a", "b"], "c": ["n", "y"]}, weights=[3, 1])
    found = sureness(
        nbcfast.Viewset([5, 5], {"job": [[4, 1], [1, 4]]}, domains={"job": ["a", "b"]}), table, 10
    )
    assert found.shares == (0, 0, 0.25, 0, 0, 0, 0, 0, 0.75, 0) or found.shares == (
        0,
        0.25,
        0,
        0,
        0,
        0,
        0,
        0,
        0.75,
        0,
    )
    assert found.certain == 0
    assert found.beyond(0.3, 0.7) == 1
    assert found.beyond(0.0, 1.0) == 0


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="table: no rows"):
        sureness(
            nbcfast.Viewset([1], {"a": [[1]]}, domains={"a": ["x"]}),
            nbcfast.Table({"a": []}, domains={"a": ["x"]}),
        )
