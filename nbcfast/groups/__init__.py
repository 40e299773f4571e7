"""Groups of people: how often each sensitive value occurs in each group of rows."""

from nbcfast.groups.grouping import group, group_parts
from nbcfast.groups.groups import Groups
from nbcfast.groups.sets import SetGroups

__all__ = ["Groups", "SetGroups", "group", "group_parts"]
