"""`policy_schema`: a JSON Schema of policies, for editors that check a file while it is written."""

from __future__ import annotations

from nbcfast._core.untyped import Document
from nbcfast.policies.keys import DP, RELEASE, SECTIONS, TEXT, Section


def policy_schema() -> Document:
    """The JSON Schema of nbcfast.toml, made of the same keys that the reader knows.

    What it cannot say (numbers that fit each other, files that are named) the reader checks alone.

    Examples
    --------
    >>> sorted(policy_schema()["properties"])
    ['domain', 'dp', 'gate', 'ledger', 'limits', 'menu', 'release']
    """
    properties: Document = {name: _table(section) for name, section in SECTIONS.items()}
    one_of = [{"required": ["amplification"]}, {"required": ["breach"]}]
    properties[RELEASE.name]["oneOf"] = one_of
    properties[DP.name]["oneOf"] = [{"required": ["epsilon"]}, {"required": ["rho"]}]
    properties["domain"] = {
        "description": SECTIONS["domain"].text,
        "anyOf": [TEXT, {"type": "object", "additionalProperties": {"type": ["object", "array"]}}],
    }
    properties["menu"] = {"description": "A menu, in place of [domain].", **TEXT}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nbcfast.toml",
        "description": "What an owner demands of every release: a policy of nbcfast.",
        "type": "object",
        "properties": properties,
        "required": ["release"],
        "not": {"required": ["domain", "menu"]},
        "additionalProperties": False,
    }


def _table(section: Section) -> Document:
    found: Document = {
        "description": section.text,
        "type": "object",
        "properties": {
            key.name: {
                "description": key.text,
                **({} if key.default is None else {"default": key.default}),
                **key.schema,
            }
            for key in section.keys
        },
        "additionalProperties": False,
    }
    if section.required:
        found["required"] = list(section.required)
    return found
