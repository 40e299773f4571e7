"""Numbers and typed values as they stand in a certificate, and domains from them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._core.dtypes import Counts
from nbcfast._core.numbers import exact, number_text
from nbcfast._wire.json_entries import WHOLE_IN_JSON
from nbcfast.table import SUPPRESSED, Interval
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._wire.typed_values import Typed


def json_signed(number: int) -> int | str:
    return number if abs(number) <= WHOLE_IN_JSON else hex(number)


def json_whole(number: int) -> int | str:
    return number if number <= WHOLE_IN_JSON else hex(number)


def json_optional(number: int | None) -> int | str | None:
    return None if number is None else json_whole(number)


def json_counts(array: Counts) -> list[object]:
    if array.dtype.kind != "O" and (not array.size or int(array.max()) <= WHOLE_IN_JSON):
        numbers: list[object] = array.tolist()
        return numbers
    if array.ndim == 1:
        return [json_whole(number) for number in array.tolist()]
    return [[json_whole(number) for number in row] for row in array.tolist()]


def json_rational(number: int | Fraction) -> str:
    fraction = Fraction(number)
    sign = "-" if fraction < 0 else ""
    return f"{sign}{json_whole(abs(fraction.numerator))}/{json_whole(fraction.denominator)}"


def json_value(value: Value, domain: Domain) -> list[str | None]:
    """A value with its type. The kind is that of the domain: a 1 among floats is a float."""
    if value is None:
        return ["null"]
    if value is SUPPRESSED:
        return ["suppressed"]
    if isinstance(value, Interval):
        ends = (None if end is None else json_rational(end) for end in (value.low, value.high))
        return ["interval", *ends]
    if domain.kind == "bool":
        return ["bool", "true" if value else "false"]
    if domain.kind == "float":
        return ["float", repr(float(value))]  # type: ignore[arg-type]
    return [str(domain.kind), str(value)]


def domain_of_json(given: list[Typed], where: str, declared: bool = True, in_order: bool = True) -> Domain:
    values: list[Value] = []
    for kind, plain in given:
        if kind == "interval":
            values.append(Interval(*plain))
        else:
            values.append(SUPPRESSED if kind == "suppressed" else plain)
    return Domain.of(values, declared, where=where, in_order=in_order)


def limit_text(number: Fraction) -> str:
    """A limit for a message; Python refuses to print very long integers."""
    if max(abs(number.numerator), number.denominator).bit_length() <= 1024:
        return number_text(exact(number, "limit"))
    return f"about 2^{number.numerator.bit_length() - number.denominator.bit_length()}"
