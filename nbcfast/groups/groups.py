"""`Groups`: how often each sensitive value occurs in each group of rows, in sparse form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nbcfast import _groups
from nbcfast._columns import Columns
from nbcfast._core.threads import n_threads, over_rows
from nbcfast._reading.source import Source
from nbcfast.groups.measures import Measures
from nbcfast.groups.sets import SetGroups
from nbcfast.table import Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.verify_release import printable

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.groups.sets import SetGroups

Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[Any]

# A dense table is cleared and read once a cell, 0.8 ns; sorting costs a row 2.5 ns more than counting it.
CELLS_A_ROW, MOST_CELLS = 3, 1 << 22
SHORT_BITS = 32  # keys that sort at half the price
SAMPLE = 4096  # rows that are looked at before long keys are sorted or hashed
MOST_BITS = 63  # of a group and a value in one key
INT64_MAX = 2**63 - 1


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
        "_domains",
        "_packed",
        "_sensitive",
        "by",
        "counts",
        "n_rows",
        "offsets",
        "sensitive",
        "sizes",
        "values",
    )

    by: tuple[str, ...]
    sensitive: str
    n_rows: int
    offsets: Longs
    values: npt.NDArray[np.uint32]
    counts: Longs
    sizes: Longs
    _domains: tuple[Domain, ...]  # of the columns `by`
    _sensitive: Domain
    _packed: npt.NDArray[np.uint64] | None  # the codes of each group in mixed radix
    _codes: list[Codes] | None  # the same by column, once they are asked for

    def __init__(self, counts: Any, *, values: Iterable[Any] | None = None) -> None:
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
            some = numbers > 0
            domains = None if values is None else {"value": values}
            table = Table({"group": _chosen(columns[0], some), "value": _chosen(columns[1], some)}, domains)
            numbers = numbers[some]
            (groups, labels), (codes, domain) = (
                (column.codes, column.domain) for column in map(table.column, table.names)
            )
        if len(numbers) == 0:
            raise ValueError("no rows: all groups are empty")
        _total(numbers)
        made = grouped([groups], [labels], codes, domain, ("group",), "value", weights=numbers)
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(made, name))

    @classmethod
    def _of(
        cls,
        by: tuple[str, ...],
        domains: tuple[Domain, ...],
        sensitive: str,
        domain: Domain,
        arrays: tuple[Longs, npt.NDArray[np.uint32], Longs, Longs],
        packed: npt.NDArray[np.uint64] | None,
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
            ("_domains", domains),
            ("_sensitive", domain),
            ("_packed", packed),
            ("_codes", codes),
        ):
            object.__setattr__(groups, name, value)
        return groups

    @staticmethod
    def from_sets(groups: npt.ArrayLike | Sequence[Any], sets: Iterable[Iterable[Any]]) -> SetGroups:
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
    def merge(parts: Iterable[Groups]) -> Groups:
        """The groups of all parts together: counts of the same group and value are added.

        Groups are the same if their labels are. The order of the parts does not matter; domains that are
        not equal give the sorted union.

        Examples
        --------
        >>> Groups.merge([Groups([[1, 2]]), Groups([[0, 1], [4, 0]])]).to_array()
        array([[1, 3],
               [4, 0]])
        """
        listed = list(parts)
        if not listed:
            raise ValueError("parts: expected at least one Groups, got none")
        for part in listed:
            if not isinstance(part, Groups):
                raise TypeError(f"parts: expected Groups, got {type(part).__name__}")
        first = listed[0]
        for part in listed[1:]:
            if (part.by, part.sensitive) != (first.by, first.sensitive):
                raise ValueError(
                    f"parts: expected groups by {first.by!r} of {first.sensitive!r}, "
                    f"got groups by {part.by!r} of {part.sensitive!r}"
                )
        if len(listed) == 1:
            return first
        domains = [_union([part._domains[i] for part in listed], name) for i, name in enumerate(first.by)]
        domain = _union([part._sensitive for part in listed], first.sensitive)
        _total(np.concatenate([part.sizes for part in listed]))
        columns = [
            np.concatenate(
                [
                    np.repeat(_moved(part.codes(name), part._domains[i], domains[i]), part.distinct)
                    for part in listed
                ]
            )
            for i, name in enumerate(first.by)
        ]
        return grouped(
            columns,
            domains,
            np.concatenate([_moved(part.values, part._sensitive, domain) for part in listed]),
            domain,
            first.by,
            first.sensitive,
            weights=np.concatenate([part.counts for part in listed]),
        )

    def __add__(self, other: Groups) -> Groups:
        if not isinstance(other, Groups):
            return NotImplemented
        return Groups.merge([self, other])

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Groups do not change: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Groups do not change: cannot delete {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = (self.offsets, self.values, self.counts, self.sizes)
        return _restored, (
            self.by,
            self._domains,
            self.sensitive,
            self._sensitive,
            arrays,
            self._packed,
            self._codes,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        return (
            (self.by, self.sensitive) == (other.by, other.sensitive)
            and self._sensitive == other._sensitive
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.counts, other.counts)
            and all(
                mine.values == theirs.values if len(mine) == len(theirs) else False
                for mine, theirs in zip(self._domains, other._domains, strict=True)
            )
            and all(np.array_equal(self.codes(name), other.codes(name)) for name in self.by)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        by = ", ".join(self.by) or "nothing"
        return printable(
            f"Groups({self.n_groups} group{'s' * (self.n_groups != 1)} by {by}, {self.n_rows} people, "
            f"{len(self._sensitive)} values of {self.sensitive})"
        )

    def __len__(self) -> int:
        return self.n_groups

    @property
    def n_groups(self) -> int:
        return len(self.sizes)

    @property
    def domain(self) -> tuple[Any, ...]:
        return self._sensitive.values

    @property
    def n_values(self) -> int:
        return len(self._sensitive)

    @property
    def distinct(self) -> Longs:
        """How many different values each group has."""
        return np.diff(self.offsets)

    def codes(self, name: str) -> Codes:
        """The code of each group in a column of `by`."""
        if name not in self.by:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.by))}; got {name!r}")
        if self._codes is None:
            object.__setattr__(self, "_codes", self._unpacked(self._packed))
        assert self._codes is not None
        return self._codes[self.by.index(name)]

    def _unpacked(self, packed: Any) -> list[Codes]:
        codes: list[Codes] = []
        for domain in reversed(self._domains):
            packed, rest = np.divmod(packed, np.uint64(len(domain)))
            codes.append(rest.astype(code_dtype(len(domain))))
        return codes[::-1]

    def key(self, group: int) -> dict[str, Any]:
        """The label of a group: column -> value."""
        position = _position(group, self.n_groups)
        if self._codes is None:
            assert self._packed is not None
            codes = self._unpacked(self._packed[position : position + 1])
            return {
                name: domain.values[int(code[0])]
                for name, domain, code in zip(self.by, self._domains, codes, strict=True)
            }
        return {
            name: domain.values[int(code[position])]
            for name, domain, code in zip(self.by, self._domains, self._codes, strict=True)
        }

    def histogram(self, group: int) -> dict[Any, int]:
        """Value -> how many people of a group have it."""
        position = _position(group, self.n_groups)
        part = slice(int(self.offsets[position]), int(self.offsets[position + 1]))
        domain = self._sensitive.values
        return {
            domain[code]: count
            for code, count in zip(self.values[part].tolist(), self.counts[part].tolist(), strict=True)
        }

    def triples(self) -> Iterator[tuple[dict[str, Any], Any, int]]:
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


def group(
    table: Any,
    by: Iterable[str],
    sensitive: str,
    *,
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Groups:
    """Put the rows with equal values in the columns `by` into one group, and count its sensitive values.

    Parameters
    ----------
    table : Table, a stream of Arrow batches, or a path
        A stream (anything with ``__arrow_c_stream__``, or an iterable of record batches) and a .csv or
        .parquet file are read batch by batch, in memory of the order of the groups; a group may be spread
        over batches. See `group_parts` for more groups than memory holds. A mapping of columns is made a
        Table.
    by : iterable of str
        The columns that make the groups; none puts all rows into one.
    sensitive : str
        The column of the sensitive values.
    weights : str, optional
        For a stream or file, the column of the weights. A Table has its own.
    threads : int, optional
        By default all cores the process may use, one for less than about 2 MB of codes. The result does not
        depend on it.
    progress : callable, optional
        Called as progress(done_rows, all_rows); all_rows is 0 where the end is not known.

    Returns
    -------
    Groups

    Raises
    ------
    ValueError
        If there are no rows, a column is missing or named twice, or `sensitive` is in `by`.

    Notes
    -----
    Nulls are values: people without a known age are a group of their own.

    Examples
    --------
    >>> table = Table({"age": [30, 30, 40, 40], "ill": ["flu", "flu", "cold", "flu"]})
    >>> groups = group(table, by=["age"], sensitive="ill")
    >>> groups.k, groups.l
    (2, 1)
    """
    names = group_names(by, sensitive, weights)
    if isinstance(table, (str, bytes, os.PathLike)):
        from nbcfast.groups.streams import group_stream

        return group_stream(Source(table), names, sensitive, weights, threads, progress)
    if not isinstance(table, Table):
        if not isinstance(table, Mapping):
            from nbcfast.groups.streams import Stream, group_stream

            return group_stream(Stream(table), names, sensitive, weights, threads, progress)
        table = Table(table, weights=weights)
    elif weights is not None:
        raise ValueError("weights: a Table has its own weights; name a column when making it")
    columns = [table.column(name) for name in names]
    values = table.column(sensitive)
    if table.n_rows == 0:
        raise ValueError("no rows")
    return grouped(
        [column.codes for column in columns],
        [column.domain for column in columns],
        values.codes,
        values.domain,
        tuple(names),
        sensitive,
        weights=table.weights,
        threads=threads,
        progress=progress,
    )


def group_names(by: Iterable[str], sensitive: str, weights: str | None) -> list[str]:
    if isinstance(by, str):
        raise TypeError(f"by must be a sequence of names, got the text {by!r}")
    if not isinstance(sensitive, str):
        raise TypeError(f"sensitive must be the name of a column, got {sensitive!r}")
    names = list(by)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"by must be distinct names, got {name!r} twice")
        if name == sensitive:
            raise ValueError(f"the sensitive column {name!r} cannot make the groups as well")
    if weights is not None and weights in (sensitive, *names):
        raise ValueError(f"weights: {weights!r} is the sensitive column or makes the groups as well")
    return names


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
    sizes = [len(domain) for domain in domains]
    packed = _pair_bits(sizes, len(domain)) <= MOST_BITS
    rows: Longs | None = None
    keys, key_sizes = columns, sizes
    if not packed:
        for name, codes, size in zip(by, columns, sizes, strict=True):
            _check_codes(name, codes, size)
        key, size, rows = _ranked(columns, sizes, len(domain))
        keys, key_sizes = [key], [size]
    arrays, found = _pairs(
        keys, key_sizes, value_codes, len(domain), [*by, sensitive], weights, threads, progress
    )
    if rows is None:
        return Groups._of(by, tuple(domains), sensitive, domain, arrays, found, None)
    firsts = rows[found.astype(np.int64)]
    return Groups._of(
        by, tuple(domains), sensitive, domain, arrays, None, [codes[firsts] for codes in columns]
    )


def _pair_bits(sizes: Sequence[int], n_values: int) -> int:
    """Bits of a group in mixed radix and a value."""
    total = 1
    for size in sizes:
        total *= max(size, 1)
    return (total - 1).bit_length() + max(n_values - 1, 0).bit_length()


def _ranked(columns: list[Codes], sizes: list[int], n_values: int) -> tuple[Codes, int, Longs]:
    """Where the columns have too many combinations for one key: a code for each that occurs, in their order.

    Returns the code of each row, the number of codes, and a row of each.
    """
    room = (1 << (MOST_BITS - max(n_values - 1, 0).bit_length())) - 1
    key, size = columns[0].astype(np.int64), sizes[0]
    for codes, more in zip(columns[1:], sizes[1:], strict=True):
        if size * more > room:
            found, key = np.unique(key, return_inverse=True)
            size = len(found)
        key = key * more + codes
        size *= more
    _, rows, key = np.unique(key, return_index=True, return_inverse=True)
    return key.astype(np.int64, copy=False), len(rows), rows


def _pairs(
    columns: list[Codes],
    sizes: list[int],
    value_codes: Codes,
    n_values: int,
    names: Sequence[str],
    weights: Longs | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[tuple[Longs, npt.NDArray[np.uint32], Longs, Longs], npt.NDArray[np.uint64]]:
    """The arrays of a Groups, and the key of each group: its codes in mixed radix."""
    n_rows = len(value_codes)
    held = Columns([*columns, value_codes], [*sizes, n_values], n_rows)
    method = _groups.HASH if weights is not None else _method(columns, sizes, value_codes, n_values, n_rows)
    n_bytes = sum(column.itemsize for column in (*columns, value_codes)) * n_rows

    def add(part: _groups.Grouper, start: int, stop: int) -> None:
        bad = part.add(start, stop)
        if bad >= 0:
            codes, size = [*columns, value_codes][bad], [*sizes, n_values][bad]
            _check_codes(names[bad] if len(names) == len(sizes) + 1 else names[-1], codes, size)
            raise ValueError(f"column {names[bad]!r} changed while it was read")

    first, *others = over_rows(
        lambda: _groups.Grouper(held, method, weights),
        add,
        n_rows,
        threads=n_threads(threads, n_bytes),
        progress=progress,
    )
    for other in others:
        first.absorb(other)
    offsets, values, counts, group_sizes, keys = first.finish()
    return (offsets, values, counts, group_sizes), keys


def _method(columns: list[Codes], sizes: list[int], value_codes: Codes, n_values: int, n_rows: int) -> int:
    cells = n_values
    for size in sizes:
        cells *= size
    if cells <= min(CELLS_A_ROW * n_rows + 4096, MOST_CELLS):
        return _groups.DENSE
    if _pair_bits(sizes, n_values) <= SHORT_BITS or n_rows <= 4 * SAMPLE:
        return _groups.RADIX
    step = n_rows // SAMPLE
    key = value_codes[::step].astype(np.uint64)
    for codes, size in zip(columns, sizes, strict=True):
        key = key * np.uint64(size) + codes[::step].astype(np.uint64)
    # Few pairs that come again and again: their table stays in the cache, and long keys need many passes.
    return _groups.HASH if len(np.unique(key)) < len(key) // 4 else _groups.RADIX


def _check_codes(name: str, codes: Codes, size: int) -> None:
    bad = np.flatnonzero((codes < 0) | (codes >= size))
    if len(bad):
        raise ValueError(f"column {name!r}: codes must be 0..{size - 1}, got {codes[bad[0]]} in row {bad[0]}")


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


def _restored(*parts: Any) -> Groups:
    return Groups._of(*parts)


def _position(group: Any, n_groups: int) -> int:
    if isinstance(group, bool) or not isinstance(group, (int, np.integer)):
        raise TypeError(f"group must be a position, got {group!r}")
    if not 0 <= group < n_groups:
        raise ValueError(f"group must be 0..{n_groups - 1}, got {group}")
    return int(group)


def _total(numbers: Longs) -> None:
    """People are counted in 63 bits."""
    if len(numbers) and int(numbers.max()) > INT64_MAX // len(numbers) and sum(numbers.tolist()) > INT64_MAX:
        raise ValueError("counts must add up to less than 2^63")


def _as_counts(numbers: Any) -> Longs:
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


def _as_triples(counts: Any) -> list[Any] | None:
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


def _from_array(counts: Any) -> tuple[Codes, Codes, Longs, int]:
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


def _chosen(column: Any, some: npt.NDArray[np.bool_]) -> Any:
    if isinstance(column, np.ndarray):
        return column[some]
    return [entry for entry, keep in zip(column, some.tolist(), strict=True) if keep]
