"""Who shows in several releases together: a row leaves a trace if one that contains it changes without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nbcfast._core.chances import bound_text
from nbcfast._core.dtypes import Bools, Longs
from nbcfast._core.threads import Progress
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, expect_rows
from nbcfast.canonical.arguments import table_of
from nbcfast.canonical.boxes.types import AnyBox
from nbcfast.canonical.exchanges import PeopleRows, TooManyTiesError, flip_and_trace, work
from nbcfast.canonical.leak import MOST_SAMPLE, MOST_WORK, SAMPLE
from nbcfast.canonical.leave_one_out import at_most, drawn_places
from nbcfast.views import Viewset


class TableRows(NamedTuple):
    """The rows of a table in their order, as positions in the domains of views.

    Attributes
    ----------
    codes : ndarray of int64, shape (rows, attributes)
    of_class : ndarray of int64, shape (rows,)
    weights : ndarray of int64, shape (rows,)
        How many people a row stands for.
    """

    codes: Longs
    of_class: Longs
    weights: Longs

    @classmethod
    def of(cls, given: AnyTable, class_name: str | None, views: Viewset) -> TableRows:
        """The rows of a table that views count; ValueError if they count another one."""
        expect_rows(given, "a ledger takes those that were added in their order: give a Table")
        table = table_of(given, "table")
        if class_name is None:
            raise ValueError("class_name must name the class column of the table, got None")
        codes = []
        for name, domain in (*views.domains.items(), (class_name, views.class_domain)):
            column = table.column(name)
            places = column.domain.positions_in(domain)[column.codes]
            if (places < 0).any():
                value = column.domain.values[column.codes[np.flatnonzero(places < 0)[0]]]
                raise ValueError(f"table: value {value!r} of {name!r} is not in the views")
            codes.append(places.astype(np.int64))
        weights = np.ones(table.n_rows, np.int64) if table.weights is None else table.weights.astype(np.int64)
        rows = cls(np.stack(codes[:-1], axis=1), codes[-1], weights)
        if not rows.first_counts([(table.n_rows, views)])[0]:
            raise ValueError("table must be the one that the views count, and its counts are others")
        return rows

    def first(self, people: int) -> int | None:
        """How many rows stand for the first so many people; None where the last stands for more."""
        ends = np.cumsum(self.weights)
        place = int(np.searchsorted(ends, people))
        return place + 1 if place < len(ends) and ends[place] == people else None

    def first_counts(self, asked: Sequence[tuple[int, Viewset]]) -> list[bool]:
        """Of so many first rows each, whether these are the counts of them."""
        found = [False] * len(asked)
        if not asked:
            return found
        counts = [np.zeros(array.shape, np.int64) for array in asked[0][1].counts.values()]
        class_counts, done = np.zeros(len(asked[0][1].class_counts), np.int64), 0
        for place in sorted(range(len(asked)), key=lambda place: asked[place][0]):
            end, views = asked[place]
            part = slice(done, end)
            np.add.at(class_counts, self.of_class[part], self.weights[part])
            for i, array in enumerate(counts):
                np.add.at(array, (self.codes[part, i], self.of_class[part]), self.weights[part])
            done = end
            found[place] = np.array_equal(class_counts, views.class_counts) and all(
                np.array_equal(array, other)
                for array, other in zip(counts, views.counts.values(), strict=True)
            )
        return found


class EarlierCounts(NamedTuple):
    """The counts of an earlier release, and which rows of today it has.

    Attributes
    ----------
    views : Viewset
    answers : AnyBox
        All its answers.
    first : int or None
        The rows before this one are known to be all that is in it; None where that is not known, and every
        row that its counts allow is taken to be in it.
    """

    views: Viewset
    answers: AnyBox
    first: int | None


@dataclass(frozen=True)
class JointTrace:
    """Who shows in several releases together.

    Attributes
    ----------
    people : int
        Those looked at.
    flipped : int
        Those of them whose class can be exchanged for every other one without an answer of any release that
        contains them changing.
    traceless : int
        Those who can be left out of all of them.
    exact : bool
        Whether everybody in the table was looked at, and not a sample.
    known : bool
        Whether it is known which releases contain whom; else who shows is an upper bound, as everybody was
        taken to be in each that may contain him.
    releases : int
        How many there are together.
    """

    people: int
    flipped: int
    traceless: int
    exact: bool
    known: bool
    releases: int

    @property
    def flip(self) -> float:
        """The share of people whose class does not show."""
        return _share(self.flipped, self.people)

    @property
    def trace(self) -> float:
        """The share of people whose presence does not show."""
        return _share(self.traceless, self.people)

    @property
    def flip_shows_at_most(self) -> float | None:
        """Of a sample, the 95 % upper bound of the share of people whose class shows."""
        return None if self.exact else at_most(self.people - self.flipped, self.people)

    @property
    def trace_shows_at_most(self) -> float | None:
        """Of a sample, the 95 % upper bound of the share of people whose presence shows."""
        return None if self.exact else at_most(self.people - self.traceless, self.people)

    @property
    def presence_text(self) -> str:
        """How many are seen to be in the table, for the publisher."""
        return self._text("presence", self.traceless, self.trace_shows_at_most)

    @property
    def class_text(self) -> str:
        """Of how many the class shows, for the publisher."""
        return self._text("class", self.flipped, self.flip_shows_at_most)

    def _text(self, what: str, kept: int, most: float | None) -> str:
        together = "in this release" if self.releases == 1 else f"in {self.releases:,} releases together"
        bound = "" if self.known or kept == self.people else "at most "
        of = f"{self.people:,} people{'' if self.exact else ' looked at'}"
        sample = "" if most is None else f" (at most {bound_text(most)} of all, 95 % sure)"
        return f"{together} the {what} of {bound}{self.people - kept:,} of {of} shows{sample}"

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "people": self.people,
            "flip": self.flip,
            "trace": self.trace,
            "flip_shows_at_most": self.flip_shows_at_most,
            "trace_shows_at_most": self.trace_shows_at_most,
            "exact": self.exact,
            "known": self.known,
            "releases": self.releases,
        }


def _share(people: int, of: int) -> float:
    """1 for all of them alone."""
    share = people / of
    return math.nextafter(1, 0) if share == 1 and people < of else share


def joint_trace(
    rows: TableRows,
    views: Viewset,
    answers: AnyBox,
    earlier: Sequence[EarlierCounts],
    *,
    smoothing: Fraction | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> JointTrace:
    """Who of today's rows shows in today's answers and those of earlier releases together, exactly.

    A row leaves no trace if and only if no release that contains it changes when it is left out of its table;
    its class does not show if and only if none changes when it is exchanged for any other class. Everybody is
    looked at as far as some seconds of work go, by counted work, and beyond that a sample.
    """
    releases = [EarlierCounts(views, answers, len(rows.codes)), *earlier]
    one = sum(work(release.answers, 1) for release in releases)
    distinct, of_row = _distinct(rows)
    exact = one * len(distinct.weights) <= 4 * MOST_WORK
    if exact:
        try:
            return _looked_at(
                rows,
                distinct,
                of_row,
                np.arange(len(of_row)),
                rows.weights,
                releases,
                smoothing,
                True,
                threads,
                progress,
            )
        except TooManyTiesError:
            pass
    places = drawn_places(rows.weights, max(SAMPLE, min(MOST_WORK // one, MOST_SAMPLE)))
    drawn = TableRows(rows.codes[places], rows.of_class[places], np.ones(len(places), np.int64))
    distinct, of_row = _distinct(drawn)
    return _looked_at(
        drawn, distinct, of_row, places, drawn.weights, releases, smoothing, False, threads, progress
    )


def _looked_at(
    rows: TableRows,
    distinct: PeopleRows,
    of_row: Longs,
    places: Longs,
    weights: Longs,
    releases: Sequence[EarlierCounts],
    smoothing: Fraction | None,
    exact: bool,
    threads: int | None,
    progress: Progress | None,
) -> JointTrace:
    """Of rows at these places of the table, who shows."""
    n_rows = int(places.max()) + 1
    # Of each distinct row, the place from which on no release shows it that contains rows before that place.
    flip_from, trace_from = (np.zeros(len(distinct.weights), np.int64) for _ in range(2))
    for done, release in enumerate(releases):
        shown = flip_and_trace(
            release.answers,
            release.views,
            distinct,
            alpha=smoothing,
            most_work=MOST_WORK if exact else None,
            threads=threads,
        )
        reach = n_rows if release.first is None else release.first
        may_have = _may_have(release.views, distinct)
        for kept, start in ((shown.flip, flip_from), (shown.trace, trace_from)):
            here = ~kept & may_have
            start[here] = np.maximum(start[here], reach)
        if progress is not None:
            progress(done + 1, len(releases))
    return JointTrace(
        people=sum(weights.tolist()),
        flipped=sum(weights[places >= flip_from[of_row]].tolist()),
        traceless=sum(weights[places >= trace_from[of_row]].tolist()),
        exact=exact,
        known=all(release.first is not None for release in releases),
        releases=len(releases),
    )


def _may_have(views: Viewset, rows: PeopleRows) -> Bools:
    """Which rows may be among those that views count."""
    possible = np.ones(len(rows.weights), bool)
    for i, array in enumerate(views.counts.values()):
        possible &= array[rows.codes[:, i], rows.of_class] > 0
    return possible


def _distinct(rows: TableRows) -> tuple[PeopleRows, Longs]:
    """Each row once, and of each row which one it is."""
    joint = np.column_stack([rows.codes, rows.of_class])
    found, of_row = np.unique(joint, axis=0, return_inverse=True)
    of_row = of_row.reshape(-1).astype(np.int64)
    weights = np.zeros(len(found), np.int64)
    np.add.at(weights, of_row, rows.weights)
    return PeopleRows(found[:, :-1].astype(np.int64), found[:, -1].astype(np.int64), weights), of_row
