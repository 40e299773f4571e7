/* Texts of UTF-8 to codes in the order they are first met: open addressing, and what is found is compared whole. */
#ifndef NBCFAST_TEXTS_H
#define NBCFAST_TEXTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/lanes.h"
#include "shared/lists.h"

#define NBC_TEXT_EMPTY UINT32_MAX /* no code: at most 2^32 - 1 distinct texts */
#define NBC_TEXT_SHORT 24         /* bytes that stand in a slot themselves */
#define NBC_TEXT_SLOTS 1024       /* at first */

enum { NBC_TEXT_NO_MEMORY = -2, NBC_TEXT_TOO_MANY = -3, NBC_TEXT_NOT_UTF8 = -4 };

/* A short text: its first eight bytes, its last eight where it has more, the second eight where it has more than
   sixteen, and how many it has. A long one: a hash, how many bytes it has, and where it begins. */
typedef struct { uint64_t first, last, middle; uint32_t n_bytes, code; } nbc_text_slot;

#define NBC_TEXT_LONG (UINT32_MAX - 1) /* in place of n_bytes */

NBC_GROW(nbc_text_bytes, uint8_t)
NBC_GROW(nbc_text_ends, int64_t)

typedef struct {
    nbc_text_slot *slots;
    uint64_t mask, seed; /* drawn anew for each table: nobody can choose texts that meet in one place */
    int64_t n;           /* distinct texts, and null; at most half of the slots are taken */
    int64_t null_code;   /* -1: none was met */
    nbc_text_bytes bytes; /* of all of them, one after another */
    nbc_text_ends ends;
} nbc_texts;

static int nbc_texts_begin(nbc_texts *texts, uint64_t seed)
{
    memset(texts, 0, sizeof *texts);
    texts->seed = seed;
    texts->mask = NBC_TEXT_SLOTS - 1;
    texts->null_code = -1;
    texts->slots = (nbc_text_slot *)malloc(NBC_TEXT_SLOTS * sizeof(nbc_text_slot));
    if (texts->slots == NULL)
        return NBC_TEXT_NO_MEMORY;
    memset(texts->slots, 0xFF, NBC_TEXT_SLOTS * sizeof(nbc_text_slot));
    return 0;
}

static void nbc_texts_end(nbc_texts *texts)
{
    free(texts->slots);
    free(texts->bytes.at);
    free(texts->ends.at);
    memset(texts, 0, sizeof *texts);
}

NBC_INLINE uint64_t nbc_text_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Both halves of the product of two words, put together: every bit of either reaches every bit of it. */
NBC_INLINE uint64_t nbc_text_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

NBC_INLINE uint64_t nbc_text_hash(const nbc_text_slot *one, uint64_t seed)
{
    uint64_t ends = nbc_text_fold(one->first ^ seed, (one->last + one->n_bytes) ^ (seed >> 32 | seed << 32));
    uint64_t middle = one->middle * (seed | 1); /* few texts are so long that they have one */
    return ends ^ middle ^ middle >> 32;
}

static uint64_t nbc_text_long_hash(const uint8_t *at, int64_t n_bytes, uint64_t seed)
{
    uint64_t hash = seed ^ (uint64_t)n_bytes;
    for (int64_t i = 0; i + 16 < n_bytes; i += 16)
        hash = nbc_text_fold(nbc_text_word(at + i) ^ hash, nbc_text_word(at + i + 8) ^ seed);
    /* The last sixteen bytes, of which some may stand in the words before. */
    at += n_bytes - 16;
    return nbc_text_fold(nbc_text_word(at) ^ hash, nbc_text_word(at + 8) ^ seed);
}

/* Whether bytes are UTF-8 as Python decodes it: nothing longer than need be, no surrogates, nothing above U+10FFFF. */
static int nbc_is_utf8(const uint8_t *at, int64_t n_bytes)
{
    int64_t i = 0;
    while (i < n_bytes) {
        uint8_t byte = at[i];
        if (byte < 0x80) {
            i += 1;
            continue;
        }
        int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
        if (byte < 0xC2 || byte > 0xF4 || i + more >= n_bytes)
            return 0;
        uint8_t low = 0x80, high = 0xBF;
        if (byte == 0xE0)
            low = 0xA0;
        else if (byte == 0xED)
            high = 0x9F;
        else if (byte == 0xF0)
            low = 0x90;
        else if (byte == 0xF4)
            high = 0x8F;
        if (at[i + 1] < low || at[i + 1] > high)
            return 0;
        for (int j = 2; j <= more; j++)
            if (at[i + j] < 0x80 || at[i + j] > 0xBF)
                return 0;
        i += more + 1;
    }
    return 1;
}

static int nbc_texts_grow(nbc_texts *texts)
{
    uint64_t n_slots = 2 * (texts->mask + 1), mask = n_slots - 1;
    if (n_slots > SIZE_MAX / sizeof(nbc_text_slot))
        return NBC_TEXT_NO_MEMORY;
    nbc_text_slot *slots = (nbc_text_slot *)malloc(n_slots * sizeof(nbc_text_slot));
    if (slots == NULL)
        return NBC_TEXT_NO_MEMORY;
    memset(slots, 0xFF, n_slots * sizeof(nbc_text_slot));
    for (uint64_t old = 0; old <= texts->mask; old++) {
        const nbc_text_slot *one = texts->slots + old;
        if (one->code == NBC_TEXT_EMPTY)
            continue;
        uint64_t place = nbc_text_hash(one, texts->seed) & mask;
        while (slots[place].code != NBC_TEXT_EMPTY)
            place = (place + 1) & mask;
        slots[place] = *one;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->mask = mask;
    return 0;
}

/* Room for one more code and so many bytes; negative: why there is none. */
static int nbc_texts_room(nbc_texts *texts, int64_t n_bytes)
{
    if (texts->n >= NBC_TEXT_EMPTY)
        return NBC_TEXT_TOO_MANY;
    if (nbc_text_bytes_more(&texts->bytes, n_bytes) < 0 || nbc_text_ends_more(&texts->ends, 1) < 0)
        return NBC_TEXT_NO_MEMORY;
    if (2 * (uint64_t)(texts->n + 1) > texts->mask + 1 && nbc_texts_grow(texts) < 0)
        return NBC_TEXT_NO_MEMORY;
    return 0;
}

/* The code of null, which has no bytes and no slot. */
static int64_t nbc_texts_null(nbc_texts *texts)
{
    if (texts->null_code < 0) {
        int status = nbc_texts_room(texts, 0);
        if (status < 0)
            return status;
        texts->ends.at[texts->ends.n++] = texts->bytes.n;
        texts->null_code = texts->n++;
    }
    return texts->null_code;
}

/* The code of a text that is not there yet, which gets the next one; negative: why not. */
static int64_t nbc_texts_add(nbc_texts *texts, const uint8_t *at, int64_t n_bytes, nbc_text_slot *new)
{
    int status = nbc_texts_room(texts, n_bytes);
    if (status < 0)
        return status;
    /* What is kept is looked at, and not what others may change meanwhile. */
    uint8_t *kept = texts->bytes.at + texts->bytes.n;
    if (n_bytes)
        memcpy(kept, at, (size_t)n_bytes);
    if (!nbc_is_utf8(kept, n_bytes))
        return NBC_TEXT_NOT_UTF8;
    uint64_t place = nbc_text_hash(new, texts->seed) & texts->mask;
    while (texts->slots[place].code != NBC_TEXT_EMPTY)
        place = (place + 1) & texts->mask;
    new->code = (uint32_t)texts->n;
    texts->slots[place] = *new;
    texts->bytes.n += n_bytes;
    texts->ends.at[texts->ends.n++] = texts->bytes.n;
    return texts->n++;
}

/* Where a long text begins is not in its hash: equal ones are found by their bytes. */
static int64_t nbc_texts_long(nbc_texts *texts, const uint8_t *at, int64_t n_bytes)
{
    nbc_text_slot new = {nbc_text_long_hash(at, n_bytes, texts->seed), (uint64_t)n_bytes, 0, NBC_TEXT_LONG, 0};
    uint64_t place = nbc_text_hash(&new, texts->seed) & texts->mask;
    for (; texts->slots[place].code != NBC_TEXT_EMPTY; place = (place + 1) & texts->mask) {
        const nbc_text_slot *one = texts->slots + place;
        if (one->first == new.first && one->last == new.last && one->n_bytes == NBC_TEXT_LONG) {
            int64_t begin = one->code ? texts->ends.at[one->code - 1] : 0;
            if (memcmp(texts->bytes.at + begin, at, (size_t)n_bytes) == 0)
                return one->code;
        }
    }
    return nbc_texts_add(texts, at, n_bytes, &new);
}

/* Which bits of its words a text of so many bytes has, and where its last word begins. */
typedef struct { uint64_t first, last, middle; int64_t at; } nbc_text_masks;

#define NBC_TEXT_ALL UINT64_MAX
static const nbc_text_masks NBC_TEXT_MASKS[NBC_TEXT_SHORT + 1] = {
    {UINT64_C(0x0), 0, 0, 0},
    {UINT64_C(0xFF), 0, 0, 0},
    {UINT64_C(0xFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFFFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), 0, 0, 0},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 1},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 2},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 3},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 4},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 5},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 6},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 7},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, 0, 8},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 9},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 10},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 11},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 12},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 13},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 14},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 15},
    {UINT64_C(0xFFFFFFFFFFFFFFFF), NBC_TEXT_ALL, NBC_TEXT_ALL, 16},
};

/* The code of a text; `readable` bytes may be read from where it begins, as many as it has or more. */
NBC_INLINE int64_t nbc_texts_code(nbc_texts *texts, const uint8_t *at, int64_t n_bytes, int64_t readable)
{
    uint8_t copy[NBC_TEXT_SHORT];
    const uint8_t *from = at;
    if (n_bytes > NBC_TEXT_SHORT)
        return nbc_texts_long(texts, at, n_bytes);
    if (readable < NBC_TEXT_SHORT) {
        memset(copy, 0, sizeof copy);
        if (n_bytes)
            memcpy(copy, at, (size_t)n_bytes);
        from = copy;
    }
    /* By masks and not by branches: how long the next text is nobody can guess. */
    const nbc_text_masks *masks = NBC_TEXT_MASKS + n_bytes;
    nbc_text_slot new = {nbc_text_word(from) & masks->first, nbc_text_word(from + masks->at) & masks->last,
                         nbc_text_word(from + 8) & masks->middle, (uint32_t)n_bytes, 0};
    uint64_t place = nbc_text_hash(&new, texts->seed) & texts->mask;
    for (;;) {
        const nbc_text_slot *one = texts->slots + place;
        if (one->first == new.first && one->last == new.last && one->middle == new.middle &&
            one->n_bytes == new.n_bytes)
            return one->code;
        if (one->code == NBC_TEXT_EMPTY)
            break;
        place = (place + 1) & texts->mask;
    }
    return nbc_texts_add(texts, at, n_bytes, &new);
}

/* An offset of an Arrow array, read once: what is used is what was looked at. */
NBC_INLINE int64_t nbc_text_offset_32(const int32_t *at) { return NBC_ONCE(int32_t, at); }
NBC_INLINE int64_t nbc_text_offset_64(const int64_t *at) { return NBC_ONCE(int64_t, at); }

#endif
