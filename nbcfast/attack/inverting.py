"""Inversion: private counts back from published ones.

Two attacks look for powers of small integers: in columns, and, where the gauge hides these, in cross ratios.
Evidence is measured in nats against numbers that fall where they like.

The work is capped by a count of the numbers looked at, WORK, never by a clock, so that the same release
gives the same result everywhere; what was left out for it is said in `Inversion.untried`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._reading.source import AnyTable, table_from
from nbcfast.attack.column_attack import column_attack
from nbcfast.attack.cross_ratios import cross_ratio_attack
from nbcfast.attack.inversion import Allowance, Guesses, Inversion
from nbcfast.attack.queries import check_kinds, viewset
from nbcfast.frames import Frame
from nbcfast.published.release import Release
from nbcfast.views import Viewset, count

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

WORK = 10**8  # numbers looked at by each attack, some 50 ns each


def invert(
    published: Release | Viewset | AnyTable,
    class_name: str | None = None,
    *,
    truth: Viewset | AnyTable | None = None,
    progress: Progress | None = None,
) -> Inversion:
    """Try to get the private counts back from what was published.

    Parameters
    ----------
    published : Release, Viewset, or Table or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). A release, its counts, or a synthetic table made of it.
    class_name : str, optional
        The class column, of tables.
    truth : Viewset, or Table or what it is made of, optional
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private counts: how many of them were recovered is then counted. The attack does not use
        them.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Inversion
        Deterministic. A viewset is taken for one that SafetyTransform made; a release whose certificate says
        that its counts are the private ones is read off.

    Raises
    ------
    TypeError, ValueError
        If `published` is none of these, is not realistic or has no rows, if a table comes without the name
        of its class, or if the truth has other attributes or classes.

    Notes
    -----
    A count N can be read once 2 k N eps < 1, with eps the relative error of what was published. The gauge
    (the default of `safety_transform`) leaves nothing for the column attack. Each attack looks at some 10^8
    numbers at the most, counted and not timed: what it leaves out for that is in `untried`.

    Examples
    --------
    A column of counts 1, 2, 3, .. to the power 1/5, in some 10^9 rows, and what is found of it:

    >>> from nbcfast import Viewset
    >>> roots = [round(10**8 * n ** 0.2) for n in (1, 2, 3, 4, 5, 7, 9, 12, 20)]
    >>> found = invert(Viewset([sum(roots)], [[[root] for root in roots]]))
    >>> found.attack, round(found.k, 4), found.counts["A1"][:, 0].tolist()
    ('column', 5.0, [1, 2, 3, 4, 5, 7, 9, 12, 20])
    """
    views = _published(published, class_name)
    private = None if truth is None else _truth(truth, views, class_name, published)
    if isinstance(published, Release) and published.certificate.identity:
        arrays = {name: np.asarray(array) for name, array in views.counts.items()}
        certainty = {name: np.ones(array.shape) for name, array in arrays.items()}
        inversion = Inversion("identity", 1.0, 1.0, math.inf, arrays, certainty, tried=("identity",))
    else:
        ledger = Allowance(WORK)
        inversion = (
            column_attack(views, ledger)
            or cross_ratio_attack(views, ledger, progress)
            or Guesses(views).inversion(None, None, 0.0, 0.0)
        )
        inversion = replace(inversion, tried=tuple(ledger.tried), untried=tuple(ledger.untried))
    return inversion if private is None else _scored(inversion, views, private)


def _published(published: Release | Viewset | AnyTable, class_name: str | None) -> Viewset:
    if class_name is not None and not isinstance(class_name, str):
        raise TypeError(f"class_name must be a text, got {class_name!r}")
    if isinstance(published, (Release, Viewset)):
        return viewset(published, "published")
    table = _table(published, "published", "a Release, a Viewset")
    if class_name is None:
        raise ValueError("class_name must be given for a table")
    return viewset(count(table, class_name), "published")


def _table(given: AnyTable, where: str, also: str) -> AnyTable:
    """A table to count: a Frame stays where it is."""
    return given if isinstance(given, Frame) else table_from(given, where, also=also)


def _truth(
    truth: Viewset | AnyTable,
    views: Viewset,
    class_name: str | None,
    published: Release | Viewset | AnyTable,
) -> Viewset:
    private: Viewset
    if not isinstance(truth, Viewset):
        table = _table(truth, "truth", "a Viewset")
        name = class_name or getattr(published, "class_name", None)
        if name is None:
            raise ValueError("class_name must be given for a table")
        private = count(table, name, list(views.attributes))
    else:
        private = truth
    missing = [name for name in views.attributes if name not in private.attributes]
    if missing:
        raise ValueError(f"truth must have the attributes that were published, got none named {missing[0]!r}")
    for name in views.attributes:
        theirs, ours = private.domains[name], views.domains[name]
        check_kinds(theirs, ours, f"truth: attribute {name!r}", "what was published")
    lost = np.flatnonzero(views.class_domain.positions_in(private.class_domain) < 0)
    if len(lost):
        label = views.classes[lost[0]]
        raise ValueError(f"truth must have the classes that were published, got no {label!r}")
    return private


def _scored(inversion: Inversion, views: Viewset, truth: Viewset) -> Inversion:
    """An inversion with how many of its counts are right."""
    classes = views.class_domain.positions_in(truth.class_domain)
    by_attribute = {}
    for name, guess in inversion.counts.items():
        places = views.domains[name].positions_in(truth.domains[name])
        true = truth.counts[name][:, classes]
        in_order = true[places]
        in_order[places < 0] = 0
        # Zeros are no counts of anybody: to guess one right recovers nothing.
        by_attribute[name] = int(((guess == in_order) & (in_order > 0)).sum()), int((true > 0).sum())
    return replace(
        inversion,
        recovered=sum(hits for hits, _ in by_attribute.values()),
        positive=sum(number for _, number in by_attribute.values()),
        by_attribute=MappingProxyType(by_attribute),
    )
