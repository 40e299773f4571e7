"""For two classes, what each attribute can add to the logarithm of the ratio of their scores."""

from libc.stdint cimport int64_t, uint8_t

from shared.in_use cimport apart

cdef int64_t NONE = -(<int64_t> 1 << 62)
cdef int64_t MOST = <int64_t> 1 << 61  # of a logarithm and of the shift: any two can be added


def gains(const int64_t[:, ::1] logs not None, const uint8_t[:, ::1] zero not None,
          const int64_t[::1] starts not None, Py_ssize_t c, Py_ssize_t d, int64_t shift, bint both,
          int64_t[::1] without not None, int64_t[::1] with_zero not None):  # the last two: out
    """For each attribute the largest log N_c - log N_d over values with N_c > 0, and over those with N_c = 0.

    A zero of d counts as -shift; with `both` false its values are left out. A zero of c counts as 0. Where
    an attribute has no such value the result is -2^62. Logarithms and shift are at most 2^61 in size.
    """
    cdef Py_ssize_t n = starts.shape[0] - 1, i
    cdef bint fits
    if (logs.shape[0] != zero.shape[0] or logs.shape[1] != zero.shape[1]
            or without.shape[0] != n or with_zero.shape[0] != n):
        raise ValueError(f"logs are {logs.shape[0]} x {logs.shape[1]}, zero {zero.shape[0]} x {zero.shape[1]}, "
                         f"results {without.shape[0]} and {with_zero.shape[0]} of {n}")
    if not (0 <= c < logs.shape[1] and 0 <= d < logs.shape[1]):
        raise ValueError(f"classes {c} and {d} of {logs.shape[1]}")
    if n < 0 or starts[0] != 0 or starts[n] != logs.shape[0]:
        raise ValueError(f"starts must run from 0 to {logs.shape[0]}")
    for i in range(n):
        if starts[i] > starts[i + 1]:
            raise ValueError(f"starts must not fall, got {starts[i]} before {starts[i + 1]}")
    if n:
        apart(&without[0], <size_t> n * 8, &starts[0], <size_t> n * 8 + 8, "without and starts")
        apart(&with_zero[0], <size_t> n * 8, &starts[0], <size_t> n * 8 + 8, "with_zero and starts")
    if not -MOST <= shift <= MOST:
        raise ValueError(f"shift must be at most 2^61 in size, got {shift}")
    with nogil:
        fits = _gains(logs, zero, starts, c, d, shift, both, without, with_zero)
    if not fits:
        raise ValueError(f"logs must be at most 2^61 in size, got larger ones of class {c} or {d}")


cdef bint _gains(const int64_t[:, ::1] logs, const uint8_t[:, ::1] zero, const int64_t[::1] starts,
                 Py_ssize_t c, Py_ssize_t d, int64_t shift, bint both,
                 int64_t[::1] without, int64_t[::1] with_zero) noexcept nogil:
    """Whether the logarithms that were looked at are small enough."""
    cdef Py_ssize_t i, t
    cdef int64_t gain, best, best_zero
    for i in range(starts.shape[0] - 1):
        best = best_zero = NONE
        for t in range(starts[i], starts[i + 1]):
            if zero[t, d]:
                if not both:
                    continue
                gain = shift
            elif -MOST <= logs[t, d] <= MOST:
                gain = -logs[t, d]
            else:
                return False
            if zero[t, c]:
                best_zero = max(best_zero, gain)
            elif -MOST <= logs[t, c] <= MOST:
                best = max(best, gain + logs[t, c])
            else:
                return False
        without[i] = best
        with_zero[i] = best_zero
    return True
