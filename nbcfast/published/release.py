"""`Release`: the counts that leave, with their certificate."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from nbcfast._core.dtypes import Array, Floats, Longs
from nbcfast._core.numbers import number_text
from nbcfast._core.pickling import without_kept
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable
from nbcfast.domains import Declarations, Declared
from nbcfast.published.base import Published
from nbcfast.published.certificate import Certificate
from nbcfast.published.dataset import codes, dataset, to_probabilities, to_sklearn, write_dataset
from nbcfast.published.exported import Exportable
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.published.points_table import PointsTable
from nbcfast.published.raw_rows import Answering, predict, predict_batches, predict_proba
from nbcfast.published.release_pieces import release_html
from nbcfast.published.typed import limit_text
from nbcfast.published.wire import parts_of
from nbcfast.table import Table
from nbcfast.views import Viewset
from nbcfast.views.loss import expected_log_loss
from nbcfast.views.record_scorer import RecordScorer

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.dataset import Probabilities
    from nbcfast.published.fitted import PublishedCategoricalNB
    from nbcfast.published.points_table import PointsTable


@dataclass(frozen=True, repr=False)
class Release(Exportable, Published):
    """Published counts with their certificate.

    Parameters
    ----------
    views : Viewset
        Realistic and positive, with Lambda up to the limit of the certificate.
    certificate : Certificate
    class_name : str, optional
        The name of the class column, for synthetic tables.

    Examples
    --------
    >>> from nbcfast import Certificate, Release, Viewset
    >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    >>> Release(views, Certificate(amplification=4, tuples=2))
    Release(5 rows, 2 classes, 1 attribute; amplification <= 4, order not proven)
    """

    views: Viewset
    certificate: Certificate
    class_name: str | None = None

    _kept_answering: ClassVar[Answering]  # of each release its own, made when rows are first answered

    def __post_init__(self) -> None:
        for name, kind in (("views", Viewset), ("certificate", Certificate)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be a {kind.__name__}, got {type(getattr(self, name)).__name__}")
        if self.class_name is not None and not isinstance(self.class_name, str):
            raise TypeError(f"class_name must be a text or None, got {self.class_name!r}")
        if self.certificate.prior is not None and len(self.certificate.prior) != len(self.views.classes):
            raise ValueError(
                f"certificate: prior must be {len(self.views.classes)} numbers, "
                f"got {len(self.certificate.prior)}"
            )
        if self.certificate.canonical is not None:
            fault = self.certificate.canonical.fits(self.views)
            if fault is not None:
                raise ValueError(f"certificate: canonical: {fault}")
        if self.class_name in self.views.attributes:
            raise ValueError(f"class_name must be no attribute, got {self.class_name!r}")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the publisher should know of the counts and texts besides; it is not in the file."""
        class_name = "class" if self.class_name is None else self.class_name
        columns = {name: self.views.domain(name) for name in self.views.attributes}
        texts = spreadsheet_remarks({**columns, class_name: self.views.classes})

        n_classes = len(self.views.classes)
        # Of the published counts alone: not even a remark may tell views of equal answers apart.
        if n_classes == 1 or expected_log_loss(self.views, self.views) < 0.99 * math.log(n_classes):
            return texts
        text = (
            f"Posteriors are nearly flat: the log-loss is within 1 % of guessing, {math.log(n_classes):.4f}."
        )
        if self.certificate.preserve == "order" and n_classes > 2:
            text += " preserve='label' may give more."
        return (text, *texts)

    def __repr__(self) -> str:
        made = self.certificate
        count, n = len(self.views.classes), len(self.views.attributes)
        rows = self.views.n_rows
        size = str(rows) if rows < 10**15 else f"about 2^{rows.bit_length() - 1}"
        kept = {
            True: "identical",
            False: f"differs on {number_text(made.differing_tuples or 0)} tuples",
            None: "not proven",
        }
        if made.canonical is not None and made.canonical.listed is not None:
            listed = made.canonical.listed
            some = f"differs on {listed.differing} of" if listed.differing else "identical on"
            how = f"{made.preserve} {some} {listed.tuples} listed tuples"
        elif made.equal is None:
            how = f"{made.preserve} not proven"
        else:
            how = f"{made.preserve} {kept[made.equal]} ({made.equivalence})"
        if made.smoothing is not None:
            how += f", smoothed by {made.smoothing}"
        if made.privacy is not None:
            how += f", of counts with noise of {made.privacy.level}"
        limit = f"amplification <= {limit_text(made.amplification)}"
        if made.r is not None:
            limit = f"r <= {limit_text(made.r)} of the prior"
        return (
            f"Release({size} rows, {count} {'class' if count == 1 else 'classes'}, "
            f"{n} {'attribute' if n == 1 else 'attributes'}; {limit}, {how})"
        )

    def _repr_html_(self) -> str:
        return release_html(self)

    def to_dict(self) -> Document:
        """Plain values: the counts, and the fields of the certificate."""
        return {
            "views": self.views.to_dict(),
            "certificate": self.certificate.to_dict(),
            "class_name": self.class_name,
        }

    def scorecard(self) -> PointsTable:
        """The points table of a canonical release: small integers that decide as the release does.

        Returns
        -------
        PointsTable
            To be printed, or written with `.text()`, `.markdown()` and `.plot(path)`.

        Raises
        ------
        ValueError
            If the release is not a canonical one.

        Examples
        --------
        >>> from nbcfast import canonical
        >>> views = Viewset([5, 9], {"job": [[1, 6], [4, 3]], "sex": [[1, 5], [4, 4]]}, classes=["no", "yes"])
        >>> print(canonical.release(views, 4).scorecard())
        job  0   0
        job  1   1
        sex  0   0
        sex  1   1
        'no' from 2 points on, else 'yes'
        """
        return PointsTable.of(self)

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
        """The class of every raw row, by exact comparisons of the published counts.

        Numbers, and texts of numbers, are put into the bins of the release, and dates into its bins of dates;
        a float means its shortest decimal text, so that 0.3 lies in [0.3, 0.4). Values that were binned
        before stay where they are.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
            record batches, or the path of a file (.csv, .tsv, .parquet ..). Columns are found by name, and
            others do not matter. All but a Table or a mapping is read block by block, and only the answers
            stay in memory.
        codes : bool
            Give positions in ``views.classes`` in place of labels.
        domains : Declared, mapping, or path of a JSON file, optional
            What the release was published with: of sets, and of bins that have names, nothing else says which
            raw values are in them. Where it was chosen from a menu: ``nbcfast.domains.Menu.read("menu.json",
            release.class_name).chosen(release.certificate.advice.chosen)``.
        unseen : {"error", "ignore", "null", "zero"}
            What to do with rows whose value, or null, is none that was published: refuse them; leave the
            attribute out of the row; give them no class, in a masked array; or count it as 0 in every class,
            as `Viewset.predict` does, which gives every such row the last class, whatever else it says.
        threads : int, optional
            By default all cores the process may use, one for small tables.
        progress : callable, optional
            Called as progress(done_rows, all_rows).

        Returns
        -------
        ndarray, or a masked one with ``unseen="null"``, shape (rows,)
            Labels; with `codes` uint8 (uint16 for more than 256 classes).

        Raises
        ------
        ValueError
            If a column is missing, or a row has a value that is unknown to the release.

        Notes
        -----
        With ``unseen="ignore"`` a row is answered by the classifier of the same published counts without the
        attributes whose value is unknown; where all are, by the class counts alone. Its odds lie between
        those of whole rows, so a limit of the certificate bounds them too ("Amplification" in
        docs/mathematics/safety.md). What the certificate says of equal answers is of whole rows: without an
        attribute the original counts may decide otherwise.

        Examples
        --------
        >>> import nbcfast
        >>> people = nbcfast.Table({"age": [20, 71, 34, 80], "ill": ["no", "yes", "no", "yes"]})
        >>> binned = people.bin("age", edges=[0, 50, 100])
        >>> release = nbcfast.canonical.release(nbcfast.count(binned, "ill"), 4)
        >>> release.predict({"age": [49.5, 50]}).tolist()
        ['no', 'yes']
        >>> release.predict({"age": [49, None, 120]}, unseen="null").tolist()
        ['no', None, None]
        >>> release.predict({"age": [51, None, 120]}, unseen="ignore").tolist()
        ['yes', 'no', 'no']
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
        """The posterior of each class for every raw row, by the published counts.

        These are probabilities among the published rows, which are not those of the data: the largest of a
        row is always that of the class that `predict` gives it, exactly. What the others are is float64.

        Parameters
        ----------
        table, domains, threads, progress
            As for `predict`.
        unseen : {"error", "ignore", "null"}
            As for `predict`; rows without a class are NaN.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
            In the order of ``views.classes``.

        Raises
        ------
        ValueError
            If a column is missing, or a row has a value that is unknown to the release.

        Examples
        --------
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2))
        >>> release.predict_proba({"job": [0, 7]}, unseen="null").round(3).tolist()
        [[0.333, 0.667], [nan, nan]]
        >>> release.predict_proba({"job": [0, 7]}, unseen="ignore").round(3).tolist()
        [[0.333, 0.667], [0.4, 0.6]]
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
        """The same as `predict` block by block, in memory that does not grow with the rows.

        Parameters
        ----------
        table, codes, domains, unseen, threads
            As for `predict`; a file or stream is read as the blocks are asked for.

        Yields
        ------
        ndarray, or a masked one with ``unseen="null"``
            The classes of the next rows.

        Raises
        ------
        ValueError
            As `predict`, at the first block that has such rows.

        Examples
        --------
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2))
        >>> [block.tolist() for block in release.predict_batches({"job": [0, 1]})]
        [['yes', 'yes']]
        """
        answering = self.answering(domains)
        return predict_batches(answering, table, None if codes else answering.labels, unseen, threads)

    def scorer(
        self,
        *,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error", "ignore", "null", "zero"] = "error",
    ) -> RecordScorer:
        """What decides one record after the other, or matrices of codes: for services.

        Parameters
        ----------
        domains, unseen
            As for `predict`.

        Returns
        -------
        RecordScorer
            With `predict_one` and `predict_codes`, whose answers are those of `predict`: a mapping of names
            to raw values, or codes as of `codes`.

        Examples
        --------
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2))
        >>> scorer = release.scorer(unseen="null")
        >>> scorer.predict_one({"job": 1}), scorer.predict_one([0]), scorer.predict_one({"job": 7})
        ('yes', 'yes', None)
        """
        return self.answering(domains).scorer(unseen)

    def answering(
        self, domains: Declarations | Declared | None = None, words: Arguments = ARGUMENTS
    ) -> Answering:
        """How raw rows are answered, for whoever has them in blocks of his own; see `predict`."""
        if domains is not None or words is not ARGUMENTS:
            return Answering([self.views], self.views.domains, None, domains, words)
        if "_kept_answering" not in vars(self):
            object.__setattr__(self, "_kept_answering", Answering([self.views], self.views.domains))
        return self._kept_answering

    def __getstate__(self) -> dict[str, object]:
        return without_kept(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Write ``certificate.json`` into the folder `path`, which is made if need be.

        The same release gives the same bytes. The file appears whole or not at all, and only if its counts
        are realistic and positive and keep the limit.

        Parameters
        ----------
        path : str or path
            The folder.
        dataset : str or path, optional
            A file for a synthetic table, as of `write_dataset`; both are written, or neither.
        overwrite : bool
            Replace a folder that is there, with all that is in it, and a dataset. Only a folder that holds
            nothing but a certificate and its files is ever replaced.
        progress : callable, optional
            Called as progress(done, total), in rows of the dataset.

        Raises
        ------
        FileExistsError
            If there is something already, other than an empty folder.
        ValueError
            If the counts do not have what the certificate claims.
        OSError
            If the folder or file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from nbcfast import load
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2))
        >>> with TemporaryDirectory() as folder:
        ...     release.save(folder)
        ...     load(folder) == release
        True
        """
        self._write(path, parts_of(self, path, dataset, overwrite, progress), overwrite)

    def dataset(self, rng: np.random.Generator | None = None, *, progress: Progress | None = None) -> Table:
        """A synthetic table with exactly these counts: within a class each column is permuted by itself.

        The rows of a class stand together, the classes in their order.

        Parameters
        ----------
        rng : numpy.random.Generator, optional
            By default the operating system seeds one. A seeded one is for tests.
        progress : callable, optional
            Called as progress(done, total), in rows.

        Returns
        -------
        Table
            The attributes, and the class column `class_name` (or "class") last.

        Raises
        ------
        ValueError
            If the table would have more than 2^31 rows (`write_dataset` streams larger ones), or the counts
            are not realistic.

        Examples
        --------
        >>> import nbcfast
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2), "ill")
        >>> nbcfast.count(release.dataset(), "ill") == views
        True
        """
        return dataset(self, rng, progress)

    def write_dataset(
        self,
        path: str | os.PathLike[str],
        rng: np.random.Generator | None = None,
        *,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Stream a synthetic table, as of `dataset`, to a .parquet, .csv or .csv.gz file in constant memory.

        Needs pyarrow. The file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        rng, progress
            As for `dataset`.
        overwrite : bool
            Replace a file that is there.

        Raises
        ------
        FileExistsError
            If there is such a file, and `overwrite` does not say that it may be replaced.
        ValueError
            If the ending is another, or the table would have more than 10^10 rows.
        """
        write_dataset(self, path, rng, progress, overwrite)

    def codes(
        self,
        table: AnyTable,
        *,
        domains: Declarations | Declared | None = None,
        unseen: Literal["error"] = "error",
    ) -> Longs:
        """The rows as `to_sklearn` and `to_probabilities` know them: positions in the published domains.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
            record batches, or the path of a file (.csv, .tsv, .parquet ..). Other columns do not matter, and
            raw values are put into bins as by `predict`.
        domains : Declared, mapping, or path of a JSON file, optional
            As for `predict`.
        unseen : {"error"}
            A value that is not in its domain is refused: these models have no place for it.

        Returns
        -------
        ndarray of int64, shape (rows, attributes)

        Raises
        ------
        ValueError
            If a column is missing or a value is not in its domain.

        Examples
        --------
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, domains={"job": ["clerk", "cook"]})
        >>> Release(views, Certificate(amplification=4, tuples=2)).codes({"job": ["cook", "clerk"]}).tolist()
        [[1], [0]]
        """
        return codes(self, table, domains)

    def to_probabilities(self) -> Probabilities:
        """The priors and conditional probabilities, each correctly rounded to a float64.

        Returns
        -------
        Probabilities

        Examples
        --------
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> probabilities = Release(views, Certificate(amplification=4, tuples=2)).to_probabilities()
        >>> probabilities.prior, probabilities.conditional["job"][0]
        (array([0.4, 0.6]), array([0.5       , 0.66666667]))
        """
        return to_probabilities(self)

    def to_sklearn(self) -> PublishedCategoricalNB:
        """A fitted scikit-learn classifier over `codes`, a kind of CategoricalNB; needs scikit-learn.

        ``classes_`` are sorted, as scorers take them to be. ``predict`` decides exactly, as `predict` does
        here, ties included; probabilities are float64, and the largest of a row is always that of the class
        that is predicted. Logarithms and posteriors are floats, as scikit-learn has them, and no decision is
        made of them. A pickle, also of joblib, is the text of certificate.json: equal releases have the same
        bytes, and what does not hold is refused when it is loaded.

        It is not fitted again: ``fit``, ``partial_fit`` and ``set_params`` raise a TypeError, so that
        cross-validation and grid search fail and do not put a plain CategoricalNB with the counts of
        private rows in the place of the release. ``sklearn.base.clone`` gives a copy, fitted too. To score it
        by cross-validation wrap it in ``sklearn.frozen.FrozenEstimator`` (scikit-learn 1.6).

        Returns
        -------
        PublishedCategoricalNB

        Raises
        ------
        ImportError
            If scikit-learn is missing.
        ValueError
            If the release has no attribute.
        """
        return to_sklearn(self)
