from typing import Literal

import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

REAL: int
NONE: int
ONLY: int

class Exact:
    def __init__(self, sizes_a: I64, sizes_b: I64, limbs_a: U64, limbs_b: U64, slack: int) -> None: ...

class Lists:
    def __init__(self, x: I64, x_order: I32, u: I64, u_order: I32, error: int) -> None: ...
    def thresholds(self, outer: int, base: int, exact: Exact, base_limbs: U64, above: I32) -> bool: ...
    def nearest(
        self, outer: int, base: int, exact: Exact, base_limbs: U64, all_pairs: bool = False
    ) -> tuple[int, int, int] | Literal[False] | None: ...

def outer(left: I64, right: I64, out: I64) -> None: ...
def settle(order: I32, sums: I64, slack: int, exact: Exact) -> bool: ...
def dominance(by_above: I32, above: I32, above_too: I32, weight: I64, rank: I32, rank_weight: I64) -> int: ...
def listed(
    above: I32,
    above_too: I32,
    rank: I32,
    rank_too: I32,
    lowest: I32,
    highest: I32,
    order: I32,
    found_i: I64,
    found_j: I64,
    steps: int,
) -> int: ...
def enumerated(
    above: npt.NDArray[np.int32],
    above_too: npt.NDArray[np.int32],
    rank: npt.NDArray[np.int32],
    rank_too: npt.NDArray[np.int32],
    first: I32,
    second: I32,
    n_classes: int,
    labels: bool,
    weight: I64,
    rank_weight: I64,
    start: int,
    stop: int,
) -> tuple[int, int, int]: ...
