"""Releases and certificates check what they are made of, and measure how good they are."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_cases import VIEWS, release_of

import nbcfast
from nbcfast import Table, Viewset
from nbcfast._core.errors import Infeasible
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.views.quality import evaluate, worst_posterior


@pytest.mark.parametrize(
    ("claims", "error", "message"),
    [
        ({"amplification": 1}, ValueError, "amplification must be above 1, got 1"),
        ({"amplification": 2, "attacker": "worlds"}, ValueError, "must be above 2 for attacker 'worlds'"),
        ({"amplification": "x"}, ValueError, "amplification must be a finite number"),
        ({"attacker": "me"}, ValueError, "attacker must be one of"),
        ({"preserve": "all"}, ValueError, "preserve must be one of"),
        ({"equivalence": "hope"}, ValueError, "equivalence must be one of"),
        ({"method": "magic"}, ValueError, "method must be one of"),
        ({"tuples": 1.0}, TypeError, "tuples must be an int"),
        ({"tuples": None}, TypeError, "tuples must be an int"),
        ({"differing_rows": -1}, ValueError, "differing_rows must be at least 0"),
        ({"gauge": 1}, TypeError, "gauge must be a bool"),
        ({"warnings": "x"}, TypeError, "warnings must be texts"),
        ({"version": 1}, TypeError, "version must be a text"),
        ({"identity": True}, ValueError, "field 'identity' is True, but equivalence is 'none'"),
        ({"equivalence": "identity", "differing_tuples": 0}, ValueError, "'identity' is False, but equi"),
        (
            {"equivalence": "identity", "differing_tuples": 0, "identity": True},
            ValueError,
            "goes with no gauge and 0 differing tuples",
        ),
        ({"differing_tuples": 0}, ValueError, "'equivalence' is 'none', but the number .* is 0"),
        (
            {"equivalence": "interval"},
            ValueError,
            "'interval', but the number of differing tuples is not known",
        ),
        (
            {"equivalence": "enumeration", "differing_tuples": 0, "differing_rows": 2},
            ValueError,
            "expected 0, as no tuple differs, got 2",
        ),
    ],
)
def test_certificates_check_their_fields(claims, error, message):
    with pytest.raises(error, match=message):
        release_of(**claims)


def test_releases_check_their_fields():
    certificate = release_of().certificate
    with pytest.raises(TypeError, match="views must be a Viewset, got list"):
        Release([], certificate)
    with pytest.raises(TypeError, match="certificate must be a Certificate"):
        Release(VIEWS, None)
    with pytest.raises(TypeError, match="class_name must be a text"):
        Release(VIEWS, certificate, 1)
    with pytest.raises(ValueError, match="class_name must be no attribute, got 'job'"):
        Release(VIEWS, certificate, "job")
    with pytest.raises(AttributeError):
        certificate.gauge = False
    assert certificate.to_dict()["amplification"] == 4
    assert Certificate(amplification=0.1 + 4, tuples=np.int64(3)).amplification == Fraction("4.1")
    assert Certificate(amplification=5, tuples=1, attacker="worlds").limit == Fraction(5, 2)
    assert certificate.equal is None
    assert release_of(differing_tuples=0, equivalence="enumeration").certificate.equal is True
    assert "order identical (enumeration)" in repr(release_of(differing_tuples=0, equivalence="enumeration"))
    assert "order differs on 2 tuples (enumeration)" in repr(
        release_of(differing_tuples=2, equivalence="enumeration")
    )


def test_infeasible_carries_its_best():
    error = Infeasible("no such thing", {"differing_tuples": 3})
    assert str(error) == error.why == "no such thing"
    assert error.best == {"differing_tuples": 3}
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.why, copy.best) == (error.why, error.best)


def test_predictions_are_those_of_the_views():
    table = Table({"job": ["cook", "clerk", "cook"], "age": [30, None, 40]})
    release = release_of()
    assert release.predict(table).tolist() == VIEWS.predict(table).tolist()
    assert release.predict(table, codes=True).dtype == np.uint8
    with pytest.raises(ValueError, match="unknown to the release"):
        release.predict({"job": ["pope"], "age": [30]})


def test_quality_by_hand():
    table = Table({"job": ["cook", "cook", "clerk"], "ill": ["yes", "no", "no"]}, weights=[2, 1, 3])
    views = nbcfast.count(table, "ill")
    quality = evaluate(views, table, "ill")
    # X(cook) = (no 1, yes 2), X(clerk) = (3, 0)
    assert (quality.rows, quality.correct) == (6, 5)
    assert quality.accuracy == 5 / 6
    assert quality.log_loss == pytest.approx((2 * math.log(3 / 2) + math.log(3)) / 6, rel=1e-12)
    assert quality.to_dict()["correct"] == 5
    other = evaluate(views, {"job": ["clerk", "cook"], "ill": ["yes", "pope"]}, "ill")
    assert (other.correct, other.log_loss) == (0, math.inf)
    with pytest.raises(ValueError, match="no rows"):
        evaluate(views, table.take([]), "ill")


def test_quality_of_huge_counts_does_not_cancel():
    big = 7**5000
    views = Viewset([3 * big, big], {f"a{i}": [[2 * big, big - 1], [big, 1]] for i in range(40)})
    table = Table({**{f"a{i}": [0] for i in range(40)}, "y": [1]})
    expected = math.log1p(3 * (2 / 3) ** 40)
    assert evaluate(views, table, "y").log_loss == pytest.approx(expected, rel=1e-12)


@given(st.data())
def test_the_worst_posterior_is_that_of_the_worst_tuple(data):
    n_classes = data.draw(st.integers(1, 3))
    sizes = data.draw(st.lists(st.integers(1, 3), max_size=3))
    counts = {
        f"a{i}": [[data.draw(st.integers(0, 4)) for _ in range(n_classes)] for _ in range(size)]
        for i, size in enumerate(sizes)
    }
    views = Viewset([data.draw(st.integers(1, 9)) for _ in range(n_classes)], counts)
    n, worst = len(sizes), 0.0
    tuples = [[]]
    for array in counts.values():
        tuples = [[*rows, row] for rows in tuples for row in array]
    for rows in tuples:
        scores = [
            math.prod(row[c] for row in rows) * int(p) ** (1 - n) for c, p in enumerate(views.class_counts)
        ]
        if sum(scores):
            worst = max(worst, max(scores) / sum(scores))
    found = worst_posterior(views)
    if found.exact and worst:
        assert found.probability == pytest.approx(worst, rel=1e-9)
    else:
        assert found.probability >= worst * (1 - 1e-9)
