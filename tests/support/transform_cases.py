"""Views that the tests of SafetyTransform draw, and what has to be true of what leaves."""

from fractions import Fraction

from nbcfast import Viewset
from nbcfast.reference import transform as reference

THREE_ROWS = Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]])
SIX_ROWS = Viewset([3, 3], [[[1, 2], [2, 1]]] * 2)
SEVEN_SIX = Viewset([40, 76], [[[2, 1], [38, 75]]] * 2)


def drawn(rng, n=None, n_classes=None, kind=None):
    """Random views of rows, with one of the properties that make trouble."""
    n = rng.randint(1, 4) if n is None else n
    n_classes = rng.randint(2, 5) if n_classes is None else n_classes
    kind = (
        rng.choice(["few", "more", "ties", "equal", "near", "huge", "one", "unseen"])
        if kind is None
        else kind
    )
    most = {"few": 3, "ties": 4, "more": 60}.get(kind, 8)
    of_class = [rng.randint(1, most) for _ in range(n_classes)]
    if kind == "ties":
        of_class = [rng.choice([2, 4])] * n_classes
    attributes = []
    for _ in range(n):
        array = [[0] * n_classes for _ in range(1 if kind == "one" else rng.randint(1, 4))]
        for c, count in enumerate(of_class):
            for _ in range(count):
                array[rng.randrange(len(array))][c] += 1
        if kind == "unseen":
            array.append([0] * n_classes)
        attributes.append(array)
    if kind == "equal":
        c, d = rng.randrange(n_classes), rng.randrange(n_classes)
        of_class[c] = of_class[d]
        for array in attributes:
            for row in array:
                row[c] = row[d]
    if kind in ("near", "huge"):
        factor = 50 if kind == "near" else 10**15
        of_class = [factor * count for count in of_class]
        for array in attributes:
            for row in array:
                row[:] = [factor * count for count in row]
            for c in range(n_classes):
                from_, to = rng.randrange(len(array)), rng.randrange(len(array))
                if array[from_][c]:
                    array[from_][c] -= 1
                    array[to][c] += 1
    return Viewset(of_class, attributes)


def verified(views, published, limit, preserve):
    """What has to be true of the integers that leave, over all tuples."""
    counts = [array.tolist() for array in published.counts.values()]
    return published.is_realistic() and reference.verified(
        views, published.class_counts.tolist(), counts, Fraction(limit), preserve
    )
