"""`total`: any number of viewsets added up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, overload

from nbcfast._core.choices import EMPTY, Empty
from nbcfast._core.errors import NoRowsError
from nbcfast._core.validation import choice
from nbcfast.views.viewset import Viewset


@overload
def total(parts: Iterable[Viewset | None], *, empty: Literal["error"] = "error") -> Viewset: ...


@overload
def total(parts: Iterable[Viewset | None], *, empty: Empty) -> Viewset | None: ...


def total(parts: Iterable[Viewset | None], *, empty: Empty = "error") -> Viewset | None:
    """The views of the rows of all parts together, whatever their order and however many they are.

    Parts are added as they come, each to one of about as many parts: a value is looked up as often as the
    logarithm of the number of parts says, and so many sums are held at most.

    Parameters
    ----------
    parts : iterable of Viewset or None
        None is a part without rows, as ``count(.., empty="none")`` gives it.
    empty : {"error", "none"}
        What to do where all parts are None, or there is none: refuse it, or give None.

    Returns
    -------
    Viewset, or None
        With the attributes in the order of the first part. A single part is given back as it is.

    Raises
    ------
    TypeError
        If a part is something else.
    ValueError
        If two parts cannot be added (see `Viewset`), or there is nothing to add.

    Examples
    --------
    >>> from nbcfast import count
    >>> north = count({"job": ["clerk"], "ill": ["no"]}, "ill")
    >>> south = count({"job": [], "ill": []}, "ill", empty="none")
    >>> east = count({"job": ["cook"], "ill": ["yes"]}, "ill")
    >>> total([north, south, east])
    Viewset(2 rows; classes 'no' 1, 'yes' 1; attributes 'job' (2))
    """
    choice(empty, EMPTY, "empty")
    if isinstance(parts, (str, bytes)) or not isinstance(parts, Iterable):
        raise TypeError(f"parts: expected an iterable of Viewsets or None, got {type(parts).__name__}")
    sums: list[tuple[int, Viewset]] = []  # how many parts are in each sum: falling powers of two
    n_parts = 0
    for part in parts:
        n_parts += 1
        if part is None:
            continue
        if not isinstance(part, Viewset):
            read = ": Viewset.from_bytes reads them" if isinstance(part, bytes) else ""
            raise TypeError(f"parts: expected Viewsets or None, got {type(part).__name__}{read}")
        size, views = 1, part
        while sums and sums[-1][0] == size:
            size, views = 2 * size, sums.pop()[1] + views
        sums.append((size, views))
    if not sums:
        if empty == "none":
            return None
        got = "no part" if n_parts == 0 else f"None in all {n_parts}"
        raise NoRowsError(f"parts: expected at least one Viewset, got {got}")
    _, result = sums.pop()
    while sums:
        result = sums.pop()[1] + result
    return result
