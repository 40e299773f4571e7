"""The loops of an interior point method whose rows have a few entries of 1 and -1."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport apart

cdef int64_t AT_ONCE = 1 << 20  # rows between two looks for Ctrl-C


cdef int _check(const int32_t[:, ::1] columns, const int8_t[:, ::1] signs, int64_t m, int64_t n) except -1:
    cdef int64_t r, k, bad = -1
    if columns.shape[0] != m or signs.shape[0] != m or signs.shape[1] != columns.shape[1]:
        raise ValueError(f"expected {m} rows of columns and signs, got {columns.shape[0]} and {signs.shape[0]}")
    with nogil:
        for r in range(m):
            for k in range(columns.shape[1]):
                if not -1 <= columns[r, k] < n:
                    bad = r
                    break
    if bad >= 0:
        raise ValueError(f"row {bad}: columns outside -1..{n - 1}")
    return 0


cdef int _check_apart(const double *out, int64_t n, const int32_t[:, ::1] columns, str what) except -1:
    if n and columns.shape[0] and columns.shape[1]:
        apart(out, <size_t> n * 8, &columns[0, 0], <size_t> columns.shape[0] * <size_t> columns.shape[1] * 4, what)
    return 0


def normal(const int32_t[:, ::1] columns not None, const int8_t[:, ::1] signs not None, const double[::1] d not None,
           double[:, ::1] H not None):  # H: in and out
    """Add sum_r d[r] a_r a_r' to the lower triangle of H; an entry in column -1 is none."""
    cdef int64_t m = d.shape[0], start = 0
    _check(columns, signs, m, H.shape[0])
    if H.shape[0] != H.shape[1]:
        raise ValueError(f"H must be square, got {H.shape[0]} x {H.shape[1]}")
    if H.shape[0]:
        _check_apart(&H[0, 0], H.shape[0] * H.shape[1], columns, "H and columns")
    while start < m:
        with nogil:
            _normal(columns, signs, d, H, start, min(m, start + AT_ONCE))
        start += AT_ONCE
        PyErr_CheckSignals()


cdef void _normal(const int32_t[:, ::1] columns, const int8_t[:, ::1] signs, const double[::1] d, double[:, ::1] H,
                  int64_t start, int64_t stop) noexcept nogil:
    cdef int64_t r, k, q, width = columns.shape[1]
    cdef int32_t i, j
    cdef double x
    for r in range(start, stop):
        for k in range(width):
            i = columns[r, k]
            if i < 0:
                continue
            x = d[r] * signs[r, k]
            for q in range(width):
                j = columns[r, q]
                if 0 <= j <= i:
                    H[i, j] += x * signs[r, q]


def times(const int32_t[:, ::1] columns not None, const int8_t[:, ::1] signs not None, const double[::1] x not None,
          double[::1] values not None):  # values: out
    """The value of every row at x."""
    cdef int64_t m = values.shape[0], r, k
    cdef double total
    _check(columns, signs, m, x.shape[0])
    if m:
        _check_apart(&values[0], m, columns, "values and columns")
    with nogil:
        for r in range(m):
            total = 0
            for k in range(columns.shape[1]):
                if columns[r, k] >= 0:
                    total += signs[r, k] * x[columns[r, k]]
            values[r] = total


def transposed(const int32_t[:, ::1] columns not None, const int8_t[:, ::1] signs not None,
               const double[::1] factors not None, double[::1] x not None):  # x: in and out
    """Add every row, times its factor, to x."""
    cdef int64_t m = factors.shape[0], r, k
    _check(columns, signs, m, x.shape[0])
    if x.shape[0]:
        _check_apart(&x[0], x.shape[0], columns, "x and columns")
    with nogil:
        for r in range(m):
            for k in range(columns.shape[1]):
                if columns[r, k] >= 0:
                    x[columns[r, k]] += signs[r, k] * factors[r]


def substitute(const double[:, ::1] lower not None, double[::1] x not None):  # x: in and out
    """Solve L L' y = x in place."""
    cdef int64_t n = x.shape[0], i, j
    cdef double total
    if lower.shape[0] != n or lower.shape[1] != n:
        raise ValueError(f"lower must be {n} x {n}, got {lower.shape[0]} x {lower.shape[1]}")
    with nogil:
        for i in range(n):
            total = x[i]
            for j in range(i):
                total -= lower[i, j] * x[j]
            x[i] = total / lower[i, i]
        for i in range(n - 1, -1, -1):
            total = x[i] / lower[i, i]
            x[i] = total
            for j in range(i):
                x[j] -= lower[i, j] * total


def factor(double[:, ::1] H not None, int64_t width, int64_t n_apart):  # H: in and out
    """Put the Cholesky factor into the lower triangle of H, block after block of this width.

    The first `n_apart` blocks have nothing to do with each other. False where a block is not positive.
    """
    cdef int64_t n = H.shape[0], n_blocks = n // width if width > 0 else 0, t
    cdef int32_t *rows
    cdef double *found
    cdef int good = 1
    if H.shape[1] != n or width < 1 or n_blocks * width != n or not 0 <= n_apart <= n_blocks:
        raise ValueError(f"expected blocks of width {width}, {n_apart} of them apart, in a square, "
                         f"got {n} x {H.shape[1]}")
    if n == 0:
        return True
    rows = <int32_t *> malloc(<size_t> n * sizeof(int32_t))
    found = <double *> malloc(<size_t> ((width + 1) * n) * sizeof(double))
    if rows == NULL or found == NULL:
        free(rows)
        free(found)
        raise MemoryError()
    with nogil:
        for t in range(n_blocks):
            if good:
                good = _eliminate_block(&H[0, 0], n, t * width, width, max(t + 1, n_apart) * width, rows, found)
    free(rows)
    free(found)
    return good == 1


cdef int _eliminate_block(double *H, int64_t n, int64_t s, int64_t w, int64_t first, int32_t *rows,
                          double *found) noexcept nogil:
    cdef int64_t i, k, q, p, count = 0
    cdef double x, y, z
    cdef double *row
    cdef double *total = found + w * n
    for k in range(w):
        for i in range(k, w):
            x = H[(s + i) * n + s + k]
            for q in range(k):
                x -= H[(s + i) * n + s + q] * H[(s + k) * n + s + q]
            if i > k:
                H[(s + i) * n + s + k] = x / H[(s + k) * n + s + k]
            elif x > 0:
                H[(s + k) * n + s + k] = sqrt(x)
            else:
                return 0
    for i in range(first, n):
        row = H + i * n + s
        x = 0
        for k in range(w):
            x += fabs(row[k])
        if x == 0:
            continue
        for k in range(w):
            x = row[k]
            for q in range(k):
                x -= row[q] * H[(s + k) * n + s + q]
            row[k] = x / H[(s + k) * n + s + k]
            found[k * n + count] = row[k]
        rows[count] = <int32_t> i
        count += 1
    for p in range(count):
        row = H + rows[p] * n
        for q in range(p + 1):
            total[q] = 0
        k = 0
        while k + 3 <= w:  # three at a time: the totals come and go less often
            x = row[s + k]
            y = row[s + k + 1]
            z = row[s + k + 2]
            for q in range(p + 1):
                total[q] += x * found[k * n + q] + y * found[(k + 1) * n + q] + z * found[(k + 2) * n + q]
            k += 3
        while k < w:
            x = row[s + k]
            for q in range(p + 1):
                total[q] += x * found[k * n + q]
            k += 1
        if count == n - first:  # as they stand
            row += first
            for q in range(p + 1):
                row[q] -= total[q]
        else:
            for q in range(p + 1):
                row[rows[q]] -= total[q]
    return 1
