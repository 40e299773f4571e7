/* Rows decided again and again by the same scores: what a call works with waits here for the next one.

   Any number of threads may ask at once, with the GIL or without: a desk is taken and given back by one atomic
   exchange, so that nobody waits for anybody, and who finds all of them taken makes one of his own. */
#ifndef NBCFAST_DESKS_H
#define NBCFAST_DESKS_H

#include "score.h"

#define NBC_DESKS 16
#define NBC_DESK_ROWS 256      /* decided at a time; fewer of many classes */
#define NBC_DESK_SUMS 65536    /* so many doubles of sums are touched at most, or those of one row */

typedef struct {
    nbc_room room;
    nbc_column *columns;       /* n_attributes + 1 */
    uint16_t *labels;          /* NBC_DESK_ROWS */
    uint32_t *placed;          /* n_attributes * NBC_DESK_ROWS */
    int64_t *record;           /* n_attributes: the codes of a single row */
    int taken, is_made;
} nbc_desk;

typedef struct {
    const nbc_scores *scores;  /* whose `columns` say how many codes there are, and hold no row */
    nbc_desk desks[NBC_DESKS];
} nbc_served;

/* Codes of other columns as positions: those of attribute a at first[a], UINT32_MAX for a value without one. */
typedef struct {
    const int64_t *first;
    const uint32_t *positions;
} nbc_translation;

static int64_t nbc_desk_rows(const nbc_scores *scores)
{
    const int64_t rows = scores->costs.lanes ? NBC_DESK_ROWS : NBC_DESK_SUMS / scores->width;
    return rows < 1 ? 1 : rows < NBC_DESK_ROWS ? rows : NBC_DESK_ROWS;
}

static void nbc_clear_desk(nbc_desk *desk)
{
    nbc_drop_room(&desk->room);
    free(desk->columns);
    free(desk->labels);
    free(desk->placed);
    free(desk->record);
    memset(&desk->room, 0, sizeof desk->room);
    desk->columns = NULL;
    desk->labels = NULL;
    desk->placed = NULL;
    desk->record = NULL;
    desk->is_made = 0;
}

static int nbc_make_desk(nbc_desk *desk, const nbc_scores *scores)
{
    const size_t n = (size_t)scores->n_attributes + 1;
    desk->is_made = nbc_make_room(scores, &desk->room, nbc_desk_rows(scores));
    desk->columns = calloc(n, sizeof *desk->columns);
    desk->labels = calloc(NBC_DESK_ROWS, sizeof *desk->labels);
    desk->placed = calloc(n * NBC_DESK_ROWS, sizeof *desk->placed);
    desk->record = calloc(n, sizeof *desk->record);
    if (desk->is_made && desk->columns && desk->labels && desk->placed && desk->record)
        return 1;
    nbc_clear_desk(desk);
    return 0;
}

/* A desk for one call, or NULL where memory lacks. */
static nbc_desk *nbc_take_desk(nbc_served *served)
{
    nbc_desk *desk;
    for (int k = 0; k < NBC_DESKS; k++) {
        desk = served->desks + k;
        if (__atomic_exchange_n(&desk->taken, 1, __ATOMIC_ACQUIRE))
            continue;
        if (desk->is_made || nbc_make_desk(desk, served->scores))
            return desk;
        __atomic_store_n(&desk->taken, 0, __ATOMIC_RELEASE);
        return NULL;
    }
    desk = calloc(1, sizeof *desk);
    if (desk && !nbc_make_desk(desk, served->scores)) {
        free(desk);
        return NULL;
    }
    return desk;
}

static void nbc_give_desk(nbc_served *served, nbc_desk *desk)
{
    if (desk >= served->desks && desk < served->desks + NBC_DESKS) {
        __atomic_store_n(&desk->taken, 0, __ATOMIC_RELEASE);
        return;
    }
    nbc_clear_desk(desk);
    free(desk);
}

static void nbc_drop_desks(nbc_served *served)
{
    for (int k = 0; k < NBC_DESKS; k++)
        nbc_clear_desk(served->desks + k);
}

/* n rows of a column as positions, each code read once; whether all were in range. */
static int nbc_translate(const nbc_column *column, const uint32_t *restrict positions, uint32_t *restrict placed,
                         int64_t row, int64_t n)
{
    if (column->width == 1 && column->stride == 1) {
        const uint8_t *codes = (const uint8_t *)column->data + row;
        for (int64_t i = 0; i < n; i++) {
            const uint8_t code = NBC_ONCE(uint8_t, codes + i);
            if (code >= column->limit)
                return 0;
            placed[i] = positions[code];
        }
        return 1;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t code = nbc_code(column, row + i);
        if (code < 0)
            return 0;
        placed[i] = positions[code];
    }
    return 1;
}

/* The best class of n rows of `columns` from `row` on, into bytes or, if `wide`, pairs of them; -1, or a column with
   a bad code. The columns are those of the caller, or of the desk. */
static int64_t nbc_decide(const nbc_served *served, nbc_desk *desk, const nbc_column *columns,
                          const nbc_translation *translation, void *labels, int wide, uint8_t *tied,
                          int64_t row, int64_t n)
{
    nbc_scores scores = *served->scores;
    const int64_t most = nbc_desk_rows(&scores), stop = row + n;
    int64_t bad = -1, n_close = 0;
    if (n < scores.costs.tile)
        scores.costs.tile = (n + 7) / 8 * 8;  /* the sums of few rows lie close together */
    scores.columns = columns;
    scores.n_rows = stop;
    for (; row < stop && bad < 0; row += most) {
        const int64_t some = stop - row < most ? stop - row : most;
        int64_t from = row;
        if (translation) {
            for (int64_t a = 0; a < scores.n_attributes; a++) {
                const int64_t size = served->scores->columns[a].size;
                uint32_t *placed = desk->placed + a * NBC_DESK_ROWS;
                if (!nbc_translate(columns + a, translation->positions + translation->first[a], placed, row, some))
                    return a;
                desk->columns[a] = (nbc_column){(const char *)placed, sizeof *placed, size, size, sizeof *placed, 0};
            }
            scores.columns = desk->columns;
            scores.n_rows = some;
            from = 0;
        }
        if (scores.n_classes == 2)
            bad = nbc_predict_two(&scores, &desk->room, desk->labels, tied ? tied + row : NULL, from, some);
        else if (scores.costs.lanes)
            bad = nbc_predict_costs(&scores, &desk->room, desk->labels, tied ? tied + row : NULL, from, some,
                                    &n_close);
        else
            bad = nbc_predict_many(&scores, &desk->room, desk->labels, tied ? tied + row : NULL, from, some);
        for (int64_t i = 0; i < some; i++)
            if (wide)
                ((uint16_t *)labels)[row + i] = desk->labels[i];
            else
                ((uint8_t *)labels)[row + i] = (uint8_t)desk->labels[i];
    }
    return bad;
}

/* The column of an attribute that is `column` of a row-major or any other matrix. */
NBC_INLINE nbc_column nbc_of_matrix(const char *data, ptrdiff_t row_stride, int64_t size, int width, int is_signed)
{
    return (nbc_column){data, row_stride, size, nbc_limit(size, width, is_signed), width, is_signed};
}

/* The best class of the one row of desk->record, or -1 - a for attribute a, whose code is out of range. */
static int64_t nbc_decide_record(const nbc_served *served, nbc_desk *desk)
{
    const nbc_scores *scores = served->scores;
    uint16_t label = 0;
    int64_t bad;
    for (int64_t a = 0; a < scores->n_attributes; a++)
        desk->columns[a] = nbc_of_matrix((const char *)(desk->record + a), sizeof *desk->record,
                                         scores->columns[a].size, sizeof *desk->record, 1);
    bad = nbc_decide(served, desk, desk->columns, NULL, &label, 1, NULL, 0, 1);
    return bad < 0 ? label : -1 - bad;
}

/* As nbc_decide, of a matrix whose first column says whose scores decide a row: those of one of n_served, which
   have the same attributes. Rows in a row that the same one decides are decided together. */
static int64_t nbc_decide_by(nbc_served *const *served, int64_t n_served, const nbc_column *columns, void *labels,
                             int wide, int64_t n_rows)
{
    int64_t bad = -1;
    for (int64_t row = 0, after; row < n_rows && bad < 0; row = after) {
        const int64_t which = nbc_code(columns, row);
        nbc_desk *desk;
        if (which < 0 || which >= n_served)
            return 0;
        for (after = row + 1; after < n_rows && nbc_code(columns, after) == which; after++)
            ;
        desk = nbc_take_desk(served[which]);
        if (!desk)
            return -2;
        bad = nbc_decide(served[which], desk, columns + 1, NULL, labels, wide, NULL, row, after - row);
        nbc_give_desk(served[which], desk);
    }
    return bad < 0 ? bad : bad + 1;
}
#endif
