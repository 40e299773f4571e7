"""The verb `response plan`."""

import json
from fractions import Fraction
from pathlib import Path

import click

from nbcfast import response
from nbcfast._core.numbers import exact_share
from nbcfast.cli.naming import Verb
from nbcfast.cli.options import Whole, verbs
from nbcfast.cli.printing import pairs, show
from nbcfast.cli.schemes_asked import AskedScheme, privacy_document, privacy_grid, privacy_lines


@verbs.group(name="response")
def response_verbs() -> None:
    """Plan a survey by randomised response."""


response_verbs.command_class = Verb


@response_verbs.command(name="plan")
@click.option("--theta", metavar="P", help="The probability of the truth, or one a group with commas.")
@click.option("--groups", metavar="A,B;C", help="Columns under one coin; see `disguise`.")
@click.option("--each", is_flag=True, help="A coin for each column of --groups.")
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A scheme.json, in place of --theta and --groups.",
)
@click.option("--class", "class_name", metavar="NAME", help="The class.  [default: one outside the scheme]")
@click.option("--n", "respondents", type=Whole(min=1), help="Respondents: say how good they are.")
@click.option("--error", metavar="E", help="The largest standard error of a share: say how many it takes.")
@click.option("--accuracy", metavar="E", help="The largest standard error of a measured accuracy.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def plan(
    theta: str | None,
    groups: str | None,
    each: bool,
    scheme_file: Path | None,
    class_name: str | None,
    respondents: int | None,
    error: str | None,
    accuracy: str | None,
    as_json: bool,
) -> int:
    """Say how many respondents a scheme takes, or how good the estimates of N of them are.

    What is printed holds for the worst population.

    Leaves with 1 if the scheme hides nothing of a column.
    """
    scheme = AskedScheme(theta, groups, each, scheme_file).scheme()
    if (respondents is None) == (error is None and accuracy is None):
        raise ValueError("expected either --n, or --error and --accuracy or one of them")
    planned = response.plan(
        respondents,
        scheme,
        class_name=class_name,
        standard_error=error_in(error, "--error"),
        accuracy=error_in(accuracy, "--accuracy"),
    )
    if as_json:
        print(json.dumps({**planned.to_dict(), "privacy": privacy_document(scheme)}, indent=2))
        return int(bool(scheme.exposed))
    rows = [
        ("respondents", f"{planned.n:,}"),
        ("standard error of a share", f"at most {error_text(planned.standard_error)}"),
    ]
    if planned.accuracy_error is not None:
        rows.append(("of a measured accuracy", f"at most {error_text(planned.accuracy_error)}"))
    rows.append(("in place of each truthful one", f"{planned.blow_up:.3g}"))
    show(privacy_grid(scheme), pairs([*rows, *privacy_lines(scheme)]))
    return int(bool(scheme.exposed))


def error_text(error: float) -> str:
    """A standard error; above 1 it is of no use, and its digits neither."""
    return f"{error:.5f}" if error < 1 else f"{error:.2g} (useless)"


def error_in(text: str | None, option: str) -> Fraction | None:
    """A standard error above 0 and below 1, as a number or a percentage."""
    if text is None:
        return None
    error = Fraction(exact_share(text, option))
    if not 0 < error < 1:
        raise ValueError(f"{option} must be above 0 and below 1, or 100%, got {text}")
    return error
