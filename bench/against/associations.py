"""The risk table of two views by polars and DuckDB; numbers of worlds and probabilities by their formulas.

People have one join value each, but one row in a hundred names another: about a tenth of the people have
several.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from math import comb
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from shared.clock import Form, Peers, Row, medians, power, race, shown

import nbcfast
from nbcfast.associations import covers, probability, risk
from nbcfast.associations.sizes import SMALL

VALUES = 50
ODD = 2654435761  # spreads people over join values
TARGETS = {"polars": 3.0, "DuckDB": 3.0}
SECONDS = 3.0  # for 1e7 rows
PAIRS, PAIR_SECONDS = 1_000_000, 0.5

risks = Peers()


class Rows(NamedTuple):
    table: nbcfast.Table
    columns: dict[str, Any]
    views: list[tuple[str, str]]


@lru_cache(maxsize=2)
def rows(n_rows: int, several: bool = True) -> Rows:
    """Ten rows a person, a hundred a join value."""
    rng = np.random.default_rng(3)
    n_people, n_joins = max(n_rows // 10, 2), max(n_rows // 100, 1)
    person = rng.integers(0, n_people, n_rows)
    join = person * ODD % n_joins
    if several:
        moved = rng.random(n_rows) < 0.01
        join[moved] = rng.integers(0, n_joins, int(moved.sum()))
    columns = {"person": person, "area": join, "ill": rng.integers(0, VALUES, n_rows)}
    return Rows(nbcfast.Table(columns), columns, [("person", "area"), ("area", "ill")])


def ours(data: Rows, threads: int | None = None) -> Any:
    """By join value people, values and probability; how many associations, and the likeliest."""
    found = risk(data.table, data.views, "person", "ill", threads=threads)
    table = found.by_join_value()
    worst = found.worst(1)[0]["probability"]
    return (
        *(table.array(name) for name in ("identities", "values", "probability")),
        found.n_associations,
        worst,
    )


def equal(one: Any, other: Any) -> bool:
    exact = all(np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True)) and one[3] == other[3]
    return (
        exact and np.allclose(one[2], other[2], rtol=1e-14) and bool(np.isclose(one[4], other[4], rtol=1e-14))
    )


def small_sizes() -> dict[str, Any]:
    """What the formula cannot say in floats: a table of probabilities of small sizes."""
    m, n = (array.ravel() for array in np.mgrid[1 : SMALL + 1, 1 : SMALL + 1])
    return {"m": m.astype(np.uint32), "n": n.astype(np.uint32), "small": probability(m, n)}


@risks.peer("polars")
def polars_risk(data: Rows) -> Iterator[Form]:
    import polars as pl

    frame = pl.DataFrame(data.columns)
    small = pl.DataFrame(small_sizes()).lazy()

    def run() -> Any:
        people = frame.lazy().select("area", "person").unique()
        values = frame.lazy().select("area", "ill").unique()
        sizes = people.group_by("area").len("m").join(values.group_by("area").len("n"), on="area")
        first = 0.5 / (1 - pl.lit(2.0).pow(-pl.min_horizontal("m", "n").cast(pl.Float64)))
        sizes = sizes.join(small, on=["m", "n"], how="left").with_columns(p=pl.col("small").fill_null(first))
        sizes, people, values = pl.collect_all([sizes.sort("area"), people, values])
        degrees = people.lazy().group_by("person").agg(pl.len().alias("areas"), pl.col("area").first())
        single = degrees.filter(pl.col("areas") == 1).join(sizes.lazy(), on="area").select("n", "p")
        many = people.lazy().join(degrees.filter(pl.col("areas") > 1).select("person"), on="person")
        pairs = many.join(values.lazy(), on="area").join(sizes.lazy().select("area", "p"), on="area")
        pairs = pairs.group_by("person", "ill").agg(p=1 - (1 - pl.col("p")).product())
        one, several = pl.collect_all(
            [
                single.select(pl.col("n").cast(pl.Int64).sum(), pl.col("p").max()),
                pairs.select(pl.len().alias("n"), pl.col("p").max()),
            ]
        )
        (n, p), (more, q) = one.row(0), several.row(0)
        return *(sizes[name].to_numpy() for name in ("m", "n", "p")), (n or 0) + more, max(p or 0, q or 0)

    yield Form("unique, group_by, join, lazy", run)


@risks.peer("DuckDB")
def duckdb_risk(data: Rows) -> Iterator[Form]:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("given", pa.table(data.columns))
    connection.register("small", pa.table(small_sizes()))
    connection.execute("create table t as select * from given")
    connection.execute("create table exact as select * from small")

    def run() -> Any:
        for name, query in {
            "people": "select distinct area, person from t",
            "has": "select distinct area, ill from t",
            "sizes": """
                select area, a.m, a.n, coalesce(small, 0.5 / (1 - pow(2.0, -least(a.m, a.n)))) p
                from (select * from (select area, count(*) m from people group by area)
                      join (select area, count(*) n from has group by area) using (area)) a
                left join exact e on a.m = e.m and a.n = e.n""",
            "degrees": "select person, count(*) areas, min(area) area from people group by person",
        }.items():
            connection.execute(f"create or replace temp table {name} as {query}")
        one = connection.execute(
            """select coalesce(sum(n), 0), coalesce(max(p), 0)
               from degrees join sizes using (area) where areas = 1"""
        ).fetchone()
        several = connection.execute(
            """select count(*), coalesce(max(p), 0) from
               (select person, ill, 1 - product(1 - p) p from people join
                (select person from degrees where areas > 1) using (person)
                join has using (area) join sizes using (area) group by person, ill)"""
        ).fetchone()
        table = connection.execute("select m, n, p from sizes order by area").fetchnumpy()
        return *(table[name] for name in "mnp"), int(one[0]) + several[0], max(one[1], several[1])

    yield Form("distinct, group by, join", run)


def plain_covers(m: int, n: int, number: Any = int) -> Any:
    """The formula as it stands, in Python's integers or gmpy2's."""
    return sum((-1) ** j * comb(n, j) * (number(2) ** (n - j) - 1) ** m for j in range(n + 1))


def sizes_up_to(most: float, n: int = PAIRS) -> tuple[Any, Any]:
    """Distinct pairs, as many of each magnitude."""
    rng = np.random.default_rng(9)
    pairs = np.exp(rng.uniform(0, np.log(most), (2 * n, 2))).astype(np.int64)
    pairs = np.unique(pairs, axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:n]]
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def associations(rounds: int, most_rows: int) -> Iterator[Row]:
    data = rows(most_rows)
    what = f"risk {power(most_rows)} rows"
    yield from race(
        f"{what}, CPU, ours one thread",
        most_rows,
        Form("risk", partial(ours, data, 1)),
        risks.forms(data),
        equal,
        rounds,
        TARGETS,
    )
    yield from race(
        f"{what}, wall, all on two threads",
        most_rows,
        Form("risk", partial(ours, data, 2)),
        risks.forms(data),
        equal,
        rounds,
        TARGETS,
        time.perf_counter,
    )
    (seconds,) = medians([partial(ours, data)], rounds, time.perf_counter)
    limit = SECONDS * most_rows / 1e7
    yield Row(f"{what}, wall", "time, a limit", shown(limit, 1), shown(seconds, 1), limit / seconds, 1)

    m, n = sizes_up_to(1e9)
    (seconds,) = medians([partial(probability, m, n)], rounds, time.perf_counter)
    limits = shown(PAIR_SECONDS, 1), shown(seconds, 1)
    yield Row("probability of 1e6 pairs up to 1e9, wall", "time, a limit", *limits, PAIR_SECONDS / seconds, 1)

    size = 300 if most_rows >= 1_000_000 else 100
    runs = [
        partial(covers, size, size),
        partial(plain_covers, size, size),
        partial(plain_covers, size, size, gmpy2.mpz),
    ]
    if len({int(run()) for run in runs}) != 1:
        raise AssertionError(f"covers({size}, {size}) is not what the formula says")
    own, plain, fast = medians(runs, rounds)
    job = f"covers({size}, {size})"
    yield Row(
        job, "the formula in Python", shown(plain, 1), shown(own, 1), plain / own, 5 if size == 300 else None
    )
    yield Row(job, "the formula in gmpy2", shown(fast, 1), shown(own, 1), fast / own)
