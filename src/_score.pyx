"""The class of largest X for rows of codes: floats where their error bound decides, exact integers elsewhere."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from shared.in_use cimport give, take
from nbcfast._columns cimport Columns, drop_plan, nbc_column, nbc_plan, take_plan


cdef extern from "score.h" nogil:
    int NBC_SCORE_BLOCK, NBC_MOST_COST

    ctypedef struct nbc_costs:
        int64_t lanes, tile, n_parts, n_chunks
        int64_t *offset
        int64_t *chunk
        uint16_t *tables
        void *memory
        uint8_t *cut
        uint16_t near
        uint16_t cap

    ctypedef struct nbc_cost_room:
        uint16_t *sums
        uint16_t *columns
        uint32_t *wide
        uint32_t *low
        uint16_t *best
        uint16_t *second

    ctypedef struct nbc_scores:
        int64_t n_attributes, n_classes, n_rows, width, n_limbs, down_limbs, most_limbs
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
        nbc_costs costs

    ctypedef struct nbc_room:
        uint16_t *index
        uint64_t *dense
        double *sums
        int64_t *close
        uint64_t *spare
        nbc_cost_room costs
        int64_t *left

    int64_t nbc_predict_two(const nbc_scores *scores, const nbc_room *room, uint16_t *labels, uint8_t *tied,
                            int64_t row, int64_t n)
    int64_t nbc_predict_many(const nbc_scores *scores, const nbc_room *room, uint16_t *labels, uint8_t *tied,
                             int64_t row, int64_t n)
    int64_t nbc_predict_costs(const nbc_scores *scores, const nbc_room *room, uint16_t *labels, uint8_t *tied,
                              int64_t row, int64_t n, int64_t *n_close)
    int64_t nbc_row_costs(const nbc_scores *scores, const nbc_room *room, uint32_t *sums, int64_t row, int64_t n)
    int64_t nbc_order_many(const nbc_scores *scores, const nbc_room *room, uint16_t *order,
                           int64_t row, int64_t n)
    void nbc_join(const nbc_scores *scores)
    int64_t nbc_lanes(int64_t n_classes)
    int nbc_make_costs(nbc_scores *scores, double unit, int64_t cap, uint16_t *largest)


ctypedef fused label_t:
    uint8_t
    uint16_t


cdef int64_t MOST_COST = NBC_MOST_COST
cdef int64_t LINE = 32  # costs in 64 bytes


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
    unit, cap : of more than two classes and some attributes, for predictions alone: how many units of cost one
        of a natural logarithm is, and the highest cost of an entry. Any of them give the same answers

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
    cdef readonly double unit

    def __cinit__(self, Columns columns not None, const int64_t[::1] first not None,
                  const int64_t[::1] members not None, const double[:, ::1] singles not None,
                  const double[::1] base not None, double bound, const uint64_t[:, :, ::1] limbs not None,
                  const uint64_t[:, ::1] up not None, const uint64_t[:, ::1] down not None, double unit=0,
                  int64_t cap=MOST_COST):
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
        if not 0 <= unit < INFINITY or (unit and (n_classes == 2 or n == 0)):
            raise ValueError(f"unit must be a number of at least 0, and 0 for two classes or no attributes, got {unit}")
        if not 1 <= cap <= MOST_COST:
            raise ValueError(f"cap must be 1..{MOST_COST}, got {cap}")
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
        self.scores.columns, self.scores.n_rows = columns.columns, columns.n_rows
        self.scores.first = self.first
        self.scores.base, self.scores.up, self.scores.down = &base[0], &up[0, 0], &down[0, 0]
        if limbs.shape[0]:
            self.scores.singles, self.scores.limbs = &singles[0, 0], &limbs[0, 0, 0]
        self.scores.bound = bound
        self.scores.n_limbs, self.scores.down_limbs = limbs.shape[2], down.shape[1]
        self.scores.most_limbs = down.shape[1] + (n + 1) * limbs.shape[2] + 1
        if unit:
            self.unit = unit
            make_costs(&self.scores, unit, cap)
            return
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
        free(self.scores.costs.offset)
        free(self.scores.costs.memory)
        free(self.scores.costs.cut)

    @property
    def near(self):
        """What the lowest sum of costs must be below another by, and more, to be known as that of the larger X."""
        return self.scores.costs.near

    @property
    def cap(self):
        """The highest cost of an entry, which stands for all higher ones."""
        return self.scores.costs.cap

    @property
    def n_chunks(self):
        """How many sums of 16 bits a row takes."""
        return self.scores.costs.n_chunks


cdef int make_costs(nbc_scores *scores, double unit, int64_t cap) except -1:
    """The tables of costs, each entry within a line of the cache or from the start of one."""
    cdef nbc_costs *costs = &scores.costs
    cdef int64_t g, k, n_groups = scores.plan.n_groups, n_parts = n_groups + scores.plan.n_straight
    cdef int failed
    cdef uint16_t *largest
    costs.offset = <int64_t *> calloc(<size_t> (2 * n_parts + 2), sizeof(int64_t))
    if costs.offset == NULL:
        raise MemoryError()
    costs.chunk = costs.offset + n_parts + 1
    costs.lanes, costs.n_parts = nbc_lanes(scores.n_classes), n_parts
    costs.tile = 256 if costs.lanes <= 16 else 128 if costs.lanes <= 32 else 64
    for g in range(n_groups):
        costs.offset[g + 1] = scores.plan.offset[g + 1]
    for k in range(scores.plan.n_straight):
        costs.offset[n_groups + k + 1] = costs.offset[n_groups + k] + scores.columns[scores.plan.straight[k]].size
    costs.memory = calloc(<size_t> (costs.offset[n_parts] * costs.lanes + LINE), sizeof(uint16_t))
    costs.cut = <uint8_t *> calloc(<size_t> scores.n_classes, 1)
    largest = <uint16_t *> calloc(<size_t> n_parts, sizeof(uint16_t))
    if costs.memory == NULL or costs.cut == NULL or largest == NULL:
        free(largest)
        raise MemoryError()
    costs.tables = <uint16_t *> ((<size_t> costs.memory + 2 * LINE - 1) & ~<size_t> (2 * LINE - 1))
    with nogil:
        failed = nbc_make_costs(scores, unit, cap, largest)
    free(largest)
    if failed:
        raise MemoryError()
    return 0


cdef class Scorer:
    """Scores rows, a block at a time; one a thread, over shared Scores."""
    cdef Scores scores
    cdef nbc_room room
    cdef uint16_t *labels
    cdef readonly int64_t n_close
    cdef int users

    def __cinit__(self, Scores scores not None):
        cdef nbc_scores *s = &scores.scores
        self.scores = scores
        self.room.index = <uint16_t *> calloc(<size_t> ((s.plan.n_groups + 1) * NBC_SCORE_BLOCK), sizeof(uint16_t))
        self.room.dense = <uint64_t *> calloc(NBC_SCORE_BLOCK, sizeof(uint64_t))
        self.room.sums = <double *> calloc(<size_t> (s.width * (1 if s.costs.lanes else NBC_SCORE_BLOCK)),
                                           sizeof(double))
        self.room.close = <int64_t *> calloc(NBC_SCORE_BLOCK + 1, sizeof(int64_t))
        self.room.spare = <uint64_t *> calloc(<size_t> (3 * s.most_limbs), sizeof(uint64_t))
        self.labels = <uint16_t *> calloc(NBC_SCORE_BLOCK, sizeof(uint16_t))
        if (self.room.index == NULL or self.room.dense == NULL or self.room.sums == NULL
                or self.room.close == NULL or self.room.spare == NULL or self.labels == NULL):
            raise MemoryError()
        if s.costs.lanes:
            self.make_room()

    cdef int make_room(self) except -1:
        """What sums of costs take."""
        cdef const nbc_costs *costs = &self.scores.scores.costs
        cdef nbc_cost_room *room = &self.room.costs
        cdef size_t n = <size_t> (costs.lanes * costs.tile)
        room.sums = <uint16_t *> calloc(n, sizeof(uint16_t))
        room.columns = <uint16_t *> calloc(n, sizeof(uint16_t))
        room.wide = <uint32_t *> calloc(n if costs.n_chunks > 1 else 1, sizeof(uint32_t))
        room.low = <uint32_t *> calloc(<size_t> costs.tile, sizeof(uint32_t))
        room.best = <uint16_t *> calloc(<size_t> costs.tile, sizeof(uint16_t))
        room.second = <uint16_t *> calloc(<size_t> costs.tile, sizeof(uint16_t))
        self.room.left = <int64_t *> calloc(<size_t> self.scores.scores.n_classes + 1, sizeof(int64_t))
        if (self.room.left == NULL or room.sums == NULL or room.columns == NULL or room.wide == NULL
                or room.low == NULL or room.best == NULL or room.second == NULL):
            raise MemoryError()
        return 0

    def __dealloc__(self):
        free(self.room.index)
        free(self.room.dense)
        free(self.room.sums)
        free(self.room.close)
        free(self.room.spare)
        free(self.labels)
        free(self.room.left)
        free(self.room.costs.sums)
        free(self.room.costs.columns)
        free(self.room.costs.wide)
        free(self.room.costs.low)
        free(self.room.costs.best)
        free(self.room.costs.second)

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
                elif scores.costs.lanes:
                    bad = nbc_predict_costs(scores, &self.room, self.labels, marks, row, n, &self.n_close)
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
        if scores.costs.lanes:
            raise ValueError("order must be asked of scores without costs: these have a unit")
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

    def costs(self, int64_t start, int64_t stop, uint32_t[:, ::1] sums not None):  # sums: out
        """The sums of costs of all classes of rows start .. stop-1; a column with a bad code, or -1.

        Those that are 65535 or more above the lowest of their row are given as 65535 above it, where a row takes
        more than one chunk.
        """
        cdef int64_t row = start, n, bad = -1
        cdef nbc_scores *scores = &self.scores.scores
        if (not 0 <= start <= stop <= self.scores.columns.n_rows or sums.shape[0] < stop - start
                or sums.shape[1] != scores.n_classes):
            raise ValueError(f"rows {start} to {stop} of {self.scores.columns.n_rows}, "
                             f"sums of {sums.shape[0]} x {sums.shape[1]}")
        if not scores.costs.lanes:
            raise ValueError("costs must be asked of scores with a unit")
        take(&self.users, "Scorer")
        with nogil:
            while row < stop and bad < 0:
                n = min(NBC_SCORE_BLOCK, stop - row)
                bad = nbc_row_costs(scores, &self.room, &sums[row - start, 0], row, n)
                row += n
        give(&self.users)
        return bad
