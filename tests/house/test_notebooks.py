"""What notebooks show of results: short, the verdict first, without a script, and names are never markup."""

import re
from html.parser import HTMLParser

import pytest
from folder_cases import SCHEME
from page_cases import HOSTILE, hostile_release

import nbcfast
from nbcfast import Table, associations, canonical, count, response, skyline
from nbcfast.reports.refusals import REFUSED
from nbcfast.templates import Template, disclose

EVIL = HOSTILE[1]  # an <img> that fails
OWN = "from the private table"
PEOPLE = {
    EVIL: [EVIL, "b", "b", None, "c", EVIL] * 6,
    "age": [30, 31, 32, 50, 51, 52] * 6,
    "ill": ["no", "yes", "no", "no", "yes", EVIL] * 6,
}


class Seen(HTMLParser):
    """Tags, and what is read."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(re.sub("<style>.*?</style>", "", text, flags=re.DOTALL))
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert not [
            name for name, _ in attributes if name.startswith("on") or name in ("style", "src", "href")
        ]

    def handle_data(self, data):
        self.text += data


def strata():
    return canonical.release_by(Table({**PEOPLE, "sex": ["f"] * 18 + ["m"] * 18}), "ill", "sex", 4)


def verification(folder):
    hostile_release(2).save(folder / "made")
    return nbcfast.verify(folder / "made")


def views():
    return count(Table(PEOPLE), "ill")


def risk():
    rows = {"name": ["ann", "bob", EVIL] * 2, "job": ["a", "a", "b"] * 2, "ill": ["x", EVIL, "z"] * 2}
    return associations.risk(Table(rows), [("name", "job"), ("job", "ill")], identity="name", attribute="ill")


def groups():
    return skyline.group(Table(PEOPLE), by=[EVIL], sensitive="ill")


def noisy():
    domains = {EVIL: [EVIL, "b", "c", None], "age": [30, 31, 32, 50, 51, 52], "ill": ["no", "yes", EVIL]}
    rows = {name: ["b" if one is None else one for one in values] for name, values in PEOPLE.items()}
    domains[EVIL].remove(None)
    return nbcfast.publish(rows, "ill", 4, dp={"epsilon": 1}, domains=domains)


# Each with how its text begins, and whether it is for the owner alone.
RESULTS = {
    "Release": (lambda folder: hostile_release(3), "release of <b>class</b>: 3 classes", False),
    "PointsTable": (lambda folder: hostile_release(2).scorecard(), "Add the points", False),
    "StratifiedRelease": (lambda folder: strata(), "2 releases of ", False),
    "Verification": (verification, "verified", False),
    "Leak": (lambda folder: canonical.leak(views()), "The answers give people away", True),
    "Advice": (
        lambda folder: canonical.advise(
            Table(PEOPLE), "ill", folds=0, min_flip=0, max_one_class=99, max_found=99
        ),
        ("the best domain", "DO NOT PUBLISH ON IT YET"),
        True,
    ),
    "Partition": (
        lambda folder: skyline.anonymize(PEOPLE, [EVIL, "age"], "ill", k=3),
        "partition: 36 people",
        False,
    ),
    "Reports": (lambda folder: skyline.check(groups(), [(0, 0, 0, "1/2")]), "UNSAFE: 1 of 1 point is", True),
    "Report": (lambda folder: skyline.check(groups(), [(0, 0, 0, 1)])[0], ("safe", "UNSAFE"), True),
    "Risk": (lambda folder: risk(), "SOMEBODY IS GIVEN AWAY", True),
    "Disclosure": (
        lambda folder: disclose(Table(PEOPLE), [Template([EVIL], ("ill", EVIL), "3/4")], "age"),
        "disclosure: 36 people, every template holds",
        False,
    ),
    "Disguised": (
        lambda folder: response.disguise(Table({"ill": ["no", "yes"] * 9, EVIL: [EVIL] * 18}), SCHEME),
        "disguised answers of 18 people",
        False,
    ),
    "Publication": (lambda folder: nbcfast.publish(PEOPLE, "ill", 4), REFUSED, True),
    "NoisyPublication": (lambda folder: noisy(), "would be published with noise of epsilon 1", True),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_says_its_verdict_first_and_is_no_markup(kind, tmp_path):
    make, begins, is_private = RESULTS[kind]
    made = make(tmp_path)
    assert type(made).__name__ == kind
    text = made._repr_html_()
    assert text == made._repr_html_()
    assert text.startswith('<div class="nbcfast"><style>')
    seen = Seen(text)
    assert seen.text.startswith(begins), seen.text[:200]
    assert (OWN in seen.text) == is_private
    assert not {"script", "img", "iframe", "link", "object"} & set(seen.tags)
    assert len(text.encode()) < 60_000
    assert "javascript:" not in text


def test_what_is_private_and_no_result_stays_text():
    assert not hasattr(views(), "_repr_html_")
    assert not hasattr(Table(PEOPLE), "_repr_html_")


def test_a_verification_that_fails_says_so_first(tmp_path):
    hostile_release(2).save(tmp_path / "made")
    (tmp_path / "made" / "more").touch()
    assert Seen(nbcfast.verify(tmp_path / "made")._repr_html_()).text.startswith("NOT VERIFIED")
