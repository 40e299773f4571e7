"""The command line as a whole: help, refusals in one line, numbers."""

import os
import re

import pytest
from accepting import ANYHOW
from small_table import CSV, write

import nbcfast
from nbcfast._core.numbers import amount_text


@pytest.fixture
def file(tmp_path):
    return write(tmp_path)


@pytest.mark.parametrize("method", ["canonical", "safetytransform"])
def test_what_could_be_had_in_place_of_a_demand_is_one_sentence(run, tmp_path, method):
    lines = [f"{a},{b},{'x' if 3 * a + b > 5 else 'y'}\n" for a in range(4) for b in range(4)]
    (tmp_path / "rows.csv").write_text("a,b,ill\n" + "".join(lines) * 3)
    arguments = (*ANYHOW, tmp_path / "rows.csv", "--class", "ill", "--amplification", 4, "--method", method)
    code, out, _ = run(*arguments, "--rows", 9, "--out", tmp_path / "out")
    assert code == 1
    found = [line for line in out.splitlines() if line.startswith("  !  best found")]
    kept = r"(not )?identical: the (best class|order of all classes) (on all|differs on \d+ of) 16 tuples"
    (line,) = found
    assert re.match(rf"  !  best found     a release of \d+ rows; {kept}", line), line
    assert "not known" not in out


def test_numbers_of_any_size_have_one_notation():
    assert [amount_text(number) for number in (0, 10**15 - 1, 10**15, 2**69, 9960 * 10**17, 10**400)] == [
        "0",
        "999,999,999,999,999",
        "about 1.0 * 10^15",
        "about 5.9 * 10^20",
        "about 1.0 * 10^21",
        "about 1.0 * 10^400",
    ]


def test_help_and_version(run):
    assert run("--version") == (0, f"nbcfast, version {nbcfast.__version__}\n", "")
    for arguments in (["--help"], ["-h"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "inspect" in out
    code, out, err = run("inspect", "--help")
    assert (code, err) == (0, "")
    assert "--class NAME" in out
    # The name alone asks the same, and so does that of a group.
    assert run() == run("--help")
    assert run("templates") == run("templates", "--help")
    assert run("skyline")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["inspect"], "Missing argument 'FILE'"),
        (["publish", "{file}"], "Missing option '--out'"),
        (["closeness", "{file}", "--prior", "a=1"], "Missing option '--class'"),
        (["publish", "{file}", "--out", "new"], "Missing option '--class'"),
        (["inspect", "{file}", "--class", "label", "--bogus"], "No such option"),
        (["inspect", "{file}", "--class", "label", "--max-values", "0"], "Invalid value for '--max-values'"),
        (
            ["inspect", "{file}", "--class", "label", "--columns", "a,,b"],
            "--columns must be names with commas",
        ),
        (["inspect", "{file}", "--class", "label", "--columns", ""], "--columns must be names with commas"),
        (["inspect", "{file}", "--class", "nolabel"], "nolabel"),
        (["inspect", "{file}", "--class", "label", "--columns", "colour,shape"], "shape"),
        (
            ["inspect", "{file}", "--class", "label", "--columns", "colour,label"],
            "--columns and --class both name 'label'",
        ),
        (
            ["inspect", "{file}", "--class", "label", "--columns", "colour,size", "--weights", "size"],
            "--columns and --weights both name 'size'",
        ),
        (
            ["inspect", "{file}", "--class", "label", "--weights", "label"],
            "--class and --weights both name 'label'",
        ),
        (["inspect", "{file}", "--class", "label", "--columns", "size,size"], "--columns names 'size' twice"),
        (["inspect", "{file}", "--class", "label", "--weights", "mass"], "mass"),
        (["inspect", "{file}", "--class", "label", "--weights", "colour"], "colour"),
        (["inspect", "{file}", "--class", "label", "--text", "shape"], "shape"),
        (
            ["inspect", "{file}", "--class", "label", "--max-values", "2"],
            "column 'colour' has 3 values, more than --max-values 2: put them into bins or sets, leave it",
        ),
        (
            ["inspect", "{file}", "--class", "label", "--delimiter", "ab"],
            "--delimiter must be one character, got 'ab'",
        ),
        (
            ["inspect", "{file}", "--class", "label", "--delimiter", ""],
            "--delimiter must be one character, got ''",
        ),
        (["inspect", "{folder}/none.csv", "--class", "label"], "none.csv: No such file or directory"),
        (["inspect", "{folder}/none.parquet", "--class", "label"], "none.parquet: No such file or directory"),
        (
            ["inspect", "{folder}/folder.csv", "--class", "label"],
            "folder.csv: Is a directory, and a",
        ),
        (["inspect", "{folder}/small.xls", "--class", "label"], "FILE must end in .csv, .tsv, .txt"),
        (["inspect", "{folder}/small", "--class", "label"], "FILE must end in .csv, .tsv, .txt"),
        (["inspect", "{folder}/text.parquet", "--class", "label"], "text.parquet"),
        (["inspect", "{folder}/text.parquet", "--class", "label", "--null", "?"], "are for CSV files"),
        (["inspect", "{folder}/text.parquet", "--class", "label", "--delimiter", ","], "are for CSV files"),
        (["inspect", "{folder}/text.parquet", "--class", "label", "--text", "x"], "are for CSV files"),
        (["inspect", "{folder}/empty.csv", "--class", "label"], ""),
        (["inspect", "{folder}/header.csv", "--class", "label"], "header.csv: no rows"),
        (["inspect", "{folder}/ragged.csv", "--class", "label"], ""),
        (["inspect", "{folder}/latin1.csv", "--class", "label"], ""),
        (["inspect", "{folder}/broken.csv.gz", "--class", "label"], ""),
    ],
)
def test_bad_input_is_refused_in_one_line(refused, file, tmp_path, arguments, message):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "small.xls").write_text(CSV)
    (tmp_path / "small").write_text(CSV)
    (tmp_path / "text.parquet").write_text(CSV)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("colour,label\n")
    (tmp_path / "ragged.csv").write_text("colour,label\nred,a\nblue\n")
    (tmp_path / "latin1.csv").write_bytes("colour,label\nrötlich,a\n".encode("latin-1"))
    (tmp_path / "broken.csv.gz").write_text(CSV)
    assert message in refused(*(text.format(file=file, folder=tmp_path) for text in arguments))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(refused, file):
    file.chmod(0)
    assert refused("inspect", file, "--class", "label") == f"{file}: Permission denied"


def test_the_unexpected_is_one_line_with_its_traceback_on_demand(run, refused, file, monkeypatch):
    def broken(*arguments, **options):
        raise KeyError("oops")

    monkeypatch.setattr("nbcfast.publishing.inputs.count", broken)
    message = refused("inspect", file, "--class", "label")
    assert message.startswith("KeyError: 'oops' (not expected: set NBCFAST_TRACEBACK=1")
    monkeypatch.setenv("NBCFAST_TRACEBACK", "1")
    code, out, err = run("inspect", file, "--class", "label")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize("number", ["\uff14", " 4", "4 ", "1 0", "1_0", "\u0664", "4\u00a0", "\t4"])
@pytest.mark.parametrize(
    "arguments",
    [
        [*ANYHOW, "FILE", "--class", "label", "--out", "new", "--amplification", "NUMBER"],
        [*ANYHOW, "FILE", "--class", "label", "--out", "new", "--amplification", "4", "--rows", "NUMBER"],
        ["inspect", "FILE", "--class", "label", "--max-values", "NUMBER"],
        ["skyline", "check", "FILE", "--by", "colour", "--sensitive", "label", "--point", "0,0,0,NUMBER"],
        ["skyline", "check", "FILE", "--by", "colour", "--sensitive", "label", "--point", "NUMBER,0,0,1"],
        ["skyline", "find", "FILE", "--by", "colour", "--sensitive", "label", "--confidence", "NUMBER"],
        [
            "skyline",
            "anonymize",
            "FILE",
            "--by",
            "size",
            "--sensitive",
            "label",
            "--out",
            "new",
            "--k",
            "NUMBER",
        ],
        ["response", "plan", "--theta", "NUMBER", "--groups", "a", "--n", "9"],
        ["response", "plan", "--theta", "0.8", "--groups", "a", "--n", "NUMBER"],
    ],
    ids=lambda arguments: " ".join(arguments[:2] + arguments[-2:]),
)
def test_numbers_are_digits_alone(refused, file, tmp_path, monkeypatch, arguments, number):
    if arguments[-1] in ("0,0,0,NUMBER", "NUMBER,0,0,1") and number.strip(" ") == "4":
        pytest.skip("blanks beside commas part the numbers of a point")
    monkeypatch.chdir(tmp_path)
    given = [part.replace("FILE", str(file)).replace("NUMBER", number) for part in arguments]
    assert refused(*given)
    assert not (tmp_path / "new").exists()
