"""`plan`: how many respondents a scheme takes, from the variance of its estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.untyped import Document
from nbcfast._core.validation import type_name, whole
from nbcfast.response.binary_scheme import Scheme
from nbcfast.response.schemes import AnyScheme
from nbcfast.response.two_way import Shrinkage, contributions


@dataclass(frozen=True)
class Plan:
    """What to expect from so many respondents, whatever the truth is.

    Attributes
    ----------
    n : int
        Respondents.
    standard_error : float
        The largest that the estimated share of any class or (value, class) can have.
    accuracy_error : float or None
        The largest that the accuracy from a disguised test set of n answers can have; for binary schemes, and
        infinite where it is beyond floats.
    blow_up : float
        How many times more respondents this takes than telling the truth would.
    """

    n: int
    standard_error: float
    accuracy_error: float | None
    blow_up: float

    def to_dict(self) -> Document:
        accuracy = self.accuracy_error
        return {
            "n": self.n,
            "standard_error": self.standard_error,
            "accuracy_error": None if accuracy is None or math.isinf(accuracy) else accuracy,
            "blow_up": self.blow_up,
        }


def plan(
    n: int | None,
    scheme: AnyScheme,
    *,
    class_name: str | None = None,
    standard_error: Numeral | None = None,
    accuracy: Numeral | None = None,
) -> Plan:
    """How well n respondents are enough, or how many are needed.

    The variance of an estimated share P(E) from n answers is (E[u^2] - P(E)^2) / n, u being what an answer
    contributes; the plan takes the largest that it has for any population, so it holds before anything is
    known. For one attribute at theta this is (1/4 + v) / n with v = theta (1 - theta) / (2 theta - 1)^2.

    Parameters
    ----------
    n : int or None
        Respondents; None to be told.
    scheme : Scheme or KaryScheme
        What they are to do.
    class_name : str, optional
        The class. Without it a class outside the scheme is assumed.
    standard_error : number, optional
        With n=None: the largest that any estimated share may have.
    accuracy : number, optional
        With n=None: the largest standard error that an accuracy measured on n disguised answers may have.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from nbcfast.response import Scheme
    >>> scheme = Scheme("0.8", [["a", "b"]])
    >>> plan(10_000, scheme).standard_error  # sqrt((1/4 + 4/9) / 10,000)
    0.008333333333333333
    >>> plan(None, scheme, standard_error="0.01").n
    6945
    """
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    if class_name is not None and not isinstance(class_name, str):
        raise TypeError(f"class_name must be a str or None, got {type(class_name).__name__}")
    of_shares, of_accuracy = _worst_share(scheme, class_name), _worst_accuracy(scheme)
    if n is None:
        n = _needed(of_shares, of_accuracy, standard_error, accuracy)
    elif standard_error is not None or accuracy is not None:
        raise ValueError("standard_error and accuracy go with n=None")
    n = whole(n, "n", 1, expected="an int or None", got=type_name)
    return Plan(
        n,
        _root(of_shares / n),
        None if of_accuracy is None else _root(of_accuracy / n),
        # A share of 1/2 has the largest variance of those told as they are: 1/4.
        float(4 * of_shares),
    )


def _needed(
    of_shares: Fraction,
    of_accuracy: Fraction | None,
    standard_error: Numeral | None,
    accuracy: Numeral | None,
) -> int:
    """The fewest respondents with standard errors that small, from the variances of one answer."""
    needed = []
    if standard_error is not None:
        needed.append(of_shares / _positive(standard_error, "standard_error") ** 2)
    if accuracy is not None:
        if of_accuracy is None:
            raise ValueError("accuracy: planned for binary schemes only")
        needed.append(of_accuracy / _positive(accuracy, "accuracy") ** 2)
    if not needed:
        raise ValueError("n: expected a number, or standard_error or accuracy to find it from")
    return max(1, *map(math.ceil, needed))


def _root(number: Fraction) -> float:
    """The square root of a number that may be beyond floats."""
    try:
        return math.sqrt(number)
    except OverflowError:
        pass
    half = (math.log(number.numerator) - math.log(number.denominator)) / 2
    return math.exp(half) if half < 709 else math.inf


def _positive(number: Numeral, where: str) -> Fraction:
    positive = Fraction(exact_share(number, where))
    if positive <= 0:
        raise ValueError(f"{where} must be above 0, got {number}")
    return positive


def _worst_share(scheme: AnyScheme, class_name: str | None) -> Fraction:
    """N times the largest variance of any estimated share."""
    variances = [Fraction(1, 4)]
    in_scheme = class_name is not None and scheme.group_of(class_name) is not None
    k_c = scheme.size(str(class_name)) if in_scheme else 2
    if in_scheme:
        variances.append(worst_variance(k_c, 1, scheme.shrinkage(class_name, None)))
    for name in scheme.columns:
        if name != class_name:
            shrinkage = scheme.shrinkage(name, class_name if in_scheme else None)
            variances.append(worst_variance(scheme.size(name), k_c, shrinkage))
    return max(variances)


def worst_variance(k_a: int, k_c: int, shrinkage: Shrinkage) -> Fraction:
    """The largest E[u^2] - P^2 of a cell over all populations: docs/mathematics/response.md, statement 3.4.

    E[u^2] is linear in the shares of the truths that match the cell in both, either or no coordinate; for a
    given P the rest is best put where it is largest, and what is left is a parabola in P.
    """
    u = contributions(k_a, k_c, shrinkage, inverse=True)
    chances = contributions(k_a, k_c, shrinkage, inverse=False)
    mean_square = {}
    for i in (0, 1) if k_a > 1 else (1,):
        for j in (0, 1) if k_c > 1 else (1,):
            row = Fraction(1, k_a) + (i - Fraction(1, k_a)) * shrinkage[0]
            column = Fraction(1, k_c) + (j - Fraction(1, k_c)) * shrinkage[1]
            both = chances[i, j]
            mean_square[i, j] = (
                both * u[1, 1] ** 2
                + (row - both) * u[1, 0] ** 2
                + (column - both) * u[0, 1] ** 2
                + (1 - row - column + both) * u[0, 0] ** 2
            )
    inside = mean_square.pop((1, 1))
    outside = max(mean_square.values(), default=inside)
    # P inside + (1 - P) outside - P^2 is largest at P = (inside - outside) / 2, or at an end.
    peak = min(max((inside - outside) / 2, Fraction(0)), Fraction(1))
    return peak * inside + (1 - peak) * outside - peak * peak


def _worst_accuracy(scheme: AnyScheme) -> Fraction | None:
    """N times the largest variance of a measured accuracy; None where it is not planned.

    A quarter of the squared range of what an answer contributes: docs/mathematics/response.md, section 3.
    """
    if not isinstance(scheme, Scheme):
        return None
    deltas = (scheme.remains(group, group.columns[:1]) for group in scheme.groups)
    return math.prod((1 / delta**2 for delta in deltas), start=Fraction(1, 4))
