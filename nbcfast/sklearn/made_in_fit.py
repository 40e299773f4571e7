"""From encoded columns to a release, as `nbcfast.publish` makes one: of private counts nothing else stays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import NoColumnError
from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.spelling import listed
from nbcfast._core.validation import choice
from nbcfast._rounding.rows import RowsArgument
from nbcfast.domains import Declarations, Declared, Menu, declared
from nbcfast.published.placing import Placing
from nbcfast.published.release import Release
from nbcfast.publishing.demand import Demand
from nbcfast.publishing.inputs import AsGiven, Caller
from nbcfast.publishing.noise_asked import REASONS, NoiseAsked, expect_alone
from nbcfast.publishing.noisy_prepared import read_for_noise
from nbcfast.publishing.prepared import prepare
from nbcfast.safety.demanded import demanded
from nbcfast.sklearn.column_bins import in_quantile_bins
from nbcfast.sklearn.words_of_estimators import PARAMETER_WORDS
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, recode
from nbcfast.table.table import Table

AnyMenu = Menu | Mapping[str, object] | str | os.PathLike[str]

METHODS = ("auto", "canonical", "safetytransform")


@dataclass(frozen=True, kw_only=True)
class ReleaseAsked:
    """The parameters of an estimator that say which release it makes, as they were given."""

    amplification: Numeral
    method: Literal["auto", "canonical", "safetytransform"]
    preserve: Preserve
    attacker: Attacker
    domain: Declarations | None
    menu: AnyMenu | None
    bins: int | None
    precedence: Sequence[object] | None
    rows: RowsArgument
    alpha: Numeral
    dp_epsilon: Numeral | None
    class_name: str
    threads: int | None

    @property
    def demand(self) -> Demand:
        """What the library is asked for; ValueError or TypeError where a parameter is not as described."""
        if self.amplification is None:  # of which nothing but a pair of probabilities could take the place
            raise TypeError("amplification must be a number above 1, got None")
        choice(self.method, METHODS, "method")
        choice(self.preserve, ("order", "label"), "preserve")
        return Demand(
            amplification=demanded(self.amplification, None, self.attacker),
            attacker=self.attacker,
            method=None if self.method == "auto" else self.method,
            preserve=self.preserve,
            alpha=None if exact(self.alpha, "alpha") == 0 else self.alpha,
            rows=self.rows,
            words=PARAMETER_WORDS,
        )

    def release(
        self,
        columns: Mapping[str, Column],
        labels: Column,
        weights: Longs | None,
        as_they_are: Collection[str],
        stacklevel: int,
        called: object,
    ) -> Release:
        """What leaves, of the private rows.

        Parameters
        ----------
        columns : mapping of name -> Column
            The features.
        labels : Column
            The classes.
        weights : ndarray of int64 or None
            How often each row counts; rows that count 0 times are none.
        as_they_are : collection of str
            Columns whose values stay as they are though they are floats.
        stacklevel : int
            Of warnings, counted from here.
        called : object
            What the caller's y is called, where it has a name.
        """
        if not isinstance(self.class_name, str):
            raise TypeError(f"class_name must be a text, got {self.class_name!r}")
        if self.class_name in columns:
            raise ValueError(f"class_name must be the name of no column of X, got {self.class_name!r}")
        demand, given = self.demand, None if self.domain is None else declared(self.domain, PARAMETER_WORDS)
        if given is not None and isinstance(called, str) and called in {*given.names} - {*columns}:
            self._expect_called(called, "domain")
        table = Table.from_columns({**columns, self.class_name: labels}, None, len(labels.codes))
        if weights is not None:
            table = counted(table, weights)
        if self.precedence is not None:
            table = self._with_precedence(table, given)
        if self.menu is None and self.dp_epsilon is None:
            said = () if given is None else given.names
            names = {*columns} - {*said, *as_they_are}
            table = in_quantile_bins(table, names, self.bins, PARAMETER_WORDS, stacklevel + 1)
        caller = Caller(words=PARAMETER_WORDS, reads=AsGiven(), threads=self.threads)
        if self.dp_epsilon is not None:
            return self._noisy(table, demand, caller, given)
        try:
            return prepare(
                table, self.class_name, demand, caller, domains=given, menu=self.menu, remarks=False
            ).release()
        except NoColumnError as error:
            if error.name == called:
                self._expect_called(error.name, "menu")
            raise

    def _noisy(self, table: Table, demand: Demand, caller: Caller, given: Declared | None) -> Release:
        """What leaves, of counts with noise."""
        expect_alone([("menu", self.menu is not None, REASONS["menu"])], PARAMETER_WORDS)
        assert self.dp_epsilon is not None
        noise = NoiseAsked(epsilon=self.dp_epsilon, words=PARAMETER_WORDS)
        return read_for_noise(table, self.class_name, demand, noise, caller, domains=given).drawn().release()

    def _expect_called(self, name: object, where: str) -> None:
        """ValueError where classes were declared by the name of y, and are to have another."""
        if name != self.class_name:
            raise ValueError(
                f"{where} declares {name!r}, as y is called, and class_name is {self.class_name!r}: give "
                f"class_name={name!r}"
            ) from None

    def _with_precedence(self, table: Table, given: Declared | None) -> Table:
        """The table with its classes in the order that is asked for, which declares them."""
        assert self.precedence is not None
        name = self.class_name
        if given is not None and name in given.names:
            raise ValueError(
                f"precedence goes without values of {name!r} in {PARAMETER_WORDS.named('domains')}, which "
                "say the order of classes"
            )
        order = Domain.of(self.precedence, where="precedence", in_order=False)
        column = table.column(name)
        places = column.domain.positions_in(order)
        if (places < 0).any():
            missing = column.domain.values[int(np.flatnonzero(places < 0)[0])]
            raise ValueError(f"precedence must name every class, lowest first: {missing!r} is missing")
        columns = {each: table.column(each) for each in table.names}
        columns[name] = Column(recode(column.codes, places, len(order)), order)
        return Table.from_columns(columns, table.weights, table.n_rows)


def counted(table: Table, weights: Longs) -> Table:
    """The rows that count, each as often as it does."""
    some = weights > 0
    table, weights = table.take(some), weights[some]
    return table if (weights == 1).all() else Table(table, weights=weights)


def declarations_of(
    domain: Declarations | None,
    menu: AnyMenu | None,
    release: Release,
) -> Declared | None:
    """What a release was published with, for raw values of its sets and of bins that have names."""
    if domain is not None:
        return declared(domain, PARAMETER_WORDS)
    advice = release.certificate.advice
    if menu is None or advice is None:
        return None
    offered = menu if isinstance(menu, Menu) else Menu.read(menu, release.class_name, PARAMETER_WORDS)
    if offered.digest != advice.menu:
        raise ValueError("menu must be the one that the release was chosen from, got another")
    return offered.chosen(advice.chosen)


def warn_of_left_out(columns: Mapping[str, Column], placings: Mapping[str, Placing], stacklevel: int) -> None:
    """Warn of columns of several values of which the release knows none: they say nothing in any row.

    Of one value that is not known nothing is said: ``unseen="ignore"`` was asked for just that.
    """
    left_out = []
    for name, column in columns.items():
        raw = column.domain
        n_values = len(raw.head)
        if n_values > 1 and (placings[name].places(raw)[:n_values] < 0).all():
            left_out.append(name)
    if not left_out:
        return
    hint = ""
    if any(placings[name].option is None and placings[name].domain.kind == "text" for name in left_out):
        hint = (
            ". It may have been made with sets of values, or bins that have names, and what is in them is "
            f"not in its certificate: give {PARAMETER_WORDS.as_published()}"
        )
    one, is_left = ("column", "it is") if len(left_out) == 1 else ("columns", "they are")
    first = columns[left_out[0]].domain.head[0]
    warnings.warn(
        f"{one} {listed(left_out)}: the release knows none of the values, such as {first!r}, and so "
        f"{is_left} left out of every row{hint}",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
