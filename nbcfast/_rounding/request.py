"""What a publisher asks for, and the release that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible, expect
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._rounding.rows import Rounded, RowsArgument, RowSearch, SharesT, Short, checked_rows
from nbcfast.equivalence.comparing import differing_rows
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.table import Table
from nbcfast.views import Viewset


def checked_options(
    rows: object,
    table: AnyTable | None,
    gauge: object,
    allow_differences: object,
    attributes: Sequence[str],
) -> tuple[Table | None, RowsArgument]:
    """The table and the rows asked for; TypeError or ValueError where an option is not as described."""
    expect(allow_differences, bool, "allow_differences")
    expect(gauge, bool, "gauge")
    asked = checked_rows(rows)
    if allow_differences and isinstance(asked, str):
        raise ValueError(f"allow_differences goes with a number of rows, got rows={rows!r}")
    return (None if table is None else table_from(table, columns=attributes)), asked


class Claims(TypedDict, total=False):
    """What a certificate says of how the counts were made, by the fields that only some methods have."""

    method: str
    r: Fraction
    prior: tuple[Fraction, ...]


def published_counts(views: Viewset) -> Viewset:
    """The counts without a word of their noise, which the certificate has: so they are read back."""
    if views.noise is None:
        return views
    return Viewset.from_parts(views.class_counts, views.counts, views.class_domain, views.domains)


@dataclass(frozen=True)
class Request:
    """Private views and what was asked of their release.

    Parameters
    ----------
    views : Viewset
    amplification : Fraction
        As demanded, whoever the attacker.
    attacker : {"row", "worlds"}
    preserve : {"order", "label"}
    gauge : bool
    table : Table or None
        Rows of it that differ are counted.
    class_name : str or None
    claims : Claims
        What else the certificate says: the method at the least.
    """

    views: Viewset
    amplification: Fraction
    attacker: Attacker
    preserve: Preserve
    gauge: bool
    table: Table | None
    class_name: str | None
    claims: Claims

    def release(self, rounded: Rounded, identity: bool = False) -> Release:
        """Published views with their certificate."""
        differing = None
        # Rows of a table are counted without noise, and would tell of them what the noise hides.
        if self.table is not None and self.views.noise is None:
            differing = 0 if rounded.differing == 0 else self._differing_rows(rounded.views, self.table)
        certificate = Certificate(
            **self.claims,
            amplification=self.amplification,
            attacker=self.attacker,
            preserve=self.preserve,
            equivalence=rounded.equivalence,
            tuples=self.views.n_tuples,
            differing_tuples=rounded.differing,
            differing_rows=differing,
            gauge=self.gauge,
            identity=identity,
            privacy=self.views.noise,
        )
        return Release(published_counts(rounded.views), certificate, self.class_name)

    def answered(self, search: RowSearch[SharesT], rows: RowsArgument, allow_differences: bool) -> Release:
        """A release in so many rows; Infeasible where that cannot be, with the best that can."""
        try:
            return self.release(search.rounded(rows, allow_differences))
        except Short as short:
            best: dict[str, object] = dict(short.best)
            nearest = short.rounded or search.rounded("smallest", False)
            best["release"] = self.release(nearest)
            best["rows"] = nearest.views.n_rows
            raise Infeasible(short.why, best) from None

    def _differing_rows(self, published: Viewset, table: Table) -> int:
        rows = differing_rows(self.views, published, table, self.preserve, None)
        return int(len(rows) if table.weights is None else table.weights[rows].sum())
