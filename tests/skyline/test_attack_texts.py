"""What `check` says: the attack in words, the reports, and bad arguments."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from skyline_cases import groups_of, hist, singles

from nbcfast.groups import Groups, group
from nbcfast.skyline import Statistics, check, find


def test_the_attack_names_groups_and_values():
    table = {
        "age": [30] * 20 + [40] * 11,
        "ill": ["flu"] * 7 + ["cold"] * 7 + ["gout"] * 6 + ["flu"] * 4 + [f"rare {i}" for i in range(7)],
    }
    (report,) = check(group(table, ["age"], "ill"), [(1, 1, 3, 0.875)])
    assert report.attack.text == (
        "target in the group of age 30 (20 people, 7 with flu); known: that the target has not cold; the "
        "value of 1 person of the group of age 40: 1 x rare 0; that if any of 3 other people of that other "
        "group too had flu, the target would have it; then the target has flu with probability 0.875"
    )
    assert str(report.attack) == report.attack.text
    assert report.attack.to_dict()["known"] == [["rare 0", 1]]
    assert report.to_dict()["point"] == [1, 1, 3, "0.875"]
    assert report.to_dict()["exact"] is None
    assert repr(report) == "Report((1, 1, 3, 0.875): unsafe, breach 0.875)"


def test_statistics_alone_name_no_group():
    release = [hist("s7 x7 w6"), {"s": 4, **singles(7)}]
    statistics = Statistics([1]).update(groups_of(release))
    (report,) = check(statistics, [(1, 1, 3, 0.875)], exact=True)
    assert (report.safe, report.exact, report.case) == (False, Fraction(7, 8), 3)
    assert (report.attack.group, report.attack.known, report.attack.value) == (None, None, "s")
    assert "target in a group; known: that the target has none of 1 values there" in report.attack.text
    (certain,) = check(statistics, [(1, 30, 0, 1)])
    assert certain.attack.pieces == (1, 6, 0)
    assert certain.attack.people == (20, 7)


def test_reports():
    reports = check(Groups([[3, 2, 2]]), [(0, 0, 0, 0.5), (1, 0, 0, 0.5)], exact=True)
    assert isinstance(reports, tuple)
    assert not reports.safe
    assert [report.exact for report in reports] == [Fraction(3, 7), Fraction(3, 5)]
    assert reports.worst is reports[1]
    assert reports.to_dict()["safe"] is False
    assert "unsafe" in repr(reports)
    assert pickle.loads(pickle.dumps(reports)) == reports
    with pytest.raises(AttributeError):
        reports[0].safe = True


@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ((0, 0, 0, 0), ValueError, r"points\[0\]: confidence must be in \(0, 1\], got 0"),
        ((0, 0, 0, 1.5), ValueError, r"must be in \(0, 1\], got 1.5"),
        ((0, 0, 0, -0.5), ValueError, r"must be in \(0, 1\]"),
        ((0, 0, 0, float("nan")), ValueError, "finite number"),
        ((0, 0, 0, "x"), ValueError, "finite number"),
        ((0, 0, 0, None), TypeError, "must be an int, a Fraction, a float"),
        ((-1, 0, 0, 1), ValueError, r"points\[0\]: l must be at least 0, got -1"),
        ((0, -1, 0, 1), ValueError, "k must be at least 0, got -1"),
        ((0, 0, -2, 1), ValueError, "m must be at least 0, got -2"),
        ((0.0, 0, 0, 1), TypeError, r"l must be an int, got 0.0"),
        ((0, True, 0, 1), TypeError, "k must be an int, got True"),
        ((0, 0, 1), ValueError, r"expected \(l, k, m, confidence\), got 3 numbers"),
        ("abcd", TypeError, "got 'abcd'"),
        (5, TypeError, "got 5"),
    ],
)
def test_bad_points(point, error, message):
    with pytest.raises(error, match=message):
        check(Groups([[1, 1]]), [point])


def test_bad_arguments():
    groups = Groups([[1, 1]])
    with pytest.raises(ValueError, match="expected at least one"):
        check(groups, [])
    with pytest.raises(TypeError, match=r"one point is written \[\(1, 2, 3, 0.5\)\]"):
        check(groups, (1, 2, 3, 0.5))
    with pytest.raises(TypeError, match="got the text"):
        check(groups, "1,2,3,0.5")
    with pytest.raises(TypeError, match="got int"):
        check(groups, 7)
    with pytest.raises(TypeError, match="groups: expected Groups or Statistics, got ndarray"):
        check(np.ones((2, 2)), [(0, 0, 0, 1)])
    with pytest.raises(TypeError, match="groups: expected Groups or Statistics, got list"):
        find([[1, 1]], 0.5)
    for confidence in (0, 1.01, -1):
        with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\]"):
            find(groups, confidence)
