"""A table that takes many steps to disclose."""

import numpy as np
import pytest

import nbcfast
from nbcfast.templates import Template


@pytest.fixture
def large():
    rng = np.random.default_rng(8)
    table = {name: rng.integers(0, 6, 2_000) for name in ("a", "b", "c")}
    table["s"] = rng.integers(0, 4, 2_000)
    table["y"] = rng.integers(0, 2, 2_000)
    return nbcfast.Table(table), [Template(["a", "b", "c"], ("s", 1), "3/4")]
