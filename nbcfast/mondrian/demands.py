"""What is demanded of every group of a partition, and whether one group, or many, meet it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast._core.dtypes import Longs, Words
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import (
    Numeral,
    as_limit,
    decimal_above,
    exact,
    exact_share,
    fields_text,
    number_text,
)
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice, whole
from nbcfast._wire.partition_form import partition_warnings
from nbcfast.groups.groups import Groups
from nbcfast.groups.scanning import MOST_PEOPLE
from nbcfast.skyline.checking import check
from nbcfast.skyline.points import AnyPoint, Point, as_points

if TYPE_CHECKING:
    from nbcfast.table.domain import Domain

Distance = Literal["equal", "ordered"]
Limit = tuple[int, Words, Words]  # l, or the distance; and the words of numerator and denominator
# l, k, m, the words of the least odds, whether the confidence is 1, whether groups share it, and its band.
PointLimit = tuple[int, int, int, Words, Words, bool, bool, float]

EXACT_M = 1000  # breaches of more pieces are shown as floats: their fractions have thousands of digits


@dataclass(frozen=True, repr=False)
class Demands:
    """What every group must keep.

    Attributes
    ----------
    points : tuple of Point
        The skyline: each must be safe.
    k : int or None
        People of a group, at least.
    diversity : (Fraction, int) or None
        Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + ...), r falling counts of a group.
    closeness : (Fraction, "equal" or "ordered") or None
        t-closeness: the greatest distance of a group's values from those of the whole table.
    """

    points: tuple[Point, ...] = ()
    k: int | None = None
    diversity: tuple[Fraction, int] | None = None
    closeness: tuple[Fraction, Distance] | None = None

    @classmethod
    def of(
        cls,
        points: Iterable[AnyPoint],
        k: int | None,
        diversity: tuple[Numeral, int] | None,
        closeness: Numeral | tuple[Numeral, Distance] | None,
    ) -> Demands:
        """Checked demands; at least one must be made."""
        listed = (
            list(points) if isinstance(points, Iterable) and not isinstance(points, (str, bytes)) else points
        )
        checked = () if listed == [] else as_points(listed)
        if k is not None:
            k = whole(k, "k", 0)
            if k < 1:
                raise ValueError(f"k must be at least 1, got {k}")
        for number, point in enumerate(checked):
            as_limit(point.confidence, f"points[{number}]: confidence")
        least: dict[tuple[int, ...], Point] = {}  # of the same knowledge the smallest confidence says it all
        for point in checked:
            before = least.setdefault(point[:3], point)
            least[point[:3]] = min(before, point)
        checked = tuple(least.values())
        demands = cls(checked, k, _diversity(diversity), _closeness(closeness))
        if not checked and k is None and demands.diversity is None and demands.closeness is None:
            raise ValueError("expected a demand: points, k, diversity or closeness; got none")
        return demands

    @property
    def needs_values(self) -> bool:
        """Whether some demand looks at sensitive values."""
        return bool(self.points) or self.diversity is not None or self.closeness is not None

    @property
    def shared(self) -> bool:
        """Whether a group's safety depends on other groups."""
        return any(point.m >= 1 and point.confidence < 1 for point in self.points)

    def to_dict(self) -> Document:
        """Plain values; fractions as text."""
        return {
            "points": [[*point[:3], _text(point.confidence)] for point in self.points],
            "k": self.k,
            "diversity": None if self.diversity is None else [_text(self.diversity[0]), self.diversity[1]],
            "closeness": None if self.closeness is None else [_text(self.closeness[0]), self.closeness[1]],
        }

    def __repr__(self) -> str:
        return fields_text(self)

    def __str__(self) -> str:
        parts = [repr(point) for point in self.points]
        if self.k is not None:
            parts.append(f"k = {number_text(self.k)}")
        if self.diversity is not None:
            parts.append(f"({_text(self.diversity[0])}, {number_text(self.diversity[1])})-diversity")
        if self.closeness is not None:
            parts.append(f"{_text(self.closeness[0])}-closeness, {self.closeness[1]} distances")
        return "; ".join(parts)

    def broken(self, groups: Groups) -> tuple[str, dict[str, object]] | None:
        """What of this the groups do not keep, in words and in exact values; None where they keep all."""
        if self.k is not None and groups.k < self.k:
            return f"a group has {groups.k} people, fewer than k = {self.k}", {"k": groups.k}
        if self.diversity is not None:
            c, l = self.diversity
            if not groups.is_recursive_diverse(c, l):
                least_c = groups.recursive_c(l)
                text = (
                    f"a group has fewer than {l} different values"
                    if not isinstance(least_c, Fraction)
                    else f"c must be above {_text(least_c)} for l = {l}"
                )
                return f"not ({_text(c)}, {l})-diverse: {text}", {"c": least_c}
        if self.closeness is not None:
            t, distance = self.closeness
            reached = groups.t(ordered=distance == "ordered")
            if reached > t:
                return f"t of a group is {_text(reached)}, more than {_text(t)}", {"t": reached}
        if self.points:
            most = max(point.m for point in self.points)
            reports = check(groups, self.points, exact=most <= EXACT_M)
            if not reports.safe:
                worst = next(report for report in reports if not report.safe)
                breach = worst.breach if worst.exact is None else worst.exact
                return (
                    f"unsafe at {worst.point!r}: breach {worst.breach:.6g}; {worst.attack}",
                    {"point": worst.point, "breach": breach, "attack": worst.attack},
                )
        return None

    def warnings(self, groups: Groups) -> tuple[str, ...]:
        """What who relies on these demands should know of the groups that keep them, in sentences."""
        certain = np.flatnonzero(groups.distinct == 1)
        people = int(groups.sizes[certain].sum())
        return tuple(
            partition_warnings(
                self.k,
                self.diversity,
                self.closeness,
                groups.sensitive,
                (len(certain), groups.n_groups, people),
            )
        )

    def refuse(self, groups: Groups) -> None:
        """Raise Infeasible if the whole table, as one group, breaks a demand: no partition keeps it then.

        Finer groups are never safer: docs/mathematics/skyline.md, section 8 (#skyline-8).
        """
        fault = self.broken(groups)
        if fault is not None:
            why, best = fault
            kept = self.kept_by(groups)
            raise Infeasible(
                f"the whole table as one group is unsafe, and no partition can be safer: {why}",
                best if kept is None else {**best, "demands": kept},
            )

    def kept_by(self, groups: Groups) -> Demands | None:
        """The nearest demands that one group keeps, in three digits; None where one cannot be kept at all.

        What makes a value certain is demanded against less knowledge, and none of them is left out: with the
        others alone a table would give away what that one was to hide.
        """
        demands, falling = self, sorted(groups.histogram(0).values(), reverse=True)
        while (fault := demands.broken(groups)) is not None:
            reached = fault[1]
            if "k" in reached:
                demands = replace(demands, k=groups.k)
            elif "c" in reached and demands.diversity is not None:
                c, l = reached["c"], demands.diversity[1]
                if not isinstance(c, Fraction) and len(falling) < 2:
                    return None
                # Of fewer values than l there is no c: it is asked again with as many as there are.
                weaker = (
                    (decimal_above(c), l) if isinstance(c, Fraction) else (demands.diversity[0], len(falling))
                )
                demands = replace(demands, diversity=weaker)
            elif "t" in reached:
                return None
            else:
                weaker_point = _weaker(reached, falling)
                if weaker_point is None:
                    return None
                points = [weaker_point if point == reached["point"] else point for point in demands.points]
                demands = replace(demands, points=tuple(dict.fromkeys(points)))
        return demands

    def is_hopeless(self, totals: Longs) -> bool:
        """Whether some point makes a value of the whole table certain, these being the people of each.

        Statement 4.3 of docs/mathematics/skyline.md (#skyline-4), asked before anything is worked out: the
        products of such points are long.
        """
        falling = sorted(totals[totals > 0].tolist(), reverse=True)
        return any(
            point.k >= sum(falling[point.l + 1 :]) or (point.m > 0 and point.k + point.m >= sum(falling[1:]))
            for point in self.points
        )

    def arguments(self, n_values: int) -> tuple[int, Limit | None, Limit | None, list[PointLimit]]:
        """What the kernel takes: least people, diversity, closeness, points.

        More knowledge than there are values and people changes nothing, and is cut off where 64 bits hold it.
        Limits go as words of both their integers: where floats do not decide, the kernel compares products.
        """
        diversity = None
        if self.diversity is not None:
            c, l = self.diversity
            diversity = (min(l, n_values + 2), *_ratio_words(c))
        closeness = None
        if self.closeness is not None:
            t, distance = self.closeness
            closeness = (1 if distance == "equal" else 2, *_ratio_words(t))
        points = [
            (
                min(point.l, n_values),
                min(point.k, MOST_PEOPLE),
                min(point.m, MOST_PEOPLE),
                *_ratio_words((1 - point.confidence) / point.confidence),
                point.confidence == 1,
                point.m >= 1 and point.confidence < 1,
                max(1e-9, (4 * point.m + 16) * 2.0**-53),  # as `skyline.deciding.band_of`
            )
            for point in self.points
        ]
        return min(self.k or 0, MOST_PEOPLE), diversity, closeness, points


def _weaker(reached: Mapping[str, object], falling: list[int]) -> Point | None:
    """The broken point with a confidence that is just kept; with less knowledge where a value is certain.

    What makes none certain is statement 4.3 of docs/mathematics/skyline.md (#skyline-4). None where all have
    the same value; `falling` are the people of each.
    """
    point, breach = reached["point"], reached["breach"]
    assert isinstance(point, Point)
    assert isinstance(breach, Fraction | float)
    confidence = decimal_above(breach)
    if breach < 1 and confidence <= 1:
        return point._replace(confidence=confidence)
    others = sum(falling[1:])
    k = min(point.k, others - 1)
    m = min(point.m, others - 1 - k)
    l = min(point.l, len(falling))
    while l > 0 and k >= sum(falling[l + 1 :]):
        l -= 1
    less = point._replace(l=l, k=k, m=m)
    return less if others and less != point else None


def refuse(demands: Demands, totals: Longs, domain: Domain, sensitive: str) -> None:
    """Raise what is wrong with the whole table."""
    present = np.flatnonzero(totals)
    one_group = Groups.from_parts(
        (),
        (),
        sensitive,
        domain,
        (
            np.array([0, len(present)]),
            present.astype(np.uint32),
            totals[present],
            np.array([int(totals.sum())]),
        ),
        None,
        [],
    )
    demands.refuse(one_group)
    raise Infeasible("the whole table as one group is unsafe, and no partition can be safer", {})


def _diversity(demanded: tuple[Numeral, int] | None) -> tuple[Fraction, int] | None:
    if demanded is None:
        return None
    try:
        c, l = demanded
    except (TypeError, ValueError):
        raise TypeError(f"diversity must be (c, l), got {demanded!r}") from None
    limit, l = as_limit(exact(c, "diversity: c"), "diversity: c"), whole(l, "diversity: l", 0)
    if limit <= 0:
        raise ValueError(f"diversity: c must be positive, got {c!r}")
    if l < 1:
        raise ValueError(f"diversity: l must be at least 1, got {l}")
    return limit, l


def _closeness(
    demanded: Numeral | tuple[Numeral, Distance] | None,
) -> tuple[Fraction, Distance] | None:
    if demanded is None:
        return None
    t, distance = demanded if isinstance(demanded, tuple) and len(demanded) == 2 else (demanded, "equal")
    choice(distance, ("equal", "ordered"), "closeness: the distance")
    limit = as_limit(exact_share(t, "closeness"), "closeness")
    if limit < 0:
        raise ValueError(f"closeness must be at least 0, got {t!r}")
    return limit, "ordered" if distance == "ordered" else "equal"


def _ratio_words(number: Fraction) -> tuple[Words, Words]:
    return _words(number.numerator), _words(number.denominator)


def _words(number: int) -> Words:
    """64-bit words, lowest first; at least one."""
    size = 8 * max(-(-number.bit_length() // 64), 1)
    return np.frombuffer(number.to_bytes(size, "little"), "<u8").astype(np.uint64)


def _text(number: Fraction) -> str:
    return number_text(exact(number, "limit"))
