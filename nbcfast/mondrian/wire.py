"""The files of a partition: table.csv, and the certificate that is checked against it alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import __version__
from nbcfast._core.untyped import Document
from nbcfast._wire.json_entries import FORMAT
from nbcfast._wire.partition_form import partition_note
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.quasi import Cell
from nbcfast.published import table_lines as tables
from nbcfast.published.base import Parts, TableCertificate
from nbcfast.published.typed import json_rational, json_value, json_whole
from nbcfast.table import Domain, Interval

if TYPE_CHECKING:
    from nbcfast.mondrian.partition import Partition


@dataclass(frozen=True, kw_only=True, repr=False)
class PartitionCertificate(TableCertificate):
    """What is claimed about a partition; see `TableCertificate` for what all tables have.

    Attributes
    ----------
    quasi : tuple of str
        The columns that are generalised.
    sensitive : str
    demands : Demands
        What every group keeps.
    groups : int
    """

    quasi: tuple[str, ...]
    sensitive: str
    demands: Demands
    groups: int

    def _said(self) -> str:
        return f"{self.groups:,} groups by {', '.join(self.quasi)}; {self.sensitive}: {self.demands}"


def parts_of(
    partition: Partition,
    *,
    order: str = "canonical",
    rng: np.random.Generator | None = None,
    weights: str | None = None,
    parquet: bool = False,
) -> Parts:
    """What is written of a partition; ValueError where the groups do not keep the demands."""
    generator = tables.ordered_by(order, rng)
    # Counted anew, whoever made the partition: what does not keep its demands is not written.
    fault = partition.demands.broken(partition.groups)
    if fault is not None:
        raise ValueError(f"not saved: {fault[0]}")
    lines = tables.Lines(partition.counted, weights)
    fields = _document(partition, order, rng is not None, weights)
    return Parts(fields=fields, lines=lines, generator=generator, parquet=parquet)


def certificate_of(partition: Partition) -> PartitionCertificate:
    """The certificate of a partition in canonical order, a row for each person."""
    fields = _document(partition, "canonical", False, None)
    parts = Parts(fields=fields, lines=tables.Lines(partition.counted))
    return PartitionCertificate.of_parts(
        parts,
        partition.n_rows,
        quasi=partition.quasi,
        sensitive=partition.sensitive,
        demands=partition.demands,
        groups=partition.n_groups,
    )


def _document(partition: Partition, order: str, seeded: bool, weights: str | None) -> Document:
    demands, secret = partition.demands, partition.groups.sensitive_domain
    return {
        "closeness": None
        if demands.closeness is None
        else [json_rational(demands.closeness[0]), demands.closeness[1]],
        "columns": [
            {
                "cells": [[cell.text, typed_cell(cell)] for cell in partition.cells[name]],
                "name": name,
            }
            for name in partition.quasi
        ],
        "diversity": None
        if demands.diversity is None
        else [json_rational(demands.diversity[0]), json_whole(demands.diversity[1])],
        "format": FORMAT,
        "groups": partition.n_groups,
        "k": None if demands.k is None else json_whole(demands.k),
        "kind": "partition",
        "method": "mondrian",
        "notes": [
            partition_note(
                bool(demands.points), demands.diversity is not None or demands.closeness is not None
            )
        ],
        "order": order,
        "points": [
            [*(json_whole(number) for number in point[:3]), json_rational(point.confidence)]
            for point in demands.points
        ],
        "rows": json_whole(partition.n_rows),
        "seeded": seeded,
        "sensitive": {
            "name": partition.sensitive,
            "values": [[text, [typed]] for text, typed in tables.cells(secret)],
        },
        "version": __version__,
        "warnings": list(partition.warnings),
        "weights": weights,
    }


def typed_cell(cell: Cell) -> list[list[str | None]]:
    """Each value with its type; numbers among intervals stay what they are."""
    typed = []
    for value in cell.values:
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "text"
        if isinstance(value, float):
            kind = "float"
        if isinstance(value, Interval):
            kind = "interval"
        typed.append(json_value(value, Domain(kind, (), (), True)))  # type: ignore[arg-type]
    return typed
