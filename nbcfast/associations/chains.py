"""Chains of views: exact, by message passing.

The identity's view and the one next to it meet in the tuples of that one: (2^cells - 1) choices for each,
where the cells are what is kept of the identity's tuples times what is kept of the paths on to the
attribute's. All other views go by inclusion and exclusion over what is kept of them, summed out join value
by join value. That costs no more than the tree width of the join values asks for: section 6 of
docs/mathematics/associations.md (#associations-6) has the sum.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb, prod
from typing import TYPE_CHECKING, Literal, TypeVar

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast._core.untyped import Exact
from nbcfast.associations.explicit import NEVER, NOWHERE, Outcome
from nbcfast.associations.sizes import WorldModel

if TYPE_CHECKING:
    from nbcfast.associations.projections import Columns

JoinValue = tuple[int, ...]  # a code for each column that two views share
ChainKey = tuple[int, JoinValue]  # how far from the left end, and join value
KeyTuples = tuple[tuple[ChainKey, int], ...]  # keys at which somebody has tuples, and how many
KeyTable = tuple[tuple[ChainKey, ...], Array]  # numbers, with an axis for the states of each key

One = TypeVar("One", bound=Hashable)
Other = TypeVar("Other")

MOST_WAYS = 1 << 16  # of keeping paths on from a join value
MOST_WORK = 1 << 27  # bits of all entries of a message


class TooWideError(ValueError):
    """The pairs of keys are too entangled, or too many tuples share them."""

    def __init__(self) -> None:
        super().__init__("views: too many tuples of the chain share their keys to be worked out")


@dataclass(frozen=True)
class States:
    """What can be kept at a key: of all its tuples, of those at stake, and the signed number of ways."""

    kept: Array
    at_stake: Array
    weights: Array


class Chain:
    """Views as counts.

    Parameters
    ----------
    left, right : list of (join value, identity) and of (join value, value)
        One for each tuple of the outer views.
    between : list of list of (join value, join value)
        One for each tuple of each view between them, from left to right.
    """

    def __init__(
        self,
        left: list[tuple[JoinValue, int]],
        right: list[tuple[JoinValue, int]],
        between: list[list[tuple[JoinValue, JoinValue]]],
    ) -> None:
        last = len(between)
        self.sizes: Counter[ChainKey] = Counter(
            [(0, key) for key, _ in left] + [(last, key) for key, _ in right]
        )
        levels = [
            Counter(((level, b), (level + 1, c)) for b, c in tuples) for level, tuples in enumerate(between)
        ]
        self.pairs = levels[0]
        self.links: dict[ChainKey, dict[ChainKey, int]] = defaultdict(
            dict
        )  # join value -> the next ones, and by how many
        for level in levels[1:]:
            for (b, c), tuples in level.items():
                self.links[b][c] = tuples
        self.identities = _owned(0, left)
        self.values = _owned(last, right)
        everywhere = [pair for level in levels for pair in level]
        keys = dict.fromkeys(key for pair in everywhere for key in pair)
        self.part_of = _components(keys, everywhere)
        self.members: dict[ChainKey, list[ChainKey]] = _listed((self.part_of[key], key) for key in keys)
        self.next: dict[ChainKey, list[ChainKey]] = dict(_listed(everywhere))
        self.values_at: dict[ChainKey, list[int]] = _listed(
            (key, value) for value, keys in self.values.items() for key, _ in keys
        )
        self.spend: Callable[[int], None] = _anything  # is told of entries of tables that are multiplied
        self._counts: dict[tuple[ChainKey, KeyTuples, KeyTuples, str], Exact] = {}
        self._untouched: dict[tuple[ChainKey, ChainKey], Array] = {}  # of pairs with nothing at stake
        self._outcomes: dict[Exact, Outcome] = {}

    def outcomes(self, model: WorldModel, code: int) -> dict[int, Outcome]:
        """Value -> outcome, of the values that an identity may have."""
        identity_tuples = self.identities.get(code, ())
        values = sorted({value for key in self._ends(identity_tuples) for value in self.values_at[key]})
        parts = sorted({self.part_of[b] for b, _ in identity_tuples}, key=repr)
        if model == "unrestricted":
            return {value: self._shared(identity_tuples, self.values[value], parts) for value in values}
        weights = {value: self._weight(identity_tuples, self.values[value], parts) for value in values}
        total = sum(weights.values())
        if total == 0:
            return dict.fromkeys(values, NOWHERE)
        return {
            value: self._outcome(gmpy2.mpq(weight, total)) if weight else NEVER
            for value, weight in weights.items()
        }

    def _outcome(self, share: Exact) -> Outcome:
        """One object for equal shares: `Explicit` keeps an index of it for each association."""
        if share not in self._outcomes:
            self._outcomes[share] = Outcome(share, share)
        return self._outcomes[share]

    def _shared(self, identity_tuples: KeyTuples, value_tuples: KeyTuples, parts: list[ChainKey]) -> Outcome:
        """Unrestricted: 1 - the share of worlds in which the identity and the value share no cell."""
        apart = gmpy2.mpq(1)
        for part in parts:
            without = self._count(part, identity_tuples, value_tuples, "shared")
            apart *= gmpy2.mpq(without, self._count(part, (), (), "shared"))
        return self._outcome(1 - apart)

    def _weight(self, identity_tuples: KeyTuples, value_tuples: KeyTuples, parts: list[ChainKey]) -> Exact:
        """Restricted: worlds in which the identity has nothing but the value, where it has tuples."""
        return prod(
            (self._count(part, identity_tuples, value_tuples, "others") for part in parts), start=gmpy2.mpz(1)
        )

    def _count(
        self,
        part: ChainKey,
        identity_tuples: KeyTuples,
        value_tuples: KeyTuples,
        cut: Literal["shared", "others"],
    ) -> Exact:
        """Worlds of a component without the cells of an identity with a value, or with all other values."""
        identity_tuples, value_tuples = (
            tuple(entry for entry in owned if self.part_of[entry[0]] == part)
            for owned in (identity_tuples, value_tuples)
        )
        name = part, identity_tuples, value_tuples, cut
        if name not in self._counts:
            states, tables = self._states(part, dict([*identity_tuples, *value_tuples]))
            pairs = [(b, c) for b in self.members[part] if b[0] == 0 for c in self.next[b]]
            tables += [((b, c), self._choices((b, c), states, cut)) for b, c in pairs]
            bits = sum(
                int(states[b].kept.max()) * int(states[c].kept.max()) * self.pairs[b, c] for b, c in pairs
            )
            self.spend(sum(table.size for _, table in tables))
            self._counts[name] = summed_out(tables, bits, self.spend)
        return self._counts[name]

    def _states(
        self, part: ChainKey, at_stake: dict[ChainKey, int]
    ) -> tuple[dict[ChainKey, States], list[KeyTable]]:
        """What can be kept at each join value, from right to left, and in how many ways."""
        states: dict[ChainKey, States] = {}
        tables: list[KeyTable] = []
        for key in sorted(self.members[part], key=lambda key: -key[0]):
            links = self.links.get(key)
            if links is None:
                size, staked = self.sizes[key], at_stake.get(key, 0)
                states[key] = _ends_kept(size, staked) if staked else _ends_untouched(size)
                tables.append(((key,), states[key].weights))
            else:
                states[key], table = _paths_kept(
                    [(states[onward], tuples) for onward, tuples in links.items()]
                )
                tables.append(((key, *links), table))
        return states, tables

    def _ends(self, identity_tuples: KeyTuples) -> set[ChainKey]:
        """The join values at the right end that somebody's tuples lead to."""
        keys = {key for key, _ in identity_tuples}
        while any(key in self.next for key in keys):
            keys = {onward for key in keys for onward in self.next.get(key, [key])}
        return keys

    def _choices(
        self,
        pair: tuple[ChainKey, ChainKey],
        states: dict[ChainKey, States],
        cut: Literal["shared", "others"],
    ) -> Array:
        """The table of a pair of keys; most of all pairs have nothing at stake, whoever is looked at."""
        b, c = (states[key] for key in pair)
        if b.at_stake.any() or c.at_stake.any():
            return _pair(b, c, self.pairs[pair], cut)
        if pair not in self._untouched:
            self._untouched[pair] = _pair(b, c, self.pairs[pair], cut)
        return self._untouched[pair]


def _pair(b: States, c: States, tuples: int, cut: Literal["shared", "others"]) -> Array:
    """Choices of so many tuples that join two keys, by what is kept at each; every one has some cell."""
    if len(b.kept) * len(c.kept) * int(b.kept.max()) * int(c.kept.max()) * tuples > MOST_WORK:
        raise TooWideError
    fewer = c.at_stake if cut == "shared" else c.kept - c.at_stake
    cells = np.multiply.outer(b.kept, c.kept) - np.multiply.outer(b.at_stake, fewer)
    listed = cells.ravel().tolist()
    choices = {cell: ((gmpy2.mpz(1) << cell) - 1) ** tuples for cell in set(listed)}
    table: Array = np.array([choices[cell] for cell in listed], object).reshape(cells.shape)
    return table


def _anything(entries: int) -> None:
    """Of those who do not mind how much it is."""


def summed_out(messages: list[KeyTable], bits: int, spend: Callable[[int], None]) -> Exact:
    """The sum, over all states of all keys, of the product of tables over some keys each.

    Keys are summed out one after the other, always the one whose message is smallest.
    """
    sizes = {key: table.shape[place] for keys, table in messages for place, key in enumerate(keys)}
    tables = dict(enumerate(messages))
    holding: dict[ChainKey, list[int]] = _listed(
        (key, number) for number, (axes, _) in tables.items() for key in axes
    )

    def neighbours(key: ChainKey) -> tuple[ChainKey, ...]:
        others = (other for number in holding[key] for other in tables[number][0] if other != key)
        return tuple(dict.fromkeys(others))

    def message(key: ChainKey) -> int:
        return prod(sizes[other] for other in neighbours(key))

    lengths = {key: message(key) for key in sizes}
    total, n_tables = gmpy2.mpz(1), len(tables)
    while sizes:
        key = min(lengths, key=lengths.__getitem__)
        keys = (*neighbours(key), key)
        if lengths[key] * sizes[key] * bits > MOST_WORK:
            raise TooWideError
        product = np.full([1] * len(keys), gmpy2.mpz(1), object)
        for number in holding.pop(key):
            axes, table = tables.pop(number)
            product = product * _spread(axes, table, keys)
            spend(product.size)
            for other in axes:
                if other != key:
                    holding[other].remove(number)
        summed = product.sum(axis=-1)
        del sizes[key], lengths[key]
        if len(keys) == 1:
            total *= summed
            continue
        tables[n_tables] = keys[:-1], summed
        for other in keys[:-1]:
            holding[other].append(n_tables)
        n_tables += 1
        lengths.update({other: message(other) for other in keys[:-1]})
    return total


def _spread(axes: tuple[ChainKey, ...], table: Array, keys: tuple[ChainKey, ...]) -> Array:
    """A table with one axis for each of these keys, of length 1 where it has none."""
    order = sorted(range(len(axes)), key=lambda place: keys.index(axes[place]))
    shape = [table.shape[axes.index(key)] if key in axes else 1 for key in keys]
    return table.transpose(order).reshape(shape)


def _paths_kept(links: list[tuple[States, int]]) -> tuple[States, Array]:
    """How many paths are kept on from a join value, where each link has so many tuples.

    And the signed number of ways, by that and by what is kept at the other end of each link.
    """
    if prod(len(states.kept) * (tuples + 1) for states, tuples in links) > MOST_WAYS:
        raise TooWideError
    ways: Counter[tuple[int, int, tuple[int, ...]]] = Counter({(0, 0, ()): 1})
    for states, tuples in links:
        longer: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
        for (kept, at_stake, places), number in ways.items():
            onward = zip(states.kept.tolist(), states.at_stake.tolist(), strict=True)
            for place, (more_kept, more_at_stake) in enumerate(onward):
                for used in range(tuples + 1):
                    sign = (-1) ** (tuples - used) * comb(tuples, used)
                    state = kept + used * more_kept, at_stake + used * more_at_stake, (*places, place)
                    longer[state] += number * sign
        ways = longer
    distinct = sorted({(kept, at_stake) for kept, at_stake, _ in ways})
    number_of = {state: number for number, state in enumerate(distinct)}
    table = np.full((len(distinct), *(len(states.kept) for states, _ in links)), gmpy2.mpz(0), object)
    for (kept, at_stake, places), number in ways.items():
        table[(number_of[kept, at_stake], *places)] = gmpy2.mpz(number)
    numbers = np.array(distinct, np.int64)
    return States(numbers[:, 0], numbers[:, 1], np.full(len(distinct), gmpy2.mpz(1), object)), table


@lru_cache(maxsize=128)
def _ends_untouched(size: int) -> States:
    return _ends_kept(size, 0)


def _ends_kept(size: int, at_stake: int) -> States:
    """What can be kept of the tuples at an end of the chain, so many of which are at stake."""
    kept, kept_at_stake, weights = [], [], []
    for staked in range(at_stake + 1):
        for others in range(size - at_stake + 1):
            sign = (-1) ** (size - others - staked)
            kept.append(others + staked)
            kept_at_stake.append(staked)
            weights.append(gmpy2.mpz(sign * comb(at_stake, staked) * comb(size - at_stake, others)))
    return States(np.array(kept), np.array(kept_at_stake), np.array(weights, object))


def _owned(side: int, tuples: list[tuple[JoinValue, int]]) -> dict[int, KeyTuples]:
    counts: dict[int, Counter[ChainKey]] = defaultdict(Counter)
    for key, code in tuples:
        counts[code][side, key] += 1
    return {code: tuple(sorted(keys.items())) for code, keys in counts.items()}


def _listed(pairs: Iterable[tuple[One, Other]]) -> dict[One, list[Other]]:
    """All that stand beside each first one."""
    beside: dict[One, list[Other]] = defaultdict(list)
    for one, other in pairs:
        beside[one].append(other)
    return beside


def _components(
    keys: Iterable[ChainKey], pairs: Iterable[tuple[ChainKey, ChainKey]]
) -> dict[ChainKey, ChainKey]:
    """For each key the first one of those that pairs connect it to."""
    parent = {key: key for key in keys}

    def root(key: ChainKey) -> ChainKey:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    for one, other in pairs:
        parent[root(one)] = root(other)
    return {key: root(key) for key in keys}


def chain_of(
    parts: Sequence[Columns], names: Sequence[tuple[str, ...]], identity: str, attribute: str
) -> Chain:
    """The counts of a chain; `parts` are the distinct tuples of its ends, then of the views between."""
    first, last, *between = parts
    path = [names[0], *names[2:], names[1]]
    shared = [[name for name in a if name in b] for a, b in pairwise(path)]
    return Chain(
        list(zip(first.rows(shared[0]), first.codes[identity].tolist(), strict=True)),
        list(zip(last.rows(shared[-1]), last.codes[attribute].tolist(), strict=True)),
        [
            list(zip(part.rows(before), part.rows(after), strict=True))
            for part, (before, after) in zip(between, pairwise(shared), strict=True)
        ],
    )
