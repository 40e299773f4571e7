"""What the library can check of a canonical release beyond its file: that it is what its answers give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import __version__
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._reading.source import AnyTable
from nbcfast._rounding.rows import MOST_ASKED
from nbcfast._wire.advice_checks import bits_limit
from nbcfast._wire.messages import decimal_text, short
from nbcfast._wire.points_and_counts import scorecard as judged_by_script
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.boxes.halving import MOST_TUPLES
from nbcfast.canonical.boxes.ranked import MOST_SWEPT
from nbcfast.canonical.publish import listed_codes, listed_digest
from nbcfast.canonical.publish import release as publish
from nbcfast.canonical.weights.results import Scorecard
from nbcfast.canonical.weights.solve import solve, unknowns
from nbcfast.published.certificate import Canonical
from nbcfast.published.document import document_of
from nbcfast.published.release import Release
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._rounding.rows import RowsArgument
    from nbcfast.canonical.boxes.types import AnyBox

MOST_AGAIN = 100_000_000  # tuples of more than two classes, up to which a release is made again
MOST_ATTRIBUTES = 4_096  # whose product domain is gone through, as the kernels of two classes take them
MOST_SOLVED = 2_500  # numbers that are looked for to make a file again
MOST_SOLVED_OF_MANY = 1_500  # and for more than two classes, where they are in more demands
ROOM = 1e-9  # of bits a weight: logarithms of two machines differ by less
SHORT_BITS = 61  # of totals that the kernels add up

Judgement = tuple[bool | None, str]
TOO_LONG = "not checked here: the points are too long"
UNSOLVED = "not checked here: its domain is beyond what this version solves"
NO_LIST = "not checked here: answers are kept on a list of tuples, which is not in the file"


def codes_of(release: Release, tuples: AnyTable) -> Longs:
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


class Answers:
    """The answers of a canonical release: what its points and itself are compared with.

    Parameters
    ----------
    document : ReleaseDocument
        Its certificate.
    release : Release
        What that describes.
    made : Canonical
        What the certificate of a canonical release says besides.
    tuples, codes : Table or what it is made of, and ndarray of int64; or None
        The public list that answers are kept on, and its positions in the domains, where it was given.
    progress : callable or None
        Called as progress(done, total) while the release is made again.
    """

    def __init__(
        self,
        document: ReleaseDocument,
        release: Release,
        made: Canonical,
        tuples: AnyTable | None = None,
        codes: Longs | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.document, self.release, self.made = document, release, made
        self.certificate = release.certificate
        self.tuples, self.codes, self._progress = tuples, codes, progress
        self.n_classes, self.n_attributes = len(document.classes), len(document.attributes)

    @cached_property
    def _box(self) -> AnyBox | Infeasible:
        """The answers themselves, or why there are none: worked out once, for all that asks for them."""
        try:
            return box(self.release.views, mode=self.certificate.preserve, tuples=self.codes)
        except Infeasible as error:
            return error

    def scorecard(self) -> Judgement:
        """Whether the points decide every tuple (or those listed) as the counts do; None if it is not known.

        Where kernels give up, the script's own judgement of the document may still tell.
        """
        judgement = self._by_kernels()
        if judgement[0] is not None:
            return judgement
        by_script = ((holds, text) for _, holds, text in judged_by_script(self.document) if holds is not None)
        return next(by_script, judgement)

    def _by_kernels(self) -> Judgement:
        if self.n_classes == 1:
            return True, "there is one class"
        reason = self._unlisted() or self._too_many()
        if reason is not None:
            return None, reason
        card = _card(self.made)
        if card is None:
            return None, TOO_LONG
        asked = self._box
        if isinstance(asked, Infeasible):
            return None, f"not checked here: {asked.why}"
        same = asked == answers(card, asked)
        # In full: a domain that has a box has no more tuples than can be printed.
        n_tuples = self.document.tuples
        which = f"{n_tuples} tuples" if self.codes is None else f"{len(self.codes)} listed tuples"
        return same, f"points and counts decide {'alike' if same else 'differently'} on the {which}"

    def _unlisted(self) -> str | None:
        """That answers are kept on a list, and it was not given."""
        return NO_LIST if self.made.listed is not None and self.codes is None else None

    def _too_many(self) -> str | None:
        """Why nothing is looked at in a domain of so many attributes, which may all be of one value.

        Or in one of so many strata, each of which has all of these tuples.
        """
        if self.codes is not None:
            return None
        if self.n_attributes > MOST_ATTRIBUTES:
            most = f"up to {MOST_ATTRIBUTES:,} are looked at"
            return f"not checked here: {self.n_attributes:,} attributes, and {most}"
        sharing = self.document.sharing
        limit = (MOST_TUPLES if self.n_classes == 2 else MOST_SWEPT) // sharing
        if sharing > 1 and self.document.tuples > limit:
            tuples = short(self.document.tuples)
            return f"not checked here: so many strata of {tuples} tuples each would take too long"
        return None

    def bits_kept(self) -> Judgement:
        """Whether the answers take no more bits a weight than is said of the choice of their domain.

        That was measured of the best class alone, whatever else of the order of classes is published.
        """
        limit = bits_limit(self.document)
        if limit is None:
            return None, "no limit of bits a weight is said to be kept by these answers"
        reason = self._not_again(None)
        if reason is not None:
            return None, reason
        try:
            alike = self.n_classes == 2 or self.certificate.preserve == "label"
            asked = self._box if alike else box(self.release.views)
            if isinstance(asked, Infeasible):
                return None, f"not checked here: {asked.why}"
            found = float(solve(asked).log2_range)
        except Infeasible as error:
            return None, f"not checked here: {error.why}"
        # The limit was a double, and so were they.
        kept, most = found <= float(limit) + ROOM, decimal_text(limit)
        amount = f"{max(found, 0.0):.1f}" if kept else f"{found:.4f}"
        text = f"the answers take {amount} bits a weight, and {most} were the most"
        return kept, text if kept else f"{text} that the domain was chosen with"

    def again(self, private: Viewset | None = None) -> Iterator[tuple[str, *Judgement]]:
        """Whether the release is what answers give, as checks by name; None where that is not known.

        Whatever is published canonically is a function of answers and public parameters, and where it has
        these answers, it is the same made from them once more. Where it has others, and says so, its points
        still are those of their own answers, and its counts those of its points. What else it may hold, and
        whose answers it was computed from, only the `private` views tell.
        """
        reason = self._not_again(private)
        if reason is not None:
            yield "canonical", None, reason
            return
        kept = (
            self.document.differing_tuples == 0
            if self.made.listed is None
            else not self.made.listed.differing
        )
        kept = kept or self.n_classes == 1  # which has the same answer everywhere
        if kept:
            yield "canonical", *self._whole(self.release.views, "its own")
            return
        if private is None:
            text = "that it was made of the private classifier's answers is for the private views to show"
            whole: Judgement = None, text
        else:
            whole = self._whole(private, "the private")
        if not whole[0]:
            yield from self._own_points()
        yield "canonical", *whole

    def _not_again(self, private: Viewset | None) -> str | None:
        """Why nothing is made again."""
        reason = self._unlisted() or self._too_many()
        if reason is not None:
            return reason
        most = MOST_AGAIN // self.document.sharing
        if self.n_classes > 2 and self.codes is None and self.document.tuples > most:
            return f"not checked here: that is done up to {most:,} tuples for more than two classes"
        if private is None and self.n_classes > 1:
            # A file may demand more than its publisher could solve. Who has the private views can wait.
            asked = self._box
            if isinstance(asked, Infeasible):
                return f"not checked here: {asked.why}"
            n_unknowns = unknowns(asked)
            most = MOST_SOLVED if self.n_classes == 2 else MOST_SOLVED_OF_MANY
            most //= self.document.sharing
            if n_unknowns > most:
                return (
                    f"not checked here: {n_unknowns:,} numbers would have to be found, and without the "
                    f"private views {most:,} are"
                )
        return None

    def _whole(self, views: Viewset, whose: str) -> Judgement:
        """Whether the release is byte for byte that of the answers of `views`."""
        known = False
        for rows, remade in self._releases(views):
            known = True
            if self.certificate.version != __version__:
                of_version = replace(remade.certificate, version=self.certificate.version)
                remade = replace(remade, certificate=of_version)
            if self._is_this(remade):
                return True, f"made again from {whose} answers{_how_many(rows)}, the release is this one"
        if not known:
            return None, UNSOLVED
        return self._another(f"made again from {whose} answers, the release is another")

    def _is_this(self, remade: Release) -> bool:
        """Whether the file would be the same, byte for byte: its sha256 was checked when it was read."""
        # That its publisher accepted what the answers give away, and which policy he names, is his own
        # choice, and no answer; and of its own answers nobody sees what was added to the counts before, be it
        # noise.
        ours = self.certificate
        certificate = replace(
            remade.certificate, smoothing=ours.smoothing, privacy=ours.privacy, policy=ours.policy
        )
        certificate = certificate.accepting(self.certificate.accepted)
        remade = replace(remade, certificate=certificate)
        return bool(document_of(remade)["sha256"] == self.document.fields["sha256"])

    def _another(self, text: str) -> Judgement:
        """That something is not what it should be, or may be so for a reason."""
        if self.certificate.version != __version__:
            version = self.certificate.version
            return None, f"{text}; it was made by version {version}, and this is {__version__}"
        if not self.made.reproducible:
            return None, f"{text}, as it may be on another machine"
        return False, text

    def _releases(self, views: Viewset) -> Iterator[tuple[RowsArgument, Release]]:
        """The releases of the answers of `views` in all ways of choosing rows."""
        certificate = self.certificate
        for rows in self._rows():
            try:
                yield (
                    rows,
                    publish(
                        views,
                        certificate.amplification,
                        preserve=certificate.preserve,
                        tuples=self.tuples,
                        bits=self.made.bits,
                        rows=rows,
                        attacker=certificate.attacker,
                        class_name=self.release.class_name,
                        advice=certificate.advice,
                        progress=self._progress,
                    ),
                )
            except Infeasible as error:
                best = error.best.get("release")
                if isinstance(best, Release):
                    yield rows, best

    def _rows(self) -> tuple[RowsArgument, ...]:
        """The ways of choosing rows by which it may have been made."""
        n_rows = sum(self.document.class_counts)
        return "smallest", "proven", *([n_rows] if n_rows <= MOST_ASKED else [])

    def _own_points(self) -> Iterator[tuple[str, *Judgement]]:
        """Whether points are those of their own answers, and counts those of the points.

        Both would else have room for whatever a publisher wants to tell.
        """
        made = self.made
        to = "" if made.bits is None else f", rounded to {made.bits} bit{'s' if made.bits > 1 else ''}"
        same = None
        for rows, remade in self._releases(self.release.views):
            its = remade.certificate.canonical
            assert its is not None
            if same is None:
                same = (its.points, its.constants) == (made.points, made.constants)
                if not same:
                    yield "points", *self._another(f"the points are not those that their answers give{to}")
                    return
                yield "points", True, f"the points are those that their own answers give{to}"
                if made.bits is None:
                    text = "not checked here: what was rounded to so few rows is not in the file"
                    yield "counts", None, text
                    return
            if self._is_this(_as_stated(remade, self.release)):
                yield "counts", True, f"the counts are those that the points give{_how_many(rows)}"
                return
        if same is None:
            yield "points", None, UNSOLVED
        else:
            yield "counts", *self._another("the counts are not those that the points give")


def _how_many(rows: RowsArgument) -> str:
    """That a number of rows is one more thing that a publisher chose."""
    return f" with {short(rows)} rows, as the publisher chose" if isinstance(rows, int) else ""


def _as_stated(remade: Release, release: Release) -> Release:
    """What its own answers give, with what the certificate says of other answers."""
    stated, certificate = release.certificate, remade.certificate
    made, listed = certificate.canonical, None
    assert made is not None
    assert stated.canonical is not None
    if (stated.differing_tuples is None) != (certificate.differing_tuples is None):
        return remade  # another: whether that is known depends on the domain alone
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
    return replace(remade, certificate=certificate)


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
