"""Mondrian: records of codes, split level by level or subtree by subtree into groups that stay safe."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from shared.in_use cimport apart, give, leave, share, take
from nbcfast._columns cimport Columns
from partition cimport (
    NBC_MOST_PEOPLE, NBC_NO_MEMORY, NBC_NO_RECORDS, NBC_SPLIT, nbc_add_leaf, nbc_branch, nbc_challenge,
    nbc_challenge_all, nbc_commit, nbc_count, nbc_count_leaf, nbc_counts_more, nbc_evaluate, nbc_fill,
    nbc_finish, nbc_gather, nbc_joint, nbc_joint_fits, nbc_kid, nbc_leaf, nbc_least, nbc_limit_t, nbc_longs,
    nbc_longs_more, nbc_move, nbc_part_safe, nbc_plan_t, nbc_point, nbc_problem, nbc_quasi, nbc_scratch,
)


cdef enum:
    BLOCK = 1024  # records filled at a time
    MOST_QUASI = 1022
    FRESH = 0     # of a node: nothing is known
    EVALUATED = 1
    FINISHED = 2  # its leaves are known


cdef struct Plan:
    nbc_plan_t plan
    int64_t scratch     # its place among those that commit gets
    int64_t owner       # which one it is, and how often that had forgotten
    int64_t generation
    int64_t start, rows, people, at     # the node's numbers as they were checked, while it is in use
    int state
    int committed, busy


cdef int64_t n_scratches = 0    # made so far: each has a number of its own


cdef class Problem:
    """What is split and what is demanded of the parts, with the running minima that all groups share.

    Parameters
    ----------
    sizes : how many codes each quasi-identifier has
    positions : for each its codes' positions, int64 from 0 to 2^30
    trees : for each None, or int64 (nodes, 4): lo, hi, first child, number of children; node 0 is the root,
        children stand side by side behind their parent and tile its codes
    n_values, n_targets : codes of the sensitive value (at least 1), of the target (0: there is none)
    weighted : whether rows stand for several people
    by_gain : try attributes by what they tell of the target
    least_people : of a group; 0 for none
    diversity : None, or (l, num, den) of recursive (c,l)-diversity
    closeness : None, or (kind, num, den): kind 1 for equal distances, 2 for ordered ones
    totals : people of each value in the whole table
    points : (l, k, m, num, den, certain, shared, band): odds must stay above num / den

    Numerators and denominators are uint64 words, lowest first. Counts of people are at most 2^62 in all (with
    closeness, their square times n_values, and times 2, is below 2^126), l of a point is at most n_values, and k
    and m are below 2^62.

    The order of calls: `admit` once; `fill`; then of each node of a level `evaluate` (or `evaluate_joint`) and,
    where `shared`, `commit`, or else `finish`; then `children` and `move`. Calls for other nodes may run at the
    same time, each with a scratch of its own; `admit` and `commit` run alone.
    """
    cdef nbc_problem q
    cdef nbc_quasi *quasi
    cdef nbc_point *points
    cdef nbc_branch **trees
    cdef int64_t most_kids
    cdef list kept          # arrays that the pointers lead into
    cdef int64_t[::1] totals
    cdef int users
    cdef bint asked, admitted
    cdef int64_t[::1] starts
    cdef readonly object first

    def __cinit__(self, list sizes not None, list positions not None, list trees not None, int64_t n_values,
                  int64_t n_targets, bint weighted, bint by_gain, int64_t least_people, diversity, closeness,
                  const int64_t[::1] totals not None, list points not None):
        cdef int64_t i, n = len(sizes), most = 1, m, words = 0, codes, place
        cdef const int64_t[::1] position
        if n < 1 or len(positions) != n or len(trees) != n:
            raise ValueError(f"{n} sizes, {len(positions)} positions and {len(trees)} trees")
        if n_values < 1 or totals.shape[0] != n_values or n_targets < 0 or (by_gain and n_targets < 1):
            raise ValueError(f"{n_values} values, {totals.shape[0]} totals, {n_targets} targets")
        if n > MOST_QUASI:
            raise ValueError(f"expected at most {MOST_QUASI} attributes, got {n}")
        if n_values > <int64_t> 1 << 32 or n_targets > <int64_t> 1 << 32:
            raise ValueError(f"expected at most 2^32 values and targets, got {n_values} and {n_targets}")
        if least_people < 0:
            raise ValueError(f"least_people must be at least 0, got {least_people}")
        sizes, positions, trees, points = list(sizes), list(positions), list(trees), list(points)
        self.kept = []
        self.quasi = <nbc_quasi *> calloc(<size_t> n, sizeof(nbc_quasi))
        self.points = <nbc_point *> calloc(<size_t> len(points) + 1, sizeof(nbc_point))
        self.trees = <nbc_branch **> calloc(<size_t> n, sizeof(nbc_branch *))
        if self.quasi == NULL or self.points == NULL or self.trees == NULL:
            raise MemoryError()
        self.q.n_quasi, self.q.n_values, self.q.n_targets, self.q.n_points = n, n_values, n_targets, len(points)
        self.most_kids = 2
        firsts = np.zeros(n + 1, np.int64)
        for i in range(n):
            codes = sizes[i]
            position = positions[i]
            if not 1 <= codes <= <int64_t> 1 << 32 or position.shape[0] != codes:
                raise ValueError(f"attribute {i}: {codes} codes, {position.shape[0]} positions")
            position = np.array(position)
            for place in range(codes):
                if not 0 <= position[place] <= 1 << 30:
                    raise ValueError(f"attribute {i}: positions must be 0..2^30, got {position[place]}")
            self.kept.append(position)
            self.quasi[i].size, self.quasi[i].position = codes, &position[0]
            most = max(most, codes)
            firsts[i + 1] = firsts[i] + codes
            if trees[i] is not None:
                take_tree(self, i, trees[i])
        self.first = firsts
        self.starts = firsts.copy()  # its own: the other one can be written to
        self.q.quasi = self.quasi
        self.q.width = 1 if most <= 256 else 2 if most <= 65536 else 4
        self.q.weighted = weighted
        # Behind the codes the target, the weight, the sensitive value and the row; 16 bytes at a time.
        m = (n * self.q.width + (4 if n_targets else 0) + 7) // 8 * 8 + (8 if weighted else 0) + 8
        self.q.stride = (m + 15) // 16 * 16
        self.q.row_at = self.q.stride - 4
        self.q.sensitive_at = self.q.stride - 8
        self.q.weight_at = self.q.stride - 16
        self.q.target_at = self.q.stride - (20 if weighted else 12)
        self.q.by_gain, self.q.least_people = by_gain, least_people
        if diversity is not None:
            l, num, den = diversity
            if l < 1:
                raise ValueError(f"diversity needs l of at least 1, got {l}")
            self.q.diverse_l = min(l, n_values + 1)  # beyond, nothing is diverse
            words = take_limit(self, &self.q.diverse_c, num, den)
            self.q.most_l = max(self.q.diverse_l - 2, 0)
        if closeness is not None:
            kind, num, den = closeness
            if kind not in (1, 2):
                raise ValueError(f"closeness must be of kind 1 or 2, got {kind}")
            self.q.close_kind = kind
            words = max(words, take_limit(self, &self.q.close_t, num, den))
        self.totals = np.array(totals)
        for i in range(n_values):
            if not 0 <= self.totals[i] <= NBC_MOST_PEOPLE - self.q.total:
                raise ValueError(f"totals must be at least 0 and at most 2^62 in all, got {self.totals[i]} at {i}")
            self.q.total += self.totals[i]
        if closeness is not None and int(self.q.total) ** 2 * max(n_values, 2) >= 1 << 126:
            raise ValueError(f"closeness cannot be decided for {self.q.total} people and {n_values} values")
        m = 0
        for i in range(len(points)):
            # Taken apart by name: the length is looked at, which an index would not be.
            (self.points[i].l, self.points[i].k, self.points[i].m, num, den, self.points[i].certain,
             self.points[i].shared, self.points[i].band) = points[i]
            if not 0 <= self.points[i].l <= n_values or self.points[i].k < 0 or self.points[i].m < 0:
                raise ValueError(f"point {i}: l, k and m must be at least 0 and l at most {n_values}")
            if self.points[i].k >= NBC_MOST_PEOPLE or self.points[i].m >= NBC_MOST_PEOPLE:
                raise ValueError(f"point {i}: k and m must be below 2^62")
            words = max(words, take_limit(self, &self.points[i].odds, num, den))
            self.q.most_l = max(self.q.most_l, self.points[i].l)
            self.q.any_shared = self.q.any_shared or self.points[i].shared
            if not 0 <= self.points[i].band < 1:
                raise ValueError(f"point {i}: band must be at least 0 and below 1, got {self.points[i].band}")
            m = max(m, min(self.points[i].m, self.q.total))  # beyond, no group is safe, and nothing is multiplied
        self.q.points = self.points
        if m >= <int64_t> 1 << 40:
            raise MemoryError(f"no memory for products of {m} factors")
        self.q.long_words = words + 2 * m + 8
        self.q.needs_values = bool(points) or diversity is not None or closeness is not None
        self.q.totals = &self.totals[0]
        self.q.least = <nbc_least *> calloc(<size_t> (n_values * len(points)) + 1, sizeof(nbc_least))
        if self.q.least == NULL:
            raise MemoryError()
        for i in range(n_values * len(points)):
            self.q.least[i].f3 = self.q.least[i].f5 = INFINITY

    def __dealloc__(self):
        cdef int64_t i
        if self.trees != NULL:
            for i in range(self.q.n_quasi):
                free(self.trees[i])
        free(self.trees)
        free(self.quasi)
        free(self.points)
        free(self.q.least)

    @property
    def stride(self):
        return self.q.stride

    @property
    def shared(self):
        """Whether some demand depends on other groups."""
        return bool(self.q.any_shared)

    def admit(self, Scratch scratch not None):
        """Whether the whole table, as one group, meets every demand; the running minima then are its own.

        Called once, before anything is split.
        """
        self.check_scratch(scratch)
        if self.asked:
            raise RuntimeError("admit must be called once, it was called before")
        take(&self.users, "Problem")
        try:
            take(&scratch.users, "Scratch")
            try:
                self.admitted = self._admit(scratch)
            finally:
                give(&scratch.users)
        finally:
            give(&self.users)
        self.asked = True
        return bool(self.admitted)

    cdef int check_scratch(self, Scratch scratch) except -1:
        if scratch.problem is not self:
            raise ValueError("scratch must have been made for this problem, got one of another")
        return 0

    cdef list checked(self, list scratches):
        """A copy of the list, which the caller may change while it is used."""
        scratches = list(scratches)
        if not scratches:
            raise ValueError("expected at least one scratch, got none")
        for scratch in scratches:
            if not isinstance(scratch, Scratch):
                raise TypeError(f"scratches must be Scratch objects, got {type(scratch).__name__}")
            self.check_scratch(scratch)
        return scratches

    cdef int check_admitted(self) except -1:
        if not self.asked:
            raise RuntimeError("admit must be called first")
        if not self.admitted:
            raise RuntimeError("admit said that the whole table is not safe: no part of it can be")
        return 0

    cdef bint _admit(self, Scratch scratch) except -1:
        cdef int64_t v, n = 0
        cdef nbc_scratch *s = &scratch.s
        cdef int safe
        if self.q.total < self.q.least_people:
            return False
        if not self.q.needs_values:
            return True
        if nbc_counts_more(&s.counts, self.q.n_values):
            raise MemoryError()
        for v in range(self.q.n_values):
            if self.q.totals[v]:
                s.counts.at[n].value, s.counts.at[n].count = v, self.q.totals[v]
                n += 1
        s.challenges.n = 0
        with nogil:
            safe = nbc_part_safe(&self.q, s, s.counts.at, n, self.q.total, s.tops.at, s.prefix.at)
            if safe == 1 and self.q.any_shared:
                safe = nbc_challenge_all(&self.q, s, s.counts.at, n, self.q.total, s.tops.at, s.prefix.at)
                if safe == 0:
                    safe = nbc_commit(&self.q, s, s.challenges.at, s.challenges.n)
        if safe < 0:
            raise MemoryError()
        return safe == 1

    def fill(self, Columns columns not None, list maps not None, const int64_t[::1] weights, int64_t start,
             int64_t stop, uint8_t[:, ::1] out not None):
        """Make records of rows start .. stop of the columns: the quasi-identifiers, the sensitive one, the target.

        `maps` has for each column None or uint32, code -> code of the record; a mapped code must be below the
        size of its attribute. The first record is out[0].
        """
        cdef int64_t a, row, n, bad = -1
        cdef int64_t n_columns = self.q.n_quasi + 1 + (1 if self.q.n_targets else 0)
        cdef const uint32_t *map_of[1024]
        cdef const uint32_t[::1] view
        cdef char *target
        cdef int64_t code, size, most
        held = []  # views: the list is the caller's
        maps = list(maps)
        if columns.n_columns != n_columns or len(maps) != n_columns or n_columns > 1024:
            raise ValueError(f"expected {n_columns} columns (at most 1024) and maps, got {columns.n_columns} and "
                             f"{len(maps)}")
        if not 0 <= start <= stop <= columns.n_rows or out.shape[0] < stop - start or out.shape[1] != self.q.stride:
            raise ValueError(f"rows {start} to {stop} of {columns.n_rows} do not fit {out.shape[0]} x {out.shape[1]}")
        if (weights is not None) != bool(self.q.weighted) or (weights is not None and weights.shape[0] < stop):
            raise ValueError("weights must be there exactly where rows are weighted, one a row")
        for a in range(n_columns):
            map_of[a] = NULL
            size = (self.quasi[a].size if a < self.q.n_quasi else self.q.n_values if a == self.q.n_quasi
                    else self.q.n_targets)
            if maps[a] is not None:
                view = maps[a]
                most = -1
                for code in range(view.shape[0]):
                    most = max(most, <int64_t> view[code])
                if view.shape[0] < columns.columns[a].size or most >= size:
                    raise ValueError(f"column {a}: its map has {view.shape[0]} codes, up to {most}; "
                                     f"expected {columns.columns[a].size} below {size}")
                held.append(view)
                if view.shape[0]:
                    map_of[a] = &view[0]
                    if start < stop:
                        apart(&out[0, 0], <size_t> out.shape[0] * <size_t> self.q.stride, map_of[a],
                              <size_t> view.shape[0] * 4, f"out and the map of column {a}")
            elif columns.columns[a].size > size:
                raise ValueError(f"column {a} has {columns.columns[a].size} codes, expected at most {size}")
        if start == stop:
            return
        target = <char *> &out[0, 0]
        with nogil:
            row = start
            while row < stop and bad < 0:
                n = min(<int64_t> BLOCK, stop - row)
                for a in range(n_columns):
                    bad = fill_block(self, columns, map_of[a], a, row, n, target + (row - start) * self.q.stride)
                    if bad >= 0:
                        break
                fill_rest(self, weights, row, n, target + (row - start) * self.q.stride)
                row += n
        if bad >= 0:
            raise ValueError(f"column {a}: the code of row {bad} is outside {columns.columns[a].size} values")

    def evaluate(self, Level level not None, Scratch scratch not None, int64_t number,
                 const uint8_t[:, ::1] rows not None, int64_t first, int64_t last):
        """For nodes first .. last the first attribute whose parts meet what does not depend on other groups.

        `number` is the place of the scratch among those that commit will get.
        """
        cdef int64_t i
        cdef int found = 0
        self.check_scratch(scratch)
        begin(self, level, first, last)
        try:
            check_span(self, level, rows, first, last)
            self.check_admitted()
            share(&self.users, "Problem")
            try:
                take(&scratch.users, "Scratch")
                with nogil:
                    for i in range(first, last):
                        found = evaluate_node(self, level, scratch, number, rows, i, 0)
                        if found < 0:
                            break
                give(&scratch.users)
            finally:
                leave(&self.users)
        finally:
            end(level, first, last)
        if found < 0:
            raise failure(found)

    def evaluate_joint(self, Level level not None, Scratch scratch not None, int64_t number, Joint joint not None,
                       int64_t node, int64_t rank=0):
        """The same for one node of which only counts are in memory, from the attribute of this rank on."""
        self.check_joint(level, joint, node)
        self.check_scratch(scratch)
        if rank < 0:
            raise ValueError(f"rank must be at least 0, got {rank}")
        begin(self, level, node, node + 1)
        try:
            self.check_admitted()
            share(&self.users, "Problem")
            try:
                self._evaluate_joint(level, scratch, number, joint, node, rank)
            finally:
                leave(&self.users)
        finally:
            end(level, node, node + 1)

    cdef int check_joint(self, Level level, Joint joint, int64_t node) except -1:
        if not 0 <= node < level.n:
            raise ValueError(f"node {node} of {level.n}")
        if joint.problem is not self:
            raise ValueError("joint must have been made for this problem, got one of another")
        return 0

    cdef int _evaluate_joint(self, Level level, Scratch scratch, int64_t number, Joint joint, int64_t node,
                             int64_t rank) except -1:
        cdef const int64_t[::1] first = self.starts
        cdef Plan *plan = &level.plans[node]
        cdef int found = NBC_NO_RECORDS
        cdef uint32_t box[2 * MOST_QUASI]  # a copy: the codes that are read of the counts are those between its ends
        take(&scratch.users, "Scratch")
        try:
            take(&joint.users, "Joint")
            plan.state = FRESH
            memcpy(box, &level.boxes_[node, 0], <size_t> (2 * self.q.n_quasi) * sizeof(uint32_t))
            with nogil:
                if nbc_joint_fits(&self.q, &joint.joint, &first[0], plan.rows, plan.people, box):
                    found = nbc_evaluate(&self.q, &scratch.s, NULL, plan.rows, plan.people, box, rank, &joint.joint,
                                         &first[0], &plan.plan)
            if found >= 0:
                note(plan, scratch, number)
            give(&joint.users)
        finally:
            give(&scratch.users)
        if found == NBC_NO_RECORDS:
            raise ValueError(f"node {node}: joint must hold the counts of its {plan.rows} rows and {plan.people} "
                             f"people, within its box")
        if found < 0:
            raise failure(found)
        return 0

    def commit(self, Level level not None, list scratches not None, const uint8_t[:, ::1] rows not None,
               int64_t first, int64_t last):
        """Accept or refuse, in their order, what nodes first .. last were evaluated to; refused ones go on to
        their next attribute.
        """
        cdef int64_t i
        cdef int done = 0
        cdef Scratch scratch, own
        cdef Plan *plan
        cdef int64_t n_taken = 0
        if not self.q.any_shared:
            return
        scratches = self.checked(scratches)
        own = scratches[0]
        begin(self, level, first, last)
        try:
            check_span(self, level, rows, first, last)
            take(&self.users, "Problem")
            try:
                for scratch in scratches:
                    take(&scratch.users, "Scratch")
                    n_taken += 1
                for i in range(first, last):
                    check_plan(self, level, i, scratches, False)
                for i in range(first, last):
                    plan = &level.plans[i]
                    if plan.plan.attribute >= 0 and plan.plan.n_challenges and not plan.committed:
                        scratch = scratches[plan.scratch]
                        with nogil:
                            done = commit_node(self, level, scratch, own, rows, i)
                        if done < 0:
                            plan.state = FRESH
                            raise failure(done)
                    plan.committed = True
            finally:
                for scratch in scratches[:n_taken]:
                    give(&scratch.users)
                give(&self.users)
        finally:
            end(level, first, last)

    def commit_joint(self, Level level not None, list scratches not None, Joint joint not None, int64_t node):
        """The same for a node of which only counts are in memory."""
        cdef Scratch scratch
        cdef Plan *plan
        cdef int done = 0
        self.check_joint(level, joint, node)
        scratches = self.checked(scratches)
        begin(self, level, node, node + 1)
        try:
            share_all(scratches)
            try:
                check_plan(self, level, node, scratches, False)
            finally:
                leave_all(scratches)
            if not self.q.any_shared:
                return
            take(&self.users, "Problem")
            try:
                plan = &level.plans[node]
                while plan.plan.attribute >= 0 and not plan.committed:
                    scratch = scratches[plan.scratch]
                    take(&scratch.users, "Scratch")
                    done = nbc_commit(&self.q, &scratch.s, scratch.s.challenges.at + plan.plan.first_challenge,
                                      plan.plan.n_challenges)
                    give(&scratch.users)
                    if done < 0:
                        raise failure(done)
                    if done:
                        break
                    self._evaluate_joint(level, scratches[0], 0, joint, node, plan.plan.rank + 1)
                plan.committed = True
            finally:
                give(&self.users)
        finally:
            end(level, node, node + 1)

    def finish(self, Level level not None, Scratch scratch not None, uint8_t[:, ::1] rows not None,
               uint8_t[:, ::1] other not None, int64_t first, int64_t last):
        """Split nodes first .. last down to leaves, without other groups; both arrays are written to."""
        cdef int64_t i, at
        cdef int failed = 0
        cdef Plan *plan
        if self.q.any_shared:
            raise ValueError("some demand depends on other groups: nodes cannot be finished one by one")
        self.check_scratch(scratch)
        begin(self, level, first, last)
        try:
            check_span(self, level, rows, first, last)
            check_span(self, level, other, first, last)
            check_apart(rows, other, "rows and other")
            self.check_admitted()
            share(&self.users, "Problem")
            try:
                take(&scratch.users, "Scratch")
                with nogil:
                    for i in range(first, last):
                        plan = &level.plans[i]
                        at = plan.at * self.q.stride
                        plan.state = FRESH
                        failed = nbc_finish(&self.q, &scratch.s, <char *> &rows[0, 0] + at,
                                            <char *> &other[0, 0] + at, plan.start, plan.rows, plan.people,
                                            level.depth, &level.boxes_[i, 0])
                        if failed:
                            break
                        plan.state = FINISHED
                give(&scratch.users)
            finally:
                leave(&self.users)
        finally:
            end(level, first, last)
        if failed:
            raise failure(failed)

    def children(self, Level level not None, list scratches not None, int64_t first, int64_t last):
        """The next level of nodes first .. last: the parts of those that are split. The others become leaves of
        scratches[0].
        """
        cdef Scratch own
        scratches = self.checked(scratches)
        own = scratches[0]
        begin(self, level, first, last)
        try:
            share_all(scratches)
            try:
                if own.users > scratches.count(own):  # by others: leaves are added to it
                    raise RuntimeError("this Scratch is in use by another call: give each thread one of its own")
                return self._children(level, scratches, first, last)
            finally:
                leave_all(scratches)
        finally:
            end(level, first, last)

    cdef Level _children(self, Level level, list scratches, int64_t first, int64_t last):
        cdef int64_t i, j, n = 0, n_kids, place
        cdef Plan *plan
        cdef nbc_kid *kid
        cdef Scratch scratch, own = scratches[0]
        cdef Level found
        cdef int64_t words = 2 * self.q.n_quasi
        for i in range(first, last):
            check_plan(self, level, i, scratches, True)
            if level.plans[i].state == EVALUATED and level.plans[i].plan.attribute >= 0:
                n += level.plans[i].plan.n_kids
        found = Level(n, self.q.n_quasi, level.depth + 1)
        n = 0
        for i in range(first, last):
            plan = &level.plans[i]
            if plan.state == FINISHED:
                continue
            if plan.plan.attribute < 0:
                if nbc_add_leaf(&self.q, &own.s, plan.start, plan.rows, plan.people, level.depth,
                                &level.boxes_[i, 0]):
                    raise MemoryError("no memory for leaves")
                continue
            scratch = scratches[plan.scratch]
            place, n_kids = 0, plan.plan.n_kids
            for j in range(n_kids):
                kid = &scratch.s.kids.at[plan.plan.first_kid + j]
                found.start_[n], found.rows_[n], found.people_[n] = plan.start + place, kid.rows, kid.people
                found.at_[n] = plan.at + place
                memcpy(&found.boxes_[n, 0], &level.boxes_[i, 0], <size_t> words * sizeof(uint32_t))
                found.boxes_[n, 2 * plan.plan.attribute] = <uint32_t> kid.lo
                found.boxes_[n, 2 * plan.plan.attribute + 1] = <uint32_t> kid.hi
                place += kid.rows
                n += 1
        return found

    def move(self, Level level not None, list scratches not None, const uint8_t[:, ::1] rows not None,
             uint8_t[:, ::1] out not None, int64_t first, int64_t last):
        """The rows of the nodes that are split to their parts, at the same places of `out`."""
        cdef int64_t i
        cdef int failed = 0
        cdef Plan *plan
        cdef Scratch scratch
        cdef nbc_longs ends
        scratches = self.checked(scratches)
        ends.at, ends.n, ends.room = NULL, 0, 0
        begin(self, level, first, last)
        try:
            check_span(self, level, rows, first, last)
            check_span(self, level, out, first, last)
            check_apart(rows, out, "rows and out")
            share_all(scratches)
            try:
                for i in range(first, last):
                    check_plan(self, level, i, scratches, True)
                for i in range(first, last):
                    plan = &level.plans[i]
                    if plan.state == FINISHED or plan.plan.attribute < 0:
                        continue
                    scratch = scratches[plan.scratch]
                    if nbc_longs_more(&ends, 2 * plan.plan.n_kids):
                        raise MemoryError()
                    with nogil:
                        failed = nbc_move(&self.q, <const char *> &rows[0, 0] + plan.at * self.q.stride,
                                          <char *> &out[0, 0] + plan.at * self.q.stride, plan.rows,
                                          plan.plan.attribute, scratch.s.kids.at + plan.plan.first_kid,
                                          plan.plan.n_kids, ends.at)
                    if failed:
                        raise ValueError(f"node {i}: rows must be those that it was evaluated with, got others")
            finally:
                leave_all(scratches)
        finally:
            end(level, first, last)
            free(ends.at)

    def move_some(self, Level level not None, list scratches not None, int64_t node,
                  const uint8_t[:, ::1] rows not None, uint8_t[:, ::1] out not None):
        """Some rows of one node to its parts, side by side in `out`; how many each part got."""
        if not 0 <= node < level.n:
            raise ValueError(f"node {node} of {level.n}")
        scratches = self.checked(scratches)
        begin(self, level, node, node + 1)
        try:
            share_all(scratches)
            try:
                return self._move_some(level, scratches, node, rows, out)
            finally:
                leave_all(scratches)
        finally:
            end(level, node, node + 1)

    cdef object _move_some(self, Level level, list scratches, int64_t node, const uint8_t[:, ::1] rows,
                           uint8_t[:, ::1] out):
        cdef int64_t i, j, n_kids
        cdef nbc_plan_t *plan = &level.plans[node].plan
        cdef Scratch scratch
        cdef nbc_kid *kids
        cdef nbc_kid *here
        cdef int64_t n = rows.shape[0]
        cdef int failed = 0
        check_plan(self, level, node, scratches, True)
        if level.plans[node].state == FINISHED or plan.attribute < 0:
            raise ValueError(f"node {node} is not split: it has no parts to move rows to")
        if rows.shape[1] != self.q.stride or out.shape[1] != self.q.stride or out.shape[0] < n:
            raise ValueError(f"{n} rows of {rows.shape[1]} bytes, room for {out.shape[0]} of {out.shape[1]}")
        check_apart(rows, out, "rows and out")
        scratch = scratches[level.plans[node].scratch]
        n_kids = plan.n_kids
        counts = np.zeros(n_kids, np.int64)
        ends = np.zeros(2 * n_kids, np.int64)
        cdef int64_t[::1] counted = counts, end_ = ends
        here = <nbc_kid *> calloc(<size_t> n_kids, sizeof(nbc_kid))
        if here == NULL:
            raise MemoryError()
        kids = scratch.s.kids.at + plan.first_kid
        with nogil:
            memcpy(here, kids, <size_t> n_kids * sizeof(nbc_kid))
            for i in range(n):
                j = kid_of(&self.q, &rows[i, 0], plan.attribute, kids, n_kids)
                counted[j] += 1
            for j in range(n_kids):
                here[j].rows = counted[j]
            if n:
                failed = nbc_move(&self.q, <const char *> &rows[0, 0], <char *> &out[0, 0], n, plan.attribute, here,
                                  n_kids, &end_[0])
        free(here)
        if failed:
            raise failure(failed)
        return counts

    def gather(self, const uint8_t[:, ::1] rows not None, Joint joint not None):
        """Add these rows to the counts of a node."""
        cdef const int64_t[::1] first = self.starts
        cdef int failed = 0
        if rows.shape[1] != self.q.stride:
            raise ValueError(f"expected records of {self.q.stride} bytes, got {rows.shape[1]}")
        if joint.problem is not self:
            raise ValueError("joint must have been made for this problem, got one of another")
        if rows.shape[0]:
            take(&joint.users, "Joint")
            with nogil:
                failed = nbc_gather(&self.q, <const char *> &rows[0, 0], rows.shape[0], &first[0], &joint.joint)
            give(&joint.users)
        if failed:
            raise failure(failed)

    def number(self, const int64_t[::1] starts not None, const int64_t[::1] sizes not None,
               const int64_t[::1] levels not None, const uint8_t[:, ::1] even not None,
               const uint8_t[:, ::1] odd not None, uint32_t[::1] ids not None, int64_t first, int64_t last):
        """ids[row] = i for every row of leaf i, first <= i < last."""
        cdef int64_t i, _j, size = 0
        cdef const char *record = NULL
        cdef uint32_t row
        cdef int64_t bad = -1
        cdef Leaves leaves = leaves_of(self, starts, sizes, levels, even, odd, first, last)
        with nogil:
            for i in range(first, last):
                record = leaf_at(&leaves, i, &size)
                if record == NULL:
                    break
                for _j in range(size):
                    memcpy(&row, record + self.q.row_at, sizeof(uint32_t))
                    record += self.q.stride
                    if row >= ids.shape[0]:
                        bad = row
                        break
                    ids[row] = <uint32_t> i
        if first < last and record == NULL:
            raise no_leaf(i, &leaves)
        if bad >= 0:
            raise ValueError(f"row {bad} of {ids.shape[0]}")

    def counts(self, Scratch scratch not None, const int64_t[::1] starts not None, const int64_t[::1] sizes not None,
               const int64_t[::1] levels not None, const uint8_t[:, ::1] even not None,
               const uint8_t[:, ::1] odd not None, int64_t first, int64_t last):
        """How many different values leaves first .. last have, and these (value, people) one after the other."""
        cdef Leaves leaves = leaves_of(self, starts, sizes, levels, even, odd, first, last)
        self.check_scratch(scratch)
        take(&scratch.users, "Scratch")
        try:
            return self._counts(scratch, &leaves, first, last)
        finally:
            give(&scratch.users)

    cdef object _counts(self, Scratch scratch, const Leaves *leaves, int64_t first, int64_t last):
        cdef int64_t i, found = 0, size = 0
        cdef const char *rows = NULL
        cdef nbc_scratch *s = &scratch.s
        numbers = np.empty(last - first, np.int64)
        cdef int64_t[::1] n_found = numbers
        s.found.n = 0
        with nogil:
            for i in range(first, last):
                rows = leaf_at(leaves, i, &size)
                if rows == NULL:
                    break
                found = nbc_count_leaf(&self.q, s, rows, size)
                if found < 0:
                    break
                n_found[i - first] = found
        if first < last and rows == NULL:
            raise no_leaf(i, leaves)
        if found < 0:
            raise failure(<int> found)
        pairs = np.empty((s.found.n, 2), np.int64)
        cdef int64_t[:, ::1] out = pairs
        if s.found.n:
            memcpy(&out[0, 0], s.found.at, <size_t> s.found.n * sizeof(nbc_count))
        return numbers, pairs


cdef int64_t take_limit(Problem self, nbc_limit_t *limit, num, den) except -1:
    """Take a rational; the number of words of its longer part."""
    cdef const uint64_t[::1] up = num, down = den
    if up.shape[0] < 1 or down.shape[0] < 1:
        raise ValueError("a limit needs at least one word above and below")
    up, down = np.array(up), np.array(down)
    self.kept += [up, down]
    limit.num, limit.n_num = &up[0], up.shape[0]
    limit.den, limit.n_den = &down[0], down.shape[0]
    a = sum(int(word) << 64 * i for i, word in enumerate(up))
    b = sum(int(word) << 64 * i for i, word in enumerate(down))
    if b == 0:
        raise ValueError("a limit needs a denominator above 0")
    shift = max(b.bit_length() - a.bit_length(), 0) + 64
    top = (a << shift) // b
    limit.about = 0.0 if a == 0 else scaled(top, shift)
    return max(up.shape[0], down.shape[0])


cdef double scaled(top, shift) except? -1:
    """top / 2^shift as a double, without overflow or underflow on the way."""
    bits = max(top.bit_length() - 64, 0)
    mantissa, exponent = float(top >> bits), bits - shift
    if exponent > 950:
        return float("inf")
    return mantissa * 2.0 ** max(exponent, -1000) * (2.0 ** max(exponent + 1000, -1000) if exponent < -1000 else 1.0)


cdef int take_tree(Problem self, int64_t i, tree) except -1:
    """A checked copy of a hierarchy."""
    cdef const int64_t[:, ::1] nodes = tree
    cdef int64_t n = nodes.shape[0], j, child, place
    cdef nbc_branch *out
    if n < 1 or nodes.shape[1] != 4:
        raise ValueError(f"attribute {i}: its tree must have nodes of 4 numbers, got {n} of {nodes.shape[1]}")
    out = self.trees[i] = <nbc_branch *> calloc(<size_t> n, sizeof(nbc_branch))
    if out == NULL:
        raise MemoryError()
    for j in range(n):
        out[j].lo, out[j].hi, out[j].first, out[j].n_children = nodes[j, 0], nodes[j, 1], nodes[j, 2], nodes[j, 3]
    if out[0].lo != 0 or out[0].hi != self.quasi[i].size - 1:
        raise ValueError(f"attribute {i}: its tree must begin with a root of all {self.quasi[i].size} codes")
    for j in range(n):
        if out[j].n_children == 0:
            if out[j].lo != out[j].hi:
                raise ValueError(f"attribute {i}: node {j} of its tree has several codes and no children")
            continue
        if out[j].n_children < 2 or not j < out[j].first <= n - out[j].n_children:
            raise ValueError(f"attribute {i}: node {j} of its tree has no place for {out[j].n_children} children")
        place = out[j].lo
        for child in range(out[j].first, out[j].first + out[j].n_children):
            if out[child].lo != place or out[child].hi < place:
                raise ValueError(f"attribute {i}: the children of node {j} do not tile it")
            place = out[child].hi + 1
        if place != out[j].hi + 1:
            raise ValueError(f"attribute {i}: the children of node {j} do not tile it")
        self.most_kids = max(self.most_kids, out[j].n_children)
    self.quasi[i].tree = out
    return 0


cdef int64_t fill_block(Problem self, Columns columns, const uint32_t *map_, int64_t a, int64_t row, int64_t n,
                        char *out) noexcept nogil:
    if a < self.q.n_quasi:
        return nbc_fill(&columns.columns[a], map_, row, n, out + a * self.q.width, self.q.stride, self.q.width)
    if a == self.q.n_quasi:
        return nbc_fill(&columns.columns[a], map_, row, n, out + self.q.sensitive_at, self.q.stride, 4)
    return nbc_fill(&columns.columns[a], map_, row, n, out + self.q.target_at, self.q.stride, 4)


cdef void fill_rest(Problem self, const int64_t[::1] weights, int64_t row, int64_t n, char *out) noexcept nogil:
    cdef int64_t i
    cdef uint32_t number
    for i in range(n):
        number = <uint32_t> (row + i)
        memcpy(out + i * self.q.stride + self.q.row_at, &number, sizeof(uint32_t))
        if self.q.weighted:
            memcpy(out + i * self.q.stride + self.q.weight_at, &weights[row + i], sizeof(int64_t))


cdef inline int64_t kid_of(const nbc_problem *q, const uint8_t *record, int64_t attribute, const nbc_kid *kids,
                           int64_t n_kids) noexcept nogil:
    cdef int64_t code = 0, low = 0, high = n_kids, middle
    cdef uint32_t wide = 0
    if q.width == 1:
        code = record[attribute]
    elif q.width == 2:
        code = (<const unsigned short *> record)[attribute]
    else:
        memcpy(&wide, record + 4 * attribute, 4)
        code = wide
    while high - low > 1:
        middle = (low + high) // 2
        if kids[middle].lo <= code:
            low = middle
        else:
            high = middle
    return low


cdef object failure(int status):
    if status == NBC_NO_MEMORY:
        return MemoryError("no memory to split with")
    return ValueError("rows must be records of this problem as fill makes them, with the people of their nodes, "
                      "got others")


cdef void note(Plan *plan, Scratch scratch, int64_t number) noexcept nogil:
    """Where the parts of a node stand that was evaluated."""
    plan.scratch, plan.owner, plan.generation = number, scratch.number, scratch.generation
    plan.committed = False
    plan.state = EVALUATED


cdef int evaluate_node(Problem self, Level level, Scratch scratch, int64_t number, const uint8_t[:, ::1] rows,
                       int64_t i, int64_t rank) noexcept nogil:
    cdef int found
    cdef Plan *plan = &level.plans[i]
    plan.state = FRESH
    found = nbc_evaluate(&self.q, &scratch.s, <const char *> &rows[0, 0] + plan.at * self.q.stride, plan.rows,
                         plan.people, &level.boxes_[i, 0], rank, NULL, NULL, &plan.plan)
    if found >= 0:
        note(plan, scratch, number)
    return found


cdef int commit_node(Problem self, Level level, Scratch scratch, Scratch own, const uint8_t[:, ::1] rows,
                     int64_t i) noexcept nogil:
    """Try what was found, then the further attributes, which are evaluated in `own`."""
    cdef nbc_plan_t *plan = &level.plans[i].plan
    cdef nbc_challenge *challenges = scratch.s.challenges.at + plan.first_challenge
    cdef int done
    while True:
        done = nbc_commit(&self.q, &own.s, challenges, plan.n_challenges)
        if done != 0:
            return done
        done = evaluate_node(self, level, own, 0, rows, i, plan.rank + 1)
        if done != NBC_SPLIT:
            return done
        challenges = own.s.challenges.at + plan.first_challenge


cdef int check_apart(const uint8_t[:, ::1] rows, const uint8_t[:, ::1] other, str what) except -1:
    if rows.shape[0] and other.shape[0] and rows.shape[1] and other.shape[1]:
        apart(&rows[0, 0], <size_t> rows.shape[0] * <size_t> rows.shape[1], &other[0, 0],
              <size_t> other.shape[0] * <size_t> other.shape[1], what)
    return 0


cdef int share_all(list scratches) except -1:
    """Read scratches, which nobody has alone, with others; `leave_all` ends it."""
    cdef Scratch scratch
    cdef int64_t n = 0
    try:
        for scratch in scratches:
            share(&scratch.users, "Scratch")
            n += 1
    except BaseException:
        leave_all(scratches[:n])
        raise
    return 0


cdef void leave_all(list scratches) noexcept:
    cdef Scratch scratch
    for scratch in scratches:
        leave(&scratch.users)


cdef int begin(Problem self, Level level, int64_t first, int64_t last) except -1:
    """Have these nodes alone, and their numbers as they are now, which anyone can write to; `end` ends it."""
    cdef int64_t i
    cdef Plan *plan
    if level.boxes_.shape[1] != 2 * self.q.n_quasi:
        raise ValueError(f"expected a level of {self.q.n_quasi} attributes, got {level.boxes_.shape[1] // 2}")
    if not 0 <= first <= last <= level.n:
        raise ValueError(f"nodes {first} to {last} of {level.n}")
    for i in range(first, last):
        if level.plans[i].busy:
            end(level, first, i)
            raise RuntimeError(f"node {i} is in use by another call: calls at the same time must be for other nodes")
        level.plans[i].busy = True
    try:
        for i in range(first, last):
            plan = &level.plans[i]
            plan.start, plan.rows, plan.people = level.start_[i], level.rows_[i], level.people_[i]
            plan.at = level.at_[i]
            check_node(self, plan, i)
    except BaseException:
        end(level, first, last)
        raise
    return 0


cdef void end(Level level, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t i
    for i in range(first, last):
        level.plans[i].busy = False


cdef int check_node(Problem self, const Plan *plan, int64_t i) except -1:
    if plan.rows < 1 or not plan.rows <= plan.people <= NBC_MOST_PEOPLE or (
            plan.people != plan.rows and not self.q.weighted):
        raise ValueError(f"node {i}: {plan.rows} rows cannot stand for {plan.people} people")
    if not (0 <= plan.start <= NBC_MOST_PEOPLE and 0 <= plan.at <= NBC_MOST_PEOPLE):
        raise ValueError(f"node {i}: start and at must be 0..2^62, got {plan.start} and {plan.at}")
    return 0


cdef int check_span(Problem self, Level level, const uint8_t[:, ::1] rows, int64_t first, int64_t last) except -1:
    cdef int64_t i
    if rows.shape[1] != self.q.stride:
        raise ValueError(f"nodes {first} to {last} of {level.n}, records of {rows.shape[1]} bytes")
    for i in range(first, last):
        if level.plans[i].at > rows.shape[0] - level.plans[i].rows:
            raise ValueError(f"node {i}: {level.plans[i].rows} rows from {level.plans[i].at} on, of {rows.shape[0]}")
    return 0


cdef int check_plan(Problem self, Level level, int64_t i, list scratches, bint decided) except -1:
    """That a node in use was evaluated (and, with `decided`, committed), and its parts stand where it says; nobody
    may have the scratches alone."""
    cdef Plan *plan = &level.plans[i]
    cdef Scratch scratch
    cdef const nbc_kid *kid
    cdef int64_t j, rows = 0, people = 0
    if plan.state == FRESH:
        raise RuntimeError(f"node {i}: evaluate{'' if self.q.any_shared else ' or finish'} must be called first")
    if plan.state == FINISHED:
        return 0
    if decided and self.q.any_shared and not plan.committed:
        raise RuntimeError(f"node {i}: commit must be called first, as some demand depends on other groups")
    if plan.plan.attribute < 0:
        return 0
    if not 0 <= plan.scratch < len(scratches):
        raise ValueError(f"node {i} was evaluated with scratch {plan.scratch}, got {len(scratches)} scratches")
    scratch = scratches[plan.scratch]
    if scratch.number != plan.owner:
        raise ValueError(f"node {i} was evaluated with another scratch than number {plan.scratch} of these")
    if scratch.generation != plan.generation:
        raise RuntimeError(f"node {i}: evaluate must be called again, as its scratch has forgotten it since")
    if plan.plan.n_kids < 1 or plan.plan.attribute >= self.q.n_quasi:
        raise RuntimeError(f"node {i}: evaluate must be called again")
    for j in range(plan.plan.n_kids):
        kid = &scratch.s.kids.at[plan.plan.first_kid + j]
        rows += kid.rows
        people += kid.people
    if rows != plan.rows or people != plan.people:
        raise ValueError(f"node {i} was evaluated with {rows} rows and {people} people, got {plan.rows} and "
                         f"{plan.people}")
    return 0


cdef struct Leaves:
    const int64_t *starts
    const int64_t *sizes
    const int64_t *levels
    const char *even
    const char *odd
    int64_t n, stride


cdef Leaves leaves_of(Problem self, const int64_t[::1] starts, const int64_t[::1] sizes, const int64_t[::1] levels,
                      const uint8_t[:, ::1] even, const uint8_t[:, ::1] odd, int64_t first, int64_t last) except *:
    cdef Leaves leaves
    if sizes.shape[0] != starts.shape[0] or levels.shape[0] != starts.shape[0]:
        raise ValueError(f"{starts.shape[0]} starts, {sizes.shape[0]} sizes, {levels.shape[0]} levels")
    if even.shape[1] != self.q.stride or odd.shape[1] != self.q.stride or not 0 <= first <= last <= starts.shape[0]:
        raise ValueError(f"leaves {first} to {last} of {starts.shape[0]}, records of {even.shape[1]} bytes")
    leaves.n, leaves.stride = min(even.shape[0], odd.shape[0]), self.q.stride
    leaves.starts = leaves.sizes = leaves.levels = NULL
    leaves.even = leaves.odd = NULL
    if starts.shape[0]:
        leaves.starts, leaves.sizes, leaves.levels = &starts[0], &sizes[0], &levels[0]
    if leaves.n:
        leaves.even, leaves.odd = <const char *> &even[0, 0], <const char *> &odd[0, 0]
    return leaves


cdef inline const char *leaf_at(const Leaves *leaves, int64_t i, int64_t *size) noexcept nogil:
    """The first record of a leaf, or NULL where it is not among the records. Each number is read once: others may
    write to the arrays."""
    cdef int64_t start = (<const volatile int64_t *> leaves.starts)[i]
    size[0] = (<const volatile int64_t *> leaves.sizes)[i]
    if size[0] < 1 or start < 0 or start > leaves.n - size[0]:
        return NULL
    return (leaves.odd if leaves.levels[i] & 1 else leaves.even) + start * leaves.stride


cdef object no_leaf(int64_t i, const Leaves *leaves):
    return ValueError(f"leaf {i}: {leaves.sizes[i]} rows from {leaves.starts[i]} on, of {leaves.n}")


cdef class Scratch:
    """What one thread needs to split nodes of a problem, and the leaves it found."""
    cdef nbc_scratch s
    cdef Problem problem
    cdef int users
    cdef int64_t number, generation

    def __cinit__(self, Problem problem not None):
        global n_scratches
        cdef nbc_problem *q = &problem.q
        cdef int64_t i, n = q.n_quasi
        cdef nbc_longs *few[4]
        n_scratches += 1
        self.number = n_scratches
        self.problem = problem
        if q.n_values > (<int64_t> 1 << 40) // problem.most_kids:
            raise MemoryError(f"no memory for {problem.most_kids} parts of {q.n_values} values")
        few[0], few[1], few[2], few[3] = &self.s.order, &self.s.width, &self.s.lo, &self.s.hi
        for i in range(4):
            if nbc_longs_more(few[i], n + 16):
                raise MemoryError()
        if (nbc_longs_more(&self.s.hist, problem.most_kids * q.n_values)
                or nbc_longs_more(&self.s.tops, q.most_l + 2) or nbc_longs_more(&self.s.prefix, q.most_l + 3)):
            raise MemoryError()
        for i in range(problem.most_kids * q.n_values):
            self.s.hist.at[i] = 0
        self.s.a.words = <uint64_t *> calloc(<size_t> q.long_words, sizeof(uint64_t))
        self.s.b.words = <uint64_t *> calloc(<size_t> q.long_words, sizeof(uint64_t))
        self.s.gain = calloc(<size_t> n, 16)
        if self.s.a.words == NULL or self.s.b.words == NULL or self.s.gain == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.s.kids.at)
        free(self.s.challenges.at)
        free(self.s.leaves.at)
        free(self.s.boxes.at)
        free(self.s.counts.at)
        free(self.s.found.at)
        free(self.s.hist.at)
        free(self.s.touched.at)
        free(self.s.codes_hist.at)
        free(self.s.tops.at)
        free(self.s.prefix.at)
        free(self.s.order.at)
        free(self.s.width.at)
        free(self.s.lo.at)
        free(self.s.hi.at)
        free(self.s.target_hist.at)
        free(self.s.codes.at)
        free(self.s.weights.at)
        free(self.s.undo.at)
        free(self.s.undo_at.at)
        free(self.s.stack.at)
        free(self.s.stack_boxes.at)
        free(self.s.a.words)
        free(self.s.b.words)
        free(self.s.gain)

    def forget(self):
        """Drop the parts and challenges of nodes that are done with."""
        take(&self.users, "Scratch")
        give(&self.users)
        self.generation += 1
        self.s.kids.n = self.s.challenges.n = 0

    def take_leaves(self):
        """The leaves found since the last call: int64 (n, 4) of start, rows, people, level; uint32 (n, 2 x q)
        of boxes: the lowest and the highest code of each attribute.
        """
        take(&self.users, "Scratch")
        try:
            return self._take_leaves()
        finally:
            give(&self.users)

    cdef object _take_leaves(self):
        cdef int64_t n = self.s.leaves.n
        leaves = np.empty((n, 4), np.int64)
        boxes = np.empty((n, 2 * self.problem.q.n_quasi), np.uint32)
        cdef int64_t[:, ::1] leaf = leaves
        cdef uint32_t[:, ::1] box = boxes
        if n:
            memcpy(&leaf[0, 0], self.s.leaves.at, <size_t> n * sizeof(nbc_leaf))
            memcpy(&box[0, 0], self.s.boxes.at, <size_t> self.s.boxes.n * sizeof(uint32_t))
        self.s.leaves.n = self.s.boxes.n = 0
        return leaves, boxes


cdef class Level:
    """Nodes of one depth in their order.

    `start` is the place of a node's rows in the whole, `at` that in the array that the kernels are shown.
    """
    cdef readonly int64_t n, depth
    cdef readonly object start, rows, people, at, boxes
    cdef int64_t[::1] start_, rows_, people_, at_
    cdef uint32_t[:, ::1] boxes_
    cdef Plan *plans

    def __cinit__(self, int64_t n, int64_t n_quasi, int64_t depth):
        if not 0 <= n <= <int64_t> 1 << 32 or not 1 <= n_quasi <= MOST_QUASI or not 0 <= depth <= <int64_t> 1 << 32:
            raise ValueError(f"expected 0..2^32 nodes of 1..1022 attributes at a depth of 0..2^32, got {n}, {n_quasi} "
                             f"and {depth}")
        self.n, self.depth = n, depth
        self.start_ = self.start = np.zeros(n, np.int64)
        self.rows_ = self.rows = np.zeros(n, np.int64)
        self.people_ = self.people = np.zeros(n, np.int64)
        self.at_ = self.at = np.zeros(n, np.int64)
        self.boxes_ = self.boxes = np.zeros((n, 2 * n_quasi), np.uint32)
        self.plans = <Plan *> calloc(<size_t> n + 1, sizeof(Plan))  # all fresh
        if self.plans == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.plans)

    @staticmethod
    def root(sizes, int64_t rows, int64_t people):
        """The node of everything."""
        cdef Level level = Level(1, len(sizes), 0)
        level.rows[0], level.people[0] = rows, people
        level.boxes[0, 1::2] = [size - 1 for size in sizes]
        return level

    def split(self):
        """The attribute that each node is split by, -1 where it is a leaf (or not known), -2 where its leaves are
        known."""
        found = np.empty(self.n, np.int64)
        cdef int64_t[::1] view = found
        cdef int64_t i
        for i in range(self.n):
            view[i] = (self.plans[i].plan.attribute if self.plans[i].state == EVALUATED
                       else -2 if self.plans[i].state == FINISHED else -1)
        return found


cdef class Joint:
    """Counts of one node: the rows of each code, and the people of each (code, value) and (code, target)."""
    cdef nbc_joint joint
    cdef Problem problem
    cdef int users
    cdef int64_t[::1] rows_         # views, so that the memory stays
    cdef int64_t[:, ::1] people_, targets_
    cdef readonly object rows, people, targets

    def __cinit__(self, Problem problem not None):
        cdef int64_t codes = problem.starts[problem.q.n_quasi]
        self.problem = problem
        self.rows_ = self.rows = np.zeros(codes, np.int64)
        self.people_ = self.people = np.zeros((codes, problem.q.n_values), np.int64)
        self.joint.rows, self.joint.people = &self.rows_[0], &self.people_[0, 0]
        if problem.q.n_targets:
            self.targets_ = self.targets = np.zeros((codes, problem.q.n_targets), np.int64)
            self.joint.targets = &self.targets_[0, 0]
