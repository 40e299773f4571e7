"""The verbs `disguise`, `estimate` and `response plan`; on the public interface."""

import json
import math
import os
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import response
from nbcfast._wire.messages import printable
from nbcfast._wire.regular_files import CUTS, TABLE
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import Verb
from nbcfast.cli.options import Whole, reads_file, verbs
from nbcfast.cli.parsing import groups_in, names_in
from nbcfast.cli.printing import label, listing, pairs, readable, show
from nbcfast.cli.reading import Reading, expect_file, expect_rows
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.published.document import own_file, published_copy
from nbcfast.response import Cut, KaryScheme, Scheme
from nbcfast.response.wire import expect_savable
from nbcfast.table.values import plain
from nbcfast.verification.load import load

MOST_SHOWN = 12  # values of an attribute in the table of estimates


def thetas_in(text: str) -> str | list[str]:
    """One theta, or one a group with commas between."""
    numbers = text.split(",")
    return text if len(numbers) == 1 else [number.strip(" ") for number in numbers]


def scheme_in(theta: str, groups: str, each: bool) -> Scheme:
    return Scheme(thetas_in(theta), groups_in(groups, each))


def like_scheme(
    reading: Reading, file: Path, scheme: Scheme | KaryScheme | None, names: Sequence[str] | None = None
) -> Reading:
    """How a file of answers is read: its columns (of these names) are text where they are in the scheme."""
    if scheme is None:
        return reading
    domains = {
        name: domain.values for name, domain in scheme.domains.items() if names is None or name in names
    }
    return reading.like(file, domains)


def privacy_grid(scheme: Scheme | KaryScheme) -> Grid:
    grid = listing("columns under one coin", "theta", "epsilon")
    for group, hidden in zip(scheme.groups, scheme.privacy().groups, strict=True):
        epsilon = f"{hidden.epsilon:.4f}" if hidden.is_ldp else "unbounded"
        names = ", ".join(label(name) for name in group.columns)
        grid.add_row(Text(names), decimal_text(group.theta), epsilon)
    return grid


def privacy_lines(scheme: Scheme | KaryScheme) -> list[tuple[str, str]]:
    """In words, what the numbers do not say."""
    lines = [
        (", ".join(label(name) for name in hidden.columns), hidden.text)
        for hidden in scheme.privacy().groups
        if not hidden.is_ldp
    ]
    whole = scheme.privacy()
    text = f"epsilon = {whole.epsilon:.4f}" if whole.is_ldp else "not epsilon-LDP for any epsilon"
    return [*lines, ("all together", text)]


def exposed_text(scheme: Scheme | KaryScheme) -> str:
    """That a scheme hides nothing of some columns."""
    return f"the scheme hides nothing of {', '.join(label(name) for name in scheme.exposed)}"


def privacy_found(scheme: Scheme | KaryScheme) -> dict[str, Any]:
    """For JSON, which has no infinity."""
    found = scheme.privacy().to_dict()
    for part in (found, *found["groups"]):
        if math.isinf(part["epsilon"]):
            part["epsilon"] = None
    return found


@verbs.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--theta", metavar="P", help="The probability of the truth: 0.8 or 4/5; or one a group, with commas."
)
@click.option(
    "--groups",
    metavar="A,B;C",
    help="Columns under one coin, with commas between; groups with semicolons between.",
)
@click.option("--each", is_flag=True, help="A coin for each column of --groups, which makes it epsilon-LDP.")
@click.option(
    "--k-ary", "kary", is_flag=True, help="Columns of any number of values: a lie is another of them."
)
@click.option(
    "--lie",
    type=click.Choice(("each", "tuple")),
    default="each",
    show_default=True,
    help="With --k-ary, what a lie of several columns is: another value of each, or another tuple.",
)
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A scheme.json, in place of --theta and --groups.",
)
@click.option(
    "--keep",
    metavar="A,B",
    help="Columns told as they are; what is named nowhere is left out.  [default: none]",
)
@click.option(
    "--binarise",
    type=click.Choice(("midrange", "median")),
    help="Make the columns of the groups two-valued first; where they are cut tells something of FILE.",
)
@click.option(
    "--cuts",
    "cuts_file",
    metavar="CUTS",
    type=click.Path(path_type=Path),
    help="The same at the points of a cuts.json, which --binarise wrote for other answers.",
)
@click.option(
    "--out", metavar="DIR", required=True, type=click.Path(path_type=Path), help="The folder to write."
)
@click.option("--seed", type=Whole(min=0), help="Simulate: coins from a seed hide nothing from who knows it.")
@reads_file
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def disguise(
    file: Path,
    theta: str | None,
    groups: str | None,
    each: bool,
    kary: bool,
    lie: Literal["each", "tuple"],
    scheme_file: Path | None,
    keep: str | None,
    binarise: Literal["midrange", "median"] | None,
    cuts_file: Path | None,
    out: Path,
    seed: int | None,
    reading: Reading,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Disguise the answers in FILE by randomised response, and say what that hides.

    Each record throws a coin for each group: with the probability theta its columns stay as they are, else
    all of them are reversed. Writes DIR/table.csv with its rows sorted, DIR/certificate.json for `verify` and
    DIR/scheme.json for `estimate` and for devices on which respondents disguise their own answers; with
    --binarise or --cuts also DIR/cuts.json, by which a classifier of the answers is used on new records.

    Leaves with 1, and writes nothing, if the scheme hides nothing of a column: at theta = 1, or 0 with two
    values.
    """
    if reading.weights is not None:
        raise ValueError("--weights: each record needs coins of its own, and a weight has none")
    check_targets([file, scheme_file, cuts_file], overwrite, folder=out)
    scheme: Scheme | KaryScheme | None = None
    if scheme_file is not None:
        if theta is not None or groups is not None or each or kary:
            raise ValueError("--scheme takes the place of --theta, --groups, --each and --k-ary")
        scheme = response.load_scheme(scheme_file)
        columns = list(scheme.columns)
    elif theta is None or groups is None:
        raise ValueError("expected --theta and --groups, or --scheme FILE")
    else:
        columns = [name for group in groups_in(groups, each) for name in group]
        if not kary:
            scheme = scheme_in(theta, groups, each)
    if lie == "tuple" and not kary:
        raise ValueError("--lie tuple goes with --k-ary")
    kept = [] if keep is None else names_in(keep, "--keep")
    for name in kept:
        if name in columns:
            raise ValueError(f"--keep and the groups both name {name!r}")
    names = [*dict.fromkeys(columns), *kept]
    table = like_scheme(reading, file, scheme, names).table(file, names)
    table = expect_rows(file, table).select([name for name in table.names if name in names])
    points: dict[str, Cut] = {}
    if binarise is not None and cuts_file is not None:
        raise ValueError("--cuts takes the place of --binarise")
    if binarise is not None:
        points = response.cuts(table, columns, at=binarise)
    elif cuts_file is not None:
        points = cuts_in(cuts_file, columns)
    expect_savable(points)
    table = response.binarise(table, points)
    if scheme is None:
        assert theta is not None
        assert groups is not None
        domains = {name: table.domain(name) for name in columns}
        scheme = KaryScheme(thetas_in(theta), domains, groups=groups_in(groups, each), lie=lie)
    if scheme.exposed:
        why = f"{exposed_text(scheme)}; --keep tells columns as they are"
        print(f"nbcfast: infeasible: {why}", file=sys.stderr)
        return 1
    rng = None if seed is None else np.random.default_rng(seed)
    with progress("disguising") as report:
        told = response.disguise(table, scheme, rng, progress=report)
    told.save(out, cuts=points, overwrite=overwrite)
    note([out])
    made = told.scheme
    assert isinstance(made, (Scheme, KaryScheme))
    cuts_found = {name: cut.to_dict() for name, cut in points.items()}
    load(out)  # reads and checks what was written

    if as_json:
        found = {
            "out": str(out),
            "rows": told.n_rows,
            "kept": list(told.untouched),
            "seeded": told.seeded,
            "cuts": cuts_found,
            "scheme": made.to_dict(),
            "privacy": privacy_found(made),
            "warnings": list(told.remarks),
        }
        print(json.dumps(found, indent=2))
        return 0
    lines = [("rows", readable(told.n_rows)), *privacy_lines(made)]
    if told.untouched:
        lines.append(("told as they are", ", ".join(label(name) for name in told.untouched)))
    if points:
        lines.append(
            ("1 is above", ", ".join(f"{label(name)} {cut_text(cut)}" for name, cut in points.items()))
        )
    if told.seeded:
        lines.append(("simulation", "the coins came from a seed, and hide nothing from who knows it"))
    lines += [("warning", printable(text)) for text in told.remarks]
    title = Text(f"{printable(str(out))}: disguised answers", style="bold")
    show(title, privacy_grid(made), pairs(lines))
    return 0


def cut_text(cut: Cut) -> str:
    """Where a column is cut, or which of its values are 1."""
    if not cut.values:
        return decimal_text(cut.point)
    return (
        "(1 is "
        + ", ".join(label(value) for place, value in enumerate(cut.values) if place > cut.point)
        + ")"
    )


def cuts_in(file: Path, columns: list[str]) -> dict[str, Cut]:
    """The cuts of these columns in a cuts.json; that of published answers must be their own."""
    data = published_copy(file, CUTS)
    try:
        found = json.loads((own_file(file) if data is None else data).decode())
        cuts = {name: Cut.from_dict(cut) for name, cut in found.items() if name in columns}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"--cuts {file}: not cuts as they were written ({error})") from None
    if not cuts:
        raise ValueError(f"--cuts {file}: it has none of the columns {', '.join(columns)}")
    return cuts


@verbs.command()
@click.argument("disguised", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The scheme.json that the answers were made by.  [default: that of a folder]",
)
@click.option("--class", "class_name", metavar="NAME", required=True, help="The column to predict.")
@click.option("--columns", metavar="A,B,C", help="The attributes to use.  [default: all]")
@click.option(
    "--method",
    type=click.Choice(("projection", "em")),
    default="projection",
    show_default=True,
    help="How shares below 0 are avoided: the nearest that are possible, or maximum likelihood.",
)
@click.option("--level", default="0.95", show_default=True, help="Of the confidence intervals.")
@click.option(
    "--test",
    "test_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Other answers, disguised likewise: measure the accuracy of naive Bayes on the truth behind them.",
)
@reads_file
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def estimate(
    disguised: Path,
    scheme_file: Path | None,
    class_name: str,
    columns: str | None,
    method: Literal["projection", "em"],
    level: str,
    test_file: Path | None,
    reading: Reading,
    as_json: bool,
) -> int:
    """Estimate from disguised answers the shares that naive Bayes needs, with confidence intervals.

    DISGUISED is a folder that `disguise` wrote, or a table (CSV or Parquet, with --scheme).
    """
    if reading.weights is not None:
        raise ValueError("--weights: answers have none")
    if disguised.is_dir():
        table = load(disguised)
        if not isinstance(table, response.Disguised):
            raise ValueError(f"{disguised} holds no disguised answers")
        scheme: Any = table.scheme if scheme_file is None else response.load_scheme(scheme_file)
    elif scheme_file is None:
        expect_file(disguised)
        raise ValueError("--scheme FILE must say how the answers of a table were made, got none")
    else:
        scheme = response.load_scheme(scheme_file)
        table = _answers(disguised, scheme, class_name, columns, reading)
    if class_name not in table.names:
        known = ", ".join(table.names)
        raise ValueError(f"--class must be a column of the answers ({known}), got {class_name!r}")
    chosen = None if columns is None else names_in(columns)
    with progress("counting") as report:
        found = response.estimate(
            table, scheme, class_name, attributes=chosen, method=method, progress=report
        )
    low, high = found.interval(level)
    measured = None
    if test_file is not None:
        keep_other(disguised, test_file)
        if test_file.is_dir():
            test = load(test_file)
            if not isinstance(test, response.Disguised):
                raise ValueError(f"--test {test_file} holds no disguised answers")
        else:
            test = _answers(test_file, scheme, class_name, columns, reading)
        measured = response.accuracy(response.classifier(found), test, scheme)

    if as_json:
        result = found.to_dict()
        result["classes"] = [plain(value) for value in found.classes]
        result["values"] = {name: [plain(value) for value in found.domain(name)] for name in found.attributes}
        result["interval"] = {"level": level, "low": low.to_dict(), "high": high.to_dict()}
        result["accuracy"] = None if measured is None else measured.to_dict()
        print(json.dumps(result, indent=2))
        return 0
    title = Text(f"{printable(str(disguised))}, {readable(found.n_rows)} answers", style="bold")
    classes = [f"P(.., {label(value)})" for value in found.classes]
    grid = listing("estimated share", *classes)
    spans = [
        f"{float(share):.4f} [{float(a):.4f}, {float(b):.4f}]"
        for share, a, b in zip(found.prior, low.prior, high.prior, strict=True)
    ]
    grid.add_row(Text(f"class {label(class_name)}"), *spans)
    for name in found.attributes:
        values = found.domain(name)
        for place, value in enumerate(values[:MOST_SHOWN]):
            spans = [
                f"{float(share):.4f} [{float(a):.4f}, {float(b):.4f}]"
                for share, a, b in zip(
                    found.joint[name][place], low.joint[name][place], high.joint[name][place], strict=True
                )
            ]
            grid.add_row(Text(f"{label(name)} = {label(value)}"), *spans)
        if len(values) > MOST_SHOWN:
            grid.add_row(Text(f"{label(name)}: {len(values) - MOST_SHOWN} values more, in --json"))
    lines = []
    if scheme.exposed:
        lines.append(("not hidden", exposed_text(scheme)))
    if not found.converged:
        lines.append(("not settled", "EM stopped before its shares did; --method projection is exact"))
    if measured is not None:
        lines.append(
            (
                "accuracy on the truth",
                f"{measured.shown:.4f} +- {measured.standard_error:.4f}, "
                f"from {readable(measured.n_rows)} answers",
            )
        )
    show(title, grid, *([pairs(lines)] if lines else []))
    return 0


def keep_other(learned: Path, tested: Path) -> None:
    """Refuse to test on the answers that the classifier learned from: the accuracy would be of no use."""
    one, other = (path / TABLE if path.is_dir() else path for path in (learned, tested))
    same = os.path.samefile(one, other)
    if not same and one.stat().st_size == other.stat().st_size:
        same = one.read_bytes() == other.read_bytes()
    if same:
        raise ValueError(
            "--test must be other answers than those learned from, on which the estimate of the accuracy "
            f"does not hold; got {str(tested)!r}"
        )


def _answers(
    file: Path,
    scheme: Scheme | KaryScheme,
    class_name: str,
    columns: str | None,
    reading: Reading,
) -> nbcfast.Table:
    """The table of answers in a file."""
    attributes = None if columns is None else names_in(columns)
    names = None if attributes is None else [*attributes, class_name]
    return like_scheme(reading, file, scheme, names).with_class(file, class_name, attributes)


@verbs.group(name="response")
def response_verbs() -> None:
    """Plan a survey by randomised response."""


response_verbs.command_class = Verb


def error_text(error: float) -> str:
    """A standard error; above 1 it is of no use, and its digits neither."""
    return f"{error:.5f}" if error < 1 else f"{error:.2g} (useless)"


def error_in(text: str | None, option: str) -> Fraction | None:
    """A standard error above 0 and below 1, as a number or a percentage."""
    if text is None:
        return None
    found = Fraction(exact_share(text, option))
    if not 0 < found < 1:
        raise ValueError(f"{option} must be above 0 and below 1, or 100%, got {text}")
    return found


@response_verbs.command(name="plan")
@click.option("--theta", metavar="P", help="The probability of the truth, or one a group with commas.")
@click.option("--groups", metavar="A,B;C", help="Columns under one coin; see `disguise`.")
@click.option("--each", is_flag=True, help="A coin for each column of --groups.")
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A scheme.json, in place of --theta and --groups.",
)
@click.option("--class", "class_name", metavar="NAME", help="The class.  [default: one outside the scheme]")
@click.option("--n", "respondents", type=Whole(min=1), help="Respondents: say how good they are.")
@click.option("--error", metavar="E", help="The largest standard error of a share: say how many it takes.")
@click.option("--accuracy", metavar="E", help="The largest standard error of a measured accuracy.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def plan(
    theta: str | None,
    groups: str | None,
    each: bool,
    scheme_file: Path | None,
    class_name: str | None,
    respondents: int | None,
    error: str | None,
    accuracy: str | None,
    as_json: bool,
) -> int:
    """Say how many respondents a scheme takes, or how good the estimates of N of them are.

    What is printed holds for the worst population.

    Leaves with 1 if the scheme hides nothing of a column.
    """
    scheme: Scheme | KaryScheme
    if scheme_file is not None:
        if theta is not None or groups is not None or each:
            raise ValueError("--scheme takes the place of --theta, --groups and --each")
        scheme = response.load_scheme(scheme_file)
    elif theta is None or groups is None:
        raise ValueError("expected --theta and --groups, or --scheme FILE")
    else:
        scheme = scheme_in(theta, groups, each)
    if (respondents is None) == (error is None and accuracy is None):
        raise ValueError("expected either --n, or --error and --accuracy or one of them")
    found = response.plan(
        respondents,
        scheme,
        class_name=class_name,
        standard_error=error_in(error, "--error"),
        accuracy=error_in(accuracy, "--accuracy"),
    )
    if as_json:
        print(json.dumps({**found.to_dict(), "privacy": privacy_found(scheme)}, indent=2))
        return int(bool(scheme.exposed))
    rows = [
        ("respondents", f"{found.n:,}"),
        ("standard error of a share", f"at most {error_text(found.standard_error)}"),
    ]
    if found.accuracy_error is not None:
        rows.append(("of a measured accuracy", f"at most {error_text(found.accuracy_error)}"))
    rows.append(("in place of each truthful one", f"{found.blow_up:.3g}"))
    show(privacy_grid(scheme), pairs([*rows, *privacy_lines(scheme)]))
    return int(bool(scheme.exposed))
