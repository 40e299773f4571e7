import numpy as np
import numpy.typing as npt

OK: int
NONE: int
BEYOND: int
MOST: int

def posteriors(
    class_counts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    most_cost: float,
    shares: npt.NDArray[np.float64],
    errors: npt.NDArray[np.float64],
    states: npt.NDArray[np.int8],
) -> None: ...
