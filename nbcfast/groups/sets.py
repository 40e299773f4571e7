"""`SetGroups`: people who each have a set of sensitive values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Longs
from nbcfast.table import Domain, Table
from nbcfast.table.values import normalise

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.values import Value

Histogram = tuple[tuple[int, int], ...]  # sets as bit masks over the domain, and how many people have each

MOST_L = 3  # all choices of l values are tried: the best one is a problem of maximum coverage


class SetGroups:
    """People in groups, each with a set of sensitive values: made by `Groups.from_sets`.

    The model is that of a permutation of sets: within a group every assignment of its sets to its people is
    equally likely. The adversary knows that the target has none of l values, knows the exact sets of k
    people, and that the target has s if any of m people has it. The breach is the probability that s is in
    the target's set. Taking a set for one value of its own would be exact for "the target's exact set" and
    too low for this.

    The best l values to exclude are a problem of maximum coverage, so all choices are tried, and l is at most
    3. `find` looks no further than that either.

    Attributes
    ----------
    n_groups, n_rows : int
    domain : tuple
        The values, sorted.
    k : int
        People of the smallest group.
    l : int
        Fewest different values that occur in a group.
    """

    __slots__ = ("_groups", "k", "keys", "l", "n_rows", "sensitive_domain")

    def __init__(self, groups: npt.ArrayLike | Sequence[Value], sets: Iterable[Iterable[Value]]) -> None:
        people = []
        for number, values in enumerate(sets):
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
                raise TypeError(f"sets[{number}]: expected a set of values, got {values!r}")
            people.append(list(values))
        labels = Table({"group": groups}).column("group")
        if len(labels.codes) != len(people):
            raise ValueError(f"{len(labels.codes)} groups but {len(people)} sets")
        if not people:
            raise ValueError("no rows")
        _, plain = normalise([value for values in people for value in values], "sets")
        self.sensitive_domain = Domain.sorted(plain, where="sets")
        if len(self.sensitive_domain) == 0:
            raise ValueError("sets: expected a value in some set, all are empty")
        places = iter(map(self.sensitive_domain.index.__getitem__, plain))
        counters = [Counter[int]() for _ in range(len(labels.domain))]
        for code, values in zip(labels.codes.tolist(), people, strict=True):
            mask = 0
            for _ in values:
                mask |= 1 << next(places)
            counters[code][mask] += 1
        present = [code for code, counter in enumerate(counters) if counter]
        self._groups: list[Histogram] = [tuple(sorted(counters[code].items())) for code in present]
        self.keys = [{"group": labels.domain.values[code]} for code in present]
        self.n_rows = len(people)
        self.k = min(sum(count for _, count in group) for group in self._groups)
        self.l = min(_union(group).bit_count() for group in self._groups)

    @property
    def n_groups(self) -> int:
        return len(self._groups)

    @property
    def domain(self) -> tuple[Value, ...]:
        return self.sensitive_domain.values

    def __repr__(self) -> str:
        return (
            f"SetGroups({self.n_groups} group{'s' * (self.n_groups != 1)}, {self.n_rows} people, "
            f"{len(self.sensitive_domain)} values)"
        )

    def tables(
        self, ls: Iterable[int], progress: Progress | None = None
    ) -> tuple[Longs, list[Longs], list[Longs]]:
        """All entries of VN, of TW and of MO, one of these an l."""
        listed = list(ls)
        check_l(listed)
        vn: set[tuple[int, ...]] = set()
        tw: list[set[tuple[int, ...]]] = [set() for _ in listed]
        mo: list[set[tuple[int, ...]]] = [set() for _ in listed]
        looked_at: set[Histogram] = set()  # groups that are alike have the same entries
        for number, group in enumerate(self._groups):
            if group not in looked_at:
                looked_at.add(group)
                for s, c, n in entries(group):
                    vn.add((s, c, n))
                    for place, l in enumerate(listed):
                        for a, w, _ in choices(group, s, l):
                            tw[place].add((s, a, w))
                            mo[place].add((a, w, c, n))
            if progress is not None:
                progress(number + 1, self.n_groups)
        return _array(vn), [_array(of_l) for of_l in tw], [_array(of_l) for of_l in mo]

    def locate(
        self, kind: int, value: int, c: int, n: int, w: int, l: int
    ) -> tuple[int, int, tuple[int, ...]]:
        """The first group with an entry, its value, and the excluded values: see `_skyline.locate`.

        For kind 2, c is that of the odds, a; n is N.
        """
        for number, group in enumerate(self._groups):
            for s, people, others in entries(group):
                if kind != 2 and s != value:
                    continue
                if kind == 0 and (people, others) == (c, n):
                    return number, s, ()
                if kind != 0:
                    for a, left, excluded in choices(group, s, l):
                        if (a, left) == (c, w) and (kind == 1 or others == n):
                            return number, s, excluded
        raise ValueError("no group has this entry")

    def histogram(self, group: int) -> Histogram:
        return self._groups[group]


def check_l(ls: Iterable[int]) -> None:
    """Refuse more excluded values than all choices of them are tried for."""
    for l in ls:
        if l > MOST_L:
            raise ValueError(f"sets of values: l must be at most {MOST_L}, got {l}")


def entries(group: Histogram) -> Iterator[tuple[int, int, int]]:
    """Each value of a group, how many people have it, and how many have not."""
    n = sum(count for _, count in group)
    for s in bits(_union(group)):
        c = sum(count for mask, count in group if mask >> s & 1)
        yield s, c, n - c


def choices(group: Histogram, s: int, l: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """People left with s, left without s, and the choice, of each choice of at most l excluded values.

    One with at most as many left with s as another, and at least as many without, never decides:
    docs/mathematics/skyline.md, section 10 (#skyline-10).
    """
    others = [value for value in bits(_union(group)) if value != s]
    tried = []
    for size in range(min(l, len(others)) + 1):
        for excluded in combinations(others, size):
            mask = sum(1 << value for value in excluded)
            left = [(held >> s & 1, count) for held, count in group if not held & mask]
            a = sum(count for has, count in left if has)
            if a:
                tried.append((a, sum(count for has, count in left if not has), excluded))
    tried.sort(key=lambda choice: (-choice[0], choice[1], len(choice[2]), choice[2]))
    front: list[tuple[int, int, tuple[int, ...]]] = []
    for choice in tried:
        if not front or choice[1] < front[-1][1]:
            front.append(choice)
    return front


def bits(mask: int) -> list[int]:
    """The values of a set, by place in the domain."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def _union(group: Histogram) -> int:
    mask = 0
    for held, _ in group:
        mask |= held
    return mask


def _array(rows: set[tuple[int, ...]]) -> Longs:
    return np.array(sorted(rows), np.int64).T.copy()
