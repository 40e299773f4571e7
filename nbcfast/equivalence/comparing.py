"""`compare`: whether two classifiers are the same on every tuple, and on how many they are not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Longs
from nbcfast._core.threads import ONE_THREAD_BYTES, n_threads
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, rows_from
from nbcfast.equivalence.margins import refuse_no_rows
from nbcfast.equivalence.pairwise import LIMITS, PairwiseComparison, WorkLimits
from nbcfast.equivalence.results import Comparison
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def compare(
    a: Viewset,
    b: Viewset,
    preserve: Preserve = "order",
    *,
    on: AnyTable | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare two classifiers over the whole product domain of their attributes, exactly.

    Up to some 10^14 tuples this is decided without enumerating them. Beyond, the two are equal if one is seen
    to be a transform of the other, and different if a tuple is found that shows it; else the answer is
    undecided, and never a guess.

    Parameters
    ----------
    a, b : Viewset
        With the same classes in the same precedence, the same attributes and the same values; the order of
        attributes and values does not matter.
    preserve : {"order", "label"}
        "order": a tuple differs if X_c > X_d holds in only one of them for some class c of lower precedence
        than d (Definition 2 of the paper: the whole ranking, ties going to the higher precedence). "label":
        if the best class is not the same.
    on : Table, or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). Also find the rows of this table that
        differ, as `rows` of the answer.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, total), in parts of the work; the total grows where more has to be done than
        was foreseen.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If the viewsets are not of the same classes, attributes and values, or have no rows.

    Examples
    --------
    >>> import nbcfast
    >>> a = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    >>> compare(a, nbcfast.Viewset([50, 50], {"job": [[24, 26], [26, 24]]}))
    Comparison(equal order on all 2 tuples, enumeration)
    >>> compare(a, nbcfast.Viewset([50, 50], {"job": [[25, 25], [25, 25]]}))
    Comparison(order differs on 1 of 2 tuples, enumeration; for example {'job': 1}: (0, 1))
    """
    return compared(a, b, preserve, on=on, threads=threads, progress=progress)


def compared(
    a: Viewset,
    b: Viewset,
    preserve: Preserve,
    *,
    on: AnyTable | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    limits: WorkLimits = LIMITS,
) -> Comparison:
    """`compare` with its limits as an argument."""
    used = n_threads(threads, ONE_THREAD_BYTES)
    check_preserve(preserve)
    for views, where in ((a, "a"), (b, "b")):
        expect_viewset(views, where)
        refuse_no_rows(views)
    b = arranged(b, a)
    rows = None if on is None else differing_rows(a, b, on, preserve, threads)
    answer = PairwiseComparison(a, b, preserve, limits, progress, threads=used).answer()
    return answer if rows is None else replace(answer, rows=rows)


def expect_viewset(obj: object, where: str) -> None:
    if not isinstance(obj, Viewset):
        raise TypeError(
            f"{where}: expected a Viewset, got {type(obj).__name__}: "
            "nbcfast.count(table, class_name) makes one"
        )


def check_preserve(preserve: str) -> None:
    choice(preserve, ("order", "label"), "preserve")


def arranged(b: Viewset, a: Viewset) -> Viewset:
    """The second viewset with attributes and values in the order of the first."""
    if b.class_domain != a.class_domain:
        raise ValueError(
            f"expected viewsets of the same classes in the same precedence, got {a.classes} and {b.classes}"
        )
    if set(a.attributes) != set(b.attributes):
        odd = sorted(set(a.attributes) ^ set(b.attributes))[0]
        raise ValueError(f"expected viewsets of the same attributes, got {odd!r} in one of them")
    if a.attributes == b.attributes and all(a.domains[name] == b.domains[name] for name in a.attributes):
        return b
    counts = {}
    for name in a.attributes:
        places = a.domains[name].positions_in(b.domains[name])
        if (places < 0).any() or len(places) != len(b.domains[name]):
            if (places < 0).any():
                odd_value = a.domain(name)[int(np.argmin(places))]
            else:
                places_in_a = b.domains[name].positions_in(a.domains[name])
                odd_value = b.domain(name)[int(np.argmin(places_in_a))]
            raise ValueError(f"attribute {name!r}: value {odd_value!r} is in the domain of one viewset only")
        counts[name] = b.counts[name][places]
    return Viewset.from_parts(b.class_counts, counts, a.class_domain, a.domains)


def differing_rows(a: Viewset, b: Viewset, table: AnyTable, preserve: Preserve, threads: int | None) -> Longs:
    """The rows of a table that the two order, or label, differently."""
    rows = rows_from(table, "compare the classifiers without it, on all tuples", "on")
    if preserve == "order":
        differ = (a.order(rows, threads=threads) != b.order(rows, threads=threads)).any(axis=1)
    else:
        differ = a.predict(rows, codes=True, threads=threads) != b.predict(rows, codes=True, threads=threads)
    return np.flatnonzero(differ)
