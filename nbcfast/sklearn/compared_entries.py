"""The entries that `compare_releases` takes: what each answers with, and what it publishes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np

from nbcfast._core.dtypes import Array, Counts, Floats, Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import exact
from nbcfast._core.untyped import Arrow
from nbcfast._reading.source import AnyTable, is_path, table_from
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.published.placing import in_domains
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing import Publication, StratifiedPublication
from nbcfast.sklearn.given_away import PublishedCounts
from nbcfast.sklearn.made_in_fit import declarations_of
from nbcfast.table import Column, Table
from nbcfast.table.arrays import is_arrow, unmasked
from nbcfast.views import Viewset

NO_COUNTS = "a {} publishes no counts of people that could be measured"
OF_RELEASE = "it is a copy in floats of a release: give the release"
EXPECTED = "a Release, a StratifiedRelease, a Viewset, or a fitted classifier or Pipeline of scikit-learn"


class FittedClassifier(Protocol):
    """What scikit-learn calls a classifier that was fitted; most have ``predict_proba`` too."""

    classes_: Array

    def predict(self, X: object) -> Array: ...


class FittedPublisher(Protocol):
    """What a PublishableNBClassifier was told of its values."""

    domain: Declarations | None
    menu: Mapping[str, object] | str | os.PathLike[str] | None


class FittedCounts(Protocol):
    """What a fitted CategoricalNB holds."""

    alpha: float
    class_count_: Floats
    category_count_: Sequence[Floats]


class Transforming(Protocol):
    """What comes before the last step of a Pipeline."""

    def transform(self, X: object) -> object: ...


class RowsAndClasses(NamedTuple):
    """Rows as they were given, and the class of each.

    Attributes
    ----------
    X : object
        A 2-D array, or what a Table is made of.
    classes : Column
    y : ndarray or None
        The same as scikit-learn compares them; None where they are a column of X.
    """

    X: object
    classes: Column
    y: Array | None

    @classmethod
    def of(cls, X: object, y: object, where: str) -> RowsAndClasses:
        """Rows and their classes; y may be the name of a column of X."""
        if isinstance(y, str):
            if not _is_table(X):
                raise TypeError(
                    f"{where}: expected a table with the column {y!r} of the classes, got {type(X).__name__}"
                )
            table = table_from(cast(AnyTable, X), where)
            found = cls(table, table.column(y), None)
        else:
            labels = np.asarray(unmasked(y)) if hasattr(y, "__array__") else _objects(y, where)
            if labels.ndim != 1:
                raise ValueError(f"{where}: expected one class a row, got an array of shape {labels.shape}")
            found = cls(X, Table({"y": labels}).column("y"), labels)
        if not found.n_rows:
            raise ValueError(f"{where}: no rows")
        return found

    @property
    def n_rows(self) -> int:
        return len(self.classes.codes)

    @property
    def total(self) -> int:
        """Of rows, or their total weight."""
        return self.n_rows if self.weights is None else int(self.weights.sum())

    @property
    def weights(self) -> Longs | None:
        """How many people each row is; None where each is one."""
        return self.X.weights if isinstance(self.X, Table) else None

    def through(self, before: Sequence[Transforming]) -> RowsAndClasses:
        """The rows as these steps give them."""
        X = self.X
        for step in before:
            X = step.transform(X)
        return self._replace(X=X)

    def table(self, names: Sequence[str], class_name: str) -> Table:
        """A table of these attributes and the class; the columns of an array are in their order."""
        rows = _as_table(self.X, names)
        if rows.n_rows != self.n_rows:
            raise ValueError(f"X and y must have as many rows, got {rows.n_rows} and {self.n_rows}")
        columns = {name: rows.column(name) for name in names}
        return Table.from_columns({**columns, class_name: self.classes}, rows.weights, rows.n_rows)


def _objects(y: object, where: str) -> Array:
    if not isinstance(y, Sequence):
        raise TypeError(f"{where}: expected a 1-D array of classes, got {type(y).__name__}")
    return np.asarray(y) if len({type(label) for label in y}) == 1 else np.array([*y, None], object)[:-1]


def _is_table(X: object) -> bool:
    return isinstance(X, Table | Mapping) or is_path(X) or is_arrow(X)


def _as_table(X: object, names: Sequence[str]) -> Table:
    if _is_table(X):
        return table_from(cast(Table | Mapping[str, object] | Arrow, X), "X")
    array = np.asarray(unmasked(X)) if hasattr(X, "__array__") else np.array(X, object)
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, got an array of shape {array.shape}")
    if array.shape[1] != len(names):
        raise ValueError(
            f"X must have a column for each of the {len(names)} attributes ({', '.join(names)}), got "
            f"{array.shape[1]} columns"
        )
    return Table({name: array[:, place] for place, name in enumerate(names)})


@dataclass(frozen=True)
class ComparedEntry:
    """A classifier that is compared.

    Attributes
    ----------
    name : str
    kind : str
        The name of its type, for what is said of it.
    published : Release, StratifiedRelease, PublishedCounts or None
        What it publishes, as far as it is counts.
    why_not : str or None
        Why it publishes nothing that could be measured, where it does not.
    model : FittedClassifier or None
        What answers, on rows as they are given; None where the counts do.
    before : tuple of Transforming
        What rows go through before they are in the values of what is published.
    declared : Declared or None
        What the release was published with.
    """

    name: str
    kind: str
    published: Release | StratifiedRelease | PublishedCounts | None
    why_not: str | None = None
    model: FittedClassifier | None = None
    before: tuple[Transforming, ...] = ()
    declared: Declared | None = None

    @classmethod
    def of(cls, name: str, given: object, declarations: Declared | None) -> ComparedEntry:
        """What was given under a name."""
        kind = type(given).__name__
        if isinstance(given, Publication | StratifiedPublication):
            given = given.release
        if isinstance(given, Release | StratifiedRelease):
            return cls(name, kind, given, declared=declarations)
        if isinstance(given, Viewset):
            return cls(name, kind, PublishedCounts(given, raw=given), declared=declarations)
        if not hasattr(given, "predict") or isinstance(given, type):
            raise TypeError(f"entry {name!r}: expected {EXPECTED}, got {kind}")
        last, before = _last_step(given)
        if not hasattr(last, "classes_"):
            raise TypeError(f"entry {name!r}: expected {EXPECTED}, got a {kind} that was not fitted")
        published, why_not = _published_by(last)
        if declarations is None and isinstance(published, Release):
            asked = cast(FittedPublisher, last)
            declarations = declarations_of(asked.domain, asked.menu, published)
        model = cast(FittedClassifier, given)
        return cls(name, type(last).__name__, published, why_not, model, before, declarations)

    def placed(self, of: Release | PublishedCounts, rows: Table) -> Table:
        """Rows in the values of what is published."""
        return in_domains(rows, of.views.domains, self.declared)


def _last_step(given: object) -> tuple[object, tuple[Transforming, ...]]:
    """The classifier at the end of a Pipeline, or the best of a search, and the steps before it."""
    best = getattr(given, "best_estimator_", None)
    if best is not None:
        return _last_step(best)
    steps = getattr(given, "steps", None)
    if steps is None or not hasattr(given, "named_steps"):
        return given, ()
    own = tuple(step for _, step in steps[:-1] if step not in (None, "passthrough"))
    last, more = _last_step(steps[-1][1])
    return last, own + more


def _published_by(last: object) -> tuple[Release | PublishedCounts | None, str | None]:
    """The counts that a fitted classifier publishes, or why it has none."""
    release = getattr(last, "release_", None)
    if isinstance(release, Release):
        return release, None
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(last).__mro__]
    if ("nbcfast", "PublishedCategoricalNB") in kinds:
        return None, OF_RELEASE
    if ("sklearn", "CategoricalNB") not in kinds:
        return None, NO_COUNTS.format(type(last).__name__)
    return _fitted_counts(last)


def _fitted_counts(model: object) -> tuple[PublishedCounts | None, str | None]:
    """The counts that stand in a CategoricalNB, and its classifier, which has more added to them."""
    from nbcfast.sklearn.fitted_counts import to_views

    try:
        views = to_views(model)
    except (Infeasible, ValueError) as error:
        return None, str(error)
    counts = cast(FittedCounts, model)
    raw = Viewset.from_parts(
        _as_integers(counts.class_count_)[::-1],
        {
            name: _as_integers(array).T[:, ::-1]
            for name, array in zip(views.attributes, counts.category_count_, strict=True)
        },
        views.class_domain,
        views.domains,
    )
    alpha = exact(float(counts.alpha), "alpha")
    return PublishedCounts(views, raw=raw, alpha=alpha or None), None


def _as_integers(counts: Floats) -> Counts:
    """Whole numbers, which `to_views` has checked."""
    return np.ascontiguousarray(counts).astype(np.int64)


def by_entry(
    domains: Mapping[str, Declarations | Declared] | None, entries: Mapping[str, object]
) -> dict[str, Declared]:
    """What each release was published with, by the name of the entry."""
    if domains is None:
        return {}
    if not isinstance(domains, Mapping):
        raise TypeError(f"domains must be a mapping of names of entries, got {type(domains).__name__}")
    for name in domains:
        if name not in entries:
            known = ", ".join(map(repr, entries))
            raise ValueError(f"domains: expected names of entries, {known}; got {name!r}")
    return {name: declared(given) for name, given in domains.items()}


def quality_of(model: FittedClassifier, rows: RowsAndClasses) -> tuple[float, float | None]:
    """Accuracy and log-loss of what scikit-learn has fitted; the second is None without probabilities."""
    if rows.y is None:
        raise ValueError("y must be an array of the classes for a classifier of scikit-learn, got a column")
    answers = np.asarray(model.predict(rows.X))
    if len(answers) != rows.n_rows:
        raise ValueError(f"X and y must have as many rows, got {len(answers)} and {rows.n_rows}")
    accuracy = float(np.average(answers == rows.y, weights=rows.weights))
    posteriors = getattr(model, "predict_proba", None)
    if posteriors is None:
        return accuracy, None
    probabilities = np.asarray(posteriors(rows.X), np.float64)
    return accuracy, _log_loss(probabilities, model.classes_, rows.y, rows.weights)


def _log_loss(probabilities: Floats, classes: Array, y: Array, weights: Longs | None) -> float:
    """Mean of -ln of the probability of the true class, infinite where that is 0, or the class unknown."""
    places = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    of_truth = np.array([places.get(label, -1) for label in y.tolist()])
    rows = np.arange(len(y))
    told = np.where(of_truth >= 0, probabilities[rows, of_truth], 0.0)
    with np.errstate(divide="ignore"):
        return float(np.average(-np.log(told), weights=weights))
