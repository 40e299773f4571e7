"""The canonical release's core for more than two classes and small domains: tuples enumerated, Fractions.

Functions take a nbcfast.Viewset or the Viewset of `nbcfast.reference.views`.
"""

# mypy: ignore-errors

from fractions import Fraction

from nbcfast.reference.canonical import least_norm, order, tuples


def box(views, mode="label"):
    """The label of every tuple of positions, or with mode="order" the classes, the best first."""
    return {
        codes: order(views, codes)[0] if mode == "label" else tuple(order(views, codes))
        for codes in tuples(views)
    }


def demands(answer, n_classes):
    """The pairs (w, d) such that w must beat d: the best all others, or each all that come after."""
    if isinstance(answer, tuple):
        return [(w, d) for k, w in enumerate(answer) for d in answer[k + 1 :]]
    return [(answer, d) for d in range(n_classes) if d != answer]


def solve(answers, n_classes):
    """f[i][t][c], the weights of least norm: one Fraction for each attribute, value and class.

    min sum of squares, subject to f_w - f_d >= 1 at every tuple where w must beat d.
    """
    sizes = [1 + max(column) for column in zip(*answers, strict=True)]
    places = {}
    for i, size in enumerate(sizes):
        for t in range(size):
            for c in range(n_classes):
                places[i, t, c] = len(places)
    rows = []
    for codes, answer in answers.items():
        for w, d in demands(answer, n_classes):
            row = {places[i, t, w]: 1 for i, t in enumerate(codes)}
            row.update({places[i, t, d]: -1 for i, t in enumerate(codes)})
            rows.append(row)
    f = least_norm(rows, len(places))
    return [
        [[f[places[i, t, c]] for c in range(n_classes)] for t in range(size)] for i, size in enumerate(sizes)
    ]


def score(f, codes):
    """The score of each class at a tuple of positions."""
    return [
        sum(column, Fraction(0))
        for column in zip(*(rows[t] for rows, t in zip(f, codes, strict=True)), strict=True)
    ]


def answer(points, constants, codes):
    """The classes by their totals, the best first, the later among equals; the last class has none."""
    total = [*constants, 0]
    for array, t in zip(points, codes, strict=True):
        for c, number in enumerate(array[t]):
            total[c] += int(number)
    return tuple(sorted(range(len(total)), key=lambda c: (total[c], c), reverse=True))
