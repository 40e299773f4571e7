"""The verbs of `nbcfast skyline`, one function a verb, on the public interface alone."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import click
from rich.text import Text

import nbcfast
from nbcfast import skyline
from nbcfast._core.errors import Infeasible
from nbcfast._core.files import written
from nbcfast._core.numbers import exact_share, plainly
from nbcfast._reading.endings import is_parquet
from nbcfast._wire.messages import printable
from nbcfast.attack.definetti import DeFinetti
from nbcfast.cli.adversaries import guess_rows, guessed, guesses
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import Verb
from nbcfast.cli.options import Command, Whole, reads_file, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import label, listing, pairs, screen_width, show
from nbcfast.cli.reading import Reading
from nbcfast.cli.targets import PUBLISHED, REPLACES, Output, check_targets, counts_remarks, output
from nbcfast.cli.writings import note
from nbcfast.published.table_lines import write_csv, write_parquet
from nbcfast.skyline.results import breach_text
from nbcfast.table.arrow import load_pyarrow
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


def as_json(command: Command) -> Command:
    return click.option("--json", "json_only", is_flag=True, help="Print one JSON object instead.")(command)


def point_of(text: str) -> tuple[int, int, int, Fraction]:
    """A point as it is written: 3,4,2,0.95 or 3,4,2,19/20."""
    parts = [part.strip(" ") for part in text.split(",")]
    try:
        if len(parts) != 4:
            raise ValueError
        l, k, m = (int(part) for part in parts[:3] if plainly(part))
        return l, k, m, Fraction(exact_share(parts[3], "--point"))
    except ValueError:
        raise ValueError(f"--point must be {POINT}, such as 3,4,2,0.95; got {text!r}") from None


def grouped(
    file: Path,
    by: str,
    sensitive: str,
    reading: Reading,
) -> skyline.Groups:
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
    wanted = list(map(point_of, points))
    groups = grouped(file, by, sensitive, reading)
    with progress("checking") as report:
        reports = skyline.check(groups, wanted, progress=report)
    said = reading.uncounted(file, {*groups.by, groups.sensitive})
    if json_only:
        found = {"file": str(file), **about(groups), **reports.to_dict(), **warned(said)}
        print(json.dumps(found, indent=2, default=plain))
        return 0 if reports.safe else 1
    lines = listing("point", "breach", "case", "")
    for one in reports:
        lines.add_row(
            repr(one.point), breach_text(one.breach), str(one.case), "safe" if one.safe else "UNSAFE"
        )
    worst = reports.worst
    show(
        Text(printable(str(file)), style="bold"),
        summary(groups),
        lines,
        Text(printable(f"worst attack, at {worst.point!r}: {worst.attack}")),
        *remarked(said),
        Text(
            f"safe{', if every row counts once' if said else ''}" if reports.safe else "unsafe", style="bold"
        ),
    )
    return 0 if reports.safe else 1


def warned(said: list[str]) -> dict[str, Any]:
    """Remarks for JSON."""
    return {"warnings": said} if said else {}


def remarked(said: list[str]) -> list[Text]:
    """Remarks for people."""
    return [Text("\n".join(f"- {printable(text)}" for text in said))] if said else []


def about(groups: skyline.Groups) -> dict[str, Any]:
    return {
        "by": list(groups.by),
        "sensitive": groups.sensitive,
        "people": groups.n_rows,
        "groups": groups.n_groups,
        "k": groups.k,
        "l": groups.l,
    }


def summary(groups: skyline.Groups) -> Any:
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
    said = reading.uncounted(file, {*groups.by, groups.sensitive})
    if picture is not None:
        axes = skyline.plot(points, title=f"{file.name}, confidence {confidence}")
        with written(picture, overwrite=overwrite) as drawn:
            axes.figure.savefig(drawn, format=picture.suffix[1:] or None)
        note([picture])
    if json_only:
        found = {
            "file": str(file),
            **about(groups),
            "confidence": confidence,
            "skyline": [list(point) for point in points],
            "plot": None if picture is None else str(picture),
            **warned(said),
        }
        print(json.dumps(found, indent=2))
        return 0 if points else 1
    parts = [Text(printable(str(file)), style="bold"), summary(groups)]
    if points:
        parts += [
            Text(f"the skyline at {confidence}: " + ", ".join(map(str, points))),
            Text(f"the largest safe m:\n{skyline.frontier_table(points).text(screen_width())}"),
        ]
    else:
        parts.append(Text("nothing is safe: see nbcfast skyline check --point 0,0,0," + confidence))
    if picture is not None:
        parts.append(Text(f"drawn into {printable(str(picture))}"))
    show(*parts, *remarked(said))
    return 0 if points else 1


@group.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--quasi", metavar="A,B,C", required=True, help="The columns that may be known: generalised.")
@click.option(
    "--sensitive", metavar="NAME", required=True, help="The column whose values must not be inferred."
)
@reads_file
@click.option(
    "--point", "points", metavar=POINT, multiple=True, help="A point of the skyline; may be repeated."
)
@click.option("--k", type=Whole(min=1), help="At least so many people in a group.")
@click.option("--diversity", metavar="C L", nargs=2, help="Recursive (c, l)-diversity.")
@click.option("--closeness", metavar="T", help="t-closeness.")
@click.option("--ordered", is_flag=True, help="t-closeness with values one step apart in their order.")
@click.option(
    "--hierarchy",
    "hierarchies",
    metavar="NAME=FILE",
    multiple=True,
    help="Generalise a column by the sets in FILE (lines value;set;larger set;*, as ARX); may be repeated.",
)
@click.option("--target", metavar="NAME", help="Split by what tells most of this column.")
@click.option(
    "--out",
    metavar="FILE",
    type=Output(),
    required=True,
    help="A folder for table.csv and its certificate, or a .csv or .parquet file for the table alone.",
)
@click.option("--shuffle", is_flag=True, help="Write the rows in random order.  [default: sorted]")
@click.option("--counts", metavar="NAME", help="Write equal rows once, with a column of how often.")
@click.option("--memory-limit", metavar="SIZE", help="Split on disk, in so much memory: 2GiB.")
@click.option(
    "--spill",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="With --memory-limit: a folder with room for two copies of the rows.  [default: that of the system "
    "for temporary files]",
)
@click.option(
    "--holdout", type=click.Path(path_type=Path), help="People not in FILE, for the deFinetti attack."
)
@click.option("--no-attack", is_flag=True, help="Leave out the deFinetti attack.")
@REPLACES
@as_json
def anonymize(
    file: Path,
    quasi: str,
    sensitive: str,
    reading: Reading,
    points: tuple[str, ...],
    k: int | None,
    diversity: tuple[str, str] | None,
    closeness: str | None,
    ordered: bool,
    hierarchies: tuple[str, ...],
    target: str | None,
    out: Path,
    shuffle: bool,
    counts: str | None,
    memory_limit: str | None,
    spill: Path | None,
    holdout: Path | None,
    no_attack: bool,
    overwrite: bool,
    json_only: bool,
) -> int:
    """Generalise FILE until nobody's value can be inferred, and write what may be published.

    Prints what the table is worth, the skyline it satisfies, and how well a deFinetti attack guesses: what is
    printed of attacks and measures comes from the private table and is not meant for publication.

    Leaves with 0 if the table is written, and with 1 if the demands cannot be met.
    """
    names = names_in(quasi, "--quasi")
    if sensitive in names:
        raise ValueError(f"--sensitive: {sensitive!r} is among the columns of --quasi")
    demands: dict[str, Any] = {"k": k, "points": list(map(point_of, points)), "target": target}
    if diversity is not None:
        demands["diversity"] = (diversity[0], whole(diversity[1], "--diversity: L"))
    if ordered and closeness is None:
        raise ValueError("--ordered goes with --closeness T")
    if closeness is not None:
        distance: Literal["equal", "ordered"] = "ordered" if ordered else "equal"
        demands["closeness"] = (closeness, distance)
    demands["hierarchies"] = dict(map(hierarchy_of, hierarchies))
    written_as = output(out)
    if written_as == "parquet" and (shuffle or counts is not None):
        raise ValueError("--shuffle and --counts go with a folder or a .csv file")
    if memory_limit is not None and holdout is not None:
        raise ValueError("--holdout: the deFinetti attack takes tables in memory, without --memory-limit")
    if memory_limit is not None and written_as == "csv":
        raise ValueError(f"--memory-limit: --out must be a folder or a .parquet file, got {str(out)!r}")
    if counts is not None and counts in (*names, sensitive):
        raise ValueError(f"--counts: expected the name of a new column, got {counts!r}")
    if spill is not None and memory_limit is None:
        raise ValueError("--spill goes with --memory-limit SIZE")
    if spill is not None and not spill.is_dir():
        raise ValueError(f"--spill must be a folder, got {str(spill)!r}")
    private = [file, holdout, *demands["hierarchies"].values()]
    if written_as == "folder":
        check_targets(private, overwrite, folder=out)
    else:
        check_targets(private, overwrite, files={"--out": out})
    if not points and k is None and diversity is None and closeness is None:
        raise ValueError("expected a demand: --point, --k, --diversity or --closeness; got none")
    table: nbcfast.Table | None = None
    held = None
    if holdout is not None and not no_attack:  # before anything is written: it may not fit
        held = reading.people(holdout, file, [*names, sensitive])
    try:
        if memory_limit is None:
            used = [*names, sensitive, *([] if target is None or target in (*names, sensitive) else [target])]
            table = reading.rows(file, used)
            with progress("splitting") as report:
                partition = skyline.anonymize(table, names, sensitive, progress=report, **demands)
        else:
            partition = on_disk(file, names, sensitive, reading, memory_limit, spill, demands)
        files = save(partition, out, shuffle, counts, memory_limit is not None, overwrite)
        note(files)
        if memory_limit is not None:
            partition = replace(partition, path=str(files[-1]))
    except Infeasible as error:
        print(f"nbcfast: infeasible: {printable(' '.join(error.why.split()))}", file=sys.stderr)
        return 1
    attack: DeFinetti | str | None = None
    if table is None and not no_attack:
        attack = "not measured: it takes a table in memory, without --memory-limit"
    if table is not None and not no_attack:
        attack = guessed(table.select([*names, sensitive]), group_ids(partition), sensitive, held)
    confidence = max((point.confidence for point in partition.demands.points), default=Fraction(19, 20))
    reached = partition.skyline(confidence)
    named = {*names, sensitive, *([] if target is None else [target])}
    said = reading.uncounted(file, named)
    if json_only:
        found = {
            "file": str(file),
            **partition.to_dict(),
            "warnings": [*said, *partition.warnings, *partition.remarks, *counts_remarks(counts)],
            "skyline": {"confidence": str(confidence), "points": [list(point) for point in reached]},
            "definetti": guesses(attack),
            "files": [{"path": str(path), "bytes": path.stat().st_size} for path in files],
        }
        print(json.dumps(found, indent=2))
        return 0
    show_partition(file, partition, confidence, reached, attack, files, counts, said)
    return 0


def group_ids(partition: skyline.Partition) -> Any:
    assert partition.group_ids is not None
    return partition.group_ids


def whole(text: str, where: str) -> int:
    try:
        if not plainly(text):
            raise ValueError
        return int(text)
    except ValueError:
        raise ValueError(f"{where} must be an integer, got {text!r}") from None


def hierarchy_of(text: str) -> tuple[str, str]:
    name, found, path = text.partition("=")
    if not found or not name or not path:
        raise ValueError(f"--hierarchy must be NAME=FILE, got {text!r}")
    return name, path


def on_disk(
    file: Path,
    names: list[str],
    sensitive: str,
    reading: Reading,
    memory_limit: str,
    spill: Path | None,
    demands: dict[str, Any],
) -> skyline.Partition:
    """Split a file in little memory."""
    load_pyarrow()
    with progress("splitting") as report:
        return skyline.anonymize(
            file,
            names,
            sensitive,
            weights=reading.weights,
            csv=reading.csv_options(file),
            memory_limit=memory_limit,
            spill=spill,
            progress=report,
            **demands,
        )


def save(
    partition: skyline.Partition,
    out: Path,
    shuffle: bool,
    counts: str | None,
    parquet: bool,
    overwrite: bool,
) -> list[Path]:
    """Write what may be published; the files. With `parquet` a folder gets a table.parquet too."""
    ending = out.suffix.lower()
    if is_parquet(out):
        write_parquet(partition.counted, out, overwrite=overwrite)
        return [out]
    order: Literal["canonical", "shuffled"] = "shuffled" if shuffle else "canonical"
    if ending == ".csv":
        write_csv(partition.counted, out, order=order, weights=counts, overwrite=overwrite)
        return [out]
    partition.save(out, order=order, weights=counts, parquet=parquet, overwrite=overwrite)
    return [out / name for name in PUBLISHED[: 3 if parquet else 2]]


def show_partition(
    file: Path,
    partition: skyline.Partition,
    confidence: Fraction,
    reached: list[tuple[int, int, int]],
    attack: DeFinetti | str | None,
    written: list[Path],
    counts: str | None,
    said: list[str],
) -> None:
    """What there is to say about a partition."""
    utility = partition.utility()
    rows = [
        ("people", f"{partition.n_rows:,}"),
        ("groups", f"{partition.n_groups:,} by {', '.join(map(label, partition.quasi))}"),
        ("demands", str(partition.demands)),
        ("smallest group", f"{partition.groups.k:,} people"),
        ("average group", f"{float(utility.average_size):,.1f} people"),
        ("discernibility", f"{utility.discernibility:,}"),
    ]
    if utility.ncp is not None:
        rows.append(("certainty penalty", f"{utility.ncp:.4f}"))
    at = float(confidence)
    rows.append((f"skyline at {at:g}", ", ".join(map(str, reached)) or "nothing is safe"))
    parts: list[Any] = [Text(printable(str(file)), style="bold"), pairs(rows)]
    if utility.ncp_of is not None and utility.kl is not None:
        lost = listing("column", "certainty penalty", "divergence of the marginal")
        for name in partition.quasi:
            lost.add_row(Text(label(name)), f"{utility.ncp_of[name]:.4f}", f"{utility.kl[name]:.4f}")
        parts.append(lost)
    if attack is not None:
        parts.append(pairs(guess_rows(attack)))
    grid = listing("files written", "bytes")
    for path in written:
        grid.add_row(Text(printable(str(path))), f"{path.stat().st_size:,}")
    parts.append(grid)
    notes = [*said, *partition.warnings, *partition.remarks, *counts_remarks(counts)]
    if not any(path.name == PUBLISHED[0] for path in written):
        notes.append("No certificate: only a folder gets one.")
    if notes:
        parts.append(Text("\n".join(f"- {printable(note)}" for note in notes)))
    show(*parts)
