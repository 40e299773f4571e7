"""Arguments and answers of margin and compare; threads, progress and interrupts."""

import itertools
import math
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest
from equivalence_cases import census, nearly

from nbcfast import SUPPRESSED, Table, Viewset, _margin
from nbcfast._halves.lines import Line
from nbcfast._halves.split import TwoHalves
from nbcfast._halves.terms import FixedLogs, Term
from nbcfast.equivalence import Comparer, Comparison, Enumerated, Margin, bound, compare, margin
from nbcfast.equivalence import pairwise as pairwise_module
from nbcfast.reference import equivalence as reference


def test_safety_note_cases():
    """docs/mathematics/safety.md, a and c: Step 1 as printed, ties 4 * 4 = 2 * 8, the additive tie rule."""
    a = Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]])
    b = Viewset([2, 1], [[[0, 1], [2, 1]], [[1, 1], [1, 0]]])
    found = compare(a, b)
    assert (found.differing, found.witness) == (1, {"A1": 1, "A2": 0})
    four = Viewset([20, 20], [[[4, 2], [16, 18]], [[4, 8], [16, 12]]])
    assert not Enumerated(four).truth[0, 0, 0]
    delta = Viewset([200_000, 200_000], [[[10_000, 40_000]], [[160_000, 40_000]]])
    tilted = Viewset([200_000, 200_000], [[[10_009, 40_010]], [[160_009, 40_010]]])
    assert reference.compare(delta, tilted) == (1, 1)
    assert compare(delta, tilted).differing == 1


def test_no_verdict_where_sums_and_integers_disagree(monkeypatch):
    """That cannot be; if it were, either could be wrong."""
    monkeypatch.setattr(pairwise_module, "differing_classes", lambda *rows, labels: None)
    a = Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    with pytest.raises(RuntimeError, match="by sums of logarithms and not by integers, which is a fault"):
        compare(a, Viewset([5, 5], {"job": [[3, 2], [2, 3]]}))


def test_attributes_and_values_are_found_by_name():
    a = Viewset(
        [5, 5],
        {"job": [[2, 3], [3, 2]], "age": [[1, 0], [4, 5]]},
        domains={"job": ["clerk", None], "age": [1, 2]},
    )
    b = Viewset(
        [5, 5],
        {"age": [[4, 5], [1, 0]], "job": [[2, 3], [3, 2]]},
        domains={"job": ["clerk", None], "age": [2.0, 1.0]},
    )
    assert compare(a, b) == Comparison(True, 0, 4, None, None, "order", "enumeration")
    found = compare(
        a,
        Viewset(
            [5, 5],
            {"job": [[3, 2], [2, 3]], "age": [[1, 0], [4, 5]]},
            domains={"job": ["clerk", None], "age": [1, 2]},
        ),
    )
    assert (found.differing, found.witness) == (2, {"job": "clerk", "age": 2})
    assert found.witness in [{"job": job, "age": 2} for job in ("clerk", None)]


def test_rows_of_a_table():
    a = Viewset([5, 5, 5], {"job": [[2, 3, 1], [3, 2, 4]]})
    b = Viewset([5, 5, 5], {"job": [[3, 2, 1], [3, 2, 4]]})
    found = compare(a, b, on={"job": [0, 1, 0], "other": [1, 2, 3]})
    assert found.rows.tolist() == [0, 2]
    assert compare(a, b, "label", on=Table({"job": [1, 1]})).rows.tolist() == []
    assert compare(a, b, "label").differing == 1
    c = Viewset([5, 5, 5], {"job": [[2, 3, 1], [2, 3, 4]]})
    assert compare(a, c, "label").equal
    assert compare(a, c, on={"job": [1]}).rows.tolist() == [0]


def test_single_class_one_value_and_nothing():
    one = Viewset([3], [[[1], [2]]])
    assert compare(one, Viewset([7], [[[0], [7]]])).equal
    assert margin(one).log == math.inf
    flat = Viewset([3, 3], [[[3, 3]]])
    assert margin(flat) == Margin(math.inf, math.inf, None, None, True, "enumeration", 1)
    assert compare(flat, flat, "label").tuples == 1
    bare = Viewset([3, 4], [])
    assert margin(bare).log == reference.log(Fraction(4, 3))
    assert margin(bare).witness == {}
    assert compare(bare, Viewset([4, 3], [])).witness == {}
    empty = Viewset([3, 4], [np.zeros((0, 2), int)])
    assert (compare(empty, empty).tuples, compare(empty, empty).equal) == (0, True)
    assert margin(empty).log == math.inf
    assert Enumerated(empty).violations(empty) == 0
    without_rows = Viewset([3, 0, 3], [[[1, 0, 2], [2, 0, 1]]])
    assert margin(without_rows).log == math.log(2)
    assert compare(without_rows, without_rows).equal


def test_results_read_well():
    views = Viewset(
        [5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"], domains={"job": ["a", SUPPRESSED]}
    )
    found = margin(views)
    assert repr(found) == (
        "Margin(0.4054651081081644: 'yes' over 'no' at {'job': 'a'}; 2 tuples, enumeration)"
    )
    assert found.to_dict()["classes"] == ["yes", "no"]
    assert "at least" in repr(bound(views))
    assert "no two positive scores differ" in repr(margin(Viewset([1, 1], [])))
    other = compare(views, views, on={"job": ["a"]})
    assert repr(other) == "Comparison(equal order on all 2 tuples, enumeration; 0 rows of the table differ)"
    assert other.to_dict()["rows"] == []
    with pytest.raises(AttributeError):
        other.equal = None
    tiny = bound(Viewset([999, 1000], [[[400, 500], [599, 500]]] * 400))
    assert tiny.log == 0.0
    assert -9000 < tiny.log2 < -7000
    assert repr(tiny).startswith("Margin(at least 2^-")


def test_refusals():
    a = Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    with pytest.raises(ValueError, match="preserve must be 'order' or 'label', got 'rank'"):
        compare(a, a, "rank")
    with pytest.raises(ValueError, match="same classes in the same precedence, got"):
        compare(a, Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=[1, 0]))
    with pytest.raises(ValueError, match="same attributes, got 'age' in one of them"):
        compare(a, Viewset([5, 5], {"age": [[2, 3], [3, 2]]}))
    with pytest.raises(ValueError, match="attribute 'job': value 2 is in the domain of one viewset only"):
        compare(a, Viewset([5, 5], {"job": [[2, 3], [3, 2], [0, 0]]}))
    with pytest.raises(ValueError, match="attribute 'job': value 1 is in the domain of one viewset only"):
        compare(a, Viewset([5, 5], {"job": [[2, 3]]}))
    nothing = Viewset([0, 0], {"job": [[0, 0], [0, 0]]})
    for ask in (margin, bound, Enumerated, Comparer, lambda b: compare(a, b), lambda b: compare(b, a)):
        with pytest.raises(ValueError, match="no rows"):
            ask(nothing)
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        margin(a, threads=0)
    with pytest.raises(ValueError, match="at most 10000000 tuples can be held, got 1000000000000"):
        Enumerated(Viewset([1], [np.ones((10**6, 1), int)] * 2))
    with pytest.raises(ValueError, match=r"expected counts of 2 classes and \(2,\) values"):
        Enumerated(a).violations(([5, 5], [[[1, 2]]]))


def test_kernel_refuses_what_does_not_fit():
    i32, i64 = np.zeros(2, np.int32), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="out must have 4 places, got 2"):
        _margin.outer(i64, i64, i64)
    with pytest.raises(ValueError, match="place 1: index 5 outside"):
        _margin.Lists(i64, np.array([0, 5], np.int32), i64, i32, 1)
    with pytest.raises(ValueError, match="a half must have"):
        _margin.Exact(
            np.array([0]), np.array([1]), np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), 1
        )
    exact = _margin.Exact(
        np.array([2]), np.array([2]), np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), 1
    )
    lists = _margin.Lists(i64, i32, i64, i32, 1)
    with pytest.raises(ValueError, match="above must have 2 places, got 3"):
        lists.thresholds(0, 0, exact, np.zeros(0, np.uint64), np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="base must be 0 limbs, got 1"):
        lists.nearest(0, 0, exact, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="place 0: index 9 outside"):
        _margin.dominance(i32, np.array([9, 0], np.int32), i32, i64, i32, i64)
    two, one = np.zeros((1, 2), np.int32), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="start and stop must be in"):
        _margin.enumerated(two, two, two, two, one, one, 2, False, i64, i64, 0, 3)


def fewer_classes(views, n_classes):
    return Viewset(
        views.class_counts[:n_classes], [array[:, :n_classes].copy() for array in views.counts.values()]
    )


def test_no_verdict_where_precise_logarithms_do_not_decide():
    class Undecided:
        def nearest(self, *_):
            return False

    line = Line(
        Term(0, 1, 1), [[Term.of(2, 1), Term.of(1, 2)]], TwoHalves((), (), (0,), 1, 1, 2), FixedLogs()
    )
    with pytest.raises(RuntimeError, match="did not decide, which is a fault of nbcfast; please report it"):
        line.nearest(Undecided(), (), True)


def test_long_work_goes_on_after_a_look_for_interrupts():
    """More comparisons than are made at a time: sums that only limbs tell apart, and dominance."""
    rng = np.random.default_rng(4)
    terms = [Term.of(*row) for row in (10**15 + rng.integers(0, 10**6, (40_000, 2))).tolist()]
    line = Line(Term(0, 1, 1), [terms], TwoHalves((), (), (0,), 1, 1, len(terms)), FixedLogs())
    _, order = line.list_b()
    assert sorted(order.tolist()) == list(range(len(terms)))
    ordered = [terms[place] for place in order.tolist()]
    assert all(x.up * y.down <= y.up * x.down for x, y in itertools.pairwise(ordered))
    n, m = 600_000, 30
    above, above_too = rng.integers(0, m + 1, (2, n)).astype(np.int32)
    weight, rank_weight = rng.integers(1, 4, n), rng.integers(1, 4, m)
    rank = rng.permutation(m).astype(np.int32)
    found = _margin.dominance(
        np.argsort(-above).astype(np.int32), above, above_too, weight, rank, rank_weight
    )
    k, t = np.mgrid[: m + 1, : m + 1]
    counted = (np.arange(m) >= k[..., np.newaxis]) & (rank < t[..., np.newaxis])
    assert found == np.dot(weight, (counted * rank_weight).sum(axis=2)[above, above_too])


def test_threads_and_progress_change_nothing():
    a = census((73, 94, 16, 14, 9, 7), 3)
    b = nearly(a, 100)
    calls = []
    results = {
        threads: (margin(a, threads=threads), compare(a, b, threads=threads)) for threads in (1, 2, None)
    }
    assert len(set(map(repr, results.values()))) == 1
    assert margin(a, progress=lambda done, total: calls.append((done, total))) == results[1][0]
    assert calls == [(done, 6) for done in range(1, 7)]
    for other, n_classes, preserve in ((a, 3, "order"), (b, 3, "order"), (b, 3, "label"), (b, 2, "order")):
        calls.clear()
        mine, theirs = (fewer_classes(views, n_classes) for views in (a, other))
        found = compare(mine, theirs, preserve, progress=lambda done, total: calls.append((done, total)))
        assert found.equal is (other is a)
        assert len(calls) > 2
        assert calls == sorted(calls)
        assert all(0 < done <= total for done, total in calls)
        assert calls[-1][0] == calls[-1][1]
    # Halves so long that a second thread is worth while.
    wide = census((73, 94, 16, 14, 9, 7, 50, 11))
    wide_too = nearly(wide, 10**5)
    results_of_wide = [(margin(wide, threads=k), compare(wide, wide_too, threads=k)) for k in (1, 2)]
    assert repr(results_of_wide[0]) == repr(results_of_wide[1])
    assert results_of_wide[0][1].differing > 0
    # Callers in threads of their own share nothing that changes.
    found = []
    workers = [threading.Thread(target=lambda: found.append(compare(a, b))) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [results[1][1]] * 3


def test_interrupt_is_answered():
    """Between two attributes; the kernels look for signals themselves (test_interrupts.py)."""
    views = census((73, 94, 16, 14, 9, 7), 3)
    calls = []

    def pressed(*call):
        calls.append(call)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        margin(views, progress=pressed)
    assert calls == [(1, 6), (2, 6), (3, 6)]
