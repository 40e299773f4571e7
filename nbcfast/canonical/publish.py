"""`release`: the canonical release, a function of a classifier's answers and of public parameters alone."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import safety
from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Counts, Longs
from nbcfast._core.errors import Infeasible, expect
from nbcfast._core.numbers import Numeral, amount_text, as_limit, exact, number_text, power_text
from nbcfast._core.validation import choice, whole
from nbcfast._reading.source import AnyTable
from nbcfast._rounding.rows import RowsArgument, checked_rows
from nbcfast._wire.json_entries import canonical_json
from nbcfast.canonical.arguments import expect_progress, table_of
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.halving import MOST_TUPLES
from nbcfast.canonical.boxes.ranked import MOST_ENUMERATED, MOST_SWEPT
from nbcfast.canonical.boxes.types import AnyBox
from nbcfast.canonical.from_answers import Parameters, release_of
from nbcfast.canonical.weights.scorecard import MOST_BITS
from nbcfast.published.advised import Advised
from nbcfast.published.release import Release
from nbcfast.published.typed import json_value
from nbcfast.table.domain import Domain
from nbcfast.views import Viewset
from nbcfast.views.flat import usable
from nbcfast.views.smoothing import constant

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

NO_CANONICAL = "no canonical release"  # how it begins to say that sizes do not allow one
SHARPEST = 1 << 64  # Lambda is never made larger than this: posteriors are then certain for all purposes


def release(
    views: Viewset,
    amplification: Numeral,
    *,
    preserve: Preserve = "label",
    tuples: AnyTable | None = None,
    bits: int | None = None,
    rows: RowsArgument = "smallest",
    attacker: Attacker = "row",
    alpha: Numeral | None = None,
    class_name: str | None = None,
    advice: Advised | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Publish a classifier from its answers on the whole domain, and from nothing else.

    Whoever holds the release learns what he would learn by asking the classifier about every tuple, no more
    and no less: two tables whose classifiers answer alike give the same file. Over declared domains no other
    exactly equivalent release reveals less; where values come from the rows, none does that is equivalent on
    the values that occur. How much it is depends on the domain: `leak` measures it, and a coarser domain is
    another classifier that has to be measured again. The limit binds only readers who take the published
    numbers for raw counts, and not what the answers say by themselves.

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
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). A public list of tuples, one a row: the answers are kept there, and may change elsewhere. Lambda
        keeps its limit on the whole domain. Never the private rows: whoever verifies needs the list, and the
        certificate has its sha256, by which anybody can tell whether a list that he guesses is this.
    bits : int, optional
        Round the points to so many bits, so that they are what rounding gives for their own answers. The
        certificate has the exact number of tuples whose class changes; no equivalence is promised.
    rows : {"smallest", "proven"} or int
        How many rows are published: the fewest found, as many as largest remainder always does with, or
        exactly so many. On small domains the fewest often have a Lambda well below the limit, and flatter
        posteriors than more rows would.
    attacker : {"row", "worlds"}
        "worlds" asks for Lambda <= amplification / 2, which must be above 1.
    alpha : int, Fraction, str or float, optional
        Publish the classifier with so much added to every private count, see `Viewset.smoothed`: a value
        that a class has no row of is then no rule without exceptions, and scores are better. It is public,
        stands in the certificate, and protects nobody.
    class_name : str, optional
        The name of the class column, for synthetic tables.
    advice : Advised, optional
        Where the domain was chosen from a menu: which choice it is, for the certificate. Values of all
        attributes have to be declared.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores; the release does not depend on it.
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
    smoothing = None if alpha is None else constant(alpha)
    if bits is not None:
        bits = _bits(bits)
    reason = not_here(views, preserve=preserve, listed=tuples is not None)
    if reason is not None:
        raise Infeasible(f"{NO_CANONICAL}: {reason}", {})
    codes = None if tuples is None else listed_codes(views, tuples)
    names = nameless_counts(views)
    _expect_choice(advice, names)
    noise = views.noise
    if noise is not None and smoothing is not None:
        raise ValueError("alpha must be None: noisy counts have a constant added already, and no zero")
    if smoothing is not None:
        views = views.smoothed(smoothing)
    asked = box(views, mode=preserve, tuples=codes, threads=threads, progress=progress)
    parameters = Parameters(
        names=names,
        limit=limit,
        demanded=demanded,
        attacker=attacker,
        preserve=preserve,
        bits=bits,
        rows=rows,
        list_digest=None if codes is None else listed_digest(names, codes),
        undeclared=undeclared(names),
        smoothing=None if smoothing is None else Fraction(smoothing),
        privacy=noise,
        class_name=class_name,
        advice=advice,
    )

    def boxed(published: Viewset) -> AnyBox:
        return box(published, mode=preserve, tuples=codes, threads=threads)

    # From here on the private counts are out of reach: `names` has none, and `boxed` gets published ones.
    return release_of(asked, parameters, boxed, progress)


def _expect_choice(advice: Advised | None, from_views: Viewset) -> None:
    """Refuse advice with a domain that no menu has: which values occur would be told besides."""
    if advice is None:
        return
    expect(advice, Advised, "advice")
    names = [name for name in undeclared(from_views) if name is not None]
    if names:
        raise ValueError(
            "advice goes with declared domains, as a menu has them, and values of "
            f"{names[0]!r} come from the rows"
        )
    if len(from_views.attributes) > len(advice.chosen):
        raise ValueError(
            f"advice: expected an option for each of {len(from_views.attributes)} attributes, got "
            f"{len(advice.chosen)}"
        )


def nameless_counts(views: Viewset) -> Viewset:
    """The labels and domains of views, with all counts 0: what may be known besides the answers.

    Domains that were found in the rows are not public, and nothing here hides them: see `undeclared`.
    """
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
    """Why no canonical release of such views can be made, from public facts alone; None where one can.

    From sizes, never from how a solver fares: another method taken because of the counts is a leak outside
    the theorem (docs/mathematics/canonical.md, section 1, what it does not say).
    """
    if not gauge:
        return "without the gauge counts say more than the answers"
    if not views.attributes:
        return "there is no attribute"
    tuples = views.n_tuples
    n_classes = len(views.classes)
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


def listed_codes(views: Viewset, tuples: AnyTable) -> Longs:
    """The rows of a public list as positions in the domains."""
    table = table_of(tuples, "tuples", views.attributes)
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


def _bits(bits: object) -> int:
    chosen = whole(bits, "bits", expected="an int or None")
    if not 1 <= chosen <= MOST_BITS:
        raise ValueError(f"bits must be 1 to {MOST_BITS}, got {number_text(chosen)}")
    return chosen
