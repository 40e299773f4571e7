"""The four steps joined: from private views to a release with its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast import safety
from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible, expect
from nbcfast._core.numbers import Numeral, as_limit, exact
from nbcfast._reading.source import AnyTable
from nbcfast._rounding.request import Claims, Request, checked_options
from nbcfast._rounding.rows import Rounded, RowsArgument, RowSearch, Short, checked_rows, unsafe
from nbcfast.transform.margin_bound import deciding_margin
from nbcfast.transform.plan import MOST_LIMIT, LadderPlan
from nbcfast.transform.scaled import Scaled
from nbcfast.transform.zeros import fill_zeros
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release


def to_rows(
    scaled: Scaled,
    rows: RowsArgument = "smallest",
    *,
    allow_differences: bool = False,
    progress: Progress | None = None,
) -> Viewset:
    """Step 4: integer counts in R = sum_c P'_c rows with the order of the private views.

    The numbers are taken to 16 bits more than `scaled` holds, so that their rounding needs no part of the
    margin.

    Parameters
    ----------
    scaled : Scaled
        Views after Step 2.
    rows : {"smallest", "proven"} or int
        "smallest": the fewest rows found by largest remainder and moves of a few rows (domains up to 10^7
        tuples) or by doubling (up to 10^12), each candidate compared exactly; else as "proven": so many
        rows that the order follows from one quotient for each published integer, in linear time. A number
        is taken as it is.
    allow_differences : bool
        With a number of rows: take the fewest differing tuples that can be found.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Viewset
        Positive and realistic, with Lambda up to the limit that `scaled` was made for.

    Raises
    ------
    Infeasible
        If Lambda is above the limit with this k, or a given number of rows cannot keep the order.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> from nbcfast.transform import fill_zeros, scale
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> to_rows(scale(fill_zeros(views), 4, k=2), 200).class_counts.tolist()
    [116, 84]
    """
    expect(scaled, Scaled, "scaled")
    expect(allow_differences, bool, "allow_differences")
    rows = checked_rows(rows)
    if not scaled.at_most(MOST_LIMIT**2):
        raise unsafe(scaled.amplification)
    plan = LadderPlan(scaled.filled, scaled.amplification, scaled.gauge, scaled.margin, scaled.k, progress)
    try:
        return RowSearch(plan).rounded(rows, allow_differences).views
    except Short as short:
        best = {**short.best, "views": None if short.rounded is None else short.rounded.views}
        raise Infeasible(short.why, best) from None


def safety_transform(
    views: Viewset,
    amplification: Numeral,
    *,
    preserve: Preserve = "order",
    rows: RowsArgument = "smallest",
    gauge: bool = True,
    attacker: Attacker = "row",
    allow_differences: bool = False,
    table: AnyTable | None = None,
    class_name: str | None = None,
    guard: int = 1,
    progress: Progress | None = None,
) -> Release:
    """Publish a classifier that decides as the private one does, and whose odds nobody can use against a row.

    The SafetyTransform of Mozafari and Zaniolo (VLDB 2009), corrected: zeros are replaced so that the order
    of classes stays, counts are raised to the power 1/k with the least k that makes the largest ratio of
    scores at most `amplification`, and rounded to integers that add up. What leaves is then checked again.
    Deterministic: equal views give equal releases.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class; zero counts are welcome.
    amplification : int, Fraction, str or float
        The limit of Lambda, above 1: how much the odds of two classes may move. Above 2^256 as 2^256.
    preserve : {"order", "label"}
        Keep the whole order of classes for every tuple, or the best class (see `fill_zeros`).
    rows : {"smallest", "proven"} or int
        How many rows are published; see `to_rows`.
    gauge : bool
        Publish nothing but what the ratios of scores need: marginals of attributes are then artificial.
        Views that are positive and safe already leave as they are with gauge=False.
    attacker : {"row", "worlds"}
        "worlds" asks for Lambda <= amplification / 2, which must be above 1.
    allow_differences : bool
        With a number of rows: publish even if tuples differ; the certificate says how many.
    table : Table, or what it is made of, optional
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Rows of it that differ are counted.
    class_name : str, optional
        The name of the class column, for synthetic tables, and for the log-loss on `table`: one within 1 % of
        guessing is warned of. Without a table it is that expected for rows as the published counts have them.
    guard : int
        See `fill_zeros`.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Release

    Raises
    ------
    ValueError
        If an argument is not as described.
    Infeasible
        With a number of rows, if that many cannot be safe and equivalent; `best` has what can be had.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> release = safety_transform(views, 4, rows=200)
    >>> release.views.n_rows, release.certificate.equivalence
    (200, 'enumeration')
    """
    expect(views, Viewset, "views")
    table, rows = checked_options(rows, table, gauge, allow_differences, views.attributes)
    demanded = as_limit(exact(amplification, "amplification"), "amplification")
    limit = safety.allowed_amplification(demanded, attacker)
    filled = fill_zeros(views, preserve=preserve, guard=guard)
    identity = (
        not gauge
        and not filled.n_zeros
        and rows in ("smallest", "proven", views.n_rows)
        and safety.at_most(views, limit)
    )
    claims = Claims(method="safetytransform")
    request = Request(views, demanded, attacker, preserve, gauge, table, class_name, claims)
    if identity:
        return request.release(Rounded(views, "identity"), identity=True)
    plan = LadderPlan(filled, limit, gauge, deciding_margin(filled, gauge, progress), progress=progress)
    return request.answered(RowSearch(plan), rows, allow_differences)
