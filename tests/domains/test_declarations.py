"""Declared domains: of mappings and files, applied to a table all at once."""

import json
import os
import re

import numpy as np
import pytest

import nbcfast
from nbcfast.domains import Declared, declared
from nbcfast.table.values import Interval

TABLE = nbcfast.Table(
    {"id": ["a1", "a2", "a3"], "age": [17, 38, 61], "sex": ["f", "m", "f"], "job": ["cook", "clerk", None]}
)
HIERARCHY = "cook;kitchen;work\nclerk;office;work\n;none;none\n"


@pytest.fixture
def file(tmp_path):
    """A domain file."""

    def file(document):
        path = tmp_path / "domain.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return path

    return file


def test_all_kinds_in_one_file(file, tmp_path):
    (tmp_path / "jobs.csv").write_text(HIERARCHY, encoding="utf-8")
    path = file(
        {
            "id": {"out": True},
            "age": {"edges": [None, 18, 65], "labels": ["minor", "adult"]},
            "sex": ["f", "m", "x"],
            "job": {"hierarchy": "jobs.csv", "level": 2},
        }
    )
    found = declared(path)
    assert found.out == ("id",)
    table = found.applied(TABLE)
    assert table.names == ("age", "sex", "job")
    assert table.domain("age") == ("minor", "adult")
    assert table.domain("sex") == ("f", "m", "x")
    assert table.domain("job") == ("work", "none")
    assert table.codes("job").tolist() == [0, 0, 1]
    again = declared(found.document)
    assert again.applied(TABLE) == table


def test_words_stand_in_files_too(file):
    table = declared(file({"age": {"bin": "18,65"}})).applied(TABLE)
    assert table.domain("age") == (Interval(None, 18), Interval(18, 65), Interval(65, None))
    table = declared(file({"age": {"bin": "twenties"}})).applied(TABLE)
    assert table.domain("age") == (Interval(None, 20), Interval(20, 40), Interval(60, None))
    assert not table.column("age").domain.declared  # its range is that of the rows
    with pytest.raises(ValueError, match=r"column 'age': expected edges as 25,35,50 .* got 'ten'"):
        declared(file({"age": {"bin": "ten"}}))
    with pytest.raises(ValueError, match=r"column 'age': expected \"bin\" to be a text .* got 3"):
        declared(file({"age": {"bin": 3}}))


def test_a_domain_that_was_advised_is_one_with_its_advice(file):
    advice = {"menu": "0" * 64, "chosen": [0]}
    found = declared(file({"domain": {"sex": ["f", "m"]}, "advice": advice}))
    assert (found.advice, tuple(found.options)) == (advice, ("sex",))
    columns = declared(file({"domain": ["a"], "advice": ["b"]}))
    assert (columns.advice, tuple(columns.options)) == (None, ("domain", "advice"))
    with pytest.raises(TypeError, match="domain: expected an object of columns, got list"):
        declared(file({"domain": ["f"], "advice": advice}))


def test_columns_from_rows_are_put_where_they_belong_and_stay_undeclared(file):
    entries = {
        "age": {"edges": [0, 18, 40, 65, None]},
        "sex": ["x", "m", "f"],
        "job": ["cook", "none", "clerk", None],
    }
    found = declared(file({"domain": entries, "from_rows": ["age", "sex"]}))
    table = found.applied(TABLE)
    plain = declared(entries).applied(TABLE)
    assert [table.column(name).domain.declared for name in ("age", "sex", "job")] == [False, False, True]
    for name in ("age", "sex"):
        values, all_values = table.domain(name), plain.domain(name)
        assert [values[code] for code in table.codes(name)] == [
            all_values[code] for code in plain.codes(name)
        ]
        # In the order of the file, and without what no row has.
        assert values == tuple(value for value in all_values if value in set(values))
        assert len(values) < len(all_values)
        assert set(table.codes(name).tolist()) == set(range(len(values)))
    assert table.domain("job") == plain.domain("job")
    assert declared(found.document).applied(TABLE) == table
    assert found.document["from_rows"] == ["age", "sex"]


def test_both_parts_say_what_comes_from_rows():
    one = declared({"domain": {"age": {"edges": [0, 99]}}, "from_rows": ["age"]})
    other = declared({"domain": {"sex": ["f", "m"], "job": ["cook"]}, "from_rows": ["job"]})
    assert one.with_others(other).from_rows == ("age", "job")
    assert other.with_others(declared({"age": [1]})).from_rows == ("job",)


def test_columns_of_these_names_are_columns(file):
    columns = declared(file({"domain": ["a"], "from_rows": ["b"]}))
    assert (columns.from_rows, tuple(columns.options)) == ((), ("domain", "from_rows"))
    columns = declared(file({"domain": {"values": ["a"]}, "from_rows": {"values": ["b"]}}))
    assert (columns.from_rows, tuple(columns.options)) == ((), ("domain", "from_rows"))
    assert declared(columns.document).options == columns.options
    inside = declared(
        file({"domain": {"domain": ["a"], "from_rows": ["b"]}, "from_rows": ["domain", "from_rows"]})
    )
    assert inside.from_rows == ("domain", "from_rows")
    assert declared(inside.document).document == inside.document
    # A list beside an object is never a column: values of rows would be called declared.
    assert declared(file({"domain": {"values": ["a"]}, "from_rows": ["values"]})).from_rows == ("values",)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"domain": {"age": [1]}, "from_rows": ["aeg"]},
            'from_rows: expected names of columns of domain, got "aeg"',
        ),
        ({"domain": {"age": [1]}, "from_rows": [1]}, "from_rows: expected names of columns of domain, got 1"),
        (
            {"domain": {"age": [1]}, "from_rows": ["age", "age"]},
            'from_rows: expected distinct names, got "age" twice',
        ),
        (
            {"domain": {"age": [1]}, "from_rows": ["age"], "advice": {"menu": "0" * 64}},
            "expected advice or from_rows, got both",
        ),
        ({"domain": {"age": [1]}, "from_rows": "age"}, "column 'domain'"),
    ],
)
def test_lists_of_what_comes_from_rows_are_refused_in_one_line(file, document, message):
    path = file(document)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        declared(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_all_columns_and_values_are_told_at_once(file):
    path = file({"sex": ["f"], "age": {"edges": [0, 18]}, "job": ["cook", "clerk"]})
    with pytest.raises(ValueError, match=r"domain\.json") as error:
        declared(path).applied(TABLE)
    assert str(error.value) == (
        f"{path}: column 'sex': value 'm' is not in its declared domain of 1 values; column 'age': values "
        "38 and 61 lie outside the edges [0, 18); column 'job': value None is not in its declared domain of "
        "2 values"
    )


def test_columns_of_the_file_that_were_not_read_may_stand_there():
    found = declared({"age": {"edges": [0, None]}, "job": ["cook"]})
    few = TABLE.select(["age", "sex"])
    with pytest.raises(ValueError, match="domains: the table has no column 'job'; it has 'age', 'sex'"):
        found.applied(few)
    assert found.applied(few, besides=TABLE.names).names == ("age", "sex")
    assert found.applied(few, every=False).names == ("age", "sex")
    with pytest.raises(ValueError, match="the table has no column 'job'; it has 'age', 'shop'"):
        found.applied(few, besides=["age", "shop"])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"job": {"hierarchy": "jobs.csv"}}, "column 'job': expected a list of values, or an object"),
        (
            {"job": {"hierarchy": "jobs.csv", "level": 9}},
            "line 1: expected a value and 9 sets or more",
        ),
        (
            {"job": {"groups": {"a": ["x"], "b": ["x"]}}},
            "column 'job': expected distinct values",
        ),
        ({"job": {"groups": {}}}, "column 'job': expected an object with sets of values"),
        ({"job": {"edges": [1, 2], "labels": []}}, "column 'job': expected 1 labels, one a bin, got"),
        ({"job": {"out": False}}, "column 'job': expected out to be true, got false"),
        ({"job": {"edges": [None, None]}}, "column 'job': expected edges that are all numbers or all dates"),
        ({"job": {"edges": [1, 2], "other": "x"}}, '"other" does not go with edges'),
        ({"job": "x"}, "column 'job': expected a list of values or {\"edges\": [..]}"),
        ({"job": []}, "column 'job': expected a list of values, got []"),
        ({"job": [1, "a"]}, "column 'job': expected values of one kind, got int and text"),
    ],
)
def test_entries_are_refused_by_file_and_column(file, tmp_path, document, message):
    (tmp_path / "jobs.csv").write_text(HIERARCHY, encoding="utf-8")
    with pytest.raises(ValueError, match=r"domain\.json") as error:
        declared(file(document))
    assert message in str(error.value)


def test_a_hierarchy_that_is_not_there_is_named(file):
    with pytest.raises(FileNotFoundError, match=r"jobs\.csv"):
        declared(file({"job": {"hierarchy": "jobs.csv", "level": 1}}))


def test_a_hierarchy_that_is_no_text_is_named(file, tmp_path):
    (tmp_path / "jobs.csv").write_bytes(b"caf\xe9;a\n")
    with pytest.raises(ValueError, match=r"jobs.csv is not UTF-8: save it as UTF-8"):
        declared(file({"job": {"hierarchy": "jobs.csv", "level": 1}}))


@pytest.mark.parametrize("name", ["/dev/zero", "folder", "pipe"])
def test_a_hierarchy_is_a_file_that_ends(file, tmp_path, name):
    """A menu that somebody sent read /dev/zero until the memory was full, and waited for a pipe."""
    (tmp_path / "folder").mkdir()
    if name == "pipe" and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    if name == "pipe":
        os.mkfifo(tmp_path / "pipe")
    with pytest.raises((ValueError, OSError), match=f"{name}"):
        declared(file({"job": {"hierarchy": name, "level": 1}}))


def test_numbers_that_were_declared_as_texts_get_a_hint():
    zips = nbcfast.Table({"zip": [1234, 5678]})
    for entry in (["01234", "05678"], {"groups": {"a": ["01234"], "b": ["05678"]}}):
        with pytest.raises(ValueError, match="the column was read as numbers: nbcfast"):
            declared({"zip": entry}).applied(zips)


def test_mappings_of_python_may_hold_what_json_has_not():
    found = declared(
        {
            "age": {"edges": (-np.inf, np.int64(18), np.float64(65.5), np.inf)},
            "sex": ("f", "m"),
            "job": {"groups": {"all": ("cook", "clerk", None)}},
        }
    )
    assert found.document["age"] == {"edges": [None, 18, 65.5, None]}
    assert found.applied(TABLE).domain("job") == ("all",)


def test_what_is_declared_twice_is_refused():
    one = Declared(declared({"age": {"edges": [0, 9]}}).options, file="domain.json")
    other = Declared(declared({"age": {"out": True}}).options, places={"age": "--leave-out"})
    with pytest.raises(ValueError, match=r"^domain\.json and --leave-out: column 'age' is declared twice$"):
        one.with_others(other)
    both = one.with_others(Declared(declared({"sex": ["q"]}).options, places={"sex": "--bin"}))
    assert (both.names, both.place("sex"), both.place("age")) == (("age", "sex"), "--bin", "domain.json")
    with pytest.raises(ValueError, match=r"^domain.json: column 'age': values .*; --bin: column 'sex'"):
        both.applied(TABLE)


@pytest.mark.parametrize("domains", [3, None, ["age"], {3: ["a"]}, {"age": None}])
def test_what_is_no_declaration_is_refused(domains):
    with pytest.raises((TypeError, ValueError), match="domains"):
        declared(domains)


def test_a_menu_that_is_given_for_a_domain_is_named():
    with pytest.raises(ValueError, match=r"expected plain values, got .*; several options stand in a menu$"):
        declared({"sex": [["f", "m"], {"out": True}]})
    with pytest.raises(ValueError, match=r"expected plain values, got \[\[1\]\]$"):
        declared({"sex": [[1]]})
