"""Files of a published folder: their names, and how they are read without waiting or filling memory."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import IO, TYPE_CHECKING

from nbcfast._wire.json_entries import Refused, TooLong
from nbcfast._wire.messages import named, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


NAME = "certificate.json"
TABLE = "table.csv"
PARQUET = "table.parquet"
SCHEME = "scheme.json"
CUTS = "cuts.json"
# Of files, looked at before they are read: a sparse one of any size takes no room, and is quickly sent.
# A certificate with a million values, each one's text and type, has 50 MB. Parsed, it takes twenty times that
# of memory.
MOST_BYTES = 1 << 27  # of a file that is read whole: the certificate, a copy of its scheme or cuts
MOST_OF_TABLE = 1 << 34  # bytes of a file that is gone through: these lines, of 170 characters


def location(path: str) -> str:
    """The file that `path`, a folder or the file itself, names. Of a file its folder is checked with it."""
    if not path:  # which some take for the current folder, and others for nothing
        raise FileNotFoundError(errno.ENOENT, "expected the name of a folder or a file, got an empty text")
    return os.path.join(path, NAME) if os.path.isdir(path) else path


OUTSIDE = "a link to something outside its folder"


def special(mode: int) -> str | None:
    """What a thing with this mode is, if it is no regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((text for test, text in kinds if test(mode)), "something else")


def leads_out(path: str) -> bool:
    """Whether a name is a link to something outside the folder that the name is in."""
    if not os.path.islink(path):
        return False
    folder = os.path.realpath(os.path.dirname(path) or os.curdir)
    return not os.path.realpath(path).startswith(os.path.join(folder, ""))


def regular(path: str) -> IO[bytes]:
    """A published file, opened to be read; Refused, and not opened, where it is no regular one of its folder.

    Opening a pipe may wait for ever, and opening a device do anything. What was put in the place of the file
    since is found out without waiting.
    """
    what = special(os.stat(path).st_mode)
    if what is None and leads_out(path):
        what = OUTSIDE
    if what is None:
        flags = ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK")
        wanted = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags)
        handle = os.open(os.path.realpath(path), wanted)
        what = special(os.fstat(handle).st_mode)
        if what is None:
            return os.fdopen(handle, "rb")
        os.close(handle)
    raise Refused(f"{quoted(os.path.basename(path))} is {what}: expected a regular file")


def too_large(name: str, size: int, most: int) -> TooLong:
    """That a file is not read, because it is larger than any that is published."""
    return TooLong(f"{named(name)}: not checked here: {size:,} bytes, and up to {most:,} are read")


def expect_size(file: IO[bytes], name: str, most: int) -> None:
    """Refuse a file of more bytes than that; what has no size, such as a pipe, passes."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise too_large(name, size, most)


def read_whole(file: IO[bytes], name: str, data: bytes = b"") -> bytes:
    """A file of which `data` were read before; TooLong where it has more than MOST_BYTES."""
    expect_size(file, name, MOST_BYTES)
    data += file.read(MOST_BYTES + 1 - len(data))
    if len(data) > MOST_BYTES:  # it has grown since, or has no size
        raise too_large(name, max(os.fstat(file.fileno()).st_size, len(data)), MOST_BYTES)
    return data


def blocks_of(file: IO[bytes], name: str) -> Iterator[bytes]:
    """A file that may be large, block by block; TooLong where it is too large."""
    expect_size(file, name, MOST_OF_TABLE)
    size = 0
    for block in iter(lambda: file.read(1 << 20), b""):
        size += len(block)
        if size > MOST_OF_TABLE:
            raise too_large(name, size, MOST_OF_TABLE)
        yield block


def content(path: str) -> bytes:
    """The bytes of a certificate; FileNotFoundError where the file is something else that needs one."""
    with regular(path) as file:
        first = file.read(1)
        if first and first != b"{" and os.path.basename(path) != NAME:
            beside = os.path.exists(os.path.join(os.path.dirname(path), NAME))
            what = f"give its folder, for the {NAME} in it" if beside else f"there is no {NAME} beside it"
            raise FileNotFoundError(errno.ENOENT, f"no certificate, and {what}", path)
        return read_whole(file, os.path.basename(path), first)


def copy_of(entry: object) -> bytes:
    """A part of a certificate as a file of its own."""
    return (json.dumps(entry, indent=2, sort_keys=True) + "\n").encode("ascii")


def judge_copy(path: str, entry: object, what: str) -> tuple[bool, str]:
    """Whether a file says what the certificate does: byte for byte, as readers of JSON differ in the rest."""
    name = os.path.basename(path)
    expected = copy_of(entry)
    try:
        with regular(path) as file:
            same = file.read(len(expected) + 1) == expected
    except OSError as error:
        return False, f"{name}: {error.strerror}"
    except Refused as error:
        return False, str(error)
    if same:
        return True, f"{name} is {what} of the certificate"
    return False, f"{name} is not {what} of the certificate: do not answer by it"
