/* Top-down disclosure: Wang, Fung, Yu, "Handicapping attacker's confidence" (KAIS 2006).

   InfoGain needs the counts of values and classes alone, so that the class is in no partition; each
   quasi-identifier has its own partition of its own distinct rows. What a candidate x would raise a confidence
   to is a running maximum: confidences never fall when more is disclosed, so what a leaf gave before it was
   split stays a lower bound, and only leaves that lost or won rows are looked at again. */

#ifndef NBCFAST_DISCLOSE_H
#define NBCFAST_DISCLOSE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "shared/lanes.h"
#include "shared/wide.h"

#define NBC_FROZEN UINT32_MAX
#define NBC_NONE ((int64_t)-1)
#define NBC_TIE 1e-12
#define NBC_AHEAD 12 /* rows whose memory is asked for before they are needed: leaves scatter them */

/* What is out of range: of what was written to since, or a mark, a group, or a code of an attribute. */
enum { NBC_STRANGE_SINCE = 1, NBC_STRANGE_MARK, NBC_STRANGE_GROUP, NBC_STRANGE_CODE };

typedef struct {
    size_t now, peak;
} nbc_memory;

/* Zeroed memory that is counted; NULL where there is none. */
static void *nbc_acquire(nbc_memory *memory, size_t bytes)
{
    if (bytes > PTRDIFF_MAX)
        return NULL;
    void *block = calloc(bytes ? bytes : 1, 1);
    if (block) {
        memory->now += bytes;
        if (memory->now > memory->peak)
            memory->peak = memory->now;
    }
    return block;
}

static void nbc_release(nbc_memory *memory, void *block, size_t bytes)
{
    if (block) {
        memory->now -= bytes;
        free(block);
    }
}

/* More room; where there is none NULL, and the block stays as it was. */
static void *nbc_enlarge(nbc_memory *memory, void *block, size_t old, size_t bytes)
{
    void *moved = realloc(block, bytes);
    if (moved) {
        memory->now += bytes - old;
        if (memory->now > memory->peak)
            memory->peak = memory->now;
    }
    return moved;
}

/* A masked attribute. A candidate is a value of a categorical one, an interval ("cell") of a continuous one. */
typedef struct {
    int continuous;
    int64_t values, classes;
    const int64_t *counts; /* values x classes */
    int64_t alive;          /* live candidates */
    uint8_t *live;
    double *gain;
    int64_t *listed; /* categorical: values that may be live, rising */
    int64_t n_listed;
    int64_t *suppressed; /* categorical: of each class, records with a suppressed value */
    int64_t *part, *rest;
    uint32_t *kind; /* categorical: the first of the values with the same counts, which have the same gain */
    uint32_t *weighed, now; /* of a first value: when its gain was found */
    uint32_t *cell_of;        /* continuous: of each value */
    int64_t *low, *high, *cut; /* continuous: of each cell */
    int64_t cells;
} nbc_masked;

#define NBC_CODE uint16_t
#define NBC_COUNT uint32_t
#define NBC_WIDE uint64_t
#define NBC_NAME(name) nbc_##name##_narrow
#include "disclose_body.h"
#undef NBC_CODE
#undef NBC_COUNT
#undef NBC_WIDE
#undef NBC_NAME

#define NBC_CODE uint32_t
#define NBC_COUNT uint64_t
#define NBC_WIDE nbc_u128
#define NBC_NAME(name) nbc_##name##_wide
#include "disclose_body.h"
#undef NBC_CODE
#undef NBC_COUNT
#undef NBC_WIDE
#undef NBC_NAME

typedef struct {
    int64_t part, hit;         /* where its confidence is kept */
    uint64_t above, below;    /* its limit, above / below */
} nbc_template;

typedef struct {
    nbc_memory memory;
    int wide, distortion, beneficial;
    int64_t attributes, parts, templates;
    nbc_masked **about;
    void **part;
    nbc_template *limit;
    int64_t **limits_of;  /* of each attribute: the templates that have it in their quasi-identifier, rising */
    int64_t *n_limits_of;
    int64_t **place_of; /* parts x attributes: the place of an attribute in a part, or NBC_NONE */
    int strange;       /* what is out of range of what was given, or 0 */
} nbc_disclosing;

typedef struct {
    int64_t attribute;
    int64_t value; /* the value, or the first value after the cut */
    double gain, loss, score;
} nbc_disclosed;

static double nbc_entropy(const int64_t *counts, int64_t n, int64_t *sum)
{
    int64_t total = 0;
    double result = 0.0;
    for (int64_t i = 0; i < n; i++)
        total += counts[i];
    for (int64_t i = 0; i < n; i++)
        if (counts[i]) {
            double share = (double)counts[i] / (double)total;
            result -= share * log2(share);
        }
    *sum = total;
    return result;
}

/* InfoGain of splitting a whole with this entropy. The parts are added to each other first: with two values
   left, both disclosures make the same parts, and so exactly the same gain. */
static double nbc_gain_of(double whole, const int64_t *part, const int64_t *rest, int64_t n)
{
    int64_t n_part, n_rest;
    double first = nbc_entropy(part, n, &n_part), second = nbc_entropy(rest, n, &n_rest);
    double total = (double)(n_part + n_rest);
    return whole - ((double)n_part / total * first + (double)n_rest / total * second);
}

static int64_t nbc_several(const int64_t *counts, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += counts[i] > 0;
    return found;
}

/* Whether two scores count as equal, `best` being the higher one. */
static inline int nbc_ties(double found, double best)
{
    return found >= best - NBC_TIE * (best > 1.0 ? best : 1.0);
}

static void nbc_kill_candidate(nbc_masked *about, int64_t candidate)
{
    if (about->live[candidate]) {
        about->live[candidate] = 0;
        about->alive--;
    }
}

/* Find for each value the first one with the same counts; 0, or -1 without memory. */
static int nbc_find_kinds(nbc_memory *memory, nbc_masked *about)
{
    int64_t n = about->classes, room = 16;
    while (room < 2 * about->values)
        room *= 2;
    uint32_t *slots = nbc_acquire(memory, room * sizeof(uint32_t)); /* 1 + a first value, or 0 */
    if (!slots)
        return -1;
    for (int64_t value = 0; value < about->values; value++) {
        const int64_t *counts = about->counts + value * n;
        uint64_t hash = 0;
        for (int64_t c = 0; c < n; c++) {
            hash = (hash ^ (uint64_t)counts[c]) * UINT64_C(0x9E3779B97F4A7C15);
            hash ^= hash >> 29;
        }
        int64_t at = hash & (room - 1);
        while (slots[at] && memcmp(about->counts + (slots[at] - 1) * n, counts, n * sizeof(int64_t)))
            at = (at + 1) & (room - 1);
        if (!slots[at])
            slots[at] = (uint32_t)value + 1;
        about->kind[value] = slots[at] - 1;
    }
    nbc_release(memory, slots, room * sizeof(uint32_t));
    return 0;
}

/* The candidates of a categorical attribute once its suppressed values are others. */
static void nbc_weigh_values(nbc_disclosing *search, nbc_masked *about)
{
    about->now++;
    int64_t total;
    int64_t n = about->classes, kept = 0;
    int useless = search->beneficial && nbc_several(about->suppressed, n) < 2;
    double whole = search->distortion ? 0.0 : nbc_entropy(about->suppressed, n, &total);
    for (int64_t i = 0; i < about->n_listed; i++) {
        int64_t value = about->listed[i];
        if (useless)
            nbc_kill_candidate(about, value);
        if (!about->live[value])
            continue;
        about->listed[kept++] = value;
        const int64_t *part = about->counts + value * n;
        if (search->distortion) {
            int64_t records = 0;
            for (int64_t c = 0; c < n; c++)
                records += part[c];
            about->gain[value] = (double)records;
            continue;
        }
        int64_t first = about->kind[value];
        if (about->weighed[first] != about->now) {
            for (int64_t c = 0; c < n; c++)
                about->rest[c] = about->suppressed[c] - part[c];
            about->gain[first] = nbc_gain_of(whole, part, about->rest, n);
            about->weighed[first] = about->now;
        }
        about->gain[value] = about->gain[first];
    }
    about->n_listed = kept;
}

/* The best cut of an interval: of the highest InfoGain, or the most even one; the lowest of several. */
static void nbc_weigh_cell(nbc_disclosing *search, nbc_masked *about, int64_t cell)
{
    int64_t low = about->low[cell], high = about->high[cell], total;
    int64_t n = about->classes;
    about->cut[cell] = 0;
    about->live[cell] = 0;
    for (int64_t c = 0; c < n; c++)
        about->rest[c] = 0;
    for (int64_t value = low; value < high; value++)
        for (int64_t c = 0; c < n; c++)
            about->rest[c] += about->counts[value * n + c];
    if (high - low < 2 || (search->beneficial && nbc_several(about->rest, n) < 2))
        return;
    double whole = nbc_entropy(about->rest, n, &total), best = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        int64_t left = 0;
        for (int64_t c = 0; c < n; c++) {
            about->rest[c] += pass ? about->part[c] : 0;
            about->part[c] = 0;
        }
        for (int64_t cut = low + 1; cut < high; cut++) {
            for (int64_t c = 0; c < n; c++) {
                int64_t count = about->counts[(cut - 1) * n + c];
                about->part[c] += count;
                about->rest[c] -= count;
                left += count;
            }
            double found = search->distortion ? (double)(left < total - left ? left : total - left)
                                              : nbc_gain_of(whole, about->part, about->rest, n);
            if (!pass) {
                if (cut == low + 1 || found > best)
                    best = found;
            } else if (nbc_ties(found, best)) {
                about->cut[cell] = cut;
                about->gain[cell] = search->distortion ? (double)total : found;
                break;
            }
        }
    }
    about->live[cell] = 1;
    about->alive++;
}

static inline void nbc_confidence_of(const nbc_disclosing *search, const nbc_template *limit, uint64_t *hits,
                                     uint64_t *total)
{
    if (search->wide) {
        const uint64_t *reached = ((nbc_part_wide *)search->part[limit->part])->reached + 2 * limit->hit;
        *hits = reached[0];
        *total = reached[1];
    } else {
        const uint32_t *reached = ((nbc_part_narrow *)search->part[limit->part])->reached + 2 * limit->hit;
        *hits = reached[0];
        *total = reached[1];
    }
}

/* The confidence once a candidate is disclosed too, where that is more than what is reached already. */
static inline void nbc_confidence_with(const nbc_disclosing *search, const nbc_template *limit, int64_t attribute,
                                       int64_t candidate, uint64_t *hits, uint64_t *total)
{
    int64_t j = search->place_of[limit->part][attribute];
    uint64_t more, of;
    if (search->wide) {
        const nbc_part_wide *part = search->part[limit->part];
        const uint64_t *worst = part->worst + ((part->candidate[j] + candidate) * part->hits + limit->hit) * 2;
        more = worst[0];
        of = worst[1];
    } else {
        const nbc_part_narrow *part = search->part[limit->part];
        const uint32_t *worst = part->worst + ((part->candidate[j] + candidate) * part->hits + limit->hit) * 2;
        more = worst[0];
        of = worst[1];
    }
    if ((nbc_u128)more * *total > (nbc_u128)*hits * of) {
        *hits = more;
        *total = of;
    }
}

static inline int nbc_within(const nbc_template *limit, uint64_t hits, uint64_t total)
{
    return (nbc_u128)hits * limit->below <= (nbc_u128)limit->above * total;
}

/* The score of a candidate; 0 where it breaks a limit and so is dead for good. */
static int nbc_score_of(const nbc_disclosing *search, int64_t attribute, int64_t candidate, double *loss, double *score)
{
    double sum = 0.0;
    for (int64_t i = 0; i < search->n_limits_of[attribute]; i++) {
        const nbc_template *limit = search->limit + search->limits_of[attribute][i];
        uint64_t hits, total, more, of;
        nbc_confidence_of(search, limit, &hits, &total);
        more = hits;
        of = total;
        nbc_confidence_with(search, limit, attribute, candidate, &more, &of);
        if (!nbc_within(limit, more, of))
            return 0;
        sum += (double)more / (double)of - (double)hits / (double)total;
    }
    *loss = sum / (double)search->n_limits_of[attribute];
    *score = search->about[attribute]->gain[candidate] / (*loss + 1.0);
    return 1;
}

/* The candidate to disclose next; 0 where none is left. */
static int nbc_choose(nbc_disclosing *search, nbc_disclosed *chosen, int64_t *candidate)
{
    double best = 0.0, loss, score;
    int any = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t g = 0; g < search->attributes; g++) {
            nbc_masked *about = search->about[g];
            int64_t n = about->continuous ? (about->values > 0) : about->n_listed;
            int64_t value = 0;
            for (int64_t i = 0; i < n && about->alive; i++) {
                int64_t one = about->continuous ? about->cell_of[value] : about->listed[i];
                if (about->continuous && about->high[one] < about->values) {
                    value = about->high[one]; /* the next interval, in rising order */
                    n++;
                }
                if (!about->live[one])
                    continue;
                /* PrivLoss is not negative, so that no score is above a gain that is not: most candidates of
                   an attribute with many values need not be weighed. What breaks a limit does so later too. */
                if (any && !nbc_ties(about->gain[one] > 0.0 ? about->gain[one] : 0.0, best))
                    continue;
                if (!nbc_score_of(search, g, one, &loss, &score)) {
                    nbc_kill_candidate(about, one);
                    continue;
                }
                if (!pass) {
                    best = any && best > score ? best : score;
                    any = 1;
                } else if (nbc_ties(score, best)) {
                    chosen->attribute = g;
                    chosen->value = about->continuous ? about->cut[one] : one;
                    chosen->gain = about->gain[one];
                    chosen->loss = loss;
                    chosen->score = score;
                    *candidate = one;
                    return 1;
                }
            }
        }
        if (!any)
            return 0;
    }
    return 0;
}

/* Disclose what is best: 1, or 0 where nothing is left, or -1 without memory. */
static int nbc_advance(nbc_disclosing *search, nbc_disclosed *chosen)
{
    int64_t candidate;
    if (!nbc_choose(search, chosen, &candidate))
        return 0;
    nbc_masked *about = search->about[chosen->attribute];
    int64_t low = candidate, cut = candidate + 1, high = candidate + 1, other = 0;
    nbc_kill_candidate(about, candidate);
    if (about->continuous) {
        low = about->low[candidate];
        cut = about->cut[candidate];
        high = about->high[candidate];
        other = about->cells++;
        about->low[other] = cut;
        about->high[other] = high;
        about->high[candidate] = cut;
        for (int64_t value = cut; value < high; value++)
            about->cell_of[value] = (uint32_t)other;
        nbc_weigh_cell(search, about, candidate);
        nbc_weigh_cell(search, about, other);
    } else {
        for (int64_t c = 0; c < about->classes; c++)
            about->suppressed[c] -= about->counts[candidate * about->classes + c];
        nbc_weigh_values(search, about);
    }
    for (int64_t p = 0; p < search->parts; p++) {
        int64_t j = search->place_of[p][chosen->attribute];
        if (j == NBC_NONE)
            continue;
        int failed;
        if (search->wide) {
            if (about->continuous)
                nbc_clear_wide(search->part[p], j, candidate);
            failed = nbc_disclose_wide(search->part[p], j, low, cut, high);
        } else {
            if (about->continuous)
                nbc_clear_narrow(search->part[p], j, candidate);
            failed = nbc_disclose_narrow(search->part[p], j, low, cut, high);
        }
        if (failed)
            return -1;
    }
    return 1;
}

static void nbc_attribute_free(nbc_memory *memory, nbc_masked *about)
{
    if (!about)
        return;
    nbc_release(memory, about->live, about->values);
    nbc_release(memory, about->gain, about->values * sizeof(double));
    nbc_release(memory, about->listed, about->values * sizeof(int64_t));
    nbc_release(memory, about->suppressed, about->classes * sizeof(int64_t));
    nbc_release(memory, about->part, about->classes * sizeof(int64_t));
    nbc_release(memory, about->rest, about->classes * sizeof(int64_t));
    nbc_release(memory, about->kind, about->values * sizeof(uint32_t));
    nbc_release(memory, about->weighed, about->values * sizeof(uint32_t));
    nbc_release(memory, about->cell_of, about->values * sizeof(uint32_t));
    nbc_release(memory, about->low, about->values * sizeof(int64_t));
    nbc_release(memory, about->high, about->values * sizeof(int64_t));
    nbc_release(memory, about->cut, about->values * sizeof(int64_t));
    nbc_release(memory, about, sizeof(nbc_masked));
}

static void nbc_search_free(nbc_disclosing *search)
{
    nbc_memory *memory = &search->memory;
    for (int64_t p = 0; p < search->parts; p++) {
        if (search->part && search->part[p]) {
            if (search->wide)
                nbc_part_free_wide(search->part[p]);
            else
                nbc_part_free_narrow(search->part[p]);
        }
        if (search->place_of && search->place_of[p])
            nbc_release(memory, search->place_of[p], search->attributes * sizeof(int64_t));
    }
    for (int64_t g = 0; g < search->attributes; g++) {
        if (search->about)
            nbc_attribute_free(memory, search->about[g]);
        if (search->limits_of && search->limits_of[g])
            nbc_release(memory, search->limits_of[g], search->templates * sizeof(int64_t));
    }
    nbc_release(memory, search->about, search->attributes * sizeof(nbc_masked *));
    nbc_release(memory, search->part, search->parts * sizeof(void *));
    nbc_release(memory, search->limit, search->templates * sizeof(nbc_template));
    nbc_release(memory, search->limits_of, search->attributes * sizeof(int64_t *));
    nbc_release(memory, search->n_limits_of, search->attributes * sizeof(int64_t));
    nbc_release(memory, search->place_of, search->parts * sizeof(int64_t *));
    free(search);
}

static nbc_disclosing *nbc_search_new(int64_t attributes, int64_t parts, int64_t templates, int wide, int distortion,
                                      int beneficial)
{
    nbc_disclosing *search = calloc(1, sizeof(nbc_disclosing));
    if (!search)
        return NULL;
    nbc_memory *memory = &search->memory;
    search->wide = wide;
    search->distortion = distortion;
    search->beneficial = beneficial;
    search->attributes = attributes;
    search->parts = parts;
    search->templates = templates;
    search->about = nbc_acquire(memory, attributes * sizeof(nbc_masked *));
    search->part = nbc_acquire(memory, parts * sizeof(void *));
    search->limit = nbc_acquire(memory, templates * sizeof(nbc_template));
    search->limits_of = nbc_acquire(memory, attributes * sizeof(int64_t *));
    search->n_limits_of = nbc_acquire(memory, attributes * sizeof(int64_t));
    search->place_of = nbc_acquire(memory, parts * sizeof(int64_t *));
    int complete = search->about && search->part && search->limit && search->limits_of && search->n_limits_of &&
                   search->place_of;
    for (int64_t p = 0; complete && p < parts; p++) {
        search->place_of[p] = nbc_acquire(memory, attributes * sizeof(int64_t));
        complete = search->place_of[p] != NULL;
        for (int64_t g = 0; complete && g < attributes; g++)
            search->place_of[p][g] = NBC_NONE;
    }
    for (int64_t g = 0; complete && g < attributes; g++) {
        search->limits_of[g] = nbc_acquire(memory, templates * sizeof(int64_t));
        complete = search->limits_of[g] != NULL;
    }
    if (complete)
        return search;
    nbc_search_free(search);
    return NULL;
}

static int nbc_set_attribute(nbc_disclosing *search, int64_t g, int64_t values, int64_t classes, const int64_t *counts,
                             int continuous)
{
    nbc_memory *memory = &search->memory;
    nbc_masked *about = search->about[g] = nbc_acquire(memory, sizeof(nbc_masked));
    if (!about)
        return -1;
    about->continuous = continuous;
    about->values = values;
    about->classes = classes;
    about->counts = counts;
    about->live = nbc_acquire(memory, values);
    about->gain = nbc_acquire(memory, values * sizeof(double));
    about->listed = nbc_acquire(memory, values * sizeof(int64_t));
    about->suppressed = nbc_acquire(memory, classes * sizeof(int64_t));
    about->part = nbc_acquire(memory, classes * sizeof(int64_t));
    about->rest = nbc_acquire(memory, classes * sizeof(int64_t));
    about->kind = nbc_acquire(memory, values * sizeof(uint32_t));
    about->weighed = nbc_acquire(memory, values * sizeof(uint32_t));
    about->cell_of = nbc_acquire(memory, values * sizeof(uint32_t));
    about->low = nbc_acquire(memory, values * sizeof(int64_t));
    about->high = nbc_acquire(memory, values * sizeof(int64_t));
    about->cut = nbc_acquire(memory, values * sizeof(int64_t));
    if (!about->live || !about->gain || !about->listed || !about->suppressed || !about->part || !about->rest ||
        !about->kind || !about->weighed || !about->cell_of || !about->low || !about->high || !about->cut)
        return -1;
    if (continuous) {
        about->cells = 1;
        about->high[0] = values;
        nbc_weigh_cell(search, about, 0);
        return 0;
    }
    if (nbc_find_kinds(memory, about))
        return -1;
    for (int64_t value = 0; value < values; value++) {
        about->live[value] = 1;
        about->listed[value] = value;
        for (int64_t c = 0; c < classes; c++)
            about->suppressed[c] += counts[value * classes + c];
    }
    about->alive = about->n_listed = values;
    nbc_weigh_values(search, about);
    return 0;
}

/* Sort keys by their lowest `bits` bits, and totals (or NULL) with them; 1 where the result is in the rooms, -1 where
   keys that others may write to (`theirs`) were written to on the way. */
static int nbc_sort_keys(uint64_t *keys, uint64_t *totals, uint64_t *key_room, uint64_t *total_room, int64_t n,
                         int bits, int theirs)
{
    enum { DIGIT = 11 };
    int64_t first[1 << DIGIT];
    int swapped = 0;
    for (int shift = 0; shift < bits; shift += DIGIT) {
        memset(first, 0, sizeof(first));
        for (int64_t i = 0; i < n; i++)
            first[keys[i] >> shift & ((1 << DIGIT) - 1)]++;
        if (n && first[keys[0] >> shift & ((1 << DIGIT) - 1)] == n)
            continue;
        int64_t sum = 0;
        for (int64_t digit = 0; digit < 1 << DIGIT; digit++) {
            int64_t count = first[digit];
            first[digit] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t to = first[keys[i] >> shift & ((1 << DIGIT) - 1)]++;
            if (theirs && to >= n)
                return -1;
            key_room[to] = keys[i];
            if (totals)
                total_room[to] = totals[i];
        }
        uint64_t *other = keys;
        keys = key_room;
        key_room = other;
        other = totals;
        totals = total_room;
        total_room = other;
        swapped = !swapped;
    }
    return swapped;
}

/* Each of the sorted keys once, with what it counts (1 each for NULL); how many there are. */
static int64_t nbc_run_lengths(uint64_t *keys, const uint64_t *counted, uint64_t *totals, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n;) {
        uint64_t key = keys[i], total = 0;
        do
            total += counted ? counted[i] : 1;
        while (++i < n && keys[i] == key);
        keys[found] = key;
        totals[found++] = total;
    }
    return found;
}

#endif
