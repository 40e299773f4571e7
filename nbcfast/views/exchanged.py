"""Viewsets as bytes: canonical JSON of typed values, read by whoever trusts nobody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._core.untyped import Document
from nbcfast._wire.json_entries import (
    LONGEST_PART,
    WHOLE_IN_JSON,
    Refused,
    canonical_json,
    digest,
    rational,
    shown,
    whole,
)
from nbcfast._wire.typed_values import domain as typed_domain
from nbcfast._wire.typed_values import value as typed_value
from nbcfast.table import SUPPRESSED, Domain, Interval
from nbcfast.table.values import INT64_MAX, Value
from nbcfast.views.noise import Mechanism, Neighbours, Noise

if TYPE_CHECKING:
    from nbcfast._wire.typed_values import Typed
    from nbcfast.views.viewset import Viewset

COUNTS_FORMAT = "nbcfast-counts/1"
FIELDS = {"format", "classes", "class_counts", "attributes", "noise", "weighted", "sha256"}
ATTRIBUTE_FIELDS = {"name", "domain", "counts"}
DOMAIN_FIELDS = {"values", "declared", "open_tail", "tail_found"}
RATIONALS, WHOLES = ("epsilon", "delta", "rho"), ("rows_per_person", "sensitivity", "n_attributes")
TEXTS = ("mechanism", "neighbours")
LONGEST_NUMBER = 40  # characters: longer integers are hexadecimal text, and would take Python a while to read

AllParts = tuple[Counts, dict[str, Counts], Domain, dict[str, Domain], Noise | None, bool]


def as_bytes(views: Viewset) -> bytes:
    """The bytes that Viewset.to_bytes promises."""
    document: Document = {
        "format": COUNTS_FORMAT,
        "classes": _json_domain(views.class_domain, "classes"),
        "class_counts": _json_counts(views.class_counts),
        "attributes": [
            {
                "name": name,
                "domain": _json_domain(views.domains[name], f"attribute {name!r}"),
                "counts": _json_counts(array),
            }
            for name, array in views.counts.items()
        ],
        "noise": None if views.noise is None else _json_noise(views.noise),
        "weighted": views.weighted,
    }
    return (canonical_json({**document, "sha256": digest(document)}) + "\n").encode("ascii")


def _json_whole(number: int) -> int | str:
    return number if number <= WHOLE_IN_JSON else hex(number)


def _json_counts(array: Counts) -> list[object]:
    if array.ndim == 1:
        return [_json_whole(number) for number in array.tolist()]
    return [[_json_whole(number) for number in row] for row in array.tolist()]


def _json_rational(number: int | Fraction) -> str:
    sign = "-" if number < 0 else ""
    return f"{sign}{_json_whole(abs(number.numerator))}/{_json_whole(number.denominator)}"


def _json_value(value: Value, domain: Domain) -> list[str | None]:
    """A value with its kind, which is that of the domain: a 1 among floats is a float."""
    if value is None or value is SUPPRESSED:
        return ["null" if value is None else "suppressed"]
    if isinstance(value, Interval):
        ends = (None if end is None else _json_rational(end) for end in (value.low, value.high))
        return ["interval", *ends]
    if domain.kind == "bool":
        return ["bool", "true" if value else "false"]
    return [str(domain.kind), repr(value) if isinstance(value, float) else str(value)]


def _plain(typed: Typed) -> Value:
    """The value of a kind and what stands beside it."""
    kind, entry = typed
    if kind == "interval":
        return Interval(*entry)
    value: Value = SUPPRESSED if kind == "suppressed" else entry
    return value


def _json_domain(domain: Domain, where: str) -> Document:
    for value in domain.head if domain.kind == "interval" else ():
        assert isinstance(value, Interval)
        for end in (value.low, value.high):
            if (
                end is not None
                and max(end.numerator.bit_length(), end.denominator.bit_length()) > LONGEST_PART
            ):
                raise ValueError(f"{where}: the bound of an interval has more than {LONGEST_PART:,} bits")
    return {
        "values": [_json_value(value, domain) for value in domain.values],
        "declared": domain.declared,
        "open_tail": domain.open_tail,
        "tail_found": [_json_value(value, domain) for value in domain.tail_found],
    }


def _json_noise(noise: Noise) -> Document:
    numbers = {name: getattr(noise, name) for name in RATIONALS}
    return {
        **{name: getattr(noise, name) for name in TEXTS},
        **{name: None if number is None else _json_rational(number) for name, number in numbers.items()},
        **{name: _json_whole(getattr(noise, name)) for name in WHOLES},
    }


def parts_of_bytes(data: object) -> AllParts:
    """The parts of the viewset that these bytes are."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        read = ": give what the file holds, Path(..).read_bytes()" if isinstance(data, str) else ""
        raise TypeError(f"data must be bytes, got {type(data).__name__}{read}")
    try:
        return _parts(_document(bytes(data)))
    except RecursionError:
        raise ValueError("data: lists are nested too deeply") from None
    except Refused as error:
        raise ValueError(f"data: {error}") from None


def _document(data: bytes) -> Document:
    """The document in these bytes, if it is the one that they have to be of."""
    try:
        text = data.decode("ascii")
        document = json.loads(text, parse_float=_no_number, parse_int=_integer, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start} is not ASCII") from None
    except json.JSONDecodeError as error:
        raise Refused(f"expected JSON, got {error.msg} at byte {error.pos} of {len(data)}") from None
    fields = _fields(document, FIELDS, "the document", needs={"format"})
    if fields["format"] != COUNTS_FORMAT:
        raise Refused(f"format: expected {COUNTS_FORMAT!r}, got {shown(fields['format'])}")
    _fields(document, FIELDS, "the document")
    if fields["sha256"] != digest(fields):
        raise Refused("its sha256 is not that of what it holds: it was changed, or cut off")
    if canonical_json(fields) + "\n" != text:
        raise Refused("expected canonical JSON (sorted keys, no spaces, one line break at the end)")
    return fields


def _no_number(text: str) -> object:
    raise Refused(f"{text[:LONGEST_NUMBER]} stands where only integers do")


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise Refused(f"{text[:LONGEST_NUMBER]}.. stands where integers beyond 2^53 are text")
    return int(text)


def _fields(entry: object, names: set[str], where: str, needs: set[str] | None = None) -> Document:
    """An object with these fields, or at least with those that it needs."""
    if type(entry) is not dict:
        raise Refused(f"{where}: expected an object, got {shown(entry)}")
    odd = sorted(set(entry) ^ names) if needs is None else sorted(needs - set(entry))
    if odd:
        raise Refused(f"{where}: field {odd[0]!r} is {'unknown' if odd[0] in entry else 'missing'}")
    return cast("Document", entry)


def _listed(entry: object, where: str, length: int | None = None) -> Sequence[object]:
    if type(entry) is not list or (length is not None and len(entry) != length):
        expected = "a list" if length is None else f"a list of {length}"
        raise Refused(f"{where}: expected {expected}, got {shown(entry)}")
    return entry


def _flag(entry: object, where: str) -> bool:
    if type(entry) is not bool:
        raise Refused(f"{where}: expected true or false, got {shown(entry)}")
    return entry


def _parts(document: Document) -> AllParts:
    class_domain = _domain(document["classes"], "classes", in_order=False)
    if len(class_domain) == 0:
        raise Refused("classes: expected at least one label, got none")
    class_counts = _counts(document["class_counts"], (len(class_domain),), "class_counts")
    counts: dict[str, Counts] = {}
    domains: dict[str, Domain] = {}
    for place, entry in enumerate(_listed(document["attributes"], "attributes")):
        fields = _fields(entry, ATTRIBUTE_FIELDS, f"attributes[{place}]")
        name = fields["name"]
        if type(name) is not str:
            raise Refused(f"attributes[{place}]: expected a name, got {shown(name)}")
        if name in counts:
            raise Refused(f"attributes[{place}]: expected distinct names, got {shown(name)} twice")
        domains[name] = _domain(fields["domain"], f"attributes[{place}]", in_order=True)
        shape = (len(domains[name]), len(class_domain))
        counts[name] = _counts(fields["counts"], shape, f"attributes[{place}]")
    weighted = _flag(document["weighted"], "weighted")
    return class_counts, counts, class_domain, domains, _noise(document["noise"]), weighted


def _domain(entry: object, where: str, in_order: bool) -> Domain:
    fields = _fields(entry, DOMAIN_FIELDS, where)
    declared = _flag(fields["declared"], f"{where}, declared")
    open_tail = _flag(fields["open_tail"], f"{where}, open_tail")
    values = fields["values"]
    typed = typed_domain(values, where, in_order) if values != [] else []  # no row, and nothing declared
    domain = Domain.of(map(_plain, typed), declared, where=where, in_order=in_order)
    kinds = [typed_value(one, where)[0] for one in _listed(fields["tail_found"], f"{where}, tail_found")]
    places = {"null": None, "suppressed": SUPPRESSED}
    found = tuple(value for kind, value in places.items() if kind in kinds)
    if len(found) != len(kinds) or kinds != sorted(kinds) or not set(found) <= set(domain.tail):
        raise Refused(f"{where}, tail_found: expected some of the nulls of the domain, got {shown(kinds)}")
    if (open_tail and not declared) or (found and not open_tail):
        raise Refused(f"{where}: declared, open_tail and tail_found do not fit each other")
    return Domain(domain.kind, domain.head, domain.tail, declared, open_tail=open_tail, tail_found=found)


def _counts(entry: object, shape: tuple[int, ...], where: str) -> Counts:
    """Counts of this shape: of 64 bits where all fit, else of Python ints."""
    rows = [entry] if len(shape) == 1 else _listed(entry, f"{where}, counts", shape[0])
    numbers = [
        whole(number, f"{where}, counts")
        for row in rows
        for number in _listed(row, f"{where}, counts", shape[-1])
    ]
    result: Counts = np.empty(len(numbers), object if max(numbers, default=0) > INT64_MAX else np.int64)
    result[:] = numbers
    return result.reshape(shape)


def _noise(entry: object) -> Noise | None:
    if entry is None:
        return None
    fields = _fields(entry, {*RATIONALS, *WHOLES, *TEXTS}, "noise")
    numbers: dict[str, Fraction | None] = {
        name: None if fields[name] is None else rational(fields[name], f"noise, {name}") for name in RATIONALS
    }
    delta = numbers["delta"]
    if delta is None:
        raise Refused("noise, delta: expected a rational, got null")
    wholes = {name: whole(fields[name], f"noise, {name}") for name in WHOLES}
    try:
        return Noise(
            mechanism=cast("Mechanism", fields["mechanism"]),  # checked there, as all else is
            epsilon=numbers["epsilon"],
            delta=delta,
            rho=numbers["rho"],
            neighbours=cast("Neighbours", fields["neighbours"]),
            rows_per_person=wholes["rows_per_person"],
            sensitivity=wholes["sensitivity"],
            n_attributes=wholes["n_attributes"],
        )
    except ValueError as error:
        raise Refused(f"noise: {error}") from None
