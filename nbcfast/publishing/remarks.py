"""What owners should know of a table before it leaves."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from nbcfast._core.numbers import amount_text
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._reading.endings import is_parquet
from nbcfast.domains.missing import has_nulls, if_missing, like_nulls
from nbcfast.published.release import Release
from nbcfast.publishing.beginnings import uncounted
from nbcfast.publishing.words import label
from nbcfast.table.table import Table
from nbcfast.views import Viewset

SHORT = 10**15  # rows up to which counts say little more than they must
MOST_SINGULAR = 1 / 3  # values a row, above which an attribute names people
FEWEST = 3  # rows from which an attribute whose values are those of single rows names people
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]{1,99})?")
MOST_NAMED = 8
EXACT = 2**53  # up to which floats hold every integer


def numbers_as_text(
    table: Table, file: Path, texts: Collection[str], words: Arguments = ARGUMENTS
) -> list[str]:
    """What is said of columns of a CSV file that are text because a number is too long, or for "?" alone."""
    if is_parquet(file):
        return []
    said = []
    for name in table.names:
        values = [value for value in table.domain(name) if value is not None]
        numbers = [value for value in values if isinstance(value, str) and NUMBER.fullmatch(value)]
        missing = like_nulls(values) if numbers and name not in texts else []
        if missing and len(numbers) + len(missing) == len(values):
            said.append(
                f"{label(name)} holds numbers but for {' and '.join(map(repr, missing))}, and is read as "
                f"text: {if_missing(missing, words, has_nulls(table))}; {words.as_text(name)} says that text "
                "is meant."
            )
        # Two texts of so many digits may differ in value though int64 and float64 hold neither.
        long = [text for text in numbers if len(text.lstrip("-")) > 15 and abs(Fraction(text)) > EXACT]
        if name not in texts and long and len(numbers) == len(values):
            said.append(
                f"{label(name)} holds numbers that 64 bits do not, as {long[0][:40]}, and is read as text, "
                f"in the order of texts: {words.as_text(name)} says that this is meant."
            )
    return said


def nulls_as_values(
    table: Table, said: Sequence[str] = (), words: Arguments = ARGUMENTS, given: Sequence[str] = ()
) -> list[str]:
    """What is said of texts such as "?" that are values, in columns of which nothing else says that they are.

    Those in `said` are named already. Where texts were `given` that mean null, the empty one is a value too,
    unless it is among them.
    """
    columns: dict[str, list[str]] = {}
    for name in table.names:
        domain = table.column(name).domain
        named = any(text.startswith(f"{label(name)} holds numbers but for") for text in said)
        if domain.declared or named:
            continue
        empty = [""] if given and "" in domain.values else []
        if missing := [*empty, *like_nulls(domain.values)]:
            columns[name] = missing
    if not columns:
        return []
    texts = list(dict.fromkeys(text for missing in columns.values() for text in missing))
    listed = [label(name) for name in columns]
    more = f" and {len(listed) - MOST_NAMED:,} columns more" if len(listed) > MOST_NAMED else ""
    where = f"{', '.join(listed[:MOST_NAMED])}{more}"
    each = "is a value" if len(texts) == 1 else "are values"
    return [
        f"{' and '.join(map(repr, texts[:MOST_NAMED]))} {each} of {where}: "
        f"{if_missing(texts[:MOST_NAMED], words, has_nulls(table), given)}."
    ]


def all_once(
    file: Path,
    weights: str | None,
    delimiter: str | None,
    class_name: str,
    columns: Sequence[str] | None,
    words: Arguments = ARGUMENTS,
    encoding: str | None = None,
) -> list[str]:
    """What is said of columns of a table with a class that may say how often a row counts."""
    used = [class_name, *(columns or ())]
    return uncounted(file, weights, delimiter, used, columns is None, words, encoding)


def names_people(values: int, rows: int, alone: int) -> bool:
    """Whether a column has nearly as many values as rows, or most rows a value that no other has.

    `alone` is how many values stand in a single row.
    """
    return (values > MOST_SINGULAR * rows and values > 20) or (rows >= FEWEST and 2 * alone > rows)


def alone_in(views: Viewset, name: str) -> int:
    """How many values of an attribute a single person has."""
    return int((views.counts[name].sum(axis=1) == 1).sum())


def more(views: Viewset, release: Release, log_loss: float, words: Arguments = ARGUMENTS) -> Iterator[str]:
    """What else a steward should look at."""
    if len(views.classes) == 1:
        yield (
            f"The class column has one value, {label(views.classes[0])}: nothing is classified, and what is "
            "said of classifiers here says nothing. Is it the column that was meant?"
        )
    if None in views.classes:
        rows = amount_text(int(views.class_counts[views.classes.index(None)]))
        yield f"{rows} rows without a class are a class of their own, null, of highest precedence."
    if release.views.n_rows > SHORT and not release.certificate.identity:
        digits = math.floor(math.log10(int(release.views.class_counts.max()))) + 1
        yield (
            f"The counts have up to {digits} digits, as a proof for so many tuples needs them; numbers that "
            "exact can be inverted. Fewer attributes or values need fewer, and so does "
            f"{words.form('rows', 'R')} with {words.given('allow_differences', True)}."
        )
    elif log_loss > math.log(len(views.classes)) > 0:
        yield (
            "The log-loss is above that of guessing: so few rows let flat scores look steeper than they are. "
            f"{words.given('rows', 'proven')} keeps them."
        )
