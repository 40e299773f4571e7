"""The verb `publish`: a classifier that is safe, and decides as the private one does."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, Unpack

import click

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._reading.endings import WRITTEN
from nbcfast._wire.messages import printable
from nbcfast.canonical import Limits
from nbcfast.canonical.advice.option_terms import MOST_ADVISED
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.advice_screens import no_domain
from nbcfast.cli.asked_again import accepting, advised, leaving_out, mended_by_leaving_out
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.limits_asked import with_limits
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.noise_screens import show_noisy, show_owners, with_noise
from nbcfast.cli.options import Whole, reads_table, verbs
from nbcfast.cli.parsing import names_in, rows_of
from nbcfast.cli.printing import readable, same_line
from nbcfast.cli.publish_screens import Refusal, show_publication
from nbcfast.cli.reading import Reading
from nbcfast.cli.strata_screens import show_strata
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import forget, note
from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding, naming
from nbcfast.publishing.noise_asked import REASONS, NoiseAsked, expect_alone
from nbcfast.publishing.noisy_prepared import prepare_noisy
from nbcfast.publishing.policy import Demand, demanded
from nbcfast.publishing.prepared import Prepared, prepare
from nbcfast.publishing.report import saved
from nbcfast.publishing.strata_prepared import prepare_by
from nbcfast.publishing.words import amount, label


class Asked(TypedDict):
    """The options that say what is published, and of what; the others say where it goes."""

    file: Path
    class_name: str
    columns: str | None
    reading: Reading
    max_values: int
    amplification: str | None
    breach: tuple[str, str] | None
    attacker: Attacker
    method: Literal["canonical", "safetytransform"] | None
    preserve: Preserve | None
    declaring: Declaring
    by: str | None
    menu: Path | None
    bits: int | None
    alpha: str | None
    listed: Path | None
    intervals: bool
    rows: str
    allow_differences: bool
    no_gauge: bool
    holdout: Path | None


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
@declares
@click.option(
    "--by",
    metavar="NAME",
    help="With canonical: a public column. Each of its values has a classifier of its own, and selects it: "
    "all are in one folder, with one certificate.",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="JSON, fixed in advance: options of every attribute. The best domain that keeps the limits is "
    "published on; see `advise`.",
)
@click.option(
    "--bits",
    type=Whole(1, 62),
    help="With canonical: round the points to so many bits; the certificate says how many tuples change.",
)
@click.option(
    "--smooth",
    "alpha",
    metavar="A",
    help="With canonical: publish the classifier with A added to every count (1, 1/2): better calibrated "
    "where values have few rows. It is in the certificate, and protects nobody.",
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
@with_noise
@with_limits
@click.option(
    "--accept-answers",
    is_flag=True,
    help="Publish whatever the answers give away, kept to limits or not; the certificate says so.",
)
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def publish(
    out: Path,
    dataset: Path | None,
    overwrite: bool,
    as_json: bool,
    limits: Limits,
    accept_answers: bool,
    noise: NoiseAsked | None,
    **asked: Unpack[Asked],
) -> int:
    """Publish a classifier of the column NAME that is safe, and decides as that of FILE.

    Writes DIR/certificate.json, and prints what it takes to decide whether it may leave: how far anybody's
    odds move, whether the classifier is the same and how that was proven, what it is worth, what the answers
    of the classifier give away by themselves, and what adversaries make of it. What is printed under
    "before", and what is said of leaks, of counts recovered and of members, comes from the private table and
    is not meant for publication.

    With --dp-epsilon or --dp-rho the release is made of noisy counts alone, and is differentially private:
    then no limit on answers applies, and what comes from rows is refused.

    Leaves with 0 if the release is written, and with 1 if the demands cannot be met, or the answers give away
    more than the limits allow: then nothing is written, and what shows is said, and what mends it.
    """
    demand = demand_of(asked)
    if dataset is not None and not dataset.name.lower().endswith(WRITTEN):
        raise ValueError(f"--dataset must end in {', '.join(WRITTEN)}, got {dataset.name!r}")
    read = [asked["file"], asked["holdout"], asked["listed"], asked["menu"], *asked["declaring"].files]
    check_targets(read, overwrite, folder=out, files={"--dataset": dataset})
    outputs = Outputs(out, dataset, overwrite, as_json)
    if noise is not None:
        return publish_noisy(demand, asked, noise, limits, accept_answers, outputs)
    if asked["by"] is not None:
        return publish_strata(demand, asked, limits, accept_answers, outputs)
    return publish_one(demand, asked, limits, accept_answers, outputs)


class Outputs(NamedTuple):
    """Where it goes, and how it is told."""

    out: Path
    dataset: Path | None
    overwrite: bool
    as_json: bool


def publish_one(demand: Demand, asked: Asked, limits: Limits, accept_answers: bool, outputs: Outputs) -> int:
    """A classifier of exact counts; the exit code."""
    reading, out, as_json = asked["reading"], outputs.out, outputs.as_json
    try:
        with mended_by_leaving_out(click.get_current_context()):
            prepared = prepare(
                asked["file"],
                asked["class_name"],
                demand,
                reading.caller,
                domains=asked["declaring"].declared,
                menu=asked["menu"],
                tuples=asked["listed"],
                holdout=asked["holdout"],
                columns=None if asked["columns"] is None else names_in(asked["columns"]),
                weights=reading.weights,
                delimiter=reading.delimiter,
                texts=reading.texts,
                max_values=asked["max_values"],
                limits=limits,
                accept_answers=accept_answers,
            )
    except Infeasible as error:  # no domain of the menu keeps the limits
        return no_domain(error)
    named = prepared.named_people()
    if named and not accept_answers:  # before any work: all else is to be made again without them
        return refuse(prepared, named, out, as_json)
    try:
        release = prepared.release()
    except Infeasible as error:
        tell(error, not demand.allow_differences and isinstance(demand.rows, int))
        return 1
    gate = prepared.gate(release)
    if gate.shows and not accept_answers:
        return refuse(prepared, gate.findings, out, as_json)
    with progress("writing") as report:
        files = saved(
            release, out, dataset=outputs.dataset, overwrite=outputs.overwrite, progress=report, done=note
        )
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, gate, files)
    if as_json:
        print(json.dumps(publication.to_dict(), indent=2))
    else:
        unit = "rows" if reading.weights is None else "total weight"
        show_publication(publication, out, unit, demand.intervals)
    return 0


def publish_noisy(
    demand: Demand, asked: Asked, noise: NoiseAsked, limits: Limits, accept_answers: bool, outputs: Outputs
) -> int:
    """A classifier of noisy counts; the exit code."""
    reading = asked["reading"]
    expect_alone([("menu", asked["menu"] is not None, REASONS["menu"])], OPTIONS)
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
        limits=None if limits == Limits() else limits,
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
    with progress("writing") as report:
        files = saved(
            release,
            outputs.out,
            dataset=outputs.dataset,
            overwrite=outputs.overwrite,
            progress=report,
            done=note,
        )
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, agreement, files)
    if outputs.as_json:
        print(json.dumps(publication.to_dict(), indent=2))
    else:
        show_noisy(publication, outputs.out)
    return 0


def publish_strata(
    demand: Demand, asked: Asked, limits: Limits, accept_answers: bool, outputs: Outputs
) -> int:
    """A classifier for each value of a column; the exit code."""
    if asked["menu"] is not None:
        raise ValueError(
            "--menu does not go with --by: advise a domain, of a menu that cannot leave the column of --by "
            "out, and give it with --domain"
        )
    reading, by, out = asked["reading"], asked["by"], outputs.out
    assert by is not None
    with mended_by_leaving_out(click.get_current_context()):
        prepared = prepare_by(
            asked["file"],
            asked["class_name"],
            by,
            demand,
            reading.caller,
            domains=asked["declaring"].declared,
            holdout=asked["holdout"],
            columns=None if asked["columns"] is None else names_in(asked["columns"]),
            weights=reading.weights,
            delimiter=reading.delimiter,
            texts=reading.texts,
            max_values=asked["max_values"],
            limits=limits,
            accept_answers=accept_answers,
        )
    named = prepared.whole.named_people()
    if named and not accept_answers:
        return refuse(prepared.whole, named, out, outputs.as_json)
    try:
        release = prepared.release()
    except Infeasible as error:
        tell(error, isinstance(demand.rows, int))
        return 1
    gates = prepared.gates(release)
    findings = prepared.findings(gates)
    if any(finding.refuses for finding in findings) and not accept_answers:
        return refuse(prepared.whole, findings, out, outputs.as_json, strata_help(by))
    with progress("writing") as report:
        files = saved(
            release, out, dataset=outputs.dataset, overwrite=outputs.overwrite, progress=report, done=note
        )
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, gates, files)
    if outputs.as_json:
        print(json.dumps(publication.to_dict(), indent=2))
    else:
        show_strata(publication, out, "rows" if reading.weights is None else "total weight")
    return 0


def strata_help(by: str) -> str:
    """What helps where strata show too much: a domain is advised for all rows, and not for theirs."""
    return (
        f"What helps: coarser values of the attributes, coarser groups of {label(by)}, or no --by: a stratum "
        "has fewer people than the whole."
    )


def demand_of(asked: Asked) -> Demand:
    """What the options ask for."""
    return Demand(
        amplification=demanded(asked["amplification"], asked["breach"], asked["attacker"], OPTIONS),
        attacker=asked["attacker"],
        method=asked["method"],
        preserve=asked["preserve"],
        bits=asked["bits"],
        alpha=asked["alpha"],
        by=asked["by"],
        listed=asked["listed"] is not None,
        intervals=asked["intervals"],
        rows=rows_of(asked["rows"], asked["allow_differences"]),
        allow_differences=asked["allow_differences"],
        gauge=not asked["no_gauge"],
        words=OPTIONS,
    )


def refuse(
    prepared: Prepared, findings: Sequence[GateFinding], out: Path, as_json: bool, helps: str | None = None
) -> int:
    """Say what shows, what mends it, or what helps, and how it is published all the same; the exit code."""
    context, views = click.get_current_context(), prepared.views
    named = naming(views)
    if named:
        mend = leaving_out(context, named, views.attributes)
        if not mend and context.params["menu"] is not None:
            helps = (
                f"What helps: a menu without {', '.join(map(label, named))}, or with coarser options alone."
            )
    elif len(views.classes) > 1 and helps is None and views.n_rows <= MOST_ADVISED:
        mend = advised(context, from_rows=bool(undeclared(views)))
    else:  # of one class alone no domain hides anything
        mend = []
    refusal = Refusal(
        file=Path(str(prepared.source)),
        class_name=prepared.class_name,
        out=out,
        findings=findings,
        whole=not named,
        mend=mend,
        accept=accepting(context),
        limits=prepared.limits,
        remarks=prepared.remarks,
        **({} if helps is None else {"helps": helps}),
    )
    if as_json:
        print(json.dumps(refusal.to_dict(), indent=2))
    else:
        refusal.show()
    return 1


def tell(error: Infeasible, exactly: bool) -> None:
    """Why demands cannot be met, and what can be had; `exactly` so many rows were asked for."""
    print(f"nbcfast: infeasible: {printable(' '.join(error.why.split()))}", file=sys.stderr)
    for text in best_found(error.best):
        print(f"nbcfast: best found: {printable(text)}", file=sys.stderr)
    if exactly and error.best.get("differing_tuples"):
        print(
            "nbcfast: --rows smallest looks for the fewest rows with which none does; "
            "--allow-differences publishes some, by --method safetytransform, and says how many",
            file=sys.stderr,
        )


@contextmanager
def already_written(files: list[str]) -> Iterator[None]:
    """What is measured of a release comes after it is written; where that ends early, it is there."""
    try:
        yield
    except BaseException:
        forget()
        names = ", ".join(printable(path) for path in files)
        print(f"nbcfast: {names}: written, but not judged or attacked to the end", file=sys.stderr)
        raise


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
