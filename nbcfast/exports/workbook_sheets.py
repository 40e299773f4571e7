"""The sheets of the workbook: a form, rows to paste, the points, and what all that is.

Every value is looked up exactly: texts by EXACT, as MATCH and = do not tell "Male" from "male" and take * and
? for any letters; numbers as numbers, by the edges of bins where there are such. What is not found has row 0,
and a tuple with a row 0 has no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from nbcfast._core.numbers import number_text
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.exports.scored_columns import Points, ScoredColumn, scored_columns
from nbcfast.exports.workbook_parts import (
    ENDING,
    DropDown,
    Formula,
    Sheet,
    SheetCell,
    check_text,
    column_name,
)
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit
from nbcfast.table.values import Interval, Value

EXACT_BELOW = 10**15  # numbers of a spreadsheet have fifteen digits
MOST_DIGITS = 14  # of numbers that are compared: two with as many are never taken for one
MOST_COLUMNS, MOST_ROWS = 16_384, 1_048_576
MOST_TERMS = 100  # of a formula, which has at most 8,192 characters
ROWS = 200  # of the sheet Rows that are ready
MOST_LETTERS = 255  # of a text in a formula
FIRST_ROW = 4  # of them
FIRST_POINT = 7  # the row of the first value on the sheet Points
FIRST_ENTRY = 8  # that of the first attribute on the Form

TITLE = {1: 32}  # how high its row is

Content = str | int | float | bool | None


class ScoredLine(NamedTuple):
    """A value on the sheet Points.

    Attributes
    ----------
    shown : str, int or float
        What is entered for it, or, of an interval, what it is called.
    low, high : int, float or None
        Of an interval.
    points : tuple of int
    """

    shown: str | int | float
    low: int | float | None
    high: int | float | None
    points: Points


class Block(NamedTuple):
    """An attribute on the sheet Points: its values from row `first` on; that of null is the last, if any."""

    column: ScoredColumn
    lines: tuple[ScoredLine, ...]
    first: int
    null_values: tuple[str, ...] = ()  # texts that are read as null

    @property
    def null_row(self) -> int | None:
        return None if self.column.null is None else self.first + len(self.lines) - 1

    @property
    def blank_row(self) -> int:
        """The row that an empty cell has: 0 where it may be an empty text as well as a null."""
        has_empty = any(value == "" for value, _ in self.column.scored)
        return 0 if has_empty else self.null_row or 0

    def cells(self, column: str, head: bool = False) -> str:
        """The range of a column of it on the sheet Points; with `head` without null."""
        last = self.first + (len(self.column.scored) if head else len(self.lines)) - 1
        return f"Points!${column}${self.first}:${column}${last}"


class SheetLayout(NamedTuple):
    """Where things are, and the words that no label and no value is."""

    blocks: tuple[Block, ...]
    labels: tuple[str | int, ...]  # in falling precedence: of equal totals the first wins
    columns: tuple[int, ...]  # the place in a row of points for each column of points that is shown
    starts: tuple[int, ...]
    threshold: int | None
    class_name: str
    unknown: str
    undecided: str

    @property
    def last(self) -> int:
        block = self.blocks[-1]
        return block.first + len(block.lines) - 1

    def point_cells(self, column: int) -> str:
        """All points in one of their columns on the sheet Points."""
        name = column_name(4 + column)
        return f"Points!${name}${FIRST_POINT}:${name}${self.last}"

    @property
    def heads(self) -> list[SheetCell]:
        if self.threshold is not None or len(self.labels) == 1:
            return [SheetCell("points", "number head")]
        return [SheetCell(str(label), "number head") for label in self.labels]


def layout(points: PointsTable, about: About) -> SheetLayout:
    """What stands where, or a ValueError: a spreadsheet cannot hold it exactly."""
    expect_fit(points, EXACT_BELOW, "a spreadsheet")
    texts = label_texts(points.classes)
    for text in (about.class_name, *texts, *about.null_values):
        check_text(text)
    long = next((text for text in about.null_values if len(text) > MOST_LETTERS), None)
    if long is not None:
        raise ValueError(f"{ENDING}: a text in a formula has at most {MOST_LETTERS} letters, got {long!r}")
    blocks, first = [], FIRST_POINT
    for column in scored_columns(points):
        check_text(column.name)
        lines = tuple(_lines(column))
        blocks.append(Block(column, lines, first, about.null_values))
        first += len(lines)
    n_classes = len(points.classes)
    many = points.threshold is None
    columns = tuple(reversed(range(n_classes))) if many and n_classes > 1 else (0,)
    if first > MOST_ROWS or 1 + len(columns) + 2 * len(blocks) > MOST_COLUMNS:
        raise ValueError(f"{ENDING}: a sheet has too few rows or columns for {first:,} values")
    typed = tuple(map(_typed, points.classes, texts))
    return SheetLayout(
        tuple(blocks),
        typed[::-1] if many else typed,
        columns,
        tuple(points.constants[c] for c in columns) if many else (0,),
        points.threshold,
        about.class_name,
        _unused("unknown", texts),
        _unused("choose a value in every row", texts),
    )


def _typed(label: Value, text: str) -> str | int:
    """A label as a cell: whole numbers as such, where a spreadsheet has them."""
    is_number = isinstance(label, int) and not isinstance(label, bool) and abs(label) < EXACT_BELOW
    return int(text) if is_number else text or "(empty text)"


def _unused(word: str, taken: Iterable[str]) -> str:
    """The word, or one that nobody takes for one of these."""
    folded = {text.strip().casefold() for text in taken}
    while word.casefold() in folded:
        word = f"({word})"
    return word


def _lines(column: ScoredColumn) -> Iterable[ScoredLine]:
    texts = [value for value, _ in column.scored if isinstance(value, str)]
    for value, points in column.scored:
        if isinstance(value, Interval):
            low, high = (
                None if end is None else _number(end, column.name) for end in (value.low, value.high)
            )
            yield ScoredLine(str(value), low, high, points)
        elif isinstance(value, str):
            check_text(value)
            yield ScoredLine(value or _unused("(empty text)", texts), None, None, points)
        elif isinstance(value, bool):  # LibreOffice makes numbers of some that it reads
            yield ScoredLine(str(value).upper(), None, None, points)
        else:
            assert isinstance(value, int | float)
            yield ScoredLine(_number(value, column.name), None, None, points)
    if column.null is not None:
        yield ScoredLine(_unused("(null)", [*texts, "(empty text)"]), None, None, column.null)


def _number(number: int | float | Fraction, name: str) -> int | float:
    """A number that a spreadsheet tells from every other."""
    if isinstance(number, int):
        if abs(number) < EXACT_BELOW:
            return number
        text = number_text(number)
    else:
        text = repr(number) if isinstance(number, float) else number_text(number)
        if "/" not in text and "inf" not in text:
            digits = Decimal(text).normalize()
            # Within these powers of ten no double is near 0 or infinity.
            if len(digits.as_tuple().digits) <= MOST_DIGITS and abs(digits.adjusted()) < 290:
                return float(digits)
    raise ValueError(
        f"{ENDING}: a spreadsheet compares numbers of at most {MOST_DIGITS} digits exactly, and {name!r} has "
        f"{text}: declare shorter values or edges, or export to another format"
    )


def found_row(block: Block, cell: str) -> str:
    """The formula of the row on the sheet Points that has what stands in a cell, 0 where none has it."""
    kind, as_text, otherwise = block.column.kind, "0", "0"
    values = block.cells("B", head=kind != "text")
    if kind == "text":
        as_text = f"SUMPRODUCT(EXACT({values},{cell})*ROW({values}))"
    elif kind == "bool":
        as_text = f"SUMPRODUCT(EXACT({values},UPPER({cell}))*ROW({values}))"
        number = f'IF(ISNUMBER({cell}),IF({cell}=1,"TRUE",IF({cell}=0,"FALSE","")),"")'
        name = f'IF(ISLOGICAL({cell}),IF({cell},"TRUE","FALSE"),{number})'
        otherwise = f"SUMPRODUCT(EXACT({values},{name})*ROW({values}))"
    else:
        test = f"({values}={cell})*ROW({values})"
        if kind == "interval":
            low, high = block.cells("C", head=True), block.cells("D", head=True)
            test = f'((({low}="")+({low}<={cell}))>0)*((({high}="")+({high}>{cell}))>0)*ROW({low})'
        otherwise = f"IF(ISLOGICAL({cell}),0,IF(ISNUMBER({cell}),SUMPRODUCT({test}),0))"
    if block.null_row is not None and kind != "text":
        as_text = f"IF(EXACT({cell},Points!$B${block.null_row}),{block.null_row},{as_text})"
    if block.null_row is not None and block.null_values:
        quoted = (text.replace('"', '""') for text in block.null_values)
        tests = ",".join(f'EXACT({cell},"{text}")' for text in quoted)
        as_text = f"IF(OR({tests}),{block.null_row},{as_text})"
    return f"IF(ISTEXT({cell}),{as_text},{otherwise})"


def _decided(made: SheetLayout, totals: str) -> str:
    """The formula of the label at these totals: one cell, or some beside each other."""
    if made.threshold is not None:
        return f"IF({totals}>=Points!$B$3,Points!$B$2,Points!$B$4)"
    if len(made.labels) == 1:
        return "Points!$B$2"
    return f"INDEX({_across(made, 2)},1,MATCH(MAX({totals}),{totals},0))"


def _across(made: SheetLayout, row: int) -> str:
    return f"Points!$E${row}:${column_name(3 + len(made.columns))}${row}"


def points_sheet(made: SheetLayout) -> Sheet:
    """The points of every value, and the rule."""
    rows: dict[int, list[SheetCell]] = {1: [SheetCell("Points of every published value", "title")]}
    if made.threshold is not None:
        rows[2] = [SheetCell("from the threshold on", "text"), _inert(made.labels[0])]
        rows[3] = [SheetCell("threshold", "text"), SheetCell(made.threshold, "value")]
        rows[4] = [SheetCell("below it", "text"), _inert(made.labels[1])]
    elif len(made.labels) == 1:
        rows[2] = [SheetCell("always", "text"), _inert(made.labels[0])]
    else:
        gap = [SheetCell(None)] * 3
        rows[2] = [SheetCell("label", "text"), *gap, *map(_inert, made.labels)]
        rows[3] = [
            SheetCell("every total begins with", "text"),
            *gap,
            *(SheetCell(n, "number") for n in made.starts),
        ]
        rows[4] = [SheetCell("The largest total wins, and of equal ones that further to the left.")]
    heads = [SheetCell("attribute", "head"), SheetCell("value", "head")]
    heads += [SheetCell("from", "number head"), SheetCell("below", "number head")]
    rows[FIRST_POINT - 1] = [*heads, *made.heads]
    for block in made.blocks:
        for place, line in enumerate(block.lines):
            cells = [SheetCell(block.column.name, "text"), _inert(line.shown)]
            cells += [SheetCell(line.low, "number"), SheetCell(line.high, "number")]
            rows[block.first + place] = cells + [SheetCell(line.points[c], "number") for c in made.columns]
    names = _width("every total begins with", *(block.column.name for block in made.blocks))
    values = _width(*(str(line.shown) for block in made.blocks for line in block.lines))
    widths = [names, values, 12, 12, *(_width(str(cell.content)) for cell in made.heads)]
    return Sheet("Points", rows, widths, TITLE, f"A{FIRST_POINT}", locked=True)


def _inert(content: str | int | float | bool) -> SheetCell:
    return SheetCell(content, "text" if isinstance(content, str) else "value")


def _width(*texts: str) -> int:
    """Wide enough for the longest line, within reason."""
    longest = max(len(line) for text in texts for line in (text.splitlines() or [""]))
    return min(max(longest + 2, 10), 40)


def form_sheet(made: SheetLayout, rule: str) -> Sheet:
    """One case: a value of each attribute is chosen or typed, and the answer stands above."""
    note, found = 2 + len(made.columns), 3 + len(made.columns)
    first, last = FIRST_ENTRY, FIRST_ENTRY + len(made.blocks) - 1
    entries, places = f"$B${first}:$B${last}", _span(found, first, last)
    has_starts = any(made.starts)
    total = last + 1 + has_starts
    totals = f"$C${total}:${column_name(note - 1)}${total}" if len(made.columns) > 1 else f"$C${total}"
    decided = f'IF(COUNTIF({places},0)>0,"{made.unknown}",{_decided(made, totals)})'
    answer = f'IF(COUNTBLANK({entries})>0,"{made.undecided}",{decided})'
    filler = [SheetCell(None, "answer")] * (len(made.columns))
    rows = {
        1: [SheetCell(f"Which {made.class_name}?", "title")],
        2: [SheetCell(rule, "note")],
        4: [SheetCell("Answer", "answer"), SheetCell(Formula(answer, made.undecided), "answer"), *filler],
        first - 1: [
            SheetCell("attribute", "head"),
            SheetCell("value", "head"),
            *made.heads,
            SheetCell("", "head"),
        ],
    }
    choices = []
    for row, block in enumerate(made.blocks, first):
        place = f"${column_name(found)}{row}"
        hint = _hint(block)
        said = f'IF(ISBLANK($B{row}),"{hint}",IF({place}>0,"","not a published value: no answer"))'
        cells = [SheetCell(block.column.name, "text"), SheetCell(None, _entry(block))]
        cells += [SheetCell(Formula(_points(made, c, place)), "number") for c in range(len(made.columns))]
        rows[row] = [
            *cells,
            SheetCell(Formula(said, hint), "note"),
            SheetCell(Formula(found_row(block, f"$B{row}"), "0")),
        ]
        choices.append(_choice(block, f"B{row}"))
    if has_starts:
        starts = [
            SheetCell(Formula(f"Points!{column_name(4 + c)}$3"), "number") for c in range(len(made.columns))
        ]
        rows[last + 1] = [SheetCell("every total begins with", "text"), SheetCell(None, "text"), *starts]
    sums = []
    for c in range(len(made.columns)):
        name = column_name(2 + c)
        sums.append(Formula(f'IF(COUNTIF({places},0)>0,"",SUM({name}{first}:{name}{total - 1}))'))
    rows[total] = [
        SheetCell("total", "total"),
        SheetCell(None, "total"),
        *(SheetCell(one, "total") for one in sums),
    ]
    names = _width("every total begins with", *(block.column.name for block in made.blocks))
    widths = [names, 30, *(_width(str(cell.content)) for cell in made.heads), 44]
    return Sheet(
        "Form",
        rows,
        widths,
        {**TITLE, 4: 30},
        hidden=range(found, found + 1),
        choices=choices,
        merged=[f"A2:{column_name(note)}2", f"B4:{column_name(note - 1)}4"],
        locked=True,
    )


def _span(column: int, first: int, last: int) -> str:
    name = column_name(column)
    return f"${name}${first}:${name}${last}"


def _points(made: SheetLayout, column: int, place: str) -> str:
    name = column_name(4 + column)
    return f'IF({place}>0,INDEX(Points!${name}$1:${name}${made.last},{place}),"")'


def _entry(block: Block) -> str:
    return "entry" if block.column.kind == "text" else "number entry"


def _hint(block: Block) -> str:
    """What to enter: without quotes, as it stands in a formula."""
    if block.column.kind != "interval":
        return "choose from the list"
    low, high = block.lines[0].low, block.lines[len(block.column.scored) - 1].high
    ends = [f"from {low!r} on"] * (low is not None) + [f"below {high!r}"] * (high is not None)
    null = f", or {block.lines[-1].shown}" if block.null_row is not None else ""
    return " ".join(["a number", ", ".join(ends)]).strip() + null


def _choice(block: Block, cells: str) -> DropDown:
    source = None if block.column.kind == "interval" else block.cells("B")
    return DropDown(cells, source, _hint(block).capitalize() + ".")


def rows_sheet(made: SheetLayout, filled: Sequence[Sequence[Content]] = ()) -> Sheet:
    """Many cases: rows that are pasted, each with its answer at the left."""
    width, n = len(made.columns), len(made.blocks)
    heads = made.heads if width > 1 else [SheetCell("points", "number head")]
    names = [block.column.name for block in made.blocks]
    rows = {
        1: [SheetCell("Paste rows beside the answers", "title")],
        2: [SheetCell("Columns in this order; for more rows copy a whole row downwards.")],
        FIRST_ROW - 1: [SheetCell("answer", "head"), *heads, *(SheetCell(name, "head") for name in names)],
    }
    last = FIRST_ROW + max(ROWS, len(filled)) - 1
    for row in range(FIRST_ROW, last + 1):
        given = filled[row - FIRST_ROW] if row - FIRST_ROW < len(filled) else [None] * n
        rows[row] = _row(made, row, given)
    widths = [_width(*map(str, made.labels), made.unknown), *(_width(str(cell.content)) for cell in heads)]
    widths += [
        _width(name, *(str(line.shown) for line in block.lines))
        for name, block in zip(names, made.blocks, strict=True)
    ]
    choices = []
    for number, block in enumerate(made.blocks, 1 + width):
        name = column_name(number)
        choices.append(_choice(block, f"{name}{FIRST_ROW}:{name}{last}"))
    hidden = range(1 + width + n, 1 + width + 2 * n)
    frozen = f"{column_name(1)}{FIRST_ROW}"
    return Sheet("Rows", rows, widths, TITLE, frozen, hidden, choices, landscape=True)


def _row(made: SheetLayout, row: int, given: Sequence[Content]) -> list[SheetCell]:
    width, n = len(made.columns), len(made.blocks)
    entries = f"${column_name(1 + width)}{row}:${column_name(width + n)}{row}"
    places = f"${column_name(1 + width + n)}{row}:${column_name(width + 2 * n)}{row}"
    totals = f"$B{row}:${column_name(width)}{row}" if width > 1 else f"$B{row}"
    unknown = f"COUNTIF({places},0)>0"
    decided = f'IF({unknown},"{made.unknown}",{_decided(made, totals)})'
    cells = [SheetCell(Formula(f'IF(COUNTA({entries})=0,"",{decided})'), "row answer")]
    for c, start in enumerate(made.starts):
        begins = f"Points!${column_name(4 + c)}$3+" if start else ""
        total = begins + _summed(made, c, row, places)
        cells.append(SheetCell(Formula(f'IF(OR(COUNTA({entries})=0,{unknown}),"",{total})'), "number"))
    cells += [SheetCell(content, _entry(block)) for content, block in zip(given, made.blocks, strict=True)]
    for number, block in enumerate(made.blocks, 1 + width):
        cell = f"${column_name(number)}{row}"
        cells.append(
            SheetCell(Formula(f"IF(ISBLANK({cell}),{block.blank_row},{found_row(block, cell)})", "0"))
        )
    return cells


def _summed(made: SheetLayout, c: int, row: int, places: str) -> str:
    """The sum of the points in the found rows: one by one, or all with one look where that is too long."""
    width, n = len(made.columns), len(made.blocks)
    if n > MOST_TERMS:
        points = made.point_cells(c)
        return f"SUMPRODUCT(COUNTIF({places},ROW({points}))*{points})"
    name = column_name(4 + c)
    column = f"Points!${name}$1:${name}${made.last}"
    return "+".join(f"INDEX({column},${column_name(1 + width + n + i)}{row})" for i in range(n))


def read_me_sheet(made: SheetLayout, rule: str, about: About) -> Sheet:
    """What the workbook is, and which release it was made from."""
    lines = [
        f"It decides {made.class_name} as a published classifier does: every value has whole points, and "
        "their sum decides.",
        f"The rule: {rule}.",
        "Form is for one case: choose or type a value in every row. Rows is for many: paste them beside the "
        "answers. Points has the whole table.",
        f'A value that is not on the sheet Points has no answer: the workbook says "{made.unknown}". Texts '
        "have to be the same letter for letter, capitals and blanks included; a text such as 39 is not the "
        "number 39.",
        f"Numbers are compared to {MOST_DIGITS} digits. A bin holds its lower end and not its upper one.",
        _null_words(made),
        "It holds points of values and no row of anybody. There are no macros, and no connections. Sheets "
        "are locked without a password, so that no formula is lost by accident.",
        f"Made by nbcfast {about.version} of the release whose certificate.json has the sha256",
    ]
    rows = {1: [SheetCell("What this workbook is", "title")]}
    rows |= {number: [SheetCell(line, "note")] for number, line in enumerate(lines, 3)}
    rows[3 + len(lines)] = [SheetCell(about.sha256, "text")]
    heights = {number: 18 * (1 + len(line) // 100) for number, line in enumerate(lines, 3)}
    return Sheet("Read me", rows, [96], TITLE | heights, locked=True)


def _null_words(made: SheetLayout) -> str:
    with_null = [block for block in made.blocks if block.null_row is not None]
    if not with_null:
        return "An empty cell is no value of any attribute."
    markers = sorted({str(block.lines[-1].shown) for block in with_null})
    markers += [text for text in with_null[0].null_values if text]
    return (
        f"A missing value is entered as {' or '.join(markers)} where it is on the sheet Points; on Rows an "
        "empty cell stands for it too, but not where an empty text is on the sheet Points as well."
    )


def entries(block: Block) -> list[Content]:
    """What is entered for each value: of an interval a number in it, near an end; null last."""
    found: list[Content] = []
    for line in block.lines[: len(block.column.scored)]:
        if block.column.kind != "interval":
            found.append(line.shown)
        elif line.low is not None:
            found.append(line.low)
        else:
            found.append(0 if line.high is None else _just_below(line.high))
    if block.null_row is not None:
        of_null = next(filter(None, block.null_values), block.lines[-1].shown)
        found.append(None if block.blank_row and not block.null_values else of_null)
    return found


def _just_below(number: int | float) -> int | float:
    """A number below, which a spreadsheet still tells from it."""
    exact = Decimal(repr(number))
    if not exact:
        return -1
    return float(exact - Decimal(10) ** (exact.adjusted() - MOST_DIGITS + 2))
