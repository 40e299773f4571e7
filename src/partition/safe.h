/* Whether parts are safe: exact comparisons, the demands on one part, and those that all groups share. */
#ifndef NBCFAST_SAFE_H
#define NBCFAST_SAFE_H

#include <string.h>
#include "partition/problem.h"
#include "shared/lanes.h"

/* ---- exact comparisons ---- */

/* prod (N - shift - i) / (n - shift - i), i < m; no factor is 0. Sixteen factors below 2^63 fit a double. */
static double nbc_ratio(int64_t big_n, int64_t c, int64_t shift, int64_t m)
{
    double result = 1.0, up = 1.0, down = 1.0;
    for (int64_t i = 0; i < m; i++) {
        up *= (double)(big_n - shift - i);
        down *= (double)(big_n + c - shift - i);
        if ((i & 15) == 15) {
            result *= up / down;
            up = down = 1.0;
        }
    }
    return result * (up / down);
}

static void nbc_falling(nbc_long *a, int64_t from, int64_t m)
{
    for (int64_t i = 0; i < m; i++)
        nbc_long_times(a, (uint64_t)(from - i));
}

/* Whether the first product of a pair (N, c) is below the second's, f and g being these as doubles. */
static int nbc_lower(const nbc_point *p, nbc_scratch *s, int64_t shift, int64_t n, int64_t c, double f,
                     int64_t other_n, int64_t other_c, double g)
{
    static const uint64_t one = 1;
    if (other_c == 0)
        return 1;
    if (n >= other_n && c <= other_c)
        return 0;
    if (n <= other_n && c >= other_c)
        return 1;
    if (f > 1e-280 && g > 1e-280) {
        if (f < g * (1.0 - p->band))
            return 1;
        if (f > g * (1.0 + p->band))
            return 0;
    }
    nbc_long_set(&s->a, &one, 1);
    nbc_long_set(&s->b, &one, 1);
    nbc_falling(&s->a, n - shift, p->m);
    nbc_falling(&s->b, other_n - shift, p->m);
    nbc_falling(&s->a, other_n + other_c - shift, p->m);
    nbc_falling(&s->b, n + c - shift, p->m);
    return nbc_long_compare(&s->a, &s->b) < 0;
}

/* a / b < c / d */
NBC_INLINE int nbc_fraction_lower(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return d == 0 || (nbc_i128)a * d < (nbc_i128)c * b;
}

/* Whether w / c prod (N - shift - i) / (below - shift - i) is above the limit of the point; w, c > 0. */
static int nbc_above(const nbc_point *p, nbc_scratch *s, int64_t w, int64_t c, double f, int64_t n,
                     int64_t below, int64_t shift, int64_t m)
{
    const nbc_limit_t *odds = &p->odds;
    const double g = (double)w / (double)c * f;
    if (g > 1e-250) {
        if (g > odds->about * (1.0 + p->band))
            return 1;
        if (g < odds->about * (1.0 - p->band))
            return 0;
    }
    nbc_long_set(&s->a, odds->den, odds->n_den);
    nbc_long_set(&s->b, odds->num, odds->n_num);
    nbc_long_times(&s->a, (uint64_t)w);
    nbc_long_times(&s->b, (uint64_t)c);
    nbc_falling(&s->a, n - shift, m);
    nbc_falling(&s->b, below - shift, m);
    return nbc_long_compare(&s->a, &s->b) > 0;
}

/* ---- the demands on one part ---- */

/* Whether the part with these counts (value, count > 0; n people in all) may stand; fills `tops` (falling
   counts, most_l + 1 of them, 0 behind) and `prefix` (their sums). */
static int nbc_part_safe(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts,
                         int64_t n, int64_t *tops, int64_t *prefix)
{
    const int64_t n_tops = q->most_l + 1;
    for (int64_t j = 0; j < n_tops; j++)
        tops[j] = 0;
    for (int64_t i = 0; i < n_counts; i++) {
        int64_t c = counts[i].count, j = n_tops - 1;
        if (c <= tops[j])
            continue;
        for (; j > 0 && tops[j - 1] < c; j--)
            tops[j] = tops[j - 1];
        tops[j] = c;
    }
    prefix[0] = 0;
    for (int64_t j = 0; j < n_tops; j++)
        prefix[j + 1] = prefix[j] + tops[j];
    if (q->diverse_l) {
        /* r_1 < c (r_L + r_{L+1} + ..) */
        const nbc_limit_t *limit = &q->diverse_c;
        const int64_t rest = n - prefix[q->diverse_l - 1];
        const double left = (double)tops[0], right = limit->about * (double)rest;
        if (rest == 0)
            return 0;
        if (left > right * (1.0 + 1e-9))
            return 0;
        if (left >= right * (1.0 - 1e-9)) {
            nbc_long_set(&s->a, limit->den, limit->n_den);
            nbc_long_set(&s->b, limit->num, limit->n_num);
            nbc_long_times(&s->a, (uint64_t)tops[0]);
            nbc_long_times(&s->b, (uint64_t)rest);
            if (nbc_long_compare(&s->a, &s->b) >= 0)
                return 0;
        }
    }
    for (int64_t i = 0; i < q->n_points; i++) {
        const nbc_point *p = &q->points[i];
        const int64_t w = n - prefix[p->l + 1], big_n = n - tops[0];
        if (p->k >= w || (p->m > 0 && p->m >= big_n - p->k))
            return 0;
        if (p->certain)
            continue;
        if (!nbc_above(p, s, w - p->k, tops[0], nbc_ratio(big_n - 1, tops[0], p->k, p->m), big_n - 1, n - 1,
                       p->k, p->m))
            return 0;
    }
    if (q->close_kind) {
        const nbc_limit_t *limit = &q->close_t;
        nbc_u128 sum = 0;
        uint64_t words[2];
        double left, right;
        if (q->close_kind == 1) {
            int64_t met = 0;
            for (int64_t i = 0; i < n_counts; i++) {
                const nbc_i128 d = (nbc_i128)counts[i].count * q->total - (nbc_i128)q->totals[counts[i].value] * n;
                sum += (nbc_u128)(d < 0 ? -d : d);
                met += q->totals[counts[i].value];
            }
            sum += (nbc_u128)n * (nbc_u128)(q->total - met);
        } else {
            nbc_i128 d = 0;
            int64_t i = 0;
            for (int64_t v = 0; v < q->n_values; v++) {
                if (i < n_counts && counts[i].value == v)
                    d += (nbc_i128)counts[i++].count * q->total;
                d -= (nbc_i128)q->totals[v] * n;
                sum += (nbc_u128)(d < 0 ? -d : d);
            }
        }
        /* sum / (n total) <= 2 t, or (values - 1) t */
        const int64_t scale = q->close_kind == 1 ? 2 : q->n_values - 1;
        left = (double)sum;
        right = limit->about * (double)scale * (double)n * (double)q->total;
        if (left > right * (1.0 + 1e-9))
            return 0;
        if (left >= right * (1.0 - 1e-9)) {
            words[0] = (uint64_t)sum;
            words[1] = (uint64_t)(sum >> 64);
            /* den * sum: the words of `sum` are the factor that is longer than one word, so it comes first. */
            nbc_long_set(&s->b, limit->num, limit->n_num);
            nbc_long_times(&s->b, (uint64_t)scale);
            nbc_long_times(&s->b, (uint64_t)n);
            nbc_long_times(&s->b, (uint64_t)q->total);
            /* schoolbook product of two words and den */
            memset(s->a.words, 0, (size_t)(limit->n_den + 3) * sizeof(uint64_t));
            for (int64_t i = 0; i < 2; i++) {
                uint64_t carry = 0;
                for (int64_t j = 0; j < limit->n_den; j++) {
                    const nbc_u128 product = (nbc_u128)words[i] * limit->den[j] + s->a.words[i + j] + carry;
                    s->a.words[i + j] = (uint64_t)product;
                    carry = (uint64_t)(product >> 64);
                }
                s->a.words[i + limit->n_den] += carry;
            }
            s->a.n = limit->n_den + 2;
            while (s->a.n > 0 && s->a.words[s->a.n - 1] == 0)
                s->a.n--;
            while (s->b.n > 0 && s->b.words[s->b.n - 1] == 0)
                s->b.n--;
            if (nbc_long_compare(&s->a, &s->b) > 0)
                return 0;
        }
    }
    return 1;
}

/* ---- the demands that all groups share ---- */

/* List what of this part is not clearly above the running minima. */
static int nbc_challenge_all(const nbc_problem *q, nbc_scratch *s, const nbc_count *counts, int64_t n_counts,
                             int64_t n, const int64_t *tops, const int64_t *prefix)
{
    for (int64_t i = 0; i < q->n_points; i++) {
        const nbc_point *p = &q->points[i];
        if (!p->shared)
            continue;
        const int64_t taken = prefix[p->l], next = tops[p->l];
        const nbc_least *of_value = q->least + i * q->n_values;
        for (int64_t j = 0; j < n_counts; j++) {
            const int64_t c = counts[j].count, big_n = n - c;
            const int64_t w = n - taken - (c < next ? c : next);
            const nbc_least *least = &of_value[counts[j].value];
            int matters = nbc_fraction_lower(w - p->k, c, least->w2 - p->k, least->c2)
                || nbc_fraction_lower(w, c, least->w4, least->c4);
            if (!matters && !(big_n >= least->n3 && c <= least->c3)) {
                const double f = nbc_ratio(big_n, c, 0, p->m);
                matters = !(f > 1e-280 && f > least->f3 * (1.0 + p->band));
            }
            if (!matters && !(big_n >= least->n5 && c <= least->c5)) {
                const double f = nbc_ratio(big_n, c, p->k, p->m);
                matters = !(f > 1e-280 && f > least->f5 * (1.0 + p->band));
            }
            if (!matters)
                continue;
            if (nbc_challenges_more(&s->challenges, 1))
                return NBC_NO_MEMORY;
            s->challenges.at[s->challenges.n++] = (nbc_challenge){i, counts[j].value, w, big_n, c};
        }
    }
    return 0;
}

static void nbc_lower_least(const nbc_point *p, nbc_scratch *s, nbc_least *least, const nbc_challenge *x)
{
    if (nbc_fraction_lower(x->w - p->k, x->c, least->w2 - p->k, least->c2))
        least->w2 = x->w, least->c2 = x->c;
    if (nbc_fraction_lower(x->w, x->c, least->w4, least->c4))
        least->w4 = x->w, least->c4 = x->c;
    double f = nbc_ratio(x->n, x->c, 0, p->m);
    if (nbc_lower(p, s, 0, x->n, x->c, f, least->n3, least->c3, least->f3))
        least->n3 = x->n, least->c3 = x->c, least->f3 = f;
    f = nbc_ratio(x->n, x->c, p->k, p->m);
    if (nbc_lower(p, s, p->k, x->n, x->c, f, least->n5, least->c5, least->f5))
        least->n5 = x->n, least->c5 = x->c, least->f5 = f;
}

/* Lower the running minima by these challenges and return 1, or, if that is unsafe, leave them and return 0. */
static int nbc_commit(nbc_problem *q, nbc_scratch *s, const nbc_challenge *challenges, int64_t n)
{
    int safe = 1;
    if (n == 0)
        return 1;
    s->undo.n = s->undo_at.n = 0;
    if (nbc_states_more(&s->undo, n) || nbc_longs_more(&s->undo_at, n))
        return NBC_NO_MEMORY;
    q->stamp++;
    for (int64_t i = 0; i < n; i++) {
        const nbc_challenge *x = &challenges[i];
        const int64_t at = x->point * q->n_values + x->value;
        nbc_least *least = &q->least[at];
        if (least->stamp != q->stamp) {
            s->undo.at[s->undo.n++] = *least;
            s->undo_at.at[s->undo_at.n++] = at;
            least->stamp = q->stamp;
        }
        nbc_lower_least(&q->points[x->point], s, least, x);
    }
    for (int64_t i = 0; i < s->undo_at.n && safe; i++) {
        const int64_t at = s->undo_at.at[i];
        const nbc_point *p = &q->points[at / q->n_values];
        const nbc_least *least = &q->least[at];
        safe = nbc_above(p, s, least->w2 - p->k, least->c2, least->f3, least->n3, least->n3 + least->c3, 0, p->m)
            && nbc_above(p, s, least->w4, least->c4, least->f5, least->n5, least->n5 + least->c5, p->k, p->m);
    }
    if (!safe)
        for (int64_t i = s->undo_at.n - 1; i >= 0; i--)
            q->least[s->undo_at.at[i]] = s->undo.at[i];
    return safe;
}

#endif
