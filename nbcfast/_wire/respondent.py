"""One respondent's answer, on a device: Python's standard library, this one file.

    from device import disguise_record
    disguise_record({"smokes": "yes", "ill": "no"}, json.load(open("scheme.json")))

Verify the folder that scheme.json came in first: by another scheme a device may tell the truth.

What leaves the device is disguised already. Coins come from the operating system and have exactly the
probability that the scheme names. Nothing is kept: who answers the same question twice throws new coins, and
tells more.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.coins import LIES, exposed, scheme_fields, useless

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Below = Callable[[int], int]  # a uniform number from 0 up to, not including, its argument


def disguise_record(
    record: Mapping[str, object], scheme: object, *, below: Below | None = None
) -> dict[str, object]:
    """The disguised answer of one respondent.

    Parameters
    ----------
    record : mapping of name -> value
        The true answer. Columns outside the scheme are told as they are.
    scheme : Scheme, KaryScheme, or the content of their JSON file
        With the domains of its columns.
    below : callable, optional
        below(n) is a uniform integer in 0..n-1; by default that of the operating system, others for tests.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If the scheme is not one that hides as it says, or hides nothing of a column, or the record lacks a
        column of it or holds a value outside its domain.

    Examples
    --------
    >>> scheme = {"kind": "binary", "format": 1, "groups": [{"columns": ["a", "b"], "theta": "4/5"}],
    ...           "domains": {"a": [["int", "0"], ["int", "1"]], "b": [["text", "no"], ["text", "yes"]]}}
    >>> disguise_record({"a": 1, "b": "no", "c": 7}, scheme, below=lambda n: n - 1)
    {'a': 0, 'b': 'yes', 'c': 7}
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"record must be a mapping of name -> value, got {type(record).__name__}")
    if not isinstance(scheme, Mapping) and not hasattr(scheme, "to_dict"):
        raise TypeError(f"scheme must be a scheme or the content of its file, got {type(scheme).__name__}")
    fields = scheme if isinstance(scheme, Mapping) else scheme.to_dict()
    below = secrets.randbelow if below is None else below
    # All of it is checked before the first coin: a device must not tell the truth because a file is wrong.
    groups, own = _checked(fields), fields["domains"]
    answer = dict(record)
    for theta, columns in groups:
        places, domains = [], []
        for name in columns:
            domain = [_plain(value) for value in own[name]]
            if name not in record:
                raise ValueError(f"record: expected a value of {name!r}, which the scheme has")
            places.append(_place(record[name], domain, name))
            domains.append(domain)
        # The coin is thrown, and a lie made up, whatever comes of it: time tells nothing.
        truth = below(theta.denominator) < theta.numerator
        together = fields.get("lie") == "tuple"
        lies = _another_tuple(places, domains, below) if together else _others(places, domains, below)
        for name, domain, place, lie in zip(columns, domains, places, lies):  # noqa: B905
            answer[name] = domain[place if truth else lie]
    return answer


def _checked(fields: Mapping[str, object]) -> list[tuple[Fraction, list[str]]]:
    """Theta and columns of each group of a scheme that hides as its file says."""
    kind = fields.get("kind")
    if set(fields) != scheme_fields(kind) or not fields:
        raise ValueError(f"scheme: expected the fields of a binary or k-ary scheme, got {sorted(fields)}")
    if type(fields["format"]) is not int or fields["format"] != 1:
        raise ValueError(f"scheme: expected format 1, got {fields['format']!r}")
    lie = next((known for known in LIES if known == fields.get("lie")), None)
    if kind == "k-ary" and lie is None:
        raise ValueError(f"scheme: expected lie 'each' or 'tuple', got {fields.get('lie')!r}")
    groups, domains = fields["groups"], fields["domains"]
    if not isinstance(groups, list) or not groups or not isinstance(domains, Mapping):
        raise ValueError("scheme: expected groups, and domains of their columns")
    found: list[tuple[Fraction, list[str]]] = []
    seen: set[str] = set()
    for group in groups:
        if not isinstance(group, Mapping) or set(group) != {"columns", "theta"}:
            raise ValueError(f"scheme: expected groups of columns and theta, got {group!r}")
        theta, columns = _theta(group["theta"]), group["columns"]
        if not isinstance(columns, list) or not columns or not all(isinstance(name, str) for name in columns):
            raise ValueError(f"scheme: expected names of columns, got {columns!r}")
        sizes = []
        for name in columns:
            if name in seen:
                raise ValueError(f"scheme: groups must not overlap, got {name!r} twice")
            seen.add(name)
            if name not in domains:
                raise ValueError(f"scheme: the domain of column {name!r} is not declared")
            values = [_plain(value) for value in domains[name]]
            sizes.append(len(values))
            if len({(isinstance(one, bool), one) for one in values}) < len(values):
                raise ValueError(f"scheme: expected distinct values of {name!r}, got {values!r}")
            if len(values) < 2 or (kind == "binary" and (len(values) != 2 or None in values)):
                least = "two values, none missing," if kind == "binary" else "two values or more"
                raise ValueError(f"scheme: expected {least} of {name!r}, got {values!r}")
        if any(useless(theta, sizes, lie)):
            raise ValueError(f"scheme: expected a theta at which answers tell something, got {theta}")
        told = [name for name, sure in zip(columns, exposed(theta, sizes, lie)) if sure]  # noqa: B905
        if told:
            raise ValueError(
                f"scheme: expected a theta that hides something of {', '.join(map(repr, told))}; at "
                f"{theta} the answer says the truth"
            )
        found.append((theta, columns))
    return found


def _theta(text: object) -> Fraction:
    """4/5 or 0.8 as a text; long whole numbers in it are hexadecimal."""
    try:
        if not isinstance(text, str) or not re.fullmatch(r"[0-9a-fx./eE+-]+", text, re.ASCII):
            raise ValueError
        theta = Fraction(*(int(part, 0) for part in text.split("/"))) if "0x" in text else Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError):
        raise ValueError(f"scheme: expected thetas as texts, such as '4/5', got {text!r}") from None
    if not 0 <= theta <= 1:
        raise ValueError(f"scheme: theta must be in [0, 1], got {text}")
    return theta


def _others(places: Sequence[int], domains: Sequence[Sequence[object]], below: Below) -> list[int]:
    """Another place for each, every one as likely."""
    return [
        (place + 1 + below(len(domain) - 1)) % len(domain)
        for place, domain in zip(places, domains)  # noqa: B905
    ]


def _another_tuple(places: Sequence[int], domains: Sequence[Sequence[object]], below: Below) -> list[int]:
    """Another tuple of places, every one as likely."""
    number, total = 0, 1
    for place, domain in zip(places, domains):  # noqa: B905
        number, total = number * len(domain) + place, total * len(domain)
    number = (number + 1 + below(total - 1)) % total
    found = []
    for domain in reversed(domains):
        number, place = divmod(number, len(domain))
        found.append(place)
    return found[::-1]


def _plain(typed: object) -> object:
    """The value that the file writes as ["int","39"], ["text","x"] or ["null"]."""
    if not isinstance(typed, (list, tuple)) or not typed or not all(isinstance(part, str) for part in typed):
        raise ValueError(f'scheme: expected typed values such as ["int","1"], got {typed!r}')
    kind = typed[0]
    if len(typed) != (1 if kind == "null" else 2):
        raise ValueError(f'scheme: expected typed values such as ["int","1"], got {typed!r}')
    if kind == "null":
        return None
    if kind == "bool":
        return typed[1] == "true"
    if kind in ("int", "float"):
        return int(typed[1]) if kind == "int" else float(typed[1])
    if kind == "text":
        return typed[1]
    raise ValueError(f"scheme: values of kind {kind!r} are not told on devices")


def _place(value: object, domain: Sequence[object], name: str) -> int:
    for place, own in enumerate(domain):
        # True is no 1, and 1 is 1.0.
        if isinstance(own, bool) == isinstance(value, bool) and _equal(own, value):
            return place
    raise ValueError(f"record: {value!r} is none of the {len(domain)} values of {name!r}")


def _equal(own: object, value: object) -> bool:
    return own is value if own is None or value is None else isinstance(value, Hashable) and own == value
