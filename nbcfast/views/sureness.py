"""How sure a classifier is of each row: shares of rows by their posterior, in one pass over distinct rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.views.quality import score_blocks

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

BINS = 40


@dataclass(frozen=True)
class Sureness:
    """How many rows have which posterior.

    With two classes it is that of the first; with more, that of the class that is most probable at the row.

    Attributes
    ----------
    shares : tuple of float
        Of the rows, one a bin of equal width from 0 to 1; a posterior of 1 is in the last.
    certain : float
        The share of rows of which some class is certain: all others have the posterior 0.
    """

    shares: tuple[float, ...]
    certain: float

    def beyond(self, low: float, high: float) -> float:
        """The share of rows in bins outside of [low, high], where these are ends of bins or within them."""
        width = 1 / len(self.shares)
        return sum(
            share
            for place, share in enumerate(self.shares)
            if (place + 1) * width <= low + 1e-12 or place * width >= high - 1e-12
        )


def sureness(views: Viewset, table: AnyTable, bins: int = BINS) -> Sureness:
    """How sure a classifier is of each row of a table.

    Parameters
    ----------
    views : Viewset
        The classifier.
    table : Table, or what it is made of
        With values that the views know; the class is not needed.
    bins : int
        Of equal width.

    Returns
    -------
    Sureness

    Raises
    ------
    ValueError
        If a column is missing, a value is unknown to the views, or there are no rows.

    Examples
    --------
    >>> import nbcfast
    >>> table = nbcfast.Table({"job": ["cook", "cook", "clerk"], "ill": ["yes", "no", "no"]})
    >>> sureness(nbcfast.count(table, "ill"), table, 4)
    Sureness(shares=(0.0, 0.0, 0.6666666666666666, 0.3333333333333333), certain=0.3333333333333333)
    """
    table = table_from(table, columns=views.attributes)
    if table.n_rows == 0:
        raise ValueError("table: no rows")
    distinct = table.select(list(views.attributes)).collapse() if views.attributes else table
    weights = np.ones(distinct.n_rows, np.int64) if distinct.weights is None else distinct.weights
    counts = np.zeros(bins)
    certain = 0.0
    for block, scores in score_blocks(views, distinct):
        posteriors = _posteriors(scores)
        of = posteriors[:, 0] if len(views.classes) == 2 else posteriors.max(axis=1)
        # What rounding puts above 1 is in the last bin too.
        places = np.clip((of * bins).astype(np.int64), 0, bins - 1)
        counts += np.bincount(places, weights=weights[block], minlength=bins)
        certain += float(weights[block][(scores > -np.inf).sum(axis=1) <= 1].sum())
    total = float(weights.sum())
    return Sureness(tuple((counts / total).tolist()), certain / total)


def _posteriors(scores: Floats) -> Floats:
    """X_c / (X_1 + .. + X_C) of each row; of a row that no class can have, equal ones."""
    largest = scores.max(axis=1, keepdims=True)
    shifted = np.where(np.isfinite(largest), scores - largest, 0.0)
    odds = np.exp(shifted)
    shares: Floats = odds / odds.sum(axis=1, keepdims=True)
    return shares
