"""How files are read: as the options say that were typed once, for every file of a command."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypedDict

import nbcfast
from nbcfast._core.errors import NoColumnError
from nbcfast._reading.endings import ending_of, is_parquet
from nbcfast.attack.membership import SAME, expect_others
from nbcfast.cli.bars import progress
from nbcfast.cli.beginnings import file_ending, uncounted
from nbcfast.cli.naming import about
from nbcfast.cli.parsing import names_in
from nbcfast.table.arrow import load_pyarrow

MOST_CLASSES = 256


class CsvOptions(TypedDict):
    """How a CSV file is read, as arguments of `nbcfast.read_csv`."""

    delimiter: str
    null_values: tuple[str, ...]
    types: dict[str, str]


@dataclass(frozen=True)
class Reading:
    """How the files of a command are read.

    Parameters
    ----------
    weights : str or None
        --weights: the column that says how often a row counts.
    nulls : tuple of str
        --null: the texts of a CSV file that mean null; none for the empty text.
    delimiter : str or None
        --delimiter: what stands between fields, as it is typed; None for what the ending says.
    texts : tuple of str
        --text: columns of a CSV file that stay text.
    """

    weights: str | None = None
    nulls: tuple[str, ...] = ()
    delimiter: str | None = None
    texts: tuple[str, ...] = ()

    @property
    def is_of_csv(self) -> bool:
        """Whether an option was given that says something of CSV files alone."""
        return bool(self.nulls) or self.delimiter is not None or bool(self.texts)

    @property
    def unweighted(self) -> Reading:
        """The same where each row counts once."""
        return replace(self, weights=None)

    def left_out(self, file: Path) -> list[str]:
        """The options, as they are typed, that were not given and by which the file might read otherwise."""
        given = {"--weights NAME": self.weights is not None}
        if not is_parquet(file):
            given |= {
                "--null TEXT": bool(self.nulls),
                "--delimiter CHAR": self.delimiter is not None,
                "--text NAME": bool(self.texts),
            }
        return [option for option, is_given in given.items() if not is_given]

    def like(self, file: Path, domains: Mapping[str, Iterable[object]]) -> Reading:
        """The same for another file with columns of these domains: what is text there is kept as text.

        A CSV file would give numbers where all its texts look like some; a Parquet file has types.
        """
        if is_parquet(file):
            return self
        kept = [name for name, values in domains.items() if any(isinstance(value, str) for value in values)]
        return replace(self, texts=tuple(dict.fromkeys((*self.texts, *kept))))

    def csv_options(self, file: Path) -> CsvOptions | None:
        """How a CSV file is read; None for a Parquet file, of which no option can say anything."""
        ending = file_ending(file)
        if ending.kind == "parquet":
            if self.is_of_csv:
                raise ValueError("--null, --delimiter and --text are for CSV files")
            return None
        delimiter = ending.delimiter if self.delimiter is None else self.delimiter
        delimiter = delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise ValueError(f"--delimiter must be one character, got {delimiter!r}")
        return {
            "delimiter": delimiter,
            "null_values": self.nulls or ("",),
            "types": dict.fromkeys(self.texts, "text"),
        }

    def uncounted(self, file: Path, used: Collection[str], implied: bool = False) -> list[str]:
        """A remark on each column that may say how often a row counts; see `beginnings.uncounted`."""
        return uncounted(file, self.weights, self.delimiter, used, implied)

    def table(self, file: Path, names: Sequence[str] | None) -> nbcfast.Table:
        """These columns of a file (all for None), which may have no rows."""
        load_pyarrow()  # where it is missing, main names the extra
        if names is not None and self.weights in names:
            raise ValueError(f"--weights names {self.weights!r}, which is used otherwise")
        options = self.csv_options(file)
        with progress("reading") as report, about(file):
            if options is None:
                return nbcfast.read_parquet(file, columns=names, weights=self.weights, progress=report)
            return nbcfast.read_csv(file, columns=names, weights=self.weights, progress=report, **options)

    def rows(self, file: Path, names: Sequence[str] | None) -> nbcfast.Table:
        """These columns of a file (all for None), which has rows."""
        return expect_rows(file, self.table(file, names))

    def source(self, file: Path, names: Sequence[str]) -> Path | nbcfast.Table:
        """The path of a file that can be read batch by batch, or else its table."""
        if self == Reading() and ending_of(file) is not None:
            load_pyarrow()  # where it is missing, main names the extra
            return file
        return self.rows(file, names)

    def with_class(self, file: Path, class_name: str, names: Sequence[str] | None) -> nbcfast.Table:
        """These attributes of a file (all columns for None), and its class."""
        for option, column in (("--class", class_name), ("--weights", self.weights)):
            if names is not None and column in names:
                raise ValueError(f"--columns and {option} both name {column!r}")
        if self.weights == class_name:
            raise ValueError(f"--class and --weights both name {class_name!r}")
        return self.table(file, None if names is None else [*names, class_name])

    def like_counted(self, file: Path, views: nbcfast.Viewset, class_name: str) -> nbcfast.Table:
        """The columns that were counted, in another file; numbers are in bins where they were."""
        names = list(views.attributes)
        domains = {**{name: views.domain(name) for name in names}, class_name: views.classes}
        table = self.like(file, domains).with_class(file, class_name, names)
        for name in names:
            bins = [value for value in views.domain(name) if isinstance(value, nbcfast.Interval)]
            if bins:
                try:
                    table = table.bin(name, edges=_and_between(bins))
                except (TypeError, ValueError) as error:
                    raise ValueError(f"{file}: {error}") from None
        return table

    def others(
        self, holdout: Path, file: Path, table: nbcfast.Table, views: nbcfast.Viewset, class_name: str
    ) -> nbcfast.Table:
        """Rows that are not in FILE, whose table is given and was counted.

        Of FILE itself nothing could be told, and that would look like safety.
        """
        _expect_another(holdout, file, SAME)
        others = self.like_counted(holdout, views, class_name)
        try:
            expect_others(table, others, [*views.attributes, class_name])
        except ValueError as error:
            raise ValueError(f"--holdout {str(holdout)!r}: {error}") from None
        return others

    def people(self, holdout: Path, file: Path, names: Sequence[str]) -> nbcfast.Table:
        """People who are not in FILE, each of whom counts once."""
        _expect_another(holdout, file, "expected people who are not in FILE, got FILE itself")
        try:
            return self.unweighted.rows(holdout, names)
        except NoColumnError:
            raise
        except ValueError as error:
            raise ValueError(f"--holdout {str(holdout)!r}: {error}") from None


def _expect_another(holdout: Path, file: Path, why: str) -> None:
    with suppress(OSError):  # that one of them is not there is said when it is read
        if os.path.samefile(file, holdout):
            raise ValueError(f"--holdout: {why}")


def _and_between(bins: list[nbcfast.Interval]) -> list[nbcfast.Interval]:
    """Bins, and what lies before, between and after them.

    A number there is a value that no row of the release has: it is counted, and not an error.
    """
    whole = [] if bins[0].low is None else [nbcfast.Interval(None, bins[0].low)]
    for one, other in pairwise(bins):
        whole.append(one)
        if one.high is not None and other.low is not None and one.high < other.low:
            whole.append(nbcfast.Interval(one.high, other.low))
    whole.append(bins[-1])
    return whole if bins[-1].high is None else [*whole, nbcfast.Interval(bins[-1].high, None)]


def expect_rows(file: Path, table: nbcfast.Table) -> nbcfast.Table:
    """The table of a file, if it has rows."""
    if table.n_rows == 0:
        raise ValueError(f"{file}: no rows")
    return table


def expect_file(file: Path) -> None:
    """Refuse a name that nothing has: what else is wrong with it would be said of nothing."""
    file.stat()


class Domains(Protocol):
    """Domains that were declared."""

    def applied(self, table: nbcfast.Table) -> nbcfast.Table: ...


def counted(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declared: Domains | None = None,
) -> tuple[nbcfast.Table, nbcfast.Viewset]:
    """The table in `file`, with the domains that were declared, and its counts."""
    attributes = None if columns is None else names_in(columns)
    table = reading.with_class(file, class_name, attributes)
    if declared is not None:
        table = declared.applied(table)
    expect_rows(file, table)
    if class_name in table.names and len(table.domain(class_name)) > MOST_CLASSES:
        raise ValueError(
            f"--class {class_name!r} has {len(table.domain(class_name)):,} values, more than {MOST_CLASSES} "
            "classes: bin it first"
        )
    for name in table.names:
        size = len(table.domain(name))
        if name != class_name and size > max_values:
            raise ValueError(
                f"column {name!r} has {size:,} values, more than --max-values {max_values:,}: "
                "choose other --columns, or raise the limit"
            )
    return table, nbcfast.count(table, class_name, attributes, max_values=max_values)
