"""Rows over threads: all of them once, errors and interrupts out, and a fork without harm."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, Viewset, skyline
from nbcfast._core import threads as _threads
from nbcfast._core.threads import (
    MOST_ROWS,
    ONE_THREAD_BYTES,
    ahead,
    at_most,
    cores,
    n_threads,
    over_rows,
    over_spans,
    usual,
)
from nbcfast._halves.lines import both
from nbcfast.mondrian import growing
from nbcfast.table import Column, Domain, arrow


def in_a_process(script, timeout=60):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv("NBCFAST_THREADS", raising=False)


def test_none_is_what_was_asked_for_or_the_variable_or_all_cores(monkeypatch):
    assert usual() == cores()
    monkeypatch.setenv("NBCFAST_THREADS", "")
    assert usual() == cores()
    monkeypatch.setenv("NBCFAST_THREADS", "3")
    assert (usual(), n_threads(None, ONE_THREAD_BYTES), n_threads(None, 1)) == (3, 3, 1)
    assert n_threads(5, 0) == 5
    with at_most(2):
        assert n_threads(None, ONE_THREAD_BYTES) == 2
        with at_most(None):
            assert usual() == 2
        with at_most(7):
            assert usual() == 7
        assert usual() == 2
    assert usual() == 3


@pytest.mark.parametrize("wrong", ["0", "-1", "two", " 2", "2.0", "\uff14", "4097", "9" * 5000])
def test_a_wrong_variable_is_named_whatever_the_work_is(wrong, monkeypatch):
    monkeypatch.setenv("NBCFAST_THREADS", wrong)
    for n_bytes in (0, ONE_THREAD_BYTES):
        with pytest.raises(ValueError, match="NBCFAST_THREADS must be a whole number from 1 to 4,096, got '"):
            n_threads(None, n_bytes)
    assert n_threads(2, 0) == 2
    with at_most(1):
        assert usual() == 1


def test_number_of_threads():
    assert n_threads(None, ONE_THREAD_BYTES - 1) == 1
    assert n_threads(None, ONE_THREAD_BYTES) == cores() >= 1
    assert n_threads(5, 0) == 5
    if hasattr(os, "sched_getaffinity"):
        assert cores() == len(os.sched_getaffinity(0))
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"threads must be at least 1, got {wrong}"):
            n_threads(wrong, 0)
    for wrong in (True, 2.0, "2"):
        with pytest.raises(TypeError, match=f"threads must be an int or None, got {type(wrong).__name__}"):
            n_threads(wrong, 0)


@given(
    st.one_of(st.integers(0, 20_000), st.sampled_from([MOST_ROWS, MOST_ROWS + 1, 9_999_999, 2**40])),
    st.integers(1, 9),
)
def test_every_row_once(n_rows, threads):
    if n_rows > 10**8:
        n_rows = 0
    parts, calls = [], []
    states = over_rows(
        list, lambda state, start, stop: state.append((start, stop)), n_rows, threads=threads,
        progress=lambda *args: calls.append(args),
    )  # fmt: skip
    assert 1 <= len(states) <= threads
    parts = sorted(part for state in states for part in state)
    assert [start for start, _ in parts] == [0, *[stop for _, stop in parts[:-1]]][: len(parts)]
    assert sum(stop - start for start, stop in parts) == n_rows
    assert all(0 < stop - start <= MOST_ROWS for start, stop in parts)
    assert all(start % 4096 == 0 for start, _ in parts)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    if n_rows:
        assert calls[-1] == (n_rows, n_rows)


@pytest.mark.parametrize(
    ("most_rows", "expected"), [(0, 4096), (5_000, 4096), (8_192, 8_192), (9_000, 8_192)]
)
def test_smaller_chunks(most_rows, expected):
    for threads in (1, 2):
        states = over_rows(
            list, lambda state, *part: state.append(part), 100_000, threads=threads, most_rows=most_rows
        )
        assert max(stop - start for state in states for start, stop in state) == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_error_in_any_thread_comes_out_and_ends_the_others(threads, monkeypatch):
    """The others hold their chunk until they are told to stop, and take no further one."""
    events = []

    class Event(threading.Event):
        def __init__(self):
            super().__init__()
            events.append(self)

    monkeypatch.setattr(_threads, "threading", SimpleNamespace(**{**vars(threading), "Event": Event}))
    done = []

    def work(_, start, stop):
        if start == 0:
            raise KeyError("bad row")
        assert events[0].wait(60)
        done.append(stop - start)

    with pytest.raises(KeyError, match="bad row"):
        over_rows(object, work, 10**9, threads=threads)
    assert len(done) < threads


@pytest.mark.parametrize(
    "over",
    [
        lambda work: over_rows(object, lambda _, *part: work(part), 10**6, threads=2),
        lambda work: growing.over([(i, i + 1) for i in range(100)], [None] * 2, lambda _, part: work(part)),
    ],
    ids=["rows", "spans"],
)
def test_an_interrupt_before_the_caller_has_begun_ends_the_others(over, monkeypatch):
    begin, begun, left, helpers, parts = _threads.helped, threading.Event(), threading.Event(), [], []

    def interrupted(work, states):
        helpers.extend(begin(work, states))
        assert begun.wait(60)
        raise KeyboardInterrupt

    def work(part):
        begun.set()
        assert left.wait(60)
        parts.append(part)

    monkeypatch.setattr(_threads, "helped", interrupted)
    with pytest.raises(KeyboardInterrupt):
        over(work)
    left.set()
    assert helpers[0].result(timeout=60) is None
    assert len(parts) == 1


def test_an_error_in_a_helper_comes_out():
    """The calling thread waits for the other, which fails."""
    caller, failed = threading.current_thread(), threading.Event()

    def work(*_):
        if threading.current_thread() is not caller:
            failed.set()
            raise OSError("in a helper")
        assert failed.wait(20)

    with pytest.raises(OSError, match="in a helper"):
        over_rows(object, work, 10**6, threads=2)


def test_an_error_of_progress_comes_out():
    def progress(done, total):
        raise RuntimeError(f"{done} of {total}")

    for threads in (1, 3):
        with pytest.raises(RuntimeError, match="of 1000000"):
            over_rows(object, lambda *_: None, 10**6, threads=threads, progress=progress)


def test_an_error_of_make_comes_out():
    def make():
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        over_rows(make, lambda *_: None, 10**6, threads=2)


def test_many_callers_share_the_pool():
    """More callers than helpers: nobody waits for a helper that never comes."""

    def call(_):
        states = over_rows(list, lambda state, *part: state.append(part), 3_000_000, threads=4)
        return sum(stop - start for state in states for start, stop in state)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(40))) == [3_000_000] * 40


def test_work_inside_of_work():
    def inner(*_):
        over_rows(list, lambda state, *part: state.append(part), 100_000, threads=3)

    over_rows(object, inner, 100_000, threads=3)


def test_one_thread_makes_no_pool():
    pools = in_a_process(
        """
        import threading
        import nbcfast
        from nbcfast._core import threads as _threads
        nbcfast.count({"x": [1, 2] * 1000, "y": [0, 1] * 1000}, "y").predict({"x": [1]})
        print(_threads._pool is None, threading.active_count())
        """
    )
    assert pools == ["True", "1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork():
    lines = in_a_process(
        """
        import os, warnings
        import numpy as np
        from nbcfast import Viewset
        from nbcfast._core import threads as _threads
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads

        def count():
            return Viewset.from_codes(matrix, matrix[:, 0], threads=2)

        matrix = np.random.default_rng(1).integers(0, 4, (300_000, 3)).astype(np.uint8)
        expected = count()
        assert _threads._pool is not None
        _threads._lock.acquire()  # as if another thread were in the middle of making the pool
        child = os.fork()
        if not child:
            status = 0 if count() == expected and count() == expected else 1
            grandchild = os.fork()
            if not grandchild:
                os._exit(0 if count() == expected else 1)
            os._exit(status or os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
        _threads._lock.release()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count() == expected)
        """
    )
    assert lines == ["0", "True"]


@pytest.fixture(scope="module")
def large():
    """16 chunks of rows, of columns of one element over and over, which take no memory; and some counts."""
    zero = np.broadcast_to(np.uint8(0), 2**24)
    codes = Column(zero, Domain.of(range(2)))
    table = Table.from_columns({f"A{i + 1}": codes for i in range(6)}, None, len(zero))
    return zero, table, Viewset([3] * 4, [np.full((2, 4), 3)] * 6)


CALLS = {
    "counts": lambda zero, table, views: partial(
        Viewset.from_codes, [zero] * 6, zero, sizes=[2] * 6, n_classes=2
    ),
    "class counts": lambda zero, table, views: partial(Viewset.from_codes, [], zero, n_classes=2),
    "order": lambda zero, table, views: partial(views.order, table),
    "predict": lambda zero, table, views: partial(views.predict, table),
}


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="sends a signal to a thread")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c(call, threads, large):
    """A signal after the first chunk, whoever did it: the others are left, and the next call works."""
    answered = threading.Event()
    seen = []

    def pressed(*_):
        answered.set()
        raise KeyboardInterrupt

    def progress(done, total):
        seen.append((done, total))
        if len(seen) == 1:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if threading.current_thread() is not threading.main_thread():
            answered.wait(20)  # a thread that is not asked may not be done meanwhile

    before = signal.signal(signal.SIGINT, pressed)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(*large)(threads=threads, progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    assert max(done for done, _ in seen) < seen[0][1]
    assert Viewset.from_codes([[0], [1]], [0, 1], threads=2).n_rows == 2


@pytest.mark.parametrize("begun", [0, 1, 2])
def test_where_no_thread_can_be_started_the_others_do_the_work(monkeypatch, begun):
    start, left = threading.Thread.start, [begun]

    def limited(thread):
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(thread)

    monkeypatch.setattr(_threads, "_pool", None)
    monkeypatch.setattr(threading.Thread, "start", limited)
    states = over_rows(list, lambda state, *part: state.append(part), 10**6, threads=5)
    assert len(states) == 5
    assert sorted(part for state in states for part in state)[-1][1] == 10**6
    assert sum(stop - start for state in states for start, stop in state) == 10**6
    assert both(lambda: 1, lambda: 2, 2) == (1, 2)
    table = nbcfast.Table({"x": list(range(3000)) * 2, "ill": list("ab") * 3000})
    alone = skyline.anonymize(table, ["x"], "ill", k=3, threads=1)
    assert (skyline.anonymize(table, ["x"], "ill", k=3, threads=4).group_ids == alone.group_ids).all()


@pytest.mark.parametrize("most", [0, 1, 3, 9])
def test_how_many_threads_can_be_started(monkeypatch, most):
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    assert _threads.startable(5) == len(started) == min(most, 5)
    assert not any(thread.is_alive() for thread in started)


@pytest.mark.parametrize(
    ("room", "told", "reads"), [(0, 2, False), (1, 2, False), (2, 2, True), (10**6, 0, True)]
)
def test_pyarrow_is_told_how_few_threads_there_are(monkeypatch, room, told, reads):
    pa = pytest.importorskip("pyarrow")
    seen = []
    monkeypatch.setattr(arrow, "_room", None)
    monkeypatch.setattr(arrow, "startable", lambda most: min(room, most))
    monkeypatch.setattr(pa, "set_cpu_count", seen.append)
    monkeypatch.setattr(pa, "set_io_thread_count", seen.append)
    monkeypatch.setenv("JE_ARROW_MALLOC_CONF", "")
    assert arrow.load_pyarrow() is pa
    assert seen == [1] * told
    if reads:
        assert arrow.load_readers() is pa
    else:
        with pytest.raises(OSError, match="no thread can be started: a limit of processes"):
            arrow.load_readers()


def test_an_error_in_a_helper_is_raised_by_its_caller(monkeypatch):
    (helper,) = _threads.helped(lambda state: 1 // state, [0])
    with pytest.raises(ZeroDivisionError):
        helper.result(timeout=60)


@pytest.mark.parametrize("n_states", [1, 3])
def test_spans_are_each_done_once(n_states):
    spans = [(0, 5), (5, 6), (6, 20)]
    worked, told = [], []
    over_spans(
        iter(spans),
        range(n_states),
        lambda state, start, stop: worked.append((start, stop)),
        lambda start, stop: told.append((start, stop)),
    )
    assert sorted(worked) == sorted(told) == spans


def test_a_span_that_fails_ends_the_others():
    worked = []

    def work(state, start, stop):
        worked.append(start)
        if start == 2:
            raise ValueError(f"span {start}")

    with pytest.raises(ValueError, match="span 2"):
        over_spans(((k, k + 1) for k in range(100)), [None], work)
    assert worked == [0, 1, 2]


@pytest.mark.parametrize("room", [0, 1, 2])
def test_items_are_made_ahead_in_their_order(monkeypatch, room):
    """Whether the pool gives a thread each time, or none."""
    if room == 0:
        monkeypatch.setattr(_threads, "helped", lambda work, states: [])
    made = []

    def items():
        for number in range(20 * room + 5):
            made.append(number)
            yield number

    for expected, item in enumerate(ahead(items())):
        assert item == expected
        assert len(made) <= expected + 2  # one is made ahead, and no more
    assert made == list(range(20 * room + 5))
    assert list(ahead(iter([]))) == []


def test_an_item_is_made_while_the_caller_has_the_one_before_it():
    begun = threading.Event()

    def items():
        yield 1
        begun.set()
        yield 2

    with closing(ahead(items())) as read:
        assert next(read) == 1
        assert begun.wait(60)  # by another thread: this one makes nothing before it asks again
        assert list(read) == [2]


def test_an_error_of_an_item_made_ahead_comes_where_the_item_would():
    def items():
        yield 1
        raise ZeroDivisionError("the second")

    read = ahead(items())
    assert next(read) == 1
    with pytest.raises(ZeroDivisionError, match="the second"):
        next(read)


def test_whoever_stops_waits_for_the_item_that_is_being_made():
    going, made = threading.Event(), []

    def items():
        yield 1
        going.set()
        made.append(sum(range(1_000_000)))
        yield 2
        made.append("nobody asked for a third")

    source = items()
    read = ahead(source)
    assert next(read) == 1
    assert going.wait(60)
    read.close()
    source.close()  # ValueError while it runs
    assert made == [sum(range(1_000_000))]


def test_an_item_for_which_no_thread_is_free_is_made_by_the_caller(monkeypatch):
    waiting = []

    def queued(work, states):
        waiting.append(Future())  # nobody begins it
        return [waiting[-1]]

    monkeypatch.setattr(_threads, "helped", queued)
    assert list(ahead(iter("abc"))) == ["a", "b", "c"]
    assert all(future.cancelled() for future in waiting)
