"""`Menu`: the options of each column, from which a domain is chosen."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.validation import whole
from nbcfast._wire import menus
from nbcfast.domains.declarations import Declared, plain_json, reader_in
from nbcfast.domains.json_files import as_mapping, lines_of, object_in
from nbcfast.domains.option import Option
from nbcfast.table.values import Value

EXAMPLE = '{"age": [{"edges": [null, 25, 50, null]}, {"out": true}], "sex": [["f", "m"], {"out": true}]}'


@dataclass(frozen=True, eq=False)
class Menu:
    """For each attribute its options, in an order that decides between choices that are worth the same.

    Parameters
    ----------
    options : dict of name -> tuple of Option
        In the order of the menu; without the class.
    class_name : str or None
    class_option : Option or None
        The values of the class, where the menu has them.
    undeclared : tuple of str
        The columns whose options were taken from rows: they are no public facts, and what is published by
        them has to say so. Where there are any, the menu was not fixed in advance.
    file : str or None
        Where it stands.
    order : tuple of str or None
        All columns in the order of the file, the class among them where it stands there.

    Examples
    --------
    >>> menu = Menu.read({"age": [{"edges": [None, 40, None]}, {"out": True}], "sex": [["f", "m"]]})
    >>> menu.attributes, menu.n_choices, menu.digest[:8]
    (('age', 'sex'), 2, '690ee013')
    >>> menu.chosen([1, 0]).document
    {'age': {'out': True}, 'sex': {'values': ['f', 'm']}}
    """

    options: Mapping[str, tuple[Option, ...]]
    class_name: str | None = None
    class_option: Option | None = None
    undeclared: tuple[str, ...] = ()
    file: str | None = None
    order: tuple[str, ...] | None = None

    @classmethod
    def read(
        cls,
        source: Mapping[str, object] | str | bytes | os.PathLike[str],
        class_name: str | None = None,
        words: Arguments = ARGUMENTS,
    ) -> Menu:
        """The menu that an argument is, or names the JSON file of.

        Parameters
        ----------
        source : mapping, or path
            Name of a column -> list of options, each as `declared` has them but for ``"bin"``. Paths of
            hierarchies are relative to the file. Or two entries, of which the first is all this:
            ``{"menu": {..}, "from_rows": ["age", ..]}`` names columns whose options were taken from rows
            and that nobody has checked.
        class_name : str, optional
            The class, of which a menu may have one option, of values.
        words : Arguments
            Those of the caller.

        Raises
        ------
        TypeError
            If it is neither a mapping nor a path.
        ValueError
            If something is not as described; the file, the column and the option are named.
        """
        named = words.named("menu")
        if isinstance(source, Mapping):
            return cls._of(source, None, Path(), class_name, named)
        if not isinstance(source, str | bytes | os.PathLike):
            raise TypeError(
                f"{named} must be a mapping of column names to lists of options, or the path of a JSON file, "
                f"got {type(source).__name__}"
            )
        path = Path(os.fsdecode(source))
        return cls._of(object_in(path, named, EXAMPLE), str(path), path.parent, class_name, named)

    @classmethod
    def _of(
        cls,
        document: Mapping[str, object],
        file: str | None,
        folder: Path,
        class_name: str | None,
        named: str,
    ) -> Menu:
        about = named if file is None else f"{named} {file}"
        columns = dict(as_mapping(document, f"{about}: expected names of columns"))
        if isinstance(columns.get("domain"), Mapping) and set(columns) <= {"domain", "advice", "from_rows"}:
            raise ValueError(f"{about}: it is a domain file, with one option a column, and no menu")
        try:
            plain, from_rows = menus.offered(plain_json(columns))
            resolved = menus.resolved(plain, reader_in(folder))
        except RecursionError:
            raise ValueError(f"{about}: it is nested too deeply") from None
        except ValueError as error:
            raise ValueError(f"{about}: {str(error).removeprefix('menu: ')}") from None
        options = {name: tuple(map(Option, entries)) for name, entries in resolved.items()}
        of_class = None
        if class_name is not None and class_name in options:
            only = options.pop(class_name)
            if len(only) != 1 or "values" not in only[0].entry:
                raise ValueError(
                    f"{about}: column {class_name!r} is the class: expected one option of values"
                )
            of_class = only[0]
        return cls(options, class_name, of_class, tuple(from_rows), file, tuple(resolved))

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Menu) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that there are options for, in order; without the class."""
        return tuple(self.options)

    @property
    def n_choices(self) -> int:
        """How many domains can be chosen: the product of the numbers of options."""
        return math.prod(map(len, self.options.values()))

    @property
    def class_values(self) -> tuple[Value, ...] | None:
        """The values of the class, where the menu has them."""
        return None if self.class_option is None else self.class_option.domain_values

    @cached_property
    def entries(self) -> dict[str, list[dict[str, object]]]:
        """The options as plain values, in their order and with nothing left to look up."""
        of_class = {}
        if self.class_name is not None and self.class_option is not None:
            of_class[self.class_name] = (self.class_option,)
        columns = {**self.options, **of_class}
        return {name: [dict(option.entry) for option in columns[name]] for name in self.order or columns}

    @property
    def document(self) -> dict[str, object]:
        """The same as a JSON file of a menu has them, with the columns that come from rows if any do."""
        if not self.undeclared:
            return dict(self.entries)
        return {"menu": self.entries, "from_rows": list(self.undeclared)}

    @property
    def text(self) -> str:
        """What a file of the menu holds: an option a line."""
        listed = lines_of(self.entries)
        if not self.undeclared:
            return listed
        return f'{{"menu": {listed.rstrip()},\n{lines_of({"from_rows": list(self.undeclared)})[1:]}'

    @cached_property
    def digest(self) -> str:
        """The sha256 of `entries`."""
        return menus.menu_digest(self.entries)

    def keeping(self, places: Sequence[Sequence[int]]) -> Menu:
        """The menu with these options of each attribute alone, for a search: it has another digest."""
        options = {
            name: tuple(of_name[place] for place in kept)
            for (name, of_name), kept in zip(self.options.items(), places, strict=True)
        }
        return replace(self, options=options)

    def chosen(self, indices: Sequence[int], others: Iterable[str] = ()) -> Declared:
        """The domain of one choice.

        Parameters
        ----------
        indices : sequence of int
            For each attribute which of its options.
        others : iterable of str
            Columns that the menu does not name: they are left out.

        Raises
        ------
        ValueError
            If there are not as many as attributes, or one is no option.
        """
        if len(indices) != len(self.options):
            raise ValueError(f"indices must be {len(self.options)}, one an attribute, got {len(indices)}")
        options = {
            name: of_name[whole(index, f"index of {name!r}", 0, len(of_name) - 1)]
            for (name, of_name), index in zip(self.options.items(), indices, strict=True)
        }
        if self.class_name is not None and self.class_option is not None:
            options[self.class_name] = self.class_option
        left_out = {name: Option({"out": True}) for name in others if name not in options}
        from_rows = tuple(name for name in options if name in self.undeclared and not options[name].out)
        return Declared({**options, **left_out}, file=self.file, from_rows=from_rows)
