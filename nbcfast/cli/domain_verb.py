"""The verb `domain`: a file of declared values to begin with."""

import json
from pathlib import Path

import click

from nbcfast._core.files import written
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import READING, reads_file, verbs
from nbcfast.cli.printing import tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.seen_screens import begun_of_one_column, coarser_class, proposals_parts
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.domains.declarations import declared
from nbcfast.domains.skeleton import begun, skeleton, skeleton_text
from nbcfast.publishing.remarks import nulls_as_values
from nbcfast.publishing.report import Written
from nbcfast.reports.domain_summary import of_proposals
from nbcfast.reports.summary import Decision

TO_DECIDE = (
    "Values and ranges come from the rows of {file}: whoever publishes with them as they are says which "
    "values occur. So the columns that have any stand in the list from_rows of {out}: `publish` and the "
    "certificate of a canonical release say that their values were not declared.",
    "Check each column of that list against the code book: add values that nobody has this time, take away "
    "those that name people, and set edges that mean something. Then remove its name from from_rows: from "
    "then on its values count as declared.",
    "Fewer and coarser values mostly tell less, and are often no worse: leave out what the class does not "
    "depend on.",
)


@verbs.command(
    name="domain",
    short_help="Write a file of declared values to begin with.",
    example="nbcfast domain patients.csv --class diagnosis --out domain.json",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--class", "class_name", metavar="NAME", help="The column to predict: it keeps its values.")
@reads_file
@click.option(
    "--out",
    metavar="FILE",
    default="domain.json",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The file to write.",
)
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def domain_verb(
    file: Path, class_name: str | None, reading: Reading, out: Path, overwrite: bool, as_json: bool
) -> int:
    """Write a domain file for FILE (CSV or Parquet) to begin with: what --domain of `publish` takes.

    Every column stands in it: with its values where these are few, in bins with round edges where it holds
    numbers or dates, or left out, as what names people. What is written comes from the private table, and is
    for whoever knows the columns to check: until their names are removed from its list from_rows, values are
    published as not declared.
    """
    check_targets([file], overwrite, files={"--out": out})
    table = reading.rows(file, None)
    proposals = skeleton(table, class_name)
    # A class of too many values to be listed is not left out: its values come from the rows.
    listed = [one for one in proposals if one.name != class_name or not one.option.out]
    text = skeleton_text(listed)
    # What is written is what --domain takes, for these rows.
    declared(json.loads(text), OPTIONS).applied(table)
    with written(out, overwrite=overwrite) as stream:
        stream.write(text.encode("utf-8"))
    note([out])
    remarks = [line.format(file=printable(str(file)), out=printable(str(out))) for line in TO_DECIDE]
    remarks += nulls_as_values(table, words=OPTIONS, given=reading.nulls)
    about = f"{printable(str(file))} -> {printable(str(out))}"
    other = begun_of_one_column(file, reading, proposals)
    many = coarser_class(
        proposals, class_name, f'In {printable(str(out))} that is {{"groups": {{SET: [VALUE, ..], ..}}}}.'
    )
    decisions = [*other, *many, *map(Decision, remarks), *([] if many else publishing(class_name, out))]
    summary = of_proposals(proposals, about, decisions)
    tell(
        summary,
        lambda: {
            "file": str(file),
            "written": str(out),
            "columns": [
                {
                    "name": proposal.name,
                    "kind": proposal.kind,
                    "values": proposal.n_values,
                    "domain": proposal.option.entry,
                    "reason": proposal.reason,
                }
                for proposal in proposals
            ],
            "from_rows": list(begun(listed).from_rows),
            "warnings": [*(decision.question for decision in other), *remarks],
        },
        as_json=as_json,
        body=lambda: proposals_parts(proposals, class_name, "--json lists them all"),
        written=[Written.of(out)],
    )
    return 0


def publishing(class_name: str | None, out: Path) -> list[Decision]:
    """How the file is published with, once it was checked."""
    if class_name is None:
        return []
    more = ["--amplification", "4", "--domain", str(out), "--out", free("release")]
    command = asked(click.get_current_context(), "publish", only=(*READING, "class_name"), more=more)
    return [Decision("Publish with it.", (command,))]
