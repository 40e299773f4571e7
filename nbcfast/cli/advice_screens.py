"""What `advise` prints: the domain that was chosen, what its answers give away, and what stands beside it."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.errors import Infeasible
from nbcfast._wire.messages import printable
from nbcfast.canonical import Advice
from nbcfast.canonical.advice.results import DomainChoice
from nbcfast.canonical.limits_of_answers import BROKEN
from nbcfast.cli.asked_again import COARSER, asked, free, looked_through
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.printing import listing, remarked, show
from nbcfast.publishing.words import label

# What is written, and how: a command that is asked in steps says it anew.
TARGETS = frozenset({"out", "plot", "write_menu", "overwrite"})

# What says how a file is read, in the same words for every verb.
READING = ("file", "class_name", "weights", "nulls", "delimiter", "texts", "max_values")


@dataclass(frozen=True)
class AdviceScreen:
    """What is printed of an advice.

    Parameters
    ----------
    advice : Advice
    file : Path
        The table that it is about,
    class_name : str
        and its class.
    out : Path or None
        Where the domain file is,
    menu : Path or None
        and where the menu was written.
    """

    advice: Advice
    file: Path
    class_name: str
    out: Path | None
    menu: Path | None = None

    def show(self) -> None:
        """Print everything."""
        steps = [f"  {number}  {printable(step)}" for number, step in enumerate(self.steps(), 1)]
        show(
            Text(self.verdict, style="bold"),
            self.columns(),
            self.given_away(),
            self.beside(),
            *remarked(self.remarks()),
            Text("\n".join(["What to do", *steps])),
        )

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        advice, best = self.advice, self.advice.best
        how = "the best" if advice.exhaustive else "the best found"
        if advice.by == "votes":
            how = f"the one drawn by the votes of {advice.blocks:,} blocks of rows"
        of_menu = f"of {advice.n_choices:,} domains {how}"
        of_others = "" if advice.rows == "private" else " of the other rows"
        if advice.strata:
            columns = " or ".join(map(label, advice.strata))
            of_menu = (
                f"of {advice.menu.n_choices:,} domains, for one classifier or one for each value of "
                f"{columns}, {how} has {self.classifiers(best)} and"
            )
        return (
            f"{printable(str(self.file))}, {label(self.class_name)}: {of_menu} "
            f"tells {best.tuples:,} kinds of people apart; it answers {best.accuracy:.2%}{of_others} right, "
            f"{self.judged}"
        )

    def classifiers(self, choice: DomainChoice) -> str:
        """How many there are on a domain."""
        if choice.by_column is None:
            return "one classifier"
        return f"one for each value of {label(choice.by_column)}"

    @property
    def own(self) -> DomainChoice:
        """What is chosen, as it is on the rows that would be published from."""
        return self.advice.best if self.advice.here is None else self.advice.here

    @property
    def judged(self) -> str:
        """By which classifier rows were judged."""
        if self.advice.folds:
            return (
                f"each row by a classifier of the other {self.advice.folds - 1} of {self.advice.folds} parts"
            )
        return "by a classifier that has seen them"

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
        limits, best = self.advice.limits, self.own
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

    def remarks(self) -> list[str]:
        """What the owner should know of the choice."""
        advice = self.advice
        said = [*self._of_the_menu(), *self._of_the_rule()]
        own = self.own
        if not own.keeps:
            broken = ", ".join(BROKEN[name] for name in own.broken) or "not all was measured"
            said.insert(0, f"On your rows it does not keep the limits ({broken}): publish will refuse it.")
        if any(math.isinf(choice.log_loss) for choice in advice.front):
            said.append(
                "A log-loss is infinite where a classifier gives somebody's class no probability at all, as "
                "no row that it was made of has his class and one of his values. No count that is published "
                "is 0."
            )
        said.append(
            "These are the attacks that were tried, and this is not differential privacy: whoever knows "
            "other rows, or a second release, may learn more."
        )
        return said

    def _of_the_menu(self) -> list[str]:
        """What there was to choose from."""
        advice = self.advice
        said = []
        if advice.fixed_in_advance and advice.menu.class_values is None:
            said.append(
                f"The menu does not declare the class: a line {json.dumps(self.class_name)}: [[..]] with its "
                "values does; without it publish warns that they come from the rows."
            )
        if not advice.fixed_in_advance:
            names = ", ".join(map(label, advice.menu.undeclared))
            said.append(
                f"The options of {names} were made from the rows, and no menu was fixed in advance. So the "
                "domain file names the columns whose values come from the rows (from_rows), and the "
                "certificate says that these were not declared, and has no bound on what the choice tells. "
                "That is mended by a menu: write this one, check it against the code book, and advise once "
                "more with it."
            )
        if advice.by_column is not None:
            said.append(
                "Counts are those of all classifiers together, bits the most and shares the least of any: "
                "each of them keeps the limits. Scores of different ones are not comparable."
            )
        if advice.lacking:
            said.append(
                "Not tried is a classifier for each value of "
                f"{'; '.join(map(printable, advice.lacking))}. Every value needs rows of every class: "
                "offer coarser groups that are fixed in advance."
            )
        if not advice.exhaustive:
            said.append(
                "Not every domain of the menu was tried and measured, as there are too many: this is the "
                "best found, and there may be a better one."
            )
        return said

    def _of_the_rule(self) -> list[str]:
        """By what it was chosen, and what that tells."""
        advice, said = self.advice, list[str]()
        if advice.by == "votes":
            said.append(
                f"Votes choose with epsilon {advice.epsilon}: to add or remove a person changes the "
                "probability of no choice by more than a factor of e^epsilon, and to replace one by "
                "e^(2 epsilon). Limits had no part in it. That is said of the choice alone, and of nothing "
                "else that is published."
            )
            if self.out is None and advice.epsilon is not None:
                said.append(
                    "Without --out this draw is not kept: the command below draws once more, which tells as "
                    f"much again, so that both have epsilon {2 * advice.epsilon}."
                )
        elif advice.rows == "other":
            so = ", and so the choice tells nothing of yours" if advice.fixed_in_advance else ""
            said.append(
                f"The domain was chosen on other rows{so}. On yours it is measured in the last line of the "
                "table, and by publish once more."
            )
        elif advice.fixed_in_advance:
            said.append(
                f"Which domain is best depends on your rows: the choice tells at most {advice.bits_at_most} "
                "bits beside the answers, and the certificate says so. --on OTHER chooses on other rows, and "
                "tells nothing."
            )
        return said

    def steps(self) -> list[str]:
        """What to do now, each with its command."""
        context, domain = click.get_current_context(), "domain.json" if self.out is None else str(self.out)
        by = [] if self.advice.by_column is None else ["--by", self.advice.by_column]
        publish = asked(
            context,
            "publish",
            only=(*READING, "alpha", *map(name_of, LIMITS)),
            more=["--amplification", "4", "--domain", domain, *by, "--out", "release"],
        )
        if not self.own.keeps:  # as votes and other rows may choose
            publish += "    is refused as it is: offer coarser options, or ask for stricter limits above"
        if not self.advice.fixed_in_advance:
            return [*self._menu_steps(context, domain), publish]
        if self.out is not None:
            return [publish]
        return [asked(context, more=["--out", domain]), publish]

    def _menu_steps(self, context: click.Context, domain: str) -> list[str]:
        """What makes a menu of the ready-made one, and a domain file of that."""
        menu = free("menu.json") if self.menu is None else str(self.menu)
        written = [asked(context, without=TARGETS, more=["--write-menu", menu])] if self.menu is None else []
        again = ["--menu", menu, "--out", domain, *(["--overwrite"] if self.out is not None else [])]
        return [
            *written,
            looked_through(menu),
            asked(context, without=TARGETS | COARSER | {"columns"}, more=again),
        ]


def no_domain(error: Infeasible) -> int:
    """Say that no domain of a menu keeps the limits, or that this was not decided; the exit code."""
    decided = bool(error.best.get("decided", True))
    print(f"nbcfast: {'infeasible: ' if decided else ''}{printable(error.why)}", file=sys.stderr)
    return 1 if decided else 3


def counts_text(choice: DomainChoice) -> str:
    """How many counts come back, of how many."""
    return "not measured" if choice.found is None else f"{choice.found} of {choice.cells}"


def share(part: float | None) -> str:
    """A share of people, rounded down: nobody is all of them."""
    if part is None:
        return "not measured"
    return f"{math.floor(part * 10_000) / 100:.2f}%"


def number(bits: float | None) -> str:
    """Bits, rounded up."""
    return "not measured" if bits is None else f"{math.ceil(bits * 100) / 100:.2f}"


def at_most(limit: float | None) -> str:
    """A limit from above."""
    return "none" if limit is None else f"at most {limit:g}"


def at_least(limit: float | None) -> str:
    """A limit from below, of a share."""
    return "none" if limit is None else f"at least {limit:.2%}"
