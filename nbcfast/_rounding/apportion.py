"""Integers in so many rows by largest remainder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Counts, Floats
from nbcfast.views import Viewset
from nbcfast.views.integers import INT64_MAX


class Counted(NamedTuple):
    """Counts of so many rows."""

    of_class: list[int]
    rows: list[tuple[int, ...]]  # one a value
    excess: Floats  # by how much each count is above what it should be


def apportioned_column(shares: Sequence[Any], total: int, whole: Any) -> tuple[list[int], Floats]:
    """`apportioned` with at least 1 each, and by how much every count is above its share of the total."""
    of = gmpy2.mpz(total)
    pairs = [gmpy2.f_divmod(share * of, whole) for share in shares]
    counts = [int(quotient) for quotient, _ in pairs]
    cut = max(0, whole.bit_length() - 64)
    rest = np.array([float(remainder >> cut) for _, remainder in pairs]) / float(whole >> cut)
    missing = total - sum(counts)
    if min(counts) < 1:
        counts = apportioned(list(shares), total, 1)
        return counts, np.array([float(n - q) for n, (q, _) in zip(counts, pairs, strict=True)]) - rest
    order = np.argsort(-rest, kind="stable")
    if 0 < missing < len(counts) and rest[order[missing - 1]] - rest[order[missing]] < 1e-12:
        remainders = [remainder for _, remainder in pairs]
        order = np.array(sorted(range(len(counts)), key=remainders.__getitem__, reverse=True))
    for t in order[:missing].tolist():
        counts[t] += 1
    over = -rest
    over[order[:missing]] += 1
    return counts, over


def apportioned(shares: list[Any], total: int, least: int = 0) -> list[int]:
    """Integers that add up to `total`, by largest remainder; of equal remainders the earlier goes up.

    None is below `least`; what that costs is taken where the remainder is smallest.
    """
    whole = sum(shares)
    pairs = [gmpy2.f_divmod(share * total, whole) for share in shares]
    result = [int(quotient) for quotient, _ in pairs]
    rest = [remainder for _, remainder in pairs]
    for t, count in enumerate(result):
        if count < least:
            result[t], rest[t] = least, gmpy2.mpz(-1)
    missing = total - sum(result)
    order = sorted(range(len(rest)), key=rest.__getitem__, reverse=True)
    for t in order[: max(missing, 0)]:
        result[t] += 1
    while missing < 0:
        shrinking = [t for t in reversed(order) if result[t] > least][:-missing]
        for t in shrinking:
            result[t] -= 1
        missing += len(shrinking)
    return result


def viewset(like: Viewset, of_class: list[int], rows: Any) -> Viewset:
    """Published counts with the labels and domains of these views."""
    counts: dict[str, Counts] = {}
    start = 0
    dtype: Any = np.int64 if sum(of_class) <= INT64_MAX else object
    published: Counts
    for name, array in like.counts.items():
        block = rows[start : start + len(array)]
        start += len(array)
        if dtype is object:
            published = np.empty(array.shape, object)
            published[:] = [list(row) for row in block]
        else:
            published = np.array(block, np.int64).reshape(array.shape)
        counts[name] = published
    classes = np.empty(len(of_class), dtype)
    classes[:] = of_class
    return Viewset.from_parts(classes, counts, like.class_domain, like.domains)


def round_up(number: int) -> int:
    """The next number with at most three digits before its zeros."""
    digits = len(gmpy2.mpz(number).digits(10)) - 3
    unit = gmpy2.mpz(10) ** max(digits, 0)
    return int(-(-number // unit) * unit)
