from typing import Any

class Columns:
    n_columns: int
    n_rows: int
    def __init__(self, arrays: list[Any], sizes: list[int], n_rows: int) -> None: ...
    def is_matrix(self, n: int) -> bool: ...
