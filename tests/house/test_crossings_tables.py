"""Random tables crossed with every way to read them: groups, published tables, risks. See `crossing`."""

from collections import Counter
from fractions import Fraction
from itertools import product

import crossing_oracles as oracle
import numpy as np
import pytest
from crossing import TRIED, check_groups, crossed, read, same_values, saved, ways
from crossing_cases import OF_ARROW, Case

import nbcfast
from nbcfast import (
    Infeasible,
    associations,
    count,
    response,
    skyline,
    templates,
)

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


def test_groups(tmp_path):
    crossed(groups_cross, 40, 3_000, tmp_path, n_attributes=(1, 2), n_rows=(2, 25))


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
