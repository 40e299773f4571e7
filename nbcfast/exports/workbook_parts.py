"""The parts of an .xlsx file: cells that are what they are and run nothing, and a zip of fixed bytes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

ENDING = ".xlsx"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument"
MOST_LETTERS = 32_767  # of a cell
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can say

PRESERVE = {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}
UNWRITTEN = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")  # a carriage return becomes a line feed
ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # what would be read as the character of that number

# Each style: font, fill, border, format of numbers (49 is text), and how it is aligned.
STYLES: dict[str, tuple[int, int, int, int, dict[str, str]]] = {
    "plain": (0, 0, 0, 0, {}),
    "title": (1, 0, 0, 49, {"vertical": "center"}),
    "note": (2, 0, 0, 49, {"vertical": "center", "wrapText": "1"}),
    "head": (3, 2, 1, 49, {"wrapText": "1", "vertical": "center"}),
    "number head": (3, 2, 1, 49, {"wrapText": "1", "vertical": "center", "horizontal": "right"}),
    "text": (0, 0, 2, 49, {"vertical": "center"}),
    "value": (0, 0, 2, 0, {"vertical": "center", "horizontal": "left"}),
    "number": (0, 0, 2, 0, {"vertical": "center"}),
    "entry": (0, 3, 3, 49, {"horizontal": "left", "vertical": "center", "indent": "1"}),
    "number entry": (0, 3, 3, 0, {"horizontal": "left", "vertical": "center", "indent": "1"}),
    "answer": (4, 4, 3, 0, {"horizontal": "left", "vertical": "center", "indent": "1"}),
    "row answer": (3, 4, 2, 0, {"horizontal": "left", "indent": "1", "vertical": "center"}),
    "total": (3, 0, 1, 0, {"vertical": "center"}),
}


class Formula(NamedTuple):
    """What a cell computes, without the sign that it begins with, and what it shows until it does."""

    text: str
    at_first: str = ""


class SheetCell(NamedTuple):
    """A cell: a text stays one, whatever it begins with."""

    content: str | int | float | bool | Formula | None
    style: str = "plain"


class DropDown(NamedTuple):
    """What may be entered in some cells: one of those in a range, or anything, and what is said beside it."""

    cells: str
    source: str | None
    prompt: str


class Sheet(NamedTuple):
    """A sheet; rows are counted from 1, and what is not in `rows` is empty."""

    name: str
    rows: Mapping[int, Sequence[SheetCell]]
    widths: Sequence[int]
    heights: Mapping[int, int]
    frozen: str | None = None  # the first cell that moves
    hidden: range = range(0)  # columns, counted from 0
    choices: Sequence[DropDown] = ()
    merged: Sequence[str] = ()
    locked: bool = False
    landscape: bool = False


def column_name(column: int) -> str:
    """The letters of a column that is counted from 0.

    Examples
    --------
    >>> column_name(0), column_name(25), column_name(26), column_name(16_383)
    ('A', 'Z', 'AA', 'XFD')
    """
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def check_text(text: str) -> None:
    """Refuse what a cell does not hold."""
    if UNWRITTEN.search(text):
        raise ValueError(f"{ENDING}: no cell keeps all characters of {text[:80]!r}: export to another format")
    if len(text) > MOST_LETTERS:
        raise ValueError(f"{ENDING}: a cell has at most {MOST_LETTERS:,} characters, got {len(text):,}")


def sheet_part(sheet: Sheet) -> bytes:
    """The sheet as XML."""
    root = Element("worksheet", {"xmlns": MAIN})
    properties = SubElement(root, "sheetPr")
    SubElement(properties, "pageSetUpPr", {"fitToPage": "1"})
    view = SubElement(
        SubElement(root, "sheetViews"), "sheetView", {"showGridLines": "0", "workbookViewId": "0"}
    )
    if sheet.frozen is not None:
        letters, digits = re.fullmatch(r"([A-Z]+)([0-9]+)", sheet.frozen).groups()  # type: ignore[union-attr]
        across = sum((ord(letter) - 64) * 26**place for place, letter in enumerate(reversed(letters))) - 1
        pane = {"xSplit": str(across), "ySplit": str(int(digits) - 1), "topLeftCell": sheet.frozen}
        moving = "bottomRight" if across else "bottomLeft"
        given = {key: text for key, text in pane.items() if text != "0"}
        SubElement(view, "pane", {**given, "activePane": moving, "state": "frozen"})
    SubElement(root, "sheetFormatPr", {"defaultRowHeight": "18", "customHeight": "1"})
    columns = SubElement(root, "cols")
    for column in range(max(len(sheet.widths), sheet.hidden.stop)):
        width = sheet.widths[column] if column < len(sheet.widths) else 9
        given = {"min": str(column + 1), "max": str(column + 1), "width": str(width), "customWidth": "1"}
        SubElement(columns, "col", given | ({"hidden": "1"} if column in sheet.hidden else {}))
    data = SubElement(root, "sheetData")
    for number, cells in sorted(sheet.rows.items()):
        height = str(sheet.heights.get(number, 18))
        row = SubElement(data, "row", {"r": str(number), "ht": height, "customHeight": "1"})
        for column, cell in enumerate(cells):
            _cell(row, f"{column_name(column)}{number}", cell)
    if sheet.locked:
        SubElement(
            root, "sheetProtection", {"sheet": "1", "objects": "1", "scenarios": "1", "formatColumns": "0"}
        )
    _merged(root, sheet.merged)
    _choices(root, sheet.choices)
    SubElement(root, "pageMargins", dict.fromkeys(("left", "right", "top", "bottom"), "0.7") | _HEADERS)
    orientation = "landscape" if sheet.landscape else "portrait"
    SubElement(root, "pageSetup", {"paperSize": "9", "orientation": orientation, "fitToHeight": "0"})
    return _xml(root)


_HEADERS = {"header": "0.3", "footer": "0.3"}


def _cell(row: Element, place: str, cell: SheetCell) -> None:
    content = cell.content
    if content is None and cell.style == "plain":
        return
    made = SubElement(row, "c", {"r": place, "s": str(list(STYLES).index(cell.style))})
    if isinstance(content, Formula):
        made.set("t", "str")
        SubElement(made, "f").text = content.text
        SubElement(made, "v").text = _escaped(content.at_first)
    elif isinstance(content, str):
        made.set("t", "inlineStr")
        SubElement(SubElement(made, "is"), "t", PRESERVE).text = _escaped(content)
    elif isinstance(content, bool):
        made.set("t", "b")
        SubElement(made, "v").text = str(int(content))
    elif content is not None:
        SubElement(made, "v").text = repr(content)


def _escaped(text: str) -> str:
    return ESCAPED.sub("_x005F_", text)


def _merged(root: Element, merged: Sequence[str]) -> None:
    if merged:
        made = SubElement(root, "mergeCells", {"count": str(len(merged))})
        for cells in merged:
            SubElement(made, "mergeCell", {"ref": cells})


def _choices(root: Element, choices: Sequence[DropDown]) -> None:
    if not choices:
        return
    made = SubElement(root, "dataValidations", {"count": str(len(choices))})
    for choice in choices:
        given = {
            "allowBlank": "1",
            "showInputMessage": "1",
            "prompt": choice.prompt[:255],
            "sqref": choice.cells,
        }
        if choice.source is None:
            SubElement(made, "dataValidation", given)
            continue
        kind = {"type": "list", "errorStyle": "warning", "showErrorMessage": "1"}
        error = {"error": "This is not a published value: there will be no answer."}
        SubElement(SubElement(made, "dataValidation", kind | given | error), "formula1").text = choice.source


def _xml(root: Element) -> bytes:
    declared = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    written: bytes = tostring(root, "utf-8")
    return declared + written


def styles_part() -> bytes:
    """Fonts, fills, borders, and the styles made of them."""
    root = Element("styleSheet", {"xmlns": MAIN})
    fonts = SubElement(root, "fonts", {"count": "5"})
    for size, colour, bold in (
        (11, "1A1C20", 0),
        (18, "1A1C20", 1),
        (10, "5F6570", 0),
        (11, "1A1C20", 1),
        (14, "123A6B", 1),
    ):
        font = SubElement(fonts, "font")
        if bold:
            SubElement(font, "b")
        SubElement(font, "sz", {"val": str(size)})
        SubElement(font, "color", {"rgb": f"FF{colour}"})
        SubElement(font, "name", {"val": "Calibri"})
        SubElement(font, "family", {"val": "2"})
    fills = SubElement(root, "fills", {"count": "5"})
    for pattern in ("none", "gray125"):  # these two are fixed
        SubElement(SubElement(fills, "fill"), "patternFill", {"patternType": pattern})
    for colour in ("EFEDE6", "FFF8DC", "DCE9F7"):
        fill = SubElement(SubElement(fills, "fill"), "patternFill", {"patternType": "solid"})
        SubElement(fill, "fgColor", {"rgb": f"FF{colour}"})
    borders = SubElement(root, "borders", {"count": "4"})
    for edges, kind in (((), ""), (("bottom",), "medium"), (("bottom",), "hair"), (_SIDES, "thin")):
        border = SubElement(borders, "border")
        for side in (*_SIDES, "diagonal"):
            edge = SubElement(border, side, {"style": kind} if side in edges else {})
            if side in edges:
                SubElement(edge, "color", {"rgb": "FF9A9890"})
    base = SubElement(root, "cellStyleXfs", {"count": "1"})
    SubElement(base, "xf", dict.fromkeys(("numFmtId", "fontId", "fillId", "borderId"), "0"))
    formats = SubElement(root, "cellXfs", {"count": str(len(STYLES))})
    for style, (font_id, fill_id, border_id, number, alignment) in STYLES.items():
        given = {"numFmtId": number, "fontId": font_id, "fillId": fill_id, "borderId": border_id, "xfId": 0}
        applied = dict.fromkeys((f"apply{what}" for what in ("NumberFormat", "Font", "Fill", "Border")), "1")
        made = SubElement(formats, "xf", {key: str(n) for key, n in given.items()} | applied)
        if number == 49 and style != "entry":
            made.set("quotePrefix", "1")  # stays a text when it is edited
        if alignment:
            made.set("applyAlignment", "1")
            SubElement(made, "alignment", alignment)
        if style.endswith("entry"):
            made.set("applyProtection", "1")
            SubElement(made, "protection", {"locked": "0"})
    names = SubElement(root, "cellStyles", {"count": "1"})
    SubElement(names, "cellStyle", {"name": "Normal", "xfId": "0", "builtinId": "0"})
    return _xml(root)


_SIDES = ("left", "right", "top", "bottom")


def workbook(sheets: Sequence[Sheet], properties: Mapping[str, str]) -> bytes:
    """The file: a zip without dates, the same bytes for the same sheets."""
    parts = {f"xl/worksheets/sheet{number}.xml": sheet_part(sheet) for number, sheet in enumerate(sheets, 1)}
    book = Element("workbook", {"xmlns": MAIN, "xmlns:r": f"{OFFICE}/relationships"})
    SubElement(SubElement(book, "bookViews"), "workbookView", {"activeTab": "0"})
    listed = SubElement(book, "sheets")
    for number, sheet in enumerate(sheets, 1):
        SubElement(listed, "sheet", {"name": sheet.name, "sheetId": str(number), "r:id": f"rId{number}"})
    SubElement(book, "calcPr", {"fullCalcOnLoad": "1"})
    targets = [("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)]
    whole = {
        "[Content_Types].xml": _types(parts),
        "_rels/.rels": _relations(
            [("officeDocument", "xl/workbook.xml"), ("custom-properties", "docProps/custom.xml")]
        ),
        "docProps/custom.xml": _properties(properties),
        "xl/workbook.xml": _xml(book),
        "xl/_rels/workbook.xml.rels": _relations([*targets, ("styles", "styles.xml")]),
        "xl/styles.xml": styles_part(),
        **parts,
    }
    return zipped(whole)


def zipped(parts: Mapping[str, bytes]) -> bytes:
    """A zip of these files in this order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, part in parts.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            # Properties are stored as they are: whoever looks for the sha256 in the file finds it.
            how = zipfile.ZIP_STORED if name.startswith("docProps/") else zipfile.ZIP_DEFLATED
            file.writestr(entry, part, how, 6)
    return out.getvalue()


def _types(sheets: Mapping[str, bytes]) -> bytes:
    root = Element("Types", {"xmlns": f"{PACKAGE}/content-types"})
    for ending, kind in (
        ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
        ("xml", "application/xml"),
    ):
        SubElement(root, "Default", {"Extension": ending, "ContentType": kind})
    kinds = {"xl/workbook.xml": "spreadsheetml.sheet.main", "xl/styles.xml": "spreadsheetml.styles"}
    kinds |= {"docProps/custom.xml": "custom-properties"} | dict.fromkeys(sheets, "spreadsheetml.worksheet")
    for name, kind in kinds.items():
        SubElement(root, "Override", {"PartName": f"/{name}", "ContentType": f"{TYPE}.{kind}+xml"})
    return _xml(root)


def _relations(targets: Sequence[tuple[str, str]]) -> bytes:
    root = Element("Relationships", {"xmlns": f"{PACKAGE}/relationships"})
    for number, (kind, target) in enumerate(targets, 1):
        given = {"Id": f"rId{number}", "Type": f"{OFFICE}/relationships/{kind}", "Target": target}
        SubElement(root, "Relationship", given)
    return _xml(root)


def _properties(properties: Mapping[str, str]) -> bytes:
    root = Element(
        "Properties", {"xmlns": f"{OFFICE}/custom-properties", "xmlns:vt": f"{OFFICE}/docPropsVTypes"}
    )
    for number, (name, value) in enumerate(properties.items(), 2):  # 0 and 1 are taken
        given = {"fmtid": "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}", "pid": str(number), "name": name}
        SubElement(SubElement(root, "property", given), "vt:lpwstr").text = value
    return _xml(root)
