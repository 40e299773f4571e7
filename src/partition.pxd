"""What src/partition/ hands to the kernel: every struct with the fields that it uses, and the functions."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from nbcfast._columns cimport nbc_column


cdef extern from "partition/leaves.h" nogil:
    int NBC_SPLIT, NBC_WHOLE, NBC_NO_MEMORY, NBC_NO_RECORDS
    int64_t NBC_MOST_PEOPLE

    ctypedef struct nbc_long:
        uint64_t *words
        int64_t n

    ctypedef struct nbc_limit_t:
        const uint64_t *num
        const uint64_t *den
        int64_t n_num, n_den
        double about

    ctypedef struct nbc_point:
        int64_t l, k, m
        nbc_limit_t odds
        int certain, shared
        double band

    ctypedef struct nbc_least:
        int64_t w2, c2, n3, c3, w4, c4, n5, c5
        double f3, f5
        int64_t stamp

    ctypedef struct nbc_branch:
        int64_t lo, hi, first, n_children

    ctypedef struct nbc_quasi:
        int64_t size
        const int64_t *position
        const nbc_branch *tree

    ctypedef struct nbc_problem:
        int64_t n_quasi, n_values, n_targets, n_points
        int64_t stride, width, weighted
        int64_t sensitive_at, row_at, weight_at, target_at
        const nbc_quasi *quasi
        int by_gain, needs_values
        int64_t least_people, diverse_l
        nbc_limit_t diverse_c
        int close_kind
        nbc_limit_t close_t
        const int64_t *totals
        int64_t total
        const nbc_point *points
        int64_t most_l, any_shared, long_words
        nbc_least *least
        int64_t stamp

    ctypedef struct nbc_kid:
        int64_t lo, hi, rows, people

    ctypedef struct nbc_challenge:
        int64_t point, value, w, n, c

    ctypedef struct nbc_leaf:
        int64_t start, rows, people, level

    ctypedef struct nbc_count:
        int64_t value, count

    ctypedef struct nbc_joint:
        int64_t *rows
        int64_t *people
        int64_t *targets

    ctypedef struct nbc_kids:
        nbc_kid *at
        int64_t n

    ctypedef struct nbc_challenges:
        nbc_challenge *at
        int64_t n

    ctypedef struct nbc_leaves:
        nbc_leaf *at
        int64_t n

    ctypedef struct nbc_counts:
        nbc_count *at
        int64_t n

    ctypedef struct nbc_words:
        uint32_t *at
        int64_t n

    ctypedef struct nbc_longs:
        int64_t *at
        int64_t n, room

    ctypedef struct nbc_bytes:
        char *at

    ctypedef struct nbc_states:
        nbc_least *at

    ctypedef struct nbc_plan_t:
        int64_t attribute, rank, first_kid, n_kids, first_challenge, n_challenges

    ctypedef struct nbc_scratch:
        nbc_kids kids
        nbc_challenges challenges
        nbc_leaves leaves
        nbc_words boxes
        nbc_counts counts
        nbc_counts found
        nbc_longs hist, touched, codes_hist, tops, prefix, order, width, lo, hi, target_hist, weights, undo_at, stack
        nbc_words stack_boxes
        nbc_bytes codes
        nbc_states undo
        nbc_long a
        nbc_long b
        void *gain

    int nbc_longs_more(nbc_longs *list, int64_t more)
    int nbc_counts_more(nbc_counts *list, int64_t more)
    int nbc_part_safe(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts, int64_t n,
                      int64_t *tops, int64_t *prefix)
    int nbc_challenge_all(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts, int64_t n,
                          const int64_t *tops, const int64_t *prefix)
    int nbc_commit(nbc_problem *q, nbc_scratch *s, const nbc_challenge *challenges, int64_t n)
    int nbc_evaluate(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                     const uint32_t *box, int64_t rank, const nbc_joint *joint, const int64_t *first,
                     nbc_plan_t *plan)
    int nbc_move(const nbc_problem *q, const char *rows, char *out, int64_t n, int64_t attribute,
                 const nbc_kid *kids, int64_t n_kids, int64_t *ends)
    int nbc_add_leaf(const nbc_problem *q, nbc_scratch *s, int64_t start, int64_t rows, int64_t people,
                     int64_t level, const uint32_t *box)
    int64_t nbc_count_leaf(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n)
    int nbc_finish(const nbc_problem *q, nbc_scratch *s, char *rows, char *other, int64_t start, int64_t n,
                   int64_t people, int64_t level, const uint32_t *box)
    int64_t nbc_fill(const nbc_column *column, const uint32_t *map, int64_t row, int64_t n, char *out,
                     int64_t stride, int64_t width)
    int nbc_gather(const nbc_problem *q, const char *rows, int64_t n, const int64_t *first,
                   const nbc_joint *joint)
    int nbc_joint_fits(const nbc_problem *q, const nbc_joint *joint, const int64_t *first, int64_t n,
                       int64_t people, const uint32_t *box)
