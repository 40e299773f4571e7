"""`Release` and `Certificate`: the counts that leave, and what is claimed about them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nbcfast import __version__
from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.numbers import amount_text, as_limit, exact, fields_text, number_text
from nbcfast._wire.chosen_numbers import MOST_PEOPLE
from nbcfast._wire.release_form import MOST_BITS, contradiction
from nbcfast._wire.release_words import canonical_notes, canonical_warnings, release_notes, release_warnings
from nbcfast.published.dataset import codes, dataset, to_probabilities, to_sklearn, write_dataset
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.published.points_table import PointsTable
from nbcfast.published.saving import save
from nbcfast.published.typed import limit_text
from nbcfast.table import Table
from nbcfast.views import Viewset
from nbcfast.views.loss import expected_log_loss

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.dataset import Probabilities
    from nbcfast.published.fitted import PublishedCategoricalNB
    from nbcfast.published.points_table import PointsTable

METHODS = ("safetytransform", "est", "canonical")
ATTACKERS = ("row", "worlds")
PRESERVED = ("order", "label")
PROOFS = ("identity", "enumeration", "meet in the middle", "interval", "none")


def same_text(
    preserve: str,
    tuples: int,
    differing: int | None,
    proof: str,
    rows: int | None = None,
    listed: int | None = None,
) -> str:
    """Whether a classifier is the private one, and how that was established.

    Of all `tuples`, or of the `listed` ones where only these were compared, so many are decided otherwise, or
    some where that is None; so are so many `rows` of the table.
    """
    what = "the order of all classes" if preserve == "order" else "the best class"
    of = f"{amount_text(tuples)} tuples"
    if listed is not None:
        if differing:
            return f"not identical: {what} differs on {differing:,} of {listed:,} listed tuples"
        return f"{what} as before on {listed:,} listed tuples of {of}"
    if proof == "identity":
        return f"identical: these are the original counts, {of}"
    if differing == 0:
        return f"identical: {what} on all {of} (proven by {proof})"
    number = "some" if differing is None else amount_text(differing)
    also = "" if rows is None else f", and on {amount_text(rows)} rows of the input"
    return f"not identical: {what} differs on {number} of {of}{also}"


class PublicList(NamedTuple):
    """A public list of tuples, on which a canonical release keeps answers.

    Attributes
    ----------
    tuples : int
        How many there are.
    sha256 : str
        Of the list, which is not in the file.
    differing : int
        Of how many of them the order (or label) is another than in the private views.
    """

    tuples: int
    sha256: str
    differing: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Canonical:
    """What the certificate of a canonical release says besides.

    Parameters
    ----------
    points : tuple
        points[i][t] holds what value t of attribute i adds to the total of each class but the last, integers.
    constants : tuple of int
        What these totals begin with. The total of the last class is 0; the largest total wins, of equal ones
        the later class. For one class points and constants are empty.
    reproducible : bool
        Whether every machine comes to the same points.
    undeclared : tuple of str
        The attributes whose values were taken from the rows, and None for the class, last.
    bits : int or None
        The number of bits that points were rounded to, if that was asked for.
    listed : PublicList or None
        Where answers are kept on a list only: which one, and on how many of its tuples they are not kept.
    """

    points: tuple[tuple[tuple[int, ...], ...], ...]
    constants: tuple[int, ...]
    reproducible: bool
    undeclared: tuple[str | None, ...] = ()
    bits: int | None = None
    listed: PublicList | None = None

    def __repr__(self) -> str:
        return fields_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as they are."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**found, "listed": None if self.listed is None else self.listed._asdict()}

    def fits(self, views: Viewset) -> str | None:
        """What does not fit these views, or None."""
        width = len(views.classes) - 1
        if len(self.constants) != width:
            return f"constants must be {width} numbers, got {len(self.constants)}"
        if not width:
            return None if not self.points else "points must be empty for one class"
        sizes = [len(array) for array in views.counts.values()]
        if [len(rows) for rows in self.points] != sizes:
            return f"points must be those of {sizes} values, got {[len(rows) for rows in self.points]}"
        if any(len(row) != width for rows in self.points for row in rows):
            return f"points must be {width} numbers a value"
        if any(number < 0 for rows in self.points for row in rows for number in row):
            return "points must be at least 0"
        most = max((number for rows in self.points for row in rows for number in row), default=0)
        if self.bits is not None and not most.bit_length() <= self.bits <= MOST_BITS:
            return f"bits must be {most.bit_length()} to {MOST_BITS} for these points, got {self.bits}"
        strange = [name for name in self.undeclared if name not in (*views.attributes, None)]
        return f"undeclared must be attributes, got {strange[0]!r}" if strange else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What is claimed about a published viewset.

    Parameters
    ----------
    method : {"safetytransform", "est", "canonical"}
        How the counts were made.
    amplification : int, Fraction, str or float
        The limit that was demanded; kept as a Fraction.
    attacker : {"row", "worlds"}
        Against whom; see `limit`.
    preserve : {"order", "label"}
        What is as in the private views: the whole order of the classes, or the best class.
    equivalence : {"identity", "enumeration", "meet in the middle", "interval", "none"}
        How that was established.
    tuples : int
        The size of the product domain.
    differing_tuples, differing_rows : int or None
        Of how many tuples, and of how many rows of the table that was given, the order (or label) is
        another. None where it is not known.
    gauge : bool
        Whether the canonical gauge was applied.
    identity : bool
        Whether the counts are the private ones.
    warnings : tuple of str
        By default those that go with the other fields; a release with others is not saved.
    version : str
        Of the library that made the release.
    r : int, Fraction, str or float, and
    prior : sequence of numbers
        With method "est", and only there: the odds of two classes are within a factor r of those of the
        prior, given in the order of the classes. Both are public, and are kept as Fractions.
    canonical : Canonical
        With method "canonical", and only there.

    Raises
    ------
    TypeError, ValueError
        If a field is none of these.

    Examples
    --------
    >>> from nbcfast import Certificate
    >>> Certificate(amplification="5/2", tuples=12, attacker="worlds").limit
    Fraction(5, 4)
    """

    amplification: Fraction
    tuples: int
    method: str = "safetytransform"
    attacker: Literal["row", "worlds"] = "row"
    preserve: Literal["order", "label"] = "order"
    equivalence: str = "none"
    differing_tuples: int | None = None
    differing_rows: int | None = None
    gauge: bool = True
    identity: bool = False
    warnings: tuple[str, ...] = None  # type: ignore[assignment]
    version: str = __version__
    r: Fraction | None = None
    prior: tuple[Fraction, ...] | None = None
    canonical: Canonical | None = None

    def __post_init__(self) -> None:
        factors = 3 if self.method == "est" else 1  # R, times a quotient of two priors
        demanded = as_limit(exact(self.amplification, "amplification"), "amplification", factors)
        object.__setattr__(self, "amplification", demanded)
        if self.amplification <= 1:
            raise ValueError(f"amplification must be above 1, got {limit_text(self.amplification)}")
        for name, allowed in (
            ("method", METHODS),
            ("attacker", ATTACKERS),
            ("preserve", PRESERVED),
            ("equivalence", PROOFS),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        if self.attacker == "worlds" and self.amplification <= 2:
            raise ValueError(
                "amplification must be above 2 for attacker 'worlds', who needs half of it, "
                f"got {limit_text(self.amplification)}"
            )
        for name in ("tuples", "differing_tuples", "differing_rows"):
            number = getattr(self, name)
            if number is None and name != "tuples":
                continue
            if isinstance(number, np.integer):
                number = int(number)
                object.__setattr__(self, name, number)
            if type(number) is not int:
                raise TypeError(f"{name} must be an int, got {number!r}")
            if number < 0:
                raise ValueError(f"{name} must be at least 0, got {number}")
        if self.differing_rows is not None and self.differing_rows >= MOST_PEOPLE:
            raise ValueError(f"differing_rows must be less than 2^61, got {amount_text(self.differing_rows)}")
        for name in ("gauge", "identity"):
            if type(getattr(self, name)) is not bool:
                raise TypeError(f"{name} must be a bool, got {getattr(self, name)!r}")
        if self.warnings is None:
            object.__setattr__(self, "warnings", ())  # until the fields that they go with are checked
            derived = True
        else:
            derived = False
        if isinstance(self.warnings, str) or not all(isinstance(text, str) for text in self.warnings):
            raise TypeError(f"warnings must be texts, got {self.warnings!r}")
        object.__setattr__(self, "warnings", tuple(self.warnings))
        if not isinstance(self.version, str):
            raise TypeError(f"version must be a text, got {self.version!r}")
        fault = contradiction(
            self.equivalence, self.differing_tuples, self.differing_rows, self.identity, self.gauge
        )
        if fault:
            raise ValueError(fault)
        if (self.method == "canonical") != isinstance(self.canonical, Canonical):
            raise ValueError(
                f"canonical must be a Canonical with method 'canonical' and only there, got "
                f"{type(self.canonical).__name__} with method {self.method!r}"
            )
        self._check_closeness()
        if derived:
            object.__setattr__(self, "warnings", self.warned)

    def _check_closeness(self) -> None:
        if self.method != "est":
            if self.r is not None or self.prior is not None:
                raise ValueError(f"r and prior belong to method 'est', got method {self.method!r}")
            return
        if self.r is None or self.prior is None:
            raise ValueError("method 'est' needs r and prior")
        object.__setattr__(self, "r", as_limit(exact(self.r, "r"), "r"))
        prior = tuple(as_limit(exact(number, "prior"), "prior") for number in self.prior)
        object.__setattr__(self, "prior", prior)
        least = 2 if self.attacker == "worlds" else 1
        if self.r <= least:
            raise ValueError(
                f"r must be above {least} for attacker {self.attacker!r}, got {limit_text(self.r)}"
            )
        if not prior or min(prior) <= 0 or sum(prior) != 1:
            raise ValueError(f"prior must be numbers above 0 that add up to 1, got {self.prior!r}")
        implied = self.r * max(prior) / min(prior)
        if self.amplification != implied:
            raise ValueError(
                f"amplification must be r F_max / F_min = {limit_text(implied)} with method 'est', "
                f"got {limit_text(self.amplification)}"
            )

    @property
    def limit(self) -> Fraction:
        """What Lambda of the counts must not exceed: half the amplification for attacker "worlds".

        In the paper's averaging convention an attacker gains up to twice Lambda.
        """
        return self.amplification / 2 if self.attacker == "worlds" else self.amplification

    @property
    def r_limit(self) -> Fraction | None:
        """What (X_c / X_d) / (F_c / F_d) must not exceed: half of r for attacker "worlds"."""
        return self.r / 2 if self.r is not None and self.attacker == "worlds" else self.r

    @property
    def equal(self) -> bool | None:
        """Whether every tuple keeps its order (or label); None where it is not known."""
        return None if self.differing_tuples is None else self.differing_tuples == 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a recipient has to know about the numbers; written into the file."""
        if self.canonical is not None:
            found = self.canonical
            return canonical_notes(found.listed is not None, self.equal, found.bits)
        return release_notes(self.identity, self.gauge)

    @property
    def warned(self) -> tuple[str, ...]:
        """The warnings that go with the other fields."""
        found = self.canonical
        if found is None:
            return tuple(release_warnings(self.identity, self.differing_tuples, self.preserve))
        listed = None if found.listed is None else (found.listed.tuples, found.listed.differing)
        return tuple(
            canonical_warnings(
                found.undeclared, listed, self.differing_tuples, self.preserve, found.reproducible
            )
        )

    def __repr__(self) -> str:
        return fields_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as they are."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**found, "canonical": None if self.canonical is None else self.canonical.to_dict()}


@dataclass(frozen=True, repr=False)
class Release:
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
        limit = f"amplification <= {limit_text(made.amplification)}"
        if made.r is not None:
            limit = f"r <= {limit_text(made.r)} of the prior"
        return (
            f"Release({size} rows, {count} {'class' if count == 1 else 'classes'}, "
            f"{n} {'attribute' if n == 1 else 'attributes'}; {limit}, {how})"
        )

    def to_dict(self) -> dict[str, Any]:
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
        table: Any,
        *,
        codes: bool = False,
        unseen: Literal["error", "zero"] = "error",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Array:
        """The class of every row, by exact comparisons of the published counts; as `Viewset.predict`."""
        return self.views.predict(table, codes=codes, unseen=unseen, threads=threads, progress=progress)

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
        >>> from nbcfast.release import load
        >>> views = Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
        >>> release = Release(views, Certificate(amplification=4, tuples=2))
        >>> with TemporaryDirectory() as folder:
        ...     release.save(folder)
        ...     load(folder) == release
        True
        """
        save(self, path, overwrite=overwrite, dataset=dataset, progress=progress)

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

    def codes(self, table: Any, *, unseen: Literal["error"] = "error") -> Longs:
        """The rows as `to_sklearn` and `to_probabilities` know them: positions in the published domains.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
            record batches, or the path of a file (.csv, .tsv, .parquet ..). Other columns do not matter.
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
        return codes(self, table)

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
        that is predicted. Pickles and joblib hold the published counts and nothing else.

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
