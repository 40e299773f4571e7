"""How verbs print: pairs, tables, and numbers that people read."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.numbers import amount_text
from nbcfast._wire.messages import printable
from nbcfast._wire.smoothing_form import private_text
from nbcfast.published.certificate import same_text
from nbcfast.published.release import Release
from nbcfast.publishing.words import amount


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


def show(*parts: Text | Grid) -> None:
    """Print `parts` with an empty line after each, folded to the terminal or, in a pipe, not at all."""
    console = screen()
    try:
        with console.capture() as capture:
            for part in parts:
                console.print(part, Text(), sep="\n")
        print("\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip())
    except OSError as error:
        error.filename = "stdout"  # other than those of files, its errors do not say whose they are
        raise


def limit_line(limit: Fraction, amplification: Fraction, attacker: str) -> str:
    """The limit of Lambda, and where it comes from."""
    if attacker == "worlds":
        return f"{amount(limit)}, half of the amplification {amount(amplification)}, for attacker 'worlds'"
    return f"{amount(limit)}, for attacker 'row'"


def same_line(release: Release) -> str:
    """Whether the classifier is the private one, and how that was established, by who made the release."""
    certificate = release.certificate
    if certificate.canonical is not None and certificate.canonical.listed is not None:
        listed = certificate.canonical.listed
        return same_text(
            certificate.preserve,
            certificate.tuples,
            listed.differing,
            certificate.equivalence,
            None,
            listed.tuples,
            certificate.altered,
        )
    if certificate.differing_tuples is None:
        what = "the order of all classes" if certificate.preserve == "order" else "the best class"
        to = "" if certificate.altered is None else f" with {private_text(certificate.altered)}"
        return f"not compared{to}: {what} on {readable(certificate.tuples)} tuples"
    return same_text(
        certificate.preserve,
        certificate.tuples,
        certificate.differing_tuples,
        certificate.equivalence,
        certificate.differing_rows,
        altered=certificate.altered,
    )


def warned(remarks: Sequence[str]) -> dict[str, Sequence[str]]:
    """Remarks for JSON, which has no entry without any."""
    return {"warnings": remarks} if remarks else {}


def remarked(remarks: Iterable[str]) -> list[Text]:
    """Remarks for people."""
    lines = "\n".join(f"- {printable(remark)}" for remark in remarks)
    return [Text(lines)] if lines else []
