"""The verb `attack`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
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
from nbcfast.cli.against import Provenance, chosen_of, compared_with
from nbcfast.cli.asked_again import COARSER, asked, free, mended_by_leaving_out
from nbcfast.cli.attacked_models import attack_model, is_model, refuse_others
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.options import READING, reads_file, verbose, verbs
from nbcfast.cli.parsing import known_in, prior_in
from nbcfast.cli.printing import listing, pairs, readable, tell
from nbcfast.cli.reading import Reading, counted, expect_file, expect_rows
from nbcfast.cli.reports_asked import with_report_alone
from nbcfast.domains import Declared
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.findings import CONVENTIONS, Adversaries
from nbcfast.publishing.inputs import others_of, read_like
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.reports.attack_summary import of_adversaries, undone_text
from nbcfast.reports.judged_pages import attack_page
from nbcfast.reports.summary import Decision
from nbcfast.table.values import Value, plain
from nbcfast.verification.load import load

MOST_VALUES = 1 << 16  # of an attribute
Posteriors = Mapping[Literal["row", "worlds"], attack.Posterior]


# Long by its options, each of which is an argument.
@verbs.command(
    name="attack",
    short_help="Attack a release, a table or a model, as adversaries would.",
    example="nbcfast attack release --given age=18-29",
)
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
    "--attacker",
    "convention",
    cls=Renamed,
    former=("--convention",),
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
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --against: the menu that the domain of a release was chosen from, whose sets hold the rows.",
)
@click.option(
    "--holdout",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --against: rows of the same population, to see whether members can be told from them.",
)
@click.option(
    "--smooth",
    metavar="A",
    help="Of a MODEL.onnx: what was added to every count.  [default: 1 is tried, and some 500 more]",
)
@click.option(
    "--max-rows",
    metavar="N",
    type=int,
    help="Of a MODEL.onnx: its table has no more rows.  [default: the smallest table is taken]",
)
@with_report_alone
@verbose
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
    menu: Path | None,
    holdout: Path | None,
    smooth: str | None,
    max_rows: int | None,
    as_json: bool,
) -> int:
    """Attack a release, or a table or plain model as if it were published, as adversaries would.

    FILE_OR_RELEASE is a folder that `publish` wrote, or a table (CSV or Parquet, with --class): a private
    one, to see what its counts would give away, or a synthetic one. Prints the posterior for given values,
    the worst case over all values and sets of attributes, and what inversion makes of the counts. Where the
    answers of --against are not those of the release, that is said, as counts recovered mean nothing then.

    A plain model is an ONNX file of scikit-learn's CategoricalNB (MODEL.onnx): which counts of its table come
    back from its weights alone. A pickle is never loaded.

    Leaves with 1 if --breach finds a breach or does not decide, if columns name people and nothing was
    counted, or if counts come back from a model; with 3 if a model leaves its counts open; with 0 otherwise.
    """
    refuse_others(source)
    if is_model(source):
        return attack_model(source, smooth, max_rows, as_json)
    if prior is not None and breach is None:
        raise ValueError("--prior goes with --breach L1 L2")
    if convention is not None and breach is None:
        raise ValueError("--attacker goes with --breach L1 L2")
    if holdout is not None and against is None:
        raise ValueError("--holdout goes with --against FILE, the table whose rows are looked for")
    if menu is not None and against is None:
        raise ValueError("--menu goes with --against FILE, whose rows are put into the sets of the menu")
    attacked = attacked_in(source, class_name, columns, reading, declaring.declared)
    views = attacked.views
    declared = declaring.declared if menu is None else attacked.declared_by(menu, declaring.declared)
    known = known_in(given, views) if given else None
    private = Private() if against is None else private_in(against, holdout, attacked, reading, declared)
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

    provenance = private.provenance
    other = provenance is not None and provenance.answers_are_its is False
    tell(
        of_adversaries(
            adversaries,
            f"{printable(str(source))}, {attacked.rows_text}",
            [] if isinstance(attacked.published, Release) else publishing(),
            limits=attacked.limits,
            breach=crossing,
            another=provenance.text if provenance is not None and other else None,
            in_sets=provenance is None or provenance.in_sets,
            same=None if provenance is None or other else f"against {provenance.file}: {provenance.text}",
            same_was_checked=provenance is None or provenance.answers_are_its is not None,
        ),
        lambda: {
            **attacked.to_dict(),
            **({} if provenance is None else {"against": provenance._asdict()}),
            "posterior": None if known is None else posteriors_document(known, posteriors),
            **adversaries.to_dict(),
            "breach": None if crossing is None else breach_document(crossing),
        },
        lambda: [
            adversaries_grid(adversaries, membership=private.others is not None),
            pairs(details(adversaries)),
        ],
        as_json=as_json,
        body=lambda: [] if known is None else [posteriors_grid(known, views.classes, posteriors)],
        page=lambda summary: attack_page(
            adversaries, summary, compared=not other, beside=provenance is not None
        ),
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

    @property
    def limits(self) -> dict[str, Fraction]:
        """What the certificate says of odds, by how a reader averages."""
        if not isinstance(self.published, Release):
            return {}
        made = self.published.certificate
        averaged = {"worlds": made.amplification} if made.attacker == "worlds" else {}
        return {"row": made.limit, **averaged}

    @property
    def rows_text(self) -> str:
        """What is attacked, in numbers: the rows of a release are nobody's."""
        rows = readable(self.views.n_rows)
        of_release = isinstance(self.published, Release) and not self.published.certificate.identity
        return f"counts of {rows} artificial rows" if of_release else f"{rows} rows"

    def declared_by(self, menu: Path, declared: Declared | None) -> Declared | None:
        """What the menu of a release says of its sets; what was `declared` besides goes before."""
        if not isinstance(self.published, Release):
            raise ValueError("--menu is for a release, the domain of which was chosen from a menu")
        return declared or chosen_of(menu, self.published, self.class_name)

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
        with progress("loading"):
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
        if not provenance.in_sets:
            return Private(provenance=provenance)
    if holdout is not None:
        others = others_of(holdout, against, table, views, class_name, reading.caller, declared)
    return Private(table, truth, others, provenance)


def publishing() -> list[Decision]:
    """What makes of a table something that may leave."""
    more = ["--amplification", "4", "--out", free("release")]
    only = {"source", "class_name", "columns", *READING, *COARSER}
    command = asked(click.get_current_context(), "publish", only=only, more=more)
    return [
        Decision(
            "Do not hand out the table: publish a classifier of it, or look at another domain.", (command,)
        )
    ]


def posteriors_grid(known: dict[str, Value], classes: Sequence[Value], posteriors: Posteriors) -> Grid:
    """How probable each class is, for somebody who knows these values."""
    values = [f"{label(name)} = {label(value)}" for name, value in known.items()]
    grid = listing(f"given {', '.join(values)}", "one particular row", "average over worlds")
    for value in classes:
        grid.add_row(Text(label(value)), *(f"{float(posteriors[name][value]):.4%}" for name in CONVENTIONS))
    return grid


def details(adversaries: Adversaries) -> list[tuple[str, str]]:
    """Where the worst cases are, and what the inversion did."""
    rows = []
    for convention, name in zip(CONVENTIONS, ("worst for one row", "worst over worlds"), strict=True):
        worst = adversaries.worst[convention]
        first, second = worst.classes
        values = [f"{label(attribute)} = {label(value)}" for attribute, value in worst.known.items()]
        rows.append((name, f"{label(first)} over {label(second)}, given {', '.join(values) or 'nothing'}"))
    inversion = adversaries.inversion
    if inversion.attack is not None and inversion.k is not None:
        rows.append(("inversion", undone_text(inversion)))
    return rows


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
