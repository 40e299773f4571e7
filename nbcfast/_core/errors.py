"""What is raised where no argument is wrong but a demand cannot be met, and where one is of another kind."""

from __future__ import annotations

import os
from collections.abc import Iterable

from nbcfast._core.spelling import in_place, listed, nearest


class Infeasible(Exception):  # noqa: N818  # a house name: it says what is the matter with the demand
    """A privacy demand that nothing can meet, with the best that can be had.

    Parameters
    ----------
    why : str
        What fails, and by how much.
    best : dict
        Exact values of the best found; a Release is under ``"release"``.

    Examples
    --------
    >>> try:
    ...     raise Infeasible("no 10 rows keep the order", {"differing_tuples": 3})
    ... except Infeasible as error:
    ...     print(error, error.best)
    no 10 rows keep the order {'differing_tuples': 3}
    """

    why: str
    best: dict[str, object]

    def __init__(self, why: str, best: dict[str, object]) -> None:
        super().__init__(why, best)  # both, so that it pickles
        self.why = why
        self.best = best

    def __str__(self) -> str:
        return self.why


class NoColumnError(ValueError):
    """A name that no column of a table has.

    Attributes
    ----------
    name : str
    present : tuple of str
        The columns that there are.
    file : path or None
        Where it was looked for, if whoever passes the error on says so.
    look : str
        What the file looks like, if that may be why.
    """

    file: str | os.PathLike[str] | None = None
    look = ""

    def __init__(self, name: object, present: Iterable[str], where: str = "") -> None:
        self.name, self.present, self.where = name, tuple(present), where
        super().__init__(name, self.present, where)  # so that it pickles

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        if not self.look and nearest(self.name, self.present):
            return f"{where}expected a column, got {self.name!r}{in_place(self.name, self.present)}"
        look = f"; {self.look}" if self.look else ""
        return f"{where}expected a column of {listed(self.present)}; got {self.name!r}{look}"


class NoRowsError(ValueError):
    """A table, a stream or a file without a row, where one is needed.

    Examples
    --------
    >>> raise NoRowsError("no rows")
    Traceback (most recent call last):
    nbcfast._core.errors.NoRowsError: no rows
    """


def expect(argument: object, kind: type, name: str) -> None:
    """TypeError unless the argument `name` is one of these."""
    if not isinstance(argument, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(argument).__name__}")
