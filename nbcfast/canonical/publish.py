"""`release`: the canonical release, a function of a classifier's answers and of public parameters alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nbcfast import safety
from nbcfast._core.dtypes import Array, Counts, Int8s, Longs
from nbcfast._core.errors import Infeasible, expect
from nbcfast._core.numbers import amount_text, as_limit, exact, number_text, power_text
from nbcfast._core.validation import choice, whole
from nbcfast._halves.codes import unravelled
from nbcfast._rounding.rows import Rounded, RowsArgument, Short, checked_rows
from nbcfast._wire.json_entries import canonical_json
from nbcfast.canonical.arguments import expect_progress, table_of
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.boxes.large import MOST_TUPLES, PairsBox, SweptBox
from nbcfast.canonical.boxes.ranked import MOST_ENUMERATED, MOST_SWEPT
from nbcfast.canonical.boxes.types import Box, EnumeratedBox, ListedBox, Scorecard
from nbcfast.canonical.budget import budgeted
from nbcfast.canonical.rounding import SEARCHED, Same, ScorecardPlan, to_rows
from nbcfast.canonical.row_shares import Scores
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.published.release import Canonical, Certificate, PublicList, Release
from nbcfast.published.typed import json_value
from nbcfast.table.domain import Domain
from nbcfast.views import Viewset
from nbcfast.views.flat import usable

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release

AnyBox = Box | EnumeratedBox | ListedBox | PairsBox | SweptBox

SHARPEST = 1 << 64  # Lambda is never made larger than this: posteriors are then certain for all purposes
MOST_BITS = 62
WITHIN = Fraction(9, 8)  # of the range of the weights, for their integers
COUNTED = 1_000_000  # tuples whose answers are counted one by one where they are not held


def release(
    views: Viewset,
    amplification: Any,
    *,
    preserve: Literal["label", "order"] = "label",
    tuples: Any = None,
    bits: int | None = None,
    rows: RowsArgument = "smallest",
    attacker: Literal["row", "worlds"] = "row",
    class_name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Publish a classifier from its answers on the whole domain, and from nothing else.

    Whoever holds the release learns what he would learn by asking the classifier about every tuple, no more
    and no less, and no other exactly equivalent release reveals less: two tables whose classifiers answer
    alike give the same file. How much that is depends on the domain; `leak` measures it.

    The weights of least norm with those answers are rounded to small integers that are verified over the
    whole domain; scores are amplification^(points / range), every value is made equally frequent, and what
    is rounded to rows is compared again, exactly.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class; zeros and ties are welcome. Declare its domains: values that
        come from the rows are a leak that the guarantee does not cover, and the certificate says so.
    amplification : int, Fraction, str or float
        The limit of Lambda, above 1, for a reader who takes the counts for raw ones; up to 2^64.
    preserve : {"label", "order"}
        Keep the best class of every tuple, or the whole order of classes. With two classes both are the same.
    tuples : Table, or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). A public list of tuples, one a row:
        the answers are kept there, and may change elsewhere. Lambda keeps its limit on the whole domain.
        Never the private rows: whoever verifies needs the list, and the certificate has its sha256, by which
        anybody can tell whether a list that he guesses is this.
    bits : int, optional
        Round the points to so many bits, so that they are what rounding gives for their own answers. The
        certificate has the exact number of tuples whose class changes; no equivalence is promised.
    rows : {"smallest", "proven"} or int
        How many rows are published: the fewest found, as many as largest remainder always does with, or
        exactly so many. On small domains the fewest often have a Lambda well below the limit, and flatter
        posteriors than more rows would.
    attacker : {"row", "worlds"}
        "worlds" asks for Lambda <= amplification / 2, which must be above 1.
    class_name : str, optional
        The name of the class column, for synthetic tables.
    threads : int, optional
        By default all cores the process may use; the release does not depend on it.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Release
        With method "canonical" in its certificate, and a `scorecard`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    Infeasible
        If the domain is too large for an exact answer, or a number of rows is too small for one; nothing is
        ever published by another method in its place.

    See Also
    --------
    nbcfast.canonical.leak : What the answers give away; for the publisher alone.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([5, 10], {"job": [[1, 6], [4, 4]], "sex": [[1, 5], [4, 5]]})
    >>> made = release(views, 4)
    >>> made.certificate.method, made.certificate.equal
    ('canonical', True)
    >>> many = nbcfast.Viewset([50, 90], {"job": [[9, 70], [41, 20]], "sex": [[12, 50], [38, 40]]})
    >>> release(many, 4) == made  # the same answers
    True
    """
    expect(views, Viewset, "views")
    expect_progress(progress)
    usable(views)
    rows = checked_rows(rows)
    demanded = as_limit(exact(amplification, "amplification"), "amplification")
    limit = min(safety.allowed_amplification(demanded, attacker), Fraction(SHARPEST))
    choice(preserve, ("label", "order"), "preserve")
    if bits is not None:
        bits = _bits(bits)
    reason = not_here(views, preserve=preserve, listed=tuples is not None)
    if reason is not None:
        raise Infeasible(f"no canonical release: {reason}", {})
    codes = None if tuples is None else listed_codes(views, tuples)
    asked = box(views, mode=preserve, tuples=codes, threads=threads, progress=progress)
    names = nameless_counts(views)

    def boxed(published: Viewset) -> AnyBox:
        return box(published, mode=preserve, tuples=codes, threads=threads)

    return _published(
        asked, names, limit, demanded, bits, rows, boxed, attacker, preserve, class_name, progress
    )


class _Points(NamedTuple):
    """What a certificate says of points: None of one class."""

    card: Scorecard | None
    reproducible: bool
    bits: int | None


def _published(
    asked: AnyBox,
    names: Viewset,
    limit: Fraction,
    demanded: Fraction,
    bits: int | None,
    rows: Any,
    boxed: Callable[[Viewset], AnyBox],
    attacker: Any,
    preserve: Any,
    class_name: str | None,
    progress: Progress | None,
) -> Release:
    """Everything after the box: answers and public parameters in, a release out.

    `names` has no counts, and `boxed` makes the box of counts that are to be published.
    """
    target, points = asked, _Points(None, True, bits)
    if asked.n_classes == 1:
        scores = Scores.single(asked.sizes)
    else:
        solution = solve(asked, progress=progress)
        if bits is None:
            card, reproducible = integers(asked, solution, progress=progress), solution.reproducible
            # Small points are for people. Counts take longer ones, which keep further from the threshold.
            longer = integers(asked, solution, within=WITHIN, progress=progress)
        else:
            card, reproducible = budgeted(asked, solution, bits, progress=progress)
            longer = card
        scores, points = Scores.of(longer), _Points(card, reproducible, bits)
        if card.changed:
            target = answers(card, asked)
    codes = asked.codes if isinstance(asked, ListedBox) else None

    def same(published: Viewset) -> Same:
        return difference(target, boxed(published))

    def wrapped(rounded: Rounded, points: _Points) -> Release:
        equivalence, differing, listed = rounded.equivalence, rounded.differing, None
        if target is not asked:  # what was rounded to are the answers of rounded points, all of them
            assert points.card is not None
            differing = points.card.changed
        if codes is not None:
            assert differing is not None
            listed = PublicList(len(codes), listed_digest(names, codes), differing)
            differing = None
        made = Canonical(
            points=() if points.card is None else tuple(_plain(array) for array in points.card.points),
            constants=() if points.card is None else points.card.constants,
            reproducible=points.reproducible,
            undeclared=undeclared(names),
            bits=points.bits,
            listed=listed,
        )
        certificate = Certificate(
            method="canonical",
            amplification=demanded,
            attacker=attacker,
            preserve=preserve,
            equivalence="none" if differing is None else equivalence,
            tuples=names.n_tuples,
            differing_tuples=differing,
            canonical=made,
        )
        return Release(rounded.views, certificate, class_name)

    plan = ScorecardPlan(scores, names, limit, same, codes, preserve)
    try:
        return wrapped(to_rows(plan, rows), points)
    except Short as short:
        best: dict[str, object] = dict(short.best)
        found = short.rounded
        # Counts that decide otherwise than their points come with points of their own, which no bits limit.
        if found is None or (bits is not None and found.differing != 0):
            found = to_rows(plan, "smallest")
        best["release"] = wrapped(found, points if found.differing == 0 else _points_of(boxed(found.views)))
        best["rows"] = found.views.n_rows
        raise Infeasible(short.why, best) from None


def _points_of(counts: AnyBox) -> _Points:
    """Points that decide as published counts do which no points came before."""
    solution = solve(counts)
    return _Points(integers(counts, solution), solution.reproducible, None)


def _plain(array: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(number) for number in row) for row in array.tolist())


def difference(target: AnyBox, found: AnyBox) -> Same:
    """Whether two boxes have the same answers, and where it can be counted how many differ."""
    method = "enumeration" if target.tuples <= SEARCHED else "meet in the middle"
    if found == target:
        return Same(True, 0, method)
    here, there = _all_answers(target), _all_answers(found)
    if here is None or there is None:
        return Same(False, None, "none")
    wrong = here != there
    return Same(False, int((wrong.any(axis=1) if wrong.ndim > 1 else wrong).sum()), method)


def _all_answers(of: AnyBox) -> Int8s | None:
    """The answers of a box tuple by tuple, or None where they are too many."""
    if isinstance(of, EnumeratedBox | ListedBox):
        return of.labels
    if of.tuples > (SEARCHED if isinstance(of, Box) else COUNTED):
        return None
    if isinstance(of, Box):
        return of.flat()
    codes = unravelled(np.arange(of.tuples), of.sizes)
    return of.orders(codes) if isinstance(of, PairsBox) else of.labels(codes)


def nameless_counts(views: Viewset) -> Viewset:
    """The labels and domains of views, with all counts 0: what may be known besides the answers."""
    counts: dict[str, Counts] = {
        name: np.zeros(array.shape, np.int64) for name, array in views.counts.items()
    }
    classes: Counts = np.zeros(len(views.class_counts), np.int64)
    return Viewset.from_parts(classes, counts, views.class_domain, views.domains)


def undeclared(views: Viewset) -> tuple[str | None, ...]:
    """The attributes whose values were taken from rows, if only a null; and None for the class, last."""
    domains: dict[str | None, Domain] = {None: views.class_domain}
    domains.update(views.domains)
    return tuple(
        name for name in (*views.attributes, None) if not domains[name].declared or domains[name].tail_found
    )


def not_here(
    views: Viewset, *, preserve: str = "label", listed: bool = False, gauge: bool = True
) -> str | None:
    """Why no canonical release of such views can be made, from public facts alone; None where one can."""
    if not gauge:
        return "without the gauge counts say more than the answers"
    if not views.attributes:
        return "there is no attribute"
    tuples, n_classes = views.n_tuples, len(views.classes)
    if listed:
        return None
    size = amount_text(tuples)
    most = MOST_SWEPT if n_classes == 3 else MOST_ENUMERATED
    if n_classes > 2 and preserve == "label" and tuples > most:
        return f"{n_classes} classes reach {_beside(most, tuples)} tuples, and the domain has {size}"
    if tuples > MOST_TUPLES:
        return f"it reaches {_beside(MOST_TUPLES, tuples)} tuples, and the domain has {size}"
    return None


def _beside(most: int, tuples: int) -> str:
    """A limit, written as the number that exceeds it."""
    return power_text(most) if amount_text(tuples).startswith("about") else f"{most:,}"


def listed_codes(views: Viewset, tuples: Any) -> Longs:
    """The rows of a public list as positions in the domains."""
    table = table_of(tuples, "tuples")
    if table.n_rows == 0:
        raise ValueError("tuples: no rows")
    missing = [name for name in views.attributes if name not in table.names]
    if missing:
        raise ValueError(f"tuples must have a column for every attribute, got none named {missing[0]!r}")
    columns = []
    for name in views.attributes:
        column = table.column(name)
        places = column.domain.positions_in(views.domains[name])
        used = np.unique(column.codes)
        strange = used[places[used] < 0]
        if len(strange):
            value = column.domain.values[int(strange[0])]
            raise ValueError(f"tuples: value {value!r} of {name!r} is not in its domain")
        columns.append(places[column.codes])
    return np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0)


def listed_digest(names: Viewset, codes: Longs) -> str:
    """The sha256 of a list: typed values in the order of attributes, tuples in the order of the domains."""
    values = [
        [json_value(value, names.domains[name]) for value in names.domain(name)] for name in names.attributes
    ]
    total = hashlib.sha256()
    for row in codes.tolist():
        listed = [of_attribute[code] for of_attribute, code in zip(values, row, strict=True)]
        total.update((canonical_json(listed) + "\n").encode("ascii"))
    return total.hexdigest()


def _bits(bits: Any) -> int:
    chosen = whole(bits, "bits", expected="an int or None")
    if not 1 <= chosen <= MOST_BITS:
        raise ValueError(f"bits must be 1 to {MOST_BITS}, got {number_text(chosen)}")
    return chosen
