import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
U64 = npt.NDArray[np.uint64]

MOST_ATTRIBUTES: int

class Separator:
    def __init__(
        self, count_a: I32, order_a: I32, sizes_a: I32, count_b: I32, order_b: I32, sizes_b: I32
    ) -> None: ...
    def separate(self, numbers: npt.NDArray[np.float64], limit: float, found: I32) -> tuple[float, float]: ...
    def separate_exactly(self, numbers: U64, limit: U64, found: I32, lowest: U64) -> tuple[bool, bool]: ...
