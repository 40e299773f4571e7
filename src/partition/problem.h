/* Mondrian over records of integer codes: where to cut, whether the parts are safe, and the moving of rows.

   A record is `stride` bytes, a multiple of 16: the codes of the quasi-identifiers, `width` bytes each; before its
   end the code of the target (where there is one), the weight (where rows are weighted), the code of the sensitive
   value and the number of the row. A node is a run of records with the box of codes it may hold. All decisions are
   exact: floats decide only outside a band that is far wider than their error, long products do the rest.

   Symbols as in Chen, LeFevre, Ramakrishnan (VLDB 2007): a group has n people, c of them with the value s, N = n - c,
   W_l = N less the l largest counts among the other values. */
#ifndef NBCFAST_PROBLEM_H
#define NBCFAST_PROBLEM_H

#include <stdint.h>
#include "partition/long.h"
#include "shared/lists.h"

#define NBC_NO_RECORDS (-3)     /* what stands where records were is none, or not those of the node */
#define NBC_MOST_PEOPLE ((int64_t)1 << 62)
#define NBC_SPLIT 1
#define NBC_WHOLE 0

/* ---- what is demanded ---- */

/* A rational limit: num / den in words, and about as a double. */
typedef struct {
    const uint64_t *num, *den;
    int64_t n_num, n_den;
    double about;
} nbc_limit_t;

/* A point of the skyline. Odds must stay above (1 - confidence) / confidence; at confidence 1 above 0. */
typedef struct {
    int64_t l, k, m;
    nbc_limit_t odds;
    int certain;     /* confidence 1 */
    int shared;      /* other groups matter too: m >= 1 and not certain */
    double band;     /* products of floats are nearer than this to the truth, relatively */
} nbc_point;

/* The smallest factors of a value over all groups, by the groups that attain them. c = 0: none yet. */
typedef struct {
    int64_t w2, c2;     /* CF2 = (W - k) / c */
    int64_t n3, c3;     /* CF3 = prod (N - i) / (N + c - i), i < m */
    int64_t w4, c4;     /* CF4 = W / c */
    int64_t n5, c5;     /* CF5 = prod (N - k - i) / (N + c - k - i), i < m */
    double f3, f5;
    int64_t stamp;      /* of the split that changed it last */
} nbc_least;

typedef struct {
    int64_t lo, hi;             /* the leaves below a node of a hierarchy, as codes */
    int64_t first, n_children;  /* places of its children */
} nbc_branch;

typedef struct {
    int64_t size;               /* codes */
    const int64_t *position;    /* of each code: 0 .. 2^30 */
    const nbc_branch *tree;     /* node 0 is the root; NULL: the codes are ordered */
} nbc_quasi;

typedef struct {
    int64_t n_quasi, n_values, n_targets, n_points;
    int64_t stride, width, weighted;
    int64_t sensitive_at, row_at, weight_at, target_at;
    const nbc_quasi *quasi;
    int by_gain;
    int needs_values;           /* some demand looks at sensitive values */
    int64_t least_people;       /* 0: none demanded */
    int64_t diverse_l;          /* 0: none demanded */
    nbc_limit_t diverse_c;
    int close_kind;             /* 0: none, 1: equal distance, 2: ordered */
    nbc_limit_t close_t;
    const int64_t *totals;      /* of each value in the whole table */
    int64_t total;
    const nbc_point *points;
    int64_t most_l, any_shared;
    int64_t long_words;
    nbc_least *least;           /* n_points x n_values */
    int64_t stamp;
} nbc_problem;

/* ---- scratch of one thread ---- */

typedef struct {
    int64_t lo, hi;         /* the box of the part on the attribute that is split */
    int64_t rows, people;
} nbc_kid;

/* A value of a part whose factors may lower the running minima. */
typedef struct {
    int64_t point, value, w, n, c;
} nbc_challenge;

typedef struct {
    int64_t start, rows, people, level;
} nbc_leaf;

typedef struct {
    int64_t value, count;
} nbc_count;

/* Counts of a node that is too large for memory, gathered while its rows stream by. */
typedef struct {
    int64_t *rows;      /* of each code, attribute after attribute */
    int64_t *people;    /* of each code and sensitive value */
    int64_t *targets;   /* of each code and target */
} nbc_joint;

NBC_GROW(nbc_kids, nbc_kid)
NBC_GROW(nbc_challenges, nbc_challenge)
NBC_GROW(nbc_leaves, nbc_leaf)
NBC_GROW(nbc_counts, nbc_count)
NBC_GROW(nbc_words, uint32_t)
NBC_GROW(nbc_longs, int64_t)
NBC_GROW(nbc_bytes, char)
NBC_GROW(nbc_states, nbc_least)

/* What was decided for a node: where its parts and challenges stand. */
typedef struct {
    int64_t attribute;          /* -1: none is safe */
    int64_t rank;               /* of the attribute in the order they are tried */
    int64_t first_kid, n_kids;
    int64_t first_challenge, n_challenges;
} nbc_plan_t;

typedef struct {
    nbc_kids kids;
    nbc_challenges challenges;
    nbc_leaves leaves;
    nbc_words boxes;            /* of the leaves: lo and hi of each attribute */
    nbc_counts counts;          /* of the values of one part; then of the leaves */
    nbc_counts found;           /* (value, count) pairs of leaves, see nbc_count_leaf */
    nbc_longs hist;             /* kids x values, all 0 between two uses */
    nbc_longs touched;          /* the cells of `hist` that are not 0 */
    nbc_longs codes_hist;       /* counts of codes */
    nbc_longs tops, prefix;
    nbc_longs order;            /* attributes in the order they are tried */
    nbc_longs width;            /* how far apart the ends of each attribute are */
    nbc_longs lo, hi;
    nbc_longs target_hist;
    nbc_bytes codes;            /* of one attribute, side by side */
    nbc_longs weights;
    nbc_states undo;
    nbc_longs undo_at;
    nbc_longs stack;            /* nodes that nbc_finish has still to do */
    nbc_words stack_boxes;
    nbc_long a, b;
    nbc_i128 *gain;
} nbc_scratch;

#endif
