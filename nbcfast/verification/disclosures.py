"""Disclosures from their certificate and the rows of their table."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nbcfast.published.typed import domain_of_json
from nbcfast.table import Column, Interval, Table
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import Value
from nbcfast.templates.results import Disclosure
from nbcfast.templates.template import Template

if TYPE_CHECKING:
    from nbcfast._wire.disclosure import DisclosureDocument
    from nbcfast._wire.table_form import RowCounts
    from nbcfast._wire.typed_values import Typed


def disclosure_of(document: DisclosureDocument, rows: RowCounts, where: str) -> Disclosure:
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
    table = Table.from_columns(columns, weights, len(keys))
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


def _value(typed: Typed) -> Value:
    kind, plain = typed
    return Interval(*plain) if kind == "interval" else plain
