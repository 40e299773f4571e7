"""Columns from NumPy arrays and Python sequences."""

from collections.abc import Mapping, Sequence, Set
from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from nbcfast import _codes
from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.untyped import Arrow
from nbcfast.table import arrow
from nbcfast.table.encode import BLOCK, ColumnBuilder, code_dtype
from nbcfast.table.values import join_kinds, kind_of

FEW_OBJECTS = 1 << 10  # are told apart by their addresses, however few rows there are


def is_arrow(obj: object) -> TypeGuard[Arrow]:
    """Whether this object exports itself through the Arrow C interface."""
    return hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__")


def is_extension_array(obj: object) -> bool:
    """Whether this is an array of pandas' own, whose NumPy form may lose nulls and digits."""
    return hasattr(obj, "__arrow_array__") or type(obj).__module__.split(".")[0] == "pandas"


def unmasked(values: object) -> object:
    """Masked values as None; NumPy and scikit-learn would take what lies under the mask for values."""
    if not (isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)):
        return values
    found = np.ma.getdata(values).astype(object)
    found[np.ma.getmaskarray(values)] = None
    return found


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
    if kind == "O" and not masked:
        add_objects([builder], array.reshape(-1, 1))
        return
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


class _Addresses:
    """Where the objects of an array lie, as integers over the same memory."""

    def __init__(self, array: Array) -> None:
        interface = array.__array_interface__
        address, _ = interface["data"]
        self.__array_interface__ = {
            "data": (address, True),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": np.dtype(np.intp).str,
            "version": interface["version"],
        }


class _Objects:
    """A column of Python objects, of which one that many rows point at is looked at once.

    Whether two are the same object is told by their addresses, and what each is by Python.
    """

    def __init__(self, builder: ColumnBuilder, array: Array) -> None:
        self.builder, self.array = builder, array
        self._encoder = _codes.KeyEncoder(near=False)
        self._found: list[object] = []
        self._parts: list[Array] = []
        self._n_rows = 0
        self._shared = True

    def add(self, addresses: Longs) -> None:
        """Where the objects of the next rows lie."""
        self._n_rows += len(addresses)
        if not self._shared:
            return
        codes = np.empty(len(addresses), np.uint32)
        self._encoder.encode(addresses, None, codes)
        known = len(self._found)
        if len(self._encoder) > known:
            new = np.flatnonzero(codes >= known)
            firsts = np.empty(len(self._encoder) - known, np.int64)
            firsts[codes[new[::-1]] - known] = new[::-1] + (self._n_rows - len(addresses))
            self._found += self.array[firsts].tolist()
            # Where most rows have an object of their own, as texts that were split, addresses are of no use.
            self._shared = 4 * len(self._found) <= self._n_rows or len(self._found) <= FEW_OBJECTS
        self._parts.append(codes.astype(code_dtype(len(self._encoder))))

    def finish(self) -> None:
        """Hand all rows to the builder."""
        if not self._shared:
            try:
                self.builder.add_list(self.array)
            except TypeError:  # of several kinds, unless one of them is NaN
                self.builder.add_list(_with_nulls(self.array.tolist()))
            return
        where = f"column {self.builder.name!r}"
        values = _with_nulls(self._found)
        kind = join_kinds((kind_of(cls, where) for cls in set(map(type, values))), where)
        if self._parts:
            self.builder.add_coded(np.concatenate(self._parts), values, kind)


def add_objects(builders: Sequence[ColumnBuilder], matrix: Array) -> None:
    """All rows of columns of Python objects, which stand beside one another in an array of two dimensions.

    A NaN beside texts or bools is a null, as pandas has it.
    """
    columns = [_Objects(builder, matrix[:, place]) for place, builder in enumerate(builders)]
    addresses = np.asarray(_Addresses(matrix))
    # So few rows that they stay in a cache: of rows that lie one after another a column is every so many.
    rows = BLOCK if len(columns) == 1 else max(BLOCK * 2 // max(len(columns), 1), 1)
    for start in range(0, len(matrix), rows):
        block = np.ascontiguousarray(addresses[start : start + rows].T, np.int64)
        for column, found in zip(columns, block, strict=True):
            column.add(found)
    for column in columns:
        column.finish()


def _with_nulls(values: list[object]) -> list[object]:
    """NaN as None where other values are texts or bools."""
    types = set(map(type, values))
    if any(issubclass(cls, float) for cls in types) and any(
        issubclass(cls, str | bool | np.bool_) for cls in types
    ):
        return [None if isinstance(value, float) and value != value else value for value in values]
    return values


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
