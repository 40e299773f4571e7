"""R-closeness and EST in the plainest exact Python: over all tuples, and EST by the paper's own steps.

Views are a nbcfast.Viewset or a nbcfast.reference.views.Viewset; classes stand in rising precedence, and a
prior is a mapping of class to number. Logarithms are intervals of mpfr numbers, as wide as their errors.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import combinations, permutations

import gmpy2

from nbcfast.reference import table
from nbcfast.reference import transform as safety
from nbcfast.reference.transform import tuples

BITS = 128


def prior_of(views, prior):
    """F_c as Fractions, in the order of the classes."""
    if set(prior) != set(views.classes):
        raise ValueError("prior")
    of = [Fraction(table.exact(prior[label])) for label in views.classes]
    if min(of) <= 0 or sum(of) != 1:
        raise ValueError("prior")
    return of


# What views come to ------------------------------------------------------------------------------


def achieved(views, prior):
    """R of Definition 5 and of Statement 11; math.inf where a class with a prior has no posterior."""
    of, size = prior_of(views, prior), len(views.classes)
    counts, score = safety.scores_of(views)
    fifth = odds = Fraction(1)
    for row in tuples(counts):
        x = score(row)
        if not any(x):
            continue
        if not all(x):
            return math.inf, math.inf
        for c in range(size):
            posterior = x[c] / sum(x)
            fifth = max(fifth, posterior / of[c], of[c] / posterior)
            odds = max(odds, *(x[c] * of[d] / (x[d] * of[c]) for d in range(size)))
    return fifth, odds


def subset_closeness(views, prior, known, classes):
    """Posterior / prior of a set of classes for somebody who knows `known`, positions by attribute name.

    Definition 5 in full: None where no row of the views can have these values.
    """
    of = prior_of(views, prior)
    counts, score = safety.scores_of(views)
    places = {views.attributes.index(name): value for name, value in known.items()}
    sums = [Fraction(0)] * len(of)
    for row in tuples(counts):
        if all(row[i] == value for i, value in places.items()):
            sums = [a + b for a, b in zip(sums, score(row), strict=True)]
    if not any(sums):
        return None
    return sum(sums[c] for c in classes) / sum(sums) / sum(of[c] for c in classes)


def inversions(views, prior, preserve="order"):
    """Pairs (d, c): d has the smaller prior, and at some tuple the higher rank (or is the best class)."""
    of = prior_of(views, prior)
    counts, score = safety.scores_of(views)
    found = set()
    for row in tuples(counts):
        ranking = safety.ranking(score(row))
        winners = ranking if preserve == "order" else ranking[:1]
        for place, d in enumerate(winners):
            found |= {(d, c) for c in ranking[place + 1 :] if of[d] < of[c]}
    return found


def lower_bounds(views, prior, preserve="order"):
    """What no equivalent views stay below: r^2 and r of Definition 5's two bounds, and r of Statement 11."""
    of = prior_of(views, prior)
    pairs = inversions(views, prior, preserve)
    square = max((of[c] / of[d] for d, c in pairs), default=Fraction(1))
    other = max((1 / (1 - of[c] + of[d]) for d, c in pairs), default=Fraction(1))
    return square, other, square


# EST by its linear program -----------------------------------------------------------------------


def log(number, bits=BITS):
    """The logarithm of a positive Fraction."""
    with gmpy2.context(precision=bits + 64):
        return gmpy2.log(gmpy2.mpq(number))


def margins(views, prior, *, preserve="order", guard=1):
    """D(c, d) = max X_c / X_d, S(c, d) = min {X_c / X_d > 1}, and whether a tie allows no y > 0.

    After Step 1; a comparison with a replaced zero counts as 2^guard, which it is at least.
    """
    of, size = prior_of(views, prior), len(views.classes)
    class_counts, counts = safety.lists(views)
    weights = safety.weights_of(class_counts, len(counts))
    positive = safety.filled(views, safety.fill_zeros(views, preserve=preserve, guard=guard))
    largest, least, tied = {}, {}, False
    for row in tuples(counts):
        before = safety.scores(weights, counts, row)
        after = safety.scores(weights, positive, row)
        for c, d in permutations(range(size), 2):
            ratio = after[c] / after[d]
            largest[c, d] = max(largest.get((c, d), ratio), ratio)
            if before[c] and before[d]:
                if ratio > 1:
                    least[c, d] = min(least.get((c, d), ratio), ratio)
                if ratio == 1 and c < d and of[c] > of[d]:
                    tied = True
    for c, d in largest:
        zero = any(row[e] == 0 for array in counts for row in array for e in (c, d))
        if zero and largest[c, d] > 1:
            cap = min(largest[c, d], Fraction(2) ** guard)
            least[c, d] = min(least.get((c, d), cap), cap)
    return largest, least, tied


def best(views, prior, *, preserve="order", guard=1):
    """Ln r of the linear program, by all its corners: the least z with

    z >= x D(c, d) - (1 - y) g(c, d),   x S(c, d) >= y g(d, c) where g(d, c) > 0,   0 <= x, 0 <= y <= 1.
    """
    of, size = prior_of(views, prior), len(views.classes)
    if size == 1:
        return gmpy2.mpfr(0)
    largest, least, tied = margins(views, prior, preserve=preserve, guard=guard)
    with gmpy2.context(precision=BITS + 64):
        rows = [((1, 0, 0), 0), ((0, 1, 0), 0), ((0, -1, 0), 0 if tied else -1)]  # a . (x, y, z) >= b
        for (c, d), ratio in largest.items():
            g = log(of[c] / of[d])
            rows.append(((-log(ratio), -g, 1), -g))
        for (c, d), ratio in least.items():
            if of[d] > of[c]:
                rows.append(((log(ratio), -log(of[d] / of[c]), 0), 0))
        tiny = gmpy2.exp2(-BITS // 2)
        found = []
        for three in combinations(rows, 3):
            corner = solve([a for a, _ in three], [b for _, b in three], tiny)
            if corner is not None and all(dot(a, corner) >= b - tiny for a, b in rows):
                found.append(corner[2])
        return min(found)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def solve(a, b, tiny):
    """Three equations, by Cramer's rule; None where they are not independent."""

    def det(m):
        return (
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
        )

    whole = det(a)
    if abs(whole) < tiny:
        return None
    columns = []
    for place in range(3):
        replaced = [[b[i] if j == place else a[i][j] for j in range(3)] for i in range(3)]
        columns.append(det(replaced) / whole)
    return columns


# EST by the paper's own steps ---------------------------------------------------------------------


def split(weights, counts, numbers):
    """Class c becomes numbers[c] labels, in the order of the classes: each has its share of every count.

    X_c = weight_c prod N: with n counts and the weight P^(1-n) each label has X_c / numbers[c].
    """
    n = len(counts)
    parts = [c for c, number in enumerate(numbers) for _ in range(number)]
    return (
        [weights[c] * Fraction(numbers[c]) ** (n - 1) for c in parts],
        [[[row[c] / Fraction(numbers[c]) for c in parts] for row in array] for array in counts],
        parts,
    )


def power(weights, counts, exponent, bits):
    """Every number to a rational power, correctly rounded to so many bits."""
    exponent = Fraction(exponent)
    return (
        [safety.root(w, 1 / exponent, bits) for w in weights],
        [[[safety.root(x, 1 / exponent, bits) for x in row] for row in array] for array in counts],
    )


def merge(class_counts, counts, parts):
    """Labels of one class are added up again."""
    size = max(parts) + 1

    def added(row):
        return [sum(x for x, part in zip(row, parts, strict=True) if part == c) for c in range(size)]

    return added(class_counts), [[added(row) for row in array] for array in counts]


def steps(views, prior, x, y, *, preserve="order", guard=1, bits=256):
    """Raise to omega, split, SafetyTransform with k, merge: x = omega / k and y = 1 - 1 / k.

    The split leaves X_c^omega / f_c to each of f_c labels, the transform takes the k-th root, and the merge
    adds f_c of them: (X_c^omega / f_c)^(1/k) f_c = X_c^x f_c^y.

    Class counts and counts, which add up. Each power is rounded to `bits` bits, and nothing is tilted: where
    two classes tie and have equal priors, the order is up to that rounding.
    """
    of = prior_of(views, prior)
    class_counts, _ = safety.lists(views)
    whole = math.lcm(*(number.denominator for number in of))
    numbers = [int(number * whole) for number in of]
    k = 1 / (1 - Fraction(y))
    omega = Fraction(x) * k
    positive = safety.filled(views, safety.fill_zeros(views, preserve=preserve, guard=guard))
    weights = safety.weights_of(class_counts, len(positive))
    weights, counts = power(weights, positive, omega, bits)
    weights, counts, parts = split(weights, counts, numbers)
    weights, counts = power(weights, counts, 1 / k, bits)
    return merge(*safety.adjust(weights, counts), parts)


def direct(views, prior, x, y, row, *, preserve="order", guard=1):
    """The logarithm of X_c^x F_c^y at a tuple, for each class."""
    of = prior_of(views, prior)
    class_counts, _ = safety.lists(views)
    positive = safety.filled(views, safety.fill_zeros(views, preserve=preserve, guard=guard))
    weights = safety.weights_of(class_counts, len(positive))
    with gmpy2.context(precision=256):
        return [
            gmpy2.mpq(x) * gmpy2.log(gmpy2.mpq(score)) + gmpy2.mpq(y) * gmpy2.log(gmpy2.mpq(f))
            for score, f in zip(safety.scores(weights, positive, row), of, strict=True)
        ]


# What is printed, and wrong -----------------------------------------------------------------------


def lemma12(views):
    """M1 / M2, the two largest counts: the paper splits no class into more labels, and calls that preserving.

    Right is the least X_c / X_d above 1.
    """
    _, counts = safety.lists(views)
    first, second = sorted((x for array in counts for row in array for x in row), reverse=True)[:2]
    return Fraction(first, second)


def tie_by_adding(views, deltas):
    """Scores of every tuple once delta_c is added to all counts of class c: how the paper resolves ties."""
    class_counts, counts = safety.lists(views)
    deltas = [Fraction(delta) for delta in deltas]
    of = [p + delta for p, delta in zip(class_counts, deltas, strict=True)]
    moved = [[[x + delta for x, delta in zip(row, deltas, strict=True)] for row in array] for array in counts]
    weights = safety.weights_of(of, len(counts))
    return of, moved, {row: safety.scores(weights, moved, row) for row in tuples(counts)}


def limit_of_statement14(views, prior, s_m, smallest):
    """The ln r that the paper's bounds come to at best: n (2n + 3) ln w ln F~ / ln S_M.

    SafetyTransform of scores to the power omega asks for k >= n (2n + 3) omega ln w / ln r, w = largest over
    smallest count, and the order for omega ln S_M / k > ln F~ with F~ = F_max / F_min.
    """
    of = prior_of(views, prior)
    _, counts = safety.lists(views)
    n = len(counts)
    w = max(x for array in counts for row in array for x in row) / Fraction(smallest)
    with gmpy2.context(precision=BITS):
        return n * (2 * n + 3) * log(w) * log(max(of) / min(of)) / log(Fraction(s_m))
