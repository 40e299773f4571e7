"""The files of disguised answers: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.release.datasets import _field, _texts
from nbcfast.release.files import _domain, _number, _rational, _typed, written
from nbcfast.response.disguising import Disguised
from nbcfast.response.schemes import from_dict
from nbcfast.table import SUPPRESSED, Column, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast.verify_release import DisguisedDocument

BLOCK_ROWS = 1 << 18

NOTES = (
    "Each answer was disguised by the scheme before it was told; what its coins hide does not depend on what "
    "anybody knows. No file can show that they were thrown.",
    "Who answers twice, or is in two such tables, tells more: epsilons add up.",
)


def save(disguised: Disguised, path: str | os.PathLike[str]) -> None:
    """Write the folder; see `Disguised.save`."""
    if not disguised.n_rows:
        raise ValueError("not saved: no rows")
    lines = _Lines(disguised)
    folder = os.fsdecode(path)
    made = not os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        with written(os.path.join(folder, form.NAME)) as certificate:
            total = hashlib.sha256()
            with written(os.path.join(folder, form.TABLE)) as file:
                for block in lines:
                    data = block.encode()
                    total.update(data)
                    file.write(data)
            document = _document(disguised, total.hexdigest())
            certificate.write((form.canonical(document) + "\n").encode("ascii"))
    except BaseException:
        if made:
            with suppress(OSError):
                os.rmdir(folder)
        raise


class _Lines:
    """The lines of table.csv: sorted, so that their order tells nothing about the data."""

    def __init__(self, disguised: Disguised) -> None:
        self.texts = {name: _texts(disguised.column(name).domain, name) for name in disguised.names}
        for name, texts in self.texts.items():
            if len(set(texts)) < len(texts):
                raise ValueError(f"column {name!r}: two of its values have the same text in CSV")
        self.table = disguised

    def __iter__(self) -> Iterator[str]:
        yield ",".join(map(_field, self.texts)) + "\n"
        distinct = self.table.collapse()
        assert distinct.weights is not None
        columns = [
            [texts[code] for code in distinct.codes(name).tolist()] for name, texts in self.texts.items()
        ]
        for line, count in zip(
            map(",".join, zip(*columns, strict=True)), distinct.weights.tolist(), strict=True
        ):
            for start in range(0, count, BLOCK_ROWS):
                yield (line + "\n") * min(count - start, BLOCK_ROWS)


def _document(disguised: Disguised, table_sha256: str) -> dict[str, Any]:
    warnings = []
    if disguised.untouched:
        warnings.append(f"Told as they are: {', '.join(disguised.untouched)}.")
    privacy = disguised.scheme.privacy()
    warnings += [f"{', '.join(group.columns)}: {group.text}." for group in privacy.groups if not group.is_ldp]
    columns = []
    for name in disguised.names:
        domain = disguised.column(name).domain
        plain = [
            "" if value is None else "*" if value is SUPPRESSED else str(value) for value in domain.values
        ]
        columns.append(
            {
                "cells": [
                    [text, _typed(value, domain)] for text, value in zip(plain, domain.values, strict=True)
                ],
                "name": name,
            }
        )
    document: dict[str, Any] = {
        "columns": columns,
        "format": form.FORMAT,
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(NOTES),
        "privacy": [None if group.odds is None else _rational(group.odds) for group in privacy.groups],
        "rows": _number(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "table_sha256": table_sha256,
        "version": __version__,
        "warnings": warnings,
    }
    document["sha256"] = form.digest(document)
    return document


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
