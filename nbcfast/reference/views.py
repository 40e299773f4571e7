"""Counting and scoring in the plainest exact Python: lists of values in, lists and Fractions out.

Every function that takes views takes a nbcfast.Viewset as well: it asks for `classes`, `attributes`,
`class_counts`, `counts[name]` and `domain(name)` only.
"""

# mypy: ignore-errors

import math
from fractions import Fraction
from itertools import product

from nbcfast.reference import table

MOST = 2**63 - 1


class Viewset:
    """P_c and N^i_{t,c}: counts[name] has a row for each value of domain(name), a number for each class."""

    def __init__(self, classes, class_counts, domains, counts, declared=()):
        self.classes = tuple(classes)
        self.class_counts = list(class_counts)
        self.attributes = tuple(counts)
        self.counts = counts
        self.domains = domains
        self.declared = set(declared)  # attributes, and None for the class

    def domain(self, name):
        return tuple(self.domains[name])

    def to_dict(self):
        return to_dict(self)

    def __repr__(self):
        return f"Viewset({self.to_dict()})"


def to_dict(views):
    return {
        "classes": list(views.classes),
        "class_counts": [int(count) for count in views.class_counts],
        "attributes": {
            name: {
                "values": list(views.domain(name)),
                "counts": [[int(count) for count in row] for row in views.counts[name]],
            }
            for name in views.attributes
        },
    }


def place(value, values):
    """Where a value stands, by value and kind: True is not 1, 3 is 3.0; None where it does not."""
    for position, other in enumerate(values):
        if table.same(value, other):
            return position
    return None


def count(columns, class_name, attributes=None, classes=None, *, weights=None, domains=None):
    """Count the rows of a mapping name -> list of values, each row as often as its weight says."""
    if attributes is None:
        attributes = [name for name in columns if name != class_name]
    domains = domains or {}
    codes, values = {}, {}
    for name in (*attributes, class_name):
        codes[name], values[name] = table.column(columns[name], domains.get(name))
    labels = values.pop(class_name)
    own = labels if classes is None else list(classes)
    for label in labels:
        if place(label, own) is None and (
            class_name not in domains or labels.index(label) in codes[class_name]
        ):
            raise ValueError(label)
    if not own:
        raise ValueError("no classes")
    class_codes = [place(labels[code], own) for code in codes[class_name]]
    class_counts, counts = count_codes(
        [codes[name] for name in attributes],
        class_codes,
        sizes=[len(values[name]) for name in attributes],
        n_classes=len(own),
        weights=weights,
    )
    declared = {name for name in attributes if name in domains}
    if classes is not None or class_name in domains:
        declared.add(None)
    return Viewset(own, class_counts, values, dict(zip(attributes, counts, strict=True)), declared)


def count_codes(codes, class_codes, *, sizes, n_classes, weights=None):
    """Class counts, and an array (values, classes) for each column of codes."""
    class_counts = [0] * n_classes
    counts = [[[0] * n_classes for _ in range(size)] for size in sizes]
    for row, c in enumerate(class_codes):
        weight = 1 if weights is None else int(weights[row])
        class_counts[c] += weight
        for array, column in zip(counts, codes, strict=True):
            array[column[row]][c] += weight
    return class_counts, counts


def n_rows(views):
    return sum(int(count) for count in views.class_counts)


def is_realistic(views):
    """Whether some table has these counts: those of each attribute add up to the class counts."""
    return all(
        sum(int(row[c]) for row in views.counts[name]) == int(views.class_counts[c])
        for name in views.attributes
        for c in range(len(views.classes))
    )


def add(a, b):
    return merged(a, b, 1)


def subtract(a, b):
    return merged(a, b, -1)


def merged(a, b, sign):
    """The sum a + sign * b. Values without rows leave a difference, unless they were declared."""
    if set(a.attributes) != set(b.attributes):
        raise ValueError("attributes differ")
    classes = joined(a.classes, b.classes, None in a.declared, None in b.declared)
    declared = a.declared | b.declared

    def number(views, array, values, value, label):
        row, c = place(value, values), place(label, views.classes)
        return 0 if row is None or c is None else int(array[row][c])

    class_counts = [
        number(a, [a.class_counts], [0], 0, label) + sign * number(b, [b.class_counts], [0], 0, label)
        for label in classes
    ]
    domains, counts = {}, {}
    for name in a.attributes:
        domains[name] = joined(a.domain(name), b.domain(name), name in a.declared, name in b.declared)
        counts[name] = [
            [
                number(a, a.counts[name], a.domain(name), value, label)
                + sign * number(b, b.counts[name], b.domain(name), value, label)
                for label in classes
            ]
            for value in domains[name]
        ]
    numbers = class_counts + [count for array in counts.values() for row in array for count in row]
    if min(numbers) < 0:
        raise ValueError("a count would fall below 0")
    if sign < 0:
        for name in a.attributes:
            if name not in declared:
                kept = [row for row, numbers in enumerate(counts[name]) if any(numbers)]
                domains[name] = [domains[name][row] for row in kept]
                counts[name] = [counts[name][row] for row in kept]
        if None not in declared and any(class_counts):
            kept = [c for c, number in enumerate(class_counts) if number]
            classes = [classes[c] for c in kept]
            class_counts = [class_counts[c] for c in kept]
            counts = {name: [[row[c] for c in kept] for row in array] for name, array in counts.items()}
    return Viewset(classes, class_counts, domains, counts, declared)


def joined(a, b, a_declared, b_declared):
    """The values of both: a declared domain, which must hold the other, or the sorted union."""
    if not a_declared and not b_declared:
        return table.column([*a, *b])[1]
    if a_declared and b_declared:
        if len(a) != len(b) or not all(map(table.same, a, b)):
            raise ValueError("declared domains differ")
        return list(a)
    outer, inner = (a, b) if a_declared else (b, a)
    for value in inner:
        if place(value, outer) is None:
            raise ValueError(value)
    return list(outer)


def score(views, row, c, **options):
    """X_c of one row, a mapping attribute -> value, as a Fraction."""
    return scores(views, row, **options)[c]


def scores(views, row, *, alpha=0, unseen="error"):
    """X_c of every class.

    X_c = P_c^(1-n) prod_i N^i_{t_i,c}; with smoothing
    X_c = P_c prod_i (N^i_{t_i,c} + alpha) / (P_c + alpha |A_i|). A class without rows has X_c = 0, a value
    that the views do not know has N = 0; or with unseen="ignore" its attribute is none of the n.
    """
    alpha = table.exact(alpha)
    p, q = alpha.numerator, alpha.denominator
    names = views.attributes
    if unseen == "ignore":
        names = [name for name in names if place(table.plain(row[name]), views.domain(name)) is not None]
    of_values = [numbers_of(views, name, row[name], unseen) for name in names]
    sizes = [len(views.domain(name)) for name in names]
    result = []
    for c, of_class in enumerate(map(int, views.class_counts)):
        factors = [int(numbers[c]) for numbers in of_values]
        if of_class == 0:
            result.append(Fraction(0))
        elif alpha == 0:
            result.append(Fraction(of_class * math.prod(factors), of_class ** len(factors)))
        else:
            above = math.prod(q * factor + p for factor in factors)
            result.append(Fraction(of_class * above, math.prod(q * of_class + p * size for size in sizes)))
    return result


def numbers_of(views, name, value, unseen):
    """N^i_{t,c} of every class c."""
    position = place(table.plain(value), views.domain(name))
    if position is None and unseen == "error":
        raise ValueError(value)
    return [0] * len(views.classes) if position is None else views.counts[name][position]


def predict(views, rows, **options):
    """The class of largest X of each row; of several the one of highest precedence."""
    return [views.classes[positions[0]] for positions in order(views, rows, **options)]


def order(views, rows, **options):
    """The positions of the classes for each row: largest X first, of equal ones the higher precedence."""
    result = []
    for row in rows:
        x = scores(views, row, **options)
        result.append(sorted(range(len(x)), key=lambda c: (x[c], c), reverse=True))
    return result


def tied(views, rows, **options):
    """For each row whether several classes share the largest X."""
    result = []
    for row in rows:
        x = scores(views, row, **options)
        result.append(x.count(max(x)) > 1)
    return result


def tuples(views):
    """All rows of the product domain."""
    domains = [views.domain(name) for name in views.attributes]
    return [dict(zip(views.attributes, values, strict=True)) for values in product(*domains)]


def tied_tuples(views):
    return sum(tied(views, tuples(views)))
