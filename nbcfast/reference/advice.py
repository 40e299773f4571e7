"""Every combination of options, by what its classifier is worth, in the plainest Python.

Correct rows are counted with Fractions. A loss is a float that is made by the operations named here, in their
order, and rounded to a natural number of units: a sum of losses is exact.
"""

# mypy: ignore-errors

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import gmpy2

UNIT = 2.0**30  # logarithms are multiples of 1 / UNIT

# Chebyshev's polynomials: e^r for r within half of ln 2 of 0, and ln (1 + s) / s for s of 0 .. 1.
POWER = (
    *(0.99999999996, 1.000000037727, 0.500000010775, 0.166664154772),
    *(0.041666218274, 0.00837512889, 0.001394858085),
)
LOGARITHM = (
    *(0.999999995385, -0.499999039928, 0.333300040352, -0.249545588708, 0.196781172548),
    *(-0.153118630981, 0.106142646805, -0.0570642007, 0.019907160895, -0.003256378466),
)


def distinct(codes, class_codes, maps, weights=None):
    """(class, values) -> copies; values[a][o] is the value in option o of attribute a, None if left out."""
    copies = Counter()
    for row, (of_row, c) in enumerate(zip(codes, class_codes, strict=True)):
        values = tuple(
            tuple(None if option is None else int(option[code]) for option in options)
            for code, options in zip(of_row, maps, strict=True)
        )
        copies[int(c), values] += 1 if weights is None else int(weights[row])
    return copies


def dealt(copies, folds):
    """(class, values, fold) -> copies: those of a class go round robin over the folds, in sorted order."""
    rows, n_before = Counter(), Counter()
    # None stands at the same places in all rows, where it may be any number.
    for (c, values), n in sorted(
        copies.items(), key=lambda item: (item[0][0], [[v or 0 for v in a] for a in item[0][1]])
    ):
        if not folds:
            rows[c, values, 0] = n
            continue
        whole, more = divmod(n, folds)
        for j in range(min(folds, n)):
            rows[c, values, (n_before[c] + j) % folds] = whole + (j < more)
        n_before[c] += n
    return rows


def learnt(rows, leaf, n_classes, fold, folds):
    """P and N of the rows that a fold is held out from: N[a][value][c], nothing for attributes left out."""
    totals = [0] * n_classes
    counts = [{} for _ in leaf]
    for (c, values, other), n in rows.items():
        for a, option in enumerate(leaf):
            counts[a].setdefault(values[a][option], [0] * n_classes)
        if folds and other == fold:
            continue
        totals[c] += n
        for a, option in enumerate(leaf):
            counts[a][values[a][option]][c] += n
    return totals, counts


def judged(rows, leaf, n_classes, folds):
    """Of each row: its class, its copies, P, and N of its values in the attributes that are not left out."""
    known = {fold: learnt(rows, leaf, n_classes, fold, folds) for fold in range(max(folds, 1))}
    for (c, values, fold), n in rows.items():
        totals, counts = known[fold]
        own = [values[a][option] for a, option in enumerate(leaf)]
        yield c, n, totals, [counts[a][value] for a, value in enumerate(own) if value is not None]


def correct(rows, leaf, n_classes, folds):
    """The copies whose class has the largest X, and comes last of those that have."""
    right = 0
    for c, n, totals, counts in judged(rows, leaf, n_classes, folds):
        x = []
        for d in range(n_classes):
            numbers = [of_value[d] for of_value in counts]
            if numbers and totals[d]:
                x.append(Fraction(math.prod(numbers), totals[d] ** (len(numbers) - 1)))
            else:
                x.append(totals[d])
        if max(range(n_classes), key=lambda d: (x[d], d)) == c:
            right += n
    return right


def losses(rows, leaf, n_classes, folds, bits):
    """Copies of infinite loss, and the sum of the others in units of 2^-bits."""
    infinite = finite = 0
    for c, n, totals, counts in judged(rows, leaf, n_classes, folds):
        logs = []
        for d in range(n_classes):
            parts, wholes = [totals[d]], [sum(totals)]
            parts += [of_value[d] for of_value in counts]
            wholes += [totals[d]] * len(counts)
            zero = 0 in parts
            logs.append(-math.inf if zero else sum(map(log_share, parts, wholes)))
        if logs[c] == -math.inf:
            infinite += n
            continue
        gaps = [logs[c] - logs[d] for d in range(n_classes) if d != c]
        finite += n * round(loss(gaps) * 2.0**bits)
    return infinite, finite


def log_share(part, whole):
    """The logarithm of part / whole, of correctly rounded logarithms."""
    with gmpy2.context(gmpy2.ieee(64)):
        difference = float(gmpy2.log(gmpy2.mpz(part))) - float(gmpy2.log(gmpy2.mpz(whole)))
    return round(difference * UNIT) / UNIT


def loss(gaps):
    """The logarithm of 1 + the sum of e^-gap."""
    if len(gaps) == 1:
        return max(-gaps[0], 0.0) + logarithm_of_two(power(-abs(gaps[0])))
    least = min([0.0, *gaps])
    total = power(least)
    for gap in gaps:
        total += power(least - gap)
    return logarithm(total) - least


def power(x):
    """e^x for x <= 0."""
    x = max(x, -64.0)
    k = round(x * 1.4426950408889634)
    r = x - k * 0.6931471805599453
    p, r2 = POWER, r * r
    low = (p[0] + p[1] * r) + (p[2] + p[3] * r) * r2
    high = (p[4] + p[5] * r) + p[6] * r2
    return (low + high * (r2 * r2)) * 2.0**k


def logarithm_of_two(s):
    """The logarithm of 1 + s, for s of 0 .. 1."""
    p, s2 = LOGARITHM, s * s
    s4 = s2 * s2
    a = (p[0] + p[1] * s) + (p[2] + p[3] * s) * s2
    b = (p[4] + p[5] * s) + (p[6] + p[7] * s) * s2
    c = p[8] + p[9] * s
    return s * ((a + b * s4) + c * (s4 * s4))


def logarithm(y):
    """The logarithm of y >= 0.9, which is 2^k times a number between the roots of 1/2 and of 2."""
    f, k = math.frexp(y)
    if f < 0.7071067811865476:
        f, k = 2 * f, k - 1
    u = (f - 1.0) / (f + 1.0)
    square = u * u
    p = 1.0 / 11
    for odd in (9, 7, 5, 3, 1):
        p = p * square + 1.0 / odd
    return k * 0.6931471805599453 + 2.0 * u * p


def leaves(maps):
    """Every combination, but that which leaves all attributes out; the last attribute is the fastest."""
    for leaf in product(*(range(len(options)) for options in maps)):
        if any(options[o] is not None for options, o in zip(maps, leaf, strict=True)):
            yield leaf


def tuples(maps, leaf):
    sizes = [max(options[o]) + 1 for options, o in zip(maps, leaf, strict=True) if options[o] is not None]
    return math.prod(map(int, sizes))


def best_first(
    codes, class_codes, maps, n_classes, *, weights=None, folds=5, by="correct", bits=24, dropped=0
):
    """Combinations with their correct rows, or their losses; of equal ones first that with fewer tuples."""
    rows = dealt(distinct(codes, class_codes, maps, weights), folds)
    found = []
    for leaf in leaves(maps):
        if by == "correct":
            utility = correct(rows, leaf, n_classes, folds)
            cost = (-utility,)
        else:
            infinite, finite = losses(rows, leaf, n_classes, folds, bits)
            cost = utility = infinite, finite >> dropped << dropped
        found.append((cost, tuples(maps, leaf), leaf, utility))
    return [(leaf, utility) for _, _, leaf, utility in sorted(found)]
