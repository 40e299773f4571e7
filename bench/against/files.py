"""How other libraries get counts from Arrow dictionaries, Parquet and CSV, and tables from CSV. Input: Files.

The answer is that of `counting`: a (values, classes) array for each attribute, in the order of labels().
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
from shared.census import CLASS, NAMES, SIZES, Data, labels
from shared.clock import Form, Peers

import nbcfast

arrow, parquet, csv, csv_tables, texts = Peers(), Peers(), Peers(), Peers(), Peers()

COLUMNS = [*NAMES, CLASS]
SETS = ", ".join(f"({name}, {CLASS})" for name in NAMES)


class Files(NamedTuple):
    """The same rows as texts, in memory and in two files."""

    table: Any  # pyarrow, a dictionary with int32 indices each column, as its Parquet reader makes them
    parquet: str
    csv: str
    n_classes: int

    @property
    def texts(self) -> dict[str, list[str]]:
        return {
            name: labels(name, size) for name, size in zip(COLUMNS, [*SIZES, self.n_classes], strict=True)
        }


def write(data: Data, folder: str) -> Files:
    """As pyarrow writes by default: columns may hold nulls, dictionaries, snappy."""
    files = Files(None, str(Path(folder, "census.parquet")), str(Path(folder, "census.csv")), data.n_classes)
    table = pa.table(
        {
            name: pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), files.texts[name])
            for name, codes in data.named().items()
        }
    )
    pa.parquet.write_table(table, files.parquet)
    texts = pa.table(
        {name: column.cast(pa.string()) for name, column in zip(COLUMNS, table.columns, strict=True)}
    )
    pa.csv.write_csv(texts, files.csv, pa.csv.WriteOptions(quoting_style="none"))
    return files._replace(table=table)


def scattered(
    name: str, values: Iterable[str], classes: Iterable[str], counts: Any, n_classes: int
) -> np.ndarray:
    """Counts of pairs of labels, each at the code in its last two digits."""
    array = np.zeros((SIZES[NAMES.index(name)], n_classes), np.int64)
    array[[int(text[-2:]) for text in values], [int(text[-2:]) for text in classes]] = counts
    return array


def viewset_answer(views: nbcfast.Viewset) -> list[np.ndarray]:
    n = len(views.classes)
    answer = []
    for name in NAMES:
        values, counts = views.domain(name), views.counts[name]
        repeated = [value for value in values for _ in range(n)]
        answer.append(scattered(name, repeated, [*views.classes] * len(values), counts.ravel(), n))
    return answer


def bincounts(batches: Iterable[Any]) -> dict[str, list[tuple[Any, Any, np.ndarray]]]:
    """For each attribute its dictionary, that of the class, and counts; anew when a dictionary changes."""
    totals: dict[str, list[tuple[Any, Any, np.ndarray]]] = {name: [] for name in NAMES}
    for batch in batches:
        labelled = batch.column(CLASS)
        y, n = labelled.indices.to_numpy(), len(labelled.dictionary)
        for name, parts in totals.items():
            column = batch.column(name)
            flat = np.bincount(column.indices.to_numpy() * n + y, minlength=len(column.dictionary) * n)
            if parts and parts[-1][0].equals(column.dictionary) and parts[-1][1].equals(labelled.dictionary):
                parts[-1][2][:] += flat
            else:
                parts.append((column.dictionary, labelled.dictionary, flat))
    return totals


def bincounts_answer(
    totals: dict[str, list[tuple[Any, Any, np.ndarray]]], n_classes: int
) -> list[np.ndarray]:
    def part(name: str, dictionary: Any, class_dictionary: Any, flat: np.ndarray) -> np.ndarray:
        values, classes = dictionary.to_pylist(), class_dictionary.to_pylist()
        repeated = [value for value in values for _ in classes]
        return scattered(name, repeated, classes * len(values), flat, n_classes)

    return [sum(part(name, *found) for found in parts) for name, parts in totals.items()]


def polars_counts(lazy: Any) -> list[Any]:
    import polars as pl

    return pl.collect_all([lazy.group_by(name, CLASS).len() for name in NAMES])


def polars_answer(frames: list[Any], n_classes: int) -> list[np.ndarray]:
    return [
        scattered(name, frame[name].cast(str), frame[CLASS].cast(str), frame["len"], n_classes)
        for name, frame in zip(NAMES, frames, strict=True)
    ]


def duckdb_counts(database: Any, source: str) -> list[tuple[Any, ...]]:
    query = f"SELECT {', '.join(NAMES)}, {CLASS}, count(*) FROM {source} GROUP BY GROUPING SETS ({SETS})"
    return database.execute(query).fetchall()


def duckdb_answer(rows: list[tuple[Any, ...]], n_classes: int) -> list[np.ndarray]:
    answer = []
    for place, name in enumerate(NAMES):
        own = [row for row in rows if row[place] is not None]
        answer.append(
            scattered(
                name, [row[place] for row in own], [r[-2] for r in own], [r[-1] for r in own], n_classes
            )
        )
    return answer


@arrow.peer("pyarrow + bincount")
def arrow_bincount(files: Files) -> Iterator[Form]:
    yield Form(
        "of dictionary indices",
        lambda: bincounts(files.table.to_batches()),
        lambda totals: bincounts_answer(totals, files.n_classes),
    )


@arrow.peer("polars")
def arrow_polars(files: Files) -> Iterator[Form]:
    import polars as pl

    yield Form(
        "from_arrow, group_by",
        lambda: polars_counts(pl.from_arrow(files.table).lazy()),
        lambda frames: polars_answer(frames, files.n_classes),
    )


@arrow.peer("DuckDB")
def arrow_duckdb(files: Files) -> Iterator[Form]:
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    database.register("given", files.table)
    yield Form(
        "GROUPING SETS",
        lambda: duckdb_counts(database, "given"),
        lambda rows: duckdb_answer(rows, files.n_classes),
    )


@parquet.peer("pyarrow + bincount")
def parquet_bincount(files: Files) -> Iterator[Form]:
    def answer(totals: dict[str, list[tuple[Any, Any, np.ndarray]]]) -> list[np.ndarray]:
        return bincounts_answer(totals, files.n_classes)

    for threads in (False, True):
        yield Form(
            f"read_table, {'all threads' if threads else '1 thread'}",
            lambda threads=threads: bincounts(
                pa.parquet.read_table(
                    files.parquet, read_dictionary=COLUMNS, use_threads=threads
                ).to_batches()
            ),
            answer,
        )
    for rows in (1 << 16, 1 << 17):
        yield Form(
            f"iter_batches of {rows}", lambda rows=rows: bincounts(parquet_batches(files, rows)), answer
        )


def parquet_batches(files: Files, rows: int = 1 << 17) -> Iterator[Any]:
    return pa.parquet.ParquetFile(files.parquet, read_dictionary=COLUMNS).iter_batches(
        rows, use_threads=False
    )


@parquet.peer("pyarrow alone")
def parquet_floor(files: Files) -> Iterator[Form]:
    """One thread, and all: what takes less CPU time may take longer."""
    yield Form("reads, counts nothing", lambda: sum(1 for _ in parquet_batches(files)), None)
    yield Form(
        "reads on all threads, counts nothing",
        lambda: pa.parquet.read_table(files.parquet, read_dictionary=COLUMNS).num_rows,
        None,
    )
    yield Form(
        "reads batches on all threads, counts nothing",
        lambda: sum(
            1 for _ in pa.parquet.ParquetFile(files.parquet, read_dictionary=COLUMNS).iter_batches(1 << 17)
        ),
        None,
    )


@parquet.peer("polars")
def parquet_polars(files: Files) -> Iterator[Form]:
    import polars as pl

    def answer(frames: list[Any]) -> list[np.ndarray]:
        return polars_answer(frames, files.n_classes)

    enums = [pl.col(name).cast(pl.Enum(values)) for name, values in files.texts.items()]
    yield Form("read, group_by", lambda: polars_counts(pl.read_parquet(files.parquet).lazy()), answer)
    yield Form("scan, group_by", lambda: polars_counts(pl.scan_parquet(files.parquet)), answer)
    yield Form(
        "read, cast to Enum, group_by",
        lambda: polars_counts(pl.read_parquet(files.parquet).select(enums).lazy()),
        answer,
    )


@parquet.peer("DuckDB")
def parquet_duckdb(files: Files) -> Iterator[Form]:
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    yield Form(
        "GROUPING SETS",
        lambda: duckdb_counts(database, f"read_parquet('{files.parquet}')"),
        lambda rows: duckdb_answer(rows, files.n_classes),
    )


@csv.peer("pyarrow + bincount")
def csv_bincount(files: Files) -> Iterator[Form]:
    types = pa.csv.ConvertOptions(
        column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in COLUMNS}
    )
    yield Form(
        "dictionaries",
        lambda: bincounts(pa.csv.read_csv(files.csv, convert_options=types).to_batches()),
        lambda totals: bincounts_answer(totals, files.n_classes),
    )


@csv.peer("polars")
def csv_polars(files: Files) -> Iterator[Form]:
    import polars as pl

    enums = {name: pl.Enum(values) for name, values in files.texts.items()}

    def answer(frames: list[Any]) -> list[np.ndarray]:
        return polars_answer(frames, files.n_classes)

    yield Form(
        "read as Enum, group_by",
        lambda: polars_counts(pl.read_csv(files.csv, schema=enums).lazy()),
        answer,
    )
    yield Form("scan, group_by", lambda: polars_counts(pl.scan_csv(files.csv)), answer)


@csv.peer("DuckDB")
def csv_duckdb(files: Files) -> Iterator[Form]:
    import duckdb

    database = duckdb.connect()
    yield Form(
        "GROUPING SETS",
        lambda: duckdb_counts(database, f"read_csv('{files.csv}')"),
        lambda rows: duckdb_answer(rows, files.n_classes),
    )


@csv.peer("pandas + scikit-learn")
def csv_sklearn(files: Files) -> Iterator[Form]:
    import pandas as pd
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.preprocessing import OrdinalEncoder

    def fitted(read: Any) -> tuple[Any, Any]:
        frame = read()
        encoder = OrdinalEncoder(dtype=np.int64)
        codes = encoder.fit_transform(frame[NAMES])
        return CategoricalNB().fit(codes, frame[CLASS]), encoder

    def category() -> tuple[Any, Any]:
        frame = pd.read_csv(files.csv, dtype="category")
        codes = np.column_stack([frame[name].cat.codes for name in NAMES])
        return CategoricalNB().fit(codes, frame[CLASS]), [frame[name].cat.categories for name in NAMES]

    def answer(result: tuple[Any, Any]) -> list[np.ndarray]:
        model, encoder = result
        found = encoder if isinstance(encoder, list) else encoder.categories_
        return [
            scattered(
                name,
                np.repeat(values, files.n_classes),
                [*model.classes_] * len(values),
                counts.T.ravel(),
                files.n_classes,
            )
            for name, values, counts in zip(NAMES, found, model.category_count_, strict=True)
        ]

    yield Form("OrdinalEncoder, C reader", lambda: fitted(lambda: pd.read_csv(files.csv)), answer)
    yield Form(
        "OrdinalEncoder, pyarrow reader",
        lambda: fitted(lambda: pd.read_csv(files.csv, engine="pyarrow")),
        answer,
    )
    yield Form("category codes", category, answer)


def table_answer(table: nbcfast.Table) -> list[np.ndarray]:
    """The codes of a table, each as the last two digits of its label."""
    return [labelled(table.domain(name), table.codes(name)) for name in COLUMNS]


def labelled(values: Iterable[str], codes: Any) -> np.ndarray:
    return np.array([int(text[-2:]) for text in values], np.int64)[np.asarray(codes)]


@csv_tables.peer("polars")
def table_polars(files: Files) -> Iterator[Form]:
    import polars as pl

    enums = {name: pl.Enum(values) for name, values in files.texts.items()}
    categories = dict.fromkeys(COLUMNS, pl.Categorical)
    for how, schema in (("read as Enum", enums), ("read as Categorical", categories)):
        yield Form(
            how,
            lambda schema=schema: pl.read_csv(files.csv, schema=schema),
            lambda frame: [labelled(frame[name].cast(str), np.arange(frame.height)) for name in COLUMNS],
        )


@csv_tables.peer("pyarrow")
def table_pyarrow(files: Files) -> Iterator[Form]:
    types = pa.csv.ConvertOptions(
        column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in COLUMNS}
    )

    def answer(table: Any) -> list[np.ndarray]:
        columns = (table.column(name).unify_dictionaries() for name in COLUMNS)
        return [
            np.concatenate([labelled(part.dictionary.to_pylist(), part.indices) for part in column.chunks])
            for column in columns
        ]

    yield Form("read as dictionaries", lambda: pa.csv.read_csv(files.csv, convert_options=types), answer)


@csv_tables.peer("pandas")
def table_pandas(files: Files) -> Iterator[Form]:
    import pandas as pd

    yield Form(
        "read as category",
        lambda: pd.read_csv(files.csv, dtype="category"),
        lambda frame: [labelled(frame[name].cat.categories, frame[name].cat.codes) for name in COLUMNS],
    )


def as_texts(files: Files) -> Any:
    """The rows in memory, each column as texts."""
    return pa.table({name: files.table.column(name).cast(pa.string()) for name in COLUMNS})


def codes_answer(columns: Iterable[tuple[Any, Iterable[str]]]) -> list[np.ndarray]:
    """The code of each row, by the last two digits of its text."""
    return [labelled(values, codes) for codes, values in columns]


@texts.peer("pyarrow")
def texts_pyarrow(table: Any) -> Iterator[Form]:
    yield Form(
        "dictionary_encode",
        lambda: [column.combine_chunks().dictionary_encode() for column in table.columns],
        lambda found: codes_answer((one.indices.to_numpy(), one.dictionary.to_pylist()) for one in found),
    )


@texts.peer("polars")
def texts_polars(table: Any) -> Iterator[Form]:
    import polars as pl

    frame = pl.from_arrow(table)

    def answer(found: Any) -> list[np.ndarray]:
        return codes_answer(
            (np.arange(len(column)), column.cast(pl.String).to_list()) for column in found.get_columns()
        )

    yield Form("cast to Categorical", lambda: frame.cast(pl.Categorical), answer)


@texts.peer("values known")
def texts_of_known_values(table: Any) -> Iterator[Form]:
    """What others take where they are told all values before: nbcfast is not."""
    import polars as pl

    frame = pl.from_arrow(table)
    known = {name: pl.Enum(frame[name].unique().to_list()) for name in frame.columns}
    values = [column.combine_chunks().dictionary_encode().dictionary for column in table.columns]

    def indices() -> list[Any]:
        return [pa.compute.index_in(column, one) for column, one in zip(table.columns, values, strict=True)]

    yield Form(
        "polars, cast to Enum",
        lambda: frame.cast(known),
        lambda found: codes_answer(
            (np.arange(len(column)), column.cast(pl.String).to_list()) for column in found.get_columns()
        ),
    )
    yield Form(
        "pyarrow, index_in",
        indices,
        lambda found: codes_answer(
            (one.to_numpy(), own.to_pylist()) for one, own in zip(found, values, strict=True)
        ),
    )


@texts.peer("pandas")
def texts_pandas(table: Any) -> Iterator[Form]:
    import pandas as pd

    frame = table.to_pandas()
    yield Form("factorize", lambda: [pd.factorize(frame[name]) for name in frame.columns], codes_answer)
