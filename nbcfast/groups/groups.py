"""`Groups`: how often each sensitive value occurs in each group of rows, in sparse form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Bools, Codes, Longs, UInt32s, Words
from nbcfast._core.errors import NoRowsError
from nbcfast._core.validation import whole
from nbcfast._reading.pairs import sorted_pairs, unpacked
from nbcfast._wire.messages import printable
from nbcfast.groups.measures import Measures
from nbcfast.groups.sets import SetGroups
from nbcfast.table import Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import INT64_MAX

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.values import Value


class Groups(Measures):
    """People in groups, and how often each sensitive value occurs in each: a private fact of the data.

    Groups are sorted by their labels, values by their domain, whatever the order of the rows. A group without
    people and a count of zero are left out.

    Parameters
    ----------
    counts : 2-D array_like of int, or iterable of (group, value, count) tuples
        One row a group and one column a value; or triples, those with the same group and value added up. In a
        sequence, lists are rows and tuples are triples; a tuple of three 1-D arrays is the triples by column.
    values : sequence, optional
        The sensitive values. For an array the labels of its columns, by default 0, 1, ...; for triples by
        default the sorted values that occur.

    Attributes
    ----------
    by : tuple of str
        The columns that make the groups; ``("group",)`` where groups were given by number or label.
    sensitive : str
        The sensitive column.
    n_groups, n_rows : int
        Groups, and people: rows with their weights.
    domain : tuple
        The sensitive values, by code.
    sensitive_domain : Domain
        What `domain` gives the values of.
    domains : tuple of Domain
        One for each column of `by`.
    offsets, values, counts : read-only ndarray
        Group g has values[offsets[g]:offsets[g + 1]] (codes, rising) as often as counts says.
    sizes : read-only ndarray of int64
        People of each group.

    Raises
    ------
    TypeError
        If counts are not integers, or labels are of mixed kinds.
    ValueError
        If a count is negative, or nobody is in any group.

    Examples
    --------
    >>> groups = Groups([("ward 1", "flu", 2), ("ward 1", "cold", 1), ("ward 2", "flu", 1)])
    >>> groups
    Groups(2 groups by group, 4 people, 2 values of value)
    >>> groups.key(0), groups.histogram(0)
    ({'group': 'ward 1'}, {'cold': 1, 'flu': 2})
    >>> Groups([[2, 1], [0, 3]]).k
    3
    """

    __slots__ = (
        "_codes",
        "_packed",
        "by",
        "counts",
        "domains",
        "n_rows",
        "offsets",
        "sensitive",
        "sensitive_domain",
        "sizes",
        "values",
    )

    by: tuple[str, ...]
    sensitive: str
    n_rows: int
    offsets: Longs
    values: UInt32s
    counts: Longs
    sizes: Longs
    domains: tuple[Domain, ...]  # of the columns `by`
    sensitive_domain: Domain
    _packed: Words | None  # the codes of each group in mixed radix
    _codes: list[Codes] | None  # the same by column, once they are asked for

    def __init__(
        self,
        counts: npt.ArrayLike | Iterable[tuple[Value, Value, int]],
        *,
        values: Iterable[Value] | None = None,
    ) -> None:
        columns = _as_triples(counts)
        if columns is None:
            groups, codes, numbers, size = _from_array(counts)
            labels = Domain("int", np.arange(int(groups.max(initial=-1)) + 1), (), False)
            domain = Domain("int", np.arange(size), (), False)
            if values is not None:
                domain = Domain.of(values, where="values")
                if len(domain) != size:
                    raise ValueError(f"values must be {size}, one a column of counts, got {len(domain)}")
        else:
            numbers = _as_counts(columns[2])
            positive = numbers > 0  # a group or a value with zeros alone is not there
            domains = None if values is None else {"value": values}
            table = Table(
                {"group": _chosen(columns[0], positive), "value": _chosen(columns[1], positive)}, domains
            )
            numbers = numbers[positive]
            (groups, labels), (codes, domain) = (
                (column.codes, column.domain) for column in map(table.column, table.names)
            )
        if len(numbers) == 0:
            raise ValueError("no rows: all groups are empty")
        _check_total(numbers)
        sorted_groups = grouped([groups], [labels], codes, domain, ("group",), "value", weights=numbers)
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(sorted_groups, name))

    @classmethod
    def from_parts(
        cls,
        by: tuple[str, ...],
        domains: tuple[Domain, ...],
        sensitive: str,
        domain: Domain,
        arrays: tuple[Longs, UInt32s, Longs, Longs],
        packed: Words | None,
        codes: list[Codes] | None,
    ) -> Groups:
        """Groups of finished arrays, which nothing checks again."""
        groups = cls.__new__(cls)
        for array in arrays:
            array.flags.writeable = False
        offsets, values, counts, sizes = arrays
        for name, value in (
            ("by", by),
            ("sensitive", sensitive),
            ("n_rows", int(sizes.sum())),
            ("offsets", offsets),
            ("values", values),
            ("counts", counts),
            ("sizes", sizes),
            ("domains", domains),
            ("sensitive_domain", domain),
            ("_packed", packed),
            ("_codes", codes),
        ):
            object.__setattr__(groups, name, value)
        return groups

    @staticmethod
    def from_sets(groups: npt.ArrayLike | Sequence[Value], sets: Iterable[Iterable[Value]]) -> SetGroups:
        """People who each have a set of sensitive values: see `SetGroups`.

        Parameters
        ----------
        groups : sequence
            The group of each person: a label.
        sets : iterable of iterables
            The values of each person, in the same order. An empty set is a set.

        Returns
        -------
        SetGroups
            For `check` and `find` with l of at most 3.

        Examples
        --------
        >>> Groups.from_sets([0, 0, 0], [{"flu"}, {"flu", "cold"}, set()])
        SetGroups(1 group, 3 people, 2 values)
        """
        return SetGroups(groups, sets)

    @staticmethod
    def merge(parts: Iterable[Groups | None]) -> Groups:
        """The groups of all parts together: counts of the same group and value are added.

        Groups are the same if their labels are. The order of the parts does not matter; domains that are
        not equal give the sorted union. None is a part without rows, as ``group(.., empty="none")`` gives it.

        Examples
        --------
        >>> Groups.merge([Groups([[1, 2]]), Groups([[0, 1], [4, 0]])]).to_array()
        array([[1, 3],
               [4, 0]])
        """
        listed = []
        for part in parts:
            if isinstance(part, Groups):
                listed.append(part)
            elif part is not None:
                raise TypeError(f"parts: expected Groups, got {type(part).__name__}")
        if not listed:
            raise NoRowsError("parts: expected at least one Groups, got none")
        first = listed[0]
        for part in listed[1:]:
            if (part.by, part.sensitive) != (first.by, first.sensitive):
                raise ValueError(
                    f"parts: expected groups by {first.by!r} of {first.sensitive!r}, "
                    f"got groups by {part.by!r} of {part.sensitive!r}"
                )
        if len(listed) == 1:
            return first
        domains = [_union([part.domains[i] for part in listed], name) for i, name in enumerate(first.by)]
        domain = _union([part.sensitive_domain for part in listed], first.sensitive)
        _check_total(np.concatenate([part.sizes for part in listed]))
        columns = [
            np.concatenate(
                [
                    np.repeat(_moved(part.codes(name), part.domains[i], domains[i]), part.distinct)
                    for part in listed
                ]
            )
            for i, name in enumerate(first.by)
        ]
        return grouped(
            columns,
            domains,
            np.concatenate([_moved(part.values, part.sensitive_domain, domain) for part in listed]),
            domain,
            first.by,
            first.sensitive,
            weights=np.concatenate([part.counts for part in listed]),
        )

    def __add__(self, other: Groups) -> Groups:
        if not isinstance(other, Groups):
            return NotImplemented
        return Groups.merge([self, other])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Groups do not change: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Groups do not change: cannot delete {name}")

    def __reduce__(self) -> tuple[object, ...]:
        arrays = (self.offsets, self.values, self.counts, self.sizes)
        parts = (
            self.by,
            self.domains,
            self.sensitive,
            self.sensitive_domain,
            arrays,
            self._packed,
            self._codes,
        )
        return Groups.from_parts, parts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        return (
            (self.by, self.sensitive) == (other.by, other.sensitive)
            and self.sensitive_domain == other.sensitive_domain
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
            and all(
                # Lengths first, as the values of numbers are made when they are first asked for.
                domain.values == other_domain.values if len(domain) == len(other_domain) else False
                for domain, other_domain in zip(self.domains, other.domains, strict=True)
            )
            and all(np.array_equal(self.codes(name), other.codes(name)) for name in self.by)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        by = ", ".join(self.by) or "nothing"
        return printable(
            f"Groups({self.n_groups} group{'s' * (self.n_groups != 1)} by {by}, {self.n_rows} people, "
            f"{len(self.sensitive_domain)} values of {self.sensitive})"
        )

    def __len__(self) -> int:
        return self.n_groups

    @property
    def domain(self) -> tuple[Value, ...]:
        return self.sensitive_domain.values

    @property
    def distinct(self) -> Longs:
        """How many different values each group has."""
        return np.diff(self.offsets)

    def codes(self, name: str) -> Codes:
        """The code of each group in a column of `by`."""
        if name not in self.by:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.by))}; got {name!r}")
        if self._codes is None:
            object.__setattr__(
                self, "_codes", unpacked(self._packed, [len(domain) for domain in self.domains])
            )
        assert self._codes is not None
        return self._codes[self.by.index(name)]

    def key(self, group: int) -> dict[str, Value]:
        """The label of a group: column -> value."""
        position = _position(group, self.n_groups)
        if self._codes is None:
            assert self._packed is not None
            packed = self._packed[position : position + 1]
            codes = unpacked(packed, [len(domain) for domain in self.domains])
            return {
                name: domain.values[int(code[0])]
                for name, domain, code in zip(self.by, self.domains, codes, strict=True)
            }
        return {
            name: domain.values[int(code[position])]
            for name, domain, code in zip(self.by, self.domains, self._codes, strict=True)
        }

    def histogram(self, group: int) -> dict[Value, int]:
        """Value -> how many people of a group have it."""
        position = _position(group, self.n_groups)
        part = slice(int(self.offsets[position]), int(self.offsets[position + 1]))
        domain = self.sensitive_domain.values
        return {
            domain[code]: count
            for code, count in zip(self.values[part].tolist(), self.counts[part].tolist(), strict=True)
        }

    def triples(self) -> Iterator[tuple[dict[str, Value], Value, int]]:
        """(label of the group, value, count) of each pair that occurs."""
        for group in range(self.n_groups):
            key = self.key(group)
            for value, count in self.histogram(group).items():
                yield key, value, count

    def to_array(self) -> Longs:
        """The counts as one array, groups x values."""
        array = np.zeros((self.n_groups, self.n_values), np.int64)
        array[np.repeat(np.arange(self.n_groups), self.distinct), self.values] = self.counts
        return array


def grouped(
    columns: list[Codes],
    domains: Sequence[Domain],
    value_codes: Codes,
    domain: Domain,
    by: tuple[str, ...],
    sensitive: str,
    *,
    weights: Longs | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Groups:
    """Groups of rows of codes; a code out of range is an error that names its column."""
    pairs = sorted_pairs(
        columns,
        [len(domain) for domain in domains],
        value_codes,
        len(domain),
        [*by, sensitive],
        weights=weights,
        threads=threads,
        progress=progress,
    )
    return Groups.from_parts(by, tuple(domains), sensitive, domain, pairs.arrays, pairs.packed, pairs.codes)


def _union(domains: list[Domain], name: str) -> Domain:
    first = domains[0]
    for domain in domains[1:]:
        if domain != first:
            first = Domain.union(first, domain, where=f"column {name!r}")
    return first


def _moved(codes: Codes, domain: Domain, into: Domain) -> Codes:
    """Codes of one domain as codes of another that holds all its values."""
    if domain is into or domain == into:
        return codes.astype(code_dtype(len(into)), copy=False)
    return domain.positions_in(into)[codes].astype(code_dtype(len(into)))


def _position(group: object, n_groups: int) -> int:
    return whole(group, "group", 0, n_groups - 1, expected="a position")


def _check_total(numbers: Longs) -> None:
    """Refuse more people than 63 bits count."""
    if len(numbers) and int(numbers.max()) > INT64_MAX // len(numbers) and sum(numbers.tolist()) > INT64_MAX:
        raise ValueError("counts must add up to less than 2^63")


def _as_counts(numbers: object) -> Longs:
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu":
        if array.size == 0:
            return np.empty(0, np.int64)
        raise TypeError(f"counts must be integers, got {array.dtype}")
    if array.dtype.kind == "u" and int(array.max(initial=0)) > INT64_MAX:
        raise ValueError(f"counts must be below 2^63, got {array.max()}")
    if int(array.min(initial=0)) < 0:
        raise ValueError(f"counts must be at least 0, got {array.min()}")
    return array.astype(np.int64)


def _as_triples(counts: object) -> list[Array | list[object]] | None:
    """Groups, values and counts by column; None where it is an array of counts."""
    if isinstance(counts, np.ndarray):
        return None
    if isinstance(counts, (str, bytes, Mapping)) or not isinstance(counts, Iterable):
        raise TypeError(
            f"counts: expected a (groups, values) array or (group, value, count) triples, got {counts!r}"
        )
    listed = list(counts)
    arrays = [isinstance(part, np.ndarray) and part.ndim == 1 for part in listed]
    if isinstance(counts, tuple) and len(listed) == 3 and all(arrays):
        if len({len(part) for part in listed}) > 1:
            raise ValueError(f"counts: arrays of {', '.join(str(len(part)) for part in listed)} triples")
        return listed
    if not listed or not isinstance(listed[0], tuple):
        return None
    for number, triple in enumerate(listed):
        if not isinstance(triple, tuple) or len(triple) != 3:
            raise ValueError(f"counts[{number}]: expected (group, value, count), got {triple!r}")
        if isinstance(triple[2], bool):
            raise TypeError(f"counts[{number}]: count must be an int, got {triple[2]!r}")
    return [list(column) for column in zip(*listed, strict=True)]


def _from_array(counts: object) -> tuple[Codes, Codes, Longs, int]:
    """Group, value and count of each cell that is not 0, and the number of values."""
    try:
        array = np.asarray(counts)
    except ValueError:
        raise ValueError("counts must be 2-D (groups x values), got rows of different lengths") from None
    if array.ndim != 2:
        raise ValueError(f"counts must be 2-D (groups x values), got {array.ndim} dimensions")
    if array.size == 0:
        raise ValueError("no rows: all groups are empty")
    array = _as_counts(array)
    groups, values = np.nonzero(array)
    return groups, values, array[groups, values], array.shape[1]


def _chosen(column: Array | list[object], keep: Bools) -> Array | list[object]:
    """The entries that are kept; a list stays one, as NumPy would make texts of labels of mixed kinds."""
    if isinstance(column, np.ndarray):
        return column[keep]
    return [entry for entry, kept in zip(column, keep.tolist(), strict=True) if kept]
