"""Columns from NumPy arrays and Python sequences."""

from collections.abc import Mapping, Sequence, Set
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from nbcfast import _codes
from nbcfast._core.dtypes import Array
from nbcfast._core.untyped import Arrow
from nbcfast.table import arrow
from nbcfast.table.encode import BLOCK, ColumnBuilder


def is_arrow(obj: object) -> TypeGuard[Arrow]:
    """Whether this object exports itself through the Arrow C interface."""
    return hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__")


def is_extension_array(obj: object) -> bool:
    """Whether this is an array of pandas' own, whose NumPy form may lose nulls and digits."""
    return hasattr(obj, "__arrow_array__") or type(obj).__module__.split(".")[0] == "pandas"


def add_values(builder: ColumnBuilder, data: object) -> None:
    """All rows of a column from one array, sequence or Arrow object."""
    if isinstance(data, np.ndarray):
        add_array(builder, data)
    elif is_arrow(data) or is_extension_array(data):
        arrow.add_array(builder, data)
    elif isinstance(data, range):
        add_array(builder, np.arange(data.start, data.stop, data.step, dtype=np.int64))
    elif isinstance(data, (list, tuple)):
        builder.add_list(data)
    elif isinstance(data, (str, bytes, bytearray, memoryview, Mapping, Set)):
        raise TypeError(f"column {builder.name!r}: expected a 1-D array or a list, got {type(data).__name__}")
    elif hasattr(data, "__array__"):
        add_array(builder, np.asarray(data))
    elif isinstance(data, Sequence):
        builder.add_list(list(data))
    else:
        raise TypeError(f"column {builder.name!r}: expected a 1-D array or a list, got {type(data).__name__}")


def add_array(builder: ColumnBuilder, array: Array) -> None:
    """All rows of a column from a NumPy array of any stride and byte order."""
    name, kind = builder.name, array.dtype.kind
    if array.ndim != 1:
        raise ValueError(f"column {name!r}: expected a 1-D array, got shape {array.shape}")
    if kind not in "biufUOT" or (array.dtype.itemsize > 8 and kind == "f"):
        raise TypeError(
            f"column {name!r}: expected bools, integers, floats of at most 64 bits or text, got {array.dtype}"
        )
    masked = isinstance(array, np.ma.MaskedArray)
    if kind in "OT" or (masked and kind == "U"):
        builder.add_list(array.tolist())
        return
    nulls = np.ma.getmaskarray(array).view(np.uint8) if masked else None
    plain = np.asarray(np.ma.getdata(array)) if masked else np.asarray(array)
    if kind == "U":
        _add_text(builder, plain)
    elif kind == "b":
        values = [False, True, None]
        for start in range(0, len(plain), BLOCK):
            codes = np.not_equal(plain[start : start + BLOCK], False).astype(np.uint8)
            if nulls is not None:
                codes[nulls[start : start + BLOCK] != 0] = 2
            builder.add_coded(codes, values)
    else:
        builder.add_numbers(plain, nulls)


def _add_text(builder: ColumnBuilder, array: npt.NDArray[np.str_]) -> None:
    """Text of fixed width: each value is `width` words of 32 bits, padded with zeros."""
    width = max(array.dtype.itemsize // 4, 1)
    encoder = _codes.RecordEncoder(width)
    rows = max(BLOCK // width, 1)
    blocks = []
    for start in range(0, len(array), rows):
        block = np.ascontiguousarray(array[start : start + rows], dtype=f"=U{width}")
        codes = np.empty(len(block), np.uint32)
        encoder.encode(block.view(np.uint32).reshape(-1, width), codes)
        blocks.append(codes.astype(np.min_scalar_type(len(encoder))))
    try:
        values = encoder.found().view(f"=U{width}").ravel().tolist()
    except ValueError as error:
        raise ValueError(f"column {builder.name!r}: expected text, got {error}") from None
    blocks.reverse()
    while blocks:
        builder.add_coded(blocks.pop(), values)
