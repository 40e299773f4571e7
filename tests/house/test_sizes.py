"""Sizes that hold the house together: files, functions, and how often types say nothing."""

import ast
import re
from pathlib import Path

from sources import FUNCTIONS, statements

import nbcfast

PACKAGE = Path(nbcfast.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
GENERATED = {"verify_release.py", "response/device.py"}  # by tools/amalgamate.py, of files that are counted

MOST_LINES, MOST_TEST_LINES = 600, 620
MOST_CODE = 60  # lines of a function, without its docstring, comments and blank lines
MOST_ANY = 150


def modules():
    """Path from the package -> text of each module that is written by hand."""
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if name not in GENERATED}


def functions(text):
    """Of each function its name, how many lines of code it has, and whether a comment stands above it."""
    lines = text.splitlines()
    for node, _, _ in statements(text):
        if not isinstance(node, FUNCTIONS):
            continue
        docstring = range(0)
        if ast.get_docstring(node, clean=False) is not None:
            docstring = range(node.body[0].lineno, node.body[0].end_lineno + 1)
        code = [
            number
            for number in range(node.lineno, node.end_lineno + 1)
            if number not in docstring and lines[number - 1].strip() and lines[number - 1].lstrip()[0] != "#"
        ]
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield node.name, len(code), lines[first - 2].lstrip().startswith("#")


def test_no_module_is_too_long_to_read():
    found = {name: text.count("\n") for name, text in modules().items()}
    assert {name: n for name, n in found.items() if n > MOST_LINES} == {}


def test_no_test_file_is_too_long_to_read():
    paths = {path.relative_to(TESTS).as_posix(): path for path in sorted(TESTS.rglob("*.py"))}
    found = {name: path.read_text(encoding="utf-8").count("\n") for name, path in paths.items()}
    assert {name: n for name, n in found.items() if n > MOST_TEST_LINES} == {}


def test_a_long_function_says_why():
    found = {
        f"{name}:{function}": n
        for name, text in modules().items()
        for function, n, has_reason in functions(text)
        if n > MOST_CODE and not has_reason
    }
    assert found == {}


def test_types_say_something():
    counts = {name: len(re.findall(r"\bAny\b", text)) for name, text in modules().items()}
    assert sum(counts.values()) < MOST_ANY, sorted(counts.items(), key=lambda item: -item[1])[:20]


def test_lines_of_a_function_are_counted():
    text = '''# A reason.
@decorated
def first(
    a,
):
    """A docstring
    of two lines."""

    # A comment.
    return a


async def second():
    def third():
        return """Not
        a docstring."""
'''
    assert list(functions(text)) == [("first", 4, True), ("second", 4, False), ("third", 3, False)]
