"""`nbcfast export`: the verdict first, nothing of a folder that does not verify, and nothing half."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import nbcfast
from nbcfast import canonical
from nbcfast.cli import export_verb
from nbcfast.exports import exporting
from nbcfast.exports.formats import FORMATS

pytest.importorskip("pyarrow")
pytest.importorskip("onnx")

SLOW = (".pmml", ".xlsx")  # to load
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SETS = {"glucose": {"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}}}


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The folder of a release of sets, in the current folder."""
    monkeypatch.chdir(tmp_path)
    table = nbcfast.read_csv(EXAMPLES / "patients.csv").select(["glucose", "relatives", "diagnosis"])
    Path("menu.json").write_text(json.dumps({"glucose": [SETS["glucose"]], "relatives": [[0, 1, 2, 3]]}))
    made = nbcfast.publish(table, "diagnosis", 4, menu="menu.json", accept_answers=True)
    made.release.save("release")
    Path("sets.json").write_text(json.dumps(SETS))
    return made.release


@pytest.mark.parametrize("ending", FORMATS)
def test_the_verdict_comes_first(release, run, found, ending, monkeypatch):
    if ending in SLOW:  # compared by tests/exports
        page = FORMATS[".html"]
        quick = FORMATS[ending]._replace(
            runtime=page.runtime,
            decides=lambda _, points, about, codes: page.decides(
                page.content(points, about), points, about, codes
            ),
        )
        monkeypatch.setattr(exporting, "FORMATS", {**FORMATS, ending: quick})
    elif FORMATS[ending].runtime() is None:
        pytest.skip(f"needs {FORMATS[ending].loads}")
    code, out, err = run("export", "release", "--out", f"rule{ending}")
    assert (code, err) == (0, "")
    verdict, about = out.splitlines()[0].split("   ")
    assert verdict.startswith("exported: same class on all 8 tuples (")
    assert verdict.endswith("), and it takes published values alone")
    assert "\n  !   raw rows        the file takes published values alone, and those of glucose may be" in out
    assert about == f"release -> rule{ending}"
    assert "  ok  same decisions  " in out
    assert f"\nwritten  rule{ending} ({Path(f'rule{ending}').stat().st_size:,} bytes)\n" in out
    assert "What to do\n  1  " in out
    said = found("export", "release", "--out", "again.txt", "--to", ending[1:])
    assert (said["format"], said["identical"], said["verdict"]) == (ending[1:], True, "verified")
    assert said["text"] == said["summary"]["verdict"] == verdict
    assert said["sha256"] == json.loads(Path("release/certificate.json").read_text())["sha256"]
    assert Path("again.txt").read_bytes() == Path(f"rule{ending}").read_bytes()


@pytest.mark.parametrize("options", [["--domain", "sets.json"], ["--menu", "menu.json"]])
def test_raw_values_in_the_place_of_sets(release, run, options):
    code, out, err = run("export", "release", "--out", "raw.sql")
    assert (
        "  2  Give the menu that the domain was chosen from: then the file takes rows as they are.\n" in out
    )
    code, out, err = run("export", "release", "--out", "raw.sql", "--overwrite", *options)
    assert (code, err) == (0, "")
    assert out.startswith("exported: same class on all 16 tuples (")
    assert "Give the" not in out
    assert "raw rows" not in out
    table = nbcfast.read_csv(EXAMPLES / "patients.csv").select(["glucose", "relatives"])
    columns = [[table.domain(name)[code] for code in table.codes(name).tolist()] for name in table.names]
    sets = {raw: name for name, raws in SETS["glucose"]["groups"].items() for raw in raws}
    expected = release.predict({"glucose": [sets[value] for value in columns[0]], "relatives": columns[1]})
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE input (number INTEGER, glucose TEXT, relatives INTEGER)")
        rows = zip(range(table.n_rows), *columns, strict=True)
        connection.executemany("INSERT INTO input VALUES (?, ?, ?)", rows)
        answers = sorted(connection.execute(Path("raw.sql").read_text()).fetchall())
    assert [row[-1] for row in answers] == expected.tolist()


def test_every_format_is_in_the_help_and_has_a_use(run):
    code, out, _ = run("export", "--help")
    words = {
        ".sql": "SQL",
        ".onnx": "ONNX",
        ".pmml": "PMML",
        ".xlsx": "Excel",
        ".csv": "CSV",
        ".html": "HTML",
    }
    assert code == 0
    assert {ending[1:] for ending in FORMATS} == {*export_verb.USES}
    assert [word for word in {**words, ".py": "Python"}.values() if word not in out] == []


def test_values_of_the_rows_are_no_names_of_sets(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    table = {"job": ["a", "b", "b", "a"] * 3, "ill": ["n", "y", "y", "n", "n", "n"] * 2}
    canonical.release(nbcfast.count(nbcfast.Table(table), "ill"), 4, class_name="ill").save("release")
    code, out, err = run("export", "release", "--out", "rule.sql")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].endswith(")   release -> rule.sql")
    assert "raw rows" not in out
    assert "Give the" not in out


def test_a_table_with_the_class_column(release, run):
    options = ["--menu", "menu.json", "--name", "predicted"]
    assert run("export", "release", "--out", "rule.sql", *options)[0] == 0
    query = Path("rule.sql").read_text()
    assert "\n-- the class comes last, in a column 'predicted'\n" in query
    assert "\n-- a table that has a column of this name already gives two of it" in query
    assert "\n-- the order of rows is not kept" in query
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE input (glucose TEXT, relatives INTEGER, diagnosis TEXT)")
        columns = [column[0] for column in connection.execute(query).description]
    assert columns == ["glucose", "relatives", "diagnosis", "predicted"]


def test_a_program_for_tables_with_the_class_column(release, run):
    code, out, _ = run("export", "release", "--out", "rule.sql", "--menu", "menu.json")
    assert code == 0
    assert (
        "  2  Where the table has a column diagnosis already, give the one that is added another name." in out
    )
    assert "     nbcfast export release --out rule.sql --menu menu.json --name predicted --overwrite\n" in out
    options = ["--menu", "menu.json", "--name", "predicted"]
    assert run("export", "release", "--out", "rule.py", *options)[0] == 0
    program = Path("rule.py").read_text()
    assert "\nCLASS = 'diagnosis'\nADDED = 'predicted'\n" in program


def test_another_menu_does_not_verify(release, run):
    Path("menu.json").write_text(json.dumps({"glucose": [["low"]], "relatives": [[0]]}))
    code, out, err = run("export", "release", "--out", "raw.sql", "--menu", "menu.json")
    assert (code, err) == (1, "")
    assert out.startswith("NOT WRITTEN: the release does not verify   release -> raw.sql\n  x  menu  ")


def test_nothing_of_a_folder_that_does_not_verify(release, run):
    path = Path("release/certificate.json")
    path.write_text(path.read_text().replace('"low"', '"law"').replace('"usual"', '"USUAL"'))
    code, out, err = run("export", "release", "--out", "rule.sql")
    assert (code, err) == (1, "")
    assert out.startswith("NOT WRITTEN: the release does not verify   release -> rule.sql\n  x  file  ")
    code, out, _ = run("export", "release", "--out", "rule.sql", "--json")
    assert code == 1
    assert json.loads(out)["failed"][0].startswith("file: ")
    assert not Path("rule.sql").exists()


def test_what_is_not_fully_checked_is_said(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"])
    canonical.release(views, 4, tuples={"job": [0]}).save("release")
    code, out, err = run("export", "release", "--out", "rule.sql")
    assert (code, err) == (0, "")
    assert "  ?   release         release is not fully checked: " in out


def test_written_and_not_compared(release, run, monkeypatch):
    alone = FORMATS[".onnx"]._replace(runtime=lambda: None)
    monkeypatch.setattr(exporting, "FORMATS", {**FORMATS, ".onnx": alone})
    code, out, err = run("export", "release", "--out", "rule.onnx")
    assert (code, err) == (3, "")
    assert out.startswith(
        "written, NOT compared: no onnxruntime here, and it takes published values alone   "
    )
    assert "Install onnxruntime, which loads such a file, and export again" in out
    assert "     nbcfast export release --out rule.onnx --overwrite\n" in out
    assert Path("rule.onnx").exists()


def test_a_file_that_differs_is_no(release, run, monkeypatch):
    wrong = FORMATS[".sql"]._replace(decides=lambda content, points, about, codes: codes[:, 0] * 0)
    monkeypatch.setattr(exporting, "FORMATS", {**FORMATS, ".sql": wrong})
    code, out, err = run("export", "release", "--out", "rule.sql")
    assert (code, out) == (1, "")
    assert "tuples otherwise than the release; for example {" in err
    assert not Path("rule.sql").exists()


def test_a_release_by_strata(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    table = {
        "sex": ["f", "m"] * 6,
        "age": [1, 2, 2, 1] * 3,
        "ill": ["no", "yes", "yes", "no", "no", "no"] * 2,
    }
    canonical.release_by(table, "ill", "sex", 4).save("release")
    code, out, err = run("export", "release", "--out", "rule.py")
    assert (code, err) == (0, "")
    assert out.startswith("exported: same class on all 4 tuples (python")
    assert "\nby     sex\n" in out
    code, out, err = run("export", "release", "--out", "rule.onnx")
    assert (code, out) == (2, "")
    assert "for which .onnx files have no place: export it as one of .sql, .html, .py" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "rule.txt"], "--out: the name must end in one of .sql"),
        (["--out", "rule.sql", "--to", "py"], "--to is 'py', and the name ends in '.sql'"),
        (["--out", "-", "--to", "sql"], "--out - is not taken: what is written is whole or not at all"),
        (["--out", "rule.csv", "--name", "label"], "--name is for SQL and Python, got it with csv"),
        (["--out", "rule.sql", "--name", "GLUCOSE"], "--name must be none of the columns that are read"),
        (["--out", "rule.py", "--name", "glucose"], "--name must be none of the columns that are read"),
        (["--out", "rule.py", "--name", ""], "--name must be none of the columns that are read"),
        (["--out", "rule.py", "--table", "people"], "--table is for SQL, got it with py"),
        (["--out", "release/rule.sql"], "--out must not be in 'release': its certificate does not cover"),
        (["--out", "nowhere/rule.sql"], "--out must be in a folder that exists, got 'nowhere/rule.sql'"),
        (["--out", "rule.sql", "--table", "a..b"], "--table must be a name, or a schema and a name"),
        (["--out", "sets.json", "--to", "sql"], "exists; --overwrite replaces it"),
        (
            ["--out", "a.sql", "--menu", "menu.json", "--domain", "sets.json"],
            "--menu says what all columns are put into",
        ),
    ],
)
def test_what_is_refused(release, refused, arguments, said):
    assert said in refused("export", "release", *arguments)
    assert sorted(path.name for path in Path().iterdir()) == ["menu.json", "release", "sets.json"]


def test_only_releases_are_exported(tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    people = {"job": ["a", "b"] * 6, "ill": ["x", "y"] * 6}
    nbcfast.skyline.anonymize(nbcfast.Table(people), quasi=["job"], sensitive="ill", k=2).save("made")
    assert (
        refused("export", "made", "--out", "a.sql")
        == "export is for releases, and 'made' has kind 'partition'"
    )


def test_a_missing_value_that_is_published_asks_which_text_means_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["a,no", "a,yes", "b,yes", "b,yes", "?,no", "?,no", "?,yes"] * 3
    Path("rows.csv").write_text("\n".join(["job,ill", *rows]) + "\n")
    publish = ["publish", "rows.csv", "--class", "ill", "--null", "?", "--amplification", "4"]
    assert run(*publish, "--accept-answers", "--out", "release")[0] == 0
    code, out, _ = run("export", "release", "--out", "rule.sql", "--table", "people", "--name", "said")
    assert code == 0
    assert (
        "\n  !   missing values  a missing value is one of job, and here that is a real NULL: rows in" in out
    )
    step = "nbcfast export release --out rule.sql --table people --name said --null '?' --overwrite"
    question = "Say which text means missing in your rows, where one does (--null may be repeated)."
    assert f"  2  {question}\n     {step}\n" in out
    code, out, _ = run(*shlex.split(step)[1:])
    assert (code, "missing values" in out) == (0, False)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE people (job, ill)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [row.split(",") for row in rows])
        answers = connection.execute(Path("rule.sql").read_text()).fetchall()
    assert {row[0]: row[-1] for row in answers} == {"a": "yes", "b": "yes", "?": "no"}


def test_a_menu_that_the_certificate_does_not_name_decides_nothing(run, tmp_path, monkeypatch):
    """What nobody has checked no certificate names: the same word of it in every verb, and nobody lied."""
    monkeypatch.chdir(tmp_path)
    menu = {
        "menu": {"glucose": [SETS["glucose"]], "diagnosis": [["healthy", "diabetes"]]},
        "from_rows": ["glucose"],
    }
    Path("menu.json").write_text(json.dumps(menu))
    publish = ["publish", EXAMPLES / "patients.csv", "--class", "diagnosis", "--amplification", "4"]
    code, out, _ = run(*publish, "--menu", "menu.json", "--out", "release", "--accept-answers")
    assert code == 0
    assert "\n  !   the menu " in out
    assert (
        "its options of glucose come from the rows (from_rows): nothing bounds what the choice of the" in out
    )
    unnamed = "the certificate names no menu: nothing can be held against this one"
    code, out, _ = run("verify", "release", "--menu", "menu.json")
    assert (code, "\n  ?   menu " in out, unnamed in out, "ask the publisher" in out) == (
        3,
        True,
        True,
        False,
    )
    code, out, _ = run("export", "release", "--menu", "menu.json", "--out", "rule.sql")
    assert (code, f"\n  ?   release         release is not fully checked: {unnamed}\n" in out) == (0, True)
    assert "'normal'" in Path("rule.sql").read_text()  # its sets are those of the menu
    code, out, _ = run(
        "predict", "release", EXAMPLES / "patients.csv", "--menu", "menu.json", "--name", "said"
    )
    assert (code, f"release is not fully checked: {unnamed}\n" in out) == (0, True)
