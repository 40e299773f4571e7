"""The verbs of `nbcfast skyline`."""

from __future__ import annotations

import json
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
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import Verb
from nbcfast.cli.options import Command, as_json, reads_file, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import listing, pairs, remarked, screen_width, show, warned
from nbcfast.cli.reading import Reading
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.publishing.words import label
from nbcfast.skyline.results import breach_text
from nbcfast.table.values import plain

PICTURES = (".png", ".svg", ".pdf")
POINT = "L,K,M,CONFIDENCE"


@verbs.group("skyline")
def group() -> None:
    """Privacy Skyline: how much an adversary must know before a table gives somebody away."""


group.command_class = Verb


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


@group.command()
@reads_groups
@click.option(
    "--point",
    "points",
    metavar=POINT,
    multiple=True,
    required=True,
    help="Values excluded, people known, people who imply, confidence to stay below; may be repeated.",
)
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
    if json_only:
        document = {"file": str(file), **about(groups), **reports.to_dict(), **warned(remarks)}
        print(json.dumps(document, indent=2, default=plain))
        return 0 if reports.safe else 1
    lines = listing("point", "breach", "case", "")
    for judged in reports:
        breach, case = breach_text(judged.breach), str(judged.case)
        lines.add_row(repr(judged.point), breach, case, "safe" if judged.safe else "UNSAFE")
    worst = reports.worst
    verdict = "safe" if reports.safe else "unsafe"
    if reports.safe and remarks:  # where a column may say how often a row counts, no verdict stands alone
        verdict += ", if every row counts once"
    show(
        Text(printable(str(file)), style="bold"),
        summary(groups),
        lines,
        Text(printable(f"worst attack, at {worst.point!r}: {worst.attack}")),
        *remarked(remarks),
        Text(verdict, style="bold"),
    )
    return 0 if reports.safe else 1


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


@group.command()
@reads_groups
@click.option("--confidence", metavar="P", required=True, help="The confidence to stay below: 0.95 or 19/20.")
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw the skyline into a .png, .svg or .pdf file.",
)
@REPLACES
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
    if picture is not None and picture.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot must end in {', '.join(PICTURES)}, got {picture.name!r}")
    groups = grouped(file, by, sensitive, reading)
    with progress("searching") as report:
        points = skyline.find(groups, confidence, progress=report)
    remarks = reading.uncounted(file, {*groups.by, groups.sensitive})
    if picture is not None:
        axes = skyline.plot(points, title=f"{file.name}, confidence {confidence}")
        with written(picture, overwrite=overwrite) as drawn:
            axes.figure.savefig(drawn, format=picture.suffix[1:] or None)
        note([picture])
    if json_only:
        document = {
            "file": str(file),
            **about(groups),
            "confidence": confidence,
            "skyline": [list(point) for point in points],
            "plot": None if picture is None else str(picture),
            **warned(remarks),
        }
        print(json.dumps(document, indent=2))
        return 0 if points else 1
    parts: list[Text | Grid] = [Text(printable(str(file)), style="bold"), summary(groups)]
    if points:
        parts += [
            Text(f"the skyline at {confidence}: " + ", ".join(map(str, points))),
            Text(f"the largest safe m:\n{skyline.frontier_table(points).text(screen_width())}"),
        ]
    else:
        parts.append(Text("nothing is safe: see nbcfast skyline check --point 0,0,0," + confidence))
    if picture is not None:
        parts.append(Text(f"drawn into {printable(str(picture))}"))
    show(*parts, *remarked(remarks))
    return 0 if points else 1
