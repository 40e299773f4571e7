"""What labels come to: weights of least norm, and the points that people can add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Exacts, Int8s
from nbcfast._core.untyped import Document
from nbcfast.canonical.boxes.types import coded


@dataclass(frozen=True, repr=False)
class Solution:
    """The weights of least norm that give every label of a box with a margin of at least 1.

    Attributes
    ----------
    sizes : tuple of int
    n_classes : int
    scores : tuple
        scores[i][t] is the weight of value t of attribute i: f_c - f_(C-1) for each class c but the last, as
        Fractions. For two classes this is one number, and label 0 goes with a positive sum.
    levels : tuple of tuple of int
        levels[i][t] ranks the weights of attribute i, from 0 up; values of one level cannot be told apart by
        labels.
    range : Fraction
        The largest absolute difference of two scores over the tuples.
    margin : Fraction
        The smallest that a label demands: at least 1.
    reproducible : bool
        Whether this is the optimum, proved by rationals; otherwise it is feasible, which is proved too.
    support : int
        Tuples with a positive multiplier. Where several choices prove the optimum, machines may differ in it.
    rounds : int
        Of cutting planes; machines may differ in it.
    """

    sizes: tuple[int, ...]
    n_classes: int
    scores: tuple[tuple[tuple[Fraction, ...], ...], ...]
    levels: tuple[tuple[int, ...], ...]
    range: Fraction
    margin: Fraction
    reproducible: bool
    support: int
    rounds: int

    @property
    def log2_range(self) -> float:
        """Bits a weight: log2 of the range over the margin."""
        wide = self.range / self.margin
        if not wide:
            return -math.inf
        return math.log2(wide.numerator) - math.log2(wide.denominator)

    def score(self, codes: Sequence[int]) -> tuple[Fraction, ...]:
        """The sum of the weights of one tuple of codes."""
        rows = [of_attribute[code] for of_attribute, code in zip(self.scores, codes, strict=True)]
        return tuple(sum(column, Fraction(0)) for column in zip(*rows, strict=True))

    def weights(self, i: int) -> Exacts:
        """The weights of attribute i as an array of Fractions, shape (values, classes - 1)."""
        result = np.empty((self.sizes[i], max(self.n_classes - 1, 1)), object)
        for t, of_value in enumerate(self.scores[i]):
            result[t] = of_value
        return result

    def to_dict(self) -> Document:
        """Plain Python values; weights as "num/den"."""
        return {
            "sizes": list(self.sizes),
            "n_classes": self.n_classes,
            "scores": [[list(map(str, row)) for row in of_attribute] for of_attribute in self.scores],
            "levels": [list(row) for row in self.levels],
            "range": str(self.range),
            "margin": str(self.margin),
            "reproducible": self.reproducible,
            "support": self.support,
            "rounds": self.rounds,
        }

    def __repr__(self) -> str:
        kind = "exact optimum" if self.reproducible else "verified, not reproducible to the bit"
        levels = " x ".join(str(max(row, default=-1) + 1) for row in self.levels)
        return (
            f"Solution({kind}: range {float(self.range):.6g} at margin {float(self.margin):.6g}, "
            f"levels {levels} of {' x '.join(map(str, self.sizes))}, {self.support} tuples of support)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard:
    """Small integers that people can add up: the class follows from the totals.

    Attributes
    ----------
    points : tuple of ndarray of int64, shape (values, classes - 1), read only
        Of objects where 64 bits are too few. With two classes each array has minimum 0.
    constants : tuple of int
        The total of class c is constants[c] + the points of the values; that of the last class is 0, and
        the largest total wins, the later class among equals.
    gap : int or None
        With two classes: the least sum of points of label 0 less the greatest of label 1; None where a label
        does not occur, and where labels were changed.
    range : int
        The largest of ``abs(2 * sum - centre)``.
    centre : int
        The least sum of label 0 and the greatest of label 1, added.
    scale : Fraction
        Points are floor(scale * (weight - least weight of the attribute) + 1/2).
    bits : int
        Of the largest number of points.
    changed : int
        Tuples whose label differs from that of the box: 0 unless a number of bits was asked for.
    """

    points: tuple[Array, ...]
    constants: tuple[int, ...]
    gap: int | None
    range: int
    centre: int
    scale: Fraction
    bits: int
    changed: int

    @property
    def threshold(self) -> int:
        """With two classes: class 0 if and only if the sum of points is at least this."""
        return 1 - self.constants[0]

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes."""
        rows = coded(codes, [len(array) for array in self.points])
        most = sum(int(abs(array).max(initial=0)) for array in self.points) + max(map(abs, self.constants))
        kind = np.int64 if most < 1 << 62 else object
        total = np.zeros((len(rows), len(self.constants) + 1), kind)
        total[:, :-1] = np.array(self.constants, kind)
        for i, array in enumerate(self.points):
            total[:, :-1] += array.astype(kind)[rows[:, i]]
        # The later class among equals: the first from the end.
        last = total.shape[1] - 1
        labels: Int8s = (last - np.argmax(total[:, ::-1], axis=1)).astype(np.int8)
        return labels

    def label(self, codes: Sequence[int]) -> int:
        """The label of one tuple of codes."""
        return int(self.labels([codes])[0])

    def to_dict(self) -> Document:
        """Plain Python values."""
        return {
            "points": [array.tolist() for array in self.points],
            "constants": list(self.constants),
            "gap": self.gap,
            "range": self.range,
            "centre": self.centre,
            "scale": str(self.scale),
            "bits": self.bits,
            "changed": self.changed,
        }

    def __repr__(self) -> str:
        most = [int(array.max(initial=0)) for array in self.points]
        changed = f", {self.changed} tuples changed" if self.changed else ""
        return f"Scorecard(points up to {max(most, default=0)}, {self.bits} bits{changed})"
