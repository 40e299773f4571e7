import numpy as np
import numpy.typing as npt

_Longs = npt.NDArray[np.int64]
_Codes = npt.NDArray[np.uint32]
_Floats = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.uint8]

class Joiner:
    def __init__(
        self,
        id_offsets: _Longs,
        joins: _Codes,
        offsets: _Longs,
        values: _Codes,
        factors: _Floats,
        wanted: _Flags,
    ) -> None: ...
    def scan(
        self,
        start: int,
        stop: int,
        union_sizes: _Longs,
        common_sizes: _Longs,
        wanted_common: _Longs,
        worst: _Floats,
    ) -> None: ...
    def fill(
        self,
        start: int,
        stop: int,
        places: _Longs,
        values: _Codes,
        probabilities: _Floats,
        times: _Codes,
    ) -> None: ...
