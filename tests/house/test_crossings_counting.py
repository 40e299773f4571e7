"""Random tables crossed with every way to read them: counts, predictions, safety. See `crossing`."""

import math
from fractions import Fraction

import crossing_oracles as oracle
import pytest
from crossing import (
    TRIED,
    check_views,
    classes_of,
    counted,
    crossed,
    logarithm,
    plain_counts,
    read,
    same_values,
    ways,
    with_null_last,
)

import nbcfast
from nbcfast import (
    count,
    safety,
)

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
    unseen = rng.choice(["zero", "ignore"])
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
        expected.append(oracle.scores(of_class, counts, codes, exactly, unseen))
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
        assert found.log == pytest.approx(logarithm(expected), rel=1e-12, abs=1e-12)
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
        assert found.log == pytest.approx(logarithm(margin), rel=1e-9)
    for _, table in ways(case, rng, folder, 1):
        other = count(table, "y", classes=asked)
        assert safety.amplification(other) == safety.amplification(views)
        assert nbcfast.margin(other) == nbcfast.margin(views)
        TRIED["safety"] += 1


def test_safety(tmp_path):
    crossed(safety_crosses, 40, 3_000, tmp_path, n_attributes=(1, 2))
