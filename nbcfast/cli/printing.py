"""How verbs print: a summary first, then pairs, tables, and numbers that people read."""

import json
import re
from collections.abc import Callable, Iterable, Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.numbers import amount_text
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.reports_asked import report_asked, write_report
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.report import Written
from nbcfast.reports.owner_page import summary_page
from nbcfast.reports.summary import MARKS, Decision, Summary, is_command
from nbcfast.table.values import plain


def readable(number: int) -> str:
    """An integer for people: exact while it fits on a line."""
    return amount_text(number)


def pairs(rows: list[tuple[str, str]]) -> Grid:
    """Names on the left, what they are on the right."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return grid


LEAST = 16  # letters of a text before it is folded, beside other columns


class FoldingGrid(Grid):
    """A table that never drops a letter: where its columns do not fit beside each other, they stand below."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        texts = [[plain_text(cell) for cell in (column.header, *column.cells)] for column in self.columns]
        natural = [max(map(cell_len, cells)) for cells in texts]
        least = [
            size if column.no_wrap else min(size, LEAST)
            for size, column in zip(natural, self.columns, strict=True)
        ]
        if sum(least) + 2 * (len(least) - 1) <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        (title, *headers), *rows = zip(*texts, strict=True)
        yield Text(title or "", style="bold", overflow="fold")
        yield Text("─" * options.max_width)
        for name, *cells in rows:
            yield Text(name, overflow="fold")
            for header, cell in zip(headers, cells, strict=True):
                if cell:
                    line = Text(f"{header}  {cell}" if header else cell, overflow="fold")
                    yield Padding(line, (0, 0, 0, 4))


def plain_text(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def listing(first: str, *numbers: str) -> Grid:
    """An empty table: a column of names and columns of numbers."""
    grid = FoldingGrid(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold"
    )
    grid.add_column(first, overflow="fold")
    for number in numbers:
        grid.add_column(number, justify="right", no_wrap=True)
    return grid


def screen() -> Console:
    """Where results go: as wide as the terminal, and a pipe is as wide as anything."""
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = 10_000
    return console


def screen_width() -> int:
    return screen().width


def show(*parts: RenderableType) -> None:
    """Print `parts` with an empty line after each, folded to the terminal or, in a pipe, not at all."""
    console = screen()
    try:
        with console.capture() as capture:
            for part in parts:
                console.print(part, Text(), sep="\n")
        lines = [line.rstrip() for line in capture.get().splitlines()]
        context = click.get_current_context(silent=True)
        if context is not None and context.meta.get(INERT):
            lines = list(map(inert, lines))
        print("\n".join(lines).rstrip())
    except OSError as error:
        error.filename = "stdout"  # other than those of files, its errors do not say whose they are
        raise


def inert(line: str) -> str:
    """A line that GitHub Actions takes for no command, wherever a long text was folded.

    Examples
    --------
    >>> inert("  ::stop-commands::x"), inert("a::b"), inert("a ##[add-mask]b")
    ('  : :stop-commands::x', 'a::b', 'a # #[add-mask]b')
    """
    text = line.lstrip()
    if text.startswith("::"):
        line = f"{line[: len(line) - len(text)]}: {text[1:]}"
    return line.replace("##[", "# #[")


Parts = Sequence[RenderableType]
# Colours say again what marks and words say: they are left out off a terminal, and where NO_COLOR is set.
COLOURS: dict[State, str] = {"shows": "red", "unmeasured": "magenta", "warned": "yellow", "kept": "green"}


COMMAND = "cyan"
INDENT = 5  # of the steps below what they are for
WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")  # of a shell: no quoted text is broken
INERT = "nbcfast.inert"  # the key of --github in the context of a command
VERBOSE = "nbcfast.verbose"  # the key of the option in the context of a command
NOTHING_MORE: Callable[[], Parts] = list


def keep_verbose(context: click.Context, option: click.Parameter, value: bool) -> None:
    """Remember that details are asked for."""
    context.meta[VERBOSE] = value


def tell(
    summary: Summary,
    document: Callable[[], Document],
    details: Callable[[], Parts] = NOTHING_MORE,
    *,
    as_json: bool,
    body: Callable[[], Parts] = NOTHING_MORE,
    written: Sequence[Written] = (),
    page: Callable[[Summary], bytes] = summary_page,
) -> None:
    """Say what a result comes to: on a screen with its details if these are asked for, in JSON with all.

    `document` gives the result as plain values, to which the summary is added. `body` are tables that were
    asked for and always stand there, `details` those that --verbose adds; `written` are files, and `page` is
    what --report writes.
    """
    # Before anything is said: whose screen is gone still has the page.
    asked = report_asked()
    if asked is not None:
        report = write_report(asked, lambda: page(summary))
        written = [*written, report]
    if as_json:
        reported = {} if asked is None else {"report": report._asdict()}
        print(json.dumps({"summary": summary.to_dict(), **document(), **reported}, indent=2, default=plain))
        return
    below = details()
    if below and not details_asked():
        below = [Text("--verbose shows the details")]
    first, *others = summary_parts(summary)
    show(first, *body(), *written_parts(written), *others, *below)


def details_asked() -> bool:
    """Whether --verbose was given."""
    return bool(click.get_current_context().meta.get(VERBOSE))


def summary_parts(summary: Summary) -> Parts:
    """A summary, for people."""
    first = Text.assemble(
        (summary.verdict, f"bold {COLOURS[summary.state]}"), "   ", printable(summary.about)
    )
    below = [Padding(findings_grid(summary.findings), (0, 0, 0, 2))] if summary.findings else []
    return [Group(first, *below), *decided(summary.decisions), *remarked(summary.remarks)]


def decided(decisions: Sequence[Decision]) -> Parts:
    """What to do, numbered, each with its commands."""
    if not decisions:
        return []
    lines: list[RenderableType] = [Text("What to do", style="bold")]
    for number, decision in enumerate(decisions, 1):
        lines.append(pairs([(f"  {number}", printable(decision.question))]))
        for step in map(printable, decision.steps):
            shown = TypedCommand(step) if is_command(step) else Text(step, overflow="fold")
            lines.append(Padding(shown, (0, 0, 0, INDENT)))
    return [Group(*lines)]


class TypedCommand:
    """A command that may be copied as it is shown: a line of it that goes on ends with a backslash."""

    def __init__(self, command: str) -> None:
        self.words: list[str] = []
        for word in WORD.findall(command):
            before = self.words[-1] if self.words else ""
            if before.startswith("--") and " " not in before and not word.startswith("-"):
                self.words[-1] += f" {word}"  # an option stands beside what it says
            else:
                self.words.append(word)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = ""
        for place, word in enumerate(self.words):
            last = place == len(self.words) - 1
            joined = f"{line} {word}" if line.strip() else f"{line}{word}"
            if line.strip() and cell_len(joined) + (0 if last else 2) > options.max_width:
                yield Text(f"{line} \\", style=COMMAND, overflow="fold")
                joined = f"  {word}"
            line = joined
        yield Text(line, style=COMMAND, overflow="fold")


def findings_grid(findings: Sequence[GateFinding]) -> Grid:
    """What was looked at, with a mark each."""
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for finding in findings:
        mark = Text(MARKS[finding.state], style=COLOURS[finding.state])
        grid.add_row(mark, Text(printable(finding.about)), Text(printable(finding.text)))
    return grid


def written_parts(files: Sequence[Written]) -> Parts:
    """What was written, with its size."""
    if not files:
        return []
    return [pairs([("written", f"{printable(file.path)} ({file.bytes:,} bytes)") for file in files])]


def warned(remarks: Sequence[str]) -> dict[str, Sequence[str]]:
    """Remarks for JSON, which has no entry without any."""
    return {"warnings": remarks} if remarks else {}


def remarked(remarks: Iterable[str]) -> list[Grid]:
    """Remarks for people."""
    grid = Grid.grid(padding=(0, 1))
    for _ in range(2):
        grid.add_column(overflow="fold")
    for remark in remarks:
        grid.add_row(Text("-"), Text(printable(remark)))
    return [grid] if grid.row_count else []
