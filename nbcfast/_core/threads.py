"""Rows in chunks over threads. Kernels release the GIL; results never depend on the number of threads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from nbcfast._core.validation import type_name, whole

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

State = TypeVar("State")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]

ONE_THREAD_BYTES = 2_000_000  # less work than this is done before a second thread has woken up
NO_THREAD = "no thread can be started: a limit of processes (ulimit -u) or of memory (ulimit -v) is reached"
MOST_ROWS = 1 << 20  # a chunk takes milliseconds, so Ctrl-C is answered and no core waits long

VARIABLE = "NBCFAST_THREADS"
MOST_THREADS = 4096  # that a variable or an option may ask for

_asked: ContextVar[int | None] = ContextVar("threads", default=None)
_pool: tuple[int, ThreadPoolExecutor] | None = None
_lock = threading.Lock()


def cores() -> int:
    """How many cores the process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Let `threads=None` mean so many inside; None changes nothing."""
    before = _asked.set(_asked.get() if threads is None else threads)
    try:
        yield
    finally:
        _asked.reset(before)


def usual() -> int:
    """What `threads=None` means: what `at_most` says, else the variable NBCFAST_THREADS, else all cores."""
    return _wanted() or cores()


def _wanted() -> int:
    """How many threads somebody has asked for, or 0."""
    asked = _asked.get()
    if asked is not None:
        return asked
    text = os.environ.get(VARIABLE)
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_THREADS):
        raise ValueError(f"{VARIABLE} must be a whole number from 1 to {MOST_THREADS:,}, got {text[:60]!r}")
    return int(text)


def n_threads(threads: int | None, n_bytes: int) -> int:
    """The number of threads for `n_bytes` of work; `threads` is what the caller asked for."""
    if threads is None:
        wanted = _wanted()  # looked at whatever the work is: a wrong one is no matter of sizes
        return 1 if n_bytes < ONE_THREAD_BYTES else wanted or cores()
    return whole(threads, "threads", 1, expected="an int or None", got=type_name)


def startable(most: int) -> int:
    """How many more threads the process can have at once, of as many as `most`."""
    end = threading.Event()
    before = _running()
    started: list[threading.Thread] = []
    try:
        for _ in range(most):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:  # "can't start new thread"
        pass
    finally:
        end.set()
        for thread in started:
            thread.join()
    if len(started) < most:
        # A thread that was joined counts until the system has cleared it away.
        deadline = time.monotonic() + 1
        while _running() > before and time.monotonic() < deadline:
            time.sleep(0.001)
    return len(started)


def _running() -> int:
    """The threads of this process as the system counts them, or 0 where it does not say."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def over_rows(
    make: Callable[[], State],
    work: Callable[[State, int, int], object],
    n_rows: int,
    *,
    threads: int,
    progress: Progress | None = None,
    most_rows: int = MOST_ROWS,
) -> list[State]:
    """Call work(state, start, stop) for chunks of about `most_rows` rows at most, with one state a thread.

    The calling thread works too, so an interrupt reaches it between two chunks; the first exception
    of any thread ends the others and is raised.
    """
    share = -(-n_rows // (8 * threads)) if threads > 1 else n_rows
    step = max(min(-(-share // 4096), most_rows // 4096), 1) * 4096
    spans = ((start, min(start + step, n_rows)) for start in range(0, n_rows, step))
    states = [make() for _ in range(max(1, min(threads, -(-n_rows // step))))]
    n_done = 0

    def done(start: int, stop: int) -> None:
        nonlocal n_done
        n_done += stop - start
        if progress is not None:
            progress(n_done, n_rows)

    over_spans(spans, states, work, done)
    return states


def over_spans(
    spans: Iterable[tuple[int, int]],
    states: Sequence[State],
    work: Callable[[State, int, int], object],
    done: Callable[[int, int], object] | None = None,
) -> None:
    """Call work(state, start, stop) for all spans, each in the thread of one state, the caller's the first.

    `done` is called after each span, by one thread at a time. An interrupt reaches the calling thread between
    two spans; the first exception of any thread ends the others and is raised.
    """
    waiting = iter(spans)
    stopped = threading.Event()
    guard = threading.Lock()

    def run(state: State) -> None:
        try:
            while not stopped.is_set():
                with guard:
                    span = next(waiting, None)
                if span is None:
                    return
                work(state, *span)
                if done is not None:
                    with guard:
                        done(*span)
        except BaseException:
            stopped.set()
            raise

    helpers: list[Future[None]] = []
    try:
        helpers = helped(run, states[1:])
        run(states[0])
    except BaseException:
        stopped.set()  # an interrupt may come before this thread has begun, and others have
        raise
    finally:
        # A helper that has not begun is not needed any more: all spans are taken.
        failures = [helper.exception() for helper in helpers if not helper.cancel()]
    for failure in failures:
        if failure is not None:
            raise failure


def helped(work: Callable[[State], Result], states: Iterable[State]) -> list[Future[Result]]:
    """Begin work(state) for each state in a thread of its own, as long as the process gets threads.

    Under a limit of memory or of processes it gets fewer, or none: then the list is shorter, and the caller,
    who works too, does the rest.
    """
    helpers: list[Future[Result]] = []
    for state in states:
        # Its import takes longer than a small count, which has nothing for other threads to do.
        from concurrent.futures import Future

        helper: Future[Result] = Future()
        try:
            _executor().submit(_settle, helper, work, state)
        except RuntimeError:  # "can't start new thread"
            # It stands in the queue, where a thread that is there already may have taken it meanwhile.
            if not helper.cancel():
                helpers.append(helper)
            break
        helpers.append(helper)
    return helpers


def _settle(helper: Future[Result], work: Callable[[State], Result], state: State) -> None:
    if not helper.set_running_or_notify_cancel():
        return
    try:
        helper.set_result(work(state))
    except BaseException as error:
        helper.set_exception(error)


def _executor() -> ThreadPoolExecutor:
    """The pool of this process: threads do not survive a fork, so a child makes its own."""
    global _pool
    from concurrent.futures import ThreadPoolExecutor

    with _lock:
        if _pool is None or _pool[0] != os.getpid():
            _pool = os.getpid(), ThreadPoolExecutor(cores(), thread_name_prefix="nbcfast")
        return _pool[1]


def _forget() -> None:
    """After a fork: the parent's lock may have been held."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
