import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

MOST_WEIGHT: int

class Choices:
    def __init__(
        self,
        cells: I32,
        folds: I32,
        weights: I64,
        starts: I64,
        first: I64,
        sizes: I64,
        tables: I64,
        logs: F64,
        counts: I64,
        priors: F64,
        class_counts: I64,
        bound: float,
    ) -> None: ...
    def correct(self, chosen: I32, inner: I32, correct: I64) -> None: ...
    def losses(self, chosen: I32, inner: I32, bits: int, finite: I64, infinite: I64) -> None: ...
