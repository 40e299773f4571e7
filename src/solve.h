/* Least norm under linear demands: minimise sum weight[v] g[v]^2 subject to sum of +-g over each row >= 1.

   The dual active set method of Goldfarb and Idnani (Mathematical Programming 27, 1983) in the coordinates
   h[v] = sqrt(weight[v]) g[v], where a row has entries sign / sqrt(weight). The rows that hold with equality
   ("active") are the columns of Q R, Q orthonormal and R upper triangular; `basis` has the vectors of Q as its first
   rows and completes them to all of space. One row comes in at a time, the lowest first; active rows whose
   multiplier falls to zero on the way leave. Everything runs in one fixed order. */
#ifndef NBCFAST_SOLVE_H
#define NBCFAST_SOLVE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NBC_SATISFIED, NBC_PAUSED, NBC_INFEASIBLE, NBC_BROKEN };

typedef struct {
    int64_t n;              /* values */
    int64_t width;          /* entries of a row */
    int64_t n_rows;
    const int32_t *columns; /* n_rows x width */
    const int8_t *signs;
    const double *scale;    /* 1 / sqrt(weight) */
    double *basis;          /* n x n, a vector a row */
    double *triangle;       /* n x n, column j of R at j * n */
    int32_t *active;
    double *multiplier;
    int64_t n_active;
    double *g;
    double *inner, *step, *back; /* n each */
    uint8_t *in;            /* of each row: whether it is active */
    int64_t steps;
    int64_t since;          /* steps since the factors were made anew */
    double tiny;            /* a row with this share of its squared length outside the active ones depends on them */
} nbc_program;

static double nbc_row_value(const nbc_program *p, int64_t row)
{
    const int32_t *column = p->columns + row * p->width;
    const int8_t *sign = p->signs + row * p->width;
    double value = 0;
    for (int64_t j = 0; j < p->width; j++)
        value += sign[j] * p->g[column[j]];
    return value;
}

/* inner = basis times the row; its squared length outside the active ones, or 0 if it depends on them. */
static double nbc_project(const nbc_program *p, int64_t row)
{
    const int64_t n = p->n;
    const int32_t *column = p->columns + row * p->width;
    const int8_t *sign = p->signs + row * p->width;
    for (int64_t i = 0; i < n; i++) {
        const double *vector = p->basis + i * n;
        double sum = 0;
        for (int64_t j = 0; j < p->width; j++)
            sum += sign[j] * p->scale[column[j]] * vector[column[j]];
        p->inner[i] = sum;
    }
    double inside = 0, outside = 0;
    for (int64_t i = 0; i < p->n_active; i++)
        inside += p->inner[i] * p->inner[i];
    for (int64_t i = p->n_active; i < n; i++)
        outside += p->inner[i] * p->inner[i];
    return outside <= p->tiny * (inside + outside) ? 0 : outside;
}

/* step = the row's part outside the active ones, from `inner`. */
static void nbc_outside(const nbc_program *p)
{
    const int64_t n = p->n;
    memset(p->step, 0, (size_t)n * sizeof(double));
    for (int64_t i = p->n_active; i < n; i++) {
        const double *vector = p->basis + i * n;
        const double factor = p->inner[i];
        for (int64_t v = 0; v < n; v++)
            p->step[v] += factor * vector[v];
    }
}

/* Solve R back = inner, the active part. */
static void nbc_back(const nbc_program *p, const double *right)
{
    const int64_t n = p->n;
    memcpy(p->back, right, (size_t)p->n_active * sizeof(double));
    for (int64_t j = p->n_active - 1; j >= 0; j--) {
        const double *column = p->triangle + j * n;
        const double x = p->back[j] / column[j];
        p->back[j] = x;
        for (int64_t i = 0; i < j; i++)
            p->back[i] -= x * column[i];
    }
}

/* Make the row of `inner` the last active one: a reflection of the vectors outside turns `inner` there into one
   entry. `step` is the row's part outside and `outside` its squared length. */
static void nbc_enter(nbc_program *p, int64_t row, double outside, double multiplier)
{
    const int64_t n = p->n, q = p->n_active;
    double *column = p->triangle + q * n;
    memcpy(column, p->inner, (size_t)q * sizeof(double));
    const double length = sqrt(outside);
    const double sign = p->inner[q] > 0 ? 1 : -1;
    /* mirror = inner + sign * length * e_q; H = I - factor mirror mirror'. */
    const double factor = 1 / (outside + length * fabs(p->inner[q]));
    double *first = p->basis + q * n;
    for (int64_t v = 0; v < n; v++)
        p->step[v] = factor * (p->step[v] + sign * length * first[v]);
    p->inner[q] += sign * length;
    for (int64_t i = q; i < n; i++) {
        double *vector = p->basis + i * n;
        const double x = p->inner[i];
        for (int64_t v = 0; v < n; v++)
            vector[v] -= x * p->step[v];
    }
    column[q] = -sign * length;
    p->active[q] = (int32_t)row;
    p->multiplier[q] = multiplier;
    p->in[row] = 1;
    p->n_active = q + 1;
}

/* Take out the active row at a place: the later columns of R move up and are made triangular again. */
static void nbc_leave(nbc_program *p, int64_t place)
{
    const int64_t n = p->n, q = p->n_active;
    p->in[p->active[place]] = 0;
    for (int64_t j = place; j + 1 < q; j++) {
        p->active[j] = p->active[j + 1];
        p->multiplier[j] = p->multiplier[j + 1];
        memcpy(p->triangle + j * n, p->triangle + (j + 1) * n, (size_t)(j + 2) * sizeof(double));
    }
    for (int64_t j = place; j + 1 < q; j++) {
        double *column = p->triangle + j * n;
        const double length = hypot(column[j], column[j + 1]);
        const double c = column[j] / length, s = column[j + 1] / length;
        column[j] = length;
        column[j + 1] = 0;
        for (int64_t k = j + 1; k + 1 < q; k++) {
            double *later = p->triangle + k * n;
            const double x = later[j], y = later[j + 1];
            later[j] = c * x + s * y;
            later[j + 1] = c * y - s * x;
        }
        double *u = p->basis + j * n, *w = u + n;
        for (int64_t v = 0; v < n; v++) {
            const double x = u[v], y = w[v];
            u[v] = c * x + s * y;
            w[v] = c * y - s * x;
        }
    }
    p->n_active = q - 1;
}

/* g and the multipliers that belong to the active rows: h = Q R'^-1 1 and R^-1 R'^-1 1. */
static void nbc_refresh(nbc_program *p)
{
    const int64_t n = p->n, q = p->n_active;
    double *right = p->inner;
    for (int64_t j = 0; j < q; j++) {
        const double *column = p->triangle + j * n;
        double sum = 1;
        for (int64_t i = 0; i < j; i++)
            sum -= column[i] * right[i];
        right[j] = sum / column[j];
    }
    memset(p->step, 0, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < q; i++) {
        const double *vector = p->basis + i * n;
        for (int64_t v = 0; v < n; v++)
            p->step[v] += right[i] * vector[v];
    }
    for (int64_t v = 0; v < n; v++)
        p->g[v] = p->step[v] * p->scale[v];
    nbc_back(p, right);
    memcpy(p->multiplier, p->back, (size_t)q * sizeof(double));
}

/* The factors of the same active rows from the beginning, so that rounding does not add up: begin, then one row
   after another, then refresh. A row that has come to depend on the others is left out. */
static int64_t nbc_renewal(nbc_program *p)
{
    const int64_t n = p->n, q = p->n_active;
    memset(p->basis, 0, (size_t)(n * n) * sizeof(double));
    for (int64_t v = 0; v < n; v++)
        p->basis[v * n + v] = 1;
    p->n_active = 0;
    p->since = 0;
    return q;
}

static void nbc_again(nbc_program *p, int64_t place)
{
    const int32_t row = p->active[place];
    const double outside = nbc_project(p, row);
    p->in[row] = 0;
    if (outside == 0)
        return;
    nbc_outside(p);
    nbc_enter(p, row, outside, p->multiplier[place]);
}

/* Bring in one row that fails. 0, NBC_INFEASIBLE, or NBC_BROKEN where numbers have left the range of floats: no
   row can leave then, as nothing compares. */
static int nbc_bring(nbc_program *p, int64_t row)
{
    double multiplier = 0;
    for (;;) {
        const double outside = nbc_project(p, row);
        const int dependent = outside == 0;
        nbc_back(p, p->inner);
        double first = INFINITY;
        int64_t leaving = -1;
        for (int64_t j = 0; j < p->n_active; j++)
            if (p->back[j] > 0 && p->multiplier[j] < first * p->back[j]) {
                first = p->multiplier[j] > 0 ? p->multiplier[j] / p->back[j] : 0;
                leaving = j;
            }
        double full = INFINITY;
        if (!dependent) {
            nbc_outside(p);
            full = (1 - nbc_row_value(p, row)) / outside;
            if (full < 0)
                full = 0;
        }
        if (dependent && leaving < 0)
            return NBC_INFEASIBLE;
        if (!(full <= first) && leaving < 0)
            return NBC_BROKEN;
        const double t = full <= first ? full : first;
        for (int64_t j = 0; j < p->n_active; j++)
            p->multiplier[j] -= t * p->back[j];
        multiplier += t;
        if (!dependent)
            for (int64_t v = 0; v < p->n; v++)
                p->g[v] += t * p->step[v] * p->scale[v];
        p->steps++;
        p->since++;
        if (full <= first) {
            nbc_enter(p, row, outside, multiplier);
            return NBC_SATISFIED;
        }
        nbc_leave(p, leaving);
    }
}

/* Bring in rows until every one holds up to `slack`, or `most` steps are made; or NBC_BROKEN, see above. */
static int nbc_solve(nbc_program *p, double slack, int64_t most)
{
    const int64_t stop = p->steps + most;
    for (;;) {
        int64_t row = -1;
        double lowest = 1 - slack;
        for (int64_t k = 0; k < p->n_rows; k++) {
            if (p->in[k])
                continue;
            const double value = nbc_row_value(p, k);
            if (value < lowest) {
                lowest = value;
                row = k;
            }
        }
        if (row < 0)
            return NBC_SATISFIED;
        if (p->steps >= stop)
            return NBC_PAUSED;
        const int brought = nbc_bring(p, row);
        if (brought != NBC_SATISFIED)
            return brought;
    }
}

#endif
