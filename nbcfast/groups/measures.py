"""The plain measures of groups: k-anonymity, l-diversity, t-closeness, (alpha, k)-anonymity.

docs/mathematics/skyline.md, section 6 (#skyline-6), defines them, and says why the floats here are safe.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast import _groups
from nbcfast._core.dtypes import Floats, Longs, UInt32s
from nbcfast._core.numbers import Numeral, exact, exact_share
from nbcfast._core.validation import whole
from nbcfast.groups.scanning import scanned
from nbcfast.table import Domain
from nbcfast.table.values import INT64_MAX, Value

NEAR = 1e-9  # floats this near to each other are compared as integers
# Different quotients of integers below this differ by more than a unit in the last place.
EXACT_QUOTIENTS = 1 << 26


class Measures:
    """What k-anonymity, l-diversity, t-closeness and (alpha, k)-anonymity look at; each is one pass.

    All are exact but for the float of `entropy_l`, whose comparison with a limit is exact too.
    """

    __slots__ = ()

    offsets: Longs
    values: UInt32s
    counts: Longs
    sizes: Longs
    n_rows: int
    sensitive: str
    sensitive_domain: Domain

    @property
    def n_groups(self) -> int:
        return len(self.sizes)

    @property
    def n_values(self) -> int:
        return len(self.sensitive_domain)

    @property
    def k(self) -> int:
        """k-anonymity: people of the smallest group."""
        return int(self.sizes.min())

    @property
    def l(self) -> int:  # noqa: E743
        """Distinct l-diversity: different values of the group that has fewest."""
        return int(np.diff(self.offsets).min())

    @property
    def entropy_l(self) -> float:
        """Entropy l-diversity: exp of the least entropy of a group's values.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> Groups([[1, 1, 1, 1], [2, 2, 0, 0]]).entropy_l
        2.0
        """
        return float(np.exp(self._entropies().min()))

    def is_entropy_diverse(self, l: Numeral) -> bool:
        """Whether every group has an entropy of at least log(l), decided exactly.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> Groups([[2, 2]]).is_entropy_diverse(2), Groups([[2, 1]]).is_entropy_diverse(2)
        (True, False)
        """
        limit = Fraction(exact(l, "l"))
        if limit <= 0:
            raise ValueError(f"l must be positive, got {l!r}")
        entropies, log = self._entropies(), math.log(limit)
        if bool((entropies < log - NEAR).any()):
            return False
        near = np.flatnonzero(entropies < log + NEAR).tolist()
        histograms = {tuple(sorted(self._counts(group))) for group in near}
        return all(_is_entropy_at_least(counts, limit) for counts in histograms)

    def recursive_c(self, l: int) -> Fraction | float:
        """Recursive (c, l)-diversity: the supremum of r_1 / (r_l + r_(l+1) + ...) over groups.

        The groups are (c, l)-diverse for every c above it, and for no other. math.inf where a group has
        fewer than l different values.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> Groups([[3, 2, 1]]).recursive_c(2)
        Fraction(1, 1)
        """
        l = whole(l, "l", 0)
        if l < 1:
            raise ValueError(f"l must be at least 1, got {l}")
        if l == 1:
            return self.alpha()
        # MO has r_1 and n - r_1 - .. - r_(l-1) of every group that can have the greatest ratio.
        most, tails, _, _ = scanned(self, (l - 2,), None, None).mo[0]
        return math.inf if not tails.all() else _greatest(most, tails)

    def is_recursive_diverse(self, c: Numeral, l: int) -> bool:
        """Whether r_1 < c (r_l + r_(l+1) + ...) in every group: recursive (c, l)-diversity."""
        limit = Fraction(exact(c, "c"))
        if limit <= 0:
            raise ValueError(f"c must be positive, got {c!r}")
        return bool(self.recursive_c(l) < limit)

    def t(self, *, ordered: bool = False) -> Fraction:
        """t-closeness: the greatest distance of a group's values from those of all people.

        Parameters
        ----------
        ordered : bool
            The earth mover's distance with values one step apart in the order of the domain, from the first
            to the last being 1; values that nobody has do not count. Without it all values are equally far
            from each other (half the sum of differences).

        Raises
        ------
        ValueError
            With `ordered`, if numbers or intervals were declared in another order than their own.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> groups = Groups([[2, 0, 0], [0, 1, 1]])
        >>> groups.t(), groups.t(ordered=True)
        (Fraction(1, 2), Fraction(3, 8))
        """
        if ordered:
            check_natural(self.sensitive_domain, self.sensitive)
        totals, values = self.totals(), self.values
        present = totals > 0
        if not present.all():  # they would widen the scale
            values = (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[values]
            totals = totals[present]
        steps = len(totals) - 1 if ordered else 1
        if steps == 0:
            return Fraction(0)
        if self.n_rows * int(self.sizes.max()) * max(steps, 2) > INT64_MAX:
            ends = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
            return max(
                _distance(
                    dict(zip(values[a:b].tolist(), self.counts[a:b].tolist(), strict=True)),
                    totals.tolist(),
                    ordered,
                )
                for a, b in ends
            )
        distances = np.empty(len(self.sizes), np.int64)
        _groups.distances(self.offsets, values, self.counts, self.sizes, totals, ordered, distances)
        return _greatest(distances, self.sizes) / (self.n_rows * steps)

    def alpha(self, values: Iterable[Value] | None = None) -> Fraction:
        """(alpha, k)-anonymity: the greatest share that one of these sensitive values has in a group.

        Parameters
        ----------
        values : iterable, optional
            The values that must not be frequent; by default all.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> groups = Groups([[3, 1], [1, 1]], values=["no", "yes"])
        >>> groups.alpha(), groups.alpha(["yes"])
        (Fraction(3, 4), Fraction(1, 2))
        """
        counts = self.counts
        if values is not None:
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
                raise TypeError(f"values must be a sequence of sensitive values, got {values!r}")
            chosen = np.zeros(len(self.sensitive_domain), np.bool_)
            for value in values:
                if value not in self.sensitive_domain.index:
                    raise ValueError(f"values: {value!r} is not a sensitive value")
                chosen[self.sensitive_domain.index[value]] = True
            counts = np.where(chosen[self.values], counts, 0)
        return _greatest(np.maximum.reduceat(counts, self.offsets[:-1]), self.sizes)

    def is_alpha_k(self, alpha: Numeral, k: int, values: Iterable[Value] | None = None) -> bool:
        """Whether every group has at least k people and no value (of `values`) a share above alpha."""
        limit = Fraction(exact_share(alpha, "alpha"))
        return self.k >= whole(k, "k", 0) and self.alpha(values) <= limit

    def totals(self) -> Longs:
        """How many people have each value, by code."""
        totals = np.zeros(len(self.sensitive_domain), np.int64)
        np.add.at(totals, self.values, self.counts)
        return totals

    def _entropies(self) -> Floats:
        sizes = np.repeat(self.sizes, np.diff(self.offsets)).astype(np.float64)
        shares = self.counts / sizes
        return -np.add.reduceat(shares * np.log(shares), self.offsets[:-1])

    def _counts(self, group: int) -> list[int]:
        counts: list[int] = self.counts[self.offsets[group] : self.offsets[group + 1]].tolist()
        return counts


def check_natural(domain: Domain, name: str) -> None:
    """Refuse ordered distances of numbers and intervals that are declared in another order than theirs."""
    if not domain.is_natural:
        raise ValueError(
            f"ordered distances: expected the values of {name!r} declared in rising order, which is theirs, "
            "got " + ", ".join(map(repr, domain.first(8)[:8]))
        )


def _greatest(numerators: Longs, denominators: Longs) -> Fraction:
    """The greatest ratio; floats only leave out what cannot be it."""
    ratios = numerators / denominators
    if max(int(numerators.max()), int(denominators.max())) < EXACT_QUOTIENTS:
        first = int(ratios.argmax())
        return Fraction(int(numerators[first]), int(denominators[first]))
    near = np.flatnonzero(ratios >= ratios.max() * (1 - NEAR))
    pairs = np.unique(np.stack([numerators[near], denominators[near]]), axis=1)
    return max(Fraction(a, b) for a, b in zip(*pairs.tolist(), strict=True))


def _is_entropy_at_least(counts: Iterable[int], limit: Fraction) -> bool:
    """-sum c/n log(c/n) >= log(limit), as n^n >= limit^n prod c^c."""
    listed = list(counts)
    n = sum(listed)
    left = gmpy2.mpz(n) ** n * gmpy2.mpz(limit.denominator) ** n
    right = gmpy2.mpz(limit.numerator) ** n
    for count in listed:
        right *= gmpy2.mpz(count) ** count
    return bool(left >= right)


def _distance(counts: dict[int, int], totals: list[int], ordered: bool) -> Fraction:
    """The distance of one group from the whole, in integers of any length."""
    n, everybody = sum(counts.values()), sum(totals)
    distance = running = 0
    for value, total in enumerate(totals):
        difference = counts.get(value, 0) * everybody - total * n
        running += difference
        distance += abs(running) if ordered else max(difference, 0)
    return Fraction(distance, n * everybody * (len(totals) - 1 if ordered else 1))
