"""What two releases say of the one row between them: its class, to whoever knows its values and that it came.

Proved in docs/mathematics/ledger.md, section 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Counts, Longs
from nbcfast._core.untyped import Document
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import ListedBox
from nbcfast.views import Viewset
from nbcfast.views.integers import total

MOST_LISTED = 1 << 16  # tuples without a value of the row that are looked at


class OneRow(NamedTuple):
    """The row that two tables differ by, as positions in the domains.

    Attributes
    ----------
    codes : tuple of int
        One an attribute.
    of_class : int
    came : bool
        Whether the later table has it; else the earlier one.
    """

    codes: tuple[int, ...]
    of_class: int
    came: bool


@dataclass(frozen=True)
class RowsMoved:
    """How many rows came and went between two tables, as far as their counts tell.

    Attributes
    ----------
    came, went : int
    exact : bool
        Whether it is known that these are all: the counts of rows that are replaced by others say only how
        many there are at least.
    one_row : OneRow or None
        Where the counts differ as by one row.
    """

    came: int
    went: int
    exact: bool
    one_row: OneRow | None = None

    @property
    def text(self) -> str:
        """For people."""
        if self.exact:
            return f"{_rows(self.came)} came and {_rows(self.went)} went"
        return f"at least {_rows(self.came)} came and at least {_rows(self.went)} went"

    def to_dict(self) -> Document:
        """Plain values, and nothing of the row itself."""
        return {"came": self.came, "went": self.went, "exact": self.exact}


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def moved(before: Viewset, after: Viewset, prefix: bool = False) -> RowsMoved:
    """How many rows came and went between two tables over one domain.

    Parameters
    ----------
    before, after : Viewset
        Of the same classes and values, in the same order.
    prefix : bool
        Whether the rows of the first are known to be the first ones of the second.

    Examples
    --------
    >>> before = Viewset([2, 1], [[[2, 0], [0, 1]]])
    >>> moved(before, Viewset([2, 1], [[[1, 1], [1, 0]]])).text
    'at least 2 rows came and at least 2 rows went'
    >>> moved(before, Viewset([2, 2], [[[2, 0], [0, 2]]])).one_row
    OneRow(codes=(1,), of_class=1, came=True)
    """
    tables = [(before.class_counts, after.class_counts)]
    tables += [(before.counts[name], after.counts[name]) for name in before.attributes]
    more = [np.asarray(new.astype(object) - old.astype(object)) for old, new in tables]
    net = after.n_rows - before.n_rows
    # Each row is in one count of each table, so that so many came and went at least.
    came = max(_positive(change) for change in more)
    one_row = _one_row(more, net)
    return RowsMoved(came, came - net, prefix, one_row)


def _positive(change: Counts) -> int:
    return sum(number for number in change.ravel().tolist() if number > 0)


def _one_row(changes: list[Counts], net: int) -> OneRow | None:
    """The row by which counts differ, if it is one row in all of them."""
    if abs(net) != 1 or any(_positive(change * -net) or total(change) != net for change in changes):
        return None
    of_class = int(np.flatnonzero(changes[0] != 0)[0])
    places = [np.argwhere(change != 0)[0].tolist() for change in changes[1:]]
    assert all(c == of_class for _, c in places), "counts that add up change in one class"
    return OneRow(tuple(value for value, _ in places), of_class, net == 1)


@dataclass(frozen=True)
class SignShown:
    """What answers before and after say of the one row between them.

    Attributes
    ----------
    came : bool
        Whether it came; else it went.
    near, far : int
        How many answers changed at tuples that agree with its values in all attributes but one at most, and
        at tuples that agree in none.
    far_known : bool
        Whether the latter were looked at: not if they are very many, nor where counts are smoothed, of which
        the theorem says nothing there.
    """

    came: bool
    near: int
    far: int
    far_known: bool

    @property
    def decides(self) -> bool:
        """Whether one of them says the class of the row by itself."""
        return self.near + self.far > 0

    @property
    def text(self) -> str:
        """For the publisher."""
        verb = "came" if self.came else "went"
        who = f"whoever knows its values, and that it {verb}, and has both releases,"
        if not self.decides:
            unknown = "" if self.far_known else ", as far as answers were looked at"
            return (
                f"one row {verb}, and no answer that changed decides its class by the sign theorem{unknown}: "
                f"{who} may still learn it if he knows more"
            )
        answers = "1 answer" if self.near + self.far == 1 else f"each of {self.near + self.far:,} answers"
        return (
            f"one row {verb}, and {answers} that changed decides its class by the sign theorem: {who} reads "
            "it, and needs to know nothing else of the table"
        )

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "came": self.came,
            "decides": self.decides,
            "near": self.near,
            "far": self.far,
            "far_known": self.far_known,
        }


def sign_shown(before: Viewset, after: Viewset, row: OneRow, smoothing: Fraction | None = None) -> SignShown:
    """How many answers that changed between two tables decide the class of the row between them.

    Where n - 1 of n values agree with those of a row that came, every answer that changes becomes its class;
    where none agrees, and n is 2 or more, every one that changes was its class. Of a row that went it is the
    other way round.
    """
    sizes = [len(array) for array in before.counts.values()]
    near = near_tuples(row.codes, sizes)
    far = None
    if smoothing is None and len(sizes) > 1 and math.prod(size - 1 for size in sizes) <= MOST_LISTED:
        far = far_tuples(row.codes, sizes)
    return SignShown(
        row.came,
        _changed(before, after, near, smoothing),
        0 if far is None or not len(far) else _changed(before, after, far, smoothing),
        len(sizes) < 2 or far is not None,
    )


def near_tuples(codes: tuple[int, ...], sizes: list[int]) -> Longs:
    """The tuples that agree with a row in all values but one at most."""
    tuples = [codes]
    for i, size in enumerate(sizes):
        tuples += [(*codes[:i], value, *codes[i + 1 :]) for value in range(size) if value != codes[i]]
    return np.array(tuples, np.int64)


def far_tuples(codes: tuple[int, ...], sizes: list[int]) -> Longs:
    """The tuples that agree with a row in no value."""
    others = [np.delete(np.arange(size), code) for code, size in zip(codes, sizes, strict=True)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*others, indexing="ij")], axis=1).astype(np.int64)


def _changed(before: Viewset, after: Viewset, tuples: Longs, smoothing: Fraction | None) -> int:
    """How many of these tuples have another best class."""
    labels = []
    for views in (before, after):
        answers = box(views if smoothing is None else views.smoothed(smoothing), tuples=tuples)
        assert isinstance(answers, ListedBox)
        labels.append(answers.labels)
    return int((labels[0] != labels[1]).sum())
