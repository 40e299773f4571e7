"""Membership: what a release tells of who was in its table, and holdouts that say nothing."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, attack
from nbcfast.attack.membership import auc_of
from nbcfast.reference import attack as reference


class TestMembership:
    @settings(max_examples=300)
    @given(
        members=st.lists(st.integers(-3, 3), min_size=1, max_size=12),
        others=st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    )
    def test_auc_equals_the_reference(self, members, others):
        expected, square = reference.auc(members, others)

        def weighted(scores):
            values, weights = np.unique(scores, return_counts=True)
            # -3 stands for the score of an impossible row.
            return np.where(values == -3, -np.inf, values.astype(float)), weights

        value, error = auc_of(*weighted(members), *weighted(others))
        assert value == pytest.approx(float(expected), abs=1e-12)
        assert error == pytest.approx(math.sqrt(square), abs=1e-9)

    def test_members_are_told_from_their_counts_and_not_from_a_release(self, workers):
        table, holdout, views = workers
        found = attack.membership(nbcfast.safety_transform(views, 4, class_name="income"), table, holdout)
        assert (found.members, found.others) == (32_000, 4_000)
        assert found.standard_error < 0.01
        assert abs(found.deviations) < 4
        few = table.take(slice(0, 60))
        found = attack.membership(nbcfast.count(few, "income"), few, holdout, "income")
        assert found.auc > 0.7
        assert found.deviations > 5
        assert found.impossible > 1000

    def test_adult_is_not_told(self, adult, data):
        table, views = adult
        holdout = nbcfast.read_csv(data / "adult-test.csv", columns=table.names)
        release = nbcfast.safety_transform(views, 4, class_name="income")
        found = attack.membership(release, table, holdout)
        assert (found.members, found.others) == (32561, 8141)
        assert found.standard_error < 0.005
        assert abs(found.deviations) < 4

    def test_few_rows_published_as_they_are_are_told(self, adult, data):
        table, _ = adult
        holdout = nbcfast.read_csv(data / "adult-test.csv", columns=table.names)
        few = table.take(slice(0, 60))
        found = attack.membership(nbcfast.count(few, "income"), few, holdout, "income")
        assert found.auc > 0.7
        assert found.deviations > 5
        assert found.impossible > 1000

    def test_the_order_of_rows_and_domains_does_not_matter(self):
        rng = np.random.default_rng(9)
        columns = {"x": rng.integers(0, 5, 300), "z": rng.integers(0, 4, 300), "y": rng.integers(0, 2, 300)}
        table, holdout = (
            Table({name: column[part] for name, column in columns.items()})
            for part in (slice(0, 100), slice(100, 300))
        )
        views = nbcfast.count(table, "y")
        first = attack.membership(views, table, holdout, "y")
        shuffled = Table(holdout.take(rng.permutation(200)), domains={"x": [4, 3, 2, 1, 0]})
        assert attack.membership(views, table.take(rng.permutation(100)).collapse(), shuffled, "y") == first

    def test_weights_are_rows(self):
        table = Table({"x": [1, 2, 2], "y": [0, 1, 1]})
        weighted = Table({"x": [1, 2], "y": [0, 1]}, weights=[1, 2])
        holdout = Table({"x": [1, 2] * 5, "y": [0, 1, 1, 0, 1] * 2})
        views = nbcfast.count(table, "y")
        assert attack.membership(views, weighted, holdout, "y") == attack.membership(
            views, table, holdout, "y"
        )

    def test_the_table_itself_is_no_holdout(self):
        table = Table({"x": [1, 2, 2, 1], "y": [0, 1, 1, 0]})
        views = nbcfast.count(table, "y")
        for same in (table, table.take([3, 2, 1, 0]), table.collapse()):
            with pytest.raises(ValueError, match=r"holdout: expected other rows of the same population, got"):
                attack.membership(views, table, same, "y")

    @staticmethod
    def people(n, seed=3):
        rng = np.random.default_rng(seed)
        return Table({**{name: rng.integers(0, 9, n) for name in "abcde"}, "y": rng.integers(0, 2, n)})

    def test_a_table_but_for_a_few_rows_is_no_holdout(self):
        everybody = self.people(1200)
        table = everybody.take(range(600))
        views = nbcfast.count(table, "y")
        nearly = (
            range(20, 620),
            range(300),
            [*range(500), *range(500)],
            [*range(310), *range(600, 890)],
        )
        for rows in nearly:
            with pytest.raises(
                ValueError, match=r"holdout: .*, got mostly rows of the table itself: of its "
            ):
                attack.membership(views, table, everybody.take(list(rows)), "y")
        with pytest.raises(ValueError, match=r"of its 600 rows some 59[0-9] should be none .*, and 20 are"):
            attack.membership(views, table, everybody.take(range(20, 620)), "y")

    def test_rows_of_the_table_in_a_holdout_are_said(self):
        everybody = self.people(1200)
        table = everybody.take(range(600))
        views = nbcfast.count(table, "y")
        found = attack.membership(views, table, everybody.take(range(400, 1000)), "y")
        assert 180 < found.repeated < 220
        assert (
            f"about {found.repeated:,} rows of the holdout stand in the table beyond what chance"
            in found.text
        )
        assert found.to_dict()["repeated"] == found.repeated
        others = attack.membership(views, table, everybody.take(range(600, 1200)), "y")
        assert others.repeated == 0
        assert "beyond what chance" not in others.text

    @given(
        st.integers(0, 2**32 - 1),
        st.integers(4, 3000),
        st.integers(4, 3000),
        st.floats(0.5, 6),
        st.floats(0, 2),
    )
    def test_other_people_are_a_holdout_however_many_values_there_are(self, seed, n, m, digits, skew):
        """Five standard deviations: of kinds as even or as uneven as may be, none was off by three."""
        rng = np.random.default_rng(seed)
        shares = np.arange(1.0, 10**digits) ** -skew
        drawn = rng.choice(len(shares), n + m, p=shares / shares.sum())
        both = Table({"x": drawn, "y": np.zeros(n + m, np.int64)})
        table, holdout = both.take(range(n)), both.take(range(n, n + m))
        if sorted(drawn[:n]) != sorted(drawn[n:]):
            found = attack.membership(nbcfast.count(table, "y"), table, holdout, "y")
            assert found.repeated == 0

    def test_rows_that_the_release_rules_out_are_not_scored(self):
        views = nbcfast.count(Table({"x": [1, 2, 2, 1] * 5, "y": [0, 1, 1, 1] * 5}), "y")
        holdout = Table({"x": [1, 2, 3, 3] * 5, "y": [0, 1, 1, 0] * 5})
        own = Table({"x": [1, 2, 2, 1, 3], "y": [0, 1, 1, 1, 1]})
        found = attack.membership(views, own, holdout, "y")
        less = attack.membership(views, own.take(slice(0, 4)), holdout, "y")
        assert (found.members, found.left_out, found.auc) == (4, 1, less.auc)
        assert less.left_out == 0
        assert "1 rows left out" in repr(found)
        nothing = attack.membership(views, own.take([4]), holdout, "y")
        assert not nothing.measured
        assert math.isnan(nothing.auc)
        assert "not measured: none of the 1 rows of the table can be a row" in repr(nothing)

    def test_readable(self):
        found = attack.Membership(0.5123, 0.004, 100, 50, 0)
        assert repr(found) == "Membership(AUC 0.5123 +- 0.0040; 100 rows against 50)"
        assert found.to_dict()["auc"] == 0.5123
        assert attack.Membership(0.5, 0.0, 1, 1, 0).deviations == 0
        assert attack.Membership(1.0, 0.0, 1, 1, 0).deviations == math.inf

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"class_name": None}, ValueError, "class_name must be given: the release does not name"),
            ({"class_name": 3}, TypeError, "class_name must be a text, got 3"),
            (
                {"table": Table({"x": [1]})},
                ValueError,
                "table must have the columns of the release, got none named 'y'",
            ),
            ({"holdout": Table({"y": [1]})}, ValueError, "holdout must have the columns of the release"),
            (
                {"holdout": Table({"x": [1], "y": [0]})},
                ValueError,
                "holdout must have at least 4 rows, got 1",
            ),
            (
                {"holdout": Table({"x": [], "y": []})},
                ValueError,
                "holdout: no rows",
            ),
            ({"release": "views"}, TypeError, "release must be a Viewset or a Release, got str"),
        ],
    )
    def test_bad_input(self, change, error, text):
        table = Table({"x": [1, 2], "y": [0, 1]})
        arguments = {
            "release": nbcfast.count(table, "y"),
            "table": table,
            "holdout": Table({"x": [1, 2] * 4, "y": [0, 1] * 4}),
            "class_name": "y",
        }
        with pytest.raises(error, match=text):
            attack.membership(**{**arguments, **change})


def test_scores_that_are_equal_are_ties():
    """The same ratio of probabilities for every member; as logarithms they differ by 2^-52."""
    table = {"a": [1, 1, 0], "b": [0, 0, 1], "y": [0, 1, 1]}
    holdout = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [1, 0, 1, 1]}
    found = attack.membership(nbcfast.count(table, "y"), table, holdout, "y")
    assert (found.auc, found.standard_error) == (0.5, 0.0)
