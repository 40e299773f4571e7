"""Pickles of results whose mappings nobody can change, which Python itself cannot pickle."""

from types import MappingProxyType


class HasReadOnlyMappings:
    """A base of frozen dataclasses: a field may be a MappingProxyType, and copies have one there too.

    Examples
    --------
    >>> import copy
    >>> class Levels(HasReadOnlyMappings):
    ...     def __init__(self, levels):
    ...         self.levels = MappingProxyType(levels)
    >>> copy.deepcopy(Levels({"age": 3})).levels
    mappingproxy({'age': 3})
    """

    def __getstate__(self) -> tuple[dict[str, object], tuple[str, ...]]:
        mappings = [name for name, field in vars(self).items() if isinstance(field, MappingProxyType)]
        return vars(self) | {name: dict(vars(self)[name]) for name in mappings}, tuple(mappings)

    def __setstate__(self, state: tuple[dict[str, dict[object, object]], tuple[str, ...]]) -> None:
        fields, mappings = state
        vars(self).update(fields)  # the dataclasses are frozen, and refuse what sets one by one
        vars(self).update((name, MappingProxyType(fields[name])) for name in mappings)
