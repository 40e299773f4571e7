"""`answers`: from points back to the box of what they decide."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nbcfast.canonical.boxes.large import PairsBox, SweptBox
from nbcfast.canonical.boxes.sides import SweptSides
from nbcfast.canonical.boxes.types import Box, EnumeratedBox, ListedBox, Scorecard
from nbcfast.canonical.rounding import all_totals
from nbcfast.canonical.row_shares import Scores
from nbcfast.canonical.weights.solve import AnyBox


def answers(card: Scorecard, like: AnyBox) -> AnyBox:
    """The box of what a scorecard says, of the same kind as `like`."""
    scores = Scores.of(card)
    if isinstance(like, EnumeratedBox | ListedBox):
        totals = all_totals(scores, like.codes if isinstance(like, ListedBox) else None)
        backwards = np.argsort(totals, axis=1, kind="stable")[:, ::-1]  # of equal ones the later class first
        labels = (backwards if like.labels.ndim > 1 else backwards[:, 0]).astype(np.int8)
        if isinstance(like, ListedBox):
            return ListedBox(like.sizes, like.n_classes, like.mode, like.codes, labels)
        return EnumeratedBox(like.sizes, like.n_classes, like.mode, labels)
    halves = []
    for half in (0, 1):
        total = np.zeros((1, like.n_classes), np.int64)
        for i in like.attributes(half):
            rows = np.array(scores.points[i], np.int64)
            total = (total[:, np.newaxis] + rows).reshape(-1, like.n_classes)
        halves.append(total)
    a, b = halves[0] + np.array(scores.base, np.int64), halves[1]
    pairs = list(combinations(range(like.n_classes), 2))
    ahead = [(a[:, c] - a[:, d], b[:, c] - b[:, d]) for c, d in pairs]
    # c before d where the sum is above 0.
    above = [np.searchsorted(np.sort(two), -one, side="right") for one, two in ahead]
    if isinstance(like, SweptBox):
        places = np.stack(above, axis=1).astype(np.int32), np.empty((len(b), len(pairs)), np.int32)
        for p, (_, two) in enumerate(ahead):
            places[1][np.argsort(two, kind="stable"), p] = np.arange(len(b), dtype=np.int32)
        counts = SweptSides(*places).counts()
        return SweptBox(like.sizes, like.half, like.n_classes, like.mode, *counts, places)
    K = np.stack([len(b) - one for one in above]).astype(np.int64)
    L = np.stack(
        [len(a) - np.searchsorted(np.sort(one), -two, side="right").astype(np.int64) for one, two in ahead]
    )
    if isinstance(like, Box):
        return Box(like.sizes, like.half, like.n_classes, like.mode, K[0], L[0])
    return PairsBox(like.sizes, like.half, like.n_classes, like.mode, K, L)
