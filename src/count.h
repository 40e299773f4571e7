/* Naive Bayes counts: for every attribute how often each (value, class) pair occurs.

   Attributes are taken together in groups. A group and the class share one mixed-radix
   index and one table, so a row costs one increment a group, not one an attribute;
   the tables are summed out at the end. The plan (which attributes share a group) is
   made by _count.pyx. */
#ifndef NBCFAST_COUNT_H
#define NBCFAST_COUNT_H

#include <string.h>
#include "shared/columns.h"
#include "shared/plans.h"

#define NBC_BLOCK 4096
#define NBC_STREAMS 32  /* with more columns the next block would leave the cache before its turn */

/* index = index * size + code; the result is the largest code met. */
#define NBC_EXTEND(NAME, TYPE)                                                              \
    NBC_INLINE uint64_t nbc_first_##NAME(uint16_t *restrict index, const uint16_t *restrict y, \
                                         const TYPE *restrict codes, uint16_t size, int64_t n) \
    {                                                                                       \
        TYPE most = 0;                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                   \
            most = codes[i] > most ? codes[i] : most;                                       \
            index[i] = (uint16_t)(y[i] * size + (uint16_t)codes[i]);                        \
        }                                                                                   \
        return most;                                                                        \
    }                                                                                       \
    NBC_INLINE uint64_t nbc_next_##NAME(uint16_t *restrict index,                           \
                                        const TYPE *restrict codes, uint16_t size, int64_t n) \
    {                                                                                       \
        TYPE most = 0;                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                   \
            most = codes[i] > most ? codes[i] : most;                                       \
            index[i] = (uint16_t)(index[i] * size + (uint16_t)codes[i]);                    \
        }                                                                                   \
        return most;                                                                        \
    }
NBC_EXTEND(u8, uint8_t)
NBC_EXTEND(u16, uint16_t)
NBC_EXTEND(u32, uint32_t)
NBC_EXTEND(u64, uint64_t)
#undef NBC_EXTEND

/* Copy a strided run of codes into a dense one of the same width. */
#define NBC_GATHER(NAME, TYPE)                                                              \
    NBC_INLINE const char *nbc_gather_##NAME(TYPE *restrict dense, const char *restrict at, \
                                             ptrdiff_t stride, int64_t n)                   \
    {                                                                                       \
        for (int64_t i = 0; i < n; i++)                                                     \
            dense[i] = *(const TYPE *)(at + i * stride);                                    \
        return (const char *)dense;                                                         \
    }
NBC_GATHER(u8, uint8_t)
NBC_GATHER(u16, uint16_t)
NBC_GATHER(u32, uint32_t)
NBC_GATHER(u64, uint64_t)
#undef NBC_GATHER

/* The codes of n rows in one dense run: the column itself where it is dense. */
NBC_INLINE const char *nbc_dense(const nbc_column *column, int64_t row, int64_t n, uint64_t *space)
{
    const char *at = column->data + row * column->stride;
    if (column->stride == column->width)
        return at;
    switch (column->width) {
    case 1: return nbc_gather_u8((uint8_t *)space, at, column->stride, n);
    case 2: return nbc_gather_u16((uint16_t *)space, at, column->stride, n);
    case 4: return nbc_gather_u32((uint32_t *)space, at, column->stride, n);
    default: return nbc_gather_u64(space, at, column->stride, n);
    }
}

/* A copy of the codes of n rows: what is read twice must not change in between, whoever else writes to
   the column. */
NBC_INLINE const char *nbc_private(const nbc_column *column, int64_t row, int64_t n, uint64_t *space)
{
    const char *codes = nbc_dense(column, row, n, space);
    if (codes != (const char *)space)
        memcpy(space, codes, (size_t)(n * column->width));
    return (const char *)space;
}

NBC_INLINE uint64_t nbc_first(uint16_t *index, const uint16_t *y, const nbc_column *column,
                              const char *codes, uint16_t size, int64_t n)
{
    switch (column->width) {
    case 1: return nbc_first_u8(index, y, (const uint8_t *)codes, size, n);
    case 2: return nbc_first_u16(index, y, (const uint16_t *)codes, size, n);
    case 4: return nbc_first_u32(index, y, (const uint32_t *)codes, size, n);
    default: return nbc_first_u64(index, y, (const uint64_t *)codes, size, n);
    }
}

NBC_INLINE uint64_t nbc_next(uint16_t *index, const nbc_column *column, const char *codes,
                             uint16_t size, int64_t n)
{
    switch (column->width) {
    case 1: return nbc_next_u8(index, (const uint8_t *)codes, size, n);
    case 2: return nbc_next_u16(index, (const uint16_t *)codes, size, n);
    case 4: return nbc_next_u32(index, (const uint32_t *)codes, size, n);
    default: return nbc_next_u64(index, (const uint64_t *)codes, size, n);
    }
}

/* Every entry has four counters beside each other, for every fourth row, so that a run of equal indices does not
   wait for its own stores. They are of 16 bits: a table takes as much of the first cache as one of two counters
   of 32 bits. Neighbouring rows never meet the same counter, and so never one 4096 bytes away, which some
   processors take for it. */
NBC_INLINE void nbc_increment(uint16_t *restrict table, const uint16_t *restrict index, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        table[4 * (size_t)index[i]]++;
        table[4 * (size_t)index[i + 1] + 1]++;
        table[4 * (size_t)index[i + 2] + 2]++;
        table[4 * (size_t)index[i + 3] + 3]++;
    }
    for (; i < n; i++)
        table[4 * (size_t)index[i]]++;
}

/* Add the counters of n entries to their sums, and clear them. */
NBC_CLONED(void, nbc_fold, (uint16_t *restrict tables, uint32_t *restrict sums, int64_t n),
           (tables, sums, n))
{
    for (int64_t i = 0; i < n; i++)
        sums[i] += (uint32_t)tables[4 * i] + tables[4 * i + 1] + tables[4 * i + 2] + tables[4 * i + 3];
    memset(tables, 0, 4 * (size_t)n * sizeof *tables);
}

/* Before n more rows are counted: no counter may pass 16 bits. *pending is the most that one of them holds. */
NBC_INLINE void nbc_make_way(uint16_t *tables, uint32_t *sums, int64_t n_entries, int64_t *pending, int64_t n)
{
    if (*pending + n / 4 + 3 > 65535) {
        nbc_fold(tables, sums, n_entries);
        *pending = 0;
    }
    *pending += n / 4 + 3;  /* the first of the four has the rows that are left over as well */
}

NBC_INLINE void nbc_prefetch(const nbc_column *column, int64_t row, int64_t n)
{
    const char *at = column->data + row * column->stride;
    if (column->stride != column->width)
        return;
    for (int64_t byte = 0; byte < n * column->width; byte += 64)
        NBC_PREFETCH(at + byte);
}

/* Count rows start .. stop-1. Columns: the attributes, then the class. The result is -1,
   or the number of a column that holds a code out of range; rows before its block are counted.
   `tables`: 4 * offset[n_groups] counters, `sums`: offset[n_groups], `index`: 2 * NBC_BLOCK, `space`: NBC_BLOCK. */
NBC_CLONED(int64_t, nbc_count_rows, (const nbc_column *columns, int64_t n_attributes, const nbc_plan *plan,
                                     uint16_t *tables, uint32_t *sums, int64_t *pending, uint16_t *index,
                                     uint64_t *space, int64_t start, int64_t stop),
           (columns, n_attributes, plan, tables, sums, pending, index, space, start, stop))
{
    static const uint16_t nothing[NBC_BLOCK];
    const nbc_column *y_column = columns + n_attributes;
    const int64_t total = plan->offset[plan->n_groups];
    const int ahead = n_attributes <= NBC_STREAMS;
    uint16_t *y = index + NBC_BLOCK;
    for (int64_t row = start; row < stop; row += NBC_BLOCK) {
        const int64_t n = stop - row < NBC_BLOCK ? stop - row : NBC_BLOCK;
        const int64_t coming = stop - row - n < NBC_BLOCK ? stop - row - n : NBC_BLOCK;
        const char *codes = nbc_dense(y_column, row, n, space);
        if (nbc_first(y, nothing, y_column, codes, 0, n) >= (uint64_t)y_column->limit)
            return n_attributes;
        if (ahead)
            nbc_prefetch(y_column, row + n, coming);
        nbc_make_way(tables, sums, total, pending, n);
        for (int64_t g = 0; g < plan->n_groups; g++) {
            for (int64_t m = plan->first[g]; m < plan->first[g + 1]; m++) {
                const nbc_column *column = columns + plan->members[m];
                const uint16_t size = (uint16_t)column->size;
                uint64_t most;
                codes = nbc_dense(column, row, n, space);
                if (m == plan->first[g])
                    most = nbc_first(index, y, column, codes, size, n);
                else
                    most = nbc_next(index, column, codes, size, n);
                if (most >= (uint64_t)column->limit)
                    return plan->members[m];
                if (ahead)
                    nbc_prefetch(column, row + n, coming);
            }
            nbc_increment(tables + 4 * plan->offset[g], index, n);
        }
    }
    return -1;
}

/* Count one attribute straight into counts[value * n_classes + class], with weights where there are any:
   for attributes whose table is too large to share, and for weighted rows. */
#define NBC_STRAIGHT(NAME, TYPE)                                                            \
    NBC_INLINE void nbc_straight_##NAME(int64_t *restrict counts, const TYPE *restrict codes, \
                                        const uint16_t *restrict y, const int64_t *restrict weights, \
                                        int64_t n_classes, int64_t n)                       \
    {                                                                                       \
        if (weights)                                                                        \
            for (int64_t i = 0; i < n; i++)                                                 \
                /* Without sign: weights were looked at by who gave them, or mean nothing. */ \
                ((uint64_t *)counts)[(int64_t)codes[i] * n_classes + y[i]] += (uint64_t)weights[i]; \
        else                                                                                \
            for (int64_t i = 0; i < n; i++)                                                 \
                counts[(int64_t)codes[i] * n_classes + y[i]]++;                             \
    }
NBC_STRAIGHT(u8, uint8_t)
NBC_STRAIGHT(u16, uint16_t)
NBC_STRAIGHT(u32, uint32_t)
NBC_STRAIGHT(u64, uint64_t)
#undef NBC_STRAIGHT

NBC_INLINE uint64_t nbc_max(const nbc_column *column, const char *codes, int64_t n)
{
    switch (column->width) {
    case 1: return nbc_max_u8((const uint8_t *)codes, n);
    case 2: return nbc_max_u16((const uint16_t *)codes, n);
    case 4: return nbc_max_u32((const uint32_t *)codes, n);
    default: return nbc_max_u64((const uint64_t *)codes, n);
    }
}

/* As nbc_count_rows, for the attributes in `members`; counts[first[a] ..] are those of attribute a. */
NBC_CLONED(int64_t, nbc_count_straight, (const nbc_column *columns, int64_t n_attributes, const int64_t *members,
                                         int64_t n_members, const int64_t *weights, int64_t *counts,
                                         const int64_t *first, uint16_t *y, uint64_t *space, int64_t start,
                                         int64_t stop),
           (columns, n_attributes, members, n_members, weights, counts, first, y, space, start, stop))
{
    static const uint16_t nothing[NBC_BLOCK];
    const nbc_column *y_column = columns + n_attributes;
    for (int64_t row = start; row < stop; row += NBC_BLOCK) {
        const int64_t n = stop - row < NBC_BLOCK ? stop - row : NBC_BLOCK;
        const int64_t *w = weights ? weights + row : NULL;
        const char *codes = nbc_dense(y_column, row, n, space);
        if (nbc_first(y, nothing, y_column, codes, 0, n) >= (uint64_t)y_column->limit)
            return n_attributes;
        for (int64_t m = 0; m < n_members; m++) {
            const nbc_column *column = columns + members[m];
            int64_t *into = counts + first[members[m]];
            codes = nbc_private(column, row, n, space);
            if (nbc_max(column, codes, n) >= (uint64_t)column->limit)
                return members[m];
            switch (column->width) {
            case 1: nbc_straight_u8(into, (const uint8_t *)codes, y, w, y_column->size, n); break;
            case 2: nbc_straight_u16(into, (const uint16_t *)codes, y, w, y_column->size, n); break;
            case 4: nbc_straight_u32(into, (const uint32_t *)codes, y, w, y_column->size, n); break;
            default: nbc_straight_u64(into, (const uint64_t *)codes, y, w, y_column->size, n); break;
            }
        }
    }
    return -1;
}

/* Add the joint tables into the counts of each attribute, and clear them. A table is summed over its
   last attribute, which leaves a table over the others, and so on. */
static void nbc_sum_out(const nbc_column *columns, int64_t n_classes, const nbc_plan *plan,
                        uint16_t *tables, uint32_t *sums, int64_t *counts, const int64_t *first)
{
    const int64_t total = plan->offset[plan->n_groups];
    nbc_fold(tables, sums, total);
    for (int64_t g = 0; g < plan->n_groups; g++) {
        uint32_t *table = sums + plan->offset[g];
        int64_t entries = plan->offset[g + 1] - plan->offset[g];
        for (int64_t m = plan->first[g + 1] - 1; m >= plan->first[g]; m--) {
            const int64_t a = plan->members[m], size = columns[a].size;
            const int64_t rest = entries / size, per_class = rest / n_classes;
            for (int64_t c = 0; c < n_classes; c++)
                for (int64_t i = c * per_class; i < (c + 1) * per_class; i++) {
                    uint32_t sum = 0;
                    for (int64_t x = 0; x < size; x++) {
                        const uint32_t count = table[i * size + x];
                        sum += count;
                        counts[first[a] + x * n_classes + c] += count;
                    }
                    table[i] = sum;
                }
            entries = rest;
        }
    }
    memset(sums, 0, (size_t)total * sizeof *sums);
}

/* Row-major input: neighbouring columns of one width whose codes all fit a byte, rows without gaps.
   A block is packed to bytes in one flat pass; then sixteen neighbouring bytes of a row become the indices of four groups at once. */
#define NBC_ROWS 512
#define NBC_LANES 4

#if defined(__GNUC__) && !defined(__clang__)
#define NBC_MATRIX 1
typedef uint8_t nbc_bytes __attribute__((vector_size(16)));
typedef uint16_t nbc_pairs __attribute__((vector_size(16)));
typedef uint32_t nbc_quads __attribute__((vector_size(16)));

/* Four groups of up to four columns each, all within sixteen columns from `first` on. Slots that
   a group leaves empty have factor 0. index = (a * low[0] + b * high[0]) * left + (c * low[1] + d * high[1])
   + class * by_class, lane by lane. */
typedef struct {
    nbc_bytes order;
    nbc_pairs low, high;
    nbc_quads left, by_class;
    int64_t first;
    int64_t n_groups;
    int64_t offset[NBC_LANES];
} nbc_window;

/* Codes to bytes, and all their bits in one word: codes beyond a byte show. */
#define NBC_PACK(NAME, TYPE)                                                                \
    NBC_INLINE uint64_t nbc_pack_##NAME(const TYPE *restrict codes, uint8_t *restrict bytes, int64_t n) \
    {                                                                                       \
        TYPE bits = 0;                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                   \
            bits |= codes[i];                                                               \
            bytes[i] = (uint8_t)codes[i];                                                   \
        }                                                                                   \
        return bits;                                                                        \
    }
NBC_PACK(u8, uint8_t)
NBC_PACK(u16, uint16_t)
NBC_PACK(u32, uint32_t)
NBC_PACK(u64, uint64_t)
#undef NBC_PACK

/* A column of rows of d bytes with a code out of range, or -1. `most` holds 64 * d maxima, so that
   64 rows are compared at a time whatever d is. */
NBC_INLINE int64_t nbc_bad_byte(const nbc_column *columns, int64_t d, const uint8_t *restrict bytes,
                                uint8_t *restrict most, int64_t n)
{
    const int64_t unit = 64 * d;
    int64_t i = 0;
    memset(most, 0, (size_t)unit);
    for (; i + unit <= n * d; i += unit)
        for (int64_t k = 0; k < unit; k++)
            most[k] = bytes[i + k] > most[k] ? bytes[i + k] : most[k];
    for (int64_t k = 0; i + k < n * d; k++)
        most[k] = bytes[i + k] > most[k] ? bytes[i + k] : most[k];
    for (int64_t half = unit / 2; half >= d; half /= 2)
        for (int64_t k = 0; k < half; k++)
            most[k] = most[k] > most[half + k] ? most[k] : most[half + k];
    for (int64_t j = 0; j < d; j++)
        if (most[j] >= columns[j].limit)
            return j;
    return -1;
}

NBC_INLINE void nbc_index_window(const nbc_window *window, const uint8_t *restrict bytes, int64_t d,
                                 const uint16_t *restrict y, uint32_t *restrict index, int64_t n,
                                 const char *next, int64_t step)
{
    const nbc_bytes order = window->order;
    const nbc_pairs low = window->low, high = window->high;
    const nbc_quads left = window->left, by_class = window->by_class;
    bytes += window->first;
    for (int64_t i = 0; i < n; i++, bytes += d) {
        nbc_bytes codes;
        NBC_PREFETCH(next + i * step);  /* the same row of the next block, and the line that it may reach */
        NBC_PREFETCH(next + i * step + 64);
        memcpy(&codes, bytes, 16);
        const nbc_pairs slots = (nbc_pairs)__builtin_shuffle(codes, order);
        const nbc_quads halves = (nbc_quads)((slots & 0xff) * low + (slots >> 8) * high);
        const uint32_t c = y[i];
        const nbc_quads joint = (halves & 0xffff) * left + (halves >> 16) + (nbc_quads){c, c, c, c} * by_class;
        memcpy(index + NBC_LANES * i, &joint, 16);
    }
}

#define NBC_COUNT_LANES(LANES)                                                              \
    for (; i + 4 <= n; i += 4)                                                              \
        for (int row = 0; row < 4; row++)                                                   \
            for (int lane = 0; lane < LANES; lane++)                                        \
                table[lane][4 * (size_t)index[NBC_LANES * (i + row) + lane] + (size_t)row]++; \
    for (; i < n; i++)                                                                      \
        for (int lane = 0; lane < LANES; lane++)                                            \
            table[lane][4 * (size_t)index[NBC_LANES * i + lane]]++;

NBC_INLINE void nbc_increment_lanes(const nbc_window *window, uint16_t *tables, const uint32_t *restrict index,
                                    int64_t n)
{
    uint16_t *table[NBC_LANES];
    int64_t i = 0;
    for (int lane = 0; lane < NBC_LANES; lane++)
        table[lane] = tables + 4 * window->offset[lane];
    switch (window->n_groups) {
    case 1: NBC_COUNT_LANES(1); break;
    case 2: NBC_COUNT_LANES(2); break;
    case 3: NBC_COUNT_LANES(3); break;
    default: NBC_COUNT_LANES(4); break;
    }
}
#undef NBC_COUNT_LANES

/* As nbc_count_rows. `bytes`: NBC_ROWS * n_attributes + 16, `most`: 64 * n_attributes,
   `y`: NBC_ROWS, `index`: NBC_LANES * NBC_ROWS, `space`: NBC_ROWS. */
NBC_CLONED(int64_t, nbc_count_matrix, (const nbc_column *columns, int64_t n_attributes, const nbc_window *windows,
                                       int64_t n_windows, int64_t total, uint16_t *tables, uint32_t *sums,
                                       int64_t *pending, uint8_t *bytes, uint8_t *most, uint16_t *y, uint32_t *index,
                                       uint64_t *space, int64_t start, int64_t stop),
           (columns, n_attributes, windows, n_windows, total, tables, sums, pending, bytes, most, y, index, space,
            start, stop))
{
    static const uint16_t nothing[NBC_ROWS];
    const nbc_column *y_column = columns + n_attributes;
    const int64_t d = n_attributes;
    for (int64_t row = start; row < stop; row += NBC_ROWS) {
        const int64_t n = stop - row < NBC_ROWS ? stop - row : NBC_ROWS;
        const char *codes = nbc_dense(y_column, row, n, space);
        uint64_t bits = 0;
        int64_t bad;
        if (nbc_first(y, nothing, y_column, codes, 0, n) >= (uint64_t)y_column->limit)
            return n_attributes;
        codes = columns[0].data + row * columns[0].stride;
        switch (columns[0].width) {
        case 1: bits = nbc_pack_u8((const uint8_t *)codes, bytes, n * d); break;
        case 2: bits = nbc_pack_u16((const uint16_t *)codes, bytes, n * d); break;
        case 4: bits = nbc_pack_u32((const uint32_t *)codes, bytes, n * d); break;
        default: bits = nbc_pack_u64((const uint64_t *)codes, bytes, n * d); break;
        }
        bad = bits > 255 ? 0 : nbc_bad_byte(columns, d, bytes, most, n);
        if (bad >= 0)
            return bad;
        codes += n * columns[0].stride;
        nbc_make_way(tables, sums, total, pending, n);
        for (int64_t w = 0; w < n_windows; w++) {
            nbc_index_window(windows + w, bytes, d, y, index, n, codes, columns[0].stride);
            nbc_increment_lanes(windows + w, tables, index, n);
        }
    }
    return -1;
}
#endif
#endif
