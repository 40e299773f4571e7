"""What verbs read: files as their options say, and counts of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

import nbcfast
from nbcfast._core.numbers import exact as exactly
from nbcfast._reading.endings import is_parquet
from nbcfast.cli.beginnings import file_ending
from nbcfast.cli.naming import about
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import readable
from nbcfast.published.release import Release
from nbcfast.table.arrow import load_pyarrow
from nbcfast.verification.results import Verification

ProgressCallback = Callable[[int, int], None]
MOST_ROWS = 10**300
MOST_CLASSES = 256


def read(
    file: Path,
    class_name: str,
    columns: str | list[str] | None,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> nbcfast.Table:
    """The table in `file`, CSV or Parquet by its ending."""
    names = names_in(columns) if isinstance(columns, str) else columns
    chosen = None if names is None else [*names, class_name]
    taken = {"--class": class_name, "--weights": weights}
    for option, column in taken.items():
        if chosen is not None and column in chosen[:-1]:
            raise ValueError(f"--columns and {option} both name {column!r}")
    if weights == class_name:
        raise ValueError(f"--class and --weights both name {class_name!r}")
    load_pyarrow()  # where it is missing, main names the extra
    ending = file_ending(file)
    if ending.kind == "parquet":
        if nulls or delimiter is not None or texts:
            raise ValueError("--null, --delimiter and --text are for CSV files")
        with progress("reading") as report, about(file):
            return nbcfast.read_parquet(file, columns=chosen, weights=weights, progress=report)
    if delimiter is None:
        delimiter = ending.delimiter
    delimiter = delimiter.replace("\\t", "\t")
    if len(delimiter) != 1:
        raise ValueError(f"--delimiter must be one character, got {delimiter!r}")
    with progress("reading") as report, about(file):
        return nbcfast.read_csv(
            file,
            columns=chosen,
            null_values=nulls or ("",),
            types=dict.fromkeys(texts, "text"),
            weights=weights,
            delimiter=delimiter,
            progress=report,
        )


def expect_file(file: Path) -> None:
    """Refuse a name that nothing has: what else is wrong with it would be said of nothing."""
    file.stat()


def counted(
    file: Path,
    class_name: str,
    columns: str | None,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
    max_values: int,
    declared: Any = None,
) -> tuple[nbcfast.Table, nbcfast.Viewset]:
    """The table in `file`, with the domains that were declared, and its counts."""
    table = read(file, class_name, columns, weights, nulls, delimiter, texts)
    if declared is not None:
        table = declared.applied(table)
    if table.n_rows == 0:
        raise ValueError(f"{file}: no rows")
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
    views = nbcfast.count(
        table, class_name, None if columns is None else names_in(columns), max_values=max_values
    )
    return table, views


@contextmanager
def as_options(**options: str) -> Iterator[None]:
    """Let errors about these arguments of the library be about the options that give them."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        for argument, option in options.items():
            rest = text.removeprefix(argument)
            # Subclasses say more than their text.
            if type(error) in (ValueError, TypeError) and rest != text and not rest[:1].isalnum():
                raise ValueError(option + rest) from None
        raise


@contextmanager
def progress(what: str) -> Iterator[ProgressCallback | None]:
    """A `progress=` callback that draws a bar on stderr, or None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)

    def report(done: int, total: int) -> None:
        with suppress(RuntimeError):  # it draws in a thread, which a limit of the process may not allow
            bar.start()  # here, so that nothing flickers when the work cannot even begin
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()


def rows_of(rows: str, allow_differences: bool) -> Literal["smallest", "proven"] | int:
    """The value of --rows."""
    if rows in ("smallest", "proven"):
        if allow_differences:
            raise ValueError("--allow-differences goes with --rows R, a number")
        return "smallest" if rows == "smallest" else "proven"
    try:
        number = exactly(rows.replace(",", ""), "--rows")
    except ValueError:
        number = -1
    if not isinstance(number, int) or not 1 <= number <= MOST_ROWS:
        raise ValueError(
            f"--rows must be 'smallest', 'proven' or a number from 1 to 10^300, got {rows[:60]!r}"
        )
    return number


def read_otherwise(
    found: Verification,
    release: Release,
    against: Path,
    table: nbcfast.Table,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> str | None:
    """What may be the matter where a classifier is not that of the table: it may have been read otherwise."""
    if all(check.passed is not False for check in found.checks if check.name == "equivalence"):
        return None
    options = {"--weights NAME": weights is None}
    if not is_parquet(against):
        options |= {
            "--null TEXT": not nulls,
            "--delimiter CHAR": delimiter is None,
            "--text NAME": not texts,
        }
    total = table.n_rows if table.weights is None else int(table.weights.sum())
    counted = f"{against}, as it was read, counts {total:,} in all"
    if release.certificate.identity:
        stated = int(release.views.n_rows)
        options["--weights NAME"] &= stated != total
        counted += f", and the release, which states that its counts are the private ones, {readable(stated)}"
    else:
        counted += ", and of how many the release was made its certificate does not say"
    left = [option for option, may_be in options.items() if may_be]
    if not left:
        return f"{counted}."
    several = f"{', '.join(left[:-1])} or {left[-1]}" if len(left) > 1 else left[0]
    return f"{counted}. If it was published with {several}, give the same here: without, the answer stays no."


def private_table(
    release: Release,
    against: Path,
    class_name: str,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> nbcfast.Table:
    """The private table: the attributes that the release has, in its bins, and the class."""
    names = list(release.views.attributes)
    for option, column in (("--class", class_name), ("--weights", weights)):
        if column in names:
            raise ValueError(f"{option} must be none of the attributes of the release, got {column!r}")
    binned = {
        name: release.views.domain(name)
        for name in names
        if any(isinstance(value, nbcfast.Interval) for value in release.views.domain(name))
    }
    if not is_parquet(against):
        # A column of numbers that was published as text was read as text.
        typed = [*names, class_name]
        domains = {**{name: release.views.domain(name) for name in names}, class_name: release.views.classes}
        texts = (
            *texts,
            *(name for name in typed if name not in texts and any(isinstance(v, str) for v in domains[name])),
        )
    table = read(against, class_name, names, weights, nulls, delimiter, texts)
    if table.n_rows == 0:
        raise ValueError(f"{against}: no rows")
    for name, intervals in binned.items():
        table = table.bin(name, edges=intervals)
    return table
