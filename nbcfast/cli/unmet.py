"""What verbs say where nothing meets what was demanded: why, the best that was found, and what to type."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast.canonical.publish import NO_CANONICAL
from nbcfast.cli.asked_again import (
    BY_COLUMN,
    COARSER,
    MENU,
    OF_THE_TABLE,
    as_argument,
    asked,
    free,
    looked_through,
)
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import verbs
from nbcfast.cli.printing import tell
from nbcfast.cli.reports_asked import nothing_written
from nbcfast.domains import Menu
from nbcfast.publishing.demand import Demand
from nbcfast.reports.summary import Decision
from nbcfast.reports.unmet_summary import infeasible_document, is_decided, of_infeasible, unmet_page

FEWEST = "Ask for the fewest rows that keep it: they are looked for."
OTHER_METHOD = "Take powers of the counts, which reach further; the private counts come back out of them."
OTHER_MENU = "Offer coarser options, or let columns be left out: a menu begun from the table has both."
FEWER = "Begin a menu, and take options out of it: all domains of a small one are tried and measured."
FEWER_COLUMNS = "Take columns out of the menu: all domains of a small one are tried and measured."
NOTHING_COARSER = (
    "Offer other columns, or take more people: nothing coarser is left. A search without limits says "
    "what shows of the best domain that there is; `publish` refuses what shows."
)
SEEN_EARLIER = "Look at the earlier releases, their windows and their domain."
NO_POLICY = "Or publish without that policy, if it was not meant for this release: what is told adds up."

PREDICT = Decision("Decide rows by the published counts: `nbcfast predict` needs no points.")


def tell_unmet(
    error: Infeasible,
    about: str,
    decisions: Sequence[Decision],
    document: Document,
    *,
    as_json: bool,
    unwritten: str | None = None,
    of_rows: bool = True,
) -> int:
    """Say that nothing meets what was demanded, as every other answer is said; the exit code.

    `document` says of what, for JSON; `of_rows` whether rows were looked at.
    """
    told = nothing_written() if unwritten is None else unwritten
    tell(
        of_infeasible(error, about, decisions, told, of_rows=of_rows),
        lambda: {**document, **infeasible_document(error)},
        as_json=as_json,
        page=unmet_page,
    )
    return 1 if is_decided(error) else 3


def rows_had(error: Infeasible, demand: Demand, noisy: bool = False) -> list[Decision]:
    """How a number of rows is had that does not do, or how it is published all the same."""
    context = click.get_current_context()
    if not isinstance(demand.rows, int) or "release" not in error.best:
        return []
    anew = " With noise that draws anew, and costs as much once more." if noisy else ""
    fewest = asked(context, without={"rows", "allow_differences"})
    decisions = [Decision(f"{FEWEST}{anew}", (fewest,))]
    if error.best.get("differing_tuples") and _may_differ(demand):
        n = error.best["differing_tuples"]
        question = f"Or publish so many rows although {n:,} tuples differ, by another method: it is said."
        more = ["--method", "safetytransform", "--allow-differences"]
        command = asked(context, without={"method", "allow_differences"}, more=more)
        decisions.append(Decision(f"{question}{anew}", (command,)))
    return decisions


def _may_differ(demand: Demand) -> bool:
    """Whether all else that was asked for goes with differences."""
    try:
        replace(demand, method="safetytransform", allow_differences=True)
    except ValueError:
        return False
    return True


def otherwise_made(error: Infeasible, demand: Demand) -> list[Decision]:
    """The other method, where the one that was asked for does not reach so far, and all else goes with both.

    By sizes alone: where a solver finds nothing, another method would tell that of the counts.
    """
    if demand.method != "canonical" or NO_CANONICAL not in error.why:
        return []
    try:
        replace(demand, method="safetytransform")
    except ValueError:
        return []
    more = ["--method", "safetytransform"]
    return [Decision(OTHER_METHOD, (asked(click.get_current_context(), without={"method"}, more=more),))]


def without_smoothing() -> list[Decision]:
    """The classifier as it is, where nothing can be added to its counts."""
    context = click.get_current_context()
    if not context.params.get("alpha"):
        return []
    smooth = OPTIONS.named("alpha")
    return [
        Decision(f"Take the classifier as it is, without {smooth}.", (asked(context, without={"alpha"}),))
    ]


def beside_earlier(ledger: str | None) -> list[Decision]:
    """What there is to do where a ledger or its policy does not take a release."""
    context = click.get_current_context()
    decisions = []
    if ledger is not None:
        decisions.append(
            Decision(SEEN_EARLIER, (shlex.join(["nbcfast", "ledger", "show", as_argument(ledger)]),))
        )
    if context.params.get("ledger_policy"):
        decisions.append(Decision(NO_POLICY, (asked(context, without={"ledger_policy"}),)))
    return decisions


def other_domains(error: Infeasible) -> list[Decision]:
    """Where no domain of a menu keeps the limits: a menu that has more, or limits that its coarsest keeps."""
    context = click.get_current_context()
    decisions = []
    if _is_too_much(error, context):
        decisions.append(_with_fewer(context))
    elif context.params.get("menu") is not None and _may_be_coarser(context):
        menu = free(MENU)
        taken = OF_THE_TABLE & {str(param.name) for param in verbs.commands["advise"].params}
        begun = asked(context, "advise", only=taken - COARSER, more=["--write-menu", menu])
        again = asked(context, instead={"menu": [menu]})
        decisions.append(
            Decision(
                OTHER_MENU,
                (begun, looked_through(menu), again),
            )
        )
    limits = error.best.get("limits")
    if isinstance(limits, Mapping) and limits:
        which = "Or allow" if decisions else "Allow"
        more = [word for name, value in limits.items() for word in (OPTIONS.named(name), f"{value:g}")]
        command = asked(context, without=set(limits), more=more)
        decisions.append(Decision(f"{which} what the coarsest domain of the menu gives away.", (command,)))
    if context.params.get("votes"):
        command = asked(context, without={"votes", "blocks"})
        decisions.append(Decision("Choose without votes: then the choice tells of the rows.", (command,)))
    most = error.best.get("most_classes")
    if most is not None:
        return [*decisions, Decision(f"Merge classes in the file: advice is of at most {most}.")]
    if not decisions and not is_decided(error):
        decisions.append(Decision(FEWER_COLUMNS))
    # Where all were tried; else something coarser may do.
    if not decisions and "domains" in error.best:
        decisions.append(Decision(NOTHING_COARSER, (_without_limits(context),)))
    return decisions


def _is_too_much(error: Infeasible, context: click.Context) -> bool:
    """Whether ready-made options were too many for a search; what else is refused has a step of its own."""
    ready_made = context.command is verbs.commands["advise"] and context.params.get("menu") is None
    of_work = not is_decided(error) or not {"domains", "most_classes"} & set(error.best)
    return ready_made and of_work


def _with_fewer(context: click.Context) -> Decision:
    """A menu of the ready-made options, of which a person keeps some, and the same search of it."""
    menu = free(MENU)
    begun = asked(context, only=OF_THE_TABLE, more=["--write-menu", menu])
    taken_out = (
        f"take options out of {menu}, the finest of columns with many first, or whole columns; check the "
        "others against the code book, and remove the names of those columns from from_rows"
    )
    again = asked(context, without=BY_COLUMN, more=["--menu", menu])
    return Decision(FEWER, (begun, taken_out, again))


def _may_be_coarser(context: click.Context) -> bool:
    """Whether a menu could offer less than the one that was given does."""
    offered = Menu.read(context.params["menu"], context.params["class_name"], OPTIONS)
    return any(
        not option.out and (len(option.domain_values) > 2 or not any(other.out for other in options))
        for options in offered.options.values()
        for option in options
    )


def _without_limits(context: click.Context) -> str:
    """The command that finds what is worth most, whatever it shows; it publishes nothing."""
    advise = verbs.commands["advise"]
    options = {name_of(option): option for option in LIMITS}
    names = {str(param.name) for param in advise.params}
    more = [word for name, option in options.items() if name in names for word in (option, "none")]
    if context.command is advise:
        return asked(context, without={*options}, more=more)
    return asked(context, "advise", only=(OF_THE_TABLE & names) - {*options}, more=more)
