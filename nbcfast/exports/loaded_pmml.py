"""Engines that read PMML: JPMML and PMML4S, where they and Java are installed."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.exports.raw_values import Raw, raw_columns
from nbcfast.published.points_table import PointsTable

Rows = Sequence[Sequence[Raw]]
PACKAGES = {"JPMML": "jpmml_evaluator", "PMML4S": "pypmml"}
SOON_UP = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]  # a check is short


def engines() -> dict[str, str]:
    """The engines that are installed, each with the version of its package."""
    if shutil.which("java") is None:
        return {}
    found = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def engine_names() -> str | None:
    """The engines, and the versions of their packages; None where there is none."""
    found = engines()
    return " and ".join(f"{PACKAGES[name]} {version}" for name, version in found.items()) or None


def pmml_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class that every installed engine gives each row of codes, -1 where one differs."""
    names, rows = asked_rows(points, codes, about.null_values)
    places = {text: place for place, text in enumerate(label_texts(points.classes))}
    each = []
    for engine in engines():
        labels = opened(engine, content)(names, rows)
        each.append([-1 if label is None else places.get(label, -1) for label in labels])
    first, *others = (np.array(found, np.int64) for found in each)
    for other in others:
        first[first != other] = -1
    return first


def asked_rows(points: PointsTable, codes: Longs, null_values: Sequence[str] = ()) -> tuple[list[str], Rows]:
    """The names of the attributes, and rows of raw values that are in the published ones."""
    columns = [column.rows() for column in raw_columns(points, codes, null_values)]
    return [name for name, _, _ in points.attributes], list(zip(*columns, strict=True))


Asked = Callable[[list[str], Rows], list[str | None]]


def opened(engine: str, content: bytes) -> Asked:
    """What answers rows of the named attributes with the texts of labels, None where there is no answer."""
    return {"JPMML": _jpmml, "PMML4S": _pmml4s}[engine](content)


@functools.cache
def _java() -> Any:
    """The process in which JPMML runs: it ends with this one."""
    import jpmml_evaluator
    from jpmml_evaluator.py4j import Py4JBackend
    from py4j.java_gateway import JavaGateway

    folder = os.path.dirname(jpmml_evaluator.__file__)
    path = os.pathsep.join(os.path.join(folder, part, "*") for part in ("resources", "dependencies"))
    return Py4JBackend(JavaGateway.launch_gateway(classpath=path, javaopts=SOON_UP, die_on_exit=True))


def _jpmml(content: bytes) -> Asked:
    import pandas
    from jpmml_evaluator import make_evaluator

    evaluator = make_evaluator(content, backend=_java()).verify()
    label = evaluator.getOutputFields()[-1].getName()

    def asked(names: list[str], rows: Rows) -> list[str | None]:
        frame = pandas.DataFrame(rows, columns=names, dtype=object)
        results, _ = evaluator.evaluateAll(frame, error_col=None)
        found = results[label].tolist() if label in results else [None] * len(rows)
        return [text if isinstance(text, str) else None for text in found]

    return asked


def _pmml4s(content: bytes) -> Asked:
    from pypmml import Model, PMMLContext

    PMMLContext.getOrCreate(java_opts=SOON_UP)
    model = Model.fromBytes(content)
    label = model.outputNames[-1]

    def asked(names: list[str], rows: Rows) -> list[str | None]:
        found = json.loads(model.predict(json.dumps({"columns": names, "data": rows})))
        place = found["columns"].index(label)
        return [row[place] for row in found["data"]]

    return asked
