"""`simulate`: the accuracy after many repetitions of the coins, without throwing them record by record.

What naive Bayes sees are counts, and the number of liars among m equal records is Binomial(m, 1 - theta): the
same law as that of m coins. Repetitions are therefore one draw of (patterns x repetitions) binomial numbers
and a few matrix products. docs/mathematics/response.md, section 7.
"""

from __future__ import annotations

import numpy as np

from nbcfast._core.dtypes import Array, Floats, Longs, Places
from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.validation import generator_or_none, type_name, whole
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.response.kary_scheme import KaryScheme
from nbcfast.response.schemes import AnyScheme
from nbcfast.table import Domain, Table


def simulate(
    train: AnyTable,
    test: AnyTable,
    scheme: AnyScheme,
    class_name: str,
    *,
    repetitions: int = 100,
    alpha: Numeral = 1,
    rng: np.random.Generator | None = None,
) -> Floats:
    """The accuracy on plain test records of classifiers from disguised training records, once a repetition.

    The law is that of `disguise`, `estimate`, `classifier` and `predict` one after the other; scores are
    compared as floats, which for a simulation is near enough.

    Parameters
    ----------
    train, test : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Plain records, weights allowed.
    scheme : Scheme or KaryScheme
        The latter with a column a group, and not the class.
    class_name : str
        The column to predict.
    repetitions : int
        How often all coins are thrown.
    alpha : number
        Smoothing.
    rng : numpy.random.Generator, optional
        By default one with a seed from the operating system.

    Returns
    -------
    ndarray of float64, shape (repetitions,)

    Examples
    --------
    >>> from nbcfast.response import Scheme
    >>> table = Table({"a": [0, 0, 1, 1] * 50, "c": [0, 0, 1, 1] * 50})
    >>> simulate(table, table, Scheme(1, [["a"]]), "c", repetitions=2)
    array([1., 1.])
    """
    train, test = table_from(train, "train"), table_from(test, "test")
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    generator_or_none(rng)
    repetitions = whole(repetitions, "repetitions", got=type_name)
    train.column(class_name)
    smoothing = float(exact(alpha, "alpha"))
    if smoothing < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    if repetitions < 1:
        raise ValueError(f"repetitions must be at least 1, got {repetitions}")
    generator = np.random.default_rng() if rng is None else rng
    declared = scheme.declared(train)
    attributes = [name for name in train.names if name != class_name]
    domains = {name: declared.order(name, train.column(name).domain) for name in train.names}
    distinct = train.collapse()
    if not distinct.n_rows:
        raise ValueError("no rows")
    assert distinct.weights is not None
    n = int(distinct.weights.sum())
    rows = {
        name: distinct.column(name).domain.positions_in(domains[name])[distinct.codes(name)]
        for name in train.names
    }
    sizes = {name: len(domain) for name, domain in domains.items()}
    truths = _TrueRecords(rows, distinct.weights, sizes, class_name)
    draw = truths.kary_answers if isinstance(declared, KaryScheme) else truths.binary_answers
    observed = draw(declared, attributes, repetitions, generator)

    prior = _prior(declared, class_name, truths.class_counts(observed, attributes, repetitions) / n)
    joint = {name: n * _nearest_joint(declared, name, class_name, observed[name] / n) for name in attributes}
    plain = test.select([*attributes, class_name]).collapse()
    if not plain.n_rows:
        raise ValueError("no rows")
    assert plain.weights is not None
    true_labels = _places(plain, class_name, domains[class_name])
    right = _labels(plain, prior, joint, smoothing, domains) == true_labels[:, np.newaxis]
    accuracies: Floats = (plain.weights @ right) / plain.weights.sum()
    return accuracies


def _labels(
    records: Table, prior: Floats, joint: dict[str, Floats], smoothing: float, domains: dict[str, Domain]
) -> Places:
    """The labels of plain records, one column a repetition; `joint` are numbers of records, not shares."""
    with np.errstate(divide="ignore"):
        scores_of_class = np.log(prior)
    scores = np.repeat(scores_of_class[np.newaxis], records.n_rows, axis=0)
    for name, numbers in joint.items():
        total = numbers.sum(axis=0, keepdims=True) + len(numbers) * smoothing
        with np.errstate(divide="ignore", invalid="ignore"):
            conditional = np.where(total > 0, (numbers + smoothing) / total, 1 / len(numbers))
            scores += np.log(conditional)[_places(records, name, domains[name])]
    # The later class wins ties.
    labels: Places = len(prior) - 1 - np.argmax(scores[:, ::-1], axis=1)
    return labels


def _places(table: Table, name: str, domain: Domain) -> Longs:
    """The codes of a column in a domain of the training records."""
    places: Longs = table.column(name).domain.positions_in(domain)
    if (places < 0).any():
        value = table.domain(name)[int(np.argmin(places))]
        raise ValueError(
            f"column {name!r}: value {value!r} of the test records is not in the training records"
        )
    return places[table.codes(name)]


class _TrueRecords:
    """Counts of distinct true records, from which those of answers are drawn."""

    def __init__(
        self, rows: dict[str, Array], weights: Longs, sizes: dict[str, int], class_name: str
    ) -> None:
        self.rows, self.weights, self.sizes, self.class_name = rows, weights, sizes, class_name

    def class_counts(self, observed: dict[str, Longs], attributes: list[str], repetitions: int) -> Longs:
        """How many answers name each class, one column a repetition."""
        if attributes:
            counts: Longs = observed[attributes[0]].sum(axis=0)
            return counts
        true = np.bincount(self.rows[self.class_name], self.weights, self.sizes[self.class_name])
        return np.repeat(true.astype(np.int64)[:, np.newaxis], repetitions, axis=1)

    def _summed(self, codes: Array, size: int, numbers: Longs) -> Longs:
        """Sums of the rows of `numbers` by their codes, one row a code."""
        order = np.argsort(codes, kind="stable")
        distinct, first = np.unique(codes[order], return_index=True)
        sums = np.zeros((size, numbers.shape[1]), np.int64)
        sums[distinct] = np.add.reduceat(numbers[order], first, axis=0)
        return sums

    def _joint(self, rows: dict[str, Array], name: str, numbers: Longs) -> Longs:
        """Sums of `numbers` by value and class, of shape (values, classes, repetitions)."""
        k_a, k_c = self.sizes[name], self.sizes[self.class_name]
        codes = rows[name] * k_c + rows[self.class_name]
        return self._summed(codes, k_a * k_c, numbers).reshape(k_a, k_c, -1)

    def binary_answers(
        self,
        scheme: AnyScheme,
        attributes: list[str],
        repetitions: int,
        rng: np.random.Generator,
    ) -> dict[str, Longs]:
        """Of each attribute the counts of answers by value and class: all columns of a group lie together."""
        rows = self.rows
        numbers = np.repeat(self.weights[:, np.newaxis], repetitions, axis=1)
        class_group = scheme.group_of(self.class_name)
        if class_group is not None:
            # First, because all other groups share the class with it.
            group = scheme.groups[class_group]
            liars = rng.binomial(numbers, float(1 - group.theta))
            lies = {name: 1 - codes if name in group.columns else codes for name, codes in rows.items()}
            rows = {name: np.concatenate([codes, lies[name]]) for name, codes in rows.items()}
            numbers = np.concatenate([numbers - liars, liars])
        observed = {}
        for place, group in enumerate(scheme.groups):
            names = [name for name in group.columns if name != self.class_name]
            if place == class_group or not names:
                continue
            # Coins of other groups are others: what this one does depends on its columns and the class alone.
            codes = rows[self.class_name].astype(np.int64)
            for name in names:
                codes = codes * self.sizes[name] + rows[name]
            distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
            sums = self._summed(inverse.reshape(-1), len(distinct), numbers)
            liars = rng.binomial(sums, float(1 - group.theta))
            of_group = {name: rows[name][first] for name in (*names, self.class_name)}
            for name in names:
                true = self._joint(of_group, name, sums - liars)
                observed[name] = true + self._joint(of_group, name, liars)[::-1]
        for name in attributes:
            if name not in observed:
                observed[name] = self._joint(rows, name, numbers)
        return observed

    def kary_answers(
        self,
        scheme: AnyScheme,
        attributes: list[str],
        repetitions: int,
        rng: np.random.Generator,
    ) -> dict[str, Longs]:
        """Of each attribute the counts of answers by value and class: each column lies by itself."""
        assert isinstance(scheme, KaryScheme)
        if scheme.group_of(self.class_name) is not None or any(len(g.columns) > 1 for g in scheme.groups):
            raise ValueError("simulated are k-ary schemes with a column a group, and the class left alone")
        observed = {}
        for name in attributes:
            true = self._joint(self.rows, name, self.weights[:, np.newaxis])[:, :, 0]
            place = scheme.group_of(name)
            if place is None:
                observed[name] = np.repeat(true[:, :, np.newaxis], repetitions, axis=2)
                continue
            k, theta = len(true), scheme.groups[place].theta
            if theta * k >= 1:
                # Kept as it is, or replaced by any of the k values, itself among them: the same law.
                kept = rng.binomial(
                    true[:, :, np.newaxis], float(scheme.shrinkage(name, None)[0]), (*true.shape, repetitions)
                )
                pool = (true.sum(axis=0)[:, np.newaxis] - kept.sum(axis=0)).T
                observed[name] = kept + rng.multinomial(pool, np.full(k, 1 / k)).transpose(2, 1, 0)
            else:
                chances = np.full((k, k), float((1 - theta) / (k - 1)))
                np.fill_diagonal(chances, float(theta))
                answers = np.zeros((*true.shape, repetitions), np.int64)
                for a in range(k):
                    drawn = rng.multinomial(true[a], chances[a], (repetitions, true.shape[1]))
                    answers += drawn.transpose(2, 1, 0)
                observed[name] = answers
        return observed


def _prior(scheme: AnyScheme, class_name: str, shares: Floats) -> Floats:
    """The estimated shares of the classes, one column a repetition."""
    k = len(shares)
    factor = float(scheme.shrinkage(class_name, None)[0])
    return shares if factor == 1 else nearest_floats(1 / k + (shares - 1 / k) / factor)


def _nearest_joint(scheme: AnyScheme, name: str, class_name: str, shares: Floats) -> Floats:
    """As `estimate` does, for arrays of (values, classes, repetitions)."""
    rows, columns, both = map(float, scheme.shrinkage(name, class_name))
    mean = shares.mean(axis=(0, 1), keepdims=True)
    row, column = (
        shares.mean(axis=1, keepdims=True) - mean,
        shares.mean(axis=0, keepdims=True) - mean,
    )
    raw: Floats = mean + row / rows + column / columns + (shares - mean - row - column) / both
    k_a, k_c, repetitions = raw.shape
    group, class_group = scheme.group_of(name), scheme.group_of(class_name)
    if group is None and class_group is None:
        return raw
    if class_group is None:
        return nearest_floats(raw)
    if group is None:
        return nearest_floats(raw.transpose(1, 0, 2)).transpose(1, 0, 2)
    if group == class_group and (k_a, k_c) == (2, 2):
        joint = np.empty_like(raw)
        joint[[0, 1], [0, 1]] = nearest_floats(raw[[0, 1], [0, 1]])
        joint[[0, 1], [1, 0]] = nearest_floats(raw[[0, 1], [1, 0]])
        return joint
    return nearest_floats(raw.reshape(k_a * k_c, repetitions)).reshape(raw.shape)


def nearest_floats(points: Floats) -> Floats:
    """The nearest points with entries of at least 0 and the same sums, along the first axis."""
    total = np.maximum(points.sum(axis=0), 0.0)
    ordered = -np.sort(-points, axis=0)
    shape = (len(points),) + (1,) * (points.ndim - 1)
    shifts = (np.cumsum(ordered, axis=0) - total) / np.arange(1, len(points) + 1).reshape(shape)
    kept = np.maximum((ordered > shifts).sum(axis=0) - 1, 0)
    shift = np.take_along_axis(shifts, kept[np.newaxis], axis=0)
    nearest: Floats = np.maximum(points - shift, 0.0)
    return nearest
