"""How a release is written: its certificate, and a synthetic table beside the folder."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from nbcfast._core.files import place_of
from nbcfast._wire.form import Form
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast.published.base import Parts
from nbcfast.published.dataset import stream
from nbcfast.published.document import at_odds, beyond, fields_of, strange, unfit

if TYPE_CHECKING:
    from nbcfast._core.files import Writing
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release


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
        if os.path.dirname(place_of(dataset)) == place_of(path):
            raise ValueError(
                f"dataset must not be in the folder of the release, whose certificate does not cover it; got "
                f"{os.fsdecode(dataset)!r}"
            )
    return Parts(fields=fields_of(release), judged=partial(_judged, release), beside=beside)


def _judged(release: Release, document: Form) -> str | None:
    """What of the counts breaks what the certificate says, as far as a recipient finds out."""
    assert isinstance(document, ReleaseDocument)
    return beyond(release, document) or at_odds(document)


def _stream(
    release: Release, dataset: str, overwrite: bool, progress: Progress | None, writing: Writing
) -> None:
    stream(release, dataset, writing.file(dataset, overwrite), None, progress, "dataset")
