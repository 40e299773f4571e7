"""Commands to be typed next: what was asked, with other options, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nbcfast._reading.endings import STANDARD_INPUT
from nbcfast._wire.messages import printable
from nbcfast.cli.grammar import FORMAT, THREADS, path_of
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.options import verbs
from nbcfast.cli.parsing import listed, names_in
from nbcfast.cli.printing import tell
from nbcfast.publishing.inputs import NamesPeopleError
from nbcfast.publishing.words import label
from nbcfast.reports.refusals import of_uncounted
from nbcfast.reports.summary import Decision

MOST_NAMED = 8  # columns
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
        "encoding",
        "max_values",
        "menu",
        "domain",
        "bins",
        "groups",
        "left_out",
        "alpha",
        FORMAT,
    }
    | {name_of(option) for option in LIMITS}
)
HOW_TOLD = frozenset({"dry", "as_json", "json_only", "report", THREADS})
# How values were made coarser, in place of which a file says it.
COARSER = frozenset({"domain", "menu", "bins", "groups", "left_out"})
BY_COLUMN = COARSER | {"columns"}  # in place of which a menu says it
# What goes with powers of the counts, which give counts back on any domain, or is of no whole domain.
NOT_OF_ANSWERS = frozenset({"method", "no_gauge", "allow_differences", "listed", "accept_answers"})


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

    Never a dry run, nor in JSON: what is typed next is meant, and by a person.

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
    words = ["nbcfast", *(path_of(context) if verb is None else verb.split())]
    for param in context.command.get_params(context):
        name = str(param.name)
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if (
            not typed
            or (name not in context.params and name not in context.meta)
            or name in HOW_TOLD
            or name in without
            or (only is not None and name not in only)
        ):
            continue
        value: Any = context.params.get(name, context.meta.get(name))
        if isinstance(param, click.Argument):
            words += map(as_argument, map(str, value if param.nargs == -1 else (value,)))
        elif isinstance(param, click.Option):
            option = param.opts[0]
            if param.is_flag:
                words.append(option)
            elif param.multiple:
                words += [word for one in value for word in (option, str(one))]
            elif param.nargs != 1:
                words += [option, *map(str, value)]
            else:
                words += [option, *instead.get(name, [str(value)])]
    return shlex.join([*words, *more])


def with_delimiter(context: click.Context, mark: str, *more: str) -> str:
    """The same of a file with this mark between its fields."""
    typed = "\\t" if mark == "\t" else mark
    return asked(context, without={"delimiter"}, more=["--delimiter", typed, *more])


def as_argument(path: str) -> str:
    """A file as it is typed where it is no option's."""
    if path == STANDARD_INPUT:
        return "-"
    return f"./{path}" if path.startswith("-") else path


def advised(
    context: click.Context, from_rows: bool, written: bool = False, limits: Sequence[str] = ()
) -> list[str]:
    """The steps that find the best domain which keeps the limits, and publish on it.

    Parameters
    ----------
    context : click.Context
        That of `publish`.
    from_rows : bool
        Whether some values come from the rows: a menu of them has to be looked through, and is fixed then.
    written : bool
        Whether something was written already, which is replaced.
    limits : sequence of str
        Options of limits, in place of what was typed of them.
    """
    gone = {name_of(option) for option in limits[::2]}
    replacing = ["--overwrite"] if written and not context.params["overwrite"] else []
    other = verbs.commands.get("advise")
    taken = OF_THE_TABLE if other is None else OF_THE_TABLE & {str(param.name) for param in other.params}
    taken -= gone
    if from_rows and context.params.get("menu") is None:
        menu = free(MENU)
        return [
            asked(context, "advise", only=taken, more=[*limits, "--write-menu", menu]),
            looked_through(menu),
            asked(
                context, without=NOT_OF_ANSWERS | BY_COLUMN | gone, more=["--menu", menu, *limits, *replacing]
            ),
        ]
    domain = free(DOMAIN)
    return [
        asked(context, "advise", only=taken, more=[*limits, "--out", domain]),
        asked(
            context, without=NOT_OF_ANSWERS | COARSER | gone, more=["--domain", domain, *limits, *replacing]
        ),
    ]


def looked_through(menu: str) -> str:
    """The step of a person between a menu that was made from rows, and its use."""
    return (
        f"check every option in {menu} against the code book, add what other values can occur, then remove "
        "the name of its column from from_rows: until then its values count as not declared"
    )


def empty_too(context: click.Context, names: Sequence[str], *more: str) -> list[Decision]:
    """That the empty text is a value of these columns, as other texts were given that mean null."""
    given = context.params.get("nulls") or ()
    if not names or not given or "" in given:
        return []
    question = (
        f"Say whether an empty text is missing too: where --null is given it is a value, here of "
        f"{', '.join(map(label, names[:MOST_NAMED]))}{', ..' if len(names) > MOST_NAMED else ''}."
    )
    return [Decision(question, (asked(context, more=["--null", "", *more]),))]


@contextmanager
def mended_by_leaving_out(context: click.Context) -> Iterator[None]:
    """Columns that name people are answered by the command without them, and the verb leaves with 1."""
    try:
        yield
    except NamesPeopleError as error:
        mends = without_people(context, error.names, error.attributes)
        asked_for = context.params
        file = asked_for["file" if "file" in asked_for else "source"]
        about = f"{printable(str(file))}, {label(asked_for['class_name'])}"
        names = list(error.names)
        tell(
            of_uncounted(error.found, about, mends),
            lambda: {"refused": True, "names_people": names, "mend": " && ".join(mends.steps) or None},
            as_json=bool(asked_for.get("as_json") or asked_for.get("json_only")),
        )
        context.exit(1)


def without_people(context: click.Context, names: Sequence[str], attributes: Sequence[str]) -> Decision:
    """What is done with columns that name people."""
    steps = tuple(leaving_out(context, names, attributes))
    named = ", ".join(map(label, names))
    if steps:
        return Decision(f"Leave out {named}, or bin the values: nothing else hides whom they name.", steps)
    if context.params.get("menu") is not None:
        return Decision(f"What helps: a menu without {named}, or with coarser options alone.")
    return Decision("No command mends that.")


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


def accepting(context: click.Context) -> str:
    """The command that publishes whatever the answers give away."""
    return asked(context, more=["--accept-answers"])


def checked(out: Path) -> Decision:
    """How a recipient checks what was written."""
    command = shlex.join(["nbcfast", "verify", as_argument(str(out))])
    return Decision("Check it as its recipient will, from the files alone.", (command,))


def used(out: Path, decides: bool) -> Decision:
    """How what was written is shown to others, and used, where it decides by anything."""
    page = shlex.join(["nbcfast", "report", as_argument(str(out)), "--out", free("facts.html")])
    shown = "Show it, by a page of the published files alone"
    if not decides:
        return Decision(f"{shown}: one answer for everybody is no classifier to run elsewhere.", (page,))
    what = (
        f"{shown}, and use it: `nbcfast predict` decides rows by it, "
        "`nbcfast export` writes it as SQL, ONNX, PMML, Excel and more."
    )
    return Decision(what, (page,))


def free(name: str) -> str:
    """The name, or the first after it of which there is no file: nothing is overwritten unasked."""
    path, number = Path(name), 1
    while path.exists():
        number += 1
        path = Path(f"{Path(name).stem}-{number}{Path(name).suffix}")
    return str(path)
