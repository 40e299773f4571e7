"""The page of an export: the form and the rule, with the numbers of the points."""

import re

import numpy as np
import pytest
from page_cases import hostile_release, some_codes, strata, table_of

import nbcfast
from nbcfast import Viewset
from nbcfast._markup.pages import MOST_BYTES
from nbcfast.exports import About, export, points_of
from nbcfast.exports.calculator import content, page_decides

ABOUT = About("ab" * 32, "ill <b>", "0.1.0", None)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_page_has_the_form_the_rule_and_the_sha256(n_classes):
    release = hostile_release(n_classes)
    points = points_of(release)
    data = content(points, ABOUT)
    assert content(points_of(release), ABOUT) == data
    text = data.decode()
    assert "PUBLIC" in text
    assert ABOUT.sha256 in text
    assert "ill &lt;b&gt;" in text
    assert "<b>class" not in text
    assert len(data) <= MOST_BYTES
    codes = some_codes(release, 200)
    expected = release.predict(table_of(release, codes), codes=True)
    assert page_decides(data, points, ABOUT, codes).tolist() == expected.tolist()


def test_a_changed_number_is_found_before_the_file_stands(tmp_path, monkeypatch):
    release = hostile_release(2)

    def changed(points, about):
        return re.sub(
            rb'"threshold":(\d+)', lambda found: b'"threshold":1' + found[1], content(points, about)
        )

    made = nbcfast.exports.formats.FORMATS[".html"]._replace(content=changed)
    monkeypatch.setattr("nbcfast.exports.exporting.FORMATS", {".html": made})
    with pytest.raises(ValueError, match="not written: the file decides"):
        export(release, tmp_path / "rule.html")
    assert list(tmp_path.iterdir()) == []


def test_strata_select_their_points(tmp_path):
    made = strata()
    found = export(made, tmp_path / "rule.html")
    assert found.identical
    assert found.compared == found.tuples == made.certificate.tuples
    assert b"Where sex is f" in (tmp_path / "rule.html").read_bytes()


def test_ties_go_to_the_later_class():
    views = Viewset([4, 4, 4], {"a": [[2, 2, 2], [2, 2, 2]]}, classes=["x", "y", "z"])
    points = points_of(nbcfast.canonical.release(views, 4))
    assert page_decides(content(points, ABOUT), points, ABOUT, np.array([[0], [1]])).tolist() == [2, 2]


def test_one_class_has_no_form():
    points = points_of(nbcfast.safety_transform(Viewset([4], {"a": [[2], [2]]}, classes=["x"]), 4))
    data = content(points, ABOUT)
    assert b"<script" not in data
    assert b"Everybody is x" in data
    assert page_decides(data, points, ABOUT, np.array([[0], [1]])).tolist() == [0, 0]


def test_every_one_of_many_values_can_be_chosen():
    rng = np.random.default_rng(2)
    counts = rng.integers(1, 9, (2_000, 2))
    views = Viewset(counts.sum(axis=0), {"town": counts}, classes=["a", "b"])
    points = points_of(nbcfast.safety_transform(views, 400))
    text = content(points, ABOUT).decode()
    assert text.count("<option") == 2_001
    assert "1,996 values of less weight are not shown here" in text or len(text) <= MOST_BYTES
