"""`compare_releases`: the measures are those of the rooms that have them, and None is no number."""

import copy
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from page_cases import HOSTILE

import nbcfast
from nbcfast import Table, attack, canonical, compare_releases, dp, safety
from nbcfast._coins import Coins
from nbcfast.sklearn import ComparedRelease, ReleaseComparison
from nbcfast.views.quality import evaluate

COLUMNS = ["age", "bmi", "glucose"]


@pytest.fixture(scope="module")
def patients():
    return nbcfast.read_csv("examples/patients.csv").select([*COLUMNS, "sex", "diagnosis"])


@pytest.fixture(scope="module")
def rows(patients):
    """X and y of all of them."""
    return patients.select(COLUMNS), patients["diagnosis"]


@pytest.fixture(scope="module")
def views(patients):
    return nbcfast.count(patients, "diagnosis", COLUMNS)


@pytest.fixture(scope="module")
def made(views):
    return {
        "canonical": canonical.release(views, 4),
        "powers": nbcfast.safety_transform(views, 4),
        "smoothed": canonical.release(views, 4, alpha=2),
        "rounded": canonical.release(views, 4, bits=2),
        "counts": views,
    }


@pytest.fixture(scope="module")
def compared(made, rows):
    return compare_releases(made, *rows)


def test_one_row_an_entry_in_the_order_given(compared, made):
    assert isinstance(compared, ReleaseComparison)
    assert [entry.name for entry in compared.entries] == list(made)
    assert (compared.rows, compared.private_rows, compared.private_given) == (5000, 5000, False)
    assert compared["powers"] is compared.entries[1]
    with pytest.raises(KeyError, match=r"expected the name of an entry, 'canonical', .*; got 'other'"):
        compared["other"]


def test_worth_and_lambda_are_those_of_their_rooms(compared, made, patients):
    for name, release in made.items():
        own = release if name == "counts" else release.views
        found, quality = compared[name], evaluate(own, patients, "diagnosis")
        assert (found.accuracy, found.log_loss) == (quality.accuracy, quality.log_loss)
        assert found.amplification == safety.amplification(own)
        assert found.bits == float(canonical.solve(canonical.box(own)).log2_range)


@pytest.mark.parametrize(("name", "alpha"), [("canonical", None), ("smoothed", 2), ("powers", None)])
def test_what_comes_back_and_shows_is_what_the_meter_and_the_totals_say(
    compared, made, patients, views, name, alpha
):
    found, leak = compared[name], canonical.leak(views, alpha=alpha, table=patients, class_name="diagnosis")
    assert (found.flip, found.shows_class, found.looked_at) == (leak.flip, leak.shows_class, leak.sampled)
    back = leak.found if name != "powers" else max(leak.found, attack.totals(made[name], views).found)
    assert (found.found, found.cells) == (back, leak.cells)
    assert found.flip_is == ("at least" if name == "powers" else "exactly")
    assert not found.why


def test_that_these_rows_were_counted_is_called_a_claim(made, patients):
    """Three times the rows have the same answers, and nobody's class shows in them."""
    thrice = nbcfast.concat([patients] * 3)
    found = compare_releases({"canonical": made["canonical"]}, thrice.select(COLUMNS), thrice["diagnosis"])
    assert found["canonical"].looked_at == 15_000
    assert any("a claim, and not checked, that these were counted" in note for note in found.notes)
    assert found.to_dict()["private_given"] is False


def test_rounded_points_show_at_most_what_the_answers_did(compared):
    assert compared["rounded"].flip_is == "at most"
    assert "at most: so many show in the answers before their points were rounded" in compared.notes


def test_counts_as_they_are_give_everybody_away(compared):
    found = compared["counts"]
    assert (found.found, found.cells, found.flip) == (14, 14, 0.0)
    assert (found.shows_class, found.looked_at) == (5000, 5000)


def test_of_other_rows_nothing_is_measured(made, patients):
    others = patients.take(np.arange(2500, 5000))
    found = compare_releases(made, others.select(COLUMNS), others["diagnosis"])
    for entry in found.entries:
        assert (entry.found, entry.cells, entry.flip, entry.shows_class) == (None,) * 4
        assert entry.why["found"] == entry.why["flip"]
        assert "it was not made of these rows (" in entry.why["flip"]
        assert entry.bits is not None
    assert "what comes back" not in repr(found)


def test_rows_that_decide_alike_are_not_taken_for_those_of_counts_that_say_more(patients, views):
    fewer = patients.take(np.arange(1, 5000))
    X, y = fewer.select(COLUMNS), fewer["diagnosis"]
    assert nbcfast.compare(views, nbcfast.count(fewer, "diagnosis", COLUMNS)).equal
    entries = {
        "counts": views,
        "powers": nbcfast.safety_transform(views, 4, rows="proven"),
        "answers": canonical.release(views, 4),
    }
    found = compare_releases(entries, X, y)
    assert found["counts"].why["flip"].startswith("it was not made of these rows (its counts are others)")
    assert (
        found["powers"]
        .why["flip"]
        .startswith(
            "whether it was made of these rows cannot be shown (they give its answers, as other rows may"
        )
    )
    assert (found["counts"].found, found["powers"].found, found["powers"].flip) == (None, None, None)
    # A canonical release is a function of its answers: it is that of these rows as well.
    assert found["answers"].found == canonical.leak(nbcfast.count(fewer, "diagnosis", COLUMNS)).found
    given = compare_releases(entries, X, y, private=(X, y))
    assert given["powers"].found is not None
    own = compare_releases(entries, patients.select(COLUMNS), patients["diagnosis"])["powers"]
    assert own.found == attack.totals(entries["powers"], views).found
    assert given["counts"].flip_is == "at least"


def test_private_rows_are_others_than_those_it_is_tested_on(made, patients, rows, compared):
    others = patients.take(np.arange(2500, 5000))
    found = compare_releases(made, others.select(COLUMNS), others["diagnosis"], private=rows)
    assert (found.rows, found.private_rows, found.private_given) == (2500, 5000, True)
    for entry in found.entries:
        before = compared[entry.name]
        assert (entry.found, entry.flip, entry.bits) == (before.found, before.flip, before.bits)
        quality = evaluate(getattr(made[entry.name], "views", made[entry.name]), others, "diagnosis")
        assert entry.accuracy == quality.accuracy
    assert "of the 5,000 private rows that were given" in repr(found)


def test_noise_is_measured_where_the_owner_gives_the_rows(patients, rows):
    domains = {name: patients.domain(name) for name in (*COLUMNS, "diagnosis")}
    table = Table(patients.select([*COLUMNS, "diagnosis"]), domains)
    noisy = dp.counts(nbcfast.count(table, "diagnosis"), epsilon=1, coins=Coins(bytes(32)))
    release = canonical.release(noisy, 4)
    alone = compare_releases({"noisy": release}, *rows)["noisy"]
    assert alone.why["found"].startswith("noise was added to its counts, and no file shows")
    given = compare_releases({"noisy": release}, *rows, private=rows)["noisy"]
    assert given.found == attack.totals(release, nbcfast.count(patients, "diagnosis", COLUMNS)).found
    assert given.flip is None
    assert "its epsilon" in given.why["flip"]


def test_strata_are_measured_together(patients):
    table = patients.select(["sex", *COLUMNS, "diagnosis"])
    release = canonical.release_by(table, "diagnosis", "sex", 4)
    found = compare_releases({"by sex": release}, table, "diagnosis")["by sex"]
    leaks = canonical.leak_by(table, "diagnosis", "sex").values()
    assert found.accuracy == np.mean(release.predict(table) == table["diagnosis"])
    assert found.bits == max(leak.bits for leak in leaks)
    assert (found.found, found.cells) == (
        sum(leak.found for leak in leaks),
        sum(leak.cells for leak in leaks),
    )
    assert (found.shows_class, found.flip) == (
        sum(leak.shows_class for leak in leaks),
        min(leak.flip for leak in leaks),
    )
    assert found.amplification.log == max(
        safety.amplification(one.views).log for one in release.strata.values()
    )


def test_bins_and_sets_of_a_release_take_raw_rows():
    advice = canonical.advise(
        "examples/patients.csv", "diagnosis", "examples/patients-menu.json", front=False
    )
    publication = nbcfast.publish("examples/patients.csv", "diagnosis", 4, domains=advice.document)
    found = compare_releases(
        {"advised": publication}, "examples/patients.csv", "diagnosis", domains={"advised": advice.document}
    )["advised"]
    leak = publication.leak
    assert found.accuracy == publication.after.quality.accuracy
    assert (found.bits, found.found, found.cells, found.flip) == (
        leak.bits,
        leak.found,
        leak.cells,
        leak.flip,
    )


def test_one_class_and_listed_answers_are_not_measured(views, rows):
    one = nbcfast.Viewset([3], {"job": [[1], [2]]})
    found = compare_releases({"one": canonical.release(one, 4)}, {"job": [0, 1, 1]}, [0, 0, 0])["one"]
    assert (found.bits, found.flip) == (None, None)
    assert "one class" in found.why["bits"]
    listed = canonical.release(views, 4, tuples={name: [views.domain(name)[0]] for name in COLUMNS})
    some = compare_releases({"listed": listed}, *rows)["listed"]
    assert (some.bits, some.found, some.flip) == (None, None, None)
    assert "public list of tuples" in some.why["bits"]
    given = compare_releases({"listed": listed}, *rows, private=rows)["listed"]
    assert given.found == attack.totals(listed, views).found
    assert given.flip is None


def test_it_shows_itself_as_an_aligned_table_and_as_plain_values(compared):
    lines = repr(compared).splitlines()
    assert lines[0].split("  ")[-1] == "class shows"
    assert len({len(line) for line in lines[:6]}) == 1
    assert lines[5].startswith("counts ")
    assert "infinite" in lines[5]
    plain = compared.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert repr(compared["counts"]).startswith("ComparedRelease('counts': accuracy 0.9064; log-loss ")
    html = compared._repr_html_()
    assert "from the private table" in html
    for copied in (pickle.loads(pickle.dumps(compared)), copy.deepcopy(compared)):
        assert copied == compared


def test_rows_with_weights_are_so_many_people(patients, views):
    few = patients.select([*COLUMNS, "diagnosis"]).collapse()
    assert few.n_rows < 500
    found = compare_releases({"counts": views}, few, "diagnosis")
    assert (found.rows, found.private_rows, found["counts"].shows_class) == (5000, 5000, 5000)
    assert found["counts"].accuracy == evaluate(views, patients, "diagnosis").accuracy


def test_degenerate_counts_are_not_measured_and_say_why():
    empty = nbcfast.Viewset([3, 0], {"a": [[1, 0], [2, 0]]})
    found = compare_releases({"empty": empty}, {"a": [0, 1, 1]}, [0, 0, 0])["empty"]
    assert (found.accuracy, found.found, found.flip) == (1.0, None, None)
    assert found.why["flip"].startswith("it was not made of these rows (class 1 has no private row)")
    none = nbcfast.Viewset([2, 2], {"a": [[0, 2], [2, 0]], "b": [[0, 2], [2, 0]]})
    some = compare_releases({"none": none}, {"a": [0, 1], "b": [0, 1]}, [1, 0])["none"]
    assert some.amplification.infinite
    assert some.texts()["amplification"] == "infinite"


def test_a_sample_says_so_and_certain_numbers_need_no_bound():
    drawn = ComparedRelease("x", 0.5, flip=1.0, shows_class=0, looked_at=64, flip_shows_at_most=0.046)
    assert drawn.texts()["flip"] == "0 of 64 looked at (up to 4.6 % of all)"
    powers = {"flip_is": "at least", "looked_at": 9}
    assert ComparedRelease("x", 0.5, flip=0.5, shows_class=3, **powers).texts()["flip"] == "at least 3 of 9"
    assert ComparedRelease("x", 0.5, flip=0.0, shows_class=9, **powers).texts()["flip"] == "9 of 9"


def test_names_are_never_markup(views, rows):
    found = compare_releases({HOSTILE[1]: views}, *rows)
    assert "<img" not in found._repr_html_()


def test_a_frame_has_missing_values_where_nothing_was_measured(made, rows):
    pandas = pytest.importorskip("pandas")
    others = rows[0].take(np.arange(100)), rows[1][:100]
    frame = compare_releases(made, *others).to_pandas()
    assert list(frame.index) == list(made)
    assert frame["found"].isna().all()
    assert frame["flip_is"].isna().all()
    assert frame["accuracy"].notna().all()
    assert frame.loc["counts", "amplification"] == math.inf
    assert isinstance(frame.dtypes["found"], pandas.Int64Dtype)


def test_a_class_that_is_called_as_an_attribute():
    views = nbcfast.count({"class": [1, 2, 2, 1], "y": [0, 1, 0, 1]}, "y")
    found = compare_releases({"views": views}, {"class": [1, 2, 2, 1]}, [0, 1, 0, 1])["views"]
    assert found.found == 2


def test_arrays_are_columns_in_the_order_of_the_attributes(views, rows, compared):
    array = np.array([rows[0][name] for name in COLUMNS], object).T
    found = compare_releases({"counts": views}, array, list(rows[1]))["counts"]
    assert found.to_dict() == compared["counts"].to_dict()


ERRORS = {
    "entries must be a mapping of names to classifiers, got list": (TypeError, lambda v: ([v], [[1]], [1])),
    "entries: expected at least one classifier, got none": (ValueError, lambda v: ({}, [[1]], [1])),
    "entries: expected texts as names, got 1": (TypeError, lambda v: ({1: v}, {"a": [1]}, [1])),
    "entry 'x': expected a Release, a StratifiedRelease, a Viewset, or a fitted classifier or Pipeline of "
    "scikit-learn, got int": (TypeError, lambda v: ({"x": 3}, {"a": [1]}, [1])),
    "X: no rows": (ValueError, lambda v: ({"x": v}, {"a": []}, [])),
    "X: expected one class a row, got an array of shape (1, 1)": (
        ValueError,
        lambda v: ({"x": v}, {"a": [1]}, np.array([[1]])),
    ),
    "X: expected a 1-D array of classes, got int": (TypeError, lambda v: ({"x": v}, {"a": [1]}, 3)),
    "X: expected a table with the column 'y' of the classes, got list": (
        TypeError,
        lambda v: ({"x": v}, [[1]], "y"),
    ),
    "entry 'x': X and y must have as many rows, got 2 and 1": (
        ValueError,
        lambda v: ({"x": v}, {"a": [1, 0]}, [1]),
    ),
    "entry 'x': X must have a column for each of the 1 attributes (a), got 2 columns": (
        ValueError,
        lambda v: ({"x": v}, [[1, 0]], [1]),
    ),
    "entry 'x': X must have two dimensions, got an array of shape (1,)": (
        ValueError,
        lambda v: ({"x": v}, [1], [1]),
    ),
    "entry 'x': column 'a': value 7 ": (ValueError, lambda v: ({"x": v}, {"a": [7]}, [1])),
}


@pytest.mark.parametrize("text", ERRORS)
def test_what_does_not_fit_is_refused_by_name(text):
    kind, arguments = ERRORS[text]
    views = nbcfast.count({"a": [0, 1, 1], "y": [0, 1, 0]}, "y")
    with pytest.raises(kind) as raised:
        compare_releases(*arguments(views))
    assert text in str(raised.value)


def test_other_arguments_are_refused_by_name(views, rows):
    with pytest.raises(TypeError, match=r"private must be a pair \(X, y\), got int"):
        compare_releases({"v": views}, *rows, private=3)
    with pytest.raises(TypeError, match="domains must be a mapping of names of entries, got list"):
        compare_releases({"v": views}, *rows, domains=[])
    with pytest.raises(ValueError, match="domains: expected names of entries, 'v'; got 'w'"):
        compare_releases({"v": views}, *rows, domains={"w": {}})


def test_releases_are_compared_without_scikit_learn():
    script = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import nbcfast\n"
        "views = nbcfast.count({'a': [0, 1, 1, 0], 'y': [0, 1, 0, 1]}, 'y')\n"
        "entries = {'v': views, 'r': nbcfast.canonical.release(views, 4)}\n"
        "print(nbcfast.compare_releases(entries, {'a': [0, 1]}, [0, 1]).rows)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"


def test_progress_counts_entries(made, rows):
    told = []
    compare_releases(
        {name: made[name] for name in ("canonical", "counts")}, *rows, progress=lambda *at: told.append(at)
    )
    assert told == [(1, 2), (2, 2)]


def test_an_entry_by_itself():
    entry = ComparedRelease("x", 0.5, why={"log_loss": "for a reason"})
    assert entry.texts()["log_loss"] == "not measured"
    assert entry.to_dict()["why"] == {"log_loss": "for a reason"}
