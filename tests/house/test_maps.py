"""The docstring of each folder is a map of it: it names all of its modules, and nothing that is gone."""

import ast
import functools
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import nbcfast

PACKAGE = Path(nbcfast.__file__).parent
FOLDERS = {
    path.parent.relative_to(PACKAGE).as_posix(): path.parent for path in PACKAGE.rglob("*/__init__.py")
}
ROOMS = {name for name in FOLDERS if "/" not in name}


def named(folder):
    """What stands between backticks in the docstring of a folder."""
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    return set(re.findall(r"`([^`]+)`", ast.get_docstring(tree)))


def modules_in(folder):
    """The names of its modules, and of the folders in it that are packages."""
    paths = [*folder.glob("*.py"), *(path.parent for path in folder.glob("*/__init__.py"))]
    return {path.stem for path in paths} - {"__init__"}


def defined_in(folder):
    """The functions, classes, arguments and names that are defined anywhere in it, and what it imports."""
    return {name for path in folder.rglob("*.py") for name in names_in(path)}


@functools.cache
def names_in(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
    return frozenset(names)


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_docstring_names_each_module_of_its_folder(name):
    words = named(FOLDERS[name])
    if name == "reference":
        words |= ROOMS  # its modules have the names of rooms, and are their twins
    modules = modules_in(FOLDERS[name])
    assert {module for module in modules if not any(fnmatch(module, word) for word in words)} == set()


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_docstring_names_nothing_that_is_gone(name):
    folder = FOLDERS[name]
    modules = modules_in(folder)
    known = {*modules, *defined_in(folder), *ROOMS}
    gone = set()
    for word in named(folder):
        if word.startswith("nbcfast.") and "/" not in word:
            place = PACKAGE.joinpath(*word.split(".")[1:])
            there = place.is_dir() or place.with_suffix(".py").exists()
        elif word.startswith("nbcfast/"):
            there = (PACKAGE.parent / word).exists()
        elif "*" in word:
            there = any(fnmatch(module, word) for module in modules)
        else:
            # Commands, and paths of a clone, are no names of Python.
            there = " " in word or "/" in word or set(word.split("=")[0].split(".")) <= known
        if not there:
            gone.add(word)
    assert gone == set()
