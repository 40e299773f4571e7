"""A coarser domain is another classifier: its answers are no function of finer ones, and may tell more."""

import itertools
import random
from fractions import Fraction

import pytest
from canonical_cases import labels

from nbcfast import Viewset, canonical, reference


def views_of(of_class, *columns):
    """Views from the columns of the classes, attribute by attribute."""
    return Viewset(of_class, [list(zip(*of_attribute, strict=True)) for of_attribute in columns])


def merged(views, name, first, second):
    """The views with two values of an attribute made one."""
    counts = {}
    for other, array in views.counts.items():
        rows = array.tolist()
        if other == name:
            rows[first] = [a + b for a, b in zip(rows[first], rows[second], strict=True)]
            del rows[second]
        counts[other] = rows
    return Viewset(views.class_counts, counts)


def brute_range(views):
    """The range of the weights of least norm, from all tuples and by definition alone."""
    sizes = [len(array) for array in views.counts.values()]
    tuples = list(itertools.product(*(range(size) for size in sizes)))
    weights = reference.canonical.solve(dict(zip(tuples, labels(views), strict=True)))
    totals = [sum(weights[i][t] for i, t in enumerate(codes)) for codes in tuples]
    return max(abs(total) for total in totals)


COARSENED = (
    # Both attributes of both have the same totals of classes.
    views_of([1, 3], [(0, 1, 0), (0, 0, 3)], [(0, 1), (0, 3)]),
    views_of([1, 3], [(0, 1, 0), (1, 0, 2)], [(0, 1), (0, 3)]),
)
FEWER_VALUES = Viewset([4, 1], [[[1, 0], [0, 1], [3, 0]], [[2, 1], [2, 0]], [[1, 0], [3, 1]]])
FEWER_ATTRIBUTES = Viewset([4, 3], [[[1, 0], [0, 2], [3, 1]], [[1, 1], [3, 2]], [[2, 1], [2, 2]]])


def test_coarse_answers_are_no_function_of_the_fine_ones():
    assert [labels(views) for views in COARSENED] == [[1, 1, 1, 0, 1, 1]] * 2
    coarse = [labels(merged(views, views.attributes[0], 0, 1)) for views in COARSENED]
    assert coarse == [[1, 0, 1, 1], [1, 1, 1, 1]]


def test_two_releases_tell_more_than_the_finer_one():
    """The finer releases are the same file, and the coarser ones tell the tables apart."""
    fine = [canonical.release(views, 4) for views in COARSENED]
    coarse = [canonical.release(merged(views, views.attributes[0], 0, 1), 4) for views in COARSENED]
    assert fine[0] == fine[1]
    assert coarse[0] != coarse[1]


@pytest.mark.parametrize(
    ("views", "other", "ranges"),
    [
        (FEWER_VALUES, merged(FEWER_VALUES, FEWER_VALUES.attributes[0], 0, 1), (1, 5)),
        (
            FEWER_ATTRIBUTES,
            Viewset(FEWER_ATTRIBUTES.class_counts, dict(list(FEWER_ATTRIBUTES.counts.items())[1:])),
            (1, 3),
        ),
    ],
    ids=["two values merged", "an attribute left out"],
)
def test_bits_may_rise_where_the_domain_shrinks(views, other, ranges):
    assert tuple(canonical.solve(canonical.box(each)).range for each in (views, other)) == ranges
    assert tuple(brute_range(each) for each in (views, other)) == ranges
    assert canonical.leak(other).bits > canonical.leak(views).bits == 0


def levels_of(views):
    """How many values of each attribute the answers tell apart, from all tuples."""
    sizes = [len(array) for array in views.counts.values()]
    answers = dict(zip(itertools.product(*(range(size) for size in sizes)), labels(views), strict=True))
    return [
        len({tuple(label for codes, label in answers.items() if codes[i] == t) for t in range(size)})
        for i, size in enumerate(sizes)
    ]


def random_views(rng):
    of_class = [rng.randint(1, 30), rng.randint(1, 30)]
    arrays = []
    for _ in range(rng.randint(1, 4)):
        array = [[0, 0] for _ in range(rng.randint(1, 5))]
        for c, count in enumerate(of_class):
            for _ in range(count):
                rng.choice(array)[c] += 1
        arrays.append(array)
    return Viewset(of_class, arrays)


def test_the_range_is_at_least_the_sum_of_levels_less_one():
    rng, bounds, met = random.Random(9), [], 0
    for _ in range(400):
        views = random_views(rng)
        solution = canonical.solve(canonical.box(views))
        bounds.append(sum(levels - 1 for levels in levels_of(views)))
        assert solution.range >= bounds[-1]
        assert [max(levels) + 1 for levels in solution.levels] == levels_of(views)
        # Neighbouring levels are 2 apart at the least.
        for of_attribute in solution.scores:
            weights = sorted({Fraction(weight) for (weight,) in of_attribute})
            assert all(high - low >= 2 for low, high in itertools.pairwise(weights))
        met += solution.range == max(bounds[-1], 1)
    assert max(bounds) >= 8
    assert met > 100
