"""What a frame gives of some columns is what all rows in memory give, whatever the values and names."""

import itertools
import random

import pytest
from frame_cases import NAMES, TWINS, VALUES, collapsed, shown

import nbcfast


@pytest.fixture(scope="session")
def alone(everybody):
    """Each column by itself, in one query."""
    frame, table = everybody
    return dict(zip(table.names, frame.tables([[name] for name in table.names]), strict=True))


@pytest.mark.parametrize("name", [*VALUES, *NAMES, *TWINS, "c"])
def test_distinct_values_of_each_column(everybody, alone, name):
    frame, table = everybody
    if name not in table.names:
        pytest.skip("the engine has no two columns whose names differ by their case alone")
    expected = shown(collapsed(table, [name]))
    assert shown(alone[name]) == expected
    if frame.kind != "a frame of PySpark":  # where each query takes most of a second
        assert shown(frame.weighted([name])) == expected


def test_distinct_rows_of_many_sets(everybody):
    frame, table = everybody
    drawn = random.Random(19)
    sets = [drawn.sample(table.names, drawn.randint(1, 5)) for _ in range(12)]
    sets += [["c", "i"], ["i", "c"], ["f", "f32"], ["s", "*"], list(reversed(VALUES))]
    for names, found in zip(sets, frame.tables(sets), strict=True):
        assert shown(found) == shown(collapsed(table, names)), names


def test_all_columns(everybody):
    frame, table = everybody
    assert frame.names == table.names
    assert shown(frame.weighted()) == shown(table.collapse())


def test_counts_are_those_of_all_rows(everybody):
    frame, table = everybody
    expected = nbcfast.count(table, "c")
    assert frame.counts("c") == expected
    assert nbcfast.count(frame, "c") == expected
    assert nbcfast.count(frame, "c").to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    ("class_name", "names"),
    [
        ("c", ["f"]),
        ("b", ["tz", "a.b"]),
        ("f", ["small", "b", "d0", "d2", "s", "^a$"]),
        ("i", []),
        ("*", ["f32", "i", "back`tick"]),
    ],
)
def test_counts_of_some_attributes_and_other_classes(everybody, class_name, names):
    frame, table = everybody
    assert nbcfast.count(frame, class_name, names) == nbcfast.count(table, class_name, names)


def test_pairs_and_threes_are_those_of_all_rows(everybody):
    frame, table = everybody
    sets = [*list(itertools.combinations(["f", "b", "s", "Age"], 2)), ("f32", "s", "c")]
    assert list(map(shown, frame.tables(sets))) == [shown(collapsed(table, names)) for names in sets]
