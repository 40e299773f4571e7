"""Tables, schemes and groupings that the tests of randomised response share."""

from fractions import Fraction

import numpy as np

from nbcfast import Table, response
from nbcfast.response import KaryScheme, Scheme

THETAS = [Fraction(4, 5), Fraction(1, 3), Fraction(9, 10), Fraction(2, 5), Fraction(0), Fraction(1)]
GROUPINGS = {
    "one group, class out": [(Fraction(4, 5), (0, 1))],
    "one group, class in": [(Fraction(4, 5), (0, 1, 2))],
    "class alone": [(Fraction(1, 3), (2,))],
    "two groups, class out": [(Fraction(4, 5), (0,)), (Fraction(3, 10), (1,))],
    "two groups, class in": [(Fraction(4, 5), (0, 2)), (Fraction(3, 10), (1,))],
    "three groups": [(Fraction(4, 5), (0,)), (Fraction(3, 10), (1,)), (Fraction(9, 10), (2,))],
    "a column left alone, class in": [(Fraction(2, 3), (0, 2))],
}


def table_of(records, names, k=2):
    """Records of codes as a table with declared domains."""
    sizes = k if isinstance(k, list) else [k] * len(names)
    columns = list(zip(*records, strict=True)) if records else [()] * len(names)
    return Table(
        {name: list(column) for name, column in zip(names, columns, strict=True)},
        domains={name: list(range(size)) for name, size in zip(names, sizes, strict=True)},
    )


def both_schemes(groups, names):
    """A scheme of column numbers for the reference, and the same for us."""
    plain = [(theta, columns) for theta, columns in groups]
    ours = Scheme([theta for theta, _ in groups], [[names[c] for c in columns] for _, columns in groups])
    return plain, ours


def numbers_of(told, scheme, names):
    """All raw estimates for a table of answers, in one row."""
    found = response.estimate(table_of(told, names), scheme, "c").raw
    return [*found.prior.tolist(), *(share for name in names[:-1] for share in found.joint[name].flat)]


def small_data():
    rng = np.random.default_rng(33)
    n = 400
    c = (rng.random(n) < 0.4).astype(int)
    columns = {f"a{i}": (rng.random(n) < 0.3 + 0.3 * c).astype(int) for i in range(4)}
    return Table({**columns, "c": c})


SIMULATED = {
    "one group": Scheme("0.7", [["a0", "a1", "a2", "a3"]]),
    "class in": Scheme("0.7", [["a0", "a1", "c"], ["a2"]]),
    "own coins": Scheme.per_attribute("0.8", ["a0", "a1", "a2", "a3"]),
    "class alone": Scheme("0.2", [["c"]]),
    "k-ary": KaryScheme("0.8", {f"a{i}": [0, 1] for i in range(4)}),
    "k-ary, mostly lies": KaryScheme("0.15", {f"a{i}": [0, 1, 2] for i in range(4)}),
}
