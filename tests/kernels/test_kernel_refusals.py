"""What kernels say to wrong callers: the argument, what was expected and what came, or which call is due."""

import numpy as np
import pytest

from nbcfast import (
    _advise,
    _associations,
    _classes,
    _codes,
    _groups,
    _margin,
    _roots,
    _skyline,
    _solve,
    _worlds,
    _zeros,
)
from nbcfast._columns import Columns
from nbcfast._partition import Joint, Level, Problem, Scratch

ONE, NINE = np.array([1], np.uint64), np.array([9], np.uint64)
SIZES = [4, 3]


def longs(*numbers):
    return np.array(numbers, np.int64)


def split(*, shared=False, rows=60):
    """A problem that was asked about the whole table, its scratches, a root and its records."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, size, rows).astype(np.uint8) for size in (*SIZES, 2)]
    totals = np.bincount(codes[2], minlength=2)
    points = [(0, 1, 1, ONE, NINE, False, True, 1e-9)] if shared else []
    positions = [np.arange(size) for size in SIZES]
    problem = Problem(SIZES, positions, [None, None], 2, 0, False, False, 2, None, None, totals, points)
    scratches = [Scratch(problem), Scratch(problem)]
    records = np.zeros((rows, problem.stride), np.uint8)
    problem.fill(Columns(codes, [*SIZES, 2], rows), [None] * 3, None, 0, rows, records)
    return problem, scratches, Level.root(SIZES, rows, rows), records


def test_the_order_of_calls_of_a_partition():
    problem, scratches, level, records = split(shared=True)
    other = np.zeros_like(records)
    span = level, scratches, 0, 1
    with pytest.raises(RuntimeError, match="admit must be called first"):
        problem.evaluate(level, scratches[0], 0, records, 0, 1)
    assert problem.admit(scratches[0])
    with pytest.raises(RuntimeError, match="admit must be called once, it was called before"):
        problem.admit(scratches[0])
    for call in (
        lambda: problem.children(*span),
        lambda: problem.commit(level, scratches, records, 0, 1),
        lambda: problem.commit_joint(level, scratches, Joint(problem), 0),
        lambda: problem.move(level, scratches, records, other, 0, 1),
        lambda: problem.move_some(level, scratches, 0, records, other),
    ):
        with pytest.raises(RuntimeError, match="node 0: evaluate must be called first"):
            call()
    problem.evaluate(level, scratches[1], 1, records, 0, 1)
    for call in (
        lambda: problem.children(*span),
        lambda: problem.move(level, scratches, records, other, 0, 1),
        lambda: problem.move_some(level, scratches, 0, records, other),
    ):
        with pytest.raises(RuntimeError, match="node 0: commit must be called first"):
            call()
    with pytest.raises(ValueError, match="evaluated with scratch 1, got 1 scratches"):
        problem.commit(level, scratches[:1], records, 0, 1)
    with pytest.raises(ValueError, match="evaluated with another scratch than number 1 of these"):
        problem.commit(level, scratches[::-1], records, 0, 1)
    problem.commit(level, scratches, records, 0, 1)
    assert problem.children(*span).n == 2
    scratches[1].forget()
    with pytest.raises(RuntimeError, match="evaluate must be called again, as its scratch has forgotten it"):
        problem.children(*span)
    with pytest.raises(ValueError, match="nodes cannot be finished one by one"):
        problem.finish(level, scratches[0], records, other, 0, 1)


def test_nodes_and_records_of_a_partition():
    problem, scratches, level, records = split()
    other = np.zeros_like(records)
    assert problem.admit(scratches[0])
    stranger = split()[1]
    with pytest.raises(ValueError, match="scratch must have been made for this problem"):
        problem.evaluate(level, stranger[0], 0, records, 0, 1)
    with pytest.raises(ValueError, match="joint must have been made for this problem"):
        problem.gather(records, Joint(split()[0]))
    with pytest.raises(ValueError, match="nodes 0 to 2 of 1"):
        problem.children(level, scratches, 0, 2)
    with pytest.raises(ValueError, match="node 1 of 1"):
        problem.move_some(level, scratches, 1, records, other)
    with pytest.raises(ValueError, match="rows and other must be arrays of their own"):
        problem.finish(level, scratches[0], records, records, 0, 1)
    with pytest.raises(ValueError, match="expected a level of 2 attributes, got 3"):
        problem.evaluate(Level.root([4, 3, 2], 60, 60), scratches[0], 0, records, 0, 1)
    with pytest.raises(ValueError, match="node 0: 60 rows cannot stand for 61 people"):
        problem.evaluate(Level.root(SIZES, 60, 61), scratches[0], 0, records, 0, 1)
    with pytest.raises(ValueError, match="joint must hold the counts of its 60 rows and 60 people"):
        problem.evaluate_joint(level, scratches[0], 0, Joint(problem), 0)
    with pytest.raises(TypeError, match="scratches must be Scratch objects, got NoneType"):
        problem.children(level, [None], 0, 1)
    with pytest.raises(ValueError, match="expected at least one scratch, got none"):
        problem.children(level, [], 0, 1)
    wrong = records.copy()
    wrong[7, 0] = 200  # a code that the attribute does not have
    for call in (
        lambda: problem.evaluate(level, scratches[0], 0, wrong, 0, 1),
        lambda: problem.finish(level, scratches[0], wrong, other, 0, 1),
        lambda: problem.gather(wrong, Joint(problem)),
    ):
        with pytest.raises(ValueError, match="rows must be records of this problem as fill makes them"):
            call()
    problem.evaluate(level, scratches[0], 0, records, 0, 1)
    moved = records.copy()
    moved[:, :2] = 0  # all to the left
    with pytest.raises(ValueError, match="node 0: rows must be those that it was evaluated with"):
        problem.move(level, scratches, moved, other, 0, 1)
    level.rows[0] = level.people[0] = 59
    with pytest.raises(ValueError, match="evaluated with 60 rows and 60 people, got 59 and 59"):
        problem.children(level, scratches, 0, 1)


@pytest.mark.parametrize("wrong", [0, -1, 2**32 + 1, 2**62, 2**63 - 1])
def test_values_of_a_skyline(wrong):
    offsets, values, counts, sizes = longs(0, 2), np.array([0, 1], np.uint32), longs(2, 1), longs(3)
    made = _skyline.Histograms(offsets, values, counts, sizes)
    with pytest.raises(ValueError, match=rf"n_values must be 1\.\.2\^32, got {wrong}"):
        _skyline.Scan(made, wrong, longs(1))
    tables = np.array([[0], [1], [1]]), np.array([[0], [1], [1]]), np.array([[1], [1], [1], [1]])
    with pytest.raises(ValueError, match=rf"n_values must be 1\.\.2\^32, got {wrong}"):
        _skyline.Tables(wrong, *tables)


def test_tables_of_a_skyline():
    vn, tw, mo = np.array([[0], [1], [1]]), np.array([[1], [1], [1]]), np.array([[1], [1], [1], [1]])
    with pytest.raises(ValueError, match="every value of tw must have entries in vn, value 1 has none"):
        _skyline.Tables(2, vn, tw, mo)
    with pytest.raises(ValueError, match=r"tw must have counts of at least 1 .* got 0 and 1"):
        _skyline.Tables(2, vn, np.array([[0], [0], [1]]), mo)
    with pytest.raises(ValueError, match="k and m must be at least 0"):
        _skyline.Tables(1, vn, vn, mo).breach(-1, 2**63 - 1)
    groups = _skyline.Histograms(longs(0, 1), np.zeros(1, np.uint32), longs(1), longs(1))
    with pytest.raises(ValueError, match=r"kind of 0\.\.2 and an l of 0\.\.2\^32, got 2 and -5"):
        _skyline.locate(groups, longs(2, 0, 1, 0, 0, -5, 0).reshape(1, 7))
    with pytest.raises(ValueError, match=r"c must be at least 0 and n \+ c below 2\^63, got -1 and 5 at 0"):
        _skyline.falls(longs(5), longs(-1), 2, np.empty(1))
    for counts, offsets in ((longs(2, -1), longs(0, 2)), (longs(2, 2), longs(0, 2))):
        scan = _skyline.Scan(
            _skyline.Histograms(offsets, np.array([0, 1], np.uint32), counts, longs(3)), 2, longs(1)
        )
        with pytest.raises(ValueError, match="counts must be at least 1 and add up to the sizes"):
            scan.add(0, 1)


def test_programs_and_systems():
    with pytest.raises(ValueError, match="scale must be finite and positive, got nan at 1"):
        _solve.Program(np.array([1, np.nan]), 1, 0)
    with pytest.raises(ValueError, match="tiny must be a share of at least 0 and below 1, got nan"):
        _solve.Program(np.ones(2), 1, np.nan)
    program = _solve.Program(np.full(2, 1e300), 2, 0)
    program.add(np.array([[0, 1], [1, 1]], np.int32), np.ones((2, 2), np.int8))
    with pytest.raises(ValueError, match="slack must be at least 0 and below 1, got nan"):
        program.solve(np.nan, 10, 10)
    with pytest.raises(ValueError, match=r"most must be 0\.\.2\^60 steps, got -1 after 0"):
        program.solve(0, -1, 10)
    with pytest.raises(ValueError, match="lead to numbers that floats hold"):
        program.solve(1e-9, 10, 10)
    with pytest.raises(RuntimeError, match="left the range of floats: make another one"):
        program.weights()
    signs = np.ones((1, 2), np.int8)
    system = _solve.System(longs(1, 1), np.array([[0, 1]], np.int32), signs, 101)
    with pytest.raises(RuntimeError, match="start must be called before digits"):
        system.digits(np.empty((1, 3), np.int64))
    with pytest.raises(ValueError, match=r"right sides must be below 2\^20 in size, got 1048576"):
        system.start(longs(0, 2**20), longs(1))


def test_sums_that_do_not_fit():
    big = longs(2**62)
    with pytest.raises(ValueError, match="totals must stay below 2"):
        _classes.changed_labels(np.zeros((1, 1), np.int8), big.reshape(1, 1), big.reshape(1, 1))
    with pytest.raises(ValueError, match="left must be sums of"):
        _margin.outer(big, longs(1), np.empty(1, np.int64))
    zero = np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="the product of their totals below 2"):
        _margin.dominance(zero, zero, zero, big, zero, big)
    logs, marks = np.full((1, 2), 2**62), np.zeros((1, 2), np.uint8)
    with pytest.raises(ValueError, match=r"logs must be at most 2\^61 in size"):
        _zeros.gains(logs, marks, longs(0, 1), 0, 1, 0, True, np.empty(1, np.int64), np.empty(1, np.int64))
    counts = np.ones((1, 1, 1), np.int64)
    with pytest.raises(ValueError, match=r"most_cost must be 0\.\.2\^50, got nan"):
        _worlds.posteriors(longs(1), counts, np.nan, np.empty((1, 1)), np.empty(1), np.empty(1, np.int8))
    places = np.zeros((1, 1), np.int64)
    results = np.empty((1, 1, 2), np.uint64), np.empty((1, 1), np.int64)
    with pytest.raises(ValueError, match="numbers must have their top bit set, number 0 has not"):
        _roots.products(np.ones((1, 2), np.uint64), longs(0), places, longs(0, 1), *results)
    columns = Columns([np.zeros(2, np.uint8)], [1], 2)
    for weights in (longs(1, 0), longs(1, -(2**63)), longs(2**62, 2**62)):
        grouper = _groups.Grouper(columns, _groups.HASH, weights)
        with pytest.raises(ValueError, match="weights must be at least 1 and add up to less than 2"):
            grouper.add(0, 2)
    rows = _codes.RowGrouper([np.zeros(2, np.uint8)])
    with pytest.raises(ValueError, match="weights must be at least 1, got a smaller one"):
        rows.add(0, 2, longs(1, 0))


def test_arrays_that_were_written_to():
    """What was looked at when it was given, and leads somewhere, is looked at again."""
    offsets, values, counts, sizes = longs(0, 1, 2), np.array([0, 1], np.uint32), longs(3, 3), longs(3, 3)
    scan = _skyline.Scan(_skyline.Histograms(offsets, values, counts, sizes), 2, longs(1))
    offsets[1] = 2**40
    with pytest.raises(ValueError, match="stay as they were given"):
        scan.add(0, 2)
    ids, joins = longs(0, 1), np.zeros(1, np.uint32)
    joiner = _associations.Joiner(
        ids, joins, longs(0, 1), np.zeros(1, np.uint32), np.array([0.5]), np.ones(1, np.uint8)
    )
    joins[0] = 2**31
    with pytest.raises(ValueError, match="must stay as they were given, got others since"):
        joiner.scan(0, 1, *(np.empty(1, np.int64) for _ in range(3)), np.empty(1))


def test_memory_that_is_read_and_written():
    order = np.zeros(3, np.int32)
    at = np.full(4, -1, np.int32)
    with pytest.raises(ValueError, match="at and order must be arrays of their own"):
        _classes.prefixes(np.zeros(3), at[1:], np.zeros(4), at)
    with pytest.raises(ValueError, match="at must begin with -1, got 5"):
        _classes.prefixes(np.zeros(3), order, np.zeros(4), np.full(4, 5, np.int32))
    sums = longs(0, 0, 0)
    exact = _margin.Exact(longs(1), longs(3), np.empty((0, 0), np.uint64), np.empty((0, 0), np.uint64), 0)
    with pytest.raises(ValueError, match="order and sums must be arrays of their own"):
        _margin.settle(sums.view(np.int32)[:3], sums, 1, exact)


def choices(**changed):
    """Two attributes of two options each, three rows of two classes, one fold."""
    counts = np.array([[1, 2], [1, 0], [2, 1], [0, 1]])
    with np.errstate(divide="ignore"):
        logs = np.log(counts)
    known = {
        "cells": np.array([[0, 1, 1], [0, 0, 1]], np.int32),
        "folds": np.zeros(3, np.int32),
        "weights": longs(1, 1, 3),
        "starts": longs(0, 2, 3),
        "first": longs(0, 2, 4),
        "sizes": longs(2, 2),
        "tables": longs(0, -1, 2, -1),
        "logs": logs,
        "counts": counts,
        "priors": np.log([[2.0, 3.0]]),
        "class_counts": np.array([[2, 3]]),
        "bound": 1e-6,
    }
    assert set(changed) <= set(known)
    return _advise.Choices(*(known | changed).values())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"starts": longs(0, 3)}, "starts must be of 2..65536 classes, got 1"),
        ({"starts": longs(0, 4, 3)}, "starts must not fall, got 4 before 3"),
        ({"starts": longs(0, 2, 4)}, "must be of 3 rows, got 3, 3 and 4"),
        ({"folds": np.zeros(2, np.int32)}, "must be of 3 rows, got 2, 3 and 3"),
        ({"folds": np.array([0, 1, 0], np.int32)}, "row 1: fold 1 of 1"),
        ({"weights": longs(1, 0, 1)}, "weights must be at least 1, and .* row 1 has 0"),
        ({"weights": longs(1, 1, 2**40)}, r"at most 2\^40, row 2 has 1099511627776"),
        ({"first": longs(0, 4)}, "must be of 2 attributes, and at least 1, got 1 and 2"),
        ({"first": longs(0, 2, 3)}, "first must go from 0 to 4 options, got 0 to 3"),
        ({"first": longs(0, 0, 4)}, "attribute 0 must have options, got 0 to 0"),
        ({"sizes": longs(2, 3)}, r"option 2: cells 2 to 2 \+ 3 of 4"),
        ({"sizes": longs(1, 2)}, "row 1: cell 1 of 1 of attribute 0"),
        ({"tables": longs(0, -2, 2, -1)}, r"option 1: cells -2 to -2 \+ 2 of 4"),
        ({"tables": longs(0, 3, 2, -1)}, r"option 1: cells 3 to 3 \+ 2 of 4"),
        ({"cells": np.array([[0, 1, -1], [0, 0, 1]], np.int32)}, "row 2: cell -1 of 2 of attribute 0"),
        ({"logs": np.zeros((4, 2))}, "logs must be logarithms of counts, -inf of 0 .* got 0.0 of 0"),
        ({"logs": np.full((4, 2), np.nan)}, "logs must be logarithms of counts, .* got nan of 1"),
        ({"counts": np.full((4, 2), -1)}, "logs must be logarithms of counts, .* of -1"),
        ({"counts": np.ones((3, 2), np.int64)}, "logs and counts must be 4 x 2, got 4 x 2 and 3 x 2"),
        ({"priors": np.zeros((2, 2))}, "priors and class_counts must be 1 x 2, got 2 x 2 and 1 x 2"),
        ({"bound": float("nan")}, "bound must be at least 0 and finite, got nan"),
        ({"bound": -1.0}, "bound must be at least 0 and finite, got -1.0"),
    ],
)
def test_choices_that_do_not_fit(changed, words):
    with pytest.raises(ValueError, match=words):
        choices(**changed)


def test_questions_that_do_not_fit_the_choices():
    asked, right, other = choices(), np.zeros(2, np.int64), np.zeros(2, np.int64)
    chosen, inner = np.array([0, -1], np.int32), np.array([0], np.int32)
    for arguments, words in (
        ((chosen[:1], inner, right), "chosen must be 2 options, got 1"),
        ((chosen + 2, inner, right), "attribute 0: option 2 of 2"),
        ((chosen - 1, inner, right), "attribute 1: option -2 of 2"),
        ((chosen, inner[:0], right), "inner must be 1..2 attributes, got 0"),
        ((chosen, inner + 2, right), "inner must be attributes of 2, got 2"),
        ((chosen, np.zeros(2, np.int32), right), "inner must name an attribute once, got 0 again"),
        ((chosen, inner, right[:1]), "these attributes have 2 combinations, got room for 1"),
    ):
        with pytest.raises(ValueError, match=words):
            asked.correct(*arguments)
    with pytest.raises(ValueError, match=r"bits must be 0\.\.30, got 31"):
        asked.losses(chosen, inner, 31, right, other)
    with pytest.raises(ValueError, match="2 finite sums but 1 infinite ones"):
        asked.losses(chosen, inner, 20, right, other[:1])
    with pytest.raises(ValueError, match="finite and infinite must be arrays of their own"):
        asked.losses(chosen, inner, 20, right, right)
    asked.correct(chosen, inner, right)
    # Counts of 1 and 2 in the first cell, of 1 and 0 in the second; without attributes 2 rows against 3.
    assert right.tolist() == [1, 3]
