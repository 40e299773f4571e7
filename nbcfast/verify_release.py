"""Check a published release from its certificate.json alone: Python's standard library, this one file.

    python verify_release.py DIR

prints each check and leaves with 0 if all hold, 1 if one does not, 2 if there is nothing to check. Checked
are the form of the file, its sha256 (which detects accidents, not forgers), that the counts are positive and
those of some table (for every attribute those of a class add up to the count of the class), and that Lambda,
the largest ratio X_c / X_d of two classes' scores over all tuples, keeps the limit, where

    X_c = P_c^(1-n) N^1_c .. N^n_c,    P_c the count of class c,  N^i_c that of the tuple's i-th value in it.

For a release with a prior F (method "est") also that (X_c / X_d) / (F_c / F_d) never exceeds r.

Of a canonical release (method "canonical"), which holds a table of points, also that the points decide every
tuple as the counts do, where the domain is not too large for that.

All decisions are made with integers. What only the owner of the private table can check (that the classifier
is the same) is not.

In the folder of a partition (a table in which groups of people share generalised values) table.csv is checked
too: its sha256, that its values are those that the certificate lists, that its rows are sorted (unless they
were shuffled) so that nothing is left of the order of the data, and, from the groups of equal rows, every
demand that the certificate makes: that all points (l, k, m, confidence) of the skyline are strictly safe, and
k, diversity and closeness.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
from bisect import bisect_left, bisect_right
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Typed = tuple[str, Any]  # the kind of a value, and the value
    Histograms = dict[tuple[str, ...], dict[int, int]]  # texts of a group -> value -> people

NAME = "certificate.json"
TABLE = "table.csv"
FORMAT = 1
MOST_PEOPLE = 2**61  # of a table, less than this
WHOLE_IN_JSON = 2**53  # readers that hold numbers as doubles would round integers beyond it

FIELDS = {
    "amplification",
    "attacker",
    "attributes",
    "class_counts",
    "class_name",
    "classes",
    "differing_rows",
    "differing_tuples",
    "equivalence",
    "format",
    "gauge",
    "identity",
    "kind",
    "method",
    "notes",
    "preserve",
    "sha256",
    "tuples",
    "version",
    "warnings",
}
CLOSENESS_FIELDS = {"prior", "r"}
METHOD_FIELDS = {"est": CLOSENESS_FIELDS, "canonical": {"canonical"}}  # besides, where this is the method
CANONICAL_FIELDS = {"bits", "constants", "listed", "points", "reproducible", "undeclared"}
CHOICES = {
    "attacker": ("row", "worlds"),
    "equivalence": ("identity", "enumeration", "meet in the middle", "interval", "none"),
    "kind": ("release",),
    "method": ("safetytransform", "est", "canonical"),
    "preserve": ("order", "label"),
}

GUESSED_BYTES = 50_000_000
DIGITS = (32, 512)  # binary digits of logarithms after the point: few for all, many for what is left open


class Refused(ValueError):  # noqa: N818
    """The file is not a release as it was written."""


def canonical(document: Any) -> str:
    """The one text of a document: sorted keys, no spaces, ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(document: dict[str, Any]) -> str:
    """The sha256 of the canonical text without the field of that name."""
    rest = {name: entry for name, entry in document.items() if name != "sha256"}
    return hashlib.sha256(canonical(rest).encode("ascii")).hexdigest()


def shown(entry: Any, length: int = 60) -> str:
    """An entry of the file, short enough for a message."""
    text = canonical(entry)
    return text if len(text) <= length else text[: length - 2] + ".."


def whole(entry: Any, where: str) -> int:
    """An integer of at least 0: a JSON number, or hexadecimal text beyond 2^53."""
    if type(entry) is int and 0 <= entry <= WHOLE_IN_JSON:
        return entry
    if type(entry) is str and re.fullmatch(r"0x[1-9a-f][0-9a-f]*", entry):
        number = int(entry, 16)
        if number > WHOLE_IN_JSON:
            return number
    raise Refused(f"{where}: expected an integer (as text 0x.. beyond 2^53), got {shown(entry)}")


def signed(entry: Any, where: str) -> int:
    """An integer of either sign, as text with a sign beyond 2^53."""
    if type(entry) is int and -WHOLE_IN_JSON <= entry < 0:
        return entry
    if type(entry) is str and entry.startswith("-0x"):
        return -whole(entry[1:], where)
    return whole(entry, where)


def signed_list(entry: Any, length: int, where: str) -> tuple[int, ...]:
    """So many integers of either sign."""
    if type(entry) is not list or len(entry) != length:
        raise Refused(f"{where}: expected {length} integers, got {shown(entry)}")
    return tuple(signed(number, where) for number in entry)


def _part(text: str) -> int:
    if text.startswith("0x"):
        return whole(text, "part of a rational")
    if re.fullmatch(r"0|[1-9][0-9]{0,15}", text) and int(text) <= WHOLE_IN_JSON:
        return int(text)
    raise Refused("part of a rational")


def rational(entry: Any, where: str) -> Fraction:
    """A number of at least 0, as "num/den" in lowest terms."""
    if type(entry) is str and entry.count("/") == 1:
        try:
            numerator, denominator = map(_part, entry.split("/"))
        except Refused:
            numerator, denominator = 0, 0
        if denominator and gcd(numerator, denominator) == 1:
            return Fraction(numerator, denominator)
    raise Refused(f'{where}: expected a rational "num/den" in lowest terms, got {shown(entry)}')


def bound(entry: Any, where: str) -> Fraction | None:
    """An end of an interval: "num/den" with a sign, or null where it is open."""
    if entry is None:
        return None
    if type(entry) is str and entry.startswith("-"):
        number = rational(entry[1:], where)
        if number:
            return -number
    return rational(entry, where)


def value(entry: Any, where: str) -> Typed:
    """The kind of a value of a domain, and the value: typed, as ["int","39"] or ["text","x"]."""
    form = [type(part) for part in entry] if type(entry) is list else []
    if entry in (["null"], ["suppressed"]):
        return entry[0], None
    if form == [str, str]:
        kind, text = entry
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
    if len(form) == 3 and entry[0] == "interval":
        low, high = bound(entry[1], where), bound(entry[2], where)
        if low is None or high is None or low < high:
            return "interval", (low, high)
    raise Refused(f'{where}: expected a typed value such as ["int","39"], got {shown(entry)}')


def domain(entry: Any, where: str) -> list[Typed]:
    """The values of a domain, each with its kind: distinct, of one kind, null and then suppressed last."""
    if type(entry) is not list or not entry:
        raise Refused(f"{where}: expected a list of values, got {shown(entry)}")
    values = [value(one, where) for one in entry]
    found, last = set(), 0
    for one, given in zip(values, entry):  # noqa: B905  # also for Python before 3.10
        if one in found:
            raise Refused(f"{where}: expected distinct values, got {shown(given)} twice")
        found.add(one)
        place = {"null": 1, "suppressed": 2}.get(one[0], 0)
        if place < last:
            raise Refused(
                f'{where}: expected ["null"] and then ["suppressed"] last, got {shown(given)} after'
            )
        last = place
    kinds = sorted({kind for kind, _ in values} - {"null", "suppressed"})
    if len(kinds) > 1:
        raise Refused(f"{where}: expected values of one kind, got {' and '.join(kinds)}")
    return values


class Document:
    """A release as its file says it: the form is checked, what it claims is not yet.

    `classes` and the values of each attribute are typed, in the order of the counts; `attributes` are
    (name, values, counts) with counts[value][class].
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        method = fields.get("method")
        expected_fields = FIELDS | (METHOD_FIELDS.get(method, set()) if type(method) is str else set())
        missing = sorted(expected_fields - set(fields))
        unknown = sorted(set(fields) - expected_fields)
        for name, allowed in CHOICES.items():
            if name in fields and fields[name] not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise Refused(f"field {name!r}: expected one of {expected}; got {shown(fields[name])}")
        if "format" in fields and (type(fields["format"]) is not int or fields["format"] != FORMAT):
            raise Refused(f"field 'format': expected {FORMAT}, got {shown(fields['format'])}")
        if missing:
            raise Refused(f"field {missing[0]!r} is missing")
        if unknown:
            raise Refused(f"field {unknown[0]!r} is unknown")
        self.fields = fields
        self.amplification = rational(fields["amplification"], "field 'amplification'")
        if self.amplification <= 1:
            raise Refused(
                f"field 'amplification': expected more than 1, got {shown(fields['amplification'])}"
            )
        if self.limit <= 1:
            raise Refused(
                "field 'amplification': expected more than 2, as attacker 'worlds' needs half of it"
            )
        self.tuples = whole(fields["tuples"], "field 'tuples'")
        self.differing_tuples = self._optional("differing_tuples")
        self.differing_rows = self._optional("differing_rows")
        for name in ("gauge", "identity"):
            if type(fields[name]) is not bool:
                raise Refused(f"field {name!r}: expected true or false, got {shown(fields[name])}")
        for name in ("notes", "warnings"):
            entry = fields[name]
            if type(entry) is not list or not all(type(text) is str for text in entry):
                raise Refused(f"field {name!r}: expected a list of texts, got {shown(entry)}")
        if type(fields["version"]) is not str:
            raise Refused(f"field 'version': expected a text, got {shown(fields['version'])}")
        if fields["class_name"] is not None and type(fields["class_name"]) is not str:
            raise Refused(f"field 'class_name': expected a text or null, got {shown(fields['class_name'])}")
        if type(fields["sha256"]) is not str or not re.fullmatch(r"[0-9a-f]{64}", fields["sha256"]):
            raise Refused(
                f"field 'sha256': expected 64 hexadecimal digits, got {shown(fields['sha256'], 80)}"
            )
        self.classes = domain(fields["classes"], "field 'classes'")
        self.class_counts = self._counts(fields["class_counts"], "field 'class_counts'")
        self.r: Fraction | None = None
        self.prior: list[Fraction] | None = None
        if fields["method"] == "est":
            self.r, self.prior = self._closeness()
        if type(fields["attributes"]) is not list:
            raise Refused(f"field 'attributes': expected a list, got {shown(fields['attributes'])}")
        self.attributes: list[tuple[str, list[Typed], list[list[int]]]] = []
        product = 1
        names: set[str] = set()
        for entry in fields["attributes"]:
            if type(entry) is not dict or set(entry) != {"name", "values", "counts"}:
                raise Refused(f"field 'attributes': expected name, values and counts, got {shown(entry)}")
            name = entry["name"]
            if type(name) is not str or name in names or name == fields["class_name"]:
                raise Refused(f"field 'attributes': expected distinct names, got {shown(name)}")
            names.add(name)
            where = f"attribute {name!r}"
            values = domain(entry["values"], f"{where}, values")
            rows = entry["counts"]
            if type(rows) is not list or len(rows) != len(values):
                raise Refused(f"{where}: expected counts of {len(values)} values, got {shown(rows)}")
            counts = [
                self._counts(row, f"{where}, value {label(one)}")
                for row, one in zip(rows, values)  # noqa: B905
            ]
            self.attributes.append((name, values, counts))
            product *= len(values)
        if product != self.tuples:
            raise Refused(
                f"field 'tuples': expected {short(product)}, the product of the numbers of values, "
                f"got {shown(fields['tuples'])}"
            )
        self.canonical = self._canonical(fields["canonical"]) if method == "canonical" else None
        if self.differing_tuples is not None and self.differing_tuples > product:
            raise Refused(
                f"field 'differing_tuples': expected at most 'tuples', got {short(self.differing_tuples)}"
            )
        fault = contradiction(
            fields["equivalence"],
            self.differing_tuples,
            self.differing_rows,
            fields["identity"],
            fields["gauge"],
        )
        if fault:
            raise Refused(fault)

    def _closeness(self) -> tuple[Fraction, list[Fraction]]:
        """R, of which attacker "worlds" needs half, and the prior of each class."""
        r = rational(self.fields["r"], "field 'r'")
        least = 2 if self.fields["attacker"] == "worlds" else 1
        if r <= least:
            raise Refused(f"field 'r': expected more than {least}, got {shown(self.fields['r'])}")
        entry = self.fields["prior"]
        if type(entry) is not list or len(entry) != len(self.classes):
            raise Refused(f"field 'prior': expected {len(self.classes)} rationals, got {shown(entry)}")
        prior = [rational(number, "field 'prior'") for number in entry]
        if min(prior) == 0 or sum(prior) != 1:
            raise Refused(f"field 'prior': expected numbers above 0 that add up to 1, got {shown(entry)}")
        if self.amplification != r * max(prior) / min(prior):
            raise Refused(
                "field 'amplification': expected r times the largest over the smallest prior, "
                f"got {shown(self.fields['amplification'])}"
            )
        return r / least, prior

    def _canonical(self, entry: Any) -> dict[str, Any]:
        """What a canonical release says besides: its points, and how they came about."""
        where = "field 'canonical'"
        if type(entry) is not dict or set(entry) != CANONICAL_FIELDS:
            raise Refused(f"{where}: expected {', '.join(sorted(CANONICAL_FIELDS))}; got {shown(entry)}")
        width = len(self.classes) - 1
        constants = signed_list(entry["constants"], width, f"{where}, constants")
        rows = entry["points"]
        sizes = [len(values) for _, values, _ in self.attributes] if width else []
        if type(rows) is not list or [len(one) if type(one) is list else -1 for one in rows] != sizes:
            raise Refused(f"{where}: expected points of {sizes} values, got {shown(rows)}")
        points = tuple(tuple(signed_list(row, width, f"{where}, points") for row in one) for one in rows)
        if type(entry["reproducible"]) is not bool:
            raise Refused(f"{where}: expected true or false, got {shown(entry['reproducible'])}")
        names = [name for name, _, _ in self.attributes]
        undeclared = entry["undeclared"]
        if type(undeclared) is not list or [name for name in names if name in undeclared] != undeclared:
            raise Refused(f"{where}: expected names of attributes, got {shown(undeclared)}")
        bits = None if entry["bits"] is None else whole(entry["bits"], f"{where}, bits")
        listed = entry["listed"]
        if listed is not None:
            if type(listed) is not dict or set(listed) != {"sha256", "tuples"}:
                raise Refused(f"{where}: expected listed as sha256 and tuples, got {shown(listed)}")
            if type(listed["sha256"]) is not str or not re.fullmatch(r"[0-9a-f]{64}", listed["sha256"]):
                raise Refused(f"{where}: expected 64 hexadecimal digits, got {shown(listed['sha256'], 80)}")
            listed = whole(listed["tuples"], f"{where}, listed"), listed["sha256"]
        return {
            "bits": bits,
            "constants": constants,
            "listed": listed,
            "points": points,
            "reproducible": entry["reproducible"],
            "undeclared": tuple(undeclared),
        }

    def _optional(self, name: str) -> int | None:
        entry = self.fields[name]
        return None if entry is None else whole(entry, f"field {name!r}")

    def _counts(self, entry: Any, where: str) -> list[int]:
        if type(entry) is not list or len(entry) != len(self.classes):
            raise Refused(f"{where}: expected {len(self.classes)} counts, one a class, got {shown(entry)}")
        return [whole(number, where) for number in entry]

    @property
    def limit(self) -> Fraction:
        """What Lambda must not exceed: half the amplification for attacker "worlds"."""
        return self.amplification / 2 if self.fields["attacker"] == "worlds" else self.amplification

    def odds(self, pair: tuple[int, int]) -> Fraction:
        """What X_c / X_d must not exceed for r: r F_c / F_d, with half of r for attacker "worlds"."""
        assert self.r is not None
        assert self.prior is not None
        return self.r * self.prior[pair[0]] / self.prior[pair[1]]


def contradiction(
    equivalence: str, differing_tuples: int | None, differing_rows: int | None, identity: bool, gauge: bool
) -> str | None:
    """What two fields say against each other, or None."""
    if identity != (equivalence == "identity"):
        return f"field 'identity' is {identity}, but equivalence is {equivalence!r}"
    if identity and (gauge or differing_tuples != 0):
        return "field 'identity' goes with no gauge and 0 differing tuples"
    if (equivalence == "none") != (differing_tuples is None):
        known = "not known" if differing_tuples is None else short(differing_tuples)
        return f"field 'equivalence' is {equivalence!r}, but the number of differing tuples is {known}"
    if differing_tuples == 0 and differing_rows:
        return f"field 'differing_rows': expected 0, as no tuple differs, got {short(differing_rows)}"
    return None


def label(typed: Typed) -> str:
    """A typed value as a piece of a message."""
    kind, plain = typed
    if kind in ("null", "suppressed"):
        return kind
    if kind == "interval":
        low, high = ("" if end is None else number_text(end) for end in plain)
        return f"[{low}, {high})"
    return repr(plain)


def short(number: int) -> str:
    """An integer as a piece of a message: Python refuses to print very long ones."""
    return str(number) if number.bit_length() <= 128 else f"about 2^{number.bit_length() - 1}"


def number_text(number: Fraction) -> str:
    """A rational as a piece of a message."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 128:
        return str(number)
    return f"{short(number.numerator)}/{short(number.denominator)}"


def location(path: str) -> str:
    """The file that `path`, a folder or the file itself, names."""
    return os.path.join(path, NAME) if os.path.isdir(path) else path


def _no_number(text: str) -> Any:
    raise Refused(f"the file is damaged: {text[:40]} stands where only integers do")


def parse(data: bytes) -> Document:
    """The Document in these bytes; Refused if they are no release as it was written."""
    document = parse_any(data)
    if not isinstance(document, Document):
        raise Refused("field 'kind': expected 'release'; got \"partition\"")
    return document


def parse_any(data: bytes) -> Document | PartitionDocument:
    """What these bytes certify; Refused if they are not as they were written."""
    try:
        return _parsed(data)
    except RecursionError:
        raise Refused("the file is damaged: lists are nested too deeply") from None


def _parsed(data: bytes) -> Document | PartitionDocument:
    try:
        text = data.decode("ascii")
        fields = json.loads(text, parse_float=_no_number, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start} is not ASCII: the file is damaged") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or not text.endswith("}\n"):
            raise Refused(
                f"the file is truncated: it ends after {len(data)} bytes within its JSON ({error.msg})"
            ) from None
        raise Refused(f"the file is damaged: {error.msg} at byte {error.pos}") from None
    except Refused:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        raise Refused(f"the file is damaged: {error}") from None
    if type(fields) is not dict:
        raise Refused(f"expected a JSON object, got {shown(fields)}")
    # A release that calls itself a partition is told so by the release.
    of_partition = fields.get("kind") == "partition" and "class_counts" not in fields
    document: Document | PartitionDocument
    try:
        document = PartitionDocument(fields) if of_partition else Document(fields)
    except Refused as error:
        if type(fields.get("sha256")) is str and fields.get("kind") in ("release", "partition"):
            fault = " (and its sha256 does not match)" if digest(fields) != fields["sha256"] else ""
            raise Refused(f"{error}{fault}") from None
        raise
    stated, found = fields["sha256"], digest(fields)
    if stated != found:
        change = "a digit, name or label is not what it was"
        if isinstance(document, Document):
            change = _change(document, stated, len(data))
        raise Refused(f"sha256 does not match, the file was changed: {change}")
    if canonical(fields) == text:
        raise Refused("the file is truncated: the line break at its end is missing")
    if canonical(fields) + "\n" != text:
        raise Refused(
            "the file is not in canonical form (sorted keys, no spaces, one line break at the end): "
            "it was changed after it was written"
        )
    return document


def _change(document: Document, stated: str, size: int) -> str:
    """What was changed since the sha256 was taken, as far as that can be told."""
    fields = document.fields
    n_classes = len(document.classes)
    # The hash tells whether a guess is right. For a large file the guesses would take too long.
    few = size * n_classes**2 <= GUESSED_BYTES
    pairs = [(c, d) for d in range(n_classes) for c in range(d)] if few else []
    for c, d in pairs:
        swap = _swapped(c, d)
        relabelled = {**fields, "classes": swap(fields["classes"])}
        whole_classes = {
            **relabelled,
            "class_counts": swap(fields["class_counts"]),
            "attributes": [
                {**one, "counts": [swap(row) for row in one["counts"]]} for one in fields["attributes"]
            ],
        }
        if document.prior is not None:
            whole_classes["prior"] = swap(fields["prior"])
        names = f"{label(document.classes[c])} and {label(document.classes[d])}"
        if digest(relabelled) == stated:
            return f"the classes {names} are swapped"
        if digest(whole_classes) == stated:
            return f"the precedence of the classes {names} is swapped"
    fault = unpositive(document) or unrealistic(document)
    return fault or "a digit, name or label is not what it was"


def _swapped(c: int, d: int) -> Callable[[list[Any]], list[Any]]:
    def swap(entries: list[Any]) -> list[Any]:
        entries = list(entries)
        entries[c], entries[d] = entries[d], entries[c]
        return entries

    return swap


def unpositive(document: Document) -> str | None:
    """A sentence about a count of 0, or None."""
    for c, number in enumerate(document.class_counts):
        if number == 0:
            return f"the count of class {label(document.classes[c])} is 0, and must be positive"
    for name, values, counts in document.attributes:
        for one, row in zip(values, counts):  # noqa: B905
            if 0 in row:
                of = label(document.classes[row.index(0)])
                where = f"attribute {name!r}, value {label(one)}, class {of}"
                return f"{where}: the count is 0, and must be positive"
    return None


def unrealistic(document: Document) -> str | None:
    """A sentence about counts that no table has, or None."""
    faults = []
    for name, _, counts in document.attributes:
        sums = [sum(column) for column in zip(*counts)]  # noqa: B905
        faults += [(name, c, sums[c]) for c in range(len(sums)) if sums[c] != document.class_counts[c]]
    if not faults:
        return None
    name, c, found = faults[0]
    of, stated = label(document.classes[c]), document.class_counts[c]
    if len(document.attributes) > 1 and [(fault[1], fault[2]) for fault in faults] == [(c, found)] * len(
        document.attributes
    ):
        return (
            f"class {of}: its count is {short(stated)}, but its counts in every attribute add up to "
            f"{short(found)}; no table has such counts"
        )
    return (
        f"attribute {name!r}, class {of}: the counts add up to {short(found)}, but the class count is "
        f"{short(stated)}; no table has such counts"
    )


def log2_below(number: int, digits: int) -> int:
    """A lower bound of log2(number) in units of 2^-digits; adding 2 gives an upper bound.

    Digit by digit, by squaring a fixed-point y in [1, 2) of digits + 30 places that is rounded down. Each
    rounding loses a relative 2^-(digits + 30) at most, so all of them, weighted 1, 1/2, 1/4, .., cost less
    than a unit, and so do the digits cut off.
    """
    places = digits + 30
    two = 2 << places
    exponent = number.bit_length() - 1
    y = number >> (exponent - places) if exponent >= places else number << (places - exponent)
    result = exponent
    for _ in range(digits):
        y = y * y >> places
        result <<= 1
        if y >= two:
            y >>= 1
            result |= 1
    return result


def excess(
    document: Document, limits: Callable[[tuple[int, int]], Fraction] | None = None
) -> tuple[tuple[int, int] | None, bool]:
    """Two classes whose largest ratio of scores exceeds the limit, or None; and whether products decided.

    The limit is that of Lambda, or what `limits` says of the two classes.
    """
    if limits is None:
        limits = lambda pair: document.limit  # noqa: E731
    size = len(document.classes)
    every = [list(range(len(values))) for _, values, _ in document.attributes]
    # For each pair of classes, and each attribute, the values that may have the largest quotient of counts.
    left = {(c, d): every for c in range(size) for d in range(size) if c != d}
    for digits in DIGITS:
        logs = _Logs(document, digits)
        still = {}
        for pair, places in left.items():
            limit = limits(pair)
            # The limit's logarithm is within 2 units as well.
            most = logs.below(limit.numerator) - logs.below(limit.denominator)
            low, high, largest = logs.ratio(pair, places)
            if low >= most + 2:
                return pair, False
            if high > most - 2:
                still[pair] = largest
        left = still
    for pair in left:
        up, down = _largest_ratio(document, *pair)
        limit = limits(pair)
        if up * limit.denominator > limit.numerator * down:
            return pair, True
    return None, bool(left)


class _Logs:
    """Lower bounds of base-2 logarithms of the counts of a document, in units of 2^-digits."""

    def __init__(self, document: Document, digits: int) -> None:
        self.document = document
        self.digits = digits
        self.of_number: dict[int, int] = {}
        self.of_count: dict[tuple[int, int, int], int] = {}

    def below(self, number: int) -> int:
        if number not in self.of_number:
            self.of_number[number] = log2_below(number, self.digits)
        return self.of_number[number]

    def at(self, i: int, t: int, c: int) -> int:
        key = i, t, c
        if key not in self.of_count:
            self.of_count[key] = self.below(self.document.attributes[i][2][t][c])
        return self.of_count[key]

    def ratio(self, pair: tuple[int, int], places: list[list[int]]) -> tuple[int, int, list[list[int]]]:
        """Bounds of the logarithm of the largest X_c / X_d, and where in `places` it may be attained.

        For no attribute a score is P, so that P_d^(n-1) / P_c^(n-1) prod N_c / N_d is right for every n.
        """
        c, d = pair
        n = len(places)
        of_class = self.document.class_counts
        found = (n - 1) * (self.below(of_class[d]) - self.below(of_class[c]))
        largest = []
        for i, values in enumerate(places):
            terms = [self.at(i, t, c) - self.at(i, t, d) for t in values]
            best = max(terms)
            found += best
            # A difference of two lower bounds is within 2 units of the truth.
            largest.append([t for t, term in zip(values, terms) if term > best - 4])  # noqa: B905
        room = 2 * (n + abs(n - 1))
        return found - room, found + room, largest


def _largest_ratio(document: Document, c: int, d: int) -> tuple[int, int]:
    """Numerator and denominator of the largest X_c / X_d, exactly."""
    n = len(document.attributes)
    p, q = document.class_counts[c], document.class_counts[d]
    if n == 0:
        return p, q
    ups, downs = [q ** (n - 1)], [p ** (n - 1)]
    for _, _, counts in document.attributes:
        up, down = 0, 1
        for row in counts:
            if row[c] * down > up * row[d]:
                up, down = row[c], row[d]
        ups.append(up)
        downs.append(down)
    return _product(ups), _product(downs)


def _product(numbers: list[int]) -> int:
    """Factors of like size are multiplied first: that is fast for long integers."""
    while len(numbers) > 1:
        numbers = [_pair(numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    return numbers[0]


def _pair(numbers: list[int]) -> int:
    return numbers[0] * numbers[1] if len(numbers) == 2 else numbers[0]


def limit_text(document: Document) -> str:
    """The limit in words."""
    text = number_text(document.limit)
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of the amplification, for attacker 'worlds')"
    return text


def r_text(document: Document) -> str:
    """R in words."""
    text = number_text(document.r or Fraction(0))
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of that demanded, for attacker 'worlds')"
    return text


def judge(document: Document) -> list[tuple[str, bool, str]]:
    """(name, holds, sentence) of each check of a Document."""
    results = []
    fault = unpositive(document)
    results.append(("positive", fault is None, fault or "no count is 0"))
    fault = unrealistic(document)
    text = fault or "for every attribute the counts of a class add up to the count of the class"
    results.append(("realistic", fault is None, text))
    if not results[0][1]:
        results.append(("amplification", False, "Lambda has no limit where a count is 0"))
        return results
    pair, multiplied = excess(document)
    limit = limit_text(document)
    if pair is None:
        how = "exact product" if multiplied else "interval logarithms"
        results.append(("amplification", True, f"Lambda <= {limit} ({how})"))
    else:
        c, d = (label(document.classes[place]) for place in pair)
        text = f"Lambda exceeds the limit {limit}: some tuple amplifies class {c} against {d} by more"
        results.append(("amplification", False, text))
    if document.r is not None:
        pair, _ = excess(document, document.odds)
        text = f"odds of two classes are those of the prior up to a factor r = {r_text(document)}"
        if pair is not None:
            c, d = (label(document.classes[place]) for place in pair)
            text = f"some tuple moves the odds of class {c} against {d} by more than r = {r_text(document)}"
        results.append(("closeness", pair is None, text))
    if document.canonical is not None and document.canonical["listed"] is None:
        results += scorecard(document)
    return results


MOST_HALF = 2_000_000  # combinations of the values of half of the attributes
MOST_LISTED = 2_000_000  # tuples times classes
MOST_EXACT = 1_000_000  # near ties that are decided one by one


def scorecard(document: Document) -> list[tuple[str, bool, str]]:
    """The check that the points of a canonical release decide every tuple as its counts do, if it is made.

    Of two classes both rules are sums over the attributes. The sums of one half of them are sorted, and each
    sum of the other half says behind how many of these it is. Two rules with equal numbers, both ways, are
    the same rule.
    """
    name, n_classes = "scorecard", len(document.classes)
    if n_classes == 1:
        return []
    product = document.tuples
    if n_classes > 2:
        if product * n_classes > MOST_LISTED:
            return []
        wrong = _listed_wrong(document)
        text = (
            f"points and counts decide {'alike' if not wrong else 'differently'} on {short(product)} tuples"
        )
        return [(name, not wrong, text)]
    half, least = 1, product
    for place in range(1, len(document.attributes)):
        first = 1
        for _, values, _ in document.attributes[:place]:
            first *= len(values)
        if max(first, product // first) < least:
            half, least = place, max(first, product // first)
    if least > MOST_HALF:
        return []
    made = document.canonical
    assert made is not None
    n = len(document.attributes)
    logs = _Logs(document, 2 * DIGITS[0])
    terms = [
        [logs.at(i, t, 0) - logs.at(i, t, 1) for t in range(len(values))]
        for i, (_, values, _) in enumerate(document.attributes)
    ]
    p, q = document.class_counts
    base = (n - 1) * (logs.below(q) - logs.below(p)) if p != q else 0
    exactly = _Exactly(document, half)
    by_counts = _places_in_halves(terms, base, half, 2 * (n + abs(n - 1)), exactly)
    if by_counts is None:  # so many ties
        return []
    of_points = [[row[0] for row in rows] for rows in made["points"]]
    same = by_counts == _places_in_halves(of_points, made["constants"][0], half)
    text = f"points and counts decide {'alike' if same else 'differently'} on the {short(product)} tuples"
    return [(name, same, text)]


class _Exactly:
    """Whether X_0 > X_1 where the values of each half of the attributes are these, by integers."""

    def __init__(self, document: Document, half: int) -> None:
        self.document, self.half = document, half
        self.left = MOST_EXACT

    def __call__(self, i: int, j: int) -> bool:
        self.left -= 1
        n = len(self.document.attributes)
        p, q = self.document.class_counts
        up, down = [q ** (n - 1)], [p ** (n - 1)]
        attributes = self.document.attributes
        for part, combination in ((attributes[: self.half], i), (attributes[self.half :], j)):
            index = combination
            for _, values, counts in reversed(part):
                index, code = divmod(index, len(values))
                up.append(counts[code][0])
                down.append(counts[code][1])
        return _product(up) > _product(down)


def _places_in_halves(
    terms: list[list[int]], base: int, half: int, room: int = 0, exactly: _Exactly | None = None
) -> tuple[list[int], list[int]] | None:
    """For each sum of one half how many of the other make it positive, both ways; None after too many ties.

    Sums within `room` of 0 are decided by `exactly`.
    """
    halves = []
    for part in (terms[:half], terms[half:]):
        sums = [0]
        for values in part:
            sums = [one + two for one in sums for two in values]
        halves.append(sums)
    halves[0] = [one + base for one in halves[0]]
    found = []
    for side in (0, 1):
        own, other = halves[side], halves[1 - side]
        order = sorted(range(len(other)), key=other.__getitem__)
        ranked = [other[place] for place in order]
        counts = []
        for i, one in enumerate(own):
            place = bisect_right(ranked, room - one)
            positive = len(ranked) - place
            if exactly is not None:
                near = order[bisect_left(ranked, -room - one) : place]
                if exactly.left < len(near):
                    return None
                positive += sum(exactly(j, i) if side else exactly(i, j) for j in near)
            counts.append(positive)
        found.append(counts)
    return found[0], found[1]


def _listed_wrong(document: Document) -> int:
    """How many tuples the points decide differently from the counts, one by one."""
    made = document.canonical
    assert made is not None
    n, classes = len(document.attributes), range(len(document.classes))
    powers = [count ** (n - 1) for count in document.class_counts]
    whole_power = _product(list(powers))
    entries: list[tuple[list[int], list[int]]] = [
        ([whole_power // power for power in powers], [*made["constants"], 0])
    ]
    for (_, _, counts), rows in zip(document.attributes, made["points"]):  # noqa: B905
        entries = [
            (
                [score * number for score, number in zip(scores, row)],  # noqa: B905
                [total + number for total, number in zip(totals, (*added, 0))],  # noqa: B905
            )
            for scores, totals in entries
            for row, added in zip(counts, rows)  # noqa: B905
        ]
    wrong = 0
    order = document.fields["preserve"] == "order"
    for scores, totals in entries:
        ranked = [sorted(classes, key=lambda c: (numbers[c], c)) for numbers in (scores, totals)]
        wrong += ranked[0] != ranked[1] if order else ranked[0][-1] != ranked[1][-1]
    return wrong


PARTITION_FIELDS = {
    "closeness",
    "columns",
    "diversity",
    "format",
    "groups",
    "k",
    "kind",
    "method",
    "notes",
    "order",
    "points",
    "rows",
    "seeded",
    "sensitive",
    "sha256",
    "table_sha256",
    "version",
    "warnings",
    "weights",
}
PARTITION_CHOICES = {
    "kind": ("partition",),
    "method": ("mondrian",),
    "order": ("canonical", "shuffled"),
}
DISTANCES = ("equal", "ordered")


class PartitionDocument:
    """The certificate of a partition: the form is checked, what it claims is not yet.

    `columns` are (name, cells) of the generalised columns, a cell being (text in table.csv, typed values);
    `values` those of the sensitive column, (text, [typed value]) each.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        missing = sorted(PARTITION_FIELDS - set(fields))
        unknown = sorted(set(fields) - PARTITION_FIELDS)
        for name, allowed in PARTITION_CHOICES.items():
            if name in fields and fields[name] not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise Refused(f"field {name!r}: expected one of {expected}; got {shown(fields[name])}")
        if "format" in fields and (type(fields["format"]) is not int or fields["format"] != FORMAT):
            raise Refused(f"field 'format': expected {FORMAT}, got {shown(fields['format'])}")
        if missing:
            raise Refused(f"field {missing[0]!r} is missing")
        if unknown:
            raise Refused(f"field {unknown[0]!r} is unknown")
        self.fields = fields
        for name in ("notes", "warnings"):
            entry = fields[name]
            if type(entry) is not list or not all(type(text) is str for text in entry):
                raise Refused(f"field {name!r}: expected a list of texts, got {shown(entry)}")
        for name in ("sha256", "table_sha256"):
            if type(fields[name]) is not str or not re.fullmatch(r"[0-9a-f]{64}", fields[name]):
                raise Refused(
                    f"field {name!r}: expected 64 hexadecimal digits, got {shown(fields[name], 80)}"
                )
        if type(fields["version"]) is not str:
            raise Refused(f"field 'version': expected a text, got {shown(fields['version'])}")
        if type(fields["seeded"]) is not bool:
            raise Refused(f"field 'seeded': expected true or false, got {shown(fields['seeded'])}")
        if fields["weights"] is not None and type(fields["weights"]) is not str:
            raise Refused(f"field 'weights': expected a text or null, got {shown(fields['weights'])}")
        self.rows = whole(fields["rows"], "field 'rows'")
        self.groups = whole(fields["groups"], "field 'groups'")
        self.points = self._points(fields["points"])
        self.k = None if fields["k"] is None else whole(fields["k"], "field 'k'")
        self.diversity: tuple[Fraction, int] | None = None
        if fields["diversity"] is not None:
            c, l = self._pair("diversity")
            self.diversity = rational(c, "field 'diversity'"), whole(l, "field 'diversity'")
            if self.diversity[0] == 0 or self.diversity[1] == 0:
                raise Refused(f"field 'diversity': expected c, l > 0, got {shown(fields['diversity'])}")
        self.closeness: tuple[Fraction, str] | None = None
        if fields["closeness"] is not None:
            t, distance = self._pair("closeness")
            if distance not in DISTANCES:
                raise Refused(f"field 'closeness': expected one of {DISTANCES}, got {shown(distance)}")
            self.closeness = rational(t, "field 'closeness'"), distance
        if not self.points and self.k is None and self.diversity is None and self.closeness is None:
            raise Refused("fields 'points', 'k', 'diversity', 'closeness': expected a demand, got none")
        if type(fields["columns"]) is not list or not fields["columns"]:
            raise Refused(f"field 'columns': expected a list, got {shown(fields['columns'])}")
        self.columns = [
            (name, self._texts(cells, where)) for name, cells, where in map(self._column, fields["columns"])
        ]
        entry = fields["sensitive"]
        if type(entry) is not dict or set(entry) != {"name", "values"} or type(entry["name"]) is not str:
            raise Refused(f"field 'sensitive': expected a name and values, got {shown(entry)}")
        self.sensitive: str = entry["name"]
        self.values = self._texts(entry["values"], "field 'sensitive'")
        if any(len(values) != 1 for _, values in self.values):
            raise Refused("field 'sensitive': expected one value for each text")
        # One value under two texts would pass for two values, and a group that has no other for a mixed one.
        domain([values[0] for _, values in entry["values"]], "field 'sensitive'")
        self.header = [*(name for name, _ in self.columns), self.sensitive]
        if fields["weights"] is not None:
            self.header.append(fields["weights"])
        if len(set(self.header)) < len(self.header):
            raise Refused(f"expected distinct names of columns, got {shown(self.header)}")

    def _pair(self, name: str) -> tuple[Any, Any]:
        entry = self.fields[name]
        if type(entry) is not list or len(entry) != 2:
            raise Refused(f"field {name!r}: expected a pair, got {shown(entry)}")
        return entry[0], entry[1]

    @staticmethod
    def _points(entry: Any) -> list[tuple[int, int, int, Fraction]]:
        if type(entry) is not list:
            raise Refused(f"field 'points': expected a list, got {shown(entry)}")
        points = []
        for point in entry:
            if type(point) is not list or len(point) != 4:
                raise Refused(f"field 'points': expected [l, k, m, confidence], got {shown(point)}")
            l, k, m = (whole(number, "field 'points'") for number in point[:3])
            confidence = rational(point[3], "field 'points'")
            if not 0 < confidence <= 1:
                raise Refused(f"field 'points': expected a confidence in (0, 1], got {shown(point[3])}")
            points.append((l, k, m, confidence))
        return points

    @staticmethod
    def _column(entry: Any) -> tuple[str, Any, str]:
        if type(entry) is not dict or set(entry) != {"cells", "name"} or type(entry["name"]) is not str:
            raise Refused(f"field 'columns': expected entries with a name and cells, got {shown(entry)}")
        return entry["name"], entry["cells"], f"column {entry['name']!r}"

    @staticmethod
    def _texts(entry: Any, where: str) -> list[tuple[str, list[Typed]]]:
        if type(entry) is not list or not entry:
            raise Refused(f"{where}: expected a list of texts and values, got {shown(entry)}")
        found: list[tuple[str, list[Typed]]] = []
        seen: set[str] = set()
        lists: set[tuple[Typed, ...]] = set()
        for pair in entry:
            if type(pair) is not list or [type(part) for part in pair] != [str, list]:
                raise Refused(f"{where}: expected a text and its values, got {shown(pair)}")
            if not pair[1]:
                raise Refused(f"{where}: expected values of {pair[0]!r}, got none")
            if pair[0] in seen:
                raise Refused(f"{where}: expected distinct texts, got {pair[0]!r} twice")
            seen.add(pair[0])
            values = [value(one, where) for one in pair[1]]
            if tuple(values) in lists:
                raise Refused(f"{where}: expected distinct values, got those of {pair[0]!r} twice")
            lists.add(tuple(values))
            found.append((pair[0], values))
        return found


def judge_partition(
    document: PartitionDocument, folder: str
) -> tuple[Histograms, list[tuple[str, bool, str]]]:
    """The groups in the table.csv of a folder, and (name, holds, sentence) of each check."""
    results: list[tuple[str, bool, str]] = []
    groups: Histograms = {}
    fault = _read_table(document, os.path.join(folder, TABLE), groups)
    results.append(("table", fault is None, fault or f"{TABLE} is that of the certificate, value by value"))
    if fault is not None:
        return groups, results
    people = sum(sum(group.values()) for group in groups.values())
    same = (people, len(groups)) == (document.rows, document.groups)
    text = f"{short(people)} people in {len(groups)} groups"
    if not same:
        text += f"; the certificate says {short(document.rows)} in {short(document.groups)}"
    results.append(("groups", same, text))
    counts = [group for group in groups.values() if group]
    if document.k is not None:
        least = min(sum(group.values()) for group in counts)
        sign = ">=" if least >= document.k else "<"
        text = f"the smallest group has {short(least)} people, {sign} {short(document.k)}"
        results.append(("k", least >= document.k, text))
    if document.diversity is not None:
        results.append(("diversity", *_diverse(counts, *document.diversity)))
    if document.closeness is not None:
        results.append(("closeness", *_close(counts, len(document.values), *document.closeness)))
    statistics = {l: _Statistics(counts, l) for l in {point[0] for point in document.points}}
    for l, k, m, confidence in document.points:
        safe, text = statistics[l].judge(k, m, confidence)
        results.append((f"({l}, {k}, {m})", safe, text))
    return groups, results


def _read_table(document: PartitionDocument, path: str, groups: Histograms) -> str | None:
    """Count the rows of the table; a sentence about what is wrong with it, or None."""
    total = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while True:
                block = file.read(1 << 20)
                if not block:
                    break
                total.update(block)
    except OSError as error:
        return f"{path}: {error.strerror}"
    if total.hexdigest() != document.fields["table_sha256"]:
        return f"the sha256 of {TABLE} does not match: it was changed"
    weighted = document.fields["weights"] is not None
    width = len(document.columns)
    known = [{text: place for place, (text, _) in enumerate(cells)} for _, cells in document.columns]
    places = {text: place for place, (text, _) in enumerate(document.values)}
    canonical_order = document.fields["order"] == "canonical"
    plain = hashlib.sha256((",".join(map(field, document.header)) + "\n").encode())
    people, data = 0, b""
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file, strict=True)
        try:
            header = next(lines, [])
            if header != document.header:
                return f"{TABLE}: expected the columns {shown(document.header)}, got {shown(header)}"
            before: list[str] | None = None
            last: tuple[int, ...] = ()
            group: dict[int, int] = {}
            place = 0
            for number, line in enumerate(lines, 2):
                if line != before:
                    # An empty line of a table of one column is its null.
                    if len(line) != len(header):
                        return f"{TABLE}: line {number} has {len(line)} fields, expected {len(header)}"
                    for i in range(width):
                        if line[i] not in known[i]:
                            return f"{TABLE}: line {number}: {line[i]!r} is no value of {header[i]!r}"
                    if line[width] not in places:
                        return f"{TABLE}: line {number}: {line[width]!r} is no value of {header[width]!r}"
                    place = places[line[width]]
                    rank = (*(known[i][line[i]] for i in range(width)), place)
                    if canonical_order and (rank < last or (weighted and rank == last)):
                        return f"{TABLE}: line {number} is not in order: rows may stand as in the data"
                    before, last = line, rank
                    group = groups.setdefault(tuple(line[:width]), {})
                    data = (",".join(map(field, line)) + "\n").encode()
                plain.update(data)
                count = 1
                if weighted:
                    if not re.fullmatch(r"[1-9][0-9]{0,18}", line[-1]):
                        return f"{TABLE}: line {number}: expected a number of people, got {line[-1]!r}"
                    count = int(line[-1])
                people += count
                if people >= MOST_PEOPLE:
                    return f"{TABLE}: line {number}: expected less than 2^61 people, got {short(people)}"
                group[place] = group.get(place, 0) + count
        except (csv.Error, UnicodeDecodeError) as error:
            return f"{TABLE}: {error}"
    if not groups:
        return f"{TABLE} has no rows"
    if plain.hexdigest() != total.hexdigest():  # a choice between spellings could tell rows apart
        return (
            f"{TABLE}: expected line ends \\n, also of the last line, and quotes only where they are needed"
        )
    return None


def field(text: str) -> str:
    """A text as table.csv has it: in quotes where it holds commas, quotes or ends of lines."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


def _diverse(groups: list[dict[int, int]], c: Fraction, l: int) -> tuple[bool, str]:
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + ..) in every group."""
    for group in groups:
        falling = sorted(group.values(), reverse=True)
        if not falling[0] < c * sum(falling[l - 1 :]):
            return False, f"a group with the counts {shown(falling)} is not ({number_text(c)}, {l})-diverse"
    return True, f"every group is recursively ({number_text(c)}, {l})-diverse"


def _close(groups: list[dict[int, int]], n_values: int, t: Fraction, distance: str) -> tuple[bool, str]:
    """t-closeness to all people: half the sum of differences, or the earth mover's distance on a line."""
    totals = [0] * n_values
    for group in groups:
        for place, count in group.items():
            totals[place] += count
    people, most = sum(totals), Fraction(0)
    present = [place for place in range(n_values) if totals[place]]  # others would only widen the scale
    steps = len(present) - 1 if distance == "ordered" else 1
    for group in groups:
        n = sum(group.values())
        found = running = 0
        for place in present:
            gap = group.get(place, 0) * people - totals[place] * n
            running += gap
            found += abs(running) if distance == "ordered" else max(gap, 0)
        most = max(most, Fraction(found, n * people * max(steps, 1)))
    sign = "<=" if most <= t else ">"
    return most <= t, f"t = {number_text(most)} {sign} {number_text(t)}, {distance} distances"


class _Statistics:
    """What groups say about points with this l: Chen, LeFevre, Ramakrishnan (2007), in exact form.

    Of a group with n people, c of them with a value s, N = n - c and W = N less the l largest counts of the
    others, the odds against s are a product of factors of one, two or two other groups:

        CF1 = (W-k)/c prod (N-1-k-i)/(n-1-k-i)     all people known of are in the target's group
        CF2 CF3 = (W-k)/c  prod (N-i)/(n-i)        those who imply are in another group
        CF4 CF5 = W/c  prod (N-k-i)/(n-k-i)        only the target is in its group           (i < m)

    each factor being the smallest over the groups that have s, and the odds the smallest over s.
    """

    def __init__(self, groups: list[dict[int, int]], l: int) -> None:
        self.modes: dict[tuple[int, int], int] = {}  # (c, N) of the most frequent value -> the smallest W
        self.rest: dict[int, dict[int, int]] = {}  # value -> c -> the smallest N
        self.wide: dict[int, dict[int, int]] = {}  # value -> c -> the smallest W
        for group in groups:
            falling = sorted(group.values(), reverse=True)
            n, taken = sum(falling), sum(falling[:l])
            following = falling[l] if l < len(falling) else 0
            mode = falling[0], n - falling[0]
            w = n - taken - following
            self.modes[mode] = min(self.modes.get(mode, w), w)
            for place, c in group.items():
                w = n - taken - min(c, following)
                rest, wide = self.rest.setdefault(place, {}), self.wide.setdefault(place, {})
                rest[c] = min(rest.get(c, n - c), n - c)
                wide[c] = min(wide.get(c, w), w)

    def judge(self, k: int, m: int, confidence: Fraction) -> tuple[bool, str]:
        """Whether the breach is strictly below the confidence, and a sentence."""
        for (_, n), w in self.modes.items():
            if k >= w or (m > 0 and k + m >= n):
                return False, "unsafe: somebody's value is certain"
        odds = min(
            Fraction(w - k, c) * _falling(n - 1 - k, n + c - 1 - k, m) for (c, n), w in self.modes.items()
        )
        if m:
            for place in self.rest:
                rest, wide = self.rest[place], self.wide[place]
                two = min(Fraction(w - k, c) for c, w in wide.items())
                three = min(_falling(n, n + c, m) for c, n in rest.items())
                four = min(Fraction(w, c) for c, w in wide.items())
                five = min(_falling(n - k, n + c - k, m) for c, n in rest.items())
                odds = min(odds, two * three, four * five)
        safe = odds > (1 - confidence) / confidence
        sign = "<" if safe else ">="
        breach = 1 / (1 + odds)
        shown_breach = number_text(breach) if breach.denominator < 10**12 else f"{float(breach):.12g}"
        return safe, f"{'safe' if safe else 'unsafe'}: breach {shown_breach} {sign} {number_text(confidence)}"


def _falling(above: int, below: int, m: int) -> Fraction:
    """The product of (above - i) / (below - i) for i < m."""
    numerator = denominator = 1
    for i in range(m):
        numerator *= above - i
        denominator *= below - i
    return Fraction(numerator, denominator)


def main(arguments: list[str]) -> int:
    """Check the folder or file named; the exit code."""
    if hasattr(sys.stdout, "reconfigure"):  # a label that the terminal cannot spell is escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    path = location(arguments[0])
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return 2
    try:
        document = parse_any(data)
    except Refused as error:
        print(f"NO   file           {error}")
        return 1
    print("yes  file           complete, canonical, and its sha256 matches")
    if isinstance(document, PartitionDocument):
        results = judge_partition(document, os.path.dirname(path))[1]
    else:
        results = judge(document)
    for name, holds, text in results:
        print(f"{'yes' if holds else 'NO '}  {name:<13}  {text}")
    if isinstance(document, Document):
        print("     equivalence    claimed, and not checked here: that takes the private table")
    return 0 if all(holds for _, holds, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
