"""The files of disguised answers: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nbcfast import __version__
from nbcfast._core.untyped import Document
from nbcfast._wire.disguised import DisguisedDocument, check_cut
from nbcfast._wire.json_entries import FORMAT, Refused
from nbcfast._wire.regular_files import CUTS, SCHEME
from nbcfast._wire.scheme import disguised_warnings
from nbcfast.published import table_lines as tables
from nbcfast.published.typed import json_rational, json_whole
from nbcfast.response.binarising import Cut

if TYPE_CHECKING:
    from nbcfast.response.disguising import Disguised


def save(
    disguised: Disguised,
    path: str | os.PathLike[str],
    cuts: Mapping[str, Cut],
    overwrite: bool,
) -> None:
    """Write the folder; see `Disguised.save`."""
    if not disguised.n_rows:
        raise ValueError("not saved: no rows")
    for name, cut in cuts.items():
        if not isinstance(cut, Cut):
            raise TypeError(f"cuts: expected a Cut for {name!r}, got {type(cut).__name__}")
    expect_savable(cuts)
    lines = tables.Lines(disguised.collapse())
    fields = _document(disguised)
    copies = {SCHEME: fields["scheme"]}
    if cuts:
        fields["cuts"] = {name: cut.to_dict() for name, cut in cuts.items()}
        copies[CUTS] = fields["cuts"]
        try:
            DisguisedDocument({**fields, "sha256": "0" * 64, "table_sha256": "0" * 64})
        except Refused as error:
            raise ValueError(f"not saved: {error}") from None
    tables.save(
        path,
        lines,
        lambda digest: {**fields, "table_sha256": digest},
        copies=copies,
        overwrite=overwrite,
    )


def expect_savable(cuts: Mapping[str, Cut]) -> None:
    """ValueError where a certificate does not take a cut; before coins are thrown it can be asked already."""
    for name, cut in cuts.items():
        try:
            check_cut(name, cut.to_dict())
        except Refused as error:
            raise ValueError(f"not saved: {error}") from None


def _document(disguised: Disguised) -> Document:
    privacy = disguised.scheme.privacy()
    groups = [(group.columns, None if group.is_ldp else group.text) for group in privacy.groups]
    warnings = disguised_warnings(disguised.untouched, groups)
    return {
        "columns": [
            {"cells": tables.cells(disguised.column(name).domain), "name": name} for name in disguised.names
        ],
        "format": FORMAT,
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(DisguisedDocument.told),
        "privacy": [None if group.odds is None else json_rational(group.odds) for group in privacy.groups],
        "rows": json_whole(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "version": __version__,
        "warnings": warnings,
    }
