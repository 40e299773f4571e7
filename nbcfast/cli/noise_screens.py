"""Options of noise, and what `publish` prints of a release of noisy counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._wire.messages import printable
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import Whole
from nbcfast.cli.printing import limit_line, listing, pairs, readable, same_line, show
from nbcfast.dp import Agreement
from nbcfast.publishing.noise_asked import NoiseAsked
from nbcfast.publishing.noisy_report import NO_LIMITS, NOT_TO_PUBLISH, NoisyPublication, OwnersFigures
from nbcfast.publishing.words import label
from nbcfast.views.noise import Neighbours

Command = Callable[..., int]  # takes what its options say; the exit code


def with_noise(command: Command) -> Command:
    """The options of noise: they reach the command as one `noise`, or None."""

    @wraps(command)
    def with_options(
        *arguments: object,
        dp_epsilon: str | None,
        dp_delta: str | None,
        dp_rho: str | None,
        dp_neighbours: Neighbours | None,
        dp_rows_per_person: int | None,
        **others: object,
    ) -> int:
        noise = None
        given = (dp_epsilon, dp_rho, dp_delta, dp_neighbours, dp_rows_per_person)
        if any(one is not None for one in given):
            noise = NoiseAsked(
                epsilon=dp_epsilon,
                delta=dp_delta,
                rho=dp_rho,
                neighbours=dp_neighbours or "add-remove",
                rows_per_person=1 if dp_rows_per_person is None else dp_rows_per_person,
                words=OPTIONS,
            )
        return command(*arguments, noise=noise, **others)

    complete: Command = with_options
    decorators = [
        click.option(
            "--dp-epsilon",
            metavar="E",
            help="Differential privacy: noise on every count first, so that one row changes no probability "
            "of what is published by more than a factor of e^E. All values and classes have to be declared.",
        ),
        click.option(
            "--dp-delta",
            metavar="D",
            help="With --dp-epsilon: but for so small a probability (1e-6). From ten attributes on Gaussian "
            "noise, where it varies less. With --dp-rho: also say which epsilon that is.",
        ),
        click.option(
            "--dp-rho",
            metavar="R",
            help="In place of --dp-epsilon: Gaussian noise that is R-zCDP (zero-concentrated).",
        ),
        click.option(
            "--dp-neighbours",
            type=click.Choice(["add-remove", "replace"]),
            help="Which tables nobody can tell apart: those with and without a person, or with another one.  "
            "[default: add-remove]",
        ),
        click.option(
            "--dp-rows-per-person",
            type=Whole(1, 10**9),
            help="How many rows a person has at most; nothing checks it.  [default: 1]",
        ),
    ]
    for decorator in reversed(decorators):
        complete = decorator(complete)
    return complete


def show_owners(rows: int, agreement: Agreement | None) -> None:
    """What the owner of the rows should know before anything leaves."""
    said = OwnersFigures(rows, agreement, None, None, None).warnings
    text = "not measured, as there are no rows" if agreement is None else agreed_text(agreement)
    show(
        Text(f"Before it leaves ({NOT_TO_PUBLISH})", style="bold"),
        pairs([("expected agreement", text)]),
        *([Text("\n".join(f"- {one}" for one in said))] if said else []),
    )
    print(flush=True)


def agreed_text(agreement: Agreement) -> str:
    """How often noise of this kind leaves the class as it was."""
    runs = len(agreement.shares)
    spread = "" if agreement.deviation is None else f", standard deviation {agreement.deviation:.2%}"
    of = f"{runs:,} runs" if runs > 1 else "1 run"
    return f"{float(agreement.expected):.2%} of rows keep the class of the exact classifier ({of}{spread})"


def show_noisy(publication: NoisyPublication, out: Path) -> None:
    """The tables, for people: what may be published first, and apart from it what may not."""
    made = publication.release.certificate
    what = f"{printable(str(publication.source))}, {label(publication.class_name)} -> {printable(str(out))}"
    written = listing("files written", "bytes")
    for file in publication.files:
        written.add_row(Text(printable(file.path)), f"{file.bytes:,}")
    show(
        Text(f"published with noise of {publication.noise.level}: {what}", style="bold"),
        pairs(
            [
                ("noise", publication.noise.text),
                ("method", publication.choice.text),
                ("limit of Lambda", limit_line(made.limit, made.amplification, made.attacker)),
                ("classifier", same_line(publication.release)),
                ("rows published", readable(publication.release.views.n_rows)),
                ("limits on answers", NO_LIMITS),
            ]
        ),
        written,
        *owners_parts(publication.owners),
        Text("\n".join(f"- {printable(text)}" for text in publication.warnings)),
    )


def owners_parts(owners: OwnersFigures) -> list[Text | Grid]:
    """What the private table says of the release."""
    if owners.exact is None or owners.published is None:
        return []
    grid = listing(NOT_TO_PUBLISH, "exact", "published")
    grid.add_row("log-loss on the input", f"{owners.exact.log_loss:.4f}", f"{owners.published.log_loss:.4f}")
    accuracies = f"{owners.exact.accuracy:.2%}", f"{owners.published.accuracy:.2%}"
    grid.add_row("accuracy on the input", *accuracies)
    parts: list[Text | Grid] = [grid]
    if owners.membership is not None:
        parts.append(pairs([(f"members ({NOT_TO_PUBLISH})", owners.membership.text)]))
    return parts
