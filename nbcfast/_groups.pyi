import numpy as np
import numpy.typing as npt

from nbcfast._columns import Columns

_Longs = npt.NDArray[np.int64]

DENSE: int
RADIX: int
HASH: int

class Grouper:
    def __init__(self, columns: Columns, method: int, weights: _Longs | None = None) -> None: ...
    def add(self, start: int, stop: int) -> int: ...
    def absorb(self, other: Grouper) -> None: ...
    def finish(self) -> tuple[_Longs, npt.NDArray[np.uint32], _Longs, _Longs, npt.NDArray[np.uint64]]: ...

def distances(
    offsets: _Longs,
    values: npt.NDArray[np.uint32],
    counts: _Longs,
    sizes: _Longs,
    totals: _Longs,
    ordered: bool,
    out: _Longs,
) -> None: ...
