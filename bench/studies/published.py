"""What every method publishes of one data set, for the study of privacy.

A method is a function from a set to its series: what is published with which parameter, once for each throw
of its coins. Coins are drawn from keys that the study names, so that every figure can be made again; whoever
publishes never does that.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from gmpy2 import mpz
from shared.boxes import of_boxes
from shared.public_sets import PublicSet

import nbcfast
from nbcfast import Table, Viewset, canonical, closeness, dp, response, skyline
from nbcfast._coins import Coins
from nbcfast._rounding.apportion import apportioned
from nbcfast.published.release import Release

AMPLIFICATION = 4
TIMES = Fraction(3, 2)  # r of EST, as a multiple of the least that it comes to
EPSILONS = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")
KS = (2, 5, 20, 100)
FINER = 1 << 40  # rows of counts made from shares: what is rounded is below every digit that is shown
LARGE = 10**10  # tuples, beyond which the weights of a canonical release take some ten seconds

EXACT, SMOOTHED = "exact", "exact, smoothed"
CANONICAL, CANONICAL_SMOOTHED = "canonical", "canonical, smoothed"
ROOTS, EST = "SafetyTransform", "EST"
NOISY, GAUSSIAN, NOISY_CANONICAL = "DP", "DP, delta 1e-6", "DP then canonical"
DELTA = "1e-6"
RANDOMISED, BOXES = "randomised response", "k-anonymous"


@dataclass(frozen=True)
class Published:
    """What one run of a method publishes."""

    series: str
    parameter: str
    release: Viewset | Release

    @property
    def views(self) -> Viewset:
        return self.release if isinstance(self.release, Viewset) else self.release.views


def key(*names: object) -> bytes:
    """A key of coins that is the same on every machine, and another one for other names."""
    return hashlib.sha256("/".join(map(str, names)).encode()).digest()


def prior_of(views: Viewset) -> dict[object, Fraction]:
    counts = views.class_counts.tolist()
    return {label: Fraction(count, sum(counts)) for label, count in zip(views.classes, counts, strict=True)}


# Of one classifier, without coins --------------------------------------------------------------------------


def equivalent(data: PublicSet) -> Iterator[Published]:
    """The counts themselves, and the three methods that keep all answers."""
    views = data.views
    limit = str(AMPLIFICATION)
    yield Published(EXACT, "", views)
    yield Published(SMOOTHED, "alpha 1", views.smoothed(1))
    yield Published(CANONICAL, f"lambda {limit}", canonical.release(views, AMPLIFICATION))
    smoothed = canonical.release(views, AMPLIFICATION, alpha=1)
    yield Published(CANONICAL_SMOOTHED, f"lambda {limit}, alpha 1", smoothed)
    yield Published(ROOTS, f"lambda {limit}", safety_transform(views))
    yield Published(EST, f"r {float(est_r(views)):.3g}", est(views))


def safety_transform(views: Viewset) -> Release:
    return nbcfast.safety_transform(views, AMPLIFICATION)


def est_r(views: Viewset) -> Fraction:
    least = closeness.best(views, prior_of(views)).r
    assert isinstance(least, Fraction)
    return (least * TIMES).limit_denominator(1000)


def est(views: Viewset) -> Release:
    return closeness.est(views, prior_of(views), est_r(views))


def anonymous(data: PublicSet) -> Iterator[Published]:
    """Naive Bayes of the k-anonymous tables of Mondrian."""
    coded = by_places(data)
    views = nbcfast.count(coded, data.class_name, data.views.attributes, classes=data.views.classes)
    for k in KS:
        if 2 * k > coded.n_rows:
            continue
        partition = skyline.anonymize(coded, views.attributes, data.class_name, k=k)
        assert int(partition.groups.sizes.min()) >= k
        counts = of_boxes(coded, views, data.class_name, partition)
        yield Published(BOXES, f"k {k}", relabelled(counts, data.views))


def by_places(data: PublicSet) -> Table:
    """The rows to learn from with places in domains for values: bins and texts are generalised to ranges."""
    columns: dict[str, list[object]] = {}
    domains: dict[str, list[object]] = {}
    for name in data.views.attributes:
        places = data.train.column(name).domain.positions_in(data.views.domains[name])
        columns[name] = places[data.train.codes(name)].tolist()
        domains[name] = list(range(len(data.views.domain(name))))
    labels = data.train.domain(data.class_name)
    columns[data.class_name] = [labels[code] for code in data.train.codes(data.class_name).tolist()]
    domains[data.class_name] = list(labels)
    return Table(columns, domains=domains)


def relabelled(counts: Viewset, like: Viewset) -> Viewset:
    """These counts, of values in the same order, with the domains of those."""
    return Viewset.from_parts(counts.class_counts, dict(counts.counts), like.class_domain, like.domains)


# With coins ------------------------------------------------------------------------------------------------


def noisy(data: PublicSet, epsilon: str, run: int) -> Viewset:
    """Differentially private counts, by Laplace noise; add or remove a person."""
    return dp.counts(data.views, epsilon=epsilon, coins=Coins(key("dp", data.name, epsilon, run)))


def with_delta(data: PublicSet, epsilon: str, run: int) -> Viewset:
    """The same by Gaussian noise, which has a delta, or by Laplace noise where that varies less."""
    coins = Coins(key("dp", data.name, epsilon, DELTA, run))
    return dp.counts(data.views, epsilon=epsilon, delta=DELTA, coins=coins)


def noisy_canonical(counts: Viewset) -> Release:
    """The canonical release of a noisy classifier, which is as private as that is."""
    return canonical.release(counts, AMPLIFICATION)


def scheme_of(data: PublicSet, epsilon: str) -> response.KaryScheme:
    """k-ary answers about the n attributes and the class, each with epsilon / (n + 1)."""
    names = data.views.attributes
    domains = {name: data.views.domain(name) for name in names} | {data.class_name: data.views.classes}
    return response.KaryScheme.with_epsilon(Fraction(epsilon) / len(domains), domains)


def randomised(data: PublicSet, epsilon: str, run: int) -> Viewset:
    """Counts estimated from what each person tells for himself, all of which together is epsilon-LDP."""
    scheme = scheme_of(data, epsilon)
    seed = int.from_bytes(key("response", data.name, epsilon, run)[:8], "big")
    answers = response.disguise(data.train, scheme, np.random.default_rng(seed))
    return smoothed_counts(response.estimate(answers, scheme, data.class_name), data.views)


def smoothed_counts(found: response.Estimate, like: Viewset) -> Viewset:
    """The shares as counts, with 1 and half a standard deviation of the coins added to each.

    So are those of the noisy counts that they stand beside: without it the classifier takes noise for
    evidence, and its log-loss is several times that of a coin.
    """
    n, classes = found.n_rows, [found.classes.index(label) for label in like.classes]
    spread = found.coin_variance
    added = added_to(n, spread.prior.tolist())
    of_class = in_parts([n * found.prior[c] + added for c in classes], FINER)
    counts = {}
    for name in like.attributes:
        places = [found.domain(name).index(value) for value in like.domain(name)]
        joint, added = found.joint[name], added_to(n, spread.joint[name].ravel().tolist())
        columns = [
            in_parts([n * joint[t, c] + added for t in places], rows)
            for c, rows in zip(classes, of_class, strict=True)
        ]
        counts[name] = np.array(columns, np.int64).T.copy()
    return Viewset.from_parts(np.array(of_class, np.int64), counts, like.class_domain, like.domains)


def added_to(n_rows: int, variances: list[Fraction]) -> Fraction:
    """1 and half the standard deviation of a number of rows, of which the shares vary so."""
    mean = max(sum(variances, Fraction(0)) / len(variances), Fraction(0))
    return 1 + Fraction(math.floor(n_rows * math.sqrt(mean)), 2)


def in_parts(shares: list[Fraction], total: int) -> list[int]:
    """Integers of at least 1 in these proportions that add up to the total."""
    unit = math.lcm(*(share.denominator for share in shares))
    return apportioned([mpz(int(share * unit)) for share in shares], total, 1)


def runs_of_canonical(data: PublicSet, runs: int) -> int:
    """How many noisy classifiers have a canonical release made of them: all, where that is quick."""
    return runs if data.views.n_tuples <= LARGE else min(runs, 1)
