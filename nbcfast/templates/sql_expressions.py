"""What a disclosure shows of each column, as an expression of SQL for the private rows."""

from __future__ import annotations

from nbcfast._core.sql_text import Dialect, expect_dialect, text_literal
from nbcfast.table import SUPPRESSED, Domain, Table
from nbcfast.table.sql_cases import SqlColumn
from nbcfast.table.values import Value


def expressions_of(released: Table, dialect: Dialect, suppressed: str, table: str | None) -> dict[str, str]:
    """See `Disclosure.expressions`: only what is released is in these texts, and nothing that is withheld."""
    expect_dialect(dialect)
    if not isinstance(suppressed, str):
        raise TypeError(f"suppressed must be a text, got {type(suppressed).__name__}")
    domains = {name: released.column(name).domain for name in released.names}
    return {
        name: _expression(SqlColumn(name, _shown(domain), dialect, table), suppressed)
        for name, domain in domains.items()
        if domain.kind == "interval" or SUPPRESSED in domain.tail
    }


def _shown(domain: Domain) -> tuple[Value, ...]:
    """The values that are not suppressed."""
    return tuple(value for value in domain.values if value is not SUPPRESSED)


def _expression(column: SqlColumn, suppressed: str) -> str:
    texts = [None if value is None else str(value) for value in column.values]
    if suppressed in texts:
        raise ValueError(f"column {column.name!r}: its domain holds the text {suppressed!r} of SUPPRESSED")
    if not texts:
        return text_literal(suppressed, column.dialect)
    results = ["NULL" if text is None else text_literal(text, column.dialect) for text in texts]
    return column.case(results, text_literal(suppressed, column.dialect))
