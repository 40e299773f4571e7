"""Ratios and tuples as people read them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from nbcfast._wire.messages import printable
from nbcfast.safety.ratios import log_of
from nbcfast.table.values import number_text


def plain_ratio(number: Fraction) -> str:
    return "/".join(
        str(part) if abs(part) <= 1 << 53 else hex(part) for part in (number.numerator, number.denominator)
    )


def ratio_text(number: Fraction | None, log: float) -> str:
    """Exact decimal text where it is short, else six digits, also beyond the range of doubles."""
    if number is not None and number <= 0:
        return number_text(number.numerator if number.denominator == 1 else number)
    if number is not None and number.numerator.bit_length() + number.denominator.bit_length() <= 60:
        text = number_text(number.numerator if number.denominator == 1 else number)
        return text if len(text) <= 12 else f"{float(number):.6g}"
    if number is not None:
        log = log_of(number)
    if log < 700:
        return f"{math.exp(log):.6g}"
    exponent = math.floor(log / math.log(10))
    mantissa = f"{math.exp(log - exponent * math.log(10)):.3f}"
    return f"{mantissa}e+{exponent}" if mantissa != "10.000" else f"1.000e+{exponent + 1}"


def tuple_text(values: dict[str, Any]) -> str:
    shown = [f"{printable(name)}={value!r}" for name, value in list(values.items())[:8]]
    if len(values) > len(shown):
        shown.append(f".. {len(values)} in all")
    return ", ".join(shown) or "the empty tuple"
