"""EST: order and r of what leaves, over all tuples, and the region of its powers."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from closeness_cases import QUARTER, WORK, below, cases, kept, log
from how_many import how_many

import nbcfast
from nbcfast import Infeasible, Viewset
from nbcfast.closeness import achieved, best, est, lower_bound
from nbcfast.closeness import publish as publish_module
from nbcfast.closeness import region as region_module
from nbcfast.closeness.scores import ScoreRatios
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps
from nbcfast.safety.prior import prior_in_integers, prior_of
from nbcfast.transform import fill_zeros

QUARTERS = {label: Fraction(share) for label, share in QUARTER.items()}


@pytest.mark.parametrize("preserve", ["order", "label"])
@pytest.mark.parametrize("rows", ["proven", "smallest"])
def test_est_keeps_the_order_and_r(preserve, rows):
    number = 30 if rows == "proven" else 6
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
    for _, views, prior in cases(15, how_many(50, 150)):
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
    assert refused > how_many(30, 100)


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
    scores = ScoreRatios(fill_zeros(views), prior_in_integers(prior_of(views, prior)))
    region = region_module.chosen_region(scores, Fraction(5, 4))
    assert region.slope is None
    assert region.powers(region.log)[1] > 0
    kept(views, {0: Fraction(3, 4), 1: Fraction(1, 4)}, est(views, prior, "1.25"), "1.25")
    three = Viewset([600, 500, 100], [[[300, 200, 30], [300, 300, 70]]])
    many = {0: "0.3", 1: "0.6", 2: "0.1"}
    scores = ScoreRatios(fill_zeros(three), prior_in_integers(prior_of(three, many)))
    near = 1 + (best(three, many).r - 1) * 1.02
    region = region_module.chosen_region(scores, Fraction(near))
    assert region.slope > 0
    assert region.powers(region.log - (region.log - region.floor) / 4)[1] > 0
    exact = {label: Fraction(number) for label, number in many.items()}
    kept(three, exact, est(three, many, near), Fraction(repr(near)))


def test_powers_are_inside_their_region():
    """Over random views: order and r hold for the real numbers X^x F^y, with the room that is claimed."""
    for rng, views, prior in cases(16, 150):
        found = best(views, prior)
        r = Fraction(found.r).limit_denominator(10**9) * Fraction(rng.choice(["1.01", "1.3", "5"]))
        scores = ScoreRatios(fill_zeros(views), prior_in_integers(prior_of(views, prior)))
        region = region_module.chosen_region(scores, r)
        margin = publish_module.deciding_margin(fill_zeros(views), True)
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
