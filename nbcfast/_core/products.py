"""Products of many integers.

The one tree of products of this package. `_wire.long_products` has another, of Python's own integers: what is
handed over as one file has the standard library alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import gmpy2

from nbcfast._core.untyped import Exact


def product(numbers: Iterable[Exact]) -> gmpy2.mpz:
    """Of many numbers, as a tree: long factors meet long ones."""
    factors = [gmpy2.mpz(number) for number in numbers]
    while len(factors) > 1:
        factors = [math.prod(factors[k : k + 2]) for k in range(0, len(factors), 2)]
    return factors[0] if factors else gmpy2.mpz(1)
