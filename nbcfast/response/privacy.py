"""What coins hide: `Privacy` of a scheme, and `GroupPrivacy` of each of its groups.

Why groups of several columns may have no epsilon: docs/mathematics/response.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.untyped import Document
from nbcfast._wire.coins import greatest_odds
from nbcfast._wire.messages import decimal_text, printable
from nbcfast._wire.privacy_form import WEAK_EPSILON
from nbcfast._wire.scheme import unbounded
from nbcfast.response.coin_groups import Group


@dataclass(frozen=True)
class GroupPrivacy:
    """What the coin of one group hides.

    Attributes
    ----------
    columns : tuple of str
    odds : Fraction or None
        The most that an answer can multiply the odds of any two truths by, e^epsilon; None where it has no
        bound.
    text : str
        The same in words.
    """

    columns: tuple[str, ...]
    odds: Fraction | None
    text: str

    @classmethod
    def of(cls, group: Group, sizes: Sequence[int], lie: str | None) -> GroupPrivacy:
        """What the coin of a group hides whose columns have so many values.

        The rules are those of the verifiers and of devices: of `_wire`, with `lie` as there.
        """
        why_endless = unbounded(group.theta, sizes, lie)
        if why_endless is not None:
            return cls(group.columns, None, why_endless)
        odds = greatest_odds(group.theta, sizes, lie)
        text = (
            f"epsilon-LDP with epsilon = ln {decimal_text(odds)} = {math.log(odds):.4g}: no answer makes one "
            f"truth more than {decimal_text(odds)} times as likely"
        )
        return cls(group.columns, odds, text)

    @property
    def epsilon(self) -> float:
        """Ln odds; infinite where the group is not epsilon-LDP for any epsilon."""
        if self.odds is None:
            return math.inf
        # Odds may be beyond floats, and their logarithm is not.
        return math.log(self.odds.numerator) - math.log(self.odds.denominator)

    @property
    def is_ldp(self) -> bool:
        return self.odds is not None

    @property
    def is_weak(self) -> bool:
        """Whether it hardly hides anybody: there is no bound, or so large a one."""
        return not self.is_ldp or self.epsilon >= WEAK_EPSILON

    def to_dict(self) -> Document:
        odds = None if self.odds is None else decimal_text(self.odds)
        return {"columns": list(self.columns), "odds": odds, "epsilon": self.epsilon, "text": self.text}


@dataclass(frozen=True)
class Privacy:
    """What a scheme hides, group by group; groups have coins of their own, so their epsilons add up.

    Attributes
    ----------
    groups : tuple of GroupPrivacy
    """

    groups: tuple[GroupPrivacy, ...]

    @property
    def odds(self) -> Fraction | None:
        """The product of those of the groups; None if one of them has no bound."""
        total = Fraction(1)
        for group in self.groups:
            if group.odds is None:
                return None
            total *= group.odds
        return total

    @property
    def epsilon(self) -> float:
        return math.fsum(group.epsilon for group in self.groups)

    @property
    def is_ldp(self) -> bool:
        return self.odds is not None

    @property
    def is_weak(self) -> bool:
        """The same of all coins together."""
        return not self.is_ldp or self.epsilon >= WEAK_EPSILON

    @property
    def text(self) -> str:
        lines = [printable(f"{', '.join(group.columns)}: {group.text}") for group in self.groups]
        if self.is_ldp:
            lines.append(f"all columns of the scheme together: epsilon = {self.epsilon:.6g}")
        else:
            lines.append("all columns of the scheme together: not epsilon-LDP for any epsilon")
        lines.append("columns outside the scheme are told as they are")
        return "\n".join(lines)

    def to_dict(self) -> Document:
        return {
            "epsilon": self.epsilon,
            "is_ldp": self.is_ldp,
            "groups": [group.to_dict() for group in self.groups],
            "text": self.text,
        }

    def __repr__(self) -> str:
        return f"Privacy(\n  {self.text.replace(chr(10), chr(10) + '  ')}\n)"
