"""`Published`: what leaves is judged and written in one way, whatever it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from nbcfast._core.files import together
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused, canonical_json, digest
from nbcfast._wire.kinds import parse_any
from nbcfast._wire.messages import printable
from nbcfast._wire.regular_files import MOST_BYTES, NAME, PARQUET, TABLE, copy_of
from nbcfast.published.document import expect_fit
from nbcfast.published.table_lines import Lines

if TYPE_CHECKING:
    import numpy as np

    from nbcfast._core.files import Writing
    from nbcfast._core.untyped import Document

    CertificateT = TypeVar("CertificateT", bound="TableCertificate")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What is written of a published thing: the `wire.py` of its maker says it, and of releases our own.

    Parameters
    ----------
    fields : dict
        Of its certificate, but for the hashes.
    judged : callable, optional
        Called with the certificate as it would be read; a sentence says what else is wrong with it.
    lines : Lines, optional
        Of table.csv, where it has one.
    generator : numpy.random.Generator, optional
        Shuffles them; without it they are in canonical order.
    parquet : bool
        Whether there is a table.parquet as well.
    copies : mapping
        Names of other files, and what of the certificate they repeat.
    beside : callable, optional
        Writes what does not go into the folder, and before it, in case that it is too large.
    """

    fields: Document
    judged: Callable[[Form], str | None] | None = None
    lines: Lines | None = None
    generator: np.random.Generator | None = None
    parquet: bool = False
    copies: Mapping[str, object] = field(default_factory=dict)
    beside: Callable[[Writing], None] | None = None

    def data(self, hashes: Mapping[str, str]) -> bytes:
        """The file of the certificate; ValueError where no verifier would take it."""
        fields = {**self.fields, **hashes}
        fields["sha256"] = digest(fields)
        data = (canonical_json(fields) + "\n").encode("ascii")
        expect_fit(NAME, len(data), MOST_BYTES)
        try:
            document = parse_any(data)
        except Refused as error:
            raise ValueError(f"not saved: {error}") from None
        fault = None if self.judged is None else self.judged(document)
        if fault is not None:
            raise ValueError(f"not saved: {fault}")
        return data


class Published:
    """What leaves: a folder with a certificate, which appears whole and judged, or not at all."""

    __slots__: tuple[str, ...] = ()

    def _write(self, path: str | os.PathLike[str], parts: Parts, overwrite: bool) -> None:
        """What every `save` does with what its maker says."""
        names = [*parts.copies, NAME]
        lines, data = parts.lines, b""
        if lines is None:
            data = parts.data({})  # before anything is written: what comes beside it may take long
        else:
            lines.check()
            names = [TABLE, *([PARQUET] if parts.parquet else []), *names]
        with together() as writing:
            files = writing.folder(path, names, overwrite)
            if parts.beside is not None:
                parts.beside(writing)
            if lines is not None:
                data = parts.data(lines.write_files(files, parts.generator))
            for name, entry in parts.copies.items():
                files[name].write(copy_of(entry))
            files[NAME].write(data)


@dataclass(frozen=True, kw_only=True, repr=False)
class TableCertificate(HasReadOnlyMappings):
    """What is claimed about a published table, in canonical order, with a row for each person.

    Attributes
    ----------
    kind : {"partition", "disclosure", "disguised"}
    method : str
        How the table was made.
    rows : int
        People.
    notes, warnings : tuple of str
        What a recipient has to know.
    version : str
        Of the library that writes it.
    table_sha256 : str
        Of table.csv.
    text : str
        Of the file, in one line.
    """

    kind: str
    method: str
    rows: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    version: str
    table_sha256: str
    text: str

    @classmethod
    def of_parts(cls: type[CertificateT], parts: Parts, rows: int, **details: object) -> CertificateT:
        """The certificate of what would be written; `details` are what this kind has besides."""
        assert parts.lines is not None
        fields = {**parts.fields, "table_sha256": parts.lines.sha256()}
        fields["sha256"] = digest(fields)
        values: Document = {name: fields[name] for name in ("kind", "method", "version", "table_sha256")}
        for name in ("notes", "warnings"):
            values[name] = tuple(fields[name])
        values |= {**details, "rows": rows, "text": canonical_json(fields)}
        return cls(**values)

    @property
    def sha256(self) -> str:
        """Of the text without this field."""
        return str(self.to_dict()["sha256"])

    def to_dict(self) -> Document:
        """What `save` writes into certificate.json, field by field."""
        document: Document = json.loads(self.text)
        return document

    def _said(self) -> str:
        """What this kind promises, for the repr."""
        return self.method

    def __repr__(self) -> str:
        warned = f"; {len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}"
        return printable(
            f"{type(self).__name__}({self.rows:,} rows; {self._said()}{warned if self.warnings else ''}; "
            f"table {self.table_sha256[:12]}..)"
        )
