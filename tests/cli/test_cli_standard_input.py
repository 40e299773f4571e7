"""- for a table, or a certificate, that comes through standard input; and verdicts of several folders."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accepting import ANYHOW
from small_table import CSV, write

import nbcfast

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/fd/0"), reason="standard input is read again through /proc"
)


@pytest.fixture
def fed(run, tmp_path):
    """Run a command whose standard input is these bytes, in a file or through a pipe."""

    def fed(data, *arguments, pipe=True):
        before = os.dup(0)
        with tempfile.TemporaryFile(dir=tmp_path) as stream:
            if pipe:
                ours, theirs = os.pipe()
                os.write(theirs, data)  # what is sent here is less than a pipe holds
                os.close(theirs)
            else:
                stream.write(data)
                stream.seek(0)
                ours = os.dup(stream.fileno())
            os.dup2(ours, 0)
            os.close(ours)
            try:
                return run(*arguments)
            finally:
                os.dup2(before, 0)
                os.close(before)

    return fed


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The table in three forms."""
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path)
    pq.write_table(pa.table(nbcfast.read_csv(file).to_arrow()), tmp_path / "small.parquet")
    return {
        "csv": CSV.encode(),
        "tsv": CSV.replace(",", "\t").encode(),
        "parquet": (tmp_path / "small.parquet").read_bytes(),
    }


VERBS = {
    "inspect": ["--class", "label"],
    "domain": ["--out", "domain.json", "--overwrite"],
    "advise": ["--class", "label", "--columns", "colour,size"],
    "publish": [
        "--class",
        "label",
        "--amplification",
        "9",
        "--accept-answers",
        "--out",
        "made",
        "--overwrite",
    ],
    "attack": ["--class", "label"],
    "closeness": ["--class", "label", "--prior", "a=1/2,b=1/2"],
    "risk": ["--view", "colour,size", "--view", "size,label", "--identity", "colour", "--attribute", "label"],
    "skyline check": ["--by", "size", "--sensitive", "label", "--point", "0,0,0,1"],
    "skyline find": ["--by", "size", "--sensitive", "label", "--confidence", "0.9"],
    "skyline anonymize": [
        "--by",
        "size",
        "--sensitive",
        "label",
        "--k",
        "2",
        "--out",
        "t.csv",
        "--overwrite",
    ],
    "templates check": ["--template", "size -> label=a <= 90%"],
    "templates disclose": ["--template", "size -> label=a <= 90%"],
    "response disguise": [
        "--theta",
        "0.8",
        "--groups",
        "label",
        "--seed",
        "1",
        "--out",
        "told",
        "--overwrite",
    ],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_table_from_standard_input_is_that_of_a_file(verb, fed, run, small, tmp_path):
    expected = run(*verb.split(), "small.csv", *VERBS[verb])
    assert expected[0] in (0, 1), expected
    for form, pipe in (("csv", True), ("csv", False), ("tsv", True), ("parquet", True), ("parquet", False)):
        code, out, err = fed(small[form], *verb.split(), "-", "--format", form, *VERBS[verb], pipe=pipe)
        # What is to be typed next is typed of standard input too.
        told = re.sub(r"(nbcfast [a-z ]+) - ", r"\1 small.csv ", out.replace("/dev/stdin", "small.csv"))
        told = told.replace(f" --format {form}", "").replace("--ledger ledger", "--ledger small-ledger")
        assert (code, told, err) == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("tmp")]


def test_answers_from_standard_input(fed, run, small):
    run(
        "response",
        "disguise",
        "small.csv",
        "--theta",
        "0.8",
        "--groups",
        "label",
        "--seed",
        "1",
        "--out",
        "told",
    )
    scheme = ("--scheme", "told/scheme.json", "--class", "label")
    with open("told/table.csv", "rb") as file:
        answers = file.read()
    code, out, err = fed(answers, "response", "estimate", "-", "--format", "csv", *scheme, "--json")
    assert (code, err) == (0, "")
    told = json.loads(run("response", "estimate", "told/table.csv", *scheme, "--json")[1])
    assert json.loads(out.replace("/dev/stdin", "told/table.csv")) == told


def test_what_is_refused_of_standard_input(fed, refused, small, monkeypatch):
    asked = ("inspect", "-", "--class", "label")
    assert refused(*asked) == "FILE - is standard input: expected --format csv, tsv or parquet beside it"
    said = refused("inspect", "small.csv", "--class", "label", "--format", "csv")
    assert said.startswith("--format goes with - for FILE")
    assert fed(b"", *asked, "--format", "csv")[2] == (
        "nbcfast: /dev/stdin: the file is empty, and a line with the names of columns is wanted\n"
    )
    assert "Parquet" in fed(b"a,b\n", *asked, "--format", "parquet")[2]
    publish = ("publish", "small.csv", "--class", "label", "--amplification", "4", "--out")
    said = refused(*publish, "-")
    assert said.startswith("--out - is not taken: what is written is whole or not at all")
    assert refused(*publish, "new", "--dataset", "-").startswith("--dataset - is not taken: what is written")
    assert (
        refused(*publish, "new", "--holdout", "-")
        == "--holdout - is not taken: standard input is for FILE alone"
    )
    assert "--out - is not taken" in refused("domain", "small.csv", "--out", "-")
    monkeypatch.setattr("os.isatty", lambda number: number == 0)
    assert "that is a terminal" in refused(*asked, "--format", "csv")
    assert "that is a terminal" in refused("verify", "-")
    monkeypatch.setattr("nbcfast.cli.standard_input.STDIN", 987)
    assert "cannot read standard input twice" in refused(*asked, "--format", "csv")


def test_commands_that_are_printed_say_it_again(fed, small):
    asked = ("--format", "csv", "--class", "label", "--amplification", "4", "--threads", "1", "--out", "new")
    code, out, _ = fed(small["csv"], "publish", "-", *asked)
    assert code == 1
    assert "nbcfast advise - --class label --format csv --write-menu menu.json\n" in out
    assert "--threads" not in out


@pytest.fixture
def folders(run, small):
    """Releases: one as it was published, one that somebody changed, and a partition."""
    asked = ("small.csv", "--class", "label", "--columns", "size", "--amplification", "4", "--out", "good")
    assert run(*ANYHOW, *asked)[0] == 0
    shutil.copytree("good", "bad")
    with open("bad/certificate.json", "r+") as file:
        text = file.read().replace("label", "LABEL")
        file.seek(0)
        file.write(text)
    by = ("--by", "size", "--sensitive", "label", "--k", "2", "--no-attack")
    assert run("skyline", "anonymize", "small.csv", *by, "--out", "people")[0] == 0


def test_a_certificate_from_standard_input(fed, run, folders):
    with open("good/certificate.json", "rb") as file:
        good = file.read()
    code, out, err = fed(good, "verify", "-")
    assert (code, err, out.splitlines()[0].split("   ")[1]) == (0, "", "-")
    assert "  ok  folder" not in out  # of which nobody can say what else is in it
    assert json.loads(fed(good, "verify", "-", "--json")[1])["path"] == "-"
    assert fed(good.replace(b"4", b"5"), "verify", "-")[0] == 1
    code, out, _ = fed(b"{}", "verify", "-")
    assert (code, "NOT VERIFIED" in out) == (1, True)
    with open("people/certificate.json", "rb") as file:
        code, _, err = fed(file.read(), "verify", "-")
    assert (code, err) == (
        2,
        "nbcfast: DIR - is a certificate alone, and one of kind 'partition' is checked beside its table: "
        "expected its folder\n",
    )
    assert "go with a folder, and not with -" in fed(good, "verify", "-", "--against", "small.csv")[2]
    assert "got it twice" in fed(good, "verify", "-", "-")[2]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("good", "people"), 0),
        (("good", "bad"), 1),
        (("bad", "none", "good"), 1),
        (("good", "none"), 2),
        (("good/certificate.json", "good"), 0),
    ],
)
def test_several_folders_leave_with_the_worst(names, code, run, folders):
    left, out, err = run("verify", *names)
    assert left == code
    assert err == ("nbcfast: none: No such file or directory\n" if "none" in names else "")
    heads = [f"{name.removesuffix('/certificate.json')}/certificate.json" for name in names if name != "none"]
    found = [line.split("   ")[1] for line in out.splitlines() if line.endswith("certificate.json")]
    assert found == heads
    assert out.startswith(f"{len(names)} checked: ")
    left, out, _ = run("verify", *names, "--json")
    assert left == code
    assert [one["path"] for one in json.loads(out)] == [
        "none" if name == "none" else f"{name.removesuffix('/certificate.json')}/certificate.json"
        for name in names
    ]


def test_not_fully_checked_is_worse_than_verified_and_better_than_not_read(run, folders, monkeypatch):
    monkeypatch.setattr("nbcfast.verification.results.Verification.exit_code", 3)
    code, out, _ = run("verify", "good", "good")
    assert (code, out.splitlines()[0]) == (3, "2 checked: 2 not fully checked")
    assert run("verify", "good", "none")[0] == 2


def test_one_folder_prints_one_object(run, folders):
    assert json.loads(run("verify", "good", "--json")[1])["path"] == "good/certificate.json"


def test_more_than_a_pipe_holds(tmp_path):
    rows = b"0,1,x\n1,0,y\n" * 20_000  # more than a pipe holds
    done = subprocess.run(
        [sys.executable, "-m", "nbcfast", "inspect", "-", "--format", "csv", "--class", "c", "--json"],
        input=b"a,b,c\n" + rows,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["rows"] == 40_000
