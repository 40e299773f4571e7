"""New files and folders: they take their names when they are complete, and never that of something else.

Until then a file has no name at all where the file system knows such files, and else a name that starts with
a dot and ends in ``.part``; a folder is put together under such a name. So a process that is killed leaves
nothing, or something of what was to be published, that no reader takes for it.

A folder takes its name, and replaces one that was there, in one step; where a system cannot exchange two
names it takes two, and a kill between them leaves the old folder under a name that ends in ``.old``. Where
several targets are written, and one of them cannot be placed, what stood there before comes back.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, cast

from nbcfast._core.stopping import touch
from nbcfast._wire.regular_files import CUTS, NAME, PARQUET, SCHEME, TABLE, read_whole

ASK = "overwrite=True"  # how Python is asked to replace what is there

# What a folder of ours may hold, by the kind of its certificate.
OURS = {
    "release": (NAME,),
    "strata": (NAME,),
    "partition": (NAME, TABLE, PARQUET),
    "disclosure": (NAME, TABLE, PARQUET),
    "disguised": (NAME, TABLE, SCHEME, CUTS),
}

# Of a file system on which a file has one name.
_NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV, errno.EMLINK}
# Of a place that takes nothing more.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_EXCHANGE = 2  # renameat2: RENAME_EXCHANGE
_HERE = -100  # AT_FDCWD


def place_of(path: str | os.PathLike[str]) -> str:
    """The absolute path; only its last name may be that of a link, which is never followed."""
    text = os.fsdecode(path)
    folder, name = os.path.split(text.rstrip(os.sep) or text)
    if name in ("", os.curdir, os.pardir):
        return os.path.realpath(text)
    return os.path.join(os.path.realpath(folder), name)


def check_file(path: str | os.PathLike[str], overwrite: bool = False, ask: str = ASK) -> None:
    """Refuse a file that may not be written: one that is there and unasked, a link, a folder, a device."""
    status = _status(place_of(path))
    if status is None:
        return
    _refuse_link(status, path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fsdecode(path))
    if not stat.S_ISREG(status.st_mode):
        raise _exists("exists, and is no regular file", path)
    if not overwrite:
        raise _exists(f"exists; {ask} replaces it", path)


def check_folder(path: str | os.PathLike[str], overwrite: bool = False, ask: str = ASK) -> None:
    """Refuse a folder that may not be written: one that is there and unasked, a link, one of somebody else.

    One that is empty may be.
    """
    target = place_of(path)
    status = _status(target)
    if status is None:
        return
    _refuse_link(status, path)
    if not stat.S_ISDIR(status.st_mode):
        raise _exists("exists, and is no folder", path)
    names = sorted(os.listdir(target))
    strange = _strange(target, names)
    if strange is not None:
        inside = os.path.join(target, strange)
        if strange == NAME and os.path.isdir(inside):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), inside)
        raise _exists(f"exists; {ask} replaces it only if all in it is ours, and {strange!r} is not", path)
    if names and not overwrite:
        raise _exists(f"exists; {ask} replaces it", path)


def _status(target: str) -> os.stat_result | None:
    try:
        return os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _refuse_link(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _exists("exists, and is a symbolic link, through which nothing is written", path)


def _exists(text: str, path: str | os.PathLike[str]) -> FileExistsError:
    return FileExistsError(errno.EEXIST, text, os.fsdecode(path))


def _strange(folder: str, names: Iterable[str]) -> str | None:
    """The first entry of a folder that is not ours, or None: where it has no certificate, none is."""
    ours = OURS.get(_kind(os.path.join(folder, NAME)), ())
    for name in names:
        status = _status(os.path.join(folder, name))
        if name not in ours or status is None or not stat.S_ISREG(status.st_mode):
            return name
    return None


def _kind(path: str) -> str:
    """The kind of a certificate of ours, or no text."""
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return ""
    try:
        with open(path, "rb") as file:
            fields = json.loads(read_whole(file, NAME))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(fields, dict) or not {"format", "kind", "sha256", "version"} <= fields.keys():
        return ""
    return fields["kind"] if isinstance(fields["kind"], str) else ""


class Writing:
    """Targets that are written together; see `together`."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._places: list[_File | _Folder] = []

    def file(self, path: str | os.PathLike[str], overwrite: bool = False) -> IO[bytes]:
        """The file that will stand at `path`, open for writing."""
        check_file(path, overwrite)
        target = place_of(path)
        draft = self._draft(os.path.dirname(target), os.path.basename(target), path)
        self._places.append(_File(draft, path, target, overwrite))
        return draft.file

    def folder(
        self, path: str | os.PathLike[str], names: Sequence[str], overwrite: bool = False
    ) -> dict[str, IO[bytes]]:
        """The files that the folder will hold, open for writing; those above it are made if need be."""
        check_folder(path, overwrite)
        folder = _Folder(path, overwrite)
        self._places.append(folder)
        for name in names:
            folder.drafts[name] = self._draft(folder.base, name, path)
        return {name: draft.file for name, draft in folder.drafts.items()}

    def _draft(self, folder: str, name: str, given: str | os.PathLike[str]) -> _Draft:
        draft = _Draft(folder, name, given)
        self._drafts.append(draft)  # before it has a file, for an interrupt may come at any time
        draft.open()
        return draft

    def _finish(self) -> None:
        for draft in self._drafts:
            draft.finish()
        touch()
        # Files can be taken back and a folder cannot: it comes last.
        self._places.sort(key=lambda place: isinstance(place, _Folder))
        for place in self._places:
            place.put(alone=len(self._places) == 1)

    def _rename(self, error: OSError) -> None:
        """Let an error about a name that is made up here be one about the target that was given."""
        # An error of a write names no file.
        if error.filename is None and error.errno in NO_ROOM and self._drafts:
            targets = dict.fromkeys(os.fsdecode(draft.given) for draft in self._drafts)
            error.filename = ", ".join(targets)
            return
        if not isinstance(error.filename, str):
            return
        hidden = [(draft.part, draft.given) for draft in self._drafts]
        opened = [draft for draft in self._drafts if draft.file is not None and not draft.file.closed]
        hidden += [(draft.handle, draft.given) for draft in opened]
        for place in self._places:
            if isinstance(place, _Folder):
                hidden += [(place.part, place.path), (place.old, place.path)]
        for path, given in hidden:
            if error.filename == path or error.filename.startswith(path + os.sep):
                error.filename, error.filename2 = os.fsdecode(given), None
                return

    def _end(self) -> None:
        """Drop, and begin again after each signal that comes meanwhile: there is no other chance."""
        try:
            self._drop()
        except BaseException as error:
            if isinstance(error, Exception):
                self._drop()
            else:
                self._end()
            raise

    def _drop(self) -> None:
        # Where an interrupt came does not matter: either all have their names by now, or none keeps it.
        if not all(place.stands for place in self._places):
            for place in self._places:
                place.take_back()
        for place in self._places:
            place.tidy()
        for draft in self._drafts:
            draft.drop()


@contextmanager
def together() -> Iterator[Writing]:
    """Files, and a folder, that take their names at the end, all of them or none."""
    writing = Writing()
    try:
        yield writing
        writing._finish()
    except OSError as error:
        writing._rename(error)
        raise
    finally:
        writing._end()


@contextmanager
def written(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """A new file that takes the name `path` only when it is complete, and otherwise leaves nothing."""
    with together() as writing:
        yield writing.file(path, overwrite)


class _Draft:
    """A file that has no name yet, or one that nobody takes for what it will be."""

    def __init__(self, folder: str, name: str, given: str | os.PathLike[str]) -> None:
        self.given = given  # the target
        self.part = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.part")
        self.named = False
        self.identity: tuple[int, int] | None = None  # once it is complete
        self.file: IO[bytes] = cast("IO[bytes]", None)

    def open(self) -> None:
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        if hasattr(os, "O_TMPFILE"):
            handle = -1
            with suppress(OSError):  # not on every file system
                handle = os.open(os.path.dirname(self.part), flags | os.O_TMPFILE, 0o666)
            if handle >= 0:
                self.file = os.fdopen(handle, "w+b")
                if os.path.exists(self.handle):
                    return
                self.file.close()
        self.named = True
        self.file = os.fdopen(os.open(self.part, flags | os.O_CREAT | os.O_EXCL, 0o666), "w+b")

    @property
    def handle(self) -> str:
        return f"/proc/self/fd/{self.file.fileno()}"

    def finish(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.identity = _identity(os.fstat(self.file.fileno()))

    def name(self, target: str) -> None:
        """Take a name that is free; FileExistsError if it is not."""
        try:
            if self.named:
                os.link(self.part, target, follow_symlinks=False)
            else:
                # Only with a folder to start from does Python follow the link; the path is absolute anyway.
                os.link(self.handle, target, src_dir_fd=self.file.fileno(), follow_symlinks=True)
        except NotImplementedError:
            self._reserve(target)
        except FileExistsError:
            raise _exists(f"exists; {ASK} replaces it", target) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self._reserve(target)

    def _reserve(self, target: str) -> None:
        """Take the name of the target where files have no second names: an empty file keeps the place."""
        self._copied()
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            raise _exists(f"exists; {ASK} replaces it", target) from None
        try:
            os.replace(self.part, target)
        except BaseException:
            with suppress(OSError):
                if not os.path.getsize(target):
                    os.unlink(target)
            raise

    def _copied(self) -> None:
        """A file without a name as one that has that of a part."""
        if self.named:
            return
        self.named = True
        with open(self.part, "xb") as copy:
            self.file.seek(0)
            shutil.copyfileobj(self.file, copy)
            copy.flush()
            os.fsync(copy.fileno())
            self.identity = _identity(os.fstat(copy.fileno()))

    def replace(self, target: str) -> None:
        """Take a name that another file may have."""
        if not self.named:
            self.named = True
            self.name_part()
        os.replace(self.part, target)

    def name_part(self) -> None:
        try:
            os.link(self.handle, self.part, src_dir_fd=self.file.fileno(), follow_symlinks=True)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self.named = False
            self._copied()

    def drop(self) -> None:
        if self.file is not None:
            with suppress(OSError):
                self.file.close()
        if self.named:
            with suppress(OSError):
                os.unlink(self.part)


class _File:
    """A target that is a file."""

    def __init__(self, draft: _Draft, path: str | os.PathLike[str], target: str, overwrite: bool) -> None:
        self.draft, self.path, self.target, self.overwrite = draft, path, target, overwrite
        self._old: str | None = None  # another name of the one that was there

    @property
    def stands(self) -> bool:
        return self.draft.identity is not None and _identity(_status(self.target)) == self.draft.identity

    def put(self, alone: bool) -> None:
        check_file(self.path, self.overwrite)  # again: time has passed
        if _status(self.target) is None:
            self.draft.name(self.target)
            return
        if not alone:
            old = self.draft.part.removesuffix(".part") + ".old"
            self._old = old
            try:
                os.link(self.target, old, follow_symlinks=False)
            except (NotImplementedError, OSError):
                os.rename(self.target, old)
        self.draft.replace(self.target)

    def take_back(self) -> None:
        with suppress(OSError):
            if self._old is None:
                if self.stands:
                    os.unlink(self.target)
            elif self.stands or _status(self.target) is None:
                os.replace(self._old, self.target)

    def tidy(self) -> None:
        if self._old is not None:
            with suppress(OSError):
                os.unlink(self._old)


class _Folder:
    """A target that is a folder, with those above it that are not there yet."""

    def __init__(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        self.path, self.overwrite = path, overwrite
        self.drafts: dict[str, _Draft] = {}
        missing, place = [], place_of(path)
        while True:
            missing.append(os.path.basename(place))
            place = os.path.dirname(place)
            if os.path.isdir(place):
                break
            if _status(place) is not None:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), place)
        self.base = place
        self.top = os.path.join(place, missing[-1])  # what is made in one step
        mark = os.urandom(8).hex()
        self.part = os.path.join(place, f".{missing[-1]}.{mark}.part")
        self.old = os.path.join(place, f".{missing[-1]}.{mark}.old")
        self.inner = os.path.join(self.part, *reversed(missing[:-1]))
        self._identity: tuple[int, int] | None = None

    @property
    def stands(self) -> bool:
        return self._identity is not None and _identity(_status(self.top)) == self._identity

    def put(self, alone: bool) -> None:
        check_folder(self.path, self.overwrite)  # again: time has passed
        os.makedirs(self.inner)
        self._identity = _identity(os.lstat(self.part))
        for name, draft in self.drafts.items():
            draft.name(os.path.join(self.inner, name))
        status = _status(self.top)
        if status is not None:
            os.chmod(self.part, stat.S_IMODE(status.st_mode))
        try:
            os.rename(self.part, self.top)  # onto nothing, or an empty folder
        except OSError as error:
            if error.errno in (errno.EBUSY, errno.EXDEV):
                text = f"{os.strerror(error.errno)}: it cannot be made in one step; name a new folder in it"
                raise OSError(error.errno, text, os.fsdecode(self.path)) from None
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if not self.overwrite:
                raise _exists(f"exists; {ASK} replaces it", self.path) from None
            if not _exchanged(self.part, self.top):  # where the system does not know that, it takes two steps
                os.rename(self.top, self.old)
                os.rename(self.part, self.top)

    def take_back(self) -> None:
        if _status(self.top) is None and _status(self.old) is not None:
            with suppress(OSError):
                os.rename(self.old, self.top)

    def tidy(self) -> None:
        """Remove what has no place: what was made here, or the folder that was replaced."""
        known = {name for names in OURS.values() for name in names}.union(self.drafts)
        for place in (self.part, self.old) if _status(self.top) is not None else (self.part,):
            for folder, _, names in os.walk(place, topdown=False):
                for name in known.intersection(names):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))
                with suppress(OSError):
                    os.rmdir(folder)


def _identity(found: os.stat_result | None) -> tuple[int, int] | None:
    return None if found is None else (found.st_dev, found.st_ino)


def _exchanged(one: str, other: str) -> bool:
    """Whether two names could be exchanged in one step."""
    with suppress(OSError, AttributeError, ImportError):
        import ctypes

        rename = ctypes.CDLL(None).renameat2
        first, second = (ctypes.c_char_p(os.fsencode(path)) for path in (one, other))
        return bool(rename(_HERE, first, _HERE, second, ctypes.c_uint(_EXCHANGE)) == 0)
    return False
