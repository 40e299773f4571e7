"""`Release.scorer`, and `Release.predict` of few rows: raw values, one at a time, as tables of them."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Certificate, Interval, Release, Table, Viewset, canonical
from nbcfast.domains import declared

BINS = [Interval(None, 18), Interval(18, "40.5"), Interval("40.5", None)]
DATES = ["(-inf, 2000-01-01)", "[2000-01-01, 2020-06-01)", "[2020-06-01, inf)"]
DOMAINS = {
    "age": BINS,
    "born": DATES,
    "job": ["clerk", "cook", None],
    "rooms": [1, 2, 3],
    "part": [0.5, 1.0],
    "ill": [False, True],
}


def release_of(seed=1, n_classes=2):
    """Counts that have no sense: whatever they are, both ways answer the same."""
    rng = np.random.default_rng(seed)
    counts = {name: rng.integers(1, 9, (len(values), n_classes)) for name, values in DOMAINS.items()}
    views = Viewset(rng.integers(5, 9, n_classes), counts, domains=DOMAINS)
    return Release(views, Certificate(amplification=10**9, tuples=views.n_tuples))


RAW = {
    "age": st.one_of(
        st.integers(-5, 100),
        st.floats(),
        st.sampled_from(["17", "17.5", "40.50", "old", "[18, 40.5)", *BINS]),
    ),
    "born": st.sampled_from(["1999-12-31", "2000-01-01", "2020-05-31T10:00:00", "2021-01-01", "May", *DATES]),
    "job": st.sampled_from(["clerk", "cook", None, "poet", "", "?"]),
    "rooms": st.sampled_from([1, 2, 3, 4, 1.0, 2.5, "1", "1.0", "01", "one", True, None]),
    "part": st.sampled_from([0.5, 1.0, 1, "0.5", "0.50", ".5", float("nan"), 7]),
    "ill": st.sampled_from([False, True, "true", "False", 0, 1, np.bool_(True), "yes"]),
}


def answer(work):
    """What comes back, or what is said."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        return str(error)


@given(st.fixed_dictionaries(RAW), st.sampled_from(["error", "ignore", "null", "zero"]))
def test_a_record_is_answered_as_a_table_of_one_row(record, unseen):
    release = release_of()
    table = Table({name: [value] for name, value in record.items()})
    expected = answer(lambda: next(release.predict_batches(table, unseen=unseen)).tolist()[0])
    scorer = release.scorer(unseen=unseen)
    one = {name: [value] for name, value in record.items()}
    for _ in range(2):  # the second time by what is remembered
        assert answer(lambda: scorer.predict_one(record)) == expected
        assert answer(lambda: release.predict(table, unseen=unseen).tolist()[0]) == expected
        assert answer(lambda: release.predict(one, unseen=unseen).tolist()[0]) == expected
        assert answer(lambda: release.predict(one, unseen=unseen, progress=print).tolist()[0]) == expected


@pytest.mark.parametrize("n_classes", [1, 2, 3, 300])
def test_few_rows_are_answered_as_many_are(n_classes):
    release = release_of(3, n_classes)
    rng = np.random.default_rng(n_classes)
    table = Table(
        {
            "age": rng.integers(0, 90, 300),
            "born": rng.choice(["1999-12-31", "2001-01-01", "2022-02-02"], 300),
            "job": rng.choice(["clerk", "cook"], 300),
            "rooms": rng.integers(1, 4, 300),
            "part": rng.choice([0.5, 1.0], 300),
            "ill": rng.integers(0, 2, 300).astype(bool),
        }
    )
    expected = np.concatenate([*release.predict_batches(table)])
    codes = release.predict(table, codes=True)
    assert codes.dtype == (np.uint8 if n_classes <= 256 else np.uint16)
    for _ in range(2):
        assert release.predict(table).tolist() == expected.tolist()
        masked = release.predict(table, unseen="null")
        assert isinstance(masked, np.ma.MaskedArray)
        assert masked.tolist() == expected.tolist()
    scorer = release.scorer()
    assert scorer.predict_codes(release.codes(table)).tolist() == codes.tolist()
    rows = [
        dict(zip(table.names, row, strict=True))
        for row in zip(*(table[name] for name in table.names), strict=True)
    ]
    assert [scorer.predict_one(row) for row in rows] == expected.tolist()  # NumPy's scalars too
    for row, label in zip(rows[:20], expected.tolist(), strict=False):
        one = {name: [value.item() if hasattr(value, "item") else value] for name, value in row.items()}
        for _ in range(2):
            found = release.predict(one)
            assert (found.tolist(), found.dtype, found.shape) == ([label], expected.dtype, (1,))
        assert release.predict(one, codes=True).dtype == codes.dtype
        found[0] = found[0]  # an array of the caller's own


def test_other_mappings_of_one_row_are_refused_as_ever():
    release = release_of()
    one = {name: [values[0]] for name, values in DOMAINS.items()}
    release.predict(one)
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        release.predict(one, threads=0)
    with pytest.raises(ValueError, match="unseen must be 'error', 'ignore', 'null' or 'zero', got 'none'"):
        release.predict(one, unseen="none")
    with pytest.raises(TypeError, match="column 'other': expected values of"):
        release.predict({**one, "other": [object()]})
    with pytest.raises(ValueError, match="rows"):
        release.predict({**one, "other": [1, 2]})
    with pytest.raises(ValueError, match="job"):
        release.predict({name: column for name, column in one.items() if name != "job"})
    for column in ("clerk", ["clerk", "cook"], []):
        with pytest.raises((TypeError, ValueError)):
            release.predict({**one, "job": column})
    assert release.predict({**one, "job": ("clerk",)}).tolist() == release.predict(one).tolist()


def test_what_is_in_a_set_is_declared():
    patients = {"job": ["a", "b", "c", "d"] * 3, "ill": ["no", "no", "yes", "yes"] * 3}
    sets = {"job": {"groups": {"one": ["a", "b"], "other": ["c", "d"]}}}
    release = canonical.release(nbcfast.count(declared(sets).applied(Table(patients)), "ill"), 4)
    scorer = release.scorer(domains=sets)
    for value in "abcd":
        assert scorer.predict_one({"job": value}) == release.predict({"job": [value]}, domains=sets)[0]
    with pytest.raises(ValueError, match=r"give domains=\.\."):
        release.scorer().predict_one({"job": "a"})


def test_what_a_release_scorer_refuses():
    release = release_of()
    with pytest.raises(ValueError, match="unseen must be 'error', 'ignore', 'null' or 'zero', got 'none'"):
        release.scorer(unseen="none")
    record = {name: values[0] for name, values in DOMAINS.items()}
    with pytest.raises(
        ValueError, match=r"column 'job': value 'poet' is unknown to the release.*; column 'rooms'"
    ):
        release.scorer().predict_one({**record, "job": "poet", "rooms": 9})


# --- by strata -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strata():
    rng = np.random.default_rng(4)
    rows = {
        "sex": rng.choice(["f", "m", "x"], 400).tolist(),
        "job": rng.choice(["clerk", "cook", "nurse"], 400).tolist(),
        "old": rng.choice([True, False], 400).tolist(),
    }
    rows["ill"] = [
        "yes" if (sex == "f") ^ (job == "cook") ^ (rng.random() < 0.2) else "no"
        for sex, job in zip(rows["sex"], rows["job"], strict=True)
    ]
    return canonical.release_by(rows, "ill", "sex", 4), rows


def test_strata_have_scorers(strata):
    release, rows = strata
    records = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    expected = release.predict(rows).tolist()
    scorer = release.scorer()
    assert scorer.attributes == ("sex", "job", "old")
    assert [scorer.predict_one(record) for record in records] == expected
    indices = [
        {value: place for place, value in enumerate(domain.values)} for domain in release.domains.values()
    ]
    codes = np.array(
        [
            [index[record[name]] for index, name in zip(indices, scorer.attributes, strict=True)]
            for record in records
        ]
    )
    positions = release.predict(rows, codes=True).tolist()
    for dtype in (np.uint8, np.int64):
        assert scorer.predict_codes(codes.astype(dtype)).tolist() == positions
    assert [scorer.predict_one(row) for row in codes.tolist()] == expected
    for record, label in zip(records[:10], expected, strict=False):
        one = {name: [record[name]] for name in scorer.attributes}
        assert [release.predict(one).tolist() for _ in range(2)] == [[label]] * 2


def test_what_selects_a_stratum_must_be_known(strata):
    release, _ = strata
    record = {"sex": "f", "job": "cook", "old": True}
    for unseen in ("error", "ignore", "zero"):
        scorer = release.scorer(unseen=unseen)
        with pytest.raises(
            ValueError, match="column 'sex': value 'u' has no release; there are releases of 'f', 'm'"
        ):
            scorer.predict_one({**record, "sex": "u"})
        for wrong in (3, -1):
            with pytest.raises(ValueError, match=rf"record: the code of 'sex' must be 0\.\.2, got {wrong}"):
                scorer.predict_one([wrong, 0, 0])
            with pytest.raises(ValueError, match=rf"codes of 'sex' must be 0\.\.2, got {wrong} in row 1"):
                scorer.predict_codes([[0, 0, 0], [wrong, 0, 0]])
        with pytest.raises(TypeError, match="record: the code of 'sex' must be an int, got True"):
            scorer.predict_one([True, 0, 0])
        with pytest.raises(ValueError, match="record must be 3 codes, got 2"):
            scorer.predict_one([0, 0])
    assert release.scorer(unseen="null").predict_one({**record, "sex": "u"}) is None
    for job in ("poet", None):
        expected = release.predict(
            {**{name: [value] for name, value in record.items()}, "job": [job]}, unseen="ignore"
        )
        assert release.scorer(unseen="ignore").predict_one({**record, "job": job}) == expected[0]
    with pytest.raises(ValueError, match=r"codes of 'old' must be 0\.\.1, got 2 in row 0"):
        release.scorer().predict_codes([[0, 0, 2]])


# --- pickles and threads ---------------------------------------------------------------------------------


def test_what_is_kept_is_in_no_pickle_no_copy_and_no_comparison(strata):
    for release, rows in ((release_of(), {name: [values[0]] for name, values in DOMAINS.items()}), strata):
        same, before = pickle.loads(pickle.dumps(release)), pickle.dumps(release)
        table = Table({name: rows[name] for name in rows if name != "ill" or name in DOMAINS})
        for asked in (rows, table):
            release.predict(asked)
            release.predict_proba(asked)
        release.scorer()
        assert pickle.dumps(release) == before
        assert release == same == copy.copy(release) == copy.deepcopy(release)
        assert vars(copy.copy(release)).keys() == vars(same).keys()
        assert same.predict(table).tolist() == release.predict(table).tolist()


def test_eight_threads_ask_a_release_for_the_first_time():
    table = Table({name: [values[0], values[1]] * 50 for name, values in DOMAINS.items()})
    expected = release_of().predict(table).tolist()
    for _ in range(5):
        release, begin, wrong = release_of(), threading.Barrier(8), []

        def ask(release=release, begin=begin, wrong=wrong):
            begin.wait()
            for _ in range(5):
                if release.predict(table).tolist() != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
