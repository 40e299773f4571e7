"""The rows of a canonical release: the fewest that are found, or so many as were asked for."""

from __future__ import annotations

from fractions import Fraction

from nbcfast._rounding.apportion import round_up
from nbcfast._rounding.nearest import MOST_ROWS
from nbcfast._rounding.rows import Rounded, RowsArgument, RowSearch, Short, least_rows, unsafe
from nbcfast.canonical.every_way import every_way
from nbcfast.canonical.rounding import ScorecardPlan
from nbcfast.canonical.row_shares import EvenShares
from nbcfast.views import Viewset

SMALL = 5_000  # tuples times classes, up to which
LOWER = Fraction(3, 2), Fraction(3)  # are powers that are tried below the rows that were found
DOWN = 5  # numbers of rows tried below the first that does, where the domain is too large for moves


def to_rows(plan: ScorecardPlan, rows: RowsArgument) -> Rounded:
    """Counts for a scorecard, in as many rows as were asked for; Short or Infeasible where that cannot be."""
    search = RowSearch(plan)
    if rows == "smallest":
        return _fewest(search) if plan.searched else _doubled(search)
    try:
        return search.rounded(rows)
    except Short as short:
        if rows == "proven" or rows < max(map(len, plan.scores.points)) * len(plan.scores.base):
            raise
        beside = search.beside(rows)
        if beside is not None:
            return beside
        tried = every_way(plan, rows)
        if tried.rounded is not None:
            return tried.rounded
        if not tried.all_tried:
            raise
        why = f"no {rows} rows keep the {plan.preserve} with {plan.promise}: all ways were tried"
        if short.rounded is not None:
            why += f", and {short.rounded.differing} of {plan.tuples} tuples differ in the nearest"
        none_there_are = Short(why, short.best)
        none_there_are.rounded = short.rounded
        raise none_there_are from None


def _fewest(search: RowSearch[EvenShares]) -> Rounded:
    """The fewest rows that a search finds; and where that is cheap, down again with lower Lambdas.

    On a small domain few rows round Lambda up by much, so the fewest often aim far below the limit.
    """
    fewest, plan = search.fewest(), search.plan
    if plan.tuples * len(plan.views.classes) > SMALL or fewest.views.n_rows > MOST_ROWS:
        return fewest
    for k in LOWER:
        shares = plan.shares(k)
        least = least_rows(shares)
        if fewest.views.n_rows > least:
            fewest = search.fewer(plan.nearest(shares, least), shares, fewest, least)
    return fewest


def _doubled(search: RowSearch[EvenShares]) -> Rounded:
    """Twice the rows until nothing differs, and then down in steps of an eighth."""
    plan = search.plan
    for k in plan.ks():
        shares = plan.shares(k)
        most = shares.proven_rows()
        rows = max(least_rows(shares), round_up(most >> 10))
        while rows < most:
            views = _fitting(search, shares, rows)
            if views is not None:
                for _ in range(DOWN):
                    rows -= rows // 8
                    fewer = _fitting(search, shares, rows)
                    if fewer is None:
                        break
                    views = fewer
                return Rounded(views, plan.proof)
            rows = round_up(2 * rows)
        plain = search.proven_at(k)
        if plain is not None:
            return Rounded(plain, plan.proof)
    raise unsafe(plan.limit)


def _fitting(search: RowSearch[EvenShares], shares: EvenShares, rows: int) -> Viewset | None:
    """Counts by largest remainder, if they may leave."""
    counted = shares.plain(rows)
    if counted is None:
        return None
    views = search.viewset(counted)
    return views if search.plan.safe(views) and search.plan.compare(views).equal else None
