"""`Advice`: the domain that was chosen, what stood beside it, and what the choice itself tells."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from nbcfast._core.files import written
from nbcfast._core.untyped import Document
from nbcfast._markup.charts import Dot, dots
from nbcfast._markup.elements import Element
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, facts
from nbcfast.canonical.advice.picture import FrontPoint, front_svg
from nbcfast.canonical.limits_of_answers import BROKEN, Limits
from nbcfast.domains import Declared, Menu
from nbcfast.domains.json_files import lines_of
from nbcfast.published.advised import Advised, ChoiceLimits
from nbcfast.table.values import Value


@dataclass(frozen=True, kw_only=True)
class DomainChoice:
    """One option for each attribute of a menu: what its classifier is worth, and what its answers give away.

    Measured on the rows that the choice was made on: for the eyes of their owner alone. What was not
    measured, because the domain is too large for it, is None.

    Attributes
    ----------
    choice : tuple of int
        The places of the options, attribute by attribute in the order of the menu.
    by_column : str or None
        The column of which each value has a classifier of its own; None of one classifier for all.
    sizes : dict of name -> int
        How many values each attribute keeps; those that are left out are not in it.
    tuples : int
        Kinds of people that the domain tells apart.
    correct : int
        People who are answered right.
    accuracy : float
        Their share.
    log_loss : float
        Mean of -ln of the posterior of the true class; infinite where that is 0.
    bits : float or None
        Bits a weight.
    found, cells : int or None
        Counts that public totals and the answers give back, and all there are.
    flip, trace : float or None
        The shares of people whose class can be exchanged, and who can be left out, without any answer
        changing.
    one_class : int
        Values with people of one class only.
    broken : tuple of str
        Limits that are not kept, by their names.
    """

    choice: tuple[int, ...]
    sizes: Mapping[str, int]
    tuples: int
    correct: int
    accuracy: float
    log_loss: float
    bits: float | None
    found: int | None
    cells: int | None
    flip: float | None
    trace: float | None
    one_class: int
    broken: tuple[str, ...]
    by_column: str | None = None

    @property
    def keeps(self) -> bool:
        """Whether every limit was measured and is kept."""
        return not self.broken and self.flip is not None

    def to_dict(self) -> Document:
        """Plain values; None for what is infinite or was not measured."""
        return {
            "choice": list(self.choice),
            "by_column": self.by_column,
            "sizes": dict(self.sizes),
            "tuples": self.tuples,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss if math.isfinite(self.log_loss) else None,
            "bits": self.bits,
            "found": self.found,
            "cells": self.cells,
            "flip": self.flip,
            "trace": self.trace,
            "one_class": self.one_class,
            "broken": list(self.broken),
        }

    def __repr__(self) -> str:
        kept = " x ".join(map(str, self.sizes.values()))
        bits = "bits not measured" if self.bits is None else f"{self.bits:.2f} bits a weight"
        found = "" if self.found is None else f", {self.found} of {self.cells} counts found"
        broken = f", breaks {', '.join(self.broken)}" if self.broken else ""
        by = "" if self.by_column is None else f" by {self.by_column}"
        worth = f"{self.tuples:,} tuples{by}; accuracy {self.accuracy:.4f}"
        return f"DomainChoice({kept} = {worth}; {bits}{found}{broken})"


class MostFrequent(NamedTuple):
    """The class that most people have, and how many have it.

    Attributes
    ----------
    label : value
    people : int
    """

    label: Value
    people: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """A domain to publish on, chosen from a menu.

    Only `document` may leave, and it does, with the release; all else is measured on private rows. Where the
    menu has options that were taken from the rows, the document says which columns have them, and a release
    says that their values were not declared.

    Attributes
    ----------
    best : DomainChoice
        The first, from the most accurate down, that keeps the limits; by votes, what the votes chose.
    front : tuple of DomainChoice
        From many bits to few: `best`, what is more accurate and breaks a limit, what is less accurate and has
        fewer bits.
    here : DomainChoice or None
        `best` measured on the private rows, where the choice was made on others.
    menu : Menu
    class_name : str
    limits : Limits
    by : {"correct", "log-loss", "votes"}
    folds : int
        Parts in which rows were held out; 0 where none were.
    rows : {"private", "other"}
        Which rows the choice was made on.
    exhaustive : bool
        Whether `best` is the best of the whole menu: every choice was tried, but for those with an option
        that breaks a limit by itself. Else it is the best that was found.
    looked_at : int
        How many choices were looked at until one kept the limits.
    beside : tuple of str
        Columns of the table that the menu does not name, and that are left out.
    strata : tuple of str
        Columns that might have had a classifier for each of their values.
    lacking : tuple of str
        Of options of such columns with which that was not tried, why.
    epsilon : Fraction or None
        Of the choice, by votes.
    blocks : int or None
        Of rows, by votes.
    frequent : MostFrequent or None
        Of the rows that the choice was made on: whoever always says it is right for so many.
    """

    best: DomainChoice
    front: tuple[DomainChoice, ...]
    here: DomainChoice | None
    menu: Menu
    class_name: str
    limits: Limits
    by: Literal["correct", "log-loss", "votes"]
    folds: int
    rows: Literal["private", "other"]
    exhaustive: bool
    looked_at: int
    beside: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    epsilon: Fraction | None = None
    blocks: int | None = None
    frequent: MostFrequent | None = None

    @property
    def is_worthless(self) -> bool:
        """Whether the best is right no more often than always saying the most frequent class."""
        return self.frequent is not None and self.best.correct <= self.frequent.people

    @property
    def declared(self) -> Declared:
        """The domain that was chosen, with the columns whose options were taken from rows."""
        return self.menu.chosen(self.best.choice, self.beside)

    @property
    def by_column(self) -> str | None:
        """The column of which each value has a classifier of its own, for ``publish(.., by=)``; or None."""
        return self.best.by_column

    @property
    def domain(self) -> Document:
        """The same as plain values: a domain file that says nothing of the choice."""
        return self.declared.document

    @property
    def n_choices(self) -> int:
        """How many domains the menu has; with strata, each for one classifier or by one of the columns."""
        return self.menu.n_choices * (1 + len(self.strata))

    @property
    def fixed_in_advance(self) -> bool:
        """Whether no option of the menu was taken from rows: whoever wrote it says that he did not look."""
        return not self.menu.undeclared

    @property
    def bits_at_most(self) -> str | None:
        """What the choice tells beside the answers: log2 of the number of choices, rounded up.

        None where the menu was not fixed in advance: the menu itself tells of the rows then.
        """
        return None if self.advised is None else self.advised.bits_at_most

    @property
    def advised(self) -> Advised | None:
        """What a certificate says of the choice; None where the menu was not fixed in advance.

        Its bound on what the choice tells holds for such menus alone.
        """
        if not self.fixed_in_advance:
            return None
        by_votes = self.by == "votes"
        limits = {} if by_votes else self.limits.to_dict()
        return Advised(
            menu=self.menu.digest,
            options=self.menu.n_choices,
            chosen=self.best.choice,
            by=self.by,
            limits=ChoiceLimits(**limits),
            rows=self.rows,
            exhaustive=self.exhaustive,
            epsilon=self.epsilon,
            blocks=self.blocks,
            strata=self.strata,
            by_column=self.by_column,
        )

    @property
    def document(self) -> Document:
        """The domain file: what `domains=` of `publish` takes, with the choice for the certificate.

        Where the menu was not fixed in advance there is no choice to certify, and in its place the names of
        the columns whose options were taken from the rows: what is published says so.
        """
        found = self.declared
        if self.advised is None:
            return {"domain": found.entries, "from_rows": list(found.from_rows)}
        return {"domain": found.entries, "advice": self.advised.to_json()}

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the domain file.

        Parameters
        ----------
        path : str or PathLike
            The file to write.
        overwrite : bool
            Whether a file that is there is replaced.

        Raises
        ------
        FileExistsError
            If there is a file, and nobody asked to overwrite it.
        """
        with written(path, overwrite=overwrite) as file:
            file.write(self.text().encode("utf-8"))

    def text(self) -> str:
        """What the domain file holds."""
        return lines_of(self.document)

    def to_dict(self) -> Document:
        """Plain values for JSON; None for what is infinite or was not measured."""
        return {
            "best": self.best.to_dict(),
            "front": [choice.to_dict() for choice in self.front],
            "here": None if self.here is None else self.here.to_dict(),
            "limits": self.limits.to_dict(),
            "folds": self.folds,
            "looked_at": self.looked_at,
            "options": self.n_choices,
            "exhaustive": self.exhaustive,
            "domain": self.declared.entries,
            "from_rows": list(self.declared.from_rows),
            "advice": None if self.advised is None else self.advised.to_json(),
            "lacking": list(self.lacking),
        }

    def svg(self) -> str:
        """The front as a picture: accuracy against bits a weight."""
        points = [_point(choice) for choice in self.front if choice.bits is not None]
        # What was not measured has no place in the picture.
        chosen = None if self.best.bits is None else _point(self.best)
        return front_svg(points, chosen, self.limits)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        own = self.best if self.here is None else self.here
        state: State = "kept" if own.keeps else "shows" if own.broken else "unmeasured"
        how = "the best domain" if self.exhaustive else "the best domain found"
        if self.by == "votes":
            how = "the domain drawn by votes"
        verdict = f"{how} {'keeps every limit' if own.keeps else 'does not keep every limit'}"
        if not own.keeps:
            verdict = f"DO NOT PUBLISH ON IT YET: {verdict} on your rows"
        broken = [("limits broken", ", ".join(BROKEN[name] for name in own.broken))] if own.broken else []
        rows = [
            ("domain", ", ".join(f"{name} {size:,}" for name, size in self.best.sizes.items())),
            ("kinds of people", f"{self.best.tuples:,}"),
            ("answered right", f"{self.best.accuracy:.2%}"),
            ("bits a weight", "not measured" if own.bits is None else f"{own.bits:.2f}"),
            ("counts that come back", "not measured" if own.found is None else f"{own.found} of {own.cells}"),
            *broken,
        ]
        return result(state, verdict, facts(rows), self._front(), private=True)

    def _front(self) -> Element | None:
        """The front as a picture, of what was measured."""
        points = [
            Dot(choice.bits, choice.accuracy, choice == self.best, repr(choice))
            for choice in self.front
            if choice.bits is not None
        ]
        if not points:
            return None
        label = f"accuracy against bits a weight of {len(points):,} domains"
        return dots(points, "bits a weight", "accuracy", label, self.limits.max_bits)

    def __repr__(self) -> str:
        tried = "best of" if self.exhaustive else "best found of"
        bits = "a menu of the rows" if self.bits_at_most is None else f"{self.bits_at_most} bits at most"
        return f"Advice({self.best!r}; {tried} {self.n_choices:,} domains, {bits})"


def _point(choice: DomainChoice) -> FrontPoint:
    return FrontPoint(
        choice.tuples,
        choice.bits or 0.0,
        choice.found or 0,
        choice.cells or 0,
        choice.flip or 0.0,
        choice.trace or 0.0,
        choice.one_class,
        choice.accuracy,
        choice.log_loss,
        choice.keeps,
    )
