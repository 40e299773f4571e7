"""Values of attributes, each with its kind: as JSON has them, as a cell has them, and as domains."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nbcfast._wire.json_entries import Refused, rational, shown
from nbcfast._wire.messages import UNSEEN, interval_text, named, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    Typed = tuple[str, Any]  # the kind of a value, and the value


def bound(entry: object, where: str) -> Fraction | None:
    """An end of an interval: "num/den" with a sign, or null where it is open."""
    if entry is None:
        return None
    if type(entry) is str and entry.startswith("-"):
        number = rational(entry[1:], where)
        if number:
            return -number
    return rational(entry, where)


def value(entry: object, where: str) -> Typed:
    """The kind of a value of a domain, and the value: typed, as ["int","39"] or ["text","x"]."""
    parts = entry if type(entry) is list else []
    form = [type(part) for part in parts]
    if parts in (["null"], ["suppressed"]):
        return parts[0], None
    if form == [str, str]:
        kind, text = parts
        if kind == "text":
            return kind, text
        if kind == "bool" and text in ("false", "true"):
            return kind, text == "true"
        if kind == "int" and re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text) and -(2**63) <= int(text) < 2**63:
            return kind, int(text)
        if kind == "float" and re.fullmatch(r"-?([0-9][0-9.e+-]*|inf)", text):
            try:
                if repr(float(text) + 0.0) == text:
                    return kind, float(text)
            except ValueError:
                pass
    if len(form) == 3 and parts[0] == "interval":
        low, high = bound(parts[1], where), bound(parts[2], where)
        if low is None or high is None or low < high:
            return "interval", (low, high)
    raise Refused(f'{where}: expected a typed value such as ["int","39"], got {shown(entry)}')


def domain(entry: object, where: str, in_order: bool = True) -> list[Typed]:
    """The values of a domain, each with its kind: distinct, of one kind, null and then suppressed last.

    Intervals do not overlap, and increase; those of classes stand in the order of precedence.
    """
    if type(entry) is not list or not entry:
        raise Refused(f"{where}: expected a list of values, got {shown(entry)}")
    values = [value(one, where) for one in entry]
    # Texts, as each value has one: whoever writes the file chooses numbers that share their hash.
    found, last = set(), 0
    for one, given in zip(values, entry):  # noqa: B905  # also for Python before 3.10
        texts = tuple(given)
        if texts in found:
            raise Refused(f"{where}: expected distinct values, got {shown(given)} twice")
        found.add(texts)
        place = {"null": 1, "suppressed": 2}.get(one[0], 0)
        if place < last:
            raise Refused(
                f'{where}: expected ["null"] and then ["suppressed"] last, got {shown(given)} after'
            )
        last = place
    kinds = sorted({kind for kind, _ in values} - {"null", "suppressed"})
    if len(kinds) > 1:
        raise Refused(f"{where}: expected values of one kind, got {' and '.join(kinds)}")
    if kinds == ["interval"]:
        _intervals([one for one in values if one[0] == "interval"], where, in_order)
    return values


def _intervals(values: list[Typed], where: str, in_order: bool) -> None:
    """Refuse intervals of which two share a number, or, with `in_order`, which do not increase."""
    if in_order and all(
        one[1] is not None and other[0] is not None and one[1] <= other[0]
        for (_, one), (_, other) in zip(values, values[1:])  # noqa: B905, RUF007  # also for Python before 3.10
    ):
        return
    # Two that start at the same number overlap, whichever comes first.
    ranked = sorted(values, key=_start)
    for (_, (low, high)), (_, (start, end)) in zip(ranked, ranked[1:]):  # noqa: B905, RUF007  # also for Python before 3.10
        if high is None or start is None or high > start:
            one, other = interval_text(low, high), interval_text(start, end)
            raise Refused(f"{where}: the intervals {one} and {other} overlap")
    if in_order and ranked != values:
        place = next(place for place in range(len(values)) if ranked[place] != values[place])
        raise Refused(
            f"{where}: expected intervals in increasing order, got {interval_text(*values[place][1])} where "
            f"{interval_text(*ranked[place][1])} belongs"
        )


def _start(interval: Typed) -> tuple[bool, int, Fraction]:
    """What intervals are sorted by: first that which is open below.

    Integers before fractions, which take much longer to compare: they are equal for hardly any two.
    """
    low = interval[1][0]
    if low is None:
        return False, 0, Fraction(0)
    return True, (low.numerator << 128) // low.denominator, low


def in_words(values: Sequence[Typed]) -> str:
    """All values, of integers that follow each other the first and the last."""
    found: list[str] = []
    runs: list[list[Typed]] = []
    for typed in values:
        last = runs[-1][-1] if runs else typed
        if runs and last[0] == typed[0] == "int" and typed[1] == last[1] + 1:
            runs[-1].append(typed)
        else:
            runs.append([typed])
    for run in runs:
        texts = list(map(value_text, run))
        found += texts if len(texts) < 3 else [f"{texts[0]} .. {texts[-1]}"]
    return ", ".join(found)


def value_text(typed: Typed) -> str:
    """A value in a list of some: quoted where it could pass for more."""
    text = element(typed)
    return text if text.startswith('"') else named(text)


def label(typed: Typed) -> str:
    """A typed value as a piece of a message."""
    kind, plain = typed
    if kind in ("null", "suppressed"):
        return kind
    if kind == "interval":
        low, high = ("" if end is None else number_text(end) for end in plain)
        return f"[{low}, {high})"
    return repr(plain)


def spelled(typed: Typed) -> str:
    """The one text that a value has in a cell of table.csv."""
    kind, plain = typed
    if kind in ("null", "suppressed"):
        return "" if kind == "null" else "*"
    return interval_text(*plain) if kind == "interval" else str(plain)


LISTED = 6  # values that the text of a set names


def element(typed: Typed) -> str:
    """A single value as a cell of a generalised column has it: a text that no other value has."""
    kind, plain = typed
    if kind in ("null", "suppressed"):
        return kind
    if kind == "interval":
        return interval_text(*plain)
    if kind != "text":
        return repr(plain)
    quoted = plain in ("null", "suppressed") or plain != plain.strip() or ".." in plain
    if quoted or UNSEEN.search(plain) or not re.fullmatch(r"[^\s{}\[\]()\",;\\][^{}\",;\\]*", plain):
        return json.dumps(plain, ensure_ascii=False)
    return str(plain)


def set_text(values: Sequence[Typed]) -> str:
    """What a set of values without a name of its own is called: by its values, or by the first and last."""
    texts = [element(typed) for typed in values]
    return "{" + (", ".join(texts) if len(texts) <= LISTED else f"{texts[0]} .. {texts[-1]}") + "}"
