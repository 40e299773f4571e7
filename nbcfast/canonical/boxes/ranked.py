"""The box of more than two classes: counts to labels. What comes after it is in `weights.several`.

That counts of labels over halves are the whole box: docs/mathematics/canonical.md, section 2.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from nbcfast import _classes
from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Array, Int32s
from nbcfast._core.errors import Infeasible
from nbcfast._core.threads import ONE_THREAD_BYTES, n_threads
from nbcfast._halves.lines import Line, both
from nbcfast._halves.split import TwoHalves
from nbcfast._halves.terms import FixedLogs, Plain
from nbcfast.canonical.boxes.halving import ADVICE, contiguous, half_of_each, halves
from nbcfast.canonical.boxes.sides import SweptSides
from nbcfast.canonical.boxes.types import (
    EnumeratedBox,
    ListedBox,
    ManyBox,
    PairsBox,
    SweptBox,
    coded,
)
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

ArrayT = TypeVar("ArrayT", bound=Array)

# Public limits: what a domain is published by may depend on its sizes, and never on its counts.
MOST_ENUMERATED = 10_000_000  # tuples whose labels are held one by one
MOST_SWEPT = 10_000_000_000  # of three classes, as counts over halves
MOST_CLASSES = 127  # labels are bytes with a sign


def box(
    views: Viewset,
    *,
    mode: Preserve = "label",
    tuples: npt.ArrayLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ManyBox:
    """`nbcfast.canonical.box` for more than two classes: exactly.

    Returns
    -------
    EnumeratedBox
        In label mode, to 10^7 tuples.
    SweptBox
        In label mode for three classes, to 10^10 tuples.
    PairsBox
        In order mode, as far as halves go.
    ListedBox
        With `tuples`.

    Raises
    ------
    Infeasible
        If the domain is larger.
    """
    sizes = tuple(len(array) for array in views.counts.values())
    n_classes = len(views.classes)
    if n_classes > MOST_CLASSES:
        raise Infeasible(
            f"the classifier has {n_classes} classes, and the canonical release takes {MOST_CLASSES}",
            {"classes": n_classes, "most_classes": MOST_CLASSES},
        )
    if tuples is not None:
        return listed(views, sizes, mode, tuples)
    n_tuples = math.prod(sizes)
    plain = Plain.of(views)
    if mode == "label" and n_tuples <= MOST_ENUMERATED:
        parts = _in_order(sizes)
        above, rank = _places(plain, parts, threads, progress)
        labels = np.empty((parts.n, parts.m), np.int8)
        _classes.labels(above, rank, n_classes, labels)
        return EnumeratedBox(sizes, n_classes, mode, _kept(labels.reshape(-1)))
    if mode == "label" and (n_classes > 3 or n_tuples > MOST_SWEPT):
        most = MOST_SWEPT if n_classes == 3 else MOST_ENUMERATED
        raise Infeasible(
            f"the domain has {n_tuples} tuples, and with {n_classes} classes the canonical release reaches "
            f"{most} in label mode: {ADVICE}",
            {"tuples": n_tuples, "most_tuples": most},
        )
    parts = halves(sizes)
    half = half_of_each(parts, len(sizes))
    above, rank = _places(plain, parts, threads, progress)
    if mode == "label":
        K, L = SweptSides(above, rank).counts()
        return SweptBox(sizes, half, n_classes, mode, _kept(K), _kept(L), (_kept(above), _kept(rank)))
    K = np.ascontiguousarray((parts.m - above).T.astype(np.int64))
    L = np.empty((rank.shape[1], parts.m), np.int64)
    for p, row in enumerate(L):
        row[:] = np.cumsum(np.bincount(above[:, p], minlength=parts.m + 1))[rank[:, p]]
    return PairsBox(sizes, half, n_classes, mode, _kept(K), _kept(L))


def _kept(array: ArrayT) -> ArrayT:
    array.flags.writeable = False
    return array


def _in_order(sizes: tuple[int, ...]) -> TwoHalves:
    """Halves for a table of all tuples in C order."""
    k, n, m = contiguous(sizes)
    a, b = (tuple(i for i in part if sizes[i] > 1) for part in (range(k), range(k, len(sizes))))
    return TwoHalves((), a, b, 1, n, m)


def _places(
    plain: Plain, parts: TwoHalves, threads: int | None, progress: Progress | None
) -> tuple[Int32s, Int32s]:
    """Of each pair c < d the place from which on X_c > X_d, for each a, and the place of each b: exactly."""
    pairs = list(itertools.combinations(range(len(plain.of_class)), 2))
    above, rank = np.empty((parts.n, len(pairs)), np.int32), np.empty((parts.m, len(pairs)), np.int32)
    work, logs = 24 * (parts.n + parts.m), FixedLogs()
    used = n_threads(threads, work) if work > ONE_THREAD_BYTES else 1
    for p, (c, d) in enumerate(pairs):
        line = Line(plain.base(c, d), plain.terms(c, d), parts, logs)
        a, (sums, order) = both(line.list_a, line.list_b, used)
        above[:, p] = line.thresholds(line.lists_of(*a, sums, order), ())
        rank[order, p] = np.arange(parts.m, dtype=np.int32)
        if progress is not None:
            progress(p + 1, len(pairs))
    return above, rank


def listed(views: Viewset, sizes: tuple[int, ...], mode: Preserve, tuples: npt.ArrayLike) -> ListedBox:
    """The answers on a declared list: each tuple once, in rising order."""
    codes = np.unique(coded(tuples, sizes), axis=0)
    if not len(codes):
        raise ValueError("tuples: expected at least one, got none")
    plain = Viewset(views.class_counts, dict(views.counts))  # codes in place of values
    table = {name: codes[:, i] for i, name in enumerate(views.attributes)}
    ordered = mode == "order" and len(views.classes) > 2  # of two classes the best one says all
    answers = plain.order(table) if ordered else plain.predict(table, codes=True)
    return ListedBox(sizes, len(views.classes), mode, _kept(codes), _kept(answers.astype(np.int8)))
