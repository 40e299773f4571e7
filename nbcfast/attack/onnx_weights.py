"""Logarithms of probabilities in an ONNX file: the tensors that are some, whatever their names."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast.table.values import Value

MOST_BYTES = 1 << 28
PICKLES = (".pkl", ".pickle", ".joblib", ".sav", ".dill", ".skops")
MODELS = (".onnx", *PICKLES)  # what looks like a model, whether it is read or not
NEAR = 1e-3  # of 1, what shares add up to


class FoundInFile(NamedTuple):
    """What of a file are logarithms of probabilities: of classes, and of the values of each attribute."""

    prior: Array
    conditional: dict[str, Array]
    classes: tuple[Value, ...]


def read_onnx(path: str | os.PathLike[str]) -> FoundInFile:
    """The weights of a naive Bayes classifier, as skl2onnx writes it or another with the same tensors."""
    content = _content(os.fspath(path))
    try:
        onnx = importlib.import_module("onnx")
    except ImportError:
        raise ImportError("an .onnx file needs onnx: pip install onnx", name="onnx") from None
    try:
        graph = onnx.load_model_from_string(content).graph
        tensors = list(_tensors(onnx, graph))
    except Exception as error:  # of protobuf, whose classes are several
        raise ValueError(
            f"{path}: expected an ONNX model, got something else ({type(error).__name__})"
        ) from None
    vectors = [array.ravel() for array in tensors if _is_vector(array) and array.dtype.kind == "f"]
    matrices = [array for array in tensors if array.ndim == 2 and array.dtype.kind == "f"]
    for prior in vectors:
        if not _are_shares(prior):
            continue
        found = [
            array for array in (_of_classes(array, len(prior)) for array in matrices) if array is not None
        ]
        if found:
            conditional = {f"x{i}": array for i, array in enumerate(found)}
            return FoundInFile(prior, conditional, _labels(tensors, len(prior)))
    raise ValueError(
        f"{path}: expected the logarithms of the probabilities of classes and of values, as a CategoricalNB "
        f"has them, got none among {len(tensors)} tensors"
    )


def _content(path: str) -> bytes:
    """The bytes of a file that is not executed when it is read."""
    if path.lower().endswith(PICKLES):
        raise ValueError(_pickled(path))
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path}: expected an ONNX file, got a folder or a device")
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path}: expected an ONNX file of at most {MOST_BYTES:,} bytes, got a longer one")
    # Protocols 2 to 5 begin so; a model of ONNX begins with the number of its version, field 1.
    if content[:1] == b"\x80":
        raise ValueError(_pickled(path))
    return content


def _pickled(path: str) -> str:
    return (
        f"{path}: a pickle is not loaded, as loading runs whatever is in it: load it yourself if you trust "
        "who made it, and give attack.model the fitted CategoricalNB"
    )


def _tensors(onnx: Any, graph: Any) -> Iterator[Array]:
    """What the file holds as numbers or texts: initializers, and constants among the nodes."""
    constants = (
        attribute.t for node in graph.node if node.op_type == "Constant" for attribute in node.attribute
    )
    for tensor in (*graph.initializer, *constants):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ValueError("tensors outside the file")
        yield onnx.numpy_helper.to_array(tensor)


def _labels(tensors: list[Array], n_classes: int) -> tuple[Value, ...]:
    """The labels of the classes, or their places where it is not clear which numbers are labels."""
    vectors = [array for array in tensors if _is_vector(array) and array.size == n_classes]
    for kinds in ("UO", "i"):  # numbers may be the shapes of tensors too, texts are labels
        found = {tuple(array.ravel().tolist()) for array in vectors if array.dtype.kind in kinds}
        distinct = [each for each in found if len(set(each)) == n_classes]
        if distinct:
            return distinct[0] if len(distinct) == 1 else tuple(range(n_classes))
    return tuple(range(n_classes))


def _is_vector(array: Array) -> bool:
    return array.size > 1 and array.size == max(array.shape, default=0)


def _are_shares(logs: Array) -> bool:
    """Whether these are logarithms of shares, along the last axis."""
    return _off(logs) < NEAR


def _off(logs: Array) -> float:
    """How far from 1 the shares add up to, along the last axis, if these are logarithms of some."""
    with np.errstate(over="ignore"):
        sums = np.exp(logs.astype(np.float64)).sum(axis=-1)
    return float(np.abs(sums - 1).max(initial=0.0))


def _of_classes(array: Array, n_classes: int) -> Array | None:
    """The array as (values, classes), if its shares add up to 1 in each of the classes."""
    turned = [each for each in (array, array.T) if each.shape[0] == n_classes and _are_shares(each)]
    return min(turned, key=_off).T if turned else None  # of as many values as classes either may do nearly
