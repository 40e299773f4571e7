"""Groups of people: how often each sensitive value occurs in each group of rows.

`grouping` makes `groups` of tables, streams and files; `measures` has their k-anonymity, l-diversity,
t-closeness and (alpha, k)-anonymity, `sets` people who have several values each, `scanning` what the
skyline asks for.
"""

from nbcfast.groups.grouping import group, group_parts
from nbcfast.groups.groups import Groups
from nbcfast.groups.sets import SetGroups

__all__ = ["Groups", "SetGroups", "group", "group_parts"]
