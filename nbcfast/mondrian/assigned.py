"""Groups for rows that are in an engine: which tuples are in which, and the query that joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import UInt32s
from nbcfast._core.sql_text import Dialect, identifier, raised, table_name, text_literal, unlike
from nbcfast.groups.groups import Groups
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.table.sql_cases import DOUBLES, INTEGERS, SqlColumn
from nbcfast.table.values import Value

ROWS, GROUPED = "private_rows", "assignments"  # as the query calls the two tables
NOT_ONE = "unknown"  # no interval is written so


class AssignedNames(NamedTuple):
    """What the columns of assignments are called beside the quasi-identifiers.

    Attributes
    ----------
    group : str
    published : mapping of name -> name
        The column of generalised values of each quasi-identifier.
    """

    group: str
    published: Mapping[str, str]

    @classmethod
    def of(cls, quasi: Sequence[str]) -> AssignedNames:
        """Names that no quasi-identifier has, whatever engines think of upper and lower case."""
        taken = [*quasi, group := unlike("group", quasi)]
        published = {}
        for name in quasi:
            published[name] = unlike(f"published_{name}", taken)
            taken.append(published[name])
        return cls(group, published)


def assigned(columns: Mapping[str, Column], group_ids: UInt32s, groups: Groups) -> Table:
    """The distinct tuples of these columns, their groups, and what is published of them."""
    names = AssignedNames.of(list(columns))
    n_groups = len(groups.sizes)
    numbers = Domain("int", np.arange(n_groups), (), True)
    with_group = {**columns, names.group: Column(group_ids.astype(code_dtype(n_groups)), numbers)}
    distinct = Table.from_columns(with_group, None, len(group_ids)).collapse()
    group_of = distinct.codes(names.group)
    listed = {name: distinct.column(name) for name in distinct.names}
    for name, domain in zip(columns, groups.domains, strict=True):
        listed[names.published[name]] = Column(np.array(groups.codes(name))[group_of], domain)
    return Table.from_columns(listed, None, distinct.n_rows)


def joined(
    quasi: Mapping[str, tuple[Value, ...]],
    sensitive: SqlColumn,
    rows: str,
    assignments: str,
    *,
    stops: bool,
) -> str:
    """The query; see `Partition.join_sql`. Each quasi-identifier with its values in the private table."""
    dialect = sensitive.dialect
    names = AssignedNames.of(list(quasi))
    group = SqlColumn(names.group, (), dialect, GROUPED).text
    stopped = raised("a row has quasi-identifiers that are in no group", None, "", dialect) if stops else None

    def shown(text: str, name: str) -> str:
        """A column of a row that is in a group."""
        known = f"CASE WHEN {group} IS NOT NULL THEN {text} ELSE {stopped or 'NULL'} END"
        return f"{known} AS {identifier(name, dialect)}"

    selected = [
        shown(SqlColumn(published, (), dialect, GROUPED).text, name)
        for name, published in names.published.items()
    ]
    selected.append(shown(_published_sensitive(sensitive, None if stops else "NULL"), sensitive.name))
    tests = [test for name, values in quasi.items() for test in _tests(name, values, dialect)]
    lines = [
        f"SELECT {', '.join(selected)}",
        f"FROM {table_name(rows, dialect)} AS {identifier(ROWS, dialect)}",
        f"LEFT JOIN {table_name(assignments, dialect)} AS {identifier(GROUPED, dialect)}",
        f"ON {' AND '.join(tests)}",
    ]
    return "\n".join(lines)


def _tests(name: str, values: tuple[Value, ...], dialect: Dialect) -> list[str]:
    """That a row has a tuple's value: nulls are equal, and NaN is one."""
    column = SqlColumn(name, values, dialect, ROWS)
    other = SqlColumn(name, values, dialect, GROUPED)
    key, other_key = _keys(column, other)
    same = "<=>" if dialect == "spark" else "IS NOT DISTINCT FROM"
    tests = [f"{key} {same} {other_key}"]
    if dialect != "ansi" and column.kind not in ("interval", None):
        tests.append(f"({column.text} IS NULL OR {_has_type(column)})")
    return tests


def _has_type(column: SqlColumn) -> str:
    """Whether a row has the type of the private table, so that its key is NULL for nulls alone."""
    if column.is_large:
        types = INTEGERS if column.kind == "int" else DOUBLES
        return f"typeof({column.text}) IN ({types[column.dialect]})"
    return column.is_of_kind()


def _keys(column: SqlColumn, other: SqlColumn) -> tuple[str, str]:
    """What is compared of a row, and of a tuple."""
    if column.kind == "interval":
        return column.case(_texts(column), text_literal(NOT_ONE, column.dialect)), other.text
    if column.dialect == "ansi":
        return column.standard_key(), other.text
    if column.kind is None:
        return f"CASE WHEN {column.is_null()} THEN 0 ELSE 1 END", "0"
    if column.kind == "bool":
        return f"CASE WHEN {_has_type(column)} THEN {column.text} END", other.text
    if column.kind == "text":
        return column.as_text(), other.as_text()
    if column.is_large and column.kind == "int":
        return f"CASE WHEN {_has_type(column)} THEN {column.as_integer()} END", other.as_integer()
    return f"CASE WHEN {_has_type(column)} THEN {column.as_number()} END", other.as_double


def _texts(column: SqlColumn) -> list[str]:
    """Bins as tables write them."""
    return ["NULL" if value is None else text_literal(str(value), column.dialect) for value in column.values]


def _published_sensitive(column: SqlColumn, unseen: str | None) -> str:
    """The sensitive value as tables have it."""
    if column.kind == "interval":
        return column.case(_texts(column), unseen)
    if column.kind != "float":
        return column.text
    return column.standard_key() if column.dialect == "ansi" else column.as_number()
