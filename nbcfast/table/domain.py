"""The values of a column, in their order."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat

import numpy as np

from nbcfast._core.dtypes import Array, Longs
from nbcfast.table.values import SUPPRESSED, Interval, Kind, Value, as_kind, in_order, join_kinds, normalise

_DTYPES = {"int": np.int64, "float": np.float64}
_NUMERIC = ("int", "float")


class Domain:
    """The values that a column's codes stand for: code `i` is `values[i]`.

    All values are of one kind; None and then SUPPRESSED, where they belong to the domain, come last. A
    declared domain keeps the order it was given in; what is found in rows is sorted (text by code point, but
    durations by length and dates by time). Two domains are equal if they hold the same values in the same
    order; whether they were declared is not compared.

    Attributes
    ----------
    kind : {"bool", "int", "float", "text", "interval"} or None
        What the values are; None where there is none beside None and SUPPRESSED.
    declared : bool
        Declared domains keep values that no row has, others shrink to those that occur.
    open_tail : bool
        Of a declared domain, whether rows may bring None and SUPPRESSED into it, as they do into the bins of
        numbers: such a domain is declared but for its tail.
    size : int
        How many values there are.
    tail_found : tuple
        Those of None and SUPPRESSED that rows have brought in.
    """

    __slots__ = (
        "__weakref__",
        "_head",
        "_index",
        "_tail",
        "_values",
        "declared",
        "kind",
        "open_tail",
        "size",
        "tail_found",
    )

    declared: bool
    open_tail: bool
    size: int
    tail_found: tuple[Value, ...]
    kind: Kind | None
    _head: Array | tuple[Value, ...]  # an array for numbers: they may be millions
    _tail: tuple[Value, ...]
    _values: tuple[Value, ...] | None
    _index: dict[Value, int] | None

    def __init__(
        self,
        kind: Kind | None,
        head: Array | Sequence[Value],
        tail: tuple[Value, ...],
        declared: bool,
        *,
        open_tail: bool = False,
        tail_found: tuple[Value, ...] = (),
    ) -> None:
        if kind in _NUMERIC:
            array = np.array(head, dtype=_DTYPES[str(kind)])
            array.flags.writeable = False
            self._head = array
        else:
            self._head = tuple(head)
        self.kind = kind
        self.size = len(self._head) + len(tail)
        self._tail = tail
        self.declared = declared
        self.open_tail = open_tail
        self.tail_found = tail_found
        self._values = None
        self._index = None

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and hasattr(self, name):
            raise AttributeError(f"a Domain does not change: cannot set {name}")
        object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        # What is kept for speed is made again: equal domains have equal bytes.
        return _restored, (
            self.kind,
            self._head,
            self._tail,
            self.declared,
            self.open_tail,
            self.tail_found,
        )

    @classmethod
    def of(
        cls, values: Iterable[object], declared: bool = True, *, where: str = "domain", in_order: bool = True
    ) -> "Domain":
        """A domain of these values in this order, None and SUPPRESSED put last; duplicates are refused.

        So are intervals that overlap, and (with `in_order`) those that do not increase.
        """
        if isinstance(values, (str, bytes)):
            raise TypeError(f"{where}: expected a sequence of values, got {type(values).__name__}")
        try:
            listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        except TypeError:
            raise TypeError(f"{where}: expected a sequence of values, got {type(values).__name__}") from None
        kind, plain = normalise(listed, where)
        seen: set[Value] = set()
        for value in plain:
            if value in seen:
                raise ValueError(f"{where}: expected distinct values, got {value!r} twice")
            seen.add(value)
        head = [value for value in plain if value is not None and value is not SUPPRESSED]
        domain = cls(kind, head, _tail_of(seen), declared)
        if kind == "interval":
            domain.check_intervals(where, in_order)
        return domain

    @classmethod
    def sorted(cls, values: Iterable[object], *, where: str = "domain") -> "Domain":
        """The undeclared domain of these values: each once, sorted."""
        kind, plain = normalise(list(values), where)
        distinct = set(plain)
        tail = _tail_of(distinct)
        head = in_order(value for value in distinct if value is not None and value is not SUPPRESSED)
        return cls(kind, head, tail, False)

    @staticmethod
    def union(a: "Domain", b: "Domain", *, where: str = "domain") -> "Domain":
        """The sorted values of either."""
        kind = join_kinds((a.kind, b.kind), where)
        tail = _tail_of({*a._tail, *b._tail})
        if kind in _NUMERIC and a.kind == b.kind:
            return Domain(kind, np.union1d(np.asarray(a._head), np.asarray(b._head)), tail, False)
        head = in_order({*as_kind(list(a.head), kind, where), *as_kind(list(b.head), kind, where)})
        if kind == "interval":
            for one, next_one in pairwise(head):
                if one.high is None or next_one.low is None or one.high > next_one.low:
                    raise ValueError(
                        f"{where}: the intervals {one!r} and {next_one!r} overlap: bin all parts with the "
                        "same edges"
                    )
        return Domain(kind, head, tail, False)

    def _intervals(self) -> list[Interval]:
        """The intervals of the head, of which there are none in a domain of another kind."""
        return (
            [value for value in self._head if isinstance(value, Interval)] if self.kind == "interval" else []
        )

    def check_intervals(self, where: str, in_order: bool = True) -> None:
        """Refuse intervals of which two overlap, or, with `in_order`, do not stand in their order.

        A number in two of them would belong to two values, and a published one says nothing certain.
        """
        for one, next_one in pairwise(self._intervals() if in_order else sorted(self._intervals())):
            if in_order and next_one < one:
                raise ValueError(
                    f"{where}: expected intervals in increasing order, got {one!r} then {next_one!r}"
                )
            if one.high is None or next_one.low is None or one.high > next_one.low:
                raise ValueError(f"{where}: the intervals {one!r} and {next_one!r} overlap")

    @staticmethod
    def joined(a: "Domain", b: "Domain", *, where: str = "domain") -> "Domain":
        """The domain of the rows of both: the sorted union, or what either declared.

        Declared domains must agree, and whatever else there is must lie in what was declared; None and
        SUPPRESSED come into a domain with an open tail from either side.
        """
        if a is b:
            return a
        if not a.declared and not b.declared:
            if a == b and a.kind == b.kind:
                return a
            return Domain.union(a, b, where=where)
        if a.declared and b.declared:
            return Domain._agreed(a, b, where)
        declared, other = (a, b) if a.declared else (b, a)
        declared = declared.with_tail(other._tail)
        missing = np.flatnonzero(other.positions_in(declared) < 0)
        if len(missing):
            raise ValueError(
                f"{where}: value {other.values[missing[0]]!r} is not in the declared domain of "
                f"{len(declared)} values"
            )
        return declared

    @staticmethod
    def _agreed(a: "Domain", b: "Domain", where: str) -> "Domain":
        """The domain of two declared ones, which differ at most in their open tails."""
        base = a if a.kind == "float" else b  # whichever comes first
        same = a._without_tail() == b._without_tail()
        if same and a.open_tail and b.open_tail:
            listed = ({*a._tail} - {*a.tail_found}) | ({*b._tail} - {*b.tail_found})
            tail = _tail_of({*a._tail, *b._tail})
            return base._with(tail, True, tuple(value for value in tail if value not in listed))
        closed = b if a.open_tail else a
        # A closed domain holds what an open one has found, and has declared whatever that one has.
        if same and {*(b if closed is a else a)._tail} <= {*closed._tail}:
            if a.open_tail or b.open_tail:
                return base._with(closed._tail, False, ())
            if a._tail == b._tail:
                return base
        raise ValueError(f"{where}: expected equal declared domains, got {a!r} and {b!r}")

    def with_tail(self, found: Iterable[Value]) -> "Domain":
        """Of a declared domain: with what rows have of None and SUPPRESSED, where its tail is open."""
        new = _tail_of({*found} - {*self._tail}) if self.open_tail else ()
        if not new:
            return self
        return self._with(_tail_of({*self._tail, *new}), True, _tail_of({*self.tail_found, *new}))

    def _without_tail(self) -> "Domain":
        return Domain(self.kind, self._head, (), True) if self._tail else self

    def _with(self, tail: tuple[Value, ...], open_tail: bool, found: tuple[Value, ...]) -> "Domain":
        if (tail, open_tail, found) == (self._tail, self.open_tail, self.tail_found):
            return self
        return Domain(self.kind, self._head, tail, True, open_tail=open_tail, tail_found=found)

    @property
    def may_shrink(self) -> bool:
        """Whether values that no row has can leave: not where each was declared."""
        return not self.declared or bool(self.tail_found)

    def kept(self, used: Array) -> Longs:
        """The positions that remain where just these values occur: a mask, one entry a value."""
        if not self.may_shrink:
            return np.arange(len(self), dtype=np.int64)
        stays = np.array(used, np.bool_)
        if self.declared:
            stays[: len(self._head)] = True
            for offset, value in enumerate(self._tail):
                stays[len(self._head) + offset] |= value not in self.tail_found
        return np.flatnonzero(stays)

    @property
    def is_natural(self) -> bool:
        """Whether numbers and intervals stand in rising order; of texts and bools any order is as good."""
        if isinstance(self._head, np.ndarray):
            return bool((self._head[1:] > self._head[:-1]).all())
        head = self._intervals()
        return all(one < next_one for one, next_one in pairwise(head))

    @property
    def head(self) -> tuple[Value, ...]:
        """The values without None and SUPPRESSED."""
        return self.values[: len(self._head)]

    @property
    def tail(self) -> tuple[Value, ...]:
        """None and SUPPRESSED, those of them that belong to the domain."""
        return self._tail

    @property
    def numbers(self) -> Array:
        """The head as a read-only int64 or float64 array; numeric kinds only."""
        if not isinstance(self._head, np.ndarray):
            raise TypeError(f"expected a domain of numbers, got one of kind {self.kind}")
        return self._head

    @property
    def values(self) -> tuple[Value, ...]:
        """All values as Python values."""
        if self._values is None:
            head = self._head
            self._values = (tuple(head.tolist()) if isinstance(head, np.ndarray) else head) + self._tail
        return self._values

    @property
    def index(self) -> dict[Value, int]:
        """Value -> position. A domain has one kind, so True never meets 1 here."""
        if self._index is None:
            self._index = {value: position for position, value in enumerate(self.values)}
        return self._index

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        if self is other:
            return True
        if len(self) != len(other) or self._tail != other._tail or not self._comparable(other):
            return False
        if self.kind == other.kind and isinstance(self._head, np.ndarray):
            return bool(np.array_equal(self._head, other.numbers))
        return self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        shown = [repr(value) for value in self.first(8)]
        if len(self) > len(shown):
            shown.append(f"... {len(self)} in all")
        return f"Domain({', '.join(shown)}{'; declared' if self.declared else ''})"

    def first(self, n: int) -> tuple[Value, ...]:
        if len(self) <= 2 * n or self._values is not None:
            return self.values[:n] if len(self) > 2 * n else self.values
        head = self._head[:n]
        return tuple(head.tolist()) if isinstance(head, np.ndarray) else head

    def _comparable(self, other: "Domain") -> bool:
        return (
            self.kind is None
            or other.kind is None
            or self.kind == other.kind
            or {self.kind, other.kind} == {"int", "float"}
        )

    def positions_in(self, other: "Domain") -> Longs:
        """For each value its position in `other`, -1 where it is absent.

        Values are compared by value and kind: an int equals the float of the same number, True never equals
        1.
        """
        if self is other:
            return np.arange(len(self), dtype=np.int64)
        if not self._comparable(other):
            result = np.full(len(self), -1, np.int64)
            result[len(self._head) :] = [other.index.get(value, -1) for value in self._tail]
            return result
        if self.kind in _NUMERIC and self.kind == other.kind and len(other) > 1000:
            return self._numeric_positions_in(other)
        return np.fromiter(map(other.index.get, self.values, repeat(-1)), np.int64, len(self))

    def _numeric_positions_in(self, other: "Domain") -> Longs:
        """`positions_in` of two domains of numbers, by sorting: a large dictionary is slow."""
        mine, theirs = self.numbers, other.numbers
        result = np.full(len(self), -1, np.int64)
        order = np.argsort(theirs)
        place = np.minimum(np.searchsorted(theirs, mine, sorter=order), len(theirs) - 1)
        nearest = order[place]
        result[: len(mine)] = np.where(theirs[nearest] == mine, nearest, -1)
        for offset, value in enumerate(self._tail):
            if value in other._tail:
                result[len(mine) + offset] = len(theirs) + other._tail.index(value)
        return result

    def as_declared(self) -> "Domain":
        """The same values in the same order, declared: those that no row has stay."""
        return Domain(self.kind, self._head, self._tail, True)

    def as_undeclared(self) -> "Domain":
        """The same values in the same order, as if they had been found in rows."""
        return Domain(self.kind, self._head, self._tail, False)

    def subset(self, positions: Longs) -> "Domain":
        """The values at these increasing positions."""
        size = len(self._head)
        inside = positions[positions < size]
        head = (
            self._head[inside]
            if isinstance(self._head, np.ndarray)
            else [self._head[position] for position in inside.tolist()]
        )
        tail = tuple(self._tail[position - size] for position in positions[positions >= size].tolist())
        return Domain(
            self.kind if len(inside) else None,
            head,
            tail,
            self.declared,
            open_tail=self.open_tail,
            tail_found=tuple(value for value in self.tail_found if value in tail),
        )


def _tail_of(values: set[Value]) -> tuple[Value, ...]:
    return tuple(value for value in (None, SUPPRESSED) if value in values)


def _restored(
    kind: Kind | None,
    head: Array | tuple[Value, ...],
    tail: tuple[Value, ...],
    declared: bool,
    open_tail: bool,
    tail_found: tuple[Value, ...],
) -> Domain:
    """A domain that was pickled or copied."""
    return Domain(kind, head, tail, declared, open_tail=open_tail, tail_found=tail_found)
