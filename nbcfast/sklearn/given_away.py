"""What published counts give away of private rows, where these are the rows that they were made of.

By the measures of `nbcfast.publish`: the leak meter, the totals attack, and Lambda. Of rows that are not
those of an entry nothing is measured: few counts of others would come back, and that would look like safety.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Number
from nbcfast.attack.totals import totals
from nbcfast.canonical import Leak, box, solve
from nbcfast.canonical.leak import leak
from nbcfast.canonical.publish import not_here
from nbcfast.equivalence import compare
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.publishing.no_attribute import measurable
from nbcfast.publishing.prepared import LISTED, MOST_ATTACKED
from nbcfast.table import Table
from nbcfast.verification.compared import aligned, compared, made_again
from nbcfast.views import Viewset, count

ONE_CLASS = "there is one class, and answers of one class tell nothing apart"
NOISY = "noise was added to its counts, and no file shows of which rows they are: give these as private="
OF_NOISE = "noise was added to its counts: what it hides of one person is said by its epsilon"
NOT_SHOWN = "whether it was made of these rows cannot be shown ({}): give the rows it was made of as private="
OTHERS = "it was not made of these rows ({}): give those that it was made of as private="
BESIDE_ANSWERS = "they give its answers, as other rows may, and made again they give other counts"
NO_ATTRIBUTE = "there is no attribute that has counts"
UNMEASURABLE = "the meter cannot measure these answers ({})"
TOO_MANY = "there are too many counts to attack"


@dataclass(frozen=True)
class PublishedCounts:
    """What an entry publishes, as far as it is counts.

    Attributes
    ----------
    views : Viewset
        Counts that decide as it does.
    certificate : Certificate or None
        Of a release.
    raw : Viewset or None
        The counts that stand in it as they are, if any may.
    alpha : Number or None
        What was added to the private counts before.
    """

    views: Viewset
    certificate: Certificate | None = None
    raw: Viewset | None = None
    alpha: Number | None = None

    @property
    def canonical(self) -> bool:
        """Whether it says nothing but its answers."""
        return self.certificate is not None and self.certificate.canonical is not None

    @property
    def preserve(self) -> Literal["label", "order"]:
        return "label" if self.certificate is None else self.certificate.preserve

    @property
    def has_noise(self) -> bool:
        certificate = self.certificate
        return self.views.noise is not None or (certificate is not None and certificate.privacy is not None)

    @property
    def is_listed(self) -> bool:
        """Whether it keeps answers on a public list alone."""
        made = None if self.certificate is None else self.certificate.canonical
        return made is not None and made.listed is not None


@dataclass(frozen=True)
class GivenAway:
    """What comes back and shows, as `ComparedRelease` has it; of rows in strata the sums of all."""

    bits: float | None = None
    found: int | None = None
    cells: int | None = None
    shows_class: int | None = None
    looked_at: int | None = None
    flip: float | None = None
    flip_is: Literal["exactly", "at least", "at most"] = "exactly"
    flip_shows_at_most: float | None = None
    why: Mapping[str, str] = field(default_factory=dict)


class PrivateMeter:
    """Measures of the same private rows, none of which is made twice.

    Parameters
    ----------
    asserted : bool
        Whether somebody says that the rows are those that every entry was made of, where no file can show it.
    threads : int, optional
    """

    def __init__(self, *, asserted: bool, threads: int | None = None) -> None:
        self._asserted = asserted
        self._threads = threads
        self._leaks: list[tuple[Table, str, Number | None, Leak]] = []

    def of(self, entry: PublishedCounts, rows: Table, class_name: str) -> GivenAway:
        """What an entry gives away of these rows, which are in its values."""
        try:
            private = aligned(count(rows, class_name, entry.views.attributes), entry.views)
        except ValueError as error:
            return self.not_of(entry, error)
        if _stand_in(entry, private):
            return self._with_bits(entry, _all_of(private), {})
        others = self._not_made_of(entry, private)
        if others is not None:
            return self._with_bits(entry, GivenAway(), {"found": others, "flip": others})
        return self._with_bits(entry, *self._measured(entry, private, rows, class_name))

    def not_of(self, entry: PublishedCounts, error: ValueError) -> GivenAway:
        """The same where the rows cannot be those of the entry."""
        reason = OTHERS.format(error)
        return self._with_bits(entry, GivenAway(), {"found": reason, "flip": reason})

    def _with_bits(self, entry: PublishedCounts, measured: GivenAway, why: dict[str, str]) -> GivenAway:
        """What was measured of rows, and the bits, which take none."""
        bits, why_no_bits = self._bits(entry)
        own = {} if why_no_bits is None else {"bits": why_no_bits}
        return replace(measured, bits=bits, why={**own, **why})

    def _not_made_of(self, entry: PublishedCounts, private: Viewset) -> str | None:
        """Why these are not, or not for sure, the rows of an entry; None where they decide as it says.

        Counts without a certificate are those of these rows or they are not: that other counts decide alike
        is no sign of whose they are.
        """
        if entry.has_noise:
            return None if self._asserted else NOISY
        if entry.certificate is None and not self._asserted:
            return OTHERS.format("its counts are others")
        try:
            own = private if entry.alpha is None else private.smoothed(entry.alpha)
        except Infeasible as error:
            return NOT_SHOWN.format(error)
        if entry.certificate is None:
            found = compare(own, entry.views, "label", threads=self._threads)
            return None if found.equal is not False else f"it decides otherwise than these rows: {found!r}"
        checks, _ = compared(Release(entry.views, entry.certificate), own, None, None, None)
        failed = [check for check in checks if not check[1]]
        if not failed:
            shown = self._asserted or entry.canonical or _would_be(entry.certificate, own, entry.views)
            return None if shown else NOT_SHOWN.format(BESIDE_ANSWERS)
        _, holds, text = failed[0]
        if holds is False:
            return OTHERS.format(text)
        return None if self._asserted else NOT_SHOWN.format(text)

    def _measured(
        self, entry: PublishedCounts, private: Viewset, rows: Table, class_name: str
    ) -> tuple[GivenAway, dict[str, str]]:
        """Counts that come back, and people who show; and why what is missing was not measured."""
        why: dict[str, str] = {}
        met = self._leak(entry, private, rows, class_name)
        shows = GivenAway()
        if isinstance(met, str):
            why["flip"] = met
        else:
            shows = _of_leak(entry, met)
        if entry.canonical and isinstance(met, Leak):  # which says nothing but the answers that were attacked
            return replace(shows, found=met.found, cells=met.cells), why
        if not private.attributes:
            why["found"] = NO_ATTRIBUTE
        elif sum(array.size for array in private.counts.values()) > MOST_ATTACKED:
            why["found"] = TOO_MANY
        else:
            attacked = totals(_as_published(entry), private, alpha=entry.alpha)
            back = max(attacked.found, (met.found or 0) if isinstance(met, Leak) else 0)
            shows = replace(shows, found=back, cells=attacked.cells)
        return shows, why

    def _leak(self, entry: PublishedCounts, private: Viewset, rows: Table, class_name: str) -> Leak | str:
        """What the meter says of all answers of the private counts, or why it says nothing."""
        if entry.has_noise:
            return OF_NOISE
        if entry.is_listed:
            return LISTED
        for looked_at, preserve, alpha, known in self._leaks:
            if (preserve, alpha) == (entry.preserve, entry.alpha) and looked_at == rows:
                return known
        views, table = measurable(private, rows, class_name)
        too_large = not_here(views, preserve=entry.preserve)
        if too_large is not None:
            return UNMEASURABLE.format(too_large)
        try:
            found = leak(
                views,
                preserve=entry.preserve,
                alpha=entry.alpha,
                table=table,
                class_name=class_name,
                threads=self._threads,
            )
        except (Infeasible, ValueError) as error:
            return UNMEASURABLE.format(error)
        if not found.measured:
            return ONE_CLASS
        self._leaks.append((rows, entry.preserve, entry.alpha, found))
        return found

    def _bits(self, entry: PublishedCounts) -> tuple[float | None, str | None]:
        """Bits a weight of what is published, whatever rows it was made of."""
        if entry.is_listed:
            return None, LISTED
        if len(entry.views.classes) == 1:
            return None, ONE_CLASS
        too_large = not_here(entry.views, preserve=entry.preserve)
        if too_large is not None:
            return None, UNMEASURABLE.format(too_large)
        try:
            solution = solve(box(entry.views, mode=entry.preserve, threads=self._threads))
        except (Infeasible, ValueError) as error:  # of a class without rows, say
            return None, UNMEASURABLE.format(error)
        return float(solution.log2_range), None


def _would_be(made: Certificate, private: Viewset, views: Viewset) -> bool:
    """Whether these rows give this very release, which says more than its answers."""
    again = (made_again(private, made, "smallest"), made_again(private, made, "proven"))
    return any(one is not None and one.views == views for one in again)


def _as_published(entry: PublishedCounts) -> Release | Viewset:
    return entry.views if entry.certificate is None else Release(entry.views, entry.certificate)


def _stand_in(entry: PublishedCounts, private: Viewset) -> bool:
    """Whether the private counts stand in what is published, to be read by everybody."""
    raw = entry.raw
    if entry.certificate is not None and entry.certificate.identity:
        raw = entry.views
    return (
        raw is not None
        and bool(np.array_equal(raw.class_counts, private.class_counts))
        and all(np.array_equal(raw.counts[name], private.counts[name]) for name in private.attributes)
    )


def _all_of(private: Viewset) -> GivenAway:
    """What shows where counts are published as they are: everything.

    Whoever knows all other people takes these off, and what is left is one person's row, with its class.
    """
    cells = sum(int((array.sum(axis=1) > 0).sum()) for array in private.counts.values())
    people = int(private.n_rows)
    return GivenAway(found=cells, cells=cells, flip=0.0, shows_class=people, looked_at=people)


def _of_leak(entry: PublishedCounts, found: Leak) -> GivenAway:
    certificate = entry.certificate
    flip_is: Literal["exactly", "at least", "at most"] = "exactly" if entry.canonical else "at least"
    if entry.canonical and certificate is not None and certificate.canonical is not None:
        flip_is = "exactly" if certificate.canonical.bits is None else "at most"
    return GivenAway(
        shows_class=found.shows_class,
        looked_at=found.sampled,
        flip=found.flip,
        flip_is=flip_is,
        flip_shows_at_most=found.flip_shows_at_most,
    )


def of_all(parts: Sequence[GivenAway]) -> GivenAway:
    """What strata give away together: the most bits, the sums of counts and people, the least share.

    Where one of them was not measured none of all was.
    """
    if len(parts) == 1:
        return parts[0]
    why = {measure: reason for part in parts for measure, reason in part.why.items()}
    bits = [part.bits for part in parts if part.bits is not None]
    together = GivenAway(bits=max(bits) if "bits" not in why and bits else None, why=why)
    if "found" not in why:
        together = replace(
            together,
            found=sum(part.found or 0 for part in parts),
            cells=sum(part.cells or 0 for part in parts),
        )
    if "flip" in why:
        return together
    samples = [part.flip_shows_at_most for part in parts]
    return replace(
        together,
        shows_class=sum(part.shows_class or 0 for part in parts),
        looked_at=sum(part.looked_at or 0 for part in parts),
        flip=min(part.flip for part in parts if part.flip is not None),
        flip_is=parts[0].flip_is,
        # Of a sample in any stratum the worst bound is one for all.
        flip_shows_at_most=max((most for most in samples if most is not None), default=None),
    )
