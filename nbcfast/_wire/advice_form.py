"""What a release says of the choice of its domain from a menu: the form of that, and its words."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.chosen_numbers import MOST_PEOPLE, chosen, demanded
from nbcfast._wire.json_entries import Refused, shown, whole
from nbcfast._wire.menus import bits_of_choice
from nbcfast._wire.messages import SOME_NAMES, decimal_text, named, short
from nbcfast._wire.privacy_form import choice_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.privacy_form import NoiseEntry

    Limit = None | int | Fraction

ADVICE_FIELDS = {"bits_at_most", "by", "chosen", "exhaustive", "limits", "menu", "options", "rows"}
VOTES_FIELDS = {"blocks", "epsilon"}  # besides, of a choice by votes
STRATA_FIELDS = {
    "by_column",
    "strata",
}  # besides, where there might have been a classifier a value of a column
# Of each limit its words, with what a choice has at most or at least; those that count are whole.
LIMITS = {
    "max_bits": "at most {} bits a weight",
    "max_found": "at most {} counts that totals and answers give back",
    "min_flip": "at least {} of the rows with a class that could be exchanged",
    "min_trace": "at least {} of the rows without a trace",
    "max_one_class": "at most {} values of one class",
}
COUNTED_LIMITS = ("max_found", "max_one_class")
SHARES = ("min_flip", "min_trace")
CHOSEN_BY = {
    "correct": "by how many rows are decided correctly",
    "log-loss": "by log-loss",
    "votes": "by votes",
}
MOST_CHOICES = 1 << 1024  # of a menu, less than this: their number is printed
MOST_COLUMNS = 1 << 16  # of a menu


class AdvisedChoice:
    """The entry "advice" of a release, of checked form.

    Attributes
    ----------
    menu : str
        The sha256 of the menu.
    options : int
        How many domains it offers.
    chosen : tuple of int
        The option of each column of the menu but the class, in its order.
    by : {"correct", "log-loss", "votes"}
    limits : dict of str -> int, Fraction or None
    rows : {"private", "other"}
    exhaustive : bool
    epsilon : Fraction or None
    blocks : int or None
        The last two with votes, and only there.
    strata : tuple of str
        Columns, each value of which might have had a classifier of its own.
    by_column : str or None
        That of them which was chosen.
    """

    def __init__(self, entry: object) -> None:
        where = "field 'advice'"
        if type(entry) is not dict:
            raise Refused(f"{where}: expected an object, got {shown(entry)}")
        votes = entry.get("by") == "votes"
        expected = ADVICE_FIELDS | (VOTES_FIELDS if votes else set())
        if "strata" in entry:
            expected |= STRATA_FIELDS
        if set(entry) != expected:
            raise Refused(f"{where}: expected {', '.join(sorted(expected))}; got {shown(entry)}")
        self.menu = _fingerprint(entry["menu"], f"{where}, menu")
        self.by: str = _one_of(entry["by"], CHOSEN_BY, f"{where}, by")
        self.rows: str = _one_of(entry["rows"], ("private", "other"), f"{where}, rows")
        if type(entry["exhaustive"]) is not bool:
            raise Refused(f"{where}: expected true or false, got {shown(entry['exhaustive'])}")
        self.exhaustive: bool = entry["exhaustive"]
        self.options = whole(entry["options"], f"{where}, options")
        if not 1 <= self.options < MOST_CHOICES:
            raise Refused(f"{where}: expected options from 1 to below 2^1024, got {short(self.options)}")
        self.chosen = _indices(entry["chosen"], self.options, f"{where}, chosen")
        self.strata: tuple[str, ...] = ()
        self.by_column: str | None = None
        if "strata" in entry:
            self.strata, self.by_column = _selecting(entry, len(self.chosen), f"{where}, strata")
        self.bits_at_most = bits_of_choice(self.options * (1 + len(self.strata)))
        if entry["bits_at_most"] != self.bits_at_most:
            raise Refused(
                f'{where}: expected bits_at_most "{self.bits_at_most}", the logarithm of choices, got '
                f"{shown(entry['bits_at_most'])}"
            )
        self.limits = _limits(entry["limits"], where)
        self.epsilon: Fraction | None = None
        self.blocks: int | None = None
        if votes:
            if self.strata:
                raise Refused(f"{where}: expected no strata, as votes are cast without, got {shown(entry)}")
            self.epsilon = chosen(entry["epsilon"], f"{where}, epsilon")
            self.blocks = demanded(entry["blocks"], f"{where}, blocks")
            if not self.epsilon or not self.blocks:
                raise Refused(f"{where}: expected epsilon and blocks above 0, got {shown(entry)}")
            if any(limit is not None for limit in self.limits.values()):
                raise Refused(f"{where}: expected no limits, as votes are cast without, got {shown(entry)}")

    def account(self, checked: Iterable[str] = ()) -> str:
        """How the domain was chosen, which nobody can check without the rows; of limits those left open."""
        kept = [
            words.format(decimal_text(Fraction(limit)))
            for name, words in LIMITS.items()
            for limit in [self.limits[name]]
            if limit is not None and name not in checked
        ]
        among = "all choices of the menu" if self.exhaustive else "some choices of the menu, and not all"
        if self.strata:
            one = "one classifier for all" if self.by_column is None else _each(self.by_column)
            among += f", and with it {one}, of {_ways(self.strata)}"
        text = f"The domain was chosen {CHOSEN_BY[self.by]}, among {among}"
        if kept:
            return f"{text}, with {', '.join(kept)}."
        unlimited = all(limit is None for limit in self.limits.values())
        return f"{text}, without limits." if unlimited else f"{text}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What a recipient has to know of the choice."""
        return self.notes_beside(None)

    def notes_beside(self, privacy: NoiseEntry | None) -> tuple[str, ...]:
        """The same where the counts have this noise."""
        return advice_notes(self.rows, self.options, self.epsilon, self.blocks, self.strata, privacy)

    @property
    def place(self) -> str:
        """Which option of which menu it is, and what option of a verifier checks that."""
        numbers = ", ".join(map(str, self.chosen))
        return (
            f"The domain is that of the options {numbers} of a menu of {choices_text(self.options)} choices "
            f"with the sha256 {self.menu}; --menu FILE checks that."
        )


def advice_notes(
    rows: str,
    options: int,
    epsilon: Fraction | None,
    blocks: int | None,
    strata: Sequence[str] = (),
    privacy: NoiseEntry | None = None,
) -> tuple[str, ...]:
    """What a recipient has to know of the choice of a domain."""
    if rows == "other":
        tells = CHOSEN_ON_OTHERS
    else:
        bits = bits_of_choice(options * (1 + len(strata)))
        fixed = f"its menu of {choices_text(options)} choices was fixed before anybody looked at the rows"
        tells = f"The choice of the domain tells at most {bits} bits more, if {fixed}."
        if strata:
            tells = (
                f"The choice of the domain, and between {_ways(strata)}, tells at most {bits} bits more, if "
                f"{fixed}, and these columns too."
            )
    if epsilon is None or blocks is None:
        return (tells,)
    voted = (
        f"The domain was chosen by the votes of {short(blocks)} blocks of rows, with differential privacy: "
        "to add or remove one row changes no probability of a choice by more than a factor of "
        f"e^{decimal_text(epsilon)}."
    )
    if privacy is None:
        return tells, f"{voted} The answers on that domain are not differentially private."
    return tells, voted, choice_note(privacy, epsilon)


def costly_choice(rows: str, epsilon: Fraction | None) -> bool:
    """Whether a domain was chosen on the private rows without noise, which no noise of counts hides."""
    return rows == "private" and epsilon is None


CHOSEN_ON_OTHERS = "The domain was chosen on other rows: the choice tells nothing about these."


def _ways(strata: Sequence[str]) -> str:
    """What there was to choose from, beside the domain."""
    columns = " or ".join(map(named, strata[:SOME_NAMES]))
    more = len(strata) - SOME_NAMES
    if more > 0:
        columns += f" or {more:,} more columns"
    return f"one classifier for all and one for each value of {columns}"


def _each(by: str) -> str:
    return f"one for each value of {named(by)}"


def choices_text(options: int) -> str:
    """A number of choices as a piece of a message."""
    return f"{options:,}" if options < MOST_PEOPLE else short(options)


def _fingerprint(entry: object, where: str) -> str:
    if type(entry) is not str or not re.fullmatch(r"[0-9a-f]{64}", entry):
        raise Refused(f"{where}: expected 64 hexadecimal digits, got {shown(entry, 80)}")
    return entry


def _one_of(entry: object, known: Iterable[str], where: str) -> str:
    texts = list(known)
    if type(entry) is not str or entry not in texts:
        raise Refused(f"{where}: expected one of {', '.join(map(repr, texts))}; got {shown(entry)}")
    return entry


def _indices(entry: object, options: int, where: str) -> tuple[int, ...]:
    """The option of each column; there are as many choices as these need, or more."""
    if type(entry) is not list or not 1 <= len(entry) <= MOST_COLUMNS:
        raise Refused(f"{where}: expected the place of an option a column of the menu, got {shown(entry)}")
    places = tuple(demanded(place, where) for place in entry)
    least = 1
    for place in places:
        least *= place + 1
        if least > options:
            raise Refused(
                f"{where}: expected places of options of which there are {short(options)} choices, got "
                f"{shown(entry)}"
            )
    return places


def _selecting(entry: Fields, n_columns: int, where: str) -> tuple[tuple[str, ...], str | None]:
    """Columns whose values might have had a classifier each, and that which was chosen of them."""
    columns, by = entry["strata"], entry["by_column"]
    if (
        type(columns) is not list
        or not 1 <= len(columns) <= n_columns
        or any(type(name) is not str for name in columns)
        or len(set(columns)) < len(columns)
    ):
        raise Refused(f"{where}: expected some columns of the menu, got {shown(columns)}")
    if by is not None and (type(by) is not str or by not in columns):
        raise Refused(f"{where}: expected by_column null or one of them, got {shown(by)}")
    return tuple(columns), by


def _limits(entry: object, where: str) -> dict[str, Limit]:
    """The limits that a choice had to keep; None where there is no such limit."""
    if type(entry) is not dict or set(entry) != set(LIMITS):
        raise Refused(f"{where}: expected limits as {', '.join(LIMITS)}; got {shown(entry)}")
    limits: dict[str, Limit] = {}
    for name in LIMITS:
        read = demanded if name in COUNTED_LIMITS else chosen
        limit = None if entry[name] is None else read(entry[name], f"{where}, {name}")
        if limit is not None and name in SHARES and limit > 1:
            raise Refused(f"{where}, {name}: expected a share up to 1, got {shown(entry[name])}")
        limits[name] = limit
    return limits
