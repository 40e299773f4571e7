"""What a notebook shows of a release, or of one for each value of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbcfast._core.numbers import amount_text
from nbcfast._markup.elements import Element
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, bullets, facts, findings, more
from nbcfast.published.certificate import Certificate, same_text
from nbcfast.published.points_pieces import rule_pieces, value_text
from nbcfast.published.points_table import PointsTable
from nbcfast.published.typed import limit_text

if TYPE_CHECKING:
    from nbcfast.published.release import Release
    from nbcfast.published.strata import StratifiedRelease

MOST_STRATA = 8  # whose points are there to unfold
MOST_VALUES = 60  # of an attribute that are drawn


def release_html(release: Release) -> str:
    """A release: what it promises, and what it decides by."""
    certificate, names = release.certificate, release.views.attributes
    of = "the class" if release.class_name is None else value_text(release.class_name)
    verdict = (
        f"release of {of}: {len(release.views.classes):,} classes, {len(names):,} attributes, "
        f"{amount_text(certificate.tuples)} tuples"
    )
    same = [_same_decisions(certificate)]
    return _shown(certificate, verdict, same, _points(release, "points"), certificate.warnings)


def strata_html(made: StratifiedRelease) -> str:
    """Releases by the values of a column."""
    first = made.first
    of = "the class" if first.class_name is None else value_text(first.class_name)
    verdict = (
        f"{len(made.strata):,} releases of {of}, one for each value of {value_text(made.by)}: "
        f"{amount_text(made.certificate.tuples)} tuples"
    )
    same = list(dict.fromkeys(_same_decisions(one) for one in made.certificate.strata))
    pieces: list[Element] = []
    for value, release in list(made.strata.items())[:MOST_STRATA]:
        pieces += _points(release, f"points where {value_text(made.by)} is {value_text(value)}")
    return _shown(first.certificate, verdict, same[:3], pieces, made.certificate.warnings)


def _shown(
    certificate: Certificate,
    verdict: str,
    same: Sequence[str],
    pieces: Sequence[Element],
    warnings: Sequence[str],
) -> str:
    found: list[tuple[State, str, str]] = [("warned", "warning", text) for text in warnings]
    rows = [
        ("limit", _limit_text(certificate)),
        ("same decisions", "; ".join(same)),
        ("differential privacy", _privacy_text(certificate)),
    ]
    notes = more("what it does not promise", bullets(certificate.notes))
    # Nothing of this is judged here: verify does that, in the files.
    listed = findings(found) if found else None
    return result("warned" if found else None, verdict, listed, facts(rows), *pieces, notes)


def _limit_text(certificate: Certificate) -> str:
    """What the certificate promises to a reader of the counts."""
    text = f"amplification <= {limit_text(certificate.amplification)}, for attacker {certificate.attacker!r}"
    if certificate.r is not None:
        text = f"r <= {limit_text(certificate.r)} of the prior; {text}"
    return f"{text}; nbcfast.verify checks it in the files"


def _same_decisions(certificate: Certificate) -> str:
    made = certificate.canonical
    listed = None if made is None else made.listed
    differing = certificate.differing_tuples if listed is None else listed.differing
    if differing is None:
        return f"not compared on {amount_text(certificate.tuples)} tuples"
    return same_text(
        certificate.preserve,
        certificate.tuples,
        differing,
        certificate.equivalence,
        None if listed is not None else certificate.differing_rows,
        None if listed is None else listed.tuples,
        certificate.altered,
    )


def _privacy_text(certificate: Certificate) -> str:
    if certificate.privacy is None:
        return "no: that is another kind of promise"
    return f"{certificate.privacy.level}, if the coins were thrown"


def _points(release: Release, heading: str) -> list[Element]:
    if release.certificate.canonical is None:
        return []
    return [more(heading, *rule_pieces(PointsTable.of(release), MOST_VALUES))]
