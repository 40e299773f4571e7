/* Columns of integer codes as they come from outside: any width, any stride, read only. */
#ifndef NBCFAST_COLUMNS_H
#define NBCFAST_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include "shared/lanes.h"

typedef struct {
    const char *data;   /* row 0 */
    ptrdiff_t stride;   /* bytes from row to row */
    int64_t size;       /* how many codes there are */
    int64_t limit;      /* codes must lie in 0 .. limit-1: `size`, or less where the type cannot hold more */
    int width;          /* bytes of one code: 1, 2, 4 or 8 */
    int is_signed;
} nbc_column;

/* The code of one row, or -1 where it lies outside the column's limit. */
static int64_t nbc_code(const nbc_column *column, int64_t row)
{
    const char *at = column->data + row * column->stride;
    uint64_t code;
    switch (column->width) {
    case 1: code = *(const uint8_t *)at; break;
    case 2: code = *(const uint16_t *)at; break;
    case 4: code = *(const uint32_t *)at; break;
    default: code = *(const uint64_t *)at; break;
    }
    return code < (uint64_t)column->limit ? (int64_t)code : -1;
}

/* A code that was in range when it was looked at: 0 should somebody have changed it since. */
NBC_INLINE int64_t nbc_known(const nbc_column *column, int64_t row)
{
    const int64_t code = nbc_code(column, row);
    return code < 0 ? 0 : code;
}

/* A negative code of a signed column reads as a large unsigned one; this is the
   limit under which only codes that are really below `size` pass. */
static int64_t nbc_limit(int64_t size, int width, int is_signed)
{
    int bits = 8 * width - (is_signed ? 1 : 0);
    if (bits < 62 && size > ((int64_t)1 << bits))
        return (int64_t)1 << bits;
    return size;
}

/* First row of [start, stop) whose code is out of range, or -1. */
static int64_t nbc_first_bad(const nbc_column *column, int64_t start, int64_t stop)
{
    for (int64_t row = start; row < stop; row++)
        if (nbc_code(column, row) < 0)
            return row;
    return -1;
}

/* The largest code of `n` rows from `row` on; codes beyond 64 bits signed read as large. */
#define NBC_MAX(NAME, TYPE)                                                             \
    NBC_INLINE uint64_t nbc_max_##NAME(const TYPE *restrict codes, int64_t n)           \
    {                                                                                   \
        TYPE most = 0;                                                                  \
        for (int64_t i = 0; i < n; i++)                                                 \
            most = codes[i] > most ? codes[i] : most;                                   \
        return most;                                                                    \
    }
NBC_MAX(u8, uint8_t)
NBC_MAX(u16, uint16_t)
NBC_MAX(u32, uint32_t)
NBC_MAX(u64, uint64_t)
#undef NBC_MAX

#endif
