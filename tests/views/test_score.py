"""`predict`, `order`, `tied`: every decision is that of the exact integers."""

import math
import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from few_rows import made_anew
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Table, Viewset
from nbcfast.reference import views as reference

SMOOTH = [0, 1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 27, 32, 36, 48, 64]
ALPHAS = [0, 1, "1/3", 0.5, Fraction(1, 10**9), 3]
SIZES_OF_WORK = settings().max_examples // 50  # 1 in the fast profile


def number(rng, style, base):
    """A count of one style: what makes ties, near ties, zeros and large numbers."""
    if style == "small":
        return rng.choice([0, 0, 1, 1, 2, 3])
    if style == "smooth":  # products that are often equal
        return rng.choice(SMOOTH)
    if style == "usual":
        return rng.randint(0, 5_000)
    if style == "near":  # products that differ by 1e-15 and less of themselves
        return base + rng.randint(-1, 1)
    if style == "2^53":
        return 2**53 + rng.randint(-2, 2)
    if style == "2^63":
        return rng.choice([0, 1, 2**63 - 2, 2**63 - 1])
    if style == "huge":
        return 10**40 + rng.choice([0, 0, 1, -1, 10**24, 10**25])
    return rng.choice([0, 1, 3, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 10**40, 10**40 + 1])


STYLES = ["small", "smooth", "usual", "near", "2^53", "2^63", "huge", "mixed"]


def random_views(rng, style, n_classes, n, most_values=3):
    """Views of any counts; realistic or not, the formula is the same."""
    base = rng.choice([10**3, 10**7, 10**8, 3 * 10**8, 10**9, 10**12])

    def row():
        values = [number(rng, style, base) for _ in range(n_classes)]
        if rng.random() < 0.3 and n_classes > 1:  # equal counts of two classes
            values[rng.randrange(n_classes)] = values[rng.randrange(n_classes)]
        return values

    counts = [[row() for _ in range(rng.randint(1, most_values))] for _ in range(n)]
    class_counts = row()
    if rng.random() < 0.5:  # equal priors: the attributes decide
        class_counts = [max(class_counts)] * n_classes
    if rng.random() < 0.2:
        class_counts[rng.randrange(n_classes)] = 0
    if rng.random() < 0.4 and n_classes > 1 and n > 1:  # a class that ties with another by other factors
        c, d = rng.sample(range(n_classes), 2)
        class_counts[d] = class_counts[c]
        for i, array in enumerate(counts):
            other = counts[i ^ 1] if i ^ 1 < n else array
            for row_of_i, row_of_other in zip(array, other, strict=False):
                row_of_i[d] = row_of_other[c]
    return Viewset(class_counts, [np.array(array, object) for array in counts])


def some_rows(rng, views, most=12):
    rows = [{name: rng.choice(views.domain(name)) for name in views.attributes} for _ in range(most)]
    return {name: [row[name] for row in rows] for name in views.attributes}, rows


def table_of(columns, n_rows):
    """A table of rows even where the views have no attributes."""
    return Table({**columns, "other": np.zeros(n_rows, np.uint8)})


def check(views, columns, rows, **options):
    table = table_of(columns, len(rows))
    known = [reference.scores(views, row, **options) for row in rows]
    places = {id(row): place for place, row in enumerate(rows)}

    def remembered(views, row, **options):
        return known[places[id(row)]]

    # All three ask the reference for the same exact fractions, which are what costs.
    with mock.patch.object(reference, "scores", remembered):
        expected = [
            ask(views, rows, **options) for ask in (reference.order, reference.predict, reference.tied)
        ]
    assert views.order(table, **options).tolist() == expected[0]
    for way in (nullcontext, made_anew):
        with way():
            assert views.predict(table, **options).tolist() == expected[1]
            assert views.tied(table, **options).tolist() == expected[2]


# --- against exact fractions -----------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("n_classes", [*range(1, 10), 12, 13, 15, 16, 17, 20])
def test_random_views(style, n_classes):
    rng = random.Random(f"{style} {n_classes}")
    for _ in range(20 * SIZES_OF_WORK):
        n = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 8])
        views = random_views(rng, style, n_classes, n)
        check(views, *some_rows(rng, views))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_random_views_smoothed(style, alpha):
    rng = random.Random(f"{style} {alpha}")
    for _ in range(25 * SIZES_OF_WORK):
        n = rng.choice([0, 1, 1, 2, 2, 3, 4])
        views = random_views(rng, style, rng.randint(1, 6), n)
        columns, rows = some_rows(rng, views)
        check(views, columns, rows, alpha=alpha)
        for name in views.attributes:
            if rng.random() < 0.5:
                for row in range(len(rows)):
                    if rng.random() < 0.5:
                        columns[name][row] = rows[row][name] = 99
        check(views, columns, rows, alpha=alpha, unseen="zero")
        check(views, columns, rows, alpha=alpha, unseen="ignore")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_many_attributes(style, n_classes):
    rng = random.Random(f"many {style} {n_classes}")
    for n in (9, 16, 17, 33, 40):
        views = random_views(rng, style, n_classes, n)
        check(views, *some_rows(rng, views, 6))


@given(
    st.integers(0, 2**64),
    st.sampled_from(STYLES),
    st.integers(1, 20),
    st.integers(0, 40),
    st.sampled_from(ALPHAS),
)
def test_any_views(seed, style, n_classes, n, alpha):
    rng = random.Random(seed)
    views = random_views(rng, style, n_classes, n, most_values=5)
    check(views, *some_rows(rng, views, 5), alpha=alpha)


def test_the_random_views_are_what_they_are_made_for():
    """Ties, zeros, and near ties at which floats are wrong do occur."""
    rng = random.Random(5)
    ties = zeros = wrong = 0
    for _ in range(150):
        for style in ("smooth", "near", "huge", "2^53"):
            views = random_views(rng, style, 2, rng.randint(1, 4))
            for row in some_rows(rng, views)[1]:
                x, y = reference.scores(views, row)
                ties += x == y != 0
                zeros += x == y == 0
                logs = [
                    float((1 - len(row)) * np.log(float(p)) + sum(np.log(float(f)) for f in factors))
                    if p and all(factors)
                    else -math.inf
                    for p, factors in (
                        (
                            int(views.class_counts[c]),
                            [int(views.counts[name][value][c]) for name, value in row.items()],
                        )
                        for c in range(2)
                    )
                ]
                wrong += (logs[0] > logs[1]) != (x > y)
    assert ties > 100
    assert zeros > 20
    assert wrong > 100


# --- chosen cases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("small", "large"),
    [
        (2**53, 2**53 + 1),
        (2**62, 2**62 + 1),
        (2**63 - 2, 2**63 - 1),
        (10**40, 10**40 + 1),
        (2**200, 2**200 + 1),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 9, 17])
def test_counts_that_floats_cannot_tell_apart(small, large, n_classes):
    assert float(small) == float(large)
    for best in range(n_classes):
        counts = [small] * n_classes
        counts[best] = large
        views = Viewset([1] * n_classes, [[counts, [small] * n_classes]])
        table = {"A1": [0, 1]}
        others = [c for c in reversed(range(n_classes)) if c != best]
        assert views.predict(table).tolist() == [best, n_classes - 1]
        assert views.order(table).tolist() == [[best, *others], list(reversed(range(n_classes)))]
        assert views.tied(table).tolist() == [False, True]
        # In the class counts, with one attribute they do not matter; without any they are all.
        assert Viewset(counts, []).predict(table).tolist() == [best] * 2
        equal = [[1] * n_classes]
        worst = Viewset(counts, [equal, equal]).order({"A1": [0], "A2": [0]})
        assert worst[0].tolist() == [*others, best]


@pytest.mark.parametrize("x", [10**3, 31_622_777, 10**8, 316_227_766, 10**9, 10**15, 10**30])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_near_ties(x, n_classes):
    """Products x * x against (x + 1) * (x - 1): 1 part in x * x."""
    rest = [1] * (n_classes - 2)
    views = Viewset(
        [1] * n_classes,
        [[[*rest, x, x + 1], [*rest, x + 1, x]], [[*rest, x, x - 1], [*rest, x - 1, x]]],
    )
    table = {"A1": [0, 1, 0, 1], "A2": [0, 1, 1, 0]}
    a, b = n_classes - 2, n_classes - 1
    assert views.predict(table).tolist() == [a, b, b, a]
    assert views.tied(table).tolist() == [False] * 4


def test_classes_without_rows():
    views = Viewset([0, 4], [[[0, 2], [0, 2]], [[0, 1], [0, 3]]])
    assert views.predict({"A1": [0, 1], "A2": [0, 1]}).tolist() == [1, 1]
    views = Viewset([4, 0], [[[2, 0], [2, 0]]])
    assert views.predict({"A1": [0]}).tolist() == [0]
    assert views.predict({"A1": [0]}, alpha=1).tolist() == [0]
    empty = Viewset([0, 0, 0], [np.zeros((2, 3), int)])
    for options in ({}, {"alpha": 1}, {"alpha": "1/10000000000000000000000"}, {"alpha": 10**30}):
        assert empty.predict({"A1": [0, 1]}, **options).tolist() == [2, 2]
        assert empty.tied({"A1": [0, 1]}, **options).tolist() == [True, True]
        assert empty.order({"A1": [0]}, **options).tolist() == [[2, 1, 0]]
    # Not even a count in a class without rows gives it a chance.
    assert Viewset([1, 0], [[[1, 9]]]).predict({"A1": [0]}).tolist() == [0]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 255, 256, 257, 300])
def test_all_zero_and_all_equal(n_classes):
    views = Viewset([2] * n_classes, [[[0] * n_classes, [2] * n_classes, [0] * (n_classes - 1) + [1]]])
    table = {"A1": [0, 1, 2]}
    down = list(reversed(range(n_classes)))
    assert views.order(table).tolist() == [down] * 3
    assert views.predict(table).tolist() == [n_classes - 1] * 3
    assert views.tied(table).tolist() == [n_classes > 1, n_classes > 1, False]
    assert views.predict(table, codes=True).dtype == (np.uint8 if n_classes <= 256 else np.uint16)


def test_without_attributes():
    views = Viewset([3, 5, 5, 2], [])
    assert views.predict({"x": [1, 2]}).tolist() == [2, 2]
    assert views.order({"x": [1]}).tolist() == [[2, 1, 0, 3]]
    assert views.tied({"x": [1]}).tolist() == [True]
    assert views.tied_tuples() == 1
    assert Viewset([3, 5], []).tied_tuples() == 0
    assert views.predict({"x": [1, 2]}, alpha=1).tolist() == [2, 2]


def test_without_rows():
    for n_classes in (1, 2, 3):
        views = Viewset([1] * n_classes, [np.ones((2, n_classes), int)])
        table = {"A1": np.zeros(0, np.int64)}
        assert views.predict(table).tolist() == []
        assert views.tied(table).tolist() == []
        assert views.order(table).shape == (0, n_classes)


@pytest.mark.parametrize("n_values", [255, 256, 257, 300, 65_535, 65_536, 70_000])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_many_values(n_values, n_classes):
    rng = np.random.default_rng(n_values)
    counts = rng.integers(1, 9, (n_values, n_classes))
    small = rng.integers(1, 9, (2, n_classes))
    views = Viewset([5] * n_classes, [counts, small])
    codes = np.concatenate([[0, n_values - 1], rng.integers(0, n_values, 3_000)])
    other = rng.integers(0, 2, len(codes))
    products = counts[codes] * small[other]
    expected = n_classes - 1 - products[:, ::-1].argmax(axis=1)
    domain = {"A1": range(n_values)}
    for table in (Table({"A1": codes, "A2": other}), Table({"A1": codes, "A2": other}, domains=domain)):
        assert np.array_equal(views.predict(table), expected)
        by_order = np.take_along_axis(products, views.order(table).astype(np.int64), axis=1)
        assert (np.diff(by_order, axis=1) <= 0).all()


@pytest.mark.parametrize("n_rows", [1, 1023, 1024, 1025, 2048, 5000])
@pytest.mark.parametrize("n_classes", [2, 3, 6, 12, 20])
def test_blocks_and_threads(n_rows, n_classes):
    rng = np.random.default_rng(n_rows)
    sizes = rng.integers(1, 12, 9)
    views = Viewset.from_codes(
        rng.integers(0, sizes, (300, 9)), rng.integers(0, n_classes, 300), sizes=sizes, n_classes=n_classes
    )
    matrix = rng.integers(0, sizes, (n_rows, 9))
    columns = {f"A{i + 1}": matrix[:, i] for i in range(9)}
    expected = views.predict(columns, threads=1)
    with made_anew():
        assert np.array_equal(views.predict(columns, threads=1), expected)
    exact = [[int(views.class_counts[c]) > 0 for c in range(n_classes)]] * n_rows
    scores = np.array(exact, object).astype(int).astype(object)
    for i, array in enumerate(views.counts.values()):
        scores = scores * array.astype(object)[matrix[:, i]]
    top = np.array([max(int(p), 1) for p in views.class_counts], object)
    common = math.prod(top.tolist()) ** 8
    scores = scores * np.array([common // int(p) ** 8 for p in top], object)
    best = [max(range(n_classes), key=lambda c: (row[c], c)) for row in scores.tolist()]
    assert expected.tolist() == best
    for threads in (2, 5):
        assert np.array_equal(views.predict(columns, threads=threads), expected)
        assert np.array_equal(views.order(columns, threads=threads)[:, 0], expected)
    assert views.tied(columns, threads=2).tolist() == [row.count(max(row)) > 1 for row in scores.tolist()]


def test_precedence_is_that_of_classes():
    table = {"x": ["a", "b"], "y": ["n", "p"]}
    for classes in (["n", "p"], ["p", "n"]):
        views = nbcfast.count({"x": ["a", "a"], "y": ["n", "p"]}, "y", classes=classes)
        assert views.predict({"x": ["a"]}).tolist() == [classes[1]]
        assert views.order({"x": ["a"]}).tolist() == [[1, 0]]
        assert views.predict(table, unseen="zero").tolist() == [classes[1]] * 2


# --- tables and views ------------------------------------------------------------------------------------


@given(st.integers(0, 2**64), st.sampled_from(["small", "smooth", "usual"]), st.integers(1, 4))
def test_values_are_matched_by_value(seed, style, n_classes):
    rng = random.Random(seed)
    domains = {
        "text": ["b", "a", "", "\0", "é", None],
        "int": [3, -1, 2**53, 7],
        "float": [0.5, -2.0, 1e300, SUPPRESSED],
        "bool": [True, False],
    }
    for domain in domains.values():
        head = [value for value in domain if value is not None and value is not SUPPRESSED]
        rng.shuffle(head)
        domain[: len(head)] = head
    counts = {
        name: [[number(rng, style, 0) for _ in range(n_classes)] for _ in domain]
        for name, domain in domains.items()
    }
    views = Viewset([9] * n_classes, counts, domains=domains)
    columns, rows = some_rows(rng, views, 8)
    check(views, columns, rows)
    # The same rows in tables whose codes are others.
    declared = {}
    for name, domain in domains.items():
        more = [*domain, {"text": "zz", "int": 99, "float": 9.5}.get(name)]
        head = [value for value in more if value is not None and value is not SUPPRESSED]
        rng.shuffle(head)
        declared[name] = head + [value for value in domain if value is None or value is SUPPRESSED]
    shuffled = list(columns)
    rng.shuffle(shuffled)
    table = Table({name: columns[name] for name in shuffled}, domains=declared, weights=[3] * len(rows))
    assert views.predict(table).tolist() == reference.predict(views, rows)
    moved = Viewset(
        views.class_counts,
        {name: views.counts[name][::-1] if None not in domains[name] and SUPPRESSED not in domains[name]
         else views.counts[name] for name in shuffled},
        domains={name: domain[::-1] if None not in domain and SUPPRESSED not in domain else domain
                 for name, domain in domains.items()},
    )  # fmt: skip
    assert views.order(table).tolist() == moved.order(table).tolist()


def test_kinds_are_matched():
    views = Viewset([5, 5], {"x": [[1, 2], [2, 1]]}, domains={"x": [1, 0]})
    assert views.predict({"x": [0.0, 1.0]}).tolist() == [0, 1]
    with pytest.raises(ValueError, match="column 'x': value False is unknown to the views"):
        views.predict({"x": [False, True]})
    with pytest.raises(ValueError, match="column 'x': value '0' is unknown to the views"):
        views.predict({"x": ["0", "1"]})
    assert views.tied({"x": ["0", "1"]}, unseen="zero").tolist() == [True, True]
    nulls = Viewset([5, 5], {"x": [[1, 2], [2, 1]]}, domains={"x": [0.5, None]})
    assert nulls.predict({"x": [math.nan, 0.5]}).tolist() == [0, 1]


def test_unseen_values():
    views = Viewset([5, 4], {"x": [[1, 2]]}, classes=["n", "p"], domains={"x": ["a"]})
    message = (
        r"^column 'x': value 'b' is unknown to the views; Viewset\.predict\(\.\., unseen='ignore'\) leaves "
        "the attribute out of such rows; values that are known in advance can be declared before they are "
        "counted$"
    )
    for method in (views.predict, views.order, views.tied):
        with pytest.raises(ValueError, match=message):
            method({"x": ["a", "b"]})
        with pytest.raises(ValueError, match="unseen must be 'error', 'ignore' or 'zero', got 'null'"):
            method({"x": ["a"]}, unseen="null")
        with pytest.raises(ValueError, match="the table has no column 'x', which the views need; it has"):
            method({"y": ["a"]})
        with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
            method({"x": ["a"]}, alpha=-1)
        with pytest.raises(ValueError, match="alpha must be a finite number, got nan"):
            method({"x": ["a"]}, alpha=math.nan)
        with pytest.raises(ValueError, match="alpha must be a finite number, got 'x'"):
            method({"x": ["a"]}, alpha="x")
        with pytest.raises(
            ValueError, match="alpha must be a number with an exponent below 10,000, got '1e99"
        ):
            method({"x": ["a"]}, alpha="1e999999999")
        with pytest.raises(TypeError, match="alpha must be a number, got True"):
            method({"x": ["a"]}, alpha=True)
        with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
            method({"x": ["a"]}, threads=0)
        with pytest.raises(TypeError, match="table: expected a Table, a mapping"):
            method(5)
    assert views.predict({"x": ["a", "b"]}, unseen="zero").tolist() == ["p", "p"]
    assert views.tied({"x": ["a", "b"]}, unseen="zero").tolist() == [False, True]
    # A declared value that no row has does not matter.
    table = Table({"x": ["a"]}, domains={"x": ["b", "a"]})
    assert views.predict(table).tolist() == ["p"]
    for unseen in ("zero", "ignore"):
        assert Viewset([1, 2], [np.zeros((0, 2), int)]).predict({"A1": [7]}, unseen=unseen).tolist() == [1]


@pytest.mark.parametrize("n_classes", [1, 2])
def test_options_are_checked_whatever_the_number_of_classes(n_classes):
    views = Viewset([1] * n_classes, [[[1] * n_classes]])
    for method in (views.predict, views.order, views.tied):
        with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
            method({"A1": [0]}, threads=0)
        with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
            method({"A1": [0]}, alpha=-1)


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        ([3, -1], np.int64),
        (["no", "yes"], np.dtype("<U3")),
        ([False, True], np.bool_),
        ([0.5, 1.0], np.float64),
        (["no", None], object),
        ([None, SUPPRESSED], object),
        ([2**62, -(2**63)], np.int64),
    ],
)
def test_types_of_labels(classes, dtype):
    views = Viewset([2, 2], [[[2, 1], [1, 2]]], classes=classes)
    labels = views.predict({"A1": [0, 1]})
    assert labels.tolist() == classes
    assert labels.dtype == dtype
    assert views.predict({"A1": [0, 1]}, codes=True).tolist() == [0, 1]
    assert views.predict({"A1": []}).dtype == dtype


def test_labels_that_end_in_a_null_character():
    """NumPy's texts lose it."""
    views = Viewset([2, 2], [[[2, 1], [1, 2]]], classes=["a", "a\0"])
    assert views.predict({"A1": [0, 1]}).tolist() == ["a", "a\0"]


@given(st.integers(0, 2**64), st.integers(1, 5), st.integers(0, 4))
def test_tied_tuples_equals_reference(seed, n_classes, n):
    rng = random.Random(seed)
    views = random_views(rng, rng.choice(["small", "smooth", "huge"]), n_classes, n)
    assert views.tied_tuples() == reference.tied_tuples(views)
    n_tuples = math.prod(len(array) for array in views.counts.values())
    assert views.tied_tuples(n_tuples) == views.tied_tuples()
    assert views.tied_tuples(limit=n_tuples - 1) is None


def test_tied_tuples_of_an_empty_domain():
    views = Viewset([1, 1], [np.zeros((0, 2), int), [[1, 1]]])
    assert views.tied_tuples() == 0
    assert Viewset([1, 1], [np.ones((9, 2), int)] * 40).tied_tuples() is None


# --- what must not change a prediction -------------------------------------------------------------------


@given(st.integers(0, 2**64))
def test_rows_columns_and_scale(seed):
    rng = random.Random(seed)
    views = random_views(rng, "smooth", rng.randint(1, 5), rng.randint(1, 4))
    columns, rows = some_rows(rng, views, 20)
    expected = views.order(columns)
    order = list(range(20))
    rng.shuffle(order)
    moved = {name: [values[row] for row in order] for name, values in columns.items()}
    assert np.array_equal(views.order(moved), expected[order])
    # All counts times a number: X is times that number.
    for factor in (3, 10**30):
        scaled = Viewset(
            views.class_counts.astype(object) * factor,
            {name: array.astype(object) * factor for name, array in views.counts.items()},
        )
        assert np.array_equal(scaled.order(columns), expected)
    names = list(columns)
    rng.shuffle(names)
    other = Viewset(views.class_counts, {name: views.counts[name] for name in names})
    assert np.array_equal(other.order(columns), expected)
    assert [views.classes[c] for c in expected[:, 0]] == reference.predict(views, rows)


# --- time and memory -------------------------------------------------------------------------------------


def test_progress():
    views = Viewset([2, 1], [[[2, 1], [1, 2]]])
    codes = np.zeros(2_500_000, np.uint8)
    for method in (views.predict, views.order, views.tied):
        for threads in (1, 2):
            calls = []
            method({"A1": codes}, threads=threads, progress=lambda *args, calls=calls: calls.append(args))
            assert calls[-1] == (2_500_000, 2_500_000)
            assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_eight_threads_at_once():
    rng = np.random.default_rng(1)
    views = Viewset.from_codes(rng.integers(0, 5, (500, 6)), rng.integers(0, 4, 500))
    table = Table({f"A{i}": rng.integers(0, 5, 200_000) for i in range(1, 7)})
    expected = views.predict(table, threads=1)

    def work(_):
        return all(np.array_equal(views.predict(table, threads=2), expected) for _ in range(3))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the resident size from /proc")
def test_memory_does_not_grow():
    script = """
    import gc, re, tracemalloc
    import numpy as np
    from nbcfast import Table, Viewset

    def kilobytes(field):
        return int(re.search(field + r":\\s*(\\d+) kB", open("/proc/self/status").read())[1])

    rng = np.random.default_rng(1)
    matrix, y = rng.integers(0, 20, (2_000, 4)), rng.integers(0, 5, 2_000)
    views = Viewset.from_codes(matrix, y, sizes=[20] * 4, n_classes=5)
    two = Viewset.from_codes(matrix, y % 2, sizes=[20] * 4, n_classes=2)
    huge = Viewset([10**40] * 3, [np.full((20, 3), 10**40, object)] * 4)
    table = Table({f"A{i + 1}": matrix[:, i] for i in range(4)})

    def once():
        views.predict(table, threads=2)
        views.order(table, alpha="1/3")
        two.tied(table)
        huge.predict(table.take(slice(0, 100)))
        try:
            views.predict({"A1": [77], "A2": [0], "A3": [0], "A4": [0]})
        except ValueError:
            pass

    for _ in range(100):
        once()
    tracemalloc.start()
    once()
    gc.collect()
    traced, resident = tracemalloc.get_traced_memory()[0], kilobytes("VmRSS")
    for _ in range(500):
        once()
    gc.collect()
    print(tracemalloc.get_traced_memory()[0] - traced, kilobytes("VmRSS") - resident)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    traced, resident = map(int, done.stdout.split())
    # One result kept each time would be megabytes.
    assert traced < 50_000
    assert resident < 4_096


def test_unknown_values_are_explained():
    views = nbcfast.count({"x": [1, 2], "y": ["a", "b"]}, "y")
    with pytest.raises(
        ValueError, match="value '1' is unknown to the views; the views hold values of kind int"
    ):
        views.predict({"x": ["1"]})
    binned = nbcfast.count(nbcfast.Table({"x": [1, 22], "y": ["a", "b"]}).bin("x", width=10), "y")
    with pytest.raises(ValueError, match="the views hold intervals: bin the table with their domain"):
        binned.predict({"x": [5]})
    later = nbcfast.Table({"x": [5, 25]}).bin("x", binned.domain("x"))
    assert binned.predict(later).tolist() == ["a", "b"]
