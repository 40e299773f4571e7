"""The kernel of the search: what it refuses, and what it keeps alive."""

import numpy as np
import pytest

from nbcfast import _disclose


def test_the_kernel_refuses_what_would_hurt_it():
    codes = [np.array([0, 1, 2], np.uint8)]
    bits = [np.array([0, 1], np.uint64)]
    with pytest.raises(ValueError, match="expected codes below 2 in column 0"):
        _disclose.distinct(codes, bits, 0, 3, None, 1)
    with pytest.raises(ValueError, match=r"rows: expected a part of 0..3, got 0..4"):
        _disclose.distinct(codes, bits, 0, 4, None, 1)
    with pytest.raises(ValueError, match="weights: expected 3, got 1"):
        _disclose.distinct(codes, bits, 0, 2, np.ones(1, np.int64), 1)
    with pytest.raises(TypeError, match="expected uint8, uint16 or uint32, got int64"):
        _disclose.distinct([np.zeros(1, np.int64)], bits, 0, 1, None, 1)
    with pytest.raises(ValueError, match="table: expected room for key 1, got 1"):
        _disclose.tally(codes, bits, 0, 2, None, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="n_bits"):
        _disclose.merged(np.zeros(1, np.uint64), None, 65)
    with pytest.raises(ValueError, match="totals: expected 2, got 1"):
        _disclose.merged(np.zeros(2, np.uint64), np.zeros(1, np.uint64), 1)
    with pytest.raises(ValueError, match="out: expected shape"):
        _disclose.unpacked(
            np.zeros(2, np.uint64), np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros((1, 1), np.uint16)
        )


def part(**changes):
    arguments = {
        "attributes": [0],
        "codes": np.array([[0], [1]], np.uint16),
        "marks": np.array([[0], [1]], np.uint16),
        "hits": 1,
        "weights": np.ones(2, np.uint32),
        "groups": np.zeros(2, np.uint32),
        "n_groups": 1,
    }
    return tuple((arguments | changes).values())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"codes": np.array([[0], [2]], np.uint16)}, "expected codes below 2 in column 0"),
        ({"marks": np.array([[0], [2]], np.uint16)}, "expected marks up to 1, got 2"),
        ({"groups": np.ones(2, np.uint32)}, "expected groups below 1, got 1"),
        ({"attributes": [1]}, "expected attributes below 1, got 1"),
        ({"weights": np.ones(1, np.uint32)}, "expected arrays of 2 rows"),
        ({"hits": 0}, "expected sensitive values, got none"),
    ],
)
def test_the_kernel_refuses_bad_parts(changes, text):
    counts = [np.ones((2, 2), np.int64)]
    with pytest.raises(ValueError, match=text):
        _disclose.Disclosing(counts, [False], [part(**changes)], [(0, 0, 1, 1)], False, False, True)


def test_the_kernel_refuses_bad_templates_and_counts():
    counts = [np.ones((2, 2), np.int64)]
    for template in ((1, 0, 1, 1), (0, 1, 1, 1), (0, 0, 1, 0)):
        with pytest.raises(ValueError, match="template 0: expected a part"):
            _disclose.Disclosing(counts, [False], [part()], [template], False, False, True)
    with pytest.raises(ValueError, match="counts: expected values and classes"):
        _disclose.Disclosing([np.ones((0, 2), np.int64)], [False], [], [], False, False, True)
    search = _disclose.Disclosing(counts, [False], [part()], [(0, 0, 1, 1)], False, False, True)
    with pytest.raises(ValueError, match="expected an attribute and a value"):
        search.breaks(0, 2)
    assert [search.step(), search.step(), search.step()] == [True, True, False]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"hits": 2**61}, "expected at most 65535 sensitive values"),
        ({"n_groups": 2**63}, "expected 1..2 groups"),
        ({"n_groups": 0}, "expected 1..2 groups"),
        ({"attributes": [0, 0], "codes": np.zeros((2, 2), np.uint16)}, "expected different attributes"),
    ],
)
def test_the_kernel_refuses_sizes_that_are_none(changes, text):
    counts = [np.ones((2, 2), np.int64)]
    with pytest.raises(ValueError, match=text):
        _disclose.Disclosing(counts, [False], [part(**changes)], [(0, 0, 1, 1)], False, False, True)


def test_the_kernel_keeps_what_it_reads():
    counts = [np.array([[900, 100], [100, 900]], np.int64)]
    with pytest.raises(ValueError, match="continuous: expected 1, got 0"):
        _disclose.Disclosing(counts, [], [part()], [(0, 0, 1, 1)], False, False, True)
    parts = [part()]
    search = _disclose.Disclosing(counts, [False], parts, [(0, 0, 1, 1)], False, False, True)
    counts.clear()
    parts.clear()
    junk = [np.zeros((2, 2), np.int64) for _ in range(2_000)]
    assert search.step()
    assert search.steps[0][2] == pytest.approx(0.531, abs=1e-3)
    assert len(junk) == 2_000
