"""The leak meter: what it measures, what it leaves unmeasured, and what it may not say."""

import importlib
import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from canonical_cases import ILL_OR_WELL, adult, labels

import nbcfast
from nbcfast import Table, Viewset, canonical


class TestLeak:
    def test_leave_one_out_is_that_of_brute_force(self):
        rng = np.random.default_rng(2)
        codes = rng.integers(0, 3, (24, 2))
        classes = rng.integers(0, 2, 24)
        table = Table({"a": codes[:, 0], "b": codes[:, 1], "c": classes})
        views = nbcfast.count(table, "c")
        found = canonical.leak(views, table=table, class_name="c", sample=24, intervals=False)
        unchanged = 0
        for row in range(24):
            fewer = nbcfast.count(table.take([i for i in range(24) if i != row], keep_domains=True), "c")
            unchanged += labels(fewer) == labels(views)
        assert (found.unchanged, found.sampled) == (unchanged / 24, 24)

    @pytest.mark.parametrize("sample", [40, 64, 1000])
    def test_leave_one_out_counts_people(self, sample):
        """Rows with weights give what the same people give, a row each."""
        codes = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (0, 0, 1)]
        weights = [30, 1, 25, 2, 1]
        rows = [row for row, weight in zip(codes, weights, strict=True) for _ in range(weight)]
        people, weighted = (
            Table(dict(zip("abc", zip(*of, strict=True), strict=True))) for of in (rows, codes)
        )
        weighted = Table(weighted, weights=weights)
        views = nbcfast.count(people, "c")
        assert nbcfast.count(weighted, "c") == views
        found = [
            canonical.leak(views, table=table, class_name="c", sample=sample, intervals=False)
            for table in (people, weighted)
        ]
        assert found[0] == found[1]
        assert found[0].sampled == min(sample, 59)
        if sample >= 59:
            unchanged = 0
            for person in range(59):
                fewer = people.take([i for i in range(59) if i != person], keep_domains=True)
                unchanged += labels(nbcfast.count(fewer, "c")) == labels(views)
            assert found[0].unchanged == unchanged / 59 not in (0, 1)

    def test_who_is_left_out_does_not_depend_on_the_order_of_rows(self):
        rng = np.random.default_rng(5)
        codes = rng.integers(0, 4, (60, 2))
        table = Table({"a": codes[:, 0], "b": codes[:, 1], "c": codes.sum(axis=1) // 4})
        views = nbcfast.count(table, "c")
        other = Table(table.take(rng.permutation(60)), domains={"b": [3, 1, 0, 2]})
        found = [
            canonical.leak(views, table=one, class_name="c", sample=7)
            for one in (table, table.take(range(59, -1, -1)), table.collapse(), other)
        ]
        assert found[0].sampled == 7
        assert found == found[:1] * 4

    def test_a_table_of_other_values_is_refused(self):
        table = Table({"a": [0, 1, 1], "c": [0, 0, 1]})
        views = nbcfast.count(table, "c")
        with pytest.raises(ValueError, match="table: value 7 of 'a' is not in the views"):
            canonical.leak(views, table={"a": [0] * 99 + [7], "c": [0] * 100}, class_name="c", sample=2)

    def test_the_table_of_others_is_refused(self):
        """What is left out has to have been in: of other people all would leave a trace, or none."""
        table = Table({"a": [0, 0, 1, 1], "c": [0, 1, 1, 1]})
        views = nbcfast.count(table, "c")
        for other in (
            table.take([0, 1, 3], keep_domains=True),
            Table({"a": [0, 0, 1, 1], "c": [0, 1, 0, 1]}),
            Table({"a": [0, 0, 1, 1], "c": [0, 1, 1, 1]}, weights=[1, 1, 1, 2]),
        ):
            with pytest.raises(
                ValueError, match=r"table must be the one that the views count: of value 1 of"
            ):
                canonical.leak(views, table=other, class_name="c", sample=2)
        with pytest.raises(ValueError, match=r"'a' in class 1 they have 2 rows, and it has 3$"):
            canonical.leak(views, table=other, class_name="c", sample=2)

    def test_people_beyond_every_float_are_sampled(self):
        table = Table({"a": [0, 1, 1], "c": [0, 0, 1]}, weights=[2**61, 1, 2**62])
        found = canonical.leak(nbcfast.count(table, "c"), table=table, class_name="c", intervals=False)
        assert (found.unchanged, found.sampled) == (1, 64)

    def test_intervals(self, monkeypatch):
        pytest.importorskip("scipy")
        # Only (1, 1) is of class 0. With the contrast of a given, that of b has a least value and no largest.
        views = Viewset([100, 100], {"a": [[10, 50], [90, 50]], "b": [[30, 60], [70, 40]]})
        assert labels(views) == [1, 1, 1, 0]
        assert canonical.leak(views, intervals=True).intervals == {"a": 0, "b": math.inf}
        # Two levels of b, and the contrast of b is the one that is known.
        views = Viewset([600, 600], {"a": [[50, 250], [150, 200], [400, 150]], "b": [[200, 400], [400, 200]]})
        found = canonical.leak(views, intervals=True)
        assert found.levels == {"a": (3, 3), "b": (2, 2)}
        assert found.intervals["b"] == 0
        assert found.intervals["a"] > 0
        assert found.no_intervals is None
        asked_for_nothing = canonical.leak(views)
        assert (asked_for_nothing.intervals, asked_for_nothing.no_intervals) == (None, None)
        monkeypatch.setitem(sys.modules, "scipy.optimize", None)
        with pytest.raises(ImportError, match=r"intervals of log-ratios need scipy: pip install scipy"):
            canonical.leak(views, intervals=True)
        assert canonical.leak(views) == asked_for_nothing

    def test_intervals_are_capped_by_counted_work(self, monkeypatch):
        scipy = pytest.importorskip("scipy.optimize")
        solved = []

        def counting(*arguments, A_ub, **more):
            solved.append(A_ub.nnz)
            return linprog(*arguments, A_ub=A_ub, **more)

        linprog = scipy.linprog
        monkeypatch.setattr(scipy, "linprog", counting)
        views = Viewset([600, 600], {"a": [[50, 250], [150, 200], [400, 150]], "b": [[200, 400], [400, 200]]})
        found = canonical.leak(views, intervals=True)
        work = sum(solved)
        solved.clear()
        monkeypatch.setattr(
            importlib.import_module("nbcfast.canonical.ratio_intervals"), "MOST_WORK", work - 1
        )
        capped = canonical.leak(views, intervals=True)
        assert solved == []
        assert capped.intervals is None
        assert capped.no_intervals == (
            f"6 linear programmes of {work // 6} numbers each are more than {work - 1} numbers together"
        )
        monkeypatch.setattr(importlib.import_module("nbcfast.canonical.ratio_intervals"), "MOST_WORK", work)
        assert canonical.leak(views, intervals=True) == found

    def test_the_bound_of_all_rules_is_not_said_to_bound_one(self):
        """The weights of one rule may be longer than rules are on average: both as bits at most is a lie."""
        views = Viewset([100, 100], {"a": [[10, 50], [90, 50]]})
        found = canonical.leak(views)
        assert "bound" not in repr(found)

    def test_results_read_well(self):
        found = canonical.leak(ILL_OR_WELL, intervals=False)
        assert not found.high
        assert "bits a weight" in found.verdict
        assert "levels" in repr(found)
        assert json.loads(json.dumps(found.to_dict()))["sampled"] == found.sampled

    def test_values_of_single_people_and_values_that_are_not_measured_are_named(self):
        rows = {"patient": [f"p{i}" for i in range(40)], "ward": ["a", "b"] * 20, "dx": [*"yynn"] * 10}
        table = nbcfast.Table(rows)
        found = canonical.leak(nbcfast.count(table, "dx"), table=table, class_name="dx")
        assert (found.alone, found.cells, found.values) == (40, 2, 42)
        assert "40 of 42 values are those of a single person each" in found.verdict
        assert found.verdict.endswith(
            "Not measured: what public totals give back of 40 of 42 values, which have no rows in some class."
        )
        assert (found.to_dict()["alone"], found.to_dict()["values"]) == (40, 42)

    def test_of_one_class_nothing_is_measured(self):
        found = canonical.leak(Viewset([40], {"job": [[20], [20]]}))
        assert (
            found.verdict == "Not measured: there is one class, and so the answers say nothing of the values."
        )
        assert repr(found) == "Leak(not measured: one class)"
        assert (found.to_dict()["unchanged"], found.to_dict()["recovered"]) == (None, None)

    def test_few_bits_do_not_calm_where_counts_come_back(self):
        views = Viewset([50, 50], {"job": [[20, 30], [30, 20]], "sex": [[11, 40], [39, 10]]})
        found = replace(canonical.leak(views), recovered=1)
        assert not found.high
        assert "which is few. It is no safety: public totals and the answers give back the counts of" in (
            found.verdict
        )
        assert f"1 of {found.cells} values" in found.verdict
        none = replace(found, recovered=0, unchanged=1.0)
        assert none.verdict.endswith("bits a weight: little more than which value beats which.")
        for one in (
            replace(none, unchanged=0.5),
            replace(none, alone=1),
            replace(none, cells=found.cells - 1),
            replace(none, cells=None, recovered=None),
        ):
            assert "little more" not in one.verdict
        assert replace(none, sampled=64, unchanged=61 / 64).verdict.endswith(
            "of 64 people looked at 3 leave a trace, and whoever knows all others reads off the answers "
            "whether such a one is among them."
        )
        assert "which is much. Public totals and the answers give back the counts of" in (
            replace(found, log2_range=9.0).verdict
        )

    def test_bad_arguments(self):
        with pytest.raises(TypeError, match="views must be a Viewset"):
            canonical.leak([1])
        with pytest.raises(ValueError, match="sample must be an int of at least 1, got 0"):
            canonical.leak(ILL_OR_WELL, sample=0)
        with pytest.raises(ValueError, match="class_name must name the class column"):
            canonical.leak(ILL_OR_WELL, table={"age": ["old"]}, intervals=False)
        with pytest.raises(TypeError, match="intervals must be a bool"):
            canonical.leak(ILL_OR_WELL, intervals=1)
        with pytest.raises(TypeError, match=r"^table: expected a Table, a mapping"):
            canonical.leak(ILL_OR_WELL, table=5, intervals=False)
        with pytest.raises(ValueError, match="preserve must be 'label' or 'order', got 'x'"):
            canonical.leak(ILL_OR_WELL, preserve="x")
        for call in (canonical.leak, canonical.box):
            with pytest.raises(TypeError, match="progress must be callable or None, got str"):
                call(ILL_OR_WELL, progress="x")


class TestAdult:
    def test_the_meter(self, data):
        pytest.importorskip("scipy")
        found = canonical.leak(adult(data, ["age", "education_num"]))
        assert (found.recovered, found.cells) == (0, 80)
        assert found.levels == {"age": (5, 73), "education_num": (5, 16)}
        assert not found.high
        found = canonical.leak(adult(data), intervals=True)
        assert found.high
        assert "declare bins that are fixed in advance" in found.verdict
        assert found.counting_bound == pytest.approx(10.7, abs=0.05)
        assert found.intervals["age"] < 0.5
        assert 0.35 <= found.unchanged <= 0.7
