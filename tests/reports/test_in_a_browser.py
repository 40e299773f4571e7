"""Fact sheets in a browser: the form answers as the release does, and nothing is fetched."""

import re
from fractions import Fraction
from pathlib import Path

import export_cases
import numpy as np
import pytest
from how_many import how_many
from page_cases import hostile_release, some_codes, strata, table_of

import nbcfast
from nbcfast import Interval, Table, Viewset, canonical, count
from nbcfast._markup.elements import shown
from nbcfast.exports import calculator, export, points_of
from nbcfast.published.points_pieces import value_text
from nbcfast.reports import fact_sheet

pytestmark = pytest.mark.apart  # a Chromium each

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
WATCHED = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective));
"""
# Choose the values of each tuple by clicks, and read the answers.
CLICKS = """(rows) => rows.map((row) => {
  row.forEach((code, place) => {
    const field = document.querySelector(`select[name=a${place}]`);
    if (field) {
      field.value = code;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else document.querySelector(`[name=a${place}][value="${code}"]`).click();
  });
  return document.getElementById("class").textContent;
})"""
# Of each text that is seen, its contrast with what it stands on, by WCAG 2.
CONTRASTS = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = parts(colour).map((n) => linear(n / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (parts(colour).length === 3 || parts(colour)[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, one = node.parentElement;
    if (!node.data.trim() || one.closest("script,style,svg,noscript") || !one.checkVisibility()) continue;
    const [high, low] = [light(getComputedStyle(one).color), light(behind(one))].sort((a, b) => b - a);
    found.push([(high + 0.05) / (low + 0.05), node.data]);
  }
  return found;
}"""


class Opened:
    """A page that is open, and all that it has asked for or complained about."""

    def __init__(self, browser, path):
        self.page = browser.new_page(viewport={"width": 1000, "height": 900})
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.add_init_script(WATCHED)
        self.anew(path)

    def anew(self, path):
        """The same tab with another page."""
        self.asked.clear()
        self.page.goto(path.as_uri())
        return self

    def decided(self, codes, stratum=0):
        """The places of the classes that the function of the page gives."""
        run = "([codes, stratum]) => codes.map((row) => decide(row, stratum).best)"
        return self.page.evaluate(run, [codes.tolist(), stratum])

    def choose(self, codes, **selected):
        """Choose values of the form by clicks, as a reader does; what it answers then."""
        for name, code in {**selected, **{f"a{place}": code for place, code in enumerate(codes)}}.items():
            field = self.page.locator(f"[name={name}]")
            if field.first.evaluate("(field) => field.tagName") == "SELECT":
                field.select_option(str(code))
            else:
                self.page.locator(f"[name={name}][value='{code}']").check()
        return self.answer

    @property
    def answer(self):
        return self.page.locator("#class").inner_text()

    def is_quiet(self):
        """Nothing but the page itself was asked for, nothing was refused, and nothing went wrong."""
        assert self.said == []
        assert self.page.evaluate("refused") == []
        assert [url for url in self.asked if not url.startswith("file://")] == []
        assert len(self.asked) == 1
        assert self.page.evaluate("document.images.length") == 0
        assert self.page.evaluate("document.scripts.length") == 2  # ours, and its numbers
        assert self.page.evaluate("document.querySelectorAll('[style],iframe,link,object').length") == 0
        return True


@pytest.fixture
def opened(browser, tmp_path):
    """Open the fact sheet of something published."""
    pages = []

    def opened(published, content=None):
        published.save(tmp_path / "published", overwrite=True)
        path = tmp_path / "facts.html"
        path.write_bytes(fact_sheet(tmp_path / "published").content if content is None else content)
        pages.append(Opened(browser, path))
        return pages[-1]

    yield opened
    for one in pages:
        one.page.close()


def places(release, codes):
    """The places of the classes that the release gives."""
    labels = release.predict(table_of(release, codes), codes=True)
    return np.asarray(labels).tolist()


def label_of(release, place):
    return shown(value_text(release.views.classes[place]))


@pytest.mark.parametrize("n_classes", [2, *(pytest.param(n, marks=pytest.mark.thorough) for n in (3, 4)), 5])
def test_the_form_answers_as_the_release_does(n_classes, opened):
    release = hostile_release(n_classes, n_classes)
    codes = some_codes(release, 1000)
    expected = places(release, codes)
    page = opened(release)
    assert page.decided(codes) == expected
    rows = codes[:13].tolist()
    assert page.page.evaluate(CLICKS, rows) == [label_of(release, place) for place in expected[:13]]
    assert page.choose(codes[13].tolist()) == label_of(release, expected[13])
    assert page.is_quiet()


def test_exported_forms_answer_on_whole_domains(browser, tmp_path):
    path = tmp_path / "rule.html"
    page = None
    for seed in range(how_many(8, 20)):
        release = export_cases.release(seed)
        points = points_of(release)
        codes = export_cases.all_codes(points)
        path.write_bytes(calculator.content(points, export_cases.about(release)))
        page = Opened(browser, path) if page is None else page.anew(path)
        assert page.decided(codes) == export_cases.expected(release, points, codes).tolist(), seed
        assert page.is_quiet()
    page.page.close()


def test_points_that_are_made_for_the_page_answer_as_the_release_does(opened):
    views = hostile_release(3, 7).views
    release = nbcfast.safety_transform(views, 8)
    codes = some_codes(release, 1000)
    page = opened(release)
    assert page.decided(codes) == places(release, codes)
    assert page.is_quiet()


def test_the_page_of_an_export_is_the_form_alone(browser, tmp_path):
    release = hostile_release(2, 9)
    export(release, tmp_path / "rule.html")
    page = Opened(browser, tmp_path / "rule.html")
    codes = some_codes(release, 1000)
    assert page.decided(codes) == places(release, codes)
    assert page.choose(codes[0].tolist()) == label_of(release, places(release, codes)[0])
    assert page.is_quiet()


def test_a_stratum_is_chosen_first(opened):
    made = strata()
    page = opened(made)
    for stratum, release in enumerate(made.strata.values()):
        codes = some_codes(release, 12)
        assert page.decided(codes, stratum) == places(release, codes)
        row, place = codes[0].tolist(), places(release, codes)[0]
        assert page.choose(row, by=stratum) == label_of(release, place)
    page.page.click("#clear")
    assert page.answer == ""
    assert page.page.locator("#open").inner_text() == "3 answers are missing"
    assert page.is_quiet()


def test_a_number_finds_its_bin_exactly(opened):
    edges = [float("-inf"), -2, 0.1, 0.3, Fraction(2, 3), float("inf")]
    rng = np.random.default_rng(1)
    rows = {"x": [*rng.uniform(-4, 2, 300).tolist(), None], "job": ["a", "b", "c"] * 100 + ["a"]}
    ill = ["no" if one is None or one < 0.2 else "yes" for one in rows["x"]]
    table = Table({**rows, "ill": ill}).bin("x", edges)
    release = canonical.release(count(table, "ill"), 4)
    page = opened(release)
    domain = list(release.views.domain("x"))
    place = list(release.views.attributes).index("x")
    assert page.page.locator("[name=a0], [name=a1]").count() > 0
    field = page.page.locator(f"#n{place}")
    for text in ("0.1", "0.3", "0.29999999999999999999999", "-2", "-2.0000001", ".3", "+0.30", "5", " 1.5 "):
        field.fill(text)
        number = Fraction(text.strip())
        of = next(i for i, one in enumerate(domain) if isinstance(one, Interval) and number in one)
        assert page.page.evaluate(f"new FormData(trying).get('a{place}')") == str(of), text
    for text in ("0.6666666666666666", "0.6666666666666667"):
        field.fill(text)
        of = next(i for i, one in enumerate(domain) if isinstance(one, Interval) and Fraction(text) in one)
        assert page.page.evaluate(f"new FormData(trying).get('a{place}')") == str(of), text
    for text in ("abc", "1e3", "1,5", "0x1", "--1", "."):
        field.fill(text)
        assert page.page.evaluate(f"new FormData(trying).get('a{place}')") is None, text
        assert page.page.locator(f"#w{place}").inner_text() == "no number: write it as 12.5"
        assert field.get_attribute("aria-invalid") == "true"
    field.press("Enter")  # sends nothing
    assert page.is_quiet()


def test_an_unknown_number_gets_no_class(opened):
    table = Table({"x": [1.0, 2.0, 1.5] * 40, "ill": ["no", "yes", "yes"] * 40}).bin("x", [1, 1.5, 3])
    page = opened(canonical.release(count(table, "ill"), 4))
    page.page.locator("#n0").fill("1.6")
    assert page.answer == "yes"
    page.page.locator("#n0").fill("3")
    assert page.answer == ""
    assert page.page.locator("#w0").inner_text() == "no published value has this number"
    page.page.locator("#n0").press("Tab")
    page.choose([0])
    assert page.page.locator("#n0").input_value() == ""
    assert page.answer == "no"
    assert page.is_quiet()


def test_the_keyboard_is_enough(opened):
    page = opened(strata())
    page.page.keyboard.press("Tab")
    for _ in range(3):
        page.page.keyboard.press("Space")
        page.page.keyboard.press("Tab")
    assert page.answer in ("no", "yes")
    assert page.page.evaluate("document.activeElement.id") == "clear"
    page.page.keyboard.press("Enter")
    assert page.answer == ""


def test_every_text_can_be_read_and_every_field_has_a_name(opened):
    page = opened(hostile_release(4, 1))
    page.choose([0, 0, 0, 0])
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for scheme, width in (("light", 400), ("dark", 1000)):
        page.page.emulate_media(color_scheme=scheme)
        page.page.set_viewport_size({"width": width, "height": 800})
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        found = page.page.evaluate(CONTRASTS)
        assert len(found) > 100
        assert [pair for pair in found if pair[0] < 4.5] == []
        violations = axe.run(page.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in violations] == []


@pytest.mark.parametrize("n_classes", [2, 5, 8])
def test_no_name_is_wider_than_a_phone(n_classes, opened):
    rng = np.random.default_rng(1)
    counts = {
        "W" * 5000 + str(place): np.array([rng.multinomial(40, [1 / 3] * 3) for _ in range(n_classes)]).T
        for place in range(2)
    }
    classes = ["M" * 5000 + str(place) for place in range(n_classes)]
    domains = {name: ["W" * 5000 + str(place) for place in range(3)] for name in counts}
    views = Viewset([40] * n_classes, counts, classes=classes, domains=domains)
    page = opened(canonical.release(views, 4, class_name="Q" * 5000))
    page.page.set_viewport_size({"width": 320, "height": 800})
    for codes in ((), (0, 0)):
        page.choose(codes)
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_patients_are_printed_on_three_sheets_at_most(opened, tmp_path):
    rows = nbcfast.read_csv(PATIENTS)
    page = opened(canonical.release(count(rows, "diagnosis"), 4, class_name="diagnosis"))
    printed = page.page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 3
    assert page.is_quiet()
