"""Breaches: what was unlikely becomes likely, or what was likely unlikely.

Which Lambda rules them out: docs/mathematics/safety.md, section k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Floats, Int32s
from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.untyped import Document
from nbcfast._core.validation import positive
from nbcfast.attack.branching import Search, Tuples, batches
from nbcfast.attack.posteriors import Convention, probability_text, shares_at
from nbcfast.attack.queries import convention_of, known_text, viewset
from nbcfast.safety.amplification import amplification_of
from nbcfast.safety.prior import prior_of
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset

NEAR = 1e-9  # floats this near to a threshold decide nothing
LOST = 2.0**-48
MOST_ROWS = 5_000  # of a class whose posterior is computed exactly where floats do not decide


@dataclass(frozen=True, repr=False)
class Breach:
    """What `breach` found. As a truth value: whether there is a breach.

    Attributes
    ----------
    breached : bool or None
        None where the search had to give up before it could tell.
    direction : {"upward", "downward"} or None
    classes : tuple
        The labels of the property Q: the class is one of these.
    prior, posterior : Fraction, float or None
        The probability of Q before and after.
    known : dict of name -> value
        What the adversary knows.
    l1, l2 : Fraction
    convention : {"row", "worlds"}
    text : str
        The finding in words.
    """

    breached: bool | None
    direction: str | None
    classes: tuple[Value, ...]
    prior: Fraction | None
    posterior: Fraction | float | None
    known: dict[str, Value]
    l1: Fraction
    l2: Fraction
    convention: str
    text: str

    def __bool__(self) -> bool:
        if self.breached is None:
            raise ValueError(f"not decided: {self.text}")
        return self.breached

    def to_dict(self) -> Document:
        """Plain values; fractions as "num/den"."""
        result = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("prior", "posterior", "l1", "l2"):
            if isinstance(result[name], Fraction):
                result[name] = str(result[name])
        return {**result, "classes": list(self.classes), "known": dict(self.known)}

    def __repr__(self) -> str:
        return f"Breach({self.text})"


def breach(
    views: Viewset | Release,
    l1: Numeral,
    l2: Numeral,
    convention: Convention = "row",
    *,
    prior: Mapping[Value, Numeral] | None = None,
    evaluations: int = 10_000,
    progress: Progress | None = None,
) -> Breach:
    """Whether known values can move a property of the class across two levels of probability.

    A property is a set Q of classes. An upward breach: its probability was at most l1 and is above l2 for
    somebody who knows some values. A downward one: it was at least l2 and is below l1.

    Parameters
    ----------
    views : Viewset or Release
        Realistic, with rows.
    l1, l2 : int, Fraction, str or float
        0 < l1 < l2 < 1; a float means its shortest decimal text.
    convention : {"row", "worlds"}
        See `posterior`.
    prior : mapping of class -> number, optional
        What the adversary believes before he sees the views: of every class, positive, 1 in all. By default
        all classes are equally likely, as the paper has it.
    evaluations : int
        How many posteriors to compute at most.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Breach
        With equally likely classes Q is the beginning of their order by posterior; else the best set within
        the prior, found along the order of posterior / prior. Of several breaches an upward one comes
        first, and then that with the largest posterior.

    Raises
    ------
    ValueError
        If the levels or the prior are not as described, or the views have no rows or are not realistic.

    Notes
    -----
    Lambda <= `safety.limit(l1, l2)` rules breaches out in the row convention, for every number of classes
    if they are equally likely; half of it does in the worlds convention.

    Examples
    --------
    The view that the paper's condition (10) lets pass at 4:

    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]], classes=["ill", "well"])
    >>> found = breach(views, "0.501", "0.799")
    >>> found.breached, found.posterior
    (True, Fraction(38, 43))
    >>> print(found.text)
    upward breach: the class is 'ill' with probability 1/2 before and 38/43 = 0.883721 after, for somebody \
with A1=0, A2=0 (row convention, levels 0.501 and 0.799)
    """
    counted = viewset(views)
    convention_of(convention)
    low, high = Fraction(exact_share(l1, "l1")), Fraction(exact_share(l2, "l2"))
    if not 0 < low < high < 1:
        raise ValueError(f"l1 and l2 must be 0 < l1 < l2 < 1, got {l1} and {l2}")
    evaluations = positive(evaluations, "evaluations")
    if prior is None:
        shares = [Fraction(1, len(counted.classes))] * len(counted.classes)
    else:
        shares = list(prior_of(counted, prior))
    undecided = False
    for direction, (most, threshold) in (("upward", (low, high)), ("downward", (1 - high, 1 - low))):
        rise = _Rise(counted, convention, shares, most, threshold, evaluations, progress)
        if rise.codes is None:
            undecided |= rise.undecided
            continue
        inside = set(rise.chosen)
        if direction == "downward":  # the complement rises
            inside = set(range(len(shares))) - inside
        before = sum((shares[c] for c in inside), Fraction(0))
        after = rise.value if direction == "upward" else 1 - rise.value
        labels = tuple(counted.classes[c] for c in sorted(inside))
        known = rise.known
        exactly = f"{probability_text(after)}"
        if "/" in exactly:
            exactly += f" = {float(after):.6g}"
        what = f"the class is {' or '.join(map(repr, labels))}"
        text = (
            f"{direction} breach: {what} with probability {probability_text(before)} before and "
            f"{exactly} after, for somebody with {known_text(known)} "
            f"({convention} convention, levels {float(low):g} and {float(high):g})"
        )
        return Breach(True, direction, labels, before, after, known, low, high, convention, text)
    levels = f"{float(low):g} to {float(high):g}, {convention} convention"
    if undecided:
        text = f"undecided ({levels}): more tuples are near the level than were evaluated"
        return Breach(None, None, (), None, None, {}, low, high, convention, text)
    text = f"no breach ({levels})"
    return Breach(False, None, (), None, None, {}, low, high, convention, text)


class _Rise:
    """Whether some set of classes with a prior of at most `most` gets a posterior above `threshold`.

    Attributes
    ----------
    codes : the tuple where it does, or None
    value, chosen, known : the posterior there, the set, and the values
    undecided : whether None means that the search gave up
    """

    def __init__(
        self,
        views: Viewset,
        convention: str,
        prior: list[Fraction],
        most: Fraction,
        threshold: Fraction,
        evaluations: int,
        progress: Progress | None,
    ) -> None:
        self.codes: Int32s | None = None
        self.value: Fraction | float = 0.0
        self.chosen: list[int] = []
        self.known: dict[str, Value] = {}
        self.undecided = False
        self.prior, self.most, self.threshold = prior, most, threshold
        self.sizes = np.array([float(f) for f in prior])
        if len(set(prior)) == 1:  # only whole classes count
            self.room = math.floor(most / prior[0]) / len(prior)
        else:
            self.room = float(most) * (1 + 1e-12)
        self.filled = 1e-11 / float(self.sizes.min())  # fractions of a class too small to be counted
        if min(prior) > most or self._ruled_out(views, convention):
            return
        self.search = Search(views, convention)
        self._look(evaluations, progress)

    def _ruled_out(self, views: Viewset, convention: str) -> bool:
        """Whether Lambda alone says no: q classes have odds of at most Lambda q / (C - q) in all."""
        size, q = Fraction(0), 0
        for f in sorted(self.prior):
            size += f
            q += size <= self.most
        lambda_ = amplification_of(views)
        if lambda_.value is None:
            return False
        odds = (1 if convention == "row" else 2) * lambda_.value * q / (len(self.prior) - q)
        return odds <= self.threshold / (1 - self.threshold)

    def _bound(self, nodes: Tuples) -> Floats:
        """Logarithm of the odds that any such set can have below each node.

        odds(Q) = sum over c in Q of 1 / (sum over d not in Q of p_d / p_c): the inner sum is at least the
        cheapest way to cover 1 - most of the prior, the outer one at most the best way to fill `most`.
        """
        with np.errstate(over="ignore"):
            least = np.exp(-self.search.log_odds(nodes))  # p_d / p_c from below; inf where p_c is 0
        n_classes = least.shape[1]
        itself = np.eye(n_classes, dtype=bool)
        least[:, itself] = np.inf
        with np.errstate(over="ignore"):
            order = np.argsort(least / self.sizes, axis=2, kind="stable")
        weights = self.sizes[order]
        before = np.cumsum(weights, axis=2) - weights
        taken = np.clip((1 - self.room - before) / weights, 0.0, 1.0)
        taken[taken < 1e-12] = 0.0
        costs = np.take_along_axis(least, order, axis=2)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            cover = np.where(taken > 0, costs * taken, 0.0).sum(axis=2)
            values = np.where(np.isinf(cover), 0.0, 1 / cover)
            order = np.argsort(-values / self.sizes, axis=1, kind="stable")
            weights = self.sizes[order]
            before = np.cumsum(weights, axis=1) - weights
            taken = np.clip((self.room - before) / weights, 0.0, 1.0)
            taken[taken < 1e-12] = 0.0
            gains = np.take_along_axis(values, order, axis=1)
            bound: Floats = np.log(np.where(taken > 0, gains * taken, 0.0).sum(axis=1))
        return bound + self.search.slack + self.filled

    def _look(self, evaluations: int, progress: Progress | None) -> None:
        odds = self.threshold / (1 - self.threshold)
        least = math.log(odds.numerator) - math.log(odds.denominator) - NEAR
        nodes, bounds, missed = self.search.leaves(self._bound, least, progress)
        best, done = least, 0
        for part in batches(len(nodes)):
            if bounds[part.start] <= best or done >= evaluations:
                break
            codes = nodes.codes[part]
            if self.search.worlds:
                shares, _ = self.search.shares(codes)
            else:
                logs = nodes.logs[part]
                shares = np.exp(logs - logs.max(axis=1, keepdims=True))
                shares /= shares.sum(axis=1, keepdims=True)
            for own, share in zip(codes, shares.tolist(), strict=True):
                chosen = best_set(share, self.prior, self.most)
                inside = sum(share[c] for c in chosen)
                outside = sum(p for c, p in enumerate(share) if c not in set(chosen))
                value = math.inf if outside == 0 else math.log(inside / outside) if inside else -math.inf
                if value > best:
                    best = self._settle(own, value, best)
            done = part.stop
            if progress is not None:
                progress(done, len(nodes))
        if self.codes is None and (missed > least or (done < len(nodes) and bounds[done] > best)):
            self.undecided = True

    def _settle(self, codes: Int32s, value: float, best: float) -> float:
        """Take a tuple whose odds seem larger than any before, if they exceed the threshold for certain."""
        search = self.search
        rows, convention = search.rows(codes), "worlds" if search.worlds else "row"
        for exactly in (None, True):
            computed = shares_at(search.views, rows, convention, exactly)
            assert computed is not None
            shares, error = computed
            if error == 1.0:  # of shares below the range of floats, which add nothing
                error = LOST
            chosen = best_set(shares, self.prior, self.most)
            posterior = sum(shares[c] for c in chosen)
            if posterior * (1 - Fraction(error)) > self.threshold:
                break
            if posterior * (1 + Fraction(error)) <= self.threshold:
                return best
            if convention == "worlds" and max(search.class_counts) > MOST_ROWS:
                self.undecided = True
                return best
        self.codes, self.value, self.chosen = codes, posterior, chosen
        self.known = self.search.known(codes)
        return value


def best_set(shares: Sequence[Fraction | float], prior: list[Fraction], most: Fraction) -> list[int]:
    """The classes with the largest posterior together among sets with a prior of at most `most`.

    With equal priors the first ones of the order by posterior. Else branches along the order by
    posterior / prior, cut off where filling up with fractions of classes would not do.
    """
    if len(set(prior)) == 1:
        order = sorted(range(len(prior)), key=lambda c: -shares[c])
        return order[: math.floor(most / prior[0])]
    order = sorted(range(len(prior)), key=lambda c: -shares[c] / prior[c])
    best: tuple[Fraction | float, list[int]] = (-1, [])

    def fill(i: int, room: Fraction, value: Fraction | float, chosen: list[int]) -> None:
        nonlocal best
        if value > best[0]:
            best = value, list(chosen)
        bound, left = value, room
        for c in order[i:]:
            if prior[c] > left:
                bound += shares[c] * (left / prior[c])
                break
            bound, left = bound + shares[c], left - prior[c]
        if i == len(order) or bound <= best[0]:
            return
        if prior[order[i]] <= room:
            c = order[i]
            fill(i + 1, room - prior[c], value + shares[c], [*chosen, c])
        fill(i + 1, room, value, chosen)

    fill(0, most, 0, [])
    return sorted(best[1])
