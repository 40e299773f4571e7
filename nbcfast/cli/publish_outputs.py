"""What the kinds of `publish` share: options that say what is published, and how it is written and told."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._wire.messages import printable
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring
from nbcfast.cli.printing import readable, same_line
from nbcfast.cli.reading import Reading
from nbcfast.cli.writings import forget, note
from nbcfast.published.release import Release
from nbcfast.publishing.report import Written, saved
from nbcfast.publishing.words import amount


class Asked(TypedDict):
    """The options that say what is published, and of what; the others say where it goes."""

    file: Path
    class_name: str
    columns: str | None
    reading: Reading
    max_values: int
    amplification: str | None
    breach: tuple[str, str] | None
    attacker: Attacker
    method: Literal["canonical", "safetytransform"] | None
    preserve: Preserve | None
    declaring: Declaring
    by: str | None
    menu: Path | None
    bits: int | None
    alpha: str | None
    listed: Path | None
    intervals: bool
    rows: str
    allow_differences: bool
    no_gauge: bool
    holdout: Path | None
    ledger: Path | None
    window: str | None
    ledger_policy: tuple[str, ...]


class Outputs(NamedTuple):
    """Where it goes, and how it is told."""

    out: Path
    dataset: Path | None
    overwrite: bool
    as_json: bool


def written(release: Release, outputs: Outputs) -> tuple[Written, ...]:
    """The files of a release, as they were written."""
    with progress("writing") as report:
        return saved(
            release,
            outputs.out,
            dataset=outputs.dataset,
            overwrite=outputs.overwrite,
            progress=report,
            done=note,
        )


def tell(error: Infeasible, exactly: bool) -> None:
    """Why demands cannot be met, and what can be had; `exactly` so many rows were asked for."""
    print(f"nbcfast: infeasible: {printable(' '.join(error.why.split()))}", file=sys.stderr)
    for text in best_found(error.best):
        print(f"nbcfast: best found: {printable(text)}", file=sys.stderr)
    if exactly and error.best.get("differing_tuples"):
        print(
            "nbcfast: --rows smallest looks for the fewest rows with which none does; "
            "--allow-differences publishes some, by --method safetytransform, and says how many",
            file=sys.stderr,
        )


@contextmanager
def already_written(files: list[str]) -> Iterator[None]:
    """What is measured of a release comes after it is written; where that ends early, it is there."""
    try:
        yield
    except BaseException:
        forget()
        names = ", ".join(printable(path) for path in files)
        print(f"nbcfast: {names}: written, but not judged or attacked to the end", file=sys.stderr)
        raise


def best_found(best: dict[str, object]) -> Iterator[str]:
    """What could be had in place of a demand that nothing meets."""
    release = best.get("release")
    if isinstance(release, Release):
        yield f"a release of {readable(release.views.n_rows)} rows; {same_line(release)}"
        best = {
            name: one for name, one in best.items() if name not in ("release", "rows", "differing_tuples")
        }
    for name, one in best.items():
        yield f"{name.replace('_', ' ')}: {'not known' if one is None else amount(one)}"
