"""`violations`: what can be inferred from a table, and with what confidence.

The verb `templates check` prints them; by the same counts a disclosure is judged before it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Codes, Longs
from nbcfast._core.errors import NoColumnError
from nbcfast._core.untyped import Document
from nbcfast._reading.collapsed import collapsed
from nbcfast._reading.source import AnyTable, Source, batches_from, expect_own_weights
from nbcfast._wire.messages import printable
from nbcfast.frames import Frame
from nbcfast.table import SUPPRESSED, Table
from nbcfast.table.values import Value, plain
from nbcfast.templates.template import (
    Template,
    checked,
    expect_columns,
    listed_templates,
    no_such_column,
    position,
)

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.domain import Domain

Names = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Violation:
    """A group of people of whom too many have a sensitive value.

    Attributes
    ----------
    template : Template
    known : mapping of name -> value
        What the group shares.
    support : int
        How many people the group has.
    count : int
        How many of them have the sensitive value.
    """

    template: Template
    known: Mapping[str, Value]
    support: int
    count: int

    @property
    def confidence(self) -> Fraction:
        return Fraction(self.count, self.support)

    def __repr__(self) -> str:
        column, value = self.template.sensitive
        known = ", ".join(f"{name}={shared}" for name, shared in self.known.items())
        return printable(f"Violation({known} -> {column}={value}: {self.count} of {self.support})")

    def __reduce__(self) -> tuple[object, ...]:
        return _violation, (self.template, dict(self.known), self.support, self.count)

    def to_dict(self) -> Document:
        return {
            "template": self.template.to_dict(),
            "known": {name: plain(value) for name, value in self.known.items()},
            "support": self.support,
            "count": self.count,
            "confidence": str(self.confidence),
        }


def _violation(template: Template, known: dict[str, Value], support: int, count: int) -> Violation:
    return Violation(template, MappingProxyType(known), support, count)


@dataclass(frozen=True)
class SensitiveCounts:
    """Of each group of people with the same known values how many there are, and have a sensitive value.

    Attributes
    ----------
    codes, domains : list of ndarray, list of Domain
        The known values of each group, one array a column.
    totals, hits : ndarray of int64
        How many people the groups have, and how many of them the sensitive value.
    """

    codes: list[Codes]
    domains: list[Domain]
    totals: Longs
    hits: Longs

    def above(self, limit: Fraction) -> Longs:
        """Which groups have a larger share than `limit`."""
        most = int(self.totals.max(initial=0))
        above, below = at_most(limit, most)
        if most < 1 << 31:  # products of two numbers below it fit 64 bits
            return np.flatnonzero(self.hits * below > self.totals * above)
        return np.flatnonzero(self.hits.astype(object) * below > self.totals.astype(object) * above)

    def largest(self) -> Fraction:
        """The largest share."""
        if not len(self.totals):
            return Fraction(0)
        # Floats find the candidates, as none is more than a few roundings off.
        rough = self.hits / self.totals
        near = np.flatnonzero(rough >= rough.max() * (1 - 1e-14))
        pairs = np.stack([self.hits[near], self.totals[near]])
        firsts = near[np.unique(pairs, axis=1, return_index=True)[1]]  # of each pair of numbers
        return max(Fraction(int(self.hits[i]), int(self.totals[i])) for i in firsts)


def at_most(limit: Fraction, most: int) -> tuple[int, int]:
    """The largest fraction up to `limit` whose denominator is at most `most` (1 for 0).

    No share of up to `most` records lies between the two, and its parts fit where the counts do:
    docs/mathematics/templates.md, statement 4.5.
    """
    most = max(most, 1)
    if limit.denominator <= most:
        return limit.numerator, limit.denominator
    # The last two convergents that fit enclose it, the second one stretched as far as it fits.
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = limit.numerator, limit.denominator
    while True:
        whole = n // d
        if q0 + whole * q1 > most:
            break
        p0, q0, p1, q1 = p1, q1, p0 + whole * p1, q0 + whole * q1
        n, d = d, n - whole * d
    times = (most - q0) // q1
    stretched = p0 + times * p1, q0 + times * q1
    return (p1, q1) if p1 * limit.denominator <= limit.numerator * q1 else stretched


def sensitive_counts(
    table: Table | Mapping[Names, Table], templates: Iterable[Template]
) -> Iterator[tuple[Template, SensitiveCounts]]:
    """The groups of each template; those with the same columns are made of one collapsed table.

    Of a table, or of the collapsed tables of the columns of templates.
    """
    distinct_of = {} if isinstance(table, Table) else dict(table)
    for template in list(templates):
        key = names_of(template)
        if isinstance(table, Table) and key not in distinct_of:
            distinct_of[key] = table.select(key).collapse()
        distinct = distinct_of[key]
        weights = distinct.weights
        assert weights is not None
        # Collapsed rows are sorted by the known values first.
        known = [distinct.codes(name) for name in template.quasi]
        differs = np.zeros(distinct.n_rows, np.bool_)  # from the row before
        differs[:1] = True
        for codes in known:
            differs[1:] |= codes[1:] != codes[:-1]
        starts = np.flatnonzero(differs)
        hits = np.where(distinct.codes(key[-1]) == position(distinct, template), weights, 0)
        yield (
            template,
            SensitiveCounts(
                [codes[starts] for codes in known],
                [distinct.column(name).domain for name in template.quasi],
                np.add.reduceat(weights, starts) if len(starts) else weights,
                np.add.reduceat(hits, starts) if len(starts) else hits,
            ),
        )


def confidences(table: Table, templates: Iterable[Template]) -> dict[Template, Fraction]:
    """The largest share of each template over all groups."""
    return {template: counts.largest() for template, counts in sensitive_counts(table, templates)}


def violations(
    table: AnyTable,
    templates: Iterable[Template],
    *,
    weights: str | None = None,
    progress: Progress | None = None,
) -> list[Violation]:
    """Every inference from a table that is more confident than its template allows.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). A private table, or a released one: SUPPRESSED is a value like any other. Weights are counted.
        All but the first three are read batch by batch, in memory of the order of the distinct rows of the
        columns of the templates.
    templates : sequence of Template
        What must not be inferred, and with what confidence.
    weights : str, optional
        The column of the weights; a Table has its own.
    progress : callable, optional
        Called as progress(done, total), with numbers of templates.

    Returns
    -------
    list of Violation
        Template by template, and then in the order of the known values; empty where all templates hold.

    Raises
    ------
    ValueError
        If a template names no column or value of the table, or the table has no rows.

    Examples
    --------
    >>> table = Table({"job": ["cook", "clerk", "clerk"], "ill": ["no", "no", "yes"]})
    >>> violations(table, [Template(["job"], ("ill", "yes"), "1/3")])
    [Violation(job=clerk -> ill=yes: 1 of 2)]
    """
    listed = listed_templates(templates)
    rows: Table | dict[Names, Table]
    if isinstance(table, Frame):
        expect_own_weights(weights, "Frame")
        rows = _fetched(table, listed)
        n_rows = next(iter(rows.values())).n_rows
    else:
        source = batches_from(table, weights=weights)
        rows = source if isinstance(source, Table) else _distinct(source, listed, weights)
        checked(rows, listed)
        n_rows = rows.n_rows
    if not n_rows:
        raise ValueError("no rows")
    violated = []
    for done, (template, counts) in enumerate(sensitive_counts(rows, listed)):
        if progress is not None:
            progress(done, len(listed))
        for i in counts.above(template.limit).tolist():
            known = {
                name: domain.values[codes[i]]
                for name, codes, domain in zip(template.quasi, counts.codes, counts.domains, strict=True)
            }
            violated.append(_violation(template, known, int(counts.totals[i]), int(counts.hits[i])))
    if progress is not None:
        progress(len(listed), len(listed))
    return violated


def names_of(template: Template) -> Names:
    """The columns of a template, the sensitive one last."""
    return *template.quasi, template.sensitive[0]


def _fetched(frame: Frame, templates: tuple[Template, ...]) -> dict[Names, Table]:
    """The distinct rows of the columns of each template: together they may have many more."""
    expect_columns(frame.names, templates)
    sets = list(dict.fromkeys(map(names_of, templates)))
    rows = dict(zip(sets, frame.tables(sets), strict=True))
    for number, template in enumerate(templates):
        position(rows[names_of(template)], template, f"template {number}")
    return rows


def _distinct(source: Source, templates: tuple[Template, ...], weights: str | None) -> Table:
    """The distinct rows of the columns that the templates need."""
    names = list(dict.fromkeys(name for one in templates for name in (*one.quasi, one.sensitive[0])))
    if weights in names:
        raise ValueError(f"weights: {weights!r} is a column of the templates as well")
    try:
        return collapsed(source, names, weights)
    except NoColumnError as error:
        for number, template in enumerate(templates):
            if error.name in (*template.quasi, template.sensitive[0]):
                raise no_such_column(number, error.present, str(error.name)) from None
        raise


def expect_known(table: Table, masked: Iterable[str]) -> None:
    """Refuse SUPPRESSED in other columns than those: a sensitive value that is withheld is in no count."""
    for name in table.names:
        if name not in masked and SUPPRESSED in table.column(name).domain.tail:
            raise ValueError(
                f"table: column {name!r} holds SUPPRESSED, and is not to be suppressed: templates would hold "
                "because nobody can count what is withheld"
            )
