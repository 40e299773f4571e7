/* Natural numbers of any length, lowest word first. */
#ifndef NBCFAST_LONG_H
#define NBCFAST_LONG_H

#include <stdint.h>
#include <string.h>
#include "shared/wide.h"

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

#endif
