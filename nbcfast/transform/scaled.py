"""Step 2: k-th roots of all counts, at as many bits as keep the order of classes.

How many are enough is the theorem of precision in docs/mathematics/safety.md, section c.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import gmpy2
import numpy as np

from nbcfast import safety
from nbcfast._core.dtypes import Counts, Floats
from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, exact, number_text
from nbcfast._core.untyped import Document, Exact
from nbcfast._core.validation import type_name, whole
from nbcfast.transform.gauge import RootedNumbers, Weighting, gauged_numbers, plain_numbers
from nbcfast.transform.ladder import GRID, Ladder, log_of_limit, paper_k
from nbcfast.transform.margin_bound import deciding_margin
from nbcfast.transform.zeros import Filled
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_BITS = 1 << 20  # that may be asked for
MOST_EXPONENT = 1 << 32  # of a replaced zero after Step 2


@dataclass(frozen=True, repr=False)
class Scaled:
    """Views after Step 2: X'_c = w_c prod_i q^i_{t,c}, all numbers dyadic rationals of `bits` bits.

    k is a secret: with it the published counts can be inverted more easily.

    Parameters
    ----------
    filled : Filled
    amplification : Fraction
        The limit that k was chosen for.
    k : Fraction
    bits : int
    gauge : bool
    margin : Fraction
        A lower bound of ``|ln X_c - ln X_d|`` over the comparisons that count.
    error : Fraction
        E: every ln X'_c is within E of (1/k) ln X_c + theta_c and what all classes share.
    tilt : Fraction
        eta: class weight c is multiplied by 1 + c eta, so that ties go to the later class.
    """

    filled: Filled
    amplification: Fraction
    k: Fraction
    bits: int
    gauge: bool
    margin: Fraction | None
    error: Fraction
    tilt: Fraction
    integers: RootedNumbers = field(repr=False, compare=False)

    @property
    def views(self) -> Viewset:
        return self.filled.views

    @cached_property
    def weights(self) -> tuple[Exact, ...]:
        """w_c as mpq, one a class."""
        return tuple(
            dyadic(weight, self.integers.weight_exponent) * (1 + c * gmpy2.mpq(self.tilt))
            for c, weight in enumerate(self.integers.weights)
        )

    @cached_property
    def factors(self) -> Mapping[str, tuple[tuple[Exact, ...], ...]]:
        """q^i_{t,c} as mpq: for each attribute a row a value, one number a class."""
        starts = self.filled.flat.starts.tolist()
        return {
            name: tuple(
                tuple(dyadic(number, self.integers.exponent) for number in row)
                for row in self.integers.numbers[start:stop]
            )
            for name, start, stop in zip(self.views.attributes, starts, starts[1:], strict=False)
        }

    def at_most(self, limit: Numeral) -> bool:
        """Whether Lambda of the scaled views is at most this, exactly."""
        estimated = self._log_amplification()
        if estimated is not None:
            lambda_log, error = estimated
            bound = Fraction(exact(limit, "limit"))
            if bound < 1:
                return False
            log = math.log(bound.numerator) - math.log(bound.denominator)
            log_error = 1e-14 * (math.log(bound.numerator) + math.log(bound.denominator) + 1)
            if lambda_log + error < log - log_error:
                return True
            if lambda_log - error > log + log_error:
                return False
        return safety.at_most(self._as_views(), limit)

    def logs(self) -> tuple[Floats, list[float]]:
        """Logarithms of q and of w without the tilt, each up to a constant."""
        numbers, floats = self.integers.numbers, self.integers.floats
        if floats is None:
            logs = np.array([[float(gmpy2.log(number)) for number in row] for row in numbers])
        else:
            logs = np.log(floats)
        longest = max(weight.bit_length() for weight in self.integers.weights)
        return logs, [math.log(weight >> max(0, longest - 900)) for weight in self.integers.weights]

    def _log_amplification(self) -> tuple[float, float] | None:
        """Its logarithm and a bound of the error, by floats."""
        flat = self.filled.flat
        if self.integers.floats is None or flat.n_classes == 1:
            return None
        logs, plain = self.logs()
        weights = [log + math.log1p(c * float(self.tilt)) for c, log in enumerate(plain)]
        best, largest = -math.inf, float(np.abs(logs).max(initial=1))
        for c in range(flat.n_classes):
            for d in range(flat.n_classes):
                if c != d:
                    total = weights[c] - weights[d]
                    if flat.n:
                        total += float(np.maximum.reduceat(logs[:, c] - logs[:, d], flat.starts[:-1]).sum())
                    best = max(best, total)
        # Floats of relative error 2^-50, their logarithms within an ulp, sums of n + 2 of them.
        size = largest * (flat.n + 1) + 2 * max(map(abs, weights))
        return best, (flat.n + 4) * (2.0**-48 + size * 2.0**-51)

    def _as_views(self) -> Viewset:
        """A viewset with the same ratios of scores: P = 1 and the weights as an attribute of one value."""
        starts = self.filled.flat.starts.tolist()
        counts = {}
        for i, (start, stop) in enumerate(pairwise(starts)):
            counts[f"A{i}"] = _objects([[int(x) for x in row] for row in self.integers.numbers[start:stop]])
        tilt = self.tilt
        weights = [
            int(w) * (tilt.denominator + c * tilt.numerator) for c, w in enumerate(self.integers.weights)
        ]
        counts["weight"] = _objects([weights])
        return Viewset(np.ones(len(weights), np.int64), counts)

    def __repr__(self) -> str:
        return (
            f"Scaled(k {number_text(exact(self.k, 'k'))}, {self.bits} bits, "
            f"gauge {self.gauge}; Lambda <= {number_text(exact(self.amplification, 'limit'))})"
        )

    def to_dict(self) -> Document:
        return {
            "amplification": self.amplification,
            "k": self.k,
            "bits": self.bits,
            "gauge": self.gauge,
            "margin": self.margin,
            "error": self.error,
            "tilt": self.tilt,
        }


def scale(
    filled: Filled,
    amplification: Numeral,
    *,
    k: Literal["paper"] | Numeral | None = None,
    gauge: bool = True,
    bits: int | None = None,
    progress: Progress | None = None,
) -> Scaled:
    """Step 2: the 1/k-th power of every count, with k the least that keeps Lambda within the limit.

    Parameters
    ----------
    filled : Filled
        Views after Step 1.
    amplification : int, Fraction, str or float
        Above 1.
    k : number or "paper", optional
        By default the least multiple of 1/64 below 64, or the least integer from 64 on, with which Lambda
        of the result is at most `amplification`. "paper" is n (2n + 3) ln w / ln lambda rounded up, w the
        largest ratio of any two counts. A number of at least 1 is taken as it is, safe or not.
    gauge : bool
        Apply the canonical gauge: the result then depends on nothing but the ratios of scores.
    bits : int, optional
        By default the fewest with which the order is proven to stay.
    progress : callable, optional
        Called as progress(done, total) while the margin is computed.

    Returns
    -------
    Scaled

    Raises
    ------
    ValueError
        If amplification is not above 1, k is below 1, or there are too few bits.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> from nbcfast.transform import fill_zeros
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> scale(fill_zeros(views), 4)
    Scaled(k 1.46875, 10 bits, gauge True; Lambda <= 4)
    """
    expect(filled, Filled, "filled")
    limit = limit_of(amplification)
    if type(gauge) is not bool:
        raise TypeError(f"gauge must be a bool, got {gauge!r}")
    margin = deciding_margin(filled, gauge, progress)
    bits = None if bits is None else whole(bits, "bits", got=type_name)
    if bits is not None and bits > MOST_BITS:
        raise ValueError(f"bits must be at most {MOST_BITS:,}, got {number_text(bits)}")
    if k is None:
        ladder = Ladder(filled, limit)
        while True:
            scaled = scaled_by(filled, limit, ladder.k, gauge, margin, bits)
            if scaled.at_most(limit):
                return scaled
            ladder.up()
    if isinstance(k, str) and k == "paper":
        chosen = paper_k(filled, limit)
    else:
        chosen = Fraction(exact(k, "k"))
        if chosen < 1:
            raise ValueError(f"k must be at least 1, got {number_text(exact(chosen, 'k'))}")
    return scaled_by(filled, limit, chosen, gauge, margin, bits)


def limit_of(amplification: Numeral) -> Fraction:
    limit = Fraction(exact(amplification, "amplification"))
    if limit <= 1:
        raise ValueError(f"amplification must be above 1, got {number_text(exact(limit, 'amplification'))}")
    return limit


def precision_for(
    n: int, n_classes: int, k: Fraction, margin: Fraction | None, limit: Fraction
) -> tuple[int, Fraction, Fraction]:
    """The least b with (C-1) eta + 2E < margin / k and 4CE <= 1/10, and its E and eta.

    (C-1) eta + 2E also has to be below ln(limit) / (64 k), or few bits could lift Lambda beyond the limit at
    every k where scores differ by much or all of them tie; with it they cost k about one step of the grid.
    Both are proved in docs/mathematics/safety.md, section c. With fewer bits the order may change; with more
    bits an adversary reads more out of every number (section m).
    """
    with gmpy2.context(precision=128, round=gmpy2.RoundDown):
        log = log_of_limit(limit).as_integer_ratio()
    room = Fraction(int(log[0]), int(log[1])) / GRID
    if margin is not None:
        room = min(room, margin)
    # 2E + (C-1) eta is more than 2C (n+1) 2^-b at any b, so fewer bits never do.
    least = 2 * n_classes * (n + 1) * k / room
    bits = max(2, (least.numerator // least.denominator).bit_length() - 1)
    while True:
        error, tilt = errors_at(n, n_classes, bits)
        if 4 * n_classes * error <= Fraction(1, 10) and ((n_classes - 1) * tilt + 2 * error) * k < room:
            return bits, error, tilt
        bits += 1


def errors_at(n: int, n_classes: int, bits: int) -> tuple[Fraction, Fraction]:
    """E and eta for numbers of so many bits."""
    unit = Fraction(1, 1 << bits)
    error = (n + 1) * unit * (1 + 2 * unit + Fraction(1, 1 << 50))
    return error, tilt_for(error, n_classes)


def tilt_for(error: Fraction, n_classes: int) -> Fraction:
    """The tilt eta that decides every tie in favour of the later class, for errors up to this.

    Class weights are tilted, as rounded roots of scores that tie may come out in either order; to add to
    counts instead, as the paper does, lets the wrong class win (docs/mathematics/safety.md, section c).
    """
    return 2 * error * (1 + 4 * n_classes * error)


def scaled_by(
    filled: Filled,
    limit: Fraction,
    k: Fraction,
    gauge: bool,
    margin: Fraction | None,
    bits: int | None,
    spare: int = 0,
    weighting: Weighting | None = None,
) -> Scaled:
    """Step 2 with this k, at the fewest bits or `spare` more of them.

    With a weighting, `margin` / k has to bound what is left of the margins with it.
    """
    flat = filled.flat
    if max(filled.exponents, default=0) / k > MOST_EXPONENT:
        raise ValueError(
            f"k must be larger, got {number_text(exact(k, 'k'))}: a replaced zero would be below "
            f"2^-{MOST_EXPONENT:,}"
        )
    least, error, tilt = precision_for(flat.n, flat.n_classes, k, margin, limit)
    if bits is None:
        bits = least + spare
    elif bits < least:
        raise ValueError(f"bits must be at least {least} for the order to stay, got {bits}")
    if bits != least:
        error, tilt = errors_at(flat.n, flat.n_classes, bits)
    numbers = (gauged_numbers if gauge else plain_numbers)(filled, k, bits, weighting)
    return Scaled(filled, limit, k, bits, gauge, margin, error, tilt, numbers)


def dyadic(number: Exact, exponent: int) -> Exact:
    return gmpy2.mpq(number << exponent) if exponent >= 0 else gmpy2.mpq(number, gmpy2.mpz(1) << -exponent)


def _objects(rows: list[list[int]]) -> Counts:
    array = np.empty((len(rows), len(rows[0])), object)
    array[:] = rows
    return array
