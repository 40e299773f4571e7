"""Random tables in which features cross, what values they stand for, and every way to read them.

A `Case` holds each column as it comes (dates, decimals, -0.0, NaN) and says which values a domain has to
hold. Nothing here asks nbcfast what those are.
"""

import csv
import datetime as dt
import math
import random
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import nbcfast
from nbcfast import Interval, Table

NULL = "NULL!"  # what stands for a null in CSV files: the empty text is a text

PALETTES = {
    "int": [0, 1, -1, 7, 10, 100, 2**53 + 1, -(2**62)],
    "float": [0.0, 0.1, 0.3, -0.5, 1.0, 2.5, 1e300, -1e-300, 1e15],
    "bool": [False, True],
    "text": [
        "",
        "None",
        "nan",
        " a",
        "a",
        "\u00e9",
        "\u65e5\u672c",
        "1",
        "1.0",
        "True",
        "a,b",
        'q"q',
        "x\ny",
        "\tt",
    ],
    "digits": ["1", "02", "10", "9"],
    "date": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2000, 2, 29), dt.date(9999, 12, 31)],
    "moment": [
        dt.datetime(1969, 12, 31, 23, 59, 59),
        dt.datetime(2000, 2, 29, 1, 2, 3, 400_000),
        dt.datetime(2000, 2, 29, 1, 2, 3, 400_001),
        dt.datetime(2100, 1, 1),
    ],
    "duration": [
        dt.timedelta(seconds=-90),
        dt.timedelta(0),
        dt.timedelta(seconds=9, milliseconds=500),
        dt.timedelta(seconds=10),
        dt.timedelta(days=2),
    ],
    "decimal": [Decimal("0.10"), Decimal("-2.50"), Decimal("3.00"), Decimal("10.25")],
    "whole": [Decimal(2), Decimal(10), Decimal(-7)],
    "binned": [-3, 0, 5, 17, 18, 40, 64, 65, 90],
    "binned float": [-0.0, 0.1, 0.2, 0.30000000000000004, 0.3, 0.7, 2.5],
}
PLAIN = ("int", "float", "bool", "text", "digits")
OF_ARROW = ("date", "moment", "duration", "decimal", "whole")
EDGES = {
    "binned": [
        [-math.inf, 0, 18, 65, math.inf],
        [-10, 18, 65, 100],
        np.array([-5.0, 0.0, 17.5, 65.0, np.inf]),
        [Interval(None, 18), Interval(18, 65), Interval(65, 1000)],
        [Interval(-5, 6), Interval(17, 65), Interval(65, 91), None],
    ],
    "binned float": [
        [0, 0.1, 0.3, 1, math.inf],
        [np.float64(-1.0), np.float64(0.3), np.float64(5.0)],
        [Interval(None, "0.3"), Interval("0.3", None), None],
    ],
}


def plain(raw, kind):
    """What a domain holds for a value as it comes."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    if kind == "date":
        return raw.isoformat()
    if kind == "moment":
        return _trimmed(raw.isoformat())
    if kind == "duration":
        ticks = raw // dt.timedelta(microseconds=1)
        sign, ticks = "-" if ticks < 0 else "", abs(ticks)
        return f"{sign}PT{_trimmed(f'{ticks // 10**6}.{ticks % 10**6:06d}')}S"
    if kind == "decimal":
        return float(raw)
    if kind == "whole":
        return int(raw)
    return raw + 0.0 if isinstance(raw, float) else raw


def _trimmed(text):
    return text.rstrip("0").rstrip(".") if "." in text else text


def intervals(edges):
    """The intervals that edges say, without nulls."""
    edges = list(edges)
    if isinstance(edges[0], Interval):
        return [edge for edge in edges if edge is not None]
    return [Interval(low, high) for low, high in pairwise(edges)]


def inside(number, interval):
    """Whether a number lies in an interval, by its shortest text."""
    point = Fraction(repr(number) if isinstance(number, float) else number)
    return (interval.low is None or interval.low <= point) and (
        interval.high is None or point < interval.high
    )


@dataclass
class Column:
    """One column as it comes; `declared` are raw values in their order, `edges` those it is binned with."""

    kind: str
    raw: list
    declared: list | None = None
    edges: object = None

    def plain(self):
        return [self.of(raw) for raw in self.raw]

    def of(self, raw):
        value = plain(raw, self.kind)
        if self.edges is None or value is None:
            return value
        (found,) = (interval for interval in intervals(self.edges) if inside(value, interval))
        return found

    def domain(self):
        """The values in their order: declared, or those that occur."""
        if self.edges is not None:
            listed = any(edge is None for edge in self.edges) if isinstance(self.edges, list) else False
            tail = [None] if listed or any(plain(raw, self.kind) is None for raw in self.raw) else []
            return [*intervals(self.edges), *tail]
        if self.declared is not None:
            values = [plain(raw, self.kind) for raw in self.declared]
            return [value for value in values if value is not None] + [None] * (None in values)
        present = {plain(raw, self.kind): raw for raw in self.raw}
        nulls = [None] if None in present else []
        # In the order of the values as they come: text by code point, times by time.
        return [
            value
            for value, _ in sorted(((v, r) for v, r in present.items() if v is not None), key=lambda p: p[1])
        ] + nulls

    def taken(self, rows):
        return replace(self, raw=[self.raw[row] for row in rows])


@dataclass
class Case:
    """A table: columns, and weights or None."""

    columns: dict
    weights: list | None
    seed: str

    @property
    def n_rows(self):
        return len(next(iter(self.columns.values())).raw)

    @property
    def names(self):
        return list(self.columns)

    def values(self, name):
        return self.columns[name].plain()

    def domain(self, name):
        return self.columns[name].domain()

    def of_rows(self):
        """The weight of each row."""
        return [1] * self.n_rows if self.weights is None else self.weights

    def rows(self, names=None):
        """Each row as a tuple of values, with its weight."""
        listed = [self.values(name) for name in (names or self.names)]
        return list(zip(zip(*listed, strict=True), self.of_rows(), strict=True))

    def taken(self, rows):
        weights = None if self.weights is None else [self.weights[row] for row in rows]
        return replace(self, columns={n: c.taken(rows) for n, c in self.columns.items()}, weights=weights)

    def permuted(self, rng):
        rows = list(range(self.n_rows))
        rng.shuffle(rows)
        return self.taken(rows)

    def expanded(self):
        """The same people, a row each; None where they are too many."""
        if self.weights is None or sum(self.weights) > 400:
            return None
        rows = [row for row, weight in enumerate(self.weights) for _ in range(weight)]
        return replace(self.taken(rows), weights=None)

    def split(self, rng, n):
        """Parts of at least one row, in any order of rows; together they are this table."""
        rows = list(range(self.n_rows))
        rng.shuffle(rows)
        cuts = sorted(rng.sample(range(1, self.n_rows), min(n, self.n_rows) - 1))
        return [self.taken(rows[a:b]) for a, b in zip([0, *cuts], [*cuts, self.n_rows], strict=True)]

    def select(self, names):
        return replace(self, columns={name: self.columns[name] for name in names})

    # ways to hand it over

    def sources(self):
        """The ways this table can be handed over."""
        kinds = {column.kind for column in self.columns.values()}
        found = ["arrow", "chunked", "dictionary", "sliced", "pandas", "polars", "parquet"]
        if not kinds & set(OF_ARROW):
            found += ["list", "numpy"]
        if "bool" not in kinds:
            found.append("csv")
        return found

    def domains(self):
        return {
            name: [plain(raw, c.kind) for raw in c.declared] for name, c in self.columns.items() if c.declared
        }

    def table(self, source, rng, folder=None):
        """A Table, read in one of these ways."""
        domains = self.domains() or None
        if source == "csv":
            path = folder / f"{rng.randrange(10**9)}.csv"
            self.write_csv(path)
            made = nbcfast.read_csv(
                path, null_values=[NULL], types=self.csv_types(), domains=domains, weights=self._w
            )
        elif source == "parquet":
            path = folder / f"{rng.randrange(10**9)}.parquet"
            pq.write_table(self.arrow(rng, "chunked"), path, row_group_size=rng.choice([2, 5, 100]))
            made = nbcfast.read_parquet(path, domains=domains, weights=self._w)
        elif source == "list":
            made = Table({n: list(c.raw) for n, c in self.columns.items()}, domains, self.weights)
        elif source == "numpy":
            weights = None if self.weights is None else np.array(self.weights)
            made = Table({n: _numpy(c, rng) for n, c in self.columns.items()}, domains, weights)
        elif source == "pandas":
            made = Table(self.pandas(rng), domains, self._w)
        elif source == "polars":
            frame = pl.from_arrow(self.arrow(rng, "polars"))
            texts = [name for name, c in self.columns.items() if c.kind in ("text", "digits")]
            if texts and rng.random() < 0.5:
                frame = frame.with_columns(pl.col(name).cast(pl.Categorical) for name in texts)
            made = Table(frame, domains, self._w)
        else:
            made = Table(self.arrow(rng, source), domains, self._w)
        return self.binned(made)

    @property
    def _w(self):
        return None if self.weights is None else "w"

    def binned(self, table):
        for name, column in self.columns.items():
            if column.edges is not None and name in table.names:
                table = table.bin(name, column.edges)
        return table

    def arrow(self, rng, how):
        """A pyarrow table; weights are its last column."""
        arrays = {name: _arrow(column, rng, how) for name, column in self.columns.items()}
        if self.weights is not None:
            arrays["w"] = pa.array(self.weights, rng.choice([pa.int64(), pa.uint64()]))
        if how == "chunked":
            n = self.n_rows
            cuts = sorted(rng.choices(range(n + 1), k=rng.randrange(4)))
            ends = list(zip([0, *cuts], [*cuts, n], strict=True))
            arrays = {
                name: pa.chunked_array([array.slice(a, b - a) for a, b in ends], array.type)
                for name, array in arrays.items()
            }
        return pa.table(arrays)

    def batches(self, rng):
        """A stream of record batches, some of them empty."""
        table = self.arrow(rng, rng.choice(["arrow", "dictionary"]))
        if any(pa.types.is_dictionary(field.type) for field in table.schema):
            table = table.combine_chunks()
        size = rng.choice([1, 3, 7, 1000])
        batches = table.to_batches(max_chunksize=size)
        batches.insert(
            rng.randrange(len(batches) + 1),
            table.slice(0, 0).to_batches()[0] if table.slice(0, 0).to_batches() else batches[0].slice(0, 0),
        )
        return batches

    def pandas(self, rng):
        frame = pd.DataFrame({name: _pandas(column, rng) for name, column in self.columns.items()})
        if self.weights is not None:
            frame["w"] = np.array(self.weights)
        frame.index = rng.sample(range(1000), self.n_rows)
        return frame

    def csv_types(self):
        rules = {"int": "int", "float": "float", "decimal": "float", "whole": "int", "binned": "int"}
        rules["binned float"] = "float"
        return {name: rules.get(column.kind, "text") for name, column in self.columns.items()}

    def write_csv(self, path, null=NULL):
        """A CSV file of the values as texts; weights are its last column."""
        with open(path, "w", newline="", encoding="utf8") as file:
            out = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            out.writerow([*self.names, *(["w"] if self.weights is not None else [])])
            columns = [[_csv_text(plain(raw, c.kind), null) for raw in c.raw] for c in self.columns.values()]
            for row in zip(
                *columns, *([map(str, self.weights)] if self.weights is not None else []), strict=True
            ):
                out.writerow(row)


def _csv_text(value, null):
    return null if value is None else repr(value) if isinstance(value, float) else str(value)


def _numpy(column, rng):
    values = column.raw
    nulls = np.array([value is None for value in values])
    if column.kind in ("float", "binned float") and rng.random() < 0.7:
        array = np.array([math.nan if value is None else value for value in values], np.float64)
        return array[::-1][::-1] if rng.random() < 0.5 else array.astype(">f8")
    if nulls.any() or column.kind == "float":
        if column.kind != "float" and rng.random() < 0.5:
            full = next((value for value in values if value is not None), 0)
            data = np.array([full if value is None else value for value in values])
            return np.ma.MaskedArray(data, nulls)
        array = np.empty(len(values), object)
        array[:] = values
        return array
    array = np.array(values)
    if column.kind == "binned" and rng.random() < 0.5:
        array = np.repeat(array.astype(np.int8), 2)[::2]  # strided
    return array


def _arrow(column, rng, how):
    kind, values = (
        column.kind,
        [None if isinstance(v, float) and math.isnan(v) and rng.random() < 0.5 else v for v in column.raw],
    )
    types = {
        "int": [pa.int64()],
        "float": [pa.float64()],
        "bool": [pa.bool_()],
        "text": [pa.string(), pa.large_string(), pa.string_view()],
        "digits": [pa.string(), pa.large_string()],
        "date": [pa.date32(), pa.date64()],
        "moment": [pa.timestamp("us"), pa.timestamp("ns")],
        "duration": [pa.duration("us"), pa.duration("ms"), pa.duration("ns")],
        "decimal": [pa.decimal128(10, 2), pa.decimal128(30, 4)],
        "whole": [pa.decimal128(10, 0), pa.decimal128(3, 0)],
        "binned": [pa.int64(), pa.int8(), pa.int32()],
        "binned float": [pa.float64()],
    }[kind]
    type_ = types[0] if how in ("dictionary", "polars") else rng.choice(types)
    if how == "dictionary" and kind not in ("bool", "whole", "decimal"):
        spare = [value for value in PALETTES[kind] if rng.random() < 0.5]
        present = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
        keys = list({plain(v, kind): v for v in [*spare, *present]}.values())
        rng.shuffle(keys)
        places = {plain(v, kind): place for place, v in enumerate(keys)}
        codes = [None if plain(v, kind) is None else places[plain(v, kind)] for v in values]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, rng.choice([pa.int8(), pa.int32()])), pa.array(keys, type_)
        )
    if how == "sliced":
        before, after = rng.randrange(12), rng.randrange(3)
        other = values[0] if values else None
        return pa.array([other] * before + values + [None] * after, type_).slice(before, len(values))
    return pa.array(values, type_)


def _pandas(column, rng):
    kind, values = column.kind, column.raw
    has_null = any(value is None for value in values)
    if kind in ("int", "binned") and has_null:
        return pd.array(values, "Int64")
    if kind == "bool":
        return pd.array(values, "boolean") if has_null else np.array(values)
    if kind in ("float", "binned float"):
        return np.array([math.nan if value is None else value for value in values])
    if kind in ("text", "digits"):
        if rng.random() < 0.4:
            keys = sorted({value for value in values if value is not None}, reverse=True)
            return pd.Categorical(values, categories=[*keys, "an unused one"])
        return pd.Series(values, dtype="object" if rng.random() < 0.5 else "string").array
    if kind == "moment":
        return pd.array(np.array(values, "M8[us]"))
    if kind == "duration":
        return pd.array(np.array(values, "m8[us]"))
    array = np.empty(len(values), object)
    array[:] = values
    return array


def random_column(rng, kinds, n_rows, n_values, *, nulls=None, edges=None):
    """A column of rows; `nulls` is the share of rows without a value."""
    kind = rng.choice(kinds)
    palette = list(PALETTES[kind])
    if kind in EDGES:
        made = edges if edges is not None else rng.choice(EDGES[kind])
        allowed = intervals(made)
        palette = [
            raw
            for raw in palette
            if any(inside(raw + 0.0 if isinstance(raw, float) else raw, i) for i in allowed)
        ]
        palette = rng.sample(palette, min(n_values + 1, len(palette)))
    else:
        made = None
        palette = rng.sample(palette, min(n_values, len(palette)))
    share = rng.choice([0, 0, 0.2, 0.5]) if nulls is None else nulls
    raw = [None if rng.random() < share else rng.choice(palette) for _ in range(n_rows)]
    if kind in ("float", "binned float"):
        raw = [
            -0.0
            if v == 0 and rng.random() < 0.5
            else math.nan
            if v is None and rng.random() < 0.5 and kind == "float"
            else v
            for v in raw
        ]
    column = Column(kind, raw, None, made)
    if made is None and rng.random() < 0.4:  # declared, in any order, with values that no row has
        others = [v for v in PALETTES[kind] if v not in palette]
        listed = palette + rng.sample(others, min(len(others), rng.randrange(2)))
        rng.shuffle(listed)
        if share or rng.random() < 0.3:
            listed.append(None)
        column.declared = listed
    return column


def random_case(
    seed, *, n_attributes=(1, 3), n_rows=(2, 30), n_values=3, n_classes=(2, 3, 7), weights=None, kinds=None
):
    """A table of attributes a, b, .. and a class, y."""
    rng = random.Random(f"crossing {seed}")
    n = rng.randint(*n_rows)
    mostly = kinds or rng.choice(
        [PLAIN, PLAIN, (*PLAIN, "binned", "binned float"), (*PLAIN, *OF_ARROW, "binned")]
    )
    columns = {
        name: random_column(rng, mostly, n, rng.randint(1, n_values))
        for name in "abcdef"[: rng.randint(*n_attributes)]
    }
    labels = [
        kind for kind in mostly if kind not in ("bool", "decimal", "whole", "binned", "binned float")
    ] or ["text"]
    most = rng.choice(n_classes)
    columns["y"] = random_column(rng, labels, n, most, nulls=rng.choice([0, 0, 0.2]))
    if rng.random() < 0.3:  # a null in the rows of one part alone
        name = rng.choice(list(columns))
        column = columns[name]
        if column.declared is None or None in column.declared:
            column.raw[rng.randrange(n)] = None
    chosen = rng.choice(["none", "ones", "small", "large"]) if weights is None else weights
    amounts = {
        "none": None,
        "ones": [1] * n,
        "small": [rng.randint(1, 4) for _ in range(n)],
        "large": [rng.choice([1, 2**20, 2**40, rng.randrange(1, 2**40)]) for _ in range(n)],
    }[chosen]
    return Case(columns, amounts, str(seed)), rng
