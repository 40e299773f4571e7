"""The files of disguised answers: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.published import table_lines as tables
from nbcfast.published.typed import domain_of_json, json_rational, json_whole
from nbcfast.response.binary import Cut
from nbcfast.response.disguising import Disguised
from nbcfast.response.schemes import from_dict
from nbcfast.table import Column, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast.verify_release import DisguisedDocument


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
    lines = tables.Lines(disguised.collapse())
    fields = _document(disguised)
    copies = {form.SCHEME: fields["scheme"]}
    if cuts:
        fields["cuts"] = {name: cut.to_dict() for name, cut in cuts.items()}
        copies[form.CUTS] = fields["cuts"]
        try:
            form.DisguisedDocument({**fields, "sha256": "0" * 64, "table_sha256": "0" * 64})
        except form.Refused as error:
            raise ValueError(f"not saved: {error}") from None
    tables.save(
        path,
        lines,
        lambda digest: {**fields, "table_sha256": digest},
        copies=copies,
        overwrite=overwrite,
    )


def _document(disguised: Disguised) -> dict[str, Any]:
    privacy = disguised.scheme.privacy()
    groups = [(group.columns, None if group.is_ldp else group.text) for group in privacy.groups]
    warnings = form.disguised_warnings(disguised.untouched, groups)
    return {
        "columns": [
            {"cells": tables.cells(disguised.column(name).domain), "name": name} for name in disguised.names
        ],
        "format": form.FORMAT,
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(form.DisguisedDocument.told),
        "privacy": [None if group.odds is None else json_rational(group.odds) for group in privacy.groups],
        "rows": json_whole(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "version": __version__,
        "warnings": warnings,
    }


def from_rows(document: DisguisedDocument, rows: form.Rows, where: str) -> Disguised:
    """The answers that a document of checked form describes, with these rows of its table, in their order."""
    scheme = from_dict(document.fields["scheme"], f"{where}: scheme")
    distinct = np.array(list(rows), np.int64).reshape(len(rows), len(document.columns))
    counts = np.array(list(rows.values()), np.int64)
    columns = {}
    for place, (name, cells) in enumerate(document.columns):
        domain = domain_of_json([typed for _, typed in cells], f"{where}: column {name!r}")
        codes = distinct[:, place].astype(code_dtype(len(cells)))
        columns[name] = Column(np.repeat(codes, counts), domain)
    cuts = {name: Cut.from_dict(cut) for name, cut in document.fields.get("cuts", {}).items()}
    table = Table._of(columns, None, int(counts.sum()))
    return Disguised._from(table, scheme, document.fields["seeded"], cuts)
