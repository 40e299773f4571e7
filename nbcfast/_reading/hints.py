"""What a file that cannot be read looks like, and what to do then: hints, which never say what is so."""

from __future__ import annotations

import codecs
import csv
import errno
import io
import os
import re
from contextlib import suppress
from dataclasses import dataclass

from nbcfast._core.spelling import ARGUMENTS, Arguments, meant, nearest
from nbcfast._reading.endings import READ, AnyPath, Ending, delimiter_of, ending_of
from nbcfast._reading.opened import FileBytes, open_file
from nbcfast._wire.messages import printable

LOOKED_AT = 1 << 16  # bytes
PIECE = 1 << 20  # bytes that are decoded at a time
PROBE = "a..b,c\n" + 80 * "d" + "\n"  # which encodings of names of hosts refuse
MARKS = (";", "\t", "|", ",")  # between fields

SAVE = "save it there as CSV (UTF-8), and give that file"
# Where a file begins so, what it looks like, and what to do.
BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file of the old kind (.xls)", SAVE),
    (b"\x1f\x8b", "something compressed by gzip", "let its name end in .gz, as data.csv.gz"),
    (b"BZh", "something compressed by bzip2", "let its name end in .bz2, as data.csv.bz2"),
    (b"\x28\xb5\x2f\xfd", "something compressed by Zstandard", "let its name end in .zst, as data.csv.zst"),
    (b"\x04\x22\x4d\x18", "something compressed by LZ4", "let its name end in .lz4, as data.csv.lz4"),
    (b"\xfd7zXZ\x00", "something compressed by xz", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"PAR1", "a Parquet file", "let its name end in .parquet"),
    (b"ARROW1", "an Arrow file", "write it as Parquet"),
    (b"SQLite format 3\x00", "an SQLite database", "write its table as CSV"),
    (b"%PDF-", "a PDF document", "a table is wanted"),
    (b"$FL2", "an SPSS file", SAVE),
    (b"<stata_dta>", "a Stata file", SAVE),
)
MAGIC: dict[str | None, bytes] = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "zstd": b"\x28\xb5", "lz4": b"\x04\x22"}
UNICODE = (  # marks at the beginning of a file; that of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8"),
)
LETTERS = re.compile(  # of UTF-8 and not of ASCII
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


@dataclass(frozen=True)
class Look:
    """What a file looks like, and what to do then.

    Parameters
    ----------
    like : str
    todo : str
        What to do.
    reading : (str, str), optional
        In its place: an argument of whoever reads the file, and what to give it.
    """

    like: str
    todo: str = ""
    reading: tuple[str, str] | None = None

    def text(self, words: Arguments = ARGUMENTS) -> str:
        """The hint, in the words of the caller."""
        todo = self.todo if self.reading is None else f"give {words.reading(*self.reading)} if it is"
        return f"it looks like {self.like}: {todo}"


# Read in any one encoding, some of its letters would silently become others.
MIXED = Look("text of more than one encoding, UTF-8 and another", "write all of it in UTF-8")
ONE_BYTE = (  # encodings of one byte a letter, in which nothing is a letter of UTF-8
    "Windows-1252, as of Western Europe",
    "text in an older encoding, as cp850 or mac_roman",
)
WITHOUT_MARK = "{0} without the mark at its beginning that says the order of the bytes"


class UnreadableError(ValueError):
    """A file that cannot be read as the table that it is taken for.

    Attributes
    ----------
    told : str
        What is wrong.
    look : Look or None
        What the file looks like.
    """

    def __init__(self, told: str, look: Look | None = None) -> None:
        super().__init__(told, look)  # both, so that it pickles
        self.told, self.look = told, look

    def __str__(self) -> str:
        return printable(self.said(ARGUMENTS))

    def said(self, words: Arguments) -> str:
        """What is wrong, and the hint, in the words of the caller."""
        return self.told if self.look is None else f"{self.told}; {self.look.text(words)}"


def look_at(path: str, delimiter: str | None = None, encoding: str = "utf8") -> Look | None:
    """What a file looks like that is read by its ending, with these arguments; None where nothing is wrong.

    Only its beginning is looked at, and nothing where that could not be read again, as of a pipe.
    """
    if os.path.exists(os.path.join(path, "certificate.json")):
        return Look("what was published", "`nbcfast verify` reads that, and here a table is wanted")
    if not os.path.isfile(path):
        return None
    with suppress(OSError):
        with open(path, "rb") as file:
            raw = file.read(LOOKED_AT)
        ending = ending_of(path)
        if (found := _of_bytes(raw, ending)) is not None:
            return found
        if ending is not None and ending.kind == "parquet":
            return Look("text", "let its name end in .csv") if _is_text(raw) else None
        if ending is not None and ending.compression is not None:
            with suppress(OSError), open_file(path, "utf8") as source:
                return _of_text(source.read(LOOKED_AT), delimiter or delimiter_of(path), encoding)
            return Look("text that is not compressed", "let its name end in .csv") if _is_text(raw) else None
        return _of_text(raw, delimiter or delimiter_of(path), encoding)
    return None


def _of_bytes(raw: bytes, ending: Ending | None) -> Look | None:
    """What the first bytes of a file say, that no text begins with."""
    if raw.startswith(b"PK\x03\x04"):
        if b"application/vnd.oasis.opendocument" in raw[:200]:
            return Look("an OpenDocument file (.ods)", SAVE)
        if b"xl/" in raw or b"[Content_Types].xml" in raw:
            return Look("an Excel file (.xlsx)", SAVE)
        return Look("a zip archive", "unpack it first")
    for first, like, todo in BEGINNINGS:
        if not raw.startswith(first) or (first.isascii() and _is_text(raw)):
            continue
        compression = None if ending is None else ending.compression
        if compression in MAGIC and first.startswith(MAGIC[compression]):
            continue  # as its name says
        if first == b"PAR1" and ending is not None and ending.kind == "parquet":
            continue
        return Look(like, todo)
    return None


def _of_text(data: bytes, mark: str, encoding: str) -> Look | None:
    """What the first bytes of a text say, read with this mark between fields and this encoding."""
    if not data:
        return None
    asked = codecs.lookup(encoding).name
    for first, name in UNICODE:
        if data.startswith(first):
            if not asked.startswith(name):
                return Look(f"{name.upper()}, by its first bytes", reading=("encoding", name))
            break
    else:
        without = _by_zeros(data)
        if without is not None and not asked.startswith("utf-16-"):
            return Look(without.upper(), reading=("encoding", without))
        if asked in ("utf-16", "utf-32"):
            either = f"give {asked}-le or {asked}-be as its encoding"
            return Look(WITHOUT_MARK.format(asked.upper()), either)
    text = data.decode(encoding, "ignore").removeprefix("\ufeff")
    if "\0" in text:
        return Look("no text", "a table is wanted, as CSV or Parquet")
    beginning = text.lstrip()[:200].lower()
    if beginning.startswith(("<!doctype html", "<html")):
        return Look("a web page", "save the table in it as CSV")
    if beginning.startswith("<?xml"):
        return Look("XML", "a table is wanted, as CSV or Parquet")
    if re.match(r"\[\s*[\[{]|\{\s*(\"|\}|$)", beginning):
        return Look("JSON", "a table is wanted, as CSV or Parquet")
    if asked == "utf-8" and (found := _eight_bits(data)) is not None:
        return found
    other = other_mark(text, mark)
    if other is None:
        return None
    name = {"\t": "a tab"}.get(other, repr(other))
    return Look(f"a file with {name} between fields", reading=("delimiter", other))


def other_mark(text: str, mark: str) -> str | None:
    """What seems to stand between fields in place of `mark`, if that splits the first line nowhere."""
    lines = [line for line in text.splitlines() if line][:2]
    if not lines or (mark and len(_fields(lines[0], mark)) > 1):
        return None
    for other in MARKS:
        sizes = {len(_fields(line, other)) for line in lines}
        if other != mark and len(sizes) == 1 and sizes.pop() > 1:
            return other
    return None


def _fields(line: str, mark: str) -> list[str]:
    with suppress(csv.Error):
        return next(csv.reader(io.StringIO(line), delimiter=mark), [])
    return []


def _is_text(data: bytes) -> bool:
    """Whether bytes, of which the last may be part of a letter, are UTF-8 without control characters."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return not re.search(r"[\x00-\x08\x0e-\x1f]", text)


def _by_zeros(data: bytes) -> str | None:
    """The encoding of two bytes a letter in which every other byte of plain text is zero, without a mark."""
    half = len(data) // 2
    even, odd = data[0 : 2 * half : 2].count(0), data[1 : 2 * half : 2].count(0)
    if half >= 4 and max(even, odd) > 0.7 * half and min(even, odd) == 0:
        return "utf-16-le" if odd else "utf-16-be"
    return None


def _eight_bits(data: bytes) -> Look | None:
    """The encoding of one byte a letter that a text which is not UTF-8 looks like; None where it is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        high = len(re.findall(rb"[\x80-\xff]", data))
        if len(re.findall(rb"[\x00-\x08\x0e-\x1f]", data)) > len(data) // 100:
            return Look("no text", "a table is wanted, as CSV or Parquet")
        # Letters of Western Europe stand alone between others; those of other scripts beside each other.
        pairs = len(re.findall(rb"(?<=[\x80-\xff])[\x80-\xff]", data))
        low = len(re.findall(rb"(?<=[A-Za-z])[\x80-\x91\x93-\x9f]|[\x80-\x91\x93-\x9f](?=[a-z])", data))
        letters = sum(map(len, LETTERS.findall(data)))
        if 4 * letters > high or (letters and 2 * pairs <= high):
            return MIXED  # in other encodings what is a letter of UTF-8 is hardly ever a text
        if 2 * pairs > high:
            return Look("text in another encoding than UTF-8", reading=("encoding", "NAME"))
        if 2 * low > high:
            return Look(ONE_BYTE[1], reading=("encoding", "NAME"))
        return Look(ONE_BYTE[0], reading=("encoding", "cp1252"))
    return None


def _has_letters(source: FileBytes, data: bytes) -> bool:
    """Whether letters of UTF-8 stand in these bytes of a file, or anywhere after them."""
    while data:
        if LETTERS.search(data):
            return True
        data = source.read(PIECE)
    return False


def misread(path: str, encoding: str, column: tuple[int, str] | None = None) -> UnreadableError | None:
    """Where a file is not of its encoding: the line, the byte, and what the file looks like.

    It is read again up to there, so nothing is said of what can be read once. `column` names that of the byte
    at an offset, for whoever has met it there.
    """
    if not os.path.isfile(path):
        return None
    decoder, name = codecs.getincrementaldecoder(encoding)(), encoding.upper().replace("UTF8", "UTF-8")
    done, lines, beyond = 0, 1, False
    with suppress(OSError), open_file(path, "utf8") as source:
        while True:
            block = source.read(PIECE)
            before = decoder.getstate()
            held = len(before[0])
            try:
                text = decoder.decode(block, final=not block)
                lines += text.count("\n")
                beyond = beyond or not text.isascii()
            except UnicodeDecodeError as error:
                decoder.setstate(before)
                with suppress(UnicodeDecodeError):
                    text = decoder.decode(block[: max(error.start - held, 0)])
                    lines += text.count("\n")
                    beyond = beyond or not text.isascii()
                whole = bytes(error.object)
                wrong = " ".join(
                    f"0x{byte:02X}" for byte in whole[error.start : max(error.end, error.start + 1)][:4]
                )
                look = look_at(path, None, encoding)
                if codecs.lookup(encoding).name == "utf-8":
                    if look is None:
                        look = _eight_bits(whole[max(error.start - LOOKED_AT, 0) : error.start + LOOKED_AT])
                    if look is not None and look.like in ONE_BYTE and (beyond or _has_letters(source, whole)):
                        look = MIXED
                byte = done - held + error.start
                in_column = f", column {column[1]!r}" if column is not None and column[0] == byte else ""
                place = f"line {lines:,}{in_column}, byte {byte + 1:,}"
                return UnreadableError(f"{path}: {place}: {wrong} is not {name}", look)
            except UnicodeError:  # it does not begin as files of this encoding do
                return UnreadableError(f"{path}: it is not {name}", look_at(path, None, encoding))
            if not block:
                return None
            done += len(block)
    return None


def expect_encoding(name: str) -> None:
    """Refuse a name that is that of no encoding of text."""
    from encodings.aliases import aliases

    try:
        codecs.lookup(name)
    except (LookupError, ValueError) as error:
        known = nearest(name, {*aliases, *aliases.values()}, most=9)
        near = meant(name, [one for one in known if one != name and _decodes(one)])
        raise ValueError(f"encoding: {error}{near}") from None
    if not _decodes(name):
        raise ValueError(
            f"encoding: expected one of text that is read piece by piece, as utf-8 or cp1252, got {name!r}"
        )


def _decodes(name: str) -> bool:
    """Whether text in an encoding is read again, byte by byte, also where it has long lines."""
    try:
        decoder = codecs.getincrementaldecoder(name)()
        pieces = [decoder.decode(bytes([byte])) for byte in PROBE.encode(name)]
        return "".join([*pieces, decoder.decode(b"", True)]) == PROBE
    except (LookupError, ValueError, AssertionError):
        return False


def refuse_folder(path: str) -> None:
    """Refuse a folder in the place of a file, by the usual OSError, and what can be read once."""
    if os.path.isdir(path):
        look = look_at(path)
        more = ", and a file is wanted" if look is None else f"; {look.text()}"
        raise IsADirectoryError(errno.EISDIR, f"Is a directory{more}", path)
    if os.path.exists(path) and not os.path.isfile(path):
        told = "Is a pipe or a device, and a file is wanted: it is read more than once"
        raise OSError(errno.ESPIPE, told, path)


def table_ending(path: AnyPath, where: str) -> Ending:
    """The ending of a table's file; UnreadableError, about the argument `where`, where it is another."""
    name = os.fsdecode(path)
    refuse_folder(name)
    ending = ending_of(name)
    if ending is None:
        raise UnreadableError(f"{where}: expected a file of {READ}, got {name!r}", look_at(name))
    return ending
