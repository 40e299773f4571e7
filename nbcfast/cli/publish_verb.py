"""The verb `publish`: a classifier that is safe, and decides as the private one does."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import click
from rich.text import Text

import nbcfast
from nbcfast import canonical, safety
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import exact as exactly
from nbcfast._reading.endings import WRITTEN
from nbcfast._wire.messages import printable
from nbcfast._wire.release_words import undeclared_text
from nbcfast.attack.membership import same_rows
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.adversaries import Adversaries
from nbcfast.cli.answers import NO_METER, Choice, declared_in, leaks, listed_in
from nbcfast.cli.bars import ProgressCallback, progress
from nbcfast.cli.options import Whole, reads_table, verbs
from nbcfast.cli.parsing import rows_of
from nbcfast.cli.printing import amount, exact, label, limit_line, listing, pairs, readable, same_line, show
from nbcfast.cli.reading import Reading, counted
from nbcfast.cli.remarks import all_once, more, singular, too_long
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import forget, note
from nbcfast.published.release import Release
from nbcfast.table.values import plain
from nbcfast.transform import safety_transform
from nbcfast.verification.load import load
from nbcfast.views.quality import Quality, WorstPosterior, evaluate, worst_posteriors

MOST_POSTERIORS = 8  # classes whose worst posteriors are listed each
NOTHING_LEFT = 0.99  # of ln C, the log-loss of a classifier that knows nothing


@verbs.command()
@reads_table
@click.option(
    "--amplification",
    metavar="L",
    help="No set of values may make one class more than L times as probable as another: 4, 5/2 or 2.5.",
)
@click.option(
    "--breach",
    metavar="L1 L2",
    nargs=2,
    help="The same from two probabilities: from classes that are equally probable, nothing of probability "
    "at most L1 becomes more probable than L2.",
)
@click.option(
    "--attacker",
    type=click.Choice(["row", "worlds"]),
    default="row",
    show_default=True,
    help="row: knows attributes of one row. worlds: averages over possible worlds, as in the paper.",
)
@click.option(
    "--method",
    type=click.Choice(["canonical", "safetytransform"]),
    help="canonical: from the classifier's answers and nothing else. safetytransform: powers of the counts.  "
    "[default: canonical where it applies]",
)
@click.option(
    "--preserve",
    type=click.Choice(["order", "label"]),
    help="What stays as it is at every tuple: the order of all classes, or the best class.  [default: label; "
    "order with safetytransform]",
)
@click.option(
    "--domain",
    "domain",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help='JSON: declared values and bins: {"sex": ["female", "male"], "age": {"edges": [0, 18, 65, null]}}. '
    'With "null": true beside the edges null is a value.',
)
@click.option(
    "--bits",
    type=Whole(1, 62),
    help="With canonical: round the points to so many bits; the certificate says how many tuples change.",
)
@click.option(
    "--tuples",
    "listed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With canonical: a public list of tuples; answers are kept there, and may change elsewhere.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="With canonical: also measure how wide the answers leave log-ratios of counts. Needs SciPy, and up "
    "to some ten seconds.",
)
@click.option(
    "--rows",
    metavar="smallest|proven|R",
    default="smallest",
    show_default=True,
    help="How many rows the published counts stand for.",
)
@click.option(
    "--allow-differences",
    is_flag=True,
    help="With --rows R: publish even if some tuples differ; the certificate says how many.",
)
@click.option("--no-gauge", is_flag=True, help="Do not replace the attribute marginals by artificial ones.")
@click.option(
    "--out", metavar="DIR", required=True, type=click.Path(path_type=Path), help="The folder to write."
)
@click.option(
    "--dataset",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Also write a synthetic table with the published counts: .parquet, .csv or .csv.gz.",
)
@click.option(
    "--holdout",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Other rows of the same population: measure whether those of the input can be told from them.",
)
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def publish(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    amplification: str | None,
    breach: tuple[str, str] | None,
    attacker: Literal["row", "worlds"],
    method: Literal["canonical", "safetytransform"] | None,
    preserve: Literal["order", "label"] | None,
    domain: Path | None,
    bits: int | None,
    listed: Path | None,
    intervals: bool,
    rows: str,
    allow_differences: bool,
    no_gauge: bool,
    out: Path,
    dataset: Path | None,
    holdout: Path | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Publish a classifier of the column NAME that is safe, and decides as that of FILE.

    Writes DIR/certificate.json, and prints what it takes to decide whether it may leave: how far anybody's
    odds move, whether the classifier is the same and how that was proven, what it is worth, what the answers
    of the classifier give away by themselves, and what adversaries make of it. What is printed under
    "before", and what is said of leaks, of counts recovered and of members, comes from the private table and
    is not meant for publication.

    Leaves with 0 if the release is written, and with 1 if the demands cannot be met.
    """
    limit = limit_of(amplification, breach, attacker)
    wanted = rows_of(rows, allow_differences)
    if dataset is not None and not dataset.name.lower().endswith(WRITTEN):
        raise ValueError(f"--dataset must end in {', '.join(WRITTEN)}, got {dataset.name!r}")
    check_targets([file, holdout, listed, domain], overwrite, folder=out, files={"--dataset": dataset})
    chosen = Choice(method, no_gauge, allow_differences, bits, listed is not None, intervals)
    declared = None if domain is None else declared_in(domain)
    table, views = counted(file, class_name, columns, reading, max_values, declared)
    chosen.settle(views, preserve)
    preserve = preserve or ("label" if chosen.canonical else "order")
    public = others = None
    if listed is not None:
        public = listed_in(listed, views, declared, reading)
        if same_rows(table, public, views.attributes):
            raise ValueError(
                f"--tuples must be a public list, which whoever verifies needs: {str(listed)!r} has the rows "
                "of the input"
            )
    if holdout is not None:  # before anything is written: it may not be there, or be the input
        others = reading.others(holdout, file, table, views, class_name)

    def transform(preserve: Literal["order", "label"]) -> Release:
        if chosen.canonical:
            with progress("solving") as report:
                return canonical.release(
                    views,
                    limit,
                    preserve=preserve,
                    tuples=public,
                    bits=bits,
                    rows=wanted,
                    attacker=attacker,
                    class_name=class_name,
                    progress=report,
                )
        with progress("transforming") as report:
            return safety_transform(
                views,
                limit,
                preserve=preserve,
                rows=wanted,
                gauge=not no_gauge,
                attacker=attacker,
                allow_differences=allow_differences,
                table=table,
                class_name=class_name,
                progress=report,
            )

    try:
        release = transform(preserve)
    except Infeasible as error:
        print(f"nbcfast: infeasible: {printable(' '.join(error.why.split()))}", file=sys.stderr)
        for text in best_found(error.best):
            print(f"nbcfast: best found: {printable(text)}", file=sys.stderr)
        if isinstance(wanted, int) and not allow_differences and error.best.get("differing_tuples"):
            print(
                "nbcfast: --rows smallest looks for the fewest rows with which none does; "
                "--allow-differences publishes some, by --method safetytransform, and says how many",
                file=sys.stderr,
            )
        return 1
    with progress("writing") as report:
        release.save(out, dataset=dataset, overwrite=overwrite, progress=report)
    files = [out / "certificate.json", *([] if dataset is None else [dataset])]
    note(files)
    certificate = load(out).certificate  # reads and checks what was written
    with already_written(files):
        with progress("judging") as report:
            before = Standing.of(views, table, class_name, report)
        with progress("judging") as report:
            after = Standing.of(release.views, table, class_name, report)
        leak = None
        if chosen.canonical and public is None:
            leak = leaks(views, table, class_name, preserve, bits is not None, intervals)
        adversaries = Adversaries.of(release, views, table, others, class_name)
        # Nothing is left of a log-loss near ln C: with fewer demands there may be more.
        nothing = NOTHING_LEFT * math.log(len(views.classes))
        alternative = None
        if (
            preserve == "order"
            and not chosen.canonical
            and len(views.classes) > 1
            and after.quality.log_loss >= nothing
        ):
            try:
                alternative = evaluate(transform("label").views, table, class_name)
            except Infeasible:
                alternative = None

    warnings = [*certificate.warnings, *certificate.notes, *release.remarks]
    if not chosen.canonical:  # no certificate of this method says it
        from_rows = undeclared(views)
        warnings += [undeclared_text(from_rows)] if from_rows else []
    if alternative is not None and len(views.classes) == 2:
        warnings.append("With two classes --preserve label would give the same.")
    elif alternative is not None:
        warnings.append(
            f"With --preserve label the log-loss would be {alternative.log_loss:.4f} in place of "
            f"{after.quality.log_loss:.4f} (ln {len(views.classes)} = {math.log(len(views.classes)):.4f} "
            "is that of a classifier that knows nothing)."
        )
    if leak is not None:
        warnings.append(leak.verdict)
    warnings.extend(adversaries.untried)
    warnings.extend(all_once(file, reading.weights, reading.delimiter, class_name, columns))
    warnings.extend(too_long(table, file, reading.texts))
    warnings.extend(singular(views))
    warnings.extend(more(views, release, after.quality.log_loss))
    if as_json:
        made = certificate.differing_tuples
        found = {
            "file": str(file),
            "class": class_name,
            "amplification": f"{limit.numerator}/{limit.denominator}",
            "attacker": attacker,
            "limit": f"{certificate.limit.numerator}/{certificate.limit.denominator}",
            "before": before.to_dict(),
            "after": after.to_dict(),
            "method": certificate.method,
            "why": chosen.why,
            "preserve": preserve,
            "identical": certificate.equal,
            "equivalence": certificate.equivalence,
            "tuples": exact(certificate.tuples),
            "differing_tuples": None if made is None else exact(made),
            "differing_rows": certificate.differing_rows,
            "log_loss_with_label": None if alternative is None else alternative.log_loss,
            "leak": None if leak is None else leak.to_dict(),
            "adversaries": adversaries.to_dict(),
            "warnings": warnings,
            "files": [{"path": str(path), "bytes": path.stat().st_size} for path in files],
        }
        print(json.dumps(found, indent=2))
        return 0

    numbers = listing("", "before", "after")
    numbers.add_row("Lambda, the largest ratio of two scores", before.lambda_text, after.lambda_text)
    if len(views.classes) <= MOST_POSTERIORS:
        for old, new in zip(before.worst, after.worst, strict=True):
            numbers.add_row(
                f"worst posterior of {label(old.label)}", posterior_text(old), posterior_text(new)
            )
    else:
        worst = [posterior_text(standing.worst_of_all, True) for standing in (before, after)]
        numbers.add_row("worst posterior", *worst)
    numbers.add_row(
        "rows" if reading.weights is None else "total weight", readable(before.rows), readable(after.rows)
    )
    numbers.add_row("log-loss on the input", before.loss_text, after.loss_text)
    numbers.add_row("accuracy on the input", before.accuracy_text, after.accuracy_text)
    decisions = [
        ("method", chosen.line),
        ("limit of Lambda", limit_line(certificate.limit, limit, attacker)),
        ("classifier", same_line(release)),
    ]
    if public is not None:
        decisions.append(("leak meter", NO_METER))
    if intervals and leak is None:
        decisions.append(("intervals of log-ratios", "not measured: the leak meter is of canonical releases"))
    written = listing("files written", "bytes")
    for path in files:
        written.add_row(Text(printable(str(path))), f"{path.stat().st_size:,}")
    show(
        Text(f"{printable(str(file))}, {label(class_name)}", style="bold"),
        numbers,
        pairs(decisions),
        *([] if leak is None else leak.grids()),
        adversaries.grid(),
        Text("\n".join(f"- {printable(text)}" for text in warnings)),
        written,
    )
    return 0


@contextmanager
def already_written(files: list[Path]) -> Iterator[None]:
    """What is measured of a release comes after it is written; where that ends early, it is there."""
    try:
        yield
    except BaseException:
        forget()
        names = ", ".join(printable(str(path)) for path in files)
        print(f"nbcfast: {names}: written, but not judged or attacked to the end", file=sys.stderr)
        raise


def limit_of(
    amplification: str | None, breach: tuple[str, str] | None, attacker: Literal["row", "worlds"]
) -> Fraction:
    """The amplification that the options ask for."""
    if (amplification is None) == (breach is None):
        came = "neither" if breach is None else "both"
        raise ValueError(f"expected one of --amplification L and --breach L1 L2, got {came}")
    if breach is not None:
        try:
            limit = safety.limit(*breach)
        except ValueError:
            raise ValueError(
                f"--breach must be two numbers 0 < L1 < L2 < 1, got {' and '.join(breach)}"
            ) from None
    else:
        limit = Fraction(exactly(amplification, "--amplification"))
    least = 2 if attacker == "worlds" else 1
    if limit <= least:
        reason = ", because attacker 'worlds' needs half of it" if attacker == "worlds" else ""
        raise ValueError(f"--amplification must be above {least}{reason}; got {amount(limit)}")
    return limit


@dataclass(frozen=True)
class Standing:
    """What there is to say about a classifier, private or published."""

    amplification: safety.Amplification
    worst: tuple[WorstPosterior, ...]
    rows: int
    quality: Quality

    @classmethod
    def of(
        cls, views: nbcfast.Viewset, table: nbcfast.Table, class_name: str, report: ProgressCallback | None
    ) -> "Standing":
        quality = evaluate(views, table, class_name, progress=report)
        return cls(safety.amplification(views), worst_posteriors(views), views.n_rows, quality)

    @property
    def lambda_text(self) -> str:
        if self.amplification.infinite:
            return "infinite"
        log = self.amplification.log
        return f"{math.exp(log):,.6g}" if log < 30 else f"about 10^{log / math.log(10):.1f}"

    @property
    def worst_of_all(self) -> WorstPosterior:
        return max(self.worst, key=lambda posterior: posterior.probability)

    @property
    def loss_text(self) -> str:
        return f"{self.quality.log_loss:.4f}"

    @property
    def accuracy_text(self) -> str:
        return f"{self.quality.accuracy:.2%}"

    def to_dict(self) -> dict[str, object]:
        amplification, worst = self.amplification, self.worst_of_all
        return {
            "amplification": None if amplification.infinite else amplification.to_dict()["value"],
            "amplification_float": math.exp(amplification.log) if amplification.log < 700 else None,
            "log_amplification": None if amplification.infinite else amplification.log,
            "worst_posterior": {**worst.to_dict(), "label": plain(worst.label)},
            "rows": exact(self.rows),
            "log_loss": plain(self.quality.log_loss),
            "accuracy": self.quality.accuracy,
            "correct": self.quality.correct,
        }


def posterior_text(posterior: WorstPosterior, named: bool = False) -> str:
    """The probability, and of which class if that is not said beside it."""
    bound = "" if posterior.exact else "at most "
    return f"{bound}{posterior.probability:.1%}{f' {label(posterior.label)}' if named else ''}"


def best_found(best: dict[str, object]) -> Iterator[str]:
    """What could be had in place of a demand that nothing meets."""
    release = best.get("release")
    if isinstance(release, Release):
        yield f"a release of {readable(release.views.n_rows)} rows; {same_line(release)}"
        best = {
            name: one for name, one in best.items() if name not in ("release", "rows", "differing_tuples")
        }
    for name, one in best.items():
        yield f"{name.replace('_', ' ')}: {'not known' if one is None else amount(one)}"
