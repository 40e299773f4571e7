"""Boxes: all that a classifier answers, in five forms; everything after the box sees one of these alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from typing import ClassVar, TypeGuard

import numpy as np
import numpy.typing as npt

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Int8s, Int32s, Longs
from nbcfast._core.untyped import Document
from nbcfast._halves.codes import unravelled
from nbcfast.canonical.boxes.sides import pair_number


class BaseBox:
    """What the five kinds of boxes share: answers of a classifier, and nothing else of it.

    Two are equal where they are of one kind and all that they hold is equal. A release is a function of its
    box (docs/mathematics/canonical.md, section 1), so a box may hold nothing that two classifiers with the
    same answers differ in, unless it is left out of the comparison and of every result.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]  # each kind is a dataclass

    sizes: tuple[int, ...]
    n_classes: int
    mode: Preserve

    @property
    def tuples(self) -> int:
        """How many tuples have an answer."""
        return math.prod(self.sizes)

    def flat(self) -> Int8s:
        """The answers tuple by tuple, in C order: labels, or in order mode the classes, the best first."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
            if each.compare
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.sizes))
        return f"{type(self).__name__}({shape} = {self.tuples} tuples, {self.n_classes} classes, {self.mode})"


@dataclass(frozen=True, eq=False, repr=False)
class HalvedBox(BaseBox):
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
    mode: Preserve
    K: Longs
    L: Longs

    def attributes(self, half: int) -> tuple[int, ...]:
        """The positions of the attributes of a half."""
        return tuple(i for i, h in enumerate(self.half) if h == half)

    def indices(self, codes: npt.ArrayLike) -> tuple[Longs, Longs]:
        """The indices in both halves of each row of codes, one code an attribute."""
        rows = coded(codes, self.sizes)
        of_halves = []
        for half in (0, 1):
            index = np.zeros(len(rows), np.int64)
            for i in self.attributes(half):
                index = index * self.sizes[i] + rows[:, i]
            of_halves.append(index)
        return of_halves[0], of_halves[1]

    def label(self, codes: Sequence[int]) -> int:
        """The label of one tuple of codes."""
        return int(self.labels([codes])[0])

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes, one code an attribute."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Box(HalvedBox):
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

    def to_dict(self) -> Document:
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
class EnumeratedBox(BaseBox):
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
    mode: Preserve
    labels: Int8s

    def flat(self) -> Int8s:
        return self.labels


@dataclass(frozen=True, eq=False, repr=False)
class ListedBox(BaseBox):
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
    mode: Preserve
    codes: Longs
    labels: Int8s

    @property
    def tuples(self) -> int:
        """How many tuples the list has."""
        return len(self.codes)

    def flat(self) -> Int8s:
        """The answers in the order of the list."""
        return self.labels

    def __repr__(self) -> str:
        return f"ListedBox({self.tuples} tuples, {self.n_classes} classes, {self.mode})"


@dataclass(frozen=True, eq=False, repr=False)
class PairsBox(HalvedBox):
    r"""The whole order of the classes at every tuple: for each pair of them the two vectors of a `Box`.

    Of the pair c < d and a tuple with indices a and b in the halves, c is before d if and only if b is among
    the first K[pair, a] of B sorted by falling L[pair], the first index first among equals. Pairs are (0, 1),
    (0, 2), .., (1, 2), ..

    Attributes
    ----------
    K : ndarray of int64, shape (pairs, \|A\|), read only
        How many b, for each a, put c before d.
    L : ndarray of int64, shape (pairs, \|B\|), read only
        How many a, for each b, put c before d.
    """

    @cached_property
    def places(self) -> tuple[Int32s, Int32s]:
        """`above` (n, pairs) and `rank` (m, pairs): c is before d where the rank reaches what is above."""
        m = self.L.shape[1]
        rank = np.empty(self.L.shape, np.int32)
        for row, of_pair in zip(rank, self.L, strict=True):
            row[np.argsort(-of_pair, kind="stable")[::-1]] = np.arange(m, dtype=np.int32)
        return np.ascontiguousarray((m - self.K).T.astype(np.int32)), np.ascontiguousarray(rank.T)

    def orders(self, codes: npt.ArrayLike) -> Int8s:
        """The classes of each row of codes, the best first."""
        a, b = self.indices(codes)
        above, rank = self.places
        lost = np.zeros((len(a), self.n_classes), np.int8)
        for (c, d), p in pair_number(self.n_classes).items():
            before = rank[b, p] >= above[a, p]
            lost[:, d] += before
            lost[:, c] += ~before
        return np.argsort(lost, axis=1, kind="stable").astype(np.int8)

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The first class of each row of codes, one code an attribute."""
        return np.ascontiguousarray(self.orders(codes)[:, 0])

    def flat(self) -> Int8s:
        return self.orders(unravelled(np.arange(self.tuples), self.sizes))


@dataclass(frozen=True, eq=False, repr=False)
class SweptBox(HalvedBox):
    r"""The labels of three classes on a large domain, as how often each occurs over either half.

    K and L determine every label: among all ways of giving labels to the tuples with these counts, the one in
    which x(a) + y(b) decides has the largest total of the scores it picks, which depends on the counts alone,
    and every other way has less. So two boxes are equal if and only if their labels are. Computing labels
    from the counts is another matter: for that the box keeps, out of sight, places in an order of half B. All
    places that give these labels serve, and no answer depends on which.

    Attributes
    ----------
    K : ndarray of int64, shape (\|A\|, 3), read only
        How many b, for each a, have each label.
    L : ndarray of int64, shape (\|B\|, 3), read only
        How many a, for each b, have each label.
    """

    places: tuple[Int32s, Int32s] = field(repr=False, compare=False)

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes, one code an attribute."""
        a, b = self.indices(codes)
        (above, rank), number = self.places, pair_number(3)
        best = np.full(len(a), 2, np.int8)
        for c in (1, 0):
            p = np.array([number.get((c, w), 0) for w in range(3)])[best]
            best[rank[b, p] >= above[a, p]] = c
        return best

    def flat(self) -> Int8s:
        return self.labels(unravelled(np.arange(self.tuples), self.sizes))


ManyBox = EnumeratedBox | PairsBox | SweptBox | ListedBox
AnyBox = Box | ManyBox


def has_many_classes(box: AnyBox) -> TypeGuard[ManyBox]:
    """Whether a value has a weight for each class but the last; with two classes it has one number."""
    return not (isinstance(box, Box) or (isinstance(box, ListedBox) and box.n_classes <= 2))


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
