/* Moving rows to the parts they belong to, down to the leaves; making records, and counts of streamed ones. */
#ifndef NBCFAST_LEAVES_H
#define NBCFAST_LEAVES_H

#include "partition/best.h"

/* ---- moving rows ---- */

/* Rows to one of two parts, from these places on; how many went left. */
NBC_INLINE int64_t nbc_move_run(const char *restrict rows, char *restrict out, int64_t n, int64_t attribute,
                                int64_t border, int64_t to_left, int64_t to_right, int64_t width, int64_t stride)
{
    int64_t left = to_left, right = to_right;
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * stride;
        const int64_t goes = (int64_t)nbc_code_at(record, attribute, width) >= border;
        /* Not a branch: it would be guessed wrong every other time. */
        memcpy(out + (left + ((right - left) & -goes)) * stride, record, (size_t)stride);
        left += 1 - goes;
        right += goes;
    }
    return left - to_left;
}

NBC_INLINE int nbc_move_two(const char *restrict rows, char *restrict out, int64_t n, int64_t attribute,
                                    int64_t border, int64_t n_left, int64_t width, int64_t stride)
{
    int64_t left = 0, right = n_left, i = 0;
    while (i < n) {
        /* So many rows find room wherever they go. */
        const int64_t room = n_left - left < n - right ? n_left - left : n - right;
        if (room < 16)
            break;
        const int64_t went = nbc_move_run(rows + i * stride, out, room, attribute, border, left, right, width, stride);
        left += went;
        right += room - went;
        i += room;
    }
    for (; i < n; i++) {
        const char *record = rows + i * stride;
        const int64_t goes = (int64_t)nbc_code_at(record, attribute, width) >= border;
        const int64_t to = left + ((right - left) & -goes);
        if (to >= n_left + ((n - n_left) & -goes))
            return NBC_NO_RECORDS;
        memcpy(out + to * stride, record, (size_t)stride);
        left += 1 - goes;
        right += goes;
    }
    return 0;
}

/* The rows of a node to its parts, one after the other, in the order they have. `ends` has room for 2 n_kids.
   0, or NBC_NO_RECORDS where other rows were counted. */
NBC_CLONED(int, nbc_move, (const nbc_problem *q, const char *restrict rows, char *restrict out, int64_t n,
                           int64_t attribute, const nbc_kid *kids, int64_t n_kids, int64_t *ends),
           (q, rows, out, n, attribute, kids, n_kids, ends))
{
    if (n_kids == 2) {
        if (q->width == 1 && q->stride == 16)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 1, 16);
        if (q->width == 1)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 1, q->stride);
        if (q->width == 2 && q->stride == 32)
            return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, 2, 32);
        return nbc_move_two(rows, out, n, attribute, kids[1].lo, kids[0].rows, q->width, q->stride);
    }
    int64_t *stops = ends + n_kids;
    for (int64_t j = 0; j < n_kids; j++) {
        ends[j] = j ? stops[j - 1] : 0;
        stops[j] = ends[j] + kids[j].rows;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * q->stride;
        const int64_t kid = nbc_kid_of(kids, n_kids, (int64_t)nbc_code_at(record, attribute, q->width));
        if (ends[kid] == stops[kid])
            return NBC_NO_RECORDS;
        memcpy(out + ends[kid]++ * q->stride, record, (size_t)q->stride);
    }
    return 0;
}

/* ---- leaves ---- */

static int nbc_add_leaf(const nbc_problem *q, nbc_scratch *s, int64_t start, int64_t rows, int64_t people,
                        int64_t level, const uint32_t *box)
{
    if (nbc_leaves_more(&s->leaves, 1) || nbc_words_more(&s->boxes, 2 * q->n_quasi))
        return NBC_NO_MEMORY;
    s->leaves.at[s->leaves.n++] = (nbc_leaf){start, rows, people, level};
    memcpy(s->boxes.at + s->boxes.n, box, (size_t)(2 * q->n_quasi) * sizeof(uint32_t));
    s->boxes.n += 2 * q->n_quasi;
    return 0;
}

/* Append to `found` how many people of these rows have each value, values rising. Returns the number of pairs,
   NBC_NO_MEMORY or NBC_NO_RECORDS. */
static int64_t nbc_count_leaf(const nbc_problem *q, nbc_scratch *s, const char *rows, int64_t n)
{
    const nbc_kid all = {0, 0, 0, 0};
    const int64_t all_cells = q->n_values <= 4 * n;
    const int64_t before = s->found.n;
    int64_t *hist = s->hist.at;
    s->touched.n = 0;
    if (nbc_longs_more(&s->touched, all_cells ? 0 : n))
        return NBC_NO_MEMORY;
    if (nbc_counts_more(&s->found, n < q->n_values ? n + 1 : q->n_values))
        return NBC_NO_MEMORY;
    if (nbc_tally_any(q, rows, n, 0, &all, 1, q->n_values, q->sensitive_at, hist, &s->touched, all_cells)) {
        if (all_cells)
            memset(hist, 0, (size_t)q->n_values * sizeof(int64_t));
        else
            for (int64_t t = 0; t < s->touched.n; t++)
                hist[s->touched.at[t]] = 0;
        return NBC_NO_RECORDS;
    }
    if (all_cells) {
        for (int64_t v = 0; v < q->n_values; v++)
            if (hist[v])
                s->found.at[s->found.n++] = (nbc_count){v, hist[v]};
        memset(hist, 0, (size_t)q->n_values * sizeof(int64_t));
    } else {
        qsort(s->touched.at, (size_t)s->touched.n, sizeof(int64_t), nbc_by_size);
        for (int64_t t = 0; t < s->touched.n; t++) {
            const int64_t v = s->touched.at[t];
            s->found.at[s->found.n++] = (nbc_count){v, hist[v]};
            hist[v] = 0;
        }
    }
    return s->found.n - before;
}

/* Split a node and its parts down to leaves; for demands that no other group shares. The rows stand in `rows` and
   change places with `other` from level to level. Positions count from the node's first row, `start` is its place
   in the whole. */
static int nbc_finish(const nbc_problem *q, nbc_scratch *s, char *rows, char *other, int64_t start, int64_t n,
                      int64_t people, int64_t level, const uint32_t *box)
{
    const int64_t words = 2 * q->n_quasi, top = level;
    const int64_t kids_before = s->kids.n; /* of nodes that were evaluated before and are still to be split */
    int failed = 0;
    s->stack.n = s->stack_boxes.n = 0;
    if (nbc_longs_more(&s->stack, 4) || nbc_words_more(&s->stack_boxes, 2 * words))
        return NBC_NO_MEMORY;
    memcpy(s->stack.at, (int64_t[4]){0, n, people, level}, 4 * sizeof(int64_t));
    memcpy(s->stack_boxes.at, box, (size_t)words * sizeof(uint32_t));
    s->stack.n = 4;
    s->stack_boxes.n = words;
    while (s->stack.n && !failed) {
        nbc_plan_t plan;
        s->stack.n -= 4;
        s->stack_boxes.n -= words;
        const int64_t at = s->stack.at[s->stack.n], size = s->stack.at[s->stack.n + 1];
        const int64_t weight = s->stack.at[s->stack.n + 2], depth = s->stack.at[s->stack.n + 3];
        const int64_t odd = (depth - top) & 1;
        char *from = (odd ? other : rows) + at * q->stride, *to = (odd ? rows : other) + at * q->stride;
        s->kids.n = kids_before;
        const int found =
            nbc_evaluate(q, s, from, size, weight, s->stack_boxes.at + s->stack_boxes.n, 0, NULL, NULL, &plan);
        if (found < 0)
            return found;
        if (found == NBC_WHOLE) {
            failed = nbc_add_leaf(q, s, start + at, size, weight, depth, s->stack_boxes.at + s->stack_boxes.n);
            continue;
        }
        if (nbc_longs_more(&s->undo_at, 2 * plan.n_kids) || nbc_longs_more(&s->stack, 4 * plan.n_kids)
            || nbc_words_more(&s->stack_boxes, words * (plan.n_kids + 1)))
            return NBC_NO_MEMORY;
        const nbc_kid *kids = s->kids.at + plan.first_kid;
        failed = nbc_move(q, from, to, size, plan.attribute, kids, plan.n_kids, s->undo_at.at);
        if (failed)
            break;
        /* The box of the node stands where that of its last part will: it moves to the end, out of the way. */
        uint32_t *boxes = s->stack_boxes.at + s->stack_boxes.n, *own = boxes + words * plan.n_kids;
        memcpy(own, boxes, (size_t)words * sizeof(uint32_t));
        int64_t end = at + size;
        for (int64_t j = plan.n_kids - 1, place = 0; j >= 0; j--, place++) {
            uint32_t *kid_box = boxes + words * place;
            end -= kids[j].rows;
            memcpy(s->stack.at + s->stack.n, (int64_t[4]){end, kids[j].rows, kids[j].people, depth + 1},
                   4 * sizeof(int64_t));
            memcpy(kid_box, own, (size_t)words * sizeof(uint32_t));
            kid_box[2 * plan.attribute] = (uint32_t)kids[j].lo;
            kid_box[2 * plan.attribute + 1] = (uint32_t)kids[j].hi;
            s->stack.n += 4;
        }
        s->stack_boxes.n += words * plan.n_kids;
    }
    s->kids.n = kids_before;
    return failed;
}

/* ---- making records ---- */

NBC_INLINE void nbc_put_code(char *at, int64_t width, uint32_t code)
{
    if (width == 1) {
        *(uint8_t *)at = (uint8_t)code;
    } else if (width == 2) {
        const uint16_t narrow = (uint16_t)code;
        memcpy(at, &narrow, 2);
    } else {
        memcpy(at, &code, 4);
    }
}

#define NBC_FILL(NAME, TYPE)                                                                        \
    NBC_INLINE int64_t nbc_fill_##NAME(const nbc_column *column, const uint32_t *map, int64_t row, int64_t n,   \
                                       char *out, int64_t stride, int64_t width)                    \
    {                                                                                               \
        const uint64_t limit = (uint64_t)column->limit;                                             \
        const char *from = column->data + row * column->stride;                                     \
        for (int64_t i = 0; i < n; i++) {                                                           \
            const uint64_t code = *(const TYPE *)(const void *)(from + i * column->stride);         \
            if (code >= limit)                                                                      \
                return row + i;                                                                     \
            nbc_put_code(out + i * stride, width, map == NULL ? (uint32_t)code : map[code]);        \
        }                                                                                           \
        return -1;                                                                                  \
    }
NBC_FILL(u8, uint8_t)
NBC_FILL(u16, uint16_t)
NBC_FILL(u32, uint32_t)
NBC_FILL(u64, uint64_t)
#undef NBC_FILL

/* Write the mapped codes of a column (NULL: as they are) at `out`, from record to record; the first row whose
   code is out of range, or -1. */
static int64_t nbc_fill(const nbc_column *column, const uint32_t *map, int64_t row, int64_t n, char *out,
                        int64_t stride, int64_t width)
{
    switch (column->width * 8 + width) {
    case 9: return nbc_fill_u8(column, map, row, n, out, stride, 1);
    case 10: return nbc_fill_u8(column, map, row, n, out, stride, 2);
    case 12: return nbc_fill_u8(column, map, row, n, out, stride, 4);
    case 17: return nbc_fill_u16(column, map, row, n, out, stride, 1);
    case 18: return nbc_fill_u16(column, map, row, n, out, stride, 2);
    case 20: return nbc_fill_u16(column, map, row, n, out, stride, 4);
    case 33: return nbc_fill_u32(column, map, row, n, out, stride, 1);
    case 34: return nbc_fill_u32(column, map, row, n, out, stride, 2);
    case 36: return nbc_fill_u32(column, map, row, n, out, stride, 4);
    case 65: return nbc_fill_u64(column, map, row, n, out, stride, 1);
    case 66: return nbc_fill_u64(column, map, row, n, out, stride, 2);
    default: return nbc_fill_u64(column, map, row, n, out, stride, 4);
    }
}

/* Add these rows to the counts of a large node. 0, or NBC_NO_RECORDS. */
static int nbc_gather(const nbc_problem *q, const char *rows, int64_t n, const int64_t *first, const nbc_joint *joint)
{
    for (int64_t i = 0; i < n; i++) {
        const char *record = rows + i * q->stride;
        const int64_t value = nbc_u32_at(record, q->sensitive_at);
        const int64_t target = q->n_targets ? (int64_t)nbc_u32_at(record, q->target_at) : -1;
        const int64_t weight = q->weighted ? nbc_i64_at(record, q->weight_at) : 1;
        if (value >= q->n_values || target >= q->n_targets || weight < 1)
            return NBC_NO_RECORDS;
        for (int64_t a = 0; a < q->n_quasi; a++) {
            const int64_t code = (int64_t)nbc_code_at(record, a, q->width), cell = first[a] + code;
            if (code >= q->quasi[a].size)
                return NBC_NO_RECORDS;
            /* Without sign: the counts are arrays that anyone can write to, and looked at before they are used. */
            uint64_t *people = (uint64_t *)joint->people + cell * q->n_values + value;
            ((uint64_t *)joint->rows)[cell]++;
            *people += (uint64_t)weight;
            if (q->n_targets)
                ((uint64_t *)joint->targets)[cell * q->n_targets + target] += (uint64_t)weight;
        }
    }
    return 0;
}

/* Whether these are the counts of a node of n rows and so many people: for every attribute they add up, codes
   without rows have no people and others at least as many as rows, and boxes lie among the codes. */
static int nbc_joint_fits(const nbc_problem *q, const nbc_joint *joint, const int64_t *first, int64_t n, int64_t people,
                          const uint32_t *box)
{
    for (int64_t a = 0; a < q->n_quasi; a++) {
        int64_t rows_left = n, people_left = people;
        if (box[2 * a] > box[2 * a + 1] || box[2 * a + 1] >= q->quasi[a].size)
            return 0;
        for (int64_t cell = first[a]; cell < first[a + 1]; cell++) {
            int64_t of_values = 0, of_targets = 0;
            if (joint->rows[cell] < 0 || joint->rows[cell] > rows_left)
                return 0;
            if (joint->rows[cell] && (cell - first[a] < box[2 * a] || cell - first[a] > box[2 * a + 1]))
                return 0;
            rows_left -= joint->rows[cell];
            for (int64_t v = 0; v < q->n_values; v++) {
                const int64_t count = joint->people[cell * q->n_values + v];
                if (count < 0 || count > people_left - of_values)
                    return 0;
                of_values += count;
            }
            for (int64_t t = 0; t < q->n_targets; t++) {
                const int64_t count = joint->targets[cell * q->n_targets + t];
                if (count < 0 || count > people_left - of_targets)
                    return 0;
                of_targets += count;
            }
            people_left -= of_values;
            if ((q->n_targets && of_targets != of_values) || of_values < joint->rows[cell]
                || (of_values && !joint->rows[cell]))
                return 0;
        }
        if (rows_left || people_left)
            return 0;
    }
    return 1;
}

#endif
