"""Checks of one argument: what they take, and the one form of their messages."""

import gmpy2
import numpy as np
import pytest

from nbcfast._core.validation import callable_or_none, choice, generator_or_none, positive, type_name, whole


@pytest.mark.parametrize("number", [3, np.int8(3), np.uint64(3), gmpy2.mpz(3)])
def test_whole_numbers_of_any_kind(number):
    assert (whole(number, "n", 3, 3), type(whole(number, "n"))) == (3, int)
    assert positive(number, "n") == 3


@pytest.mark.parametrize(
    "number", [True, np.True_, 3.0, "3", None, np.float64(3), np.timedelta64(3, "s"), [3]]
)
def test_what_is_no_whole_number(number):
    with pytest.raises(TypeError) as error:
        whole(number, "n", expected="an int or None")
    assert str(error.value) == f"n must be an int or None, got {number!r}"
    with pytest.raises(TypeError) as error:
        whole(number, "n", got=type_name)
    assert str(error.value) == f"n must be an int, got {type(number).__name__}"
    with pytest.raises(ValueError, match="n must be an int of at least 1, got"):
        positive(number, "n")


@pytest.mark.parametrize(
    ("number", "least", "most", "message"),
    [
        (0, 1, None, "n must be at least 1, got 0"),
        (9, None, 8, "n must be at most 8, got 9"),
        (-1, 0, 8, "n must be 0..8, got -1"),
        (9, 0, 8, "n must be 0..8, got 9"),
    ],
)
def test_bounds(number, least, most, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole text is compared
        whole(number, "n", least, most)
    assert str(error.value) == message


def test_numbers_that_python_does_not_print():
    with pytest.raises(ValueError, match=r"n must be 0\.\.8, got about 2\^16609"):
        whole(10**5000, "n", 0, 8)
    with pytest.raises(ValueError, match=r"rounds must be an int of at least 1, got about -2\^16609"):
        positive(-(10**5000), "rounds")


@pytest.mark.parametrize("given", ["best", None, 1, ["order"], np.array(["order", "label"])])
def test_choices(given):
    choice("label", ("order", "label"), "preserve")
    with pytest.raises(ValueError) as error:  # noqa: PT011
        choice(given, ("order", "label", "none"), "preserve")
    assert str(error.value) == f"preserve must be 'order', 'label' or 'none', got {given!r}"


def test_what_is_called_and_what_draws():
    for argument in (None, print):
        callable_or_none(argument)
    for argument in (None, np.random.default_rng(1)):
        generator_or_none(argument)
    with pytest.raises(TypeError, match=r"^progress must be callable or None, got int$"):
        callable_or_none(5)
    with pytest.raises(TypeError, match=r"^report must be callable or None, got 'x'$"):
        callable_or_none("x", "report", got=repr)
    with pytest.raises(TypeError, match=r"^rng must be a numpy\.random\.Generator or None, got RandomState$"):
        generator_or_none(np.random.RandomState(1))
