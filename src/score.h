/* Which class has the largest X_c = up_c / down_c * prod_i N^i_{t_i,c}: a float64 pass over sums of
   logarithms, and exact integers for every comparison inside its error bound. More than two classes are first
   told apart by whole numbers of 16 bits (costs.h).

   Attributes are looked up in groups, with one mixed-radix index a group, as in count.h. */
#ifndef NBCFAST_SCORE_H
#define NBCFAST_SCORE_H

#include <math.h>
#include <stdlib.h>
#include "costs.h"
#include "count.h"
#include "shared/wide.h"

#define NBC_SCORE_BLOCK NBC_COST_BLOCK

/* Natural numbers as 64-bit limbs, lowest first, each field of a fixed number of limbs. */
typedef struct {
    int64_t n_attributes, n_classes, n_rows;
    const nbc_column *columns;
    nbc_plan plan;             /* `offset` counts combinations of codes */
    /* Sums of logarithms, `width` doubles a combination: one a class, padded with -inf; or for two classes
       a single one, ln X_0 - ln X_1. */
    int64_t width;
    double *tables;            /* of the groups; `base` is in the first of them */
    const double *singles;     /* of the attributes one by one, at first[a] + code */
    const double *base;        /* of the classes themselves */
    double bound;              /* every float score is within this of the true one */
    const int64_t *first;      /* n_attributes + 1: where the codes of an attribute start in `singles`, `limbs` */
    /* Natural numbers as 64-bit limbs, lowest first, each field of a fixed number of limbs. */
    const uint64_t *limbs;     /* N: (first[a] + code) * n_classes + class, n_limbs each */
    int64_t n_limbs;
    const uint64_t *up;        /* a class each, n_limbs */
    const uint64_t *down;      /* a class each, down_limbs */
    int64_t down_limbs;
    int64_t most_limbs;        /* room for one side of a comparison */
    nbc_costs costs;           /* where there are any, `tables` are empty */
} nbc_scores;

/* Room for one thread. */
typedef struct {
    uint16_t *index;           /* n_groups * NBC_SCORE_BLOCK */
    uint64_t *dense;           /* NBC_SCORE_BLOCK */
    double *sums;              /* width * rows of one call; with costs of one row */
    int64_t *close;            /* NBC_SCORE_BLOCK */
    uint64_t *spare;           /* 3 * most_limbs */
    nbc_cost_room costs;       /* where there are costs */
    int64_t *left;             /* n_classes, where there are costs */
} nbc_room;

/* What a thread needs to score as many as `rows` rows in one call; 0 where memory lacks, then nbc_drop_room too. */
static int nbc_make_room(const nbc_scores *scores, nbc_room *room, int64_t rows)
{
    const int by_costs = scores->costs.lanes > 0;
    room->index = calloc((size_t)((scores->plan.n_groups + 1) * NBC_SCORE_BLOCK), sizeof *room->index);
    room->dense = calloc(NBC_SCORE_BLOCK, sizeof *room->dense);
    room->sums = calloc((size_t)(scores->width * (by_costs ? 1 : rows)), sizeof *room->sums);
    room->close = calloc(NBC_SCORE_BLOCK + 1, sizeof *room->close);
    room->spare = calloc((size_t)(3 * scores->most_limbs), sizeof *room->spare);
    if (!room->index || !room->dense || !room->sums || !room->close || !room->spare)
        return 0;
    if (!by_costs)
        return 1;
    room->left = calloc((size_t)scores->n_classes + 1, sizeof *room->left);
    return nbc_make_cost_room(&scores->costs, &room->costs) && room->left;
}

static void nbc_drop_room(nbc_room *room)
{
    free(room->index);
    free(room->dense);
    free(room->sums);
    free(room->close);
    free(room->spare);
    free(room->left);
    nbc_drop_cost_room(&room->costs);
}

/* product *= factor, both little-endian; returns the new length, without leading zeros (0 for zero). */
static int64_t nbc_multiply(uint64_t *product, int64_t n, const uint64_t *factor, int64_t m, uint64_t *space)
{
#if defined(__SIZEOF_INT128__)
#else
#error "a compiler with 128-bit integers is needed"
#endif
    while (m > 0 && factor[m - 1] == 0)
        m--;
    if (m == 0 || n == 0)
        return 0;
    if (m == 1) {
        uint64_t carry = 0;
        if (factor[0] == 1)
            return n;
        for (int64_t i = 0; i < n; i++) {
            nbc_u128 w = (nbc_u128)product[i] * factor[0] + carry;
            product[i] = (uint64_t)w;
            carry = (uint64_t)(w >> 64);
        }
        if (carry)
            product[n++] = carry;
        return n;
    }
    memset(space, 0, (size_t)(n + m) * sizeof *space);
    for (int64_t j = 0; j < m; j++) {
        uint64_t carry = 0;
        for (int64_t i = 0; i < n; i++) {
            nbc_u128 w = (nbc_u128)product[i] * factor[j] + space[i + j] + carry;
            space[i + j] = (uint64_t)w;
            carry = (uint64_t)(w >> 64);
        }
        space[n + j] = carry;
    }
    n += m;
    while (n > 0 && space[n - 1] == 0)
        n--;
    memcpy(product, space, (size_t)n * sizeof *space);
    return n;
}

/* -1, 0, 1 as X_c is below, equal to or above X_d in the given row. `space`: 3 * most_limbs. */
static int nbc_compare(const nbc_scores *scores, int64_t row, int64_t c, int64_t d, uint64_t *space)
{
    const int64_t room = scores->most_limbs, C = scores->n_classes, L = scores->n_limbs;
    uint64_t *left = space, *right = space + room, *spare = space + 2 * room;
    int64_t n = scores->down_limbs, m = scores->down_limbs;
    memcpy(left, scores->down + d * n, (size_t)n * sizeof *left);
    memcpy(right, scores->down + c * m, (size_t)m * sizeof *right);
    while (n > 0 && left[n - 1] == 0)
        n--;
    while (m > 0 && right[m - 1] == 0)
        m--;
    n = nbc_multiply(left, n, scores->up + c * L, L, spare);
    m = nbc_multiply(right, m, scores->up + d * L, L, spare);
    for (int64_t a = 0; a < scores->n_attributes; a++) {
        const uint64_t *of_c, *of_d;
        const int64_t code = nbc_known(scores->columns + a, row);
        of_c = scores->limbs + ((scores->first[a] + code) * C + c) * L;
        of_d = scores->limbs + ((scores->first[a] + code) * C + d) * L;
        int64_t same = 0, any = 0;
        for (int64_t i = 0; i < L; i++) {
            same += of_c[i] == of_d[i];
            any |= of_c[i] != 0;
        }
        if (same == L && any)
            continue;  /* a common factor */
        n = nbc_multiply(left, n, of_c, L, spare);
        m = nbc_multiply(right, m, of_d, L, spare);
    }
    if (n != m)
        return n < m ? -1 : 1;
    for (int64_t i = n - 1; i >= 0; i--)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* As nbc_compare, with the float scores `s` of the row where they are far enough apart. */
NBC_INLINE int nbc_sign(const nbc_scores *scores, int64_t row, const double *s, int64_t c, int64_t d,
                        uint64_t *space)
{
    const double gap = s[c] - s[d];
    if (gap > 2 * scores->bound)
        return 1;
    if (gap < -2 * scores->bound)
        return -1;
    if (isinf(s[c]) && isinf(s[d]))
        return 0;  /* both zero */
    return nbc_compare(scores, row, c, d, space);
}

/* The joint indices of n <= NBC_SCORE_BLOCK rows, group after group; -1, or a column with a bad code. The rows
   behind them are asked for: of many columns at a time the processor does not do so itself. */
NBC_INLINE int64_t nbc_indices(const nbc_scores *scores, const nbc_room *room, int64_t row, int64_t n)
{
    static const uint16_t nothing[NBC_SCORE_BLOCK];
    const nbc_plan *plan = &scores->plan;
    const int64_t left = scores->n_rows - row - n, coming = left < n ? left : n;
    const int ahead = scores->n_attributes <= NBC_STREAMS;
    uint16_t *index = room->index;
    for (int64_t g = 0; g < plan->n_groups; g++, index += NBC_SCORE_BLOCK)
        for (int64_t m = plan->first[g]; m < plan->first[g + 1]; m++) {
            const nbc_column *column = scores->columns + plan->members[m];
            const char *codes = nbc_dense(column, row, n, room->dense);
            uint64_t most;
            if (m == plan->first[g])
                most = nbc_first(index, nothing, column, codes, 0, n);
            else
                most = nbc_next(index, column, codes, (uint16_t)column->size, n);
            if (most >= (uint64_t)column->limit)
                return plan->members[m];
            if (ahead)
                nbc_prefetch(column, row + n, coming);
        }
    for (int64_t k = 0; k < scores->plan.n_straight; k++)
        if (nbc_first_bad(scores->columns + scores->plan.straight[k], row, row + n) >= 0)
            return scores->plan.straight[k];
    return -1;
}

/* Two classes: sums of log-odds. */
NBC_INLINE void nbc_odds(const nbc_scores *scores, const nbc_room *room, int64_t row, int64_t n)
{
    const nbc_plan *plan = &scores->plan;
    const double *tables = scores->tables;
    double *restrict sum = room->sums;
    int64_t g = 0;
    if (plan->n_groups == 0)
        for (int64_t i = 0; i < n; i++)
            sum[i] = scores->base[0];
    for (; g + 3 <= plan->n_groups; g += 3) {
        const double *a = tables + plan->offset[g], *b = tables + plan->offset[g + 1];
        const double *c = tables + plan->offset[g + 2];
        const uint16_t *p = room->index + g * NBC_SCORE_BLOCK, *q = p + NBC_SCORE_BLOCK, *r = q + NBC_SCORE_BLOCK;
        if (g == 0)
            for (int64_t i = 0; i < n; i++)
                sum[i] = a[p[i]] + b[q[i]] + c[r[i]];
        else
            for (int64_t i = 0; i < n; i++)
                sum[i] += a[p[i]] + b[q[i]] + c[r[i]];
    }
    for (; g < plan->n_groups; g++) {
        const double *a = tables + plan->offset[g];
        const uint16_t *p = room->index + g * NBC_SCORE_BLOCK;
        if (g == 0)
            for (int64_t i = 0; i < n; i++)
                sum[i] = a[p[i]];
        else
            for (int64_t i = 0; i < n; i++)
                sum[i] += a[p[i]];
    }
    for (int64_t k = 0; k < scores->plan.n_straight; k++) {
        const int64_t a = scores->plan.straight[k];
        for (int64_t i = 0; i < n; i++)
            sum[i] += scores->singles[scores->first[a] + nbc_known(scores->columns + a, row + i)];
    }
}

/* Predict two classes: class 1 wins ties, and where both X are zero the sum is no number. */
NBC_CLONED(int64_t, nbc_predict_two, (const nbc_scores *scores, const nbc_room *room, uint16_t *restrict labels,
                                      uint8_t *restrict tied, int64_t row, int64_t n),
           (scores, room, labels, tied, row, n))
{
    const double *restrict sum = room->sums;
    const double bound = scores->bound;
    int64_t n_close = 0;
    int any = 0;
    const int64_t bad = nbc_indices(scores, room, row, n);
    if (bad >= 0)
        return bad;
    nbc_odds(scores, room, row, n);
    for (int64_t i = 0; i < n; i++) {
        labels[i] = !(sum[i] > 0);
        any |= fabs(sum[i]) <= bound;
    }
    if (tied)
        for (int64_t i = 0; i < n; i++)
            tied[i] = sum[i] != sum[i];
    if (any)
        for (int64_t i = 0; i < n; i++) {
            room->close[n_close] = i;
            n_close += fabs(sum[i]) <= bound;
        }
    for (int64_t k = 0; k < n_close; k++) {
        const int64_t i = room->close[k];
        const int sign = nbc_compare(scores, row + i, 0, 1, room->spare);
        labels[i] = sign <= 0;
        if (tied)
            tied[i] = sign == 0;
    }
    return -1;
}

/* Vectors of four and eight scores, where the compiler has them: it does not make them of plain loops.
   They are loaded and stored at any address. */
#ifdef NBC_VECTORS
typedef double nbc_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double nbc_eight __attribute__((vector_size(64), aligned(8), may_alias));
#endif

/* Where the sums of row i start in the table of group g. */
#define NBC_ENTRY(g, W) \
    (scores->tables + (plan->offset[g] + room->index[(g) * NBC_SCORE_BLOCK + i]) * (W))

NBC_INLINE void nbc_sums(const nbc_scores *scores, const nbc_room *room, int64_t row, int64_t n)
{
    const nbc_plan *plan = &scores->plan;
    const int64_t width = scores->width;
    double *restrict sums = room->sums;
    if (plan->n_groups == 0) {
        for (int64_t i = 0; i < n; i++)
            memcpy(sums + i * width, scores->base, (size_t)width * sizeof *sums);
#ifdef NBC_VECTORS
    } else if (width == 4) {
        for (int64_t i = 0; i < n; i++) {
            nbc_four s = *(const nbc_four *)NBC_ENTRY(0, 4);
            for (int64_t g = 1; g < plan->n_groups; g++)
                s += *(const nbc_four *)NBC_ENTRY(g, 4);
            *(nbc_four *)(sums + 4 * i) = s;
        }
    } else if (width == 8) {
        for (int64_t i = 0; i < n; i++) {
            nbc_eight s = *(const nbc_eight *)NBC_ENTRY(0, 8);
            for (int64_t g = 1; g < plan->n_groups; g++)
                s += *(const nbc_eight *)NBC_ENTRY(g, 8);
            *(nbc_eight *)(sums + 8 * i) = s;
        }
    } else if (width == 16) {
        for (int64_t i = 0; i < n; i++) {
            const double *from = NBC_ENTRY(0, 16);
            nbc_eight s = *(const nbc_eight *)from, t = *(const nbc_eight *)(from + 8);
            for (int64_t g = 1; g < plan->n_groups; g++) {
                from = NBC_ENTRY(g, 16);
                s += *(const nbc_eight *)from;
                t += *(const nbc_eight *)(from + 8);
            }
            *(nbc_eight *)(sums + 16 * i) = s;
            *(nbc_eight *)(sums + 16 * i + 8) = t;
        }
#endif
    } else {
        for (int64_t i = 0; i < n; i++) {
            double *restrict s = sums + i * width;
            memcpy(s, NBC_ENTRY(0, width), (size_t)width * sizeof *s);
            for (int64_t g = 1; g < plan->n_groups; g++) {
                const double *restrict from = NBC_ENTRY(g, width);
                for (int64_t w = 0; w < width; w++)
                    s[w] += from[w];
            }
        }
    }
    for (int64_t k = 0; k < scores->plan.n_straight; k++) {
        const int64_t a = scores->plan.straight[k];
        for (int64_t i = 0; i < n; i++) {
            const double *from = scores->singles
                                 + (scores->first[a] + nbc_known(scores->columns + a, row + i)) * width;
            for (int64_t w = 0; w < width; w++)
                sums[i * width + w] += from[w];
        }
    }
}
#undef NBC_ENTRY

/* Of each row the last class whose score comes within 2 * bound of the largest, and a list of the rows
   where another does so as well. */
NBC_INLINE int64_t nbc_largest(const double *restrict sums, int64_t width, double bound, uint16_t *restrict labels,
                               int64_t *restrict close, int64_t n)
{
    int64_t n_close = 0;
    for (int64_t i = 0; i < n; i++, sums += width) {
        double most = sums[0];
        int64_t n_near = 0, best = 0;
        for (int64_t w = 1; w < width; w++)
            most = sums[w] > most ? sums[w] : most;
        most -= 2 * bound;
        for (int64_t w = 0; w < width; w++)
            if (sums[w] >= most) {
                n_near++;
                best = w;
            }
        labels[i] = (uint16_t)best;
        close[n_close] = i;
        n_close += n_near > 1;
    }
    return n_close;
}

/* The class of the largest X in a row, of equal ones the highest, and whether there are equal ones. */
static int64_t nbc_best(const nbc_scores *scores, int64_t row, const double *sums, uint64_t *space, int *tie)
{
    int64_t best = 0;
    *tie = 0;
    for (int64_t c = 1; c < scores->n_classes; c++) {
        const int sign = nbc_sign(scores, row, sums, c, best, space);
        *tie = sign ? *tie && sign < 0 : 1;
        best = sign >= 0 ? c : best;
    }
    return best;
}

NBC_CLONED(int64_t, nbc_predict_many, (const nbc_scores *scores, const nbc_room *room, uint16_t *restrict labels,
                                       uint8_t *restrict tied, int64_t row, int64_t n),
           (scores, room, labels, tied, row, n))
{
    const int64_t width = scores->width;
    int64_t n_close = 0;
    const int64_t bad = nbc_indices(scores, room, row, n);
    if (bad >= 0)
        return bad;
    nbc_sums(scores, room, row, n);
    n_close = nbc_largest(room->sums, width, scores->bound, labels, room->close, n);
    if (tied)
        memset(tied, 0, (size_t)n);
    for (int64_t k = 0; k < n_close; k++) {
        const int64_t i = room->close[k];
        int tie;
        labels[i] = (uint16_t)nbc_best(scores, row + i, room->sums + i * width, room->spare, &tie);
        if (tied)
            tied[i] = (uint8_t)tie;
    }
    return -1;
}

/* The sums of logarithms of row `row`, the i-th of a tile and the k-th of the indices, for the classes that costs
   leave: those near the lowest sum, or all where its class has an entry that is cut. The others get -inf, as if
   X were 0. 0 where costs leave one class alone. */
static int nbc_row_sums(const nbc_scores *scores, const nbc_room *room, int64_t row, int64_t i, int64_t k, int64_t best,
                        int64_t *restrict left, double *restrict sums)
{
    const nbc_costs *costs = &scores->costs;
    const uint16_t *columns = room->costs.columns + i;
    const uint16_t lowest = columns[best * costs->tile];
    const int all = room->costs.low[i] + lowest >= costs->cap && costs->cut[best]
                    && nbc_is_cut(costs, scores->columns, &scores->plan, room->index, row, k, best);
    int64_t n_left = 0;
    for (int64_t c = 0; c < scores->n_classes; c++) {
        const int is_left = all || (uint16_t)(columns[c * costs->tile] - lowest) <= costs->near;
        sums[c] = is_left ? scores->base[c] : -INFINITY;
        left[n_left] = c;
        n_left += is_left;
    }
    if (n_left == 1)
        return 0;
    for (int64_t a = 0; a < scores->n_attributes; a++) {
        const double *from = scores->singles
                             + (scores->first[a] + nbc_known(scores->columns + a, row)) * scores->width;
        for (int64_t c = 0; c < n_left; c++)
            sums[left[c]] += from[left[c]];
    }
    return 1;
}

/* As nbc_predict_many, by costs; *n_close grows by the rows in which they leave several classes. */
NBC_CLONED(int64_t, nbc_predict_costs, (const nbc_scores *scores, const nbc_room *room, uint16_t *restrict labels,
                                        uint8_t *restrict tied, int64_t row, int64_t n, int64_t *n_close),
           (scores, room, labels, tied, row, n, n_close))
{
    const nbc_costs *costs = &scores->costs;
    const int64_t bad = nbc_indices(scores, room, row, n);
    if (bad >= 0)
        return bad;
    for (int64_t at = 0; at < n; at += costs->tile) {
        const int64_t m = n - at < costs->tile ? n - at : costs->tile;
        int64_t n_open;
        nbc_cost_columns(costs, scores->columns, &scores->plan, room->index, &room->costs, scores->n_classes,
                         row + at, at, m);
        n_open = nbc_cheapest(costs, &room->costs, scores->n_classes, labels + at, m, room->close);
        if (tied)
            for (int64_t i = 0; i < m; i++)
                tied[at + i] = 0;
        for (int64_t k = 0; k < n_open; k++) {
            const int64_t i = room->close[k];
            int tie;
            if (!nbc_row_sums(scores, room, row + at + i, i, at + i, labels[at + i], room->left, room->sums))
                continue;
            labels[at + i] = (uint16_t)nbc_best(scores, row + at + i, room->sums, room->spare, &tie);
            if (tied)
                tied[at + i] = (uint8_t)tie;
            ++*n_close;
        }
    }
    return -1;
}

/* The sums of costs of n rows, n_classes a row; `column` where a code is bad, or -1. */
NBC_CLONED(int64_t, nbc_row_costs, (const nbc_scores *scores, const nbc_room *room, uint32_t *sums, int64_t row,
                                    int64_t n),
           (scores, room, sums, row, n))
{
    const nbc_costs *costs = &scores->costs;
    const int64_t bad = nbc_indices(scores, room, row, n);
    if (bad >= 0)
        return bad;
    for (int64_t at = 0; at < n; at += costs->tile) {
        const int64_t m = n - at < costs->tile ? n - at : costs->tile;
        nbc_cost_columns(costs, scores->columns, &scores->plan, room->index, &room->costs, scores->n_classes,
                         row + at, at, m);
        for (int64_t i = 0; i < m; i++)
            for (int64_t c = 0; c < scores->n_classes; c++)
                *sums++ = room->costs.low[i] + room->costs.columns[c * costs->tile + i];
    }
    return -1;
}

/* All classes of n rows, the largest X first and the higher class of two equal ones: binary insertion. */
NBC_CLONED(int64_t, nbc_order_many, (const nbc_scores *scores, const nbc_room *room, uint16_t *order, int64_t row,
                                     int64_t n),
           (scores, room, order, row, n))
{
    const int64_t C = scores->n_classes;
    const int64_t bad = nbc_indices(scores, room, row, n);
    if (bad >= 0)
        return bad;
    nbc_sums(scores, room, row, n);
    for (int64_t i = 0; i < n; i++, order += C)
        for (int64_t c = 0; c < C; c++) {
            int64_t low = 0, high = c;
            while (low < high) {
                const int64_t middle = (low + high) / 2;
                const int sign = nbc_sign(scores, row + i, room->sums + i * scores->width, c, order[middle],
                                          room->spare);
                /* Classes come in rising precedence, so an equal one stands behind. */
                if (sign >= 0)
                    high = middle;
                else
                    low = middle + 1;
            }
            memmove(order + low + 1, order + low, (size_t)(c - low) * sizeof *order);
            order[low] = (uint16_t)c;
        }
    return -1;
}

/* Fill the joint tables from the single ones. */
static void nbc_join(const nbc_scores *scores)
{
    const nbc_plan *plan = &scores->plan;
    const int64_t width = scores->width;
    for (int64_t g = 0; g < plan->n_groups; g++) {
        double *table = scores->tables + plan->offset[g] * width;
        int64_t filled = 1;
        for (int64_t w = 0; w < width; w++)
            table[w] = g == 0 ? scores->base[w] : 0.0;
        /* From the last combination down, so that a table over the first attributes can grow in place. */
        for (int64_t m = plan->first[g]; m < plan->first[g + 1]; m++) {
            const int64_t a = plan->members[m], size = scores->columns[a].size;
            const double *single = scores->singles + scores->first[a] * width;
            for (int64_t i = filled - 1; i >= 0; i--)
                for (int64_t x = size - 1; x >= 0; x--)
                    for (int64_t w = 0; w < width; w++)
                        table[(i * size + x) * width + w] = table[i * width + w] + single[x * width + w];
            filled *= size;
        }
    }
}
/* Fill the tables of costs: a unit is 1/unit of a natural logarithm. `largest`: room for a number a part; -1
   without memory. */
static int nbc_make_costs(nbc_scores *scores, double unit, int64_t cap, uint16_t *largest)
{
    nbc_costs *costs = &scores->costs;
    const nbc_plan *plan = &scores->plan;
    const int64_t n_parts = costs->n_parts;
    int64_t most = 1, filled = 0;
    double near, *space;
    /* The sum of any row fits 32 bits. */
    costs->cap = (uint16_t)(cap < 0xffffffff / n_parts ? cap : 0xffffffff / n_parts);
    for (int64_t g = 0; g < plan->n_groups; g++) {
        const int64_t entries = (plan->offset[g + 1] - plan->offset[g])
                                / scores->columns[plan->members[plan->first[g + 1] - 1]].size;
        most = entries > most ? entries : most;
    }
    space = malloc((size_t)((most + 1) * scores->width) * sizeof *space);
    if (space == NULL)
        return -1;
    for (int64_t p = 0; p < n_parts; p++) {
        const int is_group = p < plan->n_groups;
        const int64_t *members = is_group ? plan->members + plan->first[p] : plan->straight + (p - plan->n_groups);
        largest[p] = nbc_cost_table(scores->columns, members, is_group ? plan->first[p + 1] - plan->first[p] : 1,
                                    scores->n_attributes, scores->first, scores->singles, scores->base,
                                    scores->width, scores->n_classes, unit, costs->cap, space,
                                    costs->tables + costs->offset[p] * costs->lanes, costs->lanes);
    }
    free(space);
    for (int64_t p = 0; p < n_parts; p++) {
        if (p == 0 || filled + largest[p] > NBC_MOST_COST) {
            costs->chunk[costs->n_chunks++] = p;
            filled = 0;
        }
        filled += largest[p];
    }
    costs->chunk[costs->n_chunks] = n_parts;
    for (int64_t e = 0; e < costs->offset[n_parts]; e++)
        for (int64_t c = 0; c < scores->n_classes; c++)
            costs->cut[c] |= costs->tables[e * costs->lanes + c] == costs->cap;
    near = 2 * (double)n_parts * (0.5 + NBC_COST_SLACK) + 4 * scores->bound * unit;
    /* Sums are cut there: nothing is more than this above another. */
    costs->near = (uint16_t)(near < NBC_MOST_COST ? near : NBC_MOST_COST);
    return 0;
}
#endif
