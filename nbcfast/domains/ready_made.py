"""`ready_made`: the options of a table for which nobody has written a menu."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from nbcfast._core.numbers import Number, exact
from nbcfast.domains.declarations import Declared
from nbcfast.domains.identifying import names_people
from nbcfast.domains.menu import Menu
from nbcfast.domains.option import Option
from nbcfast.domains.places import is_number
from nbcfast.table.encode import Column, used_values
from nbcfast.table.table import Table, expect_table
from nbcfast.table.values import DATE, Interval, Value

MOST_BINS = 20  # of equal width: more tell single people apart, and make the search longer
MOST_CLASSES = 256
MOST_VALUES = 100  # of a column that is offered with its values as they are
STEPS = (1, 2, 5)  # times powers of ten: numbers that nobody takes for somebody's

WHOLE = re.compile("-?[0-9]+")
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)  # between two cuts of dates

OUT: dict[str, object] = {"out": True}
Entry = dict[str, object]


def ready_made(table: Table, class_name: str, declared: Declared | None = None) -> Menu:
    """A menu from public facts: what is declared, and numbers that are round.

    Every attribute may be left out. Besides, columns that are declared have their values, bins or sets as
    declared; numbers over a declared range also have bins of equal width, by steps of 1, 2 and 5 times a
    power of ten, and over three powers of ten and more bins between such powers. Of columns that are not
    declared, `Menu.undeclared` names them: texts as they occur, numbers in the same bins, open at both ends,
    over the range of the rows rounded outward, and dates between first days of months or years. A
    column that nearly names people can only be left out. Columns that `declared` has from rows are among
    those that are not declared, with the options that declared ones have; where there are any, the class that
    is not declared has its values as they occur, and is one of them.

    Parameters
    ----------
    table : Table
        As it was read: before `declared` is applied.
    class_name : str
        The class, for which there is no option but its values.
    declared : Declared, optional
        What is known of some columns.

    Raises
    ------
    NoColumnError
        If the table has no such class.

    Examples
    --------
    >>> table = Table({"age": [17, 38, 61], "sex": ["f", "m", "f"], "ill": ["n", "y", "n"]})
    >>> menu = ready_made(table, "ill")
    >>> menu.undeclared, [option.n_values for option in menu.options["sex"]]
    (('age', 'sex', 'ill'), [2, None])
    >>> menu.options["age"][-2].entry, menu.options["age"][-1].entry
    ({'edges': [None, 50, None]}, {'out': True})
    """
    expect_table(table)
    table.column(class_name)
    options: dict[str, tuple[Option, ...]] = {}
    known = {} if declared is None else declared.options
    widths = {} if declared is None else declared.widths
    from_rows = () if declared is None else declared.from_rows
    # Whether a column that is not declared can only be left out is a matter of its rows too.
    undeclared = [name for name in table.names if name in from_rows or name not in (*known, class_name)]
    for name in table.names:
        if name == class_name:
            continue
        if name in known:
            entries = _of_declared(known[name], _whole(table.column(name).domain.values))
        else:
            binned = table.bin(name, width=widths[name]) if name in widths else table
            entries = options_of_rows(binned.column(name), table.n_rows)
        options[name] = tuple(map(Option, entries))
    of_class = known.get(class_name)
    if of_class is None and undeclared:  # such a menu is to be checked, and then it has all
        of_class = _of_class(table.column(class_name))
        undeclared += [] if of_class is None else [class_name]
    return Menu(options, class_name, of_class, tuple(undeclared))


def _of_class(column: Column) -> Option | None:
    """The values of a class as they occur; None where they are declared, too many, or of no kind of JSON."""
    used = np.flatnonzero(used_values(column.codes, len(column.domain)))
    values = [column.domain.values[place] for place in used[: MOST_CLASSES + 1]]
    plain = all(value is None or isinstance(value, bool | str | int | float) for value in values)
    if column.domain.declared or not values or not plain or len(values) > MOST_CLASSES:
        return None
    try:
        return Option({"values": values})
    except ValueError:  # integers of more than 64 bits
        return None


def _of_declared(option: Option, whole: bool) -> list[Entry]:
    """The options of a column for which one is declared, from the finest to none.

    Of a column of whole numbers (`whole`) no bin begins between two of them.
    """
    if option.out:
        return [OUT]
    entry = dict(option.entry)
    null = _null(None in option.domain_values)
    if any(isinstance(value, Interval) for value in option.domain_values) and "edges" not in entry:
        return [_joined(list(option.domain_values), null), OUT]
    coarser: list[Entry] = []
    edges = entry.get("edges")
    if isinstance(edges, list):
        ends = [edge for edge in edges if edge is not None]
        if not any(isinstance(edge, str) for edge in ends):
            low, high = (exact(edge, "edge") for edge in (ends[0], ends[-1]))
            opens = (edges[0] is None, edges[-1] is None)
            coarser = [{"edges": cut, **null} for cut in _rounds(low, high, low, whole, opens)]
    numbers = _numbers(option.domain_values)
    if numbers:
        whole = whole and _whole(option.domain_values)
        cuts = _rounds(numbers[0], numbers[-1] + 1, numbers[0], whole)
        coarser = [{"edges": cut, **null} for cut in cuts]
    return _distinct([entry, *coarser, OUT])


def options_of_rows(column: Column, n_rows: int) -> list[Entry]:
    """The options of a column that is not declared, from the finest to none."""
    domain = column.domain
    used = np.flatnonzero(used_values(column.codes, len(domain)))
    if not len(used) or names_people(len(used), n_rows):
        return [OUT]
    values = [domain.values[place] for place in used]
    null = _null(None in values)
    if domain.kind == "interval":
        return _distinct([_joined(values, null), OUT])
    numbers = _numbers(values)
    if numbers:
        low, high = _outward(numbers[0], numbers[-1])
        whole = _whole(values)
        if whole and high - low < 2:  # between which there is no whole number to cut at
            low -= 1
        cuts = _rounds(low, high, numbers[0], whole)
        return _distinct([*({"edges": cut, **null} for cut in cuts), OUT])
    texts = [value for value in values if isinstance(value, str)]
    if texts and all(map(DATE.fullmatch, texts)):
        return _distinct([*({"edges": cut, **null} for cut in _months(texts)), OUT])
    if len(values) > MOST_VALUES or not all(
        value is None or isinstance(value, bool | str) for value in values
    ):
        return [OUT]
    return [{"values": values}, OUT]


def _null(is_value: bool) -> Entry:
    return {"null": True} if is_value else {}


def _distinct(entries: list[Entry]) -> list[Entry]:
    """Each once, as a menu has them."""
    return [entry for place, entry in enumerate(entries) if entry not in entries[:place]]


def _numbers(values: tuple[Value, ...] | list[Value]) -> list[Number]:
    """The values in increasing order where all are numbers, or texts of numbers, but for null; else none."""
    listed = [value for value in values if value is not None]
    if listed and all(map(is_number, listed)):
        return sorted(exact(value, "value") for value in listed)
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in listed):
        return []
    finite = [value for value in listed if isinstance(value, int | float) and abs(value) != float("inf")]
    return sorted(exact(value, "value") for value in finite)


def _whole(values: Iterable[Value]) -> bool:
    """Whether all values are whole numbers, or texts of such, but for null."""
    return all(
        value is None
        or (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, str) and WHOLE.fullmatch(value) is not None)
        for value in values
    )


def _round_up(width: Number) -> Number:
    """The least of 1, 2 and 5 times a power of ten that is not below a positive width."""
    power = Fraction(1)
    while power * 10 <= width:
        power *= 10
    while power > width:
        power /= 10
    return next(step * power for step in (*STEPS, 10) if step * power >= width)


def _outward(low: Number, high: Number) -> tuple[Number, Number]:
    """A range around numbers that begins and ends at multiples of a round number of at least its width."""
    unit = _round_up(max(high - low, Fraction(1, 10**6)))
    return low // unit * unit, -(-(high + (high == low)) // unit) * unit


def _rounds(
    low: Number, high: Number, least: Number, whole: bool, opens: tuple[bool, bool] = (True, True)
) -> list[list[object]]:
    """Cuts of a range at round numbers: at equal widths from fine to coarse, or growing ones; and at 1.

    `least` is the least number that may occur; of `whole` numbers all cuts are whole, as no other begins a
    bin of its own; `opens` says whether the outer bins are open.
    """
    cuts = []
    finest = Fraction(high - low) / MOST_BINS
    step = _round_up(max(finest, Fraction(1)) if whole else finest)
    while step < high - low:
        cuts.append(_multiples(step, low, high))
        step = _round_up(step * Fraction(3, 2))
    if low >= 0 and high >= 1000 * max(least, 1):
        cuts = [*_growing(least, high), *cuts[-2:]]  # of equal widths all but the first bins are nearly empty
    if 0 <= least < 1 < high:  # none or some
        cuts.append([1])
    ends = (None if opens[0] else _plain(low), None if opens[1] else _plain(high))
    inside = [[number for number in cut if low < number < high] for cut in cuts]
    kept = [cut for cut in inside if cut and len(cut) <= MOST_BINS]
    return [[ends[0], *map(_plain, cut), ends[1]] for cut in kept]


def _growing(least: Number, high: Number) -> list[list[Number]]:
    """Cuts of a range of three powers of ten and more, where few numbers are large: at such powers."""
    powers: list[Number] = [10**power for power in range(len(str(int(high)))) if 10**power < high]
    some: list[Number] = [1] if least < 1 else []
    half = 5 * powers[-2]
    return [powers, [*some, half, powers[-1]], [half]]


def _multiples(step: Number, low: Number, high: Number) -> list[Number]:
    """The multiples of a step strictly inside a range."""
    first = low // step + 1
    last = -(-high // step) - 1
    return [place * step for place in range(int(first), int(last) + 1)]


def _plain(number: Number) -> int | float:
    """A round number as JSON has it."""
    is_whole = Fraction(number).denominator == 1 and -(1 << 63) <= number < 1 << 63
    return int(number) if is_whole else float(number)


def _joined(values: list[Value], null: Entry) -> Entry:
    """The bins that intervals are, and the gaps between them."""
    ends: list[object] = []
    intervals = sorted(value for value in values if isinstance(value, Interval))
    for interval in intervals:
        for end in (interval.low, interval.high):
            plain = None if end is None else _plain(end)
            if not ends or plain != ends[-1]:
                ends.append(plain)
    return {"edges": ends, **null} if intervals else OUT


def _months(texts: list[str]) -> list[list[object]]:
    """Cuts of dates at the first days of months, of quarters, of years and so on, from fine to coarse."""
    found = [re.match(r"([0-9]{4})-([0-9]{2})-", text) for text in texts]
    months = sorted(12 * int(match[1]) + int(match[2]) - 1 for match in found if match)
    if len(months) < len(texts) or months[0] < 12:
        return []  # before the year 1, or after 9999
    cuts = [_multiples(step, months[0], months[-1] + 1) for step in MONTHS]
    return [
        [None, *(f"{int(month) // 12:04d}-{int(month) % 12 + 1:02d}-01" for month in cut), None]
        for cut in cuts
        if 0 < len(cut) < MOST_BINS
    ]
