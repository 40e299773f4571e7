"""`release_by`: a canonical release for each value of a public column; `leak_by` measures each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Numeral
from nbcfast._reading.source import AnyTable
from nbcfast._rounding.rows import RowsArgument
from nbcfast._wire.messages import listing
from nbcfast._wire.strata_form import MOST_STRATA
from nbcfast.canonical.arguments import expect_progress, table_of
from nbcfast.canonical.leak import leak
from nbcfast.canonical.leakage import Leak
from nbcfast.canonical.publish import release
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.table import Domain, Table
from nbcfast.table.values import Value
from nbcfast.views import Viewset, count

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_NAMED = 5  # strata that an error names


def release_by(
    table: AnyTable,
    class_name: str,
    by: str,
    amplification: Numeral,
    *,
    columns: Sequence[str] | None = None,
    classes: Iterable[object] | None = None,
    preserve: Preserve = "label",
    bits: int | None = None,
    rows: RowsArgument = "smallest",
    attacker: Attacker = "row",
    alpha: Numeral | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> StratifiedRelease:
    """Publish a classifier for each value of a public column, each from its answers and nothing else.

    With the column as a parent of all attributes the best class is that of the largest
    N(r,c)^(1-k) prod_i N(x_i,r,c) for k attributes: naive Bayes of the rows with value r alone. Whoever holds
    all of these releases learns what he would learn by asking each about every tuple, no more and no less.

    Attributes and classes have the same values in all strata: those declared, or those of the whole table. A
    value that no row of a stratum has scores 0 in every class there, and the class of highest precedence is
    answered. Each stratum has fewer rows than the whole, so its answers may say more about each of them:
    `leak_by` measures that.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private rows.
    class_name : str
        The column to predict.
    by : str
        The column whose values select; declare its domain, as those that come from the rows are published.
        Every value needs rows of every class.
    amplification : int, Fraction, str or float
        The limit of Lambda in every stratum, and so whichever of them somebody is in.
    columns : sequence of str, optional
        The attributes; by default all other columns. That of `by` is none, whether it is named or not.
    classes : iterable, optional
        Class labels in rising precedence, as for `nbcfast.count`.
    preserve, bits, rows, attacker, alpha
        As for `release`, of every stratum.
    threads, progress
        As for `release`; progress is called as progress(done, total), in strata.

    Returns
    -------
    StratifiedRelease

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or some value of `by` has no rows of some class.
    Infeasible
        As of `release`, with the stratum.

    Examples
    --------
    >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
    ...             "ill": ["no", "yes", "yes", "no"]}
    >>> made = release_by(patients, "ill", "sex", 4)
    >>> {value: one.predict({"glucose": ["low", "high"]}).tolist() for value, one in made.strata.items()}
    {'f': ['no', 'yes'], 'm': ['yes', 'no']}
    """
    expect_progress(progress)
    given = table_of(table, "table", _needed(class_name, by, columns))
    domain, views = views_by(given, class_name, by, columns, classes, threads)
    made: dict[Value, Release] = {}
    for one, of_stratum in views.items():
        try:
            made[one] = release(
                of_stratum,
                amplification,
                preserve=preserve,
                bits=bits,
                rows=rows,
                attacker=attacker,
                alpha=alpha,
                class_name=class_name,
                threads=threads,
            )
        except Infeasible as error:
            raise Infeasible(f"stratum {one!r}: {error.why}", error.best) from None
        if progress is not None:
            progress(len(made), len(views))
    return StratifiedRelease(by, made, from_rows(domain))


def leak_by(
    table: AnyTable,
    class_name: str,
    by: str,
    *,
    columns: Sequence[str] | None = None,
    classes: Iterable[object] | None = None,
    preserve: Preserve = "label",
    sample: int | None = None,
    alpha: Numeral | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Value, Leak]:
    """What the answers of each stratum give away: the meter that `leak` is, of the rows of every stratum.

    Parameters
    ----------
    table, class_name, by, columns, classes, preserve
        As for `release_by`.
    sample, alpha, threads
        As for `leak`.
    progress : callable, optional
        Called as progress(done, total), in strata.

    Returns
    -------
    dict of value -> Leak

    Examples
    --------
    >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
    ...             "ill": ["no", "yes", "yes", "no"]}
    >>> [found.tuples for found in leak_by(patients, "ill", "sex").values()]
    [2, 2]
    """
    expect_progress(progress)
    given = table_of(table, "table", _needed(class_name, by, columns))
    _, views = views_by(given, class_name, by, columns, classes, threads)
    found: dict[Value, Leak] = {}
    for one, rows in split(given, by).items():
        found[one] = leak(
            views[one],
            preserve=preserve,
            table=rows,
            class_name=class_name,
            sample=sample,
            alpha=alpha,
            threads=threads,
        )
        if progress is not None:
            progress(len(found), len(views))
    return found


def _needed(class_name: str, by: str, columns: Sequence[str] | None) -> list[str] | None:
    """The columns that are read, where some were named."""
    return None if columns is None else list(dict.fromkeys([class_name, by, *columns]))


def views_by(
    table: Table,
    class_name: str,
    by: str,
    columns: Sequence[str] | None,
    classes: Iterable[object] | None,
    threads: int | None,
) -> tuple[Domain, dict[Value, Viewset]]:
    """The domain of the column, and the counts of each stratum over the domains of the whole table."""
    if not isinstance(by, str):
        raise TypeError(f"by must be the name of a column, got {by!r}")
    if by == class_name:
        raise ValueError(f"by must be another column than the class, got {by!r}")
    domain = table.column(by).domain
    if len(domain) > MOST_STRATA:
        raise ValueError(
            f"by: {by!r} has {len(domain):,} values, more than {MOST_STRATA:,} strata: put them in groups"
        )
    used = table.names if columns is None else columns
    attributes = [name for name in used if name not in (by, class_name)]
    labels = None if classes is None else list(classes)
    views = {
        one: count(rows, class_name, attributes, labels, threads=threads)
        for one, rows in split(table, by).items()
    }
    expect_classes(views, by)
    return domain, views


def split(table: Table, by: str) -> dict[Value, Table]:
    """The rows of each value of a column, without it; domains are those of the whole."""
    column = table.column(by)
    others = table.select([name for name in table.names if name != by])
    order = np.argsort(column.codes, kind="stable")
    ends = np.searchsorted(column.codes[order], np.arange(len(column.domain) + 1)).tolist()
    return {
        one: others.take(order[start:end], keep_domains=True)
        for one, (start, end) in zip(column.domain.values, pairwise(ends), strict=True)
    }


def from_rows(domain: Domain) -> bool:
    """Whether values of a domain come from the rows, if only a null."""
    return not domain.declared or bool(domain.tail_found)


def expect_classes(views: Mapping[Value, Viewset], by: str) -> None:
    """Refuse strata without rows of some class: naive Bayes of such rows knows nothing of that class."""
    if not views:
        raise ValueError(f"by: {by!r} has no values: no rows")
    whole = sum(of_stratum.class_counts for of_stratum in views.values())
    lacking = []
    for one, of_stratum in views.items():
        empty = (of_stratum.class_counts == 0) & np.asarray(
            whole != 0
        )  # of others it is the whole that lacks
        if not of_stratum.class_counts.any():
            lacking.append(f"{one!r} has no rows")
        elif empty.any():
            lacking.append(f"{one!r} has none of class {of_stratum.classes[int(empty.argmax())]!r}")
    if not lacking:
        return
    more = len(lacking) - MOST_NAMED
    raise ValueError(
        f"by: every value of {by!r} needs rows of every class, and {', '.join(lacking[:MOST_NAMED])}"
        f"{f', and {more:,} more have too few' if more > 0 else ''}: put values of {listing([by])} in "
        "coarser groups that are fixed in advance"
    )
