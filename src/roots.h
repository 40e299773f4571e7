/* N^(top/bottom) by division-free Newton on fixed numbers of limbs, correctly rounded wherever the error
   bound can tell.

   A number is mantissa * 2^exponent with the mantissa a fraction of `n` little-endian limbs, its top bit set. */
#ifndef NBCFAST_ROOTS_H
#define NBCFAST_ROOTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "shared/lanes.h"
#include "shared/wide.h"

#define NBC_ROOT_LIMBS 16  /* the longest mantissa */
#define NBC_ROOT_SPARE 44  /* bits beyond those asked for: one root in 2^30 is then left undecided */
#define NBC_ROOT_DEGREE (1 << 20)


typedef struct {
    uint64_t limb[NBC_ROOT_LIMBS];
    int64_t exponent;
} nbc_real;

/* The high n limbs of a * b, which must not overlap `high`; the limb below them is returned. */
NBC_INLINE uint64_t nbc_high_n(uint64_t *restrict high, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t product[2 * NBC_ROOT_LIMBS];
    uint64_t carry = 0;
    for (int j = 0; j < n; j++) {
        nbc_u128 sum = (nbc_u128)a[0] * b[j] + carry;
        product[j] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    product[n] = carry;
    for (int i = 1; i < n; i++) {
        carry = 0;
        for (int j = 0; j < n; j++) {
            nbc_u128 sum = (nbc_u128)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        product[i + n] = carry;
    }
    for (int i = 0; i < n; i++)
        high[i] = product[n + i];
    return product[n - 1];
}

/* A constant count lets the compiler unroll both loops. */
static inline uint64_t nbc_high(uint64_t *restrict high, const uint64_t *a, const uint64_t *b, int n)
{
    switch (n) {
    case 2: return nbc_high_n(high, a, b, 2);
    case 3: return nbc_high_n(high, a, b, 3);
    case 4: return nbc_high_n(high, a, b, 4);
    case 5: return nbc_high_n(high, a, b, 5);
    case 6: return nbc_high_n(high, a, b, 6);
    default: return nbc_high_n(high, a, b, n);
    }
}

/* result = a * b, truncated: a relative error below 2^(1 - 64 n). */
static inline void nbc_times(nbc_real *result, const nbc_real *a, const nbc_real *b, int n)
{
    uint64_t high[NBC_ROOT_LIMBS];
    uint64_t below = nbc_high(high, a->limb, b->limb, n);
    int64_t exponent = a->exponent + b->exponent;
    if (high[n - 1] >> 63) {
        for (int i = 0; i < n; i++)
            result->limb[i] = high[i];
    } else {
        for (int i = n - 1; i > 0; i--)
            result->limb[i] = high[i] << 1 | high[i - 1] >> 63;
        result->limb[0] = high[0] << 1 | below >> 63;
        exponent--;
    }
    result->exponent = exponent;
}

/* result = a^power, power >= 1; below 2 * power truncations. */
static inline void nbc_power(nbc_real *result, const nbc_real *a, uint32_t power, int n)
{
    int bit = 31 - __builtin_clz(power);
    *result = *a;
    while (--bit >= 0) {
        nbc_times(result, result, result, n);
        if (power >> bit & 1)
            nbc_times(result, result, a, n);
    }
}

/* value *= t^(-weight / degree) to first order, where t is near 1. */
static inline void nbc_correct(nbc_real *value, const nbc_real *t, uint64_t weight, uint64_t degree, int n)
{
    uint64_t rest[NBC_ROOT_LIMBS], move[NBC_ROOT_LIMBS];
    int above = t->exponent > 0;
    if (above) { /* t = 2 * mantissa, so t - 1 is the mantissa without its top bit, doubled */
        for (int i = n - 1; i > 0; i--)
            rest[i] = t->limb[i] << 1 | t->limb[i - 1] >> 63;
        rest[0] = t->limb[0] << 1;
    } else { /* 1 - t */
        uint64_t carry = 1;
        for (int i = 0; i < n; i++) {
            rest[i] = ~t->limb[i] + carry;
            carry = carry && rest[i] == 0;
        }
    }
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        nbc_u128 product = (nbc_u128)rest[i] * weight + carry;
        rest[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    /* t is within 2^-24 of 1 and the weight at most 2^20: nothing is carried out. */
    uint64_t left = 0;
    for (int i = n - 1; i >= 0; i--) {
        nbc_u128 part = (nbc_u128)left << 64 | rest[i];
        if (part >> 64 == 0) {
            rest[i] = (uint64_t)part / degree;
            left = (uint64_t)part % degree;
        } else { /* the remainder is below 2^20, so two short divisions do */
            uint64_t upper = left << 32 | (uint64_t)part >> 32;
            uint64_t lower = upper % degree << 32 | (uint32_t)part;
            rest[i] = upper / degree << 32 | lower / degree;
            left = lower % degree;
        }
    }
    nbc_high(move, value->limb, rest, n);
    if (above) {
        uint64_t borrow = 0;
        for (int i = 0; i < n; i++) {
            nbc_u128 difference = (nbc_u128)value->limb[i] - move[i] - borrow;
            value->limb[i] = (uint64_t)difference;
            borrow = (uint64_t)(difference >> 64) & 1;
        }
        if (!(value->limb[n - 1] >> 63)) {
            for (int i = n - 1; i > 0; i--)
                value->limb[i] = value->limb[i] << 1 | value->limb[i - 1] >> 63;
            value->limb[0] <<= 1;
            value->exponent--;
        }
    } else {
        uint64_t over = 0;
        for (int i = 0; i < n; i++) {
            nbc_u128 sum = (nbc_u128)value->limb[i] + move[i] + over;
            value->limb[i] = (uint64_t)sum;
            over = (uint64_t)(sum >> 64);
        }
        if (over) {
            for (int i = 0; i < n - 1; i++)
                value->limb[i] = value->limb[i] >> 1 | value->limb[i + 1] << 63;
            value->limb[n - 1] = value->limb[n - 1] >> 1 | (uint64_t)1 << 63;
            value->exponent++;
        }
    }
}

/* The number a double stands for, in n limbs. */
static inline void nbc_from_double(nbc_real *result, double value, int n)
{
    int exponent;
    memset(result->limb, 0, sizeof(uint64_t) * (size_t)n);
    result->limb[n - 1] = (uint64_t)ldexp(frexp(value, &exponent), 64);
    result->exponent = exponent;
}

typedef struct {
    int n_steps;
    int limbs[12];     /* of each step; the last gives the root itself */
    int accuracy;      /* the result is within 2^-accuracy, relative */
} nbc_root_plan;

static int nbc_log2(int64_t number) /* rounded up */
{
    int bits = 0;
    while ((int64_t)1 << bits < number)
        bits++;
    return bits;
}

/* How to find roots of this degree to `bits` bits, squared `squarings` times; 0 if the limbs do not suffice. */
static int nbc_plan_root(nbc_root_plan *plan, int bits, int degree, int squarings)
{
    /* pow() and the rounded exponent -1/degree: below 64 units of a double. A step maps the error e to
       (degree + 1)/2 e^2 and adds 2 degree + 8 truncations. */
    int accuracy = 46, loss = nbc_log2(degree + 1), noise = nbc_log2(2 * degree + 8) + 2;
    int last = (bits + NBC_ROOT_SPARE + 63) / 64;
    last = last < 2 ? 2 : last;
    plan->n_steps = 0;
    for (;;) {
        int next = 2 * accuracy - loss, limbs = (next + noise + 63) / 64;
        if (last > NBC_ROOT_LIMBS || plan->n_steps >= 12)
            return 0;
        limbs = limbs < 2 ? 2 : limbs > last ? last : limbs;
        if (64 * limbs - noise < next)
            next = 64 * limbs - noise;
        plan->limbs[plan->n_steps++] = limbs;
        accuracy = next;
        if (accuracy - 2 * squarings >= bits + NBC_ROOT_SPARE - 20) {
            plan->accuracy = accuracy - 2 * squarings;
            return 1;
        }
        if (limbs == last && 64 * limbs - noise - 2 * squarings < bits + NBC_ROOT_SPARE - 20)
            last++;
    }
}

/* The upper `bits` bits as an integer of limbs. */
static void nbc_upper(uint64_t *result, const nbc_real *a, int bits, int n)
{
    int size = (bits + 63) / 64, spare = 64 * n - bits, skip = spare / 64, shift = spare % 64;
    for (int i = 0; i < size; i++) {
        int at = i + skip;
        result[i] = at < n ? a->limb[at] >> shift : 0;
        if (shift && at + 1 < n)
            result[i] |= a->limb[at + 1] << (64 - shift);
    }
}

/* The root rounded to `bits` bits, to nearest: mantissa and exponent; whether it is sure to be right. */
static int nbc_root(uint64_t *mantissa, int64_t *exponent, uint64_t number, int degree, int squarings, int bits,
                    const nbc_root_plan *plan)
{
    nbc_real root, whole, power, t;
    int n = plan->limbs[0], held;
    nbc_from_double(&root, pow((double)number, -1.0 / degree), n);
    for (int step = 0; step < plan->n_steps; step++) {
        held = n;
        n = plan->limbs[step];
        if (n > held) { /* longer by zeros below */
            memmove(root.limb + n - held, root.limb, sizeof(uint64_t) * (size_t)held);
            memset(root.limb, 0, sizeof(uint64_t) * (size_t)(n - held));
        }
        memset(whole.limb, 0, sizeof(uint64_t) * (size_t)n);
        int zeros = __builtin_clzll(number);
        whole.limb[n - 1] = number << zeros;
        whole.exponent = 64 - zeros;
        if (step + 1 < plan->n_steps) {
            nbc_power(&power, &root, (uint32_t)degree, n);
            nbc_times(&t, &power, &whole, n);
            nbc_correct(&root, &t, 1, (uint64_t)degree, n);
        } else { /* N u^(degree - 1) is the root where u is its inverse */
            nbc_power(&power, &root, (uint32_t)degree - 1, n);
            nbc_times(&power, &power, &whole, n);
            nbc_times(&t, &power, &root, n);
            nbc_correct(&power, &t, (uint64_t)degree - 1, (uint64_t)degree, n);
        }
    }
    while (squarings-- > 0)
        nbc_times(&power, &power, &power, n);

    int size = (bits + 63) / 64, spare = 64 * n - bits, skip = spare / 64, shift = spare % 64;
    nbc_upper(mantissa, &power, bits, n);
    /* The 64 bits below the last one kept; the true ones differ by less than `doubt`. */
    uint64_t below = shift ? power.limb[skip] << (64 - shift) : 0;
    if (skip > 0)
        below |= shift ? power.limb[skip - 1] >> shift : power.limb[skip - 1];
    int known = plan->accuracy - bits - 1;
    uint64_t half = (uint64_t)1 << 63, doubt = known >= 62 ? 4 : (uint64_t)1 << (64 - known);
    uint64_t distance = below > half ? below - half : half - below;
    *exponent = power.exponent - bits;
    if (below >= half) {
        int i = 0;
        while (i < size && ++mantissa[i] == 0)
            i++;
        int top = bits % 64;
        if (top ? mantissa[size - 1] >> top : i == size) {
            memset(mantissa, 0, sizeof(uint64_t) * (size_t)size);
            mantissa[size - 1] = (uint64_t)1 << (bits - 1) % 64;
            ++*exponent;
        }
    }
    return distance > doubt;
}

/* A root of every number; sure[i] is 0 where the error bound cannot tell how to round. */
static void nbc_roots(const uint64_t *numbers, int64_t count, int degree, int squarings, int bits,
                      const nbc_root_plan *plan, uint64_t *mantissas, int64_t *exponents, uint8_t *sure)
{
    int size = (bits + 63) / 64;
    for (int64_t i = 0; i < count; i++)
        sure[i] = (uint8_t)nbc_root(mantissas + i * size, exponents + i, numbers[i], degree, squarings, bits, plan);
}

/* Sums and reciprocals, for the gauge -------------------------------------------------------------------- */

/* a += b; a relative error below 2^(2 - 64 n). */
static void nbc_add(nbc_real *a, const nbc_real *b, int n)
{
    nbc_real shifted;
    if (a->exponent < b->exponent) {
        nbc_real swap = *a;
        *a = *b;
        shifted = swap;
    } else
        shifted = *b;
    int64_t gap = a->exponent - shifted.exponent;
    if (gap >= 64 * (int64_t)n)
        return;
    int skip = (int)(gap / 64), shift = (int)(gap % 64);
    uint64_t over = 0;
    for (int i = 0; i < n; i++) {
        uint64_t part = i + skip < n ? shifted.limb[i + skip] >> shift : 0;
        if (shift && i + skip + 1 < n)
            part |= shifted.limb[i + skip + 1] << (64 - shift);
        nbc_u128 sum = (nbc_u128)a->limb[i] + part + over;
        a->limb[i] = (uint64_t)sum;
        over = (uint64_t)(sum >> 64);
    }
    if (over) {
        for (int i = 0; i < n - 1; i++)
            a->limb[i] = a->limb[i] >> 1 | a->limb[i + 1] << 63;
        a->limb[n - 1] = a->limb[n - 1] >> 1 | (uint64_t)1 << 63;
        a->exponent++;
    }
}

/* result = 1 / a; a relative error below 2^(4 - 64 n): each step squares that of the double it starts from. */
static void nbc_reciprocal(nbc_real *result, const nbc_real *a, int n)
{
    nbc_real t;
    nbc_from_double(result, ldexp(1.0, 63) / (double)(a->limb[n - 1] >> 1), n);
    result->exponent -= a->exponent;
    for (int good = 48; good < 64 * n; good *= 2) {
        nbc_times(&t, result, a, n);
        nbc_correct(result, &t, 1, 1, n);
    }
}

/* To `bits` bits, to nearest with ties to even. */
static void nbc_round(nbc_real *a, int bits, int n)
{
    int spare = 64 * n - bits;
    if (spare <= 0)
        return;
    int limb = spare / 64, bit = spare % 64;
    int half_limb = (spare - 1) / 64, half_bit = (spare - 1) % 64;
    int half = (int)(a->limb[half_limb] >> half_bit & 1), rest = 0;
    if (half_bit && a->limb[half_limb] << (64 - half_bit))
        rest = 1;
    for (int i = 0; i < half_limb; i++)
        rest |= a->limb[i] != 0;
    for (int i = 0; i < limb; i++)
        a->limb[i] = 0;
    int odd = (int)(a->limb[limb] >> bit & 1);
    a->limb[limb] = a->limb[limb] >> bit << bit;
    if (half && (rest || odd)) {
        uint64_t add = (uint64_t)1 << bit;
        int i = limb;
        while (i < n && (a->limb[i] += add) < add) {
            add = 1;
            i++;
        }
        if (i == n) {
            a->limb[n - 1] = (uint64_t)1 << 63;
            a->exponent++;
        }
    }
}

/* Exponents lie within 2^40, as was looked at; one that somebody has written since may not overflow. */
static void nbc_load(nbc_real *result, const uint64_t *limbs, int64_t exponent, int n)
{
    const int64_t most = (int64_t)1 << 40;
    memcpy(result->limb, limbs, sizeof(uint64_t) * (size_t)n);
    result->exponent = exponent < -most ? -most : exponent > most ? most : exponent;
}

/* The product of the numbers at these places, `stride` apart. */
static void nbc_product(uint64_t *limbs, int64_t *exponent, const uint64_t *numbers, const int64_t *exponents,
                        const int64_t *places, int64_t count, int64_t stride, int n)
{
    nbc_real product, factor;
    nbc_from_double(&product, 1.0, n);
    for (int64_t t = 0; t < count; t++) {
        int64_t place = places[t * stride];
        nbc_load(&factor, numbers + place * n, exponents[place], n);
        nbc_times(&product, &product, &factor, n);
    }
    memcpy(limbs, product.limb, sizeof(uint64_t) * (size_t)n);
    *exponent = product.exponent;
}

/* One value: its numbers times the inverse means of their columns, divided by their sum over the classes,
   rounded to `snap` and then to `bits` bits. */
static void nbc_gauge(uint64_t *mantissas, int64_t *new_exponents, double *floats, const uint64_t *numbers,
                      const int64_t *exponents, const int64_t *places, int64_t n_classes, const uint64_t *inverses,
                      const int64_t *inverse_exponents, int snap, int bits, int n)
{
    nbc_real sum, number, inverse, whole;
    int size = (bits + 63) / 64;
    for (int64_t c = 0; c < n_classes; c++) {
        nbc_load(&number, numbers + places[c] * n, exponents[places[c]], n);
        nbc_load(&inverse, inverses + c * n, inverse_exponents[c], n);
        nbc_times(&number, &number, &inverse, n);
        if (c == 0)
            sum = number;
        else
            nbc_add(&sum, &number, n);
    }
    nbc_reciprocal(&whole, &sum, n);
    for (int64_t c = 0; c < n_classes; c++) {
        nbc_load(&number, numbers + places[c] * n, exponents[places[c]], n);
        nbc_load(&inverse, inverses + c * n, inverse_exponents[c], n);
        nbc_times(&number, &number, &inverse, n);
        nbc_times(&number, &number, &whole, n);
        nbc_round(&number, snap, n);
        nbc_round(&number, bits, n);
        nbc_upper(mantissas + c * size, &number, bits, n);
        new_exponents[c] = number.exponent - bits;
        int64_t exponent = number.exponent < -100000 ? -100000 : number.exponent;
        exponent = exponent > 100000 ? 100000 : exponent;
        floats[c] = ldexp((double)number.limb[n - 1], (int)exponent - 64);
    }
}

#endif
