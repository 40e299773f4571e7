"""`integers`: weights to points that people can add up, verified over the whole domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, exact
from nbcfast.canonical.boxes.types import AnyBox, has_many_classes
from nbcfast.canonical.weights import several
from nbcfast.canonical.weights.levels import Levels
from nbcfast.canonical.weights.listed import Listed
from nbcfast.canonical.weights.results import Scorecard, Solution
from nbcfast.canonical.weights.solve import oracle_of

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_BITS = 62  # of points, whose totals have 64
HALF = Fraction(1, 2)  # to round by; and the first scale


def integers(
    box: AnyBox,
    solution: Solution,
    bits: int | None = None,
    *,
    within: Numeral | None = None,
    progress: Progress | None = None,
) -> Scorecard:
    """Round weights to points whose totals give every label of the box, verified for each tuple.

    Points are floor(S (g - least g of the attribute) + 1/2) for the first scale S of 1/2, 5/8, 3/4, 1, 5/4,
    .. that changes no label. A sum of n roundings is off by n/2 at most and the weights leave a gap of 2, so
    a scale of (n + 1) / 2 always does.

    Parameters
    ----------
    box : Box, EnumeratedBox, PairsBox, SweptBox or ListedBox
        The answers.
    solution : Solution
        Weights for it, from `solve`.
    bits : int, optional
        No number of points may have more bits. Where that is too few for all labels, the scale is the largest
        that keeps to it and the threshold the one that changes fewest tuples, and `changed` is exactly how
        many these are.
    within : int, Fraction, str or float, optional
        Above 1. Go on to larger scales until range / gap is at most this times that of the weights: longer
        numbers, whose totals keep further from the threshold. Of no effect where `bits` are too few.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Scorecard

    Raises
    ------
    ValueError
        If the solution is not one of this box, bits are not 1 to 62, or within is not above 1.

    Examples
    --------
    >>> import nbcfast
    >>> from nbcfast.canonical import box, solve
    >>> asked = box(nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]], "sex": [[2, 3], [3, 2]]}))
    >>> card = integers(asked, solve(asked))
    >>> [array[:, 0].tolist() for array in card.points], card.threshold
    ([[0, 1], [0, 1]], 2)
    """
    expect(solution, Solution, "solution")
    if not isinstance(box, AnyBox):
        raise TypeError(f"box must be what nbcfast.canonical.box makes, got {type(box).__name__}")
    if (box.sizes, box.n_classes) != (solution.sizes, solution.n_classes):
        raise ValueError(
            f"solution: expected one for {box.n_classes} classes and sizes {box.sizes}, "
            f"got {solution.n_classes} and {solution.sizes}"
        )
    if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int)):
        raise TypeError(f"bits must be an int or None, got {type(bits).__name__}")
    if bits is not None and not 1 <= bits <= MOST_BITS:
        raise ValueError(f"bits must be 1..{MOST_BITS}, got {bits}")
    factor = None if within is None else exact(within, "within")
    if factor is not None and factor <= 1:
        raise ValueError(f"within must be above 1, got {within!r}")
    if has_many_classes(box):
        return several.integers(box, solution, bits, within=within, progress=progress)
    oracle = oracle_of(box)
    steps, base = lowered(oracle, solution)
    most = max(steps, default=Fraction(0))
    widest = None if factor is None else factor * solution.range / solution.margin
    last = Fraction(len(box.sizes) + 1, 2)  # that always does: docs/mathematics/canonical.md, section 4
    best: Scorecard | None = None
    for scale in scales():
        points = [int(scale * g + HALF) for g in steps]
        bits_here = int(scale * most + HALF).bit_length()
        if bits is not None and bits_here > bits:
            break
        totals = Totals.of(oracle, points)
        if totals.right:
            best = _card(oracle, points, totals, totals.threshold, scale, 0)
            if widest is None or best.gap is None or best.range <= widest * best.gap:
                return best
        elif scale >= last:
            raise ValueError("solution: expected weights that give the labels of the box with a margin of 1")
        if progress is not None:
            progress(int(scale * 8), int(max(scale, last) * 8))
    if best is not None:  # right, though not within
        return best
    assert bits is not None
    return _shortened(oracle, steps, base, Fraction((1 << bits) - 1))


def shortened(box: AnyBox, solution: Solution, most: Fraction) -> Scorecard:
    """The points nearest to weights that are not all equal with no number above `most`, right or not."""
    if has_many_classes(box):
        return several.shortened(box, several.demands_of(box), solution, most)
    oracle = oracle_of(box)
    return _shortened(oracle, *lowered(oracle, solution), most)


def _shortened(
    oracle: Levels | Listed, steps: list[Fraction], base: Fraction, longest: Fraction
) -> Scorecard:
    """The same, with the threshold that changes fewest tuples."""
    scale = longest / max(steps)
    points = [int(scale * g + HALF) for g in steps]
    at = int(-(scale * base // 1))  # where the unrounded score is 0
    reach = oracle.width // 2 + 1
    around = sorted(range(at - reach, at + reach + 1), key=lambda threshold: (abs(threshold - at), threshold))
    changed = {threshold: oracle.changed(points, threshold) for threshold in around}
    threshold = min(around, key=changed.__getitem__)
    return _card(oracle, points, Totals.of(oracle, points), threshold, scale, changed[threshold])


def differing(box: AnyBox, card: Scorecard) -> int:
    """How many tuples points decide otherwise than a box; they tell no values apart that it does not."""
    if has_many_classes(box):
        return several.differing(box, card)
    oracle = oracle_of(box)
    points = [0] * len(oracle.weights)
    for levels, rows in zip(oracle.levels(), card.points, strict=True):
        for level, (number,) in zip(levels, rows.tolist(), strict=True):
            points[level] = int(number)
    return oracle.changed(points, card.threshold)


class Totals(NamedTuple):
    """The least total of label 0 and the greatest of label 1, one beyond all totals where there is none."""

    least: int
    greatest: int
    low: int  # of all tuples
    high: int
    both: bool

    @classmethod
    def of(cls, oracle: Levels | Listed, points: Sequence[int]) -> Totals:
        """All of these, exactly."""
        low, high = oracle.ends(points)
        _, first, second = oracle.extremes(points, low - 1)
        least = high + 1 if first is None else first
        greatest = low - 1 if second is None else -second
        return cls(least, greatest, low, high, first is not None and second is not None)

    @property
    def right(self) -> bool:
        """Whether a threshold gives all labels."""
        return self.least > self.greatest

    @property
    def threshold(self) -> int:
        """The highest one."""
        return self.least


def lowered(oracle: Levels | Listed, solution: Solution) -> tuple[list[Fraction], Fraction]:
    """Weights less the least of their attribute, one for each level, and the sum of these."""
    numbers = [Fraction(0)] * len(oracle.weights)
    base = Fraction(0)
    level_of = oracle.levels()
    for i, (of_attribute, levels) in enumerate(zip(solution.scores, level_of, strict=True)):
        least = min(g for (g,) in of_attribute)
        base += least
        seen: dict[int, Fraction] = {}
        for t, level in enumerate(levels):
            g = of_attribute[t][0]
            if seen.setdefault(level, g) != g:
                raise ValueError(
                    f"solution: expected equal weights for values of attribute {i} that labels cannot "
                    f"tell apart, got {seen[level]} and {g} for value {t}"
                )
            numbers[level] = g - least
    return numbers, base


def scales() -> Iterator[Fraction]:
    """1/2, 5/8, 3/4, and the doubles of these, for ever."""
    scale = HALF
    while True:
        yield from (scale, scale * Fraction(5, 4), scale * Fraction(3, 2))
        scale *= 2


def _card(
    oracle: Levels | Listed, points: list[int], totals: Totals, threshold: int, scale: Fraction, changed: int
) -> Scorecard:
    """The points of all values."""
    centre = totals.least + totals.greatest if totals.right else 2 * threshold - 1
    most = max(points, default=0)
    arrays = []
    for row in oracle.per_value(points):
        array = np.array(row, np.int64 if most.bit_length() <= MOST_BITS else object).reshape(-1, 1)
        array.flags.writeable = False
        arrays.append(array)
    return Scorecard(
        points=tuple(arrays),
        constants=(1 - threshold,),
        gap=totals.least - totals.greatest if totals.right and totals.both else None,
        range=max(abs(2 * totals.low - centre), abs(2 * totals.high - centre)),
        centre=centre,
        scale=scale,
        bits=most.bit_length(),
        changed=changed,
    )
