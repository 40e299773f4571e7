"""The command line, against numbers counted by hand."""

import builtins
import importlib.metadata
import json
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nbcfast
from nbcfast._core.numbers import amount_text
from nbcfast.cli import main
from nbcfast.cli.options import verbs

# Class a twice, class b four times. X(red, 1) = (2*1/2, 2*2/4) and X(red, 2) = (2*1/2, 2*2/4) are ties;
# blue and the null never occur with a.
CSV = """\
colour,size,weight,label
red,1,1,a
red,2,3,a
red,1,1,b
red,2,1,b
blue,1,2,b
,2,4,b
"""

UNCOUNTED = (
    "Every row counts once, and column 'weight' holds whole numbers: if it says how often a row counts, give "
    "--weights weight; without it nothing said here is right then."
)
FOUND = {
    "warnings": [UNCOUNTED],
    "class": "label",
    "rows": 6,
    "total_weight": 6,
    "classes": [{"label": "a", "count": 2}, {"label": "b", "count": 4}],
    "smallest_class": {"label": "a", "count": 2},
    "attributes": [
        {"name": "colour", "values": 3, "zero_counts": 2},
        {"name": "size", "values": 2, "zero_counts": 0},
    ],
    "zero_counts": 2,
    "cells": 10,
    "tuples": 6,
    "tied_rows": 4,
    "tied_tuples": 2,
}

SHOWN = """\
{file}

rows                     6
attributes               2
tuples in the domain     6
smallest class           a (2 rows)
zero counts              2 of 10 (value, class) pairs
rows with tied scores    4
tuples with tied scores  2

label   rows   share
────────────────────
a          2   33.3%
b          4   66.7%

attribute   values   zero counts
────────────────────────────────
colour           3             2
size             2             0
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


@pytest.fixture
def found(run):
    """What `inspect --json` says, without the name of the file."""

    def found(file, *arguments):
        code, out, err = run("inspect", file, "--json", *arguments)
        assert (code, err) == (0, "")
        answer = json.loads(out)
        assert answer.pop("file") == str(file)
        return answer

    return found


def elsewhere(*arguments, **options):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "nbcfast", *map(str, arguments)],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        **options,
    )


def test_inspect_prints_what_was_counted_by_hand(run, file):
    code, out, err = run("inspect", file, "--class", "label", "--columns", "colour,size")
    assert (code, out, err) == (0, f"{SHOWN.format(file=file)}\n- {UNCOUNTED}\n", "")


def test_inspect_as_json(found, file):
    assert found(file, "--class", "label", "--columns", "colour,size") == FOUND


def test_a_process_of_its_own_in_a_pipe(file):
    arguments = ("inspect", file, "--class", "label", "--columns", "colour,size")
    done = elsewhere(*arguments, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"{SHOWN.format(file=file)}\n- {UNCOUNTED}\n",
        "",
    )
    assert "\x1b" not in done.stdout


def test_the_console_script_is_main():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="nbcfast")
    assert script.load() is main


def test_all_columns_but_the_class_are_attributes(found, file):
    answer = found(file, "--class", "label")
    assert [attribute["name"] for attribute in answer["attributes"]] == ["colour", "size", "weight"]
    assert [attribute["values"] for attribute in answer["attributes"]] == [3, 2, 4]
    assert [attribute["zero_counts"] for attribute in answer["attributes"]] == [2, 0, 3]


def test_weights(run, found, file):
    answer = found(file, "--class", "label", "--weights", "weight")
    assert (answer["rows"], answer["total_weight"]) == (6, 12)
    assert answer["classes"] == [{"label": "a", "count": 4}, {"label": "b", "count": 8}]
    assert [attribute["name"] for attribute in answer["attributes"]] == ["colour", "size"]
    # X(red, 1) = (4*1/4, 2*3/8) and X(red, 2) = (4*3/4, 2*5/8)
    assert (answer["tied_rows"], answer["tied_tuples"]) == (0, 0)
    _, out, _ = run("inspect", file, "--class", "label", "--weights", "weight")
    assert "total weight             12\n" in out
    assert "smallest class           a (4 weight)\n" in out


def test_the_choice_of_columns_keeps_its_order(found, file):
    answer = found(file, "--class", "label", "--columns", " size , colour")
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size", "colour"]
    answer = found(file, "--class", "label", "--columns", "colour")
    assert (answer["tuples"], answer["cells"], answer["zero_counts"]) == (3, 6, 2)


def test_weights_beside_chosen_columns(found, file):
    answer = found(file, "--class", "label", "--columns", "size", "--weights", "weight")
    assert answer["total_weight"] == 12
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size"]


def test_a_name_with_a_comma(found, tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text('"size, cm",label\n1,a\n2,b\n')
    answer = found(path, "--class", "label", "--columns", '"size, cm"')
    assert [attribute["name"] for attribute in answer["attributes"]] == ["size, cm"]


def test_nulls_are_what_the_option_says(found, file):
    file.write_text("colour,label\nred,a\n?,a\nNA,b\n,b\n")
    values = []
    for nulls in ([], ["--null", "?"], ["--null", "?", "--null", "NA"]):
        (attribute,) = found(file, "--class", "label", *nulls)["attributes"]
        values.append(attribute["values"])
    assert values == [4, 4, 3]


def test_text_keeps_leading_zeros(found, file):
    file.write_text("code,label\n1,a\n1.0,a\n2,b\n")
    (attribute,) = found(file, "--class", "label", "--text", "code")["attributes"]
    assert attribute["values"] == 3


@pytest.mark.parametrize(
    ("name", "delimiter", "options"),
    [
        ("x.tsv", "\t", []),
        ("x.txt", ";", ["--delimiter", ";"]),
        ("x.csv", "\t", ["--delimiter", "\\t"]),
        ("X.CSV", ",", []),
    ],
)
def test_delimiters(found, tmp_path, name, delimiter, options):
    path = tmp_path / name
    path.write_text(CSV.replace(",", delimiter), encoding="utf-8")
    assert found(path, "--class", "label", "--columns", "colour,size", *options) == FOUND


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.zst", "csv.lz4"])
def test_compressed_csv(found, tmp_path, ending):
    path = tmp_path / f"small.{ending}"
    with pa.output_stream(path) as stream:  # compressed as its name says
        stream.write(CSV.encode())
    assert path.read_bytes() != CSV.encode()
    plain = tmp_path / "small.csv"
    plain.write_text(CSV)
    arguments = ("--class", "label", "--columns", "colour,size")
    assert found(path, *arguments) == (expected := found(plain, *arguments))
    # What looks like weights is found in the beginning of the file.
    assert "give --weights weight" in expected["warnings"][0]


@pytest.mark.parametrize("ending", ["parquet", "pq"])
def test_parquet_says_the_same_as_csv(found, tmp_path, ending):
    path = tmp_path / f"small.{ending}"
    colours = pa.array(["red"] * 4 + ["blue", None]).dictionary_encode()
    columns = {
        "colour": colours,
        "size": [1, 2, 1, 2, 1, 2],
        "weight": [1, 3, 1, 1, 2, 4],
        "label": list("aabbbb"),
    }
    pq.write_table(pa.table(columns), path)
    assert found(path, "--class", "label", "--columns", "colour,size") == FOUND
    weighted = found(path, "--class", "label", "--weights", "weight")
    assert weighted["classes"] == [{"label": "a", "count": 4}, {"label": "b", "count": 8}]


def test_labels_keep_their_kind_in_json(found, file):
    file.write_text("x,label\n1,\n2,2\n3,1\n")
    assert [entry["label"] for entry in found(file, "--class", "label")["classes"]] == [1, 2, None]
    file.write_text("x,label\n1,0.5\n2,2\n")
    assert [entry["label"] for entry in found(file, "--class", "label")["classes"]] == [0.5, 2.0]


def test_ties_of_a_wide_domain_are_not_counted(run, found, file):
    names = [f"a{i}" for i in range(7)]
    lines = [",".join([*names, "label"])]
    lines += [",".join([str(row)] * 7 + ["ab"[row % 2]]) for row in range(10)]
    file.write_text("\n".join(lines) + "\n")
    answer = found(file, "--class", "label")
    assert (answer["tuples"], answer["tied_tuples"]) == (10**7, None)
    _, out, _ = run("inspect", file, "--class", "label")
    assert "tuples in the domain     10,000,000\n" in out
    assert "tuples with tied scores  not counted (more than 1,000,000 tuples)\n" in out


@pytest.mark.parametrize("method", ["canonical", "safetytransform"])
def test_what_could_be_had_in_place_of_a_demand_is_one_sentence(run, tmp_path, method):
    lines = [f"{a},{b},{'x' if 3 * a + b > 5 else 'y'}\n" for a in range(4) for b in range(4)]
    (tmp_path / "rows.csv").write_text("a,b,ill\n" + "".join(lines) * 3)
    arguments = ("publish", tmp_path / "rows.csv", "--class", "ill", "--amplification", 4, "--method", method)
    code, _, errors = run(*arguments, "--rows", 9, "--out", tmp_path / "out")
    assert code == 1
    found = [line for line in errors.splitlines() if line.startswith("nbcfast: best found: ")]
    kept = r"(not )?identical: the (best class|order of all classes) (on all|differs on \d+ of) 16 tuples"
    (line,) = found
    assert re.match(rf"nbcfast: best found: a release of \d+ rows; {kept}", line), line
    assert "not known" not in errors


def test_numbers_of_any_size_have_one_notation():
    assert [amount_text(number) for number in (0, 10**15 - 1, 10**15, 2**69, 9960 * 10**17, 10**400)] == [
        "0",
        "999,999,999,999,999",
        "about 1.0 * 10^15",
        "about 5.9 * 10^20",
        "about 1.0 * 10^21",
        "about 1.0 * 10^400",
    ]


def test_a_domain_beyond_every_float(run, found, file):
    lines = [[*(f"a{i}" for i in range(320)), "label"], *([value] * 320 + ["a"] for value in "0123456789")]
    file.write_text("".join(",".join(line) + "\n" for line in lines))
    assert found(file, "--class", "label")["tuples"] == hex(10**320)
    _, out, _ = run("inspect", file, "--class", "label")
    assert "tuples in the domain     about 1.0 * 10^320\n" in out


def test_labels_cannot_steer_the_terminal(run, file):
    file.write_text("[bold]x,label\n1,\x1b[31mred\n2,:smile: [red]\n", encoding="utf-8")
    _, out, _ = run("inspect", file, "--class", "label")
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
    assert ":smile: [red]" in out
    assert "[bold]x" in out


def test_what_the_encoding_cannot_spell_is_escaped(file):
    file.write_text("größe,label\n1,ä\n2,λ\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "nbcfast", "inspect", str(file), "--class", "label"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u03bb" in done.stdout


def test_a_bar_on_a_terminal_only_and_on_stderr(run, file, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    code, out, err = run("inspect", file, "--class", "label", "--columns", "colour,size")
    assert (code, out) == (0, f"{SHOWN.format(file=file)}\n- {UNCOUNTED}\n")
    assert "reading" in err
    code, out, err = run("inspect", file.with_name("none.csv"), "--class", "label")
    assert (code, out, err) == (2, "", f"nbcfast: {file.with_name('none.csv')}: No such file or directory\n")


def test_help_and_version(run):
    assert run("--version") == (0, f"nbcfast, version {nbcfast.__version__}\n", "")
    for arguments in (["--help"], ["-h"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "inspect" in out
    code, out, err = run("inspect", "--help")
    assert (code, err) == (0, "")
    assert "--class NAME" in out
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "inspect" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["inspect"], "Missing argument 'FILE'"),
        (["inspect", "{file}"], "Missing option '--class'"),
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
            "column 'colour' has 3 values, more than --max-values 2: choose other --columns",
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
        (["inspect", "{folder}/folder.csv", "--class", "label"], "folder.csv: Is a directory"),
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


@pytest.mark.parametrize("package", ["click", "rich", "pyarrow"])
def test_a_missing_package_is_named(package, file):
    program = (
        f"import sys; sys.modules[{package!r}] = None; from nbcfast.cli import main; "
        f"main(['inspect', {str(file)!r}, '--class', 'label'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"nbcfast: the command line needs {package}, which is missing: pip install click rich pyarrow\n"
    )


def test_interrupt(run, file, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(nbcfast, "read_csv", interrupted)
    assert run("inspect", file, "--class", "label") == (130, "", "")


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


@pytest.mark.skipif(os.name == "nt", reason="no such pipe")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_left(file, options):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = elsewhere("inspect", file, "--class", "label", *options, stdout=theirs)
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.skipif(os.name == "nt", reason="no such descriptors")
def test_a_closed_stdout_is_said_before_the_work(file, tmp_path):
    arguments = ["publish", str(file), "--class", "label", "--identity", "--out", str(tmp_path / "new")]
    done = elsewhere(*arguments, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, CLOSED)
    assert not (tmp_path / "new").exists()


CLOSED = "nbcfast: stdout is closed: give it a file, or /dev/null\n"
VERBS = [
    *("attack", "check", "closeness", "disclose", "disguise", "estimate", "inspect", "publish"),
    *("risk", "verify", "skyline anonymize", "skyline check", "skyline find", "response plan"),
]


def names_of(command, above=()):
    """The verbs of a group of click's, with their subcommands."""
    if not hasattr(command, "commands"):
        return [" ".join(above)]
    return [name for sub, one in command.commands.items() for name in names_of(one, (*above, sub))]


def test_all_verbs_are_listed_here(run):
    assert run("--help")[0] == 0  # which loads them
    assert sorted(names_of(verbs)) == sorted(VERBS)


@pytest.mark.parametrize("verb", ["", *VERBS])
@pytest.mark.parametrize("options", [[], ["--help"]])
def test_every_verb_says_that_stdout_is_closed(verb, options, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr("nbcfast.cli.options.run", None)
    with pytest.raises(SystemExit) as left:
        main([*verb.split(), *options])
    assert (left.value.code, capsys.readouterr().err) == (2, CLOSED)


def no_threads():
    """A stack so large that no thread finds room for its own."""
    import resource

    resource.setrlimit(resource.RLIMIT_STACK, (1 << 36, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 33, resource.getrlimit(resource.RLIMIT_AS)[1]))


@pytest.fixture(scope="module")
def without_threads():
    """Run the command line where it can start no thread."""
    if sys.platform != "linux":
        pytest.skip("limits as Linux keeps them")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENBLAS_NUM_THREADS", "1")
        program = "import threading; threading.Thread(target=print).start()"
        done = subprocess.run(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, check=False, preexec_fn=no_threads
        )
        assert b"can't start new thread" in done.stderr
        yield lambda *arguments: elsewhere(*arguments, stdout=subprocess.PIPE, preexec_fn=no_threads)


BY_SIZE = ["--by", "size", "--sensitive", "label"]
IN_LITTLE_MEMORY = [
    *("--quasi", "size", "--sensitive", "label", "--k", "2"),
    *("--memory-limit", "64MB", "--out", "new.parquet"),
]


@pytest.mark.parametrize(
    ("ending", "arguments"),
    [
        ("csv", ["inspect", "FILE", "--class", "label"]),
        ("parquet", ["inspect", "FILE", "--class", "label"]),
        ("parquet", ["skyline", "check", "FILE", *BY_SIZE, "--point", "0,0,0,1"]),
        ("csv", ["skyline", "anonymize", "FILE", *IN_LITTLE_MEMORY]),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part[:2]),
)
def test_a_limit_of_threads_is_named_in_one_line(
    without_threads, file, tmp_path, monkeypatch, ending, arguments
):
    monkeypatch.chdir(tmp_path)
    if ending == "parquet":
        table = nbcfast.read_csv(file)
        file = file.with_suffix(".parquet")
        pq.write_table(pa.table(table.to_arrow()), file)
    done = without_threads(*[str(file) if part == "FILE" else part for part in arguments])
    assert (done.returncode, done.stdout) == (2, "")
    limits = "a limit of processes (ulimit -u) or of memory (ulimit -v) is reached"
    assert done.stderr == f"nbcfast: no thread can be started: {limits}\n"
    assert [path.name for path in tmp_path.iterdir() if "small" not in path.name] == []


def test_what_needs_no_file_of_rows_needs_no_thread(without_threads, run, tmp_path):
    views = nbcfast.Viewset([30, 30], {"x": [[10, 20], [20, 10]], "y": [[10, 20], [20, 10]]})
    nbcfast.safety_transform(views, 3).save(tmp_path / "new")
    code, out, _ = run("verify", tmp_path / "new")
    done = without_threads("verify", tmp_path / "new")
    assert (done.returncode, done.stdout, done.stderr) == (code, out, "")
    assert code == 0


def test_a_package_that_cannot_be_loaded_is_not_called_missing(refused, file, monkeypatch):
    def broken():
        raise ImportError("libarrow.so: failed to map segment", name="pyarrow.lib")

    monkeypatch.setattr("nbcfast.cli.reading.load_pyarrow", broken)
    assert refused("inspect", file, "--class", "label") == "libarrow.so: failed to map segment"
    monkeypatch.undo()
    load = builtins.__import__

    def importing(name, *arguments):
        if name == "pyarrow":
            broken()
        return load(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", importing)
    said = refused("inspect", file, "--class", "label")
    assert said == "pyarrow cannot be loaded: libarrow.so: failed to map segment"


@pytest.mark.skipif(os.name == "nt", reason="no such descriptors")
def test_what_goes_to_a_closed_stderr_stands_nowhere_else(file, tmp_path):
    done = elsewhere(
        "inspect", file, "--class", "nobody", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2)
    )
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("number", ["\uff14", " 4", "4 ", "1 0", "1_0", "\u0664", "4\u00a0", "\t4"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["publish", "FILE", "--class", "label", "--out", "new", "--amplification", "NUMBER"],
        ["publish", "FILE", "--class", "label", "--out", "new", "--amplification", "4", "--rows", "NUMBER"],
        ["inspect", "FILE", "--class", "label", "--max-values", "NUMBER"],
        ["skyline", "check", "FILE", "--by", "colour", "--sensitive", "label", "--point", "0,0,0,NUMBER"],
        ["skyline", "check", "FILE", "--by", "colour", "--sensitive", "label", "--point", "NUMBER,0,0,1"],
        ["skyline", "find", "FILE", "--by", "colour", "--sensitive", "label", "--confidence", "NUMBER"],
        [
            "skyline",
            "anonymize",
            "FILE",
            "--quasi",
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


def test_numbers_that_64_bits_do_not_hold_are_said_to_be_text(run, tmp_path):
    path = tmp_path / "long.csv"
    rows = ["18446744073709551616,1.5,7,a", "5,9007199254740993,8,b", ",2.5,9,a", "6,3.5,9,b"]
    path.write_text("\n".join(["id,share,size,label", *rows]), encoding="utf-8")
    asked = (path, "--class", "label")
    first = (
        "id holds numbers that 64 bits do not, as 18446744073709551616, and is read as text, in the order of "
        "texts: --text id says that this is meant."
    )
    code, out, err = run("inspect", *asked)
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("- ")] == [
        f"- {first}",
        "- share holds numbers that 64 bits do not, as 9007199254740993, and is read as text, in the order "
        "of texts: --text share says that this is meant.",
    ]
    assert json.loads(run("inspect", *asked, "--json")[1])["warnings"][0] == first
    assert "--text" not in run("inspect", *asked, "--text", "id", "--text", "share")[1]
    published = (*asked, "--amplification", "4", "--out", tmp_path / "out", "--columns", "id,size", "--json")
    assert first in json.loads(run("publish", *published)[1])["warnings"]
