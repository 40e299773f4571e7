"""The grammar of the command line: groups and verbs, options with former names, sections of help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from nbcfast._core.spelling import nearest
from nbcfast._core.threads import at_most, usual
from nbcfast.cli.completing import completes_columns
from nbcfast.cli.naming import ErrorNaming
from nbcfast.cli.standard_input import DASH, spooled

# What people want -> the verbs and groups that do it, in the order in which they are listed.
WANTS = {
    "Publish": ("inspect", "domain", "advise", "init", "publish", "ledger"),
    "Use what was published": ("verify", "predict", "points", "export", "report"),
    "Judge what is, or may be, published": ("attack", "closeness", "risk", "gate"),
    "Tables of people": ("skyline", "templates"),
    "Ask people, and nobody has to trust you": ("response",),
    "Help": ("explain", "completion"),
}
# What verbs were called -> how they are reached.
FORMER = {
    "check": ("templates", "check"),
    "disclose": ("templates", "disclose"),
    "disguise": ("response", "disguise"),
    "estimate": ("response", "estimate"),
}
CODES = {
    "0": "yes: it is done, or it holds",
    "1": "no: it does not hold, or the demands cannot be met and nothing is written",
    "2": "bad input, named in one line on stderr",
    "3": "undecided: the files cannot show it, or it would take too much work",
    "4": "publish --ledger: nothing to publish, as the last release has the same answers",
    "130": "ended by Ctrl-C (129 by SIGHUP, 143 by SIGTERM), and what was begun is removed",
}
EXITS = "\b\nExit codes:\n" + "".join(f"  {code:<4} {text}\n" for code, text in CODES.items())


# Options of which no verb hears, by their names in the notes of a context: a verb runs as they say.
THREADS, FORMAT = "asked_threads", "input_format"
# The sections of docs/reference/options.md and of long help: what options are for.
SECTIONS = {
    "What is read": (
        "class columns leave-out weights null delimiter encoding text format max-values against "
        "holdout on tuples max-rows"
    ),
    "Which values are told apart": "domain bin group menu hierarchy continuous",
    "Columns with a role": (
        "by sensitive strata target view identity attribute advise groups each keep counts"
    ),
    "What is demanded": (
        "amplification breach attacker prior given confidence r point k diversity closeness "
        "ordered template threshold model worlds error accuracy n theta scheme max-bits max-found "
        "min-flip min-trace max-one-class policy accept-answers dp-epsilon dp-delta dp-rho "
        "dp-neighbours dp-rows-per-person"
    ),
    "How it is made": (
        "method preserve rows allow-differences no-gauge bits smooth intervals score folds votes "
        "blocks utility maximal binarise cuts k-ary lie unseen seed shuffle memory-limit spill "
        "no-attack threads"
    ),
    "What is written and printed": (
        "out dataset plot write-menu to table name proba report dry-run overwrite verbose github "
        "schema json worst ledger window ledger-policy mend ignore-extra for-the-owner"
    ),
}
SHORT = 20  # options of a verb whose help needs no sections
# Options that name what is written.
WRITTEN = ("--out", "--dataset", "--plot", "--write-menu", "--ledger", "--report")


def kept(context: click.Context, param: click.Parameter, value: object) -> object:
    """Note what an option says of which the verb does not hear."""
    context.meta[str(param.name)] = value
    return value


class Renamed(click.Option):
    """An option that is also taken by the names it had before, which no help shows.

    Parameters
    ----------
    former : sequence of str
        Those names: ("--quasi",).
    """

    def __init__(self, declared: Sequence[str], *, former: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(declared, **attributes)
        self.former = tuple(former)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts
        self.opts = [*shown, *self.former]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


class Verb(ErrorNaming):
    """A command with an example, whose errors name its options.

    Parameters
    ----------
    example : str
        A command that can be typed as it is, in a folder with the files that it names.
    """

    def __init__(self, name: str | None, example: str | None = None, **attributes: Any) -> None:
        if example is not None:
            attributes["epilog"] = f"\b\nExample:\n  {example}"
        super().__init__(name, **attributes)
        self.example = example
        for param in self.params:
            completes_columns(param)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        if len(options) <= SHORT:
            super().format_options(ctx, formatter)
            return
        of_section: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
        for option in options:
            record = option.get_help_record(ctx)
            if record is not None:
                of_section[section_of(option.opts[-1])].append(record)
        for title, records in of_section.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> object:
        threads, format_ = ctx.meta.get(THREADS), ctx.meta.get(FORMAT)
        usual()  # a wrong variable is said, whatever the work is
        refuse_dashes(self, ctx)
        table = next((param for param in self.params if takes_table(ctx, param)), None)
        if table is None and format_ is not None:
            raise ValueError("--format goes with - for FILE, which is standard input: a file has its ending")
        with at_most(threads), spooled(None if table is None else format_) as standard_input:
            if table is not None:
                ctx.params[str(table.name)] = standard_input
            return super().invoke(ctx)


def section_of(option: str) -> str:
    """Under which heading an option stands in help: the last one, where it is in none."""
    word = option.removeprefix("--")
    return next((title for title, words in SECTIONS.items() if word in words.split()), list(SECTIONS)[-1])


def takes_table(context: click.Context, param: click.Parameter) -> bool:
    """Whether a table is to come from standard input for this argument."""
    value = context.params.get(str(param.name))
    if not isinstance(param, click.Argument) or value != DASH or FORMAT not in context.meta:
        return False
    if context.meta[FORMAT] is None:
        raise ValueError("FILE - is standard input: expected --format csv, tsv or parquet beside it")
    return True


def refuse_dashes(verb: click.Command, context: click.Context) -> None:
    """Refuse - where nothing can be read or written but files."""
    for param in verb.params:
        value = context.params.get(str(param.name))
        if isinstance(param, click.Option) and DASH in (value if isinstance(value, tuple) else (value,)):
            option = param.opts[0]
            if option in WRITTEN:
                raise ValueError(
                    f"{option} - is not taken: what is written is whole or not at all, and stdout can be "
                    "neither; expected the name of a file or a folder"
                )
            raise ValueError(f"{option} - is not taken: standard input is for FILE alone")


class Verbs(click.Group):
    """A group of verbs."""

    command_class = Verb
    group_class: type = type  # its groups are of this class too

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *others = args
        if name == "help" and name not in self.commands:
            if others:
                return self.resolve_command(ctx, [*others, "--help"])
            click.echo(ctx.get_help())
            ctx.exit()
        if name not in self.commands and not name.startswith("-"):
            raise click.UsageError(unknown_verb(ctx, self, name), ctx)
        return super().resolve_command(ctx, args)


class AllVerbs(Verbs):
    """The group of all: listed by what people want, and reached by former names too."""

    group_class: type = Verbs

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *others = args
        return super().resolve_command(ctx, [*FORMER.get(name, (name,)), *others])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        listed = {name for names in WANTS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in listed)
        width = max(map(len, self.commands), default=0)
        for want, names in {**WANTS, "Others": others}.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(formatter.width))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(want):
                    formatter.write_dl(rows)


def unknown_verb(context: click.Context, group: click.Group, name: str) -> str:
    """That there is no such verb, and which may be meant: those of groups too."""
    typed = {" ".join(path): path[-1] for path in leaves(group)}
    same = [words for words, last in typed.items() if last == name]
    near = same or nearest(name, typed) or nearest(name, group.commands)
    inside = " ".join(["nbcfast", *path_of(context)])
    question = " or ".join(repr(f"{inside} {words}") for words in near)
    asked = f"; did you mean {question}?" if near else ""
    return f"No such command {name!r}{asked or ':'} `{inside} --help` lists all"


def path_of(context: click.Context) -> tuple[str, ...]:
    """The verb of a context as it is typed after `nbcfast`, with its group."""
    names: list[str] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        names.insert(0, str(at.info_name))
        at = at.parent
    return tuple(names)


def leaves(group: click.Group, *before: str) -> dict[tuple[str, ...], click.Command]:
    """All verbs of a group and of the groups in it, by what is typed after `nbcfast`."""
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= leaves(command, *before, name)
        else:
            found[(*before, name)] = command
    return found
