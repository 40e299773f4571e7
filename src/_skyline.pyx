"""Privacy Skyline: groups to integer tables, and the worst breach of a point from the tables."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

import numpy as np

from shared.in_use cimport give, take


cdef extern from "skyline.h" nogil:
    int NBC_OUT_OF_MEMORY, NBC_NO_GROUP

    ctypedef struct nbc_minima:
        int64_t *keys
        int64_t *least
        uint32_t *slots
        int64_t mask, size, room, width

    ctypedef struct nbc_groups:
        const int64_t *offsets
        const uint32_t *values
        const int64_t *counts
        const int64_t *sizes
        int64_t n_pairs, most_distinct

    ctypedef struct nbc_scan:
        int64_t n_values, n_ls, near, width
        const int64_t *ls
        int64_t *direct
        int64_t *top
        int64_t *rest
        int64_t *next
        nbc_minima pairs, modes

    ctypedef struct nbc_tables:
        int64_t n_values, n_modes
        const int64_t *vn_start
        const int64_t *vn_c
        const int64_t *vn_n
        const int64_t *tw_start
        const int64_t *tw_c
        const int64_t *tw_w
        const int64_t *mo_a
        const int64_t *mo_w
        const int64_t *mo_c
        const int64_t *mo_n

    ctypedef struct nbc_worst:
        double odds
        int64_t kind, value, t, v
        int ambiguous, certain

    ctypedef struct nbc_wanted:
        int64_t kind, value, c, n, w, l, group

    int64_t nbc_scan_width(int64_t n_ls)
    void nbc_minima_free(nbc_minima *table)
    int nbc_scan_groups(nbc_scan *scan, const nbc_groups *groups, int64_t start, int64_t stop)
    void nbc_front(const int64_t *values, const int64_t *x, int64_t n, uint8_t *keep)
    int64_t nbc_front_modes(const int64_t *a, const int64_t *w, const int64_t *c, const int64_t *n,
                            int64_t size, uint8_t *keep, int64_t *kept)
    double nbc_fall(int64_t n, int64_t c, int64_t m, double least)
    void nbc_breach(const nbc_tables *tables, int64_t k, int64_t m, double enough, nbc_worst *worst)
    int64_t nbc_locate(const nbc_groups *groups, int64_t n_groups, nbc_wanted *wanted, int64_t n_wanted,
                       int64_t *top, int64_t *open)


cdef int64_t NONE = 0x7FFFFFFFFFFFFFFF  # of a minimum that nothing has reached
cdef int64_t MOST_NEAR = 256            # counts that have a row of their own for each value
cdef int64_t MOST_DIRECT = 1 << 17      # integers in these rows: they should stay in the second cache
cdef int64_t MOST_VALUES = (<int64_t> 1) << 32
cdef int64_t MOST = NONE                # of a count


cdef class Histograms:
    """The arrays of groups, checked: offsets rise from 0 to the number of pairs, and every group has one.

    Counts must be at least 1, and a group's size their sum: who reads them looks. The arrays are not copied.
    """
    cdef const int64_t[::1] offsets, counts, sizes
    cdef const uint32_t[::1] values
    cdef readonly int64_t n_groups
    cdef int64_t most_distinct
    cdef nbc_groups groups

    def __cinit__(self, const int64_t[::1] offsets not None, const uint32_t[::1] values not None,
                  const int64_t[::1] counts not None, const int64_t[::1] sizes not None):
        cdef int64_t g, n_groups = sizes.shape[0], first = 0, following
        if n_groups < 1:
            raise ValueError("expected at least one group, got none")
        if offsets.shape[0] != n_groups + 1 or counts.shape[0] != values.shape[0]:
            raise ValueError(f"{offsets.shape[0]} offsets, {values.shape[0]} values and {counts.shape[0]} counts "
                             f"do not belong to {n_groups} groups")
        if offsets[0] != 0 or offsets[n_groups] != values.shape[0]:
            raise ValueError("offsets must run from 0 to the number of pairs")
        for g in range(n_groups):
            following = offsets[g + 1]
            if following <= first:
                raise ValueError(f"group {g} has no values")
            self.most_distinct = max(self.most_distinct, following - first)
            first = following
        self.offsets, self.values, self.counts, self.sizes = offsets, values, counts, sizes
        self.n_groups = n_groups
        self.groups.offsets = &offsets[0]
        self.groups.values = &values[0]
        self.groups.counts = &counts[0]
        self.groups.sizes = &sizes[0]
        self.groups.n_pairs, self.groups.most_distinct = values.shape[0], self.most_distinct


cdef class Scan:
    """The tables of the groups it was shown, for these l (rising); one a thread."""
    cdef Histograms histograms
    cdef const int64_t[::1] ls
    cdef nbc_scan scan
    cdef int users

    def __cinit__(self, Histograms histograms not None, int64_t n_values, const int64_t[::1] ls not None):
        cdef int64_t i, width
        if not 1 <= n_values <= MOST_VALUES:
            raise ValueError(f"n_values must be 1..2^32, got {n_values}")
        if ls.shape[0] < 1:
            raise ValueError("expected at least one l, got none")
        self.ls = ls = np.array(ls)  # a copy: the kernel counts on their rising
        for i in range(ls.shape[0]):
            if ls[i] > MOST_VALUES:
                raise ValueError(f"ls must be at most 2^32, got {ls[i]}")
            if ls[i] < 0 or (i and ls[i] <= ls[i - 1]):
                raise ValueError(f"ls must rise from at least 0, got {list(ls)}")
        self.histograms = histograms
        self.scan.ls = &ls[0]
        self.scan.n_ls = ls.shape[0]
        self.scan.n_values = n_values
        self.scan.width = width = nbc_scan_width(ls.shape[0])
        self.scan.pairs.width = self.scan.modes.width = width
        self.scan.near = min(MOST_NEAR, MOST_DIRECT // (width * n_values))
        self.scan.direct = <int64_t *> malloc(
            <size_t> (n_values * self.scan.near * width + 1) * sizeof(int64_t))
        self.scan.top = <int64_t *> malloc(<size_t> (histograms.most_distinct + 1) * sizeof(int64_t))
        self.scan.rest = <int64_t *> malloc(<size_t> (2 * width) * sizeof(int64_t))
        if self.scan.direct == NULL or self.scan.top == NULL or self.scan.rest == NULL:
            raise MemoryError("no memory for the tables of a skyline")
        self.scan.next = self.scan.rest + width
        for i in range(n_values * self.scan.near * width):
            self.scan.direct[i] = NONE

    def __dealloc__(self):
        free(self.scan.direct)
        free(self.scan.top)
        free(self.scan.rest)
        nbc_minima_free(&self.scan.pairs)
        nbc_minima_free(&self.scan.modes)

    def add(self, int64_t start, int64_t stop):
        """Look at groups start..stop-1."""
        cdef int status
        if not 0 <= start <= stop <= self.histograms.n_groups:
            raise ValueError(f"groups must be within 0..{self.histograms.n_groups}, got {start}..{stop}")
        take(&self.users, "Scan")
        with nogil:
            status = nbc_scan_groups(&self.scan, &self.histograms.groups, start, stop)
        give(&self.users)
        if status == NBC_NO_GROUP:
            raise ValueError("counts must be at least 1 and add up to the sizes of their groups, and all stay as "
                             "they were given, got others")
        if status == NBC_OUT_OF_MEMORY:
            raise MemoryError("no memory for the tables of a skyline")
        if status < 0:
            raise ValueError(f"values must be 0..{self.scan.n_values - 1}, got a larger one")

    def found(self):
        """(value, c) and (r_1, n - r_1), each with the minima of N and of the W of each l; unsorted."""
        take(&self.users, "Scan")
        give(&self.users)
        return self._found()

    cdef object _found(self):
        cdef int64_t s, c, j, row = 0, size = self.scan.pairs.size, used = 1 + self.scan.n_ls
        cdef int64_t *least
        for s in range(self.scan.n_values * self.scan.near):
            size += self.scan.direct[s * self.scan.width] != NONE
        keys, minima = np.empty((size, 2), np.int64), np.empty((size, used), np.int64)
        cdef int64_t[:, ::1] key = keys, minimum = minima
        for s in range(self.scan.n_values if self.scan.near else 0):
            for c in range(self.scan.near):
                least = self.scan.direct + (s * self.scan.near + c) * self.scan.width
                if least[0] == NONE:
                    continue
                key[row, 0], key[row, 1] = s, c + 1
                for j in range(used):
                    minimum[row, j] = least[j]
                row += 1
        _copy(&self.scan.pairs, key, minimum, row)
        modes = np.empty((self.scan.modes.size, 2), np.int64), np.empty((self.scan.modes.size, used), np.int64)
        key, minimum = modes
        _copy(&self.scan.modes, key, minimum, 0)
        return (keys, minima), modes


cdef void _copy(const nbc_minima *table, int64_t[:, ::1] key, int64_t[:, ::1] minimum, int64_t row) noexcept nogil:
    cdef int64_t i, j
    for i in range(table.size):
        key[row + i, 0] = table.keys[2 * i]
        key[row + i, 1] = table.keys[2 * i + 1]
        for j in range(minimum.shape[1]):
            minimum[row + i, j] = table.least[i * table.width + j]


def front(const int64_t[::1] values not None, const int64_t[::1] x not None, uint8_t[::1] keep not None):
    """Of entries sorted by value, falling count and rising x: keep[i] = whether no earlier one of the value has
    so small an x."""
    if not values.shape[0] == x.shape[0] == keep.shape[0]:
        raise ValueError(f"{values.shape[0]} values, {x.shape[0]} minima and room for {keep.shape[0]}")
    if values.shape[0]:
        with nogil:
            nbc_front(&values[0], &x[0], values.shape[0], &keep[0])


def front_modes(const int64_t[::1] a not None, const int64_t[::1] w not None, const int64_t[::1] c not None,
                const int64_t[::1] n not None, uint8_t[::1] keep not None):
    """Of entries sorted by falling c, falling a, rising n and rising w: keep[i] = whether no earlier one is at
    least as bad in all four."""
    cdef int64_t *kept
    if not a.shape[0] == w.shape[0] == c.shape[0] == n.shape[0] == keep.shape[0]:
        raise ValueError("expected five arrays of one length")
    if a.shape[0] == 0:
        return
    kept = <int64_t *> malloc(<size_t> a.shape[0] * sizeof(int64_t))
    if kept == NULL:
        raise MemoryError("no memory for the tables of a skyline")
    with nogil:
        nbc_front_modes(&a[0], &w[0], &c[0], &n[0], a.shape[0], &keep[0], kept)
    free(kept)


cdef class Tables:
    """Pruned tables for one l. `vn`: value, c, N and `tw`: value, c, W by column, sorted by value; `mo`: a, W,
    c, N by column. Every value of `tw` has entries in `vn`."""
    cdef const int64_t[:, ::1] vn, tw, mo
    cdef int64_t[::1] starts
    cdef nbc_tables tables

    def __cinit__(self, int64_t n_values, const int64_t[:, ::1] vn not None, const int64_t[:, ::1] tw not None,
                  const int64_t[:, ::1] mo not None):
        cdef int64_t *vn_start
        cdef int64_t *tw_start
        cdef int64_t s
        if not 1 <= n_values <= MOST_VALUES:
            raise ValueError(f"n_values must be 1..2^32, got {n_values}")
        if (vn.shape[0], tw.shape[0], mo.shape[0]) != (3, 3, 4) or not (vn.shape[1] and tw.shape[1] and mo.shape[1]):
            raise ValueError("expected entries of 3, 3 and 4 rows")
        # Copies: what was checked stays.
        self.vn, self.tw, self.mo = np.array(vn), np.array(tw), np.array(mo)
        vn, tw, mo = self.vn, self.tw, self.mo
        _check_entries("vn", vn[1], vn[2], True)
        _check_entries("tw", tw[1], tw[2], False)
        _check_entries("mo", mo[0], mo[1], False)
        _check_entries("mo", mo[2], mo[3], True)
        self.starts = np.empty(2 * (n_values + 1), np.int64)
        vn_start = &self.starts[0]
        tw_start = &self.starts[n_values + 1]
        if _starts(vn[0], n_values, vn_start) or _starts(tw[0], n_values, tw_start):
            raise ValueError(f"values must rise within 0..{n_values - 1}")
        for s in range(n_values):
            if tw_start[s] < tw_start[s + 1] and vn_start[s] == vn_start[s + 1]:
                raise ValueError(f"every value of tw must have entries in vn, value {s} has none")
        self.tables.n_values = n_values
        self.tables.n_modes = mo.shape[1]
        self.tables.vn_start, self.tables.tw_start = vn_start, tw_start
        self.tables.vn_c, self.tables.vn_n = &vn[1, 0], &vn[2, 0]
        self.tables.tw_c, self.tables.tw_w = &tw[1, 0], &tw[2, 0]
        self.tables.mo_a, self.tables.mo_w = &mo[0, 0], &mo[1, 0]
        self.tables.mo_c, self.tables.mo_n = &mo[2, 0], &mo[3, 0]

    def breach(self, int64_t k, int64_t m, double enough=0):
        """(odds, case, value, entry of TW or MO, entry of VN, ambiguous, certain) of the worst attack.

        Products are cut short below `enough`; `certain` says that the odds are exactly 0.
        """
        cdef nbc_worst worst
        if k < 0 or m < 0 or k > MOST - m:
            raise ValueError(f"k and m must be at least 0 and below 2^63 together, got {k} and {m}")
        with nogil:
            nbc_breach(&self.tables, k, m, enough, &worst)
        return (worst.odds, worst.kind, worst.value, worst.t, worst.v, bool(worst.ambiguous), bool(worst.certain))


cdef int _check_entries(str name, const int64_t[::1] c, const int64_t[::1] x, bint together) except -1:
    """That counts are at least 1 and the others at least 0, and (`together`) that both make a group's size."""
    cdef int64_t i
    for i in range(c.shape[0]):
        if c[i] < 1 or x[i] < 0 or (together and x[i] > MOST - c[i]):
            raise ValueError(f"{name} must have counts of at least 1 beside numbers of at least 0, both below 2^63 "
                             f"together, got {c[i]} and {x[i]}")
    return 0


cdef bint _starts(const int64_t[::1] values, int64_t n_values, int64_t *start) noexcept nogil:
    """Where each value starts; whether they do not rise, or are out of range."""
    cdef int64_t i, v = 0
    for i in range(values.shape[0]):
        if values[i] < (values[i - 1] if i else 0) or values[i] >= n_values:
            return True
        while v <= values[i]:
            start[v] = i
            v += 1
    while v <= n_values:
        start[v] = values.shape[0]
        v += 1
    return False


def locate(Histograms histograms not None, int64_t[:, ::1] wanted not None):
    """The first group with each of these entries; wanted: kind, value, c, N, W, l and, out, the group (or -1).

    kind 0: value, c and N; 1: value, c and W; 2: r_1 = c, N and W, and the value is that of the mode (out).
    """
    cdef int64_t *top
    cdef int64_t i, left
    cdef int64_t[:, ::1] own
    if wanted.shape[1] != 7:
        raise ValueError(f"expected rows of 7, got {wanted.shape[1]}")
    if wanted.shape[0] == 0:
        return
    own = np.array(wanted)  # a copy: what was checked stays
    for i in range(own.shape[0]):
        if not (0 <= own[i, 0] <= 2 and 0 <= own[i, 5] <= MOST_VALUES):
            raise ValueError(f"wanted must have a kind of 0..2 and an l of 0..2^32, got {own[i, 0]} and {own[i, 5]}")
    top = <int64_t *> malloc(<size_t> (histograms.most_distinct + 1 + own.shape[0]) * sizeof(int64_t))
    if top == NULL:
        raise MemoryError("no memory to look for a group")
    with nogil:
        left = nbc_locate(&histograms.groups, histograms.n_groups, <nbc_wanted *> &own[0, 0], own.shape[0], top,
                          top + histograms.most_distinct + 1)
    free(top)
    wanted[:] = own
    if left < 0:
        raise ValueError("offsets must stay as they were given, got others since")


def falls(const int64_t[::1] n not None, const int64_t[::1] c not None, int64_t m, double[::1] out not None):
    """out[i] = prod_{j<m} (n[i] - j) / (n[i] + c[i] - j), 0 where a numerator is not positive."""
    cdef int64_t i, of, more, bad = -1
    if not n.shape[0] == c.shape[0] == out.shape[0]:
        raise ValueError(f"{n.shape[0]} n, {c.shape[0]} c and room for {out.shape[0]}")
    with nogil:
        for i in range(n.shape[0]):
            of, more = n[i], c[i]
            if more < 0 or of > MOST - more:
                bad = i
                break
            out[i] = nbc_fall(of, more, m, 0)
    if bad >= 0:
        raise ValueError(f"c must be at least 0 and n + c below 2^63, got {c[bad]} and {n[bad]} at {bad}")
