"""The plain measures of groups: k-anonymity, l-diversity, t-closeness, (alpha, k)-anonymity.

docs/mathematics/skyline.md, section 6 (#skyline-6), defines them, and says why the floats here are safe.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast import _groups
from nbcfast._core.dtypes import Bools, Floats, Longs, UInt32s
from nbcfast._core.numbers import Numeral, exact, exact_share
from nbcfast._core.validation import whole
from nbcfast.groups.scanning import scanned
from nbcfast.table import Domain
from nbcfast.table.values import INT64_MAX, Value, normalise

NEAR = 1e-9  # floats this near to each other are compared as integers
KEPT = 3 * NEAR  # above the least, what may still decide: twice NEAR, and what floats lose on the way
# Different quotients of integers below this differ by more than a unit in the last place.
EXACT_QUOTIENTS = 1 << 26

Entropies = dict[tuple[int, ...], float]  # of sorted counts in lowest terms


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
        return is_entropy_at_least(self.least_entropies(), l)

    def least_entropies(self) -> Entropies:
        """The histograms of least entropy: enough of them to decide every limit exactly.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> Groups([[2, 2], [3, 3], [4, 1]]).least_entropies()
        {(1, 4): 0.5004024235381879}
        """
        entropies = self._entropies()
        near = np.flatnonzero(entropies <= float(entropies.min()) + KEPT)
        distinct = np.diff(self.offsets)[near]
        found: Entropies = {}
        for n_values in np.unique(distinct).tolist():
            of_size = near[distinct == n_values]
            counts = np.sort(self.counts[self.offsets[of_size][:, np.newaxis] + np.arange(n_values)], axis=1)
            # Groups of the same shares have one histogram: what decides is the same.
            counts //= np.gcd.reduce(counts, axis=1)[:, np.newaxis]
            histograms, places = np.unique(counts, axis=0, return_inverse=True)
            least = np.full(len(histograms), math.inf)
            np.minimum.at(least, places.reshape(-1), entropies[of_size])
            found.update(zip(map(tuple, histograms.tolist()), least.tolist(), strict=True))
        return found

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
        l = whole(l, "l", 1)
        if l == 1:
            return self.alpha()
        # MO has r_1 and n - r_1 - .. - r_(l-1) of every group that can have the greatest ratio.
        most, tails, _, _ = scanned(self, (l - 2,), None, None).mo[0]
        return greatest(most, tails)

    def is_recursive_diverse(self, c: Numeral, l: int) -> bool:
        """Whether r_1 < c (r_l + r_(l+1) + ...) in every group: recursive (c, l)-diversity."""
        return bool(self.recursive_c(l) < positive_fraction(c, "c"))

    def t(self, *, ordered: bool = False, totals: Mapping[Value, int] | Measures | None = None) -> Fraction:
        """t-closeness: the greatest distance of a group's values from those of all people.

        Parameters
        ----------
        ordered : bool
            The earth mover's distance with values one step apart in the order of the domain, from the first
            to the last being 1; values that nobody has do not count. Without it all values are equally far
            from each other (half the sum of differences).
        totals : mapping of value -> int, or Groups, optional
            How many of all people have each value, where these groups are some of theirs: the greatest t of
            all parts is that of all groups together. By default these groups are all.

        Raises
        ------
        ValueError
            With `ordered`, if numbers or intervals were declared in another order than their own; if these
            groups have a value, or more people with it, than `totals`.

        Examples
        --------
        >>> from nbcfast.skyline import Groups
        >>> groups = Groups([[2, 0, 0], [0, 1, 1]])
        >>> groups.t(), groups.t(ordered=True)
        (Fraction(1, 2), Fraction(3, 8))
        >>> Groups([[2, 0, 0]]).t(totals={0: 2, 1: 1, 2: 1})
        Fraction(1, 2)
        """
        domain, values, counts = self.sensitive_domain, self.values, self.counts
        if totals is None:
            of_all = self.totals()
        else:
            domain, of_all, places = self._among(totals)
            values, counts = self._recoded(places)
        if ordered:
            check_natural(domain, self.sensitive)
        present = of_all > 0
        if not present.all():  # they would widen the scale
            values = (np.cumsum(present, dtype=np.uint32) - np.uint32(1))[values]
            of_all = of_all[present]
        steps = len(of_all) - 1 if ordered else 1
        if steps == 0:
            return Fraction(0)
        everybody = int(sum(of_all.tolist()))
        if everybody * int(self.sizes.max()) * max(steps, 2) > INT64_MAX:
            ends = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
            return max(
                _distance(
                    dict(zip(values[a:b].tolist(), counts[a:b].tolist(), strict=True)),
                    of_all.tolist(),
                    ordered,
                )
                for a, b in ends
            )
        distances = np.empty(len(self.sizes), np.int64)
        _groups.distances(self.offsets, values, counts, self.sizes, of_all, ordered, distances)
        return greatest_ratio(distances, self.sizes) / (everybody * steps)

    def _among(self, totals: object) -> tuple[Domain, Longs, Longs]:
        """The domain of all people, how many have each value, and where the values of these groups are."""
        if isinstance(totals, Measures):
            other, numbers = totals.sensitive_domain, totals.totals()
        elif isinstance(totals, Mapping):
            listed = [(value, whole(n, f"totals[{value!r}]", 0, INT64_MAX)) for value, n in totals.items()]
            listed = [(value, n) for value, n in listed if n > 0]
            given = Domain.of([value for value, _ in listed], False, where="totals", in_order=False)
            other = Domain.sorted(given.values, where="totals")
            numbers = np.zeros(len(other), np.int64)
            _, plain = normalise([value for value, _ in listed], "totals")
            numbers[[other.index[value] for value in plain]] = [n for _, n in listed]
        else:
            raise TypeError(
                f"totals must be a mapping of value -> number or Groups, got {type(totals).__name__}"
            )
        domain = Domain.joined(self.sensitive_domain, other, where="totals")
        of_all = np.zeros(len(domain), np.int64)
        of_all[other.positions_in(domain)] = numbers
        places = self.sensitive_domain.positions_in(domain)
        for value, mine, place in zip(
            self.sensitive_domain.values, self.totals().tolist(), places.tolist(), strict=True
        ):
            if mine > of_all[place]:
                raise ValueError(
                    f"totals must hold all people of these groups: {mine} have {value!r}, got {of_all[place]}"
                )
        return domain, of_all, places

    def _recoded(self, places: Longs) -> tuple[UInt32s, Longs]:
        """Values and counts with other codes of the values, rising in each group."""
        values = places[self.values].astype(np.uint32)
        if bool((np.diff(places) > 0).all()):
            return values, self.counts
        order = np.lexsort((values, np.repeat(np.arange(self.n_groups), np.diff(self.offsets))))
        return values[order], self.counts[order]

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
            counts = np.where(chosen_values(self.sensitive_domain, values)[self.values], counts, 0)
        return greatest_ratio(np.maximum.reduceat(counts, self.offsets[:-1]), self.sizes)

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


def chosen_values(domain: Domain, values: Iterable[Value]) -> Bools:
    """Which values of a domain these are."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"values must be a sequence of sensitive values, got {values!r}")
    chosen = np.zeros(len(domain), np.bool_)
    for value in values:
        if value not in domain.index:
            raise ValueError(f"values: {value!r} is not a sensitive value")
        chosen[domain.index[value]] = True
    return chosen


def positive_fraction(number: Numeral, where: str) -> Fraction:
    """A limit that must be above 0, exactly."""
    limit = Fraction(exact(number, where))
    if limit <= 0:
        raise ValueError(f"{where} must be positive, got {number!r}")
    return limit


def is_entropy_at_least(entropies: Entropies, l: Numeral) -> bool:
    """Whether the least of these entropies is at least log(l), decided exactly.

    Any whose float is not below log(l) + NEAR is at least log(l), and none is left out that is below it:
    the least float is at most NEAR below log(l), or has decided.
    """
    limit = positive_fraction(l, "l")
    log, least = math.log(limit), min(entropies.values())
    if least < log - NEAR:
        return False
    return all(_is_entropy_at_least(counts, limit) for counts, one in entropies.items() if one < log + NEAR)


def check_natural(domain: Domain, name: str) -> None:
    """Refuse ordered distances of numbers and intervals that are declared in another order than theirs."""
    if not domain.is_natural:
        raise ValueError(
            f"ordered distances: expected the values of {name!r} declared in rising order, which is theirs, "
            "got " + ", ".join(map(repr, domain.first(8)[:8]))
        )


def greatest(numerators: Longs, denominators: Longs) -> Fraction | float:
    """The greatest ratio, math.inf where one is of 0; floats only leave out what cannot be it."""
    return greatest_ratio(numerators, denominators) if denominators.all() else math.inf


def greatest_ratio(numerators: Longs, denominators: Longs) -> Fraction:
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
