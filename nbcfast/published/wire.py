"""How a release and those of strata are written: the certificate, and a synthetic table beside it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from nbcfast._core.files import place_of
from nbcfast._core.untyped import Document
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import FORMAT, digest
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_form import StrataDocument
from nbcfast.published.base import Parts
from nbcfast.published.dataset import stream
from nbcfast.published.document import at_odds, beyond, document_of, fields_of, strange, unfit
from nbcfast.published.typed import json_value

if TYPE_CHECKING:
    from nbcfast._core.files import Writing
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release
    from nbcfast.published.strata import StratifiedRelease


def parts_of(
    release: Release,
    path: str | os.PathLike[str],
    dataset: str | os.PathLike[str] | None,
    overwrite: bool,
    progress: Progress | None,
) -> Parts:
    """What is written of a release; ValueError where the counts lack what the certificate claims."""
    fault = unfit(release) or strange(release)
    if fault:
        raise ValueError(f"not saved: {fault}")
    beside = None
    if dataset is not None:
        beside = partial(_stream, release, os.fsdecode(dataset), overwrite, progress)
        _expect_beside(path, dataset)
    return Parts(fields=fields_of(release), judged=partial(_judged, release), beside=beside)


def _judged(release: Release, document: Form) -> str | None:
    """What of the counts breaks what the certificate says, as far as a recipient finds out."""
    assert isinstance(document, ReleaseDocument)
    return beyond(release, document) or at_odds(document)


def _stream(
    release: Release, dataset: str, overwrite: bool, progress: Progress | None, writing: Writing
) -> None:
    stream(release, dataset, writing.file(dataset, overwrite), None, progress, "dataset")


def _expect_beside(path: str | os.PathLike[str], dataset: str | os.PathLike[str]) -> None:
    """Refuse a synthetic table in the folder of the release."""
    if os.path.dirname(place_of(dataset)) == place_of(path):
        raise ValueError(
            f"dataset must not be in the folder of the release, whose certificate does not cover it; got "
            f"{os.fsdecode(dataset)!r}"
        )


def strata_parts(
    made: StratifiedRelease,
    path: str | os.PathLike[str],
    dataset: str | os.PathLike[str] | None,
    overwrite: bool,
    progress: Progress | None,
) -> Parts:
    """What is written of strata; ValueError where counts of one lack what its certificate claims."""
    for one, release in made.strata.items():
        fault = unfit(release) or strange(release)
        if fault:
            raise ValueError(f"not saved: stratum {one!r}: {fault}")
    beside = None
    if dataset is not None:
        beside = partial(_stream_strata, made, os.fsdecode(dataset), overwrite, progress)
        _expect_beside(path, dataset)
    return Parts(fields=_strata_fields(made), judged=partial(_judged_strata, made), beside=beside)


def strata_digest(made: StratifiedRelease) -> str:
    """The sha256 of the certificate of strata."""
    return digest(_strata_fields(made))


def strata_document(made: StratifiedRelease) -> Document:
    """The fields of the file, with the sha256 of the text of the others."""
    fields = _strata_fields(made)
    return {**fields, "sha256": digest(fields)}


def _strata_fields(made: StratifiedRelease) -> Document:
    """The fields of the file, without its sha256: of each stratum those of its release alone."""
    certificate, domain = made.certificate, made.domain
    return {
        "by": made.by,
        "format": FORMAT,
        "kind": certificate.kind,
        "method": certificate.method,
        "notes": list(certificate.own_notes),
        "strata": [
            {"release": document_of(release), "value": json_value(one, domain)}
            for one, release in made.strata.items()
        ],
        "undeclared": made.undeclared,
        "version": certificate.version,
        "warnings": list(certificate.own_warnings),
    }


def _judged_strata(made: StratifiedRelease, document: Form) -> str | None:
    """What of the counts of a stratum breaks what its certificate says, as far as a recipient finds out."""
    assert isinstance(document, StrataDocument)
    for of, release, own in zip(document.labels, made.strata.values(), document.releases, strict=True):
        fault = _judged(release, own)
        if fault is not None:
            return f"stratum {of}: {fault}"
    return None


def _stream_strata(
    made: StratifiedRelease, dataset: str, overwrite: bool, progress: Progress | None, writing: Writing
) -> None:
    made.stream(dataset, writing.file(dataset, overwrite), None, progress, "dataset")
