"""`Viewset.scorer`, and what a Viewset keeps of its first predictions: the same answers, at any time."""

import copy
import gc
import pickle
import random
import threading
import tracemalloc
import weakref
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Interval, Table, Viewset
from nbcfast.reference import views as reference
from nbcfast.views import kept_scores, record_scorer
from nbcfast.views.record_scorer import RecordScorer

NUMBERS = {
    "small": [0, 0, 1, 1, 2, 3],
    "smooth": [0, 1, 2, 4, 8, 16],  # products that are often equal
    "near": [10**8 - 1, 10**8, 10**8 + 1],  # and such as floats cannot tell apart
    "huge": [10**40, 10**40 + 1, 0, 2**64],
}


def views_of(rng, style, n_classes, n):
    numbers = NUMBERS[style]
    counts = {
        f"A{i}": np.array(
            [[rng.choice(numbers) for _ in range(n_classes)] for _ in range(rng.randint(1, 3))], object
        )
        for i in range(n)
    }
    names = {name: [f"{name}{value}" for value in range(len(array))] for name, array in counts.items()}
    return Viewset([rng.choice(numbers) for _ in range(n_classes)], counts, domains=names)


def whole_domain(views):
    return [
        dict(zip(views.attributes, values, strict=True))
        for values in product(*map(views.domain, views.attributes))
    ]


def columns_of(views, records):
    return {
        **{name: [record[name] for record in records] for name in views.attributes},
        "other": [0] * len(records),
    }


@given(st.integers(0, 2**64), st.sampled_from(sorted(NUMBERS)), st.integers(1, 6), st.integers(0, 4))
def test_answers_are_those_of_predict_on_the_whole_domain(seed, style, n_classes, n):
    rng = random.Random(seed)
    views = views_of(rng, style, n_classes, n)
    alpha = rng.choice([0, 0, 1, "1/3"])
    records = whole_domain(views)
    table = Table(columns_of(views, records))
    codes = np.array([[views.domain(name).index(record[name]) for name in record] for record in records])
    codes = codes.reshape(len(records), n).astype(rng.choice([np.uint8, np.int16, np.int64]))
    expected = reference.predict(views, records, alpha=alpha)
    scorer = views.scorer(alpha=alpha)
    for _ in range(2):  # what is kept answers the second time
        assert views.predict(table, codes=True, alpha=alpha).tolist() == expected
        assert [scorer.predict_one(record) for record in records] == expected
    assert [scorer.predict_one(row.tolist()) for row in codes] == expected
    assert scorer.predict_codes(codes).tolist() == expected
    assert scorer.predict_codes(np.asfortranarray(codes)).tolist() == expected
    out = np.full(len(records), 77, np.uint8)
    assert scorer.predict_codes(codes, out=out) is out
    assert out.tolist() == expected
    assert views.tied(table, alpha=alpha).tolist() == reference.tied(views, records, alpha=alpha)


@given(st.integers(0, 2**64), st.sampled_from(sorted(NUMBERS)), st.integers(1, 4), st.integers(1, 4))
def test_unknown_values_mean_what_they_mean_to_predict(seed, style, n_classes, n):
    rng = random.Random(seed)
    views = views_of(rng, style, n_classes, n)
    records = whole_domain(views)
    for record in records:
        for name in record:
            if rng.random() < 0.4:
                record[name] = rng.choice(["none", "", None, 7, 2.5, True])
    table = {name: [record[name] for record in records] for name in views.attributes}
    for unseen in ("ignore", "zero"):
        scorer = views.scorer(unseen=unseen)
        answers = [scorer.predict_one(record) for record in records]
        for record, answer in zip(records, answers, strict=True):
            one = {name: [value] for name, value in record.items()}
            assert answer == views.predict(one, unseen=unseen).tolist()[0]
        known = [
            [views.domains[name].index.get(record[name], len(views.domain(name))) for name in record]
            for record in records
        ]
        assert scorer.predict_codes(known).tolist() == answers
        assert [scorer.predict_one(row) for row in known] == answers
        kinds = {type(value) for column in table.values() for value in column}
        if kinds <= {str, type(None)}:  # of one kind, as a table has them
            assert views.predict(table, unseen=unseen).tolist() == answers


def test_classes_that_need_two_bytes():
    views = Viewset([1] * 300, {"x": [[1] * 299 + [2], [2] + [1] * 299]})
    scorer = views.scorer()
    assert scorer.predict_codes([[0], [1]]).dtype == np.uint16
    assert scorer.predict_codes([[0], [1]]).tolist() == [299, 0]
    assert scorer.predict_one({"x": 1}) == 0
    with pytest.raises(ValueError, match=r"out must be uint16 of shape \(2,\), got uint8 of shape \(2,\)"):
        scorer.predict_codes([[0], [1]], out=np.zeros(2, np.uint8))


def kinds():
    """A column of each kind, of two values and null."""
    domains = {
        "text": ["a", "b", None],
        "int": [1, 2**53 + 1, None],
        "float": [0.5, 1.0, None],
        "bool": [True, False, None],
        "bin": [Interval(0, 10), Interval(10, None), None],
    }
    return Viewset([4, 5], {name: [[1, 2], [2, 1], [1, 1]] for name in domains}, domains=domains)


ODD = [
    "a", "1", "", None, 0, 1, 2, 2**53, 2**53 + 1, 2**80, 0.5, 1.0, -0.0, float("nan"), float("inf"), True,
    False, SUPPRESSED, Interval(0, 10), Interval(0, 5), np.int64(1), np.float32(0.5), np.float64("nan"),
    np.bool_(True), np.str_("a"), np.uint8(1), 1j, b"a", [1], (1,), {"a"}, np.array([1]),
]  # fmt: skip


@pytest.mark.parametrize("unseen", ["error", "ignore", "zero"])
def test_values_are_matched_by_value_and_kind_as_in_a_table(unseen):
    views = kinds()
    scorer = views.scorer(unseen=unseen)
    usual = {name: views.domain(name)[0] for name in views.attributes}
    for name in views.attributes:
        for value in ODD * 2:
            record = {**usual, name: value}
            one = {key: [each] for key, each in record.items()}
            expected = answer(lambda one=one: views.predict(one, unseen=unseen).tolist()[0])
            assert answer(lambda record=record: scorer.predict_one(record)) == expected, (name, value)


def answer(work):
    """What comes back, or the type of what is raised."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        return type(error)


def test_an_unknown_value_is_named_with_its_column():
    views = kinds()
    usual = {name: views.domain(name)[0] for name in views.attributes}
    scorer = views.scorer()
    for name, value, message in (
        (
            "text",
            "c",
            r"column 'text': value 'c' is unknown to the views; Viewset\.scorer\(unseen='ignore'\)",
        ),
        ("int", True, "column 'int': value True is unknown to the views; the views hold values of kind int"),
        ("bin", 3, "column 'bin': value 3 is unknown to the views; the views hold intervals"),
        ("float", [1.0], "column 'float': expected values of bool, int, float, .* got list"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            scorer.predict_one({**usual, name: value})


def test_what_a_record_must_be():
    views = Viewset([1, 2], {"x": [[1, 1], [0, 1]], "y": [[1, 2]]})
    scorer = views.scorer()
    assert scorer.predict_one(np.array([1, 0])) == scorer.predict_one(range(1, -1, -1)) == 1
    for record, message in (
        ({"x": 1}, "record: no value of 'y'; it has 'x'"),
        ({}, "record: no value of 'x'; it has none"),
        ([1], "record must be 2 codes, got 1"),
        ([1, 0, 0], "record must be 2 codes, got 3"),
        ([2, 0], r"record: the code of 'x' must be 0\.\.1, got 2"),
        ((0, -1), r"record: the code of 'y' must be 0\.\.0, got -1"),
        ([10**30, 0], r"record: the code of 'x' must be 0\.\.1, got 1000"),
        (np.array([3, 0]), r"record: the code of 'x' must be 0\.\.1, got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer.predict_one(record)
    for record, message in (
        ([0, True], "record: the code of 'y' must be an int, got True"),
        ([0.0, 0], r"record: the code of 'x' must be an int, got 0\.0"),
        ("xy", "record must be a mapping of names to values or a sequence of codes, got str"),
        (5, "record must be a mapping of names to values or a sequence of codes, got int"),
        (None, "record must be a mapping of names .* got NoneType"),
        (np.array([0.0, 1.0]), "record must be 1-D of integers, got float64 of 1 dimensions"),
        (np.array([[0, 0]]), "record must be 1-D of integers, got int64 of 2 dimensions"),
    ):
        with pytest.raises(TypeError, match=message):
            scorer.predict_one(record)


def test_what_a_matrix_must_be():
    scorer = Viewset([1, 2], {"x": [[1, 1], [0, 1]], "y": [[1, 2]]}).scorer()
    assert scorer.predict_codes(np.zeros((0, 2), int)).tolist() == []
    codes = np.zeros((4, 2), np.int64)
    for wrong, message in (
        (np.zeros(2, int), r"codes must have shape \(rows, 2\), got \(2,\)"),
        (np.zeros((2, 3), int), r"codes must have shape \(rows, 2\), got \(2, 3\)"),
        ([[0, 0], [2, 0]], r"codes of 'x' must be 0\.\.1, got 2 in row 1"),
        ([[0, -1]], r"codes of 'y' must be 0\.\.0, got -1 in row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer.predict_codes(wrong)
    for wrong in (np.zeros((4, 2)), np.zeros((4, 2), bool), [["a", "b"]]):
        with pytest.raises(TypeError, match="codes must be integers, got"):
            scorer.predict_codes(wrong)
    with pytest.raises(TypeError, match="native integers"):
        scorer.predict_codes(np.zeros((4, 2), ">i4"))
    for wrong in (np.zeros(3, np.uint8), np.zeros(4, np.int64), np.zeros((4, 1), np.uint8)):
        with pytest.raises(ValueError, match=r"out must be uint8 of shape \(4,\), got"):
            scorer.predict_codes(codes, out=wrong)
    with pytest.raises(TypeError, match="out must be an array of uint8, got list"):
        scorer.predict_codes(codes, out=[0] * 4)
    fixed = np.zeros(4, np.uint8)
    fixed.flags.writeable = False
    for wrong in (fixed, np.zeros(8, np.uint8)[::2]):
        with pytest.raises(ValueError, match="out must be contiguous and writable"):
            scorer.predict_codes(codes, out=wrong)
    both = np.zeros((4, 2), np.uint8)
    with pytest.raises(ValueError, match="out must be an array of its own, got memory of codes"):
        scorer.predict_codes(both, out=both.reshape(-1)[:4])


def test_what_a_scorer_refuses():
    views = Viewset([1, 2], {"x": [[1, 1], [0, 1]]})
    with pytest.raises(ValueError, match="unseen must be 'error', 'ignore' or 'zero', got 'null'"):
        views.scorer(unseen="null")
    with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
        views.scorer(alpha=-1)
    assert repr(views.scorer(unseen="zero")) == "RecordScorer(1 attribute, 2 classes; unseen='zero')"


# --- threads, pickles and memory -------------------------------------------------------------------------


def census(n_rows, seed=1):
    rng = np.random.default_rng(seed)
    sizes = [3, 5, 2, 9, 4]
    columns = {f"A{i + 1}": rng.integers(0, size, n_rows) for i, size in enumerate(sizes)}
    return Table({**columns, "y": rng.integers(0, 3, n_rows)})


def together(n, work):
    """Run work(number) in so many threads that begin at once; whatever they raise."""
    begin, errors = threading.Barrier(n), []

    def run(number):
        begin.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_eight_threads_ask_one_scorer():
    table = census(500)
    views = nbcfast.count(table, "y")
    expected = views.predict(table, codes=True)
    matrix = np.column_stack([table.codes(name) for name in views.attributes]).astype(np.int64)
    records = [dict(zip(views.attributes, row, strict=True)) for row in matrix.tolist()]
    scorer = views.scorer(unseen="ignore")

    def ask(number):
        out = np.empty(500, np.uint8)
        for _ in range(20):
            assert np.array_equal(scorer.predict_codes(matrix, out=out), expected)
            for row in range(number, 500, 50):
                assert scorer.predict_one(records[row]) == expected[row]
                assert scorer.predict_one(matrix[row].tolist()) == expected[row]

    together(8, ask)


def test_eight_threads_ask_a_viewset_for_the_first_time():
    table = census(300)
    expected = nbcfast.count(table, "y").predict(table).tolist()
    others = [census(100, seed) for seed in range(8)]
    for _ in range(10):
        views = nbcfast.count(table, "y")

        def ask(number, views=views):
            own = views.predict(others[number], unseen="ignore")
            for _ in range(5):
                assert views.predict(table).tolist() == expected
                assert np.array_equal(views.predict(others[number], unseen="ignore"), own)

        together(8, ask)


def test_what_is_kept_is_in_no_pickle_no_copy_and_no_comparison():
    table = census(50)
    views, same = nbcfast.count(table, "y"), nbcfast.count(table, "y")
    before = pickle.dumps(views), pickle.dumps(views.class_domain), pickle.dumps(table)
    views.predict(table)
    views.predict({name: [0] for name in views.attributes}, unseen="zero", alpha=1)
    views.scorer()
    assert (pickle.dumps(views), pickle.dumps(views.class_domain), pickle.dumps(table)) == before
    assert views == same
    for other in (pickle.loads(before[0]), copy.copy(views), copy.deepcopy(views)):
        assert other == views
        assert other.predict(table).tolist() == views.predict(table).tolist()
    with pytest.raises(TypeError, match="a RecordScorer is not pickled or copied"):
        pickle.dumps(views.scorer())
    with pytest.raises(TypeError, match="a RecordScorer is not pickled or copied"):
        copy.copy(views.scorer())


def test_a_viewset_keeps_no_table_and_goes_with_what_it_keeps():
    table = census(50)
    views = nbcfast.count(table, "y")
    other = census(50, 2)
    gone = [weakref.ref(other.column(name).domain) for name in other.names]
    views.predict(other)
    kept = weakref.ref(views.kept.own.tables[0])
    was = gc.isenabled()
    gc.disable()  # nobody waits for a collection
    try:
        del other
        assert [one() for one in gone] == [None] * len(gone)
        del views
        assert kept() is None
    finally:
        if was:
            gc.enable()


def test_domains_that_are_equal_are_looked_at_again():
    """A domain that is gone may have left its place in memory to another."""
    views = Viewset([3, 3], {"x": [[1, 0], [0, 1]]}, domains={"x": ["a", "b"]})
    for values, expected in ((["a", "b"], [0, 1]), (["b", "a"], [1, 0]), (["b", "b"], [1, 1])) * 20:
        assert views.predict({"x": values}).tolist() == expected
        assert views.predict(Table({"x": values}, domains={"x": ["b", "a"]})).tolist() == expected


def test_memory_does_not_grow():
    views = Viewset(
        [5, 6], {"bin": [[1, 2], [4, 4]], "x": [[2, 3], [3, 3]]}, domains={"bin": ["a", "b"], "x": [0, 1]}
    )
    scorer = views.scorer(unseen="ignore")
    codes, out = np.zeros((100, 2), np.uint8), np.empty(100, np.uint8)

    def work(start):
        for number in range(start, start + 6_000):
            scorer.predict_one({"bin": f"unknown {number}", "x": number})
            scorer.predict_one([0, 1])
            scorer.predict_codes(codes, out=out)
        for number in range(start, start + 50):
            views.predict({"bin": ["a"], "x": [1]}, alpha=f"1/{number + 1}")

    work(0)
    gc.collect()
    tracemalloc.start()
    try:
        first = tracemalloc.get_traced_memory()[0]
        work(10_000)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 200_000
        tracemalloc.reset_peak()
        held = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            scorer.predict_codes(codes, out=out)
        assert tracemalloc.get_traced_memory()[1] - held < 4_096  # the frames of calls, and nothing a row
    finally:
        tracemalloc.stop()


def test_tables_that_are_too_large_are_not_kept(monkeypatch):
    monkeypatch.setattr(kept_scores, "MOST_BYTES", 100)
    table = census(50)
    views = nbcfast.count(table, "y")
    expected = views.order(table)[:, 0].tolist()
    made = mock_calls(monkeypatch)
    for _ in range(3):
        assert views.predict(table, codes=True).tolist() == expected
    assert len(made) == 1  # it is known that they are too large
    assert (
        views.scorer()
        .predict_codes(np.column_stack([table.codes(name) for name in views.attributes]))
        .tolist()
        == expected
    )


def mock_calls(monkeypatch):
    """How often tables are made to be kept."""
    calls, make = [], kept_scores.made_to_serve

    def counted(*arguments):
        calls.append(arguments)
        return make(*arguments)

    monkeypatch.setattr(kept_scores, "made_to_serve", counted)
    return calls


def test_tables_are_made_once(monkeypatch):
    made = mock_calls(monkeypatch)
    table = census(50)
    views = nbcfast.count(table, "y")
    assert made == []
    for _ in range(3):
        views.predict(table)
        views.predict(census(40, 3))
        views.tied(table)
        views.scorer()
    assert len(made) == 1
    for alpha in range(1, 6):
        views.predict(table, alpha=alpha)
    assert len(made) == 6
    views.predict(table, alpha=5)
    assert len(made) == 6  # the last three are there


def test_raw_values_are_remembered_up_to_a_number(monkeypatch):
    monkeypatch.setattr(record_scorer, "MOST_REMEMBERED", 10)
    asked = []

    def place(name, domain):
        asked.append(domain.values)
        return np.array([0 if value != "no" else -1 for value in domain.values])

    views = Viewset([1, 2], {"x": [[1, 2]]}, domains={"x": ["yes"]})
    (served,) = [kept_scores.made_to_serve(views, kept_scores.Fraction(0), "none")[0]]
    scorer = RecordScorer(
        views.domains, place, lambda unknown: ValueError([*unknown]), [served], (0, 1), "error"
    )
    for number in range(20):
        for _ in range(2):
            assert scorer.predict_one({"x": f"value {number}"}) == 1
    assert len(asked) == 1 + 9 + 2 * 11  # with the published value ten are remembered
    for long in ("x" * 101, float("nan")):
        before = len(asked)
        for _ in range(2):
            scorer.predict_one({"x": long})
        assert len(asked) == before + 2
    with pytest.raises(ValueError, match="x"):
        scorer.predict_one({"x": "no"})
