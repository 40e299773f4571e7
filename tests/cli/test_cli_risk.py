"""`nbcfast risk`: what it prints, and how it leaves."""

import json

import numpy as np
import pytest

import nbcfast
from nbcfast import associations

# George, John and Kate share an age, and Wang and Lakshmanan's first figure.
CSV = """\
name,age,job,problem,weight
George,45,Manager,HIV,1
John,45,Manager,Flu,1
Kate,45,Lawyer,Obesity,2
Bill,30,Lawyer,Cold,1
Alan,27,Clerk,Cold,1
"""
VIEWS = ("--view", "name,age", "--view", "age,job,problem", "--identity", "name", "--attribute", "problem")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_risk_lists_the_worst(in_full, file):
    code, out, err = in_full("risk", file, *VIEWS)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["common", "columns", "age"] in lines
    assert ["associations", "11", "of", "5", "identities"] in lines
    assert ["George", "Flu", "0.607547"] in lines
    assert lines.index(["Alan", "Cold", "1"]) < lines.index(["Bill", "Cold", "1"])
    assert "is never below 1/2, however many share a join value" in out


@pytest.mark.parametrize(
    ("options", "code", "above"),
    [
        (("--threshold", "0.5"), 1, 11),
        (("--threshold", "161/265"), 1, 2),
        (("--threshold", "1"), 0, 0),
        (("--threshold", "0.5", "--model", "restricted"), 1, 2),
        (("--threshold", "1/3", "--model", "restricted", "--given", "name=John"), 0, 0),
        (("--threshold", "0.3", "--model", "restricted", "--given", "name=John"), 1, 3),
        (("--threshold", "0.9", "--given", "problem=Cold", "--given", "problem=Flu"), 1, 2),
        (("--threshold", "0.5", "--worlds", "full", "--weights", "weight"), 1, 11),
    ],
)
def test_risk_leaves_with_1_where_one_is_above(in_full, file, options, code, above):
    left, out, err = in_full("risk", file, *VIEWS, *options)
    assert (left, err) == (code, "")
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("above")] == [str(above)]
    left, out, _ = in_full("risk", file, *VIEWS, *options, "--json")
    assert (left, json.loads(out)["above"]) == (code, above)


def test_risk_leaves_with_1_where_somebody_has_no_world(in_full, tmp_path):
    path = tmp_path / "alone.csv"
    path.write_text("who,where,what\nx,1,p\nx,1,q\n", encoding="utf-8")
    options = ("--view", "who,where", "--view", "where,what", "--identity", "who", "--attribute", "what")
    code, out, _ = in_full("risk", path, *options, "--model", "restricted", "--threshold", "0.9")
    assert code == 1
    assert "1 identities, known to have several values" in out
    assert in_full("risk", path, *options, "--model", "restricted")[0] == 0


def test_risk_as_json(run, file):
    code, out, _ = run("risk", file, *VIEWS, "--json", "--worst", "3")
    found = json.loads(out)
    expected = associations.risk(
        nbcfast.read_csv(file), [("name", "age"), ("age", "job", "problem")], "name", "problem"
    )
    assert code == 0
    assert found["worst"] == list(expected.worst(3))
    assert (found["method"], found["threshold"], found["above"]) == ("join values", None, None)
    assert found["views"] == [["name", "age"], ["age", "job", "problem"]]


def test_risk_of_a_chain(in_full, file):
    views = ("--view", "name,age", "--view", "age,job", "--view", "job,problem")
    code, out, _ = in_full("risk", file, *views, "--identity", "name", "--attribute", "problem", "--json")
    assert (code, json.loads(out)["method"]) == (0, "chain")
    code, out, _ = in_full("risk", file, *views, "--identity", "name", "--attribute", "problem")
    assert "not the same for all" in out


def test_risk_reads_in_batches_what_it_reads_as_a_table(in_full, file, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    other = tmp_path / "people.tsv"
    other.write_text(CSV.replace(",", "\t"), encoding="utf-8")
    options = (*VIEWS, "--json", "--given", "problem=Cold", "--given", "name=John", "--given", "name=Alan")
    expected = json.loads(in_full("risk", other, *options)[1])

    def refuse(*_):
        raise AssertionError("the whole table was read")

    monkeypatch.setattr("nbcfast.cli.reading.Reading.table", refuse)
    found = json.loads(in_full("risk", file, *options)[1])
    for one in (found, expected):
        del one["file"], one["summary"]
    assert found == expected
    assert (found["associations"], found["identities"]) == (1, 2)


def test_risk_advises(run, file):
    options = ("--identity", "name", "--attribute", "problem", "--advise", "age,job")
    code, out, err = run("risk", file, *options)
    assert (code, err) == (0, "")
    assert "4 splits keep restricted probabilities at or below 1/2, by exhaustive search" in out
    code, out, _ = run("risk", file, *options, "--threshold", "1/4", "--json")
    found = json.loads(out)
    assert (code, found["method"], len(found["splits"])) == (0, "exhaustive", 4)
    assert found["splits"][0]["views"] == [["name", "age", "job"], ["problem"]]
    assert run("risk", file, *options, "--threshold", "0.1")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (VIEWS[:2] + VIEWS[4:], "--view must be given at least twice, got 1"),
        (
            (*VIEWS[:4], "--identity", "pet", "--attribute", "problem"),
            "--identity: expected a column of a view",
        ),
        (
            (*VIEWS[:4], "--identity", "name", "--attribute", "pet"),
            "--attribute: expected a column of a view",
        ),
        (("--view", "name,problem", "--view", "age,job", *VIEWS[4:]), "are in one view alone"),
        (
            ("--view", "name,pet", "--view", "age,problem", *VIEWS[4:]),
            "people.csv has no column 'pet'; it has 'name', 'age', 'job', 'problem', 'weight'",
        ),
        (("--view", "name,pet", "--view", "age,problem", *VIEWS[4:]), "nbcfast: --view: "),
        (("--view", "name,age", "--view", "age,foo", *VIEWS[4:]), "nbcfast: --view age,foo: "),
        (("--view", "name,age", "--view", "age,foo", *VIEWS[4:]), "has no column 'foo'; it has 'name', "),
        (("--view", "name,name", "--view", "age,problem", *VIEWS[4:]), "--view names 'name' twice"),
        (("--view", "", "--view", "age,problem", *VIEWS[4:]), "--view must be names with commas"),
        ((*VIEWS, "--threshold", "2"), "nbcfast: --threshold must be 0..1, got '2'"),
        ((*VIEWS, "--model", "both"), "Invalid value for '--model'"),
        ((*VIEWS, "--given", "name"), "--given must be NAME=VALUE, got 'name'"),
        ((*VIEWS, "--given", "age=45"), "--given must be name=VALUE or problem=VALUE, got 'age=45'"),
        ((*VIEWS, "--given", "name=Zoe"), "--given: no row of FILE has 'Zoe' in column 'name'"),
        ((*VIEWS, "--worst", "0"), "Invalid value for '--worst'"),
        ((*VIEWS, "--advise", "age"), "--advise takes the place of --view"),
        *(
            ((*VIEWS[4:], "--advise", "age", option, value), f"{option} is for --view, not for --advise")
            for option, value in (
                ("--model", "restricted"),
                ("--worlds", "full"),
                ("--given", "name=John"),
                ("--worst", "3"),
                ("--error", "0.1"),
            )
        ),
        ((*VIEWS, "--error", "0"), "nbcfast: --error must be between 0 and 1, got '0'"),
        ((*VIEWS, "--confidence", "1"), "nbcfast: --confidence must be between 0 and 1, got '1'"),
        (VIEWS[:4], "Missing option '--identity'"),
    ],
)
def test_bad_input_is_one_line(in_full, file, arguments, message):
    code, out, err = in_full("risk", file, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


CHAIN = ("--view", "name,age", "--view", "age,job", "--view", "job,problem", *VIEWS[4:])
ALL_KNOW = ": whoever sees the views knows who has what there."


@pytest.mark.parametrize(
    ("views", "said"), [(VIEWS, "2 associations have"), (CHAIN, "1 association has")], ids=["star", "chain"]
)
def test_what_is_certain_is_said_whatever_the_threshold(in_full, file, monkeypatch, views, said):
    said = f"{said} probability 1{ALL_KNOW}"
    for options in ((), ("--threshold", "1"), ("--worst", "1")):
        code, out, err = in_full("risk", file, *views, *options)
        assert (code, err, said in out) == (0, "", True)
        assert json.loads(in_full("risk", file, *views, *options, "--json")[1])["warnings"] == [said]
    for name in ("George", "John"):
        code, out, _ = in_full("risk", file, *views, "--given", f"name={name}", "--json")
        assert (code, json.loads(out)["warnings"]) == (0, [])
    monkeypatch.setattr("nbcfast.reports.risk_summary.CERTAIN", 1)
    assert json.loads(in_full("risk", file, *views, "--json")[1])["warnings"] == [said]
    monkeypatch.setattr("nbcfast.reports.risk_summary.MOST_CERTAIN", 1)
    least = f"at least 1 association has probability 1{ALL_KNOW}"
    assert json.loads(in_full("risk", file, *views, "--json")[1])["warnings"] == [least]


def test_a_column_that_has_the_name_of_the_probability(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("probability,where,what\nx,1,p\ny,2,q\n", encoding="utf-8")
    options = ("--view", "probability,where", "--view", "where,what", "--identity", "probability")
    code, out, _ = run("risk", path, *options, "--attribute", "what", "--json")
    assert (code, json.loads(out)["warnings"]) == (0, [f"2 associations have probability 1{ALL_KNOW}"])


@pytest.mark.parametrize(
    ("limit", "options", "said"),
    [
        ("joins.MOST_TUPLES", (), "views: their join has more than 2 tuples"),
        ("sampling.FEWEST_KEPT", ("--model", "restricted"), "too many to list and too rare to draw"),
    ],
)
def test_a_join_that_is_too_large_leaves_with_3(run, tmp_path, monkeypatch, limit, options, said):
    rng = np.random.default_rng(0)
    rows = [f"p{number},{','.join(map(str, rng.integers(0, 4, 4)))}" for number in range(60)]
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(["name,a,b,c,problem", *rows]), encoding="utf-8")
    monkeypatch.setattr(f"nbcfast.associations.{limit}", 2)
    views = ("--view", "name,a,b", "--view", "b,c,problem", "--view", "c,a", *VIEWS[4:])
    code, out, err = run("risk", path, *views, "--error", "0.1", *options)
    assert (code, out) == (3, "")
    assert said in err
    assert err.count("\n") == 1


def test_too_much_work_is_estimated_and_leaves_with_3(run, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "crowd.csv"
    rows = [
        f"p{number},{','.join(map(str, rng.integers(0, 15, 3)))},{rng.integers(0, 12)}"
        for number in range(500)
    ]
    path.write_text("\n".join(["i,a,b,c,p", *rows]), encoding="utf-8")
    views = ("--view", "i,a,b", "--view", "b,c,p", "--view", "c,a", "--identity", "i", "--attribute", "p")
    code, out, err = run("risk", path, *views, "--model", "restricted")
    assert (code, out) == (3, "")
    assert err.startswith("nbcfast: views: this is estimated to take ")
    assert ", and without --error it ends at 10 s and 1.0 GB: --error 0.01 goes on, " in err
    assert err.endswith("--given asks for fewer people\n")
    assert err.count("\n") == 1
    some = ("--given", "i=p7", "--model", "restricted")
    assert run("risk", path, *views, *some)[0] == 0


def test_how_many_of_all_associations_are_shown_is_said(in_full, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text(
        "name,town,ill\n" + "".join(f"p{i},t{i // 4},i{i % 4}\n" for i in range(8)), encoding="utf-8"
    )
    arguments = ("risk", path, "--view", "name,town", "--view", "town,ill", "--identity", "name")
    _, out, _ = in_full(*arguments, "--attribute", "ill")
    assert "associations    32 of 8 identities" in out
    assert "10 of 32 shown: --worst N" in out
    assert "shown" not in in_full(*arguments, "--attribute", "ill", "--worst", "32")[1]
