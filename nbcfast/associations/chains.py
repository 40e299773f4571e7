"""Chains of three views: exact, by message passing.

The outer views (identity and left key; right key and value) meet in the tuples of the middle one. Inclusion
and exclusion over how many tuples are kept at each left and each right key leaves a product over the pairs
of keys, (2^cells - 1) for each tuple of the middle view: summed out key by key, which costs no more than
the tree width of the pairs asks for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any, Literal

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast.associations.explicit import NEVER, NOWHERE, Outcome
from nbcfast.associations.sizes import Model

Key = tuple[int, Any]  # side (0 left, 1 right) and join value
Owned = tuple[tuple[Key, int], ...]  # keys at which somebody has tuples, and how many
Table = npt.NDArray[Any]
Message = tuple[tuple[Key, ...], Table]

MOST_WORK = 1 << 27  # bits of all entries of a message


class TooWideError(ValueError):
    """The pairs of keys are too entangled, or too many tuples share them."""

    def __init__(self) -> None:
        super().__init__("views: too many tuples of the chain share their keys to be worked out")


@dataclass(frozen=True)
class States:
    """What can be kept at a key: of all its tuples, of those at stake, and the signed number of ways."""

    kept: Table
    mine: Table
    weights: Table


class Chain:
    """Three views as counts.

    Parameters
    ----------
    left, right : list of (join value, identity) and of (join value, value)
        One for each tuple of the outer views.
    middle : list of (left join value, right join value)
        One for each tuple of the middle view.
    """

    def __init__(self, left: list[Any], right: list[Any], middle: list[Any]) -> None:
        self.sizes: Counter[Key] = Counter([(0, key) for key, _ in left] + [(1, key) for key, _ in right])
        self.pairs = Counter(((0, b), (1, c)) for b, c in middle)
        self.identities = _owned(0, left)
        self.values = _owned(1, right)
        self.part_of = _components(self.sizes, self.pairs)
        self.parts: dict[Key, list[tuple[Key, Key]]] = defaultdict(list)
        for pair in self.pairs:
            self.parts[self.part_of[pair[0]]].append(pair)
        self.right_of: dict[Key, list[Key]] = _listed(self.pairs)
        self.values_at: dict[Key, list[int]] = _listed(
            (key, value) for value, keys in self.values.items() for key, _ in keys
        )
        self._counts: dict[Any, Any] = {}
        self._outcomes: dict[Any, Outcome] = {}

    def outcomes(self, model: Model, code: int) -> dict[int, Outcome]:
        """Value -> outcome, of the values that an identity may have."""
        mine = self.identities.get(code, ())
        reached = {c for b, _ in mine for c in self.right_of[b]}
        values = sorted({value for c in reached for value in self.values_at[c]})
        parts = sorted({self.part_of[b] for b, _ in mine}, key=repr)
        if model == "unrestricted":
            return {value: self._shared(mine, self.values[value], parts) for value in values}
        weights = {value: self._weight(mine, self.values[value], parts) for value in values}
        total = sum(weights.values())
        if total == 0:
            return dict.fromkeys(values, NOWHERE)
        found = {}
        for value, weight in weights.items():
            share = gmpy2.mpq(weight, total)
            found[value] = self._outcome(share) if weight else NEVER
        return found

    def _outcome(self, share: Any) -> Outcome:
        if share not in self._outcomes:
            self._outcomes[share] = Outcome(share, share)
        return self._outcomes[share]

    def _shared(self, mine: Owned, theirs: Owned, parts: list[Key]) -> Outcome:
        rest = gmpy2.mpq(1)
        for part in parts:
            without = self._count(part, mine, theirs, "shared")
            rest *= gmpy2.mpq(without, self._count(part, (), (), "shared"))
        return self._outcome(1 - rest)

    def _weight(self, mine: Owned, theirs: Owned, parts: list[Key]) -> Any:
        return prod((self._count(part, mine, theirs, "others") for part in parts), start=gmpy2.mpz(1))

    def _count(self, part: Key, mine: Owned, theirs: Owned, cut: Literal["shared", "others"]) -> Any:
        """Worlds of a component without the cells of an identity with a value, or with all other values."""
        mine, theirs = (
            tuple(entry for entry in owned if self.part_of[entry[0]] == part) for owned in (mine, theirs)
        )
        name = part, mine, theirs, cut
        if name not in self._counts:
            at_stake = dict([*mine, *theirs])
            pairs = self.parts[part]
            keys = dict.fromkeys(key for pair in pairs for key in pair)
            states = {key: _states(self.sizes[key], at_stake.get(key, 0)) for key in keys}
            tables: list[Message] = [((key,), one.weights) for key, one in states.items()]
            tables += [((b, c), self._pair(states[b], states[c], self.pairs[b, c], cut)) for b, c in pairs]
            bits = sum(self.sizes[b] * self.sizes[c] * self.pairs[b, c] for b, c in pairs)
            self._counts[name] = summed_out(tables, bits)
        return self._counts[name]

    def _pair(self, b: States, c: States, tuples: int, cut: str) -> Table:
        if len(b.kept) * len(c.kept) * int(b.kept.max()) * int(c.kept.max()) * tuples > MOST_WORK:
            raise TooWideError
        fewer = c.mine if cut == "shared" else c.kept - c.mine
        cells = np.multiply.outer(b.kept, c.kept) - np.multiply.outer(b.mine, fewer)
        choices = {cell: ((gmpy2.mpz(1) << cell) - 1) ** tuples for cell in np.unique(cells).tolist()}
        found: Table = np.vectorize(choices.__getitem__, otypes=[object])(cells)
        return found


def summed_out(tables: list[Message], bits: int) -> Any:
    """The sum, over all states of all keys, of the product of tables over some keys each.

    Keys are summed out one after the other, always the one whose message is smallest.
    """
    sizes = {key: table.shape[place] for keys, table in tables for place, key in enumerate(keys)}
    total = gmpy2.mpz(1)
    while sizes:
        key = min(sizes, key=lambda key: prod(sizes[other] for other in _neighbours(tables, key)))
        keys = (*_neighbours(tables, key), key)
        if prod(sizes[other] for other in keys) * bits > MOST_WORK:
            raise TooWideError
        product = np.full([1] * len(keys), gmpy2.mpz(1), object)
        for own, table in tables:
            if key in own:
                product = product * _spread(own, table, keys)
        tables = [(own, table) for own, table in tables if key not in own]
        summed = product.sum(axis=-1)
        if len(keys) > 1:
            tables.append((keys[:-1], summed))
        else:
            total *= summed
        del sizes[key]
    return total


def _neighbours(tables: list[Message], key: Key) -> tuple[Key, ...]:
    others = (other for keys, _ in tables if key in keys for other in keys)
    return tuple(other for other in dict.fromkeys(others) if other != key)


def _spread(own: tuple[Key, ...], table: Table, keys: tuple[Key, ...]) -> Table:
    order = sorted(range(len(own)), key=lambda place: keys.index(own[place]))
    shape = [table.shape[own.index(key)] if key in own else 1 for key in keys]
    return table.transpose(order).reshape(shape)


def _states(size: int, mine: int) -> States:
    kept, owned, weights = [], [], []
    for one in range(mine + 1):
        for more in range(size - mine + 1):
            sign = (-1) ** (size - more - one)
            kept.append(more + one)
            owned.append(one)
            weights.append(gmpy2.mpz(sign * comb(mine, one) * comb(size - mine, more)))
    return States(np.array(kept), np.array(owned), np.array(weights, object))


def _owned(side: int, tuples: list[Any]) -> dict[int, Owned]:
    found: dict[int, Counter[Key]] = defaultdict(Counter)
    for key, code in tuples:
        found[code][side, key] += 1
    return {code: tuple(sorted(keys.items())) for code, keys in found.items()}


def _listed(pairs: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for one, other in pairs:
        found[one].append(other)
    return found


def _components(keys: Any, pairs: Any) -> dict[Key, Key]:
    """For each key the first one of those that pairs connect it to."""
    parent = {key: key for key in keys}

    def root(key: Key) -> Key:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    for one, other in pairs:
        parent[root(one)] = root(other)
    return {key: root(key) for key in keys}


def chain_of(parts: Sequence[Any], names: Sequence[tuple[str, ...]], identity: str, attribute: str) -> Chain:
    """The counts of three views; `parts` are their distinct tuples, the middle one last."""
    first, second, middle = parts
    left = [name for name in names[0] if name in names[2]]
    right = [name for name in names[1] if name in names[2]]
    return Chain(
        list(zip(rows(first, left), first.codes[identity].tolist(), strict=True)),
        list(zip(rows(second, right), second.codes[attribute].tolist(), strict=True)),
        list(zip(rows(middle, left), rows(middle, right), strict=True)),
    )


def rows(columns: Any, names: Sequence[str]) -> list[tuple[int, ...]]:
    """The codes of some columns, row by row."""
    n_rows = len(next(iter(columns.codes.values())))
    listed = [columns.codes[name].tolist() for name in names]
    return list(zip(*listed, strict=True)) if listed else [()] * n_rows
