"""`Policy`: what a policy says, with every value checked, and the sha256 by which certificates name it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal, cast

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.numbers import Number, Numeral, exact, exact_share
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice, whole
from nbcfast.canonical import Limits
from nbcfast.domains import Declared, Menu, declared
from nbcfast.dp.asked import noise_for
from nbcfast.ledger import LedgerPolicy
from nbcfast.policies.keys import NONE
from nbcfast.policies.toml_files import PolicyWords, document_in, expect_known, plain_columns
from nbcfast.safety.demanded import demanded
from nbcfast.views.noise import Neighbours, Noise
from nbcfast.views.smoothing import constant

OF_ANSWERS = ("max_bits", "max_found", "min_flip", "min_trace", "max_one_class")  # those of `Limits`
EXAMPLE = "the path of a policy such as nbcfast.toml, or a mapping of its sections"


@dataclass(frozen=True)
class NoiseTerms:
    """The noise that a policy asks for: as the keywords of `nbcfast.dp.counts`."""

    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    neighbours: Neighbours = "add-remove"
    rows_per_person: int = 1
    required: bool = True

    def noise(self, n_attributes: int = 1) -> Noise:
        """The noise for counts of so many attributes."""
        return noise_for(
            n_attributes, self.epsilon, self.delta, self.rho, self.neighbours, self.rows_per_person
        )

    @property
    def keywords(self) -> dict[str, object]:
        """What is handed to `nbcfast.dp.counts`."""
        given = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {
            **{name: number for name, number in given.items() if number is not None},
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
        }


@dataclass(frozen=True)
class LedgerTerms:
    """The ledger that a policy asks for, and when a release may be made."""

    path: str
    policy: LedgerPolicy | None = None
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What an owner demands of every release; None of what the policy leaves free.

    Attributes
    ----------
    where : str
        The file, or "policy".
    class_name : str
    amplification : Fraction
        The limit of Lambda, of which half holds against attacker "worlds": `limit` is what is left.
    attacker : {"row", "worlds"}
    columns : tuple of str or None
    method, preserve, by : str or None
    smooth : Fraction or int or None
    domains : Declared or None
    menu : Menu or None
    limits : Limits
        How much the answers may give away.
    undeclared_columns : int or None
        None where there is no limit, as of the next two.
    worst_posterior, membership_auc : Fraction or int or None
    accept_answers : bool
    noise : NoiseTerms or None
    ledger : LedgerTerms or None
    accept_claims : bool
    document : dict
        What releases have to keep, as far as it is not as it would be without being written, with nothing
        left to look up: files that it names are in it, and [gate] is not.

    Examples
    --------
    >>> policy = Policy.of({"release": {"class": "ill", "amplification": 4}, "limits": {"max_found": 2}})
    >>> policy.limit, policy.limits.max_found, policy.sha256[:8]
    (Fraction(4, 1), 2, 'f1ed4543')
    >>> Policy.of({"release": {"class": "ill", "amplification": 4}, "limits": {"max_fund": 2}})
    Traceback (most recent call last):
    ValueError: policy: [limits] has no key 'max_fund': the nearest is 'max_found'
    """

    where: str
    class_name: str
    amplification: Fraction
    attacker: Attacker = "row"
    columns: tuple[str, ...] | None = None
    method: Literal["canonical", "safetytransform"] | None = None
    preserve: Preserve | None = None
    smooth: Number | None = None
    by: str | None = None
    domains: Declared | None = None
    menu: Menu | None = None
    limits: Limits = field(default_factory=Limits)
    undeclared_columns: int | None = 0
    worst_posterior: Number | None = None
    membership_auc: Number | None = None
    accept_answers: bool = False
    noise: NoiseTerms | None = None
    ledger: LedgerTerms | None = None
    accept_claims: bool = False
    document: Document = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, source: AnyPolicy) -> Policy:
        """The policy that an argument is, or names the TOML file of.

        Raises
        ------
        TypeError, ValueError
            If something is not as described, or no key at all: file, section and key are named.
        OSError
            If a file cannot be read.
        """
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return _policy(source, "policy", Path())
        if not isinstance(source, str | bytes | os.PathLike):
            raise TypeError(f"policy must be {EXAMPLE}, got {type(source).__name__}")
        path = Path(os.fsdecode(source))
        if path == Path():
            raise ValueError(f"policy must be {EXAMPLE}, got ''")
        return _policy(document_in(path), str(path), path.parent)

    @property
    def limit(self) -> Fraction:
        """What Lambda must not exceed: half the amplification for attacker "worlds"."""
        return self.amplification / 2 if self.attacker == "worlds" else self.amplification

    @property
    def sha256(self) -> str:
        """Of what releases have to keep, however it is written: comments, order and names of files change
        nothing, and neither does [gate], which says how much whoever looks at a release takes on trust.
        """
        text = json.dumps(self.document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def from_rows(self) -> tuple[str, ...]:
        """The columns of [domain], or of the menu, that nobody has checked."""
        if self.menu is not None:
            return self.menu.undeclared
        return () if self.domains is None else self.domains.from_rows


# What may stand for a policy.
AnyPolicy = Policy | Mapping[str, object] | str | bytes | os.PathLike[str]


def _policy(document: Mapping[str, object], where: str, folder: Path) -> Policy:
    expect_known(document, where)
    found = Policy(
        where=where,
        **_release(_section(document, "release"), where),  # type: ignore[arg-type]  # each is checked there
        **_domain(document, where, folder),  # type: ignore[arg-type]
        **_limits(_section(document, "limits"), where),  # type: ignore[arg-type]
        noise=_noise(_section(document, "dp"), where) if "dp" in document else None,
        ledger=_ledger(_section(document, "ledger"), where, folder) if "ledger" in document else None,
        accept_claims=_flag(_section(document, "gate"), "accept_claims", False, f"{where}: [gate]"),
    )
    _expect_fitting(found)
    object.__setattr__(found, "document", _said(found, document))
    return found


def _section(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    entry = document.get(name, {})
    assert isinstance(entry, Mapping)
    return entry


def _release(section: Mapping[str, object], where: str) -> dict[str, object]:
    words = PolicyWords(where)
    attacker = section.get("attacker", "row")
    breach = section.get("breach")
    limit = demanded(
        cast("Numeral | None", section.get("amplification")),
        None if breach is None else cast("tuple[Numeral, Numeral]", breach),
        cast("str", attacker),
        words,
    )
    for name, allowed in (("method", ("canonical", "safetytransform")), ("preserve", ("order", "label"))):
        if name in section:
            choice(section[name], allowed, words.named(name))
    smooth = (
        None
        if "smooth" not in section
        else constant(cast("Numeral", section["smooth"]), words.named("alpha"))
    )
    columns = _names(section["columns"], words.named("columns")) if "columns" in section else None
    return {
        "class_name": _text(section["class"], words.named("class")),
        "amplification": limit,
        "attacker": attacker,
        "columns": columns,
        "method": section.get("method"),
        "preserve": section.get("preserve"),
        "smooth": smooth,
        "by": _text(section["by"], words.named("by")) if "by" in section else None,
    }


def _domain(document: Mapping[str, object], where: str, folder: Path) -> dict[str, object]:
    """The declared values, or the menu; files that are named are read."""
    entry, menu = document.get("domain"), document.get("menu")
    release = _section(document, "release")
    from_rows = (
        _names(release["undeclared"], f"{where}: [release] undeclared") if "undeclared" in release else ()
    )
    if entry is not None and menu is not None:
        raise ValueError(f"{where}: expected one of [domain] and menu, got both")
    if menu is not None:
        path = folder / _text(menu, f"{where}: menu")
        class_name = release.get("class")
        offered = Menu.read(path, class_name if isinstance(class_name, str) else None, PolicyWords(where))
        found: Declared | None = None
    else:
        offered = None
        found = _declared(entry, where, folder)
    if from_rows and (found is None or isinstance(entry, str)):
        got, instead = "none", "or write the columns into [domain]"
        if offered is not None:
            got, instead = "a menu", "for the options of a menu are declared, once somebody has checked them"
        elif found is not None:
            got, instead = "a file", "for the file says itself from_rows"
        raise ValueError(
            f"{where}: [release] undeclared goes with columns of [domain], got {got}: take undeclared out of "
            f"[release], {instead}"
        )
    if from_rows and found is not None:
        for name in from_rows:
            if name not in found.names:
                raise ValueError(f"{where}: [release] undeclared must be columns of [domain], got {name!r}")
        found = Declared(found.options, found.widths, found.file, found.words, from_rows=from_rows)
    return {"domains": found, "menu": offered}


def _declared(entry: object, where: str, folder: Path) -> Declared | None:
    if entry is None:
        return None
    words = PolicyWords(where)
    if isinstance(entry, str):
        return declared(folder / _text(entry, f"{where}: domain"), words)
    if not isinstance(entry, Mapping):
        raise TypeError(f"{where}: [domain] must be a table of columns, or the name of a domain file")
    columns = plain_columns(entry, where)
    for name, one in columns.items():
        if isinstance(one, Mapping) and isinstance(one.get("hierarchy"), str):
            columns[name] = {**one, "hierarchy": str(folder / str(one["hierarchy"]))}
    # Of two columns named domain and from_rows one would be taken for what is said of the other.
    if {*columns} & {"from_rows", "advice"} and "domain" in columns:
        raise ValueError(f'{where}: columns of such names have to stand in a domain file: domain = "FILE"')
    return declared(columns, words)


def _limits(section: Mapping[str, object], where: str) -> dict[str, object]:
    about = f"{where}: [limits]"
    given = {name: None if section[name] == NONE else section[name] for name in OF_ANSWERS if name in section}
    try:
        limits = Limits(**given)  # type: ignore[arg-type]  # each is checked there
    except (TypeError, ValueError) as error:
        raise type(error)(f"{about} {error}") from None
    found: dict[str, object] = {"limits": limits}
    if "undeclared_columns" in section:
        entry = section["undeclared_columns"]
        expected = f"an int of at least 0, or {NONE!r}"
        found["undeclared_columns"] = (
            None if entry == NONE else whole(entry, f"{about} undeclared_columns", 0, expected=expected)
        )
    for name in ("worst_posterior", "membership_auc"):
        if section.get(name, NONE) != NONE:
            found[name] = _share(section[name], f"{about} {name}")
    found["accept_answers"] = _flag(section, "accept_answers", False, about)
    return found


def _noise(section: Mapping[str, object], where: str) -> NoiseTerms:
    about = f"{where}: [dp]"
    if ("epsilon" in section) == ("rho" in section):
        came = "both" if "rho" in section else "neither"
        raise ValueError(f"{about}: expected one of epsilon and rho, got {came}")
    given = dict(section)
    required = _flag(given, "required", True, about)
    given.pop("required", None)
    for name in ("epsilon", "delta", "rho"):
        if name in given:
            given[name] = exact(given[name], f"{about} {name}")
    found = NoiseTerms(required=required, **given)  # type: ignore[arg-type]  # checked below
    try:
        found.noise()
    except (TypeError, ValueError) as error:
        raise type(error)(f"{about} {error}") from None
    return found


def _ledger(section: Mapping[str, object], where: str, folder: Path) -> LedgerTerms:
    about = f"{where}: [ledger]"
    path = os.fspath(folder / _text(section["file"], f"{about} file"))
    words = _names(section["policy"], f"{about} policy") if "policy" in section else ()
    new_rows = whole(section["new_rows"], f"{about} new_rows", 1) if "new_rows" in section else None
    for word in words:
        choice(word, ("calendar", "disjoint"), f"{about} policy")
    policy = None
    if words or new_rows is not None:
        policy = LedgerPolicy(calendar="calendar" in words, disjoint="disjoint" in words, new_rows=new_rows)
    return LedgerTerms(path, policy, _flag(section, "required", True, about))


def _expect_fitting(policy: Policy) -> None:
    """Refuse keys that no release could keep together, or of which one would silently not be looked at."""
    where = policy.where
    if policy.columns is not None:
        if policy.class_name in policy.columns:
            raise ValueError(f"{where}: [release] class and columns both name {policy.class_name!r}")
        if policy.menu is not None:
            raise ValueError(
                f"{where}: a menu says itself what each column may be, and columns does not go with it"
            )
        out = (
            [] if policy.domains is None else [name for name in policy.domains.out if name in policy.columns]
        )
        if out:
            raise ValueError(
                f"{where}: [domain] leaves column {out[0]!r} out, and [release] columns names it"
            )
    if policy.smooth is not None and policy.method == "safetytransform":
        raise ValueError(f"{where}: [release] smooth goes with method 'canonical', got 'safetytransform'")
    noisy = policy.noise is not None and policy.noise.required
    for name, is_given in (("by", policy.by), ("smooth", policy.smooth), ("menu", policy.menu)):
        if noisy and is_given is not None:
            raise ValueError(f"{where}: {name} does not go with [dp], unless required = false stands there")
    if policy.by is not None and policy.menu is not None:
        raise ValueError(f"{where}: [release] by does not go with a menu: advise a domain, and give that")
    if policy.by is not None and policy.ledger is not None and policy.ledger.required:
        raise ValueError(
            f"{where}: [release] by does not go with [ledger]: the rows of each stratum are another table"
        )


def _said(policy: Policy, document: Mapping[str, object]) -> Document:
    """What is not as it would be unwritten, in one spelling: numbers are rationals, and files are read."""
    release: Document = {
        "amplification": str(policy.amplification),
        "attacker": policy.attacker,
        "by": policy.by,
        "class": policy.class_name,
        "columns": None if policy.columns is None else list(policy.columns),
        "method": policy.method,
        "preserve": policy.preserve,
        "smooth": None if policy.smooth is None else str(policy.smooth),
        "undeclared": sorted(policy.from_rows),
    }
    limits: Document = {name: getattr(policy.limits, name) for name in OF_ANSWERS}
    limits["undeclared_columns"] = policy.undeclared_columns
    for name in ("worst_posterior", "membership_auc"):
        number = getattr(policy, name)
        limits[name] = None if number is None else str(number)
    limits["accept_answers"] = policy.accept_answers
    usual: Document = {name: getattr(Limits(), name) for name in OF_ANSWERS}
    usual.update(undeclared_columns=0, worst_posterior=None, membership_auc=None, accept_answers=False)
    parts: Document = {
        "release": _others(release, {"attacker": "row", "undeclared": []}),
        "limits": _others(limits, usual),
        "domain": None if policy.domains is None else {**policy.domains.entries, **_widths(policy.domains)},
        "menu": None if policy.menu is None else policy.menu.digest,
    }
    if policy.noise is not None:
        noise = policy.noise
        numbers = {name: getattr(noise, name) for name in ("epsilon", "delta", "rho")}
        parts["dp"] = {
            **{name: str(number) for name, number in numbers.items() if number is not None},
            "neighbours": noise.neighbours,
            "required": noise.required,
            "rows_per_person": noise.rows_per_person,
        }
    if policy.ledger is not None:
        section = _section(document, "ledger")
        rule = policy.ledger.policy or LedgerPolicy()
        parts["ledger"] = {
            "calendar": rule.calendar,
            "disjoint": rule.disjoint,
            "file": section["file"],
            "new_rows": rule.new_rows,
            "required": policy.ledger.required,
        }
    return {name: part for name, part in parts.items() if part}


def _others(entries: Document, usual: Document) -> Document:
    """The entries that are not the usual ones."""
    return {name: entry for name, entry in entries.items() if entry != usual.get(name)}


def _widths(domains: Declared) -> Document:
    return {name: {"width": str(width)} for name, width in domains.widths.items()}


def _text(entry: object, where: str) -> str:
    if not isinstance(entry, str) or not entry:
        raise TypeError(f"{where} must be a text, got {entry!r}")
    return entry


def _names(entry: object, where: str) -> tuple[str, ...]:
    if not isinstance(entry, list | tuple) or not all(isinstance(name, str) and name for name in entry):
        raise TypeError(f"{where} must be a list of names, got {entry!r}")
    for name in entry:
        if entry.count(name) > 1:
            raise ValueError(f"{where} names {name!r} twice")
    return tuple(entry)


def _flag(section: Mapping[str, object], name: str, usual: bool, about: str) -> bool:
    entry = section.get(name, usual)
    if not isinstance(entry, bool):
        raise TypeError(f"{about} {name} must be true or false, got {entry!r}")
    return entry


def _share(entry: object, where: str) -> Number:
    share = exact_share(entry, where)
    if not 0 <= share <= 1:
        raise ValueError(f"{where} must be a number from 0 to 1, or {NONE!r}; got {entry}")
    return share
