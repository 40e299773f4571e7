"""Pickles of results: without what they keep for speed, with mappings that Python cannot pickle by itself."""

from types import MappingProxyType


def without_kept(instance: object) -> dict[str, object]:
    """What an object holds, but for what it keeps for speed, whose names begin with `_kept`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> without_kept(SimpleNamespace(level=3, _kept_square=9))
    {'level': 3}
    """
    return {name: field for name, field in vars(instance).items() if not name.startswith("_kept")}


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
        fields = without_kept(self)
        mappings = [name for name, field in fields.items() if isinstance(field, MappingProxyType)]
        return fields | {name: dict(vars(self)[name]) for name in mappings}, tuple(mappings)

    def __setstate__(self, state: tuple[dict[str, dict[object, object]], tuple[str, ...]]) -> None:
        fields, mappings = state
        vars(self).update(fields)  # the dataclasses are frozen, and refuse what sets one by one
        vars(self).update((name, MappingProxyType(fields[name])) for name in mappings)
