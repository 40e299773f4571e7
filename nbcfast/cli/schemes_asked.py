"""The schemes of randomised response that options ask for, and what is said of how well they hide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import response
from nbcfast._core.chances import epsilon_text
from nbcfast._core.numbers import exact_share
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text
from nbcfast.cli.asked_again import asked
from nbcfast.cli.parsing import groups_in
from nbcfast.cli.printing import listing
from nbcfast.cli.reading import Reading
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.schemes import AnyScheme

HIDING = "80%"  # of truth, which a coin may tell


@dataclass(frozen=True)
class AskedScheme:
    """How options say that answers are disguised: by a file, or by coins and the columns under each.

    Parameters
    ----------
    theta, groups : str or None
        --theta and --groups, as they are typed.
    each : bool
        --each: a coin for each column.
    file : Path or None
        --scheme, in place of the others.
    kary : bool or None
        --k-ary; None where there is no such option.
    lie : {"each", "tuple"}
        --lie, which goes with it.
    """

    theta: str | None
    groups: str | None
    each: bool
    file: Path | None
    kary: bool | None = None
    lie: Literal["each", "tuple"] = "each"

    def scheme(self) -> AnyScheme:
        """The scheme of the file, or that of coins for columns of two values."""
        if self.file is None:
            return Scheme(*self._coins())
        if self.theta is not None or self.groups is not None or self.each or self.kary:
            others = "--groups and --each" if self.kary is None else "--groups, --each and --k-ary"
            raise ValueError(f"--scheme takes the place of --theta, {others}")
        return response.load_scheme(self.file)

    def known(self) -> AnyScheme | None:
        """The scheme; None for a k-ary one, which takes the domains of its columns from their table."""
        scheme = None if self.kary and self.file is None else self.scheme()
        if self.lie == "tuple" and not self.kary:
            raise ValueError("--lie tuple goes with --k-ary")
        return scheme

    def kary_of(self, table: nbcfast.Table) -> KaryScheme:
        """The k-ary scheme of columns with the domains that they have in a table."""
        theta, columns = self._coins()
        domains = {name: table.domain(name) for group in columns for name in group}
        return KaryScheme(theta, domains, groups=columns, lie=self.lie)

    def columns(self, known: AnyScheme | None) -> list[str]:
        """The columns that are disguised; `known` is the scheme as far as it is known."""
        if self.file is not None and known is not None:
            return list(known.columns)
        return [name for group in self._coins()[1] for name in group]

    def _coins(self) -> tuple[str | list[str], list[list[str]]]:
        """One theta, or one a group, and the groups of columns."""
        if self.theta is None or self.groups is None:
            raise ValueError("expected --theta and --groups, or --scheme FILE")
        columns = groups_in(self.groups, self.each)
        thetas = [number.strip(" ") for number in self.theta.split(",")]
        return (self.theta if len(thetas) == 1 else thetas), columns


def like_scheme(
    reading: Reading, file: Path, scheme: AnyScheme | None, names: Sequence[str] | None = None
) -> Reading:
    """How a file of answers is read: its columns (of these names) are text where they are in the scheme."""
    if scheme is None:
        return reading
    domains = {
        name: domain.values for name, domain in scheme.domains.items() if names is None or name in names
    }
    return reading.like(file, domains)


def privacy_grid(scheme: AnyScheme) -> Grid:
    grid = listing("columns under one coin", "theta", "epsilon")
    for group, hidden in zip(scheme.groups, scheme.privacy().groups, strict=True):
        epsilon = epsilon_text(hidden.epsilon) if hidden.is_ldp else "unbounded"
        names = ", ".join(label(name) for name in group.columns)
        grid.add_row(Text(names), decimal_text(group.theta), epsilon)
    return grid


def privacy_lines(scheme: AnyScheme) -> list[tuple[str, str]]:
    """In words, what the numbers do not say."""
    lines = [
        (", ".join(label(name) for name in hidden.columns), hidden.text)
        for hidden in scheme.privacy().groups
        if not hidden.is_ldp
    ]
    whole = scheme.privacy()
    if whole.odds is None:
        return [*lines, ("all together", "not epsilon-LDP for any epsilon")]
    return [*lines, ("all together", f"epsilon = {epsilon_text(whole.epsilon)}")]


def privacy_document(scheme: AnyScheme) -> Document:
    """How well a scheme hides, for JSON, which has no infinity."""
    privacy = scheme.privacy().to_dict()
    for part in (privacy, *privacy["groups"]):
        if math.isinf(part["epsilon"]):
            part["epsilon"] = None
    return privacy


def other_coins(theta: str | None) -> list[Decision]:
    """The command with coins that hide something, in place of those that always or never tell the truth."""
    if theta is None:
        return []
    typed = [number.strip(" ") for number in theta.split(",")]
    coins = [HIDING if exact_share(number, "--theta") in (0, 1) else number for number in typed]
    command = asked(click.get_current_context(), instead={"theta": [",".join(coins)]})
    question = f"Throw a coin that may fall either way, of {HIDING} truth or another share."
    return [Decision(question, (command,))]
