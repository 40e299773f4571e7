"""What the kinds of `publish` share: options that say what is published, and how it is written and told."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

import click

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked, checked, used
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring
from nbcfast.cli.parsing import names_in
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import nothing_written
from nbcfast.cli.unmet import tell_unmet
from nbcfast.cli.writings import forget, note
from nbcfast.domains import Declared
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.entering import LedgerEntry, saved_beside
from nbcfast.publishing.report import Written, saved
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision

WET = "Publish it: a dry run leaves nothing out but writing."


class Asked(TypedDict):
    """The options that say what is published, and of what; the others say where it goes."""

    file: Path
    class_name: str
    columns: str | None
    reading: Reading
    max_values: int
    amplification: str | None
    breach: tuple[str, str] | None
    attacker: Attacker
    method: Literal["canonical", "safetytransform"] | None
    preserve: Preserve | None
    declaring: Declaring
    by: str | None
    menu: Path | None
    bits: int | None
    alpha: str | None
    listed: Path | None
    intervals: bool
    rows: str
    allow_differences: bool
    no_gauge: bool
    holdout: Path | None
    ledger: Path | None
    window: str | None
    ledger_policy: tuple[str, ...]


class Outputs(NamedTuple):
    """Where it goes, and how it is told."""

    out: Path
    dataset: Path | None
    overwrite: bool
    as_json: bool
    dry: bool

    def about(self, source: str | None, class_name: str, by: str | None = None) -> str:
        """What is published, and where."""
        of_strata = "" if by is None else f" by {label(by)}"
        return f"{printable(str(source))}, {label(class_name)}{of_strata} -> {printable(str(self.out))}"

    @property
    def unwritten(self) -> str:
        """What is said where nothing was written."""
        nothing = nothing_written()
        return f"dry run: {nothing}" if self.dry else nothing


def written(
    release: Release | StratifiedRelease, outputs: Outputs, entry: LedgerEntry | None = None
) -> tuple[Written, ...]:
    """The files of a release, as they were written; where there is a ledger, it is entered first.

    A dry run writes none, and enters nothing.
    """
    if outputs.dry:
        return ()

    def write() -> tuple[Written, ...]:
        with progress("writing") as report:
            return saved(
                release,
                outputs.out,
                dataset=outputs.dataset,
                overwrite=outputs.overwrite,
                progress=report,
                done=note,
            )

    return saved_beside(entry, outputs.out, outputs.dataset, write)


class TableOptions(TypedDict):
    """Which columns of the table are read and counted, and how, in the words of `nbcfast.publish`."""

    domains: Declared | None
    holdout: Path | None
    columns: list[str] | None
    weights: str | None
    delimiter: str | None
    texts: Sequence[str]
    max_values: int


def table_options(asked: Asked) -> TableOptions:
    """Those options of all kinds of `publish`."""
    reading = asked["reading"]
    return {
        "domains": asked["declaring"].declared,
        "holdout": asked["holdout"],
        "columns": None if asked["columns"] is None else names_in(asked["columns"]),
        "weights": reading.weights,
        "delimiter": reading.delimiter,
        "texts": reading.texts,
        "max_values": asked["max_values"],
    }


def unmet(error: Infeasible, asked_for: Asked, outputs: Outputs, decisions: Sequence[Decision]) -> int:
    """Say that nothing meets what was demanded of a release; the exit code."""
    file, class_name = str(asked_for["file"]), asked_for["class_name"]
    return tell_unmet(
        error,
        outputs.about(file, class_name, asked_for["by"]),
        decisions,
        {"file": file, "class": class_name},
        as_json=outputs.as_json,
        unwritten=outputs.unwritten,
    )


@contextmanager
def already_written(files: list[str]) -> Iterator[None]:
    """What is measured of a release comes after it is written; where that ends early, it is there."""
    try:
        yield
    except BaseException:
        if not files:
            raise
        forget()
        names = ", ".join(printable(path) for path in files)
        print(f"nbcfast: {names}: written, but not judged or attacked to the end", file=sys.stderr)
        raise


def next_steps(
    outputs: Outputs,
    first: Sequence[Decision] = (),
    otherwise: Sequence[Decision] = (),
    further: Sequence[Decision] = (),
    *,
    decides: bool = True,
) -> list[Decision]:
    """What there is to do once a release is written, or would be.

    Parameters
    ----------
    outputs : Outputs
        Where it went.
    first : sequence of Decision
        What is wrong with it, and mended first.
    otherwise : sequence of Decision
        What may be had in place of it.
    further : sequence of Decision
        What holds of releases that come after it.
    decides : bool
        Whether it has attributes by which something is decided.
    """
    if outputs.dry:
        return [*first, Decision(WET, (asked(click.get_current_context()),)), *otherwise, *further]
    return [*first, checked(outputs.out), *otherwise, used(outputs.out, decides), *further]
