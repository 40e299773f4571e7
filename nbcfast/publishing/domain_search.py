"""From a table and a menu, as they are given, to the domain that is best to publish on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nbcfast import canonical
from nbcfast._core.errors import NoColumnError
from nbcfast._core.numbers import Numeral
from nbcfast._reading.source import AnyTable
from nbcfast.canonical import Advice, Limits
from nbcfast.domains import Declared, Menu, ready_made
from nbcfast.publishing.inputs import Caller, place, present_in
from nbcfast.table.table import Table

By = Literal["correct", "log-loss"]


@dataclass(frozen=True, kw_only=True)
class DomainSearch:
    """What is searched for; see `nbcfast.canonical.advise`.

    Parameters
    ----------
    limits : Limits
    by : {"correct", "log-loss"}
    folds : int
    alpha : number, optional
    epsilon : number, optional
    blocks : int, optional
    strata : sequence of str
    front : bool
    """

    limits: Limits
    by: By = "correct"
    folds: int = 5
    alpha: Numeral | None = None
    epsilon: Numeral | None = None
    blocks: int | None = None
    strata: Sequence[str] = ()
    front: bool = True


def advised(
    given: AnyTable,
    class_name: str,
    menu: Menu | None,
    search: DomainSearch,
    caller: Caller,
    *,
    declared: Declared | None = None,
    on: AnyTable | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
) -> Advice:
    """The best domain for a table of the caller.

    Parameters
    ----------
    given : Table, or what it is made of
        The private rows. Of a file no more is read than the menu has options for.
    menu : Menu or None
        None for one that is ready-made, from what is `declared` and from the rows.
    search : DomainSearch
        What is searched for,
    caller : Caller
        and by whom.
    declared : Declared, optional
        What is known of some columns, for a ready-made menu.
    on : Table, or what it is made of, optional
        Rows to choose on alone.
    class_name, columns, weights, delimiter
        As of `publish`.
    """
    present = present_in(given, delimiter, caller.encoding)
    if menu is None:
        private, menu = begun_menu(
            given,
            class_name,
            caller,
            declared=declared,
            columns=columns,
            weights=weights,
            delimiter=delimiter,
        )
    else:
        private = _read(given, "table", class_name, menu, caller)
    others = None if on is None else _read(on, "on", class_name, menu, caller)
    for rows, where in ((private, place(given, "table")), (others, place(on, "on"))):
        if rows is not None and rows.n_rows == 0:
            raise ValueError(f"{where}: no rows")
    limits = search.limits
    with caller.stages("searching") as progress:
        advice = canonical.advise(
            private,
            class_name,
            menu,
            max_bits=limits.max_bits,
            max_found=limits.max_found,
            min_flip=limits.min_flip,
            min_trace=limits.min_trace,
            max_one_class=limits.max_one_class,
            by=search.by,
            folds=search.folds,
            on=others,
            strata=search.strata,
            alpha=search.alpha,
            epsilon=search.epsilon,
            blocks=search.blocks,
            front=search.front,
            progress=progress,
        )
    used = (class_name, weights, *menu.attributes)
    return replace(advice, beside=tuple(name for name in present or private.names if name not in used))


def begun_menu(
    given: AnyTable,
    class_name: str,
    caller: Caller,
    *,
    declared: Declared | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
) -> tuple[Table, Menu]:
    """The private rows, and the menu that is made of what is declared and of them; arguments as above."""
    present = present_in(given, delimiter, caller.encoding)
    names = columns
    if declared is not None and present is not None:
        left_out = {class_name, weights, *declared.out}
        names = [name for name in (present if columns is None else columns) if name not in left_out]
    private = caller.reads(given, "table", class_name, names)
    if private.n_rows == 0:
        raise ValueError(f"{place(given, 'table')}: no rows")
    return private, ready_made(private, class_name, declared)


def _read(given: AnyTable, argument: str, class_name: str, menu: Menu, caller: Caller) -> Table:
    """The columns of a menu and the class; those whose options are texts are kept as text."""
    texts = [name for name, options in menu.options.items() if any(option.is_of_texts for option in options)]
    if menu.class_option is not None and menu.class_option.is_of_texts:
        texts.append(class_name)
    try:
        return caller.reads(given, argument, class_name, menu.attributes, texts=texts)
    except NoColumnError as error:
        if error.where != "columns":
            raise
        raise NoColumnError(error.name, error.present, caller.words.named("menu")) from None
