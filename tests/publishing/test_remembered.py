"""How often a classifier is right about people because their own row was counted: against counting again."""

from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast.publishing.remembered import remembered

CLASSES = ["no", "perhaps", "yes"]


def score(counts, class_counts, values, c, alpha):
    """P_c prod ((N_c + a) / (P_c + a m)), exactly; 0 of a class without rows."""
    result = Fraction(class_counts[c])
    for name, value in values.items():
        result *= (counts[name][value][c] + alpha) / (max(class_counts[c], 1) + alpha * len(counts[name]))
    return result


def wins(scores, c):
    """Whether class c wins: of equal scores the later one does."""
    return all(
        scores[c] > score or (scores[c] == score and c > d) for d, score in enumerate(scores) if d != c
    )


def plainly(columns, classes, weights, alpha=Fraction(0)):
    """The same, with all counts made again for each person."""
    labels = sorted(set(classes))
    people = [
        ({name: values[row] for name, values in columns.items()}, labels.index(classes[row]))
        for row in range(len(classes))
        for _ in range(weights[row])
    ]

    def right(number, without):
        """Whether a person is answered with his class; `without` him, if that is so."""
        class_counts = [0] * len(labels)
        counts = {name: {value: [0] * len(labels) for value in values} for name, values in columns.items()}
        for other, (values, c) in enumerate(people):
            if other != number or not without:
                class_counts[c] += 1
                for name, value in values.items():
                    counts[name][value][c] += 1
        values, c = people[number]
        return wins([score(counts, class_counts, values, d, alpha) for d in range(len(labels))], c)

    numbers = range(len(people))
    return len(people), sum(right(n, False) for n in numbers), sum(right(n, True) for n in numbers)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [None, 1, Fraction(1, 3)])
def test_it_is_as_if_a_classifier_were_made_again_for_each(seed, weighted, alpha):
    random = np.random.default_rng(seed)
    n_rows, n_classes = int(random.integers(3, 40)), int(random.integers(2, 4))
    columns = {
        f"a{i}": random.integers(0, random.integers(1, 6), n_rows).tolist()
        for i in range(int(random.integers(1, 4)))
    }
    classes = [CLASSES[c] for c in random.integers(0, n_classes, n_rows)]
    weights = random.integers(1, 4, n_rows).tolist() if weighted else [1] * n_rows
    table = nbcfast.Table({**columns, "class": classes}, weights=weights if weighted else None)
    found = remembered(nbcfast.count(table, "class"), table, "class", alpha)
    assert tuple(found) == plainly(columns, classes, weights, Fraction(alpha or 0))
    assert found.by_own_row >= 0  # a row speaks for its class, never against it


def test_ties_are_decided_in_integers():
    """Scores that are equal up to the last digit, and beyond what doubles tell apart."""
    n = 10**7
    rows = {"x": ["a", "a", "b", "b"], "class": ["no", "yes", "no", "yes"]}
    table = nbcfast.Table(rows, weights=[n + 1, n, n, n + 1])
    found = remembered(nbcfast.count(table, "class"), table, "class")
    # The score of a class is its count: n + 1 beside n, and n beside n once one of them is left out.
    assert found == (4 * n + 2, 2 * n + 2, n + 1)


def test_identifiers_are_remembered_altogether():
    table = nbcfast.Table({"id": list(range(300)), "class": ["no", "yes"] * 150})
    found = remembered(nbcfast.count(table, "class"), table, "class")
    assert (found.people, found.correct) == (300, 300)
    assert found.by_own_row == 150  # of two scores of 0 the later class wins


def test_a_rule_is_not_remembered():
    table = nbcfast.Table({"x": ["a", "b"] * 150, "class": ["no", "yes"] * 150})
    assert remembered(nbcfast.count(table, "class"), table, "class") == (300, 300, 300)


def test_who_is_answered_by_his_own_row_shows():
    """With his class exchanged for another the answer at his values is another."""
    random = np.random.default_rng(3)
    rows = {"x": random.integers(0, 9, 40).tolist(), "class": random.integers(0, 2, 40).tolist()}
    table = nbcfast.Table(rows)
    views = nbcfast.count(table, "class")
    predicted, shown = views.predict(table), 0
    for row in range(40):
        classes = list(rows["class"])
        classes[row] = 1 - classes[row]
        other = nbcfast.count(nbcfast.Table({**rows, "class": classes}), "class").predict(table)
        shown += predicted[row] != other[row]
    found = remembered(views, table, "class")
    assert 0 < found.by_own_row <= shown
