from typing import Any

import numpy as np
import numpy.typing as npt

from nbcfast._columns import Columns

_Longs = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint32]
_Records = npt.NDArray[np.uint8]

class Problem:
    first: _Longs
    stride: int
    shared: bool
    def __init__(
        self,
        sizes: list[int],
        positions: list[_Longs],
        trees: list[_Longs | None],
        n_values: int,
        n_targets: int,
        weighted: bool,
        by_gain: bool,
        least_people: int,
        diversity: tuple[Any, ...] | None,
        closeness: tuple[Any, ...] | None,
        totals: _Longs,
        points: list[tuple[Any, ...]],
    ) -> None: ...
    def admit(self, scratch: Scratch) -> bool: ...
    def fill(
        self,
        columns: Columns,
        maps: list[_Words | None],
        weights: _Longs | None,
        start: int,
        stop: int,
        out: _Records,
    ) -> None: ...
    def evaluate(
        self, level: Level, scratch: Scratch, number: int, rows: _Records, first: int, last: int
    ) -> None: ...
    def evaluate_joint(
        self, level: Level, scratch: Scratch, number: int, joint: Joint, node: int, rank: int = 0
    ) -> None: ...
    def commit(
        self, level: Level, scratches: list[Scratch], rows: _Records, first: int, last: int
    ) -> None: ...
    def commit_joint(self, level: Level, scratches: list[Scratch], joint: Joint, node: int) -> None: ...
    def finish(
        self, level: Level, scratch: Scratch, rows: _Records, other: _Records, first: int, last: int
    ) -> None: ...
    def children(self, level: Level, scratches: list[Scratch], first: int, last: int) -> Level: ...
    def move(
        self, level: Level, scratches: list[Scratch], rows: _Records, out: _Records, first: int, last: int
    ) -> None: ...
    def move_some(
        self, level: Level, scratches: list[Scratch], node: int, rows: _Records, out: _Records
    ) -> _Longs: ...
    def gather(self, rows: _Records, joint: Joint) -> None: ...
    def number(
        self,
        starts: _Longs,
        sizes: _Longs,
        levels: _Longs,
        even: _Records,
        odd: _Records,
        ids: _Words,
        first: int,
        last: int,
    ) -> None: ...
    def counts(
        self,
        scratch: Scratch,
        starts: _Longs,
        sizes: _Longs,
        levels: _Longs,
        even: _Records,
        odd: _Records,
        first: int,
        last: int,
    ) -> tuple[_Longs, _Longs]: ...

class Scratch:
    def __init__(self, problem: Problem) -> None: ...
    def forget(self) -> None: ...
    def take_leaves(self) -> tuple[_Longs, _Words]: ...

class Level:
    n: int
    depth: int
    start: _Longs
    rows: _Longs
    people: _Longs
    at: _Longs
    boxes: _Words
    def __init__(self, n: int, n_quasi: int, depth: int) -> None: ...
    @staticmethod
    def root(sizes: list[int], rows: int, people: int) -> Level: ...
    def split(self) -> _Longs: ...

class Joint:
    rows: _Longs
    people: _Longs
    targets: _Longs | None
    def __init__(self, problem: Problem) -> None: ...
