"""Excel: a workbook with a form, rows to paste, and the points. No macros, and no library to write it."""

from __future__ import annotations

from nbcfast.exports.about import About
from nbcfast.exports.workbook_parts import workbook
from nbcfast.exports.workbook_sheets import form_sheet, layout, points_sheet, read_me_sheet, rows_sheet
from nbcfast.published.points_table import PointsTable


def content(points: PointsTable, about: About) -> bytes:
    """The workbook: a form, rows, the points, and what to know of them."""
    made = layout(points, about)
    rule = points.rule
    sheets = (form_sheet(made, rule), rows_sheet(made), points_sheet(made), read_me_sheet(made, rule, about))
    return workbook(sheets, {"certificate sha256": about.sha256})
