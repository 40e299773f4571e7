"""Membership: can presence in the private table be told from the release?

Decisions and their reasons: docs/mathematics/safety.md, section o.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.attack.queries import check_kinds, viewset
from nbcfast.table import Table, concat
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, code_dtype
from nbcfast.views import count
from nbcfast.views.quality import log_shares

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset


BLOCK = 1 << 16  # rows scored together
MOST_ROWS = 10**9  # NumPy draws halves of no more
TIE = 1e-9  # scores no further apart are equal: sums of a few hundred logarithms are rounded by less
SPLIT = 20_090_824  # seeds the halves: they are the same for the same holdout
DEVIATIONS = 5  # standard deviations by which chance misses what is expected of new rows
SAME = (
    "expected other rows of the same population, got the rows of the table itself: what cannot be "
    "told from itself says nothing of the release"
)


@dataclass(frozen=True, repr=False)
class Membership:
    """What `membership` found.

    Attributes
    ----------
    auc : float
        The probability that a row of the table scores higher than one of the holdout, ties counted half: 1/2
        where the release tells nothing. NaN where nothing was measured.
    standard_error : float
        Of it, over the draw of the rows.
    members, others : int
        Rows that were scored: of the table, and of one half of the holdout.
    impossible : int
        Rows of that half that the release rules out, mostly by a value that it does not have: they cannot be
        members, and count as told.
    left_out : int
        Rows of the table that the release rules out, and so cannot have been made of: they are not scored.
        Where any are, this is another table than that of the release, or not all of it was read as it was.
    repeated : int
        About how many rows of the holdout also stand in the table beyond what chance explains, 0 where it
        explains them: nothing can be told of these.
    """

    auc: float
    standard_error: float
    members: int
    others: int
    impossible: int
    left_out: int = 0
    repeated: int = 0

    @property
    def measured(self) -> bool:
        """Whether any row of the table could be scored."""
        return self.members > 0

    @property
    def deviations(self) -> float:
        """How many standard errors the AUC is above 1/2."""
        gain = self.auc - 0.5
        if self.standard_error == 0:
            return math.copysign(math.inf, gain) if gain else 0.0
        return gain / self.standard_error

    @property
    def text(self) -> str:
        """What was found, in words; 1/2 would be nothing."""
        if not self.measured:
            return (
                f"not measured: none of the {self.left_out:,} rows of the table can be a row of the release; "
                "is it the table that the release was made of, and read the same way?"
            )
        said = f"{self.auc:.4f} +- {self.standard_error:.4f} (standard error; 1/2 would be nothing found)"
        if self.impossible:
            said += f"; {self.impossible:,} of the {self.others:,} others cannot be rows of the release"
            if self.impossible == self.others:
                said += ": are they of the same population, and read the same way?"
        if self.left_out:
            said += (
                f"; without {self.left_out:,} of the {self.members + self.left_out:,} rows of the table, "
                "which cannot be rows of the release either: was it made of another table?"
            )
        if self.repeated:
            said += (
                f"; about {self.repeated:,} rows of the holdout stand in the table beyond what chance "
                "explains: without them more would be told"
            )
        return said

    def to_dict(self) -> Document:
        """Plain values; None for what was not measured."""
        fields = asdict(self)
        if not self.measured:
            fields["auc"] = fields["standard_error"] = None
        return {**fields, "text": self.text}

    def __repr__(self) -> str:
        if not self.measured:
            return f"Membership({self.text})"
        lost = f"; {self.left_out} rows left out" if self.left_out else ""
        return (
            f"Membership(AUC {self.auc:.4f} +- {self.standard_error:.4f}; "
            f"{self.members} rows against {self.others}{lost})"
        )


def membership(
    release: Release | Viewset,
    table: AnyTable,
    holdout: AnyTable,
    class_name: str | None = None,
    *,
    progress: Progress | None = None,
) -> Membership:
    """Whether an adversary can tell from the release which rows were in the table.

    He scores a row by the logarithm of its probability in the release, summed over the classes, less that
    under a model of the population: naive Bayes (Laplace smoothing 1/2) of a half of the holdout. Scored
    are the rows of the table and those of the other half.

    Parameters
    ----------
    release : Release or Viewset
        What was published.
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private rows it was made of. Weights count as rows.
    holdout : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Other rows of the same population, at least 4. The rows of the table itself are refused, in
        whatever order, and so is a holdout that is mostly made of them: nothing can be told from itself, and
        that would say nothing of the release. By Good and Turing's rule a further row of the population is
        none that the table has with the probability of the rows that it has once; where less than half of the
        rows so expected are new, by five standard deviations at least, the holdout is refused, and where
        fewer are, by as many, that is said.
    class_name : str, optional
        The class column; by default that of the release.
    progress : callable, optional
        Called as progress(done, total), in distinct rows.

    Returns
    -------
    Membership
        The AUC by ranks, in O(n log n), with DeLong's standard error; scores within 1e-9 of the
        next are ties.
        The halves are drawn from the rows in sorted order with a fixed seed, so neither chance nor the order
        of rows changes the result.

    Raises
    ------
    TypeError
        If a column holds values of another kind than the release, such as numbers in place of its intervals.
    ValueError
        If a table lacks columns or rows, if the holdout is the table or mostly made of its rows, or the name
        of the class is not known.

    Examples
    --------
    >>> import nbcfast
    >>> table = nbcfast.Table({"job": ["cook", "clerk"] * 20, "ill": ["yes", "no"] * 20})
    >>> holdout = nbcfast.Table({"job": ["cook", "clerk"] * 20, "ill": ["no", "yes"] * 20})
    >>> release = nbcfast.safety_transform(nbcfast.count(table, "ill"), 4, rows=1000, class_name="ill")
    >>> membership(release, table, holdout)
    Membership(AUC 0.4750 +- 0.0697; 40 rows against 20)
    """
    views = viewset(release, "release")
    name = class_name if class_name is not None else getattr(release, "class_name", None)
    if name is None:
        raise ValueError("class_name must be given: the release does not name its class column")
    if not isinstance(name, str):
        raise TypeError(f"class_name must be a text, got {name!r}")
    columns = [*views.attributes, name]
    tables: dict[str, Table] = {}
    for where, argument in (("table", table), ("holdout", holdout)):
        tables[where] = each = table_from(argument, where, columns=columns)
        missing = [column for column in columns if column not in each.names]
        if missing:
            raise ValueError(f"{where} must have the columns of the release, got none named {missing[0]!r}")
        if each.n_rows == 0:
            raise ValueError(f"{where}: no rows")
        for column, domain in (*views.domains.items(), (name, views.class_domain)):
            check_kinds(each.column(column).domain, domain, f"{where}: column {column!r}", "the release")
    plain_table, plain_holdout = (_plain(each.select(columns)) for each in tables.values())
    try:
        repeated = _repeated(plain_table, plain_holdout)
    except ValueError as same:
        raise ValueError(f"holdout: {same}") from None
    model, others = _halves(plain_holdout)

    both = concat([plain_table, others])
    known = concat([both, model])
    reference = count(model, name, list(views.attributes))
    published = _NaiveBayes(views, known, 0.0)
    population = _NaiveBayes(reference, known, 0.5)
    groups, firsts = _equal_rows(both.select(views.attributes))
    kinds = both.take(firsts, keep_domains=True)
    by_kind = np.empty(kinds.n_rows)
    for start in range(0, kinds.n_rows, BLOCK):
        block = slice(start, min(start + BLOCK, kinds.n_rows))
        by_kind[block] = published.logs(kinds, block) - population.logs(kinds, block)
        if progress is not None:
            progress(block.stop, kinds.n_rows)
    scores = _settled(by_kind)[groups]
    weights = _weights(both)
    first = plain_table.n_rows
    ruled_out = np.isneginf(scores)
    impossible = int(weights[first:][ruled_out[first:]].sum())
    # A row that the release rules out was not in its table: tied with the others' such rows it would make the
    # release look harmless.
    members = np.flatnonzero(~ruled_out[:first])
    n_others, left_out = int(weights[first:].sum()), int(weights[:first][ruled_out[:first]].sum())
    if not len(members):
        return Membership(math.nan, math.nan, 0, n_others, impossible, left_out, repeated)
    auc, error = auc_of(scores[members], weights[members], scores[first:], weights[first:])
    n_members = int(weights[members].sum())
    return Membership(auc, error, n_members, n_others, impossible, left_out, repeated)


def _settled(scores: Floats) -> Floats:
    """The scores, with those equal that differ by no more than floats may."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    finite = ordered[np.isfinite(ordered)]  # the others, -inf, come first
    starts = np.flatnonzero(np.diff(finite, prepend=-np.inf) > TIE)
    ordered[len(ordered) - len(finite) :] = np.repeat(finite[starts], np.diff([*starts, len(finite)]))
    settled = np.empty_like(scores)
    settled[order] = ordered
    return settled


def same_rows(table: Table, holdout: Table, columns: Sequence[str]) -> bool:
    """Whether two tables have the same rows in these columns, in whatever order."""
    return table is holdout or _plain(table.select(columns)) == _plain(holdout.select(columns))


def expect_others(table: Table, holdout: Table, columns: Sequence[str]) -> None:
    """ValueError if a holdout is the table in these columns, or mostly made of its rows."""
    if table is holdout:
        raise ValueError(SAME)
    _repeated(_plain(table.select(columns)), _plain(holdout.select(columns)))


def _repeated(table: Table, holdout: Table) -> int:
    """About how many rows of a holdout stand in the table beyond what chance explains; both are plain.

    Good and Turing: of a further row the probability that the table has none like it is about the share of
    the rows that it has once.
    """
    if table == holdout:
        raise ValueError(SAME)
    weights, holdout_weights = _weights(table), _weights(holdout)
    rows, others = int(weights.sum()), int(holdout_weights.sum())
    groups, firsts = _equal_rows(concat([table, holdout]))
    known = np.zeros(len(firsts), np.bool_)
    known[groups[: table.n_rows]] = True
    new = int(holdout_weights[~known[groups[table.n_rows :]]].sum())
    expected = others * int(np.count_nonzero(weights == 1)) / rows
    # The share is a count itself, and varies as one.
    if expected - new <= DEVIATIONS * math.sqrt(expected * (1 + others / rows)):
        return 0
    if new < expected / 2:
        raise ValueError(
            "expected other rows of the same population, got mostly rows of the table itself: of its "
            f"{others:,} rows some {expected:,.0f} should be none that the table has, and {new:,} are"
        )
    return round(expected - new)


def auc_of(
    members: Floats, member_weights: Longs, others: Floats, other_weights: Longs
) -> tuple[float, float]:
    """P(member > other) + P(equal) / 2 and DeLong's standard error, by ranks; -inf scores are equal.

    Weights are rows: the variance is that of the placements over the rows of each side.
    """

    def placements(scores: Floats, against: Floats, weights: Longs) -> Floats:
        order = np.argsort(against, kind="stable")
        below = np.concatenate([[0], np.cumsum(weights[order])])
        low = np.searchsorted(against[order], scores, side="left")
        high = np.searchsorted(against[order], scores, side="right")
        result: Floats = (below[low] + below[high]) / (2 * below[-1])
        return result

    def variance(values: Floats, weights: Longs, mean: float) -> float:
        n = int(weights.sum())
        if n < 2:
            return 0.25  # nothing is known but that a placement is in 0 .. 1
        return float(weights @ (values - mean) ** 2) / (n - 1) / n

    of_members = placements(members, others, other_weights)
    auc = float(member_weights @ of_members) / int(member_weights.sum())
    of_others = 1 - placements(others, members, member_weights)
    spread = variance(of_members, member_weights, auc) + variance(of_others, other_weights, auc)
    return auc, math.sqrt(spread)


class _NaiveBayes:
    """ln of the probability of a row: sum over classes of prod of its shares."""

    def __init__(self, views: Viewset, known: Table, alpha: float) -> None:
        """`known` has all values there are; those the views do not know have a count of 0."""
        self.names = views.attributes
        self.tables = {}
        if alpha:
            sizes = {name: len(known.domain(name)) for name in self.names}
            class_counts = np.array([float(n) for n in views.class_counts])
            priors = (class_counts + alpha) / (class_counts + alpha).sum()
            self.priors = np.log(priors)
        else:
            self.priors, logs = log_shares(views)
        for name in self.names:
            places = known.column(name).domain.positions_in(views.domains[name])
            if alpha:
                own = np.where(places[:, np.newaxis] >= 0, views.counts[name][places], 0).astype(np.float64)
                self.tables[name] = np.log((own + alpha) / (class_counts + alpha * sizes[name]))
            else:
                self.tables[name] = np.where(places[:, np.newaxis] >= 0, logs[name][places], -np.inf)
        self.known = known

    def logs(self, table: Table, block: slice) -> Floats:
        scores = np.tile(self.priors, (block.stop - block.start, 1))
        for name in self.names:
            places = table.column(name).domain.positions_in(self.known.column(name).domain)
            scores += self.tables[name][places[table.codes(name)[block]]]
        most = scores.max(axis=1)
        finite = np.isfinite(most)
        result = np.full(len(scores), -np.inf)
        shifted = np.exp(scores[finite] - most[finite, np.newaxis])
        result[finite] = np.log(shifted.sum(axis=1)) + most[finite]
        return result


def _equal_rows(table: Table) -> tuple[Longs, Longs]:
    """For each row which group of equal rows it is in, and one row of each group: ties must be ties."""
    columns = [table.codes(name) for name in table.names]
    if not columns:
        return np.zeros(table.n_rows, np.int64), np.zeros(1, np.int64)
    order = np.lexsort(columns)
    new = np.zeros(table.n_rows, bool)
    new[0] = True
    for codes in columns:
        new[1:] |= codes[order[1:]] != codes[order[:-1]]
    groups = np.empty(table.n_rows, np.int64)
    groups[order] = np.cumsum(new) - 1
    return groups, order[new]


def _plain(table: Table) -> Table:
    """The distinct rows, with the values that occur, sorted: tables of one population may declare others."""
    distinct = table.collapse()
    columns = {}
    for name in distinct.names:
        codes, old = distinct.codes(name), distinct.column(name).domain
        used = np.unique(codes)
        domain = Domain.sorted([old.values[code] for code in used.tolist()], where=f"column {name!r}")
        places = old.positions_in(domain)
        columns[name] = Column(places[codes].astype(code_dtype(len(domain))), domain)
    return Table.from_columns(columns, distinct.weights, distinct.n_rows).collapse()


def _weights(table: Table) -> Longs:
    return np.ones(table.n_rows, np.int64) if table.weights is None else np.asarray(table.weights)


def _halves(holdout: Table) -> tuple[Table, Table]:
    """Two halves at random, of distinct rows in sorted order: the given order does not matter."""
    weights = _weights(holdout)
    total = int(weights.sum())
    if total < 4:
        raise ValueError(f"holdout must have at least 4 rows, got {total}")
    if total >= MOST_ROWS:
        raise ValueError(f"holdout must have less than {MOST_ROWS:,} rows, got {total:,}")
    rng = np.random.default_rng(SPLIT)
    # How many rows of each kind fall into the first half, one of total // 2.
    first = rng.multivariate_hypergeometric(weights, total // 2, method="marginals")
    parts = []
    for share in (first, weights - first):
        kept = np.flatnonzero(share)
        part = holdout.take(kept)
        columns = {name: part.column(name) for name in part.names}
        parts.append(Table.from_columns(columns, np.ascontiguousarray(share[kept], np.int64), len(kept)))
    return parts[0], parts[1]
