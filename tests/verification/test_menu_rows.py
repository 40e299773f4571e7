"""A release that was chosen from a menu is compared with raw rows, which are put into its sets."""

import polars as pl
import pytest

import nbcfast
from nbcfast.frames import Frame

MENU = {
    "bmi": [{"groups": {"low": ["normal", "under"], "high": ["obese"]}}],
    "age": [{"edges": [None, 40, None]}],
}
ROWS = {
    "bmi": ["normal", "under", "obese", "obese", "normal"] * 40,
    "age": [20, 50, 61, 33, 70] * 40,
    "ill": ["no", "yes", "yes", "no", "no"] * 30 + ["yes", "no", "no", "yes", "yes"] * 10,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = nbcfast.publish(ROWS, "ill", 8, menu=MENU, accept_answers=True)
    folder = tmp_path_factory.mktemp("menu") / "release"
    made.save(folder)
    return folder


def against(folder, rows, **rest):
    (found,) = (
        one for one in nbcfast.verify(folder, against=rows, **rest).checks if one.name == "equivalence"
    )
    return found


@pytest.mark.parametrize(
    "given", [nbcfast.Table, lambda rows: Frame(pl.LazyFrame(rows))], ids=["table", "frame"]
)
def test_raw_rows_are_put_into_the_sets_of_the_menu(folder, given):
    assert nbcfast.verify(folder, against=given(ROWS), menu=MENU).ok
    found = against(folder, given(ROWS))
    assert found.passed is False
    assert "value 'normal' is not in the release" in found.text


def test_another_menu_or_other_rows_are_no_rows_of_the_release(folder):
    other = {**MENU, "bmi": [{"groups": {"low": ["normal"], "high": ["obese", "under"]}}]}
    assert not nbcfast.verify(folder, against=ROWS, menu=other).ok
    strange = {**ROWS, "bmi": ["tall", *ROWS["bmi"][1:]]}
    assert against(folder, strange, menu=MENU).passed is False


def test_rows_that_are_in_the_sets_already_are_compared_as_they_are(folder):
    chosen = nbcfast.domains.Menu.read(MENU, "ill").chosen(nbcfast.load(folder).certificate.advice.chosen)
    rows = chosen.applied(nbcfast.Table(ROWS), every=False)
    assert nbcfast.verify(folder, against=rows, menu=MENU).ok
