"""Naive Bayes counts from columns of codes: how often each (value, class) pair occurs."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from shared.in_use cimport give, take
from nbcfast._columns cimport Columns, drop_plan, is_matrix, nbc_code, nbc_column, nbc_plan, take_plan


cdef extern from "count.h" nogil:
    """
    /* Without vectors of the compiler's own there is no matrix path; the others do its work. */
    #ifndef NBC_MATRIX
    #define NBC_MATRIX 0
    typedef struct {
        uint8_t order[16]; uint16_t low[8], high[8]; uint32_t left[4], by_class[4];
        int64_t first, n_groups, offset[NBC_LANES];
    } nbc_window;
    #define nbc_count_matrix(...) (-1)
    #endif
    """
    int NBC_BLOCK, NBC_ROWS, NBC_LANES, NBC_MATRIX

    ctypedef struct nbc_window:
        uint8_t order[16]
        uint16_t low[8]
        uint16_t high[8]
        uint32_t left[4]
        uint32_t by_class[4]
        int64_t first
        int64_t n_groups
        int64_t offset[4]

    int64_t nbc_count_rows(const nbc_column *columns, int64_t n_attributes, const nbc_plan *plan,
                           uint16_t *tables, uint32_t *sums, int64_t *pending, uint16_t *index,
                           uint64_t *space, int64_t start, int64_t stop)
    int64_t nbc_count_straight(const nbc_column *columns, int64_t n_attributes, const int64_t *members,
                               int64_t n_members, const int64_t *weights, int64_t *counts,
                               const int64_t *first, uint16_t *y, uint64_t *space, int64_t start, int64_t stop)
    int64_t nbc_count_matrix(const nbc_column *columns, int64_t n_attributes, const nbc_window *windows,
                             int64_t n_windows, int64_t total, uint16_t *tables, uint32_t *sums,
                             int64_t *pending, uint8_t *bytes, uint8_t *most, uint16_t *y, uint32_t *index,
                             uint64_t *space, int64_t start, int64_t stop)
    void nbc_sum_out(const nbc_column *columns, int64_t n_classes, const nbc_plan *plan, uint16_t *tables,
                     uint32_t *sums, int64_t *counts, const int64_t *first)


# The sum of an entry of a joint table is 32 bits wide and gains at most one a row.
cdef int64_t FLUSH = (<int64_t> 1) << 31
cdef int64_t MOST = 0x7FFFFFFFFFFFFFFF

cdef class Tally:
    """Counts of the rows it was shown; one a thread, over shared Columns.

    Columns are the attributes and then the class. Group g of attributes, members[first[g]:first[g + 1]],
    is counted in one joint table; attributes in no group are counted one by one, and so are all
    attributes of weighted rows. Weights must be positive and their sum fit 63 bits, as check_weights of
    _codes says: they are not looked at again, and counts of others mean nothing.
    """
    cdef Columns columns
    cdef const int64_t[::1] weights
    cdef int64_t n_attributes, n_classes, n_counts, n_windows, pending
    cdef int64_t held           # the most that a counter of `tables` holds
    cdef int users
    cdef nbc_plan plan
    cdef nbc_window *windows
    cdef int64_t *first         # where the counts of an attribute start
    cdef int64_t *counts
    cdef uint16_t *tables
    cdef uint32_t *sums
    cdef uint32_t *lanes
    cdef uint16_t *index
    cdef uint64_t *space
    cdef uint8_t *most
    cdef uint8_t *bytes

    def __cinit__(self, Columns columns not None, const int64_t[::1] first not None,
                  const int64_t[::1] members not None, const int64_t[::1] weights=None):
        cdef int64_t a, total
        if columns.n_columns < 2:
            raise ValueError(f"expected attribute columns and a class column, got {columns.n_columns} columns")
        if weights is not None and weights.shape[0] != columns.n_rows:
            raise ValueError(f"{weights.shape[0]} weights but {columns.n_rows} rows")
        self.columns = columns
        self.weights = weights
        self.n_attributes = columns.n_columns - 1
        self.n_classes = columns.columns[self.n_attributes].size
        if self.n_classes > 65536:
            raise ValueError(f"at most 65536 classes, got {self.n_classes}")
        # No more windows than groups, and no more groups than attributes.
        self.windows = <nbc_window *> calloc(<size_t> self.n_attributes, sizeof(nbc_window))
        self.first = <int64_t *> calloc(<size_t> self.n_attributes + 1, sizeof(int64_t))
        if self.windows == NULL or self.first == NULL:
            raise MemoryError()
        for a in range(self.n_attributes):
            if columns.columns[a].size > (<int64_t> 1 << 60) / max(self.n_classes, 1) - self.first[a]:
                raise ValueError(f"column {a} has too many values to count: {columns.columns[a].size}")
            self.first[a + 1] = self.first[a] + columns.columns[a].size * self.n_classes
        self.n_counts = self.first[self.n_attributes]
        take_plan(&self.plan, columns.columns, self.n_attributes, self.n_classes, first, members)
        if weights is not None and self.plan.n_groups:
            raise ValueError("weighted rows are counted without groups")
        if by_four(self):
            make_windows(self)
        total = self.plan.offset[self.plan.n_groups]
        self.counts = <int64_t *> calloc(<size_t> self.n_counts + 1, sizeof(int64_t))
        self.tables = <uint16_t *> calloc(<size_t> (4 * total) + 1, sizeof(uint16_t))
        self.sums = <uint32_t *> calloc(<size_t> total + 1, sizeof(uint32_t))
        self.index = <uint16_t *> calloc(2 * NBC_BLOCK, sizeof(uint16_t))
        self.space = <uint64_t *> calloc(NBC_BLOCK, sizeof(uint64_t))
        if (self.counts == NULL or self.tables == NULL or self.sums == NULL or self.index == NULL
                or self.space == NULL):
            raise MemoryError()
        if self.n_windows:
            self.bytes = <uint8_t *> calloc(<size_t> (NBC_ROWS * self.n_attributes) + 32, 1)
            self.most = <uint8_t *> calloc(<size_t> (64 * self.n_attributes), 1)
            self.lanes = <uint32_t *> calloc(NBC_LANES * NBC_ROWS, sizeof(uint32_t))
            if self.bytes == NULL or self.most == NULL or self.lanes == NULL:
                raise MemoryError()

    def __dealloc__(self):
        drop_plan(&self.plan)
        free(self.first)
        free(self.windows)
        free(self.counts)
        free(self.tables)
        free(self.sums)
        free(self.index)
        free(self.space)
        free(self.bytes)
        free(self.most)
        free(self.lanes)

    def add(self, int64_t start, int64_t stop):
        """Count rows start .. stop-1; the number of a column with a code out of range, or -1.

        After an answer other than -1 the tally is of no use.
        """
        cdef int64_t bad = -1, upto
        if not 0 <= start <= stop <= self.columns.n_rows:
            raise ValueError(f"rows {start} to {stop} of {self.columns.n_rows}")
        take(&self.users, "Tally")
        with nogil:
            while start < stop and bad < 0:
                upto = start + min(stop - start, FLUSH - self.pending)
                bad = count_range(self, start, upto)
                if bad < 0:
                    self.pending += upto - start
                    start = upto
                    if self.pending == FLUSH:
                        flush(self)
        give(&self.users)
        return bad

    def add_to(self, int64_t[::1] counts not None):  # counts: in and out
        """Add what was counted to `counts`, attribute by attribute, values by classes, and start again from 0."""
        cdef int64_t i, bad = -1
        if counts.shape[0] != self.n_counts:
            raise ValueError(f"counts must have {self.n_counts} entries, got {counts.shape[0]}")
        take(&self.users, "Tally")
        with nogil:
            flush(self)
            for i in range(self.n_counts):
                if self.counts[i] < 0 or counts[i] > MOST - self.counts[i]:
                    bad = i
            if bad < 0:
                for i in range(self.n_counts):
                    counts[i] += self.counts[i]
                memset(self.counts, 0, <size_t> self.n_counts * sizeof(int64_t))
        give(&self.users)
        if bad >= 0:
            raise ValueError(f"counts must stay below 2^63, got {counts[bad]} at {bad} and more to add")


def tally_few(Columns columns not None, int64_t[:, ::1] counts not None,  # counts: in and out
              const int64_t[::1] weights=None):
    """Add rows that are too few for joint tables; the number of a column with a code out of range, or -1.

    Columns are the attributes and then the class. The counts have a row for each value of each attribute and at
    the end one for the classes themselves, and a column for each class. After an answer other than -1 they are
    of no use. Weights are as those of a Tally, and counts of others mean nothing.
    """
    cdef int64_t bad, a, rows = 1
    cdef const int64_t *own = NULL
    if columns.n_columns < 1:
        raise ValueError("expected a class column, got no columns")
    if weights is not None and weights.shape[0] != columns.n_rows:
        raise ValueError(f"{weights.shape[0]} weights but {columns.n_rows} rows")
    for a in range(columns.n_columns - 1):
        rows += columns.columns[a].size
    if counts.shape[0] != rows or counts.shape[1] != columns.columns[columns.n_columns - 1].size:
        raise ValueError(f"counts must be {rows} x {columns.columns[columns.n_columns - 1].size}, "
                         f"got {counts.shape[0]} x {counts.shape[1]}")
    if columns.n_rows == 0:
        return -1
    if weights is not None:
        own = &weights[0]
    with nogil:
        bad = few(columns.columns, columns.n_columns - 1, columns.n_rows, &counts[0, 0], own)
    return bad


cdef int64_t few(const nbc_column *columns, int64_t n_attributes, int64_t n_rows, int64_t *counts,
                 const int64_t *weights) noexcept nogil:
    """The work of tally_few, some rows at a time, whose classes are looked at once."""
    cdef int64_t classes[256]
    cdef int64_t start, i, n, a, code, n_classes = columns[n_attributes].size
    cdef const uint8_t *bytes
    cdef int64_t *into
    for start in range(0, n_rows, 256):
        n = min(256, n_rows - start)
        for i in range(n):
            classes[i] = nbc_code(&columns[n_attributes], start + i)
            if classes[i] < 0:
                return n_attributes
        into = counts
        for a in range(n_attributes):
            if weights == NULL and columns[a].width == 1 and columns[a].stride == 1:
                bytes = <const uint8_t *> columns[a].data + start
                for i in range(n):
                    code = bytes[i]
                    if code >= columns[a].limit:
                        return a
                    add(into + code * n_classes + classes[i], 1)
            elif weights == NULL:
                for i in range(n):
                    code = nbc_code(&columns[a], start + i)
                    if code < 0:
                        return a
                    add(into + code * n_classes + classes[i], 1)
            else:
                for i in range(n):
                    code = nbc_code(&columns[a], start + i)
                    if code < 0:
                        return a
                    add(into + code * n_classes + classes[i], weights[start + i])
            into += columns[a].size * n_classes
        for i in range(n):
            add(into + classes[i], 1 if weights == NULL else weights[start + i])
    return -1


cdef inline void add(int64_t *count, int64_t weight) noexcept nogil:
    """Without sign: who gave weights or counts looked at their sum before, or it means nothing."""
    (<uint64_t *> count)[0] += <uint64_t> weight


def first_bad(Columns columns not None, int64_t column):
    """The first row of a column whose code is out of range, or -1."""
    cdef int64_t row, bad = -1
    if not 0 <= column < columns.n_columns:
        raise ValueError(f"column {column} of {columns.n_columns}")
    with nogil:
        for row in range(columns.n_rows):
            if nbc_code(&columns.columns[column], row) < 0:
                bad = row
                break
    return bad


def add_checked(int64_t[::1] counts not None, const int64_t[::1] others not None, bint subtract):  # counts: in and out
    """Add or subtract entry by entry; the first entry that would leave 0 .. 2^63-1, or -1.

    Nothing is changed unless the answer is -1.
    """
    cdef Py_ssize_t i, bad = -1
    if counts.shape[0] != others.shape[0]:
        raise ValueError(f"{counts.shape[0]} counts but {others.shape[0]} others")
    with nogil:
        for i in range(counts.shape[0]):
            if others[i] < 0 or counts[i] < 0 or (
                    others[i] > counts[i] if subtract else others[i] > (<int64_t> 0x7fffffffffffffff) - counts[i]):
                bad = i
                break
        else:
            for i in range(counts.shape[0]):
                counts[i] += -others[i] if subtract else others[i]
    return bad


cdef int64_t count_range(Tally tally, int64_t start, int64_t stop) noexcept nogil:
    cdef const nbc_column *columns = tally.columns.columns
    cdef const int64_t *weights = NULL
    cdef int64_t bad = -1
    if tally.weights is not None:
        weights = &tally.weights[0]
    if tally.n_windows:
        bad = nbc_count_matrix(columns, tally.n_attributes, tally.windows, tally.n_windows,
                               tally.plan.offset[tally.plan.n_groups], tally.tables, tally.sums, &tally.held,
                               tally.bytes, tally.most, tally.index, tally.lanes, tally.space, start, stop)
    elif tally.plan.n_groups:
        bad = nbc_count_rows(columns, tally.n_attributes, &tally.plan, tally.tables, tally.sums, &tally.held,
                             tally.index, tally.space, start, stop)
    if bad < 0 and tally.plan.n_straight:
        bad = nbc_count_straight(columns, tally.n_attributes, tally.plan.straight, tally.plan.n_straight, weights,
                                 tally.counts, tally.first, tally.index, tally.space, start, stop)
    return bad


cdef void flush(Tally tally) noexcept nogil:
    nbc_sum_out(tally.columns.columns, tally.n_classes, &tally.plan, tally.tables, tally.sums, tally.counts,
                tally.first)
    tally.pending = tally.held = 0


cdef bint by_four(Tally tally) noexcept nogil:
    """Whether rows can be counted as a matrix: at most four bytes-sized columns of one sixteen a group."""
    cdef const nbc_column *columns = tally.columns.columns
    cdef int64_t g, m, k
    if not NBC_MATRIX or tally.plan.n_groups == 0 or tally.plan.n_straight:
        return False
    for g in range(tally.plan.n_groups):
        m = tally.plan.first[g]
        if tally.plan.first[g + 1] - m > 4:
            return False
        for k in range(m, tally.plan.first[g + 1]):
            if tally.plan.members[k] / 16 != tally.plan.members[m] / 16:
                return False
    return is_matrix(columns, tally.n_attributes)


cdef void make_windows(Tally tally) noexcept nogil:
    """The four-lane form of the plan: groups of one sixteen side by side."""
    cdef const nbc_column *columns = tally.columns.columns
    cdef nbc_window *window = NULL
    cdef int64_t g, m, k, lane, start, n_members, size
    for g in range(tally.plan.n_groups):
        m = tally.plan.first[g]
        n_members = tally.plan.first[g + 1] - m
        start = tally.plan.members[m] / 16 * 16
        if window == NULL or window.first != start or window.n_groups == NBC_LANES:
            window = &tally.windows[tally.n_windows]
            tally.n_windows += 1
            window.first = start
        lane = window.n_groups
        window.n_groups += 1
        window.offset[lane] = tally.plan.offset[g]
        window.left[lane] = 1
        window.by_class[lane] = 1
        for k in range(n_members):
            size = columns[tally.plan.members[m + k]].size
            window.order[4 * lane + k] = <uint8_t> (tally.plan.members[m + k] - start)
            window.by_class[lane] *= <uint32_t> size
            if k >= 2:
                window.left[lane] *= <uint32_t> size
            if k % 2:
                window.low[2 * lane + k / 2] = <uint16_t> size
                window.high[2 * lane + k / 2] = 1
            else:
                window.low[2 * lane + k / 2] = 1
