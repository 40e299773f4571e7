"""`Disclosure` and `Step`: what top-down disclosure gives back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np

from nbcfast._core.dtypes import UInt32s
from nbcfast._core.numbers import number_text
from nbcfast._core.sql_text import Dialect
from nbcfast._core.untyped import Document
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import table
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.published.base import Published
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.table import Interval, Table
from nbcfast.table.table import equal_rows
from nbcfast.table.values import Value, plain
from nbcfast.templates.sql_expressions import expressions_of
from nbcfast.templates.template import Template
from nbcfast.templates.wire import DisclosureCertificate, certificate_of, parts_of

Reason = tuple[Template, Fraction]  # for a suppressed value: a template that it would break, its confidence


@dataclass(frozen=True, repr=False)
class Step:
    """One disclosure.

    Attributes
    ----------
    attribute : str
    value : value, or int or Fraction
        The value that was disclosed; of a continuous attribute the first number above the cut.
    gain, loss, score : float
        InfoGain (or the number of records, for utility "distortion"), PrivLoss, and gain / (loss + 1).
    templates : tuple of Template
    """

    attribute: str
    value: Value | Fraction
    gain: float
    loss: float
    score: float
    templates: tuple[Template, ...] = field(repr=False)
    _shares: tuple[tuple[int, int], ...] = field(repr=False)
    _cut: bool = False

    @property
    def confidences(self) -> dict[Template, Fraction]:
        """The confidence of each template after this step."""
        return {
            template: Fraction(hits, total)
            for template, (hits, total) in zip(self.templates, self._shares, strict=True)
        }

    def __str__(self) -> str:
        if self._cut:
            assert isinstance(self.value, int | Fraction)
            return printable(f"{self.attribute} cut at {number_text(self.value)}")
        return printable(f"{self.attribute}={self.value}")

    def __repr__(self) -> str:
        return f"Step({self}; gain {self.gain:.6g}, loss {self.loss:.6g}, score {self.score:.6g})"

    def to_dict(self) -> Document:
        return {
            "attribute": self.attribute,
            "value": decimal_text(self.value) if isinstance(self.value, Fraction) else plain(self.value),
            "gain": self.gain,
            "loss": self.loss,
            "score": self.score,
            "confidences": [str(confidence) for confidence in self.confidences.values()],
        }


@dataclass(frozen=True, repr=False, eq=False)
class Disclosure(Published):
    """A table in which just so much is suppressed that its templates hold.

    Attributes
    ----------
    table : Table
        What may be published: suppressed values are SUPPRESSED, continuous attributes are intervals, and all
        other columns are as they were. Its rows are in the order of the private ones; what `save` writes is
        not.
    templates : tuple of Template
        Without those that a smaller limit makes superfluous.
    confidences : mapping of Template -> Fraction
        The largest share of the sensitive value in any group of the table.
    masked : tuple of str
        The columns that may be suppressed.
    target : str or None
    utility : {"information", "distortion"}
    steps : tuple of Step
        What was disclosed, in order; empty for one that was loaded.
    suppressed : mapping of name -> tuple, or None
        The values of each categorical masked column that are withheld. Private: it is in no file, and None
        for one that was loaded.
    intervals : mapping of name -> tuple of Interval
        The intervals of each continuous column.
    reasons : mapping of name -> mapping of value -> (Template, Fraction) or None
        Why each suppressed value is: a template that disclosing it would break, and at least how confident
        its inference would be. None where that would be of no use for the target, or the search was stopped.
    complete : bool
        False where `max_steps`, `progress` or Ctrl-C ended it early. The templates hold all the same.
    peak_bytes : int or None
        The most memory that the search took beside the table.
    """

    table: Table
    templates: tuple[Template, ...]
    confidences: Mapping[Template, Fraction]
    masked: tuple[str, ...]
    target: str | None
    utility: str
    steps: tuple[Step, ...] = ()
    suppressed: Mapping[str, tuple[Value, ...]] | None = None
    intervals: Mapping[str, tuple[Interval, ...]] = field(default_factory=lambda: MappingProxyType({}))
    reasons: Mapping[str, Mapping[Value, Reason | None]] | None = None
    complete: bool = True
    peak_bytes: int | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _disclosure, (
            self.table,
            self.templates,
            dict(self.confidences),
            self.masked,
            self.target,
            self.utility,
            self.steps,
            None if self.suppressed is None else dict(self.suppressed),
            dict(self.intervals),
            None if self.reasons is None else {name: dict(why) for name, why in self.reasons.items()},
            self.complete,
            self.peak_bytes,
        )

    def __repr__(self) -> str:
        lines = [f"  {template}: {decimal_text(self.confidences[template])}" for template in self.templates]
        for name in self.masked:
            if name in self.intervals:
                n = len(self.intervals[name])
                lines.append(f"  {name}: {n} {'interval' if n == 1 else 'intervals'}")
            elif self.suppressed is not None and self.suppressed[name]:
                values = self.suppressed[name]
                shown = ", ".join(map(str, values[:6])) + (", ..." if len(values) > 6 else "")
                lines.append(f"  {name}: suppressed {shown}")
        # One that was loaded does not know its steps.
        steps = "" if self.suppressed is None else f", {len(self.steps)} steps"
        head = f"Disclosure({self.n_rows} rows{steps}{'' if self.complete else ', stopped'})"
        return "\n".join([head, *map(printable, lines)])

    def _repr_html_(self) -> str:
        rows = [
            [template.inference, decimal_text(template.limit), decimal_text(self.confidences[template])]
            for template in self.templates
        ]
        held = all(self.confidences[template] <= template.limit for template in self.templates)
        verdict = f"disclosure: {self.n_rows:,} people, every template holds"
        if not held:
            verdict = f"disclosure: {self.n_rows:,} people, NOT every template holds"
        if not self.complete:
            verdict += "; the search was stopped"
        shown = table(["inference", "at most", "reached"], rows)
        return result("kept" if held else "shows", verdict, shown)

    def to_dict(self) -> Document:
        """Plain values, without the table."""
        return {
            "templates": [
                {**template.to_dict(), "confidence": str(self.confidences[template])}
                for template in self.templates
            ],
            "masked": list(self.masked),
            "target": self.target,
            "utility": self.utility,
            "steps": [step.to_dict() for step in self.steps],
            "suppressed": None
            if self.suppressed is None
            else {name: list(map(plain, values)) for name, values in self.suppressed.items()},
            "intervals": {name: list(map(str, intervals)) for name, intervals in self.intervals.items()},
            "complete": self.complete,
        }

    @property
    def n_rows(self) -> int:
        """People in the table."""
        weights = self.table.weights
        return self.table.n_rows if weights is None else int(weights.sum())

    @property
    def collapsed(self) -> Table:
        """The distinct released rows, sorted, with how many people each stands for."""
        return self.table.collapse()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the publisher should know of the texts besides; it is not in the certificate."""
        return spreadsheet_remarks({name: self.table.domain(name) for name in self.table.names})

    @property
    def quasi(self) -> tuple[str, ...]:
        """All columns that some template takes for known, in the order of the table."""
        known = {name for template in self.templates for name in template.quasi}
        return tuple(name for name in self.table.names if name in known)

    @cached_property
    def group_ids(self) -> UInt32s:
        """For each row of `table` the number of its group: rows with the same released quasi-identifiers.

        Groups are numbered in the order of their codes, whatever that of the rows.
        """
        ids = equal_rows(self.table, self.quasi)
        ids.flags.writeable = False
        return ids

    def expressions(
        self, dialect: Dialect, *, suppressed: str = "*", table: str | None = None
    ) -> dict[str, str]:
        """Of each column with suppressed values or intervals what is published of a row, as text of SQL.

        For a table that is in an engine: ``SELECT <expression> AS "job", .. FROM ..`` has in these columns
        what `table` has, as `Table.to_arrow` writes it: texts, of intervals too, which take the numbers in
        them. Columns that are not listed are published as they are.

        Parameters
        ----------
        dialect : {"spark", "duckdb", "ansi"}
            As for `PointsTable.sql`; so are the types that columns must have.
        suppressed : str
            The text of suppressed values. A value that the private table does not have gets it too, for
            nothing has looked at what it would give away; a null, where the table has none, and all values
            of a column of another type as well. Rows are to be those of the private table all the same:
            nothing here checks it, nor the templates for others.
        table : str, optional
            An alias of the table, which then stands before each column.

        Returns
        -------
        dict of name -> str
            They show which values are published, and none that is withheld.

        Raises
        ------
        TypeError
            If `suppressed` is no text.
        ValueError
            If a value that is published has the text `suppressed`, or SQL cannot have a name or a text.

        Examples
        --------
        >>> import nbcfast
        >>> from nbcfast.templates import Template, disclose
        >>> jobs = ["cook", "clerk", "cook", "smith"]
        >>> table = nbcfast.Table({"job": jobs, "ill": ["no", "yes", "no", "no"]})
        >>> found = disclose(table, [Template(["job"], ("ill", "yes"), "1/2")], utility="distortion")
        >>> print(found.expressions("ansi")["job"])
        CASE WHEN "job" = 'cook' THEN 'cook' ELSE '*' END
        """
        return expressions_of(self.table, dialect, suppressed, table)

    @property
    def certificate(self) -> DisclosureCertificate:
        """What `save` claims in certificate.json; its `to_dict` is the file."""
        return certificate_of(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        order: Literal["canonical", "shuffled"] = "canonical",
        rng: np.random.Generator | None = None,
        weights: str | None = None,
        parquet: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write ``table.csv`` and ``certificate.json`` into the folder `path`, which is made if need be.

        The file lists rows sorted, or shuffled, so that nothing is left of the order of the data. The files
        appear whole or not at all, and only if all templates hold.

        Parameters
        ----------
        path : str or path
            The folder.
        order : {"canonical", "shuffled"}
            The same disclosure gives the same bytes in canonical order.
        rng : numpy.random.Generator, optional
            For order="shuffled"; by default the operating system seeds one.
        weights : str, optional
            Write each distinct row once, with how many people it stands for in a column of this name.
        parquet : bool
            Write ``table.parquet`` as well, and its sha256 into the certificate. Needs pyarrow.
        overwrite : bool
            Replace a folder that is there, with all that is in it. Only one that holds nothing but a
            certificate and its files is ever replaced.

        Raises
        ------
        FileExistsError
            If there is something already, other than an empty folder.
        ValueError
            If a template does not hold, a column cannot be written, or there are more than 10^8 people and
            no `weights`.
        OSError
            If a file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import nbcfast
        >>> from nbcfast.templates import Template, disclose
        >>> table = nbcfast.Table({"job": ["cook", "clerk"] * 2, "ill": ["no", "yes", "no", "no"]})
        >>> found = disclose(table, [Template(["job"], ("ill", "yes"), "1/3")], utility="distortion")
        >>> with TemporaryDirectory() as folder:
        ...     found.save(folder)
        ...     nbcfast.verify(folder).ok
        True
        """
        parts = parts_of(self, order=order, rng=rng, weights=weights, parquet=parquet)
        self._write(path, parts, overwrite)


def _disclosure(
    table: Table,
    templates: tuple[Template, ...],
    confidences: dict[Template, Fraction],
    masked: tuple[str, ...],
    target: str | None,
    utility: str,
    steps: tuple[Step, ...],
    suppressed: dict[str, tuple[Value, ...]] | None,
    intervals: dict[str, tuple[Interval, ...]],
    reasons: dict[str, dict[Value, Reason | None]] | None,
    complete: bool,
    peak_bytes: int | None,
) -> Disclosure:
    return Disclosure(
        table,
        templates,
        MappingProxyType(confidences),
        masked,
        target,
        utility,
        steps,
        None if suppressed is None else MappingProxyType(suppressed),
        MappingProxyType(intervals),
        None if reasons is None else frozen_reasons(reasons),
        complete,
        peak_bytes,
    )


def frozen_reasons(
    reasons: dict[str, dict[Value, Reason | None]],
) -> Mapping[str, Mapping[Value, Reason | None]]:
    return MappingProxyType({name: MappingProxyType(why) for name, why in reasons.items()})
