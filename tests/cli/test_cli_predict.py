"""`nbcfast predict`: the class of every row of a file, beside all that stands in it."""

import csv
import gzip
import json
import random
from pathlib import Path

import pytest

import nbcfast
from nbcfast import canonical
from nbcfast.domains import declared

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

DOMAIN = {
    "age": {"edges": [0, 30, 60, 120]},
    "job": {"groups": {"heads": ["cook", "clerk"], "hands": ["smith"]}},
    "ill": ["no", "yes"],
}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder with a release of bins and sets, and raw rows of every kind."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(2)
    rows = {
        "age": [rng.randint(0, 110) for _ in range(300)],
        "job": [rng.choice(["cook", "clerk", "smith"]) for _ in range(300)],
    }
    rows["ill"] = [
        "yes" if age + 30 * (job == "smith") + rng.randint(0, 40) > 80 else "no"
        for age, job in zip(rows["age"], rows["job"], strict=True)
    ]
    table = declared(DOMAIN).applied(nbcfast.Table(rows))
    release = canonical.release(nbcfast.count(table, "ill"), 4, class_name="ill")
    release.save("release")
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    (tmp_path / "new.csv").write_text(
        'id,age,note,job\n1,16.00,"a, ""b""\nc",cook\n2,,=1+1,clerk\n3,99,ä,smith\n4,200,,pope\n'
        "5,31,-5,smith\n",
        encoding="utf-8",
    )
    (tmp_path / "known.csv").write_text("age,job\n16,cook\n99,smith\n31,smith\n", encoding="utf-8")
    return release


def read(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


DECLARED = ("--domain", "domain.json")


def test_all_columns_are_kept_and_the_label_comes_last(run, made):
    code, printed, errors = run("predict", "release", "known.csv", *DECLARED, "--out", "out.csv")
    assert (code, errors) == (0, "")
    assert printed.startswith(
        "predicted: all 3 rows   known.csv, by release -> out.csv\n"
        "  ok  release  every check of release holds\n"
    )
    labels = made.predict("known.csv", domains=DOMAIN).tolist()
    assert read("out.csv") == [
        ["age", "job", "ill"],
        ["16", "cook", labels[0]],
        ["99", "smith", labels[1]],
        ["31", "smith", labels[2]],
    ]


@pytest.mark.parametrize("out", ["out.csv", "out.csv.gz", "out.parquet", "out.pq"])
def test_rows_without_a_class_say_why(run, made, out):
    code, printed, errors = run(
        "predict", "release", "new.csv", *DECLARED, "--unseen", "null", "--proba", "--out", out
    )
    assert (code, errors) == (0, "")
    assert f"predicted: 3 of 5 rows, and 2 have no class   new.csv, by release -> {out}\n" in printed
    assert "!   age       2 rows have values that the release does not know, the first (null)" in printed
    assert "!   job       1 row has a value that the release does not know, the first pope" in printed
    assert "!   no class  2 of 5 rows: nothing is guessed for them" in printed
    expected = made.predict("new.csv", domains=DOMAIN, unseen="null").tolist()
    posteriors = made.predict_proba("new.csv", domains=DOMAIN, unseen="null").tolist()
    names = ["id", "age", "note", "job", "ill", "p_no", "p_yes", "unseen"]
    if out.endswith(("csv", "gz")):
        header, *rows = read(out)
        assert "=1+1" in printed
        assert "They are written as they are." in printed
    else:
        table = parquet.read_table(out)
        header = table.column_names
        rows = [["" if cell is None else str(cell) for cell in row.values()] for row in table.to_pylist()]
    assert header == names
    given = read("new.csv")[1:]
    for row, own, label, both in zip(rows, given, expected, posteriors, strict=True):
        assert row[:4] == own
        assert row[4] == (label or "")
        if label is None:
            assert row[5:7] == ["", ""]
        else:
            assert [float(cell) for cell in row[5:7]] == both
            assert row[7] == ""
    assert [row[7] for row in rows if row[7]] == ["age", "age; job"]


@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_an_attribute_is_left_out_of_rows_that_say_so(run, made, found, out):
    options = (*DECLARED, "--unseen", "ignore")
    code, printed, errors = run("predict", "release", "new.csv", *options, "--proba", "--out", out)
    assert (code, errors) == (0, "")
    assert printed.startswith(
        f"predicted: all 5 rows, 2 of them without some attribute   new.csv, by release -> {out}\n"
        "  !   age           2 rows have values that the release does not know, the first (null)\n"
        "  !   job           1 row has a value that the release does not know, the first pope\n"
        "  !   partly known  2 of 5 rows: decided without the attributes named here, 1 of them without any, "
        "by the class counts alone\n"
        "  ok  release       every check of release holds\n"
    )
    assert (
        "- Where an attribute is left out, the class is that of the published classifier without it."
        in printed
    )
    expected = made.predict("new.csv", domains=DOMAIN, unseen="ignore").tolist()
    posteriors = made.predict_proba("new.csv", domains=DOMAIN, unseen="ignore").tolist()
    if out == "out.csv":
        rows = [[row[4], [float(cell) for cell in row[5:7]], row[7]] for row in read(out)[1:]]
    else:
        listed = parquet.read_table(out).to_pylist()
        rows = [[row["ill"], [row["p_no"], row["p_yes"]], row["unseen"]] for row in listed]
    unseen = ["", "age", "", "age; job", ""]
    assert rows == [[*row] for row in zip(expected, posteriors, unseen, strict=True)]
    prior = max(range(2), key=lambda c: (made.views.class_counts[c], c))
    assert expected[3] == made.views.classes[prior]

    document = found("predict", "release", "new.csv", *options)
    assert (document["rows"], document["with_class"], document["without_class"]) == (5, 5, 0)
    assert (document["with_attributes_left_out"], document["by_class_counts_alone"]) == (2, 1)
    assert [row["class"] for row in document["first"]] == expected
    assert [row["unseen"] for row in document["first"]] == unseen
    assert [row["points"] is None for row in document["first"]] == [bool(names) for names in unseen]
    assert [row["probability"] for row in document["first"]] == [max(both) for both in posteriors]
    assert sum(entry["rows"] for entry in document["classes"]) == 5
    _, printed, _ = run("predict", "release", "new.csv", *options)
    line = next(line for line in printed.splitlines() if line.startswith("  4 "))
    assert line.split() == ["4", expected[3], f"{max(posteriors[3]):.1%}", "age;", "job"]


def test_one_row_with_a_class_is_counted_with_what_is_left_out(run, made, found):
    label = made.predict({"age": [None], "job": ["smith"]}, domains=DOMAIN, unseen="ignore")[0]
    Path("one.csv").write_text(f"age,job,ill\n,smith,{label}\n", encoding="utf-8")
    options = (*DECLARED, "--unseen", "ignore")
    assert run("predict", "release", "one.csv", *options)[1].startswith(
        "predicted: the row, without some attribute   one.csv, by release\n"
    )
    found = found("predict", "release", "one.csv", *options)
    assert (found["accuracy"]["rows"], found["accuracy"]["right"]) == (1, 1)


def test_a_parquet_file_keeps_its_types(run, made):
    table = pa.table(
        {
            "age": pa.array([16, None, 99], pa.int16()),
            "when": pa.array([1, 2, 3], pa.date32()),
            "job": pa.array(["cook", "cook", ""]),
            "many": pa.array([[1], [], None]),
        }
    )
    parquet.write_table(table, "rows.parquet", row_group_size=2)
    code, _, errors = run(
        "predict", "release", "rows.parquet", *DECLARED, "--unseen", "null", "--out", "out.parquet"
    )
    assert (code, errors) == (0, "")
    written = parquet.read_table("out.parquet")
    assert written.select(table.column_names).equals(table)
    assert [row["unseen"] for row in written.to_pylist()] == ["", "age", "job"]
    code, _, errors = run(
        "predict", "release", "rows.parquet", *DECLARED, "--unseen", "null", "--out", "out.csv"
    )
    assert (code, "nbcfast: column 'many': list" in errors, "is no CSV field" in errors) == (2, True, True)
    parquet.write_table(table.drop_columns(["many"]), "plain.parquet")
    run("predict", "release", "plain.parquet", *DECLARED, "--unseen", "null", "--out", "out.csv")
    assert read("out.csv")[1:] == [
        ["16", "1970-01-02", "cook", made.predict({"age": [16], "job": ["heads"]})[0], ""],
        ["", "1970-01-03", "cook", "", "age"],
        ["99", "1970-01-04", "", "", "job"],
    ]


def test_unknown_values_are_counted_and_nothing_is_written(run, made, tmp_path):
    code, printed, errors = run("predict", "release", "new.csv", *DECLARED, "--out", "out.csv")
    assert (code, printed) == (2, "")
    first, second, *_ = errors.split("; ")
    assert first == "nbcfast: column 'age': value None is unknown to the release, as are those of 1 more row"
    assert second == "column 'job': value 'pope' is unknown to the release"
    assert errors.endswith(
        "; --unseen ignore leaves the attribute out of such rows, --unseen null gives them no class\n"
    )
    assert not (tmp_path / "out.csv").exists()
    code, _, errors = run("predict", "release", "known.csv")
    assert code == 2
    assert "give --domain, --bin, --group or --menu as it was published" in errors


def test_without_out_the_first_rows_are_shown(run, made, found):
    code, printed, errors = run("predict", "release", "new.csv", *DECLARED, "--unseen", "null")
    assert (code, errors) == (0, "")
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("row"))
    assert lines[start].split() == ["row", "ill", "points", "probability", "unseen"]
    card = made.scorecard()
    points = card.totals([0, card.attributes[1][1].index("heads")])[0]
    assert lines[start + 2].split()[:3] == [
        "1",
        made.predict({"age": [16], "job": ["heads"]})[0],
        str(points),
    ]
    assert lines[start + 3].split() == ["2", "no", "class", "age"]
    assert f"Points: {card.rule}." in printed
    document = found("predict", "release", "new.csv", *DECLARED, "--unseen", "null")
    assert (document["rows"], document["with_class"], document["without_class"]) == (5, 3, 2)
    assert document["unseen"] == [
        {"attribute": "age", "rows": 2, "first": None},
        {"attribute": "job", "rows": 1, "first": "pope"},
    ]
    assert [row["class"] for row in document["first"]] == made.predict(
        "new.csv", domains=DOMAIN, unseen="null"
    ).tolist()
    assert document["first"][1]["points"] is None
    assert sum(entry["rows"] for entry in document["classes"]) == 3
    many = "age,job\n" + "16,cook\n" * 5000
    Path("many.csv").write_text(many, encoding="utf-8")
    _, printed, _ = run("predict", "release", "many.csv", *DECLARED)
    assert "4,990 more rows are not shown: write all of them to a file." in printed
    assert "     nbcfast predict release many.csv --domain domain.json --out predicted.csv\n" in printed


def test_nothing_is_predicted_from_a_folder_that_does_not_verify(run, made, tmp_path):
    certificate = tmp_path / "release" / "certificate.json"
    text = certificate.read_text(encoding="utf-8")
    certificate.write_text(
        text.replace('"rows"', '"rowz"', 1) if '"rows"' in text else text.replace("yes", "yez", 1)
    )
    code, printed, errors = run("predict", "release", "known.csv", *DECLARED, "--out", "out.csv")
    assert (code, printed) == (1, "")
    assert errors.endswith("nbcfast: nothing is predicted: release does not verify\n")
    assert not (tmp_path / "out.csv").exists()
    code, printed, errors = run("points", "release")
    assert (code, printed) == (1, "")
    assert errors.endswith("nbcfast: no points are printed: release does not verify\n")


def test_names_that_are_taken(run, made):
    Path("truth.csv").write_text("age,job,ill\n16,cook,no\n", encoding="utf-8")
    code, _, errors = run("predict", "release", "truth.csv", *DECLARED, "--out", "out.csv")
    assert (code, errors) == (
        2,
        "nbcfast: truth.csv has a column 'ill' already: --name gives the predicted class another: "
        "nbcfast predict release truth.csv --out out.csv --domain domain.json --name predicted\n",
    )
    assert (
        run("predict", "release", "truth.csv", *DECLARED)[0] == 0
    )  # where nothing is written, nothing clashes
    code, _, _ = run("predict", "release", "truth.csv", *DECLARED, "--out", "out.csv", "--name", "predicted")
    assert code == 0
    assert read("out.csv")[0] == ["age", "job", "ill", "predicted"]
    Path("taken.csv").write_text("age,job,p_no,unseen\n16,cook,1,\n", encoding="utf-8")
    code, _, errors = run("predict", "release", "taken.csv", *DECLARED, "--proba", "--out", "x.csv")
    assert (code, "a column 'p_no' would be added, and there is one already" in errors) == (2, True)
    code, _, errors = run("predict", "release", "taken.csv", *DECLARED, "--unseen", "null", "--out", "x.csv")
    assert (code, "a column 'unseen' would be added" in errors) == (2, True)
    code, _, errors = run("predict", "release", "known.csv", *DECLARED, "--name", "", "--out", "x.csv")
    assert (code, "--name must be the name of a column" in errors) == (2, True)


def test_a_file_with_the_true_class_says_how_many_are_right(run, made, found):
    rows = [
        (16, "cook", "no"),
        (99, "smith", "yes"),
        (31, "smith", "no"),
        (99, "smith", "ill"),
        (5, "cook", ""),
    ]
    text = "".join(f"{age},{job},{ill}\n" for age, job, ill in [*rows, (200, "cook", "no")])
    Path("truth.csv").write_text(f"age,job,ill\n{text}", encoding="utf-8")
    given = made.predict({"age": [16, 99, 31], "job": ["cook", "smith", "smith"]}, domains=DOMAIN).tolist()
    right = sum(one == row[2] for one, row in zip(given, rows, strict=False))
    options = (*DECLARED, "--unseen", "null")
    document = found("predict", "release", "truth.csv", *options)
    assert document["accuracy"] == {
        "column": "ill",
        "rows": 3,
        "right": right,
        "share": right / 3,
        "most_frequent": 2,
        "other_values": 1,
    }
    share = {1: "33.3%", 2: "66.6%", 3: "100.0%"}[right]
    code, printed, _ = run("predict", "release", "truth.csv", *options)
    assert code == 0
    said = f"right for {share} of 3 rows that have their class ({right}); the most frequent class alone"
    assert f"{said}: 66.6% (2)\n" in printed  # of equal numbers never two roundings
    assert ("  !   one answer " in printed) is (right <= 2)
    assert "1 row has a value in ill that is no class of the release, the first ill\n" in printed
    code, printed, _ = run(
        "predict", "release", "truth.csv", *options, "--out", "o.csv", "--name", "predicted"
    )
    assert (code, said in printed) == (0, True)
    Path("truth.csv").write_text("age,job,ill\n16,cook,\n", encoding="utf-8")
    code, printed, _ = run("predict", "release", "truth.csv", *options)
    assert (code, "no row has both an answer and its class in ill" in printed) == (0, True)
    assert found("predict", "release", "known.csv", *DECLARED)["accuracy"] is None


def test_texts_that_may_be_nulls_have_the_option_that_reads_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"job": ["a", None, "b", "a"] * 3, "ill": ["n", "y", "y", "n", "n", "n"] * 2}
    canonical.release(nbcfast.count(nbcfast.Table(rows), "ill"), 4, class_name="ill").save("release")
    Path("new.csv").write_text("job\na\n?\n", encoding="utf-8")
    code, _, errors = run("predict", "release", "new.csv")
    assert code == 2
    assert (
        "; if '?' says that a value is missing, give --null '' --null '?'; --unseen ignore leaves" in errors
    )
    assert "sets of values" not in errors
    code, printed, _ = run("predict", "release", "new.csv", "--unseen", "null")
    assert code == 0
    assert "  1  If '?' says that a value is missing, give --null '' --null '?'.\n" in printed
    assert "     nbcfast predict release new.csv --unseen null --null '' --null '?'\n" in printed
    assert run("predict", "release", "new.csv", "--null", "", "--null", "?")[0] == 0
    Path("new.csv").write_text("job\nz\n?\n", encoding="utf-8")
    errors = run("predict", "release", "new.csv")[2]
    assert "give --null '' --null '?'; the release may have been made with sets of values" in errors
    rows["job"] = ["a", "c", "b", "a"] * 3
    canonical.release(nbcfast.count(nbcfast.Table(rows), "ill"), 4, class_name="ill").save("other")
    Path("new.csv").write_text("job\na\n?\n", encoding="utf-8")
    errors = run("predict", "other", "new.csv")[2]
    assert "'?' may say that a value is missing, and null was not published as a value" in errors


def test_what_is_there_or_read_is_not_replaced(run, made, tmp_path):
    Path("out.csv").write_text("mine", encoding="utf-8")
    code, _, errors = run("predict", "release", "known.csv", *DECLARED, "--out", "out.csv")
    assert (code, "exists; --overwrite replaces it" in errors) == (2, True)
    assert Path("out.csv").read_text(encoding="utf-8") == "mine"
    assert run("predict", "release", "known.csv", *DECLARED, "--out", "out.csv", "--overwrite")[0] == 0
    for arguments, said in (
        (
            ("known.csv", "--out", "known.csv", "--overwrite"),
            "must not write over 'known.csv', which is read",
        ),
        (
            ("known.csv", "--out", "release/out.csv"),
            "--out must not be in 'release': its certificate does not cover that file",
        ),
        (
            ("known.csv", "--out", "out.txt"),
            "--out must end in .parquet, .pq, .csv or .csv.gz, got 'out.txt'",
        ),
        (("known.csv", "--weights", "age"), "--weights and --text say nothing here"),
        (("absent.csv",), "absent.csv: No such file or directory"),
        (("new.csv", "--null", "x", "--delimiter", ";"), "has no column 'age'"),
    ):
        code, _, errors = run("predict", "release", *arguments)
        assert (code, said in errors) == (2, True), errors


def test_columns_in_another_form(run, made):
    Path("other.csv").write_text("job;age\ncook;16\n?;17\n", encoding="latin-1")
    code, _, errors = run(
        "predict",
        "release",
        "other.csv",
        *DECLARED,
        "--delimiter",
        ";",
        "--null",
        "?",
        "--unseen",
        "null",
        "--out",
        "out.csv",
    )
    assert (code, errors) == (0, "")
    label = made.predict({"age": [16], "job": ["heads"]})[0]
    assert Path("out.csv").read_text(encoding="utf-8") == f"job;age;ill;unseen\ncook;16;{label};\n?;17;;job\n"


def test_no_rows(run, made):
    Path("none.csv").write_text("age,job\n", encoding="utf-8")
    code, printed, errors = run("predict", "release", "none.csv", *DECLARED, "--out", "out.csv")
    assert (code, errors) == (0, "")
    assert printed.startswith("nothing to predict: the file has no rows   none.csv, by release -> out.csv")
    assert read("out.csv") == [["age", "job", "ill"]]


def test_blocks_give_the_file_that_one_gives(run, made, monkeypatch):
    rng = random.Random(4)
    with open("big.csv", "w", encoding="utf-8") as file:
        file.write("id,age,job\n")
        file.writelines(
            f"{n},{rng.choice([5, '', 31.5, 'x'])},{rng.choice(['cook', 'pope'])}\n" for n in range(4000)
        )
    run("predict", "release", "big.csv", *DECLARED, "--unseen", "null", "--proba", "--out", "whole.csv")
    monkeypatch.setattr("nbcfast._reading.row_blocks.BATCH_BYTES", 1 << 10)
    run("predict", "release", "big.csv", *DECLARED, "--unseen", "null", "--proba", "--out", "parts.csv")
    assert Path("whole.csv").read_text(encoding="utf-8") == Path("parts.csv").read_text(encoding="utf-8")
    code, _, errors = run("predict", "release", "big.csv", *DECLARED)
    assert code == 2
    n = sum(row[2] == "pope" for row in read("big.csv"))
    assert (
        f"column 'job': value 'pope' is unknown to the release, as are those of {n - 1:,} more rows" in errors
    )


def test_each_stratum_predicts_its_rows(run, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {
        "sex": ["f", "m"] * 10,
        "age": list(range(0, 100, 5)),
        "ill": ["no", "yes", "yes", "no", "no"] * 4,
    }
    table = declared({"age": {"edges": [0, 30, 60, 150]}}).applied(nbcfast.Table(rows))
    made = canonical.release_by(table, "ill", "sex", 4)
    made.save("strata")
    Path("new.csv").write_text("age,sex\n12,f\n70,m\n3,x\n", encoding="utf-8")
    document = found("predict", "strata", "new.csv", "--unseen", "null")
    assert [row["class"] for row in document["first"]] == [
        *made.predict({"age": [12, 70], "sex": ["f", "m"]}),
        None,
    ]
    for row, value, age in zip(document["first"], "fm", (12, 70), strict=False):
        card = made.strata[value].scorecard()
        place = next(i for i, one in enumerate(card.attributes[0][1]) if age in one)
        assert row["points"] == card.totals([place])[0]
    assert run("predict", "strata", "new.csv")[0] == 2
    code, _, errors = run("predict", "strata", "new.csv", "--unseen", "ignore", "--out", "out.csv")
    assert (code, Path("out.csv").exists()) == (2, False)
    assert "value 'x' has no release; there are releases of 'f' and 'm'; what selects the release" in errors
    Path("new.csv").write_text("age,sex\n12,f\n700,m\n", encoding="utf-8")
    document = found("predict", "strata", "new.csv", "--unseen", "ignore")
    given = {"age": [12, 700], "sex": ["f", "m"]}
    assert [row["class"] for row in document["first"]] == made.predict(given, unseen="ignore").tolist()
    assert (document["with_attributes_left_out"], document["by_class_counts_alone"]) == (1, 1)


def test_what_no_file_can_hold_is_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    views = nbcfast.Viewset(
        [5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"], domains={"job": ["a", "b"]}
    )
    canonical.release(views, 4).save("release")
    Path("rows.csv").write_text("job\na\nb\n", encoding="utf-8")
    code, _, errors = run("predict", "release", "rows.csv", "--name", "said\udcff", "--out", "out.csv")
    assert (code, errors.count("\n")) == (2, 1)
    assert r"a text has a character that cannot be written in utf-8: 'said\udcff'" in errors
    assert not Path("out.csv").exists()
    code, _, errors = run("export", "release", "--name", "said\udcff", "--out", "rule.py")
    assert (code, "half a surrogate pair cannot be written" in errors, Path("rule.py").exists()) == (
        2,
        True,
        False,
    )
