"""The verbs `attack` and `closeness`, and what `publish` says about adversaries; on the public interface."""

import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import attack, closeness
from nbcfast._core.errors import Infeasible
from nbcfast._wire.messages import printable
from nbcfast._wire.release_words import undeclared_text
from nbcfast.attack.definetti import DeFinetti, TooManyGuessesError, definetti
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.against import compared_with
from nbcfast.cli.bars import progress
from nbcfast.cli.options import reads_file, reads_table, verbs
from nbcfast.cli.parsing import known_in, prior_in, rows_of
from nbcfast.cli.printing import exact, label, listing, pairs, readable, same_line, show
from nbcfast.cli.reading import Reading, counted, expect_file, expect_rows
from nbcfast.cli.remarks import all_once, more, singular, too_long
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.published.release import Release
from nbcfast.table.values import plain
from nbcfast.verification.load import load
from nbcfast.views.quality import evaluate

CONVENTIONS: tuple[Literal["row", "worlds"], ...] = ("row", "worlds")
PRIVATE = (
    "Not for publication: every r but that of what was made comes from the private table, and so does what "
    "these lines say of its rows and values."
)
EVALUATED = 2_000  # posteriors behind the worst case in a report


@dataclass(frozen=True)
class Adversaries:
    """What they found in something that was, or may be, published."""

    worst: dict[str, attack.Worst]
    inversion: attack.Inversion
    membership: attack.Membership | None
    of_table: bool = False  # whether these are counts of a table, and not what was made of them

    @classmethod
    def of(
        cls,
        published: Release | nbcfast.Viewset,
        truth: nbcfast.Viewset | None,
        table: nbcfast.Table | None = None,
        holdout: nbcfast.Table | None = None,
        class_name: str | None = None,
    ) -> "Adversaries":
        with progress("attacking") as report:
            worst: dict[str, attack.Worst] = {
                convention: attack.worst(published, convention, evaluations=EVALUATED, progress=report)
                for convention in CONVENTIONS
            }
        with progress("inverting") as report:
            inversion = attack.invert(published, truth=truth, progress=report)
        found = None
        if holdout is not None and table is not None:
            with progress("telling members") as report:
                found = attack.membership(published, table, holdout, class_name, progress=report)
        return cls(worst, inversion, found, isinstance(published, nbcfast.Viewset))

    @property
    def inversion_text(self) -> str:
        found = self.inversion
        if self.of_table and found.attack is None:
            return "nothing to undo; those of a private table leave as they are"
        how = "no powers of counts found" if found.attack is None else f"{found.attack} attack"
        if not found.tried:
            how = "not tried: too few different counts"
        if found.untried:
            how += "; not all was tried"
        if found.recovered is not None:
            return f"{found.recovered:,} of {found.positive:,} ({how})" if found.tried else how
        if found.attack is None:
            return how
        return f"{found.claimed:,} counts claimed by the {how}"

    @property
    def membership_text(self) -> str:
        return "not measured" if self.membership is None else self.membership.text

    def grid(self, membership: bool = True) -> Grid:
        grid = listing("adversary", "")
        for convention, name in (("row", "one particular row"), ("worlds", "average over worlds")):
            grid.add_row(f"largest ratio of posteriors, {name}", worst_text(self.worst[convention]))
        grid.add_row("private counts by inversion, value x class", self.inversion_text)
        if membership:
            grid.add_row("membership in the private table, AUC", self.membership_text)
        return grid

    @property
    def untried(self) -> list[str]:
        """What the inversion left out, for people."""
        return [f"Inversion is capped by counted work: {text}." for text in self.inversion.untried]

    def to_dict(self) -> dict[str, object]:
        inversion = self.inversion.to_dict()
        for name in ("counts", "certainty"):  # long, and to be had in Python
            del inversion[name]
        return {
            "worst": {convention: found_worst(worst) for convention, worst in self.worst.items()},
            "inversion": {**inversion, "evidence": plain_float(self.inversion.evidence)},
            "membership": None if self.membership is None else self.membership.to_dict(),
        }


def undone_text(found: attack.Inversion) -> str:
    """What the inversion took the published counts for, and how sure it is of that."""
    if found.attack == "identity":
        return "nothing had to be undone: the certificate says that these are the private counts"
    return (
        f"takes what was published for roots of private counts, with k = {found.k:.6g}; its confidence in "
        f"that k is {found.confidence:.4g}, which does not say how many counts are right"
    )


def worst_text(worst: attack.Worst) -> str:
    if worst.certified:
        return worst.text
    bound = math.exp(worst.log_bound) if worst.log_bound < 700 else math.inf
    return f"{worst.text}, and nowhere above {bound:.6g}"


def found_worst(worst: attack.Worst) -> dict[str, object]:
    """The worst case for JSON."""
    found = worst.to_dict()
    del found["posterior"]
    found["known"] = {name: plain(value) for name, value in worst.known.items()}
    found["classes"] = [plain(value) for value in worst.classes]
    return found


def plain_float(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number


@verbs.command(name="attack")
@click.argument("source", metavar="FILE_OR_RELEASE", type=click.Path(path_type=Path))
@click.option("--class", "class_name", metavar="NAME", help="The class column of FILE.")
@click.option(
    "--columns",
    metavar="A,B,C",
    help="The attributes of FILE to use; all others are left out.  [default: all]",
)
@reads_file
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
    published: Release | nbcfast.Viewset
    release = None
    if source.is_dir() or source.name == "certificate.json":
        if columns is not None:
            raise ValueError("--columns is for a FILE: a release has its attributes")
        loaded = load(source)
        if not isinstance(loaded, Release):
            raise ValueError(f"{source}: expected a release of `publish`, got a {type(loaded).__name__}")
        release = loaded
        published, views = release, release.views
        class_name = release.class_name if class_name is None else class_name
        default: Literal["row", "worlds"] = release.certificate.attacker
    else:
        expect_file(source)
        if class_name is None:
            raise ValueError("--class must name the class column of a table, got none")
        _, views = counted(source, class_name, columns, reading, 1 << 16)
        published, default = views, "row"
    known = known_in(given, views) if given else None
    levels = convention or default

    table = truth = others = compared = None
    if against is not None:
        if class_name is None:
            raise ValueError("the release does not name its class column: give --class NAME")
        table = expect_rows(against, reading.like_counted(against, views, class_name))
        truth = nbcfast.count(table, class_name, list(views.attributes))
        if release is not None:
            compared = compared_with(release, source, against, class_name, reading)
        if holdout is not None:
            others = reading.others(holdout, against, table, views, class_name)
    posteriors = {} if known is None else {c: attack.posterior(views, known, c) for c in CONVENTIONS}
    found = Adversaries.of(published, truth, table, others, class_name)
    crossing = None
    if breach is not None:
        believed = None if prior is None else prior_in(prior, views)
        with progress("looking for breaches") as report:
            crossing = attack.breach(views, *breach, levels, prior=believed, progress=report)
    code = int(crossing is not None and crossing.breached is not False)

    if as_json:
        print(
            json.dumps(
                {
                    "published": str(source),
                    "class": class_name,
                    "rows": exact(views.n_rows),
                    **({} if compared is None else {"against": compared._asdict()}),
                    "posterior": None if known is None else _posterior_found(known, posteriors),
                    **found.to_dict(),
                    "breach": None if crossing is None else _breach_found(crossing),
                },
                indent=2,
            )
        )
        return code

    title = f"{printable(str(source))}, {readable(views.n_rows)} rows"
    parts: list[Text | Grid] = [Text(title, style="bold")]
    if compared is not None and compared.answers_are_its is False:
        parts.append(Text(printable(compared.text), style="bold"))
    if known is not None:
        values = [f"{label(name)} = {label(value)}" for name, value in known.items()]
        grid = listing(f"given {', '.join(values)}", "one particular row", "average over worlds")
        for value in views.classes:
            grid.add_row(Text(label(value)), *(f"{float(posteriors[c][value]):.4%}" for c in CONVENTIONS))
        parts.append(grid)
    parts.append(found.grid(membership=others is not None))
    rows = []
    if compared is not None and compared.answers_are_its is not False:
        rows.append((f"against {printable(str(against))}", printable(compared.text)))
    for c, name in (("row", "worst for one row"), ("worlds", "worst over worlds")):
        first, second = found.worst[c].classes
        values = [f"{label(name)} = {label(value)}" for name, value in found.worst[c].known.items()]
        rows.append((name, f"{label(first)} over {label(second)}, given {', '.join(values) or 'nothing'}"))
    if found.inversion.attack is not None and found.inversion.k is not None:
        rows.append(("inversion", undone_text(found.inversion)))
    rows.extend(("not tried", text) for text in found.inversion.untried)
    if crossing is not None:
        rows.append(("breach", printable(crossing.text)))
    show(*parts, pairs(rows))
    return code


def _posterior_found(known: dict[str, Any], posteriors: dict[Any, attack.Posterior]) -> dict[str, object]:
    return {
        "known": {name: plain(value) for name, value in known.items()},
        **{
            convention: [{"class": plain(value), "probability": float(p)} for value, p in posterior.items()]
            for convention, posterior in posteriors.items()
        },
    }


def _breach_found(crossing: attack.Breach) -> dict[str, object]:
    found = crossing.to_dict()
    found["classes"] = [plain(value) for value in crossing.classes]
    found["known"] = {name: plain(value) for name, value in crossing.known.items()}
    return found


@verbs.command(name="closeness")
@reads_table
@click.option("--prior", metavar="A=P,B=Q", required=True, help="What is believed of each class, 1 in all.")
@click.option("--r", "demanded", metavar="R", help="Make the classifier r-close, if that can be.")
@click.option(
    "--attacker",
    type=click.Choice(CONVENTIONS),
    default="row",
    show_default=True,
    help="See `publish`.",
)
@click.option(
    "--preserve",
    type=click.Choice(["order", "label"]),
    default="order",
    show_default=True,
    help="What stays as it is at every tuple: the order of all classes, or the best class.",
)
@click.option(
    "--rows",
    metavar="smallest|proven|R",
    default="smallest",
    show_default=True,
    help="With --r: how many rows the published counts stand for.",
)
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="With --r: the folder to write.")
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def closeness_verb(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    prior: str,
    demanded: str | None,
    attacker: Literal["row", "worlds"],
    preserve: Literal["order", "label"],
    rows: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Say how close to a prior the posteriors of FILE are, how close they can be, and make them so.

    Prints the r of the counts as they are, what no equivalent classifier can stay below, and the smallest r
    that EST reaches. With --r the classifier is made, and with --out it is written.

    All of these come from the private table and are not meant for publication.

    Leaves with 1 if --r cannot be had.
    """
    if demanded is None and (out is not None or rows != "smallest"):
        raise ValueError("--out and --rows go with --r R")
    check_targets([file], overwrite, folder=out)
    wanted = rows_of(rows, False)
    table, views = counted(file, class_name, columns, reading, max_values)
    believed = prior_in(prior, views)
    before = closeness.achieved(views, believed)
    bound = closeness.lower_bound(views, believed, attacker=attacker)
    with progress("optimising") as report:
        best = closeness.best(views, believed, preserve=preserve, progress=report)
    made: Release | None = None
    why = None
    if demanded is not None:
        try:
            with progress("transforming") as report:
                made = closeness.est(
                    views,
                    believed,
                    demanded,
                    preserve=preserve,
                    rows=wanted,
                    attacker=attacker,
                    class_name=class_name,
                    progress=report,
                )
            made = replace(made, class_name=class_name)
        except Infeasible as error:
            why = " ".join(error.why.split())
    after = None if made is None else closeness.achieved(made.views, believed)
    code = int(why is not None)
    said = all_once(file, reading.weights, reading.delimiter, class_name, columns)
    if made is not None:
        from_rows = undeclared(views)
        said = [
            *made.certificate.warnings,
            *made.remarks,
            *said,
            *([undeclared_text(from_rows)] if from_rows else []),
            *too_long(table, file, reading.texts),
            *singular(views),
            *more(views, made, evaluate(made.views, table, class_name).log_loss),
        ]
    if made is not None and out is not None:
        said.append(PRIVATE)
        made.save(out, overwrite=overwrite)
        note([out / "certificate.json"])
        load(out)  # reads and checks what was written
    if as_json:
        found: dict[str, object] = {
            "file": str(file),
            "class": class_name,
            "prior": [{"class": plain(value), "probability": number} for value, number in believed.items()],
            "before": _reached(before),
            "after": None if after is None else _reached(after),
            "lower_bound": {
                "definition5": str(bound.definition5),
                "statement11": str(bound.statement11),
                "strict": bound.strict,
            },
            "best": {"r": float(best.r), "log_r": best.log_r, "attained": best.attained, "exact": best.exact},
            "feasible": None if demanded is None else made is not None,
            "why": why,
            "rows": None if made is None else exact(made.views.n_rows),
            "identical": None if made is None else made.certificate.equal,
            "warnings": said,
            "files": [] if made is None or out is None else [str(out / "certificate.json")],
        }
        print(json.dumps(found, indent=2))
        return code

    numbers = listing("r", "Definition 5", "Statement 11")
    numbers.add_row("of the counts as they are", before.definition5.text, before.statement11.text)
    sign = "above" if bound.strict else "at least"
    least = [f"{float(each):.6g}" for each in (bound.definition5, bound.statement11)]
    numbers.add_row(f"of any equivalent classifier, {sign}", *least)
    attained = "" if best.attained else ", not attained"
    numbers.add_row("the smallest that EST comes to", "", f"{best.text}{attained}")
    if attacker == "worlds":
        numbers.add_row("    as --r for attacker 'worlds'", "", f"{2 * float(best.r):.6g}{attained}")
    if after is not None:
        numbers.add_row("of what was made", after.definition5.text, after.statement11.text)
    parts: list[Text | Grid] = [Text(f"{printable(str(file))}, {label(class_name)}", style="bold"), numbers]
    if made is not None:
        lines = [("classifier", same_line(made)), ("rows", readable(made.views.n_rows))]
        if out is not None:
            lines.append(("written", printable(str(out / "certificate.json"))))
        parts.append(pairs(lines))
    if said:
        parts.append(Text("\n".join(f"- {printable(text)}" for text in said)))
    show(*parts)
    if why is not None:
        print(f"nbcfast: infeasible: {printable(why)}", file=sys.stderr)
    return code


def _reached(achieved: closeness.Achieved) -> dict[str, object]:
    """How close, for JSON."""
    result: dict[str, object] = {}
    for name, reached in (("definition5", achieved.definition5), ("statement11", achieved.statement11)):
        result[name] = {
            "r": None if reached.infinite or reached.log > 700 else math.exp(reached.log),
            "log_r": plain_float(reached.log),
            "exact": reached.exact,
            "known": {attribute: plain(value) for attribute, value in reached.tuple.items()},
            "classes": [plain(value) for value in reached.classes],
        }
    return result


def guessed(
    table: nbcfast.Table, groups: Any, sensitive: str, holdout: nbcfast.Table | None
) -> DeFinetti | str:
    """The deFinetti attack on groups of a private table, or why there is none."""
    with progress("attacking") as report:
        try:
            return definetti(table, groups, sensitive, holdout=holdout, progress=report)
        except TooManyGuessesError as error:
            return f"not measured: {error}"


def guesses(found: DeFinetti | str | None) -> object:
    """For JSON."""
    return found.to_dict() if isinstance(found, DeFinetti) else found


def guess_rows(found: DeFinetti | str, what: str = "deFinetti attack") -> list[tuple[str, str]]:
    """What the attack found, for people."""
    if isinstance(found, str):
        return [(what, found)]
    rows = [
        (what, f"guesses {found.accuracy:.2%} of the values"),
        ("    from the groups alone", f"{found.baseline:.2%}"),
        ("    worst confidence", f"{found.worst:.2%}"),
    ]
    if found.held_out is not None and found.gain is not None:
        text = f"{found.held_out:.2%}, so being in FILE costs {found.gain:+.2%}"
        rows.append(("    on held-out people", text))
    return rows
