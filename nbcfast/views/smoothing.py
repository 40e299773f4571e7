"""Counts with the same number added to each: Laplace's classifier, as views of whole rows."""

from __future__ import annotations

from nbcfast._core.numbers import Number, exact

MOST = 10**9  # of the numerator and of the denominator: longer ones smooth alike, and counts grow with them


def constant(alpha: object, where: str = "alpha") -> Number:
    """What is added to every count, exactly: positive, of two numbers of nine digits at most."""
    number = exact(alpha, where)
    if number <= 0:
        raise ValueError(f"{where} must be positive, got {alpha!r}")
    if max(number.numerator, number.denominator) > MOST:
        raise ValueError(f"{where} must be a quotient of integers up to {MOST:,}, got {alpha!r}")
    return number
