"""A window in a file: written whole or not at all, and read again by whoever trusts nobody."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import numpy as np

from nbcfast._core.files import written
from nbcfast._core.untyped import Document
from nbcfast._wire.json_entries import canonical_json, digest
from nbcfast._wire.regular_files import read_whole
from nbcfast.domains import Option
from nbcfast.streams.moving import Extent
from nbcfast.streams.numbering import MOST_TICKS, MOST_WIDTH, Numbering
from nbcfast.table.values import INT64_MAX

if TYPE_CHECKING:
    from nbcfast._core.dtypes import Longs
    from nbcfast.streams.declared_counts import DeclaredCounts
    from nbcfast.views import Viewset

FORMAT = "nbcfast-window/1"
FIELDS = {
    *("format", "class_name", "attributes", "domains", "weights", "rows", "by", "numbering", "extent"),
    *("late", "ahead", "label", "zoned", "n_rows", "first", "newest", "released", "in_release", "blocks"),
}
UNITS = ("integers", "time", "months")
MOST = 1 << 62  # of a number of a block

BlockCounts = tuple[list[int], list[list[list[int]]]]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SavedWindow:
    """What a document says, each entry of its kind; `Window.to_dict` has the same names."""

    class_name: str
    attributes: list[str]
    options: dict[str, Option]
    weights: str | None
    rows: int | None
    by: str | None
    numbering: Numbering | None
    extent: Extent
    late: Literal["refuse", "report"]
    ahead: int
    label: str | int | None
    zoned: bool | None
    n_rows: tuple[int, int, int, int]
    first: int | None
    newest: int | None
    released: tuple[int, int] | None
    in_release: dict[int, int]
    blocks: dict[int, BlockCounts]


def counts_of(views: Viewset) -> list[object]:
    """The counts of a block as plain integers."""
    return [views.class_counts.tolist(), [array.tolist() for array in views.counts.values()]]


def block_of(
    counting: DeclaredCounts, class_counts: list[int], counts: list[list[list[int]]], where: str
) -> Viewset:
    """The viewset of plain integers, which have to be counts of rows."""
    none = counting.none()
    if not isinstance(counts, list) or len(counts) != len(none.attributes):
        raise ValueError(f"{where}: expected counts of {len(none.attributes)} attributes")
    arrays = {
        name: _array(rows, none.counts[name].shape, where)
        for name, rows in zip(none.attributes, counts, strict=True)
    }
    views = counting.views(_array(class_counts, none.class_counts.shape, where), arrays)
    if not views.is_realistic() or views.n_rows == 0:
        raise ValueError(f"{where}: its counts are no counts of rows")
    return views


def _array(rows: object, shape: tuple[int, ...], where: str) -> Longs:
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        array = np.empty(0, object)
    if array.shape != shape or not all(
        type(n) is int and 0 <= n <= INT64_MAX for n in array.ravel().tolist()
    ):
        raise ValueError(f"{where}: expected counts of shape {shape}")
    return array.astype(np.int64)


def write(path: str | os.PathLike[str], document: Document, *, overwrite: bool) -> None:
    """Write a window to a file that only its owner can read."""
    try:
        text = canonical_json({**document, "sha256": digest(document)})
    except TypeError as error:
        raise TypeError(
            f"a window is saved only where its domains are of JSON's kinds ({error}): declare bins by edges"
        ) from None
    with written(path, overwrite=overwrite) as file:
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), 0o600)
        file.write(text.encode("ascii") + b"\n")


def read(path: str | os.PathLike[str]) -> Document:
    """The document in a file; ValueError where it is not as it was written."""
    where = os.fsdecode(path)
    with open(path, "rb") as file:
        data = read_whole(file, where)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise ValueError(f"{where}: expected a window as Window.save writes it")
    if document["format"] != FORMAT:
        raise ValueError(f"{where}: expected format {FORMAT!r}, got {document['format'][:60]!r}")
    if document.get("sha256") != digest(document) or canonical_json(document).encode("ascii") + b"\n" != data:
        raise ValueError(f"{where}: its sha256 is not that of what it holds: it was changed, or cut off")
    del document["sha256"]
    return cast("Document", document)


def checked(document: Mapping[str, object], where: str) -> SavedWindow:
    """What a document says, or ValueError."""
    if set(document) != FIELDS:
        odd = sorted(set(document) ^ FIELDS)[0]
        raise ValueError(f"{where}: expected the fields of a window, got {odd!r} wrong or missing")

    def entry(name: str, kind: type[T]) -> T:
        value = document[name]
        if type(value) is not kind:
            raise ValueError(f"{where}: {name} must be a {kind.__name__}, got {type(value).__name__}")
        return value

    def optional(name: str, kind: type[T]) -> T | None:
        return None if document[name] is None else entry(name, kind)

    rows, newest, first = optional("rows", int), optional("newest", int), optional("first", int)
    kept, late, label = optional("numbering", list), entry("late", str), document["label"]
    if late not in ("refuse", "report") or (kept is None) != (rows is not None):
        raise ValueError(f"{where}: late, rows and numbering do not fit each other")
    if isinstance(label, bool) or not (label is None or isinstance(label, str | int)):
        raise ValueError(f"{where}: label must be a str, an int or null")
    if (first is None) != (newest is None) or (newest is not None and first is not None and first > newest):
        raise ValueError(f"{where}: first and newest do not fit each other")
    released = optional("released", list)
    in_release = dict(_pairs(entry("in_release", list), where))
    domains = entry("domains", dict)
    return SavedWindow(
        class_name=entry("class_name", str),
        attributes=entry("attributes", list),
        options={name: Option(option) for name, option in domains.items()},
        weights=optional("weights", str),
        rows=rows,
        by=optional("by", str),
        numbering=None if kept is None else _numbering(kept, where),
        extent=Extent(*_integers(entry("extent", list), 3, 0, MOST, where)),
        late="refuse" if late == "refuse" else "report",
        ahead=entry("ahead", int),
        label=label,
        zoned=optional("zoned", bool),
        n_rows=_four(_integers(entry("n_rows", list), 4, 0, None, where)),
        first=first,
        newest=newest,
        released=None if released is None else _two(_integers(released, 2, -MOST, MOST, where)),
        in_release=in_release,
        blocks=_blocks(entry("blocks", list), where),
    )


def _integers(entries: list[object], n: int, least: int, most: int | None, where: str) -> list[int]:
    numbers = [entry for entry in entries if type(entry) is int]
    if not len(numbers) == len(entries) == n or any(
        number < least or (most is not None and number > most) for number in numbers
    ):
        raise ValueError(f"{where}: expected {n} integers")
    return numbers


def _two(numbers: list[int]) -> tuple[int, int]:
    return numbers[0], numbers[1]


def _four(numbers: list[int]) -> tuple[int, int, int, int]:
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _pairs(entries: list[object], where: str) -> list[tuple[int, int]]:
    return [
        _two(_integers(entry if isinstance(entry, list) else [], 2, -MOST, None, where)) for entry in entries
    ]


def _numbering(entries: list[object], where: str) -> Numbering:
    unit = entries[0] if entries else None
    width, origin = _integers(entries[1:], 2, -MOST_TICKS, MOST_TICKS, where)
    if unit not in UNITS or not 1 <= width <= MOST_WIDTH:
        raise ValueError(f"{where}: numbering must be a unit, a width and an origin")
    return Numbering(width, cast("Literal['integers', 'time', 'months']", unit), origin)


def _blocks(entries: list[object], where: str) -> dict[int, BlockCounts]:
    blocks: dict[int, BlockCounts] = {}
    for entry in entries:
        if not (
            isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], list) and len(entry[1]) == 2
        ):
            raise ValueError(f"{where}: expected blocks of a number and counts")
        number = _integers(entry[:1], 1, -MOST, MOST, where)[0]
        if number in blocks:
            raise ValueError(f"{where}: block {number} is there twice")
        blocks[number] = entry[1][0], entry[1][1]
    return blocks
