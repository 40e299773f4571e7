"""The lines of a ledger: a JSON object each, and the sha256 of the line before in every one.

A release takes two lines: before it leaves one says what is in it, and afterwards one says that it stands. So
a kill between them leaves a release that is known, and never one that is not.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, cast

import numpy as np

from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Counts
from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast._wire.json_entries import Refused, canonical_json, rational, shown, whole
from nbcfast._wire.messages import printable
from nbcfast._wire.regular_files import NAME, content
from nbcfast._wire.typed_values import domain as typed_domain
from nbcfast.ledger.spent import NoiseLine, VotedChoice
from nbcfast.ledger.windows import WindowLabels
from nbcfast.published.certificate import METHODS, PRESERVED, Certificate
from nbcfast.published.typed import domain_of_json, json_counts, json_rational, json_value
from nbcfast.table.domain import Domain
from nbcfast.views import Viewset

FORMAT = "nbcfast-ledger/1"
SHA256 = re.compile(r"[0-9a-f]{64}")
State = Literal["written", "intended", "not written"]

OF_RELEASE = {
    *("answers", "attributes", "classes", "counts", "domain", "folder", "format", "kind", "n", "noise"),
    *("parameters", "previous", "release", "rows", "views", "window"),
}
OF_OUTCOME = {"format", "kind", "n", "of", "previous"}


class LedgerError(ValueError):
    """A file that is no ledger as it was written.

    Attributes
    ----------
    whole : int or None
        Where only the last line was begun and not ended, how many bytes of whole lines stand before it.
    """

    def __init__(self, text: str, whole: int | None = None) -> None:
        super().__init__(text)
        self.whole = whole


@dataclass(frozen=True)
class ReleaseTerms:
    """How a release is made of a table: all that is public about it but its domain.

    Parameters
    ----------
    method : {"canonical", "safetytransform", "est"}
    preserve : {"label", "order"}
    smoothing : Fraction, optional
        What is added to every count.
    others : mapping of text to text
        What else is chosen, as the amplification.

    Examples
    --------
    >>> ReleaseTerms(preserve="order").parameters
    {'method': 'canonical', 'preserve': 'order'}
    """

    method: str = "canonical"
    preserve: Preserve = "label"
    smoothing: Fraction | None = None
    others: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in (("method", METHODS), ("preserve", PRESERVED)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        if not all(isinstance(text, str) for pair in self.others.items() for text in pair):
            raise TypeError("others must be texts by names")
        _ = self.choice

    @classmethod
    def of(cls, certificate: Certificate) -> ReleaseTerms:
        """Those of a release; whether somebody accepted what it gives away changes nothing that it says."""
        others = {"amplification": json_rational(certificate.amplification), "attacker": certificate.attacker}
        if certificate.method != "canonical":
            others["gauge"] = str(certificate.gauge).lower()
        if certificate.r is not None and certificate.prior is not None:
            others["r"] = json_rational(certificate.r)
            others["prior"] = " ".join(map(json_rational, certificate.prior))
        made = certificate.canonical
        if made is not None and made.bits is not None:
            others["bits"] = str(made.bits)
        if made is not None and made.listed is not None:
            others["tuples"] = made.listed.sha256
        advice = certificate.advice
        if certificate.privacy is not None and advice is not None and advice.rows == "private":
            # Without votes the choice is refused beside noise.
            assert advice.epsilon is not None
            others["choice"] = sha256_of(advice.to_json())
            others["choice_epsilon"] = json_rational(advice.epsilon)
        return cls(certificate.method, certificate.preserve, certificate.smoothing, others)

    @property
    def parameters(self) -> dict[str, str]:
        """As a line has them."""
        smoothed = {} if self.smoothing is None else {"smoothing": json_rational(self.smoothing)}
        return {**self.others, "method": self.method, "preserve": self.preserve, **smoothed}

    @property
    def choice(self) -> VotedChoice | None:
        """How private rows chose the domain by votes, beside noise; ValueError if its entries are none."""
        entry = self.others.get("choice"), self.others.get("choice_epsilon")
        if entry == (None, None):
            return None
        epsilon = rational(entry[1], "choice_epsilon")
        if epsilon <= 0 or entry[0] is None or not SHA256.fullmatch(entry[0]):
            raise ValueError("choice must be a sha256, and choice_epsilon above 0")
        return VotedChoice(entry[0], epsilon)

    @classmethod
    def of_json(cls, entry: object) -> ReleaseTerms:
        """What a line says; Refused if it says something else."""
        if not isinstance(entry, dict) or not all(isinstance(text, str) for text in entry.values()):
            raise Refused(f"parameters: expected texts by names, got {shown(entry)}")
        others = {
            name: text for name, text in entry.items() if name not in ("method", "preserve", "smoothing")
        }
        smoothing = rational(entry["smoothing"], "smoothing") if "smoothing" in entry else None
        preserve = cast("Preserve", entry.get("preserve"))
        try:
            return cls(entry.get("method", ""), preserve, smoothing, others)
        except (TypeError, ValueError) as error:
            raise Refused(f"parameters: {error}") from None


class Entry:
    """What lines of both kinds have.

    Attributes
    ----------
    n : int
        The number of the line, from 1.
    """

    n: int


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LedgerLine(Entry):
    """A release, as its line says it.

    Attributes
    ----------
    n : int
        The number of its line.
    release : str
        The sha256 that its certificate has.
    folder : str or None
        Where it was to be written.
    terms : ReleaseTerms
        How it was made.
    views : Viewset or None
        The private counts that it was made of; None where only noisy ones were at hand.
    domain : str
        The digest of classes, attributes, values and terms: releases of other ones may not stand beside it.
    classes, attributes : list
        The same as the line has it.
    answers : str or None
        The digest of all answers; None where there is noise, or where they are too many.
    window : WindowLabels or None
    noise : NoiseLine or None
    state : {"written", "intended", "not written"}
        Whether it stands: "intended" is what nobody knows that it left, and counts as one that did.
    sha256 : str
        Of the line.
    """

    n: int
    release: str
    folder: str | None
    terms: ReleaseTerms
    views: Viewset | None
    domain: str
    classes: list[object]
    attributes: list[object]
    answers: str | None
    window: WindowLabels | None
    noise: NoiseLine | None
    state: State
    sha256: str

    @property
    def rows(self) -> int | None:
        """Of the private table, where that is known."""
        return None if self.views is None else self.views.n_rows

    @property
    def counts(self) -> bool:
        """Whether it is taken to have left."""
        return self.state != "not written"

    def __repr__(self) -> str:
        rows = "" if self.rows is None else f", {self.rows:,} rows"
        return f"LedgerLine({self.n}: {self.release[:12]}..{rows}, {self.state})"


def stands(line: LedgerLine) -> bool:
    """Whether the release of a line is in its folder."""
    if line.folder is None:
        return False
    try:
        document = json.loads(content(os.path.join(line.folder, NAME)))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("sha256") == line.release


@dataclass(frozen=True, kw_only=True)
class OutcomeLine(Entry):
    """What became of a release.

    Attributes
    ----------
    n : int
    of : int
        The line of the release.
    written : bool
    """

    n: int
    of: int
    written: bool


def domain_parts(views: Viewset) -> tuple[list[object], list[object]]:
    """The classes in their precedence, and the attributes in their order with all values, as lines say it."""
    classes: list[object] = [json_value(value, views.class_domain) for value in views.classes]
    attributes: list[object] = [
        [name, [json_value(value, views.domains[name]) for value in views.domain(name)]]
        for name in views.attributes
    ]
    return classes, attributes


def sha256_of(document: object) -> str:
    """Of the one text that a document has."""
    return hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def domain_digest(classes: list[object], attributes: list[object], terms: ReleaseTerms) -> str:
    """Of all that has to be the same in every release of a table."""
    return sha256_of({"classes": classes, "attributes": attributes, "parameters": terms.parameters})


def counts_entry(views: Viewset) -> Document:
    """All counts, as lines have them."""
    tables: list[object] = [json_counts(array) for array in views.counts.values()]
    return {"classes": json_counts(views.class_counts), "attributes": tables}


def release_text(
    n: int,
    *,
    release: str,
    folder: str | None,
    terms: ReleaseTerms,
    views: Viewset,
    private: bool,
    answers: str | None,
    window: WindowLabels | None,
    noise: NoiseLine | None,
    previous: str | None,
) -> bytes:
    """The line of a release that is about to leave, with its counts where they are the `private` ones."""
    classes, attributes = domain_parts(views)
    counts = counts_entry(views) if private else None
    document = {
        "format": FORMAT,
        "kind": "release",
        "n": n,
        "release": release,
        "folder": folder,
        "classes": classes,
        "attributes": attributes,
        "parameters": terms.parameters,
        "domain": domain_digest(classes, attributes, terms),
        "counts": counts,
        "views": None if counts is None else sha256_of(counts),
        "rows": None if counts is None else json_counts(np.array([views.n_rows], object))[0],
        "answers": answers,
        "window": None if window is None else window.to_dict(),
        "noise": None if noise is None else noise.to_dict(),
        "previous": previous,
    }
    return (canonical_json(document) + "\n").encode("ascii")


def outcome_text(n: int, of: int, written: bool, previous: str | None) -> bytes:
    """The line that says what became of a release."""
    kind = "written" if written else "not written"
    document = {"format": FORMAT, "kind": kind, "n": n, "of": of, "previous": previous}
    return (canonical_json(document) + "\n").encode("ascii")


def parsed(data: bytes, name: str) -> tuple[tuple[LedgerLine, ...], int, str | None]:
    """The releases of a ledger, how many lines it has, and the sha256 of the last one.

    Raises
    ------
    LedgerError
        If it is no ledger: a line is not one as it was written, or follows another one than it says.
    """
    *lines, last = data.split(b"\n")
    releases: dict[int, LedgerLine] = {}
    previous: str | None = None
    for n, line in enumerate(lines, 1):
        where = f"{printable(name)}: line {n}"
        try:
            document = _document(line)
            if document["n"] != n or type(document["n"]) is not int:
                raise Refused(f"its number is {shown(document['n'])}")
            if document["previous"] != previous:
                raise Refused(
                    "the line before it is another one than it follows: lines were changed or are gone"
                )
            digest = hashlib.sha256(line).hexdigest()
            if document["kind"] == "release":
                releases[n] = _release(document, digest)
            else:
                of = document["of"]
                if type(of) is not int or of not in releases or releases[of].state != "intended":
                    raise Refused(f"no release of line {shown(of)} waits for an outcome")
                releases[of] = _with_state(releases[of], document["kind"])
        except (Refused, Infeasible, TypeError, ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
            raise LedgerError(
                f"{where}: {printable(why)}; it is no ledger, or not as it was written: put back a copy of it"
            ) from None
        previous = digest
    if last:
        raise LedgerError(
            f"{printable(name)}: line {len(lines) + 1} was begun and not ended: its release was not "
            f"written, as lines are ended first; nbcfast ledger check --mend {printable(shlex.quote(name))} "
            "cuts it off",
            len(data) - len(last),
        )
    return tuple(releases.values()), len(lines), previous


def _document(line: bytes) -> Document:
    """A line as an object with the entries of its kind; Refused if it is none, or not as it was written."""
    try:
        document = json.loads(line.decode("ascii"), parse_float=_no_float, parse_constant=_no_float)
    except ValueError as error:
        if isinstance(error, Refused):
            raise
        raise Refused("no line of a ledger: it is no JSON in ASCII") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Refused(f"no line of a ledger: expected an object with the format {FORMAT}")
    kind = document.get("kind")
    expected = {"release": OF_RELEASE, "written": OF_OUTCOME, "not written": OF_OUTCOME}.get(
        kind if isinstance(kind, str) else ""
    )
    if expected is None:
        raise Refused(f"kind: expected release, written or not written, got {shown(kind)}")
    if document.keys() != expected:
        odd = sorted(document.keys() ^ expected)[0]
        raise Refused(f"entry {shown(odd)} is {'missing' if odd in expected else 'not known'}")
    # An entry that stands twice would be read once.
    if canonical_json(document).encode("ascii") != line:
        raise Refused("it has another spelling than it was written with")
    return document


def _no_float(text: str) -> float:
    raise Refused(f"expected integers and texts, got the number {text[:40]}")


def _release(document: Document, digest: str) -> LedgerLine:
    """The release of a line; Refused, or a ValueError of a Viewset, if it is none."""
    for name in ("release", "domain"):
        _expect_sha256(document[name], name)
    for name in ("views", "answers"):
        if document[name] is not None:
            _expect_sha256(document[name], name)
    folder = document["folder"]
    if folder is not None and not isinstance(folder, str):
        raise Refused(f"folder: expected a text or null, got {shown(folder)}")
    terms = ReleaseTerms.of_json(document["parameters"])
    classes, attributes = document["classes"], document["attributes"]
    window = document["window"]
    views = _views(document) if document["counts"] is not None else None
    if views is None and (document["rows"] is not None or document["views"] is not None):
        raise Refused("counts: expected those of rows and views, got null")
    if domain_digest(classes, attributes, terms) != document["domain"]:
        raise Refused("domain: the digest is that of another domain")
    return LedgerLine(
        n=document["n"],
        release=document["release"],
        folder=folder,
        terms=terms,
        views=views,
        domain=document["domain"],
        classes=classes,
        attributes=attributes,
        answers=document["answers"],
        window=None if window is None else WindowLabels.of(window),
        noise=None if document["noise"] is None else NoiseLine.of_json(document["noise"]),
        state="intended",
        sha256=digest,
    )


def _views(document: Document) -> Viewset:
    """The counts of a line over the domain of the line."""
    counts = document["counts"]
    if not isinstance(counts, dict) or counts.keys() != {"attributes", "classes"}:
        raise Refused("counts: expected classes and attributes")
    if sha256_of(counts) != document["views"]:
        raise Refused("views: the digest is that of other counts")
    class_domain = _domain(document["classes"], "classes", in_order=False)
    attributes, tables = document["attributes"], counts["attributes"]
    if not isinstance(attributes, list) or not isinstance(tables, list) or len(tables) != len(attributes):
        raise Refused("counts: expected a table for each attribute")
    domains: dict[str, Domain] = {}
    arrays: dict[str, Counts] = {}
    of_class = _numbers(counts["classes"], len(class_domain), "counts of classes")
    for entry, table in zip(attributes, tables, strict=True):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise Refused(f"attributes: expected a name with values, got {shown(entry)}")
        name, values = entry
        if name in domains:
            raise Refused(f"attributes: {shown(name)} stands there twice")
        domains[name] = _domain(values, f"attribute {shown(name)}")
        if not isinstance(table, list) or len(table) != len(domains[name]):
            raise Refused(f"counts of {shown(name)}: expected {len(domains[name])} rows")
        rows = [_numbers(row, len(class_domain), f"counts of {shown(name)}") for row in table]
        arrays[name] = np.array(rows, object).reshape(len(rows), len(class_domain))
    plain = Viewset(of_class, arrays)
    views = Viewset.from_parts(plain.class_counts, plain.counts, class_domain, domains)
    if not views.is_realistic():
        raise Refused("counts: they are those of no table, as they do not add up")
    if whole(document["rows"], "rows") != views.n_rows:
        raise Refused(f"rows: expected {views.n_rows}, got {shown(document['rows'])}")
    return views


def _domain(entry: object, where: str, in_order: bool = True) -> Domain:
    return domain_of_json(typed_domain(entry, where, in_order), where, True, in_order)


def _numbers(entry: object, length: int, where: str) -> list[int]:
    if not isinstance(entry, list) or len(entry) != length:
        raise Refused(f"{where}: expected {length} numbers, got {shown(entry)}")
    return [whole(number, where) for number in entry]


def _expect_sha256(entry: object, where: str) -> None:
    if not isinstance(entry, str) or not SHA256.fullmatch(entry):
        raise Refused(f"{where}: expected a sha256, got {shown(entry)}")


def _with_state(line: LedgerLine, state: State) -> LedgerLine:
    return LedgerLine(**{**vars(line), "state": state})
