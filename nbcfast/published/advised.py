"""`Advised`: which choice of a menu a domain is, and how it was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from nbcfast._core.numbers import as_limit, exact, fields_text
from nbcfast._core.validation import whole
from nbcfast._wire.advice_form import COUNTED_LIMITS, LIMITS, AdvisedChoice, advice_notes
from nbcfast._wire.menus import bits_of_choice
from nbcfast.published.typed import json_rational, json_whole

if TYPE_CHECKING:
    from nbcfast._core.numbers import Numeral
    from nbcfast._core.untyped import Document
    from nbcfast._wire.privacy_form import NoiseEntry


# Not canonical.Limits, though of the same names: these are as a file says them, exact and without defaults,
# and whoever reads them measures nothing; those are floats to measure by, of a room above this one.
@dataclass(frozen=True, kw_only=True)
class ChoiceLimits:
    """What a chosen domain had to keep; None where there was no such limit.

    Parameters
    ----------
    max_bits : int, Fraction, str or float, optional
        Bits a weight, at most; kept as a Fraction, as the others that are no counts.
    max_found : int, optional
        Counts that totals and answers give back, at most.
    min_flip, min_trace : int, Fraction, str or float, optional
        The share of rows whose class can be exchanged, or that can be left out, without any answer changing,
        at least.
    max_one_class : int, optional
        Values whose rows are all of one class, at most.
    """

    max_bits: Numeral | None = None
    max_found: int | None = None
    min_flip: Numeral | None = None
    min_trace: Numeral | None = None
    max_one_class: int | None = None

    def __post_init__(self) -> None:
        for name in LIMITS:
            limit = getattr(self, name)
            if limit is None:
                continue
            if name in COUNTED_LIMITS:
                object.__setattr__(self, name, whole(limit, name, 0))
            else:
                number = as_limit(exact(limit, name), name)
                if number < 0:
                    raise ValueError(f"{name} must be at least 0, got {limit!r}")
                object.__setattr__(self, name, number)


@dataclass(frozen=True, kw_only=True, repr=False)
class Advised:
    """What a certificate says of the choice of its domain from a menu.

    Parameters
    ----------
    menu : str
        The sha256 of the menu, as `nbcfast._wire.menus.menu_digest` has it.
    options : int
        How many domains it offers.
    chosen : sequence of int
        The place of the option of each column of the menu but the class, in the order of the menu.
    by : {"correct", "log-loss", "votes"}
        What the best one is.
    limits : ChoiceLimits
        Of a choice by votes there are none.
    rows : {"private", "other"}
        "other" where the domain was chosen on rows that are not those of the table.
    exhaustive : bool
        Whether all choices were looked at.
    epsilon : int, Fraction, str or float, and
    blocks : int
        With votes, and only there: to add or remove one row changes no probability of a choice by more than a
        factor of e^epsilon, and so many blocks of rows voted.
    strata : sequence of str
        Columns of the menu, each value of which might have had a classifier of its own.
    by_column : str, optional
        That of them which was chosen; None of one classifier for all.

    Raises
    ------
    ValueError, TypeError
        If a field is none of these.

    Examples
    --------
    >>> Advised(menu="0" * 64, options=345_600, chosen=[3, 0, 1], by="correct").bits_at_most
    '18.4'
    """

    menu: str
    options: int
    chosen: tuple[int, ...]
    by: Literal["correct", "log-loss", "votes"]
    limits: ChoiceLimits = ChoiceLimits()
    rows: Literal["private", "other"] = "private"
    exhaustive: bool = True
    epsilon: Fraction | None = None
    blocks: int | None = None
    strata: tuple[str, ...] = ()
    by_column: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", whole(self.options, "options", 1))
        if isinstance(self.chosen, str) or not isinstance(self.chosen, Sequence):
            raise TypeError(f"chosen must be a sequence of int, got {type(self.chosen).__name__}")
        object.__setattr__(self, "chosen", tuple(whole(place, "chosen", 0) for place in self.chosen))
        if isinstance(self.strata, str) or not isinstance(self.strata, Sequence):
            raise TypeError(f"strata must be a sequence of str, got {type(self.strata).__name__}")
        object.__setattr__(self, "strata", tuple(self.strata))
        if self.by_column is not None and self.by_column not in self.strata:
            raise ValueError(f"by_column must be one of strata, got {self.by_column!r}")
        if not isinstance(self.limits, ChoiceLimits):
            raise TypeError(f"limits must be ChoiceLimits, got {type(self.limits).__name__}")
        if (self.by == "votes") != (self.epsilon is not None) or (self.blocks is None) != (
            self.epsilon is None
        ):
            raise ValueError(
                f"epsilon and blocks go with by='votes' and only there, got by={self.by!r}, "
                f"epsilon={self.epsilon!r} and blocks={self.blocks!r}"
            )
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", as_limit(exact(self.epsilon, "epsilon"), "epsilon"))
            object.__setattr__(self, "blocks", whole(self.blocks, "blocks", 1))
            if self.epsilon <= 0:
                raise ValueError(f"epsilon must be above 0, got {self.epsilon}")
        AdvisedChoice(self.to_json())

    @classmethod
    def of_json(cls, entry: object) -> Advised:
        """What the entry of a certificate, or of an advised domain file, says; ValueError if it is none."""
        plain = dict(entry) if isinstance(entry, Mapping) else entry
        try:
            return cls.of_form(AdvisedChoice(plain))
        except (RecursionError, TypeError):  # of something that JSON does not spell
            raise ValueError("field 'advice': expected what a certificate has there") from None

    @classmethod
    def of_form(cls, form: AdvisedChoice) -> Advised:
        """What an entry of checked form says."""
        found, one_class = (form.limits[name] for name in COUNTED_LIMITS)
        limits = ChoiceLimits(
            max_bits=form.limits["max_bits"],
            max_found=None if found is None else int(found),
            min_flip=form.limits["min_flip"],
            min_trace=form.limits["min_trace"],
            max_one_class=None if one_class is None else int(one_class),
        )
        names = [field.name for field in fields(cls) if field.name != "limits"]
        return cls(limits=limits, **{name: getattr(form, name) for name in names})

    @property
    def bits_at_most(self) -> str:
        """How many bits more than the answers the choice tells, at most: a logarithm, rounded up.

        It is of `options`, and of as many more for each column of `strata`.
        """
        return bits_of_choice(self.options * (1 + len(self.strata)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a recipient has to know of the choice."""
        return self.notes_beside(None)

    def notes_beside(self, privacy: NoiseEntry | None) -> tuple[str, ...]:
        """The same where the counts have this noise."""
        return advice_notes(self.rows, self.options, self.epsilon, self.blocks, self.strata, privacy)

    def to_json(self) -> Document:
        """The entry as a certificate has it."""
        limits = {
            name: limit
            if limit is None
            else json_whole(limit)
            if name in COUNTED_LIMITS
            else json_rational(limit)
            for name, limit in asdict(self.limits).items()
        }
        entry: Document = {
            "bits_at_most": self.bits_at_most,
            "by": self.by,
            "chosen": [json_whole(place) for place in self.chosen],
            "exhaustive": self.exhaustive,
            "limits": limits,
            "menu": self.menu,
            "options": json_whole(self.options),
            "rows": self.rows,
        }
        if self.epsilon is not None and self.blocks is not None:
            entry |= {"epsilon": json_rational(self.epsilon), "blocks": json_whole(self.blocks)}
        if self.strata:
            entry |= {"by_column": self.by_column, "strata": list(self.strata)}
        return entry

    def __repr__(self) -> str:
        return fields_text(self)
