"""What releases with noise cost together: exact sums of epsilon, of delta and of rho."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from nbcfast._core.untyped import Document
from nbcfast._core.validation import whole
from nbcfast._wire.json_entries import Refused, rational
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.published.typed import json_rational

FIELDS = ("delta", "epsilon", "mechanism", "neighbours", "rho", "rows_per_person")


class AnyNoise(Protocol):
    """What is known of the noise in counts."""

    @property
    def mechanism(self) -> str: ...
    @property
    def epsilon(self) -> Fraction | None: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def rho(self) -> Fraction | None: ...
    @property
    def neighbours(self) -> str: ...
    @property
    def rows_per_person(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class NoiseLine:
    """What a line keeps of the noise of its release.

    Attributes
    ----------
    mechanism : str
    epsilon : Fraction or None
        What was asked for, with `delta`; None where rho alone was.
    delta : Fraction
    rho : Fraction or None
        Of Gaussian noise.
    neighbours : {"add-remove", "replace"}
    rows_per_person : int
    """

    mechanism: str
    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    neighbours: str
    rows_per_person: int

    @classmethod
    def of(cls, noise: AnyNoise) -> NoiseLine:
        """The same, as a line keeps it; ValueError or TypeError if it is no noise."""
        try:
            fields = {name: getattr(noise, name) for name in FIELDS}
        except AttributeError as error:
            raise TypeError(f"noise must have {', '.join(FIELDS)}: {error}") from None
        return cls.checked(fields)

    @classmethod
    def checked(cls, fields: Document) -> NoiseLine:
        """One of these fields; ValueError or TypeError if they are none."""
        for name in ("epsilon", "delta", "rho"):
            number = fields[name]
            absent = number is None and name != "delta"
            if not absent and (not isinstance(number, int | Fraction) or isinstance(number, bool)):
                raise TypeError(f"noise: {name} must be a Fraction, got {number!r}")
            if not absent and (number < 0 or (name != "delta" and number == 0)):
                raise ValueError(f"noise: {name} must be above 0, got {number}")
        if fields["epsilon"] is None and fields["rho"] is None:
            raise ValueError("noise must have an epsilon or a rho, got neither")
        if not isinstance(fields["mechanism"], str) or not fields["mechanism"]:
            raise TypeError(f"noise: mechanism must be a text, got {fields['mechanism']!r}")
        if fields["neighbours"] not in ("add-remove", "replace"):
            raise ValueError(f"noise: neighbours must be add-remove or replace, got {fields['neighbours']!r}")
        whole(fields["rows_per_person"], "noise: rows_per_person", 1)
        return cls(**{name: fields[name] for name in FIELDS})

    @classmethod
    def of_json(cls, entry: object) -> NoiseLine:
        """What a line says; Refused if it says something else."""
        if not isinstance(entry, dict) or sorted(entry) != sorted(FIELDS):
            raise Refused(f"noise: expected {', '.join(FIELDS)}")
        numbers = {
            name: None if entry[name] is None else rational(entry[name], f"noise: {name}")
            for name in ("epsilon", "delta", "rho")
        }
        try:
            return cls.checked({**entry, **numbers})
        except (TypeError, ValueError) as error:
            raise Refused(str(error)) from None

    def to_dict(self) -> Document:
        """As a line has it."""
        numbers = {name: getattr(self, name) for name in ("epsilon", "delta", "rho")}
        return {
            **{name: None if number is None else json_rational(number) for name, number in numbers.items()},
            "mechanism": self.mechanism,
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
        }

    @property
    def text(self) -> str:
        """What it costs, for people."""
        named = (("epsilon", self.epsilon), ("delta", self.delta or None), ("rho", self.rho))
        return printable(", ".join(f"{name} {fraction_text(one)}" for name, one in named if one is not None))


class VotedChoice(NamedTuple):
    """A domain that the private rows have voted for, beside noise: what that cost is in no noise.

    Attributes
    ----------
    sha256 : str
        Of what certificates say of the choice.
    epsilon : Fraction
        Of one row that is added or removed.
    """

    sha256: str
    epsilon: Fraction

    def for_one_of(self, noise: NoiseLine) -> Fraction:
        """Its epsilon for the neighbours of this noise: to replace a row is to remove one and to add one."""
        rows = noise.rows_per_person * (2 if noise.neighbours == "replace" else 1)
        return rows * self.epsilon


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What releases with noise cost together, against one kind of neighbours.

    Attributes
    ----------
    neighbours : {"add-remove", "replace"}
    rows_per_person : int
        So many rows a person has at most, in each table that a release was made of.
    releases : int
    epsilon, delta : Fraction or None
        Their sums, exact, where all were asked for by epsilon: releases together are
        (epsilon, delta)-differentially private. None where one was asked for by rho alone.
    rho : Fraction or None
        The exact sum of rho, where noise without one counts with epsilon^2 / 2: releases together have
        zero-concentrated privacy rho. None where that is not implied.
    choices : int
        How many choices of a domain by votes are in these sums. One that several releases name is one: nobody
        sees of a vote that was cast again, with the same outcome, that it was.
    """

    neighbours: str
    rows_per_person: int
    releases: int
    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    choices: int = 0

    @property
    def text(self) -> str:
        """For people, in one line."""
        parts = []
        if self.epsilon is not None:
            parts.append(f"epsilon {fraction_text(self.epsilon)}")
            parts.append(f"delta {fraction_text(self.delta or Fraction(0))}")
        if self.rho is not None:
            parts.append(f"rho {fraction_text(self.rho)}")
        what = "1 release" if self.releases == 1 else f"{self.releases:,} releases"
        what += " with noise"
        if self.choices:
            votes = "1 choice" if self.choices == 1 else f"{self.choices:,} choices"
            what += f" and {votes} of the domain by votes"
        rows = "one row" if self.rows_per_person == 1 else f"{self.rows_per_person:,} rows"
        apart = "adding or removing" if self.neighbours == "add-remove" else "replacing"
        return f"{what}, for {apart} a person with {rows}: {', '.join(parts) or 'no sum'}"

    def to_dict(self) -> Document:
        """Plain values: rationals as text."""
        return {
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
            "releases": self.releases,
            "choices": self.choices,
            **{
                name: None if getattr(self, name) is None else json_rational(getattr(self, name))
                for name in ("epsilon", "delta", "rho")
            },
        }


def spent(releases: Iterable[tuple[NoiseLine, VotedChoice | None]]) -> tuple[Spent, ...]:
    """The sums over releases, those for different neighbours apart: they do not add up.

    Examples
    --------
    >>> one = NoiseLine(mechanism="discrete laplace", epsilon=Fraction(1, 3), delta=Fraction(0), rho=None,
    ...                 neighbours="add-remove", rows_per_person=1)
    >>> total, = spent([(one, None), (one, None)])
    >>> total.epsilon, total.rho
    (Fraction(2, 3), Fraction(1, 9))
    """
    groups: dict[tuple[str, int], list[NoiseLine]] = {}
    choices: dict[tuple[str, int], dict[VotedChoice, Fraction]] = {}
    for noise, choice in releases:
        key = noise.neighbours, noise.rows_per_person
        groups.setdefault(key, []).append(noise)
        if choice is not None:
            choices.setdefault(key, {})[choice] = choice.for_one_of(noise)
    totals = []
    for (neighbours, rows), group in sorted(groups.items()):
        votes = [*choices.get((neighbours, rows), {}).values()]
        totals.append(
            Spent(
                neighbours=neighbours,
                rows_per_person=rows,
                releases=len(group),
                epsilon=_sum([*(noise.epsilon for noise in group), *votes]),
                delta=None
                if any(noise.epsilon is None for noise in group)
                else _sum([noise.delta for noise in group]),
                rho=_sum([*(_rho(noise) for noise in group), *(epsilon**2 / 2 for epsilon in votes)]),
                choices=len(votes),
            )
        )
    return tuple(totals)


def _sum(numbers: list[Fraction | None]) -> Fraction | None:
    present = [number for number in numbers if number is not None]
    return sum(present, Fraction(0)) if len(present) == len(numbers) else None


def _rho(noise: NoiseLine) -> Fraction | None:
    """Pure epsilon-differential privacy has rho = epsilon^2 / 2 (Bun and Steinke 2016, proposition 1.4)."""
    if noise.rho is not None:
        return noise.rho
    return noise.epsilon**2 / 2 if noise.epsilon is not None and not noise.delta else None


def fraction_text(number: Fraction) -> str:
    """A rational for people: exact, in decimals where these end, and else as a quotient."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 200:
        return f"about {float(number):.6g}"
    return decimal_text(number)


def sums_text(totals: Sequence[Spent], without_noise: int) -> list[str]:
    """The sums for people, and which releases of a ledger none of them is over."""
    said = [f"Together: {one.text}." for one in totals]
    if len(totals) > 1:
        said.append("These sums are for different changes of a table: none of them bounds all releases.")
    if totals and without_noise:
        releases = "1 release has" if without_noise == 1 else f"{without_noise:,} releases have"
        said.append(
            f"{releases} no noise, and no part in these sums: no epsilon bounds what all releases together "
            "tell of anybody."
        )
    return said
