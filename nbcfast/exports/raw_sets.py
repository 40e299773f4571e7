"""Names of sets and of bins replaced by what is in them, so that a file takes rows as they are."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from nbcfast.domains import Declared, Option
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.placing import Placing, option_of
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.table.domain import Domain
from nbcfast.table.values import Interval, Value

Rows = tuple[tuple[int, ...], ...]
Attribute = tuple[str, tuple[Value, ...], Rows]


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
        attributes = tuple(opened(each, declared) for each in rule.attributes)
        return PointsTable(rule.classes, attributes, rule.threshold, rule.constants)
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
        named = name in known and _of_dates(known[name])
        if (by_ends and not taken) or (named and not by_ends):
            found.append(name)
    return tuple(found)


def _published_values(release: Release | StratifiedRelease) -> dict[str, tuple[Value, ...]]:
    """The values of each column that a file reads."""
    views = (release if isinstance(release, Release) else release.first).views
    by = {} if isinstance(release, Release) else {release.by: tuple(release.domain.values)}
    return by | {name: tuple(views.domain(name)) for name in views.attributes}


def _of_dates(option: Option) -> bool:
    edges = option.entry.get("edges")
    return isinstance(edges, list) and any(isinstance(edge, str) for edge in edges)


def opened(attribute: Attribute, declared: Declared) -> Attribute:
    """An attribute with raw values for the names of sets and bins."""
    name, values, rows = attribute
    option = option_of(name, values, declared)
    if option is None:
        return attribute
    where = f"{declared.place(name)}: column {name!r}"
    points = dict(zip(values, rows, strict=True))
    found = [(raw, points[value]) for raw, value in _raw_of(option, where) if value in points]
    domain = Domain.of([raw for raw, _ in found], where=where, in_order=False)
    by_place = {domain.index[raw]: row for raw, row in found}
    return name, domain.values, tuple(by_place[place] for place in range(len(domain)))


def _raw_of(option: Option, where: str) -> list[tuple[Value, Value]]:
    """Raw values, each with that which it is put into."""
    entry = option.entry
    groups, edges, labels = entry.get("groups"), entry.get("edges"), entry.get("labels")
    if isinstance(groups, dict):
        if "other" in entry:
            raise ValueError(
                f"{where}: {entry['other']!r} takes every value that is not listed, and files give no class "
                "to values that they do not know: list them, or put rows into the sets before"
            )
        return [(raw, group) for group, raws in groups.items() for raw in raws]
    if isinstance(edges, list) and isinstance(labels, list) and not _of_dates(option):
        bins = [Interval(low, high) for low, high in pairwise(edges)]
        null: list[tuple[Value, Value]] = [(None, None)] if "null" in entry else []
        return [*zip(bins, labels, strict=True), *null]
    return [(value, value) for value in option.domain_values]
