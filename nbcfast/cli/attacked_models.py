"""`nbcfast attack MODEL.onnx`: what a plain model gives away."""

from pathlib import Path

import click
from click.core import ParameterSource
from rich.table import Table as Grid

from nbcfast import attack
from nbcfast._wire.messages import printable
from nbcfast.attack.of_models import NOTHING
from nbcfast.attack.onnx_weights import MODELS
from nbcfast.cli.asked_again import asked
from nbcfast.cli.bars import progress
from nbcfast.cli.printing import listing, readable, tell
from nbcfast.publishing.words import label
from nbcfast.reports.model_summary import USUAL, of_model
from nbcfast.reports.summary import Decision

# What goes with a model; every other option is for a table or a release.
OF_MODELS = ("--smooth", "--max-rows", "--report", "--overwrite", "--verbose", "--threads", "--json")
OF_MODELS_ALONE = ("--smooth", "--max-rows")
MOST_SHOWN = 200  # values of all attributes in the details


def is_model(source: Path) -> bool:
    """Whether this is the name of a model, also of one that is not read."""
    return source.suffix.lower() in MODELS and not source.is_dir()


def refuse_others(source: Path) -> None:
    """Refuse the options that are for another kind of thing than this."""
    context, model = click.get_current_context(), is_model(source)
    for param in context.command.params:
        if context.get_parameter_source(str(param.name)) is not ParameterSource.COMMANDLINE:
            continue
        option = param.opts[0]
        if model and isinstance(param, click.Option) and option not in OF_MODELS:
            raise ValueError(f"{option} is for a table or a release: of a model the weights alone are read")
        if not model and option in OF_MODELS_ALONE:
            raise ValueError(f"{option} is for a plain model, an .onnx file: expected no such option here")


def attack_model(source: Path, smooth: str | None, max_rows: int | None, as_json: bool) -> int:
    """Attack a plain model, and say what comes back; leave with 1 if anything does, else with 3."""
    with progress("trying numbers of rows") as report:
        found = attack.model(source, alpha=smooth, max_rows=max_rows, progress=report)
    decisions = [USUAL]
    if not found.found and smooth is None:
        again = asked(click.get_current_context(), more=["--smooth", "1"])
        decisions.append(
            Decision("Try what scikit-learn adds to every count unless it is told otherwise.", (again,))
        )
    tell(
        of_model(found, f"{printable(str(source))}, floats of {found.bits} bits", decisions),
        lambda: {"model": str(source), **found.to_dict()},
        lambda: [counts_grid(found)] if found.found else [],
        as_json=as_json,
    )
    return 1 if found.found else 3


def counts_grid(found: attack.ModelAttack) -> Grid:
    """The counts that were found, of each value and class."""
    grid = listing("counts found", *(label(name) for name in found.classes))
    rows = [
        (f"{label(name)} = {value}", counts)
        for name, array in found.counts.items()
        for value, counts in enumerate(array.tolist())
    ]
    for name, counts in rows[:MOST_SHOWN]:
        grid.add_row(name, *("?" if count == NOTHING else readable(count) for count in counts))
    if len(rows) > MOST_SHOWN:
        grid.add_row(f".. and {len(rows) - MOST_SHOWN:,} more values: --json has all")
    return grid
