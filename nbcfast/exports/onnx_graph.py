"""A release as an ONNX model: an input for each attribute, integer points, and four outputs.

Inputs have one number or text a row: strings, int64, bool, or doubles for floats, bins, and wherever numbers
or bools may be null. A null is NaN, and of texts the empty one. Outputs are `label` (a text), `class` (its
position, in rising precedence), `points` (the totals) and `known`; where a value is not published `known` is
false, the label is empty and the class is -1. An output that an attribute has the name of has a _ after it.

The row of points of an unknown value stands last in its table: Gather takes a place of -1 for the last row,
without a word. Of equal totals the later class wins, by comparisons in rising order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast._core.numbers import WHOLE, edge
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit
from nbcfast.table.values import Interval, Kind, Value, kind_of_values

if TYPE_CHECKING:
    from types import ModuleType

    from onnx import NodeProto, TensorProto

OPSET, ML_OPSET, IR = 17, 3, 8
OUTPUTS = ("label", "class", "points", "known")


class InputColumn(NamedTuple):
    """How an attribute comes in.

    Attributes
    ----------
    name : str
        Of the attribute, and of the input.
    type : {"string", "int64", "bool", "double"}
        Of the input.
    kind : {"bool", "int", "float", "text", "interval"} or None
        Of its published values.
    values : tuple
        These, null among them.
    """

    name: str
    type: str
    kind: Kind | None
    values: tuple[Value, ...]

    @classmethod
    def of(cls, name: str, values: tuple[Value, ...]) -> InputColumn:
        """The input for these values; ValueError where ONNX does not tell two of them apart."""
        if not name:
            raise ValueError("an input of ONNX must have a name, got ''")
        kind = kind_of_values(name, values)
        if kind == "text" or kind is None:
            if None in values and "" in values:
                raise ValueError(
                    f"attribute {name!r} has null and the empty text, which are one in ONNX: name one of them"
                )
            return cls(name, "string", kind, values)
        if kind in ("int", "bool") and None not in values:
            return cls(name, "int64" if kind == "int" else "bool", kind, values)
        if kind == "int" and any(isinstance(value, int) and abs(value) >= WHOLE for value in values):
            raise ValueError(
                f"attribute {name!r} has null, and integers from 2^53 on, which doubles do not tell apart"
            )
        return cls(name, "double", kind, values)


def outputs_of(points: PointsTable) -> dict[str, str]:
    """The names of the outputs, each with _ after it where an attribute has it."""
    taken, names = {name for name, _, _ in points.attributes}, {}
    for output in OUTPUTS:
        name = output
        while name in taken:
            name += "_"
        names[output] = name
        taken.add(name)
    return names


def content(points: PointsTable, about: About) -> bytes:
    """The model; ValueError where ONNX does not tell two values apart, or cannot hold one."""
    try:
        from onnx import helper
    except ImportError:
        raise ImportError("an .onnx file needs onnx: pip install onnx", name="onnx") from None
    expect_fit(points, where="ONNX")
    columns = [InputColumn.of(name, domain) for name, domain, _ in points.attributes]
    names = outputs_of(points)
    graph = Graph(helper, [*(column.name for column in columns), *names.values()])
    for column, (_, _, rows) in zip(columns, points.attributes, strict=True):
        graph.attribute(column, np.array(rows, np.int64), about.null_values)
    graph.decision(points, names)
    types = {"label": 8, "class": 7, "points": 7, "known": 9}  # string, int64, int64, bool
    shapes: dict[str, list[str | int]] = {name: ["rows"] for name in OUTPUTS}
    shapes["points"] = ["rows", 1 if points.threshold is not None else len(points.classes)]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "points",
            [helper.make_tensor_value_info(each.name, _element(each.type), ["rows"]) for each in columns],
            [helper.make_tensor_value_info(names[each], types[each], shapes[each]) for each in OUTPUTS],
            graph.tables,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
        producer_name="nbcfast",
        producer_version=about.version,
    )
    said = {
        "certificate_sha256": about.sha256,
        "class_column": about.class_name,
        "classes": json.dumps(label_texts(points.classes)),
        "inputs": json.dumps({column.name: column.type for column in columns}),
        "outputs": json.dumps(names),
        "rule": points.rule,
    }
    helper.set_model_props(model, said)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _element(type_name: str) -> int:
    return {"string": 8, "int64": 7, "bool": 9, "double": 11}[type_name]


class Graph:
    """Nodes and tables of a model; `taken` are names that its inputs and outputs have."""

    def __init__(self, helper: ModuleType, taken: Sequence[str]) -> None:
        self.helper = helper
        self.nodes: list[NodeProto] = []
        self.tables: list[TensorProto] = []
        self._prefix = "nbcfast"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._known: list[str] = []
        self._points: list[str] = []

    def node(self, kind: str, *inputs: str, **options: object) -> str:
        """A node; the name of what it gives."""
        return self.named(f"{self._prefix}{len(self.nodes)}", kind, *inputs, **options)

    def named(self, name: str, kind: str, *inputs: str, **options: object) -> str:
        """A node that gives what has this name."""
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], domain=domain, **options))
        return name

    def table(self, array: Array) -> str:
        """A constant array; its name."""
        name = f"{self._prefix}t{len(self.tables)}"
        element = {"i": 7, "f": 11}[array.dtype.kind]
        self.tables.append(self.helper.make_tensor(name, element, array.shape, array.reshape(-1).tolist()))
        return name

    def attribute(self, column: InputColumn, numbers: Array, null_values: Sequence[str] = ()) -> None:
        """The points of an attribute, of which an unknown value has none; these texts are null."""
        n = len(column.values)
        if column.type == "double":
            place = self._of_doubles(column)
        elif column.type == "string":
            texts = ["" if value is None else value for value in column.values]
            places = list(range(n))
            if None in column.values:
                others = [text for text in null_values if text]
                texts += others
                places += [column.values.index(None)] * len(others)
            place = self._encoded(column.name, n, places, keys_strings=texts)
        else:
            given = column.name if column.type == "int64" else self.node("Cast", column.name, to=7)
            place = self._encoded(given, n, range(n), keys_int64s=[int(value) for value in column.values])  # type: ignore[arg-type]
        width = numbers.shape[1]
        rows = self.table(np.concatenate([numbers, np.zeros((1, width), np.int64)]))
        self._points.append(self.node("Gather", rows, place, axis=0))
        self._known.append(self.node("Less", place, self.table(np.array(n, np.int64))))

    def _encoded(self, given: str, n: int, places: Sequence[int], **keys: object) -> str:
        """The place of each value, n where there is none."""
        return self.node("LabelEncoder", given, values_int64s=list(places), default_int64=n, **keys)

    def _of_doubles(self, column: InputColumn) -> str:
        """The place of each number by comparisons, n where all of them fail, as those with NaN do."""
        n = len(column.values)
        wide = self.node("Unsqueeze", column.name, self.table(np.array([1], np.int64)))
        if column.kind == "interval":
            bins = [value for value in column.values if isinstance(value, Interval)]
            lows = [-np.inf if one.low is None else edge(one.low) for one in bins]
            highs = [np.inf if one.high is None else edge(one.high) for one in bins]
            above = self.node("GreaterOrEqual", wide, self.table(np.array(lows, np.float64)))
            below = self.node("Less", wide, self.table(np.array(highs, np.float64)))
            if any(one.high is None for one in bins):  # infinity is in it
                open_ends = np.array([np.inf if one.high is None else np.nan for one in bins])
                below = self.node("Or", below, self.node("Equal", wide, self.table(open_ends)))
            hits = self.node("And", above, below)
        else:
            values = np.array([value for value in column.values if value is not None], np.float64)
            hits = self.node("Equal", wide, self.table(values))
        if None in column.values:
            hits = self.node("Concat", hits, self.node("IsNaN", wide), axis=1)
        from_end = self.table(np.arange(n, dtype=np.int64) - n)
        steps = self.node("Mul", self.node("Cast", hits, to=7), from_end)
        total = self.node("ReduceSum", steps, self.table(np.array([1], np.int64)), keepdims=0)
        return self.node("Add", total, self.table(np.array(n, np.int64)))

    def decision(self, points: PointsTable, names: dict[str, str]) -> None:
        """Totals, and what they give where all values are known."""
        known = self._known[0]
        for other in self._known[1:]:
            known = self.node("And", known, other)
        self.named(names["known"], "Identity", known)
        total = self._points[0]
        for other in self._points[1:]:
            total = self.node("Add", total, other)
        if points.threshold is None:
            total = self.node("Add", total, self.table(np.array([points.constants], np.int64)))
            best = self._later_of_equals(total, len(points.classes))
        else:
            reached = self.node("GreaterOrEqual", total, self.table(np.array([points.threshold], np.int64)))
            reached = self.node("Squeeze", reached, self.table(np.array([1], np.int64)))
            best = self.node("Where", reached, *(self.table(np.array(c, np.int64)) for c in (0, 1)))
        self.named(names["points"], "Identity", total)
        none = self.table(np.array(-1, np.int64))
        decided = self.named(names["class"], "Where", known, best, none)
        self.named(
            names["label"],
            "LabelEncoder",
            decided,
            keys_int64s=list(range(len(points.classes))),
            values_strings=label_texts(points.classes),
            default_string="",
        )

    def _later_of_equals(self, total: str, n: int) -> str:
        """The class of the largest total of each row, and of equal ones the later."""
        columns = [self.node("Gather", total, self.table(np.array(c, np.int64)), axis=1) for c in range(n)]
        most, best = columns[0], self.node("Mul", columns[0], self.table(np.array(0, np.int64)))
        for c in range(1, n):
            reaches = self.node("GreaterOrEqual", columns[c], most)
            best = self.node("Where", reaches, self.table(np.array(c, np.int64)), best)
            most = self.node("Where", reaches, columns[c], most)
        return best
