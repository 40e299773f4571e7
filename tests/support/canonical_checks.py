"""Views of few rows, and checks of weights and points tuple by tuple."""

from nbcfast import Viewset
from nbcfast.reference import canonical as reference


def from_rows(rng, most_attributes=3, most_values=5, most_rows=60):
    """Counts of a few rows: zeros and ties abound."""
    n = int(rng.integers(1, most_attributes + 1))
    sizes = rng.integers(1, most_values + 1, n).tolist()
    rows = int(rng.integers(1, most_rows))
    codes = [rng.integers(0, size, rows) for size in sizes]
    return Viewset.from_codes(codes, rng.integers(0, 2, rows), sizes=sizes, n_classes=2)


def weights(solution):
    return [[g for (g,) in of_attribute] for of_attribute in solution.scores]


def total(numbers, codes):
    return sum(row[t] for row, t in zip(numbers, codes, strict=True))


def check_card(card, labels):
    points = [array[:, 0].tolist() for array in card.points]
    for codes, label in labels.items():
        assert reference.answer(points, card.constants[0], codes) == label
    assert card.labels(list(labels)).tolist() == list(labels.values())
    assert all(min(row) == 0 for row in points)
    sums = {label: [total(points, codes) for codes in labels if labels[codes] == label] for label in (0, 1)}
    if sums[0] and sums[1]:
        assert card.gap == min(sums[0]) - max(sums[1]) >= 1
        assert card.centre == min(sums[0]) + max(sums[1])
    else:
        assert card.gap is None
    assert card.range == max(abs(2 * x - card.centre) for x in sums[0] + sums[1])
    assert all((2 * x > card.centre) == (label == 0) for label in (0, 1) for x in sums[label])
    assert card.bits == max(max(row) for row in points).bit_length()
    assert card.changed == 0
