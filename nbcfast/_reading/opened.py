"""Files opened as bytes: decompressed, in UTF-8, and out of reach of late reads."""

from __future__ import annotations

import atexit
import codecs
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import FileIO

from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import COMPRESSED
from nbcfast.table import arrow


def compression_of(path: str) -> str | None:
    """How a file is compressed by its name, whatever comes before: "people.data.gz" is as well."""
    return COMPRESSED.get(os.path.splitext(path)[1].lower())


@contextmanager
def open_file(path: str, encoding: str) -> Iterator[tuple[_Source, PyArrow]]:
    """The source, and it as a stream of UTF-8 (decompressed where the name says so)."""
    pa = arrow.load_pyarrow()
    compression = compression_of(path)
    with open(path, "rb", buffering=0) as file:
        inner = pa.PythonFile(file, mode="r")
        if compression:
            inner = pa.CompressedInputStream(inner, compression)
        if codecs.lookup(encoding).name != "utf-8":
            inner = pa.transcoding_input_stream(inner, encoding, "utf8")
        with closing(_Source(file, inner)) as source:
            yield source, pa.PythonFile(source, mode="r")


_live: weakref.WeakSet[_Source] = weakref.WeakSet()


@atexit.register
def _settle(seconds: float = 1.0, closed_seconds: float = 30.0) -> None:
    """Wait, no longer than so many seconds, for pyarrow's threads to let go of what they read from.

    A thread that asks for the interpreter's lock when the interpreter is gone aborts the process. A stream
    that is closed and still there is held by such a thread alone, which on a busy machine comes late; one
    that is open may be held by somebody who left a reader half-way, and that may be for ever.
    """
    start = time.monotonic()
    while len(_live):
        most = closed_seconds if any(source.closed for source in _live) else seconds
        if time.monotonic() - start >= most:
            break
        time.sleep(0.001)


class _Source:
    """The bytes of a stream, in blocks that suit pyarrow's CSV reader, until it is closed.

    The reader goes on reading ahead in threads of its own for a while after it is closed. A file that is
    opened next gets the same descriptor, and such a late read would take a block out of it. And the reader
    drops a line feed at the start of a block if the one before ended in a carriage return, also inside
    quotes; so no block ends in one. Nor does it see names that no line end comes after.
    """

    def __init__(self, file: FileIO, stream: PyArrow) -> None:
        self._lock = threading.Lock()
        self._file = file
        self._stream = stream
        self._kept = b""
        self._begun = False
        self.closed = False
        _live.add(self)

    @property
    def done(self) -> int:
        """Bytes of the file that were read."""
        with self._lock:
            return 0 if self.closed else int(self._file.tell())

    def read(self, n: int = -1) -> bytes:
        with self._lock:
            if self.closed:
                return b""
            block: bytes = self._kept + self._stream.read(n if n < 0 else max(n - len(self._kept), 1))
            self._kept = b""
            while block.endswith(b"\r") and (more := self._stream.read(1)):
                before = block.rstrip(b"\r")
                if before:
                    block, self._kept = before, block[len(before) :] + more
                else:
                    block += more
            if not self._begun:
                self._begun = True
                whole = block and not any(mark in block for mark in (b"\n", b"\r", b"\0"))
                short = n < 0 or len(block) < n
                if whole and short and block.count(b'"') % 2 == 0 and not self._rest():
                    block += b"\n"
            return block

    def _rest(self) -> bytes:
        """A byte more, which the next block begins with; none at the end."""
        self._kept += self._stream.read(1)
        return self._kept

    def close(self) -> None:
        with self._lock:
            self.closed = True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """Nothing is written."""
