/* Mondrian over records of integer codes: where to cut, whether the parts are safe, and the moving of rows.

   A record is `stride` bytes, a multiple of 16: the codes of the quasi-identifiers, `width` bytes each; before its
   end the code of the target (where there is one), the weight (where rows are weighted), the code of the sensitive
   value and the number of the row. A node is a run of records with the box of codes it may hold. All decisions are
   exact: floats decide only outside a band that is far wider than their error, long products do the rest.

   Symbols as in Chen, LeFevre, Ramakrishnan (VLDB 2007): a group has n people, c of them with the value s, N = n - c,
   W_l = N less the l largest counts among the other values. */
#ifndef NBCFAST_PARTITION_H
#define NBCFAST_PARTITION_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "columns.h"

#define NBC_NO_MEMORY (-1)
#define NBC_NO_RECORDS (-3)     /* what stands where records were is none, or not those of the node */
#define NBC_MOST_PEOPLE ((int64_t)1 << 62)
#define NBC_SPLIT 1
#define NBC_WHOLE 0

__extension__ typedef unsigned __int128 nbc_u128;
__extension__ typedef __int128 nbc_i128;

/* ---- natural numbers of any length, lowest word first ---- */

typedef struct {
    uint64_t *words;
    int64_t n;
} nbc_long;

static void nbc_long_set(nbc_long *a, const uint64_t *words, int64_t n)
{
    memcpy(a->words, words, (size_t)n * sizeof(uint64_t));
    while (n > 0 && a->words[n - 1] == 0)
        n--;
    a->n = n;
}

static void nbc_long_times(nbc_long *a, uint64_t factor)
{
    uint64_t carry = 0;
    for (int64_t i = 0; i < a->n; i++) {
        const nbc_u128 product = (nbc_u128)a->words[i] * factor + carry;
        a->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry)
        a->words[a->n++] = carry;
}

static int nbc_long_compare(const nbc_long *a, const nbc_long *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int64_t i = a->n - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

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

#define NBC_GROW(NAME, TYPE)                                                                \
    typedef struct { TYPE *at; int64_t n, room; } NAME;                                     \
    static int NAME##_more(NAME *list, int64_t more)                                        \
    {                                                                                       \
        if (more < 0 || more > (INT64_MAX >> 8) / (int64_t)sizeof(TYPE))                     \
            return NBC_NO_MEMORY;                                                           \
        if (list->n + more > list->room) {                                                  \
            int64_t room = 2 * list->room + more + 64;                                      \
            TYPE *at = (TYPE *)realloc(list->at, (size_t)room * sizeof(TYPE));              \
            if (at == NULL)                                                                 \
                return NBC_NO_MEMORY;                                                       \
            list->at = at;                                                                  \
            list->room = room;                                                              \
        }                                                                                   \
        return 0;                                                                           \
    }
NBC_GROW(nbc_kids, nbc_kid)
NBC_GROW(nbc_challenges, nbc_challenge)
NBC_GROW(nbc_leaves, nbc_leaf)
NBC_GROW(nbc_counts, nbc_count)
NBC_GROW(nbc_words, uint32_t)
NBC_GROW(nbc_longs, int64_t)
NBC_GROW(nbc_bytes, char)
NBC_GROW(nbc_states, nbc_least)
#undef NBC_GROW

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

/* ---- exact comparisons ---- */

/* prod (N - shift - i) / (n - shift - i), i < m; no factor is 0. Sixteen factors below 2^63 fit a double. */
static double nbc_ratio(int64_t big_n, int64_t c, int64_t shift, int64_t m)
{
    double result = 1.0, up = 1.0, down = 1.0;
    for (int64_t i = 0; i < m; i++) {
        up *= (double)(big_n - shift - i);
        down *= (double)(big_n + c - shift - i);
        if ((i & 15) == 15) {
            result *= up / down;
            up = down = 1.0;
        }
    }
    return result * (up / down);
}

static void nbc_falling(nbc_long *a, int64_t from, int64_t m)
{
    for (int64_t i = 0; i < m; i++)
        nbc_long_times(a, (uint64_t)(from - i));
}

/* Whether the first product of a pair (N, c) is below the second's, f and g being these as doubles. */
static int nbc_lower(const nbc_point *p, nbc_scratch *s, int64_t shift, int64_t n, int64_t c, double f,
                     int64_t other_n, int64_t other_c, double g)
{
    static const uint64_t one = 1;
    if (other_c == 0)
        return 1;
    if (n >= other_n && c <= other_c)
        return 0;
    if (n <= other_n && c >= other_c)
        return 1;
    if (f > 1e-280 && g > 1e-280) {
        if (f < g * (1.0 - p->band))
            return 1;
        if (f > g * (1.0 + p->band))
            return 0;
    }
    nbc_long_set(&s->a, &one, 1);
    nbc_long_set(&s->b, &one, 1);
    nbc_falling(&s->a, n - shift, p->m);
    nbc_falling(&s->b, other_n - shift, p->m);
    nbc_falling(&s->a, other_n + other_c - shift, p->m);
    nbc_falling(&s->b, n + c - shift, p->m);
    return nbc_long_compare(&s->a, &s->b) < 0;
}

/* a / b < c / d */
NBC_INLINE int nbc_fraction_lower(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return d == 0 || (nbc_i128)a * d < (nbc_i128)c * b;
}

/* Whether w / c prod (N - shift - i) / (below - shift - i) is above the limit of the point; w, c > 0. */
static int nbc_above(const nbc_point *p, nbc_scratch *s, int64_t w, int64_t c, double f, int64_t n,
                     int64_t below, int64_t shift, int64_t m)
{
    const nbc_limit_t *odds = &p->odds;
    const double g = (double)w / (double)c * f;
    if (g > 1e-250) {
        if (g > odds->about * (1.0 + p->band))
            return 1;
        if (g < odds->about * (1.0 - p->band))
            return 0;
    }
    nbc_long_set(&s->a, odds->den, odds->n_den);
    nbc_long_set(&s->b, odds->num, odds->n_num);
    nbc_long_times(&s->a, (uint64_t)w);
    nbc_long_times(&s->b, (uint64_t)c);
    nbc_falling(&s->a, n - shift, m);
    nbc_falling(&s->b, below - shift, m);
    return nbc_long_compare(&s->a, &s->b) > 0;
}

/* ---- local demands on one part ---- */

/* Whether the part with these counts (value, count > 0; n people in all) may stand; fills `tops` (falling
   counts, most_l + 1 of them, 0 behind) and `prefix` (their sums). */
static int nbc_part_safe(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts,
                         int64_t n, int64_t *tops, int64_t *prefix)
{
    const int64_t n_tops = q->most_l + 1;
    for (int64_t j = 0; j < n_tops; j++)
        tops[j] = 0;
    for (int64_t i = 0; i < n_counts; i++) {
        int64_t c = counts[i].count, j = n_tops - 1;
        if (c <= tops[j])
            continue;
        for (; j > 0 && tops[j - 1] < c; j--)
            tops[j] = tops[j - 1];
        tops[j] = c;
    }
    prefix[0] = 0;
    for (int64_t j = 0; j < n_tops; j++)
        prefix[j + 1] = prefix[j] + tops[j];
    if (q->diverse_l) {
        /* r_1 < c (r_L + r_{L+1} + ..) */
        const nbc_limit_t *limit = &q->diverse_c;
        const int64_t rest = n - prefix[q->diverse_l - 1];
        const double left = (double)tops[0], right = limit->about * (double)rest;
        if (rest == 0)
            return 0;
        if (left > right * (1.0 + 1e-9))
            return 0;
        if (left >= right * (1.0 - 1e-9)) {
            nbc_long_set(&s->a, limit->den, limit->n_den);
            nbc_long_set(&s->b, limit->num, limit->n_num);
            nbc_long_times(&s->a, (uint64_t)tops[0]);
            nbc_long_times(&s->b, (uint64_t)rest);
            if (nbc_long_compare(&s->a, &s->b) >= 0)
                return 0;
        }
    }
    for (int64_t i = 0; i < q->n_points; i++) {
        const nbc_point *p = &q->points[i];
        const int64_t w = n - prefix[p->l + 1], big_n = n - tops[0];
        if (p->k >= w || (p->m > 0 && p->m >= big_n - p->k))
            return 0;
        if (p->certain)
            continue;
        if (!nbc_above(p, s, w - p->k, tops[0], nbc_ratio(big_n - 1, tops[0], p->k, p->m), big_n - 1, n - 1,
                       p->k, p->m))
            return 0;
    }
    if (q->close_kind) {
        const nbc_limit_t *limit = &q->close_t;
        nbc_u128 sum = 0;
        uint64_t words[2];
        double left, right;
        if (q->close_kind == 1) {
            int64_t met = 0;
            for (int64_t i = 0; i < n_counts; i++) {
                const nbc_i128 d = (nbc_i128)counts[i].count * q->total - (nbc_i128)q->totals[counts[i].value] * n;
                sum += (nbc_u128)(d < 0 ? -d : d);
                met += q->totals[counts[i].value];
            }
            sum += (nbc_u128)n * (nbc_u128)(q->total - met);
        } else {
            nbc_i128 d = 0;
            int64_t i = 0;
            for (int64_t v = 0; v < q->n_values; v++) {
                if (i < n_counts && counts[i].value == v)
                    d += (nbc_i128)counts[i++].count * q->total;
                d -= (nbc_i128)q->totals[v] * n;
                sum += (nbc_u128)(d < 0 ? -d : d);
            }
        }
        /* sum / (n total) <= 2 t, or (values - 1) t */
        const int64_t scale = q->close_kind == 1 ? 2 : q->n_values - 1;
        left = (double)sum;
        right = limit->about * (double)scale * (double)n * (double)q->total;
        if (left > right * (1.0 + 1e-9))
            return 0;
        if (left >= right * (1.0 - 1e-9)) {
            words[0] = (uint64_t)sum;
            words[1] = (uint64_t)(sum >> 64);
            /* den * sum: the words of `sum` are the factor that is longer than one word, so it comes first. */
            nbc_long_set(&s->b, limit->num, limit->n_num);
            nbc_long_times(&s->b, (uint64_t)scale);
            nbc_long_times(&s->b, (uint64_t)n);
            nbc_long_times(&s->b, (uint64_t)q->total);
            /* schoolbook product of two words and den */
            memset(s->a.words, 0, (size_t)(limit->n_den + 3) * sizeof(uint64_t));
            for (int64_t i = 0; i < 2; i++) {
                uint64_t carry = 0;
                for (int64_t j = 0; j < limit->n_den; j++) {
                    const nbc_u128 product = (nbc_u128)words[i] * limit->den[j] + s->a.words[i + j] + carry;
                    s->a.words[i + j] = (uint64_t)product;
                    carry = (uint64_t)(product >> 64);
                }
                s->a.words[i + limit->n_den] += carry;
            }
            s->a.n = limit->n_den + 2;
            while (s->a.n > 0 && s->a.words[s->a.n - 1] == 0)
                s->a.n--;
            while (s->b.n > 0 && s->b.words[s->b.n - 1] == 0)
                s->b.n--;
            if (nbc_long_compare(&s->a, &s->b) > 0)
                return 0;
        }
    }
    return 1;
}

/* ---- the demands that all groups share ---- */

/* List what of this part is not clearly above the running minima. */
static int nbc_challenge_all(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts,
                             int64_t n, const int64_t *tops, const int64_t *prefix)
{
    for (int64_t i = 0; i < q->n_points; i++) {
        const nbc_point *p = &q->points[i];
        if (!p->shared)
            continue;
        const int64_t taken = prefix[p->l], next = tops[p->l];
        const nbc_least *of_value = q->least + i * q->n_values;
        for (int64_t j = 0; j < n_counts; j++) {
            const int64_t c = counts[j].count, big_n = n - c;
            const int64_t w = n - taken - (c < next ? c : next);
            const nbc_least *least = &of_value[counts[j].value];
            int matters = nbc_fraction_lower(w - p->k, c, least->w2 - p->k, least->c2)
                || nbc_fraction_lower(w, c, least->w4, least->c4);
            if (!matters && !(big_n >= least->n3 && c <= least->c3)) {
                const double f = nbc_ratio(big_n, c, 0, p->m);
                matters = !(f > 1e-280 && f > least->f3 * (1.0 + p->band));
            }
            if (!matters && !(big_n >= least->n5 && c <= least->c5)) {
                const double f = nbc_ratio(big_n, c, p->k, p->m);
                matters = !(f > 1e-280 && f > least->f5 * (1.0 + p->band));
            }
            if (!matters)
                continue;
            if (nbc_challenges_more(&s->challenges, 1))
                return NBC_NO_MEMORY;
            s->challenges.at[s->challenges.n++] = (nbc_challenge){i, counts[j].value, w, big_n, c};
        }
    }
    return 0;
}

static void nbc_lower_least(const nbc_point *p, nbc_scratch *s, nbc_least *least, const nbc_challenge *x)
{
    if (nbc_fraction_lower(x->w - p->k, x->c, least->w2 - p->k, least->c2))
        least->w2 = x->w, least->c2 = x->c;
    if (nbc_fraction_lower(x->w, x->c, least->w4, least->c4))
        least->w4 = x->w, least->c4 = x->c;
    double f = nbc_ratio(x->n, x->c, 0, p->m);
    if (nbc_lower(p, s, 0, x->n, x->c, f, least->n3, least->c3, least->f3))
        least->n3 = x->n, least->c3 = x->c, least->f3 = f;
    f = nbc_ratio(x->n, x->c, p->k, p->m);
    if (nbc_lower(p, s, p->k, x->n, x->c, f, least->n5, least->c5, least->f5))
        least->n5 = x->n, least->c5 = x->c, least->f5 = f;
}

/* Lower the running minima by these challenges and return 1, or, if that is unsafe, leave them and return 0. */
static int nbc_commit(nbc_problem *q, nbc_scratch *s, const nbc_challenge *challenges, int64_t n)
{
    int safe = 1;
    if (n == 0)
        return 1;
    s->undo.n = s->undo_at.n = 0;
    if (nbc_states_more(&s->undo, n) || nbc_longs_more(&s->undo_at, n))
        return NBC_NO_MEMORY;
    q->stamp++;
    for (int64_t i = 0; i < n; i++) {
        const nbc_challenge *x = &challenges[i];
        const int64_t at = x->point * q->n_values + x->value;
        nbc_least *least = &q->least[at];
        if (least->stamp != q->stamp) {
            s->undo.at[s->undo.n++] = *least;
            s->undo_at.at[s->undo_at.n++] = at;
            least->stamp = q->stamp;
        }
        nbc_lower_least(&q->points[x->point], s, least, x);
    }
    for (int64_t i = 0; i < s->undo_at.n && safe; i++) {
        const int64_t at = s->undo_at.at[i];
        const nbc_point *p = &q->points[at / q->n_values];
        const nbc_least *least = &q->least[at];
        safe = nbc_above(p, s, least->w2 - p->k, least->c2, least->f3, least->n3, least->n3 + least->c3, 0, p->m)
            && nbc_above(p, s, least->w4, least->c4, least->f5, least->n5, least->n5 + least->c5, p->k, p->m);
    }
    if (!safe)
        for (int64_t i = s->undo_at.n - 1; i >= 0; i--)
            q->least[s->undo_at.at[i]] = s->undo.at[i];
    return safe;
}

/* ---- reading records ---- */

NBC_INLINE uint64_t nbc_code_at(const char *record, int64_t attribute, int64_t width)
{
    if (width == 1)
        return ((const uint8_t *)record)[attribute];
    if (width == 2) {
        uint16_t code;
        memcpy(&code, record + 2 * attribute, 2);
        return code;
    }
    uint32_t code;
    memcpy(&code, record + 4 * attribute, 4);
    return code;
}

NBC_INLINE uint32_t nbc_u32_at(const char *record, int64_t at)
{
    uint32_t code;
    memcpy(&code, record + at, 4);
    return code;
}

NBC_INLINE int64_t nbc_i64_at(const char *record, int64_t at)
{
    int64_t number;
    memcpy(&number, record + at, 8);
    return number;
}

/* Read once, as what was looked at must be what is used: others may write to the records. */
NBC_INLINE int64_t nbc_i64_once(const char *record, int64_t at)
{
    return NBC_ONCE(int64_t, record + at);
}

/* The smallest and the largest code of each attribute, 16 bytes of the records at a time. Without vectors of the
   compiler's own, byte by byte: loops over a short array do not become vectors by themselves. */
#if defined(__GNUC__)
typedef uint8_t nbc_lanes_u8 __attribute__((vector_size(16)));
typedef uint16_t nbc_lanes_u16 __attribute__((vector_size(16)));
typedef uint32_t nbc_lanes_u32 __attribute__((vector_size(16)));
#define NBC_EXTREMES(NAME, TYPE)                                                                    \
    NBC_INLINE nbc_lanes_##NAME nbc_select_##NAME(nbc_lanes_##NAME mask, nbc_lanes_##NAME a, nbc_lanes_##NAME b)  \
    {                                                                                               \
        return (a & mask) | (b & ~mask);                                                            \
    }                                                                                               \
    NBC_INLINE void nbc_extremes_##NAME(const char *rows, int64_t n, int64_t stride, int64_t count, \
                                        int64_t *lo, int64_t *hi)                                   \
    {                                                                                               \
        const int64_t n_lanes = 16 / (int64_t)sizeof(TYPE);                                         \
        for (int64_t block = 0; block * n_lanes < count; block++) {                                 \
            nbc_lanes_##NAME least, most, a, b;                                                     \
            TYPE lows[16 / sizeof(TYPE)], highs[16 / sizeof(TYPE)];                                 \
            const char *at = rows + 16 * block;                                                     \
            memcpy(&least, at, 16);                                                                 \
            most = least;                                                                           \
            for (int64_t i = n & 1; i < n; i += 2) {                                                \
                memcpy(&a, at + i * stride, 16);                                                    \
                memcpy(&b, at + (i + 1) * stride, 16);                                              \
                const nbc_lanes_##NAME below = (nbc_lanes_##NAME)(a < b);                           \
                const nbc_lanes_##NAME low = nbc_select_##NAME(below, a, b);                        \
                const nbc_lanes_##NAME high = nbc_select_##NAME(below, b, a);                       \
                least = nbc_select_##NAME((nbc_lanes_##NAME)(low < least), low, least);             \
                most = nbc_select_##NAME((nbc_lanes_##NAME)(high > most), high, most);              \
            }                                                                                       \
            memcpy(lows, &least, 16);                                                               \
            memcpy(highs, &most, 16);                                                               \
            for (int64_t j = 0; j < n_lanes && block * n_lanes + j < count; j++) {                  \
                lo[block * n_lanes + j] = lows[j];                                                  \
                hi[block * n_lanes + j] = highs[j];                                                 \
            }                                                                                       \
        }                                                                                           \
    }
#else
#define NBC_EXTREMES(NAME, TYPE)                                                                    \
    NBC_INLINE void nbc_extremes_##NAME(const char *rows, int64_t n, int64_t stride, int64_t count, \
                                        int64_t *lo, int64_t *hi)                                   \
    {                                                                                               \
        for (int64_t j = 0; j < count; j++) {                                                       \
            lo[j] = hi[j] = *(const TYPE *)(const void *)(rows + j * (int64_t)sizeof(TYPE));        \
            for (int64_t i = 1; i < n; i++) {                                                       \
                const TYPE code = *(const TYPE *)(const void *)(rows + i * stride + j * (int64_t)sizeof(TYPE));  \
                lo[j] = code < lo[j] ? code : lo[j];                                                \
                hi[j] = code > hi[j] ? code : hi[j];                                                \
            }                                                                                       \
        }                                                                                           \
    }
#endif
NBC_EXTREMES(u8, uint8_t)
NBC_EXTREMES(u16, uint16_t)
NBC_EXTREMES(u32, uint32_t)
#undef NBC_EXTREMES

/* Records of 16 bytes with codes of one: four at a time. */
NBC_INLINE void nbc_extremes_four(const char *rows, int64_t n, int64_t count, int64_t *lo, int64_t *hi)
{
#if defined(__GNUC__)
    typedef uint8_t lanes __attribute__((vector_size(64)));
    if (n >= 16) {
        lanes least, most, next;
        uint8_t lows[64], highs[64];
        memcpy(&least, rows, 64);
        most = least;
        for (int64_t i = 4; i + 4 <= n; i += 4) {
            memcpy(&next, rows + 16 * i, 64);
            const lanes below = (lanes)(next < least), above = (lanes)(next > most);
            least = (next & below) | (least & ~below);
            most = (next & above) | (most & ~above);
        }
        /* The last four, some of them for the second time. */
        memcpy(&next, rows + 16 * (n - 4), 64);
        const lanes below = (lanes)(next < least), above = (lanes)(next > most);
        least = (next & below) | (least & ~below);
        most = (next & above) | (most & ~above);
        memcpy(lows, &least, 64);
        memcpy(highs, &most, 64);
        for (int64_t j = 0; j < count; j++) {
            int64_t low = lows[j], high = highs[j];
            for (int64_t row = 1; row < 4; row++) {
                low = lows[16 * row + j] < low ? lows[16 * row + j] : low;
                high = highs[16 * row + j] > high ? highs[16 * row + j] : high;
            }
            lo[j] = low;
            hi[j] = high;
        }
        return;
    }
#endif
    nbc_extremes_u8(rows, n, 16, count, lo, hi);
}

NBC_CLONES static void nbc_extremes(const char *rows, int64_t n, int64_t stride, int64_t width, int64_t count,
                                    int64_t *lo, int64_t *hi)
{
    if (width == 1 && stride == 16)
        nbc_extremes_four(rows, n, count, lo, hi);
    else if (width == 1)
        nbc_extremes_u8(rows, n, stride, count, lo, hi);
    else if (width == 2)
        nbc_extremes_u16(rows, n, stride, count, lo, hi);
    else
        nbc_extremes_u32(rows, n, stride, count, lo, hi);
}

/* ---- where to cut ---- */

/* An ordered cut: the last code on the left, and how many rows and people it leaves there. */
typedef struct {
    int64_t last, rows, people;
} nbc_cut_t;

/* The cut nearest to the middle, given for the lower median v the people (and rows) up to v and below it. */
static nbc_cut_t nbc_nearer(int64_t v, int64_t lo, int64_t hi, int64_t people, nbc_cut_t upto, nbc_cut_t below)
{
    const nbc_i128 over = 2 * (nbc_i128)upto.people - people, under = people - 2 * (nbc_i128)below.people;
    if (v < hi && (v == lo || over <= under)) {
        upto.last = v;
        return upto;
    }
    below.last = v - 1;
    return below;
}

NBC_INLINE void nbc_histogram_u8(const char *rows, int64_t n, int64_t stride, int64_t attribute, int64_t lo, int64_t hi,
                                 int64_t *counts)
{
    /* Two tables of 32 bits: the next row's code is often the same, and its increment would wait for this one's. */
    uint32_t hist[2][256];
    while (n > 0) {
        const int64_t part = n < ((int64_t)1 << 31) ? n : (int64_t)1 << 31;
        int64_t i = 0;
        memset(&hist[0][lo], 0, (size_t)(hi - lo + 1) * sizeof(uint32_t));
        memset(&hist[1][lo], 0, (size_t)(hi - lo + 1) * sizeof(uint32_t));
        for (; i + 4 <= part; i += 4) {
            const uint8_t a = (uint8_t)rows[i * stride + attribute], b = (uint8_t)rows[(i + 1) * stride + attribute];
            const uint8_t c = (uint8_t)rows[(i + 2) * stride + attribute];
            const uint8_t d = (uint8_t)rows[(i + 3) * stride + attribute];
            hist[0][a]++;
            hist[1][b]++;
            hist[0][c]++;
            hist[1][d]++;
        }
        for (; i < part; i++)
            hist[0][(uint8_t)rows[i * stride + attribute]]++;
        for (int64_t code = lo; code <= hi; code++)
            counts[code - lo] += (int64_t)hist[0][code] + hist[1][code];
        rows += part * stride;
        n -= part;
    }
}

/* 0, or NBC_NO_RECORDS at a code beyond. */
NBC_INLINE int nbc_histogram_wide(const char *rows, int64_t n, int64_t stride, int64_t attribute, int64_t lo,
                                  int64_t range, int64_t *counts, int64_t width)
{
    for (const char *record = rows, *end = rows + n * stride; record != end; record += stride) {
        const uint64_t code = nbc_code_at(record, attribute, width) - (uint64_t)lo;
        if (code >= (uint64_t)range)
            return NBC_NO_RECORDS;
        counts[code]++;
    }
    return 0;
}

/* How many of up to 64 bytes, padded with 255, are at most v < 255. */
NBC_INLINE int64_t nbc_upto_64(const uint8_t *codes, uint8_t v)
{
    uint8_t sum = 0;
    for (int j = 0; j < 64; j++)
        sum = (uint8_t)(sum + (codes[j] <= v));
    return sum;
}

NBC_CLONES static nbc_cut_t nbc_cut_few(const char *rows, int64_t n, int64_t stride, int64_t attribute, int64_t lo,
                                        int64_t hi)
{
    uint8_t codes[64];
    int64_t low = lo, high = hi;
    nbc_cut_t upto = {0, 0, 0}, below = {0, 0, 0};
    memset(codes, 255, sizeof codes);
    for (int64_t i = 0; i < n; i++)
        codes[i] = (uint8_t)rows[i * stride + attribute];
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (2 * nbc_upto_64(codes, (uint8_t)middle) >= n)
            high = middle;
        else
            low = middle + 1;
    }
    upto.rows = upto.people = low < hi ? nbc_upto_64(codes, (uint8_t)low) : n;
    below.rows = below.people = low > lo ? nbc_upto_64(codes, (uint8_t)(low - 1)) : 0;
    return nbc_nearer(low, lo, hi, n, upto, below);
}

/* The same by bisection over codes: for few rows with a wide range. */
NBC_INLINE nbc_cut_t nbc_upto(const uint32_t *codes, const int64_t *weights, int64_t n, uint32_t v)
{
    nbc_cut_t found = {0, 0, 0};
    if (weights == NULL) {
        int64_t sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += codes[i] <= v;
        found.rows = found.people = sum;
        return found;
    }
    for (int64_t i = 0; i < n; i++) {
        found.rows += codes[i] <= v;
        found.people += codes[i] <= v ? weights[i] : 0;
    }
    return found;
}

NBC_CLONES static int nbc_cut_wide(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                                   int64_t attribute, int64_t lo, int64_t hi, nbc_cut_t *cut)
{
    int64_t low = lo, high = hi;
    nbc_cut_t upto = {0, 0, 0}, below = {0, 0, 0};
    s->codes.n = s->weights.n = 0;
    if (nbc_bytes_more(&s->codes, 4 * n) || (q->weighted && nbc_longs_more(&s->weights, n)))
        return NBC_NO_MEMORY;
    uint32_t *codes = (uint32_t *)(void *)s->codes.at;
    int64_t *weights = q->weighted ? s->weights.at : NULL, room = NBC_MOST_PEOPLE;
    for (int64_t i = 0; i < n; i++) {
        codes[i] = (uint32_t)nbc_code_at(rows + i * q->stride, attribute, q->width);
        if (weights != NULL) {
            weights[i] = nbc_i64_once(rows + i * q->stride, q->weight_at);
            if (weights[i] < 1 || weights[i] > room)
                return NBC_NO_RECORDS;
            room -= weights[i];
        }
    }
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (2 * (nbc_i128)nbc_upto(codes, weights, n, (uint32_t)middle).people >= people)
            high = middle;
        else
            low = middle + 1;
    }
    upto = nbc_upto(codes, weights, n, (uint32_t)low);
    if (low > lo)
        below = nbc_upto(codes, weights, n, (uint32_t)(low - 1));
    *cut = nbc_nearer(low, lo, hi, people, upto, below);
    return 0;
}

/* From the people and rows of each code, codes lo .. hi: fewer people in all where records were written to since. */
static nbc_cut_t nbc_cut_counts(const int64_t *people_of, const int64_t *rows_of, int64_t people, int64_t lo, int64_t hi)
{
    nbc_cut_t upto = {0, 0, 0}, below = {0, 0, 0};
    int64_t v = lo;
    for (;; v++) {
        below = upto;
        upto.people += people_of[v - lo];
        upto.rows += rows_of[v - lo];
        if (v >= hi || 2 * (nbc_i128)upto.people >= people)
            break;
    }
    return nbc_nearer(v, lo, hi, people, upto, below);
}

/* The people (and rows) of each code from lo to hi in codes_hist: first the people, then, where rows are weighted,
   the rows; `rows_at` is where the rows stand. 0, NBC_NO_MEMORY, or NBC_NO_RECORDS at a code beyond. */
NBC_CLONES static int nbc_code_counts(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n,
                                      int64_t attribute, int64_t lo, int64_t hi, const nbc_joint *joint,
                                      const int64_t *first, const int64_t **rows_at)
{
    const int64_t range = hi - lo + 1;
    s->codes_hist.n = 0;
    if (nbc_longs_more(&s->codes_hist, 2 * range))
        return NBC_NO_MEMORY;
    int64_t *people_of = s->codes_hist.at, *rows_of = q->weighted ? people_of + range : people_of;
    *rows_at = rows_of;
    int64_t room = NBC_MOST_PEOPLE;
    memset(people_of, 0, (size_t)(2 * range) * sizeof(int64_t));
    if (joint != NULL) {
        for (int64_t code = lo; code <= hi; code++) {
            const int64_t *of_values = joint->people + (first[attribute] + code) * q->n_values;
            int64_t sum = 0;
            for (int64_t v = 0; v < q->n_values; v++)
                sum += of_values[v];
            people_of[code - lo] = sum;
            if (q->weighted)
                rows_of[code - lo] = joint->rows[first[attribute] + code];
        }
    } else if (q->weighted) {
        for (int64_t i = 0; i < n; i++) {
            const char *record = rows + i * q->stride;
            const uint64_t code = nbc_code_at(record, attribute, q->width) - (uint64_t)lo;
            const int64_t weight = nbc_i64_once(record, q->weight_at);
            if (code >= (uint64_t)range || weight < 1 || weight > room)
                return NBC_NO_RECORDS;
            room -= weight;
            people_of[code] += weight;
            rows_of[code]++;
        }
    } else if (q->width == 1 && q->stride == 16) {
        nbc_histogram_u8(rows, n, 16, attribute, lo, hi, people_of);
    } else if (q->width == 1) {
        nbc_histogram_u8(rows, n, q->stride, attribute, lo, hi, people_of);
    } else if (q->width == 2) {
        return nbc_histogram_wide(rows, n, q->stride, attribute, lo, range, people_of, 2);
    } else {
        return nbc_histogram_wide(rows, n, q->stride, attribute, lo, range, people_of, 4);
    }
    return 0;
}

/* The deepest node of a hierarchy that holds the codes lo .. hi. */
static int64_t nbc_holding(const nbc_branch *tree, int64_t lo, int64_t hi)
{
    int64_t node = 0;
    for (;;) {
        int64_t low = tree[node].first, high = low + tree[node].n_children;
        if (low == high)
            return node;
        while (high - low > 1) { /* the last child that starts at lo or before */
            const int64_t middle = (low + high) / 2;
            if (tree[middle].lo <= lo)
                low = middle;
            else
                high = middle;
        }
        if (tree[low].hi < hi)
            return node;
        node = low;
    }
}

/* The parts that splitting the node by this attribute makes, as the last kids. The box is the node's. 0,
   NBC_NO_MEMORY or NBC_NO_RECORDS. */
static int nbc_parts(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                     int64_t attribute, int64_t lo, int64_t hi, const uint32_t *box, const nbc_joint *joint,
                     const int64_t *first, int64_t *n_kids)
{
    const nbc_quasi *quasi = &q->quasi[attribute];
    if (quasi->tree != NULL) {
        const nbc_branch *node = &quasi->tree[nbc_holding(quasi->tree, lo, hi)];
        const int64_t *rows_of;
        const int failed =
            nbc_code_counts(q, s, rows, n, attribute, node->lo, node->hi, joint, first, &rows_of);
        const int64_t *people_of = s->codes_hist.at;
        if (failed)
            return failed;
        if (nbc_kids_more(&s->kids, node->n_children))
            return NBC_NO_MEMORY;
        *n_kids = 0;
        for (int64_t j = node->first; j < node->first + node->n_children; j++) {
            nbc_kid kid = {quasi->tree[j].lo, quasi->tree[j].hi, 0, 0};
            for (int64_t code = kid.lo; code <= kid.hi; code++) {
                kid.rows += rows_of[code - node->lo];
                kid.people += people_of[code - node->lo];
            }
            if (kid.people)
                s->kids.at[s->kids.n + (*n_kids)++] = kid;
        }
        return *n_kids ? 0 : NBC_NO_RECORDS;
    }
    nbc_cut_t cut;
    if (joint == NULL && q->width == 1 && !q->weighted && n <= 64) {
        cut = nbc_cut_few(rows, n, q->stride, attribute, lo, hi);
    } else if (joint == NULL && (hi - lo) / 2 > n) {
        const int failed = nbc_cut_wide(q, s, rows, n, people, attribute, lo, hi, &cut);
        if (failed)
            return failed;
    } else {
        const int64_t *rows_of;
        const int failed = nbc_code_counts(q, s, rows, n, attribute, lo, hi, joint, first, &rows_of);
        if (failed)
            return failed;
        cut = nbc_cut_counts(s->codes_hist.at, rows_of, people, lo, hi);
    }
    if (nbc_kids_more(&s->kids, 2))
        return NBC_NO_MEMORY;
    s->kids.at[s->kids.n] = (nbc_kid){box[2 * attribute], cut.last, cut.rows, cut.people};
    s->kids.at[s->kids.n + 1] = (nbc_kid){cut.last + 1, box[2 * attribute + 1], n - cut.rows, people - cut.people};
    *n_kids = 2;
    return 0;
}

/* Which part a code belongs to: the last one that does not start behind it. */
NBC_INLINE int64_t nbc_kid_of(const nbc_kid *kids, int64_t n_kids, int64_t code)
{
    if (n_kids == 2)
        return code >= kids[1].lo;
    int64_t low = 0, high = n_kids;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (kids[middle].lo <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* hist[kid x size + value] += people; the cells in use are listed in `touched` unless every cell will be read.
   0, or NBC_NO_RECORDS at a value or a weight that cannot be. */
NBC_INLINE int nbc_tally(const nbc_problem *q, const char *rows, int64_t n, int64_t attribute, const nbc_kid *kids,
                          int64_t n_kids, int64_t size, int64_t value_at, int64_t *hist, nbc_longs *touched,
                          int64_t width, int64_t stride, int64_t weighted, int64_t all_cells)
{
    /* Locals, as members would be fetched again after every store. */
    const int64_t border = n_kids == 2 ? kids[1].lo : 0, weight_at = q->weight_at;
    int64_t room = NBC_MOST_PEOPLE;
    const char *record = rows, *const end = rows + n * stride;
    for (; record != end; record += stride) {
        const int64_t code = (int64_t)nbc_code_at(record, attribute, width);
        const int64_t value = nbc_u32_at(record, value_at);
        const int64_t cell =
            value + (n_kids == 2 ? size & -(int64_t)(code >= border) : size * nbc_kid_of(kids, n_kids, code));
        const int64_t weight = weighted ? nbc_i64_once(record, weight_at) : 1;
        if (value >= size || (weighted && (weight < 1 || weight > room)))
            return NBC_NO_RECORDS;
        room -= weighted ? weight : 0;
        if (!all_cells && hist[cell] == 0)
            touched->at[touched->n++] = cell;
        hist[cell] += weight;
    }
    return 0;
}

NBC_CLONES static int nbc_tally_any(const nbc_problem *q, const char *rows, int64_t n, int64_t attribute,
                                     const nbc_kid *kids, int64_t n_kids, int64_t size, int64_t value_at, int64_t *hist,
                                     nbc_longs *touched, int64_t all_cells)
{
    if (q->width == 1 && q->stride == 16 && !q->weighted && n_kids == 2 && all_cells)
        return nbc_tally(q, rows, n, attribute, kids, 2, size, value_at, hist, touched, 1, 16, 0, 1);
    if (q->width == 1)
        return nbc_tally(q, rows, n, attribute, kids, n_kids, size, value_at, hist, touched, 1, q->stride,
                         q->weighted, all_cells);
    return nbc_tally(q, rows, n, attribute, kids, n_kids, size, value_at, hist, touched, q->width, q->stride,
                     q->weighted, all_cells);
}

/* Whether these records stand for so many people: weights of at least 1 that add up. */
static int nbc_weights_fit(const nbc_problem *q, const char *rows, int64_t n, int64_t people)
{
    int64_t left = people;
    if (!q->weighted)
        return n == people;
    for (int64_t i = 0; i < n; i++) {
        const int64_t weight = nbc_i64_at(rows + i * q->stride, q->weight_at);
        if (weight < 1 || weight > left)
            return 0;
        left -= weight;
    }
    return left == 0;
}

static int nbc_by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whether these parts keep all local demands; leaves their challenges to the shared ones behind. */
static int nbc_parts_safe(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t attribute,
                          const nbc_kid *kids, int64_t n_kids, const nbc_joint *joint, const int64_t *first)
{
    for (int64_t j = 0; j < n_kids; j++)
        if (kids[j].people < q->least_people)
            return 0;
    if (!q->needs_values)
        return 1;
    const int64_t cells = n_kids * q->n_values, all_cells = joint != NULL || cells <= 4 * n;
    int64_t *hist = s->hist.at;
    int safe = 1;
    s->touched.n = 0;
    if (nbc_longs_more(&s->touched, all_cells ? 0 : n) || nbc_counts_more(&s->counts, q->n_values))
        return NBC_NO_MEMORY;
    if (joint != NULL) {
        for (int64_t j = 0; j < n_kids; j++)
            for (int64_t code = kids[j].lo; code <= kids[j].hi; code++)
                for (int64_t v = 0; v < q->n_values; v++)
                    hist[j * q->n_values + v] += joint->people[(first[attribute] + code) * q->n_values + v];
    } else {
        safe = nbc_tally_any(q, rows, n, attribute, kids, n_kids, q->n_values, q->sensitive_at, hist, &s->touched,
                             all_cells) ? NBC_NO_RECORDS : 1;
    }
    if (!all_cells)
        qsort(s->touched.at, (size_t)s->touched.n, sizeof(int64_t), nbc_by_size);
    for (int64_t j = 0, t = 0; j < n_kids && safe == 1; j++) {
        nbc_count *counts = s->counts.at;
        int64_t n_counts = 0;
        const int64_t *of_kid = hist + j * q->n_values;
        if (all_cells) {
            for (int64_t v = 0; v < q->n_values; v++) {
                counts[n_counts] = (nbc_count){v, of_kid[v]};
                n_counts += of_kid[v] != 0;
            }
        } else {
            for (; t < s->touched.n && s->touched.at[t] < (j + 1) * q->n_values; t++) {
                const int64_t v = s->touched.at[t] - j * q->n_values;
                counts[n_counts++] = (nbc_count){v, of_kid[v]};
            }
        }
        safe = nbc_part_safe(q, s, counts, n_counts, kids[j].people, s->tops.at, s->prefix.at);
        if (safe == 1 && q->any_shared
            && nbc_challenge_all(q, s, counts, n_counts, kids[j].people, s->tops.at, s->prefix.at))
            safe = NBC_NO_MEMORY;
    }
    if (all_cells)
        memset(hist, 0, (size_t)cells * sizeof(int64_t));
    else
        for (int64_t t = 0; t < s->touched.n; t++)
            hist[s->touched.at[t]] = 0;
    return safe;
}

/* ---- which attribute first ---- */

/* log2(n) in units of 2^-24: digit by digit, squaring a number of 63 binary places that is rounded down. */
static int64_t nbc_log2_24(uint64_t n)
{
    int64_t result = 0;
    uint64_t rest = n, y;
    while (rest >>= 1)
        result++;
    y = n << (63 - result);
    for (int i = 0; i < 24; i++) {
        const nbc_u128 square = ((nbc_u128)y * y) >> 63;
        result <<= 1;
        if (square >> 64) {
            y = (uint64_t)(square >> 1);
            result |= 1;
        } else {
            y = (uint64_t)square;
        }
    }
    return result;
}

NBC_INLINE nbc_i128 nbc_n_log_n(int64_t n)
{
    return n ? (nbc_i128)n * nbc_log2_24((uint64_t)n) : 0;
}

/* What a split by these parts tells of the target: the sum over parts of sum f(n_t) - f(n), f(n) = n log2 n. It
   differs from the information gain, times the people, by what is the same for all attributes. */
static int nbc_gain_of(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t attribute,
                       const nbc_kid *kids, int64_t n_kids, const nbc_joint *joint, const int64_t *first,
                       nbc_i128 *gain)
{
    const int64_t cells = n_kids * q->n_targets;
    s->target_hist.n = 0;
    if (nbc_longs_more(&s->target_hist, cells))
        return NBC_NO_MEMORY;
    int64_t *hist = s->target_hist.at;
    memset(hist, 0, (size_t)cells * sizeof(int64_t));
    if (joint != NULL) {
        for (int64_t j = 0; j < n_kids; j++)
            for (int64_t code = kids[j].lo; code <= kids[j].hi; code++)
                for (int64_t t = 0; t < q->n_targets; t++)
                    hist[j * q->n_targets + t] += joint->targets[(first[attribute] + code) * q->n_targets + t];
    } else {
        if (nbc_tally_any(q, rows, n, attribute, kids, n_kids, q->n_targets, q->target_at, hist, &s->touched, 1))
            return NBC_NO_RECORDS;
    }
    *gain = 0;
    for (int64_t j = 0; j < n_kids; j++) {
        for (int64_t t = 0; t < q->n_targets; t++)
            *gain += nbc_n_log_n(hist[j * q->n_targets + t]);
        *gain -= nbc_n_log_n(kids[j].people);
    }
    return 0;
}

/* The attributes with more than one code, in the order they are tried: the greatest gain, then the widest, then
   the first. Returns how many, NBC_NO_MEMORY or NBC_NO_RECORDS. */
static int64_t nbc_order_attributes(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                                    const uint32_t *box, const nbc_joint *joint, const int64_t *first)
{
    int64_t *lo = s->lo.at, *hi = s->hi.at, *order = s->order.at, *width = s->width.at, n_order = 0;
    if (joint != NULL) {
        for (int64_t a = 0; a < q->n_quasi; a++) {
            lo[a] = 0;
            hi[a] = q->quasi[a].size - 1;
            while (lo[a] < hi[a] && joint->rows[first[a] + lo[a]] == 0)
                lo[a]++;
            while (lo[a] < hi[a] && joint->rows[first[a] + hi[a]] == 0)
                hi[a]--;
        }
    } else {
        nbc_extremes(rows, n, q->stride, q->width, q->n_quasi, lo, hi);
        if (!nbc_weights_fit(q, rows, n, people))
            return NBC_NO_RECORDS;
    }
    for (int64_t a = 0; a < q->n_quasi; a++) {
        int64_t j = n_order;
        if (lo[a] == hi[a])
            continue;
        if (hi[a] >= q->quasi[a].size)
            return NBC_NO_RECORDS;
        width[a] = q->quasi[a].position[hi[a]] - q->quasi[a].position[lo[a]];
        if (q->by_gain) {
            int64_t n_kids;
            int failed = nbc_parts(q, s, rows, n, people, a, lo[a], hi[a], box, joint, first, &n_kids);
            if (!failed)
                failed = nbc_gain_of(q, s, rows, n, a, s->kids.at + s->kids.n, n_kids, joint, first, &s->gain[a]);
            if (failed)
                return failed;
            while (j > 0 && (s->gain[a] > s->gain[order[j - 1]]
                             || (s->gain[a] == s->gain[order[j - 1]] && width[a] > width[order[j - 1]]))) {
                order[j] = order[j - 1];
                j--;
            }
        } else {
            while (j > 0 && width[a] > width[order[j - 1]]) {
                order[j] = order[j - 1];
                j--;
            }
        }
        order[j] = a;
        n_order++;
    }
    return n_order;
}

/* The first attribute from `rank` on whose parts keep the local demands: NBC_SPLIT, NBC_WHOLE, NBC_NO_MEMORY or
   NBC_NO_RECORDS. */
static int nbc_evaluate(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                        const uint32_t *box, int64_t rank, const nbc_joint *joint, const int64_t *first,
                        nbc_plan_t *plan)
{
    plan->attribute = -1;
    plan->n_kids = plan->n_challenges = 0;
    if (n < 2 || people / 2 < q->least_people)
        return NBC_WHOLE;
    const int64_t n_order = nbc_order_attributes(q, s, rows, n, people, box, joint, first);
    if (n_order < 0)
        return (int)n_order;
    for (; rank < n_order; rank++) {
        const int64_t a = s->order.at[rank], first_challenge = s->challenges.n;
        int64_t n_kids;
        const int failed =
            nbc_parts(q, s, rows, n, people, a, s->lo.at[a], s->hi.at[a], box, joint, first, &n_kids);
        if (failed)
            return failed;
        const int safe = nbc_parts_safe(q, s, rows, n, a, s->kids.at + s->kids.n, n_kids, joint, first);
        if (safe < 0)
            return safe;
        if (!safe) {
            s->challenges.n = first_challenge;
            continue;
        }
        plan->attribute = a;
        plan->rank = rank;
        plan->first_kid = s->kids.n;
        plan->n_kids = n_kids;
        s->kids.n += n_kids;
        plan->first_challenge = first_challenge;
        plan->n_challenges = s->challenges.n - first_challenge;
        return NBC_SPLIT;
    }
    return NBC_WHOLE;
}

/* ---- moving rows ---- */

/* Rows to one of two parts, from these places on; how many went left. */
NBC_INLINE int64_t nbc_move_run(const char *restrict rows, char *restrict out, int64_t n, int64_t attribute,
                                int64_t border, int64_t to_left, int64_t to_right, int64_t width, int64_t stride)
{
    int64_t left = to_left, right = to_right;
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * stride;
        const int64_t goes = (int64_t)nbc_code_at(record, attribute, width) >= border;
        /* Not a branch: it would be guessed wrong every other time. */
        memcpy(out + (left + ((right - left) & -goes)) * stride, record, (size_t)stride);
        left += 1 - goes;
        right += goes;
    }
    return left - to_left;
}

NBC_INLINE int nbc_move_two(const char *restrict rows, char *restrict out, int64_t n, int64_t attribute,
                                    int64_t border, int64_t n_left, int64_t width, int64_t stride)
{
    int64_t left = 0, right = n_left, i = 0;
    while (i < n) {
        /* So many rows find room wherever they go. */
        const int64_t room = n_left - left < n - right ? n_left - left : n - right;
        if (room < 16)
            break;
        const int64_t went = nbc_move_run(rows + i * stride, out, room, attribute, border, left, right, width, stride);
        left += went;
        right += room - went;
        i += room;
    }
    for (; i < n; i++) {
        const char *record = rows + i * stride;
        const int64_t goes = (int64_t)nbc_code_at(record, attribute, width) >= border;
        const int64_t to = left + ((right - left) & -goes);
        if (to >= n_left + ((n - n_left) & -goes))
            return NBC_NO_RECORDS;
        memcpy(out + to * stride, record, (size_t)stride);
        left += 1 - goes;
        right += goes;
    }
    return 0;
}

/* The rows of a node to its parts, one after the other, in the order they have. `ends` has room for 2 n_kids.
   0, or NBC_NO_RECORDS where other rows were counted. */
NBC_CLONES static int nbc_move(const nbc_problem *q, const char *restrict rows, char *restrict out, int64_t n,
                               int64_t attribute, const nbc_kid *kids, int64_t n_kids, int64_t *ends)
{
    if (n_kids == 2) {
        if (q->width == 1 && q->stride == 16)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 1, 16);
        if (q->width == 1)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 1, q->stride);
        if (q->width == 2 && q->stride == 32)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 2, 32);
        return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, q->width, q->stride);
    }
    int64_t *stops = ends + n_kids;
    for (int64_t j = 0; j < n_kids; j++) {
        ends[j] = j ? stops[j - 1] : 0;
        stops[j] = ends[j] + kids[j].rows;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * q->stride;
        const int64_t kid = nbc_kid_of(kids, n_kids, (int64_t)nbc_code_at(record, attribute, q->width));
        if (ends[kid] == stops[kid])
            return NBC_NO_RECORDS;
        memcpy(out + ends[kid]++ * q->stride, record, (size_t)q->stride);
    }
    return 0;
}

/* ---- leaves ---- */

static int nbc_add_leaf(const nbc_problem *q, nbc_scratch *s, int64_t start, int64_t rows, int64_t people,
                        int64_t level, const uint32_t *box)
{
    if (nbc_leaves_more(&s->leaves, 1) || nbc_words_more(&s->boxes, 2 * q->n_quasi))
        return NBC_NO_MEMORY;
    s->leaves.at[s->leaves.n++] = (nbc_leaf){start, rows, people, level};
    memcpy(s->boxes.at + s->boxes.n, box, (size_t)(2 * q->n_quasi) * sizeof(uint32_t));
    s->boxes.n += 2 * q->n_quasi;
    return 0;
}

/* Append to `found` how many people of these rows have each value, values rising. Returns the number of pairs,
   NBC_NO_MEMORY or NBC_NO_RECORDS. */
static int64_t nbc_count_leaf(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n)
{
    const nbc_kid all = {0, 0, 0, 0};
    const int64_t all_cells = q->n_values <= 4 * n;
    const int64_t before = s->found.n;
    int64_t *hist = s->hist.at;
    s->touched.n = 0;
    if (nbc_longs_more(&s->touched, all_cells ? 0 : n))
        return NBC_NO_MEMORY;
    if (nbc_counts_more(&s->found, n < q->n_values ? n + 1 : q->n_values))
        return NBC_NO_MEMORY;
    if (nbc_tally_any(q, rows, n, 0, &all, 1, q->n_values, q->sensitive_at, hist, &s->touched, all_cells)) {
        if (all_cells)
            memset(hist, 0, (size_t)q->n_values * sizeof(int64_t));
        else
            for (int64_t t = 0; t < s->touched.n; t++)
                hist[s->touched.at[t]] = 0;
        return NBC_NO_RECORDS;
    }
    if (all_cells) {
        for (int64_t v = 0; v < q->n_values; v++)
            if (hist[v])
                s->found.at[s->found.n++] = (nbc_count){v, hist[v]};
        memset(hist, 0, (size_t)q->n_values * sizeof(int64_t));
    } else {
        qsort(s->touched.at, (size_t)s->touched.n, sizeof(int64_t), nbc_by_size);
        for (int64_t t = 0; t < s->touched.n; t++) {
            const int64_t v = s->touched.at[t];
            s->found.at[s->found.n++] = (nbc_count){v, hist[v]};
            hist[v] = 0;
        }
    }
    return s->found.n - before;
}

/* Split a node and its parts down to leaves; for demands that no other group shares. The rows stand in `rows` and
   change places with `other` from level to level. Positions count from the node's first row, `start` is its place
   in the whole. */
static int nbc_finish(const nbc_problem *q, nbc_scratch *s, char *rows, char *other, int64_t start, int64_t n,
                      int64_t people, int64_t level, const uint32_t *box)
{
    const int64_t words = 2 * q->n_quasi, top = level;
    const int64_t kids_before = s->kids.n; /* of nodes that were evaluated before and are still to be split */
    int failed = 0;
    s->stack.n = s->stack_boxes.n = 0;
    if (nbc_longs_more(&s->stack, 4) || nbc_words_more(&s->stack_boxes, 2 * words))
        return NBC_NO_MEMORY;
    memcpy(s->stack.at, (int64_t[4]){0, n, people, level}, 4 * sizeof(int64_t));
    memcpy(s->stack_boxes.at, box, (size_t)words * sizeof(uint32_t));
    s->stack.n = 4;
    s->stack_boxes.n = words;
    while (s->stack.n && !failed) {
        nbc_plan_t plan;
        s->stack.n -= 4;
        s->stack_boxes.n -= words;
        const int64_t at = s->stack.at[s->stack.n], size = s->stack.at[s->stack.n + 1];
        const int64_t weight = s->stack.at[s->stack.n + 2], depth = s->stack.at[s->stack.n + 3];
        const int64_t odd = (depth - top) & 1;
        char *from = (odd ? other : rows) + at * q->stride, *to = (odd ? rows : other) + at * q->stride;
        s->kids.n = kids_before;
        const int found =
            nbc_evaluate(q, s, from, size, weight, s->stack_boxes.at + s->stack_boxes.n, 0, NULL, NULL, &plan);
        if (found < 0)
            return found;
        if (found == NBC_WHOLE) {
            failed = nbc_add_leaf(q, s, start + at, size, weight, depth, s->stack_boxes.at + s->stack_boxes.n);
            continue;
        }
        if (nbc_longs_more(&s->undo_at, 2 * plan.n_kids) || nbc_longs_more(&s->stack, 4 * plan.n_kids)
            || nbc_words_more(&s->stack_boxes, words * (plan.n_kids + 1)))
            return NBC_NO_MEMORY;
        const nbc_kid *kids = s->kids.at + plan.first_kid;
        failed = nbc_move(q, from, to, size, plan.attribute, kids, plan.n_kids, s->undo_at.at);
        if (failed)
            break;
        /* The box of the node stands where that of its last part will: it moves to the end, out of the way. */
        uint32_t *boxes = s->stack_boxes.at + s->stack_boxes.n, *own = boxes + words * plan.n_kids;
        memcpy(own, boxes, (size_t)words * sizeof(uint32_t));
        int64_t end = at + size;
        for (int64_t j = plan.n_kids - 1, place = 0; j >= 0; j--, place++) {
            uint32_t *kid_box = boxes + words * place;
            end -= kids[j].rows;
            memcpy(s->stack.at + s->stack.n, (int64_t[4]){end, kids[j].rows, kids[j].people, depth + 1},
                   4 * sizeof(int64_t));
            memcpy(kid_box, own, (size_t)words * sizeof(uint32_t));
            kid_box[2 * plan.attribute] = (uint32_t)kids[j].lo;
            kid_box[2 * plan.attribute + 1] = (uint32_t)kids[j].hi;
            s->stack.n += 4;
        }
        s->stack_boxes.n += words * plan.n_kids;
    }
    s->kids.n = kids_before;
    return failed;
}

/* ---- making records ---- */

NBC_INLINE void nbc_put_code(char *at, int64_t width, uint32_t code)
{
    if (width == 1) {
        *(uint8_t *)at = (uint8_t)code;
    } else if (width == 2) {
        const uint16_t narrow = (uint16_t)code;
        memcpy(at, &narrow, 2);
    } else {
        memcpy(at, &code, 4);
    }
}

#define NBC_FILL(NAME, TYPE)                                                                        \
    NBC_INLINE int64_t nbc_fill_##NAME(const nbc_column *column, const uint32_t *map, int64_t row, int64_t n,   \
                                       char *out, int64_t stride, int64_t width)                    \
    {                                                                                               \
        const uint64_t limit = (uint64_t)column->limit;                                             \
        const char *from = column->data + row * column->stride;                                     \
        for (int64_t i = 0; i < n; i++) {                                                           \
            const uint64_t code = *(const TYPE *)(const void *)(from + i * column->stride);         \
            if (code >= limit)                                                                      \
                return row + i;                                                                     \
            nbc_put_code(out + i * stride, width, map == NULL ? (uint32_t)code : map[code]);        \
        }                                                                                           \
        return -1;                                                                                  \
    }
NBC_FILL(u8, uint8_t)
NBC_FILL(u16, uint16_t)
NBC_FILL(u32, uint32_t)
NBC_FILL(u64, uint64_t)
#undef NBC_FILL

/* Write the mapped codes of a column (NULL: as they are) at `out`, from record to record; the first row whose
   code is out of range, or -1. */
static int64_t nbc_fill(const nbc_column *column, const uint32_t *map, int64_t row, int64_t n, char *out,
                        int64_t stride, int64_t width)
{
    switch (column->width * 8 + width) {
    case 9: return nbc_fill_u8(column, map, row, n, out, stride, 1);
    case 10: return nbc_fill_u8(column, map, row, n, out, stride, 2);
    case 12: return nbc_fill_u8(column, map, row, n, out, stride, 4);
    case 17: return nbc_fill_u16(column, map, row, n, out, stride, 1);
    case 18: return nbc_fill_u16(column, map, row, n, out, stride, 2);
    case 20: return nbc_fill_u16(column, map, row, n, out, stride, 4);
    case 33: return nbc_fill_u32(column, map, row, n, out, stride, 1);
    case 34: return nbc_fill_u32(column, map, row, n, out, stride, 2);
    case 36: return nbc_fill_u32(column, map, row, n, out, stride, 4);
    case 65: return nbc_fill_u64(column, map, row, n, out, stride, 1);
    case 66: return nbc_fill_u64(column, map, row, n, out, stride, 2);
    default: return nbc_fill_u64(column, map, row, n, out, stride, 4);
    }
}

/* Add these rows to the counts of a large node. 0, or NBC_NO_RECORDS. */
static int nbc_gather(const nbc_problem *q, const char *rows, int64_t n, const int64_t *first, const nbc_joint *joint)
{
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * q->stride;
        const int64_t value = nbc_u32_at(record, q->sensitive_at);
        const int64_t target = q->n_targets ? (int64_t)nbc_u32_at(record, q->target_at) : -1;
        const int64_t weight = q->weighted ? nbc_i64_at(record, q->weight_at) : 1;
        if (value >= q->n_values || target >= q->n_targets || weight < 1)
            return NBC_NO_RECORDS;
        for (int64_t a = 0; a < q->n_quasi; a++) {
            const int64_t code = (int64_t)nbc_code_at(record, a, q->width), cell = first[a] + code;
            if (code >= q->quasi[a].size)
                return NBC_NO_RECORDS;
            /* Without sign: the counts are arrays that anyone can write to, and looked at before they are used. */
            uint64_t *people = (uint64_t *)joint->people + cell * q->n_values + value;
            ((uint64_t *)joint->rows)[cell]++;
            *people += (uint64_t)weight;
            if (q->n_targets)
                ((uint64_t *)joint->targets)[cell * q->n_targets + target] += (uint64_t)weight;
        }
    }
    return 0;
}

/* Whether these are the counts of a node of n rows and so many people: for every attribute they add up, codes
   without rows have no people and others at least as many as rows, and boxes lie among the codes. */
static int nbc_joint_fits(const nbc_problem *q, const nbc_joint *joint, const int64_t *first, int64_t n, int64_t people,
                          const uint32_t *box)
{
    for (int64_t a = 0; a < q->n_quasi; a++) {
        int64_t rows_left = n, people_left = people;
        if (box[2 * a] > box[2 * a + 1] || box[2 * a + 1] >= q->quasi[a].size)
            return 0;
        for (int64_t cell = first[a]; cell < first[a + 1]; cell++) {
            int64_t of_values = 0, of_targets = 0;
            if (joint->rows[cell] < 0 || joint->rows[cell] > rows_left)
                return 0;
            if (joint->rows[cell] && (cell - first[a] < box[2 * a] || cell - first[a] > box[2 * a + 1]))
                return 0;
            rows_left -= joint->rows[cell];
            for (int64_t v = 0; v < q->n_values; v++) {
                const int64_t count = joint->people[cell * q->n_values + v];
                if (count < 0 || count > people_left - of_values)
                    return 0;
                of_values += count;
            }
            for (int64_t t = 0; t < q->n_targets; t++) {
                const int64_t count = joint->targets[cell * q->n_targets + t];
                if (count < 0 || count > people_left - of_targets)
                    return 0;
                of_targets += count;
            }
            people_left -= of_values;
            if ((q->n_targets && of_targets != of_values) || of_values < joint->rows[cell]
                || (of_values && !joint->rows[cell]))
                return 0;
        }
        if (rows_left || people_left)
            return 0;
    }
    return 1;
}

#endif
