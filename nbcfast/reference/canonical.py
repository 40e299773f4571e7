"""The canonical release's core for small domains: every tuple enumerated, every number a Fraction.

Functions take a nbcfast.Viewset or the Viewset of `nbcfast.reference.views`.
"""

# mypy: ignore-errors

from fractions import Fraction
from itertools import product


def scores(views, codes):
    """X_c = P_c^(1-n) prod_i N^i_{t_i,c} of each class at a tuple of positions."""
    n = len(views.attributes)
    result = []
    for c, rows in enumerate(views.class_counts):
        score = Fraction(int(rows)) ** (1 - n) if rows else Fraction(0)
        for name, code in zip(views.attributes, codes, strict=True):
            score *= int(views.counts[name][code][c])
        result.append(score)
    return result


def super_parent(rows, by, attributes, class_name, classes, values):
    """X_c = N(r,c)^(1-k) prod_i N(x_i,r,c) of each class, where column `by` is a parent of all attributes.

    `rows` are dictionaries of the value of each column; of the k `attributes` and of `by`, whose value is r,
    `values` has those of one tuple.

    Examples
    --------
    >>> rows = [{"r": 0, "x": 1, "ill": 0}, {"r": 0, "x": 1, "ill": 1}, {"r": 0, "x": 2, "ill": 1}]
    >>> super_parent(rows, "r", ["x"], "ill", [0, 1], {"r": 0, "x": 1})
    [Fraction(1, 1), Fraction(1, 1)]
    """
    found = []
    for c in classes:
        stratum = [row for row in rows if row[by] == values[by] and row[class_name] == c]
        score = Fraction(len(stratum)) ** (1 - len(attributes)) if stratum else Fraction(0)
        for name in attributes:
            score *= sum(row[name] == values[name] for row in stratum)
        found.append(score)
    return found


def order(views, codes):
    """The classes at a tuple, the best first; of equals the later."""
    found = scores(views, codes)
    return sorted(range(len(found)), key=lambda c: (found[c], c), reverse=True)


def tuples(views):
    """All tuples of positions, the last attribute the fastest."""
    return list(product(*(range(len(views.counts[name])) for name in views.attributes)))


def box(views):
    """The label of every tuple of positions."""
    return {codes: order(views, codes)[0] for codes in tuples(views)}


def solve(labels):
    """Weights of least norm for labels 0 and 1: one list of Fractions an attribute.

    min sum of squares, subject to a sum of weights >= 1 at every tuple of label 0 and <= -1 at label 1.
    """
    sizes = [1 + max(column) for column in zip(*labels, strict=True)]
    places = {}
    for i, size in enumerate(sizes):
        for t in range(size):
            places[i, t] = len(places)
    rows = [
        {places[i, t]: 1 if label == 0 else -1 for i, t in enumerate(codes)}
        for codes, label in labels.items()
    ]
    g = least_norm(rows, len(places))
    return [[g[places[i, t]] for t in range(size)] for i, size in enumerate(sizes)]


def least_norm(rows, n):
    """The g of least sum of squares with row . g >= 1 for every row, a mapping of place -> coefficient.

    Goldfarb and Idnani's dual active set method (Mathematical Programming 27, 1983): rows come in one by
    one, the most violated first, and those whose multiplier falls to zero on the way go out again. None
    where there is no such g.
    """
    g = [Fraction(0)] * n
    active, multipliers = [], []
    while True:
        values = [sum(x * g[v] for v, x in row.items()) for row in rows]
        p = min(range(len(rows)), key=values.__getitem__, default=None)
        if p is None or values[p] >= 1:
            return g
        mine = Fraction(0)
        while True:
            gram = [[dot(rows[i], rows[j]) for j in active] for i in active]
            back = linear(gram, [dot(rows[i], rows[p]) for i in active])
            step = [Fraction(rows[p].get(v, 0)) for v in range(n)]
            for i, r in zip(active, back, strict=True):
                for v, x in rows[i].items():
                    step[v] -= r * x
            gain = sum(x * step[v] for v, x in rows[p].items())
            lack = 1 - sum(x * g[v] for v, x in rows[p].items())
            full = lack / gain if gain else None
            ratios = [(u / r, j) for j, (u, r) in enumerate(zip(multipliers, back, strict=True)) if r > 0]
            first = min(ratios, default=None)
            if full is None and first is None:
                return None
            t = full if first is None or (full is not None and full <= first[0]) else first[0]
            g = [x + t * z for x, z in zip(g, step, strict=True)]
            multipliers = [u - t * r for u, r in zip(multipliers, back, strict=True)]
            mine += t
            if full is not None and t == full:
                active.append(p)
                multipliers.append(mine)
                break
            del active[first[1]], multipliers[first[1]]


def dot(a, b):
    return sum(x * b[v] for v, x in a.items() if v in b)


def linear(matrix, right):
    """The solution of a regular system, by elimination."""
    rows = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        at = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def answer(points, constant, codes):
    """The label that a scorecard for two classes gives: 0 if the constant and the points exceed 0."""
    return (
        0
        if constant + sum(int(of_attribute[t]) for of_attribute, t in zip(points, codes, strict=True)) > 0
        else 1
    )
