"""Values to integer codes in the order they are first met; codes to other codes; equal rows found."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from shared.in_use cimport give, take

ctypedef fused any_code:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    OUT_OF_MEMORY = -2
    TOO_MANY = -3
    OVERFLOW = -4
    NOT_POSITIVE = -5
    BLOCK = 1024  # rows hashed at a time

cdef uint32_t EMPTY = 0xFFFFFFFF  # no code: at most 2^32 - 1 distinct values
cdef Py_ssize_t FIRST_SLOTS = 1024
cdef int64_t NEAR = 1 << 15  # keys in [-NEAR, NEAR) of an integer column are looked up without hashing


cdef inline uint64_t _mix(uint64_t x) noexcept nogil:
    """The finalizer of splitmix64: every bit of the key reaches every bit of the hash."""
    x ^= x >> 30
    x *= <uint64_t>0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef class _Slots:
    """An open-addressing table from hashes to codes; whoever owns it compares the keys.

    At most half of the slots are taken. `hashes[code]` is kept, so that growing never looks at a key.
    """

    cdef uint32_t *slots
    cdef uint64_t *hashes
    cdef uint64_t mask
    cdef int users
    cdef Py_ssize_t size      # codes given out
    cdef Py_ssize_t capacity  # of hashes; at most half of the slots

    def __cinit__(self):
        self.slots = <uint32_t *>malloc(FIRST_SLOTS * sizeof(uint32_t))
        self.hashes = <uint64_t *>malloc(FIRST_SLOTS // 2 * sizeof(uint64_t))
        if self.slots == NULL or self.hashes == NULL:
            raise MemoryError("no memory for a table of distinct values")
        memset(self.slots, 0xFF, FIRST_SLOTS * sizeof(uint32_t))
        self.mask = FIRST_SLOTS - 1
        self.capacity = FIRST_SLOTS // 2
        self.size = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.hashes)

    def __len__(self):
        return self.size

    cdef Py_ssize_t grow_slots(self) noexcept nogil:
        """Twice the slots, the codes put where their hashes now belong; 0 or OUT_OF_MEMORY."""
        cdef Py_ssize_t n_slots = 4 * self.capacity, code
        cdef uint64_t place, mask = n_slots - 1
        cdef uint64_t *hashes
        cdef uint32_t *slots = <uint32_t *>malloc(n_slots * sizeof(uint32_t))
        if slots == NULL:
            return OUT_OF_MEMORY
        hashes = <uint64_t *>realloc(self.hashes, 2 * self.capacity * sizeof(uint64_t))
        if hashes == NULL:
            free(slots)
            return OUT_OF_MEMORY
        self.hashes = hashes
        memset(slots, 0xFF, n_slots * sizeof(uint32_t))
        for code in range(self.size):
            place = hashes[code] & mask
            while slots[place] != EMPTY:
                place = (place + 1) & mask
            slots[place] = <uint32_t>code
        free(self.slots)
        self.slots = slots
        self.mask = mask
        self.capacity *= 2
        return 0

    cdef inline void put(self, uint64_t place, uint64_t digest) noexcept nogil:
        """The next code goes to this empty slot; there is room for it."""
        self.slots[place] = <uint32_t>self.size
        self.hashes[self.size] = digest
        self.size += 1


cdef object _failure(Py_ssize_t status):
    if status == OUT_OF_MEMORY:
        return MemoryError("no memory for a table of distinct values")
    if status == OVERFLOW:
        return ValueError("weights must add up to less than 2^63, got a larger total")
    if status == NOT_POSITIVE:
        return ValueError("weights must be at least 1, got a smaller one")
    return ValueError("expected at most 2^32 - 1 distinct values, got more")


cdef class KeyEncoder(_Slots):
    """Codes for 64-bit keys (integers, or the bits of floats) in the order they are first met.

    `near=True` is for integers: a lookup table answers for small ones.
    """

    cdef int64_t *keys
    cdef uint32_t *direct
    cdef int64_t null_code

    def __cinit__(self, bint near=True):
        self.null_code = -1
        self.keys = <int64_t *>malloc(self.capacity * sizeof(int64_t))
        if self.keys == NULL:
            raise MemoryError("no memory for a table of distinct values")
        if near:
            self.direct = <uint32_t *>malloc(2 * NEAR * sizeof(uint32_t))
            if self.direct == NULL:
                raise MemoryError("no memory for a table of distinct values")
            memset(self.direct, 0xFF, 2 * NEAR * sizeof(uint32_t))

    def __dealloc__(self):
        free(self.keys)
        free(self.direct)

    def encode(self, const int64_t[::1] keys not None, const uint8_t[::1] nulls,
               uint32_t[::1] out not None):
        """out[i] = the code of keys[i]; where nulls[i] is set (`nulls` may be None), the code of null."""
        cdef Py_ssize_t status
        if keys.shape[0] != out.shape[0] or (nulls is not None and nulls.shape[0] != keys.shape[0]):
            raise ValueError(f"{keys.shape[0]} keys, {'no' if nulls is None else len(nulls)} nulls, "
                             f"room for {out.shape[0]} codes")
        take(&self.users, "KeyEncoder")
        with nogil:
            status = self._encode(keys, nulls, out)
        give(&self.users)
        if status < 0:
            raise _failure(status)

    cdef Py_ssize_t _encode(self, const int64_t[::1] keys, const uint8_t[::1] nulls,
                            uint32_t[::1] out) noexcept nogil:
        cdef Py_ssize_t i
        cdef int64_t key, code
        cdef bint has_nulls = nulls is not None
        for i in range(keys.shape[0]):
            key = keys[i]
            if has_nulls and nulls[i]:
                if self.null_code < 0:
                    code = self._append(0)
                    if code < 0:
                        return code
                    self.null_code = code
                out[i] = <uint32_t>self.null_code
                continue
            if self.direct != NULL and -NEAR <= key < NEAR:
                if self.direct[key + NEAR] == EMPTY:
                    code = self._append(key)
                    if code < 0:
                        return code
                    self.direct[key + NEAR] = <uint32_t>code
                out[i] = self.direct[key + NEAR]
                continue
            code = self._find(key)
            if code < 0:
                return code
            out[i] = <uint32_t>code
        return 0

    cdef inline int64_t _find(self, int64_t key) noexcept nogil:
        cdef uint64_t digest = _mix(<uint64_t>key)
        cdef uint64_t place = digest & self.mask
        cdef uint32_t code
        while True:
            code = self.slots[place]
            if code == EMPTY:
                return self._append(key)
            if self.keys[code] == key and code != self.null_code:
                return code
            place = (place + 1) & self.mask

    cdef int64_t _append(self, int64_t key) noexcept nogil:
        """The next code. The null and near keys take a slot like any other: growing needs no second rule."""
        cdef uint64_t digest = _mix(<uint64_t>key), place
        cdef Py_ssize_t status = self._reserve()
        if status < 0:
            return status
        place = digest & self.mask
        while self.slots[place] != EMPTY:
            place = (place + 1) & self.mask
        self.keys[self.size] = key
        self.put(place, digest)
        return self.size - 1

    cdef Py_ssize_t _reserve(self) noexcept nogil:
        """Room for one more code: 0, or why not."""
        cdef int64_t *keys
        if self.size < self.capacity:
            return 0
        if self.size >= EMPTY:
            return TOO_MANY
        keys = <int64_t *>realloc(self.keys, 2 * self.capacity * sizeof(int64_t))
        if keys == NULL:
            return OUT_OF_MEMORY
        self.keys = keys
        return self.grow_slots()

    def found(self):
        """The keys by code (int64), and the code of null or -1 (its key means nothing)."""
        take(&self.users, "KeyEncoder")
        give(&self.users)
        result = np.empty(self.size, np.int64)
        cdef int64_t[::1] view = result
        if self.size:
            memcpy(&view[0], self.keys, self.size * sizeof(int64_t))
        return result, self.null_code


cdef class RecordEncoder(_Slots):
    """Codes for records of `width` 32-bit words (fixed-width text) in the order they are first met."""

    cdef uint32_t *records  # by code, side by side
    cdef readonly Py_ssize_t width

    def __cinit__(self, Py_ssize_t width):
        if not 1 <= width <= 1 << 28:
            raise ValueError(f"width must be 1..{1 << 28} words, got {width}")
        self.width = width
        self.records = <uint32_t *>malloc(self.capacity * width * sizeof(uint32_t))
        if self.records == NULL:
            raise MemoryError("no memory for a table of distinct values")

    def __dealloc__(self):
        free(self.records)

    def encode(self, const uint32_t[:, ::1] records not None, uint32_t[::1] out not None):
        """out[i] = the code of records[i]."""
        cdef Py_ssize_t status
        if records.shape[1] != self.width or records.shape[0] != out.shape[0]:
            raise ValueError(f"expected {out.shape[0]} records of {self.width} words, "
                             f"got {records.shape[0]} of {records.shape[1]}")
        take(&self.users, "RecordEncoder")
        with nogil:
            status = self._encode(records, out)
        give(&self.users)
        if status < 0:
            raise _failure(status)

    cdef Py_ssize_t _encode(self, const uint32_t[:, ::1] records, uint32_t[::1] out) noexcept nogil:
        cdef Py_ssize_t i, j
        cdef uint64_t digest, place
        cdef uint32_t code
        cdef size_t n_bytes = self.width * sizeof(uint32_t)
        cdef uint32_t *grown
        for i in range(records.shape[0]):
            digest = 0
            for j in range(self.width):
                digest = _mix(digest ^ records[i, j])
                if records[i, j] == 0:  # text ends here; a zero inside it only makes the hash coarser
                    break
            place = digest & self.mask
            while True:
                code = self.slots[place]
                if code == EMPTY:
                    break
                if self.hashes[code] == digest and memcmp(
                        self.records + code * self.width, &records[i, 0], n_bytes) == 0:
                    break
                place = (place + 1) & self.mask
            if code == EMPTY:
                if self.size >= EMPTY:
                    return TOO_MANY
                if self.size == self.capacity:
                    grown = <uint32_t *>realloc(self.records, 2 * self.capacity * n_bytes)
                    if grown == NULL:
                        return OUT_OF_MEMORY
                    self.records = grown
                    if self.grow_slots() < 0:
                        return OUT_OF_MEMORY
                    place = digest & self.mask
                    while self.slots[place] != EMPTY:
                        place = (place + 1) & self.mask
                code = <uint32_t>self.size
                memcpy(self.records + code * self.width, &records[i, 0], n_bytes)
                self.put(place, digest)
            out[i] = code
        return 0

    def found(self):
        """The records by code, shape (codes, width)."""
        take(&self.users, "RecordEncoder")
        give(&self.users)
        result = np.empty((self.size, self.width), np.uint32)
        cdef uint32_t[:, ::1] view = result
        if self.size:
            memcpy(&view[0, 0], self.records, self.size * self.width * sizeof(uint32_t))
        return result


def check_range(const any_code[::1] codes not None, Py_ssize_t n_values):
    """The first i for which codes[i] is not in [0, n_values), or -1."""
    cdef Py_ssize_t first
    with nogil:
        first = _check_range(codes, n_values)
    return first


cdef Py_ssize_t _check_range(const any_code[::1] codes, Py_ssize_t n_values) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t limit = <uint64_t>max(n_values, 0)
    cdef any_code lowest = 0, highest = 0
    if codes.shape[0] == 0:
        return -1
    lowest = highest = codes[0]
    for i in range(codes.shape[0]):  # two reductions without a branch: the compiler makes vectors of them
        lowest = codes[i] if codes[i] < lowest else lowest
        highest = codes[i] if codes[i] > highest else highest
    # As an unsigned number a negative code is a huge one.
    if <uint64_t>lowest < limit and <uint64_t>highest < limit:
        return -1
    for i in range(codes.shape[0]):
        if <uint64_t>codes[i] >= limit:
            return i
    return -1


def mark(const any_code[::1] codes not None, uint8_t[::1] used not None):  # used: in and out
    """used[codes[i]] = 1 for every i."""
    cdef Py_ssize_t bad
    with nogil:
        bad = _mark(codes, used)
    if bad >= 0:
        raise ValueError(f"row {bad}: code {codes[bad]} outside a dictionary of {used.shape[0]} values")


cdef Py_ssize_t _mark(const any_code[::1] codes, uint8_t[::1] used) noexcept nogil:
    """The first row out of range, or -1."""
    cdef Py_ssize_t i
    cdef uint64_t n_values = used.shape[0]
    for i in range(codes.shape[0]):
        if <uint64_t>codes[i] >= n_values:
            return i
        used[<Py_ssize_t>codes[i]] = 1
    return -1


def remap(const any_code[::1] codes not None, const code_t[::1] table not None,
          code_t[::1] out not None):
    """out[i] = table[codes[i]] for every i."""
    cdef Py_ssize_t bad
    if codes.shape[0] != out.shape[0]:
        raise ValueError(f"{codes.shape[0]} codes but room for {out.shape[0]}")
    with nogil:
        bad = _remap(codes, table, out)
    if bad >= 0:
        raise ValueError(f"row {bad}: code {codes[bad]} outside a dictionary of {table.shape[0]} values")


cdef Py_ssize_t _remap(const any_code[::1] codes, const code_t[::1] table,
                       code_t[::1] out) noexcept nogil:
    """The first row out of range, or -1."""
    cdef Py_ssize_t i
    cdef uint64_t n_values = table.shape[0]
    for i in range(codes.shape[0]):
        if <uint64_t>codes[i] >= n_values:
            return i
        out[i] = table[<Py_ssize_t>codes[i]]
    return -1


def fill_nulls(const any_code[::1] codes not None, const uint8_t[::1] valid not None,
               Py_ssize_t offset, Py_ssize_t n_values, int64_t[::1] out not None):
    """out[i] = codes[i] where bit offset + i of `valid` is set, else n_values.

    The bits are an Arrow validity bitmap, lowest bit first. What a null slot holds is never looked at.
    """
    cdef Py_ssize_t bad, n = codes.shape[0]
    if n != out.shape[0] or offset < 0 or n_values < 0 or n > 8 * valid.shape[0] - offset:
        raise ValueError(f"{n} codes from bit {offset} of {8 * valid.shape[0]}, room for {out.shape[0]}")
    with nogil:
        bad = _fill_nulls(codes, valid, offset, n_values, out)
    if bad >= 0:
        raise ValueError(f"row {bad}: code {codes[bad]} outside a dictionary of {n_values} values")


cdef Py_ssize_t _fill_nulls(const any_code[::1] codes, const uint8_t[::1] valid, Py_ssize_t offset,
                            Py_ssize_t n_values, int64_t[::1] out) noexcept nogil:
    """The first row out of range, or -1."""
    cdef Py_ssize_t i, bit
    for i in range(codes.shape[0]):
        bit = offset + i
        if not (valid[bit >> 3] >> (bit & 7)) & 1:
            out[i] = n_values
            continue
        if <uint64_t>codes[i] >= <uint64_t>n_values:
            return i
        out[i] = <int64_t>codes[i]
    return -1


def check_weights(const int64_t[::1] weights not None):
    """The first row whose weight is below 1 or -1, and the sum of all or -1 where it passes 2^63 - 1."""
    cdef Py_ssize_t i, bad = -1
    cdef int64_t total = 0
    with nogil:
        for i in range(weights.shape[0]):
            if weights[i] < 1:
                bad = i
                break
            if total >= 0:
                # Both are at most 2^63 - 1: the sum fits without sign, and as a signed number it is negative
                # exactly where it is too large.
                total = <int64_t>(<uint64_t>total + <uint64_t>weights[i])
                if total < 0:
                    total = -1
    return bad, total


cdef struct Source:
    const void *codes
    int width  # bytes of a code


cdef class RowGrouper(_Slots):
    """Groups of equal rows, read through pointers to the columns, in the order they are first met.

    A group is known by its first row: no row is ever copied.
    """

    cdef Source *sources
    cdef Py_ssize_t n_columns
    cdef Py_ssize_t n_rows
    cdef int64_t *firsts   # by group: its first row
    cdef int64_t *totals   # by group: its weight
    cdef list kept         # views of the columns, which must outlive the pointers
    cdef uint64_t *digests  # of one block of rows

    def __cinit__(self, list columns not None):
        cdef const uint8_t[::1] one
        cdef const uint16_t[::1] two
        cdef const uint32_t[::1] four
        cdef Py_ssize_t i, n_rows = 0
        columns = list(columns)
        self.kept = []
        if not columns:
            raise ValueError("expected at least one column, got none")
        self.n_columns = len(columns)
        self.sources = <Source *>malloc(self.n_columns * sizeof(Source))
        self.firsts = <int64_t *>malloc(self.capacity * sizeof(int64_t))
        self.totals = <int64_t *>malloc(self.capacity * sizeof(int64_t))
        self.digests = <uint64_t *>malloc(BLOCK * sizeof(uint64_t))
        if self.sources == NULL or self.firsts == NULL or self.totals == NULL or self.digests == NULL:
            raise MemoryError("no memory for groups of rows")
        for i, column in enumerate(columns):
            # A view is kept of each, so that its memory stays, whatever becomes of the list and of the arrays.
            if column.dtype == np.uint8:
                one = column
                n_rows = one.shape[0]
                self.sources[i].width = 1
                self.sources[i].codes = &one[0] if n_rows else NULL
                self.kept.append(one)
            elif column.dtype == np.uint16:
                two = column
                n_rows = two.shape[0]
                self.sources[i].width = 2
                self.sources[i].codes = &two[0] if n_rows else NULL
                self.kept.append(two)
            elif column.dtype == np.uint32:
                four = column
                n_rows = four.shape[0]
                self.sources[i].width = 4
                self.sources[i].codes = &four[0] if n_rows else NULL
                self.kept.append(four)
            else:
                raise TypeError(f"expected codes of uint8, uint16 or uint32, got {column.dtype}")
            if i == 0:
                self.n_rows = n_rows
            if n_rows != self.n_rows:
                raise ValueError(f"expected columns of {self.n_rows} rows, got {n_rows}")

    def __dealloc__(self):
        free(self.sources)
        free(self.firsts)
        free(self.totals)
        free(self.digests)

    def add(self, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] weights):
        """Group the rows from `start` to before `stop`; `weights` of all rows, or None for 1 each."""
        cdef Py_ssize_t status = 0
        if not 0 <= start <= stop <= self.n_rows:
            raise ValueError(f"rows {start} to {stop} of {self.n_rows}")
        if weights is not None and weights.shape[0] != self.n_rows:
            raise ValueError(f"expected {self.n_rows} weights, got {weights.shape[0]}")
        take(&self.users, "RowGrouper")
        with nogil:
            while start < stop and status == 0:
                status = self._add(start, min(stop, start + BLOCK), weights)
                start += BLOCK
        give(&self.users)
        if status < 0:
            raise _failure(status)

    cdef Py_ssize_t _add(self, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] weights) noexcept nogil:
        cdef Py_ssize_t row, status
        cdef int64_t weight
        cdef uint64_t digest, place
        cdef uint32_t group
        self._hash(start, stop)
        for row in range(start, stop):
            digest = self.digests[row - start]
            weight = weights[row] if weights is not None else 1
            if weight < 1:
                return NOT_POSITIVE
            place = digest & self.mask
            while True:
                group = self.slots[place]
                if group == EMPTY:
                    break
                if self.hashes[group] == digest and self._same(self.firsts[group], row):
                    break
                place = (place + 1) & self.mask
            if group == EMPTY:
                if self.size == self.capacity:
                    status = self._grow()
                    if status < 0:
                        return status
                    place = digest & self.mask
                    while self.slots[place] != EMPTY:
                        place = (place + 1) & self.mask
                self.firsts[self.size] = row
                self.totals[self.size] = weight
                self.put(place, digest)
            else:
                weight = <int64_t>(<uint64_t>self.totals[group] + <uint64_t>weight)
                if weight < 0:
                    return OVERFLOW
                self.totals[group] = weight
        return 0

    cdef void _hash(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """The digests of one block, column by column."""
        cdef Py_ssize_t i, j
        cdef const uint8_t *one
        cdef const uint16_t *two
        cdef const uint32_t *four
        memset(self.digests, 0, (stop - start) * sizeof(uint64_t))
        for j in range(self.n_columns):
            if self.sources[j].width == 1:
                one = <const uint8_t *>self.sources[j].codes + start
                for i in range(stop - start):
                    self.digests[i] = _mix(self.digests[i] + one[i] + 1)
            elif self.sources[j].width == 2:
                two = <const uint16_t *>self.sources[j].codes + start
                for i in range(stop - start):
                    self.digests[i] = _mix(self.digests[i] + two[i] + 1)
            else:
                four = <const uint32_t *>self.sources[j].codes + start
                for i in range(stop - start):
                    self.digests[i] = _mix(self.digests[i] + four[i] + 1)

    cdef inline bint _same(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t j
        cdef const void *codes
        for j in range(self.n_columns):
            codes = self.sources[j].codes
            if self.sources[j].width == 1:
                if (<const uint8_t *>codes)[a] != (<const uint8_t *>codes)[b]:
                    return False
            elif self.sources[j].width == 2:
                if (<const uint16_t *>codes)[a] != (<const uint16_t *>codes)[b]:
                    return False
            elif (<const uint32_t *>codes)[a] != (<const uint32_t *>codes)[b]:
                return False
        return True

    cdef Py_ssize_t _grow(self) noexcept nogil:
        cdef int64_t *firsts
        cdef int64_t *totals
        if self.size >= EMPTY:
            return TOO_MANY
        firsts = <int64_t *>realloc(self.firsts, 2 * self.capacity * sizeof(int64_t))
        if firsts == NULL:
            return OUT_OF_MEMORY
        self.firsts = firsts
        totals = <int64_t *>realloc(self.totals, 2 * self.capacity * sizeof(int64_t))
        if totals == NULL:
            return OUT_OF_MEMORY
        self.totals = totals
        return self.grow_slots()

    def found(self):
        """The first row and the weight of each group."""
        take(&self.users, "RowGrouper")
        give(&self.users)
        firsts, totals = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        cdef int64_t[::1] rows = firsts, sums = totals
        if self.size:
            memcpy(&rows[0], self.firsts, self.size * sizeof(int64_t))
            memcpy(&sums[0], self.totals, self.size * sizeof(int64_t))
        return firsts, totals
