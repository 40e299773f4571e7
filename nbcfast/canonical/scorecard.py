"""`integers`: weights to points that people can add up, verified over the whole domain."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast.canonical.types import Box, EnumeratedBox, ListedBox, Scorecard, Solution

if TYPE_CHECKING:
    from nbcfast._threads import Progress


def integers(box, solution, bits=None, *, progress=None) -> Scorecard:
    """SKELETON: small domains."""
    codes = box.codes if isinstance(box, ListedBox) else np.array(list(itertools.product(*map(range, box.sizes))))
    labels = box.labels if isinstance(box, ListedBox) else box.labels(codes)
    S = Fraction(1, 2)
    while True:
        points = []
        for row in solution.scores:
            low = min(x[0] for x in row)
            points.append(np.array([[int((x[0] - low) * S + Fraction(1, 2))] for x in row], np.int64))
        sums = sum(array[codes[:, i], 0] for i, array in enumerate(points))
        most = max(int(a.max()) for a in points).bit_length()
        m1 = min(sums[labels == 0], default=None)
        m2 = max(sums[labels == 1], default=None)
        if bits is not None:
            if most > bits:
                S = S * Fraction(3, 4); continue
        ok = m1 is None or m2 is None or m1 > m2
        if ok or bits is not None:
            m1_ = int(m1) if m1 is not None else int(max(sums)) + 1
            m2_ = int(m2) if m2 is not None else m1_ - 1
            if m1 is None: m2_ = int(max(sums))
            threshold = m1_ if ok else (m1_ + m2_ + 1) // 2
            wrong = int(((sums >= threshold) != (labels == 0)).sum())
            centre = m1_ + m2_
            return Scorecard(tuple(points), (1 - threshold,), (m1_ - m2_) if m1 is not None and m2 is not None and ok else None,
                             int(np.abs(2 * sums - centre).max()), centre, S, most, wrong)
        S += Fraction(1, 4)
