"""`nbcfast explain` says what a word means, whatever form it stands in."""

import json

import pytest

from nbcfast.glossary import words

pytest.importorskip("click")
pytest.importorskip("rich")


def test_a_word_is_explained(run):
    code, out, err = run("explain", "BITS", "a", "weight")
    assert (code, err) == (0, "")
    assert out.startswith("bits a weight\n\nHow long the smallest weights are that give all the answers.\n")
    assert "what to do  " in out
    assert "see         nbcfast advise, docs/guides/canonical.md" in out


def test_a_line_of_a_screen_is_explained(run):
    code, out, _ = run("explain", "limit of Lambda, in every stratum")
    assert code == 0
    assert out.startswith("limit of Lambda (see Lambda)\n")
    assert "\nstratum (see strata)\n" in out


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("class shows", "class shows (see flip)"),
        ("flip", "flip"),
        ("limit kept", "limit kept (see Lambda)"),
        ("public totals", "public totals (see found)"),
        ("--max-found", "--max-found (see found)"),
        ("--max-bits", "--max-bits (see bits a weight)"),
    ],
)
def test_what_was_asked_stands_first_and_alone(run, asked, heading):
    code, out, err = run("explain", *asked.split())
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == heading
    assert out.count("what to do  ") == 1


def test_all_words_are_listed(run):
    code, out, err = run("explain")
    assert (code, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines() if "  " in line] == list(words())


def test_json(run):
    assert [one["word"] for one in json.loads(run("explain", "--json")[1])] == list(words())
    (one,) = json.loads(run("explain", "--json", "epsilon")[1])
    assert set(one) == {"word", "also", "short", "means", "to_do", "pages", "verbs"}


def test_an_unknown_word_asks_about_near_ones(refused):
    assert refused("explain", "epsilom") == (
        "WORD: no entry for 'epsilom'; did you mean 'epsilon' or 'dp-epsilon'? (`nbcfast explain` lists "
        "all words)"
    )
    assert refused("explain", "sunshine").endswith("'sunshine' (`nbcfast explain` lists all words)")


def test_a_phrase_that_is_mistyped_is_not_explained_by_one_of_its_words(refused):
    assert "no entry for 'clas shows'; did you mean 'class shows'" in refused("explain", "clas", "shows")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("not measured", "Take it that the worst holds"),
        ("mind this", "it stands within one that lets some of it through"),
        ("that of the private views", "The counts of the private table that a classifier was made of"),
        ("held out", "each row by a classifier of the other parts"),
        ("raw", "before it was put into a bin or set"),
        ("[40, 60)", "up to, but not including, 20"),
        ("(-inf, 10)", "up to, but not including, 20"),
        ("one answer", "what a classifier has to be better than"),
        ("nobody has it", "A value of the declared domain that no row has"),
    ],
)
def test_words_of_a_first_screen_are_explained_without_calming(run, asked, said):
    code, out, err = run("explain", *asked.split())
    assert (code, err) == (0, "")
    assert said in out
    assert "neither good nor bad" not in out
