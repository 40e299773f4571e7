"""What is made of a published release: rows with a class, points, a file that other programs run, a page."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._core.chances import share_text
from nbcfast._markup.pages import MOST_BYTES
from nbcfast._wire.messages import listing, named
from nbcfast.published.exported import Exported
from nbcfast.published.release import Release
from nbcfast.published.right_answers import RightAnswers
from nbcfast.published.scored_file import Tally
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.one_answer import ABOUT, NO_BETTER, always_answered
from nbcfast.publishing.words import label
from nbcfast.reports.checks_in_words import verified_text
from nbcfast.reports.fact_sheet import FactSheet
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state
from nbcfast.reports.verification_summary import FAILED
from nbcfast.verification.results import Verification

MOST_SHOWN = 20  # attributes with unknown values that have a line


def release_checked(found: Verification, where: str) -> GateFinding:
    """That what is used was verified, as far as that could be done."""
    if found.ok:
        return GateFinding("release", "kept", f"every check of {where} holds")
    undecided = [check for check in found.checks if check.passed is None]
    if [check.name for check in undecided] == ["menu"]:  # which the reader gave
        return GateFinding("release", "unmeasured", f"{where} is not fully checked: {undecided[0].text}")
    names = ", ".join(check.name for check in undecided)
    text = f"{where} is not fully checked: {names}; see nbcfast verify"
    return GateFinding("release", "unmeasured", text)


def of_unverified(found: Verification, about: str) -> Summary:
    """What nothing is made of, as some check does not hold."""
    failed = tuple(
        GateFinding(check.name, "shows", check.text) for check in found.checks if check.passed is False
    )
    verdict = "NOT WRITTEN: the release does not verify"
    return Summary(verdict, "shows", about, failed, (Decision(FAILED),))


def of_predicted(
    tally: Tally,
    checked: GateFinding,
    about: str,
    decisions: Sequence[Decision] = (),
    remarks: Sequence[str] = (),
) -> Summary:
    """How many rows of a file have a class, why others have none, and what was left out."""
    findings = [checked, *right_findings(tally)]
    strays = tally.strays
    for name, n in list(strays.rows.items())[:MOST_SHOWN]:
        rows = "1 row has" if n == 1 else f"{n:,} rows have"
        values = "a value" if n == 1 else "values"
        text = f"{rows} {values} that the release does not know, the first {label(strays.first[name])}"
        findings.append(GateFinding(label(name), "warned", text))
    if len(strays.rows) > MOST_SHOWN:
        text = f"{len(strays.rows) - MOST_SHOWN:,} more attributes have values that the release does not know"
        findings.append(GateFinding("unknown", "warned", text))
    if tally.unknown:
        text = f"{tally.unknown:,} of {tally.rows:,} rows: nothing is guessed for them"
        findings.append(GateFinding("no class", "warned", text))
    if tally.partial:
        findings.append(GateFinding("partly known", "warned", _partial_text(tally)))
    ordered = sorted_findings(findings)
    verdict = predicted_text(tally)
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), tuple(remarks))


def _partial_text(tally: Tally) -> str:
    """Of how many rows something is left out, and for how many nothing remains."""
    text = f"{tally.partial:,} of {tally.rows:,} rows: decided without the attributes named here"
    if tally.by_prior:
        text += f", {tally.by_prior:,} of them without any, by the class counts alone"
    return text


def right_findings(tally: Tally) -> list[GateFinding]:
    """For how many rows the label is the class that they have, where the file has it."""
    found = tally.right
    if found is None:
        return []
    findings = []
    if found.rows:
        rows = "1 row that has its" if found.rows == 1 else f"{found.rows:,} rows that have their"
        right, alone = (share_text(n, found.rows, up=False) for n in (found.right, found.most))
        text = (
            f"right for {right} of {rows} class ({found.right:,}); the most frequent class alone: {alone} "
            f"({found.most:,})"
        )
        findings.append(GateFinding("accuracy", "warned" if found.right < found.most else "kept", text))
        if found.right <= found.most < found.rows:
            findings.append(GateFinding(ABOUT, "warned", _one_answer_text(found, tally)))
    else:
        text = f"no row has both an answer and its class in {named(found.name)}"
        findings.append(GateFinding("accuracy", "unmeasured", text))
    if found.others:
        what = "1 row has" if found.others == 1 else f"{found.others:,} rows have"
        text = f"{what} a value in {named(found.name)} that is no class of the release, the first "
        findings.append(GateFinding("other classes", "warned", f"{text}{label(found.first)}"))
    return findings


def _one_answer_text(found: RightAnswers, tally: Tally) -> str:
    """That to answer everybody alike would be as good."""
    answered = [value for value, n in zip(found.classes.values, tally.of_class.tolist(), strict=True) if n]
    if len(answered) == 1:
        return f"answers {label(answered[0])} to everybody: {NO_BETTER}"
    frequent = label(found.classes.values[int(found.of_class.argmax())])
    return f"right no more often than always to say {frequent}: {NO_BETTER}"


def predicted_text(tally: Tally) -> str:
    """How many rows have a class, in one sentence."""
    rows, unknown = tally.rows, tally.unknown
    if not rows:
        return "nothing to predict: the file has no rows"
    if not unknown:
        many = f", {tally.partial:,} of them" if rows > 1 else ","
        partly = f"{many} without some attribute" if tally.partial else ""
        return f"predicted: {'the row' if rows == 1 else f'all {rows:,} rows'}{partly}"
    none = f"{unknown:,} {'has' if unknown == 1 else 'have'} no class"
    return f"predicted: {rows - unknown:,} of {rows:,} rows, and {none}"


def of_exported(
    made: Exported, checked: GateFinding, about: str, decisions: Sequence[Decision] = ()
) -> Summary:
    """Whether a file that other programs run decides as the release does."""
    findings = [checked]
    if made.identical is None:
        findings.append(GateFinding("same decisions", "unmeasured", "not compared with the release"))
    else:
        all_of_it = made.compared == made.tuples
        gives = "give" if made.runtime is not None and " and " in made.runtime else "gives"
        text = f"{made.runtime} {gives} {made.compared:,} of {made.tuples:,} tuples the class of the release"
        rest = "" if all_of_it else "; the others, further from a change of class, were not compared"
        findings.append(GateFinding("same decisions", "kept" if all_of_it else "warned", text + rest))
    if made.sets:
        text = (
            f"the file takes published values alone, and those of {listing(made.sets)} may be names of sets "
            "or bins: then rows as they are get no class"
        )
        findings.append(GateFinding("raw rows", "warned", text))
    if made.dates:
        text = f"the file takes bins of {listing(made.dates)} by their names: dates get no class"
        findings.append(GateFinding("dates", "warned", text))
    if made.nulls and not made.null_values and made.format != "html":
        values = "of" if len(made.nulls) == 1 else "of each of"
        text = (
            f"a missing value is one {values} {listing(made.nulls)}, and here that is {made.null}: rows in "
            "which a text such as '?' says it get no class"
        )
        findings.append(GateFinding("missing values", "warned", text))
    text = f"sha256 {made.sha256}, which the file says too"
    findings.append(GateFinding("certificate", "kept", text))
    ordered = sorted_findings(findings)
    return Summary(made.text, worst_state(ordered), about, ordered, tuple(decisions))


def columns_with_null(published: object) -> list[str]:
    """The columns of a release of which a missing value is published; of other tables nothing is decided."""
    if isinstance(published, Release):
        views = published.views
        return [name for name in views.attributes if None in views.domain(name)]
    if isinstance(published, StratifiedRelease):
        by = [published.by] if None in published.strata else []
        return [*by, *columns_with_null(published.first)]
    return []


def of_sheet(sheet: FactSheet, about: str, decisions: Sequence[Decision] = ()) -> Summary:
    """What page was written for the public, and what of it is not whole."""
    found = sheet.verification
    said = f"{verified_text(found)} checks of the published files hold"
    if not found.ok:
        said += "; the others could not be made, and the page says so"
    findings = [GateFinding("checked", "kept" if found.ok else "unmeasured", said)]
    if not sheet.whole:
        text = f"a page has {MOST_BYTES:,} bytes at most: not all is shown, and it says how much is not"
        findings.append(GateFinding("the rule", "warned", text))
    if found.warnings:
        text = f"{len(found.warnings)} of the certificate, which stand first on the page"
        findings.append(GateFinding("warnings", "warned", text))
    made = found.published
    if isinstance(made, Release | StratifiedRelease):
        findings += always_answered([made] if isinstance(made, Release) else [*made.strata.values()])
    ordered = sorted_findings(findings)
    remark = "It is made of the published files alone, and may go where they go."
    state = worst_state(ordered)
    return Summary("fact sheet written", state, about, ordered, tuple(decisions), (remark,))
