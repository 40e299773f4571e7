import numpy as np
import numpy.typing as npt

def gains(
    logs: npt.NDArray[np.int64],
    zero: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    c: int,
    d: int,
    shift: int,
    both: bool,
    without: npt.NDArray[np.int64],
    with_zero: npt.NDArray[np.int64],
) -> None: ...
