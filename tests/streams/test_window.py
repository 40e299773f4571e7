"""A window holds what counting its rows from scratch gives, however the stream is cut."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_cases import DOMAINS, PlainWindow, as_batch, as_columns, from_scratch, people, plain, timed

import nbcfast
from nbcfast import Table
from nbcfast.domains import Declared, declared
from nbcfast.streams import Window

FAR = 10**6


@given(
    st.lists(timed, max_size=6), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 4)
)
def test_views_of_time_blocks_are_those_counted_from_scratch(batches, width, n_blocks, open_blocks, late):
    late = min(late, n_blocks)
    window = Window(
        "ill",
        DOMAINS,
        by="day",
        width=width,
        n_blocks=n_blocks,
        open_blocks=open_blocks,
        late_blocks=late,
        late="report",
        ahead=FAR,
    )
    oracle = PlainWindow(width, n_blocks, open_blocks, late)
    for rows in batches:
        before = oracle.n_late, oracle.n_too_late, len(oracle.rows)
        added = window.add(as_batch(rows))
        oracle.add(rows)
        closed, opened = oracle.expected()
        assert plain(window.views) == from_scratch(closed)
        assert plain(window.open_views) == from_scratch(opened)
        assert (added.n_late, added.n_too_late) == (oracle.n_late - before[0], oracle.n_too_late - before[1])
        assert added.n_rows == len(oracle.rows) - before[2]
    assert (window.n_rows, window.n_late, window.n_too_late) == (
        len(oracle.rows),
        oracle.n_late,
        oracle.n_too_late,
    )


@given(st.lists(people, max_size=40), st.data(), st.integers(1, 9), st.integers(1, 4))
def test_views_of_row_blocks_do_not_depend_on_the_cuts(rows, data, size, n_blocks):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    window = Window("ill", DOMAINS, rows=size, n_blocks=n_blocks)
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        window.add(as_batch([(0, row) for row in rows[start:stop]]))
    full = len(rows) // size
    assert plain(window.views) == from_scratch(rows[max(0, full - n_blocks) * size : full * size])
    assert plain(window.open_views) == from_scratch(rows[full * size :])
    assert window.is_full == (full >= n_blocks)


@given(timed.filter(bool), st.randoms())
def test_the_order_of_rows_in_a_batch_says_nothing(rows, random):
    def of(listed):
        window = Window("ill", DOMAINS, by="day", width=4, n_blocks=3, ahead=FAR)
        window.add(as_batch(listed))
        return window

    permuted = list(rows)
    random.shuffle(permuted)
    assert of(rows) == of(permuted)


def test_rows_come_in_every_form(tmp_path):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    rows = [(1, ("clerk", 5, "no")), (2, ("cook", 30, "yes")), (9, ("cook", 70, "no"))]
    columns = as_columns(rows)
    (tmp_path / "rows.csv").write_text("day,job,age,ill\n1,clerk,5,no\n2,cook,30,yes\n9,cook,70,no\n")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), tmp_path / "rows.parquet")
    forms = {
        "mapping": columns,
        "batch": as_batch(rows),
        "batches": iter([as_batch(rows[:1]), as_batch(rows[1:])]),
        "arrow": pa.table(columns),
        "table": Table(columns),
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "csv": tmp_path / "rows.csv",
        "parquet": tmp_path / "rows.parquet",
    }
    for name, form in forms.items():
        window = Window("ill", DOMAINS, by="day", width=7, n_blocks=2)
        window.add(form)
        assert plain(window.views) == from_scratch([row for _, row in rows[:2]]), name
        assert plain(window.open_views) == from_scratch([rows[2][1]]), name


def test_the_same_dictionary_and_another_one_are_told_apart():
    window = Window("ill", {"job": ["clerk", "cook"], "ill": ["no", "yes"]}, rows=1, n_blocks=10)
    for dictionary in (["cook", "clerk"], ["cook", "clerk"], ["clerk", "cook", "cook"], ["x", "cook"]):
        jobs = pa.DictionaryArray.from_arrays(pa.array([1], pa.int8()), pa.array(dictionary))
        window.add(pa.record_batch({"job": jobs, "ill": ["no"]}))
    assert window.views.counts["job"].tolist() == [[2, 0], [2, 0]]


def test_weights_are_added_up_and_blocks_count_rows():
    window = Window("ill", DOMAINS, rows=2, n_blocks=2, weights="n")
    rows = [("clerk", 5, "no"), ("cook", 30, "yes"), ("cook", 70, "no")]
    added = window.add({**as_columns([(0, row) for row in rows]), "n": [2**40, 3, 5]})
    assert added.n_rows == 2**40 + 8
    assert plain(window.views) == from_scratch(rows[:2], [2**40, 3])
    assert plain(window.open_views) == from_scratch(rows[2:], [5])
    assert window.views.weighted
    assert Window("ill", DOMAINS, rows=2, weights="n").views.weighted
    assert not Window("ill", DOMAINS, rows=2).views.weighted
    window.add({**as_columns([(0, rows[0])] * 2), "n": [2**62, 2**62 - 2**41]})
    with pytest.raises(ValueError, match="exceeds 64 bits"):
        window.add({**as_columns([(0, rows[0])] * 2), "n": [2**62, 2**62 - 1]})
    with pytest.raises(ValueError, match="it has weights, and the window was not told"):
        Window("ill", DOMAINS, rows=2).add(Table(as_columns([(0, rows[0])]), weights=[3]))


def test_a_batch_that_fails_leaves_everything_as_it_was():
    window = Window("ill", DOMAINS, by="day", width=1, n_blocks=3, ahead=2)
    window.add(as_batch([(4, ("cook", 7, "no"))]), label=1)
    before = copy.deepcopy(window)
    good = as_batch([(5, ("cook", 7, "no"))])
    for wrong, why in (
        (
            as_batch([(5, ("pilot", 7, "no"))]),
            "column 'job': value 'pilot' is not in its declared domain of 3 values",
        ),
        (as_batch([(5, ("cook", -7, "no"))]), "column 'age': value -7 lies outside the edges .0, inf"),
        (as_batch([(5, ("cook", 7, None))]), "column 'ill': value None is not in its declared domain"),
        (
            as_batch([(None, ("cook", 7, "no"))]),
            "column 'day': expected a number in every row, got null in row 0",
        ),
        (
            as_batch([(9, ("cook", 7, "no"))]),
            "column 'day': a row lies 4 blocks ahead, in the block that begins",
        ),
        (
            as_batch([(0, ("cook", 7, "no"))]),
            "column 'day': 1 row came too late, of the block that begins at 0",
        ),
    ):
        with pytest.raises(ValueError, match=why):
            window.add(iter([good, wrong]), label=2)
        assert window == before
        assert window.views == before.views
    with pytest.raises(ValueError, match="expected a column of 'job'"):
        window.add(pa.record_batch({"job": ["cook"]}))
    assert (window.label, window) == (1, before)


def test_an_interrupt_leaves_everything_as_it_was(monkeypatch):
    window = Window("ill", DOMAINS, by="day", width=1, n_blocks=3)
    window.add(as_batch([(4, ("cook", 7, "no"))]))
    before = copy.deepcopy(window)

    def batches():
        yield as_batch([(5, ("cook", 7, "no"))])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        window.add(batches())
    assert window == before


def test_the_clock_moves_a_window_without_rows():
    window = Window("ill", DOMAINS, by="day", width=10, n_blocks=2)
    window.add(as_batch([(3, ("cook", 7, "no"))]))
    assert window.views.n_rows == 0
    assert window.move(10).n_closed == 1
    assert window.views.n_rows == 1
    assert window.move(5).n_closed == 0  # it never goes back
    assert window.move(29).n_closed == 1
    assert (window.views.n_rows, window.is_full) == (1, True)
    assert window.move(30).n_closed == 1
    assert (window.views.n_rows, dict(window.blocks)) == (0, {})
    assert window.move(10**15).n_closed == 10**14 - 3
    with pytest.raises(ValueError, match="move with their rows alone"):
        Window("ill", DOMAINS, rows=3).move(4)


def test_empty_batches_and_blocks_are_no_rows():
    window = Window("ill", DOMAINS, by="day", width=1, n_blocks=2, ahead=5)
    assert window.add(as_batch([])).n_rows == 0
    assert repr(window) == "Window(0 of 2 closed blocks, 0 rows; 0 rows in open blocks)"
    window.add(as_batch([(0, ("cook", 7, "no"))]))
    window.add(as_batch([(4, ("cook", 7, "no"))]))
    assert window.views.n_rows == 0
    assert window.is_full
    assert [*window.blocks] == [4]


def test_a_pickled_window_goes_on():
    window = Window("ill", DOMAINS, by="day", width="day", n_blocks=3, late="report")
    day = pa.date32()
    window.add(as_batch([(4, ("cook", 7, "no")), (6, ("cook", 7, "no"))], day), label="4")
    other = pickle.loads(pickle.dumps(window))
    for each in (window, other):
        each.add(as_batch([(7, ("clerk", 9, "yes")), (1, ("cook", 7, "no"))], day))
    assert other == window
    assert other.views == window.views
    assert (other.n_late, other.n_too_late, other.label) == (0, 1, "4")
    assert repr(other) == (
        "Window(3 of 3 closed blocks from 1970-01-05, 2 rows; 1 row in open blocks; "
        "1 too late and not counted)"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "a window has blocks of so many rows, or of a column"),
        ({"rows": 3, "by": "day", "width": 1}, "give rows, or by and width"),
        ({"by": "day"}, "width=None"),
        ({"rows": 0}, "rows must be"),
        ({"rows": 3, "n_blocks": 0}, "n_blocks must be"),
        ({"rows": 3, "late_blocks": 1}, "none comes late"),
        ({"by": "day", "width": 1, "late_blocks": 2}, "late_blocks must be"),
        ({"by": "day", "width": 1, "late": "drop"}, "late must be 'refuse' or 'report', got 'drop'"),
        (
            {"rows": 3, "attributes": ["job", "hat"]},
            "attributes must be distinct names of 'job', 'age'; got 'hat'",
        ),
        ({"rows": 3, "weights": "job"}, "weights: 'job' is the class, an attribute"),
    ],
)
def test_wrong_options_are_named(options, why):
    with pytest.raises(ValueError, match=why):
        Window("ill", DOMAINS, **options)


@pytest.mark.parametrize(
    ("domains", "why"),
    [
        ({"job": ["cook"]}, "domains must declare the class 'ill'; got 'job'"),
        (
            Declared(declared({"ill": ["no"]}).options, {"age": 5}),
            "column 'age' would take its values from rows",
        ),
        ({"domain": {"ill": ["no"], "age": {"edges": [0, 5]}}, "from_rows": ["age"]}, "declare all values"),
        ({"ill": {"out": True}, "job": ["cook"]}, "domains must declare the class"),
    ],
)
def test_domains_have_to_be_declared(domains, why):
    with pytest.raises(ValueError, match=why):
        Window("ill", domains, rows=3)


def test_a_window_equals_count_of_the_same_rows():
    rng = np.random.default_rng(5)
    n = 5_000
    columns = {
        "job": rng.choice(["clerk", "cook"], n),
        "age": rng.integers(0, 90, n).astype(float) / 2,
        "ill": rng.choice(["no", "yes"], n),
    }
    window = Window("ill", {**DOMAINS, "job": ["clerk", "cook"]}, rows=1_000, n_blocks=3)
    window.add(iter(pa.table(columns).to_batches(max_chunksize=700)))
    last = {name: values[2_000:] for name, values in columns.items()}
    binned = Table(last, domains={"job": ["clerk", "cook"], "ill": ["no", "yes"]}).bin(
        "age", [0, 20, 40, np.inf]
    )
    assert window.views == nbcfast.count(binned, "ill")
