"""The workbook: what its cells are, and what LibreOffice computes with it."""

import io
import re
import shutil
import xml.etree.ElementTree as ET
import zipfile

import pytest
from canonical_cases import ILL_OR_WELL
from scorecard_cases import ABOUT, card, random_points

from nbcfast import SUPPRESSED, Interval, canonical
from nbcfast.exports import loaded_workbook
from nbcfast.exports.about import About
from nbcfast.exports.domain_tuples import tuples_to_compare
from nbcfast.exports.exporting import export
from nbcfast.exports.labels import label_texts
from nbcfast.exports.loaded_workbook import computed, entered, filled, libreoffice_name
from nbcfast.exports.spreadsheet import content
from nbcfast.exports.workbook_sheets import FIRST_ENTRY, FIRST_POINT, FIRST_ROW, ROWS, layout, rows_sheet

MAIN = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
FORM, ROWS_PART, POINTS, READ_ME = (f"xl/worksheets/sheet{number}.xml" for number in range(1, 5))
needs_libreoffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice: soffice")

BINS = [Interval(None, "0.1"), Interval("0.1", "2.5"), Interval("2.5", 7)]
TRAPS = card(
    {
        "job": (["Male", "39", "*", "=1+1", "TRUE"], [5, 5, 5, 5, 5]),
        "age": ([39, 1], [5, 0]),
        "size": ([0.5, 0.0], [5, 0]),
        "smokes": ([True, False], [5, 0]),
        "sugar": (BINS, [5, 5, 0]),
        "town": (["A", "", None], [5, 0, 5]),
    },
    threshold=30,
)
KNOWN = ["Male", 39, 0.5, True, 0.25, "A"]


def parts(points, about=ABOUT):
    with zipfile.ZipFile(io.BytesIO(content(points, about))) as file:
        return {name: file.read(name) for name in file.namelist()}


def cells(part):
    """Place -> the text of the cell, if it is one, and its formula, if it has one."""
    found = {}
    for cell in ET.fromstring(part).iterfind(".//m:c", MAIN):
        text, formula = cell.find("m:is/m:t", MAIN), cell.find("m:f", MAIN)
        value = cell.find("m:v", MAIN)
        shown = text if text is not None else value
        found[cell.get("r")] = (
            shown.text if shown is not None else None,
            formula.text if formula is not None else None,
        )
    return found


def beside(known, place, value):
    return [*known[:place], value, *known[place + 1 :]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("workbooks")


def copy_of(folder, name, points, rows):
    """A workbook with these entries on the sheet Rows."""
    made = layout(points, ABOUT)
    copy = folder / f"{name}.xlsx"
    copy.write_bytes(filled(content(points, ABOUT), rows_sheet(made), rows_sheet(made, rows)))
    return copy


def found_on_rows(sheet, n_rows):
    return [row[0] for row in sheet[FIRST_ROW - 1 :][:n_rows]]


def test_it_is_the_same_bytes_without_dates():
    points = random_points(1)
    made = content(points, ABOUT)
    assert made == content(points, ABOUT)
    with zipfile.ZipFile(io.BytesIO(made)) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not any("date" in name or "core" in name for name in file.namelist())


def test_it_names_the_certificate_the_rule_and_how_to_use_it():
    about = About("0123" * 16, "ill", "9.8", None)
    made = parts(TRAPS, about)
    assert about.sha256 in made["docProps/custom.xml"].decode()
    said = " ".join(text or "" for text, _ in cells(made[READ_ME]).values())
    for words in (
        about.sha256,
        "nbcfast 9.8",
        TRAPS.rule,
        "A missing value is entered as (null)",
        "no macros",
    ):
        assert words in said
    assert cells(made[FORM])["A1"] == ("Which ill?", None)


def test_what_looks_like_a_formula_is_a_text():
    hostile = ['=HYPERLINK("x")', "+1", "-1", "@SUM(1)", "\t=1", "'=1", "=cmd|' /C calc'!A0"]
    points = card({"=2+2": (hostile, list(range(7)))}, threshold=3, classes=["=1+1", "-2"])
    made = parts(points, About("ab" * 32, "=3+3", "0.1.0", None))
    texts = {}
    for name in (FORM, ROWS_PART, POINTS, READ_ME):
        for text, formula in cells(made[name]).values():
            assert formula is None or re.match(r"(IF|INDEX|SUMPRODUCT)\(|Points!", formula)
            assert formula is None or not any(
                value in formula for value in (*hostile, "=1+1", "=2+2", "=3+3")
            )
            texts[text] = formula
    assert {*hostile, "=1+1", "-2", "=2+2"} <= {text for text, formula in texts.items() if formula is None}
    styles = ET.fromstring(made["xl/styles.xml"]).find("m:cellXfs", MAIN)
    for cell in ET.fromstring(made[POINTS]).iterfind(".//m:c[@t='inlineStr']", MAIN):
        style = styles[int(cell.get("s"))]
        assert style.get("quotePrefix") == "1"  # and stays one when it is edited
        assert style.get("numFmtId") == "49"


def test_texts_are_entered_as_texts_and_numbers_as_numbers():
    made = parts(TRAPS)
    styles = ET.fromstring(made["xl/styles.xml"]).find("m:cellXfs", MAIN)
    row = {
        cell.get("r"): styles[int(cell.get("s"))]
        for cell in ET.fromstring(made[ROWS_PART]).iterfind(".//m:c", MAIN)
    }
    formats = [row[f"{letter}{FIRST_ROW}"].get("numFmtId") for letter in "CDEFGH"]
    assert formats == ["49", "0", "0", "0", "0", "49"]


def test_drop_downs_are_ranges_of_the_points():
    made = parts(TRAPS)
    rules = ET.fromstring(made[FORM]).findall(".//m:dataValidation", MAIN)
    sources = [(rule.get("sqref"), getattr(rule.find("m:formula1", MAIN), "text", None)) for rule in rules]
    assert sources == [
        ("B8", "Points!$B$7:$B$11"),
        ("B9", "Points!$B$12:$B$13"),
        ("B10", "Points!$B$14:$B$15"),
        ("B11", "Points!$B$16:$B$17"),
        ("B12", None),
        ("B13", "Points!$B$21:$B$23"),
    ]
    assert rules[4].get("prompt") == "A number below 7."
    listed = cells(made[POINTS])
    assert [listed[f"B{row}"][0] for row in (21, 22, 23)] == ["A", "(empty text)", "(null)"]
    assert len(ET.fromstring(made[ROWS_PART]).findall(".//m:row", MAIN)) == ROWS + 3


def test_another_library_reads_what_was_written():
    openpyxl = pytest.importorskip("openpyxl")
    points = random_points(9)
    book = openpyxl.load_workbook(io.BytesIO(content(points, ABOUT)))
    assert book.sheetnames == ["Form", "Rows", "Points", "Read me"]
    assert [prop.value for prop in book.custom_doc_props.props] == [ABOUT.sha256]
    sheet = book["Points"]
    rows = [row for _, _, listed in points.attributes for row in listed]
    for number, row in enumerate(rows, FIRST_POINT):
        assert [cell.value for cell in sheet[number][4:]] == list(reversed(row))
        assert {cell.data_type for cell in sheet[number]} <= {"s", "n", "b"}


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (card({"age": ([SUPPRESSED, "a"], [1, 0])}, threshold=1), "'age' has suppressed values"),
        (card({"age": (["a\x01", "b"], [1, 0])}, threshold=1), "no cell keeps all characters of"),
        (card({"age": (["a\r\nb", "b"], [1, 0])}, threshold=1), "no cell keeps all characters of"),
        (card({"age": (["a" * 32_768], [1])}, threshold=1), "at most 32,767 characters, got 32,768"),
        (
            card({"age": ([10**15], [1])}, threshold=1),
            "at most 14 digits exactly, and 'age' has 1000000000000000",
        ),
        (card({"age": ([0.1 + 0.2], [1])}, threshold=1), "and 'age' has 0.30000000000000004"),
        (card({"age": ([1e300], [1])}, threshold=1), "and 'age' has 1e"),
        (
            card({"age": ([Interval(0, "1/3")], [1])}, threshold=1),
            "and 'age' has 1/3: declare shorter values",
        ),
        (card({"age": (["a"], [10**15])}, threshold=1), "totals must be below .* for a spreadsheet"),
        (card({"age": (["a"], [1])}, threshold=1, classes=[None, "null"]), "a class that is null"),
        (card({str(i): (["a"], [1]) for i in range(8_192)}, threshold=1), "too few rows or columns"),
        (card({}, threshold=1), "expected a release with attributes"),
    ],
)
def test_what_it_cannot_say_exactly_is_refused(points, said):
    with pytest.raises(ValueError, match=said):
        content(points, ABOUT)


def test_no_program_is_no_comparison(monkeypatch):
    monkeypatch.setattr(loaded_workbook.shutil, "which", lambda name: None)
    libreoffice_name.cache_clear()
    assert libreoffice_name() is None
    with pytest.raises(RuntimeError, match="LibreOffice is not installed"):
        computed([], 2)
    libreoffice_name.cache_clear()


def test_only_rows_of_these_points_are_filled():
    made = layout(random_points(0), ABOUT)
    with pytest.raises(ValueError, match="is not that of these points"):
        filled(content(TRAPS, ABOUT), rows_sheet(made), rows_sheet(made))


@pytest.mark.thorough
@needs_libreoffice
def test_an_export_is_compared(tmp_path):
    release = canonical.release(ILL_OR_WELL, 4)
    done = export(release, tmp_path / "rule.xlsx")
    assert (done.identical, done.compared) == (True, 6)
    assert re.search(r"LibreOffice [0-9.]+", done.text)


def whole_domains(folder, seeds):
    """Workbooks with every tuple on Rows, and what is expected there."""
    copies, expected = [], []
    for seed in seeds:
        points = random_points(seed)
        codes, places = tuples_to_compare(points)
        copies.append(copy_of(folder, f"release{seed}", points, entered(layout(points, ABOUT), codes)))
        texts = label_texts(points.classes)
        expected.append([texts[place] for place in places.tolist()])
    assert sum(map(len, expected)) > 100 * len(expected)
    return copies, expected


def check_whole_domains(sheets, expected):
    for sheet, labels in zip(sheets, expected, strict=True):
        assert found_on_rows(sheet, len(labels)) == labels


@needs_libreoffice
def test_rows_are_answered_as_by_the_points_on_whole_domains(at_once):
    check_whole_domains(*at_once[1:])


@pytest.mark.thorough
@needs_libreoffice
def test_rows_are_answered_on_more_domains(folder):
    copies, expected = whole_domains(folder, range(100))
    check_whole_domains(computed(copies, 2), expected)


SOME_NULLS = card({"x": ([1, None], [0, 1]), "y": (["a", None], [0, 1])}, threshold=2)
MOST = 10**15 - 2
HALF = 10**15 // 4 - 1
LARGE = card({"x": (["a", "b", "c"], [HALF, HALF - 1, 0]), "y": (["a"], [HALF])}, threshold=2 * HALF)
TIES = card(
    {"x": (list("pqrs"), [(MOST, MOST, MOST), (MOST, MOST - 1, 0), (MOST - 1, MOST, MOST - 1), (0, 0, -1)])},
    classes=["a", "b", "unknown"],
    constants=(0, 0, 0),
)
WIDE = card({f"x{i}": (["a", "b"], [i, 0]) for i in range(101)}, threshold=5050)
CASES = {
    "wide": (WIDE, [(["a"] * 101, "ill"), (["a", "b"] + ["a"] * 99, "well"), (["b"] + ["a"] * 100, "ill")]),
    "traps": (
        TRAPS,
        [
            (KNOWN, "ill"),
            *((beside(KNOWN, 0, text), "ill") for text in ("39", "*", "=1+1", "TRUE")),
            *(
                (beside(KNOWN, 0, text), "unknown")
                for text in ("male", "MALE", " Male", "Male ", "M*", "?ale", "")
            ),
            *((beside(KNOWN, 0, content), "unknown") for content in (39, True, None, "~*", "=1+2", "2")),
            *((beside(KNOWN, 1, content), "unknown") for content in ("39", 39.5, 40, True, None, "(null)")),
            *((beside(KNOWN, 2, content), "unknown") for content in ("0.5", 0.50001, False, None)),
            *((beside(KNOWN, 3, content), "ill") for content in ("TRUE", "True", "true", 1)),
            *((beside(KNOWN, 3, content), "well") for content in (False, "false", 0)),
            *((beside(KNOWN, 3, content), "unknown") for content in ("yes", " TRUE", 2, 0.5, "1", None)),
            *((beside(KNOWN, 4, content), "unknown") for content in (7, 8, "0.25", "[0.1, 2.5)", True, None)),
            *(
                (beside(KNOWN, 4, number), "ill")
                for number in (-1e20, 0, 0.0999999999999, 0.1, 2.4999999999999)
            ),
            *((beside(KNOWN, 4, number), "well") for number in (2.5, 6.9999999999999)),
            (beside(KNOWN, 5, "(null)"), "ill"),
            *((beside(KNOWN, 5, content), "unknown") for content in (None, "", "a", "null", 0)),
            (beside(KNOWN, 5, "(empty text)"), "well"),
            ([None] * 6, ""),
        ],
    ),
    "nulls": (
        SOME_NULLS,
        [([None, "(null)"], "ill"), (["(null)", None], "ill"), ([1, None], "well"), ([None, None], "")],
    ),
    "large": (LARGE, [(["a", "a"], "ill"), (["b", "a"], "well"), (["c", "a"], "well")]),
    "ties": (TIES, [(["p"], "unknown"), (["q"], "a"), (["r"], "b"), (["s"], "b"), (["P"], "(unknown)")]),
    "single": (
        card({"x": (["a"], [(0,)])}, classes=["ill"], constants=(0,)),
        [(["a"], "ill"), (["b"], "unknown")],
    ),
}


@pytest.fixture(scope="module")
def at_once(folder):
    """The cases, sheets of whole domains, and what is expected on these: LibreOffice is slow to start."""
    copies = [
        copy_of(folder, name, points, [row for row, _ in rows]) for name, (points, rows) in CASES.items()
    ]
    more, expected = whole_domains(folder, (1, 4, 9, 18))
    sheets = computed([*copies, *more], 2)
    return dict(zip(CASES, sheets[: len(CASES)], strict=True)), sheets[len(CASES) :], expected


@needs_libreoffice
@pytest.mark.parametrize("case", CASES)
def test_only_published_values_are_answered(at_once, case):
    rows = CASES[case][1]
    found = found_on_rows(at_once[0][case], len(rows))
    assert [(row, label) for (row, _), label in zip(rows, found, strict=True)] == rows


@pytest.mark.thorough
@needs_libreoffice
def test_the_form_answers(folder):
    """Filled by another library: a file that a person has saved."""
    openpyxl = pytest.importorskip("openpyxl")
    copies, expected = [], []

    def fill(name, points, row, answer):
        book = openpyxl.load_workbook(io.BytesIO(content(points, ABOUT)))
        for place, value in enumerate(row, FIRST_ENTRY):
            cell = book["Form"][f"B{place}"]
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"
        copies.append(folder / f"form-{name}.xlsx")
        book.save(copies[-1])
        expected.append(answer)

    for seed in (1, 4, 18):
        points = random_points(seed)
        codes, places = tuples_to_compare(points)
        texts = label_texts(points.classes)
        made = layout(points, ABOUT)
        rows = entered(made, codes)
        for number in (0, len(codes) - 1):
            row = [
                block.lines[-1].shown if value is None else value
                for value, block in zip(rows[number], made.blocks, strict=True)
            ]
            fill(f"{seed}-{number}", points, row, texts[places[number]])
    fill("unknown", TRAPS, beside(KNOWN, 0, "male"), "unknown")
    fill("unfinished", TRAPS, beside(KNOWN, 5, None), "choose a value in every row")
    fill("known", TRAPS, KNOWN, "ill")
    assert [sheet[3][1] for sheet in computed(copies, 1)] == expected
