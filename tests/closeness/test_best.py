"""The linear program of EST and the margins that it rests on, against the exact reference."""

import math
import random
from fractions import Fraction
from itertools import combinations

import gmpy2
import pytest
from closeness_cases import WORK, cases, drawn, drawn_prior, log
from how_many import how_many

from nbcfast import Viewset
from nbcfast.closeness import best
from nbcfast.closeness import program as program_module
from nbcfast.closeness import scores as margins_module
from nbcfast.closeness.scores import ScoreRatios
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps
from nbcfast.safety.prior import prior_in_integers, prior_of
from nbcfast.transform import fill_zeros


@pytest.mark.parametrize("preserve", ["order", "label"])
def test_best_equals_reference(preserve):
    seen = set()
    for rng, views, prior in cases(8, 150):
        guard = rng.choice([1, 1, 3])
        found = best(views, prior, preserve=preserve, guard=guard)
        expected = reference.best(views, prior, preserve=preserve, guard=guard)
        low, high = found.interval
        with gmpy2.context(precision=200):
            assert gmpy2.mpq(low) - gmpy2.mpq(1, 2**60) <= expected <= gmpy2.mpq(high) + gmpy2.mpq(1, 2**60)
        assert low <= high <= low + Fraction(1, 2**100)
        assert float(low) - 1e-15 <= found.log_r <= float(high) + 1e-15
        assert math.log(found.r) == pytest.approx(found.log_r, abs=1e-14)
        assert found.exact
        assert found.r <= max(prior.values()) / min(prior.values())
        seen.add((len(views.classes), found.x > 0, found.y > 0, found.attained))
    assert len(seen) > 8


def test_best_holds_where_it_is_attained():
    """Its x and y come to its r, and keep the order there or next to it."""
    inside = 0
    for _, views, prior in cases(9, how_many(200, 400), n_classes=3):
        found = best(views, prior)
        if found.x == 0:
            continue
        inside += 1
        largest, least, tied = reference.margins(views, prior)
        of = list(prior.values())
        z = max(
            found.x * log(ratio) - (1 - found.y) * log(of[c] / of[d]) for (c, d), ratio in largest.items()
        )
        assert z == pytest.approx(found.log_r, abs=1e-10)
        for (c, d), ratio in least.items():
            assert found.x * log(ratio) >= found.y * log(of[d] / of[c]) - 1e-10
        assert not tied or found.y == 0
        for c, d in found.binding:
            there = found.x * log(largest[c, d]) - (1 - found.y) * log(of[c] / of[d])
            assert there == pytest.approx(found.log_r, abs=1e-10)
    assert inside > 20


def test_two_classes_in_closed_form():
    """F_max / F_min where the class of smaller prior ever wins, else 1: limits that nothing attains."""
    for _, views, prior in cases(10, 300, n_classes=2):
        found = best(views, prior)
        rare, common = sorted(views.classes, key=prior.__getitem__)
        if prior[rare] == prior[common]:
            assert found.r == 1
        elif (rare, common) in reference.inversions(views, prior):  # labels are positions here
            assert found.r == prior[common] / prior[rare]
            largest, _, _ = reference.margins(views, prior)
            only_tied = largest[views.classes.index(rare), views.classes.index(common)] == 1
            assert found.attained == only_tied
        else:
            assert found.r == 1


def test_r_of_1_is_attained_by_scores_that_are_powers_of_the_prior():
    found = best(Viewset([4, 1], [[[4, 1]]]), {0: "2/3", 1: "1/3"})
    assert (found.r, found.attained, found.x) == (1, True, 0.5)
    flatter = best(Viewset([4, 3], [[[4, 3]]]), {0: "0.9", 1: "0.1"})
    assert (flatter.r, flatter.attained, flatter.x) == (1, True, 1)
    assert flatter.x * math.log(4 / 3) + flatter.y * math.log(9) == pytest.approx(math.log(9))
    three = Viewset([16, 4, 1], [[[16, 4, 1]]])
    assert best(three, {0: "4/7", 1: "2/7", 2: "1/7"}).attained
    assert not best(three, {0: "5/8", 1: "2/8", 2: "1/8"}).attained
    # Every class ties with every other: nothing is off a prior of equal shares.
    assert best(Viewset([4, 4], [[[2, 2], [2, 2]]]), {0: "0.5", 1: "0.5"}).attained
    assert not best(WORK, {"ill": "0.5", "well": "0.5"}).attained


def test_the_envelope_is_walked_to_its_least():
    rng = random.Random(11)
    for _ in range(300):
        lines = [
            program_module.Ray(gmpy2.mpq(rng.randint(-9, 9)), gmpy2.mpq(rng.randint(-9, 9)), (0, 1))
            for _ in range(rng.randint(2, 9))
        ]
        value, t, _ = program_module.lowest(lines, gmpy2.mpq(1))
        places = [Fraction(0), Fraction(1)]
        for a, b in combinations(lines, 2):
            if a.b != b.b:
                places.append(Fraction(int(b.a - a.a), int(a.b - b.b)))
        heights = {
            place: max(line.at(gmpy2.mpq(place)) for line in lines) for place in places if 0 <= place <= 1
        }
        assert value == min(heights.values())
        assert max(line.at(t) for line in lines) == value


def test_lines_that_only_fall_and_never_end_are_refused():
    falls = program_module.Ray(gmpy2.mpq(0), gmpy2.mpq(-1), (0, 1))
    assert program_module.lowest([falls], gmpy2.mpq(1))[:2] == (-1, 1)
    with pytest.raises(ValueError, match="lines must have one that rises where nothing ends them"):
        program_module.lowest([falls], None)


def test_a_class_that_is_nowhere_above_has_no_least_ratio():
    scores = ScoreRatios(fill_zeros(Viewset([4, 4], [[[2, 2], [2, 2]]])), (1, 1))
    with pytest.raises(ValueError, match=r"pair must be of a class that is above .*, got \(0, 1\)"):
        scores.least((0, 1))


def test_margins_of_one_side_equal_those_of_all_tuples():
    for _, views, prior in cases(12, 200):
        scores = ScoreRatios(fill_zeros(views), prior_in_integers(prior_of(views, prior)))
        _, score = steps.scores_of(views)
        for c, d in scores.pairs:
            ratios = [x[c] / x[d] for x in map(score, steps.tuples(steps.lists(views)[1])) if x[c] and x[d]]
            side = scores.nearest_above((c, d))
            above = min((ratio for ratio in ratios if ratio > 1), default=None)
            assert (side.above is None) == (above is None)
            assert above is None or Fraction(side.above.up, side.above.down) == above
            assert side.tied == (1 in ratios)
            assert side.exact


def test_margins_of_long_halves_and_blocks(monkeypatch):
    """With attributes outside the halves, and with more nearest tuples than are compared exactly."""
    rng = random.Random(13)
    real = margins_module.split
    monkeypatch.setattr(margins_module, "MOST_HALF", 3)
    blocks = 0
    for number in range(80):
        views = drawn(rng, n=3)
        prior = prior_in_integers(prior_of(views, drawn_prior(rng, views)))
        scores = ScoreRatios(fill_zeros(views), prior)
        monkeypatch.setattr(margins_module, "split", real)
        expected = {pair: scores.nearest_above(pair) for pair in scores.pairs}
        if number % 2:
            monkeypatch.setattr(margins_module, "MOST_EXACT", 0)
        monkeypatch.setattr(margins_module, "split", lambda sizes, most, work: real(sizes, 3, 10**9))
        again = ScoreRatios(fill_zeros(views), prior)
        for pair in scores.pairs:
            found, true = again.nearest_above(pair), expected[pair]
            blocks += found.exact
            if found.exact:
                assert found == true
            elif true.above is not None:
                low = Fraction(found.above.up, found.above.down)
                assert 1 < low <= Fraction(true.above.up, true.above.down)
            assert found.tied >= true.tied
        monkeypatch.setattr(margins_module, "MOST_EXACT", 100_000)
    assert blocks > 50


def test_margins_beyond_any_half_are_bounds():
    views = Viewset([1000, 1001], [[[400, 600], [600, 401]]] * 120)
    prior = {0: "0.5", 1: "0.5"}
    side = ScoreRatios(fill_zeros(views), (1, 2)).nearest_above((0, 1))
    assert not side.exact
    assert side.above.up > side.above.down
    assert best(views, prior).r == 1
    three = Viewset([1000, 1001, 4000], [[[400, 600, 2000], [600, 401, 2000]]] * 120)
    assert best(three, {0: "0.2", 1: "0.3", 2: "0.5"}).r == Fraction(5, 2)
