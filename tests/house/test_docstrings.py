"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import nbcfast


def module_names():
    yield "nbcfast"
    for module in pkgutil.walk_packages(nbcfast.__path__, "nbcfast."):
        if module.name != "nbcfast.__main__":
            yield module.name


@pytest.mark.parametrize("name", sorted(module_names()))
def test_examples(name, tmp_path, monkeypatch):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if "nbcfast" in (error.name or "nbcfast") and "pip install" not in str(error):
            raise
        pytest.skip(f"needs an extra: {error}")
    monkeypatch.chdir(tmp_path)  # for examples that write
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(module):
        if test.examples:  # to run one without examples makes a debugger all the same
            runner.run(test)
    assert runner.failures == 0


def test_the_public_names_have_examples():
    for name in nbcfast.__all__:
        thing = getattr(nbcfast, name)
        if not callable(thing):
            continue
        assert thing.__doc__, name
        found = doctest.DocTestFinder(recurse=False).find(thing, name)
        if name not in ("read_csv", "read_parquet"):  # these need files
            assert any(test.examples for test in found), name
