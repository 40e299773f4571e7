/* Coins: random bits, bits of exact rational probability, and uniform numbers.

   Bits come from ChaCha20 (RFC 8439) or, for simulations alone, from xoshiro256++ in eight lanes. */
#ifndef NBCFAST_COINS_H
#define NBCFAST_COINS_H

#include <stdint.h>
#include <string.h>
#include "shared/lanes.h"

#define NBC_COIN_WORDS 512         /* words made at a time: they stay in L1 */
#define NBC_CHACHA_LANES 16         /* blocks made side by side */

typedef uint32_t nbc_lanes __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint64_t nbc_eight_words __attribute__((vector_size(64), aligned(8), may_alias));

typedef struct {
    int seeded;
    uint32_t key[8];
    uint64_t counter;               /* the next block */
    uint64_t state[4][8];           /* xoshiro256++: word by word, lane by lane */
    uint64_t used;                  /* words of `buffer` that were given out */
    uint64_t buffer[NBC_COIN_WORDS];
} nbc_coins;

#define NBC_ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define NBC_QUARTER(a, b, c, d)                         \
    a += b; d ^= a; d = NBC_ROTATE(d, 16);              \
    c += d; b ^= c; b = NBC_ROTATE(b, 12);              \
    a += b; d ^= a; d = NBC_ROTATE(d, 8);               \
    c += d; b ^= c; b = NBC_ROTATE(b, 7);
#define NBC_DOUBLE_ROUND(x)                             \
    NBC_QUARTER(x[0], x[4], x[8], x[12])                \
    NBC_QUARTER(x[1], x[5], x[9], x[13])                \
    NBC_QUARTER(x[2], x[6], x[10], x[14])               \
    NBC_QUARTER(x[3], x[7], x[11], x[15])               \
    NBC_QUARTER(x[0], x[5], x[10], x[15])               \
    NBC_QUARTER(x[1], x[6], x[11], x[12])               \
    NBC_QUARTER(x[2], x[7], x[8], x[13])                \
    NBC_QUARTER(x[3], x[4], x[9], x[14])

/* RFC 8439, 2.3: one block, 16 words. `nonce` has 3 words. */
static void nbc_chacha_block(const uint32_t *key, uint32_t counter, const uint32_t *nonce, uint32_t *out)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    memcpy(start + 4, key, 32);
    start[12] = counter;
    memcpy(start + 13, nonce, 12);
    memcpy(x, start, sizeof x);
    for (int round = 0; round < 10; round++) {
        NBC_DOUBLE_ROUND(x)
    }
    for (int i = 0; i < 16; i++)
        out[i] = x[i] + start[i];
}

/* Sixteen blocks from `counter` on. The counter has 64 bits: its upper half stands in the first word of the
   nonce, whose other words are 0. */
NBC_INLINE void nbc_chacha_blocks(const uint32_t *key, uint64_t counter, uint32_t *restrict out)
{
    static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    nbc_lanes x[16], start[16];
    for (int i = 0; i < 4; i++)
        start[i] = (nbc_lanes){0} + constant[i];
    for (int i = 0; i < 8; i++)
        start[4 + i] = (nbc_lanes){0} + key[i];
    for (int lane = 0; lane < NBC_CHACHA_LANES; lane++) {
        start[12][lane] = (uint32_t)(counter + (uint64_t)lane);
        start[13][lane] = (uint32_t)((counter + (uint64_t)lane) >> 32);
    }
    start[14] = start[15] = (nbc_lanes){0};
    for (int i = 0; i < 16; i++)
        x[i] = start[i];
    for (int round = 0; round < 10; round++) {
        NBC_DOUBLE_ROUND(x)
    }
    for (int i = 0; i < 16; i++) {
        x[i] += start[i];
        for (int lane = 0; lane < NBC_CHACHA_LANES; lane++)
            out[16 * lane + i] = x[i][lane];
    }
}

NBC_CLONED(void, nbc_chacha_fill, (nbc_coins *coins),
           (coins))
{
    uint32_t blocks[16 * NBC_CHACHA_LANES];
    for (int64_t at = 0; at < NBC_COIN_WORDS; at += 8 * NBC_CHACHA_LANES) {
        nbc_chacha_blocks(coins->key, coins->counter, blocks);
        coins->counter += NBC_CHACHA_LANES;
        memcpy(coins->buffer + at, blocks, sizeof blocks);
    }
}

#define NBC_ROTATE64(x, n) (((x) << (n)) | ((x) >> (64 - (n))))

NBC_CLONED(void, nbc_xoshiro_fill, (nbc_coins *coins),
           (coins))
{
    nbc_eight_words a, b, c, d, t, r;
    memcpy(&a, coins->state[0], 64);
    memcpy(&b, coins->state[1], 64);
    memcpy(&c, coins->state[2], 64);
    memcpy(&d, coins->state[3], 64);
    for (int64_t at = 0; at < NBC_COIN_WORDS; at += 8) {
        r = a + d;
        r = NBC_ROTATE64(r, 23) + a;
        t = b << 17;
        c ^= a;
        d ^= b;
        b ^= c;
        a ^= d;
        c ^= t;
        d = NBC_ROTATE64(d, 45);
        memcpy(coins->buffer + at, &r, 64);
    }
    memcpy(coins->state[0], &a, 64);
    memcpy(coins->state[1], &b, 64);
    memcpy(coins->state[2], &c, 64);
    memcpy(coins->state[3], &d, 64);
}

static void nbc_coins_fill(nbc_coins *coins)
{
    if (coins->seeded)
        nbc_xoshiro_fill(coins);
    else
        nbc_chacha_fill(coins);
    coins->used = 0;
}

/* Go back to where `counter` and `used` were these, so that the same words come again: of ChaCha20 alone. */
static void nbc_coins_back(nbc_coins *coins, uint64_t counter, uint64_t used)
{
    if (counter == coins->counter) {
        coins->used = used;
        return;
    }
    coins->counter = counter;
    if (used < NBC_COIN_WORDS) {    /* eight words a block: those of the buffer that was there */
        coins->counter -= NBC_COIN_WORDS / 8;
        nbc_chacha_fill(coins);
    }
    coins->used = used;
}

/* Each 32-byte seed gives its own eight lanes, through splitmix64. */
static void nbc_coins_start(nbc_coins *coins, const uint8_t *key, int seeded)
{
    memset(coins, 0, sizeof *coins);
    coins->seeded = seeded;
    for (int i = 0; i < 8; i++)
        coins->key[i] = (uint32_t)key[4 * i] | (uint32_t)key[4 * i + 1] << 8 | (uint32_t)key[4 * i + 2] << 16
                        | (uint32_t)key[4 * i + 3] << 24;
    coins->used = NBC_COIN_WORDS;
    if (!seeded)
        return;
    for (int lane = 0; lane < 8; lane++)
        for (int word = 0; word < 4; word++) {
            uint64_t z = ((uint64_t)coins->key[2 * word] | (uint64_t)coins->key[2 * word + 1] << 32)
                         + 0x9e3779b97f4a7c15u * (uint64_t)(4 * lane + word + 1);
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            coins->state[word][lane] = z ^ (z >> 31);
        }
    coins->state[0][0] |= coins->state[1][0] | coins->state[2][0] | coins->state[3][0] ? 0 : 1;
}

/* The next eight words: a multiple of eight is always used, so that they lie together. */
NBC_INLINE const uint64_t *nbc_coins_eight(nbc_coins *coins)
{
    if (coins->used + 8 > NBC_COIN_WORDS)
        nbc_coins_fill(coins);
    coins->used += 8;
    return coins->buffer + coins->used - 8;
}

static uint64_t nbc_coins_word(nbc_coins *coins)
{
    if (coins->used + 1 > NBC_COIN_WORDS)
        nbc_coins_fill(coins);
    return coins->buffer[coins->used++];
}

/* The next 64 bits of rest/den < 1 after the point, the first one highest; `rest` is what they leave. */
static uint64_t nbc_digits(uint64_t *rest, uint64_t den)
{
    uint64_t digits = 0;
    for (int i = 0; i < 64; i++) {
        *rest *= 2;
        digits *= 2;
        if (*rest >= den) {
            *rest -= den;
            digits |= 1;
        }
    }
    return digits;
}

#define NBC_FIRST 8         /* digits that are compared side by side: of 256 lanes they leave one undecided */
#define NBC_SIDE 128        /* words of lanes that go through that together */

/* num/den in binary digits after the point. */
typedef struct {
    uint64_t first[NBC_FIRST];      /* a word of ones for a digit 1 */
    int n;                          /* so many of them: fewer where all others are 0 */
    uint64_t next;                  /* the 64 digits after those, the first one highest */
    uint64_t rest;                  /* what is left after these, over den */
    uint64_t den;
} nbc_binary;

/* 0 < num < den < 2^63. */
static nbc_binary nbc_binary_of(uint64_t num, uint64_t den)
{
    nbc_binary binary = {.n = 0, .den = den};
    while (num && binary.n < NBC_FIRST) {
        num *= 2;
        binary.first[binary.n++] = num >= den ? ~(uint64_t)0 : 0;
        num -= num >= den ? den : 0;
    }
    binary.next = nbc_digits(&num, den);
    binary.rest = num;
    return binary;
}

/* Whether the digits still to be drawn of a number below 1 are below those of num/den after the first. */
NBC_INLINE uint64_t nbc_coins_later(nbc_coins *coins, const nbc_binary *binary)
{
    uint64_t word = nbc_coins_word(coins), digits = binary->next, rest = binary->rest;
    while (word == digits && rest) {
        digits = nbc_digits(&rest, binary->den);
        word = nbc_coins_word(coins);
    }
    return word < digits;
}

/* Each bit is 1 with the probability num/den exactly: a uniform number below 1, of which as many digits are
   drawn as it takes, is below num/den. It is undecided while its digits are those of num/den. The few that the
   first digits leave undecided are looked at one by one. */
NBC_CLONED(void, nbc_coins_bits, (nbc_coins *coins, uint64_t num, uint64_t den, uint64_t *out, int64_t n_words),
           (coins, num, den, out, n_words))
{
    if (num == 0 || num == den) {
        memset(out, num ? 0xff : 0, (size_t)n_words * 8);
        return;
    }
    const nbc_binary binary = nbc_binary_of(num, den);
    uint64_t ones[NBC_SIDE], open[NBC_SIDE];
    uint8_t places[NBC_SIDE];
    for (int64_t at = 0; at < n_words; at += NBC_SIDE) {
        const int length = n_words - at < NBC_SIDE ? (int)(n_words - at) : NBC_SIDE;
        coins->used = (coins->used + 7) / 8 * 8;
        for (int i = 0; i < length; i += 8) {
            nbc_eight_words undecided = ~(nbc_eight_words){0}, below = {0}, random;
            for (int j = 0; j < binary.n; j++) {
                memcpy(&random, nbc_coins_eight(coins), 64);
                const nbc_eight_words digit = (nbc_eight_words){0} + binary.first[j];
                below |= undecided & digit & ~random;
                undecided &= ~(random ^ digit);
            }
            memcpy(ones + i, &below, 64);
            memcpy(open + i, &undecided, 64);
        }
        if (binary.next || binary.rest) {
            int n = 0;
            for (int i = 0; i < length; i++) {
                places[n] = (uint8_t)i;
                n += open[i] != 0;
            }
            for (int j = 0; j < n; j++) {
                uint64_t left = open[places[j]], found = 0;
                do {
                    found |= (left & -left) & -nbc_coins_later(coins, &binary);
                    left &= left - 1;
                } while (left);
                ones[places[j]] |= found;
            }
        }
        memcpy(out + at, ones, (size_t)length * 8);
    }
}

/* A number below `bound`, uniform: Lemire's multiplication, rejecting what would favour some. */
static uint64_t nbc_coins_below(nbc_coins *coins, uint64_t bound)
{
    uint64_t mask = bound - 1, word;
    if (bound <= (uint64_t)1 << 32) {
        uint64_t threshold = (((uint64_t)1 << 32) - bound) % bound;
        for (;;) {
            word = nbc_coins_word(coins) >> 32;
            uint64_t product = word * bound;
            if ((product & 0xffffffffu) >= threshold)
                return product >> 32;
        }
    }
    mask |= mask >> 1;
    mask |= mask >> 2;
    mask |= mask >> 4;
    mask |= mask >> 8;
    mask |= mask >> 16;
    mask |= mask >> 32;
    do
        word = nbc_coins_word(coins) & mask;
    while (word >= bound);
    return word;
}

#endif
