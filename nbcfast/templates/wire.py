"""The files of a disclosure: table.csv, and the certificate whose templates are checked against it alone."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast._wire.disclosure import DISCLOSURE
from nbcfast._wire.json_entries import FORMAT
from nbcfast.published import table_lines as tables
from nbcfast.published.typed import json_rational, json_value, json_whole
from nbcfast.templates.inferences import confidences, expect_known
from nbcfast.templates.template import Template

if TYPE_CHECKING:
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
