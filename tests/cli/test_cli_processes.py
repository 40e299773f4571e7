"""The command line as a process: streams, packages, threads, and what ends it."""

import builtins
import importlib.metadata
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accepting import ANYHOW
from small_table import SHOWN, UNCOUNTED, elsewhere, write

import nbcfast
from nbcfast.cli import main
from nbcfast.cli.grammar import leaves
from nbcfast.cli.options import verbs


@pytest.fixture
def file(tmp_path):
    return write(tmp_path)


def test_a_process_of_its_own_in_a_pipe(file):
    arguments = ("inspect", file, "--class", "label", "--columns", "colour,size")
    done = elsewhere(*arguments, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        SHOWN.format(file=file, uncounted=UNCOUNTED),
        "",
    )
    assert "\x1b" not in done.stdout


def test_the_console_script_is_main():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="nbcfast")
    assert script.load() is main


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
    assert (code, out) == (0, SHOWN.format(file=file, uncounted=UNCOUNTED))
    assert "reading" in err
    code, out, err = run("inspect", file.with_name("none.csv"), "--class", "label")
    assert (code, out, err) == (2, "", f"nbcfast: {file.with_name('none.csv')}: No such file or directory\n")


def as_parquet(file):
    """The rows of a CSV file, for which pyarrow is needed."""
    pq.write_table(pa.table(nbcfast.read_csv(file).to_arrow()), file.with_suffix(".parquet"))
    return file.with_suffix(".parquet")


@pytest.mark.parametrize("package", ["click", "rich"])
def test_a_missing_package_is_named(package, file):
    program = (
        f"import sys; sys.modules[{package!r}] = None; from nbcfast.cli import main; "
        f"main(['inspect', {str(file)!r}, '--class', 'label'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"nbcfast: the command line needs {package}, which is missing: pip install click rich\n"
    )


def test_a_package_that_cannot_be_loaded_is_not_called_missing(refused, file, monkeypatch):
    def broken():
        raise ImportError("libarrow.so: failed to map segment", name="pyarrow.lib")

    file = as_parquet(file)
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


def test_interrupt(run, file, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(nbcfast, "read_csv", interrupted)
    said = "nbcfast: stopped; nothing was written\n"
    assert run("inspect", file, "--class", "label") == (130, "", said)


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


CLOSED = "nbcfast: stdout is closed: give it a file, or /dev/null\n"


@pytest.mark.skipif(os.name == "nt", reason="no such descriptors")
def test_a_closed_stdout_is_said_before_the_work(file, tmp_path):
    arguments = [*ANYHOW, str(file), "--class", "label", "--identity", "--out", str(tmp_path / "new")]
    done = elsewhere(*arguments, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, CLOSED)
    assert not (tmp_path / "new").exists()


VERBS = [
    *(
        "advise",
        "attack",
        "closeness",
        "completion",
        "domain",
        "explain",
        "export",
        "gate",
        "init",
        "inspect",
        "points",
        "predict",
        "publish",
    ),
    *("report", "risk", "verify", "skyline anonymize", "skyline check", "skyline find", "templates check"),
    *(
        "templates disclose",
        "response plan",
        "response disguise",
        "response estimate",
        "ledger check",
        "ledger show",
    ),
]


def test_all_verbs_are_listed_here(run):
    assert run("--help")[0] == 0  # which loads them
    assert sorted(map(" ".join, leaves(verbs))) == sorted(VERBS)


@pytest.mark.parametrize("verb", ["", *VERBS])
@pytest.mark.parametrize("options", [[], ["--help"]])
def test_every_verb_says_that_stdout_is_closed(verb, options, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr("nbcfast.cli.options.run", None)
    with pytest.raises(SystemExit) as left:
        main([*verb.split(), *options])
    assert (left.value.code, capsys.readouterr().err) == (2, CLOSED)


@pytest.mark.skipif(os.name == "nt", reason="no such descriptors")
def test_what_goes_to_a_closed_stderr_stands_nowhere_else(file, tmp_path):
    done = elsewhere(
        "inspect", file, "--class", "nobody", stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2)
    )
    assert (done.returncode, done.stdout) == (2, "")


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
    *("--by", "size", "--sensitive", "label", "--k", "2"),
    *("--memory-limit", "64MB", "--out", "new.parquet"),
]


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "FILE", "--class", "label"],
        ["skyline", "check", "FILE", *BY_SIZE, "--point", "0,0,0,1"],
        ["skyline", "anonymize", "FILE", *IN_LITTLE_MEMORY],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_limit_of_threads_is_named_in_one_line(without_threads, file, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    file = as_parquet(file)
    done = without_threads(*[str(file) if part == "FILE" else part for part in arguments])
    assert (done.returncode, done.stdout) == (2, "")
    limits = "a limit of processes (ulimit -u) or of memory (ulimit -v) is reached"
    assert done.stderr == f"nbcfast: no thread can be started: {limits}\n"
    assert [path.name for path in tmp_path.iterdir() if "small" not in path.name] == []


def test_csv_is_read_without_another_thread(without_threads, file, run):
    code, out, _ = run("inspect", file, "--class", "label")
    done = without_threads("inspect", str(file), "--class", "label")
    assert (done.returncode, done.stdout, done.stderr) == (code, out, "")


def test_what_needs_no_file_of_rows_needs_no_thread(without_threads, run, tmp_path):
    views = nbcfast.Viewset([30, 30], {"x": [[10, 20], [20, 10]], "y": [[10, 20], [20, 10]]})
    nbcfast.safety_transform(views, 3).save(tmp_path / "new")
    code, out, _ = run("verify", tmp_path / "new")
    done = without_threads("verify", tmp_path / "new")
    assert (done.returncode, done.stdout, done.stderr) == (code, out, "")
    assert code == 0
