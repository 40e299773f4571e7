"""The files of a disclosure: table.csv, and the certificate whose templates are checked against it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import __version__
from nbcfast._core.untyped import Document
from nbcfast._wire.disclosure import DISCLOSURE
from nbcfast._wire.json_entries import FORMAT
from nbcfast.published import table_lines as tables
from nbcfast.published.base import Parts, TableCertificate
from nbcfast.published.typed import json_rational, json_value, json_whole
from nbcfast.templates.inferences import confidences, expect_known
from nbcfast.templates.template import Template

if TYPE_CHECKING:
    from nbcfast.table import Domain
    from nbcfast.templates.results import Disclosure


@dataclass(frozen=True, kw_only=True, repr=False)
class DisclosureCertificate(TableCertificate):
    """What is claimed about a disclosure; see `TableCertificate` for what all tables have.

    Attributes
    ----------
    confidences : mapping of Template -> Fraction
        The templates, and the largest share of the sensitive value in any group.
    masked : tuple of str
        The columns that may be suppressed.
    target : str or None
    utility : {"information", "distortion"}
    """

    confidences: Mapping[Template, Fraction] = field(hash=False)
    masked: tuple[str, ...]
    target: str | None
    utility: str

    def _said(self) -> str:
        return "; ".join(f"{template}: {float(share):g}" for template, share in self.confidences.items())


def parts_of(
    disclosure: Disclosure,
    *,
    order: str = "canonical",
    rng: np.random.Generator | None = None,
    weights: str | None = None,
    parquet: bool = False,
) -> Parts:
    """What is written of a disclosure; ValueError where a template does not hold."""
    generator = tables.ordered_by(order, rng)
    reached = _reached(disclosure)
    lines = tables.Lines(disclosure.collapsed, weights)
    fields = _document(disclosure, reached, weights, order, rng is not None)
    return Parts(fields=fields, lines=lines, generator=generator, parquet=parquet)


def certificate_of(disclosure: Disclosure) -> DisclosureCertificate:
    """The certificate of a disclosure in canonical order, a row for each person."""
    reached = _reached(disclosure)
    fields = _document(disclosure, reached, None, "canonical", False)
    return DisclosureCertificate.of_parts(
        Parts(fields=fields, lines=tables.Lines(disclosure.collapsed)),
        disclosure.n_rows,
        confidences=MappingProxyType(reached),
        masked=disclosure.masked,
        target=disclosure.target,
        utility=disclosure.utility,
    )


def _reached(disclosure: Disclosure) -> dict[Template, Fraction]:
    """The confidence of each template: of the table itself, whatever was said to make the object."""
    expect_known(disclosure.table, disclosure.masked)
    reached = confidences(disclosure.table, disclosure.templates)
    for template, confidence in reached.items():
        if confidence > template.limit:
            raise ValueError(f"not saved: {template} has a confidence of {confidence}")
    return reached


def _document(
    disclosure: Disclosure,
    confidence_of: dict[Template, Fraction],
    weights: str | None,
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
