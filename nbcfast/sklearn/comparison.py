"""What `compare_releases` has measured: a row an entry, and for what is missing the reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from nbcfast._core.numbers import ratio_text
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document, Pandas
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import bullets, table
from nbcfast._wire.messages import printable
from nbcfast.canonical.leakage import percent
from nbcfast.safety import Amplification
from nbcfast.table.values import plain

UNKNOWN = "not measured"
MOST_WHOLE = 10**6  # of a Lambda that is written in full
# What is measured, as it is called: the field, and the head of its column.
MEASURES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "amplification": "Lambda",
    "bits": "bits a weight",
    "found": "counts come back",
    "flip": "class shows",
}
# Half of the rows, or all of them twice, may have the same answers: nothing shows which ones were counted.
OF_THESE = (
    "a claim, and not checked, that these were counted: they give what was published, but so may other rows, "
    "of whom more comes back or shows"
)
OF_WHOM = (
    "counts come back: to whoever knows how many people have each value, and how many are of each class",
    "class shows: to whoever knows everybody else's row",
)


@dataclass(frozen=True, repr=False)
class ComparedRelease(HasReadOnlyMappings):
    """What was measured of one entry; None is what was not, and `why` says the reason.

    Attributes
    ----------
    name : str
    accuracy : float
        The share of the rows whose class it predicts.
    log_loss : float or None
        Mean of -ln of the probability of the true class; infinite where that is 0 for a row.
    amplification : Amplification or None
        Lambda of the counts that it publishes, exactly.
    bits : float or None
        Bits a weight of its answers.
    found, cells : int or None
        Values all of whose private counts come back, of how many.
    flip : float or None
        The share of people whose class could be exchanged for every other one without anything changing
        that is published.
    flip_is : {"exactly", "at least", "at most"}
        Which number of people `shows_class` is: what is published may say more than the answers, of which it
        was measured, or less.
    shows_class, looked_at : int or None
        The people whose class shows, of how many who were looked at.
    flip_shows_at_most : float or None
        Of a sample, the exact upper 95 % bound of the share of people whose class shows.
    why : mapping of measure -> str
        For each measure that is None, why.
    """

    name: str
    accuracy: float
    log_loss: float | None = None
    amplification: Amplification | None = None
    bits: float | None = None
    found: int | None = None
    cells: int | None = None
    flip: float | None = None
    flip_is: Literal["exactly", "at least", "at most"] = "exactly"
    shows_class: int | None = None
    looked_at: int | None = None
    flip_shows_at_most: float | None = None
    why: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def texts(self) -> dict[str, str]:
        """Each measure for people: "not measured" where it is None."""
        log_loss, odds, bits = self.log_loss, self.amplification, self.bits
        return {
            "accuracy": f"{self.accuracy:.4f}",
            "log_loss": UNKNOWN if log_loss is None else _number(log_loss, ".4f"),
            "amplification": UNKNOWN if odds is None else _odds(odds),
            "bits": UNKNOWN if bits is None else f"{max(bits, 0.0):.2f}",
            "found": UNKNOWN if self.found is None else f"{self.found:,} of {self.cells:,}",
            "flip": self._shows,
        }

    @property
    def _shows(self) -> str:
        if self.shows_class is None:
            return UNKNOWN
        most = self.flip_shows_at_most
        is_certain = self.flip_is == "exactly" or (most is None and self.shows_class == self.looked_at)
        often = "" if is_certain else f"{self.flip_is} "
        sample = "" if most is None else f" looked at (up to {percent(most)} of all)"
        return f"{often}{self.shows_class:,} of {self.looked_at:,}{sample}"

    def to_dict(self) -> Document:
        """Plain values; None for what was not measured, and for what is infinite."""
        odds = self.amplification
        infinite = self.log_loss is not None and math.isinf(self.log_loss)
        return {
            "name": self.name,
            "accuracy": self.accuracy,
            "log_loss": None if self.log_loss is None else plain(self.log_loss),
            "log_loss_infinite": infinite,
            "amplification": None if odds is None else {**odds.to_dict(), "log": plain(odds.log)},
            "bits": None if self.bits is None else plain(self.bits),
            "found": self.found,
            "cells": self.cells,
            "flip": self.flip,
            "flip_is": None if self.flip is None else self.flip_is,
            "shows_class": self.shows_class,
            "looked_at": self.looked_at,
            "flip_shows_at_most": self.flip_shows_at_most,
            "why": dict(self.why),
        }

    def __repr__(self) -> str:
        texts = self.texts()
        said = "; ".join(f"{head} {texts[measure]}" for measure, head in MEASURES.items())
        return printable(f"ComparedRelease({self.name!r}: {said})")


@dataclass(frozen=True, repr=False)
class ReleaseComparison:
    """Classifiers side by side: what each is worth, and what it gives away.

    What comes back and what shows is measured on the private rows: this is not for publication.

    Attributes
    ----------
    rows : int
        On which accuracy and log-loss were measured, or their total weight.
    private_rows : int
        Of the people who are looked at.
    private_given : bool
        Whether the caller said that these are the rows that the entries were made of; else they are those of
        X and y.
    entries : tuple of ComparedRelease
        In the order in which they were given.
    """

    rows: int
    private_rows: int
    private_given: bool
    entries: tuple[ComparedRelease, ...]

    def __getitem__(self, name: str) -> ComparedRelease:
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(repr(entry.name) for entry in self.entries)
        raise KeyError(f"expected the name of an entry, {known}; got {name!r}")

    def to_dict(self) -> Document:
        """Plain values; None for what was not measured, and for what is infinite."""
        return {
            "rows": self.rows,
            "private_rows": self.private_rows,
            "private_given": self.private_given,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def to_pandas(self) -> Pandas:
        """A pandas frame, a row an entry: what was not measured is missing there.

        Returns
        -------
        pandas.DataFrame
            With the columns accuracy, log_loss, amplification, bits, found, cells, flip, flip_is,
            shows_class and looked_at.

        Raises
        ------
        ImportError
            If pandas is missing.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ImportError("to_pandas needs pandas: pip install pandas", name="pandas") from None
        floats = {
            "accuracy": [entry.accuracy for entry in self.entries],
            "log_loss": [entry.log_loss for entry in self.entries],
            "amplification": [_as_float(entry.amplification) for entry in self.entries],
            "bits": [entry.bits for entry in self.entries],
            "flip": [entry.flip for entry in self.entries],
        }
        frame = {name: pd.array(values, dtype="Float64") for name, values in floats.items()}
        for name in ("found", "cells", "shows_class", "looked_at"):
            frame[name] = pd.array([getattr(entry, name) for entry in self.entries], dtype="Int64")
        frame["flip_is"] = [entry.flip_is if entry.flip is not None else None for entry in self.entries]
        columns = ["accuracy", "log_loss", "amplification", "bits", "found", "cells"]
        columns += ["flip", "flip_is", "shows_class", "looked_at"]
        return pd.DataFrame(frame, index=[entry.name for entry in self.entries], columns=columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers are of, and why some are missing."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        yield f"accuracy and log-loss: on {self.rows:,} rows"
        if any(entry.found is not None or entry.flip is not None for entry in self.entries):
            whose = "private rows that were given" if self.private_given else f"rows of X and y: {OF_THESE}"
            yield f"what comes back and shows: of the {self.private_rows:,} {whose}"
            yield from OF_WHOM
        if any(entry.flip is not None and entry.flip_is == "at least" for entry in self.entries):
            yield "at least: so many show in the answers, and counts that say more than these may show more"
        if any(entry.flip is not None and entry.flip_is == "at most" for entry in self.entries):
            yield "at most: so many show in the answers before their points were rounded"
        for entry in self.entries:
            reasons: dict[str, list[str]] = {}
            for measure, reason in entry.why.items():
                reasons.setdefault(reason, []).append(MEASURES[measure])
            for reason, heads in reasons.items():
                yield printable(f"{entry.name}: {', '.join(heads)} not measured: {reason}")

    def _repr_html_(self) -> str:
        rows = [[entry.name, *entry.texts().values()] for entry in self.entries]
        count = len(self.entries)
        said = f"{count} {'classifier' if count == 1 else 'classifiers'} side by side"
        return result(None, said, table(["", *MEASURES.values()], rows), bullets(self.notes), private=True)

    def __repr__(self) -> str:
        lines = [["", *MEASURES.values()]]
        lines += [[printable(entry.name), *entry.texts().values()] for entry in self.entries]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        shown = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in lines
        ]
        return "\n".join([*shown, "", *self.notes])


def _number(number: float, form: str) -> str:
    return "infinite" if math.isinf(number) else format(number, form)


def _odds(odds: Amplification) -> str:
    """Lambda in digits, so that those of a column compare."""
    if odds.value is not None and odds.value.denominator == 1 and odds.value < MOST_WHOLE:
        return f"{odds.value.numerator:,}"
    return "infinite" if odds.infinite else ratio_text(None, odds.log)


def _as_float(odds: Amplification | None) -> float | None:
    """Lambda as a float; infinite where it is beyond the range of these."""
    if odds is None:
        return None
    try:
        return math.exp(odds.log)
    except OverflowError:
        return math.inf
