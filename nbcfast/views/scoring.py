"""Exact predictions: rows of a table to classes, by tables that are kept or made for the occasion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from nbcfast._columns import Columns
from nbcfast._core.dtypes import Array, Bools, Bytes, Longs, UInt16s
from nbcfast._core.errors import NoColumnError
from nbcfast._core.numbers import Numeral
from nbcfast._core.threads import MOST_ROWS, n_threads, over_rows
from nbcfast._core.validation import choice
from nbcfast._reading.source import DECIDED_THERE, AnyTable, rows_from
from nbcfast._score import Scorer, Scores, Served
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import used_values
from nbcfast.views.kept_scores import Match, Unknown, made_to_serve
from nbcfast.views.record_scorer import RecordScorer, Unseen
from nbcfast.views.score_tables import score_tables, smoothing_of

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views.viewset import Viewset

# Fields of a table, below which its rows are decided by tables that are kept: for more, tables that are made
# for so many rows save more than it takes to make them. Other codes than positions are looked up one by one.
FEW_FIELDS, FEW_OTHERS = 400_000, 100_000


def predict(
    views: Viewset,
    table: AnyTable,
    alpha: Numeral,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
    ties: bool = False,
) -> tuple[Array, Bools | None]:
    """The best class of every row, and with `ties` whether it shares its X."""
    columns, match, n_rows = _matched(views, table, unseen)
    codes = [column.codes for column in columns]
    return decide(
        views, codes, match, n_rows, alpha, threads, progress, ties=ties, leave_out=unseen == "ignore"
    )


def predict_codes(views: Viewset, columns: list[Array], n_rows: int) -> Array:
    """The best class of every row of unsigned columns, one an attribute, of positions in their domains."""
    return decide(views, columns, views.kept.own, n_rows, 0, None, None)[0]


def order(
    views: Viewset,
    table: AnyTable,
    alpha: Numeral,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
) -> UInt16s:
    """All classes of every row, best first."""
    columns, tables, n_rows = matched(views, table, unseen)
    result = np.zeros((n_rows, len(views.classes)), np.uint16)
    if len(views.classes) > 1:
        scores = _scores(views, columns, tables, n_rows, alpha, unseen == "ignore")
        _run(
            scores,
            lambda scorer, start, stop: scorer.order(start, stop, result),
            columns,
            n_rows,
            threads,
            progress,
            len(views.classes),
        )
    else:
        _check_options(alpha, threads)
    return result


def record_scorer(views: Viewset, alpha: Numeral, unseen: str) -> RecordScorer:
    """What decides one record after the other; see `Viewset.scorer`."""
    choice(unseen, ("error", "ignore", "zero"), "unseen")
    domains = views.domains

    def refusal(unknown: Mapping[str, Domain]) -> ValueError:
        name, domain = next(iter(unknown.items()))
        return unknown_value(name, domain, 0, domains[name], "scorer(unseen='ignore')")

    return RecordScorer(
        domains,
        lambda name, domain: domain.positions_in(domains[name]),
        refusal,
        [served_with(views, alpha, unseen)],
        views.classes,
        cast("Unseen", unseen),
    )


def served_with(views: Viewset, alpha: Numeral, unseen: str) -> Served:
    """The tables for whoever asks again and again, if need be with a position for unknown values."""
    unknown: Unknown = "ignore" if unseen == "ignore" else "zero" if unseen == "zero" else "none"
    smoothing = smoothing_of(alpha)
    return views.kept.served(views, smoothing, unknown) or made_to_serve(views, smoothing, unknown)[0]


def tied_tuples(views: Viewset, limit: int) -> int | None:
    """Tuples of the product domain whose largest X is shared; None where there are more than `limit`."""
    sizes = [len(array) for array in views.counts.values()]
    n_tuples = math.prod(sizes)
    if n_tuples > limit:
        return None
    columns, after = [], n_tuples
    for size in sizes:
        after = after // size if size else 0
        codes = np.arange(size, dtype=np.uint16 if size <= 1 << 16 else np.uint32)
        columns.append(np.tile(np.repeat(codes, after), n_tuples // max(size * after, 1)))
    _, tied = decide(views, columns, views.kept.own, n_tuples, 0, None, None, ties=True)
    return 0 if tied is None else int(np.count_nonzero(tied))


def decide(
    views: Viewset,
    codes: list[Array],
    match: Match,
    n_rows: int,
    alpha: Numeral,
    threads: int | None,
    progress: Progress | None,
    *,
    ties: bool = False,
    leave_out: bool = False,
) -> tuple[Array, Bools | None]:
    """The best class of every row of columns of codes, and with `ties` whether it shares its X.

    A code whose value has no position counts as 0 everywhere, or with `leave_out` is no factor of any class.
    """
    n_classes = len(views.class_domain)
    labels: Bytes | UInt16s = np.zeros(n_rows, np.uint8) if n_classes <= 256 else np.zeros(n_rows, np.uint16)
    tied = np.zeros(n_rows, np.uint8) if ties else None
    if n_classes > 1:
        if not _decided_by_kept(
            views, codes, match, n_rows, alpha, threads, progress, labels, tied, leave_out
        ):
            scores = _scores(views, codes, match.tables, n_rows, alpha, leave_out, by_costs=True)
            _run(
                scores,
                lambda scorer, start, stop: scorer.predict(start, stop, labels, tied),
                codes,
                n_rows,
                threads,
                progress,
                n_classes,
            )
    else:
        _check_options(alpha, threads)
    return labels, None if tied is None else tied.view(np.bool_)


def _decided_by_kept(
    views: Viewset,
    codes: list[Array],
    match: Match,
    n_rows: int,
    alpha: Numeral,
    threads: int | None,
    progress: Progress | None,
    labels: Bytes | UInt16s,
    tied: Bytes | None,
    leave_out: bool,
) -> bool:
    """Whether the rows are few, and were decided by the tables that the views keep, in this thread."""
    n_fields = n_rows * (len(codes) + 1)
    if n_fields > (FEW_FIELDS if match.is_same else FEW_OTHERS):
        return False
    if n_rows > MOST_ROWS // len(views.class_domain) or (n_threads(threads, 0) > 1 and n_rows > 4096):
        return False
    kept = views.kept
    unknown: Unknown = "none" if match.is_complete else "ignore" if leave_out else "zero"
    served = kept.served(views, smoothing_of(alpha), unknown)
    if served is None:
        return False
    if match.is_same:
        bad = served.decide_columns(Columns(codes, kept.sizes, n_rows), labels, None, tied)
    else:
        translation = match.translation(None if match.is_complete else kept.sizes)
        bad = served.decide_columns(Columns(codes, match.sizes, n_rows), labels, translation, tied)
    if bad >= 0:
        raise _out_of_domain(bad)
    if progress is not None and n_rows:
        progress(n_rows, n_rows)
    return True


def _out_of_domain(column: int) -> ValueError:
    return ValueError(f"column {column} has a code outside its domain")


def _run(
    scores: Scores,
    work: Callable[[Scorer, int, int], int],
    columns: list[Array],
    n_rows: int,
    threads: int | None,
    progress: Progress | None,
    n_classes: int,
) -> None:
    def checked(scorer: Scorer, start: int, stop: int) -> None:
        bad = work(scorer, start, stop)
        if bad >= 0:
            raise _out_of_domain(bad)

    n_bytes = sum(column.itemsize for column in columns) * n_rows
    over_rows(
        lambda: Scorer(scores),
        checked,
        n_rows,
        threads=n_threads(threads, n_bytes),
        progress=progress,
        # Where rows are close, each takes exact products of every class.
        most_rows=MOST_ROWS // n_classes,
    )


def matched(views: Viewset, table: AnyTable, unseen: str) -> tuple[list[Array], list[Longs], int]:
    """The codes of each attribute, and for each code the position of its value in the views or -1."""
    columns, match, n_rows = _matched(views, table, unseen)
    return [column.codes for column in columns], match.tables, n_rows


def _matched(views: Viewset, table: AnyTable, unseen: str) -> tuple[list[Column], Match, int]:
    choice(unseen, ("error", "ignore", "zero"), "unseen")
    rows = rows_from(table, DECIDED_THERE)
    columns = _columns_of(views.attributes, rows)
    match = views.kept.matching.of(columns)
    if unseen == "error" and not match.is_complete:
        for name, column, places in zip(views.attributes, columns, match.tables, strict=True):
            absent = places < 0
            if absent.any():
                used = used_values(column.codes, len(column.domain)).astype(bool)
                for position in np.flatnonzero(absent & used).tolist():
                    raise unknown_value(name, column.domain, position, views.domains[name])
    return columns, match, rows.n_rows


def _columns_of(names: Sequence[str], table: Table) -> list[Column]:
    try:
        return table.several(names)
    except NoColumnError as error:
        raise ValueError(
            f"the table has no column {error.name!r}, which the views need; it has {table.names}"
        ) from None


def unknown_value(
    name: str, domain: Domain, position: int, known: Domain, call: str = "predict(.., unseen='ignore')"
) -> ValueError:
    """What is wrong with a value of a column that the views do not know."""
    theirs, ours = domain.kind, known.kind
    hint = (
        f"Viewset.{call} leaves the attribute out of such rows; values that "
        "are known in advance can be declared before they are counted"
    )
    if ours == "interval" != theirs:
        hint = "the views hold intervals: bin the table with their domain as edges"
    elif {theirs, ours} not in ({ours}, {None, ours}, {"int", "float"}):
        hint = f"the views hold values of kind {ours}, the table {theirs}"
    value = domain.values[position]
    return ValueError(f"column {name!r}: value {value!r} is unknown to the views; {hint}")


def _check_options(alpha: Numeral, threads: int | None) -> None:
    """What a single class has no use for."""
    smoothing_of(alpha)
    n_threads(threads, 0)


def _scores(
    views: Viewset,
    codes: list[Array],
    tables: list[Longs],
    n_rows: int,
    alpha: Numeral,
    leave_out: bool,
    by_costs: bool = False,
) -> Scores:
    """The tables for just these rows."""
    columns = Columns(codes, [len(table) for table in tables], n_rows)
    smoothing = smoothing_of(alpha)
    return score_tables(views, columns, tables, n_rows, smoothing, leave_out, by_costs=by_costs)[0]
