"""Nothing that a user sees changes by accident: what verbs print and write is tests/fixture, byte by byte."""

import difflib

import frozen
import pytest
from made_once import made_once

pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with made_once():
        return frozen.frozen(tmp_path_factory.mktemp("frozen"))


def test_every_fixture_is_made_and_no_other(found):
    assert sorted(found) == sorted(frozen.stored())


@pytest.mark.parametrize("name", sorted(frozen.stored()))
def test_a_fixture_is_what_is_printed_and_written_today(name, found):
    stored = frozen.stored()[name]
    assert found[name] == stored, "".join(
        difflib.unified_diff(stored.splitlines(True), found[name].splitlines(True), "stored", "found", n=1)
    )
