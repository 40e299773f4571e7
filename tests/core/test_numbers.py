"""Numbers as they are written."""

import pytest

from nbcfast import Interval


@pytest.mark.parametrize(
    "text", ["\uff14", " 4", "4 ", "1 000", "1_000", "\u0664/5", "4\u00a0", "3 / 4", "0.5\n"]
)
def test_a_number_as_text_is_ascii_digits_without_blanks(text):
    with pytest.raises(ValueError, match=r"low must be a number in digits 0 to 9 without blanks, got '"):
        Interval(text, None)


def test_a_number_as_text_may_have_a_sign_a_point_and_an_exponent():
    assert Interval("-1e-2", "+19/20") == Interval(-0.01, 0.95)
