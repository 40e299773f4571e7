"""How far a viewset can move anybody's odds: its amplification Lambda, the limits on it, and the verdict.

Lambda(V) = max over tuples and classes of X_c / X_d
          = max over c, d of (P_d / P_c)^(n-1) prod_i max_t N^i_{t,c} / N^i_{t,d}.

Floats only sort out what cannot be the maximum, within a proven bound; integers decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast._core.errors import expect
from nbcfast._core.products import product
from nbcfast._wire.messages import printable
from nbcfast.table.values import exact, exact_share, number_text
from nbcfast.views import Viewset
from nbcfast.views.integers import column_sums

__all__ = ["Amplification", "Report", "amplification", "at_most", "check", "limit"]

MOST_BITS = 20_000  # of numerator and denominator of a value that is written out
MOST_FACTOR_BITS = 1 << 20  # of all factors before they are reduced; beyond, a value is not even computed

ROUND_OFF = 2.0**-53
# A count as a double is within 2 ROUND_OFF of its mantissa (a long one is cut off), a quotient of two then
# within 5.1: everything less than the largest one by RATIO_ERROR twice cannot be the maximum.
RATIO_ERROR = 8 * ROUND_OFF
# Quotients of counts below this differ by more than a unit in the last place unless they are equal.
EXACT_QUOTIENTS = 1 << 26

Float = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Pair = tuple[Any, Any]


@dataclass(frozen=True, repr=False)
class Amplification:
    """Lambda of a viewset: the largest X_c / X_d over all tuples and pairs of classes with X_c > 0.

    Attributes
    ----------
    log : float
        Its natural logarithm, math.inf where it is infinite.
    value : Fraction or None
        Exactly; None where it is infinite or too long to write out (more than some 20,000 bits).
    infinite : bool
        Whether some tuple has X_c > 0 and X_d = 0.
    tuple : dict of name -> value
        A tuple that attains it.
    classes : tuple
        The labels c and d.
    """

    log: float
    value: Fraction | None
    infinite: bool
    tuple: dict[str, Any]
    classes: Pair

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the exact value as "num/den", in hexadecimal beyond 53 bits."""
        return {
            "log": self.log,
            "value": None if self.value is None else plain_ratio(self.value),
            "infinite": self.infinite,
            "tuple": dict(self.tuple),
            "classes": list(self.classes),
        }

    @property
    def text(self) -> str:
        """The value for people: exact where short, else a few digits."""
        return "infinite" if self.infinite else ratio_text(self.value, self.log)

    def __repr__(self) -> str:
        c, d = self.classes
        return f"Amplification({self.text}: {c!r} over {d!r} at {tuple_text(self.tuple)})"


@dataclass(frozen=True, repr=False)
class Report:
    """What `check` found.

    Attributes
    ----------
    safe : bool
        Whether Lambda is at most `allowed`.
    amplification : Amplification
        Lambda of the views.
    limit : Fraction
        The amplification that was asked for.
    allowed : Fraction
        The largest Lambda that keeps to it: the limit, or half of it for attacker="worlds".
    attacker : {"row", "worlds"}
    witness : dict of name -> value
        The tuple that attains Lambda.
    classes : tuple
        The two classes whose odds move that far there.
    condition10 : dict
        What the paper's condition (10) would have said: "safe"; the largest "ratio" of two class counts, or
        of two counts of one value, and "where" it is; "amplification", ratio^n, the least limit that passes;
        "log_reachable", the logarithm of what (10) lets through at this limit; and "why" it does not decide.
        "ratio" and "amplification" are None where they are infinite or too long.
    smallest_class : int
        Rows of the smallest class. The paper calls it k of k-SIND; it is a size and no guarantee.
    """

    safe: bool
    amplification: Amplification
    limit: Fraction
    allowed: Fraction
    attacker: str
    witness: dict[str, Any]
    classes: Pair
    condition10: dict[str, Any]
    smallest_class: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values; exact numbers as "num/den", in hexadecimal beyond 53 bits."""
        result: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        result["amplification"] = self.amplification.to_dict()
        result["limit"], result["allowed"] = plain_ratio(self.limit), plain_ratio(self.allowed)
        result["witness"], result["classes"] = dict(self.witness), list(self.classes)
        result["condition10"] = {
            key: plain_ratio(value) if isinstance(value, Fraction) else value
            for key, value in self.condition10.items()
        }
        return result

    def __repr__(self) -> str:
        sign = "<=" if self.safe else ">"
        c, d = self.classes
        allowed = ratio_text(self.allowed, math.inf)
        would = "safe" if self.condition10["safe"] else "unsafe"
        return (
            f"Report({'safe' if self.safe else 'unsafe'}, attacker {self.attacker!r}: amplification "
            f"{self.amplification.text} {sign} {allowed}, {c!r} over {d!r} at {tuple_text(self.witness)}; "
            f"condition (10) says {would}; smallest class {number_text(self.smallest_class)})"
        )


def amplification(views: Viewset) -> Amplification:
    """Lambda(V): the largest factor by which one class outweighs another at any tuple, exactly.

    For a realistic viewset no set of attribute values moves anybody's odds between two classes from even
    odds by more, whatever subset of attributes the attacker knows. Counts of values that a class does not
    have are no numerators; a zero under a positive score makes Lambda infinite. Takes time linear in the
    number of counts for a given number of classes.

    Parameters
    ----------
    views : Viewset
        Of any counts, realistic or not; a class without rows has X = 0.

    Returns
    -------
    Amplification
        Of several tuples that attain it, that of the first pair of classes and the first values.

    Raises
    ------
    ValueError
        If the views have no rows, or no tuple has a positive score in any class.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> amplification(Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]]))
    Amplification(7.6: 0 over 1 at A1=0, A2=0)
    """
    expect(views, Viewset, "views")
    return amplification_of(views)


def amplification_of(views: Viewset) -> Amplification:
    ratios = Ratios(views)
    found = ratios.infinite()
    if found is not None:
        c, d, rows = found
        return Amplification(math.inf, None, True, ratios.tuple_of(rows), ratios.labels(c, d))
    if ratios.n_classes == 1:
        rows = ratios.most_frequent(0)
        return Amplification(0.0, Fraction(1), False, ratios.tuple_of(rows), ratios.labels(0, 0))
    c, d, product = ratios.largest()
    value = product.value()
    log = product.log() if value is None else log_of(value)
    return Amplification(log, value, False, ratios.tuple_of(product.rows), ratios.labels(c, d))


def at_most(views: Viewset, limit: Any) -> bool:
    """Whether Lambda(V) <= limit, exactly.

    Faster than `amplification`, which has to find where Lambda is attained: an interval decides, and the
    exact product only where the limit lies in it.

    Parameters
    ----------
    views : Viewset
        As for `amplification`.
    limit : int, Fraction, str or float
        A float means its shortest decimal text.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> at_most(views, "7.6"), at_most(views, 4)
    (True, False)
    """
    expect(views, Viewset, "views")
    bound = Fraction(exact(limit, "limit"))
    ratios = Ratios(views)
    if ratios.infinite() is not None:
        return False
    if ratios.n_classes == 1:
        return bound >= 1
    return ratios.at_most(bound)


def limit(
    l1: Any, l2: Any, *, n_classes: int | None = None, rule: Literal["sharp", "paper"] = "sharp"
) -> Fraction:
    """The amplification that prevents an L1-to-L2 breach: a class set of probability at most L1 before the
    release and above L2 after it.

    Parameters
    ----------
    l1, l2 : int, Fraction, str or float
        0 < l1 < l2 < 1; a float means its shortest decimal text.
    n_classes : int, optional
        Needed by rule="paper" only, at least 2.
    rule : {"sharp", "paper"}
        "sharp": L2 (1 - L1) / (L1 (1 - L2)), right for every number of classes; Lambda may be equal to it.
        "paper": the supremum of formula (7), which Lambda has to stay below; it falls with the number of
        classes without need. Irrational, it is rounded down at 2^-64 and may then be used as it is.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        If not 0 < l1 < l2 < 1, or the number of classes is missing or below 2.

    Examples
    --------
    >>> limit(0.5, 0.8)
    Fraction(4, 1)
    >>> [round(float(limit(0.5, 0.8, n_classes=C, rule="paper")), 3) for C in (2, 3, 5, 10)]
    [4.0, 2.886, 2.41, 2.174]
    """
    low, high = Fraction(exact_share(l1, "l1")), Fraction(exact_share(l2, "l2"))
    if not 0 < low < high < 1:
        shown = " and ".join(number_text(exact(level, "level")) for level in (low, high))
        raise ValueError(f"l1 and l2 must be 0 < l1 < l2 < 1, got {shown}")
    if rule not in ("sharp", "paper"):
        raise ValueError(f"rule must be 'sharp' or 'paper', got {rule!r}")
    if n_classes is not None:
        if isinstance(n_classes, bool) or not isinstance(n_classes, (int, np.integer)):
            raise TypeError(f"n_classes must be an int, got {n_classes!r}")
        if n_classes < 2:
            raise ValueError(f"n_classes must be at least 2, got {n_classes}")
    odds = high * (1 - low) / (low * (1 - high))
    if rule == "sharp":
        return odds
    if n_classes is None:
        raise ValueError("rule='paper' needs n_classes: formula (7) depends on the number of classes")
    # The positive root of (C-1) x^2 + (1-g) x - g (C-1).
    others = int(n_classes) - 1
    square = (odds - 1) ** 2 + 4 * odds * others**2
    return (odds - 1 + root_below(square)) / (2 * others)


def check(views: Viewset, amplification: Any, attacker: Literal["row", "worlds"] = "row") -> Report:
    """Whether these views, published as they are, keep to an amplification.

    Parameters
    ----------
    views : Viewset
        Realistic: a table with these counts exists.
    amplification : int, Fraction, str or float
        The limit, above 1; see `limit` for the one that belongs to two breach levels.
    attacker : {"row", "worlds"}
        "row": the attacker knows attribute values of one row and reasons over all tables with these counts:
        Lambda <= limit is necessary and sufficient. "worlds": the paper's attacker, who averages over
        possible worlds the share of matching rows; his odds are within a factor of 2 of X_c / X_d,
        so Lambda <= limit / 2 is demanded, and the limit has to exceed 2.

    Returns
    -------
    Report
        With the paper's condition (10) beside it, which is neither necessary nor sufficient.

    Raises
    ------
    ValueError
        If the limit is not above 1 (2), or the views have no rows or are not realistic.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> report = check(views, 4)
    >>> report.safe, report.amplification.value, report.witness, report.classes
    (False, Fraction(38, 5), {'A1': 0, 'A2': 0}, (0, 1))
    >>> report.condition10["safe"], report.condition10["amplification"]
    (True, Fraction(4, 1))
    """
    expect(views, Viewset, "views")
    demanded = Fraction(exact(amplification, "amplification"))
    allowed = allowed_amplification(demanded, attacker)
    check_realistic(views)
    found = amplification_of(views)
    safe = not found.infinite and (found.value <= allowed if found.value else at_most(views, allowed))
    condition10 = _condition10(views, demanded)
    condition10["why"] = _why(condition10, demanded, attacker, len(views.attributes), safe, found)
    return Report(
        safe=safe,
        amplification=found,
        limit=demanded,
        allowed=allowed,
        attacker=attacker,
        witness=found.tuple,
        classes=found.classes,
        condition10=condition10,
        smallest_class=min(views.class_counts.tolist()),
    )


def allowed_amplification(demanded: Fraction, attacker: str) -> Fraction:
    """The largest Lambda that keeps this attacker to the limit demanded."""
    if attacker not in ("row", "worlds"):
        raise ValueError(f"attacker must be 'row' or 'worlds', got {attacker!r}")
    if demanded <= 1:
        raise ValueError(f"amplification must be above 1, got {ratio_text(demanded, math.nan)}")
    if attacker == "row":
        return demanded
    if demanded <= 2:
        raise ValueError(
            "amplification must be above 2 for attacker='worlds', whose odds can be twice X_c / X_d; "
            f"got {ratio_text(demanded, math.nan)}"
        )
    return demanded / 2


class _Product:
    """(P_d / P_c)^(n-1) prod_i N^i_c / N^i_d, kept as factors; `rows` are the values it is taken at."""

    def __init__(
        self, tops: list[int], bottoms: list[int], top: int, bottom: int, power: int, rows: Rows
    ) -> None:
        self.tops, self.bottoms = tops, bottoms
        self.top, self.bottom, self.power = top, bottom, power
        self.rows = rows
        self.bits = sum(map(int.bit_length, tops)) + sum(map(int.bit_length, bottoms))
        self.bits += power * (top.bit_length() + bottom.bit_length())

    def exactly(self) -> tuple[Any, Any]:
        """Numerator and denominator, not reduced."""
        return (
            product(self.tops) * gmpy2.mpz(self.top) ** self.power,
            product(self.bottoms) * gmpy2.mpz(self.bottom) ** self.power,
        )

    def approximately(self, precision: int) -> tuple[Any, Any]:
        """An mpfr number and a bound of its relative error."""
        with gmpy2.context(precision=precision):
            result = gmpy2.mpfr(1)
            for x, y in zip(self.tops, self.bottoms, strict=True):
                result *= gmpy2.mpfr(x) / gmpy2.mpfr(y)
            result *= (gmpy2.mpfr(self.top) / gmpy2.mpfr(self.bottom)) ** self.power
            # Four roundings a factor, three under the power and one of it.
            return result, gmpy2.mpfr(4 * len(self.tops) + 4 * self.power + 4) * gmpy2.exp2(1 - precision)

    def value(self) -> Fraction | None:
        if self.bits > MOST_FACTOR_BITS:
            return None
        top, bottom = self.exactly()
        common = gmpy2.gcd(top, bottom)
        top, bottom = top // common, bottom // common
        if top.bit_length() + bottom.bit_length() > MOST_BITS:
            return None
        return Fraction(int(top), int(bottom))

    def log(self) -> float:
        number, _ = self.approximately(192)
        with gmpy2.context(precision=192):
            return max(0.0, float(gmpy2.log(number)))

    def compare(self, top: Any, bottom: Any, other: _Product | None = None) -> int:
        """-1, 0 or 1 as this is below, at or above top / bottom times the other product."""
        size = self.bits + (0 if other is None else other.bits)
        precision = 128
        while precision <= min(size // 8, 8192):  # beyond that the exact product costs little more
            mine, error = self.approximately(precision)
            theirs, more = (1, 0) if other is None else other.approximately(precision)
            with gmpy2.context(precision=precision):
                theirs = theirs * (gmpy2.mpfr(top) / gmpy2.mpfr(bottom))
                room = 2 * (error + more + gmpy2.exp2(4 - precision)) * theirs
                if abs(mine - theirs) > room:
                    return 1 if mine > theirs else -1
            precision *= 8
        a, b = self.exactly()
        x, y = (1, 1) if other is None else other.exactly()
        left, right = a * bottom * y, b * top * x
        return int(left > right) - int(left < right)


class Ratios:
    """The counts of all attributes in one array, with what is needed for ratios of two of its columns."""

    def __init__(self, views: Viewset) -> None:
        self.views = views
        self.n_classes = len(views.classes)
        self.of_class: list[int] = views.class_counts.tolist()
        if not any(self.of_class):
            raise ValueError("views: no rows")
        arrays = list(views.counts.values())
        self.n = len(arrays)
        sizes = [len(array) for array in arrays]
        self.starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self.attribute = np.repeat(np.arange(self.n), sizes)
        self.counts = np.concatenate(arrays) if arrays else np.zeros((0, self.n_classes), np.int64)
        self.mantissas, self.exponents = _split(self.counts)
        positive = self.mantissas > 0
        self.positive = None if bool(positive.all()) else positive
        # A class can be a numerator where each attribute has a value that some of its rows have.
        supported = np.array([p > 0 and 0 not in sizes for p in self.of_class])
        if self.positive is not None and 0 not in sizes:
            supported = supported & np.logical_or.reduceat(positive, self.starts, axis=0).all(axis=0)
        self.supported: npt.NDArray[np.bool_] = supported
        if not supported.any():
            raise ValueError(
                "views: no tuple has a positive score in any class, so there are no odds to compare"
            )

    def labels(self, c: int, d: int) -> Pair:
        return self.views.classes[c], self.views.classes[d]

    def tuple_of(self, rows: Rows) -> dict[str, Any]:
        """The values at these rows, one of each attribute."""
        places = (rows - self.starts).tolist()
        return {
            name: self.views.domain(name)[place]
            for name, place in zip(self.views.attributes, places, strict=True)
        }

    def most_frequent(self, c: int) -> Rows:
        """For each attribute the first value with the most rows of the class; nearly so for huge counts."""
        if not self.n:
            return self.starts
        values = self.mantissas[:, c]
        if self.exponents is not None:
            values = np.where(values > 0, np.log2(np.maximum(values, 1)) + self.exponents[:, c] + 1, 0)
        best = np.maximum.reduceat(values, self.starts)
        return self._first(np.flatnonzero(values == best[self.attribute]))

    def infinite(self) -> tuple[int, int, Rows] | None:
        """Classes c and d, and a tuple with X_c > 0 = X_d; None where there is none."""
        empty = [d for d in range(self.n_classes) if self.of_class[d] == 0]
        if self.positive is None and not empty:
            return None
        for c in np.flatnonzero(self.supported).tolist():
            mine = None if self.positive is None else self.positive[self.positive[:, c]]
            lacking: npt.NDArray[np.bool_] = np.zeros(self.n_classes, bool)
            if mine is not None:
                lacking |= ~mine.all(axis=0)
            lacking[empty] = True
            if not lacking.any():
                continue
            d = int(np.argmax(lacking))
            rows = self.most_frequent(c).copy()
            if self.of_class[d] and self.positive is not None:
                row = int(np.argmax(self.positive[:, c] & ~self.positive[:, d]))
                rows[self.attribute[row]] = row
            return c, d, rows
        return None

    def _first(self, rows: Rows) -> Rows:
        """The first of these rows of each attribute."""
        result: Rows = rows[np.unique(self.attribute[rows], return_index=True)[1]]
        return result

    def largest_quotients(self, d: int) -> tuple[Float, Rows | None]:
        """For each attribute and class c the largest N_c / N_d: mantissa and exponent, within RATIO_ERROR."""
        quotients, exponents = self._quotients(slice(None), d)
        if exponents is None:
            return np.maximum.reduceat(quotients, self.starts, axis=0), None
        best = np.maximum.reduceat(exponents, self.starts, axis=0)
        quotients[exponents < best[self.attribute]] = 0
        return np.maximum.reduceat(quotients, self.starts, axis=0), best

    def _quotients(self, c: Any, d: int) -> tuple[Any, Any]:
        # Not infinite: where the lower count is 0 the upper one is, or its class is no numerator.
        below = self.mantissas[:, d]
        below = np.where(below > 0, below, 1.0) if self.positive is not None else below
        shaped = below[:, np.newaxis] if isinstance(c, slice) else below
        quotients = self.mantissas[:, c] / shaped
        if self.exponents is None:
            return quotients, None
        exponents = self.exponents[:, d]
        exponents = self.exponents[:, c] - (exponents[:, np.newaxis] if isinstance(c, slice) else exponents)
        mantissas, shifts = np.frexp(quotients)
        exponents = np.where(mantissas > 0, exponents + shifts, np.iinfo(np.int64).min // 4)
        return mantissas, exponents

    def all_pairs(self) -> tuple[Float, Rows, float]:
        """(P_d / P_c)^(n-1) prod_i max_t N_c / N_d of every c and d: mantissas, exponents, relative error.

        The mantissa is 0 where c and d are the same or c is no numerator.
        """
        size = self.n_classes
        mantissas = np.zeros((size, size))
        exponents = np.zeros((size, size), np.int64)
        if self.n:
            for d in range(size):
                mantissas[:, d], exponents[:, d] = _product(*self.largest_quotients(d))
        else:
            mantissas[:] = 1.0
        own, own_exponents = _split(np.array(self.of_class, dtype=object))
        quotients, shifts = np.frexp(own / np.maximum(own, 1)[:, np.newaxis])  # [c, d] is P_d / P_c
        moved = shifts.astype(np.int64)
        if own_exponents is not None:
            moved += own_exponents - own_exponents[:, np.newaxis]
        if self.n == 0:
            quotients, moved = quotients.T, moved.T
        power, powers = max(self.n - 1, 1 if self.n == 0 else 0), (mantissas, exponents)
        while power:  # square and multiply
            if power & 1:
                powers = _times(*powers, quotients, moved)
            power >>= 1
            quotients, moved = _times(quotients, moved, quotients, moved)
        mantissas, exponents = powers
        mantissas[~self.supported] = 0
        mantissas[np.arange(size), np.arange(size)] = 0
        # A quotient is within RATIO_ERROR = 8, one rounding a factor; the same for the n - 1 of the power,
        # whose squarings add up to less than two roundings a factor.
        return mantissas, exponents, 24 * (self.n + 2) * ROUND_OFF

    def largest(self) -> tuple[int, int, _Product]:
        """The pair of classes with the largest product, the first of equal ones."""
        mantissas, exponents, error = self.all_pairs()
        exponents = np.where(mantissas > 0, exponents, np.iinfo(np.int64).min // 4)
        top = exponents.max()
        highest = float(mantissas[exponents == top].max())
        # Mantissas lie in [1/2, 1): one power of two down may still be within the error.
        scaled = np.where(exponents >= top - 1, np.ldexp(mantissas, np.maximum(exponents - top, -1)), 0)
        candidates = np.argwhere(scaled >= highest * (1 - 3 * error)).tolist()
        c, d = candidates[0]
        best = self.product(c, d)
        for e, f in candidates[1:]:
            other = self.product(e, f)
            if other.compare(1, 1, best) > 0:
                c, d, best = e, f, other
        return c, d, best

    def at_most(self, bound: Fraction) -> bool:
        mantissas, exponents, error = self.all_pairs()
        present = mantissas > 0
        if bound <= 0:
            return False
        # The bound as mantissa and exponent, like the products; its own error is that of a quotient.
        mantissa, exponent = _split_fraction(bound)
        shift = np.clip(exponents - exponent, -4, 4)
        scaled = np.where(present, np.ldexp(mantissas, shift), 0.0)
        if (scaled > mantissa * (1 + 2 * error)).any():
            return False
        undecided = np.argwhere(scaled >= mantissa * (1 - 2 * error)).tolist()
        return all(self.product(c, d).compare(bound.numerator, bound.denominator) <= 0 for c, d in undecided)

    def product(self, c: int, d: int) -> _Product:
        rows = self.largest_rows(c, d)
        if self.n == 0:
            return _Product([], [], self.of_class[c], self.of_class[d], 1, rows)
        tops, bottoms = self.counts[rows, c].tolist(), self.counts[rows, d].tolist()
        return _Product(tops, bottoms, self.of_class[d], self.of_class[c], self.n - 1, rows)

    def largest_rows(self, c: int, d: int) -> Rows:
        """For each attribute the first value with the largest N_c / N_d, exactly."""
        if not self.n:
            return self.starts
        quotients, exponents = self._quotients(c, d)
        if exponents is not None:
            best_exponents = np.maximum.reduceat(exponents, self.starts)[self.attribute]
            quotients = np.where(
                exponents >= best_exponents - 1,
                np.ldexp(quotients, np.maximum(exponents - best_exponents, -1)),
                0.0,
            )
        best = np.maximum.reduceat(quotients, self.starts)[self.attribute]
        if exponents is None and int(self.counts[:, [c, d]].max()) < EXACT_QUOTIENTS:
            return self._first(np.flatnonzero(quotients == best))
        rows = np.flatnonzero(quotients >= best * (1 - 2 * RATIO_ERROR))
        first = self._first(rows)
        if len(rows) == self.n:
            return first
        # What is the same fraction as the first candidate is no rival.
        tops, bottoms = self.counts[rows, c], self.counts[rows, d]
        if exponents is None:
            common = np.gcd(tops, bottoms)
            leader = np.searchsorted(rows, first)[self.attribute[rows]]
            reduced_tops, reduced_bottoms = tops // common, bottoms // common
            rival = (reduced_tops != reduced_tops[leader]) | (reduced_bottoms != reduced_bottoms[leader])
            rows, tops, bottoms = rows[rival], tops[rival], bottoms[rival]
        result = first.tolist()
        highest = list(zip(self.counts[first, c].tolist(), self.counts[first, d].tolist(), strict=True))
        for row, x, y in zip(rows.tolist(), tops.tolist(), bottoms.tolist(), strict=True):
            i = self.attribute[row]
            a, b = highest[i]
            if x * b > a * y:
                highest[i], result[i] = (x, y), row
        return np.array(result, np.int64)


def _split(counts: Any) -> tuple[Float, Rows | None]:
    """Counts as mantissa * 2^exponent; without exponents where doubles are wide enough."""
    if counts.dtype.kind != "O":
        return counts.astype(np.float64), None
    flat = counts.ravel().tolist()
    longest = max((number.bit_length() for number in flat), default=0)
    if longest <= 400:  # a quotient neither overflows nor falls below the normal doubles
        return np.array([float(number) for number in flat]).reshape(counts.shape), None
    shifts = [max(number.bit_length() - 53, 0) for number in flat]
    mantissas = [float(number >> shift) for number, shift in zip(flat, shifts, strict=True)]
    return np.array(mantissas).reshape(counts.shape), np.array(shifts, np.int64).reshape(counts.shape)


def _split_fraction(number: Fraction) -> tuple[float, int]:
    """A positive fraction as mantissa in [1/2, 1] and exponent, within two roundings."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    scaled = number / Fraction(2) ** exponent  # in (1/2, 2)
    mantissa, shift = math.frexp(float(scaled))
    return mantissa, exponent + shift


def _product(mantissas: Float, exponents: Rows | None) -> tuple[Float, Rows]:
    """The product down the columns; mantissas return to [1/2, 1) before so many that they could underflow."""
    mantissas, shifts = np.frexp(mantissas)
    total = shifts.sum(axis=0, dtype=np.int64)
    if exponents is not None:
        total += exponents.sum(axis=0)
    while len(mantissas) > 1:
        mantissas = np.multiply.reduceat(mantissas, np.arange(0, len(mantissas), 512), axis=0)
        mantissas, shifts = np.frexp(mantissas)
        total += shifts.sum(axis=0, dtype=np.int64)
    return mantissas[0], total


def _times(a: Float, a_exponents: Rows, b: Float, b_exponents: Rows) -> tuple[Float, Rows]:
    mantissas, shifts = np.frexp(a * b)
    return mantissas, a_exponents + b_exponents + shifts


def log_of(value: Fraction) -> float:
    """The logarithm of a positive fraction, accurate near 1 too."""
    top, bottom = gmpy2.mpz(value.numerator), gmpy2.mpz(value.denominator)
    with gmpy2.context(precision=192):
        if bottom < 2 * top < 4 * bottom:
            return float(gmpy2.log1p(gmpy2.mpfr(top - bottom) / bottom))
        return float(gmpy2.log(top) - gmpy2.log(bottom))


def root_below(square: Fraction) -> Fraction:
    """The root, exactly where it is rational, else its largest multiple of 2^-64 below."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt((square.numerator << 128) // square.denominator), 1 << 64)


def check_realistic(views: Viewset) -> None:
    expected = views.class_counts.tolist()
    if not any(expected):
        raise ValueError("views: no rows")
    for name, array in views.counts.items():
        sums = column_sums(array) if len(array) else [0] * len(expected)
        for label, mine, total in zip(views.classes, sums, expected, strict=True):
            if mine != total:
                raise ValueError(
                    f"views must be realistic: the counts of attribute {name!r} add up to {mine} in class "
                    f"{label!r}, which has {total} rows"
                )


def _condition10(views: Viewset, demanded: Fraction) -> dict[str, Any]:
    """Condition (10) of the paper: all ratios of class counts and of counts of a value <= limit^(1/n)."""
    n = max(len(views.attributes), 1)
    ratio, where = _largest_ratio(views)
    reachable = (2 - 1 / n) * log_of(demanded)
    result: dict[str, Any] = {"safe": False, "ratio": ratio, "amplification": None, "where": where}
    if ratio is not None:
        power = _Product([], [], ratio.numerator, ratio.denominator, n, np.zeros(0, np.int64))
        result["safe"] = power.compare(demanded.numerator, demanded.denominator) <= 0
        result["amplification"] = power.value()
    return {**result, "log_reachable": reachable}


def _largest_ratio(views: Viewset) -> tuple[Fraction | None, dict[str, Any]]:
    """The largest ratio of two class counts, or of two counts of one value, and where; None if infinite."""
    labels, of_class = views.classes, views.class_counts.tolist()

    def place(name: str | None, value: Any, c: int, d: int) -> dict[str, Any]:
        return {"attribute": name, "value": value, "classes": [labels[c], labels[d]]}

    c, d = of_class.index(max(of_class)), of_class.index(min(of_class))
    where = place(None, None, c, d)
    if of_class[d] == 0:
        return None, where
    best = Fraction(of_class[c], of_class[d])
    if len(labels) == 1:
        return best, where
    for name, array in views.counts.items():
        # Within a row the largest ratio is that of its extremes.
        high, low = array.max(axis=1), array.min(axis=1)
        used = np.flatnonzero(high > 0)
        if not len(used):
            continue
        high, low = high[used], low[used]
        if (low == 0).any():
            row = int(used[np.argmax(low == 0)])
            counts = array[row].tolist()
            return None, place(
                name, views.domain(name)[row], counts.index(max(counts)), counts.index(min(counts))
            )
        sides = zip(high.tolist(), low.tolist(), strict=True)
        if array.dtype.kind == "O":
            quotients = [Fraction(x, y) for x, y in sides]
            first = quotients.index(max(quotients))
        else:
            # Of quotients that agree to the error of a double the exact one decides.
            floats = high / low
            near = np.flatnonzero(floats >= floats.max() * (1 - RATIO_ERROR))
            first, x, y = int(near[0]), int(high[near[0]]), int(low[near[0]])
            if len(near) > 1 and int(high.max()) >= EXACT_QUOTIENTS:
                for other, a, b in zip(near.tolist(), high[near].tolist(), low[near].tolist(), strict=True):
                    if a * y > x * b:
                        first, x, y = other, a, b
            else:
                first = int(np.argmax(floats))
        if Fraction(int(high[first]), int(low[first])) > best:
            row = int(used[first])
            counts = array[row].tolist()
            best = Fraction(max(counts), min(counts))
            where = place(name, views.domain(name)[row], counts.index(max(counts)), counts.index(min(counts)))
    return best, where


def _why(
    condition10: dict[str, Any], demanded: Fraction, attacker: str, n: int, safe: bool, found: Amplification
) -> str:
    """Why condition (10) does not decide."""
    shown = ratio_text(demanded, math.inf)
    verdict = "passes" if condition10["safe"] else "refuses"
    if n <= 1:
        reason = "with at most one attribute no class count is left in X and (10) bounds the odds themselves"
    else:
        reached = ratio_text(None, condition10["log_reachable"])
        reason = (
            f"(10) bounds each ratio of counts by {shown}^(1/{n}), but X_c = P_c^(1-n) prod N holds the "
            f"class count n - 1 times more, so together they may move the odds by up to "
            f"{shown}^(2 - 1/{n}) = {reached}"
        )
    if attacker == "worlds":
        reason += "; averaged over worlds the odds can be up to twice X_c / X_d on small tables"
    outcome = f"(10) {verdict} these views at {shown}, where the odds move by {found.text}"
    if condition10["safe"] == safe:
        return f"{outcome}; {reason}"
    if safe:
        return f"{outcome}; it looks at each ratio apart, and only their product counts; {reason}"
    return f"{outcome}: a breach that it does not see; {reason}"


def plain_ratio(number: Fraction) -> str:
    return "/".join(
        str(part) if abs(part) <= 1 << 53 else hex(part) for part in (number.numerator, number.denominator)
    )


def ratio_text(number: Fraction | None, log: float) -> str:
    """Exact decimal text where it is short, else six digits, also beyond the range of doubles."""
    if number is not None and number <= 0:
        return number_text(number.numerator if number.denominator == 1 else number)
    if number is not None and number.numerator.bit_length() + number.denominator.bit_length() <= 60:
        text = number_text(number.numerator if number.denominator == 1 else number)
        return text if len(text) <= 12 else f"{float(number):.6g}"
    if number is not None:
        log = log_of(number)
    if log < 700:
        return f"{math.exp(log):.6g}"
    exponent = math.floor(log / math.log(10))
    mantissa = f"{math.exp(log - exponent * math.log(10)):.3f}"
    return f"{mantissa}e+{exponent}" if mantissa != "10.000" else f"1.000e+{exponent + 1}"


def tuple_text(values: dict[str, Any]) -> str:
    shown = [f"{printable(name)}={value!r}" for name, value in list(values.items())[:8]]
    if len(values) > len(shown):
        shown.append(f".. {len(values)} in all")
    return ", ".join(shown) or "the empty tuple"
