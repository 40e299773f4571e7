"""The files of a partition: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.release.datasets import _field, _generator, _texts
from nbcfast.release.files import _domain, _number, _rational, _typed, written
from nbcfast.skyline.demands import Demands
from nbcfast.skyline.groups import Groups
from nbcfast.skyline.partition import Given, Partition
from nbcfast.skyline.points import Point
from nbcfast.skyline.quasi import Cell, generalised_domain
from nbcfast.table import SUPPRESSED, Column, Domain, Interval, Table
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.verify_release import PartitionDocument

BLOCK_ROWS = 1 << 18
MOST_CHARACTERS = 1 << 17  # of a field, as Python's csv module has it

GUARANTEE = (
    "Safe is meant against an adversary who knows everybody's quasi-identifiers and the pieces of knowledge "
    "that the points allow, and takes all assignments of a group's values to its people for equally likely. "
    "It is not differential privacy: who learns a model of the data, or knows how the groups were made, may "
    "infer more."
)


def save(
    partition: Partition,
    path: str | os.PathLike[str],
    *,
    order: str,
    rng: np.random.Generator | None,
    weights: str | None,
    parquet: bool,
) -> None:
    """Write the folder; see `Partition.save`."""
    if order not in ("canonical", "shuffled"):
        raise ValueError(f"order must be 'canonical' or 'shuffled', got {order!r}")
    if rng is not None and order != "shuffled":
        raise ValueError("rng goes with order='shuffled'")
    generator = _generator(rng) if order == "shuffled" else None
    fault = partition.demands.broken(partition.groups)
    if fault is not None:
        raise ValueError(f"not saved: {fault[0]}")
    lines = _Lines(partition, weights)
    names = [form.TABLE, *(["table.parquet"] if parquet else []), form.NAME]
    with _together(os.fsdecode(path), names) as files:
        digest = lines.write(files[form.TABLE], generator)
        if parquet:
            _write_parquet(partition, files["table.parquet"], weights)
        document = _document(partition, digest, order, rng is not None, weights)
        files[form.NAME].write((form.canonical(document) + "\n").encode("ascii"))


def made_folders(folder: str) -> list[str]:
    """Make a folder and those above it; those that were not there before, the lowest first."""
    made, place = [], os.path.abspath(folder)
    while not os.path.lexists(place):
        made.append(place)
        place = os.path.dirname(place)
    try:
        os.makedirs(folder, exist_ok=True)
    except BaseException:
        remove_folders(made)
        raise
    return made


def remove_folders(made: list[str]) -> None:
    """Remove folders that are empty."""
    for place in made:
        with suppress(OSError):
            os.rmdir(place)


@contextmanager
def _together(folder: str, names: list[str]) -> Iterator[dict[str, IO[bytes]]]:
    """New files in a folder, which is made if need be: all take their names at the end, or none does.

    They take them in order, so that the last one says that all are there. What they replace is put back where
    one of them fails to.
    """
    made = made_folders(folder)
    mark = os.urandom(8).hex()
    targets = [os.path.join(folder, name) for name in names]
    parts = [os.path.join(folder, f".{name}.{mark}.part") for name in names]
    kept = [os.path.join(folder, f".{name}.{mark}.old") for name in names]
    files: dict[str, IO[bytes]] = {}
    done: list[tuple[str, str | None]] = []
    try:
        for name, target, part in zip(names, targets, parts, strict=True):
            if os.path.isdir(target):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
            files[name] = open(part, "xb")  # noqa: SIM115
        yield files
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        for target, part, old in zip(targets, parts, kept, strict=True):
            replaced = os.path.lexists(target)
            done.append((target, old if replaced else None))
            if replaced:
                _keep(target, old)
            os.replace(part, target)
    except BaseException:
        for target, before in reversed(done):
            with suppress(OSError):
                if before is None:
                    os.unlink(target)
                else:
                    os.replace(before, target)
                    os.unlink(before)  # which is there if both were names of one file
        for file in files.values():
            with suppress(OSError):
                file.close()
        for part in parts:
            with suppress(OSError):
                os.unlink(part)
        remove_folders(made)
        raise
    for old in kept:
        with suppress(OSError):
            os.unlink(old)


def _keep(path: str, name: str) -> None:
    """Give a file a second name, or another one where the file system has no second names."""
    try:
        os.link(path, name, follow_symlinks=False)
    except (OSError, NotImplementedError):
        os.rename(path, name)


class _Lines:
    """The lines of table.csv."""

    def __init__(self, partition: Partition, weights: str | None) -> None:
        names = [*partition.quasi, partition.sensitive]
        if weights is not None:
            if not isinstance(weights, str):
                raise TypeError(f"weights must be the name of a new column, got {weights!r}")
            if weights in names:
                raise ValueError(f"weights: expected the name of a new column, got {weights!r}")
            names.append(weights)
        for name in names:
            _readable(name, "name of a column")
        self.header = (",".join(map(_field, names)) + "\n").encode()
        self.table = partition.counted
        self.weights = weights
        self.n_rows = partition.n_rows
        self.texts = {name: _texts(self.table.column(name).domain, name) for name in self.table.names}
        for name, texts in self.texts.items():
            for text in texts:
                _readable(text, f"value of column {name!r}")
        assert self.table.weights is not None
        self.counts: list[int] = self.table.weights.tolist()

    def __iter__(self) -> Iterator[str]:
        """Each distinct row once, its line without a weight."""
        columns = []
        for name in self.table.names:
            texts = self.texts[name]
            columns.append([texts[code] for code in self.table.codes(name).tolist()])
        return map(",".join, zip(*columns, strict=True))

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
        lines = list(self)
        if self.weights is not None:
            lines = [f"{line},{count}" for line, count in zip(lines, self.counts, strict=True)]
            if generator is not None:
                lines = [lines[place] for place in generator.permutation(len(lines)).tolist()]
            for start in range(0, len(lines), BLOCK_ROWS):
                yield "\n".join(lines[start : start + BLOCK_ROWS]) + "\n"
        elif generator is not None:
            if self.n_rows >= 1 << 31:
                raise ValueError(f"{self.n_rows:,} rows are too many to shuffle: give weights=")
            places = np.repeat(np.arange(len(lines), dtype=np.uint32), self.counts)
            generator.shuffle(places)
            for start in range(0, len(places), BLOCK_ROWS):
                yield "".join(lines[place] + "\n" for place in places[start : start + BLOCK_ROWS].tolist())
        else:
            for line, count in zip(lines, self.counts, strict=True):
                for start in range(0, count, BLOCK_ROWS):
                    yield (line + "\n") * min(count - start, BLOCK_ROWS)


def _readable(text: str, where: str) -> None:
    """Refuse what readers of CSV files, Python's among them, take no field of."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(
            f"a {where} has {len(text):,} characters in table.csv, where readers take {MOST_CHARACTERS:,}: "
            f"it starts with {text[:40]!r}"
        )


def document_of(partition: Partition) -> dict[str, Any]:
    """The certificate of a partition in canonical order, a row for each person."""
    lines = _Lines(partition, None)
    total = hashlib.sha256(lines.header)
    for block in lines._blocks(None):
        total.update(block.encode())
    return _document(partition, total.hexdigest(), "canonical", False, None)


def _document(
    partition: Partition, table_sha256: str, order: str, seeded: bool, weights: str | None
) -> dict[str, Any]:
    demands, secret = partition.demands, partition.groups._sensitive
    typed = [_typed(value, secret) for value in secret.values]
    plain = ["" if value is None else str(value) for value in secret.values]
    if secret.tail and secret.tail[-1] is not None:
        plain[-1] = "*"
    document: dict[str, Any] = {
        "closeness": None
        if demands.closeness is None
        else [_rational(demands.closeness[0]), demands.closeness[1]],
        "columns": [
            {
                "cells": [[cell.text, _typed_cell(cell)] for cell in partition.cells[name]],
                "name": name,
            }
            for name in partition.quasi
        ],
        "diversity": None
        if demands.diversity is None
        else [_rational(demands.diversity[0]), _number(demands.diversity[1])],
        "format": form.FORMAT,
        "groups": partition.n_groups,
        "k": None if demands.k is None else _number(demands.k),
        "kind": "partition",
        "method": "mondrian",
        "notes": [GUARANTEE],
        "order": order,
        "points": [
            [*(_number(number) for number in point[:3]), _rational(point.confidence)]
            for point in demands.points
        ],
        "rows": _number(partition.n_rows),
        "seeded": seeded,
        "sensitive": {
            "name": partition.sensitive,
            "values": [[text, [value]] for text, value in zip(plain, typed, strict=True)],
        },
        "table_sha256": table_sha256,
        "version": __version__,
        "warnings": [],
        "weights": weights,
    }
    document["sha256"] = form.digest(document)
    return document


def _typed_cell(cell: Cell) -> list[Any]:
    """Each value with its type; numbers among intervals stay what they are."""
    found = []
    for value in cell.values:
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "text"
        if isinstance(value, float):
            kind = "float"
        if isinstance(value, Interval):
            kind = "interval"
        found.append(_typed(value, Domain(kind, (), (), True)))  # type: ignore[arg-type]
    return found


def blocks(partition: Partition, rows: int = BLOCK_ROWS) -> Iterator[Table]:
    """The published table in canonical order, so many rows at a time."""
    distinct = partition.counted
    assert distinct.weights is not None
    ends = np.cumsum(distinct.weights)
    total = int(ends[-1])
    for start in range(0, total, rows):
        stop = min(start + rows, total)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left")) + 1
        some = np.minimum(ends[first:last], stop)
        lengths = np.diff(some, prepend=start)
        columns = {
            name: Column(np.repeat(distinct.codes(name)[first:last], lengths), distinct.column(name).domain)
            for name in distinct.names
        }
        yield Table._of(columns, None, stop - start)


def write_csv(
    partition: Partition,
    path: str | os.PathLike[str],
    *,
    order: str = "canonical",
    rng: np.random.Generator | None = None,
    weights: str | None = None,
) -> str:
    """The published table as a CSV file, whole or not at all; its sha256."""
    generator = _generator(rng) if order == "shuffled" else None
    lines = _Lines(partition, weights)
    with written(path) as file:
        return lines.write(file, generator)


def write_parquet(partition: Partition, path: str | os.PathLike[str], *, weights: str | None = None) -> None:
    """The published table in canonical order as a Parquet file, whole or not at all."""
    with written(path) as file:
        _write_parquet(partition, file, weights)


def _write_parquet(partition: Partition, file: IO[bytes], weights: str | None) -> None:
    from pyarrow import parquet

    tables = [partition.counted] if weights is not None else blocks(partition)
    writer = None
    try:
        for table in tables:
            arrow_table = table.to_arrow(weights)
            if writer is None:
                writer = parquet.ParquetWriter(file, arrow_table.schema)
            writer.write_table(arrow_table)
    finally:
        if writer is not None:
            writer.close()


def _value(typed: form.Typed) -> Value:
    kind, plain = typed
    if kind == "interval":
        return Interval(*plain)
    return SUPPRESSED if kind == "suppressed" else plain


def from_rows(document: PartitionDocument, rows: form.Rows, where: str) -> Partition:
    """The partition that a document of checked form describes, with these rows of its table."""
    domain = _domain([typed for _, typed in document.values], f"{where}: sensitive")
    cells = {
        name: tuple(Cell(text, tuple(map(_value, typed))) for text, typed in listed)
        for name, listed in document.columns
    }
    counts = form.histograms(rows)
    keys = sorted(counts)
    ordered = [counts[key] for key in keys]
    codes = np.array(keys, np.uint32).reshape(len(keys), len(cells))
    found = [sorted(group.items()) for group in ordered]
    pairs = np.array([pair for group in found for pair in group], np.int64).reshape(-1, 2)
    names = tuple(name for name, _ in document.columns)
    sensitive = document.sensitive
    groups = Groups._of(
        names,
        tuple(generalised_domain(cells[name]) for name in names),
        sensitive,
        domain,
        (
            np.concatenate([[0], np.cumsum([len(group) for group in found])]).astype(np.int64),
            pairs[:, 0].astype(np.uint32),
            np.ascontiguousarray(pairs[:, 1]),
            np.array([sum(group.values()) for group in ordered], np.int64),
        ),
        None,
        [np.ascontiguousarray(codes[:, i]) for i in range(len(names))],
    )
    demands = Demands(
        tuple(Point(*point) for point in document.points),
        document.k,
        document.diversity,
        document.closeness,  # type: ignore[arg-type]
    )
    return Partition(names, sensitive, demands, None, None, Given(groups, cells))
