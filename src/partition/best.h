/* Which attribute a node is split on: the order in which they are tried, and the first whose parts are safe. */
#ifndef NBCFAST_BEST_H
#define NBCFAST_BEST_H

#include "partition/cuts.h"

/* log2(n) in units of 2^-24: digit by digit, squaring a number of 63 binary places that is rounded down. */
static int64_t nbc_log2_24(uint64_t n)
{
    int64_t result = 0;
    uint64_t rest = n, y;
    while (rest >>= 1)
        result++;
    y = n << (63 - result);
    for (int i = 0; i < 24; i++) {
        const nbc_u128 square = ((nbc_u128)y * y) >> 63;
        result <<= 1;
        if (square >> 64) {
            y = (uint64_t)(square >> 1);
            result |= 1;
        } else {
            y = (uint64_t)square;
        }
    }
    return result;
}

NBC_INLINE nbc_i128 nbc_n_log_n(int64_t n)
{
    return n ? (nbc_i128)n * nbc_log2_24((uint64_t)n) : 0;
}

/* What a split by these parts tells of the target: the sum over parts of sum f(n_t) - f(n), f(n) = n log2 n. It
   differs from the information gain, times the people, by what is the same for all attributes. */
static int nbc_gain_of(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t attribute,
                       const nbc_kid *kids, int64_t n_kids, const nbc_joint *joint, const int64_t *first,
                       nbc_i128 *gain)
{
    const int64_t cells = n_kids * q->n_targets;
    s->target_hist.n = 0;
    if (nbc_longs_more(&s->target_hist, cells))
        return NBC_NO_MEMORY;
    int64_t *hist = s->target_hist.at;
    memset(hist, 0, (size_t)cells * sizeof(int64_t));
    if (joint != NULL) {
        for (int64_t j = 0; j < n_kids; j++)
            for (int64_t code = kids[j].lo; code <= kids[j].hi; code++)
                for (int64_t t = 0; t < q->n_targets; t++)
                    hist[j * q->n_targets + t] += joint->targets[(first[attribute] + code) * q->n_targets + t];
    } else {
        if (nbc_tally_any(q, rows, n, attribute, kids, n_kids, q->n_targets, q->target_at, hist, &s->touched, 1))
            return NBC_NO_RECORDS;
    }
    *gain = 0;
    for (int64_t j = 0; j < n_kids; j++) {
        for (int64_t t = 0; t < q->n_targets; t++)
            *gain += nbc_n_log_n(hist[j * q->n_targets + t]);
        *gain -= nbc_n_log_n(kids[j].people);
    }
    return 0;
}

/* The attributes with more than one code, in the order they are tried: the greatest gain, then the widest, then
   the first. Returns how many, NBC_NO_MEMORY or NBC_NO_RECORDS. */
static int64_t nbc_order_attributes(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                                    const uint32_t *box, const nbc_joint *joint, const int64_t *first)
{
    int64_t *lo = s->lo.at, *hi = s->hi.at, *order = s->order.at, *width = s->width.at, n_order = 0;
    if (joint != NULL) {
        for (int64_t a = 0; a < q->n_quasi; a++) {
            lo[a] = 0;
            hi[a] = q->quasi[a].size - 1;
            while (lo[a] < hi[a] && joint->rows[first[a] + lo[a]] == 0)
                lo[a]++;
            while (lo[a] < hi[a] && joint->rows[first[a] + hi[a]] == 0)
                hi[a]--;
        }
    } else {
        nbc_extremes(rows, n, q->stride, q->width, q->n_quasi, lo, hi);
        if (!nbc_weights_fit(q, rows, n, people))
            return NBC_NO_RECORDS;
    }
    for (int64_t a = 0; a < q->n_quasi; a++) {
        int64_t j = n_order;
        if (lo[a] == hi[a])
            continue;
        if (hi[a] >= q->quasi[a].size)
            return NBC_NO_RECORDS;
        width[a] = q->quasi[a].position[hi[a]] - q->quasi[a].position[lo[a]];
        if (q->by_gain) {
            int64_t n_kids;
            int failed = nbc_parts(q, s, rows, n, people, a, lo[a], hi[a], box, joint, first, &n_kids);
            if (!failed)
                failed = nbc_gain_of(q, s, rows, n, a, s->kids.at + s->kids.n, n_kids, joint, first, &s->gain[a]);
            if (failed)
                return failed;
            while (j > 0 && (s->gain[a] > s->gain[order[j - 1]]
                             || (s->gain[a] == s->gain[order[j - 1]] && width[a] > width[order[j - 1]]))) {
                order[j] = order[j - 1];
                j--;
            }
        } else {
            while (j > 0 && width[a] > width[order[j - 1]]) {
                order[j] = order[j - 1];
                j--;
            }
        }
        order[j] = a;
        n_order++;
    }
    return n_order;
}

/* The first attribute from `rank` on whose parts keep the local demands: NBC_SPLIT, NBC_WHOLE, NBC_NO_MEMORY or
   NBC_NO_RECORDS. */
static int nbc_evaluate(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n, int64_t people,
                        const uint32_t *box, int64_t rank, const nbc_joint *joint, const int64_t *first,
                        nbc_plan_t *plan)
{
    plan->attribute = -1;
    plan->n_kids = plan->n_challenges = 0;
    if (n < 2 || people / 2 < q->least_people)
        return NBC_WHOLE;
    const int64_t n_order = nbc_order_attributes(q, s, rows, n, people, box, joint, first);
    if (n_order < 0)
        return (int)n_order;
    for (; rank < n_order; rank++) {
        const int64_t a = s->order.at[rank], first_challenge = s->challenges.n;
        int64_t n_kids;
        const int failed =
            nbc_parts(q, s, rows, n, people, a, s->lo.at[a], s->hi.at[a], box, joint, first, &n_kids);
        if (failed)
            return failed;
        const int safe = nbc_parts_safe(q, s, rows, n, a, s->kids.at + s->kids.n, n_kids, joint, first);
        if (safe < 0)
            return safe;
        if (!safe) {
            s->challenges.n = first_challenge;
            continue;
        }
        plan->attribute = a;
        plan->rank = rank;
        plan->first_kid = s->kids.n;
        plan->n_kids = n_kids;
        s->kids.n += n_kids;
        plan->first_challenge = first_challenge;
        plan->n_challenges = s->challenges.n - first_challenge;
        return NBC_SPLIT;
    }
    return NBC_WHOLE;
}

#endif
