"""`publish` with noise: what the options make of it."""

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.noise_screens import noisy_details
from nbcfast.cli.printing import tell
from nbcfast.cli.publish_outputs import (
    Asked,
    Outputs,
    already_written,
    next_steps,
    table_options,
    unmet,
    written,
)
from nbcfast.cli.released_again import NOISE
from nbcfast.cli.unmet import beside_earlier, rows_had
from nbcfast.dp import Agreement
from nbcfast.policies import Policy
from nbcfast.published.noised import privacy_json
from nbcfast.published.release import Release
from nbcfast.publishing.demand import Demand
from nbcfast.publishing.entering import LedgerAsked, LedgerEntry
from nbcfast.publishing.noise_asked import REASONS, NoiseAsked, expect_alone
from nbcfast.publishing.noisy_prepared import PreparedNoisy, ReadForNoise, read_for_noise
from nbcfast.publishing.noisy_report import NO_LIMITS, OwnersFigures
from nbcfast.reports.publication_page import noisy_page
from nbcfast.reports.publication_summary import of_noise_to_draw, of_noisy
from nbcfast.reports.summary import Decision


def publish_noisy(
    demand: Demand,
    asked: Asked,
    noise: NoiseAsked,
    accept_answers: bool,
    outputs: Outputs,
    book: LedgerAsked | None,
    policy: Policy | None = None,
) -> int:
    """A classifier of noisy counts; the exit code."""
    reading = asked["reading"]
    expect_alone([("menu", asked["menu"] is not None, REASONS["menu"])], OPTIONS)
    expect_no_limit()
    read = read_for_noise(
        asked["file"],
        asked["class_name"],
        demand,
        noise,
        reading.caller,
        tuples=asked["listed"],
        **table_options(asked),
        accept_answers=accept_answers,
        policy=policy,
    )
    agreement = read.agreement()
    if outputs.dry:
        return tell_what_would_be_drawn(read, agreement, outputs, book)
    prepared = read.drawn()
    try:
        release = prepared.release()
    except Infeasible as error:
        return unmet(error, asked, outputs, rows_had(error, demand, noisy=True))
    if book is None:
        return write_noisy(prepared, release, agreement, None, outputs)
    with book.ledger:
        try:
            entry = prepared.entry(book, release)
        except Infeasible as error:
            return unmet(error, asked, outputs, beside_earlier(book.ledger.path))
        return write_noisy(prepared, release, agreement, entry, outputs)


def tell_what_would_be_drawn(
    read: ReadForNoise, agreement: Agreement | None, outputs: Outputs, book: LedgerAsked | None
) -> int:
    """What a dry run finds without drawing any noise for a release; the exit code."""
    owners = OwnersFigures(read.table.n_rows, agreement, None, None, None)
    about = f"{outputs.about(read.source, read.class_name)} ({outputs.unwritten})"
    summary = of_noise_to_draw(read.noise, owners, about, next_steps(outputs, further=again(book)))

    def document() -> Document:
        return {
            "file": read.source,
            "class": read.class_name,
            "privacy": privacy_json(read.noise),
            "not_for_publication": owners.to_dict(),
            "warnings": [NO_LIMITS, *read.remarks],
            "files": [],
        }

    tell(summary, document, as_json=outputs.as_json)
    return 0


def again(book: LedgerAsked | LedgerEntry | None) -> list[Decision]:
    """What further draws come to, where no ledger adds them up."""
    return [Decision(NOISE)] if book is None else []


def expect_no_limit() -> None:
    """Refuse the options of limits, those that ask for the usual one too: none would be kept."""
    texts = click.get_current_context().params
    for option in LIMITS:
        if texts[name_of(option)] is not None:
            raise ValueError(f"{option} does not go with {OPTIONS.noise()}: {REASONS['limits']}")


def write_noisy(
    prepared: PreparedNoisy,
    release: Release,
    agreement: Agreement | None,
    entry: LedgerEntry | None,
    outputs: Outputs,
) -> int:
    """Write a release of noisy counts; the exit code."""
    files = written(release, outputs, entry)
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, agreement, files, entry)
    tell(
        of_noisy(
            publication,
            outputs.about(publication.source, publication.class_name),
            next_steps(outputs, further=again(entry), decides=bool(release.views.attributes)),
        ),
        publication.to_dict,
        lambda: noisy_details(publication),
        as_json=outputs.as_json,
        written=publication.files,
        page=lambda summary: noisy_page(publication, summary),
    )
    return 0
