"""Partitions by Mondrian: boxes of people that keep demands. `nbcfast.skyline` is their public door.

`anonymize` takes the `task` and its `demands` and splits a table in memory (`growing`) or a file
(`ondisk`), by columns as `quasi` and `hierarchy` order their values. A `partition` is what comes out,
`utility` says what it is worth, `wire` writes it, and `assigned` joins it to rows that are in an engine.
"""

from nbcfast.mondrian.anonymize import anonymize
from nbcfast.mondrian.partition import Partition

__all__ = ["Partition", "anonymize"]
