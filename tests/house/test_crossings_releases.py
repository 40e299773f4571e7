"""Random tables crossed with every way to read them: what makes releases. See `crossing`."""

import math
from collections import Counter
from fractions import Fraction

import crossing_oracles as oracle
import pytest
from crossing import TRIED, check_published, crossed, logarithm, plain_counts, published_views, read, ways

import nbcfast
from nbcfast import (
    canonical,
    closeness,
    count,
    safety_transform,
)


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
        assert leak.exact
        flip, trace = unseen(views, case, preserve)
        assert leak.trace == pytest.approx(trace, abs=1e-12)
        assert leak.flip == pytest.approx(flip, abs=1e-12)
        sampled = [
            canonical.leak(views, preserve=preserve, table=other, class_name="y", sample=5)
            for other in (table, read(case.permuted(rng), rng, folder))
        ]
        assert sampled[0] == sampled[1]
        TRIED["canonical"] += 1


def unseen(views, case, preserve):
    """The shares of people whose class can be exchanged, and who can be left out, all decided as before."""
    of_class, counts = plain_counts(views)
    answers = [ranked_or_best(of_class, counts, codes, preserve) for codes in oracle.tuples(counts)]
    names = list(views.attributes)
    rows = Counter()
    for row, weight in case.rows([*names, "y"]):
        rows[row] += weight

    def add(row, c, by):
        for name, table, value in zip(names, counts, row, strict=False):
            table[views.domain(name).index(value)][c] += by
        of_class[c] += by

    def same():
        return [
            ranked_or_best(of_class, counts, codes, preserve) for codes in oracle.tuples(counts)
        ] == answers

    flip = trace = 0
    for row, weight in rows.items():
        c = views.classes.index(row[-1])
        add(row, c, -1)
        alone = of_class[c] == 0  # a class that is gone is a trace
        trace += weight * (not alone and same())
        exchanged = not alone
        for d in range(len(of_class)):
            if d != c and exchanged:
                add(row, d, 1)
                exchanged = same()
                add(row, d, -1)
        flip += weight * exchanged
        add(row, c, 1)
    return flip / sum(rows.values()), trace / sum(rows.values())


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
            assert reached.log == pytest.approx(logarithm(expected), rel=1e-9, abs=1e-12)
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
