"""Weights of least norm under demands that only an oracle knows: cutting planes in doubles, then integers.

Doubles only look for the rows that bind. What they find is where the exact stage begins, and that ends at the
one optimum wherever it began: docs/mathematics/canonical.md, section 3.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Floats, Int8s, Int32s, Longs
from nbcfast._core.errors import Infeasible
from nbcfast._solve import Program
from nbcfast.canonical.weights.exact import Active, Oracle, Stuck, corrected

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_VALUES = 5_000  # two square matrices of doubles: 400 MB
MOST_ROUNDS = 1_000
MOST_STEPS = 200_000  # of one round
MOST_EXACT_STEPS = 500
SHIFT = 44  # bits behind the point of weights that are not exact
RENEWED = 500  # steps, or four for each value: then the factors are made anew
DEPENDENT = 1e-18  # of a row's squared length; weights of 10^9 leave 10^-18, rounding 10^-30
NEARLY = 1e-6  # a row that lacks less than this is left to the exact stage
ROUND_OFF = 4e-13  # as is one that lacks less than this much of the largest score


class Optimum(NamedTuple):
    """Weights numbers / denominator. Where they are exact, rows and multipliers prove it."""

    numbers: list[int]
    denominator: int
    columns: Int32s
    signs: Int8s
    multipliers: list[Fraction]
    exact: bool
    rounds: int


def minimum_norm(
    weights: Longs,
    width: int,
    oracle: Oracle,
    *,
    progress: Progress | None = None,
) -> Optimum:
    """The g of least sum weights[v] g[v]^2 for which every row of the oracle adds up to at least 1.

    Parameters
    ----------
    weights : ndarray of int64
        Positive, one a value.
    width : int
        Entries of a row: distinct values, each with sign 1 or -1.
    oracle : Oracle
        Finds rows that fail, without listing all.
    progress : callable, optional
        Called as progress(rounds, rounds expected).

    Returns
    -------
    Optimum
        The exact one; where the exact stage would need too many steps, weights proved to be feasible.

    Raises
    ------
    Infeasible
        If there are too many values, or doubles are too short to find feasible weights.
    ValueError
        If no weights can satisfy all rows.
    """
    if len(weights) > MOST_VALUES:
        raise Infeasible(
            f"{len(weights)} values can be told apart, and the solver takes {MOST_VALUES}: "
            "declare coarser values",
            {"values": len(weights), "most_values": MOST_VALUES},
        )
    program = Program(1 / np.sqrt(weights.astype(np.float64)), width, DEPENDENT)
    g, rounds = program.weights(), 0
    while True:
        rounds += 1
        slack = max(NEARLY, ROUND_OFF * float(np.abs(g).max()))
        columns, signs, _ = oracle.violated(g, 1 - slack)
        if not len(columns) or rounds > MOST_ROUNDS:
            break
        program.add(columns, signs)
        status = program.solve(slack / 4, MOST_STEPS, max(RENEWED, 4 * len(weights)))
        g = program.weights()
        if progress is not None:
            progress(rounds, max(rounds + 1, 40))
        if status:  # doubles are at their end: the exact stage may still find its way from here
            break
    program.renew()
    columns, signs, _ = program.active()
    try:
        exact, active = corrected(Active(weights, columns, signs), oracle, MOST_EXACT_STEPS)
    except Stuck:
        # Feasible weights keep every promise but one: other machines may find others (reproducible: false).
        return _feasible(g, oracle, rounds)
    if progress is not None:
        progress(rounds, rounds)
    multipliers = [Fraction(u, exact.denominator) for u in exact.multipliers]
    return Optimum(exact.g, exact.denominator, active.columns, active.signs, multipliers, True, rounds)


def _feasible(g: Floats, oracle: Oracle, rounds: int) -> Optimum:
    """The weights as the doubles have them, scaled so that the lowest row is 1 or a little more."""
    *_, lowest = oracle.violated(g, -math.inf)
    numbers = [int(Fraction(x) * 2**SHIFT) for x in g.tolist()]
    limit = int(lowest * 2**SHIFT)
    for k in range(SHIFT):  # what doubles and cutting off add may be a little too much
        if limit <= 0:
            break
        if not len(oracle.exactly(numbers, limit)[0]):
            rows = np.zeros((0, 0))
            return Optimum(numbers, limit, rows.astype(np.int32), rows.astype(np.int8), [], False, rounds)
        limit -= 1 << k
    raise Infeasible(
        "doubles are too short for this domain: no weights were found that give all labels. Declare coarser "
        "values, fewer attributes, or a list of tuples",
        {"rounds": rounds},
    )
