"""How far apart scores are that differ: what roots and rounding may use up.

The bounds are proved in docs/mathematics/safety.md, section c; why they have to be functions of the ratios of
scores alone with the gauge, in section m.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._core.products import product
from nbcfast._core.untyped import Exact
from nbcfast.equivalence import margin
from nbcfast.transform.zeros import Filled

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


BASES = 16  # values that are tried to measure the others of an attribute by
LN2_BELOW = Fraction(6931471805599453, 10**16)  # ln 2, cut
MARGIN_DOMAIN = 10**12  # beyond, the margin is bounded instead of computed by sorting 10^6 sums of a half


def deciding_margin(filled: Filled, gauge: bool, progress: Progress | None = None) -> Fraction | None:
    """A lower bound of |ln X_c - ln X_d| over the comparisons that count; None if all of them are ties.

    With the gauge, and without zeros, a function of the ratios of scores alone, as all has to be that the
    release depends on.
    """
    flat, views = filled.flat, filled.views
    cap = LN2_BELOW * filled.guard if flat.zero.any() else None
    if flat.n_classes == 1:
        return cap
    computed: Fraction | None = None
    if views.n_tuples <= MARGIN_DOMAIN:
        result = margin(views, progress=progress)
        if math.isinf(result.log):
            return cap
        if result.log > 1e-290:
            # Down, as the float may be above the logarithm.
            computed = Fraction(result.log) * (1 - Fraction(1, 1 << 48))
    if computed is None:
        # With the gauge equal ratios of scores have to give the same file, and `least_ratio` reads counts.
        # With zeros a release depends on more than ratios in any case, and the tighter bound may be taken.
        least = least_of_ratios(filled) if gauge and cap is None else least_ratio(filled)
        if least is None:
            return cap
        computed = Fraction(1, int(least) + 1)  # ln(1 + 1 / M) >= 1 / (M + 1)
    return computed if cap is None else min(cap, computed)


def least_ratio(filled: Filled) -> Exact | None:
    """min(A^, B^) of the worst pair: |ln X_c - ln X_d| >= ln(1 + 1 / it) where the two differ.

    None where no tuple is positive in two classes.
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
            for above, below in ((c, d), (d, c)):
                if n:
                    column = np.where(both, flat.counts[:, above], 0)
                    largest = np.maximum.reduceat(column, flat.starts[:-1]).tolist()
                    sides.append(product(largest) * gmpy2.mpz(flat.of_class[below] // common) ** (n - 1))
                else:
                    sides.append(gmpy2.mpz(flat.of_class[above] // common))
            worst = min(sides) if worst is None else max(worst, min(sides))
    return worst


def least_of_ratios(filled: Filled) -> Exact:
    """`least_ratio` of views without zeros, from nothing but ratios of scores.

    X_c / X_d is its value at one tuple times the factors by which it changes with each value, each in lowest
    terms. That takes a few more bits than `least_ratio`.
    """
    flat, n, worst = filled.flat, filled.flat.n, gmpy2.mpz(1)
    for c in range(flat.n_classes):
        for d in range(c):
            tops, bottoms, base_counts, base_counts_too = [], [], [], []
            for start, stop in pairwise(flat.starts.tolist()):
                x, y = flat.counts[start:stop, c], flat.counts[start:stop, d]
                base, top, bottom = _changes(x, y)
                tops.append(top)
                bottoms.append(bottom)
                base_counts.append(int(x[base]))
                base_counts_too.append(int(y[base]))
            classes = gmpy2.mpq(flat.of_class[d], flat.of_class[c]) ** (n - 1)
            ratio = gmpy2.mpq(product(base_counts), product(base_counts_too)) * classes
            sides = product(tops) * ratio.numerator, product(bottoms) * ratio.denominator
            worst = max(worst, min(sides))
    return worst


def _changes(x: Counts, y: Counts) -> tuple[int, int, int]:
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
