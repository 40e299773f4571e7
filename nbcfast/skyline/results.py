"""What a check finds: the verdict on each point, and the attack that comes closest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.numbers import exact, number_text
from nbcfast._core.untyped import Document
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, findings, paragraph
from nbcfast._wire.messages import printable
from nbcfast.skyline.points import Point
from nbcfast.table.values import Value

Key = dict[str, Value]  # the label of a group: column -> value
Secret = Value | tuple[Value, ...]  # what a person has: a value, or all values of a set

MOST_NAMED = 12  # values that a sentence lists


@dataclass(frozen=True, repr=False)
class Attack:
    """The knowledge that brings somebody closest to being sure of somebody's value.

    Attributes
    ----------
    case : {1, 2, 3}
        1: the target and everybody known of are in one group. 2: the people of `implied` are in another.
        3: the people of `known` and `implied` are in another group than the target.
    value
        The sensitive value that the target is believed to have.
    people : tuple of (int, int)
        How many people the target's group holds, and how many of them have the value. In case 3 and with
        statistics alone None.
    pieces : tuple of (int, int, int)
        How many values, people and implications are made use of: at most l, k and m.
    breach : float
        The probability that the target has the value, given the knowledge.
    group, known_group, implied_group : dict or None
        Column -> value of the groups of the target, of the people whose value is known, and of those whose
        value would imply the target's. None where nobody is there, or where only statistics were checked.
    excluded : tuple, or None where only statistics were checked
        The values that the target is known not to have.
    known : tuple of (value, number of people), or None where only statistics were checked
        Whose value is known. For sets of values, the sets.
    """

    case: int
    value: Value
    people: tuple[int, int] | None
    pieces: tuple[int, int, int]
    breach: float
    group: Key | None
    excluded: tuple[Value, ...] | None
    known: tuple[tuple[Secret, int], ...] | None
    known_group: Key | None
    implied_group: Key | None

    @property
    def text(self) -> str:
        """The attack in words."""
        l, k, m = self.pieces
        value = value_text(self.value)
        size = "" if self.people is None else f" ({self.people[0]} people, {self.people[1]} with {value})"
        there = "a group" if self.group is None else key_text(self.group)
        knowledge = []
        if l:
            what = f"none of {l} values there"
            if self.excluded is not None:
                what = f"not {listed_text(map(value_text, self.excluded), 'or')}"
            knowledge.append(f"that the target has {what}")
        if k:
            where = "of the same group"
            if self.case == 3:
                where = "of another group" if self.known_group is None else f"of {key_text(self.known_group)}"
            what = "other values"
            if self.known is not None:
                what = listed_text((f"{n} x {value_text(v)}" for v, n in self.known), "and")
            knowledge.append(f"the value{'s' * (k != 1)} of {k} {_persons(k)} {where}: {what}")
        if m:
            where = "of the same group"
            if self.case != 1:
                group = self.implied_group
                where = "of another group" if group is None else f"of {key_text(group)}"
                if self.case == 3 and k:
                    where = "of that other group too"
            some = "one other person" if m == 1 else f"any of {m} other people"
            knowledge.append(f"that if {some} {where} had {value}, the target would have it")
        known = "; ".join(knowledge) if knowledge else "nothing but the group"
        return (
            f"target in {there}{size}; known: {known}; then the target has {value} with probability "
            f"{breach_text(self.breach)}"
        )

    def to_dict(self) -> Document:
        """Plain values, and the text."""
        return {
            "case": self.case,
            "value": self.value,
            "people": None if self.people is None else list(self.people),
            "pieces": list(self.pieces),
            "breach": self.breach,
            "group": _copied(self.group),
            "excluded": None if self.excluded is None else list(self.excluded),
            "known": None if self.known is None else [list(pair) for pair in self.known],
            "known_group": _copied(self.known_group),
            "implied_group": _copied(self.implied_group),
            "text": self.text,
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Attack(case {self.case}: {self.text})"


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict on one point.

    Attributes
    ----------
    point : Point
        (l, k, m, confidence).
    safe : bool
        Whether the greatest breach probability is below the confidence; decided exactly.
    breach : float
        The greatest breach probability over all knowledge of at most l, k and m pieces. 1.0 only where it is
        exactly 1.
    exact : Fraction or None
        The same exactly, where it was asked for.
    case : {1, 2, 3}
        Which placement attains it; see `Attack`. The lowest of several.
    attack : Attack
    """

    point: Point
    safe: bool
    breach: float
    exact: Fraction | None
    case: int
    attack: Attack

    def to_dict(self) -> Document:
        """Plain values; fractions as "num/den"."""
        return {
            "point": [*self.point[:3], number_text(exact(self.point.confidence, "confidence"))],
            "safe": self.safe,
            "breach": self.breach,
            "exact": None if self.exact is None else str(self.exact),
            "case": self.case,
            "attack": self.attack.to_dict(),
        }

    def _repr_html_(self) -> str:
        return Reports([self])._repr_html_()

    def __repr__(self) -> str:
        verdict = "safe" if self.safe else "unsafe"
        return f"Report({self.point!r}: {verdict}, breach {breach_text(self.breach)})"


class Reports(tuple[Report, ...]):
    """One report a point; the release is safe if all points are.

    Attributes
    ----------
    safe : bool
    """

    __slots__ = ()

    @property
    def safe(self) -> bool:
        return all(report.safe for report in self)

    @property
    def worst(self) -> Report:
        """The report that comes closest to its confidence, or exceeds it most."""
        return min(self, key=lambda report: (report.safe, float(report.point.confidence) - report.breach))

    def _repr_html_(self) -> str:
        points = "1 point" if len(self) == 1 else f"{len(self):,} points"
        unsafe = sum(not report.safe for report in self)
        verdict = f"safe at {points}"
        if unsafe:
            verdict = f"UNSAFE: {unsafe:,} of {points} {'is' if unsafe == 1 else 'are'} not kept"
        ordered = sorted(self, key=lambda report: (report.safe, -report.breach))
        found: list[tuple[State, str, str]] = [
            ("kept" if report.safe else "shows", repr(report.point), report.attack.text)
            for report in ordered[:MOST_NAMED]
        ]
        left = len(self) - len(found)
        more = paragraph(f"{left:,} more points are not shown here.", kind="nbc-quiet") if left else None
        return result("shows" if unsafe else "kept", verdict, findings(found), more, private=True)

    def to_dict(self) -> Document:
        """Plain values of all reports."""
        return {"safe": self.safe, "points": [report.to_dict() for report in self]}

    def __repr__(self) -> str:
        lines = "\n".join(f"  {report!r}" for report in self)
        return f"Reports({'safe' if self.safe else 'unsafe'}\n{lines})"


def breach_text(breach: float) -> str:
    """Six significant digits that never round to 1."""
    text = f"{breach:.6g}"
    return text if breach == 1 or float(text) < 1 else repr(breach)


def value_text(value: Secret) -> str:
    if isinstance(value, tuple):  # a set of values
        return "{" + ", ".join(map(value_text, value)) + "}"
    return printable(value) if isinstance(value, str) else repr(value)


def _persons(number: int) -> str:
    return "person" if number == 1 else "people"


def key_text(key: Mapping[str, Value]) -> str:
    """A group as people write it: one that has only a label by that."""
    if list(key) == ["group"]:
        return f"group {value_text(key['group'])}"
    named = ", ".join(f"{printable(name)} {value_text(value)}" for name, value in key.items())
    return f"the group of {named}" if named else "the one group of all"


def listed_text(values: Iterable[str], join: str) -> str:
    texts = list(values)
    if len(texts) > MOST_NAMED:
        texts = [*texts[: MOST_NAMED - 1], f"{len(texts) - MOST_NAMED + 1} more"]
    if len(texts) <= 1:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {join} {texts[-1]}"


def _copied(key: Key | None) -> Key | None:
    return None if key is None else dict(key)
