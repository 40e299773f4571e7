"""What was asked of a publication, and which method answers it: by public facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.numbers import Numeral
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.validation import choice
from nbcfast._rounding.rows import RowsArgument, checked_rows
from nbcfast.canonical.publish import not_here
from nbcfast.canonical.ratio_intervals import programmes
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.smoothing import constant

ReleaseMethod = Literal["canonical", "safetytransform", "est"]

METHODS = ("canonical", "safetytransform", "est")
FACTS = {
    "canonical": "from the classifier's answers and nothing else",
    "safetytransform": "from powers of the counts",
    "est": "from powers of the counts and of the prior",
}


@dataclass(frozen=True)
class Choice:
    """A method, and why it is this one.

    Attributes
    ----------
    method : {"canonical", "safetytransform", "est"}
    asked : bool
        Whether it was asked for, by name or by an argument that goes with it alone.
    why : str or None
        Why it is not the canonical release, where nothing was asked for.
    """

    method: ReleaseMethod
    asked: bool
    why: str | None = None

    @property
    def text(self) -> str:
        """The method in words, and why it is this one."""
        default = "by default" if self.method == "canonical" and not self.asked else "as asked"
        return f"{self.method} ({self.why or default}): {FACTS[self.method]}"


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What was asked for, checked as far as it can be without the table; see `publish` for each.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or two do not go together.
    ImportError
        If SciPy is missing, which the intervals need.
    """

    amplification: Fraction
    attacker: Attacker = "row"
    method: ReleaseMethod | None = None
    preserve: Preserve | None = None
    prior: Mapping[Value, Numeral] | None = None
    bits: int | None = None
    alpha: Numeral | None = None
    by: str | None = None
    listed: bool = False
    intervals: bool = False
    rows: RowsArgument = "smallest"
    allow_differences: bool = False
    gauge: bool = True
    words: Arguments = ARGUMENTS

    def __post_init__(self) -> None:
        words = self.words
        for name in ("intervals", "allow_differences", "gauge"):
            if not isinstance(getattr(self, name), bool):
                kind = type(getattr(self, name)).__name__
                raise TypeError(f"{words.named(name)} must be a bool, got {kind}")
        for name, allowed in (("method", METHODS), ("preserve", ("order", "label"))):
            if getattr(self, name) is not None:
                choice(getattr(self, name), allowed, words.named(name))
        if isinstance(checked_rows(self.rows), str) and self.allow_differences:
            raise ValueError(
                f"{words.named('allow_differences')} goes with {words.form('rows', 'R')}, a number"
            )
        if self.alpha is not None:
            object.__setattr__(self, "alpha", constant(self.alpha, words.named("alpha")))
            if self.by is not None:
                raise ValueError(
                    f"{words.named('alpha')} smooths one classifier, and does not go with {words.named('by')}"
                )
        if self.method == "est" and self.prior is None:
            raise ValueError(f"{words.given('method', 'est')} goes with {words.named('prior')}, got none")
        if self.by is not None and self.listed:
            raise ValueError(f"{words.named('by')} goes without {words.named('tuples')}, got both")
        self._expect_one_method()
        if self.intervals:
            programmes()  # refused now, and not after everything else

    def _expect_one_method(self) -> None:
        """Arguments go with one method each, and those given must be of the same."""
        words = self.words
        canonical = [words.given("method", "canonical")] if self.method == "canonical" else []
        powers = [words.given("method", "safetytransform")] if self.method == "safetytransform" else []
        near = self._near
        others = [*self._of_powers, *near, *powers]
        if self._of_canonical and others:
            raise ValueError(
                f"{self._of_canonical[0]} goes with {words.given('method', 'canonical')}, not with "
                f"{others[0]}"
            )
        if self._of_powers and canonical:
            raise ValueError(
                f"{self._of_powers[0]} goes with {words.given('method', 'safetytransform')}, not with "
                f"{canonical[0]}"
            )
        if near and (canonical or powers):
            other = [*canonical, *powers][0]
            raise ValueError(f"{near[0]} goes with {words.given('method', 'est')}, not with {other}")
        if self.intervals and (self.listed or others):
            other = words.named("tuples") if self.listed else others[0]
            raise ValueError(
                f"{words.named('intervals')} goes with the leak meter, and that not with {other}"
            )

    @property
    def _of_canonical(self) -> list[str]:
        """What was given and goes with the canonical release alone."""
        given = {
            "bits": self.bits is not None,
            "alpha": self.alpha is not None,
            "by": self.by is not None,
            "tuples": self.listed,
        }
        return [self.words.named(name) for name, is_given in given.items() if is_given]

    @property
    def _of_powers(self) -> list[str]:
        """What was given and goes with powers of the counts."""
        given = {("gauge", False): not self.gauge, ("allow_differences", True): self.allow_differences}
        return [self.words.given(*argument) for argument, is_given in given.items() if is_given]

    @property
    def _near(self) -> list[str]:
        """What was given and goes with EST."""
        return [] if self.prior is None else [self.words.named("prior")]

    def chosen(self, views: Viewset) -> Choice:
        """The method: the one that was asked for, or the canonical release where it applies."""
        if self.prior is not None:
            return Choice("est", True)
        if self.method is not None:
            return Choice(self.method, True)
        if self._of_canonical:
            return Choice("canonical", True)
        if self._of_powers:
            return Choice("safetytransform", False, f"{self._of_powers[0]} goes with it alone")
        reason = not_here(views, preserve=self.preserve or "label")
        if reason is not None:
            return Choice("safetytransform", False, f"canonical does not apply: {reason}")
        return Choice("canonical", False)
