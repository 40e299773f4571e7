"""The file of a release: one canonical certificate.json in a folder."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._core.untyped import Document
from nbcfast._wire.disguised import DisguisedDocument
from nbcfast._wire.form import Form, strange_words
from nbcfast._wire.json_entries import FORMAT, Refused, TooLong, canonical_json, digest
from nbcfast._wire.kinds import parse_any
from nbcfast._wire.messages import short
from nbcfast._wire.points_and_counts import scorecard
from nbcfast._wire.regular_files import NAME, content, copy_of, location, read_whole, regular
from nbcfast._wire.release_checks import NOT_COMPARED
from nbcfast.published.limits import lambda_kept, odds_kept
from nbcfast.published.noised import privacy_json
from nbcfast.published.typed import (
    json_counts,
    json_optional,
    json_rational,
    json_signed,
    json_value,
    json_whole,
    limit_text,
)

if TYPE_CHECKING:
    from nbcfast._wire.release_form import ReleaseDocument
    from nbcfast.published.certificate import Canonical
    from nbcfast.published.release import Release


def expect_fit(name: str, size: int, most: int) -> None:
    """Refuse to save a file that no verifier reads."""
    if size > most:
        raise ValueError(f"not saved: {name} would have {size:,} bytes, and verifiers read up to {most:,}")


def unfit(release: Release) -> str | None:
    """What the counts lack of what the certificate claims, or None."""
    views, certificate = release.views, release.certificate
    if not (views.class_counts > 0).all():
        label = views.classes[int((views.class_counts <= 0).argmax())]
        return f"the count of class {label!r} is 0, and must be positive"
    for name, array in views.counts.items():
        if not (array > 0).all():
            value, c = ((array <= 0).any(axis=1)).argmax(), ((array <= 0).any(axis=0)).argmax()
            return (
                f"attribute {name!r} has a count of 0 (first at value {views.domain(name)[int(value)]!r}, "
                f"class {views.classes[int(c)]!r}), and all must be positive"
            )
    try:
        views.class_domain.check_intervals("classes", in_order=False)
        for name, domain in views.domains.items():
            domain.check_intervals(f"attribute {name!r}")
    except ValueError as error:
        return str(error)
    if not views.is_realistic():
        return (
            "the counts are not those of any table: for some attribute they do not add up to those of a class"
        )
    tuples = 1
    for array in views.counts.values():
        tuples *= len(array)
    if certificate.tuples != tuples:
        stated, found = short(certificate.tuples), short(tuples)
        return f"the certificate says {stated} tuples, the domain has {found}"
    return None


def beyond(release: Release, document: ReleaseDocument) -> str | None:
    """A limit of the certificate that the counts of its document exceed, or may exceed; or None."""
    certificate = release.certificate
    kept = lambda_kept(document, release)
    if kept is None:
        return f"Lambda of the counts: {NOT_COMPARED}"
    if not kept:
        return f"Lambda of the counts exceeds the limit {limit_text(certificate.limit)}"
    kept = odds_kept(document, release)
    if kept is None:
        return f"the odds of the counts to those of the prior: {NOT_COMPARED}"
    if not kept:
        limit = limit_text(certificate.r_limit or Fraction(0))
        return f"the odds of some tuple are off those of the prior by more than r = {limit}"
    return None


def strange(release: Release) -> str | None:
    """Words of a certificate that do not go with its fields, or None."""
    made = release.certificate
    if made.warnings == made.warned:
        return None
    return strange_words("warnings", made.warned, made.warnings)


def at_odds(document: ReleaseDocument) -> str | None:
    """That points and counts of a canonical release decide differently, as far as a recipient finds out."""
    if document.canonical is None:
        return None
    return next((text for _, holds, text in scorecard(document) if holds is False), None)


def text_of(release: Release) -> str:
    """The canonical text of the file."""
    return canonical_json(document_of(release)) + "\n"


def document_of(release: Release) -> Document:
    """The fields of the file, with the sha256 of the text of the others."""
    fields = fields_of(release)
    return {**fields, "sha256": digest(fields)}


def fields_of(release: Release) -> Document:
    """The fields of the file, without its sha256."""
    views, certificate = release.views, release.certificate
    document: Document = {
        "amplification": json_rational(certificate.amplification),
        "attacker": certificate.attacker,
        "attributes": [
            {
                "counts": json_counts(array),
                "name": name,
                "values": [json_value(value, views.domains[name]) for value in views.domain(name)],
            }
            for name, array in views.counts.items()
        ],
        "class_counts": json_counts(views.class_counts),
        "class_name": release.class_name,
        "classes": [json_value(value, views.class_domain) for value in views.classes],
        "differing_rows": json_optional(certificate.differing_rows),
        "differing_tuples": json_optional(certificate.differing_tuples),
        "equivalence": certificate.equivalence,
        "format": FORMAT,
        "gauge": certificate.gauge,
        "identity": certificate.identity,
        "kind": "release",
        "method": certificate.method,
        "notes": list(certificate.notes),
        "preserve": certificate.preserve,
        "tuples": json_whole(certificate.tuples),
        "version": certificate.version,
        "warnings": list(certificate.warnings),
    }
    if certificate.accepted:
        document["accepted"] = True
    if certificate.smoothing is not None:
        document["smoothing"] = str(certificate.smoothing)
    if certificate.privacy is not None:
        document["privacy"] = privacy_json(certificate.privacy)
    if certificate.r is not None and certificate.prior is not None:
        document["r"] = json_rational(certificate.r)
        document["prior"] = [json_rational(number) for number in certificate.prior]
    if certificate.canonical is not None:
        document["canonical"] = _of_canonical(certificate.canonical)
    if certificate.advice is not None:
        document["advice"] = certificate.advice.to_json()
    if certificate.policy is not None:
        document["policy"] = {"sha256": certificate.policy}
    return document


def _of_canonical(made: Canonical) -> Document:
    return {
        "bits": made.bits,
        "constants": [json_signed(number) for number in made.constants],
        "listed": None if made.listed is None else made.listed._asdict(),
        "points": [[[json_signed(number) for number in row] for row in rows] for rows in made.points],
        "reproducible": made.reproducible,
        "undeclared": list(made.undeclared),
    }


def read(path: str | os.PathLike[str]) -> tuple[str, Form]:
    """The file, and what it says; ValueError if it is not as it was written."""
    where = location(os.fsdecode(path))
    try:
        return where, parse_any(content(where))
    except Refused as error:
        raise ValueError(f"{where}: {error}") from None


def published_copy(path: str | os.PathLike[str], name: str) -> bytes | None:
    """The bytes of a file of this name that repeats a part of the certificate beside it, if it is one.

    ValueError where it is another than the certificate says, where there is one of disguised answers.
    """
    place = os.fsdecode(path)
    folder = os.path.dirname(place)
    if os.path.basename(place) != name or not os.path.lexists(os.path.join(folder, NAME)):
        return None
    where, document = read(os.path.join(folder, NAME))
    if not isinstance(document, DisguisedDocument):
        return None
    if name not in document.files:
        raise ValueError(f"{place}: the certificate beside it, {where}, names no {name}")
    expected = copy_of(document.fields[name.partition(".")[0]])
    try:
        with regular(place) as file:
            data = file.read(len(expected) + 1)
    except Refused as error:
        raise ValueError(f"{place}: {error}") from None
    if data != expected:
        raise ValueError(f"{place}: expected the {name} of the certificate beside it, byte for byte")
    return data


def own_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file of small things that somebody names; ValueError where it is large."""
    with open(path, "rb") as file:
        try:
            return read_whole(file, os.path.basename(os.fsdecode(path)))
        except TooLong as error:
            raise ValueError(str(error)) from None
