"""Fixtures of the tests of verbs."""

import json
import os

import pytest
import warm


@pytest.fixture(scope="session")
def served():
    """The folder of commands that a process serves; None where each is to start by itself."""
    if not hasattr(os, "fork") or os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        yield None
        return
    with warm.commands() as place:
        yield place


@pytest.fixture
def found(run):
    """What a verb says as JSON."""

    def found(*arguments, code=0):
        left, out, err = run(*arguments, "--json")
        assert (left, err) == (code, ""), err
        return json.loads(out)

    return found


@pytest.fixture(scope="module", autouse=True)
def searched_once(once):
    """Verbs of one process search the same counts once."""
