from cpython.buffer cimport Py_buffer
from libc.stdint cimport int64_t


cdef extern from "shared/columns.h" nogil:
    ctypedef struct nbc_column:
        const char *data
        Py_ssize_t stride
        int64_t size
        int64_t limit
        int width
        int is_signed

    int64_t nbc_code(const nbc_column *column, int64_t row)
    int64_t nbc_limit(int64_t size, int width, int is_signed)
    int64_t nbc_first_bad(const nbc_column *column, int64_t start, int64_t stop)


cdef class Columns:
    cdef Py_buffer *buffers
    cdef nbc_column *columns
    cdef readonly Py_ssize_t n_columns
    cdef readonly int64_t n_rows


cdef bint is_matrix(const nbc_column *columns, Py_ssize_t n) noexcept nogil


cdef extern from "shared/plans.h" nogil:
    ctypedef struct nbc_plan:
        int64_t n_groups, n_straight
        int64_t *first
        int64_t *members
        int64_t *offset
        int64_t *straight


cdef int take_plan(nbc_plan *plan, const nbc_column *columns, int64_t n_attributes, int64_t per_entry,
                   const int64_t[::1] first, const int64_t[::1] members) except -1
cdef void drop_plan(nbc_plan *plan) noexcept nogil
cdef int code_format(const char *kind) noexcept nogil
