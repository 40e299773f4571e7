/* Rows to (group, value) pairs with their counts, sorted by group and then by value.

   A row's key is its group in mixed radix, first column most significant, followed by its value. Three ways
   to the same sorted list of distinct keys: a dense table of counters, a radix sort of the keys and a count
   of its runs, or a hash table that is sorted at the end. Every way gives the same list. */
#ifndef NBCFAST_GROUPS_H
#define NBCFAST_GROUPS_H

#include <stdlib.h>
#include <string.h>
#include "shared/columns.h"

#define NBC_GROUP_BLOCK 2048
#define NBC_GROUP_AHEAD 24      /* keys between a prefetch and its use */
#define NBC_MOST_DIGITS 8       /* passes over 64 bits */
#define NBC_DIGIT_BITS 11       /* at most so many a pass: its counters and write streams stay in the caches */
#define NBC_OUT_OF_MEMORY (-2)

/* key = key * size + code over a run of codes; the result is the largest code met. */
#define NBC_JOIN(NAME, KEY, TYPE)                                                           \
    NBC_INLINE uint64_t nbc_join_##NAME(KEY *restrict keys, const char *at, ptrdiff_t stride, \
                                        KEY size, int64_t n)                                \
    {                                                                                       \
        TYPE most = 0;                                                                      \
        if (stride == (ptrdiff_t)sizeof(TYPE)) {                                            \
            const TYPE *restrict codes = (const TYPE *)at;                                  \
            for (int64_t i = 0; i < n; i++) {                                               \
                const TYPE code = codes[i];                                                 \
                most = code > most ? code : most;                                           \
                keys[i] = (KEY)(keys[i] * size + (KEY)code);                                \
            }                                                                               \
        } else {                                                                            \
            for (int64_t i = 0; i < n; i++) {                                               \
                const TYPE code = *(const TYPE *)(at + i * stride);                         \
                most = code > most ? code : most;                                           \
                keys[i] = (KEY)(keys[i] * size + (KEY)code);                                \
            }                                                                               \
        }                                                                                   \
        return most;                                                                        \
    }
NBC_JOIN(32_8, uint32_t, uint8_t)
NBC_JOIN(32_16, uint32_t, uint16_t)
NBC_JOIN(32_32, uint32_t, uint32_t)
NBC_JOIN(32_64, uint32_t, uint64_t)
NBC_JOIN(64_8, uint64_t, uint8_t)
NBC_JOIN(64_16, uint64_t, uint16_t)
NBC_JOIN(64_32, uint64_t, uint32_t)
NBC_JOIN(64_64, uint64_t, uint64_t)
#undef NBC_JOIN

/* The keys of n rows from `row` on. The last column is the value and takes `value_size` places, of which it
   may use fewer. Returns -1, or a column with a code out of range. */
#define NBC_KEYS(BITS)                                                                      \
    NBC_CLONED(int64_t, nbc_keys##BITS, (const nbc_column *columns, int64_t n_columns, int64_t value_size,          \
                                         uint##BITS##_t *restrict keys, int64_t row, int64_t n),                    \
               (columns, n_columns, value_size, keys, row, n))                                                      \
    {                                                                                       \
        for (int64_t start = 0; start < n; start += NBC_GROUP_BLOCK) {                      \
            const int64_t some = n - start < NBC_GROUP_BLOCK ? n - start : NBC_GROUP_BLOCK; \
            uint##BITS##_t *const part = keys + start;                                      \
            memset(part, 0, (size_t)some * sizeof *part);                                   \
            for (int64_t c = 0; c < n_columns; c++) {                                       \
                const nbc_column *column = columns + c;                                     \
                const char *at = column->data + (row + start) * column->stride;             \
                const uint##BITS##_t size =                                                 \
                    (uint##BITS##_t)(c == n_columns - 1 ? value_size : column->size);       \
                uint64_t most;                                                              \
                switch (column->width) {                                                    \
                case 1: most = nbc_join_##BITS##_8(part, at, column->stride, size, some); break; \
                case 2: most = nbc_join_##BITS##_16(part, at, column->stride, size, some); break; \
                case 4: most = nbc_join_##BITS##_32(part, at, column->stride, size, some); break; \
                default: most = nbc_join_##BITS##_64(part, at, column->stride, size, some); break; \
                }                                                                           \
                if (most >= (uint64_t)column->limit)                                        \
                    return c;                                                               \
            }                                                                               \
        }                                                                                   \
        return -1;                                                                          \
    }
NBC_KEYS(32)
NBC_KEYS(64)
#undef NBC_KEYS

/* Sorted distinct keys and how often each occurs. */
typedef struct {
    uint64_t *keys;
    int64_t *counts;
    int64_t size;
} nbc_run;

static void nbc_run_free(nbc_run *run)
{
    free(run->keys);
    free(run->counts);
    run->keys = NULL;
    run->counts = NULL;
    run->size = 0;
}

static int nbc_run_make(nbc_run *run, int64_t size)
{
    /* One place more than needed: a loop without branches writes it before it knows. */
    run->keys = (uint64_t *)malloc((size_t)(size + 1) * sizeof *run->keys);
    run->counts = (int64_t *)malloc((size_t)(size + 1) * sizeof *run->counts);
    run->size = size;
    if (run->keys && run->counts)
        return 0;
    nbc_run_free(run);
    return NBC_OUT_OF_MEMORY;
}

/* The union of two runs, counts of equal keys added: no branch depends on the keys. */
static int nbc_run_merge(const nbc_run *a, const nbc_run *b, nbc_run *out)
{
    int64_t i = 0, j = 0, n = 0;
    if (nbc_run_make(out, a->size + b->size))
        return NBC_OUT_OF_MEMORY;
    while (i < a->size && j < b->size) {
        const uint64_t x = a->keys[i], y = b->keys[j];
        const int64_t left = x <= y, right = y <= x;
        out->keys[n] = left ? x : y;
        out->counts[n++] = (a->counts[i] & -left) + (b->counts[j] & -right);
        i += left;
        j += right;
    }
    memcpy(out->keys + n, a->keys + i, (size_t)(a->size - i) * sizeof *out->keys);
    memcpy(out->counts + n, a->counts + i, (size_t)(a->size - i) * sizeof *out->counts);
    n += a->size - i;
    memcpy(out->keys + n, b->keys + j, (size_t)(b->size - j) * sizeof *out->keys);
    memcpy(out->counts + n, b->counts + j, (size_t)(b->size - j) * sizeof *out->counts);
    n += b->size - j;
    out->size = n;
    return 0;
}

/* Least significant digit first; the sorted keys are in the array that is returned. */
#define NBC_RADIX(BITS)                                                                     \
    NBC_CLONED(uint##BITS##_t *, nbc_radix##BITS, (uint##BITS##_t *from, uint##BITS##_t *to, int64_t n,             \
                                                   int bits),                                                       \
               (from, to, n, bits))                                                                                 \
    {                                                                                       \
        int64_t places[NBC_MOST_DIGITS][1 << NBC_DIGIT_BITS];                               \
        int passes = (bits + NBC_DIGIT_BITS - 1) / NBC_DIGIT_BITS;                          \
        if (passes < 1)                                                                     \
            return from;                                                                    \
        const int width = (bits + passes - 1) / passes;                                     \
        const uint##BITS##_t mask = ((uint##BITS##_t)1 << width) - 1;                       \
        for (int p = 0; p < passes; p++)                                                    \
            memset(places[p], 0, sizeof(int64_t) << width);                                 \
        for (int64_t i = 0; i < n; i++)                                                     \
            for (int p = 0; p < passes; p++)                                                \
                places[p][(from[i] >> (p * width)) & mask]++;                               \
        for (int p = 0; p < passes; p++) {                                                  \
            const int shift = p * width;                                                    \
            int64_t *place = places[p], sum = 0;                                            \
            if (n && place[(from[0] >> shift) & mask] == n)                                 \
                continue;                                                                   \
            for (int64_t d = 0; d <= (int64_t)mask; d++) {                                  \
                const int64_t count = place[d];                                             \
                place[d] = sum;                                                             \
                sum += count;                                                               \
            }                                                                               \
            for (int64_t i = 0; i < n; i++) {                                               \
                const uint##BITS##_t key = from[i];                                         \
                to[place[(key >> shift) & mask]++] = key;                                   \
            }                                                                               \
            uint##BITS##_t *swap = from;                                                    \
            from = to;                                                                      \
            to = swap;                                                                      \
        }                                                                                   \
        return from;                                                                        \
    }                                                                                       \
    /* The runs of equal keys among sorted ones. `ends` has n + 1 places. */                \
    NBC_CLONED(int, nbc_runs##BITS, (const uint##BITS##_t *restrict keys, int64_t n, nbc_run *out),                 \
               (keys, n, out))                                                                                      \
    {                                                                                       \
        int64_t size = n > 0, j = 0, last = 0;                                              \
        for (int64_t i = 1; i < n; i++)                                                     \
            size += keys[i] != keys[i - 1];                                                 \
        if (nbc_run_make(out, size))                                                        \
            return NBC_OUT_OF_MEMORY;                                                       \
        uint64_t *restrict to = out->keys;                                                  \
        int64_t *restrict counts = out->counts;                                             \
        for (int64_t i = 0; i + 1 < n; i++) {                                               \
            to[j] = keys[i];                                                                \
            counts[j] = i + 1;                                                              \
            j += keys[i] != keys[i + 1];                                                    \
        }                                                                                   \
        if (n) {                                                                            \
            to[j] = keys[n - 1];                                                            \
            counts[j] = n;                                                                  \
        }                                                                                   \
        for (int64_t i = 0; i < size; i++) {                                                \
            const int64_t end = counts[i];                                                  \
            counts[i] = end - last;                                                         \
            last = end;                                                                     \
        }                                                                                   \
        return 0;                                                                           \
    }
NBC_RADIX(32)
NBC_RADIX(64)
#undef NBC_RADIX

/* The same for keys that carry a count; both pairs of arrays are overwritten, the sorted ones are in `run`. */
static int nbc_sort_run(nbc_run *run, int bits)
{
    int64_t places[1 << NBC_DIGIT_BITS];
    nbc_run other;
    const int64_t n = run->size, mask = (1 << NBC_DIGIT_BITS) - 1;
    if (n < 2)
        return 0;
    if (nbc_run_make(&other, n))
        return NBC_OUT_OF_MEMORY;
    for (int shift = 0; shift < bits; shift += NBC_DIGIT_BITS) {
        int64_t sum = 0;
        nbc_run swap;
        memset(places, 0, sizeof places);
        for (int64_t i = 0; i < n; i++)
            places[(run->keys[i] >> shift) & mask]++;
        if (places[(run->keys[0] >> shift) & mask] == n)
            continue;
        for (int64_t d = 0; d <= mask; d++) {
            const int64_t count = places[d];
            places[d] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = places[(run->keys[i] >> shift) & mask]++;
            other.keys[place] = run->keys[i];
            other.counts[place] = run->counts[i];
        }
        swap = *run;
        *run = other;
        other = swap;
    }
    nbc_run_free(&other);
    return 0;
}

/* Open addressing from keys to counts; a count of 0 marks a free slot, at most half are taken. */
typedef struct {
    uint64_t key;
    int64_t count;
} nbc_slot;

typedef struct {
    nbc_slot *slots;
    uint64_t mask;
    int64_t taken;
} nbc_hash;

NBC_INLINE uint64_t nbc_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static int nbc_hash_grow(nbc_hash *hash, uint64_t n_slots)
{
    nbc_slot *slots = (nbc_slot *)calloc((size_t)n_slots, sizeof *slots);
    if (!slots)
        return NBC_OUT_OF_MEMORY;
    if (hash->slots)
        for (uint64_t i = 0; i <= hash->mask; i++)
            if (hash->slots[i].count) {
                uint64_t place = nbc_mix(hash->slots[i].key) & (n_slots - 1);
                while (slots[place].count)
                    place = (place + 1) & (n_slots - 1);
                slots[place] = hash->slots[i];
            }
    free(hash->slots);
    hash->slots = slots;
    hash->mask = n_slots - 1;
    return 0;
}

/* Count n keys, each once or with its weight (at least 1). */
static int nbc_hash_add(nbc_hash *hash, const uint64_t *restrict keys, const int64_t *restrict weights,
                        int64_t n)
{
    for (int64_t start = 0; start < n; start += NBC_GROUP_BLOCK) {
        const int64_t stop = n - start < NBC_GROUP_BLOCK ? n : start + NBC_GROUP_BLOCK;
        /* Room for a whole block, so that its loop does not ask. */
        while ((uint64_t)(hash->taken + NBC_GROUP_BLOCK) * 2 > hash->mask)
            if (nbc_hash_grow(hash, (hash->mask + 1) * 2))
                return NBC_OUT_OF_MEMORY;
        const uint64_t mask = hash->mask;
        nbc_slot *slots = hash->slots;
        for (int64_t i = start; i < stop; i++) {
            const uint64_t key = keys[i];
            uint64_t place = nbc_mix(key) & mask;
            if (i + NBC_GROUP_AHEAD < stop)
                NBC_PREFETCH(slots + (nbc_mix(keys[i + NBC_GROUP_AHEAD]) & mask));
            while (slots[place].count && slots[place].key != key)
                place = (place + 1) & mask;
            hash->taken += !slots[place].count;
            slots[place].key = key;
            slots[place].count += weights ? weights[i] : 1;
        }
    }
    return 0;
}

static int nbc_hash_run(const nbc_hash *hash, nbc_run *out, int bits)
{
    int64_t j = 0;
    if (nbc_run_make(out, hash->taken))
        return NBC_OUT_OF_MEMORY;
    for (uint64_t i = 0; hash->slots && i <= hash->mask; i++) {
        out->keys[j] = hash->slots[i].key;
        out->counts[j] = hash->slots[i].count;
        j += hash->slots[i].count != 0;
    }
    if (nbc_sort_run(out, bits)) {
        nbc_run_free(out);
        return NBC_OUT_OF_MEMORY;
    }
    return 0;
}

/* Two tables where there is room, so that equal keys in a row do not wait for each other's stores. */
NBC_INLINE void nbc_dense_add(uint32_t *even, uint32_t *odd, const uint32_t *keys, int64_t n)
{
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
        even[keys[i]]++;
        odd[keys[i + 1]]++;
    }
    if (i < n)
        even[keys[i]]++;
}

/* How many cells are not 0, and how many groups (of `size` neighbouring cells) have such a one. */
NBC_CLONED(int64_t, nbc_dense_size, (const uint32_t *restrict table, int64_t n_groups, int64_t size, int64_t *groups),
           (table, n_groups, size, groups))
{
    int64_t pairs = 0, found = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        int32_t some = 0;
        for (int64_t v = 0; v < size; v++)
            some += table[g * size + v] != 0;
        pairs += some;
        found += some != 0;
    }
    *groups = found;
    return pairs;
}

/* The arrays of a Groups. All have one place more than there are pairs or groups. */
static void nbc_dense_out(const uint32_t *restrict table, int64_t n_groups, int64_t size,
                          int64_t *restrict offsets, uint32_t *restrict values, int64_t *restrict counts,
                          int64_t *restrict sizes, uint64_t *restrict keys)
{
    int64_t j = 0, found = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        int64_t total = 0;
        offsets[found] = j;
        for (int64_t v = 0; v < size; v++) {
            const uint32_t count = table[g * size + v];
            values[j] = (uint32_t)v;
            counts[j] = count;
            total += count;
            j += count != 0;
        }
        sizes[found] = total;
        keys[found] = (uint64_t)g;
        found += total != 0;
    }
    offsets[found] = j;
}

static int64_t nbc_run_groups(const nbc_run *run, int value_bits)
{
    int64_t found = run->size > 0;
    for (int64_t i = 1; i < run->size; i++)
        found += (run->keys[i] >> value_bits) != (run->keys[i - 1] >> value_bits);
    return found;
}

static void nbc_run_out(const nbc_run *run, int value_bits, int64_t *restrict offsets,
                        uint32_t *restrict values, int64_t *restrict counts, int64_t *restrict sizes,
                        uint64_t *restrict keys)
{
    const uint64_t mask = ((uint64_t)1 << value_bits) - 1;
    int64_t found = 0, total = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < run->size; i++) {
        const uint64_t group = run->keys[i] >> value_bits;
        const int64_t ends = i + 1 == run->size || (run->keys[i + 1] >> value_bits) != group;
        values[i] = (uint32_t)(run->keys[i] & mask);
        counts[i] = run->counts[i];
        total += run->counts[i];
        sizes[found] = total;
        keys[found] = group;
        offsets[found + 1] = i + 1;
        found += ends;
        total &= ends - 1;
    }
}

#endif
