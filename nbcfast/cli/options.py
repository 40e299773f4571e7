"""The group of all verbs, and the options that many of them take."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import nbcfast
from nbcfast._core.numbers import plainly
from nbcfast.cli.naming import Verb
from nbcfast.cli.reading import Reading

Command = Callable[..., int]  # takes what its options say; the exit code


class Whole(click.IntRange):
    """A whole number in plain digits: Python would take "４" and " 4 " as well."""

    name = "integer range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not plainly(value):
            self.fail(f"{value!a} is not a number in digits 0 to 9 without blanks.", param, ctx)
        return super().convert(value, param, ctx)


def run(arguments: list[str]) -> int:
    """Run the verb that `arguments` name; the exit code."""
    for more in (
        "inspect_verb",
        "verify_verb",
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
    ):
        import_module(f"nbcfast.cli.{more}")  # whose verbs register themselves
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
    """Publish naive Bayes classifiers and tables, with exact bounds on what they tell of people."""


verbs.command_class = Verb


def reads_table(command: Command) -> Command:
    """The argument and options of every verb that reads a table with a class; see `reads_file`."""
    decorators = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option("--class", "class_name", metavar="NAME", required=True, help="The column to predict."),
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


def reads_file(command: Command, max_values: bool = False) -> Command:
    """The options that say how a file is read: they reach the command as one `reading`."""

    @wraps(command)
    def with_reading(
        *arguments: object,
        weights: str | None,
        nulls: tuple[str, ...],
        delimiter: str | None,
        texts: tuple[str, ...],
        **others: object,
    ) -> int:
        return command(*arguments, reading=Reading(weights, nulls, delimiter, texts), **others)

    complete: Command = with_reading
    decorators = [
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
    ]
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
    return complete


def as_json(command: Command) -> Command:
    return click.option("--json", "json_only", is_flag=True, help="Print one JSON object instead.")(command)
