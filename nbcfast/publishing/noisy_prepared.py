"""Publishing with noise: what is read and decided before, and what is made of noisy counts alone.

Behind `dp.counts` nothing reaches the release but noisy counts. What is computed from the exact ones, or from
rows, is for the owner of the table, and says so wherever it is told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbcfast import attack, dp
from nbcfast._core.errors import Infeasible
from nbcfast._core.validation import whole
from nbcfast._reading.source import AnyTable
from nbcfast.canonical import Limits
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.dp import Agreement
from nbcfast.policies import Policy
from nbcfast.published.advised import Advised
from nbcfast.published.release import Release
from nbcfast.publishing.demand import Demand
from nbcfast.publishing.entering import LedgerAsked, LedgerEntry
from nbcfast.publishing.inputs import Caller, others_of, place, public_list, read_declared
from nbcfast.publishing.noise_asked import REASONS, NoiseAsked, expect_alone
from nbcfast.publishing.noisy_report import NoisyPublication, OwnersFigures
from nbcfast.publishing.one_answer import OneAnswer
from nbcfast.publishing.prepared import Prepared, advice_of, attribute_names
from nbcfast.publishing.remarks import all_once, numbers_as_text
from nbcfast.publishing.report import Written
from nbcfast.table.table import Table
from nbcfast.views import Viewset, count
from nbcfast.views.noise import Noise
from nbcfast.views.quality import evaluate
from nbcfast.views.tallying import MAX_VALUES

RUNS = 10  # of noise, for the expected agreement
MOST_DRAWN = 1 << 20  # counts with noise in all runs together, some seconds of work
DRAWN = (
    "noise was drawn for this, and that it failed tells of the rows too: each further try costs the privacy "
    "of a release more, so change the demand and not the draw"
)
PRIOR = (
    "The prior is published: where it was computed from these rows no noise hides it, nor does a file tell."
)


# Long for its arguments, each of which is read, checked or handed on by its name.
def read_for_noise(
    table: AnyTable,
    class_name: str,
    demand: Demand,
    noise: NoiseAsked,
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
    policy: Policy | None = None,
) -> ReadForNoise:
    """Everything that is read and counted before noise is drawn; arguments as of `publish`.

    Nothing is refused for what the counts are: rows may be few, or none, and classes empty. What is not
    declared is refused, as no noise hides which values occur.
    """
    words = caller.words
    if not isinstance(class_name, str):
        raise TypeError(f"{words.named('class_name')} must be a text, got {class_name!r}")
    given = {
        "by": demand.by is not None,
        "alpha": demand.alpha is not None,
        "intervals": demand.intervals,
        "weights": weights is not None or (isinstance(table, Table) and table.weights is not None),
        "limits": limits is not None,
        "accept_answers": accept_answers is not False,
    }
    expect_alone(((name, is_given, REASONS[name]) for name, is_given in given.items()), words)
    names = None if columns is None else attribute_names(columns, words)
    whole(max_values, words.named("max_values"), 1)
    declarations = None if domains is None else declared(domains, words)
    # Whether "unknown" is among the values of a column of numbers must not decide whether there is a release.
    rows = read_declared(table, class_name, names, declarations, caller, delimiter=delimiter, keep_texts=True)
    expect_declared(rows, class_name, names, max_values, caller)
    exact = count(rows, class_name, names, max_values=max_values)
    advice = None if declarations is None else advice_of(declarations, exact, class_name, None)
    expect_other_rows(advice, declarations, caller)
    public = None if tuples is None else public_list(tuples, rows, exact, declarations, caller)
    others = (
        None if holdout is None else others_of(holdout, table, rows, exact, class_name, caller, declarations)
    )
    source = place(table, "") or None
    said: list[str] = []
    if source is not None:
        said += all_once(Path(source), None, delimiter, class_name, names, words, caller.encoding)
        said += numbers_as_text(rows, Path(source), texts, words)
    return ReadForNoise(
        asked=noise,
        exact=exact,
        table=rows,
        class_name=class_name,
        source=source,
        demand=demand,
        public=public,
        others=others,
        remarks=tuple(said),
        caller=caller,
        advice=advice,
        policy=policy,
    )


def noisy_counts(exact: Viewset, noise: NoiseAsked) -> Viewset:
    """The counts with the noise that was asked for: all that a release is made of."""
    return dp.counts(
        exact,
        epsilon=noise.epsilon,
        delta=noise.delta,
        rho=noise.rho,
        neighbours=noise.neighbours,
        rows_per_person=noise.rows_per_person,
    )


def expect_declared(
    rows: Table, class_name: str, names: list[str] | None, max_values: int, caller: Caller
) -> None:
    """Refuse columns whose values come from the rows, from what is declared alone."""
    words = caller.words
    used = [name for name in rows.names if name != class_name] if names is None else names
    for name in (class_name, *used):
        domain = rows.column(name).domain
        if domain.declared and not domain.tail_found and not domain.open_tail:
            if name != class_name and len(domain) > max_values:
                raise ValueError(
                    f"column {name!r} is declared with {len(domain):,} values, more than "
                    f"{words.form('max_values', f'{max_values:,}')}: put them into bins or sets, leave it "
                    f"out ({words.left_out(name)}), or raise the limit"
                )
            continue
        what = "classes" if name == class_name else "values"
        left_out = "" if name == class_name else f", or leave the column out ({words.left_out(name)})"
        raise ValueError(
            f"column {name!r}: its {what} come from the rows, and which occur is hidden by no noise: declare "
            f"all that there may be, with {words.named('domains')} ({json.dumps(name)}: [..]){left_out}. A "
            "file that `nbcfast domain` wrote declares a column when its name is out of from_rows, which is "
            "for whoever has checked it"
        )


def expect_other_rows(advice: Advised | None, declarations: Declared | None, caller: Caller) -> None:
    """Refuse a domain that was chosen on the private rows without noise."""
    if advice is None or advice.rows != "private" or advice.epsilon is not None:
        return
    assert declarations is not None
    raise ValueError(
        f"{declarations.where}: its domain was chosen on the private rows, and no noise hides that: choose "
        "it on other rows (advise --on FILE), or by votes (advise --votes), of which epsilon is added"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadForNoise:
    """A private table and the noise that is asked for, of which none was drawn.

    Attributes
    ----------
    asked : NoiseAsked
    exact : Viewset
        The private counts.
    table, class_name, source, demand, public, others, remarks, caller, advice, policy
        As of `Prepared`.
    """

    asked: NoiseAsked
    exact: Viewset
    table: Table
    class_name: str
    source: str | None
    demand: Demand
    public: Table | None
    others: Table | None
    remarks: tuple[str, ...]
    caller: Caller
    advice: Advised | None
    policy: Policy | None = None

    @property
    def noise(self) -> Noise:
        """What will be added to every count."""
        return self.asked.noise(len(self.exact.attributes))

    def drawn(self) -> PreparedNoisy:
        """With noise, and what is to be made of that: nothing of it tells the exact counts."""
        with self.caller.stages("adding noise"):
            noisy = noisy_counts(self.exact, self.asked)
        of_noisy = Prepared(
            table=self.table,
            views=noisy,
            class_name=self.class_name,
            source=self.source,
            demand=self.demand,
            choice=self.demand.chosen(noisy),
            public=self.public,
            others=self.others,
            remarks=self.remarks,
            limits=Limits(),
            accepted=False,
            caller=self.caller,
            advice=self.advice,
            chosen=None,
            policy=self.policy,
        )
        return PreparedNoisy(exact=self.exact, of_noisy=of_noisy)

    def agreement(self) -> Agreement | None:
        """How often noise of this kind leaves the class as it was; None where there are no rows.

        Drawn once more, several times, and not the noise of the release.
        """
        rows = self.table
        if rows.n_rows == 0:
            return None
        n_counts = len(self.exact.class_counts) + sum(array.size for array in self.exact.counts.values())
        with self.caller.stages("measuring noise"):
            return dp.agreement(
                self.exact,
                rows,
                epsilon=self.asked.epsilon,
                delta=self.asked.delta,
                rho=self.asked.rho,
                neighbours=self.asked.neighbours,
                rows_per_person=self.asked.rows_per_person,
                runs=max(1, min(RUNS, MOST_DRAWN // n_counts)),
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class PreparedNoisy:
    """A private table, the noise that was drawn for its counts, and what is to be made of these.

    Attributes
    ----------
    exact : Viewset
        The private counts, for what the owner alone is told.
    of_noisy : Prepared
        What is published, with the noisy counts in place of the private ones.
    """

    exact: Viewset
    of_noisy: Prepared

    def release(self) -> Release:
        """What leaves, made of noisy counts and public facts; Infeasible where demands cannot be met."""
        try:
            return self.of_noisy.release()
        except Infeasible as error:
            raise Infeasible(f"{error.why}; {DRAWN}", error.best) from error

    def entry(self, book: LedgerAsked, release: Release) -> LedgerEntry:
        """What a ledger says of the release, as `LedgerAsked.entry`: it keeps none of the counts."""
        return book.entry(self.of_noisy, release, self.of_noisy.views.noise)

    def judged(
        self,
        release: Release,
        agreement: Agreement | None,
        files: tuple[Written, ...] = (),
        entry: LedgerEntry | None = None,
    ) -> NoisyPublication:
        """What there is to say of a release of these counts, which may be written already."""
        made, rows, class_name = self.of_noisy, self.of_noisy.table, self.of_noisy.class_name
        exact = published = members = None
        if rows.n_rows:
            with made.caller.stages("judging") as progress:
                exact = evaluate(self.exact, rows, class_name, progress=progress)
                published = evaluate(release.views, rows, class_name, progress=progress)
        if made.others is not None and rows.n_rows:
            with made.caller.stages("telling members") as progress:
                members = attack.membership(release, rows, made.others, class_name, progress=progress)
        noise = release.certificate.privacy
        assert noise is not None
        said = [] if entry is None else list(entry.report.findings)
        said += [PRIOR] if made.demand.prior is not None else []
        worth = OneAnswer.of([(release, rows)], class_name) if rows.n_rows else None
        said += [*made.remarks, *release.remarks, *release.certificate.warnings, *release.certificate.notes]
        return NoisyPublication(
            release=release,
            class_name=class_name,
            source=made.source,
            choice=made.choice,
            noise=noise,
            owners=OwnersFigures(rows.n_rows, agreement, exact, published, members, worth),
            warnings=tuple(said),
            files=files,
            entry=entry,
        )
