"""What `disclose` and templates refuse, and in which words."""

import numpy as np
import pytest

from nbcfast.templates import disclose, templates_for


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"target": "Nope"}, ValueError, "target: expected a column of 'a', .*; got 'Nope'"),
        ({"target": 3}, ValueError, "target: expected a column of .*; got 3"),
        ({"continuous": 5}, TypeError, "continuous must be a sequence of column names, got 5"),
        ({"continuous": None}, TypeError, "continuous must be a sequence of column names, got None"),
        ({"progress": 5}, TypeError, "progress must be callable or None, got 5"),
        ({"require_beneficial": "no"}, TypeError, "require_beneficial must be True or False, got 'no'"),
        ({"utility": np.array(["x", "y"])}, ValueError, "utility must be one of"),
    ],
)
def test_bad_options_are_named(large, options, error, text):
    table, wanted = large
    with pytest.raises(error, match=text):
        disclose(table, wanted, **({"target": "y"} | options))


def test_bad_values_of_templates_are_named():
    with pytest.raises(TypeError, match="quasi must be a sequence of column names, got None"):
        templates_for(None, "s", [1], 1)
    with pytest.raises(TypeError, match="values must be a sequence of values, got b'yn'"):
        templates_for(["a"], "s", b"yn", 1)
