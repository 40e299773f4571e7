"""The words that a shell completes: verbs, options, choices, and the columns of the file that is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete
from click.types import StringParamType

from nbcfast.cli.parsing import fields_in, listed
from nbcfast.publishing.beginnings import header_of

VARIABLE_OF_SHELLS = "_NBCFAST_COMPLETE"
PROGRAM = "nbcfast"
# Options that take the name of a column, or several with commas between.
ONE_COLUMN = ("--class", "--weights", "--sensitive", "--target", "--identity", "--attribute", "--text")
COLUMNS = ("--columns", "--by", "--strata", "--leave-out", "--continuous", "--keep", "--view", "--advise")
PLAIN = re.compile(r"[^\w@%+=:,./-]")  # letters that bash would take for more than letters

# As click has it, but for values that hold blanks, and for words of which nothing is said on stderr.
BASH = r"""_nbcfast_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
            plain,*) COMPREPLY+=("${line#plain,}") ;;
        esac
    done < <(COMP_WORDS="$(printf '%s\n' "${COMP_WORDS[@]}")" COMP_CWORD="$COMP_CWORD" \
        _NBCFAST_COMPLETE=bash_complete "$1" 2> /dev/null)
}

complete -o nosort -F _nbcfast_completion nbcfast
"""


class Bash(BashComplete):
    """Bash, which parts words at = and leaves it to us to quote."""

    source_template = BASH.replace("%", "%%")

    @staticmethod
    def _check_version() -> None:
        """Whoever sources a script knows his shell."""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        if incomplete == "=" and words and words[-1].startswith("--"):
            return words, ""
        if words[-1:] == ["="]:
            return words[:-1], incomplete
        return words, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        value = str(item.value)
        if item.type == "plain":
            value = PLAIN.sub(r"\\\g<0>", value)
        return f"{item.type},{value}"


# Where each shell looks for scripts of its user, and what they are called there.
FOLDERS = {
    "bash": "~/.local/share/bash-completion/completions",
    "zsh": '"${fpath[1]}"',
    "fish": "~/.config/fish/completions",
}
NAMES = {"bash": "nbcfast", "zsh": "_nbcfast", "fish": "nbcfast.fish"}
PLACES = {shell: f"{folder}/{NAMES[shell]}" for shell, folder in FOLDERS.items()}
SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def script_of(group: click.Command, shell: str) -> str:
    """What a shell has to be told, once, to ask for words."""
    script = SHELLS[shell](group, {}, PROGRAM, VARIABLE_OF_SHELLS).source()
    for before, end in (("_complete", ")}"), ("(commandline -t)", ");")):  # of zsh, and of fish
        # Nobody wants errors between the words that he types.
        script = script.replace(f"{before} {PROGRAM}{end}", f"{before} {PROGRAM} 2>/dev/null{end}")
    return script.replace('string split ","', 'string split --max 1 ","')  # a list of columns has commas


def completed(group: click.Command, asked: str) -> int:
    """Print the words for what is typed so far; the exit code. There are none where something goes wrong."""
    shell, _, what = asked.partition("_")
    if shell not in SHELLS or what != "complete":
        return 1
    try:
        said = SHELLS[shell](group, {}, PROGRAM, VARIABLE_OF_SHELLS).complete()
    except Exception:
        return 1
    print(said)
    return 0


class ColumnName(StringParamType):
    """The name of a column of FILE, or several with commas between; completed from its header alone.

    Parameters
    ----------
    several : bool
        Whether there may be several.
    """

    def __init__(self, several: bool) -> None:
        super().__init__()
        self.several = several

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        before, last = "", incomplete
        if self.several and "," in incomplete:
            before, comma, last = incomplete.rpartition(",")
            before += comma
        used = fields_in(before, str(param.opts[0])) if before else []
        return [
            CompletionItem(before + (listed([name]) if self.several else name))
            for name in header(ctx)
            if name.startswith(last.lstrip('"')) and name not in used and name.isprintable()
        ]


def completes_columns(param: click.Parameter) -> None:
    """Let an option of columns complete them."""
    if isinstance(param, click.Option) and param.opts[0] in (*ONE_COLUMN, *COLUMNS):
        param.type = ColumnName(several=param.opts[0] in COLUMNS)


def header(context: click.Context) -> list[str]:
    """The columns of the file that is typed; none where there is none, or it says none."""
    delimiter = context.params.get("delimiter")
    for file in typed(context):
        with suppress(Exception):  # whatever it is, a completion does not say it
            found = header_of(file, delimiter) if file.is_file() else None
            if found:
                return found
    return []


def typed(context: click.Context) -> Iterator[Path]:
    """The files that may be meant: of arguments, of words that none has taken yet, and of --against."""
    values = [
        context.params.get(str(p.name)) for p in context.command.params if isinstance(p, click.Argument)
    ]
    for value in (*values, *context.args, context.params.get("against")):
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str | Path) and str(one) not in ("", "-"):
                yield Path(one) / "table.csv" if Path(one).is_dir() else Path(one)
