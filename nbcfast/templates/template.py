"""`Template`: an inference that must not be too confident."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._core.numbers import Numeral, as_limit, exact_share
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.table import SUPPRESSED
from nbcfast.table.values import Value, normalise, plain

if TYPE_CHECKING:
    from nbcfast.table import Table


@dataclass(frozen=True, repr=False)
class Template:
    """Of the people who share values of some columns, at most so large a part has a sensitive value.

    Parameters
    ----------
    quasi : sequence of str
        The columns that an adversary knows. Their order does not matter for what is meant.
    sensitive : (str, value)
        A column and the value of it that is not to be inferred.
    limit : int, Fraction, str or float
        The highest confidence allowed, 0 to 1, or as text "0%" to "100%"; kept as a Fraction. A float means
        its shortest decimal text.

    Raises
    ------
    TypeError, ValueError
        If `quasi` is empty, names a column twice or holds the sensitive one, or the limit is outside [0, 1].

    Examples
    --------
    >>> Template(("job", "country"), ("bankruptcy", "Discharged"), "75%")
    Template(job, country -> bankruptcy=Discharged <= 0.75)
    >>> Template(("job", "country"), ("bankruptcy", "Discharged"), 0.75).limit
    Fraction(3, 4)
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, Value]
    limit: Fraction

    def __init__(self, quasi: Iterable[str], sensitive: tuple[str, Value], limit: Numeral) -> None:
        if isinstance(quasi, str) or not isinstance(quasi, Iterable):
            raise TypeError(f"quasi must be a sequence of column names, got {quasi!r}")
        names = tuple(quasi)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"quasi must be column names, got {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"quasi must be distinct columns, got {name!r} twice")
        if not names:
            raise ValueError("quasi must be at least one column, got none")
        if not isinstance(sensitive, tuple) or len(sensitive) != 2 or not isinstance(sensitive[0], str):
            raise TypeError(f"sensitive must be a pair (column, value), got {sensitive!r}")
        column = sensitive[0]
        if column in names:
            raise ValueError(f"quasi must not hold the sensitive column, got {column!r} in {names}")
        value = normalise([sensitive[1]], f"sensitive value of {column!r}")[1][0]
        if value is SUPPRESSED:
            raise ValueError(f"sensitive value of {column!r} must be a value, got SUPPRESSED")
        number = as_limit(exact_share(limit, "limit"), "limit")
        if not 0 <= number <= 1:
            raise ValueError(f"limit must be 0 to 1, got {decimal_text(number)}")
        object.__setattr__(self, "quasi", names)
        object.__setattr__(self, "sensitive", (column, value))
        object.__setattr__(self, "limit", number)

    def __str__(self) -> str:
        return printable(f"{self.inference} <= {decimal_text(self.limit)}")

    def __repr__(self) -> str:
        return f"Template({self})"

    def __reduce__(self) -> tuple[object, ...]:
        return Template, (self.quasi, self.sensitive, self.limit)

    @property
    def inference(self) -> str:
        """What is inferred from what, without the limit."""
        column, value = self.sensitive
        return f"{', '.join(self.quasi)} -> {column}={value}"

    def to_dict(self) -> Document:
        """Plain values; the limit as text."""
        column, value = self.sensitive
        return {
            "quasi": list(self.quasi),
            "attribute": column,
            "value": plain(value),
            "limit": str(self.limit),
        }


def templates_for(
    quasi: Iterable[str], attribute: str, values: Iterable[Value], limit: Numeral
) -> tuple[Template, ...]:
    """A template for each of several sensitive values of one column.

    Examples
    --------
    >>> templates_for(["job"], "bankruptcy", ["Current", "Discharged"], "1/2")
    (Template(job -> bankruptcy=Current <= 0.5), Template(job -> bankruptcy=Discharged <= 0.5))
    """
    if isinstance(values, (str, bytes, bytearray)) or not isinstance(values, Iterable):
        raise TypeError(f"values must be a sequence of values, got {values!r}")
    names = tuple(quasi) if isinstance(quasi, Iterable) and not isinstance(quasi, str) else quasi
    listed = list(values)
    if not listed:
        raise ValueError(f"values must be at least one value of {attribute!r}, got none")
    return tuple(Template(names, (attribute, value), limit) for value in listed)


def checked(table: Table, templates: Iterable[Template]) -> tuple[Template, ...]:
    """Templates that belong to a table: each column is there, each sensitive value in its domain."""
    listed = listed_templates(templates)
    expect_columns(table.names, listed)
    for number, template in enumerate(listed):
        position(table, template, f"template {number}")
    return listed


def expect_columns(present: Sequence[str], templates: Iterable[Template]) -> None:
    """Refuse templates with columns that are not there."""
    for number, template in enumerate(templates):
        for name in (*template.quasi, template.sensitive[0]):
            if name not in present:
                raise no_such_column(number, present, name)


def listed_templates(templates: Iterable[Template]) -> tuple[Template, ...]:
    """At least one template, and nothing else."""
    if isinstance(templates, Template) or not isinstance(templates, Iterable):
        raise TypeError(f"templates must be a sequence of Templates, got {type(templates).__name__}")
    listed = tuple(templates)
    if not listed:
        raise ValueError("templates must be at least one Template, got none")
    for template in listed:
        if not isinstance(template, Template):
            raise TypeError(f"templates must be Templates, got {type(template).__name__}")
    return listed


def no_such_column(number: int, present: Iterable[str], name: str) -> ValueError:
    """What is wrong with the template of this number."""
    names = ", ".join(map(repr, present))
    return ValueError(f"template {number}: expected columns of {names}; got {name!r}")


def position(table: Table, template: Template, where: str = "template") -> int:
    """The code of the sensitive value in the table."""
    name, value = template.sensitive
    domain = table.column(name).domain
    place = domain.index.get(value)
    # True is 1 for a dictionary, and a column has one kind.
    if place is None or isinstance(domain.values[place], bool) != isinstance(value, bool):
        raise ValueError(f"{where}: {value!r} is none of the {len(domain)} values of column {name!r}")
    return place


def merged(templates: Iterable[Template]) -> tuple[Template, ...]:
    """Of templates about the same inference only that with the smallest limit, where the first one stood."""
    kept: dict[tuple[frozenset[str], tuple[str, Value]], Template] = {}
    for template in templates:
        key = frozenset(template.quasi), template.sensitive
        before = kept.get(key)
        if before is None:
            kept[key] = template
        elif template.limit < before.limit:
            kept[key] = Template(before.quasi, before.sensitive, template.limit)
    return tuple(kept.values())
