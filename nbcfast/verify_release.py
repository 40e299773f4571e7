"""Check a published release from its certificate.json alone: Python's standard library, this one file.

    python verify_release.py DIR

prints each check and leaves with 0 if all hold, 1 if one does not, 2 if there is nothing to check. Checked
are the form of the file, its sha256 (which detects accidents, not forgers), that the counts are positive and
those of some table (for every attribute those of a class add up to the count of the class), and that Lambda,
the largest ratio X_c / X_d of two classes' scores over all tuples, keeps the limit, where

    X_c = P_c^(1-n) N^1_c .. N^n_c,    P_c the count of class c,  N^i_c that of the tuple's i-th value in it.

For a release with a prior F (method "est") also that (X_c / X_d) / (F_c / F_d) never exceeds r.

For a folder of disguised answers (kind "disguised"): that table.csv is the table of the certificate, value by
value, and that the scheme hides what the certificate says. That the coins were thrown, no file can show.

All decisions are made with integers. What only the owner of the private table can check (that the classifier
is the same) is not.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Typed = tuple[str, Any]  # the kind of a value, and the value

NAME = "certificate.json"
TABLE = "table.csv"
FORMAT = 1
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
CLOSENESS_FIELDS = {"prior", "r"}  # besides, where the method is "est"
CHOICES = {
    "attacker": ("row", "worlds"),
    "equivalence": ("identity", "enumeration", "meet in the middle", "interval", "none"),
    "kind": ("release",),
    "method": ("safetytransform", "est"),
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
        expected_fields = FIELDS | CLOSENESS_FIELDS if fields.get("method") == "est" else FIELDS
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
        return r / least, prior

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
        raise Refused("expected a release, got disguised answers")
    return document


def parse_any(data: bytes) -> Document | DisguisedDocument:
    """What these bytes certify; Refused if they are not as they were written."""
    try:
        return _parsed(data)
    except RecursionError:
        raise Refused("the file is damaged: lists are nested too deeply") from None


def _parsed(data: bytes) -> Document | DisguisedDocument:
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
    # A release that calls itself something else is told so by the release.
    of_answers = fields.get("kind") == "disguised" and "class_counts" not in fields
    document: Document | DisguisedDocument
    try:
        document = DisguisedDocument(fields) if of_answers else Document(fields)
    except Refused as error:
        if type(fields.get("sha256")) is str and fields.get("kind") in ("release", "disguised"):
            fault = " (and its sha256 does not match)" if digest(fields) != fields["sha256"] else ""
            raise Refused(f"{error}{fault}") from None
        raise
    stated, found = fields["sha256"], digest(fields)
    if stated != found:
        change = (
            _change(document, stated, len(data))
            if isinstance(document, Document)
            else "its own text is not the one that was hashed"
        )
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
    return results


DISGUISED_FIELDS = {
    "columns",
    "format",
    "kind",
    "method",
    "notes",
    "privacy",
    "rows",
    "scheme",
    "seeded",
    "sha256",
    "table_sha256",
    "version",
    "warnings",
}
DISGUISED_CHOICES = {"kind": ("disguised",), "method": ("randomised response",)}


class DisguisedDocument:
    """Disguised answers as their file says they are: the form is checked, the table is not yet.

    `columns` are (name, [(text in table.csv, typed value)]); `groups` are (theta, names); `lie` is None in a
    binary scheme.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        missing = sorted(DISGUISED_FIELDS - set(fields))
        unknown = sorted(set(fields) - DISGUISED_FIELDS)
        for name, allowed in DISGUISED_CHOICES.items():
            if name in fields and fields[name] not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise Refused(f"field {name!r}: expected one of {expected}; got {shown(fields[name])}")
        if "format" in fields and (type(fields["format"]) is not int or fields["format"] != FORMAT):
            raise Refused(f"field 'format': expected {FORMAT}, got {shown(fields['format'])}")
        if missing or unknown:
            raise Refused(
                "expected all fields of disguised answers and no others; "
                f"missing {', '.join(missing) or 'none'}, unknown {', '.join(unknown) or 'none'}"
            )
        for name in ("sha256", "table_sha256", "version"):
            if type(fields[name]) is not str:
                raise Refused(f"field {name!r}: expected a text, got {shown(fields[name])}")
        for name in ("notes", "warnings"):
            if type(fields[name]) is not list or any(type(line) is not str for line in fields[name]):
                raise Refused(f"field {name!r}: expected a list of texts, got {shown(fields[name])}")
        if type(fields["seeded"]) is not bool:
            raise Refused(f"field 'seeded': expected true or false, got {shown(fields['seeded'])}")
        self.fields = fields
        self.rows = whole(fields["rows"], "field 'rows'")
        entry = fields["columns"]
        if type(entry) is not list or not entry:
            raise Refused(f"field 'columns': expected a list, got {shown(entry)}")
        self.columns = [self._column(column) for column in entry]
        self.header = [name for name, _ in self.columns]
        if len(set(self.header)) < len(self.header):
            raise Refused(f"expected distinct names of columns, got {shown(self.header)}")
        self.groups, self.lie = self._scheme(fields["scheme"])
        for name, typed in self.declared.items():
            if name not in self.header:
                raise Refused(f"field 'scheme': {name!r} is no column of the table")
            values = [value for _, value in dict(self.columns)[name]]
            if values != typed:
                raise Refused(f"field 'scheme': the domain of {name!r} is not that of the column")

    @staticmethod
    def _column(entry: Any) -> tuple[str, list[tuple[str, Typed]]]:
        if type(entry) is not dict or set(entry) != {"name", "values"} or type(entry["name"]) is not str:
            raise Refused(f"field 'columns': expected entries with a name and values, got {shown(entry)}")
        where, pairs = f"column {entry['name']!r}", entry["values"]
        if type(pairs) is not list or not pairs:
            raise Refused(f"{where}: expected a list of texts and values, got {shown(pairs)}")
        texts = []
        for pair in pairs:
            if type(pair) is not list or [type(part) for part in pair] != [str, list]:
                raise Refused(f"{where}: expected a text and its value, got {shown(pair)}")
            if pair[0] in texts:
                raise Refused(f"{where}: expected distinct texts, got {pair[0]!r} twice")
            texts.append(pair[0])
        typed = domain([pair[1] for pair in pairs], where)
        return entry["name"], list(zip(texts, typed))  # noqa: B905

    def _scheme(self, entry: Any) -> tuple[list[tuple[Fraction, list[str]]], str | None]:
        kind = entry.get("kind") if type(entry) is dict else None
        wanted = {"domains", "format", "groups", "kind"} | ({"lie"} if kind == "k-ary" else set())
        if kind not in ("binary", "k-ary") or set(entry) != wanted or entry["format"] != FORMAT:
            raise Refused(f"field 'scheme': expected a binary or k-ary scheme, got {shown(entry)}")
        lie = entry.get("lie")
        if kind == "k-ary" and lie not in ("each", "tuple"):
            raise Refused(f"field 'scheme': expected lie 'each' or 'tuple', got {shown(lie)}")
        groups: list[tuple[Fraction, list[str]]] = []
        if type(entry["groups"]) is not list or not entry["groups"]:
            raise Refused(f"field 'scheme': expected groups, got {shown(entry['groups'])}")
        for group in entry["groups"]:
            if type(group) is not dict or set(group) != {"columns", "theta"}:
                raise Refused(f"field 'scheme': expected columns and theta, got {shown(group)}")
            names = group["columns"]
            if type(names) is not list or not names or any(type(name) is not str for name in names):
                raise Refused(f"field 'scheme': expected names of columns, got {shown(names)}")
            groups.append((probability(group["theta"], "field 'scheme'"), names))
        every = [name for _, names in groups for name in names]
        if len(set(every)) < len(every):
            raise Refused(f"field 'scheme': expected groups that do not overlap, got {shown(every)}")
        if type(entry["domains"]) is not dict or sorted(entry["domains"]) != sorted(every):
            raise Refused("field 'scheme': expected the domain of each of its columns, and no other")
        self.declared = {
            name: domain(values, f"domain of {name!r}") for name, values in entry["domains"].items()
        }
        for name, typed in self.declared.items():
            if len(typed) < 2 or (kind == "binary" and len(typed) != 2):
                raise Refused(f"field 'scheme': {name!r} has {len(typed)} values")
        return groups, lie


def probability(entry: Any, where: str) -> Fraction:
    """A number in [0, 1], as decimal text or "num/den"."""
    if type(entry) is str and re.fullmatch(r"[0-9]{1,60}(\.[0-9]{1,60}|/[1-9][0-9]{0,60})?", entry):
        number = Fraction(entry)
        if number <= 1:
            return number
    raise Refused(f'{where}: expected a probability such as "0.8" or "1/3", got {shown(entry)}')


def odds_of(document: DisguisedDocument) -> list[Fraction | None]:
    """For each group e^epsilon, the most that an answer multiplies odds by; None where there is no bound."""
    found: list[Fraction | None] = []
    for theta, names in document.groups:
        sizes = [len(document.declared[name]) for name in names]
        others = _product(sizes) - 1 if document.lie == "tuple" else _product([size - 1 for size in sizes])
        if not 0 < theta < 1 or (len(names) > 1 and document.lie != "tuple"):
            found.append(None)
            continue
        ratio = theta * others / (1 - theta)
        found.append(max(ratio, 1 / ratio))
    return found


def judge_disguised(document: DisguisedDocument, folder: str) -> list[tuple[str, bool, str]]:
    """(name, holds, sentence) of each check of disguised answers and the table.csv in their folder."""
    fault = _read_answers(document, os.path.join(folder, TABLE))
    results = [("table", fault is None, fault or f"{TABLE} is that of the certificate, value by value")]
    claimed = document.fields["privacy"]
    found = [None if odds is None else _odds_text(odds) for odds in odds_of(document)]
    same = claimed == found
    text = "; ".join(
        f"{', '.join(names)}: "
        + (
            "not epsilon-LDP for any epsilon"
            if odds is None
            else f"no odds are multiplied by more than {odds}"
        )
        for (_, names), odds in zip(document.groups, found)  # noqa: B905
    )
    if not same:
        text = f"the certificate says {shown(claimed)}, its scheme gives {shown(found)}"
    results.append(("privacy", same, text))
    text = "coins of a cryptographic generator, as the certificate says"
    if document.fields["seeded"]:
        text = "a simulation: its coins came from a seed, and hide nothing from who knows it"
    results.append(("coins", not document.fields["seeded"], text))
    return results


def _odds_text(odds: Fraction) -> str:
    return f"{odds.numerator}/{odds.denominator}"


def _read_answers(document: DisguisedDocument, path: str) -> str | None:
    """A sentence about what is wrong with the table, or None."""
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
    known = [{text: place for place, (text, _) in enumerate(values)} for _, values in document.columns]
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file, strict=True)
        try:
            header = next(lines, [])
            if header != document.header:
                return f"{TABLE}: expected the columns {shown(document.header)}, got {shown(header)}"
            rows = 0
            before: list[str] | None = None
            last: tuple[int, ...] = ()
            for number, line in enumerate(lines, 2):
                rows += 1
                if line == before:
                    continue
                before = line
                fields = line or [""]  # an empty line of a table of one column is its null
                if len(fields) != len(header):
                    return f"{TABLE}: line {number} has {len(line)} fields, expected {len(header)}"
                for i, text in enumerate(fields):
                    if text not in known[i]:
                        return f"{TABLE}: line {number}: {text!r} is no value of {header[i]!r}"
                rank = tuple(known[i][text] for i, text in enumerate(fields))
                if rank < last:
                    return f"{TABLE}: line {number} is not in order: rows may stand as in the data"
                last = rank
        except (csv.Error, UnicodeDecodeError) as error:
            return f"{TABLE}: {error}"
    if rows != document.rows or not rows:
        return f"{TABLE} has {rows} rows, the certificate says {short(document.rows)}"
    return None


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
    if isinstance(document, DisguisedDocument):
        results = judge_disguised(document, os.path.dirname(path))
    else:
        results = judge(document)
    for name, holds, text in results:
        print(f"{'yes' if holds else 'NO '}  {name:<13}  {text}")
    if isinstance(document, Document):
        print("     equivalence    claimed, and not checked here: that takes the private table")
    return 0 if all(holds for _, holds, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
