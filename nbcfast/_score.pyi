from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nbcfast._columns import Columns

class Scores:
    def __init__(
        self,
        columns: Columns,
        first: npt.NDArray[np.int64],
        members: npt.NDArray[np.int64],
        singles: npt.NDArray[np.float64],
        base: npt.NDArray[np.float64],
        bound: float,
        limbs: npt.NDArray[np.uint64],
        up: npt.NDArray[np.uint64],
        down: npt.NDArray[np.uint64],
        unit: float = 0,
        cap: int = ...,
    ) -> None: ...
    @property
    def unit(self) -> float: ...
    @property
    def near(self) -> int: ...
    @property
    def cap(self) -> int: ...
    @property
    def n_chunks(self) -> int: ...

class Scorer:
    def __init__(self, scores: Scores) -> None: ...
    @property
    def n_close(self) -> int: ...
    def predict(
        self,
        start: int,
        stop: int,
        labels: npt.NDArray[np.uint8] | npt.NDArray[np.uint16],
        tied: npt.NDArray[np.uint8] | None = None,
    ) -> int: ...
    def order(self, start: int, stop: int, order: npt.NDArray[np.uint16]) -> int: ...
    def costs(self, start: int, stop: int, sums: npt.NDArray[np.uint32]) -> int: ...

class Translation:
    def __init__(self, tables: list[npt.NDArray[np.int64]]) -> None: ...

class Served:
    def __init__(self, scores: Scores) -> None: ...
    def decide_columns(
        self,
        columns: Columns,
        labels: npt.NDArray[np.uint8] | npt.NDArray[np.uint16],
        translation: Translation | None = None,
        tied: npt.NDArray[np.uint8] | None = None,
    ) -> int: ...
    def decide_matrix(self, codes: npt.NDArray[Any], labels: npt.NDArray[Any]) -> int: ...
    def decide_record(self, record: Sequence[int]) -> int: ...

class ServedStrata:
    def __init__(self, strata: list[Served]) -> None: ...
    def decide_matrix(self, codes: npt.NDArray[Any], labels: npt.NDArray[Any]) -> int: ...
