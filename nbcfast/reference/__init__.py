"""The library in the plainest exact Python: the executable specification, and what the tests compare with."""

__all__ = ["table", "views"]
