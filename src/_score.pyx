"""The class of largest X for rows of codes: floats where their error bound decides, exact integers elsewhere."""

from cpython.buffer cimport (PyBUF_CONTIG, PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release,
                             PyObject_GetBuffer)
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from shared.in_use cimport give, take
from nbcfast._columns cimport Columns, code_format, drop_plan, nbc_column, nbc_plan, take_plan

# So many codes, and more, are decided without the GIL: letting go of it for fewer costs more than they do.
cdef int64_t MANY = 4096


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
        pass

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
    int64_t nbc_tile(int64_t lanes)
    int nbc_make_costs(nbc_scores *scores, double unit, int64_t cap, uint16_t *largest)
    bint nbc_make_room(const nbc_scores *scores, nbc_room *room, int64_t rows)
    void nbc_drop_room(nbc_room *room)


cdef extern from "desks.h" nogil:
    ctypedef struct nbc_desk:
        nbc_column *columns
        int64_t *record

    ctypedef struct nbc_served:
        const nbc_scores *scores

    ctypedef struct nbc_translation:
        const int64_t *first
        const uint32_t *positions

    nbc_desk *nbc_take_desk(nbc_served *served)
    void nbc_give_desk(nbc_served *served, nbc_desk *desk)
    void nbc_drop_desks(nbc_served *served)
    int64_t nbc_decide(const nbc_served *served, nbc_desk *desk, const nbc_column *columns,
                       const nbc_translation *translation, void *labels, bint wide, uint8_t *tied,
                       int64_t row, int64_t n)
    int64_t nbc_decide_record(const nbc_served *served, nbc_desk *desk)
    int64_t nbc_decide_by(nbc_served *const *served, int64_t n_served, const nbc_column *columns, void *labels,
                          bint wide, int64_t n_rows)
    nbc_column nbc_of_matrix(const char *data, Py_ssize_t row_stride, int64_t size, int width, bint is_signed)


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
    costs.tile = nbc_tile(costs.lanes)
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
        self.labels = <uint16_t *> calloc(NBC_SCORE_BLOCK, sizeof(uint16_t))
        if not nbc_make_room(s, &self.room, NBC_SCORE_BLOCK) or self.labels == NULL:
            raise MemoryError()

    def __dealloc__(self):
        nbc_drop_room(&self.room)
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


cdef class Translation:
    """Codes of the columns of a table as positions of a classifier; -1 for a value that it does not know.

    Parameters
    ----------
    tables : list of int64 arrays, one an attribute: the position of each code
    """
    cdef nbc_translation translation
    cdef int64_t n_attributes
    cdef int64_t *first
    cdef uint32_t *positions

    def __cinit__(self, list tables not None):
        cdef const int64_t[::1] table
        cdef int64_t i, a = 0
        cdef list views = []
        for given in list(tables):
            table = given
            views.append(table)
        self.n_attributes = len(views)
        self.first = <int64_t *> calloc(<size_t> self.n_attributes + 1, sizeof(int64_t))
        if self.first == NULL:
            raise MemoryError()
        for a in range(self.n_attributes):
            table = views[a]
            self.first[a + 1] = self.first[a] + table.shape[0]
        self.positions = <uint32_t *> calloc(<size_t> self.first[self.n_attributes] + 1, sizeof(uint32_t))
        if self.positions == NULL:
            raise MemoryError()
        for a in range(self.n_attributes):
            table = views[a]
            for i in range(table.shape[0]):
                if not -1 <= table[i] < 0xFFFFFFFF:
                    raise ValueError(f"table {a} must hold positions, or -1, got {table[i]}")
                self.positions[self.first[a] + i] = <uint32_t> table[i]
        self.translation.first, self.translation.positions = self.first, self.positions

    def __dealloc__(self):
        free(self.first)
        free(self.positions)


cdef class Served:
    """Scores that are asked again and again, by any number of threads at once: calls keep what they work with.

    Parameters
    ----------
    scores : Scores
        Of columns that have the sizes of the attributes, and no row.
    """
    cdef Scores scores
    cdef nbc_served served

    def __cinit__(self, Scores scores not None):
        if scores.columns.n_rows:
            raise ValueError(f"scores must be of columns without rows, got {scores.columns.n_rows}")
        self.scores = scores
        self.served.scores = &scores.scores

    def __dealloc__(self):
        nbc_drop_desks(&self.served)

    def decide_columns(self, Columns columns not None, labels not None,  # labels: out
                       Translation translation=None, uint8_t[::1] tied=None):  # tied: out
        """The best class of every row, and whether it shares its X; a column with a bad code, or -1.

        With a translation the sizes of the columns are those of its tables.
        """
        cdef const nbc_scores *scores = &self.scores.scores
        cdef const nbc_translation *other = NULL
        cdef nbc_desk *desk
        cdef Py_buffer out
        cdef uint8_t *marks = NULL
        cdef int64_t a, expected, bad, n_rows = columns.n_rows
        if columns.n_columns != scores.n_attributes:
            raise ValueError(f"expected {scores.n_attributes} columns, got {columns.n_columns}")
        if translation is not None:
            if translation.n_attributes != scores.n_attributes:
                raise ValueError(f"expected {scores.n_attributes} tables, got {translation.n_attributes}")
            other = &translation.translation
        for a in range(scores.n_attributes):
            expected = scores.columns[a].size
            if translation is not None:
                expected = translation.first[a + 1] - translation.first[a]
            if columns.columns[a].size != expected:
                raise ValueError(f"column {a} must have {expected} values, got {columns.columns[a].size}")
        if tied is not None and n_rows:
            if tied.shape[0] < n_rows:
                raise ValueError(f"tied has {tied.shape[0]} rows, expected {n_rows}")
            marks = &tied[0]
        take_labels(&out, labels, n_rows, scores.n_classes)
        desk = nbc_take_desk(&self.served)
        if desk == NULL:
            PyBuffer_Release(&out)
            raise MemoryError()
        if n_rows * (scores.n_attributes + 1) < MANY:
            bad = nbc_decide(&self.served, desk, columns.columns, other, out.buf, out.itemsize == 2, marks, 0, n_rows)
        else:
            with nogil:
                bad = nbc_decide(&self.served, desk, columns.columns, other, out.buf, out.itemsize == 2, marks, 0,
                                 n_rows)
        nbc_give_desk(&self.served, desk)
        PyBuffer_Release(&out)
        return bad

    def decide_matrix(self, codes not None, labels not None):  # labels: out
        """The best class of every row of a matrix of codes of any integer type; a column with a bad code, or -1."""
        cdef const nbc_scores *scores = &self.scores.scores
        cdef nbc_desk *desk = NULL
        cdef Py_buffer matrix
        cdef Py_buffer out
        cdef bint is_signed
        cdef int64_t a, n_rows, bad = -1
        is_signed = take_matrix(&matrix, codes, scores.n_attributes)
        n_rows = matrix.shape[0]
        try:
            take_labels(&out, labels, n_rows, scores.n_classes)
        except BaseException:
            PyBuffer_Release(&matrix)
            raise
        desk = nbc_take_desk(&self.served)
        if desk != NULL:
            for a in range(scores.n_attributes):
                desk.columns[a] = nbc_of_matrix(<const char *> matrix.buf + a * matrix.strides[1], matrix.strides[0],
                                                scores.columns[a].size, <int> matrix.itemsize, is_signed)
            if n_rows * (scores.n_attributes + 1) < MANY:
                bad = nbc_decide(&self.served, desk, desk.columns, NULL, out.buf, out.itemsize == 2, NULL, 0, n_rows)
            else:
                with nogil:
                    bad = nbc_decide(&self.served, desk, desk.columns, NULL, out.buf, out.itemsize == 2, NULL, 0,
                                     n_rows)
            nbc_give_desk(&self.served, desk)
        PyBuffer_Release(&out)
        PyBuffer_Release(&matrix)
        if desk == NULL:
            raise MemoryError()
        return bad

    def decide_record(self, record not None):
        """The best class of one row of codes, or -1 - a for attribute a, whose code is out of range."""
        cdef nbc_desk *desk
        cdef int64_t a, n = self.scores.scores.n_attributes, best = -1
        cdef tuple codes = record if type(record) is tuple else tuple(record)  # an item may change a list when asked
        if len(codes) != n:
            raise ValueError(f"a record must be {n} codes, got {len(codes)}")
        desk = nbc_take_desk(&self.served)
        if desk == NULL:
            raise MemoryError()
        try:
            for a in range(n):
                desk.record[a] = as_code(codes[a], a)
            best = nbc_decide_record(&self.served, desk)
        finally:
            nbc_give_desk(&self.served, desk)
        return best


cdef class ServedStrata:
    """Several Served with the same attributes and classes: the first column of a matrix says whose turn it is."""
    cdef tuple strata
    cdef nbc_served **served
    cdef Served first

    def __cinit__(self, list strata not None):
        cdef Served one
        cdef Py_ssize_t i
        cdef int64_t a
        self.strata = tuple(strata)
        if not self.strata:
            raise ValueError("expected at least one stratum")
        self.served = <nbc_served **> calloc(<size_t> len(self.strata), sizeof(nbc_served *))
        if self.served == NULL:
            raise MemoryError()
        for i in range(len(self.strata)):
            if not isinstance(self.strata[i], Served):
                raise TypeError(f"strata must be Served, got {type(self.strata[i]).__name__}")
            one = self.strata[i]
            if i == 0:
                self.first = one
            self.served[i] = &one.served
            if (one.scores.scores.n_attributes != self.first.scores.scores.n_attributes
                    or one.scores.scores.n_classes != self.first.scores.scores.n_classes):
                raise ValueError(f"stratum {i} must have the attributes and classes of the first")
            for a in range(one.scores.scores.n_attributes):
                if one.scores.scores.columns[a].size != self.first.scores.scores.columns[a].size:
                    raise ValueError(f"stratum {i} must have the attributes and classes of the first")

    def __dealloc__(self):
        free(self.served)

    def decide_matrix(self, codes not None, labels not None):  # labels: out
        """As of Served, with the number of the stratum before the codes of each row."""
        cdef const nbc_scores *scores = &self.first.scores.scores
        cdef nbc_desk *desk
        cdef Py_buffer matrix
        cdef Py_buffer out
        cdef bint is_signed
        cdef int64_t a, size, n_rows, bad, n_strata = len(self.strata)
        is_signed = take_matrix(&matrix, codes, scores.n_attributes + 1)
        n_rows = matrix.shape[0]
        try:
            take_labels(&out, labels, n_rows, scores.n_classes)
        except BaseException:
            PyBuffer_Release(&matrix)
            raise
        desk = nbc_take_desk(&self.first.served)  # for its columns, of which it has one more than attributes
        bad = -2
        if desk != NULL:
            for a in range(scores.n_attributes + 1):
                size = n_strata if a == 0 else scores.columns[a - 1].size
                desk.columns[a] = nbc_of_matrix(<const char *> matrix.buf + a * matrix.strides[1], matrix.strides[0],
                                                size, <int> matrix.itemsize, is_signed)
            if n_rows * (scores.n_attributes + 1) < MANY:
                bad = nbc_decide_by(self.served, n_strata, desk.columns, out.buf, out.itemsize == 2, n_rows)
            else:
                with nogil:
                    bad = nbc_decide_by(self.served, n_strata, desk.columns, out.buf, out.itemsize == 2, n_rows)
            nbc_give_desk(&self.first.served, desk)
        PyBuffer_Release(&out)
        PyBuffer_Release(&matrix)
        if bad == -2:
            raise MemoryError()
        return bad


cdef int64_t as_code(object number, int64_t a) except? -2:
    """An integer of Python's or NumPy's, -1 where it is none of 63 bits."""
    if isinstance(number, bool):
        raise TypeError(f"code {a} of the record must be an int, got {number!r}")
    if type(number) is not int:
        try:
            number = PyNumber_Index(number)
        except TypeError:
            raise TypeError(f"code {a} of the record must be an int, got {type(number).__name__}") from None
    return number if 0 <= number <= 0x7FFFFFFFFFFFFFFF else -1


cdef bint take_matrix(Py_buffer *matrix, object codes, int64_t n_columns) except -1:
    """Hold a matrix of so many columns of integers; whether these have a sign."""
    cdef int is_signed
    PyObject_GetBuffer(codes, matrix, PyBUF_STRIDED_RO | PyBUF_FORMAT)
    try:
        is_signed = code_format(matrix.format)
        if is_signed < 0 or matrix.itemsize not in (1, 2, 4, 8):
            raise TypeError(f"codes must be native integers, got format {(<bytes> matrix.format).decode()!r}")
        if matrix.ndim != 2:
            raise ValueError(f"codes must be 2-D (rows, attributes), got {matrix.ndim} dimensions")
        if matrix.shape[1] != n_columns:
            raise ValueError(f"codes must have {n_columns} columns, got {matrix.shape[1]}")
        if (<size_t> matrix.buf % matrix.itemsize or matrix.strides[0] % matrix.itemsize
                or matrix.strides[1] % matrix.itemsize):
            raise ValueError(f"codes are not aligned to their {matrix.itemsize} bytes")
    except BaseException:
        PyBuffer_Release(matrix)
        raise
    return is_signed


cdef int take_labels(Py_buffer *out, object labels, int64_t n_rows, int64_t n_classes) except -1:
    """Hold what labels are written to: one for each row, in bytes or pairs of them."""
    PyObject_GetBuffer(labels, out, PyBUF_CONTIG | PyBUF_FORMAT)
    try:
        if out.ndim != 1 or out.shape[0] != n_rows:
            raise ValueError(f"labels must be 1-D of {n_rows} rows, got {out.len // out.itemsize} in {out.ndim} "
                             "dimensions")
        if out.format == NULL or out.format[1] or out.format[0] not in b"BH":
            raise TypeError("labels must be of uint8 or uint16")
        if out.itemsize == 1 and n_classes > 256:
            raise ValueError(f"{n_classes} classes do not fit bytes")
    except BaseException:
        PyBuffer_Release(out)
        raise
    return 0
