"""Where verbs write: refused, before any work, where something is there, or would be lost."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import click

from nbcfast._core.files import check_file, check_folder, place_of
from nbcfast._reading.endings import ending_of, is_parquet
from nbcfast.published.formulas import spreadsheet_remarks

PUBLISHED = ("certificate.json", "table.csv", "table.parquet")  # what a folder gets
PICTURES = (".png", ".svg", ".pdf")
ASK = "--overwrite"
NO_CERTIFICATE = "No certificate: only a folder gets one."
NO_FILES: Mapping[str, Path | None] = MappingProxyType({})

REPLACES = click.option(
    "--overwrite",
    is_flag=True,
    help="Replace what is there; of folders only those that hold a certificate and its files.",
)


def check_targets(
    private: Sequence[Path | str | None],
    overwrite: bool,
    *,
    folder: Path | None = None,
    files: Mapping[str, Path | None] = NO_FILES,
) -> None:
    """Refuse, before any work, targets that are there, are read, or hold what is read.

    `folder` is that of --out; `files` are others by their options.
    """
    read = [Path(path) for path in private if path is not None]
    _keep_apart_from_each_other(files)
    for option, file in files.items():
        if file is None:
            continue
        for source in read:
            keep_apart(source, [file], option)
    if folder is not None:
        keep_apart_from(read, folder)
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"--out must be a folder, got the file {str(folder)!r}")
        for path in [Path.cwd(), *read]:
            if _holds(folder, path):
                what = "the folder one is in" if path == Path.cwd() else f"{str(path)!r}, which is read"
                raise ValueError(f"--out must be a folder of its own, and {str(folder)!r} holds {what}")
    for option, file in files.items():
        if file is not None:
            check_beside(option, file, folder, overwrite)
    if folder is not None:
        check_folder(folder, overwrite, ASK)


def check_beside(option: str, file: Path, folder: Path | None, overwrite: bool) -> None:
    """Refuse a file to write that is there, has no folder, or would be published with the folder of --out."""
    if folder is not None and place_of(file) == place_of(folder):
        raise ValueError(f"{option} and --out must be two places, got {str(file)!r} for both")
    if folder is not None:
        keep_outside(folder, file, option, ", the folder of --out")
    if not file.parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists, got {str(file)!r}")
    check_file(file, overwrite, ASK)


def keep_outside(folder: Path, file: Path, option: str, which: str = "") -> None:
    """Refuse a file to write in a folder that is published: no certificate covers it.

    `folder` may be the certificate.json in it, and `which` says what folder it is.
    """
    home = folder.parent if folder.name == PUBLISHED[0] else folder
    if _holds(home, file):
        raise ValueError(
            f"{option} must not be in {str(home)!r}{which}: its certificate does not cover that file, and "
            f"verify would refuse the folder; got {str(file)!r}"
        )


def expect_picture(file: Path | None) -> None:
    """Refuse a picture of a kind that is not drawn."""
    if file is not None and file.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot must end in {', '.join(PICTURES)}, got {file.name!r}")


def _keep_apart_from_each_other(files: Mapping[str, Path | None]) -> None:
    """Refuse two files of which the second would be written over the first."""
    options: dict[str, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        other = options.setdefault(os.path.realpath(file), option)
        if other != option:
            raise ValueError(f"{option} and {other} must be two files, got {str(file)!r} for both")


def _holds(folder: Path, path: Path) -> bool:
    """Whether a path is that of a folder, or is in it."""
    place = os.path.realpath(folder)
    return os.path.commonpath([place, os.path.realpath(path)]) == place


def keep_apart(private: Path, written: list[Path], option: str) -> None:
    """Refuse to write over a file that is read."""
    for path in written:
        with suppress(OSError):  # where one of them is not there
            if os.path.samefile(private, path):
                raise ValueError(f"{option} must not write over {str(private)!r}, which is read")


def keep_apart_from(private: list[Path], out: Path) -> None:
    """Refuse an --out that would write over a file that is read."""
    for source in private:
        keep_apart(source, [out, *(out / name for name in PUBLISHED)], "--out")


class Output(click.Path):
    """A path to write to; the empty text would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
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
