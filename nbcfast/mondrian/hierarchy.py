"""Hierarchies of values: nested mappings, or the CSV files of ARX."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._reading.hints import misread
from nbcfast.table.domain import Domain
from nbcfast.table.values import SUPPRESSED, Value

ROOT = "*"  # the name of a root that has none


@dataclass
class Node:
    """A set of values that has a name; a leaf is one value and has no children."""

    label: str
    value: object = None
    place: int = -1  # of a value in its domain, once that is known
    is_leaf: bool = False
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Tree:
    """A hierarchy over a domain.

    Attributes
    ----------
    order : list of int
        Positions in the domain, from the first leaf to the last.
    nodes : ndarray of int64, shape (nodes, 4)
        First and last leaf (by place in `order`), first child, number of children; breadth first.
    labels : dict of (first, last) -> str
        The names of the nodes that are not leaves.
    """

    order: list[int]
    nodes: Longs
    labels: dict[tuple[int, int], str]


def tree_of(hierarchy: object, domain: Domain, name: str, *, delimiter: str = ";") -> Tree:
    """The tree that a nested mapping, or the path of an ARX file, gives for the values of a domain.

    A mapping goes from the name of a set to its parts: another mapping, or a sequence of values; a value of
    the mapping that is None makes the name itself a value. A file has a line for each value: the value, then
    the names of ever larger sets. Values that the domain does not have are left out; every value of the
    domain must have a place, and only one. A set with a single part is that part.
    """
    where = f"hierarchies: column {name!r}"
    try:
        return _tree(hierarchy, domain, where, delimiter)
    except RecursionError:
        raise ValueError(f"{where}: sets are nested too deeply") from None


def _tree(hierarchy: object, domain: Domain, where: str, delimiter: str) -> Tree:
    if isinstance(hierarchy, Mapping):
        root = Node(ROOT, children=list(_children(hierarchy, where)))
        if len(root.children) == 1 and not root.children[0].is_leaf:
            root = root.children[0]
    elif isinstance(hierarchy, (str, os.PathLike)):
        root = _from_file(os.fsdecode(hierarchy), domain, where, delimiter)
    else:
        raise TypeError(
            f"{where}: expected a mapping or the path of a CSV file, got {type(hierarchy).__name__}"
        )
    places: dict[int, str] = {}
    kept = _restricted(root, domain, places, where)
    missing = [value for place, value in enumerate(domain.values) if place not in places]
    if missing or kept is None:
        value = (missing or [None])[0]
        hint = ""
        if value is None:
            hint = ": a null is None in a mapping, and an empty first field (a line ;set;..) in a file"
        raise ValueError(f"{where}: the value {value!r} has no place in the hierarchy{hint}")
    return _laid_out(kept, where)


def _children(sets: Mapping[object, object], where: str) -> Iterator[Node]:
    for label, parts in sets.items():
        if parts is None:
            yield Node(str(label), label, is_leaf=True)
            continue
        node = Node(str(label))
        if isinstance(parts, Mapping):
            node.children = list(_children(parts, where))
        elif isinstance(parts, (str, bytes)) or not isinstance(parts, Iterable):
            raise TypeError(f"{where}: {label!r} must have a mapping or a sequence of values, got {parts!r}")
        else:
            for part in parts:
                node.children += (
                    _children(part, where)
                    if isinstance(part, Mapping)
                    else [Node(str(part), part, is_leaf=True)]
                )
        yield node


def _from_file(path: str, domain: Domain, where: str, delimiter: str) -> Node:
    """Lines of value;set;larger set;..;all."""
    by_text = {_text(value): value for value in domain.values}
    root = Node(ROOT)
    index: dict[tuple[str, ...], Node] = {(): root}
    seen: set[str] = set()
    with open(path, newline="", encoding="utf-8-sig") as file:
        for number, line in enumerate(_lines(file, path, where, delimiter), 1):
            if not line:
                continue
            text, *sets = line
            if text in seen:
                raise ValueError(f"{where}: {path}: line {number}: the value {text!r} stands there twice")
            seen.add(text)
            if text not in by_text:
                continue
            path_down = tuple(reversed(sets))
            for depth in range(1, len(path_down) + 1):
                key = path_down[:depth]
                if key not in index:
                    index[key] = Node(key[-1])
                    index[key[:-1]].children.append(index[key])
            index[path_down].children.append(Node(text, by_text[text], is_leaf=True))
    while len(root.children) == 1 and not root.children[0].is_leaf:
        root = root.children[0]
    return root


def _lines(file: TextIO, path: str, where: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(file, delimiter=delimiter)
    except UnicodeDecodeError as error:
        found = misread(path, "utf8")
        hint = str(error) if found is None else found.told
        raise ValueError(f"{where}: {hint}: save it as UTF-8") from None


def _text(value: Value) -> str:
    """A value as a CSV file writes it: null is empty."""
    return "" if value is None else "*" if value is SUPPRESSED else str(value)


def _restricted(node: Node, domain: Domain, places: dict[int, str], where: str) -> Node | None:
    """The part of a node whose values the domain has; a node with one child is that child."""
    if node.is_leaf:
        place = _place_of(node.value, domain)
        # True is no 1, and a label of a mapping that was a number is one.
        if place < 0 or isinstance(domain.values[place], bool) != isinstance(node.value, bool):
            return None
        if place in places:
            raise ValueError(f"{where}: the value {node.value!r} has two places in the hierarchy")
        places[place] = node.label
        return Node(node.label, place=place, is_leaf=True)
    children = [kept for child in node.children if (kept := _restricted(child, domain, places, where))]
    if len(children) <= 1:
        return children[0] if children else None
    return Node(node.label, children=children)


def _place_of(value: object, domain: Domain) -> int:
    """The place of a value in its domain, or -1."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return domain.index.get(value, -1)
    # Intervals, SUPPRESSED, and what equals a number; anything else may have no hash.
    return domain.values.index(value) if value in domain.values else -1


def _laid_out(root: Node, where: str) -> Tree:
    """Leaves in order, nodes breadth first."""
    order: list[int] = []
    spans: dict[int, tuple[int, int]] = {}

    def number(node: Node) -> tuple[int, int]:
        if node.is_leaf:
            order.append(node.place)
            spans[id(node)] = len(order) - 1, len(order) - 1
        else:
            ends = [number(child) for child in node.children]
            spans[id(node)] = ends[0][0], ends[-1][1]
        return spans[id(node)]

    number(root)
    rows: list[tuple[int, int, int, int]] = []
    labels: dict[tuple[int, int], str] = {}
    queue, place = [root], 1
    while queue:
        following: list[Node] = []
        for node in queue:
            rows.append((*spans[id(node)], place if node.children else 0, len(node.children)))
            place += len(node.children)
            following += node.children
            if not node.is_leaf:
                labels[spans[id(node)]] = node.label
        queue = following
    for label, times in Counter(labels.values()).items():
        if times > 1:
            raise ValueError(f"{where}: the name {label!r} stands for two different sets")
    return Tree(order, np.array(rows, np.int64), labels)
