"""Options that say which values columns have: a file, bins and sets as they are typed, what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

import click

from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.parsing import names_in
from nbcfast.domains.bin_words import bins_in
from nbcfast.domains.declarations import Declared, declared, entry_of, reader_in
from nbcfast.domains.json_files import object_in
from nbcfast.domains.option import Option

Command = Callable[..., int]  # takes what its options say; the exit code
SETS = '{"higher": ["Bachelors", "Masters"], "school": ["9th", "10th"]}'


@dataclass(frozen=True)
class Declaring:
    """What is declared by options, and the files that they name."""

    declared: Declared | None = None
    files: tuple[Path, ...] = ()


def declares(command: Command) -> Command:
    """The options that declare values: they reach the command as one `declaring`."""

    @wraps(command)
    def with_declaring(
        *arguments: object,
        domain: Path | None,
        bins: tuple[str, ...],
        groups: tuple[str, ...],
        left_out: tuple[str, ...],
        **others: object,
    ) -> int:
        return command(*arguments, declaring=declaring_in(domain, bins, groups, left_out), **others)

    complete: Command = with_declaring
    decorators = [
        click.option(
            "--domain",
            "domain",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help='JSON: declared values, bins and sets: {"sex": ["female", "male"], "age": {"edges": [0, 18, '
            '65, null]}, "id": {"out": true}}. `nbcfast domain` writes one to begin with.',
        ),
        click.option(
            "--bin",
            "bins",
            metavar="NAME=BINS",
            multiple=True,
            help="Numbers in bins: age=25,35,50 (open at both ends), hours=tens, age=width:10:0:100; may be "
            "repeated.",
        ),
        click.option(
            "--group",
            "groups",
            metavar="NAME=FILE[:LEVEL]",
            multiple=True,
            help="Values in the sets of a file: JSON, or lines of value;set;larger set; may be repeated.",
        ),
        click.option(
            "--leave-out",
            "left_out",
            metavar="A,B,C",
            multiple=True,
            help="Columns that are not used, as those that name people; may be repeated.",
        ),
    ]
    for decorator in reversed(decorators):
        complete = decorator(complete)
    return complete


def declaring_in(
    domain: Path | None, bins: tuple[str, ...], groups: tuple[str, ...], left_out: tuple[str, ...]
) -> Declaring:
    """What these options say; a column is declared once."""
    files = [] if domain is None else [domain]
    parts = [] if domain is None else [declared(domain, OPTIONS)]
    for text in bins:
        name, words = _named(text, "--bin", "NAME=BINS")
        found = bins_in(words, f"--bin {name}")
        if isinstance(found, dict):
            parts.append(_of_one("--bin", name, entry_of(found, f"--bin {name}", reader_in(Path()))))
        else:
            parts.append(Declared({}, {name: found}, words=OPTIONS, places={name: "--bin"}))
    for text in groups:
        name, words = _named(text, "--group", "NAME=FILE")
        file, option = group_in(words, f"--group {name}")
        files.append(file)
        parts.append(_of_one("--group", name, option))
    for text in left_out:
        names = names_in(text, "--leave-out")
        parts += [_of_one("--leave-out", name, Option({"out": True})) for name in names]
    if not parts:
        return Declaring()
    whole, *others = parts
    for part in others:
        whole = whole.with_others(part)
    return Declaring(whole, tuple(files))


def group_in(words: str, where: str) -> tuple[Path, Option]:
    """The file that FILE[:LEVEL] names, and the sets in it."""
    match = re.fullmatch(r"(.+?)(?::([0-9]{1,4}))?", words, re.DOTALL)
    if match is None:
        raise ValueError(f"{where}: expected FILE or FILE:LEVEL, got {words!r}")
    file, level = Path(match[1]), match[2]
    entry: dict[str, object] = {"hierarchy": match[1], "level": int(level or 1)}
    if file.suffix.lower() == ".json":
        if level is not None:
            raise ValueError(f"{where}: a level is for lines of value;set;larger set, and not for {match[1]}")
        document = object_in(file, where, SETS, "set")
        entry = document if isinstance(document.get("groups"), dict) else {"groups": document}
    found = entry_of(entry, where, reader_in(Path()))
    assert isinstance(found, Option)
    return file, found


def _of_one(option: str, name: str, found: object) -> Declared:
    assert isinstance(found, Option)
    return Declared({name: found}, words=OPTIONS, places={name: option})


def _named(text: str, option: str, form: str) -> tuple[str, str]:
    """The column and the words of NAME=WORDS."""
    name, equals, words = text.partition("=")
    if not equals or not name or not words:
        raise ValueError(f"{option} must be {form}, got {text!r}")
    return name, words
