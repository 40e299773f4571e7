"""`fact_sheet`: a page for the public, made of the published files alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nbcfast import __version__
from nbcfast._core.files import written
from nbcfast._core.numbers import amount_text
from nbcfast._core.untyped import Document
from nbcfast._markup.elements import Element, element
from nbcfast._markup.page_parts import Tile, code, paragraph, tiles
from nbcfast._markup.pages import MOST_BYTES, PUBLIC, page
from nbcfast.published.document import read
from nbcfast.publishing.findings import Stages, silent
from nbcfast.reports.checks_in_words import (
    checked_card,
    left_to_nbcfast,
    unpromised_card,
    verified_text,
    warned_card,
)
from nbcfast.reports.release_facts import release_facts, strata_facts
from nbcfast.reports.sheets import ROOMS, Facts, Room
from nbcfast.reports.table_facts import disclosure_facts, disguised_facts, partition_facts
from nbcfast.verification.checks import verify
from nbcfast.verification.results import Verification


class UnverifiedError(ValueError):
    """What does not verify, of which no fact sheet is made."""


@dataclass(frozen=True, repr=False)
class FactSheet:
    """A page about what is published in a folder.

    Attributes
    ----------
    path : str
        The file of the certificate.
    kind : str
        "release", "strata", "partition", "disclosure" or "disguised".
    title : str
        The question that it answers.
    sha256 : str
        Of the certificate.
    content : bytes
        The file: the same bytes for the same folder.
    verification : Verification
        The checks that it tells of.
    whole : bool
        Whether all of the rule is shown; else the page says how much is not.
    """

    path: str
    kind: str
    title: str
    sha256: str
    content: bytes
    verification: Verification
    whole: bool

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the page into a file, whole or not at all.

        Raises
        ------
        FileExistsError
            If there is such a file, and `overwrite` does not say that it may be replaced.
        ValueError
            If the file would stand in the folder of the certificate, which does not name it.
        """
        _expect_outside(path, os.path.dirname(self.path))
        with written(path, overwrite=overwrite) as file:
            file.write(self.content)

    def to_dict(self) -> Document:
        """Plain values, without the page."""
        return {
            "path": self.path,
            "kind": self.kind,
            "title": self.title,
            "sha256": self.sha256,
            "bytes": len(self.content),
            "whole": self.whole,
            "verification": self.verification.to_dict(),
        }

    def __repr__(self) -> str:
        return f"FactSheet({self.kind}, {len(self.content):,} bytes; {self.verification.verdict})"


def fact_sheet(path: str | os.PathLike[str], *, stages: Stages = silent) -> FactSheet:
    """A page for whoever has what was published: what it says, what was checked, what it does not promise.

    It is made of the published files alone, needs nothing else, fetches nothing and sends nothing. Of a
    classifier it has a form in which a reader tries it, with one script, which adds up points; by its policy
    the page runs no other. What does not fit into 100 kB is left out, and the page says how much that is.

    Parameters
    ----------
    path : str or path
        The folder that `save` wrote, or the certificate.json in it.
    stages : callable
        Called with what is done next: a context, of which a callback progress(done, total) or None comes.

    Returns
    -------
    FactSheet
        With `.content`, the bytes of the page, and `.save(path)`.

    Raises
    ------
    OSError
        If there is no such file.
    UnverifiedError
        If a check fails: a ValueError, which names it. Where some could not be made the page says so.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import nbcfast
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     nbcfast.canonical.release(views, 4, class_name="ill").save(folder)
    ...     sheet = fact_sheet(folder)
    >>> sheet.title
    'What does this classifier say of ill?'
    >>> sheet.content[:15]
    b'<!DOCTYPE html>'
    """
    with stages("verifying") as progress:
        verification = verify(path, progress=progress)
    failed = next((check for check in verification.checks if check.passed is False), None)
    if failed is not None:
        raise UnverifiedError(
            f"{verification.path}: {failed.name}: {failed.text}; no fact sheet is made of what does not "
            "verify"
        )
    where, document = read(path)
    facts = FACTS[str(verification.kind)](verification.published, verification)
    sha256 = str(document.fields["sha256"])
    left = left_to_nbcfast(document, verification)
    with stages("drawing"):
        for room in ROOMS:
            if facts.least(room) > MOST_BYTES and room != ROOMS[-1]:
                continue
            data = _page(facts, verification, left, sha256, room)
            if len(data) <= MOST_BYTES:
                whole = room == ROOMS[0]
                kind = str(verification.kind)
                return FactSheet(where, kind, facts.title, sha256, data, verification, whole)
    raise ValueError(
        f"{where}: the page would have {len(data):,} bytes, and may have {MOST_BYTES:,}: its names and "
        "values are too long"
    )


FACTS: dict[str, Callable[..., Facts]] = {
    "release": release_facts,
    "strata": strata_facts,
    "partition": partition_facts,
    "disclosure": disclosure_facts,
    "disguised": disguised_facts,
}


def _expect_outside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Refuse a file in a folder of published files, which would no longer verify."""
    inside = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
    top = os.path.realpath(folder)
    if inside == top or inside.startswith(top + os.sep):
        raise ValueError(
            "path must be outside the folder that it tells of, whose certificate does not name it, "
            f"got {os.fsdecode(path)!r}"
        )


def _page(facts: Facts, verification: Verification, left: Sequence[str], sha256: str, room: Room) -> bytes:
    """The page, with as much as there is room for."""
    undecided = sum(check.passed is None for check in verification.checks)
    text = "checks of the published files alone; each is below"
    if undecided:
        text = f"{amount_text(undecided)} could not be made from the published files; each is below"
    verified = Tile("unmeasured" if undecided else "kept", "Checked", verified_text(verification), text)
    warned = warned_card(verification)
    content: list[Element] = [
        element("p", f"nbcfast · {facts.origin} · sha256 {sha256[:12]}", class_="origin"),
        element("h1", facts.title),
        paragraph(*facts.answer, kind="lead"),
        tiles(verified if tile is None else tile for tile in facts.tiles),
        *([] if warned is None else [warned]),
        *facts.cards(room),
        checked_card(verification, left),
        unpromised_card(verification),
        element("footer", "Certificate sha256 ", code(sha256), f". Made by nbcfast {__version__}."),
    ]
    script = facts.script() if facts.script is not None and room.form else None
    return page(facts.title, PUBLIC, *content, script=script)
