"""`publish`: from a private table to a release that may leave, and to all that its publisher should know."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple, overload

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.numbers import Numeral
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._rounding.rows import RowsArgument
from nbcfast.canonical import Limits
from nbcfast.domains import Declarations, Declared, Menu
from nbcfast.ledger import Ledger, LedgerPolicy
from nbcfast.policies import AnyPolicy, Terms, terms_of
from nbcfast.publishing.demand import Demand, ReleaseMethod
from nbcfast.publishing.entering import LedgerAsked
from nbcfast.publishing.inputs import AsGiven, Caller
from nbcfast.publishing.noise_asked import REASONS, expect_alone, noise_asked
from nbcfast.publishing.noisy_prepared import read_for_noise
from nbcfast.publishing.noisy_report import NoisyPublication
from nbcfast.publishing.prepared import prepare
from nbcfast.publishing.report import Publication
from nbcfast.publishing.strata_prepared import prepare_by
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.safety.demanded import demanded
from nbcfast.table.table import Table
from nbcfast.table.values import Value
from nbcfast.views.tallying import MAX_VALUES

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


@overload
def publish(
    table: AnyTable,
    class_name: str | None = ...,
    amplification: Numeral | None = ...,
    *,
    by: None = None,
    dp: None = None,
    breach: tuple[Numeral, Numeral] | None = ...,
    attacker: Attacker = ...,
    method: ReleaseMethod | None = ...,
    preserve: Preserve | None = ...,
    prior: Mapping[Value, Numeral] | None = ...,
    domains: Declarations | Declared | None = ...,
    bits: int | None = ...,
    alpha: Numeral | None = ...,
    tuples: AnyTable | None = ...,
    intervals: bool = ...,
    rows: RowsArgument = ...,
    allow_differences: bool = ...,
    gauge: bool = ...,
    holdout: AnyTable | None = ...,
    columns: Sequence[str] | None = ...,
    weights: str | None = ...,
    max_values: int = ...,
    limits: Limits | None = ...,
    accept_answers: bool = ...,
    ledger: Ledger | str | os.PathLike[str] | None = ...,
    window: object = ...,
    ledger_policy: LedgerPolicy | None = ...,
    policy: AnyPolicy | None = ...,
    progress: Progress | None = ...,
) -> Publication: ...


@overload
def publish(
    table: AnyTable,
    class_name: str | None = ...,
    amplification: Numeral | None = ...,
    *,
    by: None = None,
    dp: Mapping[str, object],
    breach: tuple[Numeral, Numeral] | None = ...,
    attacker: Attacker = ...,
    method: ReleaseMethod | None = ...,
    preserve: Preserve | None = ...,
    prior: Mapping[Value, Numeral] | None = ...,
    domains: Declarations | Declared | None = ...,
    bits: int | None = ...,
    alpha: Numeral | None = ...,
    tuples: AnyTable | None = ...,
    intervals: bool = ...,
    rows: RowsArgument = ...,
    allow_differences: bool = ...,
    gauge: bool = ...,
    holdout: AnyTable | None = ...,
    columns: Sequence[str] | None = ...,
    weights: str | None = ...,
    max_values: int = ...,
    limits: None = ...,
    ledger: Ledger | str | os.PathLike[str] | None = ...,
    window: object = ...,
    ledger_policy: LedgerPolicy | None = ...,
    policy: AnyPolicy | None = ...,
    progress: Progress | None = ...,
) -> NoisyPublication: ...


@overload
def publish(
    table: AnyTable,
    class_name: str | None = ...,
    amplification: Numeral | None = ...,
    *,
    by: str,
    dp: None = None,
    breach: tuple[Numeral, Numeral] | None = ...,
    attacker: Attacker = ...,
    method: ReleaseMethod | None = ...,
    preserve: Preserve | None = ...,
    prior: Mapping[Value, Numeral] | None = ...,
    domains: Declarations | Declared | None = ...,
    bits: int | None = ...,
    alpha: Numeral | None = ...,
    tuples: AnyTable | None = ...,
    intervals: bool = ...,
    rows: RowsArgument = ...,
    allow_differences: bool = ...,
    gauge: bool = ...,
    holdout: AnyTable | None = ...,
    columns: Sequence[str] | None = ...,
    weights: str | None = ...,
    max_values: int = ...,
    limits: Limits | None = ...,
    accept_answers: bool = ...,
    policy: AnyPolicy | None = ...,
    progress: Progress | None = ...,
) -> StratifiedPublication: ...


# Long for its arguments, which are handed on by their names.
def publish(
    table: AnyTable,
    class_name: str | None = None,
    amplification: Numeral | None = None,
    *,
    by: str | None = None,
    dp: Mapping[str, object] | None = None,
    breach: tuple[Numeral, Numeral] | None = None,
    attacker: Attacker = "row",
    method: ReleaseMethod | None = None,
    preserve: Preserve | None = None,
    prior: Mapping[Value, Numeral] | None = None,
    domains: Declarations | Declared | None = None,
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None = None,
    bits: int | None = None,
    alpha: Numeral | None = None,
    tuples: AnyTable | None = None,
    intervals: bool = False,
    rows: RowsArgument = "smallest",
    allow_differences: bool = False,
    gauge: bool = True,
    holdout: AnyTable | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    max_values: int = MAX_VALUES,
    limits: Limits | None = None,
    accept_answers: bool = False,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    window: object = None,
    ledger_policy: LedgerPolicy | None = None,
    policy: AnyPolicy | None = None,
    progress: Progress | None = None,
) -> Publication | StratifiedPublication | NoisyPublication:
    """Publish a classifier whose numbers keep a limit, deciding as that of the table; say what it is worth.

    What `nbcfast publish` does, without writing: `save` of the result writes. The method is chosen, the
    release made and judged beside the private classifier, the leak meter read, adversaries tried, and all
    that the publisher should know is said in `warnings`: read them before anything leaves.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private rows.
    class_name : str
        The column to predict; may be left out with a `policy`, which says it.
    amplification : int, Fraction, str or float, optional
        The limit of Lambda, above 1: to a reader of the counts no set of values makes one class more than so
        many times as probable as another; with a `prior`, as the prior says. This or `breach` must be given.
    by : str, optional
        A public column: each of its values has a classifier of its own, made of the rows with it alone, and
        the value that somebody has selects which of them answers. One folder, one certificate, and limits
        that every stratum has to keep; see `nbcfast.canonical.release_by`.
    dp : mapping, optional
        The keywords of `nbcfast.dp.counts`: ``{"epsilon": 1}``, and ``delta``, ``neighbours``,
        ``rows_per_person``, or ``{"rho": "1/8"}``. Noise is added to every count first, and the release is
        made of noisy counts alone: it is differentially private. Values of all columns that are used, and
        the classes, have to be declared in `domains`; `limits`, `accept_answers`, `menu`, `by`, `weights`,
        `alpha` and `intervals` do not go with it.
    breach : (number, number), optional
        The same from two probabilities (L1, L2): from classes that are equally probable, nothing of
        probability at most L1 becomes more probable than L2.
    attacker : {"row", "worlds"}
        "row" knows attributes of one row. "worlds" averages over possible worlds: Lambda is held to half.
    method : {"canonical", "safetytransform", "est"}, optional
        "canonical": from the classifier's answers and nothing else, see `nbcfast.canonical.release`.
        "safetytransform": powers of the counts, see `nbcfast.safety_transform`. "est": near a prior, see
        `nbcfast.closeness.est`. By default canonical where it applies, by public facts alone.
    preserve : {"order", "label"}, optional
        What stays as it is at every tuple: the order of all classes, or the best class. By default "label",
        and "order" with the other methods.
    prior : mapping of class to number, optional
        With method "est", which it asks for: what is believed of each class, 1 in all. It is published.
    domains : mapping, or path of a JSON file, optional
        Declared values, bins and sets, and what is left out: ``{"sex": ["female", "male"], "age": {"edges":
        [0, 18, 65, None]}, "id": {"out": True}}``, the last of which is what the command calls
        `--leave-out`; see `nbcfast.domains.declared`, whose result it may be too, or the `document` of an
        advice. Values that come from the rows are outside the guarantee, and the certificate says so, also of
        columns that stand here and are named in ``"from_rows"``.
    menu : Menu, mapping, or path of a JSON file, optional
        In place of `domains`: for each attribute a list of options, fixed in advance, see
        `nbcfast.canonical.advise`. The best domain that keeps the limits is published on; `advice` of the
        result says what stood beside it, and the certificate how much the choice tells.
    bits : int, optional
        With "canonical": round the points to so many bits.
    alpha : int, Fraction, str or float, optional
        With "canonical": publish the classifier with so much added to every count, see `Viewset.smoothed`.
        It stands in the certificate, is better calibrated where values have few rows, and protects nobody.
        Then "the private classifier" is the smoothed one, in `before` and everywhere else.
    tuples : Table, or what it is made of, optional
        As `table`. With "canonical": a public list of tuples; answers are kept there, and may change
        elsewhere. Never the private rows: whoever verifies needs the list.
    intervals : bool
        With "canonical": also measure how wide the answers leave log-ratios of counts. Needs SciPy.
    rows : {"smallest", "proven"} or int
        How many rows the published counts stand for.
    allow_differences : bool
        With a number of rows, by powers of the counts: publish even if tuples differ.
    gauge : bool
        By powers of the counts: replace the attribute marginals by artificial ones.
    holdout : Table, or what it is made of, optional
        As `table`. Other rows of the same population: measure whether those of the table can be told from
        them.
    columns : sequence of str, optional
        The attributes to use; by default all other columns.
    weights : str, optional
        The column that says how often each row counts; a Table has its own.
    max_values : int
        Attributes with more values are refused.
    limits : Limits, optional
        How much the answers may give away, by default `nbcfast.canonical.Limits()`. Where a limit is not
        kept, or was not measured, the result says in `refused` what shows, and `save` raises.
    accept_answers : bool
        Publish whatever the answers give away. The certificate says that limits need not have been kept.
    ledger : Ledger or path, optional
        The releases of this table, in a file beside it: `findings` then say what this one gives away beside
        them, `ledger` of the result has the numbers, and `save` enters it. Another domain, or another way, is
        refused. With `dp` it has the sums of what noise has cost, which `warnings` say, and keeps no counts.
        See `nbcfast.ledger.Ledger`.
    window : text, int, or pair of them, optional
        With a ledger: the label of the block of rows that the table has, or of the first and last of them.
    ledger_policy : LedgerPolicy, optional
        With a ledger: when a release may be made at all.
    policy : Policy, mapping, or path of a TOML file, optional
        What every release has to keep, see `nbcfast.policies`: it says these arguments in place of whoever
        calls, and its sha256 is in the certificate. What it says may be said once more, and not otherwise.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Publication, or StratifiedPublication with `by`, or NoisyPublication with `dp`

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or two do not go together.
    Infeasible
        If the demands cannot be met; `best` of it has what can be had. Nothing is ever published by another
        method in place of one that was asked for.
    ImportError
        If SciPy is missing, which the intervals need.

    See Also
    --------
    nbcfast.verify : What a recipient checks.

    Examples
    --------
    >>> import nbcfast
    >>> patients = {"glucose": ["low", "high", "high", "low"] * 20, "ill": ["no", "yes", "no", "no"] * 20}
    >>> made = nbcfast.publish(patients, "ill", 4)
    >>> [finding.text for finding in made.refused][0]
    'whoever knows how many people have glucose = low reads the class of all 40 of them: no'
    >>> made.release
    Release(5 rows, 2 classes, 1 attribute; amplification <= 4, label identical (enumeration))
    >>> made.after.worst_of_all.label, made.release.certificate.method
    ('no', 'canonical')
    """
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable or None, got {type(progress).__name__}")

    def stages(what: str) -> AbstractContextManager[Progress | None]:
        return nullcontext(progress)

    terms = terms_of(
        policy,
        Terms(
            class_name=class_name,
            amplification=amplification,
            breach=breach,
            attacker=attacker,
            method=method,
            preserve=preserve,
            alpha=alpha,
            by=by,
            columns=columns,
            domains=domains,
            menu=menu,
            limits=limits,
            accept_answers=accept_answers,
            dp=dp,
            ledger=ledger,
            ledger_policy=ledger_policy,
        ),
    )
    class_name, by, columns, domains, menu = _of_the_table(terms)
    demand = Demand(
        amplification=demanded(terms.amplification, terms.breach, terms.attacker),
        attacker=terms.attacker,
        method=terms.method,
        preserve=terms.preserve,
        prior=prior,
        bits=bits,
        alpha=terms.alpha,
        by=by,
        listed=tuples is not None,
        intervals=intervals,
        rows=rows,
        allow_differences=allow_differences,
        gauge=gauge,
    )
    if isinstance(table, Table):
        table_from(table, weights=weights)  # it has its own
    caller = Caller(reads=AsGiven(weights, stages), stages=stages)
    book = LedgerAsked.of(terms.ledger, window, terms.ledger_policy, caller.words)
    noise = noise_asked(terms.dp)
    if noise is not None:
        expect_alone([("menu", menu is not None, REASONS["menu"])], caller.words)
        read = read_for_noise(
            table,
            class_name,
            demand,
            noise,
            caller,
            domains=domains,
            tuples=tuples,
            holdout=holdout,
            columns=columns,
            weights=weights,
            max_values=max_values,
            limits=terms.limits,
            accept_answers=accept_answers,
            policy=terms.policy,
        )
        agreement, with_noise = read.agreement(), read.drawn()
        noisy = with_noise.release()
        return with_noise.judged(
            noisy, agreement, entry=None if book is None else with_noise.entry(book, noisy)
        )
    if by is not None:
        if book is not None:
            raise ValueError("ledger does not go with by: the rows of each stratum are another table")
        if menu is not None:
            raise ValueError("menu does not go with by: advise a domain, and give it as domains")
        strata = prepare_by(
            table,
            class_name,
            by,
            demand,
            caller,
            domains=domains,
            holdout=holdout,
            columns=columns,
            weights=weights,
            max_values=max_values,
            limits=terms.limits,
            accept_answers=accept_answers,
            policy=terms.policy,
        )
        of_strata = strata.release()
        return strata.judged(of_strata, strata.gates(of_strata))
    prepared = prepare(
        table,
        class_name,
        demand,
        caller,
        domains=domains,
        menu=menu,
        tuples=tuples,
        holdout=holdout,
        columns=columns,
        weights=weights,
        max_values=max_values,
        limits=terms.limits,
        accept_answers=accept_answers,
        policy=terms.policy,
    )
    release = prepared.release()
    entry = None if book is None else book.entry(prepared, release)
    gate = prepared.gate(release).beside(entry, prepared.limits)
    return prepared.judged(release, gate, entry=entry)


class OfTheTable(NamedTuple):
    """Which columns of a table are used, and how."""

    class_name: str
    by: str | None
    columns: Sequence[str] | None
    domains: Declarations | Declared | None
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None


def _of_the_table(terms: Terms) -> OfTheTable:
    """What was asked, or a policy says, of the table."""
    if terms.class_name is None:
        raise TypeError("class_name must be a text, got None; with a policy it may be left out")
    return OfTheTable(terms.class_name, terms.by, terms.columns, terms.domains, terms.menu)
