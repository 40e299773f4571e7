"""Census-like data for benches and peers, seeded."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import nbcfast

# Name, number of values, share of the most frequent one.
ATTRIBUTES = [
    ("education", 16, 0.32),
    ("workclass", 7, 0.70),
    ("occupation", 14, 0.46),
    ("relationship", 6, 0.41),
    ("race", 5, 0.85),
    ("marital", 9, 0.40),
    ("sex", 2, 0.67),
    ("country", 41, 0.93),
    ("age", 73, 0.18),
    ("hours", 94, 0.47),
]
NAMES = [name for name, _, _ in ATTRIBUTES]
SIZES = [size for _, size, _ in ATTRIBUTES]
CLASS = "income"

STEPS = 1 << 16  # shares are multiples of 1 / STEPS
BLOCK = 1 << 20  # rows drawn at a time


class Data(NamedTuple):
    """Codes of the ten attributes and of the class: one uint8 array a column."""

    columns: list[npt.NDArray[np.uint8]]
    classes: npt.NDArray[np.uint8]
    n_classes: int

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    def named(self) -> dict[str, npt.NDArray[np.uint8]]:
        return dict(zip([*NAMES, CLASS], [*self.columns, self.classes], strict=True))

    def table(self) -> nbcfast.Table:
        """With declared domains, so that codes and domains are the same for every number of rows."""
        sizes = zip([*NAMES, CLASS], [*SIZES, self.n_classes], strict=True)
        return nbcfast.Table(self.named(), domains={name: range(size) for name, size in sizes})

    def matrix(self, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[np.integer]:
        """Row-major, scikit-learn's layout."""
        matrix = np.empty((self.n_rows, len(self.columns)), dtype)
        for i, column in enumerate(self.columns):
            matrix[:, i] = column
        return matrix


@lru_cache(maxsize=4)
def census(n_rows: int, n_classes: int = 2) -> Data:
    """Skewed attributes that depend on the class; the same for the same arguments."""
    rng, shape = np.random.default_rng([n_rows, n_classes]), np.random.default_rng(n_classes)
    classes = _drawn(rng, _falling(n_classes, 0.76 if n_classes == 2 else 0.34)[np.newaxis], n_rows)
    columns = []
    for _, size, top in ATTRIBUTES:
        shares = np.array([_falling(size, top) * shape.uniform(0.6, 1.4, size) for _ in range(n_classes)])
        columns.append(_drawn(rng, shares / shares.sum(axis=1, keepdims=True), n_rows, classes))
    return Data(columns, classes, n_classes)


def labels(name: str, size: int) -> list[str]:
    """The texts of an attribute in the files that the benches write; sorted as their codes are."""
    return [f"{name}_{code:02d}" for code in range(size)]


def _falling(size: int, top: float) -> npt.NDArray[np.float64]:
    """Shares: `top` for the first value, the rest in proportion to 1 / rank."""
    tail = 1 / np.arange(1, size)
    return np.concatenate([[top], tail * ((1 - top) / tail.sum())])


def _drawn(
    rng: np.random.Generator,
    shares: npt.NDArray[np.float64],
    n_rows: int,
    given: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """A value for each row, from the row of `shares` that `given` names."""
    ends = np.rint(np.cumsum(shares, axis=1) * STEPS).astype(np.int64)
    looked_up = np.array(
        [np.repeat(np.arange(shares.shape[1], dtype=np.uint8), np.diff(row, prepend=0)) for row in ends]
    )
    values = np.empty(n_rows, np.uint8)
    for start in range(0, n_rows, BLOCK):
        part = values[start : start + BLOCK]
        chance = rng.integers(STEPS, size=len(part), dtype=np.uint16)
        part[:] = looked_up[0 if given is None else given[start : start + BLOCK], chance]
    return values
