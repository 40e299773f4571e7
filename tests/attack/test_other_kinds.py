"""Values of another kind than what was published are refused by every adversary."""

import pytest

import nbcfast
from nbcfast import Table, attack


def test_values_of_another_kind_are_refused():
    """They would be equal to none: what was to be measured would be a reassuring nothing."""
    table = Table({"age": [10, 20, 70, 80] * 5, "y": [0, 0, 1, 1] * 5})
    other = Table({"age": [10, 80, 70, 80] * 5, "y": [0, 1, 1, 0] * 5})
    views = nbcfast.count(table.bin("age", [0, 40, 100]), "y")
    text = "column 'age' holds values of kind int, and the release of kind interval: bin it with"
    with pytest.raises(TypeError, match=f"table: {text}"):
        attack.membership(views, table, other, "y")
    with pytest.raises(TypeError, match=f"holdout: {text}"):
        attack.membership(views, table.bin("age", [0, 40, 100]), other, "y")
    with pytest.raises(
        TypeError, match="truth: attribute 'age' holds values of kind int, and what was published"
    ):
        attack.invert(views, "y", truth=table)
    truthful = Table({"age": [10, 20, 70, 80] * 5, "y": [False, False, True, True] * 5})
    with pytest.raises(ValueError, match="truth must have the classes that were published, got no 0"):
        attack.invert(nbcfast.count(table, "y"), "y", truth=truthful)
    ids = [0, 1] * 10
    with pytest.raises(
        TypeError, match="truth holds values of kind text, and the sensitive column of kind int"
    ):
        attack.definetti(table, ids, "y", truth=["0", "0", "1", "1"] * 5)
    for name, holdout in (("y", truthful), ("age", table.bin("age", [0, 40, 100]))):
        with pytest.raises(TypeError, match=f"holdout: column '{name}' holds values of kind"):
            attack.definetti(table, ids, "y", holdout=holdout)
    nulls = Table({"age": [None] * 20, "y": [0, 1] * 10})
    assert attack.membership(nbcfast.count(table, "y"), table, nulls, "y").impossible == 10
