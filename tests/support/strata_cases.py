"""Small tables with a column whose values select a classifier."""

from hypothesis import strategies as st

from nbcfast import Table

TOWNS = {
    "town": ["a", "a", "a", "b", "b", "b", "b", None, None, None, "a", "b"],
    "job": ["p", "q", "q", "p", "p", "q", "q", "p", "q", "p", "p", "q"],
    "age": [1, 1, 2, 2, 1, 2, 1, 2, 1, 1, 2, 2],
    "ill": ["n", "y", "y", "n", "y", "n", "y", "y", "n", "n", "n", "y"],
}
DOMAINS = {"town": ["b", "a", None], "job": ["q", "p", "r"], "age": [1, 2], "ill": ["y", "n"]}


def declared(columns=TOWNS, **domains):
    """The table with declared domains."""
    return Table(columns, domains={**DOMAINS, **domains})


@st.composite
def stratified_rows(draw):
    """Rows, and the values of each column: every stratum has rows of every class."""
    n_strata, n_classes = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    names = [f"x{i}" for i in range(len(sizes))]
    cells = [st.integers(0, size - 1) for size in sizes]
    whose = [(r, c) for r in range(n_strata) for c in range(n_classes)]
    more = st.tuples(st.integers(0, n_strata - 1), st.integers(0, n_classes - 1))
    whose += draw(st.lists(more, max_size=12))
    rows = [
        {"r": r, "c": c} | {name: draw(cell) for name, cell in zip(names, cells, strict=True)}
        for r, c in whose
    ]
    values = {"r": list(range(n_strata)), "c": list(range(n_classes))}
    values |= {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    return rows, values
