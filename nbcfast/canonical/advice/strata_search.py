"""One classifier for all, or one for each value of a column: both kinds of ways, by what they are worth."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.threads import Progress
from nbcfast._wire.strata_form import MOST_STRATA
from nbcfast.canonical.advice.leaf_costs import MOST_LEAVES, MOST_TUPLES, Loss, after
from nbcfast.canonical.advice.search import Candidates, Ranking, search_together
from nbcfast.canonical.advice.space import Space, Way
from nbcfast.domains import Menu

MOST_NAMED = 3  # values without rows that are named


def expect_columns(strata: object, menu: Menu) -> tuple[str, ...]:
    """The columns of a menu whose values may have a classifier each, in the order of the menu.

    Raises
    ------
    ValueError, TypeError
        If they are none.
    """
    if isinstance(strata, str | bytes) or not isinstance(strata, Sequence):
        raise TypeError(f"strata must be a sequence of names of columns, got {strata!r}")
    for place, name in enumerate(strata):
        if not isinstance(name, str):
            raise TypeError(f"strata must be names of columns, got {name!r}")
        if name not in menu.attributes:
            raise ValueError(f"strata must be attributes of the menu, got {name!r}")
        if name in strata[:place]:
            raise ValueError(f"strata must be different columns, got {name!r} twice")
        if all(option.out for option in menu.options[name]):
            raise ValueError(f"strata must be columns with values, got {name!r}, which the menu leaves out")
    if strata and len(menu.attributes) < 2:
        raise ValueError(
            f"strata must leave an attribute beside it, got {strata[0]!r}, which is all there is"
        )
    return tuple(name for name in menu.attributes if name in strata)


@dataclass(frozen=True)
class Selecting:
    """Options of columns, each value of which may have a classifier of its own.

    Attributes
    ----------
    options : tuple of (attribute, option)
    lacking : tuple of str
        Of others why they may not.
    """

    options: tuple[tuple[int, int], ...]
    lacking: tuple[str, ...]

    @classmethod
    def of(cls, space: Space, menu: Menu, columns: Sequence[str]) -> Selecting:
        """Those of some columns; every value needs rows of every class."""
        options, lacking = [], []
        for attribute, name in enumerate(space.attributes):
            if name not in columns:
                continue
            for place, option in enumerate(menu.options[name]):
                if option.out:
                    continue
                if space.sizes[attribute][place] > MOST_STRATA:
                    why = f"it has more than {MOST_STRATA:,} values"
                else:
                    counts = space.counts(attribute, place)
                    assert counts is not None
                    why = _lacking(space, option.domain_values, counts)
                if why:
                    lacking.append(f"{name!r}, option {place + 1} of the menu: {why}")
                else:
                    options.append((attribute, place))
        return cls(tuple(options), tuple(lacking))


def _lacking(space: Space, values: Sequence[object], counts: Longs) -> str:
    """Which values lack rows of a class that the whole has."""
    without = [
        f"{value!r} has no rows"
        if not row.any()
        else f"{value!r} has none of class {space.class_domain.values[int(empty.argmax())]!r}"
        for value, row in zip(values, counts, strict=True)
        for empty in [(row == 0) & (space.class_counts() > 0)]
        if empty.any()
    ]
    more = len(without) - MOST_NAMED
    return ", ".join([*without[:MOST_NAMED], *([f"and {more:,} more lack some"] if more > 0 else [])])


def candidates_of(space: Space, folds: int) -> Candidates:
    """The rows of a space, and the options of its attributes."""
    return Candidates(
        space.codes,
        space.classes,
        space.options,
        space.n_classes,
        weights=space.weights,
        n_values=space.sizes,
        folds=folds,
    )


def strata_of(space: Space, attribute: int, option: int, folds: int) -> list[Candidates]:
    """The rows of each value of an option that has some. Folds are dealt within each."""
    return [candidates_of(of, folds) for of in space.strata(attribute, option) if len(of.weights)]


class RankedWays:
    """Every choice of options for one classifier, and for one a value of the columns that may select.

    Parameters
    ----------
    space : Space
    candidates : Candidates
        Of all rows.
    selecting : Selecting
    folds : int
    by : {"correct", "log-loss"}
    threads : int or None
    progress : callable or None
    most : int, optional
        Choices for one classifier that are looked at one by one; of more a beam finds some.

    Attributes
    ----------
    exhaustive : bool
        Whether these are all.
    n_leaves : int
        How many there are.

    Raises
    ------
    Infeasible
        If there are too many to look at all of them, and some are of strata.
    """

    def __init__(
        self,
        space: Space,
        candidates: Candidates,
        selecting: Selecting,
        folds: int,
        by: str,
        threads: int | None,
        progress: Progress | None,
        *,
        most: int | None = None,
    ) -> None:
        shape = candidates.sizes
        # Each stratum is searched on its own, and by all its combinations of the others' options.
        work = [
            candidates.n_choices // shape[attribute] * space.sizes[attribute][option]
            for attribute, option in selecting.options
        ]
        n_choices = candidates.n_choices + sum(
            candidates.n_choices // shape[attribute] for attribute, _ in selecting.options
        )
        if selecting.options and n_choices > MOST_LEAVES:
            raise Infeasible(
                f"strata: there are {n_choices:,} choices, and {MOST_LEAVES:,} can be tried one by one: "
                "offer fewer options",
                {"choices": n_choices},
            )
        total, n_done = candidates.n_choices + sum(work), candidates.n_choices
        self._space, self._by = space, by
        so_far = after(0, total, progress)
        self._whole = candidates.search(by, most=most, threads=threads, progress=so_far)
        self._of_strata: list[tuple[int, int, Ranking]] = []
        for (attribute, option), n_tried in zip(selecting.options, work, strict=True):
            parts = strata_of(space, attribute, option, folds)
            ranking = search_together(parts, by, threads=threads, progress=after(n_done, total, progress))
            n_done += n_tried
            self._of_strata.append((attribute, option, ranking))
        self.exhaustive = self._whole.exhaustive
        self.n_leaves = self._whole.n_leaves + sum(ranking.n_leaves for *_, ranking in self._of_strata)

    def best_first(self) -> Iterator[Way]:
        """Each way, the best first.

        Of equal ones one classifier for all comes before several, then fewer tuples in all (beyond 2^62 all
        are alike), then the choice whose options come first, and of one choice the column that comes first.
        """
        streams = [self._keyed(None, 0, self._whole)]
        streams += [self._keyed(*of_strata) for of_strata in self._of_strata]
        for *_, choice, by in heapq.merge(*streams):
            yield Way(choice, None if by < 0 else by)

    def _keyed(
        self, by: int | None, option: int, ranking: Ranking
    ) -> Iterator[tuple[tuple[float, ...], bool, int, tuple[int, ...], int]]:
        """The ways of a ranking, with what they are sorted by before it."""
        sizes = self._space.sizes
        for of_others, utility in ranking.best_first():
            choice = of_others if by is None else (*of_others[:by], option, *of_others[by:])
            tuples = math.prod(
                sizes[i][place] or 1 for i, place in enumerate(choice) if i != by
            )  # of one stratum
            n_strata = 1 if by is None else sizes[by][option]
            worth = tuple(utility) if isinstance(utility, Loss) else (-utility,)
            yield (
                worth,
                by is not None,
                min(tuples, MOST_TUPLES) * n_strata,
                choice,
                -1 if by is None else by,
            )
