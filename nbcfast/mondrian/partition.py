"""`Partition`: groups of people who are published with the same box, and what is proven of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast._core.dtypes import Longs, UInt32s
from nbcfast._core.numbers import Numeral
from nbcfast._core.sql_text import Dialect, expect_dialect, expect_names, expect_raises
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, facts, findings
from nbcfast._wire.messages import printable
from nbcfast.groups.groups import Groups, grouped
from nbcfast.mondrian.assigned import ROWS, assigned, joined
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.quasi import Cell, Quasi, range_by_letters
from nbcfast.mondrian.utility import Utility, measured
from nbcfast.mondrian.wire import PartitionCertificate, certificate_of, parts_of
from nbcfast.published.base import Published
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.skyline.checking import check
from nbcfast.skyline.finding import Knowledge, find
from nbcfast.skyline.points import AnyPoint
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.table.row_weights import value_weights
from nbcfast.table.sql_cases import SqlColumn
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.skyline.results import Reports


MOST_LISTED = 1 << 31  # rows of a table in memory, one for each person
MOST_SHOWN = 30  # values that a remark lists in their order


class PublishedGroups:
    """Groups and cells as they are published: all that is known of a partition that was loaded."""

    def __init__(self, groups: Groups, cells: Mapping[str, tuple[Cell, ...]]) -> None:
        self.groups = groups
        self.cells: Mapping[str, tuple[Cell, ...]] = MappingProxyType(dict(cells))

    def __reduce__(self) -> tuple[object, ...]:
        return PublishedGroups, (self.groups, dict(self.cells))

    @property
    def sizes(self) -> Longs:
        return self.groups.sizes

    def utility(self) -> Utility:
        return measured(self.sizes, None, None, None)


@dataclass(frozen=True, eq=False)
class PrivateRows:
    """The private table that was split, from which counts are made when they are asked for.

    Attributes
    ----------
    columns : list of Column
        The quasi-identifiers.
    secret : Column
    weights : ndarray of int64 or None
    group_ids : ndarray of uint32
    """

    columns: list[Column]
    secret: Column
    weights: Longs | None
    group_ids: UInt32s

    def values_of_groups(self, n_groups: int) -> tuple[Longs, UInt32s, Longs]:
        """Offsets, values and counts, as of Groups."""
        numbers = Domain("int", np.arange(n_groups), (), True)
        groups = grouped(
            [self.group_ids],
            [numbers],
            self.secret.codes,
            self.secret.domain,
            ("group",),
            "value",
            weights=self.weights,
        )
        return groups.offsets, groups.values, groups.counts

    def marginals(self) -> list[Longs]:
        """People of each value of each quasi-identifier, in the order of its domain."""
        return [value_weights(column, self.weights) for column in self.columns]


@dataclass(frozen=True, eq=False)
class PrivateCounts:
    """Counts of a file that was split on disk, of which no rows are kept.

    Attributes
    ----------
    lengths : ndarray of int64
        How many different values each group has.
    pairs : ndarray of int64, shape (pairs, 2)
        Value and people of these, group after group.
    people : list of ndarray of int64
        Of each value of each quasi-identifier.
    """

    lengths: Longs
    pairs: Longs
    people: list[Longs]

    def values_of_groups(self, n_groups: int) -> tuple[Longs, UInt32s, Longs]:
        """Offsets, values and counts, as of Groups."""
        offsets = np.zeros(n_groups + 1, np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        return offsets, self.pairs[:, 0].astype(np.uint32), np.ascontiguousarray(self.pairs[:, 1])

    def marginals(self) -> list[Longs]:
        """People of each value of each quasi-identifier, in the order of its domain."""
        return self.people


@dataclass(frozen=True, eq=False)
class SplitContent:
    """What Mondrian found, and what the owner of the data knows beyond what is published.

    Attributes
    ----------
    quasi : list of Quasi
    boxes : ndarray of uint32, shape (groups, attributes, 2)
        The lowest and the highest code of each.
    sensitive : str
    domain : Domain
        Of the sensitive column.
    sizes : ndarray of int64
        People of each group.
    source : PrivateRows or PrivateCounts
        Where the values of the groups, and of the whole, come from.
    """

    quasi: list[Quasi]
    boxes: UInt32s
    sensitive: str
    domain: Domain
    sizes: Longs
    source: PrivateRows | PrivateCounts

    @cached_property
    def _published(self) -> PublishedGroups:
        """Made when it is asked for: it takes as long as a third of the splitting."""
        names = tuple(column.name for column in self.quasi)
        columns = [
            column.generalised(self.boxes[:, i, 0], self.boxes[:, i, 1])
            for i, column in enumerate(self.quasi)
        ]
        offsets, values, counts = self.source.values_of_groups(len(self.sizes))
        groups = Groups.from_parts(
            names,
            tuple(column[0] for column in columns),
            self.sensitive,
            self.domain,
            (offsets, values, counts, np.array(self.sizes)),
            None,
            [column[1] for column in columns],
        )
        return PublishedGroups(groups, {name: column[2] for name, column in zip(names, columns, strict=True)})

    @property
    def groups(self) -> Groups:
        return self._published.groups

    @property
    def cells(self) -> Mapping[str, tuple[Cell, ...]]:
        return self._published.cells

    @property
    def as_it_is(self) -> bool:
        """Whether no group has several values of any column."""
        return bool((self.boxes[..., 0] == self.boxes[..., 1]).all())

    def utility(self) -> Utility:
        marginals = []
        for column, people in zip(self.quasi, self.source.marginals(), strict=True):
            marginal = np.zeros(column.size, np.int64)
            marginal[column.map] = people
            marginals.append(marginal)
        return measured(self.sizes, self.quasi, self.boxes, marginals)


@dataclass(frozen=True, repr=False, eq=False)
class Partition(Published):
    """A table whose quasi-identifiers are generalised so that everybody is one of a group.

    Attributes
    ----------
    quasi : tuple of str
        The columns that are generalised.
    sensitive : str
        The column that is published as it is.
    demands : Demands
        What every group keeps.
    group_ids : ndarray of uint32, or None
        For each row of the private table the number of its group in `groups`. It is private. None for a
        partition that was loaded, or that was made of a file.
    path : str or None
        The Parquet file that holds the published table, where it was made on disk.
    """

    quasi: tuple[str, ...]
    sensitive: str
    demands: Demands
    group_ids: UInt32s | None
    path: str | None
    _content: SplitContent | PublishedGroups

    def __post_init__(self) -> None:
        if self.group_ids is not None:
            self.group_ids.flags.writeable = False

    def __repr__(self) -> str:
        size = f"{self.n_groups:,} group{'s' * (self.n_groups != 1)} of {self.n_rows:,} people"
        return printable(f"Partition({size} by {', '.join(self.quasi)}; {self.sensitive}: {self.demands})")

    def _repr_html_(self) -> str:
        sizes = self._content.sizes
        rows = [
            ("people", f"{self.n_rows:,}"),
            ("groups", f"{self.n_groups:,} by {', '.join(self.quasi)}"),
            ("sizes", f"{int(sizes.min()):,} to {int(sizes.max()):,}"),
            ("published as it is", self.sensitive),
            ("demands", str(self.demands)),
        ]
        found: list[tuple[State, str, str]] = [("warned", "warning", text) for text in self.warnings]
        verdict = f"partition: {self.n_rows:,} people in {self.n_groups:,} groups, every demand kept"
        warned = findings(found) if found else None
        return result("warned" if found else "kept", verdict, warned, facts(rows))

    @property
    def n_groups(self) -> int:
        return len(self._content.sizes)

    @property
    def n_rows(self) -> int:
        """People: rows with their weights."""
        return int(self._content.sizes.sum())

    @property
    def groups(self) -> Groups:
        """The groups by their generalised values, and the sensitive values of each.

        They stand as `group_ids` number them, in the order in which Mondrian found them. `order` gives that
        of publication, in which those of a partition that was loaded stand.
        """
        return self._content.groups

    @property
    def cells(self) -> Mapping[str, tuple[Cell, ...]]:
        """For each quasi-identifier the texts that are published, in their order, and what they stand for."""
        return self._content.cells

    @cached_property
    def boxes(self) -> Table:
        """One row a group: its generalised values."""
        columns = {
            name: Column(np.array(self.groups.codes(name)), domain)
            for name, domain in zip(self.quasi, self.groups.domains, strict=True)
        }
        return Table.from_columns(columns, None, self.n_groups)

    @property
    def order(self) -> Longs:
        """The groups in the order in which they are published: by their cells, from the first column on."""
        return np.lexsort(tuple(self.groups.codes(name) for name in self.quasi[::-1]))

    @property
    def table(self) -> Table:
        """The published table: generalised columns and the sensitive one, a row for each person.

        Rows stand in canonical order, sorted by their published values: nothing is left of the order in the
        data.

        Raises
        ------
        ValueError
            If that is more than 2^31 rows; `counted` has one row for equal ones.
        """
        if self.n_rows > MOST_LISTED:
            raise ValueError(f"a table of {self.n_rows:,} rows is too large: use counted")
        distinct = self.counted
        assert distinct.weights is not None
        columns = {
            name: Column(np.repeat(distinct.codes(name), distinct.weights), distinct.column(name).domain)
            for name in distinct.names
        }
        return Table.from_columns(columns, None, self.n_rows)

    @property
    def counted(self) -> Table:
        """The distinct rows of `table`, weighted by how many people each stands for."""
        return self._counted(self.order)

    def _counted(self, order: Longs) -> Table:
        groups = self.groups
        lengths = groups.distinct[order]
        ends = np.cumsum(lengths)
        pairs = np.repeat(groups.offsets[:-1][order] - (ends - lengths), lengths)
        pairs += np.arange(len(pairs))
        columns = {
            name: Column(np.repeat(groups.codes(name)[order], lengths), domain)
            for name, domain in zip(self.quasi, groups.domains, strict=True)
        }
        values = groups.values[pairs].astype(code_dtype(groups.n_values))
        columns[self.sensitive] = Column(values, groups.sensitive_domain)
        return Table.from_columns(columns, groups.counts[pairs], len(pairs))

    def assignments(self) -> Table:
        """Which tuples of quasi-identifiers are in which group, and what is published of them. It is private.

        For rows that are in an engine, as `join_sql` says: a table with so many rows as there are distinct
        tuples, whatever their number of people.

        Returns
        -------
        Table
            The quasi-identifiers of the private table, the number of the group in `groups` ("group"), and the
            generalised values ("published_age" of "age"); with _ behind a name that is one of a column.

        Raises
        ------
        ValueError
            If the rows are not known: of a partition that was loaded, or that was made of a file.

        Examples
        --------
        >>> from nbcfast import Table
        >>> from nbcfast.mondrian import anonymize
        >>> table = Table({"age": [21, 25, 38, 21], "ill": ["flu", "cold", "gout", "cold"]})
        >>> partition = anonymize(table, ["age"], "ill", [], k=2)
        >>> partition.assignments().to_pandas()
           age  group published_age
        0   21      0    (-inf, 25)
        1   25      1     [25, inf)
        2   38      1     [25, inf)
        """
        columns, group_ids = self._private_columns("assignments")
        return assigned(columns, group_ids, self.groups)

    def join_sql(
        self, dialect: Dialect, rows: str, assignments: str, *, unseen: Literal["error", "null"] = "error"
    ) -> str:
        """A SELECT that gives what is published of each private row that is in an engine.

        Each row has just one tuple of `assignments`, so that there are as many rows as before. Nulls are
        equal, NaN is one, and -0.0 is 0.0. The rows come in no order, or in one of the private table: sort
        them before they are published. Nothing here checks that they are those of the private table: `save`
        publishes what was checked.

        Parameters
        ----------
        dialect : {"spark", "duckdb", "ansi"}
            As for `PointsTable.sql`; columns have the types of the private table. With "ansi" texts must be
            compared letter by letter: by a collation that takes some for one, a row has several tuples, and
            comes out several times.
        rows, assignments : str
            The tables: a name, or a schema and a name with a dot between. The second holds `assignments()`,
            as ``to_arrow`` writes it.
        unseen : {"error", "null"}
            What a row gets whose tuple is in no group: the query stops with a message, or all that is
            published of it is NULL, the sensitive value as well. "ansi" takes "null" alone.

        Returns
        -------
        str
            The quasi-identifiers as they are published, and the sensitive column last.

        Raises
        ------
        ValueError
            As for `assignments`, and if "ansi" is to stop a query, or SQL cannot have a name.

        Examples
        --------
        >>> import duckdb
        >>> from nbcfast import Table
        >>> from nbcfast.mondrian import anonymize
        >>> table = Table({"age": [21, 25, 38, 21], "ill": ["flu", "cold", "gout", "cold"]})
        >>> partition = anonymize(table, ["age"], "ill", [], k=2)
        >>> people, groups = table.to_arrow(), partition.assignments().to_arrow()
        >>> duckdb.sql(partition.join_sql("duckdb", "people", "groups")).order("age, ill").fetchall()
        [('(-inf, 25)', 'cold'), ('(-inf, 25)', 'flu'), ('[25, inf)', 'cold'), ('[25, inf)', 'gout')]
        """
        expect_dialect(dialect)
        choice(unseen, ("error", "null"), "unseen")
        if unseen == "error":
            expect_raises(dialect, "null")
        columns, _ = self._private_columns("join_sql")
        if dialect != "spark":
            expect_names([*columns, self.sensitive])
        assert isinstance(self._content, SplitContent)
        return joined(
            {name: column.domain.values for name, column in columns.items()},
            SqlColumn(self.sensitive, self._content.domain.values, dialect, ROWS),
            rows,
            assignments,
            stops=unseen == "error",
        )

    def _private_columns(self, what: str) -> tuple[dict[str, Column], UInt32s]:
        """The quasi-identifiers of the private rows, and their groups."""
        content = self._content
        if not isinstance(content, SplitContent):
            raise ValueError(f"{what}: a partition that was loaded does not know the private rows")
        if not isinstance(content.source, PrivateRows):
            raise ValueError(
                f"{what}: the rows of a partition that was made of a file are not kept: split its distinct "
                "rows in memory, with weights, or publish what `counted` or `out` holds"
            )
        return dict(zip(self.quasi, content.source.columns, strict=True)), content.source.group_ids

    def check(self, points: Iterable[AnyPoint] | None = None) -> Reports:
        """The reports on these points, by default those of the demands, from the groups alone.

        Raises
        ------
        ValueError
            If there is no point.
        """
        return check(self.groups, self.demands.points if points is None else points)

    @property
    def safe(self) -> bool:
        """Whether the groups keep every demand; counted anew."""
        return self.demands.broken(self.groups) is None

    def skyline(self, confidence: Numeral | None = None) -> list[Knowledge]:
        """The maximal (l, k, m) that are safe with this confidence.

        Parameters
        ----------
        confidence : number, optional
            By default that of the points, if they all have the same.
        """
        if confidence is None:
            confidences = {point.confidence for point in self.demands.points}
            if len(confidences) != 1:
                raise ValueError(f"confidence: expected a number, because the points have {len(confidences)}")
            confidence = confidences.pop()
        return find(self.groups, confidence)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its demands leave open, in sentences that the certificate repeats."""
        return self.demands.warnings(self.groups)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the publisher should know besides, as of texts in it; it is not in the certificate."""
        remarks = []
        if isinstance(self._content, SplitContent) and self._content.as_it_is:
            remarks.append(
                "Nothing is generalised: these columns of the table are published as they are. That is "
                f"allowed because the groups of equal rows keep the demands already ({self.demands}), and "
                "they promise no more."
            )
        values = self.groups.domain
        closeness = self.demands.closeness
        if closeness is not None and closeness[1] == "ordered" and any(isinstance(v, str) for v in values):
            shown = " < ".join("null" if value is None else repr(value) for value in values[:MOST_SHOWN])
            more = f" < .. ({len(values):,} values)" if len(values) > MOST_SHOWN else ""
            remarks.append(
                f"Ordered distances take {self.sensitive!r} in this order, that of its texts letter by "
                f"letter: {shown}{more}. If they mean another order, name them so that this one is it, as "
                "1-low and 2-high, or leave the distances equal: else the closeness that is kept is not the "
                "one meant."
            )
        for name, cells in self.cells.items():
            shown_range = range_by_letters(cells)
            if shown_range is not None:
                remarks.append(
                    f"{shown_range} in {name!r} is of texts letter by letter, and of no amounts that they "
                    "may mean: write these as numbers, or give a hierarchy of them."
                )
        columns: dict[str, list[Value]] = {
            name: [
                cell.text if len(cell.values) > 1 or isinstance(cell.values[0], str) else None
                for cell in cells
            ]
            for name, cells in self.cells.items()
        }
        columns[self.sensitive] = list(self.groups.domain)
        return (*remarks, *spreadsheet_remarks(columns))

    def utility(self) -> Utility:
        """Discernibility, average size, certainty penalty and divergence of the marginals."""
        return self._content.utility()

    @property
    def certificate(self) -> PartitionCertificate:
        """What `save` claims in certificate.json; its `to_dict` is the file."""
        return certificate_of(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        order: Literal["canonical", "shuffled"] = "canonical",
        rng: np.random.Generator | None = None,
        weights: str | None = None,
        parquet: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Write the published table and its certificate into the folder `path`, which is made if need be.

        The files are ``table.csv`` and ``certificate.json``, which holds the demands, the cells, and the
        sha256 of the table. They appear whole and together; where one cannot be written, there is none. The
        same partition gives the same bytes in canonical order.

        Parameters
        ----------
        path : str or path
            The folder.
        order : {"canonical", "shuffled"}
            Sorted by what is published, or in random order. That of the data is never kept.
        rng : numpy.random.Generator, optional
            For shuffling; by default the operating system seeds one. A seeded one is for tests, and the
            certificate says so.
        weights : str, optional
            The name of a column that says how many people a row stands for, each distinct row being written
            once. Without it there is a row for each person.
        parquet : bool
            Write ``table.parquet`` as well, and its sha256 into the certificate. Needs pyarrow.
        overwrite : bool
            Replace a folder that is there, with all that is in it. Only one that holds nothing but a
            certificate and its files is ever replaced.

        Raises
        ------
        FileExistsError
            If there is something already, other than an empty folder.
        ValueError
            If the groups do not keep the demands, or names or texts are ambiguous in a CSV file, or longer
            than readers take (131,072 characters).
        OSError
            If the folder or a file cannot be written.
        """
        parts = parts_of(self, order=order, rng=rng, weights=weights, parquet=parquet)
        self._write(path, parts, overwrite)

    def to_dict(self) -> Document:
        """Plain values, without rows and groups."""
        return {
            "quasi": list(self.quasi),
            "sensitive": self.sensitive,
            "rows": self.n_rows,
            "groups": self.n_groups,
            "demands": self.demands.to_dict(),
            "utility": self.utility().to_dict(),
            "warnings": list(self.warnings),
            "path": self.path,
        }
