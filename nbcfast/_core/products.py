"""Products of many integers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import gmpy2


def product(numbers: Iterable[Any]) -> gmpy2.mpz:
    """Of many numbers, as a tree: long factors meet long ones."""
    factors = [gmpy2.mpz(number) for number in numbers]
    while len(factors) > 1:
        factors = [math.prod(factors[k : k + 2]) for k in range(0, len(factors), 2)]
    return factors[0] if factors else gmpy2.mpz(1)
