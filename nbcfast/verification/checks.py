"""`verify`: what the file of a release can prove, and what the private views can."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import amount_text
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.folder import ignored_text, judge_folder
from nbcfast._wire.form import Form, judge_version
from nbcfast._wire.json_entries import TooLong
from nbcfast._wire.kinds import judge_any, parse_any
from nbcfast._wire.messages import brief, printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, VERDICTS, WARNING, decisions, outcome, verdict
from nbcfast._wire.regular_files import content, location
from nbcfast._wire.release_checks import NOT_COMPARED
from nbcfast._wire.release_form import Document
from nbcfast._wire.table_csv import judge_parquet
from nbcfast._wire.table_form import TableForm
from nbcfast.canonical import box
from nbcfast.canonical.boxes.decided import difference
from nbcfast.closeness import est
from nbcfast.closeness.reached import statement11
from nbcfast.equivalence import compare
from nbcfast.equivalence.comparing import differing_rows
from nbcfast.published.certificate import Certificate, same_text
from nbcfast.published.limits import bits, lambda_kept, odds_kept
from nbcfast.published.release import Release
from nbcfast.published.table_lines import parquet_check
from nbcfast.published.typed import limit_text
from nbcfast.safety.amplification import amplification
from nbcfast.table import Interval, Table
from nbcfast.transform import safety_transform
from nbcfast.verification import remade as answers
from nbcfast.verification.load import published, release_of
from nbcfast.verification.remade import codes_of
from nbcfast.views import Viewset, count
from nbcfast.views.integers import zeros

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.mondrian.partition import Partition
    from nbcfast.response import Disguised
    from nbcfast.templates.results import Disclosure


MOST_SHOWN = 1 << 24  # bits of products up to which Lambda is worked out, and not only compared
MOST_PAIRS = 1 << 14  # of classes, for each attribute, up to which it is
COMPARED = 10**12  # tuples; beyond, making the release again is the quicker proof, if it has one


@dataclass(frozen=True)
class Check:
    """One check of a release.

    Attributes
    ----------
    name : str
    passed : bool or None
        None where it could not be decided.
    text : str
        What was found.
    """

    name: str
    passed: bool | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "passed": self.passed, "text": self.text}


@dataclass(frozen=True, repr=False)
class Verification:
    """The checks of a release, in their order; later ones are missing where they make no sense.

    Attributes
    ----------
    path : str
        The file.
    checks : tuple of Check
    kind : str or None
        What its certificate is of: "release", "partition", "disclosure", "disguised"; None where that cannot
        be read.
    published : Release, Partition, Disclosure, Disguised or None
        What was read; None where it could not be.
    claims : tuple of str
        What the certificate says and nothing has checked.
    warnings, notes : tuple of str
        What it says in words besides, which were checked to be those that go with it. Of one that does not
        hold these are warnings alone. Numbers of tuples that are decided otherwise are only among them where
        they were counted.
    ignored : tuple of str
        With ``ignore_extra=True``: the names, in quotes, of what is in the folder and covered by nothing.
    classifier : str or None
        What was found of the classifier of a release beside the private one; None where that was not
        compared, or is not what the certificate says.
    """

    path: str
    checks: tuple[Check, ...]
    kind: str | None = None
    published: Any = None
    claims: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    classifier: str | None = None

    def _of(self, kind: str) -> Any:
        return self.published if self.kind == kind else None

    @property
    def release(self) -> Release | None:
        """What was read, if that is a release."""
        found: Release | None = self._of("release")
        return found

    @property
    def partition(self) -> Partition | None:
        """What was read, if that is a partition."""
        found: Partition | None = self._of("partition")
        return found

    @property
    def disclosure(self) -> Disclosure | None:
        """What was read, if that is a disclosure."""
        found: Disclosure | None = self._of("disclosure")
        return found

    @property
    def disguised(self) -> Disguised | None:
        """What was read, if that are disguised answers."""
        found: Disguised | None = self._of("disguised")
        return found

    @property
    def ok(self) -> bool:
        """Whether every check was decided and holds; also the truth of the object. Claims are no checks."""
        return self._outcome is True

    @property
    def _outcome(self) -> bool | None:
        return outcome(check.passed for check in self.checks)

    @property
    def verdict(self) -> str:
        """What comes of it: "verified", "not verified", or "not fully checked".

        The last where no check fails, but some could not be made.
        """
        return VERDICTS[self._outcome][0]

    @property
    def exit_code(self) -> int:
        """0, 1 or 3: what `nbcfast verify` leaves with at these three verdicts."""
        return VERDICTS[self._outcome][1]

    @property
    def words(self) -> tuple[str, ...]:
        """What the certificate says in words and was checked: its warnings, and its notes."""
        return (*self.warnings, *self.notes)

    @property
    def conclusion(self) -> str:
        """The verdict, and what it does not cover."""
        found = [check.passed for check in self.checks]
        return verdict(found, len(self.claims), len(self.warnings), len(self.ignored))

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "ok": self.ok,
            "verdict": self.verdict,
            "checks": [check.to_dict() for check in self.checks],
            "claims": list(self.claims),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "ignored": list(self.ignored),
        }

    def __repr__(self) -> str:
        said = {True: "yes", False: "NO", None: "?"}
        lines = [f"  {said[check.passed]:<4} {check.name:<13} {check.text}" for check in self.checks]
        if self.ignored:
            lines.append(f"  {'--':<4} {'folder':<13} {ignored_text(list(self.ignored))}")
        lines += [f"  {CLAIMED} {text}" for text in self.claims]
        lines += [f"  {NOTE} {text}" for text in self.notes]
        lines += [f"  {WARNING} {text}" for text in self.warnings]
        head = f"Verification({self.path}: {self.conclusion})"
        return "\n".join(map(printable, [head, *lines]))


def verify(
    path: str | os.PathLike[str],
    against: Viewset | AnyTable | None = None,
    *,
    tuples: AnyTable | None = None,
    class_name: str | None = None,
    ignore_extra: bool = False,
    progress: Progress | None = None,
) -> Verification:
    """Check a release from its file alone, and with the private counts also that the classifier is the same.

    A partition or a disclosure is checked from its certificate and its table: every demand or template,
    exactly. So are disguised answers, with their scheme.json and cuts.json; whether their coins were thrown
    nobody can see from them. A table.parquet that the certificate names must be what is written for the
    table, byte for byte, for which pyarrow is needed.

    Nothing else may be in the folder: other files and folders are named, hidden ones too, and fail. What is
    no regular file (a pipe, a device, a link out of the folder) fails always, and is never opened.

    Parameters
    ----------
    path : str or path
        The folder that `save` wrote, or the certificate.json in it, which stands for its folder.
    against : Viewset, or Table or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The private views, or the table that
        they count; their attributes, values and classes may stand in another order. A value of the release
        that they do not have counts 0. Rows that are decided otherwise are counted in a table only: views do
        not know which values stand in one row.
    tuples : Table, or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The public list that a canonical
        release keeps its answers on, which is not in its file.
    class_name : str, optional
        The class column of a table that is given as `against`; by default that of the release.
    ignore_extra : bool
        Pass over regular files and folders that the certificate does not name. Then there is no check of
        the folder; they are listed in `.ignored`, as nothing covers them.
    progress : callable, optional
        Called as progress(done, total) while the classifiers are compared.

    Returns
    -------
    Verification
        With `.ok`, `.verdict`, and `.checks`: the file's form and sha256, positive, realistic, Lambda; of a
        canonical release that it is the one that its answers give, and that its points decide as its counts
        do; and with `against` the equivalence that the certificate claims, and with a table the number of
        rows that differ. What stays a claim of the publisher is in `.claims`.

    Raises
    ------
    OSError
        If there is no such file.
    TypeError
        If `against` is something else.

    Examples
    --------
    >>> import nbcfast
    >>> from tempfile import TemporaryDirectory
    >>> from nbcfast.release import Certificate, Release
    >>> views = nbcfast.Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     Release(views, Certificate(amplification=2, tuples=2)).save(folder)
    ...     verify(folder).ok
    True
    """
    if against is not None and not isinstance(against, Viewset):
        against = table_from(against, "against", also="a Viewset")
    if tuples is not None:
        tuples = table_from(tuples, "tuples")
    if class_name is not None and not isinstance(class_name, str):
        raise TypeError(f"class_name must be a str or None, got {type(class_name).__name__}")
    if class_name is not None and not isinstance(against, Table):
        raise ValueError(
            f"class_name must be None, as against is no Table that has such a column, got {class_name!r}"
        )
    if not isinstance(ignore_extra, bool):
        raise TypeError(f"ignore_extra must be True or False, got {ignore_extra!r}")
    where = location(os.fsdecode(path))
    try:
        document = parse_any(content(where))
        checks = [Check("file", True, "complete, canonical, and its sha256 matches")]
        results, ignored = judge_folder(document, where, ignore_extra)
        checks += [Check(*result) for result in results]
        checks += [Check(*result) for result in judge_version(document)]
        if not isinstance(document, Document):
            return _table(document, where, against, checks, ignored)
        release = release_of(document, where)
    except ValueError as error:  # a Refused is one
        known = None if isinstance(error, TooLong) else False
        return Verification(where, (Check("file", known, brief(str(error))),))
    fault = unpositive(document)
    checks.append(Check("positive", fault is None, fault or "no count is 0"))
    fault = unrealistic(document)
    checks.append(
        Check("realistic", fault is None, fault or "for every attribute they add up to the class counts")
    )
    classifier = None
    if checks[-1].passed and checks[-2].passed:  # what is beside the file changes nothing of it
        made = release.certificate
        checks.append(_amplified(document, release))
        if made.r_limit is not None and made.prior is not None:
            checks.append(_close(document, release, made.prior, made.r_limit))
        private, table, fault = None, None, ""
        if against is not None:
            try:
                private, table = _counted(release, against, class_name)
                private = aligned(private, release.views)
            except ValueError as error:
                private, fault = None, f"these are not the views of the release: {error}"
        if made.canonical is not None or tuples is not None:
            checks += _canonical(document, release, tuples, private)
        if private is not None:
            compared, classifier = _compared(release, private, table, tuples, progress)
            checks += compared
        elif against is not None:
            checks.append(Check("equivalence", False, fault))
    return _verification(document, where, checks, release, ignored, classifier)


def _verification(
    document: Form,
    where: str,
    checks: list[Check],
    published: Any,
    ignored: list[str],
    classifier: str | None = None,
) -> Verification:
    """The checks, and what may be said beside them."""
    decided = decisions([(check.name, check.passed, check.text) for check in checks])
    warnings, notes = document.words(decided)
    return Verification(
        where,
        tuple(Check(check.name, check.passed, brief(check.text)) for check in checks),
        document.fields["kind"],
        published,
        tuple(map(brief, document.claims(decided))),
        tuple(map(brief, warnings)),
        tuple(map(brief, notes)),
        tuple(ignored),
        classifier,
    )


def _canonical(document: Document, release: Release, tuples: Any, private: Viewset | None) -> Iterator[Check]:
    """The checks of a canonical release that take its answers."""
    codes = None
    if tuples is not None:
        try:
            codes = answers.codes_of(release, tuples)
        except ValueError as error:
            yield Check("list", False, str(error))
    if release.certificate.canonical is None:
        return
    alike = answers.scorecard(release, codes, document)
    if alike[0] is not False:
        listed = None if codes is None else tuples
        for result in answers.again(release, codes, listed, private):
            yield Check(*result)
    if len(release.views.classes) > 1:
        yield Check("scorecard", *alike)


def _table(
    document: Form,
    where: str,
    against: Viewset | Table | None,
    checks: list[Check],
    ignored: list[str],
) -> Verification:
    """The checks of a thing that has a table in its folder."""
    kind = document.fields["kind"]
    if against is not None:
        raise TypeError(
            f"against is for releases: kind {kind!r} is checked from its own files alone, got a private table"
        )
    folder = os.path.dirname(where)
    rows, results = judge_any(document, folder)
    checks += [Check(*result) for result in results]
    read = None
    if results[0][1]:
        try:
            read = published(document, rows, where)
        except (ValueError, TypeError) as error:  # a demand of so many people that no Partition takes it, say
            checks.append(Check("read", False, str(error)))
    assert isinstance(document, TableForm)
    copy = judge_parquet(document, folder)
    if copy and copy[0][1] is None and read is not None:
        copy = [("parquet", *parquet_check(folder, document, read))]
    checks += [Check(*result) for result in copy]
    return _verification(document, where, checks, read, ignored)


def _amplified(document: Document, release: Release) -> Check:
    """The check of Lambda."""
    made = release.certificate
    kept = lambda_kept(document, release)
    if kept is None:
        return Check("amplification", None, NOT_COMPARED)
    found = f" = {amplification(release.views).text}" if _shown(document) else ""
    half = ", half of the amplification for attacker 'worlds'" if made.attacker == "worlds" else ""
    return Check(
        "amplification", kept, f"Lambda{found} {'<=' if kept else '>'} {limit_text(made.limit)}{half}"
    )


def _close(document: Document, release: Release, prior: tuple[Fraction, ...], r: Fraction) -> Check:
    """The check of r-closeness to the prior of the certificate, in the form of Statement 11."""
    kept = odds_kept(document, release)
    if kept is None:
        return Check("closeness", None, NOT_COMPARED)
    found = f" = {statement11(release.views, prior).text}" if _shown(document) else ""
    text = f"r{found} {'<=' if kept else '>'} {limit_text(r)}, of the odds to those of the prior"
    return Check("closeness", kept, text)


def _shown(document: Document) -> bool:
    """Whether Lambda itself is worked out: that it is compared with the limit takes less."""
    pairs = len(document.classes) ** 2
    return pairs * len(document.attributes) <= MOST_PAIRS and bits(document) <= MOST_SHOWN


def _compared(
    release: Release, private: Viewset, table: Table | None, tuples: Any, progress: Progress | None
) -> tuple[list[Check], str | None]:
    """The checks of what the certificate says about the private views, and a line of what they have found."""
    made, rows = release.certificate, None
    # Where no tuple differs no row does, and it is the tuples that are looked at.
    if table is not None and made.differing_rows is not None and made.differing_tuples != 0:
        places = differing_rows(private, release.views, table, made.preserve, None)
        rows = len(places) if table.weights is None else int(table.weights[places].sum())
    checks, found = _same(release, private, tuples, progress)
    if rows is not None:
        text = f"{amount_text(rows)} rows of the table are decided otherwise"
        same = rows == made.differing_rows
        stated = "as stated" if same else f"the certificate says {amount_text(made.differing_rows or 0)}"
        checks.append(Check("differing", same, f"{text}, {stated}"))
    if found is None or not all(check.passed for check in checks):
        return checks, None
    return checks, same_text(made.preserve, made.tuples, found.differing, found.proof, rows, found.listed)


class Differing(NamedTuple):
    """How many tuples are decided otherwise than by the private views, as was found."""

    differing: int | None  # None: some, and nobody has counted them
    proof: str
    listed: int | None = None  # tuples of a list, where only these were compared


def _same(
    release: Release, private: Viewset, tuples: Any, progress: Progress | None
) -> tuple[list[Check], Differing | None]:
    """The check whether the classifier is as private as the certificate says, and what was found if it is."""
    name = "equivalence"
    made = release.certificate
    if made.identity:
        same = private == release.views
        text = "the counts are the private ones, as stated" if same else "the counts are not the private ones"
        return [Check(name, same, text)], Differing(0, "identity")
    what = "whole order" if made.preserve == "order" else "best class"
    of = f"{amount_text(made.tuples)} tuples"
    if made.canonical is not None and made.canonical.listed is not None:
        if tuples is None:
            text = f"the {what} is claimed on a list of tuples, which is not in the file"
            return [Check(name, None, text)], None
        return _same_on_list(private, release, tuples, what)
    if tuples is not None:
        return [Check(name, False, "the release does not claim anything of a list of tuples")], None
    if made.equal and made.tuples > COMPARED:
        again = _made_again(private, made)
        if again is not None and again.views == release.views:
            proof = again.certificate.equivalence
            text = f"the {what} is the same on all {of}, as of what is made again ({proof})"
            whole = Check("again", True, "made again from these views, the release is this one")
            return [whole, Check(name, True, text)], Differing(0, proof)
    found = compare(private, release.views, preserve=made.preserve, progress=progress)
    if found.equal:
        if made.differing_tuples:
            text = f"no tuple differs, but the certificate says {amount_text(made.differing_tuples)}"
            return [Check(name, False, text)], None
        text = f"the {what} is the same on all {of} ({found.method})"
        return [Check(name, True, text)], Differing(0, found.method)
    if found.equal is False:
        number = "some" if found.differing is None else amount_text(found.differing)
        text = f"the {what} differs on {number} of {of}"
        if made.differing_tuples is None or made.differing_tuples == found.differing:
            stated = "the certificate does not claim otherwise" if made.equal is None else "as stated"
            text = f"{text}, {stated} ({found.method})"
            return [Check(name, True, text)], Differing(found.differing, found.method)
        if not made.equal and found.differing is None:
            claim = f"on {amount_text(made.differing_tuples)}, not decided"
            return [Check(name, None, f"{text}; the certificate says {claim}")], None
        witness = "" if found.witness is None else f", for example {found.witness}"
        claim = "it is the same" if made.equal else f"on {amount_text(made.differing_tuples)}"
        return [Check(name, False, f"{text}, the certificate says {claim}{witness}")], None
    return [Check(name, None, f"undecided: the domain of {of} is too large to compare")], None


def _same_on_list(
    private: Viewset, release: Release, tuples: Any, what: str
) -> tuple[list[Check], Differing | None]:
    """The check of a canonical release that keeps its answers on a public list, and what was found."""
    made, name = release.certificate, "equivalence"
    assert made.canonical is not None
    try:
        codes = codes_of(release, tuples)
    except ValueError as error:
        return [Check(name, False, str(error))], None
    listed = made.canonical.listed
    assert listed is not None
    boxes = (box(views, mode=made.preserve, tuples=codes) for views in (private, release.views))
    differing = difference(*boxes).differing
    of = f"{len(codes):,} listed tuples"
    text = (
        f"the {what} differs on {differing:,} of {of}" if differing else f"the {what} is the same on all {of}"
    )
    if differing == listed.differing:
        text = f"{text}, as stated" if differing else text
        return [Check(name, True, text)], Differing(differing, "enumeration", len(codes))
    claim = f"on {listed.differing:,}" if listed.differing else "it is the same"
    return [Check(name, False, f"{text}, the certificate says {claim}")], None


def _counted(
    release: Release, against: Viewset | Table, class_name: str | None
) -> tuple[Viewset, Table | None]:
    """The private views, and the table that they count, in the bins of the release, where there is one."""
    if isinstance(against, Viewset):
        return against, None
    class_name = release.class_name if class_name is None else class_name
    if class_name is None:
        raise ValueError("the release does not name its class column: give class_name, or a Viewset")
    if against.n_rows == 0:
        raise ValueError("no rows")
    for name in release.views.attributes:  # bins of the release are made here too
        bins = release.views.domain(name)
        if name in against.names and any(isinstance(value, Interval) for value in bins):
            own = against.column(name).domain
            if own.kind in ("int", "float"):
                against = against.bin(name, edges=bins)
    return count(against, class_name, release.views.attributes), against


def _made_again(private: Viewset, made: Certificate) -> Release | None:
    """The release that `safety_transform`, which is deterministic, makes of the private ones."""
    if made.method == "canonical":  # never of domains that are too large to compare
        return None
    if made.method == "est" and made.r is not None:
        try:
            again = est(
                private,
                dict(zip(private.classes, made.prior or (), strict=True)),
                made.r,
                preserve=made.preserve,
                rows="proven",
                gauge=made.gauge,
                attacker=made.attacker,
            )
        except (Infeasible, ValueError):
            return None
        return again if again.certificate.equal else None
    try:
        again = safety_transform(
            private,
            made.amplification,
            preserve=made.preserve,
            rows="proven",
            gauge=made.gauge,
            attacker=made.attacker,
        )
    except (Infeasible, ValueError):
        return None
    return again if again.certificate.equal else None


def aligned(private: Viewset, published: Viewset) -> Viewset:
    """The private counts in the order of attributes, values and classes of the published ones."""
    odd = sorted(set(private.attributes) ^ set(published.attributes))
    if odd:
        owner = "the release" if odd[0] in published.attributes else "the private views"
        raise ValueError(f"only {owner} has the attribute {odd[0]!r}")
    classes = _places(private.class_domain, published.class_domain, "class", private.class_counts)
    if (private.class_counts[classes] == 0).any() or (classes < 0).any():
        place = int(((classes < 0) | (private.class_counts[classes] == 0)).argmax())
        raise ValueError(f"class {published.classes[place]!r} has no private row")
    counts: dict[str, Counts] = {}
    for name in published.attributes:
        array = private.counts[name]
        own, other = private.domains[name], published.domains[name]
        rows = _places(own, other, f"attribute {name!r}: value", (array != 0).any(axis=1))
        spread = zeros((len(other), len(classes)), array)
        spread[rows >= 0] = array[rows[rows >= 0]][:, classes]
        counts[name] = spread
    return Viewset.from_parts(
        private.class_counts[classes].copy(), counts, published.class_domain, published.domains
    )


def _places(own: Any, other: Any, what: str, totals: Counts) -> Any:
    """Where the private domain has each published value, or -1; none that has rows may be missing."""
    missing = own.positions_in(other) < 0
    missing &= np.asarray(totals != 0)
    if missing.any():
        raise ValueError(f"{what} {own.values[int(np.argmax(missing))]!r} is not in the release")
    return other.positions_in(own)
