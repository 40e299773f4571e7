"""Posteriors over possible worlds, many at a time."""

from libc.stdint cimport int8_t, int64_t
from libc.stdlib cimport calloc, free

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport apart


cdef extern from "worlds.h" nogil:
    int NBC_WORLDS_OK
    int NBC_WORLDS_NONE
    int NBC_WORLDS_BEYOND
    int64_t NBC_WORLDS_MOST

    ctypedef struct nbc_worlds_room:
        double *doubles
        int64_t size
        int64_t *integers
        int64_t n_integers

    ctypedef struct nbc_pmf:
        pass

    ctypedef struct nbc_worlds_class:
        pass

    int nbc_worlds_posterior(const int64_t *class_counts, int64_t n_classes, const int64_t *counts,
                             int64_t n_known, double most_cost, nbc_worlds_room *room,
                             nbc_worlds_class *classes, nbc_pmf *pmfs, double *shares, double *error)


OK = NBC_WORLDS_OK
NONE = NBC_WORLDS_NONE
BEYOND = NBC_WORLDS_BEYOND
MOST = NBC_WORLDS_MOST
cdef double MOST_COST = 2.0 ** 50  # the room for so many multiplications is counted in 64 bits


cdef int _check_apart(const void *out, int64_t n_bytes, const int64_t[::1] class_counts,
                      const int64_t[:, :, ::1] counts, str name) except -1:
    apart(out, <size_t> n_bytes, &class_counts[0], <size_t> class_counts.shape[0] * 8, f"{name} and class_counts")
    if counts.shape[0] and counts.shape[1] and counts.shape[2]:
        apart(out, <size_t> n_bytes, &counts[0, 0, 0],
              <size_t> counts.shape[0] * <size_t> counts.shape[1] * <size_t> counts.shape[2] * 8, f"{name} and counts")
    return 0


def posteriors(const int64_t[::1] class_counts not None, const int64_t[:, :, ::1] counts not None,
               double most_cost, double[:, ::1] shares not None,  # shares, errors, states: out
               double[::1] errors not None, int8_t[::1] states not None):
    """E[Y_c / sum Y | sum Y >= 1] for each query and class, and a bound of the relative error of each.

    Parameters
    ----------
    class_counts : rows of each class
    counts : (queries, known values, classes), each at most the rows of its class
    most_cost : a query that needs more multiplications is left alone; at most 2^50
    shares : (queries, classes)
    errors, states : a query each; where the state is not OK, nothing is said
    """
    cdef int64_t n_queries = counts.shape[0], n_known = counts.shape[1], n_classes = class_counts.shape[0]
    cdef int64_t q, i, c
    cdef int state
    cdef int64_t nothing = 0
    cdef const int64_t *first
    cdef nbc_worlds_room room
    cdef nbc_worlds_class *classes
    cdef nbc_pmf *pmfs
    if n_classes == 0 or counts.shape[2] != n_classes or shares.shape[1] != n_classes:
        raise ValueError(f"expected counts and shares of {n_classes} classes, at least one")
    if shares.shape[0] != n_queries or errors.shape[0] != n_queries or states.shape[0] != n_queries:
        raise ValueError(f"expected room for {n_queries} queries")
    if not 0 <= most_cost <= MOST_COST:
        raise ValueError(f"most_cost must be 0..2^50, got {most_cost}")
    for c in range(n_classes):
        if class_counts[c] < 0:
            raise ValueError(f"class_counts must be at least 0, got {class_counts[c]}")
    for q in range(n_queries):
        for i in range(n_known):
            for c in range(n_classes):
                if not 0 <= counts[q, i, c] <= class_counts[c]:
                    raise ValueError(f"query {q}: a count of {counts[q, i, c]} in a class of {class_counts[c]} rows")
    if n_queries:
        _check_apart(&shares[0, 0], n_queries * n_classes * 8, class_counts, counts, "shares")
        _check_apart(&errors[0], n_queries * 8, class_counts, counts, "errors")
        _check_apart(&states[0], n_queries, class_counts, counts, "states")
    room.doubles, room.integers = NULL, NULL
    room.size = room.n_integers = 0
    classes = <nbc_worlds_class *> calloc(<size_t> n_classes, sizeof(nbc_worlds_class))
    pmfs = <nbc_pmf *> calloc(<size_t> (3 * n_classes + 2), sizeof(nbc_pmf))
    try:
        if classes == NULL or pmfs == NULL:
            raise MemoryError()
        for q in range(n_queries):
            first = &counts[q, 0, 0] if n_known else &nothing
            with nogil:
                state = nbc_worlds_posterior(&class_counts[0], n_classes, first, n_known, most_cost, &room, classes,
                                             pmfs, &shares[q, 0], &errors[q])
            if state < 0:
                raise MemoryError()
            states[q] = <int8_t> state
            PyErr_CheckSignals()
    finally:
        free(room.doubles)
        free(room.integers)
        free(classes)
        free(pmfs)
