"""Comparisons of many viewsets with one: `Comparer`, and `Enumerated` for domains that fit in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Array, Bools, UInt16s
from nbcfast._core.numbers import ROUND_OFF
from nbcfast._core.products import product
from nbcfast._halves.codes import unravelled
from nbcfast._halves.lines import Line
from nbcfast._halves.split import TwoHalves
from nbcfast._halves.terms import FixedLogs, Plain, Term
from nbcfast.equivalence.comparing import arranged, check_preserve
from nbcfast.equivalence.margins import refuse_no_rows
from nbcfast.equivalence.pairwise import LIMITS, PairwiseComparison, WorkLimits
from nbcfast.views.integers import logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.equivalence.results import Comparison
    from nbcfast.views import Viewset


MOST_TUPLES = 10_000_000
CLOSE = 2_000  # comparisons within the error of floats that are made again one by one
MOST_AXES = 63  # of an array in NumPy, one of them for pairs of classes


class Comparer:
    """Compares one viewset with many others; see `compare` for what is compared.

    Parameters
    ----------
    a : Viewset
    preserve : {"order", "label"}
    """

    def __init__(self, a: Viewset, preserve: Preserve = "order", *, limits: WorkLimits = LIMITS) -> None:
        check_preserve(preserve)
        refuse_no_rows(a)
        self.views = a
        self.preserve = preserve
        self._limits = limits
        self._plain = Plain.of(a)
        self._logs = FixedLogs()

    def compare(self, b: Viewset, *, progress: Progress | None = None) -> Comparison:
        """Whether b is the same classifier, exactly as `compare` says it."""
        refuse_no_rows(b)
        b = arranged(b, self.views)
        work = PairwiseComparison(
            self.views, b, self.preserve, self._limits, progress, plain=self._plain, logs=self._logs
        )
        return work.answer()


class Enumerated:
    """All tuples of a domain of at most ten million, with what any equivalent viewset must say of them.

    Parameters
    ----------
    a : Viewset
    preserve : {"order", "label"}

    Attributes
    ----------
    sizes : tuple of int
        The number of values of each attribute.
    shape : tuple of int
        That of all arrays here: the sizes, above 63 attributes without those of one value.
    pairs : list of (c, d)
        The classes that are compared, as positions, c < d.
    truth : ndarray of bool, shape (pairs,) + shape
        Whether X_c > X_d, exactly. With preserve="label" and more than two classes it is None, and
    labels : ndarray of uint16, shape `shape`
        the best class, which is None otherwise.

    Examples
    --------
    >>> import nbcfast
    >>> a = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    >>> Enumerated(a).truth.tolist()
    [[False, True]]
    >>> Enumerated(a).violations(nbcfast.Viewset([5, 5], {"job": [[3, 2], [2, 3]]}))
    2
    """

    def __init__(self, a: Viewset, preserve: Preserve = "order") -> None:
        check_preserve(preserve)
        refuse_no_rows(a)
        self.views = a
        self.preserve = preserve
        self.sizes = tuple(len(array) for array in a.counts.values())
        self.tuples = math.prod(self.sizes)
        self.n_classes = len(a.class_counts)
        self.pairs = list(combinations(range(self.n_classes), 2))
        if self.tuples > MOST_TUPLES:
            raise ValueError(f"views: at most {MOST_TUPLES} tuples can be held, got {self.tuples}")
        many = len(self.sizes) > MOST_AXES
        self.shape = tuple(size for size in self.sizes if size > 1 or not many)
        self._by_label = preserve == "label" and self.n_classes > 2
        plain = Plain.of(a)
        # Of the two only the one that is compared is made: with many classes either is large.
        if self._by_label:
            self._best_class = self._labels(plain, exactly=True)
            self._above_of_pair = np.zeros((0, *self.shape), bool)
        else:
            self._best_class = np.zeros(0, np.uint16)
            self._above_of_pair = np.zeros((len(self.pairs), *self.shape), bool)
            logs = FixedLogs()
            for number, pair in enumerate(self.pairs):
                self._above_of_pair[number] = self._exactly(plain, pair, logs)

    @property
    def truth(self) -> Bools | None:
        return None if self._by_label else self._above_of_pair

    @property
    def labels(self) -> UInt16s | None:
        return self._best_class if self._by_label else None

    def asked(self, number: int) -> tuple[Bools, Bools | None]:
        """Of a pair, at each tuple, whether X_c > X_d has to hold, and where that matters (None: all)."""
        if not self._by_label:
            return self._above_of_pair[number].reshape(-1), None
        c, d = self.pairs[number]
        labels = self._best_class.reshape(-1)
        return labels == c, (labels == c) | (labels == d)

    def violations(self, b: Viewset | tuple[Sequence[int], Sequence[npt.ArrayLike]]) -> int:
        """How many tuples b orders, or labels, differently: exactly.

        Parameters
        ----------
        b : Viewset, or a pair of class counts and a list of (values, classes) arrays
            With the classes, attributes and values in the same order as in the first.
        """
        return int(np.count_nonzero(self.mismatches(b)))

    def mismatches(self, b: Viewset | tuple[Sequence[int], Sequence[npt.ArrayLike]]) -> Bools:
        """For every tuple whether b orders, or labels, it differently: exactly; shape `shape`."""
        plain = Plain.of(b)
        if tuple(map(len, plain.rows)) != self.sizes or len(plain.of_class) != self.n_classes:
            raise ValueError(f"expected counts of {self.n_classes} classes and {self.sizes} values")
        if self._by_label:
            return np.asarray(self._labels(plain) != self._best_class)
        differ = np.zeros(self.shape, bool)
        for number, pair in enumerate(self.pairs):
            differ |= self._above(plain, pair) != self._above_of_pair[number]
        return differ

    def _labels(self, plain: Plain, exactly: bool = False) -> UInt16s:
        """The best class of every tuple: the one that no comparison is lost by, so that ties need no rule."""
        lost = np.zeros((self.n_classes, *self.shape), bool)
        logs = FixedLogs()
        for c, d in self.pairs:
            above = self._exactly(plain, (c, d), logs) if exactly else self._above(plain, (c, d))
            lost[d] |= above
            lost[c] |= ~above
        return np.asarray(np.argmin(lost, axis=0), dtype=np.uint16)

    def _above(self, plain: Plain, pair: tuple[int, int]) -> Bools:
        """Whether X_c > X_d, tuple by tuple: floats where they are sure."""
        c, d = pair
        if self.tuples == 0:
            return np.zeros(self.shape, bool)
        base = plain.base(c, d)
        if base.mark or not self.sizes:
            return self._exactly(plain, pair, FixedLogs())
        up, down = math.log(int(base.up)), math.log(int(base.down))
        sums, most = np.array([up - down]), up + down
        with np.errstate(invalid="ignore"):
            for rows in plain.rows:
                logs = logarithms(_counts([(row[c], row[d]) for row in rows]))
                most += float(np.where(np.isfinite(logs), logs, 0.0).sum(axis=1).max())
                # Infinities are right: -inf for a zero of c, inf for one of d, no number for both.
                sums = (sums[:, np.newaxis] + (logs[:, 0] - logs[:, 1])).reshape(-1)
            above: Bools = sums > 0
            # Every term and partial sum is rounded once or twice, and is at most `most`.
            close = np.flatnonzero(np.abs(sums) <= 4 * (len(plain.rows) + 4) * ROUND_OFF * most)
        if len(close) > CLOSE:  # products of integers, one by one, would take longer than a sort
            return self._exactly(plain, pair, FixedLogs())
        for place, codes in zip(close.tolist(), unravelled(close, self.sizes).tolist(), strict=True):
            counts = [(rows[code][c], rows[code][d]) for rows, code in zip(plain.rows, codes, strict=True)]
            up, down = product(x for x, _ in counts), product(y for _, y in counts)
            above[place] = base.up * up > base.down * down
        return above.reshape(self.shape)

    def _exactly(self, plain: Plain, pair: tuple[int, int], logs: FixedLogs) -> Bools:
        """Whether X_c > X_d, tuple by tuple, by places in the exact order: ties cost no more than others."""
        if self.tuples == 0:
            return np.zeros(self.shape, bool)
        terms = [[Term.of(row[pair[0]], row[pair[1]]) for row in rows] for rows in plain.rows]
        half = 0
        while math.prod(self.sizes[:half]) < math.prod(self.sizes[half:]):
            half += 1
        a = tuple(place for place in range(half) if self.sizes[place] > 1)
        b = tuple(place for place in range(half, len(self.sizes)) if self.sizes[place] > 1)
        n, m = math.prod(self.sizes[:half]), math.prod(self.sizes[half:])
        line = Line(plain.base(*pair), terms, TwoHalves((), a, b, 1, n, m), logs)
        u, order = line.list_b()
        above = line.thresholds(line.lists_of(*line.list_a(), u, order), ())
        places = np.empty(m, np.int32)
        places[order] = np.arange(m, dtype=np.int32)
        return np.asarray(places[np.newaxis] >= above[:, np.newaxis]).reshape(self.shape)


def _counts(rows: list[tuple[int, int]]) -> Array:
    try:
        return np.array(rows, dtype=np.int64)
    except OverflowError:
        return np.array(rows, dtype=object)
