"""The glossary has an entry for every word that stands on a screen, and finds it in any form."""

import re
from collections import Counter
from pathlib import Path

import pytest

from nbcfast.canonical import Limits
from nbcfast.glossary import entry, page, terms_in, words

TOP = Path(__file__).resolve().parents[2]
FIXTURE = TOP / "tests" / "fixture"
RULE = {"─"}

# What stands on the left of a line, or at the head of a table, and is no word of ours: marks, numbers, names
# of the examples' columns and values, and words that need no entry.
MARKS = r"(?:yes|NO|no|\?|~|x|!|ok|-)"
NO_WORDS = re.compile(
    rf"{MARKS}|[\W\d]+|\(.*\)|\d .*|above \d.*|template \d+|P\(\.\., .*\)|given .*|of them|why|what to do"
)
EXAMPLES = {
    "diagnosis",
    "label",
    "problem",
    "name",
    "smokes, drinks",
    "health",
    "kinds",
    "glucose",
    "age",
    "bmi",
    "predicted",
    "diabetes",
    "healthy",
}


def labels(text):
    """What was looked at, what stands on the left of lines that have two parts, and heads of tables."""
    lines, in_table = text.splitlines(), False
    yield from re.findall(r"^  (?:x|\?|!|ok) +(\S.*?)  ", text, re.MULTILINE)
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if not line.strip():
            in_table = False
        elif set(after.strip()) == RULE:
            in_table = True
            yield from re.split(r"\s{2,}", line.strip())
        elif not in_table and not line.startswith(("-", "$", "nbcfast", " ")):
            two = re.match(rf"(?:{MARKS}\s+)?(\S.*?)\s{{2,}}\S", line)
            if two is not None:
                yield two[1]


def test_every_label_of_every_screen_has_an_entry():
    missing = {}
    for path in sorted(FIXTURE.glob("*.txt")):
        if path.stem.startswith("explain"):
            continue
        for label in labels(path.read_text(encoding="utf-8")):
            if not (NO_WORDS.fullmatch(label) or label in EXAMPLES or terms_in(label)):
                missing.setdefault(label, path.stem)
    assert missing == {}, "add these to nbcfast/glossary/terms.toml, and run tools/glossary_page.py"


@pytest.mark.parametrize("word", words())
def test_an_entry_is_whole(word):
    one = entry(word)
    assert one.word == word
    assert one.short.endswith(".")
    assert 1 <= one.means.count(".") <= 8
    assert one.means.endswith(".")
    assert one.todo.endswith(".")
    assert len(one.short) <= 140
    assert not re.search(r"\b(anonymous|compliant)\b", f"{one.short} {one.means} {one.todo}", re.IGNORECASE)
    assert one.see
    for name in one.pages:
        assert (TOP / "docs" / f"{name}.md").exists(), name


def test_what_to_see_are_verbs_that_there_are():
    options = pytest.importorskip("nbcfast.cli.options")
    options.run(["--version"])
    for word in words():
        for verb in entry(word).verbs:
            group = options.verbs
            for part in verb.split():
                group = group.commands[part]


def test_a_limit_is_said_as_it_is():
    """The usual limits, beside the options that set them."""
    usual = Limits()
    said = {
        "--max-bits": f"`publish` refuses more than {usual.max_bits:g} unless",
        "--max-found": f"`--max-found` sets the limit, which is {usual.max_found}.",
        "--min-flip": f"`--min-flip` sets the limit, which is {usual.min_flip:.0%}.".replace("%", " %"),
        "--min-trace": "`--min-trace` sets a limit, where there is none.",
        "--max-one-class": f"`--max-one-class` sets the limit, which is {usual.max_one_class}.",
    }
    assert usual.min_trace is None
    for option, words_of_it in said.items():
        one = entry(option)
        assert words_of_it in f"{one.means} {one.todo}"


def test_options_that_are_named_are_options():
    options = pytest.importorskip("nbcfast.cli.options")
    options.run(["--version"])
    leaves = pytest.importorskip("nbcfast.cli.grammar").leaves
    there = {
        name for verb in leaves(options.verbs).values() for param in verb.params for name in param.opts
    } | {"--quasi"}
    for word in words():
        one = entry(word)
        texts = " ".join((*one.also, one.means, one.todo))
        assert {*re.findall(r"--[a-z][a-z-]+", texts)} <= there, word


def test_no_form_stands_for_two():
    forms = {(re.sub(r"[\W_]+", " ", form.casefold()).strip(), word) for word in words() for form in of(word)}
    assert {form for form, n in Counter(form for form, _ in forms).items() if n > 1} == set()


def of(word):
    return (word, *entry(word).also)


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("lambda", "Lambda"),
        ("LAMBDAS", "Lambda"),
        ("amplification", "Lambda"),
        ("--max-one-class", "one-class values"),
        ("possible case", "possible cases"),
        ("Kinds of People", "possible cases"),
        ("identities", "identity"),
        ("class_shows", "flip"),
        ("classes", "smallest class"),
        ("certificate.json", "certificate"),
        ("sha256", "sha256"),
        ("safety transform", None),
        ("", None),
        ("sunshine", None),
    ],
)
def test_a_word_is_found_in_any_form(asked, word):
    found = entry(asked)
    assert (None if found is None else found.word) == word


def test_words_of_the_issue_have_entries():
    asked = """Lambda; bits a weight; flip; trace; found; kinds of people; tuples; one-class values; attacker;
        worst posterior; log-loss; canonical; SafetyTransform; EST; epsilon; delta; rho; k; l; m; t-closeness;
        confidence; breach; template; disguised; theta; ledger; strata; domain; declared; menu; gauge;
        identity; preserve; claim; not decided; undeclared; certificate; sha256"""
    assert [word for word in re.split(r";\s+", asked) if entry(word.strip()) is None] == []


def test_the_terms_of_a_line_are_the_longest():
    assert [one.word for one in terms_in("worst posterior of healthy, in every stratum")] == [
        "worst posterior",
        "strata",
    ]
    assert terms_in("nothing here of interest") == []


def test_the_page_is_made_of_the_entries():
    made = (TOP / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert made == page(), "run tools/glossary_page.py"
