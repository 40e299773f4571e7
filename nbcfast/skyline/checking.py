"""`check`: whether groups are safe at the points of a skyline, and the attack that comes closest."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import _skyline
from nbcfast.groups.groups import Groups
from nbcfast.groups.scanning import histograms
from nbcfast.groups.sets import SetGroups, bits, check_l
from nbcfast.skyline.deciding import MOST, LeastOdds, is_breach_below, verdict, worst
from nbcfast.skyline.points import AnyPoint, Point, as_points
from nbcfast.skyline.results import Attack, Key, Report, Reports, Secret
from nbcfast.skyline.statistics import Statistics

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

BELOW_ONE = 1 - 2.0**-53  # the greatest float that does not say that a value is certain


def check(
    groups: Groups | SetGroups | Statistics,
    points: Iterable[AnyPoint],
    *,
    exact: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Reports:
    """Whether nobody's sensitive value can be inferred with the confidence of any point.

    The adversary knows everybody's group, and of a target at most l values that it does not have, the values
    of at most k other people, and of at most m others that, had any of them the value s, the target would
    have it too. Within a group all assignments of its values to its people are equally likely. The breach is
    the greatest probability of any value for any target that such knowledge can give; a point (l, k, m,
    confidence) is safe if the breach is below the confidence, and the groups are if all points are.

    Parameters
    ----------
    groups : Groups, SetGroups or Statistics
        Statistics give no group by name.
    points : iterable of (l, k, m, confidence)
        Confidences are in (0, 1]; a float means its shortest decimal text.
    exact : bool
        Whether to give each breach as a Fraction too.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores, one for little work. The result does not depend on it.
    progress : callable, optional
        Called as progress(done_groups, all_groups).

    Returns
    -------
    Reports
        A tuple of one Report a point, with ``safe``.

    Raises
    ------
    TypeError
        If l, k or m is not an int.
    ValueError
        If l, k or m is negative, a confidence is not in (0, 1], or there is no point.

    Notes
    -----
    After Chen, LeFevre and Ramakrishnan, "Privacy Skyline", VLDB 2007, with the third placement as "the
    target alone, all others together" and minima taken for the same value. The target and the others are
    different people; knowledge that contradicts the groups is left out; fewer pieces may be known. Sections 1
    to 4 of docs/mathematics/skyline.md have the model, the proofs, and what differs from the paper.

    Examples
    --------
    >>> groups = Groups([[7, 7, 6], [4, 0, 0]] , values=["flu", "cold", "gout"])
    >>> [report.safe for report in check(groups, [(0, 0, 0, 1), (1, 0, 0, 0.6)])]
    [False, False]
    >>> report, = check(Groups([[7, 7, 6]], values=["flu", "cold", "gout"]), [(1, 1, 0, 0.6)], exact=True)
    >>> report.safe, report.exact
    (True, Fraction(7, 12))
    >>> print(report.attack)
    target in group 0 (20 people, 7 with flu); known: that the target has not cold; the value of 1
    person of the same group: 1 x gout; then the target has flu with probability 0.583333
    """
    wanted = as_points(points)
    if isinstance(groups, Statistics):
        statistics, source = groups, None
    elif isinstance(groups, (Groups, SetGroups)):
        source = groups
        if isinstance(groups, SetGroups):
            check_l(point.l for point in wanted)
        statistics = Statistics((_capped(point.l, groups) for point in wanted), entropy=False)
        statistics.update(groups, threads=threads, progress=progress)
    else:
        raise TypeError(f"groups: expected Groups or Statistics, got {type(groups).__name__}")
    decided = []
    for point in wanted:
        l = point.l if source is None else _capped(point.l, source)
        attack = worst(statistics, l, point.k, point.m, exact=exact)
        if attack.exact is not None:
            safe = is_breach_below(attack.exact, point.confidence) if not attack.certain else False
        else:
            safe = verdict(statistics, l, point.k, point.m, point.confidence, attack.odds, attack.certain)
        decided.append((point, l, attack, safe))
    attacks = _Attacks(statistics, source, [(point, l, attack) for point, l, attack, _ in decided])
    return Reports(
        Report(
            point,
            safe,
            breach_of(attack),
            Fraction(int(attack.exact.denominator), int(attack.exact.denominator + attack.exact.numerator))
            if exact
            else None,
            attack.case,
            attacks.of(point, l, attack),
        )
        for point, l, attack, safe in decided
    )


def _capped(l: int, groups: Groups | SetGroups) -> int:
    """More values than there are exclude no more."""
    return min(l, len(groups.domain))


def breach_of(attack: LeastOdds) -> float:
    """The probability; 1.0 only where it is certain."""
    if attack.certain:
        return 1.0
    if attack.exact is not None:
        return min(float(1 / (1 + attack.exact)), BELOW_ONE)
    return min(1 / (1 + attack.odds), BELOW_ONE)


class _Attacks:
    """The attacks of all points: their groups are looked up in one pass."""

    def __init__(
        self,
        statistics: Statistics,
        groups: Groups | SetGroups | None,
        points: list[tuple[Point, int, LeastOdds]],
    ) -> None:
        self.statistics, self.groups = statistics, groups
        self._places: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]] = {}
        self._keys: dict[int, Key] = {}
        self._ranked: dict[tuple[int, int], list[tuple[int, int]]] = {}
        signatures = sorted({signature for _, l, worst in points for signature in self._signatures(l, worst)})
        if isinstance(groups, Groups):
            rows = np.array([[*signature, -1] for signature in signatures], np.int64).reshape(-1, 7)
            _skyline.locate(histograms(groups), rows)
            for signature, row in zip(signatures, rows.tolist(), strict=True):
                self._places[signature] = (row[6], row[1], ())
        elif groups is not None:
            for signature in signatures:
                self._places[signature] = groups.locate(*signature)

    def _signatures(self, l: int, worst: LeastOdds) -> list[tuple[int, ...]]:
        """What to look for: kind, value, c, N, W, l."""
        _, vn, tw, mo = self.statistics.of(l)
        if worst.case == 1:
            a, w, _, n = mo[:, worst.t].tolist()
            return [(2, -1, a, n, w, l)]
        value, c, w = tw[:, worst.t].tolist()
        other, d, n = vn[:, worst.v].tolist()
        return [(1, value, c, 0, w, l), (0, other, d, n, 0, l)]

    def of(self, point: Point, l: int, worst: LeastOdds) -> Attack:
        """The worst attack on a point, with groups and values by name where there are groups."""
        k, m = min(point.k, MOST), min(point.m, MOST)
        _, _, tw, mo = self.statistics.of(l)
        signatures = self._signatures(l, worst)
        if worst.case == 1:
            _, w, c, n = mo[:, worst.t].tolist()
            # What already proves the value needs no more; and there may not be more people.
            if k >= w:
                k, m = w, 0
            elif m and k + m >= n:
                m = n - k
        if self.groups is None:
            value = None if worst.case == 1 else self.statistics.domain[int(tw[0, worst.t])]
            people = (c + n, c) if worst.case == 1 else None
            return Attack(
                worst.case, value, people, (l, k, m), breach_of(worst), None, None, None, None, None
            )
        home, code, excluded = self._places[signatures[0]]
        away = self._places[signatures[1]][0] if worst.case != 1 else home
        if isinstance(self.groups, SetGroups):
            known = self._known_sets(home if worst.case != 3 else away, code, excluded * (worst.case != 3), k)
            group = self.groups.histogram(home)
            people = (sum(count for _, count in group), sum(count for s, count in group if s >> code & 1))
        else:
            ranked = self._histogram(home, code)
            excluded = tuple(sorted(value for value, _ in ranked[:l]))
            # In case 3 the known people are elsewhere, and may have values that the target has not.
            known = (
                self._known(home, code, excluded, k) if worst.case != 3 else self._known(away, code, (), k)
            )
            size = int(self.groups.sizes[home])
            people = (size, size - sum(count for _, count in ranked))
        domain = self.groups.domain
        return Attack(
            worst.case,
            domain[code],
            people,
            (len(excluded), k, m),
            breach_of(worst),
            self._key(home),
            tuple(domain[value] for value in excluded),
            known,
            self._key(away if worst.case == 3 else home) if k else None,
            self._key(away) if m else None,
        )

    def _key(self, group: int) -> Key:
        assert self.groups is not None
        if group not in self._keys:
            groups = self.groups
            self._keys[group] = groups.key(group) if isinstance(groups, Groups) else groups.keys[group]
        return self._keys[group]

    def _histogram(self, group: int, value: int) -> list[tuple[int, int]]:
        """The other values of a group and their counts, the most frequent first."""
        groups = self.groups
        assert isinstance(groups, Groups)
        if (group, value) not in self._ranked:
            part = slice(int(groups.offsets[group]), int(groups.offsets[group + 1]))
            pairs = zip(groups.values[part].tolist(), groups.counts[part].tolist(), strict=True)
            others = [pair for pair in pairs if pair[0] != value]
            self._ranked[group, value] = sorted(others, key=lambda pair: (-pair[1], pair[0]))
        return self._ranked[group, value]

    def _known(
        self, group: int, value: int, excluded: tuple[int, ...], k: int
    ) -> tuple[tuple[Secret, int], ...]:
        """The values of k people, none of them `value` or excluded: the first in their order."""
        domain = self.groups.domain if self.groups is not None else ()
        taken, left = [], k
        for code, count in sorted(self._histogram(group, value)) if k else []:
            if left and code not in excluded:
                taken.append((domain[code], min(count, left)))
                left -= taken[-1][1]
        return tuple(taken)

    def _known_sets(
        self, group: int, value: int, excluded: tuple[int, ...], k: int
    ) -> tuple[tuple[Secret, int], ...]:
        """The sets of k people without `value` and the excluded ones."""
        groups = self.groups
        assert isinstance(groups, SetGroups)
        avoided = 1 << value | sum(1 << other for other in excluded)
        taken, left = [], k
        for mask, count in groups.histogram(group):
            if left and not mask & avoided:
                taken.append((tuple(groups.domain[place] for place in bits(mask)), min(count, left)))
                left -= taken[-1][1]
        return tuple(taken)
