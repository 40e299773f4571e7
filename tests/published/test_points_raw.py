"""Points are decided at raw values, as the release predicts them."""

import random

import pytest

import nbcfast
from nbcfast import Table, canonical
from nbcfast.domains import declared

DOMAIN = {
    "age": {"edges": [0, 18, 65, None], "null": True},
    "seen": {"edges": [None, "2020-01-01", "2021-01-01", None]},
    "town": ["Ulm", "Köln"],
}


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_points_decide_raw_values_as_the_release_predicts(n_classes):
    rng = random.Random(n_classes)
    rows = {
        "age": [rng.choice([*range(90), None]) for _ in range(400)],
        "seen": [f"20{rng.randint(18, 22)}-0{rng.randint(1, 9)}-11" for _ in range(400)],
        "town": [rng.choice(["Ulm", "Köln"]) for _ in range(400)],
        "ill": [rng.randrange(n_classes) for _ in range(400)],
    }
    table = declared(DOMAIN).applied(Table(rows))
    release = canonical.release(nbcfast.count(table, "ill"), 4)
    card = release.scorecard()
    one_by_one = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    assert [card.decide(row) for row in one_by_one[:100]] == release.predict(rows).tolist()[:100]
    with pytest.raises(ValueError, match="values: -1 is not in the domain of 'age'"):
        card.decide({**one_by_one[0], "age": -1})
    with pytest.raises(ValueError, match="values: None is not in the domain of 'town'"):
        card.decide({**one_by_one[0], "town": None})
    with pytest.raises(TypeError, match="values: 'town': expected values of bool, int, float"):
        card.decide({**one_by_one[0], "town": b"Ulm"})
