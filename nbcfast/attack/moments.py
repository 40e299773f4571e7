"""Posteriors over possible worlds from moments, for tables of any size.

p_c P(sum Y >= 1) = X_c e_c with e_c = E[1 / (1 + S_c)], where S_c counts the matching rows beside one of
class c: that class has P_c - 1 rows and N_c - 1 of each value left, the others are as they are. Moments
E[C(Y, j)] = C(P, j)^(1-n) prod_i C(N_i, j) have a closed form, so nothing depends on the number of rows
(docs/mathematics/safety.md, section j).
"""

from __future__ import annotations

import math

import gmpy2

from nbcfast.attack.exactly import product, without_each

Series = list[gmpy2.mpfr]

FEW = 500  # matching rows up to which the generating function is integrated
EXTREME = 64  # the logarithm of matching rows beyond which they are all that counts
GOAL = 2.0**-60  # relative error aimed at
LEAST = 2.0**-1020  # a smaller float begins to lose bits


def mean(P: int, sizes: list[int]) -> gmpy2.mpfr:
    """X as an mpfr number of the context."""
    if P == 0 or 0 in sizes:
        return gmpy2.mpfr(0)
    result = gmpy2.mpfr(P)
    for size in sizes:
        result *= gmpy2.mpfr(size) / P
    return result


def _factorial_moments(P: int, sizes: list[int], n: int) -> list[gmpy2.mpfr]:
    """E[C(Y, j)] for j = 0 .. n - 1."""
    result, moment = [gmpy2.mpfr(1)], gmpy2.mpfr(1)
    least = min(sizes, default=P)
    for j in range(n - 1):
        if j >= least:
            moment = gmpy2.mpfr(0)
        else:
            moment = moment * (P - j) / (j + 1)
            for size in sizes:
                moment = moment * (size - j) / (P - j)
        result.append(moment)
    return result


def shares(class_counts: list[int], rows: list[list[int]]) -> tuple[list[float], float] | None:
    """E[Y_c / sum Y | sum Y >= 1] of each class and a bound of their relative error.

    None where no world has a matching row. What is below the range of floats is within 1 of it, relatively.
    """
    scored = _scores(class_counts, rows)
    if scored is None:
        return None
    scores, error, precision = scored
    with gmpy2.context(precision=precision):
        whole = sum(scores)
        # The quotient of two such numbers has twice their error; then one rounding to float64.
        quotients = [float(score / whole) for score in scores]
    lost = any(score and share < LEAST for score, share in zip(scores, quotients, strict=True))
    return quotients, 1.0 if lost else 2.01 * error + 2.0**-52


def log_shares(class_counts: list[int], rows: list[list[int]]) -> list[float] | None:
    """Their logarithms up to a common constant, -inf for 0, however small they are."""
    scored = _scores(class_counts, rows)
    if scored is None:
        return None
    scores, _, precision = scored
    with gmpy2.context(precision=precision):
        return [float(gmpy2.log(score)) if score else -math.inf for score in scores]


def _scores(class_counts: list[int], rows: list[list[int]]) -> tuple[list[gmpy2.mpfr], float, int] | None:
    """The same up to a common factor, a bound of the relative error, and the precision they have."""
    sizes = [[row[c] for row in rows] for c in range(len(class_counts))]
    with gmpy2.context(precision=128):
        total = sum(mean(P, counts) for P, counts in zip(class_counts, sizes, strict=True))
        if not total:
            return None
        size = int(gmpy2.log2(total))
        bits = 256 + max(size, 0)
        few = total <= FEW
    if abs(size) > EXTREME:
        # 1 / (1 + T) <= e_c <= min(1, 1 / (T - 1)) with T = sum X: all the same.
        weights, error, precision = [1] * len(class_counts), 2.0 ** (2 - EXTREME), 256
    elif few:
        weights, error, precision = _integrated(class_counts, sizes, float(total))
    else:
        weights, error, precision = _expanded(class_counts, sizes, bits)
    with gmpy2.context(precision=precision):
        scores = [
            mean(P, counts) * weight for P, counts, weight in zip(class_counts, sizes, weights, strict=True)
        ]
    return scores, error, precision


def _beside_one(
    class_counts: list[int], sizes: list[list[int]], n: int
) -> tuple[list[gmpy2.mpfr], list[gmpy2.mpfr]]:
    """Factorial moments of each class, and of each class beside one of its matching rows."""
    all_rows = [_factorial_moments(P, counts, n) for P, counts in zip(class_counts, sizes, strict=True)]
    others = [
        _factorial_moments(P - 1, [size - 1 for size in counts], n)
        if P > 0 and 0 not in counts
        else [gmpy2.mpfr(1)] + [gmpy2.mpfr(0)] * (n - 1)
        for P, counts in zip(class_counts, sizes, strict=True)
    ]
    return all_rows, others


def _integrated(
    class_counts: list[int], sizes: list[list[int]], total: float
) -> tuple[list[gmpy2.mpfr], float, int]:
    """e_c as the integral of E[t^S] over t from 0 to 1, term by term in powers of t - 1.

    Coefficients are at most total^j / j!: so many of them, and so many bits, as leave 2^-60 of e_c, which is
    at least 1 / (1 + total).
    """
    n, size = 1, 0.0  # size: log2 of total^n / n!
    need = 80.0 + math.log2(2.0 + total)
    while size > -need or n < 2 * total + 2:
        size += math.log2(total) - math.log2(n) if total else -1e9
        n += 1
    # Each rounding of 2^-bits meets the sum of all coefficients of the others, at most e^total.
    bits = int(need + 2 * total / math.log(2)) + 2 * n.bit_length() + 64
    with gmpy2.context(precision=bits + 64):
        unit = gmpy2.exp2(bits)
        all_rows, one_less = _beside_one(class_counts, sizes, n)
        fixed = [[gmpy2.mpz(gmpy2.rint(x * unit)) for x in part] for part in all_rows]
        beside = [[gmpy2.mpz(gmpy2.rint(x * unit)) for x in part] for part in one_less]

        def multiply(a: list[gmpy2.mpz], b: list[gmpy2.mpz]) -> list[gmpy2.mpz]:
            width = 2 * bits + int(2 * total / math.log(2)) + n.bit_length() + 64
            return [x >> bits for x in product(a, b, width)[:n]]

        without_each_class = without_each(fixed, multiply, [gmpy2.mpz(1) << bits])
        weights = []
        for beside_one, without_class in zip(beside, without_each_class, strict=True):
            value = gmpy2.mpfr(0)
            for j, x in enumerate(multiply(beside_one, without_class)):
                value += (-x if j & 1 else x) / gmpy2.mpfr(j + 1)
            weights.append(value / unit)
    return weights, GOAL, bits + 64


def _expanded(
    class_counts: list[int], sizes: list[list[int]], bits: int
) -> tuple[list[gmpy2.mpfr], float, int]:
    """e_c by 1 / (1 + D) = 1 - D + .. - D^(2m-1) + D^(2m) / (1 + D), D = (S - mu) / (1 + mu).

    S is a sum of independent indicators. The last term is at most 2 E[D^(2m)] where D >= -1/2, and at most
    1 + mu elsewhere, which has a probability of at most exp(-mu (1 - ln 2) / 2), by Chernoff's bound.
    """
    half = 2
    while True:
        n = 2 * half + 1
        # Central moments are differences of numbers of up to mu^(2m), themselves down to mu^m / mu^m.
        precision = bits * (n + 2)
        with gmpy2.context(precision=precision):
            expansions = [_expansion(moments, n) for moments in _sums(class_counts, sizes, n)]
        error = max(float(rest) for _, rest in expansions)
        if error <= GOAL or half >= 24:
            return [value for value, _ in expansions], error, precision
        half *= 2


def _sums(class_counts: list[int], sizes: list[list[int]], n: int) -> list[Series]:
    """For each class the factorial moments E[C(S, j)], j < n."""
    all_rows, others = _beside_one(class_counts, sizes, n)

    def multiply(a: list[gmpy2.mpfr], b: list[gmpy2.mpfr]) -> list[gmpy2.mpfr]:
        return [sum(a[i] * b[j - i] for i in range(j + 1)) for j in range(n)]

    one = [gmpy2.mpfr(1)] + [gmpy2.mpfr(0)] * (n - 1)
    rest_of_each = without_each(all_rows, multiply, one)
    return [multiply(one_less, rest) for one_less, rest in zip(others, rest_of_each, strict=True)]


def _expansion(moments: list[gmpy2.mpfr], n: int) -> tuple[gmpy2.mpfr, gmpy2.mpfr]:
    """E[1 / (1 + S)] and a bound of its relative error, from E[C(S, j)] for j < n, n odd."""
    mu = moments[1]
    # Powers from binomials by Stirling numbers of the second kind, then about the mean.
    stirling = [[0] * n for _ in range(n)]
    stirling[0][0] = 1
    for r in range(1, n):
        for j in range(1, r + 1):
            stirling[r][j] = stirling[r - 1][j - 1] + j * stirling[r - 1][j]
    raw = [sum(stirling[r][j] * math.factorial(j) * moments[j] for j in range(r + 1)) for r in range(n)]
    value, scale, last = gmpy2.mpfr(0), gmpy2.mpfr(1), gmpy2.mpfr(0)
    for r in range(n):
        central = sum(math.comb(r, j) * raw[j] * (-mu) ** (r - j) for j in range(r + 1))
        last = central / scale
        if r < n - 1:
            value += -last if r & 1 else last
        scale *= 1 + mu
    remainder = 2 * last + (1 + mu) * gmpy2.exp(-mu * (1 - gmpy2.const_log2()) / 2)
    # e_c is at least 1 / (1 + mu), so the bound of (1 + mu) e_c is relative.
    return value / (1 + mu), remainder
