"""Mondrian's kernel: equal to the reference, exact at ties, the same for all threads."""

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Infeasible, Table
from nbcfast._columns import Columns
from nbcfast._partition import Joint, Level, Problem, Scratch
from nbcfast.groups.groups import Groups
from nbcfast.mondrian import anonymize
from nbcfast.mondrian import demands as demands_module
from nbcfast.mondrian.demands import Demands
from nbcfast.reference import mondrian as reference
from nbcfast.reference import skyline as reference_skyline
from nbcfast.skyline import check

CONFIDENCES = [Fraction(text) for text in ("1/2", "2/3", "4/5", "9/10", "19/20", "99/100", "1")]


class Case:
    """A table and demands, for the kernel and for the reference."""

    def __init__(self, seed, sizes=(5, 12, 30, 80, 200)):
        r = random.Random(seed)
        n, self.n_values = r.choice(sizes), r.choice([2, 3, 5, 8])
        skew = r.choice([0, 1])
        shares = [1 / (i + 1) ** skew for i in range(self.n_values)]
        self.secrets = r.choices(range(self.n_values), weights=shares, k=n)
        self.columns, self.attributes, self.hierarchies = {}, [], {}
        for a in range(r.randint(1, 4)):
            self._attribute(r, f"q{a}", n)
        self.quasi = list(self.columns)
        self.weights = [r.randint(1, 4) for _ in range(n)] if r.random() < 0.3 else None
        self.target = [r.randint(0, 2) for _ in range(n)] if r.random() < 0.3 else None
        self.points = [
            (r.randint(0, 2), r.randint(0, 3), r.randint(0, 3), r.choice(CONFIDENCES))
            for _ in range(r.randint(0, 3))
        ]
        self.demands = {}
        if r.random() < 0.5 or not self.points:
            self.demands["k"] = r.randint(1, 6)
        if r.random() < 0.3:
            self.demands["diversity"] = Fraction(r.randint(1, 8), 2), r.randint(1, 3)
        if r.random() < 0.3:
            self.demands["closeness"] = Fraction(r.randint(1, 9), 10), r.choice(["equal", "ordered"])

    def _attribute(self, r, name, n):
        kind = r.choice(["int", "int", "float", "text", "tree", "null"])
        wide = r.choice([2, 5, 20, 400])
        values = [r.randint(-wide, wide) for _ in range(n)]
        if kind == "float":
            values = [value / 7 for value in values]
        if kind == "null":
            values = [None if r.random() < 0.2 else value for value in values]
        if kind in ("text", "tree"):
            values = [f"v{value % 11:02d}" for value in values]
        present = sorted({value for value in values if value is not None})
        present += [None] if None in values else []
        self.columns[name] = values
        if kind == "tree":
            r.shuffle(present)
            present = cut(present, r)
            self.hierarchies[name] = mapping(present, [0])
        self.attributes.append(present)

    def table(self):
        columns = {**self.columns, "secret": self.secrets}
        if self.target is not None:
            columns["target"] = self.target
        return Table(columns, weights=self.weights)

    def expected(self):
        rows = list(zip(*self.columns.values(), strict=True))
        return reference.partition(
            rows,
            self.secrets,
            self.attributes,
            points=self.points,
            weights=self.weights,
            target=self.target,
            **self.demands,
        )

    def found(self, threads=1):
        target = None if self.target is None else "target"
        try:
            return anonymize(
                self.table(),
                self.quasi,
                "secret",
                self.points,
                hierarchies=self.hierarchies,
                target=target,
                threads=threads,
                **self.demands,
            )
        except Infeasible:
            return None


def cut(values, r):
    """A hierarchy over these values."""
    if len(values) == 1:
        return (values[0],)
    ends = [0, *sorted(r.sample(range(1, len(values)), r.randint(1, min(3, len(values) - 1)))), len(values)]
    parts = [values[a:b] for a, b in pairwise(ends)]
    return tuple(part[0] if len(part) == 1 else cut(part, r) for part in parts)


def mapping(tree, counter):
    """The same as a nested mapping."""
    found = {}
    for part in tree:
        if isinstance(part, tuple):
            counter[0] += 1
            name = f"set {counter[0]}"
            found[name] = mapping(part, counter)
        else:
            found[part] = None
    return found


def histograms(groups, case):
    return [
        reference.people(group, case.secrets, case.weights or [1] * len(case.secrets)) for group in groups
    ]


def equal(case, threads=1):
    """Assert that the kernel's partition is the reference's; return both."""
    expected, found = case.expected(), case.found(threads)
    assert (expected is None) == (found is None)
    if expected is None:
        return None, None
    ids = np.zeros(len(case.secrets), int)
    for number, (rows, _) in enumerate(expected[0]):
        ids[rows] = number
    assert found.group_ids.tolist() == ids.tolist()
    assert found._content.boxes.tolist() == [[list(span) for span in box] for _, box in expected[0]]
    return expected, found


@given(st.integers(0, 2**32))
def test_the_partition_is_that_of_the_reference(seed):
    equal(Case(seed), threads=1 + seed % 2)


@pytest.mark.thorough
def test_the_partition_is_that_of_the_reference_on_many_tables():
    split = 0
    for seed in range(20_000):
        expected, _ = equal(Case(seed), threads=1 + seed % 2)
        split += expected is not None and len(expected[0]) > 1
    assert split > 6_000


@given(st.integers(0, 2**32))
def test_every_demand_is_kept_when_counted_from_scratch(seed):
    case = Case(seed)
    found = case.found()
    if found is None:
        return
    groups = [np.flatnonzero(found.group_ids == number).tolist() for number in range(found.n_groups)]
    counted = histograms(groups, case)
    assert [dict(one) for one in counted] == [found.groups.histogram(i) for i in range(found.n_groups)]
    release = [list(one.elements()) for one in counted]
    k, diversity = case.demands.get("k", 1), case.demands.get("diversity")
    assert min(map(len, release)) >= k
    for point in case.points:
        assert reference_skyline.is_safe(counted, *point)
    if diversity:
        for one in counted:
            falling = sorted(one.values(), reverse=True)
            assert falling[0] < diversity[0] * sum(falling[diversity[1] - 1 :])
    if "closeness" in case.demands:
        whole = sum(counted[1:], counted[0])
        limit, kind = case.demands["closeness"]
        assert all(reference.distance(one, whole, sorted(whole), kind) <= limit for one in counted)


@given(st.integers(0, 2**32))
def test_every_split_that_was_refused_is_unsafe(seed):
    """Also after all other splits: a finer table is no safer."""
    case = Case(seed, sizes=(12, 30, 80))
    expected, found = equal(case)
    if expected is None:
        return
    final, refused = expected
    demands = Demands.of(case.points, *(case.demands.get(name) for name in ("k", "diversity", "closeness")))
    whole = found.groups
    for group, _, parts in refused:
        inside = set(group)
        finer = []
        for rows, _ in final:
            if rows[0] not in inside:
                finer.append(rows)
                continue
            finer += [both for part in parts if (both := sorted(set(rows) & set(part)))]
        array = [[one[value] for value in range(case.n_values)] for one in histograms(finer, case)]
        groups = Groups(array, values=range(case.n_values))
        if groups.domain != whole.domain:  # a value that nobody has would lengthen the ordered distance
            groups = Groups([[row[value] for value in whole.domain] for row in array], values=whole.domain)
        assert demands.broken(groups) is not None
    # And each leaf that could be split was tried with every attribute that could split it.
    tried = {(tuple(group), a) for group, a, _ in refused}
    for rows, _ in final:
        for a, name in enumerate(case.quasi):
            if len({case.columns[name][row] for row in rows}) > 1 and found.groups.sizes.max() > 0:
                people = sum((case.weights or [1] * len(case.secrets))[row] for row in rows)
                assert people < 2 * case.demands.get("k", 0) or (tuple(rows), a) in tried


@given(st.integers(0, 2**32))
def test_a_confidence_that_is_just_reached_is_unsafe(seed):
    """Ties are where floats go wrong: the confidence is the breach of the finest partition."""
    r = random.Random(seed)
    case = Case(seed, sizes=(30, 80))
    case.demands, l, k, m = {}, r.randint(0, 1), r.randint(0, 2), r.randint(0, 3)
    case.points = [(l, k, m, Fraction(99, 100))]
    loose = case.found()
    if loose is None:
        return
    (report,) = check(loose.groups, [(l, k, m, 1)], exact=True)
    case.points = [(l, k, m, report.exact)]
    _, tight = equal(case)
    assert tight is None or tight.group_ids.tolist() != loose.group_ids.tolist()
    case.points = [(l, k, m, report.exact + Fraction(1, 10**30))]
    if case.points[0][3] < 1:
        _, looser = equal(case)
        assert looser is not None
        assert looser.check()[0].safe


def coupled(first):
    """Two groups that can do without their padding, but not both: docs/mathematics/skyline.md, section 9."""
    a = ["s"] * 7 + ["x"] * 7 + ["w"] * 6
    c = ["s"] * 4 + [f"c{i}" for i in range(7)]
    rows = [("A", 0, value) for value in a] + [("A", 1, f"p{i}") for i in range(20)]
    rows += [("C", 0, value) for value in c] + [("C", 1, f"q{i}") for i in range(20)]
    order = ["A", "C"] if first == "A" else ["C", "A"]
    half, pad, secret = zip(*rows, strict=True)
    return Table({"half": half, "pad": pad, "secret": secret}, domains={"half": order})


@pytest.mark.parametrize(("first", "sizes"), [("A", [20, 20, 31]), ("C", [11, 20, 40])])
def test_two_splits_that_are_safe_alone_and_unsafe_together(first, sizes):
    point = (1, 1, 3, "0.8745")
    partition = anonymize(coupled(first), ["half", "pad"], "secret", [point])
    assert partition.groups.sizes.tolist() == sizes
    assert partition.safe
    both = anonymize(coupled(first), ["half", "pad"], "secret", [(1, 1, 3, "0.876")])
    assert both.n_groups == 4
    assert check(both.groups, [point], exact=True)[0].exact == Fraction(7, 8)


def test_products_beyond_the_range_of_floats(monkeypatch):
    """Odds of 2^-1993: a float would show a breach of 1."""
    secrets = ["a"] * 1000 + ["b"] * 1000
    table = Table({"half": [0, 1] * 2000, "secret": secrets + secrets})
    table = Table({"half": [0] * 2000 + [1] * 2000, "secret": secrets + secrets})
    assert anonymize(table, ["half"], "secret", [(0, 0, 999, 1)]).n_groups == 2
    assert anonymize(table, ["half"], "secret", [(0, 0, 1000, 1)]).n_groups == 1
    with pytest.raises(ValueError, match="confidence: exact limits have at most 38 digits"):
        anonymize(table, ["half"], "secret", [(0, 0, 999, 1 - Fraction(1, 10**700))])
    monkeypatch.setattr(demands_module, "as_limit", lambda number, where: number)  # the kernel has no bound
    fine = anonymize(table, ["half"], "secret", [(0, 0, 999, 1 - Fraction(1, 10**700))])
    assert fine.n_groups == 2
    (report,) = check(fine.groups, [(0, 0, 999, 1)], exact=True)
    assert anonymize(table, ["half"], "secret", [(0, 0, 999, report.exact)]).n_groups == 1
    assert (
        anonymize(table, ["half"], "secret", [(0, 0, 999, report.exact + Fraction(1, 10**900))]).n_groups == 2
    )


def test_k_anonymity_is_a_point_of_the_skyline():
    """(0, K - 2, 0) at confidence 1 with unique values: groups of at least K, and K itself is enough."""
    rng = np.random.default_rng(1)
    columns = {"x": rng.integers(0, 40, 300), "y": rng.integers(0, 9, 300)}
    table = Table({**columns, "secret": np.arange(300)})
    for k in (2, 3, 7):
        by_point = anonymize(table, ["x", "y"], "secret", [(0, k - 2, 0, 1)])
        assert by_point.group_ids.tolist() == anonymize(table, ["x", "y"], "secret", k=k).group_ids.tolist()
        assert by_point.groups.k >= k
    pairs = Table({"x": [0, 0, 1, 1], "secret": range(4)})
    assert anonymize(pairs, ["x"], "secret", [(0, 0, 0, 1)]).n_groups == 2
    assert anonymize(pairs, ["x"], "secret", [(0, 1, 0, 1)]).n_groups == 1


def test_recursive_diversity_is_a_point_of_the_skyline():
    """(L - 2, 0, 0) at c / (c + 1), strict on both sides."""
    rng = np.random.default_rng(2)
    columns = {"x": rng.integers(0, 40, 500), "y": rng.integers(0, 9, 500)}
    table = Table({**columns, "secret": rng.integers(0, 6, 500)})
    for c, l in [(2, 2), (3, 3), (Fraction(1, 2), 2)]:
        confidence = Fraction(c) / (Fraction(c) + 1)
        by_point = anonymize(table, ["x", "y"], "secret", [(l - 2, 0, 0, confidence)])
        by_name = anonymize(table, ["x", "y"], "secret", diversity=(c, l))
        assert by_point.group_ids.tolist() == by_name.group_ids.tolist()
    # r_1 = c (r_2 + ..) is no diversity.
    halves = Table({"x": [0, 0, 0, 1, 1, 1], "secret": ["a", "a", "b", "a", "a", "b"]})
    assert anonymize(halves, ["x"], "secret", diversity=("2.001", 2)).n_groups == 2
    with pytest.raises(Infeasible, match=r"not \(2, 2\)-diverse: c must be above 2"):
        anonymize(halves, ["x"], "secret", diversity=(2, 2))


@pytest.mark.parametrize("points", [[], [(1, 2, 0, 0.9)], [(1, 2, 2, 0.9), (0, 3, 1, 0.95)]])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(points, weighted):
    rng = np.random.default_rng(3)
    n = 60_000
    columns = {f"q{i}": rng.integers(0, size, n) for i, size in enumerate((90, 12, 3000))}
    weights = rng.integers(1, 5, n) if weighted else None
    table = Table({**columns, "secret": rng.integers(0, 9, n)}, weights=weights)
    one, two, three = (
        anonymize(table, list(columns), "secret", points, k=8, threads=threads) for threads in (1, 2, 3)
    )
    for other in (two, three):
        assert np.array_equal(one.group_ids, other.group_ids)
        assert one.groups == other.groups
    assert one.n_groups > 1000
    assert one.safe


@pytest.mark.parametrize(
    "sizes", [[3] * 4, [3] * 30, [300, 2], [300] * 20, [70_000, 3], [70_000, 300, 3, 3, 3]]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_records_of_every_width(sizes, weighted):
    """One, two and four bytes a code; records of one and of several 16 bytes; few rows with a wide range."""
    r = random.Random(len(sizes) + sizes[0])
    n = 150
    case = Case(0)
    case.columns = {f"q{a}": [r.randrange(size) for _ in range(n)] for a, size in enumerate(sizes)}
    case.quasi, case.hierarchies, case.target = list(case.columns), {}, None
    case.n_values, case.secrets = 4, [r.randrange(4) for _ in range(n)]
    case.attributes = [list(range(size)) for size in sizes]
    case.weights = [r.randint(1, 3) for _ in range(n)] if weighted else None
    case.points, case.demands = [(1, 1, 1, Fraction(19, 20))], {"k": 4}
    domains = {f"q{a}": range(size) for a, size in enumerate(sizes)}
    expected = case.expected()
    found = anonymize(
        Table({**case.columns, "secret": case.secrets}, domains=domains, weights=case.weights),
        case.quasi,
        "secret",
        case.points,
        **case.demands,
    )
    assert len(expected[0]) == found.n_groups > 3
    for number, (rows, _) in enumerate(expected[0]):
        assert set(found.group_ids[rows].tolist()) == {number}


@pytest.mark.parametrize(
    ("values", "weights", "last"),
    [
        ([1, 2, 2, 2, 3], None, 2),  # 4 | 1 and 1 | 4: after the median
        ([1, 1, 2, 2, 2, 3], None, 1),  # 2 | 4, and not 5 | 1
        ([1, 2, 3, 3], None, 2),
        ([1, 1, 1, 2], None, 1),
        ([1, 2, 2], None, 1),
        ([1, 2], [9, 1], 1),
        ([1, 2, 3, 4], [1, 1, 1, 9], 3),
        ([1, 2, 3, 4], [9, 1, 1, 1], 1),
    ],
)
def test_a_cut_is_beside_the_lower_median_where_the_parts_are_more_equal(values, weights, last):
    order = sorted(set(values))
    codes = [(order.index(value),) for value in values]
    weighed = weights or [1] * len(values)
    parts = reference.split(range(len(values)), 0, codes, order, (0, len(order) - 1), weighed)
    assert order[parts[0][1][1]] == last
    copies = Table(
        {"x": values, "secret": [0] * len(values)}, weights=None if weights is None else np.array(weights)
    )
    smaller = min(sum(weighed[row] for row in rows) for rows, _ in parts)
    found = anonymize(copies, ["x"], "secret", k=smaller)
    edges = [interval.high for interval in found.boxes.domain("x")]
    assert order[order.index(last) + 1] in edges


def problem(**changes):
    given = {
        "sizes": [4, 3],
        "positions": [np.arange(4), np.arange(3)],
        "trees": [None, None],
        "n_values": 2,
        "n_targets": 0,
        "weighted": False,
        "by_gain": False,
        "least_people": 1,
        "diversity": None,
        "closeness": None,
        "totals": np.array([2, 2]),
        "points": [],
    }
    return Problem(*{**given, **changes}.values())


def tree(*nodes):
    return np.array(nodes, np.int64)


ONE = np.array([1], np.uint64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": [4]}, "1 sizes, 2 positions and 2 trees"),
        ({"positions": [np.arange(4), np.arange(2)]}, "attribute 1: 3 codes, 2 positions"),
        ({"n_values": 0}, "0 values, 2 totals"),
        ({"by_gain": True}, "0 targets"),
        ({"diversity": (0, ONE, ONE)}, "diversity needs l of at least 1, got 0"),
        ({"closeness": (1, ONE, np.zeros(1, np.uint64))}, "denominator above 0"),
        ({"closeness": (1, ONE[:0], ONE)}, "at least one word"),
        ({"points": [(3, 0, 0, ONE, ONE, False, False, 1e-9)]}, "l at most 2"),
        ({"trees": [tree((0, 2, 0, 0)), None]}, "root of all 4 codes"),
        ({"trees": [tree((0, 3, 0, 0)), None]}, "node 0 of its tree has several codes and no children"),
        ({"trees": [tree((0, 3, 1, 2), (0, 1, 0, 0)), None]}, "no place for 2 children"),
        ({"trees": [tree((0, 3, 1, 2), (0, 1, 0, 0), (3, 3, 0, 0)), None]}, "do not tile"),
    ],
)
def test_the_kernel_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        problem(**changes)


def test_the_kernel_checks_what_it_is_shown():
    one = problem()
    scratch = Scratch(one)
    codes = [
        np.array([0, 1, 2, 3], np.uint8),
        np.array([0, 1, 2, 0], np.uint8),
        np.array([0, 1, 0, 1], np.uint8),
    ]
    columns = Columns(codes, [4, 3, 2], 4)
    records = np.zeros((4, one.stride), np.uint8)
    with pytest.raises(ValueError, match="expected 3 columns"):
        one.fill(Columns(codes[:2], [4, 3], 4), [None, None], None, 0, 4, records)
    with pytest.raises(ValueError, match="do not fit"):
        one.fill(columns, [None] * 3, None, 0, 4, records[:3])
    with pytest.raises(ValueError, match="weights must be there exactly where rows are weighted"):
        one.fill(columns, [None] * 3, np.ones(4, np.int64), 0, 4, records)
    with pytest.raises(ValueError, match=r"column 0: its map has 4 codes, up to 4; expected 4 below 4"):
        one.fill(columns, [np.array([0, 1, 2, 4], np.uint32), None, None], None, 0, 4, records)
    with pytest.raises(ValueError, match="column 1 has 4 codes, expected at most 3"):
        one.fill(Columns(codes, [4, 4, 2], 4), [None] * 3, None, 0, 4, records)
    wrong = [codes[0], np.array([0, 1, 3, 0], np.uint8), codes[2]]
    with pytest.raises(ValueError, match="column 1: the code of row 2 is outside 3 values"):
        one.fill(Columns(wrong, [4, 3, 2], 4), [None] * 3, None, 0, 4, records)
    one.fill(columns, [None] * 3, None, 0, 4, records)
    assert records[:, :2].tolist() == [[0, 0], [1, 1], [2, 2], [3, 0]]
    level = Level.root([4, 3], 5, 5)
    with pytest.raises(ValueError, match="node 0: 5 rows from 0 on, of 4"):
        one.evaluate(level, scratch, 0, records, 0, 1)
    with pytest.raises(ValueError, match="nodes 0 to 2 of 1"):
        one.evaluate(level, scratch, 0, records, 0, 2)
    starts = np.array([0]), np.array([5]), np.array([0])
    with pytest.raises(ValueError, match="leaf 0: 5 rows from 0 on, of 4"):
        one.number(*starts, records, records, np.zeros(4, np.uint32), 0, 1)
    with pytest.raises(ValueError, match="row 3 of 3"):
        one.number(
            np.array([0]), np.array([4]), np.array([0]), records, records, np.zeros(3, np.uint32), 0, 1
        )
    with pytest.raises(ValueError, match="node 3 of 1"):
        one.evaluate_joint(level, scratch, 0, Joint(one), 3)
    with pytest.raises(ValueError, match="expected records of 16 bytes, got 8"):
        one.gather(np.zeros((2, 8), np.uint8), Joint(one))


def test_counts_of_a_node_decide_as_its_rows_do():
    """The path for nodes that are too large for memory."""
    rng = np.random.default_rng(5)
    n = 3000
    codes = [rng.integers(0, size, n).astype(np.uint8) for size in (40, 7, 5)]
    one = problem(
        sizes=[40, 7],
        positions=[np.arange(40), np.arange(7)],
        n_values=5,
        totals=np.bincount(codes[2], minlength=5),
        points=[(1, 2, 2, ONE, np.array([9], np.uint64), False, True, 1e-9)],
    )
    scratches = [Scratch(one), Scratch(one)]
    assert one.admit(scratches[0])
    records = np.empty((n, one.stride), np.uint8)
    one.fill(Columns(codes, [40, 7, 5], n), [None] * 3, None, 0, n, records)
    joint = Joint(one)
    one.gather(records[:1000], joint)
    one.gather(records[1000:], joint)
    by_rows, by_counts = Level.root([40, 7], n, n), Level.root([40, 7], n, n)
    one.evaluate(by_rows, scratches[0], 0, records, 0, 1)
    one.evaluate_joint(by_counts, scratches[1], 1, joint, 0)
    assert by_rows.split().tolist() == by_counts.split().tolist() == [0]
    one.commit(by_rows, scratches, records, 0, 1)
    one.commit_joint(by_counts, scratches, joint, 0)
    first = one.children(by_rows, scratches, 0, 1)
    second = one.children(by_counts, scratches, 0, 1)
    for name in ("rows", "people", "boxes"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    out = np.empty_like(records)
    counts = one.move_some(by_counts, scratches, 0, records[:700], out[:700])
    assert counts.sum() == 700
    border = first.boxes[1, 0]
    assert (out[: counts[0], 0] < border).all()
    assert (out[counts[0] : 700, 0] >= border).all()
