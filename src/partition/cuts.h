/* Where a node is cut on an attribute, and what its parts hold. */
#ifndef NBCFAST_CUTS_H
#define NBCFAST_CUTS_H

#include "partition/records.h"
#include "partition/safe.h"

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

NBC_CLONED(nbc_cut_t, nbc_cut_few, (const char *rows, int64_t n, int64_t stride, int64_t attribute, int64_t lo,
                                    int64_t hi),
           (rows, n, stride, attribute, lo, hi))
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

NBC_CLONED(int, nbc_cut_wide, (const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                               int64_t attribute, int64_t lo, int64_t hi, nbc_cut_t *cut),
           (q, s, rows, n, people, attribute, lo, hi, cut))
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
static nbc_cut_t nbc_cut_counts(const int64_t *people_of, const int64_t *rows_of, int64_t people, int64_t lo,
                                int64_t hi)
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
NBC_CLONED(int, nbc_code_counts, (const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n,
                                  int64_t attribute, int64_t lo, int64_t hi, const nbc_joint *joint,
                                  const int64_t *first, const int64_t **rows_at),
           (q, s, rows, n, attribute, lo, hi, joint, first, rows_at))
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

NBC_CLONED(int, nbc_tally_any, (const nbc_problem *q, const char *rows, int64_t n, int64_t attribute,
                                const nbc_kid *kids, int64_t n_kids, int64_t size, int64_t value_at, int64_t *hist,
                                nbc_longs *touched, int64_t all_cells),
           (q, rows, n, attribute, kids, n_kids, size, value_at, hist, touched, all_cells))
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

#endif
