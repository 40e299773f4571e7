"""Whose class, and whose presence, the answers show: rows changed one at a time. For the leak meter alone.

A row is *exchanged* where its class is another, and *left out* where it is none. All changes of a row touch
one value of each attribute, so that a kernel tells from sums over two halves whether an answer is another;
integers decide what is near a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast import _exchanges
from nbcfast._core.dtypes import Array, Bools, Int8s, Longs
from nbcfast._core.numbers import Number
from nbcfast._halves.terms import FixedLogs
from nbcfast._margin import NONE, ONLY
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.halving import contiguous
from nbcfast.canonical.boxes.sides import pair_number
from nbcfast.canonical.boxes.types import (
    AnyBox,
    Box,
    EnumeratedBox,
    HalvedBox,
    ListedBox,
    PairsBox,
    SweptBox,
)
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

BOX_WORK, BOX_SUM = 200_000, 200  # what a box takes, in sums of the kernel: at all, and for each of its own
BITS = 128  # of the fixed point that the int64 logarithms are rounded from
SUM_BITS = 58  # all sums of logarithms stay below, half of what the kernel takes
AT_ONCE = 1 << 14  # changes in one call of the kernel


class PeopleRows(NamedTuple):
    """Distinct rows, as positions in the domains of the views, and how many people have each."""

    codes: Longs  # shape (rows, attributes)
    of_class: Longs
    weights: Longs

    @property
    def n_people(self) -> int:
        return sum(self.weights.tolist())


class Shown(NamedTuple):
    """Of each row whether no answer changes where it is changed.

    `flip` is true where its class can be exchanged for every other class, `trace` where it can be left out;
    `weights` are the people who have it.
    """

    flip: Bools
    trace: Bools
    weights: Longs

    @property
    def n_people(self) -> int:
        """How many were looked at."""
        return sum(self.weights.tolist())

    @property
    def flipped(self) -> int:
        """People whose class can be exchanged for every other class."""
        return sum(self.weights[self.flip].tolist())

    @property
    def traceless(self) -> int:
        """People who can be left out."""
        return sum(self.weights[self.trace].tolist())


class TooManyTiesError(Exception):
    """More rows than were asked for leave an answer so near a tie that only boxes decide it."""


class Change(NamedTuple):
    """What becomes of a row of one class: one of another, or, where that is None, nobody's."""

    of_class: int
    to: int | None

    def by(self, c: int) -> int:
        """What is added to the counts of a class."""
        return (c == self.to) - (c == self.of_class)


def flip_and_trace(
    asked: AnyBox,
    views: Viewset,
    rows: PeopleRows,
    *,
    alpha: Number | None = None,
    most_work: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Shown:
    """Whether the answers show the class of each row, and whether it is there: exactly.

    Parameters
    ----------
    asked : AnyBox
        All answers, from `box`: of the views, or with `alpha` of `views.smoothed(alpha)`.
    views : Viewset
        Counts that have the rows among them. Who cannot be left out, as the only one of a class, shows.
    rows : PeopleRows
        Whom to change.
    alpha : Number, optional
        What is added to every count before the classifier answers, and after a row is changed as well.
    most_work : int, optional
        Sums of boxes, which decide what is near a tie, as `work` counts sums of the kernel.
    threads, progress
        As for `box`.

    Raises
    ------
    TooManyTiesError
        If boxes would take more work.
    """
    changes = _Changes(asked, views, rows, alpha, threads)
    if most_work is not None:
        changes.boxes_left = most_work // _box_work(asked)
    trace, flip = np.zeros(len(rows.weights), bool), np.zeros(len(rows.weights), bool)
    done = 0
    for c in range(asked.n_classes):
        of_class = np.flatnonzero(rows.of_class == c)
        trace[of_class] = changes.unchanged(of_class, Change(c, None))
        kept = of_class
        for d in range(asked.n_classes):
            if d != c:
                kept = kept[changes.unchanged(kept, Change(c, d))]
        # With one class there is nothing to exchange a class for.
        flip[kept] = True
        done += len(of_class)
        if progress is not None and len(of_class):
            progress(done, len(rows.weights))
    return Shown(flip, trace, rows.weights)


def work(asked: AnyBox, n_rows: int) -> int:
    """How many sums the kernel looks at for so many distinct rows, at most.

    A function of sizes: how much is measured must not depend on the machine.
    """
    n_classes = asked.n_classes
    if isinstance(asked, SweptBox | ListedBox):  # a box for each change
        one = _box_work(asked)
    elif isinstance(asked, PairsBox):
        one = _sums(asked) // _pairs(n_classes) * (2 * n_classes - 3)  # pairs with either of two classes
    else:
        one = _sums(asked)
    return n_rows * n_classes * one


def _box_work(asked: AnyBox) -> int:
    """What a box takes, as the kernel's sums are counted: sorting, and integers where ties are near."""
    of_tuples = 0 if isinstance(asked, HalvedBox) else _sums(asked)
    of_halves = 0 if isinstance(asked, ListedBox) else _pairs(asked.n_classes) * _in_halves(asked)
    return BOX_WORK + BOX_SUM * of_halves + of_tuples


def _sums(asked: AnyBox) -> int:
    """How many sums all answers are known by."""
    if isinstance(asked, EnumeratedBox | ListedBox):
        return asked.tuples * asked.n_classes
    return _in_halves(asked) * (_pairs(asked.n_classes) if isinstance(asked, PairsBox) else 1)


def _in_halves(asked: AnyBox) -> int:
    """How many combinations both halves have together."""
    if isinstance(asked, SweptBox):
        return len(asked.K) + len(asked.L)
    if isinstance(asked, HalvedBox):
        return int(asked.K.shape[-1] + asked.L.shape[-1])
    return sum(contiguous(asked.sizes)[1:])


def _pairs(n_classes: int) -> int:
    return n_classes * (n_classes - 1) // 2


def exchanged(views: Viewset, codes: Sequence[int], change: Change) -> Viewset | None:
    """The views after a change of one row; None where a class has none left, or the row is not theirs."""
    class_counts = views.class_counts.copy()
    counts = {name: array.copy() for name, array in views.counts.items()}
    for c, by in ((change.of_class, -1), (change.to, 1)):
        if c is None:
            continue
        class_counts[c] += by
        for array, code in zip(counts.values(), codes, strict=True):
            array[code, c] += by
            if array[code, c] < 0:
                return None
    if class_counts[change.of_class] <= 0:
        return None
    return Viewset.from_parts(class_counts, counts, views.class_domain, views.domains)


class _Changes:
    """Changes of many rows at once against one box."""

    boxes_left: int | None = None  # that may be asked for still

    def __init__(
        self, asked: AnyBox, views: Viewset, rows: PeopleRows, alpha: Number | None, threads: int | None
    ) -> None:
        self._asked, self._views, self._rows = asked, views, rows
        self._alpha, self._threads = alpha, threads
        self._of_class: list[int] = views.class_counts.tolist()
        arrays = list(views.counts.values())
        self._positions, self._n_first = _ordered(asked)
        self._sizes = np.array([asked.sizes[i] for i in self._positions], np.int32)
        self._codes = rows.codes[:, self._positions].astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]]).astype(np.int64)
        self._places = self._codes + starts
        self._counts = np.concatenate([arrays[i] for i in self._positions])
        self._scale = _Scale(self._counts, self._of_class, self._sizes.tolist(), alpha)

    def unchanged(self, at: Longs, change: Change) -> Bools:
        """For these rows, all of the class that changes, whether every answer stays."""
        if not len(at) or self._of_class[change.of_class] <= 1:
            return np.zeros(len(at), bool)  # nobody of the class would be left
        result = np.full(len(at), _exchanges.UNCHANGED, np.int8)
        ours = (self._counts[self._places[at], change.of_class] > 0).all(axis=1)
        result[~ours] = _exchanges.CHANGED
        if isinstance(self._asked, EnumeratedBox):
            self._by_labels(self._asked, at, change, result)
        elif isinstance(self._asked, Box | PairsBox):
            for c, d in combinations(range(self._asked.n_classes), 2):
                if change.by(c) or change.by(d):
                    self._by_pair(self._asked, (c, d), at, change, result)
        else:
            result[ours] = _exchanges.UNDECIDED
        near = np.flatnonzero(result == _exchanges.UNDECIDED).tolist()
        if self.boxes_left is not None:
            self.boxes_left -= len(near)
            if self.boxes_left < 0:
                raise TooManyTiesError
        for place in near:
            same = self._same_box(self._rows.codes[at[place]].tolist(), change)
            result[place] = _exchanges.UNCHANGED if same else _exchanges.CHANGED
        return np.asarray(result == _exchanges.UNCHANGED)

    def _same_box(self, codes: list[int], change: Change) -> bool:
        """Whether all answers stay, by making them anew."""
        views = exchanged(self._views, codes, change)
        if views is not None and self._alpha is not None:
            views = views.smoothed(self._alpha)
        if views is None:
            return False
        listed = self._asked.codes if isinstance(self._asked, ListedBox) else None
        return box(views, mode=self._asked.mode, tuples=listed, threads=self._threads) == self._asked

    def _by_pair(
        self, asked: Box | PairsBox, pair: tuple[int, int], at: Longs, change: Change, result: Int8s
    ) -> None:
        """Enter what becomes of the answers to which of two classes is before the other."""
        k = pair_number(asked.n_classes)[pair]
        K, L = (asked.K, asked.L) if isinstance(asked, Box) else (asked.K[k], asked.L[k])
        by = change.by(pair[0]), change.by(pair[1])
        numbers, changed_numbers = self._scale.of_pair(pair, (0, 0)), self._scale.of_pair(pair, by)
        base = self._scale.base(pair[0], by[0]) - self._scale.base(pair[1], by[1])
        order = np.argsort(-L, kind="stable").astype(np.int32)
        for part in _portions(at, result):
            found = np.empty(len(part), np.int8)
            _exchanges.pair(
                K.astype(np.int32),
                order,
                self._sizes,
                self._n_first,
                numbers,
                self._codes[at[part]],
                changed_numbers[self._places[at[part]]],
                np.full(len(part), base, np.int64),
                self._scale.error,
                self._scale.separates(*pair),
                found,
            )
            _enter(found, part, result)

    def _by_labels(self, asked: EnumeratedBox, at: Longs, change: Change, result: Int8s) -> None:
        """Enter what becomes of the label of every tuple."""
        classes = range(asked.n_classes)
        numbers = np.stack([self._scale.of_class(c, 0) for c in classes], axis=1)
        changed_numbers = np.stack([self._scale.of_class(c, change.by(c)) for c in classes], axis=1)
        bases = np.array([[self._scale.base(c, change.by(c)) for c in classes]], np.int64)
        n = math.prod(self._sizes[: self._n_first].tolist())
        for part in _portions(at, result):
            found = np.empty(len(part), np.int8)
            _exchanges.labels(
                asked.labels.reshape(n, -1),
                self._sizes,
                self._n_first,
                numbers,
                self._codes[at[part]],
                changed_numbers[self._places[at[part]]],
                np.repeat(bases, len(part), axis=0),
                self._scale.error,
                all(self._scale.separates(*pair) for pair in combinations(classes, 2)),
                found,
            )
            _enter(found, part, result)


def _ordered(asked: AnyBox) -> tuple[list[int], int]:
    """The positions of the attributes, those of the first half first, and how many these are."""
    if isinstance(asked, Box | PairsBox):
        parts = [list(asked.attributes(half)) for half in (0, 1)]
        # Whoever has one value is in no half and can stand anywhere; first, sums are made of it only once.
        parts[0].sort(key=lambda i: (asked.sizes[i] > 1, i))
        return parts[0] + parts[1], len(parts[0])
    return list(range(len(asked.sizes))), contiguous(asked.sizes)[0]


def _portions(at: Longs, result: Int8s) -> Iterator[Array]:
    """Places of rows that nothing is known to show yet, so many at once."""
    left = np.flatnonzero(result != _exchanges.CHANGED)
    for start in range(0, len(left), AT_ONCE):
        yield left[start : start + AT_ONCE]


def _enter(found: Int8s, part: Array, result: Int8s) -> None:
    """What one pair of classes leaves as it is another may show, or leave undecided."""
    decided = found == _exchanges.UNCHANGED
    result[part[~decided]] = found[~decided]


class _Scale:
    """Logarithms of counts in fixed point, as the kernel takes them.

    Scores are P_c^(1-n) prod N, and with alpha = p / q, but for what all classes share,
    P_c prod (q N + p) / (q P_c + p |A_i|). Each logarithm of a count is within 0.51 of 2^scale times the true
    one, and so is what all tuples of a class share; `error` bounds how far a difference of two sums is off.
    """

    def __init__(self, counts: Array, of_class: list[int], sizes: list[int], alpha: Number | None) -> None:
        self._counts, self._of_class, self._sizes = counts, of_class, sizes
        self._times, self._added = (1, 0) if alpha is None else (alpha.denominator, alpha.numerator)
        most = self._times * (max(max(of_class), int(counts.max(initial=0))) + 1)
        most += self._added * max(sizes)
        n = len(sizes)
        self._scale = SUM_BITS - ((2 * n + 1) * most.bit_length()).bit_length()
        self.error = 2 * (n + 1)
        self._logs = FixedLogs()
        self._known: dict[tuple[int, int], Longs] = {}

    def separates(self, c: int, d: int) -> bool:
        """Whether scores of two classes that are not equal are further apart than twice the error.

        Where the quotient of two scores is A / B and not 1, |ln A/B| >= 1 / (min(A, B) + 1).
        """
        bits = min(self._bits(c, d), self._bits(d, c))
        return self._scale - bits >= (2 * self.error + 1).bit_length()

    def _bits(self, c: int, d: int) -> int:
        """How many bits the numerator of c's score over d's has at most, whatever row is changed."""
        largest = self._count(int(self._counts[:, c].max()), 1)
        factors = [largest] * len(self._sizes) + self._shared(c, 1)[0] + self._shared(d, 1)[1]
        return sum(factor.bit_length() for factor in factors)

    def of_class(self, c: int, by: int) -> Longs:
        """2^scale ln of the counts of all values in a class after a change; NONE for zero."""
        if (c, by) not in self._known:
            distinct, places = np.unique(self._counts[:, c], return_inverse=True)
            numbers = [self._count(count, by) for count in distinct.tolist()]
            logs = [self._rounded(self._logs.log(number, BITS)) if number > 0 else NONE for number in numbers]
            self._known[c, by] = np.array(logs, np.int64)[places.reshape(-1)]
        return self._known[c, by]

    def of_pair(self, pair: tuple[int, int], by: tuple[int, int]) -> Longs:
        """2^scale ln N_c / N_d, with the marks of zeros."""
        own, their = (self.of_class(c, change) for c, change in zip(pair, by, strict=True))
        numbers = np.where(their == NONE, ONLY, own - their)
        return np.where(own == NONE, NONE, numbers)

    def base(self, c: int, by: int) -> int:
        """2^scale ln of what all tuples of a class share."""
        up, down = self._shared(c, by)
        logs = [sum(self._logs.log(number, BITS) for number in numbers) for numbers in (up, down)]
        return self._rounded(logs[0] - logs[1])

    def _count(self, count: int, by: int) -> int:
        return self._times * (count + by) + self._added

    def _shared(self, c: int, by: int) -> tuple[list[int], list[int]]:
        """Factors of what all tuples of a class share, and of what they are divided by."""
        rows = self._of_class[c] + by
        if not self._added:
            return [], [rows] * (len(self._sizes) - 1)
        return [rows], [self._times * rows + self._added * size for size in self._sizes]

    def _rounded(self, wide: int) -> int:
        shift = BITS - self._scale
        return (wide + (1 << (shift - 1))) >> shift
