"""The verb `verify`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict, Unpack

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, VERDICTS, WARNING
from nbcfast.cli.against import chosen_of, private_table, read_otherwise, read_with_nulls
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.options import reads_private, verbose, verbs
from nbcfast.cli.printing import Parts, details_asked, listing, pairs, readable, show, tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.standard_input import DASH, STDIN
from nbcfast.cli.targets import PUBLISHED
from nbcfast.mondrian.partition import Partition
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.inputs import listed_of
from nbcfast.publishing.words import label
from nbcfast.reports.certificate_words import grouped, limit_line
from nbcfast.reports.summary import Decision
from nbcfast.reports.verification_summary import check_text, of_verification
from nbcfast.response import Disguised
from nbcfast.templates import Disclosure
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.load import load
from nbcfast.verification.results import Verification

# What the worst of several folders leaves with, the worst first, and what is said of so many.
WORST_FIRST = {
    1: VERDICTS[False][0],
    2: "not read",
    3: VERDICTS[None][0],
    0: VERDICTS[True][0],
}
MOST_OTHER = 1 << 20  # bytes of a file that is looked into before it is taken for a certificate
MOST_STRATA_SHOWN = 60  # of which a line is printed; JSON has all


class VerifyAsked(TypedDict):
    """The options that say what is checked, and beside which files."""

    against: Path | None
    for_the_owner: bool
    class_name: str | None
    reading: Reading
    declaring: Declaring
    listed: Path | None
    menu: Path | None
    policy: Path | None
    ignore_extra: bool


class Named(click.Path):
    """A path that is no empty text, which `Path` takes for the current folder."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if value == "":
            self.fail("expected the name of a folder or a file, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


@verbs.command(
    short_help="Check what was published from its own files alone.",
    example="nbcfast verify release",
)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=Named(path_type=Path))
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
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A policy: also check that the release names it, and keeps what the files show of it; see `gate`.",
)
@click.option(
    "--ignore-extra",
    is_flag=True,
    help="Pass over files in DIR that the certificate does not name: listed, and covered by nothing.",
)
@reads_private
@declares
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def verify(folders: tuple[Path, ...], as_json: bool, **asked: Unpack[VerifyAsked]) -> int:
    """Check what is published in DIR, a release or a table, from its own files alone.

    Checked are the form of the certificate and its sha256; of a release that all counts are positive and
    those of some table, that Lambda keeps the limit and a canonical one is what its answers give, and with
    --against also what it says about the private classifier; of a partition that its table keeps every
    demand, of a disclosure every template; of disguised answers that their scheme hides what the certificate
    says. Nothing else may be in the folder: what the certificate does not name, or is no regular file, is
    named and fails. The path of a certificate.json stands for its folder, and - for a certificate.json on
    standard input.

    Where the domain of a release was chosen from a menu, --menu checks which choice of it that is, and the
    rows of --against are put into its sets.

    What the publisher claims and no file can show is printed as a claim, and is no check. Warnings of the
    certificate stand below the verdict. Leaves with 0 if every check was made and holds, with 1 if one does
    not hold, and with 3 if none fails but not all could be made ("not fully checked"). Of several DIR each
    is checked by itself: it leaves with 1 if a check of any does not hold, else with 2 if one could not be
    read, else with 3 if one is not fully checked.
    """
    expect_file(asked["against"], asked["for_the_owner"], asked["class_name"], asked["reading"])
    if asked["against"] is None and asked["listed"] is None:
        expect_nothing_of_files(asked["reading"], asked["declaring"])
    if len(folders) > 1:
        return SeveralFolders.judged(folders, asked).tell(as_json)
    verification, hint = judged(folders[0], **asked)
    tell_one(verification, hint, as_json, [] if hint is None else read_again(verification, **asked))
    return verification.exit_code


def tell_one(
    verification: Verification, hint: str | None, as_json: bool, decisions: Sequence[Decision] = ()
) -> None:
    """Print what was found in one folder."""
    tell(
        of_verification(
            verification, decisions=decisions, hint=hint, claims_below=not as_json and details_asked()
        ),
        lambda: document_of(verification, hint),
        lambda: verification_details(verification),
        as_json=as_json,
    )


def read_again(
    verification: Verification,
    against: Path | None,
    class_name: str | None,
    reading: Reading,
    **_: object,
) -> list[Decision]:
    """The command that reads missing values of a table as the release has them."""
    release = verification.release or verification.strata
    named = None if release is None else class_name or release.class_name
    if release is None or against is None or named is None:
        return []
    return read_with_nulls(release, against, private_table(release, against, named, reading), reading)


def judged(
    folder: Path,
    against: Path | None,
    for_the_owner: bool,
    class_name: str | None,
    reading: Reading,
    declaring: Declaring,
    listed: Path | None,
    menu: Path | None,
    policy: Path | None,
    ignore_extra: bool,
) -> tuple[Verification, str | None]:
    """What is found in a folder, and what may be the matter if it is not of the table that was given."""
    if folder == DASH:
        return without_folder(against is not None or listed is not None, menu, policy, ignore_extra), None
    expect_certificate(folder)
    published = public = table = None
    domains = declaring.declared
    if against is not None or listed is not None:
        with suppress(ValueError), progress("loading"):  # the checks say what is wrong
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
                policy=policy,
                class_name=None if table is None else class_name,
                ignore_extra=ignore_extra,
                for_the_owner=for_the_owner,
                progress=report,
            )
    else:
        with progress("verifying"):
            verification = verified(folder, menu=menu, policy=policy, ignore_extra=ignore_extra)
        for option, given in (("--against", against), ("--tuples", listed)):
            if given is not None and verification.kind not in (None, "release", "strata"):
                kind = f"kind {verification.kind!r}"
                raise ValueError(f"{option} is for releases: {kind} is checked from its own files alone")
    hint = None
    if isinstance(published, Release | StratifiedRelease) and against is not None and table is not None:
        hint = read_otherwise(verification, first, against, table, reading, domains)
    return verification, hint


def without_folder(beside: bool, menu: Path | None, policy: Path | None, ignore_extra: bool) -> Verification:
    """What is found in the certificate on standard input; `beside` says that a table was given too."""
    if beside:
        raise ValueError("--against and --tuples go with a folder, and not with - for DIR")
    with certificate_there() as there:
        verification = verified(there, menu=menu, policy=policy, ignore_extra=ignore_extra)
    if verification.kind not in (None, "release", "strata"):
        raise ValueError(
            f"DIR - is a certificate alone, and one of kind {verification.kind!r} is checked beside its "
            "table: expected its folder"
        )
    # What else is in its folder nobody has seen.
    checks = tuple(check for check in verification.checks if check.name != "folder")
    return replace(verification, path=str(DASH), checks=checks)


def document_of(verification: Verification, hint: str | None) -> Document:
    """What was found, for JSON."""
    return {**verification.to_dict(), **({} if hint is None else {"hint": hint})}


@dataclass(frozen=True)
class SeveralFolders:
    """What was found in several folders, in their order; of one that could not be read, why."""

    found: tuple[tuple[Verification, str | None] | tuple[Path, str], ...]

    @classmethod
    def judged(cls, folders: Sequence[Path], asked: VerifyAsked) -> SeveralFolders:
        if folders.count(DASH) > 1:
            raise ValueError("DIR - is standard input, which can be read once; got it twice")
        found: list[tuple[Verification, str | None] | tuple[Path, str]] = []
        for folder in folders:
            try:
                found.append(judged(folder, **asked))
            except OSError as error:
                found.append((folder, error.strerror or str(error)))
            except (ValueError, TypeError) as error:
                found.append((folder, str(error)))
        return cls(tuple(found))

    def count(self, code: int) -> int:
        """How many folders by themselves would leave with this code."""
        codes = (one[0].exit_code if isinstance(one[0], Verification) else 2 for one in self.found)
        return sum(each == code for each in codes)

    def tell(self, as_json: bool) -> int:
        """Print all of it; the exit code, which is that of the worst."""
        documents: list[Document] = []
        if not as_json:
            said = [f"{self.count(code)} {text}" for code, text in WORST_FIRST.items() if self.count(code)]
            show(Text(f"{len(self.found)} checked: {', '.join(said)}", style="bold"))
        for what, words in self.found:
            if not isinstance(what, Verification):
                documents.append({"path": str(what), "error": words})
                print(printable(f"nbcfast: {what}: {words}"), file=sys.stderr)
            elif as_json:
                summary = of_verification(what, hint=words)
                documents.append({"summary": summary.to_dict(), **document_of(what, words)})
            else:
                print()
                tell_one(what, words, False)
        if as_json:
            print(json.dumps(documents, indent=2))
        return next(code for code in WORST_FIRST if self.count(code))


@contextmanager
def certificate_there() -> Iterator[str]:
    """A folder with the certificate that comes through standard input, and nothing else."""
    if os.isatty(STDIN):
        raise ValueError("DIR - is standard input, and that is a terminal: give it a certificate.json")
    with TemporaryDirectory() as folder, open(STDIN, "rb", closefd=False) as stream:
        with open(os.path.join(folder, PUBLISHED[0]), "wb") as copy:
            shutil.copyfileobj(stream, copy)
        yield folder


def expect_nothing_of_files(reading: Reading, declaring: Declaring) -> None:
    """Refuse options about files where the command reads none but those of the folder."""
    if reading.is_of_csv:
        raise ValueError("--null, --delimiter, --text and --encoding go with --against FILE or --tuples FILE")
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


def expect_certificate(path: Path) -> None:
    """Refuse a file of another kind, of which nobody said that it was published."""
    if path.name == PUBLISHED[0] or not path.is_file():
        return
    seems = seeming(path)
    if seems is not None:
        raise ValueError(f"{path}: expected a folder, or the certificate.json in it; this looks like {seems}")


def seeming(path: Path) -> str | None:
    """What a file looks like that is no certificate; None where it may be one."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        return "a table: `nbcfast inspect` says what it holds"
    try:
        document = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_OTHER else None
    except (ValueError, RecursionError):
        return None
    if document is None or (isinstance(document, dict) and document.keys() & {"kind", "sha256", "format"}):
        return None
    if isinstance(document, dict) and document and all(isinstance(one, list) for one in document.values()):
        return "a menu or a domain: --menu takes the menu of a release beside its folder"
    if (
        isinstance(document, dict)
        and document
        and all(isinstance(one, list | dict) for one in document.values())
    ):
        return "a domain: `publish --domain` takes it"
    return "JSON, and no certificate"


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


def said_of(published: object) -> list[tuple[str, str]]:
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


def verification_details(verification: Verification) -> Parts:
    """What the release says of itself."""
    parts: list[Text | Grid] = []
    if verification.release is not None:
        certificate = verification.release.certificate
        limit = limit_line(certificate.limit, certificate.amplification, certificate.attacker)
        lines = [("limit of Lambda", limit)]
        if verification.classifier is not None:
            lines.append(("classifier", verification.classifier))
        parts.append(pairs([*lines, ("rows", readable(verification.release.views.n_rows))]))
    if verification.strata is not None:
        parts += strata_grids(verification, verification.strata)
    if said := said_of(verification.published):
        parts.append(pairs(said))
    exact = [
        (check.name, check.text)
        for check in verification.checks
        if check_text(check) not in (check.text, grouped(check.text))
    ]
    if exact:
        parts.append(pairs(exact))
    for head, texts in ((CLAIMED, verification.claims), (NOTE, verification.notes)):
        if texts:
            parts.append(Text("\n".join(f"{head} {printable(text)}" for text in texts)))
    parts.append(Text(verification.conclusion, style="bold"))  # in the words of the script, to the end
    if verification.warnings:
        parts.append(Text("\n".join(f"{WARNING} {printable(text)}" for text in verification.warnings)))
    return parts
