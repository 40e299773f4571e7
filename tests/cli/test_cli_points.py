"""`nbcfast points`: what people add up by hand, in every form."""

import csv
import io
import json
import warnings

import pytest

import nbcfast
from nbcfast import canonical
from nbcfast.exports import points_of
from nbcfast.published.formulas import inert

pytest.importorskip("pyarrow")

TWO = nbcfast.Viewset(
    [5, 9],
    {"job": [[1, 6], [4, 3]], "=sex": [[1, 5], [4, 4]]},
    classes=["no", "yes"],
    domains={"job": ["a|b", None]},
)
THREE = nbcfast.Viewset([4, 4, 6], {"job": [[1, 2, 4], [3, 2, 2]]}, classes=["x", "y", "z"])


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = canonical.release(TWO, 4)
    release.save("two")
    canonical.release(THREE, 8).save("three")
    return release


def test_the_table_stands_below_what_it_is_of(run, made):
    code, printed, errors = run("points", "two")
    assert (code, errors) == (0, "")
    assert printed == f"points for class, from 2 attributes   two\n\n{made.scorecard().text()}\n"


def test_other_forms_are_printed_alone(run, made):
    assert run("points", "two", "--format", "markdown")[1] == made.scorecard().markdown() + "\n"
    code, printed, errors = run("points", "two", "--format", "csv")
    assert (code, errors.startswith("nbcfast: A spreadsheet may take texts that start with =")) == (0, True)
    assert printed == made.scorecard().csv()
    rows = list(csv.reader(io.StringIO(printed)))
    card = made.scorecard()
    assert rows[0] == ["attribute", "value", "points"]
    assert rows[-1] == ["", card.rule, str(card.threshold)]
    assert rows[1:-1] == [
        [inert(name), "(null)" if value is None else str(value), str(row[0])]
        for name, values, points in card.attributes
        for value, row in zip(values, points, strict=True)
    ]


def test_more_classes_have_a_column_each(run, made):
    rows = list(csv.reader(io.StringIO(run("points", "three", "--format", "csv")[1])))
    card = nbcfast.load("three").scorecard()
    assert rows[0] == ["attribute", "value", "x", "y", "z"]
    assert rows[-1][2:] == [str(start) for start in card.constants]


def test_json_is_complete(found, made):
    document = found("points", "two")
    card = made.scorecard()
    assert document["threshold"] == card.threshold
    assert document["rule"] == card.rule
    assert [attribute["name"] for attribute in document["attributes"]] == ["job", "=sex"]
    assert document["attributes"][0]["points"] == [list(row) for row in card.attributes[0][2]]
    assert json.dumps(document)


def test_a_file_by_its_ending(run, made, tmp_path):
    for name, text in (("p.csv", "csv"), ("p.md", "markdown"), ("p.txt", "text")):
        code, printed, errors = run("points", "two", "--out", name)
        assert (code, errors) == (0, "")
        assert printed.startswith(f"points for class, from 2 attributes   two -> {name}\n")
        expected = getattr(made.scorecard(), text)()
        assert (tmp_path / name).read_text(encoding="utf-8") == expected + ("" if text == "csv" else "\n")
    code, _, errors = run("points", "two", "--out", "p.csv")
    assert (code, "exists; --overwrite replaces it" in errors) == (2, True)
    assert run("points", "two", "--out", "p.csv", "--overwrite")[0] == 0
    code, _, errors = run("points", "two", "--out", "two/certificate.json", "--overwrite")
    assert (code, "must not write over" in errors) == (2, True)
    for option in ("--out", "--plot"):
        code, _, errors = run("points", "two", option, "two/p.png")
        assert (code, f"{option} must not be in 'two': its certificate" in errors) == (2, True)


def test_a_picture_has_one_scale(run, made, tmp_path):
    pytest.importorskip("matplotlib")
    from nbcfast.published.points_picture import draw

    assert run("points", "two", "--plot", "p.png")[0] == 0
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    for folder in ("two", "three"):
        figure = draw(nbcfast.load(folder).scorecard())
        assert len({axes.get_xlim() for axes in figure.axes}) == 1
        assert figure.axes[-1].get_xlabel() == "points"
    figure.draw_without_rendering()  # no label is beyond the edge, which constrained layout would warn of


def test_each_stratum_has_a_table(run, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"sex": ["f", "m"] * 4, "job": [0, 1, 1, 0] * 2, "ill": ["n", "y", "y", "n", "n", "n", "y", "y"]}
    made = canonical.release_by(rows, "ill", "sex", 4)
    made.save("strata")
    printed = run("points", "strata")[1]
    for value, release in made.strata.items():
        assert f"sex = {value}\n{release.scorecard().text()}\n" in printed
    rows = list(csv.reader(io.StringIO(run("points", "strata", "--format", "csv")[1])))
    assert rows[0] == ["sex", "attribute", "value", "points"]
    assert {row[0] for row in rows[1:]} == {"f", "m"}
    assert [one["value"] for one in found("points", "strata")["strata"]] == ["f", "m"]
    assert "## sex = f" in run("points", "strata", "--format", "markdown")[1]


def test_the_strata_are_drawn_below_each_other_on_one_scale(run, made, tmp_path):
    pytest.importorskip("matplotlib")
    from nbcfast.published.points_picture import MOST_STRATA, draw_strata

    sexes = ["f", "$m$", None]
    rows = {
        "sex": sexes * 4,
        "job": [0, 1, 1, 0] * 3,
        "ill": ["n", "y", "y", "n", "n", "n", "y", "n", "y", "y", "y", "n"],
    }
    release = canonical.release_by(rows, "ill", "sex", 4)
    release.save("strata")
    code, printed, errors = run("points", "strata", "--plot", "p.png")
    assert (code, errors) == (0, "")
    assert "written  p.png (" in printed
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    cards = {value: one.scorecard() for value, one in release.strata.items()}
    figure = draw_strata(release.by, cards)
    titles = [part.get_suptitle() for part in figure.subfigs]
    rules = [card.rule for card in cards.values()]
    assert titles == [
        f"sex = {said}: {rule}" for said, rule in zip([r"\$m\$", "f", "(null)"], rules, strict=True)
    ]
    assert len({axes.get_xlim() for part in figure.subfigs for axes in part.axes}) == 1
    figure.draw_without_rendering()
    many = dict.fromkeys(range(MOST_STRATA + 1), cards["f"])
    with pytest.raises(ValueError, match="a picture has room for the points of 24 strata, and there are 25"):
        draw_strata("sex", many)


def test_a_picture_of_another_kind_is_refused_before_any_work(run, made):
    code, _, errors = run("points", "two", "--plot", "p.xyz")
    assert (code, "--plot must end in .png, .svg, .pdf, got 'p.xyz'" in errors) == (2, True)


def test_a_release_without_points_gets_those_of_its_answers(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = nbcfast.safety_transform(TWO, 4)
    release.save("powers")
    code, printed, _ = run("points", "powers")
    assert code == 0
    assert points_of(release).text() in printed
    code, _, errors = run("points", "nothing")
    assert (code, "nothing" in errors) == (2, True) or code == 1


def test_labels_of_a_page_are_cut_on_the_screen_and_in_pictures_alone(tmp_path, run, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    classes = ["a" * 10_000, "a" * 9_999 + "b"]
    domains = {"job": ["x", "y" * 5_000]}
    views = nbcfast.Viewset([9, 9], {"job": [[7, 2], [2, 7]]}, classes=classes, domains=domains)
    canonical.release(views, 4, class_name="ill").save("long")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, printed, _ = run("points", "long", "--plot", "p.png")
    assert code == 0
    assert max(map(len, printed.splitlines())) < 600
    assert (printed.count("(10,000 letters)"), printed.count("(5,000 letters)")) == (2, 1)
    assert "(10,000 letters) (value 2)" in printed
    assert run("points", "long", "--out", "whole.md")[0] == 0
    assert all(text in (tmp_path / "whole.md").read_text(encoding="utf-8") for text in classes)
