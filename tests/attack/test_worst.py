"""The worst case: against the plain reference, and where the search ends early."""

import math
from fractions import Fraction

import numpy as np
import pytest
from attack_cases import SIX_ROWS, small_views
from hypothesis import given, settings

import nbcfast
from nbcfast import Viewset, attack
from nbcfast.reference import attack as reference


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
