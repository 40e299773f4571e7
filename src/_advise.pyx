"""Correct rows and losses of naive Bayes on every combination of options for its attributes."""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from shared.in_use cimport apart

import numpy as np


cdef extern from "advise.h" nogil:
    ctypedef struct nbc_choices:
        int64_t n_attributes, n_options, n_classes, n_rows
        const int32_t *cells
        const int32_t *folds
        const int64_t *weights
        const int64_t *starts
        const int64_t *first
        const int64_t *tables
        const double *logs
        const int64_t *counts
        const double *priors
        const int64_t *class_counts
        float bound
        int is_small

    ctypedef struct nbc_asked:
        const int32_t *chosen
        const int32_t *inner
        int64_t n_inner
        int64_t *places
        int64_t *options
        uint64_t *left
        uint64_t *right

    int64_t nbc_advise_block(int64_t n_classes)
    int64_t nbc_vectors(const nbc_choices *all, const nbc_asked *asked)
    void nbc_correct(const nbc_choices *all, nbc_asked *asked, float *room, void *weights, int64_t *correct)
    void nbc_all_losses(const nbc_choices *all, nbc_asked *asked, double scale, double *room, int64_t *finite,
                        int64_t *infinite)


MOST_WEIGHT = 1 << 40  # of all rows: sums of rounded losses are exact
cdef int64_t _MOST_WEIGHT = 1 << 40
cdef int64_t _MOST_LEAVES = 1 << 40


cdef int _check_logs(const double[:, ::1] logs, const int64_t[:, ::1] counts, int64_t n, int64_t n_classes,
                     str what, str of_counts) except -1:
    cdef int64_t i, c
    if logs.shape[0] != n or logs.shape[1] != n_classes or counts.shape[0] != n or counts.shape[1] != n_classes:
        raise ValueError(f"{what} and {of_counts} must be {n} x {n_classes}, got {logs.shape[0]} x {logs.shape[1]} and "
                         f"{counts.shape[0]} x {counts.shape[1]}")
    for i in range(n):
        for c in range(n_classes):
            if not (-1e4 <= logs[i, c] <= 1e4 if counts[i, c] else logs[i, c] == -INFINITY) or counts[i, c] < 0:
                raise ValueError(f"{what} must be logarithms of {of_counts}, -inf of 0 and else within 1e4 of 0, got "
                                 f"{logs[i, c]} of {counts[i, c]}")
    return 0


cdef class Choices:
    """Rows, and what every option of every attribute says of them; read only, shared by all threads.

    Parameters
    ----------
    cells : int32, (attributes, rows): which row of an option's tables a row has, its value and its fold
    folds : int32, (rows,)
    weights : int64, (rows,): at least 1
    starts : int64, (classes + 1,): rows [starts[t], starts[t + 1]) are of class t
    first : int64, (attributes + 1,): options [first[a], first[a + 1]) are of attribute a
    sizes : int64, (attributes,): how many cells
    tables : int64, (options,): where the option's rows of `logs` begin, or -1 if it leaves the attribute out
    logs : float64, (all cells, classes): ln N / P, a multiple of 2^-30, or -inf
    counts : int64, (all cells, classes): N
    priors, class_counts : likewise ln P / R and P of each fold
    bound : sums of differences of logarithms, as floats, are within `bound` of the true ones
    """
    cdef nbc_choices all
    cdef const int32_t[:, ::1] cells
    cdef const int32_t[::1] folds
    cdef const int64_t[::1] weights
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] first
    cdef const int64_t[::1] tables
    cdef const double[:, ::1] logs
    cdef const int64_t[:, ::1] counts
    cdef const double[:, ::1] priors
    cdef const int64_t[:, ::1] class_counts

    def __cinit__(self, const int32_t[:, ::1] cells not None, const int32_t[::1] folds not None,
                  const int64_t[::1] weights not None, const int64_t[::1] starts not None,
                  const int64_t[::1] first not None, const int64_t[::1] sizes not None,
                  const int64_t[::1] tables not None, const double[:, ::1] logs not None,
                  const int64_t[:, ::1] counts not None, const double[:, ::1] priors not None,
                  const int64_t[:, ::1] class_counts not None, double bound):
        cdef int64_t n_attributes = cells.shape[0], n_rows = cells.shape[1], n_classes = starts.shape[0] - 1
        cdef int64_t n_options = tables.shape[0], n_cells = logs.shape[0], n_folds = class_counts.shape[0]
        cdef int64_t a, i, total = 0
        # Copies: the kernel goes where they say, and the caller may write to his own.
        self.cells, self.folds, self.weights = np.array(cells), np.array(folds), np.array(weights)
        self.starts, self.first, self.tables = np.array(starts), np.array(first), np.array(tables)
        self.logs, self.counts = np.array(logs), np.array(counts)
        self.priors, self.class_counts = np.array(priors), np.array(class_counts)
        cells, folds, weights, starts, first = self.cells, self.folds, self.weights, self.starts, self.first
        tables, logs, counts, priors = self.tables, self.logs, self.counts, self.priors
        class_counts = self.class_counts
        if not 2 <= n_classes <= 65536:
            raise ValueError(f"starts must be of 2..65536 classes, got {n_classes}")
        if not 1 <= n_attributes <= 1 << 20 or first.shape[0] != n_attributes + 1 or sizes.shape[0] != n_attributes:
            raise ValueError(f"first and sizes must be of {n_attributes} attributes, and at least 1, got "
                             f"{first.shape[0] - 1} and {sizes.shape[0]}")
        if folds.shape[0] != n_rows or weights.shape[0] != n_rows or starts[n_classes] != n_rows or starts[0] != 0:
            raise ValueError(f"folds, weights and starts must be of {n_rows} rows, got {folds.shape[0]}, "
                             f"{weights.shape[0]} and {starts[n_classes]}")
        for i in range(n_classes):
            if not starts[i] <= starts[i + 1]:
                raise ValueError(f"starts must not fall, got {starts[i]} before {starts[i + 1]}")
        if first[0] != 0 or first[n_attributes] != n_options:
            raise ValueError(f"first must go from 0 to {n_options} options, got {first[0]} to {first[n_attributes]}")
        for i in range(n_rows):
            if not 1 <= weights[i] <= _MOST_WEIGHT - total:
                raise ValueError(f"weights must be at least 1, and all of them at most 2^40, row {i} has {weights[i]}")
            total += weights[i]
            if not 0 <= folds[i] < n_folds:
                raise ValueError(f"row {i}: fold {folds[i]} of {n_folds}")
        for a in range(n_attributes):
            if not 0 <= first[a] < first[a + 1] <= n_options:
                raise ValueError(f"attribute {a} must have options, got {first[a]} to {first[a + 1]}")
            for i in range(first[a], first[a + 1]):
                if not -1 <= tables[i] <= n_cells or not 0 <= sizes[a] <= n_cells - max(tables[i], 0):
                    raise ValueError(f"option {i}: cells {tables[i]} to {tables[i]} + {sizes[a]} of {n_cells}")
            for i in range(n_rows):
                if not 0 <= cells[a, i] < sizes[a]:
                    raise ValueError(f"row {i}: cell {cells[a, i]} of {sizes[a]} of attribute {a}")
        _check_logs(logs, counts, n_cells, n_classes, "logs", "counts")
        _check_logs(priors, class_counts, n_folds, n_classes, "priors", "class_counts")
        if not (bound >= 0 and isfinite(<float> bound) and bound < 1e29):
            raise ValueError(f"bound must be at least 0 and finite, got {bound}")
        self.all.n_attributes, self.all.n_options, self.all.n_classes = n_attributes, n_options, n_classes
        self.all.n_rows = n_rows
        self.all.starts, self.all.first, self.all.tables = &starts[0], &first[0], &tables[0]
        if n_rows:
            self.all.cells, self.all.folds, self.all.weights = &cells[0, 0], &folds[0], &weights[0]
        if n_cells:
            self.all.logs, self.all.counts = &logs[0, 0], &counts[0, 0]
        if n_folds:
            self.all.priors, self.all.class_counts = &priors[0, 0], &class_counts[0, 0]
        self.all.is_small = total < (<int64_t> 1 << 31)
        # Rounded up, as comparing happens in floats.
        self.all.bound = <float> (bound * (1 + 1e-6))

    def correct(self, const int32_t[::1] chosen not None, const int32_t[::1] inner not None,
                int64_t[::1] correct not None):  # correct: out
        """How much weight each leaf gets right: the product of the options of the inner attributes, the last fastest.

        The other attributes have the chosen option, or are left out where that is -1.
        """
        cdef int64_t block = nbc_advise_block(self.all.n_classes), i
        cdef nbc_asked asked
        cdef float *room = NULL
        cdef void *weights = NULL
        cdef int64_t *out
        _take(&self.all, &asked, chosen, inner, correct.shape[0])
        try:
            _room(&self.all, &asked)
            room = <float *> malloc(
                <size_t> ((nbc_vectors(&self.all, &asked) * (self.all.n_classes - 1) + 1) * block) * sizeof(float)
            )
            weights = malloc(<size_t> block * sizeof(int64_t))
            if room == NULL or weights == NULL:
                raise MemoryError()
            out = &correct[0]
            for i in range(correct.shape[0]):
                out[i] = 0
            with nogil:
                nbc_correct(&self.all, &asked, room, weights, out)
        finally:
            free(room)
            free(weights)
            _drop(&asked)

    def losses(self, const int32_t[::1] chosen not None, const int32_t[::1] inner not None, int bits,
               int64_t[::1] finite not None, int64_t[::1] infinite not None):  # the last two: out
        """The sums of losses, each rounded to a multiple of 2^-bits, in that unit; the weight of infinite ones.

        The leaves are those of `correct`. All losses together must be below 2^51 units.
        """
        cdef int64_t block = nbc_advise_block(self.all.n_classes), i
        cdef nbc_asked asked
        cdef double *room = NULL
        cdef double scale
        cdef int64_t *finite_out
        cdef int64_t *infinite_out
        if not 0 <= bits <= 30:
            raise ValueError(f"bits must be 0..30, got {bits}")
        if infinite.shape[0] != finite.shape[0]:
            raise ValueError(f"{finite.shape[0]} finite sums but {infinite.shape[0]} infinite ones")
        scale = <double> (1 << bits)
        if finite.shape[0]:
            apart(&finite[0], <size_t> finite.shape[0] * sizeof(int64_t), &infinite[0],
                  <size_t> infinite.shape[0] * sizeof(int64_t), "finite and infinite")
        _take(&self.all, &asked, chosen, inner, finite.shape[0])
        try:
            _room(&self.all, &asked)
            room = <double *> malloc(
                <size_t> ((nbc_vectors(&self.all, &asked) * (self.all.n_classes - 1) + 3) * block) * sizeof(double)
            )
            if room == NULL:
                raise MemoryError()
            finite_out, infinite_out = &finite[0], &infinite[0]
            for i in range(finite.shape[0]):
                finite_out[i] = infinite_out[i] = 0
            with nogil:
                nbc_all_losses(&self.all, &asked, scale, room, finite_out, infinite_out)
        finally:
            free(room)
            _drop(&asked)


cdef int _take(const nbc_choices *all, nbc_asked *asked, const int32_t[::1] chosen, const int32_t[::1] inner,
               int64_t n_leaves) except -1:
    """Nothing is held yet: `asked` is looked at again in `_room`, which has copies."""
    asked.places = asked.options = NULL
    asked.left = asked.right = NULL
    asked.chosen = asked.inner = NULL
    if chosen.shape[0] != all.n_attributes:
        raise ValueError(f"chosen must be {all.n_attributes} options, got {chosen.shape[0]}")
    if not 1 <= inner.shape[0] <= all.n_attributes:
        raise ValueError(f"inner must be 1..{all.n_attributes} attributes, got {inner.shape[0]}")
    asked.n_inner = inner.shape[0]
    cdef int32_t *copied = <int32_t *> malloc(<size_t> (all.n_attributes + inner.shape[0]) * sizeof(int32_t))
    if copied == NULL:
        raise MemoryError()
    asked.chosen, asked.inner = copied, copied + all.n_attributes
    cdef int64_t i, j, a, n = 1
    cdef str wrong = None
    for i in range(all.n_attributes):
        copied[i] = chosen[i]
        if not -1 <= copied[i] < all.first[i + 1] - all.first[i]:
            wrong = f"attribute {i}: option {copied[i]} of {all.first[i + 1] - all.first[i]}"
    for i in range(inner.shape[0]):
        a = copied[all.n_attributes + i] = inner[i]
        if not 0 <= a < all.n_attributes:
            wrong = f"inner must be attributes of {all.n_attributes}, got {a}"
            break
        for j in range(i):
            if asked.inner[j] == a:
                wrong = f"inner must name an attribute once, got {a} again"
        n = min(n * (all.first[a + 1] - all.first[a]), _MOST_LEAVES)
    if wrong is None and n != n_leaves:
        wrong = f"these attributes have {n} combinations, got room for {n_leaves}"
    if wrong is not None:
        _drop(asked)
        raise ValueError(wrong)
    return 0


cdef int _room(const nbc_choices *all, nbc_asked *asked) except -1:
    cdef size_t limbs = <size_t> (2 * all.n_attributes + 2) * sizeof(uint64_t)
    asked.places = <int64_t *> malloc(<size_t> asked.n_inner * sizeof(int64_t))
    asked.options = <int64_t *> malloc(<size_t> all.n_attributes * sizeof(int64_t))
    asked.left, asked.right = <uint64_t *> malloc(limbs), <uint64_t *> malloc(limbs)
    if asked.places == NULL or asked.options == NULL or asked.left == NULL or asked.right == NULL:
        raise MemoryError()
    return 0


cdef void _drop(nbc_asked *asked) noexcept:
    free(<void *> asked.chosen)
    free(asked.places)
    free(asked.options)
    free(asked.left)
    free(asked.right)
    asked.chosen = NULL
