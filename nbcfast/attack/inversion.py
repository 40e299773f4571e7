"""What an inversion finds, and what both attacks on powers of counts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast.views import Viewset

NOTHING = -1  # a count of which nothing is said

ROUNDING = 0.35  # standard deviation of a published count: rounded to integers, some moved by a row
FLOAT = 1e-15  # of its logarithm, which is a float64
CONVINCED = 12.0  # nats above what the best of all wrong hypotheses has
BLOCK = 1 << 17  # numbers looked up together


@dataclass(frozen=True, eq=False, repr=False)
class Inversion(HasReadOnlyMappings):
    """What `invert` found.

    Attributes
    ----------
    attack : {"column", "cross-ratio", "identity"} or None
        What worked; None where nothing did.
    k : float or None
        The exponent 1/k that was undone.
    confidence : float
        How probable it is that k is right, from 0 to 1.
    evidence : float
        In nats, above what the best of so many wrong hypotheses would have.
    counts : mapping of name -> ndarray of int64, shape (values, classes)
        The reconstruction, of each value and class as published; -1 where nothing is said.
    certainty : mapping of name -> ndarray of float64
        How probable each of these counts is.
    claimed : int
        How many positive counts the reconstruction has.
    recovered, positive : int or None
        How many positive counts of the truth are equal to the reconstruction, and how many there are; None
        without a truth.
    by_attribute : mapping of name -> (recovered, positive)
    tried : tuple of str
        The attacks that had something to look at: with none of them, nothing was tried, and that nothing was
        found says nothing.
    untried : tuple of str
        What was left out because it would have been too much work, in words.
    """

    attack: str | None
    k: float | None
    confidence: float
    evidence: float
    counts: Mapping[str, Longs]
    certainty: Mapping[str, Floats]
    recovered: int | None = None
    positive: int | None = None
    by_attribute: Mapping[str, tuple[int, int]] | None = None
    tried: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()

    @property
    def claimed(self) -> int:
        return sum(int((array > 0).sum()) for array in self.counts.values())

    def to_dict(self) -> Document:
        """Plain values; None for counts of which nothing is said."""
        return {
            "attack": self.attack,
            "k": self.k,
            "confidence": self.confidence,
            "evidence": self.evidence,
            "claimed": self.claimed,
            "counts": {
                name: [[None if n == NOTHING else n for n in row] for row in array.tolist()]
                for name, array in self.counts.items()
            },
            "certainty": {name: array.tolist() for name, array in self.certainty.items()},
            "recovered": self.recovered,
            "positive": self.positive,
            "by_attribute": None
            if self.by_attribute is None
            else {name: list(pair) for name, pair in self.by_attribute.items()},
            "tried": list(self.tried),
            "untried": list(self.untried),
        }

    def __repr__(self) -> str:
        if self.attack is None:
            how = "nothing found" if self.tried else "nothing to try"
        elif self.attack == "identity":
            how = "the counts are the private ones"
        else:
            how = f"{self.attack} attack, k = {self.k:.6g}, confidence {self.confidence:.4g}"
        score = "" if self.recovered is None else f"; {self.recovered} of {self.positive} counts right"
        left = f"; not tried: {'; '.join(self.untried)}" if self.untried else ""
        return f"Inversion({how}; {self.claimed} counts claimed{score}{left})"


@dataclass
class Allowance:
    """How many numbers an attack may look at, what was tried, and what was left out.

    Counted work and never a clock: the same release gives the same result everywhere, and what was not tried
    is said, so that nobody takes it for tried in vain.
    """

    work: int
    tried: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)


def errors_of(logs: Floats) -> Floats:
    """Standard deviations of logarithms of published counts."""
    with np.errstate(over="ignore"):  # of a count of 0, which no release has
        result: Floats = ROUNDING * np.exp(-logs) + FLOAT * np.maximum(np.abs(logs), 1)
    return result


class Guesses:
    """The private counts of each attribute, as far as anything is said of them."""

    def __init__(self, views: Viewset) -> None:
        self.counts = {name: np.full(array.shape, NOTHING, np.int64) for name, array in views.counts.items()}
        self.certainty = {name: np.zeros(array.shape) for name, array in views.counts.items()}

    def inversion(self, attack: str | None, k: float | None, confidence: float, evidence: float) -> Inversion:
        """What was found, with these."""
        return Inversion(
            attack,
            k,
            confidence,
            evidence,
            MappingProxyType(self.counts),
            MappingProxyType(self.certainty),
        )
