import numpy as np
import numpy.typing as npt

MOST_BITS: int

def can(top: int, bottom: int) -> bool: ...
def size(bits: int) -> int: ...
def roots(
    numbers: npt.NDArray[np.uint64],
    top: int,
    bottom: int,
    bits: int,
    mantissas: npt.NDArray[np.uint64],
    exponents: npt.NDArray[np.int64],
    sure: npt.NDArray[np.uint8],
) -> None: ...
def products(
    numbers: npt.NDArray[np.uint64],
    exponents: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    results: npt.NDArray[np.uint64],
    result_exponents: npt.NDArray[np.int64],
) -> None: ...
def gauge(
    numbers: npt.NDArray[np.uint64],
    exponents: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    inverses: npt.NDArray[np.uint64],
    inverse_exponents: npt.NDArray[np.int64],
    snap: int,
    bits: int,
    mantissas: npt.NDArray[np.uint64],
    new_exponents: npt.NDArray[np.int64],
    floats: npt.NDArray[np.float64],
) -> None: ...
