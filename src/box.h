/* A box: the labels of all tuples of a product of two halves, nested so that two vectors hold them, and the
   tuples whose sum of weights lies furthest on the wrong side.

   The label of the pair (a, b) is 0 if and only if b is among the first count[a] of half b in its order (falling
   counts, the first index first among equals), which is so if and only if a is among the first count[b] of half a. */
#ifndef NBCFAST_BOX_H
#define NBCFAST_BOX_H

#include <stdint.h>
#include "shared/wide.h"

#define NBC_MOST_ATTRIBUTES 4096

typedef struct {
    int64_t n;             /* combinations of values */
    const int32_t *count;  /* of each: combinations of the other half that give label 0 */
    const int32_t *order;  /* by falling count */
    const int32_t *sizes;
    int32_t n_attributes;
} nbc_side;

#define NBC_NUMBER double
#define NBC_NAMED(name) name##_double
#include "box_pass.h"
#undef NBC_NUMBER
#undef NBC_NAMED

/* Whether no sum of one number of each attribute, first those of one half and then of the other, reaches 2^126. */
static int nbc_fits_wide(const nbc_i128 *numbers, const int32_t *sizes, int32_t n_attributes,
                         const int32_t *more_sizes, int32_t n_more)
{
    const nbc_u128 most = (nbc_u128)1 << 126;
    nbc_u128 sum = 0;
    for (int32_t i = 0; i < n_attributes + n_more; i++) {
        const int32_t n = i < n_attributes ? sizes[i] : more_sizes[i - n_attributes];
        nbc_u128 largest = 0;
        for (int32_t t = 0; t < n; t++, numbers++) {
            const nbc_u128 one = *numbers < 0 ? -(nbc_u128)*numbers : (nbc_u128)*numbers;
            largest = one > largest ? one : largest;
        }
        if (largest >= most - sum)
            return 0;
        sum += largest;
    }
    return 1;
}

#define NBC_NUMBER nbc_i128
#define NBC_NAMED(name) name##_wide
#include "box_pass.h"
#undef NBC_NUMBER
#undef NBC_NAMED

#endif
