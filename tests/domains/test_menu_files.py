"""Menus: read, chosen from, and the same to whoever reads them."""

import hashlib
import json

import pytest

import nbcfast
from nbcfast.domains import Menu

DOCUMENT = {
    "age": [{"width": 20, "from": 0, "to": 100, "open": True}, {"edges": [None, 40, None]}, {"out": True}],
    "ill": [["no", "yes"]],
    "job": [["cook", "clerk"], {"hierarchy": "jobs.csv", "level": 1}],
}


@pytest.fixture
def menu_file(tmp_path):
    (tmp_path / "jobs.csv").write_text("cook;kitchen;all\nclerk;office;all\n", encoding="utf-8")
    path = tmp_path / "menu.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return path


def test_a_menu_from_a_file(menu_file):
    menu = Menu.read(menu_file, "ill")
    assert (menu.attributes, menu.n_choices) == (("age", "job"), 6)
    assert menu.class_values == ("no", "yes")
    assert [option.n_values for option in menu.options["age"]] == [5, 2, None]
    assert menu.options["job"][1].domain_values == ("kitchen", "office")
    assert list(menu.document) == ["age", "ill", "job"]
    assert menu.undeclared == ()


def test_the_digest_is_that_of_the_resolved_document(menu_file):
    menu = Menu.read(menu_file, "ill")
    text = json.dumps(menu.document, ensure_ascii=True, separators=(",", ":"))
    assert menu.digest == hashlib.sha256(text.encode("ascii")).hexdigest()
    assert Menu.read(menu.document, "ill") == menu == Menu.read(menu.document)
    assert hash(Menu.read(menu.document)) == hash(menu)
    assert Menu.read({name: menu.document[name] for name in reversed(menu.document)}) != menu


def test_a_choice_is_a_domain(menu_file):
    menu = Menu.read(menu_file, "ill")
    chosen = menu.chosen([1, 1], others=["name", "age"])
    assert chosen.document == {
        "age": {"edges": [None, 40, None]},
        "job": {"groups": {"kitchen": ["cook"], "office": ["clerk"]}},
        "ill": {"values": ["no", "yes"]},
        "name": {"out": True},
    }
    table = nbcfast.Table({"name": ["x"], "age": [50], "job": ["cook"], "ill": ["no"]})
    assert chosen.applied(table).names == ("age", "job", "ill")


@pytest.mark.parametrize(("indices", "message"), [([1], "indices must be 2"), ([3, 0], r"0\.\.2, got 3")])
def test_a_choice_is_one_option_each(menu_file, indices, message):
    with pytest.raises(ValueError, match=message):
        Menu.read(menu_file, "ill").chosen(indices)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[]", "menu.json: expected an object of columns, got list"),
        ("{}", "menu.json: expected an object with the options of columns"),
        ('{"age": {"out": true}}', "menu.json: column 'age': expected a list of options"),
        ('{"age": []}', "menu.json: column 'age': expected a list of options"),
        ('{"age": [["a"], ["a"]]}', "menu.json: column 'age', option 1: it is option 0 once more"),
        ('{"age": [{"bin": "tens"}]}', "menu.json: column 'age', option 0: expected a list of values"),
        ('{"age": [["a"]], "age": [["b"]]}', "menu.json: expected distinct names, got 'age' twice"),
        ('{"ill": [["a"], ["b"]]}', "column 'ill' is the class: expected one option of values"),
        ('{"ill": [{"out": true}]}', "column 'ill' is the class: expected one option of values"),
        ("{", "menu.json: not JSON"),
        ('{"menu": {"age": [["a"]]}}', "menu.json: expected beside menu the list from_rows alone"),
        ('{"menu": {"age": [["a"]]}, "from_rows": "age"}', "menu.json: expected beside menu the list"),
        ('{"menu": {"age": [["a"]]}, "from_rows": ["job"]}', "from_rows: expected names of columns of the"),
        ('{"menu": {"age": [["a"]]}, "from_rows": ["age", "age"]}', "from_rows: expected distinct names"),
        ('{"menu": {}, "from_rows": []}', "menu.json: expected an object with the options of columns"),
    ],
)
def test_bad_menus_name_their_file(tmp_path, document, message):
    path = tmp_path / "menu.json"
    path.write_text(document, encoding="utf-8")
    with pytest.raises(ValueError, match="menu") as error:
        Menu.read(path, "ill")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("source", [3, None, ["age"], {3: [["a"]]}])
def test_what_is_no_menu_is_refused(source):
    with pytest.raises((TypeError, ValueError), match="menu"):
        Menu.read(source)


def test_what_nobody_has_checked_stands_beside_the_menu_and_is_not_digested(menu_file):
    plain = Menu.read(menu_file, "ill")
    marked = Menu.read({"menu": plain.document, "from_rows": ["job", "ill"]}, "ill")
    assert (marked.undeclared, marked.digest) == (("job", "ill"), plain.digest)
    assert set(marked.chosen([0] * len(marked.attributes)).from_rows) <= {"job", "ill"}
    assert Menu.read(json.loads(marked.text), "ill").undeclared == marked.undeclared
    assert json.loads(marked.text) == marked.document
    assert json.loads(plain.text) == plain.document == plain.entries
    # Columns of these names have lists, and are columns.
    columns = {"menu": [["soup", "salad"]], "from_rows": [["a", "b"]]}
    assert Menu.read(columns).attributes == ("menu", "from_rows")
