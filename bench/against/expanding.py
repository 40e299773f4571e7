"""Data for the benches of templates: Adult and its expansion, CRX, German credit, and templates for them."""

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import nbcfast
from nbcfast.templates import Template, templates_for

ADULT = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
CRX = ("a1", "a4", "a5", "a6", "a7", "a9", "a10", "a12", "a13")
GERMAN = (
    "checking_status",
    "credit_history",
    "purpose",
    "savings_status",
    "employment_since",
    "personal_status_sex",
    "other_debtors",
    "property",
    "other_installment_plans",
    "housing",
    "job",
    "telephone",
    "foreign_worker",
)
# The attributes at the top of the paper's decision trees, which it takes for sensitive.
TOP = {
    "adult": ("marital_status", "relationship", "education", "sex"),
    "crx": ("a9", "a10", "a7", "a6"),
    "german": (
        "checking_status",
        "credit_history",
        "purpose",
        "savings_status",
        "other_debtors",
        "other_installment_plans",
    ),
}
CLASS = {"adult": "income", "crx": "class", "german": "class"}
ATTRIBUTES = {"adult": ADULT, "crx": CRX, "german": GERMAN}
# Inferences of a confidence above 10, 30, 50, 70 and 90 %: Table 3 of the paper.
TABLE_3 = {
    "crx": (40, 27, 15, 8, 6),
    "german": (496, 337, 174, 162, 161),
}
LEVELS = ("1/10", "3/10", "1/2", "7/10", "9/10")
FILES = {
    "adult": ("adult-train.csv", "adult-test.csv"),
    "crx": ("crx-train.csv", "crx-test.csv"),
    "german": ("german-credit.csv",),
}
SENSITIVE = "relationship"


def folder() -> Path | None:
    given = os.environ.get("NBCFAST_DATA")
    return Path(given) if given else None


@functools.cache
def complete(name: str) -> nbcfast.Table | None:
    """The categorical columns and the class, rows without a missing value; None without NBCFAST_DATA."""
    data = folder()
    if data is None:
        return None
    columns = [*ATTRIBUTES[name], CLASS[name]]
    # Values may hold a number's text alone, and stay text.
    types = dict.fromkeys(columns, "text")
    parts = [nbcfast.read_csv(data / file, null_values=("?",), types=types) for file in FILES[name]]
    # A value may be missing in a column that is not used, and the paper leaves such rows out too.
    return nbcfast.concat([part.drop_nulls().select(columns) for part in parts])


def trained(name: str) -> list[npt.NDArray[np.bool_]]:
    """Which of the complete rows are for training; of several splits the errors are averaged.

    Adult and CRX come as two files. The split of German credit into 666 and 334 rows that papers use is not
    to be had, and need not follow the order of the file: ten seeded random ones of that size stand for it.
    """
    table = complete(name)
    assert table is not None
    rows = np.arange(table.n_rows)
    if name != "german":
        return [rows < {"adult": 30_162, "crx": 465}[name]]
    return [np.random.default_rng(seed).permutation(rows) < 666 for seed in range(10)]


def rare(table: nbcfast.Table, attribute: str) -> list[Any]:
    """The half of the values, rounded down, that are the least frequent."""
    counts = np.bincount(table.codes(attribute), minlength=len(table.domain(attribute)))
    order = np.argsort(counts, kind="stable")[: len(counts) // 2]
    return [table.domain(attribute)[place] for place in sorted(order.tolist())]


def templates(
    table: nbcfast.Table, attributes: Sequence[str], sensitive: Sequence[str], limit: Any
) -> list[Template]:
    """All other attributes are known, and the rare values of the sensitive ones are not to be inferred."""
    quasi = [name for name in attributes if name not in sensitive]
    return [
        template for name in sensitive for template in templates_for(quasi, name, rare(table, name), limit)
    ]


@functools.cache
def expanded(n_rows: int, seed: int = 7) -> nbcfast.Table | None:
    """Adult's complete rows and random variations of them, as in section 5.2 of the paper.

    A variation has new values, from those of the column, in some of its attributes.
    """
    table = complete("adult")
    if table is None:
        return None
    rng = np.random.default_rng(seed)
    size = table.n_rows
    names = [name for name in ADULT if name != SENSITIVE]
    columns = {name: np.resize(table.codes(name), n_rows) for name in table.names}
    for start in range(size, n_rows, 1_000_000):
        n = min(1_000_000, n_rows - start)
        chosen = rng.integers(2, 6, n)  # how many of its attributes vary
        order = rng.random((n, len(names)), np.float32).argsort(axis=1)
        for place, name in enumerate(names):
            varies = np.flatnonzero(order[:, place] < chosen)
            values = rng.integers(0, len(table.domain(name)), len(varies))
            columns[name][start + varies] = values.astype(columns[name].dtype)
    made: dict[str, npt.NDArray[Any]] = {}
    for name, codes in columns.items():
        codes.flags.writeable = False
        made[name] = codes
    return nbcfast.Table.from_columns(
        {name: type(table.column(name))(codes, table.column(name).domain) for name, codes in made.items()},
        None,
        n_rows,
    )


def large_templates(table: nbcfast.Table, limit: Any) -> list[Template]:
    """Seven attributes are known, and three values of the eighth are sensitive."""
    return templates(table, ADULT, [SENSITIVE], limit)


def many_templates(table: nbcfast.Table, limit: Any, seed: int = 1, sets: int = 30) -> list[Template]:
    """Random sets of three to six of the seven attributes."""
    rng = np.random.default_rng(seed)
    names = np.array([name for name in ADULT if name != SENSITIVE])
    found: dict[frozenset[str], list[str]] = {}
    while len(found) < sets:
        chosen = [str(name) for name in rng.permutation(names)[: rng.integers(3, 7)]]
        found.setdefault(frozenset(chosen), chosen)
    values = rare(table, SENSITIVE)
    return [
        template for quasi in found.values() for template in templates_for(quasi, SENSITIVE, values, limit)
    ]
