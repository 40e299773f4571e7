"""What begins with an underscore is the business of the module that defines it."""

import ast
import re
from pathlib import Path

import nbcfast

PACKAGE = Path(nbcfast.__file__).parent
GENERATED = {"verify_release.py", "response/device.py"}  # made of modules that are looked at
NAMED_TUPLES = {"_asdict", "_replace", "_fields", "_make"}  # public in spite of their names, says Python
PRIVATE = re.compile(r"_[a-zA-Z]\w*")


def defined_in(tree):
    """The private names that a module defines: functions, classes, attributes of `self`, slots, fields."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PRIVATE.fullmatch(node.value):
            names.add(node.value)  # a slot, or what object.__setattr__ sets
    return names


def is_own(attribute):
    return isinstance(attribute.value, ast.Name) and attribute.value.id in ("self", "cls")


def foreign(source):
    """Private attributes of other objects that no class of this module has."""
    if not re.search(
        r"(?<![^\w.]self)(?<![^\w.]cls)\.\s*_[a-zA-Z]", source
    ):  # most have only those of `self`
        return []
    tree = ast.parse(source)
    own = defined_in(tree)
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and PRIVATE.fullmatch(node.attr)
        and not is_own(node)
        and node.attr not in own | NAMED_TUPLES
    ]


def test_no_module_reads_private_attributes_of_another():
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    read = {
        name: foreign(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if name not in GENERATED
    }
    assert {name: places for name, places in read.items() if places} == {}


def test_private_attributes_are_found():
    assert foreign("def f(views): return views._domains") == ["line 1: views._domains"]
    assert foreign("x = table.column('a')._head.size") == ["line 1: table.column('a')._head"]
    own = "class A:\n    def __init__(self, other): self._n = other._n\n"
    assert foreign(own) == []
    assert foreign("x._replace(n=1), x.__class__") == []
