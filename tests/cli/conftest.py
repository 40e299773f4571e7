"""Fixtures of the tests of verbs."""

import json

import pytest


@pytest.fixture
def found(run):
    """What a verb says as JSON."""

    def found(*arguments, code=0):
        left, out, err = run(*arguments, "--json")
        assert (left, err) == (code, ""), err
        return json.loads(out)

    return found
