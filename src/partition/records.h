/* Reading records, and making them of columns. */
#ifndef NBCFAST_RECORDS_H
#define NBCFAST_RECORDS_H

#include <stdint.h>
#include <string.h>
#include "partition/problem.h"
#include "shared/columns.h"

NBC_INLINE uint64_t nbc_code_at(const char *record, int64_t attribute, int64_t width)
{
    if (width == 1)
        return ((const uint8_t *)record)[attribute];
    if (width == 2) {
        uint16_t code;
        memcpy(&code, record + 2 * attribute, 2);
        return code;
    }
    uint32_t code;
    memcpy(&code, record + 4 * attribute, 4);
    return code;
}

NBC_INLINE uint32_t nbc_u32_at(const char *record, int64_t at)
{
    uint32_t code;
    memcpy(&code, record + at, 4);
    return code;
}

NBC_INLINE int64_t nbc_i64_at(const char *record, int64_t at)
{
    int64_t number;
    memcpy(&number, record + at, 8);
    return number;
}

/* Read once, as what was looked at must be what is used: others may write to the records. */
NBC_INLINE int64_t nbc_i64_once(const char *record, int64_t at)
{
    return NBC_ONCE(int64_t, record + at);
}

/* The smallest and the largest code of each attribute, 16 bytes of the records at a time. Without vectors of the
   compiler's own, byte by byte: loops over a short array do not become vectors by themselves. */
#if defined(__GNUC__)
typedef uint8_t nbc_lanes_u8 __attribute__((vector_size(16)));
typedef uint16_t nbc_lanes_u16 __attribute__((vector_size(16)));
typedef uint32_t nbc_lanes_u32 __attribute__((vector_size(16)));
#define NBC_EXTREMES(NAME, TYPE)                                                                    \
    NBC_INLINE nbc_lanes_##NAME nbc_select_##NAME(nbc_lanes_##NAME mask, nbc_lanes_##NAME a, nbc_lanes_##NAME b)  \
    {                                                                                               \
        return (a & mask) | (b & ~mask);                                                            \
    }                                                                                               \
    NBC_INLINE void nbc_extremes_##NAME(const char *rows, int64_t n, int64_t stride, int64_t count, \
                                        int64_t *lo, int64_t *hi)                                   \
    {                                                                                               \
        const int64_t n_lanes = 16 / (int64_t)sizeof(TYPE);                                         \
        for (int64_t block = 0; block * n_lanes < count; block++) {                                 \
            nbc_lanes_##NAME least, most, a, b;                                                     \
            TYPE lows[16 / sizeof(TYPE)], highs[16 / sizeof(TYPE)];                                 \
            const char *at = rows + 16 * block;                                                     \
            memcpy(&least, at, 16);                                                                 \
            most = least;                                                                           \
            for (int64_t i = n & 1; i < n; i += 2) {                                                \
                memcpy(&a, at + i * stride, 16);                                                    \
                memcpy(&b, at + (i + 1) * stride, 16);                                              \
                const nbc_lanes_##NAME below = (nbc_lanes_##NAME)(a < b);                           \
                const nbc_lanes_##NAME low = nbc_select_##NAME(below, a, b);                        \
                const nbc_lanes_##NAME high = nbc_select_##NAME(below, b, a);                       \
                least = nbc_select_##NAME((nbc_lanes_##NAME)(low < least), low, least);             \
                most = nbc_select_##NAME((nbc_lanes_##NAME)(high > most), high, most);              \
            }                                                                                       \
            memcpy(lows, &least, 16);                                                               \
            memcpy(highs, &most, 16);                                                               \
            for (int64_t j = 0; j < n_lanes && block * n_lanes + j < count; j++) {                  \
                lo[block * n_lanes + j] = lows[j];                                                  \
                hi[block * n_lanes + j] = highs[j];                                                 \
            }                                                                                       \
        }                                                                                           \
    }
#else
#define NBC_EXTREMES(NAME, TYPE)                                                                    \
    NBC_INLINE void nbc_extremes_##NAME(const char *rows, int64_t n, int64_t stride, int64_t count, \
                                        int64_t *lo, int64_t *hi)                                   \
    {                                                                                               \
        for (int64_t j = 0; j < count; j++) {                                                       \
            lo[j] = hi[j] = *(const TYPE *)(const void *)(rows + j * (int64_t)sizeof(TYPE));        \
            for (int64_t i = 1; i < n; i++) {                                                       \
                const TYPE code = *(const TYPE *)(const void *)(rows + i * stride + j * (int64_t)sizeof(TYPE));  \
                lo[j] = code < lo[j] ? code : lo[j];                                                \
                hi[j] = code > hi[j] ? code : hi[j];                                                \
            }                                                                                       \
        }                                                                                           \
    }
#endif
NBC_EXTREMES(u8, uint8_t)
NBC_EXTREMES(u16, uint16_t)
NBC_EXTREMES(u32, uint32_t)
#undef NBC_EXTREMES

/* Records of 16 bytes with codes of one: four at a time. */
NBC_INLINE void nbc_extremes_four(const char *rows, int64_t n, int64_t count, int64_t *lo, int64_t *hi)
{
#if defined(__GNUC__)
    typedef uint8_t lanes __attribute__((vector_size(64)));
    if (n >= 16) {
        lanes least, most, next;
        uint8_t lows[64], highs[64];
        memcpy(&least, rows, 64);
        most = least;
        for (int64_t i = 4; i + 4 <= n; i += 4) {
            memcpy(&next, rows + 16 * i, 64);
            const lanes below = (lanes)(next < least), above = (lanes)(next > most);
            least = (next & below) | (least & ~below);
            most = (next & above) | (most & ~above);
        }
        /* The last four, some of them for the second time. */
        memcpy(&next, rows + 16 * (n - 4), 64);
        const lanes below = (lanes)(next < least), above = (lanes)(next > most);
        least = (next & below) | (least & ~below);
        most = (next & above) | (most & ~above);
        memcpy(lows, &least, 64);
        memcpy(highs, &most, 64);
        for (int64_t j = 0; j < count; j++) {
            int64_t low = lows[j], high = highs[j];
            for (int64_t row = 1; row < 4; row++) {
                low = lows[16 * row + j] < low ? lows[16 * row + j] : low;
                high = highs[16 * row + j] > high ? highs[16 * row + j] : high;
            }
            lo[j] = low;
            hi[j] = high;
        }
        return;
    }
#endif
    nbc_extremes_u8(rows, n, 16, count, lo, hi);
}

NBC_CLONED(void, nbc_extremes, (const char *rows, int64_t n, int64_t stride, int64_t width, int64_t count,
                                int64_t *lo, int64_t *hi),
           (rows, n, stride, width, count, lo, hi))
{
    if (width == 1 && stride == 16)
        nbc_extremes_four(rows, n, count, lo, hi);
    else if (width == 1)
        nbc_extremes_u8(rows, n, stride, count, lo, hi);
    else if (width == 2)
        nbc_extremes_u16(rows, n, stride, count, lo, hi);
    else
        nbc_extremes_u32(rows, n, stride, count, lo, hi);
}

#endif
