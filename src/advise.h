/* Naive Bayes classifiers of every combination of options, on the same rows: how many rows each gets right, and
   its log-loss.

   A row's score is a sum with a term for each attribute that depends on the attribute's option alone, so a walk
   over the combinations, depth first, adds one vector of terms at each node. Rows are of one class in a block, the
   truth; their state are the differences of its score to that of each other class, its rivals.

   Correct rows: sums of floats with a proven bound, and exact integers for what lies inside of it. A class with a
   count of zero has X = 0, and of equal X the later class wins. So against a later rival a zero of the truth decides
   whatever else there is, and against an earlier one a zero of the rival does: these are infinite. The other zero
   decides unless there is one of those: NBC_HARD.

   Log-loss: terms are multiples of 2^-30, so that their sums are exact in doubles in any order; each row's loss is
   made by additions, multiplications and divisions of doubles alone, which are the same on every machine, and is
   rounded to a multiple of 1 / scale, so that sums over rows are exact as well. */
#ifndef NBCFAST_ADVISE_H
#define NBCFAST_ADVISE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/lanes.h"
#include "shared/wide.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF  /* losses are the same everywhere, so nothing may be fused */
#endif

#define NBC_ADVISE_BLOCK 1024
#define NBC_HARD 1e30f
#define NBC_IMPOSSIBLE 1e15  /* of losses: the truth has a zero */
#define NBC_NEVER 1e6        /* of losses: a rival has a zero */

typedef struct {
    int64_t n_attributes, n_options, n_classes, n_rows;
    const int32_t *cells;         /* attribute * n_rows + row: (value, fold) of a row, as one number */
    const int32_t *folds;         /* of each row */
    const int64_t *weights;
    const int64_t *starts;        /* n_classes + 1: rows of each class */
    const int64_t *first;         /* n_attributes + 1: options of each attribute */
    const int64_t *tables;        /* of each option: its first row of `logs` and `counts`, or -1: left out */
    const double *logs;           /* (table + cell) * n_classes + class: ln N / P, -inf where N is 0 */
    const int64_t *counts;        /* N, likewise */
    const double *priors;         /* fold * n_classes + class: ln P / R */
    const int64_t *class_counts;  /* P, likewise */
    float bound;                  /* every sum of floats is within this of the true one */
    int is_small;                 /* whether all weights add up to less than 2^31 */
} nbc_choices;

/* What is asked: the product over the options of some attributes, the others being fixed. */
typedef struct {
    const int32_t *chosen;        /* option of each attribute, or -1: left out */
    const int32_t *inner;         /* n_inner attributes, the last one fastest */
    int64_t n_inner;
    int64_t *places;              /* n_inner: where the walk is */
    int64_t *options;             /* n_attributes: options of the walk, numbered over all attributes, or -1 */
    uint64_t *left, *right;       /* exact products: 2 * n_attributes + 2 limbs each */
} nbc_asked;

static int64_t nbc_advise_block(int64_t n_classes)
{
    const int64_t block = (2 * NBC_ADVISE_BLOCK / (n_classes - 1)) & ~(int64_t)15;
    return n_classes == 2 ? NBC_ADVISE_BLOCK : block < 16 ? 16 : block;
}

/* ---- exactly ---- */

static int64_t nbc_times(uint64_t *product, int64_t n, uint64_t factor)
{
    uint64_t carry = 0;
    for (int64_t i = 0; i < n; i++) {
        const nbc_u128 wide = (nbc_u128)product[i] * factor + carry;
        product[i] = (uint64_t)wide;
        carry = (uint64_t)(wide >> 64);
    }
    if (carry)
        product[n++] = carry;
    return n;
}

/* Whether X of class t is larger than X of class c in a row, or equal and c comes before t. */
static int nbc_beats(const nbc_choices *all, const nbc_asked *asked, int64_t row, int64_t t, int64_t c)
{
    const int64_t C = all->n_classes;
    const int64_t *totals = all->class_counts + all->folds[row] * C;
    int64_t n = 1, m = 1, used = 0;
    int zero_t = totals[t] == 0, zero_c = totals[c] == 0;
    asked->left[0] = asked->right[0] = 1;
    for (int64_t a = 0; a < all->n_attributes; a++) {
        const int64_t table = asked->options[a] < 0 ? -1 : all->tables[asked->options[a]];
        if (table < 0)
            continue;
        const int64_t *counts = all->counts + (table + all->cells[a * all->n_rows + row]) * C;
        zero_t |= counts[t] == 0;
        zero_c |= counts[c] == 0;
        used++;
        if (counts[t] == counts[c])
            continue;
        n = nbc_times(asked->left, n, (uint64_t)counts[t]);
        m = nbc_times(asked->right, m, (uint64_t)counts[c]);
    }
    if (zero_t || zero_c)
        return zero_c && (c < t || !zero_t);
    if (used == 0)
        return totals[t] > totals[c] || (totals[t] == totals[c] && c < t);
    if (totals[t] != totals[c])
        for (int64_t a = 1; a < used; a++) {
            n = nbc_times(asked->left, n, (uint64_t)totals[c]);
            m = nbc_times(asked->right, m, (uint64_t)totals[t]);
        }
    if (n != m)
        return n > m;
    for (int64_t i = n - 1; i >= 0; i--)
        if (asked->left[i] != asked->right[i])
            return asked->left[i] > asked->right[i];
    return c < t;
}

static int nbc_is_right(const nbc_choices *all, const nbc_asked *asked, int64_t row, int64_t t)
{
    for (int64_t c = 0; c < all->n_classes; c++)
        if (c != t && !nbc_beats(all, asked, row, t, c))
            return 0;
    return 1;
}

/* ---- loops over the rows of a block; `stride` rows lie between two rivals ---- */

NBC_CLONED(void, nbc_add_floats, (const float *restrict a, const float *restrict b, float *restrict sum, int64_t n),
           (a, b, sum, n))
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

NBC_CLONED(void, nbc_add_doubles, (const double *restrict a, const double *restrict b, double *restrict sum,
                                   int64_t n),
           (a, b, sum, n))
{
    for (int64_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

/* The smallest difference of each row. */
NBC_CLONED(void, nbc_least, (const float *restrict part, const float *restrict terms, float *restrict least,
                             int64_t n, int64_t stride, int64_t n_rivals),
           (part, terms, least, n, stride, n_rivals))
{
    for (int64_t i = 0; i < n; i++)
        least[i] = part[i] + terms[i];
    for (int64_t r = 1; r < n_rivals; r++)
        for (int64_t i = 0; i < n; i++) {
            const float gap = part[r * stride + i] + terms[r * stride + i];
            least[i] = gap < least[i] ? gap : least[i];
        }
}

/* The weight of the rows that are certainly right; `near` is set if some are too close to say. */
#define NBC_RIGHT(NAME, TYPE)                                                                              \
    NBC_CLONED(int64_t, NAME, (const float *restrict part, const float *restrict terms,                             \
                               const TYPE *restrict weights, int64_t n, float bound, int *near),                    \
               (part, terms, weights, n, bound, near))                                                              \
    {                                                                                                      \
        TYPE sum = 0;                                                                                      \
        int32_t close = 0;                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                  \
            const float gap = part[i] + terms[i];                                                          \
            sum += gap > bound ? weights[i] : 0;                                                           \
            close |= fabsf(gap) <= bound;                                                                  \
        }                                                                                                  \
        *near = close != 0;                                                                                \
        return sum;                                                                                        \
    }
NBC_RIGHT(nbc_right_small, int32_t)
NBC_RIGHT(nbc_right_large, int64_t)
#undef NBC_RIGHT

NBC_INLINE uint64_t nbc_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

NBC_INLINE double nbc_of_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* e^x for x <= 0, within 3e-9; below -64 as at -64. The polynomials are Chebyshev's, summed in pairs: shorter chains
   of operations that wait for each other. */
NBC_INLINE double nbc_power(double x)
{
    const double down = x < -64.0 ? -64.0 : x;
    const double shifted = down * 0x1.71547652b82fep+0 + 0x1.8p52;
    const double r = down - (shifted - 0x1.8p52) * 0x1.62e42fefa39efp-1, r2 = r * r;
    const double low = (0.99999999996 + 1.000000037727 * r) + (0.500000010775 + 0.166664154772 * r) * r2;
    const double high = (0.041666218274 + 0.00837512889 * r) + 0.001394858085 * r2;
    return (low + high * (r2 * r2)) * nbc_of_bits((nbc_bits(shifted) + 1023) << 52);
}

/* ln (1 + s) for s of 0 .. 1, within 4e-9. */
NBC_INLINE double nbc_logarithm_of_two(double s)
{
    const double s2 = s * s, s4 = s2 * s2;
    const double a = (0.999999995385 - 0.499999039928 * s) + (0.333300040352 - 0.249545588708 * s) * s2;
    const double b = (0.196781172548 - 0.153118630981 * s) + (0.106142646805 - 0.0570642007 * s) * s2;
    const double c = 0.019907160895 - 0.003256378466 * s;
    return s * ((a + b * s4) + c * (s4 * s4));
}

/* ln y for y from 0.9 on, within 1e-9. */
NBC_INLINE double nbc_logarithm(double y)
{
    const uint64_t k = (nbc_bits(y) - 0x3FE6A09E667F3BCDu) >> 52;  /* less the bits of the root of 1/2 */
    const double f = nbc_of_bits(nbc_bits(y) - (k << 52));
    const double exponent = nbc_of_bits(k + 0x4330000000000000u) - 0x1p52;
    const double u = (f - 1.0) / (f + 1.0), square = u * u;
    double p = 1.0 / 11;
    p = p * square + 1.0 / 9;
    p = p * square + 1.0 / 7;
    p = p * square + 1.0 / 5;
    p = p * square + 1.0 / 3;
    p = p * square + 1.0;
    return exponent * 0x1.62e42fefa39efp-1 + 2.0 * u * p;
}

/* The sums of rounded losses, and the weight of the rows whose loss is infinite. */
typedef struct {
    uint64_t finite, infinite;
} nbc_loss;

/* A double that is a natural number below 2^51, as bits from which nbc_bits(0x1p52) is to be taken. */
#define NBC_NATURAL(number) nbc_bits((number) + 0x1p52)

NBC_CLONED(nbc_loss, nbc_losses_of_two, (const double *restrict part, const double *restrict terms,
                                         const double *restrict weights, int64_t n, double scale),
           (part, terms, weights, n, scale))
{
    uint64_t finite = 0, infinite = 0;
    for (int64_t i = 0; i < n; i++) {
        const double gap = part[i] + terms[i];
        const double small = nbc_logarithm_of_two(nbc_power(-fabs(gap)));
        const double loss = 0.5 * (fabs(gap) - gap) + small;
        const double rounded = (loss * scale + 0x1.8p52) - 0x1.8p52;
        /* A factor, and no branch, with which the loop would not be made of vectors. */
        const double possible = gap > -0.5 * NBC_IMPOSSIBLE ? 1.0 : 0.0;
        finite += NBC_NATURAL(rounded * weights[i] * possible);
        infinite += NBC_NATURAL(weights[i] * (1.0 - possible));
    }
    const uint64_t none = (uint64_t)n * nbc_bits(0x1p52);
    return (nbc_loss){finite - none, infinite - none};
}

/* `spare`: 2 * n doubles. */
NBC_CLONED(nbc_loss, nbc_losses_of_many, (const double *restrict part, const double *restrict terms,
                                          const double *restrict weights, int64_t n, int64_t stride, int64_t n_rivals,
                                          double scale, double *restrict spare),
           (part, terms, weights, n, stride, n_rivals, scale, spare))
{
    double *restrict least = spare, *restrict sum = spare + n;
    uint64_t finite = 0, infinite = 0;
    for (int64_t i = 0; i < n; i++)
        least[i] = 0;
    for (int64_t r = 0; r < n_rivals; r++)
        for (int64_t i = 0; i < n; i++) {
            const double gap = part[r * stride + i] + terms[r * stride + i];
            least[i] = gap < least[i] ? gap : least[i];
        }
    for (int64_t i = 0; i < n; i++)
        sum[i] = nbc_power(least[i]);
    for (int64_t r = 0; r < n_rivals; r++)
        for (int64_t i = 0; i < n; i++)
            sum[i] += nbc_power(least[i] - (part[r * stride + i] + terms[r * stride + i]));
    for (int64_t i = 0; i < n; i++) {
        const double loss = nbc_logarithm(sum[i]) - least[i];
        const double rounded = (loss * scale + 0x1.8p52) - 0x1.8p52;
        const double possible = least[i] > -0.5 * NBC_IMPOSSIBLE ? 1.0 : 0.0;
        finite += NBC_NATURAL(rounded * weights[i] * possible);
        infinite += NBC_NATURAL(weights[i] * (1.0 - possible));
    }
    const uint64_t none = (uint64_t)n * nbc_bits(0x1p52);
    return (nbc_loss){finite - none, infinite - none};
}

/* ---- terms ---- */

/* What a truth with logarithm `own` gains on a rival, for correct rows. */
NBC_INLINE float nbc_gain(double own, double other, int is_later)
{
    if (is_later)
        return own == -INFINITY ? -INFINITY : other == -INFINITY ? NBC_HARD : (float)(own - other);
    return other == -INFINITY ? INFINITY : own == -INFINITY ? -NBC_HARD : (float)(own - other);
}

/* The same for losses. */
NBC_INLINE double nbc_gain_of_loss(double own, double other)
{
    return own == -INFINITY ? -NBC_IMPOSSIBLE : other == -INFINITY ? NBC_NEVER : own - other;
}

#define NBC_TERMS(NAME, TYPE, GAIN)                                                                        \
    /* What an option gives rows [row, row + n) of class t, or their class alone if `option` is -1. */     \
    static void NAME(const nbc_choices *all, int64_t attribute, int64_t option, int64_t row, int64_t n,    \
                     int64_t t, int64_t stride, TYPE *terms)                                               \
    {                                                                                                      \
        const int64_t C = all->n_classes, table = option < 0 ? 0 : all->tables[option];                    \
        if (table < 0) {                                                                                   \
            for (int64_t r = 0; r < C - 1; r++)                                                            \
                for (int64_t i = 0; i < n; i++)                                                            \
                    terms[r * stride + i] = 0;                                                             \
            return;                                                                                        \
        }                                                                                                  \
        const double *logs = option < 0 ? all->priors : all->logs + table * C;                             \
        const int32_t *cells = (option < 0 ? all->folds : all->cells + attribute * all->n_rows) + row;     \
        for (int64_t i = 0; i < n; i++) {                                                                  \
            const double *of_row = logs + cells[i] * C;                                                    \
            for (int64_t r = 0; r < C - 1; r++) {                                                          \
                const int64_t c = r < t ? r : r + 1;                                                       \
                terms[r * stride + i] = GAIN;                                                              \
            }                                                                                              \
        }                                                                                                  \
    }
NBC_TERMS(nbc_terms_float, float, nbc_gain(of_row[t], of_row[c], c > t))
NBC_TERMS(nbc_terms_double, double, nbc_gain_of_loss(of_row[t], of_row[c]))
#undef NBC_TERMS

/* ---- the walk ---- */

/* One block's leaves, depth first: LEAF is done for each with its number, the sums of the others, and the terms
   of the last attribute's option. `sums`: n_inner vectors, the first being given; `terms`: those of all inner
   options, one attribute after another. */
#define NBC_WALK(TYPE, ADD, LEAF)                                                                          \
    do {                                                                                                   \
        const int64_t last = asked->n_inner - 1;                                                           \
        int64_t leaf = 0, depth = 0;                                                                       \
        const TYPE *of_last = terms;                                                                       \
        for (int64_t d = 0; d < last; d++)                                                                 \
            of_last += (all->first[asked->inner[d] + 1] - all->first[asked->inner[d]]) * vector;           \
        const TYPE *of_depth = terms;                                                                      \
        asked->places[0] = 0;                                                                              \
        for (;;) {                                                                                         \
            const int64_t attribute = asked->inner[depth], first = all->first[attribute];                  \
            const int64_t n_options = all->first[attribute + 1] - first;                                   \
            if (depth == last) {                                                                           \
                for (int64_t k = 0; k < n_options; k++, leaf++) {                                          \
                    const TYPE *part = sums + last * vector, *option_terms = of_last + k * vector;         \
                    asked->options[attribute] = first + k;                                                 \
                    LEAF                                                                                   \
                }                                                                                          \
            } else if (asked->places[depth] < n_options) {                                                 \
                const int64_t k = asked->places[depth]++;                                                  \
                asked->options[attribute] = first + k;                                                     \
                for (int64_t r = 0; r < n_rivals; r++)                                                     \
                    ADD(sums + depth * vector + r * stride, of_depth + k * vector + r * stride,            \
                        sums + (depth + 1) * vector + r * stride, n);                                      \
                of_depth += n_options * vector;                                                            \
                asked->places[++depth] = 0;                                                                \
                continue;                                                                                  \
            }                                                                                              \
            if (depth == 0)                                                                                \
                break;                                                                                     \
            depth--;                                                                                       \
            of_depth -= (all->first[asked->inner[depth] + 1] - all->first[asked->inner[depth]]) * vector;  \
        }                                                                                                  \
    } while (0)

/* What all leaves of a block begin with, and the terms of the inner options. */
#define NBC_BEGIN(TERMS, ADD)                                                                              \
    do {                                                                                                   \
        TERMS(all, 0, -1, row, n, t, stride, sums);                                                        \
        for (int64_t a = 0; a < all->n_attributes; a++) {                                                  \
            if (asked->options[a] < 0)                                                                     \
                continue;                                                                                  \
            TERMS(all, a, asked->options[a], row, n, t, stride, terms);                                    \
            for (int64_t r = 0; r < n_rivals; r++) {                                                       \
                ADD(sums + r * stride, terms + r * stride, terms + vector + r * stride, n);                \
                memcpy(sums + r * stride, terms + vector + r * stride, (size_t)n * sizeof *sums);          \
            }                                                                                              \
        }                                                                                                  \
        int64_t place = 0;                                                                                 \
        for (int64_t d = 0; d < asked->n_inner; d++)                                                       \
            for (int64_t o = all->first[asked->inner[d]]; o < all->first[asked->inner[d] + 1]; o++)        \
                TERMS(all, asked->inner[d], o, row, n, t, stride, terms + place++ * vector);               \
    } while (0)

static void nbc_fix(const nbc_choices *all, nbc_asked *asked)
{
    for (int64_t a = 0; a < all->n_attributes; a++)
        asked->options[a] = asked->chosen[a] < 0 ? -1 : all->first[a] + asked->chosen[a];
    for (int64_t d = 0; d < asked->n_inner; d++)
        asked->options[asked->inner[d]] = -1;
}

/* Vectors of room that a walk takes: two to begin with, if the inner options are fewer. */
static int64_t nbc_vectors(const nbc_choices *all, const nbc_asked *asked)
{
    int64_t n = 0;
    for (int64_t d = 0; d < asked->n_inner; d++)
        n += all->first[asked->inner[d] + 1] - all->first[asked->inner[d]];
    return asked->n_inner + (n < 2 ? 2 : n);
}

/* correct[leaf] += weight of the rows that the leaf's classifier gets right. `room`: nbc_vectors vectors, and one
   number a row of a block; `weights` one number of 8 bytes a row. */
static void nbc_correct(const nbc_choices *all, nbc_asked *asked, float *room, void *weights, int64_t *correct)
{
    const int64_t stride = nbc_advise_block(all->n_classes), n_rivals = all->n_classes - 1;
    const int64_t vector = stride * n_rivals;
    float *sums = room, *terms = room + asked->n_inner * vector;
    float *least = room + nbc_vectors(all, asked) * vector;
    int32_t *small = weights;
    int64_t *large = weights;
    static const float nothing[2 * NBC_ADVISE_BLOCK];
    for (int64_t t = 0; t < all->n_classes; t++)
        for (int64_t row = all->starts[t]; row < all->starts[t + 1]; row += stride) {
            const int64_t left = all->starts[t + 1] - row, n = left < stride ? left : stride;
            for (int64_t i = 0; i < n; i++)
                if (all->is_small)
                    small[i] = (int32_t)all->weights[row + i];
                else
                    large[i] = all->weights[row + i];
            nbc_fix(all, asked);
            NBC_BEGIN(nbc_terms_float, nbc_add_floats);
            NBC_WALK(float, nbc_add_floats, {
                int near;
                if (n_rivals > 1) {
                    nbc_least(part, option_terms, least, n, stride, n_rivals);
                    part = least;
                    option_terms = nothing;
                }
                correct[leaf] += all->is_small ? nbc_right_small(part, option_terms, small, n, all->bound, &near)
                                               : nbc_right_large(part, option_terms, large, n, all->bound, &near);
                if (near)
                    for (int64_t i = 0; i < n; i++)
                        if (fabsf(part[i] + option_terms[i]) <= all->bound
                            && nbc_is_right(all, asked, row + i, t))
                            correct[leaf] += all->weights[row + i];
            });
        }
}

/* finite[leaf] += losses times scale, each rounded; infinite[leaf] += weight of rows of infinite loss. `room`:
   nbc_vectors vectors, and three numbers a row of a block. */
static void nbc_all_losses(const nbc_choices *all, nbc_asked *asked, double scale, double *room, int64_t *finite,
                           int64_t *infinite)
{
    const int64_t stride = nbc_advise_block(all->n_classes), n_rivals = all->n_classes - 1;
    const int64_t vector = stride * n_rivals;
    double *sums = room, *terms = room + asked->n_inner * vector;
    double *weights = room + nbc_vectors(all, asked) * vector, *spare = weights + stride;
    for (int64_t t = 0; t < all->n_classes; t++)
        for (int64_t row = all->starts[t]; row < all->starts[t + 1]; row += stride) {
            const int64_t left = all->starts[t + 1] - row, n = left < stride ? left : stride;
            for (int64_t i = 0; i < n; i++)
                weights[i] = (double)all->weights[row + i];
            nbc_fix(all, asked);
            NBC_BEGIN(nbc_terms_double, nbc_add_doubles);
            NBC_WALK(double, nbc_add_doubles, {
                const nbc_loss loss = n_rivals == 1
                    ? nbc_losses_of_two(part, option_terms, weights, n, scale)
                    : nbc_losses_of_many(part, option_terms, weights, n, stride, n_rivals, scale, spare);
                finite[leaf] += (int64_t)loss.finite;
                infinite[leaf] += (int64_t)loss.infinite;
            });
        }
}

#endif
