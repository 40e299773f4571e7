"""Files opened as bytes: decompressed where their name says so, and in UTF-8."""

from __future__ import annotations

import bz2
import codecs
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Protocol

from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import COMPRESSED
from nbcfast.table import arrow

PIECE = 1 << 18  # bytes that are unpacked or decoded at a time


def compression_of(path: str) -> str | None:
    """How a file is compressed by its name, whatever comes before: "people.data.gz" is as well."""
    return COMPRESSED.get(os.path.splitext(path)[1].lower())


@contextmanager
def open_file(path: str, encoding: str) -> Iterator[FileBytes]:
    """The bytes of a file in UTF-8, unpacked where its name says so; all that fails there is an OSError."""
    compression = compression_of(path)
    with open(path, "rb", buffering=0) as file:
        pieces: _Pieces = file
        if compression in _INFLATING:
            pieces = _Unpacked(file, compression)
        elif compression is not None:
            pieces = _ByArrow(file, compression)
        if codecs.lookup(encoding).name != "utf-8":
            pieces = _Decoded(pieces, encoding)
        yield FileBytes(file, pieces)


class _Pieces(Protocol):
    """What gives bytes until there are none."""

    def read(self, n: int, /) -> bytes | None: ...


class FileBytes:
    """The bytes of a stream, as many as are asked for until it ends."""

    def __init__(self, file: FileIO, pieces: _Pieces) -> None:
        self._file, self._pieces = file, pieces
        self._kept = b""

    @property
    def done(self) -> int:
        """Bytes of the file that were read; of a pipe it is not known, and 0."""
        return int(self._file.tell()) if self._file.seekable() else 0

    def read(self, n: int) -> bytes:
        """The next n bytes; fewer only at the end."""
        out = bytearray(n)
        return bytes(memoryview(out)[: self.readinto(memoryview(out))])

    def readinto(self, view: memoryview) -> int:
        """Fill the view with what comes next; how many bytes there were: fewer only at the end."""
        done = 0
        while done < len(view):
            if self._pieces is self._file:
                got = self._file.readinto(view[done:])
                if not got:
                    break
                done += got
                continue
            if not self._kept:
                self._kept = self._pieces.read(max(len(view) - done, PIECE)) or b""
                if not self._kept:
                    break
            part = self._kept[: len(view) - done]
            view[done : done + len(part)] = part
            self._kept = self._kept[len(part) :]
            done += len(part)
        return done


_INFLATING = ("gzip", "bz2")


class _Member(Protocol):
    """What unpacks one compressed member."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Unpacked:
    """The bytes of a file of one or more compressed members."""

    def __init__(self, file: FileIO, compression: str | None) -> None:
        self._file, self._compression = file, compression
        self._packed = b""
        self._member = self._new()
        self._begun = self._any = False

    def _new(self) -> _Member:
        return zlib.decompressobj(31) if self._compression == "gzip" else bz2.BZ2Decompressor()

    def read(self, n: int, /) -> bytes:
        try:
            while True:
                # A member of bz2 keeps what it was given until all of it is unpacked.
                holds = self._begun and not getattr(self._member, "needs_input", True)
                packed = b"" if holds else self._packed or self._file.read(PIECE) or b""
                if not packed and not holds:
                    if self._begun or not self._any:
                        raise OSError("the file ends within what is compressed")
                    return b""
                if not self._begun:
                    # Between members, and behind the last one, may be zeros.
                    packed = packed.lstrip(b"\0") if self._any else packed
                    if not packed:
                        self._packed = b""
                        continue
                    self._member, self._begun, self._any = self._new(), True, True
                out = self._member.decompress(packed, n)
                self._packed = self._left()
                if self._member.eof:
                    self._begun, self._packed = False, self._member.unused_data
                if out:
                    return out
        except (zlib.error, EOFError) as error:
            raise OSError(f"it is not {self._compression}, or damaged: {error}") from None

    def _left(self) -> bytes:
        left: bytes = getattr(self._member, "unconsumed_tail", b"")  # bz2 keeps what it was given
        return left


class _ByArrow:
    """What the standard library does not unpack."""

    def __init__(self, file: FileIO, compression: str) -> None:
        self._pa = arrow.load_pyarrow()
        self._file = self._pa.PythonFile(file, mode="r")
        self._errors = (self._pa.ArrowException, ValueError, NotImplementedError)
        self._compression = compression
        self._stream: PyArrow = None

    def read(self, n: int, /) -> bytes:
        try:
            if self._stream is None:
                self._stream = self._pa.CompressedInputStream(self._file, self._compression)
            data: bytes = self._stream.read(n)
            return data
        except self._errors as error:
            raise OSError(arrow.one_line(error)) from None


class _Decoded:
    """Text of another encoding, in UTF-8."""

    def __init__(self, pieces: _Pieces, encoding: str) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = False

    def read(self, n: int, /) -> bytes:
        while not self._ended:
            piece = self._pieces.read(PIECE) or b""
            self._ended = not piece
            text = self._decoder.decode(piece, final=self._ended)
            if text:
                return text.encode()
        return b""
