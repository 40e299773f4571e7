"""One grammar: groups and former names, help that is not cut, examples that can be typed, versions."""

import json
import shlex

import click
import pytest
from frozen import FIG1, prepare

import nbcfast
from nbcfast.cli import options
from nbcfast.cli.grammar import CODES, FORMER, WANTS, leaves

options.load()
LEAVES = leaves(options.verbs)
MOST_LETTERS = 60  # of a line of help: with its verb it stands on a terminal of 80 columns


def groups_of(group, *above):
    yield above, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from groups_of(command, *above, name)


GROUPS = dict(groups_of(options.verbs))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that examples name."""
    path = tmp_path_factory.mktemp("examples")
    prepare(path)
    (path / "visits.csv").write_text(FIG1)
    (path / "menu-of-domains.json").rename(path / "patients-menu.json")
    return path


def test_every_verb_stands_under_what_people_want(run):
    wanted = [name for names in WANTS.values() for name in names]
    assert len(wanted) == len(set(wanted))
    assert set(options.verbs.commands) <= set(wanted)
    code, out, _ = run("--help")
    lines = out.splitlines()
    for want, names in WANTS.items():
        there = [name for name in names if name in options.verbs.commands]
        if there:
            start = lines.index(f"{want}:")
            found = [line.split()[0] for line in lines[start + 1 : start + 1 + len(there)]]
            assert (code, found) == (0, there)
    assert "Others" not in out


@pytest.mark.parametrize("path", [*LEAVES, *(path for path in GROUPS if path)], ids=" ".join)
def test_a_line_of_help_is_not_cut(path, run, monkeypatch):
    command = {**LEAVES, **GROUPS}[path]
    said = command.short_help
    assert said, "give it a short_help"
    assert len(said) <= MOST_LETTERS
    assert said.endswith(".")
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*path[:-1], "--help")
    assert code == 0
    assert [line for line in out.splitlines() if line.split() == [path[-1], *said.split()]]


@pytest.mark.parametrize("path", [(), *GROUPS, *LEAVES], ids=" ".join)
def test_h_is_help_everywhere(path, run):
    short, long = (run(*path, option) for option in ("-h", "--help"))
    assert short == long
    assert (short[0], short[2]) == (0, "")
    assert short[1].startswith(f"Usage: {' '.join(('nbcfast', *path))}")


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_an_example_can_be_typed(path, run, folder, monkeypatch):
    command = LEAVES[path]
    assert command.example, "give it an example"
    assert f"\n    {command.example}\n" in run(*path, "--help")[1]
    words = shlex.split(command.example)
    assert words[: 1 + len(path)] == ["nbcfast", *path]
    monkeypatch.chdir(folder)
    with options.verbs.make_context("nbcfast", words[1:]) as context:
        taken = context
        for _ in path:
            _, one, rest = taken.command.resolve_command(taken, [*taken._protected_args, *taken.args])
            taken = one.make_context(one.name, rest, parent=taken)
    assert taken.command is command


@pytest.mark.parametrize(("former", "path"), FORMER.items())
def test_former_names_of_verbs_are_taken_and_not_shown(former, path, run):
    assert run(former, "--help") == run(*path, "--help")
    assert former not in options.verbs.commands
    assert run(former) == run(*path)


FORMER_OPTIONS = {
    ("skyline", "anonymize"): {"--by": "--quasi"},
    ("publish",): {"--strata": "--by"},
    ("advise",): {"--score": "--by"},
    ("attack",): {"--attacker": "--convention"},
    ("response", "estimate"): {"--confidence": "--level", "--holdout": "--test"},
    ("risk",): {"--given": "--where"},
}


def test_former_names_of_options_are_taken_and_not_shown(run):
    found = {}
    for path, command in LEAVES.items():
        for param in command.params:
            for former in getattr(param, "former", ()):
                found.setdefault(path, {})[param.opts[0]] = former
                shown = [
                    line.split()[0] for line in run(*path, "-h")[1].splitlines() if line.startswith("  --")
                ]
                assert param.opts[0] in shown
                assert former not in shown
                value = "row" if former == "--convention" else "accuracy" if path == ("advise",) else "x"
                with command.make_context("it", [former, value], resilient_parsing=True) as context:
                    assert (
                        context.params[param.name] in (value, (value,))
                        or str(context.params[param.name]) == value
                    )
    assert found == FORMER_OPTIONS


def test_exit_codes_stand_below_the_verbs(run):
    out = run("--help")[1]
    for code, text in CODES.items():
        assert f"    {code:<4} {text}\n" in out


def test_versions_for_a_report_of_a_fault(run):
    for arguments in (["--version", "--json"], ["--json", "--version"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        said = json.loads(out)
        assert said["nbcfast"] == nbcfast.__version__
        assert len(said["kernels"]["sources"]) == 64
        assert {"python", "platform", "numpy", "gmpy2", "pyarrow", "cores"} <= set(said)
    assert run("--json") == (2, "", "nbcfast: --json goes behind the verb, or with --version.\n")
    assert run("--json", "inspect", "x.csv")[0] == 2


def test_a_package_that_is_missing_has_no_version(run, monkeypatch):
    monkeypatch.setattr("nbcfast.cli.version.OPTIONAL", ("no-such-package-anywhere",))
    assert json.loads(run("--version", "--json")[1])["no-such-package-anywhere"] is None
