"""How other libraries count (value, class) pairs. Input: Data; answer: (values, classes) arrays of counts.

To add a peer, write one function that gives its forms; what it prepares before is not timed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from shared.census import CLASS, NAMES, SIZES, Data, labels
from shared.clock import Form, Peers

counting = Peers()


def equal(counts: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    return all(map(np.array_equal, counts, expected))


def dense(size: int, n_classes: int, values: Any, classes: Any, counts: Any) -> np.ndarray:
    """Counts from a list of pairs that occur."""
    array = np.zeros((size, n_classes), np.int64)
    array[np.asarray(values, np.intp), np.asarray(classes, np.intp)] = counts
    return array


def joint_type(n_classes: int) -> type[np.unsignedinteger]:
    """The smallest type for value * n_classes + class."""
    return np.uint8 if max(SIZES) * n_classes <= 256 else np.uint16


def of_joint(n_classes: int, size: int, keys: Any, counts: Any) -> np.ndarray:
    """Counts from keys value * n_classes + class."""
    keys = np.asarray(keys, np.intp)
    return dense(size, n_classes, keys // n_classes, keys % n_classes, counts)


@counting.peer("numpy")
def numpy_bincount(data: Data) -> Iterator[Form]:
    n, y, narrow = data.n_classes, data.classes, joint_type(data.n_classes)

    def counted(columns: list[np.ndarray], y: np.ndarray, dtype: type[np.integer]) -> list[np.ndarray]:
        return [
            np.bincount(np.multiply(x, n, dtype=dtype) + y, minlength=size * n)
            for x, size in zip(columns, SIZES, strict=True)
        ]

    def blocked() -> list[np.ndarray]:
        totals = [np.zeros(size * n, np.int64) for size in SIZES]
        for start in range(0, data.n_rows, 65_536):
            part = slice(start, start + 65_536)
            for total, some in zip(
                totals, counted([x[part] for x in data.columns], y[part], narrow), strict=True
            ):
                total += some
        return totals

    def answer(flat: list[np.ndarray]) -> list[np.ndarray]:
        return [array.reshape(-1, n) for array in flat]

    wide, wide_y = [x.astype(np.intp) for x in data.columns], y.astype(np.intp)
    yield Form("bincount, u8 columns", lambda: counted(data.columns, y, narrow), answer)
    yield Form("bincount, u8 columns in blocks", blocked, answer)
    yield Form("bincount, codes cast to int64", lambda: counted(data.columns, y, np.int64), answer)
    yield Form("bincount, codes kept as intp", lambda: counted(wide, wide_y, np.intp), answer)


@counting.peer("numba")
def numba_loop(data: Data) -> Iterator[Form]:
    import numba

    n = data.n_classes
    first = np.cumsum([0, *SIZES])

    @numba.njit
    def over_rows(matrix, y, first, counts):
        for row in range(matrix.shape[0]):
            label = y[row]
            for attribute in range(matrix.shape[1]):
                counts[first[attribute] + matrix[row, attribute], label] += 1

    @numba.njit
    def over_column(x, y, counts):
        for row in range(x.shape[0]):
            counts[x[row], y[row]] += 1

    def rows(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
        counts = np.zeros((sum(SIZES), n), np.int64)
        over_rows(matrix, y, first, counts)
        return counts

    def columns() -> list[np.ndarray]:
        counts = [np.zeros((size, n), np.int64) for size in SIZES]
        for x, array in zip(data.columns, counts, strict=True):
            over_column(x, data.classes, array)
        return counts

    def answer(counts: np.ndarray) -> list[np.ndarray]:
        return np.split(counts, first[1:-1])

    narrow, wide, wide_y = data.matrix(np.uint8), data.matrix(), data.classes.astype(np.int64)
    yield Form("loop, row-major u8", lambda: rows(narrow, data.classes), answer)
    yield Form("loop, row-major int64", lambda: rows(wide, wide_y), answer)
    yield Form("loop, u8 columns", columns)


@counting.peer("polars")
def polars_group_by(data: Data) -> Iterator[Form]:
    import polars as pl

    n, narrow = data.n_classes, pl.UInt8 if joint_type(data.n_classes) is np.uint8 else pl.UInt16
    small = pl.DataFrame(data.named())
    texts = {name: labels(name, size) for name, size in zip([*NAMES, CLASS], [*SIZES, n], strict=True)}
    enums = small.select(
        pl.col(name).replace_strict(range(len(values)), values, return_dtype=pl.Enum(values))
        for name, values in texts.items()
    )

    def lazy(frame: Any) -> list[Any]:
        return pl.collect_all([frame.lazy().group_by(name, CLASS).len() for name in NAMES])

    def eager() -> list[Any]:
        return [small.group_by(name, CLASS).len() for name in NAMES]

    def joint() -> list[Any]:
        key = {name: pl.col(name).cast(narrow) * n + pl.col(CLASS) for name in NAMES}
        return pl.collect_all([small.lazy().group_by(key[name].alias("key")).len() for name in NAMES])

    def answer(frames: list[Any]) -> list[np.ndarray]:
        return [
            dense(size, n, frame[name].to_physical(), frame[CLASS].to_physical(), frame["len"])
            for name, size, frame in zip(NAMES, SIZES, frames, strict=True)
        ]

    def joint_answer(frames: list[Any]) -> list[np.ndarray]:
        return [
            of_joint(n, size, frame["key"], frame["len"]) for size, frame in zip(SIZES, frames, strict=True)
        ]

    yield Form("group_by, lazy, u8", lambda: lazy(small), answer)
    yield Form("group_by, lazy, Enum", lambda: lazy(enums), answer)
    yield Form("group_by, eager, u8", eager, answer)
    yield Form("group_by of one joint key", joint, joint_answer)


@counting.peer("DuckDB")
def duckdb_group_by(data: Data) -> Iterator[Form]:
    import duckdb

    n = data.n_classes
    database = duckdb.connect()
    database.execute("SET threads = 1")
    given = data.named()
    database.register("given", given)
    database.execute("CREATE TABLE codes AS SELECT * FROM given")
    database.unregister("given")
    sets = ", ".join(f"({name}, {CLASS})" for name in NAMES)
    at_once = f"SELECT {', '.join(NAMES)}, {CLASS}, count(*) n FROM codes GROUP BY GROUPING SETS ({sets})"
    each = [f"SELECT {name}, {CLASS}, count(*) n FROM codes GROUP BY ALL" for name in NAMES]
    width = "UTINYINT" if joint_type(n) is np.uint8 else "USMALLINT"
    joint = [
        f"SELECT {name}::{width} * {n}::{width} + {CLASS} j, count(*) n FROM codes GROUP BY ALL"
        for name in NAMES
    ]

    def ask(queries: list[str]) -> list[dict[str, np.ndarray]]:
        return [database.execute(query).fetchnumpy() for query in queries]

    def sets_answer(results: list[dict[str, np.ndarray]]) -> list[np.ndarray]:
        (result,) = results
        counts = []
        for name, size in zip(NAMES, SIZES, strict=True):
            own = ~np.ma.getmaskarray(result[name])  # the other attributes are null in these rows
            counts.append(dense(size, n, *(np.ma.getdata(result[key])[own] for key in (name, CLASS, "n"))))
        return counts

    def each_answer(results: list[dict[str, np.ndarray]]) -> list[np.ndarray]:
        return [
            dense(size, n, result[name], result[CLASS], result["n"])
            for name, size, result in zip(NAMES, SIZES, results, strict=True)
        ]

    def joint_answer(results: list[dict[str, np.ndarray]]) -> list[np.ndarray]:
        return [
            of_joint(n, size, result["j"], result["n"]) for size, result in zip(SIZES, results, strict=True)
        ]

    yield Form("GROUPING SETS", lambda: ask([at_once]), sets_answer)
    yield Form("a GROUP BY each", lambda: ask(each), each_answer)
    yield Form("a GROUP BY each of one joint key", lambda: ask(joint), joint_answer)


@counting.peer("pyarrow")
def pyarrow_group_by(data: Data) -> Iterator[Form]:
    import pyarrow as pa
    import pyarrow.compute as pc

    n = data.n_classes
    table = pa.table(data.named())
    joint_dtype = pa.from_numpy_dtype(joint_type(n))
    times = pa.scalar(n, joint_dtype)

    def group_by() -> list[Any]:
        return [
            table.group_by([name, CLASS], use_threads=False).aggregate([([], "count_all")]) for name in NAMES
        ]

    def joint() -> list[Any]:
        return [
            pc.value_counts(pc.add(pc.multiply(table[name].cast(joint_dtype), times), table[CLASS]))
            for name in NAMES
        ]

    def answer(tables: list[Any]) -> list[np.ndarray]:
        return [
            dense(size, n, *(found[key].to_numpy() for key in (name, CLASS, "count_all")))
            for name, size, found in zip(NAMES, SIZES, tables, strict=True)
        ]

    def joint_answer(arrays: list[Any]) -> list[np.ndarray]:
        return [
            of_joint(n, size, *(part.to_numpy() for part in found.flatten()))
            for size, found in zip(SIZES, arrays, strict=True)
        ]

    yield Form("group_by", group_by, answer)
    yield Form("value_counts of one joint key", joint, joint_answer)


@counting.peer("pandas")
def pandas_group_by(data: Data) -> Iterator[Form]:
    import pandas as pd

    n, narrow = data.n_classes, joint_type(data.n_classes)
    frame = pd.DataFrame(data.named())
    categories = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes, labels(name, size))
            for (name, codes), size in zip(data.named().items(), [*SIZES, n], strict=True)
        }
    )

    def group_by() -> list[Any]:
        return [categories.groupby([name, CLASS], observed=False).size() for name in NAMES]

    def joint() -> list[Any]:
        return [
            (frame[name].astype(narrow) * narrow(n) + frame[CLASS]).value_counts(sort=False) for name in NAMES
        ]

    def joint_answer(found: list[Any]) -> list[np.ndarray]:
        return [of_joint(n, size, one.index, one.to_numpy()) for size, one in zip(SIZES, found, strict=True)]

    yield Form(
        "groupby.size, categories", group_by, lambda found: [one.to_numpy().reshape(-1, n) for one in found]
    )
    yield Form("value_counts of one joint key", joint, joint_answer)


@counting.peer("scikit-learn")
def sklearn_fit(data: Data) -> Iterator[Form]:
    from sklearn.naive_bayes import CategoricalNB

    y = data.classes.astype(np.int64)

    def answer(model: Any) -> list[np.ndarray]:
        return [array.T.astype(np.int64) for array in model.category_count_]

    for dtype in (np.int64, np.uint8):
        matrix = data.matrix(dtype)
        yield Form(
            f"CategoricalNB.fit, {matrix.dtype}",
            lambda matrix=matrix: CategoricalNB(min_categories=SIZES).fit(matrix, y),
            answer,
        )
