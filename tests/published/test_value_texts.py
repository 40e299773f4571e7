"""Values as texts: null beside the text "(null)", and what a page, a sheet or a document would act on."""

import csv
import io

import pytest

import nbcfast
from nbcfast import Viewset, canonical
from nbcfast.exports import points_of
from nbcfast.published.points_pieces import points_form, rule_pieces
from nbcfast.published.points_table import PointsTable
from nbcfast.published.value_texts import markdown_text, texts_of


def release(values, counts=((9, 1), (1, 9))):
    views = Viewset([10, 10], {"x": counts}, classes=["a", "b"], domains={"x": list(values)})
    return canonical.release(views, 4, class_name="y")


def test_null_and_its_text_do_not_look_alike():
    points = points_of(release(["(null)", None]))
    assert [line.split()[:2] for line in points.text().splitlines()[:2]] != [["x", "(null)"]] * 2
    rows = list(csv.reader(io.StringIO(points.csv())))
    assert [row[1] for row in rows[1:3]] == ["(null)", "(null: no value)"]
    assert "| x | (null: no value) |" in points.markdown()
    pages = [points_form([points]).html(), *(piece.html() for piece in rule_pieces(points))]
    assert pages[0].count("<span>(null)</span>") == 1
    assert pages[0].count("<span>(null: no value)</span>") == 1
    assert any("(null: no value)" in page for page in pages[1:])


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (["x", None], ["x", "(null)"]),
        (["(null)", "(null: no value)", None], ["(null)", "(null: no value)", "((null: no value))"]),
        (["\t", "\\t"], ["\\t", "\\t (value 2)"]),
        (["\t", "\\t", "\\t (value 2)"], ["\\t", "(\\t (value 2))", "\\t (value 2)"]),
    ],
)
def test_every_text_is_another(values, texts):
    assert texts_of(values) == texts
    assert len(set(texts)) == len(values)


def test_long_values_that_begin_alike_are_told_apart():
    points = points_of(release(["z" * 300 + "a", "z" * 300 + "b"]))
    text = points_form([points]).html()
    assert text.count("(value 2)") == 1


def test_cells_of_csv_are_inert():
    """As in the scorecard of `export`: a number below 0 is no text."""
    points = PointsTable(
        ("@yes", "no"),
        (("a|b", ("=cmd()", "'x", "plain"), ((0,), (1,), (2,))), ("-n", (-5, 5), ((0,), (3,)))),
        2,
        (),
    )
    rows = list(csv.reader(io.StringIO(points.csv({"=by": "+1"}))))
    assert rows == [
        ["'=by", "attribute", "value", "points"],
        ["'+1", "a|b", "'=cmd()", "0"],
        ["'+1", "a|b", "''x", "1"],
        ["'+1", "a|b", "plain", "2"],
        ["'+1", "'-n", "-5", "0"],
        ["'+1", "'-n", "5", "3"],
        ["'+1", "", "'@yes' from 2 points on, else 'no'", "2"],
    ]
    three = PointsTable((-1, "=b", "c"), (("x", (0,), ((1, 2, 3),)),), None, (0, 0, 0))
    assert next(csv.reader(io.StringIO(three.csv())))[2:] == ["'-1", "'=b", "c"]
    low = PointsTable((-1, 1), (("x", (0,), ((1,),)),), 1, ())
    assert list(csv.reader(io.StringIO(low.csv())))[-1][1].startswith("'-1 from 1 points on")


def test_markdown_shows_letters():
    label = "<img src=x onerror=alert(1)>"
    views = Viewset(
        [5, 5], {"*a*|b": [[4, 1], [1, 4]]}, classes=[label, "b"], domains={"*a*|b": ["[x](y)", "http://z"]}
    )
    text = canonical.release(views, 4).scorecard().markdown()
    assert "<" not in text.replace("\\<", "")
    assert "| \\*a\\*\\|b | [x\\](y) |" in text
    assert "http\\://z" in text
    assert markdown_text("www.a.b & `c`") == "www\\.a.b \\& \\`c\\`"


def test_a_picture_tells_them_apart():
    pytest.importorskip("matplotlib")
    from nbcfast.published.points_picture import draw

    axes = draw(points_of(release(["(null)", None]))).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["(null)", "(null: no value)"]


def test_strata_with_both_are_exported_as_a_page(tmp_path):
    rows = {"by": ["(null)", None] * 20, "x": [0, 1, 1, 0] * 10, "y": ["a", "a", "b", "b"] * 10}
    table = nbcfast.Table(rows)
    made = nbcfast.publish(table, "y", by="by", amplification=4, accept_answers=True).release
    assert made.export(tmp_path / "a.html").identical
