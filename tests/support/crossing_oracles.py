"""What each method has to give, from its definition, in plain exact Python: nothing here imports nbcfast.

Counts are dicts and lists, probabilities Fractions; a table is a list of (row, weight), a row a tuple.
"""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product

# naive Bayes


def tally(rows, place, n_attributes, domains, classes):
    """Class counts, and a list of (values, classes) lists, of rows whose class stands at `place`."""
    of_class = [0] * len(classes)
    counts = [[[0] * len(classes) for _ in domain] for domain in domains]
    for row, weight in rows:
        c = classes.index(row[place])
        of_class[c] += weight
        for i in range(n_attributes):
            counts[i][domains[i].index(row[i])][c] += weight
    return of_class, counts


def scores(of_class, counts, codes, alpha=0, unseen="zero"):
    """X_c = P_c prod_i (N + alpha) / (P_c + alpha |A_i|) of every class; a code of None is an unknown one."""
    found = []
    for c, total in enumerate(of_class):
        x = Fraction(total)
        for table, code in zip(counts, codes, strict=True):
            if code is None and unseen == "ignore":
                continue
            below = total + alpha * len(table)
            number = (0 if code is None else table[code][c]) + alpha
            x = x * number / below if below and total else Fraction(0)
        found.append(x)
    return found


def ranked(x):
    """The classes, best first: a tie goes to the later one."""
    return sorted(range(len(x)), key=lambda c: (x[c], c), reverse=True)


def tuples(counts):
    return product(*(range(len(table)) for table in counts))


def amplification(of_class, counts):
    """Lambda over all tuples and pairs of classes, infinite where X_d is 0; None where all scores are 0."""
    largest, positive = Fraction(1), False
    for codes in tuples(counts):
        x = scores(of_class, counts, codes)
        positive |= any(x)
        for one, other in product(x, repeat=2):
            if one > 0:
                largest = math.inf if other == 0 else max(largest, one / other)
        if largest == math.inf:
            break
    if not positive:
        return None if largest != math.inf else largest
    return largest


def smallest_margin(of_class, counts):
    """The smallest X_c / X_d above 1 where both are positive; None without one."""
    found = None
    for codes in tuples(counts):
        x = [one for one in scores(of_class, counts, codes) if one > 0]
        for one, other in product(x, repeat=2):
            if one > other and (found is None or one / other < found):
                found = one / other
    return found


def largest_odds(of_class, counts, prior):
    """Max (X_c / X_d) / (F_c / F_d), and max over tuples and classes of posterior / prior or its inverse."""
    odds = ratio = Fraction(1)
    for codes in tuples(counts):
        x = scores(of_class, counts, codes)
        total = sum(x)
        if not total:
            continue
        for c, d in product(range(len(x)), repeat=2):
            if x[c] > 0:
                odds = math.inf if x[d] == 0 else max(odds, x[c] / x[d] * prior[d] / prior[c])
        for c, f in enumerate(prior):
            ratio = math.inf if x[c] == 0 else max(ratio, x[c] / total / f, f * total / x[c])
        if math.inf in (odds, ratio):
            return math.inf, math.inf
    return odds, ratio


# possible worlds


def matches(total, sizes):
    """The distribution of the rows that match: independent uniform subsets of these sizes meet."""
    spread = {total: Fraction(1)}
    for size in sizes:
        following = defaultdict(Fraction)
        for before, chance in spread.items():
            for y in range(max(0, before + size - total), min(before, size) + 1):
                ways = math.comb(before, y) * math.comb(total - before, size - y)
                following[y] += chance * Fraction(ways, math.comb(total, size))
        spread = following
    return spread


def posterior(of_class, counts, codes, convention):
    """Of somebody whose codes (None: not known) these are; None where no world has him."""
    if convention == "row":
        x = []
        for c, total in enumerate(of_class):
            one = Fraction(total)
            for table, code in zip(counts, codes, strict=True):
                if code is not None:
                    one = one * table[code][c] / total if total else Fraction(0)
            x.append(one)
    else:
        spreads = [
            matches(
                total, [table[code][c] for table, code in zip(counts, codes, strict=True) if code is not None]
            )
            for c, total in enumerate(of_class)
        ]
        x = [Fraction(0)] * len(of_class)
        for outcome in product(*(spread.items() for spread in spreads)):
            people = sum(y for y, _ in outcome)
            if people:
                chance = math.prod(p for _, p in outcome)
                for c, (y, _) in enumerate(outcome):
                    x[c] += chance * Fraction(y, people)
    total = sum(x)
    return [one / total for one in x] if total else None


def auc_within(members, others, near=Fraction(1, 10**9)):
    """The least and the largest AUC, scores this close together ordered either way.

    Members and others are lists of (score, weight).
    """
    low = high = Fraction(0)
    for (one, w), (other, v) in product(members, others):
        if one == other:
            value = (Fraction(1, 2),) * 2
        elif abs(one - other) <= near * max(one, other):
            value = (Fraction(0), Fraction(1))
        else:
            value = (Fraction(int(one > other)),) * 2
        low, high = low + w * v * value[0], high + w * v * value[1]
    pairs = sum(w for _, w in members) * sum(v for _, v in others)
    return low / pairs, high / pairs


# groups


def groups(rows, by, sensitive):
    """Group -> Counter of sensitive values."""
    found = defaultdict(Counter)
    for row, weight in rows:
        found[tuple(row[i] for i in by)][row[sensitive]] += weight
    return dict(found)


def breach(histograms, l, k, m):
    """The largest probability over all attacks: 1 / (1 + min over values of the three cases)."""
    values = {value for histogram in histograms for value in histogram}
    least = None
    for s in values:
        with_s = [histogram for histogram in histograms if histogram[s]]
        parts = [_factors(histogram, s, l, k, m) for histogram in with_s]
        cf = [min(part[i] for part in parts) for i in range(5)]
        rho = min(cf[0], cf[1] * cf[2], cf[3] * cf[4])
        least = rho if least is None else min(least, rho)
    return 1 / (1 + least)


def _factors(histogram, s, l, k, m):
    n, c = sum(histogram.values()), histogram[s]
    others = sorted((count for value, count in histogram.items() if value != s), reverse=True)
    W, N = n - c - sum(others[:l]), n - c

    def falling(top, bottom):
        product_ = Fraction(1)
        for i in range(m):
            if top - i <= 0:
                return Fraction(0)
            product_ *= Fraction(top - i, bottom - i)
        return product_

    own, all_ = Fraction(max(W - k, 0), c), Fraction(W, c)
    first = own * falling(N - 1 - k, n - 1 - k) if own else Fraction(0)
    return first, own, falling(N, n), all_, falling(N - k, n - k)


def skyline(histograms, confidence):
    """The maximal safe (l, k, m), by looking at every point."""

    def safe(*point):
        return breach(histograms, *point) < confidence

    found = set()
    most = max(sum(histogram.values()) for histogram in histograms) + 1
    for l in range(most):
        if not safe(l, 0, 0):
            break
        for k in range(most):
            if not safe(l, k, 0):
                break
            m = 0
            while m < most and safe(l, k, m + 1):
                m += 1
            found.add((l, k, m))
    return sorted(
        p for p in found if not any(p != q and all(a <= b for a, b in zip(p, q, strict=True)) for q in found)
    )


# templates


def confidences(rows, known, sensitive, value):
    """Group -> (people, people with the value)."""
    found = defaultdict(lambda: [0, 0])
    for row, weight in rows:
        pair = found[tuple(row[i] for i in known)]
        pair[0] += weight
        pair[1] += weight * (row[sensitive] is value or row[sensitive] == value)
    return {key: tuple(pair) for key, pair in found.items()}


# randomised response


def chances(truth, groups_, sizes, lie):
    """Told tuple -> probability, of true codes (a tuple); groups are (theta, places).

    Of a group of which only some places are asked for the rest is summed out, as independent of them.
    """
    spread = {truth: Fraction(1)}
    for theta, places in groups_:
        following = defaultdict(Fraction)
        for told, weight in spread.items():
            own = tuple(told[place] for place in places)
            every = list(product(*(range(sizes[place]) for place in places)))
            false = [
                other
                for other in every
                if (all(a != b for a, b in zip(other, own, strict=True)) if lie == "each" else other != own)
            ]
            for other, chance in [(own, theta), *((other, (1 - theta) / len(false)) for other in false)]:
                answer = list(told)
                for place, code in zip(places, other, strict=True):
                    answer[place] = code
                following[tuple(answer)] += weight * chance
        spread = following
    return spread


def undisguised(shares, groups_, sizes, lie):
    """The shares that are told as these on average: the matrix of chances, solved. Told tuple -> share."""
    every = list(product(*map(range, sizes)))
    spreads = [chances(truth, groups_, sizes, lie) for truth in every]
    matrix = [[spread.get(told, Fraction(0)) for spread in spreads] for told in every]
    found = solved(matrix, [Fraction(shares.get(told, 0)) for told in every])
    return None if found is None else dict(zip(every, found, strict=True))


def solved(matrix, right):
    """The solution of a system of linear equations; None where it is singular."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for column in range(n):
        pivot = next((row for row in range(column, n) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for row in range(n):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


# associations


def associations(rows, identity, join, attribute, model):
    """(identity, value) -> probability over all worlds, of two views with the columns `join` in common."""
    people, properties = defaultdict(set), defaultdict(set)
    for row, _ in rows:
        key = tuple(row[i] for i in join)
        people[key].add(row[identity])
        properties[key].add(row[attribute])
    found = {}
    for person in {row[identity] for row, _ in rows}:
        keys = [key for key in people if person in people[key]]
        for value in {row[attribute] for row, _ in rows}:
            both = [key for key in keys if value in properties[key]]
            if model == "unrestricted":
                missing = Fraction(1)
                for key in both:
                    m, n = len(people[key]), len(properties[key])
                    missing *= 1 - Fraction(with_edge(m, n), covers(m, n))
                found[person, value] = 1 - missing
                continue
            common = set.intersection(*(properties[key] for key in keys))
            none = not common or any(len(people[key]) == 1 < len(properties[key]) for key in keys)
            found[person, value] = None if none else Fraction(int(value in common), len(common))
    return found


def covers(m, n):
    """Edge sets of the complete bipartite graph that leave no node out."""
    if min(m, n) == 0:
        return int(m == n)
    return sum((-1) ** j * math.comb(n, j) * (2 ** (n - j) - 1) ** m for j in range(n + 1))


def with_edge(m, n):
    """Those that hold one given edge, by what else its two ends have."""
    return Fraction(covers(m, n) + covers(m - 1, n) + covers(m, n - 1) + covers(m - 1, n - 1), 2)


def listed_covers(m, n):
    """The same two numbers by listing every edge set."""
    edges = list(product(range(m), range(n)))
    found = [
        chosen
        for size in range(len(edges) + 1)
        for chosen in combinations(edges, size)
        if len({i for i, _ in chosen}) == m and len({j for _, j in chosen}) == n
    ]
    return len(found), sum((0, 0) in chosen for chosen in found)
