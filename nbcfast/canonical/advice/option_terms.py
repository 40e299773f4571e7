"""Rows collapsed and dealt to folds, and what every option of every attribute adds to a row's score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbcfast._advise import MOST_WEIGHT, Choices
from nbcfast._core.dtypes import Array, Floats, Int32s, Longs, Places
from nbcfast._core.errors import Infeasible
from nbcfast.views.integers import logarithms

MOST_FOLDS = 100
MOST_ADVISED = MOST_WEIGHT  # of all rows together
UNIT = 2.0**30  # logarithms are multiples of 1 / UNIT: sums of them are exact in doubles, in any order
SINGLE = 2.0**-24  # what rounding to float32 changes, relatively
# Numbers that the options of all attributes are made of, and that the kernel's tables have: below some GB.
MOST_MAPPED, MOST_TERMS = 1 << 25, 1 << 26
MOST_BITS, SUM_BITS = 24, 51  # of one loss behind the point; of all losses together


@dataclass(frozen=True)
class FoldedRows:
    """Distinct rows in their order: by class, then by values, attribute after attribute, then by fold.

    Attributes
    ----------
    codes : tuple of arrays, one an attribute
        Values as far as options tell them apart.
    classes, folds, weights : arrays
    """

    codes: tuple[Longs, ...]
    classes: Longs
    folds: Longs
    weights: Longs


@dataclass(frozen=True)
class OptionTables:
    """What each option says of each value in each fold, as the kernel takes it."""

    first: Longs
    sizes: Longs
    tables: Longs
    logs: Floats
    counts: Longs
    priors: Floats
    class_counts: Longs
    bound: float

    def choices(self, rows: FoldedRows) -> Choices:
        """The kernel's object for some rows."""
        n_folds, n_classes = self.class_counts.shape
        cells: Int32s = np.empty((len(rows.codes), len(rows.classes)), np.int32)
        for a, column in enumerate(rows.codes):
            cells[a] = column * n_folds + rows.folds
        starts = np.searchsorted(rows.classes, np.arange(n_classes + 1)).astype(np.int64)
        of_options = (self.first, self.sizes, self.tables, self.logs, self.counts)
        of_folds = (self.priors, self.class_counts, self.bound)
        return Choices(cells, rows.folds.astype(np.int32), rows.weights, starts, *of_options, *of_folds)


@dataclass(frozen=True)
class OptionTerms:
    """What the kernel takes, and the bounds of its sums.

    Attributes
    ----------
    choices : Choices
        Of all rows.
    bits, dropped_bits : int
        Losses are rounded to multiples of 2^-bits. Sums of them lose their lowest `dropped_bits` bits where
        combinations are ordered: what is left, and the number of rows of infinite loss, fit into 63 bits.
    rows, n_distinct, n_classes : int
        Total weight, how many rows the kernel has, and of how many classes.
    sizes : tuple of int
        How many values of each attribute the options tell apart.
    """

    choices: Choices
    bits: int
    dropped_bits: int
    rows: int
    n_distinct: int
    n_classes: int
    sizes: tuple[int, ...]
    _folded: FoldedRows
    _maps: Sequence[Sequence[Longs | None]]
    _tables: OptionTables

    def narrowed(self, chosen: dict[int, int]) -> Choices:
        """The kernel's object for these options of some attributes alone: rows that are alike then are one.

        One of them stands for all, with its own codes of these attributes too.
        """
        rows, columns, sizes = self._folded, [self._folded.folds], [len(self._tables.class_counts)]
        for a, (codes, size) in enumerate(zip(rows.codes, self.sizes, strict=True)):
            option = self._maps[a][chosen[a]] if a in chosen else None
            if option is not None:
                columns.append(option[codes])
                sizes.append(int(option.max()) + 1)
            elif a not in chosen:
                columns.append(codes)
                sizes.append(size)
        first, weights = collapsed(columns, sizes, rows.classes, self.n_classes, rows.weights)
        codes_of_first = tuple(column[first] for column in rows.codes)
        kept = FoldedRows(codes_of_first, rows.classes[first], rows.folds[first], weights)
        return self._tables.choices(kept)


def refined(options: Sequence[Array | None], n_codes: int) -> tuple[Longs, list[Longs | None]]:
    """Raw codes that every option maps alike become one: its number, and the options' maps of these numbers.

    Numbers follow the values in the first option, then in the second, and so on.
    """
    maps = [option for option in options if option is not None]
    if not maps:
        return np.zeros(n_codes, np.int64), [None] * len(options)
    distinct, inverse = np.unique(np.stack(maps, axis=1), axis=0, return_inverse=True)
    columns = iter(np.ascontiguousarray(distinct.T, dtype=np.int64))
    return inverse.reshape(-1).astype(np.int64), [
        None if option is None else next(columns) for option in options
    ]


def collapsed(
    codes: Sequence[Longs], sizes: Sequence[int], classes: Longs, n_classes: int, weights: Longs
) -> tuple[Places, Longs]:
    """Distinct rows by class, then by code, column after column: where each is first, and its weight."""
    key, n_keys = classes, n_classes
    for column, size in zip(codes, sizes, strict=True):
        if n_keys * size > 2**62:
            # Places among those that occur are in the same order, and few.
            occurring, places = np.unique(key, return_inverse=True)
            key, n_keys = places.reshape(-1).astype(np.int64), len(occurring)
        key, n_keys = key * size + column, n_keys * size
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    # Doubles add up integers exactly: all weights together are far below 2^53.
    total = np.bincount(inverse.reshape(-1), weights, len(first)).astype(np.int64)
    return first, total


def dealt(codes: tuple[Longs, ...], classes: Longs, weights: Longs, n_folds: int) -> FoldedRows:
    """Deal the copies of each class round robin over the folds, in the order of the distinct rows.

    Copy j of a class, counted from 0, is of fold j mod `n_folds`; without folds all rows are of fold 0.
    """
    if n_folds == 0:
        return FoldedRows(codes, classes, np.zeros(len(classes), np.int64), weights)
    ends = np.cumsum(weights)
    starts = ends - weights
    if len(classes):
        starts_of_class = starts[np.searchsorted(classes, classes)]
        starts, ends = starts - starts_of_class, ends - starts_of_class
    folds = np.arange(n_folds)
    # Of the copies 0 .. x - 1, (x - f + n_folds - 1) // n_folds are of fold f.
    shares = (ends[:, np.newaxis] - folds + n_folds - 1) // n_folds
    shares -= (starts[:, np.newaxis] - folds + n_folds - 1) // n_folds
    row, fold = np.nonzero(shares)
    return FoldedRows(
        tuple(column[row] for column in codes), classes[row], fold.astype(np.int64), shares[row, fold]
    )


def learnt_from(places: Longs, n_places: int, rows: FoldedRows, n_classes: int, n_folds: int) -> Longs:
    """Counts (place, fold, class) of the rows that each fold is held out from; without folds, of all rows."""
    n = max(n_folds, 1)
    index = (places * n + rows.folds) * n_classes + rows.classes
    held: Longs = np.bincount(index, rows.weights, n_places * n * n_classes).astype(np.int64)
    held = held.reshape(n_places, n, n_classes)
    return held.sum(axis=1, keepdims=True) - held if n_folds else held


def log_shares_of(parts: Longs, wholes: Longs) -> Floats:
    """Logarithms of parts / wholes, rounded to multiples of 1 / UNIT; -inf where a part is 0."""
    with np.errstate(invalid="ignore"):
        difference = logarithms(parts) - logarithms(wholes)
    rounded: Floats = np.where(parts > 0, np.rint(difference * UNIT) / UNIT, -np.inf)
    return rounded


def widest(logs: Floats) -> float:
    """The largest difference between two finite logarithms of a row."""
    finite = np.isfinite(logs)
    gaps = np.where(finite, logs, -np.inf).max(axis=1) - np.where(finite, logs, np.inf).min(axis=1)
    return float(gaps.max(initial=0.0))


def terms_of(
    rows: FoldedRows,
    maps: Sequence[Sequence[Longs | None]],
    sizes: Sequence[int],
    n_classes: int,
    n_folds: int,
) -> OptionTerms:
    """The kernel's tables for these rows, of which attribute a has codes below `sizes[a]`."""
    n = max(n_folds, 1)
    offered = zip(maps, sizes, strict=True)
    expect_room(sum(len(options) * size for options, size in offered) * n * n_classes, MOST_TERMS)
    class_counts = learnt_from(np.zeros_like(rows.folds), 1, rows, n_classes, n_folds)[0]
    total = class_counts.sum(axis=1, keepdims=True)
    priors = log_shares_of(class_counts, np.broadcast_to(total, class_counts.shape))
    tables, logs, counts, n_cells, most = [], [], [], 0, widest(priors)
    for a, (options, size) in enumerate(zip(maps, sizes, strict=True)):
        if size * n >= 2**31:
            raise ValueError(
                f"maps[{a}] must tell apart fewer than 2^31 values in all folds, got {size} in {n}"
            )
        learnt = learnt_from(rows.codes[a], size, rows, n_classes, n_folds)
        gaps = [0.0]
        for option in options:
            if option is None:
                tables.append(-1)
                continue
            of_value = np.zeros((int(option.max(initial=-1)) + 1, n, n_classes), np.int64)
            np.add.at(of_value, option, learnt)
            shares = log_shares_of(of_value, np.broadcast_to(class_counts, of_value.shape))
            gaps.append(widest(shares.reshape(-1, n_classes)))
            tables.append(n_cells)
            logs.append(shares[option].reshape(-1, n_classes))
            counts.append(of_value[option].reshape(-1, n_classes))
            n_cells += size * n
        most += max(gaps)
    weight = int(rows.weights.sum())
    # Terms are rounded once, and so are the sums of them, none of which is larger than `most`.
    bound = 1.01 * (len(maps) + 3) * SINGLE * most + (len(maps) + 1) * 2 / UNIT
    largest_loss = math.ceil(most + math.log(n_classes) + 1)
    bits = min(MOST_BITS, SUM_BITS - weight.bit_length() - largest_loss.bit_length())
    if bits < 0:
        raise ValueError(f"codes must have losses below 2^{SUM_BITS}, got {weight} rows of {largest_loss}")
    none: Floats = np.zeros((0, n_classes))
    of_options = OptionTables(
        np.cumsum([0, *map(len, maps)]),
        np.array(sizes, np.int64) * n,
        np.array(tables, np.int64),
        np.concatenate([none, *logs]),
        np.concatenate([none.astype(np.int64), *counts]),
        priors,
        class_counts,
        bound,
    )
    dropped_bits = max(0, largest_loss.bit_length() + bits + 2 * weight.bit_length() - 63)
    return OptionTerms(
        of_options.choices(rows),
        *(bits, dropped_bits, weight, len(rows.classes), n_classes, tuple(sizes)),
        *(rows, maps, of_options),
    )


def expect_room(numbers: int, most: int) -> None:
    """Infeasible where a menu takes more numbers than fit: options times values, before any is made."""
    if numbers > most:
        raise Infeasible(
            f"the options of the menu on these values take {numbers:,} numbers, and {most:,} are held: offer "
            "fewer options of columns with many values, or fewer folds",
            {"numbers": numbers},
        )


def checked_weight(weights: Longs) -> None:
    """ValueError unless weights are at least 1, and few enough for exact sums."""
    if len(weights) and int(weights.min()) < 1:
        raise ValueError(f"weights must be at least 1, got {int(weights.min())}")
    if sum(weights.tolist()) > MOST_WEIGHT:
        raise ValueError(
            f"weights must add up to {MOST_WEIGHT:,} (2^40) at most, as sums of losses are exact to there, "
            f"got {sum(weights.tolist()):,}: publish takes more, on a domain that is declared without advice"
        )
