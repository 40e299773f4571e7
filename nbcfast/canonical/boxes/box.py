"""`box`: counts to labels. What publishes sees no private counts after it.

That two vectors are the whole box: docs/mathematics/canonical.md, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import expect
from nbcfast._core.threads import n_threads
from nbcfast._core.validation import choice
from nbcfast._halves.lines import Line, both
from nbcfast._halves.split import TwoHalves
from nbcfast._halves.terms import FixedLogs, Plain
from nbcfast.canonical.arguments import expect_progress
from nbcfast.canonical.boxes import ranked
from nbcfast.canonical.boxes.halving import half_of_each, halves
from nbcfast.canonical.boxes.types import AnyBox, Box
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def box(
    views: Viewset,
    *,
    mode: Preserve = "label",
    tuples: npt.ArrayLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> AnyBox:
    """Everything a classifier answers on its product domain, exactly, and nothing else about it.

    Scores are X_c = P_c^(1-n) prod_i N^i_{t_i,c}; zeros count as zeros, and a tie goes to the later class.
    Two viewsets with the same answers have equal boxes, whatever their counts.

    Parameters
    ----------
    views : Viewset
        The classifier.
    mode : {"label", "order"}
        Whether the box holds the class of largest score, or the whole order of the classes. With two
        classes this is the same.
    tuples : array_like of int, shape (tuples, attributes), optional
        A declared list of tuples, as positions in the domains: the box is restricted to them.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Box, EnumeratedBox, SweptBox, PairsBox or ListedBox
        A Box for one or two classes, for more an EnumeratedBox, a SweptBox (three, above 10^7 tuples) or a
        PairsBox (whole orders), a ListedBox with `tuples`.

    Raises
    ------
    Infeasible
        If the domain has more than 5 * 10^11 tuples (10^7 or 10^10 for more classes).
    ValueError
        If the views have no rows or no attributes.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]], "sex": [[1, 4], [4, 1]]})
    >>> found = box(views)
    >>> found, found.label((1, 0)), found.label((0, 1))
    (Box(2 x 2 = 4 tuples, 2 of label 0), 1, 0)
    """
    expect(views, Viewset, "views")
    expect_progress(progress)
    choice(mode, ("label", "order"), "mode")
    if views.n_rows == 0:
        raise ValueError("views: expected rows, got no rows")
    if not views.attributes:
        raise ValueError("views: expected at least one attribute, got none")
    sizes = tuple(len(array) for array in views.counts.values())
    if 0 in sizes:
        raise ValueError(f"views: attribute {views.attributes[sizes.index(0)]!r} has no values")
    n_classes = len(views.class_counts)
    if n_classes > 2:
        return ranked.box(views, mode=mode, tuples=tuples, threads=threads, progress=progress)
    if tuples is not None:
        return ranked.listed(views, sizes, mode, tuples)
    parts = halves(sizes)
    if n_classes == 1:
        K = np.full(parts.n, parts.m, np.int64)
        L = np.full(parts.m, parts.n, np.int64)
    else:
        K, L = _counted(Plain.of(views), parts, threads)
    K.flags.writeable = L.flags.writeable = False
    if progress is not None:
        progress(1, 1)
    return Box(sizes, half_of_each(parts, len(sizes)), n_classes, "label", K, L)


def _counted(plain: Plain, parts: TwoHalves, threads: int | None) -> tuple[Longs, ...]:
    """K and L: sums of logarithms are sorted and searched, and integers decide what is close."""
    line = Line(plain.base(0, 1), plain.terms(0, 1), parts, FixedLogs())
    a, (sums, order) = both(line.list_a, line.list_b, n_threads(threads, 24 * (parts.n + parts.m)))
    above = line.thresholds(line.lists_of(*a, sums, order), ()).astype(np.int64)
    in_order = np.cumsum(np.bincount(above, minlength=parts.m + 1))[: parts.m]
    L = np.empty(parts.m, np.int64)
    L[order] = in_order
    return parts.m - above, L
