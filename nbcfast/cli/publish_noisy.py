"""`publish` with noise: what the options make of it."""

import json

import click

from nbcfast._core.errors import Infeasible
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.noise_screens import show_noisy, show_owners
from nbcfast.cli.parsing import names_in
from nbcfast.cli.publish_outputs import Asked, Outputs, already_written, tell, written
from nbcfast.dp import Agreement
from nbcfast.published.release import Release
from nbcfast.publishing.entering import LedgerAsked, LedgerEntry
from nbcfast.publishing.noise_asked import REASONS, NoiseAsked, asking, expect_alone
from nbcfast.publishing.noisy_prepared import PreparedNoisy, prepare_noisy
from nbcfast.publishing.policy import Demand


def publish_noisy(
    demand: Demand,
    asked: Asked,
    noise: NoiseAsked,
    accept_answers: bool,
    outputs: Outputs,
    book: LedgerAsked | None,
) -> int:
    """A classifier of noisy counts; the exit code."""
    reading = asked["reading"]
    expect_alone([("menu", asked["menu"] is not None, REASONS["menu"])], OPTIONS)
    expect_no_limit()
    prepared = prepare_noisy(
        asked["file"],
        asked["class_name"],
        demand,
        noise,
        reading.caller,
        domains=asked["declaring"].declared,
        tuples=asked["listed"],
        holdout=asked["holdout"],
        columns=None if asked["columns"] is None else names_in(asked["columns"]),
        weights=reading.weights,
        delimiter=reading.delimiter,
        texts=reading.texts,
        max_values=asked["max_values"],
        accept_answers=accept_answers,
    )
    agreement = prepared.agreement()
    if not outputs.as_json:
        show_owners(prepared.of_noisy.table.n_rows, agreement)
    try:
        release = prepared.release()
    except Infeasible as error:
        tell(error, not demand.allow_differences and isinstance(demand.rows, int))
        return 1
    if book is None:
        return write_noisy(prepared, release, agreement, None, outputs)
    with book.ledger:
        try:
            entry = prepared.entry(book, release)
        except Infeasible as error:
            tell(error, False)
            return 1
        return write_noisy(prepared, release, agreement, entry, outputs)


def expect_no_limit() -> None:
    """Refuse the options of limits, those that ask for the usual one too: none would be kept."""
    texts = click.get_current_context().params
    for option in LIMITS:
        if texts[name_of(option)] is not None:
            raise ValueError(f"{option} does not go with {asking(OPTIONS)}: {REASONS['limits']}")


def write_noisy(
    prepared: PreparedNoisy,
    release: Release,
    agreement: Agreement | None,
    entry: LedgerEntry | None,
    outputs: Outputs,
) -> int:
    """Write a release of noisy counts; the exit code."""
    out, dataset = outputs.out, outputs.dataset
    files = (
        written(release, outputs)
        if entry is None
        else entry.save(out, dataset, lambda: written(release, outputs))
    )
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, agreement, files, entry)
    if outputs.as_json:
        print(json.dumps(publication.to_dict(), indent=2))
    else:
        show_noisy(publication, out)
    return 0
