"""PMML 4.4: a Scorecard of whole points, one a class where there are more than two.

A value that is not published matches no attribute of the scorecard, and there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nbcfast._core.numbers import edge
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.exports.scored_columns import ScoredColumn, scored_columns
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit
from nbcfast.table.values import Interval, Value

ENDING = ".pmml"
EXACT_BELOW = 2**53  # engines add doubles
SPACE = "http://www.dmg.org/PMML-4_4"
TEXT = {"optype": "categorical", "dataType": "string"}
NUMBERS = ("int", "float", "interval")
UNWRITTEN = re.compile("[\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")  # by XML 1.0, or not as it is


def content(points: PointsTable, about: About) -> bytes:
    """The model; ValueError where PMML cannot have a text or a number."""
    columns = scored_columns(points)
    expect_fit(points, EXACT_BELOW, "PMML")
    labels = label_texts(points.classes)
    _check_numbers(columns)
    for text in (*labels, about.class_name, *about.null_values, *_texts(columns)):
        _check_text(text)
    names = _Names(columns, about.class_name, len(labels))
    root = Element("PMML", {"xmlns": SPACE, "version": "4.4"})
    _header(root, points, about)
    dictionary = SubElement(root, "DataDictionary", {"numberOfFields": str(len(columns))})
    for column in columns:
        _data_field(dictionary, column, about.null_values)
    if points.threshold is not None or len(labels) == 1:
        card = _scorecard(root, columns, 0, 0, names.totals[0])
        _decision(card, points, labels, names)
    else:
        _chain(root, points, columns, labels, names)
    indent(root)
    written: bytes = tostring(root, "utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + written + b"\n"


class _Names:
    """Names of the fields that are answered: no attribute has them."""

    def __init__(self, columns: Sequence[ScoredColumn], class_name: str, n_classes: int) -> None:
        taken = {column.name for column in columns}
        self.label = _unused(class_name, taken)
        self.place = _unused("class position", taken)
        few = n_classes <= 2
        self.totals = [_unused("points" if few else f"points {c + 1}", taken) for c in range(n_classes)]


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _texts(columns: Iterable[ScoredColumn]) -> Iterable[str]:
    for column in columns:
        yield column.name
        yield from (value for value, _ in column.scored if isinstance(value, str))


def _check_text(text: str) -> None:
    if UNWRITTEN.search(text):
        raise ValueError(f"{ENDING}: XML has no characters such as in {text!r}: export to another format")


def _check_numbers(columns: Iterable[ScoredColumn]) -> None:
    """Refuse numbers that are no doubles, as which all of them are read, and a column without a name."""
    for column in columns:
        if not column.name:
            raise ValueError(f"{ENDING}: a field must have a name, got ''")
        for value, _ in column.scored:
            if isinstance(value, int | float) and not abs(value) <= (
                EXACT_BELOW if isinstance(value, int) else 1e308
            ):
                raise ValueError(
                    f"{ENDING}: numbers are doubles, and {column.name!r} has {value}: export to another "
                    "format"
                )


def _header(root: Element, points: PointsTable, about: About) -> None:
    header = SubElement(
        root, "Header", {"description": "Whole points that decide as the published release does"}
    )
    SubElement(header, "Extension", {"name": "certificate-sha256", "value": about.sha256})
    SubElement(header, "Application", {"name": "nbcfast", "version": about.version})
    note = SubElement(header, "Annotation")
    note.text = f"certificate sha256 {about.sha256}"


def _data_field(dictionary: Element, column: ScoredColumn, null_values: Sequence[str]) -> None:
    number = column.kind in NUMBERS
    kinds = {"optype": "continuous", "dataType": "double"} if number else TEXT
    field = SubElement(dictionary, "DataField", {"name": column.name, **kinds})
    for value, _ in column.scored:
        if isinstance(value, Interval):
            ends = {"leftMargin": value.low, "rightMargin": value.high}
            margins = {side: repr(float(edge(end))) for side, end in ends.items() if end is not None}
            if margins:
                SubElement(field, "Interval", {"closure": "closedOpen", **margins})
        elif not number:
            SubElement(field, "Value", {"value": _written(value)})
    if not number and column.null is not None:
        for text in null_values:
            SubElement(field, "Value", {"value": text, "property": "missing"})


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scorecard(
    above: Element,
    columns: Sequence[ScoredColumn],
    c: int,
    start: int,
    total: str,
    earlier: Sequence[str] = (),
) -> Element:
    """The points of one class; its Output begins with their sum."""
    given = {"functionName": "regression", "initialScore": _whole(start), "useReasonCodes": "false"}
    card = SubElement(above, "Scorecard", {"modelName": total, **given})
    _mining_schema(card, columns, earlier)
    output = SubElement(card, "Output")
    given = {"name": total, "optype": "continuous", "dataType": "double", "feature": "predictedValue"}
    SubElement(output, "OutputField", given)
    characteristics = SubElement(card, "Characteristics")
    for column in columns:
        characteristic = SubElement(characteristics, "Characteristic", {"name": f"points of {column.name}"})
        for value, row in column.scored:
            _predicate(_attribute(characteristic, row[c]), column.name, value)
        if column.null is not None:
            attribute = _attribute(characteristic, column.null[c])
            SubElement(attribute, "SimplePredicate", {"field": column.name, "operator": "isMissing"})
    return card


def _mining_schema(model: Element, columns: Sequence[ScoredColumn], earlier: Sequence[str] = ()) -> None:
    schema = SubElement(model, "MiningSchema")
    for column in columns:
        given = {"name": column.name, "usageType": "active", "invalidValueTreatment": "returnInvalid"}
        if column.null is None:
            given["missingValueTreatment"] = "returnInvalid"
        SubElement(schema, "MiningField", given)
    for name in earlier:
        SubElement(schema, "MiningField", {"name": name, "usageType": "active"})


def _attribute(characteristic: Element, number: int) -> Element:
    return SubElement(characteristic, "Attribute", {"partialScore": _whole(number)})


def _whole(number: int) -> str:
    """The number, written so that JPMML does not read the lowest 32 bits of it alone."""
    return str(number) if abs(number) < 2**31 else f"{number}.0"


def _predicate(attribute: Element, name: str, value: Value) -> None:
    if not isinstance(value, Interval):
        given = {"field": name, "operator": "equal", "value": _written(value)}
        SubElement(attribute, "SimplePredicate", given)
        return
    ends = [("greaterOrEqual", value.low), ("lessThan", value.high)]
    sides = [(operator, repr(float(edge(end)))) for operator, end in ends if end is not None]
    above = attribute
    if not sides:
        SubElement(attribute, "SimplePredicate", {"field": name, "operator": "isNotMissing"})
    if len(sides) == 2:
        above = SubElement(attribute, "CompoundPredicate", {"booleanOperator": "and"})
    for operator, end in sides:
        SubElement(above, "SimplePredicate", {"field": name, "operator": operator, "value": end})


def _chain(
    root: Element, points: PointsTable, columns: Sequence[ScoredColumn], labels: Sequence[str], names: _Names
) -> None:
    """A scorecard a class, one after the other; the last compares the totals."""
    model = SubElement(root, "MiningModel", {"functionName": "regression"})
    _mining_schema(model, columns)
    segmentation = SubElement(model, "Segmentation", {"multipleModelMethod": "modelChain"})
    for c, (start, total) in enumerate(zip(points.constants, names.totals, strict=True)):
        segment = SubElement(segmentation, "Segment", {"id": str(c + 1)})
        SubElement(segment, "True")
        last = c == len(labels) - 1
        card = _scorecard(segment, columns, c, start, total, names.totals[:c] if last else ())
    _decision(card, points, labels, names)


def _decision(card: Element, points: PointsTable, labels: Sequence[str], names: _Names) -> None:
    """The label: of the class whose side of the threshold the total is on, or else of the largest total.

    Labels stand in attributes of XML: PMML4S reads a text with an "&" in it from there on.
    """
    output = card.find("Output")
    assert output is not None
    sides: list[dict[str, int]]
    if points.threshold is None and len(labels) > 1:
        field = _output_field(output, names.place, "continuous", "double")
        for condition, place in _cases(names.totals):
            field = SubElement(field, "Apply", {"function": "if"})
            field.append(condition)
            constant = SubElement(field, "Constant", {"dataType": "double"})
            constant.text = str(place)
        source = names.place
        sides = [{"leftMargin": c, "rightMargin": c + 1} for c in range(len(labels))]
    else:
        source = names.totals[0]
        sides = [{"leftMargin": points.threshold or 0}, {"rightMargin": points.threshold or 0}][: len(labels)]
    field = _output_field(output, names.label, "categorical", "string")
    discretize = SubElement(field, "Discretize", {"field": source, "dataType": "string"})
    for label, side in zip(labels, sides, strict=True):
        single = SubElement(discretize, "DiscretizeBin", {"binValue": label})
        margins = {name: _whole(margin) for name, margin in side.items()}
        SubElement(single, "Interval", {"closure": "closedOpen", **margins})


def _output_field(output: Element, name: str, optype: str, kind: str) -> Element:
    given = {"name": name, "optype": optype, "dataType": kind, "feature": "transformedValue"}
    return SubElement(output, "OutputField", given)


def _cases(totals: Sequence[str]) -> Iterable[tuple[Element, int]]:
    """Conditions, of which the first that holds decides, and the class that it decides for. No "else"."""
    for c in reversed(range(1, len(totals))):
        most = _ref(totals[0]) if c == 1 else _apply("max", *map(_ref, totals[:c]))
        yield _apply("greaterOrEqual", _ref(totals[c]), most), c
    yield _apply("lessThan", _ref(totals[1]), _ref(totals[0])), 0


def _apply(function: str, *parts: Element) -> Element:
    made = Element("Apply", {"function": function})
    made.extend(parts)
    return made


def _ref(name: str) -> Element:
    return Element("FieldRef", {"field": name})
