import numpy as np
import numpy.typing as npt

from nbcfast._columns import Columns

class Tally:
    def __init__(
        self,
        columns: Columns,
        first: npt.NDArray[np.int64],
        members: npt.NDArray[np.int64],
        weights: npt.NDArray[np.int64] | None = None,
    ) -> None: ...
    def add(self, start: int, stop: int) -> int: ...
    def add_to(self, counts: npt.NDArray[np.int64]) -> None: ...

def tally_few(
    columns: Columns,
    counts: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64] | None = None,
) -> int: ...
def first_bad(columns: Columns, column: int) -> int: ...
def add_checked(counts: npt.NDArray[np.int64], others: npt.NDArray[np.int64], subtract: bool) -> int: ...
