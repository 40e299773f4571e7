"""The verb `closeness`."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import closeness
from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import decimal_above
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text, printable
from nbcfast._wire.release_words import undeclared_text
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.asked_again import asked, checked, mended_by_leaving_out
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import reads_table, verbose, verbs
from nbcfast.cli.parsing import names_in, prior_in, rows_of
from nbcfast.cli.printing import Parts, listing, pairs, readable, tell
from nbcfast.cli.reading import Reading, counted
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.unmet import FEWEST
from nbcfast.cli.writings import note
from nbcfast.published.release import Release
from nbcfast.publishing.findings import CONVENTIONS, finite
from nbcfast.publishing.gate import named_people
from nbcfast.publishing.remarks import all_once, more, numbers_as_text
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.reports.certificate_words import same_line
from nbcfast.reports.closeness_summary import PRIVATE, of_closeness
from nbcfast.reports.summary import Decision, Summary
from nbcfast.table.values import Value, plain
from nbcfast.verification.load import load
from nbcfast.views.quality import evaluate

MARGINS = (1, Fraction(21, 20), Fraction(3, 2))  # above the least r, which rounded counts do not attain


# Long by its options, each of which is an argument.
@verbs.command(
    name="closeness",
    short_help="Say how far posteriors move from a prior, and make it less.",
    example="nbcfast closeness patients.csv --class diagnosis --prior healthy=75%,diabetes=25%",
)
@reads_table
@declares
@click.option("--prior", metavar="A=P,B=Q", required=True, help="What is believed of each class, 1 in all.")
@click.option("--r", "demanded", metavar="R", help="Make the classifier r-close, if that can be.")
@click.option(
    "--attacker",
    type=click.Choice(CONVENTIONS),
    default="row",
    show_default=True,
    help="See `publish`.",
)
@click.option(
    "--preserve",
    type=click.Choice(["order", "label"]),
    default="order",
    show_default=True,
    help="What stays as it is at every tuple: the order of all classes, or the best class.",
)
@click.option(
    "--rows",
    metavar="smallest|proven|R",
    default="smallest",
    show_default=True,
    help="With --r: how many rows the published counts stand for.",
)
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="With --r: the folder to write.")
@REPLACES
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def closeness_verb(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declaring: Declaring,
    prior: str,
    demanded: str | None,
    attacker: Attacker,
    preserve: Preserve,
    rows: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Say how close to a prior the posteriors of FILE are, how close they can be, and make them so.

    Prints the r of the counts as they are, what no equivalent classifier can stay below, and the smallest r
    that EST reaches. With --r the classifier is made, and with --out it is written.

    All of these come from the private table and are not meant for publication.

    Leaves with 1 if --r cannot be had, or columns name people.
    """
    if demanded is None and (out is not None or rows != "smallest"):
        raise ValueError("--out and --rows go with --r R")
    check_targets([file, *declaring.files], overwrite, folder=out)
    wanted, known = rows_of(rows, False), declaring.declared
    with mended_by_leaving_out(click.get_current_context()):
        table, views = counted(file, class_name, columns, reading, max_values, known, publishing=True)
    reach = Reach.of(views, prior_in(prior, views), attacker, preserve)
    release = why = refused = None
    if demanded is not None:
        try:
            with progress("transforming") as report:
                release = closeness.est(
                    views,
                    reach.prior,
                    demanded,
                    preserve=preserve,
                    rows=wanted,
                    attacker=attacker,
                    table=table,
                    class_name=class_name,
                    progress=report,
                )
            release = replace(release, class_name=class_name)
        except Infeasible as error:
            refused, why = error, " ".join(error.why.split())
    after = None if release is None else closeness.achieved(release.views, reach.prior)
    names = None if columns is None else names_in(columns)
    remarks = all_once(file, reading.weights, reading.delimiter, class_name, names, OPTIONS, reading.encoding)
    if release is not None:
        remarks = remarks_on(release, class_name, remarks, file, reading, table, views)
    written = []
    if release is not None and out is not None:
        remarks.append(PRIVATE)
        written = saved(release, out, overwrite)
    result = ClosenessOutcome(reach, release, after, why, written, remarks)
    feasible = None if demanded is None else release is not None
    place = "" if out is None else f" -> {printable(str(out))}"
    more = [checked(out)] if written and out is not None else []
    if refused is not None:
        more = r_had(refused, reach, views, preserve)
    tell(
        result.summary(f"{printable(str(file))}, {label(class_name)}{place}", more),
        lambda: {"file": str(file), "class": class_name, **result.to_dict(feasible)},
        result.parts,
        as_json=as_json,
        written=list(map(Written.of, written)),
    )
    return int(why is not None)


def r_had(refused: Infeasible, reach: "Reach", views: nbcfast.Viewset, preserve: Preserve) -> list[Decision]:
    """The command with what can be had in place of the r, or of the rows, that cannot: it was made to see."""
    context = click.get_current_context()
    if "release" in refused.best:
        return [Decision(FEWEST, (asked(context, without={"rows"}),))]
    if not isinstance(reach.best.r, Fraction | float) or not math.isfinite(reach.best.log_r):
        return []
    times = 2 if reach.attacker == "worlds" else 1
    for margin in MARGINS:
        r = decimal_text(decimal_above(times * margin * Fraction(reach.best.r)))
        with suppress(Infeasible, ValueError), progress("looking for what can be had") as report:
            closeness.est(views, reach.prior, r, preserve=preserve, attacker=reach.attacker, progress=report)
            command = asked(context, without={"rows"}, instead={"demanded": [r]})
            return [Decision("Ask for what can be had.", (command,))]
    return []


def saved(release: Release, out: Path, overwrite: bool) -> list[Path]:
    """The files of a release, written and read back."""
    with progress("writing"):
        release.save(out, overwrite=overwrite)
    written = [out / "certificate.json"]
    note(written)
    load(out)  # checks what was written
    return written


def remarks_on(
    release: Release,
    class_name: str,
    on_file: list[str],
    file: Path,
    reading: Reading,
    table: nbcfast.Table,
    views: nbcfast.Viewset,
) -> list[str]:
    """What to know of a release that was made, with what was remarked on the file."""
    from_rows = undeclared(views)
    log_loss = evaluate(release.views, table, class_name).log_loss
    return [
        *release.certificate.warnings,
        *release.remarks,
        *on_file,
        *([undeclared_text(from_rows)] if from_rows else []),
        *numbers_as_text(table, file, reading.texts, OPTIONS),
        *(finding.text for finding in named_people(views)),
        *more(views, release, log_loss, OPTIONS),
    ]


@dataclass(frozen=True)
class Reach:
    """How close to a prior counts are, how close any equivalent classifier can be, and one of EST."""

    prior: dict[Value, str]
    attacker: Attacker
    before: closeness.Achieved
    bound: closeness.LowerBound
    best: closeness.Best

    @classmethod
    def of(
        cls,
        views: nbcfast.Viewset,
        prior: dict[Value, str],
        attacker: Attacker,
        preserve: Preserve,
    ) -> "Reach":
        before = closeness.achieved(views, prior)
        bound = closeness.lower_bound(views, prior, attacker=attacker)
        with progress("optimising") as report:
            best = closeness.best(views, prior, preserve=preserve, progress=report)
        return cls(prior, attacker, before, bound, best)


@dataclass(frozen=True)
class ClosenessOutcome:
    """What can be reached, and what was made.

    Parameters
    ----------
    reach : Reach
    release : Release or None
        What was made, if --r asked for it.
    after : Achieved or None
        How close that is.
    why : str or None
        Why nothing was made though it was asked for.
    files : list of Path
        What was written.
    remarks : list of str
    """

    reach: Reach
    release: Release | None
    after: closeness.Achieved | None
    why: str | None
    files: list[Path]
    remarks: list[str]

    def to_dict(self, feasible: bool | None) -> Document:
        best, bound, release = self.reach.best, self.reach.bound, self.release
        prior = self.reach.prior.items()
        return {
            "prior": [{"class": plain(value), "probability": number} for value, number in prior],
            "before": reached_document(self.reach.before),
            "after": None if self.after is None else reached_document(self.after),
            "lower_bound": {
                "definition5": str(bound.definition5),
                "statement11": str(bound.statement11),
                "strict": bound.strict,
            },
            "best": {"r": float(best.r), "log_r": best.log_r, "attained": best.attained, "exact": best.exact},
            "feasible": feasible,
            "why": self.why,
            "rows": None if release is None else exact(release.views.n_rows),
            "identical": None if release is None else release.certificate.equal,
            "warnings": self.remarks,
            "files": list(map(str, self.files)),
        }

    def summary(self, about: str, decisions: Sequence[Decision]) -> Summary:
        """What it comes to."""
        return of_closeness(
            self.reach.before,
            self.reach.bound,
            self.reach.best,
            about,
            decisions,
            release=self.release,
            after=self.after,
            why=self.why,
            written=bool(self.files),
            remarks=self.remarks,
        )

    def parts(self) -> Parts:
        """For people."""
        parts: list[Text | Grid] = [self._numbers()]
        if self.release is not None:
            lines = [
                ("classifier", same_line(self.release)),
                ("rows", readable(self.release.views.n_rows)),
            ]
            parts.append(pairs(lines))
        return parts

    def _numbers(self) -> Grid:
        """The r of everything, by both of its definitions."""
        before, bound, best = self.reach.before, self.reach.bound, self.reach.best
        numbers = listing("how far from the prior", "r of probabilities", "r of odds")
        numbers.add_row("of the counts as they are", before.definition5.text, before.statement11.text)
        sign = "above" if bound.strict else "at least"
        least = [f"{float(each):.6g}" for each in (bound.definition5, bound.statement11)]
        numbers.add_row(f"of any equivalent classifier, {sign}", *least)
        attained = "" if best.attained else ", not attained"
        numbers.add_row("the smallest that EST comes to", "", f"{best.text}{attained}")
        if self.reach.attacker == "worlds":
            # Averaged over worlds odds may be twice those of one row, so EST is asked for r / 2.
            numbers.add_row("    as --r for attacker 'worlds'", "", f"{2 * float(best.r):.6g}{attained}")
        if self.after is not None:
            numbers.add_row("of what was made", self.after.definition5.text, self.after.statement11.text)
        return numbers


def reached_document(achieved: closeness.Achieved) -> Document:
    """How close, for JSON."""
    result: Document = {}
    for name, reached in (("definition5", achieved.definition5), ("statement11", achieved.statement11)):
        result[name] = {
            "r": None if reached.infinite or reached.log > 700 else math.exp(reached.log),
            "log_r": finite(reached.log),
            "exact": reached.exact,
            "known": {attribute: plain(value) for attribute, value in reached.tuple.items()},
            "classes": [plain(value) for value in reached.classes],
        }
    return result
