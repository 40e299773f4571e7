"""`disguise_frame`: coins thrown where the rows lie, by the workers of an engine, and written at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from nbcfast._core.untyped import Document, PyArrow
from nbcfast._wire.messages import printable
from nbcfast.frames import Frame
from nbcfast.response.disguising import disguise
from nbcfast.response.schemes import AnyScheme
from nbcfast.table import Table
from nbcfast.table.arrow import load_pyarrow

BATCH_ROWS = 1 << 17  # a call for 1,000 rows takes ten times as long for each


@dataclass(frozen=True, eq=False, repr=False)
class DisguisedFrame:
    """Answers that the workers of an engine have told and written, which were read back and counted.

    Attributes
    ----------
    path : str
        The folder of Parquet files.
    scheme : Scheme or KaryScheme
        With the domains of its columns.
    n_rows : int
        The answers in the folder: as many as the frame had rows.
    frame : Frame
        The folder, read back: `estimate` takes it.
    """

    path: str
    scheme: AnyScheme
    n_rows: int
    frame: Frame = field(hash=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the folder."""
        return self.frame.names

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns outside the scheme, which stand there as they are."""
        return tuple(name for name in self.names if self.scheme.group_of(name) is None)

    def __repr__(self) -> str:
        told = f"; told as they are: {', '.join(map(repr, self.untouched))}" if self.untouched else ""
        return printable(f"DisguisedFrame({self.n_rows:,} answers by {self.scheme!r} in {self.path!r}{told})")

    def to_dict(self) -> Document:
        """What is known of the folder; the coins were never those of a simulation."""
        return {
            "path": self.path,
            "rows": self.n_rows,
            "scheme": self.scheme.to_dict(),
            "seeded": False,
            "untouched": list(self.untouched),
        }


def disguise_frame(frame: Frame, scheme: AnyScheme, path: str | os.PathLike[str]) -> DisguisedFrame:
    """Disguise the rows of a frame of Spark or Dask where they lie, and write the answers as Parquet.

    Each worker throws its own coins, under keys of 32 bytes that its operating system gives and nobody keeps:
    no key and no seed travels. The answers are written at once, read back and counted.

    A lazy frame of answers is never returned: an engine computes it anew for each action, and a part of it
    after a worker was lost, so that two coins are thrown for one person. Whoever sees both answers has the
    product of their odds. For the same reason a folder is not written a second time while the first one is
    anywhere.

    The folder is not what is published. Rows are shuffled in batches of at least 131,072, or of all that a
    partition has, but which file a row is in says which partition its person was in: the people of one
    hospital, perhaps. Publish a copy in which all rows are sorted by all columns, as ``Disguised.save`` does.

    Parameters
    ----------
    frame : Frame
        Of PySpark or Dask, without weights. The workers need nbcfast.
    scheme : Scheme or KaryScheme
        With declared domains for all its columns, as a part of the rows may lack a value. Columns outside the
        scheme stay as they are.
    path : str or path
        A folder that does not exist; for Spark any that it can write to, for Dask one that this process and
        all workers see. Spark puts ``_SUCCESS`` into it when all files are complete; Dask's takes its name
        then.

    Returns
    -------
    DisguisedFrame
        Where the folder is, and what is in it.

    Raises
    ------
    FileExistsError
        If there is something already.
    TypeError
        If the rows are those of an engine within this process.
    ValueError
        If there are no rows, the frame has weights, the scheme lacks domains, a column is missing or has
        other values than the scheme, or as many answers as rows are not read back.
    ModuleNotFoundError
        If the workers lack nbcfast.

    Notes
    -----
    The frame is read twice: its rows are counted, and their values compared with the scheme, before any coin
    is thrown. A task that fails and is run again throws new coins, and only one attempt is among the
    files; of the others nothing is left that an engine reads.

    A column of the scheme is written as its domain has it: whole numbers as 64-bit integers, dates as text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import dask.dataframe, pandas
    >>> from nbcfast.response import Scheme, estimate
    >>> rows = pandas.DataFrame({"smokes": [0, 1] * 500, "ill": ["no", "yes", "no", "no"] * 250})
    >>> people = Frame(dask.dataframe.from_pandas(rows, npartitions=2))
    >>> scheme = Scheme("0.8", [["smokes"]], domains={"smokes": [0, 1]})
    >>> with TemporaryDirectory() as folder:
    ...     told = disguise_frame(people, scheme, folder + "/told")
    ...     found = estimate(told.frame, scheme, "ill")
    >>> told.n_rows, told.untouched, found.n_rows
    (1000, ('ill',), 1000)
    """
    if not isinstance(frame, Frame):
        raise TypeError(
            f"frame must be a nbcfast.frames.Frame(..) of PySpark or Dask, got {type(frame).__name__}"
        )
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    if not frame.has_workers:
        raise TypeError(
            f"frame: expected one of PySpark or Dask, got {frame.kind}, whose rows are in this process: "
            "nbcfast.response.disguise(nbcfast.Table(rows), scheme) disguises them"
        )
    if frame.weights is not None:
        raise ValueError("frame: it has weights, and each record needs coins of its own: leave them out")
    _expect_domains(scheme)
    for name in scheme.columns:
        if name not in frame.names:
            raise ValueError(f"the frame has no column {name!r}, which the scheme has; it has {frame.names}")
    n_rows = _counted(frame, scheme)
    if not n_rows:
        raise ValueError("no rows")
    target = os.fsdecode(path)
    kinds = {name: scheme.domains[name].kind for name in scheme.columns}
    told = frame.write_mapped(ToldBatches(scheme), kinds, target, n_rows)
    n_told = _counted(told, scheme)
    if n_told != n_rows or told.names != frame.names:
        raise ValueError(
            f"path: {n_told:,} answers are in {target!r}, and {frame.kind} had {n_rows:,} rows: it has "
            "changed while it was read. Remove the folder, of which nothing may be published, and disguise a "
            "table that stays as it is"
        )
    return DisguisedFrame(target, scheme, n_rows, told)


def _expect_domains(scheme: AnyScheme) -> None:
    for name in scheme.columns:
        if name not in scheme.domains:
            raise ValueError(
                f"scheme: expected a declared domain of each column, as a part of the rows may lack a value; "
                f"{name!r} has none: Scheme(theta, groups, domains={{{name!r}: [..]}})"
            )


def _counted(frame: Frame, scheme: AnyScheme) -> int:
    """How many rows there are, all of which have values of the scheme."""
    n_rows = 0
    for table in frame.tables([name] for name in scheme.columns):
        assert table.weights is not None  # of distinct rows
        n_rows = int(table.weights.sum())
        if n_rows:
            scheme.check_domain(table.names[0], table.column(table.names[0]).domain)
    return n_rows


@dataclass(frozen=True)
class ToldBatches:
    """What a worker does with the rows of a partition, batch by batch, in memory of a batch."""

    scheme: AnyScheme

    def __call__(self, batches: Iterator[PyArrow]) -> Iterator[PyArrow]:
        for rows in gathered(batches, BATCH_ROWS):
            yield from self._told(rows).to_batches()

    def _told(self, rows: PyArrow) -> PyArrow:
        pa = load_pyarrow()
        answers = disguise(Table(rows.select(list(self.scheme.columns))), self.scheme).to_arrow()
        for name in answers.column_names:
            place = rows.schema.names.index(name)
            values = answers.column(name)
            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
            rows = rows.set_column(place, name, values)
        # Their order is that of a private table; by random keys each is as likely as any other.
        keys = np.frombuffer(os.urandom(8 * rows.num_rows), np.uint64)
        return rows.take(pa.array(np.argsort(keys))).combine_chunks()


def gathered(batches: Iterator[PyArrow], least: int) -> Iterator[PyArrow]:
    """Tables of at least so many rows, but for the last; none is empty."""
    pa = load_pyarrow()
    waiting: list[PyArrow] = []
    n_rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            n_rows += batch.num_rows
        if n_rows >= least:
            yield pa.Table.from_batches(waiting)
            waiting, n_rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)
