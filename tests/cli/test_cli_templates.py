"""`nbcfast disclose` and `nbcfast check`."""

import json
import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest

import nbcfast
from nbcfast.templates import Template, disclose, distinct_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TABLE_1 = """Job,Country,Child,Bankruptcy,Rating,n
Cook,US,No,Current,Bad,4
Artist,France,No,Current,Good,1
Artist,France,No,Current,Bad,3
Doctor,US,Yes,Never,Good,4
Doctor,US,Yes,Never,Bad,2
Trader,UK,No,Discharged,Good,4
Trader,UK,No,Never,Good,1
Trader,Canada,No,Never,Good,1
Clerk,Canada,No,Never,Good,3
Clerk,Canada,No,Discharged,Good,1
"""
TEMPLATE = "Job,Country -> Bankruptcy=Discharged <= 75%"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TABLE_1, encoding="utf-8")
    return path


def test_check_is_a_gate(run, file):
    code, out, err = run("templates", "check", file, "--weights", "n", "--template", TEMPLATE)
    assert (code, err) == (1, "")
    assert "Job=Trader, Country=UK" in out
    assert "80.00%" in out
    assert "1 inference is too confident" in out
    code, out, err = run(
        "templates", "check", file, "--weights", "n", "--template", TEMPLATE.replace("75%", "4/5")
    )
    assert (code, err) == (0, "")
    assert "all templates hold" in out


def test_check_says_the_same_as_json(run, file):
    code, out, _ = run("templates", "check", file, "--weights", "n", "--template", TEMPLATE, "--json")
    assert code == 1
    (found,) = json.loads(out)["violations"]
    assert found["known"] == {"Job": "Trader", "Country": "UK"}
    assert (found["support"], found["count"], found["confidence"]) == (5, 4, "4/5")
    code, out, _ = run(
        "templates",
        "check",
        file,
        "--weights",
        "n",
        "--template",
        "Job -> Bankruptcy=Discharged <= 0.8",
        "--json",
    )
    assert (code, json.loads(out)["holds"]) == (0, True)


def test_check_names_only_the_worst(in_full, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,s\n" + "".join(f"{i},{i % 2}\n" for i in range(60)), encoding="utf-8")
    code, out, _ = in_full("templates", "check", path, "--template", "a -> s=1 <= 0.5")
    assert code == 1
    assert "and 10 more" in out
    assert "30 inferences are too confident" in out


def test_disclose_says_what_is_suppressed_and_why(in_full, file, tmp_path):
    out = tmp_path / "out"
    arguments = ("--weights", "n", "--template", TEMPLATE, "--target", "Rating", "--out", out)
    code, text, err = in_full("templates", "disclose", file, *arguments)
    assert (code, err) == (0, "")
    assert "Clerk, Trader   of no use for the target" in text
    assert "Canada, UK" in text
    assert "Job, Country -> Bankruptcy=Discharged would exceed 75%" in text
    assert "50.00% (1/2)" in text
    assert "Child, Bankruptcy, Rating" in text
    assert in_full("verify", out)[0] == 0
    assert (
        in_full(
            "templates",
            "check",
            out / "table.csv",
            "--template",
            "Job,Country -> Bankruptcy=Discharged <= 1/2",
        )[0]
        == 0
    )
    assert (
        in_full(
            "templates",
            "check",
            out / "table.csv",
            "--template",
            "Job,Country -> Bankruptcy=Discharged <= 49%",
        )[0]
        == 1
    )
    code, text, _ = in_full("verify", out)
    assert "Job, Country -> Bankruptcy='Discharged': 1/2 <= 3/4" in text
    assert "kind 'disclosure' is checked from its own files" in in_full("verify", out, "--against", file)[2]
    with (out / "table.csv").open("a", encoding="utf-8") as table:
        table.write("\n")
    assert in_full("verify", out)[0] == 1


def test_disclose_as_json(run, file):
    code, out, err = run(
        "templates",
        "disclose",
        file,
        "--weights",
        "n",
        "--template",
        TEMPLATE,
        "--target",
        "Rating",
        "--json",
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [step["value"] for step in found["steps"]] == ["Cook", "Artist", "Doctor", "US", "France"]
    assert found["suppressed"] == {"Job": ["Clerk", "Trader"], "Country": ["Canada", "UK"]}
    assert found["templates"][0]["confidence"] == "1/2"
    assert found["files"] == []


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_disclose_writes_a_table_alone(in_full, file, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    for counts in ((), ("--counts", "people", "--overwrite")):
        arguments = ("--weights", "n", "--template", TEMPLATE, "--target", "Rating", "--out", out, *counts)
        code, printed, _ = in_full("templates", "disclose", file, *arguments)
        assert (code, "No certificate: only a folder gets one." in printed) == (0, True)
        read = nbcfast.read_csv if ending == ".csv" else nbcfast.read_parquet
        table = read(out, weights="people") if counts else read(out)
        assert table.n_rows == (7 if counts else 24)
        assert table.domain("Job") == ("*", "Artist", "Cook", "Doctor")


def test_disclose_without_target_keeps_values(run, file):
    arguments = ("--weights", "n", "--template", TEMPLATE, "--template", "Child -> Bankruptcy=Never <= 100%")
    code, out, _ = run("templates", "disclose", file, *arguments, "--maximal", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["steps"][0]["gain"] == 18.0
    assert found["suppressed"]["Child"] == []


def test_disclose_with_intervals(in_full, tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("age,ill,y\n20,no,a\n30,no,a\n40,yes,b\n50,no,b\n", encoding="utf-8")
    code, out, _ = in_full(
        "templates",
        "disclose",
        path,
        "--template",
        "age -> ill=yes <= 50%",
        "--target",
        "y",
        "--continuous",
        "age",
    )
    assert code == 0
    assert "in 2 intervals: (-inf, 40), [40, inf)" in out


def test_disclose_where_nothing_helps(run, file):
    arguments = ("--weights", "n", "--template", TEMPLATE.replace("75%", "20%"), "--target", "Rating")
    code, out, err = run("templates", "disclose", file, *arguments)
    assert (code, err) == (1, "")
    assert "even with everything suppressed 1 of 1 templates break" in out
    assert "has 5/24" in out
    code, out, _ = run("templates", "disclose", file, *arguments, "--json")
    assert (code, json.loads(out)["feasible"]) == (1, False)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Job -> Bankruptcy=Discharged", "--template must be"),
        ("Job, Bankruptcy=Discharged <= 1", "--template must be"),
        ("Job -> Bankruptcy=Often <= 1", "'Often' is none of its 3 values"),
        ("Job -> Town=Rome <= 1", "with NAME one of Job, Country"),
        ("Town -> Bankruptcy=Never <= 1", "expected columns of 'Job', "),
        ("Job -> Bankruptcy=Never <= 101%", "the limit must be 0 to 1, or 0% to 100%, got 101%"),
        ("Job -> Bankruptcy=Never <= much", "must be a finite number, got 'much'"),
        ("Bankruptcy -> Bankruptcy=Never <= 1", "what is known must not hold the sensitive column"),
        (" -> Bankruptcy=Never <= 1", "must be names with commas between them"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "disclose"])
def test_bad_templates_are_refused(refused, file, verb, template, text):
    assert text in refused(verb, file, "--weights", "n", "--template", template)


def test_bad_options_are_refused(refused, file, tmp_path):
    template = ("--weights", "n", "--template", TEMPLATE)
    assert "--counts goes with --out" in refused("templates", "disclose", file, *template, "--counts", "n")
    assert "needs --target NAME" in refused(
        "templates", "disclose", file, *template, "--utility", "information"
    )
    assert "--out must be a folder" in refused(
        "templates", "disclose", file, *template, "--out", _existing(tmp_path / "file")
    )
    (tmp_path / "dir.csv").mkdir()
    assert "--out must be a file" in refused(
        "templates", "disclose", file, *template, "--out", tmp_path / "dir.csv"
    )
    assert "FILE must end in" in refused("templates", "check", tmp_path / "x.xls", "--template", TEMPLATE)
    assert "--delimiter must be one character" in refused(
        "templates", "check", file, *template, "--delimiter", ";;"
    )
    assert "are for CSV files" in refused(
        "templates", "check", tmp_path / "x.pq", *template, "--delimiter", ";"
    )
    assert "which is used otherwise" in refused(
        "templates", "disclose", file, *template, "--columns", "Job,n"
    )
    empty = tmp_path / "empty.csv"
    empty.write_text("Job,Country,Bankruptcy\n", encoding="utf-8")
    assert "no rows" in refused("templates", "check", empty, "--template", TEMPLATE)


def test_attack_says_that_a_disclosure_is_no_release(run, refused, file, tmp_path):
    out = tmp_path / "out"
    run(
        "templates",
        "disclose",
        file,
        "--weights",
        "n",
        "--template",
        TEMPLATE,
        "--target",
        "Rating",
        "--out",
        out,
    )
    assert "expected a release of `publish`, got a Disclosure" in refused("attack", out)


def _existing(path):
    path.write_text("", encoding="utf-8")
    return path


PRIVATE = ("--weights", "n", "--template", TEMPLATE, "--target", "Rating")


def test_out_does_not_replace_what_is_read(refused, file, tmp_path):
    before = file.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(file)
    held = tmp_path / "held.csv"
    held.write_bytes(before)
    for out in (file, link):
        assert f"--out must not write over {str(file)!r}, which is read" in refused(
            "templates", "disclose", file, *PRIVATE, "--out", out
        )
    assert "which is read" in refused(
        "templates", "disclose", file, *PRIVATE, "--holdout", held, "--out", held
    )
    folder = tmp_path / "folder"
    folder.mkdir()
    inside = folder / "table.csv"
    inside.write_bytes(before)
    assert "which is read" in refused("templates", "disclose", inside, *PRIVATE, "--out", folder)
    assert (file.read_bytes(), held.read_bytes(), inside.read_bytes()) == (before, before, before)
    assert sorted(path.name for path in folder.iterdir()) == ["table.csv"]


@pytest.mark.parametrize("out", ["", "people.tsv", "x.txt", "x.csv.gz", "nodir/x.csv"])
def test_out_is_a_folder_or_a_csv_or_parquet_file(refused, file, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    said = refused("templates", "disclose", file, *PRIVATE, "--out", out)
    wanted = (
        "there is no folder 'nodir'" if out.startswith("nodir") else "must be a folder, or a .csv or .parquet"
    )
    assert wanted in said
    said = refused(
        "skyline", "anonymize", file, "--by", "Job", "--sensitive", "Bankruptcy", "--k", 2, "--out", out
    )
    assert wanted in said
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_disclose_says_what_a_definetti_attack_guesses(in_full, refused, file, tmp_path):
    assert "expected people who are not in FILE" in refused(
        "templates", "disclose", file, *PRIVATE, "--holdout", file
    )
    others = tmp_path / "others.csv"
    others.write_bytes(file.read_bytes())
    code, text, _ = in_full("templates", "disclose", file, *PRIVATE, "--holdout", others)
    assert code == 0
    assert "deFinetti on Bankruptcy" in text
    assert "so being in FILE costs" in text
    found = json.loads(in_full("templates", "disclose", file, *PRIVATE, "--json")[1])["definetti"][
        "Bankruptcy"
    ]
    assert 0 < found["baseline"] <= found["accuracy"] <= 1
    assert found["held_out"] is None
    assert "deFinetti" not in in_full("templates", "disclose", file, *PRIVATE, "--no-attack")[1]
    assert (
        json.loads(in_full("templates", "disclose", file, *PRIVATE, "--no-attack", "--json")[1])["definetti"]
        == {}
    )
    other = tmp_path / "other.csv"
    other.write_text("Job,x\nCook,1\n", encoding="utf-8")
    assert "--holdout" in refused(
        "templates", "disclose", file, *PRIVATE, "--holdout", other, "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_disclose_names_options_and_confidences(run, refused, file):
    assert "--counts: expected the name of a new column, got ''" in refused(
        "templates", "disclose", file, *PRIVATE, "--out", file.parent / "o", "--counts", ""
    )
    assert "--counts: expected the name of a new column, got 'Job'" in refused(
        "templates", "disclose", file, *PRIVATE, "--out", file.parent / "o", "--counts", "Job"
    )
    assert "--continuous must be names" in refused(
        "templates", "disclose", file, *PRIVATE, "--continuous", ""
    )
    spaced = TEMPLATE.replace("=Discharged", " = Discharged")
    assert run("templates", "check", file, "--weights", "n", "--template", spaced)[0] == 1
    low = TEMPLATE.replace("75%", "20%")
    found = json.loads(run("templates", "disclose", file, "--weights", "n", "--template", low, "--json")[1])
    assert list(found["confidences"].values()) == ["5/24"]


def test_disclosing_again_without_parquet_leaves_none(run, file, tmp_path):
    made = disclose(
        nbcfast.read_csv(file, weights="n"),
        [Template(["Job", "Country"], ("Bankruptcy", "Discharged"), 1)],
        "Rating",
    )
    made.save(tmp_path / "out", parquet=True)
    assert run("templates", "disclose", file, *PRIVATE, "--out", tmp_path / "out", "--overwrite")[0] == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["certificate.json", "table.csv"]


@pytest.mark.parametrize("moment", ["reading", "counting", 0, 1, 5, "writing", None])
def test_ctrl_c_while_disclosing_writes_a_table_that_holds(run, tmp_path, monkeypatch, moment):
    """A real signal. As soon as there is a table it is written; before that, or amid writing, none is."""
    file, out = tmp_path / "many.csv", tmp_path / "out"
    rng = np.random.default_rng(1)
    rows = zip(rng.integers(0, 200, 2000), rng.integers(0, 9, 2000), rng.integers(0, 20, 2000), strict=True)
    file.write_text("zip,b,s\n" + "".join(f"{one},{two},{three}\n" for one, two, three in rows))
    places = {
        "reading": (nbcfast, "read_csv"),
        "counting": (distinct_rows._disclose, "distinct"),
        "writing": (os, "fsync"),
    }
    pressed, steps = [], []

    def press():
        pressed.append(moment)
        signal.raise_signal(signal.SIGINT)

    @contextmanager
    def progress(what):
        def report(done, total):
            steps.append(done)
            if done == moment:
                press()

        yield report

    monkeypatch.setattr("nbcfast.cli.disclose_verb.progress", progress)
    if moment in places:
        monkeypatch.setattr(*places[moment], lambda *_, **__: press())
    command = ["templates", "disclose", file, "--out", out, "--no-attack"]
    for value in range(20):
        command += ["--template", f"zip,b -> s={value} <= 60%"]
    code, printed, err = run(*command)
    assert pressed == ([] if moment is None else [moment])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.csv", *(["out"] if code == 0 else [])]
    if moment in places:
        assert (code, printed, err) == (130, "", "nbcfast: stopped; nothing was written\n")
    else:
        assert (code, err) == (0, "")
        assert nbcfast.verify(out).ok
        assert steps[-1] == moment if moment is not None else steps[-1] > 5
        assert ("stopped" in printed) == (moment is not None)


def test_a_column_that_names_people_is_pointed_out(in_full, tmp_path):
    file = tmp_path / "people.csv"
    lines = [f"p{number},{'ab'[number % 2]},{'xyz'[number % 3]}" for number in range(60)]
    file.write_text("\n".join(["who,job,ill", *lines]), encoding="utf-8")
    code, out, _ = in_full("templates", "disclose", file, "--template", "job -> ill=x <= 50%", "--no-attack")
    assert code == 0
    assert "who has 60 values in 60 rows, and is published as it is: leave it out with --columns" in out
    code, out, _ = in_full(
        "templates",
        "disclose",
        file,
        "--template",
        "job -> ill=x <= 50%",
        "--no-attack",
        "--columns",
        "job,ill",
    )
    assert (code, "leave it out" in out) == (0, False)


def test_disclose_says_that_nothing_was_written(in_full, file, tmp_path):
    options = ("--weights", "n", "--template", TEMPLATE, "--no-attack")
    code, out, _ = in_full("templates", "disclose", file, *options)
    assert code == 0
    assert "nothing was written: --out DIR writes the table and its certificate" in out.splitlines()[0]
    code, out, _ = in_full("templates", "disclose", file, *options, "--out", tmp_path / "made")
    assert (code, "nothing was written" in out) == (0, False)


@pytest.mark.parametrize("rows", [3, 5, 20])
def test_disclose_names_a_column_that_names_the_people_of_a_small_table(in_full, tmp_path, rows):
    path = tmp_path / "small.csv"
    path.write_text("who,land,ill\n" + "".join(f"p{i},US,{i % 2}\n" for i in range(rows)), encoding="utf-8")
    arguments = ("templates", "disclose", path, "--template", "land -> ill=1 <= 90%", "--no-attack")
    _, out, _ = in_full(*arguments)
    assert f"who has {rows} values in {rows} rows, and is published as it is" in out
    assert "land has" not in out
    # Of each of two people with the same value nothing is named by it.
    lines = path.read_text(encoding="utf-8")
    path.write_text(lines + "".join(f"p{i},US,{i % 2}\n" for i in range(rows)), encoding="utf-8")
    assert "who has" not in in_full(*arguments)[1]
