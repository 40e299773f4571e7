from typing import Any

import numpy as np
import numpy.typing as npt

class TextEncoder:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def encode(
        self,
        offsets: npt.NDArray[Any],
        data: npt.NDArray[np.uint8],
        valid: npt.NDArray[np.uint8] | None,
        first_bit: int,
        out: npt.NDArray[np.uint32],
    ) -> None: ...
    def found(self, start: int = 0) -> list[str | None]: ...
