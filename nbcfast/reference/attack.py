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
    "totals",
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


# One walk through the formulas, as the specification has them.
def totals(points, base, views, alpha=0):
    """What totals and scores (and what totals alone) give of private counts, one scale after the other.

    (found, near, cells, null_found, null_near): `nbcfast.attack.totals` in words; rows in every class.
    """
    tables = [[[int(count) for count in row] for row in views.counts[name]] for name in views.attributes]
    of_class = [int(count) for count in views.class_counts]
    alpha = Fraction(alpha)
    row_sums = [[float(sum(row) + len(of_class) * alpha) for row in table] for table in tables]
    column_sums = [[float(p + len(table) * alpha) for p in of_class] for table in tables]
    known = [math.log(p) - sum(math.log(sums[c]) for sums in column_sums) for c, p in enumerate(of_class)]

    def fitted(scale):
        """Offsets of the classes and counts of each attribute."""
        pairs = zip(points, row_sums, column_sums, strict=True)
        return [_fitted(scale, rows, sums, columns) for rows, sums, columns in pairs]

    def imbalance(scale):
        left = [known[c] - scale * float(base[c]) for c in range(len(of_class))]
        for offsets, _ in fitted(scale):
            left = [number + offset for number, offset in zip(left, offsets, strict=True)]
        mean = sum(left) / len(left)
        return [number - mean for number in left]

    span = 0.0
    for rows, sums in zip(points, row_sums, strict=True):
        with_rows = [row for row, total in zip(rows, sums, strict=True) if total]
        span += max(max(row) - sum(row) / len(row) for row in with_rows)
    scales = [0.02 / max(span, 1e-300) * 20_000 ** (k / 63) for k in range(64)]
    solutions = []
    lefts = [imbalance(scale) for scale in scales]
    if len(of_class) == 2:
        for k in range(63):
            if (lefts[k][0] > 0) - (lefts[k][0] < 0) != (lefts[k + 1][0] > 0) - (lefts[k + 1][0] < 0):
                low, high = scales[k], scales[k + 1]
                for _ in range(60):
                    middle = (low + high) / 2
                    if imbalance(middle)[0] * lefts[k][0] > 0:
                        low = middle
                    else:
                        high = middle
                solutions.append(low)
    if not solutions:
        sizes = [sum(map(abs, left)) for left in lefts]
        best = sizes.index(min(sizes))
        low, high = scales[max(best - 1, 0)], scales[min(best + 1, 63)]
        golden = (math.sqrt(5) - 1) / 2
        for _ in range(60):
            a, b = high - golden * (high - low), low + golden * (high - low)
            if sum(map(abs, imbalance(a))) < sum(map(abs, imbalance(b))):
                high = b
            else:
                low = a
        solutions.append(low)

    def right(guesses):
        """How many cells are found, and how many are near."""
        found = near = 0
        for guess, table in zip(guesses, tables, strict=True):
            for numbers, row in zip(guess, table, strict=True):
                if any(row):
                    pairs = [(round(number), count) for number, count in zip(numbers, row, strict=True)]
                    found += all(number == count for number, count in pairs)
                    near += all(abs(number - count) <= 0.05 * count for number, count in pairs)
        return found, near

    shares = [p / sum(of_class) for p in of_class]
    null = right([[[sum(row) * share for share in shares] for row in table] for table in tables])
    attempts = []
    for scale in solutions:
        guesses = [[[number - float(alpha) for number in row] for row in rows] for _, rows in fitted(scale)]
        attempts.append(right(guesses))
    cells = sum(any(row) for table in tables for row in table)
    return (*max(attempts), cells, *null)


def _share(log_odds):
    """The share of a whole whose odds have this logarithm."""
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else math.exp(log_odds)


def _fitted(scale, rows, row_sums, column_sums):
    """Offsets of the columns with which rows and columns of exp(scale rows + offsets) have these sums."""

    def parts_of(offsets):
        parts = []
        for row, total in zip(rows, row_sums, strict=True):
            logs = [scale * number + offset for number, offset in zip(row, offsets, strict=True)]
            largest = max(logs)
            numbers = [math.exp(number - largest) for number in logs]
            whole = sum(numbers)
            parts.append([total * number / whole for number in numbers])
        return parts, [max(sum(column), 1e-300) for column in zip(*parts, strict=True)]

    if len(column_sums) == 2:  # one number, found by bisection: proportional fitting may take for ever
        wanted = math.log(column_sums[0] / column_sums[1])
        odds = [(scale * (row[0] - row[1]), total) for row, total in zip(rows, row_sums, strict=True)]
        low, high = -1e4, 1e4
        for _ in range(70):
            middle = (low + high) / 2
            first = sum(total * _share(of_row + middle) for of_row, total in odds)
            second = sum(total * _share(-of_row - middle) for of_row, total in odds)
            if math.log(max(first, 1e-300) / max(second, 1e-300)) < wanted:
                low = middle
            else:
                high = middle
        return [low, 0.0], parts_of([low, 0.0])[0]
    offsets = [math.log(total) for total in column_sums]
    for _ in range(500):
        columns = parts_of(offsets)[1]
        steps = [math.log(total / column) for total, column in zip(column_sums, columns, strict=True)]
        offsets = [offset + step for offset, step in zip(offsets, steps, strict=True)]
        if max(steps) - min(steps) < 1e-13:
            break
    return offsets, parts_of(offsets)[0]
