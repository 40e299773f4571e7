"""The verbs of `nbcfast skyline`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast import skyline
from nbcfast._core.files import written
from nbcfast._core.numbers import exact_share, plainly
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.bars import progress
from nbcfast.cli.options import READING, Command, as_json, reads_file, verbose, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import Parts, listing, pairs, screen_width, tell, warned
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import with_report, with_report_alone
from nbcfast.cli.targets import REPLACES, check_targets, expect_picture
from nbcfast.cli.writings import note
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import check_page, skyline_page
from nbcfast.reports.skyline_summary import groups_text, of_reports, of_skyline
from nbcfast.reports.summary import Decision
from nbcfast.skyline.results import breach_text

POINT = "L,K,M,CONFIDENCE"
WITHSTANDS = "See how much knowledge it withstands at that confidence."


@verbs.group("skyline", short_help="Privacy Skyline: check, find, anonymize.")
def group() -> None:
    """Privacy Skyline: how much an adversary must know before a table gives somebody away."""


def reads_groups(command: Command) -> Command:
    """The argument and options of the verbs that judge a table as it is."""
    decorators = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--by",
            metavar="A,B,C",
            required=True,
            help="The columns that make the groups: what may be known.",
        ),
        click.option(
            "--sensitive", metavar="NAME", required=True, help="The column whose values must not be inferred."
        ),
    ]
    command = reads_file(command)
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def point_in(text: str) -> tuple[int, int, int, Fraction]:
    """A point as it is written: 3,4,2,0.95 or 3,4,2,19/20."""
    parts = [part.strip(" ") for part in text.split(",")]
    try:
        if len(parts) != 4:
            raise ValueError
        l, k, m = (int(part) for part in parts[:3] if plainly(part))
        return l, k, m, Fraction(exact_share(parts[3], "--point"))
    except ValueError:
        raise ValueError(f"--point must be {POINT}, such as 3,4,2,0.95; got {text!r}") from None


def grouped(file: Path, by: str, sensitive: str, reading: Reading) -> skyline.Groups:
    """The groups of a file."""
    names = names_in(by, "--by")
    if sensitive in names:
        raise ValueError(f"--sensitive: {sensitive!r} is among the columns of --by")
    table = reading.rows(file, [*names, sensitive])
    return skyline.group(table, names, sensitive)


@group.command(
    short_help="Judge a table as it is, and say its worst attack.",
    example="nbcfast skyline check patients.csv --by age,sex --sensitive bmi --point 3,4,2,50%",
)
@reads_groups
@click.option(
    "--point",
    "points",
    metavar=POINT,
    multiple=True,
    required=True,
    help="Values excluded, people known, people who imply, confidence to stay below; may be repeated.",
)
@with_report_alone
@verbose
@as_json
def check(
    file: Path,
    by: str,
    sensitive: str,
    reading: Reading,
    points: tuple[str, ...],
    json_only: bool,
) -> int:
    """Say whether FILE (CSV or Parquet), published as it is, is safe, and what the worst attack is.

    A point L,K,M,CONFIDENCE is safe if nobody's value can be inferred with that confidence by somebody who
    knows everybody's group, L values that the target has not, the values of K other people, and of M others
    that, had any of them the value, the target would have it too.

    Leaves with 0 if all points are safe, and with 1 if not.
    """
    wanted = list(map(point_in, points))
    groups = grouped(file, by, sensitive, reading)
    with progress("checking") as report:
        reports = skyline.check(groups, wanted, progress=report)
    remarks = reading.uncounted(file, {*groups.by, groups.sensitive})

    def details() -> Parts:
        lines = listing("point", "breach", "case", "")
        for judged in reports:
            breach, case = breach_text(judged.breach), str(judged.case)
            lines.add_row(repr(judged.point), breach, case, "safe" if judged.safe else "UNSAFE")
        return [summary(groups), lines]

    worst = reports.worst.point
    more = [generalise(by, points)] if not reports.safe else []
    more.append(Decision(WITHSTANDS, (find_command(float(worst.confidence)),)))
    tell(
        of_reports(reports, what(file, groups), more, remarks),
        lambda: {"file": str(file), **about(groups), **reports.to_dict(), **warned(remarks)},
        details,
        as_json=json_only,
        page=lambda summary: check_page(reports, groups, summary),
    )
    return 0 if reports.safe else 1


def what(file: Path, groups: skyline.Groups) -> str:
    """The table, and its groups."""
    return f"{printable(str(file))}, {groups_text(groups)}"


def generalise(by: str, points: Sequence[str]) -> Decision:
    """How a table becomes safe at some points."""
    wanted = [word for point in points for word in ("--point", point)]
    more = ["--by", by, *wanted, "--out", free("published")]
    command = asked(click.get_current_context(), "skyline anonymize", only=(*READING, "sensitive"), more=more)
    return Decision("Do not publish it as it is: generalise it until nobody is inferred.", (command,))


def find_command(confidence: float) -> str:
    """What finds the knowledge that a table withstands."""
    more = ["--confidence", f"{confidence:g}"]
    return asked(click.get_current_context(), "skyline find", only=(*READING, "by", "sensitive"), more=more)


def about(groups: skyline.Groups) -> Document:
    """What groups there are, for JSON."""
    return {
        "by": list(groups.by),
        "sensitive": groups.sensitive,
        "people": groups.n_rows,
        "groups": groups.n_groups,
        "k": groups.k,
        "l": groups.l,
    }


def summary(groups: skyline.Groups) -> Grid:
    """What groups there are, for people."""
    return pairs(
        [
            ("people", f"{groups.n_rows:,}"),
            ("groups", f"{groups.n_groups:,} by {', '.join(map(label, groups.by))}"),
            ("smallest group", f"{groups.k:,} people"),
            ("fewest values", f"{groups.l:,} of {label(groups.sensitive)} in a group"),
        ]
    )


@group.command(
    short_help="Find how much an adversary may know of a table.",
    example="nbcfast skyline find patients.csv --by age,sex --sensitive bmi --confidence 95%",
)
@reads_groups
@click.option(
    "--confidence", metavar="P", required=True, help="The confidence to stay below: 95%, 0.95, 19/20."
)
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw the skyline into a .png, .svg or .pdf file.",
)
@REPLACES
@with_report
@verbose
@as_json
def find(
    file: Path,
    by: str,
    sensitive: str,
    reading: Reading,
    confidence: str,
    picture: Path | None,
    overwrite: bool,
    json_only: bool,
) -> int:
    """Find all the knowledge (l, k, m) against which FILE, published as it is, is just safe.

    Leaves with 0 if there is some, and with 1 if even an adversary who knows nothing but the groups infers a
    value.
    """
    check_targets([file], overwrite, files={"--plot": picture})
    expect_picture(picture)
    groups = grouped(file, by, sensitive, reading)
    with progress("searching") as report:
        points = skyline.find(groups, confidence, progress=report)
    remarks = reading.uncounted(file, {*groups.by, groups.sensitive})
    if picture is not None:
        axes = skyline.plot(points, title=f"{file.name}, confidence {confidence}")
        with written(picture, overwrite=overwrite) as drawn:
            axes.figure.savefig(drawn, format=picture.suffix[1:] or None)
        note([picture])

    def details() -> Parts:
        parts: list[Text | Grid] = [summary(groups)]
        if points:
            parts += [
                Text(f"the skyline at {confidence}: " + ", ".join(map(str, points))),
                Text(f"the largest safe m:\n{skyline.frontier_table(points).text(screen_width())}"),
            ]
        return parts

    more = [] if points else _of_nothing(by, confidence)
    tell(
        of_skyline(points, confidence, what(file, groups), more, remarks),
        lambda: {
            "file": str(file),
            **about(groups),
            "confidence": confidence,
            "skyline": [list(point) for point in points],
            "plot": None if picture is None else str(picture),
            **warned(remarks),
        },
        details,
        as_json=json_only,
        written=[] if picture is None else [Written.of(picture)],
        page=lambda summary: skyline_page(points, groups, summary),
    )
    return 0 if points else 1


def _of_nothing(by: str, confidence: str) -> list[Decision]:
    """What to do where even the groups alone give a value away."""
    point = f"0,0,0,{confidence}"
    seen = asked(
        click.get_current_context(),
        "skyline check",
        only=(*READING, "by", "sensitive"),
        more=["--point", point],
    )
    return [Decision("See whose value it is.", (seen,)), generalise(by, [point])]
