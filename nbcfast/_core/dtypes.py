"""Names of arrays, one a dtype, for annotations."""

from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Int8s = npt.NDArray[np.int8]
UInt16s = npt.NDArray[np.uint16]
Int32s = npt.NDArray[np.int32]
UInt32s = npt.NDArray[np.uint32]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]  # positions in another array, as NumPy's own sorting and searching gives them

Array = npt.NDArray[Any]  # of several dtypes, or of one that its caller has chosen
Codes = Array  # of uint8, uint16 or uint32, as few bytes as the domain needs
Counts = Array  # of int64, or of object for Python ints beyond it
Numbers = Array  # of Python ints
Exacts = Array  # of Fractions
