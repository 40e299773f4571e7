"""Views that the benches of publishing work on."""

import os
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import Viewset
from nbcfast._rounding.apportion import viewset
from nbcfast.transform import adjust, fill_zeros, scale
from nbcfast.transform.shares import ScaledShares, proven_counts

BITS = 256

# Values of the attributes; tuples -> how many of these, and by what the last one is widened.
SIZES = [73, 16, 94, 9, 7, 14, 14, 77, 100, 10]
DOMAINS = {"1e5": (3, 1), "1e11": (8, 1), "1e12": (8, 10), "1e14": (10, 1)}


def counted(n_values: int, n: int = 8, n_classes: int = 2) -> Viewset:
    """Views of n attributes, n_values counts a class, some of them 0; their bound needs 200 bits."""
    rng = np.random.default_rng(n_values)
    size, total = n_values // n, 10**8
    arrays = []
    for _ in range(n):
        array = rng.integers(1, 2 * total // size, (size, n_classes))
        array[rng.random(array.shape) < 0.02] = 0
        array[0] = 1
        arrays.append(array)
    most = max(int(array.sum(axis=0).max()) for array in arrays)
    of_class = most * (1 + 2 * np.arange(n_classes))
    for array in arrays:
        array[0] += of_class - array.sum(axis=0)
    return Viewset(of_class, arrays)


def four_steps(views: Viewset, limit: int = 4) -> tuple[object, Viewset]:
    """The four public steps, at 256 bits and with the rows of the proof."""
    scaled = scale(fill_zeros(views), limit, bits=BITS)
    adjusted = adjust(scaled)
    found = proven_counts(ScaledShares(scaled))
    assert found is not None
    return adjusted, viewset(views, found.of_class, found.rows)


def wide(n: int, n_classes: int, rows: int = 1000) -> Viewset:
    """Binary attributes of 1,000 rows."""
    rng = np.random.default_rng(n_classes)
    classes = rng.integers(0, n_classes, rows)
    classes[:n_classes] = range(n_classes)
    chance = rng.uniform(0.05, 0.95, (n, n_classes))
    codes = (rng.random((rows, n)) < chance[:, classes].T).astype(np.int64)
    return Viewset.from_codes(codes, classes, sizes=[2] * n, n_classes=n_classes)


def views_of(sizes: list[int], n_classes: int = 2) -> Viewset:
    """Realistic, with zero counts: 30,000 rows."""
    rng = np.random.default_rng(1)
    of_class = rng.multinomial(30_000, np.full(n_classes, 1 / n_classes))
    arrays = [
        np.array([rng.multinomial(count, rng.dirichlet(np.full(size, 2.0))) for count in of_class]).T.copy()
        for size in sizes
    ]
    return Viewset(of_class, arrays)


def nearly(views: Viewset, factor: int) -> Viewset:
    """So many times the counts, give or take one."""
    rng = np.random.default_rng(2)
    return Viewset(
        views.class_counts * factor,
        [
            array * factor + (array > 0) * rng.integers(0, 2, array.shape, np.int64)
            for array in views.counts.values()
        ],
    )


def of_domain(name: str) -> Viewset:
    """Two classes over about so many tuples."""
    n, factor = DOMAINS[name]
    return views_of([*SIZES[: n - 1], SIZES[n - 1] * factor])


def adult_3() -> Viewset | None:
    """Age, education and hours of UCI Adult, >50K first; None without NBCFAST_DATA."""
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        return None
    names = ["age", "education_num", "hours_per_week", "income"]
    table = nbcfast.read_csv(Path(folder) / "adult-train.csv", columns=names)
    return nbcfast.count(table, "income", classes=(">50K", "<=50K"))
