"""Bins in a few words."""

import pytest

from nbcfast.domains.bin_words import bins_in
from nbcfast.domains.option import Option


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("25,35,50", {"edges": [None, 25, 35, 50, None]}),
        ("40", {"edges": [None, 40, None]}),
        ("-1.5, 0.25", {"edges": [None, -1.5, 0.25, None]}),
        ("18,65,null", {"edges": [None, 18, 65, None], "null": True}),
        ("2000-01-01,2010-01-01", {"edges": [None, "2000-01-01", "2010-01-01", None]}),
        ("tens", 10),
        ("width:2.5", 2.5),
        ("hundreds:0:500", {"width": 100, "from": 0, "to": 500}),
        ("width:10:0:100", {"width": 10, "from": 0, "to": 100}),
        ("tens:0:100:open", {"width": 10, "from": 0, "to": 100, "open": True}),
        ("tens:0:100,null", {"width": 10, "from": 0, "to": 100, "null": True}),
    ],
)
def test_words_stand_for_bins(words, expected):
    found = bins_in(words, "--bin age")
    assert found == expected
    if isinstance(found, dict):
        assert Option(found).n_values > 1


@pytest.mark.parametrize(
    "words",
    [
        "",
        ",",
        "25,",
        "25,,35",
        "null",
        "25;35",
        "ten",
        "tens:",
        "tens:0",
        "tens:0:100:shut",
        "tens:open",
        "width",
        "width:",
        "width:0",
        "width:-1",
        "width:x:0:9",
        "tens,null",
        "\u0664",
        "1e999999999",
        "nan",
        "inf",
        "0.1234567890123456789",
    ],
)
def test_other_words_are_refused_in_one_line(words):
    with pytest.raises(ValueError, match=r"^--bin age: ") as error:
        bins_in(words, "--bin age")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("words", ["35,25", "2000-02-30", "2000-01-01,5", "tens:5:0", "tens:0:15", "25,25"])
def test_bins_that_are_none_are_refused_where_the_option_is_made(words):
    with pytest.raises(ValueError, match=r"^option: expected"):
        Option(bins_in(words, "--bin age"))
