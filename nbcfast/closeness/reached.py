"""`achieved`: the r of Definition 5 and of Statement 11, with tuples that attain them.

That single classes at full tuples decide is proved in docs/mathematics/safety.md, section h.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Counts, Floats, Longs
from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Exact
from nbcfast.closeness.bounds import BeamStep, retraced
from nbcfast.closeness.results import Achieved, Reached
from nbcfast.safety.amplification import amplification
from nbcfast.safety.prior import LabelT, over_prior, prior_of
from nbcfast.safety.ratios import MOST_BITS, MOST_FACTOR_BITS, Ratios, check_realistic
from nbcfast.views import Viewset
from nbcfast.views.integers import logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Direction = Literal["up", "down"]
DIRECTIONS: tuple[Direction, ...] = "up", "down"

BEAM = 100_000  # partial tuples kept while the largest posterior of three or more classes is searched
WORK = 100_000_000  # logarithms added up in all of the search, some 10 ns each
NARROW = 64  # partial tuples kept however much work that is
NEAR = 2_000  # tuples that floats cannot tell from the best and that are compared exactly
PRECISION = 256  # bits where a number is too long to write out


def achieved(
    views: Viewset, prior: Mapping[LabelT, Numeral], *, progress: Progress | None = None
) -> Achieved:
    """The r that publishing these views as they are comes to, in both forms.

    Definition 5 asks of every property Q of the class (a set of classes) and everything that somebody may
    know of the attributes that posterior / prior of Q lies in [1/r, r]. Posteriors are those of the row
    convention, X_c / (X_1 + .. + X_C). A posterior of Q is a mediant of those of its classes, and the one
    given some of the values a mean of those given all, so single classes at full tuples decide. Statement 11
    compares odds: r = max (X_c / X_d) / (F_c / F_d). For every viewset the first is at most the second.

    Parameters
    ----------
    views : Viewset
        Realistic: a table with these counts exists. A zero count under a value that another class has makes
        both infinite.
    prior : mapping of class to number
        F_c > 0, adding up to 1; numbers as int, Fraction, str or float, a float being its shortest text.
    progress : callable, optional
        Called as progress(done, total), in classes searched.

    Returns
    -------
    Achieved
        With `.definition5` and `.statement11`, each with its witness; `.r` is that of Statement 11.

    Raises
    ------
    TypeError, ValueError
        If the prior is not as described, or the views have no rows or are not realistic.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
    >>> found = achieved(views, {"ill": "0.75", "well": "0.25"})
    >>> found.definition5
    Reached(8/3: 'well' up at job=1)
    >>> found.statement11
    Reached(6: 'well' over 'ill' up at job=1)
    """
    shares = prior_of(views, prior)
    check_realistic(views)
    odds = statement11(views, shares)
    return Achieved(definition5(views, shares, odds, progress), odds, shares)


def statement11(views: Viewset, prior: tuple[Fraction, ...]) -> Reached:
    odds = amplification(over_prior(views, prior))
    where = {name: odds.tuple[name] for name in views.attributes}  # without the one that holds the prior
    return Reached(odds.log, odds.value, True, odds.log, where, odds.classes, "up")


def definition5(
    views: Viewset, prior: tuple[Fraction, ...], odds: Reached, progress: Progress | None = None
) -> Reached:
    if odds.infinite:
        return Reached(math.inf, None, True, math.inf, odds.tuple, odds.classes[1:], "down")
    search = PosteriorSearch(views, prior)
    if search.ratios.n_classes == 1:
        rows = search.ratios.most_frequent(0)
        return Reached(0.0, Fraction(1), True, 0.0, search.ratios.tuple_of(rows), views.classes, "up")
    return search.result(progress)


class PosteriorAt(NamedTuple):
    """A posterior at a tuple, by how much it is off its prior, up to floats."""

    log: float
    c: int
    direction: Direction
    rows: Longs


class PosteriorSearch:
    """The largest F_c / p_c or p_c / F_c; 1 / p_c = 1 + sum_d X_d / X_c, positive wherever any class is."""

    def __init__(self, views: Viewset, prior: tuple[Fraction, ...]) -> None:
        self.views, self.prior = views, prior
        self.ratios = Ratios(views)
        self.n, self.n_classes = self.ratios.n, self.ratios.n_classes
        self.log_prior = [math.log(f.numerator) - math.log(f.denominator) for f in prior]
        of_class = np.array(self.ratios.of_class, dtype=object)
        self.base = logarithms(of_class) * (1 - self.n)
        self.table = logarithms(self.ratios.counts)
        self.logs: list[Floats] = []
        self.places: list[Longs] = []  # rows of the counts that the rows of `logs` stand for
        ends = [*self.ratios.starts.tolist(), len(self.ratios.counts)]
        most = float(np.abs(self.base).max(initial=0))
        for start, stop in pairwise(ends):
            block = self.ratios.counts[start:stop]
            places = np.flatnonzero(np.asarray(block[:, 0] > 0, dtype=bool))
            places = places[_first_of_each(block[places])]
            self.places.append(start + places)
            self.logs.append(self.table[start + places])
            most += float(np.abs(self.logs[-1]).max(initial=0))
        steps = 2 * self.n_classes**2 * sum(map(len, self.logs))
        self.beam = max(NARROW, min(BEAM, WORK // max(steps, 1)))
        # Of sums of n + 1 logarithms, each within two roundings of at most `most` in all, and of exp and log.
        self.error = 8 * (self.n + self.n_classes + 8) * 2.0**-53 * (most + max(map(abs, self.log_prior)) + 1)

    def result(self, progress: Progress | None) -> Reached:
        posteriors: list[PosteriorAt] = []
        for c in range(self.n_classes):
            for d in range(self.n_classes):
                if c != d:
                    rows = self.ratios.largest_rows(c, d)
                    posteriors += [self.at(rows, c, "up"), self.at(rows, d, "down")]
        above = -math.inf  # what the search may have missed
        if self.n_classes > 2:
            for c in range(self.n_classes):
                for direction in DIRECTIONS:
                    best = max(one.log for one in posteriors)
                    more, missed = self.searched(c, direction, best - 4 * self.error)
                    posteriors += more
                    above = max(above, missed)
                if progress is not None:
                    progress(c + 1, self.n_classes)
        best = max(one.log for one in posteriors)
        near = {
            (one.c, one.direction, one.rows.tobytes()): one
            for one in posteriors
            if one.log >= best - 2 * self.error
        }
        # Exact only if nothing that was dropped could be as large, and all that floats cannot tell apart is
        # compared. Otherwise `highest` is what is proven, and a witness only shows `least`.
        exact = above <= best - 2 * self.error and len(near) <= NEAR
        listed = list(near.values()) if exact else [max(posteriors, key=lambda one: one.log)]
        winner, value, log = self.largest(listed)
        where, label = self.ratios.tuple_of(winner.rows), (self.views.classes[winner.c],)
        if exact:
            return Reached(log, value, True, log, where, label, winner.direction)
        highest = max(above, best) + 2 * self.error
        return Reached(highest, None, False, log, where, label, winner.direction)

    def at(self, rows: Longs, c: int, direction: Direction) -> PosteriorAt:
        scores = self.base + self.table[rows].sum(axis=0)
        top = float(scores.max())
        log = math.log(float(np.exp(scores - top).sum())) + top - float(scores[c]) + self.log_prior[c]
        return PosteriorAt(-log if direction == "up" else log, c, direction, rows)

    def searched(self, c: int, direction: Direction, floor: float) -> tuple[list[PosteriorAt], float]:
        """Tuples where the class may be above `floor`, and the most that a tuple left out may have.

        Attribute by attribute, the most telling first; partial tuples whose bound is below the best so far
        are dropped, and where too many are left those of the lowest bounds.
        """
        sign = 1.0 if direction == "down" else -1.0
        others = [d for d in range(self.n_classes) if d != c]
        differences = [logs[:, others] - logs[:, [c]] for logs in self.logs]
        order = sorted(range(self.n), key=lambda i: -float(np.ptp(differences[i], axis=0).max(initial=0)))
        # What the attributes still to come can add, in the direction that counts.
        ends = [(sign * differences[i]).max(axis=0) * sign for i in order]
        still = np.zeros((self.n + 1, len(others)))
        for step in range(self.n - 1, -1, -1):
            still[step] = still[step + 1] + ends[step]

        def bounds(sums: Floats, left: Floats) -> Floats:
            whole = sums + left
            top = np.maximum(whole.max(axis=1), 0.0)
            total = np.exp(whole - top[:, np.newaxis]).sum(axis=1) + np.exp(-top)
            result: Floats = sign * (np.log(total) + top + self.log_prior[c])
            return result

        sums = (self.base[others] - self.base[c])[np.newaxis]
        if not self.n:
            return [], -math.inf
        taken: list[BeamStep] = []
        missed = -math.inf
        for step, i in enumerate(order):
            size, origin = len(differences[i]), np.arange(len(sums))
            keep = max(1, 40 * self.beam // size)
            if len(sums) > keep:
                bound = bounds(sums, still[step])
                kept = np.argpartition(-bound, keep)
                missed = max(missed, float(bound[kept[keep:]].max()))
                origin = kept[:keep]
                sums = sums[origin]
            sums = (sums[:, np.newaxis] + differences[i][np.newaxis]).reshape(-1, len(others))
            bound = bounds(sums, still[step + 1])
            left = np.flatnonzero(bound >= floor)
            if len(left) > self.beam:
                left = left[np.argpartition(-bound[left], self.beam)]
                missed = max(missed, float(bound[left[self.beam :]].max()))
                left = left[: self.beam]
            sums = sums[left]
            taken.append(BeamStep(origin[left // size], left % size))
            if not len(left):
                return [], missed
        logs = bounds(sums, still[self.n])
        best = float(logs.max())
        largest = []
        for place in np.flatnonzero(logs >= best - 4 * self.error)[: NEAR + 1].tolist():
            rows = np.empty(self.n, np.int64)
            for i, code in zip(order, retraced(taken, place), strict=True):
                rows[i] = self.places[i][code]
            largest.append(PosteriorAt(float(logs[place]), c, direction, rows))
        return largest, missed

    def largest(self, posteriors: list[PosteriorAt]) -> tuple[PosteriorAt, Fraction | None, float]:
        """The largest of these, its value and its logarithm, exactly or to 200 bits where too long."""
        if self.bits(posteriors[0].rows) <= MOST_FACTOR_BITS:
            values = [self.value(one) for one in posteriors]
            place = max(range(len(posteriors)), key=values.__getitem__)
            value = values[place]
            log = _log(value.numerator, value.denominator)
            short = value.numerator.bit_length() + value.denominator.bit_length() <= MOST_BITS
            return posteriors[place], value if short else None, log
        with gmpy2.context(precision=PRECISION):
            reals = [self.real(one) for one in posteriors]
            place = max(range(len(posteriors)), key=reals.__getitem__)
            return posteriors[place], None, float(gmpy2.log(reals[place]))

    def bits(self, rows: Longs) -> int:
        longest = max(map(int.bit_length, self.ratios.of_class)) * abs(self.n - 1)
        counts: list[list[int]] = self.ratios.counts[rows].tolist()
        return longest + sum(max(map(int.bit_length, row)) for row in counts)

    def value(self, posterior: PosteriorAt) -> Fraction:
        """F_c / p_c or its inverse, as a Fraction."""
        scores = []
        for c, size in enumerate(self.ratios.of_class):
            top = math.prod(map(int, self.ratios.counts[posterior.rows, c].tolist()))
            power = gmpy2.mpz(size) ** abs(self.n - 1)
            scores.append(gmpy2.mpq(top, power) if self.n else gmpy2.mpq(power))
        ratio = self._off_the_prior(scores, posterior)
        return Fraction(int(ratio.numerator), int(ratio.denominator))

    def real(self, posterior: PosteriorAt) -> Exact:
        """F_c / p_c or its inverse, in the precision of the current context."""
        scores = []
        for c, size in enumerate(self.ratios.of_class):
            score = gmpy2.mpfr(size) ** (1 - self.n)
            for count in self.ratios.counts[posterior.rows, c].tolist():
                score *= count
            scores.append(score)
        return self._off_the_prior(scores, posterior)

    def _off_the_prior(self, scores: list[Exact], posterior: PosteriorAt) -> Exact:
        prior = self.prior[posterior.c]
        ratio = sum(scores) / scores[posterior.c] * gmpy2.mpq(prior.numerator, prior.denominator)
        return 1 / ratio if posterior.direction == "up" else ratio


def _first_of_each(block: Counts) -> Longs:
    """Rows that stand for all: where counts are proportional, so are scores."""
    seen: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(block.tolist()):
        common = math.gcd(*row)
        seen.setdefault(tuple(number // common for number in row), place)
    return np.array(list(seen.values()), np.int64)


def _log(top: int, bottom: int) -> float:
    """Of top / bottom, accurate near 1 too."""
    with gmpy2.context(precision=PRECISION):
        if bottom < 2 * top < 4 * bottom:
            return float(gmpy2.log1p(gmpy2.mpq(top - bottom, bottom)))
        return float(gmpy2.log(gmpy2.mpz(top)) - gmpy2.log(gmpy2.mpz(bottom)))
