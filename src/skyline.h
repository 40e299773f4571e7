/* Privacy Skyline: the integer tables that decide, and the breach of a point from them.

   n people of a group, c of them with the value s, N = n - c, r_1 >= r_2 >= ... the counts of the group,
   P_l = r_1 + .. + r_l, W_l(s) = n - P_l - min(c, r_{l+1}).

   Tables: VN (s, c) -> least N, TW (s, c) -> least W_l for each l, MO (r_1, n - r_1) -> least n - P_{l+1}.
   The smaller of two minima is the same in whatever order they are met. */
#ifndef NBCFAST_SKYLINE_H
#define NBCFAST_SKYLINE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "shared/columns.h"

#define NBC_OUT_OF_MEMORY (-2)
#define NBC_NO_GROUP (-3)   /* what stands where a group was is none */
#define NBC_RANKED 48       /* so many counts are sorted without branches */
#define NBC_NEAR 1e-9       /* floats this near to each other are left to integers */
#define NBC_TINY 1e-280     /* below, a product may have lost its digits */

/* Rows of `width` minima found by two keys. */
typedef struct {
    int64_t *keys;      /* two a row */
    int64_t *least;     /* width a row */
    uint32_t *slots;    /* row + 1, or 0 */
    int64_t mask, size, room, width;
} nbc_minima;

NBC_INLINE uint64_t nbc_pair_hash(int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)b;
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static int nbc_minima_grow(nbc_minima *table)
{
    const int64_t n_slots = table->mask ? 2 * (table->mask + 1) : 256, room = n_slots / 2;
    uint32_t *slots = (uint32_t *)calloc((size_t)n_slots, sizeof *slots);
    int64_t *keys = (int64_t *)realloc(table->keys, (size_t)(2 * room) * sizeof *keys);
    int64_t *least = NULL;
    if (keys)
        table->keys = keys;
    if (keys && slots)
        least = (int64_t *)realloc(table->least, (size_t)(room * table->width) * sizeof *least);
    if (!least || room > UINT32_MAX - 1) {
        if (least)
            table->least = least;
        free(slots);
        return NBC_OUT_OF_MEMORY;
    }
    table->least = least;
    for (int64_t row = 0; row < table->size; row++) {
        uint64_t place = nbc_pair_hash(keys[2 * row], keys[2 * row + 1]) & (uint64_t)(n_slots - 1);
        while (slots[place])
            place = (place + 1) & (uint64_t)(n_slots - 1);
        slots[place] = (uint32_t)(row + 1);
    }
    free(table->slots);
    table->slots = slots;
    table->mask = n_slots - 1;
    table->room = room;
    return 0;
}

/* The minima of (a, b), INT64_MAX where they are new; NULL without memory. */
NBC_INLINE int64_t *nbc_minima_at(nbc_minima *table, int64_t a, int64_t b)
{
    uint64_t place;
    int64_t row;
    if (table->size == table->room && nbc_minima_grow(table))
        return NULL;
    place = nbc_pair_hash(a, b) & (uint64_t)table->mask;
    for (; table->slots[place]; place = (place + 1) & (uint64_t)table->mask) {
        row = table->slots[place] - 1;
        if (table->keys[2 * row] == a && table->keys[2 * row + 1] == b)
            return table->least + row * table->width;
    }
    row = table->size++;
    table->slots[place] = (uint32_t)(row + 1);
    table->keys[2 * row] = a;
    table->keys[2 * row + 1] = b;
    for (int64_t i = 0; i < table->width; i++)
        table->least[row * table->width + i] = INT64_MAX;
    return table->least + row * table->width;
}

static void nbc_minima_free(nbc_minima *table)
{
    free(table->keys);
    free(table->least);
    free(table->slots);
}

typedef struct {
    const int64_t *offsets;
    const uint32_t *values;
    const int64_t *counts;
    const int64_t *sizes;
    int64_t n_pairs, most_distinct;     /* of values and counts; the most that a group has */
} nbc_groups;

/* How many pairs a group has that starts at `first`, which is 0 or where another one ended; 0 where they do not lie
   among all pairs, as they did when they were given: the arrays are the caller's, and each place is read once. */
NBC_INLINE int64_t nbc_distinct(const nbc_groups *groups, int64_t g, int64_t first)
{
    const int64_t next = NBC_ONCE(int64_t, groups->offsets + g + 1);
    const uint64_t distinct = (uint64_t)next - (uint64_t)first;
    /* Without sign a group that ends where it starts, or before, is a very large one. */
    if (next > groups->n_pairs || distinct - 1 >= (uint64_t)groups->most_distinct)
        return 0;
    return (int64_t)distinct;
}

/* Where a group starts that is among the first ones looked at; -1 where that is not among the pairs. */
NBC_INLINE int64_t nbc_start(const nbc_groups *groups, int64_t g)
{
    const int64_t first = NBC_ONCE(int64_t, groups->offsets + g);
    return first >= 0 && first <= groups->n_pairs ? first : -1;
}

typedef struct {
    int64_t n_values, n_ls, near;   /* counts up to `near` have a row of their own in `direct` */
    int64_t width;                  /* of a row of minima: 1 + n_ls, rounded up so that it makes whole vectors */
    const int64_t *ls;              /* rising */
    int64_t *direct;                /* n_values * near rows: N, then W of each l, then nothing */
    int64_t *top;                   /* space for the largest counts of a group: as many as n_values, + 1 */
    int64_t *rest, *next;           /* a row's new values are rest - min(c, next): n - P_l and r_{l+1} of each l */
    nbc_minima pairs, modes;        /* by (s, c) with c > near, by (r_1, n - r_1) */
} nbc_scan;

static int64_t nbc_scan_width(int64_t n_ls)
{
    return n_ls < 2 ? 2 : n_ls < 4 ? 4 : (n_ls + 8) / 8 * 8;
}

static int nbc_falling(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* The `most` largest of n counts, falling, and a zero after them; how many there are. */
NBC_INLINE int64_t nbc_largest(const int64_t *restrict counts, int64_t n, int64_t most,
                               int64_t *restrict top)
{
    int64_t kept = 0;
    if (n == 1) {
        top[0] = counts[0];
        kept = 1;
    } else if (n > 3 && n <= NBC_RANKED) {
        /* Everybody's rank at once: no branch depends on the counts. Keys differ, as their places do. */
        int64_t keys[NBC_RANKED], ranks[NBC_RANKED], beyond = 0;
        const int64_t room = (n + 7) / 8 * 8;
        for (int64_t i = 0; i < room; i++) {
            keys[i] = i < n ? (int64_t)((uint64_t)counts[i] << 6) + i : 0;
            ranks[i] = 0;
            beyond |= i < n ? counts[i] >> 56 : 0;
        }
        if (!beyond) {
            for (int64_t j = 0; j < n; j++) {
                const int64_t key = keys[j];
                for (int64_t i = 0; i < room; i++)
                    ranks[i] += key > keys[i];
            }
            for (int64_t i = 0; i < n; i++)
                top[ranks[i]] = counts[i];
            kept = n < most ? n : most;
        }
    }
    if (kept)
        ;
    else if (n > NBC_RANKED && most > 16) {
        memcpy(top, counts, (size_t)n * sizeof *top);
        qsort(top, (size_t)n, sizeof *top, nbc_falling);
        kept = n < most ? n : most;
    } else {
        for (int64_t i = 0; i < n; i++) {
            const int64_t count = counts[i];
            int64_t j;
            if (kept == most) {
                if (count <= top[most - 1])
                    continue;
                kept--;
            }
            for (j = kept; j > 0 && top[j - 1] < count; j--)
                top[j] = top[j - 1];
            top[j] = count;
            kept++;
        }
    }
    top[kept] = 0;
    return kept;
}

/* Without sign, here and below: counts are looked at in the same pass, and until then may be anything. */
NBC_INLINE int64_t nbc_less(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

NBC_INLINE void nbc_lower(int64_t *restrict least, const int64_t *restrict rest, const int64_t *restrict next,
                          int64_t c, int64_t width)
{
    for (int64_t j = 0; j < width; j++) {
        const int64_t x = nbc_less(rest[j], c < next[j] ? c : next[j]);
        least[j] = x < least[j] ? x : least[j];
    }
}

/* The minima of groups start .. stop-1. Returns 0, NBC_OUT_OF_MEMORY, -1 for a value out of range, or NBC_NO_GROUP
   where counts are not positive or do not add up to the size of their group. */
NBC_INLINE int nbc_scan_wide(nbc_scan *scan, const nbc_groups *groups, int64_t start, int64_t stop,
                             int64_t width)
{
    const int64_t n_ls = scan->n_ls, most = scan->ls[n_ls - 1] + 1;
    int64_t *const rest = scan->rest, *const next = scan->next, *const top = scan->top;
    for (int64_t j = 0; j < width; j++) {
        rest[j] = INT64_MAX;    /* of places that no l has: never less than what is there */
        next[j] = 0;
    }
    next[0] = INT64_MAX;        /* N = n - c */
    int64_t first = nbc_start(groups, start), distinct;
    if (first < 0)
        return NBC_NO_GROUP;
    for (int64_t g = start; g < stop; g++, first += distinct) {
        const int64_t n = groups->sizes[g];
        distinct = nbc_distinct(groups, g, first);
        if (distinct == 0 || n < 1)
            return NBC_NO_GROUP;
        const int64_t kept = nbc_largest(groups->counts + first, distinct, most < distinct ? most : distinct, top);
        int64_t *least, p = 0;
        uint64_t sum = 0, people = 0;
        rest[0] = n;
        for (int64_t j = 0; j < n_ls; j++) {
            const int64_t l = scan->ls[j] < kept ? scan->ls[j] : kept;
            for (; p < l; p++)
                sum += (uint64_t)top[p];
            rest[1 + j] = nbc_less(n, (int64_t)sum);
            next[1 + j] = top[l];
        }
        least = nbc_minima_at(&scan->modes, top[0], nbc_less(n, top[0]));
        if (!least)
            return NBC_OUT_OF_MEMORY;
        nbc_lower(least, rest, next, top[0], width);
        for (int64_t i = first; i < first + distinct; i++) {
            const int64_t s = NBC_ONCE(uint32_t, groups->values + i), c = NBC_ONCE(int64_t, groups->counts + i);
            if (s >= scan->n_values)
                return -1;
            if ((uint64_t)c - 1 < (uint64_t)scan->near) /* too small for a sum that wraps */
                least = scan->direct + (s * scan->near + c - 1) * width;
            else if (c < 1 || people > (uint64_t)n || (uint64_t)c > (uint64_t)n - people)
                return NBC_NO_GROUP;
            else if (!(least = nbc_minima_at(&scan->pairs, s, c)))
                return NBC_OUT_OF_MEMORY;
            people += (uint64_t)c;
            nbc_lower(least, rest, next, c, width);
        }
        if (people != (uint64_t)n)
            return NBC_NO_GROUP;
    }
    return 0;
}

NBC_CLONED(int, nbc_scan_groups, (nbc_scan *scan, const nbc_groups *groups, int64_t start, int64_t stop),
           (scan, groups, start, stop))
{
    switch (scan->width) {
    case 2: return nbc_scan_wide(scan, groups, start, stop, 2);
    case 4: return nbc_scan_wide(scan, groups, start, stop, 4);
    case 8: return nbc_scan_wide(scan, groups, start, stop, 8);
    case 16: return nbc_scan_wide(scan, groups, start, stop, 16);
    default: return nbc_scan_wide(scan, groups, start, stop, scan->width);
    }
}

/* Entries sorted by value, falling count, rising x: keep those for which no larger count has so small an x. */
static void nbc_front(const int64_t *values, const int64_t *x, int64_t n, uint8_t *keep)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || values[i] != values[i - 1])
            least = INT64_MAX;
        keep[i] = x[i] < least;
        least = x[i] < least ? x[i] : least;
    }
}

/* Entries sorted by falling c, falling a, rising n, rising w: keep those that no other is at least as bad as
   in all four. `kept` has n places. The nearest are looked at first: they are the likeliest to be worse. */
static int64_t nbc_front_modes(const int64_t *a, const int64_t *w, const int64_t *c, const int64_t *n,
                               int64_t size, uint8_t *keep, int64_t *kept)
{
    int64_t found = 0;
    for (int64_t i = 0; i < size; i++) {
        int64_t j = found - 1;
        while (j >= 0 && !(a[kept[j]] >= a[i] && w[kept[j]] <= w[i] && c[kept[j]] >= c[i] && n[kept[j]] <= n[i]))
            j--;
        keep[i] = j < 0;
        if (j < 0)
            kept[found++] = i;
    }
    return found;
}

/* Pruned tables: entries of a value v are start[v] .. start[v + 1] - 1. */
typedef struct {
    int64_t n_values, n_modes;
    const int64_t *vn_start, *vn_c, *vn_n;
    const int64_t *tw_start, *tw_c, *tw_w;
    const int64_t *mo_a, *mo_w, *mo_c, *mo_n;   /* odds (w - k) / a, and n, c of the people who imply */
} nbc_tables;

#define NBC_FACTORS 4096    /* of a product that are multiplied one by one, at its steep end */

/* 5-point Gauss-Legendre on [-1, 1]: blocks are so much shorter than the way to the pole that the error of a
   block is below 2^-40 of it. */
static const double nbc_nodes[3] = {0., .5384693101056831, .9061798459386640};
static const double nbc_weights[3] = {.5688888888888889, .4786286704993665, .2369268850561891};

/* sum_{start <= j < stop} ln(1 - g / (d - j)) for d - stop - g >= NBC_FACTORS, to a relative 2^-36.

   Midpoint sums: the sum is the integral from start - 1/2 to stop - 1/2, less a 24th of the difference of the
   derivative at its ends, less what is of the order of its third derivative, below 2^-32 / NBC_FACTORS. The
   function is smooth up to its pole at d - g, and a block is an eighth as long as the way there. */
static double nbc_log_fall(double d, double g, double start, double stop)
{
    double x = start - .5, sum = 0;
    const double end = stop - .5;
    while (x < end) {
        const double way = (d - g - x) / 8, next = x + way < end ? x + way : end, half = (next - x) / 2;
        double block = 0;
        for (int i = 0; i < 3; i++) {
            block += nbc_weights[i] * log1p(-g / (d - x - half - half * nbc_nodes[i]));
            if (i)
                block += nbc_weights[i] * log1p(-g / (d - x - half + half * nbc_nodes[i]));
        }
        sum += half * block;
        if (sum < -800)     /* exp underflows */
            return sum;
        x = next;
    }
    /* The derivative is -g / ((d - x) (d - x - g)). */
    sum += (g / ((d - end) * (d - end - g)) - g / ((d - start + .5) * (d - start + .5 - g))) / 24;
    return sum;
}

/* prod_{i<m} (n - i) / (n + c - i), 0 as soon as a numerator is: c factors say the same where that is less.
   Stops below `least`. */
NBC_INLINE double nbc_fall(int64_t n, int64_t c, int64_t m, double least)
{
    double product = 1;
    if (m > n || n <= 0)
        return m > 0 ? 0 : 1;
    if (m > 4 * NBC_FACTORS && c > 4 * NBC_FACTORS) {
        const int64_t few = m < c ? m : c, many = m < c ? c : m;
        /* The factors are 1 - many / (n + c - j) for j < few, the last of them the smallest. */
        const int64_t first = few - NBC_FACTORS;
        for (int64_t j = first; j < few && product > least; j++)
            product *= (double)(n + c - j - many) / (double)(n + c - j);
        if (product > least)
            product *= exp(nbc_log_fall((double)(n + c), (double)many, 0, (double)first));
        return product;
    }
    if (m <= c)
        for (int64_t i = 0; i < m && product > least; i++)
            product *= (double)(n - i) / (double)(n + c - i);
    else
        for (int64_t j = 0; j < c && product > least; j++)
            product *= (double)(n - m + c - j) / (double)(n + c - j);
    return product;
}

typedef struct {
    double odds;        /* R */
    int64_t kind;       /* which of the three cases; 0 before any */
    int64_t value;      /* s; -1 in case 1, where it is that of a mode */
    int64_t t, v;       /* entries of TW and VN; in case 1, t is the entry of MO */
    int ambiguous;      /* whether floats cannot tell which of several is least */
    int certain;        /* whether the odds are 0 exactly */
} nbc_worst;

typedef struct {
    double least;
    int64_t entry;
    int ambiguous;
} nbc_least;

NBC_INLINE int nbc_near(double a, double b)
{
    const double larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger < NBC_TINY || larger - smaller <= NBC_NEAR * larger;
}

/* Keep the least; equal ones, which a front without equal entries does not hold, are for integers. */
NBC_INLINE void nbc_keep(nbc_least *best, double odds, int64_t entry)
{
    if (best->entry < 0) {
        best->least = odds;
        best->entry = entry;
        return;
    }
    if (odds < best->least) {
        best->ambiguous = nbc_near(odds, best->least);
        best->least = odds;
        best->entry = entry;
    } else if (nbc_near(odds, best->least))
        best->ambiguous = 1;
}

NBC_INLINE int nbc_same(const nbc_tables *tables, const nbc_worst *a, int64_t kind, int64_t t, int64_t v)
{
    return a->kind == kind && kind != 1 && tables->tw_c[a->t] == tables->tw_c[t]
        && tables->tw_w[a->t] == tables->tw_w[t] && tables->vn_c[a->v] == tables->vn_c[v]
        && tables->vn_n[a->v] == tables->vn_n[v];
}

NBC_INLINE void nbc_offer(nbc_worst *worst, const nbc_tables *tables, double odds, int64_t kind, int64_t value,
                          int64_t t, int64_t v, int ambiguous)
{
    /* The same integers are the same odds: no tie that integers could break. */
    if (!ambiguous && nbc_same(tables, worst, kind, t, v))
        return;
    if (!worst->kind || odds < worst->odds) {
        const int near = worst->kind && nbc_near(odds, worst->odds);
        worst->odds = odds;
        worst->kind = kind;
        worst->value = value;
        worst->t = t;
        worst->v = v;
        worst->ambiguous = ambiguous || near;
    } else if (nbc_near(odds, worst->odds))
        worst->ambiguous = 1;
}

/* The least odds of (k, m). Products stop below `enough`, where the least odds are not asked for but only
   whether they are above: pass 0 for their value. */
static void nbc_breach(const nbc_tables *tables, int64_t k, int64_t m, double enough, nbc_worst *worst)
{
    nbc_least best = {0, -1, 0};
    memset(worst, 0, sizeof *worst);
    worst->value = -1;
    for (int64_t e = 0; e < tables->n_modes; e++)
        if (k >= tables->mo_w[e] || (m > 0 && k + m >= tables->mo_n[e])) {
            worst->kind = 1;
            worst->t = e;
            worst->certain = 1;
            return;
        }
    for (int64_t e = 0; e < tables->n_modes; e++) {
        const double odds = (double)(tables->mo_w[e] - k) / (double)tables->mo_a[e];
        const double fall = nbc_fall(tables->mo_n[e] - 1 - k, tables->mo_c[e], m, enough / odds);
        nbc_keep(&best, odds * fall, e);
    }
    worst->kind = 1;
    worst->odds = best.least;
    worst->t = best.entry;
    worst->ambiguous = best.ambiguous;
    if (m == 0)
        return;
    for (int64_t s = 0; s < tables->n_values; s++) {
        nbc_least two = {0, -1, 0}, three = {0, -1, 0}, four = {0, -1, 0}, five = {0, -1, 0};
        for (int64_t e = tables->tw_start[s]; e < tables->tw_start[s + 1]; e++) {
            const int64_t w = tables->tw_w[e], left = w - k;
            nbc_keep(&two, (double)(left > 0 ? left : 0) / (double)tables->tw_c[e], e);
            nbc_keep(&four, (double)w / (double)tables->tw_c[e], e);
        }
        if (two.entry < 0)
            continue;
        for (int64_t e = tables->vn_start[s]; e < tables->vn_start[s + 1]; e++) {
            const int64_t n = tables->vn_n[e], c = tables->vn_c[e];
            nbc_keep(&three, nbc_fall(n, c, m, enough / two.least), e);
            if (k > 0)
                nbc_keep(&five, nbc_fall(n - k, c, m, enough / four.least), e);
        }
        nbc_offer(worst, tables, two.least * three.least, 2, s, two.entry, three.entry,
                  two.ambiguous || three.ambiguous);
        if (k > 0)  /* else the third case is the second */
            nbc_offer(worst, tables, four.least * five.least, 3, s, four.entry, five.entry,
                      four.ambiguous || five.ambiguous);
    }
}

/* The first group that has what an entry of a table says. kind 0: VN (s, c, N); 1: TW (s, c, W);
   2: MO (c, N, W), whose value is the first with the largest count. */
typedef struct {
    int64_t kind, value, c, n, w, l;
    int64_t group;      /* out: -1 until it is found */
} nbc_wanted;

NBC_INLINE uint64_t nbc_bit(int64_t c)
{
    return (uint64_t)c * UINT64_C(0x9E3779B97F4A7C15) >> 48;
}

/* `open` has room for n_wanted numbers. Returns how many were not found, or NBC_NO_GROUP. */
static int64_t nbc_locate(const nbc_groups *groups, int64_t n_groups, nbc_wanted *wanted, int64_t n_wanted,
                          int64_t *top, int64_t *open)
{
    uint64_t seen[1024];        /* a bit for each hash of a count that is still wanted */
    int64_t left = n_wanted, changed = 1;
    for (int64_t i = 0; i < n_wanted; i++) {
        wanted[i].group = -1;
        open[i] = i;
    }
    int64_t first = 0, distinct;
    for (int64_t g = 0; g < n_groups && left; g++, first += distinct) {
        const int64_t n = groups->sizes[g];
        distinct = nbc_distinct(groups, g, first);
        if (distinct == 0)
            return NBC_NO_GROUP;
        if (changed) {
            memset(seen, 0, sizeof seen);
            for (int64_t i = 0; i < left; i++)
                seen[nbc_bit(wanted[open[i]].c) >> 6] |= UINT64_C(1) << (nbc_bit(wanted[open[i]].c) & 63);
            changed = 0;
        }
        for (int64_t p = first; p < first + distinct; p++) {
            const int64_t c = groups->counts[p];
            const uint64_t bit = nbc_bit(c);
            if (!(seen[bit >> 6] >> (bit & 63) & 1))
                continue;
            for (int64_t i = 0; i < left; i++) {
                nbc_wanted *one = wanted + open[i];
                int64_t kept, w = n;
                if (one->c != c || (one->kind != 2 && one->value != groups->values[p])
                    || (one->kind != 1 && one->n != nbc_less(n, c)))
                    continue;
                if (one->kind != 0) {
                    const int64_t most = one->l + 1 < distinct ? one->l + 1 : distinct;
                    const int64_t l = one->l < distinct ? one->l : distinct;
                    kept = nbc_largest(groups->counts + first, distinct, most, top);
                    for (int64_t j = 0; j < l; j++)
                        w = nbc_less(w, top[j]);
                    w = nbc_less(w, l < kept ? (c < top[l] ? c : top[l]) : 0);
                    if (one->w != w || (one->kind == 2 && c != top[0]))
                        continue;
                }
                one->group = g;
                one->value = groups->values[p];
                open[i--] = open[--left];
                changed = 1;
            }
        }
    }
    return left;
}

#endif
