"""Numbers as arguments and as texts: exactly what was meant, and what people can read."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._wire.chosen_numbers import MOST_DIGITS, carries_more

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Number = int | Fraction
Numeral = int | Fraction | float | str  # a number as it is written; a float means its shortest decimal text

ROUND_OFF = 2.0**-53  # the relative error of one operation of doubles
WHOLE = 1 << 53  # up to here every integer is a double
LONG = re.compile(r"[eE][+-]?0*[1-9][0-9]{4,}$")  # 1e999999999 is a short text, and fills the memory


def plainly(text: str) -> bool:
    """Whether a number is not written in what Python reads too and people may not see: "４", " 4 ", "1_0"."""
    return text.isascii() and not any(sign.isspace() or sign == "_" for sign in text)


def exact(number: object, where: str) -> Number:
    """The number as an int where it is whole, else a Fraction; a float means its shortest decimal text."""
    if isinstance(number, (bool, np.bool_)):
        raise TypeError(f"{where} must be a number, got {number!r}")
    if isinstance(number, np.floating):
        number = str(number)  # the shortest text that its own type reads again
    elif isinstance(number, np.generic) and not isinstance(number, np.timedelta64):
        number = number.item()
    if isinstance(number, str) and number.endswith("%"):
        raise ValueError(f"{where} must be a number without %, got {_short(repr(number))}")
    if isinstance(number, str) and not plainly(number):
        raise ValueError(
            f"{where} must be a number in digits 0 to 9 without blanks, got {_short(ascii(number))}"
        )
    if isinstance(number, str) and LONG.search(number):
        raise ValueError(
            f"{where} must be a number with an exponent below 10,000, got {_short(repr(number))}"
        )
    try:
        if isinstance(number, float):
            result = Fraction(repr(number))
        elif isinstance(number, (int, Fraction, str)):
            result = Fraction(number)
        else:
            raise TypeError(
                f"{where} must be an int, a Fraction, a float or its text, got {type(number).__name__}"
            )
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{where} must be a finite number, got {_short(repr(number))}") from None
    return result.numerator if result.denominator == 1 else result


def decimal_above(number: Fraction | float, digits: int = 3) -> Fraction:
    """The next number above a positive one with so many digits: what is typed where that is not quite had.

    Examples
    --------
    >>> decimal_above(3.25001), decimal_above(Fraction(1, 3)), decimal_above(1234567)
    (Fraction(163, 50), Fraction(167, 500), Fraction(1240000, 1))
    """
    found = Fraction(number)
    step = Fraction(10) ** (math.floor(math.log10(found)) - digits + 1)
    return (found // step + 1) * step


def as_limit(number: Number, where: str, factors: int = 1) -> Fraction:
    """The number, which a certificate will hold; in longer ones whole texts could be hidden.

    `factors` is of how many such numbers it is a product.
    """
    limit = Fraction(number)
    if carries_more(limit, factors):
        raise ValueError(
            f"{where}: exact limits have at most {MOST_DIGITS * factors} digits in numerator and "
            f"denominator, got {_short(number_text(limit))}"
        )
    return limit


def exact_share(number: object, where: str) -> Number:
    """`exact`, of what may be written as a percentage too: "60%" and "60 %" are 3/5."""
    if isinstance(number, str) and number.endswith("%"):
        percent = number[:-1].removesuffix(" ")
        if not percent or percent.endswith("%"):
            raise ValueError(f"{where} must be a finite number, got {_short(repr(number))}")
        share = Fraction(exact(percent, where)) / 100
        return share.numerator if share.denominator == 1 else share
    return exact(number, where)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:76]}.."


def fields_text(instance: DataclassInstance) -> str:
    """The repr of a data class whose numbers may be too long for Python to print."""
    shown = ", ".join(
        f"{field.name}={_field_text(getattr(instance, field.name))}" for field in fields(instance)
    )
    return f"{type(instance).__name__}({shown})"


def _field_text(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        if isinstance(value, (int, Fraction)):
            return number_text(value)
        if not isinstance(value, (list, tuple)):
            raise
        listed = ", ".join(map(_field_text, value))
        return f"[{listed}]" if isinstance(value, list) else f"({listed}{',' * (len(value) == 1)})"


def amount_text(number: int) -> str:
    """How many there are, for people: exact while it fits on a line, else in powers of ten."""
    return f"{number:,}" if number < 10**15 else f"about {power_text(number)}"


def power_text(number: int) -> str:
    """A positive integer in powers of ten, to two digits: beside another one of `amount_text`."""
    log = math.log10(number)
    exponent = math.floor(log)
    mantissa = round(10 ** (log - exponent), 1)
    return f"{mantissa:.1f} * 10^{exponent}" if mantissa < 10 else f"1.0 * 10^{exponent + 1}"


def number_text(number: Number) -> str:
    """Decimal text where the expansion ends, else "num/den"; rough where Python prints no such integers."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 4096:
        power = number.numerator.bit_length() - number.denominator.bit_length()
        return f"about {'-' if number < 0 else ''}2^{power}"
    if number.denominator == 1:
        return str(number.numerator)
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest != 1 or digits > 40:
        return f"{number.numerator}/{number.denominator}"
    scaled = abs(number.numerator) * 10**digits // number.denominator
    sign = "-" if number < 0 else ""
    return f"{sign}{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}"


def log_of(value: Fraction) -> float:
    """The logarithm of a positive fraction, accurate near 1 too."""
    top, bottom = gmpy2.mpz(value.numerator), gmpy2.mpz(value.denominator)
    with gmpy2.context(precision=192):
        if bottom < 2 * top < 4 * bottom:
            return float(gmpy2.log1p(gmpy2.mpfr(top - bottom) / bottom))
        return float(gmpy2.log(top) - gmpy2.log(bottom))


def plain_ratio(number: Fraction) -> str:
    return "/".join(
        str(part) if abs(part) <= 1 << 53 else hex(part) for part in (number.numerator, number.denominator)
    )


def ratio_text(number: Fraction | None, log: float) -> str:
    """Exact decimal text where it is short, else six digits, also beyond the range of doubles."""
    if number is not None and number <= 0:
        return number_text(number)
    if number is not None and number.numerator.bit_length() + number.denominator.bit_length() <= 60:
        text = number_text(number)
        return text if len(text) <= 12 else f"{float(number):.6g}"
    if number is not None:
        log = log_of(number)
    if log < 700:
        return f"{math.exp(log):.6g}"
    exponent = math.floor(log / math.log(10))
    mantissa = f"{math.exp(log - exponent * math.log(10)):.3f}"
    return f"{mantissa}e+{exponent}" if mantissa != "10.000" else f"1.000e+{exponent + 1}"


def edge(bound: int | Fraction) -> int | float:
    """The number from which on doubles are not below a bound, where a double means its shortest text.

    Raises
    ------
    ValueError
        If the bound is an integer that is no double: columns of integers and of doubles would need
        different numbers.

    Examples
    --------
    >>> edge(30), edge(Fraction(3, 10)), edge(Fraction(1, 3))
    (30, 0.3, 0.33333333333333337)
    """
    number = first_double(bound)
    if bound.denominator == 1 and (number != bound or Fraction(repr(float(number))) != bound):
        raise ValueError(f"an edge of a bin must be a double, got {number_text(bound)}")
    return number


def first_double(bound: int | Fraction) -> int | float:
    """The same where integers are compared by themselves: the end of a bin need be no double.

    Examples
    --------
    >>> first_double(2**53 + 1)
    9007199254740994.0
    """
    if bound.denominator == 1 and -WHOLE <= bound <= WHOLE:
        return int(bound)
    try:
        number = float(bound)
    except OverflowError:
        raise ValueError(f"an edge of a bin must be a double, got {number_text(bound)}") from None
    while Fraction(repr(number)) < bound:
        number = math.nextafter(number, math.inf)
    while Fraction(repr(math.nextafter(number, -math.inf))) >= bound:
        number = math.nextafter(number, -math.inf)
    return number
