"""The tuples of a box whose weights add up furthest on the wrong side of zero, without enumerating it."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from cpython.exc cimport PyErr_CheckSignals

import numpy as np


cdef extern from "box.h" nogil:
    int NBC_MOST_ATTRIBUTES

    ctypedef int nbc_i128  # 128 bits; the name is all that Cython needs

    ctypedef struct nbc_side:
        int64_t n
        const int32_t *count
        const int32_t *order
        const int32_t *sizes
        int32_t n_attributes

    void nbc_sums_double(const double *numbers, const int32_t *sizes, int32_t n_attributes, double *sums)
    void nbc_pass_double(const nbc_side *rows, const nbc_side *others, const double *own, const double *their,
                         double limit, double *extreme, int32_t *place, double *least, int32_t *found,
                         double *lowest, int *any)
    int nbc_fits_wide(const nbc_i128 *numbers, const int32_t *sizes, int32_t n_attributes,
                      const int32_t *more_sizes, int32_t n_more)
    void nbc_sums_wide(const nbc_i128 *numbers, const int32_t *sizes, int32_t n_attributes, nbc_i128 *sums)
    void nbc_pass_wide(const nbc_side *rows, const nbc_side *others, const nbc_i128 *own, const nbc_i128 *their,
                       nbc_i128 limit, nbc_i128 *extreme, int32_t *place, nbc_i128 *least, int32_t *found,
                       nbc_i128 *lowest, int *any)


MOST_ATTRIBUTES = NBC_MOST_ATTRIBUTES


cdef int _check_side(const int32_t[::1] count, const int32_t[::1] order, const int32_t[::1] sizes, int64_t m) except -1:
    cdef int64_t n = count.shape[0], product = 1, i, bad = -1
    if order.shape[0] != n:
        raise ValueError(f"{n} counts but an order of {order.shape[0]}")
    if sizes.shape[0] > NBC_MOST_ATTRIBUTES:
        raise ValueError(f"a half must have at most {NBC_MOST_ATTRIBUTES} attributes, got {sizes.shape[0]}")
    for i in range(sizes.shape[0]):
        if sizes[i] < 1 or product > n:
            raise ValueError(f"sizes of a half of {n} combinations must be positive, with that product")
        product *= sizes[i]
    if product != n:
        raise ValueError(f"sizes of a half have product {product}, expected {n}")
    for i in range(n):
        if not (0 <= count[i] <= m and 0 <= order[i] < n):
            bad = i
            break
    if bad >= 0:
        raise ValueError(f"place {bad}: count {count[bad]} of {m}, index {order[bad]} of {n}")
    return 0


cdef class Separator:
    """Two halves with their counts and orders; see box.h."""
    cdef nbc_side a
    cdef nbc_side b
    cdef const int32_t[::1] count_a
    cdef const int32_t[::1] count_b
    cdef const int32_t[::1] order_a
    cdef const int32_t[::1] order_b
    cdef const int32_t[::1] sizes_a
    cdef const int32_t[::1] sizes_b
    cdef int64_t n_values_a
    cdef int64_t n_values

    def __cinit__(self, const int32_t[::1] count_a not None, const int32_t[::1] order_a not None,
                  const int32_t[::1] sizes_a not None, const int32_t[::1] count_b not None,
                  const int32_t[::1] order_b not None, const int32_t[::1] sizes_b not None):
        cdef int64_t i
        # Copies: the kernel goes where they say, and the caller may write to his own.
        self.count_a, self.order_a, self.sizes_a = np.array(count_a), np.array(order_a), np.array(sizes_a)
        self.count_b, self.order_b, self.sizes_b = np.array(count_b), np.array(order_b), np.array(sizes_b)
        count_a, order_a, sizes_a = self.count_a, self.order_a, self.sizes_a
        count_b, order_b, sizes_b = self.count_b, self.order_b, self.sizes_b
        _check_side(count_a, order_a, sizes_a, count_b.shape[0])
        _check_side(count_b, order_b, sizes_b, count_a.shape[0])
        self.a.n, self.a.count, self.a.order = count_a.shape[0], &count_a[0], &order_a[0]
        self.b.n, self.b.count, self.b.order = count_b.shape[0], &count_b[0], &order_b[0]
        self.a.n_attributes, self.b.n_attributes = <int32_t> sizes_a.shape[0], <int32_t> sizes_b.shape[0]
        if sizes_a.shape[0]:
            self.a.sizes = &sizes_a[0]
        if sizes_b.shape[0]:
            self.b.sizes = &sizes_b[0]
        self.n_values_a = self.n_values = 0
        for i in range(sizes_a.shape[0]):
            self.n_values_a += sizes_a[i]
        self.n_values = self.n_values_a
        for i in range(sizes_b.shape[0]):
            self.n_values += sizes_b[i]

    def separate(self, const double[::1] numbers not None, double limit,
                 int32_t[:, :, ::1] found not None):  # found: out
        """The lowest sum of label 0, and of label 1 taken negative; infinite where a label does not occur.

        `numbers` are the weights of all values, those of half a first. found[value, label] is the pair of
        indices (its own half's first) of the lowest sum with that value, if that is below the limit, else -1.
        """
        cdef double lowest[2]
        cdef int any[2]
        self._check(numbers.shape[0], found)
        lowest[0] = lowest[1] = 0
        any[0] = any[1] = 0
        # One empty place more: a half may have no values.
        cdef double *own = <double *> malloc(<size_t> self.a.n * sizeof(double))
        cdef double *their = <double *> malloc(<size_t> self.b.n * sizeof(double))
        cdef double *extreme = <double *> malloc(<size_t> max(self.a.n, self.b.n) * sizeof(double))
        cdef int32_t *place = <int32_t *> malloc(<size_t> max(self.a.n, self.b.n) * sizeof(int32_t))
        cdef double *least = <double *> malloc(<size_t> (2 * self.n_values + 1) * sizeof(double))
        cdef const double *first = &numbers[0] if self.n_values else NULL
        cdef int32_t *out = &found[0, 0, 0] if self.n_values else NULL
        cdef int64_t n_a = self.n_values_a
        try:
            if own == NULL or their == NULL or extreme == NULL or place == NULL or least == NULL:
                raise MemoryError()
            with nogil:
                nbc_sums_double(first, self.a.sizes, self.a.n_attributes, own)
                nbc_sums_double(first + n_a, self.b.sizes, self.b.n_attributes, their)
                nbc_pass_double(&self.a, &self.b, own, their, limit, extreme, place, least, out, lowest, any)
            PyErr_CheckSignals()
            with nogil:
                nbc_pass_double(&self.b, &self.a, their, own, limit, extreme, place, least + 2 * n_a, out + 4 * n_a,
                                lowest, any)
            PyErr_CheckSignals()
        finally:
            free(own)
            free(their)
            free(extreme)
            free(place)
            free(least)
        return (lowest[0] if any[0] else float("inf")), (lowest[1] if any[1] else float("inf"))

    def separate_exactly(self, const uint64_t[:, ::1] numbers not None, const uint64_t[::1] limit not None,
                         int32_t[:, :, ::1] found not None, uint64_t[:, ::1] lowest not None):  # the last two: out
        """The same in integers of 128 bits, as two's complement in two words, the low one first.

        No sum may reach 2^126 in size. `lowest` has a row for each label. Whether they occur is the result.
        """
        cdef int any[2]
        self._check(numbers.shape[0], found)
        if numbers.shape[1] != 2 or limit.shape[0] != 2 or lowest.shape[0] != 2 or lowest.shape[1] != 2:
            raise ValueError("wide numbers must have two words")
        any[0] = any[1] = 0
        cdef nbc_i128 *own = <nbc_i128 *> malloc(<size_t> self.a.n * 16)
        cdef nbc_i128 *their = <nbc_i128 *> malloc(<size_t> self.b.n * 16)
        cdef nbc_i128 *extreme = <nbc_i128 *> malloc(<size_t> max(self.a.n, self.b.n) * 16)
        cdef int32_t *place = <int32_t *> malloc(<size_t> max(self.a.n, self.b.n) * sizeof(int32_t))
        cdef nbc_i128 *least = <nbc_i128 *> malloc(<size_t> (2 * self.n_values + 1) * 16)
        # NumPy aligns its memory to 16 bytes for arrays that are not tiny, but promises nothing: copies.
        cdef nbc_i128 *copied = <nbc_i128 *> malloc(<size_t> (self.n_values + 3) * 16)
        cdef int32_t *out = &found[0, 0, 0] if self.n_values else NULL
        cdef int64_t n_a = self.n_values_a, n = self.n_values
        try:
            if (own == NULL or their == NULL or extreme == NULL or place == NULL or least == NULL
                    or copied == NULL):
                raise MemoryError()
            if n:
                memcpy(copied, &numbers[0, 0], <size_t> n * 16)
            memcpy(copied + n, &limit[0], 16)
            memset(copied + n + 1, 0, 32)
            if not nbc_fits_wide(copied, self.a.sizes, self.a.n_attributes, self.b.sizes, self.b.n_attributes):
                raise ValueError("numbers must have sums below 2^126 in size, got larger ones")
            with nogil:
                nbc_sums_wide(copied, self.a.sizes, self.a.n_attributes, own)
                nbc_sums_wide(copied + n_a, self.b.sizes, self.b.n_attributes, their)
                nbc_pass_wide(&self.a, &self.b, own, their, copied[n], extreme, place, least, out, copied + n + 1, any)
            PyErr_CheckSignals()
            with nogil:
                nbc_pass_wide(&self.b, &self.a, their, own, copied[n], extreme, place, least + 2 * n_a, out + 4 * n_a,
                              copied + n + 1, any)
            PyErr_CheckSignals()
            memcpy(&lowest[0, 0], copied + n + 1, 32)
        finally:
            free(own)
            free(their)
            free(extreme)
            free(place)
            free(least)
            free(copied)
        return bool(any[0]), bool(any[1])

    cdef int _check(self, int64_t n_numbers, int32_t[:, :, ::1] found) except -1:
        cdef int64_t i
        if n_numbers != self.n_values:
            raise ValueError(f"numbers must be {self.n_values}, got {n_numbers}")
        if found.shape[0] != self.n_values or found.shape[1] != 2 or found.shape[2] != 2:
            raise ValueError(f"found must have shape ({self.n_values}, 2, 2), got "
                             f"({found.shape[0]}, {found.shape[1]}, {found.shape[2]})")
        for i in range(self.n_values):
            found[i, 0, 0] = found[i, 0, 1] = found[i, 1, 0] = found[i, 1, 1] = -1
        return 0
