"""CSV text to rows of codes: fields are looked up as they stand in the file, values are shared by threads."""

from cpython.mem cimport PyMem_Free
from cpython.pythread cimport PyThread_acquire_lock, PyThread_release_lock, PyThread_type_lock
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, strcmp

from shared.in_use cimport give, take


cdef extern from "Python.h":
    double PyOS_string_to_double(const char *s, char **endptr, void *overflow) except? -1.0
    char *PyOS_double_to_string(double val, char format_code, int precision, int flags, int *ptype)
    object PyUnicode_DecodeUTF8(const char *s, Py_ssize_t size, const char *errors)
    int Py_DTSF_ADD_DOT_0

cdef extern from "csv/numbers.h" nogil:
    int NBC_CSV_ASK, NBC_CSV_IS_NUMBER, NBC_CSV_LONGEST_FLOAT
    int nbc_csv_integer(const uint8_t *text, uint64_t n, int64_t *number)
    int nbc_csv_float(const uint8_t *text, uint64_t n, double *number)

cdef extern from "csv/rows.h" nogil:
    int NBC_CSV_FINE, NBC_CSV_RAGGED, NBC_CSV_NUL, NBC_CSV_NO_UTF8, NBC_CSV_MEMORY, NBC_CSV_AHEAD, NBC_CSV_OVER
    uint32_t NBC_CSV_OPEN

    ctypedef struct nbc_csv_values:
        PyThread_type_lock lock
        uint64_t *ends
        uint8_t *bytes
        int64_t n, null

    ctypedef struct nbc_csv_cache:
        uint8_t *out
        int width
        uint32_t most

    ctypedef struct nbc_csv_text:
        const uint8_t *text
        uint64_t n

    ctypedef struct nbc_csv_scanner:
        int64_t n_fields, n_columns, n_nulls, target, room
        uint8_t delimiter
        nbc_csv_cache *caches
        nbc_csv_text *nulls
        uint32_t *positions
        uint32_t *starts
        uint32_t *codes
        uint32_t *missed
        uint8_t *scratch
        int64_t rows
        int status
        uint32_t bad_row, bad_column, bad_start, bad_end

    int nbc_csv_make_values(nbc_csv_values *values, uint64_t key, uint64_t other)
    void nbc_csv_drop_values(nbc_csv_values *values)
    uint64_t nbc_csv_begin(const nbc_csv_values *values, int64_t code)
    int nbc_csv_make_cache(nbc_csv_cache *cache, nbc_csv_values *values, int64_t place, int64_t n_columns,
                           uint64_t key, uint64_t other)
    void nbc_csv_drop_cache(nbc_csv_cache *cache)
    int nbc_csv_best_level()
    uint32_t nbc_csv_border(const uint8_t *text, uint32_t start, uint32_t end, uint8_t delimiter, int last,
                            int level, int *open)
    uint32_t nbc_csv_one_row(const uint8_t *text, uint32_t start, uint32_t end, uint8_t delimiter,
                             uint32_t *positions, int64_t room, int64_t *count, int *open)
    uint64_t nbc_csv_unquote(const uint8_t *raw, uint64_t n, uint8_t *out)
    void nbc_csv_scan(nbc_csv_scanner *scanner, const uint8_t *text, uint32_t start, uint32_t end, int append,
                      int level)
    void nbc_csv_copy(const nbc_csv_cache *cache, int64_t start, int64_t n, uint8_t *out, int width)

AHEAD = 64  # bytes that a text has room for behind its end
FINE, RAGGED, NUL, NO_UTF8, MEMORY = NBC_CSV_FINE, NBC_CSV_RAGGED, NBC_CSV_NUL, NBC_CSV_NO_UTF8, NBC_CSV_MEMORY

cdef int64_t POSITIONS = 4096  # looked at together: they, their text and the tables of a column stay in a cache

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t


def levels():
    """How many widths of vectors this machine has: 1 is the narrowest alone."""
    return nbc_csv_best_level() + 1


cdef int expect_span(Py_ssize_t n, int64_t start, int64_t end) except -1:
    if n >= 1 << 32:
        raise ValueError(f"text must be shorter than 2^32 bytes, got {n}")
    if not 0 <= start <= end <= n - AHEAD:
        raise ValueError(f"bytes {start} to {end} of {n}, of which the last {AHEAD} are behind the text")
    return 0


cdef int expect_level(int level) except -1:
    if not 0 <= level <= nbc_csv_best_level():
        raise ValueError(f"level must be 0..{nbc_csv_best_level()}, got {level}")
    return 0


cdef int expect_delimiter(int delimiter) except -1:
    if not 0 < delimiter < 128 or delimiter in (10, 13, 34):
        raise ValueError(f"delimiter must be 1..127 and no quote, CR or LF, got {delimiter}")
    return 0


def border(const uint8_t[::1] text not None, int64_t start, int64_t end, int delimiter, bint last, int level):
    """Where the last whole row of text[start:end] ends, and whether a quote is open at the end."""
    cdef int is_open = 0
    cdef uint32_t found
    expect_span(text.shape[0], start, end)
    expect_delimiter(delimiter)
    expect_level(level)
    with nogil:
        found = nbc_csv_border(&text[0], <uint32_t> start, <uint32_t> end, <uint8_t> delimiter, last, level, &is_open)
    return found, bool(is_open)


def row(const uint8_t[::1] text not None, int64_t start, int64_t end, int delimiter):
    """The row that begins there: its fields as bytes, where the next one begins, and where a quote is left open.

    A row without an end reaches to `end`, and the next one begins at -1; -1 too where no quote is open.
    """
    cdef int64_t count = 0, room, i, stop
    cdef int is_open = 0
    cdef uint32_t after, at
    cdef uint32_t *positions
    cdef uint8_t *out
    expect_span(text.shape[0], start, end)
    expect_delimiter(delimiter)
    after = nbc_csv_one_row(&text[0], <uint32_t> start, <uint32_t> end, <uint8_t> delimiter, NULL, 0, &count, &is_open)
    room = count
    positions = <uint32_t *> malloc((room + 1) * sizeof(uint32_t))
    out = <uint8_t *> malloc(end - start + 1)
    if positions == NULL or out == NULL:
        free(positions)
        free(out)
        raise MemoryError("no memory for a row")
    count = 0
    nbc_csv_one_row(&text[0], <uint32_t> start, <uint32_t> end, <uint8_t> delimiter, positions, room, &count, &is_open)
    count = min(count, room)  # whoever writes to the text meanwhile
    fields = []
    at = <uint32_t> start
    try:
        if after == NBC_CSV_OPEN:
            positions[count] = <uint32_t> end
            count += 1
        for i in range(count):
            at = at if i == 0 else positions[i - 1] + 1
            stop = positions[i]
            if after != NBC_CSV_OPEN and i == count - 1 and stop > at and text[stop] == 10 and text[stop - 1] == 13:
                stop -= 1
            fields.append(_said(&text[0] + at, stop - at, out))
    finally:
        free(positions)
        free(out)
    return fields, -1 if after == NBC_CSV_OPEN else after, at if is_open else -1


cdef bytes _said(const uint8_t *field, uint64_t n, uint8_t *out):
    if n and field[0] == 34:
        n = nbc_csv_unquote(field, n, out)
        return (<const char *> out)[:n]
    return (<const char *> field)[:n]


def meet(code_t[::1] codes not None, uint32_t[::1] places not None, uint32_t[::1] firsts not None, int64_t n):
    """Give codes that have no place (2^32 - 1) the next ones, in the order they come; how many have one then.

    places, firsts: in and out; firsts[place] is the code that has it. A code that is none is a ValueError.
    """
    cdef Py_ssize_t i, bad = -1
    cdef uint32_t code
    if not 0 <= n <= firsts.shape[0] or firsts.shape[0] < places.shape[0]:
        raise ValueError(f"firsts must have room for {places.shape[0]} codes, got {firsts.shape[0]} with {n} taken")
    with nogil:
        for i in range(codes.shape[0]):
            code = codes[i]
            if code >= places.shape[0]:
                bad = i
                break
            if places[code] == <uint32_t> 0xFFFFFFFF:
                if n >= firsts.shape[0]:
                    bad = i
                    break
                places[code] = <uint32_t> n
                firsts[n] = code
                n += 1
    if bad >= 0:
        raise ValueError(f"row {bad}: code {codes[bad]} outside {places.shape[0]} places")
    return n


cdef class Values:
    """The distinct values of some columns, which scanners of several threads share.

    Parameters
    ----------
    keys : uint64, two random numbers a column, by which its values are hashed
    """
    cdef nbc_csv_values *columns
    cdef readonly int64_t n_columns

    def __cinit__(self, const uint64_t[::1] keys not None):
        cdef int64_t n = keys.shape[0] // 2, i
        if n < 1 or keys.shape[0] != 2 * n:
            raise ValueError(f"keys must be two a column, got {keys.shape[0]}")
        self.columns = <nbc_csv_values *> calloc(<size_t> n, sizeof(nbc_csv_values))
        if self.columns == NULL:
            raise MemoryError("no memory for a table of distinct values")
        self.n_columns = n
        for i in range(n):
            if nbc_csv_make_values(self.columns + i, keys[2 * i], keys[2 * i + 1]) != NBC_CSV_FINE:
                raise MemoryError("no memory for a table of distinct values")

    def __dealloc__(self):
        cdef int64_t i
        if self.columns != NULL:
            for i in range(self.n_columns):
                nbc_csv_drop_values(self.columns + i)
        free(self.columns)

    cdef nbc_csv_values *locked(self, int64_t column) except NULL:
        """A column, of which nobody else reads or writes until it is unlocked."""
        if not 0 <= column < self.n_columns:
            raise IndexError(f"column must be 0..{self.n_columns - 1}, got {column}")
        PyThread_acquire_lock(self.columns[column].lock, 1)
        return self.columns + column

    def size(self, int64_t column):
        """How many values there are."""
        cdef nbc_csv_values *values = self.locked(column)
        cdef int64_t n = values.n
        PyThread_release_lock(values.lock)
        return n

    def null(self, int64_t column):
        """The code of a null, or -1."""
        cdef nbc_csv_values *values = self.locked(column)
        cdef int64_t null = values.null
        PyThread_release_lock(values.lock)
        return null

    def texts(self, int64_t column, const uint32_t[::1] codes not None):
        """The values of these codes: str, or None for a null."""
        cdef nbc_csv_values *values = self.locked(column)
        cdef uint64_t begin
        cdef Py_ssize_t i
        result = []
        try:
            for i in range(codes.shape[0]):
                if codes[i] >= values.n:
                    raise IndexError(f"code {codes[i]} of {values.n}")
                begin = nbc_csv_begin(values, codes[i])
                if codes[i] == values.null:
                    result.append(None)
                else:
                    result.append(PyUnicode_DecodeUTF8(<const char *> values.bytes + begin,
                                                       <Py_ssize_t> (values.ends[codes[i]] - begin), NULL))
        finally:
            PyThread_release_lock(values.lock)
        return result

    def integers(self, int64_t column, const uint32_t[::1] codes not None, int64_t[::1] out not None):  # out: out
        """The values of these codes as integers (0 for a null), and the first that is none: -1, or its position."""
        cdef nbc_csv_values *values
        cdef uint64_t begin
        cdef Py_ssize_t i, bad = -1
        if out.shape[0] != codes.shape[0]:
            raise ValueError(f"{codes.shape[0]} codes but room for {out.shape[0]}")
        values = self.locked(column)
        for i in range(codes.shape[0]):
            if codes[i] >= values.n:
                bad = i
                break
            out[i] = 0
            if codes[i] == values.null:
                continue
            begin = nbc_csv_begin(values, codes[i])
            if not nbc_csv_integer(values.bytes + begin, values.ends[codes[i]] - begin, &out[i]):
                bad = i
                break
        PyThread_release_lock(values.lock)
        return bad

    def floats(self, int64_t column, const uint32_t[::1] codes not None, double[::1] out not None):  # out: out
        """The values of these codes as floats (0 for a null), and the first that is none: -1, or its position."""
        cdef nbc_csv_values *values
        cdef uint64_t begin, n
        cdef Py_ssize_t i, bad = -1
        cdef int answer
        if out.shape[0] != codes.shape[0]:
            raise ValueError(f"{codes.shape[0]} codes but room for {out.shape[0]}")
        values = self.locked(column)
        try:
            for i in range(codes.shape[0]):
                if codes[i] >= values.n:
                    bad = i
                    break
                out[i] = 0
                if codes[i] == values.null:
                    continue
                begin = nbc_csv_begin(values, codes[i])
                n = values.ends[codes[i]] - begin
                answer = nbc_csv_float(values.bytes + begin, n, &out[i])
                if answer == NBC_CSV_ASK and _as_python(values.bytes + begin, n, &out[i]):
                    answer = NBC_CSV_IS_NUMBER
                if answer != NBC_CSV_IS_NUMBER:
                    bad = i
                    break
        finally:
            PyThread_release_lock(values.lock)
        return bad


cdef bint _as_python(const uint8_t *text, uint64_t n, double *number) except -1:
    """Whether Python reads a float there and writes it so."""
    cdef char[64] copy
    cdef char *written
    cdef bint same
    if n > <uint64_t> NBC_CSV_LONGEST_FLOAT:
        return False
    memcpy(copy, text, n)
    copy[n] = 0
    try:
        number[0] = PyOS_string_to_double(copy, NULL, NULL)
    except ValueError:
        return False
    if number[0] - number[0] != 0:  # infinite
        return False
    written = PyOS_double_to_string(number[0], b"r", 0, Py_DTSF_ADD_DOT_0, NULL)
    if written == NULL:
        raise MemoryError()
    same = strcmp(written, copy) == 0
    PyMem_Free(written)
    return same


cdef class Scanner:
    """Reads rows, a block at a time; one a thread, over shared Values.

    Parameters
    ----------
    values : the columns
    n_fields : of a row
    places : which field of a row each column is
    delimiter : a byte of ASCII
    nulls : the values that are nulls, in UTF-8
    keys : uint64, two random numbers a column
    level : which vectors are used
    """
    cdef Values values
    cdef nbc_csv_scanner scanner
    cdef list nulls
    cdef int level, users

    def __cinit__(self, Values values not None, int64_t n_fields, const int64_t[::1] places not None, int delimiter,
                  list nulls not None, const uint64_t[::1] keys not None, int level):
        cdef nbc_csv_scanner *s = &self.scanner
        cdef int64_t n = values.n_columns, i
        cdef size_t room
        expect_delimiter(delimiter)
        expect_level(level)
        if not 1 <= n_fields <= 1 << 24:
            raise ValueError(f"n_fields must be 1..{1 << 24}, got {n_fields}")
        if places.shape[0] != n or keys.shape[0] != 2 * n:
            raise ValueError(f"{n} columns, but {places.shape[0]} places and {keys.shape[0]} keys")
        for i in range(n):
            if not 0 <= places[i] < n_fields:
                raise ValueError(f"places must be 0..{n_fields - 1}, got {places[i]}")
        self.values, self.level = values, level
        self.nulls = [bytes(null) for null in nulls]
        s.n_fields, s.n_columns, s.n_nulls, s.delimiter = n_fields, n, len(self.nulls), <uint8_t> delimiter
        s.target = max(POSITIONS, 4 * n_fields)
        s.room = s.target + n_fields + NBC_CSV_AHEAD
        room = <size_t> (s.room + NBC_CSV_AHEAD)
        s.positions = <uint32_t *> calloc(room, sizeof(uint32_t))
        s.starts = <uint32_t *> calloc(room, sizeof(uint32_t))
        s.codes = <uint32_t *> calloc(room, sizeof(uint32_t))
        s.missed = <uint32_t *> calloc(room, sizeof(uint32_t))
        s.nulls = <nbc_csv_text *> calloc(<size_t> s.n_nulls + 1, sizeof(nbc_csv_text))
        s.caches = <nbc_csv_cache *> calloc(<size_t> n, sizeof(nbc_csv_cache))
        if (s.positions == NULL or s.starts == NULL or s.codes == NULL or s.missed == NULL or s.nulls == NULL
                or s.caches == NULL):
            raise MemoryError("no memory for a scanner")
        for i in range(s.n_nulls):
            s.nulls[i].text = <const uint8_t *> <const char *> (<bytes> self.nulls[i])
            s.nulls[i].n = <uint64_t> len(<bytes> self.nulls[i])
        for i in range(n):
            if nbc_csv_make_cache(s.caches + i, values.columns + i, places[i], n, keys[2 * i],
                                  keys[2 * i + 1]):
                raise MemoryError("no memory for a scanner")

    def __dealloc__(self):
        cdef int64_t i
        if self.scanner.caches != NULL:
            for i in range(self.scanner.n_columns):
                nbc_csv_drop_cache(self.scanner.caches + i)
        free(self.scanner.caches)
        free(self.scanner.nulls)
        free(self.scanner.positions)
        free(self.scanner.starts)
        free(self.scanner.codes)
        free(self.scanner.missed)
        free(self.scanner.scratch)

    def scan(self, const uint8_t[::1] text not None, int64_t start, int64_t end, bint append=False):
        """Read the rows in text[start:end], of which the last one is whole; FINE, or what is wrong.

        With `append` they come after those that were read before, else in their place.
        """
        expect_span(text.shape[0], start, end)
        take(&self.users, "Scanner")
        with nogil:
            nbc_csv_scan(&self.scanner, &text[0], <uint32_t> start, <uint32_t> end, append, self.level)
        give(&self.users)
        return self.scanner.status

    @property
    def rows(self):
        """How many rows there are."""
        return self.scanner.rows

    @property
    def wrong(self):
        """Of the first error: where its row begins, the column or -1, and where the field begins and ends."""
        cdef nbc_csv_scanner *s = &self.scanner
        column = -1 if s.bad_column == <uint32_t> 0xFFFFFFFF else s.bad_column
        return s.bad_row, column, s.bad_start, s.bad_end

    cdef nbc_csv_cache *cache(self, int64_t column) except NULL:
        if not 0 <= column < self.scanner.n_columns:
            raise IndexError(f"column must be 0..{self.scanner.n_columns - 1}, got {column}")
        return self.scanner.caches + column

    def width(self, int64_t column):
        """How many bytes each code has: 1, 2 or 4."""
        return self.cache(column).width

    def most(self, int64_t column):
        """The largest code."""
        return self.cache(column).most

    def copy(self, int64_t column, int64_t start, code_t[::1] out not None):  # out: out
        """The codes of as many rows as there is room for, from `start` on."""
        cdef nbc_csv_cache *cache = self.cache(column)
        cdef int64_t n = out.shape[0]
        if not 0 <= start <= self.scanner.rows - n:
            raise ValueError(f"{n} rows from {start} on, of {self.scanner.rows}")
        if <int> sizeof(code_t) < cache.width:
            raise ValueError(f"expected room for codes of {cache.width} bytes, got {sizeof(code_t)}")
        if n:
            take(&self.users, "Scanner")
            nbc_csv_copy(cache, start, n, <uint8_t *> &out[0], <int> sizeof(code_t))
            give(&self.users)
