"""What `risk` finds: `Risk`, one `Association`, and `Rows` of many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from nbcfast._core.dtypes import Array, Bools, Codes, Floats, Longs
from nbcfast._core.errors import NoColumnError
from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.untyped import Document, PyArrow
from nbcfast._core.validation import callable_or_none, whole
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, paragraph, table
from nbcfast._wire.messages import printable
from nbcfast.table import Domain, arrow
from nbcfast.table.values import SUPPRESSED, Value

CodedColumn = tuple[Codes, Domain]
ResultColumn = Array | CodedColumn  # numbers, NaN for None; or codes with their domain

NO_WORLD = "no world"
NOT_JOINED = "not in the join: no join value has both"
SHOWN = 10  # rows that a repr shows
SEVERAL = (list, tuple, set, frozenset, np.ndarray, range)  # what asks for several values; all else is one


class ByJoinValue(NamedTuple):
    """A row for each join value: the columns of the join, and of numbers."""

    keys: list[tuple[str, CodedColumn]]
    numbers: list[tuple[str, Array]]


class Finding(NamedTuple):
    """One association as a core finds it."""

    probability: float | None
    exact: Callable[[], Fraction | None]
    case: str
    joins: list[dict[str, Value]]
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Listing:
    """Associations as arrays of codes; NaN is no world.

    `times`: how many join values have both, where it is known. `bounds`: intervals, where any were sampled.
    """

    identities: Codes
    values: Codes
    probabilities: Floats
    times: Codes
    bounds: tuple[Floats, Floats] | None = None

    @classmethod
    def empty(cls, n: int) -> Listing:
        return cls(np.zeros(n, np.uint32), np.zeros(n, np.uint32), np.zeros(n), np.zeros(n, np.uint32))

    @classmethod
    def joined(cls, pieces: list[Listing]) -> Listing:
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return cls.empty(0)
        return cls(
            np.concatenate([piece.identities for piece in pieces]),
            np.concatenate([piece.values for piece in pieces]),
            np.concatenate([piece.probabilities for piece in pieces]),
            np.concatenate([piece.times for piece in pieces]),
        )

    def __len__(self) -> int:
        return len(self.identities)

    def chosen(self, which: Bools | Longs) -> Listing:
        bounds = None if self.bounds is None else (self.bounds[0][which], self.bounds[1][which])
        return Listing(
            self.identities[which], self.values[which], self.probabilities[which], self.times[which], bounds
        )

    def best(self, n: int) -> Listing:
        """The n greatest, by probability, identity and value; without those that have no world."""
        possible = self.chosen(~np.isnan(self.probabilities))
        if len(possible) > n:  # the sort is of few
            least = -np.partition(-possible.probabilities, n - 1)[n - 1]
            possible = possible.chosen(possible.probabilities >= least)
        order = np.lexsort((possible.values, possible.identities, -possible.probabilities))
        return possible.chosen(order[:n])


class Core(Protocol):
    """Where the associations are held: by join value, or one by one."""

    @property
    def n_identities(self) -> int: ...
    @property
    def n_associations(self) -> int: ...
    @property
    def n_without_world(self) -> int: ...
    def worst(self, n: int) -> Listing: ...
    def above(self, threshold: Fraction) -> Listing: ...
    def n_above(self, threshold: Fraction) -> int: ...
    def listed(self) -> Listing: ...
    def finding(self, code: int, value: int) -> Finding: ...
    def cover(self, code: int) -> Codes: ...
    def by_join_value(self) -> ByJoinValue: ...


@dataclass(frozen=True)
class Association:
    """How likely an identity has a value, from the views.

    Attributes
    ----------
    identity, value
    probability : float or None
        0.0 only where it is exactly 0, 1.0 only where it is exactly 1; None where no world exists.
    case : str
        What decided: the sizes at the one join value, several join values, not in the join, no world.
    cover : tuple
        The association cover: all values that the identity may have.
    joins : tuple of dict
        The join values that have both: column -> value.
    interval : (float, float) or None
        Where it was sampled, what holds the probability with the stated confidence.
    """

    identity: Value
    value: Value
    probability: float | None
    case: str
    cover: tuple[Value, ...]
    joins: tuple[dict[str, Value], ...]
    interval: tuple[float, float] | None
    _exact: Callable[[], Fraction | None] = field(repr=False, compare=False)

    @property
    def exact(self) -> Fraction | None:
        """The probability as a Fraction; None without a world, or where it was sampled."""
        return self._exact()

    def __reduce__(self) -> tuple[object, ...]:
        values = (getattr(self, one.name) for one in fields(self) if one.name != "_exact")
        return Association, (*values, partial(_stored, self.exact))

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "identity": self.identity,
            "value": self.value,
            "probability": self.probability,
            "case": self.case,
            "cover": list(self.cover),
            "joins": [dict(key) for key in self.joins],
            "interval": None if self.interval is None else list(self.interval),
        }

    def __repr__(self) -> str:
        pair = f"{self.identity!r} has {self.value!r}"
        return f"Association({pair}: {probability_text(self.probability)}, {self.case})"


def _stored(exact: Fraction | None) -> Fraction | None:
    """A probability that was worked out before its association was pickled."""
    return exact


class Rows:
    """A table of results: rows are dicts, columns arrays.

    Attributes
    ----------
    names : tuple of str
    """

    __slots__ = ("_columns", "_n_rows", "names")

    def __init__(self, columns: Iterable[tuple[str, ResultColumn]], n_rows: int) -> None:
        self._columns = dict(columns)
        self._n_rows = n_rows
        self.names = tuple(self._columns)

    def __len__(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> dict[str, Value]:
        if not -len(self) <= place < len(self):
            raise IndexError(f"row must be {-len(self)}..{len(self) - 1}, got {place}")
        return {name: _plain(column, place) for name, column in self._columns.items()}

    def column(self, name: str) -> tuple[Value, ...]:
        """The values of a column."""
        if name not in self._columns:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.names))}; got {name!r}")
        return tuple(_plain(self._columns[name], place) for place in range(len(self)))

    def array(self, name: str) -> Array:
        """The numbers of a column (NaN for None), or its codes."""
        if name not in self._columns:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.names))}; got {name!r}")
        column = self._columns[name]
        return np.asarray(column[0] if isinstance(column, tuple) else column)

    def to_arrow(self) -> PyArrow:
        """A pyarrow table; values are dictionary columns, None is null."""
        pa = arrow.load_pyarrow()
        arrays = []
        for name, column in self._columns.items():
            if isinstance(column, tuple):
                codes, domain = column
                texts = domain.kind == "interval" or SUPPRESSED in domain.tail
                codes = np.ascontiguousarray(codes)
                arrays.append(arrow.to_arrow_column(codes, domain.values, texts, f"column {name!r}"))
            else:
                arrays.append(pa.array(column, from_pandas=True))  # NaN is null
        return pa.Table.from_arrays(arrays, names=list(self.names))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_dict(self) -> dict[str, list[Value]]:
        """Column -> values."""
        return {name: list(self.column(name)) for name in self.names}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [
            tuple(map(printable, self.names)),
            *(tuple(map(_text, self[place].values())) for place in range(min(len(self), SHOWN))),
        ]
        widths = [max(len(row[place]) for row in shown) for place in range(len(self.names))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in shown
        ]
        if len(self) > SHOWN:
            lines.append(f"... {len(self):,} rows")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """How likely each private association is, for somebody who sees the views.

    Attributes
    ----------
    identity, attribute : str
    views : tuple of tuple of str
    join : tuple of str, or None
        The columns that all views share; None where it is not the same for every two of them.
    model : {"unrestricted", "restricted"}
    worlds : {"projected", "full"}
    method : str
        "join values" (closed form), "chain", "enumeration", or "sampling" where any of it was sampled.
    confidence : Fraction or None
        Where it was sampled, with which probability each interval holds its probability.
    n_identities : int
        Identities that are asked for.
    n_associations : int
        Pairs of them and values that some join tuple has: all others have probability 0.
    n_without_world : int
        Identities of which the model leaves no world.
    """

    identity: str
    attribute: str
    views: tuple[tuple[str, ...], ...]
    join: tuple[str, ...] | None
    model: str
    worlds: str
    method: str
    confidence: Fraction | None
    n_identities: int
    n_associations: int
    n_without_world: int
    _core: Core
    _domains: tuple[Domain, Domain]

    def of(self, identity: Value, value: Value) -> Association:
        """One association.

        Raises
        ------
        ValueError
            If the identity or the value is not in its column.
        """
        code = _position(self._domains[0], identity, self.identity)
        value_code = _position(self._domains[1], value, self.attribute)
        finding = self._core.finding(code, value_code)
        return Association(
            self._domains[0].values[code],
            self._domains[1].values[value_code],
            finding.probability,
            finding.case,
            self.cover(identity),
            tuple(finding.joins),
            finding.interval,
            finding.exact,
        )

    def cover(self, identity: Value) -> tuple[Value, ...]:
        """The association cover: the values that an identity may have, in the order of their domain."""
        code = _position(self._domains[0], identity, self.identity)
        values = self._domains[1].values
        return tuple(values[place] for place in self._core.cover(code).tolist())

    def by_join_value(self) -> Rows:
        """A row for each join value: its identities, values, associations (m n) and their probability.

        The probability of identities with this join value alone; of `worlds="full"` the greatest. It does not
        heed `where`.

        Raises
        ------
        ValueError
            If the views do not all share one join key.
        """
        keys, numbers = self._core.by_join_value()
        return Rows([*keys, *_renamed(numbers, [name for name, _ in keys])], len(numbers[0][1]))

    def worst(self, n: int = 10) -> Rows:
        """The n likeliest associations; of equally likely ones the first identities and values."""
        return self._rows(self._core.worst(whole(n, "n", 1)))

    def above(self, threshold: Numeral) -> Rows:
        """All associations with a probability above the threshold, decided exactly; by identity and value.

        Where probabilities are sampled, those whose interval reaches above it.
        """
        return self._rows(self._core.above(check_threshold(threshold)))

    def n_above(self, threshold: Numeral) -> int:
        """How many associations are above the threshold, without listing them."""
        return self._core.n_above(check_threshold(threshold))

    def table(self) -> Rows:
        """All associations of the join that are asked for: identity, value, probability."""
        return self._rows(self._core.listed())

    def to_arrow(self) -> PyArrow:
        """All associations of the join that are asked for, as a pyarrow table; without a world it is null."""
        return self.table().to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_dict(self) -> Document:
        """The summary, and the worst associations."""
        return {
            "identity": self.identity,
            "attribute": self.attribute,
            "views": [list(view) for view in self.views],
            "join": None if self.join is None else list(self.join),
            "model": self.model,
            "worlds": self.worlds,
            "method": self.method,
            "confidence": None if self.confidence is None else str(self.confidence),
            "identities": self.n_identities,
            "associations": self.n_associations,
            "without_world": self.n_without_world,
            "worst": list(self.worst()),
        }

    def _rows(self, listing: Listing) -> Rows:
        columns = [
            (self.identity, (listing.identities, self._domains[0])),
            (self.attribute, (listing.values, self._domains[1])),
        ]
        numbers: list[tuple[str, Array]] = [("probability", listing.probabilities)]
        if listing.bounds is not None:
            numbers += zip(("low", "high"), listing.bounds, strict=True)
        return Rows([*columns, *_renamed(numbers, [self.identity, self.attribute])], len(listing))

    def _repr_html_(self) -> str:
        worst = list(self.worst(SHOWN))
        rows = [
            [_text(value) for value in list(row.values())[:2]]
            + [probability_text(number) for number in list(row.values())[2:]]
            for row in worst
        ]
        known = any(list(row.values())[2] == 1 for row in worst)
        people = "1 identity" if self.n_identities == 1 else f"{self.n_identities:,} identities"
        state: State = "warned"
        verdict = f"measured, of {people}: the likeliest first"
        if self.n_without_world:
            state = "shows"
            verdict = f"TOO LIKELY: {self.n_without_world:,} of {people} are known to have several values"
        elif known:
            state, verdict = "shows", f"SOMEBODY IS GIVEN AWAY: some of {people} are known for sure"
        names = list(worst[0]) if worst else []
        shown = table(names, rows, texts=2) if worst else None
        about = f"{self.n_associations:,} associations, {self.model}, by {self.method}"
        return result(state, verdict, paragraph(about, kind="nbc-quiet"), shown, private=True)

    def __repr__(self) -> str:
        views = ", ".join(f"({', '.join(view)})" for view in self.views)
        worst = self._core.worst(1)
        highest = probability_text(float(worst.probabilities[0])) if len(worst) else "none"
        sampled = "" if self.confidence is None else f" at {self.confidence} confidence"
        return printable(
            f"Risk({self.attribute} of {self.identity} from {views}: {self.n_associations} associations, "
            f"worst {highest}, {self.model}, by {self.method}{sampled})"
        )


def check_threshold(threshold: Numeral) -> Fraction:
    """The threshold as a Fraction in 0..1; "60%" is 3/5."""
    level = Fraction(exact_share(threshold, "threshold"))
    if not 0 <= level <= 1:
        raise ValueError(f"threshold must be 0..1, got {threshold!r}")
    return level


def check_progress(progress: object) -> None:
    """Refuse what cannot be called, before any work."""
    callable_or_none(progress, got=repr)


def check_columns(names: tuple[str, ...], asked: Iterable[str], where: str) -> None:
    """That a table of so named columns has those asked for."""
    for name in asked:
        if name not in names:
            raise NoColumnError(name, names, where)


def probability_text(probability: object) -> str:
    """Six digits that never round to 0, 1 or, from above, 1/2; None and NaN are those of no world."""
    if probability is None:
        return NO_WORLD
    if not isinstance(probability, (int, float)):
        raise TypeError(f"probability must be a number or None, got {probability!r}")
    if math.isnan(probability):
        return NO_WORLD
    text = f"{probability:.6g}"
    return text if float(text) == probability or float(text) not in (0, 0.5, 1) else repr(probability)


def _position(domain: Domain, value: Any, name: str) -> int:
    """The code of what somebody asked for, which may be no value at all."""
    try:
        place = domain.index.get(value)
    except TypeError:  # it has no hash
        place = None
    # True is no 1, though a dict takes it for one.
    if place is None or isinstance(value, bool) != (type(domain.values[place]) is bool):
        raise ValueError(f"column {name!r}: expected one of its {len(domain)} values, got {value!r}")
    return place


def _renamed(columns: list[tuple[str, Array]], taken: list[str]) -> list[tuple[str, Array]]:
    """Columns of numbers whose names the data has already get an underscore."""
    renamed = []
    for name, column in columns:
        while name in taken:
            name += "_"
        renamed.append((name, column))
    return renamed


def _plain(column: ResultColumn, place: int) -> Value:
    if isinstance(column, tuple):
        codes, domain = column
        return domain.values[int(codes[place])]
    number: int | float = column[place].item()
    return None if isinstance(number, float) and math.isnan(number) else number


def _text(value: Value) -> str:
    return probability_text(value) if isinstance(value, float) else printable(str(value))


def check_where(
    where: Mapping[str, object] | None, identity: str, attribute: str, domains: tuple[Domain, Domain]
) -> list[Bools]:
    """Which identities and which values are asked for, by code."""
    if where is None:
        where = {}
    if not isinstance(where, Mapping):
        raise TypeError(f"where must be a mapping of column -> value or values, got {where!r}")
    for name in where:
        if name not in (identity, attribute):
            raise ValueError(f"where: expected {identity!r} or {attribute!r}, got {name!r}")
    masks = []
    for name, domain in zip((identity, attribute), domains, strict=True):
        if name not in where:
            masks.append(np.ones(len(domain), np.bool_))
            continue
        asked = where[name]
        if callable(asked):
            masks.append(np.fromiter((bool(asked(value)) for value in domain.values), np.bool_, len(domain)))
            continue
        mask = np.zeros(len(domain), np.bool_)
        for value in asked if isinstance(asked, SEVERAL) else [asked]:
            mask[_position(domain, value.item() if isinstance(value, np.generic) else value, name)] = True
        masks.append(mask)
    return masks
