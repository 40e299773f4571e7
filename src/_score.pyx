"""The class of largest X for rows of codes: floats where their error bound decides, exact integers elsewhere."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from shared.in_use cimport give, take
from nbcfast._columns cimport Columns, drop_plan, nbc_column, nbc_plan, take_plan


cdef extern from "score.h" nogil:
    int NBC_SCORE_BLOCK

    ctypedef struct nbc_scores:
        int64_t n_attributes, n_classes, width, n_limbs, down_limbs, most_limbs
        const nbc_column *columns
        nbc_plan plan
        const int64_t *first
        double *tables
        const double *singles
        const double *base
        double bound
        const uint64_t *limbs
        const uint64_t *up
        const uint64_t *down

    ctypedef struct nbc_room:
        uint16_t *index
        uint64_t *dense
        double *sums
        int64_t *close
        uint64_t *spare

    int64_t nbc_predict_two(const nbc_scores *scores, const nbc_room *room, uint16_t *labels, uint8_t *tied,
                            int64_t row, int64_t n)
    int64_t nbc_predict_many(const nbc_scores *scores, const nbc_room *room, uint16_t *labels, uint8_t *tied,
                             int64_t row, int64_t n)
    int64_t nbc_order_many(const nbc_scores *scores, const nbc_room *room, uint16_t *order,
                           int64_t row, int64_t n)
    void nbc_join(const nbc_scores *scores)


ctypedef fused label_t:
    uint8_t
    uint16_t


cdef bint is_moderate(const double[::1] logarithms) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(logarithms.shape[0]):
        if not (-1e300 <= logarithms[i] <= 1e300 or logarithms[i] == -INFINITY):
            return False
    return True


cdef class Scores:
    """The tables of one classifier for the columns of one table; read only, shared by all threads.

    X_c = up_c / down_c * prod N, with N, up and down natural numbers in little-endian 64-bit limbs.

    Parameters
    ----------
    columns : the attributes
    first, members : the plan, as for counting
    singles : float64, (all codes, width): logarithms of N, attribute after attribute
    base : float64, (width,): logarithms of up / down
    bound : every sum of these is within `bound` of the true logarithm
    limbs : uint64, (all codes, classes, limbs)
    up, down : uint64, (classes, limbs), (classes, limbs of down)

    For two classes width is 1 and every logarithm is that of class 0 less that of class 1; for more it
    is the number of classes, rounded up, with -inf behind.
    """
    cdef Columns columns
    cdef nbc_scores scores
    cdef int64_t *first
    cdef const double[:, ::1] singles
    cdef const double[::1] base
    cdef const uint64_t[:, :, ::1] limbs
    cdef const uint64_t[:, ::1] up
    cdef const uint64_t[:, ::1] down

    def __cinit__(self, Columns columns not None, const int64_t[::1] first not None,
                  const int64_t[::1] members not None, const double[:, ::1] singles not None,
                  const double[::1] base not None, double bound, const uint64_t[:, :, ::1] limbs not None,
                  const uint64_t[:, ::1] up not None, const uint64_t[:, ::1] down not None):
        cdef int64_t n = columns.n_columns, n_classes = up.shape[0], width = base.shape[0], a, entries
        if not 2 <= n_classes <= 65536 or down.shape[0] != n_classes or limbs.shape[1] != n_classes:
            raise ValueError(f"up, down and limbs must be of 2..65536 classes, got {n_classes}, {down.shape[0]} "
                             f"and {limbs.shape[1]}")
        if width != 1 if n_classes == 2 else (width < n_classes or width % 4 != 0):
            raise ValueError(f"{n_classes} classes do not go with sums of width {width}")
        if singles.shape[1] != width or singles.shape[0] != limbs.shape[0]:
            raise ValueError(f"singles must be {limbs.shape[0]} x {width}, "
                             f"got {singles.shape[0]} x {singles.shape[1]}")
        if limbs.shape[2] < 1 or up.shape[1] != limbs.shape[2] or down.shape[1] < 1:
            raise ValueError(f"limbs of N and of up must agree, got {limbs.shape[2]} and {up.shape[1]}")
        if not bound >= 0:
            raise ValueError(f"bound must be at least 0, got {bound}")
        if n_classes > 2:
            # The largest of a row's sums is found without a thought of NaN: none can arise of these.
            for a in range(singles.shape[0]):
                if not is_moderate(singles[a]):
                    raise ValueError(f"singles must be logarithms: -inf or within 1e300 of 0, row {a} is not")
            if not is_moderate(base):
                raise ValueError("base must be logarithms: -inf or within 1e300 of 0")
            for a in range(n_classes, width):
                if base[a] != -INFINITY:
                    raise ValueError(f"base must be -inf behind {n_classes} classes, got {base[a]}")
        self.columns = columns
        self.singles, self.base, self.limbs, self.up, self.down = singles, base, limbs, up, down
        self.first = <int64_t *> calloc(<size_t> n + 1, sizeof(int64_t))
        if self.first == NULL:
            raise MemoryError()
        for a in range(n):
            self.first[a + 1] = self.first[a] + columns.columns[a].size
        if self.first[n] != limbs.shape[0]:
            raise ValueError(f"the columns have {self.first[n]} codes, limbs are of {limbs.shape[0]}")
        take_plan(&self.scores.plan, columns.columns, n, 1, first, members)
        self.scores.n_attributes, self.scores.n_classes, self.scores.width = n, n_classes, width
        self.scores.columns = columns.columns
        self.scores.first = self.first
        self.scores.base, self.scores.up, self.scores.down = &base[0], &up[0, 0], &down[0, 0]
        if limbs.shape[0]:
            self.scores.singles, self.scores.limbs = &singles[0, 0], &limbs[0, 0, 0]
        self.scores.bound = bound
        self.scores.n_limbs, self.scores.down_limbs = limbs.shape[2], down.shape[1]
        self.scores.most_limbs = down.shape[1] + (n + 1) * limbs.shape[2] + 1
        entries = self.scores.plan.offset[self.scores.plan.n_groups] * width
        self.scores.tables = <double *> calloc(<size_t> entries + 1, sizeof(double))
        if self.scores.tables == NULL:
            raise MemoryError()
        with nogil:
            nbc_join(&self.scores)

    def __dealloc__(self):
        drop_plan(&self.scores.plan)
        free(self.first)
        free(self.scores.tables)


cdef class Scorer:
    """Scores rows, a block at a time; one a thread, over shared Scores."""
    cdef Scores scores
    cdef nbc_room room
    cdef uint16_t *labels
    cdef int users

    def __cinit__(self, Scores scores not None):
        cdef nbc_scores *s = &scores.scores
        self.scores = scores
        self.room.index = <uint16_t *> calloc(<size_t> ((s.plan.n_groups + 1) * NBC_SCORE_BLOCK), sizeof(uint16_t))
        self.room.dense = <uint64_t *> calloc(NBC_SCORE_BLOCK, sizeof(uint64_t))
        self.room.sums = <double *> calloc(<size_t> (s.width * NBC_SCORE_BLOCK), sizeof(double))
        self.room.close = <int64_t *> calloc(NBC_SCORE_BLOCK + 1, sizeof(int64_t))
        self.room.spare = <uint64_t *> calloc(<size_t> (3 * s.most_limbs), sizeof(uint64_t))
        self.labels = <uint16_t *> calloc(NBC_SCORE_BLOCK, sizeof(uint16_t))
        if (self.room.index == NULL or self.room.dense == NULL or self.room.sums == NULL
                or self.room.close == NULL or self.room.spare == NULL or self.labels == NULL):
            raise MemoryError()

    def __dealloc__(self):
        free(self.room.index)
        free(self.room.dense)
        free(self.room.sums)
        free(self.room.close)
        free(self.room.spare)
        free(self.labels)

    def predict(self, int64_t start, int64_t stop, label_t[::1] labels not None,  # labels: out
                uint8_t[::1] tied=None):  # tied: out
        """The best class of rows start .. stop-1, and whether it shares its X; a column with a bad code, or -1."""
        cdef int64_t row = start, n, i, bad = -1
        cdef nbc_scores *scores = &self.scores.scores
        cdef uint8_t *marks = NULL
        if not 0 <= start <= stop <= self.scores.columns.n_rows or labels.shape[0] < stop:
            raise ValueError(f"rows {start} to {stop} of {self.scores.columns.n_rows}, labels of {labels.shape[0]}")
        if tied is not None and tied.shape[0] < stop:
            raise ValueError(f"tied has {tied.shape[0]} rows, expected {stop}")
        if label_t is uint8_t and scores.n_classes > 256:
            raise ValueError(f"{scores.n_classes} classes do not fit bytes")
        take(&self.users, "Scorer")
        with nogil:
            while row < stop and bad < 0:
                n = min(NBC_SCORE_BLOCK, stop - row)
                if tied is not None:
                    marks = &tied[row]
                if scores.n_classes == 2:
                    bad = nbc_predict_two(scores, &self.room, self.labels, marks, row, n)
                else:
                    bad = nbc_predict_many(scores, &self.room, self.labels, marks, row, n)
                for i in range(n):
                    labels[row + i] = <label_t> self.labels[i]
                row += n
        give(&self.users)
        return bad

    def order(self, int64_t start, int64_t stop, uint16_t[:, ::1] order not None):  # order: out
        """All classes of rows start .. stop-1, best first; a column with a bad code, or -1."""
        cdef int64_t row = start, n, i, bad = -1
        cdef nbc_scores *scores = &self.scores.scores
        if (not 0 <= start <= stop <= self.scores.columns.n_rows or order.shape[0] < stop
                or order.shape[1] != scores.n_classes):
            raise ValueError(f"rows {start} to {stop} of {self.scores.columns.n_rows}, "
                             f"order of {order.shape[0]} x {order.shape[1]}")
        take(&self.users, "Scorer")
        with nogil:
            while row < stop and bad < 0:
                n = min(NBC_SCORE_BLOCK, stop - row)
                if scores.n_classes == 2:
                    bad = nbc_predict_two(scores, &self.room, self.labels, NULL, row, n)
                    for i in range(n):
                        order[row + i, 0] = self.labels[i]
                        order[row + i, 1] = 1 - self.labels[i]
                else:
                    bad = nbc_order_many(scores, &self.room, &order[row, 0], row, n)
                row += n
        give(&self.users)
        return bad
