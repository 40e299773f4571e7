"""Names of sets and of bins replaced by what is in them, so that a file takes rows as they are."""

from __future__ import annotations

from collections.abc import Collection

from nbcfast.domains import Declared
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.opened_sets import Rows, is_of_dates, opened, opened_points
from nbcfast.published.placing import Placing
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value


def of_raw_values(rule: PointsTable | StrataPoints, declared: Declared) -> PointsTable | StrataPoints:
    """Points for raw values, each of which has those of the value that it is put into.

    Parameters
    ----------
    rule : PointsTable or StrataPoints
        With published values.
    declared : Declared
        What rows were put into before the release was made. Other columns do not matter.

    Returns
    -------
    PointsTable or StrataPoints

    Raises
    ------
    ValueError
        If a column was declared with other values than are published, or takes values that nobody listed.

    Examples
    --------
    >>> from nbcfast.domains import declared
    >>> points = PointsTable(("no", "yes"), (("job", ("low", "high"), ((0,), (1,))),), 1, ())
    >>> of_raw_values(points, declared({"job": {"groups": {"low": [1, 2], "high": [3]}}})).attributes
    (('job', (1, 2, 3), ((0,), (0,), (1,))),)
    """
    if isinstance(rule, PointsTable):
        return opened_points(rule, declared)
    places: Rows = tuple((place,) for place in range(len(rule.values)))
    _, values, rows = opened((rule.by, rule.values, places), declared)
    each = [of_raw_values(points, declared) for points in rule.points]
    return StrataPoints(rule.by, values, tuple(each[place] for (place,) in rows))  # type: ignore[misc]


def names_of_sets(
    release: Release | StratifiedRelease, declared: Declared | None, dates: Collection[str] = ()
) -> tuple[str, ...]:
    """The columns with values that may be names of sets or bins, of which nobody said what is in them.

    Texts that were declared, or chosen from a menu: no certificate says whether these are names.

    Parameters
    ----------
    release : Release or StratifiedRelease
        That a file is made of.
    declared : Declared or None
        As for `of_raw_values`.
    dates : collection of str
        The columns of bins of dates, which are looked at by themselves.

    Examples
    --------
    >>> from nbcfast import Viewset, canonical
    >>> views = Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"], domains={"job": ["a", "b"]})
    >>> names_of_sets(canonical.release(views, 4), None)
    ('job',)
    """
    made = (release if isinstance(release, Release) else release.first).certificate
    from_rows: tuple[str | None, ...] = () if made.canonical is None else made.canonical.undeclared
    if made.advice is not None:  # a menu may make sets of what comes from the rows
        from_rows = ()
    if isinstance(release, StratifiedRelease):
        from_rows += (release.by,) if release.undeclared else ()
    known = () if declared is None else declared.options
    return tuple(
        name
        for name, domain in _published_values(release).items()
        if name not in (*known, *from_rows, *dates) and any(isinstance(value, str) for value in domain)
    )


def bins_of_dates(
    release: Release | StratifiedRelease, declared: Declared | None, *, taken: bool
) -> tuple[str, ...]:
    """The columns of bins of dates, which a file has by their names: other programs write dates otherwise.

    Parameters
    ----------
    release, declared
        As for `names_of_sets`.
    taken : bool
        Whether the file puts dates into bins that are called by their ends, as one of Python does: only
        those with names of their own are listed then.
    """
    known = {} if declared is None else declared.options
    found = []
    for name, domain in _published_values(release).items():
        by_ends = Placing(Domain.of(domain, in_order=False)).dates is not None
        named = name in known and is_of_dates(known[name])
        if (by_ends and not taken) or (named and not by_ends):
            found.append(name)
    return tuple(found)


def _published_values(release: Release | StratifiedRelease) -> dict[str, tuple[Value, ...]]:
    """The values of each column that a file reads."""
    views = (release if isinstance(release, Release) else release.first).views
    by = {} if isinstance(release, Release) else {release.by: tuple(release.domain.values)}
    return by | {name: tuple(views.domain(name)) for name in views.attributes}
