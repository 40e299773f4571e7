"""Two classifiers compared pair of classes by pair, by meeting in the middle.

That this is exact is proved in docs/mathematics/safety.md, section g.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Bools, Bytes, Int32s, Longs
from nbcfast._halves.codes import tuple_of
from nbcfast._halves.lines import LARGE, Line, both
from nbcfast._halves.split import MOST_HALF, MOST_WORK, split
from nbcfast._halves.terms import FixedLogs, Plain, Term, common_factor
from nbcfast._margin import Lists, dominance, enumerated
from nbcfast.equivalence.interval import proportional, proved_equivalent
from nbcfast.equivalence.margins import bound
from nbcfast.equivalence.ranks import Ranks, RowsOfHalf, inverse, merged_keys, suffix_sums
from nbcfast.equivalence.results import ClassPair, Comparison, ComparisonMethod
from nbcfast.equivalence.witness import DifferingTuple, WitnessSearch, differing_classes

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.values import Value
    from nbcfast.views import Viewset


MOST_COUNTED = 1 << 62  # tuples, so that 64 bits hold every sum of weights


class WorkLimits(NamedTuple):
    """How much work is too much."""

    most: int = MOST_HALF
    work: int = MOST_WORK
    enumerate: int = 1 << 18  # tuples: up to here they are all looked at
    looks: int = 100_000_000_000  # comparisons made to count differing tuples, some 0.2 ns each
    labels: int = 1_000_000_000  # tuples whose labels are all looked at
    list: int = 10_000_000  # differing tuples that are listed, some 50 bytes each
    memory: int = 1 << 30  # bytes of places kept between two passes over the pairs of classes


LIMITS = WorkLimits()


class HalfPlaces(NamedTuple):
    """Two classes: half b in the order of either viewset. What has index j has place a[j] in the one."""

    a: Int32s
    b: Int32s
    order: Int32s  # the index at each place of the first
    lines: tuple[Line, Line]
    lists: tuple[Lists, Lists]
    threads: int

    def thresholds(self, outside: tuple[int, ...]) -> tuple[Int32s, Int32s]:
        """For each index of half a from which place on X_c > X_d, in either viewset."""
        (line, line_too), (lists, lists_too) = self.lines, self.lists
        first, second = both(
            lambda: line.thresholds(lists, outside),
            lambda: line_too.thresholds(lists_too, outside),
            self.threads,
        )
        return first, second


class PairwiseComparison:
    """One comparison of two viewsets with equal domains."""

    def __init__(
        self,
        a: Viewset,
        b: Viewset,
        preserve: Preserve,
        limits: WorkLimits,
        progress: Progress | None,
        *,
        plain: Plain | None = None,
        logs: FixedLogs | None = None,
        threads: int = 1,
    ) -> None:
        self.views, self.other = a, b
        self.a, self.b = plain or Plain.of(a), Plain.of(b)
        self.logs = logs or FixedLogs()
        self.limits = limits
        self.preserve = preserve
        self.progress = progress
        self.threads = threads
        self.n_classes = len(self.a.of_class)
        # Of two classes the best one tells the order.
        self.labels = preserve == "label" and self.n_classes > 2
        self.pairs = list(combinations(range(self.n_classes), 2))
        self.tuples = math.prod(map(len, self.a.rows))
        self.countable = self.tuples < MOST_COUNTED
        self._kept: dict[ClassPair, HalfPlaces] = {}
        self._done = self._total = 0  # steps, for `progress`
        self._group()

    def _group(self) -> None:
        """Values whose counts have the same proportions in both viewsets are looked at once.

        Multiplying all counts of a value multiplies the scores of all classes alike, so they decide alike.
        """
        self.members: list[list[int]] = []  # the first value of each group
        weights: list[list[int]] = []
        for rows, rows_too in zip(self.a.rows, self.b.rows, strict=True):
            groups: dict[tuple[int, ...], int] = {}
            members: list[int] = []
            sizes: list[int] = []
            for value, (row, row_too) in enumerate(zip(rows, rows_too, strict=True)):
                common, common_too = common_factor(*row) or 1, common_factor(*row_too) or 1
                key = (*(count // common for count in row), *(count // common_too for count in row_too))
                group = groups.setdefault(key, len(members))
                if group == len(members):
                    members.append(value)
                    sizes.append(0)
                sizes[group] += 1
            self.members.append(members)
            weights.append(sizes)
        self.sizes = [len(members) for members in self.members]
        self.weights = weights
        # What is in no half counts for every tuple.
        self.times = math.prod(sizes[0] for sizes in weights if len(sizes) == 1)

    def answer(self) -> Comparison:
        if self.tuples == 0 or self.n_classes == 1:
            return self._equal("enumeration")
        parts = split(self.sizes, self.limits.most, self.limits.work // len(self.pairs))
        if parts is None:
            return self._of_large_domain()
        self.parts = parts
        pairs_of_sums = parts.blocks * parts.n * parts.m
        if pairs_of_sums <= self.limits.enumerate:
            return self._enumerated("enumeration")
        self._expect_steps(len(self.pairs) * (1 + parts.blocks))
        hit = None
        for pair in self.pairs:
            hit = self._decided(pair)
            if hit is not None:
                break
        self._finished()
        if hit is None:
            return self._equal("meet in the middle")
        if self.n_classes == 2:
            differing = self._counted(pair) if self.countable else None
            return self._differs(differing, hit, pair, "meet in the middle")
        # No tuple differs in the comparisons before this one.
        answer = self._listed(self.pairs[self.pairs.index(pair) :])
        if answer.differing is not None:
            return answer
        looks = pairs_of_sums * len(self.pairs)
        enough = pairs_of_sums <= self.limits.labels if self.labels else looks <= self.limits.looks
        if enough:
            return self._enumerated("enumeration")
        if answer.equal is None:
            return self._looked_for(WitnessSearch(self.a, self.b, labels=True))
        return answer

    def _expect_steps(self, steps: int) -> None:
        """There is more to do."""
        self._total += steps

    def _step(self, steps: int = 1) -> None:
        self._done += steps
        if self.progress is not None:
            self.progress(self._done, self._total)

    def _finished(self) -> None:
        """With all that was planned, however much of it was needed."""
        if self._done < self._total:
            self._step(self._total - self._done)

    def _equal(self, method: ComparisonMethod) -> Comparison:
        return Comparison(True, 0, self.tuples, None, None, self.preserve, method)

    def _differs(
        self, differing: int | None, codes: list[int], classes: ClassPair, method: ComparisonMethod
    ) -> Comparison:
        witness = {
            name: self.views.domain(name)[members[code]]
            for name, members, code in zip(self.views.attributes, self.members, codes, strict=True)
        }
        return self._differing(differing, witness, classes, method)

    def _differing(
        self, differing: int | None, witness: dict[str, Value], classes: ClassPair, method: ComparisonMethod
    ) -> Comparison:
        labels = (self.views.classes[classes[0]], self.views.classes[classes[1]])
        return Comparison(False, differing, self.tuples, witness, labels, self.preserve, method)

    def _of_large_domain(self) -> Comparison:
        """A domain that is too large: equal if proven so, different if a tuple shows it, else undecided."""
        if proportional(self.a, self.b):
            return self._equal("interval")
        # A witness among some tuples costs little, where a proof may cost minutes: so it is looked for first.
        search = WitnessSearch(self.a, self.b, labels=self.labels)
        witness = search.at_random()
        if witness is not None:
            return self._differs_at(witness)
        self._expect_steps(2 * len(self.pairs))
        # The one may be a transform of the other, or the other of the one.
        for first, second in ((self.a, self.b), (self.b, self.a)):
            if proved_equivalent(first, second, labels=self.labels, step=self._step):
                self._finished()
                return self._equal("interval")
        return self._looked_for(search)

    def _looked_for(self, search: WitnessSearch) -> Comparison:
        """Different if a tuple is found that is, else undecided."""
        self._expect_steps(len(self.pairs))
        witness = None
        for pair in self.pairs:
            witness = search.of_pair(*pair)
            if witness is not None:
                break
            self._step()
        self._finished()
        return self._undecided() if witness is None else self._differs_at(witness)

    def _differs_at(self, differing: DifferingTuple) -> Comparison:
        witness = {
            name: self.views.domain(name)[code]
            for name, code in zip(self.views.attributes, differing.codes, strict=True)
        }
        return self._differing(None, witness, differing.classes, "sample")

    def _undecided(self) -> Comparison:
        return Comparison(None, None, self.tuples, None, None, self.preserve, "undecided", bound(self.views))

    # --- one pair of classes ------------------------------------------------------------------------------

    def _line(self, plain: Plain, c: int, d: int) -> Line:
        terms = [
            [Term.of(rows[value][c], rows[value][d]) for value in members]
            for rows, members in zip(plain.rows, self.members, strict=True)
        ]
        return Line(plain.base(c, d), terms, self.parts, self.logs)

    def places(self, pair: ClassPair) -> HalfPlaces:
        kept = self._kept.get(pair)
        if kept is not None:
            return kept
        if 40 * (self.parts.n + self.parts.m) * len(self.pairs) > self.limits.memory:
            self._kept.clear()  # room for the one that was looked at last
        lines = self._line(self.a, *pair), self._line(self.b, *pair)

        def half_sums(line: Line) -> tuple[Lists, Int32s, Int32s]:
            u, order = line.list_b()
            return line.lists_of(*line.list_a(), u, order), order, inverse(order)

        threads = self.threads if self.parts.n + self.parts.m >= LARGE else 1
        first, second = both(lambda: half_sums(lines[0]), lambda: half_sums(lines[1]), threads)
        places = HalfPlaces(first[2], second[2], first[1], lines, (first[0], second[0]), threads)
        self._kept[pair] = places
        return places

    def _zeros_do_not_matter(self, pair: ClassPair) -> bool:
        """Whether tuples where both classes are zero in the first viewset do not matter.

        For the best class alone only the last class is ever best with X = 0.
        See docs/mathematics/safety.md, section a.
        """
        return self.labels and pair[1] != self.n_classes - 1

    def _blocks(self) -> Iterator[tuple[int, ...]]:
        """The codes outside, block after block."""
        return product(*(range(self.sizes[position]) for position in self.parts.outside))

    def _flags(self, pair: ClassPair, positions: tuple[int, ...]) -> Bytes:
        """For each index of a half: 1 if class c is zero, 2 if d is, 3 if both are."""
        flags = np.zeros(1, np.uint8)
        for position in positions:
            rows = self.a.rows[position]
            of_attribute = np.array(
                [
                    (rows[value][pair[0]] == 0) + 2 * (rows[value][pair[1]] == 0)
                    for value in self.members[position]
                ],
                dtype=np.uint8,
            )
            flags = np.bitwise_or.outer(flags, of_attribute).ravel()
        return flags

    def _flag_of(self, pair: ClassPair, outside: tuple[int, ...]) -> int:
        """1 if class c is zero through what is in no half, 2 if d is, 3 if both are."""
        flag = sum((self.a.of_class[c] == 0) << bit for bit, c in enumerate(pair))
        codes = dict(zip(self.parts.outside, outside, strict=True))
        for position, members in enumerate(self.members):
            if len(members) == 1 or position in codes:
                row = self.a.rows[position][members[codes.get(position, 0)]]
                flag |= sum((row[c] == 0) << bit for bit, c in enumerate(pair))
        return flag

    def _parts_of(self, pair: ClassPair, places: HalfPlaces) -> Iterator[RowsOfHalf]:
        """What there is to look through, each with rows of half a (None: all) and ranks of half b."""
        self._step()
        skip_zeros = self._zeros_do_not_matter(pair)
        flags_a = flags_b = None
        if skip_zeros:
            flags_a, flags_b = self._flags(pair, self.parts.a), self._flags(pair, self.parts.b)[places.order]
        ranks = places.b[places.order]
        known: dict[int, Ranks] = {}
        for outside in self._blocks():
            above, above_too = places.thresholds(outside)
            if flags_a is None or flags_b is None:
                if not known:
                    known[0] = Ranks.of(ranks, None)
                yield RowsOfHalf(outside, None, above, above_too, known[0])
                self._step()
                continue
            flags = flags_a | np.uint8(self._flag_of(pair, outside))
            for flag in range(3):  # rows of flag 3 are zero in both classes whatever half b is: not looked at
                rows = np.flatnonzero(flags == flag)
                if len(rows):
                    if flag not in known:
                        known[flag] = Ranks.of(ranks, (flags_b | flag) != 3)
                    yield RowsOfHalf(outside, rows, above[rows], above_too[rows], known[flag])
            self._step()

    def _decided(self, pair: ClassPair) -> list[int] | None:
        """Codes of a tuple on which the comparison of these classes differs, or None."""
        places = self.places(pair)
        for part in self._parts_of(pair, places):
            hit = part.hit()
            if hit is not None:
                i, place = hit
                return tuple_of(self.parts, self.sizes, part.outside, i, int(places.order[place]))
        return None

    def _weights_of(self, positions: tuple[int, ...]) -> Longs:
        weights = np.ones(1, np.int64)
        if not self.countable:  # the products may not fit
            return np.ones(math.prod(self.sizes[position] for position in positions), np.int64)
        for position in positions:
            weights = np.multiply.outer(weights, np.array(self.weights[position], dtype=np.int64)).ravel()
        return weights

    def _weight_of(self, outside: tuple[int, ...]) -> int:
        """Of one block: how many tuples stand for each of its pairs of sums, apart from their own weights."""
        codes = zip(self.parts.outside, outside, strict=True)
        return self.times * math.prod(self.weights[position][code] for position, code in codes)

    def _counted(self, pair: ClassPair) -> int:
        """How many tuples differ in the comparison of these two classes: dominance counting."""
        places = self.places(pair)
        weights, weights_b = self._weights_of(self.parts.a), self._weights_of(self.parts.b)
        ranks = places.b[places.order]
        in_order = weights_b[places.order]
        from_place = suffix_sums(in_order)
        in_order_too = np.empty_like(weights_b)
        in_order_too[places.b] = weights_b
        from_place_too = suffix_sums(in_order_too)
        total = 0
        self._expect_steps(self.parts.blocks)
        for outside in self._blocks():
            above, above_too = places.thresholds(outside)
            by_above = np.argsort(-above).astype(np.int32)
            # Above in the first and not in the second; then the reverse, from how many are above in either.
            lost = dominance(by_above, above, above_too, weights, ranks, in_order)
            more = int(np.dot(weights, from_place_too[above_too] - from_place[above]))
            total += (2 * lost + more) * self._weight_of(outside)
            self._step()
        return total

    # --- all pairs of classes -----------------------------------------------------------------------------

    def _enumerated(self, method: ComparisonMethod) -> Comparison:
        """Look at every pair of sums, with all comparisons of classes at once."""
        parts = self.parts
        weights, weights_b = self._weights_of(parts.a), self._weights_of(parts.b)
        places = [self.places(pair) for pair in self.pairs]
        rank = np.array([one.a for one in places]).reshape(len(places), parts.m)
        rank_too = np.array([one.b for one in places]).reshape(len(places), parts.m)
        first, second = (np.array([pair[k] for pair in self.pairs], dtype=np.int32) for k in (0, 1))
        above = np.empty((len(places), parts.n), np.int32)
        above_too = np.empty((len(places), parts.n), np.int32)
        step = max(1, 500_000_000 // (parts.m * len(places)))
        differing = 0
        codes: list[int] | None = None
        self._expect_steps(parts.blocks * parts.n)
        for outside in self._blocks():
            for p, one in enumerate(places):
                above[p], above_too[p] = one.thresholds(outside)
            times = self._weight_of(outside)
            for start in range(0, parts.n, step):
                stop = min(start + step, parts.n)
                found, i, j = enumerated(
                    above,
                    above_too,
                    rank,
                    rank_too,
                    first,
                    second,
                    self.n_classes,
                    self.labels,
                    weights,
                    weights_b,
                    start,
                    stop,
                )
                differing += found * times
                if codes is None and i >= 0:
                    codes = tuple_of(parts, self.sizes, outside, i, j)
                self._step(stop - start)
        if codes is None:
            return self._equal(method)
        return self._differs(differing if self.countable else None, codes, self._classes_at(codes), method)

    def _classes_at(self, codes: list[int]) -> ClassPair:
        """Two classes that differ at a tuple: the first comparison, or both labels."""
        rows, rows_too = (
            [
                of_attribute[members[code]]
                for of_attribute, members, code in zip(plain.rows, self.members, codes, strict=True)
            ]
            for plain in (self.a, self.b)
        )
        classes = differing_classes(rows, rows_too, self.a.of_class, self.b.of_class, labels=self.labels)
        if classes is None:
            # Sums in fixed point and integers cannot disagree, as sums are decided with a proven error
            # (docs/mathematics/safety.md, section g). If they ever did, either might be wrong: no verdict.
            raise RuntimeError(
                "compare: a tuple differs by sums of logarithms and not by integers, which is a fault of "
                "nbcfast; please report it with both viewsets"
            )
        return classes

    def _listed(self, pairs: list[ClassPair]) -> Comparison:
        """List the differing tuples of each of these comparisons of classes, and look at their union.

        In the first of them some tuple differs.
        """
        self._expect_steps(len(pairs) * (1 + self.parts.blocks))
        most = self.limits.list
        parts = self.parts
        blocks = {outside: number for number, outside in enumerate(self._blocks())}
        found_i, found_j = np.empty(most, np.int64), np.empty(most, np.int64)
        keys = np.zeros(0, np.int64)
        complete = True
        for pair in pairs:
            places = self.places(pair)
            for part in self._parts_of(pair, places):
                # With as many steps as half b is long, one that differs is met.
                number = part.listed(places.order, found_i, found_j, 20 * most + part.size)
                if number < 0:
                    complete, number = False, -1 - number
                rows = found_i[:number] if part.rows is None else part.rows[found_i[:number]]
                first = blocks[part.outside] * parts.n
                keys = merged_keys(keys, (first + rows) * parts.m + found_j[:number])
                complete = complete and len(keys) <= most
                if not complete:
                    break
            if not complete:
                break
        self._finished()
        outsides = list(blocks)
        if self.labels:
            # A label can differ only where a comparison does: if all of these are listed and none changes a
            # label, the classifiers are equal; if the list was given up, nothing is said.
            keys = keys[self._labels_differ(keys, outsides)]
            if len(keys) == 0:
                return self._equal("meet in the middle") if complete else self._undecided()
        block, i, j = self._parted(keys if complete and self.countable else keys[:1])
        codes = tuple_of(parts, self.sizes, outsides[int(block[0])], int(i[0]), int(j[0]))
        if not (complete and self.countable):
            return self._differs(None, codes, self._classes_at(codes), "meet in the middle")
        weights, weights_b = self._weights_of(parts.a), self._weights_of(parts.b)
        times = np.array([self._weight_of(outside) for outside in outsides], dtype=np.int64)
        differing = int((weights[i] * weights_b[j] * times[block]).sum())
        return self._differs(differing, codes, self._classes_at(codes), "meet in the middle")

    def _parted(self, keys: Longs) -> tuple[Longs, Longs, Longs]:
        """Block and indices in both halves."""
        rows, j = keys // self.parts.m, keys % self.parts.m
        return rows // self.parts.n, rows % self.parts.n, j

    def _labels_differ(self, keys: Longs, outsides: list[tuple[int, ...]]) -> Bools:
        """For each pair of sums whether the best classes are not the same."""
        block, i, j = self._parted(keys)
        lost = np.zeros((2, self.n_classes, len(keys)), bool)
        for c, d in self.pairs:
            places = self.places((c, d))
            for number in np.unique(block).tolist():
                of_block = np.flatnonzero(block == number)
                thresholds = places.thresholds(outsides[number])
                for which, (above, rank) in enumerate(zip(thresholds, (places.a, places.b), strict=True)):
                    is_above = rank[j[of_block]] >= above[i[of_block]]
                    lost[which, d, of_block] |= is_above
                    lost[which, c, of_block] |= ~is_above
        differ: Bools = (lost[0] != lost[1]).any(axis=0)
        return differ
