"""Integer columns of any width and stride, held for as long as a kernel reads them."""

from cpython.buffer cimport (PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_GetBuffer)
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free


cdef extern from "shared/caches.h" nogil:
    void nbc_caches(int64_t *first, int64_t *second)
    int nbc_second_is_fast()

cdef extern from "shared/lanes.h" nogil:
    int nbc_level


def caches():
    """Bytes of the first cache of data and of the second, and whether the second is known to be nearly as fast."""
    cdef int64_t first, second
    nbc_caches(&first, &second)
    return first, second, nbc_second_is_fast() != 0


def level():
    """Which level of x86-64 kernels are used for: 0 (any), 1 (v3) or 2 (v4); on other processors 0."""
    return nbc_level


cdef class Columns:
    """The buffers of 1-D integer arrays of equal length, with the number of codes of each.

    Nothing is copied. Whether the codes lie in range is for the kernel that reads them to check, and nobody may
    write to the arrays while one does.
    """

    def __cinit__(self, list arrays not None, list sizes not None, int64_t n_rows):
        cdef Py_ssize_t i, n
        cdef Py_buffer *buffer
        arrays, sizes = list(arrays), list(sizes)  # what they hold may change the caller's own when asked
        n = len(arrays)
        if len(sizes) != n:
            raise ValueError(f"{n} columns but {len(sizes)} sizes")
        if n_rows < 0:
            raise ValueError(f"n_rows must be at least 0, got {n_rows}")
        self.n_rows = n_rows
        self.buffers = <Py_buffer *> calloc(n + 1, sizeof(Py_buffer))
        self.columns = <nbc_column *> calloc(n + 1, sizeof(nbc_column))
        if self.buffers == NULL or self.columns == NULL:
            raise MemoryError()
        for i in range(n):
            buffer = &self.buffers[i]
            PyObject_GetBuffer(arrays[i], buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT)
            self.n_columns = i + 1
            describe(buffer, &self.columns[i], i, n_rows, PyNumber_Index(sizes[i]))

    def is_matrix(self, Py_ssize_t n):
        """Whether the first n columns are the neighbours in rows without gaps, of at most 256 codes each."""
        return 0 < n <= self.n_columns and is_matrix(self.columns, n)

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.buffers != NULL:
            for i in range(self.n_columns):
                PyBuffer_Release(&self.buffers[i])
        free(self.buffers)
        free(self.columns)


cdef bint is_matrix(const nbc_column *columns, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t width = columns[0].width
    if n < 2:
        return False
    for i in range(n):
        if columns[i].width != width or columns[i].stride != n * width or columns[i].size > 256:
            return False
        if columns[i].data != columns[0].data + i * width:
            return False
    return True


cdef int take_plan(nbc_plan *plan, const nbc_column *columns, int64_t n_attributes, int64_t per_entry,
                   const int64_t[::1] first, const int64_t[::1] members) except -1:
    """A checked copy of a plan: which attributes share a table of at most 65536 entries, and which have none.

    drop_plan frees it, also after an exception; the plan must be zero at the start.
    """
    cdef int64_t a, g, m, entries, n_groups = first.shape[0] - 1
    plan.first = <int64_t *> calloc(<size_t> (4 * n_attributes + 3), sizeof(int64_t))
    if plan.first == NULL:
        raise MemoryError()
    plan.offset = plan.first + n_attributes + 1
    plan.members = plan.offset + n_attributes + 1
    plan.straight = plan.members + n_attributes
    if not 0 <= n_groups <= n_attributes or first[0] != 0 or first[n_groups] != members.shape[0]:
        raise ValueError(f"a plan of {n_attributes} attributes has first = 0, .., {members.shape[0]} (its members)")
    # `straight` serves as a list of marks before it takes its attributes.
    for m in range(members.shape[0]):
        if not 0 <= members[m] < n_attributes or plan.straight[members[m]]:
            raise ValueError(f"member {m} of the plan is attribute {members[m]}: unknown, or there twice")
        plan.straight[members[m]] = 1
        plan.members[m] = members[m]
    for a in range(n_attributes):
        if not plan.straight[a]:
            plan.straight[plan.n_straight] = a
            plan.n_straight += 1
    for g in range(n_groups):
        if not first[g] < first[g + 1] <= members.shape[0]:
            raise ValueError(f"group {g} of the plan must have members, got {first[g]} to {first[g + 1]}")
        entries = per_entry
        for m in range(first[g], first[g + 1]):
            entries *= min(columns[members[m]].size, <int64_t> 65537)
            if not 0 < entries <= 65536:
                raise ValueError(f"group {g} of the plan must have a table of 1..65536 entries, got {entries} or more")
        plan.first[g + 1] = first[g + 1]
        plan.offset[g + 1] = plan.offset[g] + entries
    plan.n_groups = n_groups
    return 0


cdef void drop_plan(nbc_plan *plan) noexcept nogil:
    free(plan.first)
    plan.first = NULL


cdef int describe(Py_buffer *buffer, nbc_column *column, Py_ssize_t i, int64_t n_rows, int64_t size) except -1:
    cdef int is_signed = code_format(buffer.format)
    if buffer.ndim != 1:
        raise ValueError(f"column {i} must be 1-D, got {buffer.ndim} dimensions")
    if buffer.shape[0] != n_rows:
        raise ValueError(f"column {i} has {buffer.shape[0]} rows, expected {n_rows}")
    if is_signed < 0:
        raise TypeError(f"column {i} must hold native integer codes, got format {(<bytes> buffer.format).decode()!r}")
    if buffer.itemsize not in (1, 2, 4, 8):
        raise TypeError(f"column {i} must hold codes of 1, 2, 4 or 8 bytes, got {buffer.itemsize}")
    if not (0 if n_rows == 0 else 1) <= size <= (<int64_t> 1) << 32:
        raise ValueError(f"column {i} of {n_rows} rows must have 1..2^32 values, got {size}")
    if <size_t> buffer.buf % buffer.itemsize or buffer.strides[0] % buffer.itemsize:
        raise ValueError(f"column {i} is not aligned to its {buffer.itemsize}-byte codes")
    column.data = <const char *> buffer.buf
    column.size = size
    column.stride = buffer.strides[0]
    column.width = <int> buffer.itemsize
    column.is_signed = is_signed
    column.limit = nbc_limit(size, column.width, column.is_signed)
    return 0


cdef int code_format(const char *kind) noexcept nogil:
    """Whether integers of a format of Python's buffers have a sign, or -1 where they are none.

    A leading byte-order mark other than the native one is refused with everything that is not an integer.
    """
    if kind == NULL:
        return 0
    if kind[0] == 0 or kind[1] != 0:
        return -1
    if kind[0] in (b"b", b"h", b"i", b"l", b"q"):
        return 1
    return 0 if kind[0] in (b"?", b"B", b"H", b"I", b"L", b"Q") else -1
