"""What certificates of all kinds have in common: their fields, and the words that go with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from nbcfast._wire.json_entries import FORMAT, Refused, shown
from nbcfast._wire.messages import brief
from nbcfast._wire.outcomes import decisions, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided, Judged


VERSIONS = ("0.1.0",)  # that have written certificates; nothing checks what the digits of another say
VERSION = r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}((a|b|rc|\.post|\.dev)[0-9]{1,6}){0,3}"


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

    def __init__(self, fields: Fields) -> None:
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

    def expected(self, fields: Fields) -> set[str]:
        """The names of all fields that a certificate with these must have."""
        return self.names | (self.may_have & set(fields))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are checked with the certificate, where they stand beside it."""
        return ()

    def read(self, fields: Fields) -> None:
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


def strange_words(name: str, expected: Sequence[str], found: Sequence[str]) -> str:
    """That a certificate has other words than those that go with its fields, at the first that is another."""
    place = next((i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]), None)  # noqa: B905
    place = min(len(expected), len(found)) if place is None else place
    wanted, got = (
        shown(texts[place], 400) if place < len(texts) else "none more" for texts in (expected, found)
    )
    return f"field {name!r}: expected those that go with the other fields: {wanted}, got {got}"


class Told(NamedTuple):
    """What may be said of a certificate: the checks, what none decides, and words that they confirm."""

    results: Judged
    claims: list[str]
    warnings: list[str]
    notes: list[str]


def told(document: Form, results: Judged) -> Told:
    """All that is said after these checks, each sentence short enough to print."""
    decided = decisions(results)
    warnings, notes = document.words(decided)
    return Told(
        [(name, holds, brief(text)) for name, holds, text in results],
        *(list(map(brief, texts)) for texts in (document.claims(decided), warnings, notes)),
    )


def judge_version(document: Form) -> Judged:
    """The check of a version that this verifier does not know; none where it does."""
    version = document.fields["version"]
    if version in VERSIONS:
        return []
    return [("version", None, f"{version} is none that this verifier knows, and its digits may say anything")]
