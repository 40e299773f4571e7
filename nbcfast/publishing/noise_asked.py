"""Which noise is asked for of a publication, and what does not go with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from nbcfast._core.numbers import Numeral
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast.dp.asked import noise_for
from nbcfast.views.noise import Neighbours, Noise

NAMES = ("epsilon", "delta", "rho", "neighbours", "rows_per_person")  # the keywords of `nbcfast.dp.counts`
Name = Literal["epsilon", "delta", "rho", "neighbours", "rows_per_person"]


@dataclass(frozen=True, kw_only=True)
class NoiseAsked:
    """What is handed to `nbcfast.dp.counts`, checked as far as it can be without the table.

    Raises
    ------
    ValueError, TypeError
        If a number is not as described there.
    """

    epsilon: Numeral | None = None
    delta: Numeral | None = None
    rho: Numeral | None = None
    neighbours: Neighbours = "add-remove"
    rows_per_person: int = 1
    words: Arguments = ARGUMENTS

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            came = "neither" if self.epsilon is None else "both"
            raise ValueError(f"expected one of {self.named('epsilon')} and {self.named('rho')}, got {came}")
        self.noise(1)

    def noise(self, n_attributes: int) -> Noise:
        """The noise for counts of so many attributes."""
        try:
            return noise_for(
                n_attributes, self.epsilon, self.delta, self.rho, self.neighbours, self.rows_per_person
            )
        except (TypeError, ValueError) as error:
            word = re.match(r"[a-z_]+(?= )", str(error))
            if word is None or word[0] not in NAMES:
                raise
            text = f"{self.named(cast('Name', word[0]))}{str(error)[word.end() :]}"
            raise type(error)(text) from None

    @property
    def keywords(self) -> dict[str, object]:
        """The same as a mapping, of what was given."""
        given = {name: getattr(self, name) for name in NAMES}
        return {name: entry for name, entry in given.items() if entry is not None}

    def named(self, name: Name) -> str:
        """One of these arguments as the caller gives it."""
        return self.words.noise(name)


def noise_asked(dp: Mapping[str, object] | NoiseAsked | None) -> NoiseAsked | None:
    """What a mapping of the keywords of `nbcfast.dp.counts` asks for.

    Examples
    --------
    >>> noise_asked({"epsilon": 1}).noise(4).level
    'epsilon 1'
    """
    if dp is None or isinstance(dp, NoiseAsked):
        return dp
    if not isinstance(dp, Mapping):
        raise TypeError(f"dp must be a mapping such as {{'epsilon': 1}} or None, got {type(dp).__name__}")
    strange = [name for name in dp if name not in NAMES]
    if strange:
        raise ValueError(f"dp must have keys of {', '.join(NAMES)}, got {strange[0]!r}")
    return NoiseAsked(**cast("Mapping[Name, Numeral]", dp))  # type: ignore[arg-type]  # checked there


def expect_alone(besides: Iterable[tuple[str, bool, str]], words: Arguments) -> None:
    """Refuse what does not go with noise: (argument, whether it was given, why not)."""
    for name, is_given, why in besides:
        if is_given:
            raise ValueError(f"{words.named(name)} does not go with {words.noise()}: {why}")


UNLIMITED = (
    "limits are on what exact answers give away, and these are answers of noisy counts, of which the noise "
    "bounds what they tell of anybody"
)
REASONS = {
    "menu": "the best domain of a menu is found by looking at the private rows, which no noise hides: choose "
    "it before, on other rows or by votes (advise), and give the domain",
    "by": "noise is added to one table of counts: publish with the column as an attribute",
    "alpha": "a constant that fits the noise is added to every noisy count already",
    "weights": "of rows that count for more than one no noise is known to hide one",
    "intervals": "they are of exact counts",
    "limits": UNLIMITED,
    "accept_answers": UNLIMITED,
}
