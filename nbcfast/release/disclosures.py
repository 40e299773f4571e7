"""The files of a disclosure: table.csv, and the certificate whose templates are checked against it alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.release.datasets import SUPPRESSED_TEXT, _field, _generator, _texts
from nbcfast.release.files import _domain, _number, _rational, _typed, written
from nbcfast.table import SUPPRESSED, Column, Interval, Table
from nbcfast.table.domain import Domain
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import Value
from nbcfast.templates.checking import confidences
from nbcfast.templates.results import Disclosure
from nbcfast.templates.template import Template

if TYPE_CHECKING:
    from nbcfast.verify_release import DisclosureDocument

BLOCK_ROWS = 1 << 18
SHUFFLED_ROWS = 1 << 31

GUARANTEE = (
    "The templates hold for the groups of rows that share the known columns. It is not differential privacy: "
    "inferences from other columns, or to other values, are not limited, and who knows how values were "
    "chosen for suppression may infer more."
)


def save(
    disclosure: Disclosure,
    path: str | os.PathLike[str],
    *,
    order: str,
    rng: np.random.Generator | None,
    weights: str | None,
    parquet: bool,
) -> None:
    """Write the folder; see `Disclosure.save`."""
    if order not in ("canonical", "shuffled"):
        raise ValueError(f"order must be 'canonical' or 'shuffled', got {order!r}")
    if rng is not None and order != "shuffled":
        raise ValueError("rng goes with order='shuffled'")
    generator = _generator(rng) if order == "shuffled" else None
    # Of the table itself: this must hold, whatever was said to make the object.
    found = confidences(disclosure.table, disclosure.templates)
    for template, confidence in found.items():
        if confidence > template.limit:
            raise ValueError(f"not saved: {template} has a confidence of {confidence}")
    lines = _Lines(disclosure.collapsed, weights)
    folder = os.fsdecode(path)
    made = not os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        with written(os.path.join(folder, form.NAME)) as certificate:
            with written(os.path.join(folder, form.TABLE)) as file:
                digest = lines.write(file, generator)
            if parquet:
                write_parquet(lines.table, os.path.join(folder, "table.parquet"), weights)
            document = _document(disclosure, found, lines, digest, order, rng is not None)
            certificate.write((form.canonical(document) + "\n").encode("ascii"))
    except BaseException:
        if made:
            with suppress(OSError):
                os.rmdir(folder)
        raise


class _Lines:
    """The lines of table.csv."""

    def __init__(self, table: Table, weights: str | None) -> None:
        names = list(table.names)
        if weights is not None:
            if weights in names:
                raise ValueError(f"weights: expected the name of a new column, got {weights!r}")
            names.append(weights)
        self.header = (",".join(map(_field, names)) + "\n").encode()
        self.table = table
        self.weights = weights
        self.texts = {name: _texts(table.column(name).domain, name) for name in table.names}
        assert table.weights is not None
        self.counts: list[int] = table.weights.tolist()

    def write(self, file: IO[bytes], generator: np.random.Generator | None) -> str:
        """Write them; the sha256 of all."""
        total = hashlib.sha256(self.header)
        file.write(self.header)
        for block in self._blocks(generator):
            data = block.encode()
            total.update(data)
            file.write(data)
        return total.hexdigest()

    def _blocks(self, generator: np.random.Generator | None) -> Iterator[str]:
        columns = []
        for name, texts in self.texts.items():
            columns.append([texts[code] for code in self.table.codes(name).tolist()])
        lines = list(map(",".join, zip(*columns, strict=True)))
        if self.weights is not None:
            lines = [f"{line},{count}" for line, count in zip(lines, self.counts, strict=True)]
            if generator is not None:
                lines = [lines[place] for place in generator.permutation(len(lines)).tolist()]
            for start in range(0, len(lines), BLOCK_ROWS):
                yield "\n".join(lines[start : start + BLOCK_ROWS]) + "\n"
        elif generator is not None:
            if sum(self.counts) >= SHUFFLED_ROWS:
                raise ValueError(f"{sum(self.counts):,} rows are too many to shuffle: give weights=")
            places = np.repeat(np.arange(len(lines), dtype=np.uint32), self.counts)
            generator.shuffle(places)
            for start in range(0, len(places), BLOCK_ROWS):
                yield "".join(lines[place] + "\n" for place in places[start : start + BLOCK_ROWS].tolist())
        else:
            for line, count in zip(lines, self.counts, strict=True):
                for start in range(0, count, BLOCK_ROWS):
                    yield (line + "\n") * min(count - start, BLOCK_ROWS)


def _plain(domain: Domain) -> list[str]:
    """The fields of a column's values as a reader of CSV gives them back."""
    return [
        "" if value is None else SUPPRESSED_TEXT if value is SUPPRESSED else str(value)
        for value in domain.values
    ]


def _document(
    disclosure: Disclosure,
    found: dict[Template, Fraction],
    lines: _Lines,
    table_sha256: str,
    order: str,
    seeded: bool,
) -> dict[str, Any]:
    table = disclosure.table
    domains = {name: table.column(name).domain for name in table.names}
    document: dict[str, Any] = {
        "columns": [
            {
                "cells": [
                    [text, _typed(value, domain)]
                    for text, value in zip(_plain(domain), domain.values, strict=True)
                ],
                "name": name,
            }
            for name, domain in domains.items()
        ],
        "format": form.FORMAT,
        "kind": "disclosure",
        "masked": list(disclosure.masked),
        "method": "top-down disclosure",
        "notes": [GUARANTEE],
        "order": order,
        "rows": _number(disclosure.n_rows),
        "seeded": seeded,
        "table_sha256": table_sha256,
        "target": disclosure.target,
        "templates": [
            {
                "attribute": template.sensitive[0],
                "confidence": _rational(found[template]),
                "limit": _rational(template.limit),
                "quasi": list(template.quasi),
                "value": _typed(
                    domains[template.sensitive[0]].values[
                        domains[template.sensitive[0]].index[template.sensitive[1]]
                    ],
                    domains[template.sensitive[0]],
                ),
            }
            for template in disclosure.templates
        ],
        "utility": disclosure.utility,
        "version": __version__,
        "warnings": [],
        "weights": lines.weights,
    }
    document["sha256"] = form.digest(document)
    return document


def write_csv(disclosure: Disclosure, path: str | os.PathLike[str], *, weights: str | None = None) -> str:
    """The published table in canonical order as a CSV file, whole or not at all; its sha256."""
    lines = _Lines(disclosure.collapsed, weights)
    with written(path) as file:
        return lines.write(file, None)


def write_parquet(table: Table, path: str | os.PathLike[str], weights: str | None) -> None:
    """The published table in canonical order as a Parquet file, whole or not at all."""
    from pyarrow import parquet

    with written(path) as file:
        writer = None
        try:
            for block in [table] if weights is not None else _repeated(table):
                arrow_table = block.to_arrow(weights)
                if writer is None:
                    writer = parquet.ParquetWriter(file, arrow_table.schema)
                writer.write_table(arrow_table)
        finally:
            if writer is not None:
                writer.close()


def _repeated(distinct: Table) -> Iterator[Table]:
    """The rows of a collapsed table as often as they count, some at a time."""
    assert distinct.weights is not None
    ends = np.cumsum(distinct.weights)
    total = int(ends[-1])
    for start in range(0, total, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, total)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left")) + 1
        lengths = np.diff(np.minimum(ends[first:last], stop), prepend=start)
        columns = {
            name: Column(np.repeat(distinct.codes(name)[first:last], lengths), distinct.column(name).domain)
            for name in distinct.names
        }
        yield Table._of(columns, None, stop - start)


def from_rows(document: DisclosureDocument, rows: form.Rows, where: str) -> Disclosure:
    """The disclosure that a document of checked form describes, with these rows of its table.

    Its table has each distinct row once, in canonical order, with a weight.
    """
    fields = document.fields
    keys = sorted(rows)
    codes = np.array(keys, np.int64).reshape(len(keys), len(document.columns))
    columns = {}
    for place, (name, cells) in enumerate(document.columns):
        domain = _domain([typed for _, typed in cells], f"{where}: column {name!r}")
        columns[name] = Column(codes[:, place].astype(code_dtype(len(domain))), domain)
    weights = np.array([rows[key] for key in keys], np.int64)
    table = Table._of(columns, weights, len(keys))
    made = {
        Template(template.quasi, (template.attribute, _value(template.value)), template.limit): Fraction(
            template.confidence
        )
        for template in document.templates
    }
    masked = tuple(fields["masked"])
    intervals = {
        name: columns[name].domain.values for name in masked if columns[name].domain.kind == "interval"
    }
    return Disclosure(
        table,
        tuple(made),
        MappingProxyType(made),
        masked,
        fields["target"],
        fields["utility"],
        intervals=MappingProxyType(intervals),  # type: ignore[arg-type]
    )


def _value(typed: form.Typed) -> Value:
    kind, plain = typed
    return Interval(*plain) if kind == "interval" else plain
