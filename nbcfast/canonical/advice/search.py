"""Every combination of options, by what a naive Bayes classifier on it is worth; exact, and in that order.

A combination takes one option of every attribute, of which some leave the attribute out. What it is worth is
how many rows its classifier gets right, or its log-loss: on rows that it has not learnt from (`folds`), or on
those that it has.

The classifier is that of `nbcfast.count`: X_c = P_c^(1-n) prod N, a count of zero makes X zero, and of equal
X the later class wins. Correct rows are counted by exact decisions, losses are rounded one by one to
multiples of a power of two, so that neither depends on the order of rows, on threads or on machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Int32s, Longs
from nbcfast._core.threads import Progress, n_threads
from nbcfast._core.validation import callable_or_none, choice, whole
from nbcfast.canonical.advice.leaf_costs import (
    MOST_LEAVES,
    MOST_TUPLES,
    CostForm,
    Judge,
    Loss,
    after,
    beam,
    products,
)
from nbcfast.canonical.advice.option_terms import (
    MOST_FOLDS,
    OptionTerms,
    checked_weight,
    collapsed,
    dealt,
    refined,
    terms_of,
)

FIRST_BLOCK, MOST_BLOCK, LOOKED_AT = 1 << 10, 1 << 20, 1 << 20  # leaves that are ordered, and read, together
MOST_VALUES = 1 << 24  # of an attribute

BY = ("correct", "log-loss")


class Candidates:
    """Rows, and for each attribute the options that it may have.

    Rows that no option tells apart are collapsed, and sorted by class, then by their values in the options of
    the first attribute, of the second, and so on. The copies of each class are dealt to the folds in this
    order, round robin: copy j of a class is of fold j mod `folds`. So folds depend on what rows there are,
    never on their order. A row is judged by the counts of the other folds.

    Parameters
    ----------
    codes : array_like of int, shape (rows, attributes)
        Raw codes, which do not depend on the order of rows.
    class_codes : array_like of int, shape (rows,)
    maps : sequence of sequences
        maps[attribute][option] is an array: raw code -> value of the option, from 0 on; or None where the
        option leaves the attribute out.
    n_classes : int
        At least 2.
    weights : array_like of int, optional
        How many copies of each row there are.
    n_values : sequence of sequences of int, optional
        How many values each option has, if there are more than occur in its map; only for ties.
    folds : int
        At least 2; or 0 to judge rows by counts of all rows, their own among them.

    Attributes
    ----------
    n_attributes, n_classes, folds : int
    sizes : tuple of int
        How many options each attribute has.
    n_choices : int
        Their product.
    rows, n_distinct : int
        The total weight, and how many rows are different.
    bits, dropped_bits : int
        The loss of a row is rounded to a multiple of 2^-bits. Where combinations are ordered, sums of losses
        are without their lowest `dropped_bits` bits: 0 unless there are very many rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind, shape or range.

    Examples
    --------
    >>> codes, classes = [[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1]
    >>> maps = [[[0, 1], None], [[0, 1], [0, 0], None]]
    >>> found = Candidates(codes, classes, maps, 2, folds=0).search()
    >>> [(leaf, correct) for leaf, correct in found.best_first()]
    [((0, 1), 4), ((0, 2), 4), ((0, 0), 4), ((1, 0), 3), ((1, 1), 2)]
    """

    def __init__(
        self,
        codes: npt.ArrayLike,
        class_codes: npt.ArrayLike,
        maps: Sequence[Sequence[npt.ArrayLike | None]],
        n_classes: int,
        *,
        weights: npt.ArrayLike | None = None,
        n_values: Sequence[Sequence[int | None]] | None = None,
        folds: int = 5,
    ) -> None:
        self.n_classes = whole(n_classes, "n_classes", 2, 65536)
        self.folds = whole(folds, "folds", 0, MOST_FOLDS)
        if self.folds == 1:
            raise ValueError("folds must be 0 or at least 2, got 1")
        table = _integers(codes, "codes", 2)
        class_column = _integers(class_codes, "class_codes", 1)
        _below(class_column, self.n_classes, "class_codes")
        if len(class_column) != len(table):
            raise ValueError(f"codes has {len(table)} rows, class_codes {len(class_column)}")
        copies = np.ones(len(table), np.int64) if weights is None else _integers(weights, "weights", 1)
        if len(copies) != len(table):
            raise ValueError(f"codes has {len(table)} rows, weights {len(copies)}")
        checked_weight(copies)
        if len(table) == 0:
            raise ValueError("codes: no rows")
        options = _checked_maps(maps, table)
        self.n_attributes = len(options)
        self.sizes = tuple(map(len, options))
        self.n_choices = math.prod(self.sizes)
        self.n_values = _checked_sizes(n_values, options)
        columns, own_maps, sizes = [], [], []
        for a, of_attribute in enumerate(options):
            n_codes = next((len(m) for m in of_attribute if m is not None), int(table[:, a].max()) + 1)
            places, maps_of_places = refined(of_attribute, n_codes)
            columns.append(places[table[:, a]])
            own_maps.append(maps_of_places)
            sizes.append(int(places.max(initial=0)) + 1)
        first, n_copies = collapsed(columns, sizes, class_column, self.n_classes, copies)
        distinct = tuple(column[first] for column in columns)
        rows = dealt(distinct, class_column[first], n_copies, self.folds)
        self._terms: OptionTerms = terms_of(rows, own_maps, sizes, self.n_classes, self.folds)
        self.rows, self.n_distinct = self._terms.rows, self._terms.n_distinct
        self.bits, self.dropped_bits = self._terms.bits, self._terms.dropped_bits

    def correct(self, leaf: Sequence[int]) -> int:
        """How many rows the classifier of one combination gets right, by weight."""
        chosen, inner = self._at(leaf)
        right: Longs = np.empty(self.sizes[0], np.int64)
        self._terms.choices.correct(chosen, inner, right)
        return int(right[chosen[0]])

    def loss(self, leaf: Sequence[int]) -> Loss:
        """The log-loss of the classifier of one combination."""
        chosen, inner = self._at(leaf)
        finite: Longs = np.empty(self.sizes[0], np.int64)
        infinite = np.empty_like(finite)
        self._terms.choices.losses(chosen, inner, self._terms.bits, finite, infinite)
        return Loss(int(infinite[chosen[0]]), math.ldexp(int(finite[chosen[0]]), -self._terms.bits))

    def tuples(self, leaf: Sequence[int]) -> int:
        """How many tuples the domain of one combination has."""
        chosen, _ = self._at(leaf)
        return math.prod(n[o] or 1 for n, o in zip(self.n_values, chosen.tolist(), strict=True))

    def _at(self, leaf: Sequence[int]) -> tuple[Int32s, Int32s]:
        if len(leaf) != self.n_attributes:
            raise ValueError(f"leaf must be {self.n_attributes} options, got {len(leaf)}")
        for a, (option, size) in enumerate(zip(leaf, self.sizes, strict=True)):
            whole(option, f"leaf: the option of attribute {a}", 0, size - 1)
        return np.array(leaf, np.int32), np.zeros(1, np.int32)

    def search(
        self,
        by: str = "correct",
        *,
        most: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Ranking:
        """Look at every combination; where there are more than `most`, at those that a beam reaches.

        The beam takes the attributes by what each alone is worth at best, the best first, as many together as
        have 256 combinations, and goes on with the 1,000 best choices so far, with all attributes to come
        left out.

        Parameters
        ----------
        by : str
            'correct' (rows, the more the better), or 'log-loss': fewer rows of infinite loss, then less loss
            of the others.
        most : int, optional
            Combinations that are looked at one by one; by default 10^8.
        threads : int, optional
            All cores by default. The result does not depend on it.
        progress : callable, optional
            Called as progress(done, total), in combinations.

        Returns
        -------
        Ranking
        """
        choice(by, BY, "by")
        callable_or_none(progress)
        judge = Judge(self._terms, self.sizes, by)
        n = n_threads(threads, self.n_choices * self.n_distinct)
        if self.n_choices <= (MOST_LEAVES if most is None else most):
            costs = judge.exhaustive(n, progress)
            return Ranking(judge.form, costs, None, self.sizes, self.n_values)
        choices, costs = beam(judge, self.n_values, n, progress)
        return Ranking(judge.form, costs, choices, self.sizes, self.n_values)


class Ranking:
    """Combinations with what they are worth.

    Attributes
    ----------
    by : str
        'correct' or 'log-loss'.
    exhaustive : bool
        Whether these are all combinations.
    n_leaves : int
        How many there are.
    form : CostForm
    costs : ndarray
        Of each, as `form` has it.
    """

    def __init__(
        self,
        form: CostForm,
        costs: Array,
        choices: Int32s | None,
        sizes: tuple[int, ...],
        n_values: list[list[int]],
    ) -> None:
        self.by, self.exhaustive = form.by, choices is None
        self.form, self.costs, self._choices, self._sizes = form, costs, choices, sizes
        self._n_values = [np.array(numbers, np.int64) for numbers in n_values]
        self._nothing = self._place_of_nothing()
        self.n_leaves = len(costs) - (self._nothing >= 0)

    def best_first(self) -> Iterator[tuple[tuple[int, ...], int | Loss]]:
        """Each combination, an option of each attribute, with its correct rows or its Loss; the best first.

        Of equal ones that with fewer tuples comes first (beyond 2^62 all are alike), then that whose options
        come first. That which leaves all attributes out is none. Orders as many at a time as are asked for.
        """
        last, n = None, FIRST_BLOCK
        while True:
            block = self._following(last, n)
            choices = self._choices_of(block[:, 2])
            for options, cost in zip(choices.tolist(), block[:, 0].tolist(), strict=True):
                yield tuple(options), self.form.utility(cost)
            if len(block) < n:
                return
            last, n = block[-1], min(4 * n, MOST_BLOCK)

    def _following(self, last: Longs | None, n: int) -> Longs:
        """The n leaves after the last one as rows of (cost, tuples, place), in order."""
        block: Longs = np.zeros((0, 3), np.int64)
        for start in range(0, len(self.costs), LOOKED_AT):
            costs = self.costs[start : start + LOOKED_AT].astype(np.int64)
            wanted = np.ones(len(costs), bool)
            if start <= self._nothing < start + len(costs):
                wanted[self._nothing - start] = False
            if len(block) == n:
                wanted &= costs <= block[-1, 0]
            if last is not None:
                wanted &= costs >= last[0]
                same = np.flatnonzero(wanted & (costs == last[0]))
                tuples = self._tuples(same + start)
                wanted[same] = (tuples > last[1]) | ((tuples == last[1]) & (same + start > last[2]))
            places = np.flatnonzero(wanted)
            if len(places) > n:
                places = places[costs[places] <= np.partition(costs[places], n - 1)[n - 1]]
            more = np.column_stack([costs[places], self._tuples(places + start), places + start])
            block = np.concatenate([block, more])
            block = block[np.lexsort((block[:, 2], block[:, 1], block[:, 0]))[:n]]
        return block

    def _place_of_nothing(self) -> int:
        """The place of the combination that leaves every attribute out, which is no domain; or -1."""
        if not all((numbers == 0).any() for numbers in self._n_values):
            return -1
        nothing = [int(np.argmin(numbers)) for numbers in self._n_values]
        if self._choices is not None:
            same = np.flatnonzero((self._choices == nothing).all(axis=1))
            return int(same[0]) if len(same) else -1
        place = 0
        for option, size in zip(nothing, self._sizes, strict=True):
            place = place * size + option
        return place

    def _choices_of(self, places: Longs) -> Int32s:
        if self._choices is not None:
            return self._choices[places]
        choices: Int32s = np.empty((len(places), len(self._sizes)), np.int32)
        for a in range(len(self._sizes) - 1, -1, -1):
            places, choices[:, a] = np.divmod(places, self._sizes[a])
        return choices

    def _tuples(self, places: Longs) -> Longs:
        return products(self._choices_of(places), self._n_values)


def search_together(
    parts: Sequence[Candidates], by: str, *, threads: int | None = None, progress: Progress | None = None
) -> Ranking:
    """Look at every combination of options of several tables, by what it is worth in all of them.

    Parameters
    ----------
    parts : sequence of Candidates
        Of the same options, of which there are no more than 10^8 combinations.
    by, threads, progress
        As for `Candidates.search`; progress counts the combinations of each part.

    Returns
    -------
    Ranking
        Correct rows, or losses, are those of all parts together.
    """
    first = parts[0]
    sizes, n = first.sizes, first.n_choices
    if any(part.sizes != sizes for part in parts) or n > MOST_LEAVES:
        raise ValueError(f"parts must have the same options, with {MOST_LEAVES:,} combinations at most")
    rows = sum(part.rows for part in parts)
    # A loss of fewer bits behind the point is that of more, rounded down.
    bits = min(part.bits for part in parts)
    sums, infinite = np.zeros(n, np.int64), np.zeros(n if by == "log-loss" else 0, np.int64)
    for place, part in enumerate(parts):
        ranking = part.search(by, threads=threads, progress=after(place * n, len(parts) * n, progress))
        costs, form = ranking.costs.astype(np.int64), ranking.form
        if by == "log-loss":
            infinite += costs >> form.finite_bits
            costs = (costs & ((1 << form.finite_bits) - 1)) << form.dropped_bits >> (form.bits - bits)
        sums += costs
    form = CostForm(by, rows, bits, 0)
    if by == "log-loss":
        dropped = max(0, int(sums.max()).bit_length() - form.finite_bits)
        form = form._replace(dropped_bits=dropped)
        sums = (infinite << form.finite_bits) + (sums >> dropped)
    return Ranking(form, sums, None, sizes, first.n_values)


def _integers(argument: npt.ArrayLike, where: str, n_dimensions: int) -> Longs:
    """A C-contiguous array of int64 that an argument is; nothing else is made one."""
    array = np.asarray(argument)
    if array.ndim != n_dimensions:
        raise ValueError(f"{where} must be an array of dimension {n_dimensions}, got {array.ndim}")
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{where} must be integers, got an array of {array.dtype}")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{where} must be below 2^63, got {int(array.max())}")
    return np.ascontiguousarray(array, np.int64)


def _below(codes: Longs, size: int, where: str) -> None:
    if codes.size and not 0 <= codes.min() <= codes.max() < size:
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"{where} must be 0..{size - 1}, got {wrong}")


def _checked_maps(maps: Sequence[Sequence[npt.ArrayLike | None]], codes: Longs) -> list[list[Longs | None]]:
    if len(maps) != codes.shape[1] or not len(maps):
        expected = f"the {codes.shape[1]} attributes of codes, and at least 1"
        raise ValueError(f"maps must be of {expected}, got {len(maps)}")
    checked = []
    for a, options in enumerate(maps):
        where = f"maps[{a}]"
        if not len(options):
            raise ValueError(f"{where} must have an option, got none")
        arrays = [None if m is None else _integers(m, f"{where}[{o}]", 1) for o, m in enumerate(options)]
        if sum(array is None for array in arrays) > 1:
            raise ValueError(f"{where} must leave the attribute out in one option at most, got two of None")
        lengths = {len(array) for array in arrays if array is not None}
        if len(lengths) > 1:
            raise ValueError(f"{where} must map equally many codes in every option, got {sorted(lengths)}")
        for o, array in enumerate(arrays):
            if array is not None:
                _below(array, MOST_VALUES, f"{where}[{o}]")
        _below(codes[:, a], lengths.pop() if lengths else MOST_VALUES, f"codes of attribute {a}")
        checked.append(arrays)
    return checked


def _checked_sizes(
    n_values: Sequence[Sequence[int | None]] | None, maps: list[list[Longs | None]]
) -> list[list[int]]:
    """How many values each option has, 0 where it leaves the attribute out."""
    sizes = [[0 if m is None else int(m.max(initial=-1)) + 1 for m in options] for options in maps]
    if n_values is None:
        return sizes
    if list(map(len, n_values)) != list(map(len, maps)):
        raise ValueError(
            f"n_values must be of {list(map(len, maps))} options, got {list(map(len, n_values))}"
        )
    for a, (least, given) in enumerate(zip(sizes, n_values, strict=True)):
        for o, number in enumerate(given):
            if maps[a][o] is not None:
                least[o] = whole(number, f"n_values[{a}][{o}]", least[o], MOST_TUPLES)
    return sizes
