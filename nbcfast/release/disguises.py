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
from nbcfast.release.files import _domain, _number, _typed, written
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
                "name": name,
                "values": [
                    [text, _typed(value, domain)] for text, value in zip(plain, domain.values, strict=True)
                ],
            }
        )
    document: dict[str, Any] = {
        "columns": columns,
        "format": form.FORMAT,
        "kind": "disguised",
        "method": "randomised response",
        "notes": list(NOTES),
        "privacy": [
            None if group.odds is None else f"{group.odds.numerator}/{group.odds.denominator}"
            for group in privacy.groups
        ],
        "rows": _number(disguised.n_rows),
        "scheme": disguised.scheme.to_dict(),
        "seeded": disguised.seeded,
        "table_sha256": table_sha256,
        "version": __version__,
        "warnings": warnings,
    }
    document["sha256"] = form.digest(document)
    return document


def load_disguised(document: DisguisedDocument, where: str) -> Disguised:
    """The answers in a folder whose certificate is `document`; ValueError if a check fails.

    A simulation is loaded as well: it says that it is one.
    """
    for name, holds, text in form.judge_disguised(document, os.path.dirname(where)):
        if not holds and name != "coins":
            raise ValueError(f"{where}: {name}: {text}")
    return disguised_of(document, where)


def disguised_of(document: DisguisedDocument, where: str) -> Disguised:
    """The answers that a document of checked form and its checked table describe."""
    import csv

    scheme = from_dict(document.fields["scheme"], f"{where}: scheme")
    places = [{text: place for place, (text, _) in enumerate(values)} for _, values in document.columns]
    codes: list[list[int]] = [[] for _ in places]
    with open(os.path.join(os.path.dirname(where), form.TABLE), newline="", encoding="utf-8") as file:
        lines = csv.reader(file, strict=True)
        next(lines)
        before: list[str] | None = None
        found: list[int] = []
        for line in lines:
            if line != before:
                before = line
                found = [place[text] for place, text in zip(places, line or [""], strict=True)]
            for column, code in zip(codes, found, strict=True):
                column.append(code)
    columns = {}
    for (name, values), own in zip(document.columns, codes, strict=True):
        domain = _domain([typed for _, typed in values], f"{where}: column {name!r}")
        columns[name] = Column(np.array(own, code_dtype(len(values))), domain)
    return Disguised._from(Table._of(columns, None, document.rows), scheme, document.fields["seeded"])
