"""The leak meter: what it measures, what it leaves unmeasured, and what it may not say."""

import dataclasses
import importlib
import itertools
import json
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from canonical_cases import ADULT, ILL_OR_WELL, adult, labels

import nbcfast
from nbcfast import Table, Viewset, canonical
from nbcfast.canonical.leave_one_out import at_most


class TestLeak:
    def test_everybody_is_looked_at(self):
        """Rows of a table: with one left out, or of the other class, labels are counted anew."""
        rng = np.random.default_rng(2)
        codes = rng.integers(0, 3, (24, 2))
        classes = np.arange(24) // 12
        table = Table({"a": codes[:, 0], "b": codes[:, 1], "c": classes})
        views = nbcfast.count(table, "c")
        found = canonical.leak(views, table=table, class_name="c")
        trace = flip = 0
        for row in range(24):
            fewer = nbcfast.count(table.take([i for i in range(24) if i != row], keep_domains=True), "c")
            trace += labels(fewer) == labels(views)
            other = np.where(np.arange(24) == row, 1 - classes, classes)
            flip += labels(nbcfast.count({"a": codes[:, 0], "b": codes[:, 1], "c": other}, "c")) == labels(
                views
            )
        assert (found.trace, found.flip) == (trace / 24, flip / 24)
        assert 0 < found.flip < found.trace < 1
        assert (found.sampled, found.exact, found.of_table) == (24, True, True)
        assert (found.flip_shows_at_most, found.trace_shows_at_most) == (None, None)
        assert (found.shows_class, found.shows_presence) == (24 - flip, 24 - trace)

    @pytest.mark.parametrize("sample", [None, 40, 64, 1000])
    def test_people_are_counted(self, sample):
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
            canonical.leak(views, table=table, class_name="c", sample=sample) for table in (people, weighted)
        ]
        assert found[0] == found[1]
        assert found[0].sampled == (40 if sample == 40 else 59)
        assert found[0].exact == (sample != 40)
        if found[0].exact:
            trace = 0
            for person in range(59):
                fewer = people.take([i for i in range(59) if i != person], keep_domains=True)
                trace += labels(nbcfast.count(fewer, "c")) == labels(views)
            assert found[0].trace == trace / 59 not in (0, 1)

    def test_a_sample_has_its_bound(self):
        """None of 64 proves no more than that less than 4.6 % show."""
        assert at_most(0, 64) == pytest.approx(1 - 0.05 ** (1 / 64), abs=1e-12)
        assert at_most(64, 64) == 1
        for shown, looked_at in ((1, 5), (3, 64), (63, 64), (12, 1500)):
            share, n = Fraction(at_most(shown, looked_at)), looked_at
            chance = sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(shown + 1))
            assert float(chance) == pytest.approx(0.05, abs=1e-9)
        views = Viewset([5000, 5000], {"a": [[2000, 3000], [3000, 2000]]})
        found = canonical.leak(views, sample=64)
        assert (found.flip, found.exact, found.of_table) == (1, False, False)
        assert found.flip_shows_at_most == found.trace_shows_at_most == at_most(0, 64)
        nothing = dataclasses.replace(found, found=0, found_near=0)
        assert nothing.findings == ()
        assert "at most 4.6 % of all can show, 95 % sure" in nothing.verdict
        one = dataclasses.replace(nothing, flip=63 / 64, flip_shows_at_most=at_most(1, 64))
        assert "the class of 1 of 64 people drawn as the classifier sees them (at most 7.2 %" in one.verdict

    def test_more_work_than_a_second_is_sampled(self, monkeypatch):
        rng = np.random.default_rng(5)
        table = Table({"a": rng.integers(0, 4, 300), "b": rng.integers(0, 4, 300), "c": np.arange(300) % 2})
        views = nbcfast.count(table, "c")
        assert canonical.leak(views, table=table, class_name="c").exact
        module = importlib.import_module("nbcfast.canonical.leak")
        one = 2 * (4 + 4)  # changes of a row, sums of both halves
        for most, sampled in ((31 * one, 31), (10 * one, 12), (one - 1, 12)):
            monkeypatch.setattr(module, "MOST_WORK", most)
            monkeypatch.setattr(module, "LARGE", 63 * one)
            found = canonical.leak(views, table=table, class_name="c")
            assert (found.exact, found.sampled) == (False, sampled)
            assert found.flip_shows_at_most > 1 - found.flip
            assert found.trace_shows_at_most > 1 - found.trace
        monkeypatch.setattr(module, "LARGE", 64 * one)
        assert canonical.leak(views, table=table, class_name="c").sampled == 64
        monkeypatch.setattr(module, "LARGE", 63 * one)
        monkeypatch.setattr(module, "MOST_WORK", 31 * one)
        monkeypatch.setattr(module, "MOST_SAMPLE", 20)
        assert canonical.leak(views, table=table, class_name="c").sampled == 20

    def test_who_is_sampled_does_not_depend_on_the_order_of_rows(self):
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
        views = nbcfast.count(table, "c")
        found = canonical.leak(views, table=table, class_name="c", sample=64)
        assert (found.trace, found.sampled, found.exact) == (1, 64, False)
        found = canonical.leak(views, table=table, class_name="c")
        assert (found.sampled, found.exact) == (2**61 + 1 + 2**62, True)
        assert (found.trace, found.shows_presence) == (1, 0)
        # Of so many people one who shows does not vanish in a share.
        table = Table({"a": [0, 1, 0, 1, 2], "c": [0, 0, 1, 1, 0]}, weights=[2**60, 5, 9, 2**60, 1])
        found = canonical.leak(nbcfast.count(table, "c"), table=table, class_name="c")
        assert 1 - 1e-15 < found.trace < 1
        assert found.shows_presence >= 1

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

    def test_bounds_are_those_of_the_classes_that_there_are(self):
        """With three classes 2 x 2 x 2 tuples have 2,937 label functions: 11.52 bits, and not 10.77."""
        rng = np.random.default_rng(1)
        known = set()
        for _ in range(20):
            weights = rng.integers(-9, 10, (2000, 3, 2, 3))
            a, b, c = (weights[:, i] for i in range(3))
            totals = (a[:, :, None, None] + b[:, None, :, None] + c[:, None, None]).reshape(-1, 8, 3)
            known |= {tuple(row) for row in (2 - totals[:, :, ::-1].argmax(axis=2)).tolist()}
        # Whatever renames classes, values or attributes goes from a label function to another.
        for permuted in itertools.permutations(range(3)):
            known |= {tuple(permuted[label] for label in row) for row in known}
        known = [np.reshape(row, (2, 2, 2)) for row in known]
        for axis in range(3):
            known = [cube for one in known for cube in (one, np.flip(one, axis))]
        functions = {
            cube.transpose(axes).tobytes() for cube in known for axes in itertools.permutations(range(3))
        }
        assert len(functions) == 2937
        three = Viewset(
            [10, 10, 10], [[[4, 5, 6], [6, 5, 4]], [[3, 5, 7], [7, 5, 3]], [[2, 5, 8], [8, 5, 2]]]
        )
        found = canonical.leak(three)
        assert 10.77 < math.log2(2937) <= found.total_bits == pytest.approx(8 * math.log2(3))
        assert found.counting_bound == pytest.approx(math.log2(math.e * 24 / 8))
        assert canonical.leak(three, preserve="order").total_bits == pytest.approx(8 * math.log2(6))
        # Of two classes as before, and of a large domain the bound by weights is the lesser one.
        assert canonical.leak(ILL_OR_WELL).total_bits == 6
        four = Viewset([10] * 4, [[[3, 2, 4, 1], [4, 5, 2, 3], [3, 3, 4, 6]]] * 4)
        assert canonical.leak(four).total_bits == pytest.approx(1 + 27 * math.log2(math.e * 81 * 6 / 27))

    def test_values_of_one_class_give_people_away_whatever_the_bits(self):
        """The third job's only holder is of class 0 for certain, by 1.6 bits a weight."""
        views = Viewset(
            [50, 50], {"job": [[25, 25], [24, 25], [1, 0]], "sex": [[30, 20], [20, 30]]}, classes=["n", "y"]
        )
        found = canonical.leak(views)
        assert found.bits < 1.6
        assert (found.one_class_values, found.one_class_people, found.alone) == (1, 1, 1)
        assert found.verdict.startswith(
            "The answers give people away: 1 of 5 values are had by people of one class only (at most "
            "1 person)"
        )
        # Nothing else has to be found for that.
        nothing = dataclasses.replace(found, flip=1.0, trace=1.0, found=0, found_near=0, alone=0)
        assert len(nothing.findings) == 1
        assert nothing.verdict.startswith("The answers give people away: 1 of 5 values")

    def test_smoothed_zeros_are_no_rule_and_no_secret(self):
        views = Viewset([50, 50], {"job": [[25, 25], [24, 25], [1, 0]], "sex": [[30, 20], [20, 30]]})
        found = canonical.leak(views, alpha=1)
        assert (found.smoothed, found.one_class_values, found.alone) == (True, 1, 1)
        assert "whoever has" not in found.verdict
        assert "what was added to the counts hides it from nobody who knows that number" in found.verdict

    def test_people_of_one_class_are_counted_once(self):
        rows = {"a": [0, 0, 0, 0, 1, 1], "b": [0, 0, 0, 1, 2, 2], "c": [0, 1, 1, 0, 1, 1]}
        views = nbcfast.count({name: 3 * column for name, column in rows.items()}, "c")
        # a is 1 and b is 2 for the same people of class 1, and b is 1 for some of class 0.
        found = canonical.leak(views)
        assert (found.one_class_values, found.one_class_people, found.of_table) == (3, 15, False)
        found = canonical.leak(
            views, table={name: 3 * column for name, column in rows.items()}, class_name="c"
        )
        assert (found.one_class_values, found.one_class_people, found.of_table) == (3, 9, True)

    def test_a_value_that_nobody_has_is_of_no_class(self):
        views = Viewset([20, 20], {"a": [[5, 9], [15, 11], [0, 0]]})
        found = canonical.leak(views)
        assert (found.one_class_values, found.one_class_people, found.cells) == (0, 0, 2)

    def test_more_risk_is_more_warnings(self):
        """Whatever is worse leaves every other finding where it is, and bits alone calm nobody."""
        calm = dataclasses.replace(
            canonical.leak(ILL_OR_WELL),
            flip=1.0,
            trace=1.0,
            found=0,
            found_near=0,
            alone=0,
            one_class_values=0,
            one_class_people=0,
            sampled=64,
            exact=False,
            of_table=True,
            flip_shows_at_most=at_most(0, 64),
            trace_shows_at_most=at_most(0, 64),
        )
        assert calm.findings == ()
        assert calm.verdict.startswith(
            "Nothing was found: whoever knows all other people reads neither class"
        )
        assert (
            "64 people looked at off the answers (at most 4.6 % of all can show, 95 % sure)" in calm.verdict
        )
        assert "Not tried:" in calm.verdict
        assert "bits" not in calm.verdict
        worse = [
            {"flip": 0.5},
            {"trace": 0.5},
            {"found": 1},
            {"found_near": 1},
            {"alone": 1},
            {"one_class_values": 1, "one_class_people": 3},
            {"bits": 9.0},
        ]
        for changes in worse:
            one = dataclasses.replace(calm, **changes)
            assert len(one.findings) == 1
            assert one.verdict.startswith("The answers give people away: ")
            assert one.verdict.endswith("What helps is a coarser domain (`nbcfast advise`), or noise.")
        everything = dataclasses.replace(calm, **{key: value for one in worse for key, value in one.items()})
        assert len(everything.findings) == len(worse) - 1  # counts that are found, and near, are one

    def test_of_one_class_nothing_is_measured(self):
        found = canonical.leak(Viewset([40], {"job": [[20], [20]]}))
        assert (
            found.verdict == "Not measured: there is one class, and so the answers say nothing of the values."
        )
        assert repr(found) == "Leak(not measured: one class)"
        assert not found.measured
        assert {found.to_dict()[name] for name in ("flip", "trace", "found", "one_class_values", "bits")} == {
            None
        }

    def test_results_read_well(self):
        found = canonical.leak(ILL_OR_WELL)
        assert not found.high
        assert "bits a weight" in repr(found)
        assert "levels" in repr(found)
        fields = json.loads(json.dumps(found.to_dict()))
        assert {field.name for field in dataclasses.fields(found)} <= fields.keys()
        assert fields["sampled"] == found.sampled
        assert fields["findings"] == list(found.findings)

    def test_bad_arguments(self):
        with pytest.raises(TypeError, match="views must be a Viewset"):
            canonical.leak([1])
        with pytest.raises(ValueError, match="sample must be an int of at least 1, got 0"):
            canonical.leak(ILL_OR_WELL, sample=0)
        with pytest.raises(ValueError, match=r"class_name must name the class column .*got None"):
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
        assert found.levels == {"age": (5, 73), "education_num": (5, 16)}
        assert not found.high
        found = canonical.leak(adult(data), intervals=True)
        assert found.high
        assert found.counting_bound == pytest.approx(10.7, abs=0.05)
        assert found.intervals["age"] < 0.5

    @pytest.mark.parametrize("classes", [(">50K", "<=50K"), ("<=50K", ">50K")])
    def test_presence_is_not_the_class(self, data, classes):
        """Of every second person nobody sees whether he is in, and of nearly all the class shows."""
        table = nbcfast.read_csv(data / "adult-train.csv", columns=[*ADULT, "income"])
        views = nbcfast.count(table, "income", classes=classes)
        found = canonical.leak(views, table=table, class_name="income")
        assert (found.exact, found.sampled) == (True, 32_561)
        assert found.trace == pytest.approx(0.5257, abs=2e-4)
        assert found.flip == pytest.approx(0.0027, abs=1e-4)

    def test_tens(self, data):
        """Age and hours in tens: nearly nobody's presence shows, and the class of one in twenty."""
        table = nbcfast.read_csv(data / "adult-train.csv", columns=[*ADULT, "income"])
        for name, edges in (("age", [*range(10, 90, 10), 100]), ("hours_per_week", [*range(0, 80, 10), 100])):
            table = table.bin(name, edges)
        views = nbcfast.count(table, "income", classes=(">50K", "<=50K"))
        found = canonical.leak(views, table=table, class_name="income")
        assert found.trace == pytest.approx(0.9948, abs=1e-4)
        assert found.flip == pytest.approx(0.9436, abs=1e-4)
        assert not found.high
        assert "the class of 1,8" in found.verdict  # of 32,561 people


class TestSmoothed:
    """The meter of a smoothed classifier: who attacks it knows what was added."""

    def test_what_was_added_is_known_to_the_attacker(self):
        rng = np.random.default_rng(8)
        arrays = [
            np.stack([rng.multinomial(p, rng.dirichlet(np.ones(9))) for p in (300, 500)], 1) for _ in "abcde"
        ]
        views = Viewset([300, 500], arrays)
        found = canonical.leak(views, alpha="1/2")
        assert found.cells == sum(int(array.any(axis=1).sum()) for array in arrays)
        assert found.found > found.cells / 2 > found.null_found

    def test_values_of_one_class_are_no_hard_rules_any_more(self):
        views = Viewset([50, 50], {"job": [[25, 25], [24, 25], [1, 0]], "sex": [[30, 20], [20, 30]]})
        assert canonical.leak(views).levels["job"] == (2, 3)
        found = canonical.leak(views, alpha=40)
        assert found.levels["job"] == (1, 3)
        assert found.one_class_values == 1  # of the rows, which smoothing does not change

    def test_the_intervals_are_of_its_log_ratios(self):
        pytest.importorskip("scipy")
        views = Viewset([40, 50], {"a": [[10, 30], [20, 15], [10, 5]], "b": [[30, 20], [10, 30]]})
        assert canonical.leak(views, intervals=True, alpha=1).intervals["b"] == 0

    def test_bad_numbers(self):
        views = Viewset([40, 50], {"a": [[10, 30], [30, 20]]})
        with pytest.raises(ValueError, match="alpha must be positive, got 0"):
            canonical.leak(views, alpha=0)
