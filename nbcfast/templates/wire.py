"""The files of a disclosure: table.csv, and the certificate whose templates are checked against it alone."""

from __future__ import annotations

import os
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.published import table_lines as tables
from nbcfast.published.typed import domain_of_json, json_rational, json_value, json_whole
from nbcfast.table import Column, Interval, Table
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import Value
from nbcfast.templates.inferences import confidences
from nbcfast.templates.results import Disclosure
from nbcfast.templates.template import Template

if TYPE_CHECKING:
    from nbcfast.verify_release import DisclosureDocument


def save(
    disclosure: Disclosure,
    path: str | os.PathLike[str],
    *,
    order: str,
    rng: np.random.Generator | None,
    weights: str | None,
    parquet: bool,
    overwrite: bool,
) -> None:
    """Write the folder; see `Disclosure.save`."""
    generator = tables.ordered_by(order, rng)
    # Of the table itself: this must hold, whatever was said to make the object.
    found = confidences(disclosure.table, disclosure.templates)
    for template, confidence in found.items():
        if confidence > template.limit:
            raise ValueError(f"not saved: {template} has a confidence of {confidence}")
    lines = tables.Lines(disclosure.collapsed, weights)
    tables.save(
        path,
        lines,
        lambda digest: _document(disclosure, found, weights, digest, order, rng is not None),
        generator=generator,
        parquet=parquet,
        overwrite=overwrite,
    )


def _document(
    disclosure: Disclosure,
    found: dict[Template, Fraction],
    weights: str | None,
    table_sha256: str,
    order: str,
    seeded: bool,
) -> dict[str, Any]:
    table = disclosure.table
    domains = {name: table.column(name).domain for name in table.names}
    return {
        "columns": [
            {
                "cells": tables.cells(domain),
                "name": name,
            }
            for name, domain in domains.items()
        ],
        "format": form.FORMAT,
        "kind": "disclosure",
        "masked": list(disclosure.masked),
        "method": "top-down disclosure",
        "notes": [form.DISCLOSURE],
        "order": order,
        "rows": json_whole(disclosure.n_rows),
        "seeded": seeded,
        "table_sha256": table_sha256,
        "target": disclosure.target,
        "templates": [
            {
                "attribute": template.sensitive[0],
                "confidence": json_rational(found[template]),
                "limit": json_rational(template.limit),
                "quasi": list(template.quasi),
                "value": json_value(
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
        "weights": weights,
    }


def from_rows(document: DisclosureDocument, rows: form.Rows, where: str) -> Disclosure:
    """The disclosure that a document of checked form describes, with these rows of its table.

    Its table has each distinct row once, in canonical order, with a weight.
    """
    fields = document.fields
    keys = sorted(rows)
    codes = np.array(keys, np.int64).reshape(len(keys), len(document.columns))
    columns = {}
    for place, (name, cells) in enumerate(document.columns):
        domain = domain_of_json([typed for _, typed in cells], f"{where}: column {name!r}")
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
