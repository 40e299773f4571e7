"""The files of disguised answers: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.release import tables
from nbcfast.release.files import _domain, _number, _rational
from nbcfast.response.disguising import Disguised
from nbcfast.response.schemes import from_dict
from nbcfast.table import Column, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast.verify_release import DisguisedDocument


def save(disguised: Disguised, path: str | os.PathLike[str]) -> None:
    """Write the folder; see `Disguised.save`."""
    if not disguised.n_rows:
        raise ValueError("not saved: no rows")
    lines = tables.Lines(disguised.collapse())
    tables.save(path, lines, lambda digest: _document(disguised, digest))


def _document(disguised: Disguised, table_sha256: str) -> dict[str, Any]:
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
        "privacy": [None if group.odds is None else _rational(group.odds) for group in privacy.groups],
        "rows": _number(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "table_sha256": table_sha256,
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
        domain = _domain([typed for _, typed in cells], f"{where}: column {name!r}")
        codes = distinct[:, place].astype(code_dtype(len(cells)))
        columns[name] = Column(np.repeat(codes, counts), domain)
    return Disguised._from(Table._of(columns, None, int(counts.sum())), scheme, document.fields["seeded"])
