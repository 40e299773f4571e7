"""The kernel that puts join values together refuses what does not fit."""

import numpy as np
import pytest

from nbcfast import _associations


def joiner(id_offsets, joins_, offsets, values, factors, n_values):
    return _associations.Joiner(
        np.array(id_offsets, np.int64),
        np.array(joins_, np.uint32),
        np.array(offsets, np.int64),
        np.array(values, np.uint32),
        np.array(factors, np.float64),
        np.ones(n_values, np.uint8),
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([], [], [0], [], [], 0), "offsets must rise"),
        (([0, 2], [0], [0, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1], [0], [0, 1, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1, 0, 1], [0], [0, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1], [1], [0, 1], [0], [0.5], 1), "outside its range"),
        (([0, 1], [0], [0, 1], [1], [0.5], 1), "outside its range"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(parts, message):
    with pytest.raises(ValueError, match=message):
        joiner(*parts)


def test_the_kernel_writes_only_where_there_is_room():
    made = joiner([0, 2], [0, 1], [0, 2, 3], [0, 1, 1], [0.5, 0.25], 2)
    longs = [np.zeros(1, np.int64) for _ in range(3)]
    worst = np.zeros(1)
    made.scan(0, 1, *longs, worst)
    assert ([one.tolist() for one in longs], worst.tolist()) == ([[2], [1], [1]], [1 - 0.125])
    values, probabilities, times = np.zeros(2, np.uint32), np.zeros(2), np.zeros(2, np.uint32)
    made.fill(0, 1, np.array([0, 2]), values, probabilities, times)
    assert (values.tolist(), probabilities.tolist(), times.tolist()) == ([0, 1], [0.5, 0.875], [1, 2])
    with pytest.raises(ValueError, match="no room for the values"):
        made.fill(0, 1, np.array([0, 1]), values, probabilities, times)
    with pytest.raises(ValueError, match="no room for the values"):
        made.fill(0, 1, np.array([-1, 1]), values, probabilities, times)
    with pytest.raises(ValueError, match="no places for 1 identities"):
        made.fill(0, 1, np.array([0]), values, probabilities, times)
    with pytest.raises(ValueError, match="no room for the results"):
        made.scan(0, 1, *longs, np.zeros(0))
    for start, stop in ((0, 2), (-1, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"identities must be within 0\.\.1"):
            made.scan(start, stop, *longs, worst)
