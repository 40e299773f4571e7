"""The frame of every private report: the verdict, what to decide before any picture, and what it rests on.

A private report is for the owner of the rows and for who has to answer for them. It says what the screen
says, in the same words, and shows more; it is never part of what is published.
"""

from __future__ import annotations

from nbcfast import __version__
from nbcfast._markup.elements import Element, element
from nbcfast._markup.fitting import PAGE_ROOMS, Fitting, PageRoom, fitted
from nbcfast._markup.page_parts import (
    Tile,
    bullets,
    card,
    decisions,
    findings,
    mark,
    paragraph,
    signatures,
    tiles,
)
from nbcfast._markup.pages import MOST_BYTES, page, private_band
from nbcfast.reports.summary import Summary

NOT_ALL = (
    "Not everything fits on this page: long tables end early and long names are cut, and it is said where."
)
TABLE = "the private table"  # what most of them are made from
NOBODY_LOOKED = "Nothing here was looked at by nbcfast: whoever signs answers for it."


def owner_page(
    question: str,
    summary: Summary,
    *,
    kind: str,
    figures: tuple[Tile, ...] = (),
    sections: tuple[Element | Fitting | None, ...] = (),
    checklist: tuple[str, ...] = (),
    origin: tuple[str, ...] = (),
    private: bool = True,
    source: str = TABLE,
) -> bytes:
    """The file of a private report, small enough to be sent: what is left out is said.

    Parameters
    ----------
    question : str
        Which the page answers: its title.
    summary : Summary
        The answer.
    kind : str
        What the report is of, "canonical release".
    figures : tuple of Tile
        A few figures that stand at the top.
    sections : tuple of (Element, function or None)
        What the answer rests on; a function is told how much room there is, and None is left out.
    checklist : tuple of str
        What has to be looked at by a person before anything leaves.
    origin : tuple of str
        The last lines: which file, which hash.
    private : bool
        Whether what was looked at comes from the private table, and not from published files.
    source : str
        What was read, for the band: "the release alone".
    """
    decided = None
    if summary.decisions:
        each = [(decision.question, decision.steps) for decision in summary.decisions]
        decided = card("What to decide", decisions(each), kind="decide")
    looked_at = None
    if summary.findings:
        each_finding = [(finding.state, finding.about, finding.text) for finding in summary.findings]
        looked_at = card("What was looked at", findings(each_finding), private=private)
    promises = card("What this does not promise", bullets(summary.remarks)) if summary.remarks else None
    signed = None
    if checklist:
        signed = card(
            "Before it leaves",
            paragraph(NOBODY_LOOKED),
            bullets(checklist, "checks"),
            signatures("released by", "approved by", "date"),
        )
    above = (
        element("p", f"nbcfast {__version__} · {kind}", class_="origin"),
        element("h1", question),
        paragraph(mark(summary.state, summary.verdict), kind="lead"),
        paragraph(summary.about),
    )
    below = (
        tiles(figures) if figures else None,
        decided,
        looked_at,
        *sections,
        promises,
        signed,
        element("footer", *(paragraph(line) for line in origin)) if origin else None,
    )
    for room in PAGE_ROOMS:
        data = _page(
            question, source, (*above, None if room == PAGE_ROOMS[0] else paragraph(NOT_ALL), *below), room
        )
        if len(data) <= MOST_BYTES:
            break
    return data


def _page(question: str, source: str, content: tuple[Element | Fitting | None, ...], room: PageRoom) -> bytes:
    """The file, with as much as there is room for."""
    parts = (part(room) if callable(part) else part for part in content)
    return page(question, private_band(source), *(fitted(part, room) for part in parts if part is not None))


def summary_page(summary: Summary) -> bytes:
    """The report where there is nothing to show but the summary."""
    return owner_page("What came of it?", summary, kind="nothing more was measured")
