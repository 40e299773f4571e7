"""Views that canonical releases are made of."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset

ADULT = ["age", "education_num", "hours_per_week"]


ILL_OR_WELL = Viewset(
    [50, 60],
    {"age": [[20, 10], [18, 20], [12, 30]], "sex": [[30, 24], [20, 36]]},
    classes=["ill", "well"],
    domains={"age": ["young", "mid", "old"], "sex": ["f", "m"]},
)


@st.composite
def viewsets(draw, n_classes=2, most_attributes=3, most_values=4):
    """Realistic views of a few rows, with zeros and ties, no class empty; domains are declared."""
    sizes = draw(st.lists(st.integers(1, most_values), min_size=1, max_size=most_attributes))
    of_class = draw(st.lists(st.integers(1, 9), min_size=n_classes, max_size=n_classes))
    arrays = []
    for size in sizes:
        array = np.zeros((size, n_classes), np.int64)
        for c, count in enumerate(of_class):
            for _ in range(count):
                array[draw(st.integers(0, size - 1)), c] += 1
        arrays.append(array)
    return Viewset(of_class, arrays)


def labels(views):
    """The best class of every tuple, by integers: P_c^(1-n) prod N."""
    n, classes = len(views.attributes), range(len(views.classes))
    of_class = [int(count) for count in views.class_counts]
    found = []
    for rows in itertools.product(*(array.tolist() for array in views.counts.values())):
        scores = [Fraction(math.prod(row[c] for row in rows), of_class[c] ** (n - 1)) for c in classes]
        found.append(max(classes, key=lambda c: (scores[c], c)))
    return found


def largest_ratio(views):
    n = len(views.attributes)
    most = Fraction(1)
    for rows in itertools.product(*(array.tolist() for array in views.counts.values())):
        scores = [
            Fraction(math.prod(row[c] for row in rows), int(views.class_counts[c]) ** (n - 1))
            for c in range(len(views.classes))
        ]
        most = max(most, max(scores) / min(scores))
    return most


def adult(data, names=ADULT, classes=(">50K", "<=50K")):
    table = nbcfast.read_csv(data / "adult-train.csv", columns=[*names, "income"])
    return nbcfast.count(table, "income", classes=classes)
