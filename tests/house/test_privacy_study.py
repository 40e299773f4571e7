"""The study of privacy measures what it says: its own logic on tables of a few rows, and its page."""

from fractions import Fraction
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import Table, canonical, skyline
from nbcfast.canonical.leave_one_out import rows_of, sample_of

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "evaluation-privacy.md"
if not (TOP / "bench" / "studies").is_dir():
    pytest.skip("bench/ belongs to a clone, and is not here", allow_module_level=True)

# Not importorskip: a module that has moved is to fail here, and not to skip.
study = import_module("studies.evaluate_privacy")
published = import_module("studies.published")
public_sets = import_module("shared.public_sets")
of_boxes, halves_of = import_module("shared.boxes").of_boxes, public_sets.halves
spec = spec_from_file_location("privacy_page", TOP / "tools" / "privacy_page.py")
privacy_page = module_from_spec(spec)
spec.loader.exec_module(privacy_page)

SEED = 7
JOBS, SEXES = ["clerk", "cook", "nurse"], ["f", "m"]


def table_of(people):
    columns = dict(zip(("job", "sex", "ill"), map(list, zip(*people, strict=True)), strict=True))
    return Table(columns, domains={"job": JOBS, "sex": SEXES})


@pytest.fixture(name="few")
def few_people():
    rng = np.random.default_rng(SEED)
    people = [
        (JOBS[job], SEXES[sex], "yes" if job + sex + luck > 2 else "no")
        for job, sex, luck in zip(
            rng.integers(0, 3, 90), rng.integers(0, 2, 90), rng.integers(0, 4, 90), strict=True
        )
    ]
    parts = [table_of(people).take(places) for places in halves_of(90)]
    return public_sets.with_domains(
        "few", "ill", ("yes", "no"), public_sets.declared({"job": JOBS, "sex": SEXES}), *parts
    )


def rows(table, names):
    columns = [[table.domain(name)[code] for code in table.codes(name).tolist()] for name in names]
    return list(zip(*columns, strict=True))


def test_a_class_is_exchanged_in_the_counts_as_in_the_table(few):
    people = rows(few.train, ["job", "sex", "ill"])
    for place in (0, 7, 31):
        job, sex, ill = people[place]
        others = [*people]
        others[place] = (job, sex, "no" if ill == "yes" else "yes")
        expected = nbcfast.count(table_of(others), "ill", classes=("yes", "no"))
        old = few.views.classes.index(ill)
        found = study.exchanged(few.views, [JOBS.index(job), SEXES.index(sex)], old, 1 - old)
        assert found == expected


def test_numbers_of_a_canonical_release_change_where_an_answer_does(few):
    def answers(views):
        jobs, sexes = zip(*product(JOBS, SEXES), strict=True)
        return views.predict({"job": jobs, "sex": sexes}).tolist()

    drawn = sample_of(rows_of(few.train, "ill", few.views), 40)
    expected = 0
    for codes, old, weight in zip(*map(np.ndarray.tolist, drawn), strict=True):
        same = answers(study.exchanged(few.views, codes, old, 1 - old)) == answers(few.views)
        expected += weight if same else 0
    found = study.unchanged_numbers(few, lambda views: canonical.release(views, 4), 40)
    assert found == (expected, 40)
    assert 0 < expected < 40  # both cases are there


def test_answers_together_have_the_epsilon_that_is_asked_for(few):
    for epsilon in ("0.01", "1", "10"):
        scheme = published.scheme_of(few, epsilon)
        assert set(scheme.columns) == {"job", "sex", "ill"}
        together = sum(group.epsilon for group in scheme.privacy().groups)
        assert float(epsilon) * (1 - 1e-6) <= together <= float(epsilon)


def test_answers_without_lies_are_the_counts(few):
    """At epsilon 60 nobody lies, and what is added is 1."""
    found, views = published.randomised(few, "60", 0), few.views
    assert found.is_realistic()
    expected = [Fraction(int(n) + 1, views.n_rows + 2) for n in views.class_counts]
    assert [float(n / found.n_rows) for n in found.class_counts] == pytest.approx(list(map(float, expected)))
    for name, array in views.counts.items():
        shares = (array + 1) / (array + 1).sum(axis=0)
        assert found.counts[name] / found.class_counts == pytest.approx(shares)


def test_coins_are_the_same_for_the_same_names(few):
    for drawn in (published.noisy, published.with_delta, published.randomised):
        assert drawn(few, "1", 0) == drawn(few, "1", 0)
        assert drawn(few, "1", 0) != drawn(few, "1", 1)
        assert drawn(few, "1", 0) != drawn(few, "3", 0)
    assert published.noisy(few, "0.3", 0).noise.epsilon == Fraction(3, 10)


def test_gaussian_noise_is_beside_laplace_of_many_attributes():
    """Ten columns of which the class is a copy of the first."""
    rng = np.random.default_rng(1)
    columns = {f"a{i}": rng.integers(0, 2, 60).tolist() for i in range(10)}
    table = Table({**columns, "c": columns["a0"]})
    domains = public_sets.declared({name: [0, 1] for name in columns})
    wide = public_sets.with_domains(
        "wide", "c", (0, 1), domains, *[table.take(places) for places in halves_of(60)]
    )
    assert published.with_delta(wide, "1", 0).noise.mechanism == "discrete gaussian"
    found = [
        line for line in study.drawn(wide, study.Ruler(wide), ["1"], 2) if line.series == published.GAUSSIAN
    ]
    assert [(line.parameter, len(line.runs), line.numbers) for line in found] == [
        ("epsilon 1", 2, "odds up to x 7.39 but for 4e-6")
    ]
    assert study.exception_text(Fraction(0), 1.0) == ""


def test_shares_become_integers_in_their_proportions():
    assert published.in_parts([Fraction(1, 3), Fraction(2, 3)], 300) == [100, 200]
    assert published.in_parts([Fraction(0), Fraction(1)], 10) == [1, 9]  # a logarithm of each is needed


def test_what_is_added_to_estimates_is_half_a_deviation():
    assert published.added_to(10, [Fraction(0), Fraction(0)]) == 1
    assert published.added_to(100, [Fraction(1, 100), Fraction(9, 100)]) == 1 + Fraction(
        22, 2
    )  # 100 sqrt(.05)


def test_people_in_a_box_count_for_its_values_in_equal_parts():
    ages, ill = [1, 2, 3, 4], ["no", "yes", "yes", "yes"]
    table = Table({"age": ages, "ill": ill}, domains={"age": ages, "ill": ["yes", "no"]})
    views = nbcfast.count(table, "ill", classes=("yes", "no"))
    partition = skyline.anonymize(table, ["age"], "ill", k=2)
    found = of_boxes(table, views, "ill", partition)
    assert partition.n_groups == 2
    assert found.class_counts.tolist() == [6, 2]
    assert found.counts["age"].tolist() == [[1, 1], [1, 1], [2, 0], [2, 0]]


def test_texts_of_the_table():
    run = study.Worth(0.5, 1.0, 0.25, 3, 4, 0.5)
    line = study.Line(published.NOISY, "epsilon 1", [run, run._replace(accuracy=0.7)])
    assert study.spread(line, "accuracy") == "0.6000 ± 0.1414"
    line.runs.append(run._replace(log_loss=float("inf")))
    assert study.spread(line, "log_loss") == "∞"
    alone = study.Line(published.NOISY_CANONICAL, "epsilon 1", [run], "drawn", "odds up to x 7.389")
    assert study.cells(alone)[2:6] == ["as DP", "as DP", "0.2500 (one run)", "3"]
    assert study.share_text(15, 30_000, True) == "0.9995 (15 show)"
    assert study.share_text(0, 30_000, True) == "1.0000"
    assert study.share_text(240, 240, False) == "0 of 240"
    assert study.odds_text(2) == "odds up to x 7.39"
    assert study.odds_text(20) == "odds up to x 5e+8"


def test_every_method_is_measured(few):
    found = study.measure(few, epsilons=("1", "10"), runs=2)
    again = study.measure(few, epsilons=("1", "10"), runs=2)
    assert found.lines == again.lines
    of_name = {}
    for line in found.lines:
        of_name.setdefault(line.series, []).append(line)
        assert all(study.cells(line)[2:]), line
    assert len(of_name) == 10  # all but Gaussian noise, which is for more attributes
    (exact,), (same,) = of_name[published.EXACT], of_name[published.CANONICAL]
    truth = [row[0] for row in rows(few.test, ["ill"])]
    right = few.views.predict(few.test) == np.array(truth)
    assert exact.mean("accuracy") == same.mean("accuracy") == pytest.approx(right.mean())
    assert exact.mean("found") == found.cells == 5
    assert exact.numbers == "0.0000"
    leak = canonical.leak(few.views, table=few.train, class_name="ill")
    assert exact.answers == same.answers == same.numbers == study.answers_text(leak)
    noisy, rounded = of_name[published.NOISY], of_name[published.NOISY_CANONICAL]
    for name in ("accuracy", "agreement"):
        assert [line.values(name) for line in noisy] == [line.values(name) for line in rounded]
    assert [line.parameter for line in of_name[published.BOXES]] == ["k 2", "k 5", "k 20"]  # of 60 people
    lines = study.table(found).split("\n")
    assert {line.count(" | ") for line in lines} == {len(study.HEADS) - 1}
    assert len(lines) == 2 + len(found.lines)


def test_a_study_draws(few, tmp_path):
    pytest.importorskip("matplotlib")
    text = study.section(study.measure(few, epsilons=("1", "10"), runs=2))
    study.draw(text, tmp_path / "p.png")
    for name in ("p.png", "p-given-away.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_page_gets_what_was_measured():
    page = "# Page\n\nWords.\n\n## Tables\n\n### Few\n\nOld.\n\n### Other\n\nKept.\n"
    new = privacy_page.rewritten(page, "## Few\n\nNew.\n\n| a |\n| --- |\n| 1 |\n\n")
    assert new == page.replace("Old.", "New.\n\n| a |\n| --- |\n| 1 |")
    assert privacy_page.rewritten(new, "## Few\n\nOld.\n") == page
    with pytest.raises(ValueError, match=r"expected measured sections that the page has, got \['None'\]"):
        privacy_page.rewritten(page, "## None\n\nNew.\n")
    with pytest.raises(ValueError, match="got none"):
        privacy_page.rewritten(page, "no headings")


def test_pictures_are_drawn_from_what_a_table_says(few):
    measured = study.measure(few, epsilons=("1", "10"), runs=2)
    (found,) = privacy_page.measured_sets(study.section(measured))
    assert (found.name, found.cells, found.null) == ("few", measured.cells, measured.null_found)
    assert found.larger == pytest.approx(few.majority, abs=1e-4)
    for line in measured.lines:
        for column, name in (("accuracy", "accuracy"), ("found", "found"), ("log-loss", "log_loss")):
            shown = found.value(line.series, line.parameter, column)
            assert shown == pytest.approx(line.mean(name), abs=0.051 if name == "found" else 1e-4)
    assert privacy_page.number("0.8 ± 0.1") == (0.8, 0.1)
    assert privacy_page.number("∞") == (float("inf"), 0)
    assert np.isnan(privacy_page.number("as DP")[0])
    assert np.isnan(found.value("k-anonymous", "k 1000", "found"))


def test_the_page_has_every_line_of_the_study():
    text = PAGE.read_text(encoding="utf-8")
    sets = privacy_page.measured_sets(text)
    assert len(sets) == len(public_sets.SETS)
    coins = (published.NOISY, published.NOISY_CANONICAL, published.RANDOMISED)
    for found in sets:
        assert tuple(found.places) == study.HEADS
        for series in coins:
            assert list(found.values(series, "found")) == [f"epsilon {each}" for each in published.EPSILONS]
        noise = {row[0] for row in found.rows} & {published.GAUSSIAN}
        assert bool(noise) == (found.name in ("Adult, ten attributes", "German credit", "CRX"))
        assert list(found.values(published.BOXES, "found")) == [f"k {k}" for k in published.KS]
        assert found.value(published.EXACT, "", "found") == found.cells
    head, larger, *rows_of_sets = privacy_page.table(privacy_page.sections(text)["Accuracy"])
    assert head[1:] == [found.name for found in sets]
    assert [float(cell) for cell in larger[1:]] == [found.larger for found in sets]
    exact = next(row for row in rows_of_sets if row[0] == published.EXACT)
    assert [float(cell) for cell in exact[1:]] == [found.value("exact", "", "accuracy") for found in sets]


def test_sets_are_split_over_declared_domains(data):
    sizes = {}
    for name, made in public_sets.SETS.items():
        if name == "advised":
            continue  # below
        found = made(data)
        assert isinstance(found, public_sets.PublicSet)
        assert found.views == nbcfast.count(
            found.train, found.class_name, found.views.attributes, classes=found.views.classes
        )
        assert all(found.train.domain(each) == found.test.domain(each) for each in found.views.attributes)
        assert found.views.n_tuples <= 5e11  # what a canonical release reaches
        sizes[name] = (found.train.n_rows, found.test.n_rows, len(found.views.attributes))
    assert sizes == {
        "adult": (32_561, 16_281, 10),
        "german": (667, 333, 20),
        "crx": (490, 200, 15),
        "cancer": (455, 228, 9),
    }


@pytest.mark.parametrize(
    ("epsilon", "accuracy", "agreement"), [("0.1", 0.8479, 0.9964), ("1", 0.8481, 0.9999)]
)
def test_noise_costs_what_was_measured_before(data, epsilon, accuracy, agreement):
    """On the advised domain of Adult, ten runs."""
    found = public_sets.SETS["advised"](data)
    assert found.views.n_tuples == 640
    ruler = study.Ruler(found)
    runs = []
    for run in range(10):
        labels = published.noisy(found, epsilon, run).predict(found.test, codes=True)
        runs.append((labels == ruler.labels).mean())
    assert np.mean(runs) == pytest.approx(agreement, abs=0.005)
    quality = study.evaluate(published.noisy(found, epsilon, 0), found.test, "income")
    assert quality.accuracy == pytest.approx(accuracy, abs=0.005)
