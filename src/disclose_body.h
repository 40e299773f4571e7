/* The partition of one quasi-identifier; included by disclose.h once a width of NBC_CODE, NBC_COUNT and NBC_WIDE.

   NBC_COUNT holds the weight of all records, NBC_WIDE products of two of them. Codes, marks and weights are the
   caller's: each code and mark is read once where it says where to go, and looked at there, as others may write to
   them. */

typedef struct {
    uint32_t start, end; /* its rows are order[start:end] */
    NBC_COUNT total;
    NBC_COUNT *histogram; /* slots x (1 + K), or NULL where its rows are looked through instead */
    uint32_t stamp, moved;
} NBC_NAME(leaf);

typedef struct {
    int64_t rows, attributes, marks, hits; /* hits: K, the sensitive values */
    const NBC_CODE *codes;                    /* rows x attributes */
    const uint16_t *mark;                 /* rows x marks: 1 + the sensitive value that a row has, or 0 */
    const NBC_COUNT *weights;
    nbc_masked **about;        /* of each attribute */
    int64_t *slot, *candidate; /* where the values of each attribute begin in histograms and in `worst` */
    uint32_t **by_value;      /* rows in the order of an attribute's values */
    int64_t **first;           /* where each value begins there */
    int64_t slots, candidates;
    uint32_t *order, *place, *leaf_of;
    NBC_NAME(leaf) *leaves;
    NBC_COUNT *hit; /* leaves x K */
    int64_t used, room;
    NBC_COUNT *worst;    /* candidates x K x 2: the largest confidence once this is disclosed too, over leaves */
    NBC_COUNT *reached;  /* K x 2: the largest confidence */
    NBC_COUNT *scratch;  /* slots x (1 + K), zero between uses */
    int64_t *found;   /* slots in use in scratch */
    uint32_t *touched;
    int64_t n_touched, touched_room;
    uint32_t now;
    NBC_COUNT **spare;
    int64_t n_spare, spare_room;
    nbc_memory *memory;
    int *strange; /* set where codes or marks are out of range: see nbc_disclosing */
} NBC_NAME(part);

static void NBC_NAME(part_free)(NBC_NAME(part) *part)
{
    nbc_memory *memory = part->memory;
    if (part->leaves)
        for (int64_t i = 0; i < part->used; i++)
            nbc_release(memory, part->leaves[i].histogram, part->slots * (1 + part->hits) * sizeof(NBC_COUNT));
    for (int64_t i = 0; i < part->n_spare; i++)
        nbc_release(memory, part->spare[i], part->slots * (1 + part->hits) * sizeof(NBC_COUNT));
    for (int64_t j = 0; j < part->attributes; j++) {
        if (part->by_value && part->by_value[j])
            nbc_release(memory, part->by_value[j], part->rows * sizeof(uint32_t));
        if (part->first && part->first[j])
            nbc_release(memory, part->first[j], (part->about[j]->values + 1) * sizeof(int64_t));
    }
    nbc_release(memory, part->by_value, part->attributes * sizeof(uint32_t *));
    nbc_release(memory, part->first, part->attributes * sizeof(int64_t *));
    nbc_release(memory, part->about, part->attributes * sizeof(nbc_masked *));
    nbc_release(memory, part->slot, part->attributes * sizeof(int64_t));
    nbc_release(memory, part->candidate, part->attributes * sizeof(int64_t));
    nbc_release(memory, part->order, part->rows * sizeof(uint32_t));
    nbc_release(memory, part->place, part->rows * sizeof(uint32_t));
    nbc_release(memory, part->leaf_of, part->rows * sizeof(uint32_t));
    nbc_release(memory, part->leaves, part->room * sizeof(NBC_NAME(leaf)));
    nbc_release(memory, part->hit, part->room * part->hits * sizeof(NBC_COUNT));
    nbc_release(memory, part->worst, part->candidates * part->hits * 2 * sizeof(NBC_COUNT));
    nbc_release(memory, part->reached, part->hits * 2 * sizeof(NBC_COUNT));
    nbc_release(memory, part->scratch, part->slots * (1 + part->hits) * sizeof(NBC_COUNT));
    nbc_release(memory, part->found, part->slots * sizeof(int64_t));
    nbc_release(memory, part->touched, part->touched_room * sizeof(uint32_t));
    nbc_release(memory, part->spare, part->spare_room * sizeof(NBC_COUNT *));
    nbc_release(memory, part, sizeof(NBC_NAME(part)));
}

/* Make room for `leaves` leaves; 0, or -1 without memory. */
static int NBC_NAME(part_room)(NBC_NAME(part) *part, int64_t leaves)
{
    if (leaves <= part->room)
        return 0;
    int64_t room = part->room ? part->room : 64;
    while (room < leaves)
        room *= 2;
    void *moved = nbc_enlarge(part->memory, part->leaves, part->room * sizeof(NBC_NAME(leaf)),
                              room * sizeof(NBC_NAME(leaf)));
    if (!moved)
        return -1;
    part->leaves = moved;
    int64_t each = part->hits * sizeof(NBC_COUNT);
    moved = nbc_enlarge(part->memory, part->hit, part->room * each, room * each);
    if (!moved) {
        /* Both arrays have the old room again, as far as the books go. */
        part->memory->now -= (room - part->room) * sizeof(NBC_NAME(leaf));
        return -1;
    }
    part->hit = moved;
    part->room = room;
    return 0;
}

static inline void NBC_NAME(raise_to)(NBC_COUNT *best, NBC_COUNT hits, NBC_COUNT total)
{
    if ((NBC_WIDE)hits * best[1] > (NBC_WIDE)best[0] * total) {
        best[0] = hits;
        best[1] = total;
    }
}

static NBC_COUNT *NBC_NAME(block)(NBC_NAME(part) *part)
{
    size_t bytes = part->slots * (1 + part->hits) * sizeof(NBC_COUNT);
    if (part->n_spare) {
        NBC_COUNT *block = part->spare[--part->n_spare];
        memset(block, 0, bytes);
        return block;
    }
    return nbc_acquire(part->memory, bytes);
}

/* Keep a block for the next leaf; where there is no room to note it, give it back. */
static void NBC_NAME(give_back)(NBC_NAME(part) *part, NBC_COUNT *block)
{
    if (part->n_spare == part->spare_room) {
        int64_t room = part->spare_room ? 2 * part->spare_room : 16;
        void *moved = nbc_enlarge(part->memory, part->spare, part->spare_room * sizeof(NBC_COUNT *),
                                  room * sizeof(NBC_COUNT *));
        if (!moved) {
            nbc_release(part->memory, block, part->slots * (1 + part->hits) * sizeof(NBC_COUNT));
            return;
        }
        part->spare = moved;
        part->spare_room = room;
    }
    part->spare[part->n_spare++] = block;
}

/* A histogram costs as much to look through as so many rows. */
static inline int NBC_NAME(is_large)(const NBC_NAME(part) *part, int64_t rows)
{
    return rows * part->attributes >= part->slots;
}

/* The code of a row, read once. */
static inline NBC_CODE NBC_NAME(code_of)(const NBC_NAME(part) *part, int64_t row, int64_t j)
{
    return NBC_ONCE(NBC_CODE, part->codes + row * part->attributes + j);
}

/* The slot of a row's value, or NBC_NONE where it is on the other side of a cut, or nothing is asked of it. */
static inline int64_t NBC_NAME(slot_of)(const NBC_NAME(part) *part, int64_t j, NBC_CODE code)
{
    const nbc_masked *about = part->about[j];
    if (code >= about->values) {
        *part->strange = NBC_STRANGE_SINCE;
        return NBC_NONE;
    }
    if (!about->continuous)
        return part->slot[j] + code;
    return code < about->cut[about->cell_of[code]] ? part->slot[j] : NBC_NONE;
}

/* Add a weight to the hits (from the first sensitive value on) that a row is marked with from mark `s` on. */
static inline void NBC_NAME(add_marks)(const NBC_NAME(part) *part, NBC_COUNT *hit, int64_t row, int64_t s,
                                       NBC_COUNT weight)
{
    for (; s < part->marks; s++) {
        const uint16_t mark = NBC_ONCE(uint16_t, part->mark + row * part->marks + s);
        if (!mark)
            continue;
        if (mark > part->hits)
            *part->strange = NBC_STRANGE_SINCE;
        else
            hit[mark - 1] += weight;
    }
}

static inline void NBC_NAME(ask_for)(const NBC_NAME(part) *part, int64_t row)
{
    NBC_PREFETCH(part->codes + row * part->attributes);
    NBC_PREFETCH(part->mark + row * part->marks);
    NBC_PREFETCH(part->weights + row);
}

/* Add (or take away) the rows order[start:end] in a histogram. */
static void NBC_NAME(fill)(const NBC_NAME(part) *part, NBC_COUNT *histogram, int64_t start, int64_t end, int add)
{
    int64_t width = 1 + part->hits;
    for (int64_t i = start; i < end; i++) {
        if (i + NBC_AHEAD < end)
            NBC_NAME(ask_for)(part, part->order[i + NBC_AHEAD]);
        int64_t row = part->order[i];
        NBC_COUNT weight = add ? part->weights[row] : (NBC_COUNT)0 - part->weights[row];
        uint16_t mark = NBC_ONCE(uint16_t, part->mark + row * part->marks);
        if (mark > part->hits) {
            *part->strange = NBC_STRANGE_SINCE;
            mark = 0;
        }
        for (int64_t j = 0; j < part->attributes; j++) {
            if (!part->about[j]->alive)
                continue;
            int64_t slot = NBC_NAME(slot_of)(part, j, NBC_NAME(code_of)(part, row, j));
            if (slot == NBC_NONE)
                continue;
            NBC_COUNT *cell = histogram + slot * width;
            cell[0] += weight;
            if (mark)
                cell[mark] += weight;
            if (part->marks > 1)
                NBC_NAME(add_marks)(part, cell + 1, row, 1, weight);
        }
    }
}

/* What disclosing a candidate makes of a leaf: its records with the value, and those without. */
static inline void NBC_NAME(consider)(NBC_NAME(part) *part, int64_t candidate, const NBC_COUNT *with,
                                      const NBC_NAME(leaf) *leaf, const NBC_COUNT *hit)
{
    NBC_COUNT total = with[0], rest = leaf->total - total;
    if (!total || !rest)
        return;
    NBC_COUNT *worst = part->worst + candidate * part->hits * 2;
    for (int64_t k = 0; k < part->hits; k++) {
        if (!hit[k])
            continue;
        NBC_NAME(raise_to)(worst + 2 * k, with[1 + k], total);
        NBC_NAME(raise_to)(worst + 2 * k, hit[k] - with[1 + k], rest);
    }
}

/* The interval that the rows of a leaf lie in, or NBC_NONE where the code of the first one is out of range. */
static inline int64_t NBC_NAME(cell_of)(const NBC_NAME(part) *part, const NBC_NAME(leaf) *leaf, int64_t j)
{
    NBC_CODE code = NBC_NAME(code_of)(part, part->order[leaf->start], j);
    if (code < part->about[j]->values)
        return part->about[j]->cell_of[code];
    *part->strange = NBC_STRANGE_SINCE;
    return NBC_NONE;
}

/* Raise the confidences by what a leaf has; freeze it where nothing can come of it any more. */
static void NBC_NAME(judge)(NBC_NAME(part) *part, uint32_t number)
{
    NBC_NAME(leaf) *leaf = part->leaves + number;
    NBC_COUNT *hit = part->hit + (int64_t)number * part->hits;
    int64_t width = 1 + part->hits;
    int any = 0;
    for (int64_t k = 0; k < part->hits; k++)
        if (hit[k]) {
            any = 1;
            NBC_NAME(raise_to)(part->reached + 2 * k, hit[k], leaf->total);
        }
    if (!any || leaf->end - leaf->start == 1) {
        /* Its confidences stay 0, or those of one row, however it is split. */
        for (int64_t i = leaf->start; i < leaf->end; i++)
            part->leaf_of[part->order[i]] = NBC_FROZEN;
        if (leaf->histogram)
            NBC_NAME(give_back)(part, leaf->histogram);
        leaf->histogram = NULL;
        return;
    }
    if (leaf->histogram) {
        for (int64_t j = 0; j < part->attributes; j++) {
            const nbc_masked *about = part->about[j];
            if (!about->alive)
                continue;
            if (about->continuous) {
                int64_t cell = NBC_NAME(cell_of)(part, leaf, j);
                if (cell != NBC_NONE && about->live[cell])
                    NBC_NAME(consider)(part, part->candidate[j] + cell, leaf->histogram + part->slot[j] * width, leaf,
                                       hit);
                continue;
            }
            for (int64_t i = 0; i < about->n_listed; i++) {
                int64_t value = about->listed[i];
                if (about->live[value])
                    NBC_NAME(consider)(part, part->candidate[j] + value,
                                   leaf->histogram + (part->slot[j] + value) * width, leaf, hit);
            }
        }
        return;
    }
    NBC_COUNT *scratch = part->scratch;
    for (int64_t j = 0; j < part->attributes; j++) {
        const nbc_masked *about = part->about[j];
        if (!about->alive)
            continue;
        int64_t found = 0;
        for (int64_t i = leaf->start; i < leaf->end; i++) {
            int64_t row = part->order[i];
            NBC_CODE code = NBC_NAME(code_of)(part, row, j);
            int64_t slot = NBC_NAME(slot_of)(part, j, code);
            if (slot == NBC_NONE || (!about->continuous && !about->live[code]))
                continue;
            NBC_COUNT *cell = scratch + slot * width;
            if (!cell[0])
                part->found[found++] = slot;
            NBC_COUNT weight = part->weights[row];
            cell[0] += weight;
            NBC_NAME(add_marks)(part, cell + 1, row, 0, weight);
        }
        for (int64_t i = 0; i < found; i++) {
            NBC_COUNT *cell = scratch + part->found[i] * width;
            int64_t value = part->found[i] - part->slot[j];
            if (about->continuous)
                value = NBC_NAME(cell_of)(part, leaf, j);
            if (value != NBC_NONE && about->live[value])
                NBC_NAME(consider)(part, part->candidate[j] + value, cell, leaf, hit);
            memset(cell, 0, width * sizeof(NBC_COUNT));
        }
    }
}

/* A new leaf of the last `moved` rows of another, with its totals; its number, or NBC_FROZEN without memory. */
static uint32_t NBC_NAME(split)(NBC_NAME(part) *part, uint32_t number)
{
    if (NBC_NAME(part_room)(part, part->used + 1))
        return NBC_FROZEN;
    NBC_NAME(leaf) *old = part->leaves + number;
    NBC_NAME(leaf) *new = part->leaves + part->used;
    uint32_t name = (uint32_t)part->used++;
    new->start = old->end - old->moved;
    new->end = old->end;
    old->end = new->start;
    new->total = 0;
    new->histogram = NULL;
    new->stamp = part->now;
    new->moved = 0;
    NBC_COUNT *hit = part->hit + (int64_t)name * part->hits, *rest = part->hit + (int64_t)number * part->hits;
    memset(hit, 0, part->hits * sizeof(NBC_COUNT));
    for (int64_t i = new->start; i < new->end; i++) {
        if (i + NBC_AHEAD < new->end) {
            uint32_t next = part->order[i + NBC_AHEAD];
            NBC_NAME(ask_for)(part, next);
            NBC_PREFETCH(part->leaf_of + next);
        }
        int64_t row = part->order[i];
        part->leaf_of[row] = name;
        NBC_COUNT weight = part->weights[row];
        new->total += weight;
        NBC_NAME(add_marks)(part, hit, row, 0, weight);
    }
    old->total -= new->total;
    for (int64_t k = 0; k < part->hits; k++)
        rest[k] -= hit[k];
    return name;
}

/* Share the histogram of a leaf that was split: only the side with fewer rows is looked through. */
static int NBC_NAME(share)(NBC_NAME(part) *part, uint32_t number, uint32_t name)
{
    NBC_NAME(leaf) *old = part->leaves + number, *new = part->leaves + name;
    if (!old->histogram)
        return 0;
    int turned = new->end - new->start > old->end - old->start;
    NBC_NAME(leaf) *few = turned ? old : new, *many = turned ? new : old;
    NBC_COUNT *whole = old->histogram;
    old->histogram = NULL;
    if (!NBC_NAME(is_large)(part, many->end - many->start)) {
        NBC_NAME(give_back)(part, whole);
        return 0;
    }
    many->histogram = whole;
    if (!NBC_NAME(is_large)(part, few->end - few->start)) {
        NBC_NAME(fill)(part, whole, few->start, few->end, 0);
        return 0;
    }
    NBC_COUNT *block = NBC_NAME(block)(part);
    if (!block)
        return -1;
    few->histogram = block;
    NBC_NAME(fill)(part, block, few->start, few->end, 1);
    int64_t cells = part->slots * (1 + part->hits);
    for (int64_t i = 0; i < cells; i++)
        whole[i] -= block[i];
    return 0;
}

/* Put a row at the end of its leaf, before those that were put there already. */
static inline void NBC_NAME(set_apart)(NBC_NAME(part) *part, NBC_NAME(leaf) *leaf, uint32_t row)
{
    uint32_t from = part->place[row], to = leaf->end - 1 - leaf->moved++;
    uint32_t other = part->order[to];
    part->order[to] = row;
    part->place[row] = to;
    part->order[from] = other;
    part->place[other] = from;
}

static int NBC_NAME(touch)(NBC_NAME(part) *part, uint32_t number)
{
    if (part->n_touched == part->touched_room) {
        int64_t room = part->touched_room ? 2 * part->touched_room : 64;
        void *moved = nbc_enlarge(part->memory, part->touched, part->touched_room * sizeof(uint32_t),
                              room * sizeof(uint32_t));
        if (!moved)
            return -1;
        part->touched = moved;
        part->touched_room = room;
    }
    part->touched[part->n_touched++] = number;
    return 0;
}

/* Disclose the values low..cut-1, or what lies from cut on, of attribute j: 0, or -1 without memory.

   Of a categorical attribute the value `low` leaves what is suppressed (cut = low + 1, high is not used); of a
   continuous one the interval low..high-1 is cut, and `about` has the two new intervals already. */
static int NBC_NAME(disclose)(NBC_NAME(part) *part, int64_t j, int64_t low, int64_t cut, int64_t high)
{
    const nbc_masked *about = part->about[j];
    const uint32_t *rows = part->by_value[j];
    int64_t start = part->first[j][low], end = part->first[j][about->continuous ? high : low + 1];
    part->now++;
    part->n_touched = 0;
    for (int64_t i = start; i < end; i++) {
        if (i + 2 * NBC_AHEAD < end) {
            uint32_t next = rows[i + 2 * NBC_AHEAD];
            NBC_PREFETCH(part->leaf_of + next);
            NBC_PREFETCH(part->place + next);
        }
        if (i + NBC_AHEAD < end) {
            uint32_t next = rows[i + NBC_AHEAD];
            NBC_PREFETCH(part->order + part->place[next]);
        }
        uint32_t row = rows[i], number = part->leaf_of[row];
        if (number == NBC_FROZEN)
            continue;
        NBC_NAME(leaf) *leaf = part->leaves + number;
        if (leaf->stamp != part->now) {
            leaf->stamp = part->now;
            leaf->moved = 0;
            if (NBC_NAME(touch)(part, number))
                return -1;
        }
        if (!about->continuous || part->codes[(int64_t)row * part->attributes + j] >= cut)
            NBC_NAME(set_apart)(part, leaf, row);
    }
    int64_t n_touched = part->n_touched;
    for (int64_t i = 0; i < n_touched; i++) {
        uint32_t number = part->touched[i], name = NBC_FROZEN;
        NBC_NAME(leaf) *leaf = part->leaves + number;
        if (leaf->moved && leaf->moved < leaf->end - leaf->start) {
            name = NBC_NAME(split)(part, number);
            if (name == NBC_FROZEN)
                return -1;
        } else if (!about->continuous)
            continue; /* all its rows have the value: nothing changes but a name */
        if (!about->continuous) {
            if (NBC_NAME(share)(part, number, name))
                return -1;
        } else {
            uint32_t both[2] = {number, name};
            for (int side = 0; side < 2 && both[side] != NBC_FROZEN; side++) {
                leaf = part->leaves + both[side];
                if (NBC_NAME(is_large)(part, leaf->end - leaf->start)) {
                    if (!leaf->histogram)
                        leaf->histogram = NBC_NAME(block)(part);
                    else
                        memset(leaf->histogram, 0, part->slots * (1 + part->hits) * sizeof(NBC_COUNT));
                    if (!leaf->histogram)
                        return -1;
                    NBC_NAME(fill)(part, leaf->histogram, leaf->start, leaf->end, 1);
                } else if (leaf->histogram) {
                    NBC_NAME(give_back)(part, leaf->histogram);
                    leaf->histogram = NULL;
                }
            }
        }
        NBC_NAME(judge)(part, number);
        if (name != NBC_FROZEN)
            NBC_NAME(judge)(part, name);
    }
    return 0;
}

/* Forget what is known of a candidate. */
static void NBC_NAME(clear)(NBC_NAME(part) *part, int64_t j, int64_t candidate)
{
    NBC_COUNT *worst = part->worst + (part->candidate[j] + candidate) * part->hits * 2;
    for (int64_t k = 0; k < part->hits; k++) {
        worst[2 * k] = 0;
        worst[2 * k + 1] = 1;
    }
}

/* The partition before anything is disclosed: rows with the same group are one leaf. NULL without memory, or where
   `strange` says what is out of range. */
static NBC_NAME(part) *NBC_NAME(part_new)(nbc_memory *memory, int64_t rows, int64_t attributes,
                                          const NBC_CODE *codes, int64_t marks, const uint16_t *mark, int64_t hits,
                                          const NBC_COUNT *weights, nbc_masked **about, const uint32_t *groups,
                                          int64_t n_groups, int *strange)
{
    NBC_NAME(part) *part = nbc_acquire(memory, sizeof(NBC_NAME(part)));
    if (!part)
        return NULL;
    part->memory = memory;
    part->strange = strange;
    part->rows = rows;
    part->attributes = attributes;
    part->marks = marks;
    part->hits = hits;
    part->codes = codes;
    part->mark = mark;
    part->weights = weights;
    part->about = nbc_acquire(memory, attributes * sizeof(nbc_masked *));
    part->by_value = nbc_acquire(memory, attributes * sizeof(uint32_t *));
    part->first = nbc_acquire(memory, attributes * sizeof(int64_t *));
    part->slot = nbc_acquire(memory, attributes * sizeof(int64_t));
    part->candidate = nbc_acquire(memory, attributes * sizeof(int64_t));
    if (!part->about || !part->by_value || !part->first || !part->slot || !part->candidate)
        goto failed;
    part->order = nbc_acquire(memory, rows * sizeof(uint32_t));
    part->place = nbc_acquire(memory, rows * sizeof(uint32_t));
    part->leaf_of = nbc_acquire(memory, rows * sizeof(uint32_t));
    if (!part->order || !part->place || !part->leaf_of)
        goto failed;
    for (int64_t j = 0; j < attributes; j++)
        part->about[j] = about[j];
    for (int64_t j = 0; j < attributes; j++) {
        part->slot[j] = part->slots;
        part->candidate[j] = part->candidates;
        part->slots += about[j]->continuous ? 1 : about[j]->values;
        part->candidates += about[j]->values;
        int64_t *first = part->first[j] = nbc_acquire(memory, (about[j]->values + 1) * sizeof(int64_t));
        uint32_t *sorted = part->by_value[j] = nbc_acquire(memory, rows * sizeof(uint32_t));
        if (!first || !sorted)
            goto failed;
        uint32_t *own = part->place; /* not used yet: the codes, which are gone through twice */
        for (int64_t row = 0; row < rows; row++) {
            NBC_CODE code = NBC_NAME(code_of)(part, row, j);
            if (code >= about[j]->values) {
                *strange = NBC_STRANGE_CODE + (int)j;
                goto failed;
            }
            own[row] = code;
            first[(int64_t)code + 1]++;
        }
        for (int64_t value = 0; value < about[j]->values; value++)
            first[value + 1] += first[value];
        for (int64_t row = 0; row < rows; row++)
            sorted[first[own[row]]++] = (uint32_t)row;
        for (int64_t value = about[j]->values; value > 0; value--)
            first[value] = first[value - 1];
        first[0] = 0;
    }
    part->worst = nbc_acquire(memory, part->candidates * hits * 2 * sizeof(NBC_COUNT));
    part->reached = nbc_acquire(memory, hits * 2 * sizeof(NBC_COUNT));
    part->scratch = nbc_acquire(memory, part->slots * (1 + hits) * sizeof(NBC_COUNT));
    part->found = nbc_acquire(memory, part->slots * sizeof(int64_t));
    if (!part->worst || !part->reached || !part->scratch ||
        !part->found || NBC_NAME(part_room)(part, n_groups))
        goto failed;
    for (int64_t j = 0; j < attributes; j++)
        for (int64_t value = 0; value < about[j]->values; value++)
            NBC_NAME(clear)(part, j, value);
    for (int64_t k = 0; k < hits; k++)
        part->reached[2 * k + 1] = 1;
    memset(part->leaves, 0, n_groups * sizeof(NBC_NAME(leaf)));
    memset(part->hit, 0, n_groups * hits * sizeof(NBC_COUNT));
    part->used = n_groups;
    for (int64_t row = 0; row < rows; row++) {
        uint32_t group = NBC_ONCE(uint32_t, groups + row);
        if (group >= n_groups) {
            *strange = NBC_STRANGE_GROUP;
            goto failed;
        }
        part->leaf_of[row] = group;
        part->leaves[group].end++;
    }
    uint32_t start = 0;
    for (int64_t i = 0; i < n_groups; i++) {
        uint32_t size = part->leaves[i].end;
        part->leaves[i].start = part->leaves[i].end = start;
        start += size;
    }
    for (int64_t row = 0; row < rows; row++) {
        NBC_NAME(leaf) *leaf = part->leaves + part->leaf_of[row];
        NBC_COUNT weight = weights[row];
        part->order[leaf->end] = (uint32_t)row;
        part->place[row] = leaf->end++;
        leaf->total += weight;
        NBC_NAME(add_marks)(part, part->hit + (int64_t)part->leaf_of[row] * hits, row, 0, weight);
    }
    if (*strange) {
        *strange = NBC_STRANGE_MARK;
        goto failed;
    }
    for (int64_t i = 0; i < n_groups; i++) {
        NBC_NAME(leaf) *leaf = part->leaves + i;
        if (NBC_NAME(is_large)(part, leaf->end - leaf->start)) {
            leaf->histogram = NBC_NAME(block)(part);
            if (!leaf->histogram)
                goto failed;
            NBC_NAME(fill)(part, leaf->histogram, leaf->start, leaf->end, 1);
        }
        NBC_NAME(judge)(part, (uint32_t)i);
    }
    return part;
failed:
    NBC_NAME(part_free)(part);
    return NULL;
}
