"""`Viewset`: class counts and, attribute by attribute, how often each (value, class) pair occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Bools, UInt16s
from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable
from nbcfast.table import Domain
from nbcfast.views.aggregated import GroupRows, LabelRows, aggregated
from nbcfast.views.exchanged import as_bytes, parts_of_bytes
from nbcfast.views.given_counts import given_parts
from nbcfast.views.held_counts import HeldCounts
from nbcfast.views.merging import merged_parts
from nbcfast.views.record_scorer import RecordScorer
from nbcfast.views.redeclared import redeclared
from nbcfast.views.scoring import order, predict, record_scorer, tied_tuples
from nbcfast.views.shown_views import in_words
from nbcfast.views.smoothing import smoothed
from nbcfast.views.tallying import tally_codes

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


class Viewset(HeldCounts):
    """The views of a naive Bayes classifier: P_c, and N^i_{t,c} for every attribute i, value t and class c.

    A viewset does not change. Two are equal if they have the same classes in the same precedence, the same
    attributes in the same order with the same values, the same counts, and the same noise.

    Parameters
    ----------
    class_counts : array_like of int, shape (classes,)
        How many rows each class has; any size of integer.
    attribute_counts : sequence or mapping of array_like of int, shape (values, classes)
        One array an attribute; a mapping gives their names as well.
    classes : sequence, optional
        Labels in rising precedence: a tie of scores goes to the later one. By default 0, 1, ..
    attributes : sequence of str, optional
        Names; by default those of the mapping, or A1, A2, ..
    domains : mapping of name -> sequence, optional
        The values of an attribute, one a row of its array. By default 0, 1, ..

    Attributes
    ----------
    classes : tuple
    attributes : tuple of str
    class_counts : ndarray of int64 (of Python ints where 64 bits are too few), read only
    counts : mapping of name -> ndarray, shape (values, classes), read only
    class_domain : Domain
        The domain whose values are `classes`.
    domains : mapping of name -> Domain, read only
        What `domain` gives the values of.
    n_rows : int
        The sum of the class counts: rows, or their total weight.
    n_tuples : int
        How many tuples of attribute values there are: the size of the product of the domains.
    noise : Noise or None
        What is known of the noise that was added to the counts, where `nbcfast.dp.counts` has made them.
    weighted : bool
        Whether a row may count for more than one, as it does in counts of weights, and in `smoothed` ones.

    Raises
    ------
    TypeError
        If a count is not an integer.
    ValueError
        If a count is negative, shapes do not agree, or names, labels or values repeat.

    Examples
    --------
    >>> views = Viewset([3, 2], {"job": [[3, 0], [0, 2]]}, classes=["no", "yes"],
    ...                 domains={"job": ["clerk", "cook"]})
    >>> views.counts["job"][1], views.is_realistic()
    (array([0, 2]), True)
    """

    __slots__ = ()

    def __init__(
        self,
        class_counts: npt.ArrayLike,
        attribute_counts: Mapping[str, npt.ArrayLike] | Sequence[npt.ArrayLike],
        classes: Iterable[object] | None = None,
        attributes: Iterable[str] | None = None,
        *,
        domains: Mapping[str, Iterable[object]] | None = None,
    ) -> None:
        self._set(*given_parts(class_counts, attribute_counts, classes, attributes, domains))

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike | Sequence[npt.ArrayLike],
        class_codes: npt.ArrayLike,
        *,
        sizes: Sequence[int] | None = None,
        n_classes: int | None = None,
        weights: npt.ArrayLike | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Viewset:
        """Count integer codes where they lie: no table, no copy, any integer type and memory order.

        Parameters
        ----------
        codes : array_like of int, shape (rows, attributes), or a sequence of 1-D arrays
            Values as 0, 1, .. . A 2-D array is the layout of scikit-learn.
        class_codes : array_like of int, shape (rows,)
            The class of each row.
        sizes : sequence of int, optional
            How many values each attribute has. By default one more than its largest code: the domain comes
            from the rows then, and is not declared.
        n_classes : int, optional
            By default one more than the largest class code, and not declared either.
        weights : array_like of int, optional
            Integers of at least 1.
        threads, progress
            As for `nbcfast.count`.

        Returns
        -------
        Viewset
            With attributes A1, A2, .. and the codes as values and labels.

        Raises
        ------
        ValueError
            If a code lies outside its size, or lengths differ.

        Examples
        --------
        >>> Viewset.from_codes([[0, 2], [1, 2]], [0, 1]).counts["A2"].tolist()
        [[0, 0], [0, 0], [1, 1]]
        """
        return cls.from_parts(
            *tally_codes(
                codes,
                class_codes,
                sizes=sizes,
                n_classes=n_classes,
                weights=weights,
                threads=threads,
                progress=progress,
            ),
            weighted=weights is not None,
        )

    @classmethod
    def from_groups(
        cls,
        groups: Mapping[str, GroupRows],
        class_name: str = "class",
        *,
        classes: Iterable[object] | None = None,
        class_counts: LabelRows | None = None,
        domains: Mapping[str, Iterable[object] | Domain] | None = None,
        declared: bool = False,
        weighted: bool = False,
    ) -> Viewset:
        """The views of rows that were grouped already, as by ``GROUP BY value, class`` for each attribute.

        They equal those that `nbcfast.count` makes of the ungrouped rows, and add to such.

        Parameters
        ----------
        groups : mapping of name -> groups
            Of each attribute a tuple (values, classes, numbers) of sequences, or Arrow data or a Table with
            these three columns in this order; a Table of two with weights has its numbers in them. Rows of
            the same value and class add up, and their order does not matter. Numbers are integers of 64
            bits, or decimals of scale 0; one of 0 counts for nothing.
        class_name : str
            The name of the class, for `domains` and errors; Arrow data may have no other column so named.
        classes : iterable, optional
            Class labels in rising precedence, as of `nbcfast.count`.
        class_counts : (labels, numbers), Arrow data or Table, optional
            How many rows each class has. Needed without attributes; with some it must agree with them.
        domains : mapping of name -> sequence, optional
            The values that an attribute, or the class, may have, in this order.
        declared : bool
            Whether all other domains are declared: the values of the groups, those of a number of 0 as well.
            By default they are the sorted values that occur.
        weighted : bool
            Whether a row may count for more than one: numbers are sums of weights.

        Returns
        -------
        Viewset

        Raises
        ------
        ValueError
            If attributes have other class counts than each other, a value is not in its domain, numbers are
            negative or too large, or a column is not there.
        TypeError
            If numbers are not integers, or the values of a column of one kind.

        Examples
        --------
        >>> groups = {"job": (["cook", "clerk", "cook"], ["no", "no", "yes"], [1, 1, 1])}
        >>> views = Viewset.from_groups(groups, "ill")
        >>> views.domain("job"), views.counts["job"].tolist()
        (('clerk', 'cook'), [[1, 0], [1, 1]])
        """
        parts = aggregated(groups, class_name, classes, class_counts, domains, declared)
        return cls.from_parts(*parts, weighted=weighted)

    def __reduce__(self) -> tuple[object, ...]:
        return Viewset.from_parts, (
            self.class_counts,
            dict(self.counts),
            self.class_domain,
            dict(self.domains),
            self.noise,
            self.weighted,
        )

    def declared(
        self, domains: Mapping[str, Iterable[object] | Domain], classes: Iterable[object] | None = None
    ) -> Viewset:
        """The same views with the domains of some attributes declared.

        Parameters
        ----------
        domains : mapping of name -> sequence
            The values that an attribute may have, in this order. Those that no row has get zeros.
        classes : sequence, optional
            Class labels in rising precedence, as of `nbcfast.count`; by default they stay as they are.

        Raises
        ------
        ValueError
            If a value, or a label, of a row is not among these, or there is no such attribute.

        Examples
        --------
        >>> views = Viewset([3, 2], {"job": [[3, 0], [0, 2]]}, domains={"job": ["clerk", "cook"]})
        >>> views.declared({"job": ["cook", "baker", "clerk"]}).counts["job"].tolist()
        [[0, 2], [0, 0], [3, 0]]
        """
        return Viewset.from_parts(*redeclared(self, domains, classes), self.noise, self.weighted)

    def smoothed(self, alpha: Numeral) -> Viewset:
        """The views of whole rows whose classifier is exactly Laplace's, with `alpha` added to every count.

        That is P_c prod_i (N + alpha) / (P_c + alpha * (number of values)): no score is 0, and none says
        more of a value than its rows do. The counts are long integers, and add up in every attribute.
        It protects nobody: whoever knows alpha takes it away from counts that come back. Noise that is in
        the counts is in these as well, and what it gives is kept.

        Parameters
        ----------
        alpha : int, Fraction, str or float
            Positive, a quotient of integers up to 10^9; a float means its shortest decimal text.

        Returns
        -------
        Viewset
            Realistic, with the labels and domains of these views. Of the values of a domain those that no
            row has count too: with declared domains that is public.

        Raises
        ------
        ValueError
            If alpha is none of these, or the views are not realistic.
        Infeasible
            If the counts would be too long.

        Examples
        --------
        >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]})
        >>> views.smoothed(1).counts["job"].tolist()
        [[24, 10], [6, 10]]
        """
        return smoothed(self, alpha)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Viewset):
            return NotImplemented
        return (
            self.attributes == other.attributes
            and self.class_domain == other.class_domain
            and all(self.domains[name] == other.domains[name] for name in self.attributes)
            and np.array_equal(self.class_counts, other.class_counts)
            and all(np.array_equal(self.counts[name], other.counts[name]) for name in self.attributes)
            and self.noise == other.noise
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> Viewset:
        """The views of the rows of both, neither of which may have noise.

        Domains that were not declared are joined; a declared one must hold every value.
        """
        if not isinstance(other, Viewset):
            return NotImplemented
        return self._merged(other, subtract=False)

    def __sub__(self, other: object) -> Viewset:
        """The views without the rows of the other, all of which must be among these. Neither may have noise.

        Values that no row has any more leave a domain that was not declared.
        """
        if not isinstance(other, Viewset):
            return NotImplemented
        return self._merged(other, subtract=True)

    def _merged(self, other: Viewset, subtract: bool) -> Viewset:
        parts = merged_parts(self, other, subtract)
        return Viewset.from_parts(*parts, weighted=self.weighted or other.weighted)

    def predict(
        self,
        table: AnyTable,
        *,
        codes: bool = False,
        alpha: Numeral = 0,
        unseen: Literal["error", "ignore", "zero"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Array:
        """The class of largest X_c = P_c^(1-n) prod_i N^i_{t_i,c} for every row, exactly.

        Zero counts are zeros: there is no smoothing unless `alpha` asks for it. Of classes with equal X,
        two zeros among them, the one of higher precedence wins.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
            record batches, or the path of a file (.csv, .tsv, .parquet ..). Columns are found by name and
            values by value; other columns do not matter.
        codes : bool
            Give positions in `classes` in place of labels.
        alpha : int, Fraction, str or float
            Laplace smoothing: N + alpha for each value, with denominators P_c + alpha * (number of values);
            a float means its shortest decimal text.
        unseen : {"error", "ignore", "zero"}
            What to do with a value that the views do not know: refuse it; leave its attribute out of the row,
            as if the views had none of that name; or count it as 0 in every class.
        threads : int, optional
            By default NBCFAST_THREADS, or all cores, one for small tables.
        progress : callable, optional
            Called as progress(done_rows, all_rows).

        Returns
        -------
        ndarray, shape (rows,)
            Labels; with `codes` uint8 (uint16 for more than 256 classes).

        Raises
        ------
        ValueError
            If a column is missing or a row has a value unknown to the views.

        Examples
        --------
        >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}, classes=["no", "yes"],
        ...                 domains={"job": ["clerk", "cook"]})
        >>> views.predict({"job": ["cook", "clerk"]}).tolist()
        ['yes', 'no']
        >>> views.predict({"job": ["poet"]}, unseen="ignore").tolist()
        ['no']
        """
        labels, _ = predict(self, table, alpha, unseen, threads, progress)
        return labels if codes else self.kept.labels(self.class_domain)[labels]

    def order(
        self,
        table: AnyTable,
        *,
        alpha: Numeral = 0,
        unseen: Literal["error", "ignore", "zero"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> UInt16s:
        """All classes of every row, the best first: positions in `classes`.

        Equal X stand in falling precedence. Parameters are those of `predict`.

        Returns
        -------
        ndarray of uint16, shape (rows, classes)

        Examples
        --------
        >>> Viewset([2, 2, 3], [[[0, 1, 1], [2, 1, 2]]]).order({"A1": [0, 1]}).tolist()
        [[2, 1, 0], [2, 0, 1]]
        """
        return order(self, table, alpha, unseen, threads, progress)

    def tied(
        self,
        table: AnyTable,
        *,
        alpha: Numeral = 0,
        unseen: Literal["error", "ignore", "zero"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Bools:
        """For every row whether several classes share the largest X, exactly. Parameters as for `predict`.

        Examples
        --------
        >>> Viewset([2, 2], [[[1, 1], [1, 0], [0, 1]]]).tied({"A1": [0, 1]}).tolist()
        [True, False]
        """
        _, tied = predict(self, table, alpha, unseen, threads, progress, ties=True)
        assert tied is not None
        return tied

    def scorer(
        self, *, alpha: Numeral = 0, unseen: Literal["error", "ignore", "zero"] = "error"
    ) -> RecordScorer:
        """What decides one record after the other, or matrices of codes: for services.

        Parameters
        ----------
        alpha, unseen
            As for `predict`.

        Returns
        -------
        RecordScorer
            With `predict_one` and `predict_codes`, whose answers are those of `predict`.

        Examples
        --------
        >>> views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}, classes=["no", "yes"],
        ...                 domains={"job": ["clerk", "cook"]})
        >>> views.scorer().predict_one({"job": "cook"})
        'yes'
        """
        return record_scorer(self, alpha, unseen)

    def tied_tuples(self, limit: int = 1_000_000) -> int | None:
        """Tuples of the product domain with several classes of largest X; None if it has more than `limit`.

        Examples
        --------
        >>> Viewset([2, 2], [[[1, 1], [1, 0], [0, 1]]]).tied_tuples()
        1
        """
        return tied_tuples(self, limit)

    def to_bytes(self) -> bytes:
        """All of the views in one file, for those who may see the counts: it is as private as the table.

        Canonical JSON: the same views give the same bytes, with the kinds of their values, what was declared,
        counts of any length, what is known of noise, and a sha256 that shows accidents and no forgery.

        Raises
        ------
        ValueError
            If the bound of an interval has more than 32,768 bits.

        Examples
        --------
        >>> views = Viewset([3, 2], {"job": [[3, 0], [0, 2]]})
        >>> Viewset.from_bytes(views.to_bytes()) == views
        True
        """
        return as_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Viewset:
        """The views that `to_bytes` wrote, and nothing else: no code is run, and nobody is trusted.

        Whoever wrote the counts has to be believed that they are those of some table.

        Raises
        ------
        TypeError
            If the data are no bytes.
        ValueError
            If they are not exactly what `to_bytes` writes of some views, with what is wrong.
        """
        return cls.from_parts(*parts_of_bytes(data))

    def to_dict(self) -> Document:
        """Plain Python values: classes, their counts, and for each attribute its values and counts."""
        return {
            "classes": list(self.classes),
            "class_counts": self.class_counts.tolist(),
            "attributes": {
                name: {"values": list(self.domain(name)), "counts": array.tolist()}
                for name, array in self.counts.items()
            },
        }

    def __repr__(self) -> str:
        return in_words(self)
