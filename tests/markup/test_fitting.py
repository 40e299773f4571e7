"""What does not fit on a page is left out, and it is said that it is."""

from nbcfast._markup.elements import element
from nbcfast._markup.fitting import PAGE_ROOMS, PageRoom, fitted
from nbcfast._markup.page_parts import bullets, decisions, table

LEAST = PageRoom(rows=3, cell=24, text=300)


def test_what_fits_stays_as_it_is():
    for part in (table(["a", "b"], [("1", "2")] * 1000), bullets(["a"] * 24), element("p", "a" * 10_000)):
        assert fitted(part, PAGE_ROOMS[0]) == part


def test_long_tables_and_lists_end_early_and_say_so():
    html = fitted(table(["value", "people"], [(f"v{i}", "2") for i in range(3000)]), LEAST).html()
    assert html.count("<tr>") == 5  # the head, three rows, and what is left out
    assert '<td colspan="2">2,997 more rows are not shown here</td>' in html
    assert "v2<" in html
    assert "v3<" not in html
    html = fitted(bullets(f"n{i}" for i in range(25)), LEAST).html()
    assert html.endswith("<li>n23</li><li>1 more line is not shown here</li></ul>")
    bars = element("div", *[element("div", f"a{i}") for i in range(5)], class_="nbc-bars nbc-series")
    assert "2 more attributes are not shown here</p></div>" in fitted(bars, LEAST).html()


def test_every_decision_stays():
    each = [(f"q{i}", ["nbcfast verify DIR"]) for i in range(40)]
    assert fitted(decisions(each), LEAST) == decisions(each)


def test_long_texts_are_cut_and_their_length_is_said():
    html = fitted(table(["value"], [("x" * 5000,)], caption="y" * 25), LEAST).html()
    assert f"<caption>{'y' * 24}.. (25 letters)</caption>" in html
    assert f"{'x' * 24}.. (5,000 letters)" in html
    assert fitted(element("p", "x" * 300), LEAST).html() == f"<p>{'x' * 300}</p>"
    assert fitted(element("p", "x" * 301), LEAST).html() == f"<p>{'x' * 300}.. (301 letters)</p>"
    named = element("div", element("path", d="M" * 400), role="group", aria_label="n" * 400)
    html = fitted(named, LEAST).html()
    assert f'aria-label="{"n" * 24}.. (400 letters)"' in html
    assert "M" * 400 in html
