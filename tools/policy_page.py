"""Write docs/reference/policy.md and nbcfast.schema.json from the keys that the reader of policies knows.

    python tools/policy_page.py

tests/policies/test_policy_page.py fails where they are others.
"""

import json
from pathlib import Path

from nbcfast.policies import policy_schema
from nbcfast.policies.keys import AT_LEAST_0, AT_LEAST_1, FLAG, NAMES, NUMBER, SECTIONS, SHARE, TEXT

DOCS = Path(__file__).resolve().parent.parent / "docs" / "reference"
PAGE, SCHEMA = DOCS / "policy.md", DOCS / "nbcfast.schema.json"
HEAD = """\
# The policy, key by key

`nbcfast.toml` is TOML with the sections below, of which `[release]` has to be there. Sections and keys that
are unknown are refused, with the nearest that there is. Numbers are exact: `2.5`, `"5/2"` and `"2.5"` are
the same, and a share may be written as `"75%"`. [The guide](../guides/policy.md) says what a policy is for.
Made by `python tools/policy_page.py` of what the reader knows; [nbcfast.schema.json](nbcfast.schema.json)
is the same for editors.
"""
KINDS = [
    (TEXT, "a text"),
    (NAMES, "a list of names"),
    (FLAG, "`true`, `false`"),
    (NUMBER, "a number"),
    (SHARE, "a share"),
    (AT_LEAST_0, "a whole number"),
    (AT_LEAST_1, "a whole number from 1"),
]


def kind(schema):
    """What a key may be, in words."""
    for known, words in KINDS:
        if schema == known:
            return words
        if schema.get("anyOf", [])[:-1] == known.get("anyOf", [known]):
            return f'{words}, or `"none"`'
    if "enum" in schema:
        return ", ".join(f'`"{word}"`' for word in schema["enum"])
    if "enum" in schema["items"]:
        return "a list of " + ", ".join(f'`"{word}"`' for word in schema["items"]["enum"])
    return "two shares"


def page():
    """The page."""
    parts = [HEAD]
    for section in SECTIONS.values():
        parts.append(f"## [{section.name}]\n\n{section.text}\n")
        if not section.keys:
            continue
        lines = ["| key | is | demands | unwritten |", "|---|---|---|---|"]
        for key in section.keys:
            usual = "" if key.default is None else f"`{json.dumps(key.default)}`"
            text = key.text.replace("|", "\\|")
            required = "has to be there" if key.name in section.required else usual
            lines.append(f"| `{key.name}` | {kind(key.schema)} | {text} | {required} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def main():
    """Write both."""
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMA.write_text(json.dumps(policy_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
