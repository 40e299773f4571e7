"""Naive Bayes of a generalised table, where people are told by boxes of values."""

import math

import numpy as np

from nbcfast import Interval, Table, Viewset, skyline


def of_boxes(table: Table, views: Viewset, class_name: str, partition: skyline.Partition) -> Viewset:
    """The counts of a generalised table, times what makes all parts whole.

    A person counts for every value of his box in equal parts. `views` are those of the table before, with
    the domains and the order of classes.
    """
    classes = [table.domain(class_name).index(label) for label in views.classes]
    ids, labels = partition.group_ids, table.codes(class_name)
    assert ids is not None
    people = np.zeros((partition.n_groups, len(classes)), np.int64)
    np.add.at(people, (ids, [classes.index(code) for code in labels.tolist()]), 1)
    inside = {}
    for name in views.attributes:
        domain = views.domain(name)
        of_cell = np.array(
            [[holds(cell.values, value) for value in domain] for cell in partition.cells[name]]
        )
        inside[name] = of_cell, partition.boxes.codes(name)
    whole = math.lcm(*(int(n) for of_cell, _ in inside.values() for n in of_cell.sum(axis=1)))
    counts = {}
    for name, (of_cell, boxes) in inside.items():
        of_boxes = np.zeros((len(of_cell), len(classes)), np.int64)
        np.add.at(of_boxes, boxes, people)
        parts = [whole // int(n) for n in of_cell.sum(axis=1)]
        array = np.zeros((of_cell.shape[1], len(classes)), object)
        for cell, row, part in zip(of_cell, of_boxes.tolist(), parts, strict=True):
            array[cell] += np.array([number * part for number in row], object)
        counts[name] = array
    of_class = np.array([int(number) * whole for number in people.sum(axis=0)], object)
    domains = {name: views.domain(name) for name in views.attributes}
    return Viewset(of_class, counts, classes=views.classes, domains=domains)


def holds(values: tuple[object, ...], value: object) -> bool:
    """Whether a cell stands for a value: it lists it, or is an interval around it."""
    return any(value in each if isinstance(each, Interval) else value == each for each in values)
