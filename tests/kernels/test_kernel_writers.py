"""Arrays that change under a kernel: by a callback between two steps, or in memory that two arrays share.

Two maps of one file are arrays whose addresses say nothing of what they share, so that a kernel that writes
to the one changes the other at a certain step. A callback of the garbage collector runs wherever a kernel
allocates. Another thread writes while a kernel has let go of the interpreter.
"""

import gc
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from nbcfast import _disclose, _groups, _solve, _texts
from nbcfast._columns import Columns
from nbcfast._partition import Joint, Level, Problem, Scratch


def longs(*numbers):
    return np.array(numbers, np.int64)


def twice(tmp_path, array):
    """Two arrays in one memory."""
    path = tmp_path / "shared"
    array.tofile(path)
    return [np.memmap(path, array.dtype, "r+", shape=array.shape) for _ in range(2)]


@contextmanager
def at_collection(number, change):
    """`change` is called at the collection of this number from now on."""
    seen = 0

    def called(phase, _):
        nonlocal seen
        if phase == "start":
            seen += 1
            if seen == number:
                change()

    before = gc.get_threshold()
    gc.callbacks.append(called)
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(called)


@contextmanager
def another_thread(change):
    """`change` is called by another thread again and again, and once at least."""
    done, began = threading.Event(), threading.Event()

    def run():
        while not done.is_set():
            change()
            began.set()

    writer = threading.Thread(target=run)
    writer.start()
    try:
        assert began.wait(60)
        yield
    finally:
        done.set()
        writer.join()


def unless(refusal, call, *arguments):
    """What a call returns, or None where it is refused with these words."""
    try:
        return call(*arguments)
    except ValueError as error:
        if refusal not in str(error):
            raise
        return None


def split(codes, sizes, *, weights=None, trees=None):
    """A problem that was asked about its table, a scratch, and records. The last column is sensitive."""
    n_rows = len(codes[0])
    totals = np.bincount(codes[-1], weights, minlength=sizes[-1]).astype(np.int64)
    positions = [np.arange(size) for size in sizes[:-1]]
    trees = [None] * len(positions) if trees is None else trees
    weighted = weights is not None
    problem = Problem(sizes[:-1], positions, trees, sizes[-1], 0, weighted, False, 2, None, None, totals, [])
    scratch = Scratch(problem)
    assert problem.admit(scratch)
    records = np.zeros((n_rows, problem.stride), np.uint8)
    problem.fill(Columns(codes, sizes, n_rows), [None] * len(sizes), weights, 0, n_rows, records)
    return problem, scratch, records


def drawn(n_rows, sizes, dtype=np.uint8, seed=1):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size, n_rows).astype(dtype) for size in sizes]


@pytest.mark.parametrize("number", range(1, 9))
def test_rows_of_a_program_change_while_room_is_made(number):
    """What is checked is what was copied: no column outside ever is among the rows."""
    program = _solve.Program(np.ones(4), 2, 1e-9)
    columns = np.tile(np.array([[0, 1], [2, 3], [1, 2]], np.int32), (100, 1))
    signs = np.ones(columns.shape, np.int8)
    with at_collection(number, lambda: columns.fill(4)):
        unless("column 4 outside 0..3", program.add, columns, signs)
    assert program.n_rows in (0, 300)
    program.add(np.array([[0, 1], [2, 3]], np.int32), np.ones((2, 2), np.int8))
    assert program.solve(1e-9, 1000, 100) == 0
    assert program.active()[0].max() < 4


def test_numbers_of_nodes_change_while_they_are_evaluated():
    """A node's numbers are looked at once, and those that were looked at are used."""
    sizes, n = [9, 5, 3], 2000
    problem, scratch, records = split(drawn(300, sizes), sizes)
    level = Level(n, 2, 0)
    level.rows[:] = level.people[:] = 300
    level.boxes[:] = [0, 8, 0, 4]

    def change():
        for _ in range(1000):
            level.at[n - 1] = 2**45
            level.at[n - 1] = 0

    with another_thread(change):
        for _ in range(40):
            refusal = f"node {n - 1}: 300 rows from {2**45} on, of 300"
            unless(refusal, problem.evaluate, level, scratch, 0, records, 0, n)
            scratch.forget()
    problem.evaluate(level, scratch, 0, records, 0, n)
    assert problem.children(level, [scratch], 0, n).rows.sum() == 300 * n


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("tree", [False, True])
def test_rows_and_other_are_one_memory(tmp_path, width, tree):
    """Rows that are overwritten while they are moved stay within their node."""
    sizes = [6, 40 if width == 1 else 300 if width == 2 else 70_000, 3]
    trees = [longs(0, 5, 1, 3, 0, 1, 4, 2, 2, 3, 6, 2, 4, 5, 8, 2).reshape(4, 4), None] if tree else None
    if tree:
        leaves = [(code, code, 0, 0) for code in range(6)]
        trees[0] = np.concatenate([trees[0], np.array(leaves, np.int64)])
    problem, scratch, records = split(drawn(1000, sizes, np.uint32), sizes, trees=trees)
    rows, other = twice(tmp_path, records)
    level = Level.root(sizes[:-1], 600, 600)
    level.at[0] = 200
    unless("rows must be records of this problem", problem.finish, level, scratch, rows, other, 0, 1)
    assert np.array_equal(rows[:200], records[:200])
    assert np.array_equal(rows[800:], records[800:])


def test_ids_and_starts_are_one_memory(tmp_path):
    """Where a leaf starts is looked at when its turn has come."""
    sizes = [4, 3]
    problem, _, records = split(drawn(30, sizes), sizes)
    starts, other = twice(tmp_path, longs(0, 10, 20))
    ids = other.view(np.uint32)[:6]
    records[:10, problem.stride - 4 :] = np.frombuffer(np.uint32(0).tobytes(), np.uint8)
    # Of leaf 1 all rows say that they are row 5: the upper half of the start of leaf 2.
    records[10:20, problem.stride - 4 :] = np.frombuffer(np.uint32(5).tobytes(), np.uint8)
    sizes_of = longs(10, 10, 10)
    with pytest.raises(ValueError, match=rf"leaf 2: 10 rows from {(1 << 32) + 20} on, of 30"):
        problem.number(starts, sizes_of, longs(0, 0, 0), records, records, ids, 0, 3)


def test_codes_and_weights_change_while_nodes_are_evaluated():
    """Whatever another thread makes of records, nodes and joint counts: a refusal, or parts."""
    sizes, n = [300, 40, 500], 20_000
    codes = drawn(n, sizes, np.uint16)
    weights = np.random.default_rng(2).integers(1, 4, n)
    problem, scratch, records = split(codes, sizes, weights=weights)
    good = records.copy()
    rng = np.random.default_rng(3)
    bad = rng.integers(0, 256, records.shape).astype(np.uint8)
    level = Level.root(sizes[:-1], n, int(weights.sum()))
    joint = Joint(problem)
    problem.gather(good, joint)
    counted = joint.rows.copy()
    box = level.boxes.copy()

    def change():
        records[n // 2 :] = bad[n // 2 :]
        level.at[0], level.boxes[0, 1] = 2**45, 2**31
        joint.rows[:] = 0
        records[n // 2 :] = good[n // 2 :]
        level.at[0], level.boxes[:] = 0, box
        joint.rows[:] = counted

    refused = found = 0
    with another_thread(change):
        for _ in range(60):
            for call in (
                lambda: problem.evaluate(level, scratch, 0, records, 0, 1),
                lambda: problem.evaluate_joint(level, scratch, 0, joint, 0),
            ):
                try:
                    call()
                except ValueError:
                    refused += 1
                else:
                    found += 1
            scratch.forget()
    assert refused + found == 120
    change()
    problem.evaluate(level, scratch, 0, records, 0, 1)
    following = problem.children(level, [scratch], 0, 1)
    assert (following.rows.sum(), following.people.sum()) == (n, weights.sum())


def disclosing(codes, marks, *, wide=False, continuous=False):
    """A search over two attributes of five values and one part."""
    n = len(codes)
    code, count = (np.uint32, np.uint64) if wide else (np.uint16, np.uint32)
    counts = [np.array([np.bincount(codes[:, j], minlength=5), np.arange(1, 6)]).T for j in range(2)]
    part = [0, 1], codes.astype(code), marks, 2, np.ones(n, count), np.zeros(n, np.uint32), 1
    templates = [(0, 0, 9, 10)]
    return _disclose.Disclosing(counts, [continuous, False], [part], templates, wide, False, False), part


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("which", ["codes", "marks"])
@pytest.mark.parametrize("rows", [30, 3000])
def test_codes_of_a_disclosure_change_between_steps(wide, continuous, which, rows):
    """A code leads to where its value's records are counted, a mark to the hits of its sensitive value."""
    rng = np.random.default_rng(rows)
    codes, marks = rng.integers(0, 5, (rows, 2)), rng.integers(0, 3, (rows, 1)).astype(np.uint16)
    search, part = disclosing(codes, marks, wide=wide, continuous=continuous)
    assert search.step()
    (part[1] if which == "codes" else marks)[:] = 2**16 - 1
    with pytest.raises(ValueError, match="codes, marks and groups must stay as they were given"):
        all(iter(search.step, False))
    with pytest.raises(ValueError, match="codes, marks and groups must stay as they were given"):
        search.confidences()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_codes_of_rows_change_while_they_are_made_keys(dtype):
    """Codes are copied, looked at and used, some at a time."""
    n = 200_000
    codes = np.zeros(n, dtype)
    bits = np.arange(4, dtype=np.uint64)

    def change():
        codes[n // 2 :] = 255
        codes[n // 2 :] = 3

    with another_thread(change):
        for _ in range(60):
            arguments = [codes], [bits], 0, n, None, 2
            found = unless("expected codes below 4 in column 0", _disclose.distinct, *arguments)
            if found is not None:
                assert set(found[0].tolist()) <= {0, 3}
                assert found[1].sum() == n
    codes[n // 2 :] = 3
    assert _disclose.distinct([codes], [bits], 0, n, None, 2)[1].tolist() == [n // 2, n // 2]


def test_keys_change_while_they_are_sorted():
    rng = np.random.default_rng(1)
    n = 100_000
    first, second = rng.integers(0, 1 << 22, (2, n)).astype(np.uint64)
    keys = first.copy()

    def change():
        keys[:] = second
        keys[:] = first

    with another_thread(change):
        for _ in range(40):
            found = unless("keys must be written to by nobody else", _disclose.merged, keys, None, 22)
            if found is not None:
                assert len(found[0]) == len(found[1]) <= n
                assert found[1].sum() == n


def test_offsets_and_distances_are_one_memory(tmp_path):
    """The distance of a group is written to where the next one ends."""
    offsets, out = twice(tmp_path, longs(0, 1, 2, 3, 0))
    values, counts, sizes = np.zeros(3, np.uint32), longs(2**20, 1, 1), longs(2**20, 1, 1)
    with pytest.raises(ValueError, match="offsets must not fall"):
        _groups.distances(offsets[:4], values, counts, sizes, longs(1, 2**20), False, out[2:])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("which", ["offsets", "data"])
def test_texts_change_while_they_are_encoded(dtype, which):
    """An offset is read once, and what is kept of a text is what was looked at."""
    n = 100_000
    offsets, out = np.arange(0, 3 * n + 1, 3).astype(dtype), np.empty(n, np.uint32)
    data = np.full(3 * n, ord("a"), np.uint8)
    changed = offsets if which == "offsets" else data
    wrong = np.iinfo(dtype).max if which == "offsets" else 0xFF
    right = changed[n:].copy()

    def change():
        changed[n:] = wrong
        changed[n:] = right

    with another_thread(change):
        for _ in range(40):
            encoder = _texts.TextEncoder()
            unless(" a text o", encoder.encode, offsets, data, None, 0, out)
            assert len(encoder) == len(encoder.found())
    changed[n:] = right
    encoder = _texts.TextEncoder()
    encoder.encode(offsets, data, None, 0, out)
    assert (out.max(), encoder.found()) == (0, ["aaa"])
