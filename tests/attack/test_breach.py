"""Breaches: against all sets of classes, and the limits that rule them out."""

from fractions import Fraction

import numpy as np
import pytest
from attack_cases import TEN, UNSEEN_BY_10, small_views
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset, attack, safety
from nbcfast.attack.breaches import best_set
from nbcfast.reference import attack as reference


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

    @settings(max_examples=settings().max_examples * 8)
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

    @settings(max_examples=settings().max_examples * 2, suppress_health_check=[HealthCheck.too_slow])
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
                views, limit, attacker=attacker, rows=2_000, allow_differences=True
            )
        except nbcfast.Infeasible:  # as 2,000 rows cannot be three equal classes
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
