"""What a release says of noise: the mechanism, its numbers, and their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.chosen_numbers import chosen, demanded
from nbcfast._wire.concentrated import epsilon_above, rho_below
from nbcfast._wire.json_entries import Refused, shown
from nbcfast._wire.messages import decimal_text, short

if TYPE_CHECKING:
    from fractions import Fraction

    from nbcfast._wire.json_entries import Fields

LAPLACE, GAUSSIAN = "discrete laplace", "discrete gaussian"
MECHANISMS = (LAPLACE, GAUSSIAN)
NEIGHBOURS = ("add-remove", "replace")
PRIVACY_FIELDS = {
    "attributes",
    "delta",
    "domains",
    "epsilon",
    "mechanism",
    "neighbours",
    "rows_per_person",
    "sensitivity",
}
MOST_ROWS_OF_A_PERSON = 10**9
WEAK_EPSILON = 10


class NoiseEntry:
    """The entry "privacy" of a release, of checked form.

    Attributes
    ----------
    mechanism : {"discrete laplace", "discrete gaussian"}
    epsilon, delta : Fraction or None
        Neither where the Gaussian was asked for by rho alone; delta is 0 of the Laplace.
    rho : Fraction or None
        Of zero-concentrated differential privacy, with the Gaussian.
    neighbours : {"add-remove", "replace"}
    rows_per_person : int
    attributes : int
        Of which there is a table of counts each.
    """

    def __init__(self, entry: object) -> None:
        where = "field 'privacy'"
        if type(entry) is not dict:
            raise Refused(f"{where}: expected an object, got {shown(entry)}")
        expected = PRIVACY_FIELDS | ({"rho"} if entry.get("mechanism") == GAUSSIAN else set())
        if set(entry) != expected:
            raise Refused(f"{where}: expected {', '.join(sorted(expected))}; got {shown(entry)}")
        self.mechanism: str = _among(entry["mechanism"], MECHANISMS, f"{where}, mechanism")
        self.neighbours: str = _among(entry["neighbours"], NEIGHBOURS, f"{where}, neighbours")
        _among(entry["domains"], ("declared",), f"{where}, domains")
        self.rows_per_person = demanded(entry["rows_per_person"], f"{where}, rows_per_person")
        if not 1 <= self.rows_per_person <= MOST_ROWS_OF_A_PERSON:
            raise Refused(f"{where}, rows_per_person: expected 1 to 10^9, got {short(self.rows_per_person)}")
        self.attributes = demanded(entry["attributes"], f"{where}, attributes")
        self.epsilon: Fraction | None = None
        self.delta: Fraction | None = None
        self.rho: Fraction | None = None
        self._numbers(entry, where)
        moved = sensitivity_text(self.mechanism, self.neighbours, self.rows_per_person)
        if entry["sensitivity"] != moved:
            raise Refused(
                f"{where}: expected sensitivity {moved!r} of {self.mechanism} noise with "
                f"neighbours {self.neighbours!r} and {self.rows_per_person:,} rows a person, got "
                f"{shown(entry['sensitivity'])}"
            )

    def _numbers(self, entry: Fields, where: str) -> None:
        """Epsilon, delta and rho, of which one follows from the others where there are three."""
        if self.mechanism == GAUSSIAN:
            self.rho = _above_0(entry["rho"], f"{where}, rho")
            if entry["epsilon"] is None and entry["delta"] is None:
                return
        self.epsilon = _above_0(entry["epsilon"], f"{where}, epsilon")
        self.delta = chosen(entry["delta"], f"{where}, delta")
        if self.rho is None:
            if self.delta:
                raise Refused(f"{where}, delta: expected 0/1 of {LAPLACE} noise, got {shown(entry['delta'])}")
            return
        if not 0 < self.delta < 1:
            raise Refused(f"{where}, delta: expected a number between 0 and 1, got {shown(entry['delta'])}")
        # Whichever was asked for, the other follows; both bounds are rounded alike by every maker.
        if self.rho == rho_below(self.epsilon, self.delta):
            return
        if self.epsilon == epsilon_above(self.rho, self.delta):
            return
        raise Refused(
            f"{where}: expected epsilon and rho of which one follows from the other at delta "
            f"{shown(entry['delta'])}, got {shown(entry['epsilon'])} and {shown(entry['rho'])}"
        )

    @property
    def changes(self) -> int:
        """How many rows come and go with a person: to replace one is to remove one and to add one."""
        return self.rows_per_person * (2 if self.neighbours == "replace" else 1)


def sensitivity_text(mechanism: str, neighbours: str, rows_per_person: int) -> str:
    """How far one person moves all counts together: in L1, and of the Gaussian in L2.

    A row is one of the class counts and one of each of n tables; one in its place changes twice as many
    counts by 1. Rows of a person may be alike, which multiplies both lengths.
    """
    of_row = 2 if neighbours == "replace" else 1
    times = of_row * (rows_per_person if mechanism == LAPLACE else rows_per_person**2)
    text = "n+1" if times == 1 else f"{times}(n+1)"
    return text if mechanism == LAPLACE else f"sqrt({text})"


def one_person(neighbours: str, rows_per_person: int) -> str:
    """The change of a table that is hidden, in words."""
    add = neighbours == "add-remove"
    if rows_per_person == 1:
        return "to add or remove one row" if add else "to replace one row by another"
    rows = f"up to {rows_per_person:,} rows of one person"
    return f"to add or remove {rows}" if add else f"to replace {rows} by others"


def guaranteed(privacy: NoiseEntry) -> str:
    """What noise of these numbers promises, if its coins were as they should be."""
    change = one_person(privacy.neighbours, privacy.rows_per_person)
    if privacy.epsilon is None or privacy.delta is None:
        assert privacy.rho is not None
        return (
            f"{change} is hidden by zero-concentrated differential privacy with rho = "
            f"{decimal_text(privacy.rho)}"
        )
    text = f"{change} changes no probability of what is published by more than a factor of e^"
    text += decimal_text(privacy.epsilon)
    if privacy.delta:
        assert privacy.rho is not None
        text += (
            f", but for a probability of {decimal_text(privacy.delta)} (zero-concentrated differential "
            f"privacy with rho = {decimal_text(privacy.rho)})"
        )
    return text


def privacy_note(privacy: NoiseEntry) -> str:
    """What a recipient has to know of the noise."""
    kind = "Laplace" if privacy.mechanism == LAPLACE else "Gaussian"
    return (
        f"Discrete {kind} noise was added to every count of the data first, and all else was computed from "
        f"the noisy counts: {guaranteed(privacy)}, whatever is known besides. What else is published of the "
        "same people adds to that."
    )


def weak_text(privacy: NoiseEntry) -> str | None:
    """The warning that the numbers of noise promise next to nothing; None where they promise more."""
    if privacy.rho is not None:
        # At delta 10^-6 the bound of `concentrated` gives an epsilon of 9.8 and more from here on.
        if 2 * privacy.rho < 3:
            return None
        return (
            f"The noise hardly hides anybody: with rho = {decimal_text(privacy.rho)} what is proven at a "
            "delta of 0.000001 is an epsilon above 9, and e^9 is 8,103."
        )
    if privacy.epsilon is None or privacy.epsilon < WEAK_EPSILON:
        return None
    text = decimal_text(privacy.epsilon)
    return (
        f"The noise hardly hides anybody: with epsilon = {text} one person may change the probability of "
        f"what is published by a factor of e^{text}, and e^{WEAK_EPSILON} is 22,026."
    )


NOISE_UNSEEN = (
    "The noise was drawn with fair coins that nobody knows, and values, classes and columns were declared "
    "without a look at the rows: no file can show that, nor that these are the numbers that were used."
)


def choice_note(privacy: NoiseEntry, epsilon: Fraction) -> str:
    """What the choice of a domain by votes, of which one row was hidden by epsilon, costs besides."""
    own = privacy.changes * epsilon
    change = one_person(privacy.neighbours, privacy.rows_per_person)
    if privacy.epsilon is None or privacy.delta is None:
        assert privacy.rho is not None
        total = f"rho = {decimal_text(privacy.rho + own * own / 2)}"
    else:
        total = f"epsilon = {decimal_text(privacy.epsilon + own)}"
        total += f" and delta = {decimal_text(privacy.delta)}" if privacy.delta else ""
    return f"With the noisy counts the choice of the domain comes to {total}, where the change is {change}."


def _among(entry: object, known: tuple[str, ...], where: str) -> str:
    if type(entry) is not str or entry not in known:
        raise Refused(f"{where}: expected one of {', '.join(map(repr, known))}; got {shown(entry)}")
    return entry


def _above_0(entry: object, where: str) -> Fraction:
    number = chosen(entry, where)
    if not number:
        raise Refused(f"{where}: expected more than 0, got {shown(entry)}")
    return number
