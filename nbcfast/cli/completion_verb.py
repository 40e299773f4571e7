"""The verb `completion`."""

import click

from nbcfast.cli.completing import FOLDERS, PLACES, SHELLS, script_of
from nbcfast.cli.options import verbs

COMMANDS = {
    shell: f"mkdir -p {FOLDERS[shell]} && nbcfast completion {shell} > {place}"
    for shell, place in PLACES.items()
}
LINES = "\n".join(f"{shell + ':':6} {command}" for shell, command in COMMANDS.items())
# This mark keeps lines as they are; a docstring of ours holds no such sign.
HELP = f"""Print the script by which SHELL completes verbs, options, choices, and columns of a file.

Put it where the shell looks for such scripts, and open a new shell:

\b
{LINES}

Columns come from the header of FILE, so FILE is typed first; nothing else of it is read.
"""


@verbs.command(
    name="completion",
    short_help="Print the script that completes words in a shell.",
    example="nbcfast completion bash",
    help=HELP,
)
@click.argument("shell", type=click.Choice(tuple(SHELLS)), metavar="{bash|zsh|fish}", required=False)
def completion_verb(shell: str | None) -> int:
    """Print the script of a shell."""
    if shell is None:
        commands = "; ".join(COMMANDS.values())
        raise ValueError(
            f"SHELL must be one of {', '.join(PLACES)}, whose script goes where it looks: {commands}"
        )
    print(script_of(verbs, shell), end="")
    return 0
