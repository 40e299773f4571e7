"""`publish --strata` and what other verbs make of its folder, on the command line."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

ROWS = "".join(
    f"{town},{job},{ill}\n"
    for number, (town, job) in enumerate([("a", "p"), ("b", "p"), ("a", "q"), ("b", "q")] * 30)
    for ill in ["y" if number % 3 else "n"]
)
OPEN = ["--max-bits", "none", "--max-found", "none", "--min-flip", "none", "--max-one-class", "none"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(f"town,job,ill\n{ROWS}")
    return tmp_path


def asked(*more):
    return ["publish", "rows.csv", "--class", "ill", "--amplification", "4", "--out", "out", *more]


def test_a_folder_is_written_verified_and_replaced(folder, in_full):
    assert in_full(*asked("--strata", "town", "--dataset", "made.csv", *OPEN))[0] == 0
    assert (folder / "made.csv").read_text().startswith("town,job,ill\n")
    code, printed, _ = in_full("verify", "out", "--against", "rows.csv")
    assert code == 0
    assert "town = a" in printed
    assert in_full(*asked("--strata", "town", *OPEN))[0] == 2
    code, printed, _ = in_full(*asked("--strata", "town", "--overwrite", "--json", *OPEN))
    assert code == 0
    assert [one["value"] for one in json.loads(printed)["strata"]] == ["a", "b"]
    code, printed, _ = in_full("verify", "out", "--json")
    assert code == 0
    assert [one["value"] for one in json.loads(printed)["strata"]] == ["a", "b"]


def test_other_verbs_refuse_the_folder_in_one_line(folder, run):
    run(*asked("--strata", "town", *OPEN))
    for line in (
        ["attack", "out"],
        ["inspect", "out", "--class", "ill"],
        ["verify", "out", "--tuples", "rows.csv"],
    ):
        code, printed, errors = run(*line)
        assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert "in Python nbcfast.attack takes each of its .strata" in run("attack", "out")[2]


WRONG = {
    "no column": (["--strata", "city"], "nbcfast: --strata: rows.csv has no column 'city'"),
    "the class": (["--strata", "ill"], "nbcfast: --strata must be another column than the class, got 'ill'"),
    "a method": (
        ["--strata", "town", "--method", "safetytransform"],
        "nbcfast: --strata goes with --method canonical",
    ),
    "a list": (
        ["--strata", "town", "--tuples", "rows.csv"],
        "nbcfast: --strata goes without --tuples, got both",
    ),
    "a menu": (["--strata", "town", "--menu", "menu.json"], "nbcfast: --menu does not go with --strata"),
    "rows of one class": (
        ["--strata", "job", "--columns", "town"],
        "nbcfast: --strata: every value of 'job' needs rows",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(name, folder, in_full):
    options, text = WRONG[name]
    (folder / "menu.json").write_text('{"job": [["p", "q"]]}')
    if name == "rows of one class":
        (folder / "rows.csv").write_text("town,job,ill\na,p,y\nb,p,n\na,q,y\nb,q,y\n")
    code, printed, errors = in_full(*asked(*options))
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(text)
    assert not (folder / "out").exists()


def test_what_shows_in_one_stratum_is_refused(folder, run):
    with (folder / "rows.csv").open("a") as file:
        file.write("a,r,y\nb,r,y\nb,r,n\n")
    code, printed, _ = run(*asked("--strata", "town"))
    assert code == 1
    assert "town = a: whoever knows that one person has job = r reads the class" in printed
    assert "What helps: coarser values of the attributes, coarser groups of town, or no --strata" in printed
    assert "--strata town --out out --accept-answers" in printed
    assert not (folder / "out").exists()


def test_of_a_domain_that_was_chosen_for_one_classifier_the_limits_are_called_a_claim(folder, run):
    menu = {"town": [["a", "b"]], "job": [["p", "q"]], "ill": [["n", "y"]]}
    (folder / "menu.json").write_text(json.dumps(menu))
    advise = [
        "advise",
        "rows.csv",
        "--class",
        "ill",
        "--menu",
        "menu.json",
        "--out",
        "domain.json",
        *OPEN[2:],
    ]
    said = (
        "The domain was chosen for one classifier of all rows: the limits that the choice had to keep are "
        "the publisher's claim of that one, and say nothing of one for each value of town."
    )
    for more, is_said in (([], True), (["--strata", "town"], False)):
        assert run(*advise, *more, "--overwrite")[0] == 0
        if more and json.loads((folder / "domain.json").read_text())["advice"]["by_column"] is None:
            continue
        by = asked("--strata", "town", "--domain", "domain.json", "--overwrite", *OPEN)
        assert run(*by)[0] == 0
        certificate = json.loads((folder / "out" / "certificate.json").read_text())
        assert (said in certificate["warnings"]) == is_said
        code, printed, _ = run("verify", "out")
        assert (code, said in " ".join(printed.split())) == (0, is_said)
