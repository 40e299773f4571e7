"""Read what is published, with every check that its files allow."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nbcfast._core.dtypes import Counts
from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import rational
from nbcfast._wire.kinds import judge_any
from nbcfast._wire.release_form import Document
from nbcfast.published.certificate import Canonical, Certificate, PublicList
from nbcfast.published.document import beyond, read, unfit
from nbcfast.published.release import Release
from nbcfast.published.typed import domain_of_json
from nbcfast.table.domain import Domain
from nbcfast.verification.disclosures import disclosure_of
from nbcfast.verification.disguises import disguised_of
from nbcfast.verification.partitions import partition_of
from nbcfast.verification.remade import scorecard
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts

if TYPE_CHECKING:
    from nbcfast._wire.table_form import Rows


READERS: dict[str, Callable[..., Any]] = {
    "partition": partition_of,
    "disclosure": disclosure_of,
    "disguised": disguised_of,
}


def load(path: str | os.PathLike[str]) -> Any:
    """Read what is published in a folder, and check everything that its files can tell.

    Of a release that is its form, its sha256, that all counts are positive and those of some table, that
    Lambda keeps the limit of the certificate, and that the points of a canonical one decide as its counts do
    (unless answers are kept on a public list only, which is not in the file: `nbcfast.verify` takes it).
    Of a partition it is every demand of the certificate, of a disclosure every template. Disguised answers
    must hide what the certificate says; a simulation is loaded as well, and says that it is one.

    Parameters
    ----------
    path : str or path
        The folder that `save` wrote, or the certificate.json in it.

    Returns
    -------
    Release, Partition, Disclosure or Disguised

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
    if not isinstance(document, Document):
        rows, results = judge_any(document, os.path.dirname(where))
        for name, holds, text in results:
            if not holds and name not in document.admitted:
                raise ValueError(f"{where}: {name}: {text}")
        return published(document, rows, where)
    release = release_of(document, where)
    fault = unpositive(document) or unrealistic(document) or unfit(release)
    fault = fault or beyond(release, document) or _at_odds(release, document)
    if fault:
        raise ValueError(f"{where}: {fault}")
    return release


def published(document: Form, rows: Rows, where: str) -> Any:
    """What a certificate of checked form and the rows of its table describe, where it has one."""
    return READERS[document.fields["kind"]](document, rows, where)


def release_of(document: Document, where: str) -> Release:
    """The release that a document of checked form describes."""
    fields = document.fields
    found = document.canonical
    undeclared = () if found is None else found["undeclared"]
    classes = domain_of_json(document.classes, f"{where}: classes", None not in undeclared, in_order=False)
    counts: dict[str, Counts] = {}
    domains: dict[str, Domain] = {}
    for name, values, rows in document.attributes:
        counts[name] = as_counts(rows, f"{where}: attribute {name!r}")
        domains[name] = domain_of_json(values, f"{where}: attribute {name!r}", name not in undeclared)
    certificate = Certificate(
        amplification=document.amplification,
        tuples=document.tuples,
        differing_tuples=document.differing_tuples,
        differing_rows=document.differing_rows,
        warnings=tuple(fields["warnings"]),
        r=None if "r" not in fields else rational(fields["r"], "field 'r'"),
        prior=None if document.prior is None else tuple(document.prior),
        canonical=None if found is None else _canonical(found),
        **{
            name: fields[name]
            for name in ("attacker", "equivalence", "gauge", "identity", "method", "preserve", "version")
        },
    )
    views = Viewset.from_parts(
        as_counts(document.class_counts, f"{where}: class_counts"), counts, classes, domains
    )
    return Release(views, certificate, fields["class_name"])


def _canonical(found: dict[str, Any]) -> Canonical:
    listed = found["listed"]
    return Canonical(**{**found, "listed": None if listed is None else PublicList(**listed)})


def _at_odds(release: Release, document: Document) -> str | None:
    """That points and counts of a canonical release decide differently, if that is known."""
    if release.certificate.canonical is None:
        return None
    alike, text = scorecard(release, document=document)
    return text if alike is False else None
