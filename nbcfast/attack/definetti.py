"""The deFinetti attack: who learns a model from a partition guesses better than its groups alone allow.

After Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Floats, Longs
from nbcfast._core.untyped import Document
from nbcfast._core.validation import positive
from nbcfast._reading.source import AnyTable, rows_from
from nbcfast.attack.queries import check_kinds
from nbcfast.table import SUPPRESSED, Table
from nbcfast.table.domain import Domain
from nbcfast.table.table import equal_rows
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


INNER = 20  # times that rows and groups are brought into line in a round
MOST_GUESSES = 1 << 25  # probabilities: a few arrays of so many floats take a gigabyte or two
CHANGE = 1e-4  # a round that moves no probability by more is the last


class TemplateLike(Protocol):
    """A template: its first `sensitive` is the name of a column."""

    @property
    def sensitive(self) -> tuple[str, Value]: ...


@runtime_checkable
class Disclosed(Protocol):
    """A table whose values are suppressed where templates ask for it, as `templates.disclose` makes it."""

    @property
    def table(self) -> Table: ...
    @property
    def templates(self) -> Sequence[TemplateLike]: ...
    @property
    def quasi(self) -> Sequence[str]: ...


class TooManyGuessesError(ValueError):
    """The people differ in more ways than the attack has room for."""


@dataclass(frozen=True, repr=False, eq=False)
class DeFinetti:
    """What the attack found.

    Attributes
    ----------
    accuracy : float
        The share of people whose value is guessed right.
    baseline : float
        The same for one who always guesses the most frequent value of the group.
    worst : float
        The greatest probability that the attack gives to any value of anybody in a group of several values.
    held_out : float or None
        The accuracy on the held-out records.
    gain : float or None
        `accuracy` less `held_out`: what being in the data costs. The rest is what the model knows of
        everybody.
    predicted : ndarray of int64
        For each row the position, in the domain of the sensitive column, of the value guessed.
    confidence : ndarray of float64
        Its probability.
    rounds : int
        How often the model was learned.
    """

    accuracy: float
    baseline: float
    worst: float
    held_out: float | None
    gain: float | None
    predicted: Longs
    confidence: Floats
    rounds: int

    def to_dict(self) -> Document:
        """The numbers, without the arrays."""
        names = ("accuracy", "baseline", "worst", "held_out", "gain", "rounds")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        gain = "" if self.gain is None else f", gain over held-out records {self.gain:+.2%}"
        return (
            f"DeFinetti(accuracy {self.accuracy:.2%}, of the groups alone {self.baseline:.2%}, "
            f"worst confidence {self.worst:.2%}{gain})"
        )


def definetti(
    table: AnyTable | Disclosed,
    group_ids: npt.ArrayLike | Disclosed | None = None,
    sensitive: str | None = None,
    *,
    truth: Iterable[Value] | None = None,
    holdout: AnyTable | tuple[AnyTable, npt.ArrayLike] | None = None,
    rounds: int = 50,
    progress: Progress | None = None,
) -> DeFinetti:
    """Attack a partition, or a suppressed table, with a naive Bayes model that is learned from it.

    The adversary knows everybody's quasi-identifiers and group, and how often each sensitive value occurs in
    each group. A model that gives each value a probability for each person is learned from the groups, used
    to improve the guesses within them, and learned again; within a group the guesses always add up to what
    is published.

    Parameters
    ----------
    table : Table, or what it is made of, or Disclosure
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..), or a Disclosure. The people:
        quasi-identifiers as the adversary knows them (exact, or generalised), and the sensitive column. Of
        that only how often each value occurs in each group is used. SUPPRESSED tells nothing. Of a Disclosure
        it is the released table, the columns that no template takes for known left out.
    group_ids : array_like of int, or Disclosure, optional
        The group of each row, as `Partition.group_ids`. Of a Disclosure, whose rows are those of `table`, the
        groups are equal released rows: of the columns that its templates take for known, less the sensitive
        one. None stands for equal rows of `table` itself, which knows of people just what is released, so
        that all of a group look alike; who knows the exact values, as in a private table, learns more.
    sensitive : str, optional
        The column to guess; all others are quasi-identifiers. By default that of the templates of a
        Disclosure, if they have only one.
    truth : sequence, optional
        The true value of each row, where the sensitive column is not in the order of the rows.
    holdout : Table, or what it is made of, or (Table, group ids), optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). People who are not in the data, with
        their values. The model is used on them; with group ids (-1 for none) as if they were in that group.
    rounds : int
        The model is learned at most so often.
    progress : callable, optional
        Called as progress(done, total), in rounds.

    Returns
    -------
    DeFinetti

    Raises
    ------
    ValueError
        If there are no rows, lengths differ, or columns are missing; or if different rows of a group (or
        values of a column) times sensitive values are more than 2^25.

    Examples
    --------
    >>> smokes = ["yes", "yes", "no", "no", "yes", "no"]
    >>> table = Table({"smokes": smokes, "ill": ["cancer", "cancer", "flu", "flu", "cancer", "flu"]})
    >>> definetti(table, [0, 0, 1, 1, 2, 2], "ill")
    DeFinetti(accuracy 100.00%, of the groups alone 83.33%, worst confidence 75.00%)

    A table in which values are suppressed, attacked by who knows them all the same (and learns nothing, as
    there is only one group in which to learn):

    >>> from nbcfast.templates import Template, disclose
    >>> jobs = ["cook", "cook", "cook", "cook", "clerk", "judge", "clerk", "judge"]
    >>> table = Table({"job": jobs, "ill": ["no", "no", "no", "yes", "no", "yes", "no", "yes"]})
    >>> made = disclose(table, [Template(["job"], ("ill", "yes"), "1/2")], utility="distortion")
    >>> made.suppressed["job"]
    ('clerk', 'judge')
    >>> definetti(table, made)
    DeFinetti(accuracy 62.50%, of the groups alone 62.50%, worst confidence 75.00%)
    """
    people, ids, sensitive = _attacked(table, group_ids, sensitive)
    rounds = positive(rounds, "rounds")
    secret = people.column(sensitive)
    names = [name for name in people.names if name != sensitive]
    groups, n_groups = numbered_groups(ids, people.n_rows)
    weights = np.ones(people.n_rows) if people.weights is None else people.weights.astype(np.float64)
    right = secret.codes if truth is None else _codes_of(truth, secret.domain, people.n_rows)
    model = SecretsModel(people, names, groups, n_groups, secret.codes, len(secret.domain), weights)
    done = model.learn(rounds, progress)
    probabilities = model.probabilities
    guesses = probabilities.argmax(axis=1)
    certainty = probabilities.max(axis=1)
    predicted = guesses[model.cell_of]
    n_people = float(weights.sum())
    accuracy = float(weights[predicted == right].sum()) / n_people
    baseline = float(model.histograms.max(axis=1).sum()) / n_people
    mixed = (model.histograms > 0).sum(axis=1)[model.groups] > 1
    worst = float(certainty[mixed].max()) if mixed.any() else 1.0
    held_out = None if holdout is None else _held_out(model, holdout, people, names, sensitive, groups, ids)
    return DeFinetti(
        accuracy,
        baseline,
        worst,
        held_out,
        None if held_out is None else accuracy - held_out,
        predicted,
        certainty[model.cell_of],
        done,
    )


def _attacked(
    table: AnyTable | Disclosed, group_ids: npt.ArrayLike | Disclosed | None, sensitive: str | None
) -> tuple[Table, npt.ArrayLike, str]:
    """The people, their groups, and the column to guess."""
    released = next((one for one in (group_ids, table) if isinstance(one, Disclosed)), None)
    if released is not None and sensitive is None:
        secrets = sorted({template.sensitive[0] for template in released.templates})
        if len(secrets) > 1:
            raise ValueError(f"sensitive: expected one of {', '.join(map(repr, secrets))}; got None")
        (sensitive,) = secrets
    if not isinstance(sensitive, str):
        raise TypeError(f"sensitive must be the name of a column, got {sensitive!r}")
    known = [] if released is None else [name for name in released.quasi if name != sensitive]
    if isinstance(table, Disclosed):
        people = table.table.select([*known, sensitive])
    else:
        people = rows_from(table, "give the rows that were published, as a Table", also="a Disclosure")
    if people.n_rows == 0:
        raise ValueError("no rows")
    if isinstance(group_ids, Disclosed):
        return people, equal_rows(group_ids.table, known), sensitive
    if group_ids is None:
        group_ids = equal_rows(people, [name for name in people.names if name != sensitive])
    return people, group_ids, sensitive


class SecretsModel:
    """A naive Bayes model of the people of groups, who are alike in cells of equal rows of a group."""

    def __init__(
        self,
        table: Table,
        names: list[str],
        groups: Longs,
        n_groups: int,
        secrets: Array,
        n_values: int,
        weights: Floats,
    ) -> None:
        ids = groups
        for name in names:
            keys = ids * len(table.domain(name)) + table.codes(name).astype(np.int64)
            ids = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        # Cells keep the order of groups: each step refines the one before.
        n_cells = int(ids.max()) + 1
        widest = max([n_cells, *(len(table.domain(name)) for name in names)])
        if widest * n_values > MOST_GUESSES:
            raise TooManyGuessesError(
                f"the attack gives a probability to each of {n_values:,} values for each of {widest:,} kinds "
                f"of people, and has room for {MOST_GUESSES:,}"
            )
        firsts = np.full(n_cells, -1, np.int64)
        firsts[ids[::-1]] = np.arange(len(ids))[::-1]
        self.cell_of = ids
        self.groups = groups[firsts]
        self.people = np.bincount(ids, weights)
        self.n_values = n_values
        self.histograms = np.bincount(groups * n_values + secrets, weights, n_groups * n_values).reshape(
            n_groups, n_values
        )
        self.starts = np.flatnonzero(np.diff(self.groups, prepend=-1))
        self.codes = {name: table.codes(name)[firsts].astype(np.int64) for name in names}
        self.domains = {name: table.column(name).domain for name in names}
        self.probabilities = (self.histograms / self.histograms.sum(axis=1, keepdims=True))[self.groups]
        self.prior = np.zeros(n_values)
        self.conditional: dict[str, Floats] = {}
        self.factors = np.ones_like(self.histograms)

    def learn(self, rounds: int, progress: Progress | None) -> int:
        for done in range(1, rounds + 1):
            before = self.probabilities
            self._fit()
            self._guess()
            if progress is not None:
                progress(done, rounds)
            if float(np.abs(self.probabilities - before).max()) <= CHANGE:
                break
        return done

    def _fit(self) -> None:
        """Shares from the present guesses; one person of each kind is added, so that none is 0."""
        weighted = self.probabilities * self.people[:, None]
        totals = weighted.sum(axis=0)
        self.prior = np.log((totals + 1) / (totals.sum() + self.n_values))
        for name, codes in self.codes.items():
            size = len(self.domains[name])
            counts = np.empty((size, self.n_values))
            for value in range(self.n_values):
                counts[:, value] = np.bincount(codes, weighted[:, value], size)
            self.conditional[name] = np.log((counts + 1) / (counts.sum(axis=0) + size))
            if SUPPRESSED in self.domains[name].tail:
                self.conditional[name][-1] = 0.0

    def scores(self, codes: dict[str, Longs], n: int) -> Floats:
        """For rows of codes (-1: unknown) the likelihood of each value, the greatest being 1."""
        logs = np.repeat(self.prior[None], n, axis=0)
        for name, column in codes.items():
            known = column >= 0
            logs[known] += self.conditional[name][column[known]]
        logs -= logs.max(axis=1, keepdims=True)
        return np.maximum(np.exp(logs), 1e-300)

    def _guess(self) -> None:
        """Likelihoods, brought into line with what is published of each group."""
        scores = self.scores(self.codes, len(self.people))
        factors = np.ones_like(self.histograms)
        for _ in range(INNER):
            guesses = scores * factors[self.groups]
            guesses /= guesses.sum(axis=1, keepdims=True)
            sums = np.add.reduceat(guesses * self.people[:, None], self.starts, axis=0)
            step = np.divide(self.histograms, sums, out=np.zeros_like(sums), where=sums > 0)
            factors *= step
            if float(np.abs(sums - self.histograms).max()) <= 1e-6 * float(self.people.max()):
                break
        guesses = scores * factors[self.groups]
        self.probabilities = guesses / guesses.sum(axis=1, keepdims=True)
        self.factors = factors


def numbered_groups(group_ids: npt.ArrayLike, n_rows: int) -> tuple[Longs, int]:
    """Groups as numbers from 0 without gaps, and how many there are."""
    ids = np.asarray(group_ids)
    if ids.ndim != 1 or len(ids) != n_rows:
        raise ValueError(f"group_ids: expected one for each of {n_rows} rows, got shape {ids.shape}")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"group_ids must be integers, got {ids.dtype}")
    distinct, positions = np.unique(ids, return_inverse=True)
    return positions.astype(np.int64), len(distinct)


def _codes_of(values: Iterable[Value], domain: Domain, n_rows: int) -> Longs:
    """Positions in the domain; -1 for values that it has not."""
    column = Table({"truth": values}).column("truth")
    if len(column.codes) != n_rows:
        raise ValueError(f"truth: expected one value for each of {n_rows} rows, got {len(column.codes)}")
    check_kinds(column.domain, domain, "truth", "the sensitive column")
    return column.domain.positions_in(domain)[column.codes]


def _held_out(
    model: SecretsModel,
    holdout: AnyTable | tuple[AnyTable, npt.ArrayLike],
    table: Table,
    names: list[str],
    sensitive: str,
    groups: Longs,
    group_ids: npt.ArrayLike,
) -> float:
    """The accuracy on people who are not in the data."""
    if isinstance(holdout, tuple) and len(holdout) != 2:
        raise ValueError(f"holdout: expected a Table, or (Table, group ids), got a tuple of {len(holdout)}")
    others, ids = holdout if isinstance(holdout, tuple) else (holdout, None)
    others = rows_from(others, "give the rows that were held out, as a Table", "holdout")
    n = others.n_rows
    if n == 0:
        raise ValueError("holdout: no rows")
    codes = {}
    for name in names:
        column = others.column(name)
        codes[name] = column.domain.positions_in(model.domains[name])[column.codes]
    scores = model.scores(codes, n)
    if ids is not None:
        group_of_other = np.asarray(ids)
        if group_of_other.shape != (n,):
            raise ValueError(
                f"holdout: expected a group for each of {n} rows, got shape {group_of_other.shape}"
            )
        if group_of_other.dtype.kind not in "iu":
            raise TypeError(f"holdout: group ids must be integers, got {group_of_other.dtype}")
        known, first = np.unique(np.asarray(group_ids), return_index=True)
        place = np.searchsorted(known, group_of_other)
        inside = (place < len(known)) & (known[np.minimum(place, len(known) - 1)] == group_of_other)
        scores[inside] *= model.factors[groups[first[place[inside]]]]
    secret = others.column(sensitive)
    for name in (*names, sensitive):
        domain = table.column(name).domain
        check_kinds(others.column(name).domain, domain, f"holdout: column {name!r}", "the table")
    right = secret.domain.positions_in(table.column(sensitive).domain)[secret.codes]
    weights = np.ones(n) if others.weights is None else others.weights
    return float(weights[scores.argmax(axis=1) == right].sum() / weights.sum())
