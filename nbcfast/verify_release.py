"""Check a published release from its certificate.json alone: Python's standard library, this one file.

    python verify_release.py DIR [--ignore-extra]

prints each check ("yes", "NO", or "?" where it is not made here), then what the publisher claims and no file
can show, the notes of the certificate, the verdict, and below it the warnings of the certificate, and leaves
with

    0  verified: every check was made and holds,
    1  not verified: some check does not hold,
    2  there is nothing to check,
    3  not fully checked: nothing fails, but some check is a "?": it needs more than the file, or more work.

A claim is never a "yes", and changes neither verdict nor exit code. Checked are the form of the file, its
sha256 (which detects accidents, not forgers), that the counts are positive and those of some table (for every
attribute those of a class add up to the count of the class), and that Lambda, the largest ratio X_c / X_d of
two classes' scores over all tuples, keeps the limit, where

    X_c = P_c^(1-n) N^1_c .. N^n_c,    P_c the count of class c,  N^i_c that of the tuple's i-th value in it.

For a release with a prior F (method "est") also that (X_c / X_d) / (F_c / F_d) never exceeds r.

Of a canonical release (method "canonical"), which holds a table of points, also that the points decide every
tuple as the counts do, where the domain is not too large for that. That it says nothing but a classifier's
answers is not checked here, so it is never more than "not fully checked": `nbcfast verify` makes it from its
own answers again.

The words of a certificate (notes, warnings) are the exact list that goes with its fields, or it is refused.
Those that nothing has checked are printed as claims, or not at all.

All decisions are made with integers. What only the owner of the private table can check (that the classifier
is the same, that counts are powers or artificial, which values were declared) is printed as a claim.

Where the folder holds a table.csv that is checked too: its sha256, that its values are those that the
certificate lists, and that its rows are sorted (unless they were shuffled) so that nothing is left of the
order of the data. Of a table.parquet that the certificate names the sha256 is checked here, and nothing else:
that leaves "not fully checked", as `nbcfast verify` alone can compare it with the table. Then, of

    a partition (a table in which groups of people share generalised values), from the groups of equal rows,
    every demand of the certificate: that all points (l, k, m, confidence) of the skyline are strictly safe,
    and k, diversity and closeness;

    a disclosure (a table in which values are suppressed so that its privacy templates hold) every template:
    over the groups of rows with the same values of the known columns, the largest share of the sensitive
    value is the confidence that is stated, and not above the limit;

    disguised answers that the scheme hides what the certificate says, and which columns it does not hide at
    all, and that scheme.json and cuts.json beside them are those of the certificate. That the coins were
    thrown, no file can show: that is a claim.

Nothing else may be in the folder, which is meant too where the path of its certificate is given: files and
folders that the certificate does not name, hidden ones too, are listed, and fail the check. With
--ignore-extra they are listed as ignored ("--"), which is no check and changes no exit code: nothing covers
them. Pipes, devices and links out of the folder fail always, and are never opened.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import re
import stat
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import factorial, frexp, gcd, ldexp
from operator import truediv
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Typed = tuple[str, Any]  # the kind of a value, and the value
    Rows = dict[tuple[int, ...], int]  # places of a row's values in the columns of the table -> people
    Histograms = dict[tuple[int, ...], dict[int, int]]  # places of a group's cells -> value -> people
    # (name, holds, sentence) of each check; None where it is not made, because it would take too long, or
    # something that is not in the file
    Judged = list[tuple[str, bool | None, str]]
    Decided = dict[str, bool | None]  # of each check that there is

NAME = "certificate.json"
TABLE = "table.csv"
PARQUET = "table.parquet"
SCHEME = "scheme.json"
CUTS = "cuts.json"
FORMAT = 1
MOST_PEOPLE = 2**61  # of a table, less than this
NOTHING_TOLD = Fraction(1, 10**9)  # what less than this is left of by coins, no estimate brings back
WHOLE_IN_JSON = 2**53  # readers that hold numbers as doubles would round integers beyond it
LONGEST = 40  # characters of a number in JSON; the message of one that is too large shows this many
# Of both parts of a limit, a prior, or another number that somebody chose: longer ones hide a text. The limit
# that `safety.limit` rounds at 2^-64 has fewer.
MOST_DIGITS = 38

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
POINT = r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9]|/[1-9][0-9]*)?"
LONGEST_POINT = 1024
MOST_CUT = 8_000  # characters of the values of a column that is cut in two
# The texts that Arrow's durations, dates and moments become, as the library sorts them.
DURATION = re.compile(r"(-?)PT([0-9]+(?:\.[0-9]+)?)S")
DATE = re.compile(r"([0-9]{4,}|-[0-9]{3,})(-[0-9]{2}-[0-9]{2}(?:T.*)?)")
VERSIONS = ("0.1.0",)  # that have written certificates; nothing checks what the digits of another say
VERSION = r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}((a|b|rc|\.post|\.dev)[0-9]{1,6}){0,3}"
MOST_SAID = 10_000  # characters of a sentence
MOST_NAMED = 20  # files that a message names
SOME_NAMES = 5  # attributes that a warning names
MOST_BITS = 62  # that points may be rounded to
GUESSED_BYTES = 50_000_000
DIGITS = 512  # binary digits after the point of logarithms of what floats leave open
# Of files, looked at before they are read: a sparse one of any size takes no room, and is quickly sent.
# A certificate with a million values, each one's text and type, has 50 MB. Parsed, it takes twenty times that
# of memory.
MOST_BYTES = 1 << 27  # of a file that is read whole: the certificate, a copy of its scheme or cuts
MOST_LINES = 10**8  # of a table; with more people than that it is written with weights
MOST_OF_TABLE = 1 << 34  # bytes of a file that is gone through: these lines, of 170 characters
SHORT_LINE = 1 << 16  # characters of a record up to which its fields are looked at, whatever they may hold
# How much is looked at in a second or so of Python; what takes more is not decided.
LONGEST_PART = 1 << 15  # bits of a part of a rational, whose lowest terms take quadratic time
LONGEST_SUM = 1 << 17  # of the denominators of a prior
MOST_RATIOS = 1 << 22  # quotients of counts, over all pairs of classes
MOST_LOGARITHMS = 1 << 12  # with these digits
MOST_MULTIPLIED = 1 << 23  # bits of all products that are taken because logarithms are too near to the limit

MOST_SHOWN_DIGITS = 40  # of a probability, where fewer would show it on the wrong side of its limit
SURE_DIGITS = 12  # of one that is known to about 2^-50
FEW = 64  # factors of a product that is taken at once
FACTORS = 1 << 14  # of all products that are taken because bounds leave a point of the skyline open
PLACES = 192  # binary digits of those bounds after the point
LOG2_E = 0x171547652B82FE1777D0FFDA0D23A7D11D6AEF551BAD2B4B1  # log2(e) in units of 2^-PLACES, rounded down
STIRLING = (
    1 << 10
)  # factorials of numbers this large are taken by his series, whose terms are up / (down z^i)
SERIES = (
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360360),
    (1, 156),
    (-3617, 122400),
)


GUARANTEE = (
    "The limit holds against an attacker who takes these counts as those of the data. It is not differential "
    "privacy, and an attacker who knows the method can undo part of it."
)
UNKNOWN = "Whether all tuples are decided as by the private views is not known."
FLATTENED = "Counts, here and in a synthetic table, are powers of those of the data, and not its marginals."
ORIGINAL = "These are the original counts of the data."
ARTIFICIAL = (
    "Attribute marginals and class shares, here and in a synthetic table, are artificial, and not those of "
    "the data."
)
ANSWERS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else. "
    "Whoever holds it learns exactly what he would learn by asking the classifier about every tuple of that "
    "domain, no more and no less, and no other exactly equivalent release reveals less."
)
DEPENDS = (
    "How much that is depends on the domain: whoever also knows public marginals may get counts back from "
    "the answers alone, on small domains too, and the more of them the more tuples there are for each value. "
    "The limit binds only a reader who takes the numbers for raw counts. "
    "This is not differential privacy, and a second release from changed data reveals a second classifier."
)
SOME_ANSWERS = (
    "This release was computed from the classifier's answers on a list of tuples and from nothing else. "
    "Whoever holds it learns no more than he would learn by asking the classifier about these, if the list "
    "is public, as the publisher says."
)
PUBLIC = "The list of tuples is public, and was not made of the private rows."
ROUNDED_ANSWERS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else, "
    "and its points were rounded: whoever holds it learns no more than he would learn by asking the "
    "classifier about every tuple of that domain."
)
FEW_ROWS = (
    "This release was computed from the classifier's answers on the declared domain and from nothing else, "
    "and its counts were rounded to so few rows that they decide otherwise on some tuples, as its points do: "
    "whoever holds it learns no more than he would learn by asking the classifier about every tuple of that "
    "domain."
)


PARTITION = (
    "Safe is meant against an adversary who knows everybody's quasi-identifiers and the pieces of knowledge "
    "that the points allow, and takes all assignments of a group's values to its people for equally likely. "
    "It is not differential privacy: who learns a model of the data, or knows how the groups were made, may "
    "infer more."
)
DISCLOSURE = (
    "The templates hold for the groups of rows that share the known columns. It is not differential privacy: "
    "inferences from other columns, or to other values, are not limited, and who knows how values were "
    "chosen for suppression may infer more."
)
CLAIMED = "the publisher claims, unchecked:"
NOTE = "note:"
WARNING = "warning:"
VERDICTS: dict[bool | None, tuple[str, int]] = {
    True: ("verified", 0),
    False: ("not verified", 1),
    None: ("not fully checked", 3),
}


def outcome(found: Iterable[bool | None]) -> bool | None:
    """Whether all checks hold; None if none fails and some is not decided."""
    decided = list(found)
    return False if False in decided else None if None in decided else True


def decisions(results: Judged) -> Decided:
    """What comes of each check by its name; of several with one name, of all of them."""
    found: Decided = {}
    for name, holds, _ in results:
        found[name] = outcome([found.get(name, True), holds])
    return found


def verdict(found: Sequence[bool | None], claims: int, warnings: int = 0, ignored: int = 0) -> str:
    """The line above the warnings: what is verified, and what is left."""
    whole_of_it = outcome(found)
    text = VERDICTS[whole_of_it][0]
    left = []
    if whole_of_it is None:
        open_ones = sum(holds is None for holds in found)
        left.append(f"{open_ones} check{'s are' if open_ones > 1 else ' is'} not decided")
    elif claims:
        left.append("what the files can show")
    if claims:
        how_many = "1 claim of the publisher is" if claims == 1 else f"{claims} claims of the publisher are"
        left.append(f"{how_many} not checked")
    if ignored:
        things = "1 thing in the folder was" if ignored == 1 else f"{ignored:,} things in the folder were"
        left.append(f"{things} ignored, and nothing covers {'it' if ignored == 1 else 'them'}")
    if warnings:
        left.append("mind the warning below" if warnings == 1 else f"mind the {warnings} warnings below")
    return text if whole_of_it is False or not left else f"{text}: {'; '.join(left)}"


class Refused(ValueError):  # noqa: N818
    """The file is not a release as it was written."""

    def __init__(self, text: str) -> None:
        super().__init__(brief(text))


class TooLong(Refused):
    """The file would take too long to read: nothing is known of it."""


# One for all: json.dumps makes another for each of the hundreds of thousands of values of a file.
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(document: Any) -> str:
    """The one text of a document: sorted keys, no spaces, ASCII."""
    return ENCODER.encode(document)


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


def brief(text: str) -> str:
    """A sentence that names and values of a file may fill: its middle is left out where it is very long."""
    if len(text) <= MOST_SAID:
        return text
    half = MOST_SAID // 2 - 20  # with room for what is said in between
    return f"{text[:half]} .. ({len(text) - 2 * half:,} characters) .. {text[-half:]}"


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


SHORT_RATIONAL = re.compile(r"(0|[1-9][0-9]{0,14})/([1-9][0-9]{0,14})")  # of most intervals


def rational(entry: Any, where: str) -> Fraction:
    """A number of at least 0, as "num/den" in lowest terms."""
    if type(entry) is str and entry.count("/") == 1:
        plain = SHORT_RATIONAL.fullmatch(entry)
        if plain:
            up, down = int(plain[1]), int(plain[2])
            if gcd(up, down) == 1:
                return Fraction(up, down)
        try:
            numerator, denominator = map(_part, entry.split("/"))
        except Refused:
            numerator, denominator = 0, 0
        if max(numerator.bit_length(), denominator.bit_length()) > LONGEST_PART:
            raise TooLong(f"{where}: not checked here: a rational of more than {LONGEST_PART:,} bits")
        if denominator and gcd(numerator, denominator) == 1:
            return Fraction(numerator, denominator)
    raise Refused(f'{where}: expected a rational "num/den" in lowest terms, got {shown(entry)}')


def chosen(entry: Any, where: str, factors: int = 1) -> Fraction:
    """A rational that the publisher chose, or the product of so many: it may carry that many digits."""
    digits = MOST_DIGITS * factors
    if type(entry) is str and len(entry) > 4 * digits:  # before numbers of any length are looked at
        raise _carries(entry, digits, where)
    number = rational(entry, where)
    if carries_more(number, factors):
        raise _carries(entry, digits, where)
    return number


def carries_more(number: Fraction, factors: int = 1) -> bool:
    """Whether a number has more digits than one that somebody chose may have."""
    least: int = 10 ** (MOST_DIGITS * factors)
    return max(abs(number.numerator), number.denominator) >= least


def _carries(entry: Any, digits: int, where: str) -> Refused:
    return Refused(
        f"{where}: beyond what a limit may carry: expected numbers of up to {digits} digits in "
        f'"num/den", got {shown(entry)}'
    )


def demanded(entry: Any, where: str) -> int:
    """A number of people, values or pieces of knowledge that the publisher chose."""
    number = whole(entry, where)
    if number > MOST_PEOPLE:
        raise Refused(f"{where}: beyond what a limit may carry: expected up to 2^61, got {short(number)}")
    return number


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


def domain(entry: Any, where: str, in_order: bool = True) -> list[Typed]:
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


class Form:
    """A certificate as its file says it: the form is checked, what it claims is not yet.

    Each kind of published thing has its own fields, and says here how many of them are checked.
    """

    names: ClassVar[set[str]]  # of its fields
    may_have: ClassVar[set[str]] = set()  # names of others, of files that are not always written
    choices: ClassVar[dict[str, tuple[str, ...]]]  # of texts that are a few
    flags: ClassVar[tuple[str, ...]] = ()  # that are true or false
    lists: ClassVar[tuple[str, ...]] = ("notes", "warnings")  # of texts
    optional: ClassVar[tuple[str, ...]] = ()  # texts or null
    hashes: ClassVar[tuple[str, ...]] = ("sha256",)
    check_of_words: ClassVar[str | None] = None  # where they do not follow from the fields alone
    admitted: ClassVar[tuple[str, ...]] = ()  # checks that may fail in what is loaded: it says so itself

    def __init__(self, fields: dict[str, Any]) -> None:
        names = self.expected(fields)
        missing, unknown = sorted(names - set(fields)), sorted(set(fields) - names)
        for name, allowed in self.choices.items():
            if name in fields and fields[name] not in allowed:
                expected = ", ".join(map(repr, allowed))
                raise Refused(f"field {name!r}: expected one of {expected}; got {shown(fields[name])}")
        if "format" in fields and (type(fields["format"]) is not int or fields["format"] != FORMAT):
            raise Refused(f"field 'format': expected {FORMAT}, got {shown(fields['format'])}")
        if missing:
            raise Refused(f"field {missing[0]!r} is missing")
        if unknown:
            raise Refused(f"field {unknown[0]!r} is unknown")
        for name in self.flags:
            if type(fields[name]) is not bool:
                raise Refused(f"field {name!r}: expected true or false, got {shown(fields[name])}")
        for name in self.lists:
            entry = fields[name]
            if type(entry) is not list or not all(type(text) is str for text in entry):
                raise Refused(f"field {name!r}: expected a list of texts, got {shown(entry)}")
        if type(fields["version"]) is not str:
            raise Refused(f"field 'version': expected a text, got {shown(fields['version'])}")
        if not re.fullmatch(VERSION, fields["version"]):  # a sentence there would be one that nothing checks
            raise Refused(f"field 'version': expected one such as 1.2.3, got {shown(fields['version'])}")
        for name in self.optional:
            if fields[name] is not None and type(fields[name]) is not str:
                raise Refused(f"field {name!r}: expected a text or null, got {shown(fields[name])}")
        for name in self.hashes:
            if name not in fields:
                continue
            if type(fields[name]) is not str or not re.fullmatch(r"[0-9a-f]{64}", fields[name]):
                raise Refused(
                    f"field {name!r}: expected 64 hexadecimal digits, got {shown(fields[name], 80)}"
                )
        self.fields = fields
        self.read(fields)

    def expected(self, fields: dict[str, Any]) -> set[str]:
        """The names of all fields that a certificate with these must have."""
        return self.names | (self.may_have & set(fields))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are checked with the certificate, where they stand beside it."""
        return ()

    def read(self, fields: dict[str, Any]) -> None:
        """Check and keep the fields that are of this kind alone."""
        raise NotImplementedError

    def expect_words(self, notes: Sequence[str], warnings: Iterable[str]) -> None:
        """Refuse other notes or warnings than these, or these in another order."""
        for name, expected in (("notes", list(notes)), ("warnings", list(warnings))):
            if self.fields[name] != expected:
                raise Refused(strange_words(name, expected, self.fields[name]))

    def claims(self, decided: Decided) -> list[str]:
        """What the certificate says and no file can show, but for what a check has decided otherwise."""
        return []

    def uncounted(self, decided: Decided) -> list[str]:
        """Sentences that are not to be printed as checked, as they hold numbers that nothing has counted."""
        return []

    def words(self, decided: Decided) -> tuple[list[str], list[str]]:
        """The warnings and the notes that were checked and are no claims; of what does not hold, no notes."""
        if self.check_of_words is not None and not decided.get(self.check_of_words):
            return [], []
        unsaid = {*self.claims(decided), *self.uncounted(decided)}
        notes = [] if outcome(decided.values()) is False else self.fields["notes"]
        warnings, notes = (
            [text for text in texts if text not in unsaid] for texts in (self.fields["warnings"], notes)
        )
        return warnings, notes


class Document(Form):
    """A release.

    `classes` and the values of each attribute are typed, in the order of the counts; `attributes` are
    (name, values, counts) with counts[value][class].
    """

    names = FIELDS
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "attacker": ("row", "worlds"),
        "equivalence": ("identity", "enumeration", "meet in the middle", "interval", "none"),
        "kind": ("release",),
        "method": ("safetytransform", "est", "canonical"),
        "preserve": ("order", "label"),
    }
    flags = ("gauge", "identity")
    optional = ("class_name",)

    def expected(self, fields: dict[str, Any]) -> set[str]:
        method = fields.get("method")
        return FIELDS | (METHOD_FIELDS.get(method, set()) if type(method) is str else set())

    def read(self, fields: dict[str, Any]) -> None:
        # With a prior it is R times a quotient of two numbers of that.
        factors = 3 if fields["method"] == "est" else 1
        self.amplification = chosen(fields["amplification"], "field 'amplification'", factors)
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
        self.classes = domain(fields["classes"], "field 'classes'", in_order=False)
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
            counts = [self._counts(row, where, one) for row, one in zip(rows, values)]  # noqa: B905
            self.attributes.append((name, values, counts))
            product *= len(values)
        if product != self.tuples:
            raise Refused(
                f"field 'tuples': expected {short(product)}, the product of the numbers of values, "
                f"got {shown(fields['tuples'])}"
            )
        self.canonical = self._canonical(fields["canonical"]) if "canonical" in fields else None
        if self.differing_rows is not None and self.differing_rows >= MOST_PEOPLE:
            raise Refused(
                f"field 'differing_rows': expected less than 2^61, got {short(self.differing_rows)}"
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
        self._words()

    def claims(self, decided: Decided) -> list[str]:
        fields, made, found = self.fields, self.canonical, []
        limits = decided.get("amplification"), decided.get("closeness", True)
        if GUARANTEE in fields["notes"] and None in limits and outcome(decided.values()) is None:
            found.append(GUARANTEE)
        if made is not None and decided.get("canonical") is None:
            found.append(fields["notes"][0])
        if made is not None and made["listed"] is not None:
            found.append(PUBLIC)
        if decided.get("equivalence") is None:
            found += self._of_the_private_views()
        counted = decided.get("differing") is not None
        if self.differing_rows is not None and self.differing_tuples != 0 and not counted:
            rows = short(self.differing_rows)
            found.append(f"{rows} rows of the private table are decided otherwise than by the private views.")
        # What was made again is no marginal but what its method makes of answers, or of the counts.
        again = decided.get("again") if made is None else decided.get("canonical")
        if not fields["identity"] and not again:
            found.append(ARTIFICIAL if fields["gauge"] else FLATTENED)
        if made is not None:
            found.append(self._chosen())
            names, others = [*(name for name, _, _ in self.attributes), None], set(made["undeclared"])
            declared = [name for name in names if name not in others]
            if declared:
                found.append(
                    f"The values of {listing(declared)} were declared, and do not come from the rows."
                )
        return found

    def _chosen(self) -> str:
        """What of a canonical release is no answer of the classifier: all that its publisher was free to say.

        The order of values is one of these, as a declared domain has whatever order it was given.
        """
        limit, name = self.amplification, self.fields["class_name"]
        lists = [f"{named(one)}: {in_words(values)}" for one, values, _ in self.attributes]
        lists.append(
            f"{'the class' if name is None else f'the class {named(name)}'}: {in_words(self.classes)}"
        )
        return (
            f"The limit {limit}, and these names and values in this order, were chosen by the publisher, and "
            f"are no answers of the classifier: {'; '.join(lists)}."
        )

    def uncounted(self, decided: Decided) -> list[str]:
        if decided.get("equivalence"):
            return []
        listed = None if self.canonical is None else self.canonical["listed"]
        preserve, found = self.fields["preserve"], []
        if listed is not None:
            found.append(listed_text(listed["tuples"], listed["differing"], preserve))
        if self.differing_tuples:
            found.append(differing_text(self.differing_tuples, preserve))
        return found

    def _of_the_private_views(self) -> list[str]:
        """What is said of the classifier that the release was made from."""
        fields = self.fields
        if fields["identity"]:
            return [ORIGINAL]
        what = "The order of all classes" if fields["preserve"] == "order" else "The best class"
        listed = None if self.canonical is None else self.canonical["listed"]
        if listed is not None:
            if not listed["differing"]:
                return [
                    f"{what} is that of the private views on all {short(listed['tuples'])} listed tuples."
                ]
            other, of = listed["differing"], f"{short(listed['tuples'])} listed tuples"
        elif self.differing_tuples is None:
            return []
        elif not self.differing_tuples:
            how = fields["equivalence"]
            return [f"{what} is that of the private views on all {short(self.tuples)} tuples (by {how})."]
        else:
            other, of = self.differing_tuples, f"{short(self.tuples)} tuples"
        return [f"{what} is another than in the private views on {short(other)} of {of}, and on no more."]

    def _words(self) -> None:
        """Whether the words are those that go with the fields: these and no others, in this order."""
        fields, made = self.fields, self.canonical
        listed = None if made is None else made["listed"]
        if max(self.differing_tuples or 0, listed["tuples"] if listed else 0).bit_length() > 62:
            raise Refused("fields 'differing_tuples', 'canonical': expected fewer than 2^62 tuples")
        if made is None:
            notes = release_notes(fields["identity"], fields["gauge"])
            warnings = release_warnings(fields["identity"], self.differing_tuples, fields["preserve"])
        else:
            equal = None if self.differing_tuples is None else self.differing_tuples == 0
            notes = canonical_notes(listed is not None, equal, made["bits"])
            warnings = canonical_warnings(
                made["undeclared"],
                None if listed is None else (listed["tuples"], listed["differing"]),
                self.differing_tuples,
                fields["preserve"],
                made["reproducible"],
            )
        self.expect_words(notes, warnings)

    def _closeness(self) -> tuple[Fraction, list[Fraction]]:
        """R, of which attacker "worlds" needs half, and the prior of each class."""
        r = chosen(self.fields["r"], "field 'r'")
        least = 2 if self.fields["attacker"] == "worlds" else 1
        if r <= least:
            raise Refused(f"field 'r': expected more than {least}, got {shown(self.fields['r'])}")
        entry = self.fields["prior"]
        if type(entry) is not list or len(entry) != len(self.classes):
            raise Refused(f"field 'prior': expected {len(self.classes)} rationals, got {shown(entry)}")
        prior = [chosen(number, "field 'prior'") for number in entry]
        if sum(number.denominator.bit_length() for number in prior) > LONGEST_SUM:
            raise TooLong(f"field 'prior': not checked here: denominators of more than {LONGEST_SUM:,} bits")
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
        if not self.attributes:
            raise Refused(f"{where}: expected at least one attribute, as no points are made of none")
        for name, values, _ in self.attributes:
            ends = [end for kind, ends in values if kind == "interval" for end in ends if end is not None]
            if any(carries_more(end, 16) for end in ends):  # which are printed in full
                raise Refused(f"attribute {name!r}: beyond what an end of an interval may carry")
        width = len(self.classes) - 1
        constants = signed_list(entry["constants"], width, f"{where}, constants")
        rows = entry["points"]
        sizes = [len(values) for _, values, _ in self.attributes] if width else []
        if type(rows) is not list or [len(one) if type(one) is list else -1 for one in rows] != sizes:
            raise Refused(f"{where}: expected points of {sizes} values, got {shown(rows)}")
        points = tuple(tuple(signed_list(row, width, f"{where}, points") for row in one) for one in rows)
        if type(entry["reproducible"]) is not bool:
            raise Refused(f"{where}: expected true or false, got {shown(entry['reproducible'])}")
        names = [*(name for name, _, _ in self.attributes), None]
        undeclared = entry["undeclared"]
        told = type(undeclared) is list and all(name is None or type(name) is str for name in undeclared)
        named = set(undeclared) if told else set()
        if not told or [name for name in names if name in named] != undeclared:
            raise Refused(
                f"{where}: expected names of attributes, and null for the class last, got {shown(undeclared)}"
            )
        numbers = [number for one in points for row in one for number in row]
        if numbers and min(numbers) < 0:
            raise Refused(f"{where}: expected points of at least 0, got {short(min(numbers))}")
        bits = None if entry["bits"] is None else whole(entry["bits"], f"{where}, bits")
        least = max(numbers, default=0).bit_length()
        if bits is not None and not max(least, 1) <= bits <= MOST_BITS:
            raise Refused(
                f"{where}: expected bits from {max(least, 1)}, which these points have, to {MOST_BITS}, "
                f"got {short(bits)}"
            )
        if not self.fields["gauge"]:
            raise Refused(f"{where}: expected gauge true, as every value is equally frequent; got false")
        if self.differing_rows is not None:
            raise Refused(
                "field 'differing_rows': expected null, as a canonical release is made of answers and not of "
                f"rows; got {short(self.differing_rows)}"
            )
        listed = entry["listed"]
        if listed is not None:
            if type(listed) is not dict or set(listed) != {"differing", "sha256", "tuples"}:
                raise Refused(
                    f"{where}: expected listed as differing, sha256 and tuples, got {shown(listed)}"
                )
            if type(listed["sha256"]) is not str or not re.fullmatch(r"[0-9a-f]{64}", listed["sha256"]):
                raise Refused(f"{where}: expected 64 hexadecimal digits, got {shown(listed['sha256'], 80)}")
            n_listed = whole(listed["tuples"], f"{where}, listed tuples")
            differing = whole(listed["differing"], f"{where}, listed differing")
            if not 1 <= n_listed <= self.tuples:
                raise Refused(f"{where}: expected listed tuples from 1 to 'tuples', got {short(n_listed)}")
            if differing > n_listed:
                raise Refused(
                    f"{where}: expected at most {short(n_listed)} differing of those listed, "
                    f"got {short(differing)}"
                )
            if self.fields["equivalence"] != "none":
                raise Refused(f"{where}: listed goes with equivalence 'none', as no other tuple is known")
            listed = {"tuples": n_listed, "sha256": listed["sha256"], "differing": differing}
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

    def _counts(self, entry: Any, where: str, one: Typed | None = None) -> list[int]:
        fits = type(entry) is list and len(entry) == len(self.classes)
        if fits and all(type(number) is int and 0 <= number <= WHOLE_IN_JSON for number in entry):
            return list(entry)
        if one is not None:  # only here, as the text of a value takes longer than its counts
            where = f"{where}, value {label(one)}"
        if not fits:
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


def strange_words(name: str, expected: Sequence[str], found: Sequence[str]) -> str:
    """That a certificate has other words than those that go with its fields, at the first that is another."""
    place = next((i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]), None)  # noqa: B905
    place = min(len(expected), len(found)) if place is None else place
    wanted, got = (
        shown(texts[place], 400) if place < len(texts) else "none more" for texts in (expected, found)
    )
    return f"field {name!r}: expected those that go with the other fields: {wanted}, got {got}"


def release_notes(identity: bool, gauge: bool) -> tuple[str, ...]:
    """What a recipient of powers of counts has to know about them."""
    return GUARANTEE, ORIGINAL if identity else ARTIFICIAL if gauge else FLATTENED


def release_warnings(identity: bool, differing: int | None, preserve: str) -> Iterator[str]:
    """The warnings that follow from the fields of such a release."""
    if identity:
        yield "The counts of the data leave as they are: they were safe, and no gauge was asked for."
    if differing is None:
        yield UNKNOWN
    elif differing:
        yield differing_text(differing, preserve)


def differing_text(differing: int, preserve: str) -> str:
    """The warning that so many tuples are decided otherwise."""
    what = "another order of classes" if preserve == "order" else "another best class"
    return f"{differing:,} tuples have {what} than in the private views."


def listed_text(tuples: int, differing: int, preserve: str) -> str:
    """The warning that so many of the listed tuples are decided otherwise."""
    what = "another order of classes" if preserve == "order" else "another best class"
    return (
        f"{differing:,} of the {tuples:,} listed tuples have {what} than in the private views; "
        "elsewhere answers may be others too."
    )


def canonical_notes(listed: bool, equal: bool | None, bits: int | None) -> tuple[str, ...]:
    """What a recipient of a canonical release has to know about its numbers."""
    if listed:
        first = SOME_ANSWERS
    elif equal:
        first = ANSWERS
    else:
        first = FEW_ROWS if bits is None else ROUNDED_ANSWERS
    return first, DEPENDS, ARTIFICIAL


def canonical_warnings(
    undeclared: Sequence[str | None],
    listed: tuple[int, int] | None,
    differing: int | None,
    preserve: str,
    reproducible: bool,
) -> Iterator[str]:
    """The warnings that follow from the fields of a canonical release; `listed` is (tuples, differing)."""
    if undeclared:
        yield undeclared_text(undeclared)
    if listed is not None and listed[1]:
        yield listed_text(*listed, preserve)
    elif listed is not None:
        yield f"Beyond the {listed[0]:,} listed tuples answers may be others than in the private views."
    if differing:
        yield differing_text(differing, preserve)
    elif differing is None and listed is None:
        yield UNKNOWN
    if not reproducible:
        yield "Another machine may find other points that are as good."


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


def listing(names: Sequence[str | None]) -> str:
    """Names of attributes, and the class if None is there, in words."""
    words = [named(name) for name in names if name is not None][:SOME_NAMES]
    more = len(names) - len(words) - (None in names)
    if more > 0:
        words.append(f"{more} more")
    if None in names:
        words.append("the class")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def undeclared_text(names: Sequence[str | None]) -> str:
    """The warning that values of these attributes, and of the class if None is there, come from rows."""
    return (
        f"The values of {listing(names)} come from the rows and were not declared: which values occur is "
        "published, and that is outside the guarantee."
    )


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
    """The file that `path`, a folder or the file itself, names. Of a file its folder is checked with it."""
    if not path:  # which some take for the current folder, and others for nothing
        raise FileNotFoundError(errno.ENOENT, "expected the name of a folder or a file, got an empty text")
    return os.path.join(path, NAME) if os.path.isdir(path) else path


OUTSIDE = "a link to something outside its folder"


def special(mode: int) -> str | None:
    """What a thing with this mode is, if it is no regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((text for test, text in kinds if test(mode)), "something else")


def leads_out(path: str) -> bool:
    """Whether a name is a link to something outside the folder that the name is in."""
    if not os.path.islink(path):
        return False
    folder = os.path.realpath(os.path.dirname(path) or os.curdir)
    return not os.path.realpath(path).startswith(os.path.join(folder, ""))


def regular(path: str) -> IO[bytes]:
    """A published file, opened to be read; Refused, and not opened, where it is no regular one of its folder.

    Opening a pipe may wait for ever, and opening a device do anything. What was put in the place of the file
    since is found out without waiting.
    """
    what = special(os.stat(path).st_mode)
    if what is None and leads_out(path):
        what = OUTSIDE
    if what is None:
        flags = ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK")
        wanted = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags)
        handle = os.open(os.path.realpath(path), wanted)
        what = special(os.fstat(handle).st_mode)
        if what is None:
            return os.fdopen(handle, "rb")
        os.close(handle)
    raise Refused(f"{quoted(os.path.basename(path))} is {what}: expected a regular file")


def too_large(name: str, size: int, most: int) -> TooLong:
    """That a file is not read, because it is larger than any that is published."""
    return TooLong(f"{named(name)}: not checked here: {size:,} bytes, and up to {most:,} are read")


def expect_size(file: IO[bytes], name: str, most: int) -> None:
    """Refuse a file of more bytes than that; what has no size, such as a pipe, passes."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise too_large(name, size, most)


def read_whole(file: IO[bytes], name: str, data: bytes = b"") -> bytes:
    """A file of which `data` were read before; TooLong where it has more than MOST_BYTES."""
    expect_size(file, name, MOST_BYTES)
    data += file.read(MOST_BYTES + 1 - len(data))
    if len(data) > MOST_BYTES:  # it has grown since, or has no size
        raise too_large(name, max(os.fstat(file.fileno()).st_size, len(data)), MOST_BYTES)
    return data


def blocks_of(file: IO[bytes], name: str) -> Iterator[bytes]:
    """A file that may be large, block by block; TooLong where it is too large."""
    expect_size(file, name, MOST_OF_TABLE)
    size = 0
    for block in iter(lambda: file.read(1 << 20), b""):
        size += len(block)
        if size > MOST_OF_TABLE:
            raise too_large(name, size, MOST_OF_TABLE)
        yield block


def quoted(name: str) -> str:
    """The name of a file as a piece of a message: in quotes, so that it ends where it ends."""
    return json.dumps(name, ensure_ascii=False)


# Blanks by their numbers: what a certificate says in words must not depend on the tables of one Python.
PLAIN_NAME = re.compile(r'[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000:;,=>"]+')


def named(name: str) -> str:
    """The name of a column as a piece of what a check says: one that could pass for more is in quotes."""
    return name if PLAIN_NAME.fullmatch(name) else quoted(name)


def in_quotes(name: str) -> str:
    """The name as `repr` has it, but for characters that only newer Pythons know to be printable.

    A certificate that one Python has written is to be the same to all others.
    """
    mark = '"' if "'" in name and '"' not in name else "'"
    text = name.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return mark + UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text) + mark


def content(path: str) -> bytes:
    """The bytes of a certificate; FileNotFoundError where the file is something else that needs one."""
    with regular(path) as file:
        first = file.read(1)
        if first and first != b"{" and os.path.basename(path) != NAME:
            beside = os.path.exists(os.path.join(os.path.dirname(path), NAME))
            what = f"give its folder, for the {NAME} in it" if beside else f"there is no {NAME} beside it"
            raise FileNotFoundError(errno.ENOENT, f"no certificate, and {what}", path)
        return read_whole(file, os.path.basename(path), first)


def _no_number(text: str) -> Any:
    raise Refused(f"the file is damaged: {text[:40]} stands where only integers do")


def _integer(text: str) -> int:
    """An integer of JSON; longer ones are hexadecimal text, and would take Python a while to read."""
    if len(text) > LONGEST:
        raise Refused(f"the file is damaged: {text[:40]}.. stands where integers beyond 2^53 are text")
    return int(text)


def parse(data: bytes) -> Document:
    """The Document in these bytes; Refused if they are no release as it was written."""
    document = parse_any(data)
    if not isinstance(document, Document):
        raise Refused(f"field 'kind': expected 'release'; got {shown(document.fields['kind'])}")
    return document


def parse_any(data: bytes) -> Form:
    """What these bytes certify; Refused if they are not as they were written."""
    try:
        return _parsed(data)
    except RecursionError:
        raise Refused("the file is damaged: lists are nested too deeply") from None


def _parsed(data: bytes) -> Form:
    try:
        text = data.decode("ascii")
        fields = json.loads(text, parse_float=_no_number, parse_int=_integer, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start} is not ASCII: the file is damaged") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or not text.endswith("}\n"):
            raise Refused(
                f"the file is truncated: it ends after {len(data)} bytes within its JSON ({error.msg})"
            ) from None
        raise Refused(f"the file is damaged: {error.msg} at byte {error.pos}") from None
    if type(fields) is not dict:
        raise Refused(f"expected a JSON object, got {shown(fields)}")
    try:
        document = _form_of(fields)(fields)
    except TooLong:
        raise
    except Refused as error:
        if type(fields.get("sha256")) is str and fields.get("kind") in list(KINDS):
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


def _form_of(fields: dict[str, Any]) -> type[Form]:
    """The class of a certificate with these fields."""
    if "class_counts" in fields:  # a release that calls itself something else is told so by the release
        return Document
    kind = fields.get("kind", "release")
    if type(kind) is not str or kind not in KINDS:
        raise Refused(f"field 'kind': expected one of {', '.join(map(repr, KINDS))}; got {shown(kind)}")
    return KINDS[kind].form


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
) -> tuple[tuple[int, int] | None, bool | None]:
    """Two classes whose largest ratio of scores exceeds the limit, or None; and whether products decided.

    The limit is that of Lambda, or what `limits` says of the two classes. Where products would be needed that
    take too long, and no other two classes exceed it, this is (None, None).
    """
    size, n = len(document.classes), len(document.attributes)
    # What two classes take, where looking at a quotient is one: as measured.
    each = 8 + sum(len(values) + 6 for _, values, _ in document.attributes)
    if limits is not None and document.prior is not None:
        each += 8 + (max(number.denominator.bit_length() for number in document.prior) ** 2 >> 14)
    if size * (size - 1) * each > MOST_RATIOS:
        return None, None
    if limits is None:
        limits = lambda pair: document.limit  # noqa: E731
    columns = [list(zip(*counts)) for _, _, counts in document.attributes]  # noqa: B905
    # A quotient is within 2^-51 of its mantissa, and so are each product and the limit.
    room = 16 * (n + 2) * 2.0**-53
    left = []
    for c in range(size):
        for d in range(size):
            if c == d:
                continue
            odds = _Odds(document, c, d, [_largest(column[c], column[d]) for column in columns])
            limit = limits((c, d))
            mantissa, exponent = _about(limit.numerator, limit.denominator)
            found, shift = odds.about()
            found = ldexp(found, max(-1000, min(shift - exponent, 1000)))
            if found > mantissa * (1 + room):
                return (c, d), False
            if found >= mantissa * (1 - room):
                left.append((odds, limit))
    logs, bits, open_ones, multiplied = _Logs(document, DIGITS), MOST_MULTIPLIED, False, False
    above: bool | None
    for odds, limit in left:
        size_of_it = odds.bits + limit.numerator.bit_length() + limit.denominator.bit_length()
        if size_of_it <= bits:
            bits -= size_of_it
            above, multiplied = odds.above(limit), True
        else:
            above = odds.compared(limit, logs)
        if above:
            return odds.pair, multiplied
        open_ones |= above is None
    return None, None if open_ones else multiplied


def _about(x: int, y: int) -> tuple[float, int]:
    """Mantissa and exponent of x / y, within 2^-51 of it."""
    by_x, by_y = max(x.bit_length() - 64, 0), max(y.bit_length() - 64, 0)
    mantissa, exponent = frexp((x >> by_x) / (y >> by_y))
    return mantissa, exponent + by_x - by_y


def _largest(above: Sequence[int], below: Sequence[int]) -> tuple[int, int]:
    """The pair of numbers, none 0, with the largest quotient."""
    places: Iterable[int] = range(len(above))
    try:
        quotients = list(map(truediv, above, below))  # each is the double nearest to the truth
        near = max(quotients) * (1 - 2.0**-50)
        if near > 1e-290:
            places = [t for t in places if quotients[t] >= near]
    except OverflowError:
        pass
    x, y = 0, 1
    # By their texts, as whoever writes the file chooses numbers that share their hash.
    for a, b in {f"{above[t]:x}/{below[t]:x}": (above[t], below[t]) for t in places}.values():
        if a * y > x * b:
            x, y = a, b
    return x, y


def _bits(factors: Counter[str]) -> int:
    return sum(int(text, 16).bit_length() * times for text, times in factors.items())


class _Odds:
    """The largest X_c / X_d: (P_d / P_c)^(n-1) times the largest N_c / N_d of each attribute."""

    def __init__(self, document: Document, c: int, d: int, largest: list[tuple[int, int]]) -> None:
        self.pair = c, d
        p, q = document.class_counts[c], document.class_counts[d]
        # For no attribute a score is P. What stands above and below is left out.
        self.largest = largest if largest else [(p, q)]
        self.base = (q, p) if p != q and largest else (1, 1)
        self.power = len(largest) - 1 if self.base != (1, 1) else 0
        self.left: tuple[Counter[str], Counter[str]] | None = None

    @property
    def bits(self) -> int:
        """Of all factors that are left."""
        return sum(map(_bits, self.factors)) + self.power * sum(number.bit_length() for number in self.base)

    @property
    def factors(self) -> tuple[Counter[str], Counter[str]]:
        """What stands above, and below, but for what stands in both; in lowest terms if that is less.

        By hexadecimal text, as whoever writes the file chooses numbers that share their hash.
        """
        if self.left is None:
            up, down = Counter(f"{x:x}" for x, _ in self.largest), Counter(f"{y:x}" for _, y in self.largest)
            self.left = up - down, down - up
            if sum(map(_bits, self.left)) > LONGEST_PART:
                common = [gcd(x, y) if max(x, y) >> LONGEST_PART == 0 else 1 for x, y in self.largest]
                up = Counter(f"{x // one:x}" for (x, _), one in zip(self.largest, common))  # noqa: B905
                down = Counter(f"{y // one:x}" for (_, y), one in zip(self.largest, common))  # noqa: B905
                self.left = min(self.left, (up - down, down - up), key=lambda both: sum(map(_bits, both)))
        return self.left

    def about(self) -> tuple[float, int]:
        """Mantissa and exponent, off by 2^-51 for each factor and 2^-53 for each product at most."""
        mantissa, exponent = 1.0, 0
        for x, y in self.largest:
            one, shift = _about(x, y)
            mantissa, more = frexp(mantissa * one)
            exponent += shift + more
        one, shift = _about(*self.base)
        power = self.power
        while power:
            if power & 1:
                mantissa, more = frexp(mantissa * one)
                exponent += shift + more
            one, more = frexp(one * one)
            shift = 2 * shift + more
            power >>= 1
        return mantissa, exponent

    def above(self, limit: Fraction) -> bool:
        """Whether they exceed the limit, by exact products."""
        up, down = (
            _product([1, *(int(text, 16) for text in factors.elements())]) for factors in self.factors
        )
        above: int = up * self.base[0] ** self.power * limit.denominator
        below: int = down * self.base[1] ** self.power * limit.numerator
        return above > below

    def compared(self, limit: Fraction, logs: _Logs) -> bool | None:
        """The same by bounds of logarithms, as many as are left; None where these do not tell."""
        up, down = ([(int(text, 16), times) for text, times in factors.items()] for factors in self.factors)
        found = room = 0
        for sign, factors in ((1, up), (-1, down), (1, [(self.base[0], self.power)]),
                              (-1, [(self.base[1], self.power)]), (-1, [(limit.numerator, 1)]),
                              (1, [(limit.denominator, 1)])):  # fmt: skip
            for factor, times in factors:
                if len(logs.of_number) >= MOST_LOGARITHMS and f"{factor:x}" not in logs.of_number:
                    return None
                found += sign * times * logs.below(factor)
                room += 2 * times
        return True if found > room else False if found < -room else None


class _Logs:
    """Lower bounds of base-2 logarithms of the counts of a document, in units of 2^-digits."""

    def __init__(self, document: Document, digits: int) -> None:
        self.document = document
        self.digits = digits
        self.of_number: dict[str, int] = {}  # by hexadecimal text, as numbers may share their hash
        self.of_count: dict[tuple[int, int, int], int] = {}

    def below(self, number: int) -> int:
        text = f"{number:x}"
        if text not in self.of_number:
            self.of_number[text] = log2_below(number, self.digits)
        return self.of_number[text]

    def at(self, i: int, t: int, c: int) -> int:
        key = i, t, c
        if key not in self.of_count:
            self.of_count[key] = self.below(self.document.attributes[i][2][t][c])
        return self.of_count[key]


def _product(numbers: list[int]) -> int:
    """Factors of like size are multiplied first: that is fast for long integers."""
    while len(numbers) > 1:
        numbers = [_pair(numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    return numbers[0]


def _pair(numbers: list[int]) -> int:
    return numbers[0] * numbers[1] if len(numbers) == 2 else numbers[0]


def limit_text(document: Document) -> str:
    """The limit in words."""
    text = str(document.limit)  # in full, however many digits: a limit is what is relied on
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of the amplification, for attacker 'worlds')"
    return text


def r_text(document: Document) -> str:
    """R in words."""
    text = str(document.r or Fraction(0))
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of that demanded, for attacker 'worlds')"
    return text


NOT_COMPARED = "not decided here: the products of these counts would take too long"


def judge(document: Document) -> Judged:
    """(name, holds, sentence) of each check of a Document."""
    results: Judged = []
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
    if pair is not None:
        c, d = (label(document.classes[place]) for place in pair)
        text = f"Lambda exceeds the limit {limit}: some tuple amplifies class {c} against {d} by more"
        results.append(("amplification", False, text))
    elif multiplied is None:
        results.append(("amplification", None, NOT_COMPARED))
    else:
        how = "exact product" if multiplied else "interval"
        results.append(("amplification", True, f"Lambda <= {limit} ({how})"))
    if document.r is not None:
        pair, multiplied = excess(document, document.odds)
        text = f"odds of two classes are those of the prior up to a factor r = {r_text(document)}"
        if pair is not None:
            c, d = (label(document.classes[place]) for place in pair)
            text = f"some tuple moves the odds of class {c} against {d} by more than r = {r_text(document)}"
        elif multiplied is None:
            text = NOT_COMPARED
        results.append(("closeness", None if pair is None and multiplied is None else pair is None, text))
    if document.canonical is not None:
        results.append(("canonical", None, "not made again here: nbcfast verify does that"))
        results += scorecard(document)
    return results


MOST_HALF = 200_000  # combinations of the values of half of the attributes
MOST_LISTED = 500_000  # tuples times classes, or thousands of bits of their scores
MOST_VALUES = 100_000  # of which logarithms are taken
MOST_EXACT = 1_000_000  # near ties that are decided one by one
MOST_EXACT_BITS = 1 << 27  # of the products that these take


def scorecard(document: Document) -> Judged:
    """The check that the points of a canonical release decide every tuple as its counts do.

    Of two classes both rules are sums over the attributes. The sums of one half of them are sorted, and each
    sum of the other half says behind how many of these it is. Two rules with equal numbers, both ways, are
    the same rule.
    """
    name, n_classes = "scorecard", len(document.classes)
    if n_classes == 1:
        return []
    made = document.canonical
    assert made is not None
    if made["listed"] is not None:
        text = "not checked here: answers are kept on a list of tuples, which is not in the file"
        return [(name, None, text)]
    product = document.tuples
    too_large = f"not checked here: {short(product)} tuples would take too long; nbcfast verify does it"
    if n_classes > 2:
        bits = sum(number.bit_length() for number in document.class_counts) * len(document.attributes)
        if product * n_classes * (1 + bits // 1000) > MOST_LISTED or bits > MOST_MULTIPLIED:
            return [(name, None, too_large)]
        wrong = _listed_wrong(document)
        text = (
            f"points and counts decide {'alike' if not wrong else 'differently'} on {short(product)} tuples"
        )
        return [(name, not wrong, text)]
    several = [place for place, (_, values, _) in enumerate(document.attributes) if len(values) > 1]
    half, least, first = 0, product, 1
    for place in several:
        first *= len(document.attributes[place][1])
        if first > MOST_HALF:  # before numbers as long as `product` are divided once for each attribute
            break
        if max(first, product // first) < least:
            half, least = place + 1, max(first, product // first)
        if first > least:
            break
    if least > MOST_HALF or sum(len(values) for _, values, _ in document.attributes) > MOST_VALUES:
        return [(name, None, too_large)]
    n = len(document.attributes)
    logs = _Logs(document, 64)
    terms = [
        [logs.at(i, t, 0) - logs.at(i, t, 1) for t in range(len(values))]
        for i, (_, values, _) in enumerate(document.attributes)
    ]
    p, q = document.class_counts
    base = (n - 1) * (logs.below(q) - logs.below(p)) if p != q else 0
    exactly = _Exactly(document, half)
    by_counts = _places_in_halves(terms, base, half, 2 * (n + abs(n - 1)), exactly)
    if by_counts is None and exactly.left >= 0:
        return [(name, None, f"not checked here: ties of {short(product)} tuples would take too long")]
    if by_counts is None:
        text = f"more than {MOST_EXACT:,} tuples are nearly tied, and a canonical release keeps off ties"
        return [(name, False, text)]
    of_points = [[row[0] for row in rows] for rows in made["points"]]
    same = by_counts == _places_in_halves(of_points, made["constants"][0], half)
    text = f"points and counts decide {'alike' if same else 'differently'} on the {short(product)} tuples"
    return [(name, same, text)]


class _Exactly:
    """Whether X_0 > X_1 where the values of each half of the attributes are these, by integers.

    `left` are the ties that may still be decided, and `bits` those of the products that this takes.
    """

    def __init__(self, document: Document, half: int) -> None:
        self.document, self.half = document, half
        self.left, self.bits = MOST_EXACT, MOST_EXACT_BITS
        p, q = document.class_counts
        others = len(document.attributes) - 1
        self.each = others * (p.bit_length() + q.bit_length() if p != q else 0)
        for _, _, counts in document.attributes:
            self.each += max(x.bit_length() + y.bit_length() for x, y in counts)
        self.of_class: tuple[int, int] | None = (1, 1) if p == q else None

    def affords(self, ties: int) -> bool:
        """Whether so many more can be decided."""
        self.left -= ties
        self.bits -= ties * self.each
        return self.left >= 0 and self.bits >= 0 and (not ties or self.each <= MOST_MULTIPLIED)

    def __call__(self, i: int, j: int) -> bool:
        if self.of_class is None:
            p, q = self.document.class_counts
            others = len(self.document.attributes) - 1
            self.of_class = q**others, p**others
        up, down = [self.of_class[0]], [self.of_class[1]]
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
            if len(values) == 1:
                base += values[0]
            else:
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
                if not exactly.affords(len(near)):
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
    factors, totals = [[whole_power // power] for power in powers], [*made["constants"], 0]
    several = []
    for (_, _, counts), rows in zip(document.attributes, made["points"]):  # noqa: B905
        if len(counts) > 1:
            several.append((counts, [(*row, 0) for row in rows]))
            continue
        for c in classes:  # the same in every tuple
            factors[c].append(counts[0][c])
            totals[c] += (*rows[0], 0)[c]
    entries = [([_product(of_class) for of_class in factors], totals)]
    for counts, points in several:
        entries = [
            (
                [score * number for score, number in zip(scores, row)],  # noqa: B905
                [total + number for total, number in zip(totals, added)],  # noqa: B905
            )
            for scores, totals in entries
            for row, added in zip(counts, points)  # noqa: B905
        ]
    wrong = 0
    order = document.fields["preserve"] == "order"
    for scores, totals in entries:
        ranked = [sorted(classes, key=lambda c: (numbers[c], c)) for numbers in (scores, totals)]
        wrong += ranked[0] != ranked[1] if order else ranked[0][-1] != ranked[1][-1]
    return wrong


COINS = "The coins of a cryptographic generator were thrown for every answer."
SHUFFLED = "Rows of the table stand in an order that was drawn at random{}."


class TableForm(Form):
    """A thing whose folder holds a table.csv.

    `header` are the names of the columns in it, and `places` says of each column but that of the weights what
    texts it may have, and which of its values each is.
    """

    flags = ("seeded",)
    hashes = ("sha256", "table_sha256", "parquet_sha256")
    unused: dict[str, list[str]]  # texts of each column that no row has, once the rows are read

    @property
    def files(self) -> tuple[str, ...]:
        return (TABLE, PARQUET) if "parquet_sha256" in self.fields else (TABLE,)

    def beside(self, folder: str) -> Judged:
        """What is found of the other files of the folder, but for the table's copy."""
        return []

    def read(self, fields: dict[str, Any]) -> None:
        self.rows = whole(fields["rows"], "field 'rows'")
        self.weights: str | None = fields.get("weights")
        self.canonical_order: bool = fields.get("order", "canonical") == "canonical"
        if fields.get("order") == "canonical" and fields["seeded"]:
            raise Refused(
                "field 'seeded': expected false, as nothing is drawn for the canonical order, got true"
            )
        columns = self.table(fields)
        self.places = [{text: place for place, text in enumerate(texts)} for _, texts in columns]
        self.header = [name for name, _ in columns]
        if self.weights is not None:
            self.header.append(self.weights)
        if len(set(self.header)) < len(self.header):
            raise Refused(f"expected distinct names of columns, got {shown(self.header)}")

    def use(self, rows: Rows) -> str | None:
        """Keep which values no row has; a sentence about what may not be one of these, or None."""
        self.unused = {}
        for i, places in enumerate(self.places):
            used = {row[i] for row in rows}
            if len(used) < len(places):
                self.unused[self.header[i]] = [text for text, place in places.items() if place not in used]
        return None

    def _unused(self, columns: Iterable[str]) -> list[str]:
        """That values of these columns are listed though no row has them: whatever they say is a claim."""
        return [
            f"{named(name)} may have values that no row has: {', '.join(map(named, self.unused[name]))}."
            for name in columns
            if name in getattr(self, "unused", {})
        ]

    def claims(self, decided: Decided) -> list[str]:
        if self.canonical_order:
            return []
        return [SHUFFLED.format(", by a generator with a seed" if self.fields["seeded"] else "")]

    def table(self, fields: dict[str, Any]) -> list[tuple[str, list[str]]]:
        """Check and keep the fields that are of this kind alone; the columns and their texts in the table."""
        raise NotImplementedError


def _columns(entry: Any) -> list[tuple[str, list[tuple[str, Any]]]]:
    """The columns of a table: the name, and (text in table.csv, what it stands for) of each cell."""
    if type(entry) is not list or not entry:
        raise Refused(f"field 'columns': expected a list, got {shown(entry)}")
    found = []
    for column in entry:
        if type(column) is not dict or set(column) != {"cells", "name"} or type(column["name"]) is not str:
            raise Refused(f"field 'columns': expected entries with a name and cells, got {shown(column)}")
        found.append((column["name"], _cells(column["cells"], f"column {column['name']!r}")))
    return found


def _cells(entry: Any, where: str) -> list[tuple[str, list[Any]]]:
    """Pairs of a text, each another one, and a list, which is what it stands for."""
    if type(entry) is not list or not entry:
        raise Refused(f"{where}: expected a list of texts and values, got {shown(entry)}")
    seen: set[str] = set()
    for pair in entry:
        if type(pair) is not list or [type(part) for part in pair] != [str, list]:
            raise Refused(f"{where}: expected a text and its value, got {shown(pair)}")
        if pair[0] in seen:
            raise Refused(f"{where}: expected distinct texts, got {pair[0]!r} twice")
        seen.add(pair[0])
    return [(text, stands_for) for text, stands_for in entry]


def _plain(cells: list[tuple[str, Any]], where: str) -> list[tuple[str, Typed]]:
    """Cells of a column as it was in the data: one value has one text, and that is its own."""
    values = domain([typed for _, typed in cells], where)
    found = []
    for (text, _), typed in zip(cells, values):  # noqa: B905  # also for Python before 3.10
        # Or a text could pass for another value than that which is counted.
        expected = spelled(typed)
        if text != expected:
            raise Refused(f"{where}: expected the text {expected!r} of {label(typed)}, got {text!r}")
        found.append((text, typed))
    return found


def spelled(typed: Typed) -> str:
    """The one text that a value has in a cell of table.csv."""
    kind, plain = typed
    if kind in ("null", "suppressed"):
        return "" if kind == "null" else "*"
    return interval_text(*plain) if kind == "interval" else str(plain)


def interval_text(low: Fraction | None, high: Fraction | None) -> str:
    """An interval as the library prints it."""
    start = "(-inf" if low is None else f"[{decimal_text(low)}"
    return f"{start}, {'inf' if high is None else decimal_text(high)})"


def decimal_text(number: Fraction) -> str:
    """Decimal text where the expansion ends within 40 digits, else "num/den"; rough for very long ones."""
    up, down = number.numerator, number.denominator
    if max(up.bit_length(), down.bit_length()) > 4096:
        return f"about {'-' if up < 0 else ''}2^{up.bit_length() - down.bit_length()}"
    twos = (down & -down).bit_length() - 1
    fives, rest = 0, down >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    digits = max(twos, fives)
    if rest != 1 or digits > 40:
        return f"{up}/{down}"
    whole, part = divmod(abs(up) * 10**digits // down, 10**digits)
    return f"{'-' if up < 0 else ''}{whole}" + (f".{part:0{digits}d}" if digits else "")


def _texts(cells: Sequence[tuple[str, Any]]) -> list[str]:
    return [text for text, _ in cells]


def judge_any(document: Form, folder: str) -> tuple[Rows, Judged]:
    """The rows of the table in the folder of a thing that has one, and what is found of it all."""
    rows: Rows = {}
    results: Judged = []
    if isinstance(document, TableForm):
        try:
            fault = _read_table(document, os.path.join(folder, TABLE), rows) or document.use(rows)
        except TooLong as error:
            return rows, [("table", None, str(error))]
        results.append(
            ("table", fault is None, fault or f"{TABLE} is that of the certificate, value by value")
        )
        if fault is not None:
            return rows, [(name, holds, brief(text)) for name, holds, text in results]
        results += document.beside(folder)
    results += KINDS[document.fields["kind"]].judge(document, rows)
    return rows, [(name, holds, brief(text)) for name, holds, text in results]


def judge_folder(document: Form, path: str, ignore_extra: bool) -> tuple[Judged, list[str]]:
    """Whether the folder of the certificate at `path` holds regular files that it names, and nothing else.

    Other files and folders may be ignored: then they are listed, and there is no such check. What is no file
    that can be copied (a pipe, a device, a link that leads out of the folder) may not, and nothing of it all
    is opened.
    """
    folder, own = os.path.split(path)
    extra, strange = [], []
    for name in sorted(os.listdir(folder or os.curdir)):
        place = os.path.join(folder, name)
        named = name == own or name in document.files
        try:
            what = OUTSIDE if leads_out(place) else special(os.stat(place).st_mode)
        except OSError:
            what = "a link to nothing" if os.path.islink(place) else "not to be looked at"
        if what is not None and (named or what != "a folder"):
            strange.append(f"{quoted(name)} is {what}")
        elif not named:
            extra.append(quoted(name) if what is None else f"{quoted(name)} ({what})")
    holds, text = True, "holds nothing that the certificate does not name"
    if strange:
        holds, text = False, f"expected regular files: {_some(strange)}"
    elif extra and ignore_extra:
        return [], extra
    elif extra:
        holds, text = False, f"not named by the certificate (--ignore-extra ignores it): {_some(extra)}"
    return [("folder", holds, text)], []


def ignored_text(ignored: list[str]) -> str:
    """What is said, and not as a check, of files and folders that were passed over."""
    return f"ignored as asked, not looked at, and covered by nothing: {_some(ignored)}"


def judge_version(document: Form) -> Judged:
    """The check of a version that this verifier does not know; none where it does."""
    version = document.fields["version"]
    if version in VERSIONS:
        return []
    return [("version", None, f"{version} is none that this verifier knows, and its digits may say anything")]


def _some(texts: list[str]) -> str:
    more = len(texts) - MOST_NAMED
    return ", ".join([*texts[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def copy_of(entry: Any) -> bytes:
    """A part of a certificate as a file of its own."""
    return (json.dumps(entry, indent=2, sort_keys=True) + "\n").encode("ascii")


def _judge_copy(path: str, entry: Any, what: str) -> tuple[bool, str]:
    """Whether a file says what the certificate does: byte for byte, as readers of JSON differ in the rest."""
    name = os.path.basename(path)
    expected = copy_of(entry)
    try:
        with regular(path) as file:
            same = file.read(len(expected) + 1) == expected
    except OSError as error:
        return False, f"{name}: {error.strerror}"
    except Refused as error:
        return False, str(error)
    if same:
        return True, f"{name} is {what} of the certificate"
    return False, f"{name} is not {what} of the certificate: do not answer by it"


def judge_parquet(document: Form, folder: str) -> Judged:
    """The check of the table's copy, of which there is more than a sha256 only in `nbcfast verify`."""
    if PARQUET not in document.files:
        return []
    try:
        with regular(os.path.join(folder, PARQUET)) as file:
            return [("parquet", *copy_hash(document, file))]
    except FileNotFoundError:
        return [("parquet", True, f"the certificate names a {PARQUET}, and there is none to check")]
    except OSError as error:
        return [("parquet", False, f"{PARQUET}: {error.strerror}")]
    except TooLong as error:
        return [("parquet", None, str(error))]
    except Refused as error:
        return [("parquet", False, str(error))]


def copy_hash(document: Form, file: IO[bytes]) -> tuple[bool | None, str]:
    """Whether a file has the sha256 of the table's copy: False, or None because that alone shows little."""
    total = hashlib.sha256()
    for block in blocks_of(file, PARQUET):
        total.update(block)
    if total.hexdigest() != document.fields["parquet_sha256"]:
        return False, f"the sha256 of {PARQUET} does not match: it was changed"
    return None, (
        f"the sha256 of {PARQUET} matches; that it is {TABLE}, and holds nothing more, is not checked here: "
        f"nbcfast verify does that, or delete it and rely on {TABLE}"
    )


def _read_table(document: TableForm, path: str, rows: Rows) -> str | None:
    """Count the rows of the table; a sentence about what is wrong with it, or None."""
    total = hashlib.sha256()
    try:
        data = regular(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    except Refused as error:
        return str(error)
    # Opened once: what is hashed is what is read.
    with data, io.TextIOWrapper(data, encoding="utf-8", newline="") as file:
        for block in blocks_of(data, TABLE):
            if b"\0" in block:  # which csv refuses in Pythons before 3.11, and reads in later ones
                return f"{TABLE}: line contains NUL"
            total.update(block)
        if total.hexdigest() != document.fields["table_sha256"]:
            return f"the sha256 of {TABLE} does not match: it was changed"
        data.seek(0)
        records = _Records(file, document)
        lines = csv.reader(records, strict=True)
        try:
            header = next(lines, None) or [""]
            if header != document.header:
                return f"{TABLE}: expected the columns {shown(document.header)}, got {shown(header)}"
            written = hashlib.sha256(_line(header))
            fault = _count_rows(document, records.each(lines), rows, written)
        except (csv.Error, UnicodeDecodeError) as error:
            return f"{TABLE}: {error}"
    if fault is not None:
        return fault
    if not rows:
        return f"{TABLE} has no rows"
    if written.hexdigest() != total.hexdigest():  # a choice between spellings could tell rows apart
        return (
            f"{TABLE}: expected line ends \\n, also of the last line, and quotes only where they are needed"
        )
    return None


class _Records:
    """The lines of a table, none longer than what the certificate has values for."""

    def __init__(self, file: IO[str], document: TableForm) -> None:
        self.file = file
        longest = max(
            sum(2 * len(name) + 3 for name in document.header),
            sum(2 * max(map(len, texts)) + 3 for texts in document.places) + len(f",{MOST_PEOPLE}"),
        )
        self.longest = max(longest, SHORT_LINE)
        self.left = self.longest

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.file.readline(self.left + 1)
        self.left -= len(line)
        if self.left < 0:
            raise csv.Error(f"a line has more than the {self.longest:,} characters of the longest values")
        if not line:
            raise StopIteration
        return line

    def each(self, lines: Iterable[list[str]]) -> Iterator[list[str]]:
        """The records below the header, of one line or, with line ends in quotes, more."""
        self.left = self.longest
        for number, line in enumerate(lines, 1):
            if number > MOST_LINES:
                raise TooLong(f"{TABLE}: not checked here: more than {MOST_LINES:,} lines")
            self.left = self.longest
            yield line


def _count_rows(document: TableForm, lines: Any, rows: Rows, written: Any) -> str | None:
    """Count the rows of the lines below the header, and hash them as they are to be written."""
    weighted = document.weights is not None
    header, places = document.header, document.places
    people, count, data = 0, 1, b""
    before: list[str] | None = None
    row: tuple[int, ...] = ()
    for number, line in enumerate(lines, 2):
        if weighted or line != before:
            before, last = line, row
            # An empty line of a table of one column is its null.
            fields = line or [""]
            if len(fields) != len(header):
                return f"{TABLE}: line {number} has {len(line)} fields, expected {len(header)}"
            found = []
            for i, of_text in enumerate(places):
                place = of_text.get(fields[i])
                if place is None:
                    return f"{TABLE}: line {number}: {fields[i]!r} is no value of {header[i]!r}"
                found.append(place)
            row = tuple(found)
            if document.canonical_order and (row < last or (weighted and row == last)):
                return f"{TABLE}: line {number} is not in order: rows may stand as in the data"
            if weighted:
                if not re.fullmatch(r"[1-9][0-9]{0,18}", fields[-1]):
                    return f"{TABLE}: line {number}: expected a number of people, got {fields[-1]!r}"
                count = int(fields[-1])
            data = _line(fields)
        written.update(data)
        people += count
        if people >= MOST_PEOPLE:
            return f"{TABLE}: line {number}: expected less than 2^61 people, got {short(people)}"
        rows[row] = rows.get(row, 0) + count
    return None


def _line(fields: list[str]) -> bytes:
    return (",".join(map(field, fields)) + "\n").encode()


def field(text: str) -> str:
    """A text as table.csv has it: in quotes where it holds commas, quotes or ends of lines."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


class PartitionDocument(TableForm):
    """The certificate of a partition.

    `columns` are (name, cells) of the generalised columns, a cell being (text in table.csv, typed values);
    `values` those of the sensitive column, (text, typed value) each.
    """

    names: ClassVar[set[str]] = {
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
    may_have: ClassVar[set[str]] = {"parquet_sha256"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("partition",),
        "method": ("mondrian",),
        "order": ("canonical", "shuffled"),
    }
    optional = ("weights",)
    check_of_words = "words"
    distances = ("equal", "ordered")

    def table(self, fields: dict[str, Any]) -> list[tuple[str, list[str]]]:
        self.groups = whole(fields["groups"], "field 'groups'")
        self.points = self._points(fields["points"])
        self.k = None if fields["k"] is None else demanded(fields["k"], "field 'k'")
        if self.k == 0:
            raise Refused("field 'k': expected at least 1, got 0")
        self.diversity: tuple[Fraction, int] | None = None
        if fields["diversity"] is not None:
            c, l = self._pair("diversity")
            self.diversity = chosen(c, "field 'diversity'"), demanded(l, "field 'diversity'")
            if self.diversity[0] == 0 or self.diversity[1] == 0:
                raise Refused(f"field 'diversity': expected c, l > 0, got {shown(fields['diversity'])}")
        self.closeness: tuple[Fraction, str] | None = None
        if fields["closeness"] is not None:
            t, distance = self._pair("closeness")
            if distance not in self.distances:
                raise Refused(f"field 'closeness': expected one of {self.distances}, got {shown(distance)}")
            self.closeness = chosen(t, "field 'closeness'"), distance
        if not self.points and self.k is None and self.diversity is None and self.closeness is None:
            raise Refused("fields 'points', 'k', 'diversity', 'closeness': expected a demand, got none")
        self.columns = [
            (name, self._generalised(cells, f"column {name!r}"))
            for name, cells in _columns(fields["columns"])
        ]
        entry = fields["sensitive"]
        if type(entry) is not dict or set(entry) != {"name", "values"} or type(entry["name"]) is not str:
            raise Refused(f"field 'sensitive': expected a name and values, got {shown(entry)}")
        self.expect_words([PARTITION], fields["warnings"])  # of groups, which are not here yet
        self.sensitive: str = entry["name"]
        where = "field 'sensitive'"
        cells = _cells(entry["values"], where)
        if any(len(values) != 1 for _, values in cells):
            raise Refused(f"{where}: expected one value for each text")
        # One value under two texts would pass for two values, and a group that has no other for a mixed one.
        self.values = _plain([(text, values[0]) for text, values in cells], where)
        if any(kind == "suppressed" for _, (kind, _) in self.values):
            raise Refused(f"{where}: {WITHHELD}")
        if self.closeness is not None and self.closeness[1] == "ordered":
            _natural([typed for _, typed in self.values], where)
        return [
            *((name, _texts(cells)) for name, cells in self.columns),
            (self.sensitive, _texts(self.values)),
        ]

    def claims(self, decided: Decided) -> list[str]:
        found = super().claims(decided)
        kinds = {kind for _, (kind, _) in self.values}
        ordered = self.closeness is not None and self.closeness[1] == "ordered"
        if ordered and len(self.values) > 2 and kinds & {"text", "bool"}:
            order = _listed_order(self.values)
            found.append(f"The values of {named(self.sensitive)} have this order: {order}.")
        found += self._unused([self.sensitive])
        for name, cells in self.columns:
            free = [text for text, values in cells if len(values) > 1 and text != set_text(values)]
            if free:
                names = ", ".join(map(named, free))
                found.append(f"Sets of values of {named(name)} are called {names}.")
        return found

    def use(self, rows: Rows) -> str | None:
        fault = super().use(rows)
        for name, _ in self.columns:
            if name in self.unused:
                return (
                    f"{TABLE}: no row has the cell {self.unused[name][0]!r} of {named(name)}, which is listed"
                )
        return fault

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
            l, k, m = (demanded(number, "field 'points'") for number in point[:3])
            confidence = chosen(point[3], "field 'points'")
            if not 0 < confidence <= 1:
                raise Refused(f"field 'points': expected a confidence in (0, 1], got {shown(point[3])}")
            points.append((l, k, m, confidence))
        if len({f"{l:x} {k:x} {m:x}" for l, k, m, _ in points}) < len(points):
            raise Refused("field 'points': expected one confidence for each l, k and m, got two")
        return points

    @staticmethod
    def _generalised(cells: list[tuple[str, list[Any]]], where: str) -> list[tuple[str, list[Typed]]]:
        found: list[tuple[str, list[Typed]]] = []
        lists: set[str] = set()  # texts, as in a domain
        for text, entry in cells:
            if not entry:
                raise Refused(f"{where}: expected values of {text!r}, got none")
            values = [value(one, where) for one in entry]
            if canonical(entry) in lists:
                raise Refused(f"{where}: expected distinct values, got those of {text!r} twice")
            lists.add(canonical(entry))
            found.append((text, values))
        # Names of sets are free, but none may pass for a value, and a value has its own text.
        own = {element(one): one for _, values in found for one in values}
        for text, values in found:
            expected = element(values[0]) if len(values) == 1 else None
            if text != expected and (expected is not None or text in own):
                of = label(values[0]) if expected is not None else f"{len(values)} values"
                wanted = "another text" if expected is None else f"the text {expected!r}"
                raise Refused(f"{where}: expected {wanted} of {of}, got {text!r}")
        return found


LISTED = 6  # values that the text of a set names
# What is not seen where it is printed. str.isprintable knows more characters in newer Pythons: one would
# spell a cell in a way that another refuses.
UNSEEN = re.compile(
    r"[\0-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680"
    r"\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    r"\U000f0000-\U0010ffff]"
)


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


def _natural(values: list[Typed], where: str) -> None:
    """Refuse numbers and intervals that do not rise: in another order other distances are small."""
    for (kind, one), (following, other) in zip(values, values[1:]):  # noqa: B905, RUF007
        # Intervals rise in every domain.
        if kind == following and kind in ("int", "float") and not one < other:
            raise Refused(
                f"{where}: ordered distances take the order of numbers, expected more than {one}, got {other}"
            )


def histograms(rows: Rows) -> Histograms:
    """The groups of people who share all values but the last: how many have which of that."""
    groups: Histograms = {}
    for row, count in rows.items():
        group = groups.setdefault(row[:-1], {})
        group[row[-1]] = count
    return groups


def judge_partition(document: PartitionDocument, rows: Rows) -> Judged:
    """Every demand on the groups of a table."""
    results: Judged = []
    counts = list(histograms(rows).values())
    people = sum(rows.values())
    alike = [sum(group.values()) for group in counts if len(group) == 1]
    warnings = list(
        partition_warnings(
            document.k,
            document.diversity,
            document.closeness,
            document.sensitive,
            (len(alike), len(counts), sum(alike)),
        )
    )
    said = document.fields["warnings"]
    text = "the warnings are those that go with the groups and demands"
    if said != warnings:
        text = strange_words("warnings", warnings, said)
    results.append(("words", said == warnings, text))
    same = (people, len(counts)) == (document.rows, document.groups)
    text = f"{short(people)} people in {len(counts)} groups"
    if not same:
        text += f"; the certificate says {short(document.rows)} in {short(document.groups)}"
    results.append(("groups", same, text))
    if document.k is not None:
        least = min(sum(group.values()) for group in counts)
        sign = ">=" if least >= document.k else "<"
        text = f"the smallest group has {short(least)} people, {sign} {short(document.k)}"
        results.append(("k", least >= document.k, text))
    if document.diversity is not None:
        results.append(("diversity", *_diverse(counts, *document.diversity)))
    if document.closeness is not None:
        holds, text = _close(counts, len(document.values), *document.closeness)
        results.append(("closeness", holds, text + _claimed_order(document, counts)))
    statistics: dict[int, _Statistics] = {}
    size = sum(map(len, counts))
    left = MOST_WEIGHED + SOME_TIMES * size
    for l, k, m, confidence in document.points:
        excluded = min(l, len(document.values))  # more values than there are exclude no more
        if excluded not in statistics and left >= size:
            left -= size
            statistics[excluded] = _Statistics(counts, excluded)
        name, found = f"({short(l)}, {short(k)}, {short(m)})", statistics.get(excluded)
        if found is not None:
            left -= 8 + found.size * (1 + m // 8 if m <= FEW else 16)  # as measured
        if found is None or left < 0:
            results.append((name, None, TOO_MANY))
            continue
        safe, text = found.judge(k, m, confidence)
        results.append((name, safe, text))
    return results


def _diverse(groups: list[dict[int, int]], c: Fraction, l: int) -> tuple[bool, str]:
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + ..) in every group."""
    for group in groups:
        falling = sorted(group.values(), reverse=True)
        if not falling[0] < c * sum(falling[l - 1 :]):
            return (
                False,
                f"a group with the counts {shown(falling)} is not ({number_text(c)}, {short(l)})-diverse",
            )
    return True, f"every group is recursively ({number_text(c)}, {short(l)})-diverse"


def _close(groups: list[dict[int, int]], n_values: int, t: Fraction, distance: str) -> tuple[bool, str]:
    """t-closeness to all people: half the sum of differences, or the earth mover's distance on a line."""
    totals = [0] * n_values
    for group in groups:
        for place, count in group.items():
            totals[place] += count
    people, most = sum(totals), Fraction(0)
    line = _Line(totals) if distance == "ordered" else None
    for group in groups:
        n = sum(group.values())
        if line is not None:
            found, steps = line.moved(group, n), max(line.steps, 1)
        else:
            # Of values that a group does not have no gap is above 0.
            gaps = (count * people - totals[place] * n for place, count in group.items())
            found, steps = sum(gap for gap in gaps if gap > 0), 1
        most = max(most, Fraction(found, n * people * steps))
    sign = "<=" if most <= t else ">"
    return most <= t, f"t = {most} {sign} {number_text(t)}, {distance} distances"


class _Line:
    """The values that somebody has, in their order, and how many people have these and those before.

    Values that nobody has would only widen the scale.
    """

    def __init__(self, totals: list[int]) -> None:
        present = [place for place, total in enumerate(totals) if total]
        self.index = {place: i for i, place in enumerate(present)}
        self.steps = len(present) - 1
        self.below = list(accumulate(totals[place] for place in present))
        self.sums = [0, *accumulate(self.below)]
        self.people = self.below[-1]

    def moved(self, group: dict[int, int], n: int) -> int:
        """The sum over all values of |people G - n T|, G and T those in the group and in all up to the value.

        Between two values that the group has, G stays and T rises: the terms change their sign once.
        """
        found = own = start = 0
        ends = sorted((self.index[place], count) for place, count in group.items())
        for end, count in [*ends, (len(self.below), 0)]:
            level = self.people * own
            turn = bisect_right(self.below, level // n, start, end)
            found += (turn - start) * level - n * (self.sums[turn] - self.sums[start])
            found += n * (self.sums[end] - self.sums[turn]) - (end - turn) * level
            own, start = own + count, end
        return found


def _listed_order(values: list[tuple[str, Typed]]) -> str:
    more = ", .." if len(values) > SOME_NAMES else ""
    return ", ".join(value_text(typed) for _, typed in values[:SOME_NAMES]) + more


def _claimed_order(document: PartitionDocument, groups: list[dict[int, int]]) -> str:
    """That distances rest on an order which only the certificate says: texts have none of their own."""
    assert document.closeness is not None
    present = sorted({place for group in groups for place in group})
    if document.closeness[1] != "ordered" or len(present) < 3:  # two have one distance
        return ""
    kinds = {document.values[place][1][0] for place in present}
    if kinds & {"text", "bool"}:
        listed = _listed_order([document.values[place] for place in present])
        return f"; the order of the values is the publisher's claim: {listed}"
    return "; a missing value is taken for the largest" if kinds & {"null", "suppressed"} else ""


SOME_TIMES = 16  # that a table is gone through, however large it is
MOST_WEIGHED = 1 << 18  # counts of groups, and products of factors, for all points of a skyline
MOST_MATCHED = 1 << 22  # rows, for all templates
TOO_MANY = "not decided here: with all that is demanded it would take too long"


class _Statistics:
    """What groups say about points with this l: Chen, LeFevre, Ramakrishnan (2007), in exact form.

    Of a group with n people, c of them with a value s, N = n - c and W = N less the l largest counts of the
    others, the odds against s are a product of factors of one, two or two other groups:

        CF1 = (W-k)/c prod (N-1-k-i)/(n-1-k-i)     all people known of are in the target's group
        CF2 CF3 = (W-k)/c  prod (N-i)/(n-i)        those who imply are in another group
        CF4 CF5 = W/c  prod (N-k-i)/(n-k-i)        only the target is in its group           (i < m)

    each factor being the smallest over the groups that have s, and the odds the smallest over s. All fall
    with c and rise with N and W, so that only few groups matter.
    """

    def __init__(self, groups: list[dict[int, int]], l: int) -> None:
        # Sorted, and not looked up: whoever writes the table chooses counts that share their hash.
        modes: list[tuple[int, int, int]] = []
        rest: dict[int, list[tuple[int, int]]] = {}
        wide: dict[int, list[tuple[int, int]]] = {}
        for group in groups:
            falling = sorted(group.values(), reverse=True)
            n, taken = sum(falling), sum(falling[:l])
            following = falling[l] if l < len(falling) else 0
            modes.append((falling[0], n - falling[0], n - taken - following))
            for place, c in group.items():
                rest.setdefault(place, []).append((c, n - c))
                wide.setdefault(place, []).append((c, n - taken - min(c, following)))
        self.modes = _worst(modes)  # (c, N, W) of the most frequent values
        self.rest = {place: _smallest(found) for place, found in rest.items()}  # value -> (c, N)
        self.wide = {place: _smallest(found) for place, found in wide.items()}  # value -> (c, W)

    @property
    def size(self) -> int:
        """How many products of factors a point takes at the most."""
        return len(self.modes) + 2 * sum(map(len, self.rest.values()))

    def judge(self, k: int, m: int, confidence: Fraction) -> tuple[bool, str]:
        """Whether the breach is strictly below the confidence, and a sentence."""
        for _, n, w in self.modes:
            if k >= w or (m > 0 and k + m >= n):
                return False, "unsafe: somebody's value is certain"
        odds = Least((1 - confidence) / confidence, m)
        for c, n, w in self.modes:
            odds.take(Fraction(w - k, c), n - 1 - k, c)
        if m:
            for place in self.rest:
                wide = self.wide[place]
                two = min(Fraction(w - k, c) for c, w in wide)
                four = min(Fraction(w, c) for c, w in wide)
                for c, n in self.rest[place]:
                    odds.take(two, n, c)
                    odds.take(four, n - k, c)
        if odds.above and odds.close:
            return False, f"not decided: the breach is too close to {number_text(confidence)}"
        said, sign = ("safe", "<") if odds.above else ("unsafe", ">=")
        return odds.above, f"{said}: breach {odds.breach(confidence)} {sign} {number_text(confidence)}"


def _smallest(rest: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The (c, N) without those that another one with c as large and N as small outdoes."""
    found: list[tuple[int, int]] = []
    for c, n in sorted(rest, key=_falling_first):
        if not found or n < found[-1][1]:
            found.append((c, n))
    return found


def _worst(modes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The (c, N, W) without those that another one with c as large and N and W as small outdoes."""
    found: list[tuple[int, int, int]] = []
    # Of those found that no other outdoes in N and W alone: N rises, and W falls.
    all_n: list[int] = []
    all_w: list[int] = []
    for c, n, w in sorted(modes, key=_falling_first):
        place = bisect_right(all_n, n)
        if place and all_w[place - 1] <= w:
            continue
        found.append((c, n, w))
        first = last = bisect_left(all_n, n)
        while last < len(all_w) and all_w[last] >= w:
            last += 1
        all_n[first:last], all_w[first:last] = [n], [w]
    return found


def _falling_first(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (-numbers[0], *numbers[1:])


class Least:
    """The smallest of some odds, each a rational times falling(N, N + c, m), and whether it is above a limit.

    Products of few factors are taken as they are. For others bounds decide; only where those leave it open
    the product is taken after all, as long as there are no more than FACTORS of them together.
    """

    def __init__(self, limit: Fraction, m: int) -> None:
        self.limit, self.m = limit, m
        self.log2_limit: int | None = None  # within 2 units; of a limit of 0 there is none
        if limit:
            self.log2_limit = log2_below(limit.numerator, PLACES) - log2_below(limit.denominator, PLACES)
        self.above = True
        self.close = False  # whether something was left open
        self.left = FACTORS
        self.exact: Fraction | None = None  # the least of those that were multiplied
        self.about: int | None = None  # the least logarithm of the others

    def take(self, number: Fraction, n: int, c: int) -> None:
        """One more of the odds."""
        few = min(c, self.m)
        if few > FEW:
            low, high = _log2_odds(number, n, c, self.m)
            self.about = low if self.about is None else min(low, self.about)
            if self.log2_limit is None or low >= self.log2_limit + 2:
                return
            if high <= self.log2_limit - 2:
                self.above = False
                return
            if few > self.left:
                self.close = True
                return
            self.left -= few
            up, down = falling(n, n + c, self.m)
            up, down = up * number.numerator, down * number.denominator
            self.above &= up * self.limit.denominator > down * self.limit.numerator
        else:
            odds = number * Fraction(*falling(n, n + c, self.m))
            self.exact = odds if self.exact is None else min(odds, self.exact)
            self.above &= odds > self.limit

    def breach(self, confidence: Fraction) -> str:
        """1 / (1 + odds) as a piece of a message, which is on that side of the confidence where it is."""
        odds, digits = self.exact, MOST_SHOWN_DIGITS
        if self.about is not None:
            whole_part, part = self.about >> PLACES, self.about & ((1 << PLACES) - 1)
            # Odds below that are nearer to 0 than any number of digits shows.
            mantissa = Fraction(2.0 ** (part / (1 << PLACES)))
            about = mantissa * Fraction(2) ** max(whole_part, -4 * MOST_SHOWN_DIGITS)
            if odds is None or about < odds:
                odds, digits = about, SURE_DIGITS
        assert odds is not None
        breach = 1 / (1 + odds)
        if digits == MOST_SHOWN_DIGITS and (breach.denominator < 10**12 or breach == confidence):
            return number_text(breach)
        text = f"{float(breach):.12g}"
        if (Fraction(text) < confidence) == self.above:
            return text
        for places in range(12, MOST_SHOWN_DIGITS + 1):
            # Up where that is below, and down where it is not: never better than it is.
            scaled = breach * 10**places
            near = -(-scaled.numerator // scaled.denominator) if self.above else int(scaled)
            if (Fraction(near, 10**places) < confidence) == self.above:
                return decimal_text(Fraction(near, 10**places))
        side = "below" if self.above else "above"
        return f"(less than 10^-{digits} {side} {number_text(confidence)})"


def falling(above: int, below: int, m: int) -> tuple[int, int]:
    """Numerator and denominator of the product of (above - i) / (below - i) for i < m, where above < below.

    That is above! (below - m)! / (below! (above - m)!), so with c = below - above also the product of
    (above - m + j) / (above + j) for 1 <= j <= c: whichever has fewer factors is taken.
    """
    c = below - above
    if m <= c:
        ups, downs = range(above - m + 1, above + 1), range(below - m + 1, below + 1)
    else:
        ups, downs = range(above - m + 1, below - m + 1), range(above + 1, below + 1)
    return _product([1, *ups]), _product([1, *downs])


def _log2_odds(number: Fraction, n: int, c: int, m: int) -> tuple[int, int]:
    """Bounds of the logarithm of number falling(n, n + c, m), in units of 2^-PLACES."""
    found = log2_below(number.numerator, PLACES) - log2_below(number.denominator, PLACES)
    room = 2
    for sign, z in ((1, n), (-1, n - m), (1, n + c - m), (-1, n + c)):
        below, width = _log2_factorial(z)
        found += sign * below
        room += width
    return found - room, found + room


@lru_cache(maxsize=1 << 12)
def _log2_factorial(z: int) -> tuple[int, int]:
    """A bound of log2(z! / sqrt(2 pi)), in units of 2^-PLACES, and how far off it may be.

    By Stirling's series for z >= 1024, where eight terms leave less than 0.18 / z^17 < 2^-172 (the error is
    smaller than the first term left out):

        ln z! = (z + 1/2) ln z - z + ln sqrt(2 pi) + 1 / (12 z) - 1 / (360 z^3) + ..

    Each of the two long terms is off by less than 2 z + 1 units, the series by a few, and what it leaves by
    less than 2^21. Of a smaller z it is 1024! divided by a whole number.
    """
    if z < STIRLING:
        below, room = _log2_factorial(STIRLING)
        return below - log2_below(factorial(STIRLING) // factorial(z), PLACES), room + 2
    series, power = 0, z
    for up, down in SERIES:
        series += (up << PLACES) // (down * power)
        power *= z * z
    found = ((2 * z + 1) * log2_below(z, PLACES) >> 1) - z * LOG2_E + (series * LOG2_E >> PLACES)
    return found, 4 * z + (1 << 21)


def partition_warnings(
    k: int | None,
    diversity: tuple[Fraction, int] | None,
    closeness: tuple[Fraction, str] | None,
    sensitive: str,
    certain: tuple[int, int, int],
) -> Iterator[str]:
    """The warnings that follow from the demands of a partition, and from its groups.

    `certain` are (groups with one value of the sensitive column, all groups, people in the former).
    """
    if k == 1:
        yield "k = 1 demands nothing."
    if diversity is not None and diversity[1] == 1 and diversity[0] > 1:
        yield f"({decimal_text(diversity[0])}, 1)-diversity demands nothing."
    if closeness is not None and closeness[0] >= 1:
        yield f"{decimal_text(closeness[0])}-closeness demands nothing: no distance is above 1."
    alike, groups, people = certain
    if alike:
        yield (
            f"In {alike:,} of {groups:,} groups, of {people:,} people, all have the same value of "
            f"{in_quotes(sensitive)}: who knows that somebody is in one knows the value."
        )


# A value that is withheld is not counted, and whatever is demanded of its share holds.
WITHHELD = "expected values that are not suppressed, as what is withheld is in no count"


class DisclosureTemplate:
    """An inference that the certificate limits, and the confidence that it states."""

    def __init__(self, entry: Any, columns: dict[str, dict[str, int]]) -> None:
        names = {"attribute", "confidence", "limit", "quasi", "value"}
        if type(entry) is not dict or set(entry) != names:
            raise Refused(f"field 'templates': expected entries with {sorted(names)}, got {shown(entry)}")
        quasi, self.attribute = entry["quasi"], entry["attribute"]
        if type(quasi) is not list or not quasi:
            raise Refused(f"field 'templates': expected a list of columns, got {shown(quasi)}")
        for name in (*quasi, self.attribute):
            if type(name) is not str or name not in columns:
                raise Refused(f"field 'templates': expected names of columns, got {shown(name)}")
        if len(set(quasi)) < len(quasi) or self.attribute in quasi:
            raise Refused(
                f"field 'templates': expected distinct columns, got {shown([*quasi, self.attribute])}"
            )
        self.quasi: tuple[str, ...] = tuple(quasi)
        self.value = value(entry["value"], "field 'templates'")
        if self.value[0] == "suppressed" or canonical(entry["value"]) not in columns[self.attribute]:
            raise Refused(
                f"field 'templates': expected a value of {self.attribute!r}, got {shown(entry['value'])}"
            )
        self.place = columns[self.attribute][canonical(entry["value"])]
        self.limit = chosen(entry["limit"], "field 'templates'")
        self.confidence = rational(entry["confidence"], "field 'templates'")
        if self.limit > 1 or self.confidence > 1:
            raise Refused(f"field 'templates': expected a limit and a confidence up to 1, got {shown(entry)}")

    @property
    def inference(self) -> str:
        known = ", ".join(map(named, self.quasi))
        return f"{known} -> {named(self.attribute)}={label(self.value)}"


class DisclosureDocument(TableForm):
    """The certificate of a disclosure.

    `columns` are (name, cells), a cell being (text in table.csv, typed value).
    """

    names: ClassVar[set[str]] = {
        "columns",
        "format",
        "kind",
        "masked",
        "method",
        "notes",
        "order",
        "rows",
        "seeded",
        "sha256",
        "table_sha256",
        "target",
        "templates",
        "utility",
        "version",
        "warnings",
        "weights",
    }
    may_have: ClassVar[set[str]] = {"parquet_sha256"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("disclosure",),
        "method": ("top-down disclosure",),
        "order": ("canonical", "shuffled"),
        "utility": ("information", "distortion"),
    }
    lists = ("masked", "notes", "warnings")
    optional = ("target", "weights")

    def table(self, fields: dict[str, Any]) -> list[tuple[str, list[str]]]:
        self.columns = [
            (name, _plain(cells, f"column {name!r}")) for name, cells in _columns(fields["columns"])
        ]
        # By text, as whoever writes the file chooses numbers that share their hash.
        columns = {
            column["name"]: {canonical(typed): place for place, (_, typed) in enumerate(column["cells"])}
            for column in fields["columns"]
        }
        for name in (*fields["masked"], *([] if fields["target"] is None else [fields["target"]])):
            if name not in columns:
                raise Refused(f"fields 'masked', 'target': expected names of columns, got {shown(name)}")
        self.expect_words([DISCLOSURE], [])
        if type(fields["templates"]) is not list or not fields["templates"]:
            raise Refused(f"field 'templates': expected a list, got {shown(fields['templates'])}")
        self.templates = [DisclosureTemplate(entry, columns) for entry in fields["templates"]]
        seen = {
            canonical([sorted(entry["quasi"]), entry["attribute"], entry["value"]])
            for entry in fields["templates"]
        }
        if len(seen) < len(self.templates):
            raise Refused("field 'templates': expected one limit for each inference, got one twice")
        known = {name for template in self.templates for name in template.quasi}
        kept = {fields["target"], *(template.attribute for template in self.templates)}
        masked = [name for name in columns if name in known and name not in kept]
        if fields["masked"] != masked:
            raise Refused(f"field 'masked': expected {shown(masked)}, got {shown(fields['masked'])}")
        for name, cells in self.columns:
            if name not in masked and any(kind == "suppressed" for _, (kind, _) in cells):
                raise Refused(f"column {named(name)}, which is not one of 'masked': {WITHHELD}")
        return [(name, _texts(cells)) for name, cells in self.columns]

    def claims(self, decided: Decided) -> list[str]:
        found = super().claims(decided) + self._unused(self.header)
        if any(holds is None for name, holds in decided.items() if name.startswith("template")):
            found.append(DISCLOSURE)
        return found


def judge_disclosure(document: DisclosureDocument, rows: Rows) -> Judged:
    """Every template, on the rows of a table."""
    results: Judged = [_judge_rows(document, rows)]
    places = {name: place for place, (name, _) in enumerate(document.columns)}
    for number, template in enumerate(document.templates, 1):
        if number * len(rows) * (1 + len(template.quasi)) > MOST_MATCHED and number > SOME_TIMES:
            results.append((f"template {number}", None, f"{template.inference}: {TOO_MANY}"))
            continue
        known = [places[name] for name in template.quasi]
        column = places[template.attribute]
        sensitive = template.place
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, count in rows.items():
            group = groups.setdefault(tuple(row[place] for place in known), [0, 0])
            group[0] += count
            group[1] += count if row[column] == sensitive else 0
        total, hits = 1, 0
        for n, found in groups.values():
            if found * total > hits * n:
                total, hits = n, found
        confidence = Fraction(hits, total)
        holds = confidence <= template.limit
        sign = "<=" if holds else ">"
        text = f"{template.inference}: {number_text(confidence)} {sign} {number_text(template.limit)}"
        if confidence != template.confidence:
            text += f"; the certificate says {number_text(template.confidence)}"
        results.append((f"template {number}", holds and confidence == template.confidence, text))
    return results


def _judge_rows(document: TableForm, rows: Rows) -> tuple[str, bool, str]:
    """Whether there are as many as the certificate says."""
    people = sum(rows.values())
    text = f"{short(people)} people in {len(rows)} distinct rows"
    if people != document.rows:
        text += f"; the certificate says {short(document.rows)} people"
    return "rows", people == document.rows, text


def exposed(theta: Fraction, sizes: list[int], lie: str | None) -> list[bool]:
    """Of which columns of a group, with so many values, the answers say for sure what is true.

    So it is where none is a lie, and where all are and there is but one lie to each truth.
    """
    if theta != 0:
        return [theta == 1] * len(sizes)
    return [lie is None or (size == 2 and (lie == "each" or len(sizes) == 1)) for size in sizes]


def unbounded(theta: Fraction, sizes: list[int], lie: str | None) -> str | None:
    """Why a group of columns with so many values is not epsilon-LDP for any epsilon; None if it is.

    `lie` is "each" or "tuple", or None in a binary scheme.
    """
    if all(exposed(theta, sizes, lie)):
        least = ", and there are two values" if theta == 0 and lie is not None else ""
        return f"not hidden at all: theta = {theta}{least}"
    n = len(sizes)
    if n > 1 and lie is None:
        odds = max(theta, 1 - theta) / min(theta, 1 - theta)
        return (
            "not epsilon-LDP for any epsilon: whether two columns agree is published for every pair (all "
            f"XORs, {n - 1} of {n} bits); hidden is only which of the answer and its opposite is true, at "
            f"odds of {number_text(odds)} times those before"
        )
    if n > 1 and lie == "each":
        return (
            "not epsilon-LDP for any epsilon: either all of its columns are true or none is, so a truth "
            "that shares some of the answer's values and not all is ruled out"
        )
    if theta == 0:
        return "not epsilon-LDP for any epsilon: theta = 0, so the answer is never the truth"
    return None


def disguised_warnings(
    untouched: Sequence[str], groups: Sequence[tuple[Sequence[str], str | None]]
) -> list[str]:
    """Columns without a coin, and groups of columns that are without an epsilon, each with the reason."""
    found = [f"Told as they are: {', '.join(map(named, untouched))}."] if untouched else []
    return found + [f"{', '.join(map(named, names))}: {why}." for names, why in groups if why is not None]


class DisguisedDocument(TableForm):
    """The certificate of disguised answers.

    `columns` are (name, cells), a cell being (text in table.csv, typed value); `groups` are (theta, names);
    `lie` is None in a binary scheme; `declared` are the domains of the scheme.
    """

    names: ClassVar[set[str]] = {
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
    may_have: ClassVar[set[str]] = {"cuts"}
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "kind": ("disguised",),
        "method": ("randomised response",),
    }
    check_of_words = "untouched"
    admitted = ("coins", "hidden")

    def table(self, fields: dict[str, Any]) -> list[tuple[str, list[str]]]:
        self.columns = [
            (name, _plain(cells, f"column {name!r}")) for name, cells in _columns(fields["columns"])
        ]
        entry = fields["privacy"]
        if type(entry) is not list:
            raise Refused(f"field 'privacy': expected a list, got {shown(entry)}")
        self.privacy = [None if odds is None else rational(odds, "field 'privacy'") for odds in entry]
        self.lie, self.groups, self.declared = self._scheme(fields["scheme"])
        found = {name: [typed for _, typed in cells] for name, cells in self.columns}
        for name, typed in self.declared.items():
            if name not in found:
                raise Refused(f"field 'scheme': {name!r} is no column of the table")
            if found[name] != typed:
                raise Refused(f"field 'scheme': the domain of {name!r} is not that of the column")
        if "cuts" in fields:
            self._check_cuts(fields["cuts"])
        return [(name, _texts(cells)) for name, cells in self.columns]

    @property
    def files(self) -> tuple[str, ...]:
        return (TABLE, SCHEME, CUTS) if "cuts" in self.fields else (TABLE, SCHEME)

    def beside(self, folder: str) -> Judged:
        copies = [(SCHEME, self.fields["scheme"], "the scheme"), (CUTS, self.fields.get("cuts"), "the cuts")]
        return [
            (name.partition(".")[0], *_judge_copy(os.path.join(folder, name), entry, what))
            for name, entry, what in copies
            if name in self.files and os.path.lexists(os.path.join(folder, name))
        ]

    def _check_cuts(self, entry: Any) -> None:
        """Where columns of the scheme were made two-valued: a number, or a place in a list of values."""
        where = "field 'cuts'"
        if type(entry) is not dict or not entry:
            raise Refused(f"{where}: expected a point and values of each column, got {shown(entry)}")
        for name, cut in entry.items():
            if self.declared.get(name) != [("int", 0), ("int", 1)]:
                raise Refused(f"{where}: expected columns of the scheme with values 0 and 1, got {name!r}")
            if type(cut) is not dict or set(cut) != {"point", "values"} or type(cut["values"]) is not list:
                raise Refused(f"{where}: expected a point and values of {name!r}, got {shown(cut)}")
            point, values = cut["point"], cut["values"]
            # No middle of two numbers of a table is longer.
            if type(point) is not str or len(point) > LONGEST_POINT or not re.fullmatch(POINT, point):
                raise Refused(f"{where}: expected a number as text of {name!r}, got {shown(point)}")
            number = Fraction(point)
            if carries_more(number):
                raise Refused(f"{where}: beyond what a limit may carry: the point of {name!r}")
            if point != decimal_text(number):
                raise Refused(f"{where}: expected {decimal_text(number)} for {name!r}, got {point}")
            kinds = {type(one) for one in values}
            if kinds not in (set(), {str}, {bool}) or len(set(values)) < len(values):
                raise Refused(f"{where}: expected distinct values of {name!r}, got {shown(values)}")
            places = {f"{place // 2}{'.5' if place % 2 else ''}" for place in range(2 * len(values) - 1)}
            if values and point not in places:
                raise Refused(f"{where}: expected a place in the list of {name!r}, got {shown(point)}")
            if values != _sorted(values):
                raise Refused(f"{where}: expected the values of {name!r} in their order, got {shown(values)}")
            if sum(len(str(one)) + 2 for one in values) > MOST_CUT:
                raise Refused(
                    f"{where}: expected values of {name!r} of up to {MOST_CUT:,} characters, as all of them "
                    "are printed"
                )

    @staticmethod
    def _scheme(entry: Any) -> tuple[str | None, list[tuple[Fraction, list[str]]], dict[str, list[Typed]]]:
        where = "field 'scheme'"
        kind = entry.get("kind") if type(entry) is dict else None
        names = {"domains", "format", "groups", "kind"} | ({"lie"} if kind == "k-ary" else set())
        told = type(entry) is dict and entry.get("format")
        if kind not in ("binary", "k-ary") or set(entry) != names or type(told) is not int or told != FORMAT:
            raise Refused(f"{where}: expected a binary or k-ary scheme, got {shown(entry)}")
        lie = entry.get("lie")
        if kind == "k-ary" and lie not in ("each", "tuple"):
            raise Refused(f"{where}: expected lie 'each' or 'tuple', got {shown(lie)}")
        if type(entry["groups"]) is not list or not entry["groups"]:
            raise Refused(f"{where}: expected groups, got {shown(entry['groups'])}")
        groups: list[tuple[Fraction, list[str]]] = []
        for group in entry["groups"]:
            if type(group) is not dict or set(group) != {"columns", "theta"}:
                raise Refused(f"{where}: expected columns and theta, got {shown(group)}")
            columns, theta = group["columns"], rational(group["theta"], where)
            if type(columns) is not list or not columns or any(type(name) is not str for name in columns):
                raise Refused(f"{where}: expected names of columns, got {shown(columns)}")
            if theta > 1 or theta.denominator >= 2**63:
                raise Refused(
                    f"{where}: expected a theta up to 1 with a denominator below 2^63, "
                    f"got {shown(group['theta'])}"
                )
            groups.append((theta, columns))
        every = [name for _, columns in groups for name in columns]
        if len(set(every)) < len(every):
            raise Refused(f"{where}: expected groups that do not overlap, got {shown(every)}")
        if type(entry["domains"]) is not dict or sorted(entry["domains"]) != sorted(every):
            raise Refused(f"{where}: expected the domain of each of its columns, and no other")
        declared = {name: domain(values, f"domain of {name!r}") for name, values in entry["domains"].items()}
        for name, values in declared.items():
            if len(values) < 2 or (kind == "binary" and len(values) != 2):
                raise Refused(f"{where}: {name!r} has {len(values)} values")
            if kind == "binary" and any(one[0] == "null" for one in values):
                raise Refused(f"{where}: {name!r} has missing answers, which a binary scheme cannot hide")
        for theta, columns in groups:
            sizes = [len(declared[name]) for name in columns]
            if kind == "k-ary" and _product(sizes) >= 2**62:
                raise Refused(f"{where}: expected fewer than 2^62 tuples of values, got {shown(columns)}")
            for size in sizes:
                others = _product(sizes) - 1 if lie == "tuple" else size - 1
                if abs(theta - (1 - theta) / others) < NOTHING_TOLD:
                    raise Refused(
                        f"{where}: expected a theta at which answers tell something, got {number_text(theta)}"
                    )
        return lie, groups, declared

    told = (
        "Each answer was disguised by the scheme before it was told; what its coins hide does not depend on "
        "what anybody knows. No file can show that they were thrown.",
        "Who answers twice, or is in two such tables, tells more: epsilons add up.",
    )

    def claims(self, decided: Decided) -> list[str]:
        found = [] if self.fields["seeded"] else [self.told[0], COINS]
        found += self._unused(name for name in self.untouched)
        for name, cut in sorted(self.fields.get("cuts", {}).items()):
            above = f"a number above {cut['point']}"
            if cut["values"]:
                first = int(Fraction(cut["point"])) + 1
                parts = (cut["values"][first:], cut["values"][:first])
                above, below = (", ".join(named(str(one)) for one in part) or "nothing" for part in parts)
                above += f", and a 0 for {below}"
            found.append(f"Before it was disguised, {named(name)} was cut in two: a 1 stands for {above}.")
        return found

    def warned(self) -> list[str]:
        """What the certificate has to warn of: all columns without a coin, and groups without an epsilon."""
        return disguised_warnings(
            self.untouched,
            [
                (group, unbounded(theta, [len(self.declared[name]) for name in group], self.lie))
                for theta, group in self.groups
            ],
        )

    @property
    def exposed(self) -> list[str]:
        """The columns whose answers say what is true."""
        return [
            name
            for theta, group in self.groups
            for name, told in zip(  # noqa: B905
                group, exposed(theta, [len(self.declared[one]) for one in group], self.lie)
            )
            if told
        ]

    @property
    def untouched(self) -> list[str]:
        """The columns outside the scheme, which stand in the table as they are."""
        return [name for name, _ in self.columns if name not in self.declared]

    def odds(self) -> list[Fraction | None]:
        """For each group e^epsilon, the most that an answer multiplies odds by, or None for no end."""
        found: list[Fraction | None] = []
        for theta, names in self.groups:
            sizes = [len(self.declared[name]) for name in names]
            others = _product(sizes) - 1 if self.lie == "tuple" else _product([size - 1 for size in sizes])
            if unbounded(theta, sizes, self.lie) is not None:
                found.append(None)
                continue
            ratio = theta * others / (1 - theta)
            found.append(max(ratio, 1 / ratio))
        return found


def judge_disguised(document: DisguisedDocument, rows: Rows) -> Judged:
    """What the scheme hides, and whether coins were thrown for it."""
    results: Judged = [_judge_rows(document, rows)]
    found = document.odds()
    said = []
    for (_, names), odds in zip(document.groups, found):  # noqa: B905
        hidden = "not epsilon-LDP for any epsilon"
        if odds is not None:
            hidden = f"no odds are multiplied by more than {number_text(odds)}"
        said.append(f"{', '.join(map(named, names))}: {hidden}")
    text = "; ".join(said)
    if None in found:  # which is no good news
        text = f"as the certificate says, {text}"
    if document.privacy != found:
        stated = shown(document.fields["privacy"])
        text = f"the certificate says {stated}, and of its scheme this holds: {'; '.join(said)}"
    results.append(("privacy", document.privacy == found, text))
    text = "no theta makes it certain that a column's answers are true, or the opposite of the truth"
    if document.exposed:
        exposed_ones = ", ".join(map(named, document.exposed))
        text = f"nothing is hidden of {exposed_ones}: at this theta the answers say the truth"
    results.append(("hidden", not document.exposed, text))
    results.append(_judge_untouched(document))
    if document.fields["seeded"]:
        text = "a simulation: its coins came from a seed, and hide nothing from who knows it"
        results.append(("coins", False, text))
    return results


def _judge_untouched(document: DisguisedDocument) -> tuple[str, bool, str]:
    """Which columns nothing hides, and whether the words of the certificate are those of its scheme."""
    names = ", ".join(map(named, document.untouched))
    text = f"told as they are: {names}" if names else "every column is under a coin"
    said = document.fields["notes"], document.fields["warnings"]
    if said == (list(document.told), document.warned()):
        return "untouched", True, text
    return "untouched", False, f"{text}; the certificate says in words what its scheme does not"


def _sorted(values: list[Any]) -> list[Any]:
    """Texts by code point, but years and durations by time; or bools."""
    found = sorted(values)
    for pattern, key in ((DURATION, _seconds), (DATE, _years)):
        if all(type(one) is str and pattern.fullmatch(one) for one in found):
            found.sort(key=key)
    return found


def _seconds(text: str) -> tuple[Decimal, str]:
    return Decimal(DURATION.sub(r"\1\2", text)), text


def _years(text: str) -> tuple[Decimal, str]:
    found = DATE.fullmatch(text)
    assert found is not None
    return Decimal(found[1]), found[2]


class Kind(NamedTuple):
    """How the certificates of a kind of published thing are read and judged."""

    form: type[Form]
    judge: Callable[[Any, Rows], Judged]


KINDS = {
    "release": Kind(Document, lambda document, _: judge(document)),
    "partition": Kind(PartitionDocument, judge_partition),
    "disclosure": Kind(DisclosureDocument, judge_disclosure),
    "disguised": Kind(DisguisedDocument, judge_disguised),
}


def printable(text: str) -> str:
    """`text` with what a terminal may act on, line breaks among it, escaped: data cannot forge a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _say(text: str) -> None:
    """One line on stdout, whatever the text holds."""
    print(printable(text))


def complain(text: str) -> None:
    """One line on stderr, if there is one that takes it."""
    if sys.stderr is None:  # print would take stdout in its place
        return
    try:
        print(printable(text), file=sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: IO[str]) -> None:
    """Let the interpreter not try once more, on its way out, to write what could not be written.

    Its exit code would be another then.
    """
    with suppress(OSError, ValueError, AttributeError):  # of a stream without a file behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def let_go(stream: IO[str]) -> None:
    """Write what is left in the buffer of a stream, or see that the interpreter does not try it again."""
    try:
        stream.flush()
    except (OSError, ValueError):
        silence(stream)


def main(arguments: list[str]) -> int:
    """Check the folder or file named; the exit code.

    Whatever goes wrong is one line on stderr and 2; nothing is raised.
    """
    if sys.stdout is None or sys.stdout.closed:
        complain("stdout is closed: there is nowhere to say what is found")
        return 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label that the terminal cannot spell is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _main(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        let_go(sys.stdout)
        return 130
    except BrokenPipeError:  # the reader has left, and so has its interest
        silence(sys.stdout)
        return 2
    except OSError as error:
        silence(sys.stdout)
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        complain(f"{where or 'output: '}{error.strerror or error}")
        return 2
    except MemoryError:
        complain("not enough memory")
        return 2
    return code


def _main(arguments: list[str]) -> int:
    ignore_extra = "--ignore-extra" in arguments
    paths = [text for text in arguments if text != "--ignore-extra"]
    if len(paths) != 1 or paths[0] in ("-h", "--help"):
        print((__doc__ or "python verify_release.py DIR").strip())  # python -OO has no texts
        if len(paths) == 1:
            return 0
        complain(f"expected one DIR, got {' '.join(map(repr, paths)) or 'none'}")
        return 2
    try:
        path = location(paths[0])
        document = parse_any(content(path))
    except Refused as error:
        holds = None if isinstance(error, TooLong) else False
        _say(f"{'NO ' if holds is False else '?  '}  file           {error}")
        _say(verdict([holds], 0))
        return VERDICTS[holds][1]
    except (OSError, ValueError) as error:  # a ValueError of a name with a zero byte
        where = location(paths[0]) if paths[0] else "DIR"
        complain(f"{where}: {getattr(error, 'strerror', None) or error}")
        return 2
    _say("yes  file           complete, canonical, and its sha256 matches")
    folder = os.path.dirname(path)
    results, ignored = judge_folder(document, path, ignore_extra)
    results += judge_version(document)
    results += judge_any(document, folder)[1]
    results += judge_parquet(document, folder)
    for name, holds, text in results:
        said = "yes" if holds else "?  " if holds is None else "NO "
        _say(f"{said}  {name:<13}  {text}")
    if ignored:
        _say(f"--   {'folder':<13}  {ignored_text(ignored)}")
    decided = decisions(results)
    claims = document.claims(decided)
    warnings, notes = document.words(decided)
    for text in claims:
        _say(f"{CLAIMED} {brief(text)}")
    for text in notes:
        _say(f"{NOTE} {brief(text)}")
    found = [holds for _, holds, _ in results]
    _say(verdict(found, len(claims), len(warnings), len(ignored)))
    for text in warnings:
        _say(f"{WARNING} {brief(text)}")
    return VERDICTS[outcome(found)][1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
