"""A release beside the private table that it may have been made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

import nbcfast
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.printing import readable
from nbcfast.cli.reading import Reading, expect_rows
from nbcfast.domains import Declared, Menu
from nbcfast.domains.missing import like_nulls
from nbcfast.policies.menu_choices import chosen_in
from nbcfast.published.placing import in_domains
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.inputs import texts_in
from nbcfast.reports.summary import Decision
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.results import Verification


def private_table(
    release: Release | StratifiedRelease,
    against: Path,
    class_name: str,
    reading: Reading,
    declared: Declared | None = None,
) -> nbcfast.Table:
    """The private table: the columns that the release has, in its bins and sets, and the class.

    Bins are those of the release; which values are in a set only what was `declared` says.
    """
    views = release.views if isinstance(release, Release) else release.columns
    names = list(views.attributes)
    for option, column in (("--class", class_name), ("--weights", reading.weights)):
        if column in names:
            raise ValueError(f"{option} must be none of the attributes of the release, got {column!r}")
    texts = {name: [""] for name in texts_in(views, class_name, declared)}
    table = expect_rows(against, reading.like(against, texts).with_class(against, class_name, names))
    if declared is not None and class_name in declared.options:
        of_class = replace(declared, options={class_name: declared.options[class_name]}, widths={})
        table = of_class.applied(table)
    return in_domains(table, views.domains, declared)


def read_otherwise(
    verification: Verification,
    release: Release,
    against: Path,
    table: nbcfast.Table,
    reading: Reading,
    declared: Declared | None = None,
) -> str | None:
    """What may be the matter where a classifier is not that of the table: it may have been read otherwise."""
    if all(check.passed is not False for check in verification.checks if check.name == "equivalence"):
        return None
    left_out = reading.left_out(against)
    if declared is None and has_sets(release, table):
        left_out += ["--domain FILE", "--group NAME=FILE"]
        if release.certificate.advice is not None:
            left_out.append("--menu FILE")
    total = table.n_rows if table.weights is None else int(table.weights.sum())
    counted = f"{against}, as it was read, counts {total:,} in all"
    if release.certificate.identity:
        stated = int(release.views.n_rows)
        if stated == total:  # so the rows were weighted alike
            left_out = [option for option in left_out if not option.startswith("--weights")]
        counted += f", and the release, which states that its counts are the private ones, {readable(stated)}"
    else:
        counted += ", and of how many the release was made its certificate does not say"
    if not left_out:
        return f"{counted}."
    several = f"{', '.join(left_out[:-1])} or {left_out[-1]}" if len(left_out) > 1 else left_out[0]
    return f"{counted}. If it was published with {several}, give the same here: without, the answer stays no."


def read_with_nulls(
    release: Release | StratifiedRelease, against: Path, table: nbcfast.Table, reading: Reading
) -> list[Decision]:
    """The command that reads as null what the table has where the release has null; none where nothing is."""
    views = release.views if isinstance(release, Release) else release.columns
    texts: dict[str, None] = {}
    for name in views.attributes:
        domain = views.domain(name)
        if None in domain and name in table.names:
            texts |= dict.fromkeys(text for text in like_nulls(table.domain(name)) if text not in domain)
    if not texts:
        return []
    said = " and ".join(map(repr, texts))
    question = f"If {said} of {printable(str(against))} says that a value is missing, compare again."
    more = [word for text in (*(reading.nulls or ("",)), *texts) for word in ("--null", text)]
    return [Decision(question, (asked(click.get_current_context(), without={"nulls"}, more=more),))]


def has_sets(release: Release, table: nbcfast.Table) -> bool:
    """Whether values of a release are texts that may be names of sets: declared, or those of no row."""
    canonical = release.certificate.canonical
    undeclared = release.views.attributes if canonical is None else canonical.undeclared
    return any(
        isinstance(value, str) and value not in of_rows
        for name in release.views.attributes
        for of_rows in [{*table.domain(name)} if name in undeclared else ()]
        for value in release.views.domain(name)
    )


def lacks_sets(release: Release, table: nbcfast.Table) -> bool:
    """Whether rows have no place in columns whose values seem to be sets, which only a file explains."""
    certificate = release.certificate
    canonical = certificate.canonical
    from_rows = release.views.attributes if canonical is None else canonical.undeclared
    for name in release.views.attributes:
        if name in from_rows and certificate.advice is None:
            continue
        published, raw = {*release.views.domain(name)}, {*table.domain(name)}
        if raw - published and any(isinstance(value, str) for value in published - raw):
            return True
    return False


def chosen_of(menu: Path, release: Release, class_name: str | None) -> Declared | None:
    """The domain of a menu that a release was published on: how rows are put into its sets.

    Its certificate says which, or, where it names no menu, its values show it.
    """
    offered = Menu.read(menu, class_name, OPTIONS)
    try:
        return replace(chosen_in(offered, release), words=OPTIONS)
    except ValueError:  # it is another menu, which the checks will say
        return None


class Provenance(NamedTuple):
    """Whether a release can have been made of a table; None where that was not checked.

    Rows whose values have no place in the release for want of the file that has its sets are not `in_sets`.
    """

    file: str
    answers_are_its: bool | None
    text: str
    in_sets: bool = True


def compared_with(
    release: Release,
    folder: Path,
    against: Path,
    class_name: str,
    reading: Reading,
    declared: Declared | None = None,
) -> Provenance:
    """Whether a release can have been made of a table: by its answers, as `verify --against` asks."""
    if release.certificate.privacy is not None:
        text = f"whether the release was made of {against} was not checked: it was made of noisy counts"
        return Provenance(str(against), None, text)
    hint = None
    passed: bool | None = False
    in_sets = True
    try:
        table = private_table(release, against, class_name, reading, declared)
    except ValueError as error:
        why = str(error)
    else:
        with progress("comparing") as report:
            verification = verified(folder, table, class_name=class_name, ignore_extra=True, progress=report)
        # Where the answers are those of the table, and yet not so many of its rows are decided otherwise as
        # the certificate says, it is another table all the same.
        checks = [check for check in verification.checks if check.name in ("equivalence", "differing")]
        checks.sort(key=lambda check: (check.passed is not False, check.name != "equivalence"))
        passed = checks[0].passed if checks else None
        why = checks[0].text if checks else verification.conclusion
        hint = read_otherwise(verification, release, against, table, reading, declared)
        in_sets = passed is not False or declared is not None or not lacks_sets(release, table)
    if passed:
        text = f"its answers are those of the release: {why}"
    elif passed is None:
        text = f"whether the release was made of {against} was not checked: {why}"
    elif in_sets:
        text = (
            f"The release was not made of {against} as it was read, so what it says of counts "
            f"recovered and of members means nothing: {why}.{'' if hint is None else f' {hint}'}"
        )
    else:
        text = (
            f"Which values are in the sets of the release only a file says, so the rows of {against} could "
            f"not be put into them, and neither counts nor members were compared: {why}."
            f"{'' if hint is None else f' {hint}'}"
        )
    return Provenance(str(against), passed, text, in_sets)
