"""Menus of options for each column of a table, from which a domain is chosen: their form, and their digest.

A menu is a JSON object, from the name of a column to the list of its options. An option maps the values of
a column to finitely many, and is one of

    [..], or {"values": [..]}               these values as they are; null where it is one
    {"edges": [null, 25, 35, null]}         the half-open bins between these, open where an end is null
    {"width": 10, "from": 0, "to": 100}     bins of equal width; with "open": true the outer two are open
    {"groups": {"name": [values], ..}}      sets of values, null where it belongs to one
    {"hierarchy": "FILE", "level": 2}       the sets at that level of a file, of lines value;set;larger set
    {"out": true}                           the column is left out

Bins may have "labels", a name for each, and "null": true where null is a value beside them; edges may be
dates such as "2020-01-31". Sets may have "other", the name of the set of all values but null that stand in
none. In a file of a hierarchy values are texts, and an empty one is null; a text there stands for the value
of the column that is written so.

A menu that was made from rows stands in {"menu": {..}, "from_rows": [names]}: the columns of that list have
options that nobody has checked. Their names are no part of the menu, nor of its digest.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.json_entries import WHOLE_IN_JSON, Refused, shown
from nbcfast._wire.messages import short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nbcfast._wire.json_entries import Fields

    Plain = None | bool | int | float | str  # a value of a table, in JSON
    Entry = Fields  # an option in JSON, in the one form that it is resolved to
    Resolved = dict[str, list[Entry]]  # the options of each column, in the order of the menu

MOST_BINS = 1 << 16  # of equal width, as these few numbers could ask for any number of them
SIDES = {"labels", "null"}  # what may stand beside bins
# What an option has, and what it may have besides.
NOTHING: set[str] = set()
FORMS = (
    ({"values"}, NOTHING),
    ({"edges"}, SIDES),
    ({"width", "from", "to"}, SIDES | {"open"}),
    ({"groups"}, {"other"}),
    ({"hierarchy", "level"}, {"other"}),
    ({"out"}, NOTHING),
)
EXPECTED_OPTION = (
    "expected a list of values, or an object with values, edges, width from and to, groups, hierarchy and "
    "level, or out"
)
LEVELS = ";"  # between the names of a line of a hierarchy


def menu_of_text(text: str) -> object:
    """The document of a menu's file; Refused where it is no JSON, or names something twice."""
    try:
        document: object = json.loads(
            text, object_pairs_hook=_named_once, parse_constant=_no_constant_of, parse_int=_short_integer
        )
    except Refused:
        raise
    except RecursionError:
        raise Refused("not a menu: it is nested too deeply") from None
    except ValueError as error:
        raise Refused(f"not a menu in JSON: {error}") from None
    return document


def offered(document: object) -> tuple[object, list[str]]:
    """The options of a menu, and the columns of which nobody has checked them; as menu_of_text gives it.

    A column has a list of options, so one named menu is never taken for the object that has all columns.

    Examples
    --------
    >>> offered({"menu": {"sex": [["f", "m"]]}, "from_rows": ["sex"]})
    ({'sex': [['f', 'm']]}, ['sex'])
    >>> offered({"menu": [["soup", "salad"]]})
    ({'menu': [['soup', 'salad']]}, [])
    """
    columns = document.get("menu") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(columns, dict):
        return document, []
    names = document.get("from_rows")
    if set(document) != {"menu", "from_rows"} or not isinstance(names, (list, tuple)):
        raise Refused(
            "menu: expected beside menu the list from_rows alone: of columns whose options come from rows"
        )
    found: list[str] = []
    for name in names:
        if not isinstance(name, str) or name not in columns:
            raise Refused(f"menu: from_rows: expected names of columns of the menu, got {_got(name)}")
        if name in found:
            raise Refused(f"menu: from_rows: expected distinct names, got {_got(name)} twice")
        found.append(name)
    return columns, found


def resolved(document: object, read: Callable[[str], str]) -> Resolved:
    """A menu with every option in its plain form: values, edges, groups, or out.

    Widths become edges, and hierarchies groups; `read` gives the text of a hierarchy's file, by the path that
    stands in the menu.

    Raises
    ------
    ValueError
        Refused, where something is not as a menu has it.

    Examples
    --------
    >>> resolved({"age": [{"width": 50, "from": 0, "to": 100, "open": True}, {"out": True}]}, open)
    {'age': [{'edges': [None, 50, None]}, {'out': True}]}
    """
    document, _ = offered(document)
    if not isinstance(document, dict) or not document:
        raise Refused(f"menu: expected an object with the options of columns, got {_got(document)}")
    texts: dict[str, str] = {}

    def read_once(path: str) -> str:
        if path not in texts:
            texts[path] = read(path)
        return texts[path]

    menu: Resolved = {}
    for name, options in document.items():
        if not isinstance(name, str):
            raise Refused(f"menu: expected names of columns, got {_got(name)}")
        where = f"menu: column {name!r}"
        if not isinstance(options, (list, tuple)) or not options:
            raise Refused(f"{where}: expected a list of options, got {_got(options)}")
        menu[name] = []
        places: dict[str, int] = {}
        for place, option in enumerate(options):
            entry = resolved_option(option, read_once, f"{where}, option {place}")
            first = places.setdefault(json.dumps(entry), place)
            if first != place:
                raise Refused(f"{where}, option {place}: it is option {first} once more")
            menu[name].append(entry)
    return menu


def resolved_option(option: object, read: Callable[[str], str], where: str) -> Entry:
    """One option in its plain form."""
    if isinstance(option, (list, tuple)):
        option = {"values": option}
    if not isinstance(option, dict):
        raise Refused(f"{where}: {EXPECTED_OPTION}; got {_got(option)}")
    keys = set(option)
    form = next((form for form in FORMS if form[0] <= keys), None)
    if form is None:
        raise Refused(f"{where}: {EXPECTED_OPTION}; got {_got(option)}")
    strange = [key for key in option if key not in form[0] | form[1]]
    if strange:
        raise Refused(f"{where}: {_got(strange[0])} does not go with {' and '.join(sorted(form[0]))}")
    if "out" in option:
        if option["out"] is not True:
            raise Refused(f"{where}: expected out to be true, got {_got(option['out'])}")
        return {"out": True}
    if "values" in option:
        return {"values": _values(option["values"], where)}
    if "edges" in option:
        return _bins(_edges(option["edges"], where), option, where)
    if "width" in option:
        return _bins(_edges(_equal_widths(option, where), where), option, where)
    if "groups" in option:
        groups = _groups(option["groups"], where)
    else:
        groups = _of_hierarchy(option["hierarchy"], option["level"], read, where)
    entry: Entry = {"groups": groups}
    if "other" in option:
        entry["other"] = _name(option["other"], f"{where}, other")
    return entry


def menu_digest(menu: Resolved) -> str:
    """The sha256 of a resolved menu, as hexadecimal text: of its JSON without blanks, in its order."""
    text = json.dumps(menu, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def domain_of(entry: Entry) -> list[list[str | None]] | None:
    """The values that a resolved option maps to, as a certificate writes a domain; None where it is left out.

    Examples
    --------
    >>> domain_of({"edges": [None, 25, 35], "null": True})
    [['interval', None, '25/1'], ['interval', '25/1', '35/1'], ['null']]
    >>> domain_of({"groups": {"low": [1, 2], "high": [3]}, "other": "else"})
    [['text', 'low'], ['text', 'high'], ['text', 'else']]
    """
    if "out" in entry:
        return None
    if "groups" in entry:
        names = list(entry["groups"])
        if "other" in entry and entry["other"] not in names:
            names.append(entry["other"])
        return [["text", name] for name in names]
    if "values" in entry:
        values = [value for value in entry["values"] if value is not None]
        kind = _kind_of(values)
        typed = [_typed(value, kind) for value in values]
        return [*typed, ["null"]] if len(values) < len(entry["values"]) else typed
    edges = entry["edges"]
    pairs = list(zip(edges, edges[1:]))  # noqa: B905, RUF007  # also for Python before 3.10
    bins: list[list[str | None]]
    if "labels" in entry:
        bins = [["text", name] for name in entry["labels"]]
    elif any(isinstance(edge, str) for edge in edges):
        bins = [["text", dates_text(low, high)] for low, high in pairs]
    else:
        bins = [["interval", _end(low), _end(high)] for low, high in pairs]
    return [*bins, ["null"]] if "null" in entry else bins


def dates_text(low: str | None, high: str | None) -> str:
    """What the half-open bin between two dates is called, null where it is open, if it has no name.

    Examples
    --------
    >>> dates_text(None, "2020-01-31")
    '(-inf, 2020-01-31)'
    """
    return f"{'(-inf' if low is None else f'[{low}'}, {'inf' if high is None else high})"


def n_choices(menu: Resolved) -> int:
    """How many domains there are to choose from: the product of the numbers of options."""
    product = 1
    for options in menu.values():
        product *= len(options)
    return product


def bits_of_choice(choices: int) -> str:
    """The base-2 logarithm of a number of choices, rounded up to one decimal.

    The least whole t with 2^(t/10) >= n is that with 2^t >= n^10, so it is the same on every machine.

    Examples
    --------
    >>> bits_of_choice(1), bits_of_choice(345_600), bits_of_choice(2**20)
    ('0.0', '18.4', '20.0')
    """
    tenths = (choices**10 - 1).bit_length()
    return f"{tenths // 10}.{tenths % 10}"


def _got(entry: object) -> str:
    """Whatever came, short enough for a message."""
    try:
        return shown(entry)
    except (RecursionError, TypeError, ValueError):
        return f"something of type {type(entry).__name__}"


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON whose names are distinct."""
    entries: dict[str, object] = {}
    for name, entry in pairs:
        if name in entries:
            raise Refused(f"not a menu: expected distinct names, got {_got(name)} twice")
        entries[name] = entry
    return entries


def _no_constant_of(text: str) -> object:
    raise Refused(f"not a menu: {text} is no number of JSON; an open end of edges is null")


def _short_integer(text: str) -> int:
    if len(text) > 20:  # no Python is asked to read thousands of digits, as newer ones refuse that
        raise Refused(f"not a menu: expected integers of 64 bits, got {text[:20]}..")
    return int(text)


def _plain_value(entry: object, where: str) -> Plain:
    """A value as a table may hold it."""
    # As of these types and no others, as those of NumPy are of them too, and have another text.
    if entry is None or isinstance(entry, bool):
        return entry
    if isinstance(entry, str):
        return str.__str__(entry)
    if isinstance(entry, int) and -(1 << 63) <= entry < 1 << 63:
        return int(entry)
    if isinstance(entry, float) and math.isfinite(entry):
        return float(entry) + 0.0  # of -0.0 too, which is 0.0
    raise Refused(f"{where}: expected a text, a truth value, a number of 64 bits or null, got {_got(entry)}")


def _kind_of(values: Iterable[Plain]) -> str:
    """What values other than null are, as certificates name it; several joined by "and" where they differ."""
    names = {bool: "bool", int: "int", float: "float", str: "text"}
    kinds = {names[type(value)] for value in values}
    if kinds == {"float", "int"}:
        return "float"
    return " and ".join(sorted(kinds))


def _distinct(values: list[Plain], where: str) -> None:
    """Refuse values of which two are the same, or which are of several kinds."""
    listed = [value for value in values if value is not None]
    kind = _kind_of(listed)
    if " and " in kind:
        raise Refused(f"{where}: expected values of one kind, got {kind}")
    seen = set()
    for value in values:
        # Of one kind, so that no 1 meets a true; where there are floats an integer is the nearest of them.
        spelled_value = float(value) if isinstance(value, int) and kind == "float" else value
        if spelled_value in seen:
            raise Refused(f"{where}: expected distinct values, got {_got(value)} twice")
        seen.add(spelled_value)


def _values(entry: object, where: str) -> list[Plain]:
    if not isinstance(entry, (list, tuple)) or not entry:
        raise Refused(f"{where}: expected a list of values, got {_got(entry)}")
    values: list[Plain] = [_plain_value(value, where) for value in entry]
    _distinct(values, where)
    return values


def _name(entry: object, where: str) -> str:
    if not isinstance(entry, str) or not entry:
        raise Refused(f"{where}: expected a name, got {_got(entry)}")
    return entry


def _edges(entry: object, where: str) -> list[Plain]:
    """Numbers or dates that increase, with null where an end is open."""
    if not isinstance(entry, (list, tuple)) or len(entry) < 2:
        raise Refused(f"{where}: expected a list of two edges or more, got {_got(entry)}")
    edges: list[Plain] = []
    for place, edge in enumerate(entry):
        if edge is None and place not in (0, len(entry) - 1):
            raise Refused(f"{where}: expected null at an end of the edges alone, got {_got(entry)}")
        if isinstance(edge, bool) or (isinstance(edge, str) and not _is_date(edge)):
            raise Refused(
                f'{where}: expected edges that are numbers, or dates as "2020-01-31", got {_got(edge)}'
            )
        edges.append(_plain_value(edge, where))
    ends = [edge for edge in edges if edge is not None]
    if not ends or len({isinstance(edge, str) for edge in ends}) > 1:
        raise Refused(f"{where}: expected edges that are all numbers or all dates, got {_got(entry)}")
    # Days are sorted as their texts are, and numbers as their decimal texts say.
    increases = all(
        low < high if isinstance(low, str) and isinstance(high, str) else _exact(low) < _exact(high)
        for low, high in zip(ends, ends[1:])  # noqa: B905, RUF007  # also for Python before 3.10
    )
    if not increases:
        raise Refused(f"{where}: expected edges that increase, got {_got(ends)}")
    return edges


def _is_date(text: str) -> bool:
    """Whether it is a day as 2020-01-31."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        datetime.date(*map(int, text.split("-")))
    except ValueError:
        return False
    return True


def _equal_widths(option: Entry, where: str) -> list[Plain]:
    """The edges of bins of one width from one number to another."""
    width, low, high = (_decimal(option[name], f"{where}, {name}") for name in ("width", "from", "to"))
    if width <= 0 or low >= high:
        raise Refused(f"{where}: expected a width above 0, and from below to, got {_got(option)}")
    bins = (high - low) / width
    if bins.denominator != 1:
        raise Refused(f"{where}: expected a whole number of widths between from and to, got {_got(option)}")
    if bins > MOST_BINS:
        raise Refused(f"{where}: expected up to {MOST_BINS:,} bins, got {short(bins.numerator)}")
    is_open = _flag(option, "open", where)
    if is_open and bins == 1:
        raise Refused(f"{where}: expected two bins or more, as the outer two are open, got {_got(option)}")
    edges: list[Plain] = [_number(low + width * step, where) for step in range(bins.numerator + 1)]
    if is_open:
        edges[0] = edges[-1] = None
    return edges


def _decimal(entry: object, where: str) -> Fraction:
    """A number as its decimal text has it: 0.1 is a tenth."""
    if isinstance(entry, bool) or not isinstance(entry, (int, float)):
        raise Refused(f"{where}: expected a number, got {_got(entry)}")
    return _exact(_plain_value(entry, where))


def _exact(number: Plain) -> Fraction:
    """A number as its shortest decimal text has it."""
    return Fraction(repr(number))


def _number(exact: Fraction, where: str) -> int | float:
    """The number of JSON with this value."""
    if exact.denominator == 1:
        return int(exact)
    if _exact(float(exact)) != exact:
        raise Refused(
            f"{where}: expected edges of at most 15 digits, got {short(exact.numerator)}/"
            f"{short(exact.denominator)}"
        )
    return float(exact)


def _flag(option: Entry, name: str, where: str) -> bool:
    flag = option.get(name, False)
    if not isinstance(flag, bool):
        raise Refused(f"{where}, {name}: expected true or false, got {_got(flag)}")
    return flag


def _bins(edges: list[Plain], option: Entry, where: str) -> Entry:
    """Bins with what stands beside them."""
    entry: Entry = {"edges": edges}
    if "labels" in option:
        labels = option["labels"]
        if not isinstance(labels, (list, tuple)) or len(labels) != len(edges) - 1:
            raise Refused(f"{where}: expected {len(edges) - 1} labels, one a bin, got {_got(labels)}")
        entry["labels"] = [_name(label, f"{where}, labels") for label in labels]
        _distinct(entry["labels"], f"{where}, labels")
    if _flag(option, "null", where):
        entry["null"] = True
    return entry


def _groups(entry: object, where: str) -> dict[str, list[Plain]]:
    if not isinstance(entry, dict) or not entry:
        raise Refused(f"{where}: expected an object with sets of values, got {_got(entry)}")
    groups: dict[str, list[Plain]] = {}
    for name, members in entry.items():
        groups[_name(name, where)] = _values(members, f"{where}, group {name!r}")
    _distinct([value for members in groups.values() for value in members], where)
    return groups


def _of_hierarchy(
    path: object, level: object, read: Callable[[str], str], where: str
) -> dict[str, list[Plain]]:
    """The sets at one level of a file, in the order in which they are first named."""
    if not isinstance(path, str) or not path:
        raise Refused(f"{where}: expected the path of a hierarchy's file, got {_got(path)}")
    if isinstance(level, bool) or not isinstance(level, int) or level < 1:
        raise Refused(f"{where}: expected a level from 1, the one next to the values, got {_got(level)}")
    text = read(path)
    if "\0" in text:  # which some Pythons read, and others do not
        raise Refused(f"{where}: {_got(path)}: expected text, got a zero byte")
    lines = csv.reader(io.StringIO(text[1:] if text[:1] == "\ufeff" else text, newline=""), delimiter=LEVELS)
    groups: dict[str, list[Plain]] = {}
    above: dict[str, list[str]] = {}  # the larger sets that a set is in
    seen = set()
    try:
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            at = f"{where}: {_got(path)}: line {number}"
            if len(line) <= level:
                raise Refused(f"{at}: expected a value and {level} sets or more, got {len(line) - 1}")
            if line[0] in seen:
                raise Refused(f"{at}: the value {_got(line[0])} stands there twice")
            seen.add(line[0])
            name = _name(line[level], at)
            if above.setdefault(name, line[level + 1 :]) != line[level + 1 :]:
                raise Refused(f"{at}: the name {_got(name)} stands for two different sets")
            groups.setdefault(name, []).append(line[0] or None)
    except csv.Error as error:
        raise Refused(f"{where}: {_got(path)}: {error}") from None
    if not groups:
        raise Refused(f"{where}: {_got(path)}: expected lines with a value and its sets, got none")
    return groups


def _typed(value: Plain, kind: str) -> list[str | None]:
    """A value with its kind, as certificates write it."""
    if kind == "bool":
        return [kind, "true" if value else "false"]
    if kind == "float":
        assert isinstance(value, (int, float))
        return [kind, repr(float(value) + 0.0)]
    return [kind, str(value)]


def _end(edge: int | float | None) -> str | None:
    """An end of an interval, as certificates write it."""
    if edge is None:
        return None
    number = _exact(edge)
    parts = [
        str(part) if part <= WHOLE_IN_JSON else hex(part)
        for part in (abs(number.numerator), number.denominator)
    ]
    return f"{'-' if number < 0 else ''}{'/'.join(parts)}"
