"""The files of a disclosure: table.csv, and the certificate whose templates are checked against it alone."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import __version__
from nbcfast._core.untyped import Document
from nbcfast._wire.disclosure import DISCLOSURE
from nbcfast._wire.json_entries import FORMAT
from nbcfast.published import table_lines as tables
from nbcfast.published.typed import json_rational, json_value, json_whole
from nbcfast.templates.inferences import confidences, expect_known
from nbcfast.templates.template import Template

if TYPE_CHECKING:
    from nbcfast.table import Domain
    from nbcfast.templates.results import Disclosure


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
    expect_known(disclosure.table, disclosure.masked)
    confidence_of = confidences(disclosure.table, disclosure.templates)
    for template, confidence in confidence_of.items():
        if confidence > template.limit:
            raise ValueError(f"not saved: {template} has a confidence of {confidence}")
    lines = tables.Lines(disclosure.collapsed, weights)
    tables.save(
        path,
        lines,
        lambda digest: _document(disclosure, confidence_of, weights, digest, order, rng is not None),
        generator=generator,
        parquet=parquet,
        overwrite=overwrite,
    )


def _document(
    disclosure: Disclosure,
    confidence_of: dict[Template, Fraction],
    weights: str | None,
    table_sha256: str,
    order: str,
    seeded: bool,
) -> Document:
    table = disclosure.table
    domains = {name: table.column(name).domain for name in table.names}
    return {
        "columns": [{"cells": tables.cells(domain), "name": name} for name, domain in domains.items()],
        "format": FORMAT,
        "kind": "disclosure",
        "masked": list(disclosure.masked),
        "method": "top-down disclosure",
        "notes": [DISCLOSURE],
        "order": order,
        "rows": json_whole(disclosure.n_rows),
        "seeded": seeded,
        "table_sha256": table_sha256,
        "target": disclosure.target,
        "templates": [
            _template_entry(template, confidence_of[template], domains[template.sensitive[0]])
            for template in disclosure.templates
        ],
        "utility": disclosure.utility,
        "version": __version__,
        "warnings": [],
        "weights": weights,
    }


def _template_entry(template: Template, confidence: Fraction, domain: Domain) -> Document:
    # The value as the table has it: a template may say 1 of a column of floats.
    value = domain.values[domain.index[template.sensitive[1]]]
    return {
        "attribute": template.sensitive[0],
        "confidence": json_rational(confidence),
        "limit": json_rational(template.limit),
        "quasi": list(template.quasi),
        "value": json_value(value, domain),
    }
