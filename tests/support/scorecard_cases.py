"""Small releases with every kind of value, and texts that programs stumble over."""

import functools
import itertools

import numpy as np

from nbcfast import Interval, Viewset, canonical
from nbcfast.exports.about import About
from nbcfast.published.points_table import PointsTable

ABOUT = About("ab" * 32, "diagnosis", "0.1.0", None)

TEXTS = [
    *(
        "Male",
        "male",
        " lead",
        "trail ",
        "it's",
        'say "so"',
        "=1+1",
        "+2",
        "-3",
        "@x",
        "ü",
        "ß",
        "a & b",
        "<b>",
    ),
    *(
        "a;b,c",
        "*",
        "?",
        "~*",
        "1",
        "1.0",
        "01",
        "TRUE",
        "two\nlines",
        "tab\there",
        "`k`",
        "%s",
        "_x0041_",
        "",
    ),
    *(
        "null",
        "(null)",
        "(empty text)",
        "unknown",
        "日本",
        "e\u0301",
        "\u00e9",
        "]]>",
        "&amp;",
        "'",
        "{=1}",
        "#N/A",
    ),
]
NAMES = [
    "age",
    'a "q"',
    "ü <b>",
    "=name",
    "select",
    "x;y",
    "two\nlines",
    "points",
    "diagnosis",
    "it's",
    "points 1",
]
INTS = [0, -1, 7, 39, 10**9, 2**40, 999_999_999_999_999, -5]
FLOATS = [0.0, 0.1, 0.3, -2.5, 1e-7, 1e20, 123.456, 5.0]
EDGES = [-1000, -10, 0, "0.1", "0.3", "2.5", 18, 65, "1000000.5"]


def some(rng, values, size):
    return [values[place] for place in rng.choice(len(values), size, replace=False)]


def domain(rng, size):
    """`size` values of one kind, in some of them null."""
    kind = rng.choice(["text", "text", "int", "float", "bool", "interval"])
    null = [None] * (size > 1 and rng.random() < 0.4)
    size -= len(null)
    if kind == "interval":
        ends = [EDGES[place] for place in sorted(rng.choice(len(EDGES), size + 1, replace=False))]
        if rng.random() < 0.5:
            ends[0] = None
        if rng.random() < 0.5:
            ends[-1] = None
        return [Interval(low, high) for low, high in itertools.pairwise(ends)] + null
    values = {"text": TEXTS, "int": INTS, "float": FLOATS, "bool": [True, False]}[kind]
    return some(rng, values, min(size, len(values))) + null


def labels(rng, n_classes):
    kind = rng.choice(["text", "text", "text", "int", "interval", "bool"])
    if kind == "bool" and n_classes == 2:
        return [True, False]
    if kind == "interval":
        return domain_of_bins(n_classes)
    return some(rng, INTS if kind == "int" else [text for text in TEXTS if text], n_classes)


def domain_of_bins(size):
    return [Interval(low, low + 10) for low in range(0, 10 * size, 10)]


@functools.cache
def random_points(seed):
    """The points of a canonical release of two to five classes, chosen by the seed."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 4
    classes = labels(rng, n_classes)
    domains = {
        name: domain(rng, int(rng.integers(3, 7))) for name in some(rng, NAMES, int(rng.integers(2, 5)))
    }
    of_class = rng.integers(5, 30, n_classes)
    counts = {}
    for name, values in domains.items():
        shares = rng.dirichlet(np.ones(len(values)), n_classes)
        counts[name] = np.stack(
            [rng.multinomial(n, share) for n, share in zip(of_class, shares, strict=True)], 1
        )
    if seed % 5 == 0:  # ties
        counts = {name: np.repeat(array[:, :1], n_classes, axis=1) for name, array in counts.items()}
        of_class = np.repeat(of_class[:1], n_classes)
    views = Viewset(of_class.tolist(), counts, classes=classes, domains=domains)
    return canonical.release(views, 4).scorecard()


def card(attributes, *, threshold=None, classes=("ill", "well"), constants=()):
    """A table of these points: name -> (values, points), a number a value where there is a threshold."""
    listed = []
    for name, (values, numbers) in attributes.items():
        rows = tuple((number,) if isinstance(number, int) else tuple(number) for number in numbers)
        listed.append((name, tuple(values), rows))
    return PointsTable(tuple(classes), tuple(listed), threshold, tuple(constants))
