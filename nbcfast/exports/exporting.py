"""`export`: a release written in a form that other programs run, loaded back and compared."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from nbcfast import __version__
from nbcfast._core.dtypes import Longs
from nbcfast._core.files import check_file, written
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.exports.about import About
from nbcfast.exports.domain_tuples import tuples_to_compare
from nbcfast.exports.formats import FORMATS, Format, format_of
from nbcfast.exports.points_of_release import expect_release, points_of
from nbcfast.exports.raw_sets import bins_of_dates, names_of_sets, of_raw_values
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.exported import Exported
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.published.wire import parts_of, strata_parts
from nbcfast.table.values import Value, kind_of_values

if TYPE_CHECKING:
    from typing import IO

    from nbcfast._core.threads import Progress

HALF = re.compile("[\ud800-\udfff]")


class DifferingFileError(ValueError):
    """A file that decides otherwise than the release that it was made of: it is not kept."""


def export(
    release: Release | StratifiedRelease,
    path: str | os.PathLike[str],
    *,
    to: str | None = None,
    table: str = "input",
    name: str | None = None,
    domains: Declarations | Declared | None = None,
    null_values: Collection[str] = (),
    overwrite: bool = False,
    check: bool = True,
    progress: Progress | None = None,
) -> Exported:
    """Write a release in a form that other programs run: integer points and comparisons, nothing else.

    A value that is not published, or is null where null is not, never gets a class. After writing the file
    is loaded by what runs such files, where that is installed, and compared with the release on the whole
    domain, or on the million tuples nearest to a change of class. A file that differs is not kept.

    Parameters
    ----------
    release : Release or StratifiedRelease
        A release that carries no points gets some from its own answers. One by the values of a column can be
        written as SQL and Python.
    path : str or path
        The file; its ending says which kind it is, such as .sql or .onnx.
    to : str, optional
        The kind, where the ending does not say it: "sql", "onnx", ..
    table : str
        What SQL reads from; a schema may come before it, with a dot.
    name : str, optional
        The column that SQL and Python add, where tables have the class column; by default that of the class.
    domains : mapping, or path of a JSON file that holds one, optional
        What raw values were put into before, as `nbcfast.publish` took it: the file then has the raw values
        in the place of names of sets and bins. By default it has those that are published.
    null_values : collection of str
        Texts that the file reads as null, beside a real null; in a file of Python in place of the empty text.
        Scorecards in CSV and pages take none: there a person looks values up.
    overwrite : bool
        Replace a file that is there.
    check : bool
        Load the file back and compare it.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Exported
        With `.text`, which says in one sentence whether the file was compared.

    Raises
    ------
    TypeError
        If this is no Release: a Viewset is private.
    ValueError
        If the kind is not known, the release cannot be written in it, or (`DifferingFileError`) the file
        decides otherwise.
    Infeasible
        If the domain is too large for points to be made and compared.
    FileExistsError
        If there is such a file, and `overwrite` does not say that it may be replaced.
    ImportError
        If what writes this kind is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import nbcfast
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"])
    >>> release = nbcfast.safety_transform(views, 4)
    >>> with TemporaryDirectory() as folder:
    ...     export(release, f"{folder}/rule.py").text  # doctest: +ELLIPSIS
    'exported: same class on all 2 tuples (python 3...)'
    """
    if not isinstance(release, StratifiedRelease):
        expect_release(release)
    where = os.fsdecode(path)
    ending = format_of(where, to)
    made = FORMATS[ending]
    if name is not None and not made.adds:
        raise ValueError(f"name is for SQL and Python, got it with {ending[1:]}")
    check_file(path, overwrite)
    _expect_room(release, made, ending)
    sha256 = _sha256(release, where)
    rule = _rule_of(release, made, ending, progress)
    made_with = None if domains is None else declared(domains)
    if made_with is not None:
        rule = of_raw_values(rule, made_with)
    class_name = "class" if release.class_name is None else release.class_name
    _expect_nulls(rule, null_values, ending)
    _expect_whole_texts(rule, class_name, *([] if name is None else [name]), *null_values)
    read_table = table if ending == ".sql" else None
    about = About(sha256, class_name, __version__, read_table, name, tuple(null_values))
    data = _content(rule, made, about)
    runtime = made.runtime() if check else None
    of_dates = bins_of_dates(release, made_with, taken=False)
    dates = bins_of_dates(release, made_with, taken=ending == ".py")
    with written(path, overwrite=overwrite) as file:
        file.write(data)
        compared = 0 if runtime is None else _compared(rule, made, _again(file), about, progress)
    return Exported(
        path=where,
        format=ending[1:],
        bytes=len(data),
        sha256=about.sha256,
        compared=compared,
        tuples=_tuples(rule),
        runtime=runtime,
        identical=None if runtime is None else True,
        missing=made.loads if check and runtime is None else None,
        sets=names_of_sets(release, made_with, of_dates),
        dates=dates,
        null_values=about.null_values,
        nulls=_with_null(rule),
        null=made.null,
    )


def _expect_room(release: Release | StratifiedRelease, made: Format, ending: str) -> None:
    """Refuse, before points are made, more values than a file has room for."""
    views = release.views if isinstance(release, Release) else release.columns
    values = sum(len(views.domain(name)) for name in views.attributes)
    if made.values is not None and values > made.values:
        raise ValueError(
            f"{ending} files have room for {made.values:,} values at most, and this release has {values:,}: "
            "export it as .csv, .xlsx or .py"
        )


def _domains(rule: PointsTable | StrataPoints) -> dict[str, tuple[Value, ...]]:
    """The values of each column that a file reads."""
    first = rule if isinstance(rule, PointsTable) else rule.points[0]
    by = {} if isinstance(rule, PointsTable) else {rule.by: rule.values}
    return by | {name: domain for name, domain, _ in first.attributes}


def _with_null(rule: PointsTable | StrataPoints) -> tuple[str, ...]:
    return tuple(name for name, domain in _domains(rule).items() if None in domain)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _expect_nulls(rule: PointsTable | StrataPoints, null_values: Collection[str], ending: str) -> None:
    """Refuse texts for null where a file takes none, or would not tell them from values."""
    if not null_values:
        return
    if isinstance(null_values, str) or not all(isinstance(text, str) for text in null_values):
        raise TypeError(f"null_values must be a list of texts, got {null_values!r}")
    if not FORMATS[ending].texts:
        others = ", ".join(other for other, of in FORMATS.items() if of.texts)
        raise ValueError(f"null_values is for {others}, got it with {ending}: it takes no texts of rows")
    for text in null_values:
        for name, domain in _domains(rule).items():
            if text in domain:
                raise ValueError(
                    f"null_values must be texts that are not published, got {text!r}, which is a value "
                    f"of {name!r}"
                )
            kind = kind_of_values(name, domain)
            if kind not in ("text", None) and _is_number(text):
                raise ValueError(
                    f"null_values: {text!r} is a number, and {name!r} has numbers: make it a real null in "
                    "the rows before"
                )


def _expect_whole_texts(rule: PointsTable | StrataPoints, *others: str) -> None:
    """Refuse half a pair of surrogates, which is no letter and cannot be written."""
    strata = [] if isinstance(rule, PointsTable) else [rule.by, *rule.values]
    first = rule if isinstance(rule, PointsTable) else rule.points[0]
    named = [*others, *first.classes, *strata]
    for name, domain, _ in first.attributes:
        named += [name, *domain]
    wrong = next((one for one in named if isinstance(one, str) and HALF.search(one)), None)
    if wrong is not None:
        raise ValueError(f"half a surrogate pair cannot be written in UTF-8, got the text {wrong!a}")


def _rule_of(
    release: Release | StratifiedRelease, made: Format, ending: str, progress: Progress | None
) -> PointsTable | StrataPoints:
    """What decides; ValueError where the format has no place for it."""
    if isinstance(release, Release):
        return points_of(release, progress=progress)
    if made.content_by is None:
        others = ", ".join(other for other, of in FORMATS.items() if of.content_by is not None)
        raise ValueError(
            f"this release has points for each value of {release.by!r}, for which {ending} files have no "
            f"place: export it as one of {others}, or publish a release for each value"
        )
    each = tuple(points_of(one, progress=progress) for one in release.strata.values())
    return StrataPoints(release.by, tuple(release.strata), each)


def _sha256(release: Release | StratifiedRelease, path: str) -> str:
    """Of the certificate that `save` would write; ValueError where it would not."""
    try:
        if isinstance(release, Release):
            data = parts_of(release, path, None, False, None).data({})
        else:
            data = strata_parts(release, path, None, False, None).data({})
    except ValueError as error:
        raise ValueError(str(error).replace("not saved", "not exported", 1)) from None
    return str(json.loads(data)["sha256"])


def _tuples(rule: PointsTable | StrataPoints) -> int:
    """Of the domain of a file."""
    if isinstance(rule, StrataPoints):
        return sum(map(_tuples, rule.points))
    return math.prod(len(domain) for _, domain, _ in rule.attributes)


def _content(rule: PointsTable | StrataPoints, made: Format, about: About) -> bytes:
    if isinstance(rule, PointsTable):
        return made.content(rule, about)
    assert made.content_by is not None
    return made.content_by(rule, about)


def _again(file: IO[bytes]) -> bytes:
    """What was written, as it is read from there."""
    file.flush()
    file.seek(0)
    data = file.read()
    file.seek(0, os.SEEK_END)
    return data


def _compared(
    rule: PointsTable | StrataPoints, made: Format, data: bytes, about: About, progress: Progress | None
) -> int:
    """How many tuples a file was compared on; DifferingFileError where one has another class, or none."""
    if isinstance(rule, PointsTable):
        points, (codes, expected) = rule, tuples_to_compare(rule, made.most)
    else:  # all strata at once: what loads a file takes its time each time
        points, (codes, expected) = rule.columns, rule.tuples_to_compare(made.most)
    total = len(codes)
    for start in range(0, total, made.rows):
        rows = slice(start, start + made.rows)
        found = made.decides(data, points, about, codes[rows])
        _expect_same(points, codes[rows], found, expected[rows])
        if progress is not None:
            progress(min(start + made.rows, total), total)
    return total


def _expect_same(points: PointsTable, codes: Longs, found: Longs, expected: Longs) -> None:
    wrong = (found != expected).nonzero()[0]
    if not len(wrong):
        return
    first = int(wrong[0])
    row = {
        name: domain[code]
        for (name, domain, _), code in zip(points.attributes, codes[first].tolist(), strict=True)
    }
    got = "no class" if found[first] < 0 else repr(points.classes[int(found[first])])
    raise DifferingFileError(
        f"not written: the file decides {len(wrong):,} of {len(codes):,} tuples otherwise than the "
        f"release; for example {row!r} gives {got}, expected {points.classes[int(expected[first])]!r}"
    )
