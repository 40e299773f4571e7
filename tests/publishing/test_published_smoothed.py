"""Smoothing before a release, from Python and from the command line: what is done, and what is said of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import nbcfast
from nbcfast._wire.smoothing_form import smoothing_note
from nbcfast.views.quality import evaluate

PEOPLE = {
    "job": ["clerk", "cook", "cook", "smith"] * 20 + ["smith"],
    "sex": ["f", "m", "f", "m", "m", "f", "m"] * 11 + ["f"] * 4,
    "ill": ["y", "n", "n", "n", "y", "n", "y", "n"] * 10 + ["n"],
}
VIEWS = nbcfast.count(PEOPLE, "ill")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    rows = zip(*PEOPLE.values(), strict=True)
    path.write_text("\n".join([",".join(PEOPLE), *map(",".join, rows)]) + "\n")
    return path


def test_before_is_the_smoothed_classifier_of_the_same_rows():
    made = nbcfast.publish(PEOPLE, "ill", 4, alpha="1/2", accept_answers=True)
    alone = nbcfast.canonical.release(VIEWS, 4, alpha="1/2", class_name="ill")
    assert made.release == replace(alone, certificate=alone.certificate.accepting())
    assert not made.before.amplification.infinite  # the private counts have zeros
    assert made.before.quality == evaluate(VIEWS.smoothed("1/2"), nbcfast.Table(PEOPLE), "ill")
    assert made.before.rows == 81
    assert smoothing_note(made.release.certificate.smoothing) in made.warnings
    assert made.to_dict()["smoothing"] == "1/2"


def test_without_it_nothing_is_said():
    made = nbcfast.publish(PEOPLE, "ill", 4, accept_answers=True)
    assert "smoothing" not in made.to_dict()
    assert made.before.amplification.infinite


def test_the_meter_measures_it():
    made = nbcfast.publish(PEOPLE, "ill", 4, alpha=30, accept_answers=True)
    assert made.leak == nbcfast.canonical.leak(VIEWS, alpha=30, table=PEOPLE, class_name="ill")
    assert made.leak != nbcfast.canonical.leak(VIEWS, table=PEOPLE, class_name="ill")


def test_a_domain_is_chosen_by_what_smoothed_answers_show():
    """The best domain without smoothing shows the class of 554 people with it."""
    examples = Path(__file__).parents[2] / "examples"
    menu = examples / "patients-menu.json"
    made = nbcfast.publish(examples / "patients.csv", "diagnosis", 4, alpha=1, menu=menu)
    best = made.advice.best
    assert (best.bits, best.found, best.flip) == (made.leak.bits, made.leak.found, made.leak.flip)
    assert best.flip == 1
    assert not [finding for finding in made.findings if finding.refuses]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"alpha": 0}, "alpha must be positive, got 0"),
        ({"alpha": 1, "method": "safetytransform"}, "alpha goes with method='canonical', not with"),
        ({"alpha": 1, "gauge": False}, "alpha goes with method='canonical', not with gauge=False"),
        ({"alpha": 1, "by": "sex"}, "alpha smooths one classifier, and does not go with by"),
    ],
)
def test_what_it_goes_with(more, message):
    with pytest.raises(ValueError, match=message):
        nbcfast.publish(PEOPLE, "ill", 4, **more)


def test_from_the_command_line(file, tmp_path, in_full):
    pytest.importorskip("click")
    words = ["publish", file, "--class", "ill", "--amplification", "4", "--accept-answers", "--smooth", "0.5"]
    code, out, _ = in_full(*words, "--out", tmp_path / "out")
    assert code == 0
    assert "before, smoothed by 1/2" in out
    assert "identical to the private classifier smoothed by 1/2: the best class" in " ".join(out.split())
    assert "protects nobody" in " ".join(out.split())
    code, out, _ = in_full("verify", tmp_path / "out", "--against", file)
    assert code == 0
    assert "beside the private classifier smoothed by 1/2: the best class is the same" in " ".join(
        out.split()
    )
    code, out, _ = in_full(*words, "--out", tmp_path / "more", "--json")
    assert json.loads(out)["smoothing"] == "1/2"


def test_what_shows_is_mended_by_a_choice_for_the_same_smoothing(file, tmp_path, run):
    pytest.importorskip("click")
    words = ["publish", file, "--class", "ill", "--amplification", "4", "--smooth", "1/3"]
    code, out, _ = run(*words, "--out", tmp_path / "out")
    assert code == 1
    mend = [line for line in out.splitlines() if " nbcfast advise " in line]
    assert mend
    assert all("--smooth 1/3" in line for line in mend)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--smooth", "-1"], "--smooth must be positive"),
        (["--smooth", "1", "--method", "safetytransform"], "--smooth goes with --method canonical"),
    ],
)
def test_the_command_line_names_its_option(more, message, file, tmp_path, run):
    pytest.importorskip("click")
    words = ["publish", file, "--class", "ill", "--amplification", "4", "--out", tmp_path / "out"]
    code, _, err = run(*words, *more)
    assert (code, message in err) == (2, True)
    assert not (tmp_path / "out").exists()
