"""`compare_releases`: classifiers side by side, private and published, ours and those of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nbcfast.domains import Declarations, Declared
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.safety.amplification import Amplification, amplification
from nbcfast.sklearn.compared_entries import ComparedEntry, RowsAndClasses, by_entry, quality_of
from nbcfast.sklearn.comparison import ComparedRelease, ReleaseComparison
from nbcfast.sklearn.given_away import GivenAway, PrivateMeter, PublishedCounts, of_all
from nbcfast.table import Table
from nbcfast.verification.compared import stratified
from nbcfast.views.quality import evaluate

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Publishing: TypeAlias = Release | StratifiedRelease | PublishedCounts

NO_PROBABILITIES = "a {} gives no probabilities"
OF_PEOPLE = ("amplification", "bits", "found", "flip")  # what takes counts


def compare_releases(
    entries: Mapping[str, object],
    X: object,
    y: object,
    *,
    private: tuple[object, object] | None = None,
    domains: Mapping[str, Declarations | Declared] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ReleaseComparison:
    """Classifiers side by side: what each is worth, and what it gives away of the people it was made of.

    Accuracy and log-loss are those on the rows of X and y. Lambda and bits a weight are of what is published.
    What comes back and what shows is measured by the measures of `nbcfast.publish` on the rows that an entry
    was made of: those of X and y where it decides as their own counts do, for every possible case, and else
    nothing. Where X and y are test rows, give those that the entries were made of as `private`. What cannot
    be measured of an entry is None, "not measured", with the reason.

    Parameters
    ----------
    entries : mapping of name -> Release, StratifiedRelease, Publication, Viewset, classifier or Pipeline
        What `nbcfast.publish`, `canonical.release` and their like give; counts; anything that scikit-learn
        has fitted: of a `PublishableNBClassifier` its release is measured, of a `CategoricalNB` its counts,
        of a `Pipeline` or a search the last step on what the steps before it give, and of any other
        classifier accuracy and log-loss alone.
    X : 2-D array, DataFrame, Table, or what a Table is made of
        Rows, as every entry takes them. Columns of an array are the attributes, in their order.
    y : 1-D array_like, or str
        The class of each row; or the name of its column in X, where no entry is one of scikit-learn.
    private : (X, y), optional
        The rows that the entries were made of. Where no file can show that they are these, as of noisy
        counts, it is taken from this argument.
    domains : mapping of name of an entry -> declarations, optional
        What a release was published with, as for `Release.predict`: of sets, and of bins with names, nothing
        else says which raw values are in them.
    threads, progress
        As for `canonical.leak`; progress counts entries.

    Returns
    -------
    ReleaseComparison
        A row an entry, in the order given; with ``to_pandas()`` and ``to_dict()``. It has private numbers.

    Raises
    ------
    TypeError
        If an entry is something else.
    ValueError
        If there are no entries or no rows, or X has not the columns and values that an entry knows; the
        entry is named.

    Examples
    --------
    >>> import nbcfast
    >>> people = {"job": ["cook"] * 5 + ["clerk"] * 9, "sex": ["f", "m"] * 7}
    >>> ill = ["yes", "no", "yes", "no", "yes"] + ["no"] * 6 + ["yes"] * 3
    >>> counts = nbcfast.count({**people, "ill": ill}, "ill")
    >>> release = nbcfast.canonical.release(counts, 4)
    >>> found = compare_releases({"counts": counts, "release": release}, people, ill)
    >>> [(entry.name, entry.found, entry.shows_class) for entry in found.entries]
    [('counts', 4, 14), ('release', 2, 12)]
    """
    if not isinstance(entries, Mapping):
        raise TypeError(f"entries must be a mapping of names to classifiers, got {type(entries).__name__}")
    if not entries:
        raise ValueError("entries: expected at least one classifier, got none")
    told = by_entry(domains, entries)
    tested = RowsAndClasses.of(X, y, "X")
    own = tested if private is None else _private_rows(private)
    meter = PrivateMeter(asserted=private is not None, threads=threads)
    found = []
    for name, given in entries.items():
        if not isinstance(name, str):
            raise TypeError(f"entries: expected texts as names, got {name!r}")
        entry = ComparedEntry.of(name, given, told.get(name))
        try:
            found.append(_compared(entry, tested, own, meter))
        except ValueError as error:
            raise ValueError(f"entry {name!r}: {error}") from error
        if progress is not None:
            progress(len(found), len(entries))
    return ReleaseComparison(tested.total, own.total, private is not None, tuple(found))


def _private_rows(private: object) -> RowsAndClasses:
    if not isinstance(private, tuple | list) or len(private) != 2:
        raise TypeError(f"private must be a pair (X, y), got {type(private).__name__}")
    return RowsAndClasses.of(private[0], private[1], "private")


class _Part(NamedTuple):
    """Rows in the values of the counts that decide them: all rows of a release, or those of a stratum."""

    published: PublishedCounts
    rows: Table


def _compared(
    entry: ComparedEntry, tested: RowsAndClasses, own: RowsAndClasses, meter: PrivateMeter
) -> ComparedRelease:
    accuracy, log_loss, why = 0.0, None, dict[str, str]()
    if entry.model is not None:
        accuracy, log_loss = quality_of(entry.model, tested)
        if log_loss is None:
            why["log_loss"] = NO_PROBABILITIES.format(entry.kind)
    if entry.published is None:
        reasons = dict.fromkeys(OF_PEOPLE, str(entry.why_not))
        return ComparedRelease(entry.name, accuracy, log_loss, why=MappingProxyType({**why, **reasons}))
    class_name = _class_name(entry.published)
    if entry.model is None:
        accuracy, log_loss = _quality(_parts(entry, entry.published, tested, class_name), class_name)
    odds, why_no_odds = _odds(entry.published)
    if why_no_odds is not None:
        why["amplification"] = why_no_odds
    given = _given_away(entry, entry.published, own, class_name, meter)
    return ComparedRelease(
        entry.name,
        accuracy,
        log_loss,
        odds,
        bits=given.bits,
        found=given.found,
        cells=given.cells,
        flip=given.flip,
        flip_is=given.flip_is,
        shows_class=given.shows_class,
        looked_at=given.looked_at,
        flip_shows_at_most=given.flip_shows_at_most,
        why=MappingProxyType({**why, **given.why}),
    )


def _given_away(
    entry: ComparedEntry, published: Publishing, own: RowsAndClasses, class_name: str, meter: PrivateMeter
) -> GivenAway:
    try:
        parts = list(_parts(entry, published, own, class_name))
    except ValueError as error:  # some value has no place, so that nobody with it was counted
        return of_all([meter.not_of(counts, error) for counts in _all_counts(published)])
    return of_all([meter.of(part.published, part.rows, class_name) for part in parts])


def _odds(published: Publishing) -> tuple[Amplification | None, str | None]:
    """The largest Lambda of all counts, or why they have none."""
    try:
        found = [amplification(counts.views) for counts in _all_counts(published)]
    except ValueError as error:
        return None, str(error)
    return max(found, key=lambda one: (one.infinite, one.log)), None


def _class_name(published: Publishing) -> str:
    """What the class is called, which is no attribute."""
    if isinstance(published, StratifiedRelease):
        names = {published.by, *published.first.views.attributes}
    else:
        names = {*published.views.attributes}
    name = "class"
    while name in names:
        name = f"{name}_"
    return name


def _parts(
    entry: ComparedEntry, published: Publishing, given: RowsAndClasses, class_name: str
) -> Iterator[_Part]:
    given = given.through(entry.before)
    if isinstance(published, StratifiedRelease):
        names = [published.by, *published.first.views.attributes]
        strata = stratified(published, given.table(names, class_name))
        for value, release in published.strata.items():
            yield _Part(_counts_of(release), entry.placed(release, strata[value]))
        return
    rows = given.table(list(published.views.attributes), class_name)
    yield _Part(_counts_of(published), entry.placed(published, rows))


def _all_counts(published: Publishing) -> list[PublishedCounts]:
    """The counts of a release, or of each stratum."""
    if isinstance(published, StratifiedRelease):
        return [_counts_of(release) for release in published.strata.values()]
    return [_counts_of(published)]


def _counts_of(published: Release | PublishedCounts) -> PublishedCounts:
    if isinstance(published, PublishedCounts):
        return published
    return PublishedCounts(published.views, published.certificate, alpha=published.certificate.smoothing)


def _quality(parts: Iterable[_Part], class_name: str) -> tuple[float, float]:
    """Accuracy and log-loss on all rows."""
    found = [evaluate(part.published.views, part.rows, class_name) for part in parts if part.rows.n_rows]
    rows = sum(one.rows for one in found)
    loss = sum(one.log_loss * (one.rows / rows) for one in found)
    return sum(one.correct for one in found) / rows, loss
