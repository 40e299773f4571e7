"""Steps 2 and 3: k-th roots, the canonical gauge, and counts that add up again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast import _roots, safety
from nbcfast._core.errors import expect
from nbcfast._core.products import product
from nbcfast.equivalence import margin
from nbcfast.table.values import exact, number_text
from nbcfast.transform.roots import Limbs, Roots, integers, packed, packed_roots, root, roots, to_bits
from nbcfast.transform.zeros import Filled, log_amplification
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

GRID = 64  # k is a multiple of 1/64 below 64 and an integer from there on
MOST_BITS = 1 << 20  # that may be asked for
BASES = 16  # values that are tried to measure the others of an attribute by
MOST_EXPONENT = 1 << 32  # of a replaced zero after Step 2
LEAST_FLOAT = 1e-280  # below, floats begin to lose bits
STEADY = 8  # values of k tried one after the other before the steps grow
LN2_BELOW = Fraction(6931471805599453, 10**16)  # ln 2, cut
MARGIN_DOMAIN = 10**12  # beyond, the margin is bounded instead of computed
SNAP = 52  # bits after the last that two ways to the same number may differ in


class Weighting(NamedTuple):
    """Class weights are multiplied by number^power, one positive number a class: F_c^y of EST."""

    numbers: tuple[int, ...]
    power: Fraction


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
    _of: _Numbers = field(repr=False, compare=False)

    @property
    def views(self) -> Viewset:
        return self.filled.views

    @property
    def _numbers(self) -> list[list[Any]]:
        """Q = number * 2^_exponent, one row a value."""
        return self._of.numbers

    @property
    def _exponent(self) -> int:
        return self._of.exponent

    @property
    def _weights(self) -> list[Any]:
        """Without the tilt, times 2^-_weight_exponent."""
        return self._of.weights

    @cached_property
    def weights(self) -> tuple[Any, ...]:
        """w_c as mpq, one a class."""
        return tuple(
            _dyadic(weight, self._of.weight_exponent) * (1 + c * gmpy2.mpq(self.tilt))
            for c, weight in enumerate(self._weights)
        )

    @cached_property
    def factors(self) -> Mapping[str, tuple[tuple[Any, ...], ...]]:
        """q^i_{t,c} as mpq: for each attribute a row a value, one number a class."""
        starts = self.filled._flat.starts.tolist()
        return {
            name: tuple(
                tuple(_dyadic(number, self._exponent) for number in row) for row in self._numbers[start:stop]
            )
            for name, start, stop in zip(self.views.attributes, starts, starts[1:], strict=False)
        }

    def at_most(self, limit: Any) -> bool:
        """Whether Lambda of the scaled views is at most this, exactly."""
        found = self._log_amplification()
        if found is not None:
            bound = Fraction(exact(limit, "limit"))
            if bound < 1:
                return False
            log = math.log(bound.numerator) - math.log(bound.denominator)
            log_error = 1e-14 * (math.log(bound.numerator) + math.log(bound.denominator) + 1)
            if found[0] + found[1] < log - log_error:
                return True
            if found[0] - found[1] > log + log_error:
                return False
        return safety.at_most(self._as_views(), limit)

    def logs(self) -> tuple[npt.NDArray[np.float64], list[float]]:
        """Logarithms of q and of w without the tilt, each up to a constant."""
        numbers, floats = self._of.numbers, self._of.floats
        if floats is None:
            logs = np.array([[float(gmpy2.log(number)) for number in row] for row in numbers])
        else:
            logs = np.log(floats)
        longest = max(weight.bit_length() for weight in self._weights)
        return logs, [math.log(weight >> max(0, longest - 900)) for weight in self._weights]

    def _log_amplification(self) -> tuple[float, float] | None:
        """Its logarithm and a bound of the error, by floats."""
        flat = self.filled._flat
        if self._of.floats is None or flat.n_classes == 1:
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
        starts = self.filled._flat.starts.tolist()
        counts = {}
        for i, (start, stop) in enumerate(pairwise(starts)):
            counts[f"A{i}"] = _objects([[int(x) for x in row] for row in self._numbers[start:stop]])
        tilt = self.tilt
        weights = [int(w) * (tilt.denominator + c * tilt.numerator) for c, w in enumerate(self._weights)]
        counts["weight"] = _objects([weights])
        return Viewset(np.ones(len(weights), np.int64), counts)

    def __repr__(self) -> str:
        return (
            f"Scaled(k {number_text(exact(self.k, 'k'))}, {self.bits} bits, "
            f"gauge {self.gauge}; Lambda <= {number_text(exact(self.amplification, 'limit'))})"
        )

    def to_dict(self) -> dict[str, Any]:
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
    amplification: Any,
    *,
    k: Literal["paper"] | int | Fraction | str | float | None = None,
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
    margin = margin_of(filled, gauge, progress)
    if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int)):
        raise TypeError(f"bits must be an int, got {type(bits).__name__}")
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


def limit_of(amplification: Any) -> Fraction:
    limit = Fraction(exact(amplification, "amplification"))
    if limit <= 1:
        raise ValueError(f"amplification must be above 1, got {number_text(exact(limit, 'amplification'))}")
    return limit


class Ladder:
    """Candidates for k in rising order, from the least with which Lambda^(1/k) can be within the limit."""

    def __init__(self, filled: Filled, limit: Fraction) -> None:
        self.steps = 0
        # Enough bits to tell neighbours of the grid apart; a case nearer than that is tried.
        longest = max(filled.exponents, default=0).bit_length() + filled._flat.n.bit_length()
        longest += max(0, limit.denominator.bit_length() - (limit - 1).numerator.bit_length())
        precision = 128 + longest
        log = log_amplification(filled, precision)
        with gmpy2.context(precision=precision):
            quotient = log / log_of(limit)
            quotient -= abs(quotient) * gmpy2.exp2(-100 - longest)
            self.quotient = quotient
            a = int(gmpy2.ceil(quotient * GRID))
            self.k = Fraction(max(a, GRID), GRID)
            if self.k > GRID:
                self.k = Fraction(int(gmpy2.ceil(quotient)))

    def up(self) -> None:
        """The next k; after a few that do not do, by steps that double."""
        self.steps += 1
        step = 1 << max(0, self.steps - STEADY)
        self.k = on_grid(self.k + (Fraction(step, GRID) if self.k < GRID else step))


def on_grid(k: Fraction) -> Fraction:
    """The least k that may be used from this number on: a multiple of 1/64, or from 64 on an integer."""
    return Fraction(math.ceil(k * GRID), GRID) if k <= GRID else Fraction(math.ceil(k))


def between(low: Fraction, high: Fraction) -> Fraction | None:
    """A k half way between two, or None where they are neighbours."""
    middle = on_grid((low + high) / 2)
    if middle == high:
        middle = high - (Fraction(1, GRID) if high <= GRID else 1)
    return middle if low < middle else None


def paper_k(filled: Filled, limit: Fraction) -> Fraction:
    """The least integer k >= n (2n + 3) ln w / ln lambda, w the largest ratio of counts after Step 1."""
    flat, n = filled._flat, filled._flat.n
    most = max([*flat.of_class, int(flat.counts.max()) if flat.counts.size else 1])
    with gmpy2.context(precision=128 + max(filled.exponents).bit_length()):
        least = gmpy2.mpfr(0)
        for c, exponent in enumerate(filled.exponents):
            column = flat.counts[:, c]
            positive = column[column > 0]
            if len(positive):
                least = min(least, gmpy2.log(gmpy2.mpz(int(positive.min()))))
            if len(positive) < len(column):
                unit = int(flat.unit[flat.zero[:, c]].min())
                least = min(least, gmpy2.log(gmpy2.mpz(unit)) - exponent * gmpy2.const_log2())
        log = gmpy2.log(gmpy2.mpz(most)) - least
        return Fraction(max(1, int(gmpy2.ceil(n * (2 * n + 3) * log / log_of(limit)))))


def log_of(limit: Fraction) -> Any:
    """Ln of a number above 1, to the precision of the context however near to 1 it is."""
    return gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(limit - 1)))


def margin_of(filled: Filled, gauge: bool, progress: Progress | None = None) -> Fraction | None:
    """A lower bound of |ln X_c - ln X_d| over the comparisons that count; None if all of them are ties.

    With the gauge, and without zeros, a function of the ratios of scores alone, as all has to be that the
    release depends on.
    """
    flat, views = filled._flat, filled.views
    cap = LN2_BELOW * filled.guard if flat.zero.any() else None
    if flat.n_classes == 1:
        return cap
    found: Fraction | None = None
    if math.prod(len(array) for array in views.counts.values()) <= MARGIN_DOMAIN:
        result = margin(views, progress=progress)
        if math.isinf(result.log):
            return cap
        if result.log > 1e-290:
            found = Fraction(result.log) * (1 - Fraction(1, 1 << 48))  # the float may be above the logarithm
    if found is None:
        least = least_of_ratios(filled) if gauge and cap is None else least_ratio(filled)
        if least is None:
            return cap
        found = Fraction(1, int(least) + 1)
    return found if cap is None else min(cap, found)


def least_ratio(filled: Filled) -> Any:
    """min(A^, B^) of the worst pair: |ln X_c - ln X_d| >= ln(1 + 1 / it) where the two differ.

    None where no tuple is positive in two classes. See docs/mathematics/safety.md, section c.
    """
    flat, n = filled._flat, filled._flat.n
    worst = None
    for c in range(flat.n_classes):
        for d in range(c):
            both = ~(flat.zero[:, c] | flat.zero[:, d])
            if n and not np.logical_or.reduceat(both, flat.starts[:-1]).all():
                continue
            sides = []
            common = math.gcd(flat.of_class[c], flat.of_class[d])
            for mine, theirs in ((c, d), (d, c)):
                if n:
                    column = np.where(both, flat.counts[:, mine], 0)
                    largest = np.maximum.reduceat(column, flat.starts[:-1]).tolist()
                    sides.append(product(largest) * gmpy2.mpz(flat.of_class[theirs] // common) ** (n - 1))
                else:
                    sides.append(gmpy2.mpz(flat.of_class[mine] // common))
            worst = min(sides) if worst is None else max(worst, min(sides))
    return worst


def least_of_ratios(filled: Filled) -> Any:
    """The same for views without zeros, from nothing but ratios of scores: those of a tuple, and how they
    change with each value. A few more bits than `least_ratio`.
    """
    flat, n, worst = filled._flat, filled._flat.n, gmpy2.mpz(1)
    for c in range(flat.n_classes):
        for d in range(c):
            tops, bottoms, own, other = [], [], [], []
            for start, stop in pairwise(flat.starts.tolist()):
                x, y = flat.counts[start:stop, c], flat.counts[start:stop, d]
                base, top, bottom = _changes(x, y)
                tops.append(top)
                bottoms.append(bottom)
                own.append(int(x[base]))
                other.append(int(y[base]))
            classes = gmpy2.mpq(flat.of_class[d], flat.of_class[c]) ** (n - 1)
            ratio = gmpy2.mpq(product(own), product(other)) * classes
            sides = product(tops) * ratio.numerator, product(bottoms) * ratio.denominator
            worst = max(worst, min(sides))
    return worst


def _changes(x: Any, y: Any) -> tuple[int, int, int]:
    """A value to start from, and the largest numerator and denominator of (x_t / y_t) / (x_base / y_base)."""
    common = np.gcd(x, y)
    x, y = x // common, y // common
    if x.dtype.kind == "O" or max(int(x.max()), int(y.max())) >= 1 << 31:
        x, y = x.astype(object), y.astype(object)
    tops, bottoms = x[:, np.newaxis] * y[:BASES], y[:, np.newaxis] * x[:BASES]
    common = np.gcd(tops, bottoms)
    most = list(
        zip((tops // common).max(axis=0).tolist(), (bottoms // common).max(axis=0).tolist(), strict=True)
    )
    base = min(range(len(most)), key=lambda t: most[t][0] * most[t][1])
    return base, most[base][0], most[base][1]


def precision_for(
    n: int, n_classes: int, k: Fraction, margin: Fraction | None, limit: Fraction
) -> tuple[int, Fraction, Fraction]:
    """The least b with (C-1) eta + 2E < margin / k and 4CE <= 1/10, and its E and eta.

    Why they do: docs/mathematics/safety.md, section c.

    The same also has to be below ln(limit) / (64 k), or few bits could lift Lambda beyond the limit at every
    k where scores differ by much or all of them tie; with it they cost k about one step of the grid.
    """
    with gmpy2.context(precision=128, round=gmpy2.RoundDown):
        log = log_of(limit).as_integer_ratio()
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
    """The tilt eta that decides every tie in favour of the later class, for errors up to this."""
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
    flat = filled._flat
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
    numbers = (_gauged if gauge else _plain)(filled, k, bits, weighting)
    return Scaled(filled, limit, k, bits, gauge, margin, error, tilt, numbers)


@dataclass(frozen=True)
class _Numbers:
    """What `Scaled` holds: q and w as integers times powers of two, and floats in the same proportions."""

    numbers: list[list[Any]]
    exponent: int
    weights: list[Any]
    weight_exponent: int
    floats: npt.NDArray[np.float64] | None


class _Powers:
    """Which numbers to take the k-th root of: the distinct counts, and nu(t) 2^(-e_c) for every zero."""

    def __init__(self, filled: Filled, k: Fraction, weighting: Weighting | None = None) -> None:
        flat = filled._flat
        self.flat, self.k, self.weighting = flat, k, weighting
        if flat.counts.dtype.kind == "O":
            listed = sorted({number for row in flat.counts.tolist() for number in row} | {1})
            where = {number: place for place, number in enumerate(listed)}
            places: Any = np.array([[where[n] for n in row] for row in flat.counts.tolist()], np.int64)
        else:
            distinct, places = np.unique(flat.counts, return_inverse=True)
            listed = distinct.tolist()
        self.places = np.ascontiguousarray(places.reshape(flat.counts.shape), np.int64)
        if listed and listed[0] == 0:
            listed[0] = 1
        self.listed: list[int] = listed
        self.zeros: list[tuple[int, int]] = []  # (nu, e): (nu 2^-e)^(1 / k)
        known: dict[tuple[int, int], int] = {}
        rows, columns = np.nonzero(flat.zero)
        for t, c, unit in zip(rows.tolist(), columns.tolist(), flat.unit[rows].tolist(), strict=True):
            place = known.get((unit, c))
            if place is None:
                place = known[unit, c] = len(listed) + len(self.zeros)
                self.zeros.append((unit, filled.exponents[c]))
            self.places[t, c] = place

    def roots(self, bits: int) -> Roots:
        found = roots(self.listed, self.k, bits) if self.listed else Roots([], [])
        for mantissa, exponent in self._roots_of_zeros(bits):
            found.mantissas.append(mantissa)
            found.exponents.append(exponent)
        return found

    def _roots_of_zeros(self, bits: int) -> list[tuple[Any, int]]:
        top, bottom = self.k.denominator, self.k.numerator
        return [root(unit, top, bottom, bits, -exponent * top) for unit, exponent in self.zeros]

    def packed(self, limbs: int) -> tuple[Limbs, npt.NDArray[np.int64]]:
        mantissas, exponents = packed_roots(self.listed, self.k, limbs)
        if not self.zeros:
            return mantissas, exponents
        pairs = self._roots_of_zeros(64 * limbs)
        more = [exponent + 64 * limbs for _, exponent in pairs]
        return (
            np.concatenate([mantissas, packed([mantissa for mantissa, _ in pairs], limbs)]),
            np.concatenate([exponents, np.array(more, np.int64)]),
        )

    def weight(self, c: int, bits: int) -> tuple[Any, int]:
        """P_c^((1-n) / k), times what the weighting says."""
        if self.weighting is None or not self.weighting.power:
            return self._weight(c, bits)
        number = gmpy2.mpz(self.weighting.numbers[c])
        # The product of two roundings, to so many more bits that the last one decides.
        spare = bits + 64 + number.bit_length().bit_length()
        with gmpy2.context(precision=spare):
            value = gmpy2.exp(gmpy2.log(number) * gmpy2.mpq(self.weighting.power))
            mantissa, exponent = (_real(*self._weight(c, spare)) * value).as_mantissa_exp()
        return to_bits(gmpy2.mpz(mantissa), int(exponent), bits)

    def _weight(self, c: int, bits: int) -> tuple[Any, int]:
        power = (1 - self.flat.n) / self.k
        if power == 0 or self.flat.of_class[c] == 1:
            return gmpy2.mpz(1) << (bits - 1), 1 - bits
        return root(self.flat.of_class[c], power.numerator, power.denominator, bits)


def _plain(filled: Filled, k: Fraction, bits: int, weighting: Weighting | None = None) -> _Numbers:
    powers = _Powers(filled, k, weighting)
    found = powers.roots(bits)
    lowest = min(found.exponents, default=0)
    aligned = [m << (e - lowest) for m, e in zip(found.mantissas, found.exponents, strict=True)]
    numbers = [[aligned[place] for place in row] for row in powers.places.tolist()]
    weights, low = _aligned([powers.weight(c, bits) for c in range(powers.flat.n_classes)])
    return _Numbers(numbers, lowest, weights, low, _floats(numbers, powers.flat.n_classes))


def _floats(numbers: list[list[Any]], n_classes: int) -> npt.NDArray[np.float64] | None:
    """Floats in proportion to the integers; None where floats are too few."""
    longest = max((number.bit_length() for row in numbers for number in row), default=0)
    shortest = min((number.bit_length() for row in numbers for number in row), default=0)
    if not numbers:
        return np.ones((0, n_classes))
    if longest - shortest > 900:
        return None
    cut = max(0, longest - 960)
    if cut:
        return np.array([[float(number >> cut) for number in row] for row in numbers])
    return np.array([[float(number) for number in row] for row in numbers])


def _aligned(pairs: list[tuple[Any, int]]) -> tuple[list[Any], int]:
    lowest = min((exponent for _, exponent in pairs), default=0)
    return [mantissa << (exponent - lowest) for mantissa, exponent in pairs], int(lowest)


def _gauged(filled: Filled, k: Fraction, bits: int, weighting: Weighting | None = None) -> _Numbers:
    """The canonical gauge (step 2'), at 64 bits more than asked for before the one rounding.

    Centring a value over the classes and dividing it by its sum at the end cancel, so that
    q_c = (N_c^(1/k) / F_c) / sum_d (N_d^(1/k) / F_d), with F_c the geometric mean over the values.
    """
    flat = filled._flat
    longest = int(np.diff(flat.starts).max(initial=1))
    precision = bits + 72 + flat.n.bit_length() + longest.bit_length() + flat.n_classes.bit_length()
    limbs = -(-precision // 64)
    powers = _Powers(filled, k, weighting)
    weights = []
    floats: npt.NDArray[np.float64] | None
    if 64 * limbs <= _roots.MOST_BITS and flat.n and limbs >= 2:
        with wide(64 * limbs):
            weights = [_real(*powers.weight(c, 64 * limbs)) for c in range(flat.n_classes)]
        numbers, lowest, floats = _gauged_by_kernel(powers, weights, limbs, bits)
        if floats.min(initial=1) < LEAST_FLOAT:
            floats = None
    else:
        with wide(precision):
            weights = [_real(*powers.weight(c, precision)) for c in range(flat.n_classes)]
        numbers, lowest = _gauged_by_mpfr(powers, weights, precision, bits)
        floats = _floats(numbers, flat.n_classes)
    with wide(precision):
        centre = gmpy2.rootn(reduce(mul, weights, gmpy2.mpfr(1)), flat.n_classes)
        weights = [weight / centre for weight in weights]
    aligned, low = _aligned([_rounded_twice(weight, bits) for weight in weights])
    return _Numbers(numbers, lowest, aligned, low, floats)


def wide(precision: int) -> Any:
    """A context whose exponents are as long as MPFR has them: a replaced zero may be 2^-1000000000000."""
    return gmpy2.context(precision=precision, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min())


def _real(mantissa: Any, exponent: int) -> Any:
    number = gmpy2.mpfr(mantissa)
    return gmpy2.mul_2exp(number, exponent) if exponent >= 0 else gmpy2.div_2exp(number, -exponent)


def _rounded_twice(number: Any, bits: int) -> tuple[Any, int]:
    """Rounding twice makes numbers of few bits out of what came out a hair beside them."""
    with wide(bits + SNAP):
        number = +number
    with wide(bits):
        mantissa, exponent = (+number).as_mantissa_exp()
    return mantissa, int(exponent)


def _gauged_by_kernel(
    powers: _Powers, weights: list[Any], limbs: int, bits: int
) -> tuple[list[list[Any]], int, npt.NDArray[np.float64]]:
    """Q as integers, their exponent and floats; the means go into the weights."""
    flat = powers.flat
    n_rows, n_classes = flat.counts.shape
    mantissas, exponents = powers.packed(limbs)
    products = np.empty((flat.n, n_classes, limbs), np.uint64)
    product_exponents = np.empty((flat.n, n_classes), np.int64)
    _roots.products(mantissas, exponents, powers.places, flat.starts, products, product_exponents)
    listed, powers_of_two = integers(products), product_exponents.reshape(-1).tolist()
    sizes = np.repeat(np.diff(flat.starts), n_classes).tolist()
    inverses = []
    with wide(64 * limbs):
        for place, (product, exponent, size) in enumerate(zip(listed, powers_of_two, sizes, strict=True)):
            mean = gmpy2.rootn(_real(product, exponent - 64 * limbs), size)
            weights[place % n_classes] *= mean
            inverses.append((1 / mean).as_mantissa_exp())
    shifts = [64 * limbs - mantissa.bit_length() for mantissa, _ in inverses]
    tops = packed([m << shift for (m, _), shift in zip(inverses, shifts, strict=True)], limbs)
    tops_exponents = [int(e) - shift + 64 * limbs for (_, e), shift in zip(inverses, shifts, strict=True)]
    results = np.empty((n_rows, n_classes, _roots.size(bits)), np.uint64)
    result_exponents = np.empty((n_rows, n_classes), np.int64)
    floats = np.empty((n_rows, n_classes))
    _roots.gauge(
        mantissas,
        exponents,
        powers.places,
        flat.starts,
        tops.reshape(flat.n, n_classes, limbs),
        np.array(tops_exponents, np.int64).reshape(flat.n, n_classes),
        min(bits + SNAP, 64 * limbs),
        bits,
        results,
        result_exponents,
        floats,
    )
    lowest = int(result_exponents.min())
    shifted = (result_exponents - lowest).reshape(-1).tolist()
    aligned = [m << shift for m, shift in zip(integers(results), shifted, strict=True)]
    numbers = [aligned[at : at + n_classes] for at in range(0, len(aligned), n_classes)]
    return numbers, lowest, floats


def _gauged_by_mpfr(
    powers: _Powers, weights: list[Any], precision: int, bits: int
) -> tuple[list[list[Any]], int]:
    """The same with MPFR: for as many bits as one likes."""
    starts = powers.flat.starts.tolist()
    found = powers.roots(precision)
    pairs: list[list[tuple[Any, int]]] = []
    with wide(precision):
        one = gmpy2.mpfr(1)
        values = [_real(*pair) for pair in zip(found.mantissas, found.exponents, strict=True)]
        for start, stop in pairwise(starts):
            block = [[values[place] for place in row] for row in powers.places[start:stop].tolist()]
            wholes = [reduce(mul, column, one) for column in zip(*block, strict=True)]
            means = [gmpy2.rootn(whole, stop - start) for whole in wholes]
            weights[:] = [weight * mean for weight, mean in zip(weights, means, strict=True)]
            inverses = [one / mean for mean in means]
            for row in block:
                moved = [number * inverse for number, inverse in zip(row, inverses, strict=True)]
                whole = one / sum(moved)
                pairs.append([_rounded_twice(number * whole, bits) for number in moved])
    lowest = min((exponent for row in pairs for _, exponent in row), default=0)
    return [[mantissa << (exponent - lowest) for mantissa, exponent in row] for row in pairs], lowest


@dataclass(frozen=True, repr=False)
class Adjusted:
    """Views after Step 3: exact rationals that add up, sum_t N'^i_{t,c} = P'_c for every attribute.

    Parameters
    ----------
    scaled : Scaled
    class_counts : tuple of mpq
    """

    scaled: Scaled
    class_counts: tuple[Any, ...]

    @cached_property
    def counts(self) -> Mapping[str, tuple[tuple[Any, ...], ...]]:
        """For each attribute a row a value, one mpq a class."""
        scaled, result = self.scaled, {}
        starts = scaled.filled._flat.starts.tolist()
        for name, start, stop in zip(scaled.views.attributes, starts, starts[1:], strict=False):
            block = scaled._numbers[start:stop]
            sums = [sum(column) for column in zip(*block, strict=True)]
            shares = [count / whole for count, whole in zip(self.class_counts, sums, strict=True)]
            result[name] = tuple(
                tuple(number * share for number, share in zip(row, shares, strict=True)) for row in block
            )
        return result

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.scaled.views.classes

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.scaled.views.attributes

    def is_realistic(self) -> bool:
        """Whether the numbers of each attribute add up to those of the classes; they do."""
        return all(
            sum(column) == count
            for array in self.counts.values()
            for column, count in zip(zip(*array, strict=True), self.class_counts, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "class_counts": list(self.class_counts),
            "attributes": {name: [list(row) for row in array] for name, array in self.counts.items()},
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{float(count):.6g}" for count in self.class_counts)
        return f"Adjusted(class counts {counts}; {len(self.attributes)} attributes)"


def adjust(scaled: Scaled) -> Adjusted:
    """Step 3: P'_c = w_c prod_i S^i_c and N'^i_{t,c} = P'_c q^i_{t,c} / S^i_c with S^i_c = sum_t q^i_{t,c}.

    Exact, and the numbers add up: that is what makes them counts of a table. Scores do not change:
    P'_c^(1-n) prod_i N'^i_{t_i,c} = w_c prod_i q^i_{t_i,c}.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> from nbcfast.transform import fill_zeros
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> adjust(scale(fill_zeros(views), 4)).is_realistic()
    True
    """
    expect(scaled, Scaled, "scaled")
    sums = column_sums(scaled)
    counts = []
    for c, weight in enumerate(scaled.weights):
        factors = reduce(mul, (row[c] for row in sums), gmpy2.mpz(1))
        counts.append(weight * _dyadic(factors, scaled._exponent * len(sums)))
    return Adjusted(scaled, tuple(counts))


def column_sums(scaled: Scaled) -> list[list[Any]]:
    """S^i_c, without the common power of two."""
    starts = scaled.filled._flat.starts.tolist()
    return [
        [sum(column) for column in zip(*scaled._numbers[start:stop], strict=True)]
        for start, stop in pairwise(starts)
    ]


def _dyadic(number: Any, exponent: int) -> Any:
    return gmpy2.mpq(number << exponent) if exponent >= 0 else gmpy2.mpq(number, gmpy2.mpz(1) << -exponent)


def _objects(rows: list[list[int]]) -> Any:
    array = np.empty((len(rows), len(rows[0])), object)
    array[:] = rows
    return array
