"""A release that is to be entered, and what it gives away beside those of earlier lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nbcfast._core.errors import Infeasible, expect
from nbcfast._wire.messages import printable
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import AnyBox
from nbcfast.canonical.leak import most_told
from nbcfast.ledger.joint_trace import EarlierCounts, JointTrace, TableRows, joint_trace
from nbcfast.ledger.ledger_lines import (
    LedgerLine,
    ReleaseTerms,
    domain_digest,
    domain_parts,
)
from nbcfast.ledger.spent import AnyNoise, NoiseLine
from nbcfast.ledger.windows import WindowLabels
from nbcfast.views import Viewset
from nbcfast.views.flat import usable

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

POWERS = (
    "a release by powers of the counts changes with every row: the class and presence of everybody shows "
    "to who knows all others"
)
ONE_CLASS = "there is one class"


class AskedRelease(NamedTuple):
    """A release that is to be entered."""

    views: Viewset
    private: bool
    terms: ReleaseTerms
    window: WindowLabels | None
    noise: NoiseLine | None
    classes: list[object]
    attributes: list[object]
    domain: str

    @classmethod
    def of(
        cls, views: Viewset, window: object, noise: AnyNoise | None, terms: ReleaseTerms | None
    ) -> AskedRelease:
        expect(views, Viewset, "views")
        terms = ReleaseTerms() if terms is None else terms
        expect(terms, ReleaseTerms, "terms")
        if views.noise is not None and noise is not None and noise != views.noise:
            raise ValueError(f"noise must be that of the views, {views.noise.level}, or not be given")
        noise = views.noise if noise is None else noise
        classes, attributes = domain_parts(views)
        return cls(
            views,
            views.noise is None,  # of noisy counts nothing is measured, and none are kept
            terms,
            WindowLabels.of(window),
            None if noise is None else NoiseLine.of(noise),
            classes,
            attributes,
            domain_digest(classes, attributes, terms),
        )

    def is_that_of(self, line: LedgerLine, release: str | None) -> bool:
        """Whether a line was entered for this very release: never with noise.

        Coins that are thrown anew may fall so that the release is the same, and have cost as much once more.
        """
        if self.noise is not None or line.noise is not None:
            return False
        return line.release == release and line.window == self.window

    def expect_alike(self, earlier: list[LedgerLine]) -> None:
        """Infeasible where an earlier release without noise is over another domain, or made otherwise.

        With noise what several releases tell is bounded by the sum of what they cost, whatever they are of.
        A window with labels of another kind is a ValueError here: once entered it would stop all later ones.
        """
        for line in earlier:
            if self.window is not None and line.window is not None:
                self.window.expect_kind(line.window)
        if self.noise is not None:
            return
        for line in earlier:
            if line.noise is None and line.domain != self.domain:
                raise Infeasible(
                    f"line {line.n} of the ledger has {self._other(line)}: coarse and fine answers together "
                    "tell more than fine ones, so that a table is published over one domain and in one way; "
                    "declare the domain, and keep it",
                    {},
                )

    def _other(self, line: LedgerLine) -> str:
        """What differs, in words."""
        if line.classes != self.classes:
            return "other classes, or in another precedence"
        there = {str(entry[0]): entry[1] for entry in line.attributes if isinstance(entry, list)}
        here = {str(entry[0]): entry[1] for entry in self.attributes if isinstance(entry, list)}
        for name in sorted(there.keys() ^ here.keys()):
            return f"{'also ' if name in there else 'not '}attribute {printable(repr(name))}"
        for name in here:
            if there[name] != here[name]:
                return f"other values of attribute {printable(repr(name))}"
        mine, other = self.terms.parameters, line.terms.parameters
        for name in sorted(mine.keys() | other.keys()):
            if mine.get(name) != other.get(name):
                values = [printable(str(given.get(name, "none"))) for given in (other, mine)]
                return f"{printable(name)} {values[0]}, and not {values[1]}"
        return "its attributes in another order"

    def answers(self, threads: int | None) -> tuple[AnyBox | None, str | None]:
        """All answers, or why they are not known; there are none of counts with noise."""
        if self.noise is not None:
            return None, None
        smoothing = self.terms.smoothing
        try:
            usable(self.views)
            views = self.views if smoothing is None else self.views.smoothed(smoothing)
            return box(views, mode=self.terms.preserve, threads=threads), None
        except Infeasible as error:
            return None, error.why


def prefixes_of(rows: TableRows, earlier: list[LedgerLine], asked: AskedRelease) -> dict[int, int]:
    """Of lines whose counts are those of the first rows of today's table, how many rows these are."""
    ends = []
    for line in earlier:
        if line.views is not None and line.domain == asked.domain:
            end = rows.first(line.views.n_rows)
            if end is not None:
                ends.append((line.n, end, line.views))
    equal = rows.first_counts([(end, views) for _, end, views in ends])
    return {n: end for (n, end, _), is_equal in zip(ends, equal, strict=True) if is_equal}


def joint_of(
    asked: AskedRelease,
    earlier: list[LedgerLine],
    rows: TableRows,
    prefixes: dict[int, int],
    answers: AnyBox | None,
    why_not: str | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[JointTrace | None, str | None]:
    """Who shows in all releases without noise together, or why that is not known."""
    exact = [line for line in earlier if line.noise is None]
    n_people = sum(rows.weights.tolist())
    if asked.terms.method != "canonical":
        return JointTrace(n_people, 0, 0, True, True, len(exact) + 1), POWERS
    if answers is None or why_not is not None:
        return None, why_not
    if len(asked.views.classes) < 2:
        return None, ONE_CLASS
    releases = []
    for line in exact:
        assert line.views is not None  # lines without counts have noise
        if (
            line.n not in prefixes
            and asked.window is not None
            and line.window is not None
            and asked.window.apart_from(line.window)
        ):
            continue  # none of today's rows is in it
        smoothing = line.terms.smoothing
        of_line = line.views if smoothing is None else line.views.smoothed(smoothing)
        releases.append(
            EarlierCounts(
                line.views, box(of_line, mode=line.terms.preserve, threads=threads), prefixes.get(line.n)
            )
        )
    found = joint_trace(
        rows,
        asked.views,
        answers,
        releases,
        smoothing=asked.terms.smoothing,
        threads=threads,
        progress=progress,
    )
    return found, None


def total_bits_of(earlier: list[LedgerLine], asked: AskedRelease, same: bool) -> float | None:
    """The sum of what the answers of releases without noise can say at most."""
    terms = [line.terms for line in earlier if line.noise is None]
    if asked.noise is None and not same:
        terms.append(asked.terms)
    if not terms or any(one.method != "canonical" for one in terms):
        return None
    sizes = {name: len(array) for name, array in asked.views.counts.items()}
    # They are over one domain, unless this one has noise, of which nobody asks.
    if asked.noise is not None and any(line.domain != asked.domain for line in earlier if line.noise is None):
        return None
    return sum(most_told(sizes, len(asked.views.classes), one.preserve) for one in terms)
