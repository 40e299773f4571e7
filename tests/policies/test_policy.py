"""What a policy says: every key checked, with a sentence that names it, and one sha256 for one meaning."""

import tomllib
from fractions import Fraction

import pytest

import nbcfast
from nbcfast.canonical import Limits
from nbcfast.domains import skeleton
from nbcfast.ledger import LedgerPolicy
from nbcfast.policies import Policy, first_policy
from nbcfast.policies.keys import SECTIONS

RELEASE = {"class": "ill", "amplification": 4}


def policy(**sections):
    return Policy.of({"release": RELEASE, **sections})


def released(**keys):
    return Policy.of({"release": {**RELEASE, **keys}})


def test_what_is_not_written_is_usual():
    found = policy()
    assert (found.limits, found.undeclared_columns, found.accept_answers) == (Limits(), 0, False)
    assert (found.attacker, found.noise, found.ledger, found.accept_claims) == ("row", None, None, False)
    assert found.document == {"release": {"amplification": "4", "class": "ill"}}


def test_the_usual_of_the_page_is_that_of_the_reader():
    """What the keys say holds unwritten changes nothing where it is written."""
    usual = {key.name: key.default for key in SECTIONS["limits"].keys}
    assert policy(limits=usual).document == policy().document
    assert released(attacker="row", undeclared=[]).sha256 == policy().sha256
    noisy = {"epsilon": 1, "required": True, "neighbours": "add-remove", "rows_per_person": 1}
    assert policy(dp=noisy).sha256 == policy(dp={"epsilon": "1"}).sha256


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"amplification": 2.5}, {"amplification": "5/2"}),
        ({"amplification": 4}, {"amplification": "4.0"}),
        ({"amplification": 4}, {"amplification": 4, "attacker": "row"}),
        ({"breach": [0.5, 0.8]}, {"amplification": 4}),
    ],
)
def test_one_meaning_has_one_sha256(one, other):
    found = [Policy.of({"release": {"class": "ill", **keys}}).sha256 for keys in (one, other)]
    assert found[0] == found[1]


def test_each_key_that_says_something_changes_the_sha256():
    changes = [
        {"release": {**RELEASE, "amplification": 5}},
        {"release": {**RELEASE, "attacker": "worlds"}},
        {"release": {**RELEASE, "columns": ["a"]}},
        {"release": {**RELEASE, "method": "canonical"}},
        {"release": {**RELEASE, "preserve": "label"}},
        {"release": {**RELEASE, "smooth": 1}},
        {"release": {**RELEASE, "by": "town"}},
        {"release": {**RELEASE, "class": "well"}},
        {"domain": {"a": ["x", "y"]}},
        {"domain": {"a": ["y", "x"]}},
        {"domain": {"a": ["x", "y"]}, "release": {**RELEASE, "undeclared": ["a"]}},
        {"limits": {"max_bits": 7}},
        {"limits": {"max_found": 1}},
        {"limits": {"min_flip": "98%"}},
        {"limits": {"min_trace": "98%"}},
        {"limits": {"max_one_class": "none"}},
        {"limits": {"undeclared_columns": "none"}},
        {"limits": {"worst_posterior": 0.9}},
        {"limits": {"membership_auc": 0.6}},
        {"limits": {"accept_answers": True}},
        {"dp": {"epsilon": 1}},
        {"dp": {"epsilon": 1, "required": False}},
        {"dp": {"epsilon": 1, "delta": "1e-6"}},
        {"dp": {"rho": 1}},
        {"dp": {"epsilon": 1, "neighbours": "replace"}},
        {"dp": {"epsilon": 1, "rows_per_person": 2}},
        {"ledger": {"file": "l"}},
        {"ledger": {"file": "m"}},
        {"ledger": {"file": "l", "policy": ["calendar"]}},
        {"ledger": {"file": "l", "policy": ["disjoint"]}},
        {"ledger": {"file": "l", "new_rows": 5}},
        {"ledger": {"file": "l", "required": False}},
    ]
    found = [policy(**change).sha256 for change in changes]
    assert len({policy().sha256, *found}) == len(changes) + 1


def test_what_the_gate_takes_on_trust_is_no_part_of_what_releases_keep():
    """Whoever looks at a release may decide it later, and the release still names the policy."""
    for accepts in (False, True):
        found = policy(gate={"accept_claims": accepts})
        assert (found.sha256, found.accept_claims) == (policy().sha256, accepts)


def test_a_file_and_files_that_it_names(tmp_path):
    (tmp_path / "d.json").write_text('{"age": {"edges": [null, 30, null]}}', encoding="utf-8")
    (tmp_path / "m.json").write_text('{"age": [["a"], {"out": true}]}', encoding="utf-8")
    path = tmp_path / "p.toml"
    head = '[release]\nclass = "ill"\namplification = 4\n'
    path.write_text(f"# a comment\n{head}[domain]\nage = {{ edges = [-inf, 30, inf] }}\n", encoding="utf-8")
    inline = Policy.of(path)
    path.write_text(f'domain = "d.json"\n{head}', encoding="utf-8")
    named = Policy.of(str(path))
    assert inline.sha256 == named.sha256
    assert named.domains.options["age"].domain_values == inline.domains.options["age"].domain_values
    path.write_text(f'menu = "m.json"\n{head}', encoding="utf-8")
    assert Policy.of(path).menu.n_choices == 2
    path.write_text(f'{head}[ledger]\nfile = "book"\npolicy = ["calendar"]\nnew_rows = 5\n', encoding="utf-8")
    ledger = Policy.of(path).ledger
    assert (ledger.path, ledger.policy) == (str(tmp_path / "book"), LedgerPolicy(calendar=True, new_rows=5))


def test_values_that_toml_spells_otherwise(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        '[release]\nclass = "ill"\namplification = 4\n[domain]\nborn = { edges = [1990-01-01, 2000-01-01], '
        'null = true }\nsex = { values = ["f", "m"], null = true }\nx = [0.5, 1.5]\n',
        encoding="utf-8",
    )
    options = Policy.of(path).domains.options
    assert options["born"].domain_values == ("[1990-01-01, 2000-01-01)", None)
    assert options["sex"].domain_values == ("f", "m", None)
    assert options["x"].domain_values == (0.5, 1.5)


WRONG = {
    "no section": ({}, "policy: expected a section [release], got none"),
    "a section": ({"realese": {}}, "policy: there is no section [realese]: the nearest is 'release'"),
    "a far section": ({"x": {}}, "policy: there is no section [x]: there are release, domain, limits"),
    "a key": (
        {"release": {**RELEASE, "collumns": []}},
        "[release] has no key 'collumns': the nearest is 'columns'",
    ),
    "a far key": ({"release": {**RELEASE, "q": 1}}, "[release] has no key 'q': there are class, columns"),
    "no table": ({"release": 4}, "[release] must be a table of keys, got 4"),
    "no class": ({"release": {"amplification": 4}}, "[release] must have the key 'class', got none"),
    "class": ({"release": {"class": 3, "amplification": 4}}, "[release] class must be a text, got 3"),
    "no limit": ({"release": {"class": "a"}}, "expected one of policy: [release] amplification and"),
    "both": ({"release": {**RELEASE, "breach": [0.5, 0.8]}}, "got both"),
    "amplification": (
        {"release": {"class": "a", "amplification": 1}},
        "amplification must be above 1; got 1",
    ),
    "text": (
        {"release": {"class": "a", "amplification": "x"}},
        "amplification must be a finite number, got 'x'",
    ),
    "breach": (
        {"release": {"class": "a", "breach": [0.8, 0.5]}},
        "breach must be two numbers 0 < L1 < L2 < 1",
    ),
    "attacker": (
        {"release": {**RELEASE, "attacker": "all"}},
        "attacker must be 'row' or 'worlds', got 'all'",
    ),
    "method": ({"release": {**RELEASE, "method": "est"}}, "method must be 'canonical' or 'safetytransform'"),
    "preserve": ({"release": {**RELEASE, "preserve": 1}}, "preserve must be 'order' or 'label', got 1"),
    "smooth": ({"release": {**RELEASE, "smooth": 0}}, "smooth must be positive, got 0"),
    "powers": (
        {"release": {**RELEASE, "smooth": 1, "method": "safetytransform"}},
        "[release] smooth goes with method 'canonical', got 'safetytransform'",
    ),
    "columns": ({"release": {**RELEASE, "columns": "a,b"}}, "columns must be a list of names, got 'a,b'"),
    "twice": ({"release": {**RELEASE, "columns": ["a", "a"]}}, "columns names 'a' twice"),
    "the class": ({"release": {**RELEASE, "columns": ["ill"]}}, "class and columns both name 'ill'"),
    "out": (
        {"release": {**RELEASE, "columns": ["a"]}, "domain": {"a": {"out": True}}},
        "[domain] leaves column 'a' out, and [release] columns names it",
    ),
    "undeclared": ({"release": {**RELEASE, "undeclared": ["a"]}}, "undeclared goes with columns of [domain]"),
    "other": (
        {"release": {**RELEASE, "undeclared": ["b"]}, "domain": {"a": ["x"]}},
        "undeclared must be columns of [domain], got 'b'",
    ),
    "domain": ({"domain": 4, "release": RELEASE}, "[domain] must be a table of columns, or the name"),
    "column": (
        {"domain": {"a": {"edge": [1]}}, "release": RELEASE},
        "column 'a': expected a list of values, or",
    ),
    "null": (
        {"domain": {"a": {"values": 1, "null": True}}, "release": RELEASE},
        "expected null = true beside",
    ),
    "two domains": (
        {"domain": {"a": ["x"]}, "menu": "m", "release": RELEASE},
        "one of [domain] and menu, got both",
    ),
    "limit": (
        {"limits": {"max_found": -1}, "release": RELEASE},
        "[limits] max_found must be at least 0, got -1",
    ),
    "a share": (
        {"limits": {"min_flip": 2}, "release": RELEASE},
        "min_flip must be a number from 0 to 1, or None; got 2",
    ),
    "posterior": (
        {"limits": {"worst_posterior": "120%"}, "release": RELEASE},
        "worst_posterior must be a number from 0 to 1, or 'none'; got 120%",
    ),
    "number": (
        {"limits": {"undeclared_columns": "two"}, "release": RELEASE},
        "undeclared_columns must be an int of at least 0, or 'none', got 'two'",
    ),
    "flag": (
        {"limits": {"accept_answers": "yes"}, "release": RELEASE},
        "accept_answers must be true or false, got 'yes'",
    ),
    "dp": ({"dp": {"delta": 1}, "release": RELEASE}, "[dp]: expected one of epsilon and rho, got neither"),
    "dp number": ({"dp": {"epsilon": -1}, "release": RELEASE}, "[dp] epsilon must be"),
    "neighbours": ({"dp": {"epsilon": 1, "neighbours": "x"}, "release": RELEASE}, "[dp] neighbours must be"),
    "dp and by": ({"dp": {"epsilon": 1}, "release": {**RELEASE, "by": "t"}}, "by does not go with [dp]"),
    "ledger": ({"ledger": {}, "release": RELEASE}, "[ledger] must have the key 'file', got none"),
    "rows": (
        {"ledger": {"file": "l", "new_rows": 0}, "release": RELEASE},
        "[ledger] new_rows must be at least 1, got 0",
    ),
    "rule": (
        {"ledger": {"file": "l", "policy": ["x"]}, "release": RELEASE},
        "[ledger] policy must be 'calendar' or 'disjoint', got 'x'",
    ),
    "ledger and by": (
        {"ledger": {"file": "l"}, "release": {**RELEASE, "by": "t"}},
        "by does not go with [ledger]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    document, text = WRONG[name]
    with pytest.raises((ValueError, TypeError)) as error:
        Policy.of(document)
    assert text in str(error.value)


def test_no_policy_at_all(tmp_path):
    with pytest.raises(TypeError, match="policy must be the path of a policy such as"):
        Policy.of(4)
    with pytest.raises(ValueError, match="got ''"):
        Policy.of("")
    path = tmp_path / "p.toml"
    for text, said in (
        ("[release\n", "not TOML"),
        ("a = " + "[" * 5000, "not TOML"),
        ("\ufeff[x]", "no section"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=said) as error:
            Policy.of(path)
        assert str(error.value).startswith(str(path))
    with pytest.raises(OSError, match=r"none\.toml"):
        Policy.of(tmp_path / "none.toml")


def test_a_limit_of_an_attacker():
    assert released(attacker="worlds").limit == 2
    assert policy().limit == Fraction(4)


ODD = {
    "a b": ["x", 'y"z', "ü", "\x7f"] * 30,
    "n": [1.5, 2.5, None, 4.0] * 30,
    "flag": [True, False, True, False] * 30,
    "id": [f"P{number}" for number in range(120)],
    "same": ["s"] * 120,
    "income": list(range(1000, 1120)),
    "domain": ["a", "b"] * 60,
    "the class": ["no", "yes", "no", None] * 30,
}


def test_the_first_policy_is_one_whatever_columns_there_are():
    table = nbcfast.Table(ODD)
    text = first_policy(skeleton(table, "the class"), "the class")
    found = Policy.of(tomllib.loads(text))
    assert found.domains.out == ("id", "same", "income")
    assert set(found.from_rows) == {"a b", "n", "flag", "domain", "the class"}
    assert found.undeclared_columns == 5
    assert found.limits == Limits()
    found.domains.applied(table)
    assert "names people: 120 values in 120 rows" in text


def test_a_first_policy_may_name_a_menu(tmp_path):
    (tmp_path / "m.json").write_text('{"age": [["a"], {"out": true}], "ill": [["n", "y"]]}', encoding="utf-8")
    (tmp_path / "p.toml").write_text(first_policy([], "ill", menu=("m.json", 0)), encoding="utf-8")
    found = Policy.of(tmp_path / "p.toml")
    assert (found.menu.n_choices, found.domains, found.undeclared_columns) == (2, None, 0)
    assert found.accept_claims is False
    assert "\n[gate]\n" in (tmp_path / "p.toml").read_text(encoding="utf-8")


def test_a_class_of_many_values_comes_from_the_rows():
    table = nbcfast.Table({"a": ["x", "y"] * 75, "c": [f"v{number}" for number in range(150)]})
    found = Policy.of(tomllib.loads(first_policy(skeleton(table, "c"), "c")))
    assert "c" not in found.domains.options
    assert found.undeclared_columns == 2


def test_a_number_that_no_python_reads_is_no_hint_at_its_settings(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(f'[release]\nclass = "a"\namplification = {"9" * 5000}\n', encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"p\.toml: not TOML of a policy: a number in it has too many digits$"
    ):
        Policy.of(path)
