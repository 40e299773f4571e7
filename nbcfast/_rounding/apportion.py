"""Integers in so many rows by largest remainder: docs/mathematics/safety.md, section f."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Counts, Floats, Longs
from nbcfast._core.untyped import Exact
from nbcfast.table.values import INT64_MAX
from nbcfast.views import Viewset


class Counted(NamedTuple):
    """Counts of so many rows."""

    of_class: list[int]
    rows: list[tuple[int, ...]]  # one a value
    excess: Floats  # by how much each count is above what it should be


def apportioned_column(shares: Sequence[Exact], total: int, whole: Exact) -> tuple[list[int], Floats]:
    """`apportioned` with at least 1 each, and by how much every count is above its share of the total."""
    total_rows = gmpy2.mpz(total)
    divided = [gmpy2.f_divmod(share * total_rows, whole) for share in shares]
    counts = [int(quotient) for quotient, _ in divided]
    # 64 bits of a remainder: enough for an excess, which is a float, but not for which count goes up.
    cut = max(0, whole.bit_length() - 64)
    fractions = np.array([float(remainder >> cut) for _, remainder in divided]) / float(whole >> cut)
    missing = total - sum(counts)
    if min(counts) < 1:
        counts = apportioned(list(shares), total, 1)
        lifted = np.array([float(n - q) for n, (q, _) in zip(counts, divided, strict=True)])
        return counts, lifted - fractions
    order = np.argsort(-fractions, kind="stable")
    # Where floats cannot tell the last that goes up from the first that does not, the whole remainders do, so
    # that the counts are those of `apportioned`.
    if 0 < missing < len(counts) and fractions[order[missing - 1]] - fractions[order[missing]] < 1e-12:
        remainders = [remainder for _, remainder in divided]
        order = np.array(sorted(range(len(counts)), key=remainders.__getitem__, reverse=True))
    for t in order[:missing].tolist():
        counts[t] += 1
    excess = -fractions
    excess[order[:missing]] += 1
    return counts, excess


def apportioned(shares: list[Exact], total: int, least: int = 0) -> list[int]:
    """Integers that add up to `total`, by largest remainder; of equal remainders the earlier goes up.

    None is below `least`; what that costs is taken where the remainder is smallest.
    """
    whole = sum(shares)
    divided = [gmpy2.f_divmod(share * total, whole) for share in shares]
    counts = [int(quotient) for quotient, _ in divided]
    remainders = [remainder for _, remainder in divided]
    for t, count in enumerate(counts):
        if count < least:
            counts[t], remainders[t] = least, gmpy2.mpz(-1)  # what was lifted is the last to go up again
    missing = total - sum(counts)
    order = sorted(range(len(remainders)), key=remainders.__getitem__, reverse=True)
    for t in order[: max(missing, 0)]:
        counts[t] += 1
    while missing < 0:
        shrinking = [t for t in reversed(order) if counts[t] > least][:-missing]
        for t in shrinking:
            counts[t] -= 1
        missing += len(shrinking)
    return counts


def viewset(like: Viewset, of_class: list[int], rows: Sequence[Sequence[int]] | Longs) -> Viewset:
    """Published counts with the labels and domains of these views."""
    counts: dict[str, Counts] = {}
    start = 0
    long = sum(of_class) > INT64_MAX
    published: Counts
    for name, array in like.counts.items():
        block = rows[start : start + len(array)]
        start += len(array)
        if long:
            published = np.empty(array.shape, object)
            published[:] = [list(row) for row in block]
        else:
            published = np.array(block, np.int64).reshape(array.shape)
        counts[name] = published
    classes: Counts = np.empty(len(of_class), object if long else np.int64)
    classes[:] = of_class
    return Viewset.from_parts(classes, counts, like.class_domain, like.domains)


def round_up(number: int) -> int:
    """The next number with at most three digits before its zeros."""
    digits = len(gmpy2.mpz(number).digits(10)) - 3
    unit = gmpy2.mpz(10) ** max(digits, 0)
    return int(-(-number // unit) * unit)
