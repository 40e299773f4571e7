"""Privacy Skyline: how much an adversary must know before a table gives somebody away."""

from nbcfast.skyline.anonymize import anonymize
from nbcfast.skyline.checking import check
from nbcfast.skyline.finding import FrontierTable, find, frontier_table, plot
from nbcfast.skyline.groups import Groups, group
from nbcfast.skyline.partition import Partition
from nbcfast.skyline.points import Point
from nbcfast.skyline.results import Attack, Report, Reports
from nbcfast.skyline.sets import SetGroups
from nbcfast.skyline.statistics import Statistics
from nbcfast.skyline.streams import group_parts

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
]
