"""`demanded`: the amplification that was asked for, by itself or by two probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction

from nbcfast._core.numbers import Numeral, as_limit, exact, number_text
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.validation import choice
from nbcfast.safety.allowed import limit

MOST_BITS = 64  # of a number that is shown in full


def demanded(
    amplification: Numeral | None,
    breach: tuple[Numeral, Numeral] | None,
    attacker: str,
    words: Arguments = ARGUMENTS,
) -> Fraction:
    """The amplification that is asked for, by itself or by two probabilities.

    Parameters
    ----------
    amplification : int, Fraction, str or float, optional
        This, or
    breach : pair of numbers, optional
        these must be given.
    attacker : {"row", "worlds"}
        For whom the least is 1 or 2.
    words : Arguments
        Those of the caller.

    Examples
    --------
    >>> demanded(None, (0.5, 0.8), "row")
    Fraction(4, 1)
    """
    if (amplification is None) == (breach is None):
        begin = (
            f"neither; to begin with, {words.given('amplification', 4)}: to a reader of the counts none of "
            "two equally probable classes gets above 80 %"
        )
        came = begin if breach is None else "both"
        raise ValueError(
            f"expected one of {words.form('amplification', 'L')} and {words.form('breach', 'L1', 'L2')}, "
            f"got {came}"
        )
    choice(attacker, ("row", "worlds"), words.named("attacker"))
    if breach is not None:
        found = _preventing(breach, words)
    else:
        named = words.named("amplification")
        found = as_limit(exact(amplification, named), named)
    least = 2 if attacker == "worlds" else 1
    if found <= least:
        reason = ", because attacker 'worlds' needs half of it" if attacker == "worlds" else ""
        raise ValueError(f"{words.named('amplification')} must be above {least}{reason}; got {_shown(found)}")
    return found


def _preventing(breach: tuple[Numeral, Numeral], words: Arguments) -> Fraction:
    """The amplification that prevents a breach."""
    no_pair = TypeError(f"{words.named('breach')} must be a pair of numbers, got {breach!r}")
    # The first of a set is not the one that was written first.
    if isinstance(breach, str | Set | Mapping) or not hasattr(breach, "__len__") or len(breach) != 2:
        raise no_pair
    try:
        return limit(*breach)
    except TypeError:
        raise no_pair from None
    except ValueError:
        came = " and ".join(map(str, breach))
        raise ValueError(f"{words.named('breach')} must be two numbers 0 < L1 < L2 < 1, got {came}") from None


def _shown(number: Fraction) -> str:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        return f"about {float(number):.6g}"
    return number_text(number)
