"""Fixtures of these tests."""

import pytest
from partition_cases import partition_of, people


@pytest.fixture(scope="module")
def partition():
    return partition_of(people())
