"""Fixtures of these tests."""

import pytest
from partition_cases import JOBS, POINTS, people

from nbcfast.mondrian import anonymize


@pytest.fixture(scope="module")
def partition():
    return anonymize(
        people(),
        ["age", "job", "hours"],
        "ill",
        POINTS,
        k=5,
        diversity=(4, 3),
        closeness=0.5,
        hierarchies={"job": JOBS},
    )
