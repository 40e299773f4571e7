"""Every entry point of every kernel, called with what it does not expect: it returns or raises, and lives.

Each entry point has a recipe that makes valid arguments; most calls then change some of them, swap objects
between calls, or come in another order. The calls run in a process of their own, which writes down what it is
about to call, so that a crash says what it was: `python tests/kernels/test_kernel_fuzz.py SEED CALLS` repeats
it.
"""

import copy
import gc
import importlib
import inspect
import os
import pickle
import pkgutil
import random
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import (
    _associations,
    _box,
    _classes,
    _codes,
    _columns,
    _count,
    _disclose,
    _groups,
    _interior,
    _margin,
    _partition,
    _response,
    _roots,
    _score,
    _skyline,
    _solve,
    _worlds,
    _zeros,
    skyline,
)

MEMORY = 6 << 30  # bytes of address space: what asks for more gets a MemoryError
CALLS_A_PROCESS = 2_500


def longs(*numbers):
    return np.array(numbers, np.int64)


def ints(*numbers):
    return np.array(numbers, np.int32)


def words(*numbers):
    return np.array(numbers, np.uint64)


# --- Valid arguments -------------------------------------------------------------------------------------


class World:
    """Objects that calls share, each made when it is first asked for, and given up now and then."""

    def __init__(self, rng):
        self.rng = rng
        self.numbers = np.random.default_rng(rng.getrandbits(32))
        self.held = {}
        self.given = []  # arrays that objects were made of: anyone may write to them later

    def get(self, make, *key):
        """What `make(self)` made, mostly the same as last time."""
        key = (make, *key)
        if key not in self.held or self.rng.random() < 0.15:
            self.held[key] = make(self)
        return self.held[key]

    def codes(self, size, n, dtype=None):
        dtype = dtype or self.rng.choice([np.uint8, np.uint16, np.uint32, np.int64])
        return self.numbers.integers(0, size, n).astype(dtype)

    def give(self, *arrays):
        self.given += arrays
        del self.given[:-60]
        return arrays


def joiner(world):
    return _associations.Joiner(*joiner_arguments(world))


def joiner_arguments(world):
    return world.give(
        longs(0, 2, 3, 3),
        np.array([0, 1, 1], np.uint32),
        longs(0, 2, 4),
        np.array([0, 1, 1, 2], np.uint32),
        np.array([0.5, 0.25]),
        np.array([1, 1, 0], np.uint8),
    )


def separator_arguments(world):
    return world.give(ints(3, 2, 1, 0), ints(0, 1, 2, 3), ints(2, 2), ints(3, 2, 1), ints(0, 1, 2), ints(3))


def separator(world):
    return _box.Separator(*separator_arguments(world))


def columns(world, n=40, sizes=(3, 2, 4)):
    return _columns.Columns([world.codes(size, n) for size in sizes], list(sizes), n)


def weights_of(world, n=40):
    return world.give(world.numbers.integers(1, 5, n))[0] if world.rng.random() < 0.5 else None


def tally(world):
    weights = weights_of(world)
    plan = (longs(0), longs()) if weights is not None else (longs(0, 2), longs(0, 1))
    return _count.Tally(world.get(columns), *plan, weights)


def scores_arguments(world):
    n_classes = world.rng.choice([2, 3])
    width = 1 if n_classes == 2 else 4
    base = np.zeros(width)
    base[n_classes:] = -np.inf if n_classes > 2 else 0
    limbs = world.numbers.integers(1, 1 << 40, (9, n_classes, 2)).astype(np.uint64)
    return (
        world.get(columns),
        longs(0, 2),
        longs(0, 2),
        world.numbers.normal(size=(9, width)),
        base,
        1e-6,
        limbs,
        np.ones((n_classes, 2), np.uint64),
        np.ones((n_classes, 1), np.uint64),
    )


def scores(world):
    return _score.Scores(*scores_arguments(world))


def scorer(world):
    return _score.Scorer(world.get(scores))


def grouper(world):
    method = world.rng.choice([_groups.DENSE, _groups.RADIX, _groups.HASH])
    weights = weights_of(world) if method == _groups.HASH else None
    return _groups.Grouper(world.get(columns), method, weights)


def histogram_arguments(world):
    return world.give(
        longs(0, 2, 3, 6), np.array([0, 1, 1, 0, 1, 2], np.uint32), longs(2, 1, 4, 1, 1, 1), longs(3, 4, 3)
    )


def histograms(world):
    return _skyline.Histograms(*histogram_arguments(world))


def scan(world):
    return _skyline.Scan(world.get(histograms), world.rng.choice([3, 1000, 1 << 20]), longs(0, 1, 2))


def table_arguments(world):
    return (
        3,
        *world.give(
            np.array([[0, 0, 1], [3, 1, 2], [4, 1, 2]]),
            np.array([[0, 1], [3, 2], [2, 1]]),
            np.array([[3, 2], [2, 2], [3, 2], [9, 8]]),
        ),
    )


def tables(world):
    return _skyline.Tables(*table_arguments(world))


def exact_arguments(world):
    n_limbs = world.rng.choice([0, 2])
    made = [
        world.numbers.integers(0, 1 << 40, (n, n_limbs)).astype(np.uint64)
        if n_limbs
        else np.empty((0, 0), np.uint64)
        for n in (4, 3)
    ]
    return (*world.give(longs(2, 2), longs(3), *made), 1)


def exact(world):
    return _margin.Exact(*exact_arguments(world))


def list_arguments(world):
    x, u = np.sort(world.numbers.integers(-50, 50, 4)), np.sort(world.numbers.integers(-50, 50, 3))
    return (*world.give(x, ints(2, 0, 1, 3), u, ints(1, 0, 2)), 1)


def lists(world):
    return _margin.Lists(*list_arguments(world))


def base_limbs(made):
    """As many limbs as one of the objects has, or as the other."""
    for n in (0, 2):
        try:
            _margin.Lists(longs(*range(4)), ints(*range(4)), longs(*range(3)), ints(*range(3)), 1).thresholds(
                0, 0, made, np.zeros(n, np.uint64), np.empty(4, np.int32)
            )
        except ValueError:
            continue
        return np.zeros(n, np.uint64)
    return np.zeros(1, np.uint64)


def program(world):
    made = _solve.Program(np.array([1.0, 0.5, 2.0, 1.0]), 2, 1e-9)
    for _ in range(world.rng.randrange(3)):
        made.add(*program_rows(world))
        made.solve(1e-9, world.rng.randrange(20), 5)
    return made


def signs_of(world, *shape):
    return world.numbers.choice([-1, 1], shape).astype(np.int8)


def program_rows(world):
    n = world.rng.randrange(5)
    return world.numbers.integers(0, 4, (n, 2), np.int32), world.numbers.choice([-1, 1], (n, 2)).astype(
        np.int8
    )


def system_arguments(world):
    return (
        *world.give(longs(1, 2, 3, 5), ints(0, 1, 2, 3).reshape(2, 2), np.array([[1, -1], [1, 1]], np.int8)),
        101,
    )


def system(world):
    made = _solve.System(*system_arguments(world))
    if world.rng.random() < 0.7:
        made.start(longs(1, -2, 3, 4), longs(1, 1))
    return made


def disclosing_arguments(world):
    wide = world.rng.random() < 0.5
    code, count = (np.uint32, np.uint64) if wide else (np.uint16, np.uint32)
    counts = [world.numbers.integers(0, 9, (3, 2)), world.numbers.integers(0, 9, (4, 2))]
    rows = 12
    codes = np.stack([world.numbers.integers(0, 3, rows), world.numbers.integers(0, 4, rows)], axis=1).astype(
        code
    )
    marks = world.numbers.integers(0, 3, (rows, 1)).astype(np.uint16)
    part = ([0, 1], codes, marks, 2, np.ones(rows, count), world.codes(2, rows, np.uint32), 2)
    return (
        counts,
        [False, world.rng.random() < 0.5],
        [part],
        [(0, 1, 3, 4)],
        wide,
        False,
        world.rng.random() < 0.5,
    )


def disclosing(world):
    return _disclose.Disclosing(*disclosing_arguments(world))


def coins(world):
    return _response.Coins(world.rng.randbytes(32), seeded=world.rng.random() < 0.5)


def key_encoder(world):
    return _codes.KeyEncoder(world.rng.random() < 0.5)


def record_encoder(world):
    return _codes.RecordEncoder(3)


def row_grouper(world):
    return _codes.RowGrouper([world.codes(3, 40, dtype) for dtype in (np.uint8, np.uint16, np.uint32)])


class Split:
    """A problem with its records, as far as some calls in the right order bring it."""

    ONE, NINE = words(1), words(9)

    def __init__(self, world):
        rng = world.rng
        self.n, self.sizes, self.world = 60, rng.choice([[6, 4], [300, 4, 5], [70_000, 3]]), world
        self.shared, self.weighted = rng.random() < 0.5, rng.random() < 0.3
        self.n_targets = rng.choice([0, 2])
        self.codes = [world.codes(size, self.n, np.uint32) for size in (*self.sizes, 3)]
        if self.n_targets:
            self.codes.append(world.codes(2, self.n, np.uint8))
        self.weights = world.numbers.integers(1, 4, self.n) if self.weighted else None
        totals = np.bincount(self.codes[len(self.sizes)], self.weights, minlength=3).astype(np.int64)
        tree = np.array([[0, 5, 1, 2], [0, 2, 3, 3], [3, 5, 6, 3], *([i, i, 0, 0] for i in range(6))])
        points = [(1, 2, 2, self.ONE, self.NINE, False, True, 1e-9)] if self.shared else []
        self.arguments = (
            self.sizes,
            [np.arange(size) for size in self.sizes],
            [tree if size == 6 and rng.random() < 0.5 else None for size in self.sizes],
            3,
            self.n_targets,
            self.weighted,
            bool(self.n_targets),
            rng.choice([0, 3]),
            rng.choice([None, (2, self.NINE, self.ONE)]),
            rng.choice([None, (1, self.ONE, self.ONE), (2, self.ONE, self.ONE)]),
            totals,
            points,
        )
        world.give(*self.arguments[1], totals)
        self.problem = _partition.Problem(*self.arguments)
        self.scratches = [_partition.Scratch(self.problem) for _ in range(2)]
        self.columns = _columns.Columns(
            self.codes, [*self.sizes, 3, *([2] if self.n_targets else [])], self.n
        )
        self.records = np.zeros((self.n, self.problem.stride), np.uint8)
        self.other = np.zeros_like(self.records)
        self.people = int(totals.sum())
        self.level = _partition.Level.root(self.sizes, self.n, self.people)
        self.joint = _partition.Joint(self.problem)
        self.leaves = longs(0, 30), longs(30, 30), longs(0, 0)
        world.give(
            self.records, self.other, self.level.rows, self.level.at, self.level.people, self.level.start
        )
        world.give(self.level.boxes, self.joint.rows, self.joint.people, self.problem.first)
        steps = [self.admit, self.fill, self.gather, self.evaluate, self.commit, self.descend]
        for step in steps[: rng.randrange(len(steps) + 1)]:
            step()

    def maps(self):
        return [None] * len(self.codes)

    def admit(self):
        self.problem.admit(self.scratches[0])

    def fill(self):
        self.problem.fill(self.columns, self.maps(), self.weights, 0, self.n, self.records)

    def gather(self):
        self.problem.gather(self.records, self.joint)

    def quietly(self, call, *arguments):
        """Whole tables that are not safe are refused: that is an answer."""
        try:
            return call(*arguments)
        except RuntimeError:
            return None

    def evaluate(self):
        self.quietly(self.problem.evaluate, self.level, self.scratches[1], 1, self.records, 0, 1)

    def commit(self):
        self.quietly(self.problem.commit, self.level, self.scratches, self.records, 0, 1)

    def descend(self):
        found = self.quietly(self.problem.children, self.level, self.scratches, 0, 1)
        if found is not None and found.n:
            self.problem.move(self.level, self.scratches, self.records, self.other, 0, 1)
            self.level, self.records, self.other = found, self.other, self.records

    def span(self):
        last = self.world.rng.randint(0, self.level.n)
        return self.world.rng.randint(0, last), last


def numbers_of(world, kind, *shape):
    made = world.numbers.integers(-50, 50, shape)
    return made.astype(np.float64) if kind is float else made


def sweep_arguments(world):
    s, p = (
        np.sort(world.codes(5, 6, np.int32))[::-1].copy(),
        np.sort(world.codes(5, 5, np.int32))[::-1].copy(),
    )
    order = np.arange(6, dtype=np.int32), np.arange(5, dtype=np.int32)
    return order[0], s, world.codes(5, 6, np.int32), order[1], p, world.codes(5, 5, np.int32)


def classes_arguments(world):
    return world.codes(4, (5, 3), np.int32), world.codes(4, (4, 3), np.int32)


def least_arguments(world):
    kind = world.rng.choice([float, int])
    high = np.inf if kind is float else 2**63 - 1
    dtype = np.float64 if kind is float else np.int64
    return (
        world.codes(3, (5, 4), np.int8),
        numbers_of(world, kind, 5, 6),
        numbers_of(world, kind, 4, 6),
        np.full((5, 6), high, dtype),
        np.full((5, 6), -1, np.int32),
        np.full((4, 6), high, dtype),
        np.full((4, 6), -1, np.int32),
    )


def root_arguments(world):
    bits = world.rng.choice([2, 64, 100, 300])
    size = (bits + 63) // 64
    numbers = world.numbers.integers(1, 1 << 60, 4).astype(np.uint64)
    return (numbers, 1, 3, bits, np.empty((4, size), np.uint64), np.empty(4, np.int64), np.empty(4, np.uint8))


def gauge_arguments(world):
    numbers = world.numbers.integers(1 << 62, 1 << 63, (5, 3)).astype(np.uint64)
    numbers[:, 2] |= np.uint64(1 << 63)
    inverses = np.zeros((2, 2, 3), np.uint64)
    inverses[:, :, 2] = 1 << 63
    places = world.numbers.integers(0, 5, (4, 2))
    return numbers, longs(0, 1, -1, 2, 0), places, longs(0, 2, 4), inverses, np.zeros((2, 2), np.int64)


def margin_counts(world):
    return (
        world.codes(4, (3, 5), np.int32),
        world.codes(4, (3, 5), np.int32),
        world.codes(4, (3, 4), np.int32),
        world.codes(4, (3, 4), np.int32),
        ints(0, 0, 1),
        ints(1, 2, 2),
        3,
        world.rng.random() < 0.5,
        world.numbers.integers(0, 5, 5),
        world.numbers.integers(0, 5, 4),
        0,
        5,
    )


def rows_of(world):
    return world.numbers.integers(-1, 6, (7, 3), np.int32), world.numbers.choice([-1, 1], (7, 3)).astype(
        np.int8
    )


def key_columns(world):
    codes = [world.codes(3, 40, np.uint8), world.codes(4, 40, np.uint16)]
    return codes, [words(0, 1, 2), words(0, 4, 8, 12)], 0, 40


def parts_of_keys(world):
    return np.empty((30, 2), world.rng.choice([np.uint16, np.uint32]))


def worlds_arguments(world):
    return (
        longs(20, 30),
        world.numbers.integers(0, 20, (3, 2, 2)),
        1e6,
        np.empty((3, 2)),
        np.empty(3),
        np.empty(3, np.int8),
    )


def lies_arguments(world):
    dtype = world.rng.choice([np.uint8, np.uint16, np.uint32, np.uint64])
    return (
        world.numbers.integers(0, 1 << 63, 2).astype(np.uint64),
        world.codes(5, 100, dtype),
        5,
        np.empty(100, dtype),
    )


def remapped(world, *more):
    kind = world.rng.choice([np.uint8, np.uint16, np.uint32])
    return world.codes(4, 30), world.codes(9, 4, kind), np.empty(30, kind)


def labels_of(world):
    return np.empty(40, world.rng.choice([np.uint8, np.uint16]))


def order_of(world):
    return np.empty((40, world.rng.choice([2, 3])), np.uint16)


def leaf_arguments(split):
    return *split.leaves, split.records, split.other


def on(make, name, arguments):
    """A method of an object that `make` makes."""
    return lambda world: (getattr(world.get(make), name), arguments(world))


def of_split(name, arguments):
    return lambda world: (getattr(world.get(Split).problem, name), arguments(world.get(Split)))


def read(make, name):
    """A property."""
    return lambda world: (lambda made: getattr(made, name), (world.get(make),))


RECIPES = {
    "_associations.Joiner": lambda w: (_associations.Joiner, joiner_arguments(w)),
    "_associations.Joiner.scan": on(
        joiner, "scan", lambda w: (0, 3, *(np.empty(3, np.int64) for _ in range(3)), np.empty(3))
    ),
    "_associations.Joiner.fill": on(
        joiner,
        "fill",
        lambda w: (0, 3, longs(0, 2, 4, 4), np.empty(4, np.uint32), np.empty(4), np.empty(4, np.uint32)),
    ),
    "_box.Separator": lambda w: (_box.Separator, separator_arguments(w)),
    "_box.Separator.separate": on(
        separator, "separate", lambda w: (numbers_of(w, float, 7), 10.0, np.empty((7, 2, 2), np.int32))
    ),
    "_box.Separator.separate_exactly": on(
        separator,
        "separate_exactly",
        lambda w: (
            np.stack([w.numbers.integers(0, 1 << 60, 7), np.zeros(7, np.int64)], axis=1).astype(np.uint64),
            words(10, 0),
            np.empty((7, 2, 2), np.int32),
            np.empty((2, 2), np.uint64),
        ),
    ),
    "_classes.labels": lambda w: (_classes.labels, (*classes_arguments(w), 3, np.empty((5, 4), np.int8))),
    "_classes.changed": lambda w: (
        _classes.changed,
        (*classes_arguments(w), True, numbers_of(w, int, 5, 3), numbers_of(w, int, 4, 3), 0, 5),
    ),
    "_classes.changed_labels": lambda w: (
        _classes.changed_labels,
        (w.codes(3, (5, 4), np.int8), numbers_of(w, int, 5, 3), numbers_of(w, int, 4, 3)),
    ),
    "_classes.least": lambda w: (_classes.least, least_arguments(w)),
    "_classes.prefixes": lambda w: (
        _classes.prefixes,
        (numbers_of(w, float, 5), ints(4, 2, 0, 1), np.zeros(5), np.full(5, -1, np.int32)),
    ),
    "_classes.sweep": lambda w: (
        _classes.sweep,
        (*sweep_arguments(w), numbers_of(w, int, 5), np.zeros(6, np.int64), np.zeros(6, np.int32)),
    ),
    "_classes.sweep_count": lambda w: (_classes.sweep_count, (*sweep_arguments(w), np.empty(6, np.int64))),
    "_codes._Slots": lambda w: (_codes._Slots, ()),
    "_codes._Slots.__len__": on(
        lambda w: w.rng.choice([key_encoder, record_encoder, row_grouper])(w), "__len__", lambda w: ()
    ),
    "_codes.KeyEncoder": lambda w: (_codes.KeyEncoder, (w.rng.random() < 0.5,)),
    "_codes.KeyEncoder.encode": on(
        key_encoder,
        "encode",
        lambda w: (
            w.numbers.integers(-(1 << 62), 1 << 62, 700),
            w.rng.choice([None, w.codes(2, 700, np.uint8)]),
            np.empty(700, np.uint32),
        ),
    ),
    "_codes.KeyEncoder.found": on(key_encoder, "found", lambda w: ()),
    "_codes.RecordEncoder": lambda w: (_codes.RecordEncoder, (3,)),
    "_codes.RecordEncoder.encode": on(
        record_encoder, "encode", lambda w: (w.codes(12, (700, 3), np.uint32), np.empty(700, np.uint32))
    ),
    "_codes.RecordEncoder.found": on(record_encoder, "found", lambda w: ()),
    "_codes.RecordEncoder.width": read(record_encoder, "width"),
    "_codes.RowGrouper": lambda w: (
        _codes.RowGrouper,
        ([w.codes(3, 9, np.uint8), w.codes(3, 9, np.uint32)],),
    ),
    "_codes.RowGrouper.add": on(
        row_grouper, "add", lambda w: (0, 40, w.rng.choice([None, np.ones(40, np.int64)]))
    ),
    "_codes.RowGrouper.found": on(row_grouper, "found", lambda w: ()),
    "_codes.check_range": lambda w: (_codes.check_range, (w.codes(9, 30), 9)),
    "_codes.mark": lambda w: (_codes.mark, (w.codes(9, 30), np.zeros(9, np.uint8))),
    "_codes.remap": lambda w: (_codes.remap, remapped(w)),
    "_codes.fill_nulls": lambda w: (
        _codes.fill_nulls,
        (w.codes(9, 30), w.codes(256, 5, np.uint8), 3, 9, np.empty(30, np.int64)),
    ),
    "_codes.check_weights": lambda w: (_codes.check_weights, (longs(1, 2, 2**62),)),
    "_columns.Columns": lambda w: (_columns.Columns, ([w.codes(3, 9), w.codes(2, 9)], [3, 2], 9)),
    "_columns.Columns.is_matrix": on(columns, "is_matrix", lambda w: (2,)),
    "_columns.Columns.n_columns": read(columns, "n_columns"),
    "_columns.Columns.n_rows": read(columns, "n_rows"),
    "_count.Tally": lambda w: (_count.Tally, (w.get(columns), longs(0, 2), longs(0, 1), None)),
    "_count.Tally.add": on(tally, "add", lambda w: (0, 40)),
    "_count.Tally.add_to": on(tally, "add_to", lambda w: (np.zeros(20, np.int64),)),
    "_count.first_bad": lambda w: (_count.first_bad, (w.get(columns), 1)),
    "_count.add_checked": lambda w: (
        _count.add_checked,
        (longs(5, 6, 2**62), longs(1, 2, 3), w.rng.random() < 0.5),
    ),
    "_disclose._Columns": lambda w: (_disclose._Columns, key_columns(w)[:2]),
    "_disclose.distinct": lambda w: (
        _disclose.distinct,
        (*key_columns(w), w.rng.choice([None, np.ones(40, np.int64)]), 4),
    ),
    "_disclose.merged": lambda w: (
        _disclose.merged,
        (w.codes(9, 30, np.uint64), w.rng.choice([None, np.ones(30, np.uint64)]), 4),
    ),
    "_disclose.tally": lambda w: (
        _disclose.tally,
        (*key_columns(w), w.rng.choice([None, np.ones(40, np.int64)]), np.zeros(16, np.uint64)),
    ),
    "_disclose.unpacked": lambda w: (
        _disclose.unpacked,
        (w.codes(99, 30, np.uint64), longs(0, 4), longs(4, 6), parts_of_keys(w)),
    ),
    "_disclose.Disclosing": lambda w: (_disclose.Disclosing, disclosing_arguments(w)),
    "_disclose.Disclosing.breaks": on(disclosing, "breaks", lambda w: (0, 1)),
    "_disclose.Disclosing.confidences": on(disclosing, "confidences", lambda w: ()),
    "_disclose.Disclosing.step": on(disclosing, "step", lambda w: ()),
    "_disclose.Disclosing.steps": read(disclosing, "steps"),
    "_disclose.Disclosing.peak_bytes": read(disclosing, "peak_bytes"),
    "_groups.Grouper": lambda w: (_groups.Grouper, (w.get(columns), w.rng.randrange(3), None)),
    "_groups.Grouper.absorb": on(grouper, "absorb", lambda w: (w.get(grouper, "other"),)),
    "_groups.Grouper.add": on(grouper, "add", lambda w: (0, 40)),
    "_groups.Grouper.finish": on(grouper, "finish", lambda w: ()),
    "_groups.distances": lambda w: (
        _groups.distances,
        (*histogram_arguments(w), longs(4, 3, 3), w.rng.random() < 0.5, np.empty(3, np.int64)),
    ),
    "_interior.normal": lambda w: (
        _interior.normal,
        (*rows_of(w), numbers_of(w, float, 7), np.zeros((6, 6))),
    ),
    "_interior.times": lambda w: (_interior.times, (*rows_of(w), numbers_of(w, float, 6), np.empty(7))),
    "_interior.transposed": lambda w: (
        _interior.transposed,
        (*rows_of(w), numbers_of(w, float, 7), np.zeros(6)),
    ),
    "_interior.substitute": lambda w: (_interior.substitute, (np.eye(6), numbers_of(w, float, 6))),
    "_interior.factor": lambda w: (_interior.factor, (9 * np.eye(6) + 1, 2, 1)),
    "_margin.Exact": lambda w: (_margin.Exact, exact_arguments(w)),
    "_margin.Lists": lambda w: (_margin.Lists, list_arguments(w)),
    "_margin.Lists.nearest": on(
        lists, "nearest", lambda w: (0, 1, w.get(exact), base_limbs(w.get(exact)), w.rng.random() < 0.5)
    ),
    "_margin.Lists.thresholds": on(
        lists, "thresholds", lambda w: (0, 1, w.get(exact), base_limbs(w.get(exact)), np.empty(4, np.int32))
    ),
    "_margin.outer": lambda w: (
        _margin.outer,
        (longs(1, 2, _margin.NONE), longs(3, _margin.ONLY), np.empty(6, np.int64)),
    ),
    "_margin.settle": lambda w: (_margin.settle, (ints(2, 0, 1), longs(1, 2, 2), 1, w.get(exact))),
    "_margin.dominance": lambda w: (
        _margin.dominance,
        (ints(1, 0, 2), ints(2, 3, 1), ints(1, 1, 2), longs(1, 2, 1), ints(2, 0, 1), longs(1, 1, 5)),
    ),
    "_margin.listed": lambda w: (
        _margin.listed,
        (
            *(ints(2, 3, 1), ints(1, 1, 2), ints(2, 0, 1), ints(2, 0, 1)),
            *(ints(0, 0, 1), ints(2, 2, 2), ints(0, 1, 2)),
            np.empty(9, np.int64),
            np.empty(9, np.int64),
            100,
        ),
    ),
    "_margin.enumerated": lambda w: (_margin.enumerated, margin_counts(w)),
    "_partition.Problem": lambda w: (_partition.Problem, w.get(Split).arguments),
    "_partition.Problem.admit": of_split("admit", lambda s: (s.scratches[0],)),
    "_partition.Problem.children": of_split("children", lambda s: (s.level, s.scratches, *s.span())),
    "_partition.Problem.commit": of_split("commit", lambda s: (s.level, s.scratches, s.records, *s.span())),
    "_partition.Problem.commit_joint": of_split("commit_joint", lambda s: (s.level, s.scratches, s.joint, 0)),
    "_partition.Problem.counts": of_split("counts", lambda s: (s.scratches[0], *leaf_arguments(s), 0, 2)),
    "_partition.Problem.evaluate": of_split(
        "evaluate", lambda s: (s.level, s.scratches[1], 1, s.records, *s.span())
    ),
    "_partition.Problem.evaluate_joint": of_split(
        "evaluate_joint", lambda s: (s.level, s.scratches[0], 0, s.joint, 0, 0)
    ),
    "_partition.Problem.fill": of_split(
        "fill", lambda s: (s.columns, s.maps(), s.weights, 0, s.n, s.records)
    ),
    "_partition.Problem.finish": of_split(
        "finish", lambda s: (s.level, s.scratches[0], s.records, s.other, *s.span())
    ),
    "_partition.Problem.first": lambda w: (lambda made: made.first, (w.get(Split).problem,)),
    "_partition.Problem.gather": of_split("gather", lambda s: (s.records, s.joint)),
    "_partition.Problem.move": of_split(
        "move", lambda s: (s.level, s.scratches, s.records, s.other, *s.span())
    ),
    "_partition.Problem.move_some": of_split(
        "move_some", lambda s: (s.level, s.scratches, 0, s.records[:20], s.other[:20])
    ),
    "_partition.Problem.number": of_split(
        "number", lambda s: (*leaf_arguments(s), np.empty(s.n, np.uint32), 0, 2)
    ),
    "_partition.Problem.shared": lambda w: (lambda made: made.shared, (w.get(Split).problem,)),
    "_partition.Problem.stride": lambda w: (lambda made: made.stride, (w.get(Split).problem,)),
    "_partition.Scratch": lambda w: (_partition.Scratch, (w.get(Split).problem,)),
    "_partition.Scratch.forget": lambda w: (w.rng.choice(w.get(Split).scratches).forget, ()),
    "_partition.Scratch.take_leaves": lambda w: (w.get(Split).scratches[0].take_leaves, ()),
    "_partition.Level": lambda w: (_partition.Level, (3, 2, 1)),
    "_partition.Level.root": lambda w: (_partition.Level.root, ([3, 4], 10, 10)),
    "_partition.Level.split": lambda w: (w.get(Split).level.split, ()),
    "_partition.Level.n_kids": lambda w: (w.get(Split).level.n_kids, ()),
    **{
        f"_partition.Level.{name}": lambda w, name=name: (
            lambda made: getattr(made, name),
            (w.get(Split).level,),
        )
        for name in ("n", "depth", "start", "rows", "people", "at", "boxes")
    },
    "_partition.Joint": lambda w: (_partition.Joint, (w.get(Split).problem,)),
    **{
        f"_partition.Joint.{name}": lambda w, name=name: (
            lambda made: getattr(made, name),
            (w.get(Split).joint,),
        )
        for name in ("rows", "people", "targets")
    },
    "_response.Coins": lambda w: (_response.Coins, (w.rng.randbytes(32),)),
    "_response.Coins.below": on(coins, "below", lambda w: (10, np.empty(50, np.uint64))),
    "_response.Coins.bits": on(coins, "bits", lambda w: (1, 3, np.empty(5, np.uint64))),
    "_response.Coins.lies": on(coins, "lies", lies_arguments),
    "_response.Coins.seeded": read(coins, "seeded"),
    "_response.Coins.words": on(coins, "words", lambda w: (np.empty(50, np.uint64),)),
    "_response.chacha_block": lambda w: (
        _response.chacha_block,
        (w.codes(99, 8, np.uint32), 1, w.codes(99, 3, np.uint32), np.empty(16, np.uint32)),
    ),
    "_response.flip": lambda w: (
        _response.flip,
        (w.codes(99, 2, np.uint64), w.codes(2, 100, np.uint8), np.empty(100, np.uint8)),
    ),
    "_response.ones": lambda w: (_response.ones, (w.codes(99, 20, np.uint64),)),
    "_response.common": lambda w: (
        _response.common,
        (w.codes(99, 20, np.uint64), w.codes(99, 20, np.uint64)),
    ),
    "_roots.can": lambda w: (_roots.can, (2, 3)),
    "_roots.size": lambda w: (_roots.size, (65,)),
    "_roots.roots": lambda w: (_roots.roots, root_arguments(w)),
    "_roots.products": lambda w: (
        _roots.products,
        (*gauge_arguments(w)[:4], np.empty((2, 2, 3), np.uint64), np.empty((2, 2), np.int64)),
    ),
    "_roots.gauge": lambda w: (
        _roots.gauge,
        (
            *gauge_arguments(w),
            100,
            64,
            *(np.empty((4, 2, 1), np.uint64), np.empty((4, 2), np.int64), np.empty((4, 2))),
        ),
    ),
    "_score.Scores": lambda w: (_score.Scores, scores_arguments(w)),
    "_score.Scorer": lambda w: (_score.Scorer, (w.get(scores),)),
    "_score.Scorer.order": on(scorer, "order", lambda w: (0, 40, order_of(w))),
    "_score.Scorer.predict": on(scorer, "predict", lambda w: (0, 40, labels_of(w), np.empty(40, np.uint8))),
    "_skyline.Histograms": lambda w: (_skyline.Histograms, histogram_arguments(w)),
    "_skyline.Histograms.n_groups": read(histograms, "n_groups"),
    "_skyline.Scan": lambda w: (_skyline.Scan, (w.get(histograms), 3, longs(0, 1))),
    "_skyline.Scan.add": on(scan, "add", lambda w: (0, 3)),
    "_skyline.Scan.found": on(scan, "found", lambda w: ()),
    "_skyline.Tables": lambda w: (_skyline.Tables, table_arguments(w)),
    "_skyline.Tables.breach": on(tables, "breach", lambda w: (w.rng.randrange(3), w.rng.randrange(3), 0.0)),
    "_skyline.front": lambda w: (_skyline.front, (longs(0, 0, 1), longs(1, 2, 2), np.empty(3, np.uint8))),
    "_skyline.front_modes": lambda w: (
        _skyline.front_modes,
        (longs(3, 2, 1), longs(1, 2, 2), longs(3, 2, 1), longs(1, 2, 3), np.empty(3, np.uint8)),
    ),
    "_skyline.locate": lambda w: (
        _skyline.locate,
        (w.get(histograms), np.array([[0, 0, 2, 1, 0, 0, 0], [1, 1, 4, 0, 0, 1, 0], [2, 0, 4, 0, 0, 0, 0]])),
    ),
    "_skyline.falls": lambda w: (_skyline.falls, (longs(5, 9), longs(2, 3), 2, np.empty(2))),
    "_solve.Program": lambda w: (_solve.Program, (np.array([1.0, 0.5]), 2, 1e-9)),
    "_solve.Program.active": on(program, "active", lambda w: ()),
    "_solve.Program.add": on(program, "add", program_rows),
    "_solve.Program.n_rows": read(program, "n_rows"),
    "_solve.Program.renew": on(program, "renew", lambda w: ()),
    "_solve.Program.solve": on(program, "solve", lambda w: (1e-9, 20, w.rng.choice([1, 100]))),
    "_solve.Program.steps": read(program, "steps"),
    "_solve.Program.weights": on(program, "weights", lambda w: ()),
    "_solve.System": lambda w: (_solve.System, system_arguments(w)),
    "_solve.System.dependent": read(system, "dependent"),
    "_solve.System.digits": on(system, "digits", lambda w: (np.empty((3, 6), np.int64),)),
    "_solve.System.start": on(system, "start", lambda w: (longs(1, -2, 3, 4), longs(1, 1))),
    "_worlds.posteriors": lambda w: (_worlds.posteriors, worlds_arguments(w)),
    "_zeros.gains": lambda w: (
        _zeros.gains,
        (
            *(numbers_of(w, int, 5, 3), w.codes(2, (5, 3), np.uint8), longs(0, 2, 5), 0, 1, 7, True),
            *(np.empty(2, np.int64), np.empty(2, np.int64)),
        ),
    ),
}


# --- Wrong ones ------------------------------------------------------------------------------------------

NUMBERS = [
    -1, 0, 1, 2, 3, 64, 255, 256, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 62) - 1, 1 << 62,
    (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -2, -(1 << 31), -(1 << 62), -(1 << 63),
]  # fmt: skip
FLOATS = [0.0, -0.0, 1e-320, 1.0, -1.0, 1e300, -1e300, float("inf"), float("-inf"), float("nan")]
THINGS = [None, "x", b"x", (), [], {}, object(), 1.5, True, np.float64(2), np.zeros(3), type]


def wrong_array(rng, array, others):
    """An array that is almost as good."""
    array = np.asarray(array)
    if array.dtype.kind not in "iuf":
        return array.tolist()
    change = rng.randrange(13)
    if change == 0:
        return array.astype(
            rng.choice([np.int8, np.int32, np.int64, np.uint8, np.uint32, np.float64, object])
        )
    if change == 1:
        return array.astype(array.dtype.newbyteorder())
    if change == 2:
        return array.reshape(*array.shape, 1) if rng.random() < 0.5 else array.reshape(-1)
    if change == 3:
        return np.array(7, array.dtype)
    if change == 4 and array.ndim:
        return array[: rng.randint(0, len(array))]
    if change == 5 and array.ndim:
        return np.concatenate([array, array[:1], array[:1]])
    if change == 6 and array.ndim:
        return np.repeat(array, 2, axis=0)[::2] if rng.random() < 0.5 else array[::-1]
    if change == 7:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    if change == 8:
        return array.tolist()
    if change == 9:  # the memory of another argument
        other = rng.choice(others)
        if other.dtype != object and other.flags.c_contiguous:
            seen = other.reshape(-1).view(np.uint8)
            n = seen.size // array.itemsize * array.itemsize
            if n >= array.nbytes > 0:
                return seen[: array.nbytes].view(array.dtype).reshape(array.shape)
            return seen[:n].view(array.dtype)
        return other
    if change == 10:
        return np.empty((0,) * array.ndim, array.dtype)
    changed = array.copy()
    scribble(rng, changed)
    return changed


def scribble(rng, array, numbers=NUMBERS):
    """Write something else to some places."""
    if not array.size or not array.flags.writeable or not array.flags.c_contiguous:
        return
    flat = array.reshape(-1)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(flat.size)
        if array.dtype.kind == "f":
            flat[place] = rng.choice(FLOATS)
        elif array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            flat[place] = min(max(rng.choice([*numbers, int(info.max), int(info.min)]), info.min), info.max)


def wrong(rng, value, arguments, world):
    """Something else in the place of an argument."""
    if rng.random() < 0.1:
        return rng.choice(THINGS)
    if isinstance(value, np.ndarray):
        return wrong_array(rng, value, [other for other in arguments if isinstance(other, np.ndarray)])
    if isinstance(value, (bool, int)):
        return rng.choice([value + 1, value - 1, *NUMBERS])
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, bytes):
        return value[: rng.randrange(40)]
    if isinstance(value, (list, tuple)) and value:
        changed = list(value)
        place = rng.randrange(len(changed))
        if rng.random() < 0.2:
            del changed[place]
        elif rng.random() < 0.2:
            changed.append(changed[place])
        else:
            changed[place] = wrong(rng, changed[place], changed, world)
        return type(value)(changed) if rng.random() < 0.9 else tuple(changed)
    if value is None:
        return rng.choice([longs(1, 2), *THINGS])
    same = [made for made in world.held.values() if type(made) is type(value)]
    for other in world.strangers:
        same += [made for made in other if type(made) is type(value)]
    return rng.choice(same) if rng.random() < 0.8 and same else rng.choice(THINGS)


def described(value):
    if isinstance(value, np.ndarray):
        held = "" if value.size > 20 else f" {value.tolist()}"
        return f"{value.dtype}{list(value.shape)}{'' if value.flags.c_contiguous else ' strided'}{held}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(described, value[:12])) + "]"
    return re.sub(r" at 0x\w+", "", repr(value))[:80]


def one_call(rng, world, name):
    """Call one entry point; what it said."""
    function, arguments = RECIPES[name](world)
    arguments = list(arguments)
    if rng.random() < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if arguments:
                place = rng.randrange(len(arguments))
                arguments[place] = wrong(rng, arguments[place], arguments, world)
        if rng.random() < 0.03:
            arguments = arguments[:-1] if rng.random() < 0.5 else [*arguments, None]
    if world.given and rng.random() < 0.1:
        # Small numbers: what is written behind the back of an object may make it wrong, but never unsafe.
        scribble(rng, rng.choice(world.given), [-3, -1, 0, 1, 5, 50])
    sys.stderr.write(f"{name}({', '.join(map(described, arguments))})\n")
    try:
        function(*arguments)
    except SystemError:
        raise
    except Exception as error:
        if "Out of bounds on buffer access" in str(error):
            raise  # a debug build sees that a kernel leaves an array: others would go on
        return type(error)
    return None


def half_made(rng, name, world):
    """Objects that never were: no arguments, made twice, copied, pickled, of a class of one's own."""
    owner = getattr(importlib.import_module(f"nbcfast.{name.split('.')[0]}"), name.split(".")[1])
    if not isinstance(owner, type):
        return
    sys.stderr.write(f"half made {name}\n")
    attempts = [
        lambda: owner.__new__(owner),
        lambda: object.__new__(owner),
        lambda: owner.__new__(owner, None),
    ]
    attempts.append(lambda: type("Own", (owner,), {})())
    for made in list(world.held.values()):
        attempts += [lambda made=made: copy.copy(made), lambda made=made: pickle.dumps(made)]
        attempts.append(lambda made=made: made.__setstate__(None))
    for attempt in attempts:
        try:
            made = attempt()
            made.__init__(1, 2)
        except SystemError:
            raise
        except Exception:
            continue


def fuzz(seed, calls):
    """Make so many calls; exits with 0, or crashes, or raises where an answer is wrong afterwards."""
    rng = random.Random(seed)
    names = sorted(RECIPES)
    world = World(rng)
    world.strangers = []
    said = {}
    expected = known_answers()
    warnings.simplefilter("ignore")
    lost = []
    sys.unraisablehook = lambda error: lost.append(error.exc_value)  # where no Python code can be told
    for call in range(calls):
        if call % 100 == 99:
            world.strangers = [*world.strangers[-3:], list(world.held.values())]
            world.held, world.given = {}, []
            gc.collect()
        # One module at a time for a while: objects meet more often.
        if call % 20 == 0:
            module = rng.choice(sorted({name.split(".")[0] for name in names}))
            some = [name for name in names if name.startswith(f"{module}.")] if rng.random() < 0.8 else names
        name = names[call] if call < len(names) else rng.choice(some)
        try:
            result = one_call(rng, world, name)
        except ValueError:  # a recipe whose objects others have spoiled
            world.held, result = {}, None
        said[result] = said.get(result, 0) + 1
        assert not lost, lost
        if call % 50 == 0:
            half_made(rng, name, world)
        if call % 500 == 499 and known_answers() != expected:
            raise AssertionError(f"after call {call} of seed {seed} a kernel gives another answer")
    assert known_answers() == expected
    print(*(f"{getattr(kind, '__name__', 'returned')} {n}" for kind, n in sorted(said.items(), key=str)))


def known_answers():
    """What kernels say of arguments that are right, some of it known by other means."""
    rng = np.random.default_rng(1)
    answers = []
    codes = rng.integers(0, 3, 50).astype(np.uint8), rng.integers(0, 2, 50).astype(np.uint8)
    made = _columns.Columns(list(codes), [3, 2], 50)
    counted = np.zeros(6, np.int64)
    one = _count.Tally(made, longs(0, 1), longs(0))
    assert one.add(0, 50) == -1
    one.add_to(counted)
    joint = np.zeros((3, 2), np.int64)
    np.add.at(joint, codes, 1)
    assert counted.tolist() == joint.reshape(-1).tolist()
    for method in (_groups.DENSE, _groups.RADIX, _groups.HASH):
        groups = _groups.Grouper(made, method)
        groups.add(0, 50)
        found = groups.finish()
        assert found[2].tolist() == joint.reshape(-1).tolist()
        assert found[3].tolist() == joint.sum(axis=1).tolist()
    encoder, out = _codes.KeyEncoder(), np.empty(5, np.uint32)
    encoder.encode(longs(7, -7, 7, 1 << 60, -7), None, out)
    assert out.tolist() == [0, 1, 0, 2, 1]
    block = np.empty(16, np.uint32)  # RFC 8439, 2.3.2
    key = np.frombuffer(bytes(range(32)), np.uint32).copy()
    nonce = np.frombuffer(bytes.fromhex("000000090000004a00000000"), np.uint32).copy()
    _response.chacha_block(key, 1, nonce, block)
    assert block[:2].tolist() == [0xE4E7F110, 0x15593BD1]
    mantissas, exponents, sure = np.empty((2, 1), np.uint64), np.empty(2, np.int64), np.empty(2, np.uint8)
    _roots.roots(words(4, 81), 1, 2, 53, mantissas, exponents, sure)
    assert [int(m[0]) * 2.0**e for m, e in zip(mantissas, exponents.tolist(), strict=True)] == [2.0, 9.0]
    sums = np.empty(4, np.int64)
    _margin.outer(longs(1, 10), longs(2, 3), sums)
    assert sums.tolist() == [3, 4, 12, 13]
    assert _margin.dominance(ints(0), ints(0), ints(2), longs(3), ints(1, 0), longs(5, 7)) == 3 * 12
    assert _response.ones(words(7, 1 << 63)) == 4
    kept = np.empty(3, np.uint8)
    _skyline.front(longs(0, 0, 1), longs(5, 6, 1), kept)
    assert kept.tolist() == [1, 0, 1]
    program_ = _solve.Program(np.ones(2), 2, 1e-12)
    program_.add(ints(0, 1).reshape(1, 2), np.ones((1, 2), np.int8))
    assert program_.solve(1e-12, 10, 10) == 0
    assert np.allclose(program_.weights(), 0.5)
    solved = _solve.System(longs(1, 1), ints(0, 1).reshape(1, 2), np.ones((1, 2), np.int8), 101)
    solved.start(longs(0, 0), longs(2))
    digits = np.empty((1, 3), np.int64)
    solved.digits(digits)
    assert digits.tolist() == [[1, 1, 1]]
    label = np.empty((1, 2), np.int8)
    _classes.labels(ints(1).reshape(1, 1), ints(0, 1).reshape(2, 1), 2, label)
    assert label.tolist() == [[1, 0]]
    values = np.empty(1)
    _interior.times(ints(0, 1).reshape(1, 2), np.array([[1, -1]], np.int8), np.array([5.0, 3.0]), values)
    assert values.tolist() == [2.0]
    shares, errors, states = np.empty((1, 2)), np.empty(1), np.empty(1, np.int8)
    _worlds.posteriors(longs(10, 10), np.full((1, 1, 2), 5), 1e6, shares, errors, states)
    assert np.allclose(shares, 0.5)
    world = World(random.Random(5))
    low = separator(world).separate(np.arange(7.0), 10.0, np.empty((7, 2, 2), np.int32))
    answers.append(low)
    answers.append(tables(world).breach(1, 1))
    answers.append(scan(world).add(0, 3))
    first = scorer(world)
    predicted = np.empty(40, np.uint8)
    answers += [first.predict(0, 40, predicted), predicted.tolist()]
    search = disclosing(world)
    while search.step():
        pass
    answers.append(search.steps)
    people = nbcfast.Table({"age": [1, 2, 3, 4, 5, 6, 7, 8], "ill": [0, 1, 0, 1, 0, 1, 0, 1]})
    split = skyline.anonymize(people, ["age"], "ill", k=4)
    answers.append([(interval.low, interval.high) for interval in split.boxes.domain("age")])
    return answers


# --- The tests -------------------------------------------------------------------------------------------


def entry_points():
    """All that the kernels export: functions, classes, and what classes have that others do not."""
    found = set()
    for module in pkgutil.iter_modules(nbcfast.__path__):
        path = importlib.util.find_spec(f"nbcfast.{module.name}").origin
        if not path.endswith((".so", ".pyd")):
            continue
        exported = vars(importlib.import_module(f"nbcfast.{module.name}"))
        for name, value in exported.items():
            if name.startswith("__") or inspect.ismodule(value) or not callable(value):
                continue
            found.add(f"{module.name}.{name}")
            if isinstance(value, type):
                for attribute in vars(value):
                    # Half of these are Cython's: how objects are copied and pickled is tried by `half_made`.
                    if attribute == "__len__" or not attribute.startswith("__"):
                        found.add(f"{module.name}.{name}.{attribute}")
    return found


def test_every_entry_point_has_a_recipe():
    assert set(RECIPES) == entry_points()


def test_kernels_are_those_of_the_sources():
    sources = Path(__file__).resolve().parents[2] / "src"
    if sources.is_dir():
        assert {path.stem for path in sources.glob("_*.pyx")} == {name.split(".")[0] for name in RECIPES}


def test_recipes_are_right():
    """Without a wrong argument nothing is refused, but for another order and objects of other sizes."""
    rng = random.Random(3)
    fine = set()
    for name in sorted(RECIPES):
        for _ in range(500):
            function, arguments = RECIPES[name](World(rng))
            try:
                function(*arguments)
            except (ValueError, RuntimeError, TypeError):
                continue
            fine.add(name)
            break
    assert set(RECIPES) == fine


def test_wrong_calls_do_no_harm():
    from hypothesis import settings

    calls = 1_000 if settings().max_examples < 1_000 else 10_000
    for seed in range(0, calls, CALLS_A_PROCESS):
        n = min(CALLS_A_PROCESS, calls - seed)
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", __file__, str(seed), str(n)],
            capture_output=True, text=True, errors="replace", timeout=1_800,
        )  # fmt: skip
        last = "\n".join(line[:2_000] for line in done.stderr.splitlines()[-60:])
        assert done.returncode == 0, f"seed {seed}, {n} calls: exit {done.returncode}, after\n{last}"
        counts = dict(re.findall(r"(\w+) (\d+)", done.stdout))
        assert int(counts["returned"]) > n // 10
        assert int(counts["ValueError"]) > n // 10


def test_two_threads_never_get_the_same_coins():
    """A second thread is refused, so that all words, put together, are those of one stream."""
    key = bytes(range(32))
    stream = np.empty(1 << 20, np.uint64)
    _response.Coins(key).words(stream)
    for _ in range(5):
        shared, drawn, refused = _response.Coins(key), [], []
        start = threading.Barrier(4)

        def draw(shared=shared, drawn=drawn, refused=refused, start=start):
            start.wait()
            for _ in range(40):
                out = np.empty(5_000, np.uint64)
                try:
                    shared.words(out)
                    drawn.append(out)
                except RuntimeError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=draw) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        n = sum(map(len, drawn))
        assert np.array_equal(np.sort(np.concatenate(drawn)), np.sort(stream[:n]))
        assert set(refused) <= {"this Coins is in use by another call: give each thread one of its own"}


if __name__ == "__main__":
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it takes address space for its own book-keeping
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fuzz(int(sys.argv[1]), int(sys.argv[2]))
