"""`answers`: from points back to the box of what they decide; `difference`: how two boxes differ."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nbcfast._core.dtypes import Int8s, Longs
from nbcfast._rounding.rows import SEARCHED
from nbcfast.canonical.boxes.sides import SweptSides
from nbcfast.canonical.boxes.types import AnyBox, Box, EnumeratedBox, HalvedBox, ListedBox, PairsBox, SweptBox
from nbcfast.canonical.rounding import Same, all_totals
from nbcfast.canonical.row_shares import IntegerScores
from nbcfast.canonical.weights.results import Scorecard

COUNTED = 1_000_000  # tuples whose answers are counted one by one where they are not held


def answers(card: Scorecard, like: AnyBox) -> AnyBox:
    """The box of what a scorecard says, of the same kind as `like`."""
    scores = IntegerScores.of(card)
    if isinstance(like, EnumeratedBox | ListedBox):
        totals = all_totals(scores, like.codes if isinstance(like, ListedBox) else None)
        orders = np.argsort(totals, axis=1, kind="stable")[:, ::-1]  # of equal totals the later class first
        labels = (orders if like.labels.ndim > 1 else orders[:, 0]).astype(np.int8)
        if isinstance(like, ListedBox):
            return ListedBox(like.sizes, like.n_classes, like.mode, like.codes, labels)
        return EnumeratedBox(like.sizes, like.n_classes, like.mode, labels)
    a, b = (_half_totals(scores, like, half) for half in (0, 1))
    a = a + np.array(scores.base, np.int64)
    pairs = list(combinations(range(like.n_classes), 2))
    leads = [(a[:, c] - a[:, d], b[:, c] - b[:, d]) for c, d in pairs]
    # c is before d where the sum of both leads is above 0: from these places on in b, sorted by its lead.
    above = [np.searchsorted(np.sort(lead_b), -lead_a, side="right") for lead_a, lead_b in leads]
    if isinstance(like, SweptBox):
        rank = np.empty((len(b), len(pairs)), np.int32)
        for p, (_, lead_b) in enumerate(leads):
            rank[np.argsort(lead_b, kind="stable"), p] = np.arange(len(b), dtype=np.int32)
        places = np.stack(above, axis=1).astype(np.int32), rank
        return SweptBox(
            like.sizes, like.half, like.n_classes, like.mode, *SweptSides(*places).counts(), places
        )
    K = np.stack([len(b) - first for first in above]).astype(np.int64)
    L = np.stack(
        [len(a) - np.searchsorted(np.sort(lead_a), -lead_b, side="right") for lead_a, lead_b in leads]
    ).astype(np.int64)
    if isinstance(like, Box):
        return Box(like.sizes, like.half, like.n_classes, like.mode, K[0], L[0])
    return PairsBox(like.sizes, like.half, like.n_classes, like.mode, K, L)


def _half_totals(scores: IntegerScores, like: HalvedBox, half: int) -> Longs:
    """What the points of the attributes of a half add up to, shape (combinations, classes)."""
    total: Longs = np.zeros((1, like.n_classes), np.int64)
    for i in like.attributes(half):
        rows = np.array(scores.points[i], np.int64)
        total = (total[:, np.newaxis] + rows).reshape(-1, like.n_classes)
    return total


def difference(target: AnyBox, other: AnyBox) -> Same:
    """Whether two boxes have the same answers, and where it can be counted how many differ."""
    method = "enumeration" if target.tuples <= SEARCHED else "meet in the middle"
    if other == target:
        return Same(True, 0, method)
    here, there = _countable(target), _countable(other)
    if here is None or there is None:
        return Same(False, None, "none")
    wrong = here != there
    return Same(False, int((wrong.any(axis=1) if wrong.ndim > 1 else wrong).sum()), method)


def _countable(box: AnyBox) -> Int8s | None:
    """The answers of a box tuple by tuple, or None where they are too many to be made for this."""
    if isinstance(box, HalvedBox) and box.tuples > (SEARCHED if isinstance(box, Box) else COUNTED):
        return None
    return box.flat()
