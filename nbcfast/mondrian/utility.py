"""What a partition is worth: the usual measures of lost information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nbcfast._core.dtypes import Floats, Longs, UInt32s
from nbcfast._core.untyped import Document
from nbcfast.mondrian.quasi import FAR, Quasi


@dataclass(frozen=True)
class Utility:
    """Measures of a partition; smaller is better.

    Attributes
    ----------
    discernibility : int
        The sum over groups of the square of their people.
    average_size : Fraction
        People per group.
    ncp : float or None
        Normalised certainty penalty: over people and attributes the mean width of their boxes. That of
        numbers is the distance of the outermost values, the whole range being 1; that of other values is
        their share of the domain, and 0 where there is only one.
    ncp_of : mapping of name -> float, or None
        The same for each quasi-identifier.
    kl : mapping of name -> float, or None
        For each quasi-identifier the Kullback-Leibler divergence, in nats, of its true distribution from the
        one that the published table gives: the people of a box spread evenly over its values.

    A partition that was loaded knows nothing of the data: the last three are None.
    """

    discernibility: int
    average_size: Fraction
    ncp: float | None
    ncp_of: Mapping[str, float] | None
    kl: Mapping[str, float] | None

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "discernibility": self.discernibility,
            "average_size": float(self.average_size),
            "ncp": self.ncp,
            "ncp_of": None if self.ncp_of is None else dict(self.ncp_of),
            "kl": None if self.kl is None else dict(self.kl),
        }


def measured(
    sizes: Longs,
    quasi: list[Quasi] | None,
    boxes: UInt32s | None,
    marginals: list[Longs] | None,
) -> Utility:
    """The measures of groups of these sizes; `marginals` are people of each code."""
    people = sum(sizes.tolist())
    squares = sum(size * size for size in sizes.tolist())
    average = Fraction(people, len(sizes))
    if quasi is None or boxes is None or marginals is None:
        return Utility(squares, average, None, None, None)
    ncp_of, kl = {}, {}
    shares = sizes / people
    for i, one in enumerate(quasi):
        lo, hi = boxes[:, i, 0].astype(np.int64), boxes[:, i, 1].astype(np.int64)
        ncp_of[one.name] = float(shares @ _widths(one, lo, hi))
        kl[one.name] = _divergence(shares, lo, hi, marginals[i] / people)
    return Utility(squares, average, sum(ncp_of.values()) / len(ncp_of), ncp_of, kl)


def _widths(one: Quasi, lo: Longs, hi: Longs) -> Floats:
    if one.is_numeric and one.kind != "interval":
        return np.asarray((one.positions[hi] - one.positions[lo]) / FAR)
    return np.where(hi > lo, (hi - lo + 1) / one.size, 0.0)


def _divergence(shares: Floats, lo: Longs, hi: Longs, truth: Floats) -> float:
    """The sum of p ln(p / q), q being the shares of boxes spread over their codes."""
    steps = np.zeros(len(truth) + 1)
    np.add.at(steps, lo, shares / (hi - lo + 1))
    np.subtract.at(steps, hi + 1, shares / (hi - lo + 1))
    spread = np.cumsum(steps[:-1])
    some = truth > 0
    return max(float(np.sum(truth[some] * np.log(truth[some] / spread[some]))), 0.0)
