/* The equations of the active rows, solved digit by digit (Dixon, Numerische Mathematik 40, 1982).

       W g - A' mu = first        W = diag(weight), A = the active rows
       A g         = second

   Modulo a prime p the second becomes (A W^-1 A') mu = second - A W^-1 first. Its matrix is factored once as
   L D L', and each further digit to the base p costs one substitution; residuals stay as small as the entries. */
#ifndef NBCFAST_PADIC_H
#define NBCFAST_PADIC_H

#include <stdint.h>

typedef struct {
    int64_t n, q, width;
    const int64_t *weight;
    const int32_t *columns;
    const int8_t *signs;
    uint64_t p;          /* below 2^31 */
    uint64_t *inverse;   /* of each weight */
    uint64_t *lower;     /* q x q: L below the diagonal, 1 / D on it */
    uint64_t *scaled;    /* q: a row of L D */
    int64_t *first;      /* n: residuals */
    int64_t *second;     /* q */
    uint64_t *g, *mu;    /* n, q: a digit */
} nbc_system;

static uint64_t nbc_power(uint64_t x, uint64_t e, uint64_t p)
{
    uint64_t y = 1;
    for (x %= p; e; e >>= 1, x = x * x % p)
        if (e & 1)
            y = y * x % p;
    return y;
}

/* The sum of x[k] y[k] modulo p, which is below 2^31: a sum that passes 2^63 is brought below by 2 p^2. */
static uint64_t nbc_dot(const uint64_t *x, const uint64_t *y, int64_t n, uint64_t p)
{
    const uint64_t twice = 2 * p * p;
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += x[k] * y[k];
        sum -= sum >> 63 ? twice : 0;
    }
    return sum % p;
}

static uint64_t nbc_residue(int64_t x, uint64_t p)
{
    const int64_t r = x % (int64_t)p;
    return (uint64_t)(r < 0 ? r + (int64_t)p : r);
}

/* Factor the matrix; -1, or the first row that depends on those before it modulo p. */
static int64_t nbc_factor(nbc_system *s)
{
    const int64_t n = s->n, q = s->q, width = s->width;
    const uint64_t p = s->p;
    for (int64_t v = 0; v < n; v++) {
        s->inverse[v] = nbc_power(nbc_residue(s->weight[v], p), p - 2, p);
        s->g[v] = 0;
    }
    for (int64_t i = 0; i < q; i++) {
        const int32_t *column = s->columns + i * width;
        const int8_t *sign = s->signs + i * width;
        uint64_t *row = s->lower + i * q;
        for (int64_t k = 0; k < width; k++)  /* g = W^-1 times the row */
            s->g[column[k]] = sign[k] > 0 ? s->inverse[column[k]] : p - s->inverse[column[k]];
        for (int64_t j = 0; j <= i; j++) {
            const int32_t *other = s->columns + j * width;
            const int8_t *its = s->signs + j * width;
            uint64_t sum = 0;
            for (int64_t k = 0; k < width; k++)
                sum += its[k] > 0 ? s->g[other[k]] : p - s->g[other[k]];
            row[j] = sum % p;
        }
        for (int64_t k = 0; k < width; k++)
            s->g[column[k]] = 0;
    }
    for (int64_t i = 0; i < q; i++) {
        uint64_t *row = s->lower + i * q;
        /* scaled[j] = L[i][j] D[j]; afterwards row[j] = L[i][j]. */
        for (int64_t j = 0; j < i; j++)
            s->scaled[j] = (row[j] + p - nbc_dot(s->scaled, s->lower + j * q, j, p)) % p;
        for (int64_t j = 0; j < i; j++)
            row[j] = s->scaled[j] * s->lower[j * q + j] % p;
        const uint64_t pivot = (row[i] + p - nbc_dot(s->scaled, row, i, p)) % p;
        if (pivot == 0)
            return i;
        row[i] = nbc_power(pivot, p - 2, p);
    }
    return -1;
}

/* One digit of every unknown, in s->g and s->mu; the residuals become those of the rest. */
static void nbc_digit(nbc_system *s)
{
    const int64_t n = s->n, q = s->q, width = s->width;
    const uint64_t p = s->p;
    for (int64_t v = 0; v < n; v++)
        s->g[v] = nbc_residue(s->first[v], p) * s->inverse[v] % p;
    for (int64_t i = 0; i < q; i++) {
        const int32_t *column = s->columns + i * width;
        const int8_t *sign = s->signs + i * width;
        uint64_t sum = nbc_residue(s->second[i], p);
        for (int64_t k = 0; k < width; k++)
            sum += sign[k] > 0 ? p - s->g[column[k]] : s->g[column[k]];
        s->mu[i] = sum % p;
    }
    for (int64_t i = 0; i < q; i++)
        s->mu[i] = (s->mu[i] + p - nbc_dot(s->lower + i * q, s->mu, i, p)) % p;
    for (int64_t i = 0; i < q; i++)
        s->mu[i] = s->mu[i] * s->lower[i * q + i] % p;
    for (int64_t i = q - 1; i > 0; i--) {
        const uint64_t *row = s->lower + i * q;
        const uint64_t minus = p - s->mu[i];
        for (int64_t j = 0; j < i; j++)
            s->mu[j] = (s->mu[j] + minus * row[j]) % p;
    }
    /* A' mu goes into the first residuals before g is known: they stay below 2^63 as weights are below 2^31. */
    for (int64_t i = 0; i < q; i++) {
        const int32_t *column = s->columns + i * width;
        const int8_t *sign = s->signs + i * width;
        for (int64_t k = 0; k < width; k++)
            s->first[column[k]] += sign[k] * (int64_t)s->mu[i];
    }
    for (int64_t v = 0; v < n; v++) {
        s->g[v] = nbc_residue(s->first[v], p) * s->inverse[v] % p;
        s->first[v] = (s->first[v] - s->weight[v] * (int64_t)s->g[v]) / (int64_t)p;
    }
    for (int64_t i = 0; i < q; i++) {
        const int32_t *column = s->columns + i * width;
        const int8_t *sign = s->signs + i * width;
        int64_t rest = s->second[i];
        for (int64_t k = 0; k < width; k++)
            rest -= sign[k] * (int64_t)s->g[column[k]];
        s->second[i] = rest / (int64_t)p;
    }
}

#endif
