/* What is compiled once for each width of vectors: included by rows.h. No guard: it is meant to come again. */

/* The 64 bytes at `text`, a bit each. */
NBC_CSV_TARGET NBC_INLINE nbc_csv_masks NBC_CSV_NAME(nbc_csv_classify)(const uint8_t *text, uint8_t delimiter,
                                                                      int quotes)
{
    nbc_csv_masks masks = {0, 0, 0, 0};
#if NBC_CSV_LEVEL >= 2
    const __m512i bytes = _mm512_loadu_si512((const void *)text);
    masks.delimiter = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8((char)delimiter));
    masks.lf = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
    masks.cr = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\r'));
    if (quotes)
        masks.quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
#elif NBC_CSV_LEVEL == 1
    const __m256i one = _mm256_loadu_si256((const __m256i *)(const void *)text);
    const __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
#define NBC_CSV_EQUAL(letter) \
    ((uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(one, _mm256_set1_epi8((char)(letter)))) \
     | (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(two, _mm256_set1_epi8((char)(letter)))) << 32)
    masks.delimiter = NBC_CSV_EQUAL(delimiter);
    masks.lf = NBC_CSV_EQUAL('\n');
    masks.cr = NBC_CSV_EQUAL('\r');
    if (quotes)
        masks.quote = NBC_CSV_EQUAL('"');
#undef NBC_CSV_EQUAL
#elif NBC_CSV_LEVELS > 1
    for (int part = 0; part < 64; part += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + part));
#define NBC_CSV_EQUAL(letter) \
    ((uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)(letter)))) << part)
        masks.delimiter |= NBC_CSV_EQUAL(delimiter);
        masks.lf |= NBC_CSV_EQUAL('\n');
        masks.cr |= NBC_CSV_EQUAL('\r');
        if (quotes)
            masks.quote |= NBC_CSV_EQUAL('"');
#undef NBC_CSV_EQUAL
    }
#else
    for (int bit = 0; bit < 64; bit++) {
        masks.delimiter |= (uint64_t)(text[bit] == delimiter) << bit;
        masks.lf |= (uint64_t)(text[bit] == '\n') << bit;
        masks.cr |= (uint64_t)(text[bit] == '\r') << bit;
        masks.quote |= (uint64_t)(text[bit] == '"') << bit;
    }
#endif
    return masks;
}

/* Where the bits are, from `base` on; more is written than there is. */
NBC_CSV_TARGET NBC_INLINE int64_t NBC_CSV_NAME(nbc_csv_flatten)(uint32_t *out, uint64_t bits, uint32_t base)
{
#if NBC_CSV_LEVEL == 3
    const int64_t n = __builtin_popcountll(bits);
    const __m512i all = _mm512_set1_epi32((int)base);
    const __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512((const void *)nbc_csv_steps));
#define NBC_CSV_STORE(part) \
    _mm512_storeu_si512((void *)(out + 16 * (part)), \
                        _mm512_add_epi32(all, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(places, part))))
    NBC_CSV_STORE(0);
    if (__builtin_expect(n > 16, 0)) {
        NBC_CSV_STORE(1);
        NBC_CSV_STORE(2);
        NBC_CSV_STORE(3);
    }
#undef NBC_CSV_STORE
    return n;
#elif NBC_CSV_LEVEL == 2
    const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const int64_t n = __builtin_popcountll(bits);
    for (uint32_t part = 0; part < 64; part += 16) {
        const __mmask16 sixteen = (__mmask16)(bits >> part);
        _mm512_storeu_si512((void *)out, _mm512_maskz_compress_epi32(
            sixteen, _mm512_add_epi32(steps, _mm512_set1_epi32((int)(base + part)))));
        out += __builtin_popcount(sixteen);
    }
    return n;
#else
    const int64_t n = __builtin_popcountll(bits);
    for (int64_t done = 0; done < n; done += 8)
        for (int64_t i = 0; i < 8; i++) {
            out[done + i] = base + (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
            bits &= bits - (bits != 0);
        }
    return n;
#endif
}

/* On through text[state.at:end]: what ends fields goes to positions[count:], as long as there is room. Returns the
   new count. Without `keep` nothing is written, and only rows are found. */
NBC_CSV_TARGET NBC_INLINE int64_t NBC_CSV_NAME(nbc_csv_through)(nbc_csv_state *state, const uint8_t *text,
                                                               uint32_t end, uint8_t delimiter, uint32_t *positions,
                                                               int64_t count, int64_t target, int64_t room, int quotes,
                                                               int keep)
{
    nbc_csv_state now = *state;
    while (now.at < end && count < target) {
        nbc_csv_masks masks = NBC_CSV_NAME(nbc_csv_classify)(text + now.at, delimiter, quotes);
        const uint32_t left = end - now.at;
        if (left < 64) {
            const uint64_t valid = ((uint64_t)1 << left) - 1;
            masks.delimiter &= valid;
            masks.lf &= valid;
            masks.cr &= valid;
            masks.quote &= valid;
        }
        uint64_t rows = masks.lf;
        if (masks.cr) {
            const uint64_t following = masks.lf >> 1 | (uint64_t)(left > 64 && text[now.at + 64] == '\n') << 63;
            rows |= masks.cr & ~following;
        }
        uint64_t fields = rows | masks.delimiter;
        if (quotes) {
            const uint64_t inside = nbc_csv_parity(masks.quote) ^ now.inside;
            const uint64_t ends = (fields | masks.cr) & ~inside;
            const uint64_t stray = masks.quote & inside & ~((ends | masks.quote) << 1 | now.before);
            fields &= ~inside;
            rows &= ~inside;
            if (__builtin_expect(stray != 0, 0)) {
                int open;
                const uint64_t valid = (stray & (~stray + 1)) - 1;
                if (keep)
                    count += NBC_CSV_NAME(nbc_csv_flatten)(positions + count, fields & valid, now.at);
                now.ends += __builtin_popcountll(rows & valid);
                if (rows & valid)
                    now.row = now.at + 64 - (uint32_t)__builtin_clzll(rows & valid);
                /* The row once more, byte by byte. */
                while (keep && count > 0 && positions[count - 1] >= now.row)
                    count--;
                const uint32_t next = nbc_csv_one_row(text, now.row, end, delimiter, positions,
                                                      keep ? room : 0, &count, &open);
                if (!keep)
                    count = 0;
                else if (count > room)
                    count = room;
                if (next == NBC_CSV_OPEN) {
                    now.at = end;
                    now.inside = open ? ~(uint64_t)0 : 0;
                    break;
                }
                now.at = now.row = next;
                now.inside = 0;
                now.before = 1;
                now.ends++;
                continue;
            }
            now.inside = (uint64_t)0 - (inside >> 63);
            now.before = (ends | masks.quote) >> 63;
        }
        if (quotes && rows)
            now.row = now.at + 64 - (uint32_t)__builtin_clzll(rows);
        if (keep) {
            count += NBC_CSV_NAME(nbc_csv_flatten)(positions + count, fields, now.at);
            now.ends += __builtin_popcountll(rows);
        }
        now.at += 64 < left ? 64 : left;
    }
    *state = now;
    return count;
}

NBC_CSV_TARGET static uint32_t NBC_CSV_NAME(nbc_csv_find_border)(const uint8_t *text, uint32_t start, uint32_t end,
                                                                uint8_t delimiter, int *open)
{
    nbc_csv_state state = nbc_csv_at(start);
    NBC_CSV_NAME(nbc_csv_through)(&state, text, end, delimiter, NULL, 0, 1, 0, 1, 0);
    *open = state.inside != 0;
    return state.row;
}

/* Codes of one column of `rows` rows: those that the cache does not have go to `missed`. */
NBC_CSV_TARGET NBC_INLINE int64_t NBC_CSV_NAME(nbc_csv_look_up)(const nbc_csv_scanner *scanner,
                                                               const nbc_csv_cache *cache, const uint8_t *text,
                                                               int64_t rows, int first, int last)
{
    const int64_t k = scanner->n_fields;
    const uint32_t *restrict ends = scanner->positions + cache->place, *restrict starts = scanner->starts;
    uint32_t *restrict codes = scanner->codes, *restrict missed = scanner->missed;
    const nbc_csv_slot *restrict slots = cache->slots;
    const uint64_t mask = cache->mask, keys[2] = {cache->keys[0], cache->keys[1]};
    int64_t n_missed = 0;
    for (int64_t row = 0; row < rows; row++) {
        const uint32_t start = first ? starts[row] : ends[row * k - 1] + 1;
        uint32_t end = ends[row * k];
        if (last)
            end -= (uint32_t)((text[end] == '\n') & (end > start) & (text[(int64_t)end - (end > start)] == '\r'));
        const uint32_t n = end - start;
        uint64_t low, high;
        nbc_csv_key(keys, text + start, n, &low, &high);
        const nbc_csv_slot *slot = slots + nbc_csv_home(keys, mask, low, high);
        uint32_t code = slot->code;
        if (__builtin_expect(((slot->low ^ low) | (slot->high ^ high)) != 0, 0)
                || (n > NBC_CSV_SHORT && !nbc_csv_same(cache, slot, text + start, low, high))) {
            code = nbc_csv_look(cache, text + start, low, high);
            if (code == NBC_CSV_NONE)
                missed[n_missed++] = (uint32_t)row;
        }
        codes[row] = code;
    }
    return n_missed;
}

/* Codes as narrow as the column's are so far. */
NBC_CSV_TARGET static void NBC_CSV_NAME(nbc_csv_narrow)(nbc_csv_cache *cache, int64_t at,
                                                       const uint32_t *restrict codes, int64_t rows)
{
    if (cache->width == 1) {
        uint8_t *restrict out = cache->out + at;
        for (int64_t row = 0; row < rows; row++)
            out[row] = (uint8_t)codes[row];
    } else if (cache->width == 2) {
        uint16_t *restrict out = (uint16_t *)(void *)cache->out + at;
        for (int64_t row = 0; row < rows; row++)
            out[row] = (uint16_t)codes[row];
    } else
        memcpy((uint32_t *)(void *)cache->out + at, codes, (size_t)rows * sizeof *codes);
}

NBC_CSV_TARGET static uint32_t NBC_CSV_NAME(nbc_csv_largest)(const uint32_t *codes, int64_t rows)
{
    uint32_t largest = 0;
    for (int64_t row = 0; row < rows; row++)
        largest = codes[row] > largest ? codes[row] : largest;
    return largest;
}

/* The codes of `rows` rows into the caches' `out`; what went wrong is in `status`. */
NBC_CSV_TARGET static void NBC_CSV_NAME(nbc_csv_codes)(nbc_csv_scanner *scanner, const uint8_t *text, int64_t rows)
{
    const int64_t k = scanner->n_fields;
    for (int64_t c = 0; c < scanner->n_columns; c++) {
        nbc_csv_cache *cache = scanner->caches + c;
        const int first = cache->place == 0, last = cache->place == k - 1;
        uint32_t *codes = scanner->codes;
        int64_t n_missed;
        if (first && last)
            n_missed = NBC_CSV_NAME(nbc_csv_look_up)(scanner, cache, text, rows, 1, 1);
        else if (first)
            n_missed = NBC_CSV_NAME(nbc_csv_look_up)(scanner, cache, text, rows, 1, 0);
        else if (last)
            n_missed = NBC_CSV_NAME(nbc_csv_look_up)(scanner, cache, text, rows, 0, 1);
        else
            n_missed = NBC_CSV_NAME(nbc_csv_look_up)(scanner, cache, text, rows, 0, 0);
        if (n_missed) {
            PyThread_acquire_lock(cache->values->lock, 1);
            for (int64_t i = 0; i < n_missed; i++) {
                const uint32_t row = scanner->missed[i], *at = scanner->positions + row * k + cache->place;
                const uint32_t start = first ? scanner->starts[row] : at[-1] + 1;
                uint32_t end = *at;
                int status = NBC_CSV_FINE;
                if (last && end > start && text[end] == '\n' && text[end - 1] == '\r')
                    end--;
                codes[row] = nbc_csv_meet(scanner, cache, text + start, end - start, &status);
                if (status != NBC_CSV_FINE)
                    nbc_csv_fail(scanner, status, scanner->starts[row], (uint32_t)c, start, end);
            }
            PyThread_release_lock(cache->values->lock);
        }
        const int status = nbc_csv_fit(cache, scanner->rows, rows, NBC_CSV_NAME(nbc_csv_largest)(codes, rows));
        if (status != NBC_CSV_FINE) {
            nbc_csv_fail(scanner, status, 0, (uint32_t)c, 0, 0);
            return;
        }
        NBC_CSV_NAME(nbc_csv_narrow)(cache, scanner->rows, codes, rows);
    }
    scanner->rows += rows;
}

/* A tile of rows after the other, until all are read or one is wrong. */
NBC_CSV_TARGET static void NBC_CSV_NAME(nbc_csv_scan_all)(nbc_csv_scanner *scanner, const uint8_t *text,
                                                         uint32_t start, uint32_t end)
{
    const int64_t k = scanner->n_fields;
    const int quotes = memchr(text + start, '"', end - start) != NULL;
    nbc_csv_state state = nbc_csv_at(start);
    uint32_t row = start, next = start;
    int64_t count = 0, used = 0;
    while (scanner->status == NBC_CSV_FINE) {
        if (quotes)
            count = NBC_CSV_NAME(nbc_csv_through)(&state, text, end, scanner->delimiter, scanner->positions, count,
                                                  scanner->target, scanner->room, 1, 1);
        else
            count = NBC_CSV_NAME(nbc_csv_through)(&state, text, end, scanner->delimiter, scanner->positions, count,
                                                  scanner->target, scanner->room, 0, 1);
        /* A quote that is never closed: the end of the file ends the row. */
        if (state.at >= end && (count == 0 ? row < end : scanner->positions[count - 1] != end - 1)
                && count < scanner->room) {
            scanner->positions[count++] = end - 1;
            state.ends++;
        }
        int64_t rows = nbc_csv_even(scanner, text, count, state.ends);
        if (rows < 0)
            rows = nbc_csv_walk(scanner, text, row, count, &used, &next);
        else {
            for (int64_t i = 0; i < rows; i++)
                scanner->starts[i] = i ? scanner->positions[i * k - 1] + 1 : row;
            used = rows * k;
            next = used ? scanner->positions[used - 1] + 1 : row;
        }
        if (rows)
            NBC_CSV_NAME(nbc_csv_codes)(scanner, text, rows);
        if (state.at >= end) {
            if (next != end)  /* whoever calls has cut a row */
                nbc_csv_fail(scanner, NBC_CSV_RAGGED, next, NBC_CSV_NONE, next, end);
            break;
        }
        /* What has begun and has no end yet. */
        count -= used;
        memmove(scanner->positions, scanner->positions + used, (size_t)count * sizeof *scanner->positions);
        row = next;
        state.ends = 0;
    }
}
