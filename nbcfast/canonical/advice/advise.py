"""`advise`: of all domains that a menu offers, the best whose answers keep the limits."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible, expect
from nbcfast._core.numbers import Number, Numeral, as_limit, exact
from nbcfast._core.validation import choice as expect_choice
from nbcfast._reading.source import AnyTable
from nbcfast.attack.membership import expect_others
from nbcfast.canonical.advice.leaf_costs import MOST_LEAVES
from nbcfast.canonical.advice.measured import Measured, Meter, values_of_one_class
from nbcfast.canonical.advice.results import Advice, DomainChoice, MostFrequent
from nbcfast.canonical.advice.search import Candidates
from nbcfast.canonical.advice.space import Space, Way
from nbcfast.canonical.advice.strata_search import (
    RankedWays,
    Selecting,
    candidates_of,
    expect_columns,
    strata_of,
)
from nbcfast.canonical.advice.votes import choose_by_votes, votes_of
from nbcfast.canonical.advice.walk import TooManyError, Walk, nothing_kept, undecided, with_coarsest
from nbcfast.canonical.arguments import expect_progress, table_of
from nbcfast.canonical.limits_of_answers import Limits
from nbcfast.domains import Menu, ready_made
from nbcfast.frames import Frame
from nbcfast.table.table import Table
from nbcfast.views.smoothing import constant

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

PARTS = 1_000  # of each half of the work: the search, and what is measured of what it found


# Long by its arguments, which are all there is to say of a search.
def advise(
    table: AnyTable,
    class_name: str,
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    max_bits: float | None = 8,
    max_found: int | None = 0,
    min_flip: float | None = 0.99,
    min_trace: float | None = None,
    max_one_class: int | None = 0,
    by: Literal["correct", "log-loss"] = "correct",
    folds: int = 5,
    on: AnyTable | None = None,
    strata: Sequence[str] = (),
    classes: Sequence[object] | None = None,
    alpha: Numeral | None = None,
    epsilon: Numeral | None = None,
    blocks: int | None = None,
    front: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """The best domain of a menu to publish a canonical release on, whose answers keep the limits.

    A canonical release tells what the classifier answers, and so the domain decides what it gives away. A
    menu, fixed in advance, offers options for each attribute: values as they are, bins, groups, left out.
    Every combination is tried: from the most accurate down the answers of each are measured, and the first
    that keeps the limits is the best there is. Coarser is not always safer, so nothing is skipped but what
    exact bounds rule out.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private rows.
    class_name : str
        The column to predict.
    menu : Menu, mapping, or path of a JSON file, optional
        For each attribute a list of options; columns that it does not name are left out. An entry of the
        class, a single list of values, declares it. By default one that is ready-made, from the table
        itself, see `nbcfast.domains.ready_made`: it was not fixed in advance, so values are published as not
        declared, and nothing bounds what the choice tells.
    max_bits : float, optional
        The most bits a weight. None, here and below: no such limit.
    max_found : int, optional
        The most counts that public totals and the answers may give back.
    min_flip : float, optional
        The least share of people whose class could be another without any answer changing.
    min_trace : float, optional
        The least share of people who could be left out without any answer changing.
    max_one_class : int, optional
        The most values that people of one class only have.
    by : {"correct", "log-loss"}
        What is best: rows answered right, or the mean log-loss.
    folds : int
        Rows are dealt into so many parts, and each is answered by a classifier of the others; 0: by one that
        has seen it.
    on : Table, or what it is made of, optional
        As `table`, of other rows. Choose on these alone: the choice then tells nothing about those of
        `table`, where the chosen domain is only measured.
    strata : sequence of str
        Public columns, fixed in advance, each of which may select: besides one classifier for all there may
        be one for each value of such a column, made of the rows with it alone (see `release_by`), with the
        same options of the other attributes. Limits are kept in every one: counts are added up, bits are the
        most and shares the least of any. An option of which a value has no rows of some class is not tried.
    classes : sequence, optional
        The classes in rising precedence; a tie goes to the later one.
    alpha : int, Fraction, str or float, optional
        For a release with so much added to every count: limits are those of its answers. Domains are compared
        by the classifier as it is.
    epsilon : int, Fraction, str or float, optional
        Choose privately: rows are in `blocks`, each votes for the domain whose classifier answers most of its
        rows right (half of it judged by the other half), and a domain is drawn with a probability
        proportional to exp(epsilon votes / 2). To add or remove a person changes no probability by more than
        a factor of e^epsilon; for somebody who is replaced give half of it. Limits have no part in that
        choice, and the menu and the classes must be fixed in advance.
    blocks : int, optional
        With `epsilon`: how many, a public number; by default 100.
    front : bool
        Measure as well what stands beside the best, which is most of the work; if not, the `front` of the
        advice is the best alone, which is the same.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores; the advice does not depend on it.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Advice
        Its `document`, or the file that `save` writes, is what ``publish(.., domains=)`` takes.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or a row has a value that an option has no place for.
    Infeasible
        If no domain of the menu keeps the limits; `best` says how many break which. If so much work did not
        decide it, ``best["decided"]`` is False. Or if a column has so
        many options and values that they do not fit into memory.

    Examples
    --------
    >>> import nbcfast
    >>> people = {"job": ["cook", "clerk", "cook", "smith"] * 30, "age": [31, 47, 52, 29, 61] * 24,
    ...           "ill": ["no", "no", "yes", "no", "yes", "no"] * 20}
    >>> menu = {"job": [{"values": ["clerk", "cook", "smith"]}, {"out": True}],
    ...         "age": [{"edges": [None, 40, None]}, {"edges": [None, 30, 50, None]}]}
    >>> advice = nbcfast.canonical.advise(people, "ill", menu, max_found=None, max_one_class=None)
    >>> advice.best.sizes, advice.best.flip
    ({'job': 3, 'age': 2}, 1.0)
    """
    expect_progress(progress)
    expect_choice(by, ("correct", "log-loss"), "by")
    expect(front, bool, "front")
    limits = Limits(
        max_bits=max_bits,
        max_found=max_found,
        min_flip=min_flip,
        min_trace=min_trace,
        max_one_class=max_one_class,
    )
    added = None if alpha is None else constant(alpha)
    private = None if isinstance(table, Frame) and menu is not None else table_of(table, "table")
    offered = _offered(menu, private, class_name)
    columns = expect_columns(strata, offered)
    needed = [*offered.attributes, class_name]
    if private is None:
        private = table_of(table, "table", needed)
    present = table.names if isinstance(table, Frame) else private.names
    beside = tuple(name for name in present if name not in needed)
    private = _with_classes(private, class_name, offered, classes)
    others = None if on is None else _with_classes(table_of(on, "on", needed), class_name, offered, classes)
    if others is not None:
        _expect_others(private, others, [*offered.attributes, class_name])
    rows = private if others is None else others
    by_votes = epsilon is not None or blocks is not None
    # Of strata an option of the whole says nothing: they are looked at one by one.
    space = expect_classes(Space.of(rows, class_name, offered), class_name)
    places = every_place(offered) if by_votes or columns else kept_places(space, limits)
    kept = [
        offered.options[name][place] for name, of in zip(offered.options, places, strict=True) for place in of
    ]
    if not all(places) or all(option.out for option in kept):
        refused = nothing_kept(Counter(max_one_class=offered.n_choices), exhaustive=True)
        raise with_coarsest(refused, space, Meter(space, limits, threads, added))
    searched = offered.keeping(places)
    if searched.n_choices < offered.n_choices:
        space = Space.of(rows, class_name, searched)
    basis = _Basis.of(space, places, folds, limits, threads, added)
    if by_votes:
        if epsilon is None or by != "correct" or others is not None or columns:
            raise ValueError(
                "epsilon goes with blocks, by='correct' and the table alone, no strata, and blocks with it"
            )
        voted = _by_votes(basis, offered, class_name, private, epsilon, 100 if blocks is None else blocks)
        return replace(voted, beside=beside)
    selecting = Selecting.of(basis.space, offered, columns)
    struck_out = offered.n_choices - searched.n_choices
    searching, measuring = halves(progress)
    for most in (None, 0):  # all choices, and where too many of them break the limits, a beam of them
        ways = RankedWays(basis.space, basis.candidates, selecting, folds, by, threads, searching, most=most)
        walk = Walk(ways, basis.meter, measuring, struck_out=struck_out)
        try:
            best = walk.first()
            break
        except Infeasible as refused:
            raise with_coarsest(refused, basis.space, basis.meter) from None
        except TooManyError:
            if not ways.exhaustive:
                raise with_coarsest(undecided(walk.broken), basis.space, basis.meter) from None
    n_looked_at = walk.n_looked_at
    here = None
    if others is not None:
        own_space = expect_classes(Space.of(private, class_name, searched), class_name)
        own = _Basis.of(own_space, places, folds, limits, threads, added)
        here = own.choice(own.meter.measured(best.way, wholly=True))
    return Advice(
        best=basis.choice(best),
        frequent=basis.frequent,
        front=tuple(basis.choice(measured) for measured in (walk.front(best) if front else [best])),
        here=here,
        menu=offered,
        class_name=class_name,
        limits=limits,
        by=by,
        folds=folds,
        rows="private" if others is None else "other",
        exhaustive=ways.exhaustive,
        looked_at=n_looked_at,
        strata=columns,
        lacking=selecting.lacking,
        beside=beside,
    )


def halves(progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """What tells of the two halves of a work, each by its own numbers, as of one whole.

    Its parts never become fewer: a half that is begun once more is told of from where it was on.
    """
    if progress is None:
        return None, None
    most = 0

    def tell(n_before: int, done: int, total: int) -> None:
        nonlocal most
        most = max(most, n_before + (PARTS * done // total if total else PARTS))
        progress(most, 2 * PARTS)

    return partial(tell, 0), partial(tell, PARTS)


def every_place(menu: Menu) -> tuple[tuple[int, ...], ...]:
    """The places of all options of each attribute."""
    return tuple(tuple(range(len(menu.options[name]))) for name in menu.attributes)


def expect_classes(space: Space, class_name: str) -> Space:
    """The space, if there are two classes."""
    if space.n_classes < 2:
        raise ValueError(f"class_name: {class_name!r} has one class, and there is nothing to choose by")
    return space


def kept_places(space: Space, limits: Limits) -> tuple[tuple[int, ...], ...]:
    """The places of the options that break no limit by themselves.

    Values of one class of an option are those whatever the other attributes are: where they are too many, so
    they are in every domain with this option, and no such domain is looked for.
    """
    return tuple(
        tuple(
            o
            for o in range(len(options))
            if limits.kept("max_one_class", values_of_one_class(space.counts(a, o)))
        )
        for a, options in enumerate(space.options)
    )


def _by_votes(
    basis: _Basis, menu: Menu, class_name: str, table: Table, epsilon: Numeral, blocks: int
) -> Advice:
    """The domain that blocks of rows vote for, drawn privately; nothing else has a part in it."""
    space = basis.space
    if menu.undeclared or not space.class_domain.declared:
        raise ValueError(
            "epsilon: a private choice asks for a menu and classes that are fixed in advance, got some from "
            "the rows"
        )
    if menu.n_choices > MOST_LEAVES:
        raise Infeasible(
            f"each block has to try all {menu.n_choices:,} domains of the menu, and {MOST_LEAVES:,} can be "
            "tried: offer fewer options",
            {"choices": menu.n_choices},
        )
    shape = tuple(map(len, space.options))

    def voted(weights: Longs) -> int:
        rows = np.flatnonzero(weights)
        candidates = Candidates(
            space.codes[rows],
            space.classes[rows],
            space.options,
            space.n_classes,
            weights=weights[rows],
            n_values=space.sizes,
            folds=2,
        )
        choice, _ = next(candidates.search("correct").best_first())
        return int(np.ravel_multi_index(choice, shape))

    votes = votes_of(space.public_places(), space.weights, blocks, voted)
    drawn = choose_by_votes(votes, menu.n_choices, epsilon)
    choice = tuple(int(place) for place in np.unravel_index(drawn, shape))
    best = basis.choice(basis.meter.measured(Way(choice), wholly=True))
    return Advice(
        best=best,
        frequent=basis.frequent,
        front=(best,),
        here=None,
        menu=menu,
        class_name=class_name,
        limits=basis.meter.limits,
        by="votes",
        folds=basis.candidates.folds,
        rows="private",
        exhaustive=True,
        looked_at=1,
        beside=(),
        epsilon=as_limit(exact(epsilon, "epsilon"), "epsilon"),
        blocks=blocks,
    )


@dataclass(frozen=True)
class _Basis:
    """Rows that choices are judged by: what a choice is worth, and what it gives away."""

    space: Space
    candidates: Candidates
    meter: Meter
    folds: int
    places: tuple[tuple[int, ...], ...]  # of its options in the menu
    _strata: dict[tuple[int, int], list[Candidates]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        space: Space,
        places: tuple[tuple[int, ...], ...],
        folds: int,
        limits: Limits,
        threads: int | None,
        alpha: Number | None,
    ) -> _Basis:
        meter = Meter(space, limits, threads, alpha)
        return cls(space, candidates_of(space, folds), meter, folds, places)

    @property
    def frequent(self) -> MostFrequent:
        """The class that most of the rows have."""
        space = self.space
        people = [
            int(space.weights[space.classes == place].sum()) for place in range(len(space.class_domain))
        ]
        most = max(people)
        return MostFrequent(space.class_domain.values[people.index(most)], most)

    def choice(self, measured: Measured) -> DomainChoice:
        """What there is to say of a choice."""
        parts, of_others = self._parts(measured.way), measured.way.of_others
        correct = sum(part.correct(of_others) for part in parts)
        losses = [part.loss(of_others) for part in parts]
        finite = math.fsum(loss.finite for loss in losses)
        sizes = {
            name: sizes[place]
            for name, sizes, place in zip(
                self.space.attributes, self.space.sizes, measured.choice, strict=True
            )
            if sizes[place]
        }
        return DomainChoice(
            choice=tuple(kept[place] for kept, place in zip(self.places, measured.choice, strict=True)),
            by_column=None if measured.by is None else self.space.attributes[measured.by],
            sizes=sizes,
            tuples=measured.tuples,
            correct=correct,
            accuracy=correct / self.candidates.rows,
            log_loss=math.inf if any(loss.infinite for loss in losses) else finite / self.candidates.rows,
            bits=measured.bits,
            found=measured.found,
            cells=measured.cells,
            flip=measured.flip,
            trace=measured.trace,
            one_class=measured.one_class,
            broken=measured.broken,
        )

    def _parts(self, way: Way) -> list[Candidates]:
        """The rows of each classifier."""
        if way.by is None:
            return [self.candidates]
        key = way.by, way.choice[way.by]
        if key not in self._strata:
            self._strata[key] = strata_of(self.space, *key, self.folds)
        return self._strata[key]


def _offered(
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None, table: Table | None, class_name: str
) -> Menu:
    """The menu; a ready-made one of the table where there is none."""
    if menu is None:
        assert table is not None
        return ready_made(table, class_name)
    return menu if isinstance(menu, Menu) else Menu.read(menu, class_name)


def _expect_others(table: Table, others: Table, columns: Sequence[str]) -> None:
    """ValueError if these rows are the private ones, or mostly: then the choice tells of them."""
    present = [name for name in columns if name in table.names and name in others.names]
    try:
        expect_others(table, others, present)
    except ValueError:
        raise ValueError(
            "on must have other rows than the table, got the same, or mostly the same ones: a choice by "
            "these is one by the private rows, and tells of them"
        ) from None


def _with_classes(table: Table, class_name: str, menu: Menu, classes: Sequence[object] | None) -> Table:
    """The table with the classes that were declared, if any were."""
    table.column(class_name)
    declared = menu.class_values if classes is None else classes
    return table if declared is None else Table(table, domains={class_name: list(declared)})
