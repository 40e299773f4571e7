"""Every test and test file that a document names, as what holds a statement, is there under that name."""

import functools
import re
from pathlib import Path

import pytest
from sources import defined

TOP = Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
PAST = {"changelog.md"}  # names tests as they were called then

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="docs/ belongs to a clone, and is not here")


@functools.cache
def names_of_tests():
    """Of test functions, of classes, and of files without their ending."""
    names = set()
    for path in (TOP / "tests").rglob("*.py"):
        names.add(path.stem)
        names |= defined(path.read_text(encoding="utf-8"))
    return names


def missing_in(text, names):
    """The paths below tests/ and the names of tests in a text that are not there."""
    paths = re.findall(r"(?<![\w/])tests/[\w/.-]*[\w/]", text)
    tests = re.findall(r"(?<!\w)test_\w+", text)
    return [path for path in paths if not (TOP / path).exists()] + [
        test for test in tests if test not in names
    ]


def test_every_test_that_a_document_names_is_there():
    names = names_of_tests()
    documents = [path for path in (*TOP.glob("*.md"), *DOCS.rglob("*.md")) if path.name not in PAST]
    wrong = {path.name: missing_in(path.read_text(encoding="utf-8"), names) for path in documents}
    assert {name: missing for name, missing in wrong.items() if missing} == {}
    assert any(path.parent.name == "mathematics" for path in documents)


def test_a_name_of_no_test_is_found():
    text = (
        "Held by: `test_a_name_of_no_test_is_found`, `test_no`, tests/house and `tests/house/test_gone.py`."
    )
    assert missing_in(text, names_of_tests()) == ["tests/house/test_gone.py", "test_no", "test_gone"]
