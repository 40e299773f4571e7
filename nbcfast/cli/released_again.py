"""What `publish` proposes beside what it wrote: other releases of the same rows, and what these add up to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from nbcfast._core.numbers import amount_text
from nbcfast._reading.endings import STANDARD_INPUT
from nbcfast._wire.messages import printable
from nbcfast.canonical.advice.option_terms import MOST_ADVISED
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.asked_again import advised, asked
from nbcfast.cli.limits_asked import name_of
from nbcfast.publishing.one_answer import ABOUT
from nbcfast.publishing.prepared import Prepared
from nbcfast.publishing.report import Publication
from nbcfast.reports.summary import FURTHER, REPLACED, Decision

NOBODY = ["--min-flip", "1"]  # how it is asked that nobody's class shows
NOISE = (
    "Each further draw of the same people adds to what is known of them, and their epsilons add up: enter "
    "each in a ledger (--ledger FILE) when it is drawn."
)


def over(context: click.Context, written: bool) -> list[str]:
    """What replaces a release that is there."""
    return ["--overwrite"] if written or context.params["overwrite"] else []


def worth_more(prepared: Prepared, made: Publication, written: bool) -> list[Decision]:
    """What is done with a classifier that is right no more often than one answer for everybody."""
    if not any(finding.about == ABOUT for finding in made.findings):
        return []
    context = click.get_current_context()
    other = "" if made.release.certificate.equal is not False else ", a larger --amplification"
    question = (
        f"Use more columns, finer values, a larger domain{other} or wider limits: as it is, one answer for "
        "everybody is as good."
    )
    menu = context.params.get("menu")
    if prepared.policy is not None:
        return [Decision(question)]
    if menu is not None:
        again = asked(context, without={"overwrite"}, more=over(context, written))
        return [Decision(question, (f"offer more in {printable(str(menu))}", again))]
    if not prepared.views.attributes or prepared.views.n_rows > MOST_ADVISED:
        return [Decision(question)]
    return [Decision(question, tuple(advised(context, bool(undeclared(prepared.views)), written)))]


def nobody_shows(prepared: Prepared, made: Publication, written: bool) -> list[Decision]:
    """How it is had that nobody's class shows, where that of some does and no limit keeps it back."""
    leak = made.leak
    shown = any(one.about == "class shows" and one.state == "warned" for one in made.findings)
    if not shown or leak is None or not leak.shows_class or prepared.views.n_rows > MOST_ADVISED:
        return []
    context, many = click.get_current_context(), amount_text(leak.shows_class)
    price = _price(made)
    question = f"Have nobody's class show instead, where that of {many} does here: {price}"
    if prepared.policy is not None:
        where = printable(prepared.policy.where)
        return [Decision(question, (f"min_flip = 1 in [limits] of {where}", _tried(context, written)))]
    if context.params.get("menu") is None:
        return [
            Decision(question, tuple(advised(context, bool(undeclared(prepared.views)), written, NOBODY)))
        ]
    steps = (_tried(context, written, NOBODY), _replaced(context, written, NOBODY))
    return [Decision(question, steps)]


def _price(made: Publication) -> str:
    """What it costs that nobody's class shows, where that was measured."""
    advice = made.advice
    measured = [] if advice is None else [one for one in advice.front if one.flip == 1 and one.keeps]
    if advice is None or not measured:
        return "fewer may be answered right then, and how many is said before anything is written."
    most = max(one.accuracy for one in measured)
    return (
        f"a domain of the menu has that, and {most:.2%} of rows that were held out are answered right in "
        f"place of {advice.best.accuracy:.2%}."
    )


def _tried(context: click.Context, written: bool, limits: Sequence[str] = ()) -> str:
    """The command that says what it costs, and writes nothing."""
    return _replaced(context, written, limits, "--dry-run")


def _replaced(context: click.Context, written: bool, limits: Sequence[str], *more: str) -> str:
    """The command that writes it in place of what is there, under these limits."""
    without = {"overwrite", *map(name_of, limits[::2])}
    return asked(context, without=without, more=[*limits, *more, *over(context, written)])


def further(written: bool, *, kept: bool, by: str | None = None) -> list[Decision]:
    """What further releases of the same people add up to; nothing where a ledger is `kept`."""
    if kept:
        return []
    context = click.get_current_context()
    if by is not None:
        return [Decision(REPLACED)]
    file = Path(str(context.params["file"]))
    # Of standard input it is here, and not among devices.
    beside = file.with_name(f"{file.name.partition('.')[0]}-ledger.jsonl")
    ledger = "ledger.jsonl" if str(file) == STANDARD_INPUT else str(beside)
    more = ["--ledger", ledger, *over(context, written)]
    return [Decision(FURTHER, (asked(context, without={"overwrite"}, more=more),))]
