"""The steps of EST as the paper has them, and its numbers."""

import math
import random
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from closeness_cases import drawn, drawn_prior, kept, log
from how_many import how_many

import nbcfast
from nbcfast import Infeasible, Viewset
from nbcfast.closeness import achieved, best, est, lower_bound
from nbcfast.closeness.scores import ScoreRatios
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps
from nbcfast.safety.prior import prior_in_integers, prior_of
from nbcfast.transform import fill_zeros


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
    for _ in range(how_many(300, 600)):
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
    scores = ScoreRatios(fill_zeros(views), (1, 250))
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
    scored = ScoreRatios(filled, prior_in_integers(prior_of(views, prior)))
    least = scored.nearest_above((0, 1)).above
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
