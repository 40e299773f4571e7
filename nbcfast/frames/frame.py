"""`Frame`: a table of an engine, of which distinct rows and their numbers are fetched, and nothing else."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nbcfast._core.errors import NoColumnError
from nbcfast._core.numbers import number_text
from nbcfast._core.untyped import PyArrow
from nbcfast._core.validation import whole
from nbcfast._wire.messages import printable
from nbcfast.frames.buckets import MOST_TASKS
from nbcfast.frames.dask_rows import DaskRows
from nbcfast.frames.duckdb_rows import DuckDBRows
from nbcfast.frames.engines import (
    AskedRows,
    DividedRows,
    Engine,
    Mapped,
    TooManyRowsError,
    WorkerEngine,
)
from nbcfast.frames.fetched import expect_readable, expect_same_rows, expect_weights, table_of
from nbcfast.frames.ibis_rows import IbisRows
from nbcfast.frames.packing import packed
from nbcfast.frames.polars_rows import PolarsRows
from nbcfast.frames.spark_rows import SparkRows
from nbcfast.frames.table_work import TableWork, TaskOutcome, expect_one_kind
from nbcfast.table.domain import Domain
from nbcfast.table.elsewhere import engine_of
from nbcfast.table.table import Table, declared_domains
from nbcfast.table.values import Kind

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views import Viewset

ENGINES: dict[str, Callable[[object], Engine]] = {
    "DuckDB": DuckDBRows,
    "Polars": PolarsRows,
    "Polars, lazy": PolarsRows,
    "PySpark": SparkRows,
    "Dask": DaskRows,
    "ibis": IbisRows,
}
ENGINES_TEXT = "a relation of DuckDB, a frame of Polars, PySpark or Dask, or a table of ibis"
MOST_ROWS = 50_000_000
MOST_PACKED = 1 << 20  # distinct rows of columns that were put together: more, and each is asked for alone
LOOKED_AT = 10_000  # rows, to see how many values a column has: how columns are packed, and nothing else
FEW = LOOKED_AT // 4  # values in them, beyond which a column may have any number


class Frame:
    """A table of an engine that stays where it is: it counts, and distinct rows with numbers are fetched.

    Every function that counts rows takes a Frame in place of a table, and gives the same result as for all
    rows in memory; of several columns it fetches those that it needs. What is fetched is as private as the
    table.

    Parameters
    ----------
    native : DuckDB relation, Polars, PySpark or Dask frame, or ibis table
        Found by its module: no engine is imported before. On Spark nothing is installed on executors; the
        workers of Dask need nbcfast.
    domains : mapping of name -> sequence, optional
        Declared domains, as of Table.
    weights : str, optional
        The column that says how many people a row stands for; it is no attribute then.
    most_rows : int
        Distinct rows beyond which nothing is fetched, for they have to fit in memory here.

    Attributes
    ----------
    names : tuple of str
        The columns, as they stand, without that of the weights.
    native : object
        The table of the engine.

    Raises
    ------
    TypeError
        If it is no table of these engines.
    ValueError
        If a name occurs twice, or there is no column of the name of the weights or of a declared domain.

    Notes
    -----
    Values are those of Table: NaN and null are one value, and -0.0 is 0.0, before rows are grouped. Names are
    compared with their case, and may hold dots and quotes. Columns whose texts the engine compares by a
    collation are refused.

    With more than 60 columns several queries are asked. That rows came or went between them is noticed, and
    an error, by the number of rows and by the columns that several answers have, as the classes of counts; a
    change of other columns alone is not. Count a table that stays as it is.

    Examples
    --------
    >>> import polars
    >>> people = Frame(polars.LazyFrame({"job": ["clerk", "cook", "cook"], "ill": ["no", "no", "yes"]}))
    >>> people.weighted(["job"]).weights
    array([1, 2])
    >>> people.counts("ill").counts["job"].tolist()
    [[1, 0], [1, 1]]
    """

    def __init__(
        self,
        native: object,
        *,
        domains: Mapping[str, Iterable[object]] | None = None,
        weights: str | None = None,
        most_rows: int = MOST_ROWS,
    ) -> None:
        engine = engine_of(native)
        if engine not in ENGINES:
            also = ": frame.to_spark() gives one of PySpark" if engine == "pandas on Spark" else ""
            raise TypeError(f"native: expected {ENGINES_TEXT}, got {type(native).__name__}{also}")
        self.native = native
        self.most_rows = whole(most_rows, "most_rows", 1)
        self._engine = ENGINES[engine](native)
        present = self._engine.names
        for name in present:
            if present.count(name) > 1:
                raise ValueError(f"expected distinct column names, got {name!r} twice")
        if weights is not None:
            self._place(weights, "weights")
            expect_weights(self._engine.schema().field(present.index(weights)).type)
        self.weights = weights
        self.names = tuple(name for name in present if name != weights)
        self._domains: dict[str, Domain] = declared_domains(domains, self.names)
        self._checked: set[str] = set()

    def _place(self, name: object, where: str = "") -> int:
        if name not in self._engine.names:
            raise NoColumnError(name, self._engine.names, where)
        return self._engine.names.index(str(name))

    @property
    def kind(self) -> str:
        """What it is a frame of."""
        return self._engine.kind

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else f", weighted by {self.weights!r}"
        names = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
        return printable(f"Frame({self.kind}; {len(self.names)} columns{weighted}: {names})")

    def weighted(self, columns: Iterable[str] | None = None) -> Table:
        """The distinct rows of some columns, or of all, and how many people each stands for.

        Parameters
        ----------
        columns : iterable of str, optional
            At least one.

        Returns
        -------
        Table
            With weights; equal to that of all rows, after `select` and `collapse`.

        Raises
        ------
        ValueError
            If a column is missing or named twice, a column has a collation, a value is not in its declared
            domain, weights are below 1, or there are more than `most_rows` distinct rows.
        TypeError
            If a column is of a type that Table does not take.

        Examples
        --------
        >>> import duckdb
        >>> rows = duckdb.sql("SELECT range % 3 AS zone, 'x' AS job FROM range(10)")
        >>> table = Frame(rows).weighted(["zone"])
        >>> table.domain("zone"), table.weights
        ((0, 1, 2), array([4, 3, 3]))
        """
        (table,) = self.tables([self.names if columns is None else columns])
        return table

    def tables(self, sets: Iterable[Iterable[str]]) -> list[Table]:
        """What `weighted` gives for each of several sets of columns, in one query where the engine can.

        Raises
        ------
        ValueError
            As of `weighted`, and if rows came or went between two queries.

        Examples
        --------
        >>> import polars
        >>> frame = Frame(polars.DataFrame({"a": [1, 1], "b": ["x", "y"]}))
        >>> [table.n_rows for table in frame.tables([["a"], ["a", "b"]])]
        [1, 2]
        """
        listed = [self._names(columns) for columns in sets]
        if not listed:
            return []
        try:
            return self._fetched(listed, self.most_rows)
        except TooManyRowsError as error:
            raise self._too_many(listed[error.place]) from None

    def _names(self, columns: Iterable[str]) -> list[str]:
        if isinstance(columns, str):
            raise TypeError(f"columns: expected a sequence of names, got the text {columns!r}")
        names = list(columns)
        if not names:
            raise ValueError("columns: expected at least one name, got none")
        for name in names:
            self._place(name)
            if name == self.weights:
                raise ValueError(f"columns: {name!r} is the column of the weights")
            if names.count(name) > 1:
                raise ValueError(f"columns: expected distinct names, got {name!r} twice")
        return names

    def _too_many(self, names: Sequence[str], who: str = "", instead: str = "") -> ValueError:
        shown = ", ".join(map(repr, names[:8])) + (", .." if len(names) > 8 else "")
        have = f"of the columns {shown} {who}" if who else f"the columns {shown} have"
        return ValueError(
            f"most_rows: {have} more than {number_text(self.most_rows)} distinct rows: {instead}leave out "
            "what names people, bin numbers in the engine, allow more, or write Parquet and give its path"
        )

    def _fetched(self, listed: Sequence[Sequence[str]], most: int) -> list[Table]:
        """The tables of each set; those of equal sets, in whatever order, are asked for once."""
        self._expect_columns(sorted({name for names in listed for name in names}))
        keys = [tuple(sorted(map(self._place, names))) for names in listed]
        sets = tuple(dict.fromkeys(keys))
        weights = None if self.weights is None else self._place(self.weights)
        try:
            found = self._engine.grouped(AskedRows(sets, weights, most))
        except TooManyRowsError as error:
            raise TooManyRowsError(keys.index(sets[error.place])) from None
        names_of = [[self._engine.names[place] for place in one] for one in sets]
        tables = [table_of(one, names, self._domains) for one, names in zip(found, names_of, strict=True)]
        expect_same_rows(tables, self.kind)
        of_key = dict(zip(sets, tables, strict=True))
        return [
            table if table.names == tuple(names) else table.select(names).collapse()
            for names, table in ((names, of_key[key]) for names, key in zip(listed, keys, strict=True))
        ]

    def _expect_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that cannot be counted as they are in memory; each is looked at once."""
        new = [name for name in names if name not in self._checked]
        if not new:
            return
        expect_readable(self._engine.schema(), new)
        for place in self._engine.collated([self._place(name) for name in new]):
            raise ValueError(
                f"column {self._engine.names[place]!r} has a collation, by which {self.kind} takes different "
                "texts for one: cast it to one that compares letter by letter"
            )
        self._checked.update(new)

    def packs(
        self, names: Sequence[str], beside: Sequence[str], *, most_values: int | None = None
    ) -> list[Table]:
        """Tables in which each of these columns stands once, with all of `beside`, for `count` to add up.

        Columns are put together by declared domains, or by how many values the first rows have: that
        decides what it costs, and nothing of what is found.

        Raises
        ------
        ValueError
            As of `tables`, and where a column has many more values than `most_values`: it is not fetched.

        Examples
        --------
        >>> import polars
        >>> frame = Frame(polars.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0, 1]}))
        >>> [table.names for table in frame.packs(["a", "b"], ["c"])]
        [('a', 'b', 'c')]
        """
        sizes = self._sizes([*names, *beside])
        if most_values is not None:
            self._expect_values([name for name, size in sizes.items() if size is None], most_values)
        cells = 1
        for name in beside:
            cells *= sizes[name] or FEW
        sets = [
            [*(names[place] for place in one), *beside]
            for one in packed([sizes[name] for name in names], beside=cells)
        ] or [list(beside)]
        together = [one for one in sets if len(one) > len(beside) + 1]
        if together:
            try:
                return self._fetched(sets, min(self.most_rows, MOST_PACKED))
            except TooManyRowsError:  # the first rows had few of the values
                sets = [[name, *beside] for name in names]
        return self.tables(sets)

    def _expect_values(self, names: Sequence[str], most: int) -> None:
        """Refuse columns with many more values than that, which would be fetched to be refused."""
        found = self._engine.n_values([self._place(name) for name in names], None) if names else None
        for name, n_values in zip(names, found or (), strict=found is not None):
            if n_values > most + most // 4:  # it is about so many
                raise ValueError(
                    f"column {name!r} has about {number_text(n_values)} values, expected at most "
                    f"{number_text(most)}: leave it out, or put it into bins in the engine"
                )

    def in_tasks(
        self,
        columns: Iterable[str],
        together: Iterable[str],
        work: Callable[[Table], bytes],
        *,
        tasks: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[bytes]:
        """What comes of the distinct rows of some columns, divided over tasks, each a table with weights.

        Rows that are equal in the columns `together` are in one task: their values are those of Table before
        they are divided.

        Parameters
        ----------
        columns, together : iterable of str
            The second are some of the first; none puts all rows into one task.
        work : callable
            Takes the table of a task. It is pickled, and called where the engine works.
        tasks : int, optional
            By default as many as the engine has partitions; of an engine within this process one, and more
            where a task would have more than `most_rows` distinct rows.
        progress : callable, optional
            Called as progress(done_tasks, all_tasks).

        Yields
        ------
        bytes
            Of each task that has rows, in any order.

        Raises
        ------
        ValueError, TypeError
            As of `weighted`, where `most_rows` is that of a task; and as Table where the values of all tasks
            together are of several kinds.
        ModuleNotFoundError
            If the workers of the engine lack nbcfast.

        Examples
        --------
        >>> import polars
        >>> people = Frame(polars.DataFrame({"zone": [1, 1, 2], "ill": ["no", "yes", "no"]}))
        >>> found = people.in_tasks(["zone", "ill"], ["zone"], lambda table: bytes([table.n_rows]), tasks=9)
        >>> sum(sum(told) for told in found)
        3
        """
        names, shared = self._names(columns), list(together)
        for name in shared:
            if name not in names:
                raise ValueError(f"together: expected some of {', '.join(map(repr, names))}; got {name!r}")
        n_tasks = None if tasks is None else whole(tasks, "tasks", 1, MOST_TASKS)
        self._expect_columns(sorted(names))
        places = sorted(map(self._place, names))
        listed = tuple(self._engine.names[place] for place in places)
        weights = None if self.weights is None else self._place(self.weights)
        domains = {name: domain for name, domain in self._domains.items() if name in listed}
        divided = DividedRows(
            AskedRows((tuple(places),), weights, self.most_rows),
            tuple(map(self._place, shared)),
            n_tasks,
            TableWork(listed, domains, self.most_rows, work),
        )
        seen: list[TaskOutcome] = []
        try:
            for done, (told, all_tasks) in enumerate(self._engine.in_tasks(divided), 1):
                if told is not None:
                    outcome: TaskOutcome = pickle.loads(told)
                    yield self._told(outcome, names)
                    seen.append(TaskOutcome(kinds=outcome.kinds))
                if progress is not None:
                    progress(done, all_tasks)
        except TooManyRowsError:
            raise self._too_many(names, "a task has", "more tasks, ") from None
        expect_one_kind(seen, names)

    @property
    def has_workers(self) -> bool:
        """Whether the rows are with workers of the engine, which can write what comes of them."""
        return isinstance(self._engine, WorkerEngine)

    def write_mapped(
        self,
        work: Callable[[Iterator[PyArrow]], Iterator[PyArrow]],
        kinds: Mapping[str, Kind | None],
        path: str,
        n_rows: int,
    ) -> Frame:
        """What comes of all rows, batch by batch on the workers, written as Parquet and read back.

        Parameters
        ----------
        work : callable
            Takes the record batches of a partition, and gives others with the same columns. It is pickled.
        kinds : mapping of name -> kind
            The columns that come out as values of a kind; all others have the type that they had.
        path : str
            A folder that does not exist.
        n_rows : int
            How many rows have to be in it.

        Returns
        -------
        Frame
            Of the folder.

        Raises
        ------
        FileExistsError
            If there is something at the path.
        TypeError
            If the rows are in this process.
        """
        if not isinstance(self._engine, WorkerEngine):
            raise TypeError(f"expected a frame of PySpark or Dask, got {self.kind}, which has no workers")
        changed = {self._place(name): kind for name, kind in kinds.items()}
        return Frame(self._engine.written(Mapped(work, changed, path, n_rows)), most_rows=self.most_rows)

    def _told(self, outcome: TaskOutcome, names: Sequence[str]) -> bytes:
        if outcome.is_too_large:
            raise self._too_many(names, "a task has", "more tasks, ")
        if outcome.error:
            raise (TypeError if outcome.is_type_error else ValueError)(outcome.error)
        return outcome.told

    def _sizes(self, names: Sequence[str]) -> dict[str, int | None]:
        """How many values columns have: those declared, else what the first rows let expect."""
        self._names(names)
        sizes: dict[str, int | None] = {
            name: len(self._domains[name]) for name in names if name in self._domains
        }
        unknown = [name for name in names if name not in sizes]
        if unknown and len(names) > 2:
            self._expect_columns(sorted(unknown))
            places = [self._place(name) for name in unknown]
            found = self._engine.n_values(places, LOOKED_AT)
            for name, n_values in zip(unknown, found or (), strict=found is not None):
                sizes[name] = n_values if n_values <= FEW else None
        return {name: sizes.get(name) for name in names}

    def counts(self, class_name: str, attributes: Iterable[str] | None = None) -> Viewset:
        """The counts of a naive Bayes classifier: what `nbcfast.count` gives of this frame.

        Parameters
        ----------
        class_name : str
            The column of the classes.
        attributes : iterable of str, optional
            By default all other columns.

        Returns
        -------
        Viewset
            Equal to that of all rows.

        Examples
        --------
        >>> import polars
        >>> frame = Frame(polars.LazyFrame({"a": [1, 1], "c": ["x", "y"]}))
        >>> frame.counts("c").n_rows
        2
        """
        # Counts are made where all are, on a floor above: whoever only asks for tables does not enter it.
        views: Viewset = importlib.import_module("nbcfast.views").count(self, class_name, attributes)
        return views
