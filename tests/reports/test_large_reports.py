"""A private page is never too large: what is much is shown in part, and the page says so."""

import random

import pytest
from page_cases import text_of

from nbcfast import Table, skyline, templates
from nbcfast._markup.fitting import PAGE_ROOMS
from nbcfast._markup.page_parts import Tile, card, table
from nbcfast._markup.pages import MOST_BYTES
from nbcfast.cli import main
from nbcfast.published.points_pieces import rule_pieces
from nbcfast.published.points_table import PointsTable
from nbcfast.publishing.gate import GateFinding
from nbcfast.reports.judged_pages import disclosure_page, partition_page, violations_page
from nbcfast.reports.owner_page import NOT_ALL, owner_page
from nbcfast.reports.summary import Decision, Summary

SUMMARY = Summary("published", "kept", "people.csv")
LONGEST = "\U0001f600" * 290  # of which each takes ten bytes where it is not printable, and four where it is


def read(data, tmp_path):
    assert len(data) <= MOST_BYTES
    path = tmp_path / "page.html"
    path.write_bytes(data)
    return text_of(path)


def run(line):
    with pytest.raises(SystemExit) as left:
        main(line.split())
    return left.value.code


def test_a_rule_of_thousands_of_values_shows_the_weightiest(tmp_path):
    rows = tuple((i % 3000,) for i in range(1, 3001))
    points = PointsTable(
        ("ill", "well"), tuple((f"a{n}", tuple(range(3000)), rows) for n in range(3)), 4000, ()
    )
    data = owner_page(
        "?",
        SUMMARY,
        kind="a release",
        sections=(lambda room: card("Rule", *rule_pieces(points, room.rows)),),
    )
    text = read(data, tmp_path)
    assert NOT_ALL in text
    assert "88 more values" in text
    assert "2,900 values of less weight are not shown here" in text
    assert "2,999" in text


def test_a_page_of_a_few_hundred_values_shows_all_of_them(tmp_path):
    header = ["value", "people"]
    text = read(
        owner_page(
            "?", SUMMARY, kind="k", sections=(card("c", table(header, [(f"v{i}", "7") for i in range(900)])),)
        ),
        tmp_path,
    )
    assert "v899 7" in text
    assert NOT_ALL not in text


def test_the_longest_page_there_can_be_is_small_enough(tmp_path):
    summary = Summary(
        LONGEST * 9,
        "shows",
        LONGEST * 9,
        tuple(GateFinding(LONGEST, "shows", LONGEST * 9) for _ in range(30)),
        tuple(Decision(LONGEST * 9, (f"nbcfast publish {LONGEST * 9}",)) for _ in range(8)),
        (LONGEST * 9,) * 8,
    )
    wide = table([LONGEST] * 8, [(LONGEST,) * 8] * 120)
    figures = (Tile("kept", LONGEST, LONGEST * 9, LONGEST * 9),) * 4
    data = owner_page(
        "?", summary, kind=LONGEST, figures=figures, sections=(card("c", wide),) * 4, checklist=(LONGEST,) * 9
    )
    assert "117 more rows are not shown here" in read(data, tmp_path)
    assert PAGE_ROOMS[-1].rows == 3


def test_a_release_of_many_long_labels_has_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(2)
    rows = []
    for _ in range(4000):
        k = rng.randrange(8)
        rows.append(f"v{(k * 5 + rng.randrange(12)) % 40:02}{'&' * 297},k{k}{'ü' * 298}")
    (tmp_path / "long.csv").write_text("\n".join(["a,c", *rows]) + "\n")
    assert run("publish long.csv --class c --amplification 4 --accept-answers --out r --report r.html") == 0
    text = read((tmp_path / "r.html").read_bytes(), tmp_path)
    assert NOT_ALL in text
    assert ".. (300 letters)" in text


def test_a_release_of_two_hundred_attributes_has_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    rows = [
        ",".join([*(rng.choice("xxyz" if i % 3 else "xyz") for _ in range(200)), "yn"[i % 3 > 0]])
        for i in range(500)
    ]
    (tmp_path / "wide.csv").write_text(
        "\n".join([",".join(f"a{i}" for i in range(200)) + ",c", *rows]) + "\n"
    )
    assert run("publish wide.csv --class c --amplification 4 --accept-answers --out r --report r.html") == 0
    assert NOT_ALL not in read((tmp_path / "r.html").read_bytes(), tmp_path)
    assert "600 values" in capsys.readouterr().out


def test_pages_of_what_is_judged_beside_releases_are_small_too(tmp_path):
    values = [f"{i}{LONGEST}" for i in range(400)]
    people = Table({"job": values * 2, "ill": ["yes"] * 400 + ["no"] * 400, "rate": ["a", "b"] * 400})
    asked = [templates.Template(("job",), ("ill", "yes"), "1/3")]
    broken = templates.violations(people, asked)
    text = read(violations_page(broken, 1, SUMMARY), tmp_path)
    assert "380 more, of which at most 180 stand here" in text
    assert NOT_ALL in text
    asked = [templates.Template(("job",), ("ill", "yes"), "1/2")]
    made = templates.disclose(people, asked, target="rate")
    assert "and 180 more" in read(disclosure_page(made, SUMMARY), tmp_path)
    part = skyline.anonymize(people, ["job", "rate"], sensitive="ill", k=20)
    assert "The groups by their size" in read(partition_page(part, SUMMARY), tmp_path)
