"""Raw rows are answered as the plain products of the published counts of the values that they lie in."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import Certificate, Interval, Release, Table, Viewset, canonical
from nbcfast.domains import declared
from nbcfast.safety import amplification

DATES = {"day": {"edges": [None, "2020-01-01", "2020-07-01", None]}}
SETS = {
    "job": {"groups": {"heads": ["cook", "clerk"], "hands": ["smith", "7"]}, "other": "rest"},
    "beds": {"groups": {"few": [0, 1], "many": [2, 3]}},
    "size": {"edges": [0, 0.5, 3], "labels": ["small", "large"], "null": True},
}
# Published values, raw values with the place of each, and what was declared.
COLUMNS = {
    "age": (
        [Interval(None, 18), Interval(18, 65), Interval(70, None)],
        [(3, 0), (17.999, 0), (18, 1), (64, 1), (65, None), (70, 2), (1e9, 2), (None, None)],
    ),
    "dose": (
        [Interval("0.1", "0.3"), Interval("0.3", 1), None],
        [(0.1, 0), (0.3, 1), (0.29999999999999993, 0), (0.05, None), (1.0, None), (None, 2)],
    ),
    "rate": ([1, 2, 5], [(1, 0), (2.0, 1), (5, 2), (3, None), (2.5, None)]),
    "town": (
        ["Ulm", "Köln", "O'Hara", None],
        [("Ulm", 0), ("Köln", 1), ("O'Hara", 2), ("ulm", None), (None, 3)],
    ),
    "smokes": ([False, True], [(True, 1), (False, 0), (None, None)]),
    "day": (
        ["(-inf, 2020-01-01)", "[2020-01-01, 2020-07-01)", "[2020-07-01, inf)"],
        [("1999-05-05", 0), ("2020-01-01", 1), ("2020-06-30T23:59:59", 1), ("2021-01-01", 2), ("May", None)],
    ),
    "job": (
        ["hands", "heads", "rest"],
        [("cook", 1), ("clerk", 1), ("smith", 0), ("7", 0), ("poet", 2), (None, None)],
    ),
    "beds": (["few", "many"], [(0, 0), (1, 0), (3, 1), (4, None), (None, None)]),
    "size": (["small", "large", None], [(0.25, 0), (0.5, 1), (2.9999, 1), (3, None), (None, 2)]),
}


def made(rng, names, n_classes):
    """A release of small counts, of which many tie."""
    counts = {
        name: [[rng.randint(1, 3) for _ in range(n_classes)] for _ in COLUMNS[name][0]] for name in names
    }
    totals = [rng.randint(1, 4) for _ in range(n_classes)]
    classes = [f"class {c}" for c in range(n_classes)]
    rng.shuffle(classes)
    views = Viewset(totals, counts, classes, domains={name: COLUMNS[name][0] for name in names})
    return Release(views, Certificate(amplification=4, tuples=views.n_tuples), "class")


def plainly(views, places, *, ignore=False):
    """The class of a row by exact products, and all of them; None where a value is unknown, or without it."""
    known = [(name, place) for name, place in zip(views.attributes, places, strict=True) if place is not None]
    if len(known) < len(places) and not ignore:
        return None, None
    scores = []
    for c, total in enumerate(views.class_counts.tolist()):
        score = Fraction(total) ** (1 - len(known))
        for name, place in known:
            score *= int(views.counts[name][place][c])
        scores.append(score)
    return views.classes[max(range(len(scores)), key=lambda c: (scores[c], c))], scores


def rows_of(rng, names, n):
    """Raw rows, and for each the places of its values."""
    drawn = [[rng.choice(COLUMNS[name][1]) for name in names] for _ in range(n)]
    table = {name: [row[i][0] for row in drawn] for i, name in enumerate(names)}
    return table, [[place for _, place in row] for row in drawn]


def declared_of(names):
    return {name: SETS[name] for name in names if name in SETS} or None


@pytest.mark.parametrize("seed", range(20))
def test_raw_rows_are_answered_as_by_plain_products(seed, tmp_path):
    rng = random.Random(seed)
    names = rng.sample(list(COLUMNS), rng.randint(1, 5))
    release = made(rng, names, rng.randint(2, 5))
    views, domains = release.views, declared_of(names)
    table, places = rows_of(rng, names, 60)
    expected = [plainly(views, row)[0] for row in places]

    found = release.predict(table, unseen="null", domains=domains)
    assert found.tolist() == expected
    assert isinstance(found, np.ma.MaskedArray)
    kept = [number for number, label in enumerate(expected) if label is not None]
    known = Table(table).take(kept)
    assert release.predict(known, domains=domains).tolist() == [expected[number] for number in kept]
    codes = release.predict(known, domains=domains, codes=True)
    assert [views.classes[code] for code in codes.tolist()] == [expected[number] for number in kept]

    posteriors = release.predict_proba(table, unseen="null", domains=domains)
    for row, label, own in zip(places, expected, posteriors, strict=True):
        if label is None:
            assert np.isnan(own).all()
            continue
        assert views.classes[int(own.argmax())] == label
        scores = plainly(views, row)[1]
        assert own.tolist() == pytest.approx([float(score / sum(scores)) for score in scores], rel=1e-12)

    of_known = [plainly(views, row, ignore=True) for row in places]
    ignoring = {"unseen": "ignore", "domains": domains}
    found = release.predict(table, **ignoring)
    assert found.tolist() == [label for label, _ in of_known]
    assert not isinstance(found, np.ma.MaskedArray)
    codes = release.predict(table, codes=True, threads=2, **ignoring)
    assert [views.classes[code] for code in codes.tolist()] == found.tolist()
    for (label, scores), own in zip(of_known, release.predict_proba(table, **ignoring), strict=True):
        assert views.classes[int(own.argmax())] == label
        assert own.tolist() == pytest.approx([float(score / sum(scores)) for score in scores], rel=1e-12)

    # A file of texts gives the same, in one block or in many, and what was answered once is known.
    pa = pytest.importorskip("pyarrow")
    csv = tmp_path / "rows.csv"
    lines = [",".join(names), *(",".join(map(field, row)) for row in zip(*table.values(), strict=True))]
    csv.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if len(names) > 1:  # else an empty line is no row
        assert release.predict(csv, unseen="null", domains=domains).tolist() == expected
    whole = Table(table).to_arrow()
    batches = pa.Table.from_batches(whole.to_batches()).combine_chunks().to_batches(max_chunksize=7)
    found = list(release.predict_batches(iter(batches), unseen="null", domains=domains))
    assert len(found) == len(batches)
    assert [label for block in found for label in block.tolist()] == expected
    assert release.predict(whole, unseen="null", domains=domains).tolist() == expected
    found = release.predict_batches(iter(batches), **ignoring)
    assert [label for block in found for label in block.tolist()] == [label for label, _ in of_known]


def field(value):
    text = "" if value is None else str(value)
    return f'"{text}"' if "," in text else text


def test_files_are_read_block_by_block_with_the_same_answers(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("nbcfast._reading.row_blocks.BATCH_BYTES", 1 << 10)
    rng = random.Random(5)
    names = ["age", "dose", "town", "day"]
    release = made(rng, names, 3)
    table, places = rows_of(rng, names, 3_000)
    expected = [plainly(release.views, row)[0] for row in places]
    lines = [",".join(names), *(",".join(map(field, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    blocks = list(release.predict_batches(tmp_path / "rows.csv", unseen="null"))
    assert len(blocks) > 5
    assert [label for block in blocks for label in block.tolist()] == expected
    arrow = Table(table).to_arrow()
    pytest.importorskip("pyarrow.parquet").write_table(arrow, tmp_path / "rows.parquet", row_group_size=500)
    monkeypatch.setattr("nbcfast._reading.parquet.PARQUET_ROWS", 400)
    blocks = list(release.predict_batches(tmp_path / "rows.parquet", unseen="null", codes=True))
    assert len(blocks) > 5
    labels = [
        None if code is None else release.views.classes[code] for block in blocks for code in block.tolist()
    ]
    assert labels == expected


def test_what_kind_the_rest_of_a_column_is_does_not_matter():
    views = Viewset([1, 1], {"x": [[3, 1], [1, 2], [1, 3]]}, ["a", "b"], domains={"x": [1, 2, 5]})
    release = Release(views, Certificate(amplification=4, tuples=3))
    assert release.predict({"x": ["1", "2.0", "5", "007", "x"]}, unseen="null").tolist() == [
        "a",
        "b",
        "b",
        None,
        None,
    ]
    assert release.predict({"x": [True, False]}, unseen="null").tolist() == [None, None]
    texts = Viewset([1, 1], {"x": [[3, 1], [1, 2]]}, ["a", "b"], domains={"x": ["1", "02"]})
    release = Release(texts, Certificate(amplification=4, tuples=2))
    assert release.predict({"x": ["1", "02", "2"]}, unseen="null").tolist() == ["a", "b", None]
    with pytest.raises(
        ValueError, match="the release holds texts, the table values of kind int: read them as text"
    ):
        release.predict({"x": [1, 2]})


def test_texts_of_numbers_and_of_bins_lie_in_bins():
    views = Viewset(
        [1, 1], {"x": [[3, 1], [1, 2]]}, ["a", "b"], domains={"x": [Interval(0, "0.3"), Interval("0.3", 9)]}
    )
    release = Release(views, Certificate(amplification=4, tuples=2))
    rows = {"x": ["0.30", "0.29", "0.2999999999999999999999", "[0.3, 9)", "9.00", " 1", "1e0", ""]}
    assert release.predict(rows, unseen="null").tolist()[:6] == ["b", "a", "a", "b", None, None]
    assert release.predict(rows, unseen="null").tolist()[7] is None
    inside = {"x": [Interval(1, 2), Interval(0, "0.3"), Interval(0, 1)]}
    assert release.predict(inside, unseen="null").tolist() == ["b", "a", None]
    assert release.predict({"x": [float("nan"), float("inf"), -0.0]}, unseen="null").tolist() == [
        None,
        None,
        "a",
    ]


def test_values_that_are_unknown_are_said():
    rng = random.Random(1)
    release = made(rng, ["age", "town", "rate"], 2)
    rows = {"age": [1, 66, None], "town": ["Ulm", "Bonn", "Bonn"], "rate": [1, 1, 1]}
    with pytest.raises(
        ValueError, match=r"^column 'age': value 66 is unknown to the release, as are those of 1 more"
    ) as error:
        release.predict(rows)
    text = str(error.value)
    assert "column 'town': value 'Bonn' is unknown to the release, as are those of 1 more row" in text
    assert "may have been made with sets of values" in text
    assert "give domains=.., what it was published with" in text
    assert text.endswith(
        "unseen='ignore' leaves the attribute out of such rows, unseen='null' gives them no class"
    )
    assert "zero" not in text
    with pytest.raises(
        ValueError,
        match="column 'age': value None is unknown to the release; null was not published as a value",
    ):
        release.predict({"age": [None], "town": ["Ulm"], "rate": [1]})
    with pytest.raises(ValueError, match="unseen must be 'error', 'ignore', 'null' or 'zero', got 'none'"):
        release.predict(rows, unseen="none")
    with pytest.raises(
        ValueError, match="unseen must be 'error', 'ignore' or 'null' for probabilities, got 'zero'"
    ):
        release.predict_proba(rows, unseen="zero")
    with pytest.raises(ValueError, match=r"^table: expected a column of 'age'; got 'town'$"):
        release.predict({"age": [1]})
    last = release.views.classes[-1]
    assert release.predict({"age": [66], "town": ["Ulm"], "rate": [1]}, unseen="zero").tolist() == [last]


def test_what_was_declared_otherwise_is_refused():
    release = made(random.Random(2), ["job", "town"], 2)
    rows = {"job": ["cook"], "town": ["Ulm"]}
    with pytest.raises(
        ValueError, match="domains: column 'job': the release has other values: give what it was"
    ):
        release.predict(rows, domains={"job": {"groups": {"heads": ["cook"]}}})
    with pytest.raises(ValueError, match="column 'job': the release has other values"):
        release.predict(rows, domains={"job": {"out": True}})
    same = declared({"job": SETS["job"], "name": {"out": True}})
    assert (
        release.predict(rows, domains=same).tolist()
        == release.predict({"job": ["heads"], "town": ["Ulm"]}).tolist()
    )


def test_codes_are_of_the_same_places():
    release = made(random.Random(2), ["job", "age"], 2)
    rows = {"job": ["cook", "smith", "poet"], "age": [3.0, 18.0, 99.5]}
    assert release.codes(rows, domains={"job": SETS["job"]}).tolist() == [[1, 0], [0, 1], [2, 2]]
    with pytest.raises(ValueError, match=r"column 'age': value 66\.0 is not in the domain of the release"):
        release.codes({"job": ["hands"], "age": [66.0]})


def test_nothing_and_all_kinds_of_tables():
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    release = made(random.Random(3), ["age", "town"], 3)
    rows = {"age": [3, 20], "town": ["Ulm", "Köln"]}
    labels = release.predict(rows).tolist()
    for given in (
        Table(rows),
        pd.DataFrame(rows),
        pl.DataFrame(rows),
        pa.table(rows),
        pa.table(rows).to_batches(),
    ):
        assert release.predict(given).tolist() == labels
        assert release.predict_proba(given).shape == (2, 3)
    none = {"age": [], "town": []}
    assert release.predict(none).tolist() == release.predict(none, unseen="null").tolist() == []
    assert release.predict(pa.table(rows).slice(0, 0)).tolist() == []
    assert release.predict_proba(pa.table(rows).slice(0, 0), unseen="null").shape == (0, 3)
    with pytest.raises(TypeError, match="table: expected a Table, a mapping"):
        release.predict(7)


def test_each_stratum_answers_its_own_raw_rows():
    rows = {
        "sex": ["f", "m"] * 20,
        "age": [number * 3 for number in range(40)],
        "job": ["cook", "smith", "poet", "clerk"] * 10,
        "ill": ["no", "yes", "yes", "no", "no"] * 8,
    }
    table = declared({"age": {"edges": [0, 30, 60, 150]}, "job": SETS["job"]}).applied(Table(rows))
    release = canonical.release_by(table, "ill", "sex", 4)
    expected = release.predict(table).tolist()
    given = {"job": SETS["job"]}
    assert release.predict(rows, domains=given).tolist() == expected
    posteriors = release.predict_proba(rows, domains=given)
    assert [release.first.views.classes[place] for place in posteriors.argmax(axis=1)] == expected
    for value, own in release.strata.items():
        kept = np.flatnonzero(np.array(rows["sex"]) == value)
        assert own.predict_proba(table.take(kept)).tolist() == posteriors[kept].tolist()
    rows["sex"][3], rows["age"][5] = "x", None
    expected[3] = expected[5] = None
    assert release.predict(rows, unseen="null", domains=given).tolist() == expected
    assert np.isnan(release.predict_proba(rows, unseen="null", domains=given)[[3, 5]]).all()
    blocks = release.predict_batches(Table(rows), unseen="null", domains=given)
    assert [label for block in blocks for label in block.tolist()] == expected
    with pytest.raises(ValueError, match="value 'x' has no release"):
        release.predict(rows, unseen="zero", domains=given)


def test_attributes_are_left_out_of_a_stratum_and_its_column_never():
    rng = random.Random(8)
    rows = {
        "sex": [*"fm"] * 30,
        "age": [rng.randint(0, 2) for _ in range(60)],
        "job": rng.choices("abc", k=60),
    }
    ill = [rng.choice("ynu") for _ in range(60)]
    release = canonical.release_by({**rows, "ill": ill}, "ill", "sex", 4)
    for name in ("age", "job", "age"):
        for row in rng.sample(range(60), 15):
            rows[name][row] = None
    expected, posteriors = [], []
    for sex, *values in zip(*rows.values(), strict=True):
        views = release.strata[sex].views
        places = [
            None if value is None else views.domain(name).index(value)
            for name, value in zip(views.attributes, values, strict=True)
        ]
        label, scores = plainly(views, places, ignore=True)
        expected.append(label)
        posteriors.append([float(score / sum(scores)) for score in scores])
    assert release.predict(rows, unseen="ignore").tolist() == expected
    found = release.predict_proba(rows, unseen="ignore")
    assert [release.first.views.classes[place] for place in found.argmax(axis=1)] == expected
    assert found == pytest.approx(np.array(posteriors), rel=1e-12)
    rows["sex"][7] = None
    for ask in (release.predict, release.predict_proba, lambda *a, **b: [*release.predict_batches(*a, **b)]):
        with pytest.raises(
            ValueError,
            match="column 'sex': value None has no release; there are releases of 'f' and 'm'; what selects "
            "the release cannot be left out",
        ):
            ask(rows, unseen="ignore")


def test_what_is_left_out_moves_no_odds_beyond_the_limit():
    rng = random.Random(9)
    n_other = 0
    for _ in range(15):
        n_classes = rng.choice([2, 2, 3])
        rows = [[rng.randrange(3), rng.randrange(2), rng.randrange(2)] for _ in range(rng.randint(12, 60))]
        table = dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True))
        table["c"] = [min(n_classes - 1, (sum(row) + rng.randrange(2)) // 2) for row in rows]
        private = nbcfast.count(table, "c")
        release = canonical.release(private, 3)
        views, highest = release.views, amplification(release.views).value
        assert release.certificate.equal
        assert highest <= 3
        partial = [*itertools.product(*([*range(len(domain)), None] for domain in views.domains.values()))]
        for places in partial:
            scores = plainly(views, places, ignore=True)[1]
            assert max(scores) <= highest * min(scores)
        given = {
            name: [None if place is None else views.domain(name)[place] for place in column]
            for name, column in zip(views.attributes, zip(*partial, strict=True), strict=True)
        }
        found, before = (one.predict(given, unseen="ignore").tolist() for one in (release, private))
        assert found == [plainly(views, places, ignore=True)[0] for places in partial]
        differ = [places for places, a, b in zip(partial, found, before, strict=True) if a != b]
        # Only whole rows are certain to keep the class of the original counts.
        assert all(None in places for places in differ)
        n_other += len(differ)
    assert n_other > 0


def test_progress_ends_with_all_rows(tmp_path):
    pytest.importorskip("pyarrow")
    release = made(random.Random(4), ["age", "town"], 2)
    rows = {"age": [3] * 50, "town": ["Ulm"] * 50}
    (tmp_path / "rows.csv").write_text("age,town\n" + "3,Ulm\n" * 50, encoding="utf-8")
    for given in (rows, tmp_path / "rows.csv"):
        seen = []
        release.predict(given, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1] == (50, 50)


def test_a_release_that_was_saved_and_its_own_rows(tmp_path):
    pytest.importorskip("pyarrow")
    rng = random.Random(6)
    people = Table(
        {"age": [rng.randint(0, 99) for _ in range(400)], "ill": [rng.choice("ynu") for _ in range(400)]}
    )
    binned = people.bin("age", edges=[0, 20, 50, 100])
    release = canonical.release(nbcfast.count(binned, "ill"), 4)
    release.save(tmp_path / "out", dataset=tmp_path / "rows.csv")
    loaded = nbcfast.load(tmp_path / "out")
    assert loaded.predict(people).tolist() == release.predict(binned).tolist()
    synthetic = nbcfast.read_csv(tmp_path / "rows.csv")
    assert loaded.predict(tmp_path / "rows.csv").tolist() == loaded.predict(synthetic).tolist()
