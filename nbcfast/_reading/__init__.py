"""How tables are read: files of every ending, and streams of batches.

Begin at `source`, which says what a table argument may be. `endings` tells `csv_files` from `parquet`:
`csv_blocks` cuts the text of the former into rows, `column_chunks` reads texts that the latter has as codes,
by what `footers` says.
`opened` gives a file as UTF-8, and `hints` says what one that cannot be read looks like. Of what comes batch
by batch `row_blocks` gives finished columns, `distinct` keeps distinct rows, of which `collapsed` makes
tables, `pairs` those of a group and a value, and `spilled` columns whose codes are on disk; `seen` says what
columns hold.
"""
