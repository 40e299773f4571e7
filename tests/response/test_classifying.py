"""`classifier`: naive Bayes from estimated shares."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from response_cases import table_of

from nbcfast import response
from nbcfast.response import Scheme


def test_the_classifier_is_that_of_the_projected_shares():
    rng = np.random.default_rng(8)
    told = table_of(rng.integers(0, 2, (60, 4)).tolist(), ("a", "b", "d", "c"))
    for groups in ([["a", "b", "d"]], [["a", "c"], ["b"]], [["c"]]):
        for alpha in (0, 1, "1/2"):
            found = response.estimate(told, Scheme("0.7", groups), "c")
            model = response.classifier(found, alpha)
            rows = list(product((0, 1), repeat=3))
            scores = []
            for row in rows:
                score = []
                for c in (0, 1):
                    value = found.prior[c]
                    for name, a in zip(("a", "b", "d"), row, strict=True):
                        total = 60 * found.joint[name][:, c].sum() + 2 * Fraction(alpha)
                        share = (
                            (60 * found.joint[name][a, c] + Fraction(alpha)) / total
                            if total
                            else Fraction(1, 2)
                        )
                        value *= share
                    score.append(value)
                scores.append(score)
            table = table_of(rows, ("a", "b", "d"))
            assert model.predict(table).tolist() == [int(b >= a) for a, b in scores]
            assert model.ranking(table)[:, 0].tolist() == [int(b >= a) for a, b in scores]
            for (a, b), shares in zip(scores, model.predict_proba(table), strict=True):
                expected = float(b / (a + b)) if a + b else float(found.prior[1])
                assert shares[1] == pytest.approx(expected, rel=1e-9)
    assert repr(model).startswith("Classifier(class 'c' of 2 labels from 'a', 'b', 'd'; alpha=0.5")
    with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
        response.classifier(found, -1)


def test_a_class_that_is_estimated_away_is_never_predicted():
    told = table_of([(0, 0)] * 9 + [(1, 1)], ("a", "c"))
    found = response.estimate(told, Scheme("0.7", [["c"]]), "c")
    assert found.prior.tolist() == [1, 0]
    model = response.classifier(found)
    assert model.predict({"a": [0, 1]}).tolist() == [0, 0]
    assert model.predict_proba({"a": [0, 1]}).tolist() == [[1, 0], [1, 0]]
