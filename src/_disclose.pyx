"""Top-down disclosure: distinct rows, and the greedy search over them."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from shared.in_use cimport give, take


cdef extern from "disclose.h" nogil:
    int NBC_STRANGE_MARK, NBC_STRANGE_GROUP, NBC_STRANGE_CODE
    int64_t NBC_NONE
    ctypedef struct nbc_memory:
        size_t now, peak
    ctypedef struct nbc_masked:
        int64_t values
        uint32_t *cell_of
        uint8_t *live
    ctypedef struct nbc_template:
        int64_t part, hit
        uint64_t above, below
    ctypedef struct nbc_disclosing:
        nbc_memory memory
        int wide
        int64_t attributes, parts, templates
        nbc_masked **about
        void **part
        nbc_template *limit
        int64_t **limits_of
        int64_t *n_limits_of
        int64_t **place_of
        int strange
    ctypedef struct nbc_disclosed:
        int64_t attribute
        int64_t value
        double gain, loss, score
    nbc_disclosing *nbc_search_new(int64_t, int64_t, int64_t, int, int, int)
    void nbc_search_free(nbc_disclosing *)
    int nbc_set_attribute(nbc_disclosing *, int64_t, int64_t, int64_t, const int64_t *, int)
    void *nbc_part_new_narrow(nbc_memory *, int64_t, int64_t, const uint16_t *, int64_t, const uint16_t *, int64_t,
                              const uint32_t *, nbc_masked **, const uint32_t *, int64_t, int *)
    void *nbc_part_new_wide(nbc_memory *, int64_t, int64_t, const uint32_t *, int64_t, const uint16_t *, int64_t,
                            const uint64_t *, nbc_masked **, const uint32_t *, int64_t, int *)
    void nbc_confidence_of(const nbc_disclosing *, const nbc_template *, uint64_t *, uint64_t *)
    void nbc_confidence_with(const nbc_disclosing *, const nbc_template *, int64_t, int64_t, uint64_t *, uint64_t *)
    int nbc_within(const nbc_template *, uint64_t, uint64_t)
    int nbc_advance(nbc_disclosing *, nbc_disclosed *)
    int nbc_sort_keys(uint64_t *, uint64_t *, uint64_t *, uint64_t *, int64_t, int, int)
    int64_t nbc_run_lengths(uint64_t *, const uint64_t *, uint64_t *, int64_t)

cdef enum:
    MOST_ATTRIBUTES = 4096
    MOST_HITS = 65535  # marks are of 16 bits
    OWN = 1024         # codes copied at a time

cdef str STRANGE = "codes, marks and groups must stay as they were given, got others since"

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t


cdef int _or_codes(const code_t *codes, const uint64_t *bits, size_t size, uint64_t *keys,
                   size_t n) noexcept nogil:
    """Put the bits of each code into its key; -1 for a code that has none."""
    cdef size_t i, part, start = 0
    cdef code_t most = 0
    cdef code_t own[OWN]  # what was checked is used, whatever becomes of the caller's codes
    while start < n:
        part = min(n - start, <size_t> OWN)
        memcpy(own, codes + start, part * sizeof(code_t))
        for i in range(part):
            most = most if most > own[i] else own[i]
        if most >= size:
            return -1
        for i in range(part):
            keys[start + i] |= bits[own[i]]
        start += part
    return 0


cdef class _Columns:
    """Columns of codes, and the bits of a key that each code stands for."""
    cdef list codes
    cdef list bits
    cdef size_t n_rows

    def __cinit__(self, columns, bits):
        self.codes, self.bits = [], []
        self.n_rows = len(columns[0]) if columns else 0
        for codes, table in zip(columns, bits, strict=True):
            codes = np.ascontiguousarray(codes)
            if codes.ndim != 1 or codes.shape[0] != self.n_rows:
                raise ValueError(f"columns: expected {self.n_rows} codes each, got shape {codes.shape}")
            if codes.dtype not in (np.uint8, np.uint16, np.uint32):
                raise TypeError(f"columns: expected uint8, uint16 or uint32, got {codes.dtype}")
            self.codes.append(codes)
            self.bits.append(np.ascontiguousarray(table, np.uint64))

    cdef int check(self, size_t stop, size_t rows) except -1:
        # An array that nobody has a view of may be cut short, and asking for the length of weights runs others.
        if stop > rows:
            raise ValueError(f"columns: expected {self.n_rows} codes each, got {rows} by now")
        return 0

    cdef int keys(self, size_t start, size_t stop, uint64_t[::1] keys) except -1:
        """The keys of some rows."""
        cdef const uint8_t[::1] small
        cdef const uint16_t[::1] middle
        cdef const uint32_t[::1] large
        cdef const uint64_t[::1] bits
        cdef int bad = 0
        memset(&keys[0], 0, (stop - start) * sizeof(uint64_t))
        for number, codes in enumerate(self.codes):
            bits = self.bits[number]
            if bits.shape[0] == 0:
                raise ValueError(f"columns: expected codes below 0 in column {number}")
            if codes.dtype == np.uint8:
                small = codes
                self.check(stop, small.shape[0])
                with nogil:
                    bad = _or_codes(&small[start], &bits[0], bits.shape[0], &keys[0], stop - start)
            elif codes.dtype == np.uint16:
                middle = codes
                self.check(stop, middle.shape[0])
                with nogil:
                    bad = _or_codes(&middle[start], &bits[0], bits.shape[0], &keys[0], stop - start)
            else:
                large = codes
                self.check(stop, large.shape[0])
                with nogil:
                    bad = _or_codes(&large[start], &bits[0], bits.shape[0], &keys[0], stop - start)
            if bad:
                raise ValueError(f"columns: expected codes below {bits.shape[0]} in column {number}")
        return 0


cdef int _checked_range(_Columns data, Py_ssize_t start, Py_ssize_t stop, weights) except -1:
    if not 0 <= start < stop <= <Py_ssize_t> data.n_rows:
        raise ValueError(f"rows: expected a part of 0..{data.n_rows}, got {start}..{stop}")
    if weights is not None and len(weights) != <Py_ssize_t> data.n_rows:
        raise ValueError(f"weights: expected {data.n_rows}, got {len(weights)}")
    return 0


def distinct(columns, bits, Py_ssize_t start, Py_ssize_t stop, weights, int n_bits):
    """The distinct keys of rows start..stop-1, rising, and their weights."""
    cdef _Columns data = _Columns(columns, bits)
    _checked_range(data, start, stop, weights)
    keys = np.empty(stop - start, np.uint64)
    data.keys(start, stop, keys)
    return _merged(keys, None if weights is None else weights[start:stop].astype(np.uint64), n_bits, False)


def merged(keys, totals, int n_bits):
    """Each key once, rising, and the sum of its totals (1 each for None); `keys` is overwritten."""
    return _merged(keys, totals, n_bits, True)


cdef object _merged(keys, totals, int n_bits, bint theirs):
    cdef uint64_t[::1] one = keys
    cdef uint64_t[::1] room = np.empty(one.shape[0], np.uint64)
    cdef uint64_t[::1] counted = totals
    cdef size_t n = one.shape[0], found = 0
    cdef int swapped
    cdef uint64_t *counts = NULL
    cdef uint64_t *count_room = NULL
    if not 0 <= n_bits <= 64:
        raise ValueError(f"n_bits: expected 0..64, got {n_bits}")
    if n == 0:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    if totals is not None and <size_t> counted.shape[0] != n:
        raise ValueError(f"totals: expected {n}, got {counted.shape[0]}")
    result = np.empty(n, np.uint64)
    cdef uint64_t[::1] sums = result
    if totals is not None:
        counts, count_room = &counted[0], &sums[0]
    with nogil:
        swapped = nbc_sort_keys(&one[0], counts, &room[0], count_room, n, n_bits, theirs)
        if swapped and counts != NULL:
            # The sums may stand where the totals are read: a sum never passes the totals that it is of.
            counts = count_room
        if swapped >= 0:
            found = nbc_run_lengths(&room[0] if swapped else &one[0], counts, &sums[0], n)
    if swapped < 0:
        raise ValueError("keys must be written to by nobody else, got others on the way")
    final = np.asarray(room if swapped else one)
    return final[:found].copy(), result[:found].copy()


def tally(columns, bits, Py_ssize_t start, Py_ssize_t stop, weights, uint64_t[::1] table not None):
    """Add the weights of rows start..stop-1 to table[key]."""
    cdef _Columns data = _Columns(columns, bits)
    cdef uint64_t[::1] keys
    cdef const int64_t[::1] counted = weights
    cdef size_t i, at, n, size = table.shape[0]
    cdef bint weighted = weights is not None
    cdef bint fits = True
    _checked_range(data, start, stop, weights)
    if weighted and counted.shape[0] < stop:
        raise ValueError(f"weights: expected {data.n_rows}, got {counted.shape[0]}")
    keys = np.empty(min(stop - start, 8192), np.uint64)
    while start < stop:
        n = min(stop - start, 8192)
        data.keys(start, start + n, keys)
        with nogil:
            for i in range(n):
                at = keys[i]
                if at >= size:
                    fits = False
                    break
                table[at] += counted[start + i] if weighted else 1
        if not fits:
            raise ValueError(f"table: expected room for key {at}, got {size}")
        start += n


def unpacked(const uint64_t[::1] keys not None, const int64_t[::1] shifts not None,
             const int64_t[::1] widths not None, out not None):
    """Write the parts of each key, of so many bits from there on, as the columns of `out`."""
    cdef uint16_t[:, ::1] small
    cdef uint32_t[:, ::1] large
    cdef size_t i, j, columns = shifts.shape[0]
    cdef Py_ssize_t rows, wide
    cdef uint64_t mask
    cdef bint narrow = out.dtype == np.uint16
    if narrow:
        small = out
        rows, wide = small.shape[0], small.shape[1]
    else:
        large = out
        rows, wide = large.shape[0], large.shape[1]
    if (rows, wide) != (keys.shape[0], shifts.shape[0]) or widths.shape[0] != shifts.shape[0]:
        raise ValueError(f"out: expected shape {(keys.shape[0], shifts.shape[0])}, got {(rows, wide)}")
    shifts, widths = np.array(shifts), np.array(widths)  # copies: what was checked stays
    for j in range(columns):
        if not (0 <= shifts[j] <= 64 and 0 <= widths[j] < 64 and shifts[j] + widths[j] <= 64):
            raise ValueError(f"shifts: expected parts of 64 bits, got {shifts[j]} and {widths[j]}")
    if narrow:
        with nogil:
            for i in range(<size_t> keys.shape[0]):
                for j in range(columns):
                    mask = (<uint64_t> 1 << widths[j]) - 1
                    small[i, j] = <uint16_t> (keys[i] >> (shifts[j] & 63) & mask)
    else:
        with nogil:
            for i in range(<size_t> keys.shape[0]):
                for j in range(columns):
                    mask = (<uint64_t> 1 << widths[j]) - 1
                    large[i, j] = <uint32_t> (keys[i] >> (shifts[j] & 63) & mask)


cdef bint _fits(const int64_t[:, ::1] counts) noexcept nogil:
    """Whether counts are at least 0 and below 2^63 in all."""
    cdef Py_ssize_t i, j
    cdef int64_t total = 0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            if not 0 <= counts[i, j] <= (<int64_t> 0x7fffffffffffffff) - total:
                return False
            total += counts[i, j]
    return True


cdef class Disclosing:
    """The state of a search: what is disclosed, and what every candidate would do.

    Parameters
    ----------
    counts : list of int64 arrays, shape (values, classes)
        Of each masked attribute.
    continuous : list of bool
    parts : list of (attributes, codes, marks, hits, weights, groups, n_groups)
        One for each quasi-identifier: its masked attributes; of each distinct row their codes, 1 + the
        sensitive values that it has (0: none), its weight, and which values the other attributes have.
    templates : list of (part, hit, above, below)
        The limit of a confidence is above / below.

    Codes, marks, weights and groups are not copied, and nobody may write to them as long as this lives: what is
    found then means nothing, and a code or mark beyond its range is refused where it is met.
    """
    cdef nbc_disclosing *search
    cdef list kept
    cdef list hits
    cdef tuple last  # the confidences of the last step
    cdef int users
    cdef bint broken
    cdef readonly list steps

    def __cinit__(self, counts, continuous, parts, templates, bint wide, bint distortion, bint beneficial):
        cdef const int64_t[:, ::1] table
        cdef Py_ssize_t g, p, t
        counts, continuous, parts, templates = list(counts), list(continuous), list(parts), list(templates)
        self.kept = []  # views of what the kernel reads as long as it lives
        self.hits = []
        self.steps = []
        if len(continuous) != len(counts):
            raise ValueError(f"continuous: expected {len(counts)}, got {len(continuous)}")
        if len(counts) > MOST_ATTRIBUTES:
            raise ValueError(f"counts: expected at most {MOST_ATTRIBUTES} attributes, got {len(counts)}")
        self.search = nbc_search_new(len(counts), len(parts), len(templates), wide, distortion, beneficial)
        if self.search == NULL:
            raise MemoryError
        for g in range(len(counts)):
            table = np.array(counts[g], np.int64, order="C")
            self.kept.append(table)
            if table.shape[0] < 1 or table.shape[1] < 1:
                raise ValueError(f"counts: expected values and classes, got {table.shape[0]} and {table.shape[1]}")
            if table.shape[0] >= 0xFFFFFFFF:
                raise ValueError(f"counts: expected fewer than 2^32 - 1 values, got {table.shape[0]}")
            if not _fits(table):
                raise ValueError(f"counts: expected numbers of at least 0, below 2^63 in all, got others in {g}")
            if nbc_set_attribute(self.search, g, table.shape[0], table.shape[1], &table[0, 0], continuous[g]):
                raise MemoryError
        for p in range(len(parts)):
            attributes, codes, marks, hits, weights, groups, n_groups = parts[p]
            self._part(p, attributes, codes, marks, hits, weights, groups, n_groups)
        for t in range(len(templates)):
            part, hit, above, below = templates[t]
            self._template(t, part, hit, above, below)

    cdef _part(self, Py_ssize_t p, attributes, codes, const uint16_t[:, ::1] marks, size_t hits, weights,
               const uint32_t[::1] groups, size_t n_groups):
        cdef const uint16_t[:, ::1] small
        cdef const uint32_t[:, ::1] large
        cdef const uint32_t[::1] light
        cdef const uint64_t[::1] heavy
        cdef nbc_disclosing *search = self.search
        cdef size_t rows = marks.shape[0], width, n_marks = marks.shape[1], j
        cdef nbc_masked *about[MOST_ATTRIBUTES]
        cdef const uint32_t *wide_codes = NULL
        cdef const uint16_t *codes_of = NULL
        cdef void *made = NULL
        cdef bint fits
        cdef size_t attribute
        attributes = list(attributes)
        width = len(attributes)
        cdef Py_ssize_t one
        if not 1 <= rows < 0xFFFFFFFF:
            raise ValueError(f"part {p}: expected 1..2^32 - 2 distinct rows, got {rows}")
        if width > MOST_ATTRIBUTES:
            raise ValueError(f"part {p}: expected at most {MOST_ATTRIBUTES} attributes, got {width}")
        if n_marks < 1 or hits < 1:
            raise ValueError(f"part {p}: expected sensitive values, got none")
        if hits > MOST_HITS:
            raise ValueError(f"part {p}: expected at most {MOST_HITS} sensitive values, got {hits}")
        if not 1 <= n_groups <= rows:
            raise ValueError(f"part {p}: expected 1..{rows} groups, got {n_groups}")
        if search.wide:
            large, heavy = codes, weights
            fits = <size_t> large.shape[0] == rows and <size_t> large.shape[1] == width
            fits = fits and <size_t> heavy.shape[0] == rows
            self.kept += [large, heavy]
        else:
            small, light = codes, weights
            fits = <size_t> small.shape[0] == rows and <size_t> small.shape[1] == width
            fits = fits and <size_t> light.shape[0] == rows
            self.kept += [small, light]
        self.kept += [marks, groups]
        self.hits.append(hits)
        if not fits or <size_t> groups.shape[0] != rows:
            raise ValueError(f"part {p}: expected arrays of {rows} rows")
        for j in range(width):
            one = attributes[j]
            if not 0 <= one < <Py_ssize_t> search.attributes:
                raise ValueError(f"part {p}: expected attributes below {search.attributes}, got {one}")
            attribute = one
            if search.place_of[p][attribute] != NBC_NONE:
                raise ValueError(f"part {p}: expected different attributes, got {attributes}")
            about[j] = search.about[attribute]
            search.place_of[p][attribute] = j
        if search.wide:
            if width:
                wide_codes = &large[0, 0]
            with nogil:
                made = nbc_part_new_wide(&search.memory, rows, width, wide_codes, n_marks, &marks[0, 0], hits,
                                         &heavy[0], about, &groups[0], n_groups, &search.strange)
        else:
            if width:
                codes_of = &small[0, 0]
            with nogil:
                made = nbc_part_new_narrow(&search.memory, rows, width, codes_of, n_marks, &marks[0, 0], hits,
                                           &light[0], about, &groups[0], n_groups, &search.strange)
        search.part[p] = made
        # The kernel looks at what it reads, whenever it reads it.
        if search.strange >= NBC_STRANGE_CODE:
            j = search.strange - NBC_STRANGE_CODE
            raise ValueError(f"part {p}: expected codes below {about[j].values} in column {j}, "
                             f"got {np.asarray(codes)[:, j].max()}")
        if search.strange == NBC_STRANGE_GROUP:
            raise ValueError(f"part {p}: expected groups below {n_groups}, got {np.asarray(groups).max()}")
        if search.strange == NBC_STRANGE_MARK:
            raise ValueError(f"part {p}: expected marks up to {hits}, got {np.asarray(marks).max()}")
        if search.strange:
            raise ValueError(STRANGE)
        if made == NULL:
            raise MemoryError

    cdef _template(self, Py_ssize_t t, size_t p, size_t hit, uint64_t above, uint64_t below):
        cdef nbc_disclosing *search = self.search
        cdef int64_t g
        if p >= <size_t> search.parts or hit >= <size_t> self.hits[p] or below == 0:
            raise ValueError(f"template {t}: expected a part, a sensitive value and a limit")
        search.limit[t].part, search.limit[t].hit = p, hit
        search.limit[t].above, search.limit[t].below = above, below
        for g in range(search.attributes):
            if search.place_of[p][g] != NBC_NONE:
                search.limits_of[g][search.n_limits_of[g]] = t
                search.n_limits_of[g] += 1

    def __dealloc__(self):
        if self.search != NULL:
            nbc_search_free(self.search)

    def confidences(self):
        """(hits, records) of the largest confidence of each template."""
        self._check()
        return self._confidences()

    cdef int _check(self) except -1:
        if self.search.strange:
            raise ValueError(STRANGE)
        if self.broken:
            raise RuntimeError("this Disclosing ran out of memory in the middle of a step: make another one")
        take(&self.users, "Disclosing")
        give(&self.users)
        return 0

    cdef list _confidences(self):
        cdef uint64_t hits = 0, records = 0
        found = []
        for t in range(self.search.templates):
            nbc_confidence_of(self.search, self.search.limit + <size_t> t, &hits, &records)
            found.append((hits, records))
        return found

    def breaks(self, size_t attribute, size_t value):
        """(template, hits, records) of a limit that this value broke when it was last weighed, or None."""
        cdef nbc_disclosing *search = self.search
        cdef uint64_t hits = 0, records = 0
        cdef int64_t i, t
        self._check()
        if attribute >= <size_t> search.attributes or value >= <size_t> search.about[attribute].values:
            raise ValueError(f"expected an attribute and a value, got {attribute} and {value}")
        for i in range(search.n_limits_of[attribute]):
            t = search.limits_of[attribute][i]
            nbc_confidence_of(search, search.limit + t, &hits, &records)
            nbc_confidence_with(search, search.limit + t, attribute, value, &hits, &records)
            if not nbc_within(search.limit + t, hits, records):
                return t, hits, records
        return None

    def step(self):
        """Disclose what is best, and note it in `steps`; False where nothing is left."""
        cdef nbc_disclosed chosen
        cdef int done
        if self.search.strange:
            raise ValueError(STRANGE)
        if self.broken:
            raise MemoryError
        take(&self.users, "Disclosing")
        with nogil:
            done = nbc_advance(self.search, &chosen)
        give(&self.users)
        if self.search.strange:
            raise ValueError(STRANGE)
        if done < 0:
            self.broken = True
            raise MemoryError
        if done == 0:
            return False
        # In one call with the step itself, so that Ctrl-C finds both or neither. What did not change is not
        # kept again: steps may be many, and templates too.
        found = tuple(self._confidences())
        if self.last is not None:
            before = self.last
            found = before if found == before else tuple([
                old if old == new else new for old, new in zip(before, found, strict=True)])
        self.last = found
        self.steps.append((chosen.attribute, chosen.value, chosen.gain, chosen.loss, chosen.score, found))
        return True

    @property
    def peak_bytes(self):
        """The most memory that the search has held, beside its input."""
        return self.search.memory.peak
