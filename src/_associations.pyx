"""Associations of identities that have several join values: products over the join values, unions and intersections."""

from libc.math cimport nextafter
from libc.stdint cimport int64_t, uint32_t, uint8_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from shared.in_use cimport give, take


cdef double LEAST = 1e-300  # a product that is not 0 never becomes 0


cdef int _rising(const void *a, const void *b) noexcept nogil:
    cdef uint32_t x = (<const uint32_t *> a)[0], y = (<const uint32_t *> b)[0]
    return (x > y) - (x < y)


cdef class Joiner:
    """What one thread needs to put the values of an identity together.

    Identity i has the join values joins[id_offsets[i]:id_offsets[i + 1]], and join value v the values
    values[offsets[v]:offsets[v + 1]], each once. factors[v] is the probability that a pair is not associated
    through v; wanted[p] is 1 for values that are asked for. None is copied.
    """
    cdef const int64_t[::1] id_offsets, offsets
    cdef const uint32_t[::1] joins, values
    cdef const double[::1] factors
    cdef const uint8_t[::1] wanted
    cdef int64_t n_values, n_found, n_joins
    cdef int users
    cdef double *products
    cdef uint32_t *found
    cdef uint32_t *times

    def __cinit__(self, const int64_t[::1] id_offsets not None, const uint32_t[::1] joins not None,
                  const int64_t[::1] offsets not None, const uint32_t[::1] values not None,
                  const double[::1] factors not None, const uint8_t[::1] wanted not None):
        cdef int64_t i
        cdef bint fits
        fits = id_offsets.shape[0] > 0 and offsets.shape[0] == factors.shape[0] + 1
        fits = fits and _runs(id_offsets, joins.shape[0]) and _runs(offsets, values.shape[0])
        if not fits:
            raise ValueError("offsets must rise from 0 to the number of entries")
        for i in range(joins.shape[0]):
            fits &= joins[i] < factors.shape[0]
        for i in range(values.shape[0]):
            fits &= values[i] < wanted.shape[0]
        if not fits:
            raise ValueError("a join value or a value lies outside its range")
        self.id_offsets, self.joins = id_offsets, joins
        self.offsets, self.values = offsets, values
        self.factors, self.wanted = factors, wanted
        self.n_values = wanted.shape[0]
        self.products = <double *> malloc((self.n_values + 1) * sizeof(double))
        self.found = <uint32_t *> malloc((self.n_values + 1) * sizeof(uint32_t))
        self.times = <uint32_t *> malloc((self.n_values + 1) * sizeof(uint32_t))
        if self.products == NULL or self.found == NULL or self.times == NULL:
            raise MemoryError("no memory for the values of an identity")
        memset(self.times, 0, (self.n_values + 1) * sizeof(uint32_t))

    def __dealloc__(self):
        free(self.products)
        free(self.found)
        free(self.times)

    def scan(self, int64_t start, int64_t stop, int64_t[::1] union_sizes not None,
             int64_t[::1] common_sizes not None, int64_t[::1] wanted_common not None,
             double[::1] worst not None):
        """For identities start..stop-1: wanted values in any join value, values in all of them, those of them
        that are wanted, and the greatest probability of a wanted value (0 without one)."""
        cdef int64_t i, j, n, common, asked, n_joins, n_found
        cdef uint32_t p, is_wanted, is_common
        cdef double least
        cdef bint fits = True
        # Locals, as members would be fetched again after every store.
        cdef uint32_t *times = self.times
        cdef const uint32_t *found = self.found
        cdef const double *products = self.products
        cdef const uint8_t *wanted = &self.wanted[0] if self.wanted.shape[0] else NULL
        self._check(start, stop)
        if min(union_sizes.shape[0], common_sizes.shape[0], wanted_common.shape[0], worst.shape[0]) < stop:
            raise ValueError(f"no room for the results of {stop} identities")
        take(&self.users, "Joiner")
        with nogil:
            for i in range(start, stop):
                fits &= self._put_together(i)
                n_joins, n_found = self.n_joins, self.n_found
                n = common = asked = 0
                least = 1.0
                for j in range(n_found):
                    p = found[j]
                    is_wanted, is_common = wanted[p], times[p] == n_joins
                    n += is_wanted
                    common += is_common
                    asked += is_common & is_wanted
                    if is_wanted and products[p] < least:
                        least = products[p]
                    times[p] = 0
                union_sizes[i], common_sizes[i], wanted_common[i] = n, common, asked
                worst[i] = _complement(least) if n else 0.0
        give(&self.users)
        if not fits:
            raise ValueError("offsets, joins and values must stay as they were given, got others since")

    def fill(self, int64_t start, int64_t stop, const int64_t[::1] places not None,
             uint32_t[::1] values not None, double[::1] probabilities not None, uint32_t[::1] times not None):
        """For identities start..stop-1 the wanted values in their order, from places[i] on: value, probability
        and how many join values have it."""
        cdef int64_t i, j, k, room = min(values.shape[0], probabilities.shape[0], times.shape[0])
        cdef uint32_t p
        cdef bint fits = True, same = True
        self._check(start, stop)
        if places.shape[0] < stop + 1:
            raise ValueError(f"no places for {stop} identities")
        take(&self.users, "Joiner")
        with nogil:
            for i in range(start, stop):
                same &= self._put_together(i)
                qsort(self.found, self.n_found, sizeof(uint32_t), _rising)
                k = places[i]
                for j in range(self.n_found):
                    p = self.found[j]
                    if self.wanted[p]:
                        if k < 0 or k >= places[i + 1] or k >= room:
                            fits = False
                        else:
                            values[k] = p
                            probabilities[k] = _complement(self.products[p])
                            times[k] = self.times[p]
                            k += 1
                    self.times[p] = 0
        give(&self.users)
        if not same:
            raise ValueError("offsets, joins and values must stay as they were given, got others since")
        if not fits:
            raise ValueError("no room for the values of an identity")

    cdef int _check(self, int64_t start, int64_t stop) except -1:
        if not 0 <= start <= stop < self.id_offsets.shape[0]:
            raise ValueError(f"identities must be within 0..{self.id_offsets.shape[0] - 1}, got {start}..{stop}")
        return 0

    cdef bint _put_together(self, int64_t i) noexcept nogil:
        """The values of an identity in the order they are met, how often, and their products.

        Whether all lie in range: the arrays are the caller's, who may have written to them since.
        """
        cdef int64_t j, start = self.id_offsets[i], stop = self.id_offsets[i + 1], first, last, n = 0
        cdef uint32_t v
        cdef size_t p
        cdef double factor, product, least = LEAST
        # Locals, as members would be fetched again after every store.
        cdef uint32_t *times = self.times
        cdef uint32_t *found = self.found
        cdef double *products = self.products
        cdef const volatile uint32_t *values = &self.values[0] if self.values.shape[0] else NULL
        cdef const volatile uint32_t *joins = &self.joins[0] if self.joins.shape[0] else NULL
        cdef const volatile uint32_t *at
        cdef const volatile uint32_t *end
        cdef size_t n_values = self.n_values
        cdef int64_t n_pairs = self.values.shape[0]
        cdef bint fits = 0 <= start <= stop <= self.joins.shape[0]
        if not fits:
            stop = start
        self.n_joins = stop - start
        for j in range(start, stop):
            v = joins[j]
            if v >= self.factors.shape[0]:
                fits = False
                break
            factor = self.factors[v]
            first, last = self.offsets[v], self.offsets[v + 1]
            if not 0 <= first <= last <= n_pairs:
                fits = False
                break
            at, end = values + first, values + last
            while at != end:
                p = at[0]
                at += 1
                if p >= n_values:
                    fits = False
                    break
                if times[p] == 0:
                    found[n] = <uint32_t> p
                    n += 1
                    products[p] = factor
                else:
                    product = products[p] * factor
                    if product < least and product > 0:
                        product = least
                    products[p] = product
                times[p] += 1
        self.n_found = n
        return fits


cdef double _complement(double product) noexcept nogil:
    """1 - product, which is 1 only where nothing is left."""
    cdef double rest = 1.0 - product
    return nextafter(1.0, 0.0) if rest >= 1.0 and product > 0 else rest


cdef bint _runs(const int64_t[::1] offsets, int64_t size):
    """Whether offsets rise from 0 to size."""
    cdef int64_t i
    cdef bint rising = offsets[0] == 0 and offsets[offsets.shape[0] - 1] == size
    for i in range(offsets.shape[0] - 1):
        rising &= offsets[i] <= offsets[i + 1]
    return rising
