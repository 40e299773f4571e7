"""The group of all verbs, and the options that many of them take."""

import os
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from nbcfast._core.numbers import plainly
from nbcfast._core.spelling import listed
from nbcfast._core.threads import MOST_THREADS, VARIABLE
from nbcfast._reading.hints import expect_encoding
from nbcfast.cli.completing import VARIABLE_OF_SHELLS, completed, header
from nbcfast.cli.grammar import EXITS, FORMAT, THREADS, AllVerbs, kept
from nbcfast.cli.naming import split_otherwise
from nbcfast.cli.printing import keep_verbose
from nbcfast.cli.reading import Reading
from nbcfast.cli.standard_input import FORMATS
from nbcfast.cli.version import remembered, tell_version

Command = Callable[..., int]  # takes what its options say; the exit code

# What says how a file is read, in the same words for every verb.
READING = ("file", "weights", "nulls", "delimiter", "texts", "encoding", FORMAT)


class Whole(click.IntRange):
    """A whole number in plain digits: Python would take "４" and " 4 " as well."""

    name = "integer range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not plainly(value):
            self.fail(f"{value!a} is not a number in digits 0 to 9 without blanks.", param, ctx)
        return super().convert(value, param, ctx)


def run(arguments: list[str]) -> int:
    """Run the verb that `arguments` name; the exit code."""
    load()
    asked = os.environ.get(VARIABLE_OF_SHELLS)
    if asked:
        return completed(verbs, asked)
    try:
        with verbs.make_context("nbcfast", arguments) as context:
            return int(verbs.invoke(context) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        # A name alone, of all or of a group, asks what there is, as --help does.
        click.echo(error.ctx.get_help() if error.ctx else error.format_message())
        return 0
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.ClickException as error:
        raise ValueError(f"{error.format_message()}{columns_of(error)}") from error


def columns_of(error: click.ClickException) -> str:
    """The columns of FILE where the class is missing: one of them is meant."""
    if not isinstance(error, click.MissingParameter) or error.ctx is None:
        return ""
    of_class = error.param_hint == "'--class'" or (
        error.param is not None and error.param.name == "class_name"
    )
    names = header(error.ctx) if of_class else []
    if not names:
        return ""
    return (
        f" Expected one of the columns of {error.ctx.params['file']}: {listed(names)}{split_otherwise(names)}"
    )


def load() -> None:
    """Import the modules of all verbs, which register themselves."""
    for more in (
        "inspect_verb",
        "explain_verb",
        "verify_verb",
        "export_verb",
        "init_verb",
        "gate_verb",
        "advise_verb",
        "publish_verb",
        "ledger_verbs",
        "attack_verb",
        "closeness_verb",
        "skyline_verbs",
        "anonymize_verb",
        "template_verbs",
        "disclose_verb",
        "disguise_verb",
        "estimate_verb",
        "plan_verb",
        "domain_verb",
        "risk_verbs",
        "report_verb",
        "predict_verb",
        "points_verb",
        "completion_verb",
    ):
        import_module(f"nbcfast.cli.{more}")


@click.group(
    cls=AllVerbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    epilog=EXITS,
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=remembered,
    help="With --version: one JSON object for a report of a fault, with all that the kernels depend on.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=tell_version,
    help="Say which version this is, and leave.",
)
def verbs() -> None:
    """Publish naive Bayes classifiers and tables, with exact bounds on what they tell of people."""


def reads_any_table(command: Command) -> Command:
    """The argument and options of a verb that reads a table with a class, or without one."""
    return reads_table(command, has_class=False)


def reads_table(command: Command, has_class: bool = True, without_class: str = "") -> Command:
    """The argument and options of every verb that reads a table with a class; see `reads_file`."""
    decorators = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--class",
            "class_name",
            metavar="NAME",
            required=has_class,
            help=f"The column to predict.{'' if has_class else without_class}",
        ),
        click.option(
            "--columns",
            metavar="A,B,C",
            help="The attributes to use; all other columns are left out.  [default: all]",
        ),
    ]
    command = reads_file(command, max_values=True)
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def reads_private(command: Command) -> Command:
    """The options of `reads_file`, for a file that no argument names: it is none from standard input."""
    return reads_file(command, from_stdin=False)


# How a file is read.
OF_CSV = (
    click.option("--weights", metavar="NAME", help="A column that says how often each row counts."),
    click.option(
        "--null",
        "nulls",
        metavar="TEXT",
        multiple=True,
        help="CSV: a text that means null; may be repeated.  [default: the empty text]",
    ),
    click.option("--delimiter", metavar="CHAR", help=r"CSV: between fields.  [default: , and \t in .tsv]"),
    click.option(
        "--text",
        "texts",
        metavar="NAME",
        multiple=True,
        help="CSV: keep this column as text, even if it holds numbers; may be repeated.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="CSV: utf-16, cp1252 or another.  [default: utf-8]",
    ),
)


def reads_file(command: Command, max_values: bool = False, from_stdin: bool = True) -> Command:
    """The options that say how a file is read: they reach the command as one `reading`."""

    @wraps(command)
    def with_reading(
        *arguments: object,
        weights: str | None,
        nulls: tuple[str, ...],
        delimiter: str | None,
        texts: tuple[str, ...],
        encoding: str | None,
        **others: object,
    ) -> int:
        if encoding is not None:
            expect_encoding(encoding)
        return command(*arguments, reading=Reading(weights, nulls, delimiter, texts, encoding), **others)

    complete: Command = with_reading
    decorators = list(OF_CSV)
    if from_stdin:
        decorators.append(
            click.option(
                "--format",
                FORMAT,
                type=click.Choice(tuple(FORMATS)),
                expose_value=False,
                callback=kept,
                help="With - for FILE: what standard input holds.",
            )
        )
    if max_values:
        decorators.append(
            click.option(
                "--max-values",
                type=Whole(min=1),
                default=65_536,
                show_default=True,
                help="Refuse attributes with more values than this.",
            )
        )
    for decorator in reversed(decorators):
        complete = decorator(complete)
    return computes(complete)


def computes(command: Command) -> Command:
    """The option of every verb that computes: on how many threads."""
    return click.option(
        "--threads",
        THREADS,
        metavar="N",
        type=Whole(1, MOST_THREADS),
        expose_value=False,
        callback=kept,
        help=f"How many threads work at once; no result depends on it.  [default: {VARIABLE}, or all cores]",
    )(command)


def as_json(command: Command) -> Command:
    return click.option("--json", "json_only", is_flag=True, help="Print one JSON object instead.")(command)


def verbose(command: Command) -> Command:
    """The option that asks for details, which `printing.tell` looks up: no command takes it itself."""
    return click.option(
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=keep_verbose,
        help="Also print the details behind the verdict.",
    )(command)
