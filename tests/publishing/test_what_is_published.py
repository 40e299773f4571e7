"""What `nbcfast.publish` takes: tables of every kind, declared domains, lists, rows held out."""

import json
import math
from fractions import Fraction

import frozen
import numpy as np
import pytest

import nbcfast

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TWO = ["glucose", "relatives"]
MENU = json.loads(frozen.MENU)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frozen.prepare(folder)
    return folder


@pytest.fixture(scope="module")
def members(folder):
    return nbcfast.read_csv(folder / "members.csv")


@pytest.fixture(scope="module")
def expected(members):
    return nbcfast.publish(members, "diagnosis", 4, columns=TWO)


def columns_of(table):
    """The values of a table, column by column."""
    return {name: [table.domain(name)[code] for code in table.codes(name)] for name in table.names}


def arrow(table):
    return pa.table(columns_of(table))


def parquet(folder, table):
    path = folder / "members.parquet"
    pq.write_table(arrow(table), path)
    return path


KINDS = {
    "table": lambda folder, table: table,
    "mapping": lambda folder, table: columns_of(table),
    "arrow": lambda folder, table: arrow(table),
    "batches": lambda folder, table: iter(arrow(table).to_batches(max_chunksize=100)),
    "csv": lambda folder, table: folder / "members.csv",
    "text": lambda folder, table: str(folder / "members.csv"),
    "bytes": lambda folder, table: bytes(folder / "members.csv"),
    "parquet": parquet,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_any_kind_gives_the_same(kind, folder, members, expected):
    given = KINDS[kind](folder, members)
    made = nbcfast.publish(given, "diagnosis", 4, columns=TWO)
    assert made.release == expected.release
    assert made.warnings == expected.warnings
    path = str(folder / f"members.{'parquet' if kind == 'parquet' else 'csv'}")
    assert made.source == (path if kind in ("csv", "text", "bytes", "parquet") else None)
    assert {**made.to_dict(), "file": None} == expected.to_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_held_out_of_any_kind_give_the_same(kind, folder, members, tmp_path):
    others = nbcfast.read_csv(folder / "others.csv")
    given = (tmp_path / "others.csv") if kind in ("csv", "text", "bytes") else None
    if given is not None:
        given.write_bytes((folder / "others.csv").read_bytes())
        given = {"csv": given, "text": str(given), "bytes": bytes(given)}[kind]
    else:
        given = KINDS[kind](tmp_path, others)
    found = nbcfast.publish(members, "diagnosis", 4, columns=TWO, holdout=given).adversaries.membership
    plain = nbcfast.publish(members, "diagnosis", 4, columns=TWO, holdout=others).adversaries.membership
    assert found == plain
    assert found.members == members.n_rows


@pytest.mark.parametrize("kind", ["mapping", "table", "csv", "arrow"])
def test_a_public_list_of_any_kind_gives_the_same(kind, folder, members):
    pairs = nbcfast.read_csv(folder / "pairs.csv")
    given = (folder / "pairs.csv") if kind == "csv" else KINDS[kind](folder, pairs)
    made = nbcfast.publish(members, "diagnosis", 4, columns=TWO, tuples=given)
    assert made.release.certificate.canonical.listed.tuples == pairs.n_rows
    assert made.release == nbcfast.canonical.release(
        nbcfast.count(members, "diagnosis", TWO), 4, tuples=pairs, class_name="diagnosis"
    )
    assert made.leak is None  # the meter takes all answers


def test_rows_that_are_published_as_binned_are_held_out_as_numbers_or_bins(folder):
    table = nbcfast.read_csv(folder / "small.csv")
    private, held = table.take(range(200)), table.take(range(200, 400))
    options = {"domains": {"age": MENU["age"]}, "columns": ["age", "sex"]}
    found = [
        nbcfast.publish(private, "diagnosis", 3, holdout=others, **options).adversaries.membership
        for others in (held, held.bin("age", edges=[0, 30, 60, math.inf]), columns_of(held))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0].others > 0


def test_domains_are_declared_by_a_mapping_or_a_file(folder, tmp_path):
    made = nbcfast.publish(folder / "small.csv", "diagnosis", "3/2", domains=folder / "menu.json")
    mapping = {**MENU, "sex": tuple(MENU["sex"])}
    assert nbcfast.publish(folder / "small.csv", "diagnosis", "3/2", domains=mapping).release == made.release
    assert made.release.certificate.canonical.undeclared == (None,)
    assert mapping == {**MENU, "sex": tuple(MENU["sex"])}  # unchanged


def test_weights_are_a_column_or_those_of_the_table(folder):
    path, options = folder / "kinds.csv", {"columns": ["colour", "grade"]}
    by_name = nbcfast.publish(path, "label", 6, weights="n", **options)
    table = nbcfast.read_csv(path, weights="n")
    by_table = nbcfast.publish(table, "label", 6, **options)
    assert by_name.release == by_table.release
    assert by_name.before.rows == by_table.before.rows == 15
    with pytest.raises(ValueError, match="a Table has its own weights"):
        nbcfast.publish(table, "label", 6, weights="n", **options)


def test_a_column_that_may_count_rows_is_named_in_python(folder):
    made = nbcfast.publish(folder / "kinds.csv", "label", 6, columns=["colour", "grade"])
    assert [text for text in made.warnings if "counts once" in text] == [
        "Every row counts once, and column 'n' holds whole numbers: if it says how often a row counts, give "
        "weights='n'; without it nothing said here is right then."
    ]


def test_a_column_that_may_count_rows_is_named_where_the_table_is_no_file():
    columns = {"a": ["x", "y", "z", "x"], "n": [3, 7, 2, 1], "c": ["u", "v", "u", "v"]}
    remark = "Every row counts once, and column 'n' holds whole numbers: "

    def is_named(table, **named):
        made = nbcfast.publish(table, "c", 4, **named)
        return any(text.startswith(remark) for text in made.warnings)

    assert is_named(columns)
    assert is_named(nbcfast.Table(columns))
    said = "\n".join(nbcfast.publish(nbcfast.Table(columns), "c", 4).warnings)
    assert "make the Table with weights='n'" in said  # publish refuses other weights than the Table's
    assert "give weights='n'" in "\n".join(nbcfast.publish(columns, "c", 4).warnings)
    assert is_named(nbcfast.Table(columns), columns=["a"])
    assert not is_named(columns, columns=["a", "n"])
    assert not is_named(columns, weights="n")
    assert not is_named(nbcfast.Table(columns, weights="n"))
    assert not is_named(columns | {"n": ["3", "7", "2", "1"]})
    assert not is_named(columns | {"n": [3.0, 7.0, 2.5, 1.0]})


def test_a_path_of_text_that_looks_like_numbers_is_read_as_the_table_was(tmp_path):
    rows = "".join(f"0{i % 4},{i % 3},{'yn'[i % 5 == 0]}\n" for i in range(80))
    (tmp_path / "table.csv").write_text(f"zip,size,label\n{rows}")
    (tmp_path / "list.csv").write_text("zip,size\n01,0\n02,1\n")
    (tmp_path / "numbers.csv").write_text("zip,size\n1,0\n")
    made = nbcfast.publish(tmp_path / "table.csv", "label", 4, tuples=tmp_path / "list.csv")
    assert made.release.certificate.canonical.listed.tuples == 2
    with pytest.raises(ValueError, match="tuples: value '1' of 'zip' is not in its domain"):
        nbcfast.publish(tmp_path / "table.csv", "label", 4, tuples=tmp_path / "numbers.csv")


def test_progress_is_called_in_parts_of_the_work(members):
    calls = []
    nbcfast.publish(
        *(members, "diagnosis", 4), columns=TWO, progress=lambda done, total: calls.append((done, total))
    )
    assert calls
    assert all(0 <= done <= total for done, total in calls if total)


REFUSED = {
    "no amplification": ({}, ValueError, "expected one of amplification=L and breach=(L1, L2), got neither"),
    "both": (
        {"amplification": 4, "breach": (0.5, 0.8)},
        ValueError,
        "expected one of amplification=L and breach=(L1, L2), got both",
    ),
    "amplification of 1": ({"amplification": 1}, ValueError, "amplification must be above 1; got 1"),
    "amplification of worlds": (
        {"amplification": Fraction(3, 2), "attacker": "worlds"},
        ValueError,
        "amplification must be above 2, because attacker 'worlds' needs half of it; got 1.5",
    ),
    "amplification of text": ({"amplification": "four"}, ValueError, "amplification must be a finite number"),
    "amplification of a list": ({"amplification": [4]}, TypeError, "amplification must be an int"),
    "breach": ({"breach": (0.8, 0.5)}, ValueError, "breach must be two numbers 0 < L1 < L2 < 1, got 0.8 and"),
    "breach of one": ({"breach": (0.8,)}, TypeError, "breach must be a pair of numbers, got (0.8,)"),
    "breach of text": ({"breach": "12"}, TypeError, "breach must be a pair of numbers, got '12'"),
    "breach of a set": ({"breach": {0.5, 0.8}}, TypeError, "breach must be a pair of numbers, got {"),
    "breach of nothing": (
        {"breach": (None, 0.8)},
        TypeError,
        "breach must be a pair of numbers, got (None, 0.8)",
    ),
    "attacker": ({"amplification": 4, "attacker": "me"}, ValueError, "attacker must be 'row' or 'worlds'"),
    "method": (
        {"amplification": 4, "method": "magic"},
        ValueError,
        "method must be 'canonical', 'safetytransform' or 'est', got 'magic'",
    ),
    "methods": (
        {"amplification": 4, "method": np.array(["est", "est"])},
        ValueError,
        "method must be 'canon",
    ),
    "preserve": (
        {"amplification": 4, "preserve": "all"},
        ValueError,
        "preserve must be 'order' or 'label', got 'all'",
    ),
    "gauge": ({"amplification": 4, "gauge": 0}, TypeError, "gauge must be a bool, got int"),
    "bits": ({"amplification": 4, "bits": 0}, ValueError, "bits must be 1 to 62, got 0"),
    "rows": ({"amplification": 4, "rows": "few"}, ValueError, "rows must be 'smallest', 'proven' or an int"),
    "rows of 0": ({"amplification": 4, "rows": 0}, ValueError, "rows must be 1 to 10^300, got 0"),
    "differences": (
        {"amplification": 4, "allow_differences": True},
        ValueError,
        "allow_differences goes with rows=R, a number",
    ),
    "gauge of canonical": (
        {"amplification": 4, "gauge": False, "method": "canonical"},
        ValueError,
        "gauge=False goes with method='safetytransform', not with method='canonical'",
    ),
    "bits of powers": (
        {"amplification": 4, "bits": 3, "method": "safetytransform"},
        ValueError,
        "bits goes with method='canonical', not with method='safetytransform'",
    ),
    "intervals of a list": (
        {"amplification": 4, "intervals": True, "tuples": {"glucose": ["low"], "relatives": [0]}},
        ValueError,
        "intervals goes with the leak meter, and that not with tuples",
    ),
    "class": ({"amplification": 4, "class_name": "disease"}, ValueError, "class_name: expected a column of"),
    "class of a number": (
        {"amplification": 4, "class_name": 3},
        TypeError,
        "class_name must be a text, got 3",
    ),
    "columns": ({"amplification": 4, "columns": "glucose"}, TypeError, "columns must be a sequence of names"),
    "class in columns": (
        {"amplification": 4, "columns": ["glucose", "diagnosis"]},
        ValueError,
        "columns: 'diagnosis' is the class as well",
    ),
    "columns of a number": (
        {"amplification": 4, "columns": 5},
        TypeError,
        "columns must be a sequence of names, got int",
    ),
    "columns of a set": (
        {"amplification": 4, "columns": {"glucose"}},
        TypeError,
        "columns must be a sequence of names, got set",
    ),
    "columns of numbers": (
        {"amplification": 4, "columns": [5]},
        TypeError,
        "columns must be a sequence of names, got 5 in it",
    ),
    "a column twice": (
        {"amplification": 4, "columns": ["glucose", "glucose"]},
        ValueError,
        "columns names 'glucose' twice",
    ),
    "another column": (
        {"amplification": 4, "columns": ["size"]},
        ValueError,
        "columns: expected a column of 'glucose', 'relatives', 'diagnosis'; got 'size'",
    ),
    "a menu of another column": (
        {"amplification": 4, "menu": {"size": [{"values": [1, 2]}], "glucose": [{"out": True}]}},
        ValueError,
        "menu: expected a column of 'glucose', 'relatives', 'diagnosis'; got 'size'",
    ),
    "counts": (
        {"amplification": 4, "table": nbcfast.Viewset([2, 2], [[[1, 1], [1, 1]]])},
        TypeError,
        "people: nbcfast.canonical.release(views, amplification) bounds Lambda, and measures no more",
    ),
    "weights of rows": (
        {"amplification": 4, "table": {"x": [1, 2], "y": [0, 1]}, "class_name": "y", "weights": [1, 2]},
        TypeError,
        "weights must be the name of a column or None, got list",
    ),
    "weights of another": (
        {"amplification": 4, "table": {"x": [1, 2], "y": [0, 1]}, "class_name": "y", "weights": "n"},
        ValueError,
        "weights: expected a column of 'x', 'y'; got 'n'",
    ),
    "no values": ({"amplification": 4, "max_values": 0}, ValueError, "max_values must be at least 1, got 0"),
    "values of text": (
        {"amplification": 4, "max_values": "9"},
        TypeError,
        "max_values must be an int, got '9'",
    ),
    "values of None": (
        {"amplification": 4, "max_values": None},
        TypeError,
        "max_values must be an int, got None",
    ),
    "too many values": (
        {"amplification": 4, "max_values": 3},
        ValueError,
        "column 'glucose' has 4 values, more than max_values=3: put them into bins or sets, leave it out",
    ),
    "too many classes": (
        {"amplification": 4, "table": {"x": [1, 2] * 150, "y": list(range(300))}, "class_name": "y"},
        ValueError,
        "class_name='y' has 300 values, more than 256 classes: bin it first",
    ),
    "no rows": (
        {"amplification": 4, "table": {"x": [], "y": []}, "class_name": "y"},
        ValueError,
        "table: no rows",
    ),
    "no table": ({"amplification": 4, "table": 7}, TypeError, "table: expected a Table, a mapping of column"),
    "ending": ({"amplification": 4, "table": "x.xlsx"}, ValueError, "table: expected a file of .csv"),
    "domains": ({"amplification": 4, "domains": 3}, TypeError, "domains must be a mapping of column names"),
    "domains of another": (
        {"amplification": 4, "domains": {"size": [1]}},
        ValueError,
        "domains: the table has no column 'size'; it has 'glucose', 'relatives', 'diagnosis'",
    ),
    "domains of a number": (
        {"amplification": 4, "domains": {"glucose": 3}},
        ValueError,
        "domains: column 'glucose': expected a list of values or",
    ),
    "domains without a value": (
        {"amplification": 4, "domains": {"glucose": ["low"]}},
        ValueError,
        "domains: ",
    ),
    "domains of nulls": (
        {"amplification": 4, "table": {"x": [1, None], "y": [0, 1]}, "class_name": "y", "columns": None}
        | {"domains": {"x": {"edges": [0, 5]}}},
        ValueError,
        "domains: column 'x': expected a number in every row, got null",
    ),
    "tuples": (
        {"amplification": 4, "tuples": {"glucose": ["sweet"], "relatives": [0]}},
        ValueError,
        "tuples: value 'sweet' of 'glucose' is not in its domain",
    ),
    "tuples without a column": (
        {"amplification": 4, "tuples": {"glucose": ["low"]}},
        ValueError,
        "tuples: expected a column of 'glucose'; got 'relatives'",
    ),
    "rows held out without a column": (
        {"amplification": 4, "holdout": {"glucose": ["low"] * 4, "relatives": [0] * 4}},
        ValueError,
        "holdout: expected a column of 'glucose', 'relatives'; got 'diagnosis'",
    ),
    "progress": (
        {"amplification": 4, "progress": 3},
        TypeError,
        "progress must be callable or None, got int",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_was_expected_and_what_came(name, members):
    named, kind, message = REFUSED[name]
    small = members.select([*TWO, "diagnosis"])
    with pytest.raises(kind) as refused:
        nbcfast.publish(**{"table": small, "class_name": "diagnosis", **named})
    assert message in str(refused.value)
    assert "--" not in str(refused.value)


@pytest.mark.parametrize(
    ("named", "argument"),
    [
        ({"class_name": "disease"}, "class_name"),
        ({"columns": ["disease"]}, "columns"),
        ({"weights": "disease"}, "weights"),
        ({"tuples": "pairs.csv"}, "tuples"),
        ({"holdout": "pairs.csv"}, "holdout"),
    ],
)
def test_a_column_that_a_file_lacks_is_told_of_the_argument_that_asks_for_it(
    named, argument, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    with pytest.raises(ValueError, match=rf"^{argument}: expected a column of .*; got '(disease|age)'$"):
        nbcfast.publish(**{"table": "members.csv", "class_name": "diagnosis", "amplification": 4, **named})


def test_the_private_rows_are_no_list_and_not_held_out(folder, members):
    with pytest.raises(
        ValueError, match=r"^tuples must be a public list, which .* it has the rows of the inp"
    ):
        nbcfast.publish(members, "diagnosis", 4, columns=TWO, tuples=members.select(TWO))
    with pytest.raises(ValueError, match=r"tuples must be a public list, .*members.csv' has the rows of the"):
        nbcfast.publish(members, "diagnosis", 4, columns=TWO, tuples=folder / "members.csv")
    for table, others in ((folder / "members.csv",) * 2, (members, members), (members, columns_of(members))):
        with pytest.raises(ValueError, match=r"^holdout: "):
            nbcfast.publish(table, "diagnosis", 4, columns=TWO, holdout=others)
    copy = folder / "copy.csv"
    copy.write_bytes((folder / "members.csv").read_bytes())
    with pytest.raises(ValueError, match=r"^holdout='.*copy.csv': "):
        nbcfast.publish(folder / "members.csv", "diagnosis", 4, columns=TWO, holdout=copy)


@pytest.mark.parametrize("kind", ["mapping", "arrow", "batches"])
def test_columns_like_counts_are_said_where_they_are_not_used(kind):
    pa = pytest.importorskip("pyarrow")
    people = {"job": ["a", "b", "c", "a"] * 10, "ill": ["y", "n", "y", "n"] * 10, "n": [7, 9, 12, 3] * 10}
    given = {"mapping": people, "arrow": pa.table(people), "batches": pa.table(people).to_batches()}[kind]
    made = nbcfast.publish(given, "ill", 4, columns=["job"], accept_answers=True)
    said = "Every row counts once, and column 'n' holds whole numbers"
    assert any(text.startswith(said) for text in made.warnings)
