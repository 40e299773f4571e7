"""Read what is published, with every check that its files allow."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused
from nbcfast._wire.kinds import judge_any, parse
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_form import StrataDocument
from nbcfast.published.base import Published
from nbcfast.published.document import beyond, read, unfit
from nbcfast.published.release import Release
from nbcfast.published.restored import release_of, strata_of
from nbcfast.published.strata import StratifiedRelease
from nbcfast.verification.disclosures import disclosure_of
from nbcfast.verification.disguises import disguised_of
from nbcfast.verification.partitions import partition_of
from nbcfast.verification.remade import Answers

if TYPE_CHECKING:
    from nbcfast._wire.table_form import RowCounts


def strata_from(document: StrataDocument, rows: RowCounts, where: str) -> StratifiedRelease:
    """Strata, each with the checks of a release alone; `rows` are those of no table."""
    made = strata_of(document, where)
    pairs = zip(document.releases, made.strata.values(), strict=True)
    for of, (own, release) in zip(document.labels, pairs, strict=True):
        fault = _fault(own, release)
        if fault:
            raise ValueError(f"{where}: stratum {of}: {fault}")
    return made


READERS: dict[str, Callable[..., Published]] = {
    "strata": strata_from,
    "partition": partition_of,
    "disclosure": disclosure_of,
    "disguised": disguised_of,
}


def load(path: str | os.PathLike[str]) -> Any:  # the caller knows which kind it is, and types do not
    """Read what is published in a folder, and check everything that its files can tell.

    Of a release that is its form, its sha256, that all counts are positive and those of some table, that
    Lambda keeps the limit of the certificate, and that the points of a canonical one decide as its counts do
    (unless answers are kept on a public list only, which is not in the file: `nbcfast.verify` takes it).
    Of strata it is all of this for each. Of a partition it is every demand of the certificate, of a
    disclosure every template. Disguised answers must hide what the certificate says; a simulation is loaded
    as well, and says that it is one.

    Parameters
    ----------
    path : str or path
        The folder that `save` wrote, or the certificate.json in it.

    Returns
    -------
    Release, StratifiedRelease, Partition, Disclosure or Disguised

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If a check fails; the message names what is wrong.

    See Also
    --------
    nbcfast.verify : The same as a report, and against the private views.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nbcfast import Certificate, Release, Viewset, load
    >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     Release(views, Certificate(amplification=4, tuples=2)).save(folder)
    ...     file = Path(folder, "certificate.json")
    ...     _ = file.write_text(file.read_text().replace("[2,3]", "[2,4]"))
    ...     try:
    ...         load(folder)
    ...     except ValueError as error:
    ...         print(str(error).removeprefix(f"{file}: "))  # doctest: +ELLIPSIS
    sha256 does not match, the file was changed: attribute 'job', class 'yes': the counts add up to 3, but ...
    """
    where, document = read(path)
    if isinstance(document, StrataDocument):
        return published(document, {}, where)
    if not isinstance(document, ReleaseDocument):
        rows, results = judge_any(document, os.path.dirname(where))
        for name, holds, text in results:
            if not holds and name not in document.admitted:
                raise ValueError(f"{where}: {name}: {text}")
        return published(document, rows, where)
    return _checked(document, where)


def release_from(text: str, where: str) -> Release:
    """The release that the text of a certificate.json holds, with the checks of `load`.

    Parameters
    ----------
    text : str
        With the line break at its end.
    where : str
        What an error is about.

    Raises
    ------
    ValueError
        If a check fails, or it is no release; the message names what is wrong.

    Examples
    --------
    >>> from nbcfast import Certificate, Release, Viewset
    >>> from nbcfast.published.document import text_of
    >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    >>> release = Release(views, Certificate(amplification=4, tuples=2))
    >>> release_from(text_of(release), "text") == release
    True
    """
    try:
        document = parse(text.encode())
    except (Refused, UnicodeEncodeError) as error:
        raise ValueError(f"{where}: {error}") from None
    return _checked(document, where)


def _checked(document: ReleaseDocument, where: str) -> Release:
    """The release of a document of checked form, if nothing is wrong with its counts."""
    release = release_of(document, where)
    fault = _fault(document, release)
    if fault:
        raise ValueError(f"{where}: {fault}")
    return release


def _fault(document: ReleaseDocument, release: Release) -> str | None:
    """What is wrong with the counts of a release, or None."""
    fault = unpositive(document) or unrealistic(document) or unfit(release)
    return fault or beyond(release, document) or _at_odds(document, release)


def published(document: Form, rows: RowCounts, where: str) -> Published:
    """What a certificate of checked form and the rows of its table describe, where it has one."""
    return READERS[document.fields["kind"]](document, rows, where)


def _at_odds(document: ReleaseDocument, release: Release) -> str | None:
    """That points and counts of a canonical release decide differently, if that is known."""
    made = release.certificate.canonical
    if made is None:
        return None
    alike, text = Answers(document, release, made).scorecard()
    return text if alike is False else None
