/* Exact draws from the discrete Laplace and Gaussian laws: Canonne, Kamath, Steinke (2020).

   A uniform integer made of random words decides each step, so that all chances are exact. Which words are
   taken for what is the same as in nbcfast.reference.dp; how many there are depends on what is drawn. */
#ifndef NBCFAST_NOISE_H
#define NBCFAST_NOISE_H

#include "shared/coins.h"
#include "shared/wide.h"

/* A number below `bound`, uniform. Of a bound of 1 no word is taken. */
static nbc_u128 nbc_noise_below(nbc_coins *coins, nbc_u128 bound)
{
    const uint64_t upper = (uint64_t)((bound - 1) >> 64);
    if (bound == 1)
        return 0;
    if (!upper && (uint64_t)(bound - 1) != ~(uint64_t)0)
        return nbc_coins_below(coins, (uint64_t)bound);
    const uint64_t mask = upper ? ~(uint64_t)0 >> __builtin_clzll(upper) : 0;
    nbc_u128 number;
    do {
        number = nbc_coins_word(coins);
        if (upper)
            number |= (nbc_u128)(nbc_coins_word(coins) & mask) << 64;
    } while (number >= bound);
    return number;
}

/* Whether something of the chance exp(-num/den) happens, for num <= den. */
static int nbc_is_exponential(nbc_coins *coins, nbc_u128 num, nbc_u128 den)
{
    uint64_t n = 1;
    while ((n == 1 || nbc_coins_below(coins, n) == 0) && nbc_noise_below(coins, den) < num)
        n++;
    return n & 1;
}

/* The same of exp(-1). */
NBC_INLINE int nbc_is_inverse_e(nbc_coins *coins)
{
    uint64_t n = 2;
    while (nbc_coins_below(coins, n) == 0)
        n++;
    return n & 1;
}

/* *drawn with P(x) ~ exp(-|x| den/num); 1, or 0 where it does not fit. num < 2^63. */
static int nbc_laplace(nbc_coins *coins, uint64_t num, uint64_t den, int64_t *drawn)
{
    for (;;) {
        const uint64_t start = (uint64_t)nbc_noise_below(coins, num);
        if (!nbc_is_exponential(coins, start, num))
            continue;
        uint64_t wholes = 0;
        while (nbc_is_inverse_e(coins))
            wholes++;
        const nbc_u128 size = (nbc_u128)num * wholes + start;
        if (size > (nbc_u128)INT64_MAX)
            return 0;
        const int64_t whole = (int64_t)((uint64_t)size / den);
        const uint64_t is_negative = nbc_coins_below(coins, 2);
        if (is_negative && whole == 0)
            continue;
        *drawn = is_negative ? -whole : whole;
        return 1;
    }
}

/* *drawn with P(x) ~ exp(-x^2 den / (2 num)); 1, or 0 where it does not fit.

   `width` is the floor of the root of num/den, and 1 more; num and width den are below 2^63, and
   2 num den width^2 is below 2^127. */
static int nbc_gaussian(nbc_coins *coins, uint64_t num, uint64_t den, uint64_t width, int64_t *drawn)
{
    const nbc_u128 below = (nbc_u128)2 * num * den * width * width;
    for (;;) {
        if (!nbc_laplace(coins, width, 1, drawn))
            return 0;
        const uint64_t size = *drawn < 0 ? (uint64_t)-*drawn : (uint64_t)*drawn;
        const nbc_u128 scaled = (nbc_u128)(width * den) * size;
        if (scaled > (nbc_u128)INT64_MAX)
            return 0;
        const uint64_t apart = (uint64_t)scaled > num ? (uint64_t)scaled - num : num - (uint64_t)scaled;
        const nbc_u128 above = (nbc_u128)apart * apart;
        nbc_u128 wholes = above / below;
        const nbc_u128 rest = above - wholes * below;
        while (wholes && nbc_is_inverse_e(coins))
            wholes--;
        if (!wholes && nbc_is_exponential(coins, rest, below))
            return 1;
    }
}

/* Draws until one does not fit, of which no word is taken then; how many there are. `width` is 0 for Laplace. */
static int64_t nbc_noise(nbc_coins *coins, uint64_t num, uint64_t den, uint64_t width, int64_t *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t counter = coins->counter, used = coins->used;
        if (width ? nbc_gaussian(coins, num, den, width, out + i) : nbc_laplace(coins, num, den, out + i))
            continue;
        nbc_coins_back(coins, counter, used);
        return i;
    }
    return n;
}

#endif
