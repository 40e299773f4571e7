"""Roots of many integers at once, correctly rounded at any precision up to MOST_BITS."""

from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint8_t, uint64_t

from shared.in_use cimport apart


cdef extern from "roots.h" nogil:
    int NBC_ROOT_DEGREE

    ctypedef struct nbc_root_plan:
        int accuracy

    int nbc_plan_root(nbc_root_plan *plan, int bits, int degree, int squarings)
    void nbc_roots(const uint64_t *numbers, int64_t count, int degree, int squarings, int bits,
                   const nbc_root_plan *plan, uint64_t *mantissas, int64_t *exponents, uint8_t *sure)
    void nbc_product(uint64_t *limbs, int64_t *exponent, const uint64_t *numbers, const int64_t *exponents,
                     const int64_t *places, int64_t count, int64_t stride, int n)
    void nbc_gauge(uint64_t *mantissas, int64_t *new_exponents, double *floats, const uint64_t *numbers,
                   const int64_t *exponents, const int64_t *places, int64_t n_classes, const uint64_t *inverses,
                   const int64_t *inverse_exponents, int snap, int bits, int n)
    int NBC_ROOT_LIMBS

MOST_BITS = 900
cdef int64_t MOST_EXPONENT = <int64_t> 1 << 40
cdef int64_t MOST_ROWS = <int64_t> 1 << 22  # sums of so many exponents fit in 64 bits


def can(top, bottom) -> bool:
    """Whether `roots` knows N^(top / bottom): a top of 1, 2, 4, .. 64 and a bottom of 2 .. 2^20."""
    top, bottom = PyNumber_Index(top), PyNumber_Index(bottom)
    return top in (1, 2, 4, 8, 16, 32, 64) and 2 <= bottom <= NBC_ROOT_DEGREE


def size(int bits) -> int:
    """Limbs of a mantissa."""
    if not 0 <= bits <= 1 << 20:
        raise ValueError(f"bits must be 0..{1 << 20}, got {bits}")
    return (bits + 63) // 64


def roots(const uint64_t[::1] numbers not None, int top, int bottom, int bits,
          uint64_t[:, ::1] mantissas not None, int64_t[::1] exponents not None,  # these three: out
          uint8_t[::1] sure not None):
    """N^(top / bottom) = mantissa * 2^exponent with mantissas of `bits` bits, to nearest.

    sure[i] is 0 where the root is so near the middle between two results that either may be right.
    """
    cdef nbc_root_plan plan
    cdef Py_ssize_t i, n = numbers.shape[0], at, stop
    cdef int squarings = 0
    if not 2 <= bits <= MOST_BITS:
        raise ValueError(f"bits must be 2..{MOST_BITS}, got {bits}")
    if not can(top, bottom):
        raise ValueError(f"exponent {top}/{bottom} must have 1, 2, 4, .. 64 over 2..{NBC_ROOT_DEGREE}")
    if mantissas.shape[0] != n or mantissas.shape[1] != size(bits) or exponents.shape[0] != n or sure.shape[0] != n:
        raise ValueError(f"results must be {n} x {size(bits)}, {n} and {n}, got {mantissas.shape[0]} x "
                         f"{mantissas.shape[1]}, {exponents.shape[0]} and {sure.shape[0]}")
    for i in range(n):
        if numbers[i] == 0:
            raise ValueError(f"numbers must be positive, got 0 at {i}")
    while 1 << squarings < top:
        squarings += 1
    if not nbc_plan_root(&plan, bits, bottom, squarings):
        raise ValueError(f"no plan for {bits} bits of the root {bottom}")
    for at in range(0, n, 65536):  # milliseconds, after which Ctrl-C is answered
        stop = min(65536, n - at)
        with nogil:
            nbc_roots(&numbers[at], stop, bottom, squarings, bits, &plan, &mantissas[at, 0], &exponents[at], &sure[at])


cdef int check(const uint64_t[:, ::1] numbers, const int64_t[::1] exponents, const int64_t[:, ::1] places,
               const int64_t[::1] starts) except -1:
    """Refuse places outside the numbers and starts that do not part the rows; the limbs of a number."""
    cdef Py_ssize_t t, c, n = starts.shape[0] - 1
    if not 2 <= numbers.shape[1] <= NBC_ROOT_LIMBS:
        raise ValueError(f"numbers must have 2..{NBC_ROOT_LIMBS} limbs, got {numbers.shape[1]}")
    if exponents.shape[0] != numbers.shape[0]:
        raise ValueError(f"{numbers.shape[0]} numbers but {exponents.shape[0]} exponents")
    if n < 0 or starts[0] != 0 or starts[n] != places.shape[0]:
        raise ValueError(f"starts must run from 0 to {places.shape[0]}")
    for t in range(n):
        if starts[t] > starts[t + 1]:
            raise ValueError(f"starts must not fall, got {starts[t]} before {starts[t + 1]}")
    for t in range(exponents.shape[0]):
        if not -MOST_EXPONENT <= exponents[t] <= MOST_EXPONENT:
            raise ValueError(f"exponents must be within 2^40, got {exponents[t]}")
    for t in range(numbers.shape[0]):
        if not numbers[t, numbers.shape[1] - 1] >> 63:
            raise ValueError(f"numbers must have their top bit set, number {t} has not")
    if places.shape[0] > MOST_ROWS:
        raise ValueError(f"places must have at most 2^22 rows, got {places.shape[0]}")
    for t in range(places.shape[0]):
        for c in range(places.shape[1]):
            if not 0 <= places[t, c] < numbers.shape[0]:
                raise ValueError(f"place {places[t, c]} outside {numbers.shape[0]} numbers")
    return <int> numbers.shape[1]


cdef int check_apart(const void *out, size_t n_bytes, const int64_t[:, ::1] places, const int64_t[::1] starts,
                     str name) except -1:
    apart(out, n_bytes, &starts[0], <size_t> starts.shape[0] * 8, f"{name} and starts")
    if places.shape[0] and places.shape[1]:
        apart(out, n_bytes, &places[0, 0], <size_t> (places.shape[0] * places.shape[1]) * 8, f"{name} and places")
    return 0


def products(const uint64_t[:, ::1] numbers not None, const int64_t[::1] exponents not None,
             const int64_t[:, ::1] places not None, const int64_t[::1] starts not None,
             uint64_t[:, :, ::1] results not None, int64_t[:, ::1] result_exponents not None):  # the last two: out
    """For each attribute (rows starts[i] to starts[i+1]) and class the product of the numbers at its places.

    Numbers are fractions of limbs with their top bit set, times a power of two.
    """
    cdef int limbs = check(numbers, exponents, places, starts)
    cdef Py_ssize_t i, c, n = starts.shape[0] - 1, n_classes = places.shape[1]
    if (results.shape[0] != n or results.shape[1] != n_classes or results.shape[2] != limbs
            or result_exponents.shape[0] != n or result_exponents.shape[1] != n_classes):
        raise ValueError(f"results must be {n} x {n_classes} x {limbs}")
    if n and n_classes:
        check_apart(&results[0, 0, 0], <size_t> (n * n_classes * limbs) * 8, places, starts, "results")
        check_apart(&result_exponents[0, 0], <size_t> (n * n_classes) * 8, places, starts, "result_exponents")
    with nogil:
        for i in range(n):
            for c in range(n_classes):
                if starts[i + 1] > starts[i]:
                    nbc_product(&results[i, c, 0], &result_exponents[i, c], &numbers[0, 0], &exponents[0],
                                &places[starts[i], c], starts[i + 1] - starts[i], n_classes, limbs)


def gauge(const uint64_t[:, ::1] numbers not None, const int64_t[::1] exponents not None,
          const int64_t[:, ::1] places not None, const int64_t[::1] starts not None,
          const uint64_t[:, :, ::1] inverses not None, const int64_t[:, ::1] inverse_exponents not None,
          int snap, int bits,
          uint64_t[:, :, ::1] mantissas not None, int64_t[:, ::1] new_exponents not None,  # these three: out
          double[:, ::1] floats not None):
    """Every number times the inverse of its attribute and class, divided by its sum over the classes.

    Rounded to `snap` and then to `bits` bits: mantissa * 2^exponent, and nearly that as a float.
    """
    cdef int limbs = check(numbers, exponents, places, starts)
    cdef Py_ssize_t i, t, n = starts.shape[0] - 1, n_rows = places.shape[0], n_classes = places.shape[1]
    if not 2 <= bits <= snap <= 64 * limbs:
        raise ValueError(f"bits and snap must be 2..{64 * limbs}, got {bits} and {snap}")
    if (inverses.shape[0] != n or inverses.shape[1] != n_classes or inverses.shape[2] != limbs
            or inverse_exponents.shape[0] != n or inverse_exponents.shape[1] != n_classes):
        raise ValueError(f"inverses must be {n} x {n_classes} x {limbs}")
    if (mantissas.shape[0] != n_rows or mantissas.shape[1] != n_classes or mantissas.shape[2] != size(bits)
            or new_exponents.shape[0] != n_rows or new_exponents.shape[1] != n_classes
            or floats.shape[0] != n_rows or floats.shape[1] != n_classes):
        raise ValueError(f"results must be {n_rows} x {n_classes} x {size(bits)}")
    for i in range(n):
        for t in range(n_classes):
            if not -MOST_EXPONENT <= inverse_exponents[i, t] <= MOST_EXPONENT:
                raise ValueError(f"inverse exponents must be within 2^40, got {inverse_exponents[i, t]}")
            if not inverses[i, t, limbs - 1] >> 63:
                raise ValueError(f"inverses must have their top bit set, that of {i} and class {t} has not")
    if n_classes == 0 or n_rows == 0:
        return
    check_apart(&mantissas[0, 0, 0], <size_t> (n_rows * n_classes * size(bits)) * 8, places, starts, "mantissas")
    check_apart(&new_exponents[0, 0], <size_t> (n_rows * n_classes) * 8, places, starts, "new_exponents")
    check_apart(&floats[0, 0], <size_t> (n_rows * n_classes) * 8, places, starts, "floats")
    with nogil:
        for i in range(n):
            for t in range(starts[i], starts[i + 1]):
                nbc_gauge(&mantissas[t, 0, 0], &new_exponents[t, 0], &floats[t, 0], &numbers[0, 0], &exponents[0],
                          &places[t, 0], n_classes, &inverses[i, 0, 0], &inverse_exponents[i, 0], snap, bits, limbs)
