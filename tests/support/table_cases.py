"""Columns that the tests of tables draw, and forms in which their results are compared."""

import math

from hypothesis import strategies as st

from nbcfast import SUPPRESSED, Table

SPECIAL = st.one_of(st.none(), st.just(SUPPRESSED))
FLOATS = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, math.nan, math.inf, 1.0, 2.0]))
KINDS = {
    "bool": st.booleans(),
    "small": st.integers(-2, 3),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": FLOATS,
    "mixed": st.one_of(st.integers(-(2**53), 2**53), FLOATS),
    "text": st.text(st.sampled_from("abÄz\U0001f600\0\n"), max_size=3),
}


def columns(kinds=tuple(KINDS), special=SPECIAL):
    return st.sampled_from(kinds).flatmap(lambda kind: st.lists(st.one_of(KINDS[kind], special)))


def listed(table, name="x"):
    """The codes and the domain, as the reference writes them."""
    return table.codes(name).tolist(), list(table.domain(name))


def shown(result):
    """A form in which 1, 1.0 and True differ."""
    codes, domain = result
    return codes, [repr(value) for value in domain]


def frame():
    return {
        "i": [3, 1, 2, 1],
        "f": [0.5, None, -0.0, 0.5],
        "s": ["b", None, "a", "b"],
        "b": [True, False, True, None],
    }


def two_columns():
    return Table(
        {"x": ["c", "a", None, "b"], "y": [1, 2, 3, None]},
        domains={"y": [3, 2, 1, 0, None]},
        weights=[1, 2, 3, 4],
    )
