/* Costs: how far each class is below the best one of a table entry, in whole units of 16 bits.

   A row adds up one entry a table. Adding the same to all classes of an entry changes no comparison, so the
   best class of each has cost 0, and costs stay small: 16 classes take 32 bytes where doubles take 128.

   What is proven. A unit is 1/unit of a natural logarithm. Let v be the floats of an entry, m their largest
   and q = floor((m - v) * unit + 1/2), at most `cap` (which also stands for X = 0, and for an entry without any
   class). With u = 2^-53, m - v and its product with `unit` are each within a part u of themselves, and the sum
   with 1/2 is, all below 2^17: so q is within 1/2 + 2^17 * 3u < 1/2 + NBC_COST_SLACK of (m - v) * unit where
   q < cap, and else (m - v) * unit is at least q - 1/2 - NBC_COST_SLACK.
   The floats of the parts of a row add up to ln X within 2 * bound: `bound` allows n + 5 roundings of twice
   the largest sizes of all terms together, and here are at most n additions, two roundings a part for its
   share of the base (which is cut by numbers of attributes, so the shares add up to all of it), and the 5.
   So with P parts, Q the sum of q, and M the sum of m, every class has
       M * unit - ln X * unit >= Q - P (1/2 + NBC_COST_SLACK) - 2 * bound * unit,
   and a class of which no entry is cut, as where Q < cap, is within as much on the other side too, and X > 0.
   If no entry of w is cut and Q_c - Q_w > near = 2 P (1/2 + NBC_COST_SLACK) + 4 * bound * unit, then X_w > X_c.
   Where this leaves more classes than w, floats and exact integers decide between them, as in score.h; where
   entries of w are cut, between all. */
#ifndef NBCFAST_COSTS_H
#define NBCFAST_COSTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/columns.h"
#include "shared/plans.h"

#define NBC_COST_SLACK 0x1p-30  /* far above 2^17 * 3 * 2^-53 */
#define NBC_COST_BLOCK 1024     /* rows whose joint indices are made at a time: NBC_SCORE_BLOCK */
#define NBC_MOST_COST 65535
#define NBC_TILE_COSTS 65536    /* a tile has no more, unless eight rows have */

typedef struct {
    int64_t lanes;       /* numbers an entry: one a class, then the largest again; 4, or a multiple of 8; 0: no costs */
    int64_t tile;        /* rows added up at a time, a multiple of 8: their sums stay in the first cache, if they can */
    int64_t n_parts;     /* tables: the groups of the plan, then the attributes in no group */
    int64_t *offset;     /* n_parts + 1: entries before a part's */
    int64_t n_chunks;
    int64_t *chunk;      /* n_chunks + 1: parts whose sums fit 16 bits together */
    uint16_t *tables;    /* every entry within one line of the cache, or from the start of one */
    void *memory;        /* what `tables` is in */
    uint8_t *cut;        /* whether a class has an entry that is cut */
    uint16_t near;       /* a sum more than this above another is that of a lower X */
    uint16_t cap;        /* entries of this are cut; a sum below it has none */
} nbc_costs;

/* Room for one thread: the sums of a tile row by row, and class by class. */
typedef struct {
    uint16_t *sums;      /* lanes * tile */
    uint16_t *columns;   /* lanes * tile */
    uint32_t *wide;      /* lanes * tile, where there is more than one chunk */
    uint32_t *low;       /* tile: what the columns are above */
    uint16_t *best;      /* tile */
    uint16_t *second;    /* tile */
} nbc_cost_room;

static int64_t nbc_lanes(int64_t n_classes)
{
    return n_classes <= 4 ? 4 : (n_classes + 7) / 8 * 8;
}

/* Of very many classes as few rows as possible: every thread has room for a tile. */
static int64_t nbc_tile(int64_t lanes)
{
    const int64_t rows = NBC_TILE_COSTS / lanes / 8 * 8;
    return lanes <= 16 ? 256 : lanes <= 32 ? 128 : rows > 64 ? 64 : rows > 8 ? rows : 8;
}

/* What a thread needs; 0 where memory lacks, then nbc_drop_cost_room too. */
static int nbc_make_cost_room(const nbc_costs *costs, nbc_cost_room *room)
{
    const size_t n = (size_t)(costs->lanes * costs->tile), tile = (size_t)costs->tile;
    room->sums = calloc(n, sizeof *room->sums);
    room->columns = calloc(n, sizeof *room->columns);
    room->wide = calloc(costs->n_chunks > 1 ? n : 1, sizeof *room->wide);
    room->low = calloc(tile, sizeof *room->low);
    room->best = calloc(tile, sizeof *room->best);
    room->second = calloc(tile, sizeof *room->second);
    return room->sums && room->columns && room->wide && room->low && room->best && room->second;
}

static void nbc_drop_cost_room(nbc_cost_room *room)
{
    free(room->sums);
    free(room->columns);
    free(room->wide);
    free(room->low);
    free(room->best);
    free(room->second);
}

/* Costs of one entry from its floats v; the largest of them. */
NBC_INLINE uint16_t nbc_cost_entry(const double *restrict v, int64_t width, int64_t n_classes, double unit,
                                   double cap, uint16_t *restrict costs, int64_t lanes)
{
    double high[4] = {v[0], v[1], v[2], v[3]}, most;
    uint16_t largest = 0;
    for (int64_t w = 4; w < width; w += 4)
        for (int64_t k = 0; k < 4; k++)
            high[k] = v[w + k] > high[k] ? v[w + k] : high[k];
    high[0] = high[2] > high[0] ? high[2] : high[0];
    high[1] = high[3] > high[1] ? high[3] : high[1];
    most = high[1] > high[0] ? high[1] : high[0];
    for (int64_t c = 0; c < n_classes; c++) {
        const double cost = (most - v[c]) * unit;
        costs[c] = (uint16_t)(int32_t)((cost < cap ? cost : cap) + 0.5);  /* no number: the cap */
        largest = costs[c] > largest ? costs[c] : largest;
    }
    for (int64_t c = n_classes; c < lanes; c++)
        costs[c] = largest;
    return largest;
}

/* The table of one part from the floats of its attributes: singles[first[a] + code], `width` each; its largest
   cost. `space`: as many entries as the part has without its last attribute, and one more. */
NBC_CLONED(uint16_t, nbc_cost_table, (const nbc_column *columns, const int64_t *members, int64_t n_members,
                                      int64_t n_attributes, const int64_t *first, const double *singles,
                                      const double *base, int64_t width, int64_t n_classes, double unit, double cap,
                                      double *restrict space, uint16_t *restrict table, int64_t lanes),
           (columns, members, n_members, n_attributes, first, singles, base, width, n_classes, unit, cap, space,
            table, lanes))
{
    const int64_t last = members[n_members - 1], size = columns[last].size;
    double *restrict sums = space + width;
    int64_t filled = 1;
    uint16_t largest = 0;
    for (int64_t w = 0; w < width; w++)
        sums[w] = base[w] * (double)n_members / (double)n_attributes;
    /* From the last combination down, so that a table over the first attributes can grow in place. */
    for (int64_t m = 0; m < n_members - 1; m++) {
        const int64_t values = columns[members[m]].size;
        const double *single = singles + first[members[m]] * width;
        for (int64_t i = filled - 1; i >= 0; i--)
            for (int64_t x = values - 1; x >= 0; x--)
                for (int64_t w = 0; w < width; w++)
                    sums[(i * values + x) * width + w] = sums[i * width + w] + single[x * width + w];
        filled *= values;
    }
    for (int64_t i = 0; i < filled; i++)
        for (int64_t x = 0; x < size; x++) {
            const double *single = singles + (first[last] + x) * width;
            uint16_t most;
            for (int64_t w = 0; w < width; w++)
                space[w] = sums[i * width + w] + single[w];
            most = nbc_cost_entry(space, width, n_classes, unit, cap, table + (i * size + x) * lanes,
                                  lanes);
            largest = most > largest ? most : largest;
        }
    return largest;
}

/* Vectors of 16-bit sums, where the compiler has them; they are loaded and stored at any address. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define NBC_VECTORS 1
typedef uint16_t nbc_8_costs __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint16_t nbc_16_costs __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint32_t nbc_4_pairs __attribute__((vector_size(16)));
typedef uint64_t nbc_2_fours __attribute__((vector_size(16)));
#define NBC_PICK(v, w, ...) __builtin_shufflevector(v, w, __VA_ARGS__)

/* Add to the sums of n rows their entries in K tables, or begin with those: BLOCKS vectors of every LANES numbers.
   With K known there are no loops within a row. */
#define NBC_ADD_ENTRIES(NAME, VECTOR, BLOCKS)                                               \
    NBC_INLINE void nbc_add_##NAME(const nbc_costs *costs, const uint16_t *index, int64_t g, const int K, \
                                   int64_t lanes, int begins, uint16_t *restrict sums, int64_t n) \
    {                                                                                       \
        const uint16_t *table[4], *of[4];                                                   \
        for (int k = 0; k < K; k++) {                                                       \
            table[k] = costs->tables + costs->offset[g + k] * lanes;                        \
            of[k] = index + (g + k) * NBC_COST_BLOCK;                                       \
        }                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                   \
            VECTOR sum[BLOCKS], *to = (VECTOR *)(sums + i * lanes);                         \
            for (int b = 0; b < (BLOCKS); b++) {                                            \
                sum[b] = ((const VECTOR *)(table[0] + of[0][i] * lanes))[b];                \
                for (int k = 1; k < K; k++)                                                 \
                    sum[b] += ((const VECTOR *)(table[k] + of[k][i] * lanes))[b];           \
                if (!begins)                                                                \
                    sum[b] += to[b];                                                        \
                to[b] = sum[b];                                                             \
            }                                                                               \
        }                                                                                   \
    }                                                                                       \
    NBC_INLINE void nbc_add_all_##NAME(const nbc_costs *costs, const uint16_t *index, int64_t first, int64_t last, \
                                       int64_t lanes, uint16_t *restrict sums, int64_t n)   \
    {                                                                                       \
        int64_t g = first;                                                                  \
        for (; g + 4 <= last; g += 4)                                                       \
            if (g == first)                                                                 \
                nbc_add_##NAME(costs, index, g, 4, lanes, 1, sums, n);                      \
            else                                                                            \
                nbc_add_##NAME(costs, index, g, 4, lanes, 0, sums, n);                      \
        if (g == first)                                                                     \
            switch (last - g) {                                                             \
            case 1: nbc_add_##NAME(costs, index, g, 1, lanes, 1, sums, n); break;           \
            case 2: nbc_add_##NAME(costs, index, g, 2, lanes, 1, sums, n); break;           \
            default: nbc_add_##NAME(costs, index, g, 3, lanes, 1, sums, n);                 \
            }                                                                               \
        else                                                                                \
            for (; g < last; g++)                                                           \
                nbc_add_##NAME(costs, index, g, 1, lanes, 0, sums, n);                      \
    }
NBC_ADD_ENTRIES(eight, nbc_8_costs, 1)
NBC_ADD_ENTRIES(sixteen, nbc_16_costs, 1)
NBC_ADD_ENTRIES(32, nbc_16_costs, 2)
NBC_ADD_ENTRIES(64, nbc_16_costs, 4)
#undef NBC_ADD_ENTRIES

/* Eight neighbouring numbers of eight rows, to eight columns. */
NBC_INLINE void nbc_turn(const uint16_t *rows, int64_t lanes, uint16_t *columns, int64_t tile)
{
    nbc_8_costs r[8], s[8];
    for (int k = 0; k < 8; k++)
        r[k] = *(const nbc_8_costs *)(rows + k * lanes);
    for (int k = 0; k < 8; k += 2) {
        s[k] = NBC_PICK(r[k], r[k + 1], 0, 8, 1, 9, 2, 10, 3, 11);
        s[k + 1] = NBC_PICK(r[k], r[k + 1], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; k += 4)
        for (int half = 0; half < 2; half++) {
            const nbc_4_pairs a = (nbc_4_pairs)s[k + half], b = (nbc_4_pairs)s[k + 2 + half];
            r[k + 2 * half] = (nbc_8_costs)NBC_PICK(a, b, 0, 4, 1, 5);
            r[k + 2 * half + 1] = (nbc_8_costs)NBC_PICK(a, b, 2, 6, 3, 7);
        }
    for (int k = 0; k < 4; k++) {
        const nbc_2_fours a = (nbc_2_fours)r[k], b = (nbc_2_fours)r[k + 4];
        *(nbc_8_costs *)(columns + 2 * k * tile) = (nbc_8_costs)NBC_PICK(a, b, 0, 2);
        *(nbc_8_costs *)(columns + (2 * k + 1) * tile) = (nbc_8_costs)NBC_PICK(a, b, 1, 3);
    }
}
#undef NBC_PICK
#endif

/* Sums of n rows from the joint indices of their groups first .. last-1. */
NBC_INLINE void nbc_add_groups(const nbc_costs *costs, const uint16_t *index, int64_t first, int64_t last,
                               uint16_t *restrict sums, int64_t n)
{
    const int64_t lanes = costs->lanes;
    if (lanes == 4) {
        /* No sum of sixteen bits carries into the next, so one of 64 adds all four. */
        for (int64_t i = 0; i < n; i++) {
            uint64_t sum = 0, four;
            for (int64_t g = first; g < last; g++) {
                memcpy(&four, costs->tables + (costs->offset[g] + index[g * NBC_COST_BLOCK + i]) * 4, 8);
                sum += four;
            }
            memcpy(sums + 4 * i, &sum, 8);
        }
        return;
    }
#ifdef NBC_VECTORS
    if (lanes == 8) {
        nbc_add_all_eight(costs, index, first, last, 8, sums, n);
    } else if (lanes == 16) {
        nbc_add_all_sixteen(costs, index, first, last, 16, sums, n);
    } else if (lanes == 32) {
        nbc_add_all_32(costs, index, first, last, 32, sums, n);
    } else if (lanes == 64) {
        nbc_add_all_64(costs, index, first, last, 64, sums, n);
    } else {
        /* From left to right, as many vectors at a time as there are. */
        nbc_costs part = *costs;
        int64_t w = 0;
        for (; w + 32 <= lanes; w += 32, part.tables += 32)
            nbc_add_all_32(&part, index, first, last, lanes, sums + w, n);
        for (; w + 8 <= lanes; w += 8, part.tables += 8)
            nbc_add_all_eight(&part, index, first, last, lanes, sums + w, n);
    }
#else
    memset(sums, 0, (size_t)(n * lanes) * sizeof *sums);
    for (int64_t i = 0; i < n; i++)
        for (int64_t g = first; g < last; g++) {
            const uint16_t *restrict from = costs->tables
                                            + (costs->offset[g] + index[g * NBC_COST_BLOCK + i]) * lanes;
            for (int64_t w = 0; w < lanes; w++)
                sums[i * lanes + w] += from[w];
        }
#endif
}

/* Add the sums of a chunk, or begin with them. */
NBC_INLINE void nbc_widen(const uint16_t *restrict sums, uint32_t *restrict wide, int begins, int64_t n)
{
    if (begins)
        for (int64_t i = 0; i < n; i++)
            wide[i] = sums[i];
    else
        for (int64_t i = 0; i < n; i++)
            wide[i] += sums[i];
}

/* Wide sums of n rows to 16 bits above the lowest of each row, at most NBC_MOST_COST. */
NBC_INLINE void nbc_narrow(const uint32_t *restrict wide, uint16_t *restrict sums, uint32_t *restrict low,
                           int64_t lanes, int64_t n)
{
    for (int64_t i = 0; i < n; i++, wide += lanes, sums += lanes) {
        uint32_t least = wide[0];
        for (int64_t w = 1; w < lanes; w++)
            least = wide[w] < least ? wide[w] : least;
        for (int64_t w = 0; w < lanes; w++) {
            const uint32_t above = wide[w] - least;
            sums[w] = (uint16_t)(above < NBC_MOST_COST ? above : NBC_MOST_COST);
        }
        low[i] = least;
    }
}

/* The sums of all classes of a tile of n rows from `row` on, class by class, `at` rows behind the first of the
   indices. Columns are above `low`; NBC_MOST_COST stands for more as well. */
NBC_INLINE void nbc_cost_columns(const nbc_costs *costs, const nbc_column *attributes, const nbc_plan *plan,
                                 const uint16_t *index, const nbc_cost_room *room, int64_t n_classes, int64_t row,
                                 int64_t at, int64_t n)
{
    const int64_t lanes = costs->lanes, tile = costs->tile;
    uint16_t *restrict sums = room->sums, *restrict columns = room->columns;
    for (int64_t k = 0; k < costs->n_chunks; k++) {
        const int64_t first = costs->chunk[k], last = costs->chunk[k + 1];
        const int64_t end = last < plan->n_groups ? last : plan->n_groups;
        if (first < end)
            nbc_add_groups(costs, index + at, first, end, sums, n);
        else
            memset(sums, 0, (size_t)(n * lanes) * sizeof *sums);
        for (int64_t p = first < end ? end : first; p < last; p++) {
            const nbc_column *column = attributes + plan->straight[p - plan->n_groups];
            for (int64_t i = 0; i < n; i++) {
                const uint16_t *restrict from = costs->tables
                                                + (costs->offset[p] + nbc_known(column, row + i)) * lanes;
                for (int64_t w = 0; w < lanes; w++)
                    sums[i * lanes + w] += from[w];
            }
        }
        if (costs->n_chunks > 1)
            nbc_widen(sums, room->wide, k == 0, n * lanes);
    }
    if (costs->n_chunks == 1)
        memset(room->low, 0, (size_t)n * sizeof *room->low);
    else if (lanes == 16)  /* a branch for each number that is known to the compiler then */
        nbc_narrow(room->wide, sums, room->low, 16, n);
    else if (lanes == 64)
        nbc_narrow(room->wide, sums, room->low, 64, n);
    else
        nbc_narrow(room->wide, sums, room->low, lanes, n);
#ifdef NBC_VECTORS
    /* Rows behind the n are those of an earlier tile. */
    if (lanes > 4) {
        for (int64_t i = 0; i < n; i += 8)
            for (int64_t w = 0; w < n_classes; w += 8)
                nbc_turn(sums + i * lanes + w, lanes, columns + w * tile + i, tile);
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < n_classes; c++)
            columns[c * tile + i] = sums[i * lanes + c];
}

/* Whether an entry of the class is cut in row `row`, the i-th of the indices. */
static int nbc_is_cut(const nbc_costs *costs, const nbc_column *attributes, const nbc_plan *plan,
                      const uint16_t *index, int64_t row, int64_t i, int64_t c)
{
    for (int64_t g = 0; g < plan->n_groups; g++)
        if (costs->tables[(costs->offset[g] + index[g * NBC_COST_BLOCK + i]) * costs->lanes + c] == costs->cap)
            return 1;
    for (int64_t k = 0; k < plan->n_straight; k++) {
        const int64_t code = nbc_known(attributes + plan->straight[k], row);
        if (costs->tables[(costs->offset[plan->n_groups + k] + code) * costs->lanes + c] == costs->cap)
            return 1;
    }
    return 0;
}

/* Of each row of a tile the last class of the lowest sum, and a list of the rows where it is not proven yet that
   this is the class of the largest X: another is near, or its entries may be cut. */
NBC_INLINE int64_t nbc_cheapest(const nbc_costs *costs, const nbc_cost_room *room, int64_t n_classes,
                                uint16_t *restrict labels, int64_t n, int64_t *restrict close)
{
    const int64_t tile = costs->tile;
    const uint16_t near = costs->near;
    const uint32_t cap = costs->cap;
    const uint32_t *restrict low = room->low;
    uint16_t *restrict best = room->best, *restrict second = room->second;
    int64_t n_close = 0;
    memcpy(best, room->columns, (size_t)n * sizeof *best);
    memset(second, 0xff, (size_t)n * sizeof *second);
    memset(labels, 0, (size_t)n * sizeof *labels);
    for (int64_t c = 1; c < n_classes; c++) {
        const uint16_t *restrict sum = room->columns + c * tile;
        for (int64_t i = 0; i < n; i++) {
            const uint16_t s = sum[i], b = best[i];
            const uint16_t higher = s > b ? s : b;
            second[i] = higher < second[i] ? higher : second[i];
            labels[i] = s <= b ? (uint16_t)c : labels[i];
            best[i] = s < b ? s : b;
        }
    }
    for (int64_t start = 0; start < n; start += 64) {
        const int64_t stop = n < start + 64 ? n : start + 64;
        int any = 0;
        for (int64_t i = start; i < stop; i++)
            any |= ((uint16_t)(second[i] - best[i]) <= near) | (low[i] + best[i] >= cap);
        if (any)
            for (int64_t i = start; i < stop; i++) {
                close[n_close] = i;
                n_close += ((uint16_t)(second[i] - best[i]) <= near)
                           | ((low[i] + best[i] >= cap) & costs->cut[labels[i]]);
            }
    }
    return n_close;
}
#endif
