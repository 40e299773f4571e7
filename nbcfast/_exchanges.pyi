import numpy as np
import numpy.typing as npt

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

CHANGED: int
UNCHANGED: int
UNDECIDED: int

def pair(
    count: I32,
    order: I32,
    sizes: I32,
    n_first: int,
    numbers: I64,
    codes: I32,
    changed: I64,
    bases: I64,
    error: int,
    ties: bool,
    result: I8,
) -> None: ...
def labels(
    known: I8,
    sizes: I32,
    n_first: int,
    numbers: I64,
    codes: I32,
    changed: I64,
    bases: I64,
    error: int,
    ties: bool,
    result: I8,
) -> None: ...
