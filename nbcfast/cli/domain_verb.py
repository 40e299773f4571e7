"""The verb `domain`: a file of declared values to begin with."""

import json
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.files import written
from nbcfast._wire.messages import printable
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import reads_file, verbs
from nbcfast.cli.printing import listing, show
from nbcfast.cli.reading import Reading
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.domains.declarations import declared
from nbcfast.domains.skeleton import Proposal, begun, skeleton, skeleton_text
from nbcfast.publishing.words import label

MOST_LISTED = 1_000  # columns of which a line is printed
TO_DECIDE = (
    "Values and ranges come from the rows of {file}: whoever publishes with them as they are says which "
    "values occur. So the columns that have any stand in the list from_rows of {out}: `publish` and the "
    "certificate of a canonical release say that their values were not declared.",
    "Check each column of that list against the code book: add values that nobody has this time, take away "
    "those that name people, and set edges that mean something. Then remove its name from from_rows: from "
    "then on its values count as declared.",
    "Fewer and coarser values are safer, and often no worse: leave out what the class does not depend on.",
)


@verbs.command(name="domain")
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
    text = skeleton_text(proposals)
    # What is written is what --domain takes, for these rows.
    declared(json.loads(text), OPTIONS).applied(table)
    with written(out, overwrite=overwrite) as stream:
        stream.write(text.encode("utf-8"))
    note([out])
    remarks = [line.format(file=printable(str(file)), out=printable(str(out))) for line in TO_DECIDE]
    if as_json:
        document = {
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
            "from_rows": list(begun(proposals).from_rows),
            "warnings": remarks,
        }
        print(json.dumps(document, indent=2))
    else:
        show_proposals(file, out, proposals, remarks, class_name)
    return 0


def show_proposals(
    file: Path, out: Path, proposals: list[Proposal], remarks: list[str], class_name: str | None
) -> None:
    """What was written of each column, and what there is to decide."""
    grid = listing("column", "kind", "values", "written")
    grid.add_column("why", overflow="fold")
    for proposal in proposals[:MOST_LISTED]:
        reason = f"the class; {proposal.reason}" if proposal.name == class_name else proposal.reason
        grid.add_row(
            Text(label(proposal.name)), proposal.kind, f"{proposal.n_values:,}", proposal.text, Text(reason)
        )
    parts: list[Text | Grid] = [Text(f"{printable(str(file))} -> {printable(str(out))}", style="bold"), grid]
    if len(proposals) > MOST_LISTED:
        parts.append(Text(f"{len(proposals) - MOST_LISTED:,} more columns: --json lists them all"))
    show(*parts, Text("\n".join(f"- {remark}" for remark in remarks)))
