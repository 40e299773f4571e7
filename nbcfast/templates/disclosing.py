"""Top-down disclosure: what to suppress so that all templates hold, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from nbcfast import _disclose
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import exact, number_text
from nbcfast._core.validation import whole
from nbcfast._reading.source import table_from
from nbcfast.table import SUPPRESSED, Column, Domain, Interval, Table
from nbcfast.table.encode import recode, used_values
from nbcfast.table.values import Value
from nbcfast.templates.distinct_rows import Part, distinct_rows, numbered
from nbcfast.templates.inferences import at_most, expect_known
from nbcfast.templates.results import Disclosure, Step, _frozen
from nbcfast.templates.template import Template, checked, merged, position
from nbcfast.views.tallying import tally

Report = Callable[[int, int], object]

UTILITIES = ("information", "distortion")
TALLIED = 1 << 16  # values of a column up to which the counting kernel is made for it


@dataclass(frozen=True)
class Masked:
    """A column that may be suppressed.

    Attributes
    ----------
    places : ndarray of int64
        The positions, in the domain, of the values that occur: in the order of the domain, or rising for a
        continuous column.
    map : ndarray of int64
        For each position its place among those.
    """

    name: str
    column: Column
    continuous: bool
    places: Longs
    map: Longs

    @classmethod
    def of(cls, table: Table, name: str, continuous: bool) -> Masked:
        column = table.column(name)
        domain = column.domain
        if SUPPRESSED in domain.tail:
            raise ValueError(f"table: column {name!r} holds SUPPRESSED already, and is to be suppressed")
        places = np.flatnonzero(used_values(column.codes, len(domain)))
        if continuous:
            if domain.kind not in ("int", "float"):
                raise ValueError(f"continuous: expected a column of numbers, {name!r} holds {domain.kind}")
            if None in domain.tail and (places == len(domain) - 1).any():
                raise ValueError(f"continuous: column {name!r} has nulls: drop them, or leave it categorical")
            numbers = domain.numbers[places]
            if domain.kind == "float" and not np.isfinite(numbers).all():
                raise ValueError(f"continuous: column {name!r} has numbers that are not finite")
            places = places[np.argsort(numbers, kind="stable")]
        table_of = np.zeros(len(domain), np.int64)
        table_of[places] = np.arange(len(places))
        return cls(name, column, continuous, places, table_of)

    @property
    def most_steps(self) -> int:
        return len(self.places) - self.continuous

    def value(self, place: int) -> Any:
        """The value with this code, or the number of a cut as intervals hold it."""
        found = self.column.domain.values[self.places[place]]
        return exact(found, "cut") if self.continuous else found

    def released(self, disclosed: list[int]) -> Column:
        """The column once these values are disclosed, or the column cut there."""
        domain = self.column.domain
        if self.continuous:
            cuts = sorted(disclosed)
            ends = [None, *(self.value(cut) for cut in cuts), None]
            intervals: list[Value] = [Interval(low, high) for low, high in pairwise(ends)]
            released = Domain("interval", intervals, (), False)
            codes = np.searchsorted(np.array(cuts, np.int64), self.map, side="right")
            return Column(recode(self.column.codes, codes, len(released)), released)
        shown = np.sort(self.places[np.array(disclosed, np.int64)])
        if len(shown) == len(self.places):
            released = domain.subset(shown)
            released = Domain(released.kind, released.head, released.tail, False)
            table_of = np.zeros(len(domain), np.int64)
        else:
            kept = domain.subset(shown)
            released = Domain(kept.kind, kept.head, (*kept.tail, SUPPRESSED), False)
            table_of = np.full(len(domain), len(shown), np.int64)
        table_of[shown] = np.arange(len(shown))
        return Column(recode(self.column.codes, table_of, len(released)), released)

    def withheld(self, disclosed: list[int]) -> dict[int, Value]:
        """The values that are not disclosed, by their codes."""
        values = self.column.domain.values
        rest = np.delete(np.arange(len(self.places)), np.array(disclosed, np.int64))
        return {place: values[self.places[place]] for place in rest.tolist()}


def disclose(
    table: Any,
    templates: Iterable[Template],
    target: str | None = None,
    *,
    utility: Literal["information", "distortion"] = "information",
    require_beneficial: bool = True,
    continuous: Iterable[str] = (),
    max_steps: int | None = None,
    progress: Report | None = None,
) -> Disclosure:
    """Suppress values until no inference is more confident than its template allows, and no more than that.

    All values of the columns that templates take for known are suppressed first, and then disclosed one
    after another (a continuous column starts as one interval, which is cut), always the one with the highest
    Score = InfoGain / (PrivLoss + 1) of those after which all templates still hold. After Wang, Fung, Yu,
    "Handicapping attacker's confidence" (KAIS 2006). The target and sensitive columns are never suppressed.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The private table; its weights are
        counted.
    templates : sequence of Template
        With different quasi-identifiers, sensitive columns and values. Of several about the same inference
        the one with the smallest limit counts.
    target : str, optional
        The column that the table is published to predict. Needed with utility "information".
    utility : {"information", "distortion"}
        What InfoGain is: that of the disclosure for the target among the records with the suppressed value,
        in bits; or the number of records that have the value, which keeps as many values as possible.
        (A continuous column is then cut where its interval is halved most evenly.)
    require_beneficial : bool
        Disclose only while the records with a suppressed value (or in an interval) hold at least two
        classes, as the paper does. Without it a table is made of which nothing more can be disclosed.
    continuous : sequence of str
        Columns of numbers to publish as intervals.
    max_steps : int, optional
        Disclose no more often than this.
    progress : callable, optional
        Called as progress(done, most) when it is known that the templates can hold, and after each step;
        False as its result ends the search.

    Returns
    -------
    Disclosure
        All templates hold in its table, exactly. So they do where `max_steps`, `progress` or Ctrl-C ended
        the search early. Ctrl-C before that, while the distinct rows are collected, raises KeyboardInterrupt:
        whether any table keeps the templates is not known yet.

    Raises
    ------
    Infeasible
        If even the most suppressed table breaks a template; with the confidence of each such template under
        "confidences".
    ValueError
        If a column or value is not in the table, there is no target, or there are no rows; if a column to be
        suppressed holds SUPPRESSED already, or a continuous one nulls or numbers that are not finite.

    Notes
    -----
    Validity is decided with integers. Scores are floats: those within 1e-12 of the best (or of 1, where the
    best is less) tie, and then the first column of the table wins, and in it the value that comes first in
    its domain. Nothing depends on the order of the rows.

    Of the same interval always the same cut is tried, that with the highest InfoGain (of several the
    lowest); where it breaks a template the interval stays.

    Memory grows with the distinct rows (of the quasi-identifier and which sensitive values a row has), the
    columns and the number K of sensitive values: for each quasi-identifier at most

        rows x (columns x (10 + 4 K) + 8 K + 100) + values x (12 K + 100) bytes

    with the values of all its columns together, and twice that for 2^32 people or 65,536 values of a column
    and more. Groups of few rows have no histograms, which is what bounds those of all others. `peak_bytes`
    of the result is what the search really took; it is about 70 bytes a row for seven columns and three
    sensitive values at 90 %.

    A step looks at the rows that it moves, and of their groups at each value that may still be disclosed, K
    times; so a column of very many values that are disclosed one by one takes a time that grows with the
    square of their number. `max_steps` and `progress` end that where it is enough.

    Examples
    --------
    >>> import nbcfast
    >>> from nbcfast.templates import Template
    >>> table = nbcfast.Table({
    ...     "job": ["cook", "cook", "clerk", "clerk", "judge", "judge"],
    ...     "ill": ["no", "no", "no", "yes", "no", "no"],
    ...     "rating": ["good", "good", "bad", "bad", "good", "bad"],
    ... })
    >>> disclose(table, [Template(["job"], ("ill", "yes"), "1/4")], "rating")
    Disclosure(6 rows, 1 steps)
      job -> ill=yes <= 0.25: 0.25
      job: suppressed clerk, judge
    """
    table = table_from(table)
    wanted = merged(checked(table, templates))
    if not isinstance(utility, str) or utility not in UTILITIES:
        raise ValueError(f"utility must be one of {UTILITIES}, got {utility!r}")
    if target is None and utility == "information":
        raise ValueError("target must name a column for utility 'information', got None")
    if target is not None and target not in table.names:
        names = ", ".join(map(repr, table.names))
        raise ValueError(f"target: expected a column of {names}; got {target!r}")
    if not isinstance(require_beneficial, (bool, np.bool_)):
        raise TypeError(f"require_beneficial must be True or False, got {require_beneficial!r}")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable or None, got {progress!r}")
    if max_steps is not None:
        max_steps = whole(max_steps, "max_steps", 0, expected="an int or None")
    if not table.n_rows:
        raise ValueError("no rows")
    masked = _masked(table, wanted, target, continuous)
    search, input_bytes = _search(
        table, wanted, masked, target, utility == "distortion", require_beneficial and utility != "distortion"
    )
    _feasible(wanted, [Fraction(*pair) for pair in search.confidences()])
    complete = _run(search, max_steps, sum(one.most_steps for one in masked), progress)
    return _result(table, wanted, masked, search, target, utility, complete, input_bytes)


def _masked(
    table: Table, templates: tuple[Template, ...], target: str | None, continuous: Iterable[str]
) -> list[Masked]:
    """The columns of all quasi-identifiers that are neither target nor sensitive, as in the table."""
    known = {name for template in templates for name in template.quasi}
    shown = {target, *(template.sensitive[0] for template in templates)}
    names = [name for name in table.names if name in known and name not in shown]
    if isinstance(continuous, str) or not isinstance(continuous, Iterable):
        raise TypeError(f"continuous must be a sequence of column names, got {continuous!r}")
    listed = list(continuous)
    for name in listed:
        table.column(name)
        if name not in names:
            raise ValueError(f"continuous: expected columns that may be suppressed, got {name!r}")
    expect_known(table, names)
    return [Masked.of(table, name, name in listed) for name in names]


def _feasible(templates: tuple[Template, ...], confidences: list[Fraction]) -> None:
    broken = {
        template: found
        for template, found in zip(templates, confidences, strict=True)
        if found > template.limit
    }
    if broken:
        listed = "; ".join(
            f"{template} has {number_text(exact(found, 'confidence'))}" for template, found in broken.items()
        )
        raise Infeasible(
            f"even with everything suppressed {len(broken)} of {len(templates)} templates break: {listed}",
            {"confidences": broken},
        )


def _run(search: _disclose.Disclosing, max_steps: int | None, most: int, progress: Report | None) -> bool:
    """Disclose step by step; whether it came to its end."""
    try:
        if progress is not None and _stops(progress(0, most)):
            return False
        while max_steps is None or len(search.steps) < max_steps:
            if not search.step():
                return True
            if progress is not None and _stops(progress(len(search.steps), most)):
                return False
    except KeyboardInterrupt:
        # Every state is safe, and this one may have taken long.
        return False
    return False


def _stops(said: object) -> bool:
    return isinstance(said, (bool, np.bool_)) and not said


def _search(
    table: Table,
    templates: tuple[Template, ...],
    masked: list[Masked],
    target: str | None,
    distortion: bool,
    beneficial: bool,
) -> tuple[_disclose.Disclosing, int]:
    """The kernel's state before the first step, and the bytes of what it was given."""
    total = table.n_rows if table.weights is None else int(table.weights.sum())
    wide = total >= 1 << 32 or any(len(one.places) > 1 << 16 for one in masked)
    counts = _counts(table, masked, target)
    quasis = list(dict.fromkeys(frozenset(template.quasi) for template in templates))
    rows = _Rows.of(table, templates, masked, wide, len(quasis) > 1)
    parts: list[tuple[Any, ...]] = [()] * len(quasis)
    hits: dict[Template, tuple[int, int]] = {}
    made: list[tuple[frozenset[str], set[tuple[str, Value]], _Rows]] = []
    # Large sets first: the rows of a small one are made of the fewest that tell its values apart.
    for number in sorted(range(len(quasis)), key=lambda number: -len(quasis[number])):
        quasi = quasis[number]
        own = [template for template in templates if frozenset(template.quasi) == quasi]
        sensitive = {template.sensitive for template in own}
        sources = [one for known, told, one in made if quasi <= known and sensitive <= told]
        source = min(sources, key=lambda one: one.n_rows, default=rows)
        parts[number], found = source.part(quasi, own, keep=len(quasis) > 1)
        made.append((quasi, sensitive, found))
        hits.update((template, (number, place)) for place, template in enumerate(own))
    limits = [(*hits[template], *at_most(template.limit, total)) for template in templates]
    search = _disclose.Disclosing(
        counts, [one.continuous for one in masked], parts, limits, wide, distortion, beneficial
    )
    given = sum(array.nbytes for part in parts for array in part if isinstance(array, np.ndarray))
    return search, given


def _counts(table: Table, masked: list[Masked], target: str | None) -> list[Longs]:
    """Of each masked column the records of each value and class."""
    if target is None:
        labels, n_classes = np.zeros(table.n_rows, np.uint8), 1
    else:
        labels, n_classes = table.codes(target), len(table.column(target).domain)
    few = [one for one in masked if len(one.map) <= TALLIED and n_classes <= TALLIED]
    found: dict[str, Longs] = {}
    if few:
        _, arrays = tally(
            [one.column.codes for one in few],
            [len(one.map) for one in few],
            labels,
            n_classes,
            table.n_rows,
            weights=table.weights,
        )
        found = {one.name: array[one.places] for one, array in zip(few, arrays, strict=True)}
    for one in masked:
        if one.name not in found:
            array = np.zeros((len(one.places), n_classes), np.int64)
            np.add.at(
                array, (one.map[one.column.codes], labels), 1 if table.weights is None else table.weights
            )
            found[one.name] = array
    return [np.ascontiguousarray(found[one.name]) for one in masked]


class _Rows:
    """The rows of which those of each quasi-identifier are made: all, or the distinct ones."""

    def __init__(
        self,
        table: Table,
        columns: dict[str, Part],
        weights: Longs | None,
        n_rows: int,
        masked: dict[str, int],
        wide: bool,
        marks: dict[str, Longs],
    ) -> None:
        self.table, self.columns, self.weights, self.n_rows = table, columns, weights, n_rows
        self.masked, self.wide, self.marks = masked, wide, marks

    @classmethod
    def of(
        cls, table: Table, templates: tuple[Template, ...], masked: list[Masked], wide: bool, shared: bool
    ) -> _Rows:
        columns = {one.name: Part(one.column.codes, one.map, len(one.places)) for one in masked}
        known = {name for template in templates for name in template.quasi}
        used = {*known, *(template.sensitive[0] for template in templates)}
        for name in table.names:
            if name not in columns and name in used:
                size = len(table.column(name).domain)
                columns[name] = Part(table.codes(name), np.arange(size), size)
        wide_rows = wide or any(part.size > 1 << 16 for part in columns.values())
        numbers = {one.name: number for number, one in enumerate(masked)}
        weights, n_rows = table.weights, table.n_rows
        marks: dict[str, Longs] = {}
        if shared:
            # Sensitive columns that nobody is assumed to know matter for their sensitive values alone.
            listed = dict(columns)
            for name in columns:
                if name not in known:
                    sensitive = sorted({position(table, t) for t in templates if t.sensitive[0] == name})
                    marks[name] = np.zeros(columns[name].size, np.int64)
                    marks[name][sensitive] = np.arange(1, len(sensitive) + 1)
                    listed[name] = Part(columns[name].codes, marks[name], len(sensitive) + 1)
            found, totals = distinct_rows(list(listed.values()), table.weights, table.n_rows, wide_rows)
            matrix = np.ascontiguousarray(found.T)
            for name, codes in zip(listed, matrix, strict=True):
                size = listed[name].size
                columns[name] = Part(codes, np.arange(size), size)
            weights, n_rows = totals, len(totals)
        return cls(table, columns, weights, n_rows, numbers, wide, marks)

    def part(
        self, quasi: frozenset[str], templates: list[Template], *, keep: bool
    ) -> tuple[tuple[Any, ...], _Rows]:
        """The arguments of one quasi-identifier for the kernel; and its rows, to be kept for others."""
        own = [name for name in self.masked if name in quasi]
        fixed = [name for name in self.columns if name in quasi and name not in self.masked]
        sensitive = list(dict.fromkeys(template.sensitive[0] for template in templates))
        marks = []
        own_marks: dict[str, Longs] = {}
        for name in sensitive:
            # A row has at most one of a column's values, and so one mark for each sensitive column.
            table_of = np.zeros(self.columns[name].size, np.int64)
            own_marks[name] = np.zeros(len(self.table.column(name).domain), np.int64)
            for place, template in enumerate(templates):
                if template.sensitive[0] == name:
                    code = position(self.table, template)
                    table_of[self.marks[name][code] if name in self.marks else code] = place + 1
                    own_marks[name][code] = place + 1
            marks.append(Part(self.columns[name].codes, table_of, len(templates) + 1))
        if len(templates) >= 1 << 16:
            raise ValueError(
                f"templates: expected fewer than 65,536 of one quasi-identifier, got {len(templates)}"
            )
        parts = [*(self.columns[name] for name in (*fixed, *own)), *marks]
        wide = self.wide or any(part.size > 1 << 16 for part in parts)
        rows, totals = distinct_rows(parts, self.weights, self.n_rows, wide)
        groups, n_groups = numbered(rows[:, : len(fixed)])
        end = len(fixed) + len(own)
        arguments = (
            [self.masked[name] for name in own],
            np.ascontiguousarray(rows[:, len(fixed) : end], np.uint32 if self.wide else np.uint16),
            np.ascontiguousarray(rows[:, end:], np.uint16),
            len(templates),
            totals.astype(np.uint64 if self.wide else np.uint32),
            groups,
            n_groups,
        )
        if not keep:
            return arguments, self
        matrix = np.ascontiguousarray(rows.T)
        columns = {
            name: Part(codes, np.arange(part.size), part.size)
            for name, codes, part in zip([*fixed, *own, *sensitive], matrix, parts, strict=True)
        }
        distinct = _Rows(self.table, columns, totals, len(totals), self.masked, self.wide, own_marks)
        return arguments, distinct


def _result(
    table: Table,
    templates: tuple[Template, ...],
    masked: list[Masked],
    search: _disclose.Disclosing,
    target: str | None,
    utility: str,
    complete: bool,
    input_bytes: int,
) -> Disclosure:
    disclosed: list[list[int]] = [[] for _ in masked]
    steps = []
    for number, place, gain, loss, score, pairs in search.steps:
        disclosed[number].append(place)
        one = masked[number]
        steps.append(Step(one.name, one.value(place), gain, loss, score, templates, pairs, one.continuous))
    columns = {name: table.column(name) for name in table.names}
    suppressed: dict[str, tuple[Value, ...]] = {}
    intervals: dict[str, tuple[Interval, ...]] = {}
    reasons: dict[str, dict[Value, tuple[Template, Fraction] | None]] = {}
    for number, (one, shown) in enumerate(zip(masked, disclosed, strict=True)):
        columns[one.name] = one.released(shown)
        if one.continuous:
            intervals[one.name] = columns[one.name].domain.values  # type: ignore[assignment]
        else:
            withheld = one.withheld(shown)
            suppressed[one.name] = tuple(withheld.values())
            reasons[one.name] = {}
            for place, value in withheld.items():
                found = search.breaks(number, place)
                why = None if found is None else (templates[found[0]], Fraction(*found[1:]))
                reasons[one.name][value] = why
    return Disclosure(
        Table.from_columns(columns, table.weights, table.n_rows),
        templates,
        MappingProxyType(
            {t: Fraction(*pair) for t, pair in zip(templates, search.confidences(), strict=True)}
        ),
        tuple(one.name for one in masked),
        target,
        utility,
        tuple(steps),
        MappingProxyType(suppressed),
        MappingProxyType(intervals),
        _frozen(reasons),
        complete,
        search.peak_bytes + input_bytes,
    )
