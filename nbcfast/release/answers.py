"""What the library can check of a canonical release beyond its file: that it is what its answers give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nbcfast import __version__
from nbcfast import verify_release as form
from nbcfast.errors import Infeasible
from nbcfast.release.certificate import Canonical, Release
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast.canonical.types import Scorecard

    Codes = npt.NDArray[np.int64]

MOST_AGAIN = 100_000_000  # tuples of more than two classes, up to which a release is made again
SHORT_BITS = 61  # of totals that the kernels add up

Judgement = tuple[bool | None, str]
TOO_LONG = "not checked here: the points are too long"
NO_LIST = "not checked here: answers are kept on a list of tuples, which is not in the file"


def codes_of(release: Release, tuples: Any) -> Codes:
    """The public list of a release as positions in the domains; ValueError if it is another list."""
    from nbcfast.canonical.publish import listed_codes, listed_digest

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


def scorecard(release: Release, codes: Codes | None = None) -> Judgement:
    """Whether the points decide every tuple (or those listed) as the counts do; None if that is not known."""
    from nbcfast.canonical.box import box
    from nbcfast.canonical.publish import answers

    made, views = release.certificate.canonical, release.views
    assert made is not None
    if len(views.classes) == 1:
        return True, "there is one class"
    if made.listed is not None and codes is None:
        return None, NO_LIST
    card = _card(made)
    if card is None:
        return None, TOO_LONG
    try:
        found = box(views, mode=release.certificate.preserve, tuples=codes)
    except Infeasible as error:
        return None, f"not checked here: {error.why}"
    same = found == answers(card, found)
    which = (
        f"{form.short(release.certificate.tuples)} tuples" if codes is None else f"{len(codes)} listed tuples"
    )
    return same, f"points and counts decide {'alike' if same else 'differently'} on the {which}"


def again(
    release: Release, codes: Codes | None = None, tuples: Any = None, private: Viewset | None = None
) -> Judgement:
    """Whether the release is what its own answers give; None if that is not known.

    Whatever is published canonically is a function of answers and public parameters, and has these answers:
    made from them once more it is the same. Where it has others, and says so, `private` views are needed.
    """
    certificate = release.certificate
    made = certificate.canonical
    assert made is not None
    if made.listed is not None and codes is None:
        return None, NO_LIST
    if len(release.views.classes) > 2 and codes is None and certificate.tuples > MOST_AGAIN:
        return None, f"not checked here: that is done up to {MOST_AGAIN:,} tuples for more than two classes"
    kept = certificate.equal if made.listed is None else not made.listed.differing
    kept = kept or len(release.views.classes) == 1  # which has the same answer everywhere
    views = release.views if kept else private
    if views is None:
        return _from_points(release, made, codes)
    whose = "its own" if kept else "the private"
    known = False
    for found in _releases(release, views, tuples):
        known = True
        if _same(found, release):
            return True, f"made again from {whose} answers, the release is this one"
    text = f"made again from {whose} answers, the release is another"
    if certificate.version != __version__:
        return None, f"{text}; it was made by version {certificate.version}, and this is {__version__}"
    if not made.reproducible:
        return None, f"{text}, as it may be on another machine"
    if not kept and made.bits is None:
        return None, f"{text}; whether points were rounded before the rows fell short is not in the file"
    return (
        (False, text) if known else (None, "not checked here: its domain is beyond what this version solves")
    )


def _releases(release: Release, views: Viewset, tuples: Any) -> Iterator[Release]:
    """The releases of the answers of `views` in all ways of choosing rows."""
    from nbcfast.canonical.publish import release as publish

    made = release.certificate
    assert made.canonical is not None
    for rows in _rows(release):
        try:
            yield publish(
                views,
                made.amplification,
                preserve=made.preserve,
                tuples=tuples,
                bits=made.canonical.bits,
                rows=rows,
                attacker=made.attacker,
                class_name=release.class_name,
            )
        except Infeasible as error:
            best = error.best.get("release")
            if isinstance(best, Release):
                yield best


def _rows(release: Release) -> tuple[Any, ...]:
    """The ways of choosing rows by which it may have been made."""
    from nbcfast.transform.publish import MOST_ROWS

    asked = [release.views.n_rows] if release.views.n_rows <= MOST_ROWS else []
    return "smallest", *asked, "proven"


def _same(found: Release, release: Release) -> bool:
    from nbcfast.release.files import text_of

    of_version = replace(found.certificate, version=release.certificate.version)
    return text_of(replace(found, certificate=of_version)) == text_of(release)


def _from_points(release: Release, made: Canonical, codes: Codes | None) -> Judgement:
    """The same where points were rounded: which answers they were before is not in the file."""
    from nbcfast.canonical.box import box
    from nbcfast.canonical.publish import SHARPEST, difference, nameless_counts
    from nbcfast.canonical.rounding import Same, Work
    from nbcfast.canonical.shares import Scores
    from nbcfast.transform.publish import _Short

    certificate = release.certificate
    if made.bits is None:
        return None, "not checked here: what was rounded to so few rows is not in the file"
    card = _card(made)
    if card is None:
        return None, TOO_LONG
    target = box(release.views, mode=certificate.preserve, tuples=codes)

    def same(published: Viewset) -> Same:
        return difference(target, box(published, mode=certificate.preserve, tuples=codes))

    limit = min(certificate.limit, Fraction(SHARPEST))
    names = nameless_counts(release.views)
    work = Work(Scores.of(card), names, limit, same, codes, certificate.preserve, None)
    for rows in _rows(release):
        try:
            if work.rounded(rows, False).views == release.views:
                return True, "its counts are those that its points give, which were rounded"
        except (Infeasible, _Short):
            continue
    text = "its counts are not those that its points give"
    if certificate.version != __version__:
        return None, f"{text}; it was made by version {certificate.version}, and this is {__version__}"
    return False, text


def _card(made: Canonical) -> Scorecard | None:
    """The points as the kernels take them, or None if they are too long."""
    from nbcfast.canonical.types import Scorecard

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
