"""Exact draws from the discrete Laplace and Gaussian laws, of numbers that fit 64 and 128 bits."""

from libc.stdint cimport int64_t, uint64_t

from math import isqrt

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport give, take
from nbcfast._coins cimport Coins, nbc_coins


cdef extern from "noise.h" nogil:
    int64_t nbc_noise(nbc_coins *coins, uint64_t num, uint64_t den, uint64_t width, int64_t *out, int64_t n)


cdef int64_t DRAWS = 1 << 14  # made between two looks at Ctrl-C
LONG = 1 << 62  # numbers of a scale stay below it, so that a few of them fit 64 bits
WIDE = 1 << 126  # and denominators of a chance below this


def fits_laplace(num, den):
    """Whether `laplace` takes the scale num / den."""
    # Part of a number that is no integer would be lost on the way, and the law be another.
    return isinstance(num, int) and isinstance(den, int) and 1 <= num < LONG and 1 <= den < LONG


def fits_gaussian(num, den):
    """Whether `gaussian` takes the sigma^2 num / den."""
    if not fits_laplace(num, den):
        return False
    width = isqrt(num // den) + 1
    return width * den < LONG and num * den * width * width < WIDE


def laplace(Coins coins not None, num, den, int64_t[::1] out not None):
    """Draw numbers with P(x) ~ exp(-|x| den / num) into `out`; how many, before one that does not fit.

    The words for that one are not taken.
    """
    if not fits_laplace(num, den):
        raise ValueError(f"the scale must be a quotient of integers from 1 to below 2^62, got {num}/{den}")
    return drawn(coins, num, den, 0, out)


def gaussian(Coins coins not None, num, den, int64_t[::1] out not None):
    """Draw numbers with P(x) ~ exp(-x^2 den / (2 num)) into `out`; how many, before one that does not fit.

    The words for that one are not taken.
    """
    if not fits_gaussian(num, den):
        raise ValueError(f"the chances of sigma^2 {num}/{den} do not fit 127 bits")
    return drawn(coins, num, den, isqrt(num // den) + 1, out)


cdef int64_t drawn(Coins coins, uint64_t num, uint64_t den, uint64_t width, int64_t[::1] out) except -1:
    """The draws of either, in pieces."""
    cdef int64_t start, n, made = 0, size = out.shape[0]
    if coins.coins.seeded:
        raise ValueError("coins of a simulation can be foretold, and hide nobody: expected those of ChaCha20")
    take(&coins.users, "Coins")
    try:
        for start in range(0, size, DRAWS):
            n = min(DRAWS, size - start)
            with nogil:
                made = nbc_noise(&coins.coins, num, den, width, &out[start], n)
            if made < n:
                return start + made
            PyErr_CheckSignals()
    finally:
        give(&coins.users)
    return size
