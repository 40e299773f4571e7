"""Disguised answers from their certificate and the rows of their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast.published.typed import domain_of_json
from nbcfast.response.binarising import Cut
from nbcfast.response.disguising import Disguised
from nbcfast.response.scheme_files import from_dict
from nbcfast.table import Column, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast._wire.disguised import DisguisedDocument
    from nbcfast._wire.table_form import RowCounts


def disguised_of(document: DisguisedDocument, rows: RowCounts, where: str) -> Disguised:
    """The answers that a document of checked form describes, with these rows of its table, in their order."""
    scheme = from_dict(document.fields["scheme"], f"{where}: scheme")
    distinct = np.array(list(rows), np.int64).reshape(len(rows), len(document.columns))
    counts = np.array(list(rows.values()), np.int64)
    columns = {}
    for place, (name, cells) in enumerate(document.columns):
        domain = domain_of_json([typed for _, typed in cells], f"{where}: column {name!r}")
        codes = distinct[:, place].astype(code_dtype(len(cells)))
        columns[name] = Column(np.repeat(codes, counts), domain)
    cuts = {name: Cut.from_dict(cut) for name, cut in document.fields.get("cuts", {}).items()}
    table = Table.from_columns(columns, None, int(counts.sum()))
    return Disguised.of_table(table, scheme, document.fields["seeded"], cuts)
