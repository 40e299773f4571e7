"""`Table`: columns as small integer codes, each with its domain."""

import itertools
from collections.abc import Iterable, Mapping
from functools import partial, reduce
from typing import Self

import numpy as np
import numpy.typing as npt

from nbcfast import _codes
from nbcfast._core.dtypes import Array, Codes, Longs, UInt32s
from nbcfast._core.errors import NoColumnError
from nbcfast._core.untyped import Arrow, Pandas, PyArrow
from nbcfast._core.validation import whole
from nbcfast._wire.messages import printable
from nbcfast.table import arrow
from nbcfast.table.arrays import add_values, is_arrow
from nbcfast.table.bins import binned
from nbcfast.table.chosen_rows import into, row_index, shrunk
from nbcfast.table.domain import Domain
from nbcfast.table.elsewhere import refuse_far
from nbcfast.table.encode import Column, ColumnBuilder, recode, used_values
from nbcfast.table.plain_rows import plain_values, rows_text, to_pandas
from nbcfast.table.row_weights import GROUPED_ROWS, checked_weights, own_weights, split_weights, value_weights
from nbcfast.table.values import SUPPRESSED, Value


class Table:
    """Rows of categorical values: one array of small integer codes a column, each with its domain.

    A table does not change; what looks like a change returns a new table.

    Parameters
    ----------
    obj : mapping or Arrow data
        Name -> 1-D array-like, or anything that exports Arrow data (a pandas or polars frame, a pyarrow
        table, a DuckDB relation; this needs pyarrow). A pandas index is no column.
    domains : mapping of name -> sequence, optional
        The values that a column may hold, in this order. Other columns have the sorted values that occur.
    weights : array_like of int, or name of a column, optional
        How many records each row stands for: integers of at least 1. A column named here is no attribute
        any more.

    Attributes
    ----------
    names : tuple of str
        The columns, in their order.
    n_rows : int
        Stored rows, whatever their weights.
    weights : read-only ndarray of int64, or None

    Raises
    ------
    TypeError
        If a column mixes kinds (text and numbers, bools and numbers) or holds others than bool, int, float,
        text, Interval, None and SUPPRESSED; if weights are not integers.
    ValueError
        If a value is not in its declared domain, lengths differ, or a weight is below 1.

    Notes
    -----
    A null is a value: None, last in its domain. NaN is a null and -0.0 is 0.0. Dates, times and
    durations from Arrow become their ISO 8601 text (moments with a zone in UTC), in the order of time;
    decimals become ints where their scale is 0 and else floats.

    Examples
    --------
    >>> table = Table({"age": [39, 50, None], "job": ["clerk", "cook", "cook"]})
    >>> table.domain("age"), table.codes("age")
    ((39, 50, None), array([0, 1, 2], dtype=uint8))
    >>> Table({"x": ["b"]}, domains={"x": ["b", "a"]}).domain("x")
    ('b', 'a')
    """

    __slots__ = ("_columns", "_weights", "n_rows")

    n_rows: int
    _columns: dict[str, Column]
    _weights: Longs | None

    def __init__(
        self,
        obj: "Table | Mapping[str, object] | Arrow",
        domains: Mapping[str, Iterable[object] | Domain] | None = None,
        weights: npt.ArrayLike | str | None = None,
    ) -> None:
        refuse_far(obj, "table")
        if isinstance(obj, Table):
            builders = {}
            columns: dict[str, Column] | None = _redeclared(obj, domains)
            weights = own_weights(obj.weights, weights)
        elif isinstance(obj, Mapping):
            builders, columns = {name: _builder(name, data) for name, data in obj.items()}, None
        elif is_arrow(obj):
            readers, batches = arrow.open_columns(obj)
            builders, columns = {name: ColumnBuilder(name) for name in readers}, None
            for batch in batches:
                for name, array in batch.items():
                    arrow.add_batch(builders[name], readers[name], array)
        else:
            raise TypeError(
                "expected a mapping of name -> 1-D array, or Arrow data (__arrow_c_stream__), "
                f"got {type(obj).__name__}"
            )
        if columns is None:
            lengths = {name: builder.n_rows for name, builder in builders.items()}
            _check_lengths(lengths)
            declared = declared_domains(domains, list(builders))
            columns = {name: builders[name].finish(declared.get(name)) for name in list(builders)}
        empty = obj.n_rows if isinstance(obj, Table) else 0
        n_rows = len(next(iter(columns.values())).codes) if columns else empty
        columns, checked = split_weights(columns, weights, n_rows)
        self._set(columns, checked, n_rows)

    def _set(self, columns: dict[str, Column], weights: Longs | None, n_rows: int) -> None:
        for column in columns.values():
            column.codes.flags.writeable = False
        if weights is not None:
            weights.flags.writeable = False
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_weights", weights)
        object.__setattr__(self, "n_rows", n_rows)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Column], weights: Longs | None, n_rows: int) -> Self:
        """A table of finished columns, which nothing checks again.

        Parameters
        ----------
        columns : mapping of name -> Column
            Their codes become read only: none is copied.
        weights : ndarray of int64, or None
            Becomes read only as well.
        n_rows : int
            How many codes each column has, which a table without columns could not tell.

        Examples
        --------
        >>> table = Table({"age": [39, 50], "job": ["clerk", "cook"]})
        >>> columns = {name: table.column(name) for name in table.names}
        >>> Table.from_columns(columns, table.weights, table.n_rows) == table
        True
        """
        table = cls.__new__(cls)
        table._set(dict(columns), weights, n_rows)
        return table

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Table does not change: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Table does not change: cannot delete {name}")

    def __reduce__(self) -> tuple[object, ...]:
        return Table.from_columns, (self._columns, self._weights, self.n_rows)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    @property
    def weights(self) -> Longs | None:
        return self._weights

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: `names`, as frames call them."""
        return self.names

    def __len__(self) -> int:
        return self.n_rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Array:
        """The values of a column, row by row; see `plain_values`.

        Examples
        --------
        >>> table = Table({"age": [39, 50], "job": ["clerk", None]})
        >>> table["age"], table["job"].tolist()
        (array([39, 50]), ['clerk', None])
        """
        if not isinstance(name, str):
            raise TypeError(
                f"expected the name of a column, got {name!r}: a Table is no sequence of rows. .columns are "
                "its names, .select gives several of them, .take and .head rows"
            )
        return plain_values(self.column(name))

    def head(self, n: int = 5) -> "FirstRows":
        """The first rows, as a table that shows them.

        Parameters
        ----------
        n : int
            How many; all where there are fewer.

        Examples
        --------
        >>> Table({"age": [39, 50, None], "job": ["clerk", "cook", "cook"]}).head(2)
        age  job
         39  clerk
         50  cook
        """
        some = self.take(slice(whole(n, "n", 0)), keep_domains=True)
        return FirstRows.from_columns(
            {name: some.column(name) for name in some.names}, some.weights, len(some)
        )

    def column(self, name: str) -> Column:
        """The codes and the Domain of a column."""
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            raise NoColumnError(name, self.names) from None

    def several(self, names: Iterable[str]) -> list[Column]:
        """The codes and the Domain of each of some columns.

        Examples
        --------
        >>> [column.domain for column in Table({"age": [39, 50], "job": ["cook", None]}).several(["job"])]
        [Domain('cook', None)]
        """
        try:
            return [self._columns[name] for name in names]
        except (KeyError, TypeError):
            return [self.column(name) for name in names]  # names the one that is not there

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values of a column, each at the position that is its code."""
        return self.column(name).domain.values

    def codes(self, name: str) -> Codes:
        """The codes of a column: read-only, of the smallest of uint8, uint16 and uint32 for its domain."""
        return self.column(name).codes

    def select(self, names: Iterable[str]) -> "Table":
        """The table of these columns in this order.

        Examples
        --------
        >>> Table({"a": [1], "b": [2], "c": [3]}).select(["c", "a"]).names
        ('c', 'a')
        """
        if isinstance(names, str):
            raise TypeError(f"names: expected a sequence of names, got the text {names!r}")
        listed = list(names)
        chosen = {name: self.column(name) for name in listed}
        if len(chosen) < len(listed):
            twice = next(name for name in listed if listed.count(name) > 1)
            raise ValueError(f"names: expected distinct column names, got {twice!r} twice")
        return Table.from_columns(chosen, self._weights, self.n_rows)

    def take(self, rows: npt.ArrayLike | slice, keep_domains: bool = False) -> "Table":
        """The table of these rows, as if it had been made of them alone.

        Parameters
        ----------
        rows : array_like of int, of bool, or slice
            Positions (negative ones count from the end), or for each row whether to keep it.
        keep_domains : bool
            Keep values that no row has any more. Without it, domains that were not declared shrink to those
            that occur.

        Raises
        ------
        ValueError
            If a position is outside the table or a mask has another length.

        Examples
        --------
        >>> table = Table({"x": ["a", "b", "c"]})
        >>> table.take([2, -3]).domain("x")
        ('a', 'c')
        """
        index = row_index(rows, self.n_rows)
        columns = {}
        for name, column in self._columns.items():
            codes = np.ascontiguousarray(column.codes[index])
            if codes.base is not None:
                codes = codes.copy()
            columns[name] = Column(codes, column.domain) if keep_domains else shrunk(codes, column.domain)
        weights = None if self._weights is None else self._weights[index].copy()
        n_rows = len(np.empty(self.n_rows, np.bool_)[index])  # there may be no column to ask
        return Table.from_columns(columns, weights, n_rows)

    def drop_nulls(self, names: Iterable[str] | None = None) -> "Table":
        """The rows that have no null (None) in these columns, or in any.

        Examples
        --------
        >>> Table({"x": [1, None], "y": [None, 2]}).drop_nulls(["x"]).n_rows
        1
        """
        if isinstance(names, str):
            raise TypeError(f"names: expected a sequence of names, got the text {names!r}")
        keep = np.ones(self.n_rows, np.bool_)
        for name in self.names if names is None else names:
            column = self.column(name)
            if None in column.domain.tail:
                keep &= column.codes != len(column.domain) - len(column.domain.tail)
        return self.take(keep)

    def collapse(self) -> "Table":
        """The distinct rows, sorted by their codes from the first column on; weights are added up.

        Examples
        --------
        >>> table = Table({"x": ["b", "a", "b"]}).collapse()
        >>> table.codes("x"), table.weights
        (array([0, 1], dtype=uint8), array([1, 2]))
        """
        if not self._columns or not self.n_rows:
            weights = np.empty(0, np.int64)
            if self.n_rows:  # rows without columns are all equal
                total = self.n_rows if self._weights is None else int(self._weights.sum())
                weights = np.array([total], np.int64)
            return Table.from_columns(dict(self._columns), weights, len(weights))
        grouper = _codes.RowGrouper([column.codes for column in self._columns.values()])
        for start in range(0, self.n_rows, GROUPED_ROWS):
            grouper.add(start, min(start + GROUPED_ROWS, self.n_rows), self._weights)
        firsts, totals = grouper.found()
        distinct = {name: column.codes[firsts] for name, column in self._columns.items()}
        order = np.lexsort(tuple(distinct.values())[::-1])
        columns = {name: Column(codes[order], self._columns[name].domain) for name, codes in distinct.items()}
        return Table.from_columns(columns, totals[order], len(order))

    def bin(
        self,
        name: str,
        edges: Iterable[object] | None = None,
        *,
        quantiles: object = None,
        width: object = None,
    ) -> "Table":
        """A column of numbers as a column of half-open intervals [low, high). Nulls stay None.

        Bins that are taken from data have open outer intervals, so that nobody's minimum or maximum is
        published. All is exact: a float, in the data or as an option, means its shortest decimal text.

        Parameters
        ----------
        name : str
            A column of ints or floats.
        edges : sequence of numbers
            At least 2, strictly increasing, from -inf and to inf if need be: the declared domain of all
            intervals between them. A value outside is an error. Or a sequence of intervals, such as the
            domain of a column that was binned before: new rows, and parts that are to be merged, need the
            same ones. A None among them is declared too. One that is not is there where a row has it: parts
            with and without nulls can be merged.
        quantiles : int or sequence of probabilities
            Cut at the smallest values whose weighted rank reaches j/quantiles (or each probability) of the
            total. Equal cuts merge, and one at the minimum is left out.
        width : number
            Cut at the multiples of it. As with any domain that is not declared, intervals without a row are
            left out.

        Examples
        --------
        >>> table = Table({"age": [17, 25, 38, 61]})
        >>> table.bin("age", width=20).domain("age")
        ((-inf, 20), [20, 40), [60, inf))
        >>> table.bin("age", [0, 18, 65]).domain("age")
        ([0, 18), [18, 65))
        >>> table.bin("age", quantiles=2).domain("age")
        ((-inf, 25), [25, inf))
        """
        column = self.column(name)
        totals = value_weights(column, self._weights)
        domain, table = binned(column.domain, totals, name, edges, quantiles, width)
        columns = dict(self._columns)
        columns[name] = Column(recode(column.codes, table, len(domain)), domain)
        return Table.from_columns(columns, self._weights, self.n_rows)

    def to_arrow(self, weights: str | None = None, *, suppressed: str = "*") -> PyArrow:
        """A pyarrow table of dictionary columns; None is null.

        Parameters
        ----------
        weights : str, optional
            The name of a column of the weights (1 each where the table has none).
        suppressed : str
            The text of SUPPRESSED. A column that holds it, or intervals, is written as text.

        Raises
        ------
        ValueError
            If a domain with SUPPRESSED holds the text `suppressed` too, or `weights` is the name of a column.
        """
        pa = arrow.load_pyarrow()
        arrays, names = [], list(self.names)
        for name, column in self._columns.items():
            values = column.domain.values
            withheld = SUPPRESSED in values
            if withheld:
                if suppressed in [str(value) for value in column.domain.head]:
                    raise ValueError(
                        f"column {name!r}: its domain holds the text {suppressed!r} of SUPPRESSED"
                    )
                values = tuple(suppressed if value is SUPPRESSED else value for value in values)
            texts = withheld or column.domain.kind == "interval"
            arrays.append(arrow.to_arrow_column(column.codes, values, texts, f"column {name!r}"))
        if weights is not None:
            if weights in self._columns:
                raise ValueError(f"weights: expected the name of a new column, got {weights!r}")
            numbers = np.ones(self.n_rows, np.int64) if self._weights is None else self._weights
            arrays.append(pa.array(numbers))
            names.append(weights)
        return pa.Table.from_arrays(arrays, names=names)

    def to_pandas(self, weights: str | None = None, *, suppressed: str = "*") -> Pandas:
        """A pandas frame.

        Whole numbers and bools with nulls are of pandas' types that have some. Intervals are an ordered
        categorical of their texts: their bounds are exact, and those of a pandas Interval would be floats.

        Parameters
        ----------
        weights : str, optional
            The name of a column of the weights (1 each where the table has none).
        suppressed : str
            The text of SUPPRESSED. A column that holds it is written as text.

        Raises
        ------
        ImportError
            If pandas is missing.
        ValueError
            If `weights` is the name of a column.
        """
        return to_pandas(self, weights, suppressed)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if self.names != other.names or self.n_rows != other.n_rows:
            return False
        if (self._weights is None) != (other._weights is None):
            return False
        my_weights, their_weights = self._weights, other._weights
        if (
            my_weights is not None
            and their_weights is not None
            and not np.array_equal(my_weights, their_weights)
        ):
            return False
        return all(
            mine.domain == theirs.domain and np.array_equal(mine.codes, theirs.codes)
            for mine, theirs in zip(self._columns.values(), other._columns.values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head = f"Table: {self.n_rows} rows" + (", weighted" if self._weights is not None else "")
        lines = []
        for name, column in self._columns.items():
            first = column.domain.first(6)
            shown = ", ".join(map(repr, first))
            ellipsis = ", ..." if len(column.domain) > len(first) else ""
            declared = ", declared" if column.domain.declared else ""
            lines.append(printable(f"  {name}: {len(column.domain)} values{declared}: {shown}{ellipsis}"))
        return "\n".join([head, *lines])


class FirstRows(Table):
    """Some rows of a table, whose repr shows them; made by `Table.head`."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return FirstRows.from_columns, super().__reduce__()[1]

    def __repr__(self) -> str:
        return rows_text(self)


def _builder(name: object, data: object) -> ColumnBuilder:
    if not isinstance(name, str):
        raise TypeError(f"expected column names of str, got {name!r} of {type(name).__name__}")
    builder = ColumnBuilder(name)
    add_values(builder, data)
    return builder


def _check_lengths(lengths: dict[str, int]) -> None:
    first = next(iter(lengths), None)
    for name, length in lengths.items():
        if first is not None and length != lengths[first]:
            raise ValueError(f"column {name!r}: expected {lengths[first]} rows as in {first!r}, got {length}")


def declared_domains(
    domains: Mapping[str, Iterable[object] | Domain] | None, names: Iterable[str] | None = None
) -> dict[str, Domain]:
    """The declared domains, checked; `names` are those of the columns, where they are known."""
    if domains is None:
        return {}
    if not isinstance(domains, Mapping):
        raise TypeError(f"domains: expected a mapping of name -> values, got {type(domains).__name__}")
    declared = {}
    known = None if names is None else list(names)
    for name, values in domains.items():
        if known is not None and name not in known:
            raise ValueError(f"domains: expected a column of {', '.join(map(repr, known))}; got {name!r}")
        if isinstance(values, Domain) and values.declared:
            declared[name] = values
        else:
            listed = values.values if isinstance(values, Domain) else values
            declared[name] = Domain.of(listed, where=f"domain of column {name!r}")
    return declared


def _redeclared(table: Table, domains: Mapping[str, Iterable[object] | Domain] | None) -> dict[str, Column]:
    """The columns of a table, some in declared domains."""
    columns = {name: table.column(name) for name in table.names}
    for name, domain in declared_domains(domains, table.names).items():
        columns[name] = into(columns[name], domain, f"column {name!r}", "its declared domain")
    return columns


def expect_table(obj: object, where: str = "table") -> None:
    """TypeError where an argument is no Table; a Frame, or what an engine has, is told the way."""
    if not isinstance(obj, Table):
        refuse_far(obj, where)
        raise TypeError(f"{where}: expected a Table, got {type(obj).__name__}: nbcfast.Table(..) makes one")


def concat(tables: Iterable[Table]) -> Table:
    """The rows of several tables one after another.

    Tables must have the same names, in any order; that of the first is kept. A domain that no table
    declared is the sorted union; declared ones must agree, and hold every value of the others. If any table
    has weights, rows of tables without have weight 1.

    Raises
    ------
    ValueError
        If there is no table, names differ, declared domains differ, or a value is not in a declared domain.

    Examples
    --------
    >>> both = concat([Table({"x": ["b"]}), Table({"x": ["a"]})])
    >>> both.domain("x"), both.codes("x")
    (('a', 'b'), array([1, 0], dtype=uint8))
    """
    listed = list(tables)
    if not listed:
        raise ValueError("tables: expected at least one, got none")
    for table in listed:
        expect_table(table, "tables")
        if set(table.names) != set(listed[0].names):
            raise ValueError(f"tables: expected the columns {listed[0].names}, got {table.names}")
    n_rows = sum(table.n_rows for table in listed)
    columns = {name: _joined([table.column(name) for table in listed], name) for name in listed[0].names}
    weights = None
    if any(table.weights is not None for table in listed):
        weights = np.ones(n_rows, np.int64)
        start = 0
        for table in listed:
            if table.weights is not None:
                weights[start : start + table.n_rows] = table.weights
            start += table.n_rows
        checked_weights(weights, n_rows)
    return Table.from_columns(columns, weights, n_rows)


def _joined(columns: list[Column], name: str) -> Column:
    where = f"column {name!r}"
    declared = [column.domain for column in columns if column.domain.declared]
    joined = partial(Domain.joined, where=where)
    domain = reduce(joined, declared or [column.domain for column in columns])
    if declared:  # what no row has of the others is not asked for
        for column in columns:
            if not column.domain.declared and column.domain.tail:
                used = used_values(column.codes, len(column.domain))
                occurs = itertools.compress(column.domain.values, used)
                domain = domain.with_tail(value for value in occurs if value in column.domain.tail)
    parts = [into(column, domain, where, "the declared domain") for column in columns]
    return Column(np.concatenate([part.codes for part in parts]), domain)


def equal_rows(table: Table, names: Iterable[str]) -> UInt32s:
    """For each row the number of the group of rows equal in these columns, in the order of their codes."""
    columns = [table.codes(name) for name in names]
    order = np.lexsort(tuple(columns)[::-1]) if columns else np.arange(table.n_rows)
    new = np.zeros(table.n_rows, np.bool_)
    for codes in columns:
        in_order = codes[order]
        new[1:] |= in_order[1:] != in_order[:-1]
    ids = np.empty(table.n_rows, np.uint32)
    ids[order] = np.cumsum(new, dtype=np.uint32)
    return ids
