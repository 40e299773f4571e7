"""Ctrl-C in the middle of a kernel: found by the kernel itself, and no clock has a say.

A signal that is sent "after a while" comes too early or too late on a machine that is busy. Here it is there
before the kernel is entered, and again after the kernel has looked for the first time, so what is counted is
how often the kernel looks; a kernel that does not look ends, and fails its test at once.
"""

import _thread
import ctypes
import gc
import operator
import signal
from collections import deque
from functools import partial

import numpy as np
import pytest

from nbcfast import _box, _classes, _coins, _interior, _margin, _noise, _response, _solve, _worlds

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs two signals of POSIX")


class Interrupted(Exception):  # noqa: N818
    """In place of KeyboardInterrupt, which would end the tests if it came out at another place."""


def interrupted(kernel, *arguments, looks=2):
    """Enter a kernel with a signal pending; it has to leave when it looks for the second (or first) time."""
    found, ended = [], []

    def handler(*_):
        found.append(True)
        if len(found) == looks and not ended:
            raise Interrupted

    again = ctypes.pythonapi.PyErr_SetInterruptEx
    again.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.py_object]
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, handler),
        # Handlers run in the order of their numbers, so this makes SIGINT pending again for the next look. It
        # is a function of C: between two bytecodes Python would handle the signal before the kernel can.
        signal.SIGUSR1: signal.signal(signal.SIGUSR1, partial(again, signal.SIGINT)),
    }
    # For the same reason all of these are called from C.
    calls = [
        *(partial(_thread.interrupt_main, number) for number in list(before)[:looks]),
        partial(kernel, *arguments),
        partial(ended.append, True),
    ]
    # What others run at a collection is Python too, and the signal would be handled there.
    gc.disable()
    try:
        deque(map(operator.call, calls), maxlen=0)
    except Interrupted:
        pass
    finally:
        gc.enable()
        for number in before:  # what is still pending has no handler any more
            signal.signal(number, signal.SIG_IGN)
        for number, handled in before.items():
            signal.signal(number, handled)
    assert not ended, f"the kernel ended, and had looked {len(found)} times"
    assert len(found) == looks


def test_the_coins_of_responses():
    coins = _coins.Coins(bytes(32), seeded=True)
    words = np.zeros(2**18, np.uint64)
    interrupted(coins.bits, 1, 3, words)
    assert words[:1000].any()
    assert not words[-1000:].any()
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        codes, told = np.zeros(2**18, dtype), np.zeros(2**18, dtype)
        interrupted(_response.lies, coins, np.full(2**12, 2**64 - 1, np.uint64), codes, 7, told)
        assert told[:1000].all()
        assert not told[-1000:].any()


@pytest.mark.parametrize("kernel", [_noise.laplace, _noise.gaussian])
def test_the_draws_of_noise(kernel):
    drawn = np.zeros(2**17, np.int64)
    interrupted(kernel, _coins.Coins(bytes(32)), 10**6, 1, drawn)
    assert drawn[:1000].any()
    assert not drawn[-1000:].any()


def test_the_sum_of_an_interior_point_method():
    n = 3 * 2**20
    H = np.zeros((1, 1))
    interrupted(_interior.normal, np.zeros((n, 1), np.int32), np.ones((n, 1), np.int8), np.ones(n), H)
    assert 0 < H[0, 0] < n


def margins(n, slack=0):
    """Sums of two halves of n values each that no fixed-point number tells apart."""
    sizes = np.array([n], np.int64)
    limbs = np.zeros((n, 2), np.uint64)
    limbs[:, 0] = np.random.default_rng(1).permutation(n)
    exact = _margin.Exact(sizes, sizes, limbs, limbs, slack)
    sums, order = np.zeros(n, np.int64), np.arange(n, dtype=np.int32)
    return exact, sums, order, limbs


def test_settling_an_order():
    exact, sums, order, limbs = margins(2**18)
    interrupted(_margin.settle, order, sums, 1, exact)
    interrupted(_margin.settle, order, sums, 1, exact, looks=1)
    assert (np.diff(limbs[order, 0].astype(np.int64)) < 0).any()


def test_thresholds_and_the_nearest():
    exact, sums, order, _ = margins(3 * 2**18)
    base = np.zeros(2, np.uint64)
    rising = np.arange(len(sums)) * 2
    lists = _margin.Lists(rising, order, rising, order, 0)
    above = np.full(len(sums), -1, np.int32)
    interrupted(lists.thresholds, 0, 0, exact, base, above)
    assert above[0] >= 0 > above[-1]
    interrupted(lists.nearest, 0, 0, exact, base)
    interrupted(lists.nearest, 0, 0, exact, base, True)


def test_dominance():
    n = 3 * 2**18
    codes, weight = np.zeros(n, np.int32), np.ones(n, np.int64)
    one, single = np.zeros(1, np.int32), np.ones(1, np.int64)
    interrupted(_margin.dominance, np.arange(n, dtype=np.int32), codes, codes, weight, one, single)


def test_more_than_two_classes():
    n, m = 3 * 2**8, 2**16 - 1
    above, rank = np.zeros((n, 3), np.int32), np.zeros((m, 3), np.int32)
    za, zb = np.zeros((n, 3), np.int64), np.zeros((m, 3), np.int64)
    found = np.full((n, m), -1, np.int8)
    interrupted(_classes.labels, above, rank, 3, found)
    assert found[0, 0] >= 0 > found[-1, -1]
    for order in (False, True):
        interrupted(_classes.changed, above, rank, order, za, zb, 0, n)
    interrupted(_classes.changed_labels, np.zeros((n, m), np.int8), za, zb)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_least_sums(dtype):
    n, m = 3 * 2**7, 2**16 - 1
    da, db = np.zeros((n, 6), dtype), np.zeros((m, 6), dtype)
    low_a, at_a = np.ones((n, 6), dtype), np.full((n, 6), -1, np.int32)
    low_b, at_b = np.ones((m, 6), dtype), np.full((m, 6), -1, np.int32)
    interrupted(_classes.least, np.zeros((n, m), np.int8), da, db, low_a, at_a, low_b, at_b)
    assert at_a[0, 0] >= 0 > at_a[-1, 0]
    n = 3 * 2**18
    by, zeros, at = np.arange(n, dtype=np.int32), np.zeros(n, np.int32), np.full(n, -1, np.int32)
    one = np.zeros(1, np.int32)
    interrupted(_classes.sweep, by, zeros, zeros, one, one, one, np.zeros(1, dtype), np.zeros(n, dtype), at)
    assert at[0] >= 0 > at[-1]
    interrupted(_classes.sweep_count, by, zeros, zeros, one, one, one, np.zeros(n, np.int64), looks=1)


def test_both_sides_of_a_box():
    n = 8
    count, order, sizes = np.full(n, 4, np.int32), np.arange(n, dtype=np.int32), np.array([n], np.int32)
    made = _box.Separator(count, order, sizes, count, order, sizes)
    found = np.zeros((2 * n, 2, 2), np.int32)
    interrupted(made.separate, np.zeros(2 * n), 1.0, found)
    wide, lowest = np.zeros((2 * n, 2), np.uint64), np.zeros((2, 2), np.uint64)
    interrupted(made.separate_exactly, wide, np.array([1, 0], np.uint64), found, lowest)


def test_worlds_of_many_queries():
    counts = np.ones((3, 1, 2), np.int64)
    shares, errors, states = np.zeros((3, 2)), np.zeros(3), np.full(3, -9, np.int8)
    interrupted(_worlds.posteriors, np.array([5, 5]), counts, 1e9, shares, errors, states)
    assert states.tolist() == [_worlds.OK, _worlds.OK, -9]


def program(n=4096):
    """One row for each of so many values: a step takes all the work between two looks."""
    made = _solve.Program(np.ones(n), 1, 1e-18)
    made.add(np.arange(n, dtype=np.int32)[:, np.newaxis], np.ones((n, 1), np.int8))
    return made


def test_steps_of_a_program():
    made = program()
    interrupted(made.solve, 1e-9, 1000, 10**6)
    assert made.steps == 2
    few = program(100)
    assert few.solve(1e-9, 1000, 10**6) == 0
    interrupted(few.renew)


def test_digits_of_a_system():
    n = 5
    rows = np.arange(n, dtype=np.int32)[:, np.newaxis]
    system = _solve.System(np.ones(n, np.int64), rows, np.ones((n, 1), np.int8), 2**31 - 1)
    system.start(np.zeros(n, np.int64), np.ones(n, np.int64))
    digits = np.full((3, 2 * n), -1)
    interrupted(system.digits, digits)
    assert digits[1, 0] >= 0 > digits[2, 0]
