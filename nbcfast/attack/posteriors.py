"""What an adversary who knows some values of a row believes about its class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import gmpy2
import numpy as np

from nbcfast import _worlds
from nbcfast._core.numbers import number_text
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast.attack import exactly, moments
from nbcfast.attack.queries import convention_of, expected, known_text, places_of, rows_at, viewset
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset

MOST_FACTOR_BITS = 1 << 17  # of all factors of the scores, to make fractions of them
MOST_COST = 2e8  # multiplications of a posterior by the kernel; beyond, moments are faster

Convention = Literal["worlds", "row"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(HasReadOnlyMappings, Mapping[Value, "Fraction | float"]):
    """A mapping of class -> probability; what `posterior` returns.

    Attributes
    ----------
    probabilities : mapping
        Of each class, in the order of `views.classes`: Fractions where `exact`, else floats.
    known : dict of name -> value
        What the adversary knows.
    convention : {"worlds", "row"}
    error : float
        A bound of the relative error of every probability; 0.0 where exact, 1.0 where one is below the range
        of floats.
    """

    probabilities: Mapping[Value, Fraction | float]
    known: dict[str, Value]
    convention: str
    error: float

    @property
    def exact(self) -> bool:
        return self.error == 0.0

    def __getitem__(self, label: Value) -> Fraction | float:
        return self.probabilities[label]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.probabilities)

    def __len__(self) -> int:
        return len(self.probabilities)

    def to_dict(self) -> Document:
        """Plain values; exact probabilities as "num/den"."""
        return {
            "probabilities": [
                {"class": label, "probability": str(p) if isinstance(p, Fraction) else p}
                for label, p in self.probabilities.items()
            ],
            "known": dict(self.known),
            "convention": self.convention,
            "error": self.error,
        }

    def __repr__(self) -> str:
        shown = [f"{label!r}: {probability_text(p)}" for label, p in list(self.probabilities.items())[:6]]
        if len(self) > len(shown):
            shown.append(f".. {len(self)} in all")
        return f"Posterior({', '.join(shown)}; {known_text(self.known)}; {self.convention})"


def probability_text(p: Fraction | float) -> str:
    """A probability for people: exact where it is short."""
    if isinstance(p, Fraction) and p.denominator.bit_length() <= 30:
        return number_text(p.numerator) if p.denominator == 1 else f"{p.numerator}/{p.denominator}"
    return f"{float(p):.6g}"


def posterior(
    views: Viewset | Release,
    known: Mapping[str, Value],
    convention: Convention = "worlds",
    *,
    exact: bool | None = None,
) -> Posterior:
    """What an adversary believes about the class of somebody whose values he knows.

    He takes the views for what they are: facts about a table that he does not see. All tables with these
    counts are possible; in each class the columns are arranged independently.

    Parameters
    ----------
    views : Viewset or Release
        Realistic, with rows.
    known : mapping of attribute -> value
        Of some of the attributes, of all or of none.
    convention : {"worlds", "row"}
        "worlds": the paper's equation (4), the share of the class among the matching rows of a world,
        averaged over all worlds that have one: E[Y_c / sum Y | sum Y >= 1]. "row": the adversary looks for
        one particular row, so worlds with more matching rows count for more: X_c / sum X with
        X_c = P_c^(1-n) prod N, the posterior of naive Bayes itself.
    exact : bool, optional
        Fractions, whatever they take (True), or floats (False). By default fractions where they are quick
        and short, for "worlds" up to some hundred matching rows a class.

    Returns
    -------
    Posterior
        A mapping of class -> probability. Floats carry a proven bound of their relative error in `error`:
        for "row" it is 2^-52. For "worlds" the kernel counts its roundings: a few 10^-13 for two classes,
        below 2e-12 for up to ten, for any number of rows that it takes. What is too much for it comes from
        moments, within 10^-15.

    Raises
    ------
    ValueError
        If the views have no rows or are not realistic, if an attribute or value is unknown, or if no possible
        world has a row with these values.

    Notes
    -----
    The number of matching rows of a class, an intersection of independent uniform subsets, is a sum of
    independent indicators: each step multiplies the coefficients of its generating function in powers of
    t - 1 by C(N, j) / C(P, j), which by Szego's composition theorem leaves all roots real. Bernstein's
    inequality then bounds what the kernel cuts off, and Chernoff's what moments leave.

    Examples
    --------
    The two databases of the paper's Figure 1:

    >>> from nbcfast import Viewset
    >>> ten_worlds = Viewset([5, 2], [[[1, 1], [4, 1]], [[1, 1], [4, 1]]], classes=["R", "D"])
    >>> posterior(ten_worlds, {"A1": 1, "A2": 1})
    Posterior('R': 22/25, 'D': 3/25; A1=1, A2=1; worlds)
    >>> six_worlds = Viewset([3, 2], [[[1, 1], [2, 1]], [[1, 1], [2, 1]]], classes=["R", "D"])
    >>> posterior(six_worlds, {"A1": 1, "A2": 1})["R"]
    Fraction(7, 9)
    >>> posterior(ten_worlds, {"A1": 1, "A2": 1}, "row")["R"]
    Fraction(32, 37)
    """
    counted = viewset(views)
    convention_of(convention)
    if exact is not None and not isinstance(exact, bool):
        raise TypeError(f"exact must be a bool or None, got {exact!r}")
    places = places_of(counted, known)
    values = {name: counted.domain(name)[place] for name, place in places.items()}
    computed = shares_at(counted, rows_at(counted, places), convention, exact)
    if computed is None:
        raise ValueError(f"no possible world has a row with {known_text(values)}")
    shares, error = computed
    return Posterior(
        MappingProxyType(dict(zip(counted.classes, shares, strict=True))), values, convention, error
    )


def shares_at(
    views: Viewset, rows: list[list[int]], convention: str, exact: bool | None
) -> tuple[list[Fraction] | list[float], float] | None:
    """The probabilities of the classes and a bound of their error; None where no world has a matching row."""
    class_counts = views.class_counts.tolist()
    if convention == "row":
        return _row_shares(class_counts, rows, exact)
    if exact or (exact is None and exactly.affordable(class_counts, rows)):
        shares = exactly.shares(class_counts, rows)
        return None if shares is None else (shares, 0.0)
    by_kernel = _by_kernel(class_counts, rows)
    return moments.shares(class_counts, rows) if by_kernel is None else by_kernel


def _row_shares(
    class_counts: list[int], rows: list[list[int]], exact: bool | None
) -> tuple[list[Fraction] | list[float], float] | None:
    size = sum(number.bit_length() for row in [class_counts, *rows] for number in row)
    size += sum(number.bit_length() for number in class_counts) * max(len(rows) - 1, 0)
    if exact or (exact is None and size <= MOST_FACTOR_BITS):
        scores = expected(class_counts, rows)
        total = sum(scores)
        if not total:
            return None
        shares = [score / total for score in scores]
        if exact or max(share.denominator.bit_length() for share in shares) <= exactly.MOST_BITS:
            return shares, 0.0
        floats = [float(share) for share in shares]
        return floats, 1.0 if _lost(floats, shares) else 2.0**-52
    # Each product has less than 2 n roundings of 2^-128.
    with gmpy2.context(precision=128 + 2 * len(rows).bit_length()):
        means = [moments.mean(P, [row[c] for row in rows]) for c, P in enumerate(class_counts)]
        whole = sum(means)
        if not whole:
            return None
        floats = [float(mean / whole) for mean in means]
        return floats, 1.0 if _lost(floats, means) else 2.0**-52


def _lost(floats: list[float], true: Sequence[Fraction | gmpy2.mpfr]) -> bool:
    """Whether a probability is below the range of floats: all that is then known is that it is so small."""
    return any(number and share < moments.LEAST for share, number in zip(floats, true, strict=True))


def _by_kernel(class_counts: list[int], rows: list[list[int]]) -> tuple[list[float], float] | None:
    """What the kernel finds; None where it leaves the work to others."""
    if max(class_counts) > _worlds.MOST:
        return None
    n_classes = len(class_counts)
    shares, errors, states = np.empty((1, n_classes)), np.empty(1), np.empty(1, np.int8)
    counts = np.array(rows, np.int64).reshape(1, len(rows), n_classes)
    _worlds.posteriors(np.array(class_counts, np.int64), counts, MOST_COST, shares, errors, states)
    of_classes: list[float] = shares[0].tolist()
    if states[0] != _worlds.OK or min(of_classes) < moments.LEAST:
        return None
    return of_classes, float(errors[0])
