"""Random tables crossed with every way to read them: adversaries. See `crossing`."""

from collections import Counter
from fractions import Fraction

import crossing_oracles as oracle
import numpy as np
import pytest
from crossing import TRIED, classes_of, crossed, plain_counts, published_views, read, ways
from crossing_cases import Column, intervals

from nbcfast import (
    attack,
    count,
    safety_transform,
)

# adversaries


def posterior_crosses(case, rng, folder):
    _, asked = classes_of(case, rng)
    views = count(read(case, rng, folder), "y", classes=asked)
    of_class, counts = plain_counts(views)
    known, codes = {}, []
    for name in views.attributes:
        place = rng.choice([None, *range(len(views.domain(name)))])
        codes.append(place)
        if place is not None:
            known[name] = views.domain(name)[place]
    many = sum(of_class) > 60
    for convention in ["row"] if many else ["row", "worlds"]:
        expected = oracle.posterior(of_class, counts, codes, convention)
        if expected is None:
            with pytest.raises(ValueError, match="no "):
                attack.posterior(views, known, convention)
            continue
        found = attack.posterior(views, known, convention, exact=True)
        assert dict(found) == dict(zip(views.classes, expected, strict=True))
        rough = attack.posterior(views, known, convention, exact=False)
        for label, p in zip(views.classes, expected, strict=True):
            assert abs(Fraction(rough[label]) - p) <= Fraction(rough.error) * p
        TRIED["posterior"] += 1
        for _, table in ways(case, rng, folder, 1):
            again = attack.posterior(count(table, "y", classes=asked), known, convention, exact=True)
            assert again == found
            TRIED["posterior"] += 1
    if oracle.amplification(of_class, counts) is None:
        return
    worst = attack.worst(views)
    expected = oracle.amplification(of_class, counts)
    assert worst.ratio in (expected, None)
    TRIED["posterior"] += 1


def test_posteriors(tmp_path):
    crossed(posterior_crosses, 30, 2_500, tmp_path, n_attributes=(1, 2), n_rows=(2, 14))


def membership_crosses(case, rng, folder):
    weights = case.weights
    if weights is not None and sum(weights) > 10**6:
        case.weights = weights = [1 + weight % 5 for weight in weights]
    rows = list(range(case.n_rows))
    rng.shuffle(rows)
    own, held = case.taken(rows[: len(rows) // 2]), case.taken(rows[len(rows) // 2 :])
    if Counter(own.rows()) == Counter(held.rows()) or sum(held.of_rows()) < 4:
        return
    views = count(read(own, rng, folder), "y")
    found = attack.membership(views, read(own, rng, folder), read(held, rng, folder), "y")
    names = [*views.attributes, "y"]
    values = {name: sorted_values(own, held, name) for name in names}
    others, model = halves(held, names, values)
    members = tallied(own, names)
    low, high = scored(members, others, model, views, values)
    assert low - 1e-9 <= found.auc <= high + 1e-9
    assert found.members == sum(members.values())
    assert found.others == sum(others.values())
    for _, table in ways(own, rng, folder, 1):
        again = attack.membership(views, table, read(held.permuted(rng), rng, folder), "y")
        assert again == found
        TRIED["membership"] += 1


def sorted_values(own, held, name):
    """The values that occur in either, in the order of a domain."""
    both = Column(own.columns[name].kind, own.columns[name].raw + held.columns[name].raw, None, None)
    if own.columns[name].edges is None:
        return both.domain()
    present = {*own.values(name), *held.values(name)}
    return [one for one in [*intervals(own.columns[name].edges), None] if one in present]


def tallied(case, names):
    found = Counter()
    for row, weight in case.rows(names):
        found[row] += weight
    return found


def halves(held, names, values):
    """Two halves as the docstring says: of the rows in sorted order, from a fixed seed."""
    rows = tallied(held, names)
    kinds = sorted(rows, key=lambda row: [values[name].index(v) for name, v in zip(names, row, strict=True)])
    weights = np.array([rows[kind] for kind in kinds])
    generator = np.random.default_rng(20_090_824)
    first = generator.multivariate_hypergeometric(weights, int(weights.sum()) // 2, method="marginals")
    one = Counter({kind: int(n) for kind, n in zip(kinds, first, strict=True) if n})
    rest = Counter({kind: int(w - n) for kind, w, n in zip(kinds, weights, first, strict=True) if w > n})
    return rest, one


def scored(members, others, model, views, values):
    """The AUC of probability in the release over that in the model, between what near ties allow."""
    names = list(views.attributes)
    labels = sorted({row[-1] for row in model}, key=values["y"].index)
    people = Counter()
    pairs = Counter()
    for row, weight in model.items():
        people[row[-1]] += weight
        for i, value in enumerate(row[:-1]):
            pairs[i, value, row[-1]] += weight
    total = sum(people.values()) + Fraction(len(labels), 2)
    of_class, counts = plain_counts(views)

    def score(row):
        own = Fraction(0)
        if all(value in views.domain(name) for name, value in zip(names, row, strict=False)):
            codes = [views.domain(name).index(value) for name, value in zip(names, row, strict=False)]
            own = sum(oracle.scores(of_class, counts, codes))
        known = Fraction(0)
        for label in labels:
            p = (people[label] + Fraction(1, 2)) / total
            for i, (name, value) in enumerate(zip(names, row, strict=False)):
                p *= (pairs[i, value, label] + Fraction(1, 2)) / (
                    people[label] + Fraction(len(values[name]), 2)
                )
            known += p
        return own / known

    ours = [(score(row), weight) for row, weight in members.items()]
    return oracle.auc_within(
        [pair for pair in ours if pair[0]], [(score(row), w) for row, w in others.items()]
    )


def test_membership(tmp_path):
    crossed(membership_crosses, 40, 2_500, tmp_path, n_rows=(8, 30))


def definetti_crosses(case, rng, folder):
    if case.weights is not None and max(case.weights) > 10**6:
        case.weights = [1 + weight % 7 for weight in case.weights]
    names = [name for name in case.names if name != "y"]
    ids = [rng.randrange(3) * 7 - 1 for _ in range(case.n_rows)]
    table = read(case, rng, folder)
    found = attack.definetti(table, ids, "y", rounds=5)
    histograms = {}
    for group, (row, weight) in zip(ids, case.rows(["y"]), strict=True):
        histograms.setdefault(group, Counter())[row[0]] += weight
    people = sum(case.of_rows())
    most = sum(max(histogram.values()) for histogram in histograms.values())
    assert found.baseline == pytest.approx(most / people, rel=1e-12)
    guessed = [case.domain("y")[place] for place in found.predicted.tolist()]
    right = sum(w for g, (row, w) in zip(guessed, case.rows(["y"]), strict=True) if g == row[0])
    assert found.accuracy == pytest.approx(right / people, rel=1e-12)
    renamed = np.array([{-1: 40, 6: 2, 13: 900}[one] for one in ids])
    again = attack.definetti(read(case, rng, folder), renamed, "y", rounds=5)
    assert again.worst == pytest.approx(found.worst, rel=1e-9)
    assert np.allclose(again.confidence, found.confidence)
    TRIED["definetti"] += 1
    if names and case.weights is None:
        same = attack.definetti(table, None, "y", rounds=3)
        alike = {}
        for row, weight in case.rows([*names, "y"]):
            alike.setdefault(row[:-1], Counter())[row[-1]] += weight
        most = sum(max(histogram.values()) for histogram in alike.values())
        assert same.baseline == pytest.approx(most / people, rel=1e-12)
        TRIED["definetti"] += 1


def test_definetti(tmp_path):
    crossed(definetti_crosses, 20, 1_500, tmp_path)


def invert_crosses(case, rng, folder):
    made = published_views(case, rng, folder)
    if made is None:
        return
    table, views, asked = made
    found = attack.invert(views, truth=views)
    release = safety_transform(views, 4, gauge=False, rows=rng.choice([2000, 50_000]), allow_differences=True)
    for published, truth in ((views, views), (release, table), (release, views)):
        if truth is table and asked is not None:
            continue
        found = attack.invert(published, "y", truth=truth)
        right = positive = 0
        for name in views.attributes:
            for mine, theirs in zip(found.counts[name].tolist(), views.counts[name].tolist(), strict=True):
                right += sum(n > 0 and m == n for m, n in zip(mine, theirs, strict=True))
                positive += sum(n > 0 for n in theirs)
        assert (found.recovered, found.positive) == (right, positive)
        TRIED["invert"] += 1


def test_inversion(tmp_path):
    crossed(invert_crosses, 5, 300, tmp_path, n_attributes=(1, 2), n_rows=(4, 20), n_classes=(2, 3))
