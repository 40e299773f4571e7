"""The points table of a release: what people add up by hand to decide as the classifier does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbcfast._core.files import written
from nbcfast._core.sql_text import Dialect
from nbcfast._core.untyped import Document
from nbcfast._markup.fragments import fragment
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.published.dataset import csv_field
from nbcfast.published.formulas import STARTS, inert
from nbcfast.published.opened_sets import opened_points
from nbcfast.published.placing import Placing
from nbcfast.published.points_picture import draw
from nbcfast.published.points_pieces import rule_pieces
from nbcfast.published.points_sql import Unseen, class_of
from nbcfast.published.value_texts import markdown_text, texts_of
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.published.release import Release


@dataclass(frozen=True, repr=False)
class PointsTable:
    """Small integers that decide as a canonical release does.

    With two classes a value has one number of points, none below 0, and the first class is that of a total
    from `threshold` on. With more classes a value has one number for each, the largest total wins, and of
    equal ones the later class.

    Attributes
    ----------
    classes : tuple
        In rising precedence.
    attributes : tuple of (name, values, points)
        points[t] is a tuple of one number (two classes), or of one number a class.
    threshold : int or None
        With two classes.
    constants : tuple of int
        What the totals of the classes begin with; empty with two classes.
    """

    classes: tuple[Value, ...]
    attributes: tuple[tuple[str, tuple[Value, ...], tuple[tuple[int, ...], ...]], ...]
    threshold: int | None
    constants: tuple[int, ...]

    @classmethod
    def of(cls, release: Release) -> PointsTable:
        """The table of a release; see `Release.scorecard`."""
        made, views = release.certificate.canonical, release.views
        if made is None:
            raise ValueError(
                f"a scorecard belongs to method 'canonical', got method {release.certificate.method!r}"
            )
        n_classes = len(views.classes)
        listed = []
        for i, name in enumerate(views.attributes):
            if n_classes == 1:
                rows: tuple[tuple[int, ...], ...] = ((0,),) * len(views.domain(name))
            elif n_classes == 2:
                rows = made.points[i]
            else:
                rows = tuple((*row, 0) for row in made.points[i])
            listed.append((name, views.domain(name), rows))
        if n_classes == 2:
            # Totals are never below 0, so a threshold need not be either.
            return cls(views.classes, tuple(listed), max(0, 1 - made.constants[0]), ())
        return cls(views.classes, tuple(listed), None, (*made.constants, 0))

    def decide(self, values: Mapping[str, Value]) -> Value:
        """The class at one raw value of each attribute: numbers and dates are put into their bins.

        Parameters
        ----------
        values : mapping of attribute to value
            Others than attributes do not matter.

        Returns
        -------
        str, int, float, bool, Interval or None
            One of `classes`.

        Raises
        ------
        ValueError
            If an attribute is missing, or a value is not in its domain.
        TypeError
            If `values` is no mapping.

        Examples
        --------
        >>> import nbcfast
        >>> people = nbcfast.Table({"age": [20, 71, 34, 80], "ill": ["no", "yes", "no", "yes"]})
        >>> binned = people.bin("age", edges=[0, 50, 100])
        >>> card = nbcfast.canonical.release(nbcfast.count(binned, "ill"), 4).scorecard()
        >>> card.decide({"age": 30}), card.decide({"age": 50})
        ('no', 'yes')
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values must be a mapping of attribute to value, got {type(values).__name__}")
        places = []
        for name, domain, _ in self.attributes:
            if name not in values:
                raise ValueError(f"values must have every attribute, got none for {name!r}")
            places.append(place_of(values[name], name, domain))
        totals = self.totals(places)
        if self.threshold is not None:
            return self.classes[0] if totals[0] >= self.threshold else self.classes[1]
        return self.classes[max(range(len(totals)), key=lambda c: (totals[c], c))]

    def totals(self, places: Sequence[int]) -> tuple[int, ...]:
        """The points of one value of each attribute, by their positions: one number, or one a class."""
        totals = [0] if len(self.classes) <= 2 else list(self.constants)
        for (_, _, rows), place in zip(self.attributes, places, strict=True):
            totals = [total + number for total, number in zip(totals, rows[place], strict=True)]
        return tuple(totals)

    @property
    def rule(self) -> str:
        """How the totals decide, in words."""
        if len(self.classes) == 1:
            return f"always {self.classes[0]!r}"
        if self.threshold is not None:
            return f"{self.classes[0]!r} from {self.threshold} points on, else {self.classes[1]!r}"
        starts = ", ".join(
            f"{label!r} {start}" for label, start in zip(self.classes, self.constants, strict=True)
        )
        return f"totals begin with {starts}; the largest wins, of equal ones the later class"

    def _header(self) -> list[str]:
        if self.threshold is not None or len(self.classes) == 1:
            return ["attribute", "value", "points"]
        return ["attribute", "value", *texts_of(self.classes)]

    def _rows(self) -> list[list[str]]:
        names = texts_of([name for name, _, _ in self.attributes])
        return [
            [name, text, *map(str, row)]
            for name, (_, domain, rows) in zip(names, self.attributes, strict=True)
            for text, row in zip(texts_of(domain), rows, strict=True)
        ]

    def text(self) -> str:
        """Columns of text: attribute, value, points; and the rule."""
        rows = self._rows()
        if len(self.classes) > 2:
            rows = [self._header(), *rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
            right = [cell.rjust(width + 1) for cell, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join([*left, *right]).rstrip())
        return "\n".join([*lines, self.rule])

    def markdown(self) -> str:
        """A table in Markdown, and the rule; names and values stand there letter by letter."""
        header = self._header()
        lines = [header, ["---", "---", *["---:"] * (len(header) - 2)], *self._rows()]
        marked = [[markdown_text(cell) for cell in row] if row is not lines[1] else row for row in lines]
        return "\n".join([*(f"| {' | '.join(row)} |" for row in marked), "", markdown_text(self.rule)])

    def csv(self, before: Mapping[str, str] | None = None) -> str:
        """A CSV table of attribute, value and points, whose last line has no attribute and says the rule.

        With two classes that line has the threshold, else what the totals of the classes begin with. A text
        that a spreadsheet would run, or that begins with an apostrophe, has an apostrophe before it.

        Parameters
        ----------
        before : mapping of name -> text, optional
            Columns that stand before, with the same text in each line: of tables that are put together.
        """
        first = {} if before is None else before
        texts = [inert(text) for text in first.values()]
        last = [self.threshold] if self.threshold is not None else list(self.constants or (0,))
        rows = [[*map(inert, first), "attribute", "value", *map(inert, self._header()[2:])]]
        values = [value for _, domain, _ in self.attributes for value in domain]
        for value, (name, text, *numbers) in zip(values, self._rows(), strict=True):
            # A number that is below 0 is none that is run.
            cell = text if isinstance(value, int | float) else inert(text)
            rows.append([*texts, inert(name), cell, *numbers])
        rule = f"'{self.rule}" if self.rule.startswith(STARTS) else self.rule
        rows.append([*texts, "", rule, *map(str, last)])
        return "".join(",".join(map(csv_field, row)) + "\n" for row in rows)

    def sql(
        self,
        dialect: Dialect,
        *,
        unseen: Unseen = "error",
        table: str | None = None,
        domains: Declarations | Declared | None = None,
    ) -> str:
        """One expression of SQL for the class of a row, by its columns: what `decide` says of its values.

        It stands in a list of columns: ``SELECT *, <expression> AS "diagnosis" FROM ..``, or
        ``frame.selectExpr("*", expression + " AS diagnosis")`` in Spark.

        Parameters
        ----------
        dialect : {"spark", "duckdb", "ansi"}
            Of the engine: Spark 3.5 and later, DuckDB, or standard SQL as SQLite and PostgreSQL take it.
        unseen : {"error", "null"}
            What a row gets with a value that is not published, or a null where null is none: the query stops
            with a message that names column and value, or the class is NULL. It is never one of the classes.
            Standard SQL cannot stop a query, so "ansi" takes "null" alone.
        table : str, optional
            An alias of the table, which then stands before each column. SQLite takes a name in double quotes
            that is no column for a text, and with an alias it does not.
        domains : Declared, mapping, or path of a JSON file, optional
            What the release was published with, as for `Release.predict`: columns then hold raw values, and
            those in sets, and in bins that have names, are found there. Bins without names need none.

        Returns
        -------
        str
            Without comments and parameters, whatever names and values have in them.

        Raises
        ------
        ValueError
            If "ansi" is to stop a query, a class is null, a value is suppressed, totals have more than 61
            bits, or SQL cannot have a name or a text, or takes two names for one; if `domains` are others
            than were published, or have a set of all values that are not listed.

        Notes
        -----
        Numbers and bins of numbers need a column of integers, of floats, or (but for "ansi") of decimals of
        at most 15 digits, bools one of bools, and texts one of texts, which dates are as well, or without
        "ansi" of dates. A value in a column of another type is not published: '1' is not 1. In Spark and
        DuckDB that is found before rows are read; with "ansi" it is NULL in SQLite, where a column has to be
        declared with its type, and in other databases an error.

        NaN is a null, -0.0 is 0.0, and infinities lie in bins that are open there. Texts are equal letter by
        letter: DuckDB is told to, Spark refuses a column with a collation of its own, and with "ansi" the
        column must not have one that ignores case or blanks. An integer that its column may have rounded, as
        a float of 32 bits does from 2^24 on, has no class with "ansi".

        Bins of dates are texts, and so are names of sets without `domains`: rows have to be put into them
        before. Where a release keeps its answers on a public list only, points decide the rest of the domain
        in their own way, and those of `nbcfast.exports.points_of` as `Release.predict` does.

        Examples
        --------
        >>> import nbcfast
        >>> views = nbcfast.Viewset([5, 9], {"job": [[1, 6], [4, 3]]}, classes=["no", "yes"])
        >>> card = nbcfast.canonical.release(views, 4).scorecard()
        >>> print(card.sql("ansi", unseen="null"))
        (SELECT CASE WHEN "scored"."points" >= 1 THEN 'no'
                     WHEN "scored"."points" < 1 THEN 'yes' END
         FROM (SELECT
           CASE
             WHEN +"job" = 0 THEN 0
             WHEN +"job" = 1 THEN 1
           END
           AS "points") AS "scored")
        """
        points = self if domains is None else opened_points(self, declared(domains))
        return class_of(points, dialect, unseen, table)

    def plot(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """A picture: a panel for each attribute with a bar for each value, all panels on one scale.

        Parameters
        ----------
        path : str or path
            The file; its ending says of which kind it is, such as .png, .svg or .pdf.
        overwrite : bool
            Replace a file that is there.

        Raises
        ------
        FileExistsError
            If there is such a file, and `overwrite` does not say that it may be replaced.
        ImportError
            If matplotlib is missing.
        """
        figure = draw(self)
        with written(path, overwrite=overwrite) as file:
            figure.savefig(file, format=Path(os.fsdecode(path)).suffix[1:] or None)

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "classes": list(self.classes),
            "attributes": [
                {"name": name, "values": list(domain), "points": [list(row) for row in rows]}
                for name, domain, rows in self.attributes
            ],
            "threshold": self.threshold,
            "constants": list(self.constants),
        }

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return fragment(*rule_pieces(self))

    def __repr__(self) -> str:
        most = max((number for _, _, rows in self.attributes for row in rows for number in row), default=0)
        return f"PointsTable({len(self.attributes)} attributes, up to {most} points; {self.rule})"


def place_of(value: Value, name: str, domain: tuple[Value, ...]) -> int:
    """The position of a raw value among published ones; ValueError where it has none."""
    raw = Domain.of([value], where=f"values: {name!r}")
    (place,) = Placing(Domain.of(domain, in_order=False)).places(raw).tolist()
    if place < 0:
        raise ValueError(f"values: {value!r} is not in the domain of {name!r}")
    return int(place)
