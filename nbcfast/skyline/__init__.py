"""Privacy Skyline: how much an adversary must know before a table gives somebody away.

`check` (`checking`) judges groups at `points`, `find` (`finding`) looks for all that is just safe; both
ask the tables of `statistics`, by floats and integers as `deciding` says, and answer in `results`;
`statistics_tasks` makes these tables of groups that are more than a process holds. The groups
are those of `nbcfast.groups`, where k-anonymity, l-diversity and t-closeness are too, and `anonymize` is of
`nbcfast.mondrian`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from nbcfast.groups import Groups, SetGroups, group, group_parts
from nbcfast.skyline.checking import check
from nbcfast.skyline.finding import FrontierTable, find, frontier_table, plot
from nbcfast.skyline.points import Point
from nbcfast.skyline.results import Attack, Report, Reports
from nbcfast.skyline.statistics import Statistics
from nbcfast.skyline.statistics_tasks import statistics

if TYPE_CHECKING:
    from nbcfast.mondrian import Partition, anonymize

__all__ = [
    "Attack",
    "FrontierTable",
    "Groups",
    "Partition",
    "Point",
    "Report",
    "Reports",
    "SetGroups",
    "Statistics",
    "anonymize",
    "check",
    "find",
    "frontier_table",
    "group",
    "group_parts",
    "plot",
    "statistics",
]


def __getattr__(name: str) -> object:
    """`anonymize` and `Partition` are made floors above, of what is judged here."""
    if name not in ("Partition", "anonymize"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("nbcfast.mondrian"), name)
