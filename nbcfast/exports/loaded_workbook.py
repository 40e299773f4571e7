"""LibreOffice, where it is installed: it computes a copy of the workbook whose sheet Rows is filled."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.exports.about import About
from nbcfast.exports.workbook_parts import Sheet, sheet_part, zipped
from nbcfast.exports.workbook_sheets import FIRST_ROW, Content, SheetLayout, entries, layout, rows_sheet
from nbcfast.published.points_table import PointsTable

ROWS_PART, ROWS_NUMBER = "xl/worksheets/sheet2.xml", 2


@functools.cache
def libreoffice_name() -> str | None:
    """The program and its version; None where it is not installed."""
    program = shutil.which("soffice")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, _profile(folder), "--version"], capture_output=True, text=True, check=False
        )
    words = done.stdout.split()
    return " ".join(words[:2]) if done.returncode == 0 and words else None


def _profile(folder: str) -> str:
    """A profile of its own, so that it starts beside one that is open."""
    return f"-env:UserInstallation={Path(folder, 'profile').resolve().as_uri()}"


def workbook_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class that LibreOffice computes for each row of codes, -1 where it has none."""
    made = layout(points, about)
    rows = rows_sheet(made, entered(made, codes))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.xlsx")
        copy.write_bytes(filled(content, rows_sheet(made), rows))
        (sheet,) = computed([copy], ROWS_NUMBER)
    order = range(len(made.labels))
    ranks = order if points.threshold is not None else reversed(order)
    places = dict(zip(map(str, made.labels), ranks, strict=True))
    found = [places.get(row[0], -1) for row in sheet[FIRST_ROW - 1 :][: len(codes)]]
    return np.array(found, np.int64)


def entered(made: SheetLayout, codes: Longs) -> list[list[Content]]:
    """What is typed for these rows of positions: an empty cell for null, but in a row of nulls alone."""
    cells = [entries(block) for block in made.blocks]
    rows = [[column[code] for column, code in zip(cells, row, strict=True)] for row in codes.tolist()]
    for row in rows:
        if all(content is None for content in row):
            row[0] = made.blocks[0].lines[-1].shown
    return rows


def filled(content: bytes, expected: Sheet, other: Sheet) -> bytes:
    """The file with another sheet Rows: the one that it has is to be the expected one."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    if parts[ROWS_PART] != sheet_part(expected):
        raise ValueError("the sheet Rows of the file is not that of these points")
    return zipped({**parts, ROWS_PART: sheet_part(other)})


def computed(paths: Sequence[Path], number: int) -> list[list[list[str]]]:
    """The cells of one sheet of each file, as texts, by one start of LibreOffice."""
    program = shutil.which("soffice")
    if program is None:
        raise RuntimeError("LibreOffice is not installed: there is no soffice on the path")
    with tempfile.TemporaryDirectory() as folder:
        kind = f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,{number}"
        command = [program, _profile(folder), "--headless", "--convert-to", kind, "--outdir", folder]
        done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)
        found = []
        for path in paths:
            made = sorted(Path(folder).glob(f"{path.stem}-*.csv"))
            if len(made) != 1:
                raise RuntimeError(f"LibreOffice did not convert {path}: {done.stderr.strip()[-500:]}")
            with open(made[0], encoding="utf-8", newline="") as file:
                found.append(list(csv.reader(file)))
    return found
