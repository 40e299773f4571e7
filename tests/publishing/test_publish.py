"""`nbcfast publish` and `nbcfast verify`, from the file of a table to the recipient."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from accepting import ANYHOW

import nbcfast
from nbcfast import safety, verify_release
from nbcfast._core.errors import Infeasible
from nbcfast.transform import safety_transform
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"

# Positive and safe at amplification 4: Lambda is that of two attributes, and small.
SAFE = "colour,size,n,label\n" + "".join(
    f"{colour},{size},{n},{label}\n"
    for colour, size, n, label in [
        ("red", 1, 5, "a"),
        ("red", 2, 4, "a"),
        ("blue", 1, 3, "a"),
        ("blue", 2, 6, "a"),
        ("red", 1, 4, "b"),
        ("red", 2, 6, "b"),
        ("blue", 1, 5, "b"),
        ("blue", 2, 5, "b"),
    ]
)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(SAFE, encoding="utf-8")
    return path


@pytest.fixture
def published(run, small, tmp_path):
    """The folder of a release of `small`."""
    out = tmp_path / "out"
    arguments = (*ANYHOW, small, "--class", "label", "--weights", "n", "--amplification", 4, "--out", out)
    assert run(*arguments)[0] == 0
    return out


def test_patients_are_published_and_every_reader_agrees(in_full, tmp_path):
    out, dataset = tmp_path / "out", tmp_path / "synthetic.parquet"
    code, printed, errors = in_full(
        *(*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", "4"),
        *("--out", out, "--dataset", dataset),
    )
    assert (code, errors) == (0, "")
    assert "infinite" in printed  # two counts are zero
    assert re.search(r"worst posterior of diabetes, read as raw counts +100.0% +\d\d\.\d%\n", printed)
    assert "canonical (by default): from the classifier's answers and nothing else" in printed
    assert "identical: the best class on all 41,472 tuples (proven by " in printed
    assert "not differential privacy" in printed
    assert "artificial" in printed
    assert str(out / "certificate.json") in printed
    assert str(dataset) in printed

    release = load(out)
    private = nbcfast.count(nbcfast.read_csv(PATIENTS), "diagnosis")
    assert release.class_name == "diagnosis"
    assert release.views.is_realistic()
    assert safety.amplification(release.views).value <= 4
    assert release.certificate.differing_tuples == 0
    assert nbcfast.count(nbcfast.read_parquet(dataset), "diagnosis") == release.views
    table = nbcfast.read_csv(PATIENTS)
    assert release.predict(table).tolist() == private.predict(table).tolist()
    assert verify(out, private).ok
    assert verify(out, table).ok

    code, printed, _ = in_full("verify", out, "--against", PATIENTS)
    assert code == 0
    assert "the best class is the same on all 41,472 tuples" in printed
    assert "ok  scorecard      points and counts decide alike on the 41,472 tuples" in printed
    assert any(line.startswith("verified") for line in printed.splitlines())
    script = Path(verify_release.__file__)
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(out)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "?    canonical      not made again here: nbcfast verify does that" in ran.stdout


@pytest.mark.parametrize("rows", ["smallest", "proven"])
def test_adult_is_published_without_a_changed_decision(run, data, tmp_path, rows):
    file, out = data / "adult-train.csv", tmp_path / "out"
    code, printed, _ = run(
        *(*ANYHOW, file, "--class", "income", "--columns", "age,education_num,hours_per_week"),
        *("--amplification", 4, "--rows", rows, "--out", out, "--json"),
    )
    assert code == 0
    found = json.loads(printed)
    assert found["identical"] is True
    assert found["tuples"] == 109_792
    assert found["before"]["correct"] == found["after"]["correct"]
    assert found["before"]["amplification"] is None
    assert found["before"]["worst_posterior"]["probability"] == 1
    assert found["after"]["worst_posterior"]["probability"] < 0.81
    release = load(out)
    table = nbcfast.read_csv(file)
    private = nbcfast.count(table, "income", release.views.attributes)
    assert safety.amplification(release.views).value <= 4
    assert release.predict(table).tolist() == private.predict(table).tolist()
    assert run("verify", out, "--against", file)[0] == 0
    if rows == "smallest":
        assert release.views.n_rows <= 3_000_000
        synthetic = release.dataset()
        assert nbcfast.count(synthetic, "income", classes=release.views.classes) == release.views


@pytest.mark.parametrize(("n_classes", "preserve"), [(2, "order"), (12, "label")])
def test_hundreds_of_attributes_are_verified_against_the_private_views(tmp_path, n_classes, preserve):
    rng = np.random.default_rng(1)
    n = 500 if n_classes == 2 else 120
    views = nbcfast.Viewset.from_codes(rng.integers(0, 2, (1_000, n)), np.arange(1_000) % n_classes)
    release = safety_transform(views, 4, preserve=preserve, rows="proven")
    release.save(tmp_path)
    assert load(tmp_path) == release
    found = verify(tmp_path, views)
    assert found.ok, found
    assert [check.name for check in found.checks[-2:]] == ["again", "equivalence"]
    assert found.checks[-2].text == "made again from these views, the release is this one"
    assert verify_release.ARTIFICIAL in found.notes
    assert not found.claims
    assert found.conclusion == "verified"
    assert verify_release.ARTIFICIAL in verify(tmp_path).claims
    assert all(holds for _, holds, _ in verify_release.judge(release_document(tmp_path)))


def release_document(folder):
    return verify_release.parse((folder / "certificate.json").read_bytes())


def test_a_release_is_the_same_bytes_every_time(run, published, small, tmp_path):
    again = tmp_path / "again"
    code, printed, _ = run(
        *(
            *ANYHOW,
            small,
            "--class",
            "label",
            "--weights",
            "n",
            "--breach",
            "1/2",
            "0.8",
            "--out",
            again,
            "--json",
        )
    )
    assert code == 0
    assert (again / "certificate.json").read_bytes() == (published / "certificate.json").read_bytes()
    found = json.loads(printed)
    assert found["amplification"] == "4/1"
    assert found["identical"] is True
    assert found["differing_tuples"] == 0
    assert found["tuples"] == 4
    assert found["before"]["rows"] == 38
    assert found["before"]["accuracy"] == found["after"]["accuracy"]
    assert found["files"] == [
        {"path": str(again / "certificate.json"), "bytes": (again / "certificate.json").stat().st_size}
    ]


def test_the_identity_release_says_that_original_counts_leave(in_full, small, tmp_path):
    out = tmp_path / "out"
    code, printed, _ = in_full(
        *(*ANYHOW, small, "--class", "label", "--weights", "n", "--amplification", "4"),
        *("--no-gauge", "--out", out),
    )
    assert code == 0
    assert "identical: these are the original counts" in printed
    assert "These are the original counts of the data." in printed
    assert load(out).certificate.identity is True
    code, printed, _ = in_full("verify", out, "--against", small, "--weights", "n")
    assert code == 0
    assert "the counts are the private ones, as stated" in printed


def test_label_and_worlds_reach_the_certificate(in_full, tmp_path):
    out = tmp_path / "out"
    code, printed, _ = in_full(
        *(*ANYHOW, PATIENTS, "--class", "diagnosis", "--columns", "smoking,glucose,sex"),
        *("--amplification", "5", "--attacker", "worlds", "--preserve", "label", "--out", out),
    )
    assert code == 0
    assert "2.5, half of the amplification 5, for attacker 'worlds'" in printed
    assert "identical: the best class on all 24 tuples" in printed
    made = load(out).certificate
    assert (made.attacker, made.preserve, made.limit) == ("worlds", "label", made.amplification / 2)
    assert set(load(out).views.attributes) == {"smoking", "glucose", "sex"}
    assert in_full("verify", out, "--against", PATIENTS)[0] == 0


def test_a_number_of_rows_with_differences_says_how_many(run, tmp_path):
    out = tmp_path / "out"
    arguments = (
        *(*ANYHOW, PATIENTS, "--class", "diagnosis", "--amplification", "2", "--rows", "100"),
        *("--out", out),
    )
    code, printed, errors = run(*arguments)
    assert (code, errors) == (1, "")
    assert printed.startswith("CANNOT BE HAD: nothing meets what was demanded")
    assert not out.exists()
    code, printed, _ = run(*arguments, "--allow-differences")
    assert code == 0
    made = load(out).certificate
    assert load(out).views.n_rows == 100
    assert made.differing_tuples
    assert f"differs on {made.differing_tuples:,} of 41,472 tuples, and on " in printed
    assert f"and on {made.differing_rows:,} rows of the input" in printed
    code, printed, _ = run("verify", out, "--against", PATIENTS)
    assert code == 0
    assert "as stated" in printed


def test_infeasible_demands_leave_with_one_and_the_best_found(run, small, tmp_path, monkeypatch):
    def never(*_, **__):
        raise Infeasible("10 rows are too few", {"differing_tuples": 3, "release": None})

    monkeypatch.setattr("nbcfast.publishing.prepared.safety_transform", never)
    code, printed, errors = run(
        *(*ANYHOW, small, "--class", "label", "--method", "safetytransform", "--amplification", 4),
        *("--rows", 10, "--out", tmp_path / "out"),
    )
    assert (code, errors) == (1, "")
    assert [line.split(None, 1)[1] for line in printed.splitlines()[1:3]] == [
        "not to be had  10 rows are too few",
        "best found     differing tuples: 3",
    ]
    assert not (tmp_path / "out").exists()


def test_a_release_that_knows_nothing_is_told_what_label_would_give(in_full, small, tmp_path, monkeypatch):
    monkeypatch.setattr("nbcfast.publishing.prepared.NOTHING_LEFT", 0.5)
    old = ("--method", "safetytransform", "--amplification", "1.01", "--overwrite", "--out", tmp_path / "out")
    arguments = (*ANYHOW, small, "--class", "label", *old)
    code, printed, _ = in_full(*arguments)
    assert code == 0
    assert "With two classes --preserve label would give the same." in printed
    assert "With two classes" not in in_full(*arguments, "--preserve", "label")[1]
    three = tmp_path / "three.csv"
    three.write_text("x,y\n" + "1,a\n2,b\n1,c\n2,c\n1,b\n3,c\n" * 5, encoding="utf-8")
    arguments = (*ANYHOW, three, "--class", "y", *old)
    printed = in_full(*arguments)[1]
    assert re.search(r"With --preserve label the log-loss would be \d\.\d{4} in place of \d\.", printed)
    assert "--preserve label the" not in in_full(*arguments, "--preserve", "label")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected one of --amplification L and --breach L1 L2, got neither"),
        (
            ["--amplification", "4", "--breach", "0.5", "0.8"],
            "expected one of --amplification L and --breach L1 L2, got both",
        ),
        (["--amplification", "1"], "--amplification must be above 1; got 1"),
        (["--amplification", "2", "--attacker", "worlds"], "must be above 2, because attacker 'worlds'"),
        (["--amplification", "nan"], "--amplification must be a finite number, got 'nan'"),
        (["--amplification", "x"], "--amplification must be a finite number, got 'x'"),
        (["--breach", "0.8", "0.5"], "--breach must be two numbers 0 < L1 < L2 < 1, got 0.8 and 0.5"),
        (
            ["--amplification", "4", "--rows", "many"],
            "--rows must be 'smallest', 'proven' or a number from 1 to 10^300, got 'many'",
        ),
        (["--amplification", "4", "--rows", "1e400"], "a number from 1 to 10^300, got '1e400'"),
        (["--amplification", "4", "--rows", "1e999999999"], "a number from 1 to 10^300"),
        (["--amplification", "1e999999999"], "--amplification must be a number with an exponent below"),
        (["--amplification", "4", "--dataset", "nowhere/x.csv"], "--dataset must be in a folder that exists"),
        (["--amplification", "4", "--rows", "-3"], "--rows must be 'smallest', 'proven' or a number"),
        (["--amplification", "4", "--rows", "1.5"], "--rows must be 'smallest', 'proven' or a number"),
        (["--amplification", "4", "--allow-differences"], "--allow-differences goes with --rows R"),
        (["--amplification", "4", "--dataset", "x.xlsx"], "--dataset must end in .parquet"),
        (["--amplification", "4", "--preserve", "all"], "--preserve"),
        (["--amplification", "4", "--columns", "shape"], "shape"),
    ],
)
def test_bad_options_leave_with_two_and_write_nothing(run, small, tmp_path, arguments, message):
    out = tmp_path / "out"
    code, printed, errors = run(*ANYHOW, small, "--class", "label", "--out", out, *arguments)
    assert (code, printed) == (2, "")
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert not out.exists()


def test_a_file_in_place_of_the_folder_and_a_missing_class(run, small, tmp_path):
    arguments = (*ANYHOW, small, "--amplification", "4", "--class")
    code, _, errors = run(*arguments, "label", "--out", small)
    assert code == 2
    assert errors == f"nbcfast: --out must not write over {str(small)!r}, which is read\n"
    other = small.with_name("other.csv")
    other.write_text("")
    code, _, errors = run(*arguments, "label", "--out", other)
    assert code == 2
    assert errors == f"nbcfast: --out must be a folder, got the file {str(other)!r}\n"
    code, _, errors = run(*arguments, "lable", "--out", tmp_path / "out")
    assert code == 2
    assert "lable" in errors


def test_a_dataset_of_too_many_rows_writes_nothing(run, small, tmp_path, monkeypatch):
    from nbcfast.published import dataset as datasets

    monkeypatch.setattr(datasets, "MOST_STREAMED_ROWS", 1)
    code, _, errors = run(
        *(*ANYHOW, small, "--class", "label", "--amplification", 4, "--out", tmp_path / "out"),
        *("--dataset", tmp_path / "x.csv"),
    )
    assert code == 2
    assert "rows, more than 1" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.csv"]


def test_the_input_is_not_overwritten_by_the_dataset(run, small, tmp_path):
    before = small.read_bytes()
    for same in (small, tmp_path / "." / "small.csv"):
        code, _, errors = run(
            *(*ANYHOW, small, "--class", "label", "--amplification", 4, "--out", tmp_path / "out"),
            *("--dataset", same),
        )
        assert code == 2
        assert "--dataset must not write over" in errors
    assert small.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_the_dataset_may_not_lie_in_the_folder_that_is_made(run, small, tmp_path):
    out = tmp_path / "out"
    code, _, errors = run(
        *(*ANYHOW, small, "--class", "label", "--amplification", 4, "--out", out),
        *("--dataset", out / "x.csv"),
    )
    assert (code, errors.startswith("nbcfast: --dataset must not be in")) == (2, True)
    assert not out.exists()


def test_a_class_alone_is_published(run, tmp_path):
    file = tmp_path / "alone.csv"
    file.write_text("y\na\nb\na\n", encoding="utf-8")
    code, printed, _ = run(*ANYHOW, file, "--class", "y", "--amplification", 4, "--out", tmp_path / "out")
    assert code == 0
    assert "identical" in printed


# ---- verify


def test_verify_reads_the_folder_or_the_file(in_full, published):
    for path in (published, published / "certificate.json"):
        code, printed, errors = in_full("verify", path)
        assert (code, errors) == (0, "")
        assert "amplification  Lambda = " in printed
        conclusion = "verified: what the files can show; 2 claims of the publisher are not checked; mind the"
        assert printed.startswith(f"{conclusion} 2 warnings below   ")
    code, printed, _ = in_full("verify", published, "--json")
    assert code == 0
    assert json.loads(printed)["ok"] is True


def test_verify_against_the_private_table(in_full, published, small):
    code, printed, _ = in_full("verify", published, "--against", small, "--weights", "n")
    assert code == 0
    assert "ok  equivalence    the best class is the same on all 4 tuples" in printed


def test_verify_against_another_table_says_no(in_full, published, small):
    small.write_text(SAFE.replace("red", "green"), encoding="utf-8")
    code, printed, _ = in_full("verify", published, "--against", small, "--weights", "n")
    assert code == 1
    assert "attribute 'colour': value 'green' is not in the release" in printed
    small.write_text(SAFE.replace(",a\n", ",x\n").replace(",b\n", ",a\n").replace(",x\n", ",b\n"))
    code, printed, _ = in_full("verify", published, "--against", small, "--weights", "n")
    assert code == 1
    assert "the certificate says it is the same" in printed
    assert printed.startswith("NOT VERIFIED   ")


def test_verify_says_no_to_a_damaged_file_and_what_is_wrong(in_full, published):
    path = published / "certificate.json"
    data = path.read_bytes()
    path.write_bytes(data[:-40])
    code, printed, errors = in_full("verify", published)
    assert (code, errors) == (1, "")
    assert "x  file  the file is truncated" in printed
    path.write_bytes(data.replace(b'"label"', b'"libel"'))
    code, printed, _ = in_full("verify", published)
    assert code == 1
    assert "sha256 does not match" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--class", "label"], "go with --against FILE"),
        (
            ["--against", "nothing.csv", "--class", "size"],
            "--class must be none of the attributes of the release, got 'size'",
        ),
        (
            ["--against", "nothing.csv", "--weights", "size"],
            "--weights must be none of the attributes of the release, got 'size'",
        ),
        (["--null", "x"], "go with --against FILE"),
        (["--against", "nothing.csv"], "nothing.csv: No such file"),
        (["--against", "nothing.xlsx"], "FILE must end in"),
    ],
)
def test_bad_options_of_verify_leave_with_two(run, published, arguments, message):
    code, printed, errors = run("verify", published, *arguments)
    assert (code, printed) == (2, "")
    assert message in errors


def test_verify_of_nothing_leaves_with_two(run, tmp_path, capsys):
    code, _, errors = run("verify", tmp_path)
    assert code == 2
    assert "certificate.json: No such file" in errors
    assert verify_release.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'certificate.json'}: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "came"), [([], "none"), (["a", "b"], "'a' 'b'"), (["--json", "a"], "'--json' 'a'")]
)
def test_the_script_says_which_arguments_came(capsys, arguments, came):
    assert verify_release.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("Check a published release")
    assert printed.err == f"expected one DIR, got {came}\n"
    assert verify_release.main(["--help"]) == 0
    assert capsys.readouterr().err == ""


def test_numbers_that_were_published_as_text_are_read_as_text(run, small, tmp_path):
    out = tmp_path / "out"
    read = ("--weights", "n", "--text", "size")
    assert run(*ANYHOW, small, "--class", "label", *read, "--amplification", 4, "--out", out)[0] == 0
    assert load(out).views.domain("size") == ("1", "2")
    assert run("verify", out, "--against", small, "--weights", "n")[0] == 0


def test_intervals_of_a_release_bin_the_private_table(run, small, tmp_path):
    table = nbcfast.read_csv(small, weights="n").bin("size", width=1)
    made = nbcfast.Release(
        nbcfast.count(table, "label"), nbcfast.Certificate(amplification=4, tuples=4), "label"
    )
    made.save(tmp_path / "out")
    code, printed, _ = run("verify", tmp_path / "out", "--against", small, "--weights", "n")
    assert code == 0
    assert "the whole order is the same on all 4 tuples" in printed
    assert verify(tmp_path / "out", table).ok


def test_a_save_that_fails_takes_the_dataset_and_new_folders_along(run, small, tmp_path, monkeypatch):
    blocked = tmp_path / "out"
    (blocked / "certificate.json").mkdir(parents=True)
    arguments = (*ANYHOW, small, "--class", "label", "--amplification", 4, "--dataset", tmp_path / "x.csv")
    assert run(*arguments, "--out", blocked)[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small.csv"]
    release = safety_transform(nbcfast.Viewset([2, 2], [[[1, 1], [1, 1]]]), 4)
    monkeypatch.setattr("nbcfast.published.document.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "a" / "b" / "c")
    assert not (tmp_path / "a").exists()


def test_values_of_single_rows_are_warned_of(run, tmp_path):
    file = tmp_path / "single.csv"
    lines = [f"{number / 7:.3f},{number % 3},{'ab'[number % 2]}" for number in range(60)]
    file.write_text("\n".join(["income,group,y", *lines, ""]), encoding="utf-8")
    arguments = (*ANYHOW, file, "--class", "y", "--amplification", 4, "--out", tmp_path / "out")
    printed = run(*arguments)[1]
    assert "income has 60 values in 60 rows, 60 of them of one person each: it names people" in printed
    assert "group has" not in printed
    assert "income has" not in run(*arguments, "--columns", "group", "--overwrite")[1]


def interrupted(handle):
    raise KeyboardInterrupt
