"""Arguments that fit every entry point of every kernel, and the objects that calls share."""

import numpy as np
from kernel_world import ints, longs, words

from nbcfast import (
    _advise,
    _associations,
    _box,
    _codes,
    _coins,
    _columns,
    _count,
    _disclose,
    _groups,
    _margin,
    _partition,
    _score,
    _skyline,
    _solve,
    _texts,
)


def choices(world):
    return _advise.Choices(*choices_arguments(world))


def choices_arguments(world):
    """Two attributes of two options: of three cells, and of two, where one option leaves it out."""
    counts = world.numbers.integers(0, 3, (8, 2))
    with np.errstate(divide="ignore"):
        logs = np.log(counts.astype(float))
    return (
        *world.give(
            np.stack([world.codes(3, 9, np.int32), world.codes(2, 9, np.int32)]),
            np.zeros(9, np.int32),
            world.numbers.integers(1, 5, 9),
            longs(0, 4, 9),
            longs(0, 2, 4),
            longs(3, 2),
            longs(0, 3, -1, 6),
            logs,
            counts,
            np.array([[-0.5, -1.0]]),
            np.array([[3, 2]]),
        ),
        1e-6,
    )


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
        0.0 if n_classes == 2 else world.rng.choice([0.0, 3.0, 1e4, 1e300]),
        world.rng.choice([1, 100, 65_535]),
    )


def scores(world):
    return _score.Scores(*scores_arguments(world))


def scorer(world):
    return _score.Scorer(world.get(scores))


def costing(world):
    """A scorer of three classes, by costs."""
    arguments = scores_arguments(world)
    while arguments[4].shape == (1,):
        arguments = scores_arguments(world)
    return _score.Scorer(_score.Scores(*arguments[:-2], 100.0, arguments[-1]))


def tables_of_positions(world):
    """The position of each code of three attributes of 3, 2 and 4 values."""
    return world.give(*(world.numbers.integers(0, size, size) for size in (3, 2, 4)))


def translation(world):
    return _score.Translation(list(tables_of_positions(world)))


def served_scores(world):
    """Those of no rows."""
    nothing = columns(world, 0)
    return _score.Scores(nothing, *scores_arguments(world)[1:])


def served(world):
    return _score.Served(served_scores(world))


def strata(world):
    one = world.get(served)
    return [one, one]


def served_strata(world):
    return _score.ServedStrata(strata(world))


def matrix_of(world, *sizes):
    """Codes of 40 rows, row after row or column after column."""
    dtype = world.rng.choice([np.uint8, np.int16, np.int64])
    rows = np.stack([world.codes(size, 40, dtype) for size in sizes], axis=1)
    return world.give(rows if world.rng.random() < 0.5 else np.asfortranarray(rows))[0]


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


def exchange_arguments(world, n_classes=None):
    """Two changes of two attributes, of 2 and 3 values, a half each."""

    def of(*shape):
        return world.numbers.integers(-50, 50, shape if n_classes is None else (*shape, n_classes))

    return (*world.give(ints(2, 3)), 1, *world.give(of(5), ints(0, 2, 1, 1).reshape(2, 2), of(2, 2), of(2)))


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
    return _coins.Coins(world.rng.randbytes(32), seeded=world.rng.random() < 0.5)


def key_encoder(world):
    return _codes.KeyEncoder(world.rng.random() < 0.5)


def record_encoder(world):
    return _codes.RecordEncoder(3)


def text_encoder(world):
    return _texts.TextEncoder()


def texts_arguments(world):
    """Some texts of up to forty bytes, nulls among them."""
    sizes = world.codes(40, 30, np.uint8).astype(np.int64)
    offsets = np.concatenate([longs(0), np.cumsum(sizes)]).astype(world.rng.choice([np.int32, np.int64]))
    data = world.codes(128, max(int(offsets[-1]), 1), np.uint8)
    valid = world.rng.choice([None, world.codes(256, 5, np.uint8)])
    return offsets, data, valid, world.rng.randrange(8), np.empty(30, np.uint32)


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
