"""Skeletons: a domain to begin with."""

import json

import pytest

import nbcfast
from nbcfast.domains import declared, skeleton
from nbcfast.domains.skeleton import skeleton_text

N = 120
TABLE = nbcfast.Table(
    {
        "id": [f"P{row}" for row in range(N)],
        "number": list(range(N)),
        "age": [20 + row % 60 for row in range(N)],
        "bmi": [20 + row % 50 / 10 for row in range(N)],
        "children": [row % 4 for row in range(N)],
        "sex": ["f", "m", None] * (N // 3),
        "born": [f"{1950 + row % 40}-03-01" for row in range(N)],
        "cost": [f"{row % 40}.00" for row in range(N - 1)] + ["?"],
        "same": ["x"] * N,
        "smokes": [True, False] * (N // 2),
        "note": [f"words {row}" for row in range(101)] + ["words 0"] * (N - 101),
        "sample": [7 * row for row in range(N - 20)] + [0] * 20,
        "grade": [row % 30 for row in range(N)],
    }
)


@pytest.fixture
def proposals():
    return {proposal.name: proposal for proposal in skeleton(TABLE, "grade")}


def test_a_domain_for_every_column(proposals):
    assert {name: proposal.text for name, proposal in proposals.items()} == {
        "id": "left out",
        "number": "left out",
        "age": "5 bins",
        "bmi": "5 bins",
        "children": "4 values",
        "sex": "3 values",
        "born": "4 bins",
        "cost": "left out",
        "same": "left out",
        "smokes": "2 values",
        "note": "left out",
        "sample": "5 bins",
        "grade": "30 values",
    }


def test_why_a_column_is_left_out(proposals):
    assert proposals["id"].reason == "names people: 120 values in 120 rows"
    assert proposals["same"].reason == "the same in every row: it says nothing"
    assert proposals["note"].reason == "101 texts, which are not listed: put them into sets"
    assert proposals["sample"].reason == "100 values in 120 rows: leave it out if these name people"
    assert proposals["cost"].reason.startswith("numbers but for '?': read again with that as a null")


def test_the_text_is_a_domain_that_holds_every_row(tmp_path, proposals):
    path = tmp_path / "domain.json"
    path.write_text(skeleton_text(list(proposals.values())), encoding="utf-8")
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(TABLE.names) + 8 + 4
    table = declared(path).applied(TABLE)
    assert table.names == ("age", "bmi", "children", "sex", "born", "smokes", "sample", "grade")
    assert table.n_rows == N
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["domain"]["sex"] == {"values": ["f", "m", None]}


def test_every_column_that_is_kept_is_said_to_come_from_the_rows(tmp_path, proposals):
    path = tmp_path / "domain.json"
    path.write_text(skeleton_text(list(proposals.values())), encoding="utf-8")
    found = declared(path)
    kept = [name for name, proposal in proposals.items() if not proposal.option.out]
    assert [*found.from_rows] == kept
    table = found.applied(TABLE)
    assert not any(table.column(name).domain.declared for name in kept)
    none = skeleton_text(skeleton(TABLE.take([])))
    assert json.loads(none)["from_rows"] == []
    assert declared(json.loads(none)).out == TABLE.names


def test_a_class_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="got 'ill'"):
        skeleton(TABLE, "ill")


def test_no_rows():
    assert [proposal.text for proposal in skeleton(TABLE.take([]))] == ["left out"] * len(TABLE.names)
