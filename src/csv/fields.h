/* Fields to codes: a cache of the fields as they stand in the file, one a thread and column.

   A field of up to 15 bytes is its own key: two words, the last byte its length and 1. Longer ones have a hash for
   a key, and are compared with a copy. What a cache does not have is unquoted, checked and looked for among the
   values that all threads share; so quotes, nulls and letters cost nothing in rows whose fields were met before. */
#ifndef NBCFAST_CSV_FIELDS_H
#define NBCFAST_CSV_FIELDS_H

#include "csv/values.h"

#define NBC_CSV_SHORT 15
#define NBC_CSV_PROBES 8
#define NBC_CSV_FIRST_SLOTS 256
#define NBC_CSV_MOST_SLOTS (1 << 17)
#define NBC_CSV_ALL_SLOTS (1 << 21)      /* of all columns of a thread, unless there are very many */
#define NBC_CSV_MOST_RAW (4u << 20)      /* bytes of longer fields that a cache keeps */
#define NBC_CSV_LONG ((uint64_t)0xFF << 56)

typedef struct {
    uint64_t low, high;      /* high is 0 in a free slot */
    uint32_t code, at;       /* at: where a longer field stands in `raw` */
} nbc_csv_slot;

typedef struct {
    nbc_csv_values *values;
    int64_t place;           /* which field of a row */
    nbc_csv_slot *slots;
    uint64_t mask, keys[2], most_slots;
    int64_t n;
    uint8_t *raw;
    uint64_t raw_used, raw_room;
    uint8_t *out;            /* the codes of a block, of `width` bytes each */
    int64_t out_room;        /* bytes */
    int width;
    uint32_t most;           /* the largest of them */
} nbc_csv_cache;

typedef struct {
    const uint8_t *text;
    uint64_t n;
} nbc_csv_text;

typedef struct {
    int64_t n_fields, n_columns, n_nulls, target, room;
    uint8_t delimiter;
    nbc_csv_cache *caches;
    nbc_csv_text *nulls;
    uint32_t *positions;     /* of what ends fields */
    uint32_t *starts;        /* of rows */
    uint32_t *codes, *missed;
    uint8_t *scratch;
    uint64_t scratch_room;
    int64_t rows;            /* read so far */
    /* The first error: what is wrong, where its row begins, in which column (-1: in the row), and the field. */
    int status;
    uint32_t bad_row, bad_column, bad_start, bad_end;
} nbc_csv_scanner;

static int nbc_csv_make_cache(nbc_csv_cache *cache, nbc_csv_values *values, int64_t place, int64_t n_columns,
                              uint64_t key, uint64_t other)
{
    memset(cache, 0, sizeof *cache);
    cache->values = values;
    cache->place = place;
    cache->keys[0] = key;
    cache->keys[1] = other;
    cache->width = 1;
    cache->most_slots = NBC_CSV_MOST_SLOTS;
    while (cache->most_slots > NBC_CSV_FIRST_SLOTS && (int64_t)cache->most_slots * n_columns > NBC_CSV_ALL_SLOTS)
        cache->most_slots /= 2;
    cache->mask = NBC_CSV_FIRST_SLOTS - 1;
    cache->slots = calloc(NBC_CSV_FIRST_SLOTS, sizeof *cache->slots);
    return cache->slots == NULL ? NBC_CSV_MEMORY : NBC_CSV_FINE;
}

static void nbc_csv_drop_cache(nbc_csv_cache *cache)
{
    free(cache->slots);
    free(cache->raw);
    free(cache->out);
}

NBC_INLINE void nbc_csv_key(const uint64_t keys[2], const uint8_t *field, uint32_t n, uint64_t *low, uint64_t *high)
{
    if (n <= NBC_CSV_SHORT) {
        *low = nbc_csv_word(field) & nbc_csv_low[n];
        *high = (nbc_csv_word(field + 8) & nbc_csv_high[n]) | (uint64_t)(n + 1) << 56;
    } else {
        *low = nbc_csv_hash(field, n, keys);
        *high = NBC_CSV_LONG | n;
    }
}

NBC_INLINE uint64_t nbc_csv_home(const uint64_t keys[2], uint64_t mask, uint64_t low, uint64_t high)
{
    return nbc_csv_mix(low ^ keys[0], high ^ keys[1]) & mask;
}

NBC_INLINE int nbc_csv_same(const nbc_csv_cache *cache, const nbc_csv_slot *slot, const uint8_t *field, uint64_t low,
                            uint64_t high)
{
    if (slot->low != low || slot->high != high)
        return 0;
    return high < NBC_CSV_LONG || memcmp(cache->raw + slot->at, field, high & ~NBC_CSV_LONG) == 0;
}

/* The code of a field, or NBC_CSV_NONE where the cache does not have it. */
static uint32_t nbc_csv_look(const nbc_csv_cache *cache, const uint8_t *field, uint64_t low, uint64_t high)
{
    uint64_t place = nbc_csv_home(cache->keys, cache->mask, low, high);
    for (int step = 0; step < NBC_CSV_PROBES; step++) {
        const nbc_csv_slot *slot = cache->slots + place;
        if (nbc_csv_same(cache, slot, field, low, high))
            return slot->code;
        if (slot->high == 0)
            break;
        place = (place + 1) & cache->mask;
    }
    return NBC_CSV_NONE;
}

/* Keep a field; where all places for it are taken the first is given up. */
static void nbc_csv_put(nbc_csv_cache *cache, const nbc_csv_slot *kept)
{
    const uint64_t home = nbc_csv_home(cache->keys, cache->mask, kept->low, kept->high);
    uint64_t place = home;
    for (int step = 0; step < NBC_CSV_PROBES; step++) {
        if (cache->slots[place].high == 0) {
            cache->slots[place] = *kept;
            cache->n++;
            return;
        }
        place = (place + 1) & cache->mask;
    }
    cache->slots[home] = *kept;
}

/* Room for one field more, of which `longer` bytes are kept beside the slots; 0 where it is not kept. */
static int nbc_csv_make_room(nbc_csv_cache *cache, uint64_t longer)
{
    const uint64_t n_slots = cache->mask + 1;
    /* Memory that is never looked at costs nothing: in tables that are nearly empty hardly a field is displaced. */
    const uint64_t share = n_slots < 1 << 14 ? 16 : n_slots < 1 << 16 ? 8 : 2;
    const int full = (uint64_t)cache->n * (n_slots < cache->most_slots ? share : 2) >= n_slots;
    if (longer > NBC_CSV_MOST_RAW)
        return 0;
    if (cache->raw_used + longer + NBC_CSV_OVER > NBC_CSV_MOST_RAW || (full && n_slots >= cache->most_slots)) {
        /* So many values that most are not met again soon: what is kept stays bounded. */
        memset(cache->slots, 0, n_slots * sizeof *cache->slots);
        cache->n = 0;
        cache->raw_used = 0;
    } else if (full) {
        nbc_csv_slot *old = cache->slots, *slots = calloc(2 * n_slots, sizeof *slots);
        if (slots == NULL)
            return 0;
        cache->slots = slots;
        cache->mask = 2 * n_slots - 1;
        cache->n = 0;
        for (uint64_t place = 0; place < n_slots; place++)
            if (old[place].high)
                nbc_csv_put(cache, old + place);
        free(old);
    }
    if (cache->raw_used + longer + NBC_CSV_OVER > cache->raw_room) {
        const uint64_t room = 2 * cache->raw_room + longer + NBC_CSV_OVER;
        uint8_t *raw = realloc(cache->raw, room);
        if (raw == NULL)
            return 0;
        cache->raw = raw;
        cache->raw_room = room;
    }
    return 1;
}

/* Where the row begins that the error is in comes first, then the column in the file. */
static void nbc_csv_fail(nbc_csv_scanner *scanner, int status, uint32_t row, uint32_t column, uint32_t start,
                         uint32_t end)
{
    if (scanner->status != NBC_CSV_FINE && (scanner->bad_row < row
            || (scanner->bad_row == row && scanner->bad_start <= start)))
        return;
    scanner->status = status;
    scanner->bad_row = row;
    scanner->bad_column = column;
    scanner->bad_start = start;
    scanner->bad_end = end;
}

/* What a field says: its bytes in *value, with NBC_CSV_OVER more to read. */
static int nbc_csv_say(nbc_csv_scanner *scanner, const uint8_t *field, uint64_t n, nbc_csv_text *value)
{
    value->text = field;
    value->n = n;
    if (n == 0 || field[0] != '"')
        return NBC_CSV_FINE;
    if (n + NBC_CSV_OVER > scanner->scratch_room) {
        uint8_t *scratch = realloc(scanner->scratch, 2 * n + NBC_CSV_OVER);
        if (scratch == NULL)
            return NBC_CSV_MEMORY;
        memset(scratch, 0, 2 * n + NBC_CSV_OVER);
        scanner->scratch = scratch;
        scanner->scratch_room = 2 * n + NBC_CSV_OVER;
    }
    value->n = nbc_csv_unquote(field, n, scanner->scratch);
    value->text = scanner->scratch;
    return NBC_CSV_FINE;
}

static int nbc_csv_is_null(const nbc_csv_scanner *scanner, const nbc_csv_text *value)
{
    for (int64_t i = 0; i < scanner->n_nulls; i++)
        if (scanner->nulls[i].n == value->n
                && (value->n == 0 || memcmp(scanner->nulls[i].text, value->text, value->n) == 0))
            return 1;
    return 0;
}

/* The code of one field that the cache did not have when it was looked for. */
static uint32_t nbc_csv_meet(nbc_csv_scanner *scanner, nbc_csv_cache *cache, const uint8_t *field, uint32_t n,
                             int *status)
{
    nbc_csv_slot kept = {0, 0, NBC_CSV_NONE, 0};
    nbc_csv_text value;
    nbc_csv_key(cache->keys, field, n, &kept.low, &kept.high);
    kept.code = nbc_csv_look(cache, field, kept.low, kept.high);
    if (kept.code != NBC_CSV_NONE)  /* another row of these has brought it */
        return kept.code;
    *status = nbc_csv_say(scanner, field, n, &value);
    if (*status == NBC_CSV_FINE)
        *status = nbc_csv_check(value.text, value.n);
    if (*status != NBC_CSV_FINE)
        return 0;
    *status = nbc_csv_is_null(scanner, &value)
        ? nbc_csv_null_code(cache->values, &kept.code)
        : nbc_csv_value_code(cache->values, value.text, value.n, &kept.code);
    if (*status != NBC_CSV_FINE)
        return 0;
    const uint64_t longer = n > NBC_CSV_SHORT ? n : 0;
    if (nbc_csv_make_room(cache, longer)) {
        if (longer) {
            kept.at = (uint32_t)cache->raw_used;
            memcpy(cache->raw + cache->raw_used, field, longer);
            cache->raw_used += longer;
        }
        nbc_csv_put(cache, &kept);
    }
    return kept.code;
}

/* Codes of `width` bytes in the place of those of one half or a quarter, from the last one on. */
static void nbc_csv_widen(uint8_t *out, int64_t n, int width, int wider)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        uint32_t code = 0;
        if (width == 1)
            code = out[i];
        else {
            uint16_t half;
            memcpy(&half, out + 2 * i, sizeof half);
            code = half;
        }
        if (wider == 2) {
            const uint16_t half = (uint16_t)code;
            memcpy(out + 2 * i, &half, sizeof half);
        } else
            memcpy(out + 4 * i, &code, sizeof code);
    }
}

/* The codes of n rows from `start` on, as wide as `out` has them or narrower. */
static void nbc_csv_copy(const nbc_csv_cache *cache, int64_t start, int64_t n, uint8_t *out, int width)
{
    if (n)
        memcpy(out, cache->out + start * cache->width, (size_t)(n * cache->width));
    if (n && width > cache->width)
        nbc_csv_widen(out, n, cache->width, width);
}

/* Room for the codes of n rows more, so wide that the largest fits. */
static int nbc_csv_fit(nbc_csv_cache *cache, int64_t rows, int64_t n, uint32_t largest)
{
    const int width = largest < 1u << 8 ? 1 : largest < 1u << 16 ? 2 : 4;
    const int wider = width > cache->width ? width : cache->width;
    const int64_t need = (rows + n) * wider;
    if (need > cache->out_room) {
        const int64_t room = 2 * need;
        uint8_t *out = realloc(cache->out, (size_t)room);
        if (out == NULL)
            return NBC_CSV_MEMORY;
        cache->out = out;
        cache->out_room = room;
    }
    if (wider > cache->width) {
        nbc_csv_widen(cache->out, rows, cache->width, wider);
        cache->width = wider;
    }
    if (largest > cache->most)
        cache->most = largest;
    return NBC_CSV_FINE;
}

#endif
