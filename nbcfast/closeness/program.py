"""`best`: the linear program of EST, solved between rationals.

With z = ln r, D(c, d) = max ln X_c / X_d and g(c, d) = ln F_c / F_d the program is to minimise z under

    z >= x D(c, d) - (1 - y) g(c, d)     for all c, d
    y <= m x,  x >= 0,  0 <= y <= 1      m = min S(c, d) / g(d, c) over the c that beat a d of larger prior,
                                         S(c, d) = min {ln X_c / X_d > 0}; m = 0 where a tie allows no y.

The constraints are homogeneous in (x, 1 - y), so that the optimum lies on y = m x, where the largest of the
right sides is a convex function of y alone, piecewise linear: its corners are the active constraints. This is
proved in docs/mathematics/safety.md, section h.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import gmpy2

from nbcfast._core.choices import Preserve
from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Exact
from nbcfast.closeness.results import Best
from nbcfast.closeness.scores import ONE, LogBounds, ScoreRatios
from nbcfast.equivalence.results import ClassPair
from nbcfast.safety.prior import LabelT, prior_in_integers, prior_of
from nbcfast.safety.ratios import LabelPair
from nbcfast.transform.zeros import fill_zeros

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views import Viewset

BITS = 192  # of the logarithms between which the optimum is found
POWERS = 64  # X^p = F^q is looked for with p and q up to this


class Ray(NamedTuple):
    """A + b t, a lower bound of z for t >= 0."""

    a: Exact
    b: Exact
    pair: ClassPair

    def at(self, t: Exact) -> Exact:
        return self.a + self.b * t


def best(
    views: Viewset,
    prior: Mapping[LabelT, Numeral],
    *,
    preserve: Preserve = "order",
    guard: int = 1,
    progress: Progress | None = None,
) -> Best:
    """The smallest r of Statement 11 that any output X' = X^x F^y of EST comes to, with the order kept.

    For two classes it has a closed form: F_max / F_min where the class of smaller prior ever wins, and 1
    where it never does; both are limits that are not attained. With the first, plain SafetyTransform comes as
    near as EST. For more classes it is the optimum of a linear program in x, y and ln r.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class; zeros are replaced as by `fill_zeros`.
    prior : mapping of class to number
        F_c > 0, adding up to 1.
    preserve : {"order", "label"}
        See `fill_zeros`. With "label" too the order of all classes of positive score is kept.
    guard : int
        See `fill_zeros`.
    progress : callable, optional
        Called as progress(done, total), in pairs of classes.

    Returns
    -------
    Best
        With `.r`, `.log_r`, where it is, and whether it is attained.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
    >>> best(views, {"ill": "0.75", "well": "0.25"})
    Best(r = 3, infimum, not attained, at x, y -> 0)
    """
    scores = ScoreRatios(
        fill_zeros(views, preserve=preserve, guard=guard), prior_in_integers(prior_of(views, prior)), progress
    )
    return solved(scores)


def solved(scores: ScoreRatios) -> Best:
    """The optimum: by a closed form where there is one, as its r is then exact, else by the corners."""
    numbers = scores.numbers
    widest = Fraction(max(numbers), min(numbers))
    extreme = [pair for pair in scores.pairs if Fraction(numbers[pair[1]], numbers[pair[0]]) == widest]
    if widest == 1:
        # No class is to be below another: the flatter the better.
        flat = all(largest == ONE for largest in scores.largest.values())
        return _exactly(scores, Fraction(1), [], flat)
    if any(scores.largest[pair] > ONE for pair in extreme):
        # Its line rises from x = y = 0 along y = m x, as D >= S, and it is the highest there.
        return _exactly(scores, widest, extreme, False)
    slope = scores.slope(BITS)
    if slope is None:
        return _exactly(scores, Fraction(1), [], _powers(scores))
    if slope[1] == 0:
        level = [pair for pair in extreme if scores.largest[pair] == ONE]
        if level:
            return _exactly(scores, widest, level, True)
    low, _, _ = lowest(rays(scores, slope, BITS, above=False), end_of(slope))
    high, t, active = lowest(rays(scores, slope, BITS, above=True), end_of(slope))
    x, y = (t, 0) if slope[1] == 0 else (t / slope[1], t)
    with gmpy2.context(precision=BITS):
        log = (gmpy2.mpfr(low) + gmpy2.mpfr(high)) / 2
        return Best(
            float(gmpy2.exp(log)),
            float(log),
            (plain_fraction(low), plain_fraction(high)),
            float(x),
            float(y),
            slope[1] == 0,
            scores.exact,
            tuple(_labels(scores, pair) for pair in active),
        )


def _exactly(scores: ScoreRatios, r: Fraction, active: list[ClassPair], attained: bool) -> Best:
    """An optimum that is rational; x and y are 0 where it is a limit."""
    with gmpy2.context(precision=BITS):
        log = gmpy2.log(gmpy2.mpq(r))
        x = 0.0
        if attained:
            x = float(_flattest(scores))
        ends = (gmpy2.mpq(log), gmpy2.mpq(log))
    if r != 1:
        room = gmpy2.mpq(1, 1 << (BITS - 64)) * ends[0]
        ends = ends[0] - room, ends[1] + room
    y = 0.0
    if attained and r == 1 and len(set(scores.numbers)) > 1:
        x, y = _on_the_prior(scores)
    return Best(
        r,
        float(log),
        (plain_fraction(ends[0]), plain_fraction(ends[1])),
        x,
        y,
        attained,
        scores.exact,
        tuple(_labels(scores, pair) for pair in active),
    )


def _flattest(scores: ScoreRatios) -> Exact:
    """The largest x <= 1 with which y = 0 keeps to ln(F_max / F_min)."""
    numbers = scores.numbers
    with gmpy2.context(precision=BITS):
        top = gmpy2.log(gmpy2.mpq(max(numbers), min(numbers)))
        x = gmpy2.mpfr(1)
        for pair in scores.pairs:
            steep, g = scores.log_largest(pair, BITS)[1], scores.log_prior(pair, BITS)[0]
            if steep > 0:
                x = min(x, (top + g) / steep)
        return x


def _powers(scores: ScoreRatios) -> bool:
    """Whether X_c / X_d is the same everywhere and some power of F_c / F_d: shown by integers, or False."""
    return _power(scores) is not None


def _power(scores: ScoreRatios) -> Fraction | None:
    """Rho = p / q with (X_c / X_d)^p = (F_c / F_d)^q everywhere, for small p and q; 0 for any."""
    constant = all(scores.largest[c, d] * scores.largest[d, c] == ONE for c, d in scores.pairs if c < d)
    if not constant:
        return None
    first = next(pair for pair in scores.pairs if scores.numbers[pair[0]] > scores.numbers[pair[1]])
    if not scores.largest[first] > ONE:
        return None
    if scores.n_classes == 2:
        return Fraction(0)
    with gmpy2.context(precision=BITS):
        rho = gmpy2.mpq(scores.log_prior(first, BITS)[0] / scores.log_largest(first, BITS)[0])
    near = plain_fraction(rho).limit_denominator(POWERS)
    if not 0 < near.numerator <= POWERS * POWERS:
        return None
    for c, d in scores.pairs:
        ratio = scores.largest[c, d]
        value = gmpy2.mpq(scores.numbers[c], scores.numbers[d]) ** near.denominator
        number = gmpy2.mpq(ratio.mantissa)
        number = number * (1 << ratio.exponent) if ratio.exponent >= 0 else number / (1 << -ratio.exponent)
        if number**near.numerator != value:
            return None
    return near


def _on_the_prior(scores: ScoreRatios) -> tuple[float, float]:
    """X and y with X^x F^y = F."""
    first = next(pair for pair in scores.pairs if scores.numbers[pair[0]] > scores.numbers[pair[1]])
    rho = float(scores.log_prior(first, BITS)[0] / scores.log_largest(first, BITS)[0])
    return (rho, 0.0) if rho <= 1 else (1.0, 1 - 1 / rho)


def rays(scores: ScoreRatios, slope: LogBounds, bits: int, *, above: bool) -> list[Ray]:
    """The constraints along y = m x, each as a lower bound of z that is too high or too low by a little.

    They are functions of y, or of x where m = 0.
    """
    constraints = []
    end = 1 if above else 0
    for pair in scores.pairs:
        steep = scores.log_largest(pair, bits)[end]
        g = scores.log_prior(pair, bits)[1 - end]
        if slope[1] == 0:
            constraints.append(Ray(-g, steep, pair))
            continue
        m = slope[0] if (steep > 0) == above else slope[1]
        constraints.append(Ray(-g, steep / m + g, pair))
    return constraints


def end_of(slope: LogBounds) -> Exact | None:
    """The largest t: y = 1, or none for x."""
    return None if slope[1] == 0 else gmpy2.mpq(1)


def lowest(lines: list[Ray], end: Exact | None) -> tuple[Exact, Exact, list[ClassPair]]:
    """The least of the upper envelope over 0 <= t <= end: value, place, and the pairs of the lines there.

    A line that falls and one that rises meet at a lower bound; whatever lies above them there takes the place
    of one of the two, until nothing does.
    """

    def top(t: Exact) -> tuple[Exact, Ray, Ray]:
        """The height, and the lines of least and greatest slope that reach it."""
        height = max(line.at(t) for line in lines)
        there = [line for line in lines if line.at(t) == height]
        return height, min(there, key=lambda line: line.b), max(there, key=lambda line: line.b)

    height, _, falling = top(gmpy2.mpq(0))
    if falling.b >= 0:
        return height, gmpy2.mpq(0), _active(lines, gmpy2.mpq(0), height)
    if end is None:
        # For large x the steepest line is the highest, and some line rises: D(c, d) + D(d, c) >= 0.
        rising = max(lines, key=lambda line: (line.b, line.a))
        if rising.b <= 0:
            raise ValueError("lines must have one that rises where nothing ends them, got none that does")
    else:
        height, rising, _ = top(end)
        if rising.b <= 0:
            return height, end, _active(lines, end, height)
    while True:
        t = (falling.a - rising.a) / (rising.b - falling.b)
        height, left, right = top(t)
        if left.b <= 0 <= right.b:
            return height, t, _active(lines, t, height)
        if right.b < 0:
            falling = right
        else:
            rising = left


def _active(lines: list[Ray], t: Exact, height: Exact) -> list[ClassPair]:
    return [line.pair for line in lines if line.at(t) == height]


def _labels(scores: ScoreRatios, pair: ClassPair) -> LabelPair:
    classes = scores.filled.views.classes
    return classes[pair[0]], classes[pair[1]]


def plain_fraction(number: Exact) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))
