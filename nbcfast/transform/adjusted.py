"""Step 3: counts that add up again: docs/mathematics/safety.md, section e."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import mul

import gmpy2

from nbcfast._core.errors import expect
from nbcfast._core.untyped import Document, Exact
from nbcfast.table.values import Value
from nbcfast.transform.scaled import Scaled, dyadic


@dataclass(frozen=True, repr=False)
class Adjusted:
    """Views after Step 3: exact rationals that add up, sum_t N'^i_{t,c} = P'_c for every attribute.

    Parameters
    ----------
    scaled : Scaled
    class_counts : tuple of mpq
    """

    scaled: Scaled
    class_counts: tuple[Exact, ...]

    @cached_property
    def counts(self) -> Mapping[str, tuple[tuple[Exact, ...], ...]]:
        """For each attribute a row a value, one mpq a class."""
        scaled, result = self.scaled, {}
        starts = scaled.filled.flat.starts.tolist()
        for name, start, stop in zip(scaled.views.attributes, starts, starts[1:], strict=False):
            block = scaled.integers.numbers[start:stop]
            sums = [sum(column) for column in zip(*block, strict=True)]
            shares = [count / whole for count, whole in zip(self.class_counts, sums, strict=True)]
            result[name] = tuple(
                tuple(number * share for number, share in zip(row, shares, strict=True)) for row in block
            )
        return result

    @property
    def classes(self) -> tuple[Value, ...]:
        return self.scaled.views.classes

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.scaled.views.attributes

    def is_realistic(self) -> bool:
        """Whether the numbers of each attribute add up to those of the classes; they do."""
        return all(
            sum(column) == count
            for array in self.counts.values()
            for column, count in zip(zip(*array, strict=True), self.class_counts, strict=True)
        )

    def to_dict(self) -> Document:
        return {
            "classes": list(self.classes),
            "class_counts": list(self.class_counts),
            "attributes": {name: [list(row) for row in array] for name, array in self.counts.items()},
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{float(count):.6g}" for count in self.class_counts)
        return f"Adjusted(class counts {counts}; {len(self.attributes)} attributes)"


def adjust(scaled: Scaled) -> Adjusted:
    """Step 3: P'_c = w_c prod_i S^i_c and N'^i_{t,c} = P'_c q^i_{t,c} / S^i_c with S^i_c = sum_t q^i_{t,c}.

    Exact, and the numbers add up: that is what makes them counts of a table. Scores do not change:
    P'_c^(1-n) prod_i N'^i_{t_i,c} = w_c prod_i q^i_{t_i,c}.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> from nbcfast.transform import fill_zeros, scale
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> adjust(scale(fill_zeros(views), 4)).is_realistic()
    True
    """
    expect(scaled, Scaled, "scaled")
    sums = attribute_sums(scaled)
    counts = []
    for c, weight in enumerate(scaled.weights):
        factors = reduce(mul, (row[c] for row in sums), gmpy2.mpz(1))
        counts.append(weight * dyadic(factors, scaled.integers.exponent * len(sums)))
    return Adjusted(scaled, tuple(counts))


def attribute_sums(scaled: Scaled) -> list[list[Exact]]:
    """S^i_c of each attribute, times 2^-exponent as the numbers are, so that they stay integers."""
    starts = scaled.filled.flat.starts.tolist()
    return [
        [sum(column) for column in zip(*scaled.integers.numbers[start:stop], strict=True)]
        for start, stop in pairwise(starts)
    ]
