"""Adversaries in the plainest exact Python: every tuple, every world, every set of classes.

Views are a nbcfast.Viewset or a nbcfast.reference.views.Viewset. `nbcfast.reference.safety` has the two
conventions: `matching`, `posterior`, and `posterior_by_listing`, which writes every world down.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import combinations, permutations, product

from nbcfast.reference.safety import matching, posterior, posterior_by_listing, worst_odds

__all__ = [
    "auc",
    "breach",
    "known_values",
    "matching",
    "matching_by_moments",
    "posterior",
    "posterior_by_listing",
    "worlds",
    "worst",
]


def known_values(views):
    """All that somebody may know: values of all attributes, of some, or of none."""
    for values in product(*[[None, *views.domain(name)] for name in views.attributes]):
        chosen = zip(views.attributes, values, strict=True)
        yield {name: value for name, value in chosen if value is not None}


def worst(views, convention):
    """The largest ratio of two posteriors, and the values known there."""
    return worst_odds(views, convention)


def breach(views, l1, l2, convention="row", prior=None):
    """The directions in which some set of classes crosses the levels for somebody, and the highest rise."""
    n_classes = len(views.class_counts)
    prior = [Fraction(1, n_classes)] * n_classes if prior is None else prior
    found, highest = set(), None
    for known in known_values(views):
        shares = posterior(views, known, convention)
        if shares is None:
            continue
        for size in range(1, n_classes):
            for chosen in combinations(range(n_classes), size):
                before = sum(prior[c] for c in chosen)
                after = sum(shares[c] for c in chosen)
                if before <= l1 and after > l2:
                    found.add("upward")
                    highest = after if highest is None else max(highest, after)
                if before >= l2 and after < l1:
                    found.add("downward")
    return found, highest


def worlds(views):
    """Every possible world as a list of rows, each with its class last: the first columns stay."""
    by_class = []
    for c, label in enumerate(views.classes):
        columns = []
        for i, name in enumerate(views.attributes):
            counted = zip(views.domain(name), views.counts[name], strict=True)
            column = [value for value, row in counted for _ in range(int(row[c]))]
            columns.append([tuple(column)] if i == 0 else sorted(set(permutations(column)), key=repr))
        labels = [(label,) * int(views.class_counts[c])]
        by_class.append([list(zip(*choice, strict=True)) for choice in product(*columns, labels)])
    return [[row for rows in world for row in rows] for world in product(*by_class)]


def matching_by_moments(total, sizes):
    """The distribution of `matching` a second way: P(Y = y) = sum_j (-1)^(j-y) C(j, y) E[C(Y, j)]."""
    least = min(sizes, default=total)
    moments = [
        Fraction(math.prod(math.comb(size, j) for size in sizes), math.comb(total, j) ** len(sizes))
        * math.comb(total, j)
        for j in range(least + 1)
    ]
    distribution = {}
    for y in range(least + 1):
        chance = sum((-1) ** (j - y) * math.comb(j, y) * moments[j] for j in range(y, least + 1))
        if chance:
            distribution[y] = chance
    return distribution


def auc(members, others):
    """P(member > other) + P(equal) / 2, and the square of DeLong's standard error, pair by pair."""

    def beats(x, y):
        return Fraction(int(x > y) + int(x >= y), 2)

    value = sum(beats(x, y) for x in members for y in others) / (len(members) * len(others))
    square = Fraction(0)
    for side in (
        [sum(beats(x, y) for y in others) / len(others) for x in members],
        [sum(beats(x, y) for x in members) / len(members) for y in others],
    ):
        if len(side) < 2:
            square += Fraction(1, 4)
        else:
            square += sum((place - value) ** 2 for place in side) / (len(side) - 1) / len(side)
    return value, square
