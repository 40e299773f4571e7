"""The options that say how much answers may give away."""

from __future__ import annotations

from functools import wraps

import click

from nbcfast.canonical import Limits
from nbcfast.cli.naming import as_options
from nbcfast.cli.options import Command
from nbcfast.policies.keys import LIMITS, NONE

# Option -> what it takes; what it says is what the key of a policy says.
OPTIONS = {
    "--max-bits": "B",
    "--max-found": "N",
    "--min-flip": "SHARE",
    "--min-trace": "SHARE",
    "--max-one-class": "N",
}
TEXTS = {key.name: key.text for key in LIMITS.keys}


def name_of(option: str) -> str:
    """What an option is called in Python."""
    return option.removeprefix("--").replace("-", "_")


def with_limits(command: Command) -> Command:
    """The options of the limits on answers: they reach the command as one `limits`."""

    @wraps(command)
    def with_them(*arguments: object, **others: object) -> int:
        texts = {name_of(option): others.pop(name_of(option)) for option in OPTIONS}
        return command(*arguments, limits=limits_of(texts), **others)

    complete: Command = with_them
    for option, letter in reversed(OPTIONS.items()):
        text, usual = TEXTS[name_of(option)], getattr(Limits(), name_of(option))
        shown = NONE if usual is None else f"{usual:g}"
        complete = click.option(option, metavar=f"{letter}|none", help=f"{text}  [default: {shown}]")(
            complete
        )
    return complete


def limits_of(texts: dict[str, object]) -> Limits:
    """The limits that these texts are; None is the usual one, and `none` no limit."""
    given: dict[str, object] = {}
    for name, text in texts.items():
        if text == NONE:
            given[name] = None
        elif isinstance(text, str):
            given[name] = whole_of(text) if name in ("max_found", "max_one_class") else text
    with as_options(**{name_of(option): option for option in OPTIONS}):
        return Limits(**given)  # type: ignore[arg-type]  # each is checked there


def whole_of(text: str) -> object:
    """The integer that a text in plain digits is; any other text as it is, to be refused."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text
