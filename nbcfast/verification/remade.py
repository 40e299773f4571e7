"""What the library can check of a canonical release beyond its file: that it is what its answers give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast import __version__
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._rounding.rows import MOST_ASKED
from nbcfast._wire.messages import short
from nbcfast._wire.points_and_counts import scorecard as judged_by_script
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.publish import listed_codes, listed_digest
from nbcfast.canonical.publish import release as publish
from nbcfast.canonical.weights.results import Scorecard
from nbcfast.canonical.weights.solve import unknowns
from nbcfast.published.certificate import Canonical
from nbcfast.published.document import text_of
from nbcfast.published.release import Release
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._wire.release_form import Document
    from nbcfast.canonical.weights.results import Scorecard

    Codes = Longs

MOST_AGAIN = 100_000_000  # tuples of more than two classes, up to which a release is made again
MOST_ATTRIBUTES = 4_096  # whose product domain is gone through, as the kernels of two classes take them
MOST_SOLVED = 2_500  # numbers that are looked for to make a file again
MOST_SOLVED_OF_MANY = 1_500  # and for more than two classes, where they are in more demands
SHORT_BITS = 61  # of totals that the kernels add up

Judgement = tuple[bool | None, str]
TOO_LONG = "not checked here: the points are too long"
UNSOLVED = "not checked here: its domain is beyond what this version solves"
NO_LIST = "not checked here: answers are kept on a list of tuples, which is not in the file"


def codes_of(release: Release, tuples: Any) -> Codes:
    """The public list of a release as positions in the domains; ValueError if it is another list."""
    made = release.certificate.canonical
    if made is None or made.listed is None:
        raise ValueError("the release does not claim anything of a list of tuples")
    try:
        codes = listed_codes(release.views, tuples)
    except ValueError as error:
        raise ValueError(f"this is not the list of the release: {error}") from None
    if made.listed[:2] != (len(codes), listed_digest(release.views, codes)):
        raise ValueError("this is not the list of the release: its sha256 is another")
    return codes


def _by_kernels(release: Release, codes: Codes | None) -> Judgement:
    """Whether the points decide every tuple (or those listed) as the counts do; None if that is not known."""
    made, views = release.certificate.canonical, release.views
    assert made is not None
    if len(views.classes) == 1:
        return True, "there is one class"
    if made.listed is not None and codes is None:
        return None, NO_LIST
    reason = _too_many(release, codes)
    if reason is not None:
        return None, reason
    card = _card(made)
    if card is None:
        return None, TOO_LONG
    try:
        found = box(views, mode=release.certificate.preserve, tuples=codes)
    except Infeasible as error:
        return None, f"not checked here: {error.why}"
    same = found == answers(card, found)
    which = f"{short(release.certificate.tuples)} tuples" if codes is None else f"{len(codes)} listed tuples"
    return same, f"points and counts decide {'alike' if same else 'differently'} on the {which}"


def scorecard(release: Release, codes: Codes | None = None, document: Document | None = None) -> Judgement:
    """The same; where kernels have given up, by the script's own judgement of the `document`."""
    found = _by_kernels(release, codes)
    if document is None:
        return found
    if found[0] is not None:
        return found
    return next(((holds, text) for _, holds, text in judged_by_script(document) if holds is not None), found)


def _too_many(release: Release, codes: Codes | None) -> str | None:
    """Why nothing is looked at in a domain of so many attributes, which may all be of one value."""
    n = len(release.views.attributes)
    if codes is not None or n <= MOST_ATTRIBUTES:
        return None
    return f"not checked here: {n:,} attributes, and up to {MOST_ATTRIBUTES:,} are looked at"


def again(
    release: Release, codes: Codes | None = None, tuples: Any = None, private: Viewset | None = None
) -> Iterator[tuple[str, *Judgement]]:
    """Whether the release is what answers give, as checks by name; None where that is not known.

    Whatever is published canonically is a function of answers and public parameters, and where it has these
    answers, it is the same made from them once more. Where it has others, and says so, its points still are
    those of their own answers, and its counts those of its points. What else it may hold, and whose answers
    it was computed from, only the `private` views tell.
    """
    certificate = release.certificate
    made = certificate.canonical
    assert made is not None
    reason = _not_again(release, codes, private)
    if reason is not None:
        yield "canonical", None, reason
        return
    kept = certificate.equal if made.listed is None else not made.listed.differing
    kept = kept or len(release.views.classes) == 1  # which has the same answer everywhere
    if kept:
        yield "canonical", *_whole(release, release.views, tuples, "its own")
        return
    if private is None:
        text = "that it was made of the private classifier's answers is for the private views to show"
        whole: Judgement = None, text
    else:
        whole = _whole(release, private, tuples, "the private")
    if not whole[0]:
        yield from _own_points(release, tuples)
    yield "canonical", *whole


def _not_again(release: Release, codes: Codes | None, private: Viewset | None) -> str | None:
    """Why nothing is made again."""
    certificate = release.certificate
    if certificate.canonical is not None and certificate.canonical.listed is not None and codes is None:
        return NO_LIST
    reason = _too_many(release, codes)
    if reason is not None:
        return reason
    if len(release.views.classes) > 2 and codes is None and certificate.tuples > MOST_AGAIN:
        return f"not checked here: that is done up to {MOST_AGAIN:,} tuples for more than two classes"
    if private is None and len(release.views.classes) > 1:
        # A file may demand more than its publisher could solve. Who has the private views can wait.
        try:
            found = unknowns(box(release.views, mode=certificate.preserve, tuples=codes))
        except Infeasible as error:
            return f"not checked here: {error.why}"
        most = MOST_SOLVED if len(release.views.classes) == 2 else MOST_SOLVED_OF_MANY
        if found > most:
            return (
                f"not checked here: {found:,} numbers would have to be found, and without the private views "
                f"{most:,} are"
            )
    return None


def _whole(release: Release, views: Viewset, tuples: Any, whose: str) -> Judgement:
    """Whether the release is byte for byte that of the answers of `views`."""
    known = False
    for rows, found in _releases(release, views, tuples):
        known = True
        of_version = replace(found.certificate, version=release.certificate.version)
        if text_of(replace(found, certificate=of_version)) == text_of(release):
            return True, f"made again from {whose} answers{_how_many(rows)}, the release is this one"
    if not known:
        return None, UNSOLVED
    return _another(release, f"made again from {whose} answers, the release is another")


def _another(release: Release, text: str) -> Judgement:
    """That something is not what it should be, or may be so for a reason."""
    certificate = release.certificate
    if certificate.version != __version__:
        return None, f"{text}; it was made by version {certificate.version}, and this is {__version__}"
    if certificate.canonical is not None and not certificate.canonical.reproducible:
        return None, f"{text}, as it may be on another machine"
    return False, text


def _how_many(rows: Any) -> str:
    """That a number of rows is one more thing that a publisher chose."""
    return f" with {short(rows)} rows, as the publisher chose" if isinstance(rows, int) else ""


def _releases(release: Release, views: Viewset, tuples: Any) -> Iterator[tuple[Any, Release]]:
    """The releases of the answers of `views` in all ways of choosing rows."""
    made = release.certificate
    assert made.canonical is not None
    for rows in _rows(release):
        try:
            yield (
                rows,
                publish(
                    views,
                    made.amplification,
                    preserve=made.preserve,
                    tuples=tuples,
                    bits=made.canonical.bits,
                    rows=rows,
                    attacker=made.attacker,
                    class_name=release.class_name,
                ),
            )
        except Infeasible as error:
            best = error.best.get("release")
            if isinstance(best, Release):
                yield rows, best


def _rows(release: Release) -> tuple[Any, ...]:
    """The ways of choosing rows by which it may have been made."""
    asked = [release.views.n_rows] if release.views.n_rows <= MOST_ASKED else []
    return "smallest", "proven", *asked


def _own_points(release: Release, tuples: Any) -> Iterator[tuple[str, *Judgement]]:
    """Whether points are those of their own answers, and counts those of the points.

    Both would else have room for whatever a publisher wants to tell.
    """
    made = release.certificate.canonical
    assert made is not None
    to = "" if made.bits is None else f", rounded to {made.bits} bit{'s' if made.bits > 1 else ''}"
    same = None
    for rows, found in _releases(release, release.views, tuples):
        its = found.certificate.canonical
        assert its is not None
        if same is None:
            same = (its.points, its.constants) == (made.points, made.constants)
            if not same:
                yield "points", *_another(release, f"the points are not those that their answers give{to}")
                return
            yield "points", True, f"the points are those that their own answers give{to}"
            if made.bits is None:
                yield "counts", None, "not checked here: what was rounded to so few rows is not in the file"
                return
        if text_of(_as_stated(found, release)) == text_of(release):
            yield "counts", True, f"the counts are those that the points give{_how_many(rows)}"
            return
    if same is None:
        yield "points", None, UNSOLVED
    else:
        yield "counts", *_another(release, "the counts are not those that the points give")


def _as_stated(found: Release, release: Release) -> Release:
    """What its own answers give, with what the certificate says of other answers."""
    stated, certificate = release.certificate, found.certificate
    made, listed = certificate.canonical, None
    assert made is not None
    assert stated.canonical is not None
    if (stated.differing_tuples is None) != (certificate.differing_tuples is None):
        return found  # another: whether that is known depends on the domain alone
    if made.listed is not None and stated.canonical.listed is not None:
        listed = made.listed._replace(differing=stated.canonical.listed.differing)
    made = replace(made, reproducible=stated.canonical.reproducible, listed=listed)
    certificate = replace(
        certificate,
        differing_tuples=stated.differing_tuples,
        version=stated.version,
        canonical=made,
        warnings=None,  # type: ignore[arg-type]  # those that go with the fields
    )
    return replace(found, certificate=certificate)


def _card(made: Canonical) -> Scorecard | None:
    """The points as the kernels take them, or None if they are too long."""
    numbers = [max((max(row) for row in rows), default=0) for rows in made.points]
    most = sum(numbers) + max(map(abs, made.constants), default=0) + 1
    if (2 * (len(made.constants) + 2) * most).bit_length() > SHORT_BITS:
        return None
    return Scorecard(
        points=tuple(np.array(rows, np.int64) for rows in made.points),
        constants=made.constants,
        gap=None,
        range=0,
        centre=0,
        scale=Fraction(1),
        bits=max(numbers, default=0).bit_length(),
        changed=0,
    )
