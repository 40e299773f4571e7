"""The equation of the classes, whose roots are the scales at which published scores give private counts.

Within an attribute ln N_c(t) = scale f_c(t) + a(t) + b_c. The sums of rows and columns fix a, and b up to one
number for all classes (`Equation.offsets`); then ln P_c - sum_i ln P^i_c + sum_i b^i_c - scale base_c must be
the same for all classes, where P_c are the rows of class c and P^i_c the sum of its column in attribute i.
All scales are fitted at once: `nbcfast.reference.attack.totals` does it one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbcfast._core.dtypes import Floats, Longs

SCALES = 64  # that are tried before they are refined
NARROWEST, WIDEST = 0.02, 400  # range of the private log-scores, between which the scales are
ROOT_STEPS = 100  # to a root in the scale; bisection alone needs 60
SECTIONS, ROUNDS = 64, 5  # of an interval without a root: 32^5 tell scales apart as far as counts do
STEPS = 100  # to the offsets of two classes; bisection alone needs 60
SWEEPS = 500  # to those of more
FOLLOWED = 8  # scales at a time, of more classes: the next start where these lead
SETTLED = 1e-13  # a step that moves no logarithm by more is the last
ROUGHLY = 1e-6  # where scales are only compared
LONGEST = 4.0  # step of those
BLOCK = 1 << 20  # scores that are fitted at once, for the memory
LEAST = 1e-300  # in place of 0, where there is to be a logarithm or a quotient


@dataclass(frozen=True)
class Equation:
    """Scores, and the sums that are known of the counts behind them.

    Rows are the values with a positive sum, of all attributes one after the other; columns are classes.
    """

    scores: Floats  # (values, classes), of each attribute and value around 0
    row_sums: Floats  # (values,)
    starts: Longs  # of the attributes among the values
    attribute: Longs  # (values,)
    column_sums: Floats  # (attributes, classes)
    known: Floats  # (classes,): ln P_c - sum_i ln P^i_c
    base: Floats  # (classes,)
    span: float  # range of the scores of all attributes together

    @classmethod
    def of(
        cls,
        scores: Sequence[Floats],
        base: Floats,
        row_sums: Sequence[Floats],
        column_sums: Floats,
        rows: Floats,
    ) -> Equation:
        """Of scores (values, classes) and sums of each attribute, and the rows of each class."""
        # A number a value is free anyway, and centred scores stay within the range of exp.
        centred = [array - array.mean(axis=1, keepdims=True) for array in scores]
        chosen = [array[sums > 0] for array, sums in zip(centred, row_sums, strict=True)]
        filled = [i for i, array in enumerate(chosen) if len(array)]
        sizes = np.array([len(chosen[i]) for i in filled])
        spans = sum(float(array.max(initial=0)) for array in chosen)
        return cls(
            scores=np.concatenate(chosen),
            row_sums=np.concatenate([sums[sums > 0] for sums in row_sums]),
            starts=np.cumsum(sizes) - sizes,
            attribute=np.repeat(np.arange(len(filled)), sizes),
            column_sums=column_sums[filled],
            known=np.log(rows) - np.log(column_sums).sum(axis=0),
            base=base - base.mean(),
            span=max(spans, LEAST),
        )

    def counts(self, scale: float) -> Floats:
        """What the counts of all values with rows are at a scale, unrounded."""
        offsets = self.offsets(np.array([scale]))[0]
        parts = _shares(scale * self.scores + offsets[self.attribute])
        return parts * self.row_sums[:, np.newaxis]

    def offsets(self, scales: Floats, start: Floats | None = None, settled: float = SETTLED) -> Floats:
        """The offsets of all classes (scales, attributes, classes), of which the last is 0."""
        if start is None:
            logs = np.log(self.column_sums)
            start = np.broadcast_to(logs - logs[:, -1:], (len(scales), *logs.shape))
        fitted = _two_classes if self.scores.shape[1] == 2 else _several_classes
        size = max(BLOCK // self.scores.size, 1)
        blocks = range(0, len(scales), size)
        return np.concatenate(
            [fitted(self, scales[i : i + size], start[i : i + size], settled) for i in blocks]
        )

    def followed(self, scales: Floats) -> Floats:
        """Roughly the offsets at rising scales.

        Those of several classes start on the straight line through the last two before them: where scores are
        steep, offsets grow as the scales do, and from afar even `SWEEPS` steps may not reach them.
        """
        if self.scores.shape[1] == 2:
            return self.offsets(scales, settled=ROUGHLY)
        offsets = self.offsets(scales[:FOLLOWED], settled=ROUGHLY)
        while len(offsets) < len(scales):
            end = len(offsets)
            slope = (offsets[-1] - offsets[-2]) / (scales[end - 1] - scales[end - 2])
            ahead = scales[end : end + FOLLOWED] - scales[end - 1]
            start = offsets[-1] + slope * ahead[:, np.newaxis, np.newaxis]
            offsets = np.concatenate([offsets, self.offsets(scales[end : end + FOLLOWED], start, ROUGHLY)])
        return offsets

    def imbalance(self, scales: Floats, offsets: Floats) -> Floats:
        """What is left of the equation (scales, classes); 0 where it holds."""
        left = self.known + offsets.sum(axis=1) - scales[:, np.newaxis] * self.base
        balanced: Floats = left - left.mean(axis=1, keepdims=True)
        return balanced

    def sums(self, terms: Floats) -> Floats:
        """Of the values of each attribute; terms are (scales, values, ..)."""
        of_attributes: Floats = np.add.reduceat(terms, self.starts, axis=1)
        return of_attributes

    def solutions(self) -> list[float]:
        """The scales at which it holds, or the one that comes nearest to it."""
        scales = np.geomspace(NARROWEST, WIDEST, SCALES) / self.span
        offsets = self.followed(scales)
        imbalances = self.imbalance(scales, offsets)
        if imbalances.shape[1] == 2:  # of two classes it is one number, whose changes of sign are its zeros
            signs = np.sign(imbalances[:, 0])
            changes = np.flatnonzero(signs[1:] != signs[:-1])
            if len(changes):
                return _roots(self, scales[changes], scales[changes + 1], offsets[changes], signs[changes])
        best = int(np.abs(imbalances).sum(axis=1).argmin())
        around = slice(max(best - 1, 0), best + 2)
        return [_nearest(self, scales[around], offsets[around])]


def _shares(logs: Floats) -> Floats:
    """Of exp(logs), along the last axis."""
    parts: Floats = np.exp(logs - logs.max(axis=-1, keepdims=True))
    shares: Floats = parts / parts.sum(axis=-1, keepdims=True)
    return shares


def _two_classes(equation: Equation, scales: Floats, start: Floats, settled: float) -> Floats:
    """Offsets (scales, attributes, 2): one root each, of the log-ratio of the two columns.

    That is nearly straight, so that Newton's steps reach it from afar; between values that leave it flat
    bisection goes on.
    """
    offset = start[:, :, 0] - start[:, :, 1]
    logs = np.log(equation.column_sums)
    wanted = logs[:, 0] - logs[:, 1]
    difference = equation.scores[:, 0] - equation.scores[:, 1]
    scaled = scales[:, np.newaxis] * difference
    # Where the scores of all values are taken for their least and their greatest the root is known.
    low = wanted - np.maximum.reduceat(scaled, equation.starts, axis=1)
    high = wanted - np.minimum.reduceat(scaled, equation.starts, axis=1)
    low, high = low - SETTLED * (1 + np.abs(low)), high + SETTLED * (1 + np.abs(high))
    offset = np.clip(offset, low, high)
    moving = np.arange(len(scales))
    for _ in range(STEPS):
        at = offset[moving]
        first, second, both = _columns(equation, scaled[moving], at)
        with np.errstate(all="ignore"):
            error = np.log(np.maximum(first, LEAST)) - np.log(np.maximum(second, LEAST)) - wanted
            stepped = at - error / (both / first + both / second)
        low[moving] = np.where(error < 0, at, low[moving])
        high[moving] = np.where(error > 0, at, high[moving])
        ends = low[moving], high[moving]
        inside = (stepped > ends[0]) & (stepped < ends[1])  # not so of what is no number
        stepped = np.where(error == 0, at, np.where(inside, stepped, (ends[0] + ends[1]) / 2))
        offset[moving] = stepped
        still = np.abs(stepped - at) > settled * (1 + np.abs(at))
        moving = moving[still.any(axis=1)]
        if not len(moving):
            break
    return np.stack([offset, np.zeros_like(offset)], axis=2)


def _columns(equation: Equation, scaled: Floats, offset: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of both columns, and of the slopes between them."""
    logits = scaled + offset[:, equation.attribute]
    small = np.exp(-np.abs(logits))
    weighted = equation.row_sums / (1 + small)
    lesser = weighted * small  # of the class whose part is the smaller one
    up = logits > 0
    first, second = np.where(up, weighted, lesser), np.where(up, lesser, weighted)
    return equation.sums(first), equation.sums(second), equation.sums(lesser / (1 + small))


def _several_classes(equation: Equation, scales: Floats, start: Floats, settled: float) -> Floats:
    """Offsets (scales, attributes, classes): the least of a convex function, by Newton's steps.

    They are kept short, as the function is flat where scores are steep, and where one does not go down
    a proportional fit does.
    """
    logs = np.log(equation.column_sums)
    offsets = start.copy()
    moving = np.arange(len(scales))
    parts, errors, heights = _fit(equation, scales, offsets, logs)
    for _ in range(SWEEPS):
        at = offsets[moving]
        stepped = at + _newton(equation, parts, logs)
        there = _fit(equation, scales[moving], stepped, logs)
        better = (there[2] < heights) | (np.abs(there[1]).max(axis=2) < np.abs(errors).max(axis=2) / 2)
        if not better.all():
            stepped = np.where(better[:, :, np.newaxis], stepped, at - errors)
            there = _fit(equation, scales[moving], stepped, logs)
        offsets[moving] = stepped
        step = stepped - at
        step -= step.mean(axis=2, keepdims=True)
        still = (np.abs(step) > settled * (1 + np.abs(at))).any(axis=(1, 2))
        moving = moving[still]
        if not len(moving):
            break
        parts, errors, heights = (array[still] for array in there)
    return offsets - offsets[:, :, -1:]


def _fit(equation: Equation, scales: Floats, offsets: Floats, logs: Floats) -> tuple[Floats, Floats, Floats]:
    """The counts (scales, values, classes), by how much the logarithms of their columns are too large,

    and the function (scales, attributes) whose slopes in the offsets are what their columns have too much.
    """
    scaled = scales[:, np.newaxis, np.newaxis] * equation.scores + offsets[:, equation.attribute]
    most = scaled.max(axis=2, keepdims=True)
    parts = np.exp(scaled - most)
    totals = parts.sum(axis=2, keepdims=True)
    rows = equation.row_sums[:, np.newaxis]
    heights = equation.sums((rows * (np.log(totals) + most))[..., 0])
    heights = heights - (equation.column_sums * offsets).sum(axis=2)
    parts *= rows / totals
    return parts, np.log(np.maximum(equation.sums(parts), LEAST)) - logs, heights


def _newton(equation: Equation, parts: Floats, logs: Floats) -> Floats:
    """Newton's step in the offsets, for the columns to have their sums; 0 where it is not to be had."""
    columns = equation.sums(parts)
    shares = parts / equation.row_sums[:, np.newaxis]
    products = equation.sums(parts[:, :, :, np.newaxis] * shares[:, :, np.newaxis, :])
    classes = parts.shape[2]
    slopes = np.eye(classes) * columns[..., np.newaxis] - products
    # One number for all classes changes nothing: its direction is made a regular one.
    slopes += (columns.sum(axis=2) / classes**2)[..., np.newaxis, np.newaxis]
    left = np.exp(logs) - columns
    try:
        step = np.asarray(np.linalg.solve(slopes, left[..., np.newaxis])[..., 0], np.float64)
    except np.linalg.LinAlgError:
        return np.zeros_like(columns)
    step = np.where(np.isfinite(step), step, 0.0)
    longest = np.maximum(np.abs(step).max(axis=2, keepdims=True) / LONGEST, 1)
    return np.asarray(step / longest, np.float64)


def _roots(
    equation: Equation, low: Floats, high: Floats, offsets: Floats, signs_at_low: Floats
) -> list[float]:
    """The scales between two at which the equation of two classes changes its sign.

    Newton's steps, and bisection where they leave the interval.
    """
    low, high = low.copy(), high.copy()
    scales = np.sqrt(low * high)
    difference = equation.scores[:, 0] - equation.scores[:, 1]
    slope_of_base = equation.base[0] - equation.base[1]
    for _ in range(ROOT_STEPS):
        offsets = equation.offsets(scales, offsets)
        imbalance = 2 * equation.imbalance(scales, offsets)[:, 0]  # of the first class against the second
        before = np.sign(imbalance) == signs_at_low
        low, high = np.where(before, scales, low), np.where(before, high, scales)
        offset = offsets[:, :, 0]
        slopes = _slopes(equation, scales[:, np.newaxis] * difference, offset, difference)
        with np.errstate(all="ignore"):
            stepped = scales - imbalance / (slopes.sum(axis=1) - slope_of_base)
        inside = (stepped > low) & (stepped < high)
        stepped = np.where(inside, stepped, (low + high) / 2)
        settled = np.abs(stepped - scales) <= SETTLED * scales
        scales = np.where(imbalance == 0, scales, stepped)
        if (settled | (imbalance == 0)).all():
            break
    return [float(scale) for scale in scales]


def _slopes(equation: Equation, scaled: Floats, offset: Floats, difference: Floats) -> Floats:
    """How the offsets of two classes change with the scale."""
    logits = scaled + offset[:, equation.attribute]
    small = np.exp(-np.abs(logits))
    weights = equation.row_sums * small / (1 + small) ** 2
    with np.errstate(all="ignore"):
        slopes: Floats = -equation.sums(weights * difference) / equation.sums(weights)
    return slopes


def _nearest(equation: Equation, scales: Floats, offsets: Floats) -> float:
    """The scale between the outer ones at which least is left of the equation, by sections."""
    for _ in range(ROUNDS):
        finer = np.linspace(scales[0], scales[-1], SECTIONS + 1)
        at = np.abs(scales[:, np.newaxis] - finer).argmin(axis=0)
        offsets = equation.offsets(finer, offsets[at])
        left = np.abs(equation.imbalance(finer, offsets)).sum(axis=1)
        best = int(left.argmin())
        around = slice(max(best - 1, 0), best + 2)
        scales, offsets = finer[around], offsets[around]
    return float(scales[int(np.abs(equation.imbalance(scales, offsets)).sum(axis=1).argmin())])
