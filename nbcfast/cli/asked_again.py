"""Commands to be typed next: what was asked, with other options, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.options import verbs
from nbcfast.cli.parsing import names_in
from nbcfast.publishing.inputs import NamesPeopleError

DOMAIN, MENU = "domain.json", "menu.json"
# What is said of the table and of the limits, which `advise` is asked in the same words.
OF_THE_TABLE = frozenset(
    {
        "file",
        "class_name",
        "columns",
        "weights",
        "nulls",
        "delimiter",
        "texts",
        "max_values",
        "menu",
        "domain",
        "bins",
        "groups",
        "left_out",
        "alpha",
    }
    | {name_of(option) for option in LIMITS}
)
# How values were made coarser, in place of which a file says it.
COARSER = frozenset({"domain", "menu", "bins", "groups", "left_out"})
# What goes with powers of the counts, which give counts back on any domain, or is of no whole domain.
NOT_OF_ANSWERS = frozenset({"method", "no_gauge", "allow_differences", "listed"})


def asked(
    context: click.Context,
    verb: str | None = None,
    *,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    instead: Mapping[str, Sequence[str]] | None = None,
    more: Sequence[str] = (),
) -> str:
    """The command that was typed, as text for a shell.

    Parameters
    ----------
    context : click.Context
        That of the command.
    verb : str, optional
        The verb in place of its own.
    only, without : collection of str
        The names of parameters that are kept, or left out.
    instead : mapping of name -> texts
        Other values of parameters that were given.
    more : sequence of str
        What stands behind them.
    """
    instead = instead or {}
    words = ["nbcfast", verb or str(context.info_name)]
    for param in context.command.get_params(context):
        name = str(param.name)
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not typed or name in without or (only is not None and name not in only):
            continue
        value = context.params[name]
        if isinstance(param, click.Argument):
            words.append(f"./{value}" if str(value).startswith("-") else str(value))
        elif isinstance(param, click.Option):
            option = max(param.opts, key=len)
            if param.is_flag:
                words.append(option)
            elif param.multiple:
                words += [word for one in value for word in (option, str(one))]
            elif param.nargs != 1:
                words += [option, *map(str, value)]
            else:
                words += [option, *instead.get(name, [str(value)])]
    return shlex.join([*words, *more])


def advised(context: click.Context, from_rows: bool) -> list[str]:
    """The steps that find the best domain which keeps the limits, and publish on it.

    Parameters
    ----------
    context : click.Context
        That of `publish`.
    from_rows : bool
        Whether some values come from the rows: a menu of them has to be looked through, and is fixed then.
    """
    other = verbs.commands.get("advise")
    taken = OF_THE_TABLE if other is None else OF_THE_TABLE & {str(param.name) for param in other.params}
    if from_rows and context.params.get("menu") is None:
        menu = free(MENU)
        return [
            asked(context, "advise", only=taken, more=["--write-menu", menu]),
            looked_through(menu),
            asked(context, without=NOT_OF_ANSWERS | COARSER | {"columns"}, more=["--menu", menu]),
        ]
    domain = free(DOMAIN)
    return [
        asked(context, "advise", only=taken, more=["--out", domain]),
        asked(context, without=NOT_OF_ANSWERS | COARSER, more=["--domain", domain]),
    ]


def looked_through(menu: str) -> str:
    """The step of a person between a menu that was made from rows, and its use."""
    return f"check every option in {menu} against the code book, and add what other values can occur"


def is_command(step: str) -> bool:
    """Whether a step is a command for a shell."""
    return step.startswith("nbcfast ")


@contextmanager
def mended_by_leaving_out(context: click.Context) -> Iterator[None]:
    """An error about columns that name people says the command without them."""
    try:
        yield
    except NamesPeopleError as error:
        commands = leaving_out(context, error.names, error.attributes)
        raise ValueError(": ".join([str(error), *commands])) from None


def leaving_out(context: click.Context, names: Sequence[str], attributes: Sequence[str]) -> list[str]:
    """The command without attributes that name people; none where no other is left."""
    rest = [name for name in attributes if name not in names]
    if not rest or context.params.get("menu") is not None:  # a menu says itself what is left out
        return []
    typed: str | None = context.params.get("columns")
    if typed is not None:
        kept = [name for name in names_in(typed) if name not in names]
        return [asked(context, instead={"columns": [listed(kept)]})]
    # What is declared cannot be left out as well, but of columns that are not used it may be.
    declared = any(context.params.get(name) for name in ("domain", "bins", "groups"))
    if not declared and any("--leave-out" in param.opts for param in context.command.params):
        return [asked(context, more=["--leave-out", listed(names)])]
    return [asked(context, more=["--columns", listed(rest)])]


def listed(names: Sequence[str]) -> str:
    """Names as --columns takes them: quoted where they hold what stands between them."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') or name != name.strip() else name
        for name in names
    )


def accepting(context: click.Context) -> str:
    """The command that publishes whatever the answers give away."""
    return asked(context, more=["--accept-answers"])


def free(name: str) -> str:
    """The name, or the first after it of which there is no file: nothing is overwritten unasked."""
    path, number = Path(name), 1
    while path.exists():
        number += 1
        path = Path(f"{Path(name).stem}-{number}{Path(name).suffix}")
    return str(path)
