"""Files of policies: TOML of known sections and keys, or a sentence that names what is not known."""

from __future__ import annotations

import datetime
import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from nbcfast._core.spelling import Arguments
from nbcfast.domains.json_files import shown, text_in
from nbcfast.policies.keys import SECTIONS, TOP


class PolicyWords(Arguments):
    """The keys of a policy, as errors name them.

    Parameters
    ----------
    where : str
        The file, or the argument that the policy is.
    section : str
    """

    TYPED = {"class_name": "class", "alpha": "smooth", "domains": "domain"}  # noqa: RUF012

    def __init__(self, where: str, section: str = "release") -> None:
        self.where, self.section = where, section

    def named(self, argument: str) -> str:
        if argument in ("domains", "menu"):
            return f"{self.where}: [domain]" if argument == "domains" else f"{self.where}: menu"
        return f"{self.where}: [{self.section}] {self.TYPED.get(argument, argument)}"

    def given(self, argument: str, value: object) -> str:
        return f"{self.named(argument)} = {value!r}"

    def form(self, argument: str, *letters: str) -> str:
        return self.named(argument)


def document_in(path: Path) -> dict[str, object]:
    """What a file of TOML holds.

    Raises
    ------
    ValueError
        If it is none.
    OSError
        If it cannot be read.
    """
    text = text_in(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path}: not TOML of a policy: it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    except ValueError:  # the only other of tomllib: a number with more digits than Python reads
        raise ValueError(f"{path}: not TOML of a policy: a number in it has too many digits") from None


def expect_known(document: Mapping[str, object], where: str) -> None:
    """Refuse sections and keys that there are not, each with the nearest that there is.

    Raises
    ------
    TypeError, ValueError
    """
    for name, entry in document.items():
        if name not in TOP:
            raise ValueError(f"{where}: there is no section [{name}]{_nearest(name, TOP)}")
        if name == "menu" or name == "domain":
            continue
        if not isinstance(entry, Mapping):
            raise TypeError(f"{where}: [{name}] must be a table of keys, got {shown(entry)}")
        known = SECTIONS[name].names
        for key in entry:
            if key not in known:
                raise ValueError(f"{where}: [{name}] has no key {key!r}{_nearest(str(key), known)}")
        for key in SECTIONS[name].required:
            if key not in entry:
                raise ValueError(f"{where}: [{name}] must have the key {key!r}, got none")
    if "release" not in document:
        raise ValueError(f"{where}: expected a section [release], got none")


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f": the nearest is {near[0]!r}" if near else f": there are {', '.join(names)}"


def plain_columns(columns: Mapping[str, object], where: str) -> dict[str, object]:
    """The columns of [domain] as a JSON file has them: dates are texts, and a null that TOML has no word for.

    Examples
    --------
    >>> plain_columns({"sex": {"values": ["f", "m"], "null": True}}, "x.toml")
    {'sex': {'values': ['f', 'm', None]}}
    """
    found: dict[str, object] = {}
    for name, entry in columns.items():
        plain = _plain(entry, f"{where}: [domain] column {name!r}")
        if isinstance(plain, dict) and "values" in plain and "null" in plain:
            if plain.pop("null") is not True or not isinstance(plain["values"], list):
                raise ValueError(f"{where}: [domain] column {name!r}: expected null = true beside values")
            plain["values"] = [*plain["values"], None]
        found[name] = plain
    return found


def _plain(entry: object, where: str) -> object:
    if isinstance(entry, Mapping):
        return {name: _plain(one, where) for name, one in entry.items()}
    if isinstance(entry, list | tuple):
        return [_plain(one, where) for one in entry]
    if isinstance(entry, datetime.datetime | datetime.time):
        raise ValueError(f"{where}: expected a date without a time, got {entry}")
    return entry.isoformat() if isinstance(entry, datetime.date) else entry
