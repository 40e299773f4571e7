"""Rows to groups: how often each sensitive value occurs in each group; distances of groups from the whole."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

import numpy as np

from shared.in_use cimport apart, give, take
from nbcfast._columns cimport Columns, nbc_column


cdef extern from "groups.h" nogil:
    int NBC_GROUP_BLOCK, NBC_OUT_OF_MEMORY

    ctypedef struct nbc_run:
        uint64_t *keys
        int64_t *counts
        int64_t size

    ctypedef struct nbc_slot:
        uint64_t key
        int64_t count

    ctypedef struct nbc_hash:
        nbc_slot *slots
        uint64_t mask
        int64_t taken

    int64_t nbc_keys32(const nbc_column *columns, int64_t n_columns, int64_t value_size, uint32_t *keys,
                       int64_t row, int64_t n)
    int64_t nbc_keys64(const nbc_column *columns, int64_t n_columns, int64_t value_size, uint64_t *keys,
                       int64_t row, int64_t n)
    uint32_t *nbc_radix32(uint32_t *a, uint32_t *b, int64_t n, int bits)
    uint64_t *nbc_radix64(uint64_t *a, uint64_t *b, int64_t n, int bits)
    int nbc_runs32(const uint32_t *keys, int64_t n, nbc_run *out)
    int nbc_runs64(const uint64_t *keys, int64_t n, nbc_run *out)
    void nbc_run_free(nbc_run *run)
    int nbc_run_make(nbc_run *run, int64_t size)
    int nbc_run_merge(const nbc_run *a, const nbc_run *b, nbc_run *out)
    int nbc_hash_add(nbc_hash *table, const uint64_t *keys, const int64_t *weights, int64_t n)
    int nbc_hash_run(const nbc_hash *table, nbc_run *out, int bits)
    void nbc_dense_add(uint32_t *even, uint32_t *odd, const uint32_t *keys, int64_t n)
    int64_t nbc_dense_size(const uint32_t *table, int64_t n_groups, int64_t size, int64_t *groups)
    void nbc_dense_out(const uint32_t *table, int64_t n_groups, int64_t size, int64_t *offsets,
                       uint32_t *values, int64_t *counts, int64_t *sizes, uint64_t *keys)
    int64_t nbc_run_groups(const nbc_run *run, int value_bits)
    void nbc_run_out(const nbc_run *run, int value_bits, int64_t *offsets, uint32_t *values,
                     int64_t *counts, int64_t *sizes, uint64_t *keys)


DENSE, RADIX, HASH = 0, 1, 2

cdef enum:
    _DENSE = 0
    _RADIX = 1
    _HASH = 2
    FIRST_SLOTS = 8192      # of the hash table
    TWO_TABLES = 1 << 14    # cells: up to here a second table costs nothing

cdef int64_t MOST_CELLS = (<int64_t> 1) << 31
cdef int64_t FLUSH = (<int64_t> 1) << 31  # rows that a counter of 32 bits can take
cdef int64_t MOST = 0x7FFFFFFFFFFFFFFF
cdef int64_t NOT_POSITIVE = -3


cdef class Grouper:
    """Pairs of the rows it was shown; one a thread, over shared Columns.

    The columns are those that make the groups and then the sensitive one. The product of their sizes, the
    last one rounded up to a power of two, must be below 2^63. `method`: DENSE (a counter for each possible
    pair), RADIX (sort each lot of rows) or HASH. Only HASH takes weights, which must be positive and
    whose sum must fit 63 bits.
    """
    cdef Columns columns
    cdef const int64_t[::1] weights
    cdef bint weighted, two
    cdef int method, bits, value_bits
    cdef int64_t n_groups, n_values, pending, room, n_runs, most_runs, people
    cdef int users
    cdef uint32_t *table
    cdef void *keys
    cdef void *space
    cdef nbc_hash slots
    cdef nbc_run *runs

    def __cinit__(self, Columns columns not None, int method, const int64_t[::1] weights=None):
        cdef Py_ssize_t c
        cdef object total = 1
        if columns.n_columns < 1:
            raise ValueError("expected a sensitive column, got no columns")
        if method not in (_DENSE, _RADIX, _HASH):
            raise ValueError(f"method must be DENSE, RADIX or HASH, got {method}")
        self.weighted = weights is not None
        if self.weighted and method != _HASH:
            raise ValueError("only HASH takes weights")
        if self.weighted and weights.shape[0] != columns.n_rows:
            raise ValueError(f"{weights.shape[0]} weights but {columns.n_rows} rows")
        for c in range(columns.n_columns - 1):
            total *= columns.columns[c].size
        self.columns = columns
        self.weights = weights
        self.method = method
        self.n_values = columns.columns[columns.n_columns - 1].size
        if self.n_values < 1 or self.n_values > (<int64_t> 1) << 32:
            raise ValueError(f"the sensitive column must have 1..2^32 values, got {self.n_values}")
        self.value_bits = (<object> (self.n_values - 1)).bit_length()
        self.bits = (max(total, 1) - 1).bit_length() + self.value_bits
        if self.bits > 63:
            raise ValueError(f"a group and a value must fit 63 bits, got {self.bits}")
        self.n_groups = total
        if method == _DENSE:
            if total * self.n_values > MOST_CELLS:
                raise ValueError(f"a dense table has at most {MOST_CELLS} cells, got {total * self.n_values}")
            self.two = total * self.n_values <= TWO_TABLES
            self.table = <uint32_t *> calloc(<size_t> (self.cells() * (1 + self.two) + 1), sizeof(uint32_t))
            self.keys = malloc(<size_t> NBC_GROUP_BLOCK * sizeof(uint32_t))
            if self.table == NULL or self.keys == NULL:
                raise MemoryError("no memory for a table of groups")
        elif method == _HASH:
            self.slots.slots = <nbc_slot *> calloc(FIRST_SLOTS, sizeof(nbc_slot))
            self.keys = malloc(<size_t> NBC_GROUP_BLOCK * sizeof(uint64_t))
            if self.slots.slots == NULL or self.keys == NULL:
                raise MemoryError("no memory for a table of groups")
            self.slots.mask = FIRST_SLOTS - 1

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.n_runs):
            nbc_run_free(&self.runs[i])
        free(self.runs)
        free(self.table)
        free(self.keys)
        free(self.space)
        free(self.slots.slots)

    cdef int64_t cells(self) noexcept nogil:
        return self.n_groups * self.n_values

    def add(self, int64_t start, int64_t stop):
        """Count rows start..stop-1; -1, or a column that has a code out of range among them."""
        cdef int64_t status
        if not 0 <= start <= stop <= self.columns.n_rows:
            raise ValueError(f"rows must be within 0..{self.columns.n_rows}, got {start}..{stop}")
        take(&self.users, "Grouper")
        with nogil:
            if self.method == _DENSE:
                status = self._add_dense(start, stop)
            elif self.method == _RADIX:
                status = self._add_radix(start, stop)
            else:
                status = self._add_hash(start, stop)
        give(&self.users)
        if status == NOT_POSITIVE:
            raise ValueError("weights must be at least 1 and add up to less than 2^63, got others")
        if status == NBC_OUT_OF_MEMORY:
            raise MemoryError("no memory for a table of groups")
        return status

    cdef int64_t _add_dense(self, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t row, n, bad
        cdef uint32_t *keys = <uint32_t *> self.keys
        cdef uint32_t *odd = self.table + (self.cells() if self.two else 0)
        row = start
        while row < stop:
            n = min(stop - row, <int64_t> NBC_GROUP_BLOCK)
            if self.pending + n > FLUSH:
                if self._flush():
                    return NBC_OUT_OF_MEMORY
            bad = nbc_keys32(self.columns.columns, self.columns.n_columns, self.n_values, keys, row, n)
            if bad >= 0:
                return bad
            nbc_dense_add(self.table, odd, keys, n)
            self.pending += n
            row += n
        return -1

    cdef int64_t _add_radix(self, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t n = stop - start, bad
        cdef size_t width = 4 if self.bits <= 32 else 8
        cdef nbc_run run
        cdef int status
        if n > self.room:
            free(self.keys)
            free(self.space)
            self.room = 0
            self.keys = malloc(<size_t> n * width)
            self.space = malloc(<size_t> n * width)
            if self.keys == NULL or self.space == NULL:
                return NBC_OUT_OF_MEMORY
            self.room = n
        if width == 4:
            bad = nbc_keys32(self.columns.columns, self.columns.n_columns, (<int64_t> 1) << self.value_bits,
                             <uint32_t *> self.keys, start, n)
        else:
            bad = nbc_keys64(self.columns.columns, self.columns.n_columns, (<int64_t> 1) << self.value_bits,
                             <uint64_t *> self.keys, start, n)
        if bad >= 0:
            return bad
        if width == 4:
            status = nbc_runs32(nbc_radix32(<uint32_t *> self.keys, <uint32_t *> self.space, n, self.bits),
                                n, &run)
        else:
            status = nbc_runs64(nbc_radix64(<uint64_t *> self.keys, <uint64_t *> self.space, n, self.bits),
                                n, &run)
        if status or self._push(run):
            return NBC_OUT_OF_MEMORY
        return -1

    cdef int64_t _add_hash(self, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t row, n, bad
        cdef uint64_t *keys = <uint64_t *> self.keys
        cdef const int64_t *weights = NULL
        row = start
        while row < stop:
            n = min(stop - row, <int64_t> NBC_GROUP_BLOCK)
            bad = nbc_keys64(self.columns.columns, self.columns.n_columns, (<int64_t> 1) << self.value_bits,
                             keys, row, n)
            if bad >= 0:
                return bad
            if self.weighted:
                weights = &self.weights[row]
                if not self._weigh(weights, n):
                    return NOT_POSITIVE
            if nbc_hash_add(&self.slots, keys, weights, n):
                return NBC_OUT_OF_MEMORY
            row += n
        return -1

    cdef bint _weigh(self, const int64_t *weights, int64_t n) noexcept nogil:
        """Whether the weights of at most 2048 rows are positive and, with those before, below 2^63 in all."""
        cdef int64_t i
        cdef uint64_t bits = 0, total = 0, weight
        for i in range(n):  # without a branch: the compiler makes vectors of it
            weight = <uint64_t> weights[i]
            bits |= weight | (weight - 1)
            total += weight
        if bits >> 63 != 0:
            return False  # one is 0 or negative
        if bits >> 51 != 0:  # only then the sum may not fit
            total = 0
            for i in range(n):
                if <uint64_t> weights[i] > <uint64_t> (MOST - self.people) - total:
                    return False
                total += <uint64_t> weights[i]
        if total > <uint64_t> (MOST - self.people):
            return False
        self.people += <int64_t> total
        return True

    cdef int _push(self, nbc_run run) noexcept nogil:
        """Keep a run, or free it; runs of like sizes are merged, so that few are open and each moves seldom."""
        cdef nbc_run *grown
        cdef nbc_run merged
        if self.n_runs == self.most_runs:
            grown = <nbc_run *> realloc(self.runs, <size_t> (2 * self.most_runs + 8) * sizeof(nbc_run))
            if grown == NULL:
                nbc_run_free(&run)
                return NBC_OUT_OF_MEMORY
            self.runs = grown
            self.most_runs = 2 * self.most_runs + 8
        self.runs[self.n_runs] = run
        self.n_runs += 1
        while self.n_runs > 1 and self.runs[self.n_runs - 2].size <= 2 * self.runs[self.n_runs - 1].size:
            if nbc_run_merge(&self.runs[self.n_runs - 2], &self.runs[self.n_runs - 1], &merged):
                return NBC_OUT_OF_MEMORY
            nbc_run_free(&self.runs[self.n_runs - 1])
            nbc_run_free(&self.runs[self.n_runs - 2])
            self.n_runs -= 1
            self.runs[self.n_runs - 1] = merged
        return 0

    cdef int _flush(self) noexcept nogil:
        """What the table holds becomes a run; the table is then empty."""
        cdef nbc_run run
        cdef int64_t i, g, v, groups, j = 0
        if self.method == _DENSE:
            self._join()
            if nbc_run_make(&run, nbc_dense_size(self.table, self.n_groups, self.n_values, &groups)):
                return NBC_OUT_OF_MEMORY
            i = 0
            for g in range(self.n_groups):
                for v in range(self.n_values):
                    run.keys[j] = (<uint64_t> g << self.value_bits) | <uint64_t> v
                    run.counts[j] = self.table[i]
                    j += self.table[i] != 0
                    i += 1
            memset(self.table, 0, <size_t> self.cells() * sizeof(uint32_t))
            self.pending = 0
        elif self.method == _HASH:
            if nbc_hash_run(&self.slots, &run, self.bits):
                return NBC_OUT_OF_MEMORY
            memset(self.slots.slots, 0, <size_t> (self.slots.mask + 1) * sizeof(nbc_slot))
            self.slots.taken = 0
        else:
            return 0
        return self._push(run)

    cdef void _join(self) noexcept nogil:
        """The second table into the first."""
        cdef int64_t i, cells = self.cells()
        if self.two:
            for i in range(cells):
                self.table[i] += self.table[cells + i]
                self.table[cells + i] = 0

    def absorb(self, Grouper other not None):
        """Take over what another one over columns of the same sizes has counted; it is empty then."""
        cdef int64_t i
        cdef int status = 0
        if other is self:
            raise ValueError("a Grouper cannot absorb itself")
        if (other.method, other.n_groups, other.n_values) != (self.method, self.n_groups, self.n_values):
            raise ValueError("expected a Grouper of the same method and sizes")
        if other.people > MOST - self.people:
            raise ValueError("weights must add up to less than 2^63, got a larger total")
        take(&self.users, "Grouper")
        try:
            take(&other.users, "Grouper")
        except BaseException:
            give(&self.users)
            raise
        with nogil:
            if self.method == _DENSE and self.pending + other.pending <= FLUSH:
                other._join()
                for i in range(self.cells()):
                    self.table[i] += other.table[i]
                memset(other.table, 0, <size_t> self.cells() * sizeof(uint32_t))
                self.pending += other.pending
                other.pending = 0
            else:
                status = other._flush()
            while other.n_runs and not status:
                other.n_runs -= 1
                status = self._push(other.runs[other.n_runs])
        self.people += other.people
        other.people = 0
        give(&self.users)
        give(&other.users)
        if status:
            raise MemoryError("no memory for a table of groups")

    def finish(self):
        """Offsets of groups among pairs, values, counts, sizes of groups and their keys, sorted.

        The key of a group is its codes in mixed radix, the first column most significant.
        """
        take(&self.users, "Grouper")
        try:
            return self._finish()
        finally:
            give(&self.users)

    cdef object _finish(self):
        cdef int64_t n_pairs, n_groups
        cdef int status
        cdef nbc_run merged
        cdef int64_t[::1] offsets, counts, sizes
        cdef uint32_t[::1] values
        cdef uint64_t[::1] keys
        cdef bint table = self.method == _DENSE and self.n_runs == 0
        with nogil:
            status = 0
            n_pairs = n_groups = 0
            if table:
                self._join()
                n_pairs = nbc_dense_size(self.table, self.n_groups, self.n_values, &n_groups)
            else:
                status = self._flush()
                while self.n_runs > 1 and not status:
                    status = nbc_run_merge(&self.runs[self.n_runs - 2], &self.runs[self.n_runs - 1], &merged)
                    if not status:
                        nbc_run_free(&self.runs[self.n_runs - 1])
                        nbc_run_free(&self.runs[self.n_runs - 2])
                        self.n_runs -= 1
                        self.runs[self.n_runs - 1] = merged
                if self.n_runs and not status:
                    n_pairs = self.runs[0].size
                    n_groups = nbc_run_groups(&self.runs[0], self.value_bits)
        if status:
            raise MemoryError("no memory for a table of groups")
        # One place more than is used: loops without branches write it before they know.
        result = (np.empty(n_groups + 1, np.int64), np.empty(n_pairs + 1, np.uint32),
                  np.empty(n_pairs + 1, np.int64), np.empty(n_groups + 1, np.int64),
                  np.empty(n_groups + 1, np.uint64))
        offsets, values, counts, sizes, keys = result
        offsets[0] = 0
        with nogil:
            if table:
                nbc_dense_out(self.table, self.n_groups, self.n_values, &offsets[0], &values[0], &counts[0],
                              &sizes[0], &keys[0])
            elif self.n_runs:
                nbc_run_out(&self.runs[0], self.value_bits, &offsets[0], &values[0], &counts[0], &sizes[0],
                            &keys[0])
        return (result[0], result[1][:n_pairs], result[2][:n_pairs], result[3][:n_groups],
                result[4][:n_groups])


def distances(const int64_t[::1] offsets not None, const uint32_t[::1] values not None,
              const int64_t[::1] counts not None, const int64_t[::1] sizes not None,
              const int64_t[::1] totals not None, bint ordered, int64_t[::1] out not None):
    """out[g] = |group - whole| as an integer: over size * total for the equal distance, and over
    (values - 1) times that for the ordered one.

    Sizes are the sums of their groups' counts, of values that rise; none times the sum of totals, times the
    larger of 2 and (for the ordered distance) the number of values less 1, may reach 2^63.
    """
    cdef int64_t n_values = totals.shape[0], n_groups = sizes.shape[0], i, whole = 0, bits = 0, most = 0
    cdef int wrong
    cdef bint fits = True
    if offsets.shape[0] != n_groups + 1 or out.shape[0] != n_groups or values.shape[0] != counts.shape[0]:
        raise ValueError(f"{offsets.shape[0]} offsets, {values.shape[0]} values, {counts.shape[0]} counts and "
                         f"room for {out.shape[0]} do not belong to {n_groups} groups")
    if n_groups and (offsets[0] != 0 or offsets[n_groups] != values.shape[0]):
        raise ValueError("offsets must run from 0 to the number of pairs")
    if n_groups:
        apart(&out[0], <size_t> n_groups * 8, &offsets[0], <size_t> n_groups * 8 + 8, "out and offsets")
    if n_groups and values.shape[0]:
        apart(&out[0], <size_t> n_groups * 8, &values[0], <size_t> values.shape[0] * 4, "out and values")
    totals = np.array(totals)  # a copy: what was checked stays
    for i in range(n_values):
        fits &= 0 <= totals[i] <= MOST - whole
        if fits:
            whole += totals[i]
    factor = int(whole) * (max(n_values - 1, 2) if ordered else 2)
    with nogil:
        for i in range(n_groups):
            bits |= sizes[i]  # at least the largest; below 0 where one is
    if bits < 0 or bits * factor >= 1 << 63:
        with nogil:
            for i in range(n_groups):
                fits &= sizes[i] >= 0
                most = max(most, sizes[i])
        fits = fits and most * factor < 1 << 63
    if not fits:
        raise ValueError("sizes and totals must be at least 0 and their products below 2^63, got others")
    if not n_groups:
        return
    with nogil:
        wrong = _distances(&offsets[0], &values[0] if values.shape[0] else NULL,
                           &counts[0] if values.shape[0] else NULL, &sizes[0], n_groups, values.shape[0],
                           &totals[0] if n_values else NULL, n_values, <uint64_t> whole, ordered, &out[0])
    if wrong == FALLING:
        raise ValueError("offsets must not fall")
    if wrong == UNKNOWN:
        raise ValueError(f"values must be below {n_values}, the number of totals")
    if wrong == NO_SUM:
        raise ValueError("sizes must be the sums of their groups' counts"
                         f"{', values must rise in a group' if ordered else ''}, got others")


cdef enum:
    FALLING = 1
    UNKNOWN = 2
    NO_SUM = 3


cdef int _distances(const int64_t *offsets, const uint32_t *values, const int64_t *counts, const int64_t *sizes,
                    int64_t n_groups, int64_t n_pairs, const int64_t *totals, int64_t n_values, uint64_t whole,
                    bint ordered, int64_t *out) noexcept nogil:
    """0, or what is wrong. Where an array says where to go, it is read once and looked at there: others may write to
    it."""
    cdef int64_t g, i, v, difference, following, start = 0
    cdef uint64_t distance, running, size, count, people
    # Without sign: each group's sum is only known to be right once it is made.
    for g in range(n_groups):
        following = (<const volatile int64_t *> offsets)[g + 1]
        if not start <= following <= n_pairs:
            return FALLING
        distance = running = people = 0
        size = <uint64_t> sizes[g]
        if ordered:
            i = start
            for v in range(n_values):
                running -= <uint64_t> totals[v] * size
                if i < following and values[i] == v:
                    running += <uint64_t> counts[i] * whole
                    i += 1
                difference = <int64_t> running
                distance += running if difference >= 0 else 0 - running
            if i < following:
                return UNKNOWN if (<const volatile uint32_t *> values)[following - 1] >= n_values else NO_SUM
            if running != 0:
                return NO_SUM
        else:
            for i in range(start, following):
                v = (<const volatile uint32_t *> values)[i]
                if v >= n_values:
                    return UNKNOWN
                count = <uint64_t> counts[i]
                people += count
                difference = <int64_t> (count * whole - <uint64_t> totals[v] * size)
                distance += <uint64_t> difference if difference > 0 else 0
            if people != size:
                return NO_SUM
        out[g] = <int64_t> distance
        start = following
    return 0
