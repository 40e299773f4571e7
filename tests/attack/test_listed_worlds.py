"""All tables with given counts, listed."""

import math

import pytest
from attack_cases import TEN, small_views
from hypothesis import given, settings

import nbcfast
from nbcfast import Viewset, attack
from nbcfast.reference import attack as reference


class TestWorlds:
    @settings(max_examples=150)
    @given(views=small_views(most=4).filter(lambda views: views.attributes))
    def test_are_all_tables_with_these_counts(self, views):
        found = attack.worlds(views)
        expected = {tuple(map(tuple, world)) for world in reference.worlds(views)}
        assert len(found) == found.n_worlds == len(expected)
        listed = set()
        for world in found:
            columns = [[world.domain(name)[code] for code in world.codes(name)] for name in world.names]
            listed.add(tuple(zip(*columns, strict=True)))
            again = nbcfast.count(world, "class", list(views.attributes), views.classes)
            assert again == views
        assert listed == expected

    def test_the_first_column_stays(self):
        for world in attack.worlds(TEN):
            assert world.codes("A1").tolist() == [0, 1, 1, 1, 1, 0, 1]

    def test_any_of_very_many(self):
        views = Viewset([60, 60], [[[20, 30], [40, 30]]] * 5)
        found = attack.worlds(views)
        assert found.n_worlds == (math.comb(60, 20) * math.comb(60, 30)) ** 4
        assert "about 2^" in repr(found)
        last = found[found.n_worlds - 1]
        assert nbcfast.count(last, "class", classes=[0, 1]) == views
        assert last.codes("A5").tolist() == [1] * 40 + [0] * 20 + [1] * 30 + [0] * 30

    def test_is_a_sequence(self):
        found = attack.worlds(TEN, class_name="party")
        assert found[-1].codes("A2").tolist() == found[9].codes("A2").tolist()
        assert len(found[2:5]) == 3
        assert found[0].names == ("A1", "A2", "party")
        with pytest.raises(IndexError, match=r"index must be in 0\.\.9, got 10"):
            found[10]
        with pytest.raises(TypeError, match="index must be an int or a slice, got 'one'"):
            found["one"]

    def test_without_attributes_there_is_one(self):
        assert len(attack.worlds(Viewset([2, 3], []))) == 1

    def test_bad_input(self):
        with pytest.raises(ValueError, match="class_name must be no attribute, got 'A1'"):
            attack.worlds(TEN, class_name="A1")
        with pytest.raises(TypeError, match="class_name must be a text, got 3"):
            attack.worlds(TEN, class_name=3)
        with pytest.raises(
            ValueError, match="views must have at most 100,000 rows to list worlds, got 200000"
        ):
            attack.worlds(Viewset([200_000], []))
