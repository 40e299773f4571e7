"""What a release answers to raw rows: classes and posteriors, of tables at once and of streams in blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, cast

import numpy as np

from nbcfast._core.dtypes import Array, Bools, Floats, Longs
from nbcfast._core.errors import NoColumnError
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.threads import n_threads
from nbcfast._core.validation import choice
from nbcfast._reading.row_blocks import RowBlock, blocks_from
from nbcfast._reading.source import AnyTable
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.domains.missing import if_missing, like_nulls
from nbcfast.published.placing import Placing, options_of
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, used_values
from nbcfast.table.table import Table
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.kept_scores import Match, Matching
from nbcfast.views.quality import posteriors
from nbcfast.views.record_scorer import RecordScorer, Unseen
from nbcfast.views.scoring import decide, served_with

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_NAMED = 8  # values or columns that an error lists


@dataclass(frozen=True)
class RowAnswers:
    """What some rows are answered.

    Attributes
    ----------
    codes : ndarray of int
        Positions in the classes; any where a row has no class.
    strays : mapping of name -> ndarray of bool
        For columns that have values which the release does not know: which rows those are.
    probabilities : ndarray of float64, shape (rows, classes), or None
        NaN where a row has no class.
    columns : mapping of name -> Column
        The raw values.
    places : mapping of name -> ndarray of int64
        For each code of a column the position of its value in the release, or -1.
    left_out : collection of str
        Attributes that are left out of a row that has a value which the release does not know: it has a class
        all the same.
    """

    codes: Array
    strays: Mapping[str, Bools]
    probabilities: Floats | None
    columns: Mapping[str, Column]
    places: Mapping[str, Longs]
    left_out: Collection[str] = ()

    @property
    def unknown(self) -> Bools | None:
        """Which rows have no class; None where all have one."""
        return _any_of([mask for name, mask in self.strays.items() if name not in self.left_out])

    @property
    def astray(self) -> Bools | None:
        """Which rows have a value that the release does not know, with a class or without; None for none."""
        return _any_of([*self.strays.values()])

    @property
    def by_prior(self) -> Bools | None:
        """Which rows have a class though all attributes are left out; None for none."""
        if not self.left_out or any(name not in self.strays for name in self.left_out):
            return None
        return reduce(and_, [self.strays[name] for name in self.left_out])


def _any_of(masks: Sequence[Bools]) -> Bools | None:
    return reduce(or_, masks) if masks else None


@dataclass
class Strays:
    """The values that a release does not know, of all rows so far.

    Attributes
    ----------
    rows : dict of name -> int
        In how many rows.
    first : dict of name -> value
        The first one.
    kinds : dict of name -> str or None
        Of what kind the column was that has it.
    like_nulls : dict of name -> list of str
        Those that stand for a missing value in many files.
    """

    rows: dict[str, int] = field(default_factory=dict)
    first: dict[str, Value] = field(default_factory=dict)
    kinds: dict[str, str | None] = field(default_factory=dict)
    like_nulls: dict[str, list[str]] = field(default_factory=dict)

    def add(self, answers: RowAnswers) -> None:
        """Those of some more rows."""
        for name, mask in answers.strays.items():
            column = answers.columns[name]
            self.rows[name] = self.rows.get(name, 0) + int(np.count_nonzero(mask))
            if name not in self.first:
                self.first[name] = column.domain.values[int(column.codes[int(mask.argmax())])]
                self.kinds[name] = column.domain.kind
            found = like_nulls(column.domain.values[code] for code in np.unique(column.codes[mask]).tolist())
            known = self.like_nulls.setdefault(name, [])
            known += [text for text in found if text not in known]

    def add_value(self, name: str, domain: Domain) -> None:
        """The one value of a domain, which one row has."""
        self.rows[name], self.first[name], self.kinds[name] = 1, domain.values[0], domain.kind
        self.like_nulls[name] = like_nulls(domain.values)


class Answering:
    """How raw rows are answered by a release, or by the one of several that a column selects.

    Parameters
    ----------
    views : sequence of Viewset
        One, or one for each value of `by`.
    domains : mapping of name -> Domain
        Of the attributes, and before them of `by`.
    by : str, optional
        The column that selects.
    declared : Declared or what it is made of, optional
        What the release was published with.
    words : Arguments
        Those of the caller.
    """

    def __init__(
        self,
        views: Sequence[Viewset],
        domains: Mapping[str, Domain],
        by: str | None = None,
        declarations: Declarations | Declared | None = None,
        words: Arguments = ARGUMENTS,
    ) -> None:
        self.views, self.domains, self.by, self.words = views, domains, by, words
        self.names = list(domains)
        self.n_classes = len(views[0].classes)
        self.labels = views[0].kept.labels(views[0].class_domain)
        self._matching = Matching(self.names, self.place)
        self._scorer: RecordScorer | None = None
        made = None if declarations is None else declared(declarations, words)
        options = options_of(domains, made)
        self.placings = {name: Placing(domain, options.get(name)) for name, domain in domains.items()}

    def place(self, name: str, domain: Domain) -> Longs:
        """For each raw value of a column its position in the release, or -1."""
        return self.placings[name].places(domain)

    def scorer(self, unseen: str) -> RecordScorer:
        """What decides one record after the other; see `Release.scorer`."""
        _check(unseen)

        def refusal(unknown: Mapping[str, Domain]) -> ValueError:
            strays = Strays()
            for name, domain in unknown.items():
                strays.add_value(name, domain)
            return self.refusal(strays, unseen)

        served = [served_with(views, 0, unseen) for views in self.views]
        asked = cast("Unseen", unseen)
        return RecordScorer(self.domains, self.place, refusal, served, self.views[0].classes, asked, self.by)

    def decided(self, table: Table, threads: int | None) -> Array | None:
        """The codes of all rows of a table; None where some value may be unknown, or columns select."""
        if self.by is not None:
            return None
        try:
            columns = table.several(self.names)
        except NoColumnError:
            return None
        match = self._matching.of(columns)
        if not match.is_complete:
            return None
        codes = [column.codes for column in columns]
        return decide(self.views[0], codes, match, table.n_rows, 0, threads, None)[0]

    def decided_record(self, columns: Mapping[str, object]) -> int | None:
        """The code of the class of the one row of columns, if it can be told without a table; else None."""
        if len(columns) != len(self.names) or set(map(type, columns.values())) != {list}:
            return None
        if self._scorer is None:
            self._scorer = self.scorer("error")
        return self._scorer.code_if_known(columns)

    def blocks(self, table: AnyTable) -> Iterator[RowBlock]:
        """The rows of a table argument: one block of what is in memory."""
        try:
            yield from blocks_from(table, self.names)
        except NoColumnError as error:
            if error.where:
                raise
            raise NoColumnError(error.name, error.present, "table") from None

    def answers(
        self,
        block: RowBlock,
        *,
        proba: bool = False,
        leave_out: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> RowAnswers:
        """What the rows of a block are answered, with unknown values or without the attributes of those."""
        places, strays = {}, {}
        for name in self.names:
            column = block.columns[name]
            places[name] = self.placings[name].places(column.domain)
            absent = places[name] < 0
            if (absent & (used_values(column.codes, len(column.domain)) != 0)).any():
                strays[name] = absent[column.codes]
        dtype = np.dtype(np.uint8 if self.n_classes <= 256 else np.uint16)
        codes: Array = np.zeros(block.n_rows, dtype)
        probabilities = np.full((block.n_rows, self.n_classes), np.nan) if proba else None
        done = 0
        for views, rows in self._split(block, places):
            columns = [block.columns[name].codes for name in views.attributes]
            columns = columns if rows is None else [column[rows] for column in columns]
            tables = [places[name] for name in views.attributes]
            n_rows = block.n_rows if rows is None else len(rows)
            within = None if self.by else progress
            match = Match(tables)
            found, _ = decide(views, columns, match, n_rows, 0, threads, within, leave_out=leave_out)
            chosen = slice(None) if rows is None else rows
            codes[chosen] = found
            done += n_rows
            if progress is not None:
                progress(done, block.n_rows)
            if probabilities is not None:
                probabilities[chosen] = posteriors(views, columns, tables, found)
        left_out = [name for name in self.names if leave_out and name != self.by]
        answers = RowAnswers(codes, strays, probabilities, block.columns, places, left_out)
        unknown = answers.unknown
        if probabilities is not None and unknown is not None:
            probabilities[unknown] = np.nan
        return answers

    def _split(self, block: RowBlock, places: Mapping[str, Longs]) -> Iterator[tuple[Viewset, Longs | None]]:
        """Each classifier with its rows; None for all."""
        if self.by is None:
            yield self.views[0], None
            return
        stratum = places[self.by][block.columns[self.by].codes]
        for number, views in enumerate(self.views):
            yield views, np.flatnonzero(stratum == number)

    def refused(self, strays: Strays, unseen: str) -> bool:
        """Whether rows have values that nothing is answered for: of `by` nothing can be left out or be 0."""
        return bool(strays.rows) if unseen == "error" else unseen != "null" and self.by in strays.rows

    def refuse(self, strays: Strays, unseen: str = "error") -> None:
        """ValueError, about all of them, where rows are refused."""
        if self.refused(strays, unseen):
            raise self.refusal(strays, unseen)

    def refusal(self, strays: Strays, unseen: str) -> ValueError:
        """The error about rows that are refused."""
        if self.by in strays.rows:
            more = "; what selects the release cannot be left out" if unseen == "ignore" else ""
            return ValueError(self._no_release(strays.first[self.by]) + more)
        return ValueError(self.unseen_text(strays))

    def _no_release(self, value: Value) -> str:
        assert self.by is not None
        values = self.domains[self.by].values
        known = [repr(one) for one in values[:MOST_NAMED]]
        more = len(values) - len(known)
        last = [f"{more:,} more"] if more else [known.pop()] if len(known) > 1 else []
        there = " and ".join([", ".join(known), *last])
        return f"column {self.by!r}: value {value!r} has no release; there are releases of {there}"

    def unseen_text(self, strays: Strays) -> str:
        """Which columns have values that the release does not know, in how many rows, and what mends it."""
        parts = []
        for name, n in list(strays.rows.items())[:MOST_NAMED]:
            more = "" if n == 1 else f", as are those of {n - 1:,} more {'row' if n == 2 else 'rows'}"
            parts.append(f"column {name!r}: value {strays.first[name]!r} is unknown to the release{more}")
        if len(strays.rows) > MOST_NAMED:
            parts.append(f"and {len(strays.rows) - MOST_NAMED:,} more columns")
        hints = dict.fromkeys(hint for name in strays.rows for hint in self._hints(name, strays))
        return "; ".join([*parts, *hints, self.words.unseen()])

    def missing(self, name: str, strays: Strays) -> str:
        """What reads texts as null that stand for a missing value in many files, if null was published."""
        texts = strays.like_nulls[name]
        if not texts or None not in self.domains[name].values:
            return ""
        return if_missing(texts, self.words, empty=True)  # which is read as null unless other texts are

    def _hints(self, name: str, strays: Strays) -> list[str]:
        """What may be the matter with a column."""
        texts, first = strays.like_nulls[name], strays.first[name]
        hints = [self.missing(name, strays)]
        if texts and not hints[0]:
            hints = [f"{texts[0]!r} may say that a value is missing, and null was not published as a value"]
        if first not in texts:
            hints.append(self._of_kinds(name, strays))
        return [hint for hint in hints if hint]

    def _of_kinds(self, name: str, strays: Strays) -> str:
        placing, kind = self.placings[name], strays.kinds[name]
        ours = placing.domain.kind
        first = strays.first[name]
        if first is None:
            return "null was not published as a value"
        if like_nulls([first]) and None in placing.domain.values:
            return if_missing([str(first)], self.words, empty=False)
        if ours in ("int", "float") and kind in ("bool", "interval"):
            return f"the release holds values of kind {ours}, the table {kind}"
        if ours == "text" and kind in ("int", "float", "bool", "interval") and placing.option is None:
            return (
                f"the release holds texts, the table values of kind {kind}: read them as text, or give "
                f"{self.words.as_published()} if they are names of bins"
            )
        if placing.option is None and ours == "text":
            return (
                "the release may have been made with sets of values, or bins that have names, and what is in "
                f"them is not in its certificate: give {self.words.as_published()}"
            )
        return ""


def predict(
    answering: Answering,
    table: AnyTable,
    labels: Array | None,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
) -> Array:
    """The class of every row, as a label or (without labels) a position; see `Release.predict`."""
    if progress is None and type(table) is Table:
        _check(unseen)
        codes = answering.decided(table, threads)
        if codes is not None:
            return _labelled(RowAnswers(codes, {}, None, {}, {}), labels, unseen)
    if progress is None and type(table) is dict:
        _check(unseen)
        code = answering.decided_record(table)
        if code is not None:
            n_threads(threads, 0)
            given = (
                np.array([code], np.uint8 if answering.n_classes <= 256 else np.uint16)
                if labels is None
                else labels[code : code + 1].copy()
            )
            return given if unseen != "null" else np.ma.MaskedArray(given, [False])
    found = _all(answering, table, unseen, threads, progress, proba=False)
    return joined((_labelled(answers, labels, unseen) for answers in found), labels, answering, unseen)


def predict_proba(
    answering: Answering, table: AnyTable, unseen: str, threads: int | None, progress: Progress | None
) -> Floats:
    """The posteriors of every row; see `Release.predict_proba`."""
    found = _all(answering, table, unseen, threads, progress, proba=True)
    parts = [answers.probabilities for answers in found if answers.probabilities is not None]
    return np.concatenate(parts) if parts else np.zeros((0, answering.n_classes))


def predict_batches(
    answering: Answering, table: AnyTable, labels: Array | None, unseen: str, threads: int | None
) -> Iterator[Array]:
    """The classes block by block; see `Release.predict_batches`."""
    _check(unseen)
    strays = Strays()
    for block in answering.blocks(table):
        answers = answering.answers(block, leave_out=unseen == "ignore", threads=threads)
        strays.add(answers)
        answering.refuse(strays, unseen)
        yield _labelled(answers, labels, unseen)


def _check(unseen: str) -> None:
    choice(unseen, ("error", "ignore", "null", "zero"), "unseen")


def _all(
    answering: Answering,
    table: AnyTable,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
    *,
    proba: bool,
) -> list[RowAnswers]:
    """The answers to all rows; ValueError, about all of them, where some have none."""
    _check(unseen)
    if proba and unseen == "zero":
        raise ValueError("unseen must be 'error', 'ignore' or 'null' for probabilities, got 'zero'")
    strays, found, done = Strays(), [], 0
    at_once = isinstance(table, Table | Mapping)
    for block in answering.blocks(table):
        within = progress if at_once else None
        answers = answering.answers(
            block, proba=proba, leave_out=unseen == "ignore", threads=threads, progress=within
        )
        strays.add(answers)
        # What was read is not kept: of a stream only the answers stay in memory.
        found.append(replace(answers, columns={}, places={}))
        done += block.n_rows
        if progress is not None and not at_once:
            progress(done, done)
    answering.refuse(strays, unseen)
    return found


def _labelled(answers: RowAnswers, labels: Array | None, unseen: str) -> Array:
    given: Array = answers.codes if labels is None else labels[answers.codes]
    if unseen != "null":
        return given
    unknown = answers.unknown
    return np.ma.MaskedArray(given, np.zeros(len(given), bool) if unknown is None else unknown)


def joined(parts: Iterable[Array], labels: Array | None, answering: Answering, unseen: str) -> Array:
    """Blocks one after another; of none what they would have been."""
    listed = list(parts)
    if not listed:
        codes = np.zeros(0, np.uint8 if answering.n_classes <= 256 else np.uint16)
        listed = [_labelled(RowAnswers(codes, {}, None, {}, {}), labels, unseen)]
    if len(listed) == 1:
        return listed[0]
    together = np.concatenate([np.ma.getdata(part) for part in listed])
    if unseen != "null":
        return together
    return np.ma.MaskedArray(together, np.concatenate([np.ma.getmaskarray(part) for part in listed]))
