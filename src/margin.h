/* Log-ratios f = ln X_c - ln X_d over a product of two halves of the attributes: signs, ranks, nearest to zero.

   Every value of every attribute has ln(N_c / N_d) in fixed point: once as int64, for speed, and once with
   so many limbs that a sum within the rounding error of zero is proven to be zero (the least |f| that is not
   zero has a bound: docs/mathematics/safety.md, section c). A half is the list of the sums over its attributes, at
   the mixed-radix index of its codes. */
#ifndef NBCFAST_MARGIN_H
#define NBCFAST_MARGIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/columns.h"

/* Sums of positive counts are below NBC_REAL in size. NBC_NONE marks a zero count of class c, so that
   X_c = 0 is never above X_d; NBC_ONLY one of class d where class c has none. Any two of these can be
   added, and the sum has the sign that the comparison X_c > X_d must have. */
#define NBC_REAL ((int64_t)1 << 60)
#define NBC_NONE (-((int64_t)1 << 62))
#define NBC_ONLY ((int64_t)1 << 61)

NBC_INLINE int64_t nbc_clamp(int64_t sum)
{
    return sum <= -NBC_REAL ? NBC_NONE : sum >= NBC_REAL ? NBC_ONLY : sum;
}

/* Without sign: sums were looked at when they were given, but the arrays are the caller's. */
NBC_INLINE int64_t nbc_plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* The limbs of one half: two's complement, lowest first, value after value of attribute after attribute. */
typedef struct {
    int64_t n;              /* attributes */
    const int64_t *sizes;
    const uint64_t *limbs;
} nbc_half;

/* All that an exact sign needs. `n_limbs` is 0 where the limbs have not been made. */
typedef struct {
    nbc_half a, b;
    const uint64_t *base;   /* of what both halves share */
    int64_t n_limbs;
    uint64_t slack;         /* a sum within this of zero, in units of the last limb, is zero */
    uint64_t *sum, *other;  /* n_limbs each */
} nbc_exact;

NBC_INLINE void nbc_add_limbs(uint64_t *sum, const uint64_t *term, int64_t n)
{
    unsigned char carry = 0;
    for (int64_t l = 0; l < n; l++) {
        const uint64_t s = sum[l] + term[l], t = s + carry;
        carry = (unsigned char)((s < term[l]) | (t < s));
        sum[l] = t;
    }
}

NBC_INLINE void nbc_negate_limbs(uint64_t *sum, int64_t n)
{
    unsigned char carry = 1;
    for (int64_t l = 0; l < n; l++) {
        sum[l] = ~sum[l] + carry;
        carry = carry && sum[l] == 0;
    }
}

static void nbc_add_half(uint64_t *sum, const nbc_half *half, int64_t index, int64_t n_limbs)
{
    const uint64_t *end = half->limbs;
    for (int64_t a = 0; a < half->n; a++)
        end += half->sizes[a] * n_limbs;
    for (int64_t a = half->n - 1; a >= 0; a--) {
        const int64_t size = half->sizes[a];
        end -= size * n_limbs;
        nbc_add_limbs(sum, end + index % size * n_limbs, n_limbs);
        index /= size;
    }
}

/* -1, 0, 1. */
static int nbc_limb_sign(const uint64_t *sum, int64_t n, uint64_t slack)
{
    const uint64_t fill = sum[n - 1] >> 63 ? ~(uint64_t)0 : 0;
    int near = 1;
    for (int64_t l = 1; l < n; l++)
        near &= sum[l] == fill;
    if (near && (fill ? -sum[0] <= slack && sum[0] >> 63 : sum[0] <= slack))
        return 0;
    return fill ? -1 : 1;
}

/* The sign of f at (i, j). */
static int nbc_sign_of(const nbc_exact *exact, int64_t i, int64_t j)
{
    memcpy(exact->sum, exact->base, (size_t)exact->n_limbs * sizeof *exact->sum);
    nbc_add_half(exact->sum, &exact->a, i, exact->n_limbs);
    nbc_add_half(exact->sum, &exact->b, j, exact->n_limbs);
    return nbc_limb_sign(exact->sum, exact->n_limbs, exact->slack);
}

/* The sign of the difference of two sums over half b. */
static int nbc_order_of(const nbc_exact *exact, int64_t j, int64_t k)
{
    memset(exact->sum, 0, (size_t)exact->n_limbs * sizeof *exact->sum);
    nbc_add_half(exact->sum, &exact->b, k, exact->n_limbs);
    nbc_negate_limbs(exact->sum, exact->n_limbs);
    nbc_add_half(exact->sum, &exact->b, j, exact->n_limbs);
    return nbc_limb_sign(exact->sum, exact->n_limbs, exact->slack);
}

/* out[i * m + j] = left[i] + right[j], clamped. */
NBC_CLONED(void, nbc_outer, (const int64_t *restrict left, int64_t n, const int64_t *restrict right, int64_t m,
                             int64_t *restrict out),
           (left, n, right, m, out))
{
    for (int64_t i = 0; i < n; i++, out += m) {
        const int64_t x = left[i];
        for (int64_t j = 0; j < m; j++)
            out[j] = nbc_clamp(x + right[j]);
    }
}

/* How far settling has come: in a run of sums that are nearly equal, start .. stop-1, the merges of this width
   up to place `low`; no run where the width is 0. */
typedef struct {
    int64_t start, stop, width, low;
} nbc_settled;

/* Put `order` into the exact order of the sums, where `sums` (in that order) rises up to rounding.
   0 when done, 1 when interrupted after about `looks` comparisons, -1 where limbs are needed. */
static int nbc_settle(int32_t *order, int64_t *sums, int64_t n, int64_t slack, const nbc_exact *exact,
                      int32_t *spare, int64_t *spare_sums, nbc_settled *at, int64_t looks)
{
    for (; at->start < n; at->start = at->stop, at->width = 0) {
        const int64_t start = at->start;
        if (at->width == 0) {
            int sorted = 1;
            int64_t stop = start + 1;
            if (looks <= 0)
                return 1;
            for (; stop < n && sums[stop] - sums[stop - 1] <= slack; stop++)
                if (sums[start] <= -NBC_REAL || sums[start] >= NBC_REAL)
                    continue;  /* all alike */
                else if (exact->n_limbs == 0)
                    return -1;
                else if (sorted)
                    sorted = nbc_order_of(exact, order[stop - 1], order[stop]) <= 0;
            at->stop = stop;
            looks -= stop - start;
            if (sorted)
                continue;
            at->width = 1, at->low = start;
        }
        /* Merge sort: a run may be long where many counts are huge and nearly equal. */
        for (; at->width < at->stop - start; at->width *= 2, at->low = start) {
            const int64_t stop = at->stop, width = at->width;
            for (; at->low < stop; at->low += 2 * width) {
                const int64_t low = at->low;
                const int64_t middle = low + width < stop ? low + width : stop;
                const int64_t high = low + 2 * width < stop ? low + 2 * width : stop;
                int64_t p = low, q = middle;
                if (looks <= 0)
                    return 1;
                looks -= high - low;
                for (int64_t k = low; k < high; k++) {
                    const int left = p < middle && (q >= high || nbc_order_of(exact, order[p], order[q]) <= 0);
                    const int64_t from = left ? p++ : q++;
                    spare[k] = order[from];
                    spare_sums[k] = sums[from];
                }
            }
            memcpy(order + start, spare + start, (size_t)(stop - start) * sizeof *order);
            memcpy(sums + start, spare_sums + start, (size_t)(stop - start) * sizeof *sums);
        }
    }
    return 0;
}

/* Half a (any order; fast where it rises), half b (settled), and the error of a sum of both. */
typedef struct {
    const int64_t *x;       /* n sums of half a, `shift` not yet added */
    const int32_t *x_order; /* their indices */
    int64_t n;
    int64_t outer, base;    /* added to every x, clamped one after the other */
    const int64_t *u;       /* m sums of half b in exact order */
    const int32_t *u_order;
    int64_t m;
    int64_t error;
} nbc_lists;

/* Whether f > 0 (1), f = 0 (0) or f < 0 (-1) at places k of x and j of u; 2 where limbs are needed. */
NBC_INLINE int nbc_sign_at(const nbc_lists *lists, const nbc_exact *exact, int64_t x, int64_t k, int64_t j)
{
    const int64_t s = nbc_plus(x, lists->u[j]);
    if (s > lists->error)
        return 1;
    if (s < -lists->error)
        return -1;
    if (exact->n_limbs == 0)
        return 2;
    return nbc_sign_of(exact, lists->x_order[k], lists->u_order[j]);
}

/* Where a walk over both lists has come to: places of u, which go on from one part of x to the next. */
typedef struct {
    int64_t high;           /* the first with f > 0 */
    int64_t low;            /* the first with f >= 0 */
} nbc_walk;

/* above[index of x] = how many of u have f <= 0: from that place on X_c > X_d; for places start .. stop-1 of x.
   0, or -1 where limbs are needed. */
static int nbc_thresholds(const nbc_lists *lists, const nbc_exact *exact, int32_t *above, int64_t start,
                          int64_t stop, nbc_walk *walk)
{
    int64_t j = walk->high;
    for (int64_t k = start; k < stop; k++) {
        const int64_t x = nbc_clamp(nbc_clamp(nbc_plus(lists->x[k], lists->outer)) + lists->base);
        int sign = 0;
        while (j > 0 && (sign = nbc_sign_at(lists, exact, x, k, j - 1)) == 1)
            j--;
        if (sign == 2)
            return -1;
        /* Up again only where x fell, which it does by rounding alone. */
        while (j < lists->m && (sign = nbc_sign_at(lists, exact, x, k, j)) <= 0)
            j++;
        if (j < lists->m && sign == 2)
            return -1;
        above[lists->x_order[k]] = (int32_t)j;
    }
    walk->high = j;
    return 0;
}

typedef struct {
    int64_t size;           /* |f| in fixed point; NBC_REAL where there is none yet */
    int64_t i, j;
    int has_limbs;          /* whether `limbs` holds |f| exactly */
    uint64_t *limbs;
} nbc_nearest_found;

/* Keep (i, j), with f of size `size` and not zero, if its |f| is less. 0, or -1 where limbs are needed. */
static int nbc_keep(const nbc_lists *lists, const nbc_exact *exact, nbc_nearest_found *best, int64_t size,
                    int64_t i, int64_t j)
{
    const int64_t doubt = 2 * lists->error;
    size = size < 0 ? -size : size;
    if (best->i >= 0 && size > best->size + doubt)
        return 0;
    if (best->i < 0 || size + doubt < best->size) {
        best->size = size, best->i = i, best->j = j, best->has_limbs = 0;
        return 0;
    }
    if (exact->n_limbs == 0)
        return -1;
    if (!best->has_limbs) {
        nbc_sign_of(exact, best->i, best->j);
        if (exact->sum[exact->n_limbs - 1] >> 63)
            nbc_negate_limbs(exact->sum, exact->n_limbs);
        memcpy(best->limbs, exact->sum, (size_t)exact->n_limbs * sizeof *best->limbs);
        best->has_limbs = 1;
    }
    nbc_sign_of(exact, i, j);
    if (exact->sum[exact->n_limbs - 1] >> 63)
        nbc_negate_limbs(exact->sum, exact->n_limbs);
    for (int64_t l = exact->n_limbs - 1; l >= 0; l--)
        if (exact->sum[l] != best->limbs[l]) {
            if (exact->sum[l] < best->limbs[l]) {
                memcpy(best->limbs, exact->sum, (size_t)exact->n_limbs * sizeof *best->limbs);
                best->size = size, best->i = i, best->j = j;
            }
            break;
        }
    return 0;
}

NBC_INLINE int nbc_is_real(int64_t sum)
{
    return sum > -NBC_REAL && sum < NBC_REAL;
}

/* The least |f| that is not 0 over pairs where both classes are positive. 0, or -1 where limbs are needed. */
static int nbc_nearest(const nbc_lists *lists, const nbc_exact *exact, nbc_nearest_found *best, int64_t start,
                       int64_t stop, nbc_walk *walk)
{
    int64_t high = walk->high, low = walk->low;
    for (int64_t k = start; k < stop; k++) {
        const int64_t x = nbc_clamp(nbc_clamp(nbc_plus(lists->x[k], lists->outer)) + lists->base);
        int sign = 0;
        if (!nbc_is_real(x))
            continue;
        /* As x rises both places fall; they go up again only where it fell, by rounding. */
        while (high > 0 && (sign = nbc_sign_at(lists, exact, x, k, high - 1)) == 1)
            high--;
        if (sign == 2)
            return -1;
        while (high < lists->m && (sign = nbc_sign_at(lists, exact, x, k, high)) <= 0)
            high++;
        if (high < lists->m && sign == 2)
            return -1;
        while (low > 0 && (sign = nbc_sign_at(lists, exact, x, k, low - 1)) >= 0 && sign != 2)
            low--;
        if (low > 0 && sign == 2)
            return -1;
        while (low < lists->m && (sign = nbc_sign_at(lists, exact, x, k, low)) < 0)
            low++;
        if (low < lists->m && sign == 2)
            return -1;
        if (high < lists->m && nbc_is_real(lists->u[high])
            && nbc_keep(lists, exact, best, x + lists->u[high], lists->x_order[k], lists->u_order[high]) < 0)
            return -1;
        if (low > 0 && nbc_is_real(lists->u[low - 1])
            && nbc_keep(lists, exact, best, x + lists->u[low - 1], lists->x_order[k], lists->u_order[low - 1]) < 0)
            return -1;
    }
    walk->high = high, walk->low = low;
    return 0;
}

/* The same by looking at every pair. */
static int nbc_nearest_of_all(const nbc_lists *lists, const nbc_exact *exact, nbc_nearest_found *best,
                              int64_t start, int64_t stop)
{
    for (int64_t k = start; k < stop; k++) {
        const int64_t x = nbc_clamp(nbc_clamp(nbc_plus(lists->x[k], lists->outer)) + lists->base);
        if (!nbc_is_real(x))
            continue;
        for (int64_t j = 0; j < lists->m; j++) {
            const int64_t s = nbc_plus(x, lists->u[j]), most = best->size + 2 * lists->error;
            int sign;
            if (s > most || s < -most || !nbc_is_real(lists->u[j]))
                continue;
            sign = nbc_sign_at(lists, exact, x, k, j);
            if (sign == 2 || (sign && nbc_keep(lists, exact, best, s, lists->x_order[k], lists->u_order[j]) < 0))
                return -1;
        }
    }
    return 0;
}

/* Places of half b in the order of view V (`rank[k]`: the place in the order of V' of what has place k), and
   for each index of half a where X_c > X_d begins in both orders. The sum over half a of the weight of what is
   above in V and not above in V'; `by_above` lists the indices by falling above[]. For places start .. stop-1
   of it; `tree`, of m + 1 zeros at first, holds what is at *place, m at first, and after it. */
static int64_t nbc_dominance(const int32_t *by_above, const int32_t *above, const int32_t *above_too,
                             const int64_t *weight, int64_t start, int64_t stop, const int32_t *rank,
                             const int64_t *rank_weight, int64_t m, int64_t *tree, int64_t *place)
{
    int64_t total = 0, k = *place;
    for (int64_t p = start; p < stop; p++) {
        const int64_t i = by_above[p];
        int64_t sum = 0;
        while (k > above[i]) {
            k--;
            for (int64_t t = rank[k] + 1; t <= m; t += t & -t)
                tree[t] += rank_weight[k];
        }
        for (int64_t t = above_too[i]; t > 0; t -= t & -t)
            sum += tree[t];
        total += sum * weight[i];
    }
    *place = k;
    return total;
}

/* List the pairs that V and V' order differently. lowest[k] is the least rank from place k on, highest[k] the
   largest up to k; ranks of what does not count are above all (`rank`) and below all (`rank_too`).
   How many there are, or -1 less those found where there are more than `most` or `steps` looks are not enough. */
static int64_t nbc_list(const int32_t *above, const int32_t *above_too, int64_t n, const int32_t *rank,
                        const int32_t *rank_too, const int32_t *lowest, const int32_t *highest,
                        const int32_t *order, int64_t m, int64_t *found_i, int64_t *found_j, int64_t most,
                        int64_t steps)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t start = above[i], limit = above_too[i];
        for (int64_t k = start; k < m && lowest[k] < limit; k++) {
            if (--steps < 0)
                return -1 - found;
            if (rank[k] < limit) {
                if (found == most)
                    return -1 - found;
                found_i[found] = i;
                found_j[found++] = order[k];
            }
        }
        for (int64_t k = start - 1; k >= 0 && highest[k] >= limit; k--) {
            if (--steps < 0)
                return -1 - found;
            if (rank_too[k] >= limit) {
                if (found == most)
                    return -1 - found;
                found_i[found] = i;
                found_j[found++] = order[k];
            }
        }
    }
    return found;
}

#define NBC_ENUMERATION_BLOCK 512

/* Look at all pairs (i, j) for i in start .. stop-1: the weight of those where any of the n_pairs comparisons
   differs (labels = 0), or the class that wins all of its comparisons (labels = 1). Comparison p of the classes
   first[p] < second[p] holds in V where rank[p][j] >= above[p][i], in V' the same with the second set.
   `losers`: 2 * n_classes * NBC_ENUMERATION_BLOCK. first_i, first_j: a differing pair, where there is one. */
NBC_CLONED(int64_t, nbc_enumerate, (const int32_t *restrict above, const int32_t *restrict above_too, int64_t n,
                                    const int32_t *restrict rank, const int32_t *restrict rank_too, int64_t m,
                                    int64_t n_pairs, const int32_t *first, const int32_t *second, int64_t n_classes,
                                    int labels, const int64_t *weight, const int64_t *rank_weight, int64_t start,
                                    int64_t stop, int32_t *restrict losers, int64_t *first_i, int64_t *first_j),
           (above, above_too, n, rank, rank_too, m, n_pairs, first, second, n_classes, labels, weight, rank_weight,
            start, stop, losers, first_i, first_j))
{
    int64_t total = 0;
    int32_t differs[NBC_ENUMERATION_BLOCK];
    for (int64_t i = start; i < stop; i++) {
        int64_t of_row = 0;
        for (int64_t low = 0; low < m; low += NBC_ENUMERATION_BLOCK) {
            const int64_t size = m - low < NBC_ENUMERATION_BLOCK ? m - low : NBC_ENUMERATION_BLOCK;
            int32_t any = 0;
            memset(differs, 0, sizeof differs);
            if (labels)
                memset(losers, 0, (size_t)(2 * n_classes * NBC_ENUMERATION_BLOCK) * sizeof *losers);
            for (int64_t p = 0; p < n_pairs; p++) {
                const int32_t *restrict r = rank + p * m + low, *restrict s = rank_too + p * m + low;
                const int32_t a = above[p * n + i], b = above_too[p * n + i];
                if (!labels) {
                    for (int64_t j = 0; j < size; j++)
                        differs[j] |= (r[j] >= a) ^ (s[j] >= b);
                } else {
                    int32_t *restrict c = losers + 2 * first[p] * NBC_ENUMERATION_BLOCK;
                    int32_t *restrict d = losers + 2 * second[p] * NBC_ENUMERATION_BLOCK;
                    for (int64_t j = 0; j < size; j++) {
                        c[j] |= !(r[j] >= a);
                        d[j] |= r[j] >= a;
                        c[NBC_ENUMERATION_BLOCK + j] |= !(s[j] >= b);
                        d[NBC_ENUMERATION_BLOCK + j] |= s[j] >= b;
                    }
                }
            }
            if (labels)
                for (int64_t c = 0; c < n_classes; c++) {
                    const int32_t *restrict of_c = losers + 2 * c * NBC_ENUMERATION_BLOCK;
                    for (int64_t j = 0; j < size; j++)
                        differs[j] |= of_c[j] ^ of_c[NBC_ENUMERATION_BLOCK + j];
                }
            for (int64_t j = 0; j < size; j++)
                any |= differs[j];
            if (!any)
                continue;
            for (int64_t j = 0; j < size; j++)
                if (differs[j]) {
                    if (*first_i < 0)
                        *first_i = i, *first_j = low + j;
                    of_row += rank_weight[low + j];
                }
        }
        total += of_row * weight[i];
    }
    return total;
}
#endif
