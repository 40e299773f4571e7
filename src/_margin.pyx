"""Comparisons of log-ratios over the product of two halves of the attributes, exact in every answer."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from shared.in_use cimport apart, give, take


cdef extern from "margin.h" nogil:
    int64_t NBC_REAL
    int64_t NBC_NONE
    int64_t NBC_ONLY
    int NBC_ENUMERATION_BLOCK

    ctypedef struct nbc_half:
        int64_t n
        const int64_t *sizes
        const uint64_t *limbs

    ctypedef struct nbc_exact:
        nbc_half a
        nbc_half b
        const uint64_t *base
        int64_t n_limbs
        uint64_t slack
        uint64_t *sum
        uint64_t *other

    ctypedef struct nbc_lists:
        const int64_t *x
        const int32_t *x_order
        int64_t n
        int64_t outer
        int64_t base
        const int64_t *u
        const int32_t *u_order
        int64_t m
        int64_t error

    ctypedef struct nbc_settled:
        int64_t start
        int64_t stop
        int64_t width
        int64_t low

    ctypedef struct nbc_walk:
        int64_t high
        int64_t low

    ctypedef struct nbc_nearest_found:
        int64_t size
        int64_t i
        int64_t j
        int has_limbs
        uint64_t *limbs

    void nbc_outer(const int64_t *left, int64_t n, const int64_t *right, int64_t m, int64_t *out)
    int nbc_settle(int32_t *order, int64_t *sums, int64_t n, int64_t slack, const nbc_exact *exact,
                   int32_t *spare, int64_t *spare_sums, nbc_settled *at, int64_t looks)
    int nbc_thresholds(const nbc_lists *lists, const nbc_exact *exact, int32_t *above, int64_t start, int64_t stop,
                       nbc_walk *walk)
    int nbc_nearest(const nbc_lists *lists, const nbc_exact *exact, nbc_nearest_found *best, int64_t start,
                    int64_t stop, nbc_walk *walk)
    int nbc_nearest_of_all(const nbc_lists *lists, const nbc_exact *exact, nbc_nearest_found *best, int64_t start,
                           int64_t stop)
    int64_t nbc_dominance(const int32_t *by_above, const int32_t *above, const int32_t *above_too,
                          const int64_t *weight, int64_t start, int64_t stop, const int32_t *rank,
                          const int64_t *rank_weight, int64_t m, int64_t *tree, int64_t *place)
    int64_t nbc_list(const int32_t *above, const int32_t *above_too, int64_t n, const int32_t *rank,
                     const int32_t *rank_too, const int32_t *lowest, const int32_t *highest,
                     const int32_t *order, int64_t m, int64_t *found_i, int64_t *found_j, int64_t most,
                     int64_t steps)
    int64_t nbc_enumerate(const int32_t *above, const int32_t *above_too, int64_t n,
                          const int32_t *rank, const int32_t *rank_too, int64_t m,
                          int64_t n_pairs, const int32_t *first, const int32_t *second,
                          int64_t n_classes, int labels, const int64_t *weight,
                          const int64_t *rank_weight, int64_t start, int64_t stop,
                          int32_t *losers, int64_t *first_i, int64_t *first_j)


cdef int64_t STEP = 1 << 18  # places between two looks for Ctrl-C

REAL = NBC_REAL
NONE = NBC_NONE
ONLY = NBC_ONLY


cdef class Exact:
    """The limbs of both halves, from which every sign can be had for certain.

    Parameters
    ----------
    sizes_a, sizes_b : how many values each attribute of the half has
    limbs_a, limbs_b : (all values, limbs): two's complement, lowest limb first; no limbs at all is legal,
        and then every function that would need one says so
    slack : a sum within this of zero, in units of the lowest limb, is zero
    """
    cdef nbc_exact exact
    cdef const int64_t[::1] sizes_a
    cdef const int64_t[::1] sizes_b
    cdef const uint64_t[:, ::1] limbs_a
    cdef const uint64_t[:, ::1] limbs_b
    cdef int64_t size_a
    cdef int64_t size_b
    cdef int users

    def __cinit__(self, const int64_t[::1] sizes_a not None, const int64_t[::1] sizes_b not None,
                  const uint64_t[:, ::1] limbs_a not None, const uint64_t[:, ::1] limbs_b not None,
                  uint64_t slack):
        cdef int64_t n_limbs = limbs_a.shape[1]
        if limbs_b.shape[1] != n_limbs:
            raise ValueError(f"limbs_a and limbs_b must be equally wide, got {n_limbs} and {limbs_b.shape[1]}")
        # Copies: the kernel goes where they say, and the caller may write to his own.
        self.sizes_a, self.sizes_b = np.array(sizes_a), np.array(sizes_b)
        sizes_a, sizes_b = self.sizes_a, self.sizes_b
        self.size_a = _size_of(sizes_a, limbs_a.shape[0] if n_limbs else -1)
        self.size_b = _size_of(sizes_b, limbs_b.shape[0] if n_limbs else -1)
        self.limbs_a, self.limbs_b = limbs_a, limbs_b
        self.exact.n_limbs, self.exact.slack = n_limbs, slack
        self.exact.a.n, self.exact.b.n = sizes_a.shape[0], sizes_b.shape[0]
        if sizes_a.shape[0]:
            self.exact.a.sizes = &sizes_a[0]
            if n_limbs:
                self.exact.a.limbs = &limbs_a[0, 0]
        if sizes_b.shape[0]:
            self.exact.b.sizes = &sizes_b[0]
            if n_limbs:
                self.exact.b.limbs = &limbs_b[0, 0]
        self.exact.sum = <uint64_t *> calloc(<size_t> n_limbs + 1, sizeof(uint64_t))
        self.exact.other = <uint64_t *> calloc(<size_t> n_limbs + 1, sizeof(uint64_t))
        if self.exact.sum == NULL or self.exact.other == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.exact.sum)
        free(self.exact.other)

    cdef int use(self, const uint64_t[::1] base) except -1:
        if base.shape[0] != self.exact.n_limbs:
            raise ValueError(f"base must be {self.exact.n_limbs} limbs, got {base.shape[0]}")
        if self.exact.n_limbs:
            self.exact.base = &base[0]
        return 0


cdef int64_t _size_of(const int64_t[::1] sizes, int64_t n_values) except -1:
    cdef int64_t total = 0, product = 1, a
    for a in range(sizes.shape[0]):
        if not 1 <= sizes[a] < 1 << 31 or product * sizes[a] >= <int64_t> 1 << 31:
            raise ValueError("a half must have 1 to 2**31 - 1 combinations of values")
        total += sizes[a]
        product *= sizes[a]
    if n_values >= 0 and n_values != total:
        raise ValueError(f"sizes of {total} values in all, but limbs of {n_values}")
    return product


def outer(const int64_t[::1] left not None, const int64_t[::1] right not None,
          int64_t[::1] out not None):  # out: out
    """All sums left[i] + right[j], row by row; these are NONE, ONLY or less than REAL in size."""
    cdef int64_t n = left.shape[0], m = right.shape[0]
    if out.shape[0] != n * m:
        raise ValueError(f"out must have {n * m} places, got {out.shape[0]}")
    _check_sums(left, "left")
    _check_sums(right, "right")
    if n and m:
        with nogil:
            nbc_outer(&left[0], n, &right[0], m, &out[0])


cdef int _check_sums(const int64_t[::1] sums, str name) except -1:
    """That any two can be added, and a third once those are clamped."""
    cdef int64_t i, least = 0, most = 0
    with nogil:
        for i in range(sums.shape[0]):
            least = min(least, sums[i])
            most = max(most, sums[i])
    if least < NBC_NONE or most > NBC_ONLY:
        raise ValueError(f"{name} must be sums of {NBC_NONE}..{NBC_ONLY}, got {least if least < NBC_NONE else most}")
    return 0


def settle(int32_t[::1] order not None, int64_t[::1] sums not None, int64_t slack,  # order, sums: in and out
           Exact exact not None):
    """Bring half b from an order that is right up to `slack` into the exact one; False where limbs are needed."""
    cdef int64_t n = order.shape[0]
    cdef int32_t *spare
    cdef int64_t *spare_sums
    cdef int result = 1
    cdef nbc_settled at
    if sums.shape[0] != n or n != exact.size_b:
        raise ValueError(f"order and sums must be of {exact.size_b} entries, got {n} and {sums.shape[0]}")
    if n == 0:
        return True
    _check_indices(order, n)
    _check_sums(sums, "sums")
    apart(&sums[0], <size_t> n * 8, &order[0], <size_t> n * 4, "order and sums")
    spare = <int32_t *> calloc(<size_t> n, sizeof(int32_t))
    spare_sums = <int64_t *> calloc(<size_t> n, sizeof(int64_t))
    if spare == NULL or spare_sums == NULL:
        free(spare)
        free(spare_sums)
        raise MemoryError()
    at.start = at.stop = at.width = at.low = 0
    try:
        take(&exact.users, "Exact")
    except BaseException:
        free(spare)
        free(spare_sums)
        raise
    try:
        while result == 1:
            with nogil:
                result = nbc_settle(&order[0], &sums[0], n, slack, &exact.exact, spare, spare_sums, &at, STEP)
            PyErr_CheckSignals()
    finally:
        give(&exact.users)
        free(spare)
        free(spare_sums)
    return result == 0


cdef int _check_indices(const int32_t[::1] order, int64_t n) except -1:
    cdef int64_t k, bad = -1
    with nogil:
        for k in range(order.shape[0]):
            if not 0 <= order[k] < n:
                bad = k
                break
    if bad >= 0:
        raise ValueError(f"place {bad}: index {order[bad]} outside 0..{n - 1}")
    return 0


cdef class Lists:
    """Half a, in rising order as far as floats go, and half b, settled; both of one view and pair of classes."""
    cdef nbc_lists lists
    cdef const int64_t[::1] x
    cdef const int32_t[::1] x_order
    cdef const int64_t[::1] u
    cdef const int32_t[::1] u_order
    cdef int users

    def __cinit__(self, const int64_t[::1] x not None, const int32_t[::1] x_order not None,
                  const int64_t[::1] u not None, const int32_t[::1] u_order not None, int64_t error):
        if x.shape[0] != x_order.shape[0] or u.shape[0] != u_order.shape[0]:
            raise ValueError("sums and their order must be equally long")
        if not 0 <= error < NBC_REAL:
            raise ValueError(f"error must be 0..{NBC_REAL - 1}, got {error}")
        # Copies: the kernel goes where they say, and the caller may write to his own.
        self.x, self.x_order, self.u, self.u_order = x, np.array(x_order), u, np.array(u_order)
        x_order, u_order = self.x_order, self.u_order
        _check_indices(x_order, x.shape[0])
        _check_indices(u_order, u.shape[0])
        _check_sums(x, "x")
        _check_sums(u, "u")
        self.lists.n, self.lists.m, self.lists.error = x.shape[0], u.shape[0], error
        if x.shape[0]:
            self.lists.x, self.lists.x_order = &x[0], &x_order[0]
        if u.shape[0]:
            self.lists.u, self.lists.u_order = &u[0], &u_order[0]

    cdef int use(self, int64_t outer, int64_t base, Exact exact) except -1:
        if exact.size_a != self.lists.n or exact.size_b != self.lists.m:
            raise ValueError(f"lists of {self.lists.n} and {self.lists.m} sums do not go with halves of "
                             f"{exact.size_a} and {exact.size_b}")
        if not (NBC_NONE <= outer <= NBC_ONLY and NBC_NONE <= base <= NBC_ONLY):
            raise ValueError(f"outer and base must be {NBC_NONE}..{NBC_ONLY}, got {outer} and {base}")
        self.lists.outer, self.lists.base = outer, base
        return 0

    cdef int begin(self, Exact exact) except -1:
        take(&self.users, "Lists")
        try:
            take(&exact.users, "Exact")
        except BaseException:
            give(&self.users)
            raise
        return 0

    def thresholds(self, int64_t outer, int64_t base, Exact exact not None, const uint64_t[::1] base_limbs not None,
                   int32_t[::1] above not None):  # above: out
        """For each index of half a the place in half b from which on X_c > X_d; False where limbs are needed."""
        cdef int result = 0
        cdef int64_t start = 0, n = self.lists.n
        cdef nbc_walk walk
        if above.shape[0] != n:
            raise ValueError(f"above must have {n} places, got {above.shape[0]}")
        self.begin(exact)
        try:
            exact.use(base_limbs)
            self.use(outer, base, exact)
            walk.high = walk.low = self.lists.m
            while start < n and result == 0:
                with nogil:
                    result = nbc_thresholds(&self.lists, &exact.exact, &above[0], start, min(start + STEP, n), &walk)
                start += STEP
                PyErr_CheckSignals()
        finally:
            give(&self.users)
            give(&exact.users)
        return result == 0

    def nearest(self, int64_t outer, int64_t base, Exact exact not None, const uint64_t[::1] base_limbs not None,
                bint all_pairs=False):
        """The least |f| that is not zero, as (fixed point, i, j), or None; False where limbs are needed."""
        cdef nbc_nearest_found best
        cdef nbc_walk walk
        cdef int result = 0
        cdef int64_t start = 0, stop, n = self.lists.n, step = STEP
        self.begin(exact)
        try:
            exact.use(base_limbs)
            self.use(outer, base, exact)
            best.size, best.i, best.j, best.has_limbs = NBC_REAL, -1, -1, 0
            best.limbs = exact.exact.other
            walk.high = walk.low = self.lists.m
            if all_pairs:
                step = max(STEP // (self.lists.m + 1), 1)
            while start < n and result == 0:
                stop = min(start + step, n)
                with nogil:
                    if all_pairs:
                        result = nbc_nearest_of_all(&self.lists, &exact.exact, &best, start, stop)
                    else:
                        result = nbc_nearest(&self.lists, &exact.exact, &best, start, stop, &walk)
                start = stop
                PyErr_CheckSignals()
        finally:
            give(&self.users)
            give(&exact.users)
        if result < 0:
            return False
        return None if best.i < 0 else (best.size, best.i, best.j)


cdef int _check_weights(const int64_t[::1] weight, const int64_t[::1] rank_weight) except -1:
    """That no sum of products leaves 64 bits."""
    cdef int64_t i, most = 0x7fffffffffffffff
    cdef int64_t total[2]
    cdef bint fits = True
    total[0] = total[1] = 0
    with nogil:
        for i in range(weight.shape[0]):
            if not 0 <= weight[i] <= most - total[0]:
                fits = False
                break
            total[0] += weight[i]
        for i in range(rank_weight.shape[0]):
            if not 0 <= rank_weight[i] <= most - total[1]:
                fits = False
                break
            total[1] += rank_weight[i]
    if not fits or (total[0] and total[1] > most // total[0]):
        raise ValueError("weights must be at least 0 and the product of their totals below 2^63, got others")
    return 0


def dominance(const int32_t[::1] by_above not None, const int32_t[::1] above not None,
              const int32_t[::1] above_too not None, const int64_t[::1] weight not None,
              const int32_t[::1] rank not None, const int64_t[::1] rank_weight not None):
    """The weight of all pairs (i, k) with k >= above[i] and rank[k] < above_too[i].

    `by_above` lists i by falling above[i]; `rank` is a permutation.
    """
    cdef int64_t n = above.shape[0], m = rank.shape[0], total = 0, start = 0, place = m
    cdef int64_t *tree
    if by_above.shape[0] != n or above_too.shape[0] != n or weight.shape[0] != n or rank_weight.shape[0] != m:
        raise ValueError(f"expected arrays of {n} and of {m} entries")
    _check_indices(by_above, n)
    _check_indices(above, m + 1)
    _check_indices(above_too, m + 1)
    _check_indices(rank, m)
    _check_weights(weight, rank_weight)
    if n == 0 or m == 0:
        return 0
    tree = <int64_t *> calloc(<size_t> m + 1, sizeof(int64_t))
    if tree == NULL:
        raise MemoryError()
    try:
        while start < n:
            with nogil:
                total += nbc_dominance(&by_above[0], &above[0], &above_too[0], &weight[0], start, min(start + STEP, n),
                                       &rank[0], &rank_weight[0], m, tree, &place)
            start += STEP
            PyErr_CheckSignals()
    finally:
        free(tree)
    return total


def listed(const int32_t[::1] above not None, const int32_t[::1] above_too not None,
           const int32_t[::1] rank not None, const int32_t[::1] rank_too not None,
           const int32_t[::1] lowest not None, const int32_t[::1] highest not None,
           const int32_t[::1] order not None, int64_t[::1] found_i not None,  # found_i, found_j: out
           int64_t[::1] found_j not None, int64_t steps):
    """List the pairs that differ; how many there are, or -1 less those listed where there are too many."""
    cdef int64_t n = above.shape[0], m = rank.shape[0], found
    if above_too.shape[0] != n or found_i.shape[0] != found_j.shape[0]:
        raise ValueError(f"expected arrays of {n} entries")
    if rank_too.shape[0] != m or lowest.shape[0] != m or highest.shape[0] != m or order.shape[0] != m:
        raise ValueError(f"expected arrays of {m} entries")
    _check_indices(above, m + 1)
    if steps < 0:
        raise ValueError(f"steps must be at least 0, got {steps}")
    if n == 0 or m == 0:
        return 0
    if found_i.shape[0] == 0:
        raise ValueError("found_i must have room for one pair at least")
    apart(&found_i[0], <size_t> found_i.shape[0] * 8, &above[0], <size_t> n * 4, "found_i and above")
    apart(&found_j[0], <size_t> found_j.shape[0] * 8, &above[0], <size_t> n * 4, "found_j and above")
    with nogil:
        found = nbc_list(&above[0], &above_too[0], n, &rank[0], &rank_too[0], &lowest[0], &highest[0], &order[0], m,
                         &found_i[0], &found_j[0], found_i.shape[0], steps)
    return found


def enumerated(const int32_t[:, ::1] above not None, const int32_t[:, ::1] above_too not None,
               const int32_t[:, ::1] rank not None, const int32_t[:, ::1] rank_too not None,
               const int32_t[::1] first not None, const int32_t[::1] second not None, int64_t n_classes,
               bint labels, const int64_t[::1] weight not None, const int64_t[::1] rank_weight not None,
               int64_t start, int64_t stop):
    """The weight of all (i, j), i in start .. stop-1, that differ, and the first such pair or (-1, -1)."""
    cdef int64_t n = above.shape[1], m = rank.shape[1], n_pairs = above.shape[0], total, p, i = -1, j = -1
    cdef int32_t *losers
    if above_too.shape[0] != n_pairs or rank.shape[0] != n_pairs or rank_too.shape[0] != n_pairs:
        raise ValueError(f"expected arrays of {n_pairs} comparisons")
    if first.shape[0] != n_pairs or second.shape[0] != n_pairs:
        raise ValueError(f"expected classes of {n_pairs} comparisons")
    if above_too.shape[1] != n or weight.shape[0] != n or rank_too.shape[1] != m or rank_weight.shape[0] != m:
        raise ValueError(f"expected arrays of {n} and of {m} entries")
    if not 0 <= start <= stop <= n:
        raise ValueError(f"start and stop must be in 0..{n}, got {start} and {stop}")
    if not 0 <= n_classes <= 65536:
        raise ValueError(f"n_classes must be 0..65536, got {n_classes}")
    for p in range(n_pairs):
        if not (0 <= first[p] < n_classes and 0 <= second[p] < n_classes):
            raise ValueError(f"comparison {p}: classes {first[p]}, {second[p]} of {n_classes}")
    _check_weights(weight, rank_weight)
    if start == stop or m == 0 or n_pairs == 0:
        return 0, -1, -1
    losers = <int32_t *> calloc(<size_t> (2 * n_classes * NBC_ENUMERATION_BLOCK), sizeof(int32_t))
    if losers == NULL:
        raise MemoryError()
    with nogil:
        total = nbc_enumerate(&above[0, 0], &above_too[0, 0], n, &rank[0, 0], &rank_too[0, 0], m, n_pairs,
                              &first[0], &second[0], n_classes, labels, &weight[0], &rank_weight[0], start, stop,
                              losers, &i, &j)
    free(losers)
    return total, i, j
