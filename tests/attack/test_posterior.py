"""What an adversary believes: against the plain reference, listed worlds, and below the range of floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from attack_cases import SIX, SIX_ROWS, TEN, UNSEEN_BY_10, small_views, some_known
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast import Viewset, attack, safety
from nbcfast.attack import exactly, moments
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.reference import attack as reference

MANY = settings().max_examples * 8  # 400 in the fast profile


class TestPosterior:
    def test_figure_1(self):
        assert len(attack.worlds(TEN)) == 10
        assert attack.posterior(TEN, {"A1": 1, "A2": 1}) == {"R": Fraction(22, 25), "D": Fraction(3, 25)}
        assert len(attack.worlds(SIX)) == 6
        assert attack.posterior(SIX, {"A1": 1, "A2": 1}) == {"R": Fraction(7, 9), "D": Fraction(2, 9)}
        for views, share in ((TEN, Fraction(22, 25)), (SIX, Fraction(7, 9))):
            listed = reference.posterior_by_listing(views, {"A1": 1, "A2": 1}, "worlds")
            assert listed[0] == share

    def test_section_j(self):
        found = attack.posterior(SIX_ROWS, {"A1": 1, "A2": 1})
        assert found[0] / found[1] == Fraction(23, 4)
        found = attack.posterior(UNSEEN_BY_10, {"A1": 0, "A2": 0}, "row")
        assert found[0] / found[1] == Fraction(38, 5)
        found = attack.posterior(UNSEEN_BY_10, {"A1": 0, "A2": 0})
        assert float(found[0] / found[1]) == pytest.approx(7.84, abs=0.005)
        large = Viewset(
            25 * UNSEEN_BY_10.class_counts, [25 * array for array in UNSEEN_BY_10.counts.values()]
        )
        found = attack.posterior(large, {"A1": 0, "A2": 0})
        assert float(found[0] / found[1]) == pytest.approx(7.76, abs=0.005)
        third = Viewset([1000, 1960], [[[20, 10], [980, 1950]]] * 3)
        for convention in ("row", "worlds"):
            found = attack.posterior(third, dict.fromkeys(third.attributes, 0), convention)
            assert float(found[0]) == pytest.approx(0.969, abs=0.001)

    @settings(max_examples=MANY)
    @given(data=st.data(), convention=st.sampled_from(["worlds", "row"]))
    def test_equals_the_reference(self, data, convention):
        views = data.draw(small_views(most=6, attributes=3, empty=True))
        known = some_known(data.draw, views)
        expected = reference.posterior(views, known, convention)
        if expected is None:
            with pytest.raises(ValueError, match="no possible world has a row with"):
                attack.posterior(views, known, convention)
            return
        found = attack.posterior(views, known, convention)
        assert list(found.values()) == expected
        assert (found.exact, found.error, found.known) == (True, 0.0, known)
        floats = attack.posterior(views, known, convention, exact=False)
        assert 0 < floats.error < 1e-13
        for p, exact in zip(floats.values(), expected, strict=True):
            assert abs(Fraction(p) - exact) <= Fraction(floats.error) * exact

    @settings(max_examples=MANY)
    @given(data=st.data(), convention=st.sampled_from(["worlds", "row"]))
    def test_equals_the_enumerated_worlds(self, data, convention):
        views = data.draw(small_views(most=4).filter(lambda views: views.attributes))
        known = some_known(data.draw, views)
        counts = []
        for rows in reference.worlds(views):
            matches = [0] * len(views.classes)
            for row in rows:
                values = dict(zip(views.attributes, row, strict=False))
                matches[views.classes.index(row[-1])] += all(values[n] == v for n, v in known.items())
            if sum(matches):
                counts.append(matches)
        if not counts:
            return
        whole = len(counts) if convention == "worlds" else sum(map(sum, counts))
        expected = [
            sum(Fraction(m[c], sum(m) if convention == "worlds" else 1) for m in counts) / whole
            for c in range(len(views.classes))
        ]
        assert list(attack.posterior(views, known, convention).values()) == expected

    @settings(max_examples=MANY)
    @given(data=st.data())
    def test_within_a_factor_of_two(self, data):
        """1/2 < (p_c / p_d) / (X_c / X_d) < 2: docs/mathematics/safety.md, section j."""
        views = data.draw(small_views(most=8, attributes=3, values=2, positive=True))
        known = some_known(data.draw, views)
        worlds = list(attack.posterior(views, known).values())
        row = list(attack.posterior(views, known, "row").values())
        for c in range(len(worlds)):
            for d in range(len(worlds)):
                assert Fraction(1, 2) < (worlds[c] / worlds[d]) / (row[c] / row[d]) < 2

    def test_the_factor_is_nearly_reached(self):
        views = Viewset([1, 10_000], [[[1, 1], [0, 9_999]], [[1, 1], [0, 9_999]]])
        worlds = attack.posterior(views, {"A1": 0, "A2": 0}, exact=True)
        row = attack.posterior(views, {"A1": 0, "A2": 0}, "row")
        factor = (worlds[0] / worlds[1]) / (row[0] / row[1])
        assert Fraction("1.999") < factor < 2

    def test_large_tables_agree_with_naive_bayes(self):
        """At P = (7841, 24720), X = (48.8, 110) the conventions differ by less than 10^-4."""
        views = Viewset([7841, 24720], [[[619, 1650], [7222, 23070]], [[618, 1648], [7223, 23072]]])
        assert attack.posterior(views, {"A1": 0, "A2": 0}, "row")[0] == pytest.approx(0.3073, abs=2e-4)
        found = attack.posterior(views, {"A1": 0, "A2": 0})
        assert 0 < found.error < 1e-12
        assert 0 < found[0] - attack.posterior(views, {"A1": 0, "A2": 0}, "row")[0] < 1e-4

    @pytest.mark.parametrize(
        ("of_class", "rows"),
        [
            ([7841, 24720], [[257, 551], [2000, 8000], [2837, 12000]]),
            ([100_000, 100_000], [[50_000, 40_000], [50_000, 30_000], [60_000, 50_000], [40_000, 70_000]]),
            ([100_000, 100_000], [[99_000, 98_000], [99_900, 99_999], [60_000, 50_000], [99_000, 70_000]]),
            ([100_000, 90_000], [[1, 2], [99_999, 1], [60_000, 50_000], [3, 1]]),
            ([100_000, 3], [[500, 1], [400, 2]]),
            ([1000] * 12, [[150 + c for c in range(12)], [100] * 12]),
            ([10_000, 20_000], [[0, 1000], [500, 500]]),
            ([10**6, 10**6], [[40_000, 30_000], [20_000, 10_000]]),
        ],
        ids=str,
    )
    def test_two_ways_for_large_tables(self, of_class, rows):
        """The kernel's distributions against moments, and the exact shares where they are affordable."""
        views = Viewset(
            of_class, [[row, [p - n for p, n in zip(of_class, row, strict=True)]] for row in rows]
        )
        known = dict.fromkeys(views.attributes, 0)
        found = attack.posterior(views, known, exact=False)
        assert found.error < 2e-12
        shares, error = moments.shares(of_class, rows)
        assert error < 1e-15
        for p, q in zip(found.values(), shares, strict=True):
            assert abs(p - q) <= (found.error + error) * q
        if exactly.affordable(of_class, rows):
            for q, p in zip(exactly.shares(of_class, rows), found.values(), strict=True):
                assert abs(Fraction(p) - q) <= Fraction(found.error) * q

    @settings(max_examples=400)
    @given(data=st.data())
    def test_moments_equal_the_exact_shares(self, data):
        views = data.draw(small_views(most=40, attributes=3, values=2))
        known = some_known(data.draw, views)
        rows = [views.counts[name][value].tolist() for name, value in known.items()]
        of_class = views.class_counts.tolist()
        expected = exactly.shares(of_class, rows)
        found = moments.shares(of_class, rows)
        assert (expected is None) == (found is None)
        if expected is not None:
            for p, q in zip(found[0], expected, strict=True):
                assert abs(Fraction(p) - q) <= Fraction(found[1]) * q

    def test_many_matching_rows_by_expansion(self):
        """Above FEW matching rows moments expand; just below they integrate. Both agree with the kernel."""
        for count in (400, 499, 501, 900, 20_000):
            of_class, rows = [40_000, 90_000], [[count, 2 * count], [30_000, 70_000]]
            shares, error = moments.shares(of_class, rows)
            views = Viewset(
                of_class, [[row, [p - n for p, n in zip(of_class, row, strict=True)]] for row in rows]
            )
            found = attack.posterior(views, {"A1": 0, "A2": 0}, exact=False)
            assert abs(found[0] - shares[0]) <= (found.error + error) * shares[0]

    @pytest.mark.parametrize("size", [2**60, 2**88, 2**900])
    def test_counts_beyond_64_bits(self, size):
        views = Viewset([3 * size, size], [[[size, size // 2], [2 * size, size // 2]]] * 3)
        known = dict.fromkeys(views.attributes, 0)
        row = attack.posterior(views, known, "row")
        assert row == {0: Fraction(8, 17), 1: Fraction(9, 17)}
        worlds = attack.posterior(views, known)
        assert worlds[0] == pytest.approx(8 / 17, rel=1e-15)
        assert 0 < worlds.error < 1e-15

    def test_few_rows_of_a_huge_class(self):
        """No row matches but with a probability of 2^-200: the limit of naive Bayes."""
        n = 2**100
        views = Viewset([n, n], [[[2, 1], [n - 2, n - 1]]] * 3)
        found = attack.posterior(views, dict.fromkeys(views.attributes, 0))
        assert found[0] == pytest.approx(8 / 9, rel=1e-15)

    def test_nothing_known_is_the_share_of_rows(self):
        for convention in ("worlds", "row"):
            assert attack.posterior(TEN, {}, convention) == {"R": Fraction(5, 7), "D": Fraction(2, 7)}

    def test_a_release_is_as_good_as_its_views(self):
        release = Release(SIX, Certificate(amplification=4, tuples=4))
        assert attack.posterior(release, {"A1": 1}) == attack.posterior(SIX, {"A1": 1})

    def test_values_are_found_by_value(self):
        views = Viewset([3], {"x": [[1], [2]]}, domains={"x": [0.5, 2.0]})
        assert attack.posterior(views, {"x": 2})[0] == 1
        assert attack.posterior(views, {"x": np.float64(0.5)})[0] == 1

    def test_readable(self):
        found = attack.posterior(TEN, {"A1": 1, "A2": 1})
        assert repr(found) == "Posterior('R': 22/25, 'D': 3/25; A1=1, A2=1; worlds)"
        plain = found.to_dict()
        assert plain["known"] == {"A1": 1, "A2": 1}
        assert [entry["class"] for entry in plain["probabilities"]] == ["R", "D"]
        assert Fraction(plain["probabilities"][0]["probability"]) == found["R"]

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ((TEN, {"A3": 1}), ValueError, "known: expected attributes of 'A1', 'A2'; got 'A3'"),
            ((TEN, {"A1": 7}), ValueError, r"known\['A1'\] must be one of the 2 values of 'A1', got 7"),
            ((TEN, {"A1": [1]}), ValueError, r"known\['A1'\] must be one of the 2 values of 'A1', got \[1\]"),
            ((TEN, ["A1"]), TypeError, "known must be a mapping of attribute -> value, got list"),
            ((TEN, {}, "bayes"), ValueError, "convention must be 'worlds' or 'row', got 'bayes'"),
            (("views", {}), TypeError, "views must be a Viewset or a Release, got str"),
            ((Viewset([2], [[[1]]]), {}), ValueError, "views must be realistic"),
            ((Viewset([0, 0], []), {}), ValueError, "views: no rows"),
            ((Viewset([2], [[[2], [0]]]), {"A1": 1}), ValueError, "no possible world has a row with A1=1"),
        ],
    )
    def test_bad_input(self, arguments, error, text):
        with pytest.raises(error, match=text):
            attack.posterior(*arguments)

    def test_exact_is_a_bool(self):
        with pytest.raises(TypeError, match="exact must be a bool or None, got 1"):
            attack.posterior(TEN, {}, exact=1)


class TestBelowTheRangeOfFloats:
    """400 attributes that nearly tell the classes apart: posteriors of 10^-984."""

    views = Viewset([3_000] * 2, {f"a{i}": [[2_900, 10], [100, 2_990]] for i in range(400)})

    def test_the_worst_case_is_found_by_logarithms(self):
        found = attack.worst(self.views, "worlds")
        assert found.certified
        assert abs(found.log - safety.amplification(self.views).log) < math.log(2)
        mixed = Viewset(
            [200] * 2, {**{f"a{i}": [[199, 1], [1, 199]] for i in range(150)}, "b": [[190] * 2, [10] * 2]}
        )
        found = attack.worst(mixed, "worlds")
        exact = attack.posterior(mixed, found.known, exact=True)
        ratio = max(exact.values()) / min(exact.values())
        assert found.log == pytest.approx(math.log(ratio.numerator) - math.log(ratio.denominator), rel=1e-12)
        assert found.known["b"] == 1

    @pytest.mark.parametrize("convention", ["row", "worlds"])
    @pytest.mark.parametrize("n", [120, 129, 131, 400])
    def test_the_bound_of_the_error_holds(self, convention, n):
        views = self.views
        if n < 400:
            views = Viewset([3_000] * 2, {name: views.counts[name] for name in views.attributes[:n]})
        known = dict.fromkeys(views.attributes, 0)
        found = attack.posterior(views, known, convention, exact=False)
        truth = attack.posterior(views, known, "row", exact=True)
        for label in views.classes:
            slack = 0 if convention == "row" else 1  # worlds: odds within a factor of 2
            assert abs(Fraction(found[label]) - truth[label]) <= Fraction(found.error + slack) * truth[label]
        if n >= 131:
            assert found.error == 1.0

    def test_breaches_are_decided(self):
        for convention in ("row", "worlds"):
            assert attack.breach(self.views, "0.5", "0.8", convention)
