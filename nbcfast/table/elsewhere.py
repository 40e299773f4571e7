"""Tables whose rows lie elsewhere, in an engine or on many machines: known by their module alone."""

from __future__ import annotations


def engine_of(obj: object) -> str | None:
    """What has the rows of this object, as "PySpark" or "Polars"; None where it is no table of an engine.

    Examples
    --------
    >>> engine_of([1, 2]) is None
    True
    """
    for cls in type(obj).__mro__:  # a frame may be of a class that somebody has derived
        parts, name = cls.__module__.split("."), cls.__name__
        if parts[0] == "pyspark" and name == "DataFrame":
            return "pandas on Spark" if "pandas" in parts else "PySpark"
        if parts[0] in ("duckdb", "_duckdb") and name == "DuckDBPyRelation":
            return "DuckDB"
        if parts[0] == "polars" and name in ("DataFrame", "LazyFrame"):
            return "Polars, lazy" if name == "LazyFrame" else "Polars"
        if parts[0] in ("dask", "dask_expr") and name == "DataFrame":
            return "Dask"
        if parts[0] == "ibis" and name == "Table":
            return "ibis"
    return None


# What is not taken for a table in memory: all rows would be pulled to this process, or it has none yet.
FAR = {
    "PySpark": "a frame of PySpark, of which all rows would be pulled through the driver",
    "pandas on Spark": "a frame of pandas on Spark, of which all rows would be pulled through the driver",
    "Dask": "a frame of Dask, whose rows are in partitions that may be on many machines",
    "Polars, lazy": "a LazyFrame of Polars, which has no rows before it is collected",
}


def refuse_far(obj: object, where: str) -> None:
    """TypeError where an argument is a table whose rows lie elsewhere: it has to be said what is fetched."""
    if any(cls.__module__ == "nbcfast.frames.frame" for cls in type(obj).__mro__):
        raise TypeError(
            f"{where}: expected rows in this process, got a Frame, whose rows stay in its engine: "
            "frame.weighted(columns) gives the Table of their distinct rows"
        )
    engine = engine_of(obj)
    if engine in FAR:
        raise TypeError(
            f"{where}: expected rows in this process, got {FAR[engine]}: nbcfast.frames.Frame(..) has the "
            "engine count, and fetches distinct rows alone"
        )
