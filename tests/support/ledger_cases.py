"""Small tables, their counts and answers in the plainest way, for the ledger of releases."""

import itertools
import math

import numpy as np

import nbcfast

NAMES = ("a", "b", "c")


def random_rows(rng, n_rows, sizes, n_classes):
    """Rows of codes, the class last; small sizes make zeros and ties frequent."""
    columns = [rng.integers(0, size, n_rows) for size in (*sizes, n_classes)]
    return np.stack(columns, axis=1)


def views_of(rows, sizes, n_classes):
    """Counts of rows of codes."""
    of_class = np.bincount(rows[:, -1], minlength=n_classes)
    tables = {}
    for i, size in enumerate(sizes):
        table = np.zeros((size, n_classes), np.int64)
        np.add.at(table, (rows[:, i], rows[:, -1]), 1)
        tables[NAMES[i]] = table
    return nbcfast.Viewset(of_class, tables)


def table_of(rows, sizes, n_classes):
    """The same rows as a table, with declared domains."""
    names = (*NAMES[: len(sizes)], "class")
    columns = {name: rows[:, i].tolist() for i, name in enumerate(names)}
    domains = {name: list(range(size)) for name, size in zip(names, (*sizes, n_classes), strict=True)}
    return nbcfast.Table(columns, domains=domains)


def plain_answers(views):
    """The class of every tuple, by exact scores: P^(1-n) times the counts; a tie goes to the later class."""
    tables = [array.tolist() for array in views.counts.values()]
    powers = [rows ** (len(tables) - 1) for rows in views.class_counts.tolist()]
    common = math.lcm(*(power for power in powers if power))
    weights = [common // power if power else 0 for power in powers]  # P^(1-n), in integers
    found = {}
    for codes in itertools.product(*(range(len(table)) for table in tables)):
        rows = [table[code] for table, code in zip(tables, codes, strict=True)]
        scores = [weight * math.prod(row[c] for row in rows) for c, weight in enumerate(weights)]
        found[codes] = max(zip(scores, itertools.count(), strict=False))[1]
    return found


def binned_adult(data):
    """Adult train: age and hours in eight bins of ten each, education; the domain of all of them declared."""
    last = {"age": 80, "hours_per_week": 70}
    names = ["age", "education_num", "hours_per_week", "income"]
    table = nbcfast.read_csv(data / "adult-train.csv", columns=names)
    columns = {}
    for name in names:
        values = [table.domain(name)[code] for code in table.codes(name)]
        columns[name] = [min(value // 10 * 10, last[name]) for value in values] if name in last else values
    domains = {name: sorted(set(column)) for name, column in columns.items()}
    return columns, domains


def first_rows(columns, domains, n_rows, start=0):
    """So many rows of them, over the declared domains."""
    part = {name: column[start : start + n_rows] for name, column in columns.items()}
    return nbcfast.Table(part, domains=domains)
