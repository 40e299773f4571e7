"""`risk`: all associations of a table at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast._core.dtypes import Bools
from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, File, batches_from
from nbcfast.associations import costs
from nbcfast.associations.chains import Chain, TooWideError, chain_of
from nbcfast.associations.costs import Cost, TooCostlyError, cost_of
from nbcfast.associations.explicit import Explicit, Outcome
from nbcfast.associations.joins import Join, joined
from nbcfast.associations.one_join_key import OneJoinKey
from nbcfast.associations.projections import Columns, Layout, distinct, layout, side, tuples_a_join_value
from nbcfast.associations.results import Core, Risk, check_columns, check_progress, check_where
from nbcfast.associations.sampling import Sampling
from nbcfast.associations.sizes import WorldModel, check_model
from nbcfast.associations.stars import star_enclosed, star_probabilities, star_probability
from nbcfast.associations.streamed_views import read
from nbcfast.associations.tables_of_views import are_tables, read_tables
from nbcfast.associations.whole_tuples import whole_tuples
from nbcfast.frames import Frame
from nbcfast.table import Table

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

WorldKind = Literal["projected", "full"]

ERROR = "0.01"  # where none is given
WIDER = ("0.02", "0.05", "0.1")


def risk(
    table: AnyTable | Sequence[AnyTable],
    views: Iterable[Iterable[str]],
    identity: str,
    attribute: str,
    *,
    model: WorldModel = "unrestricted",
    worlds: WorldKind = "projected",
    where: Mapping[str, object] | None = None,
    error: Numeral | None = None,
    confidence: Numeral = "0.95",
    rng: np.random.Generator | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Risk:
    r"""How likely each identity has each value of a private attribute, for somebody who sees the views.

    All worlds that give the same views are equally likely. Two views, or more that all share one join key,
    take one pass and closed forms, whatever their size (but where nearly all tuples of one side of a large
    join value are of one identity or value).

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). All but the first three are read batch by batch, in memory of the order of the views. Weights are
        ignored: views are sets. A list or tuple of as many such tables as there are views has a table for
        each view, which is read from it alone: of the columns that two views share they must have the same
        tuples, as views of the same rows do.
    views : iterable of iterables of str
        The columns of each published view, at least two.
    identity, attribute : str
        The columns whose association is private, in two different views.
    model : {"unrestricted", "restricted"}
        Whether an identity may have several values, or the one in question is known to have a single one.
        The unrestricted probability is 0 or at least 1/2 however many people share a join value (between two
        views above it); the restricted one measures hiding.
    worlds : {"projected", "full"}
        Of the tuples of every view that has the identity or the attribute only these and the columns that
        another view has too count (the paper's graph), or whole tuples do (its Definition 3.2). Views that
        have neither always count by whole tuples. The order of the views never matters.
    where : mapping, optional
        The secret query: the identity and the attribute column -> a value, values, or a callable of a value
        that are asked for. The views, and with them the probabilities, stay those of the whole table.
    error, confidence : number
        Where worlds must be sampled: how far an unrestricted probability may be off, and with which
        probability it is not (of a piece of worlds that is not too rare; the interval says how far). Without
        an error it is 0.01, and what is estimated to take more than ten seconds or 1 GB is refused: with one
        that is given, be it 0.01, the work is done however long it takes.
    rng : numpy.random.Generator, optional
        For sampling; by default seeded by the operating system.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, all): rows of each view, then identities.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If there are no rows, a column is missing, there are fewer than two views, identity and attribute are
        in one view alone, or there are other tables than views. `associations.TooLargeError`, which is one,
        if the join is too large to be worked with, and `associations.TooCostlyError`, another, if it would
        take too long and no error is given: its `cost` has `seconds` and `bytes`.

    Notes
    -----
    With m identities and n values at the one join value of an identity the probability is
    `probability(m, n)`. With several join values it is 1 - prod(1 - P) over those that have the value,
    restricted 1 over the number of values that all of them have. It is 0 where no join value has both, and
    None (NaN in arrays) where the restricted model has no world: an identity that is alone at a join value
    with several values, or has no value in common at all its join values.

    Views in a chain are exact by message passing. Of any other views the worlds are sets of join
    tuples: exact where pieces of at most 20 join tuples (or 14 view tuples) are left once those are set
    apart that must be in every world, else sampled: up to 131,072 join tuples, of which at most 16,384 may
    hang together where few of their sets are worlds. Restricted worlds must not be rarer than one set in 64.
    `Risk.method` and `Risk.confidence` say which. "flips" in the method are Markov chains whose mixing is not
    proven.

    Nulls are ordinary values.

    Examples
    --------
    >>> people = Table(
    ...     {
    ...         "name": ["George", "John", "Bill"],
    ...         "age": [45, 45, 30],
    ...         "problem": ["HIV", "Cold", "Cold"],
    ...     }
    ... )
    >>> found = risk(people, [("name", "age"), ("age", "problem")], "name", "problem")
    >>> found.of("George", "HIV").exact, found.of("Bill", "Cold").exact, found.of("Bill", "HIV").exact
    (Fraction(5, 7), Fraction(1, 1), Fraction(0, 1))
    >>> found.by_join_value()
    age  identities  values  associations  probability
    30   1           1       1             1
    45   2           2       4             0.714286
    >>> [row["name"] for row in found.above("0.8")]
    ['Bill']
    """
    check_model(model)
    check_progress(progress)
    choice(worlds, ("projected", "full"), "worlds")
    plan = layout(views, identity, attribute, worlds)
    sampling = _sampling(ERROR if error is None else error, confidence, rng)
    parts = _read(table, plan, threads, progress)
    domains = parts[0].domains[identity], parts[1].domains[attribute]
    wanted_ids, wanted_values = check_where(where, identity, attribute, domains)
    drawn: Fraction | None = None
    core: Core
    if plan.shape == "star":
        core = _star(plan, parts, model, worlds, wanted_ids, wanted_values, threads, progress)
        method = "join values"
    else:
        bounded = error is None
        explicit, join = _listed(
            plan, parts, model, wanted_ids, wanted_values, sampling, bounded, threads, progress
        )
        core, method = explicit, "chain" if join is None else "enumeration"
        if explicit.sampled:
            drawn = sampling.confidence
            method = "sampling" if join is None or not join.flipped else "sampling with flips"
    return Risk(
        identity,
        attribute,
        plan.views,
        plan.join,
        model,
        worlds,
        method,
        drawn,
        core.n_identities,
        core.n_associations,
        core.n_without_world,
        core,
        domains,
    )


def _sampling(error: Numeral, confidence: Numeral, rng: np.random.Generator | None) -> Sampling:
    numbers = []
    for number, where in ((error, "error"), (confidence, "confidence")):
        exact = Fraction(exact_share(number, where))
        if not 0 < exact < 1:
            raise ValueError(f"{where} must be between 0 and 1, got {number!r}")
        numbers.append(exact)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
    return Sampling(numbers[0], numbers[1], np.random.default_rng() if rng is None else rng)


def _read(
    table: AnyTable | Sequence[AnyTable], plan: Layout, threads: int | None, progress: Progress | None
) -> list[Columns]:
    """The columns of each part: of one table, of the distinct tuples of a stream, or of tables of theirs."""
    if isinstance(table, (list, tuple)) and are_tables(table):
        return read_tables(table, plan, threads, progress)
    if isinstance(table, Frame):
        for place, view in enumerate(plan.views):
            check_columns(table.names, view, f"views[{place}]")
        # In one query, and so of the same rows: columns of several parts have one domain.
        tables = table.tables(plan.parts)
        return [Columns.of(one, part) for one, part in zip(tables, plan.parts, strict=True)]
    unread = sorted({name for view in plan.views for name in view} - set(plan.names))
    source = batches_from(table)
    if isinstance(source, File):
        source.expect(unread)  # that they are there is all that is asked
        unread = []
    if not isinstance(source, Table):
        return read(source, plan.parts, threads, progress, unread)
    for place, view in enumerate(plan.views):  # also columns that nothing is asked of
        check_columns(source.names, view, f"views[{place}]")
    columns = Columns.of(source, plan.names)
    return [columns] * len(plan.parts)


def _star(
    plan: Layout,
    parts: list[Columns],
    model: WorldModel,
    worlds: WorldKind,
    wanted_ids: Bools,
    wanted_values: Bools,
    threads: int | None,
    progress: Progress | None,
) -> Core:
    join = plan.join
    assert join is not None
    identities = side(parts[0], plan.parts[0], join, plan.identity, threads, progress)
    values = side(parts[1], plan.parts[1], join, plan.attribute, threads, progress)
    further = [
        tuples_a_join_value(columns, part, join, threads, progress)
        for columns, part in zip(parts[2:], plan.parts[2:], strict=True)
    ]
    if worlds == "full":
        sizes = [identities.sizes, values.sizes, *further]
        return whole_tuples(
            identities, values, sizes, plan.numbers, model, wanted_ids, wanted_values, progress
        )
    sizes = [identities.groups.distinct, values.groups.distinct, *further]
    return OneJoinKey(
        identities.groups,
        values.groups,
        sizes,
        plan.numbers,
        model,
        star_probabilities,
        star_enclosed,
        star_probability,
        wanted_ids,
        wanted_values,
        threads,
        progress,
    )


def _listed(
    plan: Layout,
    parts: list[Columns],
    model: WorldModel,
    wanted_ids: Bools,
    wanted_values: Bools,
    sampling: Sampling,
    bounded: bool,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Explicit, Join | None]:
    tuples = [
        distinct(columns, part, threads, progress) for columns, part in zip(parts, plan.parts, strict=True)
    ]
    people = [code for code in np.unique(tuples[0].codes[plan.identity]).tolist() if wanted_ids[code]]
    if plan.shape == "chain":
        with suppress(TooWideError):
            chain = chain_of(tuples, plan.parts, plan.identity, plan.attribute)
            find: Callable[[int], Mapping[int, Outcome]] = partial(chain.outcomes, model)
            if bounded:
                find = _Bounded(chain, model, len(people))
            case = f"a chain of {len(tuples)} views"
            return Explicit(find, people, case, wanted_ids, wanted_values, None, progress), None
    join = joined(tuples, plan.parts, plan.identity, plan.attribute, sampling)
    if bounded:
        _check_cost(join, model, people, sampling)
    find = partial(join.outcomes, model)
    return Explicit(find, people, "worlds of the join", wanted_ids, wanted_values, None, progress), join


class _Bounded:
    """Outcomes of a chain, that end once the work for the first people says that all will be too much."""

    def __init__(self, chain: Chain, model: WorldModel, people: int) -> None:
        self.chain, self.model, self.people = chain, model, people
        self.done = self.spent = 0
        chain.spend = self.spend

    def __call__(self, code: int) -> Mapping[int, Outcome]:
        outcomes = self.chain.outcomes(self.model, code)
        self.done += 1
        return outcomes

    def spend(self, entries: int) -> None:
        self.spent += entries
        seconds = self.spent * costs.ENTRY
        if self.done < self.people and seconds > costs.MOST_SECONDS / 10:
            # The one who is at work counts as done, so that nothing is refused that would have been enough.
            cost = Cost(seconds * self.people / (self.done + 1), 0)
            if not cost.fits:
                raise TooCostlyError(cost)


def _check_cost(join: Join, model: WorldModel, people: list[int], sampling: Sampling) -> None:
    cost = cost_of(join, model, people, sampling)
    if cost.fits:
        return
    for error in WIDER:
        other = cost_of(join, model, people, replace(sampling, error=Fraction(error)))
        if other.fits:
            raise TooCostlyError(cost, (error, other))
    raise TooCostlyError(cost)
