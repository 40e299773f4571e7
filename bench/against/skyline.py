"""Groups and skylines: k and l from rows against other libraries, checks against the program over placements.

To add a peer, write one function that gives its forms; what it prepares before is not timed. The answer of a
grouping is (groups, pairs, k, l): all from one pass over groups and values where the peer can do that.
"""

import sys
import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from against import skyline_dp
from shared.census import census
from shared.clock import Form, Peers, Row, medians, power, race, shown

import nbcfast
from nbcfast.groups import Groups, group
from nbcfast.reference import skyline as reference
from nbcfast.skyline import check, find

QUASI = ["age", "sex", "race", "marital", "education", "country", "workclass"]
SENSITIVE = "relationship"
POINT = (10, 10, 10, 0.99)
MOST_CELLS = 1 << 22  # of a dense table that numpy is given

# At least so many times the best form of the peer: quasi-identifiers -> peer -> ratio, from 1e6 rows on.
TARGETS = {
    5: {"numpy": 3, "DuckDB": 9, "polars": 9, "pyarrow": 9, "pandas groupby": 20},
    7: {"numpy": 2.5, "DuckDB": 4, "polars": 4, "pyarrow": 4, "pandas groupby": 8},
}
LIMIT = {5: 2.6e-9, 7: 13e-9}  # seconds a row
PYCANON = {"pycanon, k": 200, "pycanon, l": 1000}
DP, DP_REFERENCE, POINTS = 120, 10_000, 1 / 1.5

grouping = Peers()


class Rows(NamedTuple):
    """Codes of the quasi-identifiers and of the sensitive value."""

    columns: dict[str, Any]
    quasi: list[str]
    table: nbcfast.Table
    sizes: dict[str, int]

    @property
    def n_rows(self) -> int:
        return self.table.n_rows


@lru_cache(maxsize=2)
def rows(n_rows: int, n_quasi: int) -> Rows:
    data = census(n_rows)
    names = [*QUASI[:n_quasi], SENSITIVE]
    columns = {name: codes for name, codes in data.named().items() if name in names}
    table = data.table().select(names)
    return Rows(columns, names[:-1], table, {name: len(table.domain(name)) for name in names})


def answer(groups: Groups) -> tuple[int, int, int, int]:
    return groups.n_groups, len(groups.values), groups.k, groups.l


def key_of(data: Rows, names: list[str], dtype: Any) -> Any:
    key = np.zeros(data.n_rows, dtype)
    for name in names:
        key = key * dtype(data.sizes[name]) + data.columns[name]
    return key


@grouping.peer("numpy")
def numpy_bincount(data: Rows) -> Iterator[Form]:
    names, n_values = [*data.quasi, SENSITIVE], data.sizes[SENSITIVE]
    cells = int(np.prod([data.sizes[name] for name in names]))

    def dense() -> tuple[int, int, int, int]:
        counts = np.bincount(key_of(data, names, np.int64), minlength=cells).reshape(-1, n_values)
        sizes, distinct = counts.sum(axis=1), np.count_nonzero(counts, axis=1)
        some = sizes > 0
        return int(some.sum()), int(distinct.sum()), int(sizes[some].min()), int(distinct[some].min())

    def sparse() -> tuple[int, int, int, int]:
        pairs, counts = np.unique(key_of(data, names, np.int64), return_counts=True)
        first = np.flatnonzero(np.diff(pairs // n_values, prepend=-1))
        sizes = np.add.reduceat(counts, first)
        distinct = np.diff(first, append=len(pairs))
        return len(first), len(pairs), int(sizes.min()), int(distinct.min())

    if cells <= MOST_CELLS:
        yield Form("dense bincount", dense)
    yield Form("unique of one joint key", sparse)


@grouping.peer("DuckDB")
def duckdb_group_by(data: Rows) -> Iterator[Form]:
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    given = data.columns
    database.register("given", given)
    database.execute("CREATE TABLE codes AS SELECT * FROM given")
    database.unregister("given")
    by = ", ".join(data.quasi)
    two = (
        "SELECT count(*), sum(l)::BIGINT, min(n)::BIGINT, min(l) FROM (SELECT sum(c) n, count(*) l FROM "
        f"(SELECT {by}, {SENSITIVE}, count(*) c FROM codes GROUP BY ALL) GROUP BY {by})"
    )
    distinct = (
        "SELECT count(*), sum(l)::BIGINT, min(n), min(l) FROM "
        f"(SELECT count(*) n, count(DISTINCT {SENSITIVE}) l FROM codes GROUP BY {by})"
    )
    joint = "0::BIGINT"
    for name in data.quasi:
        joint = f"({joint}) * {data.sizes[name]} + {name}"
    one_key = (
        "SELECT count(*), sum(l)::BIGINT, min(n)::BIGINT, min(l) FROM (SELECT sum(c) n, count(*) l FROM "
        f"(SELECT {joint} g, {SENSITIVE}, count(*) c FROM codes GROUP BY ALL) GROUP BY g)"
    )

    def ask(query: str) -> tuple[int, ...]:
        return tuple(database.execute(query).fetchall()[0])

    yield Form("GROUP BY twice", partial(ask, two))
    yield Form("count(DISTINCT)", partial(ask, distinct))
    yield Form("GROUP BY twice, one joint key", partial(ask, one_key))


@grouping.peer("polars")
def polars_group_by(data: Rows) -> Iterator[Form]:
    import polars as pl

    frame = pl.DataFrame(data.columns)
    summary = [pl.len(), pl.col("l").sum().alias("pairs"), pl.col("n").min(), pl.col("l").min()]

    def twice(by: list[Any]) -> tuple[int, ...]:
        pairs = frame.lazy().group_by(*by, SENSITIVE).len()
        names = [name if isinstance(name, str) else "g" for name in by]
        groups = pairs.group_by(names).agg(n=pl.col("len").sum(), l=pl.len())
        return groups.select(summary).collect().row(0)

    def unique() -> tuple[int, ...]:
        groups = frame.lazy().group_by(data.quasi).agg(n=pl.len(), l=pl.col(SENSITIVE).n_unique())
        return groups.select(summary).collect().row(0)

    key = pl.lit(0, pl.Int64)
    for name in data.quasi:
        key = key * data.sizes[name] + pl.col(name)
    yield Form("group_by twice, lazy", partial(twice, list(data.quasi)))
    yield Form("n_unique, lazy", unique)
    yield Form("group_by twice, one joint key", partial(twice, [key.alias("g")]))


@grouping.peer("pyarrow")
def pyarrow_group_by(data: Rows) -> Iterator[Form]:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table(data.columns)

    def twice() -> tuple[int, ...]:
        pairs = table.group_by([*data.quasi, SENSITIVE], use_threads=False).aggregate([([], "count_all")])
        groups = pairs.group_by(data.quasi, use_threads=False).aggregate(
            [("count_all", "sum"), ([], "count_all")]
        )
        sizes, distinct = groups["count_all_sum"], groups["count_all"]
        return groups.num_rows, pairs.num_rows, pc.min(sizes).as_py(), pc.min(distinct).as_py()

    yield Form("group_by twice", twice)


@grouping.peer("pandas groupby")
def pandas_group_by(data: Rows) -> Iterator[Form]:
    import pandas as pd

    frame = pd.DataFrame(data.columns)

    def twice() -> tuple[int, ...]:
        pairs = frame.groupby([*data.quasi, SENSITIVE], sort=False).size()
        groups = pairs.groupby(level=data.quasi, sort=False).agg(["sum", "size"])
        return len(groups), len(pairs), int(groups["sum"].min()), int(groups["size"].min())

    def unique() -> tuple[int, ...]:
        groups = frame.groupby(data.quasi, sort=False)[SENSITIVE].agg(["size", "nunique"])
        distinct = groups["nunique"]
        return len(groups), int(distinct.sum()), int(groups["size"].min()), int(distinct.min())

    yield Form("size, twice", twice)
    yield Form("size and nunique", unique)


@grouping.peer("pandas")
def pandas_joint(data: Rows) -> Iterator[Form]:
    import pandas as pd

    def joint() -> tuple[int, ...]:
        keys = pd.Series(key_of(data, [*data.quasi, SENSITIVE], np.int64))
        pairs = keys.value_counts(sort=False)
        groups = pairs.groupby(pairs.index // data.sizes[SENSITIVE], sort=False).agg(["sum", "size"])
        return len(groups), len(pairs), int(groups["sum"].min()), int(groups["size"].min())

    yield Form("value_counts of one joint key by hand", joint)


def against_libraries(n_rows: int, n_quasi: int, rounds: int) -> Iterator[Row]:
    data = rows(n_rows, n_quasi)
    job = f"k and l, {power(n_rows)} rows, {n_quasi} quasi-identifiers"

    def ours() -> tuple[int, int, int, int]:
        return answer(group(data.table, data.quasi, SENSITIVE, threads=1))

    targets = TARGETS[n_quasi] if n_rows >= 1_000_000 else None
    yield from race(job, n_rows, Form("group", ours), grouping.forms(data), tuple.__eq__, rounds, targets)
    if n_rows >= 1_000_000:
        (seconds,) = medians([ours], rounds)
        limit = LIMIT[n_quasi] * n_rows
        yield Row(job, "time, a limit", shown(limit, n_rows), shown(seconds, n_rows), limit / seconds, 1)


def against_pycanon(n_rows: int, rounds: int) -> Iterator[Row]:
    try:
        import pandas as pd
        from pycanon import anonymity
    except ImportError as error:
        print(f"pycanon: skipped, {error}", file=sys.stderr)
        return
    data = rows(n_rows, 5)
    frame = pd.DataFrame(data.columns)
    runs = {
        "pycanon, k": (lambda: anonymity.k_anonymity(frame, data.quasi), lambda groups: groups.k),
        "pycanon, l": (
            lambda: anonymity.l_diversity(frame, data.quasi, [SENSITIVE]),
            lambda groups: groups.l,
        ),
    }
    for peer, (theirs, measure) in runs.items():

        def ours(measure: Any = measure) -> int:
            return int(measure(group(data.table, data.quasi, SENSITIVE, threads=1)))

        yield from race(
            f"k or l, {power(n_rows)} rows, 5 quasi-identifiers",
            n_rows,
            Form("group", ours),
            {peer: [Form("anonymity", theirs, int)]},
            int.__eq__,
            min(rounds, 3),
            PYCANON if n_rows >= 100_000 else None,
        )


@lru_cache(maxsize=4)
def release(n_people: int, n_values: int = 16, size: int = 80) -> Groups:
    """Groups of 40 to 120 people, values less frequent from one to the next."""
    rng = np.random.default_rng(n_people)
    shares = 1 / np.sqrt(np.arange(1, n_values + 1))
    sizes = rng.integers(size // 2, size * 3 // 2, max(n_people // size, 1))
    counts = rng.multinomial(sizes, shares / shares.sum())
    return Groups(counts + (counts == 0))


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-12


def against_placements(n_people: int, rounds: int) -> Iterator[Row]:
    groups = release(n_people)
    l, k, m, _ = POINT
    yield from race(
        f"check at {POINT[:3]}, {power(n_people)} people",
        1,
        Form("check", lambda: check(groups, [POINT], threads=1)[0].breach),
        {"program over placements, C": [Form("-O3", partial(skyline_dp.breach, groups, l, k, m))]},
        near,
        min(rounds, 3),
        {"program over placements, C": DP} if n_people >= 1_000_000 else None,
    )


def against_reference() -> Iterator[Row]:
    """A program in Python cannot follow: both by the pair, of one group and of a million people."""
    small, large = release(80), release(1_000_000)
    histogram = [small.histogram(0)]
    start = time.process_time()
    found = reference.breach_by_placements(histogram, *POINT[:3])
    theirs = (time.process_time() - start) / len(small.values)
    if not near(float(found), check(small, [POINT])[0].breach):
        raise AssertionError("the reference gives another breach")
    (seconds,) = medians([lambda: check(large, [POINT], threads=1)], 3)
    ours = seconds / len(large.values)
    shown_pairs = [f"{1e9 * time:.1f} ns/pair" for time in (theirs, ours)]
    yield Row(
        f"check at {POINT[:3]}", "program over placements, Python", *shown_pairs, theirs / ours, DP_REFERENCE
    )


def exponents(quick: bool, rounds: int) -> Iterator[Row]:
    """Time of a check against the number of pairs, and of many points against one."""
    people = [100_000, 316_000] if quick else [316_000, 1_000_000, 3_160_000, 10_000_000]
    runs = [partial(check, release(n), [POINT], threads=1) for n in people]
    pairs = [len(release(n).values) for n in people]
    seconds = medians(runs, rounds)
    slope = float(np.polyfit(np.log(pairs), np.log(seconds), 1)[0])
    cells = "1.00", f"{slope:.2f}"
    yield Row(f"check, exponent over {power(pairs[0])}-{power(pairs[-1])} pairs", "linear", *cells, 1 / slope)


def many_points(n_rows: int, n_quasi: int, rounds: int) -> Iterator[Row]:
    data = rows(n_rows, n_quasi)
    points = [(l, k, m, 0.95) for l in range(10) for k in (0, 1, 2, 5, 10) for m in (0, 3)]
    one, hundred = medians(
        [
            lambda: check(group(data.table, data.quasi, SENSITIVE, threads=1), points[37:38], threads=1),
            lambda: check(group(data.table, data.quasi, SENSITIVE, threads=1), points, threads=1),
        ],
        rounds,
    )
    yield Row(
        f"group and check {power(n_rows)} rows, {n_quasi} q.-i., {len(points)} points of 10 l",
        "nbcfast, one point",
        shown(one, n_rows),
        shown(hundred, n_rows),
        one / hundred,
        POINTS if n_rows >= 5_000_000 else None,
    )


def finding(n_people: int, rounds: int) -> Iterator[Row]:
    """The whole skyline beside one point of it: both scan the groups once."""
    groups = release(n_people)
    one, whole = medians(
        [lambda: check(groups, [POINT], threads=1), lambda: find(groups, 0.95, threads=1)], rounds
    )
    yield Row(
        f"find, {power(n_people)} people",
        "nbcfast, check of one point",
        shown(one, 1),
        shown(whole, 1),
        one / whole,
    )


def skyline(options: Any) -> Iterator[Row]:
    most = max(options.rows)
    for n_rows in options.rows:
        for n_quasi in (5, 7):
            yield from against_libraries(n_rows, n_quasi, options.rounds)
    yield from against_pycanon(min(100_000, most), options.rounds)
    for n_people in [100_000] if most < 1_000_000 else [1_000_000, 5_000_000]:
        yield from against_placements(n_people, options.rounds)
    if most >= 1_000_000:
        yield from against_reference()
    yield from exponents(most < 1_000_000, options.rounds)
    for n_quasi in (5, 7):
        yield from many_points(min(5_000_000, most), n_quasi, options.rounds)
    yield from finding(min(1_000_000, most), options.rounds)
