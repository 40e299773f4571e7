/* One half against the other, for one kind of number. Included by box.h with NBC_NUMBER and NBC_NAMED(name). */

/* The sums over all combinations of a half's attributes, the last attribute's value the fastest. */
static void NBC_NAMED(nbc_sums)(const NBC_NUMBER *numbers, const int32_t *sizes, int32_t n_attributes,
                                NBC_NUMBER *sums)
{
    int64_t n = 1, at = 0;
    sums[0] = 0;
    for (int32_t i = 0; i < n_attributes; i++) {
        const NBC_NUMBER *own = numbers + at;
        const int64_t size = sizes[i];
        for (int64_t k = n - 1; k >= 0; k--) {  /* from the end, so that nothing is overwritten too early */
            const NBC_NUMBER sum = sums[k];
            for (int64_t t = size - 1; t >= 0; t--)
                sums[k * size + t] = sum + own[t];
        }
        n *= size;
        at += size;
    }
}

/* For each row of a half the lowest sum over its tuples of label 0, and the highest over those of label 1, taken
   negative; the rows below `limit` are entered at each of their values where they are the lowest so far. */
static void NBC_NAMED(nbc_pass)(const nbc_side *rows, const nbc_side *others, const NBC_NUMBER *own,
                                const NBC_NUMBER *their, NBC_NUMBER limit, NBC_NUMBER *extreme, int32_t *place,
                                NBC_NUMBER *least, int32_t *found, NBC_NUMBER *lowest, int *any)
{
    const int64_t n = rows->n, m = others->n;
    for (int label = 0; label < 2; label++) {
        /* Label 0 goes with the first of the others in their order, label 1 with the last. */
        int32_t code[NBC_MOST_ATTRIBUTES] = {0};
        NBC_NUMBER sofar = 0;
        int32_t at = -1;
        for (int64_t k = 0; k < m; k++) {
            const int64_t here = label ? m - 1 - k : k;
            const int32_t other = others->order[here];
            const NBC_NUMBER value = label ? -their[other] : their[other];
            if (at < 0 || value < sofar || (value == sofar && other < at)) {
                sofar = value;
                at = other;
            }
            extreme[here] = sofar;
            place[here] = at;
        }
        for (int64_t row = 0; row < n; row++) {
            const int64_t count = rows->count[row];
            const int64_t here = label ? count : count - 1;
            if (here >= 0 && here < m) {
                const NBC_NUMBER value = (label ? -own[row] : own[row]) + extreme[here];
                if (!any[label] || value < lowest[label]) {
                    lowest[label] = value;
                    any[label] = 1;
                }
                if (value < limit) {
                    int64_t start = 0;
                    for (int32_t i = 0; i < rows->n_attributes; i++) {
                        const int64_t slot = 2 * (start + code[i]) + label;
                        if (found[2 * slot] < 0 || value < least[slot]) {
                            least[slot] = value;
                            found[2 * slot] = (int32_t)row;
                            found[2 * slot + 1] = place[here];
                        }
                        start += rows->sizes[i];
                    }
                }
            }
            for (int32_t i = rows->n_attributes - 1; i >= 0 && ++code[i] == rows->sizes[i]; i--)
                code[i] = 0;
        }
    }
}
