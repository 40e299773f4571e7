"""Margins and comparisons over all tuples, with Fractions: docs/mathematics/safety.md, section g.

Every function that takes views takes a nbcfast.Viewset as well as a reference.views.Viewset.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import combinations

import gmpy2

from nbcfast.reference import table
from nbcfast.reference import views as reference


def ratio(views, row, c, d):
    """X_c / X_d where both are positive, else None."""
    x_of = reference.scores(views, row)
    x, y = x_of[c], x_of[d]
    return x / y if x > 0 and y > 0 else None


def margin(views):
    """The smallest X_c / X_d above 1 over all tuples and classes, and where; None if all tie."""
    best = None
    for row in reference.tuples(views):
        for c, d in combinations(range(len(views.classes)), 2):
            found = ratio(views, row, c, d)
            if found is None or found == 1:
                continue
            found = max(found, 1 / found)
            if best is None or found < best[0]:
                best = found, row, (c, d)
    return best


def log(number):
    """The natural logarithm of a Fraction above 1, to the last bit of a float or nearly."""
    rest = number - 1
    bits = 80 + max(0, rest.denominator.bit_length() - rest.numerator.bit_length())
    with gmpy2.context(precision=bits):
        return float(gmpy2.log(gmpy2.mpq(number)))


def bound(views):
    """A Fraction that no X_c / X_d > 1 is below; None if none can differ: docs/mathematics/safety.md, c."""
    best = None
    n = len(views.attributes)
    for c, d in combinations(range(len(views.classes)), 2):
        p, q = int(views.class_counts[c]), int(views.class_counts[d])
        if p == 0 or q == 0:
            continue
        both = [
            [(int(row[c]), int(row[d])) for row in views.counts[name] if row[c] > 0 and row[d] > 0]
            for name in views.attributes
        ]
        if not all(both):
            continue
        common = math.gcd(p, q)
        p, q = (p // common, q // common) if n else (q // common, p // common)
        power = abs(n - 1)
        up = math.prod(max(pair[0] for pair in pairs) for pairs in both) * q**power
        down = math.prod(max(pair[1] for pair in pairs) for pairs in both) * p**power
        found = 1 + Fraction(1, min(up, down))
        if best is None or found < best:
            best = found
    return best


def order(views, row):
    """For each pair of classes c < d whether X_c > X_d: Definition 2."""
    x = reference.scores(views, row)
    return [x[c] > x[d] for c, d in combinations(range(len(x)), 2)]


def label(views, row):
    """The class of largest X, of several the last."""
    x = reference.scores(views, row)
    return max(range(len(x)), key=lambda c: (x[c], c))


def differing(a, b, preserve="order"):
    """The tuples, as mappings name -> value, that the two views order (or label) differently."""
    if len(a.classes) != len(b.classes) or not all(map(table.same, a.classes, b.classes)):
        raise ValueError("classes differ")
    judge = {"order": order, "label": label}[preserve]
    return [row for row in reference.tuples(a) if judge(a, row) != judge(b, row)]


def compare(a, b, preserve="order"):
    """How many tuples there are and how many of them differ."""
    return len(reference.tuples(a)), len(differing(a, b, preserve))
