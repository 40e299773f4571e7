"""Options of noise, and what `publish` prints of a release of noisy counts."""

from __future__ import annotations

from functools import wraps

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import Command, Whole
from nbcfast.cli.printing import Parts, listing, pairs, readable, remarked
from nbcfast.dp.agreeing import NOT_FOR_PUBLICATION
from nbcfast.publishing.noise_asked import NoiseAsked
from nbcfast.publishing.noisy_report import NO_LIMITS, NoisyPublication, OwnersFigures
from nbcfast.reports.certificate_words import limit_line, same_line
from nbcfast.views.noise import Neighbours


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


def noisy_details(publication: NoisyPublication) -> Parts:
    """What stands below the summary: what may be published first, and apart from it what may not."""
    made = publication.release.certificate
    return [
        pairs(
            [
                ("method", publication.choice.text),
                ("limit of Lambda", limit_line(made.limit, made.amplification, made.attacker)),
                ("classifier", same_line(publication.release)),
                ("rows published", readable(publication.release.views.n_rows)),
                ("limits on answers", NO_LIMITS),
            ]
        ),
        *owners_parts(publication.owners),
        *remarked(made.notes),
    ]


def owners_parts(owners: OwnersFigures) -> list[Text | Grid]:
    """What the private table says of the release."""
    if owners.exact is None or owners.published is None:
        return []
    grid = listing(NOT_FOR_PUBLICATION, "exact", "published")
    grid.add_row("log-loss on the input", f"{owners.exact.log_loss:.4f}", f"{owners.published.log_loss:.4f}")
    accuracies = f"{owners.exact.accuracy:.2%}", f"{owners.published.accuracy:.2%}"
    grid.add_row("accuracy on the input", *accuracies)
    parts: list[Text | Grid] = [grid]
    if owners.membership is not None:
        parts.append(pairs([(f"members ({NOT_FOR_PUBLICATION})", owners.membership.text)]))
    return parts
