"""The verb `skyline anonymize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypedDict

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import skyline
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import plainly
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.attack.definetti import DeFinetti
from nbcfast.cli.adversaries import guess_rows, guessed, guesses
from nbcfast.cli.asked_again import asked, checked
from nbcfast.cli.bars import progress
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.options import Whole, as_json, reads_file, verbose
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import Parts, listing, pairs, tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import with_report
from nbcfast.cli.skyline_verbs import POINT, group, point_in
from nbcfast.cli.targets import (
    NO_CERTIFICATE,
    PUBLISHED,
    REPLACES,
    Output,
    check_targets,
    counts_remarks,
    output,
)
from nbcfast.cli.unmet import tell_unmet
from nbcfast.cli.writings import note
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.utility import Utility
from nbcfast.published.table_lines import write_csv, write_parquet
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import partition_page
from nbcfast.reports.skyline_summary import of_partition
from nbcfast.reports.summary import Decision, Summary
from nbcfast.table.arrow import load_pyarrow

USUAL = Fraction(19, 20)  # the confidence of the skyline that is shown where no point has one


# Long by its options, each of which is an argument.
@group.command(
    short_help="Generalise a table until it keeps demands, and write it.",
    example="nbcfast skyline anonymize patients.csv --by age,sex,smoking --sensitive bmi --k 5 --out people",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--by",
    "quasi",
    cls=Renamed,
    former=("--quasi",),
    metavar="A,B,C",
    required=True,
    help="The columns that make the groups: what may be known, and is generalised.",
)
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
@with_report
@verbose
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
    names = names_in(quasi, "--by")
    if sensitive in names:
        raise ValueError(f"--sensitive: {sensitive!r} is among the columns of --by")
    demanded = demands_in(points, k, diversity, closeness, ordered, hierarchies, target)
    written = WrittenPartition(
        out, output(out), shuffle, counts, overwrite, with_parquet=memory_limit is not None
    )
    written.expect(new_beside=[*names, sensitive])
    disk = None if memory_limit is None else Disk(memory_limit, spill)
    expect_room(disk, spill, holdout, written)
    written.check([file, holdout, *demanded["hierarchies"].values()])
    if not points and k is None and diversity is None and closeness is None:
        raise ValueError("expected a demand: --point, --k, --diversity or --closeness; got none")
    held = table = None
    if holdout is not None and not no_attack:  # before anything is written: it may not fit
        held = reading.people(holdout, file, [*names, sensitive])
    wanted = Demands.of(
        points=demanded["points"], k=k, diversity=demanded["diversity"], closeness=demanded["closeness"]
    )
    try:
        if disk is None:
            table = reading.rows(file, list(dict.fromkeys([*names, sensitive, *named(target)])))
            with progress("splitting") as report:
                partition = skyline.anonymize(table, names, sensitive, progress=report, **demanded)
        else:
            partition = on_disk(file, names, sensitive, reading, disk, demanded)
        with progress("writing"):
            files = written.save(partition)
    except Infeasible as error:
        about = f"{printable(str(file))} -> {printable(str(out))}"
        return tell_unmet(
            error, about, whole_keeps(error, wanted, sensitive), {"file": str(file)}, as_json=json_only
        )
    if disk is not None:
        partition = replace(partition, path=str(files[-1]))
    guess = None if no_attack else guess_of(partition, table, held)
    remarks = reading.uncounted(file, {*names, sensitive, *named(target)})
    published = PartitionReport(partition, guess, files, remarks, written.remarks)
    steps = [] if written.kind != "folder" else [checked(out)]
    tell(
        published.summary(f"{printable(str(file))} -> {printable(str(out))}", steps),
        lambda: {"file": str(file), **published.to_dict()},
        published.details,
        as_json=json_only,
        written=published.written,
        page=lambda summary: partition_page(partition, summary),
    )
    return 0


def whole_keeps(error: Infeasible, demanded: Demands, sensitive: str) -> list[Decision]:
    """The command with demands that the whole table keeps: stricter ones cannot be had."""
    kept = error.best.get("demands")
    if not isinstance(kept, Demands):
        text = (
            f"No table with {label(sensitive)} keeps what was demanded of it: publish it without that column."
        )
        return [Decision(text)] if demanded.needs_values else []
    words = []
    for point in kept.points:
        words += ["--point", f"{','.join(map(str, point[:3]))},{decimal_text(point.confidence)}"]
    if kept.k is not None:
        words += ["--k", str(kept.k)]
    if kept.diversity is not None:
        words += ["--diversity", decimal_text(kept.diversity[0]), str(kept.diversity[1])]
    if kept.closeness is not None:
        words += ["--closeness", decimal_text(kept.closeness[0])]
    without = {"points", "k", "diversity", "closeness"}
    command = asked(click.get_current_context(), without=without, more=words)
    return [
        Decision(
            f"Demand no more than the whole table keeps{_given_up(demanded, kept, sensitive)}.", (command,)
        )
    ]


def _given_up(demanded: Demands, kept: Demands, sensitive: str) -> str:
    """What of the demands is not kept then, and what may show for it."""
    points = tuple(point for point in demanded.points if point not in kept.points)
    diversity = None if demanded.diversity == kept.diversity else demanded.diversity
    lost = replace(demanded, k=None, closeness=None, points=points, diversity=diversity)
    if not points and diversity is None:
        return ""
    return f": then not {lost}, and {label(sensitive)} may show to whoever that was to stop"


def named(column: str | None) -> list[str]:
    """The column that an option names, if it is given."""
    return [] if column is None else [column]


class Demanded(TypedDict):
    """The arguments of `skyline.anonymize` that say what is demanded, and how columns are generalised."""

    points: list[tuple[int, int, int, Fraction]]
    k: int | None
    diversity: tuple[str, int] | None
    closeness: tuple[str, Literal["equal", "ordered"]] | None
    hierarchies: dict[str, str]
    target: str | None


def demands_in(
    points: tuple[str, ...],
    k: int | None,
    diversity: tuple[str, str] | None,
    closeness: str | None,
    ordered: bool,
    hierarchies: tuple[str, ...],
    target: str | None,
) -> Demanded:
    """What the options ask for."""
    if ordered and closeness is None:
        raise ValueError("--ordered goes with --closeness T")
    return {
        "points": list(map(point_in, points)),
        "k": k,
        "diversity": None if diversity is None else (diversity[0], whole_in(diversity[1], "--diversity: L")),
        "closeness": None if closeness is None else (closeness, "ordered" if ordered else "equal"),
        "hierarchies": dict(map(hierarchy_in, hierarchies)),
        "target": target,
    }


def whole_in(text: str, where: str) -> int:
    """A whole number in plain digits."""
    try:
        if not plainly(text):
            raise ValueError
        return int(text)
    except ValueError:
        raise ValueError(f"{where} must be an integer, got {text!r}") from None


def hierarchy_in(text: str) -> tuple[str, str]:
    """The column and the file of a --hierarchy."""
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise ValueError(f"--hierarchy must be NAME=FILE, got {text!r}")
    return name, path


@dataclass(frozen=True)
class Disk:
    """Where a file is split that is too large for memory: --memory-limit and --spill."""

    memory_limit: str
    spill: Path | None


@dataclass(frozen=True)
class WrittenPartition:
    """What is written of a partition, and how.

    Parameters
    ----------
    out : Path
        --out.
    kind : {"folder", "csv", "parquet"}
        What that is.
    shuffle : bool
        Whether rows stand in random order.
    counts : str or None
        The column that says how often each distinct row occurs; without it rows stand as often as they do.
    overwrite : bool
        Whether what is there is replaced.
    with_parquet : bool
        Whether a folder gets a table.parquet too.
    """

    out: Path
    kind: Literal["folder", "csv", "parquet"]
    shuffle: bool
    counts: str | None
    overwrite: bool
    with_parquet: bool

    def expect(self, new_beside: list[str]) -> None:
        """Refuse options that do not go together; the name of --counts is none of these columns."""
        if self.kind == "parquet" and (self.shuffle or self.counts is not None):
            raise ValueError("--shuffle and --counts go with a folder or a .csv file")
        if self.counts is not None and self.counts in new_beside:
            raise ValueError(f"--counts: expected the name of a new column, got {self.counts!r}")

    def check(self, private: list[Path | str | None]) -> None:
        """Refuse, before any work, a place where something is, or where what is read would be lost."""
        if self.kind == "folder":
            check_targets(private, self.overwrite, folder=self.out)
        else:
            check_targets(private, self.overwrite, files={"--out": self.out})

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know of the names in it."""
        return counts_remarks(self.counts)

    def save(self, partition: skyline.Partition) -> list[Path]:
        """Write what may be published; the files."""
        order: Literal["canonical", "shuffled"] = "shuffled" if self.shuffle else "canonical"
        files = [self.out]
        if self.kind == "parquet":
            write_parquet(partition.counted, self.out, overwrite=self.overwrite)
        elif self.kind == "csv":
            write_csv(partition.counted, self.out, order=order, weights=self.counts, overwrite=self.overwrite)
        else:
            parquet = self.with_parquet
            partition.save(
                self.out, order=order, weights=self.counts, parquet=parquet, overwrite=self.overwrite
            )
            files = [self.out / name for name in PUBLISHED[: 3 if parquet else 2]]
        note(files)
        return files


def expect_room(
    disk: Disk | None, spill: Path | None, holdout: Path | None, written: WrittenPartition
) -> None:
    """Refuse what does not go with --memory-limit, or without it."""
    if disk is not None and holdout is not None:
        raise ValueError("--holdout: the deFinetti attack takes tables in memory, without --memory-limit")
    if disk is not None and written.kind == "csv":
        raise ValueError(
            f"--memory-limit: --out must be a folder or a .parquet file, got {str(written.out)!r}"
        )
    if spill is not None and disk is None:
        raise ValueError("--spill goes with --memory-limit SIZE")
    if spill is not None and not spill.is_dir():
        raise ValueError(f"--spill must be a folder, got {str(spill)!r}")


def on_disk(
    file: Path, names: list[str], sensitive: str, reading: Reading, disk: Disk, demanded: Demanded
) -> skyline.Partition:
    """Split a file in little memory."""
    load_pyarrow()  # where it is missing, main names the extra
    options = reading.csv_options(file)
    with progress("splitting") as report:
        return skyline.anonymize(
            file,
            names,
            sensitive,
            weights=reading.weights,
            csv=options,
            memory_limit=disk.memory_limit,
            spill=disk.spill,
            progress=report,
            **demanded,
        )


def guess_of(
    partition: skyline.Partition, table: nbcfast.Table | None, held: nbcfast.Table | None
) -> DeFinetti | str:
    """How well a deFinetti attack guesses, or why that is not measured."""
    if table is None or partition.group_ids is None:
        return "not measured: it takes a table in memory, without --memory-limit"
    columns = table.select([*partition.quasi, partition.sensitive])
    return guessed(columns, partition.group_ids, partition.sensitive, held)


class PartitionReport:
    """What there is to say about a partition.

    Parameters
    ----------
    partition : Partition
    guess : DeFinetti, str or None
        How well the attack guesses, why that is not measured, or nothing about it.
    files : list of Path
        What was written.
    remarks : list of str
        On the file that was read.
    names_remarks : tuple of str
        On the names in what was written.
    """

    def __init__(
        self,
        partition: skyline.Partition,
        guess: DeFinetti | str | None,
        files: list[Path],
        remarks: list[str],
        names_remarks: tuple[str, ...],
    ) -> None:
        self.partition, self.guess, self.files = partition, guess, files
        self.notes = [*remarks, *partition.warnings, *partition.remarks, *names_remarks]
        self.confidence = max((point.confidence for point in partition.demands.points), default=USUAL)
        self.skyline = partition.skyline(self.confidence)

    def to_dict(self) -> Document:
        return {
            **self.partition.to_dict(),
            "warnings": self.notes,
            "skyline": {
                "confidence": str(self.confidence),
                "points": [list(point) for point in self.skyline],
            },
            "definetti": guesses(self.guess),
            "files": [file._asdict() for file in self.written],
        }

    @property
    def written(self) -> list[Written]:
        """The files, with their sizes."""
        return list(map(Written.of, self.files))

    def summary(self, about: str, decisions: Sequence[Decision]) -> Summary:
        """What it comes to."""
        notes = list(self.notes)
        if not any(path.name == PUBLISHED[0] for path in self.files):
            notes.append(NO_CERTIFICATE)
        return of_partition(
            self.partition,
            about,
            decisions,
            skyline=(self.confidence, self.skyline),
            guess=self.guess,
            remarks=notes,
            written=True,
        )

    def details(self) -> Parts:
        """The measures of it, for people."""
        utility = self.partition.utility()
        parts: list[Text | Grid] = [pairs(self._measures(utility))]
        if utility.ncp_of is not None and utility.kl is not None:
            lost = listing("column", "certainty penalty", "divergence of the marginal")
            for name in self.partition.quasi:
                lost.add_row(Text(label(name)), f"{utility.ncp_of[name]:.4f}", f"{utility.kl[name]:.4f}")
            parts.append(lost)
        if self.guess is not None:
            parts.append(pairs(guess_rows(self.guess)))
        return parts

    def _measures(self, utility: Utility) -> list[tuple[str, str]]:
        """What the partition is worth, in pairs."""
        partition = self.partition
        measures = [
            ("people", f"{partition.n_rows:,}"),
            ("groups", f"{partition.n_groups:,} by {', '.join(map(label, partition.quasi))}"),
            ("demands", str(partition.demands)),
            ("smallest group", f"{partition.groups.k:,} people"),
            ("average group", f"{float(utility.average_size):,.1f} people"),
            ("discernibility", f"{utility.discernibility:,}"),
        ]
        if utility.ncp is not None:
            measures.append(("certainty penalty", f"{utility.ncp:.4f}"))
        reached = ", ".join(map(str, self.skyline)) or "nothing is safe"
        return [*measures, (f"skyline at {float(self.confidence):g}", reached)]
