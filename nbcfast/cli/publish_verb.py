"""The verb `publish`: a classifier whose numbers keep a limit, and that decides as the private one."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Unpack

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast._reading.endings import WRITTEN
from nbcfast.canonical import Limits
from nbcfast.canonical.advice.option_terms import MOST_ADVISED
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.asked_again import accepting, advised, asked, without_people
from nbcfast.cli.declaring import declares
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.limits_asked import with_limits
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.noise_screens import with_noise
from nbcfast.cli.options import Whole, reads_table, verbose, verbs
from nbcfast.cli.parsing import rows_of
from nbcfast.cli.policy_asked import POLICY, UNDECLARED, declaring_columns, mends_under, under_policy
from nbcfast.cli.printing import Parts, tell
from nbcfast.cli.publish_noisy import publish_noisy
from nbcfast.cli.publish_outputs import (
    Asked,
    Outputs,
    already_written,
    next_steps,
    table_options,
    unmet,
    written,
)
from nbcfast.cli.publish_screens import publication_details
from nbcfast.cli.released_again import further, nobody_shows, over, worth_more
from nbcfast.cli.reports_asked import report_asked, with_report
from nbcfast.cli.strata_screens import strata_details
from nbcfast.cli.targets import REPLACES, check_targets, keep_apart
from nbcfast.cli.unmet import beside_earlier, other_domains, otherwise_made, rows_had, without_smoothing
from nbcfast.ledger import LedgerPolicy, LedgerReport, WindowLabels
from nbcfast.ledger.ledger_report import BESIDE_EARLIER
from nbcfast.policies import Policy
from nbcfast.published.release import Release
from nbcfast.publishing.demand import Demand
from nbcfast.publishing.entering import LedgerAsked, LedgerEntry, expect_outside
from nbcfast.publishing.gate import GateFinding, naming, sorted_findings
from nbcfast.publishing.inputs import NamesPeopleError
from nbcfast.publishing.noise_asked import NoiseAsked
from nbcfast.publishing.prepared import Prepared, prepare
from nbcfast.publishing.report import Publication
from nbcfast.publishing.strata_prepared import prepare_by
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.publishing.words import label
from nbcfast.reports.ledger_summary import nothing_new
from nbcfast.reports.publication_page import publication_page, refusal_page, stratified_page
from nbcfast.reports.publication_summary import of_publication, worth_of
from nbcfast.reports.refusals import Refusal, of_people
from nbcfast.reports.summary import Decision, Summary
from nbcfast.safety.demanded import demanded

NO_ATTRIBUTE = "Use attributes: without any there is one answer for everybody, and no other domain of it."
NOTHING = 4  # what it leaves with where there is nothing to publish


@verbs.command(
    short_help="Publish a classifier whose numbers keep a limit.",
    example="nbcfast publish patients.csv --class diagnosis --amplification 4"
    " --menu patients-menu.json --out release",
)
@partial(reads_table, has_class=False, without_class="  [required, but for --policy]")
@POLICY
@click.option(
    "--amplification",
    metavar="L",
    help="To a reader of the counts no set of values makes one class more than L times as probable as "
    "another: 4, 5/2 or 2.5.",
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
    "--strata",
    "by",
    cls=Renamed,
    former=("--by",),
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
@click.option(
    "--dry-run",
    "dry",
    is_flag=True,
    help="Do everything but write: the same verdict, findings and exit code, and a --report that is asked "
    "for. With noise nothing is drawn for a release.",
)
@with_report
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def publish(
    out: Path,
    dataset: Path | None,
    overwrite: bool,
    dry: bool,
    as_json: bool,
    limits: Limits,
    accept_answers: bool,
    noise: NoiseAsked | None,
    policy: Path | None,
    **options: Unpack[Asked],
) -> int:
    """Publish a classifier of the column NAME whose numbers keep a limit, and that decides as that of FILE.

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
    asked, limits, noise, under = under_policy(policy, options, limits, noise, accept_answers)
    demand = demand_of(asked)
    if dataset is not None and not dataset.name.lower().endswith(WRITTEN):
        raise ValueError(f"--dataset must end in {', '.join(WRITTEN)}, got {dataset.name!r}")
    read = [asked["file"], asked["holdout"], asked["listed"], asked["menu"], *asked["declaring"].files]
    read += [policy]
    check_targets(read, overwrite, folder=out, files={"--dataset": dataset})
    outputs = Outputs(out, dataset, overwrite, as_json, dry)
    book = ledger_of(asked, read, out, dataset)
    if noise is not None:
        return publish_noisy(demand, asked, noise, accept_answers, outputs, book, under)
    if asked["by"] is not None:
        return publish_strata(demand, asked, limits, accept_answers, outputs, under)
    return publish_one(demand, asked, limits, accept_answers, outputs, book, under)


def publish_one(
    demand: Demand,
    asked: Asked,
    limits: Limits,
    accept_answers: bool,
    outputs: Outputs,
    book: LedgerAsked | None,
    policy: Policy | None = None,
) -> int:
    """A classifier of exact counts; the exit code."""
    reading = asked["reading"]
    try:
        prepared = prepare(
            asked["file"],
            asked["class_name"],
            demand,
            reading.caller,
            menu=asked["menu"],
            front=report_asked() is not None,
            tuples=asked["listed"],
            **table_options(asked),
            limits=limits,
            accept_answers=accept_answers,
            policy=policy,
        )
    except NamesPeopleError as error:
        return refuse_uncounted(error, asked, limits, outputs, policy)
    except Infeasible as error:  # no domain of the menu keeps the limits
        helps = (
            [mends_under(policy, ())] if policy is not None else [*other_domains(error), *without_smoothing()]
        )
        return unmet(error, asked, outputs, helps)
    named = prepared.named_people()
    if named and not accept_answers:  # before any work: all else is to be made again without them
        return refuse(prepared, named, outputs)
    try:
        release = prepared.release()
    except Infeasible as error:
        helps = rows_had(error, demand) or [*otherwise_made(error, demand), mends(prepared)]
        return unmet(error, asked, outputs, helps)
    if book is None:
        return publish_release(prepared, release, None, outputs)
    # Nobody enters another between the look at earlier releases and this one; a dry run enters none.
    with nullcontext() if outputs.dry else book.ledger:
        try:
            entry = book.entry(prepared, release)
        except Infeasible as error:
            return unmet(error, asked, outputs, beside_earlier(book.ledger.path))
        if entry.report.nothing_to_publish:
            return tell_nothing(prepared, entry.report, outputs)
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
            raise ValueError("--ledger does not go with --strata: the rows of each stratum are another table")
    return book


def publish_release(prepared: Prepared, release: Release, entry: LedgerEntry | None, outputs: Outputs) -> int:
    """Judge a release and write it, if it may leave; the exit code."""
    gate = prepared.gate(release).beside(entry, prepared.limits)
    beside = entry is not None and bool(entry.report.releases)
    if gate.shows and not prepared.accepted:
        worth = worth_of(release, *prepared.standings(release))
        refused = None if report_asked() is None else prepared.judged(release, gate, (), entry)
        helps = BESIDE_EARLIER if beside else None
        return refuse(prepared, [*gate.findings, *worth], outputs, helps, refused)
    files = written(release, outputs, entry)
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, gate, files, entry)
    unit = "rows" if prepared.table.weights is None else "total weight"
    there = bool(files)
    mended = [mends(prepared, BESIDE_EARLIER if beside else None, there)] if gate.shows else []
    # A ledger keeps its domain: another one would be refused.
    otherwise = [] if beside else nobody_shows(prepared, publication, there)
    tell_publication(
        publication,
        outputs.about(prepared.source, prepared.class_name),
        next_steps(
            outputs,
            [*mended, *worth_more(prepared, publication, there)],
            otherwise,
            further(there, kept=entry is not None),
            decides=bool(prepared.views.attributes),
        ),
        lambda: publication_details(publication, unit, prepared.demand.intervals),
        outputs,
        lambda summary: publication_page(publication, summary, prepared.table, prepared.classifier),
    )
    return 0


def tell_publication(
    publication: Publication | StratifiedPublication,
    about: str,
    decisions: Sequence[Decision],
    details: Callable[[], Parts],
    outputs: Outputs,
    page: Callable[[Summary], bytes],
) -> None:
    """Say what a release comes to, written or not."""
    tell(
        of_publication(publication, about, decisions, outputs.unwritten),
        publication.to_dict,
        details,
        as_json=outputs.as_json,
        written=publication.files,
        page=page,
    )


def tell_nothing(prepared: Prepared, report: LedgerReport, outputs: Outputs) -> int:
    """That the last release has these answers already; the exit code."""
    summary = nothing_new(
        report, f"{outputs.about(prepared.source, prepared.class_name)} ({outputs.unwritten})"
    )

    def document() -> Document:
        return {
            "file": prepared.source,
            "class": prepared.class_name,
            "verdict": summary.verdict,
            "ledger": report.to_dict(),
            "files": [],
        }

    tell(summary, document, as_json=outputs.as_json)
    return NOTHING


def publish_strata(
    demand: Demand,
    asked: Asked,
    limits: Limits,
    accept_answers: bool,
    outputs: Outputs,
    policy: Policy | None = None,
) -> int:
    """A classifier for each value of a column; the exit code."""
    if asked["menu"] is not None:
        raise ValueError(
            "--menu does not go with --strata: advise a domain, of a menu that cannot leave the column of "
            "--strata out, and give it with --domain"
        )
    reading, by = asked["reading"], asked["by"]
    assert by is not None
    try:
        prepared = prepare_by(
            asked["file"],
            asked["class_name"],
            by,
            demand,
            reading.caller,
            **table_options(asked),
            limits=limits,
            accept_answers=accept_answers,
            policy=policy,
        )
    except NamesPeopleError as error:
        return refuse_uncounted(error, asked, limits, outputs, policy)
    named = prepared.whole.named_people()
    if named and not accept_answers:
        return refuse(prepared.whole, named, outputs)
    try:
        release = prepared.release()
    except Infeasible as error:
        helps = rows_had(error, demand) or [mends(prepared.whole, strata_help(by))]
        return unmet(error, asked, outputs, helps)
    gates = prepared.gates(release)
    findings = prepared.findings(release, gates)
    if any(finding.refuses for finding in findings) and not accept_answers:
        return refuse(prepared.whole, findings, outputs, strata_help(by))
    files = written(release, outputs)
    with already_written([file.path for file in files]):
        publication = prepared.judged(release, gates, files)
    unit = "rows" if reading.weights is None else "total weight"
    shown = any(finding.refuses for finding in findings)
    tell_publication(
        publication,
        outputs.about(prepared.whole.source, prepared.whole.class_name, by),
        next_steps(
            outputs,
            [mends(prepared.whole, strata_help(by), bool(files))] if shown else [],
            further=further(bool(files), kept=False, by=by),
        ),
        lambda: strata_details(publication, unit),
        outputs,
        lambda summary: stratified_page(publication, summary),
    )
    return 0


def may_accept(policy: Policy | None) -> bool:
    """Whether what shows may be accepted: a policy may not allow it."""
    return policy is None or policy.accept_answers


def strata_help(by: str) -> str:
    """What helps where strata show too much: a domain is advised for all rows, and not for theirs."""
    return (
        f"What helps: coarser values of the attributes, coarser groups of {label(by)}, or no --strata: a "
        "stratum has fewer people than the whole."
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
    prepared: Prepared,
    findings: Sequence[GateFinding],
    outputs: Outputs,
    helps: str | None = None,
    refused: Publication | None = None,
) -> int:
    """Say what shows, what mends it, or what helps, and how it is published all the same; the exit code.

    `refused` is what would have been published, where it was made and a report is to show it.
    """
    others = binning(naming(prepared.views), prepared.policy)
    mended, declared = mends(prepared, helps), declaring_columns(prepared, findings)
    if declared is not None:
        # Coarser values mend none of that.
        alone = not [one for one in findings if one.refuses and one.about != UNDECLARED]
        mended, others = declared, others if alone else (mended, *others)
    refusal = Refusal(
        file=str(prepared.source),
        class_name=prepared.class_name,
        about=outputs.about(prepared.source, prepared.class_name, prepared.demand.by),
        unwritten=outputs.unwritten,
        findings=sorted_findings(findings),
        whole=not naming(prepared.views),
        mends=mended,
        accept=accepting(click.get_current_context()) if may_accept(prepared.policy) else None,
        limits=prepared.limits,
        remarks=prepared.remarks,
        others=others,
    )

    def page(summary: Summary) -> bytes:
        if refused is None:
            return refusal_page(summary, prepared.views)
        return publication_page(refused, summary, prepared.table, prepared.classifier)

    tell(refusal.summary, refusal.to_dict, as_json=outputs.as_json, page=page)
    return 1


def refuse_uncounted(
    error: NamesPeopleError, asked: Asked, limits: Limits, outputs: Outputs, policy: Policy | None
) -> int:
    """The same of columns that name people at first sight: nothing is counted, nor can that be accepted."""
    refusal = Refusal(
        file=str(asked["file"]),
        class_name=asked["class_name"],
        about=outputs.about(str(asked["file"]), asked["class_name"], asked["by"]),
        unwritten=outputs.unwritten,
        findings=of_people(error.found),
        whole=False,
        mends=mends_naming(error.names, error.attributes, policy),
        accept=None,
        limits=limits,
        others=binning(error.names, policy),
    )
    tell(refusal.summary, refusal.to_dict, as_json=outputs.as_json)
    return 1


def mends_naming(named: Sequence[str], attributes: Sequence[str], policy: Policy | None) -> Decision:
    """What is done with columns that name people."""
    if policy is not None:
        return mends_under(policy, named)
    return without_people(click.get_current_context(), named, attributes)


def binning(named: Sequence[str], policy: Policy | None) -> tuple[Decision, ...]:
    """How columns that name people are put into bins, where they hold numbers."""
    context = click.get_current_context()
    said = any(context.params[name] for name in ("menu", "by", "domain", "bins", "groups"))
    if not named or policy is not None or said:
        return ()
    question = "Or begin a menu: it has bins for numbers, and leaves out what is nearly an id."
    return (Decision(question, tuple(advised(context, True))),)


def mends(prepared: Prepared, helps: str | None = None, written: bool = False) -> Decision:
    """What mends a release that shows too much, with the commands if some do."""
    context, views = click.get_current_context(), prepared.views
    named = naming(views)
    if len(views.classes) > 1 and {*views.attributes} <= {prepared.demand.by}:
        left = {"left_out", "columns"} if not views.attributes else {"by"}
        again = asked(context, without={*left, "overwrite"}, more=over(context, written))
        return Decision(NO_ATTRIBUTE, (again,) if any(map(context.params.get, left)) else ())
    if prepared.policy is not None:
        return mends_under(prepared.policy, named)
    if named:
        return mends_naming(named, views.attributes, None)
    if len(views.classes) > 1 and helps is None and views.n_rows <= MOST_ADVISED:
        steps = tuple(advised(context, bool(undeclared(views)), written))
        return Decision("Find the best domain that keeps the limits, and publish on it.", steps)
    return Decision(helps or "No command mends that.")  # of one class alone no domain hides anything
