"""Mondrian with the safety rule of the skyline, in plain exact Python: what `skyline.anonymize` does.

An attribute is a list of its values in their order, or a hierarchy: a tuple whose parts are values and such
tuples. Values of a list that are no numbers stand behind those that are. A box has for each attribute the
places (first, last) of its values.
"""

from collections import Counter
from fractions import Fraction

FAR = 2**30


# Longer than functions are elsewhere: the whole search is to be read from top to bottom beside section 9 of
# docs/mathematics/skyline.md, and its helpers share its running minima.
def partition(  # noqa: C901
    rows,
    secrets,
    attributes,
    *,
    points=(),
    k=0,
    diversity=None,
    closeness=None,
    values=None,
    weights=None,
    target=None,
):
    """The groups from the first to the last box, and the splits that were refused.

    rows: a tuple of values each. points: (l, k, m, confidence). diversity: (c, l). closeness: (t, "equal" or
    "ordered"), for which `values` is the domain of the secrets. target: a value for each row.

    Returns None where the whole is unsafe, else ([(rows, box)], [(rows, attribute, parts)]).
    """
    weights = weights or [1] * len(rows)
    orders = [leaves(attribute) for attribute in attributes]
    places = [{value: i for i, value in enumerate(order)} for order in orders]
    codes = [tuple(places[a][value] for a, value in enumerate(row)) for row in rows]
    far = [positions(attribute, {row[a] for row in codes}) for a, attribute in enumerate(attributes)]
    whole = people(range(len(rows)), secrets, weights)
    shared = [point for point in points if point[3] < 1 and point[2] > 0]

    def keeps(group):
        """All that does not depend on other groups."""
        counts = people(group, secrets, weights)
        n, falling = sum(counts.values()), sorted(counts.values(), reverse=True)
        if n < k:
            return False
        if diversity and not falling[0] < diversity[0] * sum(falling[diversity[1] - 1 :]):
            return False
        if closeness and distance(counts, whole, values or sorted(whole), closeness[1]) > closeness[0]:
            return False
        for l, known, m, confidence in points:
            c = falling[0]
            w = n - sum(falling[: l + 1])
            if known >= w or (m > 0 and known + m >= n - c):
                return False
            cf1 = Fraction(w - known, c) * falls(n - c - 1 - known, n - 1 - known, m)
            if confidence < 1 and not cf1 > (1 - confidence) / confidence:
                return False
        return True

    least = {}  # (number of a point, value) -> the smallest CF2, CF3, CF4, CF5 of all groups

    def lowered(parts):
        """What these parts would make of that, or None if it is unsafe."""
        found = {}
        for part in parts:
            counts = people(part, secrets, weights)
            for number, (l, known, m, _) in enumerate(shared):
                for value in counts:
                    own = factors(counts, value, l, known, m)
                    before = found.get((number, value), least.get((number, value), own))
                    found[number, value] = tuple(map(min, before, own))
        for (number, _), (cf2, cf3, cf4, cf5) in found.items():
            confidence = shared[number][3]
            if not min(cf2 * cf3, cf4 * cf5) > (1 - confidence) / confidence:
                return None
        return found

    root = list(range(len(rows)))
    if not keeps(root) or (start := lowered([root])) is None:
        return None
    least.update(start)
    level = [(root, tuple((0, len(order) - 1) for order in orders), ())]
    done, refused = [], []
    while level:
        following = []
        for group, box, path in level:
            splits = {}
            for a, attribute in enumerate(attributes):
                if len({codes[row][a] for row in group}) > 1:
                    splits[a] = split(group, a, codes, attribute, box[a], weights)
            for a in tried(group, splits, codes, far, weights, target):
                parts = [part for part, _ in splits[a]]
                found = lowered(parts) if all(map(keeps, parts)) else None
                if found is None:
                    refused.append((group, a, parts))
                    continue
                least.update(found)
                for number, (part, span) in enumerate(splits[a]):
                    following.append((part, (*box[:a], span, *box[a + 1 :]), (*path, number)))
                break
            else:
                done.append((path, group, box))
        level = following
    return [(group, box) for _, group, box in sorted(done)], refused


def people(group, secrets, weights):
    """How many have each sensitive value."""
    counts = Counter()
    for row in group:
        counts[secrets[row]] += weights[row]
    return counts


def falls(above, below, m):
    """Above (above - 1) .. / below (below - 1) .., m factors each."""
    result = Fraction(1)
    for i in range(m):
        result *= Fraction(above - i, below - i)
    return result


def factors(counts, value, l, k, m):
    """CF2, CF3, CF4, CF5 of a value that the group has."""
    c, n = counts[value], sum(counts.values())
    others = sorted((count for other, count in counts.items() if other != value), reverse=True)
    w = sum(others[l:])
    return Fraction(w - k, c), falls(n - c, n, m), Fraction(w, c), falls(n - c - k, n - k, m)


def distance(counts, whole, values, kind):
    """Of a group's distribution from that of all, between 0 and 1."""
    n, total = sum(counts.values()), sum(whole.values())
    gaps = [Fraction(counts[value], n) - Fraction(whole[value], total) for value in values]
    if kind == "equal":
        return sum(map(abs, gaps)) / 2
    return sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / max(len(values) - 1, 1)


def leaves(attribute):
    """The values of an attribute in their order."""
    if not isinstance(attribute, tuple):
        return list(attribute)
    return [leaf for part in attribute for leaf in (leaves(part) if isinstance(part, tuple) else [part])]


def is_number(value):
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def positions(attribute, present):
    """Where each place lies between the first (0) and the last (2^30) that a row has."""
    values = leaves(attribute)
    numbers = (
        []
        if isinstance(attribute, tuple)
        else [
            Fraction(repr(value)) if isinstance(value, float) else value
            for value in values
            if is_number(value)
        ]
    )
    if not numbers:
        return [between(place, min(present), max(present)) for place in range(len(values))]
    inside = [numbers[place] for place in present if place < len(numbers)] or [0]
    found = [between(number, min(inside), max(inside)) for number in numbers]
    return found + [FAR] * (len(values) - len(numbers))


def between(number, low, high):
    if number <= low:
        return 0
    return FAR if number >= high else FAR * (number - low) // (high - low)


def split(group, a, codes, attribute, span, weights):
    """The parts by attribute a: (rows, (first, last) place) each."""
    at = {row: codes[row][a] for row in group}
    if isinstance(attribute, tuple):
        return by_sets(at, attribute)
    total = sum(weights[row] for row in group)
    upto, below = 0, 0
    for place in sorted(set(at.values())):
        below, upto = upto, upto + sum(weights[row] for row in group if at[row] == place)
        if 2 * upto >= total:
            break
    first, last = min(at.values()), max(at.values())
    after = place < last and (place == first or 2 * upto - total <= total - 2 * below)
    cut = place if after else place - 1
    left = [row for row in group if at[row] <= cut]
    right = [row for row in group if at[row] > cut]
    return [(left, (span[0], cut)), (right, (cut + 1, span[1]))]


def by_sets(at, node):
    """The parts of the lowest set that holds all these places, if somebody is in them."""
    first = 0
    while True:
        spans = []
        for part in node:
            size = len(leaves(part)) if isinstance(part, tuple) else 1
            spans.append((first, first + size - 1))
            first += size
        holding = [i for i, (lo, hi) in enumerate(spans) if all(lo <= place <= hi for place in at.values())]
        if not holding:
            break
        node, first = node[holding[0]], spans[holding[0]][0]
    parts = [([row for row in at if lo <= at[row] <= hi], (lo, hi)) for lo, hi in spans]
    return [(rows, span) for rows, span in parts if rows]


def tried(group, splits, codes, far, weights, target):
    """The attributes in the order in which they are tried."""

    def width(a):
        at = [codes[row][a] for row in group]
        return far[a][max(at)] - far[a][min(at)]

    if target is None:
        return sorted(splits, key=lambda a: (-width(a), a))
    return sorted(splits, key=lambda a: (-gain(splits[a], target, weights), -width(a), a))


def gain(parts, target, weights):
    """What a split tells of the target, but for what is the same for all splits of a group.

    The sum of n_t log n_t over values t of the target, less n log n, over the parts.
    """
    total = 0
    for part, _ in parts:
        counts = people(part, target, weights)
        total += sum(count * log2(count) for count in counts.values())
        total -= sum(counts.values()) * log2(sum(counts.values()))
    return total


def log2(number, digits=24):
    """In units of 2^-digits: digit by digit, squaring a number of 63 binary places that is rounded down."""
    exponent = number.bit_length() - 1
    y, result = number << 63 >> exponent, exponent
    for _ in range(digits):
        y = y * y >> 63
        bit = y >> 64
        y >>= bit
        result = 2 * result + bit
    return result
