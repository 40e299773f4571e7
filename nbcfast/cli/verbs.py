"""The verbs of the command line, one function a verb, on the public interface alone."""

import csv
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast.cli import printable

Command = TypeVar("Command", bound=Callable[..., Any])
ProgressCallback = Callable[[int, int], None]

CSV_ENDINGS = (".csv", ".tsv", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
TUPLES_COUNTED = 1_000_000  # ties are looked for in the whole domain up to here


def run(arguments: list[str]) -> int:
    """Run the verb that `arguments` name; the exit code."""
    try:
        with verbs.make_context("nbcfast", arguments) as context:
            return int(verbs.invoke(context) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
        return 2
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.ClickException as error:
        raise ValueError(error.format_message()) from error


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(nbcfast.__version__, prog_name="nbcfast")
def verbs() -> None:
    """Publish naive Bayes classifiers and tables so that nobody can be read off them."""


def reads_table(command: Command) -> Command:
    """The argument and options of every verb that reads a table with a class."""
    decorators = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option("--class", "class_name", metavar="NAME", required=True, help="The column to predict."),
        click.option(
            "--columns",
            metavar="A,B,C",
            help="The attributes to use; all other columns are left out.  [default: all]",
        ),
        click.option("--weights", metavar="NAME", help="A column that says how often each row counts."),
        click.option(
            "--null",
            "nulls",
            metavar="TEXT",
            multiple=True,
            help="CSV: a text that means null; may be repeated.  [default: the empty text]",
        ),
        click.option(
            "--delimiter", metavar="CHAR", help=r"CSV: between fields.  [default: , and \t in .tsv]"
        ),
        click.option(
            "--text",
            "texts",
            metavar="NAME",
            multiple=True,
            help="CSV: keep this column as text, even if it holds numbers; may be repeated.",
        ),
        click.option(
            "--max-values",
            type=click.IntRange(min=1),
            default=65_536,
            show_default=True,
            help="Refuse attributes with more values than this.",
        ),
    ]
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def read(
    file: Path,
    class_name: str,
    columns: str | None,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> nbcfast.Table:
    """The table in `file`, CSV or Parquet by its ending."""
    chosen = None if columns is None else [*names_in(columns), class_name]
    taken = {"--class": class_name, "--weights": weights}
    for option, column in taken.items():
        if chosen is not None and column in chosen[:-1]:
            raise ValueError(f"--columns and {option} both name {column!r}")
    if weights == class_name:
        raise ValueError(f"--class and --weights both name {class_name!r}")
    import_module("pyarrow")  # where it is missing, main names the extra
    name = file.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if name.endswith(PARQUET_ENDINGS):
        if nulls or delimiter is not None or texts:
            raise ValueError("--null, --delimiter and --text are for CSV files")
        with progress("reading") as report:
            return nbcfast.read_parquet(file, columns=chosen, weights=weights, progress=report)
    if ending in CSV_ENDINGS:
        if delimiter is None:
            delimiter = "\t" if ending == ".tsv" else ","
        delimiter = delimiter.replace("\\t", "\t")
        if len(delimiter) != 1:
            raise ValueError(f"--delimiter must be one character, got {delimiter!r}")
        with progress("reading") as report:
            return nbcfast.read_csv(
                file,
                columns=chosen,
                null_values=nulls or ("",),
                types=dict.fromkeys(texts, "text"),
                weights=weights,
                delimiter=delimiter,
                progress=report,
            )
    raise ValueError(
        f"FILE must end in .csv, .tsv, .txt (or these with .gz), .parquet or .pq, got {file.name!r}"
    )


def names_in(text: str) -> list[str]:
    """The names in a comma-separated list; a name with a comma stands in double quotes."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise ValueError(f"--columns must be names with commas between them, got {text!r}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--columns names {name!r} twice")
    return names


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
        bar.start()  # here, so that nothing flickers when the work cannot even begin
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()


def label(value: object) -> str:
    """A value or a name as one piece of text."""
    if value is None:
        return "(null)"
    return printable(str(value)) if str(value).strip() else repr(value)


def plain(value: object) -> object:
    """A value as JSON holds it; what JSON has no kind for becomes text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def exact(number: int) -> int | str:
    """An integer for JSON: hexadecimal text beyond 2^53, which many readers would round."""
    return number if number <= 2**53 else hex(number)


def readable(number: int) -> str:
    """An integer for people: exact while it fits on a line."""
    if number < 10**15:
        return f"{number:,}"
    exponent = math.log10(number)
    return f"about 10^{exponent:.1f}" if exponent >= 300 else f"about {number:.1e}"


def pairs(rows: list[tuple[str, str]]) -> Grid:
    """Names on the left, what they are on the right."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return grid


def listing(first: str, *numbers: str) -> Grid:
    """An empty table: a column of names and columns of numbers."""
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column(first, overflow="fold")
    for number in numbers:
        grid.add_column(number, justify="right", no_wrap=True)
    return grid


def show(*parts: Text | Grid) -> None:
    """Print `parts` with an empty line after each, folded to the terminal or, in a pipe, not at all."""
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = 10_000
    with console.capture() as capture:
        for part in parts:
            console.print(part, Text(), sep="\n")
    print("\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip())


@verbs.command()
@reads_table
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def inspect(
    file: Path,
    class_name: str,
    columns: str | None,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
    max_values: int,
    as_json: bool,
) -> int:
    """Say what FILE (CSV or Parquet) holds for a classifier of the column NAME.

    Prints rows, classes, attributes with the sizes of their domains, (value, class) pairs without any
    row, and ties: rows, and tuples of the whole domain, whose best score is shared by several classes.

    What is printed comes from the private table and is not meant for publication.
    """
    table = read(file, class_name, columns, weights, nulls, delimiter, texts)
    if table.n_rows == 0:
        raise ValueError(f"{file}: no rows")
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
    sizes = {name: len(views.domain(name)) for name in views.attributes}
    zeros = {name: int((views.counts[name] == 0).sum()) for name in views.attributes}
    classes = [(value, int(count)) for value, count in zip(views.classes, views.class_counts, strict=True)]
    smallest = min(classes, key=lambda entry: entry[1])
    tuples = math.prod(sizes.values())
    cells = sum(sizes.values()) * len(classes)
    tied_rows = int(views.tied(table).sum())
    tied_tuples = views.tied_tuples(TUPLES_COUNTED)

    if as_json:
        found = {
            "file": str(file),
            "class": class_name,
            "rows": table.n_rows,
            "total_weight": int(views.n_rows),
            "classes": [{"label": plain(value), "count": count} for value, count in classes],
            "smallest_class": {"label": plain(smallest[0]), "count": smallest[1]},
            "attributes": [
                {"name": name, "values": sizes[name], "zero_counts": zeros[name]} for name in sizes
            ],
            "zero_counts": sum(zeros.values()),
            "cells": cells,
            "tuples": exact(tuples),
            "tied_rows": tied_rows,
            "tied_tuples": tied_tuples,
        }
        print(json.dumps(found, indent=2))
        return 0

    unit = "rows" if weights is None else "weight"
    summary = [("rows", f"{table.n_rows:,}")]
    if weights is not None:
        summary.append(("total weight", f"{int(views.n_rows):,}"))
    summary += [
        ("attributes", f"{len(sizes):,}"),
        ("tuples in the domain", readable(tuples)),
        ("smallest class", f"{label(smallest[0])} ({smallest[1]:,} {unit})"),
        ("zero counts", f"{sum(zeros.values()):,} of {cells:,} (value, class) pairs"),
        ("rows with tied scores", f"{tied_rows:,}"),
        (
            "tuples with tied scores",
            f"not counted (more than {TUPLES_COUNTED:,} tuples)"
            if tied_tuples is None
            else f"{tied_tuples:,}",
        ),
    ]
    by_class = listing(label(class_name), unit, "share")
    for value, count in classes:
        by_class.add_row(Text(label(value)), f"{count:,}", f"{count / int(views.n_rows):.1%}")
    by_attribute = listing("attribute", "values", "zero counts")
    for name in sizes:
        by_attribute.add_row(Text(label(name)), f"{sizes[name]:,}", f"{zeros[name]:,}")

    show(Text(printable(str(file)), style="bold"), pairs(summary), by_class, by_attribute)
    return 0
