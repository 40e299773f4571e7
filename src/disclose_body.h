/* The partition of one quasi-identifier; included by disclose.h once a width of CODE, COUNT and WIDE.

   COUNT holds the weight of all records, WIDE products of two of them. Codes, marks and weights are the caller's:
   each code and mark is read once where it says where to go, and looked at there, as others may write to them. */

typedef struct {
    uint32_t start, end; /* its rows are order[start:end] */
    COUNT total;
    COUNT *histogram; /* slots x (1 + K), or NULL where its rows are looked through instead */
    uint32_t stamp, moved;
} NAME(Leaf);

typedef struct {
    size_t rows, attributes, marks, hits; /* hits: K, the sensitive values */
    const CODE *codes;                    /* rows x attributes */
    const uint16_t *mark;                 /* rows x marks: 1 + the sensitive value that a row has, or 0 */
    const COUNT *weights;
    Attribute **about;        /* of each attribute */
    size_t *slot, *candidate; /* where the values of each attribute begin in histograms and in `worst` */
    uint32_t **by_value;      /* rows in the order of an attribute's values */
    size_t **first;           /* where each value begins there */
    size_t slots, candidates;
    uint32_t *order, *place, *leaf_of;
    NAME(Leaf) * leaves;
    COUNT *hit; /* leaves x K */
    size_t used, room;
    COUNT *worst;    /* candidates x K x 2: the largest confidence once this is disclosed too, over leaves */
    COUNT *reached;  /* K x 2: the largest confidence */
    COUNT *scratch;  /* slots x (1 + K), zero between uses */
    size_t *found;   /* slots in use in scratch */
    uint32_t *touched;
    size_t n_touched, touched_room;
    uint32_t now;
    COUNT **spare;
    size_t n_spare, spare_room;
    Memory *memory;
    int *strange; /* set where codes or marks are out of range: see Search */
} NAME(Part);

static void NAME(part_free)(NAME(Part) * part)
{
    Memory *memory = part->memory;
    if (part->leaves)
        for (size_t i = 0; i < part->used; i++)
            release(memory, part->leaves[i].histogram, part->slots * (1 + part->hits) * sizeof(COUNT));
    for (size_t i = 0; i < part->n_spare; i++)
        release(memory, part->spare[i], part->slots * (1 + part->hits) * sizeof(COUNT));
    for (size_t j = 0; j < part->attributes; j++) {
        if (part->by_value && part->by_value[j])
            release(memory, part->by_value[j], part->rows * sizeof(uint32_t));
        if (part->first && part->first[j])
            release(memory, part->first[j], (part->about[j]->values + 1) * sizeof(size_t));
    }
    release(memory, part->by_value, part->attributes * sizeof(uint32_t *));
    release(memory, part->first, part->attributes * sizeof(size_t *));
    release(memory, part->about, part->attributes * sizeof(Attribute *));
    release(memory, part->slot, part->attributes * sizeof(size_t));
    release(memory, part->candidate, part->attributes * sizeof(size_t));
    release(memory, part->order, part->rows * sizeof(uint32_t));
    release(memory, part->place, part->rows * sizeof(uint32_t));
    release(memory, part->leaf_of, part->rows * sizeof(uint32_t));
    release(memory, part->leaves, part->room * sizeof(NAME(Leaf)));
    release(memory, part->hit, part->room * part->hits * sizeof(COUNT));
    release(memory, part->worst, part->candidates * part->hits * 2 * sizeof(COUNT));
    release(memory, part->reached, part->hits * 2 * sizeof(COUNT));
    release(memory, part->scratch, part->slots * (1 + part->hits) * sizeof(COUNT));
    release(memory, part->found, part->slots * sizeof(size_t));
    release(memory, part->touched, part->touched_room * sizeof(uint32_t));
    release(memory, part->spare, part->spare_room * sizeof(COUNT *));
    release(memory, part, sizeof(NAME(Part)));
}

/* Make room for `leaves` leaves; 0, or -1 without memory. */
static int NAME(part_room)(NAME(Part) * part, size_t leaves)
{
    if (leaves <= part->room)
        return 0;
    size_t room = part->room ? part->room : 64;
    while (room < leaves)
        room *= 2;
    void *moved = enlarge(part->memory, part->leaves, part->room * sizeof(NAME(Leaf)), room * sizeof(NAME(Leaf)));
    if (!moved)
        return -1;
    part->leaves = moved;
    size_t each = part->hits * sizeof(COUNT);
    moved = enlarge(part->memory, part->hit, part->room * each, room * each);
    if (!moved) {
        /* Both arrays have the old room again, as far as the books go. */
        part->memory->now -= (room - part->room) * sizeof(NAME(Leaf));
        return -1;
    }
    part->hit = moved;
    part->room = room;
    return 0;
}

static inline void NAME(raise_to)(COUNT *best, COUNT hits, COUNT total)
{
    if ((WIDE)hits * best[1] > (WIDE)best[0] * total) {
        best[0] = hits;
        best[1] = total;
    }
}

static COUNT *NAME(block)(NAME(Part) * part)
{
    size_t bytes = part->slots * (1 + part->hits) * sizeof(COUNT);
    if (part->n_spare) {
        COUNT *block = part->spare[--part->n_spare];
        memset(block, 0, bytes);
        return block;
    }
    return acquire(part->memory, bytes);
}

/* Keep a block for the next leaf; where there is no room to note it, give it back. */
static void NAME(give_back)(NAME(Part) * part, COUNT *block)
{
    if (part->n_spare == part->spare_room) {
        size_t room = part->spare_room ? 2 * part->spare_room : 16;
        void *moved = enlarge(part->memory, part->spare, part->spare_room * sizeof(COUNT *), room * sizeof(COUNT *));
        if (!moved) {
            release(part->memory, block, part->slots * (1 + part->hits) * sizeof(COUNT));
            return;
        }
        part->spare = moved;
        part->spare_room = room;
    }
    part->spare[part->n_spare++] = block;
}

/* A histogram costs as much to look through as so many rows. */
static inline int NAME(is_large)(const NAME(Part) * part, size_t rows)
{
    return rows * part->attributes >= part->slots;
}

/* The code of a row, read once. */
static inline CODE NAME(code_of)(const NAME(Part) * part, size_t row, size_t j)
{
    return *(const volatile CODE *)(part->codes + row * part->attributes + j);
}

/* The slot of a row's value, or SIZE_MAX where it is on the other side of a cut, or nothing is asked of it. */
static inline size_t NAME(slot_of)(const NAME(Part) * part, size_t j, CODE code)
{
    const Attribute *about = part->about[j];
    if (code >= about->values) {
        *part->strange = STRANGE_SINCE;
        return SIZE_MAX;
    }
    if (!about->continuous)
        return part->slot[j] + code;
    return (int64_t)code < about->cut[about->cell_of[code]] ? part->slot[j] : SIZE_MAX;
}

/* Add a weight to the hits (from the first sensitive value on) that a row is marked with from mark `s` on. */
static inline void NAME(add_marks)(const NAME(Part) * part, COUNT *hit, size_t row, size_t s, COUNT weight)
{
    for (; s < part->marks; s++) {
        const uint16_t mark = *(const volatile uint16_t *)(part->mark + row * part->marks + s);
        if (!mark)
            continue;
        if (mark > part->hits)
            *part->strange = STRANGE_SINCE;
        else
            hit[mark - 1] += weight;
    }
}

static inline void NAME(ask_for)(const NAME(Part) * part, size_t row)
{
    ASK_FOR(part->codes + row * part->attributes);
    ASK_FOR(part->mark + row * part->marks);
    ASK_FOR(part->weights + row);
}

/* Add (or take away) the rows order[start:end] in a histogram. */
static void NAME(fill)(const NAME(Part) * part, COUNT *histogram, size_t start, size_t end, int add)
{
    size_t width = 1 + part->hits;
    for (size_t i = start; i < end; i++) {
        if (i + AHEAD < end)
            NAME(ask_for)(part, part->order[i + AHEAD]);
        size_t row = part->order[i];
        COUNT weight = add ? part->weights[row] : (COUNT)0 - part->weights[row];
        uint16_t mark = *(const volatile uint16_t *)(part->mark + row * part->marks);
        if (mark > part->hits) {
            *part->strange = STRANGE_SINCE;
            mark = 0;
        }
        for (size_t j = 0; j < part->attributes; j++) {
            if (!part->about[j]->alive)
                continue;
            size_t slot = NAME(slot_of)(part, j, NAME(code_of)(part, row, j));
            if (slot == SIZE_MAX)
                continue;
            COUNT *cell = histogram + slot * width;
            cell[0] += weight;
            if (mark)
                cell[mark] += weight;
            if (part->marks > 1)
                NAME(add_marks)(part, cell + 1, row, 1, weight);
        }
    }
}

/* What disclosing a candidate makes of a leaf: its records with the value, and those without. */
static inline void NAME(consider)(NAME(Part) * part, size_t candidate, const COUNT *with, const NAME(Leaf) * leaf,
                                  const COUNT *hit)
{
    COUNT total = with[0], rest = leaf->total - total;
    if (!total || !rest)
        return;
    COUNT *worst = part->worst + candidate * part->hits * 2;
    for (size_t k = 0; k < part->hits; k++) {
        if (!hit[k])
            continue;
        NAME(raise_to)(worst + 2 * k, with[1 + k], total);
        NAME(raise_to)(worst + 2 * k, hit[k] - with[1 + k], rest);
    }
}

/* The interval that the rows of a leaf lie in, or SIZE_MAX where the code of the first one is out of range. */
static inline size_t NAME(cell_of)(const NAME(Part) * part, const NAME(Leaf) * leaf, size_t j)
{
    CODE code = NAME(code_of)(part, part->order[leaf->start], j);
    if (code < part->about[j]->values)
        return part->about[j]->cell_of[code];
    *part->strange = STRANGE_SINCE;
    return SIZE_MAX;
}

/* Raise the confidences by what a leaf has; freeze it where nothing can come of it any more. */
static void NAME(judge)(NAME(Part) * part, uint32_t number)
{
    NAME(Leaf) *leaf = part->leaves + number;
    COUNT *hit = part->hit + (size_t)number * part->hits;
    size_t width = 1 + part->hits;
    int any = 0;
    for (size_t k = 0; k < part->hits; k++)
        if (hit[k]) {
            any = 1;
            NAME(raise_to)(part->reached + 2 * k, hit[k], leaf->total);
        }
    if (!any || leaf->end - leaf->start == 1) {
        /* Its confidences stay 0, or those of one row, however it is split. */
        for (size_t i = leaf->start; i < leaf->end; i++)
            part->leaf_of[part->order[i]] = FROZEN;
        if (leaf->histogram)
            NAME(give_back)(part, leaf->histogram);
        leaf->histogram = NULL;
        return;
    }
    if (leaf->histogram) {
        for (size_t j = 0; j < part->attributes; j++) {
            const Attribute *about = part->about[j];
            if (!about->alive)
                continue;
            if (about->continuous) {
                size_t cell = NAME(cell_of)(part, leaf, j);
                if (cell != SIZE_MAX && about->live[cell])
                    NAME(consider)(part, part->candidate[j] + cell, leaf->histogram + part->slot[j] * width, leaf, hit);
                continue;
            }
            for (size_t i = 0; i < about->n_listed; i++) {
                size_t value = about->listed[i];
                if (about->live[value])
                    NAME(consider)(part, part->candidate[j] + value,
                                   leaf->histogram + (part->slot[j] + value) * width, leaf, hit);
            }
        }
        return;
    }
    COUNT *scratch = part->scratch;
    for (size_t j = 0; j < part->attributes; j++) {
        const Attribute *about = part->about[j];
        if (!about->alive)
            continue;
        size_t found = 0;
        for (size_t i = leaf->start; i < leaf->end; i++) {
            size_t row = part->order[i];
            CODE code = NAME(code_of)(part, row, j);
            size_t slot = NAME(slot_of)(part, j, code);
            if (slot == SIZE_MAX || (!about->continuous && !about->live[code]))
                continue;
            COUNT *cell = scratch + slot * width;
            if (!cell[0])
                part->found[found++] = slot;
            COUNT weight = part->weights[row];
            cell[0] += weight;
            NAME(add_marks)(part, cell + 1, row, 0, weight);
        }
        for (size_t i = 0; i < found; i++) {
            COUNT *cell = scratch + part->found[i] * width;
            size_t value = part->found[i] - part->slot[j];
            if (about->continuous)
                value = NAME(cell_of)(part, leaf, j);
            if (value != SIZE_MAX && about->live[value])
                NAME(consider)(part, part->candidate[j] + value, cell, leaf, hit);
            memset(cell, 0, width * sizeof(COUNT));
        }
    }
}

/* A new leaf of the last `moved` rows of another, with its totals; its number, or FROZEN without memory. */
static uint32_t NAME(split)(NAME(Part) * part, uint32_t number)
{
    if (NAME(part_room)(part, part->used + 1))
        return FROZEN;
    NAME(Leaf) *old = part->leaves + number;
    NAME(Leaf) *new = part->leaves + part->used;
    uint32_t name = (uint32_t)part->used++;
    new->start = old->end - old->moved;
    new->end = old->end;
    old->end = new->start;
    new->total = 0;
    new->histogram = NULL;
    new->stamp = part->now;
    new->moved = 0;
    COUNT *hit = part->hit + (size_t)name * part->hits, *rest = part->hit + (size_t)number * part->hits;
    memset(hit, 0, part->hits * sizeof(COUNT));
    for (size_t i = new->start; i < new->end; i++) {
        if (i + AHEAD < new->end) {
            uint32_t next = part->order[i + AHEAD];
            NAME(ask_for)(part, next);
            ASK_FOR(part->leaf_of + next);
        }
        size_t row = part->order[i];
        part->leaf_of[row] = name;
        COUNT weight = part->weights[row];
        new->total += weight;
        NAME(add_marks)(part, hit, row, 0, weight);
    }
    old->total -= new->total;
    for (size_t k = 0; k < part->hits; k++)
        rest[k] -= hit[k];
    return name;
}

/* Share the histogram of a leaf that was split: only the side with fewer rows is looked through. */
static int NAME(share)(NAME(Part) * part, uint32_t number, uint32_t name)
{
    NAME(Leaf) *old = part->leaves + number, *new = part->leaves + name;
    if (!old->histogram)
        return 0;
    int turned = new->end - new->start > old->end - old->start;
    NAME(Leaf) *few = turned ? old : new, *many = turned ? new : old;
    COUNT *whole = old->histogram;
    old->histogram = NULL;
    if (!NAME(is_large)(part, many->end - many->start)) {
        NAME(give_back)(part, whole);
        return 0;
    }
    many->histogram = whole;
    if (!NAME(is_large)(part, few->end - few->start)) {
        NAME(fill)(part, whole, few->start, few->end, 0);
        return 0;
    }
    COUNT *block = NAME(block)(part);
    if (!block)
        return -1;
    few->histogram = block;
    NAME(fill)(part, block, few->start, few->end, 1);
    size_t cells = part->slots * (1 + part->hits);
    for (size_t i = 0; i < cells; i++)
        whole[i] -= block[i];
    return 0;
}

/* Put a row at the end of its leaf, before those that were put there already. */
static inline void NAME(set_apart)(NAME(Part) * part, NAME(Leaf) * leaf, uint32_t row)
{
    uint32_t from = part->place[row], to = leaf->end - 1 - leaf->moved++;
    uint32_t other = part->order[to];
    part->order[to] = row;
    part->place[row] = to;
    part->order[from] = other;
    part->place[other] = from;
}

static int NAME(touch)(NAME(Part) * part, uint32_t number)
{
    if (part->n_touched == part->touched_room) {
        size_t room = part->touched_room ? 2 * part->touched_room : 64;
        void *moved = enlarge(part->memory, part->touched, part->touched_room * sizeof(uint32_t),
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
static int NAME(disclose)(NAME(Part) * part, size_t j, size_t low, size_t cut, size_t high)
{
    const Attribute *about = part->about[j];
    const uint32_t *rows = part->by_value[j];
    size_t start = part->first[j][low], end = part->first[j][about->continuous ? high : low + 1];
    part->now++;
    part->n_touched = 0;
    for (size_t i = start; i < end; i++) {
        if (i + 2 * AHEAD < end) {
            uint32_t next = rows[i + 2 * AHEAD];
            ASK_FOR(part->leaf_of + next);
            ASK_FOR(part->place + next);
        }
        if (i + AHEAD < end) {
            uint32_t next = rows[i + AHEAD];
            ASK_FOR(part->order + part->place[next]);
        }
        uint32_t row = rows[i], number = part->leaf_of[row];
        if (number == FROZEN)
            continue;
        NAME(Leaf) *leaf = part->leaves + number;
        if (leaf->stamp != part->now) {
            leaf->stamp = part->now;
            leaf->moved = 0;
            if (NAME(touch)(part, number))
                return -1;
        }
        if (!about->continuous || part->codes[(size_t)row * part->attributes + j] >= cut)
            NAME(set_apart)(part, leaf, row);
    }
    size_t n_touched = part->n_touched;
    for (size_t i = 0; i < n_touched; i++) {
        uint32_t number = part->touched[i], name = FROZEN;
        NAME(Leaf) *leaf = part->leaves + number;
        if (leaf->moved && leaf->moved < leaf->end - leaf->start) {
            name = NAME(split)(part, number);
            if (name == FROZEN)
                return -1;
        } else if (!about->continuous)
            continue; /* all its rows have the value: nothing changes but a name */
        if (!about->continuous) {
            if (NAME(share)(part, number, name))
                return -1;
        } else {
            uint32_t both[2] = {number, name};
            for (int side = 0; side < 2 && both[side] != FROZEN; side++) {
                leaf = part->leaves + both[side];
                if (NAME(is_large)(part, leaf->end - leaf->start)) {
                    if (!leaf->histogram)
                        leaf->histogram = NAME(block)(part);
                    else
                        memset(leaf->histogram, 0, part->slots * (1 + part->hits) * sizeof(COUNT));
                    if (!leaf->histogram)
                        return -1;
                    NAME(fill)(part, leaf->histogram, leaf->start, leaf->end, 1);
                } else if (leaf->histogram) {
                    NAME(give_back)(part, leaf->histogram);
                    leaf->histogram = NULL;
                }
            }
        }
        NAME(judge)(part, number);
        if (name != FROZEN)
            NAME(judge)(part, name);
    }
    return 0;
}

/* Forget what is known of a candidate. */
static void NAME(clear)(NAME(Part) * part, size_t j, size_t candidate)
{
    COUNT *worst = part->worst + (part->candidate[j] + candidate) * part->hits * 2;
    for (size_t k = 0; k < part->hits; k++) {
        worst[2 * k] = 0;
        worst[2 * k + 1] = 1;
    }
}

/* The partition before anything is disclosed: rows with the same group are one leaf. NULL without memory, or where
   `strange` says what is out of range. */
static NAME(Part) *NAME(part_new)(Memory *memory, size_t rows, size_t attributes, const CODE *codes, size_t marks,
                                  const uint16_t *mark, size_t hits, const COUNT *weights, Attribute **about,
                                  const uint32_t *groups, size_t n_groups, int *strange)
{
    NAME(Part) *part = acquire(memory, sizeof(NAME(Part)));
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
    part->about = acquire(memory, attributes * sizeof(Attribute *));
    part->by_value = acquire(memory, attributes * sizeof(uint32_t *));
    part->first = acquire(memory, attributes * sizeof(size_t *));
    part->slot = acquire(memory, attributes * sizeof(size_t));
    part->candidate = acquire(memory, attributes * sizeof(size_t));
    if (!part->about || !part->by_value || !part->first || !part->slot || !part->candidate)
        goto failed;
    part->order = acquire(memory, rows * sizeof(uint32_t));
    part->place = acquire(memory, rows * sizeof(uint32_t));
    part->leaf_of = acquire(memory, rows * sizeof(uint32_t));
    if (!part->order || !part->place || !part->leaf_of)
        goto failed;
    for (size_t j = 0; j < attributes; j++)
        part->about[j] = about[j];
    for (size_t j = 0; j < attributes; j++) {
        part->slot[j] = part->slots;
        part->candidate[j] = part->candidates;
        part->slots += about[j]->continuous ? 1 : about[j]->values;
        part->candidates += about[j]->values;
        size_t *first = part->first[j] = acquire(memory, (about[j]->values + 1) * sizeof(size_t));
        uint32_t *sorted = part->by_value[j] = acquire(memory, rows * sizeof(uint32_t));
        if (!first || !sorted)
            goto failed;
        uint32_t *own = part->place; /* not used yet: the codes, which are gone through twice */
        for (size_t row = 0; row < rows; row++) {
            CODE code = NAME(code_of)(part, row, j);
            if (code >= about[j]->values) {
                *strange = STRANGE_CODE + (int)j;
                goto failed;
            }
            own[row] = code;
            first[(size_t)code + 1]++;
        }
        for (size_t value = 0; value < about[j]->values; value++)
            first[value + 1] += first[value];
        for (size_t row = 0; row < rows; row++)
            sorted[first[own[row]]++] = (uint32_t)row;
        for (size_t value = about[j]->values; value > 0; value--)
            first[value] = first[value - 1];
        first[0] = 0;
    }
    part->worst = acquire(memory, part->candidates * hits * 2 * sizeof(COUNT));
    part->reached = acquire(memory, hits * 2 * sizeof(COUNT));
    part->scratch = acquire(memory, part->slots * (1 + hits) * sizeof(COUNT));
    part->found = acquire(memory, part->slots * sizeof(size_t));
    if (!part->worst || !part->reached || !part->scratch ||
        !part->found || NAME(part_room)(part, n_groups))
        goto failed;
    for (size_t j = 0; j < attributes; j++)
        for (size_t value = 0; value < about[j]->values; value++)
            NAME(clear)(part, j, value);
    for (size_t k = 0; k < hits; k++)
        part->reached[2 * k + 1] = 1;
    memset(part->leaves, 0, n_groups * sizeof(NAME(Leaf)));
    memset(part->hit, 0, n_groups * hits * sizeof(COUNT));
    part->used = n_groups;
    for (size_t row = 0; row < rows; row++) {
        uint32_t group = *(const volatile uint32_t *)(groups + row);
        if (group >= n_groups) {
            *strange = STRANGE_GROUP;
            goto failed;
        }
        part->leaf_of[row] = group;
        part->leaves[group].end++;
    }
    uint32_t start = 0;
    for (size_t i = 0; i < n_groups; i++) {
        uint32_t size = part->leaves[i].end;
        part->leaves[i].start = part->leaves[i].end = start;
        start += size;
    }
    for (size_t row = 0; row < rows; row++) {
        NAME(Leaf) *leaf = part->leaves + part->leaf_of[row];
        COUNT weight = weights[row];
        part->order[leaf->end] = (uint32_t)row;
        part->place[row] = leaf->end++;
        leaf->total += weight;
        NAME(add_marks)(part, part->hit + (size_t)part->leaf_of[row] * hits, row, 0, weight);
    }
    if (*strange) {
        *strange = STRANGE_MARK;
        goto failed;
    }
    for (size_t i = 0; i < n_groups; i++) {
        NAME(Leaf) *leaf = part->leaves + i;
        if (NAME(is_large)(part, leaf->end - leaf->start)) {
            leaf->histogram = NAME(block)(part);
            if (!leaf->histogram)
                goto failed;
            NAME(fill)(part, leaf->histogram, leaf->start, leaf->end, 1);
        }
        NAME(judge)(part, (uint32_t)i);
    }
    return part;
failed:
    NAME(part_free)(part);
    return NULL;
}
