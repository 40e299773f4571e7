/* The distinct values of a column, which all threads share: a code each, in the order they are first met.

   Hashes are keyed by two random words, so nobody can choose fields that meet in one slot; should a chain grow
   long all the same, the keys are changed. A lock is held by whoever looks for a value that his own cache
   (fields.h) does not have. */
#ifndef NBCFAST_CSV_VALUES_H
#define NBCFAST_CSV_VALUES_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/lanes.h"
#include "shared/wide.h"

#define NBC_CSV_OVER 16           /* bytes behind a text that are read with it */
#define NBC_CSV_LONGEST_CHAIN 256
#define NBC_CSV_MOST_VALUES 0xFFFFFFF0u
#define NBC_CSV_NONE 0xFFFFFFFFu  /* no code */

enum {
    NBC_CSV_FINE = 0,
    NBC_CSV_RAGGED = 1,
    NBC_CSV_NUL = 2,
    NBC_CSV_NO_UTF8 = 3,
    NBC_CSV_MEMORY = 4,
    NBC_CSV_TOO_MANY = 5
};

/* The low bytes of two words that belong to a field of so many bytes. */
static const uint64_t nbc_csv_low[17] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~(uint64_t)0,
    ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0};
static const uint64_t nbc_csv_high[17] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
    ~(uint64_t)0};

/* Eight bytes, of which the first is the lowest. */
NBC_INLINE uint64_t nbc_csv_word(const uint8_t *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Both halves of a product: every bit of either word reaches the result. */
NBC_INLINE uint64_t nbc_csv_mix(uint64_t a, uint64_t b)
{
    const nbc_u128 product = (nbc_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A keyed hash of n bytes; NBC_CSV_OVER more are read. */
NBC_INLINE uint64_t nbc_csv_hash(const uint8_t *text, uint64_t n, const uint64_t keys[2])
{
    uint64_t hash = keys[0] ^ (n * 0x9E3779B97F4A7C15u);
    while (n > 16) {
        hash = nbc_csv_mix(nbc_csv_word(text) ^ keys[1], nbc_csv_word(text + 8) ^ hash);
        text += 16;
        n -= 16;
    }
    hash = nbc_csv_mix((nbc_csv_word(text) & nbc_csv_low[n]) ^ keys[1],
                       (nbc_csv_word(text + 8) & nbc_csv_high[n]) ^ hash);
    return nbc_csv_mix(hash ^ keys[0], 0xD6E8FEB86659FD93u);
}

typedef struct {
    PyThread_type_lock lock;
    uint64_t keys[2];
    uint32_t *slots;         /* code + 1; 0 is free */
    uint64_t mask;
    uint64_t *hashes;        /* by code */
    uint64_t *ends;          /* by code: where its text ends in `bytes`; it begins where the one before ends */
    uint8_t *bytes;
    uint64_t bytes_room;
    int64_t n, room;
    int64_t null;            /* the code of a null, or -1 */
} nbc_csv_values;

NBC_INLINE uint64_t nbc_csv_begin(const nbc_csv_values *values, int64_t code)
{
    return code ? values->ends[code - 1] : 0;
}

static void nbc_csv_drop_values(nbc_csv_values *values)
{
    free(values->slots);
    free(values->hashes);
    free(values->ends);
    free(values->bytes);
    if (values->lock != NULL)
        PyThread_free_lock(values->lock);
    memset(values, 0, sizeof *values);
}

static int nbc_csv_make_values(nbc_csv_values *values, uint64_t key, uint64_t other)
{
    memset(values, 0, sizeof *values);
    values->lock = PyThread_allocate_lock();
    values->keys[0] = key;
    values->keys[1] = other;
    values->null = -1;
    values->room = 32;
    values->mask = 63;
    values->bytes_room = 512;
    values->slots = calloc(64, sizeof *values->slots);
    values->hashes = malloc(32 * sizeof *values->hashes);
    values->ends = malloc(32 * sizeof *values->ends);
    values->bytes = calloc(512, 1);
    if (values->lock == NULL || values->slots == NULL || values->hashes == NULL || values->ends == NULL
            || values->bytes == NULL) {
        nbc_csv_drop_values(values);
        return NBC_CSV_MEMORY;
    }
    return NBC_CSV_FINE;
}

/* Put every code where its hash belongs, in as many slots as there are. */
static void nbc_csv_place_all(nbc_csv_values *values)
{
    memset(values->slots, 0, (size_t)(values->mask + 1) * sizeof *values->slots);
    for (int64_t code = 0; code < values->n; code++) {
        if (code == values->null)
            continue;
        uint64_t place = values->hashes[code] & values->mask;
        while (values->slots[place])
            place = (place + 1) & values->mask;
        values->slots[place] = (uint32_t)code + 1;
    }
}

/* Twice the room; half of the slots at most are taken. */
static int nbc_csv_grow_values(nbc_csv_values *values)
{
    const size_t room = 2 * (size_t)values->room;
    uint64_t *hashes = realloc(values->hashes, room * sizeof *hashes), *ends;
    uint32_t *slots;
    if (hashes == NULL)
        return NBC_CSV_MEMORY;
    values->hashes = hashes;
    ends = realloc(values->ends, room * sizeof *ends);
    if (ends == NULL)
        return NBC_CSV_MEMORY;
    values->ends = ends;
    slots = malloc(2 * room * sizeof *slots);
    if (slots == NULL)
        return NBC_CSV_MEMORY;
    free(values->slots);
    values->slots = slots;
    values->mask = 2 * room - 1;
    values->room = (int64_t)room;
    nbc_csv_place_all(values);
    return NBC_CSV_FINE;
}

/* Other keys, for which chains are short again. */
static void nbc_csv_change_keys(nbc_csv_values *values)
{
    values->keys[0] = nbc_csv_mix(values->keys[0] ^ values->keys[1], 0x9E3779B97F4A7C15u) | 1;
    values->keys[1] = nbc_csv_mix(values->keys[1] + values->keys[0], 0xD6E8FEB86659FD93u) | 1;
    for (int64_t code = 0; code < values->n; code++) {
        const uint64_t begin = nbc_csv_begin(values, code);
        values->hashes[code] = nbc_csv_hash(values->bytes + begin, values->ends[code] - begin, values->keys);
    }
    nbc_csv_place_all(values);
}

/* A new code, whose text is n bytes. */
static int nbc_csv_append(nbc_csv_values *values, const uint8_t *text, uint64_t n, uint64_t hash, uint32_t *code)
{
    const uint64_t used = values->n ? values->ends[values->n - 1] : 0;
    int status;
    if (values->n >= NBC_CSV_MOST_VALUES)
        return NBC_CSV_TOO_MANY;
    if (values->n == values->room && (status = nbc_csv_grow_values(values)) != NBC_CSV_FINE)
        return status;
    if (used + n + NBC_CSV_OVER > values->bytes_room) {
        const uint64_t room = 2 * values->bytes_room + n + NBC_CSV_OVER;
        uint8_t *bytes = realloc(values->bytes, room);
        if (bytes == NULL)
            return NBC_CSV_MEMORY;
        memset(bytes + values->bytes_room, 0, room - values->bytes_room);
        values->bytes = bytes;
        values->bytes_room = room;
    }
    if (n)
        memcpy(values->bytes + used, text, n);
    values->ends[values->n] = used + n;
    values->hashes[values->n] = hash;
    *code = (uint32_t)values->n++;
    return NBC_CSV_FINE;
}

/* The code of a null; with the lock held. */
static int nbc_csv_null_code(nbc_csv_values *values, uint32_t *code)
{
    int status = NBC_CSV_FINE;
    if (values->null < 0) {
        status = nbc_csv_append(values, NULL, 0, 0, code);
        if (status == NBC_CSV_FINE)
            values->null = *code;
    }
    *code = (uint32_t)values->null;
    return status;
}

/* The code of a value of n bytes (NBC_CSV_OVER more can be read); with the lock held. */
static int nbc_csv_value_code(nbc_csv_values *values, const uint8_t *text, uint64_t n, uint32_t *code)
{
    uint64_t hash = nbc_csv_hash(text, n, values->keys), place = hash & values->mask;
    uint32_t found, steps = 0;
    int status;
    while ((found = values->slots[place]) != 0) {
        const uint64_t begin = nbc_csv_begin(values, found - 1);
        if (values->hashes[found - 1] == hash && values->ends[found - 1] - begin == n
                && memcmp(values->bytes + begin, text, n) == 0) {
            *code = found - 1;
            return NBC_CSV_FINE;
        }
        place = (place + 1) & values->mask;
        steps++;
    }
    if (steps > NBC_CSV_LONGEST_CHAIN) {
        nbc_csv_change_keys(values);
        hash = nbc_csv_hash(text, n, values->keys);
    }
    status = nbc_csv_append(values, text, n, hash, code);
    if (status != NBC_CSV_FINE)
        return status;
    place = hash & values->mask;
    while (values->slots[place] && values->slots[place] != *code + 1)  /* growing has put it there already */
        place = (place + 1) & values->mask;
    values->slots[place] = *code + 1;
    return NBC_CSV_FINE;
}

/* How many of n bytes are one letter of UTF-8; 0 where they begin none. */
static uint64_t nbc_csv_letter(const uint8_t *text, uint64_t n)
{
    const uint8_t first = text[0];
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return n >= 2 && (text[1] & 0xC0) == 0x80 ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (n < 3 || (text[1] & 0xC0) != 0x80 || (text[2] & 0xC0) != 0x80)
            return 0;
        if ((first == 0xE0 && text[1] < 0xA0) || (first == 0xED && text[1] > 0x9F))
            return 0;  /* longer than need be; half of a pair */
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (n < 4 || (text[1] & 0xC0) != 0x80 || (text[2] & 0xC0) != 0x80 || (text[3] & 0xC0) != 0x80)
            return 0;
        if ((first == 0xF0 && text[1] < 0x90) || (first == 0xF4 && text[1] > 0x8F))
            return 0;
        return 4;
    }
    return 0;
}

/* Whether n bytes are UTF-8 without a NUL. */
static int nbc_csv_check(const uint8_t *text, uint64_t n)
{
    uint64_t at = 0;
    while (at < n) {
        if (at + 8 <= n) {
            const uint64_t word = nbc_csv_word(text + at);
            /* Neither a high bit nor a zero byte in it: eight letters of ASCII. */
            if (((word | (word - 0x0101010101010101u)) & 0x8080808080808080u) == 0) {
                at += 8;
                continue;
            }
        }
        const uint64_t size = nbc_csv_letter(text + at, n - at);
        if (size == 0)
            return NBC_CSV_NO_UTF8;
        if (text[at] == 0)
            return NBC_CSV_NUL;
        at += size;
    }
    return NBC_CSV_FINE;
}

/* What a field that begins with a quote says, into `out`; its length. */
static uint64_t nbc_csv_unquote(const uint8_t *raw, uint64_t n, uint8_t *out)
{
    uint64_t at = 1, size = 0;
    while (at < n) {
        if (raw[at] == '"') {
            if (at + 1 < n && raw[at + 1] == '"')
                at++;
            else {
                at++;
                break;
            }
        }
        out[size++] = raw[at++];
    }
    /* What comes after the closing quote belongs to the field as it is. */
    while (at < n)
        out[size++] = raw[at++];
    return size;
}

#endif
