"""What log-loss a published classifier is to be expected to have, from counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast.views.quality import log_shares

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

ENUMERATED = 100_000  # tuples that are all looked at
DRAWN = 2_000_000  # values drawn otherwise, of all classes and attributes


def expected_log_loss(private: Viewset, published: Viewset) -> float:
    """Mean of -ln of the published posterior of the true class, for rows as the private views have them.

    Exact up to floats for small domains, else over drawn tuples: the same ones in every run.
    """
    prior, before = log_shares(private)
    prior_after, after = log_shares(published)
    tuples = private.n_tuples
    if tuples * len(prior) <= ENUMERATED:
        shares, scores = prior[np.newaxis], prior_after[np.newaxis]
        for name, array in before.items():
            shares = (shares[:, np.newaxis] + array).reshape(-1, len(prior))
            scores = (scores[:, np.newaxis] + after[name]).reshape(-1, len(prior))
        return float((np.exp(shares) * _losses(scores)).sum())
    n_draws = max(200, min(4_000, DRAWN // (len(before) * len(prior))))
    total = 0.0
    for c, share in enumerate(np.exp(prior).tolist()):
        scores = np.tile(prior_after, (n_draws, 1))
        for i, (name, array) in enumerate(before.items()):
            ends = np.cumsum(np.exp(array[:, c]))
            drawn = np.searchsorted(ends, uniform_log_loss(n_draws, i, c) * ends[-1], side="right")
            scores += after[name][np.minimum(drawn, len(ends) - 1)]
        total += share * float(_losses(scores)[:, c].mean())
    return total


def _losses(scores: Floats) -> Floats:
    largest = scores.max(axis=1, keepdims=True)
    sums = np.log(np.exp(scores - largest).sum(axis=1, keepdims=True))
    losses: Floats = sums + largest - scores
    return losses


def uniform_log_loss(n: int, i: int, c: int) -> Floats:
    """Numbers of [0, 1) by SplitMix64, which no version of NumPy changes."""
    with np.errstate(over="ignore"):
        state = np.arange(n, dtype=np.uint64) + np.uint64((i << 24) ^ (c << 52))
        state *= np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return np.ldexp((state >> np.uint64(11)).astype(np.float64), -53)
