"""How tables are read: files of every ending, and streams of batches.

Begin at `source`, which says what a table argument may be. `endings` tells `csv_files` from `parquet`. Of
what comes batch by batch `distinct` keeps distinct rows, `pairs` those of a group and a value, and `spilled`
columns whose codes are on disk.
"""
