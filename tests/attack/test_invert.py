"""Inversion: what comes back of powers of counts, and what was not tried."""

import re
import tracemalloc

import numpy as np
import pytest
from attack_cases import SIX, SIX_ROWS, TEN
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, Viewset, attack
from nbcfast.attack import cross_ratios, inverting
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release

IDENTITY = {"equivalence": "identity", "differing_tuples": 0}


class TestInvert:
    def test_a_release_without_gauge_gives_its_counts_back(self, workers):
        *_, views = workers
        release = nbcfast.safety_transform(
            views, 4, rows=10**6, gauge=False, allow_differences=True, class_name="income"
        )
        found = attack.invert(release, truth=views)
        assert found.attack == "column"
        assert found.recovered >= 0.95 * found.positive > 250
        assert found.confidence > 0.999
        table = attack.invert(release.dataset(np.random.default_rng(1)), "income", truth=views)
        assert (table.k, table.recovered) == (found.k, found.recovered)

    def test_a_release_of_the_default_settings_gives_nothing_back(self, workers):
        table, _, views = workers
        release = nbcfast.safety_transform(views, 4, class_name="income")
        assert attack.invert(release, truth=views).recovered <= 5
        assert attack.invert(release, truth=table).recovered <= 5

    def test_a_proven_release_gives_its_cross_ratios_back(self, workers):
        """At 8 digits the gauge hides columns, not cross ratios."""
        *_, views = workers
        release = nbcfast.safety_transform(views, 4, rows="proven")
        calls = []
        found = attack.invert(release, truth=views, progress=lambda done, total: calls.append((done, total)))
        assert found.attack == "cross-ratio"
        assert found.recovered >= 20
        assert calls
        assert all(0 <= done <= total for done, total in calls)
        plain = attack.invert(nbcfast.safety_transform(views, 4, rows="proven", gauge=False), truth=views)
        assert plain.attack == "column"
        assert plain.recovered >= 0.95 * plain.positive > 250

    def test_adult_without_gauge(self, adult):
        """Most of the 311 counts of age and hours in 10^6 rows: docs/mathematics/safety.md, section m."""
        _, views = adult
        release = nbcfast.safety_transform(
            views, 4, rows=10**6, gauge=False, allow_differences=True, class_name="income"
        )
        found = attack.invert(release, truth=views)
        hits = [found.by_attribute[name] for name in ("age", "hours_per_week")]
        assert sum(positive for _, positive in hits) == 311
        assert sum(right for right, _ in hits) >= 250
        assert found.attack == "column"
        assert found.confidence > 0.999
        # How many are right is what the certainties say.
        said = sum(float(found.certainty[name][views.counts[name] > 0].sum()) for name in views.attributes)
        assert said == pytest.approx(found.recovered, abs=25)
        # A synthetic table says the same.
        table = attack.invert(release.dataset(np.random.default_rng(1)), "income", truth=views)
        assert (table.k, table.recovered) == (found.k, found.recovered)

    def test_adult_with_default_settings(self, adult):
        table, views = adult
        release = nbcfast.safety_transform(views, 4, class_name="income")
        found = attack.invert(release, truth=views)
        assert sum(found.by_attribute[name][0] for name in ("age", "hours_per_week")) <= 5
        assert found.recovered <= 5
        assert attack.invert(release, truth=table).recovered == found.recovered

    def test_cross_ratios_of_a_proven_release(self, adult):
        """At 8 digits the gauge hides columns, not cross ratios."""
        _, views = adult
        found = attack.invert(nbcfast.safety_transform(views, 4, rows="proven"), truth=views)
        assert found.attack == "cross-ratio"
        assert found.recovered >= 26
        plain = attack.invert(nbcfast.safety_transform(views, 4, rows="proven", gauge=False), truth=views)
        assert plain.attack == "column"
        assert sum(plain.by_attribute[name][0] for name in ("age", "hours_per_week")) >= 305

    @settings(max_examples=12)
    @given(
        more=st.lists(st.integers(1, 60), max_size=25),
        k=st.integers(65, 2000).map(lambda n: n / 64),
        zeros=st.integers(0, 4),
    )
    def test_finds_powers_of_small_counts(self, more, k, zeros):
        numbers = [*range(1, 16), *more]
        shares = [2 ** (-12 / k)] * zeros + [n ** (1 / k) for n in numbers]
        column = [[round(10**11 * share)] for share in shares]
        found = attack.invert(Viewset([sum(n for (n,) in column)], [column]))
        assert found.attack == "column"
        assert found.k == pytest.approx(k, rel=1e-6)
        assert found.counts["A1"][:, 0].tolist() == [0] * zeros + numbers

    def test_random_counts_are_nothing(self):
        for seed in range(12):
            rng = np.random.default_rng(seed)
            columns = rng.dirichlet(np.full(60, 0.8), 2)
            counts = np.maximum(1, np.rint(columns * 10**7)).astype(np.int64).T
            counts[0] += counts.sum(axis=0).max() - counts.sum(axis=0)
            views = Viewset(counts.sum(axis=0), [counts])
            found = attack.invert(views)
            assert (found.attack, found.claimed, found.confidence) == (None, 0, 0.0)

    def test_levels_in_many_values_are_looked_at_once(self):
        """As fnlwgt of Adult: 21,648 values, of which few differ; all pairs of them were 2 * 10^8 numbers."""
        k, rng = 8, np.random.default_rng(5)
        numbers = [round(10**15 * number ** (1 / k)) for number in range(7)]
        # The gauge divides the counts of a value by a number of its own, which those of other values equal.
        factors = rng.integers(10**5, 10**6, (7, 7)).tolist()
        pairs = rng.integers(1, 7, (21_648, 2)).tolist()
        counts = [[numbers[a] * factors[a][b], numbers[b] * factors[a][b]] for a, b in pairs]
        class_counts = [sum(column) for column in zip(*counts, strict=True)]
        counts[0][0] += max(class_counts) - class_counts[0]
        counts[0][1] += max(class_counts) - class_counts[1]
        views = Viewset([max(class_counts)] * 2, [counts])
        tracemalloc.start()
        found = attack.invert(views)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200 * 2**20
        assert (found.attack, found.tried, found.untried) == ("cross-ratio", ("column", "cross-ratio"), ())

    def test_adult_as_it_is(self, data, monkeypatch):
        """All 14 attributes: it took ten minutes and 4 GB, for what 39 different values say."""
        looked = []
        monkeypatch.setattr(
            cross_ratios,
            "_nearest",
            lambda values, x, real=cross_ratios._nearest: looked.append(x.size) or real(values, x),
        )
        table = nbcfast.read_csv(data / "adult-train.csv")
        views = nbcfast.count(table, "income")
        release = nbcfast.safety_transform(views, 4)
        found = attack.invert(release, truth=views)
        assert sum(looked) <= 2 * inverting.WORK
        assert (found.attack, found.untried) == ("cross-ratio", ())
        assert found.recovered >= 90

    def test_what_is_left_out_is_said(self, adult, monkeypatch):
        _, views = adult
        release = nbcfast.safety_transform(views, 4, rows="proven")
        whole = attack.invert(release, truth=views)
        assert whole.untried == ()
        monkeypatch.setattr(inverting, "WORK", 20_000)
        found = attack.invert(release, truth=views)
        one, other = found.untried
        assert one == "k was looked for in 1 of 6 columns"
        assert re.fullmatch(r"[\d,]+ of [\d,]+ starting points of the reconstruction were tried", other)
        assert found.to_dict()["untried"] == [one, other]
        assert f"not tried: {one}; {other})" in repr(found)
        # The levels that most values have come first, so little is lost.
        assert found.recovered >= 0.9 * whole.recovered
        plain = nbcfast.safety_transform(views, 4, rows="proven", gauge=False)
        assert attack.invert(plain).untried[-1].endswith("columns were read with that k")

    def test_nothing_to_try_is_not_nothing_found(self):
        found = attack.invert(TEN)
        assert (found.tried, found.attack, found.to_dict()["tried"]) == ((), None, [])
        assert attack.invert(Viewset([90], [[[10], [30], [50]]])).tried == ("column",)

    @given(n=st.integers(0, 60), most=st.integers(1, 400))
    def test_some_pairs_are_every_so_manieth_of_all(self, n, most):
        i, j = np.triu_indices(n, 1)
        step = max(1, -(-len(i) // most))
        some = cross_ratios._some_pairs(n, most)
        assert [part.tolist() for part in some] == [i[::step].tolist(), j[::step].tolist()]

    def test_the_identity_is_read_off(self):
        release = Release(SIX, Certificate(amplification=8, tuples=4, gauge=False, identity=True, **IDENTITY))
        found = attack.invert(release, truth=SIX)
        assert (found.attack, found.recovered, found.positive) == ("identity", 8, 8)

    def test_a_truth_with_other_values(self):
        views = Viewset([6, 6], {"x": [[1, 2], [5, 4]]}, classes=["a", "b"], domains={"x": ["u", "v"]})
        truth = Viewset([3, 3], {"x": [[1, 2], [2, 1]]}, classes=["b", "a"], domains={"x": ["v", "w"]})
        release = Release(
            views, Certificate(amplification=8, tuples=2, gauge=False, identity=True, **IDENTITY)
        )
        found = attack.invert(release, truth=truth)
        # v: 4 of b and 5 of a published, 1 and 2 in truth.
        assert (found.recovered, found.positive) == (0, 4)

    def test_readable(self):
        found = attack.invert(TEN)
        assert repr(found) == "Inversion(nothing to try; 0 counts claimed)"
        plain = found.to_dict()
        assert (plain["attack"], plain["recovered"], plain["counts"]["A1"]) == (
            None,
            None,
            [[None, None]] * 2,
        )

    def test_bad_input(self):
        table = Table({"x": [1, 2], "y": [0, 1]})
        with pytest.raises(ValueError, match="class_name must be given for a table"):
            attack.invert(table)
        with pytest.raises(TypeError, match=r"^published: expected a Release, .* got int$"):
            attack.invert(3)
        with pytest.raises(ValueError, match="published: expected a file of"):
            attack.invert("certificate.json")
        with pytest.raises(TypeError, match=r"^truth: expected a Viewset, .* got int$"):
            attack.invert(TEN, truth=3)
        with pytest.raises(TypeError, match="class_name must be a text, got 3"):
            attack.invert(table, 3)
        with pytest.raises(
            ValueError, match="truth must have the attributes that were published, got none named 'A1'"
        ):
            attack.invert(TEN, truth=Viewset([5, 2], {"x": [[5, 2]]}, classes=["R", "D"]))
        with pytest.raises(ValueError, match="truth must have the classes that were published, got no 'R'"):
            attack.invert(TEN, truth=SIX_ROWS)
        with pytest.raises(ValueError, match="views must be realistic"):
            attack.invert(Viewset([2], [[[1]]]))
