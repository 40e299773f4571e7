"""Who shows in several releases together: against the answers of every table with a row less, or changed."""

import numpy as np
import pytest
from ledger_cases import plain_answers, random_rows, table_of, views_of

import nbcfast
from nbcfast.canonical import box
from nbcfast.ledger import Ledger, LedgerLine
from nbcfast.ledger.joint_trace import EarlierCounts, TableRows, joint_trace

SIZES, CLASSES = (3, 2), 3


def shows(rows, place, n_classes):
    """Whether presence, and whether class, of the row at this place shows in the answers for these rows."""
    answers = plain_answers(views_of(rows, SIZES, n_classes))
    c = rows[place, -1]
    if (rows[:, -1] == c).sum() == 1:  # nobody of the class would be left
        return True, True
    presence = plain_answers(views_of(np.delete(rows, place, axis=0), SIZES, n_classes)) != answers
    of_class = False
    for d in range(n_classes):
        if d != c:
            other = rows.copy()
            other[place, -1] = d
            of_class |= plain_answers(views_of(other, SIZES, n_classes)) != answers
    return presence, of_class


def all_classes(rng, n_rows, n_classes):
    rows = random_rows(rng, n_rows, SIZES, n_classes)
    rows[:n_classes, -1] = np.arange(n_classes)
    return rows


@pytest.mark.parametrize("n_classes", [2, 3])
def test_who_shows_in_releases_of_first_rows(n_classes):
    rng = np.random.default_rng(n_classes)
    somebody_by_an_earlier_one = 0
    for _ in range(12):
        rows = all_classes(rng, 24, n_classes)
        ends = [9, 16, 24]
        views = [views_of(rows[:end], SIZES, n_classes) for end in ends]
        each = [
            [shows(rows[:end], place, n_classes) if place < end else (False, False) for place in range(24)]
            for end in ends
        ]
        traceless = sum(not any(of_end[place][0] for of_end in each) for place in range(24))
        flipped = sum(not any(of_end[place][1] for of_end in each) for place in range(24))
        somebody_by_an_earlier_one += traceless < sum(not each[-1][place][0] for place in range(24))
        found = joint_trace(
            TableRows.of(table_of(rows, SIZES, n_classes), "class", views[-1]),
            views[-1],
            box(views[-1]),
            [EarlierCounts(one, box(one), end) for one, end in zip(views[:-1], ends[:-1], strict=True)],
        )
        assert (found.people, found.traceless, found.flipped) == (24, traceless, flipped)
        assert (found.exact, found.known, found.releases) == (True, True, 3)
    assert somebody_by_an_earlier_one > 0


def test_where_nothing_says_who_was_in_it_everybody_that_its_counts_allow_is():
    rng = np.random.default_rng(5)
    for _ in range(10):
        before, rows = all_classes(rng, 12, 2), all_classes(rng, 20, 2)
        kept = rng.permutation(12)[:6]
        rows[:6] = before[kept]  # among others
        rows = rows[rng.permutation(20)]
        old, new = (views_of(part, SIZES, 2) for part in (before, rows))
        found = joint_trace(
            TableRows.of(table_of(rows, SIZES, 2), "class", new),
            new,
            box(new),
            [EarlierCounts(old, box(old), None)],
        )
        alone = joint_trace(TableRows.of(table_of(rows, SIZES, 2), "class", new), new, box(new), [])
        in_both = 0
        for place, row in enumerate(rows):
            there = np.flatnonzero((before == row).all(axis=1))
            in_both += shows(rows, place, 2)[0] or (len(there) > 0 and shows(before, int(there[0]), 2)[0])
        assert found.traceless <= 20 - in_both
        assert found.traceless <= alone.traceless
        assert not found.known


def test_a_weight_is_so_many_people():
    rng = np.random.default_rng(8)
    rows = all_classes(rng, 15, 2)
    heavy = np.repeat(rows, 3, axis=0)
    views, old = views_of(heavy, SIZES, 2), views_of(heavy[:18], SIZES, 2)
    plain = table_of(rows, SIZES, 2)
    columns = {name: [plain.domain(name)[code] for code in plain.codes(name)] for name in plain.names}
    weighted = nbcfast.Table(
        {**columns, "n": [3] * 15}, weights="n", domains={name: plain.domain(name) for name in plain.names}
    )
    found = [
        joint_trace(
            TableRows.of(table, "class", views), views, box(views), [EarlierCounts(old, box(old), end)]
        )
        for table, end in ((table_of(heavy, SIZES, 2), 18), (weighted, 6))
    ]
    assert found[0] == found[1]
    assert TableRows.of(weighted, "class", views).first(18) == 6
    assert TableRows.of(weighted, "class", views).first(19) is None


def test_a_sample_has_its_bound(monkeypatch):
    rows = all_classes(np.random.default_rng(2), 300, 2)
    views = views_of(rows, SIZES, 2)
    monkeypatch.setattr("nbcfast.ledger.joint_trace.MOST_WORK", 1)
    found = joint_trace(TableRows.of(table_of(rows, SIZES, 2), "class", views), views, box(views), [])
    assert (found.people, found.exact) == (64, False)
    assert found.trace_shows_at_most > 1 - found.trace
    assert "at most" in found.presence_text


def test_another_table_is_refused():
    rows = all_classes(np.random.default_rng(1), 30, 2)
    views = views_of(rows, SIZES, 2)
    with pytest.raises(ValueError, match="its counts are others"):
        TableRows.of(table_of(rows[:-1], SIZES, 2), "class", views)
    with pytest.raises(ValueError, match="class_name must name"):
        TableRows.of(table_of(rows, SIZES, 2), None, views)


def test_a_ledger_finds_first_rows_and_knows_disjoint_windows(tmp_path):
    rng = np.random.default_rng(9)
    rows = all_classes(rng, 60, 2)
    first, second = rows[:30], rows[30:]
    second[:, -1] = second[:, 0] > 0  # so that no two of these classifiers answer alike
    ledger = Ledger(tmp_path / "book")
    line = ledger.append(views_of(first, SIZES, 2), "1" * 64, window="2026-01")
    assert isinstance(line, LedgerLine)
    assert line.window.text == "2026-01"

    def joint(rows, window):
        report = ledger.check(
            views_of(rows, SIZES, 2), table=table_of(rows, SIZES, 2), class_name="class", window=window
        )
        return report.joint, report.rows

    found, change = joint(rows, ("2026-01", "2026-02"))
    assert (found.releases, found.known, change.exact, change.came, change.went) == (2, True, True, 30, 0)
    found, change = joint(second, "2026-02")
    assert (found.releases, found.known, change.exact) == (1, True, False)
    found, change = joint(rows[::-1], None)
    assert (found.releases, found.known, change.exact) == (2, False, False)


def test_what_was_not_measured_is_said(tmp_path):
    """Of counts alone nobody knows who shows in all releases together, and silence would read as nobody."""
    ledger = Ledger(tmp_path / "book")
    rows = random_rows(np.random.default_rng(3), 40, (3, 2), 2)
    counts = views_of(rows, (3, 2), 2)
    said = "who shows in all releases together was not measured: only counts were given, and not the rows of"
    assert any(text.startswith(said) for text in ledger.check(counts).findings)
    measured = ledger.check(counts, table=table_of(rows, (3, 2), 2), class_name="class")
    assert measured.joint is not None
    assert measured.why_not is None
    ledger.append(counts, "1" * 64)
    again = ledger.check(counts)
    assert (again.same_as, again.why_not) == (1, None)


def test_of_few_rows_that_change_no_answer_nothing_is_said_to_have_changed(tmp_path):
    ledger = Ledger(tmp_path / "book")
    clear = nbcfast.Viewset([50, 60], {"job": [[40, 10], [10, 50]], "sex": [[30, 30], [20, 30]]})
    more = nbcfast.Viewset([50, 62], {"job": [[40, 10], [10, 52]], "sex": [[30, 32], [20, 30]]})
    ledger.append(clear, "1" * 64)
    report = ledger.check(more)
    assert (report.nothing_to_publish, report.few) == (True, True)
    assert report.moved_text == "since line 1 at least 2 rows came and at least 0 rows went"
