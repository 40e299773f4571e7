"""Statements of a source, without its expressions, which hold none and are most of what a tree is made of."""

import ast
from collections import deque
from typing import NamedTuple

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Placed(NamedTuple):
    """A statement, and whether it stands in a function, and below an `if`."""

    node: ast.AST
    in_function: bool
    in_if: bool


def statements(text):
    """Each statement of a module, at any depth, in the order of `ast.walk`."""
    left = deque([Placed(ast.parse(text), False, False)])
    while left:
        place = left.popleft()
        yield place
        node, in_function, in_if = place
        in_function, in_if = in_function or isinstance(node, FUNCTIONS), in_if or isinstance(node, ast.If)
        for block in BLOCKS:
            left += [Placed(child, in_function, in_if) for child in getattr(node, block, ())]


def defined(text):
    """The names of functions and classes, at any depth."""
    return {node.name for node, _, _ in statements(text) if isinstance(node, FUNCTIONS | ast.ClassDef)}
