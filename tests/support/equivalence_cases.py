"""Views whose margins and comparisons are known, and ways to force each path."""

import gmpy2
import numpy as np

from nbcfast import Viewset
from nbcfast._core.products import product
from nbcfast.equivalence.pairwise import WorkLimits

# Each way through `compare`. The last two may leave the answer, or the number, open.
WAYS = {
    "as it is": WorkLimits(),
    "halves": WorkLimits(enumerate=0),
    "halves, everything listed": WorkLimits(enumerate=0, looks=0, labels=0),
    "halves, nothing listed": WorkLimits(enumerate=0, list=1),
    "nothing kept": WorkLimits(enumerate=0, looks=0, labels=0, memory=0),
    "attributes outside": WorkLimits(most=2, enumerate=0, memory=0),
    "attributes outside, enumerated": WorkLimits(most=1),
    "short lists": WorkLimits(enumerate=0, looks=0, labels=0, list=2),
    "too large": WorkLimits(work=1),
}


MARGIN_WAYS = [
    {},
    {"enumerate_up_to": 0},
    {"most": 2},
    {"most": 3, "enumerate_up_to": 0},
    {"most": 1, "enumerate_up_to": 0},
]


def census(sizes, n_classes=2, seed=1, n_rows=30_000):
    """Realistic views with some zero counts."""
    rng = np.random.default_rng(seed)
    of_class = np.maximum(rng.multinomial(n_rows, np.full(n_classes, 1 / n_classes)), 1)
    return Viewset(
        of_class,
        [
            np.array(
                [rng.multinomial(count, rng.dirichlet(np.full(size, 0.7))) for count in of_class]
            ).T.copy()
            for size in sizes
        ],
    )


def nearly(views, factor, seed=2):
    rng = np.random.default_rng(seed)
    return Viewset(
        views.class_counts * factor,
        [
            array * factor + (array > 0) * rng.integers(0, 2, array.shape, np.int64)
            for array in views.counts.values()
        ],
    )


def differs(a, b, found):
    """Whether the witness and its classes are right, by integers."""
    n, classes = len(a.attributes), [a.classes.index(label) for label in found.classes]
    of = []
    for views in (a, b):
        counts = [views.counts[name][views.domain(name).index(found.witness[name])] for name in a.attributes]
        up = [product(int(row[c]) for row in counts) for c in range(len(a.classes))]
        down = [gmpy2.mpz(int(count)) ** (n - 1) for count in views.class_counts]

        def above(c, d, up=up, down=down):
            return up[c] * down[d] > up[d] * down[c]

        if found.preserve == "order" or len(a.classes) == 2:
            of.append(above(*classes))
        else:
            best = 0
            for c in range(1, len(a.classes)):
                best = best if above(best, c) else c
            of.append(best)
    return of[0] != of[1] and (type(of[0]) is bool or of == classes)
