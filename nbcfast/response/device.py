"""One respondent's answer, on a device: Python's standard library, this one file.

    from device import disguise_record
    disguise_record({"smokes": "yes", "ill": "no"}, json.load(open("scheme.json")))

What leaves the device is disguised already. Coins come from the operating system and have exactly the
probability that the scheme names. Nothing is kept: who answers the same question twice throws new coins, and
tells more.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Below = Callable[[int], int]  # a uniform number from 0 up to, not including, its argument


def disguise_record(record: Mapping[str, Any], scheme: Any, *, below: Below | None = None) -> dict[str, Any]:
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
        If the record lacks a column of the scheme, or holds a value outside its domain.

    Examples
    --------
    >>> scheme = {"kind": "binary", "format": 1, "groups": [{"columns": ["a", "b"], "theta": "4/5"}],
    ...           "domains": {"a": [["int", "0"], ["int", "1"]], "b": [["text", "no"], ["text", "yes"]]}}
    >>> disguise_record({"a": 1, "b": "no", "c": 7}, scheme, below=lambda n: n - 1)
    {'a': 0, 'b': 'yes', 'c': 7}
    """
    fields = scheme if isinstance(scheme, Mapping) else scheme.to_dict()
    below = secrets.randbelow if below is None else below
    kind = fields["kind"]
    if kind not in ("binary", "k-ary"):
        raise ValueError(f"scheme: expected kind 'binary' or 'k-ary', got {kind!r}")
    answer = dict(record)
    for group in fields["groups"]:
        theta = Fraction(group["theta"])
        places, domains = [], []
        for name in group["columns"]:
            domain = [_plain(value) for value in fields["domains"].get(name, ())]
            if not domain:
                raise ValueError(f"scheme: the domain of column {name!r} is not declared")
            if name not in record:
                raise ValueError(f"record: expected a value of {name!r}, which the scheme has")
            places.append(_place(record[name], domain, name))
            domains.append(domain)
        # The coin is thrown, and a lie made up, whatever comes of it: time tells nothing.
        truth = below(theta.denominator) < theta.numerator
        together = fields.get("lie") == "tuple"
        lies = _another_tuple(places, domains, below) if together else _others(places, domains, below)
        for name, domain, place, lie in zip(group["columns"], domains, places, lies):  # noqa: B905
            answer[name] = domain[place if truth else lie]
    return answer


def _others(places: Sequence[int], domains: Sequence[Sequence[Any]], below: Below) -> list[int]:
    """Another place for each, every one as likely."""
    return [
        (place + 1 + below(len(domain) - 1)) % len(domain)
        for place, domain in zip(places, domains)  # noqa: B905
    ]


def _another_tuple(places: Sequence[int], domains: Sequence[Sequence[Any]], below: Below) -> list[int]:
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


def _plain(typed: Any) -> Any:
    """The value that the file writes as ["int","39"], ["text","x"] or ["null"]."""
    kind = typed[0]
    if kind == "null":
        return None
    if kind == "bool":
        return typed[1] == "true"
    if kind in ("int", "float"):
        return int(typed[1]) if kind == "int" else float(typed[1])
    if kind == "text":
        return typed[1]
    raise ValueError(f"scheme: values of kind {kind!r} are not told on devices")


def _place(value: Any, domain: Sequence[Any], name: str) -> int:
    for place, own in enumerate(domain):
        # True is no 1, and 1 is 1.0.
        if own == value and isinstance(own, bool) == isinstance(value, bool):
            return place
    raise ValueError(f"record: {value!r} is none of the {len(domain)} values of {name!r}")
