"""What the canonical release is made from: a box of labels, its weights, and the points people can add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Int8s, Longs

Preserve = Literal["label", "order"]


class Answers:
    """What all boxes share. Two are equal where they are of one kind and all that they hold is equal."""

    sizes: tuple[int, ...]
    n_classes: int
    mode: str

    @property
    def tuples(self) -> int:
        """How many tuples the domain has."""
        return math.prod(self.sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        own: Any = self  # each box is a dataclass
        return all(
            np.array_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(own)
            if each.compare
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.sizes))
        return f"{type(self).__name__}({shape} = {self.tuples} tuples, {self.n_classes} classes, {self.mode})"


@dataclass(frozen=True, eq=False, repr=False)
class Halved(Answers):
    """A box over attributes in two halves, with indices in them in C order.

    Attributes
    ----------
    sizes : tuple of int
        How many values each attribute has.
    half : tuple of int
        0 for an attribute of half A, 1 for one of half B: a function of `sizes`.
    n_classes : int
    mode : str
    K, L : ndarray of int64, read only
        Counts of labels for each index of half A, and of half B.
    """

    sizes: tuple[int, ...]
    half: tuple[int, ...]
    n_classes: int
    mode: str
    K: Longs
    L: Longs

    def attributes(self, half: int) -> tuple[int, ...]:
        """The positions of the attributes of a half."""
        return tuple(i for i, h in enumerate(self.half) if h == half)

    def indices(self, codes: npt.ArrayLike) -> tuple[Longs, Longs]:
        """The indices in both halves of each row of codes, one code an attribute."""
        rows = coded(codes, self.sizes)
        found = []
        for half in (0, 1):
            index = np.zeros(len(rows), np.int64)
            for i in self.attributes(half):
                index = index * self.sizes[i] + rows[:, i]
            found.append(index)
        return found[0], found[1]

    def label(self, codes: Sequence[int]) -> int:
        """The label of one tuple of codes."""
        return int(self.labels([codes])[0])

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes, one code an attribute."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Box(Halved):
    """All answers of a classifier with at most two classes, as two vectors over half-domains.

    The attributes are parted into halves A and B. Of a tuple with indices a and b in the halves, the label is
    0 if and only if b is among the first K[a] of B sorted by falling L, the first index first among equals.

    Attributes
    ----------
    sizes : tuple of int
        How many values each attribute has.
    half : tuple of int
        0 for an attribute of half A, 1 for one of half B: a function of `sizes`.
    n_classes : int
        1 or 2.
    mode : str
        "label".
    K : ndarray of int64, shape (n_A,), read only
        How many indices b have label 0 with this a.
    L : ndarray of int64, shape (n_B,), read only
        How many indices a have label 0 with this b.
    """

    def n_of(self, label: int) -> int:
        """How many tuples have this label."""
        zeros = int(self.K.sum())
        return zeros if label == 0 else self.tuples - zeros

    @cached_property
    def rank(self) -> Longs:
        """The place of each index of half B in falling L, the first index first among equals."""
        rank = np.empty(len(self.L), np.int64)
        rank[np.argsort(-self.L, kind="stable")] = np.arange(len(self.L))
        return rank

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes, one code an attribute."""
        a, b = self.indices(codes)
        return (self.rank[b] >= self.K[a]).astype(np.int8)

    def enumerate(self) -> Int8s:
        """The labels of all tuples, one axis an attribute (of which NumPy takes 64)."""
        return self.flat().reshape(self.sizes)

    def flat(self) -> Int8s:
        """The labels of all tuples in C order."""
        labels = (self.rank[np.newaxis, :] >= self.K[:, np.newaxis]).astype(np.int8)
        order = [i for half in (0, 1) for i in self.attributes(half) if self.sizes[i] > 1]
        shaped = labels.reshape([self.sizes[i] for i in order])
        return np.ascontiguousarray(shaped.transpose(np.argsort(order))).reshape(-1)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return {
            "sizes": list(self.sizes),
            "half": list(self.half),
            "n_classes": self.n_classes,
            "mode": self.mode,
            "K": self.K.tolist(),
            "L": self.L.tolist(),
        }

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.sizes))
        return f"Box({shape} = {self.tuples} tuples, {self.n_of(0)} of label 0)"


@dataclass(frozen=True, eq=False, repr=False)
class EnumeratedBox(Answers):
    """All answers of a classifier with more than two classes, tuple by tuple.

    Attributes
    ----------
    sizes : tuple of int
    n_classes : int
    mode : str
        "label" or "order".
    labels : ndarray of int8, shape (tuples,) or (tuples, classes), read only
        The label of each tuple, in C order; in order mode the classes, the best first.
    """

    sizes: tuple[int, ...]
    n_classes: int
    mode: str
    labels: Int8s


@dataclass(frozen=True, eq=False, repr=False)
class ListedBox(Answers):
    """The answers of a classifier on a declared list of tuples, and nowhere else.

    Attributes
    ----------
    sizes : tuple of int
    n_classes : int
    mode : str
        "label" or "order".
    codes : ndarray of int64, shape (tuples, attributes), read only
        The list, each tuple once, in rising order.
    labels : ndarray of int8, shape (tuples,) or (tuples, classes), read only
    """

    sizes: tuple[int, ...]
    n_classes: int
    mode: str
    codes: Longs
    labels: Int8s

    @property
    def tuples(self) -> int:
        """How many tuples the list has."""
        return len(self.codes)

    def __repr__(self) -> str:
        return f"ListedBox({self.tuples} tuples, {self.n_classes} classes, {self.mode})"


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

    def weights(self, i: int) -> npt.NDArray[np.object_]:
        """The weights of attribute i as an array of Fractions, shape (values, classes - 1)."""
        result = np.empty((self.sizes[i], max(self.n_classes - 1, 1)), object)
        for t, of_value in enumerate(self.scores[i]):
            result[t] = of_value
        return result

    def to_dict(self) -> dict[str, Any]:
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

    def to_dict(self) -> dict[str, Any]:
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


def coded(codes: npt.ArrayLike, sizes: Sequence[int]) -> Longs:
    """Rows of codes as int64, each within its attribute."""
    array = np.asarray(codes)
    if array.ndim != 2 or array.shape[1] != len(sizes):
        raise ValueError(f"codes must have shape (tuples, {len(sizes)}), got {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, got {array.dtype}")
    rows = array.astype(np.int64)
    for i, size in enumerate(sizes):
        column = rows[:, i]
        if len(column) and (column.min() < 0 or column.max() >= size):
            raise ValueError(
                f"codes of attribute {i} must be 0..{size - 1}, got {column.min()}..{column.max()}"
            )
    return rows
