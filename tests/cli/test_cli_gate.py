"""`publish` refuses what the answers give away: what shows, what mends it, and what accepts it."""

import json
import shlex
import sys
from pathlib import Path

import pytest

import nbcfast
from nbcfast.cli import asked_again

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
NONE = ("--max-bits", "none", "--max-found", "none", "--min-flip", "none", "--max-one-class", "none")
AGES = """\
{"age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"],
 "glucose": {"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}},
 "diagnosis": ["healthy", "diabetes"]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = PATIENTS.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "patients.csv").write_text("".join(lines[:801]), encoding="utf-8")
    named = [f"{place or 'id'},{line}" for place, line in enumerate(lines[:201])]
    (tmp_path / "named.csv").write_text("".join(named), encoding="utf-8")
    (tmp_path / "ages.json").write_text(AGES, encoding="utf-8")
    return tmp_path


REFUSED = "publish patients.csv --class diagnosis --columns age,glucose --amplification 4 --out release"
KEPT = f"{REFUSED} --domain ages.json"


def files(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_it_says_what_shows_then_what_mends_it_then_how_it_is_accepted(in_full, folder):
    before = files(folder)
    code, printed, errors = in_full(*shlex.split(REFUSED))
    assert (code, errors) == (1, "")
    assert files(folder) == before
    lines = printed.splitlines()
    assert lines[0] == "DO NOT PUBLISH YET   patients.csv, diagnosis -> release (nothing was written)"
    parts = [
        "reads the class of all 187 of them: diabetes",
        "limit kept",
        "What to do\n  1  Find the best domain that keeps the limits, and publish on it.\n"
        "     nbcfast advise patients.csv --class diagnosis --columns age,glucose --write-menu menu.json\n"
        "     check every option in menu.json against the code book, add what other values can occur, then "
        "remove the name of its column from from_rows: until then its values count as not declared\n"
        "     nbcfast publish patients.csv --class diagnosis --amplification 4 --out release "
        "--menu menu.json\n",
        "  2  Or accept what is marked x or ?",
        f"     nbcfast {REFUSED} --accept-answers\n",
    ]
    places = [printed.index(part) for part in parts]
    assert places == sorted(places)
    assert "whoever knows how many people have glucose = high" in lines[1]


def steps(printed):
    """What a person types of the steps that mend a release, and how it is accepted."""
    lines = printed[printed.index("What to do") :].splitlines()
    return [line.strip() for line in lines if line.strip().startswith("nbcfast ")]


@pytest.mark.parametrize("declared", [(), ("--group", "glucose=sugar.json")])
def test_every_command_that_is_printed_works(in_full, folder, declared):
    sugar = {"usual": ["low", "normal"], "raised": ["raised"], "high": ["high"]}
    Path("sugar.json").write_text(json.dumps(sugar), encoding="utf-8")
    asked = "publish patients.csv --class diagnosis --amplification 4 --out release --min-flip 99.5%"
    code, printed, _ = in_full(*shlex.split(asked), *declared)
    assert code == 1
    advise, publish, accept = steps(printed)
    assert in_full(*shlex.split(advise)[1:])[0] == 0
    assert json.loads(Path("menu.json").read_text(encoding="utf-8"))["menu"]["age"][-1] == {"out": True}
    code, printed, _ = in_full(*shlex.split(publish)[1:])
    assert (code, printed.splitlines()[0]) == (
        0,
        "published, every limit kept; mind what is marked !   patients.csv, diagnosis -> release",
    )
    certificate = nbcfast.load("release").certificate  # nobody has checked the menu
    assert (certificate.advice, certificate.canonical.undeclared[-1]) == (None, None)
    assert in_full(*shlex.split(accept)[1:], "--overwrite")[0] == 0


def test_where_everything_is_declared_no_menu_is_to_be_looked_through(in_full, folder):
    domain = {
        "age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"],
        "glucose": ["low", "normal", "raised", "high"],
        "diagnosis": ["healthy", "diabetes"],
    }
    Path("fine.json").write_text(json.dumps(domain), encoding="utf-8")
    code, printed, _ = in_full(*shlex.split(REFUSED), "--domain", "fine.json")
    assert code == 1
    advise, publish, _ = steps(printed)
    assert advise.endswith("--domain fine.json --out domain.json")
    assert publish == f"nbcfast {REFUSED} --domain domain.json"


def test_what_advice_cannot_weigh_is_not_sent_there(run, folder):
    rows = ("a,y,900000000000", "a,n,900000000001", "b,y,900000000000", "b,n,700000000001")
    Path("heavy.csv").write_text("\n".join(("age,ill,w", *rows)), encoding="utf-8")
    words = ("heavy.csv", "--class", "ill", "--weights", "w")
    code, printed, _ = run("publish", *words, "--amplification", 4, "--out", "release")
    assert (code, "No command mends that." in printed) == (1, True)
    code, _, errors = run("advise", *words)
    assert code == 2
    assert errors == (
        "nbcfast: --weights must add up to 1,099,511,627,776 (2^40) at most, as sums of losses are exact to "
        "there, got 3,400,000,000,002: publish takes more, on a domain that is declared without advice\n"
    )


def test_the_same_as_json(run, folder):
    code, printed, errors = run(*shlex.split(REFUSED), "--json")
    assert (code, errors) == (1, "")
    found = json.loads(printed)
    assert (found["refused"], found["accepted"], found["files"]) == (True, False, [])
    assert found["shows"] == [
        entry["text"] for entry in found["findings"] if entry["state"] in ("shows", "unmeasured")
    ]
    advise, look, publish = found["mend"].split("\n")
    assert advise.startswith("nbcfast advise patients.csv")
    assert look.startswith("# check every option in menu.json")
    assert publish.startswith("nbcfast publish patients.csv")
    assert publish.endswith("--menu menu.json")
    assert found["accept"].endswith("--accept-answers")


def test_what_is_accepted_is_published_and_the_certificate_says_so(in_full, folder):
    code, printed, _ = in_full(*shlex.split(REFUSED), "--accept-answers")
    assert code == 0
    assert printed.startswith(
        "published although this shows (accepted)   patients.csv, diagnosis -> release\n"
    )
    assert "reads the class of all 187 of them: diabetes" in printed
    assert nbcfast.load("release").certificate.accepted
    code, printed, _ = in_full("verify", "release")
    assert code == 0
    assert "The publisher accepted whatever the answers give away" in printed
    assert "187" not in Path("release/certificate.json").read_text()


def test_where_every_limit_is_kept_it_says_so(in_full, folder):
    code, printed, _ = in_full(*shlex.split(KEPT))
    assert code == 0
    assert printed.startswith("published, every check green   patients.csv, diagnosis -> release\n")
    assert not nbcfast.load("release").certificate.accepted
    assert "worst posterior of diabetes, read as raw counts" in printed
    # What is found comes first, and what every release says last, once.
    notes = nbcfast.load("release").certificate.notes
    places = [
        printed.index("counts come back"),
        printed.index("release/certificate.json"),
        *map(printed.index, notes),
    ]
    assert places == sorted(places)
    assert all(printed.count(note) == 1 for note in notes)
    assert printed.rstrip().endswith(notes[-1])


def test_a_release_that_is_there_stays_where_the_next_is_refused(run, folder):
    assert run(*shlex.split(KEPT))[0] == 0
    before = Path("release/certificate.json").read_bytes()
    code, printed, _ = run(*shlex.split(REFUSED), "--overwrite", "--dataset", "rows.csv")
    assert code == 1
    assert Path("release/certificate.json").read_bytes() == before
    assert not Path("rows.csv").exists()
    [accept] = [line for line in printed.splitlines() if line.endswith("--accept-answers")]
    assert run(*shlex.split(accept)[1:])[0] == 0
    assert Path("release/certificate.json").read_bytes() != before
    assert Path("rows.csv").exists()


class TestLimits:
    def test_without_limits_it_leaves_and_is_warned_of(self, in_full, folder):
        code, printed, _ = in_full(*shlex.split(REFUSED), *NONE)
        assert code == 0
        assert printed.startswith("published, every limit kept; mind what is marked !   ")
        assert "(and no limit was asked for)" in printed

    @pytest.mark.parametrize(
        ("option", "text"),
        [
            ("--max-bits", "-1"),
            ("--max-bits", "many"),
            ("--max-bits", "\uff14"),
            ("--max-found", "1.5"),
            ("--max-found", "-1"),
            ("--min-flip", "2"),
            ("--min-trace", "101%"),
            ("--max-one-class", ""),
            ("--max-one-class", "1_0"),
        ],
    )
    def test_what_is_no_limit_is_bad_input(self, run, folder, option, text):
        code, out, errors = run(*shlex.split(REFUSED), option, text)
        assert (code, out) == (2, "")
        assert errors.startswith(f"nbcfast: {option} must be ")
        assert errors.count("\n") == 1

    def test_limits_go_into_the_commands(self, run, folder):
        _, printed, _ = run(*shlex.split(REFUSED), "--min-flip", "99.5%", "--max-bits", "none")
        assert (
            "nbcfast advise patients.csv --class diagnosis --columns age,glucose --max-bits none "
            "--min-flip 99.5% --write-menu menu.json"
        ) in printed

    def test_a_limit_decides_by_itself(self, run, folder):
        arguments = shlex.split(KEPT)
        assert run(*arguments, "--max-bits", "0.1")[0] == 1
        assert run(*arguments, "--max-bits", "1e3")[0] == 0


class TestNames:
    def test_they_are_left_out_by_the_command_that_is_printed(self, in_full, folder):
        command = "publish named.csv --class diagnosis --amplification 4 --out release"
        code, printed, _ = in_full(*shlex.split(command))
        assert code == 1
        assert "id has 200 values in 200 rows, 200 of them of one person each: it names people" in printed
        mend = f"nbcfast {command} --leave-out id"
        assert f"hides whom they name.\n     {mend}\n" in printed
        code, printed, _ = in_full(*shlex.split(mend)[1:])
        assert "names people" not in printed

    def test_of_columns_they_are_taken_out(self, run, folder):
        command = "publish named.csv --class diagnosis --columns id,glucose --amplification 4 --out release"
        _, printed, _ = run(*shlex.split(command))
        assert (
            "publish named.csv --class diagnosis --columns glucose --amplification 4 --out release\n"
            in printed
        )

    def test_where_nothing_is_left_no_command_is_offered(self, run, folder):
        command = "publish named.csv --class diagnosis --columns id --amplification 4 --out release"
        code, printed, _ = run(*shlex.split(command))
        assert code == 1
        assert "No command mends that." in printed
        assert "--accept-answers" in printed

    @pytest.mark.parametrize("declared", ["--domain", "--group", "--menu"])
    def test_of_what_is_declared_the_others_are_taken(self, in_full, folder, declared):
        ids = [
            int(line.split(",")[0]) for line in Path("named.csv").read_text(encoding="utf-8").splitlines()[1:]
        ]
        glucose, classes = ["low", "normal", "raised", "high"], ["healthy", "diabetes"]
        documents = {
            "--domain": {"id": ids, "glucose": glucose, "diagnosis": classes},
            "--group": {str(one): [one] for one in ids},
            "--menu": {"id": [ids], "glucose": [{"groups": {"usual": glucose[:2], "raised": glucose[2:]}}]},
        }
        Path("declared.json").write_text(json.dumps(documents[declared]), encoding="utf-8")
        named = "id=declared.json" if declared == "--group" else "declared.json"
        limits = " ".join(NONE)
        command = f"publish named.csv --class diagnosis --amplification 4 --out release {limits}"
        code, printed, errors = in_full(*shlex.split(command), declared, named)
        assert (code, errors) == (1, "")
        assert "it names people" in printed
        if declared == "--menu":
            assert "What helps: a menu without id, or with coarser options alone." in printed
            return
        mend, _ = steps(printed)
        assert "--columns " in mend
        code, printed, errors = in_full(*shlex.split(mend)[1:])
        assert (code, errors) == (0, "")

    def test_names_are_quoted_for_the_shell_and_for_the_list(self, in_full, folder):
        text = Path("named.csv").read_text(encoding="utf-8")
        Path("it's.csv").write_text(text.replace("id,", '"a, ""b"" $c",', 1), encoding="utf-8")
        _, printed, _ = in_full(
            "publish", "it's.csv", "--class", "diagnosis", "--amplification", 4, "--out", "new"
        )
        mend, *_ = steps(printed)
        words = shlex.split(mend)[1:]
        assert words[:2] == ["publish", "it's.csv"]
        code, printed, _ = in_full(*words)
        assert code == 1
        assert "names people" not in printed


class TestCommands:
    def test_no_file_is_named_that_is_there(self, folder):
        assert asked_again.free("domain.json") == "domain.json"
        Path("domain.json").touch()
        Path("domain-2.json").touch()
        assert asked_again.free("domain.json") == "domain-3.json"

    def test_what_goes_with_powers_alone_is_not_kept(self, in_full, folder):
        _, printed, _ = in_full(*shlex.split(REFUSED), "--method", "safetytransform", "--no-gauge")
        _, mend, _ = steps(printed)
        assert "--method" not in mend
        assert "--no-gauge" not in mend
        [accept] = [line for line in printed.splitlines() if line.endswith("--accept-answers")]
        assert "--method safetytransform" in accept
        assert "--no-gauge" in accept

    def test_pairs_and_repeated_options_are_kept(self, run, folder):
        command = (
            "publish patients.csv --class diagnosis --columns age,glucose --breach 0.5 0.8 --out release "
            "--null NA --null ''"
        )
        _, printed, _ = run(*shlex.split(command))
        [accept] = [line for line in printed.splitlines() if line.endswith("--accept-answers")]
        assert "--breach 0.5 0.8" in accept
        assert "--null NA --null ''" in accept
        assert run(*shlex.split(accept)[1:])[0] == 0

    def test_a_file_that_looks_like_an_option_is_one_no_more(self, run, folder):
        Path("patients.csv").rename("-p.csv")
        _, printed, _ = run(
            *("publish", "--class", "diagnosis", "--columns", "age,glucose", "--amplification", 4),
            *("--out", "release", "--", "-p.csv"),
        )
        assert "nbcfast publish ./-p.csv --class diagnosis" in printed


def test_of_one_class_nothing_mends_it(run, folder):
    Path("one.csv").write_text("job,ill\n" + "a,yes\nb,yes\n" * 20, encoding="utf-8")
    code, printed, _ = run("publish", "one.csv", "--class", "ill", "--amplification", 4, "--out", "release")
    assert code == 1
    assert "everybody in the table is of ill yes" in printed
    assert "No command mends that." in printed


def test_the_fallback_is_refused_and_says_that_nothing_measures_it(in_full, folder, monkeypatch):
    # The function shares the name of the package's attribute, not of the module.
    monkeypatch.setattr(sys.modules["nbcfast.canonical.publish"], "MOST_TUPLES", 10)
    code, printed, _ = in_full(*shlex.split(REFUSED))
    assert code == 1
    assert (
        "?   not measured         the meter cannot measure these answers (it reaches 10 tuples, and the "
        "domain has 24): take it that all counts are known to whoever holds the release"
    ) in printed
    code, printed, _ = in_full(*shlex.split(REFUSED), "--accept-answers")
    assert code == 0
    assert "safetytransform (canonical does not apply" in printed


def test_what_counts_rows_is_said_where_it_may_be_the_reason(run, folder):
    Path("counts.csv").write_text("job,ill,n\n" + "a,yes,7\nb,no,9\nc,yes,12\n", encoding="utf-8")
    _, printed, _ = run("publish", "counts.csv", "--class", "ill", "--amplification", 4, "--out", "release")
    assert "- Every row counts once, and column 'n' holds whole numbers" in printed
