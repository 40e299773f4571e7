"""Fact sheets of all that is published: made of the files alone, the same bytes, nothing cut silently."""

import base64
import hashlib
import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from folder_cases import PEOPLE, SAVED, SCHEME
from page_cases import HOSTILE, hostile_release

import nbcfast
from nbcfast import Table, Viewset, canonical, closeness, count, response, skyline
from nbcfast._core.errors import Infeasible
from nbcfast._markup.elements import shown
from nbcfast._markup.pages import MOST_BYTES
from nbcfast.published.points_pieces import alone_texts, rule_text, value_text
from nbcfast.reports import UnverifiedError, fact_sheet
from nbcfast.reports.release_facts import release_facts
from nbcfast.reports.sheets import ROOMS
from nbcfast.reports.table_facts import disclosure_facts
from nbcfast.reports.verification_summary import check_text
from nbcfast.response import KaryScheme
from nbcfast.templates import Template, disclose


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text without scripts and styles."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.text, self._within = [], "", ""
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._within = tag

    def handle_endtag(self, tag):
        self._within = ""

    def handle_data(self, data):
        if self._within not in ("script", "style"):
            self.text += f"{data} "

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(published, folder):
    published.save(folder / "made")
    return Page(fact_sheet(folder / "made").content)


def spaced(text):
    return " ".join(text.split())


KINDS = {
    "canonical": lambda: hostile_release(2),
    "three classes": lambda: hostile_release(3),
    "SafetyTransform": lambda: nbcfast.safety_transform(hostile_release(3).views, 8),
    "EST": lambda: closeness.est(
        Viewset([5, 9], {"job": [[2, 7], [3, 2]]}, classes=["a", "b"]), {"a": "1/2", "b": "1/2"}, 3
    ),
    "identity": lambda: nbcfast.safety_transform(
        Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["a", "b"]), 4, gauge=False
    ),
    "strata": lambda: canonical.release_by(
        Table({**PEOPLE, "sex": ["f"] * 6 + ["m"] * 6, HOSTILE[1]: [HOSTILE[0]] * 12}), "ill", "sex", 4
    ),
    "partition": lambda: skyline.anonymize(
        Table({HOSTILE[1]: [HOSTILE[0], "b"] * 8, "age": [*range(16)], "ill": ["no", HOSTILE[2]] * 8}),
        [HOSTILE[1], "age"],
        "ill",
        points=[(0, 0, 0, "3/4"), (0, 1, 0, 1)],
        k=4,
        closeness="1/2",
        diversity=(3, 2),
    ),
    "disclosure": lambda: disclose(
        Table({**PEOPLE, HOSTILE[1]: [HOSTILE[0]] * 12}),
        [Template([HOSTILE[1]], ("ill", "yes"), "3/4"), Template(["job"], ("ill", "yes"), "2/3")],
        "age",
    ),
    "disguised": lambda: response.disguise(Table({**PEOPLE, HOSTILE[1]: [HOSTILE[0]] * 12}), SCHEME),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_of_every_kind(kind, tmp_path):
    KINDS[kind]().save(tmp_path / "made")
    sheet = fact_sheet(tmp_path / "made")
    content = sheet.content
    shutil.copytree(tmp_path / "made", tmp_path / "elsewhere")
    assert fact_sheet(tmp_path / "elsewhere").content == content
    assert len(content) <= MOST_BYTES
    assert sheet.whole
    assert str(tmp_path).encode() not in content
    page = Page(content)
    assert page.tags[0] == ("html", {"lang": "en"})
    assert not [name for name, _ in page.tags if name in ("img", "iframe", "link", "object", "base", "a")]
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "href")]
    certificate = json.loads((tmp_path / "made" / "certificate.json").read_text())
    assert certificate["sha256"] in page.text
    assert sheet.sha256 == certificate["sha256"]
    for text in ("PUBLIC", "What was checked", "What this does not promise", "python verify_release.py DIR"):
        assert text in page.text
    assert [len(page.all(heading)) for heading in ("h1", "title")] == [1, 1]
    assert "h2" in [name for name, _ in page.tags]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for check in sheet.verification.checks:
        assert spaced(shown(check_text(check))) in spaced(page.text)
    for text in (*sheet.verification.claims, *sheet.verification.warnings):
        assert spaced(shown(text)) in spaced(page.text)


def test_the_policy_lets_in_the_one_script_and_style_alone(tmp_path):
    hostile_release(3).save(tmp_path / "made")
    text = fact_sheet(tmp_path / "made").content.decode()
    [style] = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    [script] = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    [policy] = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', text)
    for name, inside in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name} &#x27;sha256-{digest}&#x27;" in policy
    assert policy.startswith("default-src &#x27;none&#x27;")
    for word in ("fetch", "XMLHttp", "import(", "innerHTML", "eval", "localStorage", "http:", "https:"):
        assert word not in script


def test_numbers_of_the_form_are_those_of_the_certificate(tmp_path):
    release = hostile_release(3, 2)
    release.save(tmp_path / "made")
    text = fact_sheet(tmp_path / "made").content.decode()
    [block] = re.findall('<script type="application/json" id="points">(.*?)</script>', text)
    assert "<" not in block
    rule = json.loads(block)["rules"][0]
    points = release.scorecard()
    assert rule["points"] == [[list(row) for row in rows] for _, _, rows in points.attributes]
    assert rule["starts"] == list(points.constants)


def test_points_beyond_what_json_holds_are_texts():
    from nbcfast._markup.trying import AddedPoints, Question, trying

    rule = AddedPoints([[[2**53 + 1], [0]]], 2**60, [0])
    text = trying([Question("a", ["x", "y"])], ["b", "c"], [rule]).html()
    assert f'"points":[[["{2**53 + 1}"],[0]]],"threshold":"{2**60}"' in text


def test_what_does_not_verify_has_no_page(tmp_path):
    SAVED["release"](tmp_path / "made")
    (tmp_path / "made" / "more").touch()
    with pytest.raises(
        UnverifiedError, match=r'folder: not named by the certificate .*"more"; no fact sheet'
    ):
        fact_sheet(tmp_path / "made")
    file = tmp_path / "made" / "certificate.json"
    file.write_text(file.read_text().replace("ill", "iil"))
    with pytest.raises(UnverifiedError, match=r"file: .*sha256"):
        fact_sheet(file)
    with pytest.raises(FileNotFoundError):
        fact_sheet(tmp_path / "none")


def test_what_could_not_be_checked_is_said(tmp_path):
    views = Viewset([5, 9], {"job": [[2, 7], [3, 2]], "sex": [[2, 4], [3, 5]]}, classes=["a", "b"])
    listed = Table({"job": [0, 1], "sex": [0, 0]})
    page = page_of(canonical.release(views, 4, tuples=listed), tmp_path)
    assert "5 of 7" in page.text
    assert "2 could not be made from the published files" in page.text
    assert "not checked here: answers are kept on a list of tuples" in page.text
    assert "These points were made of the answers of the release" in page.text


def test_differing_decisions_and_noise_are_named_as_claims(tmp_path):
    rows = {"job": ["a", "b", "c"] * 40, "sex": ["f", "m"] * 60, "ill": ["no", "yes", "no", "no"] * 30}
    made = nbcfast.publish(
        rows,
        "ill",
        4,
        dp={"epsilon": "1/2"},
        domains={"job": ["a", "b", "c"], "sex": ["f", "m"], "ill": ["no", "yes"]},
    )
    page = page_of(made.release, tmp_path)
    assert "epsilon 1/2 (claimed)" in page.text or "epsilon 0.5 (claimed)" in page.text
    assert "no file can show that its coins were thrown" in page.text


def test_a_file_in_the_folder_is_refused_and_nothing_is_replaced_unasked(tmp_path):
    SAVED["release"](tmp_path / "made")
    sheet = fact_sheet(tmp_path / "made")
    with pytest.raises(ValueError, match="path must be outside the folder that it tells of"):
        sheet.save(tmp_path / "made" / "facts.html")
    sheet.save(tmp_path / "facts.html")
    with pytest.raises(FileExistsError):
        sheet.save(tmp_path / "facts.html")
    sheet.save(tmp_path / "facts.html", overwrite=True)
    assert (tmp_path / "facts.html").read_bytes() == sheet.content
    assert nbcfast.verify(tmp_path / "made").ok
    assert repr(
        sheet
    ) == f"FactSheet(release, {len(sheet.content):,} bytes; verified: what the files can show"[:0] + (
        f"FactSheet(release, {len(sheet.content):,} bytes; verified)"
    )
    assert sheet.to_dict()["bytes"] == len(sheet.content)


@pytest.mark.parametrize(("values", "has_form"), [(300, True), (3_000, None), (10_000, False)])
def test_thousands_of_values_are_counted_where_they_are_not_shown(values, has_form, tmp_path):
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 9, (values, 2))
    other = rng.integers(1, 9, (3, 2))
    of_class = counts.sum(axis=0)
    other[0] += of_class - other.sum(axis=0)
    views = Viewset(of_class, {"town": counts, "sex": other}, classes=["a", "b"])
    nbcfast.safety_transform(views, 400).save(tmp_path / "made")
    sheet = fact_sheet(tmp_path / "made")
    assert len(sheet.content) <= MOST_BYTES
    page = Page(sheet.content)
    if has_form is not None:
        assert bool(page.all("form")) == has_form
        assert bool(page.all("script")) == has_form
    if values > 300:
        assert not sheet.whole
        assert "values of less weight are not shown here" in page.text
        assert "certificate.json has the numbers of all values" in page.text
    else:
        assert "288 more values" in page.text
    if not page.all("form"):
        assert f"{values + 3:,} values do not fit into a page" in page.text


def test_what_a_page_takes_at_the_least_is_less_than_it_takes(tmp_path):
    """Pages that cannot fit are not drawn to see it, and none that fits is passed over."""
    for n_values, labels in ((3, "ab"), (400, "ab"), (90, "abc"), (40, "abcdefghij"), (9, "a")):
        counts = np.ones((n_values, len(labels)), np.int64)
        counts[::2, 0] += 3
        views = Viewset(counts.sum(axis=0), {"town": counts}, classes=list(labels))
        release = nbcfast.canonical.release(views, 400)
        release.save(tmp_path / f"{n_values}{labels}")
        facts = release_facts(release, nbcfast.verify(tmp_path / f"{n_values}{labels}"))
        for room in ROOMS:
            drawn = sum(len(card.html()) for card in facts.cards(room))
            assert facts.least(room) <= drawn, (n_values, labels, room)


def test_each_step_of_a_page_is_told(tmp_path):
    views = Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"])
    nbcfast.canonical.release(views, 4).save(tmp_path / "made")
    told = []

    def stages(what):
        told.append(what)
        return nullcontext(lambda done, total: told.append((done, total)))

    fact_sheet(tmp_path / "made", stages=stages)
    assert [what for what in told if isinstance(what, str)] == ["verifying", "drawing"]
    assert any(isinstance(what, tuple) for what in told)


def test_names_that_fill_a_page_are_shortened_and_counted(tmp_path):
    long = "x" * 5_000
    views = Viewset([5, 9], {long: [[2, 7], [3, 2]]}, classes=[f"a{long}", f"b{long}"])
    nbcfast.safety_transform(views, 4).save(tmp_path / "made")
    page = Page(fact_sheet(tmp_path / "made").content)
    assert f"{'x' * 120}.. (5,000 letters)" in page.text
    assert long not in page.text


@pytest.mark.parametrize("n_classes", [1, 9])
def test_one_class_and_many(n_classes, tmp_path):
    counts = np.ones((2, n_classes), int) * [[2], [3]]
    classes = [f"c{place}" for place in range(n_classes)]
    views = Viewset(counts.sum(axis=0), {"job": counts}, classes=classes)
    page = page_of(nbcfast.safety_transform(views, 4), tmp_path)
    if n_classes == 1:
        assert "Everybody is c0: there is no other class." in page.text
        assert not page.all("script")
    else:
        assert "The points of 9 classes are not drawn" in page.text
        assert len(page.all("form")) == 1


def test_values_that_decide_by_themselves_do_so_at_every_tuple():
    for seed in range(4):
        release = hostile_release(2 + seed % 2, seed, 60)
        points = release.scorecard()
        names = [name for name, _, _ in points.attributes]
        sizes = [len(values) for _, values, _ in points.attributes]
        tuples = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(names))
        # The totals, by plain addition.
        width = len(points.attributes[0][2][0])
        totals = np.zeros((len(tuples), width), int) + (points.constants or 0)
        for place, (_, _, rows) in enumerate(points.attributes):
            totals += np.array(rows)[tuples[:, place]]
        if points.threshold is not None:
            best = np.where(totals[:, 0] >= points.threshold, 0, 1)
        else:
            best = width - 1 - np.argmax(totals[:, ::-1], axis=1)
        expected = set()
        for place, (name, values, _) in enumerate(points.attributes):
            for c in range(len(points.classes)):
                decided = [
                    value_text(value)
                    for code, value in enumerate(values)
                    if (best[tuples[:, place] == code] == c).all()
                ]
                if decided:
                    expected.add(f"{value_text(name)} {' or '.join(decided[:6])}")
        told = list(alone_texts(points))
        if len(set(best.tolist())) == 1:
            assert told == [f"every value makes it {value_text(points.classes[best[0]])}"]
        else:
            assert {text.partition(" makes it ")[0].partition(" and ")[0] for text in told} == expected
        assert rule_text(points)


def test_coins_in_words(tmp_path):
    table = Table({"a": ["x", "y", "z"] * 4, "b": ["p", "q"] * 6, "c": [1, 2] * 6})
    domains = {"a": ["x", "y", "z"], "b": ["p", "q"]}
    scheme = KaryScheme("3/4", domains, groups=[["a", "b"]], lie="tuple")
    page = page_of(response.disguise(table, scheme), tmp_path)
    assert "with probability 3/4 (75.0%) the true answers to all 2, else another combination" in page.text
    assert "Told as they are: c." in page.text
    both = KaryScheme("3/4", domains, groups=[["a", "b"]], lie="each")
    text = Page(fact_sheet_of(response.disguise(table, both), tmp_path / "each")).text
    assert "no bound" in text
    assert "another value for every one of them" in text


def fact_sheet_of(published, folder):
    published.save(folder)
    return fact_sheet(folder).content


def test_only_sizes_are_no_promise_on_values(tmp_path):
    page = page_of(skyline.anonymize(PEOPLE, ["job", "age"], "ill", k=2), tmp_path)
    assert "all may have the same" in page.text
    assert "not demanded" in page.text


def test_infeasible_points_are_said(tmp_path, monkeypatch):
    def none(release):
        raise Infeasible("its domain is too large", {})

    monkeypatch.setattr("nbcfast.reports.release_facts.points_of", none)
    SAVED["release"](tmp_path / "made")
    page = Page(fact_sheet(tmp_path / "made").content)
    assert "This release has no points to add up: its domain has 2 cases, too many to show" in page.text
    assert not page.all("script")


def test_counts_of_rows_are_those_of_the_table(tmp_path):
    table = Table(PEOPLE)
    page = page_of(canonical.release(count(table, "ill"), 4, class_name="ill"), tmp_path)
    assert "What does this classifier say of ill?" in page.text


def test_templates_that_were_not_checked_are_not_said_to_hold(tmp_path):
    table = Table({"job": ["cook", "clerk"] * 10, "ill": ["no", "no", "no", "yes"] * 5})
    disclose(table, [Template(("job",), ("ill", "yes"), "3/4")], utility="distortion").save(tmp_path / "made")
    found = nbcfast.verify(tmp_path / "made")
    tile = disclosure_facts(found.disclosure, found).tiles[0]
    assert (tile.state, tile.figure) == ("kept", "1 of 1 hold")
    checks = tuple(
        replace(check, passed=None) if check.name.startswith("template") else check for check in found.checks
    )
    tile = disclosure_facts(found.disclosure, replace(found, checks=checks)).tiles[0]
    assert (tile.state, tile.figure) == ("unmeasured", "0 of 1 hold")
