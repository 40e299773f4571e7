"""JSON files that people write: objects of distinct names and finite numbers, or one line on why not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from nbcfast._core.json_numbers import integer_of, long_integer

MOST_BYTES = 1 << 26  # of a file that another one names: a million values, each with its sets


def object_in(path: Path, named: str, example: str, entries: str = "column") -> dict[str, object]:
    """The JSON object in a file.

    Parameters
    ----------
    path : Path
        Of UTF-8.
    named : str
        The argument that names the file, for errors.
    example : str
        What such a file may hold, for whoever wrote no JSON at all.
    entries : str
        What its names are of.

    Raises
    ------
    ValueError
        If the file holds something else, a name twice in an object, or a number that is none.
    """
    if path == Path():
        raise ValueError(f"{named} must name a file of JSON, got ''")
    try:
        document: object = json.loads(
            path.read_text(encoding="utf-8-sig"),  # some editors begin with a mark
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=integer_of,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise ValueError(f"{path}: not JSON of columns: it is nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{named}: {path}: not JSON: {error}; expected as {example}") from None
    except ValueError as error:  # one of those below
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: expected an object of columns, got {type(document).__name__}")
    too_long = long_integer(document)
    if too_long is not None:
        names, text = too_long
        # The columns of a domain file may stand under one name, beside what is said of them.
        name = names[1] if len(names) > 1 and isinstance(document.get("domain"), dict) else names[0]
        raise ValueError(f"{path}: {entries} {name[:60]!r}: {text}")
    return document


def text_in(path: Path) -> str:
    """The text of a file in UTF-8, which another file names.

    Raises
    ------
    ValueError
        If it is none, or no file that ends.
    """
    size = path.stat().st_size
    # Whoever wrote the file that names it may not be who reads it: a pipe waits, and a device has no end.
    if not path.is_file() or size > MOST_BYTES:
        raise ValueError(f"{path}: expected a file of at most {MOST_BYTES:,} bytes")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: save it as UTF-8 ({error})") from None


def shown(entry: object) -> str:
    """The beginning of an entry, for a message; whatever it is."""
    try:
        return json.dumps(entry, default=str)[:60]
    except (RecursionError, TypeError, ValueError):  # nested deeply, keys that are no texts, long numbers
        return "something very long"


def lines_of(document: Mapping[str, object]) -> str:
    """A document as JSON that people read, compare and mend: a line for each column that it names."""
    parts = ",\n".join(f"{json.dumps(name)}: {_lines(entry)}" for name, entry in document.items())
    return f"{{{parts}}}\n"


def _lines(entry: object) -> str:
    """What stands in an object or a list, each on a line."""
    if isinstance(entry, Mapping):
        lines = [f"  {_text(name)}: {_text(one)}" for name, one in entry.items()]
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(entry, list) and entry:
        return "[\n" + ",\n".join(f"  {_text(one)}" for one in entry) + "\n]"
    return _text(entry)


def _text(entry: object) -> str:
    return json.dumps(entry, ensure_ascii=False)


def as_mapping(document: object, expected: str) -> Mapping[str, object]:
    """A mapping whose keys are texts.

    Raises
    ------
    TypeError
        If it is none; `expected` says what of.
    """
    if not isinstance(document, Mapping):
        raise TypeError(f"{expected}, got {type(document).__name__}")
    for name in document:
        if not isinstance(name, str):
            raise TypeError(f"{expected}, got the name {name!r} of {type(name).__name__}")
    return document


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names are distinct."""
    entries: dict[str, object] = {}
    for name, entry in pairs:
        if name in entries:
            raise ValueError(f"expected distinct names, got {name!r} twice")
        entries[name] = entry
    return entries


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"expected finite numbers, got {text[:60]}: an open end of the edges is null")
    return number


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON: an open end of the edges is null")
