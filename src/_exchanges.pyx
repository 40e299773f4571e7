"""Whether all answers stay as they are where a few counts are others, for many such changes at once."""

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc

from cpython.exc cimport PyErr_CheckSignals

import numpy as np


cdef extern from "exchanges.h" nogil:
    int64_t NBC_REAL
    int64_t NBC_NONE
    int64_t NBC_ONLY
    int NBC_CHANGED
    int NBC_UNCHANGED
    int NBC_UNDECIDED

    ctypedef struct nbc_ends:
        pass

    int64_t *nbc_half_sums(const int64_t *numbers, const int32_t *sizes, int64_t n_attributes, int64_t base,
                           int64_t *list, int64_t *other)
    void nbc_make_ends(const int64_t *sums, const int32_t *order, int64_t m, nbc_ends *ends)
    int nbc_pair_unchanged(const int64_t *sums, const int32_t *count, int64_t n, const nbc_ends *ends, int64_t error,
                           int ties, int64_t *begin)
    int64_t *nbc_class_sums(const int64_t *numbers, const int32_t *sizes, int64_t n_attributes, const int64_t *base,
                            int64_t C, int64_t *list, int64_t *other)
    int nbc_labels_unchanged(const int8_t *labels, const int64_t *sums, int64_t n, const int64_t *others, int64_t m,
                             int64_t C, int64_t error, int ties, int64_t *begin)


CHANGED = NBC_CHANGED
UNCHANGED = NBC_UNCHANGED
UNDECIDED = NBC_UNDECIDED

cdef int64_t LOOKS = 1 << 24  # sums between two looks for Ctrl-C
cdef int64_t MOST_SUMS = <int64_t> 1 << 31  # of a half


def pair(const int32_t[::1] count not None, const int32_t[::1] order not None, const int32_t[::1] sizes not None,
         int64_t n_first, const int64_t[::1] numbers not None, const int32_t[:, ::1] codes not None,
         const int64_t[:, ::1] changed not None, const int64_t[::1] bases not None, int64_t error, bint ties,
         int8_t[::1] result not None):  # result: out
    """Of each change whether two classes keep all their answers: CHANGED, UNCHANGED or UNDECIDED.

    count : for each index of the first half, how many of the second, the first in `order`, have label 0
    sizes : how many values each attribute has, the `n_first` of the first half first
    numbers : of all values, as sums over halves are made of them (see margin.h)
    codes, changed : (changes, attributes): the value of each attribute whose number changes, and to what
    bases : of each change, what all tuples share
    """
    cdef int64_t k = sizes.shape[0], n = count.shape[0], m = order.shape[0], Q = codes.shape[0]
    cdef int64_t q, i, at, begin = 0, looked = 0, first = 0
    cdef int64_t *x
    cdef int64_t *y
    cdef int64_t *own = NULL
    cdef int64_t *spare = NULL
    cdef int64_t *their = NULL
    cdef int64_t *more = NULL
    cdef int64_t *now = NULL
    cdef nbc_ends *ends = NULL
    # Copies: the kernel goes where they say, and the caller may write to his own.
    count, order, sizes, codes = np.array(count), np.array(order), np.array(sizes), np.array(codes)
    numbers, changed, bases = np.array(numbers), np.array(changed), np.array(bases)
    _check_error(error)
    _check_sizes(sizes, n_first, n, m)
    _check_codes(codes, sizes)
    _check_places(count, m + 1, "count")
    _check_places(order, m, "order")
    _check_numbers(numbers, "numbers")
    _check_numbers(bases, "bases")
    if (numbers.shape[0] != _total(sizes) or changed.shape[0] != Q or changed.shape[1] != k or bases.shape[0] != Q
            or result.shape[0] != Q):
        raise ValueError(f"expected numbers of {_total(sizes)} values, and {Q} changes of {k} attributes")
    for q in range(Q):
        if k:
            _check_numbers(changed[q], "changed")
    for i in range(n_first):
        first += sizes[i]
    try:
        own = <int64_t *> malloc(<size_t> n * 8)
        spare = <int64_t *> malloc(<size_t> n * 8)
        their = <int64_t *> malloc(<size_t> m * 8)
        more = <int64_t *> malloc(<size_t> m * 8)
        now = <int64_t *> malloc(<size_t> (numbers.shape[0] + 1) * 8)
        ends = <nbc_ends *> malloc(<size_t> (m + 1) * sizeof(nbc_ends))
        if own == NULL or spare == NULL or their == NULL or more == NULL or now == NULL or ends == NULL:
            raise MemoryError()
        for i in range(numbers.shape[0]):
            now[i] = numbers[i]
        for q in range(Q):
            with nogil:
                at = 0
                for i in range(k):
                    now[at + codes[q, i]] = changed[q, i]
                    at += sizes[i]
                x = nbc_half_sums(now, &sizes[0] if k else NULL, n_first, bases[q], own, spare)
                y = nbc_half_sums(now + first, &sizes[0] + n_first if k else NULL, k - n_first, 0, their, more)
                nbc_make_ends(y, &order[0], m, ends)
                result[q] = <int8_t> nbc_pair_unchanged(x, &count[0], n, ends, error, ties, &begin)
                at = 0
                for i in range(k):
                    now[at + codes[q, i]] = numbers[at + codes[q, i]]
                    at += sizes[i]
            looked += n + m
            if looked > LOOKS:
                looked = 0
                PyErr_CheckSignals()
    finally:
        free(own)
        free(spare)
        free(their)
        free(more)
        free(now)
        free(ends)


def labels(const int8_t[:, ::1] known not None, const int32_t[::1] sizes not None, int64_t n_first,
           const int64_t[:, ::1] numbers not None, const int32_t[:, ::1] codes not None,
           const int64_t[:, :, ::1] changed not None, const int64_t[:, ::1] bases not None, int64_t error,
           bint ties, int8_t[::1] result not None):  # result: out
    """The same for several classes, whose labels of all tuples are known, one row an index of the first half.

    `numbers`, `changed` and `bases` have one logarithm a class, in their last axis.
    """
    cdef int64_t k = sizes.shape[0], n = known.shape[0], m = known.shape[1], Q = codes.shape[0], C = numbers.shape[1]
    cdef int64_t q, i, c, at, begin = 0, looked = 0, first = 0, bad = 0
    cdef int64_t *x
    cdef int64_t *y
    cdef int64_t *own = NULL
    cdef int64_t *spare = NULL
    cdef int64_t *their = NULL
    cdef int64_t *more = NULL
    cdef int64_t *now = NULL
    known, sizes, codes = np.array(known), np.array(sizes), np.array(codes)
    numbers, changed, bases = np.array(numbers), np.array(changed), np.array(bases)
    _check_error(error)
    _check_sizes(sizes, n_first, n, m)
    _check_codes(codes, sizes)
    if (not 2 <= C <= 127 or numbers.shape[0] != _total(sizes) or changed.shape[0] != Q or changed.shape[1] != k
            or changed.shape[2] != C or bases.shape[0] != Q or bases.shape[1] != C or result.shape[0] != Q):
        raise ValueError(f"expected numbers of {_total(sizes)} values and 2 to 127 classes, and {Q} changes of {k} "
                         f"attributes")
    for i in range(n):
        for q in range(m):
            bad |= not 0 <= known[i, q] < C
    if bad:
        raise ValueError(f"known must be labels below {C}")
    for i in range(numbers.shape[0]):
        _check_numbers(numbers[i], "numbers")
    for q in range(Q):
        _check_numbers(bases[q], "bases")
        for i in range(k):
            _check_numbers(changed[q, i], "changed")
    for i in range(n_first):
        first += sizes[i]
    try:
        own = <int64_t *> malloc(<size_t> (n * C) * 8)
        spare = <int64_t *> malloc(<size_t> (n * C) * 8)
        their = <int64_t *> malloc(<size_t> (m * C) * 8)
        more = <int64_t *> malloc(<size_t> (m * C) * 8)
        now = <int64_t *> malloc(<size_t> (numbers.shape[0] * C + 1) * 8)
        if own == NULL or spare == NULL or their == NULL or more == NULL or now == NULL:
            raise MemoryError()
        for i in range(numbers.shape[0]):
            for c in range(C):
                now[i * C + c] = numbers[i, c]
        for q in range(Q):
            with nogil:
                at = 0
                for i in range(k):
                    for c in range(C):
                        now[(at + codes[q, i]) * C + c] = changed[q, i, c]
                    at += sizes[i]
                x = nbc_class_sums(now, &sizes[0] if k else NULL, n_first, &bases[q, 0], C, own, spare)
                y = nbc_class_sums(now + first * C, &sizes[0] + n_first if k else NULL, k - n_first, NULL, C, their,
                                   more)
                result[q] = <int8_t> nbc_labels_unchanged(&known[0, 0], x, n, y, m, C, error, ties, &begin)
                at = 0
                for i in range(k):
                    for c in range(C):
                        now[(at + codes[q, i]) * C + c] = numbers[at + codes[q, i], c]
                    at += sizes[i]
            looked += n * m * C
            if looked > LOOKS:
                looked = 0
                PyErr_CheckSignals()
    finally:
        free(own)
        free(spare)
        free(their)
        free(more)
        free(now)


cdef int _check_error(int64_t error) except -1:
    if not 0 <= error < NBC_REAL:
        raise ValueError(f"error must be 0..{NBC_REAL - 1}, got {error}")
    return 0


cdef int64_t _total(const int32_t[::1] sizes) noexcept:
    cdef int64_t total = 0, i
    for i in range(sizes.shape[0]):
        total += sizes[i]
    return total


cdef int _check_sizes(const int32_t[::1] sizes, int64_t n_first, int64_t n, int64_t m) except -1:
    """That the attributes of both halves have so many combinations."""
    cdef int64_t products[2]
    cdef int64_t i, half
    if not 0 <= n_first <= sizes.shape[0]:
        raise ValueError(f"n_first must be 0..{sizes.shape[0]}, got {n_first}")
    products[0] = products[1] = 1
    for i in range(sizes.shape[0]):
        half = i >= n_first
        if sizes[i] < 1 or products[half] * sizes[i] >= MOST_SUMS:
            raise ValueError(f"a half must have 1 to {MOST_SUMS - 1} combinations of values")
        products[half] *= sizes[i]
    if products[0] != n or products[1] != m:
        raise ValueError(f"sizes of halves have products {products[0]} and {products[1]}, expected {n} and {m}")
    return 0


cdef int _check_codes(const int32_t[:, ::1] codes, const int32_t[::1] sizes) except -1:
    cdef int64_t q, i
    if codes.shape[1] != sizes.shape[0]:
        raise ValueError(f"codes must have {sizes.shape[0]} columns, got {codes.shape[1]}")
    for q in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if not 0 <= codes[q, i] < sizes[i]:
                raise ValueError(f"codes of attribute {i} must be 0..{sizes[i] - 1}, got {codes[q, i]}")
    return 0


cdef int _check_places(const int32_t[::1] places, int64_t stop, str name) except -1:
    cdef int64_t i
    for i in range(places.shape[0]):
        if not 0 <= places[i] < stop:
            raise ValueError(f"{name} must be 0..{stop - 1}, got {places[i]}")
    return 0


cdef int _check_numbers(const int64_t[::1] numbers, str name) except -1:
    """That sums can be clamped after every attribute without leaving 64 bits."""
    cdef int64_t i
    for i in range(numbers.shape[0]):
        if not (-NBC_REAL < numbers[i] < NBC_REAL or numbers[i] == NBC_NONE or numbers[i] == NBC_ONLY):
            raise ValueError(f"{name} must be NONE, ONLY or below {NBC_REAL} in size, got {numbers[i]}")
    return 0
