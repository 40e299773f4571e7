"""`verify`: what the files of a published thing can prove, and what the private views can."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._reading.source import AnyTable, table_from
from nbcfast._wire.advice_checks import ADVICE_CHECK, judge_advice
from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.folder import judge_folder
from nbcfast._wire.form import Form, judge_version, told
from nbcfast._wire.json_entries import TooLong
from nbcfast._wire.kinds import judge_any, parse_any
from nbcfast._wire.menu_checks import judge_menu, menu_of_file, small_text
from nbcfast._wire.menus import resolved
from nbcfast._wire.messages import brief
from nbcfast._wire.regular_files import content, location
from nbcfast._wire.release_checks import NOT_COMPARED
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_checks import judge_list
from nbcfast._wire.strata_form import StrataDocument, checks_of_strata, of_strata
from nbcfast._wire.table_csv import judge_parquet
from nbcfast._wire.table_form import TableForm
from nbcfast.closeness.reached import statement11
from nbcfast.domains import Menu
from nbcfast.frames import Frame
from nbcfast.mondrian.partition import Partition
from nbcfast.policies import AnyPolicy, Policy, shown_rules
from nbcfast.policies.menu_choices import chosen_in
from nbcfast.published.base import Published
from nbcfast.published.limits import bits, lambda_kept, odds_kept
from nbcfast.published.release import Release
from nbcfast.published.restored import release_of, strata_of
from nbcfast.published.strata import StratifiedRelease
from nbcfast.published.table_lines import parquet_check
from nbcfast.published.typed import limit_text
from nbcfast.safety.amplification import amplification
from nbcfast.table import Table
from nbcfast.table.values import Value
from nbcfast.templates.results import Disclosure
from nbcfast.verification.compared import aligned, beside_exact, compared, counted, stratified
from nbcfast.verification.load import published
from nbcfast.verification.remade import Answers, codes_of
from nbcfast.verification.results import Check, Verification
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._wire.menus import Resolved
    from nbcfast._wire.outcomes import Judged


MOST_SHOWN = 1 << 24  # bits of products up to which Lambda is worked out, and not only compared
MOST_PAIRS = 1 << 14  # of classes, for each attribute, up to which it is


def verify(
    path: str | os.PathLike[str],
    against: Viewset | AnyTable | None = None,
    *,
    tuples: AnyTable | None = None,
    menu: Mapping[str, object] | str | os.PathLike[str] | None = None,
    policy: AnyPolicy | None = None,
    class_name: str | None = None,
    ignore_extra: bool = False,
    for_the_owner: bool = False,
    progress: Progress | None = None,
) -> Verification:
    """Check a release from its file alone, and with the private counts also that the classifier is the same.

    Of strata each is checked as the release that it is, and a check holds where it holds in every stratum.
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
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private views, or the table that they count; their attributes, values and classes may stand
        in another order. A value of the release that they do not have counts 0. Rows that are decided
        otherwise are counted in a table only: views do not know which values stand in one row.
    tuples : Table, or what it is made of, optional
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The public list that a canonical release keeps its answers on, which is not in its file.
    menu : mapping, or path of a JSON file, optional
        The menu that the domain of a release was chosen from: also check that it is the menu that the
        certificate names, and that the domain is that option of it for every attribute. Files of hierarchies
        are looked for beside the file, of a mapping in the current folder. The rows of `against` are put into
        its sets, of which nothing else says what is in them.
    policy : Policy, mapping, or path of a TOML file, optional
        See `nbcfast.policies`: also check that the certificate of a release names it, and that what the file
        by itself shows of its demands is kept. Everything else is looked at by `nbcfast.gate`.
    class_name : str, optional
        The class column of a table that is given as `against`; by default that of the release.
    ignore_extra : bool
        Pass over regular files and folders that the certificate does not name. Then there is no check of
        the folder; they are listed in `.ignored`, as nothing covers them.
    for_the_owner : bool
        Of a release that was made of noisy counts, `against` is refused without it: what is found beside the
        exact counts is hidden by no noise. With it `classifier` says how many tuples, and rows of a table,
        are decided otherwise, which is for the owner of the rows alone and no check of the release.
    progress : callable, optional
        Called as progress(done, total) while a canonical release is made again, and while classifiers are
        compared. Where the certificate says that the classifier was smoothed, the private one is smoothed by
        as much first.

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
        If `against`, `menu` or `policy` is something else.
    ValueError
        If `menu` is no menu, `policy` no policy, or `against` is given of a release of noisy counts and
        `for_the_owner` is not.

    Examples
    --------
    >>> import nbcfast
    >>> from tempfile import TemporaryDirectory
    >>> from nbcfast import Certificate, Release
    >>> views = nbcfast.Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     Release(views, Certificate(amplification=2, tuples=2)).save(folder)
    ...     verify(folder).ok
    True
    """
    against = against if isinstance(against, Viewset) else _table_or_frame(against, "against", "a Viewset")
    tuples = _table_or_frame(tuples, "tuples")
    _expect_asked(against, class_name, ignore_extra, for_the_owner)
    offered = None if menu is None else _menu(menu)
    demands = None if policy is None else Policy.of(policy)
    where = location(os.fsdecode(path))
    try:
        document = parse_any(content(where))
        results: Judged = [("file", True, "complete, canonical, and its sha256 matches")]
        of_folder, ignored = judge_folder(document, where, ignore_extra)
        results += of_folder
        results += judge_version(document)
        if isinstance(document, StrataDocument):
            strata = strata_of(document, where)
        elif not isinstance(document, ReleaseDocument):
            return _table(document, where, against, results, ignored, offered, demands)
        else:
            alone, release = _alone(document), release_of(document, where)
    except ValueError as error:  # a Refused is one
        known = None if isinstance(error, TooLong) else False
        return Verification(where, (Check("file", known, brief(str(error))),))
    _expect_owner(document, against is not None, for_the_owner)
    made = strata if isinstance(document, StrataDocument) else release
    against = against if isinstance(against, Viewset) else _rows(against, made, class_name, menu)
    if isinstance(document, StrataDocument):
        rows = _rows_alone(against, tuples)
        found = _strata(document, strata, rows, class_name, progress)
        results += [*found.results, *([] if offered is None else judge_menu(document, offered))]
        results += _policed(demands, strata if found.is_sound else None)
        checked = _verification(document, where, results, strata, ignored, found.classifier)
        return replace(checked, each=found.each)
    results += alone.sound
    classifier = None
    if alone.is_sound:  # what is beside the file changes nothing of it
        of_counts, classifier = _of_counts(
            document,
            release,
            alone.advice,
            against,
            _fetched(tuples, release.views.attributes),
            class_name,
            progress,
        )
        results += of_counts
    results += [] if offered is None else judge_menu(document, offered)
    results += _policed(demands, release if alone.is_sound else None)
    return _verification(document, where, results, release, ignored, classifier)


def _table_or_frame(given: AnyTable | None, where: str, also: str = "") -> Table | Frame | None:
    """A table; a Frame stays where it is until it is known what is needed of it."""
    if given is None or isinstance(given, Frame):
        return given
    return table_from(given, where, also=also)


def _rows_alone(against: Viewset | Table | None, tuples: Table | Frame | None) -> Table | None:
    """The private rows; all else says nothing of strata, and is refused."""
    if tuples is not None:
        raise ValueError("tuples must be None: strata keep their answers on the whole domain")
    if isinstance(against, Viewset):
        raise TypeError("against must be a table where there are strata: views do not know their rows")
    return against


def _fetched(given: Table | Frame | None, names: Container[str | None]) -> Table | None:
    """What is compared with: of a Frame those of these columns that it has."""
    if not isinstance(given, Frame):
        return given
    return given.weighted([name for name in given.names if name in names])


def _rows(
    given: Table | Frame | None,
    published: Release | StratifiedRelease,
    class_name: str | None,
    menu: Mapping[str, object] | str | os.PathLike[str] | None,
) -> Table | None:
    """The private rows that a release is compared with, in the sets that a menu says what is in."""
    named, first = class_name or published.class_name, published
    names: set[str | None] = {named}
    if isinstance(first, StratifiedRelease):
        names.add(first.by)
        first = first.first
    rows = _fetched(given, {*names, *first.views.attributes})
    if rows is None or menu is None:
        return rows
    try:
        return chosen_in(Menu.read(menu, named), first).applied(rows, every=False)
    except (TypeError, ValueError):  # another menu or other rows, which the checks say; or it is done already
        return rows


def _policed(policy: Policy | None, published: Release | StratifiedRelease | None) -> Judged:
    """The check of a policy that was given: of releases whose counts are those of some table."""
    if policy is None:
        return []
    if published is None:
        return [("policy", False, "a policy is of releases, and of sound ones")]
    rules = shown_rules(policy, published)
    broken = [f"{rule.name}: {rule.text}" for rule in rules if rule.state == "no"]
    if not any(rule.name == "policy" for rule in rules):
        broken.insert(0, "the certificate names no policy that it was published under")
    if broken:
        return [("policy", False, "; ".join(broken))]
    kept = [rule.name for rule in rules if rule.state == "yes" and rule.name != "policy"]
    left = len(rules) - len(kept) - 1
    more = f"; of {left:,} other demands it shows nothing: nbcfast gate" if left else ""
    text = f"the certificate names this policy, and shows that it is kept in {', '.join(kept)}{more}"
    return [("policy", True, text)]


def _expect_asked(
    against: Viewset | Table | Frame | None, class_name: object, ignore_extra: object, for_the_owner: object
) -> None:
    """Refuse arguments that are of another type, or do not go together."""
    if class_name is not None and not isinstance(class_name, str):
        raise TypeError(f"class_name must be a str or None, got {type(class_name).__name__}")
    if class_name is not None and not isinstance(against, Table | Frame):
        raise ValueError(
            f"class_name must be None, as against is no Table that has such a column, got {class_name!r}"
        )
    for name, given in (("ignore_extra", ignore_extra), ("for_the_owner", for_the_owner)):
        if not isinstance(given, bool):
            raise TypeError(f"{name} must be True or False, got {given!r}")
    if for_the_owner and against is None:
        raise ValueError("for_the_owner goes with against, got none")


def _expect_owner(document: Form, compared: bool, for_the_owner: bool) -> None:
    """Refuse to compare noisy counts with exact ones, unless it is the owner of the rows who asks."""
    noisy = isinstance(document, ReleaseDocument) and document.privacy is not None
    if noisy and compared and not for_the_owner:
        raise ValueError(
            "against does not go with a release that was made of noisy counts: it never was that of exact "
            "ones, and what is found beside them is hidden by no noise; for_the_owner=True says it to the "
            "owner of the rows"
        )
    if for_the_owner and not noisy:
        raise ValueError(
            "for_the_owner goes with a release that was made of noisy counts, got one of exact counts"
        )


def _menu(menu: Mapping[str, object] | str | os.PathLike[str]) -> Resolved:
    """The menu that was given, resolved."""
    if isinstance(menu, str | os.PathLike):
        path = os.fsdecode(menu)
        try:
            return menu_of_file(path)
        except ValueError as error:
            raise ValueError(f"menu {path}: {error}") from None
    if not isinstance(menu, Mapping):
        raise TypeError(f"menu must be a mapping or the path of a JSON file, got {type(menu).__name__}")
    return resolved(dict(menu), small_text)


class OfDocument(NamedTuple):
    """What a document says by itself, before a release is made of it.

    Attributes
    ----------
    sound : list of (name, holds, text)
        The checks that counts are those of some table; without, others make no sense.
    advice : list of (name, holds, text)
        What is said of the choice of the domain, as far as points and numbers of the document tell.
    """

    sound: Judged
    advice: Judged

    @property
    def is_sound(self) -> bool:
        return all(holds for _, holds, _ in self.sound)


def _alone(document: ReleaseDocument) -> OfDocument:
    zero, off = unpositive(document), unrealistic(document)
    sound: Judged = [
        ("positive", zero is None, zero or "no count is 0"),
        ("realistic", off is None, off or "for every attribute they add up to the class counts"),
    ]
    return OfDocument(sound, judge_advice(document))


class OfStrata(NamedTuple):
    """The checks of strata together, and of each; and what was found of the private classifiers.

    `is_sound` says whether the counts of each are those of some table: without, others make no sense.
    """

    results: Judged
    each: tuple[tuple[Value, tuple[Check, ...]], ...]
    classifier: str | None
    is_sound: bool


def _strata(
    document: StrataDocument,
    made: StratifiedRelease,
    against: Table | None,
    class_name: str | None,
    progress: Progress | None,
) -> OfStrata:
    """The checks of a list of releases: each alone, and the list as a whole."""
    alone = [_alone(own) for own in document.releases]
    each = [of_document.sound for of_document in alone]
    classifiers: list[str] = []
    fault = None
    is_sound = all(of_document.is_sound for of_document in alone)
    if is_sound:
        strata: dict[Value, Table] = {}
        if against is not None:
            try:
                strata = stratified(made, against)
            except ValueError as error:
                fault = f"these are not the rows of the release: {error}"
        for of_document, own, (value, release) in zip(
            alone, document.releases, made.strata.items(), strict=True
        ):
            rows = strata.get(value)
            of_counts, classifier = _of_counts(
                own, release, of_document.advice, rows, None, class_name, progress
            )
            of_document.sound.extend(of_counts)
            classifiers += [] if classifier is None else [classifier]
    together = judge_list(document) + checks_of_strata(document.labels, each)
    if fault is not None:
        together.append(("equivalence", False, fault))
    said = None
    if len(classifiers) == len(each):
        said = "; ".join(of_strata(document.labels, [[text] for text in classifiers]))
    of_each = tuple(
        (value, tuple(Check(*result) for result in results))
        for value, results in zip(made.strata, each, strict=True)
    )
    return OfStrata(together, of_each, said, is_sound)


def _of_counts(
    document: ReleaseDocument,
    release: Release,
    advice: Judged,
    against: Viewset | Table | None,
    tuples: Table | None,
    class_name: str | None,
    progress: Progress | None,
) -> tuple[Judged, str | None]:
    """The checks of counts that some table has, and a line of what was found of the private classifier."""
    results, classifier = [_amplified(document, release), *_advised(document, release, advice)], None
    if document.prior is not None and document.r is not None:
        results.append(_close(document, release, tuple(document.prior), document.r))
    private, table, fault = None, None, ""
    if against is not None and release.certificate.privacy is not None:
        classifier = beside_exact(release, against, class_name, progress)
    elif against is not None:
        try:
            private, table = counted(release, against, class_name)
            private = aligned(private, release.views)
            if release.certificate.smoothing is not None:
                private = private.smoothed(release.certificate.smoothing)
        except ValueError as error:
            private, fault = None, f"these are not the views of the release: {error}"
    if document.canonical is not None or tuples is not None:
        results += _canonical(document, release, tuples, private, progress)
    if private is not None:
        of_classifier, classifier = compared(release, private, table, tuples, progress)
        results += of_classifier
    elif fault:
        results.append(("equivalence", False, fault))
    return results, classifier


def _verification(
    document: Form,
    where: str,
    results: Judged,
    published: Published | None,
    ignored: list[str],
    classifier: str | None = None,
) -> Verification:
    """The checks, and what may be said beside them."""
    said = told(document, results)
    return Verification(
        where,
        tuple(Check(*result) for result in said.results),
        document.fields["kind"],
        published,
        tuple(said.claims),
        tuple(said.warnings),
        tuple(said.notes),
        tuple(ignored),
        classifier,
    )


def _advised(document: ReleaseDocument, release: Release, advice: Judged) -> Judged:
    """The check of what is said of the choice of the domain; bits a weight are those of the answers."""
    made = release.certificate.canonical
    if made is None or not advice or advice[0][1] is False:
        return advice
    return [(ADVICE_CHECK, *Answers(document, release, made).bits_kept())]


def _canonical(
    document: ReleaseDocument,
    release: Release,
    tuples: Table | None,
    private: Viewset | None,
    progress: Progress | None,
) -> Iterator[tuple[str, bool | None, str]]:
    """The checks of a canonical release that take its answers."""
    codes = None
    if tuples is not None:
        try:
            codes = codes_of(release, tuples)
        except ValueError as error:
            yield "list", False, str(error)
    made = release.certificate.canonical
    if made is None:
        return
    answers = Answers(document, release, made, None if codes is None else tuples, codes, progress)
    alike = answers.scorecard()
    if alike[0] is not False:
        yield from answers.again(private)
    if len(document.classes) > 1:
        yield "scorecard", *alike


def _table(
    document: Form,
    where: str,
    against: Viewset | Table | Frame | None,
    results: Judged,
    ignored: list[str],
    offered: Resolved | None,
    policy: Policy | None = None,
) -> Verification:
    """The checks of a thing that has a table in its folder."""
    kind = document.fields["kind"]
    if against is not None:
        raise TypeError(
            f"against is for releases: kind {kind!r} is checked from its own files alone, got a private table"
        )
    folder = os.path.dirname(where)
    rows, of_table = judge_any(document, folder)
    results += of_table
    restored = None
    if of_table[0][1]:
        try:
            restored = published(document, rows, where)
        except (ValueError, TypeError) as error:  # a demand of so many people that no Partition takes it, say
            results.append(("read", False, str(error)))
    assert isinstance(document, TableForm)
    copy = judge_parquet(document, folder)
    if copy and copy[0][1] is None:
        if isinstance(restored, Partition):
            copy = [("parquet", *parquet_check(folder, document, restored.counted))]
        elif isinstance(restored, Disclosure):
            copy = [("parquet", *parquet_check(folder, document, restored.collapsed))]
    of_menu = [] if offered is None else judge_menu(document, offered)
    results += [*copy, *of_menu, *_policed(policy, None)]
    return _verification(document, where, results, restored, ignored)


def _amplified(document: ReleaseDocument, release: Release) -> tuple[str, bool | None, str]:
    """The check of Lambda."""
    kept = lambda_kept(document, release)
    if kept is None:
        return "amplification", None, NOT_COMPARED
    limit, is_shown = limit_text(release.certificate.limit), _shown(document)
    reached = f" = {amplification(release.views).text}" if is_shown else ""
    half = ", half of the amplification for attacker 'worlds'"
    text = f"Lambda{reached} {'<=' if kept else '>'} {limit}"
    return "amplification", kept, text + (half if document.fields["attacker"] == "worlds" else "")


def _close(
    document: ReleaseDocument, release: Release, prior: tuple[Fraction, ...], r: Fraction
) -> tuple[str, bool | None, str]:
    """The check of r-closeness to the prior of the certificate, in the form of Statement 11."""
    kept = odds_kept(document, release)
    if kept is None:
        return "closeness", None, NOT_COMPARED
    reached = f" = {statement11(release.views, prior).text}" if _shown(document) else ""
    text = f"r{reached} {'<=' if kept else '>'} {limit_text(r)}, of the odds to those of the prior"
    return "closeness", kept, text


def _shown(document: ReleaseDocument) -> bool:
    """Whether Lambda itself is worked out: that it is compared with the limit takes less."""
    pairs = len(document.classes) ** 2
    most = MOST_SHOWN // document.sharing
    return pairs * len(document.attributes) <= MOST_PAIRS and bits(document) <= most
