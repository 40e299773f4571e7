"""`Groups.t` of some groups against all people."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast.groups import Groups
from nbcfast.table import Interval

COUNTS = st.lists(st.integers(0, 5) | st.just(2**40), min_size=4, max_size=4).filter(any)
LABELS = [["b", "a", "d", "c"], [3, 1, 2, 0], [None, "x", "a", "y"]]


@given(st.lists(COUNTS, min_size=1, max_size=8), st.sampled_from(LABELS), st.booleans(), st.data())
def test_the_greatest_of_parts_is_that_of_all(release, labels, ordered, data):
    triples = [
        [(number, value, n) for value, n in zip(labels, counts, strict=True)]
        for number, counts in enumerate(release)
    ]
    declared = data.draw(st.booleans()) and not isinstance(labels[0], int) and labels[0] is not None
    options = {"values": labels} if declared else {}
    whole = Groups([triple for group in triples for triple in group], **options)
    parts = [[] for _ in range(3)]
    for group in triples:
        parts[data.draw(st.integers(0, 2))] += group
    groups = [Groups(part, **options) for part in parts if part]
    totals = Counter()
    for counts in release:
        totals.update(dict(zip(labels, counts, strict=True)))
    listed = list(totals.items())
    data.draw(st.randoms(use_true_random=False)).shuffle(listed)
    expected = whole.t(ordered=ordered)
    for of_all in (dict(listed), whole):
        assert max(part.t(ordered=ordered, totals=of_all) for part in groups) == expected
    assert whole.t(ordered=ordered, totals=whole) == expected


def test_codes_that_do_not_rise_in_the_domain_of_all():
    part = Groups([(0, "a", 1), (0, "b", 2)])
    whole = Groups([(0, "a", 1), (0, "b", 2), (1, "c", 3)], values=["b", "c", "a"])
    # By places b, c, a: shares 2/3, 0, 1/3 against 1/3, 1/2, 1/6; running differences 1/3, -1/6, 0.
    assert part.t(ordered=True, totals=whole) == Fraction(1, 4)


def test_numbers_beyond_64_bits():
    part = Groups([[2**40, 0], [0, 2**40]])
    assert part.t(totals={0: 2**62, 1: 2**62}) == Fraction(1, 2)
    assert part.t(totals={0: 2**63 - 1, 1: 2**63 - 1}) == Fraction(1, 2)


def test_values_that_nobody_has_do_not_count():
    part = Groups([[2, 0]], values=["a", "z"])
    assert part.t(ordered=True, totals={"a": 2, "z": 2}) == Fraction(1, 2)
    three = Groups([[2, 0, 0]], values=["a", "m", "z"])
    assert three.t(ordered=True, totals={"a": 2, "m": 0, "z": 2}) == Fraction(1, 2)
    assert part.t(ordered=True, totals={"a": 2}) == 0


@pytest.mark.parametrize(
    ("totals", "error", "message"),
    [
        ({"a": 2}, ValueError, "totals must hold all people of these groups: 1 have 'b', got 0"),
        ({"a": 1, "b": 1}, ValueError, "totals must hold all people of these groups: 2 have 'a', got 1"),
        (Groups([(0, "a", 5)]), ValueError, "totals must hold all people of these groups: 1 have 'b', got 0"),
        ({"a": 2, "b": -1}, ValueError, r"totals\['b'\] must be 0\.\.9223372036854775807, got -1"),
        ({"a": 2, "b": 1.0}, TypeError, r"totals\['b'\] must be an int, got 1\.0"),
        ({"a": 2, "b": 1, 3: 1}, TypeError, "totals: expected values of one kind, got int and text"),
        ({1: 1}, TypeError, "totals: expected values of one kind, got int and text"),
        ([2, 1], TypeError, "totals must be a mapping of value -> number or Groups, got list"),
    ],
)
def test_errors(totals, error, message):
    with pytest.raises(error, match=message):
        Groups([(0, "a", 2), (0, "b", 1)]).t(totals=totals)


def test_a_value_that_was_not_declared():
    with pytest.raises(ValueError, match="totals: value 'c' is not in the declared domain of 2 values"):
        Groups([[2, 1]], values=["a", "b"]).t(totals={"a": 2, "b": 1, "c": 1})


def test_an_order_that_is_not_that_of_the_values():
    values = [Interval(5, None), Interval(None, 5)]
    part = Groups([(0, values[0], 1)])
    assert part.t(ordered=True, totals=dict.fromkeys(values, 1)) == Fraction(1, 2)
    with pytest.raises(ValueError, match="declared in rising order"):
        Groups([[1, 1]], values=[2, 1]).t(ordered=True, totals={1: 1, 2: 1})


def test_as_many_people_as_there_are_are_enough():
    rng = np.random.default_rng(0)
    groups = Groups(rng.integers(1, 9, (50, 5)))
    totals = dict(zip(groups.domain, groups.totals().tolist(), strict=True))
    for ordered in (False, True):
        assert groups.t(ordered=ordered, totals=totals) == groups.t(ordered=ordered)
