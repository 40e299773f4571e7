"""An ONNX model run over tuples of the domain, by onnxruntime."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence

import numpy as np

from nbcfast._core.dtypes import Array, Longs
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.exports.onnx_graph import InputColumn, outputs_of
from nbcfast.exports.raw_values import Raw, raw_columns
from nbcfast.published.points_table import PointsTable


def onnxruntime_name() -> str | None:
    """What runs models here."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    return f"onnxruntime {importlib.import_module('onnxruntime').__version__}"


def onnx_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class that the model gives each row of codes, -1 where it knows none."""
    runtime = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = outputs_of(points)
    texts = np.array([*label_texts(points.classes), ""], object)
    wanted = [names[name] for name in ("class", "label", "known")]
    classes, labels, known = session.run(wanted, inputs_of(points, codes, about.null_values))
    if not np.array_equal(texts[classes], labels) or not np.array_equal(classes >= 0, known):
        raise ValueError("the outputs of the model contradict each other")
    found: Longs = classes
    return found


def inputs_of(points: PointsTable, codes: Longs, null_values: Sequence[str] = ()) -> dict[str, Array]:
    """Arrays of raw values for the inputs of a model."""
    given = {}
    columns = raw_columns(points, codes, null_values)
    for column, (name, domain, _) in zip(columns, points.attributes, strict=True):
        given[name] = of_type(InputColumn.of(name, domain).type, column.values)[column.places]
    return given


def of_type(type_name: str, values: tuple[Raw, ...]) -> Array:
    """Raw values as an input has them: null is NaN, or the empty text."""
    if type_name == "string":
        return np.array(["" if value is None else value for value in values], object)
    if type_name == "double":
        return np.array([np.nan if value is None else float(value) for value in values], np.float64)
    return np.array(values, {"int64": np.int64, "bool": np.bool_}[type_name])
