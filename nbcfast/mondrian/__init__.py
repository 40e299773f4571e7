"""Partitions by Mondrian: boxes of people that keep demands. `nbcfast.skyline` is their public door."""

from nbcfast.mondrian.anonymize import anonymize
from nbcfast.mondrian.partition import Partition

__all__ = ["Partition", "anonymize"]
