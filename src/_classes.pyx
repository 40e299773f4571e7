"""More than two classes over a product of two halves: labels, and the least of a sum where a class wins."""

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport apart

ctypedef fused number:
    double
    int64_t

cdef int64_t LOOKS = 1 << 24  # between two looks for Ctrl-C


cdef inline int64_t _rows_at_once(int64_t m) noexcept nogil:
    cdef int64_t rows = LOOKS // (m + 1)
    return rows if rows > 1 else 1


cdef inline int64_t _best(const int32_t *above, const int32_t *rank, const int32_t *pair, int64_t C) noexcept nogil:
    """The class that no other beats: X_c > X_d, c < d, where the rank of the pair reaches its threshold."""
    cdef int64_t w = C - 1, c = C - 2, p
    while c >= 0:
        p = pair[c * C + w]
        if rank[p] >= above[p]:
            w = c
        c -= 1
    return w


cdef int _check_pairs(int64_t n_pairs, int64_t C) except -1:
    if not 2 <= C <= 127 or n_pairs != C * (C - 1) // 2:
        raise ValueError(f"expected the pairs of 2 to 127 classes, got {n_pairs} pairs and {C} classes")
    return 0


cdef void _number_pairs(int32_t *pair, int64_t C) noexcept nogil:
    cdef int64_t c, d
    cdef int32_t p = 0
    for c in range(C):
        for d in range(c + 1, C):
            pair[c * C + d] = p
            pair[d * C + c] = p
            p += 1


def labels(const int32_t[:, ::1] above not None, const int32_t[:, ::1] rank not None, int64_t n_classes,
           int8_t[:, ::1] found not None):  # found: out
    """The best class of every (i, j).

    above : (n, pairs), rank : (m, pairs); of the pair c < d, X_c > X_d where rank[j] >= above[i].
    """
    cdef int64_t n = above.shape[0], m = rank.shape[0], P = above.shape[1], i, j, start = 0, stop
    cdef int32_t[127 * 127] pair
    _check_pairs(P, n_classes)
    if rank.shape[1] != P or found.shape[0] != n or found.shape[1] != m:
        raise ValueError(f"expected ranks of {P} pairs and room for {n} x {m} labels")
    _number_pairs(pair, n_classes)
    while start < n and m > 0:
        stop = min(n, start + _rows_at_once(m))
        with nogil:
            for i in range(start, stop):
                for j in range(m):
                    found[i, j] = <int8_t> _best(&above[i, 0], &rank[j, 0], pair, n_classes)
        start = stop
        PyErr_CheckSignals()


def changed(const int32_t[:, ::1] above not None, const int32_t[:, ::1] rank not None, bint order,
            const int64_t[:, ::1] za not None, const int64_t[:, ::1] zb not None, int64_t start, int64_t stop):
    """How many (i, j), i in start .. stop-1, totals za[i] + zb[j] label (or with `order` rank) differently.

    Of totals the largest is best, the later among equals; `above` and `rank` as for `labels`.
    """
    cdef int64_t n = above.shape[0], m = rank.shape[0], P = above.shape[1], C = za.shape[1], i, j, total = 0, last
    cdef int32_t[127 * 127] pair
    _check_pairs(P, C)
    if rank.shape[1] != P or za.shape[0] != n or zb.shape[0] != m or zb.shape[1] != C:
        raise ValueError(f"expected ranks of {P} pairs and totals of {n} and {m} rows and {C} classes")
    if not 0 <= start <= stop <= n:
        raise ValueError(f"start and stop must be in 0..{n}, got {start} and {stop}")
    _check_totals(za, zb)
    _number_pairs(pair, C)
    while start < stop and m > 0:
        last = min(stop, start + _rows_at_once(m))
        with nogil:
            for i in range(start, last):
                for j in range(m):
                    if order:
                        total += _misordered(&above[i, 0], &rank[j, 0], &za[i, 0], &zb[j, 0], C)
                    else:
                        total += (_largest(&za[i, 0], &zb[j, 0], C)
                                  != _best(&above[i, 0], &rank[j, 0], pair, C))
        start = last
        PyErr_CheckSignals()
    return total


def changed_labels(const int8_t[:, ::1] known not None, const int64_t[:, ::1] za not None,
                   const int64_t[:, ::1] zb not None):
    """The same against labels that are known."""
    cdef int64_t n = known.shape[0], m = known.shape[1], C = za.shape[1], i, j, total = 0, start = 0, stop
    if za.shape[0] != n or zb.shape[0] != m or zb.shape[1] != C:
        raise ValueError(f"expected totals of {n} and {m} rows and {C} classes")
    _check_totals(za, zb)
    while start < n and m > 0 and C > 0:
        stop = min(n, start + _rows_at_once(m))
        with nogil:
            for i in range(start, stop):
                for j in range(m):
                    total += _largest(&za[i, 0], &zb[j, 0], C) != known[i, j]
        start = stop
        PyErr_CheckSignals()
    return total


cdef int _check_totals(const int64_t[:, ::1] za, const int64_t[:, ::1] zb) except -1:
    """That no total of two numbers leaves 64 bits."""
    cdef int64_t most_a = 0, least_a = 0, most_b = 0, least_b = 0
    with nogil:
        _extremes(za, &least_a, &most_a)
        _extremes(zb, &least_b, &most_b)
    if most_b > (<int64_t> 0x7fffffffffffffff) - most_a or least_b < -(<int64_t> 0x7fffffffffffffff) - least_a:
        raise ValueError(f"totals must stay below 2^63 in size, got {least_a}..{most_a} and {least_b}..{most_b}")
    return 0


cdef void _extremes(const int64_t[:, ::1] numbers, int64_t *least, int64_t *most) noexcept nogil:
    cdef int64_t i, c
    for i in range(numbers.shape[0]):
        for c in range(numbers.shape[1]):
            least[0] = min(least[0], numbers[i, c])
            most[0] = max(most[0], numbers[i, c])


cdef inline int64_t _largest(const int64_t *a, const int64_t *b, int64_t C) noexcept nogil:
    cdef int64_t c = C - 2, w = C - 1, most = a[C - 1] + b[C - 1]
    while c >= 0:
        if a[c] + b[c] > most:
            most = a[c] + b[c]
            w = c
        c -= 1
    return w


cdef inline int64_t _misordered(const int32_t *above, const int32_t *rank, const int64_t *a, const int64_t *b,
                                int64_t C) noexcept nogil:
    cdef int64_t c, d, p = 0
    for c in range(C):
        for d in range(c + 1, C):
            if (a[c] + b[c] > a[d] + b[d]) != (rank[p] >= above[p]):
                return 1
            p += 1
    return 0


def least(const int8_t[:, ::1] known not None, const number[:, ::1] da not None, const number[:, ::1] db not None,
          number[:, ::1] low_a not None, int32_t[:, ::1] at_a not None,  # low_a, at_a: in and out
          number[:, ::1] low_b not None, int32_t[:, ::1] at_b not None):  # low_b, at_b: in and out
    """For each i, winner and loser the least db[j] over the j with this winner, the first j among equals.

    Rows hold all ordered pairs of classes, C - 1 losers for each winner. `low_a` starts at the largest
    number and `at_a` at -1, which stays where the class never wins; `low_b` and `at_b` are the same for each j.
    """
    cdef int64_t n = known.shape[0], m = known.shape[1], P = da.shape[1], L, start = 0, stop, i, bad = -1
    if P > 127 * 126:
        raise ValueError(f"expected at most the {127 * 126} ordered pairs of 127 classes, got {P}")
    L = 1
    while L * (L + 1) < P:
        L += 1
    if L * (L + 1) != P:
        raise ValueError(f"expected C * (C - 1) ordered pairs, got {P}")
    if da.shape[0] != n or low_a.shape[0] != n or at_a.shape[0] != n:
        raise ValueError(f"expected {n} rows of half a")
    if db.shape[0] != m or low_b.shape[0] != m or at_b.shape[0] != m:
        raise ValueError(f"expected {m} rows of half b")
    if db.shape[1] != P or low_a.shape[1] != P or at_a.shape[1] != P or low_b.shape[1] != P or at_b.shape[1] != P:
        raise ValueError(f"expected rows of {P} ordered pairs")
    while start < n and m > 0:
        stop = min(n, start + _rows_at_once(m * L))
        with nogil:
            for i in range(start, stop):
                bad = _least_of_row(&known[i, 0], m, L, P, <int32_t> i, &da[i, 0], &db[0, 0], &low_a[i, 0],
                                    &at_a[i, 0], &low_b[0, 0], &at_b[0, 0])
                if bad >= 0:
                    break
        if bad >= 0:
            raise ValueError(f"label {known[i, bad]} of {L + 1} classes")
        start = stop
        PyErr_CheckSignals()


cdef inline int64_t _least_of_row(const int8_t *known, int64_t m, int64_t L, int64_t P, int32_t i, const number *da,
                                  const number *db, number *low_a, int32_t *at_a, number *low_b,
                                  int32_t *at_b) noexcept nogil:
    """The first label that is none, or -1."""
    cdef int64_t j, k, w
    cdef const number *x
    cdef const number *y
    cdef number *lx
    cdef number *ly
    for j in range(m):
        w = known[j] * L
        if not 0 <= w < P:
            return j
        x = da + w
        y = db + j * P + w
        lx = low_a + w
        ly = low_b + j * P + w
        for k in range(L):
            if y[k] < lx[k]:
                lx[k] = y[k]
                at_a[w + k] = <int32_t> j
            if x[k] < ly[k]:
                ly[k] = x[k]
                at_b[j * P + w + k] = i
    return -1


def prefixes(const number[::1] h not None, const int32_t[::1] order not None,
             number[::1] low not None, int32_t[::1] at not None):  # low, at: out, but for their first entry
    """low[k] = the least of h over the first k of `order`, at the least index at[k]; at[0] must be -1."""
    cdef int64_t m = order.shape[0], k
    cdef int32_t j
    if low.shape[0] != m + 1 or at.shape[0] != m + 1:
        raise ValueError(f"expected room for {m + 1} prefixes")
    apart(&at[0], <size_t> (m + 1) * 4, &order[0] if m else NULL, <size_t> m * 4, "at and order")
    apart(&low[0], <size_t> (m + 1) * sizeof(number), &order[0] if m else NULL, <size_t> m * 4, "low and order")
    _check_indices(order, h.shape[0])
    if at[0] != -1:
        raise ValueError(f"at must begin with -1, got {at[0]}")
    with nogil:
        for k in range(m):
            j = order[k]
            if at[k] < 0 or h[j] < low[k] or (h[j] == low[k] and j < at[k]):
                low[k + 1] = h[j]
                at[k + 1] = j
            else:
                low[k + 1] = low[k]
                at[k + 1] = at[k]


def sweep(const int32_t[::1] by_s not None, const int32_t[::1] s not None, const int32_t[::1] t not None,
          const int32_t[::1] by_p not None, const int32_t[::1] p not None, const int32_t[::1] q not None,
          const number[::1] h not None, number[::1] low not None, int32_t[::1] at not None):  # low, at: out
    """For each i the least h[j] over the j with p[j] >= s[i] and q[j] >= t[i], at the least such j.

    `by_s` lists the i by falling s, `by_p` the j by falling p; q is in 0 .. m-1. Where there is no such j,
    `low` and `at` stay.
    """
    cdef int64_t n = by_s.shape[0], m = by_p.shape[0], start = 0, stop, place = 0
    cdef number *least_h
    cdef int32_t *least_j
    if s.shape[0] != n or t.shape[0] != n or low.shape[0] != n or at.shape[0] != n:
        raise ValueError(f"expected arrays of {n} entries")
    if p.shape[0] != m or q.shape[0] != m or h.shape[0] != m:
        raise ValueError(f"expected arrays of {m} entries")
    _check_indices(by_s, n)
    _check_indices(by_p, m)
    _check_indices(q, m)
    if n == 0 or m == 0:
        return
    _check_apart(&at[0], <size_t> n * 4, by_s, by_p, q, "at")
    _check_apart(&low[0], <size_t> n * sizeof(number), by_s, by_p, q, "low")
    least_h = <number *> malloc(<size_t> (m + 1) * sizeof(number))
    least_j = <int32_t *> malloc(<size_t> (m + 1) * sizeof(int32_t))
    try:
        if least_h == NULL or least_j == NULL:
            raise MemoryError()
        for stop in range(m + 1):
            least_j[stop] = -1
        while start < n:
            stop = min(n, start + (LOOKS >> 6))
            with nogil:
                place = _sweep(&by_s[0], &s[0], &t[0], start, stop, &by_p[0], &p[0], &q[0], &h[0], m, place, least_h,
                               least_j, &low[0], &at[0])
            start = stop
            PyErr_CheckSignals()
    finally:
        free(least_h)
        free(least_j)


cdef int64_t _sweep(const int32_t *by_s, const int32_t *s, const int32_t *t, int64_t start, int64_t stop,
                    const int32_t *by_p, const int32_t *p, const int32_t *q, const number *h, int64_t m,
                    int64_t place, number *least_h, int32_t *least_j, number *low, int32_t *at) noexcept nogil:
    """A tree of prefix minima over m - q (Fenwick), filled while s falls."""
    cdef int64_t k, x
    cdef int32_t i, j, best
    cdef number value
    for k in range(start, stop):
        i = by_s[k]
        while place < m and p[by_p[place]] >= s[i]:
            j = by_p[place]
            place += 1
            x = m - q[j]
            while x <= m:
                if least_j[x] < 0 or h[j] < least_h[x] or (h[j] == least_h[x] and j < least_j[x]):
                    least_h[x] = h[j]
                    least_j[x] = j
                x += x & -x
        best = -1
        value = 0
        x = m - t[i] if t[i] > 0 else m
        while x > 0:
            if least_j[x] >= 0 and (best < 0 or least_h[x] < value or (least_h[x] == value and least_j[x] < best)):
                best = least_j[x]
                value = least_h[x]
            x -= x & -x
        if best >= 0:
            low[i] = value
            at[i] = best
    return place


def sweep_count(const int32_t[::1] by_s not None, const int32_t[::1] s not None, const int32_t[::1] t not None,
                const int32_t[::1] by_p not None, const int32_t[::1] p not None, const int32_t[::1] q not None,
                int64_t[::1] count not None):  # count: out
    """For each i how many j have p[j] >= s[i] and q[j] >= t[i]; arguments as for `sweep`."""
    cdef int64_t n = by_s.shape[0], m = by_p.shape[0], k, x, place = 0, total
    cdef int32_t i, j
    cdef int32_t *tree
    if s.shape[0] != n or t.shape[0] != n or count.shape[0] != n:
        raise ValueError(f"expected arrays of {n} entries")
    if p.shape[0] != m or q.shape[0] != m:
        raise ValueError(f"expected arrays of {m} entries")
    _check_indices(by_s, n)
    _check_indices(by_p, m)
    _check_indices(q, m)
    if n and m:
        _check_apart(&count[0], <size_t> n * 8, by_s, by_p, q, "count")
    tree = <int32_t *> malloc(<size_t> (m + 1) * sizeof(int32_t))
    if tree == NULL:
        raise MemoryError()
    with nogil:
        for k in range(m + 1):
            tree[k] = 0
        for k in range(n):
            i = by_s[k]
            while place < m and p[by_p[place]] >= s[i]:
                j = by_p[place]
                place += 1
                x = m - q[j]
                while x <= m:
                    tree[x] += 1
                    x += x & -x
            total = 0
            x = m - t[i] if t[i] > 0 else m
            while x > 0:
                total += tree[x]
                x -= x & -x
            count[i] = total
    free(tree)
    PyErr_CheckSignals()


cdef int _check_apart(const void *out, size_t n_bytes, const int32_t[::1] by_s, const int32_t[::1] by_p,
                      const int32_t[::1] q, str name) except -1:
    apart(out, n_bytes, &by_s[0], <size_t> by_s.shape[0] * 4, f"{name} and by_s")
    apart(out, n_bytes, &by_p[0], <size_t> by_p.shape[0] * 4, f"{name} and by_p")
    apart(out, n_bytes, &q[0], <size_t> q.shape[0] * 4, f"{name} and q")
    return 0


cdef int _check_indices(const int32_t[::1] order, int64_t n) except -1:
    cdef int64_t k, bad = -1
    with nogil:
        for k in range(order.shape[0]):
            if not 0 <= order[k] < n:
                bad = k
                break
    if bad >= 0:
        raise ValueError(f"place {bad}: index {order[bad]} outside 0..{n - 1}")
    return 0
