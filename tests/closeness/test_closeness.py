"""R-closeness and EST: against the exact reference over all tuples, and against the numbers of the paper."""

import json
import math
import random
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import gmpy2
import numpy as np
import pytest
from both_verifiers import in_both

import nbcfast
from nbcfast import Infeasible, Viewset, safety, verify_release
from nbcfast.closeness import achieved, best, est, lower_bound
from nbcfast.closeness import bounds as bounds_module
from nbcfast.closeness import program as program_module
from nbcfast.closeness import publish as publish_module
from nbcfast.closeness import reached as reached_module
from nbcfast.closeness import region as region_module
from nbcfast.closeness import scores as margins_module
from nbcfast.closeness.scores import Scores
from nbcfast.published.release import Certificate, Release
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps
from nbcfast.safety.prior import integers, prior_of
from nbcfast.transform import fill_zeros

WORK = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
QUARTER = {"ill": "0.75", "well": "0.25"}
QUARTERS = {label: Fraction(share) for label, share in QUARTER.items()}


def drawn(rng, n_classes=None, n=None, most=60):
    """Random views of rows, with zeros and ties."""
    n_classes = rng.choice([2, 2, 3, 3, 4]) if n_classes is None else n_classes
    n = rng.choice([1, 1, 2, 2, 3]) if n is None else n
    of_class = [rng.choice([1, 2, 3, 4, 6, 8, 12, rng.randint(1, most)]) for _ in range(n_classes)]
    if rng.random() < 0.3:
        of_class = of_class[:1] * n_classes
    arrays = []
    for _ in range(n):
        array = [[0] * n_classes for _ in range(rng.randint(1, 4))]
        for c, count in enumerate(of_class):
            if rng.random() < 0.3:
                rows = [place % len(array) for place in range(count)]
            else:
                rows = rng.choices(range(len(array)), [rng.random() ** 2 for _ in array], k=count)
            for t in rows:
                array[t][c] += 1
        arrays.append(array)
    return Viewset(of_class, arrays)


def drawn_prior(rng, views, most=50):
    shares = [rng.choice([1, 1, 2, 3, 5, rng.randint(1, most)]) for _ in views.classes]
    return {label: Fraction(share, sum(shares)) for label, share in zip(views.classes, shares, strict=True)}


def cases(seed, number, **options):
    rng = random.Random(seed)
    for _ in range(number):
        views = drawn(rng, **options)
        yield rng, views, drawn_prior(rng, views)


def positive(rng, sizes, n_classes, total=300):
    """Random views without zeros, of equal class counts."""
    arrays = []
    for size in sizes:
        most = 2 * total // (3 * size)
        columns = [[1 + rng.randrange(1, most) for _ in range(size)] for _ in range(n_classes)]
        for column in columns:
            column[0] += total - sum(column)
        arrays.append([list(row) for row in zip(*columns, strict=True)])
    return Viewset([total] * n_classes, arrays)


def log(number):
    return math.log(number.numerator) - math.log(number.denominator)


# What views come to ---------------------------------------------------------------------------------------


def test_achieved_equals_reference():
    infinite = finite = 0
    for _, views, prior in cases(1, 1_000):
        found = achieved(views, prior)
        fifth, odds = reference.achieved(views, prior)
        if fifth == math.inf:
            infinite += 1
            assert found.definition5.infinite
            assert found.statement11.infinite
            assert found.r is None
            assert found.log_r == math.inf
            continue
        finite += 1
        assert found.definition5.exact
        assert (found.definition5.value, found.r) == (fifth, odds)
        assert found.definition5.log == pytest.approx(log(fifth), abs=1e-14)
        assert found.log_r == pytest.approx(log(odds), abs=1e-14)
        assert fifth <= odds <= fifth**2
    assert min(infinite, finite) > 100


def test_achieved_names_a_tuple_that_attains_it():
    for _, views, prior in cases(2, 200):
        found = achieved(views, prior)
        _, score = steps.scores_of(views)

        def at(one, views=views, score=score):
            row = tuple(views.domain(name).index(one.tuple[name]) for name in views.attributes)
            return dict(zip(views.classes, score(row), strict=True))

        x, (c, d) = at(found.statement11), found.statement11.classes
        if found.r is None:
            assert x[c] > 0 == x[d]
        else:
            assert x[c] * prior[d] == found.r * x[d] * prior[c]
        x, (c,) = at(found.definition5), found.definition5.classes
        posterior = x[c] / sum(x.values())
        if found.definition5.infinite:
            assert (posterior, found.definition5.direction) == (0, "down")
        else:
            ratio = posterior / prior[c]
            ratio = ratio if found.definition5.direction == "up" else 1 / ratio
            assert ratio == found.definition5.value


def test_single_classes_at_full_tuples_decide_definition_5():
    """No property of the class and nothing less known goes further: mediants and means."""
    for _, views, prior in cases(3, 60):
        found = achieved(views, prior).definition5
        if found.infinite:
            continue
        codes = [range(len(views.counts[name])) for name in views.attributes]
        seen = Fraction(1)
        for size in range(len(codes) + 1):
            for places in combinations(range(len(codes)), size):
                for values in product(*(codes[i] for i in places)):
                    known = {views.attributes[i]: value for i, value in zip(places, values, strict=True)}
                    for n in range(1, len(views.classes)):
                        for classes in combinations(range(len(views.classes)), n):
                            ratio = reference.subset_closeness(views, prior, known, classes)
                            if ratio is not None:
                                seen = max(seen, ratio, 1 / ratio)
        assert seen == found.value


def test_values_and_classes_without_rows():
    views = Viewset([6, 6], [[[4, 2], [2, 4], [0, 0]]])
    prior = {0: "0.5", 1: "0.5"}
    assert achieved(views, prior).r == 2  # no row has the third value: nobody is known by it
    empty = Viewset([6, 0], [[[4, 0], [2, 0]]])
    assert achieved(empty, prior).statement11.infinite
    assert achieved(empty, prior).definition5.classes == (1,)
    one = Viewset([6], [[[4], [2]]], classes=["only"])
    assert achieved(one, {"only": 1}).definition5.value == achieved(one, {"only": 1}).r == 1
    none = Viewset([4, 2], [])
    assert achieved(none, prior).definition5.value == Fraction(3, 2)
    assert achieved(none, prior).r == 2


def test_a_column_of_any_name_may_be_there():
    views = Viewset([6, 6], {"prior": [[4, 2], [2, 4]], "prior_": [[3, 3], [3, 3]]})
    assert achieved(views, {0: "0.5", 1: "0.5"}).statement11.tuple == {"prior": 0, "prior_": 0}


def test_a_search_that_is_cut_says_so(monkeypatch):
    rng = random.Random(4)
    cut = 0
    for _ in range(60):
        views = positive(rng, [4, 4, 4, 4], 4)
        prior = drawn_prior(rng, views, most=3)
        whole = achieved(views, prior).definition5
        with monkeypatch.context() as patch:
            patch.setattr(reached_module, "BEAM", 1)
            patch.setattr(reached_module, "NARROW", 1)
            found = achieved(views, prior).definition5
        assert whole.exact
        assert found.least <= whole.log + 1e-12 <= found.log + 2e-12
        assert found.exact == (found.value is not None)
        if found.exact:
            assert found.value == whole.value
        else:
            cut += 1
            assert "at most" in repr(found)
    assert cut > 3


def test_definition_5_over_a_large_domain():
    """Three classes, 3^14 tuples: the same as over all of them, block by block."""
    rng = np.random.default_rng(5)
    arrays = []
    for _ in range(14):
        array = rng.integers(1, 90, (3, 3))
        array[0] += 300 - array.sum(axis=0)
        arrays.append(array)
    views = Viewset([300, 300, 300], arrays)
    prior = {0: "0.5", 1: "0.3", 2: "0.2"}
    found = achieved(views, prior).definition5
    assert found.exact
    sums = np.zeros((1, 3))
    for array in arrays:
        sums = (sums[:, np.newaxis] + np.log(array)[np.newaxis]).reshape(-1, 3)
    sums -= sums.max(axis=1, keepdims=True)
    ratios = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True) / [0.5, 0.3, 0.2]
    assert math.exp(found.log) == pytest.approx(max(ratios.max(), 1 / ratios.min()), rel=1e-9)


def test_numbers_too_long_to_write_out():
    views = Viewset([2000] * 3, [[[1301, 700, 1000], [699, 1300, 1000]]] * 1_500)
    found = achieved(views, {0: "0.5", 1: "0.25", 2: "0.25"})
    assert found.r is None
    assert found.log_r == pytest.approx(1_500 * math.log(1300 / 699) + math.log(2), rel=1e-12)
    assert found.definition5.value is None
    assert found.definition5.log == pytest.approx(found.log_r - math.log(2) + math.log(0.5), rel=1e-6)


# What cannot be had ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("preserve", ["order", "label"])
def test_lower_bound_equals_reference(preserve):
    for _, views, prior in cases(6, 500):
        found = lower_bound(views, prior, preserve=preserve)
        square, other, odds = reference.lower_bounds(views, prior, preserve)
        assert found.statement11 == odds
        assert (found.inverted is None) == (odds == 1)
        rounded = max(other, found.definition5)
        assert found.definition5 == rounded
        if square <= other**2:
            assert found.definition5 == other
        else:
            assert square * (1 - Fraction(1, 2**60)) < found.definition5**2 <= square
        if found.inverted is not None:
            row = tuple(views.domain(name).index(found.witness[name]) for name in views.attributes)
            ranking = [views.classes[c] for c in steps.ranking(steps.scores_of(views)[1](row))]
            d, c = found.inverted
            assert ranking.index(d) < ranking.index(c)
            assert preserve == "order" or ranking[0] == d
            assert prior[c] / prior[d] == odds


def test_a_prior_of_75_percent_against_a_class_that_wins():
    """The paper's example claims r = 1.3. No equivalent classifier whatsoever comes below 2 (3 in odds)."""
    found = lower_bound(WORK, QUARTER)
    assert (found.definition5, found.statement11) == (2, 3)
    assert found.inverted == ("well", "ill")
    worlds = lower_bound(WORK, QUARTER, attacker="worlds")
    assert (worlds.definition5, worlds.statement11, worlds.strict) == (Fraction(4, 3), Fraction(3, 2), True)
    assert best(WORK, QUARTER).r == 3
    with pytest.raises(Infeasible, match=r"r = 1\.3 cannot be kept .* comes below 3, and none attains that"):
        est(WORK, QUARTER, "1.3")
    # The 75 % are not the trouble if that class always wins.
    ahead, prior = Viewset([9, 3], [[[6, 1], [3, 2]]]), {0: Fraction(3, 4), 1: Fraction(1, 4)}
    assert lower_bound(ahead, prior).definition5 == 1
    kept(ahead, prior, est(ahead, prior, "1.3"), "1.3")


def test_the_bound_of_2_is_sharp():
    """All viewsets of one or two binary attributes and few rows in which the rarer class ever wins."""
    least = None
    for p, q in product(range(1, 5), repeat=2):
        for n in (1, 2):
            for a in product(range(1, p), repeat=n):
                for b in product(range(1, q), repeat=n):
                    views = Viewset([p, q], [[[x, y], [p - x, q - y]] for x, y in zip(a, b, strict=True)])
                    bound = lower_bound(views, {0: "0.75", 1: "0.25"})
                    fifth, odds = reference.achieved(views, {0: "0.75", 1: "0.25"})
                    assert fifth >= bound.definition5
                    assert odds >= bound.statement11
                    if bound.inverted is not None:
                        least = fifth if least is None else min(least, fifth)
    assert least == 2


def test_a_class_that_is_best_is_found_or_nothing_is_claimed(monkeypatch):
    rng = random.Random(7)
    missed = 0
    for _ in range(60):
        views = positive(rng, [4, 4, 4, 4], 6)
        filled = fill_zeros(views, preserve="label")
        found = [bounds_module._where_best(filled, d) for d in range(6)]
        with monkeypatch.context() as patch:
            patch.setattr(bounds_module, "BEAM", 1)
            patch.setattr(bounds_module, "NARROW", 1)
            fewer = [bounds_module._where_best(filled, d) for d in range(6)]
        for all_of_it, some in zip(found, fewer, strict=True):
            assert some is None or all_of_it is not None
            missed += some is None and all_of_it is not None
    assert missed > 3


# The linear program ---------------------------------------------------------------------------------------


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
    for _, views, prior in cases(9, 400, n_classes=3):
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


def test_margins_of_one_side_equal_those_of_all_tuples():
    for _, views, prior in cases(12, 200):
        scores = Scores(fill_zeros(views), integers(prior_of(views, prior)))
        _, score = steps.scores_of(views)
        for c, d in scores.pairs:
            ratios = [x[c] / x[d] for x in map(score, steps.tuples(steps.lists(views)[1])) if x[c] and x[d]]
            side = scores.side((c, d))
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
        prior = integers(prior_of(views, drawn_prior(rng, views)))
        scores = Scores(fill_zeros(views), prior)
        monkeypatch.setattr(margins_module, "split", real)
        expected = {pair: scores.side(pair) for pair in scores.pairs}
        if number % 2:
            monkeypatch.setattr(margins_module, "MOST_EXACT", 0)
        monkeypatch.setattr(margins_module, "split", lambda sizes, most, work: real(sizes, 3, 10**9))
        again = Scores(fill_zeros(views), prior)
        for pair in scores.pairs:
            found, true = again.side(pair), expected[pair]
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
    side = Scores(fill_zeros(views), (1, 2)).side((0, 1))
    assert not side.exact
    assert side.above.up > side.above.down
    assert best(views, prior).r == 1
    three = Viewset([1000, 1001, 4000], [[[400, 600, 2000], [600, 401, 2000]]] * 120)
    assert best(three, {0: "0.2", 1: "0.3", 2: "0.5"}).r == Fraction(5, 2)


# EST ------------------------------------------------------------------------------------------------------


def kept(views, prior, release, r, preserve="order"):
    """What a release with r has to be, over all tuples; R of Statement 11."""
    published = release.views
    fifth, odds = reference.achieved(published, prior)
    assert published.is_realistic()
    assert all(count > 0 for array in published.counts.values() for count in array.ravel().tolist())
    assert fifth <= odds <= Fraction(r)
    assert not steps.differing(views, published, preserve)
    assert release.certificate.equal
    return odds


@pytest.mark.parametrize("preserve", ["order", "label"])
@pytest.mark.parametrize("rows", ["proven", "smallest"])
def test_est_keeps_the_order_and_r(preserve, rows):
    number = 60 if rows == "proven" else 10
    for rng, views, prior in cases(f"{preserve}{rows}", number):
        found = best(views, prior, preserve=preserve)
        bound = lower_bound(views, prior, preserve=preserve)
        for times in ("1.001", "1.5", "4"):
            r = Fraction(found.r).limit_denominator(10**9) * Fraction(times)
            gauge = rng.random() < 0.8
            release = est(views, prior, r, preserve=preserve, rows=rows, gauge=gauge)
            odds = kept(views, prior, release, r, preserve)
            assert bound.statement11 <= odds
            assert bound.definition5 <= reference.achieved(release.views, prior)[0]
            assert (release.certificate.method, release.certificate.r) == ("est", r)


@pytest.mark.thorough
def test_est_keeps_the_order_and_r_of_thousands():
    for rng, views, prior in cases(14, 3_000):
        preserve = rng.choice(["order", "label"])
        found = best(views, prior, preserve=preserve)
        for times in ("1.0001", "1.1", "10"):
            r = Fraction(found.r).limit_denominator(10**9) * Fraction(times)
            rows = rng.choice(["proven", "smallest"])
            kept(views, prior, est(views, prior, r, preserve=preserve, rows=rows), r, preserve)


def test_nothing_below_best_is_published():
    refused = 0
    for _, views, prior in cases(15, 150):
        found = best(views, prior)
        exactly = isinstance(found.r, Fraction)
        for r in [found.r] if exactly else []:
            if r > 1:
                refused += 1
                with pytest.raises(Infeasible, match="cannot be kept with the same order") as caught:
                    est(views, prior, r)
                assert caught.value.best["best_r"] == r
                assert caught.value.best["attained"] == found.attained
                assert caught.value.best["log_best_r"] == pytest.approx(log(r))
        low = Fraction(found.log_r).limit_denominator(10**6) * Fraction(9, 10)
        r = 1 + Fraction(math.expm1(low))
        if r > 1:
            refused += 1
            with pytest.raises(Infeasible, match="no output of EST comes below"):
                est(views, prior, r, rows="proven")
    assert refused > 100


def below(number):
    """The fraction next below this one, of those with up to 38 digits; next above, of -number, is -below."""
    up, down = number.numerator, number.denominator
    longest = 10**38 - 1
    most = min(longest, longest * down // abs(up))
    least = pow(up, -1, down) if down > 1 else 0
    bottom = least + (most - least) // down * down
    return Fraction((up * bottom - 1) // down, bottom)


def test_r_a_hair_above_the_limit():
    for digits, rows in product((6, 37), ("proven", "smallest")):
        r = 3 + Fraction(1, 10**digits)
        kept(WORK, QUARTERS, est(WORK, QUARTER, r, rows=rows), r)
    whole = 10**38 - 1  # of so long a prior EST ends at so long an r that another one can be very near to it
    prior = {"ill": Fraction(3 * 10**37, whole), "well": Fraction(7 * 10**37 - 1, whole)}
    end = best(WORK, prior).r
    with pytest.raises(Infeasible, match=r"so little above .*, where EST ends"):
        est(WORK, prior, -below(-end))


def test_scores_keep_what_r_allows():
    """The power x is as large as it may be: r is used up to a tenth, or the order is sharp already."""
    prior = {0: "0.75", 1: "0.25"}
    views = Viewset([800, 1200], [[[500, 300], [300, 900]], [[100, 900], [700, 300]]])
    for r in (4, 8, 15, 30):
        assert achieved(est(views, prior, r, rows="proven").views, prior).r >= r * Fraction(9, 10)
    sharp = est(views, prior, 10**6, rows=10**6).views
    assert achieved(sharp, prior).log_r == pytest.approx(achieved(views, prior).log_r, abs=1e-3)


def test_the_prior_pulls_where_it_may():
    """Where no class of smaller prior ever wins, y > 0 lets x stay larger than with y = 0."""
    views = Viewset([900, 600], [[[500, 350], [400, 250]]])
    prior = {0: "0.75", 1: "0.25"}
    scores = Scores(fill_zeros(views), integers(prior_of(views, prior)))
    region = region_module.chosen(scores, Fraction(5, 4))
    assert region.slope is None
    assert region.powers(region.log)[1] > 0
    kept(views, {0: Fraction(3, 4), 1: Fraction(1, 4)}, est(views, prior, "1.25"), "1.25")
    three = Viewset([600, 500, 100], [[[300, 200, 30], [300, 300, 70]]])
    many = {0: "0.3", 1: "0.6", 2: "0.1"}
    scores = Scores(fill_zeros(three), integers(prior_of(three, many)))
    near = 1 + (best(three, many).r - 1) * 1.02
    region = region_module.chosen(scores, Fraction(near))
    assert region.slope > 0
    assert region.powers(region.log - (region.log - region.floor) / 4)[1] > 0
    exact = {label: Fraction(number) for label, number in many.items()}
    kept(three, exact, est(three, many, near), Fraction(repr(near)))


def test_powers_are_inside_their_region():
    """Over random views: order and r hold for the real numbers X^x F^y, with the room that is claimed."""
    for rng, views, prior in cases(16, 150):
        found = best(views, prior)
        r = Fraction(found.r).limit_denominator(10**9) * Fraction(rng.choice(["1.01", "1.3", "5"]))
        scores = Scores(fill_zeros(views), integers(prior_of(views, prior)))
        region = region_module.chosen(scores, r)
        margin = publish_module.margin_of(fill_zeros(views), True)
        k, y = region.powers(region.log - (region.log - region.floor) / 8)
        assert 0 <= y < 1
        between, above = region.room(k, y, margin)
        largest, least, tied = reference.margins(views, prior)
        x, of = 1 / k, list(prior.values())
        assert above > 0
        for (c, d), ratio in largest.items():
            assert float(x) * log(ratio) - (1 - float(y)) * log(of[c] / of[d]) <= log(r) - float(above) + 1e-9
        for (c, d), ratio in least.items():
            assert float(x) * log(ratio) + float(y) * log(of[c] / of[d]) >= float(between) - 1e-9 > -1e-9
        assert not tied or y == 0


def test_simplest_fractions():
    assert region_module.simplest(Fraction(314, 100), Fraction(315, 100)) == Fraction(22, 7)
    assert region_module.simplest(Fraction(5, 2), Fraction(7, 2)) == 3
    assert region_module.simplest(Fraction(1, 3), Fraction(1, 3)) == Fraction(1, 3)
    for low, high in [(Fraction(7, 19), Fraction(8, 19)), (Fraction(101, 100), Fraction(102, 100))]:
        found = region_module.simplest(low, high)
        assert low <= found <= high
        for q in range(1, found.denominator):
            assert math.ceil(low * q) > high * q


def test_est_sees_the_ratios_of_scores_alone():
    """Views with equal X_c / X_d in all tuples give equal files."""
    views = Viewset([20, 30], [[[8, 12], [12, 18]], [[5, 20], [15, 10]]])
    more = Viewset([40, 60], [[[16, 24], [24, 36]], [[10, 40], [30, 20]]])
    other = Viewset([20, 30], [[[4, 6], [16, 24]], [[5, 20], [15, 10]]])
    prior = {0: "0.4", 1: "0.6"}
    for rows in ("proven", "smallest"):
        made = [est(one, prior, 3, rows=rows).views for one in (views, more, other)]
        assert made[0] == made[1] == made[2]


def test_zeros_are_filled_first():
    views = Viewset([5, 7, 4], [[[5, 3, 0], [0, 4, 4]], [[1, 0, 2], [4, 7, 2]]])
    prior = {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
    for preserve in ("order", "label"):
        release = est(views, prior, 5, preserve=preserve)
        kept(views, prior, release, 5, preserve)


def test_views_that_are_close_already_leave_as_they_are_without_the_gauge():
    release = est(WORK, QUARTER, 6, gauge=False)
    assert release.views == WORK
    assert release.certificate.identity
    assert est(WORK, QUARTER, 6).views != WORK
    assert not est(WORK, QUARTER, "5.999", gauge=False).certificate.identity


def test_one_class_and_no_attributes():
    one = est(Viewset([6], [[[4], [2]]]), {0: 1}, 2)
    assert achieved(one.views, {0: 1}).r == 1
    prior = {0: Fraction(1, 3), 1: Fraction(2, 3)}
    none = Viewset([4, 2], [])
    kept(none, prior, est(none, prior, "2.5"), "2.5")
    with pytest.raises(Infeasible, match="comes below 2"):
        est(none, prior, 2)


def test_a_number_of_rows():
    release = est(WORK, QUARTER, 4, rows=100)
    assert release.views.n_rows == 100
    kept(WORK, QUARTERS, release, 4)
    views = Viewset([300, 300], [[[101, 100], [99, 100], [100, 100]], [[200, 199], [100, 101]]])
    prior = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    with pytest.raises(Infeasible) as caught:
        est(views, prior, "1.001", rows=40)
    nearest = caught.value.best["release"]
    assert achieved(nearest.views, prior).r <= Fraction("1.001")
    assert caught.value.best["rows"] == nearest.views.n_rows
    with pytest.raises(Infeasible, match="5 rows are too few"):
        est(views, prior, 2, rows=5)
    some = est(views, prior, 2, rows=30, allow_differences=True)
    assert some.certificate.differing_tuples == len(steps.differing(views, some.views))
    assert achieved(some.views, prior).r <= 2


def test_the_attacker_of_worlds_needs_half():
    release = est(WORK, QUARTER, 8, attacker="worlds")
    assert achieved(release.views, QUARTER).r <= 4
    assert (release.certificate.r, release.certificate.r_limit) == (8, 4)
    with pytest.raises(Infeasible, match=r"r = 6 cannot be kept .* comes below 6") as caught:
        est(WORK, QUARTER, 6, attacker="worlds")
    assert caught.value.best["best_r"] == 6
    with pytest.raises(ValueError, match="r must be above 2 for attacker 'worlds'"):
        est(WORK, QUARTER, 2, attacker="worlds")


def test_domains_that_are_met_in_the_middle_or_only_proven():
    rng = np.random.default_rng(17)
    arrays = []
    for _ in range(24):
        array = rng.integers(1, 99, (2, 2))
        array[0] += 200 - array.sum(axis=0)
        arrays.append(array)
    prior = {0: "0.75", 1: "0.25"}
    for n, equivalence in ((24, {"enumeration", "meet in the middle"}), (60, {"interval"})):
        views = Viewset([200, 200], (arrays * 3)[:n])
        release = est(views, prior, 4)
        assert release.certificate.equal
        assert release.certificate.equivalence in equivalence
        assert achieved(release.views, prior).log_r <= math.log(4)
        if n == 24:
            assert nbcfast.compare(views, release.views).equal


def test_rows_of_a_table_are_looked_at():
    table = nbcfast.Table({"job": [0] * 6 + [1] * 6, "class": [0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1]})
    views = nbcfast.count(table, "class")
    release = est(views, {0: "0.75", 1: "0.25"}, 4, table=table, class_name="class")
    assert release.certificate.differing_rows == 0
    assert nbcfast.count(release.dataset(np.random.default_rng(1)), "class") == release.views


# The paper's own steps, and where it is wrong --------------------------------------------------------------


def test_the_steps_come_to_one_product_of_powers():
    """Powers, split, SafetyTransform and merge give X^x F^y, and counts that add up."""
    rng = random.Random(18)
    for _ in range(40):
        views = drawn(rng)
        prior = drawn_prior(rng, views, most=4)
        x, y = Fraction(rng.randint(1, 40), rng.randint(10, 40)), Fraction(rng.randint(0, 9), 10)
        of_class, counts = reference.steps(views, prior, x, y, bits=128)
        assert all(sum(row[c] for row in array) == p for array in counts for c, p in enumerate(of_class))
        weights = steps.weights_of(of_class, len(counts))
        for row in steps.tuples(counts):
            scores = steps.scores(weights, counts, row)
            logs = reference.direct(views, prior, x, y, row)
            with gmpy2.context(precision=256):
                for c in range(len(logs)):
                    off = gmpy2.log(gmpy2.mpq(scores[c] / scores[0])) - (logs[c] - logs[0])
                    assert abs(off) < 2.0**-90


def test_the_steps_keep_the_order_where_y_is_below_m_x_and_lose_it_beyond():
    kept_orders = lost = 0
    rng = random.Random(19)
    for _ in range(600):
        views = drawn(rng, n=rng.choice([1, 2]))
        prior = drawn_prior(rng, views, most=4)
        _, least, tied = reference.margins(views, prior)
        of = list(prior.values())
        slopes = [log(ratio) / log(of[d] / of[c]) for (c, d), ratio in least.items() if of[d] > of[c]]
        equal = len(set(of)) < len(of)
        if tied or not slopes or equal or 0 in [count for a in views.counts.values() for count in a.ravel()]:
            continue
        x = Fraction(1, 2)
        for share, same in ((Fraction(9, 10), True), (Fraction(11, 10), False)):
            y = Fraction(min(slopes)).limit_denominator(50) * x * share
            if not 0 < y < 1 or (float(y) < float(x) * min(slopes)) != same:
                continue
            of_class, counts = reference.steps(views, prior, x, y, bits=96)
            different = steps.differing(views, (steps.weights_of(of_class, len(counts)), counts))
            assert bool(different) != same
            kept_orders, lost = kept_orders + same, lost + (not same)
    assert min(kept_orders, lost) > 10


def test_lemma_12():
    """Splitting a class in two divides its score by 2: the order needs the least ratio of scores, 3/2.

    The printed condition compares with the two largest counts, 1000 / 4 = 250, and lets it pass.
    """
    views = Viewset([1003, 6], [[[1000, 4], [3, 2]]])
    assert reference.lemma12(views) == 250
    prior = {0: Fraction(2, 3), 1: Fraction(1, 3)}
    weights, counts, parts = reference.split(steps.weights_of([1003, 6], 1), steps.lists(views)[1], [2, 1])
    assert parts == [0, 0, 1]
    second = steps.scores(weights, counts, (1,))
    assert second == [Fraction(3, 2), Fraction(3, 2), 2]  # class 0 had won with 3 against 2
    _, least, _ = reference.margins(views, prior)
    assert least[0, 1] == Fraction(3, 2)
    # Merging at full strength does the same for the class of larger prior: y has to stay below m x.
    scores = Scores(fill_zeros(views), (1, 250))
    assert scores.slope(64)[0] < Fraction(math.log(1.5) / math.log(250)) * (1 + Fraction(1, 10**9))
    exact = {0: Fraction(1, 251), 1: Fraction(250, 251)}
    release = est(views, exact, 300)
    kept(views, exact, release, 300)


def test_ties_are_not_resolved_by_adding_to_counts():
    """Delta_1 = 0.9 delta_2 < delta_2, and still the lower class wins; the sums are wrong besides."""
    views = Viewset([20, 20], [[[1, 4], [19, 16]], [[16, 4], [4, 16]]])
    of, counts, scores = reference.tie_by_adding(views, ["0.0009", "0.001"])
    first, second = scores[0, 0]
    assert first > second
    assert (round(float(first), 5), round(float(second), 5)) == (0.80073, 0.80036)
    assert any(sum(row[c] for row in array) != of[c] for array in counts for c in range(2))
    prior = {0: Fraction(3, 4), 1: Fraction(1, 4)}
    release = est(views, prior, 20)  # its ties go to the later class, and its counts add up
    kept(views, prior, release, 20)
    assert steps.ranking(steps.scores_of(release.views)[1]((0, 0)))[0] == 1


def test_adult_3(data):
    table = nbcfast.read_csv(
        data / "adult-train.csv", columns=["age", "education_num", "hours_per_week", "income"]
    )
    views = nbcfast.count(table, "income", classes=(">50K", "<=50K"))
    prior = {">50K": "0.25", "<=50K": "0.75"}
    filled = fill_zeros(views)
    arrays = [array.astype(float) for array in views.counts.values()]
    with np.errstate(divide="ignore"):
        logs = [np.log(array) for array in arrays]
        sums = -2 * np.log(views.class_counts.astype(float))
        scores = logs[0][:, None, None] + logs[1][None, :, None] + logs[2][None, None, :] + sums
    positive = np.isfinite(scores).all(axis=-1)
    assert int(positive.sum()) == 77_025
    assert int((scores[..., 0] > scores[..., 1])[positive].sum()) == 13_576
    assert achieved(views, prior).statement11.infinite
    bound = lower_bound(views, prior)
    assert (bound.definition5, bound.statement11, bound.inverted) == (2, 3, (">50K", "<=50K"))
    assert best(views, prior).r == 3
    with pytest.raises(Infeasible, match=r"r = 1\.3 cannot be kept"):
        est(views, prior, "1.3")
    scored = Scores(filled, integers(prior_of(views, prior)))
    least = scored.side((0, 1)).above
    s_m = Fraction(int(least.up), int(least.down))
    assert math.log1p(s_m - 1) == pytest.approx(1.9513960496864301e-4, rel=1e-15)
    # EST at y -> 1, and what the paper's bounds need at best: nobody publishes ln r of millions.
    steep = float(max(scored.log_largest(pair, 64)[0] for pair in scored.pairs))
    assert math.log(3) * steep / math.log1p(s_m - 1) == pytest.approx(1.86e5, rel=1e-2)
    smallest = Fraction(1, 2 ** max(filled.exponents))
    assert 3.2e6 < reference.limit_of_statement14(views, prior, s_m, smallest) < 3.3e6
    wrong = reference.lemma12(views)
    assert round(float(wrong), 3) == 1.356
    assert 914 < reference.limit_of_statement14(views, prior, wrong, 1) < 915
    for rows, most in (("proven", 10**9), ("smallest", 3_000_000)):
        release = est(views, prior, 4, rows=rows)
        found = achieved(release.views, prior)
        assert 3.9 < found.r <= 4
        assert 2 < found.definition5.value <= found.r
        assert nbcfast.compare(views, release.views).equal
        assert release.views.n_rows <= most
        assert np.array_equal(release.predict(table), views.predict(table))


# Certificates ---------------------------------------------------------------------------------------------


def script(path):
    command = [sys.executable, "-I", verify_release.__file__, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_r_and_the_prior_are_in_the_file_and_checked_from_it(tmp_path):
    release = est(WORK, QUARTER, 4, class_name="state")
    release.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", against=WORK)
    assert found.ok
    assert [check.name for check in found.checks][-2:] == ["closeness", "equivalence"]
    loaded = nbcfast.load(tmp_path / "out")
    assert loaded == release
    assert loaded.certificate.prior == (Fraction(3, 4), Fraction(1, 4))
    fields = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert (fields["method"], fields["r"], fields["prior"]) == ("est", "4/1", ["3/4", "1/4"])
    assert fields["amplification"] == "12/1"
    assert set(fields) == verify_release.FIELDS | verify_release.CLOSENESS_FIELDS
    run = script(tmp_path / "out")
    assert run.returncode == 0
    assert "closeness" in run.stdout
    assert "r <= 4 of the prior" in repr(release)


def resealed(folder, target, **changes):
    """The file with changed fields and a hash that fits."""
    fields = json.loads((folder / "certificate.json").read_text())
    for name, entry in changes.items():
        if entry is None:
            del fields[name]
        else:
            fields[name] = entry
    fields["sha256"] = verify_release.digest(fields)
    target.mkdir()
    (target / "certificate.json").write_text(verify_release.canonical_json(fields) + "\n")
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"r": "2/1"}, "field 'amplification': expected r times"),
        ({"r": "2/1", "amplification": "6/1"}, "Lambda exceeds the limit 6|> 6|more than r = 2|> 2,"),
        ({"prior": ["1/4", "3/4"]}, "more than r = 4|> 4,"),
        ({"r": "1/1"}, "field 'r': expected more than 1"),
        ({"r": "4"}, "field 'r': expected a rational"),
        ({"r": None}, "field 'r' is missing"),
        ({"prior": None}, "field 'prior' is missing"),
        ({"prior": ["1/4", "1/4"]}, "add up to 1"),
        ({"prior": ["0/1", "1/1"]}, "above 0"),
        ({"prior": ["1/1"]}, "expected 2 rationals"),
        ({"prior": "3/4"}, "expected 2 rationals"),
        ({"method": "safetytransform"}, "field 'prior' is unknown"),
        ({"attacker": "worlds"}, "more than r = 2|> 2,"),
        ({"attacker": "worlds", "r": "2/1"}, "field 'r': expected more than 2"),
    ],
)
def test_a_certificate_that_claims_too_much_is_caught(tmp_path, changes, message):
    views = Viewset([600, 600], {"job": [[400, 200], [200, 400]]}, classes=["ill", "well"])
    release = est(views, QUARTER, 4, rows="proven")
    release.save(tmp_path / "out")
    other = resealed(tmp_path / "out", tmp_path / "other", **changes)
    found = nbcfast.verify(other)
    assert not found.ok
    run = script(other)
    assert run.returncode == 1
    assert re.search(message, repr(found)), repr(found)
    assert re.search(message, run.stdout), run.stdout
    with pytest.raises(ValueError, match=r"certificate\.json"):
        nbcfast.load(other)


def test_scripts_and_library_agree_on_r_at_the_edge(tmp_path, monkeypatch):
    """R of the counts themselves passes, a hair less does not: products decide where logarithms cannot."""
    in_both(monkeypatch, "DIGITS", 32)  # of logarithms, which leave that hair open
    for number, (_, views, prior) in enumerate(cases(20, 12)):
        widest = max(prior.values()) / min(prior.values())
        release = est(views, prior, 2 * widest, rows="proven")
        r = achieved(release.views, prior).r
        made = Release(release.views, replace(release.certificate, r=r, amplification=r * widest))
        made.save(tmp_path / f"{number}")
        assert nbcfast.verify(tmp_path / f"{number}").ok
        assert script(tmp_path / f"{number}").returncode == 0
        less = below(r)
        assert r * (1 - Fraction(1, 2**50)) < less < r
        made = Release(release.views, replace(made.certificate, r=less, amplification=less * widest))
        with pytest.raises(ValueError, match=r"not saved: (the odds of some tuple are off|Lambda of )"):
            made.save(tmp_path / f"{number}x")
        texts = [f"{part(x.numerator)}/{part(x.denominator)}" for x in (less, less * widest)]
        other = resealed(tmp_path / f"{number}", tmp_path / f"{number}y", r=texts[0], amplification=texts[1])
        assert not nbcfast.verify(other).ok
        assert script(other).returncode == 1


def part(number):
    return number if number <= 2**53 else hex(number)


def test_swapped_precedence_is_named(tmp_path):
    release = est(WORK, QUARTER, 4)
    release.save(tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"
    fields = json.loads(path.read_text())
    for name in ("classes", "class_counts", "prior"):
        fields[name] = fields[name][::-1]
    for entry in fields["attributes"]:
        entry["counts"] = [row[::-1] for row in entry["counts"]]
    path.write_text(verify_release.canonical_json(fields) + "\n")
    found = repr(nbcfast.verify(tmp_path / "out"))
    assert "the precedence of the classes 'well' and 'ill' is swapped" in found


def test_a_large_release_is_made_again(tmp_path):
    rng = np.random.default_rng(21)
    arrays = []
    for _ in range(60):
        array = rng.integers(1, 99, (2, 2))
        array[0] += 200 - array.sum(axis=0)
        arrays.append(array)
    views = Viewset([200, 200], arrays)
    release = est(views, {0: "0.75", 1: "0.25"}, 4)
    release.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", against=views)
    assert found.ok
    assert "made again" in found.checks[-1].text
    other = Viewset([200, 200], [*arrays[:-1], arrays[-1][::-1].copy()])
    assert not nbcfast.verify(tmp_path / "out", against=other).ok


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"r": 3}, ValueError, "method 'est' needs r and prior"),
        ({"r": 3, "prior": ("1/2", "1/4")}, ValueError, "add up to 1"),
        ({"r": 1, "prior": ("1/2", "1/2")}, ValueError, "r must be above 1 for attacker 'row'"),
        ({"r": 2, "prior": ("1/2", "1/2"), "attacker": "worlds"}, ValueError, "r must be above 2"),
        ({"r": 3, "prior": ("1/2", None)}, TypeError, "prior must be an int"),
        ({"method": "safetytransform", "r": 3}, ValueError, "r and prior belong to method 'est'"),
    ],
)
def test_certificates_of_wrong_fields(fields, error, message):
    with pytest.raises(error, match=message):
        Certificate(**{"method": "est", "amplification": 9, "tuples": 2, **fields})


def test_a_prior_of_another_number_of_classes_is_refused():
    made = Certificate(method="est", amplification=6, tuples=2, r=3, prior=("1/2", "1/4", "1/4"))
    with pytest.raises(ValueError, match="prior must be 2 numbers, got 3"):
        Release(WORK, made)


# Arguments ------------------------------------------------------------------------------------------------

CALLS = [achieved, lower_bound, best, lambda views, prior: est(views, prior, 4)]


@pytest.mark.parametrize("call", CALLS, ids=["achieved", "lower_bound", "best", "est"])
@pytest.mark.parametrize(
    ("prior", "error", "message"),
    [
        ({"ill": 1}, ValueError, "class 'well' is missing"),
        ({"ill": "0.5", "well": "0.5", "odd": 0}, ValueError, "expected classes of 'ill', 'well'; got 'odd'"),
        ({"ill": 1, "well": 0}, ValueError, "prior of class 'well' must be above 0, got 0"),
        ({"ill": "1.5", "well": "-0.5"}, ValueError, r"prior of class 'well' must be above 0, got -0\.5"),
        ({"ill": 0.7, "well": 0.2}, ValueError, r"must add up to 1 exactly, got 0\.9"),
        ({"ill": 0.333, "well": "2/3"}, ValueError, "must add up to 1 exactly, got 2999/3000"),
        ({"ill": "x", "well": 1}, ValueError, "prior of class 'ill' must be a finite number"),
        ({"ill": None, "well": 1}, TypeError, "prior of class 'ill' must be an int"),
        ({"ill": True, "well": 1}, TypeError, "prior of class 'ill' must be a number"),
        ({"ill": float("nan"), "well": 1}, ValueError, "finite number"),
        ([0.5, 0.5], TypeError, "prior must be a mapping of class to number, got list"),
    ],
)
def test_wrong_priors(call, prior, error, message):
    with pytest.raises(error, match=message):
        call(WORK, prior)


def test_numbers_of_every_kind():
    for prior in (
        {"ill": 0.75, "well": 0.25},
        {"ill": "3/4", "well": Fraction(1, 4)},
        {"well": np.float64(0.25), "ill": "0.75"},
    ):
        assert best(WORK, prior).r == 3
    assert best(WORK, {"ill": 0.1, "well": 0.9}).r == 9  # a float means its decimal text


def test_true_is_not_one():
    views = Viewset([6, 6], [[[4, 2], [2, 4]]])
    with pytest.raises(ValueError, match="got True"):
        achieved(views, {0: "0.5", True: "0.5"})


@pytest.mark.parametrize("call", CALLS, ids=["achieved", "lower_bound", "best", "est"])
def test_views_that_no_table_has(call):
    with pytest.raises(ValueError, match="realistic"):
        call(Viewset([6, 6], [[[4, 2], [2, 3]]]), {0: "0.5", 1: "0.5"})
    with pytest.raises(ValueError, match="no rows"):
        call(Viewset([0, 0], [[[0, 0]]]), {0: "0.5", 1: "0.5"})


def test_other_arguments():
    with pytest.raises(ValueError, match="r must be above 1 for attacker 'row'; got 1"):
        est(WORK, QUARTER, 1)
    with pytest.raises(TypeError, match="r must be an int"):
        est(WORK, QUARTER, None)
    with pytest.raises(ValueError, match="attacker must be 'row' or 'worlds', got 'me'"):
        est(WORK, QUARTER, 4, attacker="me")
    with pytest.raises(ValueError, match="attacker must be 'row' or 'worlds', got 'me'"):
        lower_bound(WORK, QUARTER, attacker="me")
    with pytest.raises(ValueError, match="preserve must be"):
        best(WORK, QUARTER, preserve="all")
    with pytest.raises(ValueError, match="rows must be"):
        est(WORK, QUARTER, 4, rows="all")
    with pytest.raises(ValueError, match="class 1 has no rows"):
        best(Viewset([6, 0], [[[4, 0], [2, 0]]]), {0: "0.5", 1: "0.5"})


def test_results_show_and_tell():
    found, bound, limit = achieved(WORK, QUARTER), lower_bound(WORK, QUARTER), best(WORK, QUARTER)
    assert repr(found) == "Achieved(r = 8/3 by Definition 5, 6 by Statement 11: 'well' over 'ill' at job=1)"
    assert repr(bound) == (
        "LowerBound(r >= 2 by Definition 5, >= 3 by Statement 11: 'well' beats 'ill' at job=1)"
    )
    assert repr(limit) == "Best(r = 3, infimum, not attained, at x, y -> 0)"
    for one in (found, bound, limit):
        json.dumps(one.to_dict())
    assert found.to_dict()["statement11"]["value"] == "6/1"
    assert found.to_dict()["prior"] == ["3/4", "1/4"]
    assert bound.to_dict()["inverted"] == ["well", "ill"]
    assert limit.to_dict()["r"] == "3/1"
    nothing = lower_bound(Viewset([9, 3], [[[6, 1], [3, 2]]]), {0: "0.75", 1: "0.25"})
    assert repr(nothing) == "LowerBound(r >= 1: no class beats one of larger prior)"
    assert "infinite" in repr(achieved(Viewset([2, 2], [[[2, 1], [0, 1]]]), {0: "0.5", 1: "0.5"}))


def test_progress_is_reported():
    calls = []
    four = positive(random.Random(22), [3, 3], 4)
    achieved(four, dict.fromkeys(range(4), "0.25"), progress=lambda *step: calls.append(step))
    assert calls == [(done, 4) for done in range(1, 5)]
    calls.clear()
    views = Viewset([60, 50, 10], [[[30, 20, 3], [30, 30, 7]]])
    best(views, {0: "0.3", 1: "0.6", 2: "0.1"}, progress=lambda *step: calls.append(step))
    assert calls
    assert all(0 < done <= total for done, total in calls)


def test_odds_of_the_release_stay_within_lambda():
    """What SafetyTransform promises follows: Lambda <= r F_max / F_min, as the certificate says."""
    for _, views, prior in cases(23, 40):
        found = best(views, prior)
        release = est(views, prior, Fraction(found.r).limit_denominator(10**9) * 2, rows="proven")
        made = release.certificate
        assert made.amplification == made.r * max(prior.values()) / min(prior.values())
        assert safety.at_most(release.views, made.amplification)


def test_many_values_of_one_attribute():
    rng = np.random.default_rng(0)
    columns = [rng.multinomial(32_000, np.full(16_000, 1 / 16_000)) + 1 for _ in range(3)]
    views = Viewset([48_000] * 3, {"x": np.array(columns).T})
    prior = {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}
    rows = views.counts["x"].tolist()
    odds = max(
        Fraction(row[c], row[d]) * prior[d] / prior[c] for row in rows for c in range(3) for d in range(3)
    )
    assert achieved(views, prior).statement11.value == odds
    assert achieved(views, prior).definition5.value == max(
        max(share / prior[c], prior[c] / share)
        for row in rows
        for c in range(3)
        for share in [Fraction(row[c], sum(row))]
    )


@pytest.mark.parametrize("views", [None, 1, {}, "x"])
def test_what_is_no_viewset_is_named(views):
    for call in (achieved, lower_bound, best, lambda v, p: est(v, p, 4)):
        with pytest.raises(TypeError, match="views must be a Viewset, got"):
            call(views, {0: 1})


def test_options_of_est_are_those_of_safety_transform():
    views, prior = Viewset([6, 6], [[[4, 2], [2, 4]]]), {0: "0.5", 1: "0.5"}
    with pytest.raises(TypeError, match="table: expected a Table, a mapping"):
        est(views, prior, 4, table=object())
    with pytest.raises(TypeError, match="allow_differences must be a bool, got str"):
        est(views, prior, 4, allow_differences="x")
    with pytest.raises(ValueError, match="allow_differences goes with a number of rows, got rows='smallest'"):
        est(views, prior, 4, allow_differences=True)
