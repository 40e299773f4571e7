"""Products of many integers."""

from __future__ import annotations


def product_of(numbers: list[int]) -> int:
    """Factors of like size are multiplied first: that is fast for long integers."""
    while len(numbers) > 1:
        numbers = [_pair(numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    return numbers[0]


def _pair(numbers: list[int]) -> int:
    return numbers[0] * numbers[1] if len(numbers) == 2 else numbers[0]
