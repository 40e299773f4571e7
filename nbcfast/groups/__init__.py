"""Groups of people: how often each sensitive value occurs in each group of rows."""

from nbcfast.groups.groups import Groups, group
from nbcfast.groups.sets import SetGroups
from nbcfast.groups.streams import group_parts

__all__ = ["Groups", "SetGroups", "group", "group_parts"]
