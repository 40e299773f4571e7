"""The checks of a published thing in words, and what it claims and does not promise."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._markup.elements import Element, element
from nbcfast._markup.page_parts import card, findings, paragraph, steps
from nbcfast._wire.form import Form
from nbcfast._wire.kinds import judge_any
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.strata_form import StrataDocument
from nbcfast.reports.verification_summary import check_text
from nbcfast.verification.results import STATE_OF, Check, Verification

# What each check is about, for who does not know our names.
CHECKS = {
    "advice": "The answers are no finer than was asked of the choice",
    "again": "Made from its answers alone",
    "amplification": "The limit is kept",
    "canonical": "Made from its answers alone",
    "closeness": "Odds stay near those of the prior",
    "coins": "Whose coins were thrown",
    "cuts": "Where columns were cut in two",
    "differing": "How many cases are decided otherwise",
    "diversity": "Values within groups differ",
    "file": "The file is whole",
    "folder": "Nothing else is in the folder",
    "groups": "The groups are those that are claimed",
    "hidden": "No coin gives the truth away",
    "k": "Groups are large enough",
    "list": "The list of cases",
    "menu": "The menu is the one that is claimed",
    "parquet": "The copy of the table is the same",
    "positive": "No count is zero",
    "privacy": "What the coins hide",
    "read": "The table can be read",
    "realistic": "Some table has these counts",
    "rows": "The people are as many as claimed",
    "scheme": "The scheme is that of the certificate",
    "scorecard": "Points and counts decide alike",
    "strata": "The classifiers belong together",
    "table": "The table is that of the certificate",
    "untouched": "What is told as it is",
    "version": "The version is known",
    "words": "Warnings are those that belong there",
}


def about_check(check: Check) -> str:
    """What a check is about; those of demands and templates are named by themselves."""
    if check.name in CHECKS:
        return CHECKS[check.name]
    if check.name.startswith("("):
        return f"Kept at {check.name}"
    return check.name.capitalize()


def left_to_nbcfast(document: Form, verification: Verification) -> list[str]:
    """What the checks are about that verify_release.py leaves open, and nbcfast makes.

    Of tables both make the same.
    """
    if not isinstance(document, ReleaseDocument | StrataDocument):
        return []
    left = {name for name, holds, _ in judge_any(document, "")[1] if holds is None}
    made = [check for check in verification.checks if check.passed is not None and check.name in left]
    return [*dict.fromkeys(about_check(check) for check in made)]


def checked_card(verification: Verification, left: Sequence[str], title: str = "What was checked") -> Element:
    """Each check of the files, and how to make them oneself; `left` is what takes nbcfast itself."""
    told = [(STATE_OF[check.passed], about_check(check), check_text(check)) for check in verification.checks]
    many = len(verification.checks)
    decided = sum(check.passed is not None for check in verification.checks)
    every = "every check above" if decided == many else f"{decided:,} of the {many:,} checks above"
    alone = decided - sum(about_check(check) in left for check in verification.checks)
    all_of_them = "all of these" if decided == many else "the same"
    how_many = f"{alone:,} of them" if left else all_of_them
    text = f"Or with Python and nothing else, by one file that comes with nbcfast, which decides {how_many}"
    if left:
        text += (
            f', and not: {"; ".join(left)}. So it says "not fully checked" and leaves with 3, which is to be '
            "expected"
        )
    return card(
        title,
        findings(told),
        paragraph(
            f"Check it yourself, where DIR is the folder of the files. With nbcfast, which decides {every}:",
            kind="nbc-quiet",
        ),
        steps(["nbcfast verify DIR"]),
        paragraph(f"{text}:", kind="nbc-quiet"),
        steps(["python verify_release.py DIR"]),
    )


def unpromised_card(verification: Verification) -> Element:
    """What the publisher claims and no file can show, and what the certificate says of its own limits."""
    claims = [paragraph(text) for text in verification.claims]
    notes = element("ul", *(element("li", text) for text in verification.notes))
    parts: list[Element] = []
    if verification.notes:
        parts.append(notes)
    if claims:
        parts += [element("h3", "Claims of the publisher, which no published file can show"), *claims]
    return card("What this does not promise", *parts)


def warned_card(verification: Verification) -> Element | None:
    """The warnings of the certificate, where it has some."""
    if not verification.warnings:
        return None
    listed = element("ul", *(element("li", text) for text in verification.warnings))
    return card("Mind first", listed, kind="decide")


def verified_text(verification: Verification) -> str:
    """How many of the checks hold."""
    holding = sum(check.passed is True for check in verification.checks)
    return f"{holding} of {len(verification.checks)}"
