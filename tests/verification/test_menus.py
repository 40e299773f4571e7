"""`_wire.menus`: the form of menus, what options become, their domains, and the digest."""

import hashlib
import json
import math

import numpy as np
import pytest

from nbcfast._wire.menus import (
    bits_of_choice,
    domain_of,
    menu_digest,
    menu_of_text,
    n_choices,
    resolved,
)

HIERARCHY = "low;small;all\nmid;small;all\n\nhigh;large;all\n;none;all\n"


def nothing(path):
    raise AssertionError(f"{path} is not to be read")


def option(entry, read=nothing):
    """The plain form of one option."""
    return resolved({"x": [entry]}, read)["x"][0]


@pytest.mark.parametrize(
    ("entry", "plain", "domain"),
    [
        (["b", "a", None], {"values": ["b", "a", None]}, [["text", "b"], ["text", "a"], ["null"]]),
        ({"values": [None, True]}, {"values": [None, True]}, [["bool", "true"], ["null"]]),
        ({"values": [2, 1]}, {"values": [2, 1]}, [["int", "2"], ["int", "1"]]),
        ([1, 2.5, -0.0], {"values": [1, 2.5, 0.0]}, [["float", "1.0"], ["float", "2.5"], ["float", "0.0"]]),
        ([None], {"values": [None]}, [["null"]]),
        (
            {"edges": [None, 0.3, 2, None], "null": False},
            {"edges": [None, 0.3, 2, None]},
            [["interval", None, "3/10"], ["interval", "3/10", "2/1"], ["interval", "2/1", None]],
        ),
        (
            {"edges": [-5, 2**60], "null": True},
            {"edges": [-5, 2**60], "null": True},
            [["interval", "-5/1", f"{hex(2**60)}/1"], ["null"]],
        ),
        (
            {"edges": [None, 18, None], "labels": ["young", "old"], "null": True},
            {"edges": [None, 18, None], "labels": ["young", "old"], "null": True},
            [["text", "young"], ["text", "old"], ["null"]],
        ),
        (
            {"edges": [None, "2020-02-29", "2021-01-01"]},
            {"edges": [None, "2020-02-29", "2021-01-01"]},
            [["text", "(-inf, 2020-02-29)"], ["text", "[2020-02-29, 2021-01-01)"]],
        ),
        (
            {"width": 0.1, "from": 0, "to": 0.3},
            {"edges": [0, 0.1, 0.2, 0.3]},
            [["interval", "0/1", "1/10"], ["interval", "1/10", "1/5"], ["interval", "1/5", "3/10"]],
        ),
        (
            {"width": 10, "from": 0, "to": 30, "open": True, "null": True},
            {"edges": [None, 10, 20, None], "null": True},
            [["interval", None, "10/1"], ["interval", "10/1", "20/1"], ["interval", "20/1", None], ["null"]],
        ),
        (
            {"groups": {"b": ["x", None], "a": ["y"]}, "other": "else"},
            {"groups": {"b": ["x", None], "a": ["y"]}, "other": "else"},
            [["text", "b"], ["text", "a"], ["text", "else"]],
        ),
        (
            {"groups": {"low": [1, 2], "high": [3]}, "other": "high"},
            {"groups": {"low": [1, 2], "high": [3]}, "other": "high"},
            [["text", "low"], ["text", "high"]],
        ),
        ({"out": True}, {"out": True}, None),
    ],
)
def test_options_and_their_domains(entry, plain, domain):
    assert option(entry) == plain
    assert list(option(entry)) == list(plain)  # the digest keeps their order
    assert domain_of(plain) == domain
    assert option(plain) == plain


def test_a_level_of_a_hierarchy_becomes_groups():
    read = {"h.csv": HIERARCHY, "marked.csv": "\ufeff" + HIERARCHY}.__getitem__
    first = option({"hierarchy": "h.csv", "level": 1}, read)
    assert first == {"groups": {"small": ["low", "mid"], "large": ["high"], "none": [None]}}
    assert list(first["groups"]) == ["small", "large", "none"]
    assert option({"hierarchy": "marked.csv", "level": 1, "other": "else"}, read) == {
        **first,
        "other": "else",
    }
    assert option({"hierarchy": "h.csv", "level": 2}, read) == {
        "groups": {"all": ["low", "mid", "high", None]}
    }


def test_a_file_is_read_once():
    paths = []

    def read(path):
        paths.append(path)
        return HIERARCHY

    levels = [{"hierarchy": "h.csv", "level": level} for level in (1, 2)]
    assert n_choices(resolved({"a": levels, "b": levels}, read)) == 4
    assert paths == ["h.csv"]


def test_values_of_numpy_become_plain_ones():
    assert json.dumps(option([np.float64(2.5), 1])) == '{"values": [2.5, 1]}'
    assert type(option([np.str_("a")])["values"][0]) is str


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("x", r"column 'x', option 0: expected a list of values, or an object with values, .*; got \"x\""),
        ({}, "expected a list of values, or an object with values"),
        ({"null": True}, "expected a list of values, or an object with values"),
        ({"edges": [0, 1], "other": "y"}, '"other" does not go with edges'),
        ({"edges": [0, 1], "values": [0]}, "does not go with"),
        ({"out": False}, "expected out to be true, got false"),
        ({"out": 1}, "expected out to be true, got 1"),
        ([], r"expected a list of values, got \[\]"),
        ([[1]], r"expected a text, a truth value, a number of 64 bits or null, got \[1\]"),
        ([2**63], "a number of 64 bits"),
        ([math.inf], "a number of 64 bits or null, got something of type float"),
        ([1, 1.0], "expected distinct values, got 1.0 twice"),
        ([None, None], "expected distinct values, got null twice"),
        ([1, "1"], "expected values of one kind, got int and text"),
        ([1, True], "expected values of one kind, got bool and int"),
        ({"edges": [1]}, r"expected a list of two edges or more, got \[1\]"),
        ({"edges": [None, None]}, "expected edges that are all numbers or all dates"),
        ({"edges": [0, None, 1]}, "expected null at an end of the edges alone"),
        ({"edges": [0, 0]}, "expected edges that increase"),
        ({"edges": [0, True]}, "expected edges that are numbers, or dates"),
        ({"edges": ["2020-02-30", None]}, "expected edges that are numbers, or dates"),
        ({"edges": ["2020-01-01", 5]}, "expected edges that are all numbers or all dates"),
        ({"edges": ["2020-01-02", "2020-01-01"]}, "expected edges that increase"),
        ({"edges": [0, 1, 2], "labels": ["a"]}, "expected 2 labels, one a bin"),
        ({"edges": [0, 1, 2], "labels": ["a", "a"]}, 'expected distinct values, got "a" twice'),
        ({"edges": [0, 1], "labels": [""]}, 'labels: expected a name, got ""'),
        ({"edges": [0, 1], "null": 1}, "null: expected true or false, got 1"),
        ({"width": 0, "from": 0, "to": 1}, "expected a width above 0"),
        ({"width": 1, "from": 1, "to": 1}, "from below to"),
        ({"width": 3, "from": 0, "to": 10}, "expected a whole number of widths"),
        ({"width": "1", "from": 0, "to": 10}, 'width: expected a number, got "1"'),
        ({"width": 1, "from": 0, "to": 2**40}, "expected up to 65,536 bins"),
        ({"width": 1, "from": 0, "to": 1, "open": True}, "expected two bins or more"),
        ({"width": 1, "from": 0}, "expected a list of values, or an object"),
        ({"groups": {}}, "expected an object with sets of values"),
        ({"groups": {"a": []}}, "group 'a': expected a list of values"),
        ({"groups": {"": ["a"]}}, "expected a name"),
        ({"groups": {"a": ["x"], "b": ["x"]}}, 'expected distinct values, got "x" twice'),
        ({"groups": {"a": ["x"], "b": [1]}}, "expected values of one kind"),
        ({"groups": {"a": ["x"]}, "other": None}, "other: expected a name, got null"),
        ({"hierarchy": "", "level": 1}, "expected the path of a hierarchy's file"),
        ({"hierarchy": "h.csv", "level": 0}, "expected a level from 1"),
        ({"hierarchy": "h.csv", "level": True}, "expected a level from 1"),
        ({"hierarchy": "h.csv"}, "expected a list of values, or an object"),
    ],
)
def test_what_is_no_option(entry, message):
    with pytest.raises(ValueError, match=message) as refused:
        option(entry)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x\n", "line 1: expected a value and 2 sets or more, got 1"),
        ("a;x;y\na;x;y\n", 'line 2: the value "a" stands there twice'),
        ("a;x;y;p\nb;x;y;q\n", 'line 2: the name "y" stands for two different sets'),
        ("a;x;\n", 'line 1: expected a name, got ""'),
        ("\n\n", "expected lines with a value and its sets, got none"),
        ("a;x\0;y", "expected text, got a zero byte"),
    ],
)
def test_what_is_no_hierarchy(text, message):
    with pytest.raises(ValueError, match=message):
        option({"hierarchy": "h.csv", "level": 2}, lambda path: text)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], r"menu: expected an object with the options of columns, got \[\]"),
        ({}, "menu: expected an object with the options of columns"),
        ({"x": []}, r"menu: column 'x': expected a list of options, got \[\]"),
        ({"x": {"edges": [0, 1]}}, "menu: column 'x': expected a list of options"),
        ({1: [["a"]]}, "menu: expected names of columns, got 1"),
        ({"x": [["a"], {"values": ["a"]}]}, "menu: column 'x', option 1: it is option 0 once more"),
    ],
)
def test_what_is_no_menu(document, message):
    with pytest.raises(ValueError, match=message):
        resolved(document, nothing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a menu in JSON: "),
        ('{"x": 1, "x": 2}', 'expected distinct names, got "x" twice'),
        ('{"x": [NaN]}', "NaN is no number of JSON"),
        ('{"x": [' + "1" * 5000 + "]}", "expected integers of 64 bits"),
        ("[" * 10**5, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_menu(text, message):
    with pytest.raises(ValueError, match=message):
        menu_of_text(text)


def test_the_digest_is_that_of_the_resolved_menu_in_its_order():
    menu = resolved(
        menu_of_text('{"b": [["\\u00e9"], {"out": true}], "a": [{"edges": [null, 1, 2]}]}'), nothing
    )
    text = '{"b":[{"values":["\\u00e9"]},{"out":true}],"a":[{"edges":[null,1,2]}]}'
    assert menu_digest(menu) == hashlib.sha256(text.encode()).hexdigest()
    assert menu_digest(dict(reversed(menu.items()))) != menu_digest(menu)


def test_the_digest_sees_what_a_width_and_a_hierarchy_become():
    by_width = resolved({"a": [{"width": 5, "from": 0, "to": 10}]}, nothing)
    assert menu_digest(by_width) == menu_digest(resolved({"a": [{"edges": [0, 5, 10]}]}, nothing))
    from_file = [
        resolved({"a": [{"hierarchy": "h", "level": 1}]}, lambda path, text=text: text)
        for text in (HIERARCHY, HIERARCHY.replace("mid", "middle"))
    ]
    assert menu_digest(from_file[0]) != menu_digest(from_file[1])


def test_bits_are_rounded_up_to_one_decimal_and_never_down():
    for choices in [*range(1, 3000), 345_600, 10**8, 2**61 - 1, 2**61, 2**61 + 1, 7**300]:
        bits = bits_of_choice(choices)
        tenths = int(bits.replace(".", ""))
        assert 2**tenths >= choices**10 > 2 ** (tenths - 1) if choices > 1 else bits == "0.0"
    assert bits_of_choice(345_600) == "18.4"
