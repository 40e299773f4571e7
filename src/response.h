/* Lies drawn from coins, and counts of packed bits. */
#ifndef NBCFAST_RESPONSE_H
#define NBCFAST_RESPONSE_H

#include "shared/coins.h"
#include "shared/columns.h"

/* Bit j of the lowest byte to byte j of a word. */
NBC_INLINE uint64_t nbc_spread(uint64_t bits)
{
    uint64_t spread = (bits & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
    return ((spread + 0x7f7f7f7f7f7f7f7fu) | spread) >> 7 & 0x0101010101010101u;
}

/* codes of 0 and 1: those whose bit is set are reversed. */
NBC_CLONED(void, nbc_flip_codes, (const uint64_t *restrict mask, const uint8_t *restrict codes, uint8_t *restrict out,
                                  int64_t n),
           (mask, codes, out, n))
{
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t bits = mask[i / 64];
        for (int byte = 0; byte < 8; byte++) {
            uint64_t spread = nbc_spread(bits >> (8 * byte));
            uint64_t eight;
            memcpy(&eight, codes + i + 8 * byte, 8);
            eight ^= spread;
            memcpy(out + i + 8 * byte, &eight, 8);
        }
    }
    for (; i < n; i++)
        out[i] = codes[i] ^ (uint8_t)((mask[i / 64] >> (i % 64)) & 1);
}

/* Where the bit is set another one of the `size` values, uniformly: code + 1 + u, u uniform below size - 1,
   counted round. Codes are below size, and 2 <= size <= 256. */
NBC_CLONED(void, nbc_lie_u8, (nbc_coins *coins, const uint64_t *restrict mask, const uint8_t *restrict codes,
                              uint8_t *restrict out, int64_t n, uint32_t size),
           (coins, mask, codes, out, n, size))
{
    const uint16_t others = (uint16_t)(size - 1), all = (uint16_t)size;
    const uint16_t threshold = (uint16_t)((65536 - others) % others);
    coins->used = (coins->used + 7) / 8 * 8;
    for (int64_t start = 0; start < n; start += 64) {
        const int64_t length = n - start < 64 ? n - start : 64;
        uint16_t random[64], low[64], lies[64];
        uint8_t told[64] = {0}, bits[64];
        memcpy(random, nbc_coins_eight(coins), 64);
        memcpy(random + 32, nbc_coins_eight(coins), 64);
        if (length == 64)
            memcpy(told, codes + start, 64);
        else
            memcpy(told, codes + start, (size_t)length);
        uint16_t bad = 0;
        for (int i = 0; i < 64; i++) {
            low[i] = (uint16_t)((uint32_t)random[i] * others);
            bad |= low[i] < threshold;
            uint16_t value = (uint16_t)(told[i] + 1 + (uint16_t)((uint32_t)random[i] * others >> 16));
            lies[i] = (uint16_t)(value - (value >= all ? all : 0));
        }
        const uint64_t word = mask[start / 64];
        if (bad) {
            for (int i = 0; i < 64; i++)
                if (low[i] < threshold && (word >> i & 1)) {
                    uint32_t value = told[i] + 1 + (uint32_t)nbc_coins_below(coins, others);
                    lies[i] = (uint16_t)(value - (value >= size ? size : 0));
                }
            coins->used = (coins->used + 7) / 8 * 8;
        }
        for (int byte = 0; byte < 8; byte++) {
            uint64_t spread = nbc_spread(word >> (8 * byte)) * 0xff;
            memcpy(bits + 8 * byte, &spread, 8);
        }
        for (int i = 0; i < 64; i++)
            told[i] = (uint8_t)((told[i] & ~bits[i]) | ((uint8_t)lies[i] & bits[i]));
        if (length == 64)
            memcpy(out + start, told, 64);
        else
            memcpy(out + start, told, (size_t)length);
    }
}

#define NBC_LIE(NAME, TYPE)                                                                         \
    static void nbc_lie_##NAME(nbc_coins *coins, const uint64_t *mask, const TYPE *codes,           \
                               TYPE *out, int64_t n, uint64_t size)                                 \
    {                                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                           \
            uint64_t value = codes[i];                                                              \
            if (mask[i / 64] >> (i % 64) & 1) {                                                     \
                value += 1 + nbc_coins_below(coins, size - 1);                                      \
                value -= value >= size ? size : 0;                                                  \
            }                                                                                       \
            out[i] = (TYPE)value;                                                                   \
        }                                                                                           \
    }
NBC_LIE(u16, uint16_t)
NBC_LIE(u32, uint32_t)
NBC_LIE(u64, uint64_t)
#undef NBC_LIE

NBC_CLONED(int64_t, nbc_ones, (const uint64_t *restrict a, int64_t n),
           (a, n))
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += __builtin_popcountll(a[i]);
    return total;
}

NBC_CLONED(int64_t, nbc_common, (const uint64_t *restrict a, const uint64_t *restrict b, int64_t n),
           (a, b, n))
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += __builtin_popcountll(a[i] & b[i]);
    return total;
}

#endif
