"""What is done with the rows of a task, as tables; and what comes back from there, errors too."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nbcfast._core.untyped import PyArrow
from nbcfast.frames.fetched import table_of
from nbcfast.table.domain import Domain
from nbcfast.table.table import Table
from nbcfast.table.values import Kind, as_kind, join_kinds

EXACT = 1 << 53  # up to here every integer is a float


@dataclass(frozen=True)
class TaskOutcome:
    """What comes of a task.

    Attributes
    ----------
    told : bytes
        What the work gave.
    kinds : mapping of name -> (kind, integer)
        Of each column what its values are, and one of its integers that is no float, where there is one.
    error : str
        What is wrong with the rows; no text where nothing is.
    is_type_error : bool
    is_too_large : bool
        Whether the task has more distinct rows than a task may have.
    """

    told: bytes = b""
    kinds: Mapping[str, tuple[Kind | None, int | None]] | None = None
    error: str = ""
    is_type_error: bool = False
    is_too_large: bool = False


@dataclass(frozen=True)
class TableWork:
    """Work on the table of a task, as `DividedRows` takes it."""

    names: tuple[str, ...]
    domains: Mapping[str, Domain]
    most: int
    work: Callable[[Table], bytes]

    def __call__(self, found: PyArrow) -> bytes:
        return pickle.dumps(self._outcome(found))

    def _outcome(self, found: PyArrow) -> TaskOutcome:
        """An engine would run a task again that raises, and wrap what it raised in its own words."""
        if found.num_rows > self.most:
            return TaskOutcome(is_too_large=True)
        try:
            table = table_of(found, self.names, self.domains)
            kinds = {name: _kind(table.column(name).domain) for name in table.names}
            return TaskOutcome(self.work(table), kinds)
        except (TypeError, ValueError) as error:
            return TaskOutcome(error=str(error), is_type_error=isinstance(error, TypeError))


def _kind(domain: Domain) -> tuple[Kind | None, int | None]:
    if domain.kind != "int":
        return domain.kind, None
    large = (value for value in domain.values if isinstance(value, int) and abs(value) > EXACT)
    return "int", next((value for value in large if int(float(value)) != value), None)


def expect_one_kind(outcomes: Iterable[TaskOutcome], names: Iterable[str]) -> None:
    """Refuse columns whose values are of one kind in each task, and not in all, as they are in memory."""
    listed = [outcome.kinds for outcome in outcomes if outcome.kinds is not None]
    for name in names:
        where = f"column {name!r}"
        kind = join_kinds((kinds[name][0] for kinds in listed), where)
        as_kind([kinds[name][1] for kinds in listed], kind, where)
