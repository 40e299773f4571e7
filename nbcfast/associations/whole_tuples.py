"""Worlds of whole tuples of views that share one join key (Def. 3.2 literally).

An identity that has several tuples at a join value has the more cells, so associations of one join value
differ: each is worked out, once for every combination of sizes. The counts and their bounds:
docs/mathematics/associations.md, section 5 (#associations-5).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Array, Bools, Longs
from nbcfast._core.untyped import Exact
from nbcfast.associations.explicit import NEVER, NOWHERE, Explicit, Outcome
from nbcfast.associations.results import ByJoinValue
from nbcfast.associations.sizes import FIRST_BITS, Sizes, WorldModel
from nbcfast.associations.stars import single_weights, tuples_enclosed

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.associations.projections import StarSide

BITS = 256  # of a factor that decide nearly always

TuplesOfValues = dict[int, int]  # code of a value -> its tuples


def whole_tuples(
    identities: StarSide,
    values: StarSide,
    sizes: list[Longs],
    numbers_of_views: list[int],
    model: WorldModel,
    wanted_ids: Bools,
    wanted_values: Bools,
    progress: Progress | None,
) -> Explicit:
    """All associations, identity by identity."""
    worlds = TupleWorlds(identities, values, sizes, numbers_of_views, model)
    return Explicit(
        worlds.unrestricted if model == "unrestricted" else worlds.restricted,
        [code for code in sorted(worlds.held) if wanted_ids[code]],
        "worlds of whole tuples",
        wanted_ids,
        wanted_values,
        worlds.by_join_value,
        progress,
    )


def _by_join_value(part: StarSide) -> Iterator[TuplesOfValues]:
    offsets = part.groups.offsets.tolist()
    codes, tuples = part.groups.values.tolist(), part.tuples.tolist()
    for start, stop in pairwise(offsets):
        yield dict(zip(codes[start:stop], tuples[start:stop], strict=True))


def _floor(number: Exact) -> Exact:
    return (number.numerator << BITS) // number.denominator


def _multiplied(factors: tuple[Outcome, ...]) -> Outcome:
    """1 - prod(1 - P)."""
    most = prod((1 - factor.low for factor in factors), start=gmpy2.mpq(1))
    least = prod((1 - factor.high for factor in factors), start=gmpy2.mpq(1))
    return Outcome(1 - most, 1 - least)


def _share(weight: Exact, total: Exact) -> Outcome:
    share = gmpy2.mpq(weight, total)
    return Outcome(share, share)


class TupleWorlds:
    """What each identity has at each join value, and what is known of each combination of sizes.

    Attributes
    ----------
    held : dict
        Identity -> its join values, and how many tuples it has there.
    owned : list of dict
        For each join value, value -> tuples.
    """

    def __init__(
        self,
        identities: StarSide,
        values: StarSide,
        sizes: list[Longs],
        numbers_of_views: list[int],
        model: WorldModel,
    ) -> None:
        self.model = model
        groups = identities.groups
        self.keys = [
            (name, (groups.codes(name), domain))
            for name, domain in zip(groups.by, groups.domains, strict=True)
        ]
        self.numbers: list[tuple[str, Array]] = [
            ("identities", groups.distinct),
            ("values", values.groups.distinct),
            *(
                (f"tuples of view {number}", size)
                for number, size in sorted(zip(numbers_of_views, sizes, strict=True), key=itemgetter(0))
            ),
            ("associations", groups.distinct * values.groups.distinct),
        ]
        self.owned = list(_by_join_value(values))
        self.held: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.people: list[set[int]] = []  # how many tuples an identity of a join value may have
        for place, people in enumerate(_by_join_value(identities)):
            self.people.append(set(people.values()))
            for code, tuples in people.items():
                self.held[code].append((place, tuples))
        kinds: dict[Sizes, int] = {}  # join values of the same sizes are of one kind
        sizes_of_joins = zip(*(size.tolist() for size in sizes), strict=True)
        self.kind = [kinds.setdefault(of_join, len(kinds)) for of_join in sizes_of_joins]
        self.sizes: list[Sizes] = list(kinds)
        self.shares: dict[int, set[int]] = defaultdict(set)  # kind -> how many tuples a value may have
        for place, owned in enumerate(self.owned):
            self.shares[self.kind[place]].update(owned.values())
        self._at: dict[tuple[int, int], Mapping[int, Outcome]] = {}
        self._single: dict[tuple[int, int, int], Outcome] = {}
        self._products: dict[tuple[tuple[int, int, int], ...], Outcome] = {}
        self._scaled: dict[tuple[int, int, int], tuple[Exact, Exact]] = {}
        self._weights: dict[tuple[int, int], tuple[dict[int, Exact], bool]] = {}

    # --- unrestricted

    def unrestricted(self, code: int) -> Mapping[int, Outcome]:
        """Value -> outcome: 1 - prod(1 - P) over the join values that have both."""
        joins = self.held.get(code, [])
        if len(joins) == 1:  # the same for all others with as many tuples there
            if joins[0] not in self._at:
                place, a = joins[0]
                kind = self.kind[place]
                self._at[joins[0]] = {value: self._one(kind, a, b) for value, b in self.owned[place].items()}
            return self._at[joins[0]]
        where: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for place, a in joins:
            kind = self.kind[place]
            for value, b in self.owned[place].items():
                where[value].append((kind, a, b))
        return {value: self._shared(cells) for value, cells in where.items()}

    def _one(self, kind: int, a: int, b: int) -> Outcome:
        """Unrestricted, of an identity and a value with so many tuples at one join value."""
        if (kind, a, b) not in self._single:  # all that share powers at once
            for tuples in sorted(self.shares[kind]):
                self._single[kind, a, tuples] = Outcome(
                    *tuples_enclosed(self.sizes[kind], (a, tuples), FIRST_BITS)
                )
        return self._single[kind, a, b]

    def _shared(self, cells: list[tuple[int, int, int]]) -> Outcome:
        if len(cells) == 1:
            return self._one(*cells[0])
        name = tuple(sorted(cells))
        if name not in self._products:
            self._products[name] = self._product(name)
        return self._products[name]

    def _product(self, cells: tuple[tuple[int, int, int], ...]) -> Outcome:
        """1 - prod(1 - P), of some bits of each factor; the fractions themselves are long."""
        most = least = gmpy2.mpz(1) << BITS
        for cell in cells:
            factor = self._one(*cell)
            if factor.low == 1:
                return factor
            if cell not in self._scaled:
                self._scaled[cell] = _floor(1 - factor.high), _floor(1 - factor.low) + 1
            low, high = self._scaled[cell]
            least, most = (least * low) >> BITS, (most * high >> BITS) + 1
        whole = gmpy2.mpz(1) << BITS
        refine = partial(_multiplied, tuple(self._one(*cell) for cell in cells))
        return Outcome(gmpy2.mpq(whole - most, whole), gmpy2.mpq(whole - least, whole), None, refine)

    # --- restricted

    def restricted(self, code: int) -> Mapping[int, Outcome]:
        """Value -> outcome: in proportion to the worlds in which the identity has nothing but the value."""
        joins = self.held.get(code, [])
        if len(joins) != 1:
            return self._of_several(joins) if joins else {}
        if joins[0] not in self._at:
            self._at[joins[0]] = self._of_several(joins)
        return self._at[joins[0]]

    def _of_several(self, joins: list[tuple[int, int]]) -> dict[int, Outcome]:
        """Restricted, of an identity with these join values, and so many tuples at each."""
        owned = [self.owned[place] for place, _ in joins]
        tables, exact = zip(*(self._table(self.kind[place], a) for place, a in joins), strict=True)
        cover = dict.fromkeys(value for at_join in owned for value in at_join)
        weights = {}
        outcomes: dict[tuple[int, ...], Outcome] = {}
        tuples = {
            value: tuple(at_join[value] for at_join in owned)
            for value in owned[0]
            if all(value in at_join for at_join in owned)
        }
        for name in set(tuples.values()):
            weight = gmpy2.mpz(1)
            for table, b in zip(tables, name, strict=True):
                weight *= table[b]
            weights[name] = weight
        total = sum(weights[name] for name in tuples.values())
        # Values that have as many tuples as each other are equally likely, whatever the weight.
        narrow = all(exact) or len([weight for weight in weights.values() if weight]) < 2
        for name, weight in weights.items():
            if total == 0:
                outcomes[name] = NOWHERE
            elif weight == 0:
                outcomes[name] = NEVER
            elif all(exact) and weight != total and total >> (2 * BITS) and weight << (BITS // 2) > total:
                low = gmpy2.mpz(weight << BITS) // total
                least, most = (gmpy2.mpq(end, gmpy2.mpz(1) << BITS) for end in (low - 1, low + 1))
                outcomes[name] = Outcome(least, most, None, partial(_share, weight, total))
            else:
                share = gmpy2.mpq(weight) / total
                off = 0 if narrow else share * len(joins) / (gmpy2.mpz(1) << (FIRST_BITS - 2))
                outcomes[name] = Outcome(share - off, share + off)
        nothing = NEVER if total else NOWHERE
        return {value: outcomes[tuples[value]] if value in tuples else nothing for value in cover}

    def _table(self, kind: int, a: int) -> tuple[dict[int, Exact], bool]:
        """For each number of tuples of a value its worlds, but for a factor, and whether they are exact."""
        if (kind, a) not in self._weights:
            tuples = sorted(self.shares[kind])
            weights, exact = single_weights(self.sizes[kind], a, tuples, FIRST_BITS)
            if not exact:
                weights = [gmpy2.mpq(weight) / max(weights) for weight in weights]
            self._weights[kind, a] = dict(zip(tuples, weights, strict=True)), exact
        return self._weights[kind, a]

    # --- by join value

    def by_join_value(self) -> ByJoinValue:
        """A row for each join value, with the greatest probability of identities that have no other one."""
        greatest = np.array(list(map(self._greatest, range(len(self.kind)))))
        return ByJoinValue(self.keys, [*self.numbers, ("probability", greatest)])

    def _greatest(self, place: int) -> float:
        """The greatest probability of identities that have this join value alone; NaN without a world."""
        outcomes = []
        for a in self.people[place]:
            if self.model == "unrestricted":
                outcomes += [self._one(self.kind[place], a, b) for b in set(self.owned[place].values())]
            else:
                outcomes += self._of_several([(place, a)]).values()
        possible = (outcome.probability for outcome in outcomes if outcome.low is not None)
        return max(possible, default=float("nan"))
