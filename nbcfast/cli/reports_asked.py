"""The option --report of verbs that judge: a page for the owner of the rows, which never leaves with them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import click

from nbcfast._core.files import written
from nbcfast._markup.pages import MOST_BYTES
from nbcfast.cli.targets import PUBLISHED, REPLACES, check_beside, keep_outside
from nbcfast.cli.writings import note
from nbcfast.publishing.report import Written
from nbcfast.reports.refusals import NOT_WRITTEN

Command = Callable[..., int]  # takes what its options say; the exit code
ENDINGS = (".html", ".htm")
REPORT = "nbcfast.report"  # the key of what was asked for in the context of a command


class ReportAsked(NamedTuple):
    """Where a page is to be written, and whether one that is there is replaced."""

    path: Path
    overwrite: bool


class ReportFile(click.Path):
    """A page to write."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value).lower().endswith(ENDINGS):
            raise ValueError(f"--report must end in {' or '.join(ENDINGS)}, got {os.fspath(value)!r}")
        return super().convert(value, param, ctx)


def with_report(command: Command) -> Command:
    """The option of a verb that has --overwrite; the command itself need not know of it."""

    @wraps(command)
    def remembering(*arguments: object, report: Path | None, **others: object) -> int:
        context = click.get_current_context()
        if report is not None:
            overwrite = bool(context.params["overwrite"])
            check_beside("--report", report, context.params.get("out"), overwrite)
            if (report.parent / PUBLISHED[0]).exists():  # what was published another time
                keep_outside(report.parent, report, "--report")
            context.meta[REPORT] = ReportAsked(report, overwrite)
        return command(*arguments, **others)

    return click.option(
        "--report",
        metavar="FILE.html",
        type=ReportFile(),
        help="Also write a page for you and your data protection officer: private, and outside of --out.",
    )(remembering)


def with_report_alone(command: Command) -> Command:
    """The option of a verb that writes nothing else, with the --overwrite that it needs."""
    reporting = with_report(command)

    @wraps(reporting)
    def without_overwrite(*arguments: object, overwrite: bool, **others: object) -> int:
        return reporting(*arguments, **others)

    return REPLACES(without_overwrite)


def report_asked() -> ReportAsked | None:
    """What was asked for, by the command that runs."""
    asked: ReportAsked | None = click.get_current_context().meta.get(REPORT)
    return asked


def nothing_written() -> str:
    """What is said where nothing was written, but the page if one was asked for."""
    return NOT_WRITTEN if report_asked() is None else f"{NOT_WRITTEN} but the report"


def write_report(asked: ReportAsked, made: Callable[[], bytes]) -> Written:
    """Write a page, whole or not at all."""
    data = made()
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"--report would have {len(data):,} bytes, and has at most {MOST_BYTES:,}: too much to be looked "
            "at on a page"
        )
    with written(asked.path, overwrite=asked.overwrite) as file:
        file.write(data)
    note([asked.path])
    return Written(str(asked.path), len(data))
