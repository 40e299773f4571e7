"""Base-2 logarithms of integers, with proven bounds."""

from __future__ import annotations


def log2_below(number: int, digits: int) -> int:
    """A lower bound of log2(number) in units of 2^-digits; adding 2 gives an upper bound.

    Digit by digit, by squaring a fixed-point y in [1, 2) of digits + 30 places that is rounded down. Each
    rounding loses a relative 2^-(digits + 30) at most, so all of them, weighted 1, 1/2, 1/4, .., cost less
    than a unit, and so do the digits cut off.
    """
    places = digits + 30
    two = 2 << places
    exponent = number.bit_length() - 1
    y = number >> (exponent - places) if exponent >= places else number << (places - exponent)
    result = exponent
    for _ in range(digits):
        y = y * y >> places
        result <<= 1
        if y >= two:
            y >>= 1
            result |= 1
    return result
