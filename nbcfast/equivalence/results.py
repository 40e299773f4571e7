"""What `margin` and `compare` answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import amount_text
from nbcfast._core.untyped import Document
from nbcfast.table.values import Value

ClassPair = tuple[int, int]  # positions of two classes
ComparisonMethod = Literal["enumeration", "meet in the middle", "interval", "sample", "undecided"]


@dataclass(frozen=True)
class Margin:
    """How near the nearest two scores come that are not equal.

    Attributes
    ----------
    log : float
        The smallest non-zero ``|ln X_c - ln X_d|`` over all tuples and classes with positive X, or with
        method "bound" a number that it is not below. math.inf where no two positive scores differ; 0.0 for a
        bound too small for a float.
    log2 : float
        Its logarithm to base 2, never too small for a float.
    witness : dict of name -> value, or None
        A tuple that attains it.
    classes : tuple of two labels, or None
        The classes that attain it, the one of larger X first.
    exact : bool
        Whether this is the margin, and not a bound of it.
    method : {"enumeration", "meet in the middle", "bound"}
    tuples : int
        How many tuples the product domain has.
    """

    log: float
    log2: float
    witness: dict[str, Value] | None
    classes: tuple[Value, Value] | None
    exact: bool
    method: Literal["enumeration", "meet in the middle", "bound"]
    tuples: int

    def to_dict(self) -> Document:
        """Plain Python values."""
        return {
            "log": self.log,
            "log2": self.log2,
            "witness": self.witness,
            "classes": None if self.classes is None else list(self.classes),
            "exact": self.exact,
            "method": self.method,
            "tuples": self.tuples,
        }

    def __repr__(self) -> str:
        if self.log == math.inf:
            of = f"{amount_text(self.tuples)} tuples"
            return f"Margin(inf: no two positive scores differ; {of}, {self.method})"
        size = f"{self.log!r}" if self.log > 0 else f"2^{self.log2:.1f}"
        if not self.exact:
            return f"Margin(at least {size}; {amount_text(self.tuples)} tuples, {self.method})"
        c, d = self.classes or (None, None)
        where = f"{c!r} over {d!r} at {self.witness}"
        return f"Margin({size}: {where}; {amount_text(self.tuples)} tuples, {self.method})"


@dataclass(frozen=True)
class Comparison:
    """Whether two classifiers are the same on the whole product domain.

    Attributes
    ----------
    equal : bool or None
        None where the domain is too large to decide.
    differing : int or None
        How many tuples differ; None where that is not known: in a domain too large to decide, and with more
        than two classes where millions of tuples differ in a domain too large to enumerate.
    tuples : int
        How many tuples the product domain has.
    witness : dict of name -> value, or None
        A tuple that differs.
    classes : tuple of two labels, or None
        Where the order is compared: two classes, the one of lower precedence first, that only one of the
        viewsets puts in this order at the witness. Where labels are compared: the two labels.
    preserve : {"order", "label"}
    method : {"enumeration", "meet in the middle", "interval", "sample", "undecided"}
        How the answer was found; "sample" is a witness met among some tuples of a domain that is too
        large to decide.
    bound : Margin or None
        For an undecided answer the proven bound of the margin of the first viewset.
    rows : ndarray of int64, or None
        The rows of the table `on` that differ.
    """

    equal: bool | None
    differing: int | None
    tuples: int
    witness: dict[str, Value] | None
    classes: tuple[Value, Value] | None
    preserve: Preserve
    method: ComparisonMethod
    bound: Margin | None = None
    rows: Longs | None = field(default=None, compare=False)

    def to_dict(self) -> Document:
        """Plain Python values."""
        return {
            "equal": self.equal,
            "differing": self.differing,
            "tuples": self.tuples,
            "witness": self.witness,
            "classes": None if self.classes is None else list(self.classes),
            "preserve": self.preserve,
            "method": self.method,
            "bound": None if self.bound is None else self.bound.to_dict(),
            "rows": None if self.rows is None else self.rows.tolist(),
        }

    def __repr__(self) -> str:
        of = f"{amount_text(self.tuples)} tuples"
        rows = "" if self.rows is None else f"; {len(self.rows)} rows of the table differ"
        if self.equal is None:
            return f"Comparison(undecided: {of} are too many{rows})"
        if self.equal:
            return f"Comparison(equal {self.preserve} on all {of}, {self.method}{rows})"
        number = "some" if self.differing is None else amount_text(self.differing)
        return (
            f"Comparison({self.preserve} differs on {number} of {of}, {self.method}; "
            f"for example {self.witness}: {self.classes}{rows})"
        )
