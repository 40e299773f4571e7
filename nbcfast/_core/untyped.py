"""Names for what comes without types, from libraries and files: each says what it is, where Any would not."""

from typing import Any, Protocol

Exact = Any  # an mpz or mpq of gmpy2
PyArrow = Any  # an array, a type, a schema of pyarrow, or the module itself
Pandas = Any  # a frame of pandas, or the module itself
Polars = Any  # a frame of polars, an expression, or the module itself
Spark = Any  # a frame of PySpark, a column, or one of its modules
Dask = Any  # a frame of Dask, a part of it that is not computed, or one of its modules
Ibis = Any  # a table of ibis, an expression, or the module itself
Document = dict[str, Any]  # a JSON object: what a certificate and --json hold


class Arrow(Protocol):
    """Anything that hands its rows over by the Arrow C interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
