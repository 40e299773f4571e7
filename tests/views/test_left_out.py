"""`unseen="ignore"`: a row is answered as by views without the attributes whose value they do not know."""

import random

import numpy as np
import pytest
from hypothesis import settings

from nbcfast import Table, Viewset
from nbcfast.reference import views as reference

ALPHAS = [0, 0, 1, "1/3", 10**30]
MOST = {"small": 3, "usual": 5_000, "2^63": 2**63 - 1, "huge": 10**40}
CASES = 3 * max(1, settings().max_examples // 50)
STRANGE = [None, 99, 0.5]


def drawn(rng, style, n_classes):
    """Views of any counts, zeros and classes without rows among them; two classes are often the same."""

    def row():
        numbers = [rng.randint(0, MOST[style]) for _ in range(n_classes)]
        if rng.random() < 0.4:
            numbers[rng.randrange(n_classes)] = numbers[0]
        return numbers

    counts = [[row() for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 4))]
    totals = [max(1, one) if rng.random() < 0.9 else 0 for one in row()]
    if rng.random() < 0.4:
        totals = [totals[0]] * n_classes
    return Viewset(totals, [np.array(array, object) for array in counts])


@pytest.mark.parametrize("style", MOST)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 5, 17])
def test_unknown_attributes_are_as_if_there_were_none(style, n_classes):
    rng = random.Random(f"{style} {n_classes}")
    for _ in range(CASES):
        views, alpha = drawn(rng, style, n_classes), rng.choice(ALPHAS)
        strange = rng.choice(STRANGE)
        rows = [
            {
                name: strange if rng.random() < 0.4 else rng.choice(views.domain(name))
                for name in views.attributes
            }
            for _ in range(20)
        ]
        table = Table({name: np.array([row[name] for row in rows], object) for name in views.attributes})
        options = {"alpha": alpha, "unseen": "ignore"}
        orders = views.order(table, **options).tolist()
        assert orders == reference.order(views, rows, **options)
        assert views.predict(table, **options).tolist() == [views.classes[order[0]] for order in orders]
        assert views.tied(table, **options).tolist() == reference.tied(views, rows, **options)
        for row, order in zip(rows, orders, strict=True):
            known = [name for name, value in row.items() if value != strange]
            part = Viewset(views.class_counts, {name: views.counts[name] for name in known})
            assert reference.order(part, [row], alpha=alpha) == [order]
            if known:
                assert part.order({name: [row[name]] for name in known}, alpha=alpha).tolist() == [order]


def test_what_is_left_out_may_divide_by_more_than_64_bits():
    counts = {"x": [[1, 1, 0]], "y": [[3, 1, 0]]}
    views = Viewset([2**63 - 1, 2**62, 0], counts, domains={"x": [0], "y": [0]})
    columns = {"x": [0, 7, 7], "y": [0, 0, 7]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for alpha in (0, "1/3", 10**30):
        options = {"alpha": alpha, "unseen": "ignore"}
        assert views.order(columns, **options).tolist() == reference.order(views, rows, **options)
        assert views.tied(columns, **options).tolist() == reference.tied(views, rows, **options)


def test_ties_go_to_the_higher_precedence_and_nothing_known_is_the_prior():
    views = Viewset([4, 4, 2], {"x": [[1, 1, 2]]}, ["a", "b", "c"], domains={"x": ["one"]})
    assert views.predict({"x": ["two", "one"]}, unseen="ignore").tolist() == ["b", "c"]
    assert views.tied({"x": ["two", "one"]}, unseen="ignore").tolist() == [True, False]
    assert views.order({"x": [None]}, unseen="ignore").tolist() == [[1, 0, 2]]
