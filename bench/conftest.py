"""What benches get from pytest: census-like data, and kernels that are those of the sources."""

from collections.abc import Callable
from pathlib import Path

import pytest
from shared.census import Data, census

from nbcfast import _build
from nbcfast._sources import digest


def pytest_sessionstart(session: pytest.Session) -> None:
    sources = Path(__file__).resolve().parent.parent / "src"
    if sources.is_dir() and digest(sources) != _build.SOURCES:
        pytest.exit(f"the kernels were compiled from other sources than {sources}", returncode=2)


@pytest.fixture(name="census")
def census_data() -> Callable[..., Data]:
    """The function."""
    return census


@pytest.fixture(params=[2, 10], ids=["2_classes", "10_classes"])
def million(request: pytest.FixtureRequest) -> Data:
    """A million rows."""
    return census(1_000_000, request.param)
