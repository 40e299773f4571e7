"""Integers from the discrete Laplace and Gaussian laws, exactly: Canonne, Kamath, Steinke (2020).

All chances are quotients of integers, and what decides is a uniform integer made of random words. A kernel
throws the coins where its numbers suffice, and Python where they do not: the draws are the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from nbcfast import _coins, _noise
from nbcfast._core.dtypes import Counts, Longs

Word = Callable[[], int]  # the next 64 random bits
Coins = _coins.Coins | Word  # a word at a time is for tests
Kernel = Callable[[_coins.Coins, int, int, Longs], int]
One = Callable[[int, int, Word], int]
LEMIRE = 1 << 32  # bounds up to this one are decided by half a word


def own_coins() -> _coins.Coins:
    """Coins under a key of the operating system that nobody keeps."""
    return _coins.Coins(os.urandom(32))


def laplace(scale: Fraction, n: int, coins: Coins) -> Counts:
    """So many numbers with P(x) ~ exp(-|x| / scale)."""
    up, down = scale.numerator, scale.denominator
    kernel = _noise.laplace if _noise.fits_laplace(up, down) else None
    return _drawn(kernel, _laplace, up, down, n, coins)


def gaussian(sigma_squared: Fraction, n: int, coins: Coins) -> Counts:
    """So many numbers with P(x) ~ exp(-x^2 / (2 sigma_squared))."""
    up, down = sigma_squared.numerator, sigma_squared.denominator
    kernel = _noise.gaussian if _noise.fits_gaussian(up, down) else None
    return _drawn(kernel, _gaussian, up, down, n, coins)


def _drawn(kernel: Kernel | None, one: One, up: int, down: int, n: int, coins: Coins) -> Counts:
    """The draws of the kernel, and of Python where there is none and for each that it leaves."""
    word = _word_of(coins) if isinstance(coins, _coins.Coins) else coins
    if kernel is None or not isinstance(coins, _coins.Coins):
        return _numbers([one(up, down, word) for _ in range(n)])
    out = np.empty(n, np.int64)
    large: dict[int, int] = {}
    start = 0
    while start < n:
        start += kernel(coins, up, down, out[start:])
        if start < n:
            large[start] = one(up, down, word)
            start += 1
    if not large:
        return out
    numbers: list[int] = out.tolist()
    for place, number in large.items():
        numbers[place] = number
    return _numbers(numbers)


def _numbers(drawn: list[int]) -> Counts:
    """In 64 bits where all fit."""
    try:
        return np.array(drawn, np.int64)
    except OverflowError:
        return np.array(drawn, object)


def _word_of(coins: _coins.Coins) -> Word:
    """One word at a time: the kernel may go on where Python ends."""
    place = np.empty(1, np.uint64)

    def word() -> int:
        coins.words(place)
        return int(place[0])

    return word


def below(bound: int, word: Word) -> int:
    """A uniform integer from 0 to below the bound; for a bound of 1 no word is taken."""
    if bound == 1:
        return 0
    if bound <= LEMIRE:  # Lemire's multiplication, rejecting what would favour some
        threshold = (LEMIRE - bound) % bound
        while True:
            product = (word() >> 32) * bound
            if product & (LEMIRE - 1) >= threshold:
                return product >> 32
    bits = (bound - 1).bit_length()
    while True:
        number = sum(word() << shift for shift in range(0, bits, 64)) & ((1 << bits) - 1)
        if number < bound:
            return number


def _is_exponential(up: int, down: int, word: Word) -> bool:
    """True with the chance exp(-up / down), for a quotient of at most 1."""
    n = 1
    while below(n, word) == 0 and below(down, word) < up:
        n += 1
    return n % 2 == 1


def _laplace(up: int, down: int, word: Word) -> int:
    while True:
        start = below(up, word)
        if not _is_exponential(start, up, word):
            continue
        wholes = 0
        while _is_exponential(1, 1, word):
            wholes += 1
        size = (start + up * wholes) // down
        is_negative = below(2, word)
        if not (is_negative and size == 0):
            return -size if is_negative else size


def _gaussian(up: int, down: int, word: Word) -> int:
    width = math.isqrt(up // down) + 1
    while True:
        drawn = _laplace(width, 1, word)
        exponent = (abs(drawn) * width * down - up) ** 2
        of = 2 * up * down * width**2
        wholes, rest = divmod(exponent, of)
        if all(_is_exponential(1, 1, word) for _ in range(wholes)) and _is_exponential(rest, of, word):
            return drawn
