from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Longs = npt.NDArray[np.uint64]
_Pair = tuple[int, int]

def distinct(
    columns: Sequence[npt.NDArray[Any]],
    bits: Sequence[_Longs],
    start: int,
    stop: int,
    weights: npt.NDArray[np.int64] | None,
    n_bits: int,
) -> tuple[_Longs, _Longs]: ...
def merged(keys: _Longs, totals: _Longs | None, n_bits: int) -> tuple[_Longs, _Longs]: ...
def tally(
    columns: Sequence[npt.NDArray[Any]],
    bits: Sequence[_Longs],
    start: int,
    stop: int,
    weights: npt.NDArray[np.int64] | None,
    table: _Longs,
) -> None: ...
def unpacked(
    keys: _Longs, shifts: npt.NDArray[np.int64], widths: npt.NDArray[np.int64], out: npt.NDArray[Any]
) -> None: ...

class Disclosing:
    steps: list[tuple[int, int, float, float, float, tuple[_Pair, ...]]]
    def __init__(
        self,
        counts: Sequence[npt.NDArray[np.int64]],
        continuous: Sequence[bool],
        parts: Sequence[tuple[Any, ...]],
        templates: Sequence[tuple[int, int, int, int]],
        wide: bool,
        distortion: bool,
        beneficial: bool,
    ) -> None: ...
    def confidences(self) -> list[_Pair]: ...
    def breaks(self, attribute: int, value: int) -> tuple[int, int, int] | None: ...
    def step(self) -> bool: ...
    @property
    def peak_bytes(self) -> int: ...
