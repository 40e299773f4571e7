"""`lower_bound`: what r no classifier can stay below that decides as this one does.

Proved in docs/mathematics/safety.md, section i.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Array, Floats
from nbcfast._core.numbers import Numeral
from nbcfast._core.validation import choice
from nbcfast.closeness.results import LowerBound
from nbcfast.closeness.scores import ONE, ScoreRatios
from nbcfast.equivalence.results import ClassPair
from nbcfast.safety.allowed import root_below
from nbcfast.safety.prior import LabelT, prior_in_integers, prior_of
from nbcfast.transform.zeros import Filled, fill_zeros
from nbcfast.views.flat import UNIT, Flat

if TYPE_CHECKING:
    from nbcfast.views import Viewset

BEAM = 100_000  # partial tuples kept while a tuple is searched where a class is the best of three or more
WORK = 30_000_000  # logarithms added up for one class
NARROW = 64  # partial tuples kept however much work that is
SETS = 1_000  # of classes that can have score zero together


class BeamStep(NamedTuple):
    """A step of a search that extends partial tuples: which former one each continues, and by what."""

    origin: Array
    added: Array


def lower_bound(
    views: Viewset,
    prior: Mapping[LabelT, Numeral],
    *,
    preserve: Preserve = "order",
    attacker: Attacker = "row",
) -> LowerBound:
    """What r every viewset without zero counts, as published ones are, has to exceed that decides as this one
    does, however it was made.

    Where a class d of smaller prior beats a class c, its posterior is at least that of c, so that odds of
    F_c / F_d against it have been made up for: r >= F_c / F_d by Statement 11. By Definition 5 the posterior
    of c has fallen or that of d risen: r >= max(sqrt(F_c / F_d), 1 / (1 - F_c + F_d)); 1 / (2 F_d) for two
    classes. A prior of 75 % against a class that ever wins means r >= 2 and 3.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class.
    prior : mapping of class to number
        F_c > 0, adding up to 1.
    preserve : {"order", "label"}
        What is kept: the order of all classes, or the best class; then d has to be the best of all somewhere.
        With three or more classes and a large domain that is searched for and may be missed: the bound
        holds, and a larger one may too.
    attacker : {"row", "worlds"}
        "worlds" is the paper's attacker, whose odds may be half of X_d / X_c: r is above
        max(sqrt(F_c / (2 F_d)), 1 / (1 - F_c + 2 F_d)) and above F_c / (2 F_d).

    Returns
    -------
    LowerBound

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
    >>> found = lower_bound(views, {"ill": "0.75", "well": "0.25"})
    >>> found.definition5, found.statement11, found.inverted, found.witness
    (Fraction(2, 1), Fraction(3, 1), ('well', 'ill'), {'job': 1})
    """
    shares = prior_of(views, prior)
    choice(attacker, ("row", "worlds"), "attacker")
    filled = fill_zeros(views, preserve=preserve)
    rows_of = _inversions(filled, prior_in_integers(shares))
    strict = attacker == "worlds"
    times = 2 if strict else 1  # by how much odds may be above X_c / X_d
    one = Fraction(1)
    fifth = max([one, *(_definition5(shares[c], shares[d], times) for d, c in rows_of)])
    ratios = {(d, c): shares[c] / (times * shares[d]) for d, c in rows_of}
    if not ratios or max(ratios.values()) < 1:
        return LowerBound(fifth, one, strict, None, None)
    d, c = max(ratios, key=ratios.__getitem__)
    rows = rows_of[d, c]
    starts = filled.flat.starts.tolist()
    where = {
        name: views.domain(name)[row - start]
        for name, row, start in zip(views.attributes, rows, starts[:-1], strict=True)
    }
    return LowerBound(fifth, ratios[d, c], strict, (views.classes[d], views.classes[c]), where)


def _definition5(large: Fraction, small: Fraction, times: int) -> Fraction:
    """max(sqrt(F_c / (k F_d)), 1 / (1 - F_c + k F_d)), k = `times`."""
    return max(root_below(large / (times * small)), 1 / (1 - large + times * small))


def _inversions(filled: Filled, numbers: tuple[int, ...]) -> dict[ClassPair, list[int]]:
    """Pairs (d, c) where d has the smaller prior and somewhere the higher rank, each with rows of a tuple."""
    n_classes = filled.flat.n_classes
    if filled.preserve == "label" and n_classes > 2:
        best_at: dict[ClassPair, list[int]] = {}
        for d in range(n_classes):
            below = [c for c in range(n_classes) if numbers[c] > numbers[d]]
            rows = _where_best(filled, d) if below else None
            if rows is not None:
                best_at.update({(d, c): rows for c in below})
        return best_at
    scores = ScoreRatios(filled, numbers)
    return {
        (d, c): _where_largest(filled, d, c)
        for d, c in scores.pairs
        if numbers[d] < numbers[c] and (scores.largest[d, c] > ONE or (scores.largest[d, c] == ONE and d > c))
    }


def _where_largest(filled: Filled, c: int, d: int) -> list[int]:
    """Rows of the counts, one an attribute, where X_c / X_d is largest after Step 1."""
    flat, result = filled.flat, []
    # Zeros of c count 2^-e_c, those of d 2^-e_d, and exponents may be long: Python's integers hold them.
    logs = (flat.logs[:, c] - flat.logs[:, d]).astype(object)
    logs[flat.zero[:, c]] -= filled.exponents[c] << UNIT
    logs[flat.zero[:, d]] += filled.exponents[d] << UNIT
    for start, stop in zip(flat.starts.tolist(), flat.starts.tolist()[1:], strict=False):
        block = logs[start:stop]
        # Within a unit each: rows of nearly equal ratios are told apart by the ratios themselves.
        near = (start + np.flatnonzero(block >= block.max() - 8)).tolist()
        result.append(max(near, key=lambda row: _ratio(filled, row, c, d)))
    return result


def _ratio(filled: Filled, row: int, c: int, d: int) -> tuple[int, Fraction]:
    """N_c / N_d after Step 1 as exponent and mantissa, which compare as the numbers do."""
    flat = filled.flat
    exponent, sides = 0, []
    for class_, sign in ((c, -1), (d, 1)):
        count = int(flat.counts[row, class_])
        if not count:
            count = int(flat.unit[row])
            exponent += sign * filled.exponents[class_]
        sides.append(count)
    shift = sides[0].bit_length() - sides[1].bit_length()
    mantissa = Fraction(sides[0], sides[1]) / Fraction(2) ** shift
    if mantissa < 1:
        return exponent + shift - 1, 2 * mantissa
    return exponent + shift, mantissa


def _where_best(filled: Filled, d: int) -> list[int] | None:
    """Rows of a tuple whose best class is d, or None if none was found.

    Attribute by attribute, keeping partial tuples from which d can still win; where these are too many, those
    with the best prospects. A tuple may so be missed, which makes `lower_bound` smaller and never wrong; what
    is found has been looked at by integers.
    """
    flat = filled.flat
    if d == flat.n_classes - 1:
        rows_of_zeros = _where_all_zero(flat)
        if rows_of_zeros is not None:
            return rows_of_zeros
    others = [c for c in range(flat.n_classes) if c != d]
    spans = list(zip(flat.starts.tolist(), flat.starts.tolist()[1:], strict=False))
    base = np.array([_class_log(flat, d, c) for c in others])
    blocks, rows = [], []
    for start, stop in spans:
        kept = start + np.flatnonzero(~flat.zero[start:stop, d])
        if not len(kept):
            return None
        moves = (flat.logs[kept][:, [d]] - flat.logs[kept][:, others]) * 2.0**-UNIT
        # A class of score zero is beaten: by as much as matters.
        moves[flat.zero[kept][:, others]] = 1e9
        blocks.append(moves)
        rows.append(kept)
    still = np.zeros((len(blocks) + 1, len(others)))  # the most that the attributes to come can add
    for step in range(len(blocks) - 1, -1, -1):
        still[step] = still[step + 1] + blocks[step].max(axis=0)
    sums = base[np.newaxis]
    taken: list[BeamStep] = []
    slack = 2.0**-20  # above the error of these sums of logarithms: ties are kept, and integers decide
    beam = max(NARROW, min(BEAM, WORK // (len(others) * sum(map(len, blocks)) or 1)))
    for step, moves in enumerate(blocks):
        size, origin = len(moves), np.arange(len(sums))
        room = max(1, 40 * beam // size)
        if len(sums) > room:
            prospects = (sums + still[step]).min(axis=1)
            origin = np.argpartition(-prospects, room - 1)[:room]
            sums = sums[origin]
        sums = (sums[:, np.newaxis] + moves[np.newaxis]).reshape(-1, len(others))
        prospects = (sums + still[step + 1]).min(axis=1)
        left = np.flatnonzero(prospects >= -slack)
        if len(left) > beam:
            left = left[np.argpartition(-prospects[left], beam)[:beam]]
        if not len(left):
            return None
        taken.append(BeamStep(origin[left // size], rows[step][left % size]))
        sums = sums[left]
    worth: Floats = sums.min(axis=1)
    for place in np.argsort(-worth, kind="stable")[:1000].tolist():
        rows_of_best = _if_best(filled, retraced(taken, place), d)
        if rows_of_best is not None:
            return rows_of_best
    return None


def _where_all_zero(flat: Flat) -> list[int] | None:
    """Rows of a tuple where every class has score zero, so that the last is the best; None if not found."""
    every = (1 << flat.n_classes) - 1
    lacking: dict[int, list[int]] = {0: []}  # sets of classes that have a zero, as bits, and rows so far
    for start, stop in zip(flat.starts.tolist(), flat.starts.tolist()[1:], strict=False):
        sets: dict[int, int] = {}
        for place, zeros in enumerate(flat.zero[start:stop].tolist()):
            sets.setdefault(sum(1 << c for c, zero in enumerate(zeros) if zero), start + place)
        joined: dict[int, list[int]] = {}
        for before, rows in lacking.items():
            for more, row in sets.items():
                joined.setdefault(before | more, [*rows, row])
        largest = sorted(joined, key=int.bit_count, reverse=True)[:SETS]
        lacking = {key: joined[key] for key in largest}
    return lacking.get(every)


def retraced(taken: list[BeamStep], place: int) -> list[int]:
    """What was added step by step on the way to this partial tuple."""
    steps = []
    for origin, added in reversed(taken):
        steps.append(int(added[place]))
        place = int(origin[place])
    return steps[::-1]


def _class_log(flat: Flat, d: int, c: int) -> float:
    """log2((P_c / P_d)^(n-1))."""
    return (flat.n - 1) * (math.log2(flat.of_class[c]) - math.log2(flat.of_class[d]))


def _if_best(filled: Filled, rows: list[int], d: int) -> list[int] | None:
    """These rows, if d is the best class there by the private counts: of equal scores the later class."""
    flat = filled.flat
    scores = []
    for c, size in enumerate(flat.of_class):
        product = math.prod(int(flat.counts[row, c]) for row in rows)
        scores.append((Fraction(product) * Fraction(size) ** (1 - flat.n), c))
    return rows if max(scores)[1] == d else None
