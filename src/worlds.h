/* Posteriors over possible worlds.

   In each class the columns are arranged independently, so the rows that match known values are the
   intersection of independent uniform subsets of sizes N in P rows. Its size Y is found subset by subset; the
   share of a class is E[Y_c / sum Y | sum Y >= 1].

   One step, from m rows to y among them in a subset of N, is hypergeometric. With B_M(y) = C(M, y) theta^y for
   any theta > 0

       C(m, y) C(P - m, N - y) / C(P, N) = const * B_N(y) * B_{P-N}(m - y) / B_P(m),

   so a step is a correlation of f / B_P with B_{P-N}: multiplications and additions alone, all terms positive.
   theta = X / (P - X) puts all three where the distribution is. Constants cancel in the end. */
#ifndef NBCFAST_WORLDS_H
#define NBCFAST_WORLDS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/columns.h"

#define NBC_WORLDS_OK 0
#define NBC_WORLDS_NONE 1      /* no world has a matching row */
#define NBC_WORLDS_BEYOND 2    /* too much work, or outside the range of doubles */
#define NBC_WORLDS_MEMORY (-1)

#define NBC_WORLDS_MOST ((int64_t) 1 << 50)  /* rows of a class */
#define NBC_WORLDS_LEAST 1e-280              /* smaller means would leave the range of doubles */
#define NBC_WORLDS_CHUNK 64                  /* terms added before they join the sum: fewer roundings in a row */
#define NBC_WORLDS_CUT 45.0                  /* what is cut off weighs less than e^-45 of what is kept */

typedef struct {
    double *doubles;
    int64_t size, used;
    int64_t *integers;
    int64_t n_integers;
} nbc_worlds_room;

/* Where the number of matching rows of one class is looked at: low .. low + width - 1. */
typedef struct {
    int64_t low, width;
    double *f;                 /* times 2^exponent, up to a constant that no scaling changes */
    int64_t exponent;
    double error;              /* relative, in units of 2^-53 */
} nbc_pmf;

/* How many roundings a sum of so many terms has in a row. */
static double nbc_worlds_roundings(int64_t terms)
{
    if (terms <= NBC_WORLDS_CHUNK)
        return (double) terms;
    return (double) NBC_WORLDS_CHUNK + (double) ((terms + NBC_WORLDS_CHUNK - 1) / NBC_WORLDS_CHUNK);
}

typedef double nbc_eight __attribute__((vector_size(64)));

/* out[i] = sum_j a[j] * r[i + j], j < n_a, i < n_out. */
NBC_CLONED(void, nbc_slide, (const double *restrict a, int64_t n_a, const double *restrict r, double *restrict out,
                             int64_t n_out),
           (a, n_a, r, out, n_out))
{
    int64_t i = 0;
    for (; i + 32 <= n_out; i += 32) {
        nbc_eight sums[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
        for (int64_t start = 0; start < n_a; start += NBC_WORLDS_CHUNK) {
            int64_t stop = start + NBC_WORLDS_CHUNK < n_a ? start + NBC_WORLDS_CHUNK : n_a;
            nbc_eight s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
            for (int64_t j = start; j < stop; j++) {
                nbc_eight x0, x1, x2, x3;
                const double *from = r + i + j;
                memcpy(&x0, from, 64);
                memcpy(&x1, from + 8, 64);
                memcpy(&x2, from + 16, 64);
                memcpy(&x3, from + 24, 64);
                s0 += a[j] * x0;
                s1 += a[j] * x1;
                s2 += a[j] * x2;
                s3 += a[j] * x3;
            }
            sums[0] += s0;
            sums[1] += s1;
            sums[2] += s2;
            sums[3] += s3;
        }
        memcpy(out + i, sums, sizeof sums);
    }
    for (; i < n_out; i++) {
        double sum = 0.0;
        for (int64_t start = 0; start < n_a; start += NBC_WORLDS_CHUNK) {
            int64_t stop = start + NBC_WORLDS_CHUNK < n_a ? start + NBC_WORLDS_CHUNK : n_a;
            double part = 0.0;
            for (int64_t j = start; j < stop; j++)
                part += a[j] * r[i + j];
            sum += part;
        }
        out[i] = sum;
    }
}

/* B_M(y) for y = low .. low + n - 1, relative to its value nearest the mode; 0 outside 0 .. M.
   In long double, so that a step errs by 3 units of that type, and one rounding to double. */
static void nbc_tilted(int64_t M, long double theta, int64_t low, int64_t n, double *out)
{
    int64_t first = low > 0 ? low : 0, last = low + n - 1 < M ? low + n - 1 : M, anchor;
    long double value;
    for (int64_t y = low; y < low + n; y++)
        if (y < 0 || y > M)
            out[y - low] = 0.0;
    if (first > last)
        return;
    anchor = (int64_t) ((long double) M * theta / (1.0L + theta));
    anchor = anchor < first ? first : anchor > last ? last : anchor;
    out[anchor - low] = 1.0;
    value = 1.0L;
    for (int64_t y = anchor; y < last; y++) {
        value *= (long double) (M - y) * theta / (long double) (y + 1);
        out[y + 1 - low] = (double) value;
    }
    value = 1.0L;
    for (int64_t y = anchor; y > first; y--) {
        value *= (long double) y / ((long double) (M - y + 1) * theta);
        out[y - 1 - low] = (double) value;
    }
}

/* The largest value becomes one of 1/2 .. 1; powers of two, so nothing is rounded. */
static int nbc_worlds_scale(double *f, int64_t n)
{
    double most = 0.0;
    int exponent;
    for (int64_t i = 0; i < n; i++)
        most = f[i] > most ? f[i] : most;
    frexp(most, &exponent);
    for (int64_t i = 0; i < n; i++)
        f[i] = ldexp(f[i], -exponent);
    return exponent;
}

static double *nbc_worlds_take(nbc_worlds_room *room, int64_t n)
{
    double *place = room->doubles + room->used;
    room->used += n;
    return place;
}

/* The full product of two distributions, in `out` of a->width + b->width - 1; `padded` has room for
   wide + 2 narrow. */
static void nbc_worlds_join(const nbc_pmf *a, const nbc_pmf *b, nbc_pmf *out, double *padded, double *turned)
{
    const nbc_pmf *narrow = a->width <= b->width ? a : b, *wide = a->width <= b->width ? b : a;
    int64_t n = narrow->width, w = wide->width;
    for (int64_t j = 0; j < n; j++)
        turned[j] = narrow->f[n - 1 - j];
    for (int64_t i = 0; i < n - 1; i++)
        padded[i] = padded[n - 1 + w + i] = 0.0;
    memcpy(padded + n - 1, wide->f, (size_t) w * sizeof(double));
    nbc_slide(turned, n, padded, out->f, w + n - 1);
    out->low = a->low + b->low;
    out->width = w + n - 1;
    out->exponent = a->exponent + b->exponent + nbc_worlds_scale(out->f, out->width);
    out->error = a->error + b->error + 1.0 + nbc_worlds_roundings(n);
}

/* What one class looks like: its subsets that are not everything, rising, and the window of each step. */
typedef struct {
    int64_t n;                 /* subsets */
    int64_t *sizes, *lows, *widths;
    double mean;
    int empty;                 /* no row matches in any world */
} nbc_worlds_class;

static int nbc_worlds_rising(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* Windows: Y is a sum of independent indicators (its generating function has only real roots, by Szego's
   composition theorem applied to each step), so Bernstein's inequality holds with its variance; so is the
   number of other matching rows where one matches, which is what the share of a class is weighted with. The
   window holds both but for a part of e^-tau. Below a mean of 32 also P(Y >= k) <= X^k / k!. */
static double nbc_worlds_windows(nbc_worlds_class *class, int64_t P, double tau)
{
    double x = (double) class->sizes[0], hat = x - 1.0, second = x - 2.0, cost = 1.0;
    int64_t least = class->sizes[0];
    class->lows[0] = class->sizes[0];
    class->widths[0] = 1;
    for (int64_t k = 1; k < class->n; k++) {
        double size = (double) class->sizes[k], rows = (double) P, v, v_hat, a;
        int64_t low, high;
        x *= size / rows;
        hat = P > 1 ? hat * ((size - 1.0) / (rows - 1.0)) : 0.0;
        second = P > 2 && size >= 2.0 ? second * ((size - 2.0) / (rows - 2.0)) : 0.0;
        least = least + class->sizes[k] > P ? least + class->sizes[k] - P : 0;
        v = x * (hat + 1.0 - x);
        v_hat = hat * (second + 1.0 - hat);
        v = v > v_hat ? v : v_hat;
        v = (v > 0.0 ? v : 0.0) + ldexp(x * x * (double) (k + 4), -48);
        a = tau / 3.0 + sqrt(tau * tau / 9.0 + 2.0 * tau * v) + 2.0;
        low = x - a > 0.0 ? (int64_t) (x - a) : 0;
        high = (int64_t) (x + a) + 1;
        if (x < 32.0) {
            double log_x = log(x);
            int64_t most = 1;
            while ((double) most * log_x - lgamma((double) most + 1.0) > -tau - 1e-6)
                most++;
            high = most < high ? most : high;
        }
        low = low < least ? least : low;
        high = high > class->sizes[0] ? class->sizes[0] : high;
        high = high < low ? low : high;
        class->lows[k] = low;
        class->widths[k] = high - low + 1;
        cost += (double) class->widths[k] * (double) (class->widths[k - 1] + 40);
    }
    return cost;
}

/* The distribution of the number of matching rows of one class, up to a constant. */
static void nbc_worlds_class_pmf(const nbc_worlds_class *class, int64_t P, nbc_worlds_room *room, nbc_pmf *out)
{
    const double step = 3.0 * (double) (LDBL_EPSILON / DBL_EPSILON);
    int64_t used = room->used, low = class->lows[0], width = 1;
    double x = (double) class->sizes[0], error = 0.0;
    double *f = out->f;
    f[0] = 1.0;
    for (int64_t k = 1; k < class->n; k++) {
        int64_t N = class->sizes[k], to = class->lows[k], n = class->widths[k];
        long double theta = (long double) x / (long double) ((double) P - x);
        double *over = nbc_worlds_take(room, width), *between = nbc_worlds_take(room, width + n);
        double *turned = nbc_worlds_take(room, width);
        nbc_tilted(P, theta, low, width, over);
        for (int64_t j = 0; j < width; j++)
            turned[j] = f[j] / over[j];
        /* between[i + j] belongs to y = to + i and m = low + j: B_{P-N}(m - y), and must rise with y - m. */
        nbc_tilted(P - N, theta, low - (to + n - 1), width + n - 1, between);
        for (int64_t i = 0, j = width + n - 2; i < j; i++, j--) {
            double kept = between[i];
            between[i] = between[j];
            between[j] = kept;
        }
        /* y - m rises from to - (low + width - 1): the last m comes first. */
        for (int64_t i = 0, j = width - 1; i < j; i++, j--) {
            double kept = turned[i];
            turned[i] = turned[j];
            turned[j] = kept;
        }
        nbc_slide(turned, width, between, f, n);
        over = between;
        nbc_tilted(N, theta, to, n, over);
        for (int64_t i = 0; i < n; i++)
            f[i] *= over[i];
        nbc_worlds_scale(f, n);
        /* Each B: steps from its mode and a rounding. Then a quotient, a product, a sum, a product. */
        error += 6.0 + nbc_worlds_roundings(width) + step * (double) (2 * width + 2 * n);
        low = to;
        width = n;
        x *= (double) N / (double) P;
        room->used = used;
    }
    out->low = low;
    out->width = width;
    out->exponent = 0;
    out->error = error;
}

static int nbc_worlds_grow(nbc_worlds_room *room, int64_t doubles, int64_t integers)
{
    if (doubles > room->size) {
        double *larger = (double *) realloc(room->doubles, (size_t) doubles * sizeof(double));
        if (larger == NULL)
            return -1;
        room->doubles = larger;
        room->size = doubles;
    }
    if (integers > room->n_integers) {
        int64_t *larger = (int64_t *) realloc(room->integers, (size_t) integers * sizeof(int64_t));
        if (larger == NULL)
            return -1;
        room->integers = larger;
        room->n_integers = integers;
    }
    return 0;
}

/* shares[c] = E[Y_c / sum Y | sum Y >= 1] and a bound of the relative error of each.
   counts: n_known rows of n_classes. */
static int nbc_worlds_posterior(const int64_t *class_counts, int64_t n_classes, const int64_t *counts,
                                int64_t n_known, double most_cost, nbc_worlds_room *room,
                                nbc_worlds_class *classes, nbc_pmf *pmfs, double *shares, double *error)
{
    double total = 0.0, cost = 0.0, tau, sum = 0.0, worst = 0.0;
    int64_t need, all = 1, widest = 1, exponent = 0;
    nbc_pmf *prefix = pmfs + n_classes, *suffix = pmfs + 2 * n_classes + 1;
    if (nbc_worlds_grow(room, 0, 3 * n_classes * (n_known + 1)) < 0)
        return NBC_WORLDS_MEMORY;
    for (int64_t c = 0; c < n_classes; c++) {
        nbc_worlds_class *class = classes + c;
        int64_t P = class_counts[c];
        if (P > NBC_WORLDS_MOST)
            return NBC_WORLDS_BEYOND;
        class->sizes = room->integers + 3 * c * (n_known + 1);
        class->lows = class->sizes + n_known + 1;
        class->widths = class->lows + n_known + 1;
        class->n = 0;
        class->empty = P == 0;
        for (int64_t i = 0; i < n_known; i++) {
            int64_t N = counts[i * n_classes + c];
            if (N == 0)
                class->empty = 1;
            if (N < P)
                class->sizes[class->n++] = N;
        }
        if (class->empty) {
            class->mean = 0.0;
            continue;
        }
        if (class->n == 0)
            class->sizes[class->n++] = P;
        qsort(class->sizes, (size_t) class->n, sizeof(int64_t), nbc_worlds_rising);
        class->mean = (double) class->sizes[0];
        for (int64_t k = 1; k < class->n; k++)
            class->mean *= (double) class->sizes[k] / (double) P;
        if (!(class->mean >= NBC_WORLDS_LEAST))
            return NBC_WORLDS_BEYOND;
        total += class->mean;
    }
    if (total == 0.0)
        return NBC_WORLDS_NONE;
    tau = NBC_WORLDS_CUT + log(8.0 * (1.0 + total) * (double) n_classes * (double) (n_known + 1));
    need = 0;
    for (int64_t c = 0; c < n_classes; c++) {
        nbc_worlds_class *class = classes + c;
        int64_t most = 1, width = 1;
        if (!class->empty) {
            cost += nbc_worlds_windows(class, class_counts[c], tau);
            if (cost > most_cost)
                return NBC_WORLDS_BEYOND;
            for (int64_t k = 0; k < class->n; k++)
                most = class->widths[k] > most ? class->widths[k] : most;
            width = class->widths[class->n - 1];
        }
        cost += 3.0 * (double) width * (double) all;
        all += width - 1;
        widest = most > widest ? most : widest;
        need += most;
    }
    if (cost > most_cost)
        return NBC_WORLDS_BEYOND;
    /* The distributions; then, as room that is used again, what a step needs; then all prefixes and suffixes
       and what a product needs. */
    need += 5 * widest + 2 * (n_classes + 1) * all + 8 * all + 64;
    if (nbc_worlds_grow(room, need, 0) < 0)
        return NBC_WORLDS_MEMORY;
    room->used = 0;
    for (int64_t c = 0; c < n_classes; c++) {
        int64_t most = 1;
        for (int64_t k = 0; k < classes[c].n && !classes[c].empty; k++)
            most = classes[c].widths[k] > most ? classes[c].widths[k] : most;
        pmfs[c].f = nbc_worlds_take(room, most);
        if (classes[c].empty) {
            pmfs[c].f[0] = 1.0;
            pmfs[c].low = 0;
            pmfs[c].width = 1;
            pmfs[c].exponent = 0;
            pmfs[c].error = 0.0;
        } else {
            nbc_worlds_class_pmf(classes + c, class_counts[c], room, pmfs + c);
        }
    }
    double *padded = nbc_worlds_take(room, 3 * all), *turned = nbc_worlds_take(room, all);
    double one[1] = {1.0};
    nbc_pmf others = {0, 1, NULL, 0, 0.0}, joint = {0, 1, NULL, 0, 0.0}, own;
    others.f = nbc_worlds_take(room, all);
    joint.f = nbc_worlds_take(room, all);
    own.f = nbc_worlds_take(room, all);
    prefix[0].f = suffix[n_classes].f = one;
    prefix[0].low = suffix[n_classes].low = 0;
    prefix[0].width = suffix[n_classes].width = 1;
    prefix[0].exponent = suffix[n_classes].exponent = 0;
    prefix[0].error = suffix[n_classes].error = 0.0;
    for (int64_t c = 0; c < n_classes - 1; c++) {
        prefix[c + 1].f = nbc_worlds_take(room, all);
        nbc_worlds_join(prefix + c, pmfs + c, prefix + c + 1, padded, turned);
    }
    for (int64_t c = n_classes - 1; c > 0; c--) {
        suffix[c].f = nbc_worlds_take(room, all);
        nbc_worlds_join(suffix + c + 1, pmfs + c, suffix + c, padded, turned);
    }
    for (int64_t c = 0; c < n_classes; c++) {
        double share = 0.0, part = 0.0, roundings;
        if (classes[c].empty) {
            shares[c] = 0.0;
            continue;
        }
        nbc_worlds_join(prefix + c, suffix + c + 1, &others, padded, turned);
        own.low = pmfs[c].low;
        own.width = pmfs[c].width;
        own.exponent = 0;
        own.error = pmfs[c].error + 1.0;
        for (int64_t i = 0; i < own.width; i++)
            own.f[i] = (double) (own.low + i) * pmfs[c].f[i];
        nbc_worlds_join(&own, &others, &joint, padded, turned);
        for (int64_t i = 0; i < joint.width; i++) {
            if (joint.low + i > 0)
                part += joint.f[i] / (double) (joint.low + i);
            if ((i + 1) % NBC_WORLDS_CHUNK == 0) {
                share += part;
                part = 0.0;
            }
        }
        if (sum == 0.0)
            exponent = joint.exponent;
        shares[c] = ldexp(share + part, (int) (joint.exponent - exponent));
        roundings = joint.error + 1.0 + nbc_worlds_roundings(joint.width);
        worst = roundings > worst ? roundings : worst;
        sum += shares[c];
    }
    for (int64_t c = 0; c < n_classes; c++)
        shares[c] /= sum;
    /* Each numerator errs by `worst`, so does their sum; the factor covers products of errors, and the last
       summand what the windows cut off. */
    *error = 1.01 * (2.0 * worst + (double) n_classes + 1.0) * (DBL_EPSILON / 2.0) + exp(2.0 - NBC_WORLDS_CUT);
    return NBC_WORLDS_OK;
}

#endif
