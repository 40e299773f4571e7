"""`canonical.Limits`: what is demanded of the answers, and whether it is kept."""

import math
from fractions import Fraction

import pytest

from nbcfast.canonical import Limits

NONE = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)
NAMES = ["max_bits", "max_found", "min_flip", "min_trace", "max_one_class"]


def test_these_are_demanded_unless_others_are():
    assert Limits().to_dict() == {
        "max_bits": 8.0,
        "max_found": 0,
        "min_flip": 0.99,
        "min_trace": None,
        "max_one_class": 0,
    }


@pytest.mark.parametrize(
    ("name", "limit", "keeps", "breaks"),
    [
        ("max_bits", 5, 5.0, 5.0000001),
        ("max_bits", Fraction(11, 2), 5.5, math.inf),
        ("max_found", 2, 2, 3),
        ("min_flip", "95%", 19 / 20, 0.949),
        ("min_flip", 0.99, 396 / 400, 395 / 400),
        ("min_trace", "1/2", 0.5, 0.4999),
        ("max_one_class", 1, 1, 2),
    ],
)
def test_a_limit_is_kept_up_to_itself(name, limit, keeps, breaks):
    limits = Limits(**{**NONE.to_dict(), name: limit})
    assert limits.kept(name, keeps) is True
    assert limits.kept(name, breaks) is False
    assert limits.kept(name, math.nan) is False
    assert limits.kept(name, None) is None
    assert limits.broken({name: keeps}) == ()
    assert limits.broken({name: breaks}) == (name,)
    assert limits.broken({}) == (name,)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_limit_anything_keeps_it(name):
    assert NONE.kept(name, None) is True
    assert NONE.kept(name, 10**9) is True
    assert NONE.broken({}) == ()


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("max_bits", -1, ValueError),
        ("max_bits", math.inf, ValueError),
        ("max_bits", "none", ValueError),
        ("max_bits", True, TypeError),
        ("max_bits", "8%", ValueError),
        ("max_found", -1, ValueError),
        ("max_found", 1.5, TypeError),
        ("max_found", True, TypeError),
        ("min_flip", 1.01, ValueError),
        ("min_flip", -0.01, ValueError),
        ("min_flip", math.nan, ValueError),
        ("min_trace", [1], TypeError),
        ("min_trace", "101%", ValueError),
        ("max_one_class", "0", TypeError),
    ],
)
def test_what_is_no_limit_is_refused(name, wrong, error):
    with pytest.raises(error, match=f"^{name}"):
        Limits(**{name: wrong})


def test_limits_are_given_by_name():
    with pytest.raises(TypeError):
        Limits(8)
