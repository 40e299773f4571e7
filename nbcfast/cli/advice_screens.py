"""What `advise` prints: the domain that was chosen, what its answers give away, and what stands beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast.canonical import Advice
from nbcfast.canonical.advice.results import DomainChoice
from nbcfast.canonical.limits_of_answers import BROKEN
from nbcfast.cli.asked_again import BY_COLUMN, DOMAIN, MENU, asked, free, looked_through
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.options import READING
from nbcfast.cli.printing import Parts, listing
from nbcfast.domains import Menu
from nbcfast.publishing.words import label
from nbcfast.reports.advice_summary import at_least, at_most, counts_text, number, own_choice, share
from nbcfast.reports.summary import Decision

# What is written, and how: a command that is asked in steps says it anew.
TARGETS = frozenset({"out", "plot", "write_menu", "overwrite"})
# What a search is asked for that `publish --menu` knows nothing of.
NOT_OF_PUBLISH = ("other", "strata", "votes")

WORTH_MORE = (
    "Offer more columns or finer values in the menu, or allow more with wider limits: as it is, one answer "
    "for everybody is as good."
)
REFUSED_AS_IT_IS = (
    "Offer coarser options, or ask for stricter limits above: as it is, to publish on it is refused."
)


@dataclass(frozen=True)
class AdviceScreen:
    """What is printed of an advice.

    Parameters
    ----------
    advice : Advice
    out : Path or None
        Where the domain file is,
    menu : Path or None
        and where the menu was written.
    """

    advice: Advice
    out: Path | None
    menu: Path | None = None

    def details(self) -> Parts:
        """What stands below the summary."""
        return [self.columns(), self.given_away(), self.beside()]

    def columns(self) -> Grid:
        """What becomes of each column."""
        advice = self.advice
        grid = listing("column", "values", "option")
        for name, place in zip(advice.menu.attributes, advice.best.choice, strict=True):
            options = advice.menu.options[name]
            values = f"{advice.best.sizes[name]:,}" if name in advice.best.sizes else "left out"
            if name == advice.by_column:
                values += ", a classifier each"
            grid.add_row(Text(label(name)), values, f"{place + 1} of {len(options)} in the menu")
        for name in advice.beside:
            grid.add_row(Text(label(name)), "left out", "not in the menu")
        return grid

    def given_away(self) -> Grid:
        """What the answers on the domain give away, beside the limits."""
        limits, best = self.advice.limits, own_choice(self.advice)
        of_all = "" if best.by_column is None else ", all classifiers together"
        where = "" if self.advice.here is None else " on your rows"
        grid = listing(f"what its answers give away{where}{of_all} (for you alone)", "", "limit")
        grid.add_row(
            "values whose counts public totals and the answers give back",
            counts_text(best),
            at_most(limits.max_found),
        )
        grid.add_row(
            "people whose class could be another, and no answer would change",
            share(best.flip),
            at_least(limits.min_flip),
        )
        grid.add_row(
            "people who could be left out, and no answer would change",
            share(best.trace),
            at_least(limits.min_trace),
        )
        grid.add_row(
            "values that people of one class alone have", f"{best.one_class:,}", at_most(limits.max_one_class)
        )
        grid.add_row("bits a weight", number(best.bits), at_most(limits.max_bits))
        return grid

    def beside(self) -> Grid:
        """The choice among others: what more accuracy would give away, and what fewer bits would cost."""
        advice = self.advice
        headers = (
            "kinds of people",
            "right",
            "log-loss",
            "bits",
            "counts found",
            "class does not show",
            "limits",
        )
        grid = listing("domains", *headers)
        rows = [(self._place(choice), choice) for choice in advice.front]
        if advice.here is not None:
            rows.append(("chosen, on your rows", advice.here))
        for place, choice in rows:
            broken = ", ".join(BROKEN[name] for name in choice.broken)
            if advice.strata:
                place += ", one classifier" if choice.by_column is None else f", by {label(choice.by_column)}"
            grid.add_row(
                place,
                f"{choice.tuples:,}",
                f"{choice.accuracy:.2%}",
                f"{choice.log_loss:.4f}" if math.isfinite(choice.log_loss) else "infinite",
                number(choice.bits),
                counts_text(choice),
                share(choice.flip),
                broken or ("kept" if choice.keeps else "not measured"),
            )
        return grid

    def _place(self, choice: DomainChoice) -> str:
        best = self.advice.best
        if (choice.choice, choice.by_column) == (best.choice, best.by_column):
            return "chosen"
        if choice.accuracy > best.accuracy:
            return "more accurate"
        return "breaks a limit" if choice.broken else "fewer bits"

    def decisions(self) -> list[Decision]:
        """What to do now, with the commands."""
        worthless = [Decision(WORTH_MORE)] if self.advice.is_worthless else []
        return [*worthless, *self._decisions()]

    def _decisions(self) -> list[Decision]:
        if not self.advice.fixed_in_advance:
            return [self.menu_first()]
        *before, publish = self.steps()
        if not own_choice(self.advice).keeps:  # as votes and other rows may choose
            return [
                *([Decision("Keep the choice.", tuple(before))] if before else []),
                Decision(REFUSED_AS_IT_IS, (publish,)),
            ]
        what = "Publish on it." if not before else "Keep the domain, and publish on it."
        return [Decision(what, (*before, publish))]

    def steps(self) -> list[str]:
        """What keeps the domain and publishes on it, each with its command."""
        context = click.get_current_context()
        domain = free(DOMAIN) if self.out is None else str(self.out)
        by = [] if self.advice.by_column is None else ["--strata", self.advice.by_column]
        publish = published(context, ["--domain", domain, *by])
        if self.out is not None:
            return [publish]
        return [asked(context, more=["--out", domain]), publish]

    def menu_first(self) -> Decision:
        """What makes a menu of the ready-made one, and publishes on the best that it offers."""
        context = click.get_current_context()
        there = context.params["menu"] or self.menu
        if there is not None:
            return of_menu(context, str(there), self.advice.menu.undeclared)
        menu = free(MENU)
        written = asked(context, without=TARGETS, more=["--write-menu", menu])
        return of_menu(context, menu, self.advice.menu.undeclared, [written])


def published(context: click.Context, more: Sequence[str]) -> str:
    """The command that publishes what `advise` was asked for."""
    return asked(
        context,
        "publish",
        only=(*READING, "class_name", "max_values", "alpha", *map(name_of, LIMITS)),
        more=["--amplification", "4", *more, "--out", free("release")],
    )


def of_menu(
    context: click.Context, menu: str, from_rows: Sequence[str], before: Sequence[str] = ()
) -> Decision:
    """What to do with a menu that was made here: one search, once somebody has checked what is from rows."""
    check = [looked_through(menu)] if from_rows else []
    if any(context.params.get(name) for name in NOT_OF_PUBLISH):
        # `publish --menu` searches by no other rows, nor with strata.
        domain = free(DOMAIN)
        again = asked(context, without=TARGETS | BY_COLUMN, more=["--menu", menu, "--out", domain])
        what, then = "Fix the menu, and advise with it: that says how to publish on what it finds.", again
    else:
        what = "Fix the menu, and publish on the best that it offers."
        then = published(context, ["--menu", menu])
    return Decision(what, (*before, *check, then))


def menu_parts(menu: Menu) -> Parts:
    """What a menu offers of each column."""
    grid = listing("column", "values", "option")
    for name, options in menu.options.items():
        most = "left out" if options[0].out else f"at most {options[0].n_values:,}"
        grid.add_row(Text(label(name)), most, f"{len(options):,} in the menu")
    return [grid]
