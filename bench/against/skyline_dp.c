/* What a check of a skyline point would cost without the theorem on congregation: the least odds over all
   placements of k and m people in groups, by a dynamic program over groups; see skyline.h for the symbols.

   Fair to it: the same sparse histogram, the largest counts found by the same function, factors by recurrence,
   one pass, compiled as our kernels are. Inner loops run over neighbours, so that they are vectors. */
#include <stdlib.h>
#include "skyline.h"

#define MOST 32

typedef struct {
    double out[MOST][MOST];     /* the target is in no group yet */
    double in[MOST][MOST];      /* it is in one */
} state;

/* next[i][j] = min over p <= i, q <= j of from[p][q] * by[i - p][j - q], or what it was. */
static inline __attribute__((always_inline))
void spread(double (*restrict next)[MOST], double (*restrict from)[MOST],
            double (*restrict by)[MOST], int k, int m)
{
    for (int p = 0; p <= k; p++)
        for (int q = 0; q <= m; q++) {
            const double odds = from[p][q];
            for (int i = p; i <= k; i++) {
                double *restrict to = next[i] + q;
                const double *restrict factor = by[i - p];
                for (int j = 0; j <= m - q; j++) {
                    const double product = odds * factor[j];
                    to[j] = product < to[j] ? product : to[j];
                }
            }
        }
}

/* The least odds of (l, k, m); a negative number where it cannot be told. */
NBC_CLONED(double, least_odds, (const int64_t *offsets, const uint32_t *values, const int64_t *counts,
                                const int64_t *sizes, int64_t n_groups, int64_t n_values, int64_t l, int64_t k,
                                int64_t m),
           (offsets, values, counts, sizes, n_groups, n_values, l, k, m))
{
    static state next;
    static double without[MOST][MOST], with[MOST][MOST];
    double least = INFINITY;
    if (k >= MOST || m >= MOST)
        return -1;
    state *states = malloc((size_t)n_values * sizeof *states);
    int64_t *top = malloc((size_t)(n_values + 1) * sizeof *top);
    if (!states || !top) {
        free(states);
        free(top);
        return -1;
    }
    for (int64_t s = 0; s < n_values; s++)
        for (int i = 0; i <= k; i++)
            for (int j = 0; j <= m; j++) {
                states[s].out[i][j] = i || j ? INFINITY : 1;
                states[s].in[i][j] = INFINITY;
            }
    for (int64_t g = 0; g < n_groups; g++) {
        const int64_t first = offsets[g], distinct = offsets[g + 1] - first, n = sizes[g];
        const int64_t kept = nbc_largest(counts + first, distinct, l + 1 < distinct ? l + 1 : distinct, top);
        int64_t rest = n;
        for (int64_t i = 0; i < (l < kept ? l : kept); i++)
            rest -= top[i];
        const int64_t follows = l < kept ? top[l] : 0;
        for (int64_t e = first; e < first + distinct; e++) {
            const int64_t c = counts[e], N = n - c, w = rest - (c < follows ? c : follows);
            state *at = states + values[e];
            for (int64_t i = 0; i <= k; i++) {
                without[i][0] = 1;
                with[i][0] = w > i ? (double)(w - i) / (double)c : 0;
                for (int64_t j = 1; j <= m; j++) {
                    const int64_t a = N - i - j + 1, b = N - i - j;
                    without[i][j] = a > 0 ? without[i][j - 1] * (double)a / (double)(a + c) : 0;
                    with[i][j] = b > 0 ? with[i][j - 1] * (double)b / (double)(b + c) : 0;
                }
            }
            for (int64_t i = 0; i <= k; i++)
                for (int64_t j = 0; j <= m; j++)
                    next.out[i][j] = next.in[i][j] = INFINITY;
            spread(next.in, at->in, without, (int)k, (int)m);
            spread(next.in, at->out, with, (int)k, (int)m);
            spread(next.out, at->out, without, (int)k, (int)m);
            for (int64_t i = 0; i <= k; i++)
                for (int64_t j = 0; j <= m; j++) {
                    at->out[i][j] = next.out[i][j];
                    at->in[i][j] = next.in[i][j];
                }
        }
    }
    for (int64_t s = 0; s < n_values; s++)
        least = states[s].in[k][m] < least ? states[s].in[k][m] : least;
    free(states);
    free(top);
    return least;
}

double dp_odds(const int64_t *offsets, const uint32_t *values, const int64_t *counts, const int64_t *sizes,
               int64_t n_groups, int64_t n_values, int64_t l, int64_t k, int64_t m)
{
    return least_odds(offsets, values, counts, sizes, n_groups, n_values, l, k, m);
}
