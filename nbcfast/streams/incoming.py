"""What may be added to a window, as batches of codes with the times of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbcfast._core.untyped import PyArrow
from nbcfast._reading.source import AnyTable, InMemory, Stream, batches_from, expect_rows, weights_of
from nbcfast.frames import Frame
from nbcfast.streams.numbering import SECOND, Numbering, Ticks, ticks_of_array, ticks_of_values
from nbcfast.table import Table
from nbcfast.table.arrow import ColumnReader, load_pyarrow, open_columns
from nbcfast.table.values import INT64_MAX

if TYPE_CHECKING:
    from nbcfast._core.dtypes import Array, Codes, Longs
    from nbcfast.table.values import Value


@dataclass(frozen=True)
class Incoming:
    """Some rows: name -> (codes, values), their weights, and their times where blocks are of times."""

    columns: dict[str, tuple[Codes, list[Value]]]
    n_rows: int
    weights: Longs | None
    ticks: Ticks | None
    texts: bool


def incoming(
    table: AnyTable,
    names: Sequence[str],
    weights: str | None,
    by: str | None,
    numbering: Numbering | None,
    known: dict[str, ColumnReader],
) -> Iterator[Incoming]:
    """The rows of what may be added, batch by batch; none is empty.

    Parameters
    ----------
    table : Table, or what it is made of
        Anything that `nbcfast.count` takes; a Frame where blocks are of times.
    names : sequence of str
        The columns that are counted.
    weights : str or None
        The column of the weights.
    by : str or None
        The column that says which block a row lies in.
    numbering : Numbering or None
        Of the blocks of `by`.
    known : dict of name -> ColumnReader
        Those of the rows before, which are replaced by those of these rows.
    """
    if isinstance(table, Table) and table.weights is not None and weights is None:
        raise ValueError(
            "table: it has weights, and the window was not told: name their column, weights='n', and give "
            "the rows as they were read"
        )
    wanted = [*names, *([by] if by is not None and by not in names else [])]
    if isinstance(table, Frame):
        if by is None:
            expect_rows(table, "blocks of so many rows take them in their order: name a column of times")
        if table.weights != weights:
            raise ValueError(
                f"table: expected Frame(.., weights={weights!r}), as the window was told, got one with "
                f"weights={table.weights!r}"
            )
        table = table.weighted(wanted)
    source = batches_from(table, weights=None if isinstance(table, Table) else weights)
    if isinstance(source, Stream):
        yield from _of_arrow(source.stream, names, weights, by, numbering, known)
        return
    if isinstance(source, Table):
        if by is not None and by == weights:
            raise ValueError(f"by: {by!r} is the column of the weights as well")
        # Its weights are taken out of it already.
        source, weights = InMemory(source), None
    for batch in source.batches(wanted, weights):
        ticks = None
        if by is not None and numbering is not None:
            codes, values = batch.columns[by]
            if source.texts and not numbering.of_times:
                values = _integers(by, values)
            ticks = ticks_of_values(codes, values, numbering.of_times, f"column {by!r}")
        yield Incoming(batch.columns, batch.n_rows, batch.weights, ticks, source.texts)


def _integers(name: str, texts: list[Value]) -> list[Value]:
    """The texts of a file as integers."""
    numbers: list[Value] = []
    for text in texts:
        try:
            numbers.append(text if text is None else int(str(text)))
        except ValueError:
            raise TypeError(f"column {name!r}: expected integers, as width is one, got {text!r}") from None
    return numbers


def _of_arrow(
    stream: object,
    names: Sequence[str],
    weights: str | None,
    by: str | None,
    numbering: Numbering | None,
    known: dict[str, ColumnReader],
) -> Iterator[Incoming]:
    """Rows of Arrow data: moments are never texts on the way, of which there may be one a row."""
    wanted = [*names, *(name for name in (by, weights) if name is not None)]
    readers, batches = open_columns(stream, list(dict.fromkeys(wanted)), known)
    known.clear()
    known.update(readers)
    total = 0
    for batch in batches:
        columns = {name: readers[name].encode(batch[name], check=False) for name in names}
        n_rows = len(columns[names[-1]][0])
        row_weights = None
        weight = n_rows
        if weights is not None:
            row_weights, weight = weights_of(*readers[weights].encode(batch[weights]))
        total += weight
        if total > INT64_MAX:
            raise ValueError("weights must add up to less than 2^63")
        ticks = None
        if by is not None and numbering is not None:
            ticks = _ticks(readers[by], batch[by], numbering.of_times, f"column {by!r}")
        yield Incoming(columns, n_rows, row_weights, ticks, False)


def _ticks(reader: ColumnReader, array: PyArrow, of_times: bool, where: str) -> Ticks:
    """The times of the rows of one Arrow array."""
    types, type_ = load_pyarrow().types, reader.type
    if not of_times and types.is_integer(type_):
        return ticks_of_array(*reader.numbers(array), (1, 1), None, where)
    if of_times and types.is_timestamp(type_):
        scale = {"s": (SECOND, 1), "ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}[type_.unit]
        return ticks_of_array(*_numbers(reader.name, array, 64), scale, type_.tz is not None, where)
    if of_times and types.is_date(type_):
        days = type_.bit_width == 32
        scale = (86_400 * SECOND, 1) if days else (1000, 1)
        return ticks_of_array(*_numbers(reader.name, array, type_.bit_width), scale, False, where)
    codes, values = reader.encode(array)
    return ticks_of_values(codes, values, of_times, where)


def _numbers(name: str, array: PyArrow, bits: int) -> tuple[Array, Array | None]:
    """The integers that times are, and where there is none."""
    integers = load_pyarrow().int32() if bits == 32 else load_pyarrow().int64()
    return ColumnReader(name, integers).numbers(array.view(integers))
