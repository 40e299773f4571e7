"""What all tests share: how long hypothesis looks, where the data is, and no test of a stale binary."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from made_once import made_once

import nbcfast
from nbcfast import _build
from nbcfast._sources import digest

HERE = Path(__file__).resolve().parent

# The Pythons that tests start take the installed nbcfast, not the source tree that they are started in.
os.environ["PYTHONSAFEPATH"] = "1"

slow_machine = [HealthCheck.too_slow]
settings.register_profile("fast", max_examples=50, deadline=None, suppress_health_check=slow_machine)
settings.register_profile("thorough", max_examples=1_000, deadline=None, suppress_health_check=slow_machine)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: takes long; run with HYPOTHESIS_PROFILE=thorough")
    config.addinivalue_line("markers", "apart: many processes, folders or pages; run with -m apart")
    # A shell makes deaf to Ctrl-C what it starts with "&", and nohup to hanging up: so would be the Pythons
    # that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Where Python is told to keep no bytecode, each command that a test starts compiles the whole package.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) and hasattr(config, "cache"):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))


def pytest_sessionstart(session):
    sources = HERE.parent / "src"
    if sources.is_dir() and digest(sources) != _build.SOURCES:
        pytest.exit(
            f"the kernels in {nbcfast.__path__[0]} were compiled from other sources than {sources}: "
            "python setup.py build_ext --inplace",
            returncode=2,
        )


def pytest_collection_modifyitems(config, items):
    if not config.getoption("markexpr"):
        later = pytest.mark.skip(reason="in a job of its own: pytest -m apart")
        for item in items:
            if "apart" in item.keywords:
                item.add_marker(later)
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        return
    skip = pytest.mark.skip(reason="takes long: set HYPOTHESIS_PROFILE=thorough")
    for item in items:
        if "thorough" in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish(session):
    # Thousands of tests, and all that they import, stay to the end: none of it is garbage.
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()  # DuckDB writes of what Python does not take away in the end


@pytest.fixture(scope="session")
def data():
    """The folder of the public data sets."""
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        pytest.skip("needs the public data sets: set NBCFAST_DATA to the folder that holds adult-train.csv")
    path = Path(folder)
    if not (path / "adult-train.csv").exists():
        pytest.fail(f"NBCFAST_DATA names {folder}, which has no adult-train.csv")
    return path


# Folders whose tests publish and verify the same few examples again and again, and are not about how their
# counts are found.
ONCE = {"cli", "exports", "ledger", "policies", "publishing", "reading", "reports", "verification"}


@pytest.fixture(scope="module", autouse=True)
def once(request):
    """In those folders counts are searched once."""
    if request.path.parent.name not in ONCE:
        yield
        return
    with made_once():
        yield


@pytest.fixture
def run(capsys):
    """Run the command line here: exit code, stdout, stderr."""
    from nbcfast.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def in_full(run):
    """The same with the details that a verb has."""

    def in_full(*arguments):
        return run(*arguments, "--verbose")

    return in_full


@pytest.fixture
def refused(run):
    """The one line with which a command is refused."""

    def refused(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("nbcfast: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err.removeprefix("nbcfast: ").rstrip()

    return refused
