"""Views that adversaries are tried on."""

from hypothesis import assume
from hypothesis import strategies as st

from nbcfast import Viewset

# Figure 1 of the paper, from its convention: 10 worlds with 22/25, and 6 worlds with 7/9.
TEN = Viewset([5, 2], [[[1, 1], [4, 1]], [[1, 1], [4, 1]]], classes=["R", "D"])


SIX = Viewset([3, 2], [[[1, 1], [2, 1]], [[1, 1], [2, 1]]], classes=["R", "D"])


# docs/mathematics/safety.md, section j: (10) allows 4, averaged over worlds six rows reach 23/4.
SIX_ROWS = Viewset([3, 3], [[[1, 2], [2, 1]], [[1, 2], [2, 1]]])


UNSEEN_BY_10 = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])


@st.composite
def small_views(draw, most=5, classes=3, attributes=2, values=3, positive=False, empty=False):
    """Realistic views of a few rows a class."""
    n_classes = draw(st.integers(2, classes))
    of_class = [draw(st.integers(0 if empty else 1, most)) for _ in range(n_classes)]
    assume(any(of_class))
    arrays = []
    for _ in range(draw(st.integers(0, attributes))):
        n_values = draw(st.integers(1, min(values, *of_class) if positive else values))
        columns = []
        for count in of_class:
            left, column = count - n_values * positive, []
            for _ in range(n_values - 1):
                column.append(draw(st.integers(0, left)))
                left -= column[-1]
            columns.append([number + positive for number in [*column, left]])
        arrays.append(list(zip(*columns, strict=True)))
    return Viewset(of_class, arrays)


def some_known(draw, views):
    chosen = {}
    for name in views.attributes:
        value = draw(st.sampled_from([None, *views.domain(name)]))
        if value is not None:
            chosen[name] = value
    return chosen
