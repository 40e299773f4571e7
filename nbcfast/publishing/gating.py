"""`gate`: whether what was published keeps a policy, rule by rule: yes, no, claimed, or not measured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import attack
from nbcfast._core.untyped import Document
from nbcfast._reading.hints import UnreadableError
from nbcfast._reading.source import AnyTable
from nbcfast._wire.json_entries import digest
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import outcome
from nbcfast.canonical.by_strata import split
from nbcfast.domains import Declared, Menu, Option
from nbcfast.ledger import Ledger
from nbcfast.policies import AnyPolicy, Policy, PolicyRule, shown_rules
from nbcfast.policies.menu_choices import chosen_in, said_of_rows
from nbcfast.policies.policy import OF_ANSWERS
from nbcfast.policies.policy_rules import STATES, RuleState
from nbcfast.published.base import Published
from nbcfast.published.document import fields_of
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.demand import Choice, Demand
from nbcfast.publishing.gate import LIMIT_OF, GateFinding
from nbcfast.publishing.inputs import AsGiven, Caller, others_of, read_like
from nbcfast.publishing.one_answer import OneAnswer, always_answered
from nbcfast.publishing.policy_findings import membership_rule
from nbcfast.publishing.prepared import LISTED, Prepared
from nbcfast.table.encode import used_values
from nbcfast.table.table import Table
from nbcfast.verification import load, verify
from nbcfast.verification.results import Verification
from nbcfast.views import Viewset, count

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

EXIT_CODES = {"kept": 0, "not kept": 1, "not fully checked": 3}
OF_METER = ("max_bits", "min_flip", "min_trace")  # what the leak meter measures
OF_CLASSIFIER = ("preserve", "smooth")  # claims that the private rows decide
MOST_STRANGE = 4  # values that are unknown to a release, and may be its null
NOT_OF_RELEASES = "a policy is of releases, and this is none"


class ReadOtherwiseError(ValueError):
    """Rows that may be those of a release, had they been read as when it was published."""


@dataclass(frozen=True)
class GateVerdict:
    """Whether something that was published keeps a policy.

    Attributes
    ----------
    path : str
        The certificate.
    policy : Policy
    rules : tuple of PolicyRule
        Every demand, and that its files verify.
    verification : Verification
    minded : tuple of GateFinding
        What no demand is of, and whoever demands something should know.
    """

    path: str
    policy: Policy
    rules: tuple[PolicyRule, ...]
    verification: Verification
    minded: tuple[GateFinding, ...] = ()

    def named(self, state: RuleState) -> tuple[PolicyRule, ...]:
        """The rules of which this is the state."""
        return tuple(rule for rule in self.rules if rule.state == state)

    @property
    def verdict(self) -> str:
        """What comes of it: "kept", "not kept", or "not fully checked".

        The last where something was not measured, or is a claim and the policy does not accept claims.
        """
        if self.named("no"):
            return "not kept"
        unchecked = bool(self.named("claimed")) and not self.policy.accept_claims
        return "not fully checked" if self.named("unmeasured") or unchecked else "kept"

    @property
    def exit_code(self) -> int:
        """0, 1 or 3: what `nbcfast gate` leaves with at these three verdicts."""
        return EXIT_CODES[self.verdict]

    @property
    def ok(self) -> bool:
        """Whether the verdict is "kept"; also the truth of the object."""
        return self.exit_code == 0

    def __bool__(self) -> bool:
        return self.ok

    @property
    def conclusion(self) -> str:
        """The verdict, and what it does not cover."""
        parts = []
        for state, one, several in (
            ("no", "1 demand does not hold", "{} demands do not hold"),
            ("unmeasured", "1 was not measured", "{} were not measured"),
            ("claimed", "1 is claimed, checked by nobody", "{} are claimed, checked by nobody"),
        ):
            many = len(self.named(state))  # type: ignore[arg-type]  # one of them
            if many:
                parts.append(one if many == 1 else several.format(many))
        if self.named("claimed") and self.policy.accept_claims:
            parts.append("the policy accepts claims")
        return f"{self.verdict}: {'; '.join(parts)}" if parts else self.verdict

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "path": self.path,
            "policy": {"file": self.policy.where, "sha256": self.policy.sha256},
            "ok": self.ok,
            "verdict": self.verdict,
            "rules": [rule.to_dict() for rule in self.rules],
            "minded": [finding.to_dict() for finding in self.minded],
            "verification": self.verification.to_dict(),
        }

    def __repr__(self) -> str:
        marks = {"yes": "yes", "no": "NO", "unmeasured": "?", "claimed": "claimed"}
        lines = [f"  {marks[rule.state]:<8} {rule.name:<18} {rule.text}" for rule in self.rules]
        return "\n".join(map(printable, [f"GateVerdict({self.path}: {self.conclusion})", *lines]))


def gate(
    path: str | os.PathLike[str],
    policy: AnyPolicy,
    *,
    against: AnyTable | None = None,
    holdout: AnyTable | None = None,
    weights: str | None = None,
    ignore_extra: bool = False,
    progress: Progress | None = None,
) -> GateVerdict:
    """Whether a release that was published keeps a policy, and how that is known.

    The release is verified, and each demand of the policy is looked at: what its files show is "yes" or "no";
    what only its certificate says is "claimed", and never "yes" by itself; and what the private rows alone
    show is "unmeasured", unless they are given.

    Parameters
    ----------
    path : str or path
        The folder that `save` wrote, or the certificate.json in it.
    policy : Policy, mapping, or path of a TOML file
        See `nbcfast.policies`.
    against : Table, or what it is made of, optional
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private rows: the limits on answers are measured, and the classifier is compared.
    holdout : Table, or what it is made of, optional
        As `against`, with it: other rows of the same population, for `membership_auc`.
    weights : str, optional
        The column that says how often each private row counts.
    ignore_extra : bool
        As of `nbcfast.verify`.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    GateVerdict

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError, ValueError
        If the policy is none, or an argument is not as described.

    Examples
    --------
    >>> import nbcfast
    >>> from tempfile import TemporaryDirectory
    >>> views = nbcfast.Viewset([50, 90], {"job": [[9, 70], [41, 20]]}, classes=["ill", "well"])
    >>> with TemporaryDirectory() as folder:
    ...     nbcfast.canonical.release(views, 4, class_name="health").save(folder)
    ...     found = gate(folder, {"release": {"class": "health", "amplification": "5/4"}})
    >>> found.verdict, [rule.name for rule in found.named("no")]
    ('not kept', ['amplification'])
    """

    def stages(what: str) -> AbstractContextManager[Progress | None]:
        return nullcontext(progress)

    caller = Caller(reads=AsGiven(weights, stages), stages=stages)
    return gated(path, Policy.of(policy), caller, against=against, holdout=holdout, ignore_extra=ignore_extra)


def gated(
    path: str | os.PathLike[str],
    policy: Policy,
    caller: Caller,
    *,
    against: AnyTable | None = None,
    holdout: AnyTable | None = None,
    menu: Menu | None = None,
    ignore_extra: bool = False,
) -> GateVerdict:
    """`gate`, as somebody asks whose files are read in his way.

    The `menu` is a file that the domain was chosen from, where the policy names none.
    """
    if menu is not None and policy.menu is not None:
        raise ValueError(f"{caller.words.named('menu')} does not go with a policy that names a menu itself")
    menu = policy.menu or menu
    if holdout is not None and against is None:
        words = caller.words
        raise ValueError(f"{words.named('holdout')} goes with {words.named('against')}, got none")
    published: Published | None = None
    rows: Table | None = None
    against_rule: PolicyRule | None = None
    with suppress(ValueError), caller.stages("loading"):  # the checks say what is wrong
        published = load(path)
    if (
        isinstance(published, Release | StratifiedRelease)
        and against is not None
        and not _is_noisy(published)
    ):
        rows, against_rule = _rows_or_rule(published, policy, against, caller, menu)
    # Of a policy that names a menu the rule says it where the certificate names none.
    named = menu is not None and (policy.menu is None or _is_advised(published))
    file = menu.file if menu is not None and named else None
    with caller.stages("comparing") as progress:
        verification = verify(
            path,
            rows,
            menu=file,
            class_name=None if rows is None else policy.class_name,
            ignore_extra=ignore_extra,
            progress=progress,
        )
    rules, minded = [_verified(verification)], list[GateFinding]()
    if (
        isinstance(published, Release | StratifiedRelease)
        and holdout is not None
        and (rows is None or rules[0].state == "no")
    ):  # it is measured with nothing, but what is no table is bad input all the same
        _held_out(published, policy, holdout, caller)
    if not isinstance(published, Release | StratifiedRelease):
        if verification.kind not in (None, "release", "strata"):
            rules.append(PolicyRule("kind", "no", NOT_OF_RELEASES))
    elif rules[0].state != "no":
        with caller.stages("looking at the policy"):
            held = menu if any(one.name == "menu" and one.passed for one in verification.checks) else None
            shown = shown_rules(policy, published, held)
            found = _decided(shown, policy, verification, rows is not None)
        if rows is not None:
            found = _measured(found, published, policy, rows, holdout, against, caller)
        minded = _of_one_answer(published, policy, rows)
        rules += _entered(found, published, policy)
        if against_rule is not None:
            rules.append(against_rule)
    return GateVerdict(verification.path, policy, tuple(rules), verification, tuple(minded))


def _of_one_answer(
    published: Release | StratifiedRelease, policy: Policy, rows: Table | None
) -> list[GateFinding]:
    """That one answer for everybody would be as good: by the private rows, or by points alone."""
    if len(_first(published).views.classes) == 1 or _is_noisy(published):
        return []
    if rows is not None:
        parts = [(published, rows)] if isinstance(published, Release) else _by_strata(published, rows)
        return OneAnswer.of(parts, policy.class_name).findings
    releases = [published] if isinstance(published, Release) else [*published.strata.values()]
    return always_answered(releases)


def _by_strata(published: StratifiedRelease, rows: Table) -> list[tuple[Release, Table]]:
    """The releases, each with its rows."""
    parts = split(rows, published.by)
    return [(published.strata[value], part) for value, part in parts.items() if value in published.strata]


def _held_out(
    published: Release | StratifiedRelease, policy: Policy, holdout: AnyTable, caller: Caller
) -> Table:
    """The rows of others, as they are."""
    views = published.views if isinstance(published, Release) else published.columns
    return read_like(views, holdout, "holdout", policy.class_name, caller, policy.domains)


def _first(published: Release | StratifiedRelease) -> Release:
    return published if isinstance(published, Release) else published.first


def _is_advised(published: object) -> bool:
    if not isinstance(published, Release | StratifiedRelease):
        return False
    return _first(published).certificate.advice is not None


def _is_noisy(published: Release | StratifiedRelease) -> bool:
    return _first(published).certificate.privacy is not None


def _verified(verification: Verification) -> PolicyRule:
    """That the files verify is a part of every policy."""
    found = outcome(check.passed for check in verification.checks)
    states: dict[bool | None, RuleState] = {True: "yes", False: "no", None: "unmeasured"}
    left = [f"{check.name}: {check.text}" for check in verification.checks if check.passed is found]
    many = len(verification.checks)
    text = f"all {many} checks of its files hold" if found else "; ".join(left)
    return PolicyRule("verified", states[found], text)


def _decided(
    rules: Iterable[PolicyRule], policy: Policy, verification: Verification, compared: bool
) -> list[PolicyRule]:
    """The rules, with what checks of the verifier have decided of claims."""
    passed = {check.name: check.passed for check in verification.checks}
    found = []
    for rule in rules:
        if rule.state == "claimed":
            if compared and rule.name in OF_CLASSIFIER and passed.get("equivalence"):
                rule = replace(rule, state="yes", text=f"{rule.text}, and the private rows agree")
            elif rule.name == "method" and passed.get("canonical"):
                rule = replace(rule, state="yes", text="canonical: it is what its answers give")
            elif rule.name == "menu" and policy.menu is not None and passed.get("menu"):
                text = f"the domain is one of this menu{said_of_rows(policy.menu)}"
                rule = replace(rule, state="yes", text=text)
        found.append(rule)
    return found


def _rows_or_rule(
    published: Release | StratifiedRelease,
    policy: Policy,
    against: AnyTable,
    caller: Caller,
    menu: Menu | None,
) -> tuple[Table | None, PolicyRule | None]:
    """The private rows, or what is said where they cannot be compared."""
    try:
        return _rows(published, policy, against, caller, menu), None
    except UnreadableError:  # no table at all: bad input
        raise
    except ReadOtherwiseError as error:
        return None, PolicyRule("against", "unmeasured", str(error))
    except ValueError as error:
        return None, PolicyRule("against", "no", f"these are not the rows of the release: {error}")


def _rows(
    published: Release | StratifiedRelease,
    policy: Policy,
    against: AnyTable,
    caller: Caller,
    menu: Menu | None,
) -> Table:
    """The private rows, with the values that the release has."""
    views = published.views if isinstance(published, Release) else published.columns
    declared = policy.domains
    if menu is not None and (menu.undeclared or _is_advised(published)):
        declared = chosen_in(menu, _first(published))
    table = read_like(views, against, "against", policy.class_name, caller, declared)
    if table.n_rows == 0:
        raise ValueError("no rows")
    _expect_read_alike(table, views, caller)
    values: Mapping[str, Option] = {
        name: Option({"values": list(views.domain(name))}) for name in views.attributes
    }
    return Declared(values, words=caller.words).applied(table)


def _expect_read_alike(table: Table, views: Viewset, caller: Caller) -> None:
    """ReadOtherwiseError where all that has no place in the release may say that a value is missing."""
    strays = []
    for name in views.attributes:
        domain, column = {*views.domain(name)}, table.column(name)
        used = np.flatnonzero(used_values(column.codes, len(column.domain)))
        found = [
            value for value in map(column.domain.values.__getitem__, used.tolist()) if value not in domain
        ]
        if found and None not in domain:
            return
        strays += [(name, value) for value in found]
    if not 0 < len({value for _, value in strays}) <= MOST_STRANGE:
        return
    name = strays[0][0]
    texts = [*dict.fromkeys(value for _, value in strays if isinstance(value, str))]
    what = f"value {texts[0]!r} of {name!r}" if texts else f"a value of {name!r}"
    given = caller.words.nulls(["", *(texts or [".."])])
    raise ReadOtherwiseError(
        f"not compared: {what} is unknown to the release, which has a null there; if it was published with "
        f"{given}, give the same here"
    )


def _measured(
    rules: list[PolicyRule],
    published: Release | StratifiedRelease,
    policy: Policy,
    rows: Table,
    holdout: AnyTable | None,
    source: AnyTable | None,
    caller: Caller,
) -> list[PolicyRule]:
    """The rules, with what is measured beside the private rows; of strata what is worst in any."""
    views = published.views if isinstance(published, Release) else published.columns
    others = None
    if holdout is not None:
        others = others_of(holdout, source, rows, views, policy.class_name, caller, policy.domains)
    pairs = [(published, rows, others)]
    if isinstance(published, StratifiedRelease):
        of_others = {} if others is None else split(others, published.by)
        pairs = [
            (published.strata[value], part, of_others.get(value))
            for value, part in split(rows, published.by).items()
            if value in published.strata
        ]
    measured: dict[str, PolicyRule] = {}
    for release, part, held_out in pairs:
        assert isinstance(release, Release)
        for rule in _beside(release, policy, part, held_out, caller):
            worst = measured.get(rule.name, rule)
            measured[rule.name] = min(worst, rule, key=lambda one: STATES.index(one.state))
    return [measured.get(rule.name, rule) for rule in rules]


def _beside(
    release: Release, policy: Policy, rows: Table, others: Table | None, caller: Caller
) -> Iterator[PolicyRule]:
    """What of a policy one release keeps, measured beside the rows that it was made of."""
    made = release.certificate
    if made.canonical is not None and made.canonical.listed is not None:
        for name in OF_ANSWERS:
            yield PolicyRule(name, "unmeasured", LISTED)
    else:
        views = _counts(release, policy, rows)
        prepared = Prepared(
            table=rows,
            views=views,
            class_name=policy.class_name,
            source=None,
            demand=Demand(amplification=made.amplification, preserve=made.preserve, alpha=made.smoothing),
            choice=Choice(made.method, True),  # type: ignore[arg-type]  # one of them
            public=None,
            others=None,
            remarks=(),
            limits=policy.limits,
            accepted=False,
            caller=caller,
            advice=None,
            chosen=None,
        )
        yield from _of_limits(prepared.gate(release).findings, policy, len(views.classes) == 1)
    if policy.membership_auc is not None:
        members = None
        if others is not None:
            with caller.stages("telling members") as progress:
                members = attack.membership(release, rows, others, policy.class_name, progress=progress)
        yield membership_rule(members, policy.membership_auc)


def _counts(release: Release, policy: Policy, rows: Table) -> Viewset:
    attributes = list(release.views.attributes)
    return count(rows, policy.class_name, attributes, classes=release.views.classes)


def _of_limits(findings: Iterable[GateFinding], policy: Policy, one_class: bool) -> Iterator[PolicyRule]:
    """The findings of a release as rules: of one limit what is worst."""
    states: dict[str, RuleState] = {"shows": "no", "unmeasured": "unmeasured", "warned": "yes", "kept": "yes"}
    listed = list(findings)
    for name in OF_ANSWERS:
        if getattr(policy.limits, name) is None:
            continue
        abouts = {about for about, limit in LIMIT_OF.items() if limit == name}
        abouts |= {"not measured"} if name in OF_METER else set()
        of_it = [one for one in listed if one.about in abouts]
        if of_it:
            state = min((states[one.state] for one in of_it), key=STATES.index)
            texts = [f"{one.about}: {one.text}" for one in of_it if states[one.state] == state]
            yield PolicyRule(name, state, "; ".join(dict.fromkeys(texts)))
        elif one_class:
            yield PolicyRule(name, "yes", "every answer is the same")
        else:
            yield PolicyRule(name, "unmeasured", "it would take too much work")


def _entered(
    rules: list[PolicyRule], published: Release | StratifiedRelease, policy: Policy
) -> list[PolicyRule]:
    """The rules, with what the ledger says, if it is there."""
    if policy.ledger is None or not policy.ledger.required or not isinstance(published, Release):
        return rules
    if not os.path.exists(policy.ledger.path):
        return rules
    sha256 = digest(fields_of(published))
    entered = [line for line in Ledger(policy.ledger.path).lines if line.release == sha256]
    lines = [line for line in entered if line.state != "not written"]
    text = f"line {lines[-1].n:,} of the ledger is this release" if lines else "the ledger does not have it"
    said = PolicyRule("ledger", "yes" if lines else "no", text)
    return [said if rule.name == "ledger" else rule for rule in rules]
