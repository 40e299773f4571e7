"""The verb `init`: a policy to begin with."""

import json
import os
import tomllib
from pathlib import Path

import click

from nbcfast._core.files import written
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import MENU, OF_THE_TABLE, asked, free, looked_through
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import READING, reads_file, verbs
from nbcfast.cli.printing import tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.seen_screens import begun_of_one_column, coarser_class, proposals_parts
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.domains import Menu
from nbcfast.domains.skeleton import skeleton
from nbcfast.policies import Policy, first_policy, policy_schema
from nbcfast.policies.begun_policy import toml_key
from nbcfast.publishing.remarks import nulls_as_values
from nbcfast.publishing.report import Written
from nbcfast.reports.domain_summary import of_menu_policy, of_proposals
from nbcfast.reports.summary import Decision
from nbcfast.table.table import Table

TO_DECIDE = (
    "Values and ranges come from the rows of {file}, and stand in the list `undeclared` of {out}: check each "
    "against the code book, take its name out of the list, and lower undeclared_columns.",
    "Columns that are left out are so because they seem to name people, or say nothing: whoever knows them "
    "decides.",
)
PUBLISH = "Publish under it: its limits are the usual ones of `publish`, and what tells too much is refused."
BY_MENU = (
    "Let a menu say what each column may be, and the best domain be found: so many fine values as those of "
    "the rows seldom keep the limits."
)


def print_schema(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """The JSON Schema, whatever else is asked."""
    if asked and not context.resilient_parsing:
        print(json.dumps(policy_schema(), indent=2))
        context.exit()


@verbs.command(
    name="init",
    short_help="Write a first policy for a table, with comments.",
    example="nbcfast init patients.csv --class diagnosis",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--class", "class_name", metavar="NAME", required=True, help="The column to predict.")
@reads_file
@click.option(
    "--out",
    metavar="FILE",
    default="nbcfast.toml",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The file to write.",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The menu that domains are to be chosen from, as of `publish --menu`: named in place of [domain].",
)
@REPLACES
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_schema,
    help="Print the JSON Schema of such files, for editors, and leave.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def init_verb(
    file: Path,
    class_name: str,
    reading: Reading,
    out: Path,
    menu: Path | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Write a first policy for FILE (CSV or Parquet): what --policy of `publish` takes, with comments.

    It has the class, a limit, values or bins for every column, those left out that seem to name people, and
    the usual limits, with a comment on each. What comes from the rows is marked so, and is for whoever knows
    the columns to check: until then it is published as not declared. With --menu it names that menu in place
    of values, and the domain is chosen from it whenever something is published.
    """
    check_targets([file, menu], overwrite, files={"--out": out})
    table = reading.rows(file, None)
    if menu is not None:
        offered = Menu.read(menu, class_name, OPTIONS)
        return tell_with_menu(offered, menu, table, out, overwrite, as_json)
    proposals = skeleton(table, class_name)
    text = first_policy(proposals, class_name)
    # What is written is what --policy takes, for these rows.
    policy = Policy.of(tomllib.loads(text))
    if policy.domains is not None:
        policy.domains.applied(table)
    with written(out, overwrite=overwrite) as stream:
        stream.write(text.encode("utf-8"))
    note([out])
    remarks = [line.format(file=printable(str(file)), out=printable(str(out))) for line in TO_DECIDE]
    remarks += nulls_as_values(table, words=OPTIONS, given=reading.nulls)
    other = begun_of_one_column(file, reading, proposals)
    context = click.get_current_context()
    publishing = publish_under(context, out)
    key = printable(toml_key(class_name))
    how = f"In [domain] of {printable(str(out))} that is {key} = {{ groups = {{ SET = [VALUE, ..] }} }}."
    many = coarser_class(proposals, class_name, how)
    begun = free(MENU)
    given = {str(param.name) for param in verbs.commands["advise"].params} & OF_THE_TABLE
    by_menu = (
        asked(context, "advise", only=given, more=["--write-menu", begun]),
        looked_through(begun),
        asked(context, without={"overwrite"}, more=["--menu", begun, "--overwrite"]),
        publishing,
    )
    ways = [Decision(BY_MENU, by_menu), Decision(PUBLISH, (publishing,))]
    tell(
        of_proposals(
            proposals,
            f"{printable(str(file))} -> {printable(str(out))}",
            [*other, *many, *map(Decision, remarks), *([] if many else ways)],
            "a policy",
        ),
        lambda: {
            "file": str(file),
            "written": str(out),
            "policy": {"sha256": policy.sha256, **policy.document},
            "warnings": [*(decision.question for decision in (*other, *many)), *remarks],
        },
        as_json=as_json,
        body=lambda: proposals_parts(proposals, class_name, f"{printable(str(out))} has them all"),
        written=[Written.of(out)],
    )
    return 0


def publish_under(context: click.Context, out: Path) -> str:
    """The command that publishes under what was written."""
    return asked(context, "publish", only=READING, more=["--policy", str(out), "--out", free("release")])


def tell_with_menu(menu: Menu, file: Path, table: Table, out: Path, overwrite: bool, as_json: bool) -> int:
    """Write a policy that names a menu, and say so; the exit code."""
    context = click.get_current_context()
    class_name = str(menu.class_name)
    for name in (*menu.attributes, class_name):
        table.column(name)  # where it is missing, that is said
    from_rows = len(menu.undeclared) + (menu.class_option is None)
    place = Path(os.path.relpath(file, out.parent)).as_posix()
    text = first_policy([], class_name, menu=(place, from_rows))
    # What is written is what --policy takes; here the path is from this folder.
    policy = Policy.of(tomllib.loads(first_policy([], class_name, menu=(str(file), from_rows))))
    with written(out, overwrite=overwrite) as stream:
        stream.write(text.encode("utf-8"))
    note([out])
    check = [Decision(f"Fix the menu: {looked_through(str(file))}.")] if menu.undeclared else []
    source = context.params["file"]
    tell(
        of_menu_policy(
            menu,
            f"{printable(str(source))} -> {printable(str(out))}",
            [*check, Decision(PUBLISH, (publish_under(context, out),))],
        ),
        lambda: {
            "file": str(source),
            "written": str(out),
            "policy": {"sha256": policy.sha256, **policy.document},
            "warnings": [one.question for one in check],
        },
        as_json=as_json,
        written=[Written.of(out)],
    )
    return 0
