"""The most that anybody can learn about one class against another.

That this is Lambda in `row`, and less than twice Lambda in `worlds`: docs/mathematics/safety.md, section j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Floats, Int32s
from nbcfast._core.numbers import log_of, ratio_text
from nbcfast._core.untyped import Document
from nbcfast._core.validation import positive
from nbcfast.attack import exactly
from nbcfast.attack.branching import Search, Tuples, batches
from nbcfast.attack.posteriors import Convention, Posterior, posterior
from nbcfast.attack.queries import convention_of, known_text, viewset
from nbcfast.safety.amplification import amplification_of
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset

CLOSE = 1e-9  # what floats leave this close together is compared exactly
MOST_EXACT = 64
LARGEST_LOG = 709.0  # of a float


@dataclass(frozen=True, repr=False)
class Worst:
    """What `worst` found.

    Attributes
    ----------
    known : dict of name -> value
        What the adversary has to know.
    classes : tuple
        The labels c and d whose odds p_c / p_d are the largest there.
    ratio : Fraction, float or None
        p_c / p_d; math.inf where d is impossible, None where it is too long to write out.
    log : float
        Its natural logarithm.
    log_bound : float
        No other values reach a ratio of a higher logarithm. Equal to `log` where `certified`.
    certified : bool
        Whether nothing is worse than this: exactly where `ratio` is a Fraction, else up to the rounding of
        logarithms, 10^-9 of it or, for counts of very many digits, little more.
    posterior : Posterior
        What the adversary believes with these values.
    convention : {"row", "worlds"}
    evaluated : int
        How many posteriors were computed.
    """

    known: dict[str, Value]
    classes: tuple[Value, Value]
    ratio: Fraction | float | None
    log: float
    log_bound: float
    certified: bool
    posterior: Posterior
    convention: str
    evaluated: int

    def to_dict(self) -> Document:
        """Plain values; an exact ratio as "num/den", no number where it is infinite."""
        infinite, ratio = math.isinf(self.log), self.ratio
        return {
            "known": dict(self.known),
            "classes": list(self.classes),
            "ratio": str(ratio) if isinstance(ratio, Fraction) else None if infinite else ratio,
            "infinite": infinite,
            "log": None if infinite else self.log,
            "log_bound": None if math.isinf(self.log_bound) else self.log_bound,
            "certified": self.certified,
            "posterior": self.posterior.to_dict(),
            "convention": self.convention,
            "evaluated": self.evaluated,
        }

    @property
    def text(self) -> str:
        """The ratio for people."""
        if math.isinf(self.log):
            return "infinite"
        return ratio_text(self.ratio if isinstance(self.ratio, Fraction) else None, self.log)

    def __repr__(self) -> str:
        c, d = self.classes
        sure = "" if self.certified else f", nothing above {ratio_text(None, self.log_bound)}"
        return f"Worst({self.text}: {c!r} over {d!r} with {known_text(self.known)}; {self.convention}{sure})"


def worst(
    views: Viewset | Release,
    convention: Convention = "row",
    *,
    evaluations: int = 10_000,
    progress: Progress | None = None,
) -> Worst:
    """The known values and the pair of classes with the largest ratio of posteriors.

    Over all tuples and all subsets of attributes. In the row convention no subset is worse than the worst
    full tuple, and the ratio is Lambda, in linear time. In the worlds convention it is another number, less
    than twice and more than half of X_c / X_d; it is searched for: tuples are left out where an upper bound
    says that they cannot be worse, and the posterior of the others is computed.

    Parameters
    ----------
    views : Viewset or Release
        Realistic, with rows.
    convention : {"row", "worlds"}
        See `posterior`. "row" is what `safety.check` and `safety_transform` guard against by default.
    evaluations : int
        "worlds": how many posteriors to compute at most. Where that is too few, or the domain has too
        many tuples near the worst, `log_bound` still bounds them all, and `certified` is False.
    progress : callable, optional
        Called as progress(done, total), in attributes and then posteriors.

    Returns
    -------
    Worst

    Raises
    ------
    ValueError
        If the views have no rows, are not realistic, or no tuple has a positive score.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([3, 3], [[[1, 2], [2, 1]], [[1, 2], [2, 1]]])
    >>> worst(views)
    Worst(4: 0 over 1 with A1=1, A2=1; row)
    >>> worst(views, "worlds")
    Worst(5.75: 1 over 0 with A1=0, A2=0; worlds)
    """
    counted = viewset(views)
    convention_of(convention)
    evaluations = positive(evaluations, "evaluations")
    lambda_ = amplification_of(counted)
    if convention == "row" or lambda_.infinite or len(counted.classes) == 1:
        ratio: Fraction | float | None = math.inf if lambda_.infinite else lambda_.value
        believed = posterior(counted, lambda_.tuple, convention)
        return Worst(
            lambda_.tuple, lambda_.classes, ratio, lambda_.log, lambda_.log, True, believed, convention, 1
        )
    return _searched(counted, lambda_.log + math.log(2), evaluations, progress)


def _searched(views: Viewset, ceiling: float, evaluations: int, progress: Progress | None) -> Worst:
    search = Search(views, "worlds")

    def bound(nodes: Tuples) -> Floats:
        odds: Floats = search.log_odds(nodes).max(axis=(1, 2)) + search.slack
        return odds

    seen: dict[tuple[int, ...], float] = {}

    def evaluate(codes: Int32s) -> None:
        seen.update(zip(map(tuple, codes.tolist()), search.log_ratios(codes).tolist(), strict=True))

    evaluate(_starts(search))
    best = max(seen.values())
    nodes, bounds, missed = search.leaves(bound, best, progress)
    done = 0
    # Where rounding alone makes bounds this wide, ties are not worth their evaluation.
    near = best + (2 * search.slack if search.slack > CLOSE / 10 else 0.0)
    for part in batches(len(nodes)):
        if bounds[part.start] <= near or len(seen) >= evaluations:
            break
        evaluate(nodes.codes[part])
        gain = max(seen.values()) - best
        best, near, done = best + gain, near + gain, part.stop
        if progress is not None:
            progress(done, len(nodes))
    if done < len(nodes):
        missed = max(missed, float(bounds[done]))
    # The theorem has no rounding: nothing reaches twice Lambda (docs/mathematics/safety.md, section j).
    return _result(search, seen, best, min(missed, ceiling))


def _result(search: Search, seen: dict[tuple[int, ...], float], best: float, missed: float) -> Worst:
    """The worst of those seen: compared exactly where that is affordable; of equals, what takes least."""
    views = search.views
    close = sorted(
        (codes for codes, log in seen.items() if log >= best - CLOSE),
        key=lambda codes: (len(search.places(np.array(codes))), codes),
    )
    chosen = close[0]
    ratio: Fraction | None = None
    exact = all(
        exactly.affordable(search.class_counts, search.rows(np.array(codes))) for codes in close[:MOST_EXACT]
    )
    if exact and len(close) <= MOST_EXACT:
        for codes in close:
            shares = exactly.shares(search.class_counts, search.rows(np.array(codes)))
            assert shares is not None
            value = max(shares) / min(shares)
            if ratio is None or value > ratio:
                chosen, ratio = codes, value
    known = search.known(np.array(chosen))
    believed = posterior(views, known, "worlds")
    by_size = sorted(believed, key=lambda label: believed[label])
    high, low = believed[by_size[-1]], believed[by_size[0]]
    if isinstance(high, Fraction) and isinstance(low, Fraction):
        ratio = high / low
    if ratio is not None:
        log = log_of(ratio)
        shown: Fraction | float = ratio
    else:  # by logarithms, as a probability may be below the range of floats
        log = seen[chosen]
        shown = math.exp(log) if log < LARGEST_LOG else math.inf
    # Floats behind `missed` and `best` are within CLOSE of the true values.
    certified = missed <= best + max(CLOSE / 2, 3 * search.slack)
    return Worst(
        known=known,
        classes=(by_size[-1], by_size[0]),
        ratio=shown,
        log=log,
        log_bound=log if certified else max(missed, log),
        certified=certified,
        posterior=believed,
        convention="worlds",
        evaluated=len(seen),
    )


def _starts(search: Search) -> Int32s:
    """For the most promising pairs of classes the tuple of largest X_c / X_d."""
    n_classes = len(search.class_counts)
    total = search.log_counts[:, np.newaxis] - search.log_counts + search.gains[0]
    np.fill_diagonal(total, -np.inf)
    pairs = np.argsort(-total, axis=None, kind="stable")[:32]
    codes = np.empty((len(pairs), len(search.tables)), np.int32)
    for j, pair in enumerate(pairs.tolist()):
        c, d = divmod(pair, n_classes)
        c, d = (c, d) if c != d else (0, 1)
        for k, table in enumerate(search.tables):
            with np.errstate(invalid="ignore"):
                codes[j, k] = int(np.argmax(np.nan_to_num(table[:-1, c] - table[:-1, d], nan=-np.inf)))
    return np.unique(codes, axis=0)
