"""The file of a ledger: one writer at a time, whole lines at its end, and nothing else ever written to it."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import suppress

from nbcfast._core.files import place_of
from nbcfast._core.stopping import touch
from nbcfast._wire.regular_files import special

MOST_BYTES = 1 << 30  # of a ledger that is read
OWNER_ONLY = 0o600

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 62  # a byte that no ledger has: what is locked there cannot be read by others

    def _lock(handle: int, alone: bool) -> None:
        """Wait until nobody else has the file."""
        while True:
            os.lseek(handle, FAR, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLK):
                    raise
                time.sleep(0.05)

else:
    import fcntl

    def _lock(handle: int, alone: bool) -> None:
        """Wait until nobody else has the file; who only reads waits for writers alone."""
        fcntl.flock(handle, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)


class LockedFile:
    """The file of a ledger, locked until it is closed; it is made, for its owner alone, where there is none.

    Parameters
    ----------
    path : str
        Never a link, nor anything but a regular file.
    alone : bool
        Whether it will be written.

    Raises
    ------
    FileNotFoundError
        If there is none, and it will not be written.
    FileExistsError
        If it is a link, or no regular file.
    OSError
        If it cannot be opened or locked.
    """

    def __init__(self, path: str, alone: bool) -> None:
        self.path, self._alone, self._handle = path, alone, -1
        self._process = os.getpid()
        while self._handle < 0:
            self._handle = _opened(path, alone)
            try:
                _lock(self._handle, alone)
                # While we waited, who made it and wrote nothing may have taken it away.
                if not _is_at(self._handle, path):
                    self.close()
            except BaseException:
                self.close()
                raise

    def read(self) -> bytes:
        """All of it."""
        size = os.fstat(self._handle).st_size
        if size > MOST_BYTES:
            raise ValueError(f"{self.path}: {size:,} bytes, and of a ledger up to {MOST_BYTES:,} are read")
        os.lseek(self._handle, 0, os.SEEK_SET)
        blocks, left = [], MOST_BYTES
        while left and (block := os.read(self._handle, min(left, 1 << 20))):
            blocks.append(block)
            left -= len(block)
        return b"".join(blocks)

    def append(self, line: bytes) -> None:
        """Write a line at the end, to the disk; where that fails, what was there before is all there is.

        A process that was forked since the file was opened has its lock as well: ValueError there.
        """
        if os.getpid() != self._process:  # which has the lock too, and does not wait
            raise ValueError(f"{self.path}: it is open in the process that this one was forked from")
        size = os.fstat(self._handle).st_size
        try:
            if os.write(self._handle, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            os.fsync(self._handle)
            if size == 0:
                _sync_folder(self.path)
        except BaseException as error:
            with suppress(OSError):
                self.cut(size)
            if isinstance(error, OSError) and error.filename is None:
                error.filename = self.path
            raise

    def cut(self, size: int) -> None:
        """Leave so many bytes: what stands behind them was never a whole line."""
        os.ftruncate(self._handle, size)
        os.fsync(self._handle)

    @property
    def open_to_others(self) -> bool:
        """Whether others than its owner may read it, as far as the system has such rights."""
        return os.name == "posix" and bool(os.fstat(self._handle).st_mode & 0o077)

    def close(self) -> None:
        """Let others have it; one that is still empty, and was to be written, is not left behind."""
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        with suppress(OSError):
            mine = self._alone and os.getpid() == self._process
            if mine and os.fstat(handle).st_size == 0 and _is_at(handle, self.path):
                os.unlink(self.path)
        os.close(handle)


def _opened(path: str, alone: bool) -> int:
    """A descriptor; opening a pipe may wait for ever, and a device do anything, so these are not opened."""
    place = place_of(path)
    with suppress(FileNotFoundError):
        status = os.lstat(place)
        if stat.S_ISLNK(status.st_mode):
            raise FileExistsError(errno.EEXIST, "a ledger must not be a symbolic link", path)
        _expect_regular(status.st_mode, path)
    flags = (os.O_RDWR | os.O_CREAT | os.O_APPEND) if alone else os.O_RDONLY
    for name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    if alone:
        touch()
    try:
        handle = os.open(place, flags, OWNER_ONLY)
    except OSError as error:
        error.filename = path
        raise
    try:
        _expect_regular(os.fstat(handle).st_mode, path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _expect_regular(mode: int, path: str) -> None:
    what = special(mode)
    if what is not None:
        raise FileExistsError(errno.EEXIST, f"a ledger must be a regular file, and this is {what}", path)


def _is_at(handle: int, path: str) -> bool:
    """Whether the open file still has this name."""
    try:
        there, here = os.lstat(place_of(path)), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _sync_folder(path: str) -> None:
    """A new file is on the disk when its folder is."""
    with suppress(OSError):  # not every system opens folders
        handle = os.open(os.path.dirname(place_of(path)), os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
