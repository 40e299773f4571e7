"""A release as one file of Python that needs nothing but the standard library, from Python 3.8 on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nbcfast._core.numbers import edge
from nbcfast.exports.about import About
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.placing import Placing
from nbcfast.published.points_table import PointsTable
from nbcfast.published.value_texts import label_value
from nbcfast.table.domain import Domain
from nbcfast.table.values import Interval, Value, kind_of_values

ONE_RULE = '''

def decide(row):
    """The class of a row, a mapping of column to value; None where a value is not published."""
    return decided(row, RULE, COLUMNS)
'''

RULES = '''

def decide(row):
    """The class of a row, a mapping of column to value; None where a value is not published."""
    stratum = points(SELECTS, row[BY])
    if stratum is None:
        return None
    return decided(row, *STRATA[stratum])
'''

TWO = '''

def decided(row, threshold, columns):
    """The class by these points."""
    total = 0
    for column, published in columns.items():
        number = points(published, row[column])
        if number is None:
            return None
        total += number
    return CLASSES[0] if total >= threshold else CLASSES[1]
'''

MANY = '''

def decided(row, starts, columns):
    """The class by these points: of equal totals the later one wins."""
    totals = list(starts)
    for column, published in columns.items():
        numbers_of = points(published, row[column])
        if numbers_of is None:
            return None
        totals = [total + number for total, number in zip(totals, numbers_of)]
    return CLASSES[max(range(len(CLASSES)), key=lambda place: (totals[place], place))]
'''

REST = '''

def points(published, value):
    \"\"\"The points of a value, or None where it is not published.\"\"\"
    kind, numbers_of = published
    value = None if isinstance(value, str) and value in NULLS else plain(kind, value)
    if kind == "dates" and isinstance(value, str):
        return numbers_of.get(value if value in numbers_of else period(numbers_of, value))
    if kind != "bin" or value is None or value is UNKNOWN or isinstance(value, tuple):
        return numbers_of.get(value)
    for bounds, number in numbers_of.items():
        if bounds is not None:
            low, high, _ = bounds
            if (low is None or not less(value, low)) and (high is None or less(value, high)):
                return number
    return None


def less(one, other):
    \"\"\"Whether a number is less than another: beside a fraction a float means what it is written as.\"\"\"
    if isinstance(one, Fraction) or isinstance(other, Fraction):
        one, other = (
            Fraction(repr(each)) if isinstance(each, float) and each - each == 0 else each
            for each in (one, other)
        )
    return one < other


def period(numbers_of, text):
    \"\"\"The name of the days between which a date or moment is, or UNKNOWN.\"\"\"
    found = DATE.fullmatch(text)
    if found is not None:
        day = int(found.group(1)), found.group(2)
        for name in numbers_of:
            if name is not None:
                low, high = name[1:-1].split(", ")
                above = low == "-inf" or (int(low[:4]), low[4:]) <= day
                if above and (high == "inf" or day < (int(high[:4]), high[4:])):
                    return name
    return UNKNOWN


def plain(kind, value):
    \"\"\"A value as it may be published: NaN is null, and what is of another kind is not known.\"\"\"
    if value is None or value != value:
        return None
    if kind in ("text", "dates"):
        return value if isinstance(value, str) else UNKNOWN
    if kind == "bool" or type(value).__name__ in ("bool", "bool_"):
        is_bool = kind == "bool" and type(value).__name__ in ("bool", "bool_")
        return bool(value) if is_bool else UNKNOWN
    if kind == "bin" and isinstance(value, (Fraction, tuple)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else UNKNOWN


def of_text(published, text):
    \"\"\"What a field of a CSV file means, as nbcfast predict reads it: an empty one is null, or NULLS are.

    Numbers that are published by themselves are written as Python writes them (7, 0.1, no 07 and no .10).
    What is put into a bin is any decimal number or quotient, exactly, or a bin as it is called.
    \"\"\"
    kind, numbers_of = published
    if text in NULLS or (text == "" and not NULLS):
        return None
    if kind in ("text", "dates"):
        return text
    if kind == "bool":
        return {"true": True, "True": True, "false": False, "False": False}.get(text, UNKNOWN)
    if kind == "bin":
        for bounds in numbers_of:
            if bounds is not None and bounds[2] == text:
                return bounds
        if not NUMBER.fullmatch(text) or LONG.search(text):
            return UNKNOWN
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            return UNKNOWN
    if WHOLE.fullmatch(text):
        return int(text)
    is_written = NUMBER.fullmatch(text) and "/" not in text and repr(float(text)) == text
    return float(text) if is_written else UNKNOWN


def main():
    """CSV with a header from standard input; to standard output with the class last, or nothing there."""
    name = ADDED
    if len(sys.argv) > 1:
        if len(sys.argv) != 3 or sys.argv[1] != "--name" or not sys.argv[2]:
            print("usage: python %s [--name NAME] < rows.csv > decided.csv" % sys.argv[0], file=sys.stderr)
            return 2
        name = sys.argv[2]
    sys.stdin.reconfigure(encoding="utf-8-sig", newline="")
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    rows, writer = csv.reader(sys.stdin), csv.writer(sys.stdout, lineterminator="\\n")
    header = next(rows, [])
    published = READS
    missing = [column for column in published if header.count(column) != 1]
    if missing:
        print("expected one column %r, got %r" % (missing[0], header), file=sys.stderr)
        return 2
    if name in header:
        fault = "the rows have a column %r already: --name NAME gives the class that is added another"
        print(fault % name, file=sys.stderr)
        return 2
    places = [(column, published[column], header.index(column)) for column in published]
    writer.writerow(header + [name])
    for row in rows:
        if len(row) != len(header):
            if not row:
                continue
            fault = "line %d: expected %d fields, got %d"
            print(fault % (rows.line_num, len(header), len(row)), file=sys.stderr)
            return 2
        label = decide({column: of_text(how, row[place]) for column, how, place in places})
        writer.writerow(row + ["" if label is None else label])
    return 0


if __name__ == "__main__":
    try:
        left = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough; what is left is written nowhere when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        left = 0
    except UnicodeDecodeError as error:
        wide = error.start == 0 and error.object[:2] in (b"\\xff\\xfe", b"\\xfe\\xff")
        found = "UTF-16" if wide else "byte 0x%02x, which is not UTF-8" % error.object[error.start]
        print("standard input: expected UTF-8 (Excel: save as CSV UTF-8), got %s" % found, file=sys.stderr)
        left = 2
    except csv.Error as error:
        print("standard input: %s" % error, file=sys.stderr)
        left = 2
    sys.exit(left)
'''


def content(points: PointsTable, about: About) -> bytes:
    """The program: constants that are the release, `decide`, and a `main` that reads and writes CSV."""
    about.expect_added([name for name, _, _ in points.attributes])
    lines = [
        *_head(points, about),
        "",
        f"# {_said(points)}",
        f"RULE = {_rule(points)}",
        "",
        f"# {COLUMNS}",
        f"COLUMNS = {_columns(points)}",
        "",
        "READS = COLUMNS",
    ]
    return _file(lines, ONE_RULE, points)


def content_by(strata: StrataPoints, about: About) -> bytes:
    """The program in which the value of a column selects the points that decide a row."""
    first = strata.points[0]
    about.expect_added([strata.by, *(name for name, _, _ in first.attributes)])
    places = tuple((place,) for place in range(len(strata.values)))
    lines = [
        *_head(first, about),
        "",
        "# The column that selects the points of a row, and which of them each value selects.",
        f"BY = {strata.by!r}",
        f"SELECTS = {_published(strata.by, strata.values, places, one=True)}",
        "",
        f"# Of each of these the rule, and the points. {_said(first)}",
        f"# {COLUMNS}",
        "STRATA = [",
    ]
    lines += [f"    ({_rule(points)}, {_deeper(_columns(points))})," for points in strata.points]
    lines += ["]", "", "READS = {BY: SELECTS, **STRATA[0][1]}"]
    return _file(lines, RULES, first)


COLUMNS = "Of each column what it holds, and the points of each value; the end of a bin is outside."


def _head(points: PointsTable, about: About) -> list[str]:
    """What the file is, and its classes."""
    title = ascii(about.class_name)[1:-1].replace("\\", "/").replace('"', "'")
    classes = ", ".join(_key(label_value(label)) for label in points.classes)
    classes += "," if len(points.classes) == 1 else ""
    return [
        f'"""A class by adding up points: {title}.',
        "",
        f"Made by nbcfast {about.version}. Certificate sha256 {about.sha256}",
        "",
        "    python THIS_FILE [--name NAME] < rows.csv > decided.csv",
        "",
        "NAME is the column that is added, where the rows have one of that name already.",
        '"""',
        "",
        *("import csv", "import numbers", "import os", "import re", "import sys"),
        "from fractions import Fraction",
        "",
        f'CERTIFICATE = "{about.sha256}"',
        f"CLASS = {about.class_name!r}",
        f"ADDED = {about.added!r}",
        f"NULLS = {about.null_values!r}  # texts that are read as null; the empty one where there is none",
        f"CLASSES = ({classes})  # in rising precedence",
        "UNKNOWN = object()  # a value that is not published",
        'WHOLE = re.compile("0|-?[1-9][0-9]{0,18}")',
        'NUMBER = re.compile("[+-]?([0-9]+/[0-9]+|([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?)")',
        'LONG = re.compile("[eE][+-]?0*[1-9][0-9]{4,}$")  # a short text, and a number that fills the memory',
        'DATE = re.compile("([0-9]{4,400}|-[0-9]{3,400})(-[0-9]{2}-[0-9]{2}(?:T.*)?)")',
    ]


def _said(points: PointsTable) -> str:
    if points.threshold is not None:
        return "The first class is that of a total from this number on."
    return "What the totals of the classes begin with; the largest wins, and of equal ones the later class."


def _rule(points: PointsTable) -> str:
    return repr(points.constants if points.threshold is None else points.threshold)


def _columns(points: PointsTable) -> str:
    """What each column holds, in Python."""
    one = points.threshold is not None
    each = [
        f"{name!r}: {_published(name, domain, rows, one=one)}" for name, domain, rows in points.attributes
    ]
    return _braced(each)


def _published(name: str, domain: tuple[Value, ...], rows: tuple[tuple[int, ...], ...], *, one: bool) -> str:
    """What a column holds, and the points of each value: one number, or one a class."""
    kind = kind_of_values(name, domain)
    said: str = "bin" if kind == "interval" else kind or "text"
    if kind == "text" and Placing(Domain.of(domain, in_order=False)).dates is not None:
        said = "dates"
    numbers_of = [row[0] if one else tuple(row) for row in rows]
    each = [f"{_key(value)}: {numbers!r}" for value, numbers in zip(domain, numbers_of, strict=True)]
    return f'("{said}", {_braced(each)})'


def _braced(entries: Sequence[str]) -> str:
    """Entries of a dictionary, one a line; no text in them has a line break of its own."""
    return "\n".join(["{", *(f"    {_deeper(entry)}," for entry in entries), "}"])


def _deeper(lines: str) -> str:
    return lines.replace("\n", "\n    ")


def _file(lines: list[str], how: str, points: PointsTable) -> bytes:
    return ("\n".join(lines) + "\n" + how + (MANY if points.threshold is None else TWO) + REST).encode()


def _key(value: Value) -> str:
    """A published value in Python: a bin as its two ends, and what it is called."""
    if isinstance(value, Interval):
        return f"({_end(value.low)}, {_end(value.high)}, {str(value)!r})"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)


def _end(bound: int | Fraction | None) -> str:
    """An end of a bin: a double where it is written as one, else exactly."""
    if bound is None:
        return "None"
    number = edge(bound)
    if Fraction(repr(number)) == bound:
        return repr(number)
    return f"Fraction({bound.numerator}, {bound.denominator})"
