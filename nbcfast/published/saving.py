"""How a release is saved: judged, and then written with what belongs to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nbcfast._core.files import place_of, together
from nbcfast._wire.json_entries import Refused
from nbcfast._wire.kinds import parse
from nbcfast._wire.regular_files import MOST_BYTES, NAME
from nbcfast.published.dataset import stream
from nbcfast.published.document import at_odds, beyond, expect_fit, strange, text_of, unfit

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release


def save(
    release: Release,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    dataset: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the folder; see `Release.save`."""
    fault = unfit(release) or strange(release)
    if fault:
        raise ValueError(f"not saved: {fault}")
    data = text_of(release).encode("ascii")
    expect_fit(NAME, len(data), MOST_BYTES)
    try:
        document = parse(data)
    except Refused as error:
        raise ValueError(f"not saved: {error}") from None
    fault = beyond(release, document) or at_odds(document)
    if fault:
        raise ValueError(f"not saved: {fault}")
    if dataset is not None and os.path.dirname(place_of(dataset)) == place_of(path):
        raise ValueError(
            f"dataset must not be in the folder of the release, whose certificate does not cover it; got "
            f"{os.fsdecode(dataset)!r}"
        )
    with together() as writing:
        files = writing.folder(path, (NAME,), overwrite)
        if dataset is not None:
            # Before the counts, because it may be too large, and then nothing is written.
            stream(release, os.fsdecode(dataset), writing.file(dataset, overwrite), None, progress)
        files[NAME].write(data)
