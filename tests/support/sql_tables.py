"""Private tables with hostile names and values, and disclosures and partitions of them."""

import random

from sql_rows import FLOATS, INTS, LARGE, NAMES, SPARK_TYPES, TEXTS, TYPES

import nbcfast
from nbcfast import Infeasible, Interval, templates
from nbcfast.mondrian import anonymize

BINS = [Interval(None, -1), Interval(-1, "0.3"), Interval("0.3", 10), Interval(10, None)]
BINNED = [-5.5, -1.0, -0.0, 0.0, 0.1, 0.3, 9.99, 10.0, 1e9]


def private_table(rng, nulls=0.3):
    """Raw columns, their kinds, and the table that a method reads: with bins where there are some."""
    n_rows = rng.randint(12, 60)
    kinds = rng.sample(["text", "int", "large", "float", "bool", "interval"], rng.randint(1, 4))
    columns = {}
    of_name = dict(zip(rng.sample(NAMES, len(kinds)), kinds, strict=True))
    for name, kind in of_name.items():
        values = {"text": TEXTS, "int": INTS, "large": LARGE, "float": FLOATS, "bool": [True, False]}
        few = rng.sample(values.get(kind, BINNED), 2 if kind == "bool" else rng.randint(2, 5))
        if rng.random() < nulls:
            few.append(float("nan") if kind in ("float", "interval") and rng.random() < 0.5 else None)
        columns[name] = [rng.choice(few) for _ in range(n_rows)]
    secret = "sensitive; 'x'"
    columns[secret] = [rng.choice(["it's", "back\\slash", "--"]) for _ in range(n_rows)]
    table = nbcfast.Table(columns)
    binned = {
        name: [bin_of(value) for value in columns[name]]
        for name, kind in of_name.items()
        if kind == "interval"
    }
    table = nbcfast.Table(
        {**columns, **binned}, domains={name: used(values) for name, values in binned.items()}
    )
    kinds = {name: "int" if kind == "large" else kind for name, kind in of_name.items()}
    return columns, {**kinds, secret: "text"}, table, secret


def bin_of(value):
    return None if value is None or value != value else next(one for one in BINS if value in one)


def used(values):
    return [*BINS, *[None] * (None in values)]


def types_of(kinds, spark=False):
    return {name: (SPARK_TYPES if spark else TYPES)[kind] for name, kind in kinds.items()}


def disclosure(seed):
    """A disclosure of a private table, with its raw columns and kinds."""
    for attempt in range(100):
        rng = random.Random(f"{seed} {attempt}")
        columns, kinds, table, secret = private_table(rng)
        quasi = [name for name in kinds if name != secret]
        wanted = [
            templates.Template(
                tuple(rng.sample(quasi, rng.randint(1, len(quasi)))), (secret, columns[secret][0]), limit
            )
            for limit in rng.sample(["2/3", "1/2", "3/4", "9/10"], 2)
        ]
        continuous = [
            name
            for name in {name for one in wanted for name in one.quasi}
            if kinds[name] in ("int", "float")
            and rng.random() < 0.6
            and not any(value is None or value != value for value in columns[name])
        ]
        try:
            made = templates.disclose(table, wanted, utility="distortion", continuous=continuous)
        except Infeasible:
            continue
        return made, columns, kinds
    raise AssertionError("every disclosure was infeasible")


def partition(seed):
    """A partition of a private table, with its raw columns and kinds."""
    rng = random.Random(seed)
    columns, kinds, table, secret = private_table(rng)
    quasi = [name for name in kinds if name != secret]
    return anonymize(table, quasi, secret, [], k=rng.randint(2, 5)), columns, kinds


def texts_of(table, name):
    """A column as `to_arrow` writes it."""
    return table.to_arrow().column(name).to_pylist()
