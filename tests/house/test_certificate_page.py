"""docs/reference/certificate.md names every field that the verifier knows, and every check that it prints."""

import json
import re
from pathlib import Path

import pytest

from nbcfast import verify_release

HERE = Path(__file__).resolve().parents[1]
PAGE = HERE.parent / "docs" / "reference" / "certificate.md"
SECTIONS = {
    "release": "A release",
    "strata": "Strata",
    "partition": "A partition",
    "disclosure": "A disclosure",
    "disguised": "Disguised answers",
}
NAMED_BY_DATA = {"domains", "cuts"}  # objects whose names are those of columns


def section(title):
    text = PAGE.read_text(encoding="utf-8")
    return next(part for part in text.split("\n## ")[1:] if part.startswith(title + "\n"))


def rows(part):
    """The names in the first cells of the tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", part, re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def names(entry, inside):
    """The names of all fields of an object of a certificate, however deep."""
    if isinstance(entry, list):
        return {name for one in entry for name in names(one, inside)}
    if not isinstance(entry, dict):
        return set()
    own = set() if inside in NAMED_BY_DATA else set(entry)
    return own.union(*(names(one, "" if inside in NAMED_BY_DATA else name) for name, one in entry.items()))


def fields_of(kind):
    """All fields that a certificate of this kind may have."""
    form = verify_release.KINDS[kind].form
    found = set(form.names) | set(form.may_have)
    if kind == "release":
        found = found.union(*verify_release.METHOD_FIELDS.values())
    return found


def test_every_kind_has_a_section():
    assert set(SECTIONS) == set(verify_release.KINDS)


@pytest.mark.parametrize("kind", SECTIONS)
def test_the_page_names_the_fields_of_the_verifier(kind):
    common, own = rows(section("Fields of all kinds")), rows(section(SECTIONS[kind]))
    assert len(set(common)) == len(common)
    top = {name for name in [*common, *own] if name in fields_of(kind)}
    assert top == fields_of(kind)
    inner = set()
    if kind == "release":
        inner = verify_release.CANONICAL_FIELDS | verify_release.ADVICE_FIELDS | verify_release.VOTES_FIELDS
        inner |= verify_release.STRATA_FIELDS | verify_release.PRIVACY_FIELDS | {"rho"}
    if kind == "disguised":
        inner = {"domains", "format", "groups", "kind", "lie"}  # of its scheme
    assert set(own) - fields_of(kind) <= inner
    assert inner <= {*common, *own}


def test_every_field_that_was_written_is_named():
    seen = set()
    for path in sorted(HERE.glob("fixture/written/*/certificate.json")):
        certificate = json.loads(path.read_text(encoding="ascii"))
        kind = certificate["kind"]
        seen.add(kind)
        named = set(re.findall(r"`(\w+)`", section("Fields of all kinds") + section(SECTIONS[kind])))
        missing = names(certificate, "") - named
        if kind == "disclosure":  # the page has these by reference
            missing -= set(re.findall(r"`(\w+)`", section("A partition")))
        if kind == "strata":  # each is a release
            missing -= set(re.findall(r"`(\w+)`", section("A release")))
        assert not missing, (path, missing)
    assert seen == set(SECTIONS)


def test_every_check_that_was_printed_is_named():
    text = PAGE.read_text(encoding="utf-8")
    checks = set()
    for path in HERE.glob("fixture/verify*.txt"):
        checks |= set(re.findall(r"^  (?:ok|x|\?) +(\w+)  ", path.read_text(encoding="utf-8"), re.M))
    assert len(checks) > 15
    named = " ".join(re.findall(r"^Checks: .*?\n(?:\n|\Z)", text, re.M | re.S))
    assert not {check for check in checks if f"`{check}" not in named}


def test_every_choice_is_named():
    for kind, title in SECTIONS.items():
        form = verify_release.KINDS[kind].form
        part = section(title)
        for name, choices in form.choices.items():
            for choice in choices:
                assert f'"{choice}"' in part or name in ("order", "kind"), (kind, name, choice)
