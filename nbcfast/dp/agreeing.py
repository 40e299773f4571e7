"""`agreement`: on how many rows a noisy classifier is to be expected to say what the exact one says."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nbcfast._core.numbers import Numeral
from nbcfast._core.validation import whole
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.dp.draws import Coins, own_coins
from nbcfast.dp.making import counts
from nbcfast.views import Viewset
from nbcfast.views.noise import Neighbours, Noise

MOST_RUNS = 10_000
NOT_FOR_PUBLICATION = "computed from the private table, not for publication"


@dataclass(frozen=True)
class Agreement:
    """On how many rows noisy classifiers said what the exact one says: of private rows, and not to publish.

    Attributes
    ----------
    noise : Noise
        Of each of them.
    shares : tuple of Fraction
        Of the rows of the table, one share a run.
    """

    noise: Noise
    shares: tuple[Fraction, ...]

    @property
    def expected(self) -> Fraction:
        """Their mean."""
        return sum(self.shares, Fraction(0)) / len(self.shares)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of one run; None of a single one."""
        if len(self.shares) < 2:
            return None
        return statistics.stdev(map(float, self.shares))

    @property
    def share_text(self) -> str:
        """On how many rows, rounded down: some are not all."""
        runs = "1 run" if len(self.shares) == 1 else f"{len(self.shares):,} runs"
        spread = "" if self.deviation is None else f", standard deviation {self.deviation:.2%}"
        share = math.floor(10_000 * self.expected) / 100
        return f"{share:.2f}% of rows keep the class of the exact classifier ({runs}{spread})"

    @property
    def text(self) -> str:
        """What to tell the owner of the table, in one line, which says that it is for nobody else."""
        return f"at {self.noise.level} {self.share_text}: {NOT_FOR_PUBLICATION}, as no noise hides it"


def agreement(
    views: Viewset,
    table: AnyTable,
    *,
    epsilon: Numeral | None = None,
    delta: Numeral | None = None,
    rho: Numeral | None = None,
    neighbours: Neighbours = "add-remove",
    rows_per_person: int = 1,
    runs: int = 10,
    threads: int | None = None,
    coins: Coins | None = None,
) -> Agreement:
    """On which share of rows noisy counts are to be expected to decide as the exact ones.

    **Not for publication.** It is computed from the private table, and so is what it prints: who publishes
    it, or chooses epsilon by it and says so, has told more than the noise allows for.

    Parameters
    ----------
    views : Viewset
        As for `counts`.
    table : Table, or what it is made of
        The rows to decide, with the attributes of the views: those that were counted, or better others. A
        Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..).
    epsilon, delta, rho, neighbours, rows_per_person, coins
        As for `counts`.
    runs : int
        How often noise is drawn.
    threads : int, optional
        As for `Viewset.predict`.

    Returns
    -------
    Agreement

    Raises
    ------
    ValueError, TypeError
        As of `counts`; if the table has no rows, or a value that the views do not know.

    Examples
    --------
    >>> views = Viewset([3_000, 2_000], {"job": [[3_000, 0], [0, 2_000]]})
    >>> agreement(views, {"job": [0, 1, 1]}, epsilon=1).expected
    Fraction(1, 1)
    """
    n_runs = whole(runs, "runs", 1, MOST_RUNS)
    rows = table_from(table, columns=views.attributes)
    if rows.n_rows == 0:
        raise ValueError("table must have rows to decide, got none")
    source = own_coins() if coins is None else coins
    shares: list[Fraction] = []
    exact = None
    for _ in range(n_runs):
        private = counts(
            views,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            neighbours=neighbours,
            rows_per_person=rows_per_person,
            coins=source,
        )
        if exact is None:  # after the first noise, as `counts` says what is wrong with the views
            exact = views.predict(rows, codes=True, threads=threads)
        same = private.predict(rows, codes=True, threads=threads) == exact
        if rows.weights is None:
            shares.append(Fraction(int(np.count_nonzero(same)), rows.n_rows))
        else:
            shares.append(Fraction(int(rows.weights[same].sum()), int(rows.weights.sum())))
    assert private.noise is not None
    return Agreement(private.noise, tuple(shares))
