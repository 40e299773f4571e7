"""How far apart scores are that differ: what roots and rounding may use up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import gmpy2
import numpy as np

from nbcfast._core.products import product
from nbcfast.equivalence import margin
from nbcfast.transform.zeros import Filled

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


BASES = 16  # values that are tried to measure the others of an attribute by
LN2_BELOW = Fraction(6931471805599453, 10**16)  # ln 2, cut
MARGIN_DOMAIN = 10**12  # beyond, the margin is bounded instead of computed


def margin_of(filled: Filled, gauge: bool, progress: Progress | None = None) -> Fraction | None:
    """A lower bound of |ln X_c - ln X_d| over the comparisons that count; None if all of them are ties.

    With the gauge, and without zeros, a function of the ratios of scores alone, as all has to be that the
    release depends on.
    """
    flat, views = filled.flat, filled.views
    cap = LN2_BELOW * filled.guard if flat.zero.any() else None
    if flat.n_classes == 1:
        return cap
    found: Fraction | None = None
    if views.n_tuples <= MARGIN_DOMAIN:
        result = margin(views, progress=progress)
        if math.isinf(result.log):
            return cap
        if result.log > 1e-290:
            found = Fraction(result.log) * (1 - Fraction(1, 1 << 48))  # the float may be above the logarithm
    if found is None:
        least = least_of_ratios(filled) if gauge and cap is None else least_ratio(filled)
        if least is None:
            return cap
        found = Fraction(1, int(least) + 1)
    return found if cap is None else min(cap, found)


def least_ratio(filled: Filled) -> Any:
    """min(A^, B^) of the worst pair: |ln X_c - ln X_d| >= ln(1 + 1 / it) where the two differ.

    None where no tuple is positive in two classes. See docs/mathematics/safety.md, section c.
    """
    flat, n = filled.flat, filled.flat.n
    worst = None
    for c in range(flat.n_classes):
        for d in range(c):
            both = ~(flat.zero[:, c] | flat.zero[:, d])
            if n and not np.logical_or.reduceat(both, flat.starts[:-1]).all():
                continue
            sides = []
            common = math.gcd(flat.of_class[c], flat.of_class[d])
            for mine, theirs in ((c, d), (d, c)):
                if n:
                    column = np.where(both, flat.counts[:, mine], 0)
                    largest = np.maximum.reduceat(column, flat.starts[:-1]).tolist()
                    sides.append(product(largest) * gmpy2.mpz(flat.of_class[theirs] // common) ** (n - 1))
                else:
                    sides.append(gmpy2.mpz(flat.of_class[mine] // common))
            worst = min(sides) if worst is None else max(worst, min(sides))
    return worst


def least_of_ratios(filled: Filled) -> Any:
    """The same for views without zeros, from nothing but ratios of scores: those of a tuple, and how they
    change with each value. A few more bits than `least_ratio`.
    """
    flat, n, worst = filled.flat, filled.flat.n, gmpy2.mpz(1)
    for c in range(flat.n_classes):
        for d in range(c):
            tops, bottoms, own, other = [], [], [], []
            for start, stop in pairwise(flat.starts.tolist()):
                x, y = flat.counts[start:stop, c], flat.counts[start:stop, d]
                base, top, bottom = _changes(x, y)
                tops.append(top)
                bottoms.append(bottom)
                own.append(int(x[base]))
                other.append(int(y[base]))
            classes = gmpy2.mpq(flat.of_class[d], flat.of_class[c]) ** (n - 1)
            ratio = gmpy2.mpq(product(own), product(other)) * classes
            sides = product(tops) * ratio.numerator, product(bottoms) * ratio.denominator
            worst = max(worst, min(sides))
    return worst


def _changes(x: Any, y: Any) -> tuple[int, int, int]:
    """A value to start from, and the largest numerator and denominator of (x_t / y_t) / (x_base / y_base)."""
    common = np.gcd(x, y)
    x, y = x // common, y // common
    if x.dtype.kind == "O" or max(int(x.max()), int(y.max())) >= 1 << 31:
        x, y = x.astype(object), y.astype(object)
    tops, bottoms = x[:, np.newaxis] * y[:BASES], y[:, np.newaxis] * x[:BASES]
    common = np.gcd(tops, bottoms)
    most = list(
        zip((tops // common).max(axis=0).tolist(), (bottoms // common).max(axis=0).tolist(), strict=True)
    )
    base = min(range(len(most)), key=lambda t: most[t][0] * most[t][1])
    return base, most[base][0], most[base][1]
