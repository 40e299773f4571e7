"""The verb `publish`: a classifier that is safe, and decides as the private one does."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click
from rich.text import Text

from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast._reading.endings import WRITTEN
from nbcfast._wire.messages import printable
from nbcfast.canonical import Limits
from nbcfast.canonical.advice.option_terms import MOST_ADVISED
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.advice_screens import no_domain
from nbcfast.cli.asked_again import accepting, advised, leaving_out, mended_by_leaving_out
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import declares
from nbcfast.cli.limits_asked import with_limits
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.noise_screens import with_noise
from nbcfast.cli.options import Whole, reads_table, verbs
from nbcfast.cli.parsing import names_in, rows_of
from nbcfast.cli.printing import show
from nbcfast.cli.publish_noisy import publish_noisy
from nbcfast.cli.publish_outputs import Asked, Outputs, already_written, tell, written
from nbcfast.cli.publish_screens import Refusal, show_publication
from nbcfast.cli.strata_screens import show_strata
from nbcfast.cli.targets import REPLACES, check_targets, keep_apart
from nbcfast.cli.writings import note
from nbcfast.ledger import LedgerPolicy, LedgerReport, WindowLabels
from nbcfast.ledger.ledger_report import BESIDE_EARLIER
from nbcfast.published.release import Release
from nbcfast.publishing.entering import LedgerAsked, LedgerEntry, expect_outside
from nbcfast.publishing.gate import GateFinding, naming
from nbcfast.publishing.noise_asked import NoiseAsked
from nbcfast.publishing.policy import Demand, demanded
from nbcfast.publishing.prepared import Prepared, prepare
from nbcfast.publishing.report import saved
from nbcfast.publishing.strata_prepared import prepare_by
from nbcfast.publishing.words import label

NOTHING = 4  # what it leaves with where there is nothing to publish


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
@click.option(
    "--ledger",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The releases of this table, JSON lines beside it and as private: what they give away together is "
    "said, another domain is refused, and this release is entered.",
)
@click.option(
    "--window",
    metavar="LABEL|FIRST..LAST",
    help="With --ledger: the label of the block of rows in FILE, or those of the first and last block.",
)
@click.option(
    "--ledger-policy",
    metavar="calendar|disjoint|new-rows=M",
    multiple=True,
    help="With --ledger: each window ends later; shares no block with another; at least M rows came. May be "
    "repeated.",
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
    more than the limits allow: then nothing is written, and what shows is said, and what mends it. With
    --ledger it leaves with 4 if there is nothing to publish, as the last release has the same answers:
    nothing is written.
    """
    demand = demand_of(asked)
    if dataset is not None and not dataset.name.lower().endswith(WRITTEN):
        raise ValueError(f"--dataset must end in {', '.join(WRITTEN)}, got {dataset.name!r}")
    read = [asked["file"], asked["holdout"], asked["listed"], asked["menu"], *asked["declaring"].files]
    check_targets(read, overwrite, folder=out, files={"--dataset": dataset})
    outputs = Outputs(out, dataset, overwrite, as_json)
    book = ledger_of(asked, read, out, dataset)
    if noise is not None:
        return publish_noisy(demand, asked, noise, accept_answers, outputs, book)
    if asked["by"] is not None:
        return publish_strata(demand, asked, limits, accept_answers, outputs)
    return publish_one(demand, asked, limits, accept_answers, outputs, book)


def publish_one(
    demand: Demand,
    asked: Asked,
    limits: Limits,
    accept_answers: bool,
    outputs: Outputs,
    book: LedgerAsked | None,
) -> int:
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
    if book is None:
        return publish_release(prepared, release, None, outputs)
    with book.ledger:  # from the look at earlier releases until this one is entered nobody enters another
        try:
            entry = book.entry(prepared, release)
        except Infeasible as error:
            tell(error, False)
            return 1
        if entry.report.nothing_to_publish:
            return tell_nothing(prepared, entry.report, out, as_json)
        return publish_release(prepared, release, entry, outputs)


def ledger_of(
    asked: Asked, read: Sequence[Path | None], out: Path, dataset: Path | None
) -> LedgerAsked | None:
    """The ledger and what a release is to be in it; refused where it would be published or written over."""
    window, words = asked["window"], asked["ledger_policy"]
    try:
        labels = None if window is None else WindowLabels.parsed(window)
        policy = LedgerPolicy.parsed(words) if words else None
    except ValueError as error:
        raise ValueError(f"--{error}") from None
    book = LedgerAsked.of(asked["ledger"], labels, policy, OPTIONS)
    if book is not None:
        path = book.ledger.path
        expect_outside(path, out, dataset, ("--ledger", "--out", "--dataset"))
        for source in read:
            if source is not None:
                keep_apart(source, [Path(path)], "--ledger")
        if asked["by"] is not None:
            raise ValueError("--ledger does not go with --by: the rows of each stratum are another table")
    return book


def publish_release(prepared: Prepared, release: Release, entry: LedgerEntry | None, outputs: Outputs) -> int:
    """Judge a release and write it, if it may leave; the exit code."""
    out, dataset, as_json = outputs.out, outputs.dataset, outputs.as_json
    gate = prepared.gate(release).beside(entry, prepared.limits)
    if gate.shows and not prepared.accepted:
        helps = BESIDE_EARLIER if entry is not None and entry.report.releases else None
        return refuse(prepared, gate.findings, out, as_json, helps)
    files = (
        written(release, outputs)
        if entry is None
        else entry.save(out, dataset, lambda: written(release, outputs))
    )
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, gate, files, entry)
    if as_json:
        print(json.dumps(publication.to_dict(), indent=2))
    else:
        unit = "rows" if prepared.table.weights is None else "total weight"
        show_publication(publication, out, unit, prepared.demand.intervals)
    return 0


def tell_nothing(prepared: Prepared, report: LedgerReport, out: Path, as_json: bool) -> int:
    """That the last release has these answers already; the exit code."""
    what = f"{printable(str(prepared.source))}, {label(prepared.class_name)}"
    verdict = f"NOTHING TO PUBLISH: {what} -> {printable(str(out))} (nothing was written)"
    if as_json:
        document: Document = {
            "file": prepared.source,
            "class": prepared.class_name,
            "verdict": verdict,
            "ledger": report.to_dict(),
            "files": [],
        }
        print(json.dumps(document, indent=2))
    else:
        said = [f"- {printable(text)}" for text in report.findings]
        show(Text(verdict, style="bold"), Text("\n".join(said)))
    return NOTHING


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
