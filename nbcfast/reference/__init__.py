"""The library in the plainest exact Python: the executable specification, and what the tests compare with."""

from nbcfast.reference import table, views

__all__ = ["table", "views"]
