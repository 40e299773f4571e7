"""The menu that is shipped for the patients, and the domain in it that gives nothing measurable away."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import canonical
from nbcfast.domains import Menu

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CHOSEN = {
    "age": 6,
    "bmi": 3,
    "blood_pressure": 3,
    "glucose": 2,
    "relatives": 2,
    "exercise_days": 3,
}


@pytest.fixture(scope="module")
def patients():
    return nbcfast.read_csv(EXAMPLES / "patients.csv")


@pytest.fixture(scope="module")
def menu():
    return Menu.read(EXAMPLES / "patients-menu.json", "diagnosis")


def applied(menu, table, choice):
    """The table on a chosen domain, and the attributes that are left in it."""
    left = []
    for name, place in zip(menu.attributes, choice, strict=True):
        option = menu.options[name][place]
        if not option.out:
            table = option.applied(table, name)
            left.append(name)
    return table, left


def codes_and_counts(menu, table):
    """For every option what it makes of the rows, and the counts of its values."""
    labels = np.array(table.column("diagnosis").codes)
    made = {}
    for name, options in menu.options.items():
        for place, option in enumerate(options):
            if option.out:
                continue
            codes = np.array(option.applied(table, name).column(name).codes)
            counts = np.zeros((option.n_values, 2), np.int64)
            np.add.at(counts, (codes, labels), 1)
            made[name, place] = codes, counts
    return labels, made


def test_every_column_has_its_values_and_can_be_left_out(menu, patients):
    assert menu.attributes == patients.names[:-1]
    for name in menu.attributes:
        assert set(menu.options[name][0].domain_values) == set(patients.column(name).domain.values)
        assert menu.options[name][-1].out
    assert menu.n_choices == 1944
    assert set(menu.class_values) == set(patients.column("diagnosis").domain.values)


def test_the_first_domain_that_keeps_the_limits_gives_nothing_measurable_away(menu, patients):
    labels, made = codes_and_counts(menu, patients)
    sizes = np.bincount(labels)
    leaves = []
    for choice in itertools.product(*(range(len(options)) for options in menu.options.values())):
        kept = [
            (name, place)
            for name, place in zip(menu.attributes, choice, strict=True)
            if (name, place) in made
        ]
        if not kept or any((made[key][1] == 0).any() for key in kept):
            continue  # a value of one class only gives it to whoever has it
        scores = np.full(len(labels), (1 - len(kept)) * math.log(sizes[0] / sizes[1]))
        for key in kept:
            codes, counts = made[key]
            scores += np.log(counts[:, 0] / counts[:, 1])[codes]
        right = int(((scores > 1e-12) == (labels == 0)).sum())
        leaves.append((-right, math.prod(len(made[key][1]) for key in kept), choice))
    assert len(leaves) == 1295
    for leaf in sorted(leaves):
        table, left = applied(menu, patients, leaf[2])
        leak = canonical.leak(nbcfast.count(table, "diagnosis", left), table=table, class_name="diagnosis")
        if leak.bits <= 8 and leak.found == 0 and leak.flip >= 0.99:
            break
    assert {name: len(table.column(name).domain.values) for name in left} == CHOSEN
    assert leaf[:2] == (-0.9090 * len(labels), 648)
    assert round(leak.bits, 2) == 5.67
    assert (leak.found, leak.cells, leak.null_found) == (0, 19, 0)
    assert (leak.flip, leak.trace, leak.exact, leak.one_class_values) == (1, 1, True, 0)
