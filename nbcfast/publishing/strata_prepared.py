"""Publishing by strata: each value of a column has a classifier of its own, made and judged as one alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nbcfast._core.errors import Infeasible, NoColumnError
from nbcfast._core.numbers import amount_text
from nbcfast._reading.source import AnyTable
from nbcfast._wire.release_words import undeclared_text
from nbcfast._wire.strata_form import of_strata
from nbcfast.canonical import Limits
from nbcfast.canonical.by_strata import from_rows, split, views_by
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.policies import Policy
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.demand import Demand
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.inputs import Caller
from nbcfast.publishing.one_answer import OneAnswer
from nbcfast.publishing.prepared import Gate, Prepared, prepare
from nbcfast.publishing.report import Written
from nbcfast.publishing.strata_report import StratifiedPublication, findings_of_strata
from nbcfast.publishing.words import label
from nbcfast.table.table import Table
from nbcfast.table.values import Value
from nbcfast.views.quality import Quality, evaluate
from nbcfast.views.tallying import MAX_VALUES

MOST_NAMED = 5  # values without rows that a warning names


# Long by its arguments, which go on to `prepare` one by one.
def prepare_by(
    table: AnyTable,
    class_name: str,
    by: str,
    demand: Demand,
    caller: Caller,
    *,
    domains: Declarations | Declared | None = None,
    holdout: AnyTable | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    texts: Sequence[str] = (),
    max_values: int = MAX_VALUES,
    limits: Limits | None = None,
    accept_answers: bool = False,
    policy: Policy | None = None,
) -> PreparedStrata:
    """Everything that is read, counted and decided before releases are made; arguments as of `prepare`.

    Raises
    ------
    ValueError, TypeError
        As `prepare`, and if some value of the column `by` has no rows of some class.
    """
    named = caller.words.named("by")
    if not isinstance(by, str):
        raise TypeError(f"{named} must be the name of a column, got {by!r}")
    if by == class_name:
        raise ValueError(f"{named} must be another column than the class, got {by!r}")
    if columns is not None and not isinstance(columns, str | bytes) and by not in columns:
        columns = [*columns, by]
    try:
        whole = prepare(
            table,
            class_name,
            demand,
            caller,
            domains=domains,
            holdout=holdout,
            columns=columns,
            weights=weights,
            delimiter=delimiter,
            texts=texts,
            max_values=max_values,
            limits=limits,
            accept_answers=accept_answers,
            by=by,
            policy=policy,
        )
    except NoColumnError as error:
        if error.name != by:
            raise
        missing = NoColumnError(error.name, error.present, named)
        missing.file = error.file
        raise missing from None
    known = None if domains is None else declared(domains, caller.words)
    if known is not None and by in known.out:
        raise ValueError(f"{named}: column {by!r} is left out, by {known.place(by)}")
    if by not in whole.views.attributes:
        raise NoColumnError(by, whole.views.attributes, named)
    return _split(whole, by)


def _split(whole: Prepared, by: str) -> PreparedStrata:
    """The strata of what was read, each of which has rows of every class."""
    attributes = [name for name in whole.views.attributes if name != by]
    domain, views = views_by(whole.table, whole.class_name, by, attributes, None, None)
    others: dict[Value, Table] = {} if whole.others is None else split(whole.others, by)
    is_undeclared = from_rows(domain)
    strata = {}
    for value, rows in split(whole.table, by).items():
        held_out = others.get(value)
        strata[value] = replace(
            whole,
            table=rows,
            views=views[value],
            others=held_out if held_out is not None and held_out.n_rows else None,
            remarks=(),  # of the file, and said of all
            from_rows_beside=(by,) if is_undeclared else (),
        )
    return PreparedStrata(by=by, whole=whole, strata=strata, undeclared=is_undeclared)


@dataclass(frozen=True, kw_only=True, repr=False)
class PreparedStrata:
    """A private table and what is to be made of the rows of each value of a column.

    Attributes
    ----------
    by : str
        The column.
    whole : Prepared
        All rows, with the column as one of the attributes.
    strata : dict of value -> Prepared
    undeclared : bool
        Whether values of the column come from the rows.
    """

    by: str
    whole: Prepared
    strata: Mapping[Value, Prepared]
    undeclared: bool

    def release(self) -> StratifiedRelease:
        """What leaves; Infeasible where the demands cannot be met in some stratum."""
        made: dict[Value, Release] = {}
        for value, prepared in self.strata.items():
            try:
                made[value] = prepared.release()
            except Infeasible as error:
                where = f"stratum {self.by} = {label(value)}"
                raise Infeasible(f"{where}: {error.why}", error.best) from None
        return StratifiedRelease(self.by, made, self.undeclared)

    def gates(self, release: StratifiedRelease) -> dict[Value, Gate]:
        """What the release of each stratum would give away beyond its limits, before it is written."""
        return {value: prepared.gate(release.strata[value]) for value, prepared in self.strata.items()}

    def findings(self, release: StratifiedRelease, gates: Mapping[Value, Gate]) -> tuple[GateFinding, ...]:
        """What was found in the strata, what refuses first."""
        own = [GateFinding("not declared", "warned", undeclared_text([self.by]))] if self.undeclared else []
        parts = [(release.strata[value], prepared.table) for value, prepared in self.strata.items()]
        own += OneAnswer.of(parts, self.whole.class_name).findings
        return findings_of_strata(self.by, {value: gate.findings for value, gate in gates.items()}, own)

    def judged(
        self, release: StratifiedRelease, gates: Mapping[Value, Gate], files: tuple[Written, ...] = ()
    ) -> StratifiedPublication:
        """What there is to say of the releases of these counts, which may be written already."""
        strata = {
            value: prepared.judged(release.strata[value], gates[value])
            for value, prepared in self.strata.items()
        }
        labels = [f"{self.by} = {label(value)}" for value in strata]
        of_releases = {text for one in release.strata.values() for text in _words(one)}
        said = [[text for text in one.warnings if text not in of_releases] for one in strata.values()]
        words = [
            *self._prices(),
            *of_strata(labels, said),
            *self.whole.remarks,
            *release.certificate.warnings,
            *release.certificate.notes,
        ]
        findings = self.findings(release, gates)
        found = {finding.text for finding in findings}
        return StratifiedPublication(
            release=release,
            class_name=self.whole.class_name,
            source=self.whole.source,
            choice=self.whole.choice,
            strata=strata,
            together=self._together(),
            limits=self.whole.limits,
            findings=findings,
            accepted=self.whole.accepted,
            warnings=tuple(text for text in words if text not in found),
            files=files,
        )

    def _together(self) -> Quality:
        """What one classifier for all would be worth, with the column as one of its attributes."""
        whole = self.whole
        with whole.caller.stages("judging") as progress:
            return evaluate(whole.views, whole.table, whole.class_name, progress=progress)

    def _prices(self) -> list[str]:
        """What strata cost, for the publisher."""
        people = [prepared.views.n_rows for prepared in self.strata.values()]
        said = []
        if len(people) > 1:
            said.append(
                f"Each stratum has a classifier of its own people alone, {amount_text(min(people))} to "
                f"{amount_text(max(people))} of {amount_text(sum(people))}: of fewer people answers may say "
                "more, and limits are to be kept in every stratum. Accuracy on the input flatters what is "
                "made of few rows: measure it on others."
            )
        for value, prepared in self.strata.items():
            without = [
                f"{label(name)} = {label(one)}"
                for name in prepared.views.attributes
                for one, row in zip(prepared.views.domain(name), prepared.views.counts[name], strict=True)
                if not row.any()
            ]
            if without:
                more = len(without) - MOST_NAMED
                some = ", ".join([*without[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])
                said.append(
                    f"Nobody with {self.by} = {label(value)} has {some}: whoever has, is answered with the "
                    f"class of highest precedence, {label(prepared.views.classes[-1])}."
                )
        return said


def _words(release: Release) -> tuple[str, ...]:
    """What the certificate of a stratum says, which that of them all says once."""
    return *release.certificate.warnings, *release.certificate.notes
