/* Column chunks of Parquet files whose pages are codes of a dictionary: pages are found, decompressed, and unpacked.

   Bytes come from outside: every size is compared with what is left before it is used. Whatever is not understood is
   refused, and read by somebody else. */
#ifndef NBCFAST_PARQUET_H
#define NBCFAST_PARQUET_H

#include <stdint.h>
#include <string.h>
#include "shared/lanes.h"

enum { NBC_DATA = 0, NBC_DICTIONARY = 2, NBC_DATA_2 = 3 };            /* types of pages */
enum { NBC_PLAIN = 0, NBC_PLAIN_DICTIONARY = 2, NBC_RLE = 3, NBC_RLE_DICTIONARY = 8 }; /* encodings */
enum { NBC_FIELDS = 16, NBC_DEPTH = 8 };
#define NBC_MOST_RUN ((uint64_t)1 << 40) /* so that eight times as many are still a number */

typedef struct {
    const uint8_t *at, *end;
} nbc_bytes;

/* The integers and booleans of a struct, by the number of their field. */
typedef struct {
    int64_t value[NBC_FIELDS];
    uint32_t seen;
} nbc_fields;

typedef struct {
    int64_t type, raw, stored, n_values, encoding; /* stored: bytes after the header */
    int64_t level_bytes;                           /* of a page of version 2, before the codes */
    int is_stored_raw;
} nbc_page;

typedef struct {
    int64_t dictionary, stored, raw, n_values; /* where the page of the dictionary has its bytes, and how many */
    int64_t most_raw, n_rows;
} nbc_chunk;

static int nbc_number(nbc_bytes *from, uint64_t *number)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (from->at == from->end)
            return -1;
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = value;
            return 0;
        }
    }
    return -1;
}

static int nbc_signed(nbc_bytes *from, int64_t *number)
{
    uint64_t value;
    if (nbc_number(from, &value))
        return -1;
    *number = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    return 0;
}

static int nbc_pass(nbc_bytes *from, uint64_t n)
{
    if (n > (uint64_t)(from->end - from->at))
        return -1;
    from->at += n;
    return 0;
}

static int nbc_struct(nbc_bytes *from, nbc_fields *fields, nbc_fields *inner, int depth);

/* Pass a value of Thrift's compact protocol. */
static int nbc_pass_value(nbc_bytes *from, int type, int depth)
{
    uint64_t n;
    switch (type) {
    case 3: return nbc_pass(from, 1);
    case 4: case 5: case 6: return nbc_number(from, &n);
    case 7: return nbc_pass(from, 8);
    case 8: return nbc_number(from, &n) || nbc_pass(from, n) ? -1 : 0;
    case 12: return nbc_struct(from, NULL, NULL, depth + 1);
    default: return -1; /* lists and maps are in no header of a page */
    }
}

/* A struct; `inner` has room for those in the fields 5, 7 and 8 of it, in this order. */
static int nbc_struct(nbc_bytes *from, nbc_fields *fields, nbc_fields *inner, int depth)
{
    int64_t field = 0;
    if (depth > NBC_DEPTH)
        return -1;
    for (;;) {
        if (from->at == from->end)
            return -1;
        uint8_t byte = *from->at++;
        int type = byte & 15;
        int64_t value;
        if (byte == 0)
            return 0;
        if (byte >> 4)
            field += byte >> 4;
        else if (nbc_signed(from, &field))
            return -1;
        if (field < 1 || field > INT16_MAX)
            return -1;
        if (inner != NULL && type != 12 && (field == 5 || field == 7 || field == 8))
            return -1;
        if (type == 1 || type == 2) {
            value = type == 1;
        } else if (type >= 4 && type <= 6 && fields != NULL) {
            if (nbc_signed(from, &value))
                return -1;
        } else if (type == 12 && inner != NULL && (field == 5 || field == 7 || field == 8)) {
            nbc_fields *own = &inner[field == 5 ? 0 : field == 7 ? 1 : 2];
            memset(own, 0, sizeof *own);
            if (nbc_struct(from, own, NULL, depth + 1))
                return -1;
            value = 1;
        } else {
            if (nbc_pass_value(from, type, depth))
                return -1;
            continue;
        }
        if (fields != NULL && field < NBC_FIELDS) {
            fields->value[field] = value;
            fields->seen |= (uint32_t)1 << field;
        }
    }
}

/* The header of a page, and what must be true of any page that is read here. */
static int nbc_header(nbc_bytes *from, nbc_page *page)
{
    nbc_fields fields, inner[3];
    memset(&fields, 0, sizeof fields);
    memset(inner, 0, sizeof inner);
    if (nbc_struct(from, &fields, inner, 0) || (fields.seen & 14) != 14)
        return -1;
    page->type = fields.value[1];
    page->raw = fields.value[2];
    page->stored = fields.value[3];
    page->level_bytes = 0;
    page->is_stored_raw = 0;
    const nbc_fields *own;
    int place;
    switch (page->type) {
    case NBC_DATA: own = &inner[0]; place = 5; break;
    case NBC_DICTIONARY: own = &inner[1]; place = 7; break;
    case NBC_DATA_2: own = &inner[2]; place = 8; break;
    default: return -1;
    }
    if (!(fields.seen >> place & 1) || !(own->seen & 2))
        return -1;
    page->n_values = own->value[1];
    page->encoding = own->value[page->type == NBC_DATA_2 ? 4 : 2];
    if (page->type == NBC_DATA && own->value[3] != NBC_RLE)
        return -1; /* how levels are written */
    if (page->type == NBC_DATA_2) {
        if (own->value[6] != 0)
            return -1; /* nothing repeats in a flat column */
        page->level_bytes = own->value[5];
        page->is_stored_raw = own->seen >> 7 & 1 && !own->value[7];
    }
    if (page->raw < 0 || page->stored < 0 || page->n_values < 0 || page->stored > from->end - from->at)
        return -1;
    if (page->raw > INT32_MAX || page->n_values > INT32_MAX || page->level_bytes < 0
        || page->level_bytes > page->stored || page->level_bytes > page->raw)
        return -1;
    if (page->type == NBC_DICTIONARY)
        return page->encoding == NBC_PLAIN || page->encoding == NBC_PLAIN_DICTIONARY ? 0 : -1;
    return page->encoding == NBC_RLE_DICTIONARY || page->encoding == NBC_PLAIN_DICTIONARY ? 0 : -1;
}

/* Where the dictionary of a chunk is, and how much its pages need; -1 where a page is of another kind. */
static int nbc_plan_chunk(const uint8_t *chunk, int64_t n_bytes, nbc_chunk *plan)
{
    nbc_bytes from = {chunk, chunk + n_bytes};
    memset(plan, 0, sizeof *plan);
    for (int first = 1; from.at < from.end; first = 0) {
        nbc_page page;
        if (nbc_header(&from, &page) || (page.type == NBC_DICTIONARY) != first)
            return -1;
        if (first) {
            plan->dictionary = from.at - chunk;
            plan->stored = page.stored;
            plan->raw = page.raw;
            plan->n_values = page.n_values;
        } else {
            plan->n_rows += page.n_values;
            plan->most_raw = page.raw > plan->most_raw ? page.raw : plan->most_raw;
        }
        from.at += page.stored;
    }
    return plan->dictionary ? 0 : -1;
}

/* Decompress what Snappy has made of exactly so many bytes. */
static int nbc_snappy(nbc_bytes from, uint8_t *out, int64_t n_out)
{
    uint64_t raw;
    uint8_t *at = out, *const end = out + n_out;
    if (nbc_number(&from, &raw) || raw != (uint64_t)n_out)
        return -1;
    while (from.at < from.end) {
        uint8_t tag = *from.at++;
        int64_t left = from.end - from.at, n = (tag >> 2) + 1, back = 0;
        if ((tag & 3) == 0) {
            int extra = tag >> 2 < 60 ? 0 : (tag >> 2) - 59;
            if (extra > left)
                return -1;
            if (extra) {
                n = 0;
                for (int i = 0; i < extra; i++)
                    n |= (int64_t)from.at[i] << 8 * i;
                n++;
                from.at += extra;
                left -= extra;
            }
            if (n > left || n > end - at)
                return -1;
            memcpy(at, from.at, (size_t)n);
            from.at += n;
            at += n;
            continue;
        }
        int wide = (tag & 3) == 3 ? 4 : tag & 3;
        if (wide > left)
            return -1;
        for (int i = 0; i < wide; i++)
            back |= (int64_t)from.at[i] << 8 * i;
        from.at += wide;
        if (wide == 1) {
            n = (tag >> 2 & 7) + 4;
            back |= (int64_t)(tag >> 5) << 8;
        }
        if (back < 1 || back > at - out || n > end - at)
            return -1;
        if (back >= n)
            memcpy(at, at - back, (size_t)n);
        else
            for (int64_t i = 0; i < n; i++)
                at[i] = at[i - back];
        at += n;
    }
    return at == end ? 0 : -1;
}

NBC_INLINE uint64_t nbc_word(const uint8_t *at)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) /* one load, where the lowest byte comes first */
        word |= (uint64_t)at[i] << 8 * i;
    return word;
}

/* Eight codes of at most 8 bits, which stand side by side, as a byte each: halved three times. */
NBC_INLINE void nbc_eight_u8(const uint8_t *at, int width, uint8_t *out)
{
    uint64_t one = ((uint64_t)1 << width) - 1, two = ((uint64_t)1 << 2 * width) - 1;
    uint64_t four = ((uint64_t)1 << 4 * width) - 1, word = nbc_word(at);
    word = (word & four) | (word >> 4 * width & four) << 32;
    two |= two << 32;
    word = (word & two) | (word >> 2 * width & two) << 16;
    one |= one << 32;
    one |= one << 16;
    word = (word & one) | (word >> width & one) << 8;
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(word >> 8 * i);
}

/* Eight codes of at most 16 bits: of 15, four of them begin in the middle of a byte, and end with a word. */
NBC_INLINE void nbc_eight_u16(const uint8_t *at, int width, uint16_t *out)
{
    uint64_t one = ((uint64_t)1 << width) - 1;
    for (int half = 0; half < 2; half++) {
        int bit = half * 4 * width;
        uint64_t word = nbc_word(at + bit / 8) >> bit % 8;
        for (int i = 0; i < 4; i++)
            out[4 * half + i] = (uint16_t)(word >> i * width & one);
    }
}

/* Unpack n codes of Parquet's hybrid of runs and packed groups; -1 where they are fewer. */
#define NBC_UNPACK(BITS)                                                                                             \
    NBC_CLONED(int, nbc_unpack_u##BITS, (const uint8_t *at, const uint8_t *end, int width,                          \
                                         uint##BITS##_t *restrict out, int64_t n),                                  \
               (at, end, width, out, n))                                                                            \
    {                                                                                                                \
        nbc_bytes from = {at, end};                                                                                  \
        for (int64_t done = 0; done < n;) {                                                                          \
            uint64_t header;                                                                                         \
            if (nbc_number(&from, &header) || header >> 1 > NBC_MOST_RUN)                                            \
                return -1;                                                                                           \
            int64_t count = (int64_t)(header >> 1), left = n - done;                                                 \
            if (header & 1) {                                                                                        \
                if (count * width > from.end - from.at)                                                              \
                    return -1;                                                                                       \
                const uint8_t *packed = from.at;                                                                     \
                from.at += count * width;                                                                            \
                int64_t groups = count < left / 8 ? count : left / 8, group = 0;                                     \
                for (; group < groups && from.end - packed >= 2 * BITS; group++, packed += width)                    \
                    nbc_eight_u##BITS(packed, width, out + done + 8 * group);                                        \
                for (; group < count && 8 * group < left; group++, packed += width) {                                \
                    uint8_t bytes[2 * BITS] = {0};                                                                   \
                    uint##BITS##_t some[8];                                                                          \
                    int64_t rest = left - 8 * group;                                                                 \
                    memcpy(bytes, packed, (size_t)width);                                                            \
                    nbc_eight_u##BITS(bytes, width, some);                                                           \
                    memcpy(out + done + 8 * group, some, (size_t)(rest < 8 ? rest : 8) * sizeof *out);               \
                }                                                                                                    \
                done += 8 * count < left ? 8 * count : left;                                                         \
            } else {                                                                                                 \
                uint64_t value = 0;                                                                                  \
                for (int i = 0; 8 * i < width; i++) {                                                                \
                    if (from.at == from.end)                                                                         \
                        return -1;                                                                                   \
                    value |= (uint64_t)*from.at++ << 8 * i;                                                          \
                }                                                                                                    \
                if (value >> width)                                                                                  \
                    return -1;                                                                                       \
                int64_t stop = done + (count < left ? count : left);                                                 \
                for (; done < stop; done++)                                                                          \
                    out[done] = (uint##BITS##_t)value;                                                               \
            }                                                                                                        \
        }                                                                                                            \
        return 0;                                                                                                    \
    }
NBC_UNPACK(8)
NBC_UNPACK(16)
#undef NBC_UNPACK

/* How many of the bytes are 1, and the largest of the codes. */
NBC_CLONED(int64_t, nbc_sum_u8, (const uint8_t *restrict bytes, int64_t n),
           (bytes, n))
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++)
        total += bytes[i];
    return total;
}

#define NBC_LARGEST(BITS)                                                                                            \
    NBC_CLONED(int64_t, nbc_largest_u##BITS, (const uint##BITS##_t *restrict codes, int64_t n),                     \
               (codes, n))                                                                                          \
    {                                                                                                                \
        uint##BITS##_t most = 0;                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                              \
            most = codes[i] > most ? codes[i] : most;                                                                \
        return most;                                                                                                 \
    }
NBC_LARGEST(8)
NBC_LARGEST(16)
#undef NBC_LARGEST

/* The codes of a page, without those of nulls, into `out`; all are below n_values. */
static int nbc_page_codes(nbc_bytes from, int64_t n_values, int bits, void *out, int64_t n)
{
    if (n == 0)
        return 0;
    if (from.at == from.end || *from.at > bits)
        return -1;
    int width = *from.at++;
    if (bits == 8)
        return nbc_unpack_u8(from.at, from.end, width, out, n) || nbc_largest_u8(out, n) >= n_values ? -1 : 0;
    return nbc_unpack_u16(from.at, from.end, width, out, n) || nbc_largest_u16(out, n) >= n_values ? -1 : 0;
}

/* Codes of rows that are there, which stand at the end, to their rows; others get 0. */
#define NBC_SPREAD(BITS)                                                                                             \
    static void nbc_spread_u##BITS(uint##BITS##_t *codes, const uint8_t *valid, int64_t n, int64_t n_valid)          \
    {                                                                                                                \
        for (int64_t i = 0, next = n - n_valid; i < n; i++) {                                                        \
            uint##BITS##_t code = next < n ? codes[next] : 0;                                                        \
            codes[i] = valid[i] ? code : 0;                                                                          \
            next += valid[i];                                                                                        \
        }                                                                                                            \
    }
NBC_SPREAD(8)
NBC_SPREAD(16)
#undef NBC_SPREAD

/* The codes of all rows of a chunk, of 8 or 16 bits, and which of them are there where some may be null; how many
   nulls there are, or -1. `space` has room for a page. */
static int64_t nbc_chunk_codes(const uint8_t *chunk, int64_t n_bytes, int snappy, int optional, int64_t n_values,
                               uint8_t *space, int64_t n_space, int bits, char *codes, uint8_t *valid, int64_t n_rows)
{
    nbc_bytes from = {chunk, chunk + n_bytes};
    int64_t row = 0, nulls = 0;
    while (from.at < from.end) {
        nbc_page page;
        if (nbc_header(&from, &page))
            return -1;
        nbc_bytes body = {from.at, from.at + page.stored}, levels = {from.at, from.at + page.level_bytes};
        from.at = body.end;
        if (page.type == NBC_DICTIONARY)
            continue;
        int64_t n = page.n_values, raw = page.raw - page.level_bytes;
        if (n > n_rows - row)
            return -1;
        body.at += page.level_bytes;
        if (snappy && !page.is_stored_raw) {
            if (raw > n_space || nbc_snappy(body, space, raw))
                return -1;
            body = (nbc_bytes){space, space + raw};
        }
        int64_t there = n;
        if (optional) {
            if (page.type == NBC_DATA) {
                if (body.end - body.at < 4)
                    return -1;
                int64_t size = (int64_t)(body.at[0] | body.at[1] << 8 | body.at[2] << 16) + ((int64_t)body.at[3] << 24);
                levels = (nbc_bytes){body.at + 4, body.at + 4};
                if (size > body.end - levels.at)
                    return -1;
                levels.end += size;
                body.at = levels.end;
            }
            if (nbc_unpack_u8(levels.at, levels.end, 1, valid + row, n))
                return -1;
            there = nbc_sum_u8(valid + row, n);
        } else if (page.level_bytes) {
            return -1;
        }
        char *out = codes + row * (bits / 8);
        if (nbc_page_codes(body, n_values, bits, out + (n - there) * (bits / 8), there))
            return -1;
        if (there < n) {
            if (bits == 8)
                nbc_spread_u8((uint8_t *)out, valid + row, n, there);
            else
                nbc_spread_u16((uint16_t *)out, valid + row, n, there);
        }
        nulls += n - there;
        row += n;
    }
    return row == n_rows ? nulls : -1;
}

#endif
