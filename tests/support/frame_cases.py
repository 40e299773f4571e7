"""Tables of which engines make frames: values that engines read otherwise, names that they cannot bear."""

import datetime
import decimal
import math

import numpy as np
import pyarrow as pa

N_ROWS = 20_000
UTC = datetime.UTC
TEXTS = [
    "", " ", "x", "x ", " x", "null", "NULL", "NaN", "None", "\\", "\\n", "a\\b", "\xe9", "e\u0301",
    "E", "\xc9", "'", '"', "`", "a\nb", "\U0001f600", "0", "-0.0", "1e0", "%", "X", None,
]  # fmt: skip
VALUES = {
    "small": (pa.int8(), [-128, -1, 0, 7, 127, None]),
    "i": (pa.int64(), [0, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), None]),
    "f": (pa.float64(), [0.0, -0.0, math.nan, 0.1, math.inf, -math.inf, 5e-324, 1e300, 3.0, None]),
    "f32": (pa.float32(), [0.1, -0.0, 0.0, math.nan, math.inf, 16777216.0, None]),
    "b": (pa.bool_(), [True, False, None]),
    "d0": (pa.decimal128(20, 0), [decimal.Decimal(n) for n in (0, -7, 2**53 + 1, 10**18)] + [None]),
    "d2": (
        pa.decimal128(9, 2),
        [decimal.Decimal(text) for text in ("0.00", "0.10", "-1.25", "7.00")] + [None],
    ),
    "date": (
        pa.date32(),
        [datetime.date(1582, 10, 20), datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), None],
    ),
    # In New York this hour is there twice, and that of the other day is not there at all.
    "ts": (
        pa.timestamp("us"),
        [
            datetime.datetime(2024, 11, 3, 1, 30),
            datetime.datetime(2024, 3, 10, 2, 30),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
            None,
        ],
    ),
    "tz": (
        pa.timestamp("us", "UTC"),
        [
            datetime.datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
            datetime.datetime(2024, 11, 3, 6, 30, tzinfo=UTC),
            datetime.datetime(2024, 3, 10, 7, 0, 0, 500_000, tzinfo=UTC),
            None,
        ],
    ),
    "s": (pa.string(), TEXTS),
}
NAMES = [
    "a.b",
    'q"x',
    "back`tick",
    "'",
    " blank ",
    "^a$",
    "*",
    "\xe9",
    "e\u0301",
    "a\\b",
    "n",
    "sets",
    "c1",
    "x.y.z",
]
TWINS = ["Age", "age"]  # two names to us, and one to many engines


def people(n_rows=N_ROWS, *, twins=True):
    """Rows of every kind of value, columns of every kind of name, and the class `c`."""
    rng = np.random.default_rng(19)

    def drawn(type_, values):
        # Not all alike: the first values are more frequent.
        places = np.minimum(rng.geometric(0.3, n_rows) - 1, rng.integers(0, len(values), n_rows))
        return pa.array([values[place] for place in places.tolist()], type_)

    columns = {name: drawn(*VALUES[name]) for name in VALUES}
    for name in [*NAMES, *(TWINS if twins else TWINS[:1])]:
        columns[name] = drawn(pa.string(), [f"{name}0", f"{name}1", None])
    columns["c"] = drawn(pa.string(), ["no", "yes", "No", None])
    return pa.table(columns)


def shown(table):
    """All that a table holds, in a form in which 1, 1.0 and True differ."""
    weights = None if table.weights is None else table.weights.tolist()
    return {
        name: ([repr(value) for value in table.domain(name)], table.codes(name).tolist())
        for name in table.names
    }, weights


def collapsed(table, names):
    """What a frame has to give of all rows."""
    return table.select(names).collapse()
