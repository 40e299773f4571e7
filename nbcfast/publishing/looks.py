"""What a column looks like to whoever publishes: numbers to bin, a name of people; never what is so."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._reading.csv_files import typed
from nbcfast._reading.seen import MOST_KEPT, SeenColumn
from nbcfast.domains.identifying import MOST_OF_ROWS, names_people
from nbcfast.domains.skeleton import ENOUGH_ROWS, FEW_NUMBERS, FEW_TEXTS
from nbcfast.publishing.beginnings import LIKE_COUNTS
from nbcfast.publishing.words import label
from nbcfast.table.values import Value

LONG = 40  # letters of a text on average, above which it is one that somebody wrote
COMMA = re.compile(r"-?[0-9]{1,3}(\.[0-9]{3})*,[0-9]+|-?[0-9]+,[0-9]+")
DAY = re.compile(
    r"[0-9]{1,2}([./-])[0-9]{1,2}\1([0-9]{4}|[0-9]{2})( .*)?|[0-9]{4}([./])[0-9]{1,2}\4[0-9]{1,2}( .*)?"
)
TIME = re.compile(r"-?([0-9]+ days?,? ?)?[0-9]{1,3}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?|-?P[0-9TDHMSW.,]+")


@dataclass(frozen=True)
class ColumnLook:
    """What a column looks like.

    Parameters
    ----------
    like : str
        In a few words.
    todo : str
        What to do then; empty where there is nothing.
    out : bool
        Whether that is to leave it out.
    """

    like: str
    todo: str = ""
    out: bool = False

    @property
    def text(self) -> str:
        mark = "" if self.like.endswith("?") else ":"
        return f"{self.like}{mark} {self.todo}" if self.todo else self.like


def looks_of(column: SeenColumn, words: Arguments = ARGUMENTS) -> ColumnLook:
    """What a column looks like by its values, the most urgent first.

    Examples
    --------
    >>> ages = SeenColumn("age", "int", 200, tuple(range(17, 90)), (2,) * 73, False, 54, 17, 89, True)
    >>> looks_of(ages).text
    'numbers: bin it'
    """
    if not column.values:
        return ColumnLook("no value in any row", "leave it out", out=True)
    missing = [*column.missing_texts]
    listed = " and ".join(map(repr, missing))
    if len(column.values) == 1 and not column.nulls:
        return ColumnLook("one value only", "leave it out", out=True)
    if names_someone(column):
        return ColumnLook("nearly an id", "leave it out", out=True)
    if column.more:
        return ColumnLook(
            f"more than {MOST_KEPT:,} values", "leave it out, or bin it", column.kind != "float"
        )
    if missing:
        like = f"numbers but for {listed}" if column.numbers else f"{listed} as missing?"
        return ColumnLook(like, words.nulls(missing))
    if column.kind in ("bool", "interval"):
        return ColumnLook({"bool": "yes or no", "interval": "bins"}[column.kind])
    if column.kind == "date":
        return ColumnLook("dates", "bin it")
    if column.kind == "duration":
        return ColumnLook("durations", "write them as numbers of seconds, and bin them")
    if column.numbers and column.kind == "text":
        # Written as no number is printed: 16.00, or 007.
        written = next((text for text in map(str, column.values) if str(_number(text)) != text), "1e3")
        return ColumnLook(f"numbers, as {label(written)}", "bin it")
    if column.numbers:
        return _of_numbers(column, words)
    return _of_texts(column, [str(value) for value in column.values])


def _number(text: str) -> Value:
    """The number that a text is for `read_csv`; None where it is none."""
    found = typed([text], None, "")
    return None if found is None else found[0]


def names_someone(column: SeenColumn) -> bool:
    """Whether nearly each row has a value of its own, as far as values were told apart."""
    n_values = column.n_values
    alone = column.kind in ("text", "int") and n_values == column.rows >= ENOUGH_ROWS
    return alone or names_people(n_values, column.rows)


def _of_numbers(column: SeenColumn, words: Arguments) -> ColumnLook:
    low, high = column.low, column.high
    counts = column.kind == "int" and isinstance(low, int) and isinstance(high, int) and 1 <= low < high
    if counts and LIKE_COUNTS.fullmatch(column.name.strip()):
        return ColumnLook("how often a row counts?", words.given("weights", column.name))
    if column.kind == "int" and column.rows >= ENOUGH_ROWS and column.n_values > MOST_OF_ROWS * column.rows:
        return ColumnLook("an id, or numbers", "bin it, or leave it out if it names people")
    if column.kind == "int" and len(column.values) <= FEW_NUMBERS:
        return ColumnLook("a few numbers")
    return ColumnLook("numbers", "bin it")


def _of_texts(column: SeenColumn, texts: list[str]) -> ColumnLook:
    for like, todo, fits in (
        ("numbers with a decimal comma", "write them with a point", COMMA.fullmatch),
        ("dates", "write them as 2020-12-31", DAY.fullmatch),
        ("times or durations", "write them as numbers", TIME.fullmatch),
    ):
        if all(map(fits, texts)):
            return ColumnLook(like, todo)
    spelled: dict[str, str] = {}
    for text in texts:
        other = spelled.setdefault(" ".join(text.split()).casefold(), text)
        if other != text:
            return ColumnLook(f"{label(other)!r} and {label(text)!r} are one value?", "write them alike")
    if sum(map(len, texts)) > LONG * len(texts):
        return ColumnLook("free text", "leave it out", out=True)
    if column.rows >= ENOUGH_ROWS and column.n_values > MOST_OF_ROWS * column.rows:
        return ColumnLook("names of people?", "leave it out, or put it into sets", out=True)
    if len(texts) > FEW_TEXTS:
        return ColumnLook(f"{len(texts):,} texts", "put them into sets, or leave it out")
    return ColumnLook("categories")
