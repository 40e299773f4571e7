"""Completion in three shells: driven as the shells drive it, and once in a real bash."""

import os
import shlex
import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import warm
from small_table import write

import nbcfast
from nbcfast.cli import completing, options
from nbcfast.cli.grammar import FORMER, WANTS, leaves

options.load()


@pytest.fixture
def completed(run, monkeypatch, tmp_path):
    """What is offered for the last word of a line."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path)

    def completed(line, shell="bash", code=0):
        words = line.split(" ")
        monkeypatch.setenv("_NBCFAST_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
        left, out, err = run()
        monkeypatch.delenv("_NBCFAST_COMPLETE")
        assert (left, err) == (code, "")
        if shell == "zsh":
            lines = out.strip().splitlines()
            return [value for kind, value in zip(lines[::3], lines[1::3], strict=True) if kind == "plain"]
        values = [line.partition(",") for line in out.splitlines()]
        return [value.partition("\t")[0] for kind, _, value in values if kind == "plain"]

    return completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_offered_verbs_options_choices_and_columns(completed, shell):
    verbs = {name for names in WANTS.values() for name in names} & set(options.verbs.commands)
    assert set(completed("nbcfast ", shell)) == verbs
    assert completed("nbcfast skyline f", shell) == ["find"]
    assert completed("nbcfast publish small.csv --att", shell) == ["--attacker"]
    assert completed("nbcfast publish small.csv --attacker ", shell) == ["row", "worlds"]
    assert completed("nbcfast publish small.csv --attacker w", shell) == ["worlds"]
    assert completed("nbcfast inspect small.csv --class ", shell) == ["colour", "size", "weight", "label"]
    assert completed("nbcfast inspect small.csv --class l", shell) == ["label"]
    assert completed("nbcfast inspect small.csv --columns size,", shell) == [
        *("size,colour", "size,weight", "size,label"),
    ]
    assert completed("nbcfast completion ", shell) == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("path", leaves(options.verbs), ids=" ".join)
def test_every_option_of_every_verb_is_offered_by_one_name(path, completed):
    shown = [
        name
        for param in leaves(options.verbs)[path].params
        if param.param_type_name == "option"
        for name in param.opts
        if name.startswith("--")
    ]
    assert completed(f"nbcfast {' '.join(path)} --") == [*shown, "--help"]


@pytest.mark.parametrize("former", FORMER)
def test_former_names_complete_and_are_not_offered(former, completed):
    assert former not in completed("nbcfast ")
    assert "--json" in completed(f"nbcfast {former} --js")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("skyline check small.csv --by ", "colour size weight label"),
        ("skyline check small.csv --sensitive la", "label"),
        ("inspect small.csv --weights w", "weight"),
        ("inspect small.csv --class = l", "label"),
        ("inspect small.csv --class =", "colour size weight label"),
        ("inspect --class label small.csv --weights w", "weight"),
        ("inspect small.csv --class label --columns colour,s", "colour,size"),
        ("verify made --against small.csv --class l", "label"),
        ("risk small.csv --view c", "colour"),
        ("check small.csv --text c", "colour"),
        ("inspect other.tsv --class ", "one two\\ words"),
        ("inspect semi.csv --delimiter ; --class ", "u v"),
        ("inspect small.parquet --class l", "label"),
        ("estimate told --class c", "colour"),
        ("inspect none.csv --class ", ""),
        ("inspect - --format csv --class ", ""),
        ("inspect broken.csv --class ", ""),
        ("inspect broken.parquet --class ", ""),
        ("inspect empty.csv --class ", ""),
        ("inspect no-such-ending --class ", "a b"),
        ("inspect pipe.csv --class ", ""),
        ("inspect --class ", ""),
    ],
)
def test_columns_come_from_the_header_of_the_file_that_is_typed(completed, tmp_path, line, expected):
    (tmp_path / "other.tsv").write_text("one\ttwo words\n1\t2\n")
    (tmp_path / "semi.csv").write_text("u;v\n1;2\n")
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfe\x00a\n")
    (tmp_path / "broken.parquet").write_text("none")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "no-such-ending").write_text("a,b\n")
    (tmp_path / "told").mkdir()
    (tmp_path / "told" / "table.csv").write_text("colour,ill\nred,yes\n")
    os.mkfifo(tmp_path / "pipe.csv")
    pq.write_table(pa.table(nbcfast.read_csv(tmp_path / "small.csv").to_arrow()), tmp_path / "small.parquet")
    found = completed(f"nbcfast {line}")
    assert found == shlex.split(expected.replace("\\ ", "\\\\\\ ")) or " ".join(found) == expected


def test_no_more_than_the_header_is_read(completed, tmp_path, monkeypatch):
    large = tmp_path / "large.csv"
    large.write_text("a,b,class\n1,2,3\n")
    os.truncate(large, 1 << 40)  # of which nothing is on the disk
    read, reads = [], completing.header_of

    def counted(file, delimiter):
        from nbcfast.publishing import beginnings

        first = beginnings._first_bytes
        with monkeypatch.context() as patched:
            patched.setattr(
                beginnings, "_first_bytes", lambda *a, **o: read.append(first(*a, **o)) or read[-1]
            )
            return reads(file, delimiter)

    monkeypatch.setattr(completing, "header_of", counted)
    assert completed("nbcfast inspect large.csv --class c") == ["class"]
    assert read == [b"a,b,class\n"]


def test_names_that_are_more_than_letters_are_quoted(completed, tmp_path):
    (tmp_path / "odd.csv").write_text('"a,b","$(x) \'y\'",plain,"two\nlines"\n1,2,3,4\n')
    assert completed("nbcfast inspect odd.csv --class ") == ["a,b", "\\$\\(x\\)\\ \\'y\\'", "plain"]
    assert completed("nbcfast inspect odd.csv --columns ")[0] == '\\"a,b\\"'


def test_whatever_goes_wrong_is_silent(completed, monkeypatch, run):
    def broken(*_):
        raise RuntimeError("no")

    for shell in ("powershell", "bash_", "", "csh"):
        monkeypatch.setenv("_NBCFAST_COMPLETE", f"{shell}_complete")
        monkeypatch.delenv("COMP_WORDS", raising=False)
        assert run() == (1, "", "")
    monkeypatch.setattr(completing.Bash, "get_completions", broken)
    assert completed("nbcfast ", code=1) == []
    monkeypatch.setattr(completing, "header_of", broken)
    assert completed("nbcfast inspect small.csv --class ", "zsh") == []


def test_scripts(run):
    for shell in ("bash", "zsh", "fish"):
        code, out, err = run("completion", shell)
        assert (code, err) == (0, "")
        assert "nbcfast" in out
        assert "2> /dev/null" in out or "2>/dev/null" in out
    assert run("completion", "csh")[0] == 2
    left, out, err = run("completion")
    assert (left, out) == (2, "")
    for place in completing.PLACES.values():  # where it belongs stands in the help, and where it is missing
        assert place in err
        assert f" > {place}\n" in run("completion", "--help")[1]
    assert "\\b" not in run("completion", "--help")[1]
    assert 'string split --max 1 ","' in run("completion", "fish")[1]


BASH = """
set -eu
source <(nbcfast completion bash)
offered() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _nbcfast_completion nbcfast "${COMP_WORDS[COMP_CWORD]}" ""
    printf '%s\\n' "${COMPREPLY[@]}" --
}
complete -p nbcfast
offered nbcfast skyline ""
offered nbcfast inspect small.csv --class ""
offered nbcfast inspect small.csv --class = l
offered nbcfast inspect '"two words.csv"' --columns a,
"""


def test_a_real_bash(tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    write(tmp_path)
    (tmp_path / "two words.csv").write_text("a,b c\n1,2\n")
    with warm.commands() as place:
        done = subprocess.run(
            [bash, "--norc", "-c", BASH],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    registered, *offered = done.stdout.splitlines()
    assert registered == "complete -o nosort -F _nbcfast_completion nbcfast"
    words = "\n".join(offered).split("\n--")
    assert words[0].split() == ["anonymize", "check", "find"]
    assert words[1].split() == ["colour", "size", "weight", "label"]
    assert words[2].split() == ["label"]
    assert words[3].strip() == "a,b\\ c"
