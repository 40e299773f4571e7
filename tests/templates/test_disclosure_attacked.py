"""A deFinetti attack on a disclosure."""

import numpy as np
import pytest
from template_cases import decoded

import nbcfast
from nbcfast.attack import definetti
from nbcfast.templates import Template, disclose


def test_definetti_of_a_disclosure():
    """Groups are equal released rows; who knows the exact values learns a model across them."""
    rng = np.random.default_rng(2)
    smokes = rng.integers(0, 2, 400)
    ill = np.where(rng.random(400) < 0.9, smokes, 1 - smokes)
    table = nbcfast.Table({"town": rng.integers(0, 8, 400), "smokes": smokes, "ill": ill, "beside": ill})
    made = disclose(table, [Template(["town", "smokes"], ("ill", 1), "4/5")], utility="distortion")
    assert made.suppressed["smokes"]
    private = table.select(["town", "smokes", "ill"])
    released = made.table.select(["town", "smokes", "ill"])

    direct = definetti(private, made)
    assert direct.to_dict() == definetti(private, made.group_ids, "ill").to_dict()
    assert direct.accuracy > direct.baseline + 0.1
    # Who knows no more than the table finds no more than its groups.
    for found in (definetti(made), definetti(released, sensitive="ill"), definetti(made, made)):
        assert found.accuracy == found.baseline == direct.baseline
    with pytest.raises(TypeError, match="sensitive must be the name of a column, got None"):
        definetti(private, made.group_ids)


def test_definetti_takes_a_sensitive_column_that_is_known_elsewhere():
    rng = np.random.default_rng(4)
    table = {name: rng.integers(0, 3, 300) for name in ("a", "s", "t")}
    made = disclose(
        table,
        [Template(["a", "t"], ("s", 1), "1/2"), Template(["a", "s"], ("t", 1), "1/2")],
        utility="distortion",
    )
    with pytest.raises(ValueError, match="sensitive: expected one of 's', 't'; got None"):
        definetti(made)
    found = definetti(table, made, "s")
    groups = {}
    for key in zip(decoded(made.table, "a"), table["t"].tolist(), table["s"].tolist(), strict=True):
        counts = groups.setdefault(key[:2], {})
        counts[key[2]] = counts.get(key[2], 0) + 1
    assert found.baseline == sum(max(counts.values()) for counts in groups.values()) / 300
