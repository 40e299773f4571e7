"""What `achieved`, `lower_bound` and `best` answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from nbcfast._core.numbers import plain_ratio, ratio_text
from nbcfast._core.untyped import Document
from nbcfast.safety.ratios import LabelPair
from nbcfast.safety.text import tuple_text
from nbcfast.table.values import Value

Labels = tuple[Value, ...]  # by a name of its own, as a field is named tuple


@dataclass(frozen=True, repr=False)
class Reached:
    """The r of one of the two forms, and where it is attained.

    Attributes
    ----------
    log : float
        Its natural logarithm, math.inf where it is infinite.
    value : Fraction or None
        Exactly; None where it is infinite, too long to write out, or not exact.
    exact : bool
        Whether it is attained. Otherwise, with three or more classes and a domain too large to search, the
        true r lies between `least` and the exponential of `log`.
    least : float
        The logarithm of what the witness attains; the same as `log` where exact.
    tuple : dict of name -> value
        The witness.
    classes : tuple of labels
        Statement 11: the two classes whose odds moved, the one that gained first. Definition 5: the class
        whose posterior moved.
    direction : {"up", "down"}
        Whether the posterior (the odds of the first class) is above its prior or below.
    """

    log: float
    value: Fraction | None
    exact: bool
    least: float
    tuple: dict[str, Value]
    classes: Labels
    direction: Literal["up", "down"]

    @property
    def infinite(self) -> bool:
        """Whether some posterior is 0 that had a prior."""
        return self.log == math.inf

    @property
    def text(self) -> str:
        """The value for people: exact where short, else a few digits."""
        if self.infinite:
            return "infinite"
        return ("" if self.exact else "at most ") + ratio_text(self.value, self.log)

    def to_dict(self) -> Document:
        """Plain values; the exact value as "num/den", in hexadecimal beyond 53 bits."""
        return {
            "log": self.log,
            "value": None if self.value is None else plain_ratio(self.value),
            "exact": self.exact,
            "least": self.least,
            "infinite": self.infinite,
            "tuple": dict(self.tuple),
            "classes": list(self.classes),
            "direction": self.direction,
        }

    def __repr__(self) -> str:
        labels = " over ".join(map(repr, self.classes))
        return f"Reached({self.text}: {labels} {self.direction} at {tuple_text(self.tuple)})"


@dataclass(frozen=True, repr=False)
class Achieved:
    """How close to a prior the posteriors of a viewset are.

    Attributes
    ----------
    definition5 : Reached
        The largest posterior / prior or prior / posterior of any property of the class at any tuple or set of
        known values; single classes and full tuples have it.
    statement11 : Reached
        The largest (X_c / X_d) / (F_c / F_d).
    prior : tuple of Fraction
        In the order of the classes.
    """

    definition5: Reached
    statement11: Reached
    prior: tuple[Fraction, ...]

    @property
    def r(self) -> Fraction | None:
        """That of Statement 11, the form that `est` keeps; None where infinite or too long."""
        return self.statement11.value

    @property
    def log_r(self) -> float:
        """The logarithm of it."""
        return self.statement11.log

    def to_dict(self) -> Document:
        return {
            "definition5": self.definition5.to_dict(),
            "statement11": self.statement11.to_dict(),
            "prior": [plain_ratio(number) for number in self.prior],
        }

    def __repr__(self) -> str:
        return (
            f"Achieved(r = {self.definition5.text} by Definition 5, {self.statement11.text} by Statement 11: "
            f"{' over '.join(map(repr, self.statement11.classes))} at {tuple_text(self.statement11.tuple)})"
        )


@dataclass(frozen=True, repr=False)
class LowerBound:
    """What no viewset that decides as this one does can stay below.

    Attributes
    ----------
    definition5 : Fraction
        Of the r of Definition 5; a square root that is not rational is rounded down at 2^-64.
    statement11 : Fraction
        Of the r of Statement 11.
    strict : bool
        Whether r is always above these numbers: with attacker="worlds".
    inverted : tuple of two labels, or None
        The classes behind `statement11`: the first has the smaller prior, and beats the second somewhere.
        None where no such pair exists; both numbers are then 1.
    witness : dict of name -> value, or None
        A tuple where it does.
    """

    definition5: Fraction
    statement11: Fraction
    strict: bool
    inverted: LabelPair | None
    witness: dict[str, Value] | None

    def to_dict(self) -> Document:
        """Plain values; exact numbers as "num/den", in hexadecimal beyond 53 bits."""
        return {
            "definition5": plain_ratio(self.definition5),
            "statement11": plain_ratio(self.statement11),
            "strict": self.strict,
            "inverted": None if self.inverted is None else list(self.inverted),
            "witness": None if self.witness is None else dict(self.witness),
        }

    def __repr__(self) -> str:
        sign = ">" if self.strict else ">="
        if self.inverted is None:
            return f"LowerBound(r {sign} 1: no class beats one of larger prior)"
        c, d = self.inverted
        return (
            f"LowerBound(r {sign} {ratio_text(self.definition5, math.nan)} by Definition 5, {sign} "
            f"{ratio_text(self.statement11, math.nan)} by Statement 11: {c!r} beats {d!r} at "
            f"{tuple_text(self.witness or {})})"
        )


@dataclass(frozen=True, repr=False)
class Best:
    """The smallest r of Statement 11 that X' = X^x F^y, the output of EST, comes to.

    Attributes
    ----------
    r : Fraction or float
        Exactly where it is rational (1, or the largest ratio of two priors), else the nearest float.
    log_r : float
    interval : tuple of two Fractions
        Lower and upper bound of its logarithm; equal to each other only for r = 1.
    x, y : float
        Where it is; x = y = 0 stands for the limit of ever flatter scores.
    attained : bool
        Whether some x > 0 and 0 <= y < 1 attain it; otherwise they only come near.
    exact : bool
        Whether the margins that it rests on are true ones. Where the domain is too large for that they are
        proven bounds, and some smaller r might be possible.
    binding : tuple of pairs of labels
        The pairs (c, d) whose odds X_c / X_d against F_c / F_d stand at r there.
    """

    r: Fraction | float
    log_r: float
    interval: tuple[Fraction, Fraction]
    x: float
    y: float
    attained: bool
    exact: bool
    binding: tuple[LabelPair, ...]

    def to_dict(self) -> Document:
        """Plain values; exact numbers as "num/den", in hexadecimal beyond 53 bits."""
        return {
            "r": plain_ratio(self.r) if isinstance(self.r, Fraction) else self.r,
            "log_r": self.log_r,
            "interval": [plain_ratio(end) for end in self.interval],
            "x": self.x,
            "y": self.y,
            "attained": self.attained,
            "exact": self.exact,
            "binding": [list(pair) for pair in self.binding],
        }

    @property
    def text(self) -> str:
        """The value for people."""
        return ratio_text(self.r if isinstance(self.r, Fraction) else None, self.log_r)

    def __repr__(self) -> str:
        how = "attained" if self.attained else "infimum, not attained"
        where = "x, y -> 0" if self.x == self.y == 0 else f"x = {self.x:.6g}, y = {self.y:.6g}"
        note = "" if self.exact else "; of proven bounds of the margins"
        return f"Best(r = {self.text}, {how}, at {where}{note})"
