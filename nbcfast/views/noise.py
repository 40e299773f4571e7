"""What is known of the noise in a viewset: `Noise`, a record of plain exact numbers.

Proved in docs/mathematics/dp.md; the noise is made in `nbcfast.dp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from nbcfast._core.chances import epsilon_words
from nbcfast._core.numbers import ratio_text
from nbcfast._core.validation import choice, whole
from nbcfast._wire.concentrated import rho_below
from nbcfast._wire.privacy_form import WEAK_EPSILON

Mechanism = Literal["discrete laplace", "discrete gaussian"]
Neighbours = Literal["add-remove", "replace"]

LAPLACE: Mechanism = "discrete laplace"
GAUSSIAN: Mechanism = "discrete gaussian"
MECHANISMS = (LAPLACE, GAUSSIAN)
NEIGHBOURS: tuple[Neighbours, ...] = ("add-remove", "replace")
WEAK_RHO = Fraction(3, 2)  # from which it is proven to hide as little as WEAK_EPSILON does
FEW_ATTRIBUTES = 10  # below, Laplace has the smaller variance at a delta of 1e-6 and an epsilon of 1


def sensitivity_of(mechanism: str, n_attributes: int, neighbours: str, rows_per_person: int) -> int:
    """How far one person moves all counts together: L1 for Laplace, the square of L2 for the Gaussian.

    A row is in one cell of the class counts and in one of each table, so that to add or to remove it changes
    n + 1 counts by 1: L1 and the square of L2 are n + 1. To replace it changes at most two counts of each by
    1: both are 2 (n + 1). The rows of a person may be alike, which multiplies L1 and L2 by their number.

    Examples
    --------
    >>> sensitivity_of("discrete laplace", 5, "replace", 3)
    36
    >>> sensitivity_of("discrete gaussian", 5, "replace", 3)
    108
    """
    of_row = (n_attributes + 1) * (1 if neighbours == "add-remove" else 2)
    return of_row * (rows_per_person if mechanism == LAPLACE else rows_per_person**2)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise that was added to every count of a viewset, and what differential privacy it gives.

    Attributes
    ----------
    mechanism : {"discrete laplace", "discrete gaussian"}
        Laplace has ``P(x) ~ exp(-|x| epsilon / sensitivity)``, the Gaussian
        ``P(x) ~ exp(-x^2 rho / sensitivity)``.
    epsilon : Fraction or None
        What was asked for; None of a Gaussian of which rho alone was.
    delta : Fraction
        0 for Laplace, and where epsilon is None.
    rho : Fraction or None
        The zero-concentrated privacy of the Gaussian; None for Laplace.
    neighbours : {"add-remove", "replace"}
        What tables are one person apart.
    rows_per_person : int
        How many rows a person has at most, as was declared.
    sensitivity : int
        Of all counts together: L1 for Laplace, the square of L2 for the Gaussian.
    n_attributes : int

    Raises
    ------
    ValueError, TypeError
        If these do not fit each other.

    Examples
    --------
    >>> noise = Noise(mechanism="discrete laplace", epsilon=Fraction(1, 2), sensitivity=6, n_attributes=5)
    >>> noise.scale, noise.variance
    (Fraction(12, 1), Fraction(288, 1))
    """

    mechanism: Mechanism
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    neighbours: Neighbours = "add-remove"
    rows_per_person: int = 1
    sensitivity: int
    n_attributes: int

    def __post_init__(self) -> None:
        choice(self.mechanism, MECHANISMS, "mechanism")
        choice(self.neighbours, NEIGHBOURS, "neighbours")
        whole(self.rows_per_person, "rows_per_person", 1)
        whole(self.n_attributes, "n_attributes", 0)
        for name, number in (("epsilon", self.epsilon), ("rho", self.rho)):
            if number is not None and not (isinstance(number, Fraction) and number > 0):
                raise ValueError(f"{name} must be a Fraction above 0 or None, got {number!r}")
        if not (isinstance(self.delta, Fraction) and 0 <= self.delta < 1):
            raise ValueError(f"delta must be a Fraction from 0 to below 1, got {self.delta!r}")
        if self.mechanism == LAPLACE:
            if self.epsilon is None or self.rho is not None or self.delta != 0:
                raise ValueError("discrete Laplace noise has an epsilon, no rho, and a delta of 0")
        elif self.rho is None or (self.epsilon is None) != (self.delta == 0):
            raise ValueError("discrete Gaussian noise has a rho, and epsilon and delta both or neither")
        expected = sensitivity_of(self.mechanism, self.n_attributes, self.neighbours, self.rows_per_person)
        if self.sensitivity != expected:
            raise ValueError(f"sensitivity must be {expected}, got {self.sensitivity!r}")

    @property
    def scale(self) -> Fraction | None:
        """Of Laplace, b in ``P(x) ~ exp(-|x| / b)``; None for the Gaussian."""
        return None if self.epsilon is None or self.mechanism != LAPLACE else self.sensitivity / self.epsilon

    @property
    def sigma_squared(self) -> Fraction | None:
        """Of the Gaussian, in P(x) ~ exp(-x^2 / (2 sigma^2)); None for Laplace."""
        return None if self.rho is None else self.sensitivity / (2 * self.rho)

    @property
    def variance(self) -> Fraction:
        """Of the continuous law of the same parameter, which that of a count is at most."""
        if self.sigma_squared is not None:
            return self.sigma_squared
        assert self.scale is not None
        return 2 * self.scale**2

    @property
    def level(self) -> str:
        """What privacy it gives, for people: "epsilon 1, delta 0.000001"."""
        parts = [
            f"{name} {ratio_text(number, 0)}"
            for name, number in (("epsilon", self.epsilon), ("delta", self.delta or None), ("rho", self.rho))
            if number is not None
        ]
        return ", ".join(parts)

    @property
    def words(self) -> str:
        """What that means for one person; of rho alone, that a delta is needed to say it."""
        if self.epsilon is None:
            return "not said: of a rho alone the odds have no bound; a delta gives one"
        return epsilon_words(self.epsilon, self.delta)

    @property
    def is_weak(self) -> bool:
        """Whether it hardly hides anybody, as the certificate then warns."""
        if self.rho is not None:
            return self.rho >= WEAK_RHO
        return self.epsilon is not None and self.epsilon >= WEAK_EPSILON

    @property
    def text(self) -> str:
        """What was added, what it gives and why this noise, for people, in one line."""
        rows = "one row" if self.rows_per_person == 1 else f"up to {self.rows_per_person:,} rows"
        apart = "adding or removing" if self.neighbours == "add-remove" else "replacing"
        variance = ratio_text(self.variance, 0)
        if self.mechanism == LAPLACE:
            assert self.scale is not None
            kind = f"discrete Laplace noise of scale {ratio_text(self.scale, 0)} (variance {variance})"
            why = (
                f"taken because it needs no delta, and below {FEW_ATTRIBUTES} attributes seldom varies more"
                if self.n_attributes < FEW_ATTRIBUTES
                else f"Gaussian noise for the same epsilon, and a delta of 0.000001, has variance "
                f"{ratio_text(self._gaussian_variance, 0)}"
            )
        else:
            kind = f"discrete Gaussian noise of variance {variance}"
            why = "taken because rho was asked for"
            if self.epsilon is not None:
                laplace = 2 * (self._laplace_sensitivity / self.epsilon) ** 2
                why = (
                    f"Laplace noise for the same epsilon, and no delta, has variance {ratio_text(laplace, 0)}"
                )
        return f"{kind} on every count: {self.level} for {apart} a person with {rows}; {why}"

    @property
    def _gaussian_variance(self) -> Fraction:
        """Of the Gaussian for the same epsilon, and the delta that people begin with."""
        assert self.epsilon is not None
        of = sensitivity_of(GAUSSIAN, self.n_attributes, self.neighbours, self.rows_per_person)
        return of / (2 * rho_below(self.epsilon, Fraction(1, 10**6)))

    @property
    def _laplace_sensitivity(self) -> int:
        return sensitivity_of(LAPLACE, self.n_attributes, self.neighbours, self.rows_per_person)
