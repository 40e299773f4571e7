"""Checks of one argument each: the error names the argument, what was expected and what came."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from nbcfast._core.numbers import number_text


def type_name(argument: object) -> str:
    """What came, for those who say of which type it was."""
    return type(argument).__name__


def whole(
    number: object,
    where: str,
    least: int | None = None,
    most: int | None = None,
    *,
    expected: str = "an int",
    got: Callable[[object], str] = repr,
) -> int:
    """The integer that an argument is, of Python's kind or NumPy's, within bounds.

    Parameters
    ----------
    number : object
        The argument. True and False are no numbers, and 2.0 is no integer.
    where : str
        Its name, for errors.
    least, most : int, optional
        The bounds, both included.
    expected : str
        What the argument may be, where it may be something else as well, which the caller has looked for.
    got : callable
        How what came is shown if it is no integer.

    Raises
    ------
    TypeError
        If it is no integer.
    ValueError
        If it is out of bounds.

    Examples
    --------
    >>> whole(3, "rounds", 1)
    3
    >>> whole(0, "rounds", 1)
    Traceback (most recent call last):
    ValueError: rounds must be at least 1, got 0
    """
    if type(number).__name__ in ("bool", "bool_"):  # NumPy's has had both names
        raise TypeError(f"{where} must be {expected}, got {got(number)}")
    try:
        value = operator.index(number)  # type: ignore[arg-type]  # what it refuses is told below
    except TypeError:
        raise TypeError(f"{where} must be {expected}, got {got(number)}") from None
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = (
            f"at least {least}"
            if most is None
            else f"at most {most}"
            if least is None
            else f"{least}..{most}"
        )
        raise ValueError(f"{where} must be {bounds}, got {number_text(value)}")
    return value


def positive(number: object, where: str) -> int:
    """The integer of at least 1 that an argument is; anything else is a ValueError.

    Examples
    --------
    >>> positive(2.5, "rounds")
    Traceback (most recent call last):
    ValueError: rounds must be an int of at least 1, got 2.5
    """
    try:
        return whole(number, where, 1)
    except (TypeError, ValueError):
        shown = number_text(number) if isinstance(number, int) else repr(number)
        raise ValueError(f"{where} must be an int of at least 1, got {shown}") from None


def callable_or_none(
    argument: object, where: str = "progress", *, got: Callable[[object], str] = type_name
) -> None:
    """TypeError unless the argument can be called, or is None.

    Examples
    --------
    >>> callable_or_none(5)
    Traceback (most recent call last):
    TypeError: progress must be callable or None, got int
    """
    if argument is not None and not callable(argument):
        raise TypeError(f"{where} must be callable or None, got {got(argument)}")


def generator_or_none(argument: object, where: str = "rng") -> None:
    """TypeError unless the argument is a generator of NumPy's, or None.

    Examples
    --------
    >>> generator_or_none(5)
    Traceback (most recent call last):
    TypeError: rng must be a numpy.random.Generator or None, got int
    """
    if argument is not None and not isinstance(argument, np.random.Generator):
        raise TypeError(f"{where} must be a numpy.random.Generator or None, got {type_name(argument)}")


def choice(argument: object, choices: Sequence[str], where: str) -> None:
    """ValueError unless the argument is one of these texts.

    Examples
    --------
    >>> choice("best", ("order", "label"), "preserve")
    Traceback (most recent call last):
    ValueError: preserve must be 'order' or 'label', got 'best'
    """
    if not (isinstance(argument, str) and argument in choices):  # an array is in no sequence of texts
        *others, last = map(repr, choices)
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{where} must be {listed}, got {argument!r}")
