"""Associations of views that share one join key, without listing them.

Identities with the same single join value have the same associations with the same probability: what is kept
is the identities and values of each join value, and its sizes. Identities with several join values are put
together by a kernel: worlds of different join values are independent, so unrestricted the probability is
1 - prod(1 - P); restricted to one value it is 1 over the number of values that all join values have. The
proofs: docs/mathematics/associations.md, section 4 (#associations-4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import _associations
from nbcfast._core.dtypes import Array, Bools, Floats, Longs, UInt32s
from nbcfast._core.threads import n_threads, over_rows
from nbcfast.associations.results import NO_WORLD, NOT_JOINED, ByJoinValue, Finding, Listing
from nbcfast.associations.sizes import MARGIN, Bounds, Sizes, WorldModel, exceeds, single_values
from nbcfast.groups.groups import grouped
from nbcfast.table import Domain

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.groups.groups import Groups
    from nbcfast.table.values import Value

IDENTITIES = 1 << 14  # that a thread puts together in one go
MOST_HALVES = 64  # join values of a pair that are counted for a decision
BLOCK = 1 << 22  # associations that are listed at a time


@dataclass(frozen=True, eq=False)
class Several:
    """The identities with several join values: codes, CSR of join values, and what a scan finds."""

    codes: Longs
    offsets: Longs
    joins: UInt32s
    unions: Longs
    common: Longs
    wanted_common: Longs
    worst: Floats


class OneJoinKey:
    """Associations by join value.

    Parameters
    ----------
    identities, values : Groups
        By the same join values in the same order; each pair counts once.
    sizes : list of ndarray
        Of each join value: identities, values, tuples of the third view, ...
    numbers_of_views : list of int
        From 1, in the order of the sizes.
    probabilities : callable
        From sizes to floats, unrestricted.
    enclose : callable
        From one join value's sizes, and bits, to exact bounds; unrestricted.
    exact : callable
        From one join value's sizes to a Fraction; unrestricted.
    wanted_ids, wanted_values : ndarray of bool, by code
    """

    def __init__(
        self,
        identities: Groups,
        values: Groups,
        sizes: list[Longs],
        numbers_of_views: list[int],
        model: WorldModel,
        probabilities: Callable[[list[Longs]], Floats],
        enclose: Callable[..., Bounds],
        exact: Callable[[Sizes], Fraction],
        wanted_ids: Bools,
        wanted_values: Bools,
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        self.identities, self.values, self.sizes = identities, values, sizes
        self.numbers_of_views = numbers_of_views
        self.model: WorldModel = model
        self.enclose, self.exact = enclose, exact
        self.wanted_ids, self.wanted_values = wanted_ids, wanted_values
        self.threads = threads
        self._verdicts: dict[tuple[tuple[Sizes, ...], Fraction], bool] = {}
        self.unrestricted = probabilities(sizes) if model == "unrestricted" else np.zeros(len(sizes[0]))
        self.probabilities = self.unrestricted if model == "unrestricted" else single_values(*sizes[:2])
        places = np.repeat(np.arange(identities.n_groups, dtype=np.uint32), identities.distinct)
        self.degrees = np.bincount(identities.values, minlength=len(wanted_ids))
        self.join_of = np.zeros(len(wanted_ids), np.uint32)
        self.join_of[identities.values] = places
        self.single = (self.degrees == 1) & wanted_ids
        asked = wanted_values[values.values].astype(np.int64)
        self.asked = np.add.reduceat(asked, values.offsets[:-1])  # wanted values of each join value
        self.several = self._several(places, progress)

    def _several(self, places: UInt32s, progress: Progress | None) -> Several:
        chosen = (self.degrees > 1) & self.wanted_ids
        ids, joins = self.identities.values, places
        if not chosen.all():
            asked_entries = chosen[ids]
            ids, joins = ids[asked_entries], places[asked_entries]
        codes = np.flatnonzero(chosen)
        n = len(codes)
        if n:
            people = Domain("int", np.arange(len(chosen)), (), False)
            values = Domain("int", np.arange(self.identities.n_groups), (), False)
            joined = grouped(
                [ids], [people], joins, values, ("identity",), "join value", threads=self.threads
            )
            offsets, joins = joined.offsets, joined.values
        else:
            offsets = np.zeros(1, np.int64)
        unions, common, wanted_common = (np.zeros(n, np.int64) for _ in range(3))
        worst = np.zeros(n)
        several = Several(codes, offsets, joins, unions, common, wanted_common, worst)
        if n:
            work = int(np.add.reduceat(self.sizes[1][joins], offsets[:-1]).sum())
            over_rows(
                lambda: self._joiner(several),
                lambda joiner, start, stop: joiner.scan(start, stop, unions, common, wanted_common, worst),
                n,
                threads=n_threads(self.threads, 8 * work),
                progress=progress,
                most_rows=IDENTITIES,
            )
        return several

    def _joiner(self, several: Several) -> _associations.Joiner:
        return _associations.Joiner(
            several.offsets,
            several.joins,
            self.values.offsets,
            self.values.values,
            1 - self.unrestricted,
            self.wanted_values.view(np.uint8),
        )

    @property
    def n_identities(self) -> int:
        return int(np.count_nonzero((self.degrees > 0) & self.wanted_ids))

    @property
    def n_associations(self) -> int:
        return int(self.asked @ self._singles_of()) + int(self.several.unions.sum())

    def _singles_of(self) -> Longs:
        """How many of the identities with one join value have each."""
        counts: Longs = np.bincount(self.join_of[self.single], minlength=len(self.asked)).astype(np.int64)
        return counts

    @property
    def n_without_world(self) -> int:
        if self.model == "unrestricted":
            return 0
        return int(self._singles_of()[np.isnan(self.probabilities)].sum()) + int(self._stuck.sum())

    @property
    def _stuck(self) -> Bools:
        """The identities with several join values that have no restricted world."""
        several = self.several
        if not len(several.codes):
            return np.zeros(0, np.bool_)
        alone = np.isnan(self.probabilities)[several.joins]
        stuck: Bools = np.logical_or.reduceat(alone, several.offsets[:-1]) | (several.common == 0)
        return stuck

    def _best(self) -> tuple[Floats, Floats]:
        """The greatest probability of each single identity (by code), and of each with several join values.

        -1 without any association that is asked for, or without a world.
        """
        best = np.where(self.asked > 0, self.probabilities, -1.0)
        singles = np.where(self.single, np.nan_to_num(best, nan=-1.0)[self.join_of], -1.0)
        several = self.several
        if self.model == "unrestricted":
            return singles, np.where(several.unions > 0, several.worst, -1.0)
        shares = np.where(several.wanted_common > 0, 1 / np.maximum(several.common, 1), 0.0)
        return singles, np.where(self._stuck | (several.unions == 0), -1.0, shares)

    def worst(self, n: int) -> Listing:
        """The n greatest probabilities; of equal ones the first identities, and their first values."""
        singles, several = self._best()
        best = singles
        best[self.several.codes] = several
        codes = np.flatnonzero(best >= 0)
        if len(codes) > n:
            least = np.partition(best[codes], len(codes) - n)[len(codes) - n]
            higher = codes[best[codes] > least]
            codes = np.sort(np.concatenate([higher, codes[best[codes] == least][: n - len(higher)]]))
        # The greatest first: nobody after a block matters once n rows are likelier, or as likely and earlier.
        codes = codes[np.argsort(-best[codes], kind="stable")]
        worst = Listing.empty(0)
        for block in self._blocks(codes):
            if len(worst) == n:
                least, last = worst.probabilities[-1], worst.identities[-1]
                if best[block[0]] < least or (best[block[0]] == least and block[0] > last):
                    break
            worst = Listing.joined([worst, self.listed(block)]).best(n)
        return worst

    def _blocks(self, codes: Longs) -> Iterator[Longs]:
        """Identities in runs that have about so many associations at most."""
        totals = np.cumsum(self._lengths(codes))
        start = 0
        while start < len(codes):
            before = int(totals[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(totals, before + BLOCK, side="right")))
            yield codes[start:stop]
            start = stop

    def _lengths(self, codes: Longs) -> Longs:
        """How many associations that are asked for each identity has."""
        several = self.degrees[codes] > 1
        lengths = np.zeros(len(codes), np.int64)
        lengths[~several] = self.asked[self.join_of[codes[~several]]]
        lengths[several] = self.several.unions[np.searchsorted(self.several.codes, codes[several])]
        return lengths

    def above(self, threshold: Fraction) -> Listing:
        """All associations above a threshold, by identity and value."""
        singles, several = self._choices(threshold)
        listing = self.listed(np.sort(np.concatenate([singles, self.several.codes[several]])))
        if not len(several):
            return listing
        of_several = self.degrees[listing.identities] > 1
        above = np.ones(len(listing), np.bool_)
        above[of_several] = self._decided(listing.chosen(of_several), threshold)
        return listing.chosen(above)

    def n_above(self, threshold: Fraction) -> int:
        joins = self._joins_above(threshold)
        _, several = self._choices(threshold)
        total = int((self.asked * self._singles_of())[joins].sum())
        if not len(several):
            return total
        sure = self._surely_above(threshold)[several]
        total += int(self.several.unions[several[sure]].sum())
        several = several[~sure]
        for block in self._blocks(self.several.codes[several]):
            listing = self.listed(block)
            total += int(self._decided(listing, threshold).sum())
        return total

    def _surely_above(self, threshold: Fraction) -> Bools:
        """Those with several join values all of whose associations are above, as each join value alone is."""
        several = self.several
        if self.model == "restricted":
            return np.zeros(len(several.codes), np.bool_)
        if threshold <= Fraction(1, 2):
            return np.ones(len(several.codes), np.bool_)
        least = np.minimum.reduceat(self.probabilities[several.joins], several.offsets[:-1])
        above: Bools = least > float(threshold) + MARGIN
        return above

    def _choices(self, threshold: Fraction) -> tuple[Longs, Longs]:
        """Single identities that are above, and places of those with several join values that may be."""
        singles = np.flatnonzero(self.single)
        singles = singles[self._joins_above(threshold)[self.join_of[singles]]]
        _, several = self._best()
        return singles, np.flatnonzero(several > float(threshold) - MARGIN)

    def _joins_above(self, threshold: Fraction) -> Bools:
        level = float(threshold)
        above: Bools = self.probabilities > level
        near = np.flatnonzero(np.abs(self.probabilities - level) <= MARGIN)
        if len(near):
            sizes = np.stack([size[near] for size in self.sizes], axis=1)
            _, firsts, places = np.unique(sizes, axis=0, return_index=True, return_inverse=True)
            verdicts = [
                self._above([place], float(self.probabilities[place]), threshold)
                for place in near[firsts].tolist()
            ]
            above[near] = np.array(verdicts)[places.reshape(-1)]
        return above & (self.asked > 0)

    def _decided(self, listing: Listing, threshold: Fraction) -> Bools:
        """Which associations of identities with several join values are above."""
        level = float(threshold)
        near = np.abs(listing.probabilities - level) <= MARGIN
        above: Bools = (
            listing.probabilities > level
        ) & ~near  # a float may be rounded above its own probability
        if self.model == "restricted":
            for probability in np.unique(listing.probabilities[near]).tolist():
                above[listing.probabilities == probability] = self._above([], probability, threshold)
            return above
        # Each join value that has both leaves less than half of the doubt.
        least = next((n for n in range(1, MOST_HALVES) if threshold <= 1 - Fraction(1, 2**n)), MOST_HALVES)
        if least < MOST_HALVES:
            above |= listing.times >= least
        for place in np.flatnonzero(near & ~above).tolist():
            pair = int(listing.identities[place]), int(listing.values[place])
            above[place] = self._above(
                self.joins_of_pair(*pair), float(listing.probabilities[place]), threshold
            )
        return above

    def _above(self, joins: list[int], probability: float, threshold: Fraction) -> bool:
        if self.model == "restricted":  # 1 over a whole number, or 0
            return (Fraction(1, round(1 / probability)) if probability else Fraction(0)) > threshold
        sizes = tuple(sorted(self.sizes_of(place) for place in joins))
        if (sizes, threshold) not in self._verdicts:
            self._verdicts[sizes, threshold] = exceeds(sizes, threshold, self.enclose)
        return self._verdicts[sizes, threshold]

    def sizes_of(self, place: int) -> Sizes:
        return tuple(int(size[place]) for size in self.sizes)

    def joins_of(self, code: int) -> list[int]:
        """The join values of an identity."""
        if self.degrees[code] <= 1:
            return [int(self.join_of[code])] if self.degrees[code] else []
        several = self.several
        place = int(np.searchsorted(several.codes, code))
        if place < len(several.codes) and several.codes[place] == code:
            joins: list[int] = several.joins[several.offsets[place] : several.offsets[place + 1]].tolist()
            return joins
        # Not asked for: looked up the long way.
        entries = np.flatnonzero(self.identities.values == code)
        return list((np.searchsorted(self.identities.offsets, entries, side="right") - 1).tolist())

    def values_of(self, place: int) -> UInt32s:
        """The values of a join value."""
        return self.values.values[self.values.offsets[place] : self.values.offsets[place + 1]]

    def joins_of_pair(self, code: int, value: int) -> list[int]:
        joins = []
        for place in self.joins_of(code):
            values = self.values_of(place)
            position = int(np.searchsorted(values, value))
            if position < len(values) and values[position] == value:
                joins.append(place)
        return joins

    def cover(self, code: int) -> UInt32s:
        """The values that an identity may have."""
        places = self.joins_of(code)
        if not places:
            return np.zeros(0, np.uint32)
        return np.unique(np.concatenate([self.values_of(place) for place in places]))

    def finding(self, code: int, value: int) -> Finding:
        """All that there is to say of one association."""
        joins, own_joins = self.joins_of_pair(code, value), self.joins_of(code)
        keys = [self.identities.key(place) for place in joins]
        if self.model == "unrestricted":
            if not joins:
                return Finding(0.0, lambda: Fraction(0), NOT_JOINED, keys)
            return self._product(joins, len(own_joins), keys)
        if not own_joins:
            return Finding(None, lambda: None, f"{NO_WORLD}: the identity has no row", keys)
        alone = [place for place in own_joins if np.isnan(self.probabilities[place])]
        if alone:
            n = self.sizes_of(alone[0])[1]
            return Finding(None, lambda: None, f"{NO_WORLD}: alone with {n} values at a join value", keys)
        common = set(self.values_of(own_joins[0]).tolist())
        for place in own_joins[1:]:
            common &= set(self.values_of(place).tolist())
        if not common:
            return Finding(None, lambda: None, f"{NO_WORLD}: no value is common to all join values", keys)
        if value in common:
            share = Fraction(1, len(common))
            return Finding(
                float(share), lambda: share, f"one of {len(common)} values that all join values have", keys
            )
        case = "a join value of the identity does not have the value" if joins else NOT_JOINED
        return Finding(0.0, lambda: Fraction(0), case, keys)

    def _product(self, joins: list[int], n_joins: int, keys: list[dict[str, Value]]) -> Finding:
        doubt = 1.0
        for place in joins:
            doubt *= 1 - float(self.probabilities[place])
            doubt = max(doubt, 1e-300) if doubt else doubt
        # Worked out as the kernel does, so that it is the float that lists have.
        probability = 1 - doubt
        if probability >= 1 and doubt > 0:
            probability = float(np.nextafter(1.0, 0.0))

        def exactly() -> Fraction:
            product = Fraction(1)
            for place in joins:
                product *= 1 - self.exact(self.sizes_of(place))
            return 1 - product

        if n_joins == 1:
            m, n, *more = self.sizes_of(joins[0])
            case = f"{m} x {n} at the one join value" + "".join(f" x {size}" for size in more)
        else:
            case = f"at {len(joins)} of {n_joins} join values"
        return Finding(probability, exactly, case, keys)

    def listed(self, codes: Longs | None = None) -> Listing:
        """All associations that are asked for, of some identities or of all: by identity and value."""
        if codes is None:
            codes = np.flatnonzero((self.degrees > 0) & self.wanted_ids)
        several = self.degrees[codes] > 1
        places = np.searchsorted(self.several.codes, codes[several])
        lengths = self._lengths(codes)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        listing = Listing.empty(int(offsets[-1]))
        listing.identities[:] = np.repeat(codes, lengths)
        if several.any():
            self._list_several(listing, places, offsets, np.flatnonzero(several))
        self._list_singles(listing, codes[~several], offsets[:-1][~several])
        return listing

    def _list_singles(self, listing: Listing, codes: Longs, places: Longs) -> None:
        joins = self.join_of[codes]
        step = max(BLOCK // 64, 1)
        for start in range(0, len(codes), step):
            part = slice(start, start + step)
            lengths = self.values.distinct[joins[part]]
            within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            values = self.values.values[np.repeat(self.values.offsets[:-1][joins[part]], lengths) + within]
            into = np.repeat(places[part], lengths) + within
            probabilities = np.repeat(self.probabilities[joins[part]], lengths)
            if not self.wanted_values.all():
                wanted = self.wanted_values[values]
                counts = self.asked[joins[part]]
                within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
                into = np.repeat(places[part], counts) + within
                values, probabilities = values[wanted], probabilities[wanted]
            listing.values[into] = values
            listing.probabilities[into] = probabilities
            listing.times[into] = 1

    def _list_several(self, listing: Listing, places: Longs, offsets: Longs, asked_places: Longs) -> None:
        several = self.several
        degrees = np.diff(several.offsets)[places]
        id_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)])
        within = np.arange(int(id_offsets[-1])) - np.repeat(id_offsets[:-1], degrees)
        joins = several.joins[np.repeat(several.offsets[:-1][places], degrees) + within]
        none = np.zeros(0, np.int64)  # of what a scan finds: these are only filled in
        part = Several(several.codes[places], id_offsets, joins, none, none, none, np.zeros(0))
        lengths = several.unions[places]
        part_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        values, probabilities = np.zeros(int(part_offsets[-1]), np.uint32), np.zeros(int(part_offsets[-1]))
        times = np.zeros(int(part_offsets[-1]), np.uint32)
        over_rows(
            lambda: self._joiner(part),
            lambda joiner, start, stop: joiner.fill(start, stop, part_offsets, values, probabilities, times),
            len(places),
            threads=n_threads(self.threads, 16 * len(values)),
            most_rows=IDENTITIES,
        )
        if self.model == "restricted":
            shares = np.where(self._stuck, np.nan, 1 / np.maximum(several.common, 1))[places]
            share = np.repeat(shares, lengths)
            common = times == np.repeat(degrees, lengths)
            probabilities = np.where(common | np.isnan(share), share, 0.0)
        into = (
            np.repeat(offsets[:-1][asked_places], lengths)
            + np.arange(len(values))
            - np.repeat(part_offsets[:-1], lengths)
        )
        listing.values[into] = values
        listing.probabilities[into] = probabilities
        listing.times[into] = times

    def by_join_value(self) -> ByJoinValue:
        """A row for each join value, and the probability of identities that have no other one."""
        groups = self.identities
        keys = [
            (name, (groups.codes(name), domain))
            for name, domain in zip(groups.by, groups.domains, strict=True)
        ]
        m, n, *more = self.sizes
        numbers: list[tuple[str, Array]] = [("identities", m), ("values", n)]
        further = zip(self.numbers_of_views[2:], more, strict=True)
        numbers += [(f"tuples of view {number}", size) for number, size in further]
        numbers += [("associations", m * n), ("probability", self.probabilities)]
        return ByJoinValue(keys, numbers)
