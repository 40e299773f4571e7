"""`StratifiedRelease`: a release for each value of a column, which selects the one that decides a row."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Array, Counts, Floats
from nbcfast._core.files import written
from nbcfast._core.numbers import amount_text
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.sql_text import Dialect
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable
from nbcfast._wire.strata_form import MOST_STRATA, of_strata, strata_notes, strata_warnings
from nbcfast._wire.typed_values import label
from nbcfast._wire.typed_values import value as typed_value
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.published.base import Published
from nbcfast.published.certificate import Certificate
from nbcfast.published.dataset import (
    MOST_ROWS,
    MOST_STREAMED_ROWS,
    blocks_of,
    class_column,
    dataset,
    generator_of,
    streamed_ending,
    write_blocks,
)
from nbcfast.published.exported import Exportable
from nbcfast.published.opened_sets import opened, opened_points
from nbcfast.published.points_sql import Unseen, class_by
from nbcfast.published.raw_rows import Answering, predict, predict_batches, predict_proba
from nbcfast.published.release import Release
from nbcfast.published.release_pieces import strata_html
from nbcfast.published.typed import json_value, limit_text
from nbcfast.published.wire import strata_digest, strata_parts
from nbcfast.table import Column, Domain, Table, concat
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.record_scorer import RecordScorer

if TYPE_CHECKING:
    from typing import IO

    from nbcfast._core.threads import Progress


@dataclass(frozen=True, kw_only=True, repr=False)
class StrataCertificate:
    """What is claimed about a release for each value of a column.

    Attributes
    ----------
    by : str
        The column.
    values : tuple
        Its values, in their order.
    undeclared : bool
        Whether these come from the rows.
    strata : tuple of Certificate
        Of the release of each value: what is claimed of its answers.
    labels : tuple of str
        The values as sentences name them.
    """

    by: str
    values: tuple[Value, ...]
    undeclared: bool
    strata: tuple[Certificate, ...]
    labels: tuple[str, ...]

    kind = "strata"
    method = "canonical"

    @property
    def amplification(self) -> Fraction:
        """The limit that was demanded of every stratum."""
        return self.strata[0].amplification

    @property
    def limit(self) -> Fraction:
        """What Lambda of every stratum must not exceed."""
        return self.strata[0].limit

    @property
    def attacker(self) -> Attacker:
        """Against whom."""
        return self.strata[0].attacker

    @property
    def preserve(self) -> Preserve:
        """What is as in the private views of every stratum."""
        return self.strata[0].preserve

    @property
    def version(self) -> str:
        """Of the library that made them."""
        return self.strata[0].version

    @property
    def tuples(self) -> int:
        """Of the domain of all strata together: those of one, as often as there are strata."""
        return len(self.strata) * self.strata[0].tuples

    @property
    def equal(self) -> bool | None:
        """Whether every tuple of every stratum keeps its order (or label); None where it is not known."""
        found = {made.equal for made in self.strata}
        return False if False in found else None if None in found else True

    @property
    def own_notes(self) -> tuple[str, ...]:
        """What is said of the list alone, as the file has it."""
        return strata_notes(self.by, len(self.strata))

    @property
    def own_warnings(self) -> tuple[str, ...]:
        """The warnings of the list alone, as the file has them."""
        advice = self.strata[0].advice
        for_one = advice is not None and not advice.strata
        return tuple(strata_warnings(self.by, undeclared=self.undeclared, advised_for_one=for_one))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a recipient has to know about the list, and about the releases in it."""
        return *self.own_notes, *of_strata(self.labels, [made.notes for made in self.strata])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the list, and of the releases in it."""
        return *self.own_warnings, *of_strata(self.labels, [made.warnings for made in self.strata])

    def __repr__(self) -> str:
        return f"StrataCertificate(by={self.by!r}; {len(self.strata)} strata; {self.strata[0]!r} ..)"

    def to_dict(self) -> Document:
        """The fields as they are."""
        return {
            "by": self.by,
            "values": self.values,
            "undeclared": self.undeclared,
            "notes": self.notes,
            "warnings": self.warnings,
            "strata": [made.to_dict() for made in self.strata],
        }


@dataclass(frozen=True, repr=False)
class StratifiedRelease(HasReadOnlyMappings, Exportable, Published):
    """Canonical releases of the strata of a table: the value of a column selects which one decides a row.

    Scores of different strata are not comparable: each stratum has a scale of its own.

    Parameters
    ----------
    by : str
        The column.
    strata : mapping of value -> Release
        Canonical ones, of the same attributes, domains, classes and parameters.
    undeclared : bool
        Whether the values of the column come from the rows, which is published then and outside the
        guarantee.

    See Also
    --------
    nbcfast.canonical.release_by : Makes it of a table.

    Examples
    --------
    >>> from nbcfast import canonical
    >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
    ...             "ill": ["no", "yes", "yes", "no"]}
    >>> made = canonical.release_by(patients, "ill", "sex", 4)
    >>> made
    StratifiedRelease(by 'sex': 2 releases, 2 classes, 1 attribute; amplification <= 4, label identical)
    >>> made.predict({"sex": ["f", "m"], "glucose": ["high", "high"]}).tolist()
    ['yes', 'no']
    """

    by: str
    strata: Mapping[Value, Release]
    undeclared: bool = False

    _kept_answering: ClassVar[Answering]  # of each its own, made when rows are first answered

    def __post_init__(self) -> None:
        if not isinstance(self.by, str):
            raise TypeError(f"by must be a text, got {self.by!r}")
        if not isinstance(self.undeclared, bool):
            raise TypeError(f"undeclared must be True or False, got {self.undeclared!r}")
        if not isinstance(self.strata, Mapping):
            raise TypeError(
                f"strata must be a mapping of values to releases, got {type(self.strata).__name__}"
            )
        if not 1 <= len(self.strata) <= MOST_STRATA:
            raise ValueError(f"strata must be 1 to {MOST_STRATA:,} releases, got {len(self.strata):,}")
        domain = Domain.of(self.strata, not self.undeclared, where="strata")
        given = dict(self.strata)
        object.__setattr__(self, "strata", MappingProxyType({one: given[one] for one in domain.values}))
        first = next(iter(self.strata.values()))
        for one, release in self.strata.items():
            made = release.certificate.canonical if isinstance(release, Release) else None
            if made is None or made.listed is not None:
                raise ValueError(
                    f"strata: expected canonical releases of whole domains, got {release!r} for {one!r}"
                )
            if release.certificate.privacy is not None:
                raise ValueError(
                    f"strata: no release of noisy counts may be one of several, got {release!r} for {one!r}: "
                    "publish it alone, with the column as an attribute"
                )
            if _parameters(release) != _parameters(first):
                raise ValueError(
                    "strata must have the same attributes, domains, classes and parameters, got others for "
                    f"{one!r}"
                )
        if self.by in (first.class_name, *first.views.attributes):
            raise ValueError(f"by must be neither the class nor an attribute, got {self.by!r}")
        advice = first.certificate.advice
        if advice is not None and advice.strata and advice.by_column != self.by:
            raise ValueError(f"by must be the column that the advice has chosen, got {self.by!r}")

    @property
    def domain(self) -> Domain:
        """The values of the column, in the order of the strata."""
        return Domain.of(self.strata, not self.undeclared, where="strata")

    @property
    def first(self) -> Release:
        """The release of the first stratum, which has the attributes, domains and parameters of all."""
        return next(iter(self.strata.values()))

    @property
    def class_name(self) -> str | None:
        """The name of the class column, or None."""
        return self.first.class_name

    @property
    def certificate(self) -> StrataCertificate:
        """What is claimed about them all."""
        return StrataCertificate(
            by=self.by,
            values=tuple(self.strata),
            undeclared=self.undeclared,
            strata=tuple(release.certificate for release in self.strata.values()),
            labels=tuple(label(typed_value(json_value(one, self.domain), "by")) for one in self.strata),
        )

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Those of the column and of the attributes."""
        return {self.by: self.domain, **self.first.views.domains}

    @property
    def columns(self) -> Viewset:
        """The column and the attributes with their domains, and the classes: all counts are 0."""
        domains = self.domains
        n_classes = len(self.first.views.classes)
        counts: dict[str, Counts] = {
            name: np.zeros((len(domain), n_classes), np.int64) for name, domain in domains.items()
        }
        none: Counts = np.zeros(n_classes, np.int64)
        return Viewset.from_parts(none, counts, self.first.views.class_domain, dict(domains))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the publisher should know of counts and texts besides; it is not in the file."""
        each = [release.remarks for release in self.strata.values()]
        return tuple(of_strata(self.certificate.labels, each))

    def __repr__(self) -> str:
        made, views = self.certificate, self.first.views
        kept = {True: "identical", False: "not identical", None: "not proven"}[made.equal]
        many = "1 release" if len(self.strata) == 1 else f"{len(self.strata):,} releases"
        n_classes, n = len(views.classes), len(views.attributes)
        classes = f"{n_classes} {'class' if n_classes == 1 else 'classes'}"
        return (
            f"StratifiedRelease(by {self.by!r}: {many}, {classes}, "
            f"{n} {'attribute' if n == 1 else 'attributes'}; amplification <= "
            f"{limit_text(made.amplification)}, {made.preserve} {kept})"
        )

    def _repr_html_(self) -> str:
        return strata_html(self)

    def to_dict(self) -> Document:
        """Plain values: the column, and each release with the value that selects it."""
        return {
            "by": self.by,
            "undeclared": self.undeclared,
            "strata": [{"value": one, **release.to_dict()} for one, release in self.strata.items()],
        }

    def predict(
        self,
        table: AnyTable,
        *,
        codes: bool = False,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error", "ignore", "null", "zero"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Array:
        """The class of every raw row: that of the release which its value of the column selects.

        Parameters and results are those of `Release.predict`. A value of the column that has no release is
        refused even with ``unseen="ignore"`` and ``"zero"``: nothing else says which counts decide.

        Raises
        ------
        ValueError
            If a column is missing, or a row has a value that is unknown to the releases.

        Examples
        --------
        >>> from nbcfast import canonical
        >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
        ...             "ill": ["no", "yes", "yes", "no"]}
        >>> made = canonical.release_by(patients, "ill", "sex", 4)
        >>> made.predict({"sex": ["f", None], "glucose": ["high", "high"]})
        Traceback (most recent call last):
        ValueError: column 'sex': value None has no release; there are releases of 'f' and 'm'
        """
        answering = self.answering(domains)
        return predict(answering, table, None if codes else answering.labels, unseen, threads, progress)

    def predict_proba(
        self,
        table: AnyTable,
        *,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error", "ignore", "null"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Floats:
        """The posterior of each class for every raw row, by the counts of its stratum.

        Those of different strata are not comparable: see the class. As of `Release.predict_proba`.
        """
        return predict_proba(self.answering(domains), table, unseen, threads, progress)

    def predict_batches(
        self,
        table: AnyTable,
        *,
        codes: bool = False,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error", "ignore", "null", "zero"] = "error",
        threads: int | None = None,
    ) -> Iterator[Array]:
        """The same as `predict` block by block; as of `Release.predict_batches`."""
        answering = self.answering(domains)
        return predict_batches(answering, table, None if codes else answering.labels, unseen, threads)

    def scorer(
        self,
        *,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error", "ignore", "null", "zero"] = "error",
    ) -> RecordScorer:
        """What decides one record after the other, or matrices of codes; as of `Release.scorer`.

        The column that selects the release is the first of a record and of codes, and its values must be
        known, but with ``unseen="null"``.

        Examples
        --------
        >>> from nbcfast import canonical
        >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
        ...             "ill": ["no", "yes", "yes", "no"]}
        >>> scorer = canonical.release_by(patients, "ill", "sex", 4).scorer()
        >>> scorer.attributes, scorer.predict_one({"sex": "m", "glucose": "high"}), scorer.predict_one([0, 0])
        (('sex', 'glucose'), 'no', 'yes')
        """
        return self.answering(domains).scorer(unseen)

    def answering(
        self, domains: Declarations | Declared | None = None, words: Arguments = ARGUMENTS
    ) -> Answering:
        """How raw rows are answered, for whoever has them in blocks of his own; see `predict`."""
        if domains is None and words is ARGUMENTS and "_kept_answering" in vars(self):
            return self._kept_answering
        views = [release.views for release in self.strata.values()]
        made = Answering(views, self.domains, self.by, domains, words)
        if domains is None and words is ARGUMENTS:
            object.__setattr__(self, "_kept_answering", made)
        return made

    def sql(
        self,
        dialect: Dialect,
        *,
        unseen: Unseen = "error",
        table: str | None = None,
        domains: Declarations | Declared | None = None,
    ) -> str:
        """One expression of SQL for the class of a row: the value of the column selects the points.

        Parameters, result and errors are those of `PointsTable.sql`. It is as long as the points of all
        strata together.

        Examples
        --------
        >>> import duckdb
        >>> from nbcfast import canonical
        >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
        ...             "ill": ["no", "yes", "yes", "no"]}
        >>> made = canonical.release_by(patients, "ill", "sex", 4)
        >>> row = "SELECT 'm' AS sex, 'high' AS glucose"
        >>> duckdb.sql(f"SELECT {made.sql('duckdb')} AS ill FROM ({row})").fetchall()
        [('no',)]
        """
        points = {value: release.scorecard() for value, release in self.strata.items()}
        if domains is not None:
            known = declared(domains)
            places = tuple((place,) for place in range(len(points)))
            _, raw, of_raw = opened((self.by, tuple(points), places), known)
            each = [opened_points(one, known) for one in points.values()]
            points = {value: each[place] for value, (place,) in zip(raw, of_raw, strict=True)}
        return class_by(self.by, points, dialect, unseen, table)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Write one ``certificate.json`` for all strata into the folder `path`; as `Release.save`.

        Parameters
        ----------
        path, overwrite, progress
            As for `Release.save`.
        dataset : str or path, optional
            A file for one synthetic table, as of `write_dataset`; both are written, or neither.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from nbcfast import canonical, load
        >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
        ...             "ill": ["no", "yes", "yes", "no"]}
        >>> made = canonical.release_by(patients, "ill", "sex", 4)
        >>> with TemporaryDirectory() as folder:
        ...     made.save(folder)
        ...     load(folder) == made
        True
        """
        self._write(path, strata_parts(self, path, dataset, overwrite, progress), overwrite)

    def dataset(self, rng: np.random.Generator | None = None, *, progress: Progress | None = None) -> Table:
        """One synthetic table: that of each stratum, with its value in the column, which stands first.

        So many rows as the release of a stratum has it has here: how many people it has in the data is not
        in them.

        Parameters
        ----------
        rng, progress
            As for `Release.dataset`.

        Returns
        -------
        Table
            The column, the attributes, and the class column last.

        Raises
        ------
        ValueError
            If it would have more than 2^31 rows.

        Examples
        --------
        >>> from nbcfast import canonical
        >>> patients = {"sex": ["f", "m", "f", "m"], "glucose": ["low", "low", "high", "high"],
        ...             "ill": ["no", "yes", "yes", "no"]}
        >>> made = canonical.release_by(patients, "ill", "sex", 4)
        >>> canonical.release_by(made.dataset(), "ill", "sex", 4) == made
        True
        """
        self._check_rows(MOST_ROWS)
        generator = generator_of(rng)
        tables = []
        for number, release in enumerate(self.strata.values()):
            tables.append(self._with_value(dataset(release, generator, None), number))
            if progress is not None:
                progress(number + 1, len(self.strata))
        return concat(tables)

    def write_dataset(
        self,
        path: str | os.PathLike[str],
        rng: np.random.Generator | None = None,
        *,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Stream one synthetic table, as of `dataset`, to a .parquet, .csv or .csv.gz file.

        Parameters
        ----------
        path, rng, overwrite, progress
            As for `Release.write_dataset`.

        Raises
        ------
        FileExistsError, ValueError
            As `Release.write_dataset`.
        """
        with written(path, overwrite=overwrite) as file:
            self.stream(os.fsdecode(path), file, rng, progress)

    def stream(
        self,
        name: str,
        file: IO[bytes],
        rng: np.random.Generator | None,
        progress: Progress | None,
        where: str = "path",
    ) -> None:
        """Write the synthetic table of the kind that the ending of `name` says; `where` is its argument."""
        ending = streamed_ending(name, where)
        class_name = self._check_rows(MOST_STREAMED_ROWS)
        blocks = self._blocks(class_name, generator_of(rng), progress)
        domains = {**self.domains, class_name: self.first.views.class_domain}
        write_blocks(blocks, domains, ending, file, partial(strata_digest, self), seeded=rng is not None)

    def _check_rows(self, most: int) -> str:
        """The name of the class column of a table of all strata; ValueError where it is too long."""
        names = [class_column(release, most) for release in self.strata.values()]
        rows = sum(release.views.n_rows for release in self.strata.values())
        if rows > most:
            raise ValueError(
                f"a dataset of these strata has {amount_text(rows)} rows, more than {amount_text(most)}"
            )
        if self.by == names[0]:
            raise ValueError(f"class_name must be given, because {self.by!r} is the column of the strata")
        return names[0]

    def _blocks(
        self, class_name: str, rng: np.random.Generator, progress: Progress | None
    ) -> Iterator[Table]:
        """The synthetic tables one after another, in blocks."""
        total, done = sum(release.views.n_rows for release in self.strata.values()), 0
        for number, release in enumerate(self.strata.values()):
            for block in blocks_of(release, class_name, rng, None):
                done += block.n_rows
                yield self._with_value(block, number)
                if progress is not None:
                    progress(done, total)

    def _with_value(self, table: Table, number: int) -> Table:
        """A table of one stratum with its value in the column."""
        codes = np.full(table.n_rows, number, code_dtype(len(self.strata)))
        columns = {self.by: Column(codes, self.domain)}
        columns.update((name, table.column(name)) for name in table.names)
        return Table.from_columns(columns, table.weights, table.n_rows)


def _parameters(release: Release) -> tuple[object, ...]:
    """All that strata have in common."""
    made, views = release.certificate, release.views
    canonical = made.canonical
    assert canonical is not None
    return (
        release.class_name,
        views.class_domain,
        tuple(views.domains.items()),
        (made.amplification, made.attacker, made.preserve, made.version),
        (made.accepted, made.advice, made.smoothing),
        (canonical.bits, canonical.undeclared),
    )
