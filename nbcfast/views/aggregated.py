"""The parts of a viewset from rows that were grouped already: (value, class, number)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import reduce

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Longs
from nbcfast._core.untyped import Arrow
from nbcfast.table import Column, Domain, Table
from nbcfast.table.arrays import is_arrow
from nbcfast.table.chosen_rows import into, shrunk
from nbcfast.table.encode import used_values
from nbcfast.table.table import declared_domains
from nbcfast.table.values import INT64_MAX
from nbcfast.views.precedence import check_values, in_precedence
from nbcfast.views.tallying import MAX_VALUES

Cells = npt.ArrayLike | Sequence[object] | Arrow
GroupRows = tuple[Cells, Cells, Cells] | Table | Arrow
LabelRows = tuple[Cells, Cells] | Table | Arrow

LABELS = "class_counts"


def aggregated(
    groups: Mapping[str, GroupRows],
    class_name: str,
    classes: Iterable[object] | None,
    class_counts: LabelRows | None,
    domains: Mapping[str, Iterable[object] | Domain] | None,
    declared: bool,
) -> tuple[Longs, dict[str, Longs], Domain, dict[str, Domain]]:
    """The parts of the viewset that Viewset.from_groups promises."""
    names = _attributes(groups, class_name)
    given = declared_domains(domains, [*names, class_name])
    read = {name: _rows_of(groups[name], f"groups[{name!r}]", [name, class_name], declared) for name in names}
    if class_counts is not None:
        (labels,), numbers = _rows_of(class_counts, LABELS, [class_name], declared)
    elif not read:
        raise ValueError("class_counts must be given where there are no attributes, got None")
    label_columns = [columns[1] for columns, _ in read.values()]
    if class_counts is not None:
        label_columns.append(labels)
    class_domain = _class_domain(label_columns, class_name, given.get(class_name), declared)
    check_values(class_name, len(class_domain), MAX_VALUES)

    sums: dict[str, Longs] = {}  # class counts, by where they are from
    if class_counts is not None:
        sums[LABELS] = _added(into(labels, class_domain, *_in_domain(class_name)), numbers, class_domain)
    counts, final = {}, {}
    for name, ((values, own_labels), own_numbers) in read.items():
        if name in given:
            values = into(values, given[name], *_in_domain(name))
        elif declared:
            values = Column(values.codes, values.domain.as_declared())
        check_values(name, len(values.domain), MAX_VALUES)
        own_labels = into(own_labels, class_domain, *_in_domain(class_name))
        counts[name] = np.zeros((len(values.domain), len(class_domain)), np.int64)
        np.add.at(counts[name], (values.codes, own_labels.codes), own_numbers)
        final[name] = values.domain
        sums[repr(name)] = counts[name].sum(axis=0)
    _check_equal(sums, class_domain)
    totals = next(iter(sums.values()))
    return (*in_precedence(totals, counts, class_domain, classes, class_name), final)


def _attributes(groups: object, class_name: object) -> list[str]:
    """The names of the attributes, checked."""
    if not isinstance(class_name, str):
        raise TypeError(f"class_name must be a text, got {class_name!r}")
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups: expected a mapping of name -> groups, got {type(groups).__name__}")
    for name in groups:
        if not isinstance(name, str):
            raise TypeError(f"groups: expected names of attributes, got {name!r}")
        if name == class_name:
            raise ValueError(f"the class {name!r} cannot be an attribute as well")
    return list(groups)


def _in_domain(name: str) -> tuple[str, str]:
    return f"column {name!r}", "its declared domain"


def _rows_of(rows: object, where: str, names: list[str], declared: bool) -> tuple[list[Column], Longs]:
    """The columns of these names, and the number of each row; without rows of 0 unless `declared`."""
    if isinstance(rows, tuple):
        if len(rows) != len(names) + 1:
            raise ValueError(f"{where}: expected {_form(names)}, got a tuple of {len(rows)}")
        columns = [Table({name: cells}).column(name) for name, cells in zip(names, rows, strict=False)]
        numbers = _numbers(Table({"numbers": _whole_decimals(rows[-1])}).column("numbers"), where)
    elif isinstance(rows, Table) or is_arrow(rows):
        columns, numbers = _columns_of(rows if isinstance(rows, Table) else Table(rows), where, names)
    else:
        expected = f"{_form(names)}, or Arrow data or a Table with these columns"
        raise TypeError(f"{where}: expected {expected}, got {type(rows).__name__}")
    for name, column in zip(names, columns, strict=True):
        if len(column.codes) != len(numbers):
            raise ValueError(
                f"{where}: expected as many numbers as entries of {name!r}, "
                f"got {len(numbers)} and {len(column.codes)}"
            )
    if not declared:
        some = np.flatnonzero(numbers)
        columns = [shrunk(np.ascontiguousarray(column.codes[some]), column.domain) for column in columns]
        numbers = numbers[some]
    return columns, numbers


def _form(names: list[str]) -> str:
    return "(values, classes, numbers)" if len(names) == 2 else "(labels, numbers)"


def _columns_of(table: Table, where: str, names: list[str]) -> tuple[list[Column], Longs]:
    """The columns of a table by their places, and its numbers or weights."""
    n_columns = len(names) + (table.weights is None)
    class_place = len(names) - 1
    has_other = names[-1] in table.names and table.names.index(names[-1]) != class_place
    if len(table.names) != n_columns or has_other:
        form = [
            *(
                f"the {what} {name!r}"
                for what, name in zip(["value", "class"][-len(names) :], names, strict=True)
            )
        ]
        expected = ", ".join([*form, *(["numbers"] if table.weights is None else [])])
        raise ValueError(
            f"{where}: expected the columns {expected} in this order, got {', '.join(map(repr, table.names))}"
        )
    columns = [table.column(name) for name in table.names]
    if table.weights is not None:
        return columns, _checked_sum(table.weights, where)
    return columns[:-1], _numbers(columns[-1], where)


def _whole_decimals(numbers: object) -> object:
    """Decimals without digits behind the point as ints, as those of Arrow are read."""
    if not isinstance(numbers, (list, tuple)) or not any(isinstance(one, Decimal) for one in numbers):
        return numbers
    return [
        int(one) if isinstance(one, Decimal) and one.is_finite() and one.as_tuple().exponent == 0 else one
        for one in numbers
    ]


def _numbers(column: Column, where: str) -> Longs:
    """The number of each row."""
    by_code = np.zeros(len(column.domain), np.int64)
    for place in np.flatnonzero(used_values(column.codes, len(column.domain))).tolist():
        number = column.domain.values[place]
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{where}: numbers must be integers, got {number!r}")
        if number < 0:
            raise ValueError(f"{where}: numbers must be 0..2^63-1, got {number}")
        by_code[place] = number
    return _checked_sum(by_code[column.codes], where)


def _checked_sum(numbers: Longs, where: str) -> Longs:
    if len(numbers) and int(numbers.max()) > INT64_MAX // len(numbers) and sum(numbers.tolist()) > INT64_MAX:
        raise ValueError(f"{where}: numbers must add up to less than 2^63")
    return numbers


def _class_domain(columns: list[Column], class_name: str, given: Domain | None, declared: bool) -> Domain:
    """The labels of all attributes together, in the domain that was given for them."""
    if given is not None:
        return given
    where = f"column {class_name!r}"
    joined = reduce(lambda a, b: Domain.joined(a, b, where=where), [column.domain for column in columns])
    return joined.as_declared() if declared else joined


def _added(labels: Column, numbers: Longs, domain: Domain) -> Longs:
    totals = np.zeros(len(domain), np.int64)
    np.add.at(totals, labels.codes, numbers)
    return totals


def _check_equal(sums: Mapping[str, Longs], class_domain: Domain) -> None:
    """Each attribute must count the same rows: as many of each class."""
    (first, expected), *others = sums.items()
    for name, found in others:
        differing = np.flatnonzero(found != expected)
        if len(differing):
            place = int(differing[0])
            raise ValueError(
                f"groups: {first} and {name} have other class counts ({expected[place]} and {found[place]} "
                f"rows of {class_domain.values[place]!r}): the rows changed between two queries, or are "
                "not of the same table"
            )
