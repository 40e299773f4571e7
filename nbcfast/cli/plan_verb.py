"""The group `response`, and its verb `plan`."""

from fractions import Fraction
from pathlib import Path

import click

from nbcfast import response
from nbcfast._core.numbers import exact_share
from nbcfast.cli.options import Whole, verbose, verbs
from nbcfast.cli.printing import pairs, tell
from nbcfast.cli.reports_asked import with_report_alone
from nbcfast.cli.schemes_asked import AskedScheme, other_coins, privacy_document, privacy_grid, privacy_lines
from nbcfast.reports.judged_pages import answers_page
from nbcfast.reports.response_summary import of_plan


@verbs.group(name="response", short_help="Randomised response: plan, disguise, estimate.")
def response_verbs() -> None:
    """Randomised response: plan a survey, disguise its answers, and estimate from them."""


@response_verbs.command(
    name="plan",
    short_help="Say how many respondents a scheme takes.",
    example="nbcfast response plan --theta 80% --groups smokes,drinks --each --error 2%",
)
@click.option("--theta", metavar="P", help="The probability of the truth, or one a group with commas.")
@click.option("--groups", metavar="A,B;C", help="Columns under one coin; see `response disguise`.")
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
@with_report_alone
@verbose
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
    steps = other_coins(theta) if scheme.exposed else []
    tell(
        of_plan(planned, scheme, "a survey by randomised response", steps),
        lambda: {**planned.to_dict(), "privacy": privacy_document(scheme)},
        lambda: [privacy_grid(scheme), pairs(privacy_lines(scheme))],
        as_json=as_json,
        page=lambda summary: answers_page(scheme.privacy(), summary, planned),
    )
    return int(bool(scheme.exposed))


def error_in(text: str | None, option: str) -> Fraction | None:
    """A standard error above 0 and below 1, as a number or a percentage."""
    if text is None:
        return None
    error = Fraction(exact_share(text, option))
    if not 0 < error < 1:
        raise ValueError(f"{option} must be above 0 and below 1, or 100%, got {text}")
    return error
