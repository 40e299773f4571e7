"""Errors of the library in the words of the command line: options as they are typed, and files."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import click

from nbcfast._core import spelling
from nbcfast._core.errors import NoColumnError
from nbcfast._core.spelling import Arguments, in_place
from nbcfast._reading.hints import Look, UnreadableError, look_at, other_mark
from nbcfast._wire.messages import printable
from nbcfast.cli.parsing import listed
from nbcfast.publishing.words import label

# Arguments of the library that no option has the name of, and what a verb may have for them.
ALIASES = {
    "alpha": "--smooth",
    "types": "--text",
    "null_values": "--null",
    "r": "--r",
    "l1 and l2": "--breach: L1 and L2",
    "l1": "--breach: L1",
    "l2": "--breach: L2",
    "prior": "--prior",
    "hierarchies": "--hierarchy",
    "class_name": "--class",
    "error": "--error",
    "on": "--on",
    "epsilon": "--votes",
    "where": "--given",
    "n": "--n",
}
PYTHON = {"binarise() it, or use a KaryScheme": "--binarise cuts it in two, and --k-ary takes it as it is"}


class Options(Arguments):
    """What the library says of its arguments, in options as they are typed."""

    TYPED: Mapping[str, str] = MappingProxyType(
        {
            "class_name": "--class",
            "domains": "--domain",
            "alpha": "--smooth",
            "by": "--strata",
            "limits": "--max-bits, as every limit,",
        }
    )

    def named(self, argument: str) -> str:
        return self.TYPED.get(argument, f"--{argument.replace('_', '-')}")

    def given(self, argument: str, value: object) -> str:
        if isinstance(value, bool):
            return self.named(argument if value else f"no_{argument}")
        return f"{self.named(argument)} {quoted(value) if isinstance(value, str) else label(value)}"

    def form(self, argument: str, *letters: str) -> str:
        return " ".join((self.named(argument), *letters))

    def noise(self, name: str | None = None) -> str:
        return "--dp-epsilon and --dp-rho" if name is None else self.named(f"dp_{name}")

    def reading(self, argument: str, value: str) -> str:
        return f"{self.named(argument)} {quoted(value)}"

    def nulls(self, texts: Sequence[str]) -> str:
        return " ".join(f"--null {quoted(text)}" for text in texts)

    def as_text(self, column: str) -> str:
        return f"--text {quoted(column)}"

    def as_published(self) -> str:
        return "--domain, --bin, --group or --menu as it was published"

    def left_out(self, column: str) -> str:
        return f"--leave-out {quoted(listed([column]))}"


OPTIONS = Options()


def quoted(text: str) -> str:
    """A text as it is typed into a shell."""
    return "'\\t'" if text == "\t" else shlex.quote(printable(text))


class ErrorNaming(click.Command):
    """A command whose errors name its options."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except NoColumnError as error:
            raise ValueError(self._missing(ctx, error)) from error
        except UnreadableError as error:
            raise ValueError(error.said(OPTIONS)) from error
        except (ValueError, TypeError) as error:
            # Subclasses say more than their text.
            text = self._named(ctx, str(error)) if type(error) in (ValueError, TypeError) else None
            if text is None:
                raise
            raise ValueError(text) from error

    def _missing(self, ctx: click.Context, error: NoColumnError) -> str:
        """Which option asks for a column that is missing, and in which file."""
        values = {p: ctx.params.get(str(p.name)) for p in self.params}
        files = {p: value for p, value in values.items() if isinstance(value, Path)}
        argument = next((path for p, path in files.items() if isinstance(p, click.Argument)), None)
        read = getattr(error, "file", None)
        file = read or argument
        look = None
        if file is not None and file.is_file():
            typed = (ctx.params.get("delimiter") or "").replace("\\t", "\t") or None
            look = look_at(str(file), typed, ctx.params.get("encoding") or "utf8")
        missing = no_column(file, error.name, error.present, look)
        weights = ctx.params.get("weights") == error.name
        for param, path in files.items():  # of a file that an option gives, it is the option that is wrong
            is_option = isinstance(param, click.Option)
            if read is not None and path == read != argument and is_option and not weights:
                return f"{param.opts[0]}: {missing}"
        for param in self.params:
            value = ctx.params.get(str(param.name))
            texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
            if isinstance(param, click.Option) and any(error.name in _names(text) for text in texts):
                return f"{param.opts[0]}: {missing}"
        for param, path in files.items():
            if path == file and isinstance(param, click.Option):
                return f"{param.opts[0]}: {missing}"
        return missing

    def _named(self, ctx: click.Context, text: str) -> str | None:
        """The text with the option in place of the argument that it begins with."""
        for python, words in PYTHON.items():
            if text.endswith(python):
                return text.replace(python, words)
        options = {str(p.name): p.opts[0] for p in self.params if isinstance(p, click.Option)}
        numbered = re.match(r"([a-z]+)(?:\[| )([0-9]+)\]?(?=:)", text)
        if numbered is not None:
            for name in (numbered[1], f"{numbered[1]}s", "wanted"):
                texts = ctx.params.get(name)
                if isinstance(texts, tuple) and int(numbered[2]) < len(texts):
                    return f"{options[name]} {texts[int(numbered[2])]!r}{text[numbered.end() :]}"
        opts = set(options.values())
        known = options | {name: to for name, to in ALIASES.items() if to.split(":")[0] in opts}
        word = re.match(r"l1 and l2(?= )|[a-z_0-9]+(?=[ :])", text)
        if word is None or word[0] not in known:
            return None
        return known[word[0]] + text[word.end() :]


def _names(text: str) -> list[str]:
    """The names in the text of an option, which may be one, or have commas or semicolons between."""
    names = [text]
    with suppress(csv.Error):  # of a text with a line break, which is no list
        for group in (part for row in csv.reader([text], delimiter=";") for part in row):
            names += [name.strip() for row in csv.reader([group], skipinitialspace=True) for name in row]
    return names


@contextmanager
def about(file: Path) -> Iterator[None]:
    """Let an error of reading know the file, and say it in words that a steward can act on."""
    try:
        yield
    except NoColumnError as error:
        error.file = file
        raise
    except ValueError as error:
        text = str(error)
        if type(error) is ValueError and text.startswith("expected distinct column names"):
            raise ValueError(f"{file}: {text}") from error
        raise


def no_column(file: Path | None, name: object, present: Sequence[str], look: Look | None = None) -> str:
    """That a file has no such column, and which it has, or what it looks like."""
    has = "" if file is None else f"{file} has "
    if look is None:
        return f"{has}no column {name!r}{in_place(name, present)}"
    return f"{has}no column {name!r}; it has {spelling.listed(present)}; {look.text(OPTIONS)}"


def split_otherwise(present: Sequence[str]) -> str:
    """That fields seem to be split by another character, where a whole header is one column."""
    other = other_mark(present[0], "") if len(present) == 1 else None
    return (
        "" if other is None else f": give {OPTIONS.reading('delimiter', other)} if that stands between fields"
    )


@contextmanager
def as_options(**options: str) -> Iterator[None]:
    """Let errors about these arguments of the library be about the options that give them."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        for argument, option in options.items():
            tail = text.removeprefix(argument)
            # Subclasses say more than their text.
            if type(error) in (ValueError, TypeError) and tail != text and not tail[:1].isalnum():
                raise ValueError(option + tail) from None
        raise
