"""`plan`: the largest variance over all populations."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from nbcfast import response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.planning import worst_variance


def test_plans_are_the_worst_case_of_the_variance():
    scheme = Scheme("0.8", [["a", "b"]])
    v = Fraction(4, 25) / Fraction(9, 25)
    assert worst_variance(2, 2, scheme.shrinkage("a", None)) == v + Fraction(1, 4)
    found = response.plan(10_000, scheme)
    assert found.standard_error == pytest.approx(math.sqrt(float(v + Fraction(1, 4)) / 10_000))
    assert found.accuracy_error == pytest.approx(math.sqrt(float(v + Fraction(1, 4)) / 10_000))
    assert found.blow_up == pytest.approx(1 / 0.6**2)
    assert response.plan(None, scheme, standard_error="0.01").n == math.ceil((v + Fraction(1, 4)) * 10_000)
    two = Scheme("0.8", [["a"], ["b"]])
    assert response.plan(None, two, accuracy="0.01").n == math.ceil(
        Fraction(1, 4) / Fraction(3, 5) ** 4 * 10_000
    )
    assert response.plan(1, Scheme(1, [["a"]])).standard_error == 0.5
    assert response.plan(7, KaryScheme("1/2", {"a": [0, 1, 2]})).accuracy_error is None
    assert found.to_dict()["n"] == 10_000
    many = response.plan(np.int64(1000), Scheme.per_attribute("0.51", [f"a{i}" for i in range(100)]))
    assert many.accuracy_error == pytest.approx(0.5 / 0.02**100 / math.sqrt(1000))
    assert many.n == 1000
    beyond = response.plan(1, Scheme.per_attribute("0.51", [f"a{i}" for i in range(400)]))
    assert (beyond.accuracy_error, beyond.to_dict()["accuracy_error"]) == (math.inf, None)
    assert beyond.standard_error == pytest.approx(math.sqrt(625))


@pytest.mark.parametrize("groups", [[["a"]], [["c"]], [["a", "c"]], [["a"], ["c"]]])
def test_no_population_is_worse_than_planned(groups):
    rng = random.Random(4)
    scheme = Scheme("0.7", groups)
    plain = [(Fraction(7, 10), tuple("ac".index(name) for name in group)) for group in groups]
    worst = worst_variance(2, 2, scheme.shrinkage("a", "c"))
    largest = Fraction(0)
    shares = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]]
    shares += [[rng.randrange(20) for _ in range(4)] for _ in range(30)]
    shares += [[x, 100 - x, 0, 0] for x in range(101)] + [[x, 0, 0, 100 - x] for x in range(101)]
    cells = [(1, 1), (0, 1), (1, 0), (0, 0)]
    moments = {}
    for cell in cells:
        moments[cell] = sum(
            weight * reference.contribution(answer, plain, {0: 1, 1: 1}) ** 2
            for weight, answer in reference.answers(cell, plain)
        )
    for numbers in shares:
        total = sum(numbers)
        if total:
            square = sum(Fraction(n, total) * moments[cell] for n, cell in zip(numbers, cells, strict=True))
            largest = max(largest, square - Fraction(numbers[0], total) ** 2)
    assert largest <= worst
    assert float(largest) > 0.98 * float(worst) or groups == [["a"], ["c"]]
