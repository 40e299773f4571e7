"""`Statistics`: what decides every point, as integers that partial results merge by minima."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import _skyline
from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.validation import whole
from nbcfast.groups.groups import Groups
from nbcfast.groups.measures import (
    KEPT,
    Entropies,
    chosen_values,
    greatest,
    greatest_ratio,
    is_entropy_at_least,
    positive_fraction,
)
from nbcfast.groups.scanning import Scanned, front_modes, scanned
from nbcfast.groups.sets import SetGroups
from nbcfast.table import Domain

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.values import Value

    _State = tuple[tuple[int, ...], Domain | None, Scanned | None, bool, Entropies, bool]


class Statistics:
    """The tables that decide whether groups are safe: integers, and no point or confidence in them.

    Complete groups go in, one after the other, in any order and in any division over workers: merging is
    associative, commutative and idempotent. A group that is spread over chunks must be put together first,
    with `Groups.merge` or by counting the chunks as one stream.

    Of a group of n people, c have a value s and N = n - c have not; r_1 >= r_2 >= ... are its counts, and
    W_l(s) = n - (r_1 + .. + r_l) - min(c, r_{l+1}) people are left when the l values that are most frequent
    beside s, and s, are excluded.

    Parameters
    ----------
    ls : iterable of int
        The l of all points that are to be checked. `find` needs 0, 1, .., d - 2 where d is the least number
        of different values in a group.
    entropy : bool
        Whether entropies are looked at too, which takes about as long as all else.

    Attributes
    ----------
    ls : tuple of int
    vn : read-only ndarray, 3 x entries
        VN: value, c and the least N over the groups where c people have it.
    tw : mapping of l -> read-only ndarray, 3 x entries
        TW: value, c and the least W_l.
    mo : mapping of l -> read-only ndarray, 4 x entries
        MO: r_1, least W_l of the most frequent value, r_1 again (a set of values may leave fewer people than
        have it) and n - r_1.
    domain : tuple
        The sensitive values; a value in the tables is a position here.
    k, l : int
        Fewest people, and fewest different values, of a group.
    entropy : bool

    Notes
    -----
    An entry is left out if another one is at least as bad in all its numbers: it can never decide. Section 5
    of docs/mathematics/skyline.md (#skyline-5) proves that, and that the tables decide every point.

    Examples
    --------
    >>> statistics = Statistics([1]).update(Groups([[7, 7, 6, 0], [4, 0, 0, 3]]))
    >>> statistics.vn.T.tolist()
    [[0, 7, 13], [0, 4, 3], [1, 7, 13], [2, 6, 14], [3, 3, 4]]
    >>> other = Statistics([1]).update(Groups([[1, 1, 0, 0]]))
    >>> statistics.merge(other).k
    2
    """

    __slots__ = ("_domain", "_entropies", "_has_sets", "_kernels", "_tables", "entropy", "ls")

    ls: tuple[int, ...]
    entropy: bool
    _entropies: Entropies
    _has_sets: bool  # whether people with several values each were among those seen
    _domain: Domain | None
    _tables: Scanned | None
    _kernels: dict[int, _skyline.Tables]

    def __init__(self, ls: Iterable[int], *, entropy: bool = True) -> None:
        if isinstance(ls, (str, bytes)) or not isinstance(ls, Iterable):
            raise TypeError(f"ls must be a sequence of ints, got {ls!r}")
        self.ls = tuple(sorted({whole(l, "ls", 0) for l in ls}))
        if not self.ls:
            raise ValueError("ls must be at least one l, got none")
        self.entropy = entropy
        self._entropies = {}
        self._has_sets = False
        self._domain = None
        self._tables = None
        self._kernels = {}

    def update(
        self,
        groups: Groups | SetGroups | None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Statistics:
        """Look at complete groups; returns itself.

        Parameters
        ----------
        groups : Groups, SetGroups or None
            Of which no part is anywhere else. None is a part without rows, and changes nothing.
        threads : int, optional
            By default NBCFAST_THREADS, or all cores, one for little work. The result does not depend on it.
        progress : callable, optional
            Called as progress(done_groups, all_groups).
        """
        if groups is None:
            return self
        if isinstance(groups, SetGroups):
            vn, tw, mo = groups.tables(self.ls, progress)
            tables = Scanned(
                _pruned(vn), list(map(_pruned, tw)), list(map(_pruned_modes, mo)), groups.k, groups.l
            )
            self._add(groups.sensitive_domain, tables)
            self._has_sets = True
        elif isinstance(groups, Groups):
            self._add(groups.sensitive_domain, scanned(groups, self.ls, threads, progress))
            if self.entropy:
                self._entropies = _least_of(self._entropies, groups.least_entropies())
        else:
            raise TypeError(f"groups: expected Groups, got {type(groups).__name__}")
        return self

    def merge(self, other: Statistics) -> Statistics:
        """Take in what another one, for the same l, has seen; returns itself."""
        if not isinstance(other, Statistics):
            raise TypeError(f"other: expected Statistics, got {type(other).__name__}")
        if other.ls != self.ls:
            raise ValueError(f"other: expected statistics for l of {self.ls}, got {other.ls}")
        if other.entropy != self.entropy:
            raise ValueError(f"other: expected statistics with entropy={self.entropy}, got {other.entropy}")
        self._has_sets |= other._has_sets
        self._entropies = _least_of(self._entropies, other._entropies)
        if other._tables is not None:
            assert other._domain is not None
            self._add(other._domain, other._tables)
        return self

    def __or__(self, other: Statistics) -> Statistics:
        """A new one that has seen what either has."""
        if not isinstance(other, Statistics):
            return NotImplemented
        return Statistics(self.ls, entropy=self.entropy).merge(self).merge(other)

    def _add(self, domain: Domain, tables: Scanned) -> None:
        if self._tables is None or self._domain is None:
            self._domain, self._tables, self._kernels = domain, _frozen(tables), {}
            return
        union = self._domain
        if domain != union:
            union = Domain.union(union, domain, where="the sensitive values")
        mine, theirs = _moved(self._tables, self._domain, union), _moved(tables, domain, union)
        self._domain, self._kernels = union, {}
        self._tables = _frozen(
            Scanned(
                _pruned(np.concatenate([mine.vn, theirs.vn], axis=1)),
                [_pruned(np.concatenate(pair, axis=1)) for pair in zip(mine.tw, theirs.tw, strict=True)],
                [
                    _pruned_modes(np.concatenate(pair, axis=1))
                    for pair in zip(mine.mo, theirs.mo, strict=True)
                ],
                min(mine.k, theirs.k),
                min(mine.l, theirs.l),
            )
        )

    def __getstate__(self) -> _State:
        return self.ls, self._domain, self._tables, self.entropy, self._entropies, self._has_sets

    def __setstate__(self, state: _State) -> None:
        self.ls, self._domain, tables, self.entropy, self._entropies, self._has_sets = state
        self._tables = None if tables is None else _frozen(tables)
        self._kernels = {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistics):
            return NotImplemented
        if (self.ls, self.entropy, self._has_sets) != (other.ls, other.entropy, other._has_sets):
            return False
        if self._domain != other._domain or self._entropies != other._entropies:
            return False
        if self._tables is None or other._tables is None:
            return self._tables is other._tables
        mine, theirs = self._tables, other._tables
        return (mine.k, mine.l) == (theirs.k, theirs.l) and all(
            np.array_equal(a, b)
            for a, b in zip([mine.vn, *mine.tw, *mine.mo], [theirs.vn, *theirs.tw, *theirs.mo], strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._tables is None:
            return f"Statistics(l of {self.ls}; no groups yet)"
        return (
            f"Statistics(l of {self.ls}; groups of at least {self.k} people with {self.l} "
            f"value{'s' * (self.l != 1)}, {self.vn.shape[1]} entries)"
        )

    @property
    def _seen(self) -> Scanned:
        if self._tables is None:
            raise ValueError("no rows: the statistics have seen no groups")
        return self._tables

    @property
    def vn(self) -> Longs:
        return self._seen.vn

    @property
    def tw(self) -> dict[int, Longs]:
        return dict(zip(self.ls, self._seen.tw, strict=True))

    @property
    def mo(self) -> dict[int, Longs]:
        return dict(zip(self.ls, self._seen.mo, strict=True))

    @property
    def domain(self) -> tuple[Value, ...]:
        return () if self._domain is None else self._domain.values

    @property
    def k(self) -> int:
        return self._seen.k

    @property
    def l(self) -> int:  # noqa: E743
        return self._seen.l

    @property
    def entropy_l(self) -> float:
        """Entropy l-diversity of all groups that were seen, as of `Groups`."""
        return float(np.exp(min(self._least_entropies.values())))

    def is_entropy_diverse(self, l: Numeral) -> bool:
        """Whether every group has an entropy of at least log(l), decided exactly, as of `Groups`.

        Examples
        --------
        >>> statistics = Statistics([0]).update(Groups([[2, 2]])).update(Groups([[3, 3, 1]]))
        >>> statistics.is_entropy_diverse(2), statistics.is_entropy_diverse("2.01")
        (True, False)
        """
        return is_entropy_at_least(self._least_entropies, l)

    def recursive_c(self, l: int) -> Fraction | float:
        """Recursive (c, l)-diversity of all groups that were seen, as of `Groups`: of l - 2 in `ls`, or l 1.

        Examples
        --------
        >>> Statistics([0]).update(Groups([[3, 2, 1]])).recursive_c(2)
        Fraction(1, 1)
        """
        l = whole(l, "l", 1)
        self._refuse_sets("recursive diversity")
        if l == 1:
            return self.alpha()
        if l - 2 not in self.ls:
            raise ValueError(
                f"l must be 1 or 2 above an l that was looked at, which are {self.ls}, got {l}: give "
                f"Statistics {l - 2} as well"
            )
        # MO has r_1 and n - r_1 - .. - r_(l-1) of every group that can have the greatest ratio.
        most, tails, _, _ = self.mo[l - 2]
        return greatest(most, tails)

    def is_recursive_diverse(self, c: Numeral, l: int) -> bool:
        """Whether r_1 < c (r_l + r_(l+1) + ...) in every group, as of `Groups`; l as of `recursive_c`."""
        return bool(self.recursive_c(l) < positive_fraction(c, "c"))

    def alpha(self, values: Iterable[Value] | None = None) -> Fraction:
        """The greatest share of people in a group with one of these values, by default any, as of `Groups`.

        Examples
        --------
        >>> statistics = Statistics([0]).update(Groups([[3, 1], [1, 1]], values=["no", "yes"]))
        >>> statistics.alpha(), statistics.alpha(["yes"])
        (Fraction(3, 4), Fraction(1, 2))
        """
        codes, counts, others = self.vn
        shares = counts
        if values is not None:
            assert self._domain is not None
            shares = np.where(chosen_values(self._domain, values)[codes], counts, 0)
        return greatest_ratio(shares, counts + others)

    def is_alpha_k(self, alpha: Numeral, k: int, values: Iterable[Value] | None = None) -> bool:
        """Whether every group has at least k people and no value (of `values`) a share above alpha."""
        limit = Fraction(exact_share(alpha, "alpha"))
        return self.k >= whole(k, "k", 0) and self.alpha(values) <= limit

    @property
    def _least_entropies(self) -> Entropies:
        _ = self._seen
        self._refuse_sets("entropy")
        if not self.entropy:
            raise ValueError("entropy was not looked at: make Statistics with entropy=True")
        return self._entropies

    def _refuse_sets(self, measure: str) -> None:
        if self._has_sets:
            raise ValueError(f"{measure} is not measured of people with sets of values, and these have some")

    def of(self, l: int) -> tuple[_skyline.Tables, Longs, Longs, Longs]:
        """The kernel and the tables VN, TW and MO for one l."""
        vn, tw, mo, _, _ = self._seen
        if l not in self.ls:
            raise ValueError(f"these statistics are for l of {self.ls}, got {l}")
        place = self.ls.index(l)
        if l not in self._kernels:
            assert self._domain is not None
            self._kernels[l] = _skyline.Tables(len(self._domain), vn, tw[place], mo[place])
        return self._kernels[l], vn, tw[place], mo[place]


def _least_of(mine: Entropies, theirs: Entropies) -> Entropies:
    """The histograms of either that may still decide, by their entropies: a minimum, in whatever order."""
    if not mine or not theirs:
        return mine or theirs
    both = {
        counts: min(part[counts] for part in (mine, theirs) if counts in part)
        for counts in {**mine, **theirs}
    }
    most = min(both.values()) + KEPT
    return {counts: entropy for counts, entropy in both.items() if entropy <= most}


def _pruned(entries: Longs) -> Longs:
    """Entries (value, c, x), without those for which another of the value has at least c and at most x."""
    values, counts, x = entries
    order = np.lexsort((x, -counts, values))
    entries = np.ascontiguousarray(entries[:, order])
    keep = np.empty(len(order), np.uint8)
    _skyline.front(entries[0], entries[2], keep)
    return np.ascontiguousarray(entries[:, keep.view(np.bool_)])


def _pruned_modes(entries: Longs) -> Longs:
    """Entries (a, w, c, n), without those for which another has at least a and c and at most w and n."""
    a, w, c, n = entries
    return front_modes(entries[:, np.lexsort((w, n, -a, -c))])


def _moved(tables: Scanned, domain: Domain, into: Domain) -> Scanned:
    if domain == into:
        return tables
    places = domain.positions_in(into)

    def moved(entries: Longs) -> Longs:
        return np.stack([places[entries[0]], entries[1], entries[2]])

    return tables._replace(vn=moved(tables.vn), tw=list(map(moved, tables.tw)))


def _frozen(tables: Scanned) -> Scanned:
    for array in (tables.vn, *tables.tw, *tables.mo):
        array.flags.writeable = False
    return tables
