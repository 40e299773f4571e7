"""How files are read: as the options say that were typed once, for every file of a command."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import nbcfast
from nbcfast._core.errors import NoColumnError
from nbcfast._reading.csv_files import CsvForm
from nbcfast._reading.endings import READ, Ending, delimiter_of, ending_of, is_parquet
from nbcfast._reading.hints import UnreadableError, look_at, refuse_folder
from nbcfast._reading.seen import SeenColumn, seen
from nbcfast._reading.source import AnyTable, File, InMemory
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import OPTIONS, about
from nbcfast.cli.parsing import names_in
from nbcfast.domains import Declared
from nbcfast.publishing.beginnings import uncounted
from nbcfast.publishing.inputs import Caller, counts_of, place, read_declared
from nbcfast.table.arrow import load_pyarrow


class CsvOptions(TypedDict):
    """How a CSV file is read, as arguments of `nbcfast.read_csv`."""

    delimiter: str
    null_values: tuple[str, ...]
    types: dict[str, str]
    encoding: str


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
    encoding : str or None
        --encoding: that of a CSV file; None for UTF-8.
    """

    weights: str | None = None
    nulls: tuple[str, ...] = ()
    delimiter: str | None = None
    texts: tuple[str, ...] = ()
    encoding: str | None = None

    @property
    def is_of_csv(self) -> bool:
        """Whether an option was given that says something of CSV files alone."""
        return any(one not in (None, ()) for one in (self.nulls, self.delimiter, self.texts, self.encoding))

    @property
    def unweighted(self) -> Reading:
        """The same where each row counts once."""
        return replace(self, weights=None)

    def left_out(self, file: Path) -> list[str]:
        """The options, as they are typed, that were not given and by which the file might read otherwise.

        Another encoding is none of them: read as UTF-8 the file would have been refused.
        """
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
                raise ValueError("--null, --delimiter, --text and --encoding are for CSV files")
            return None
        return {
            "delimiter": self.csv_delimiter(file),
            "null_values": self.nulls or ("",),
            "types": dict.fromkeys(self.texts, "text"),
            "encoding": self.encoding or "utf8",
        }

    def csv_delimiter(self, file: Path) -> str:
        """What stands between the fields of a CSV file."""
        delimiter = delimiter_of(file) if self.delimiter is None else self.delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise ValueError(f"--delimiter must be one character, got {delimiter!r}")
        return delimiter

    def seen(self, file: Path, names: Sequence[str] | None) -> list[SeenColumn]:
        """What these columns of a file (all for None) hold, batch by batch."""
        _expect_reader(file)
        options = self.csv_options(file)
        if not file.is_file():  # what can be read once, and would not be for a second attempt
            return seen(InMemory(self.rows(file, names)))
        form = None
        if options is not None:
            given = (options["delimiter"], options["null_values"], options["encoding"])
            form = CsvForm.of(str(file), *given)
        with progress("reading") as report, about(file):
            source = File(file, "FILE", form)
            weights = [] if self.weights is None else [self.weights]
            names = None if names is None else list(dict.fromkeys([*names, *weights]))
            source.expect(dict.fromkeys([*(names or []), *weights, *self.texts]))

            def done(rows: int, total: int) -> None:
                if report is not None:
                    report(*((rows, total) if total else source.share))

            found = seen(source, names, as_text=self.texts, progress=done)
        if not found or not found[0].rows:
            raise UnreadableError(f"{file}: no rows", look_at(str(file)))
        return found

    def uncounted(self, file: Path, used: Collection[str], implied: bool = False) -> list[str]:
        """A remark on each column that may say how often a row counts; see `beginnings.uncounted`."""
        return uncounted(file, self.weights, self.delimiter, used, implied, OPTIONS, self.encoding)

    def table(self, file: Path, names: Sequence[str] | None) -> nbcfast.Table:
        """These columns of a file (all for None), which may have no rows."""
        _expect_reader(file)
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
            _expect_reader(file)
            return file
        return self.rows(file, names)

    def with_class(self, file: Path, class_name: str, names: Sequence[str] | None) -> nbcfast.Table:
        """These attributes of a file (all columns for None), and its class."""
        for option, column in (("--class", class_name), ("--weights", self.weights)):
            if names is not None and column in names:
                raise ValueError(f"--columns and {option} both name {column!r}")
        if self.weights == class_name:
            raise ValueError(f"--class and --weights both name {class_name!r}")
        table = self.table(file, None if names is None else [*names, class_name])
        with about(file):
            table.column(class_name)  # what else may be the matter would be said of another table
        return table

    @property
    def caller(self) -> Caller:
        """Who types these options, for what is published."""
        return Caller(
            words=OPTIONS, reads=self.read, stages=progress, encoding=self.encoding, nulls=self.nulls
        )

    def read(
        self,
        given: AnyTable,
        where: str,
        class_name: str,
        columns: Sequence[str] | None,
        *,
        texts: Collection[str] = (),
        weighted: bool = True,
    ) -> nbcfast.Table:
        """The table of a file that an option names; see `Reads`."""
        file = Path(place(given, where))
        reading = self if weighted else self.unweighted
        if not is_parquet(file):
            reading = replace(reading, texts=tuple(dict.fromkeys((*self.texts, *texts))))
        return reading.with_class(file, class_name, columns)

    def people(self, holdout: Path, file: Path, names: Sequence[str]) -> nbcfast.Table:
        """People who are not in FILE, each of whom counts once."""
        _expect_another(holdout, file, "expected people who are not in FILE, got FILE itself")
        try:
            return expect_rows(holdout, self.unweighted.rows(holdout, names))
        except NoColumnError:
            raise
        except UnreadableError:
            raise
        except ValueError as error:
            raise ValueError(f"--holdout {str(holdout)!r}: {error}") from None


def _expect_reader(file: Path) -> None:
    """Have what reads a Parquet file; where it is missing, main names the extra."""
    if is_parquet(file):
        load_pyarrow()


def _expect_another(holdout: Path, file: Path, why: str) -> None:
    with suppress(OSError):  # that one of them is not there is said when it is read
        if os.path.samefile(file, holdout):
            raise ValueError(f"--holdout: {why}")


def file_ending(file: Path) -> Ending:
    """What the name of FILE says of it."""
    refuse_folder(str(file))
    ending = ending_of(file)
    if ending is None:
        raise UnreadableError(f"FILE must end in {READ}, got {file.name!r}", look_at(str(file)))
    return ending


def expect_rows(file: Path, table: nbcfast.Table) -> nbcfast.Table:
    """The table of a file, if it has rows."""
    if table.n_rows == 0:
        raise UnreadableError(f"{file}: no rows", look_at(str(file)))
    return table


def expect_file(file: Path) -> None:
    """Refuse a name that nothing has: what else is wrong with it would be said of nothing."""
    file.stat()


def counted(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declared: Declared | None = None,
    *,
    publishing: bool = False,
    raw: nbcfast.Table | None = None,
) -> tuple[nbcfast.Table, nbcfast.Viewset]:
    """The table in `file`, or what was read of it, and its counts."""
    attributes = None if columns is None else names_in(columns)
    table = read_declared(
        file if raw is None else raw,
        class_name,
        attributes,
        declared,
        reading.caller if raw is None else Caller(words=OPTIONS),
        weights=reading.weights,
        delimiter=reading.delimiter,
    )
    return table, counts_of(
        table, str(file), class_name, attributes, max_values, OPTIONS, publishing=publishing
    )
