"""What every export says of the release that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class About(NamedTuple):
    """What stands in a file besides its points.

    Attributes
    ----------
    sha256 : str
        Of the certificate of the release.
    class_name : str
        Of the class column; "class" where the release names none.
    version : str
        Of the library that writes the file.
    table : str or None
        What SQL reads from, with a schema before a dot; None in files of other formats.
    name : str or None
        The column that SQL and Python add; None for that of the class.
    null_values : tuple of str
        Texts that are read as null.
    """

    sha256: str
    class_name: str
    version: str
    table: str | None
    name: str | None = None
    null_values: tuple[str, ...] = ()

    def expect_added(self, names: Sequence[str], plain: Callable[[str], str] = str) -> None:
        """Refuse a name for what is added that a column which is read has; `plain` is what is compared."""
        if self.name is not None and (not self.name or plain(self.name) in names):
            raise ValueError(
                f"name must be none of the columns that are read, and not empty, got {self.name!r}"
            )

    @property
    def added(self) -> str:
        """The column that comes last in tables that are decided."""
        return self.class_name if self.name is None else self.name
