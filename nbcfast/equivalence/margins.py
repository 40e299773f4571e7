"""`margin`, the smallest non-zero |ln X_c - ln X_d|, and `bound`, what it cannot be below.

Both are proved in docs/mathematics/safety.md, sections c and g.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools
from nbcfast._core.products import product
from nbcfast._core.threads import ONE_THREAD_BYTES, n_threads
from nbcfast._halves.codes import tuple_of
from nbcfast._halves.lines import Line
from nbcfast._halves.split import MOST_HALF, MOST_WORK, TwoHalves, split
from nbcfast._halves.terms import FixedLogs, Plain, Term
from nbcfast.equivalence.results import Margin

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views import Viewset

ENUMERATED = 20_000  # pairs of sums: up to here, looking at all of them is quicker than anything else


def margin(views: Viewset, *, threads: int | None = None, progress: Progress | None = None) -> Margin:
    """Find the smallest non-zero ``|ln X_c - ln X_d|`` over the whole product domain.

    X_c is P_c^(1-n) prod N^i_c. All tuples and pairs of classes with positive X count. Up to some 10^14
    tuples the answer is exact, found by meeting in the middle: the domain is not enumerated. Beyond
    that it is the proven lower bound.

    Parameters
    ----------
    views : Viewset
        The classifier.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Margin

    Raises
    ------
    ValueError
        If the views have no rows.

    Examples
    --------
    >>> import nbcfast
    >>> margin(nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]}))
    Margin(0.4054651081081644: 1 over 0 at {'job': 0}; 2 tuples, enumeration)
    """
    return margin_of(views, threads=threads, progress=progress)


def margin_of(
    views: Viewset,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    most: int = MOST_HALF,
    work: int = MOST_WORK,
    enumerate_up_to: int = ENUMERATED,
) -> Margin:
    """`margin` with its limits as arguments."""
    used = n_threads(threads, ONE_THREAD_BYTES)
    refuse_no_rows(views)
    plain, logs = Plain.of(views), FixedLogs()
    tuples = math.prod(map(len, plain.rows))
    pairs = list(combinations(range(len(plain.of_class)), 2))
    halves = []
    for c, d in pairs:
        ratios = DistinctRatios.of(plain, c, d)
        if ratios is None:  # never are both positive
            continue
        parts = split(ratios.sizes, most, work // len(pairs))
        if parts is None:
            return bound(views)
        # The ratios are found again when their turn comes: those of all pairs at once may be many.
        halves.append((c, d, parts))
    total = sum(1 + parts.blocks for _, _, parts in halves)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    best: tuple[Term, list[int], tuple[int, int]] | None = None
    middle = False
    for c, d, parts in halves:
        ratios = DistinctRatios.of(plain, c, d)
        all_pairs = parts.blocks * parts.n * parts.m <= enumerate_up_to
        middle |= not all_pairs
        nearest = (
            None if ratios is None else ratios.nearest(plain.base(c, d), parts, logs, all_pairs, used, step)
        )
        if nearest is not None:
            term, codes = nearest
            classes = (c, d) if term.up > term.down else (d, c)
            # Integers decide which of two pairs is nearer: the logarithms may agree in all bits of a float.
            term = Term(0, max(term.up, term.down), min(term.up, term.down))
            if best is None or term.up * best[0].down < best[0].up * term.down:
                best = term, codes, classes
    method: Literal["enumeration", "meet in the middle"] = "meet in the middle" if middle else "enumeration"
    if best is None:
        return Margin(math.inf, math.inf, None, None, True, method, tuples)
    log, log2 = logs_of(best[0])
    return Margin(
        log,
        log2,
        {name: views.domain(name)[code] for name, code in zip(views.attributes, best[1], strict=True)},
        (views.classes[best[2][0]], views.classes[best[2][1]]),
        True,
        method,
        tuples,
    )


class DistinctRatios(NamedTuple):
    """The distinct N_c / N_d of each attribute for two classes, and the first value that has each."""

    terms: list[list[Term]]
    values: list[list[int]]

    @classmethod
    def of(cls, plain: Plain, c: int, d: int) -> DistinctRatios | None:
        """None where no tuple has both classes positive."""
        if plain.of_class[c] == 0 or plain.of_class[d] == 0:
            return None
        terms: list[list[Term]] = []
        values: list[list[int]] = []
        for rows in plain.rows:
            first_value: dict[Term, int] = {}
            for value, row in enumerate(rows):
                term = Term.of(row[c], row[d])
                if not term.mark:
                    first_value.setdefault(term, value)
            if not first_value:
                return None
            terms.append(list(first_value))
            values.append(list(first_value.values()))
        return cls(terms, values)

    @property
    def sizes(self) -> list[int]:
        return [len(of_attribute) for of_attribute in self.terms]

    def nearest(
        self,
        base: Term,
        parts: TwoHalves,
        logs: FixedLogs,
        all_pairs: bool,
        threads: int,
        step: Callable[[], object],
    ) -> tuple[Term, list[int]] | None:
        """X_c / X_d nearest to 1 but not 1, and the codes of its tuple."""
        line = Line(base, self.terms, parts, logs, sizes=True)
        lists = line.lists(threads)
        step()
        best: tuple[Term, list[int]] | None = None
        for outside in line.blocks():
            nearest = line.nearest(lists, outside, all_pairs)
            step()
            if nearest is None:
                continue
            codes = tuple_of(parts, self.sizes, outside, nearest[1], nearest[2])
            term = line.term(codes)
            if best is None or nearer(term, best[0]):
                best = term, codes
        if best is None:
            return None
        codes = [of_attribute[code] for of_attribute, code in zip(self.values, best[1], strict=True)]
        return best[0], codes


def nearer(a: Term, b: Term) -> bool:
    """Whether up / down of a is nearer to 1 than that of b, in logarithms; neither is 1."""
    return bool(max(a.up, a.down) * min(b.up, b.down) < max(b.up, b.down) * min(a.up, a.down))


def logs_of(term: Term) -> tuple[float, float]:
    """ln(up / down) and its log2, of a term above 1: of the exact ratio, never of a rounded one."""
    above_1 = gmpy2.mpq(term.up - term.down, term.down)
    with gmpy2.context(precision=160):
        log = gmpy2.log1p(gmpy2.mpfr(above_1))
        return float(log), float(gmpy2.log2(log))


def bound(views: Viewset) -> Margin:
    """A positive number that no non-zero ``|ln X_c - ln X_d|`` is below, in time linear in the counts.

    X_c / X_d = A / B with integers A <= A^ = (prod_i max_t N^i_c) (P_d / g)^(n-1) and B <= B^ likewise,
    g = gcd(P_c, P_d); where they differ, ``|ln A/B|`` >= ln(1 + 1 / min(A^, B^)). See
    docs/mathematics/safety.md, section c.

    Returns
    -------
    Margin
        With method "bound".

    Examples
    --------
    >>> import nbcfast
    >>> round(bound(nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]})).log, 6)  # ln(1 + 1/3)
    0.287682
    """
    refuse_no_rows(views)
    of_class = [int(count) for count in views.class_counts.tolist()]
    arrays = list(views.counts.values())
    tuples = math.prod(map(len, arrays))
    n = len(arrays)
    most = 0
    for c, d in combinations(range(len(of_class)), 2):
        p, q = of_class[c], of_class[d]
        if p == 0 or q == 0:
            continue
        ups, downs = [], []
        for array in arrays:
            both: Bools = np.asarray((array[:, c] > 0) & (array[:, d] > 0), dtype=bool)
            if not both.any():
                break
            ups.append(gmpy2.mpz(int(array[both, c].max())))
            downs.append(gmpy2.mpz(int(array[both, d].max())))
        else:
            common = math.gcd(p, q)
            p, q = p // common, q // common
            if n == 0:
                ups, downs = [gmpy2.mpz(p)], [gmpy2.mpz(q)]
            else:
                ups.append(gmpy2.mpz(q) ** (n - 1))
                downs.append(gmpy2.mpz(p) ** (n - 1))
            most = max(most, min(product(ups), product(downs)))
    if most == 0:
        return Margin(math.inf, math.inf, None, None, True, "bound", tuples)
    log, log2 = logs_of(Term(0, int(most) + 1, int(most)))
    # Down by more than the rounding of the two, so that they stay bounds.
    return Margin(log * (1 - 2.0**-50), log2 - 1e-9, None, None, False, "bound", tuples)


def refuse_no_rows(views: Viewset) -> None:
    """Refuse views of no rows."""
    if not any(views.class_counts.tolist()):
        raise ValueError("views: no rows")
