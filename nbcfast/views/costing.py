"""Scales of costs: how many units of 16 bits the kernel takes a natural logarithm for.

Whatever is chosen here, predictions are the same: `src/costs.h` proves which rows the units decide, and
floats and exact integers are asked about the others. A good choice leaves few others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast._core.joint import JointTables

MOST_COST = 65_535
# Natural logarithms: of classes nearer than this floats are asked again, which takes ten times as long. Where
# one sum of 16 bits cannot tell them apart, a row takes several, each of as many tables as pay for it.
NEAR = 0.01
LEAST_TABLES = 4
LEAST = -1e300  # below every finite logarithm


class Scale(NamedTuple):
    """Units in a natural logarithm, and the highest cost of an entry."""

    unit: float
    cap: int


NO_SCALE = Scale(0.0, MOST_COST)  # no costs


def scale(logs: Floats, base: Floats, sizes: Sequence[int], groups: JointTables) -> Scale:
    """A scale for logarithms N of (all codes, classes), and up / down of each class.

    The cap, which stands for N = 0, is the highest cost that any other entry may have.
    """
    n = len(sizes)
    widths = np.array(sizes, np.int64)
    known = widths > 0
    shifted = logs + np.where(np.isfinite(base), base, 0.0) / n
    costs = shifted.max(axis=1, keepdims=True, initial=LEAST) - shifted
    highest = np.zeros(n)
    if known.any():
        starts = (np.cumsum(widths) - widths)[known]
        finite = np.where(costs < -LEAST / 2, costs, 0.0).max(axis=1)
        highest[known] = np.maximum.reduceat(finite, starts)
    shared = np.zeros(n, np.bool_)
    shared[groups.members] = True
    joint = (
        np.add.reduceat(highest[groups.members], groups.first[:-1]) if len(groups.members) else np.zeros(0)
    )
    tops = np.concatenate([joint, highest[~shared]])
    n_parts, most = len(tops), float(tops.max())
    if not most:
        return Scale(1.0, 1)
    # Where N = 0 occurs, any table may hold the cap.
    reach = float(tops.sum()) if np.isfinite(logs).all() and np.isfinite(base).all() else n_parts * most
    n_sums = min(max(1.0, n_parts * reach / (NEAR * MOST_COST)), max(1.0, n_parts / LEAST_TABLES))
    # Rounding adds up to a half in each table, and one to what the cap stands above.
    room = max(1.0, n_sums * MOST_COST - 2 * n_parts)
    unit = min(room / reach, (MOST_COST - 2) / most)
    return Scale(unit, min(MOST_COST, int(most * unit) + 2))
