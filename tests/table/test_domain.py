"""`Domain`: positions in another one, unions, and values as they are met."""

import numpy as np
import pytest
from hypothesis import given
from table_cases import columns

from nbcfast import SUPPRESSED, Table, concat
from nbcfast.reference import table as reference
from nbcfast.table import Domain
from nbcfast.table.encode import Column, DomainBuilder


def test_a_domain_that_was_found_can_be_declared():
    found = Table({"x": [2, None, 1]}).column("x").domain
    declared = found.as_declared()
    assert (declared.declared, declared.values, declared == found) == (True, found.values, True)
    assert Table({"x": [1]}).column("x").domain.declared is False


def test_a_domain_that_was_declared_can_be_taken_for_one_of_rows():
    declared = Domain.of([3, 1, 2, None])
    found = declared.as_undeclared()
    assert (found.declared, found.values, found == declared) == (False, (3, 1, 2, None), True)
    table = Table.from_columns({"x": Column(np.array([2, 0], np.uint8), found)}, None, 2)
    assert table.take([0]).domain("x") == (2,)


@given(columns(), columns())
def test_positions_in_equals_reference(a, b):
    mine, theirs = Domain.sorted(a), Domain.sorted(b)
    expected = [
        next((place for place, other in enumerate(theirs.values) if reference.same(value, other)), -1)
        for value in mine.values
    ]
    assert mine.positions_in(theirs).tolist() == expected
    assert (mine == theirs) == (len(mine) == len(theirs) and expected == list(range(len(mine))))


@pytest.mark.parametrize("kind", [int, float])
def test_positions_in_large_domains(kind):
    numbers = np.random.default_rng(5).permutation(5000).astype(kind)
    theirs = Domain.of([*numbers.tolist(), None, SUPPRESSED])
    mine = Domain.of([kind(7), kind(-1), kind(4999), kind(6000), SUPPRESSED])
    expected = [int(np.flatnonzero(numbers == 7)[0]), -1, int(np.flatnonzero(numbers == 4999)[0]), -1, 5001]
    assert mine.positions_in(theirs).tolist() == expected
    assert theirs.positions_in(theirs).tolist() == list(range(5002))


def test_domains():
    assert Domain.of([2, None, 1]).values == (2, 1, None)
    assert Domain.of(np.array(["b", "a"])).values == ("b", "a")
    assert Domain.union(Domain.of([3, None]), Domain.of([1.5])).values == (1.5, 3.0, None)
    assert Domain.union(Domain.of(["b"]), Domain.of(["a", SUPPRESSED])).values == ("a", "b", SUPPRESSED)
    assert Domain.of([1, 2]) == Domain.of([1.0, 2.0], declared=False)
    assert hash(Domain.of([1, 2])) == hash(Domain.of([1.0, 2.0]))
    assert Domain.of([1]) != Domain.of([True])
    assert Domain.of([1]) != (1,)
    assert repr(Domain.of(["a", None])) == "Domain('a', None; declared)"
    assert repr(Domain.sorted(range(100))) == "Domain(0, 1, 2, 3, 4, 5, 6, 7, ... 100 in all)"
    with pytest.raises(AttributeError, match="cannot set declared"):
        Domain.of([1]).declared = False
    with pytest.raises(TypeError, match="expected a domain of numbers, got one of kind text"):
        _ = Domain.of(["a"]).numbers


def test_domain_builder_looks_at_new_positions_of_the_same_values():
    builder = DomainBuilder("x")
    values = ["b", "a", "b", None]
    assert builder.add(values, [0, 0, 1, 0]).tolist() == [-1, -1, 0, -1]
    assert builder.add(values, [1, 0, 0, 1]).tolist() == [0, -1, 0, 1]
    assert builder.add(["a"]).tolist() == [2]
    domain, table = builder.finish()
    assert domain.values == ("a", "b", None)
    assert table.tolist() == [1, 2, 0]
    assert not domain.declared
    with pytest.raises(TypeError, match="column 'x': expected values of one kind, got int and text"):
        builder.add([3])


def test_order_of_parts_does_not_choose_the_kind():
    ints, floats = Table({"x": [1, 2]}), Table({"x": [1.0, 2.0]})
    kinds = {concat(parts).column("x").domain.kind for parts in ([ints, floats], [floats, ints])}
    assert kinds == {"float"}
    declared = [Table({"x": [1, 2]}, domains={"x": values}) for values in ([1, 2], [1.0, 2.0])]
    kinds = {concat(parts).column("x").domain.kind for parts in (declared, declared[::-1])}
    assert kinds == {"float"}
