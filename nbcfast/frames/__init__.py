"""Tables of engines that stay where they are: what is fetched of them are distinct rows, and their numbers.

`frame` is what verbs see. `engines` says what an engine is asked for, and finds the adapter of an object:
`duckdb_rows`, `polars_rows`, `spark_rows`, `dask_rows`, `ibis_rows`. `packing` says which columns are grouped
together, `group_queries` asks for that in SQL, and `fetched` makes tables of what comes back. Rows that are
divided over tasks: one after the other in `buckets`, on workers by `spark_tasks` and `dask_tasks`, which need
nbcfast (`wheels`); `table_work` is what is done with those of a task, and `dask_files` what is written by
workers.
"""

from nbcfast.frames.frame import Frame

__all__ = ["Frame"]
