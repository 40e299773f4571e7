"""The verb `verify`."""

import json
import os
from contextlib import suppress
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._wire.folder import ignored_text
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, WARNING
from nbcfast.cli.against import private_table, read_otherwise
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import reads_file, verbs
from nbcfast.cli.printing import limit_line, listing, pairs, readable, show
from nbcfast.cli.reading import Reading
from nbcfast.domains import Declared, Menu
from nbcfast.mondrian.partition import Partition
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.inputs import listed_of
from nbcfast.publishing.words import label
from nbcfast.response import Disguised
from nbcfast.templates import Disclosure
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.load import load
from nbcfast.verification.results import Verification

MOST_STRATA_SHOWN = 60  # of which a line is printed; JSON has all


class Named(click.Path):
    """A path that is no empty text, which `Path` takes for the current folder."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if value == "":
            self.fail("expected the name of a folder or a file, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


@verbs.command()
@click.argument("folder", metavar="DIR", type=Named(path_type=Path))
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The private table, CSV or Parquet: also check that the classifier is the same.",
)
@click.option(
    "--for-the-owner",
    is_flag=True,
    help="With --against, of a release of noisy counts: say to the owner of FILE how it decides beside the "
    "exact classifier, which is not for publication.",
)
@click.option(
    "--class", "class_name", metavar="NAME", help="Its class column.  [default: that of the release]"
)
@click.option(
    "--tuples",
    "listed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The public list of tuples that a canonical release keeps its answers on.",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The menu that the domain of a release was chosen from: also check that it was.",
)
@click.option(
    "--ignore-extra",
    is_flag=True,
    help="Pass over files in DIR that the certificate does not name: listed, and covered by nothing.",
)
@reads_file
@declares
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def verify(
    folder: Path,
    against: Path | None,
    for_the_owner: bool,
    class_name: str | None,
    reading: Reading,
    declaring: Declaring,
    listed: Path | None,
    menu: Path | None,
    ignore_extra: bool,
    as_json: bool,
) -> int:
    """Check what is published in DIR, a release or a table, from its own files alone.

    Checked are the form of the certificate and its sha256; of a release that all counts are positive and
    those of some table, that Lambda keeps the limit and a canonical one is what its answers give, and with
    --against also what it says about the private classifier; of a partition that its table keeps every
    demand, of a disclosure every template; of disguised answers that their scheme hides what the certificate
    says. Nothing else may be in the folder: what the certificate does not name, or is no regular file, is
    named and fails. The path of a certificate.json stands for its folder.

    Where the domain of a release was chosen from a menu, --menu checks which choice of it that is, and the
    rows of --against are put into its sets.

    What the publisher claims and no file can show is printed as a claim, and is no check. Warnings of the
    certificate stand below the verdict. Leaves with 0 if
    every check was made and holds, with 1 if one does not hold, and with 3 if none fails but not all could
    be made ("not fully checked").
    """
    expect_file(against, for_the_owner, class_name, reading)
    if against is None and listed is None:
        expect_nothing_of_files(reading, declaring)
    published = public = table = None
    domains = declaring.declared
    if against is not None or listed is not None:
        with suppress(ValueError):  # the checks say what is wrong
            published = load(folder)
    if isinstance(published, Release | StratifiedRelease):
        first = published if isinstance(published, Release) else published.first
        class_name = published.class_name if class_name is None else class_name
        if menu is not None and domains is None:
            domains = chosen_of(menu, first, class_name)
        if against is not None and class_name is None:
            raise ValueError("the release does not name its class column: give --class NAME")
        expect_fitting(first, against is not None and not for_the_owner, listed is not None)
        if listed is not None:
            public = listed_of(listed, first.views, domains, reading.caller)
        if against is not None and class_name is not None:
            table = private_table(published, against, class_name, reading, domains)
        with progress("comparing") as report:
            verification = verified(
                folder,
                table,
                tuples=public,
                menu=menu,
                class_name=None if table is None else class_name,
                ignore_extra=ignore_extra,
                for_the_owner=for_the_owner,
                progress=report,
            )
    else:
        verification = verified(folder, menu=menu, ignore_extra=ignore_extra)
        for option, given in (("--against", against), ("--tuples", listed)):
            if given is not None and verification.kind not in (None, "release", "strata"):
                kind = f"kind {verification.kind!r}"
                raise ValueError(f"{option} is for releases: {kind} is checked from its own files alone")
    hint = None
    if isinstance(published, Release | StratifiedRelease) and against is not None and table is not None:
        hint = read_otherwise(verification, first, against, table, reading, domains)
    if as_json:
        print(json.dumps({**verification.to_dict(), **({} if hint is None else {"hint": hint})}, indent=2))
    else:
        show_verification(verification, hint)
    return verification.exit_code


def chosen_of(menu: Path, release: Release, class_name: str | None) -> Declared | None:
    """The domain that a release says it was published on, of a menu: how rows are put into its sets."""
    advice = release.certificate.advice
    offered = Menu.read(menu, class_name, OPTIONS)
    if advice is None:
        return None
    try:
        return offered.chosen(advice.chosen)
    except ValueError:  # it is another menu, which the checks will say
        return None


def expect_nothing_of_files(reading: Reading, declaring: Declaring) -> None:
    """Refuse options about files where the command reads none but those of the folder."""
    if reading.is_of_csv:
        raise ValueError("--null, --delimiter and --text go with --against FILE or --tuples FILE")
    if declaring.declared is not None:
        raise ValueError(
            "--domain, --bin, --group and --leave-out go with --against FILE or --tuples FILE: a release is "
            "checked from its own files"
        )


def expect_fitting(release: Release, compared: bool, listed: bool) -> None:
    """Refuse a list that a release claims nothing of, and to compare noisy counts with exact ones."""
    if listed and not keeps_list(release):
        raise ValueError(
            "--tuples is for a release that keeps its answers on a list of tuples, and this one claims "
            "nothing of a list"
        )
    if compared and release.certificate.privacy is not None:
        raise ValueError(
            "--against does not go with a release of noisy counts: it never was that of exact ones, and what "
            "is found beside them is hidden by no noise; --for-the-owner says it to the owner of the rows"
        )


def expect_file(against: Path | None, for_the_owner: bool, class_name: str | None, reading: Reading) -> None:
    """Refuse options about a private table where there is none."""
    if against is None and for_the_owner:
        raise ValueError("--for-the-owner goes with --against FILE")
    if against is None and (class_name is not None or reading.weights is not None):
        raise ValueError("--class and --weights go with --against FILE")


def keeps_list(release: Release) -> bool:
    """Whether what a release claims is claimed on a public list of tuples."""
    canonical = release.certificate.canonical
    return canonical is not None and canonical.listed is not None


def strata_grids(verification: Verification, made: StratifiedRelease) -> list[Grid]:
    """The limit of all strata, and a line for each: what it has, and which of its checks do not hold."""
    certificate = made.certificate
    limit = limit_line(certificate.limit, certificate.amplification, certificate.attacker)
    lines = [("limit of Lambda, in every stratum", limit)]
    if verification.classifier is not None:
        lines.append(("classifiers", verification.classifier))
    grid = listing("stratum", "rows", "checks")
    for value, checks in verification.each[:MOST_STRATA_SHOWN]:
        left = [
            f"{check.name} {'not decided' if check.passed is None else 'does not hold'}"
            for check in checks
            if not check.passed
        ]
        text = ", ".join(left) or f"all {len(checks)} hold"
        rows = readable(made.strata[value].views.n_rows)
        grid.add_row(Text(f"{label(made.by)} = {label(value)}"), rows, text)
    if len(verification.each) > MOST_STRATA_SHOWN:
        grid.add_row(f"and {len(verification.each) - MOST_STRATA_SHOWN:,} more")
    return [pairs(lines), grid]


def summary_of(published: object) -> list[tuple[str, str]]:
    """What a partition, a disclosure or disguised answers say of themselves; nothing of anything else."""
    if isinstance(published, Partition):
        return [
            ("people", f"{published.n_rows:,}"),
            ("groups", f"{published.n_groups:,} by {', '.join(map(label, published.quasi))}"),
            ("demands", str(published.demands)),
        ]
    if isinstance(published, Disclosure):
        masked = ", ".join(map(label, published.masked))
        return [("people", f"{published.n_rows:,}"), ("may be suppressed", masked)]
    if isinstance(published, Disguised):
        untouched = ", ".join(map(label, published.untouched)) or "none"
        return [("answers", f"{published.n_rows:,}"), ("told as they are", untouched)]
    return []


def show_verification(verification: Verification, hint: str | None = None) -> None:
    """The checks, one a line, and what the release says of itself."""
    marks = {True: "yes", False: "NO", None: "?"}
    rows = [(marks[check.passed], check.name, check.text) for check in verification.checks]
    if verification.ignored:
        rows.append(("--", "folder", ignored_text(list(verification.ignored))))
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    parts: list[Text | Grid] = [Text(printable(verification.path), style="bold"), grid]
    if verification.release is not None:
        certificate = verification.release.certificate
        limit = limit_line(certificate.limit, certificate.amplification, certificate.attacker)
        lines = [("limit of Lambda", limit)]
        if verification.classifier is not None:
            lines.append(("classifier", verification.classifier))
        parts.append(pairs([*lines, ("rows", readable(verification.release.views.n_rows))]))
    if verification.strata is not None:
        parts += strata_grids(verification, verification.strata)
    if summary := summary_of(verification.published):
        parts.append(pairs(summary))
    for head, texts in ((CLAIMED, verification.claims), (NOTE, verification.notes)):
        if texts:
            parts.append(Text("\n".join(f"{head} {printable(text)}" for text in texts)))
    if hint is not None:
        parts.append(Text(f"- {printable(hint)}"))
    parts.append(Text(verification.conclusion, style="bold"))
    if verification.warnings:
        parts.append(Text("\n".join(f"{WARNING} {printable(text)}" for text in verification.warnings)))
    show(*parts)
