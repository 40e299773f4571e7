"""The files that verbs about tables read and write."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import click

import nbcfast
from nbcfast._core.errors import NoColumnError
from nbcfast._reading.endings import ending_of, is_parquet
from nbcfast.cli.beginnings import file_ending
from nbcfast.cli.naming import about
from nbcfast.cli.reading import progress
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.table.arrow import load_pyarrow


def read(
    file: Path,
    names: list[str] | None,
    weights: str | None,
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> nbcfast.Table:
    """The columns of a file (all for None), CSV or Parquet by its ending."""
    load_pyarrow()  # where it is missing, main names the extra
    if names is not None and weights in names:
        raise ValueError(f"--weights names {weights!r}, which is used otherwise")
    if file_ending(file).kind == "parquet":
        if nulls or delimiter is not None or texts:
            raise ValueError("--null, --delimiter and --text are for CSV files")
        with progress("reading") as report, about(file):
            table = nbcfast.read_parquet(file, columns=names, weights=weights, progress=report)
    else:
        options = csv_options(file, nulls, delimiter, texts)
        with progress("reading") as report, about(file):
            table = nbcfast.read_csv(file, columns=names, weights=weights, progress=report, **options)
    if table.n_rows == 0:
        raise ValueError(f"{file}: no rows")
    return table


def held_out(
    file: Path,
    holdout: Path | None,
    names: list[str],
    nulls: tuple[str, ...],
    delimiter: str | None,
    texts: tuple[str, ...],
) -> nbcfast.Table | None:
    """People not in FILE; read before anything is written, as it may not fit."""
    if holdout is None:
        return None
    with suppress(OSError):  # that one of them is not there is said when it is read
        if os.path.samefile(file, holdout):
            raise ValueError("--holdout: expected people who are not in FILE, got FILE itself")
    try:
        return read(holdout, names, None, nulls, delimiter, texts)
    except NoColumnError:
        raise
    except ValueError as error:
        raise ValueError(f"--holdout {str(holdout)!r}: {error}") from None


def csv_options(
    file: Path, nulls: tuple[str, ...], delimiter: str | None, texts: tuple[str, ...]
) -> dict[str, Any]:
    """How a CSV file is read."""
    if delimiter is None:
        delimiter = file_ending(file).delimiter
    delimiter = delimiter.replace("\\t", "\t")
    if len(delimiter) != 1:
        raise ValueError(f"--delimiter must be one character, got {delimiter!r}")
    return {
        "delimiter": delimiter,
        "null_values": nulls or ("",),
        "types": dict.fromkeys(texts, "text"),
    }


class Output(click.Path):
    """A path to write to; the empty text would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not os.fspath(value).strip():
            raise ValueError("--out must be a folder, or a .csv or .parquet file; got ''")
        return super().convert(value, param, ctx)


def output(out: Path) -> Literal["folder", "csv", "parquet"]:
    """What --out asks for, by its ending; refused where nothing can be written there."""
    ending = out.suffix.lower()
    kind: Literal["folder", "csv", "parquet"] = "folder"
    if ending == ".csv":
        kind = "csv"
    elif is_parquet(out):
        kind = "parquet"
    elif ending_of(out) is not None:
        raise ValueError(f"--out must be a folder, or a .csv or .parquet file; got {str(out)!r}")
    if out.exists() and out.is_dir() != (kind == "folder"):
        raise ValueError(f"--out must be a {'folder' if kind == 'folder' else 'file'}, got {str(out)!r}")
    if kind != "folder" and not out.parent.is_dir():
        raise ValueError(f"--out: there is no folder {str(out.parent)!r}")
    return kind


def counts_remarks(counts: str | None) -> tuple[str, ...]:
    """What to know of the name that --counts gives a column."""
    return () if counts is None else spreadsheet_remarks({}, [counts])
