"""The page of keys, the JSON Schema and the reader of policies know the same keys, and refuse alike."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

from nbcfast.policies import Policy, policy_schema
from nbcfast.policies.keys import SECTIONS, TOP

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "policy.md"
TOOL = ROOT / "tools" / "policy_page.py"
SCHEMA = ROOT / "docs" / "reference" / "nbcfast.schema.json"

FULL = """
[release]
class = "ill"
columns = ["age", "sex"]
amplification = "5/2"
attacker = "row"
method = "canonical"
preserve = "label"
smooth = 0.5
by = "town"
undeclared = ["age"]
[domain]
age = { edges = [-inf, 30, inf] }
sex = ["f", "m"]
[limits]
max_bits = "none"
max_found = 2
min_flip = "95%"
min_trace = 0.5
max_one_class = 0
undeclared_columns = 1
worst_posterior = "4/5"
membership_auc = 0.55
accept_answers = true
[dp]
required = false
epsilon = 1
delta = "1e-6"
neighbours = "replace"
rows_per_person = 2
[ledger]
required = false
file = "book"
policy = ["calendar"]
new_rows = 10
[gate]
accept_claims = true
"""
OTHERS = {"breach", "rho"}  # which stand in place of others


def refused(document):
    """Whether the reader refuses it."""
    try:
        Policy.of(document)
    except (TypeError, ValueError):
        return True
    return False


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    schema = policy_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.skipif(not TOOL.exists(), reason="tools/ belongs to a clone, and is not here")
def test_the_files_are_those_of_the_keys():
    """What `python tools/policy_page.py` would write stands there."""
    spec = importlib.util.spec_from_file_location("policy_page", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert PAGE.read_text(encoding="utf-8") == tool.page()
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == policy_schema()


def test_a_policy_of_all_keys_has_each_of_them(validator):
    document = tomllib.loads(FULL)
    Policy.of(document)
    assert not list(validator.iter_errors(document))
    for name, section in SECTIONS.items():
        if name != "domain":
            assert set(section.names) == {*document[name], *(set(section.names) & OTHERS)}, name
    assert set(policy_schema()["properties"]) == set(TOP)


def test_each_key_is_read():
    """A key that the reader passed over would be one that nobody keeps: each changes what the policy says."""
    document = tomllib.loads(FULL)
    whole = Policy.of(document).sha256
    required = {"class", "amplification", "epsilon", "file"}
    usual = {"attacker", "max_one_class"}
    for name, section in document.items():
        for key in section:
            if name in ("domain", "gate") or key in required | usual:
                continue
            fewer = {**document, name: {one: entry for one, entry in section.items() if one != key}}
            if key == "required":
                fewer["release"] = {
                    one: entry for one, entry in document["release"].items() if one not in ("by", "smooth")
                }
            assert Policy.of(fewer).sha256 != whole, (name, key)
    assert Policy.of(document).accept_claims  # which is no part of what releases keep


def test_a_wrong_type_is_refused_by_both(validator):
    document = tomllib.loads(FULL)
    wrong = [{}, [[]], "\n", -1, "x y"]
    for name, section in document.items():
        for key in section:
            if name == "domain":
                continue
            for entry in wrong:
                other = {**document, name: {**section, key: entry}}
                by_schema = bool(list(validator.iter_errors(other)))
                # A text may be any; all else that one of them refuses the other refuses.
                assert refused(other) or not by_schema, (name, key, entry)
                if not isinstance(entry, str):
                    assert by_schema, (name, key, entry)


def test_unknown_keys_are_refused_by_both(validator):
    document = tomllib.loads(FULL)
    for name in (*document, None):
        other = (
            {**document, "strange": {}} if name is None else {**document, name: {**document[name], "q": 1}}
        )
        assert refused(other), name
        assert list(validator.iter_errors(other)), name


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"release": {"class": "a"}},
        {"release": {"amplification": 4}},
        {"release": {"class": "a", "amplification": 4, "breach": [0.5, 0.8]}},
        {"release": {"class": "a", "amplification": 4}, "dp": {}},
        {"release": {"class": "a", "amplification": 4}, "dp": {"epsilon": 1, "rho": 1}},
        {"release": {"class": "a", "amplification": 4}, "ledger": {}},
        {"release": {"class": "a", "amplification": 4}, "menu": "m.json", "domain": "d.json"},
    ],
)
def test_what_is_missing_or_too_much_is_refused_by_both(document, validator):
    assert refused(document)
    assert list(validator.iter_errors(document))
