"""What is read and decided before a release is made, and what is made and said of it then."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from nbcfast import attack, canonical
from nbcfast._core.choices import Preserve
from nbcfast._core.errors import Infeasible, expect
from nbcfast._core.spelling import Arguments
from nbcfast._core.validation import type_name, whole
from nbcfast._reading.source import AnyTable
from nbcfast.canonical import Advice, Leak, Limits
from nbcfast.canonical.leakage import REMEDY
from nbcfast.canonical.publish import not_here
from nbcfast.closeness import est
from nbcfast.domains import Declarations, Declared, Menu, declared
from nbcfast.frames import Frame
from nbcfast.ledger.ledger_report import BESIDE_EARLIER
from nbcfast.policies import Policy
from nbcfast.published.advised import Advised
from nbcfast.published.release import Release
from nbcfast.publishing.answered import nobody_has
from nbcfast.publishing.beginnings import MOST_ROWS, beginning_of_table, like_counts
from nbcfast.publishing.demand import Choice, Demand
from nbcfast.publishing.domain_search import DomainSearch, advised
from nbcfast.publishing.entering import LedgerEntry
from nbcfast.publishing.findings import Adversaries
from nbcfast.publishing.gate import (
    GateFinding,
    GivenBack,
    ReleaseMeasures,
    beside_earlier,
    judged,
    named_people,
    sorted_findings,
)
from nbcfast.publishing.inputs import Caller, counts_of, others_of, place, public_list, read_declared
from nbcfast.publishing.no_attribute import measurable, without_constant
from nbcfast.publishing.one_answer import OneAnswer
from nbcfast.publishing.policy_findings import policy_findings
from nbcfast.publishing.remarks import all_once, more, nulls_as_values, numbers_as_text
from nbcfast.publishing.remembered import remembered
from nbcfast.publishing.report import Publication, Written
from nbcfast.publishing.standing import Standing
from nbcfast.table.table import Table
from nbcfast.transform import safety_transform
from nbcfast.views import Viewset
from nbcfast.views.quality import evaluate
from nbcfast.views.smoothing import constant
from nbcfast.views.tallying import MAX_VALUES


@runtime_checkable
class Sliceable(Protocol):
    """What has first rows."""

    def __getitem__(self, rows: slice, /) -> AnyTable: ...


NOTHING_LEFT = 0.99  # of ln C, the log-loss of a classifier that knows nothing
MOST_ATTACKED = 1 << 16  # counts of which totals give others back, some ten seconds of work
LISTED = (
    "with a public list of tuples the meter, which takes all answers, cannot say what those on it give away"
)
UNMEASURABLE = (
    "the meter cannot measure these answers ({}): take it that all counts are known to whoever holds the "
    "release"
)


# Long for its arguments, each of which is read, checked or handed on by its name.
def prepare(
    table: AnyTable,
    class_name: str,
    demand: Demand,
    caller: Caller,
    *,
    domains: Declarations | Declared | None = None,
    tuples: AnyTable | None = None,
    holdout: AnyTable | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    texts: Sequence[str] = (),
    max_values: int = MAX_VALUES,
    limits: Limits | None = None,
    accept_answers: bool = False,
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None = None,
    by: str | None = None,
    policy: Policy | None = None,
    front: bool = False,
    remarks: bool = True,
) -> Prepared:
    """Everything that is read, counted and decided before a release is made; arguments as of `publish`.

    `by` is the column that selects one of several classifiers; `front` says whether what a menu has beside
    the best is measured too, which a report shows. `delimiter` and `texts` say how `caller` reads CSV files,
    and are for remarks alone; without `remarks` nothing is looked at for their sake.
    """
    if not isinstance(class_name, str):
        raise TypeError(f"{caller.words.named('class_name')} must be a text, got {class_name!r}")
    if limits is None:
        limits = Limits()
    expect(limits, Limits, "limits")
    expect(accept_answers, bool, caller.words.named("accept_answers"))
    names = None if columns is None else attribute_names(columns, caller.words)
    whole(max_values, caller.words.named("max_values"), 1)
    declarations = None if domains is None else declared(domains, caller.words)
    chosen = None
    if menu is not None:
        if domains is not None or columns is not None:
            given = caller.words.named("columns")
            if declarations is not None:  # by options of their own where there is no file
                places = [caller.words.named("domains")] if declarations.file is not None else []
                places += [
                    at for at in map(declarations.place, declarations.names) if at != declarations.file
                ]
                given = " and ".join(dict.fromkeys(places)) or caller.words.named("domains")
            raise ValueError(
                f"{caller.words.named('menu')} says what each column may be, and {given} does not go with it"
            )
        offered = menu if isinstance(menu, Menu) else Menu.read(menu, class_name, caller.words)
        if not isinstance(table, str | bytes | os.PathLike):  # what is read once is kept for the second time
            table = caller.reads(table, "table", class_name, None)
        search = DomainSearch(limits=limits, alpha=demand.alpha, front=front)
        chosen = advised(table, class_name, offered, search, caller, weights=weights, delimiter=delimiter)
        declarations = declared(chosen.document, caller.words)
    rows = read_declared(table, class_name, names, declarations, caller, weights=weights, delimiter=delimiter)
    views = counts_of(
        rows, place(table, "table"), class_name, names, max_values, caller.words, publishing=True
    )
    advice = None if declarations is None else advice_of(declarations, views, class_name, by)
    if advice is not None and advice.rows == "private" and advice.limits.max_bits is not None:
        # What the certificate says of the choice has to be so of these rows, which may be newer ones.
        most = float(advice.limits.max_bits)
        limits = replace(limits, max_bits=most if limits.max_bits is None else min(limits.max_bits, most))
    choice = demand.chosen(views)
    # Read before anything is made: they may not be there, or be the private rows.
    public = None if tuples is None else public_list(tuples, rows, views, declarations, caller)
    others = (
        None if holdout is None else others_of(holdout, table, rows, views, class_name, caller, declarations)
    )
    source = place(table, "") or None
    said: list[str] = []
    if source is not None:
        said += all_once(Path(source), weights, delimiter, class_name, names, caller.words, caller.encoding)
        said += numbers_as_text(rows, Path(source), texts, caller.words)
        said += nulls_as_values(rows, said, caller.words, caller.nulls)
    elif rows.weights is None and remarks:
        said += _like_counts(table, rows, class_name, names, caller)
    return Prepared(
        table=rows,
        views=views,
        class_name=class_name,
        source=source,
        demand=demand,
        choice=choice,
        public=public,
        others=others,
        remarks=tuple(said),
        limits=limits,
        accepted=accept_answers,
        caller=caller,
        advice=advice,
        chosen=chosen,
        policy=policy,
    )


def advice_of(declarations: Declared, views: Viewset, class_name: str, by: str | None) -> Advised | None:
    """Which choice of a menu the declared domains are, if they were advised.

    Raises
    ------
    ValueError
        If that is not said as a certificate has it, the counts have other columns than were advised, or
        it was advised for other strata than those of `by`.
    """
    if declarations.advice is None:
        return None
    try:
        advice = Advised.of_json(declarations.advice)
    except ValueError as error:
        raise ValueError(f"{declarations.where}: {error}") from None
    advised = {*declarations.names} - {*declarations.out, class_name}
    other = sorted(advised ^ {*views.attributes})
    if other:
        how = "is one of the advised columns, and not used" if other[0] in advised else "was not advised"
        raise ValueError(
            f"{declarations.where}: its domain is used as it was advised or not at all: column "
            f"{other[0]!r} {how}"
        )
    if advice.strata and advice.by_column != by:
        chosen, got = ("none" if one is None else repr(one) for one in (advice.by_column, by))
        raise ValueError(
            f"{declarations.where}: its domain is used as it was advised or not at all: the column whose "
            f"values have a classifier each was {chosen}, got {got}"
        )
    return advice


def _like_counts(
    table: AnyTable, rows: Table, class_name: str, names: list[str] | None, caller: Caller
) -> list[str]:
    """What is said of columns of a table that was no file, and that may say how often a row counts."""
    of_table = isinstance(table, Table | Frame)  # which have weights of their own
    looked_at = table if isinstance(table, Table) else _first_rows(table, rows, class_name, caller)
    first = beginning_of_table(looked_at)
    return like_counts(first, [class_name, *(names or ())], names is None, caller.words, of_table=of_table)


def _first_rows(table: AnyTable, rows: Table, class_name: str, caller: Caller) -> Table:
    """The first rows with all columns, where these can be read once more; else the rows as they were read."""
    # Columns that are not used may hold anything, and a stream is over.
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        first: AnyTable
        if isinstance(table, Mapping):
            columns = {name: column for name, column in table.items() if isinstance(column, Sliceable)}
            first = {name: column[:MOST_ROWS] for name, column in columns.items()}
        elif isinstance(table, Sized) and isinstance(table, Sliceable):
            first = table[:MOST_ROWS]
        else:
            return rows
        return caller.reads(first, "table", class_name, None, weighted=False)
    return rows


def attribute_names(columns: Sequence[str], words: Arguments) -> list[str]:
    """The names of the attributes, in their order."""
    expected = f"{words.named('columns')} must be a sequence of names"
    if isinstance(columns, str | bytes):
        raise TypeError(f"{expected}, got the text {columns!r}")
    # A set has another order in each process, and the certificate has theirs.
    if isinstance(columns, set | frozenset) or not isinstance(columns, Iterable):
        raise TypeError(f"{expected}, got {type_name(columns)}")
    names: list[str] = []
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"{expected}, got {name!r} in it")
        if name in names:
            raise ValueError(f"{words.named('columns')} names {name!r} twice")
        names.append(name)
    return names


class Gate(NamedTuple):
    """What was measured of a release before it leaves.

    Attributes
    ----------
    leak : Leak or None
    findings : tuple of GateFinding
    """

    leak: Leak | None
    findings: tuple[GateFinding, ...]

    @property
    def shows(self) -> tuple[GateFinding, ...]:
        """The findings that keep it from leaving, unless they are accepted."""
        return tuple(finding for finding in self.findings if finding.refuses)

    def beside(self, entry: LedgerEntry | None, limits: Limits) -> Gate:
        """With what the release gives away beside the earlier ones of a ledger."""
        if entry is None:
            return self
        return self._replace(
            findings=sorted_findings([*self.findings, *beside_earlier(entry.report, limits)])
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Prepared:
    """A private table and what is to be made of it.

    Attributes
    ----------
    table : Table
        The private rows, with declared domains.
    views : Viewset
        Their counts.
    class_name : str
    source : str or None
        The file they were read from.
    demand : Demand
    choice : Choice
    public : Table or None
        The list that answers are kept on.
    others : Table or None
        Rows held out.
    remarks : tuple of str
        What there is to say of the file.
    limits : Limits
        How much the answers may give away.
    accepted : bool
        Whether it is published whatever that is.
    caller : Caller
    advice : Advised or None
        Which choice of a menu the domain is.
    chosen : Advice or None
        How it was chosen, where it was just now; nothing is measured beside the best.
    policy : Policy or None
        What it is published under.
    from_rows_beside : tuple of str
        The column that selects a stratum, where its values come from the rows.
    """

    table: Table
    views: Viewset
    class_name: str
    source: str | None
    demand: Demand
    choice: Choice
    public: Table | None
    others: Table | None
    remarks: tuple[str, ...]
    limits: Limits
    accepted: bool
    caller: Caller
    advice: Advised | None
    chosen: Advice | None
    policy: Policy | None = None
    from_rows_beside: tuple[str, ...] = ()

    @property
    def preserve(self) -> Preserve:
        """What stays as it is at every tuple."""
        return self.demand.preserve or ("label" if self.choice.method == "canonical" else "order")

    @property
    def classifier(self) -> Viewset:
        """What is published the answers of: the private counts, or these smoothed."""
        return self.views if self.demand.alpha is None else self.views.smoothed(self.demand.alpha)

    def release(self) -> Release:
        """What leaves; Infeasible where the demands cannot be met."""
        made = self._made(self.preserve)
        # By what was asked alone: a file that depended on what is measured would say more than the answers.
        certificate = made.certificate.accepting(self.accepted)
        sha256 = None if self.policy is None else self.policy.sha256
        return replace(made, certificate=replace(certificate, policy=sha256))

    def named_people(self) -> list[GateFinding]:
        """The attributes that name people, which counts alone tell before any work is done."""
        return named_people(self.views)

    def gate(self, release: Release) -> Gate:
        """What the release would give away beyond its limits, before it is written."""
        leak, why_not = self._leak()
        with self.caller.stages("measuring leaks"):
            several = len(self.views.classes) > 1
            own = None
            if several:
                alpha = None if self.demand.alpha is None else constant(self.demand.alpha)
                views, table = measurable(self.views, self.table, self.class_name)
                own = remembered(views, table, self.class_name, alpha)
            back = self._given_back(release, leak) if several else None
        measured = ReleaseMeasures(leak, why_not, back, own)
        found = judged(self.views, self.class_name, measured, self.limits)
        # Of strata one alone may well have one answer: they are judged together.
        if len(self.views.classes) > 1 and self.demand.by is None:
            found += (
                *OneAnswer.of([(release, self.table)], self.class_name).findings,
                *nobody_has(self.views, self.demand.alpha is not None),
            )
        return Gate(leak, sorted_findings([*found, *self._of_policy(release)]))

    def _of_policy(self, release: Release) -> list[GateFinding]:
        """What the policy demands besides the limits on answers."""
        if self.policy is None:
            return []
        members = None
        if self.policy.membership_auc is not None and self.others is not None:
            with self.caller.stages("telling members") as progress:
                members = attack.membership(
                    release, self.table, self.others, self.class_name, progress=progress
                )
        return policy_findings(self.policy, self.views, release, members, self.from_rows_beside)

    def _given_back(self, release: Release, leak: Leak | None) -> GivenBack | None:
        """What totals give back of the counts; None where that is too much work.

        From all answers, and from what is published where that says more, or where answers were not measured.
        """
        answers = None
        if leak is not None and leak.found is not None:
            answers = GivenBack(leak.found, leak.cells or 0, leak.null_found or 0)
            if self.choice.method == "canonical" or not self.views.attributes:
                return answers
        if (
            not self.views.attributes
            or sum(array.size for array in self.views.counts.values()) > MOST_ATTACKED
        ):
            return None
        found = attack.totals(release, self.views)
        # Original counts are read, and need no attack, which looks for powers alone.
        own = found.cells if release.certificate.identity else found.found
        published = GivenBack(own, found.cells, found.null_found)
        return published if answers is None else max(published, answers)

    def _made(self, preserve: Preserve) -> Release:
        demand = self.demand
        if self.choice.method == "canonical":
            with self.caller.stages("solving") as progress:
                return canonical.release(
                    self.views,
                    demand.amplification,
                    preserve=preserve,
                    tuples=self.public,
                    bits=demand.bits,
                    rows=demand.rows,
                    attacker=demand.attacker,
                    alpha=demand.alpha,
                    class_name=self.class_name,
                    advice=self.advice,
                    threads=self.caller.threads,
                    progress=progress,
                )
        made = self._of_powers(preserve)
        return replace(made, certificate=replace(made.certificate, advice=self.advice))

    def _of_powers(self, preserve: Preserve) -> Release:
        demand = self.demand
        with self.caller.stages("transforming") as progress:
            if demand.prior is not None:
                return est(
                    self.views,
                    demand.prior,
                    demand.amplification,
                    preserve=preserve,
                    rows=demand.rows,
                    gauge=demand.gauge,
                    attacker=demand.attacker,
                    allow_differences=demand.allow_differences,
                    table=self.table,
                    class_name=self.class_name,
                    progress=progress,
                )
            return safety_transform(
                self.views,
                demand.amplification,
                preserve=preserve,
                rows=demand.rows,
                gauge=demand.gauge,
                attacker=demand.attacker,
                allow_differences=demand.allow_differences,
                table=self.table,
                class_name=self.class_name,
                progress=progress,
            )

    def standings(self, release: Release) -> tuple[Standing, Standing]:
        """How the private classifier stands, and how the published one."""
        with self.caller.stages("judging") as progress:
            before = Standing.of(self.classifier, self.table, self.class_name, progress)
            before = replace(before, rows=self.views.n_rows)  # smoothed counts are of no rows
        with self.caller.stages("judging") as progress:
            return before, Standing.of(release.views, self.table, self.class_name, progress)

    def judged(
        self,
        release: Release,
        gate: Gate,
        files: tuple[Written, ...] = (),
        entry: LedgerEntry | None = None,
    ) -> Publication:
        """What there is to say of a release of these counts, which may be written already."""
        before, after = self.standings(release)
        adversaries = Adversaries.of(
            release, self.views, self.table, self.others, self.class_name, stages=self.caller.stages
        )
        with_label = self._with_label(after)
        # A ledger keeps its domain: a coarser one would be refused.
        helps = BESIDE_EARLIER if entry is not None and entry.report.releases else REMEDY
        return Publication(
            release=release,
            class_name=self.class_name,
            source=self.source,
            choice=self.choice,
            before=before,
            after=after,
            limits=self.limits,
            findings=gate.findings,
            accepted=self.accepted,
            leak=gate.leak,
            adversaries=adversaries,
            log_loss_with_label=with_label,
            warnings=(
                *(() if entry is None else entry.report.totals),
                *self._warnings(release, after, gate, adversaries, with_label, helps),
            ),
            files=files,
            advice=self.chosen,
            entry=entry,
        )

    def _leak(self) -> tuple[Leak | None, str | None]:
        """The leak meter, of all answers, or why there is none: it is no measure of those on a list.

        Powers of the counts give the same answers, and more: whatever method publishes them, they are
        measured.
        """
        if self.public is not None:
            return None, LISTED
        views, table = measurable(self.views, self.table, self.class_name)
        too_many = not_here(views, preserve=self.preserve)
        if too_many is not None:
            return None, UNMEASURABLE.format(too_many)
        with self.caller.stages("measuring leaks") as progress:
            try:
                leak = canonical.leak(
                    views,
                    preserve=self.preserve,
                    alpha=self.demand.alpha,
                    table=table,
                    class_name=self.class_name,
                    intervals=self.demand.intervals,
                    progress=progress,
                )
            except Infeasible as error:
                return None, UNMEASURABLE.format(error.why)
        return without_constant(leak, self.views), None

    def _with_label(self, after: Standing) -> float | None:
        """The log-loss with fewer demands, where these leave nothing: it is then near ln C."""
        n_classes = len(self.views.classes)
        if self.preserve != "order" or self.choice.method == "canonical" or n_classes < 2:
            return None
        if after.quality.log_loss < NOTHING_LEFT * math.log(n_classes):
            return None
        try:
            other = self._made("label")
        except Infeasible:
            return None
        return evaluate(other.views, self.table, self.class_name).log_loss

    def _warnings(
        self,
        release: Release,
        after: Standing,
        gate: Gate,
        adversaries: Adversaries,
        with_label: float | None,
        helps: str,
    ) -> list[str]:
        """What is measured comes first, and what every release says last; nothing is said twice."""
        words, made, n_classes = self.caller.words, release.certificate, len(self.views.classes)
        said: list[str] = [helps] if gate.leak is not None and gate.shows else []
        if with_label is not None and n_classes == 2:
            said.append(f"With two classes {words.given('preserve', 'label')} would give the same.")
        elif with_label is not None:
            said.append(
                f"With {words.given('preserve', 'label')} the log-loss would be {with_label:.4f} in place of "
                f"{after.quality.log_loss:.4f} (ln {n_classes} = {math.log(n_classes):.4f} is that of a "
                "classifier that knows nothing)."
            )
        said += adversaries.untried
        said += self.remarks
        said += more(self.views, release, after.quality.log_loss, words)
        said += [*release.remarks, *made.warnings, *made.notes]
        findings = {finding.text for finding in gate.findings}
        return [text for text in said if text not in findings]
