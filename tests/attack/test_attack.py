"""Adversaries: posteriors, the worst case, breaches, inversion, membership; against the plain reference."""

import math
import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, Viewset, attack, safety
from nbcfast.attack import cross_ratios, exactly, inverting, moments
from nbcfast.attack.breaches import best_set
from nbcfast.attack.membership import auc_of
from nbcfast.published.release import Certificate, Release
from nbcfast.reference import attack as reference

# Figure 1 of the paper, from its convention: 10 worlds with 22/25, and 6 worlds with 7/9.
TEN = Viewset([5, 2], [[[1, 1], [4, 1]], [[1, 1], [4, 1]]], classes=["R", "D"])
IDENTITY = {"equivalence": "identity", "differing_tuples": 0}
SIX = Viewset([3, 2], [[[1, 1], [2, 1]], [[1, 1], [2, 1]]], classes=["R", "D"])
# docs/mathematics/safety.md, section j: (10) allows 4, averaged over worlds six rows reach 23/4.
SIX_ROWS = Viewset([3, 3], [[[1, 2], [2, 1]], [[1, 2], [2, 1]]])
UNSEEN_BY_10 = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])


@st.composite
def small_views(draw, most=5, classes=3, attributes=2, values=3, positive=False, empty=False):
    """Realistic views of a few rows a class."""
    n_classes = draw(st.integers(2, classes))
    of_class = [draw(st.integers(0 if empty else 1, most)) for _ in range(n_classes)]
    assume(any(of_class))
    arrays = []
    for _ in range(draw(st.integers(0, attributes))):
        n_values = draw(st.integers(1, min(values, *of_class) if positive else values))
        columns = []
        for count in of_class:
            left, column = count - n_values * positive, []
            for _ in range(n_values - 1):
                column.append(draw(st.integers(0, left)))
                left -= column[-1]
            columns.append([number + positive for number in [*column, left]])
        arrays.append(list(zip(*columns, strict=True)))
    return Viewset(of_class, arrays)


def some_known(draw, views):
    chosen = {}
    for name in views.attributes:
        value = draw(st.sampled_from([None, *views.domain(name)]))
        if value is not None:
            chosen[name] = value
    return chosen


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

    @settings(max_examples=1500)
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

    @settings(max_examples=1500)
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

    @settings(max_examples=1000)
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


class TestWorst:
    def test_section_j(self):
        assert attack.worst(SIX_ROWS).ratio == 4
        found = attack.worst(SIX_ROWS, "worlds")
        assert (found.ratio, found.certified) == (Fraction(23, 4), True)

    @settings(max_examples=400)
    @given(views=small_views(most=7, positive=True))
    def test_equals_the_reference(self, views):
        for convention in ("row", "worlds"):
            expected, _ = reference.worst(views, convention)
            found = attack.worst(views, convention)
            assert (found.ratio, found.certified) == (expected, True)
            shares = reference.posterior(views, found.known, convention)
            c, d = found.classes
            assert shares[c] / shares[d] == expected
            assert found.log == pytest.approx(math.log(expected), abs=1e-12)

    @settings(max_examples=200)
    @given(views=small_views(most=5, empty=True))
    def test_zeros_make_it_infinite(self, views):
        for convention in ("row", "worlds"):
            expected, _ = reference.worst(views, convention)
            found = attack.worst(views, convention)
            assert found.ratio == expected
            if expected == math.inf:
                assert found.posterior[found.classes[1]] == 0 < found.posterior[found.classes[0]]
                assert found.to_dict()["ratio"] is None

    @settings(max_examples=200)
    @given(views=small_views(most=9, classes=4, positive=True))
    def test_bounds_hold_when_the_search_stops_early(self, views):
        expected, _ = reference.worst(views, "worlds")
        found = attack.worst(views, "worlds", evaluations=1)
        assert found.ratio <= expected
        assert found.log_bound >= math.log(expected) - 1e-9
        if found.ratio < expected:
            assert not found.certified

    def test_levels_that_grow_too_large_are_bounded(self, monkeypatch):
        from nbcfast.attack import branching as search

        rng = np.random.default_rng(5)
        of_class = np.array([300, 200])
        arrays = [
            np.array([rng.multinomial(p - 12, np.ones(12) / 12) + 1 for p in of_class]).T for _ in range(4)
        ]
        views = Viewset(of_class, arrays)
        whole = attack.worst(views, "worlds")
        assert whole.certified
        monkeypatch.setattr(search, "MOST_WORK", 500)
        monkeypatch.setattr(search, "MOST_NODES", 200)
        bounded = attack.worst(views, "worlds")
        assert bounded.log <= whole.log + 1e-9
        assert bounded.log_bound >= whole.log - 1e-9

    def test_a_value_that_nobody_has(self):
        views = Viewset([3, 4], [[[1, 3], [0, 0], [2, 1]], [[1, 1], [2, 3], [0, 0]]])
        for convention in ("row", "worlds"):
            assert attack.worst(views, convention).ratio == reference.worst(views, convention)[0]

    @pytest.mark.parametrize(("n_classes", "n"), [(2, 300), (12, 40)])
    def test_many_attributes_and_counts_of_very_many_digits(self, n_classes, n):
        rng = np.random.default_rng(1)
        views = Viewset.from_codes(rng.integers(0, 2, (600, n)), np.arange(600) % n_classes)
        release = nbcfast.safety_transform(views, 4, preserve="label", rows="proven")
        assert release.views.n_rows > 2**200
        row = attack.worst(release)
        assert row.log <= math.log(4)
        assert attack.posterior(release, row.known, "row")[row.classes[0]] < 0.81
        worlds = attack.worst(release, "worlds")
        assert worlds.certified
        assert worlds.log == pytest.approx(row.log, abs=1e-7)
        assert attack.breach(release, 0.5, 0.8).breached is False
        assert attack.invert(release).attack is None
        # Private counts are few and their domain is huge: bounded by the theorem.
        bounded = attack.worst(views, "worlds")
        assert bounded.log <= bounded.log_bound <= attack.worst(views).log + math.log(2)

    def test_one_class(self):
        found = attack.worst(Viewset([3], [[[1], [2]]]), "worlds")
        assert (found.ratio, found.certified) == (1, True)

    def test_readable(self):
        found = attack.worst(SIX_ROWS, "worlds")
        assert repr(found) == "Worst(5.75: 1 over 0 with A1=0, A2=0; worlds)"
        plain = found.to_dict()
        assert (plain["ratio"], plain["known"], plain["certified"]) == ("23/4", {"A1": 0, "A2": 0}, True)

    def test_progress(self):
        calls = []
        attack.worst(SIX_ROWS, "worlds", progress=lambda done, total: calls.append((done, total)))
        assert calls
        assert all(0 <= done <= total for done, total in calls)

    @pytest.mark.parametrize("evaluations", [0, -1, 1.5, True, None])
    def test_bad_evaluations(self, evaluations):
        with pytest.raises(ValueError, match="evaluations must be an int of at least 1, got"):
            attack.worst(SIX_ROWS, "worlds", evaluations=evaluations)

    def test_bad_convention(self):
        with pytest.raises(ValueError, match="convention must be 'worlds' or 'row', got None"):
            attack.worst(SIX_ROWS, None)


def priors(n_classes):
    parts = st.lists(st.integers(1, 6), min_size=n_classes, max_size=n_classes)
    return parts.map(lambda numbers: [Fraction(number, sum(numbers)) for number in numbers])


class TestBreach:
    def test_what_condition_10_does_not_see(self):
        """A true 0.501-to-0.799 breach: docs/mathematics/safety.md, section j."""
        found = attack.breach(UNSEEN_BY_10, 0.501, 0.799)
        assert found
        assert (found.direction, found.classes, found.known) == ("upward", (0,), {"A1": 0, "A2": 0})
        assert (found.prior, found.posterior) == (Fraction(1, 2), Fraction(38, 43))
        assert "for somebody with A1=0, A2=0" in found.text

    @settings(max_examples=1000)
    @given(data=st.data(), convention=st.sampled_from(["row", "worlds"]), l1=st.integers(1, 14))
    def test_equals_all_sets_of_classes(self, data, convention, l1):
        views = data.draw(small_views(most=5, classes=4, empty=True))
        low = Fraction(l1, 20)
        high = Fraction(data.draw(st.integers(l1 + 1, 19)), 20)
        prior = None
        if data.draw(st.booleans()):
            prior = data.draw(priors(len(views.classes)))
        expected, highest = reference.breach(views, low, high, convention, prior)
        mapping = None if prior is None else dict(zip(views.classes, prior, strict=True))
        found = attack.breach(views, low, high, convention, prior=mapping)
        assert found.breached == bool(expected)
        if not expected:
            return
        assert found.direction == ("upward" if "upward" in expected else "downward")
        chosen = [views.classes.index(label) for label in found.classes]
        shares = reference.posterior(views, found.known, convention)
        assert found.posterior == sum(shares[c] for c in chosen)
        assert found.prior == sum((prior or [Fraction(1, len(views.classes))] * 4)[c] for c in chosen)
        if found.direction == "upward":
            assert found.prior <= low
            assert found.posterior == highest > high
        else:
            assert found.prior >= high
            assert found.posterior < low

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_safe_releases_are_never_breached(self, data):
        """All known values and all sets of classes, in the convention that was promised."""
        views = data.draw(small_views(most=7, classes=3, attributes=2).filter(lambda v: v.attributes))
        attacker = data.draw(st.sampled_from(["row", "worlds"]))
        l1 = Fraction(data.draw(st.integers(20, 60)), 100)
        l2 = Fraction(data.draw(st.integers(70, 95)), 100)
        limit = safety.limit(l1, l2)
        if limit <= (2 if attacker == "worlds" else 1):
            return
        try:
            release = nbcfast.safety_transform(
                views, limit, attacker=attacker, rows=200, allow_differences=True
            )
        except nbcfast.Infeasible:  # as 200 rows cannot be three equal classes
            assert limit < Fraction(21, 20) * (2 if attacker == "worlds" else 1)
            release = nbcfast.safety_transform(views, limit, attacker=attacker)
        prior = Fraction(1, len(views.classes))
        for known in reference.known_values(release.views):
            shares = attack.posterior(release, known, attacker, exact=True)
            for chosen in range(1, 2 ** len(shares) - 1):
                inside = [label for i, label in enumerate(shares) if chosen >> i & 1]
                before, after = prior * len(inside), sum(shares[label] for label in inside)
                assert not (before <= l1 and after > l2)
                assert not (before >= l2 and after < l1)
        assert attack.breach(release, l1, l2, attacker).breached is False

    def test_the_limit_itself_is_no_breach(self):
        views = Viewset([1, 4], [[[1, 4]]])
        assert attack.breach(views, "1/2", "0.8").breached is False
        assert attack.breach(views, "1/2", "0.79").posterior == Fraction(4, 5)

    def test_downward(self):
        views = Viewset([1, 1, 18], [[[1, 1, 18]]])
        found = attack.breach(views, "0.15", "0.6")
        assert (found.direction, found.classes) == ("downward", (0, 1))
        assert (found.prior, found.posterior) == (Fraction(2, 3), Fraction(1, 10))

    def test_undecided_is_no_answer(self):
        rng = np.random.default_rng(3)
        arrays = [np.array([rng.multinomial(38, np.ones(2) / 2) + 1 for _ in range(3)]).T for _ in range(2)]
        views = Viewset([40, 40, 40], arrays)
        found = attack.breach(views, "0.4", "0.999", "worlds", evaluations=1)
        assert found.breached in (False, None)
        nothing = attack.Breach(None, None, (), None, None, {}, Fraction(1, 2), Fraction(3, 4), "row", "why")
        with pytest.raises(ValueError, match="not decided: why"):
            bool(nothing)

    @given(st.data())
    def test_best_set(self, data):
        prior = data.draw(priors(data.draw(st.integers(1, 6))))
        shares = [Fraction(number, 7) for number in data.draw(st.permutations(range(len(prior))))]
        most = Fraction(data.draw(st.integers(0, 20)), 20)
        chosen = best_set(shares, prior, most)
        assert sum(prior[c] for c in chosen) <= most
        best = max(
            sum(shares[c] for c in range(len(prior)) if mask >> c & 1)
            for mask in range(2 ** len(prior))
            if sum(prior[c] for c in range(len(prior)) if mask >> c & 1) <= most
        )
        assert sum(shares[c] for c in chosen) == best

    @pytest.mark.parametrize(
        ("levels", "prior", "text"),
        [
            ((0.5, 0.5), None, "l1 and l2 must be 0 < l1 < l2 < 1, got 0.5 and 0.5"),
            ((0, 0.5), None, "l1 and l2 must be 0 < l1 < l2 < 1, got 0 and 0.5"),
            (("1/2", 1), None, "l1 and l2 must be 0 < l1 < l2 < 1, got 1/2 and 1"),
            (("half", 1), None, "l1 must be a finite number, got 'half'"),
            ((0.5, 0.8), {"R": 1}, "prior.*'D'"),
            ((0.5, 0.8), {"R": 1, "D": 0}, "prior.*above 0"),
            ((0.5, 0.8), {"R": 2, "D": -1}, "prior.*above 0"),
            ((0.5, 0.8), {"R": 0.5, "D": 0.6}, "prior must add up to 1"),
            ((0.5, 0.8), {"R": 0.5, "D": 0.5, "X": 0.5}, "'X'"),
        ],
    )
    def test_bad_input(self, levels, prior, text):
        with pytest.raises(ValueError, match=text):
            attack.breach(TEN, *levels, prior=prior)

    def test_readable(self):
        found = attack.breach(UNSEEN_BY_10, 0.501, 0.799)
        assert repr(found) == f"Breach({found.text})"
        plain = found.to_dict()
        assert (plain["breached"], plain["posterior"], plain["classes"]) == (True, "38/43", [0])
        assert attack.breach(TEN, "0.1", "0.9", prior={"R": "0.5", "D": "0.5"}).text.startswith("no breach")


class TestWorlds:
    @settings(max_examples=150)
    @given(views=small_views(most=4).filter(lambda views: views.attributes))
    def test_are_all_tables_with_these_counts(self, views):
        found = attack.worlds(views)
        expected = {tuple(map(tuple, world)) for world in reference.worlds(views)}
        assert len(found) == found.n_worlds == len(expected)
        listed = set()
        for world in found:
            columns = [[world.domain(name)[code] for code in world.codes(name)] for name in world.names]
            listed.add(tuple(zip(*columns, strict=True)))
            again = nbcfast.count(world, "class", list(views.attributes), views.classes)
            assert again == views
        assert listed == expected

    def test_the_first_column_stays(self):
        for world in attack.worlds(TEN):
            assert world.codes("A1").tolist() == [0, 1, 1, 1, 1, 0, 1]

    def test_any_of_very_many(self):
        views = Viewset([60, 60], [[[20, 30], [40, 30]]] * 5)
        found = attack.worlds(views)
        assert found.n_worlds == (math.comb(60, 20) * math.comb(60, 30)) ** 4
        assert "about 2^" in repr(found)
        last = found[found.n_worlds - 1]
        assert nbcfast.count(last, "class", classes=[0, 1]) == views
        assert last.codes("A5").tolist() == [1] * 40 + [0] * 20 + [1] * 30 + [0] * 30

    def test_is_a_sequence(self):
        found = attack.worlds(TEN, class_name="party")
        assert found[-1].codes("A2").tolist() == found[9].codes("A2").tolist()
        assert len(found[2:5]) == 3
        assert found[0].names == ("A1", "A2", "party")
        with pytest.raises(IndexError, match=r"index must be in 0\.\.9, got 10"):
            found[10]
        with pytest.raises(TypeError, match="index must be an int or a slice, got 'one'"):
            found["one"]

    def test_without_attributes_there_is_one(self):
        assert len(attack.worlds(Viewset([2, 3], []))) == 1

    def test_bad_input(self):
        with pytest.raises(ValueError, match="class_name must be no attribute, got 'A1'"):
            attack.worlds(TEN, class_name="A1")
        with pytest.raises(TypeError, match="class_name must be a text, got 3"):
            attack.worlds(TEN, class_name=3)
        with pytest.raises(
            ValueError, match="views must have at most 100,000 rows to list worlds, got 200000"
        ):
            attack.worlds(Viewset([200_000], []))


@pytest.fixture(scope="module")
def adult(data):
    """Adult-3, with >50K the class of lower precedence."""
    names = ["age", "education_num", "hours_per_week"]
    table = nbcfast.read_csv(data / "adult-train.csv", columns=[*names, "income"])
    return table, nbcfast.count(table, "income", classes=(">50K", "<=50K"))


@pytest.fixture(scope="module")
def workers():
    """Made-up people whose age and hours have many values, most of them few rows; and a holdout of them."""
    rng = np.random.default_rng(5)
    rich = rng.random(40_000) < 0.25
    age = np.clip(rng.gamma(np.where(rich, 9, 4), np.where(rich, 3, 5)) + 17, 17, 90).astype(int)
    hours = np.clip(rng.normal(np.where(rich, 46, 39), 12), 1, 99).astype(int)
    table = Table({"age": age, "hours": hours, "income": np.where(rich, ">50K", "<=50K")})
    members, others = table.take(slice(0, 32_000)), table.take(slice(32_000, None))
    return members, others, nbcfast.count(members, "income", classes=(">50K", "<=50K"))


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


class TestMembership:
    @settings(max_examples=300)
    @given(
        members=st.lists(st.integers(-3, 3), min_size=1, max_size=12),
        others=st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    )
    def test_auc_equals_the_reference(self, members, others):
        expected, square = reference.auc(members, others)

        def weighted(scores):
            values, weights = np.unique(scores, return_counts=True)
            # -3 stands for the score of an impossible row.
            return np.where(values == -3, -np.inf, values.astype(float)), weights

        value, error = auc_of(*weighted(members), *weighted(others))
        assert value == pytest.approx(float(expected), abs=1e-12)
        assert error == pytest.approx(math.sqrt(square), abs=1e-9)

    def test_members_are_told_from_their_counts_and_not_from_a_release(self, workers):
        table, holdout, views = workers
        found = attack.membership(nbcfast.safety_transform(views, 4, class_name="income"), table, holdout)
        assert (found.members, found.others) == (32_000, 4_000)
        assert found.standard_error < 0.01
        assert abs(found.deviations) < 4
        few = table.take(slice(0, 60))
        found = attack.membership(nbcfast.count(few, "income"), few, holdout, "income")
        assert found.auc > 0.7
        assert found.deviations > 5
        assert found.impossible > 1000

    def test_adult_is_not_told(self, adult, data):
        table, views = adult
        holdout = nbcfast.read_csv(data / "adult-test.csv", columns=table.names)
        release = nbcfast.safety_transform(views, 4, class_name="income")
        found = attack.membership(release, table, holdout)
        assert (found.members, found.others) == (32561, 8141)
        assert found.standard_error < 0.005
        assert abs(found.deviations) < 4

    def test_few_rows_published_as_they_are_are_told(self, adult, data):
        table, _ = adult
        holdout = nbcfast.read_csv(data / "adult-test.csv", columns=table.names)
        few = table.take(slice(0, 60))
        found = attack.membership(nbcfast.count(few, "income"), few, holdout, "income")
        assert found.auc > 0.7
        assert found.deviations > 5
        assert found.impossible > 1000

    def test_the_order_of_rows_and_domains_does_not_matter(self):
        rng = np.random.default_rng(9)
        columns = {"x": rng.integers(0, 5, 300), "z": rng.integers(0, 4, 300), "y": rng.integers(0, 2, 300)}
        table, holdout = (
            Table({name: column[part] for name, column in columns.items()})
            for part in (slice(0, 100), slice(100, 300))
        )
        views = nbcfast.count(table, "y")
        first = attack.membership(views, table, holdout, "y")
        shuffled = Table(holdout.take(rng.permutation(200)), domains={"x": [4, 3, 2, 1, 0]})
        assert attack.membership(views, table.take(rng.permutation(100)).collapse(), shuffled, "y") == first

    def test_weights_are_rows(self):
        table = Table({"x": [1, 2, 2], "y": [0, 1, 1]})
        weighted = Table({"x": [1, 2], "y": [0, 1]}, weights=[1, 2])
        holdout = Table({"x": [1, 2] * 5, "y": [0, 1, 1, 0, 1] * 2})
        views = nbcfast.count(table, "y")
        assert attack.membership(views, weighted, holdout, "y") == attack.membership(
            views, table, holdout, "y"
        )

    def test_the_table_itself_is_no_holdout(self):
        table = Table({"x": [1, 2, 2, 1], "y": [0, 1, 1, 0]})
        views = nbcfast.count(table, "y")
        for same in (table, table.take([3, 2, 1, 0]), table.collapse()):
            with pytest.raises(ValueError, match=r"holdout: expected other rows of the same population, got"):
                attack.membership(views, table, same, "y")

    @staticmethod
    def people(n, seed=3):
        rng = np.random.default_rng(seed)
        return Table({**{name: rng.integers(0, 9, n) for name in "abcde"}, "y": rng.integers(0, 2, n)})

    def test_a_table_but_for_a_few_rows_is_no_holdout(self):
        everybody = self.people(1200)
        table = everybody.take(range(600))
        views = nbcfast.count(table, "y")
        nearly = (
            range(20, 620),
            range(300),
            [*range(500), *range(500)],
            [*range(310), *range(600, 890)],
        )
        for rows in nearly:
            with pytest.raises(
                ValueError, match=r"holdout: .*, got mostly rows of the table itself: of its "
            ):
                attack.membership(views, table, everybody.take(list(rows)), "y")
        with pytest.raises(ValueError, match=r"of its 600 rows some 59[0-9] should be none .*, and 20 are"):
            attack.membership(views, table, everybody.take(range(20, 620)), "y")

    def test_rows_of_the_table_in_a_holdout_are_said(self):
        everybody = self.people(1200)
        table = everybody.take(range(600))
        views = nbcfast.count(table, "y")
        found = attack.membership(views, table, everybody.take(range(400, 1000)), "y")
        assert 180 < found.repeated < 220
        assert (
            f"about {found.repeated:,} rows of the holdout stand in the table beyond what chance"
            in found.text
        )
        assert found.to_dict()["repeated"] == found.repeated
        others = attack.membership(views, table, everybody.take(range(600, 1200)), "y")
        assert others.repeated == 0
        assert "beyond what chance" not in others.text

    @given(
        st.integers(0, 2**32 - 1),
        st.integers(4, 3000),
        st.integers(4, 3000),
        st.floats(0.5, 6),
        st.floats(0, 2),
    )
    def test_other_people_are_a_holdout_however_many_values_there_are(self, seed, n, m, digits, skew):
        """Five standard deviations: of kinds as even or as uneven as may be, none was off by three."""
        rng = np.random.default_rng(seed)
        shares = np.arange(1.0, 10**digits) ** -skew
        drawn = rng.choice(len(shares), n + m, p=shares / shares.sum())
        both = Table({"x": drawn, "y": np.zeros(n + m, np.int64)})
        table, holdout = both.take(range(n)), both.take(range(n, n + m))
        if sorted(drawn[:n]) != sorted(drawn[n:]):
            found = attack.membership(nbcfast.count(table, "y"), table, holdout, "y")
            assert found.repeated == 0

    def test_rows_that_the_release_rules_out_are_not_scored(self):
        views = nbcfast.count(Table({"x": [1, 2, 2, 1] * 5, "y": [0, 1, 1, 1] * 5}), "y")
        holdout = Table({"x": [1, 2, 3, 3] * 5, "y": [0, 1, 1, 0] * 5})
        own = Table({"x": [1, 2, 2, 1, 3], "y": [0, 1, 1, 1, 1]})
        found = attack.membership(views, own, holdout, "y")
        less = attack.membership(views, own.take(slice(0, 4)), holdout, "y")
        assert (found.members, found.left_out, found.auc) == (4, 1, less.auc)
        assert less.left_out == 0
        assert "1 rows left out" in repr(found)
        nothing = attack.membership(views, own.take([4]), holdout, "y")
        assert not nothing.measured
        assert math.isnan(nothing.auc)
        assert "not measured: none of the 1 rows of the table can be a row" in repr(nothing)

    def test_readable(self):
        found = attack.Membership(0.5123, 0.004, 100, 50, 0)
        assert repr(found) == "Membership(AUC 0.5123 +- 0.0040; 100 rows against 50)"
        assert found.to_dict()["auc"] == 0.5123
        assert attack.Membership(0.5, 0.0, 1, 1, 0).deviations == 0
        assert attack.Membership(1.0, 0.0, 1, 1, 0).deviations == math.inf

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"class_name": None}, ValueError, "class_name must be given: the release does not name"),
            ({"class_name": 3}, TypeError, "class_name must be a text, got 3"),
            (
                {"table": Table({"x": [1]})},
                ValueError,
                "table must have the columns of the release, got none named 'y'",
            ),
            ({"holdout": Table({"y": [1]})}, ValueError, "holdout must have the columns of the release"),
            (
                {"holdout": Table({"x": [1], "y": [0]})},
                ValueError,
                "holdout must have at least 4 rows, got 1",
            ),
            (
                {"holdout": Table({"x": [], "y": []})},
                ValueError,
                "holdout: no rows",
            ),
            ({"release": "views"}, TypeError, "release must be a Viewset or a Release, got str"),
        ],
    )
    def test_bad_input(self, change, error, text):
        table = Table({"x": [1, 2], "y": [0, 1]})
        arguments = {
            "release": nbcfast.count(table, "y"),
            "table": table,
            "holdout": Table({"x": [1, 2] * 4, "y": [0, 1] * 4}),
            "class_name": "y",
        }
        with pytest.raises(error, match=text):
            attack.membership(**{**arguments, **change})


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


def test_scores_that_are_equal_are_ties():
    """The same ratio of probabilities for every member; as logarithms they differ by 2^-52."""
    table = {"a": [1, 1, 0], "b": [0, 0, 1], "y": [0, 1, 1]}
    holdout = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [1, 0, 1, 1]}
    found = attack.membership(nbcfast.count(table, "y"), table, holdout, "y")
    assert (found.auc, found.standard_error) == (0.5, 0.0)


def test_values_of_another_kind_are_refused():
    """They would be equal to none: what was to be measured would be a reassuring nothing."""
    table = Table({"age": [10, 20, 70, 80] * 5, "y": [0, 0, 1, 1] * 5})
    other = Table({"age": [10, 80, 70, 80] * 5, "y": [0, 1, 1, 0] * 5})
    views = nbcfast.count(table.bin("age", [0, 40, 100]), "y")
    text = "column 'age' holds values of kind int, and the release of kind interval: bin it with"
    with pytest.raises(TypeError, match=f"table: {text}"):
        attack.membership(views, table, other, "y")
    with pytest.raises(TypeError, match=f"holdout: {text}"):
        attack.membership(views, table.bin("age", [0, 40, 100]), other, "y")
    with pytest.raises(
        TypeError, match="truth: attribute 'age' holds values of kind int, and what was published"
    ):
        attack.invert(views, "y", truth=table)
    truthful = Table({"age": [10, 20, 70, 80] * 5, "y": [False, False, True, True] * 5})
    with pytest.raises(ValueError, match="truth must have the classes that were published, got no 0"):
        attack.invert(nbcfast.count(table, "y"), "y", truth=truthful)
    ids = [0, 1] * 10
    with pytest.raises(
        TypeError, match="truth holds values of kind text, and the sensitive column of kind int"
    ):
        attack.definetti(table, ids, "y", truth=["0", "0", "1", "1"] * 5)
    for name, holdout in (("y", truthful), ("age", table.bin("age", [0, 40, 100]))):
        with pytest.raises(TypeError, match=f"holdout: column '{name}' holds values of kind"):
            attack.definetti(table, ids, "y", holdout=holdout)
    nulls = Table({"age": [None] * 20, "y": [0, 1] * 10})
    assert attack.membership(nbcfast.count(table, "y"), table, nulls, "y").impossible == 10
