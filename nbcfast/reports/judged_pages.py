"""Private reports of what is judged or made beside releases: tables, views, answers, adversaries."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from nbcfast._core.chances import bound_text, epsilon_text
from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import State, Tile, card, facts, more, paragraph, table
from nbcfast.associations import Risk
from nbcfast.groups import Groups
from nbcfast.mondrian.partition import Partition
from nbcfast.publishing.findings import Adversaries
from nbcfast.publishing.words import label
from nbcfast.reports.attack_summary import members_finding, worst_text
from nbcfast.reports.certificate_words import in_decimals
from nbcfast.reports.owner_page import TABLE, owner_page
from nbcfast.reports.summary import Summary, worst_state
from nbcfast.reports.table_facts import sizes_card
from nbcfast.response import Disguised, Estimate, Plan, Privacy
from nbcfast.skyline.results import Reports, breach_text
from nbcfast.templates import Disclosure, Violation

FIRST, MOST = 20, 200  # rows of a table that are shown at first, and at all
READERS: dict[Literal["row", "worlds"], str] = {
    "row": "looks at one particular row",
    "worlds": "averages over all tables with these counts",
}
NOT_COMPARED = "Not compared: the release was not made of these rows as they were read."
NOT_SEEN = "Each person's device threw his coins: nobody has seen the true answers."
SEEN_HERE = "The true answers were disguised here: whoever holds them keeps them private, or deletes them."
TO_JUDGE = (
    "Columns that name people, or nearly do, are not in the table.",
    "What an adversary may know was chosen for these people, and not for the numbers.",
    "No other table of the same people was published, or both were judged together.",
)
TO_PUBLISH = (
    *TO_JUDGE,
    "The recipient has the folder and verify_release.py, and checks it: python verify_release.py DIR",
)


def check_page(found: Reports, groups: Groups, summary: Summary) -> bytes:
    """The report of `skyline check`."""
    rows = [(repr(one.point), "kept" if one.safe else "broken", breach_text(one.breach)) for one in found]
    worst = found.worst
    return owner_page(
        "May this table leave as it is?",
        summary,
        kind="privacy skyline",
        figures=_of_groups(groups),
        sections=(
            card(
                "Each point",
                paragraph(
                    "(l, k, m, confidence): somebody knows l values that a person has not, the values of k "
                    "other people, and m implications, and must stay below the confidence with all of it."
                ),
                table(["point", "", "greatest probability"], rows, texts=2),
                paragraph(f"The attack that comes closest, at {worst.point!r}: {worst.attack.text}."),
                private=True,
            ),
            sizes_card(groups.sizes, private=True),
        ),
        checklist=TO_JUDGE,
    )


def skyline_page(points: Sequence[tuple[int, int, int]], groups: Groups, summary: Summary) -> bytes:
    """The report of `skyline find`."""
    rows = [tuple(map(str, point)) for point in points]
    body: Element = paragraph("None: nothing is kept even from who knows nothing but the groups.")
    if rows:
        body = _listed(["values known not to be his (l)", "other people (k)", "implications (m)"], rows, 0)
    return owner_page(
        "Against which knowledge does this table stand?",
        summary,
        kind="privacy skyline",
        figures=_of_groups(groups),
        sections=(
            card("The most that somebody may know", body, private=True),
            sizes_card(groups.sizes, private=True),
        ),
        checklist=TO_JUDGE,
    )


def partition_page(made: Partition, summary: Summary) -> bytes:
    """The report of `skyline anonymize`."""
    utility = made.utility()
    lost = None
    if utility.ncp_of is not None:
        rows = [(label(name), f"{share:.1%}") for name, share in utility.ncp_of.items()]
        lost = card(
            "What it cost",
            paragraph(
                "How wide the published values are, on average: 0% is as exact as before, 100% says nothing."
            ),
            table(["column", "mean width"], rows),
            private=True,
        )
    return owner_page(
        "May this table leave?",
        summary,
        kind=f"partition, {made.demands}",
        figures=_of_groups(made.groups),
        sections=(sizes_card(made.groups.sizes, private=True), lost),
        checklist=TO_PUBLISH,
    )


def _of_groups(groups: Groups) -> tuple[Tile, ...]:
    sensitive = label(groups.sensitive)
    return (
        Tile("fact", "People", f"{groups.n_rows:,}", f"in {groups.n_groups:,} groups"),
        Tile("warned" if groups.k == 1 else "fact", "Smallest group", f"{groups.k:,}", "people"),
        Tile(
            "shows" if groups.l == 1 else "fact",
            "Fewest values",
            f"{groups.l:,}",
            f"of {sensitive} in some group; where that is 1, everybody in the group has it",
        ),
    )


def violations_page(broken: Sequence[Violation], n_templates: int, summary: Summary) -> bytes:
    """The report of `templates check`."""
    rows = []
    for one in broken:
        column, value = one.template.sensitive
        known = ", ".join(f"{label(name)} = {label(shared)}" for name, shared in one.known.items())
        people = f"{one.count:,} of {one.support:,}"
        shares = (bound_text(share, 2) for share in (one.confidence, one.template.limit))
        rows.append((known or "nothing", f"{label(column)} = {label(value)}", people, *shares))
    body = _listed(["who knows", "infers", "people", "confidence", "limit"], rows, 2) if rows else None
    return owner_page(
        "Does this table let anybody infer too much?",
        summary,
        kind="privacy templates",
        figures=(
            Tile("fact", "Templates", f"{n_templates:,}", "inferences that were named, and no others"),
            Tile(
                "shows" if rows else "kept",
                "Broken",
                f"{len(rows):,}",
                "groups of people in which one is too sure",
            ),
        ),
        sections=(None if body is None else card("Inferences that are too sure", body, private=True),),
        checklist=TO_JUDGE,
    )


def disclosure_page(made: Disclosure, summary: Summary) -> bytes:
    """The report of `templates disclose`."""
    held = [
        (
            str(template),
            bound_text(made.confidences[template], 2),
            bound_text(template.limit, 2),
        )
        for template in made.templates
    ]
    withheld = []
    for name in made.masked:
        if name in made.intervals:
            withheld.append((label(name), f"in {len(made.intervals[name]):,} intervals"))
        elif made.suppressed is not None:
            values = made.suppressed[name]
            shown = ", ".join(map(label, values[:FIRST]))
            beyond = f" and {len(values) - FIRST:,} more" if len(values) > FIRST else ""
            withheld.append((label(name), f"{shown}{beyond}" if values else "nothing"))
    return owner_page(
        "May this table leave?",
        summary,
        kind="disclosure by templates",
        figures=(
            Tile("fact", "People", f"{made.n_rows:,}", "a row each"),
            Tile(
                "kept", "Templates kept", f"{len(made.templates):,}", "counted in the table that is published"
            ),
            Tile(
                "fact" if made.complete else "warned",
                "Search",
                "complete" if made.complete else "stopped early",
                f"{len(made.steps):,} steps of disclosure",
            ),
        ),
        sections=(
            card(
                "The inferences that were named", table(["template", "at most", "limit"], held), private=True
            ),
            card("What is withheld", facts(withheld), private=True),
        ),
        checklist=TO_PUBLISH,
    )


def risk_page(found: Risk, summary: Summary, threshold: Fraction | None) -> bytes:
    """The report of `risk`."""
    worst = found.worst(MOST)
    rows = [tuple(_cell(value) for value in row.values()) for row in worst]
    header = [*map(label, (found.identity, found.attribute)), *worst.names[2:]]
    above = None if threshold is None else found.n_above(threshold)
    left = found.n_associations - len(rows)
    return owner_page(
        "Whose secret follows from what is published together?",
        summary,
        kind=f"published views, {found.model} model, by {found.method}",
        figures=(
            Tile(
                "fact", "People", f"{found.n_identities:,}", f"who are asked for, by {label(found.identity)}"
            ),
            Tile("fact", "Associations", f"{found.n_associations:,}", "that the views leave possible"),
            Tile("unmeasured", "Above the threshold", "no threshold", "give --threshold P")
            if above is None
            else Tile(
                "shows" if above else "kept",
                f"Above {threshold}",
                f"{above:,}",
                "associations",
            ),
        ),
        sections=(
            card(
                "The likeliest",
                _listed(header, rows, 2) if rows else paragraph("None."),
                paragraph(f"{left:,} more associations are less likely, or equally.") if left > 0 else None,
                private=True,
            ),
        ),
        checklist=TO_JUDGE[1:],  # of views some may name people
    )


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else label(value)


def answers_page(privacy: Privacy, summary: Summary, made: Disguised | Plan | Estimate) -> bytes:
    """The report of `response disguise`, `plan` and `estimate`: what the coins hide, and what is learned."""
    hidden = []
    for one in privacy.groups:
        epsilon = "no bound" if one.odds is None else epsilon_text(one.epsilon)
        hidden.append((", ".join(map(label, one.columns)), epsilon, one.text))
    sections: list[Element | None] = [
        card("What each coin hides", table(["columns", "epsilon", "in words"], hidden, texts=3))
    ]
    if isinstance(made, Estimate):
        low, high = made.interval()
        rows = [
            (label(value), f"{float(share):.2%}", f"{float(least):.2%} .. {float(most):.2%}")
            for value, share, least, most in zip(made.classes, made.prior, low.prior, high.prior, strict=True)
        ]
        sections.append(
            card(
                "The classes",
                _listed([label(made.class_name), "share", "95 % of such intervals hold it"], rows, 1),
            )
        )
        n = made.n_rows
    else:
        n = made.n_rows if isinstance(made, Disguised) else made.n
    question = {
        Disguised: "What can be learned of anybody from these answers?",
        Estimate: "What do the answers say of everybody together?",
        Plan: "How many people have to answer?",
    }[type(made)]
    seeded = isinstance(made, Disguised) and bool(made.seeded)
    sources = {Disguised: TABLE, Estimate: "disguised answers alone", Plan: "the scheme alone"}
    return owner_page(
        question,
        summary,
        kind="randomised response",
        private=isinstance(made, Disguised),
        source=sources[type(made)],
        figures=(
            Tile("fact", "Answers", f"{n:,}", f"of one person each{' are needed' * isinstance(made, Plan)}"),
            Tile(
                "shows" if seeded else "warned" if privacy.is_weak else "kept",
                "All coins together",
                f"epsilon {epsilon_text(privacy.epsilon)}" if privacy.is_ldp and not seeded else "no bound",
                "on what one person's answers tell of him"
                + (", to who knows the seed of the coins" if seeded else ""),
            ),
        ),
        sections=tuple(sections),
        checklist=(
            SEEN_HERE if isinstance(made, Disguised) else NOT_SEEN,
            "Nobody is asked twice under fresh coins: odds of two answers multiply.",
        ),
    )


def attack_page(found: Adversaries, summary: Summary, compared: bool = True, beside: bool = False) -> bytes:
    """The report of `attack`, of a table, or of a release alone or `beside` the private table.

    Beside other rows than those of the release nothing was `compared`.
    """
    rows = []
    for convention, reader in READERS.items():
        worst = found.worst[convention]
        known = ", ".join(f"{label(name)} = {label(value)}" for name, value in worst.known.items())
        one, other = map(label, worst.classes)
        rows.append((reader, known or "nothing", f"{one} over {other}", in_decimals(worst_text(worst))))
    largest = max(found.worst.values(), key=lambda worst: worst.log)
    odds_state = worst_state(tuple(finding for finding in summary.findings if finding.about == "odds"))
    tile: State = "unmeasured"
    members, auc = found.membership if compared else None, "not measured"
    if members is not None and members.measured:
        tile, auc = members_finding(members).state, f"{members.auc:.3f}"
    of_private = found.of_table or (compared and found.inversion.recovered is not None)
    source = "the table that was attacked" if found.of_table else "the release alone"
    if beside:
        source = "the release and the private table"
    return owner_page(
        "What does an adversary make of this?",
        summary,
        private=of_private,
        source=source,
        kind="counts of a table" if found.of_table else "a release",
        figures=(
            Tile(
                odds_state,
                "Largest odds",
                in_decimals(largest.text),
                "of one class to another, to one of the readers below"
                + (
                    ""
                    if all(worst.certified for worst in found.worst.values())
                    else "; there may be larger ones"
                ),
            ),
            Tile(tile, "Members", auc, "AUC of telling rows from others; 1/2 is nothing found"),
        ),
        sections=(
            card(
                "Where the odds are largest",
                table(["reader", "knows", "believes", "odds"], rows, texts=3),
                private=found.of_table,
            ),
            card(
                "Private counts by inversion",
                paragraph(f"{found.inversion_text}." if compared else NOT_COMPARED),
                private=of_private,
            ),
        ),
    )


def _listed(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> Element:
    """A table of which the first rows are shown at first, and hundreds at all."""
    first = table(header, rows[:FIRST], texts=texts)
    if len(rows) <= FIRST:
        return first
    rest = rows[FIRST:MOST]
    beyond = f", of which at most {len(rest):,} stand here" if len(rows) > MOST else ""
    return Element(
        "div", (), (first, more(f"{len(rows) - FIRST:,} more{beyond}", table(header, rest, texts=texts)))
    )
