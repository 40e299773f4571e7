import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Bytes

def plan(chunk: bytes | Bytes) -> tuple[int, int, int, int, int, int] | None: ...
def snappy(stored: bytes | Bytes | memoryview, out: Bytes) -> bool: ...
def codes(
    chunk: bytes | Bytes,
    is_snappy: bool,
    optional: bool,
    n_values: int,
    space: Bytes,
    out: npt.NDArray[np.uint8 | np.uint16],
    valid: Bytes,
) -> int | None: ...
