"""Privacy Skyline in the plainest exact Python: every attack by listing worlds, all placements, closed forms.

A release is a list of groups, each a dict value -> how many people have it. An adversary knows of a target
that it has none of l values, the values of k other people, and of m others that, had any of them s, the
target would too. Probabilities are Fractions; "at most" l, k and m pieces.
"""

# mypy: ignore-errors

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

from nbcfast.reference import table


def group(rows, by, sensitive):
    """Key -> histogram of the rows, which are dicts."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), Counter())[row[sensitive]] += 1
    return groups


def cleaned(release):
    """Without counts of zero and groups without people."""
    groups = [{value: count for value, count in group.items() if count} for group in release]
    return [group for group in groups if group]


def values_of(release):
    return sorted({value for group in release for value in group})


# --- every attack, by listing worlds


def worlds(group):
    """All different ways in which the values of a group can stand with its people."""
    found = [()]
    for _ in range(sum(group.values())):
        found = [(*world, value) for world in found for value in group if world.count(value) < group[value]]
    return found


def splits(total, sizes):
    """All ways to take at most `total` people from groups of these sizes."""
    return [split for split in product(*(range(size + 1) for size in sizes)) if sum(split) <= total]


def breach_by_worlds(release, l, k, m):
    """The greatest probability over every single attack, each judged by listing all worlds."""
    release = cleaned(release)
    values, sizes = values_of(release), [sum(group.values()) for group in release]
    listed = [worlds(group) for group in release]
    best = Fraction(0)
    for home in range(len(release)):
        free = [size - (place == home) for place, size in enumerate(sizes)]
        excluded = [x for size in range(min(l, len(values)) + 1) for x in combinations(values, size)]
        for ks in splits(k, free):
            rest = [size - taken for size, taken in zip(free, ks, strict=True)]
            for ms in splits(m, rest):
                # In each group the target comes first, then the people known, then those who imply.
                for ys in product(*(combinations_with_replacement(values, taken) for taken in ks)):
                    for s in values:
                        best = max(best, _by_excluded(listed, home, excluded, ys, ms, s))
    return best


def _by_excluded(listed, home, excluded, ys, ms, s):
    """The best of the choices of x, where all else is chosen."""
    other = 1
    for place, ways in enumerate(listed):
        if place != home:
            first, last = len(ys[place]), len(ys[place]) + ms[place]
            agreeing = [world for world in ways if world[:first] == ys[place]]
            if not agreeing:
                return Fraction(0)
            without = sum(s not in world[first:last] for world in agreeing)
            other *= Fraction(without, len(agreeing))
    taken = len(ys[home])
    agreeing = [world for world in listed[home] if world[1 : 1 + taken] == ys[home]]
    has = sum(world[0] == s for world in agreeing)
    # The implication leaves a world out in which somebody has s and the target has not.
    targets = Counter(
        world[0] for world in agreeing if world[0] != s and s not in world[1 + taken : 1 + taken + ms[home]]
    )
    best = Fraction(0)
    for x in excluded:
        if s not in x and has:
            others = sum(count for value, count in targets.items() if value not in x) * other
            best = max(best, Fraction(has) / (has + others))
    return best


# --- all placements, by the closed form of one placement


def numbers(group, s, l):
    """n, c, N and W of a group for a value in it."""
    n, c = sum(group.values()), group[s]
    others = sorted((count for value, count in group.items() if value != s), reverse=True)
    return n, c, n - c, n - c - sum(others[:l])


def with_target(group, s, l, k, m):
    """B: what a group with the target multiplies the odds by."""
    n, c, N, W = numbers(group, s, l)
    return Fraction(max(W - k, 0), c) * fall(n - 1 - k, N - 1 - k, m)


def without_target(group, s, k, m):
    """A: what another group does."""
    n, _, N, _ = numbers(group, s, 0)
    return fall(n - k, N - k, m)


def fall(n, N, m):
    """prod_{i<m} (N - i) / (n - i), 0 from the first numerator that is not positive."""
    odds = Fraction(1)
    for i in range(m):
        if N - i <= 0:
            return Fraction(0)
        odds *= Fraction(N - i, n - i)
    return odds


def breach_by_placements(release, l, k, m):
    """The greatest probability over all ways to place the people in groups: a dynamic program over groups."""
    least = None
    release = cleaned(release)
    for s in values_of(release):
        before = {(i, j): Fraction(1) if i == j == 0 else None for i in range(k + 1) for j in range(m + 1)}
        placed = dict.fromkeys(before)
        for members in release:
            if s not in members:
                continue
            a = {(i, j): without_target(members, s, i, j) for i, j in before}
            b = {(i, j): with_target(members, s, l, i, j) for i, j in before}
            placed = {
                (i, j): _least(
                    [_times(placed[p, q], a[i - p, j - q]) for p in range(i + 1) for q in range(j + 1)]
                    + [_times(before[p, q], b[i - p, j - q]) for p in range(i + 1) for q in range(j + 1)]
                )
                for i, j in before
            }
            before = {
                (i, j): _least(
                    [_times(before[p, q], a[i - p, j - q]) for p in range(i + 1) for q in range(j + 1)]
                )
                for i, j in before
            }
        least = _least([least, placed[k, m]])
    return 1 / (1 + least)


def _times(a, b):
    return None if a is None else a * b


def _least(numbers):
    return min((number for number in numbers if number is not None), default=None)


# --- closed forms


def factors(group, s, l, k, m):
    """CF1 .. CF5 of a group for a value in it."""
    return (
        with_target(group, s, l, k, m),
        with_target(group, s, l, k, 0),
        without_target(group, s, 0, m),
        with_target(group, s, l, 0, 0),
        without_target(group, s, k, m),
    )


def cases(release, l, k, m):
    """The least odds of each of the three placements."""
    release = cleaned(release)
    found = [[], [], []]
    for s in values_of(release):
        cf = list(zip(*(factors(members, s, l, k, m) for members in release if s in members), strict=True))
        found[0].append(min(cf[0]))
        found[1].append(min(cf[1]) * min(cf[2]))
        found[2].append(min(cf[3]) * min(cf[4]))
    return [min(odds) for odds in found]


def breach(release, l, k, m):
    """The greatest probability of any attack."""
    return 1 / (1 + min(cases(release, l, k, m)))


def is_safe(release, l, k, m, confidence):
    return breach(release, l, k, m) < table.exact(confidence)


def check(release, points):
    """The greatest probability at each (l, k, m, confidence), and whether it is below the confidence."""
    return [(breach(release, l, k, m), is_safe(release, l, k, m, c)) for l, k, m, c in points]


def find(release, confidence):
    """All maximal safe (l, k, m), by looking at every one that can be safe."""
    release = cleaned(release)
    most_l = min(map(len, release)) - 1
    most = min(sum(members.values()) - max(members.values()) for members in release)
    safe = {
        (l, k, m)
        for l in range(max(most_l, 0))
        for k in range(most + 1)
        for m in range(most + 1)
        if is_safe(release, l, k, m, confidence)
    }
    return sorted((l, k, m) for l, k, m in safe if not {(l + 1, k, m), (l, k + 1, m), (l, k, m + 1)} & safe)


def breach_of(release, home, s, excluded, known, known_in, m, implied_in):
    """The probability that a target in the group `home` has s, given one attack.

    Excluded: values; known: value -> people, all in one group; m people who imply in one group.
    """
    groups = [dict(members) for members in release]
    for value, people in known.items():
        groups[known_in][value] -= people
    has = groups[home].get(s, 0)
    others = sum(count for value, count in groups[home].items() if value != s and value not in excluded)
    if m:
        n = sum(groups[implied_in].values())
        c = groups[implied_in].get(s, 0)
        if implied_in == home:  # the target is one of the others
            others *= Fraction(math.perm(max(n - c - 1, 0), m), math.perm(n - 1, m))
        else:
            others *= Fraction(math.perm(n - c, m), math.perm(n, m))
    return Fraction(has) / (has + others)


# --- sets of values: a release is a list of groups, each a list of frozensets


def set_breach_by_worlds(release, l, k, m):
    """As breach_by_worlds, where the sets of a group are permuted and s is in the target's set."""
    values = sorted({value for group in release for held in group for value in held})
    histograms = [Counter(group) for group in release]
    listed, sizes = [worlds(group) for group in histograms], [len(group) for group in release]
    best = Fraction(0)
    for home in range(len(release)):
        free = [size - (place == home) for place, size in enumerate(sizes)]
        for ks in splits(k, free):
            rest = [size - taken for size, taken in zip(free, ks, strict=True)]
            for ms in splits(m, rest):
                choices = (
                    combinations_with_replacement(sorted(histogram, key=sorted), taken)
                    for histogram, taken in zip(histograms, ks, strict=True)
                )
                for ys in product(*choices):
                    for s in values:
                        best = max(best, _sets_by_excluded(listed, home, values, l, ys, ms, s))
    return best


def _sets_by_excluded(listed, home, values, l, ys, ms, s):
    other = 1
    for place, ways in enumerate(listed):
        if place != home:
            first, last = len(ys[place]), len(ys[place]) + ms[place]
            agreeing = [world for world in ways if world[:first] == ys[place]]
            if not agreeing:
                return Fraction(0)
            without = sum(not any(s in held for held in world[first:last]) for world in agreeing)
            other *= Fraction(without, len(agreeing))
    taken = len(ys[home])
    agreeing = [world for world in listed[home] if world[1 : 1 + taken] == ys[home]]
    best = Fraction(0)
    for size in range(min(l, len(values)) + 1):
        for x in combinations([value for value in values if value != s], size):
            open_ = [world for world in agreeing if not world[0] & set(x)]
            has = sum(s in world[0] for world in open_)
            others = sum(
                s not in world[0] and not any(s in held for held in world[1 + taken : 1 + taken + ms[home]])
                for world in open_
            )
            if has:
                best = max(best, Fraction(has) / (has + others * other))
    return best


def set_breach(release, l, k, m):
    """The closed form: for each choice of X, c_X and W_X instead of c and W."""
    values = sorted({value for group in release for held in group for value in held})
    least = None
    for s in values:
        cf = []
        for members in release:
            n, c = len(members), sum(s in held for held in members)
            if not c:
                continue
            odds = []
            for size in range(min(l, len(values)) + 1):
                for x in combinations([value for value in values if value != s], size):
                    left = [held for held in members if not held & set(x)]
                    has = sum(s in held for held in left)
                    if has:
                        odds.append(
                            (Fraction(max(len(left) - has - k, 0), has), Fraction(len(left) - has, has))
                        )
            cf2, cf4 = min(known for known, _ in odds), min(alone for _, alone in odds)
            at_home, cf3, cf5 = (fall(whole, whole - c, m) for whole in (n - 1 - k, n, n - k))
            cf.append((cf2 * at_home, cf2, cf3, cf4, cf5))
        mins = [min(column) for column in zip(*cf, strict=True)]
        least = _least([least, mins[0], mins[1] * mins[2], mins[3] * mins[4]])
    return 1 / (1 + least)


# --- plain measures


def k_anonymity(release):
    return min(sum(members.values()) for members in cleaned(release))


def l_diversity(release):
    return min(map(len, cleaned(release)))


def entropy_diversity(release):
    return min(
        math.exp(-sum(c / n * math.log(c / n) for c in members.values()))
        for members in cleaned(release)
        for n in [sum(members.values())]
    )


def recursive_diversity(release, l):
    """The supremum of r_1 / (r_l + r_(l+1) + ...)."""
    found = Fraction(0)
    for members in cleaned(release):
        ranked = sorted(members.values(), reverse=True)
        tail = sum(ranked[l - 1 :])
        found = max(found, Fraction(ranked[0], tail) if tail else math.inf)
    return found


def closeness(release, values, ordered=False):
    """The greatest distance of a group's values from those of all."""
    release = cleaned(release)
    total = sum((Counter(members) for members in release), Counter())
    everybody, worst = sum(total.values()), Fraction(0)
    for members in release:
        n = sum(members.values())
        differences = [Fraction(members.get(v, 0), n) - Fraction(total[v], everybody) for v in values]
        if ordered:
            running = [abs(sum(differences[: i + 1])) for i in range(len(values))]
            distance = sum(running) / (len(values) - 1) if len(values) > 1 else Fraction(0)
        else:
            distance = sum(map(abs, differences)) / 2
        worst = max(worst, distance)
    return worst


def alpha(release, values=None):
    return max(
        Fraction(count, sum(members.values()))
        for members in cleaned(release)
        for value, count in members.items()
        if values is None or value in values
    )
