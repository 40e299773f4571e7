"""How many worlds a complete bipartite graph has, and how many of them hold one edge.

m identities and n values share a join value. A world is a set of edges (who has what) that leaves nobody and
nothing out. Wang and Lakshmanan, WPES 2006, section 5; the series for huge sizes is ours. The proofs:
docs/mathematics/associations.md, sections 1 (#associations-1) and 3 (#associations-3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count
from math import prod
from typing import Literal, TypeGuard, TypeVar, get_args, overload

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Floats, Longs, Numbers
from nbcfast._core.threads import Progress
from nbcfast._core.untyped import Exact
from nbcfast._core.validation import callable_or_none

WorldModel = Literal["unrestricted", "restricted"]
Sizes = tuple[int, ...]  # tuples of each view at a join value: identities, values, the third view, ..
Bounds = tuple[Exact, Exact]  # of a probability; equal where it is exact

Tell = Callable[[], object]

Count = TypeVar("Count")

SMALL = 64  # beyond, the first term of the series is exact to 2^-59
PACKED_BITS = 40_000  # of a power, from which its digits are packed where they overlap so often at most:
PACKED_DIGITS = 8
MOST_BITS = 10**8  # of a number of worlds: 12 MB
FIRST_BITS = 128  # to which a probability is enclosed where a float does not decide
LAST_BITS = 1 << 14
EXACT_BITS = 1 << 22  # a product of probabilities is worked out exactly up to here
NEAR = "threshold: a probability agrees with it to {} bits; choose a shorter number"
MOST_EXPONENT = 1022  # 1 over a power beyond loses digits as a float
MARGIN = 1e-12  # floats that are so far from a threshold decide


class TooLargeError(ValueError):
    """More than can be worked out: worlds that are too many, or numbers that are too large."""


@overload
def covers(
    m: int, n: int, *, model: WorldModel = "unrestricted", progress: Progress | None = None
) -> int: ...
@overload
def covers(
    m: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    model: WorldModel = "unrestricted",
    progress: Progress | None = None,
) -> int | Numbers: ...
def covers(
    m: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    model: WorldModel = "unrestricted",
    progress: Progress | None = None,
) -> int | Numbers:
    """How many worlds m identities and n values have: the edge covers of a complete bipartite graph.

    Unrestricted, sum_j (-1)^j C(n,j) (2^(n-j) - 1)^m. Restricted, one given identity has a single value:
    n times `interesting_covers`.

    Parameters
    ----------
    m, n : int or array_like of int
        At least 0; m n at most 10^8. Arrays broadcast.
    model : {"unrestricted", "restricted"}
        Whether an identity may have several values, or one given identity has a single one.
    progress : callable, optional
        Called as progress(done, total), with numbers of terms: 3,000 of either take seconds.

    Returns
    -------
    int, or ndarray of int objects

    Examples
    --------
    >>> covers(2, 2), covers(3, 3)
    (7, 265)
    >>> covers(3, 3, model="restricted")
    96
    """
    one = _unrestricted if check_model(model) == "unrestricted" else _restricted
    tell = _teller(progress, one, m, n, 0)
    return _each(lambda m, n: int(one(m, n, tell)), m, n, 0)


@overload
def interesting_covers(
    m: int, n: int, *, model: WorldModel = "unrestricted", progress: Progress | None = None
) -> int: ...
@overload
def interesting_covers(
    m: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    model: WorldModel = "unrestricted",
    progress: Progress | None = None,
) -> int | Numbers: ...
def interesting_covers(
    m: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    model: WorldModel = "unrestricted",
    progress: Progress | None = None,
) -> int | Numbers:
    """How many of the worlds of m identities and n values hold one given edge.

    Unrestricted, sum_b (-1)^b C(n-1,b) 2^(n-b-1) (2^(n-b) - 1)^(m-1) (lemma 5.2). Restricted, the identity
    of that edge has no other one: U(m-1,n) + U(m-1,n-1) (lemma 5.4, in which the parts must be read as m on
    the side of the identity).

    Parameters
    ----------
    m, n : int or array_like of int
        At least 1.
    model : {"unrestricted", "restricted"}
        Whether an identity may have several values, or one given identity has a single one.
    progress : callable, optional
        Called as progress(done, total), with numbers of terms: 3,000 of either take seconds.

    Returns
    -------
    int, or ndarray of int objects

    Examples
    --------
    >>> interesting_covers(2, 2), interesting_covers(3, 3)
    (5, 161)
    >>> interesting_covers(2, 3, model="restricted"), interesting_covers(3, 2, model="restricted")
    (2, 8)
    """
    one = _interesting if check_model(model) == "unrestricted" else _one_value
    tell = _teller(progress, one, m, n, 1)
    return _each(lambda m, n: int(one(m, n, tell)), m, n, 1)


@overload
def probability(
    m: int, n: int, *, model: WorldModel = "unrestricted", exact: Literal[False] = False
) -> float | None: ...
@overload
def probability(
    m: int, n: int, *, model: WorldModel = "unrestricted", exact: Literal[True]
) -> Fraction | None: ...
@overload
def probability(
    m: npt.ArrayLike, n: npt.ArrayLike, *, model: WorldModel = "unrestricted", exact: bool = False
) -> float | Fraction | Array | None: ...
def probability(
    m: npt.ArrayLike, n: npt.ArrayLike, *, model: WorldModel = "unrestricted", exact: bool = False
) -> float | Fraction | Array | None:
    """How likely an identity has a value where m identities and n values share a join value.

    Parameters
    ----------
    m, n : int or array_like of int
        Identities and values, at least 1. Arrays broadcast.
    model : {"unrestricted", "restricted"}
        Whether an identity may have several values, or the one in question is known to have a single one.
    exact : bool
        A Fraction, in big integers; m n at most 10^8.

    Returns
    -------
    float or Fraction, or an ndarray of them
        Floats have a relative error of at most 1e-15. Restricted, with m = 1 < n, there is no world: None,
        NaN in an array of floats.

    Notes
    -----
    The unrestricted probability never falls to 1/2, however many share the join value: an edge is in about
    half of the worlds, and leaving nobody out makes that a little more. It measures whether an association
    is known, not how well it hides. The restricted one, 1/n, measures hiding.

    Where max(m, n) > 64 only the first term of the series counts: with s = min(m, n), t = max(m, n) and
    q = 2^(s-1)/(2^s - 1), ``|P/q - 1|`` <= s 2^-t / (1 - s 2^-t) < 2^-58. Below, the exact quotient is
    rounded.

    Examples
    --------
    >>> probability(3, 3), probability(3, 3, exact=True)
    (0.6075471698113207, Fraction(161, 265))
    >>> probability(10**9, 10**9), probability(10**9, 10**9, model="restricted")
    (0.5, 1e-09)
    >>> probability(1, 2, model="restricted") is None
    True
    >>> probability([1, 2, 2], [1, 2, 10**9])
    array([1.        , 0.71428571, 0.66666667])
    """
    restricted = check_model(model) == "restricted"
    if exact:
        return _each(single_value if restricted else exact_probability, m, n, 1)
    if _is_int(m) and _is_int(n):
        pair = _checked(m, "m", 1), _checked(n, "n", 1)
        if not restricted:
            return float_probability(*pair)
        share = single_value(*pair)
        if pair[1] >> MOST_EXPONENT:
            raise ValueError(f"n must be below 2^{MOST_EXPONENT}, as no float is 1/n; or ask for exact=True")
        return None if share is None else float(share)
    both = _together(m, n, 1)
    return (single_values if restricted else probabilities)(*both)


def check_model(model: WorldModel) -> WorldModel:
    """Refuse any other word."""
    if model not in get_args(WorldModel):
        raise ValueError(f"model must be 'unrestricted' or 'restricted', got {model!r}")
    return model


def float_probability(m: int, n: int) -> float:
    """The unrestricted probability, off by at most 1e-15 of itself."""
    s, t = min(m, n), max(m, n)
    return _small_probability(s, t) if t <= SMALL else float(_first(s))


def probabilities(m: Longs, n: Longs) -> Floats:
    """The unrestricted probability of each pair of sizes."""
    small, large = np.minimum(m, n), np.maximum(m, n)
    # 2^(s-1)/(2^s - 1): 1 - 2^-s is exact up to s = 53 and 1 beyond, so only the division rounds.
    floats: Floats = 0.5 / (1 - np.ldexp(1.0, -np.minimum(small, 2 * SMALL).astype(np.int32)))
    near = large <= SMALL
    if near.any():
        keys, places = np.unique(small[near] * (SMALL + 1) + large[near], return_inverse=True)
        exact = [_small_probability(*divmod(key, SMALL + 1)) for key in keys.tolist()]
        floats[near] = np.array(exact)[places]
    return floats


def single_values(m: Longs, n: Longs) -> Floats:
    """The restricted probability of each pair of sizes; NaN without a world."""
    shares: Floats = np.where((m == 1) & (n > 1), np.nan, 1 / n)
    return shares


def single_value(m: int, n: int) -> Fraction | None:
    """The restricted probability; None without a world."""
    return None if m == 1 < n else Fraction(1, n)


def exact_probability(m: int, n: int) -> Fraction:
    """The unrestricted probability, in big integers."""
    return fraction(gmpy2.mpq(_interesting(m, n), _unrestricted(m, n)))


def fraction(quotient: Exact) -> Fraction:
    """A gmpy2 quotient as one of the standard library."""
    return Fraction(int(quotient.numerator), int(quotient.denominator))


def enclosed(m: int, n: int, bits: int) -> Bounds:
    """Bounds (mpq) of the unrestricted probability, 2^-bits apart at most, equal where they are exact.

    The probability is never the lower one of two different bounds: it falls strictly towards the first term
    of its series (its second term is positive and outweighs the rest for t > 64).
    """
    s, t = min(m, n), max(m, n)
    if s == 1:
        return gmpy2.mpq(1), gmpy2.mpq(1)
    if t <= max(bits + s.bit_length() + 2, SMALL):
        quotient = gmpy2.mpq(_interesting(s, t), _unrestricted(s, t))
        return quotient, quotient
    tiny = gmpy2.mpq(1, gmpy2.mpz(1) << bits)
    if s > bits:
        return gmpy2.mpq(1, 2), gmpy2.mpq(1, 2) + tiny
    power = gmpy2.mpz(1) << s
    first = gmpy2.mpq(power >> 1, power - 1)
    return first, first + tiny


def exceeds(sizes: Sequence[tuple[int, ...]], threshold: Fraction, enclose: Callable[..., Bounds]) -> bool:
    """Whether 1 - prod(1 - P(sizes)) > threshold, over join values, decided exactly.

    `enclose(*sizes, bits)` gives bounds of P as `enclosed` does: never equal to the lower of two.
    """
    if any(1 in of_join[:2] for of_join in sizes):
        return threshold < 1
    # That all is covered only makes a cell likelier (Harris' inequality, which is strict here): 1 - P is
    # below 1/2 for each cell that the two share (docs/mathematics/associations.md, #associations-4).
    cells = sum(prod(of_join[2:]) for of_join in sizes)
    if threshold < 1 and _halves(1 - threshold) <= cells:
        return True
    doubt = gmpy2.mpq(1 - threshold)
    bits = FIRST_BITS
    while True:
        most = least = gmpy2.mpq(1)
        exact = True
        for of_join in sizes:
            try:
                low, high = enclose(*of_join, bits)
            except TooLargeError as error:
                if bits == FIRST_BITS:
                    raise
                raise ValueError(NEAR.format(bits // 4)) from error
            most, least = most * (1 - low), least * (1 - high)
            exact &= low == high
        if exact:
            return bool(most < doubt)
        if most <= doubt:
            return True
        if least >= doubt:
            return False
        if bits >= LAST_BITS and sum(map(prod, sizes)) > EXACT_BITS:
            raise ValueError(NEAR.format(bits))
        bits *= 4


def _halves(rest: Fraction) -> int:
    """The least k such that 2^-k <= rest."""
    k = max(rest.denominator.bit_length() - rest.numerator.bit_length(), 0)
    return k if rest.numerator << k >= rest.denominator else k + 1


@lru_cache(maxsize=(SMALL + 1) ** 2)
def _small_probability(s: int, t: int) -> float:
    return float(gmpy2.mpq(_interesting(s, t), _unrestricted(s, t)))


def _first(s: int) -> float:
    return 0.5 / (1 - 2.0 ** -min(s, 2 * SMALL))


def _silent() -> None:
    """Tells nobody."""


def _unrestricted(m: int, n: int, tell: Tell = _silent) -> Exact:
    """U(m,n), summed over the smaller side."""
    s, t = _sides(m, n)
    if s == 0:
        return gmpy2.mpz(t == 0)
    total, binomial = gmpy2.mpz(0), gmpy2.mpz(1)
    power = _powers(s, t)
    for j in range(s):
        term = binomial * power(s - j)
        total = total - term if j & 1 else total + term
        binomial = binomial * (s - j) // (j + 1)
        tell()
    return total


def _interesting(m: int, n: int, tell: Tell = _silent) -> Exact:
    s, t = _sides(m, n)
    total, binomial = gmpy2.mpz(0), gmpy2.mpz(1)
    power = _powers(s, t - 1)
    for b in range(s):
        term = (power(s - b) << (s - b - 1)) * binomial
        total = total - term if b & 1 else total + term
        binomial = binomial * (s - 1 - b) // (b + 1)
        tell()
    return total


def _powers(s: int, t: int) -> Callable[[int], Exact]:
    """From k to (2^k - 1)^t, for k up to s.

    The digits of that to the base 2^k are the binomials of t, so large ones are written down instead of
    multiplied: every r-th binomial, each in r k bits, and the r numbers that makes added up.
    """
    if s * t < PACKED_BITS:
        return lambda k: ((gmpy2.mpz(1) << k) - 1) ** t
    binomials = [gmpy2.bincoef(t, i) for i in range(t + 1)] if t <= PACKED_DIGITS * s else []

    def power(k: int) -> Exact:
        if k * PACKED_DIGITS < t or not binomials:
            return ((gmpy2.mpz(1) << k) - 1) ** t
        step = 2 * -(-t // (2 * k))  # even: one sign a number
        signed = [gmpy2.pack(binomials[first::step], k * step) << (k * first) for first in range(step)]
        return sum(signed[t % 2 :: 2]) - sum(signed[1 - t % 2 :: 2])

    return power


def _one_value(m: int, n: int, tell: Tell = _silent) -> Exact:
    return _unrestricted(m - 1, n, tell) + _unrestricted(m - 1, n - 1, tell)


def _restricted(m: int, n: int, tell: Tell = _silent) -> Exact:
    return n * _one_value(m, n, tell) if m and n else gmpy2.mpz(m == n == 0)


def _terms_of_two(m: int, n: int) -> int:
    """How many terms the two sums of `_one_value` have."""
    return min(m - 1, n) + min(m - 1, n - 1) if m and n else 0


def _teller(
    progress: Progress | None, one: Callable[..., Exact], m: npt.ArrayLike, n: npt.ArrayLike, least: int
) -> Tell:
    """What is called after every term, and tells how many of all there are."""
    callable_or_none(progress)
    if progress is None:
        return _silent
    if _is_int(m) and _is_int(n):
        pairs = {(_checked(m, "m", least), _checked(n, "n", least))}
    else:
        pairs = set(zip(*(sizes.ravel().tolist() for sizes in _together(m, n, least)), strict=True))
    terms = _terms_of_two if one in (_restricted, _one_value) else min
    total = sum(terms(*pair) for pair in pairs)
    done = count(1)
    return lambda: progress(next(done), total)


def _sides(m: int, n: int) -> tuple[int, int]:
    if m * n > MOST_BITS:
        raise ValueError(f"m n must be at most {MOST_BITS} for exact numbers, got {m} x {n}")
    return min(m, n), max(m, n)


def _is_int(number: object) -> TypeGuard[int]:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _checked(number: int, where: str, least: int) -> int:
    if number < least:
        raise ValueError(f"{where} must be at least {least}, got {number}")
    return int(number)


def _each(
    one: Callable[[int, int], Count], m: npt.ArrayLike, n: npt.ArrayLike, least: int
) -> Count | Numbers:
    """one(m, n) of ints, or an array of objects of each pair."""
    if _is_int(m) and _is_int(n):
        return one(_checked(m, "m", least), _checked(n, "n", least))
    both = _together(m, n, least)
    counts: dict[tuple[int, int], Count] = {}
    listed = np.empty(both[0].size, object)
    for place, pair in enumerate(zip(both[0].ravel().tolist(), both[1].ravel().tolist(), strict=True)):
        if pair not in counts:
            counts[pair] = one(*pair)
        listed[place] = counts[pair]
    return listed.reshape(both[0].shape)


def _together(m: npt.ArrayLike, n: npt.ArrayLike, least: int) -> list[Longs]:
    both = _as_sizes(m, "m", least), _as_sizes(n, "n", least)
    try:
        return list(np.broadcast_arrays(*both))
    except ValueError:
        shapes = " and ".join(str(sizes.shape) for sizes in both)
        raise ValueError(f"m and n must have shapes that broadcast, got {shapes}") from None


def _as_sizes(sizes: npt.ArrayLike, where: str, least: int = 1) -> Longs:
    if _is_int(sizes) and sizes > 2**62:
        raise ValueError(f"{where}: an array holds sizes up to 2^62, got a larger one")
    array = np.asarray(sizes)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{where} must be an int or integers, got {sizes!r}"[:200])
    if array.size and int(array.min()) < least:
        raise ValueError(f"{where} must be at least {least}, got {array.min()}")
    if array.size and int(array.max()) > 2**62:
        raise ValueError(f"{where}: an array holds sizes up to 2^62, got {array.max()}")
    return array.astype(np.int64)
