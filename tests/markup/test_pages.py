"""A page needs nothing, sends nothing, and looks the same everywhere."""

import base64
import hashlib
import itertools
import re

import pytest

from nbcfast._markup.charts import Dot, ValueBars, columns, dots, how_sure, scale, value_bars
from nbcfast._markup.colours import DARK, LIGHT, contrast
from nbcfast._markup.elements import element
from nbcfast._markup.fragments import fragment
from nbcfast._markup.page_parts import Tile, card, decisions, findings, mark, table, tiles
from nbcfast._markup.pages import PRIVATE, PUBLIC, page

STATES = ("kept", "warned", "shows", "unmeasured")


def test_a_page_allows_its_own_style_and_script_and_nothing_else():
    text = page("t", PUBLIC, element("p", "a"), script="let a = 1").decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1].replace(
        "&#x27;", "'"
    )
    hashes = [
        "sha256-"
        + base64.b64encode(
            hashlib.sha256(re.search(f"<{tag}>(.*?)</{tag}>", text, re.S)[1].encode()).digest()
        ).decode()
        for tag in ("style", "script")
    ]
    assert policy == (
        f"default-src 'none'; style-src '{hashes[0]}'; script-src '{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"\b(src|href|style|on\w+)=", text)
    assert "http://" not in text
    assert "https://" not in text


def test_a_private_page_has_no_script_and_says_on_each_sheet_whose_it_is():
    with pytest.raises(ValueError, match="a private page has no script"):
        page("t", PRIVATE, script="x")
    text = page("t", PRIVATE, element("p", "a")).decode()
    assert "script" not in text
    assert f'@top-center{{content:"{PRIVATE.text}"' in text
    assert f">{PRIVATE.text}</header>" in text


def test_the_same_content_gives_the_same_bytes():
    assert page("t", PRIVATE, element("p", "a")) == page("t", PRIVATE, element("p", "a"))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_can_be_told_from_what_it_stands_on(colours):
    for well in ("paper", "card", "well"):
        for ink in ("ink", "muted"):
            assert contrast(colours[ink], colours[well]) >= 4.5, (ink, well)
    for state in STATES:
        assert contrast(colours[state], colours["card"]) >= 4.5
        assert contrast(colours[state], colours[f"{state}-well"]) >= 4.5
    for fill in ("before", "after", "points"):
        assert contrast(colours[fill], colours["card"]) >= 3
        assert contrast(colours[fill], colours["band"]) >= 2.8


def test_a_state_is_a_mark_and_a_word():
    for state in STATES:
        text = mark(state).html()
        assert "<path" in text
        assert re.sub("<[^>]*>", "", text) in ("ok", "mind", "shows", "not measured")


def test_pieces_hold_what_they_are_given():
    text = card(
        "Heading",
        tiles([Tile("kept", "limit", "4 to 1", "kept")]),
        findings([("shows", "class shows", "of 3 people")]),
        decisions([("Which?", ["nbcfast publish a.csv"])]),
        table(["attribute", "values"], [["age", "3"]]),
        private=True,
    ).html()
    for part in ("Heading", "4 to 1", "class shows", "Which?", "nbcfast publish a.csv", "age"):
        assert part in text
    assert "from the private table" in text


def test_bars_stand_on_one_scale_and_hundreds_of_values_are_folded_away():
    short = ValueBars("a", ["x", "y"], [[10], [5]])
    long = ValueBars("b", [f"v{place}" for place in range(300)], [[place] for place in range(300)])
    text = value_bars([short, long]).html()
    shown, hidden = text.split("<details", 1)
    assert 'width="1.67%"' in shown  # 5 of 299
    assert "288 more values" in hidden
    assert "v299" in shown
    assert "v0<" in shown  # as loud for the other class
    assert "v150<" in hidden
    negative = value_bars([ValueBars("a", ["x"], [[-5, 5]])], ["one", "two"]).html()
    assert '<rect width="50%"' in negative
    assert '<rect x="50%" width="50%"' in negative
    assert '<th scope="col">one</th>' in negative
    some = value_bars([long], most=20).html()
    assert "8 more values" in some
    assert "280 values of less weight are not shown here" in some


def test_charts_say_what_they_show_and_draw_every_number():
    sure = how_sure([0.5, 0.5], [0, 1], ("no", "yes"), (0.2, 0.8), "half and half").html()
    assert sure.count("nbc-fill-before") == 2 * 2  # once for a screen, and once for a phone
    assert sure.count("nbc-fill-after") == 2
    assert 'aria-label="half and half"' in sure
    assert "11.6" in scale(11.6, 8, 16, ("few", "many"), "bits").html()
    assert "nbc-fill-ink" not in scale(None, 8, 16, ("few", "many"), "bits").html()
    assert columns([1, 0, 2], ["1", "2", "3"], "sizes", "people").html().count("<rect") == 4
    assert (
        dots([Dot(1, 0.8, True, "a"), Dot(2, 0.8, False, "b")], "bits", "accuracy", "front", 8)
        .html()
        .count("<circle")
        == 4
    )


def test_names_of_columns_have_room():
    names = [f"{low}..{low + 13}" for low in range(284, 604, 14)]
    text = columns([1] * len(names), names, "sizes", "people").html()
    for drawn, width in zip(text.split("nbc-phone"), (720, 320), strict=True):
        assert f'viewBox="0 0 {width} ' in drawn
        places = [float(x) for x in re.findall(r'<text x="([0-9.]+)" y="165"', drawn)]
        assert 3 <= len(places) <= width / 56
        assert all(after - before >= 56 for before, after in itertools.pairwise(places))
        assert 24 <= places[0] <= places[-1] <= width - 24


def test_ends_that_are_long_stand_below_each_other_on_a_phone():
    text = how_sure([0.5, 0.5], [0, 1], ("surely no disease at all", "surely a disease"), None, "x").html()
    for drawn, apart in zip(text.split("nbc-phone"), (0, 14), strict=True):
        left = re.search(r'y="([0-9]+)" text-anchor="start" class="nbc-small">← surely', drawn)[1]
        right = re.search(r'y="([0-9]+)" text-anchor="end" class="nbc-small">surely a disease', drawn)[1]
        assert int(right) - int(left) == apart


def test_a_fact_is_no_check():
    text = tiles([Tile("fact", "People", "5,000", "in 12 groups"), Tile("kept", "Limit", "4", "kept")]).html()
    assert 'nbc-mark nbc-fact"><svg viewBox="0 0 20 20" role="img" aria-label="a fact, no check"' in text
    assert 'nbc-mark nbc-kept"><svg viewBox="0 0 20 20" role="img" aria-label="ok"' in text
    assert ".nbc-fact{color: var(--muted)}" in page("t", PUBLIC).decode()


def test_a_result_in_a_notebook_touches_nothing_else_there():
    text = fragment(element("p", "<b>"))
    style = re.search("<style>(.*?)</style>", text)[1]
    for selectors in re.findall(r"(?:^|})([^{}@]+)\{", style):
        for selector in selectors.split(","):
            assert ".nbcfast" in selector, selector
    assert "&lt;b&gt;" in text
    assert "script" not in text
