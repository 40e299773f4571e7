/* Bytes to rows of fields: what ends a field is found 64 bytes at a time, for as wide vectors as there are.

   A quote opens a field only at its beginning, as in Python's csv; where that is so for every quote of a block,
   what is inside of quotes is the parity of those before. One that stands elsewhere (a stray one) has its row read
   byte by byte. A row ends at LF, at CR, or at both. */
#ifndef NBCFAST_CSV_ROWS_H
#define NBCFAST_CSV_ROWS_H

#include "csv/fields.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(NBC_CSV_PORTABLE)
#include <immintrin.h>
#define NBC_CSV_LEVELS 4
#else
#define NBC_CSV_LEVELS 1
#endif

#if NBC_CSV_LEVELS > 1
static const uint8_t nbc_csv_steps[64] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
    61, 62, 63};
#endif

#define NBC_CSV_OPEN 0xFFFFFFFFu  /* no end of a row */
#define NBC_CSV_AHEAD 128         /* positions that one word may bring, and those written beyond */

typedef struct {
    uint64_t delimiter, lf, cr, quote;
} nbc_csv_masks;

typedef struct {
    uint32_t at;       /* the next byte */
    uint32_t row;      /* where the row begins that it is in */
    uint64_t inside;   /* all bits where it is inside of quotes */
    uint64_t before;   /* 1 where a quote there opens a field, or is one of two */
    int64_t ends;      /* of rows, so far */
} nbc_csv_state;

NBC_INLINE nbc_csv_state nbc_csv_at(uint32_t start)
{
    const nbc_csv_state state = {start, start, 0, 1, 0};
    return state;
}

/* Bits 0..i of the result are the parity of bits 0..i: inside, from an opening quote up to the closing one. */
NBC_INLINE uint64_t nbc_csv_parity(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

/* The fields of one row, read byte by byte as Python's csv does: what ends them goes to `positions`, as far as there
   is room. Returns where the next row begins, or NBC_CSV_OPEN where this one has no end. */
static uint32_t nbc_csv_one_row(const uint8_t *text, uint32_t start, uint32_t end, uint8_t delimiter,
                                uint32_t *positions, int64_t room, int64_t *count, int *open)
{
    enum { BEGIN, BARE, QUOTED, CLOSED } state = BEGIN;
    for (uint32_t at = start; at < end; at++) {
        const uint8_t letter = text[at];
        if (state == QUOTED) {
            if (letter == '"')
                state = CLOSED;
            continue;
        }
        if (letter == '"') {
            if (state != BARE)
                state = QUOTED;
        } else if (letter == delimiter || letter == '\n' || letter == '\r') {
            const int both = letter == '\r' && text[at + 1] == '\n';
            at += (uint32_t)both;
            if (*count < room)
                positions[*count] = at;
            ++*count;
            state = BEGIN;
            if (letter != delimiter) {
                *open = 0;
                return at + 1;
            }
        } else
            state = BARE;
    }
    *open = state == QUOTED;
    return NBC_CSV_OPEN;
}

/* How many rows stand in the first positions, as many fields each as there are columns and nothing else: then
   every such position ends a row, and there are no other ends. Else -1. */
NBC_INLINE int64_t nbc_csv_even(const nbc_csv_scanner *scanner, const uint8_t *text, int64_t count, int64_t ends)
{
    const int64_t k = scanner->n_fields;
    uint64_t wrong = 0;
    if (ends * k > count || count - ends * k >= k)
        return -1;
    for (int64_t row = 0; row < ends; row++) {
        const uint8_t letter = text[scanner->positions[row * k + k - 1]];
        wrong |= (letter != '\n') & (letter != '\r');
    }
    return wrong ? -1 : ends;
}

/* The same row by row, where lines are empty or rows differ: positions of empty lines are left out. Returns how
   many rows are whole, and says at *used how many positions belong to them and to empty lines. */
static int64_t nbc_csv_walk(nbc_csv_scanner *scanner, const uint8_t *text, uint32_t row, int64_t count,
                            int64_t *used, uint32_t *next)
{
    const int64_t k = scanner->n_fields;
    uint32_t *positions = scanner->positions;
    int64_t rows = 0, begin = 0, at;
    *used = 0;
    *next = row;
    for (at = 0; at < count; at++) {
        const uint32_t position = positions[at];
        const uint8_t letter = text[position];
        if (letter != '\n' && letter != '\r')
            continue;
        const int64_t fields = at - begin + 1;
        const uint32_t trimmed = position - (letter == '\n' && position > *next && text[position - 1] == '\r');
        if (fields == 1 && k > 1 && trimmed == *next) {
            /* An empty line. */
        } else if (fields != k) {
            nbc_csv_fail(scanner, NBC_CSV_RAGGED, *next, NBC_CSV_NONE, *next, position);
            break;
        } else {
            scanner->starts[rows] = *next;
            if (rows * k != begin)
                memmove(positions + rows * k, positions + begin, (size_t)k * sizeof *positions);
            rows++;
        }
        begin = at + 1;
        *next = position + 1;
        *used = begin;
    }
    if (at == count && count - begin >= k)  /* more than a row may have, and it goes on */
        nbc_csv_fail(scanner, NBC_CSV_RAGGED, *next, NBC_CSV_NONE, *next, *next);
    return rows;
}

#define NBC_CSV_NAME(name) name##_0
#define NBC_CSV_TARGET
#define NBC_CSV_LEVEL 0
#include "csv/body.h"
#undef NBC_CSV_NAME
#undef NBC_CSV_TARGET
#undef NBC_CSV_LEVEL

#if NBC_CSV_LEVELS > 1
#define NBC_CSV_NAME(name) name##_1
#define NBC_CSV_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define NBC_CSV_LEVEL 1
#include "csv/body.h"
#undef NBC_CSV_NAME
#undef NBC_CSV_TARGET
#undef NBC_CSV_LEVEL

#define NBC_CSV_NAME(name) name##_2
#define NBC_CSV_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,lzcnt,popcnt")))
#define NBC_CSV_LEVEL 2
#include "csv/body.h"
#undef NBC_CSV_NAME
#undef NBC_CSV_TARGET
#undef NBC_CSV_LEVEL

#define NBC_CSV_NAME(name) name##_3
#define NBC_CSV_TARGET __attribute__((target( \
    "avx512vbmi2,avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi,bmi2,lzcnt,popcnt")))
#define NBC_CSV_LEVEL 3
#include "csv/body.h"
#undef NBC_CSV_NAME
#undef NBC_CSV_TARGET
#undef NBC_CSV_LEVEL
#endif

/* The widest vectors that this machine has. */
static int nbc_csv_best_level(void)
{
#if NBC_CSV_LEVELS > 1
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        return __builtin_cpu_supports("avx512vbmi2") ? 3 : 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
            && __builtin_cpu_supports("popcnt"))
        return 1;
#endif
    return 0;
}

/* Where the last whole row of text[start:end] ends; `start` if there is none. A CR at the end may be half of a line
   end, unless nothing follows (`last`). `open`: whether what is left is inside of quotes. */
static uint32_t nbc_csv_border(const uint8_t *text, uint32_t start, uint32_t end, uint8_t delimiter, int last,
                               int level, int *open)
{
    const uint32_t most = end > start && text[end - 1] == '\r' && !last ? end - 1 : end;
    *open = 0;
    if (memchr(text + start, '"', end - start) == NULL) {
        for (uint32_t at = most; at > start; at--)
            if (text[at - 1] == '\n' || text[at - 1] == '\r')
                return at;
        return start;
    }
#if NBC_CSV_LEVELS > 1
    if (level == 3)
        return nbc_csv_find_border_3(text, start, most, delimiter, open);
    if (level == 2)
        return nbc_csv_find_border_2(text, start, most, delimiter, open);
    if (level == 1)
        return nbc_csv_find_border_1(text, start, most, delimiter, open);
#endif
    return nbc_csv_find_border_0(text, start, most, delimiter, open);
}

/* The codes of the whole rows in text[start:end], with room for 64 bytes behind; after those that there are, or else
   in their place. */
static void nbc_csv_scan(nbc_csv_scanner *scanner, const uint8_t *text, uint32_t start, uint32_t end, int append,
                         int level)
{
    scanner->status = NBC_CSV_FINE;
    if (!append) {
        scanner->rows = 0;
        for (int64_t c = 0; c < scanner->n_columns; c++) {
            scanner->caches[c].width = 1;
            scanner->caches[c].most = 0;
        }
    }
    if (end <= start)
        return;
#if NBC_CSV_LEVELS > 1
    if (level == 3) {
        nbc_csv_scan_all_3(scanner, text, start, end);
        return;
    }
    if (level == 2) {
        nbc_csv_scan_all_2(scanner, text, start, end);
        return;
    }
    if (level == 1) {
        nbc_csv_scan_all_1(scanner, text, start, end);
        return;
    }
#endif
    nbc_csv_scan_all_0(scanner, text, start, end);
}

#endif
