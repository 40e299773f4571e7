"""One scan over groups: the most people with a value, and the fewest others, that decide what is safe.

docs/mathematics/skyline.md, section 5 (#skyline-5), proves that these tables decide every point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast import _skyline
from nbcfast._core.dtypes import Longs
from nbcfast._core.threads import n_threads, over_rows

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.groups.measures import Measures

MOST_PEOPLE = 1 << 61  # of a group: sums of knowledge and people stay within 63 bits
PAIR_BYTES = 12  # of a value and its count


class Scanned(NamedTuple):
    """The tables VN, TW and MO, one of the last two an l; fewest people, and different values, of a group."""

    vn: Longs
    tw: list[Longs]
    mo: list[Longs]
    k: int
    l: int


def histograms(groups: Measures) -> _skyline.Histograms:
    """The groups as kernels read them."""
    return _skyline.Histograms(groups.offsets, groups.values, groups.counts, groups.sizes)


def scanned(groups: Measures, ls: tuple[int, ...], threads: int | None, progress: Progress | None) -> Scanned:
    """One scan over the groups, for these l."""
    if int(groups.sizes.max()) >= MOST_PEOPLE:
        raise ValueError(f"a group must have less than 2^61 people, got {int(groups.sizes.max())}")
    kernel_groups = histograms(groups)
    most = groups.n_values  # from here on every W_l is 0
    wanted = np.array(sorted({min(l, most) for l in ls}), np.int64)
    scans = over_rows(
        lambda: _skyline.Scan(kernel_groups, groups.n_values, wanted),
        _skyline.Scan.add,
        groups.n_groups,
        threads=n_threads(threads, len(groups.values) * PAIR_BYTES),
        progress=progress,
    )
    tables = [scan.found() for scan in scans]  # of each thread
    keys, minima = _least([of_values for of_values, _ in tables])
    values, counts = keys[:, 0].copy(), keys[:, 1]
    places = np.searchsorted(wanted, [min(l, most) for l in ls]).tolist()
    fronts = []
    for j in range(1 + len(wanted)):
        others = np.ascontiguousarray(minima[:, j])
        keep = np.empty(len(values), np.uint8)
        _skyline.front(values, others, keep)
        kept = keep.view(np.bool_)
        fronts.append(np.stack([values[kept], counts[kept], others[kept]]))
    keys, minima = _least([(-modes, least) for _, (modes, least) in tables])
    keys = -keys  # by falling r_1 and rising n - r_1
    most_frequent = [
        front_modes(np.stack([keys[:, 0], minima[:, 1 + j], keys[:, 0], keys[:, 1]]))
        for j in range(len(wanted))
    ]
    return Scanned(
        fronts[0],
        [fronts[1 + place] for place in places],
        [most_frequent[place] for place in places],
        groups.k,
        groups.l,
    )


def _least(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """Keys (a, b) by rising a and falling b, each once, with its least values."""
    keys = np.concatenate([keys for keys, _ in parts])
    minima = np.concatenate([minima for _, minima in parts])
    order = np.lexsort((-keys[:, 1], keys[:, 0]))
    keys, minima = keys[order], minima[order]
    if len(parts) > 1:
        first = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
        keys, minima = keys[first], np.minimum.reduceat(minima, first, axis=0)
    return keys, minima


def front_modes(entries: Longs) -> Longs:
    """Sorted entries (a, w, c, n), without those for which another has at least a and c, at most w and n."""
    entries = np.ascontiguousarray(entries)
    keep = np.empty(entries.shape[1], np.uint8)
    _skyline.front_modes(entries[0], entries[1], entries[2], entries[3], keep)
    return np.ascontiguousarray(entries[:, keep.view(np.bool_)])
