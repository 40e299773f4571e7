"""Numbers to intervals, decided on the distinct values and exactly.

A float means its shortest decimal text, which keeps the order of floats: 0.3 lies in [0.3, 0.4).
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.numbers import Number, exact, exact_share
from nbcfast.table.domain import Domain
from nbcfast.table.values import SUPPRESSED, Interval, Kind, Value


def _exact_value(number: Number | float) -> Number | float:
    """A data value for comparisons: exact, or an infinity as it is."""
    return exact(number, "value") if isinstance(number, int) or math.isfinite(number) else number


def _first_at_least(numbers: Array, bound: Number, start: int = 0) -> int:
    """The first position from `start` on, in sorted numbers, whose value is not below the bound."""
    stop = len(numbers)
    while start < stop:
        middle = (start + stop) // 2
        if _exact_value(numbers[middle].item()) < bound:
            start = middle + 1
        else:
            stop = middle
    return start


def given_edges(edges: Iterable[object], name: str) -> list[Interval]:
    """The intervals between strictly increasing edges; the outer two may be infinite.

    Intervals themselves, as those of a domain, are taken as they are, with the gaps between them.
    """
    if not isinstance(edges, Iterable):
        raise TypeError(
            f"column {name!r}: edges must be a sequence of numbers, got {edges!r}; for so many bins of about "
            "equal weight use quantiles="
        )
    listed = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    if any(isinstance(edge, Interval) for edge in listed):
        return _given_intervals(listed, name)
    if len(listed) < 2:
        raise ValueError(f"column {name!r}: edges must be at least 2 numbers, got {len(listed)}")
    bounds: list[Number | None] = []
    for place, edge in enumerate(listed):
        outer = isinstance(edge, (float, np.floating)) and (
            (edge == -math.inf and place == 0) or (edge == math.inf and place == len(listed) - 1)
        )
        bounds.append(None if outer else exact(edge, f"column {name!r}: each edge"))
        before = bounds[-2] if place else None
        if before is not None and bounds[-1] is not None and not before < bounds[-1]:
            raise ValueError(
                f"column {name!r}: edges must increase strictly, got {listed[place - 1]!r} then {edge!r}"
            )
    return [Interval(low, high) for low, high in pairwise(bounds)]


def _given_intervals(listed: list[object], name: str) -> list[Interval]:
    intervals: list[Interval] = []
    for interval in listed:
        if interval is None or interval is SUPPRESSED:  # the end of a domain
            continue
        if not isinstance(interval, Interval):
            raise TypeError(f"column {name!r}: edges must be all numbers or all intervals, got {interval!r}")
        before = intervals[-1].high if intervals else None
        if intervals and (before is None or interval.low is None or before > interval.low):
            raise ValueError(
                f"column {name!r}: intervals must increase and not overlap, got {intervals[-1]!r} then "
                f"{interval!r}"
            )
        intervals.append(interval)
    return intervals


def place_between(numbers: Array, intervals: list[Interval]) -> Longs:
    """For each of the sorted numbers the interval that holds it, or -1."""
    places = np.full(len(numbers), -1, np.int64)
    start = 0
    for place, interval in enumerate(intervals):
        if interval.low is not None:
            start = _first_at_least(numbers, interval.low, start)
        stop = len(numbers) if interval.high is None else _first_at_least(numbers, interval.high, start)
        places[start:stop] = place
        start = stop
    return places


def between(cuts: list[Number]) -> list[Interval]:
    """The intervals that these increasing numbers cut the line into."""
    return [Interval(low, high) for low, high in zip([None, *cuts], [*cuts, None], strict=True)]


def probabilities(quantiles: object, name: str) -> list[Number]:
    """The ranks asked for: j/q for an integer q, else increasing numbers between 0 and 1."""
    if isinstance(quantiles, (int, np.integer)) and not isinstance(quantiles, bool):
        if quantiles < 2:
            raise ValueError(f"column {name!r}: quantiles must be at least 2, got {quantiles}")
        return [Fraction(j, int(quantiles)) for j in range(1, int(quantiles))]
    if isinstance(quantiles, (str, float, Fraction, bool)) or not isinstance(quantiles, Iterable):
        raise TypeError(
            f"column {name!r}: quantiles must be an int or a sequence of probabilities, got {quantiles!r}"
        )
    ranks = [exact_share(rank, f"column {name!r}: each probability") for rank in quantiles]
    if not ranks or any(not 0 < rank < 1 for rank in ranks):
        raise ValueError(f"column {name!r}: probabilities must lie between 0 and 1, got {list(quantiles)!r}")
    if any(not low < high for low, high in pairwise(ranks)):
        raise ValueError(f"column {name!r}: probabilities must increase strictly, got {list(quantiles)!r}")
    return ranks


def quantile_cuts(numbers: Array, totals: Longs, ranks: list[Number]) -> list[Number]:
    """For each rank the smallest number that this share of the weight does not pass; equal ones once.

    One at the minimum would leave nothing below it and publish the minimum: it is left out.
    """
    present = np.flatnonzero(totals)
    if not len(present):
        return []
    running = np.cumsum(totals)
    total = int(running[-1])
    cuts: list[Number] = []
    for rank in ranks:
        place = int(np.searchsorted(running, math.ceil(rank * total)))
        value = _exact_value(numbers[place].item())
        if place > present[0] and not isinstance(value, float) and (not cuts or cuts[-1] < value):
            cuts.append(value)
    return cuts


def width_bins(numbers: Array, width: Number) -> tuple[list[Interval], Longs]:
    """The intervals between multiples of the width that hold any sorted number, the outer two open."""
    places = np.full(len(numbers), -1, np.int64)
    starts: list[Number] = []
    position = int(np.count_nonzero(numbers == -math.inf)) if numbers.dtype.kind == "f" else 0
    while position < len(numbers):
        value = _exact_value(numbers[position].item())
        if isinstance(value, float):  # infinity
            break
        starts.append(value // width)
        stop = _first_at_least(numbers, (starts[-1] + 1) * width, position)
        if numbers.dtype.kind == "f":  # an infinity belongs to the last interval, which is open
            stop = min(stop, int(np.searchsorted(numbers, math.inf)))
        places[position:stop] = len(starts) - 1
        position = stop
    if not starts:
        return ([Interval(None, None)], np.zeros(len(numbers), np.int64)) if len(numbers) else ([], places)
    last = len(starts) - 1
    places[:] = np.where(places >= 0, places, np.where(numbers < 0, 0, last))
    return [
        Interval(None if k == 0 else start * width, None if k == last else (start + 1) * width)
        for k, start in enumerate(starts)
    ], places


def binned(
    domain: Domain, totals: Longs, name: str, edges: Iterable[object] | None, quantiles: object, width: object
) -> tuple[Domain, Longs]:
    """The domain of intervals, and for each value of `domain` its position there (-1: no row has it).

    `totals` is the weight of each value.
    """
    asked = [option for option in (edges, quantiles, width) if option is not None]
    if len(asked) != 1:
        raise ValueError(f"column {name!r}: expected one of edges, quantiles and width, got {len(asked)}")
    if domain.kind not in ("int", "float", None):
        raise TypeError(f"column {name!r}: expected numbers to bin, got {domain.kind}")
    size = len(domain.head)
    # Values that no row has decide nothing.
    occurring = np.flatnonzero(totals[:size])
    numbers = domain.numbers[occurring] if domain.kind is not None else np.empty(0, np.int64)
    order = np.argsort(numbers)
    numbers, occurring = numbers[order], occurring[order]
    declared: set[Value] = set()
    if edges is not None:
        edges = list(edges) if isinstance(edges, Iterable) else edges
        intervals = given_edges(edges, name)
        declared = {value for value in (None, SUPPRESSED) if any(edge is value for edge in edges)}
        places = place_between(numbers, intervals)
        if (places < 0).any():
            value = numbers[np.flatnonzero(places < 0)[0]].item()
            raise ValueError(
                f"column {name!r}: value {value!r} lies outside the edges "
                f"{Interval(intervals[0].low, intervals[-1].high)}, or between its intervals"
            )
    elif quantiles is not None:
        ranks = probabilities(quantiles, name)
        cuts = quantile_cuts(numbers, totals[occurring], ranks)
        intervals = between(cuts) if len(numbers) else []
        places = place_between(numbers, intervals) if intervals else np.empty(0, np.int64)
    else:
        step = exact(width, f"column {name!r}: width")
        if step <= 0:
            raise ValueError(f"column {name!r}: width must be above 0, got {width!r}")
        intervals, places = width_bins(numbers, step)
    occurs = {value for k, value in enumerate(domain.tail, size) if totals[k]}
    if domain.declared:
        declared |= {value for value in domain.tail if value not in domain.tail_found}
    tail = tuple(value for value in (None, SUPPRESSED) if value in declared | occurs)
    table = np.full(len(domain), -1, np.int64)
    table[occurring] = places
    for k, value in enumerate(domain.tail, size):
        if value in tail:
            table[k] = len(intervals) + tail.index(value)
    kind: Kind | None = "interval" if intervals else None
    if edges is None:
        return Domain(kind, intervals, tail, False), table
    tail_found = tuple(value for value in tail if value not in declared)
    return Domain(kind, intervals, tail, True, open_tail=True, tail_found=tail_found), table
