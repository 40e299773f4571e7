"""The verb `attack`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import attack
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.adversaries import adversaries_grid
from nbcfast.cli.against import Provenance, compared_with
from nbcfast.cli.asked_again import mended_by_leaving_out
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.options import reads_file, verbs
from nbcfast.cli.parsing import known_in, prior_in
from nbcfast.cli.printing import listing, pairs, readable, show
from nbcfast.cli.reading import Reading, counted, expect_file, expect_rows
from nbcfast.domains import Declared
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.findings import CONVENTIONS, Adversaries
from nbcfast.publishing.inputs import others_of, read_like
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.table.values import Value, plain
from nbcfast.verification.load import load

MOST_VALUES = 1 << 16  # of an attribute
Posteriors = Mapping[Literal["row", "worlds"], attack.Posterior]


@verbs.command(name="attack")
@click.argument("source", metavar="FILE_OR_RELEASE", type=click.Path(path_type=Path))
@click.option("--class", "class_name", metavar="NAME", help="The class column of FILE.")
@click.option(
    "--columns",
    metavar="A,B,C",
    help="The attributes of FILE to use; all others are left out.  [default: all]",
)
@reads_file
@declares
@click.option(
    "--given",
    metavar="NAME=VALUE",
    multiple=True,
    help="What is known about somebody: print the posterior of each class; may be repeated.",
)
@click.option(
    "--breach",
    metavar="L1 L2",
    nargs=2,
    help="Say whether known values can move a class set across two levels.",
)
@click.option("--prior", metavar="A=P,B=Q", help="With --breach: what is believed before.  [default: equal]")
@click.option(
    "--convention",
    type=click.Choice(CONVENTIONS),
    help="With --breach: see `publish --attacker`.  [default: that of the release, or row]",
)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The private table: count how much of it the inversion recovers.",
)
@click.option(
    "--holdout",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --against: rows of the same population, to see whether members can be told from them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def attack_verb(
    source: Path,
    class_name: str | None,
    columns: str | None,
    reading: Reading,
    declaring: Declaring,
    given: tuple[str, ...],
    breach: tuple[str, str] | None,
    prior: str | None,
    convention: Literal["row", "worlds"] | None,
    against: Path | None,
    holdout: Path | None,
    as_json: bool,
) -> int:
    """Attack a release, or a table as if it were published, as adversaries would.

    FILE_OR_RELEASE is a folder that `publish` wrote, or a table (CSV or Parquet, with --class): a private
    one, to see what its counts would give away, or a synthetic one. Prints the posterior for given values,
    the worst case over all values and sets of attributes, and what inversion makes of the counts. Where the
    answers of --against are not those of the release, that is said, as counts recovered mean nothing then.

    Leaves with 1 if --breach finds a breach, and with 0 otherwise.
    """
    if prior is not None and breach is None:
        raise ValueError("--prior goes with --breach L1 L2")
    if convention is not None and breach is None:
        raise ValueError("--convention goes with --breach L1 L2")
    if holdout is not None and against is None:
        raise ValueError("--holdout goes with --against FILE, the table whose rows are looked for")
    attacked = attacked_in(source, class_name, columns, reading, declaring.declared)
    views = attacked.views
    known = known_in(given, views) if given else None
    private = (
        Private() if against is None else private_in(against, holdout, attacked, reading, declaring.declared)
    )
    posteriors = {name: attack.posterior(views, known, name) for name in CONVENTIONS if known is not None}
    adversaries = Adversaries.of(
        attacked.published,
        private.truth,
        private.table,
        private.others,
        attacked.class_name,
        stages=progress,
    )
    crossing = None
    if breach is not None:
        believed = None if prior is None else prior_in(prior, views)
        with progress("looking for breaches") as report:
            crossing = attack.breach(
                views, *breach, convention or attacked.convention, prior=believed, progress=report
            )

    if as_json:
        document = {
            **attacked.to_dict(),
            **({} if private.provenance is None else {"against": private.provenance._asdict()}),
            "posterior": None if known is None else posteriors_document(known, posteriors),
            **adversaries.to_dict(),
            "breach": None if crossing is None else breach_document(crossing),
        }
        print(json.dumps(document, indent=2))
    else:
        show(
            Text(f"{printable(str(source))}, {readable(views.n_rows)} rows", style="bold"),
            *warned_of(private.provenance),
            *([] if known is None else [posteriors_grid(known, views.classes, posteriors)]),
            adversaries_grid(adversaries, membership=private.others is not None),
            pairs(details(private.provenance, adversaries, crossing)),
        )
    return int(crossing is not None and crossing.breached is not False)


@dataclass(frozen=True)
class Attacked:
    """What is attacked: a release, or the counts of a table as if they were published."""

    source: Path
    published: Release | nbcfast.Viewset
    class_name: str | None
    convention: Literal["row", "worlds"]  # that a breach is looked for by, unless another is asked for

    @property
    def views(self) -> nbcfast.Viewset:
        return self.published.views if isinstance(self.published, Release) else self.published

    def to_dict(self) -> Document:
        return {
            "published": str(self.source),
            "class": self.class_name,
            "rows": exact(self.views.n_rows),
        }


def attacked_in(
    source: Path, class_name: str | None, columns: str | None, reading: Reading, declared: Declared | None
) -> Attacked:
    """The release in a folder, or the counts of a file."""
    if source.is_dir() or source.name == "certificate.json":
        if columns is not None:
            raise ValueError("--columns is for a FILE: a release has its attributes")
        release = load(source)
        if not isinstance(release, Release):
            one_by_one = ""
            if isinstance(release, StratifiedRelease):
                one_by_one = "; in Python nbcfast.attack takes each of its .strata"
            raise ValueError(
                f"{source}: expected a release of `publish`, got a {type(release).__name__}{one_by_one}"
            )
        name = release.class_name if class_name is None else class_name
        return Attacked(source, release, name, release.certificate.attacker)
    expect_file(source)
    if class_name is None:
        raise ValueError("--class must name the class column of a table, got none")
    with mended_by_leaving_out(click.get_current_context()):
        _, views = counted(source, class_name, columns, reading, MOST_VALUES, declared)
    return Attacked(source, views, class_name, "row")


@dataclass(frozen=True)
class Private:
    """The table of --against, its counts, the rows of --holdout, and whether a release was made of it."""

    table: nbcfast.Table | None = None
    truth: nbcfast.Viewset | None = None
    others: nbcfast.Table | None = None
    provenance: Provenance | None = None


def private_in(
    against: Path,
    holdout: Path | None,
    attacked: Attacked,
    reading: Reading,
    declared: Declared | None,
) -> Private:
    """The private table in a file, read as what is attacked was counted."""
    class_name, views = attacked.class_name, attacked.views
    if class_name is None:
        raise ValueError("the release does not name its class column: give --class NAME")
    table = expect_rows(against, read_like(views, against, "table", class_name, reading.caller, declared))
    truth = nbcfast.count(table, class_name, list(views.attributes))
    provenance = others = None
    if isinstance(attacked.published, Release):
        provenance = compared_with(
            attacked.published, attacked.source, against, class_name, reading, declared
        )
    if holdout is not None:
        others = others_of(holdout, against, table, views, class_name, reading.caller, declared)
    return Private(table, truth, others, provenance)


def warned_of(provenance: Provenance | None) -> list[Text]:
    """That what is said of a private table means nothing, where it is another than that of the release."""
    if provenance is None or provenance.answers_are_its is not False:
        return []
    return [Text(printable(provenance.text), style="bold")]


def posteriors_grid(known: dict[str, Value], classes: Sequence[Value], posteriors: Posteriors) -> Grid:
    """How probable each class is, for somebody who knows these values."""
    values = [f"{label(name)} = {label(value)}" for name, value in known.items()]
    grid = listing(f"given {', '.join(values)}", "one particular row", "average over worlds")
    for value in classes:
        grid.add_row(Text(label(value)), *(f"{float(posteriors[name][value]):.4%}" for name in CONVENTIONS))
    return grid


def details(
    provenance: Provenance | None, adversaries: Adversaries, crossing: attack.Breach | None
) -> list[tuple[str, str]]:
    """Where the worst cases are, what the inversion did, and whether there is a breach."""
    rows = []
    if provenance is not None and provenance.answers_are_its is not False:
        rows.append((f"against {printable(provenance.file)}", printable(provenance.text)))
    for convention, name in zip(CONVENTIONS, ("worst for one row", "worst over worlds"), strict=True):
        worst = adversaries.worst[convention]
        first, second = worst.classes
        values = [f"{label(attribute)} = {label(value)}" for attribute, value in worst.known.items()]
        rows.append((name, f"{label(first)} over {label(second)}, given {', '.join(values) or 'nothing'}"))
    inversion = adversaries.inversion
    if inversion.attack is not None and inversion.k is not None:
        rows.append(("inversion", undone_text(inversion)))
    rows.extend(("not tried", text) for text in inversion.untried)
    if crossing is not None:
        rows.append(("breach", printable(crossing.text)))
    return rows


def undone_text(inversion: attack.Inversion) -> str:
    """What the inversion took the published counts for, and how sure it is of that."""
    if inversion.attack == "identity":
        return "nothing had to be undone: the certificate says that these are the private counts"
    return (
        f"takes what was published for roots of private counts, with k = {inversion.k:.6g}; its confidence "
        f"in that k is {inversion.confidence:.4g}, which does not say how many counts are right"
    )


def posteriors_document(known: dict[str, Value], posteriors: Posteriors) -> Document:
    """How probable each class is, for JSON."""
    return {
        "known": {name: plain(value) for name, value in known.items()},
        **{
            convention: [{"class": plain(value), "probability": float(p)} for value, p in posterior.items()]
            for convention, posterior in posteriors.items()
        },
    }


def breach_document(crossing: attack.Breach) -> Document:
    """The breach, for JSON."""
    return {
        **crossing.to_dict(),
        "classes": [plain(value) for value in crossing.classes],
        "known": {name: plain(value) for name, value in crossing.known.items()},
    }
