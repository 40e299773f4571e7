"""`binarise` and `cuts`: columns made two-valued."""

from fractions import Fraction

import pytest

from nbcfast import Table, response


def test_binarisation():
    table = Table({"age": [1, 2, 9, 2], "job": ["c", "a", "b", "a"], "x": [0.1, 0.2, 0.3, 0.3]})
    found = response.binarise(table)
    assert [found.codes(name).tolist() for name in found.names] == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]]
    assert found.domain("age") == (0, 1)
    assert response.cuts(table)["x"].point == Fraction(1, 5)
    median = response.binarise(table, at="median", names=["age", "job"])
    assert [median.codes(name).tolist() for name in ("age", "job")] == [[0, 0, 1, 0], [1, 0, 1, 0]]
    assert median.column("x") == table.column("x")
    # Where the median is the greatest value, the one below it is the point.
    assert response.binarise({"a": [0, 1, 1, 1]}, at="median").codes("a").tolist() == [0, 1, 1, 1]
    weighted = Table({"a": [1, 2, 3]}, weights=[1, 1, 5])
    assert response.cuts(weighted, at="median")["a"].point == 2
    points = response.cuts(table)
    other = response.binarise({"age": [5, 6], "job": ["b", "c"], "x": [0.0, 9.0]}, points)
    assert [other.codes(name).tolist() for name in other.names] == [[0, 1], [0, 1], [0, 1]]
    assert points["job"].to_dict() == {"point": "1", "values": ["a", "b", "c"]}
    with pytest.raises(ValueError, match="column 'job': value 'z' is unknown to its cut"):
        response.binarise({"age": [5], "job": ["z"], "x": [0.0]}, points)
    with pytest.raises(ValueError, match="column 'a' has missing answers"):
        response.binarise({"a": [1, None]})
    with pytest.raises(ValueError, match="at must be 'midrange' or 'median', got 'mean'"):
        response.cuts(table, at="mean")
    with pytest.raises(ValueError, match="column 'job': the cut is of numbers"):
        response.binarise(table, {"job": points["age"]})
    with pytest.raises(ValueError, match="no rows"):
        response.cuts(Table({"a": []}))
