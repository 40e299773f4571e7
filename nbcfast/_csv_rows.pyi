from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]
_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.uint32]
_Longs = npt.NDArray[np.int64]
_Keys = npt.NDArray[np.uint64]

AHEAD: int
FINE: int
RAGGED: int
NUL: int
NO_UTF8: int
MEMORY: int

class Values:
    n_columns: int
    def __init__(self, keys: _Keys) -> None: ...
    def size(self, column: int) -> int: ...
    def null(self, column: int) -> int: ...
    def texts(self, column: int, codes: _Ints) -> list[str | None]: ...
    def integers(self, column: int, codes: _Ints, out: _Longs) -> int: ...
    def floats(self, column: int, codes: _Ints, out: npt.NDArray[np.float64]) -> int: ...

class Scanner:
    rows: int
    wrong: tuple[int, int, int, int]
    def __init__(
        self,
        values: Values,
        n_fields: int,
        places: _Longs,
        delimiter: int,
        nulls: list[bytes],
        keys: _Keys,
        level: int,
    ) -> None: ...
    def scan(self, text: _Bytes, start: int, end: int, append: bool = False) -> int: ...
    def width(self, column: int) -> int: ...
    def most(self, column: int) -> int: ...
    def copy(self, column: int, start: int, out: _Array) -> None: ...

def levels() -> int: ...
def border(
    text: _Bytes, start: int, end: int, delimiter: int, last: bool, level: int
) -> tuple[int, bool]: ...
def row(text: _Bytes, start: int, end: int, delimiter: int) -> tuple[list[bytes], int, int]: ...
def meet(codes: _Array, places: _Ints, firsts: _Ints, n: int) -> int: ...
