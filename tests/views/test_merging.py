"""Viewsets of equal domains are added as they lie, and exactly for integers of any length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table, Viewset, count
from nbcfast.table import Domain

HUGE = 2**200
numbers = st.integers(0, 2**40) | st.integers(HUGE, HUGE + 9)


def of(cells):
    """Of two values and two classes; the class counts are the sums."""
    return Viewset([cells[0] + cells[2], cells[1] + cells[3]], {"job": [cells[:2], cells[2:]]})


@given(*[st.lists(numbers, min_size=4, max_size=4)] * 2)
def test_sums_and_differences_are_exact(mine, theirs):
    one, other = of(mine), of(theirs)
    both = one + other
    assert both.counts["job"].ravel().tolist() == [a + b for a, b in zip(mine, theirs, strict=True)]
    assert both - other == one
    assert both == other + one


def test_what_does_not_fit_is_an_error_and_never_wraps():
    half = of([2**62] + [0] * 3)
    with pytest.raises(ValueError, match="4611686018427387904 \\+ 4611686018427387904 exceeds 64 bits"):
        half + half
    with pytest.raises(ValueError, match="a count would fall to -1"):
        of([1, 0, 0, 0]) - of([2, 0, 0, 0])


def test_no_value_is_looked_up_where_domains_are_equal(monkeypatch):
    def parts():
        domains = {"job": ["clerk", "cook"], "ill": ["no", "yes"]}
        return count(Table({"job": ["cook"], "ill": ["yes"]}, domains=domains), "ill")

    one, other = parts(), parts()  # with domains of their own
    asked = []
    positions_in = Domain.positions_in
    monkeypatch.setattr(Domain, "positions_in", lambda *args: asked.append(args) or positions_in(*args))
    assert (one + other - one).counts["job"].tolist() == [[0, 0], [0, 1]]
    assert asked == []


def test_values_in_other_places_find_theirs():
    one = count({"job": ["clerk", "cook"], "ill": ["no", "yes"]}, "ill")
    other = count({"job": ["baker", "cook"], "ill": ["yes", "yes"]}, "ill")
    both = one + other
    assert both.domain("job") == ("baker", "clerk", "cook")
    assert both.counts["job"].tolist() == [[0, 1], [1, 0], [0, 2]]
    assert both - other == one
    assert (both - other).domain("job") == ("clerk", "cook")
