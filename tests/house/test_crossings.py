"""Where features cross: seeded random tables, read in every way, against exact oracles of plain Python.

Numbers equal the oracle's exactly, and neither the source, the order of rows, chunks, threads, merging nor
weights in place of repeated rows change a bit. `HYPOTHESIS_PROFILE=thorough` tries a hundred times as many,
and `CROSSINGS=1000` says how many tables a method gets, `CROSSINGS_FROM` from which seed on.
"""

import json
import math
import os
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import crossing_oracles as oracle
import numpy as np
import pytest
from crossing_cases import NULL, OF_ARROW, Case, Column, intervals, random_case

import nbcfast
from nbcfast import (
    Infeasible,
    Interval,
    Table,
    associations,
    attack,
    canonical,
    closeness,
    concat,
    count,
    response,
    safety,
    safety_transform,
    skyline,
    templates,
)

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FIRST = int(os.environ.get("CROSSINGS_FROM", "0"))
TRIED = Counter()


def seeds(fast, thorough):
    """The seeds of a method."""
    n = int(os.environ.get("CROSSINGS", thorough if THOROUGH else fast))
    return range(FIRST, FIRST + n)


def crossed(check, fast, thorough, folder, **options):
    """Run a check on so many random tables; what fails says its seed."""
    for seed in seeds(fast, thorough):
        case, rng = random_case(f"{check.__name__} {seed}", **options)
        try:
            check(case, rng, folder)
        except Exception as error:
            error.add_note(f"{check.__name__}, seed {seed}: {case}")
            raise


def read(case, rng, folder, source=None):
    """The table, read in one way."""
    return case.table(source or rng.choice(case.sources()), rng, folder)


def ways(case, rng, folder, n=2):
    """The same people otherwise: other sources, rows in another order, repeated in place of weights."""
    for source in rng.sample(case.sources(), n):
        yield source, case.table(source, rng, folder)
    yield "permuted", read(case.permuted(rng), rng, folder)
    expanded = case.expanded()
    if expanded is not None:
        yield "expanded", read(expanded.permuted(rng), rng, folder)
    parts = case.split(rng, rng.randint(2, 4)) if case.n_rows > 1 else [case]
    rng.shuffle(parts)
    yield "parts", concat([read(part, rng, folder) for part in parts])


def same_values(found, expected):
    """Whether values are equal and of one type each: 1 is neither True nor 1.0."""
    return list(map(repr, found)) == list(map(repr, expected))


def classes_of(case, rng):
    """The classes in some precedence, and what to ask `count` for to have it."""
    labels = case.domain("y")
    if rng.random() < 0.5:
        return labels, None
    chosen = with_null_last(labels[::-1] if rng.random() < 0.5 else rng.sample(labels, len(labels)))
    return chosen, chosen


def counted(case, classes, names=None):
    """The oracle's counts."""
    names = [name for name in case.names if name != "y"] if names is None else names
    domains = [case.domain(name) for name in names]
    of_class, counts = oracle.tally(case.rows([*names, "y"]), len(names), len(names), domains, classes)
    return of_class, counts, domains


def check_views(views, case, classes, names=None):
    names = [name for name in case.names if name != "y"] if names is None else names
    of_class, counts, domains = counted(case, classes, names)
    assert same_values(views.classes, with_null_last(classes))
    assert views.attributes == tuple(names)
    assert views.class_counts.tolist() == arranged([of_class], classes)[0]
    for name, table, domain in zip(names, counts, domains, strict=True):
        assert same_values(views.domain(name), domain)
        assert views.counts[name].tolist() == arranged(table, classes)
    assert views.n_rows == sum(case.of_rows())
    assert views.is_realistic()


def with_null_last(classes):
    return [c for c in classes if c is not None] + [c for c in classes if c is None]


def arranged(table, classes):
    """Columns in the order of a domain, in which a null is last."""
    order = [classes.index(c) for c in with_null_last(classes)]
    return [[row[c] for c in order] for row in table]


def plain_counts(views):
    """Counts as the oracles take them."""
    return views.class_counts.tolist(), [views.counts[name].tolist() for name in views.attributes]


# counts, predictions


def count_crosses(case, rng, folder):
    classes, asked = classes_of(case, rng)
    table = read(case, rng, folder)
    names = [name for name in case.names if name != "y"]
    if rng.random() < 0.3:
        names = rng.sample(names, rng.randint(0, len(names)))
    views = count(table, "y", names, classes=asked)
    check_views(views, case, classes, names)
    for _, other in ways(case, rng, folder):
        assert count(other, "y", names, classes=asked, threads=rng.choice([None, 1, 2, 3])) == views
        TRIED["count"] += 1
    # A stream knows no declared domains and no bins.
    if not any(column.edges is not None or column.declared for column in case.columns.values()):
        streamed = count(case.batches(rng), "y", names, classes=asked, weights=case._w, threads=2)
        assert streamed == views
        TRIED["count"] += 1
    # Parts, merged and taken away in any order.
    if case.n_rows > 2:
        parts = [count(read(part, rng, folder), "y", names) for part in case.split(rng, rng.randint(2, 3))]
        rng.shuffle(parts)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part if rng.random() < 0.5 else part + whole
        in_order = count(table, "y", names)
        assert whole == in_order
        for name in names:
            assert same_values(whole.domain(name), case.domain(name))
        rest = whole
        for part in parts[:-1]:
            rest = rest - part
        assert rest == parts[-1]
        assert rest.domain(names[0]) == parts[-1].domain(names[0]) if names else True
        TRIED["count"] += 2


def test_counts(tmp_path):
    crossed(count_crosses, 40, 5_000, tmp_path)


def predict_crosses(case, rng, folder):
    classes, asked = classes_of(case, rng)
    train, test = case, case.taken([rng.randrange(case.n_rows) for _ in range(rng.randint(1, 12))])
    names = [name for name in case.names if name != "y"]
    of_class, counts, domains = counted(train, classes)
    views = count(read(train, rng, folder), "y", classes=asked)
    unseen = "zero"
    if rng.random() < 0.5:  # values that the views have never seen
        train = case.taken(range(max(1, case.n_rows // 2)))
        labels = with_null_last(classes)
        views = count(read(train, rng, folder), "y", classes=labels)
        classes = labels
        of_class, counts, domains = counted(train, classes)
    alpha = rng.choice([0, 0, 1, "1/2", 0.1])
    exactly = Fraction(str(alpha))
    expected = []
    for row, _ in test.rows(names):
        codes = [d.index(v) if v in d else None for v, d in zip(row, domains, strict=True)]
        expected.append(oracle.scores(of_class, counts, codes, exactly))
    places = [
        classes.index(c) for c in with_null_last(classes)
    ]  # of the views' classes in those of the oracle
    expected = [[x[place] for place in places] for x in expected]
    orders = [oracle.ranked(x) for x in expected]
    for _, table in [("base", read(test, rng, folder)), *ways(test, rng, folder, 1)][:2]:
        threads = rng.choice([1, 2, 3])
        assert views.order(table, alpha=alpha, unseen=unseen, threads=threads).tolist() == orders
        labels = views.predict(table, alpha=alpha, unseen=unseen, threads=threads)
        assert same_values(labels.tolist(), [views.classes[order[0]] for order in orders])
        TRIED["predict"] += 1
    if not alpha:
        tied = [sum(one == max(x) for one in x) > 1 for x in expected]
        assert views.tied(read(test, rng, folder), unseen=unseen).tolist() == tied


def test_predictions(tmp_path):
    crossed(predict_crosses, 40, 5_000, tmp_path)


# judging


def safety_crosses(case, rng, folder):
    _, asked = classes_of(case, rng)
    views = count(read(case, rng, folder), "y", classes=asked)
    of_class, counts = plain_counts(views)
    expected = oracle.amplification(of_class, counts)
    if expected is None:
        with pytest.raises(ValueError, match="no tuple has a positive score"):
            safety.amplification(views)
        return
    found = safety.amplification(views)
    assert found.infinite == (expected == math.inf)
    codes = [list(views.domain(name)).index(found.tuple[name]) for name in views.attributes]
    if found.infinite:
        x = oracle.scores(of_class, counts, codes)
        c, d = map(views.classes.index, found.classes)
        assert x[c] > 0 == x[d]
    else:
        assert found.value in (expected, None)
        assert found.log == pytest.approx(_log(expected), rel=1e-12, abs=1e-12)
        if expected > 1:
            x = oracle.scores(of_class, counts, codes)
            c, d = map(views.classes.index, found.classes)
            assert x[c] / x[d] == expected
    near = (
        [Fraction(2)]
        if found.infinite
        else [expected, expected + Fraction(1, 10**9), expected * Fraction(2, 3)]
    )
    for limit in near:
        limit = max(limit, 1 + Fraction(1, 10**6))
        for attacker, allowed in (("row", limit), ("worlds", limit / 2))[: 2 if limit > 2 else 1]:
            report = safety.check(views, limit, attacker)
            assert report.safe == (expected <= allowed), (limit, attacker)
            TRIED["safety"] += 1
        assert safety.at_most(views, limit) == (expected <= limit)
    margin = oracle.smallest_margin(of_class, counts)
    found = nbcfast.margin(views, threads=rng.choice([1, 2]))
    assert (found.log is None or math.isinf(found.log)) == (margin is None)
    if margin is not None:
        assert found.log == pytest.approx(_log(margin), rel=1e-9)
    for _, table in ways(case, rng, folder, 1):
        other = count(table, "y", classes=asked)
        assert safety.amplification(other) == safety.amplification(views)
        assert nbcfast.margin(other) == nbcfast.margin(views)
        TRIED["safety"] += 1


def _log(x):
    """Ln of a Fraction of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    rest = x / Fraction(2) ** shift
    # log1p where the number is near 1.
    if shift in (-1, 0, 1):
        return math.log1p(float(x - 1))
    return math.log(float(rest)) + shift * math.log(2)


def test_safety(tmp_path):
    crossed(safety_crosses, 40, 3_000, tmp_path, n_attributes=(1, 2))


# what is published


def check_published(release, views, limit, preserve, folder, rng, table):
    """A release decides as the views do, keeps the limit, and comes back from its file."""
    of_class, counts = plain_counts(release.views)
    own_class, own = plain_counts(views)
    assert release.views.classes == views.classes
    assert release.views.is_realistic()
    for name in views.attributes:
        assert same_values(release.views.domain(name), views.domain(name))
    assert min(of_class) > 0
    assert oracle.amplification(of_class, counts) <= limit
    for codes in oracle.tuples(counts):
        after = oracle.ranked(oracle.scores(of_class, counts, codes))
        before = oracle.ranked(oracle.scores(own_class, own, codes))
        assert after[0] == before[0], codes
        assert preserve == "label" or after == before, codes
    assert (release.predict(table) == views.predict(table)).all()
    path = folder / f"release-{rng.randrange(10**9)}"
    release.save(path)
    found = nbcfast.verify(path)
    assert found.ok, found
    assert nbcfast.verify(path, against=views).ok
    loaded = nbcfast.load(path)
    assert loaded == release
    for name in views.attributes:
        assert same_values(loaded.views.domain(name), views.domain(name))
    assert (loaded.predict(table) == views.predict(table)).all()
    return (path / "certificate.json").read_bytes()


def published_views(case, rng, folder):
    """Views that can be published: every class has rows and some other value than null."""
    _, asked = classes_of(case, rng)
    table = read(case, rng, folder)
    views = count(table, "y", classes=asked)
    if not (views.class_counts > 0).all() or len(views.classes) < 2:
        return None
    return table, views, asked


def transform_crosses(case, rng, folder):
    made = published_views(case, rng, folder)
    if made is None:
        return
    table, views, asked = made
    limit = rng.choice([Fraction(3, 2), 4, "10", 2.5])
    preserve = rng.choice(["label", "order"])
    options = {"preserve": preserve, "gauge": rng.random() < 0.7, "class_name": "y"}
    release = safety_transform(views, limit, table=table, **options)
    written = check_published(release, views, Fraction(str(limit)), preserve, folder, rng, table)
    TRIED["safety_transform"] += 1
    for _, other in ways(case, rng, folder, 1):
        again = safety_transform(count(other, "y", classes=asked), limit, table=other, **options)
        assert again == release
        assert check_published(again, views, Fraction(str(limit)), preserve, folder, rng, other) == written
        TRIED["safety_transform"] += 1


def test_transform(tmp_path):
    crossed(transform_crosses, 6, 400, tmp_path, n_attributes=(1, 2), n_rows=(2, 12), n_classes=(2, 3))


def canonical_crosses(case, rng, folder):
    made = published_views(case, rng, folder)
    if made is None:
        return
    table, views, asked = made
    limit = rng.choice([Fraction(3, 2), 4, "10", 2.5])
    preserve = rng.choice(["label", "order"])
    options = {"preserve": preserve, "class_name": "y", "rows": rng.choice(["smallest", "proven", "proven"])}
    release = canonical.release(views, limit, **options, threads=rng.choice([None, 1, 2]))
    written = check_published(release, views, Fraction(str(limit)), preserve, folder, rng, table)
    TRIED["canonical"] += 1
    for _, other in ways(case, rng, folder, 1):
        again = count(other, "y", classes=asked)
        again = canonical.release(again, limit, **options)
        assert check_published(again, views, Fraction(str(limit)), preserve, folder, rng, other) == written
        TRIED["canonical"] += 1
    if rng.random() < 0.5:
        return
    # It is made of answers alone: all counts threefold answer alike.
    threefold = views + views + views
    assert canonical.release(threefold, limit, **options) == release
    # People who leave no trace: one row less, and no answer changes.
    if sum(case.of_rows()) <= 60:
        leak = canonical.leak(views, preserve=preserve, table=table, class_name="y", sample=10**6)
        assert leak.sampled == views.n_rows
        assert leak.unchanged == pytest.approx(traceless(views, case, preserve), abs=1e-12)
        sampled = [
            canonical.leak(views, preserve=preserve, table=other, class_name="y", sample=5).unchanged
            for other in (table, read(case.permuted(rng), rng, folder))
        ]
        assert sampled[0] == sampled[1]
        TRIED["canonical"] += 1


def traceless(views, case, preserve):
    """The share of people without whom every tuple is decided as with them."""
    of_class, counts = plain_counts(views)
    answers = [ranked_or_best(of_class, counts, codes, preserve) for codes in oracle.tuples(counts)]
    names = list(views.attributes)
    rows = Counter()
    for row, weight in case.rows([*names, "y"]):
        rows[row] += weight
    unchanged = 0
    for row, weight in rows.items():
        c = views.classes.index(row[-1])
        for name, table, value in zip(names, counts, row, strict=False):
            table[views.domain(name).index(value)][c] -= 1
        of_class[c] -= 1
        now = [ranked_or_best(of_class, counts, codes, preserve) for codes in oracle.tuples(counts)]
        unchanged += weight * (now == answers and of_class[c] > 0)  # a class that is gone is a trace
        for name, table, value in zip(names, counts, row, strict=False):
            table[views.domain(name).index(value)][c] += 1
        of_class[c] += 1
    return unchanged / sum(rows.values())


def ranked_or_best(of_class, counts, codes, preserve):
    order = oracle.ranked(oracle.scores(of_class, counts, codes))
    return order if preserve == "order" else order[0]


def test_canonical(tmp_path):
    crossed(canonical_crosses, 4, 200, tmp_path, n_attributes=(1, 2), n_rows=(2, 12), n_classes=(2, 3))


def closeness_crosses(case, rng, folder):
    made = published_views(case, rng, folder)
    if made is None:
        return
    table, views, asked = made
    of_class, counts = plain_counts(views)
    shares = [rng.randint(1, 5) for _ in views.classes]
    prior = {label: Fraction(share, sum(shares)) for label, share in zip(views.classes, shares, strict=True)}
    odds, ratio = oracle.largest_odds(of_class, counts, list(prior.values()))
    found = closeness.achieved(views, prior)
    for reached, expected in ((found.statement11, odds), (found.definition5, ratio)):
        assert math.isinf(reached.log) == (expected == math.inf)
        if expected != math.inf:
            assert reached.value in (expected, None)
            assert reached.log == pytest.approx(_log(expected), rel=1e-9, abs=1e-12)
        TRIED["closeness"] += 1
    best = closeness.best(views, prior)
    r = Fraction(math.ceil(math.exp(best.log_r) * 1000) + 500, 1000)
    if r > 50:
        return
    release = closeness.est(views, prior, r, table=table, class_name="y")
    after = oracle.largest_odds(*plain_counts(release.views), list(prior.values()))[0]
    assert after <= r
    path = folder / f"est-{rng.randrange(10**9)}"
    release.save(path)
    assert nbcfast.verify(path, against=views).ok
    assert nbcfast.load(path) == release
    for _, other in ways(case, rng, folder, 1):
        assert (
            closeness.est(count(other, "y", classes=asked), prior, r, table=other, class_name="y") == release
        )
        TRIED["closeness"] += 1


def test_closeness(tmp_path):
    crossed(closeness_crosses, 6, 300, tmp_path, n_attributes=(1, 2), n_rows=(3, 12), n_classes=(2, 3))


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


# groups


def groups_cross(case, rng, folder):
    by = [name for name in case.names if name != "y"]
    table = read(case, rng, folder)
    found = skyline.group(table, by, "y")
    expected = oracle.groups(case.rows([*by, "y"]), range(len(by)), len(by))
    check_groups(found, expected, by)
    histograms = list(expected.values())
    for _, other in ways(case, rng, folder):
        again = skyline.group(other, by, "y", threads=rng.choice([None, 1, 2, 3]))
        check_groups(again, expected, by)
        TRIED["group"] += 1
    if case.n_rows > 2:
        parts = [skyline.group(read(part, rng, folder), by, "y") for part in case.split(rng, 3)]
        rng.shuffle(parts)
        check_groups(skyline.Groups.merge(parts), expected, by)
        TRIED["group"] += 1
    if not any(column.edges is not None or column.declared for column in case.columns.values()):
        check_groups(skyline.group(case.batches(rng), by, "y", weights=case._w), expected, by)
        TRIED["group"] += 1
    assert found.k == min(sum(one.values()) for one in histograms)
    assert found.l == min(len(one) for one in histograms)
    assert found.n_rows == sum(case.of_rows())
    points = [(rng.randrange(3), rng.randrange(4), rng.randrange(3)) for _ in range(4)]
    exact = [oracle.breach(histograms, *point) for point in points]
    limits = [
        rng.choice([Fraction(19, 20), one, min(one + Fraction(1, 10**12), Fraction(1))]) for one in exact
    ]
    asked = [(*point, limit) for point, limit in zip(points, limits, strict=True)]
    for report, breach, limit in zip(skyline.check(found, asked, exact=True), exact, limits, strict=True):
        assert report.exact == breach
        assert report.safe == (breach < limit)
        TRIED["check"] += 1
    statistics = skyline.Statistics(range(3)).update(found)
    rough = skyline.check(statistics, asked, threads=2)
    assert [report.safe for report in rough] == [
        one < limit for one, limit in zip(exact, limits, strict=True)
    ]
    if max(sum(one.values()) for one in histograms) <= 12:
        confidence = rng.choice([Fraction(1), Fraction(19, 20), Fraction(2, 3), Fraction(1, 2)])
        assert sorted(map(tuple, skyline.find(found, confidence))) == oracle.skyline(histograms, confidence)
        TRIED["find"] += 1


def check_groups(found, expected, by):
    got = {tuple(found.key(g).values()): Counter(found.histogram(g)) for g in range(found.n_groups)}
    assert {repr(key): {repr(v): n for v, n in one.items()} for key, one in got.items()} == {
        repr(key): {repr(v): n for v, n in one.items()} for key, one in expected.items()
    }
    assert found.by == tuple(by)


def test_groups(tmp_path):
    crossed(groups_cross, 40, 3_000, tmp_path, n_attributes=(1, 2), n_rows=(2, 25))


def saved(made, path, case, **options):
    """Save it, unless some column has two values that CSV writes alike, which is said by its name."""
    try:
        made.save(path, **options)
    except ValueError as error:
        text = "CSV cannot tell the empty text from a null: put another value in the place of one of them"
        name = next(name for name in case.names if str(error) == f"column {name!r}: {text}")
        assert {"", None} <= set(case.domain(name))
        return False
    return True


def anonymize_crosses(case, rng, folder):
    if case.weights is not None and sum(case.weights) > 2**60:
        case.weights = [1 + weight % 1000 for weight in case.weights]
    quasi = [name for name in case.names if name != "y"]
    table = read(case, rng, folder)
    k = rng.choice([None, 1, 2, 3])
    points = (
        [] if k and rng.random() < 0.5 else [(rng.randrange(2), rng.randrange(2), rng.randrange(2), "19/20")]
    )
    options = {"k": k, "threads": rng.choice([None, 1, 2, 3])}
    whole = oracle.groups(case.rows(["y"]), [], 0)
    fits = all(oracle.breach(list(whole.values()), *point[:3]) < Fraction(19, 20) for point in points)
    fits = fits and sum(case.of_rows()) >= (k or 1)
    if not fits:
        with pytest.raises(Infeasible):
            skyline.anonymize(table, quasi, "y", points, **options)
        return
    made = skyline.anonymize(table, quasi, "y", points, **options)
    ids = made.group_ids.tolist()
    histograms = {}
    for group, (row, weight) in zip(ids, case.rows(["y"]), strict=True):
        histograms.setdefault(group, Counter())[row[0]] += weight
    for point in points:
        assert oracle.breach(list(histograms.values()), *point[:3]) < Fraction(19, 20)
    assert min(sum(one.values()) for one in histograms.values()) >= (k or 1)
    # Rows that are equal are in one group, and of a group there is one published row of boxes.
    same = {}
    for group, (row, _) in zip(ids, case.rows(quasi), strict=True):
        assert same.setdefault(row, group) == group
    published = Counter()
    released = made.counted
    weights = released.weights.tolist()
    columns = [[released.domain(name)[code] for code in released.codes(name)] for name in released.names]
    for row, weight in zip(zip(*columns, strict=True), weights, strict=True):
        published[repr(row[-1])] += weight
    expected = Counter()
    for row, weight in case.rows(["y"]):
        expected[repr(row[0])] += weight
    assert published == expected
    TRIED["anonymize"] += 1
    path = folder / f"partition-{rng.randrange(10**9)}"
    lines = {"weights": "n"} if sum(case.of_rows()) > 1000 else {}  # of people, else one each
    if not saved(made, path, case, **lines):
        return
    assert nbcfast.verify(path).ok, nbcfast.verify(path)
    assert nbcfast.load(path).counted == made.counted
    written = (path / "certificate.json").read_bytes()
    for _, other in ways(case, rng, folder, 1):
        again = skyline.anonymize(other, quasi, "y", points, k=k)
        other_path = folder / f"partition-{rng.randrange(10**9)}"
        again.save(other_path, **lines)
        assert (other_path / "certificate.json").read_bytes() == written
        assert (other_path / "table.csv").read_bytes() == (path / "table.csv").read_bytes()
        TRIED["anonymize"] += 1


def test_anonymize(tmp_path):
    crossed(anonymize_crosses, 15, 1_500, tmp_path, n_rows=(2, 25), n_values=6)


# templates


def templates_cross(case, rng, folder):
    names = [name for name in case.names if name != "y"]
    table = read(case, rng, folder)
    wanted = []
    for _ in range(rng.randint(1, 2)):
        known = rng.sample(names, rng.randint(1, len(names)))
        value = rng.choice(case.domain("y"))
        limit = rng.choice(["60%", Fraction(1, 2), 0.9, "3/4", 1, "100%"])
        wanted.append(templates.Template(known, ("y", value), limit))
    found = templates.violations(table, wanted)
    expected = []
    for template in wanted:
        number = {"60%": Fraction(3, 5), "100%": Fraction(1)}.get(template.limit, template.limit)
        known, value = list(template.quasi), template.sensitive[1]
        pairs = oracle.confidences(case.rows([*known, "y"]), range(len(known)), len(known), value)
        order = sorted(
            pairs, key=lambda key: [case.domain(n).index(v) for n, v in zip(known, key, strict=True)]
        )
        expected += [
            (template, repr(key), *pairs[key])
            for key in order
            if Fraction(pairs[key][1], pairs[key][0]) > number
        ]
    assert [(v.template, repr(tuple(v.known.values())), v.support, v.count) for v in found] == expected
    TRIED["violations"] += 1
    for _, other in ways(case, rng, folder, 1):
        assert templates.violations(other, wanted) == found
        TRIED["violations"] += 1
    options = {"utility": "distortion"} if rng.random() < 0.5 else {"target": "y"}
    masked = [name for name in names if any(name in template.quasi for template in wanted)]
    least = []
    for template in wanted:
        pairs = oracle.confidences(case.rows(["y"]), [], 0, template.sensitive[1])
        least += [Fraction(n, total) <= template.limit for total, n in pairs.values()]
    if not all(least):
        with pytest.raises(Infeasible):
            templates.disclose(table, wanted, **options)
        return
    made = templates.disclose(table, wanted, **options)
    released = made.table
    cells = {n: [released.domain(n)[code] for code in released.codes(n)] for n in released.names}
    for name in case.names:
        for before, after in zip(case.values(name), cells[name], strict=True):
            assert repr(after) == repr(before) or (name in masked and after is nbcfast.SUPPRESSED)
    rows = list(zip(zip(*(cells[name] for name in case.names), strict=True), case.of_rows(), strict=True))
    places = {name: place for place, name in enumerate(case.names)}
    for template in made.templates:
        pairs = oracle.confidences(
            rows, [places[name] for name in template.quasi], places["y"], template.sensitive[1]
        )
        highest = max(Fraction(n, total) for total, n in pairs.values())
        assert highest == made.confidences[template] <= template.limit
    TRIED["disclose"] += 1
    for how, other in ways(case, rng, folder, 1):
        again = templates.disclose(other, wanted, **options)
        assert again.steps == made.steps, how
        assert again.confidences == made.confidences
        assert again.suppressed == made.suppressed
        TRIED["disclose"] += 1
    if case.weights is None or sum(case.weights) < 10**4:
        path = folder / f"disclosure-{rng.randrange(10**9)}"
        if not saved(made, path, case):
            return
        assert nbcfast.verify(path).ok, nbcfast.verify(path)
        loaded = nbcfast.load(path)
        assert loaded.table.collapse().n_rows == made.table.collapse().n_rows
        assert loaded.templates == made.templates
        TRIED["disclose"] += 1


def test_templates(tmp_path):
    crossed(templates_cross, 30, 3_000, tmp_path, n_rows=(2, 25), n_values=4)


# randomised response


def response_crosses(case, rng, folder):
    case = Case(case.columns, None, case.seed)
    names = [name for name in case.names if len(case.domain(name)) > 1]
    if not names:
        return
    told_names = rng.sample(names, rng.randint(1, len(names)))
    domains = {name: case.domain(name) for name in told_names}
    theta = rng.choice([Fraction(4, 5), Fraction(2, 3), Fraction(9, 10), Fraction(1, 4), "80%", 0.7])
    p = {"80%": Fraction(4, 5), 0.7: Fraction(7, 10)}.get(theta, theta)
    groups, rest = [], list(told_names)
    while rest:
        size = rng.randint(1, min(2, len(rest)))
        groups.append(rest[:size])
        rest = rest[size:]
    binary = all(len(domain) == 2 and None not in domain for domain in domains.values())
    lie = "each"
    if binary and rng.random() < 0.5:
        scheme = response.Scheme(theta=theta, groups=groups, domains=domains)
    else:
        lie = rng.choice(["each", "tuple"])
        try:
            scheme = response.KaryScheme(theta, domains, groups=groups, lie=lie)
        except ValueError as error:
            if "would tell nothing" not in str(error):
                raise
            return
    source = case.sources()
    table = case.table(rng.choice(source), rng, folder)
    seed = rng.randrange(100)
    told = response.disguise(table, scheme, np.random.default_rng(seed))
    again = response.disguise(
        case.table(rng.choice(source), rng, folder), scheme, np.random.default_rng(seed)
    )
    assert told == again
    TRIED["disguise"] += 1
    for name in case.names:
        if name not in told_names:
            assert [told.domain(name)[code] for code in told.codes(name)] == case.values(name)
        else:
            assert same_values(told.domain(name), case.domain(name))
    answers = {n: [told.domain(n)[code] for code in told.codes(n)] for n in case.names}
    for group in groups:  # a lie is another tuple, and with "each" another value of every column
        for row in range(case.n_rows):
            same = [repr(answers[n][row]) == repr(case.values(n)[row]) for n in group]
            if lie == "each":
                assert all(same) or not any(same)
    class_name = rng.choice(case.names)
    kind_of = {
        name: next((g for g, group in enumerate(groups) if name in group), None) for name in case.names
    }
    found = response.estimate(told, scheme, class_name)
    for name in case.names:
        if name == class_name:
            continue
        pair = [name, class_name]
        sizes = [len(case.domain(n)) for n in pair]
        own = [g for g in {kind_of[n] for n in pair} if g is not None]
        of = []
        for g in own:
            places = [i for i, n in enumerate(pair) if kind_of[n] == g]
            hidden = [len(domains[n]) for n in groups[g] if n not in pair]
            of.append((p, places, hidden))
        matrix_groups, extra = marginal(of, sizes, lie)
        shares = Counter()
        for a, c in zip(answers[name], answers[class_name], strict=True):
            shares[case.domain(name).index(a), case.domain(class_name).index(c)] += Fraction(1, case.n_rows)
        solved = oracle.undisguised(shares, matrix_groups, sizes, lie) if extra is None else extra(shares)
        raw = found.raw.joint[name]
        assert solved is not None
        for (a, c), share in solved.items():
            assert raw[a, c] == share, (pair, groups, lie)
        TRIED["estimate"] += 1
    if case.n_rows < 3:
        return
    # Counts of parts that are merged estimate the same.
    parts = [
        told.take([i for i in range(case.n_rows) if i % 2 == half], keep_domains=True) for half in (0, 1)
    ]
    merged = count(parts[1], class_name) + count(parts[0], class_name)
    again = response.estimate(merged, scheme, class_name)
    assert again.raw.prior.tolist() == found.raw.prior.tolist()
    for name in found.joint:
        assert again.raw.joint[name].tolist() == found.raw.joint[name].tolist()
        assert again.joint[name].tolist() == found.joint[name].tolist()
        assert (again.joint[name] >= 0).all()
    TRIED["estimate"] += 1
    path = folder / f"told-{rng.randrange(10**9)}"
    if rng.random() < 0.3 and saved(told, path, case):
        loaded = nbcfast.load(path)
        assert Counter(map(repr, rows_of(loaded))) == Counter(map(repr, rows_of(told)))
        TRIED["disguise"] += 1


def rows_of(table):
    columns = [[table.domain(name)[code] for code in table.codes(name)] for name in table.names]
    return list(zip(*columns, strict=True))


def marginal(of, sizes, lie):
    """Coins for the columns asked for alone; what others of a group add to the lies is summed out.

    With lie="tuple" a false tuple may tell the truth about the columns that are asked for.
    """
    if lie == "each" or not any(hidden for _, _, hidden in of):
        return [(theta, places) for theta, places, _ in of], None

    def solve(shares):
        # All columns of the groups, the hidden ones uniform: their truth does not matter.
        wide, groups = list(sizes), []
        for theta, places, hidden in of:
            more = list(range(len(wide), len(wide) + len(hidden)))
            wide += hidden
            groups.append((theta, [*places, *more]))
        every = list(product(*map(range, sizes)))
        matrix = []
        spreads = []
        for truth in every:
            spread = Counter()
            start = truth + (0,) * (len(wide) - len(sizes))
            for told, chance in oracle.chances(start, groups, wide, lie).items():
                spread[told[: len(sizes)]] += chance
            spreads.append(spread)
        matrix = [[spread[told] for spread in spreads] for told in every]
        solved = oracle.solved(matrix, [Fraction(shares.get(told, 0)) for told in every])
        return None if solved is None else dict(zip(every, solved, strict=True))

    return None, solve


def test_response(tmp_path):
    crossed(response_crosses, 30, 3_000, tmp_path, n_rows=(2, 25))


# associations


def associations_cross(case, rng, folder):
    names = case.names
    if len(names) < 3:
        return
    *join, identity, attribute = rng.sample(names, 3)
    views = [(identity, *join), (*join, attribute)]
    model = rng.choice(["unrestricted", "restricted"])
    expected = oracle.associations(case.rows([identity, *join, attribute]), 0, [1], 2, model)
    sources = [read(case, rng, folder), *(table for _, table in ways(case, rng, folder, 1))]
    if all(column.edges is None and not column.declared for column in case.columns.values()):
        sources.append(case.batches(rng))
        if not {column.kind for column in case.columns.values()} & {"bool", *OF_ARROW}:
            sources.append(case.arrow(rng, "chunked"))
    for table in sources:
        found = associations.risk(
            table, views, identity, attribute, model=model, threads=rng.choice([1, 2, 3])
        )
        for (person, value), probability in expected.items():
            assert found.of(person, value).exact == probability, (person, value)
        limit = rng.choice([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])
        present = [p for p in expected.values() if p is not None]
        assert found.n_above(limit) == sum(p > limit for p in present)
        TRIED["associations"] += 1


def test_the_oracle_of_covers():
    for m in range(1, 4):
        for n in range(1, 4):
            assert (oracle.covers(m, n), oracle.with_edge(m, n)) == oracle.listed_covers(m, n)


def test_associations(tmp_path):
    crossed(associations_cross, 30, 3_000, tmp_path, n_attributes=(2, 3), n_rows=(2, 25), n_values=4)


# the command line


def test_command_line(tmp_path, run):
    """What `--json` prints is what Python gives of the same file."""

    def command_line_crosses(case, rng, folder):
        path = folder / f"{rng.randrange(10**9)}.csv"
        case.write_csv(path)
        texts = [name for name, kind in case.csv_types().items() if kind == "text"]
        options = [part for name in texts for part in ("--text", name)] + ["--null", NULL]
        options += [] if case.weights is None else ["--weights", "w"]
        types = dict.fromkeys(texts, "text")
        table = nbcfast.read_csv(path, null_values=[NULL], types=types, weights=case._w)
        names = [name for name in case.names if name != "y"]
        points = [(rng.randrange(2), rng.randrange(3), rng.randrange(2), "19/20") for _ in range(2)]
        asked = [part for point in points for part in ("--point", ",".join(map(str, point)))]
        by = ",".join(names)
        code, out, err = run(
            "skyline", "check", path, "--by", by, "--sensitive", "y", "--json", *asked, *options
        )
        reports = skyline.check(skyline.group(table, names, "y"), points)
        assert code == (0 if all(report.safe for report in reports) else 1), err
        assert [one["safe"] for one in json.loads(out)["points"]] == [report.safe for report in reports]
        histograms = list(oracle.groups(case.rows([*names, "y"]), range(len(names)), len(names)).values())
        assert [report.safe for report in reports] == [
            oracle.breach(histograms, *point[:3]) < Fraction(19, 20) for point in points
        ]
        TRIED["command line"] += 1
        value = next((value for value in case.values("y") if value is not None), None)
        if isinstance(value, str) and value.isalnum():
            text = f"{by} -> y={value} <= 60%"
            code, out, err = run("check", path, "--template", text, "--json", *options)
            found = templates.violations(table, [templates.Template(names, ("y", value), "60%")])
            assert code == (1 if found else 0), err
            assert [(one["support"], one["count"]) for one in json.loads(out)["violations"]] == [
                (one.support, one.count) for one in found
            ]
            TRIED["command line"] += 1
        views = count(table, "y")
        if len(views.classes) < 2 or sum(case.of_rows()) > 10**4:
            return
        target = folder / f"published-{rng.randrange(10**9)}"
        code, out, err = run(
            "publish", path, "--class", "y", "--amplification", "4", "--out", target, "--json", *options
        )
        release = canonical.release(views, 4, class_name="y")
        assert code == 0, err
        own = folder / f"own-{rng.randrange(10**9)}"
        release.save(own)
        name = "certificate.json"
        assert (target / name).read_bytes() == (own / name).read_bytes()
        assert nbcfast.load(target) == release
        assert run("verify", target)[0] == 0
        assert run("verify", target, "--against", path, *options)[0] == 0
        TRIED["command line"] += 1

    crossed(
        command_line_crosses,
        4,
        100,
        tmp_path,
        n_attributes=(1, 2),
        n_rows=(4, 15),
        n_classes=(2, 3),
        kinds=("int", "digits", "date"),
    )


# two hospitals


def hospitals(rng, which):
    """Ages of two hospitals, nulls in one of them; as Tables and in CSV files."""
    edges = [[0, 18, 40, 65, math.inf], [Interval(0, 40), Interval(40, None)], np.array([0.0, 30.5, 200.0])]
    edges = edges[which % len(edges)]
    n = rng.randint(4, 12)
    ages = [[rng.randrange(100) for _ in range(n)] for _ in range(2)]
    ages[which % 2][rng.randrange(n)] = None
    parts = []
    for own in ages:
        columns = {"age": Column("binned", own, None, edges), "y": Column("text", rng.choices("ab", k=n))}
        parts.append(Case({**columns, "s": Column("digits", rng.choices(["1", "2"], k=n))}, None, "hospital"))
    return edges, parts


def test_two_hospitals(tmp_path):
    """A binned column with nulls in one part only: merged, taken away, concatenated, published, read back."""
    for seed in seeds(4, 100):
        rng = random.Random(f"hospitals {seed}")
        edges, parts = hospitals(rng, seed)
        source = "csv" if seed % 2 else "list"
        one, two = (part.table(source, rng, tmp_path) for part in parts)
        columns = {
            name: Column(c.kind, c.raw + parts[1].columns[name].raw, None, c.edges)
            for name, c in parts[0].columns.items()
        }
        both = Case(columns, None, "both")
        whole = both.table(source, rng, tmp_path)
        assert concat([one, two]) == whole
        assert same_values(concat([two, one]).domain("age"), both.domain("age"))
        views = count(one, "y") + count(two, "y")
        assert views == count(whole, "y") == count(two, "y") + count(one, "y")
        check_views(views, both, both.domain("y"))
        for part, other in ((one, two), (two, one)):
            rest = count(whole, "y") - count(part, "y")
            assert rest == count(other, "y") or len(set(rest.classes)) < 2
            assert rest.domain("age") == other.domain("age")
        file = tmp_path / "hospital.csv"
        parts[1].write_csv(file, null="")
        declared = nbcfast.read_csv(file, types={"s": "text"}).bin("age", [*intervals(edges), None])
        assert declared.domain("age")[-1] is None  # whether or not a row has it
        assert count(declared, "y") + count(one, "y") == views
        # Groups, inferences, answers, associations of the parts together are those of the whole.
        groups = skyline.Groups.merge([skyline.group(part, ["age", "s"], "y") for part in (two, one)])
        names = ["age", "s"]
        check_groups(groups, oracle.groups(both.rows([*names, "y"]), [0, 1], 2), names)
        statistics = skyline.Statistics([0, 1]).update(skyline.group(whole, names, "y"))
        asked = [(1, 1, 1, "19/20"), (0, 1, 0, "2/3")]
        assert [report.safe for report in skyline.check(statistics, asked)] == [
            report.safe for report in skyline.check(groups, asked)
        ]
        template = templates.Template(["age", "s"], ("y", "a"), "60%")
        merged = concat([one, two])
        assert templates.violations(merged, [template]) == templates.violations(whole, [template])
        scheme = response.KaryScheme("0.8", {"age": whole.domain("age")})
        told = [response.disguise(part, scheme, np.random.default_rng(3)) for part in (one, two)]
        estimated = response.estimate(count(told[0], "y") + count(told[1], "y"), scheme, "y")
        again = response.estimate(concat(told), scheme, "y")
        assert estimated.raw.joint["age"].tolist() == again.raw.joint["age"].tolist()
        TRIED["hospitals"] += 8
        if len(views.classes) < 2:
            continue
        release = canonical.release(views, 4, class_name="y")
        check_published(release, views, 4, "label", tmp_path, rng, whole)
        path = tmp_path / f"hospitals-{seed}"
        release.save(path)
        loaded = nbcfast.load(path)
        later = parts[seed % 2].table(source, rng, tmp_path)
        assert (loaded.predict(later) == views.predict(later)).all()
        raw = Table({name: list(column.raw) for name, column in both.columns.items()})
        again = raw.bin("age", loaded.views.domain("age"))
        assert (loaded.predict(again) == views.predict(whole)).all()
        TRIED["hospitals"] += 3
