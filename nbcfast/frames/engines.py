"""What an engine is asked for: distinct rows of some of its columns, and how many rows each stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from nbcfast._core.untyped import PyArrow
from nbcfast.table.arrow import load_pyarrow
from nbcfast.table.values import Kind

# What stands behind the columns of a group of rows: how many people it has; of weights the least one, how
# many there are, and their sum as a float, beside which a sum that did not fit is seen.
NUMBER, LEAST, PRESENT, ROWS, ABOUT = "n", "least", "present", "rows", "about"
NUMBERS = (NUMBER, LEAST, PRESENT, ROWS, ABOUT)
TOGETHER = 60  # columns of one query with grouping sets: engines number 64 of them


class TooManyRowsError(ValueError):
    """Columns that have more distinct rows than are fetched.

    Attributes
    ----------
    place : int
        Which of the sets of columns that were asked for.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class AskedRows:
    """Distinct rows that are asked for.

    Attributes
    ----------
    sets : tuple of tuples of int
        Positions of columns, for each group of columns whose distinct rows are wanted.
    weights : int or None
        The position of the column that says how many people a row stands for.
    most : int
        Distinct rows of one set beyond which nothing is fetched.
    """

    sets: tuple[tuple[int, ...], ...]
    weights: int | None
    most: int

    @property
    def grouped(self) -> tuple[int, ...]:
        """The columns of all sets, in rising order."""
        return tuple(sorted({place for one in self.sets for place in one}))

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns that are read, in rising order."""
        return tuple(sorted({*self.grouped, *(() if self.weights is None else (self.weights,))}))

    def parts(self) -> Iterator[tuple[int, AskedRows]]:
        """As many sets at a time as one query may have, each time with the place of the first of them."""
        start = stop = 0
        while stop < len(self.sets):
            known: set[int] = set()
            start = stop
            while stop < len(self.sets) and (stop == start or len(known | {*self.sets[stop]}) <= TOGETHER):
                known |= {*self.sets[stop]}
                stop += 1
            yield start, AskedRows(self.sets[start:stop], self.weights, self.most)


@dataclass(frozen=True)
class DividedRows:
    """Distinct rows that are divided over tasks, and what is done with those of a task.

    Attributes
    ----------
    asked : AskedRows
        With one set of columns.
    together : tuple of int
        Positions of columns: rows that are equal in all of them are in one task.
    tasks : int or None
        Into how many; None where the engine chooses.
    work : callable
        What is done, where the engine works, with an Arrow table of the distinct rows of a task, as `grouped`
        gives them: bytes come of it. It is not asked of tasks without rows.
    """

    asked: AskedRows
    together: tuple[int, ...]
    tasks: int | None
    work: Callable[[PyArrow], bytes]


def column(place: int) -> str:
    """What a column is called in queries, whatever its name is."""
    return f"c{place}"


def unreadable(type_: str, engine: str) -> PyArrow:
    """A type that Arrow has not: columns of it are refused by its name, where somebody asks for them."""
    pa = load_pyarrow()
    return pa.opaque(pa.binary(), type_, engine)


class Engine(ABC):
    """A table of an engine.

    Attributes
    ----------
    kind : str
        What it is, for messages.
    names : tuple of str
        Its columns, as they stand.
    """

    kind: ClassVar[str]
    names: tuple[str, ...]

    @abstractmethod
    def schema(self) -> PyArrow:
        """The Arrow schema of the columns; null where only the rows know the type of one."""

    @abstractmethod
    def collated(self, places: Sequence[int]) -> list[int]:
        """Which of these columns have texts that the engine takes for equal though they are not."""

    @abstractmethod
    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int] | None:
        """About how many values each column has, counted by the engine.

        That is in some rows that are quickly had, or, with None for their number, in all.

        None where there are no such rows, it is not sure that they can be read once more, or it takes long.
        """

    @abstractmethod
    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        """For each set an Arrow table of its distinct rows: the columns by the names of queries, and NUMBERS.

        NaN is null there, and -0.0 is 0.0, before rows are grouped.

        Raises
        ------
        TooManyRowsError
            If a set has more than `asked.most`.
        """

    @abstractmethod
    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        """Of each task what the work gives, None where it has no rows; beside it how many tasks there are.

        NaN is null, and -0.0 is 0.0, before it is decided which task a row is in.

        Raises
        ------
        TooManyRowsError
            If a task has more than `divided.asked.most` distinct rows and there is nothing to divide.
        """


@dataclass(frozen=True)
class Mapped:
    """What workers make of all rows, and write.

    Attributes
    ----------
    work : callable
        Gives batches for those of a partition, with the same columns. It is pickled.
    kinds : mapping of int -> kind
        Places of columns that come out as values of a kind; all others have the type that they had.
    path : str
        A folder that does not exist, for files of Parquet.
    n_rows : int
        How many rows have to be in it.
    """

    work: Callable[[Iterator[PyArrow]], Iterator[PyArrow]]
    kinds: Mapping[int, Kind | None]
    path: str
    n_rows: int


class WorkerEngine(Engine):
    """An engine whose workers read and write rows, far from this process."""

    @abstractmethod
    def written(self, mapped: Mapped) -> object:
        """The folder as a table of the engine, after all rows were written there, each once.

        Raises
        ------
        FileExistsError
            If there is something at the path.
        """
