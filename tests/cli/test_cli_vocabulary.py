"""One word for each idea: the page of options has every option of every verb, and no other."""

import re
from pathlib import Path

import click
import pytest

from nbcfast.cli import options
from nbcfast.cli.grammar import SECTIONS, SHORT, leaves

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "options.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| idea")
]
options.load()
LEAVES = leaves(options.verbs)
TAKEN = {
    " ".join(path): {param.opts[0]: param for param in verb.params if isinstance(param, click.Option)}
    for path, verb in LEAVES.items()
}


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_option_has_a_line_and_every_line_an_option():
    lines = [option for row in ROWS for option in quoted(row[1])]
    assert len(lines) == len(set(lines)), "one line for each word"
    ideas = [row[0] for row in ROWS]
    assert len(ideas) == len(set(ideas)), "one word for each idea"
    there = {option for taken in TAKEN.values() for option in taken}
    missing = "\n".join(f"| IDEA | `{option}` | VERBS | |" for option in sorted(there - set(lines)))
    assert not missing, (
        f"needs a line in docs/reference/options.md, or an older word for its idea:\n{missing}"
    )
    assert set(lines) - there == set()


def test_long_help_has_the_sections_of_the_page(run):
    page = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            words = page[line[3:]] = []
        elif line.startswith("| ") and not line.startswith("| idea"):
            words += [option.removeprefix("--") for option in quoted(line.strip("|").split("|")[1])]
    assert page == {title: words.split() for title, words in SECTIONS.items()}
    for verb, taken in TAKEN.items():
        printed = run(*verb.split(), "--help")[1]
        long = len(taken) >= SHORT  # and --help
        assert ("\nOptions:\n" in printed, "\nWhat is written and printed:\n" in printed) == (not long, long)
        assert all(f"\n  {option}" in printed for option in taken)


@pytest.mark.parametrize("row", [row for row in ROWS if quoted(row[2])], ids=lambda row: row[1])
def test_the_verbs_of_a_line_are_those_that_have_its_options(row):
    for option in quoted(row[1]):
        having = {verb for verb, taken in TAKEN.items() if option in taken}
        named = quoted(row[2])
        assert all(any(verb == name or verb.startswith(f"{name} ") for name in named) for verb in having), (
            having
        )
        assert all(any(verb == name or verb.startswith(f"{name} ") for verb in having) for name in named), (
            named
        )


def test_a_line_says_what_its_option_was_called():
    found = {}
    for verb, taken in TAKEN.items():
        for option, param in taken.items():
            for former in getattr(param, "former", ()):
                found.setdefault(option, set()).add((former, verb))
    said = {}
    for row in ROWS:
        for former, verb in re.findall(r"`(--[a-z-]+)` of `([a-z ]+)`", row[3]):
            said.setdefault(quoted(row[1])[0], set()).add((former, verb))
    assert said == found


def test_options_are_long_words_and_take_one_name():
    for taken in TAKEN.values():
        for param in taken.values():
            assert param.opts[1:] == []
            assert re.fullmatch(r"--[a-z]+(-[a-z]+)*", param.opts[0])
            assert not param.secondary_opts
            assert param.help
