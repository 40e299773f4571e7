/* Whether every answer of a classifier stays as it is where a few of its counts are others: many such changes, each
   of one value of every attribute and of what all tuples share.

   Scores are logarithms in fixed point, of a pair of classes as in margin.h (with its marks for zeros), or of each
   class, where NBC_NONE is the logarithm of zero. `error` bounds how far a difference of two scores is from the true
   one. Where `ties` says so, a true difference that is not zero is more than twice that, and so what is near zero is
   zero. */
#ifndef NBCFAST_EXCHANGES_H
#define NBCFAST_EXCHANGES_H

#include <stdint.h>
#include "margin.h"

#define NBC_CHANGED 0
#define NBC_UNCHANGED 1
#define NBC_UNDECIDED 2

/* In place of a sum of no tuple: added to whatever a sum may be they leave 64 bits on neither side, and the result
   is above, and below, every error. */
#define NBC_NO_LOW (5 * ((int64_t)1 << 60))
#define NBC_NO_HIGH (-3 * ((int64_t)1 << 60))

#define NBC_ROWS 128  /* that are looked at before it is seen whether an answer has changed */

/* Of the first k of a half in their order the lowest sum, and of the others the highest. */
typedef struct {
    int64_t low, high;
} nbc_ends;

/* The sums over a half on top of `base`: numbers of all values, the last attribute's value the fastest. Both lists
   have room for all; returns the one that has them. */
static int64_t *nbc_half_sums(const int64_t *numbers, const int32_t *sizes, int64_t n_attributes, int64_t base,
                              int64_t *list, int64_t *other)
{
    int64_t n = 1;
    list[0] = nbc_clamp(base);
    for (int64_t i = 0; i < n_attributes; i++) {
        int64_t *sums = other;
        nbc_outer(list, n, numbers, sizes[i], sums);
        numbers += sizes[i];
        n *= sizes[i];
        other = list;
        list = sums;
    }
    return list;
}

static void nbc_make_ends(const int64_t *sums, const int32_t *order, int64_t m, nbc_ends *ends)
{
    int64_t low = NBC_NO_LOW, high = NBC_NO_HIGH;
    for (int64_t k = 0; k < m; k++) {
        ends[k].low = low;
        low = sums[order[k]] < low ? sums[order[k]] : low;
    }
    ends[m].low = low;
    for (int64_t k = m; k > 0; k--) {
        ends[k].high = high;
        high = sums[order[k - 1]] > high ? sums[order[k - 1]] : high;
    }
    ends[0].high = high;
}

/* One change, of two classes. A row's tuples of label 0 are those with the first count[row] of the other half: their
   sums are to be above zero, and those of label 1 not. `from` is the block of rows that is looked at first: where the
   last change showed the next one is likely to. */
static int nbc_pair_unchanged(const int64_t *sums, const int32_t *count, int64_t n, const nbc_ends *ends, int64_t error,
                              int ties, int64_t *from)
{
    int64_t lowest = NBC_NO_LOW, highest = NBC_NO_HIGH;
    const int64_t blocks = (n + NBC_ROWS - 1) / NBC_ROWS;
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t block = k == 0 ? *from : k <= *from ? k - 1 : k;
        const int64_t stop = (block + 1) * NBC_ROWS < n ? (block + 1) * NBC_ROWS : n;
        for (int64_t row = block * NBC_ROWS; row < stop; row++) {
            const nbc_ends *end = ends + count[row];
            const int64_t low = sums[row] + end->low, high = sums[row] + end->high;
            lowest = low < lowest ? low : lowest;
            highest = high > highest ? high : highest;
        }
        if (lowest < -error || highest > error || (ties && lowest <= error)) {
            *from = block;
            return NBC_CHANGED;
        }
    }
    return ties || (lowest > error && highest < -error) ? NBC_UNCHANGED : NBC_UNDECIDED;
}

/* The sums over a half of each class: as nbc_half_sums, `base` and numbers with one a class. */
static int64_t *nbc_class_sums(const int64_t *numbers, const int32_t *sizes, int64_t n_attributes, const int64_t *base,
                               int64_t C, int64_t *list, int64_t *other)
{
    int64_t n = 1;
    for (int64_t c = 0; c < C; c++)
        list[c] = base ? nbc_clamp(base[c]) : 0;
    for (int64_t i = 0; i < n_attributes; i++) {
        int64_t *sums = other, *next = sums;
        const int64_t size = sizes[i];
        for (int64_t k = 0; k < n; k++)
            for (int64_t t = 0; t < size; t++)
                for (int64_t c = 0; c < C; c++)
                    *next++ = nbc_clamp(list[k * C + c] + numbers[t * C + c]);
        numbers += size * C;
        n *= size;
        other = list;
        list = sums;
    }
    return list;
}

/* One change, of several classes: of each tuple the class that it has is to be above those after it, and not below
   those before it. `from` is the row that is looked at first. */
static int nbc_labels_unchanged(const int8_t *labels, const int64_t *sums, int64_t n, const int64_t *others, int64_t m,
                                int64_t C, int64_t error, int ties, int64_t *from)
{
    int near = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = k == 0 ? *from : k <= *from ? k - 1 : k;
        const int64_t *own = sums + row * C;
        for (int64_t j = 0; j < m; j++) {
            const int64_t *their = others + j * C;
            const int64_t w = labels[row * m + j], best = nbc_clamp(own[w] + their[w]);
            for (int64_t e = 0; e < C; e++) {
                const int64_t lead = best - nbc_clamp(own[e] + their[e]);
                /* Two scores of zero are equal, and no logarithm comes near that mark. */
                const int tied = best == NBC_NONE ? lead == 0 : ties && lead <= error;
                if (e == w)
                    continue;
                if (lead < -error || (tied && e > w)) {
                    *from = row;
                    return NBC_CHANGED;
                }
                near |= lead <= error && best != NBC_NONE;
            }
        }
    }
    return near && !ties ? NBC_UNDECIDED : NBC_UNCHANGED;
}

#endif
