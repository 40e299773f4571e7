"""Blocks of a CSV file: whole rows, read one after the other, scanned side by side, delivered in order.

A row may begin anywhere, so a block of bytes is cut after its last row before the next one is read: that
needs one look at its quotes, far less than scanning. No result depends on where blocks end, or on the number
of threads: codes are given anew in the order in which rows come, and the first error by its place in the file
is the one that is raised.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from nbcfast import _codes, _columns, _csv_rows
from nbcfast._core.dtypes import Array, Bytes, Codes
from nbcfast._core.threads import over_spans
from nbcfast._reading.opened import FileBytes
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import Value

LARGEST_BLOCK = 1 << 30  # bytes of a row
HEADER_BYTES = 1 << 16
FIRST_BYTES = 1 << 18  # read by one thread: most columns have all their values there
BATCH_BYTES = 1 << 25  # of text whose rows are delivered together
MOST_BLOCKS = 64  # of a batch
MARK = b"\xef\xbb\xbf"  # at the beginning of a file in UTF-8
NO_PLACE = 0xFFFFFFFF

WIDTHS: dict[int, type[np.unsignedinteger]] = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def vectors() -> int:
    """Which vectors the kernel uses, by the level of all kernels: at the highest are wider ones."""
    return (0, 1, _csv_rows.levels() - 1)[_columns.level()]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a row, and where: nothing of what stands in it.

    Parameters
    ----------
    kind : int
        RAGGED, NUL or NO_UTF8 of the kernel.
    row : int
        Where the row begins, in bytes of the text.
    place : int
        Where the field begins, or what is wrong in it.
    column : int
        Of those that were asked for; -1 for a row.
    fields : int
        How many a row has that has too many or too few.
    quote : int
        Where a quote is opened that is never closed, or -1.
    """

    kind: int
    row: int
    place: int = -1
    column: int = -1
    fields: int = 0
    quote: int = -1


class FaultError(Exception):
    """A row is wrong; whoever knows the file says it."""

    def __init__(self, fault: Fault, rows: int) -> None:
        super().__init__(fault, rows)
        self.fault, self.rows = fault, rows


class LongRowError(Exception):
    """A row is longer than any that is read."""


@dataclass
class Lane:
    """What a thread reads into, and what it finds there: of all its blocks of a batch."""

    scanner: _csv_rows.Scanner
    buffer: Bytes = field(default_factory=lambda: np.zeros(_csv_rows.AHEAD + 1, np.uint8))
    begun: bool = False  # whether it has a block of the batch already


@dataclass
class ScannedBlock:
    """The rows of a block: some of those of a lane."""

    lane: Lane
    start: int
    rows: int
    fault: Fault | None = None


class CsvText:
    """The text of a CSV file from its first row on, cut into blocks of whole rows."""

    def __init__(self, source: FileBytes, delimiter: str, size: int) -> None:
        self._source, self._delimiter, self.size = source, ord(delimiter), size
        self._kept, self._ended = b"", False
        self.start = 0  # where what was kept begins
        self.level = vectors()

    @property
    def done(self) -> int:
        """Bytes of the file that were read."""
        return self._source.done

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self._ended and not self._kept

    def header(self) -> tuple[list[bytes], int]:
        """The fields of the first row that is not empty, none without one; and where a quote is left open."""
        size = max(min(self.size, HEADER_BYTES), len(MARK))
        buffer = np.zeros(size + 1 + _csv_rows.AHEAD, np.uint8)
        n = self._fill(buffer, 0, size)
        begin = len(MARK) if bytes(buffer[:3]) == MARK else 0
        while True:
            fields, after, quote = _csv_rows.row(buffer, begin, n, self._delimiter)
            # A CR at the end may be half of what ends the line.
            cut = after == n and buffer[n - 1] == 13
            if not self._ended and (after < 0 or cut):
                if size >= LARGEST_BLOCK:
                    raise LongRowError
                size = min(2 * size, LARGEST_BLOCK)
                buffer = np.concatenate([buffer[:n], np.zeros(size + 1 + _csv_rows.AHEAD - n, np.uint8)])
                n += self._fill(buffer, n, size)
                continue
            after = n if after < 0 else after
            empty = begin == n or buffer[begin] in (10, 13)
            if empty and (after < n or not self._ended):
                begin = after
                continue
            self._kept, self.start = bytes(buffer[after:n]), after
            return ([] if empty else fields), quote

    def _fill(self, buffer: Bytes, start: int, end: int) -> int:
        """Read as much as there is room for; how many bytes there were."""
        if self._ended:
            return 0
        got = self._source.readinto(buffer.data[start:end])
        self._ended = got < end - start
        return got

    def next(self, lane: Lane, most: int) -> tuple[int, int] | None:
        """Read whole rows into a block: where they begin in the text, and their length; None at the end."""
        size = max(min(most, self.size), 1)
        start, n = self.start, len(self._kept)
        if self.is_over:
            return None
        size = max(size, n)
        if len(lane.buffer) < size + 1 + _csv_rows.AHEAD:
            lane.buffer = np.zeros(size + 1 + _csv_rows.AHEAD, np.uint8)
        lane.buffer[:n] = np.frombuffer(self._kept, np.uint8)
        while True:
            n += self._fill(lane.buffer, n, size)
            buffer = lane.buffer
            end, is_open = _csv_rows.border(buffer, 0, n, self._delimiter, self._ended, self.level)
            if self._ended:
                self._kept, self.start = b"", start + n
                buffer[n : n + 1 + _csv_rows.AHEAD] = 0
                if end < n:
                    # The end of the file ends the row: as LF does, but for a CR before it that is in quotes.
                    buffer[n] = 13 if is_open else 10
                    n += 1
                return (start, n) if n else None
            if end:
                self._kept, self.start = bytes(buffer[end:n]), start + end
                return start, end
            if size >= LARGEST_BLOCK:
                raise LongRowError
            size = min(2 * size, LARGEST_BLOCK)
            lane.buffer = np.concatenate([buffer[:n], np.zeros(size + 1 + _csv_rows.AHEAD - n, np.uint8)])


class TextColumn:
    """A column of the file: its values in the order in which rows bring them."""

    def __init__(self, values: _csv_rows.Values, place: int) -> None:
        self._values, self._place = values, place
        self._places = np.empty(0, np.uint32)  # the kernel's number -> ours
        self._firsts = np.empty(0, np.uint32)  # and back
        self._same = True  # whether both are one
        self.n = 0
        self._texts: list[Value] = []

    @property
    def null(self) -> int:
        """The code of a null, or -1."""
        first = self._values.null(self._place)
        code = int(self._places[first]) if 0 <= first < len(self._places) else NO_PLACE
        return code if code != NO_PLACE else -1

    @property
    def firsts(self) -> Array:
        """The kernel's numbers of the values."""
        return self._firsts[: self.n]

    def texts(self) -> list[Value]:
        """The values so far: a list that grows, always the same."""
        if len(self._texts) < self.n:
            self._texts += self._values.texts(self._place, self._firsts[len(self._texts) : self.n])
        return self._texts

    def integers(self) -> tuple[Array, int]:
        """The values as integers, a null as 0, and the first that is none, or -1."""
        numbers = np.empty(self.n, np.int64)
        return numbers, self._values.integers(self._place, self.firsts, numbers)

    def floats(self) -> tuple[Array, int]:
        """The values as floats, a null as 0, and the first that is none, or -1."""
        numbers = np.empty(self.n, np.float64)
        return numbers, self._values.floats(self._place, self.firsts, numbers)

    def deliver(self, codes: Codes, most: int, alone: bool) -> Codes:
        """The codes of rows that come next, the largest `most`, numbered in the order in which values come.

        One thread alone meets values in that order already.
        """
        if len(self._places) <= most:
            room = max(2 * (most + 1), 64)
            places = np.full(room, NO_PLACE, np.uint32)
            places[: len(self._places)] = self._places
            firsts = np.empty(room, np.uint32)
            firsts[: self.n] = self._firsts[: self.n]
            self._places, self._firsts = places, firsts
        if alone:
            own = np.arange(self.n, max(most + 1, self.n), dtype=np.uint32)
            self._places[self.n : self.n + len(own)] = self._firsts[self.n : self.n + len(own)] = own
            self.n += len(own)
        elif most >= self.n or not self._same:
            before = self.n
            self.n = _csv_rows.meet(codes, self._places, self._firsts, self.n)
            new = self._firsts[before : self.n]
            self._same = self._same and bool((new == np.arange(before, self.n, dtype=np.uint32)).all())
        if self._same:
            return codes
        dtype = code_dtype(self.n)
        out = np.empty(len(codes), dtype)
        table = np.where(
            self._places == NO_PLACE, np.uint32(0), self._places
        )  # of values that no row has yet
        _codes.remap(codes, table.astype(dtype), out)
        return out


class CsvRows:
    """The rows of a text from where it stands on, some columns of them.

    Parameters
    ----------
    text : CsvText
        Behind its header.
    n_fields : int
        Of a row.
    places : sequence of int
        Which fields are wanted.
    nulls : sequence of str
        Fields that are nulls.
    threads : int
    """

    def __init__(
        self,
        text: CsvText,
        delimiter: str,
        n_fields: int,
        places: Sequence[int],
        nulls: Sequence[str],
        threads: int,
    ) -> None:
        self._text, self._delimiter, self._n_fields = text, ord(delimiter), n_fields
        self._places = np.array(places, np.int64)
        self._nulls = [null.encode("utf-8", "surrogatepass") for null in nulls]
        self._threads = threads
        self._lock = threading.Lock()
        self.done = 0  # rows delivered
        self._begin()

    def _begin(self) -> None:
        """Know no values."""
        self._keys = np.frombuffer(os.urandom(16 * len(self._places)), np.uint64)
        self._values = _csv_rows.Values(self._keys)
        self.columns = [TextColumn(self._values, place) for place in range(len(self._places))]
        self._alone = True

    def _scanner(self) -> _csv_rows.Scanner:
        return _csv_rows.Scanner(
            self._values,
            self._n_fields,
            self._places,
            self._delimiter,
            self._nulls,
            self._keys,
            self._text.level,
        )

    def batches(
        self, most_held: int | None = None, batch_bytes: int = BATCH_BYTES
    ) -> Iterator[tuple[int, list[Codes]]]:
        """Numbers of rows and codes of the columns, from the first row on; no batch is empty.

        Once a column has more than `most_held` values all are let go, and numbers begin anew.
        """
        lanes = [Lane(self._scanner())]
        while True:
            # The first block alone: what it holds is small, and other threads begin with its values.
            first = self._threads > 1 and len(lanes) == 1
            most = 1 if first else max(min(batch_bytes // self._text.size, MOST_BLOCKS), 4 * len(lanes))
            found = self._round(lanes, most, FIRST_BYTES if first else None)
            fault = found[-1].fault if found else None
            if fault is not None:
                raise FaultError(fault, self.done + sum(one.rows for one in found))
            if not found:
                return
            whole = [one for one in found if one.rows]
            if whole:
                n_rows = sum(one.rows for one in whole)
                self.done += n_rows
                yield n_rows, self._delivered(whole, n_rows)
            if first:
                lanes += [Lane(self._scanner()) for _ in range(self._threads - 1)]
                self._alone = False
            if most_held is not None and max(column.n for column in self.columns) > most_held:
                self._begin()
                self._alone = self._threads == 1
                for lane in lanes:
                    lane.scanner = self._scanner()

    def _delivered(self, whole: list[ScannedBlock], n_rows: int) -> list[Codes]:
        """The codes of blocks in their order, numbered as values come."""
        lanes = {id(one.lane): one.lane.scanner for one in whole}.values()
        runs: list[
            tuple[_csv_rows.Scanner, int, int]
        ] = []  # what stands together in a lane is copied at once
        for one in whole:
            if runs and runs[-1][0] is one.lane.scanner and sum(runs[-1][1:]) == one.start:
                runs[-1] = (*runs[-1][:2], runs[-1][2] + one.rows)
            else:
                runs.append((one.lane.scanner, one.start, one.rows))
        delivered = []
        for place, column in enumerate(self.columns):
            codes = np.empty(n_rows, WIDTHS[max(scanner.width(place) for scanner in lanes)])
            done = 0
            for scanner, start, rows in runs:
                scanner.copy(place, start, codes[done : done + rows])
                done += rows
            most = max(scanner.most(place) for scanner in lanes)
            delivered.append(column.deliver(codes, most, self._alone))
        return delivered

    def _round(self, lanes: list[Lane], most: int, size: int | None) -> list[ScannedBlock]:
        """The next blocks in their order, up to the first that is wrong."""
        found: dict[int, ScannedBlock] = {}
        begun, faulty, ended = 0, False, False
        for lane in lanes:
            lane.begun = False

        def work(lane: Lane, start: int, stop: int) -> None:
            nonlocal begun, faulty, ended
            with self._lock:
                span = None if faulty else self._text.next(lane, self._text.size if size is None else size)
                ended = self._text.is_over
                if span is None:
                    return
                place = begun
                begun += 1
            found[place] = self._scan(lane, *span)
            faulty = faulty or found[place].fault is not None

        # No further ones are begun once the text is at its end.
        places = takewhile(lambda place: not (ended or faulty), range(most))
        over_spans(((place, place + 1) for place in places), lanes, work)
        listed = [found[place] for place in range(begun)]
        wrong = next((place for place, one in enumerate(listed) if one.fault is not None), len(listed))
        return listed[: wrong + 1]

    def _scan(self, lane: Lane, start: int, n: int) -> ScannedBlock:
        """The rows of a block that begins at `start` of the text."""
        scanner = lane.scanner
        before = scanner.rows if lane.begun else 0
        status = scanner.scan(lane.buffer, 0, n, lane.begun)
        lane.begun = True
        fault = None if status == _csv_rows.FINE else self._fault(lane, status, start, n)
        return ScannedBlock(lane, before, scanner.rows - before, fault)

    def _fault(self, lane: Lane, status: int, start: int, n: int) -> Fault:
        row, column, begin, end = lane.scanner.wrong
        if status == _csv_rows.RAGGED:
            fields, _, quote = _csv_rows.row(lane.buffer, row, n, self._delimiter)
            return Fault(status, start + row, -1, -1, len(fields), -1 if quote < 0 else start + quote)
        if status == _csv_rows.MEMORY:
            raise MemoryError("no memory for the distinct values of a file")
        if status not in (_csv_rows.NUL, _csv_rows.NO_UTF8):
            raise ValueError("expected at most 2^32 - 16 distinct values in a column, got more")
        field = bytes(lane.buffer[begin:end])
        place = field.find(b"\0")
        if status == _csv_rows.NO_UTF8:
            try:
                field.decode()
            except UnicodeDecodeError as error:
                place = error.start
        return Fault(status, start + row, start + begin + max(place, 0), column)
