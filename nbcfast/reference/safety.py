"""Amplification, limits and the two attackers in the plainest exact Python: over all tuples, with Fractions.

Views are a nbcfast.Viewset or a nbcfast.reference.views.Viewset.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import product

from nbcfast.reference import table
from nbcfast.reference.views import is_realistic, n_rows, scores, tuples


def ratios(views):
    """(tuple, c, d, X_c, X_d) of every tuple and pair of classes with X_c > 0."""
    for row in tuples(views):
        x = scores(views, row)
        for c, d in product(range(len(x)), repeat=2):
            if c != d and x[c] > 0:
                yield row, c, d, x[c], x[d]


def amplification(views):
    """Lambda: the largest X_c / X_d with X_c > 0 over all tuples, infinite if X_d = 0; 1 for one class."""
    if n_rows(views) == 0:
        raise ValueError("no rows")
    if not any(any(scores(views, row)) for row in tuples(views)):
        raise ValueError("no tuple has a positive score")
    return max((math.inf if y == 0 else x / y for _, _, _, x, y in ratios(views)), default=Fraction(1))


def linear(views):
    """The same by max_{c,d} (P_d / P_c)^(n-1) prod_i max_t N_c / N_d, for positive views."""
    of_class, n = [int(count) for count in views.class_counts], len(views.attributes)
    best = Fraction(1)
    for c, d in product(range(len(of_class)), repeat=2):
        value = Fraction(of_class[d], of_class[c]) ** (n - 1)
        for name in views.attributes:
            value *= max(Fraction(int(row[c]), int(row[d])) for row in views.counts[name])
        best = max(best, value)
    return best


def at_most(views, limit):
    return amplification(views) <= table.exact(limit)


def limit(l1, l2, *, n_classes=None, rule="sharp"):
    """Sharp: the largest amplification without an L1-to-L2 breach; paper: the supremum of formula (7)."""
    l1, l2 = table.exact(l1), table.exact(l2)
    odds = l2 * (1 - l1) / (l1 * (1 - l2))
    if rule == "sharp":
        return odds
    low, high = Fraction(0), odds + 1  # bisected, as the closed form needs a root
    while high - low > Fraction(1, 2**80):
        middle = (low + high) / 2
        if formula7(middle, odds, n_classes):
            low = middle
        else:
            high = middle
    return high


def formula7(amplification, odds, n_classes):
    """(C-1) x^2 + (1-g) x - g (C-1) < 0."""
    x, g = amplification, odds
    return (n_classes - 1) * x * x + (1 - g) * x - g * (n_classes - 1) < 0


def largest_ratio(views):
    """The largest ratio of two class counts, or of two counts of one value that has a row."""
    rows = [list(views.class_counts), *(row for name in views.attributes for row in views.counts[name])]
    found = Fraction(1)
    for row in rows:
        for x, y in product([int(count) for count in row], repeat=2):
            if x > 0:
                found = max(found, Fraction(x, y) if y else math.inf)
    return found


def condition10(views, limit):
    """Whether every ratio is at most limit^(1/n)."""
    return largest_ratio(views) ** max(len(views.attributes), 1) <= table.exact(limit)


def check(views, limit, attacker="row"):
    if not is_realistic(views):
        raise ValueError("not realistic")
    allowed = table.exact(limit) / (2 if attacker == "worlds" else 1)
    return amplification(views) <= allowed


def matching(total, sizes):
    """The distribution of the size of an intersection of independent uniform subsets of `total` rows."""
    distribution = {total: Fraction(1)}
    for size in sizes:
        following = {}
        for before, chance in distribution.items():
            for y in range(max(0, before + size - total), min(before, size) + 1):
                ways = math.comb(before, y) * math.comb(total - before, size - y)
                following[y] = following.get(y, 0) + chance * Fraction(ways, math.comb(total, size))
        distribution = following
    return distribution


def posterior(views, known, convention):
    """The probability of each class for somebody with the values of `known`, a mapping attribute -> value.

    Possible worlds: in each class the columns are arranged independently, all ways equally likely, and Y_c is
    the number of rows that match. "worlds": E[Y_c / sum Y | sum Y >= 1], the paper's equation (4). "row":
    worlds weighted by sum Y, as for one row whose identity is known; this is X_c / sum X over the attributes
    known. None where no world has such a row.
    """
    distributions = []
    for c, total in enumerate(views.class_counts):
        places = {name: list(views.domain(name)).index(value) for name, value in known.items()}
        sizes = [int(views.counts[name][place][c]) for name, place in places.items()]
        distributions.append(matching(int(total), sizes))
    weights = [Fraction(0)] * len(distributions)
    for outcome in product(*(distribution.items() for distribution in distributions)):
        matches = sum(y for y, _ in outcome)
        chance = math.prod((p for _, p in outcome), start=Fraction(1))
        for c, (y, _) in enumerate(outcome):
            if matches:
                weights[c] += chance * (y if convention == "row" else Fraction(y, matches))
    return [weight / sum(weights) for weight in weights] if any(weights) else None


def posterior_by_listing(views, known, convention):
    """The same by listing every world: all distinct columns of every class, but for the first one."""
    from itertools import permutations

    names = list(views.attributes)
    worlds = []
    for c in range(len(views.class_counts)):
        columns = []
        for name in names:
            column = [
                value
                for value, row in zip(views.domain(name), views.counts[name], strict=True)
                for _ in range(int(row[c]))
            ]
            columns.append({tuple(column)} if name == names[0] else set(permutations(column)))
        worlds.append([list(zip(*choice, strict=True)) for choice in product(*columns)])
    weights, total = [Fraction(0)] * len(worlds), Fraction(0)
    for world in product(*worlds):
        matches = [
            sum(all(row[names.index(name)] == value for name, value in known.items()) for row in rows)
            for rows in world
        ]
        if sum(matches):
            each = sum(matches) if convention == "row" else 1
            total += each
            weights = [w + Fraction(each * y, sum(matches)) for w, y in zip(weights, matches, strict=True)]
    return [weight / total for weight in weights]


def worst_odds(views, convention):
    """The largest ratio of two posterior probabilities over all sets of known values; and those values."""
    worst, where = Fraction(0), {}
    domains = [[None, *views.domain(name)] for name in views.attributes]
    for values in product(*domains):
        chosen = zip(views.attributes, values, strict=True)
        known = {name: value for name, value in chosen if value is not None}
        for x, y in product(posterior(views, known, convention) or (), repeat=2):
            if x > 0 and (y == 0 or x / y > worst):
                worst, where = (math.inf if y == 0 else x / y), known
    return worst, where
