"""`solve`: labels to weights. Nothing here has ever seen a count."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast.canonical.types import Box, EnumeratedBox, ListedBox, Solution

if TYPE_CHECKING:
    from nbcfast._threads import Progress


def solve(box: Box | EnumeratedBox | ListedBox, *, progress: Progress | None = None) -> Solution:
    """SKELETON: small domains by the reference."""
    if box.n_classes > 2:
        from nbcfast.canonical import classes

        return classes.solve(box, progress=progress)
    from nbcfast.reference import canonical as reference

    if isinstance(box, ListedBox):
        labels = {tuple(map(int, c)): int(x) for c, x in zip(box.codes, box.labels)}
    else:
        labels = dict(zip(itertools.product(*map(range, box.sizes)), box.enumerate().ravel().tolist()))
    g = reference.solve(labels)
    scores = tuple(tuple((x,) for x in row) for row in g)
    levels = tuple(tuple(sorted(set(row)).index(x) for x in row) for row in g)
    sums = [sum(g[i][t] for i, t in enumerate(c)) * (1 if label == 0 else -1) for c, label in labels.items()]
    return Solution(box.sizes, box.n_classes, scores, levels, max(map(abs, sums)), min(sums), True, 0, 0)
