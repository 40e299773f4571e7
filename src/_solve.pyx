"""Weights of least norm under many demands, and the exact solution of the equations that the binding ones make."""

from libc.math cimport isfinite
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from shared.in_use cimport give, take


cdef extern from "solve.h" nogil:
    int NBC_SATISFIED
    int NBC_PAUSED
    int NBC_INFEASIBLE
    int NBC_BROKEN

    ctypedef struct nbc_program:
        int64_t n
        int64_t width
        int64_t n_rows
        const int32_t *columns
        const int8_t *signs
        const double *scale
        double *basis
        double *triangle
        int32_t *active
        double *multiplier
        int64_t n_active
        double *g
        double *inner
        double *step
        double *back
        uint8_t *in_ "in"
        int64_t steps
        int64_t since
        double tiny

    int nbc_solve(nbc_program *p, double slack, int64_t most)
    int64_t nbc_renewal(nbc_program *p)
    void nbc_again(nbc_program *p, int64_t place)
    void nbc_refresh(nbc_program *p)


cdef extern from "padic.h" nogil:
    ctypedef struct nbc_system:
        int64_t n
        int64_t q
        int64_t width
        const int64_t *weight
        const int32_t *columns
        const int8_t *signs
        uint64_t p
        uint64_t *inverse
        uint64_t *lower
        uint64_t *scaled
        int64_t *first
        int64_t *second
        uint64_t *g
        uint64_t *mu

    int64_t nbc_factor(nbc_system *s)
    void nbc_digit(nbc_system *s)


cdef int64_t AT_ONCE = 100_000_000  # products between two looks for Ctrl-C
cdef int64_t MOST_STEPS = <int64_t> 1 << 60
cdef int64_t MOST_ROWS = 20_000  # of a System: no more than it has values can be independent
cdef int64_t MOST_SIDE = 1 << 20
cdef str BROKEN = "this Program was interrupted or left the range of floats: make another one"


cdef class Program:
    """A program in solve.h: rows are added as they are found, and what is active stays so.

    An interrupt in the middle, or numbers beyond what floats hold, leave it of no use: what comes then says so.
    """
    cdef nbc_program p
    cdef double[::1] numbers
    cdef double[::1] scale
    cdef int32_t[::1] active_rows
    cdef int32_t[:, ::1] columns
    cdef int8_t[:, ::1] signs
    cdef uint8_t[::1] inside
    cdef int64_t room
    cdef int users
    cdef bint broken

    def __cinit__(self, const double[::1] scale not None, int64_t width, double tiny):
        cdef int64_t n = scale.shape[0]
        if not 1 <= n <= 20_000 or not 1 <= width <= 4096:
            raise ValueError(f"expected 1..20000 values and rows of 1..4096 entries, got {n} and {width}")
        if not 0 <= tiny < 1:
            raise ValueError(f"tiny must be a share of at least 0 and below 1, got {tiny}")
        self.scale = np.array(scale)
        for i in range(n):
            if not (isfinite(self.scale[i]) and self.scale[i] > 0):
                raise ValueError(f"scale must be finite and positive, got {self.scale[i]} at {i}")
        # basis and triangle; multipliers, g, inner, step, back.
        self.numbers = np.zeros(2 * n * n + 5 * n)
        self.active_rows = np.zeros(n, np.int32)
        self.p.n, self.p.width, self.p.tiny = n, width, tiny
        self.p.scale = &self.scale[0]
        self.p.basis = &self.numbers[0]
        self.p.triangle = self.p.basis + n * n
        self.p.multiplier = self.p.triangle + n * n
        self.p.g = self.p.multiplier + n
        self.p.inner = self.p.g + n
        self.p.step = self.p.inner + n
        self.p.back = self.p.step + n
        self.p.active = &self.active_rows[0]
        self.p.n_rows = self.p.n_active = self.p.steps = self.p.since = 0
        for i in range(n):
            self.p.basis[i * n + i] = 1
        self._grow(64)

    cdef int _grow(self, int64_t room) except -1:
        cdef int64_t used = self.p.n_rows
        columns = np.zeros((room, self.p.width), np.int32)
        signs = np.zeros((room, self.p.width), np.int8)
        inside = np.zeros(room, np.uint8)
        if used:
            columns[:used] = self.columns[:used]
            signs[:used] = self.signs[:used]
            inside[:used] = self.inside[:used]
        self.columns, self.signs, self.inside, self.room = columns, signs, inside, room
        self.p.columns, self.p.signs, self.p.in_ = &self.columns[0, 0], &self.signs[0, 0], &self.inside[0]
        return 0

    def add(self, const int32_t[:, ::1] columns not None, const int8_t[:, ::1] signs not None):
        """More rows."""
        cdef int64_t r = columns.shape[0], i, j, k
        if columns.shape[1] != self.p.width or signs.shape[0] != r or signs.shape[1] != self.p.width:
            raise ValueError(f"rows must have {self.p.width} columns and signs")
        if self.broken:
            raise RuntimeError(BROKEN)
        take(&self.users, "Program")
        try:
            k = self.p.n_rows
            if k + r > self.room:
                self._grow(2 * (k + r))
            # Copied before they are looked at: others may write to the caller's arrays. Rows count once they are.
            self.columns[k:k + r] = columns
            self.signs[k:k + r] = signs
            for i in range(k, k + r):
                for j in range(self.p.width):
                    if not 0 <= self.columns[i, j] < self.p.n:
                        raise ValueError(f"row {i - k}: column {self.columns[i, j]} outside 0..{self.p.n - 1}")
            self.p.n_rows = k + r
        finally:
            give(&self.users)

    cdef int check(self) except -1:
        if self.broken:
            raise RuntimeError(BROKEN)
        take(&self.users, "Program")
        give(&self.users)
        return 0

    def solve(self, double slack, int64_t most, int64_t renew):
        """0 once all rows hold up to `slack`, 1 after `most` more steps, 2 where no weights can do it.

        After `renew` steps the factors are made anew.
        """
        cdef int result = NBC_PAUSED
        cdef int64_t stop, work = 4 * self.p.n * self.p.n + self.p.n_rows * self.p.width
        cdef int64_t at_once = max(AT_ONCE // work, 1)
        if not 0 <= slack < 1:
            raise ValueError(f"slack must be at least 0 and below 1, got {slack}")
        if not 0 <= most <= MOST_STEPS or self.p.steps > MOST_STEPS:
            raise ValueError(f"most must be 0..2^60 steps, got {most} after {self.p.steps}")
        self.check()
        stop = self.p.steps + most
        take(&self.users, "Program")
        try:
            while result == NBC_PAUSED and self.p.steps < stop:
                if self.p.since >= renew:
                    self._renew()
                with nogil:
                    result = nbc_solve(&self.p, slack, min(at_once, stop - self.p.steps))
                PyErr_CheckSignals()
        finally:
            give(&self.users)
        if result == NBC_BROKEN:
            self.broken = True
            raise ValueError("scale and signs must lead to numbers that floats hold, got others on the way")
        return 0 if result == NBC_SATISFIED else 1 if result == NBC_PAUSED else 2

    def renew(self):
        """Factors, weights and multipliers of the active rows, from the beginning."""
        self.check()
        take(&self.users, "Program")
        try:
            self._renew()
        finally:
            give(&self.users)

    cdef int _renew(self) except -1:
        cdef int64_t k, q = nbc_renewal(&self.p)
        self.broken = True  # until all rows are back
        for k in range(q):
            with nogil:
                nbc_again(&self.p, k)
            if k % 64 == 0:
                PyErr_CheckSignals()
        nbc_refresh(&self.p)
        self.broken = False
        return 0

    @property
    def steps(self):
        return self.p.steps

    @property
    def n_rows(self):
        return self.p.n_rows

    def weights(self):
        self.check()
        return np.array([self.p.g[v] for v in range(self.p.n)])

    def active(self):
        """Columns, signs and multipliers of the active rows."""
        cdef int64_t q = self.p.n_active
        self.check()
        rows = np.asarray(self.active_rows)[:q]
        multipliers = np.array([self.p.multiplier[j] for j in range(q)])
        return np.asarray(self.columns)[rows], np.asarray(self.signs)[rows], multipliers


cdef class System:
    """The equations of padic.h, modulo one prime.

    Attributes
    ----------
    dependent : int
        The first row that depends on those before it modulo the prime, or -1: only then are there digits.
    """
    cdef nbc_system s
    cdef const int64_t[::1] weight
    cdef const int32_t[:, ::1] columns
    cdef const int8_t[:, ::1] signs
    cdef uint64_t[::1] words
    cdef int64_t[::1] residuals
    cdef readonly int64_t dependent
    cdef int users
    cdef bint started

    def __cinit__(self, const int64_t[::1] weight not None, const int32_t[:, ::1] columns not None,
                  const int8_t[:, ::1] signs not None, uint64_t prime):
        cdef int64_t n = weight.shape[0], q = columns.shape[0], width = columns.shape[1], i, j
        if signs.shape[0] != q or signs.shape[1] != width or not 1 <= width <= 4096 or not 1 <= n <= 20_000:
            raise ValueError(f"expected as many signs as columns, got {q} x {width} and "
                             f"{signs.shape[0]} x {signs.shape[1]}")
        if q > MOST_ROWS:
            raise ValueError(f"expected at most {MOST_ROWS} rows, got {q}")
        # Copies: the kernel goes where they say, and the caller may write to his own.
        self.weight, self.columns, self.signs = np.array(weight), np.array(columns), np.array(signs)
        weight, columns, signs = self.weight, self.columns, self.signs
        if not 3 <= prime < 1 << 31:
            raise ValueError(f"prime must be 3..2^31, got {prime}")
        for i in range(n):
            if not 1 <= weight[i] < min(prime, 1 << 31):
                raise ValueError(f"weight {i} must be 1..{min(prime, 1 << 31) - 1}, got {weight[i]}")
        for i in range(q):
            for j in range(width):
                if not (0 <= columns[i, j] < n and signs[i, j] * signs[i, j] == 1):
                    raise ValueError(f"row {i}: column {columns[i, j]} of {n}, sign {signs[i, j]}")
        self.words = np.zeros(q * q + 2 * q + 2 * n + 1, np.uint64)
        self.residuals = np.zeros(n + q, np.int64)
        self.s.n, self.s.q, self.s.width, self.s.p = n, q, width, prime
        self.s.weight = &weight[0]
        if q:
            self.s.columns, self.s.signs = &columns[0, 0], &signs[0, 0]
        self.s.lower = &self.words[0]
        self.s.scaled = self.s.lower + q * q
        self.s.mu = self.s.scaled + q
        self.s.inverse = self.s.mu + q
        self.s.g = self.s.inverse + n
        self.s.first = &self.residuals[0]
        self.s.second = self.s.first + n
        with nogil:
            self.dependent = nbc_factor(&self.s)

    def start(self, const int64_t[::1] first not None, const int64_t[::1] second not None):
        """Right sides: of the values and of the rows, below 2^20 in size."""
        cdef int64_t i
        if first.shape[0] != self.s.n or second.shape[0] != self.s.q:
            raise ValueError(f"right sides must be {self.s.n} and {self.s.q} numbers, "
                             f"got {first.shape[0]} and {second.shape[0]}")
        # Copies: what was checked stays.
        first, second = np.array(first), np.array(second)
        take(&self.users, "System")
        give(&self.users)
        for i in range(self.s.n):
            if not -MOST_SIDE < first[i] < MOST_SIDE:
                raise ValueError(f"right sides must be below 2^20 in size, got {first[i]}")
        for i in range(self.s.q):
            if not -MOST_SIDE < second[i] < MOST_SIDE:
                raise ValueError(f"right sides must be below 2^20 in size, got {second[i]}")
        self.started = True
        for i in range(self.s.n):
            self.s.first[i] = first[i]
        for i in range(self.s.q):
            self.s.second[i] = second[i]

    def digits(self, int64_t[:, ::1] out not None):  # out: out
        """The next digits, lowest first: a row has one digit of each g and of each mu."""
        cdef int64_t k, v, n = self.s.n, q = self.s.q
        if self.dependent >= 0:
            raise ValueError(f"row {self.dependent} depends on those before it")
        if out.shape[1] != n + q:
            raise ValueError(f"out must have {n + q} columns, got {out.shape[1]}")
        if not self.started:
            raise RuntimeError("start must be called before digits")
        take(&self.users, "System")
        try:
            for k in range(out.shape[0]):
                with nogil:
                    nbc_digit(&self.s)
                    for v in range(n):
                        out[k, v] = <int64_t> self.s.g[v]
                    for v in range(q):
                        out[k, n + v] = <int64_t> self.s.mu[v]
                PyErr_CheckSignals()
        finally:
            give(&self.users)
