"""`disclose`: top-down disclosure, which suppresses what it takes that all templates hold, and no more.

What is computed, and why the search is right: docs/mathematics/templates.md, sections 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast import _disclose
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.validation import callable_or_none, whole
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._wire.messages import decimal_text
from nbcfast.frames import Frame
from nbcfast.table import Interval, Table
from nbcfast.table.values import Value
from nbcfast.templates.distinct_rows import LeafRows, RowSource
from nbcfast.templates.inferences import at_most, expect_known, names_of
from nbcfast.templates.masked_columns import MaskedColumn
from nbcfast.templates.results import Disclosure, Reason, Step, frozen_reasons
from nbcfast.templates.template import Template, checked, expect_columns, listed_templates, merged
from nbcfast.views.tallying import tally

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

UTILITIES = ("information", "distortion")
TALLIED = 1 << 16  # values of a column up to which the counting kernel is made for it


def disclose(
    table: AnyTable,
    templates: Iterable[Template],
    target: str | None = None,
    *,
    utility: Literal["information", "distortion"] = "information",
    require_beneficial: bool = True,
    continuous: Iterable[str] = (),
    max_steps: int | None = None,
    weights: str | None = None,
    progress: Progress | None = None,
) -> Disclosure:
    """Suppress values until no inference is more confident than its template allows, and no more than that.

    All values of the columns that templates take for known are suppressed first, and then disclosed one
    after another (a continuous column starts as one interval, which is cut), always the one with the highest
    Score = InfoGain / (PrivLoss + 1) of those after which all templates still hold. After Wang, Fung, Yu,
    "Handicapping attacker's confidence" (KAIS 2006). The target and sensitive columns are never suppressed.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private table; its weights are counted. Of a Frame the columns of the templates and the
        target are fetched, and published, and no others; of a table all that there are.
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
    weights : str, optional
        The column of the weights; a Table has its own.
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
    asked = listed_templates(templates)
    needed: list[str] | None = None
    if isinstance(table, Frame):
        expect_columns(table.names, asked)
        used = {target, *(name for template in asked for name in names_of(template))}
        needed = [name for name in table.names if name in used]  # of equal scores the first column wins
    table = table_from(table, weights=weights, columns=needed)
    limited = merged(checked(table, asked))
    if not isinstance(utility, str) or utility not in UTILITIES:
        raise ValueError(f"utility must be one of {UTILITIES}, got {utility!r}")
    if target is None and utility == "information":
        raise ValueError("target must name a column for utility 'information', got None")
    if target is not None and target not in table.names:
        names = ", ".join(map(repr, table.names))
        raise ValueError(f"target: expected a column of {names}; got {target!r}")
    if not isinstance(require_beneficial, (bool, np.bool_)):
        raise TypeError(f"require_beneficial must be True or False, got {require_beneficial!r}")
    callable_or_none(progress, got=repr)
    if max_steps is not None:
        max_steps = whole(max_steps, "max_steps", 0, expected="an int or None")
    if not table.n_rows:
        raise ValueError("no rows")
    masked = _masked(table, limited, target, continuous)
    search, input_bytes = _search(
        table,
        limited,
        masked,
        target,
        utility == "distortion",
        require_beneficial and utility != "distortion",
    )
    # Disclosing only raises confidences, so the most suppressed table can keep the templates or none can:
    # docs/mathematics/templates.md, section 3.
    _expect_feasible(limited, [Fraction(*pair) for pair in search.confidences()])
    complete = _run(search, max_steps, sum(column.most_steps for column in masked), progress)
    return _result(table, limited, masked, search, target, utility, complete, input_bytes)


def _masked(
    table: Table, templates: tuple[Template, ...], target: str | None, continuous: Iterable[str]
) -> list[MaskedColumn]:
    """The columns of all quasi-identifiers that are neither target nor sensitive, as in the table."""
    known = {name for template in templates for name in template.quasi}
    kept = {target, *(template.sensitive[0] for template in templates)}
    names = [name for name in table.names if name in known and name not in kept]
    if isinstance(continuous, str) or not isinstance(continuous, Iterable):
        raise TypeError(f"continuous must be a sequence of column names, got {continuous!r}")
    in_intervals = list(continuous)
    for name in in_intervals:
        table.column(name)
        if name not in names:
            raise ValueError(f"continuous: expected columns that may be suppressed, got {name!r}")
    expect_known(table, names)
    return [MaskedColumn.of(table, name, name in in_intervals) for name in names]


def _expect_feasible(templates: tuple[Template, ...], confidences: list[Fraction]) -> None:
    broken = {
        template: confidence
        for template, confidence in zip(templates, confidences, strict=True)
        if confidence > template.limit
    }
    if broken:
        listed = "; ".join(
            f"{template} has {decimal_text(confidence)}" for template, confidence in broken.items()
        )
        raise Infeasible(
            f"even with everything suppressed {len(broken)} of {len(templates)} templates break: {listed}",
            {"confidences": broken},
        )


def _run(search: _disclose.Disclosing, max_steps: int | None, most: int, progress: Progress | None) -> bool:
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


def _stops(answer: object) -> bool:
    """Whether a progress function says False; most say nothing, which is None and no reason to stop."""
    return isinstance(answer, (bool, np.bool_)) and not answer


def _search(
    table: Table,
    templates: tuple[Template, ...],
    masked: list[MaskedColumn],
    target: str | None,
    distortion: bool,
    beneficial: bool,
) -> tuple[_disclose.Disclosing, int]:
    """The kernel's state before the first step, and the bytes of what it was given."""
    total = table.n_rows if table.weights is None else int(table.weights.sum())
    wide = total >= 1 << 32 or any(len(column.positions) > 1 << 16 for column in masked)
    counts = _counts(table, masked, target)
    quasis = list(dict.fromkeys(frozenset(template.quasi) for template in templates))
    of_quasi = {
        quasi: [template for template in templates if frozenset(template.quasi) == quasi] for quasi in quasis
    }
    all_rows = RowSource.of(table, templates, masked, wide, len(quasis) > 1)
    leaf_rows: dict[frozenset[str], LeafRows] = {}
    sources: list[tuple[frozenset[str], set[tuple[str, Value]], RowSource]] = []
    # Large sets first: the rows of a small one are made of the fewest that tell its values apart.
    for quasi in sorted(quasis, key=len, reverse=True):
        sensitive = {template.sensitive for template in of_quasi[quasi]}
        fitting = [source for columns, marked, source in sources if quasi <= columns and sensitive <= marked]
        fewest = min(fitting, key=lambda source: source.n_rows, default=all_rows)
        leaf_rows[quasi], source = fewest.leaf_rows(quasi, of_quasi[quasi], keep=len(quasis) > 1)
        sources.append((quasi, sensitive, source))
    hits = {
        template: (number, place)
        for number, quasi in enumerate(quasis)
        for place, template in enumerate(of_quasi[quasi])
    }
    # Limits whose parts fit where counts do, and which decide alike: statement 4.5.
    limits = [(*hits[template], *at_most(template.limit, total)) for template in templates]
    search = _disclose.Disclosing(
        counts,
        [column.continuous for column in masked],
        [leaf_rows[quasi] for quasi in quasis],
        limits,
        wide,
        distortion,
        beneficial,
    )
    return search, sum(rows.nbytes for rows in leaf_rows.values())


def _counts(table: Table, masked: list[MaskedColumn], target: str | None) -> list[Longs]:
    """Of each masked column the records of each value and class."""
    if target is None:
        labels, n_classes = np.zeros(table.n_rows, np.uint8), 1
    else:
        labels, n_classes = table.codes(target), len(table.column(target).domain)
    tallied = [column for column in masked if len(column.code_of) <= TALLIED and n_classes <= TALLIED]
    counts: dict[str, Longs] = {}
    if tallied:
        _, arrays = tally(
            [column.column.codes for column in tallied],
            [len(column.code_of) for column in tallied],
            labels,
            n_classes,
            table.n_rows,
            weights=table.weights,
        )
        counts = {column.name: array[column.positions] for column, array in zip(tallied, arrays, strict=True)}
    for column in masked:
        if column.name not in counts:
            array = np.zeros((len(column.positions), n_classes), np.int64)
            weights = 1 if table.weights is None else table.weights
            np.add.at(array, (column.code_of[column.column.codes], labels), weights)
            counts[column.name] = array
    return [np.ascontiguousarray(counts[column.name]) for column in masked]


def _result(
    table: Table,
    templates: tuple[Template, ...],
    masked: list[MaskedColumn],
    search: _disclose.Disclosing,
    target: str | None,
    utility: str,
    complete: bool,
    input_bytes: int,
) -> Disclosure:
    disclosed: list[list[int]] = [[] for _ in masked]
    steps = []
    for number, code, gain, loss, score, pairs in search.steps:
        disclosed[number].append(code)
        column = masked[number]
        value = column.value(code)
        steps.append(Step(column.name, value, gain, loss, score, templates, pairs, column.continuous))
    columns = {name: table.column(name) for name in table.names}
    suppressed: dict[str, tuple[Value, ...]] = {}
    intervals: dict[str, tuple[Interval, ...]] = {}
    reasons: dict[str, dict[Value, Reason | None]] = {}
    for number, (column, codes) in enumerate(zip(masked, disclosed, strict=True)):
        released = columns[column.name] = column.released(codes)
        if column.continuous:
            values = released.domain.values
            intervals[column.name] = tuple(value for value in values if isinstance(value, Interval))
        else:
            withheld = column.withheld(codes)
            suppressed[column.name] = tuple(withheld.values())
            reasons[column.name] = {
                value: _reason(search, number, code, templates) for code, value in withheld.items()
            }
    confidences = [Fraction(*pair) for pair in search.confidences()]
    return Disclosure(
        Table.from_columns(columns, table.weights, table.n_rows),
        templates,
        MappingProxyType(dict(zip(templates, confidences, strict=True))),
        tuple(column.name for column in masked),
        target,
        utility,
        tuple(steps),
        MappingProxyType(suppressed),
        MappingProxyType(intervals),
        frozen_reasons(reasons),
        complete,
        search.peak_bytes + input_bytes,
    )


def _reason(
    search: _disclose.Disclosing, number: int, code: int, templates: tuple[Template, ...]
) -> Reason | None:
    """The template that disclosing a value would break, and how confident its inference would be."""
    broken = search.breaks(number, code)
    return None if broken is None else (templates[broken[0]], Fraction(*broken[1:]))
