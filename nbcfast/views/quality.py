"""What a classifier is worth on a table, and the worst it says about anybody."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Array, Counts, Floats, Longs
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.table.table import Table
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views.viewset import Viewset

BLOCK = 1 << 16  # rows looked at together


@dataclass(frozen=True)
class Quality:
    """How a classifier does on a table.

    Attributes
    ----------
    rows : int
        Rows of the table, or their total weight.
    correct : int
        Those whose class it predicts, by exact decisions.
    log_loss : float
        Mean of -ln of the posterior X_c / (X_1 + .. + X_C) of the true class; infinite where that is 0.
    """

    rows: int
    correct: int
    log_loss: float

    @property
    def accuracy(self) -> float:
        return self.correct / self.rows

    def to_dict(self) -> Document:
        return {**asdict(self), "accuracy": self.accuracy}


@dataclass(frozen=True)
class WorstPosterior:
    """The largest posterior of any class at any tuple.

    Attributes
    ----------
    probability : float
    label : object
        The class.
    prior : float
        Its share of the rows.
    exact : bool
        Whether some tuple attains it, up to float64; otherwise, with three or more classes, none exceeds it.
    """

    probability: float
    label: Value
    prior: float
    exact: bool

    def to_dict(self) -> Document:
        return asdict(self)


def evaluate(
    views: Viewset, table: AnyTable, class_name: str, *, progress: Progress | None = None
) -> Quality:
    """Accuracy (exact) and log-loss (float64) of a naive Bayes classifier on a table.

    Parameters
    ----------
    views : Viewset
        The classifier.
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Its values must be known to the views; a class unknown to them is never predicted.
    class_name : str
        The column of the true class.
    progress : callable, optional
        Called as progress(done, total), in distinct rows.

    Returns
    -------
    Quality

    Raises
    ------
    ValueError
        If a column is missing, a value is unknown to the views, or there are no rows.

    Examples
    --------
    >>> import nbcfast
    >>> table = nbcfast.Table({"job": ["cook", "cook", "clerk"], "ill": ["yes", "no", "no"]})
    >>> quality = evaluate(nbcfast.count(table, "ill"), table, "ill")
    >>> quality.correct, round(quality.log_loss, 4)
    (2, 0.4621)
    """
    table = table_from(table, columns=[*views.attributes, class_name])
    if table.n_rows == 0:
        raise ValueError("table: no rows")
    distinct = table.select([*views.attributes, class_name]).collapse()
    weights = distinct.weights
    assert weights is not None
    column = distinct.column(class_name)
    truth = column.domain.positions_in(views.class_domain)[column.codes]
    predicted = views.predict(distinct, codes=True)
    correct = int(weights[predicted == truth].sum())

    total = 0.0
    for block, scores in score_blocks(views, distinct):
        total += float(_losses(scores, truth[block]) @ weights[block])
        if progress is not None:
            progress(block.stop, distinct.n_rows)
    rows = int(weights.sum())
    return Quality(rows, correct, total / rows)


def score_blocks(views: Viewset, table: Table) -> Iterator[tuple[slice, Floats]]:
    """The logarithms of the scores of all rows, block by block: which rows, and an array of rows x classes.

    X_c is taken as P_c prod N / P_c, shares before logarithms: those of very long integers would cancel.
    """
    priors, conditional = log_shares(views)
    logs = []
    for name, array in conditional.items():
        column = table.column(name)
        logs.append((column.codes, array[column.domain.positions_in(views.domains[name])]))
    for start in range(0, table.n_rows, BLOCK):
        block = slice(start, min(start + BLOCK, table.n_rows))
        scores: Floats = np.tile(priors, (block.stop - start, 1))
        for codes, looked_up in logs:
            scores += looked_up[codes[block]]
        yield block, scores


def _losses(scores: Floats, truth: Longs) -> Floats:
    """-ln of the posterior of the true class (-1: unknown) of each row."""
    of_truth = np.where(truth >= 0, scores[np.arange(len(scores)), truth], -np.inf)
    largest = scores.max(axis=1)
    possible = np.isfinite(of_truth)
    losses = np.full(len(scores), np.inf)
    shifted = scores[possible] - largest[possible, np.newaxis]
    losses[possible] = np.log(np.exp(shifted).sum(axis=1)) + largest[possible] - of_truth[possible]
    return losses


def worst_posterior(views: Viewset) -> WorstPosterior:
    """The largest posterior probability of any class, over all tuples of the domain; see `worst_posteriors`.

    Parameters
    ----------
    views : Viewset
        With rows in every class.

    Returns
    -------
    WorstPosterior

    Examples
    --------
    >>> import nbcfast
    >>> worst_posterior(nbcfast.Viewset([3, 3], [[[1, 2], [2, 1]], [[1, 2], [2, 1]]])).probability
    0.8
    """
    return max(worst_posteriors(views), key=lambda posterior: posterior.probability)


def worst_posteriors(views: Viewset) -> tuple[WorstPosterior, ...]:
    """The largest posterior probability of each class, over all tuples of the domain; in linear time.

    For two classes it is attained. For more it is a bound: each class is compared with every other where
    that other is weakest.

    Parameters
    ----------
    views : Viewset
        With rows in every class.

    Returns
    -------
    tuple of WorstPosterior

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([3, 6], [[[1, 2], [2, 4]], [[1, 4], [2, 2]]])
    >>> [round(posterior.probability, 3) for posterior in worst_posteriors(views)]
    [0.5, 0.8]
    """
    n_classes = len(views.classes)
    if not (views.class_counts > 0).all():
        raise ValueError("views: expected rows in every class")
    priors, conditional = log_shares(views)
    # ratios[c, d]: ln of the largest X_c / X_d over tuples with X_c > 0.
    ratios = priors[:, np.newaxis] - priors
    never = np.zeros(n_classes, bool)
    for logs in conditional.values():
        for c in range(n_classes):
            mine = logs[np.isfinite(logs[:, c])]
            if len(mine):
                ratios[c] += (mine[:, c : c + 1] - mine).max(axis=0)
            else:
                never[c] = True
    ratios[never] = -np.inf
    np.fill_diagonal(ratios, 0.0)
    with np.errstate(over="ignore"):
        probabilities = 1 / np.exp(-ratios).sum(axis=1)
    return tuple(
        WorstPosterior(float(probability), label, math.exp(float(prior)), n_classes <= 2)
        for probability, label, prior in zip(probabilities, views.classes, priors, strict=True)
    )


def log_shares(views: Viewset) -> tuple[Floats, dict[str, Floats]]:
    """Logarithms of P_c / R, and of N_{t,c} / P_c for each attribute; a class without rows has -inf."""
    prior = shares(views.class_counts, views.n_rows)
    wholes = np.where(views.class_counts == 0, 1, views.class_counts)
    with np.errstate(divide="ignore"):
        return np.log(prior), {name: np.log(shares(array, wholes)) for name, array in views.counts.items()}


def posteriors(views: Viewset, columns: Sequence[Array], tables: Sequence[Longs], winners: Array) -> Floats:
    """The posterior of each class in float64; the largest of a row is always that of its winner.

    Parameters
    ----------
    views : Viewset
        The classifier.
    columns, tables : sequence of ndarray, one an attribute
        Codes, and for each code the position of its value in the views; -1 is no factor of any class.
    winners : ndarray of int, shape (rows,)
        What is predicted for each row, as a position in the classes.
    """
    priors, conditional = log_shares(views)
    none = np.zeros((1, len(priors)))  # which -1 finds, as the last row
    looked_up = [
        np.concatenate([array, none])[table]
        for array, table in zip(conditional.values(), tables, strict=True)
    ]
    result = np.empty((len(winners), len(priors)))
    for start in range(0, len(winners), BLOCK):
        block = slice(start, start + BLOCK)
        scores = np.tile(priors, (len(winners[block]), 1))
        for codes, array in zip(columns, looked_up, strict=True):
            scores += array[codes[block]]
        result[block] = probabilities(scores, winners[block])
    return result


def probabilities(scores: Floats, winners: Array) -> Floats:
    """What logarithms of scores give, up to a factor a row; see `log_probabilities`."""
    return raised(np.exp(log_probabilities(scores, winners)), winners)


def log_probabilities(scores: Floats, winners: Array) -> Floats:
    """The logarithms of that, where every class of a row has score 0 those of equal posteriors."""
    most = scores.max(axis=1, keepdims=True, initial=-np.inf)
    # Where every class has score 0 nothing tells them apart.
    scores = np.where(np.isneginf(most), 0.0, scores)
    scores -= np.where(np.isneginf(most), 0.0, most)
    return raised(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)), winners)


def raised(scores: Floats, winners: Array) -> Floats:
    """The same with the winner's score just above the others', where rounding or a tie puts it elsewhere."""
    wrong = np.flatnonzero(scores.argmax(axis=1) != winners)
    scores[wrong, winners[wrong]] = np.nextafter(scores[wrong].max(axis=1), np.inf)
    return scores


def shares(parts: Counts, wholes: int | Counts) -> Floats:
    """Quotients, each rounded once: of int64 NumPy would round both numbers before it divides."""
    if (
        parts.dtype.kind != "O"
        and np.asarray(wholes).dtype.kind != "O"
        and np.max(wholes, initial=0) <= 2**53
    ):
        quotients: Floats = parts / wholes
        return quotients
    whole = wholes.astype(object) if isinstance(wholes, np.ndarray) else wholes
    return np.asarray(parts.astype(object) / whole).astype(np.float64)
