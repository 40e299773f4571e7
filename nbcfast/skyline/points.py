"""`Point`: how much an adversary may know (l, k, m), and the confidence that must not be reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from nbcfast._core.numbers import Numeral, exact, exact_share, number_text
from nbcfast._core.validation import whole

AnyPoint = Sequence[Numeral]  # (l, k, m, confidence)


class Point(NamedTuple):
    """Knowledge of at most `l`, `k` and `m` pieces, and the probability that it must stay below.

    Attributes
    ----------
    l : int
        Values that the target is known not to have.
    k : int
        Other people whose value is known.
    m : int
        People of whom it is known that, had any of them the value, the target would have it too.
    confidence : Fraction
        Safe is a breach probability strictly below it; in (0, 1].
    """

    l: int
    k: int
    m: int
    confidence: Fraction

    def __repr__(self) -> str:
        amounts = ", ".join(map(number_text, self[:3]))
        return f"({amounts}, {number_text(exact(self.confidence, 'confidence'))})"


def as_confidence(number: Numeral, where: str = "confidence") -> Fraction:
    """The confidence as a Fraction; a float means its shortest decimal text, and "60%" is 3/5."""
    value = Fraction(exact_share(number, where))
    if not 0 < value <= 1:
        shown = number_text(value) if isinstance(number, Fraction) else repr(number)
        raise ValueError(f"{where} must be in (0, 1], got {shown}")
    return value


def as_points(points: Iterable[AnyPoint]) -> tuple[Point, ...]:
    """Checked points, each from (l, k, m, confidence).

    Examples
    --------
    >>> as_points([(3, 4, 2, 0.95)])
    ((3, 4, 2, 0.95),)
    """
    if isinstance(points, (str, bytes)):
        raise TypeError(f"points: expected a sequence of (l, k, m, confidence), got the text {points!r}")
    try:
        listed = list(points)
    except TypeError:
        raise TypeError(
            f"points: expected a sequence of (l, k, m, confidence), got {type(points).__name__}"
        ) from None
    if not listed:
        raise ValueError("points: expected at least one (l, k, m, confidence), got none")
    checked = []
    # A thousand points may have one confidence; 1 and True, which are equal, are kept apart by their type.
    confidences: dict[tuple[type, float | str | Fraction] | None, Fraction] = {}
    for number, point in enumerate(listed):
        where = f"points[{number}]"
        if isinstance(point, (str, bytes)) or not isinstance(point, Iterable):
            hint = f"; one point is written [{tuple(listed)!r}]" if len(listed) == 4 else ""
            raise TypeError(f"{where}: expected (l, k, m, confidence), got {point!r}{hint}")
        parts = tuple(point)
        if len(parts) != 4:
            raise ValueError(f"{where}: expected (l, k, m, confidence), got {len(parts)} numbers: {parts!r}")
        l, k, m = (whole(part, f"{where}: {name}", 0) for part, name in zip(parts, "lkm", strict=False))
        key = (type(parts[3]), parts[3]) if isinstance(parts[3], (float, str, Fraction)) else None
        if key is None or key not in confidences:
            confidences[key] = as_confidence(parts[3], f"{where}: confidence")
        checked.append(Point(l, k, m, confidences[key]))
    return tuple(checked)
